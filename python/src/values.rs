//! Values from Python for params, tables and inputs: numbers, arrays, and what NumPy makes arrays of.

use crate::errors::{self, Source, run_error};
use numpy::{
    Element, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::{
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyString},
};
use sim_runtime::{Array, Error, Field, Role, Scalar};
use std::sync::Arc;

/// Most words that are compared.
const MOST_COMPARED: usize = 64;

/// Whether two values are the same; many never are.
pub(crate) fn are_same(one: &Array, other: &Array) -> bool {
    one.words().len() <= MOST_COMPARED && one == other
}

/// What a value is for.
#[derive(Clone, Copy)]
pub(crate) struct For<'a> {
    pub(crate) source: &'a Source,
    pub(crate) role: Role,
    pub(crate) field: &'a Field,
}

impl For<'_> {
    /// Reads a value.
    ///
    /// # Errors
    /// `RunError` for a wrong type, or a number that the field's type does not hold. Shapes are checked when
    /// a run starts.
    pub(crate) fn read(self, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        if let Ok(value) = value.cast::<PyBool>() {
            return Ok(value.is_true().into());
        }
        if value.cast::<PyFloat>().is_ok() {
            let value: f64 = value.extract()?;
            return self.float(value);
        }
        if value.cast::<PyInt>().is_ok() {
            return self.integer(value);
        }
        if let Ok(text) = value.cast::<PyString>() {
            return self.variant(&text.to_cow()?);
        }
        let array = self.as_array(value)?;
        self.array(&array)
    }

    fn float(self, value: f64) -> PyResult<Array> {
        if self.field.scalar == Scalar::F32 && value.is_finite() && (value as f32).is_infinite() {
            return Err(self.not_representable(value));
        }
        Ok(value.into())
    }

    fn integer(self, value: &Bound<'_, PyAny>) -> PyResult<Array> {
        let Ok(whole) = value.extract::<i64>() else {
            return Err(self.not_representable(value.extract().unwrap_or(f64::INFINITY)));
        };
        if let Ok(value) = i32::try_from(whole) {
            return Ok(value.into());
        }
        if let Ok(value) = u32::try_from(whole) {
            return Ok(value.into());
        }
        let float = whole as f64;
        let rounded = match self.field.scalar {
            Scalar::F32 => f64::from(whole as f32),
            _ => float,
        };
        match self.field.scalar.is_float() && rounded as i128 == i128::from(whole) {
            true => Ok(rounded.into()),
            false => Err(self.not_representable(float)),
        }
    }

    fn variant(self, text: &str) -> PyResult<Array> {
        let variants = &self.field.variants;
        match variants.iter().position(|variant| variant == text) {
            Some(number) => Ok((number as u32).into()),
            None if variants.is_empty() => Err(self.wrong_type("text")),
            None => Err(run_error(
                "E0707",
                &format!(
                    "{} `{}` has no variant `{text}`",
                    self.role, self.field.name
                ),
                Some(&format!("its variants are {}", variants.join(", "))),
            )),
        }
    }

    /// An array of NumPy of anything that NumPy takes.
    fn as_array<'py>(self, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
        if let Ok(array) = value.cast::<PyUntypedArray>() {
            return Ok(array.clone());
        }
        let helper = value.py().import("simc._arrays")?;
        let array = helper.getattr("as_array")?.call1((value,))?;
        Ok(array.cast_into::<PyUntypedArray>()?)
    }

    fn array(self, array: &Bound<'_, PyUntypedArray>) -> PyResult<Array> {
        let dtype = array.dtype();
        let native = matches!(dtype.byteorder(), b'=' | b'|');
        let array = match native {
            true => array.clone(),
            false => {
                let order = dtype.call_method1("newbyteorder", ("=",))?;
                let converted = array.call_method1("astype", (order,))?;
                converted.cast_into::<PyUntypedArray>()?
            }
        };
        let wanted = self.field.scalar;
        match (dtype.kind(), dtype.itemsize(), wanted) {
            (b'f', 4, Scalar::F32) => self.words::<f32>(&array, Scalar::F32, f32::to_bits),
            (b'f', 8, Scalar::F32) => self.rounded(&array),
            (b'f', 8, Scalar::F64) => self.doubles(&array),
            (b'f', 2, Scalar::F32) => {
                let array = array.call_method1("astype", ("float32",))?;
                let array = array.cast_into::<PyUntypedArray>()?;
                self.words::<f32>(&array, Scalar::F32, f32::to_bits)
            }
            (b'f', 2 | 4, Scalar::F64) => {
                let array = array.call_method1("astype", ("float64",))?;
                self.doubles(&array.cast_into()?)
            }
            (b'b', 1, Scalar::Bool) => self.words::<bool>(&array, Scalar::Bool, u32::from),
            (b'i', 4, Scalar::I32) => self.words::<i32>(&array, Scalar::I32, i32::cast_unsigned),
            (b'u', 4, Scalar::U32) => self.words::<u32>(&array, Scalar::U32, |word| word),
            (b'i', _, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32) => {
                let array = array.call_method1("astype", ("int64",))?;
                self.integers::<i64>(&array.cast_into()?)
            }
            (b'u', _, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32) => {
                let array = array.call_method1("astype", ("uint64",))?;
                self.integers::<u64>(&array.cast_into()?)
            }
            _ => Err(self.wrong_type(&format!("an array of {}", dtype.str()?))),
        }
    }

    /// The words of an array whose type is the field's.
    fn words<T: Element + Copy>(
        self,
        array: &Bound<'_, PyUntypedArray>,
        scalar: Scalar,
        word: fn(T) -> u32,
    ) -> PyResult<Array> {
        let shape = self.shape(array)?;
        let words: Arc<[u32]> = with_values(array, |values: &[T]| {
            values.iter().map(|&value| word(value)).collect()
        })?;
        Ok(Array::shaped(scalar, words, shape))
    }

    fn doubles(self, array: &Bound<'_, PyUntypedArray>) -> PyResult<Array> {
        let shape = self.shape(array)?;
        let values = with_values(array, |values: &[f64]| Array::from(values))?;
        Ok(values.with_shape(shape))
    }

    /// Doubles as `f32`.
    fn rounded(self, array: &Bound<'_, PyUntypedArray>) -> PyResult<Array> {
        let shape = self.shape(array)?;
        let words: Result<Arc<[u32]>, f64> = with_values(array, |values: &[f64]| {
            let beyond = |value: &&f64| value.is_finite() && (**value as f32).is_infinite();
            match values.iter().find(beyond) {
                Some(&value) => Err(value),
                None => {
                    let words = values.iter().map(|&value| (value as f32).to_bits());
                    Ok(words.collect())
                }
            }
        })?;
        let words = words.map_err(|value| self.not_representable(value))?;
        Ok(Array::shaped(Scalar::F32, words, shape))
    }

    fn integers<T: Element + Copy + Into<i128>>(
        self,
        array: &Bound<'_, PyUntypedArray>,
    ) -> PyResult<Array> {
        let shape = self.shape(array)?;
        let scalar = self.field.scalar;
        if scalar == Scalar::F64 {
            let double = |value: &T| {
                let value: i128 = (*value).into();
                let float = value as f64;
                (float as i128 == value).then_some(float).ok_or(float)
            };
            let doubles: Result<Vec<f64>, f64> =
                with_values(array, |values: &[T]| values.iter().map(double).collect())?;
            let doubles = doubles.map_err(|value| self.not_representable(value))?;
            return Ok(Array::from(doubles).with_shape(shape));
        }
        let word = |value: &T| {
            let value: i128 = (*value).into();
            let word = match scalar {
                Scalar::F32 => {
                    let float = value as f32;
                    (float as i128 == value).then(|| float.to_bits())
                }
                Scalar::F64 => None,
                Scalar::I32 => i32::try_from(value).ok().map(i32::cast_unsigned),
                Scalar::U32 | Scalar::Bool => u32::try_from(value).ok(),
            };
            word.ok_or(value as f64)
        };
        let words: Result<Arc<[u32]>, f64> =
            with_values(array, |values: &[T]| values.iter().map(word).collect())?;
        let words = words.map_err(|value| self.not_representable(value))?;
        Ok(Array::shaped(scalar, words, shape))
    }

    fn shape(self, array: &Bound<'_, PyUntypedArray>) -> PyResult<Vec<u32>> {
        let lengths = array.shape().iter();
        let lengths: Result<Vec<u32>, _> = lengths.map(|&length| length.try_into()).collect();
        lengths.map_err(|_| {
            run_error(
                "E0704",
                &format!(
                    "{} `{}` was given an array of shape {:?}",
                    self.role,
                    self.field.name,
                    array.shape()
                ),
                Some("a dimension is at most 4294967295"),
            )
        })
    }

    fn wrong_type(self, found: &str) -> PyErr {
        let (role, name, scalar) = (self.role, &self.field.name, self.field.scalar.name());
        let convert = match self.field.scalar {
            Scalar::F32 => "astype(np.float32)",
            Scalar::F64 => "astype(np.float64)",
            Scalar::I32 => "astype(np.int32)",
            Scalar::U32 => "astype(np.uint32)",
            Scalar::Bool => "astype(bool)",
        };
        run_error(
            "E0702",
            &format!("{role} `{name}` holds {scalar}, but was given {found}"),
            Some(&format!("convert the values first: `array.{convert}`")),
        )
    }

    fn not_representable(self, value: f64) -> PyErr {
        errors::of(
            self.source,
            &Error::NotRepresentable {
                role: self.role,
                name: self.field.name.clone(),
                expected: self.field.scalar,
                value,
            },
        )
    }
}

/// Calls `read` with the values of an array in row-major order, copied only if they do not lie so.
fn with_values<T: Element + Copy, R>(
    array: &Bound<'_, PyUntypedArray>,
    read: impl FnOnce(&[T]) -> R,
) -> PyResult<R> {
    let array = match array.is_c_contiguous() {
        true => array.clone(),
        false => array.call_method0("copy")?.cast_into()?,
    };
    let array = array.cast::<PyArrayDyn<T>>()?.readonly();
    Ok(read(array.as_slice()?))
}
