//! Values known at compile time: abstract arithmetic in 64 bits, and the conversion to the machine's types.

use super::{Checked, Checker};
use crate::{
    builtin::eval,
    diagnostic::{Reported, catalog},
    hir::{BinaryOp, Constant, ExprId, Type, UnaryOp},
    ir::{self, Value},
    span::Span,
    value::RealType,
};
use std::{collections::HashMap, rc::Rc};

/// Why a constant does not fit a type.
pub(super) enum Misfit {
    /// It is of another kind.
    Kind,
    /// It is too large; its text.
    Range(String),
}

/// Arrays of literals that were given a type, by their place in memory and that type: a constant is converted
/// once, however often it is used.
#[derive(Debug, Default)]
pub(super) struct Adapted(HashMap<(*const Constant, Type), Conversion>);

/// The array as it was, which must stay where it is in memory, and as it is with its new type.
#[derive(Debug)]
struct Conversion {
    _from: Rc<[Constant]>,
    to: Rc<[Constant]>,
}

/// Shorter arrays are converted anew each time.
const KEPT: usize = 16;

impl Adapted {
    /// An abstract constant of type `from` as one of the concrete type `to`.
    pub(super) fn concrete(
        &mut self,
        constant: &Constant,
        from: &Type,
        to: &Type,
        real: RealType,
    ) -> Result<Constant, Misfit> {
        match (constant, to) {
            (Constant::Int(value), Type::Value(ty)) => {
                integer(*value, *ty, real).map(Constant::Value)
            }
            (Constant::Float(value), Type::Value(ir::Type::F32)) => {
                let nearest = real.nearest(*value);
                if nearest.is_finite() {
                    Ok(Constant::Value(Value::F32(nearest)))
                } else {
                    Err(Misfit::Range(value.to_string()))
                }
            }
            (Constant::Many(values), Type::Array(element, length))
                if values.len() == *length as usize =>
            {
                let Type::Array(inner, _) = from else {
                    return Err(Misfit::Kind);
                };
                let key = (values.as_ptr(), to.clone());
                if let Some(known) = self.0.get(&key) {
                    return Ok(Constant::Many(known.to.clone()));
                }
                let elements = values
                    .iter()
                    .map(|value| self.concrete(value, inner, element, real));
                let converted: Rc<[Constant]> = elements.collect::<Result<_, _>>()?;
                if values.len() >= KEPT {
                    let (_from, to) = (values.clone(), converted.clone());
                    self.0.insert(key, Conversion { _from, to });
                }
                Ok(Constant::Many(converted))
            }
            _ => Err(Misfit::Kind),
        }
    }
}

fn integer(value: i64, ty: ir::Type, real: RealType) -> Result<Value<f64>, Misfit> {
    let misfit = || Misfit::Range(value.to_string());
    match ty {
        ir::Type::I32 => i32::try_from(value).map(Value::I32).map_err(|_| misfit()),
        ir::Type::U32 => u32::try_from(value).map(Value::U32).map_err(|_| misfit()),
        ir::Type::F32 => Ok(Value::F32(match real {
            RealType::F32 => f64::from(value as f32),
            RealType::F64 => value as f64,
        })),
        ir::Type::Bool | ir::Type::Vec2 | ir::Type::Vec3 | ir::Type::Vec4 => Err(Misfit::Kind),
    }
}

