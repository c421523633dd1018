"""What the tests share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc

EXAMPLES = Path(__file__).resolve().parents[2] / "lang-examples"

GBM = """
//! European call by Monte Carlo.
agents 1_000
steps 8
const DT = 1.0 / 252.0
/// Risk-free rate per year.
param rate = 0.05 in 0.0..0.2
/// Volatility.
param sigma = 0.2 in 0.01..1.0
param strike = 105.0
state price = 100.0
step {
    price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal())
}
/// What the holder gets.
output payoff = exp(-rate) * max(price - strike, 0.0)
output price
"""


@pytest.fixture(scope="session")
def gbm() -> simc.Model:
    return simc.compile(GBM)


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """Ray on this machine, with two workers."""
    ray = pytest.importorskip("ray", reason="needs `pip install ray`")
    # Workers find the package where this process has found it.
    place = str(Path(simc.__file__).resolve().parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", place, prepend=os.pathsep)
        # Two GPUs in name only, by which Ray schedules.
        ray.init(num_cpus=2, num_gpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


def same_bits(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    return bool(one.tobytes() == other.tobytes())


def workers(title: str) -> list[int]:
    """The processes below this one that compute a task whose name begins so."""
    parents: dict[int, int] = {}
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            after_name = (entry / "stat").read_text().rpartition(")")[2]
            parents[int(entry.name)] = int(after_name.split()[1])
            if (entry / "cmdline").read_bytes().startswith(f"ray::{title}".encode()):
                found.append(int(entry.name))
        except OSError:
            continue

    def is_ours(process: int) -> bool:
        while process > 1:
            if process == os.getpid():
                return True
            process = parents.get(process, 0)
        return False

    return [process for process in found if is_ours(process)]
