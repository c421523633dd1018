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
    /// IEEE 754 double precision, the low word first; only of models that are run in `f64`.
    F64,
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
            Scalar::F64 => 2,
        }
    }

    /// Is it a float?
    pub const fn is_float(self) -> bool {
        matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// As a `.sim` file writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
            Scalar::I32 => "i32",
            Scalar::U32 => "u32",
            Scalar::Bool => "bool",
        }
    }
}

/// The machine type of a model's floats: what its `f32` stands for in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RealType {
    /// IEEE 754 single precision, as the language says.
    #[default]
    F32,
    /// IEEE 754 double precision.
    F64,
}

impl RealType {
    /// How a float is stored.
    pub const fn scalar(self) -> Scalar {
        match self {
            RealType::F32 => Scalar::F32,
            RealType::F64 => Scalar::F64,
        }
    }

    /// Is it `f64`? Modules for browsers compile no model in `f64`, and so lack what computes in it.
    pub fn is_double(self) -> bool {
        !cfg!(sim_web) && self == RealType::F64
    }

    /// Is it `f32`?
    pub fn is_single(&self) -> bool {
        *self == RealType::F32
    }

    /// As an option writes it.
    pub const fn name(self) -> &'static str {
        self.scalar().name()
    }

    /// The nearest number that it has.
    pub fn nearest(self, x: f64) -> f64 {
        match self {
            RealType::F32 => exact_double(x as f32),
            RealType::F64 => x,
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
    /// Its words in storage, where floats are `f32`.
    pub fn words(self) -> u32 {
        self.words_of(RealType::F32)
    }

    /// Its words in storage, where floats are of type `real`.
    pub fn words_of(self, real: RealType) -> u32 {
        self.components() as u32 * self.stored(real).words()
    }

    /// How its components are stored, where floats are of type `real`.
    pub fn stored(self, real: RealType) -> Scalar {
        match self {
            Type::I32 => Scalar::I32,
            Type::U32 => Scalar::U32,
            Type::Bool => Scalar::Bool,
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => real.scalar(),
        }
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

impl Value<f64> {
    /// Whether both have the same type and bits. (An operator would leave it open what an integer is compared
    /// with.)
    pub fn has_bits_of(&self, other: &Value<f64>) -> bool {
        let words = |value: &Value<f64>| value.words_of(RealType::F64);
        self.ty() == other.ty() && words(self).eq(words(other))
    }

    /// The same value whose floats are `f32`, rounded to the nearest.
    pub fn single(self) -> Value {
        self.map_floats(|x| match x.is_nan() {
            true => {
                let bits = x.to_bits();
                let (sign, digits) = ((bits >> 32) as u32 & 0x8000_0000, (bits >> 29) as u32);
                f32::from_bits(sign | 0x7f80_0000 | digits & 0x7f_ffff)
            }
            false => x as f32,
        })
    }

    /// The same value whose floats are `f32`, if those are the same numbers.
    pub fn exact_single(self) -> Option<Value> {
        let single = self.single();
        single.double().has_bits_of(&self).then_some(single)
    }

    /// Its words as storage holds them where floats are of type `real`.
    pub fn words_of(&self, real: RealType) -> impl Iterator<Item = u32> + use<> {
        let mut words = [0; 8];
        let mut count = 0;
        let mut add = |word| {
            words[count] = word;
            count += 1;
        };
        match (real, self.floats()) {
            (RealType::F32, _) | (RealType::F64, []) => self.single().words().for_each(add),
            (RealType::F64, floats) => {
                for x in floats {
                    let bits = x.to_bits();
                    add(bits as u32);
                    add((bits >> 32) as u32);
                }
            }
        }
        words.into_iter().take(count)
    }

    /// The value of type `ty` that storage holds in these words where floats are of type `real`.
    pub fn from_words_of(real: RealType, ty: Type, words: &[u32]) -> Value<f64> {
        if real == RealType::F32 || !ty.is_float() {
            return Value::from_words(ty, words).double();
        }
        let mut floats = [0.0; 4];
        for (float, pair) in floats.iter_mut().zip(words.chunks_exact(2)) {
            *float = f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32);
        }
        Value::from_floats(&floats[..ty.components()])
    }
}

impl Value {
    /// The same value whose floats are `f64`.
    pub fn double(self) -> Value<f64> {
        self.map_floats(exact_double)
    }
}

/// The same number, and of a NaN the same bits.
fn exact_double(x: f32) -> f64 {
    match x.is_nan() {
        true => {
            let bits = u64::from(x.to_bits());
            let (sign, digits) = (bits >> 31 << 63, (bits & 0x7f_ffff) << 29);
            f64::from_bits(sign | 0x7ff << 52 | digits)
        }
        false => x.into(),
    }
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
