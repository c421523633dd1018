"""Sweeps: each point has the bits of a run of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simc


def test_a_grid_has_the_statistics_of_its_runs(gbm: simc.Model) -> None:
    sigma, strike = np.linspace(0.1, 0.5, 3), [90, 100.0]
    sweep = gbm.sweep(sigma=sigma, strike=strike, seed=7, agents=400, rate=0.01)
    assert sweep.shape == (3, 2)
    assert list(sweep) == ["payoff", "price"]
    for i, s in enumerate(sigma):
        for j, k in enumerate(strike):
            row = gbm.run(sigma=s, strike=k, seed=7, agents=400, rate=0.01).summary()["payoff"]
            found = sweep["payoff"]
            assert found.mean[i, j] == row.mean
            assert found.std[i, j] == row.std
            assert found.std_error[i, j] == row.std_error
            assert found.min[i, j] == row.min
            assert found.q25[i, j] == row.q25
            assert found.median[i, j] == row.median
            assert found.q75[i, j] == row.q75
            assert found.max[i, j] == row.max
            assert found.count[i, j] == row.count == 400
    assert sweep.mean("payoff").shape == (3, 2)
    assert sweep.report.agent_steps == 6 * 400 * 8
    assert "6 points" in repr(sweep)


def test_values_in_pairs_and_seeds(gbm: simc.Model) -> None:
    pairs = gbm.sweep(sigma=[0.1, 0.2], strike=[90, 100], zip=True, seed=1)
    assert pairs.shape == (2,)
    run = gbm.run(sigma=0.2, strike=100, seed=1)
    assert pairs.mean("price")[1] == run.summary()["price"].mean
    seeds = gbm.sweep(seed=range(4), sigma=0.3)
    means = [gbm.run(seed=k, sigma=0.3).summary()["price"].mean for k in range(4)]
    assert seeds.mean("price").tolist() == means
    assert len(set(means)) == 4


def test_arrays_enums_and_observations() -> None:
    model = simc.compile(
        "agents 10\nsteps 4\nenum Mode { Low, High }\nparam w: [f32; 2]\nparam mode: Mode\n"
        "state x = 0.0\nstep { x += w[0] }\noutput both = [x, x + w[1]]\n"
        "output code = mode\nobserve level = mean(x) every 2\n"
    )
    sweep = model.sweep(w=[[1, 10], [2, 20], [3, 30]], mode=["High", "Low"])
    assert sweep.shape == (3, 2)
    assert sweep["both"].mean.shape == (3, 2, 2)
    assert sweep["both"].mean[:, 0].tolist() == [[4, 14], [8, 28], [12, 42]]
    assert sweep["code"].mean[0].tolist() == [1, 0]
    level = sweep.observed("level")
    assert level.steps.tolist() == [0, 2, 4]
    assert level.values.shape == (3, 2, 3)
    assert level.values[2, 0].tolist() == [0, 6, 12]
    with pytest.raises(simc.RunError, match=r"needs values of shape \[2\]"):
        model.sweep(w=[[1, 2, 3]], mode="Low")
    fixed = model.sweep(w=[1, 2], mode=["Low", "High"])
    assert fixed.shape == (2,)


def test_large_outputs_are_reduced_and_have_the_same_statistics(gbm: simc.Model) -> None:
    sweep = gbm.sweep(sigma=[0.1, 0.2], agents=600_000, steps=1)
    row = gbm.run(sigma=0.2, agents=600_000, steps=1).summary()["payoff"]
    assert (sweep["payoff"].mean[1], sweep["payoff"].median[1]) == (row.mean, row.median)


def test_tables_of_other_libraries(gbm: simc.Model) -> None:
    sweep = gbm.sweep(sigma=[0.1, 0.2], strike=[90, 100])
    columns = sweep.columns()
    assert list(columns)[:4] == ["point", "sigma", "strike", "payoff.mean"]
    assert columns["sigma"].tolist() == [0.1, 0.1, 0.2, 0.2]
    assert columns["strike"].tolist() == [90, 100, 90, 100]
    assert columns["payoff.mean"].tolist() == sweep.mean("payoff").ravel().tolist()
    pa = pytest.importorskip("pyarrow")
    assert sweep.to_arrow().num_rows == 4
    assert pa.table(sweep).equals(sweep.to_arrow())
    run = gbm.run()
    table = run.to_arrow()
    assert table.column("price").to_numpy().tolist() == run["price"].tolist()
    # The table has the memory of the array.
    address = table.column("price").chunk(0).buffers()[1].address
    assert address == run["price"].ctypes.data
    pl = pytest.importorskip("polars")
    assert sweep.to_polars()["payoff.mean"].to_list() == columns["payoff.mean"].tolist()
    assert pl.DataFrame(run)["price"].to_list() == run["price"].tolist()
    pytest.importorskip("pandas")
    frame = sweep.to_pandas()
    assert frame.groupby("sigma")["payoff.mean"].mean().shape == (2,)


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({}, "nothing is swept"),
        ({"sigma": 0.2}, "nothing is swept"),
        ({"sigma": []}, "no values"),
        ({"sigma": [0.1, 9.0]}, "must lie in 0.01..1"),
        ({"sigma": [0.1, float("nan")]}, "not a number"),
        ({"sigma": [[0.1, 0.2]]}, "nothing is swept"),
        ({"sigm": [0.1]}, "did you mean `sigma`"),
        ({"sigma": [0.1, 0.2], "strike": [1, 2, 3], "zip": True}, "as many values"),
        ({"sigma": np.full(2000, 0.1), "strike": np.ones(2000)}, "4,000,000 runs"),
        ({"sigma": ["low"]}, "holds f32, but was given"),
        ({"strike": [1e39]}, "holds f32, and 1e39 is none"),
        ({"seed": [1, -1]}, "`seed` is -1"),
    ],
)
def test_wrong_sweeps_are_refused(gbm: simc.Model, keywords: dict[str, Any], expected: str) -> None:
    with pytest.raises(simc.SimError, match=expected):
        gbm.sweep(**keywords)
