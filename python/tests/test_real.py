"""Models whose floats are `f64`."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simc
import simc.ray

from .conftest import EXAMPLES

MODEL = """
agents 4
steps 3
param a = 0.1
param weights: [f32; 2] = [0.2, 0.3]
input start: f32 = 0.7
input pair: vec2 = vec2(1.0, 2.0)
data table: [f32]
state x = start
step { x += a * weights[0] }
output x
output scaled = 3.0 * a
output sum = pair.x + pair.y + weights[1]
output second = table[1]
output steps_done = 3
"""


@pytest.fixture(scope="module")
def model() -> simc.Model:
    return simc.compile(MODEL, real="f64")


def test_values_are_not_rounded(model: simc.Model) -> None:
    start = np.array([0.1, 0.2, 1e200, 3.0])
    weights = [1 / 3, 1 / 7]
    run = model.run(start=start, weights=weights, a=0.3, pair=[[0.1, 0.2]] * 4, table=[0.0, 1 / 9])
    expected = start.copy()
    for _ in range(3):
        expected += 0.3 * (1 / 3)
    assert run["x"].dtype == np.float64
    assert np.array_equal(run["x"], expected)
    assert run["scaled"].tolist() == [3.0 * 0.3] * 4
    assert run["sum"].tolist() == [0.1 + 0.2 + 1 / 7] * 4
    assert run["second"].tolist() == [1 / 9] * 4
    assert run["steps_done"].dtype == np.int32
    assert run.state("x").dtype == np.float64
    mean = run.summary()["scaled"].mean
    assert mean is not None
    assert float(mean) == pytest.approx(0.9, abs=1e-15)


def test_fields_and_defaults_are_doubles(model: simc.Model) -> None:
    assert (model.real, model.params["a"].scalar, model.params["a"].type) == ("f64", "f64", "f64")
    assert model.params["a"].default == 0.1
    assert model.params["weights"].default.tolist() == [0.2, 0.3]
    assert model.inputs["pair"].dtype == np.float64
    assert model.run(table=[0.0, 1.0])["scaled"].tolist() == [3.0 * 0.1] * 4


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "i8", "u2", "u4", "u8"])
def test_numbers_of_every_type(model: simc.Model, dtype: str) -> None:
    table = np.array([5, 7], dtype=dtype)
    assert model.run(table=table, a=2)["second"].tolist() == [7.0] * 4


def test_integers_beyond_doubles_are_refused(model: simc.Model) -> None:
    held = 2**53
    assert model.run(table=[0, held])["second"].tolist() == [float(held)] * 4
    for table in ([0, held + 1], np.array([0, held + 1], np.uint64)):
        with pytest.raises(simc.RunError, match="table"):
            model.run(table=table)


def test_a_sweep_is_over_doubles(model: simc.Model) -> None:
    axis = [0.1, 0.1 + 1e-12, 0.3]
    sweep = model.sweep(a=axis, weights=[[1.0, 2.0], [1 / 3, 5.0]], table=[0.0, 1.0])
    assert sweep["scaled"].mean[:, 0].tolist() == [3.0 * value for value in axis]
    x = sweep["x"].mean
    assert x[1, 1] - x[0, 1] == pytest.approx(1e-12, rel=1e-3)


def test_derivatives_and_fits_are_of_doubles() -> None:
    model = simc.compile(
        "agents 1 param x = -1.2 param y = 1.0\n"
        "output f = 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2",
        real="f64",
    )
    slope = model.gradient("mean(f)", ["x"])["x"]
    assert slope == pytest.approx(-400 * -1.2 * (1.0 - 1.44) - 2 * 2.2, rel=1e-14)
    each = model.derivatives("f", ["y"])["y"]
    assert each.dtype == np.float64
    assert each[0] == pytest.approx(200 * (1 - 1.44), rel=1e-14)
    fit = model.fit(["x", "y"], minimise="mean(f)")
    assert fit["x"] == pytest.approx(1.0, abs=1e-8)
    assert model.run(**fit.params)["f"][0] == fit.loss < 1e-15


def test_it_has_the_bits_of_the_command_line(tmp_path: Path) -> None:
    path, out = EXAMPLES / "gbm.sim", tmp_path / "out.npz"
    command = ["run", str(path), "--agents", "50", "--steps", "20", "--seed", "3"]
    command += ["--real", "f64", "--quiet", "--output", str(out)]
    subprocess.run([sys.executable, "-m", "simc", *command], check=True)
    expected = np.load(out)
    run = simc.load(path, real="f64").run(agents=50, steps=20, seed=3)
    assert len(run) > 0
    for name, values in run.items():
        assert values.dtype == expected[name].dtype
        assert values.tobytes() == expected[name].tobytes(), name


def test_a_session_and_a_copy_stay_in_doubles(model: simc.Model) -> None:
    copy = pickle.loads(pickle.dumps(model))
    with copy.session(table=[0.0, 1.0], a=0.3) as session:
        session.step(3)
        state = session.state("x")
    assert np.array_equal(state, model.run(table=[0.0, 1.0], a=0.3)["x"])


def test_what_is_not_in_doubles_says_so(model: simc.Model) -> None:
    with pytest.raises(simc.RunError) as refused:
        model.run(table=[0.0, 1.0], backend="gpu")
    assert refused.value.code == "E0735"
    with pytest.raises(simc.RunError, match="f32"):
        simc.ray.run(model, data={"table": [0.0, 1.0]})
    with pytest.raises(simc.RunError, match="there are f32, f64"):
        simc.compile("agents 1 output x = 1.0", real="f16")
