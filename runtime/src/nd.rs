//! Results as arrays of the crate ndarray, and such arrays as values (feature `ndarray`).

use crate::{
    array::{Array, Number},
    error::{Error, Role},
    series::Series,
    values::{Column, Element},
};
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn};

impl Column {
    /// The values as an array of the column's shape, which borrows them.
    ///
    /// # Errors
    /// [`Error::WrongType`]
    pub fn array<T: Element>(&self) -> Result<ArrayViewD<'_, T>, Error> {
        let values = self.typed(Role::Output)?;
        Ok(ArrayViewD::from_shape(IxDyn(&self.shape), values).expect(HOLDS))
    }

    /// The values as an array of the column's shape, without copying them.
    ///
    /// # Errors
    /// [`Error::WrongType`]
    pub fn into_array<T: Element>(self) -> Result<ArrayD<T>, Error> {
        let shape = IxDyn(&self.shape);
        Ok(ArrayD::from_shape_vec(shape, self.into_typed(Role::Output)?).expect(HOLDS))
    }
}

impl Series {
    /// All values as an array of the shape of [`Series::column`], which borrows them.
    ///
    /// # Errors
    /// [`Error::WrongType`]
    pub fn array<T: Element>(&self) -> Result<ArrayViewD<'_, T>, Error> {
        let values = self.values()?;
        Ok(ArrayViewD::from_shape(IxDyn(&self.column.shape), values).expect(HOLDS))
    }
}

const HOLDS: &str = "a column has as many values as its shape";

/// The values in their logical order, whatever the layout in memory, with the array's shape.
impl<T: Number, S: Data<Elem = T>, D: Dimension> From<&ArrayBase<S, D>> for Array {
    fn from(values: &ArrayBase<S, D>) -> Array {
        let flat: Vec<T> = values.iter().copied().collect();
        let lengths = values.shape().iter();
        // A length beyond 32 bits fits no declaration, and neither does this one.
        let shape = lengths.map(|&length| u32::try_from(length).unwrap_or(u32::MAX));
        Array::from(flat).with_shape(shape.collect())
    }
}

impl<T: Number, S: Data<Elem = T>, D: Dimension> From<ArrayBase<S, D>> for Array {
    fn from(values: ArrayBase<S, D>) -> Array {
        Array::from(&values)
    }
}
