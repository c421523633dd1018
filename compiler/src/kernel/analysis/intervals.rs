//! Interval analysis: between which numbers a float lies, whatever the launch.
//!
//! Invariant: a value with an interval is a number, not NaN, and lies in it under every rounding that a
//! device may make. Infinite ends mean that it may be infinite. `min`, `max` and `clamp` of a NaN are the
//! other operand: the language defines it so, and the devices on which this is used do it (IEEE 754-2019,
//! `minimumNumber`), though WGSL would allow another result. [`Intervals::of_numbers`] is weaker: where a
//! value lies if it is not NaN.

use crate::{
    builtin::{Bounds, BuiltinId},
    ir::{BinaryOp, Expr, ExprId, Program, Type, UnaryOp, Value, VarId},
    kernel::analysis::bound,
};

/// Relative error of arithmetic: some roundings.
const ROUNDING: f64 = 1e-6;
/// Error of `exp` and `exp2`: WGSL allows 3 + 2 |x| units in the last place, with |x| below 128.
const EXPONENTIAL: f64 = 1e-4;
/// Error of sines and cosines: WGSL allows 2^-11.
const TRIGONOMETRIC: f64 = 5e-4;
/// Smaller magnitudes may be flushed to 0.
const TINY: f64 = f32::MIN_POSITIVE as f64;

/// The numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Interval {
    const ALL: Interval = Interval {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };

    /// Widened by the error of a result.
    fn rounded(self, relative: f64) -> Interval {
        let low = self.low - self.low.abs() * relative - TINY;
        let high = self.high + self.high.abs() * relative + TINY;
        let most = f64::from(f32::MAX);
        Interval {
            low: if low < -most { f64::NEG_INFINITY } else { low },
            high: if high > most { f64::INFINITY } else { high },
        }
    }

    fn negated(self) -> Interval {
        Interval {
            low: -self.high,
            high: -self.low,
        }
    }

    /// The interval of `a + b`; none where infinities might meet.
    fn plus(self, other: Interval) -> Option<Interval> {
        let sum = Interval {
            low: self.low + other.low,
            high: self.high + other.high,
        };
        let meet = (self.low.is_infinite() && other.high.is_infinite())
            || (self.high.is_infinite() && other.low.is_infinite());
        (!meet).then(|| sum.rounded(ROUNDING))
    }

    /// The interval of `a * b`; none where an infinity might meet a zero.
    fn times(self, other: Interval) -> Option<Interval> {
        let mut product = Interval {
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
        };
        let may_meet = |a: Interval, b: Interval| !a.is_finite() && b.low <= 0.0 && b.high >= 0.0;
        if may_meet(self, other) || may_meet(other, self) {
            return None;
        }
        for a in [self.low, self.high] {
            for b in [other.low, other.high] {
                product.low = product.low.min(a * b);
                product.high = product.high.max(a * b);
            }
        }
        Some(product.rounded(ROUNDING))
    }

    fn least(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.min(other.high),
        }
    }

    fn most(self, other: Interval) -> Interval {
        Interval {
            low: self.low.max(other.low),
            high: self.high.max(other.high),
        }
    }

    fn size(self) -> Interval {
        Interval {
            low: self.low.max(-self.high).max(0.0),
            high: self.high.max(-self.low),
        }
    }

    fn join(self, other: Interval) -> Interval {
        Interval {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The results of `f`, which is increasing and never negative.
    fn exponential(self, f: impl Fn(f64) -> f64) -> Interval {
        let results = Interval {
            low: f(self.low),
            high: f(self.high),
        };
        let rounded = results.rounded(EXPONENTIAL);
        Interval {
            low: rounded.low.max(0.0),
            ..rounded
        }
    }

    /// Are all of these finite?
    pub(crate) fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }
}

/// The intervals of names, and from them those of trees.
pub(crate) struct Intervals {
    names: Vec<Option<Interval>>,
    /// Intervals of values that may be NaN: they hold if the value is a number.
    strict: Option<Box<Intervals>>,
}

impl Intervals {
    /// Knows nothing yet.
    pub(crate) fn new(program: &Program) -> Intervals {
        Intervals {
            names: vec![None; program.vars.len()],
            strict: None,
        }
    }

    /// Intervals that hold if the value is not NaN.
    pub(crate) fn of_numbers(program: &Program) -> Intervals {
        Intervals {
            strict: Some(Box::new(Intervals::new(program))),
            ..Intervals::new(program)
        }
    }

    /// Records the value of a name.
    pub(crate) fn name(&mut self, program: &Program, var: VarId, value: ExprId) {
        if program[var].ty != Type::F32 {
            return;
        }
        if let Some(strict) = &mut self.strict {
            strict.name(program, var, value);
        }
        let interval = self.of(program, value);
        let names = program.vars.len().max(self.names.len());
        self.names.resize(names, None);
        self.names[var.0 as usize] = interval;
    }

