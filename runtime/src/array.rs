//! Values from the caller (a number, a flat slice, or words with a shape) and their conversion to the words
//! that the model stores.

use crate::{
    error::{Error, Role},
    field::{describe, product},
};
use sim_compiler::manifest::{Field, Scalar};
use std::{ops::Range, sync::Arc};

/// One or more values of one scalar type, in row-major order (the last dimension varies fastest).
///
/// Created from numbers, slices, arrays and vectors of `f32`, `f64`, `i32`, `u32` and `bool`, or from words
/// and a shape by [`Array::shaped`]. `f64` is rounded to `f32` where the model is run in that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    scalar: Scalar,
    words: Arc<[u32]>,
    shape: Option<Vec<u32>>,
}

impl Array {
    /// Values with a shape, which is checked against the declaration: `(rows, …)` for data, `(agents, …)` for
    /// inputs, the dimensions for params. Vectors add a dimension of 2 to 4. A table `[rows, columns]` is
    /// accepted for more dimensions. `words` are the bits of the values, of an `f64` the low word first; for
    /// `Bool`, 0 is false.
    pub fn shaped(scalar: Scalar, words: impl Into<Arc<[u32]>>, shape: Vec<u32>) -> Array {
        Array {
            scalar,
            words: words.into(),
            shape: Some(shape),
        }
    }

    /// Values one after the other, as the conversion from a slice gives them. `words` are their bits.
    pub fn flat(scalar: Scalar, words: impl Into<Arc<[u32]>>) -> Array {
        Array {
            scalar,
            words: words.into(),
            shape: None,
        }
    }

    /// The same values with a shape.
    #[must_use]
    pub fn with_shape(self, shape: Vec<u32>) -> Array {
        Array {
            shape: Some(shape),
            ..self
        }
    }

