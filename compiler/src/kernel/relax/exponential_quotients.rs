//! Quotients of exponentials, as models write `tanh` and `sigmoid` by hand, with fewer operations:
//! * `(e - a) / (e + a)` of an exponential `e` is `1 - 2 a / (e + a)`: one addition fewer, and two such quotients have
//!   their dividend in common (see [`crate::kernel::relax::shared_reciprocals`]). Near 0 the error is that of `e - a`, of which `e` has lost
//!   as many digits.
//! * In `e + c` an exponential that is small beside `c` is lost, and so the lower of its argument's bounds has no
//!   effect: `exp(clamp(x, -20.0, 20.0)) + 1.0` is `exp(min(x, 20.0)) + 1.0`, to the bit.
//! * `exp(min(x, 20.0))` is `exp2(min(log2(e) * x, log2(e) * 20.0))`, as devices have `exp2` only: the factor may go on
//!   into `x` (see [`crate::kernel::relax::constant_factors`] and [`crate::kernel::relax::constants_in_weights`]).
//!
//! Law: each value is what it was but for some roundings, and only what is known to be finite, whatever the launch,
//! changes its form (see [`crate::kernel::analysis::intervals`]). Of a NaN `clamp` is its lower bound; without it, it is the upper one.
//!
//! No pass of the pipeline, as it moves roundings: a kernel's schedule asks for it.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Block, Expr, ExprId, Program, Stmt, Type, UnaryOp, Value, VarId},
    kernel::analysis::intervals::Intervals,
    passes::rewrite::{Section, blocks_mut, each_section, operands, reads, roots},
};
use std::collections::HashMap;

/// What is below so much of a number is lost in a sum with it, however devices round: a quarter of a unit in the last
/// place.
const LOST: f64 = 1.0 / 33_554_432.0;
/// What exponentials may be off, relative to themselves: 3 + 2 |x| units in the last place, with |x| below 128.
const EXPONENTIAL: f64 = 1e-4;

/// Changes what there is; returns how many values it changed.
pub(crate) fn run(program: &mut Program) -> u32 {
    let mut pass = Exponentials {
        intervals: Intervals::new(program),
        reads: reads(program),
        powers: HashMap::new(),
        exp: BuiltinId::EXP,
        exp2: BuiltinId::EXP2,
        bounds: BuiltinId::BOUNDS,
        changed: 0,
    };
    each_section(program, |program, place, block| {
        // The host computes defaults of inputs.
        if !matches!(place, Section::InputDefault(_)) {
            pass.block(program, block);
        }
    });
    pass.changed
}

/// What an exponential is of its argument.
type Power = fn(f64) -> f64;

struct Exponentials {
    intervals: Intervals,
    reads: Vec<u32>,
    /// Names of exponentials.
    powers: HashMap<VarId, ExprId>,
    exp: BuiltinId,
    exp2: BuiltinId,
    bounds: [BuiltinId; 3],
    changed: u32,
}

impl Exponentials {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block.iter_mut() {
            for &root in roots(stmt).iter() {
                self.tree(program, root);
            }
            if let Stmt::Let { var, value } = stmt {
                self.intervals.name(program, *var, *value);
                if self.exponent(program, *value).is_some() {
                    self.powers.insert(*var, *value);
                }
            }
            for inner in blocks_mut(stmt).into_iter().flatten() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
    }

    fn tree(&mut self, program: &mut Program, id: ExprId) {
        for &operand in operands(&program[id]).iter() {
            self.tree(program, operand);
        }
        if let Some(power) = self.power(program, id) {
            program.exprs[id.0 as usize] = power;
            self.changed += 1;
        }
        if let Some((var, divisor, centred)) = self.centred(program, id) {
            program.exprs[id.0 as usize] = centred;
            self.reads[var.0 as usize] -= 1;
            self.changed += 1;
            self.unbind(program, divisor);
        } else {
            self.unbind(program, id);
        }
    }

    fn unbind(&mut self, program: &mut Program, id: ExprId) {
        if let Some((exponent, unbounded)) = self.unbounded(program, id) {
            program.exprs[exponent.0 as usize] = unbounded;
            self.changed += 1;
        }
    }

    /// `exp` of what literals bound, with its factor inside the bounds.
    fn power(&self, program: &mut Program, id: ExprId) -> Option<Expr> {
        let exponent = match &program[id] {
            Expr::Builtin(which, args) if *which == self.exp => args[0],
            _ => return None,
        };
        let scaled = self.scaled(program, exponent, false)?;
        Some(Expr::Builtin(self.exp2, vec![scaled]))
    }