    /// The interval of a tree; none if its value may be NaN or is not `f32`.
    pub(crate) fn of(&self, program: &Program, id: ExprId) -> Option<Interval> {
        let strict = self.strict.as_ref();
        if let Some(known) = strict.and_then(|strict| strict.of(program, id)) {
            return Some(known);
        }
        match &program[id] {
            Expr::Literal(Value::F32(x)) => (!x.is_nan()).then(|| Interval {
                low: f64::from(*x),
                high: f64::from(*x),
            }),
            Expr::Read(var) => self.names.get(var.0 as usize).copied().flatten(),
            Expr::Unary(UnaryOp::Negate, a) => self.of(program, *a).map(Interval::negated),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.of(program, *a)?, self.of(program, *b)?);
                if *op == BinaryOp::Add {
                    a.plus(b)
                } else if *op == BinaryOp::Subtract {
                    a.plus(b.negated())
                } else {
                    a.times(b).filter(|_| *op == BinaryOp::Multiply)
                }
            }
            Expr::Select { accept, reject, .. } => {
                Some((self.of(program, *accept)?).join(self.of(program, *reject)?))
            }
            Expr::Builtin(builtin, _) => self.builtin(program, *builtin, id),
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Convert { .. }
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => None,
            Expr::Bitcast { .. } => {
                let (x, low) = bound::of(program, id)?;
                // If an operand may be NaN, only the numbers are bounded.
                let x = self.of(program, x).or(strict.map(|_| Interval::ALL))?;
                let low = f64::from(low);
                Some(x.most(Interval { low, high: low }))
            }
        }
    }

    fn builtin(&self, program: &Program, builtin: BuiltinId, id: ExprId) -> Option<Interval> {
        if program.type_of(id) != Type::F32 {
            return None;
        }
        let args = program[id].operands();
        let of = |at: usize| self.of(program, args[at]);
        let unit = Interval {
            low: -1.0,
            high: 1.0,
        };
        // Of one that may be NaN and a number, the result is a number: either.
        let bound = |a: Option<Interval>,
                     b: Option<Interval>,
                     f: fn(Interval, Interval) -> Interval| {
            match (a, b) {
                (Some(a), Some(b)) => Some(f(a, b)),
                (Some(known), None) | (None, Some(known)) => {
                    Some(f(known, Interval::ALL).join(known))
                }
                (None, None) => None,
            }
        };
        let numbers_only = self.strict.is_some();
        match (builtin.row().pure().bounds, numbers_only) {
            (Bounds::Unit, true) => Some(unit.rounded(TRIGONOMETRIC)),
            (Bounds::Growing(f), _) => Some(of(0)?.exponential(f)),
            (Bounds::Magnitude, _) => of(0).map(Interval::size),
            (Bounds::Least, false) => bound(of(0), of(1), Interval::least),
            (Bounds::Most, false) => bound(of(0), of(1), Interval::most),
            (Bounds::Clamped, false) => {
                bound(bound(of(0), of(1), Interval::most), of(2), Interval::least)
            }
            // An operand that may be NaN bounds nothing: the result may be the other one.
            (Bounds::Least | Bounds::Most | Bounds::Clamped, true)
            | (Bounds::Unit, false)
            | (Bounds::Any, _) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Interval;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    fn holds(outer: Interval, low: f64, high: f64) {
        let near = |bound: f64, exact: f64| (bound - exact).abs() <= 1e-5 * exact.abs() + 1e-30;
        assert!(outer.low <= low && outer.high >= high, "{outer:?}");
        assert!(near(outer.low, low) && near(outer.high, high), "{outer:?}");
    }

    #[test]
    fn products_lie_between_those_of_the_ends() {
        for (a, b, low, high) in [
            ((2.0, 3.0), (4.0, 5.0), 8.0, 15.0),
            ((-2.0, 3.0), (4.0, 5.0), -10.0, 15.0),
            ((-2.0, 3.0), (-4.0, 5.0), -12.0, 15.0),
            ((-3.0, -2.0), (-5.0, 4.0), -12.0, 15.0),
            ((0.125, 0.25), (0.5, 8.0), 0.0625, 2.0),
        ] {
            let product = interval(a.0, a.1).times(interval(b.0, b.1));
            holds(product.expect("finite"), low, high);
        }
        assert!(
            interval(1.0, f64::INFINITY)
                .times(interval(-1.0, 1.0))
                .is_none()
        );
        assert!(
            interval(1.0, f64::INFINITY)
                .times(interval(1.0, 2.0))
                .is_some()
        );
    }

    #[test]
    fn sums_have_no_bounds_where_infinities_of_either_sign_may_meet() {
        let up = interval(0.0, f64::INFINITY);
        let down = interval(f64::NEG_INFINITY, 0.0);
        assert!(up.plus(down).is_none() && down.plus(up).is_none());
        holds(
            interval(1.0, 2.0)
                .plus(interval(-4.0, 8.0))
                .expect("finite"),
            -3.0,
            10.0,
        );
        let sum = up
            .plus(interval(1.0, 2.0))
            .expect("one infinity meets none");
        assert!(sum.low <= 1.0 && sum.high.is_infinite(), "{sum:?}");
        assert!(up.plus(up).is_some() && down.plus(down).is_some());
    }
}
