"""Results as tables of other libraries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._text import html_table, significant
from .errors import RunError


def pyarrow() -> Any:
    """The library pyarrow.

    Raises :class:`RunError` if it is not installed.
    """
    try:
        import pyarrow as pa
    except ImportError as error:
        raise RunError(
            "arrow", "tables of Arrow need the package pyarrow", "pip install pyarrow"
        ) from error
    return pa


def arrow_array(values: NDArray[Any]) -> Any:
    """An Arrow array of the rows of an array, which shares its memory: numbers, or fixed-size
    lists of them. Booleans are copied, since Arrow packs them."""
    pa = pyarrow()
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    for length in reversed(values.shape[1:]):
        flat = pa.FixedSizeListArray.from_arrays(flat, length)
    return flat


class Tabular:
    """What has columns of the same length."""

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of the table, by name."""
        raise NotImplementedError

    def to_arrow(self) -> Any:
        """A ``pyarrow.Table``, which shares the memory of the arrays where types allow it."""
        pa = pyarrow()
        return pa.table({name: arrow_array(values) for name, values in self.columns().items()})

    def to_polars(self) -> Any:
        """A ``polars.DataFrame``."""
        try:
            import polars as pl
        except ImportError as error:
            raise RunError(
                "polars", "`to_polars` needs the package polars", "pip install polars pyarrow"
            ) from error
        return pl.from_arrow(self.to_arrow())

    def to_pandas(self) -> Any:
        """A ``pandas.DataFrame``; arrays of several values per row are lists."""
        try:
            import pandas as pd
        except ImportError as error:
            raise RunError(
                "pandas", "`to_pandas` needs the package pandas", "pip install pandas"
            ) from error
        of = self.columns().items()
        return pd.DataFrame(
            {name: values if values.ndim == 1 else list(values) for name, values in of}
        )

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The table for any library that reads the Arrow PyCapsule interface."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def _html(self, most: int) -> str:
        columns = {name: values for name, values in self.columns().items() if values.ndim == 1}
        rows = len(next(iter(columns.values()), ()))
        shown = [
            [_cell(values[row]) for values in columns.values()] for row in range(min(rows, most))
        ]
        text = html_table(list(columns), shown)
        return text if rows <= most else f"{text}<p>and {rows - most:,} more rows</p>"


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return significant(float(value), 7)
    return str(value)
