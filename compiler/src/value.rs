//! The types and values that are left after lowering, how many words of storage they take, and the meaning of
//! the operators on them.
//!
//! Storage (buffers, tables, results) is made of words. How many of them a scalar has is known here alone
//! ([`Scalar::words`]): whoever lays out or reads storage asks a type, a field or a variable for its words.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Bytes of a word.
pub const WORD_BYTES: u64 = 4;

/// Words of a `vec4`, in which kernels read rows of inputs, arrays of params and step tables.
pub const VEC4_WORDS: u32 = 4;

/// How a scalar is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scalar {
    /// IEEE 754 single precision.
    F32,
    /// Two's complement.
    I32,
    /// Unsigned; also enums.
    U32,
    /// 0 or 1 as a `u32`.
    Bool,
}

impl Scalar {
    /// Its words in storage.
    pub const fn words(self) -> u32 {
        match self {
            Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::Bool => 1,
        }
    }

    /// As a `.sim` file writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::Bool => "bool",
        }
    }
}

impl From<Type> for Scalar {
    fn from(ty: Type) -> Self {
        match ty {
            Type::I32 => Scalar::I32,
            Type::U32 => Scalar::U32,
            Type::Bool => Scalar::Bool,
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => Scalar::F32,
        }
    }
}

/// A type of one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// IEEE 754 single precision.
    F32,
    /// 32-bit two's complement, wraps.
    I32,
    /// 32-bit unsigned, wraps.
    U32,
    /// True or false; stored as a `u32` of 1 or 0.
    Bool,
    /// Two `f32`.
    Vec2,
    /// Three `f32`.
    Vec3,
    /// Four `f32`.
    Vec4,
}

impl Type {
    /// Its words in storage.
    pub fn words(self) -> u32 {
        self.components() as u32 * Scalar::from(self).words()
    }

    /// Bytes of a variable in a kernel, where a `vec3` takes the room of a `vec4`.
    pub fn bytes(self) -> u32 {
        self.words().next_power_of_two() * WORD_BYTES as u32
    }

    /// How many scalars a value has: 1 to 4.
    pub fn components(self) -> usize {
        match self {
            Type::F32 | Type::I32 | Type::U32 | Type::Bool => 1,
            Type::Vec2 => 2,
            Type::Vec3 => 3,
            Type::Vec4 => 4,
        }
    }

    /// `f32` or the vector with this many components (1 to 4).
    pub fn float(components: usize) -> Type {
        match components {
            1 => Type::F32,
            2 => Type::Vec2,
            3 => Type::Vec3,
            4 => Type::Vec4,
            other => unreachable!("no vector has {other} components"),
        }
    }

    /// The type of a component.
    pub fn scalar(self) -> Type {
        if self.is_vector() { Type::F32 } else { self }
    }

    /// Is it a vector?
    pub fn is_vector(self) -> bool {
        self.components() > 1
    }

    /// Is it `f32` or a vector?
    pub fn is_float(self) -> bool {
        self.scalar() == Type::F32
    }

    /// As a `.sim` file writes it.
    pub fn name(self) -> &'static str {
        match self {
            Type::F32 => "f32",
            Type::I32 => "i32",
            Type::U32 => "u32",
            Type::Bool => "bool",
            Type::Vec2 => "vec2",
            Type::Vec3 => "vec3",
            Type::Vec4 => "vec4",
        }
    }
}

/// A value, whose floats are the machine type `R`: `f32`, or `f64` where a program is run with more digits
/// than its types have. Equality is of bits, so that NaN equals itself and -0.0 differs from 0.0.
#[derive(Clone, Copy, Debug)]
pub enum Value<R = f32> {
    /// `f32`
    F32(R),
    /// `i32`
    I32(i32),
    /// `u32`
    U32(u32),
    /// `bool`
    Bool(bool),
    /// `vec2`
    Vec2([R; 2]),
    /// `vec3`
    Vec3([R; 3]),
    /// `vec4`
    Vec4([R; 4]),
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.ty() == other.ty() && self.words().eq(other.words())
    }
}

impl Eq for Value {}

impl<R: Copy> Value<R> {
    /// Its type.
    pub fn ty(&self) -> Type {
        match self {
            Value::F32(_) => Type::F32,
            Value::I32(_) => Type::I32,
            Value::U32(_) => Type::U32,
            Value::Bool(_) => Type::Bool,
            Value::Vec2(_) => Type::Vec2,
            Value::Vec3(_) => Type::Vec3,
            Value::Vec4(_) => Type::Vec4,
        }
    }

    /// The components of an `f32` or a vector; none for other types.
    pub fn floats(&self) -> &[R] {
        match self {
            Value::F32(x) => std::slice::from_ref(x),
            Value::Vec2(v) => v,
            Value::Vec3(v) => v,
            Value::Vec4(v) => v,
            Value::I32(_) | Value::U32(_) | Value::Bool(_) => &[],
        }
    }

    /// An `f32` or vector from 1 to 4 components.
    pub fn from_floats(parts: &[R]) -> Self {
        match *parts {
            [x] => Value::F32(x),
            [x, y] => Value::Vec2([x, y]),
            [x, y, z] => Value::Vec3([x, y, z]),
            [x, y, z, w] => Value::Vec4([x, y, z, w]),
            _ => unreachable!("no vector has {} components", parts.len()),
        }
    }

    /// The value whose floats are made of this one's.
    pub fn map_floats<S>(self, f: impl Fn(R) -> S) -> Value<S> {
        match self {
            Value::F32(x) => Value::F32(f(x)),
            Value::I32(x) => Value::I32(x),
            Value::U32(x) => Value::U32(x),
            Value::Bool(x) => Value::Bool(x),
            Value::Vec2(v) => Value::Vec2(v.map(f)),
            Value::Vec3(v) => Value::Vec3(v.map(f)),
            Value::Vec4(v) => Value::Vec4(v.map(f)),
        }
    }
}

