//! The machine types that a program's floats may have: `f32`, which is the language's, and `f64`, in which
//! the interpreter runs a program to see what rounding does to it.
//!
//! In `f64` every operator and builtin is computed with 53 binary digits, random words and integers stay what
//! they are, and what the launch gives is the `f32` that it gives.

use super::{BuiltinId, Double, math::arithmetic, math::double, math::operator, table};
use crate::value::{Type, Value};
use std::{
    fmt::Debug,
    ops::{Add, Div, Mul, Neg, Sub},
};

/// A machine type of floats, with what the interpreter needs of it beside `+ - * /` and comparisons.
pub trait Real:
    Copy
    + Debug
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What a row of storage is made of: as many bits as a float has.
    type Word: Copy + Debug + Default + PartialEq + Send + Sync + 'static;

    /// 0
    const ZERO: Self;

    /// The same number.
    fn from_f32(x: f32) -> Self;
    /// The nearest `f32`.
    fn to_f32(self) -> f32;
    /// The same number.
    fn to_f64(self) -> f64;
    /// The nearest number.
    fn from_i32(x: i32) -> Self;
    /// The nearest number.
    fn from_u32(x: u32) -> Self;
    /// Without its fraction, kept within the type; 0 for NaN.
    fn to_i32(self) -> i32;
    /// Likewise.
    fn to_u32(self) -> u32;
    /// A literal: the `f32` that the program has, and what the model's text says, if it is known.
    fn literal(single: f32, text: impl FnOnce() -> Option<f64>) -> Self;
    /// `a - b * trunc(a / b)`
    fn remainder(self, b: Self) -> Self;
    /// The magnitude.
    fn abs(self) -> Self;
    /// The root.
    fn sqrt(self) -> Self;
    /// -1, 0 or 1; 0 for NaN.
    fn sign(self) -> Self;
    /// The smaller of two; the other one if one is NaN.
    fn min(self, b: Self) -> Self;
    /// The larger of two; the other one if one is NaN.
    fn max(self, b: Self) -> Self;
    /// Applies a builtin.
    fn apply(id: BuiltinId, args: &[Value<Self>]) -> Value<Self>;
    /// Its bits.
    fn word(self) -> Self::Word;
    /// The float of these bits.
    fn from_word(word: Self::Word) -> Self;
    /// The bits of a scalar that is no float.
    fn widen(bits: u32) -> Self::Word;
    /// Those bits again.
    fn narrow(word: Self::Word) -> u32;

    /// The value of type `ty` in these words.
    fn load(ty: Type, words: &[Self::Word]) -> Value<Self> {
        let float = |k: usize| Self::from_word(words[k]);
        match ty {
            Type::F32 => Value::F32(float(0)),
            Type::I32 => Value::I32(Self::narrow(words[0]) as i32),
            Type::U32 => Value::U32(Self::narrow(words[0])),
            Type::Bool => Value::Bool(Self::narrow(words[0]) != 0),
            Type::Vec2 => Value::Vec2([float(0), float(1)]),
            Type::Vec3 => Value::Vec3([float(0), float(1), float(2)]),
            Type::Vec4 => Value::Vec4([float(0), float(1), float(2), float(3)]),
        }
    }

    /// Writes a value into as many words as its type has.
    fn store(value: Value<Self>, words: &mut [Self::Word]) {
        match value {
            Value::I32(x) => words[0] = Self::widen(x as u32),
            Value::U32(x) => words[0] = Self::widen(x),
            Value::Bool(x) => words[0] = Self::widen(u32::from(x)),
            Value::F32(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
                for (word, x) in words.iter_mut().zip(value.floats()) {
                    *word = x.word();
                }
            }
        }
    }
}

/// The conversions and functions of one of the types, which are called the same in both modules.
macro_rules! real {
    ($float:ty, $word:ty, $arithmetic:ident) => {
        type Word = $word;
        const ZERO: Self = 0.0;

        #[inline(always)]
        fn to_f32(self) -> f32 {
            self as f32
        }
        #[inline(always)]
        fn to_f64(self) -> f64 {
            f64::from(self)
        }
        #[inline(always)]
        fn abs(self) -> Self {
            <$float>::abs(self)
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            <$float>::sqrt(self)
        }
        #[inline(always)]
        fn sign(self) -> Self {
            $arithmetic::sign(self)
        }
        #[inline(always)]
        fn min(self, b: Self) -> Self {
            $arithmetic::min(self, b)
        }
        #[inline(always)]
        fn max(self, b: Self) -> Self {
            $arithmetic::max(self, b)
        }
        #[inline(always)]
        fn word(self) -> $word {
            self.to_bits()
        }
        #[inline(always)]
        fn from_word(word: $word) -> Self {
            <$float>::from_bits(word)
        }
        #[inline(always)]
        fn widen(bits: u32) -> $word {
            bits.into()
        }
        #[inline(always)]
        fn narrow(word: $word) -> u32 {
            word as u32
        }
    };
}

impl Real for f32 {
    real!(f32, u32, arithmetic);

    #[inline(always)]
    fn from_f32(x: f32) -> f32 {
        x
    }
    #[inline(always)]
    fn from_i32(x: i32) -> f32 {
        operator::i32_to_f32(x)
    }
    #[inline(always)]
    fn from_u32(x: u32) -> f32 {
        operator::u32_to_f32(x)
    }
    #[inline(always)]
    fn to_i32(self) -> i32 {
        operator::f32_to_i32(self)
    }
    #[inline(always)]
    fn to_u32(self) -> u32 {
        operator::f32_to_u32(self)
    }
    #[inline(always)]
    fn literal(single: f32, _: impl FnOnce() -> Option<f64>) -> f32 {
        single
    }
    #[inline(always)]
    fn remainder(self, b: f32) -> f32 {
        operator::remainder(self, b)
    }
    #[inline(always)]
    fn apply(id: BuiltinId, args: &[Value]) -> Value {
        (id.row().pure().eval)(args)
    }
}

impl Real for f64 {
    real!(f64, u64, double);

    fn from_f32(x: f32) -> f64 {
        x.into()
    }
    fn from_i32(x: i32) -> f64 {
        x.into()
    }
    fn from_u32(x: u32) -> f64 {
        x.into()
    }
    /// The ends are those of the conversion from `f32`, which are the last floats within the type.
    fn to_i32(self) -> i32 {
        self.clamp(-2_147_483_648.0, 2_147_483_520.0) as i32
    }
    fn to_u32(self) -> u32 {
        self.clamp(0.0, 4_294_967_040.0) as u32
    }
    fn literal(single: f32, text: impl FnOnce() -> Option<f64>) -> f64 {
        text().unwrap_or(single.into())
    }
    fn remainder(self, b: f64) -> f64 {
        self - b * (self / b).trunc()
    }
    fn apply(id: BuiltinId, args: &[Value<f64>]) -> Value<f64> {
        match table::double(id) {
            Double::Of(meaning) => meaning(args),
            Double::Same => {
                let args: Vec<Value> = args
                    .iter()
                    .map(|arg| arg.map_floats(|x| x as f32))
                    .collect();
                (id.row().pure().eval)(&args).map_floats(f64::from)
            }
            Double::Unstated => unreachable!("internal error: a builtin has no meaning in f64"),
        }
    }
}

#[cfg(test)]
mod tests;