    /// The type of the values.
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The bits of the values, of an `f64` the low word first.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The lengths of the dimensions, if the values have a shape.
    pub fn shape(&self) -> Option<&[u32]> {
        self.shape.as_deref()
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.words.len() / self.scalar.words() as usize
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether this is a single number, which as an input applies to every agent.
    pub(crate) fn is_single(&self) -> bool {
        self.shape.as_ref().is_some_and(Vec::is_empty) && self.len() == 1
    }

    /// Some of `of` rows that it has.
    pub(crate) fn rows(&self, range: Range<usize>, of: usize) -> Array {
        let width = self.words.len() / of.max(1);
        let mut shape = self.shape.clone();
        if let Some(first) = shape.as_mut().and_then(|shape| shape.first_mut()) {
            *first = range.len() as u32;
        }
        Array {
            words: self.words[range.start * width..range.end * width].into(),
            shape,
            ..self.clone()
        }
    }

    /// The words converted to the field's type.
    pub(crate) fn words_for(&self, role: Role, field: &Field) -> Result<Arc<[u32]>, Error> {
        let words = self.converted(role, field)?;
        if !field.variants.is_empty()
            && let Some(&value) = words
                .iter()
                .find(|&&word| word as usize >= field.variants.len())
        {
            return Err(Error::UnknownVariant {
                role,
                name: field.name.clone(),
                value,
                variants: field.variants.clone(),
            });
        }
        Ok(words)
    }

    fn converted(&self, role: Role, field: &Field) -> Result<Arc<[u32]>, Error> {
        let each = |convert: fn(u32) -> Result<u32, f64>| {
            self.words
                .iter()
                .map(|&word| convert(word))
                .collect::<Result<Arc<[u32]>, f64>>()
                .map_err(|value| not_representable(role, field, value))
        };
        let doubles = |convert: fn(u32) -> f64| -> Result<Arc<[u32]>, Error> {
            Ok(words_of(self.words.iter().map(|&word| convert(word))))
        };
        match (field.scalar, self.scalar) {
            (Scalar::F32, Scalar::F64) => {
                let rounded = doubles_of(&self.words).map(|value| match value as f32 {
                    single if single.is_infinite() && value.is_finite() => Err(value),
                    single => Ok(single.to_bits()),
                });
                (rounded.collect::<Result<_, _>>())
                    .map_err(|value| not_representable(role, field, value))
            }
            (Scalar::F64, Scalar::F32) => doubles(|word| f32::from_bits(word).into()),
            (Scalar::F64, Scalar::I32) => doubles(|word| (word as i32).into()),
            (Scalar::F64, Scalar::U32) => doubles(f64::from),
            (Scalar::Bool, Scalar::Bool) => each(|word| Ok((word != 0).into())),
            (Scalar::F32, Scalar::F32)
            | (Scalar::F64, Scalar::F64)
            | (Scalar::I32, Scalar::I32)
            | (Scalar::U32, Scalar::U32) => Ok(self.words.clone()),
            (Scalar::I32, Scalar::U32) => each(|word| match i32::try_from(word) {
                Ok(_) => Ok(word),
                Err(_) => Err(word.into()),
            }),
            (Scalar::U32, Scalar::I32) => each(|word| match u32::try_from(word as i32) {
                Ok(_) => Ok(word),
                Err(_) => Err((word as i32).into()),
            }),
            (Scalar::F32, Scalar::I32) => each(|word| exact_float((word as i32).into())),
            (Scalar::F32, Scalar::U32) => each(|word| exact_float(word.into())),
            (Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32, Scalar::Bool)
            | (Scalar::I32 | Scalar::U32, Scalar::F32 | Scalar::F64)
            | (Scalar::Bool, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32) => {
                Err(Error::WrongType {
                    role,
                    name: field.name.clone(),
                    expected: field.scalar,
                    found: self.scalar,
                })
            }
        }
    }

    /// Checks the number of values, and the shape if there is one, against `expected`, whose outermost
    /// dimension may be 0 for any number of rows from 1. Returns the outermost length.
    pub(crate) fn fit(&self, role: Role, field: &Field, expected: &[u32]) -> Result<u32, Error> {
        let row: u64 = match expected {
            [0, rest @ ..] => product(rest),
            all => product(all),
        };
        let count = self.len() as u64;
        let open = expected.first() == Some(&0);
        let fits = if open {
            row > 0 && count > 0 && count.is_multiple_of(row) && count / row <= i32::MAX as u64
        } else {
            count == row
        };
        let rows = if open {
            (count / row.max(1)) as u32
        } else {
            expected.first().copied().unwrap_or(1)
        };
        let fits = fits
            && self.shape.as_ref().is_none_or(|given| {
                let mut wanted = expected.to_vec();
                if open {
                    wanted[0] = rows;
                }
                let flat = given.len() <= 2
                    && given.first() == wanted.first()
                    && product(given) == product(&wanted);
                product(given) == count && (*given == wanted || flat)
            });
        if fits {
            Ok(rows)
        } else {
            Err(Error::WrongShape {
                role,
                name: field.name.clone(),
                expected: describe(field.scalar, expected),
                found: match &self.shape {
                    Some(shape) => describe(self.scalar, shape),
                    None => format!("{count} values of {}", self.scalar.name()),
                },
            })
        }
    }
}

fn not_representable(role: Role, field: &Field, value: f64) -> Error {
    Error::NotRepresentable {
        role,
        name: field.name.clone(),
        expected: field.scalar,
        value,
    }
}

fn exact_float(value: f64) -> Result<u32, f64> {
    let float = value as f32;
    if f64::from(float) == value {
        Ok(float.to_bits())
    } else {
        Err(value)
    }
}

/// Scalars that arrays can be created from.
pub trait Number: Copy {
    /// The scalar type of the array.
    const SCALAR: Scalar;
    /// The words of the values.
    fn words(values: &[Self]) -> Arc<[u32]>;
}

impl Number for f64 {
    const SCALAR: Scalar = Scalar::F64;
    fn words(values: &[f64]) -> Arc<[u32]> {
        words_of(values.iter().copied())
    }
}

/// The words of doubles, the low one first.
pub(crate) fn words_of(values: impl ExactSizeIterator<Item = f64>) -> Arc<[u32]> {
    let mut words = Vec::with_capacity(2 * values.len());
    for value in values {
        let bits = value.to_bits();
        words.extend([bits as u32, (bits >> 32) as u32]);
    }
    words.into()
}

/// The doubles in words.
pub(crate) fn doubles_of(words: &[u32]) -> impl ExactSizeIterator<Item = f64> + Clone {
    let pairs = words.chunks_exact(2);
    pairs.map(|pair| f64::from_bits(u64::from(pair[0]) | u64::from(pair[1]) << 32))
}

macro_rules! number {
    ($ty:ty, $scalar:ident, $word:expr) => {
        impl Number for $ty {
            const SCALAR: Scalar = Scalar::$scalar;
            fn words(values: &[Self]) -> Arc<[u32]> {
                values.iter().map(|&value| $word(value)).collect()
            }
        }
    };
}

number!(f32, F32, f32::to_bits);
number!(i32, I32, i32::cast_unsigned);
number!(u32, U32, u32::from);
number!(bool, Bool, u32::from);

impl<T: Number> From<T> for Array {
    fn from(value: T) -> Array {
        Array {
            shape: Some(Vec::new()),
            ..Array::from(&[value][..])
        }
    }
}

impl<T: Number> From<&[T]> for Array {
    fn from(values: &[T]) -> Array {
        Array {
            scalar: T::SCALAR,
            words: T::words(values),
            shape: None,
        }
    }
}

macro_rules! from_slice {
    ($([$($parameters:tt)+] $ty:ty;)+) => {$(
        impl<$($parameters)+> From<$ty> for Array {
            fn from(values: $ty) -> Array {
                values.as_slice().into()
            }
        }
    )+};
}

from_slice! {
    [T: Number] &Vec<T>;
    [T: Number] Vec<T>;
    [T: Number, const N: usize] [T; N];
    [T: Number, const N: usize] &[T; N];
}