/// The IR's operator for one of the syntax, except `**`.
pub(crate) fn ir_binary(op: BinaryOp) -> Option<ir::BinaryOp> {
    Some(match op {
        BinaryOp::Add => ir::BinaryOp::Add,
        BinaryOp::Subtract => ir::BinaryOp::Subtract,
        BinaryOp::Multiply => ir::BinaryOp::Multiply,
        BinaryOp::Divide => ir::BinaryOp::Divide,
        BinaryOp::Remainder => ir::BinaryOp::Remainder,
        BinaryOp::Equal => ir::BinaryOp::Equal,
        BinaryOp::NotEqual => ir::BinaryOp::NotEqual,
        BinaryOp::Less => ir::BinaryOp::Less,
        BinaryOp::LessEqual => ir::BinaryOp::LessEqual,
        BinaryOp::Greater => ir::BinaryOp::Greater,
        BinaryOp::GreaterEqual => ir::BinaryOp::GreaterEqual,
        BinaryOp::And => ir::BinaryOp::And,
        BinaryOp::Or => ir::BinaryOp::Or,
        BinaryOp::BitAnd => ir::BinaryOp::BitAnd,
        BinaryOp::BitOr => ir::BinaryOp::BitOr,
        BinaryOp::BitXor => ir::BinaryOp::BitXor,
        BinaryOp::ShiftLeft => ir::BinaryOp::ShiftLeft,
        BinaryOp::ShiftRight => ir::BinaryOp::ShiftRight,
        BinaryOp::Power => return None,
    })
}

/// The IR's operator for one of the syntax.
pub(crate) fn ir_unary(op: UnaryOp) -> ir::UnaryOp {
    match op {
        UnaryOp::Negate => ir::UnaryOp::Negate,
        UnaryOp::Not => ir::UnaryOp::Not,
        UnaryOp::Complement => ir::UnaryOp::Complement,
    }
}

