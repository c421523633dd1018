//! `categorical`: weights as integers of 64 bits, whose sums no driver rounds. The largest weight's exponent
//! determines the position of their bits; as many bits as the number of weights has are left free for the
//! sum.

use crate::{
    builtin::{BuiltinId, Draw},
    hir,
    ir::{self, BinaryOp, Expr, ExprId, Value, VarId},
    lower::{
        Lowerer,
        place::{Index, Place},
    },
};

/// An integer of two words.
#[derive(Clone, Copy)]
struct Wide {
    high: VarId,
    low: VarId,
}

impl Lowerer<'_> {
    /// The number of cumulative weights, except the last, that a uniform share of the total has reached. If
    /// no weight is above 0, that is the last index.
    pub(super) fn categorical(&mut self, weights: hir::ExprId) -> ExprId {
        let place = self.weights(weights);
        let leaves = place.leaves.iter().map(|leaf| leaf.var).collect();
        self.draw_site(Draw::Categorical, leaves);
        let length = place.length();
        let length = length.expect("weights are an array of known length");
        let top = self.top_exponent(&place, length);
        let spare = u32::BITS - (length - 1).leading_zeros();
        let total = self.wide_zero("total");
        self.over("k", length, |lowerer, index| {
            let weight = lowerer.weight(&place, index, top, spare);
            lowerer.add_wide(total, weight);
        });
        let share = self.share(total);
        let passed = self.wide_zero("passed");
        let none = self.int(0);
        let choice = self.local("choice", none);
        self.over("k", length - 1, |lowerer, index| {
            let weight = lowerer.weight(&place, index, top, spare);
            lowerer.add_wide(passed, weight);
            let beyond = lowerer.reaches(share, passed);
            let beyond = lowerer.convert(ir::Type::I32, beyond);
            let before = lowerer.read(choice);
            let next = lowerer.binary(BinaryOp::Add, before, beyond);
            lowerer.assign(choice, next);
        });
        self.read(choice)
    }

    /// The array of weights, and their check at launch.
    fn weights(&mut self, weights: hir::ExprId) -> Place {
        let model = self.model;
        let hir::ExprKind::Array(elements) = &model[weights].kind else {
            let place = self.place(weights);
            self.check_weights_at_launch(Draw::Categorical, &place);
            return place;
        };
        let weight = |&element: &hir::ExprId| {
            let weight = self.scalar(element);
            self.bind("weight", weight)
        };
        let vars: Vec<VarId> = elements.iter().map(weight).collect();
        self.check_at_launch(Draw::Categorical, &vars);
        let place = self.temporary("weights", &model[weights].ty);
        for (k, var) in (0..).zip(vars) {
            let weight = self.read(var);
            self.store(&place.at(Index::Constant(k)), weight);
        }
        place
    }

    /// A loop over this many weights.
    fn over(&mut self, name: &str, count: u32, run: impl FnOnce(&mut Self, VarId)) {
        let (start, end) = (self.int(0), self.int(count.into()));
        self.each(name, start, end, run);
    }

    pub(in crate::lower) fn convert(&mut self, to: ir::Type, value: ExprId) -> ExprId {
        self.add(Expr::Convert { to, value })
    }

    fn wide_zero(&mut self, name: &str) -> Wide {
        let [high, low] = [(); 2].map(|()| {
            let zero = self.literal(Value::U32(0));
            self.local(name, zero)
        });
        Wide { high, low }
    }

    /// The bits of a weight.
    fn weight_bits(&mut self, weights: &Place, index: VarId) -> VarId {
        let weight = self.load(&weights.at(Index::Variable(index)));
        let bits = self.bitcast(ir::Type::U32, weight);
        self.bind("weight", bits)
    }

    /// The exponent of the largest weight.
    fn top_exponent(&mut self, weights: &Place, length: u32) -> VarId {
        let zero = self.literal(Value::U32(0));
        let top = self.local("top", zero);
        self.over("k", length, |lowerer, index| {
            let bits = lowerer.weight_bits(weights, index);
            let bits = lowerer.read(bits);
            let exponent = lowerer.prelude("__weight_exponent", vec![bits]);
            let before = lowerer.read(top);
            let next = lowerer.builtin(BuiltinId::MAX, vec![before, exponent]);
            lowerer.assign(top, next);
        });
        top
    }

    fn weight(&mut self, weights: &Place, index: VarId, top: VarId, spare: u32) -> Wide {
        let bits = self.weight_bits(weights, index);
        let (a, top) = (self.read(bits), self.read(top));
        let spare = self.literal(Value::U32(spare));
        let place = self.prelude("__weight_place", vec![a, top, spare]);
        let place = self.bind("place", place);
        let [high, low] = ["__weight_high", "__weight_low"].map(|half| {
            let (bits, place) = (self.read(bits), self.read(place));
            let word = self.prelude(half, vec![bits, place]);
            self.bind("weight", word)
        });
        Wide { high, low }
    }

    fn add_wide(&mut self, sum: Wide, by: Wide) {
        let (a, b) = (self.read(sum.low), self.read(by.low));
        let low = self.binary(BinaryOp::Add, a, b);
        self.assign(sum.low, low);
        let (a, b) = (self.read(sum.low), self.read(by.low));
        let carry = self.binary(BinaryOp::Less, a, b);
        let carry = self.convert(ir::Type::U32, carry);
        let (a, b) = (self.read(sum.high), self.read(by.high));
        let high = self.binary(BinaryOp::Add, a, b);
        let high = self.binary(BinaryOp::Add, high, carry);
        self.assign(sum.high, high);
    }

    /// The total times a fraction of 64 random bits, less than 3 too small.
    fn share(&mut self, total: Wide) -> Wide {
        let words = [(); 2].map(|()| {
            let word = self.word();
            self.bind("bits", word)
        });
        let product = |lowerer: &mut Self, a: VarId, b: VarId| {
            let (a, b) = (lowerer.read(a), lowerer.read(b));
            lowerer.builtin(BuiltinId::MUL_HIGH, vec![a, b])
        };
        let high = product(self, words[0], total.high);
        let high = self.local("share", high);
        let (a, b) = (self.read(words[0]), self.read(total.high));
        let low = self.binary(BinaryOp::Multiply, a, b);
        let low = self.local("share", low);
        let share = Wide { high, low };
        for (word, part) in [(words[0], total.low), (words[1], total.high)] {
            let low = product(self, word, part);
            let low = self.bind("part", low);
            let zero = self.literal(Value::U32(0));
            let high = self.bind("part", zero);
            self.add_wide(share, Wide { high, low });
        }
        share
    }

    /// `a >= b`
    fn reaches(&mut self, a: Wide, b: Wide) -> ExprId {
        let compare = |lowerer: &mut Self, op, a: VarId, b: VarId| {
            let (a, b) = (lowerer.read(a), lowerer.read(b));
            lowerer.binary(op, a, b)
        };
        let above = compare(self, BinaryOp::Greater, a.high, b.high);
        let equal = compare(self, BinaryOp::Equal, a.high, b.high);
        let low = compare(self, BinaryOp::GreaterEqual, a.low, b.low);
        let both = self.binary(BinaryOp::And, equal, low);
        self.binary(BinaryOp::Or, above, both)
    }
}
