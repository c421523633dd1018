"""What is not an array of NumPy yet, as one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import RunError


def as_array(value: Any) -> np.ndarray[Any, Any]:
    """An array of anything that NumPy takes, or that speaks the Arrow PyCapsule interface.

    Nothing is copied where NumPy can share the memory.
    """
    if not hasattr(value, "__array__") and not isinstance(value, (list, tuple)):
        if hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__"):
            return _of_arrow(value)
        if hasattr(value, "__dlpack__"):
            return np.from_dlpack(value)
    nulls = getattr(value, "null_count", 0)
    _refuse_nulls(nulls() if callable(nulls) else nulls)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise RunError("E0702", f"the values are no array: {error}") from error
    if array.dtype == object:
        raise RunError(
            "E0702",
            f"the values are no array of numbers: {type(value).__name__} gives objects",
            "give numbers, or a NumPy array of them",
        )
    return array


def _refuse_nulls(count: Any) -> None:
    if isinstance(count, int) and count:
        raise RunError(
            "E0702",
            f"the values have {count} nulls, and a model has no missing values",
            "fill them, or drop their rows",
        )


def _of_arrow(value: Any) -> np.ndarray[Any, Any]:
    try:
        import pyarrow as pa
    except ImportError as error:
        raise RunError(
            "arrow", "Arrow arrays need the package pyarrow", "pip install pyarrow"
        ) from error
    array = pa.array(value) if hasattr(value, "__arrow_c_array__") else pa.chunked_array(value)
    _refuse_nulls(array.null_count)
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    try:
        found: np.ndarray[Any, Any] = array.to_numpy(zero_copy_only=False)
    except pa.ArrowException as error:
        raise RunError("E0702", f"the Arrow array is no array of numbers: {error}") from error
    return found
