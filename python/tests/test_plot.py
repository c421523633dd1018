"""Plots: each kind of result, what is drawn of it, and errors."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc
from simc._distribution import distribution

from .conftest import EXAMPLES

matplotlib = pytest.importorskip("matplotlib", reason="plots need matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot", reason="plots need matplotlib")

MODEL = """
//! Of all kinds. More of it.
agents 400
steps 20
enum Health { Susceptible, Infected, Recovered }
state health = if random() < 0.1 { Infected } else { Susceptible }
state place = vec2(0.0)
state age = uniform(0.0, 90.0)
state n = 0
step {
    place += vec2(normal(), normal())
    match health {
        Susceptible => { if bernoulli(0.1) { health = Infected } }
        Infected => { if bernoulli(0.1) { health = Recovered } }
        Recovered => {}
    }
}
finish { n = poisson(3.0) }
observe infected = mean(health == Infected)
observe age_mean = mean(age)
observe age_sd = sd(age)
observe ages = quantiles(age, 0.1, 0.5, 0.9) every 5
observe bins = histogram(age, 0.0, 90.0, 9) every 10
observe drift = mean(place)
record health every 4
record place every 2
/// Where it is. Measured in [m].
output place
output health
output ill = health == Infected
output n
output many = [for i in 0..6: f32(i) * place.x]
output odd = if place.x > 0.0 { sqrt(-1.0 - age) } else { age }
"""

WORLDS = """
//! Worlds.
agents 60
world 20
steps 5
world state level = 1.0
state x = 0.0
world step { level = level + normal() }
step { x += 1.0 }
world observe level
world output level
record x
output x
"""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def run() -> simc.Run:
    return simc.compile(MODEL).run(seed=3)


def drawn(run: simc.Run, *names: str, kind: str | None = None) -> list[Any]:
    """The axes of a plot."""
    return list(run.plot(*names, kind=kind).axes)


def titles(figure: Any) -> list[str]:
    return [each.get_title(loc="left") for each in figure.axes if each.get_title(loc="left")]


def test_all_results_have_a_plot_each(run: simc.Run) -> None:
    figure = run.plot()
    names = ["place.x", "place.y", "health", "ill", "n", "many", "odd", "infected", "age_mean"]
    # `age_sd` is the band of `age_mean`; a figure has at most twelve plots.
    assert titles(figure) == [*names, "ages", "bins", "drift"]
    assert figure.get_suptitle() == "Of all kinds"
    assert figure.get_supxlabel() == "400 agents · 20 steps · seed 3 · 3 more by name"
    figure.canvas.draw()


def test_a_histogram_counts_all_agents(run: simc.Run) -> None:
    (ax,) = drawn(run, "place.x", kind="output")
    (stairs,) = ax.patches
    counts, edges, _ = stairs.get_data()
    inside = np.histogram(run["place"][:, 0].astype(float), edges)[0]
    np.testing.assert_allclose(counts * 400, inside)
    assert inside.sum() == 400
    assert ax.get_xlabel() == "Where it is [m]"
    assert ax.get_ylabel() == "share of agents"


def test_values_that_are_not_finite_are_named(run: simc.Run) -> None:
    (ax,) = drawn(run, "odd")
    nan = int(np.isnan(run["odd"]).sum())
    assert nan > 0
    assert any(f"{nan} NaN" in each.get_text() for each in ax.texts)


def test_names_have_rows_with_their_shares(run: simc.Run) -> None:
    (ax,) = drawn(run, "health", kind="output")
    shares = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(shares, np.bincount(run["health"], minlength=3) / 400)
    assert [each.get_text() for each in ax.get_yticklabels()] == list(
        run.model.outputs["health"].variants
    )
    (ax,) = drawn(run, "ill")
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches][1], run["ill"].mean())


def test_small_whole_numbers_have_bars(run: simc.Run) -> None:
    (ax,) = drawn(run, "n")
    values, counts = np.unique(run["n"], return_counts=True)
    np.testing.assert_allclose([bar.get_height() for bar in ax.patches], counts / 400)
    np.testing.assert_allclose([bar.get_center()[0] for bar in ax.patches], values)


def test_observations_are_curves_with_bands(run: simc.Run) -> None:
    (ax,) = drawn(run, "age_mean")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), run.observed("age_mean").values)
    low, high = (f(ax.collections[0].get_paths()[0].vertices[:, 1]) for f in (np.min, np.max))
    mean, sd = run.observed("age_mean")[0], run.observed("age_sd")[0]
    assert low == pytest.approx(mean - sd, rel=1e-5)
    assert high == pytest.approx(mean + sd, rel=1e-5)
    (ax,) = drawn(run, "ages")
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), run.observed("ages").values[:, 1])
    assert len(ax.collections) == 1
    mesh = drawn(run, "bins")[0].collections[0]
    np.testing.assert_array_equal(mesh.get_array(), run.observed("bins").values.T)
    (ax,) = drawn(run, "drift")
    assert [each.get_label() for each in ax.lines] == ["drift.x", "drift.y"]
    (ax,) = drawn(run, "infected+age_mean")
    assert len(ax.lines) == 2


def test_records_are_paths_with_bands(run: simc.Run) -> None:
    x, _ = drawn(run, "place", kind="record")
    values = run.record("place").values[:, :, 0].astype(float)
    median, mean, *paths = x.lines
    np.testing.assert_allclose(median.get_ydata(), np.median(values, axis=1), atol=1e-6)
    np.testing.assert_allclose(mean.get_ydata(), values.mean(axis=1), atol=1e-6)
    assert len(paths) == 24
    (ax,) = drawn(run, "health", kind="record")
    shares = np.array([line.get_ydata() for line in ax.lines])
    np.testing.assert_allclose(shares.sum(axis=0), 1)
    np.testing.assert_allclose(shares[1], (run.record("health").values == 1).mean(axis=1))


def test_pairs(run: simc.Run) -> None:
    (ax,) = drawn(run, "place.x:place.y", kind="output")
    np.testing.assert_allclose(ax.collections[0].get_offsets(), run["place"])
    (ax,) = drawn(run, "place.x:place.y", kind="record")
    assert len(ax.lines) == 12 + 1, "twelve ways, and their ends"
    many = run.model.run(agents=6000).plot("place.x:place.y", kind="output")
    assert len(many.axes) == 2, "a density has a scale"


def test_pairs_of_what_does_not_fit(run: simc.Run) -> None:
    with pytest.raises(simc.RunError, match="not of the same agents"):
        run.plot("infected:n")
    with pytest.raises(simc.RunError, match="means several results"):
        run.plot("many:n")
    with pytest.raises(simc.RunError, match="not all observed"):
        run.plot("n+infected")


def test_worlds() -> None:
    run = simc.compile(WORLDS).run()
    figure = run.plot()
    assert "3 worlds" in figure.get_supxlabel()
    assert sorted(titles(figure)) == ["level", "level", "x", "x"]
    (ax,) = drawn(run, "level", kind="observe")
    assert [line.get_label() for line in ax.lines] == ["world 0", "world 1", "world 2"]


def test_axes_of_the_caller(run: simc.Run) -> None:
    figure, axes = plt.subplots(1, 2)
    assert run.plot("n", ax=axes[0]) is figure
    assert axes[0].patches
    assert not axes[1].patches
    assert run.plot("place", ax=axes, kind="output") is figure
    with pytest.raises(simc.RunError, match="2 plots, and axes for 1"):
        run.plot("place", ax=axes[0], kind="output")
    with pytest.raises(TypeError, match="Axes"):
        run.plot("n", ax=7)


def test_errors_teach(run: simc.Run) -> None:
    with pytest.raises(simc.UnknownNameError, match="did you mean `infected`"):
        run.plot("infectd")
    with pytest.raises(simc.RunError, match="output, record, observe"):
        run.plot("n", kind="input")
    with pytest.raises(TypeError, match="axes are `ax=`"):
        run.plot(plt.figure())
    statistics = run.model.run(keep_outputs=False)
    with pytest.raises(simc.RunError, match="keep_outputs"):
        statistics.plot("n")


def test_nothing_to_draw() -> None:
    model = simc.compile("agents 1\nstate x = 0\nstep { x += 1 }\n")
    with pytest.raises(simc.RunError, match="nothing to draw"):
        model.run(steps=1).plot()


def test_one_agent_and_constants() -> None:
    text = "agents 1\nsteps 1\nstate x = 2.5\nstep { x += 0.0 }\nrecord x\noutput x\n"
    model = simc.compile(text)
    for agents in (1, 50):
        model.run(agents=agents).plot().canvas.draw()


def test_the_current_style_is_used(run: simc.Run) -> None:
    with plt.style.context("dark_background"):
        figure = run.plot("place.x", kind="record")
        assert matplotlib.colors.to_hex(figure.get_facecolor()) == "#000000"
        figure.canvas.draw()


def test_without_matplotlib() -> None:
    text = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import simc\n"
        "run = simc.compile('agents 2\\noutput x = 1.0').run()\n"
        "try:\n    run.plot()\n"
        "except simc.RunError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert "pip install matplotlib" in done.stdout


def test_distributions() -> None:
    draws = np.random.default_rng(1).normal(size=100_000)
    found = distribution(draws)
    assert found.bin_counts.sum() == 100_000
    assert 20 <= len(found.bin_counts) <= 80
    # Payoffs: a point mass at zero.
    found = distribution(np.maximum(draws, 0))
    assert found.values.tolist() == [0]
    assert found.value_counts[0] == (draws <= 0).sum()
    assert found.bin_counts.sum() + found.value_counts[0] == 100_000
    # Far values are counted, and not drawn.
    found = distribution(np.append(draws, [1e9, -1e9]))
    assert found.outside == 2
    assert len(found.bin_counts) > 20
    # Over many decades.
    found = distribution(np.exp(4 * draws))
    assert found.is_logarithmic
    assert found.bin_counts.sum() == 100_000
    # Whole numbers.
    found = distribution(np.arange(1000, dtype=np.int32))
    assert found.bin_counts.sum() == 1000
    assert np.all(found.edges == np.round(found.edges))
    # Nothing, and nothing finite.
    assert distribution(np.empty(0, dtype=np.float32)).finite == 0
    found = distribution(np.array([np.nan, np.inf], dtype=np.float32))
    assert (found.finite, found.nan, found.infinite) == (0, 1, 1)
    found = distribution(np.array([3e38, -3e38, 1.0, 2.0, 1e-45] * 30, dtype=np.float32))
    assert found.value_counts.sum() == 150


SWEPT = """
//! Decay.
agents 300
steps 10
enum Kind { Slow, Fast }
/// How fast.
param kind: Kind = Slow
/// Rate of the decay [1/s].
param rate = 0.1 in 0.0..1.0
param spread = 0.1
state x = 1.0
step {
    let k = if kind == Fast { 2.0 * rate } else { rate }
    x *= 1.0 - k * (1.0 + spread * (random() - 0.5))
}
observe level = mean(x)
/// What is left.
output x
output many = [for i in 0..8: f32(i) * x]
output place = vec2(x, 2.0 * x)
"""


@pytest.fixture(scope="module")
def decay() -> simc.Model:
    return simc.compile(SWEPT)


def swept(sweep: simc.Sweep, *names: str, statistic: str = "mean") -> list[Any]:
    """The axes of a plot."""
    return list(sweep.plot(*names, statistic=statistic).axes)


def test_one_param_is_a_curve_with_error_bars(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.3, 0.1, 0.2])
    (ax,) = swept(sweep, "x")
    container = ax.containers[0]
    line, _, (bars,) = container
    # In the order of the values.
    np.testing.assert_allclose(line.get_xdata(), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(line.get_ydata(), sweep["x"].mean[[1, 2, 0]])
    heights = [np.ptp(each[:, 1]) for each in bars.get_segments()]
    np.testing.assert_allclose(heights, 4 * sweep["x"].std_error[[1, 2, 0]], rtol=1e-6)
    assert ax.get_xlabel() == "Rate of the decay [1/s]: rate"
    assert ax.get_ylabel() == "What is left"
    (ax,) = swept(sweep, "x", statistic="median")
    np.testing.assert_allclose(ax.containers[0][0].get_ydata(), sweep["x"].median[[1, 2, 0]])
    assert ax.get_ylabel() == "median of What is left"


def test_values_over_decades_have_a_logarithmic_axis(decay: simc.Model) -> None:
    (ax,) = swept(decay.sweep(rate=[0.001, 0.01, 0.1]), "x")
    assert ax.get_xscale() == "log"


def test_two_params_are_a_heat_map(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.3, 0.1, 0.2], spread=[0.0, 1.0])
    ax, scale = swept(sweep, "x")
    values = ax.collections[0].get_array()
    np.testing.assert_allclose(values, sweep["x"].mean[[1, 2, 0]])
    assert ax.get_ylabel() == "Rate of the decay [1/s]: rate"
    assert ax.get_xlabel() == "spread"
    assert scale.get_ylabel() == "What is left"


def test_names_of_an_enum_stand_at_the_axis(decay: simc.Model) -> None:
    (ax,) = swept(decay.sweep(kind=["Fast", "Slow"]), "x")
    assert [each.get_text() for each in ax.get_xticklabels()] == ["Fast", "Slow"]


def test_seeds_are_averaged(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.1, 0.2], seed=range(5))
    (ax,) = swept(sweep, "x")
    line, _, (bars,) = ax.containers[0]
    means = sweep["x"].mean
    np.testing.assert_allclose(line.get_ydata(), means.mean(axis=1))
    heights = [np.ptp(each[:, 1]) for each in bars.get_segments()]
    np.testing.assert_allclose(heights, 4 * means.std(axis=1, ddof=1) / np.sqrt(5), rtol=1e-6)


def test_more_params_have_a_plot_each(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.1, 0.2], spread=[0.0, 1.0, 2.0], kind=["Slow", "Fast"])
    axes = swept(sweep, "x")
    assert [each.get_title(loc="left") for each in axes] == [
        "x over rate",
        "x over spread",
        "x over kind",
    ]
    line = axes[1].lines[-1]
    np.testing.assert_allclose(line.get_ydata(), sweep["x"].mean.mean(axis=(0, 2)))
    together = decay.sweep(rate=[0.1, 0.2], spread=[0.0, 1.0], zip=True)
    assert len(swept(together, "x")) == 2


def test_observations_of_a_sweep_are_curves(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.1, 0.2])
    (ax,) = swept(sweep, "level")
    curves = [line.get_ydata() for line in ax.lines]
    np.testing.assert_array_equal(curves, sweep.observed("level").values)
    assert [line.get_label() for line in ax.lines] == ["rate = 0.1", "rate = 0.2"]
    many = decay.sweep(rate=np.linspace(0.01, 0.3, 100))
    ax, _ = swept(many, "level")
    assert len(ax.lines) == 50
    assert any("50 of 100 points" in each.get_text() for each in ax.texts)


def test_elements_of_a_sweep(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.1, 0.2])
    ax, _ = swept(sweep, "many")
    np.testing.assert_allclose(ax.collections[0].get_array(), sweep["many"].mean.T)
    x, y = swept(sweep, "place")
    assert [x.get_title(loc="left"), y.get_title(loc="left")] == ["place.x", "place.y"]
    (ax,) = swept(sweep, "many[7]")
    np.testing.assert_allclose(ax.containers[0][0].get_ydata(), sweep["many"].mean[:, 7])
    figure = decay.sweep(rate=[0.1, 0.2], spread=[0.0, 1.0]).plot("many")
    assert any("4 of 8 elements" in text.get_text() for ax in figure.axes for text in ax.texts)
    assert sweep.plot().axes


def test_errors_of_sweeps_teach(decay: simc.Model) -> None:
    sweep = decay.sweep(rate=[0.1, 0.2])
    with pytest.raises(simc.UnknownNameError, match="did you mean `level`"):
        sweep.plot("levl")
    with pytest.raises(simc.UnknownNameError, match=r"many\[9\]"):
        sweep.plot("many[9]")
    with pytest.raises(simc.RunError, match="known: count, nan, mean"):
        sweep.plot("x", statistic="average")


def test_the_code_of_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gbm.sim", "boids.sim"):
        shutil.copy(EXAMPLES / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    page = EXAMPLES.parent / "docs" / "notebooks.md"
    names: dict[str, Any] = {}
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.S)
    assert len(blocks) == 3
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)
    assert titles(names["figure"]) == ["price", "price", "level_mean", "bins"]
    assert (tmp_path / "walk.png").stat().st_size > 10_000
