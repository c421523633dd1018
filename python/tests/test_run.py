"""Runs: arrays, names, reports."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest

import simc

from .conftest import EXAMPLES


def test_outputs_are_arrays_that_own_their_memory(gbm: simc.Model) -> None:
    run = gbm.run(agents=500, seed=7)
    payoff = run["payoff"]
    assert payoff.shape == (500,)
    assert payoff.dtype == np.float32
    assert run["payoff"] is payoff
    assert payoff.flags.writeable
    assert list(run) == ["payoff", "price"]
    expected = np.exp(np.float32(-0.05)) * np.maximum(run["price"] - 105, 0)
    np.testing.assert_allclose(payoff, expected, rtol=1e-5)


def test_a_run_repeats_and_seeds_differ(gbm: simc.Model) -> None:
    first, again = gbm.run(seed=7), gbm.run(seed=7)
    assert np.array_equal(first["price"], again["price"])
    assert not np.array_equal(first["price"], gbm.run(seed=8)["price"])
    # What one run is given does not stay for the next.
    gbm.run(seed=7, sigma=0.9, agents=10, steps=3)
    assert np.array_equal(first["price"], gbm.run(seed=7)["price"])


def test_params_as_keywords_equal_params_in_the_source(gbm: simc.Model) -> None:
    other = simc.compile(gbm.source.replace("sigma = 0.2", "sigma = 0.35"))
    given, written = gbm.run(seed=3, sigma=0.35), other.run(seed=3)
    assert np.array_equal(given["payoff"], written["payoff"])
    # After a change of params only, too: the second run varies the first.
    gbm.run(seed=3, sigma=0.1)
    again = gbm.run(seed=3, sigma=0.35)
    assert np.array_equal(again["payoff"], written["payoff"])


def test_the_summary_has_the_statistics_of_numpy(gbm: simc.Model) -> None:
    run = gbm.run(seed=5)
    row = run.summary()["price"]
    price = run["price"].astype(np.float64)
    assert row.count == 1000
    assert row.mean == pytest.approx(price.mean(), rel=1e-12)
    assert row.std == pytest.approx(price.std(ddof=1), rel=1e-9)
    assert row.std_error == pytest.approx(price.std(ddof=1) / np.sqrt(1000), rel=1e-9)
    quartiles = np.quantile(price, [0, 0.25, 0.5, 0.75, 1])
    assert (row.min, row.q25, row.median, row.q75, row.max) == pytest.approx(tuple(quartiles))
    assert run.quantiles("price", [0.25, 0.5]) == pytest.approx(quartiles[1:3])
    assert "payoff" in repr(run.summary())
    assert run._repr_html_().startswith("<table>")


def test_a_run_without_outputs_has_the_same_statistics(gbm: simc.Model) -> None:
    run = gbm.run(seed=5, keep_outputs=False, keep_states=False)
    assert list(run) == []
    assert run.summary().rows == gbm.run(seed=5).summary().rows
    with pytest.raises(simc.RunError, match="keep_outputs=True"):
        run["price"]
    with pytest.raises(simc.RunError, match="keep_states=True"):
        run.state("price")
    assert run.report.agent_steps == 8000


def test_states_steps_and_the_report(gbm: simc.Model) -> None:
    run = gbm.run(seed=5, backend="cpu")
    assert np.array_equal(run.state("price"), run["price"])
    assert run.steps.tolist() == [8] * 1000
    assert not run.stopped.any()
    report = run.report
    assert (report.backend, report.agents, report.steps, report.seed) == ("cpu", 1000, 8, 5)
    assert report.agent_steps == 8000
    assert report.seconds > 0
    assert report.agent_steps_per_second > 0
    assert report.telemetry.total_seconds > 0
    assert "cpu" in str(report)


def test_series_have_steps_and_values() -> None:
    model = simc.compile(
        "agents 100\nsteps 10\nstate x = 0.0\nstep { x += 1.0 }\noutput x\n"
        "observe level = mean(x) every 5\nrecord path = x every 2\n"
    )
    run = model.run()
    level = run.observed("level")
    assert level.steps.tolist() == [0, 5, 10]
    assert level.values.tolist() == [0, 5, 10]
    path = run.record("path")
    assert path.values.shape == (6, 100)
    assert np.asarray(path)[:, 3].tolist() == [0, 2, 4, 6, 8, 10]
    with pytest.raises(simc.UnknownNameError, match="did you mean `path`"):
        run.record("paht")


def test_worlds_have_rows_of_their_own() -> None:
    run = simc.load(EXAMPLES / "sir_worlds.sim").run(seed=2, steps=5, agents=2000)
    worlds = run.report.worlds
    assert 1 < worlds < 2000
    assert run.world_outputs
    assert all(len(values) == worlds for values in run.world_outputs.values())


def test_the_signature_has_the_params(gbm: simc.Model) -> None:
    parameters = inspect.signature(gbm.run).parameters
    assert parameters["sigma"].default == 0.2
    assert "agents" in parameters
    assert gbm.__doc__ is not None
    assert "sigma: f32 = 0.2, in 0.01 .. 1" in gbm.__doc__
    assert "Volatility." in gbm.__doc__
    assert "sigma" not in inspect.signature(simc.Model.run).parameters


def test_a_model_travels_to_other_processes(gbm: simc.Model) -> None:
    again = pickle.loads(pickle.dumps(gbm))
    assert isinstance(again, simc.Model)
    assert np.array_equal(again.run(seed=1)["payoff"], gbm.run(seed=1)["payoff"])


def test_agents_in_parts_are_those_of_the_whole(gbm: simc.Model) -> None:
    whole = gbm.run(seed=4, agents=300)["price"]
    part = gbm.run(seed=4, agents=100, first_agent=100, population=300)["price"]
    assert np.array_equal(part, whole[100:200])
