"""Values from Python: every type of array, and what shares memory with one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simc

MODEL = """
agents 4
enum Mode { Low, Mid, High }
param weights: [f32; 3] = [1.0, 2.0, 3.0]
param mode: Mode = Low
param count = 3
param on = true
input start: f32
input kind: i32 = 1
data table: [[f32; 2]]
output total = start + weights[0] + weights[1] * 10.0 + weights[2] * 100.0
output first = table[0][1]
output rows = len(table)
output kinds = kind
output code = mode
output counted = count
output is_on = on
"""


@pytest.fixture(scope="module")
def model() -> simc.Model:
    return simc.compile(MODEL)


TABLE = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.mark.parametrize(
    "dtype",
    ["f4", "f8", "f2", ">f4", ">f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i4"],
)
def test_numbers_of_every_type(model: simc.Model, dtype: str) -> None:
    start = np.array([1, 2, 3, 4], dtype=dtype)
    run = model.run(start=start, table=TABLE.astype(dtype))
    assert run["total"].tolist() == [322, 323, 324, 325]
    assert run["first"].tolist() == [1] * 4
    assert run["rows"].tolist() == [3] * 4


def test_lists_slices_and_single_numbers(model: simc.Model) -> None:
    wide = np.arange(8.0)[::2]
    assert model.run(start=wide, table=TABLE)["total"].tolist() == [321, 323, 325, 327]
    columns = np.asfortranarray(TABLE)
    assert model.run(start=5, table=columns)["total"].tolist() == [326] * 4
    assert model.run(start=[1, 2, 3, 4], table=TABLE.tolist())["first"].tolist() == [1] * 4
    assert model.run(start=np.float32(5), table=TABLE)["total"].tolist() == [326] * 4


def test_arrays_enums_integers_and_bools(model: simc.Model) -> None:
    run = model.run(
        start=0,
        table=TABLE,
        weights=[0, 0, 1],
        mode="High",
        count=np.int64(9),
        on=False,
        kind=np.array([1, 2, 3, 4]),
    )
    assert run["total"].tolist() == [100] * 4
    assert run["code"].tolist() == [2] * 4
    assert run["counted"].tolist() == [9] * 4
    assert run["is_on"].tolist() == [False] * 4
    assert run["is_on"].dtype == np.bool_
    assert run["kinds"].tolist() == [1, 2, 3, 4]
    assert run["kinds"].dtype == np.int32


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"start": [1, 2, 3]}, r"needs \[4\] of f32.* but was given \[3\] of"),
        ({"start": np.zeros((4, 2))}, r"needs \[4\] of f32.* but was given \[4, 2\] of f32"),
        ({"table": np.zeros(5)}, r"needs \[rows, 2\] of f32.* but was given \[5\] of f32"),
        ({"kind": np.zeros(4)}, "holds i32, but was given an array of float64"),
        ({"kind": np.zeros(4, dtype=bool)}, "holds i32, but was given an array of bool"),
        ({"kind": np.array([0, 0, 0, 2**31])}, "holds i32, and 2147483648 is none"),
        ({"start": np.array([0, 0, 0, 1e39])}, "holds f32, and 1e39 is none"),
        ({"start": np.array([0, 0, 0, 2**24 + 1])}, "holds f32, and 16777217 is none"),
        ({"start": np.array([1j, 0, 0, 0])}, "an array of complex128"),
        ({"start": np.array(["a"] * 4)}, "an array of <U1"),
        ({"start": [[1], [1, 2]]}, "no array"),
        ({"mode": "huge"}, "has no variant `huge`"),
        ({"mode": 3}, "mode"),
        ({"on": 1}, "holds bool"),
        ({"count": 1.5}, "holds i32, not f64"),
    ],
)
def test_wrong_arrays_name_both_types_and_shapes(
    model: simc.Model, keywords: dict[str, Any], expected: str
) -> None:
    with pytest.raises(simc.RunError, match=expected):
        model.run(**{"start": 0, "table": TABLE, **keywords})


def test_missing_values_are_named(model: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="start") as caught:
        model.run()
    assert "table" in str(caught.value)


def test_doubles_are_rounded_as_on_the_command_line(model: simc.Model) -> None:
    run = model.run(start=np.full(4, 0.1), weights=[0, 0, 0], table=TABLE)
    assert run["total"].tolist() == [np.float32(0.1)] * 4


def test_infinite_and_missing_inputs_pass(model: simc.Model) -> None:
    start = np.array([np.nan, np.inf, -np.inf, 0])
    run = model.run(start=start, table=TABLE)
    assert np.isnan(run["total"][0])
    assert run["total"][1:3].tolist() == [np.inf, -np.inf]


def test_anything_with_the_buffer_protocol(model: simc.Model) -> None:
    import array

    start = array.array("f", [1, 2, 3, 4])
    assert model.run(start=start, table=TABLE)["total"].tolist() == [322, 323, 324, 325]
    assert model.run(start=memoryview(start), table=TABLE)["total"][3] == 325


def test_columns_of_arrow_polars_and_pandas(model: simc.Model) -> None:
    pa = pytest.importorskip("pyarrow")
    start = pa.array([1, 2, 3, 4], type=pa.float32())
    expected = [322, 323, 324, 325]
    assert model.run(start=start, table=TABLE)["total"].tolist() == expected

    class Capsule:
        def __arrow_c_array__(self, requested_schema: Any = None) -> Any:
            return start.__arrow_c_array__(requested_schema)

    assert model.run(start=Capsule(), table=TABLE)["total"].tolist() == expected
    with pytest.raises(simc.RunError, match="1 nulls"):
        model.run(start=pa.array([1, 2, None, 4]), table=TABLE)
    pl = pytest.importorskip("polars")
    assert model.run(start=pl.Series([1, 2, 3, 4]), table=TABLE)["total"].tolist() == expected
    pd = pytest.importorskip("pandas")
    assert model.run(start=pd.Series([1, 2, 3, 4]), table=TABLE)["total"].tolist() == expected
