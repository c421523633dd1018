//! Random draws as words and arithmetic. A draw takes the next words of its agent and step, and so its
//! value depends on the seed, the agent, the step and its number, and on nothing else.

use super::{Lowerer, place::Index};
use crate::{
    builtin::Draw,
    hir,
    ir::{self, BinaryOp, Expr, ExprId, Len, UnaryOp, Value, VarKind},
};

impl Lowerer<'_> {
    pub(super) fn draw(&mut self, draw: Draw, args: &[hir::ExprId]) -> ExprId {
        match draw {
            Draw::Random => self.unit(),
            Draw::Uniform => {
                let (low, high) = (
                    self.argument("low", args[0]),
                    self.argument("high", args[1]),
                );
                let unit = self.unit();
                let (a, b) = (self.read(high), self.read(low));
                let width = self.binary(BinaryOp::Subtract, a, b);
                let offset = self.binary(BinaryOp::Multiply, width, unit);
                let low = self.read(low);
                self.binary(BinaryOp::Add, low, offset)
            }
            Draw::Normal => {
                let scale = match args {
                    [mean, deviation] => Some((
                        self.argument("mean", *mean),
                        self.argument("deviation", *deviation),
                    )),
                    _ => None,
                };
                let (first, second) = (self.word(), self.word());
                let normal = self.builtin("normal_from", vec![first, second]);
                let Some((mean, deviation)) = scale else {
                    return normal;
                };
                let deviation = self.read(deviation);
                let offset = self.binary(BinaryOp::Multiply, deviation, normal);
                let mean = self.read(mean);
                self.binary(BinaryOp::Add, mean, offset)
            }
            Draw::Exponential => {
                let rate = self.argument("rate", args[0]);
                let unit = self.unit();
                // 1 - unit is in (0, 1], so the logarithm is finite.
                let one = self.literal(Value::F32(1.0));
                let rest = self.binary(BinaryOp::Subtract, one, unit);
                let log = self.builtin("log", vec![rest]);
                let positive = self.add(Expr::Unary(UnaryOp::Negate, log));
                let rate = self.read(rate);
                self.binary(BinaryOp::Divide, positive, rate)
            }
            Draw::Bernoulli => {
                let chance = self.argument("chance", args[0]);
                let unit = self.unit();
                let chance = self.read(chance);
                self.binary(BinaryOp::Less, unit, chance)
            }
            Draw::RandInt => self.randint(args),
            Draw::Categorical => self.categorical(args[0]),
            Draw::Poisson => {
                unreachable!("the checker turned `poisson` into a call of the prelude")
            }
        }
    }

    /// An argument of a draw: evaluated before the words are taken, whatever it draws itself.
    fn argument(&mut self, name: &str, id: hir::ExprId) -> ir::VarId {
        let value = self.scalar(id);
        self.bind(name, value)
    }

    /// The next 32 random bits.
    fn word(&mut self) -> ExprId {
        let draws = match self.draws {
            Some(draws) => draws,
            None => {
                let draws = self.variable("draws", ir::Type::U32, Len::One, VarKind::Local);
                self.draws = Some(draws);
                draws
            }
        };
        let number = self.read(draws);
        let word = self.add(Expr::RandomWord { number });
        let word = self.bind("bits", word);
        let (before, one) = (self.read(draws), self.literal(Value::U32(1)));
        let next = self.binary(BinaryOp::Add, before, one);
        self.assign(draws, next);
        self.read(word)
    }

    /// The next uniform number in [0, 1).
    fn unit(&mut self) -> ExprId {
        let word = self.word();
        self.builtin("unit", vec![word])
    }

    /// `low + high word of (random word * (high - low))`: every value has a chance within 2^-32 of equal.
    fn randint(&mut self, args: &[hir::ExprId]) -> ExprId {
        let (low, high) = (
            self.argument("low", args[0]),
            self.argument("high", args[1]),
        );
        let word = self.word();
        let (a, b) = (self.read(high), self.read(low));
        let width = self.binary(BinaryOp::Subtract, a, b);
        let width = self.add(Expr::Convert {
            to: ir::Type::U32,
            value: width,
        });
        let offset = self.builtin("mul_high", vec![word, width]);
        let offset = self.add(Expr::Convert {
            to: ir::Type::I32,
            value: offset,
        });
        let low = self.read(low);
        self.binary(BinaryOp::Add, low, offset)
    }

    /// How many of the cumulative weights, but the last, a uniform share of the total has passed.
    fn categorical(&mut self, weights: hir::ExprId) -> ExprId {
        let place = self.place(weights);
        let length = place
            .length()
            .expect("weights are an array of known length");
        let zero = self.literal(Value::F32(0.0));
        let total = self.local("total", zero);
        let (start, end) = (self.int(0), self.int(i64::from(length)));
        self.each("k", start, end, |lowerer, index| {
            lowerer.add_weight(total, &place, index)
        });
        let unit = self.unit();
        let all = self.read(total);
        let share = self.binary(BinaryOp::Multiply, unit, all);
        let share = self.bind("share", share);
        let (zero, none) = (self.literal(Value::F32(0.0)), self.int(0));
        let passed = self.local("passed", zero);
        let choice = self.local("choice", none);
        let (start, end) = (self.int(0), self.int(i64::from(length) - 1));
        self.each("k", start, end, |lowerer, index| {
            lowerer.add_weight(passed, &place, index);
            let (a, b) = (lowerer.read(share), lowerer.read(passed));
            let beyond = lowerer.binary(BinaryOp::GreaterEqual, a, b);
            let beyond = lowerer.add(Expr::Convert {
                to: ir::Type::I32,
                value: beyond,
            });
            let before = lowerer.read(choice);
            let next = lowerer.binary(BinaryOp::Add, before, beyond);
            lowerer.assign(choice, next);
        });
        self.read(choice)
    }

    fn add_weight(&mut self, sum: ir::VarId, weights: &super::place::Place, index: ir::VarId) {
        let weight = self.load(&weights.at(Index::Variable(index)));
        let before = self.read(sum);
        let next = self.binary(BinaryOp::Add, before, weight);
        self.assign(sum, next);
    }
}
