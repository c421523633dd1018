//! The machine types that a program's floats may have: `f32`, which is the language's, and `f64`.
//!
//! In `f64` every operator and builtin is computed with 53 binary digits; random words and integers stay what
//! they are. What a program stores has as many digits as its own type of floats, [`Program::real`]: a program
//! in `f32` may be run in `f64` to see what rounding does to it.
//!
//! [`Program::real`]: crate::ir::Program::real

use super::{BuiltinId, Double, math::arithmetic, math::double, math::operator, table};
use crate::value::{RealType, Type, Value};
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
    /// 0
    const ZERO: Self;

    /// The same number.
    fn from_f32(x: f32) -> Self;
    /// The nearest number.
    fn from_f64(x: f64) -> Self;
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

    /// The value of type `ty` in these words of storage, whose floats are of type `real`.
    #[inline]
    fn load(real: RealType, ty: Type, words: &[u32]) -> Value<Self> {
        match real {
            RealType::F32 => Value::from_words(ty, words).map_floats(Self::from_f32),
            RealType::F64 => {
                Value::from_words_of(RealType::F64, ty, words).map_floats(Self::from_f64)
            }
        }
    }

    /// Writes a value into as many words as its type has where floats are of type `real`.
    #[inline]
    fn store(real: RealType, value: Value<Self>, words: &mut [u32]) {
        let mut put = |value: &mut dyn Iterator<Item = u32>| {
            for (word, from) in words.iter_mut().zip(value) {
                *word = from;
            }
        };
        match real {
            RealType::F32 => put(&mut value.map_floats(Self::to_f32).words()),
            RealType::F64 => put(&mut value.map_floats(Self::to_f64).words_of(RealType::F64)),
        }
    }
}

/// The conversions and functions of one of the types, which are called the same in both modules.
macro_rules! real {
    ($float:ty, $arithmetic:ident) => {
        const ZERO: Self = 0.0;

        #[inline(always)]
        fn from_f64(x: f64) -> Self {
            x as Self
        }
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
    };
}

impl Real for f32 {
    real!(f32, arithmetic);

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
    real!(f64, double);

    #[inline(always)]
    fn from_f32(x: f32) -> f64 {
        x.into()
    }
    #[inline(always)]
    fn from_i32(x: i32) -> f64 {
        x.into()
    }
    #[inline(always)]
    fn from_u32(x: u32) -> f64 {
        x.into()
    }
    /// The ends are those of the conversion from `f32`, which are the last floats within the type.
    #[inline(always)]
    fn to_i32(self) -> i32 {
        operator::f64_to_i32(self)
    }
    #[inline(always)]
    fn to_u32(self) -> u32 {
        operator::f64_to_u32(self)
    }
    #[inline(always)]
    fn literal(single: f32, text: impl FnOnce() -> Option<f64>) -> f64 {
        text().unwrap_or(single.into())
    }
    #[inline(always)]
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
