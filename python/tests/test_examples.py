"""Every example has the bits of the command line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import simc

from .conftest import EXAMPLES

DATA = EXAMPLES / "data"
TABLES = {
    "attention": {"words": ".csv", "readout": ".csv", "weights": ".csv"},
    "conv2d": {"image": ".csv", "kernel": ".csv"},
    "digits_cnn": {"first": ".csv", "second": ".csv", "dense": ".csv"},
    "portfolio": {"signals": ".npy", "apex": ".npy"},
}


def read(path: Path) -> NDArray[Any]:
    if path.suffix == ".npy":
        loaded: NDArray[Any] = np.load(path)
        return loaded
    # The command line skips a header of names.
    first = path.read_text().partition("\n")[0].partition(",")[0]
    is_head = not first.lstrip("+-").replace(".", "", 1).replace("e-", "").isdigit()
    return np.loadtxt(path, delimiter=",", skiprows=int(is_head), ndmin=2, dtype=np.float64)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.sim")), ids=lambda path: path.stem)
def test_an_example_has_the_bits_of_the_command_line(path: Path, tmp_path: Path) -> None:
    model = simc.load(path)
    world = model._manifest.world
    agents = min(model.agents or 500, 500) if world is None else 2 * world
    steps = None if model.steps is None else min(model.steps, 20)
    files = {
        name: DATA / f"{path.stem}_{name}{ending}"
        for name, ending in TABLES.get(path.stem, {}).items()
    }
    out = tmp_path / "out.npz"
    command = ["run", str(path), "--agents", str(agents), "--seed", "11", "--backend", "cpu"]
    command += ["--quiet", "--output", str(out)]
    if steps is not None:
        command += ["--steps", str(steps)]
    for name, file in files.items():
        command += ["--data", f"{name}={file}"]
    done = subprocess.run(
        [sys.executable, "-m", "simc", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = np.load(out)
    data = {}
    for name, file in files.items():
        shape = [length or -1 for length in model.data[name].shape]
        data[name] = read(file).reshape(shape)
    run = model.run(agents=agents, steps=steps, seed=11, backend="cpu", data=data)
    assert set(run) <= set(expected), (list(run), list(expected))
    assert len(run) > 0
    for name, values in run.items():
        own = values.view(np.uint32) if values.dtype == np.float32 else values
        other = expected[name]
        other = other.view(np.uint32) if other.dtype == np.float32 else other
        assert np.array_equal(own, other), name
    for series in run.series:
        if series.name in expected:
            assert np.array_equal(series.values, expected[series.name], equal_nan=True)
