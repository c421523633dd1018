"""Searches on a cluster of Ray, which these tests start on this machine with two workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

import simc
from simc._shards import Device

from .conftest import EXAMPLES, same_bits, workers

pytest.importorskip("ray", reason="needs `pip install ray`")
pytest.importorskip("pyarrow", reason="needs `pip install pyarrow`")

import simc.ray

pytestmark = pytest.mark.usefixtures("cluster")

NOISY = """
agents 203
steps 3
param shift = 1.0
input x: [f32; 3] ~ uniform(-5.0, 5.0)
input pair: vec2 ~ normal(0.0, 1.0)
state cost = 0.0
step {
    let off = sum(for k in 0..3: (x[k] - shift) ** 2)
    cost += off + pair.x ** 2 + (pair.y - 2.0) ** 2 + 0.3 * normal()
}
output cost
output cost_rows = [cost, cost]
output whole = i32(cost)
output lost = sqrt(-1.0 - cost * cost)
observe width = sd(cost)
"""

GIVEN: dict[str, Any] = {
    "ga": {
        "method_settings": {"islands": 4, "migration": 2, "patience": 3},
        "evaluations": 2,
        "shards": 5,
    },
    "open-es": {"start": (-5.0, 5.0), "within": {"x": (-2.0, 4.0)}, "shards": 2},
    "cma-es": {"fixed_draws": True, "evaluations": 3},
    "sep-cma-es": {"shards": 1},
    "random": {"target": 20.0, "shards": 1_000},
}
"""By method the keywords of a search."""


@pytest.fixture(scope="module")
def noisy() -> simc.Model:
    return simc.compile(NOISY)


def assert_same(dealt: simc.Found, one: simc.Found) -> None:
    assert dealt.fitness == one.fitness
    # As text, so that NaNs are equal.
    assert repr(dealt.elites) == repr(one.elites)
    assert repr(dealt.history) == repr(one.history)
    columns = one.columns()
    assert list(dealt.columns()) == list(columns)
    for name, rows in columns.items():
        assert same_bits(dealt.columns()[name], rows), name
    for of in ("genes", "candidates", "evaluations", "ended"):
        assert getattr(dealt, of) == getattr(one, of), of


def both(
    model: simc.Model, over: str, *, shards: int | None = None, **given: Any
) -> tuple[simc.Found, simc.Found]:
    """What a search finds on the cluster, and in one process."""
    dealt = simc.ray.search(model, over, shards=shards, **given)
    return dealt, model.search(over, backend="cpu", **given)


@pytest.mark.parametrize("method", GIVEN)
def test_a_search_has_the_bits_of_one_process(noisy: simc.Model, method: str) -> None:
    given = {"generations": 7, "minimise": "cost", "method": method, **GIVEN[method]}
    dealt, one = both(noisy, "x, pair", search_seed=5, seed=9, shift=1.5, **given)
    assert_same(dealt, one)
    assert one.genes == 5
    assert one.elites[0].again is not None
    assert one.ended == ("target" if method == "random" else "generations")
    again = simc.ray.search(noisy, "x, pair", search_seed=6, seed=9, shift=1.5, **given)
    assert again.history != one.history


def test_candidates_with_common_draws_have_runs_of_their_own(noisy: simc.Model) -> None:
    given: dict[str, Any] = {"minimise": "cost", "evaluations": 3, "common_draws": True}
    dealt, one = both(noisy, "x", generations=4, agents=37, elites=2, shards=3, **given)
    assert_same(dealt, one)
    assert one.evaluations == 4 * 37 * 3


def test_policies_of_episodes_that_end_are_searched() -> None:
    model = simc.load(EXAMPLES / "cartpole.sim")
    given: dict[str, Any] = {"maximise": "reward", "generations": 6, "evaluations": 2}
    dealt, one = both(model, "w1,b1,w2,b2", agents=300, elites=5, **given)
    assert_same(dealt, one)
    assert one.history[5][1] > one.history[0][2]


def test_worlds_stay_whole() -> None:
    model = simc.compile(
        "agents 600\nworld 50\nsteps 4\ninput w ~ normal()\nstate x = w\n"
        "step { x += 0.3 * mean(for other in world: other.x) + 0.1 * normal() }\n"
        "output f = -(x - 2.0) ** 2"
    )
    dealt, one = both(model, "w", maximise="f", generations=5, shards=5)
    assert_same(dealt, one)
    dealt, one = both(model, "w", maximise="f", generations=5, world=100, shards=50)
    assert_same(dealt, one)


def test_other_inputs_and_tables_are_those_of_one_process() -> None:
    model = simc.compile(
        "agents 500\nsteps 5\ndata table: [f32]\nstruct Gains { a: f32, b: f32 }\n"
        "input w: Gains\ninput goal: f32\ninput start ~ normal()\ninput scale = 1.0\n"
        "state x = start\nstate t = 0\n"
        "step { x += scale * (w.a * table[t] + w.b) t += 1 }\n"
        "output f = -abs(x - goal) - f32(agent) / 1e6"
    )
    given: dict[str, Any] = {
        "table": np.linspace(0.0, 2.0, 100, dtype=np.float32),
        "goal": np.linspace(1.0, 3.0, 500),
        "scale": 0.5,
    }
    dealt, one = both(model, "w", maximise="f", generations=5, start=(-1, 1), shards=4, **given)
    assert_same(dealt, one)
    # Genomes begin with what is given.
    given["inputs"] = {"w.a": np.linspace(-1.0, 1.0, 500, dtype=np.float32), "w.b": 0.5}
    dealt, one = both(model, "w", maximise="f", generations=5, method="open-es", shards=4, **given)
    assert_same(dealt, one)
    # A run in between does not take over what a search has left.
    assert model.run(backend="cpu", **given)["f"].tobytes() == (
        simc.compile(model.source).run(backend="cpu", **given)["f"].tobytes()
    )


def test_a_killed_worker_changes_no_bit() -> None:
    model = simc.load(EXAMPLES / "cartpole.sim")
    given: dict[str, Any] = {
        "maximise": "reward",
        "method": "open-es",
        "agents": 20_000,
        "generations": 12,
    }
    killed: list[int] = []
    generations: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while len(killed) < 2 and not done.is_set():
            # One in the first generations, and one in the midst of the search.
            if len(generations) >= 20 * len(killed):
                for process in workers("simc evaluate"):
                    os.kill(process, signal.SIGKILL)
                    killed.append(process)
                    break
            time.sleep(0.002)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        dealt = simc.ray.search(
            model,
            "w1,b1,w2,b2",
            shards=4,
            progress=lambda done, all: generations.append(done),
            **given,
        )
    finally:
        done.set()
        killer.join()
    assert len(killed) == 2, "no worker was seen at work"
    assert len(generations) == 12 * 4
    assert_same(dealt, model.search("w1,b1,w2,b2", backend="cpu", **given))


WRONG: list[tuple[str, type[Exception], dict[str, Any]]] = [
    ("sgima", simc.UnknownNameError, {"over": "x", "minimise": "cost", "sgima": 1.0}),
    ("cots", simc.UnknownNameError, {"over": "x", "minimise": "cots"}),
    ("no param, data or input|no input", simc.UnknownNameError, {"over": "y", "minimise": "cost"}),
    ("fitness is one float", simc.RunError, {"over": "x", "minimise": "whole"}),
    ("fitness is one float", simc.RunError, {"over": "x", "minimise": "cost_rows"}),
    ("either", simc.RunError, {"over": "x"}),
    ("no input is named", simc.RunError, {"over": "", "minimise": "cost"}),
    ("no finite number", simc.RunError, {"over": "x", "minimise": "lost"}),
    ("at least 4", simc.RunError, {"over": "x", "minimise": "cost", "agents": 3}),
    ("no method `gaa`", simc.RunError, {"over": "x", "minimise": "cost", "method": "gaa"}),
    ("`steps` is -1", simc.RunError, {"over": "x", "minimise": "cost", "steps": -1}),
    (
        "no setting `sgma`",
        simc.RunError,
        {"over": "x", "minimise": "cost", "method": "cma-es", "method_settings": {"sgma": 1}},
    ),
]


@pytest.mark.parametrize(("message", "kind", "given"), WRONG)
def test_errors_are_those_of_one_process(
    noisy: simc.Model, message: str, kind: type[Exception], given: dict[str, Any]
) -> None:
    with pytest.raises(kind, match=message) as dealt:
        simc.ray.search(noisy, **given)
    with pytest.raises(kind, match=message) as one:
        noisy.search(backend="cpu", **given)
    assert isinstance(dealt.value, simc.RunError)
    assert isinstance(one.value, simc.RunError)
    assert (dealt.value.code, dealt.value.message) == (one.value.code, one.value.message)


def test_what_a_cluster_cannot_search_is_said(gbm: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="no float input") as caught:
        simc.ray.search(gbm, "sigma", maximise="payoff")
    assert caught.value.code == "E0745"
    model = simc.load(EXAMPLES / "ackley.sim")
    with pytest.raises(simc.RunError, match="at least 1"):
        simc.ray.search(model, "x", maximise="fitness", shards=0)
    with pytest.raises(simc.RunError, match="no machine of the cluster"):
        simc.ray.search(model, "x", maximise="fitness", gpus=3)
    missing = simc.compile("steps 1\ninput w ~ normal()\noutput f = w")
    with pytest.raises(simc.RunError, match="agents") as caught:
        simc.ray.search(missing, "w", maximise="f")
    with pytest.raises(simc.RunError, match="agents") as one:
        missing.search("w", maximise="f")
    assert str(caught.value) == str(one.value)


def test_progress_counts_all_generations_and_may_end_the_search(noisy: simc.Model) -> None:
    seen: list[tuple[int, int]] = []
    given: dict[str, Any] = {"minimise": "cost", "generations": 3, "evaluations": 2, "shards": 4}
    simc.ray.search(noisy, "x", progress=lambda done, all: seen.append((done, all)), **given)
    assert len(seen) == 3 * 4
    assert seen == sorted(seen)
    assert seen[-1] == (203 * 3 * 2 * 3, 203 * 3 * 2 * 3)

    def interrupt(done: int, all: int) -> None:
        if done > all // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simc.ray.search(noisy, "x", progress=interrupt, **given)
    dealt, one = both(noisy, "x", **given)
    assert_same(dealt, one)


class Here:
    """This process, in place of a cluster."""

    def __init__(self, change: Callable[[Any], Any]) -> None:
        self._change = change

    def slots(self) -> int:
        return 2

    def share(self, value: Any) -> Any:
        return value

    def results(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        for place, call in enumerate(calls):
            found = function(*call)
            self._change(found)
            yield place, found


@pytest.fixture
def here(noisy: simc.Model, monkeypatch: pytest.MonkeyPatch) -> Callable[..., simc.Found]:
    """A search in this process, where a function gets what shards have found."""

    def searched(change: Callable[[Any], Any]) -> simc.Found:
        monkeypatch.setattr(simc.ray, "_Cluster", lambda *_: Here(change))
        return simc.ray.search(noisy, "x", minimise="cost", generations=3, shards=3)

    return searched


def test_unlike_devices_are_refused(here: Callable[..., simc.Found]) -> None:
    def change(found: Any) -> None:
        if found.device.number == 2:
            found.__dict__["device"] = Device(2, "other", "gpu", "Some GPU", "1.0")

    with pytest.raises(simc.RunError, match=r"shard 2 ran on other \(Some GPU, 1.0\)"):
        here(change)


def test_what_was_found_is_not_lost_where_the_best_cannot_be_compared(
    noisy: simc.Model, here: Callable[..., simc.Found]
) -> None:
    one = noisy.search("x", minimise="cost", generations=3, backend="cpu")
    seen = 0

    def fail(found: Any) -> None:
        nonlocal seen
        seen += 1
        if seen > 3 * 3:
            raise simc.RunError("ray", "shard 0 was lost")

    assert_same(here(lambda found: None), one)
    found = here(fail)
    assert found.history == one.history
    assert seen == 3 * 3 + 1
    assert all(elite.again is None for elite in found.elites)


def test_shards_run_on_the_gpu_backend() -> None:
    """On a software adapter: the same code as on a GPU."""
    model = simc.load(EXAMPLES / "cartpole.sim")
    given: dict[str, Any] = {"maximise": "reward", "agents": 200, "generations": 3}
    given["adapter"] = "llvmpipe"
    try:
        one = model.search("w1,b1,w2,b2", backend="gpu", **given)
    except simc.RunError as error:
        pytest.skip(f"needs Mesa's software adapter: {error}")
    with pytest.warns(UserWarning, match="has 2 GPUs"):
        dealt = simc.ray.search(model, "w1,b1,w2,b2", gpus=1, shards=3, **given)
    assert_same(dealt, one)