impl Value {
    /// Its words as storage holds them.
    pub fn words(&self) -> impl Iterator<Item = u32> + use<> {
        let mut words = [0; 4];
        let count = match self {
            Value::F32(x) => fill(&mut words, &[*x]),
            Value::I32(x) => {
                words[0] = *x as u32;
                1
            }
            Value::U32(x) => {
                words[0] = *x;
                1
            }
            Value::Bool(x) => {
                words[0] = u32::from(*x);
                1
            }
            Value::Vec2(v) => fill(&mut words, v),
            Value::Vec3(v) => fill(&mut words, v),
            Value::Vec4(v) => fill(&mut words, v),
        };
        words.into_iter().take(count)
    }

    /// The value of type `ty` that storage holds in these words.
    pub fn from_words(ty: Type, words: &[u32]) -> Value {
        let float = |k: usize| f32::from_bits(words[k]);
        match ty {
            Type::F32 => Value::F32(float(0)),
            Type::I32 => Value::I32(words[0] as i32),
            Type::U32 => Value::U32(words[0]),
            Type::Bool => Value::Bool(words[0] != 0),
            Type::Vec2 => Value::Vec2([float(0), float(1)]),
            Type::Vec3 => Value::Vec3([float(0), float(1), float(2)]),
            Type::Vec4 => Value::Vec4([float(0), float(1), float(2), float(3)]),
        }
    }

    /// The value with all bits zero.
    pub fn zero(ty: Type) -> Value {
        Value::from_words(ty, &[0; 4])
    }
}

fn fill(words: &mut [u32; 4], floats: &[f32]) -> usize {
    for (word, float) in words.iter_mut().zip(floats) {
        *word = float.to_bits();
    }
    floats.len()
}

/// Operators on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Of `i32`, `f32` or a vector; `i32` wraps.
    Negate,
    /// Of `bool`.
    Not,
    /// Bitwise, of `i32` or `u32`.
    Complement,
    /// Of an `f32` or a vector: the operand. An arithmetic fence: a driver's compiler does not see that it is
    /// the operand, so it neither contracts nor reorders it with its user. Only in kernels, see
    /// [`crate::kernel::schedule::Schedule::keeps_order`].
    Fence,
    /// Of an `f32`, in the prologue of a kernel: the operand, which a driver's compiler cannot recompute in
    /// every step, as it would to save registers before the loop.
    Keep,
}

/// Operators on two operands.
///
/// Arithmetic takes two operands of one type, or a vector and an `f32` in either order. Integers wrap;
/// `x / 0` is `x`, `x % 0` is 0, and `i32::MIN / -1` is `i32::MIN`. Float `%` truncates as WGSL's:
/// `a - b * trunc(a / b)`. Shifts take a `u32` on the right, of which the low five bits count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `==` of scalars
    Equal,
    /// `!=` of scalars
    NotEqual,
    /// `<` of numbers
    Less,
    /// `<=` of numbers
    LessEqual,
    /// `>` of numbers
    Greater,
    /// `>=` of numbers
    GreaterEqual,
    /// `&&`; both operands are evaluated, which has no visible effect
    And,
    /// `||`
    Or,
    /// `&` of integers
    BitAnd,
    /// `|` of integers
    BitOr,
    /// `^` of integers
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`, arithmetic for `i32`
    ShiftRight,
}

impl BinaryOp {
    /// Every operator, in the order of the declaration.
    pub const ALL: [Self; 18] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::Remainder,
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::And,
        Self::Or,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::ShiftLeft,
        Self::ShiftRight,
    ];

    /// Does it compare two scalars?
    pub fn compares(self) -> bool {
        matches!(
            self,
            BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::Less
                | BinaryOp::LessEqual
                | BinaryOp::Greater
                | BinaryOp::GreaterEqual
        )
    }

    /// Is its result a `bool`, whatever its operands are?
    pub fn gives_bool(self) -> bool {
        self.compares() || matches!(self, BinaryOp::And | BinaryOp::Or)
    }
}

/// A number in a message: the shortest digits that give the same `f32`, if it is one.
#[derive(Clone, Copy, Debug)]
pub struct Shown(pub f64);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shown(value) = *self;
        let single = value as f32;
        let is_single = f64::from(single) == value;
        let has_exponent = value.is_normal() && !(1e-5..1e15).contains(&value.abs());
        match (is_single, has_exponent) {
            (true, true) => write!(f, "{single:e}"),
            // The shortest digits of a whole `f32` are not all of its digits.
            (true, false) if value.fract() != 0.0 => write!(f, "{single}"),
            (false, true) => write!(f, "{value:e}"),
            (true | false, false) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Shown;

    #[test]
    fn numbers_in_messages_have_no_digits_that_nobody_wrote() {
        let shown = |value: f64| Shown(value).to_string();
        assert_eq!(shown(0.001_f32.into()), "0.001");
        assert_eq!(shown(f64::from(-0.1_f32)), "-0.1");
        assert_eq!(shown(0.1), "0.1");
        assert_eq!(shown(2.0), "2");
        assert_eq!(shown(0.0), "0");
        assert_eq!(shown(2_147_483_647.0), "2147483647");
        assert_eq!(shown(2_147_483_648.0), "2147483648");
        assert_eq!(shown(1e-7_f32.into()), "1e-7");
        assert_eq!(shown(3e38_f32.into()), "3e38");
        assert_eq!(shown(1e300), "1e300");
        assert_eq!(shown(f64::NEG_INFINITY), "-inf");
        assert_eq!(shown(f64::NAN), "NaN");
    }
}
