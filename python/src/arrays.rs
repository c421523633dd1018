//! Results as arrays of NumPy, which take over the vectors: nothing is copied.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use sim_runtime::{Column, Field, Scalar, Values};
use std::mem::ManuallyDrop;

/// An array with the values and the shape of a column.
pub(crate) fn array(py: Python<'_>, column: Column) -> PyResult<Py<PyUntypedArray>> {
    of_values(py, column.values, &column.shape)
}

/// An array of some values.
pub(crate) fn of_values(
    py: Python<'_>,
    values: Values,
    shape: &[usize],
) -> PyResult<Py<PyUntypedArray>> {
    match values {
        Values::F32(values) => shaped(PyArray1::from_vec(py, values), shape),
        Values::F64(values) => shaped(PyArray1::from_vec(py, values), shape),
        Values::I32(values) => shaped(PyArray1::from_vec(py, values), shape),
        Values::U32(values) => shaped(PyArray1::from_vec(py, values), shape),
        Values::Bool(values) => shaped(PyArray1::from_vec(py, values), shape),
    }
}

fn shaped<T: numpy::Element>(
    array: Bound<'_, PyArray1<T>>,
    shape: &[usize],
) -> PyResult<Py<PyUntypedArray>> {
    let array = match shape.len() {
        1 => array.into_any(),
        _ => array.reshape(shape)?.into_any(),
    };
    Ok(array.cast_into::<PyUntypedArray>()?.unbind())
}

/// Calls `read` with a column that borrows the values of an array.
///
/// The interpreter lock is held meanwhile, so that no Python code writes to the array.
pub(crate) fn with_column<R>(
    array: &Bound<'_, PyUntypedArray>,
    field: &Field,
    read: impl FnOnce(&Column) -> R,
) -> PyResult<R> {
    match field.scalar {
        Scalar::F32 => borrowed(array, field, Values::F32, read),
        Scalar::F64 => borrowed(array, field, Values::F64, read),
        Scalar::I32 => borrowed(array, field, Values::I32, read),
        Scalar::U32 => borrowed(array, field, Values::U32, read),
        Scalar::Bool => borrowed(array, field, Values::Bool, read),
    }
}

fn borrowed<T: Element, R>(
    array: &Bound<'_, PyUntypedArray>,
    field: &Field,
    values: fn(Vec<T>) -> Values,
    read: impl FnOnce(&Column) -> R,
) -> PyResult<R> {
    let array = array.cast::<PyArrayDyn<T>>()?.readonly();
    let slice = array.as_slice()?;
    // SAFETY: the vector is read only, and never dropped, so that its memory stays NumPy's. The array, its
    // shape and its values stay as they are while `array` borrows it and the interpreter lock is held.
    let borrowed =
        unsafe { Vec::from_raw_parts(slice.as_ptr().cast_mut(), slice.len(), slice.len()) };
    let column = ManuallyDrop::new(Column {
        field: field.clone(),
        shape: array.shape().to_vec(),
        values: values(borrowed),
    });
    Ok(read(&column))
}
