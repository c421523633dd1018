"""Derivatives, fits and searches."""

from __future__ import annotations

import numpy as np
import pytest

import simc

GROWTH = """
agents 2000
steps 10
param rate = 0.5
param w: [f32; 2] = [1.0, 2.0]
input start: f32 = 1.0
state x = start
step { x *= 1.0 + rate * uniform(0.0, 1.0) }
output x
output y = w[0] * start + w[1] * start * start
output flag = x > 2.0
"""


@pytest.fixture(scope="module")
def growth() -> simc.Model:
    return simc.compile(GROWTH)


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
def test_a_gradient_is_that_of_the_formula(growth: simc.Model, mode: str) -> None:
    gradient = growth.gradient("mean(x)", "rate", seed=1, mode=mode)
    exact = 5.0 * 1.25**9
    error = gradient.error("rate")
    assert abs(gradient["rate"] - exact) < 4 * error
    assert gradient.value == pytest.approx(growth.run(seed=1)["x"].mean(dtype=np.float64), rel=1e-6)
    arrays = growth.gradient("sum(y)", ["w", "start"], mode=mode, agents=3, start=[1, 2, 3])
    assert arrays["w"].tolist() == [6, 14]
    assert arrays["w[1]"] == 14
    assert arrays["start"] == pytest.approx(3 * 1 + 4 * 6)
    assert arrays.mode in ("forward", "reverse")
    assert "by w[0]" in repr(arrays)
    assert "<table>" in arrays._repr_html_()


def test_derivatives_of_each_agent(growth: simc.Model) -> None:
    start = np.array([1, 2, 3], dtype=np.float32)
    for scale in (1, 2):  # the second time with the programs of the first
        w = [scale, 2 * scale]
        found = growth.derivatives("y", ["w", "start"], agents=3, start=start * scale, w=w)
        own = start * scale
        assert found["w"].tolist() == np.stack([own, own * own], axis=1).tolist()
        assert found["start"].tolist() == (scale + 4 * scale * own).tolist()
        assert found.values_of_agents.tolist() == (w[0] * own + w[1] * own * own).tolist()


def test_programs_that_are_used_again_heed_seeds_and_values(growth: simc.Model) -> None:
    first = growth.gradient("mean(x)", "rate", seed=1, rate=0.1)
    second = growth.gradient("mean(x)", "rate", seed=2, rate=0.3)
    fresh = simc.compile(GROWTH).gradient("mean(x)", "rate", seed=2, rate=0.3)
    assert second.slopes == fresh.slopes
    assert second.value == fresh.value != first.value


def test_what_has_no_derivative(growth: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="flag"):
        growth.gradient("mean(flag)", "rate")
    with pytest.raises(simc.RunError, match=r"`payoff`"):
        growth.gradient("payoff", "rate")
    with pytest.raises(simc.UnknownNameError, match="rate"):
        growth.gradient("mean(x)", "rte")
    with pytest.raises(simc.RunError, match="no mode"):
        growth.gradient("mean(x)", "rate", mode="sideways")
    model = simc.compile(
        "agents 5\nsteps 1\nparam p = 0.5\nstate x = 0.0\n"
        "step { x += f32(i32(bernoulli(p))) }\noutput x\n"
    )
    with pytest.raises(simc.RunError, match="E0740"):
        model.gradient("mean(x)", "p")


def test_a_fit_finds_the_valley() -> None:
    model = simc.compile(
        "agents 1\nparam x = -1.2\nparam y = 1.0\n"
        "output f = 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2\n"
    )
    fit = model.fit("x,y", minimise="mean(f)")
    assert fit["x"] == pytest.approx(1, abs=1e-3)
    assert fit["y"] == pytest.approx(1, abs=1e-3)
    assert fit.params == {"x": fit["x"], "y": fit["y"]}
    assert model.run(**fit.params)["f"][0] == pytest.approx(fit.loss, abs=1e-6)
    assert fit.history[0][3] > fit.history[-1][3]
    assert "x" in repr(fit)
    slow = model.fit(["x", "y"], minimise="mean(f)", method="nelder-mead", iterations=400)
    assert slow["x"] == pytest.approx(1, abs=1e-2)
    with pytest.raises(simc.RunError, match="either"):
        model.fit("x")
    with pytest.raises(simc.RunError, match="no method"):
        model.fit("x", minimise="mean(f)", method="magic")


def test_least_squares_finds_a_line() -> None:
    rng = np.random.default_rng(1)
    x = np.linspace(0, 1, 200)
    y = 3 * x - 2 + 0.1 * rng.standard_normal(200)
    model = simc.compile(
        "agents 200\nparam w: [f32; 2] = [0.0, 0.0]\ninput x: f32\ninput y: f32\n"
        "output residual = w[0] * x + w[1] - y\n"
    )
    fit = model.fit("w", least_squares="residual", x=x, y=y)
    slope, offset = np.polyfit(x, y, 1)
    assert fit.params["w"] == pytest.approx([slope, offset], abs=1e-3)
    assert fit.residuals == 200
    assert fit.estimates[0].std_error == pytest.approx(0.025, rel=0.3)


def test_a_search_finds_the_best_inputs() -> None:
    model = simc.compile(
        "agents 200\ninput x: [f32; 3] ~ uniform(-5.0, 5.0)\n"
        "output cost = sum(for k in 0..3: (x[k] - 1.0) ** 2)\n"
    )
    found = model.search("x", minimise="cost", generations=60)
    assert found.elites[0].fitness < 1e-2
    best = found.best
    assert best["x"].shape == (1, 3)
    assert model.run(agents=1, inputs=best)["cost"][0] == pytest.approx(found.elites[0].fitness)
    assert len(found.columns()["cost"]) == len(found.elites)
    cma = model.search(
        "x", minimise="cost", method="cma-es", method_settings={"sigma": 0.3}, start=(-5, 5)
    )
    assert cma.elites[0].fitness < 1e-6
    with pytest.raises(simc.RunError, match="no setting `sgma`"):
        model.search("x", minimise="cost", method="cma-es", method_settings={"sgma": 0.3})
    with pytest.raises(simc.RunError, match="either"):
        model.search("x")