    /// `log2(e)` times a value; none if that is an operation more.
    fn scaled(&self, program: &mut Program, id: ExprId, inside: bool) -> Option<ExprId> {
        let span = program.span(id);
        let scaled = match program[id].clone() {
            Expr::Literal(Value::F32(x)) => {
                let x = (f64::from(x) * std::f64::consts::LOG2_E) as f32;
                x.is_finite().then_some(Expr::Literal(Value::F32(x)))?
            }
            Expr::Builtin(which, mut args)
                if self.bounds.contains(&which) && program.type_of(id) == Type::F32 =>
            {
                let literals = args[1..].iter().all(|&arg| is_literal(program, arg));
                if !literals {
                    return None;
                }
                for arg in &mut args {
                    *arg = self.scaled(program, *arg, true)?;
                }
                Expr::Builtin(which, args)
            }
            _ if !inside => return None,
            _ => {
                let (sign, x) = match program[id] {
                    Expr::Unary(UnaryOp::Negate, x) => (-1.0, x),
                    _ => (1.0, id),
                };
                let factor = Expr::Literal(Value::F32(sign * std::f32::consts::LOG2_E));
                let factor = program.add(factor, span);
                Expr::Binary(BinaryOp::Multiply, factor, x)
            }
        };
        Some(program.add(scaled, span))
    }

    /// `(e - a) / (e + a)` as `1 - 2 a / (e + a)`; also the name `e` and that divisor.
    fn centred(&self, program: &mut Program, id: ExprId) -> Option<(VarId, ExprId, Expr)> {
        let Expr::Binary(BinaryOp::Divide, dividend, divisor) = program[id] else {
            return None;
        };
        let (above, a) = shifted(program, dividend)?;
        let (below, b) = shifted(program, divisor)?;
        let bounded = || {
            let known = self.intervals.of(program, divisor);
            known.is_some_and(|interval| interval.is_finite() && interval.low > 0.0)
        };
        let finite = (2.0 * b).is_finite();
        if above != below || a != -b || !finite || !self.powers.contains_key(&above) || !bounded() {
            return None;
        }
        let span = program.span(id);
        let [one, twice] = [1.0, 2.0 * b].map(|x| program.add(Expr::Literal(Value::F32(x)), span));
        let quotient = program.add(Expr::Binary(BinaryOp::Divide, twice, divisor), span);
        let centred = Expr::Binary(BinaryOp::Subtract, one, quotient);
        Some((above, divisor, centred))
    }

    /// For `e + c`: the argument of that exponential, and what it is without its lower bound, if that has no effect.
    fn unbounded(&self, program: &mut Program, id: ExprId) -> Option<(ExprId, Expr)> {
        let (power, number) = summands(program, id)?;
        let power = match program[power] {
            Expr::Read(var) if self.reads[var.0 as usize] == 1 => *self.powers.get(&var)?,
            _ => power,
        };
        let (exponent, power) = self.exponent(program, power)?;
        let is_lost = |bound: f32| power(f64::from(bound)) * (1.0 + EXPONENTIAL) < LOST * number;
        let [min, max, clamp] = self.bounds;
        let Expr::Builtin(builtin, args) = program[exponent].clone() else {
            return None;
        };
        let literal = |id: ExprId| match program[id] {
            Expr::Literal(Value::F32(x)) => Some(x),
            _ => None,
        };
        if builtin == clamp {
            // With bounds the wrong way round, `clamp` is the upper one: then both forms are lost.
            is_lost(literal(args[1])?)
                .then(|| (exponent, Expr::Builtin(min, vec![args[0], args[2]])))
        } else if builtin == min {
            let Expr::Builtin(inner, below) = &program[args[0]] else {
                return None;
            };
            (*inner == max && is_lost(literal(below[1])?))
                .then(|| (exponent, Expr::Builtin(min, vec![below[0], args[1]])))
        } else {
            None
        }
    }

    /// The argument of an exponential of a number, and what it is of it.
    fn exponent(&self, program: &Program, id: ExprId) -> Option<(ExprId, Power)> {
        match &program[id] {
            Expr::Builtin(which, args) if program.type_of(id) == Type::F32 => match *which {
                which if which == self.exp => Some((args[0], f64::exp)),
                which if which == self.exp2 => Some((args[0], f64::exp2)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// `x` and `c` of `x + c` and `c + x`, where `c` is positive.
fn summands(program: &Program, id: ExprId) -> Option<(ExprId, f64)> {
    let Expr::Binary(BinaryOp::Add, a, b) = program[id] else {
        return None;
    };
    let (x, number) = match (&program[a], &program[b]) {
        (_, Expr::Literal(Value::F32(number))) => (a, *number),
        (Expr::Literal(Value::F32(number)), _) => (b, *number),
        _ => return None,
    };
    (number > 0.0).then(|| (x, f64::from(number)))
}

fn is_literal(program: &Program, id: ExprId) -> bool {
    matches!(program[id], Expr::Literal(Value::F32(_)))
}

/// A name plus a literal.
fn shifted(program: &Program, id: ExprId) -> Option<(VarId, f32)> {
    let Expr::Binary(op, a, b) = program[id] else {
        return None;
    };
    match (op, &program[a], &program[b]) {
        (BinaryOp::Add, Expr::Read(var), Expr::Literal(Value::F32(x)))
        | (BinaryOp::Add, Expr::Literal(Value::F32(x)), Expr::Read(var)) => Some((*var, *x)),
        (BinaryOp::Subtract, Expr::Read(var), Expr::Literal(Value::F32(x))) => Some((*var, -*x)),
        _ => None,
    }
}
