//! Random draws as words and arithmetic. A draw takes the next words of its agent and step, so its value
//! depends only on the seed, the agent, the step and its number. Most are functions of the prelude.

mod categorical;

use super::Lowerer;
use crate::{
    builtin::{BuiltinId, Draw},
    hir::{self, Constant, ExprKind},
    ir::{self, BinaryOp, Expr, ExprId, Len, RealType, Value, VarKind},
};

impl Lowerer<'_> {
    pub(super) fn draw(&mut self, draw: Draw, args: &[hir::ExprId]) -> ExprId {
        match draw {
            Draw::Random => self.unit(),
            Draw::Uniform => self.uniform(args),
            Draw::Normal => self.normal(args),
            Draw::Exponential => self.exponential(args),
            Draw::Categorical => self.categorical(args[0]),
            Draw::Bernoulli
            | Draw::RandInt
            | Draw::Poisson
            | Draw::NormalBetween
            | Draw::LogNormal
            | Draw::Gamma
            | Draw::Beta
            | Draw::ChiSquared
            | Draw::StudentT
            | Draw::Cauchy
            | Draw::Laplace
            | Draw::Binomial
            | Draw::Geometric => {
                unreachable!("the checker turned this draw into a call of the prelude")
            }
        }
    }

    /// A draw that is a function of the prelude; its arguments are scalars.
    pub(super) fn prelude_draw(
        &mut self,
        draw: Draw,
        function: hir::FunctionId,
        args: &[hir::ExprId],
    ) -> ExprId {
        let vars = args.iter().map(|&arg| self.argument("argument", arg));
        let vars: Vec<ir::VarId> = vars.collect();
        self.check_at_launch(draw, &vars);
        let smooth = [
            Draw::NormalBetween,
            Draw::LogNormal,
            Draw::Cauchy,
            Draw::Laplace,
        ];
        if !smooth.contains(&draw) {
            self.draw_site(draw, vars.clone());
        }
        let value = self.unchecked(|lowerer| lowerer.call_with(function, &vars));
        self.drawn(value, &vars, args)
    }

    /// Notes a draw that has no derivative by its arguments.
    fn draw_site(&mut self, draw: Draw, args: Vec<ir::VarId>) {
        let span = self.span;
        self.program.draws.push(ir::DrawSite { draw, args, span });
    }

    /// A call of one of the prelude's pure functions.
    fn prelude(&mut self, name: &str, args: Vec<ExprId>) -> ExprId {
        let function = self.model.prelude_function(name);
        let vars: Vec<ir::VarId> = (args.into_iter())
            .map(|arg| self.bind("argument", arg))
            .collect();
        self.unchecked(|lowerer| lowerer.call_with(function, &vars))
    }

    /// An argument of a draw: evaluated before the words are taken, whatever it draws itself.
    fn argument(&mut self, name: &str, id: hir::ExprId) -> ir::VarId {
        let value = self.scalar(id);
        self.bind(name, value)
    }

    /// Takes this many words: the number of the first.
    pub(super) fn take_words(&mut self, count: u32) -> ExprId {
        let draws = match self.draws[self.owner as usize] {
            Some(draws) => draws,
            None => {
                let draws = self.variable("draws", ir::Type::U32, Len::One, VarKind::Local);
                self.draws[self.owner as usize] = Some(draws);
                draws
            }
        };
        let number = self.read(draws);
        let first = self.bind("first", number);
        let (before, count) = (self.read(first), self.literal(Value::U32(count)));
        let next = self.binary(BinaryOp::Add, before, count);
        self.assign(draws, next);
        self.read(first)
    }

    /// The next 32 random bits.
    fn word(&mut self) -> ExprId {
        let number = self.take_words(1);
        let owner = self.owner;
        let word = self.add(Expr::RandomWord {
            owner,
            number,
            step: None,
        });
        let word = self.bind("bits", word);
        self.read(word)
    }

    /// The next uniform number in [0, 1).
    fn unit(&mut self) -> ExprId {
        let word = self.word();
        self.builtin(BuiltinId::UNIT, vec![word])
    }

    fn float(&mut self, value: f32) -> ExprId {
        self.literal(Value::F32(value))
    }

    pub(super) fn select(&mut self, condition: ExprId, accept: ExprId, reject: ExprId) -> ExprId {
        self.add(Expr::Select {
            condition,
            accept,
            reject,
        })
    }

    pub(super) fn bitcast(&mut self, to: ir::Type, value: ExprId) -> ExprId {
        self.add(Expr::Bitcast { to, value })
    }

    /// `low + (high - low) * unit`, and where rounding gives `high`, the float before it.
    fn uniform(&mut self, args: &[hir::ExprId]) -> ExprId {
        let known = |id: hir::ExprId| match &self.model[id].kind {
            ExprKind::Constant(Constant::Value(Value::F32(value))) => Some(*value),
            _ => None,
        };
        let stays_below =
            (known(args[0]).zip(known(args[1]))).is_some_and(|(low, high)| match self.model.real {
                RealType::F32 => stays_below(low as f32, high as f32),
                RealType::F64 => stays_below_double(low, high),
            });
        let low = self.argument("low", args[0]);
        let high = self.argument("high", args[1]);
        self.check_at_launch(Draw::Uniform, &[low, high]);
        let (end, last) = match (stays_below, self.model.real) {
            (true, _) => (high, None),
            (false, RealType::F32) => {
                let (end, last) = self.uniform_end(low, high);
                (end, Some(last))
            }
            // Bits tell nothing of doubles: the one number that rounding gives too much is the first one.
            (false, RealType::F64) => (self.end_of_range(low, high).0, None),
        };
        let (a, b) = (self.read(end), self.read(low));
        let mut width = self.binary(BinaryOp::Subtract, a, b);
        if !stays_below {
            // `min` would turn NaN into a number.
            let var = self.bind("width", width);
            let (a, most) = (self.read(var), self.largest());
            let infinite = self.binary(BinaryOp::Greater, a, most);
            let (most, width_again) = (self.largest(), self.read(var));
            width = self.select(infinite, most, width_again);
        }
        let width = self.bind("width", width);
        let unit = self.unit();
        let width = self.read(width);
        let offset = self.binary(BinaryOp::Multiply, width, unit);
        let start = self.read(low);
        let value = self.binary(BinaryOp::Add, start, offset);
        let value = match last {
            Some(last) => {
                let last = self.read(last);
                self.builtin(BuiltinId::MIN, vec![value, last])
            }
            None if stays_below => value,
            None => {
                let value = self.bind("value", value);
                let (a, b) = (self.read(value), self.read(end));
                let beyond = self.binary(BinaryOp::GreaterEqual, a, b);
                let (first, value) = (self.read(low), self.read(value));
                self.select(beyond, first, value)
            }
        };
        self.drawn(value, &[low, high], args)
    }

    /// The largest float.
    fn largest(&mut self) -> ExprId {
        let largest = match self.model.real {
            RealType::F32 => f32::MAX.into(),
            RealType::F64 => f64::MAX,
        };
        self.program.add_literal(Value::F32(largest), self.span)
    }

    /// The end up to which a uniform number is drawn: `high`; but `low` if `high` is not above it, and NaN if
    /// `high` is. And whether `high` is above `low`.
    fn end_of_range(&mut self, low: ir::VarId, high: ir::VarId) -> (ir::VarId, ir::VarId) {
        let (a, b) = (self.read(low), self.read(high));
        let proper = self.binary(BinaryOp::Less, a, b);
        let proper = self.bind("proper", proper);
        let (a, b) = (self.read(high), self.read(high));
        let nan = self.binary(BinaryOp::NotEqual, a, b);
        let (a, b) = (self.read(high), self.read(low));
        let end = self.select(nan, a, b);
        let (condition, accept) = (self.read(proper), self.read(high));
        let end = self.select(condition, accept, end);
        (self.bind("end", end), proper)
    }

    /// That end, and the last number before it: the `f32` before `high`, or the end. It is found in integers,
    /// which no driver rounds.
    fn uniform_end(&mut self, low: ir::VarId, high: ir::VarId) -> (ir::VarId, ir::VarId) {
        let (end, proper) = self.end_of_range(low, high);
        let number = self.read(high);
        let bits = self.bitcast(ir::Type::I32, number);
        let bits = self.bind("bits", bits);
        let step = |lowerer: &mut Self, by| {
            let (a, b) = (lowerer.read(bits), lowerer.int(by));
            let sum = lowerer.binary(BinaryOp::Add, a, b);
            lowerer.bitcast(ir::Type::F32, sum)
        };
        let (toward_zero, away) = (step(self, -1), step(self, 1));
        let (a, zero) = (self.read(high), self.float(0.0));
        let positive = self.binary(BinaryOp::Greater, a, zero);
        let (a, zero) = (self.read(high), self.float(0.0));
        let negative = self.binary(BinaryOp::Less, a, zero);
        // Devices may flush what is closer to zero.
        let nearest = self.float(-f32::MIN_POSITIVE);
        let below = self.select(negative, away, nearest);
        let below = self.select(positive, toward_zero, below);
        let (condition, end_again) = (self.read(proper), self.read(end));
        let last = self.select(condition, below, end_again);
        (end, self.bind("last", last))
    }

    fn normal(&mut self, args: &[hir::ExprId]) -> ExprId {
        let scale = match args {
            [mean, deviation] => Some((
                self.argument("mean", *mean),
                self.argument("deviation", *deviation),
            )),
            _ => None,
        };
        if let Some((mean, deviation)) = scale {
            self.check_at_launch(Draw::Normal, &[mean, deviation]);
        }
        let (first, second) = (self.word(), self.word());
        let normal = self.builtin(BuiltinId::NORMAL_FROM, vec![first, second]);
        let Some((mean, deviation)) = scale else {
            return normal;
        };
        let factor = self.read(deviation);
        let offset = self.binary(BinaryOp::Multiply, factor, normal);
        let middle = self.read(mean);
        let value = self.binary(BinaryOp::Add, middle, offset);
        self.drawn(value, &[mean, deviation], args)
    }

    /// A number of rate 1, divided by the rate; infinite if that is not above 0.
    fn exponential(&mut self, args: &[hir::ExprId]) -> ExprId {
        let rate = self.argument("rate", args[0]);
        self.check_at_launch(Draw::Exponential, &[rate]);
        let word = self.word();
        let number = self.builtin(BuiltinId::EXPONENTIAL_FROM, vec![word]);
        let (a, zero) = (self.read(rate), self.float(0.0));
        let none = self.binary(BinaryOp::LessEqual, a, zero);
        let (zero, above) = (self.float(0.0), self.read(rate));
        let above = self.select(none, zero, above);
        let value = self.binary(BinaryOp::Divide, number, above);
        self.drawn(value, &[rate], args)
    }
}

/// Is `low + (high - low) * unit` below `high` for every unit, whether the product is rounded or not?
fn stays_below(low: f32, high: f32) -> bool {
    let (width, most) = (high - low, 1.0 - 1.0 / 16_777_216.0);
    low < high && low + width * most < high && width.mul_add(most, low) < high
}

/// The same in `f64`.
fn stays_below_double(low: f64, high: f64) -> bool {
    let (width, most) = (high - low, 1.0 - 1.0 / 16_777_216.0);
    low < high && low + width * most < high
}
