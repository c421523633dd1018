//! Types and constants as the checker sees them.

use super::{EnumId, Model, StructId};
use crate::{diagnostic::Reported, ir};
use std::rc::Rc;

/// A type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// A scalar or vector of the machine.
    Value(ir::Type),
    /// `[T; N]`
    Array(Rc<Type>, u32),
    /// `[T]`, only of `data`.
    Open(Rc<Type>),
    /// A `struct`.
    Struct(StructId),
    /// An `enum`, a `u32` of the machine.
    Enum(EnumId),
    /// An agent of the world: its place in it, an `i32` of the machine. Only a `let` or an index has it.
    Agent,
    /// An integer literal or constant that has not met a type yet.
    AbstractInt,
    /// A float literal or constant that has not met a type yet.
    AbstractFloat,
    /// Unknown because of a mistake, which was reported: fits everywhere, so that one mistake gives one
    /// message.
    Error(Reported),
}

/// Short names of the machine's types.
impl Type {
    /// `f32`
    pub const F32: Type = Type::Value(ir::Type::F32);
    /// `i32`
    pub const I32: Type = Type::Value(ir::Type::I32);
    /// `u32`
    pub const U32: Type = Type::Value(ir::Type::U32);
    /// `bool`
    pub const BOOL: Type = Type::Value(ir::Type::Bool);

    /// The machine's type of one value, if it is one.
    pub fn value(&self) -> Option<ir::Type> {
        match self {
            Type::Value(ty) => Some(*ty),
            Type::Enum(_) => Some(ir::Type::U32),
            Type::Agent => Some(ir::Type::I32),
            Type::Array(..)
            | Type::Open(_)
            | Type::Struct(_)
            | Type::AbstractInt
            | Type::AbstractFloat
            | Type::Error(_) => None,
        }
    }

    /// A vector?
    pub fn is_vector(&self) -> bool {
        matches!(self, Type::Value(ty) if ty.is_vector())
    }

    /// The type of the elements of an array, of those of its elements if these are arrays; its own of
    /// anything else.
    pub fn innermost(&self) -> &Type {
        match self {
            Type::Array(element, _) | Type::Open(element) => element.innermost(),
            Type::Value(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Agent
            | Type::AbstractInt
            | Type::AbstractFloat
            | Type::Error(_) => self,
        }
    }

    /// A literal's type, directly or in an array.
    pub fn is_abstract(&self) -> bool {
        match self {
            Type::AbstractInt | Type::AbstractFloat => true,
            Type::Array(element, _) => element.is_abstract(),
            Type::Value(_)
            | Type::Open(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Agent
            | Type::Error(_) => false,
        }
    }

    /// The proof of the mistake somewhere in it, if there is one.
    pub fn error(&self) -> Option<Reported> {
        match self {
            Type::Error(reported) => Some(*reported),
            Type::Array(element, _) | Type::Open(element) => element.error(),
            Type::Value(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Agent
            | Type::AbstractInt
            | Type::AbstractFloat => None,
        }
    }

    /// Was a mistake reported somewhere in it?
    pub fn has_error(&self) -> bool {
        self.error().is_some()
    }

    /// The type that an abstract one takes when nothing else asks: `i32` or `f32`.
    pub fn default_concrete(&self) -> Type {
        match self {
            Type::AbstractInt => Type::I32,
            Type::AbstractFloat => Type::F32,
            Type::Array(element, length) => {
                Type::Array(Rc::new(element.default_concrete()), *length)
            }
            Type::Value(_)
            | Type::Open(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::Agent
            | Type::Error(_) => self.clone(),
        }
    }

    /// As a message shows it.
    pub fn show(&self, model: &Model) -> String {
        match self {
            Type::Value(ty) => ty.name().to_string(),
            Type::Array(element, length) => format!("[{}; {length}]", element.show(model)),
            Type::Open(element) => format!("[{}]", element.show(model)),
            Type::Struct(id) => model[*id].name.clone(),
            Type::Enum(id) => model[*id].name.clone(),
            Type::Agent => "agent".to_string(),
            Type::AbstractInt => "integer".to_string(),
            Type::AbstractFloat => "float".to_string(),
            Type::Error(_) => "?".to_string(),
        }
    }
}

/// A value known at compile time.
#[derive(Clone, Debug)]
pub enum Constant {
    /// Of type [`Type::AbstractInt`].
    Int(i64),
    /// Of type [`Type::AbstractFloat`].
    Float(f64),
    /// Of a machine type or an enum. Its floats are numbers of the run's type: `f32`, or `f64` where the
    /// model is compiled for that.
    Value(ir::Value<f64>),
    /// An array, or a struct's fields in order.
    Many(Rc<[Constant]>),
}

impl PartialEq for Constant {
    fn eq(&self, other: &Constant) -> bool {
        match (self, other) {
            (Constant::Int(a), Constant::Int(b)) => a == b,
            (Constant::Float(a), Constant::Float(b)) => a == b,
            (Constant::Value(a), Constant::Value(b)) => a.has_bits_of(b),
            (Constant::Many(a), Constant::Many(b)) => a == b,
            _ => false,
        }
    }
}

impl Constant {
    /// An integer of any type, if it is one.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Constant::Int(value) => Some(*value),
            Constant::Value(ir::Value::I32(value)) => Some(i64::from(*value)),
            Constant::Value(ir::Value::U32(value)) => Some(i64::from(*value)),
            Constant::Float(_) | Constant::Value(_) | Constant::Many(_) => None,
        }
    }

    /// A number of any type, if it is one.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Constant::Float(value) => Some(*value),
            Constant::Value(ir::Value::F32(value)) => Some(*value),
            other => other.as_int().map(|value| value as f64),
        }
    }
}