impl Checker<'_> {
    /// `op constant`, folded; none if it cannot be.
    pub(super) fn fold_unary(
        &mut self,
        op: UnaryOp,
        operand: &Constant,
        ty: &Type,
        span: Span,
    ) -> Checked<Option<Constant>> {
        Ok(Some(match (op, operand) {
            (UnaryOp::Negate, Constant::Int(value)) => match value.checked_neg() {
                Some(value) => Constant::Int(value),
                None => return Err(self.overflow(op.text(), span)),
            },
            (UnaryOp::Complement, Constant::Int(value)) => Constant::Int(!value),
            (UnaryOp::Negate, Constant::Float(value)) => Constant::Float(-value),
            (_, Constant::Value(value)) if ty.value().is_some() => {
                // A sign is exact in both types.
                Constant::Value(eval::unary(ir_unary(op), *value))
            }
            _ => return Ok(None),
        }))
    }

    fn overflow(&mut self, op: &str, span: Span) -> Reported {
        self.report(catalog::constants::constant_overflow(op, span))
    }

    /// `a op b`, folded; both have the same type, or are a vector and an `f32`. None if it cannot be.
    pub(super) fn fold_binary(
        &mut self,
        op: BinaryOp,
        a: &Constant,
        b: &Constant,
        span: Span,
        right: Span,
    ) -> Checked<Option<Constant>> {
        match (a, b) {
            (Constant::Int(a), Constant::Int(b)) => self.fold_ints(op, *a, *b, span, right),
            (Constant::Float(a), Constant::Float(b)) => self.fold_floats(op, *a, *b, span),
            (Constant::Value(x), Constant::Value(y)) => {
                let Some(op) = ir_binary(op) else {
                    return Ok(None);
                };
                let y = match (op, y) {
                    (ir::BinaryOp::ShiftLeft | ir::BinaryOp::ShiftRight, Value::I32(amount)) => {
                        Value::U32(*amount as u32)
                    }
                    _ => *y,
                };
                let value = match self.model.real.is_double() {
                    false => eval::binary(op, x.single(), y.single()).double(),
                    true => eval::binary(op, *x, y),
                };
                Ok(Some(Constant::Value(value)))
            }
            _ => Ok(None),
        }
    }

    fn fold_ints(
        &mut self,
        op: BinaryOp,
        a: i64,
        b: i64,
        span: Span,
        right: Span,
    ) -> Checked<Option<Constant>> {
        let truth = |value: bool| Ok(Some(Constant::Value(Value::Bool(value))));
        if op == BinaryOp::Divide {
            self.note_division(span, a, b);
        }
        let result = match op {
            BinaryOp::Divide | BinaryOp::Remainder if b == 0 => {
                return Err(self.report(catalog::constants::division_by_zero(right)));
            }
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Subtract => a.checked_sub(b),
            BinaryOp::Multiply => a.checked_mul(b),
            BinaryOp::Divide => a.checked_div(b),
            BinaryOp::Remainder => a.checked_rem(b),
            BinaryOp::Power if b < 0 => return self.fold_floats(op, a as f64, b as f64, span),
            BinaryOp::Power => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
            BinaryOp::BitAnd => Some(a & b),
            BinaryOp::BitOr => Some(a | b),
            BinaryOp::BitXor => Some(a ^ b),
            BinaryOp::ShiftLeft => u32::try_from(b)
                .ok()
                .filter(|b| *b < 63)
                .and_then(|b| a.checked_mul(1 << b)),
            BinaryOp::ShiftRight => u32::try_from(b).ok().filter(|b| *b < 64).map(|b| a >> b),
            BinaryOp::Equal => return truth(a == b),
            BinaryOp::NotEqual => return truth(a != b),
            BinaryOp::Less => return truth(a < b),
            BinaryOp::LessEqual => return truth(a <= b),
            BinaryOp::Greater => return truth(a > b),
            BinaryOp::GreaterEqual => return truth(a >= b),
            BinaryOp::And | BinaryOp::Or => return Ok(None),
        };
        match result {
            Some(value) => Ok(Some(Constant::Int(value))),
            None => Err(self.overflow(op.text(), span)),
        }
    }

    fn fold_floats(
        &mut self,
        op: BinaryOp,
        a: f64,
        b: f64,
        span: Span,
    ) -> Checked<Option<Constant>> {
        let truth = |value: bool| Ok(Some(Constant::Value(Value::Bool(value))));
        let result = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Subtract => a - b,
            BinaryOp::Multiply => a * b,
            BinaryOp::Divide => a / b,
            BinaryOp::Remainder => a % b,
            BinaryOp::Power => a.powf(b),
            BinaryOp::Equal => return truth(a == b),
            BinaryOp::NotEqual => return truth(a != b),
            BinaryOp::Less => return truth(a < b),
            BinaryOp::LessEqual => return truth(a <= b),
            BinaryOp::Greater => return truth(a > b),
            BinaryOp::GreaterEqual => return truth(a >= b),
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => return Ok(None),
        };
        if !result.is_finite() {
            return Err(self.report(catalog::constants::not_finite(span)));
        }
        Ok(Some(Constant::Float(result)))
    }

    /// All expressions as machine values with the numbers that the model says, if they all are constants of
    /// machine types: see [`crate::hir::Model::texts`]. Nobody asks for them in a browser, where no run is in
    /// `f64`.
    pub(super) fn wide(&self, ids: &[ExprId]) -> Option<Vec<Value<f64>>> {
        if cfg!(sim_web) {
            return None;
        }
        let wide = |&id: &ExprId| match self.constant(id) {
            Some(Constant::Value(value)) => Some(match self.model.texts.get(&id) {
                Some(&text) => Value::F32(text),
                None => *value,
            }),
            _ => None,
        };
        ids.iter().map(wide).collect()
    }

    /// A constant that was computed, and the same in `f64`.
    pub(super) fn folded(
        &mut self,
        constant: Constant,
        wide: Option<Value<f64>>,
        ty: Type,
        span: Span,
    ) -> ExprId {
        let text = match (&constant, wide) {
            (Constant::Value(Value::F32(single)), Some(Value::F32(text))) => {
                Some(text).filter(|text| text != single && text.is_finite())
            }
            _ => None,
        };
        let node = self.constant_node(constant, ty, span);
        if let Some(text) = text {
            self.model.texts.insert(node, text);
        }
        node
    }

    /// All expressions as constants, if they all are.
    pub(super) fn constants(&self, ids: &[ExprId]) -> Option<Vec<Constant>> {
        ids.iter().map(|&id| self.constant(id).cloned()).collect()
    }

    /// All expressions as machine values, if they all are constants of machine types.
    pub(super) fn values(&self, ids: &[ExprId]) -> Option<Vec<Value<f64>>> {
        ids.iter()
            .map(|&id| match self.constant(id) {
                Some(Constant::Value(value)) => Some(*value),
                _ => None,
            })
            .collect()
    }
}
