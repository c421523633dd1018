"""Runs in shards on a cluster of Ray, which these tests start on this machine with two workers."""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc

from .conftest import EXAMPLES, same_bits, workers

pytest.importorskip("ray", reason="needs `pip install ray`")
pytest.importorskip("pyarrow", reason="needs `pip install pyarrow`")

import simc.ray

OBSERVED = """
agents 10_000
steps 12
state price = 100.0
state number = 0
step {
    let jump = normal()
    price *= exp(0.01 * jump)
    if jump > 1.0 { number += 1 }
}
output price
output number
observe middle = mean(price) every 3
observe total = sum(price)
observe numbers = sum(number)
observe low = min(price)
observe high = max(price)
observe above = count(price > 101.0)
observe some = any(price > 104.0)
observe every_one = all(price > 97.0)
observe spread = histogram(price, 90.0, 110.0, 8) every 4
record price every 6
"""

KINDS = """
agents 5_000
steps 4
enum Side { Left, Right }
state x = vec2(0.0, 0.0)
state side = Side.Left
step {
    x += vec2(normal(), 0.5 * normal())
    side = if x.x < 0.0 { Side.Left } else { Side.Right }
    if x.y > 1.0 { stop }
}
output x
output side
output number = i32(1000.0 * x.x) - 3
output positive = x.x > 0.0
output root = sqrt(x.x)
output many = [for k in 0..20: f32(k) * x.x]
output few = [for k in 0..3: x.y - f32(k)]
"""


pytestmark = pytest.mark.usefixtures("cluster")


def assert_same_outputs(sharded: simc.ray.ShardedRun, run: simc.Run) -> None:
    assert set(sharded) == set(run)
    for name in run:
        assert same_bits(sharded[name], run[name]), name


def assert_same_summary(sharded: simc.ray.ShardedRun, run: simc.Run) -> None:
    # As text, so that NaNs are equal.
    rows = [repr(row) for row in sharded.summary()]
    assert rows == [repr(row) for row in run.summary()]
    assert rows


def test_shards_have_the_bits_of_one_process(gbm: simc.Model) -> None:
    run = gbm.run(agents=100_003, seed=7, sigma=0.3, backend="cpu")
    sharded = simc.ray.run(gbm, agents=100_003, seed=7, sigma=0.3, shards=7)
    assert len(sharded.report.shards) == 7
    assert_same_outputs(sharded, run)
    assert_same_summary(sharded, run)
    assert sharded.report.agent_steps == run.report.agent_steps
    assert sharded.report.passes == 1
    assert "7, by" in str(sharded.report)
    assert "7 shards" in repr(sharded)


def test_statistics_alone_are_those_of_one_process(gbm: simc.Model) -> None:
    run = gbm.run(agents=50_000, seed=3, backend="cpu")
    sharded = simc.ray.run(gbm, agents=50_000, seed=3, shards=4, outputs=[])
    assert len(sharded) == 0
    assert sharded.report.passes == 2
    assert_same_summary(sharded, run)
    with pytest.raises(simc.RunError, match="not kept"):
        sharded["payoff"]


def test_without_quartiles_one_pass_is_enough(gbm: simc.Model) -> None:
    run = gbm.run(agents=5_000, backend="cpu").summary()["payoff"]
    sharded = simc.ray.run(gbm, agents=5_000, shards=3, outputs=[], quartiles=False)
    found = sharded.summary()["payoff"]
    assert sharded.report.passes == 1
    assert (found.mean, found.std, found.min, found.max) == (run.mean, run.std, run.min, run.max)
    assert found.median is None


def test_outputs_of_all_types_have_their_statistics(tmp_path: Path) -> None:
    model = simc.compile(KINDS)
    run = model.run(seed=5, backend="cpu")
    assert any(row.nan for row in run.summary())
    kept = simc.ray.run(model, seed=5, shards=3)
    assert_same_outputs(kept, run)
    assert_same_summary(kept, run)
    assert_same_summary(simc.ray.run(model, seed=5, shards=3, outputs=[]), run)
    written = simc.ray.run(model, seed=5, shards=3, out=str(tmp_path / "kinds"))
    assert_same_summary(written, run)
    table = written.dataset().to_table()
    assert table["agent"].to_pylist() == list(range(5_000))
    assert same_bits(table["x.y"].to_numpy(), np.ascontiguousarray(run["x"][:, 1]))
    assert same_bits(table["few[2]"].to_numpy(), np.ascontiguousarray(run["few"][:, 2]))
    sides = [("Left", "Right")[each] for each in run["side"]]
    assert table["side"].to_pylist() == sides
    assert table["positive"].to_pylist() == run["positive"].tolist()
    assert kept.report.stopped_agents == run.report.stopped_agents > 0


def test_files_of_other_machines_are_looked_for(
    gbm: simc.Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its own working directory is one that the workers do not have.
    monkeypatch.chdir(tmp_path)
    sharded = simc.ray.run(gbm, agents=2_000, shards=2, out="here")
    assert len(list((tmp_path / "here").glob("part-*.parquet"))) == 2
    assert sharded.dataset().count_rows() == 2_000
    monkeypatch.setattr("os.path.exists", lambda path: False)
    with pytest.raises(simc.RunError, match="is not seen from here"):
        simc.ray.run(gbm, agents=2_000, shards=2, out="there", statistics=False)


def test_results_stream_to_files_in_the_order_of_agents(gbm: simc.Model, tmp_path: Path) -> None:
    out = tmp_path / "paths"
    run = gbm.run(agents=20_000, seed=2, backend="cpu")
    sharded = simc.ray.run(
        gbm, agents=20_000, seed=2, shards=6, out=str(out), outputs=["payoff"], sigma=0.2
    )
    assert len(list(out.glob("part-*.parquet"))) == 6
    assert not [each for each in out.iterdir() if each.name.startswith(".")]
    table = sharded.dataset().to_table()
    assert table.column_names == ["agent", "payoff"]
    assert table["agent"].to_pylist() == list(range(20_000))
    assert same_bits(table["payoff"].to_numpy(), run["payoff"])
    assert_same_summary(sharded, run)
    about = json.loads((out / "_run.json").read_text())
    assert about["agents"] == 20_000
    assert about["params"] == {"sigma": 0.2}
    assert len(about["shards"]) == 6
    with pytest.raises(simc.RunError, match="in files"):
        sharded["payoff"]
    with pytest.raises(simc.RunError, match="has files already"):
        simc.ray.run(gbm, agents=20_000, out=str(out))


@pytest.mark.parametrize("agents", [10_000, 8_192, 1_027, 100])
def test_what_is_observed_has_the_bits_of_one_process(agents: int) -> None:
    model = simc.compile(OBSERVED)
    run = model.run(agents=agents, seed=11, backend="cpu")
    sharded = simc.ray.run(model, agents=agents, seed=11, shards=5)
    assert len(sharded.report.shards) == {10_000: 5, 8_192: 4, 1_027: 5, 100: 1}[agents]
    for name in run.observations:
        assert same_bits(sharded.observed(name).values, run.observed(name).values), name
        assert same_bits(sharded.observed(name).steps, run.observed(name).steps)
    assert len(run.observations) == 9
    assert same_bits(sharded.record("price").values, run.record("price").values)


def test_records_that_are_not_kept_are_refused() -> None:
    model = simc.compile(OBSERVED)
    sharded = simc.ray.run(model, agents=1_000, shards=2, outputs=[])
    assert len(sharded.observed("middle").values)
    with pytest.raises(simc.RunError, match="records=True"):
        sharded.record("price")


@pytest.mark.parametrize("fold", ["var(x)", "sd(x)", "quantiles(x, 0.1, 0.9)"])
def test_folds_that_need_all_agents_are_refused_by_name(fold: str) -> None:
    model = simc.compile(
        f"agents 1_000\nsteps 2\nstate x = 0.0\nstep {{ x += normal() }}\n"
        f"output x\nobserve width = {fold}"
    )
    with pytest.raises(simc.RunError, match="observation `width`") as caught:
        simc.ray.run(model, shards=4)
    assert "shards=1" in str(caught.value.help)
    run = model.run(backend="cpu")
    alone = simc.ray.run(model, shards=1)
    assert same_bits(alone.observed("width").values, run.observed("width").values)


def test_worlds_stay_whole(tmp_path: Path) -> None:
    model = simc.load(EXAMPLES / "sir_worlds.sim")
    given: dict[str, Any] = {"agents": 2_100, "world": 100, "steps": 20, "seed": 3}
    run = model.run(**given, backend="cpu")
    sharded = simc.ray.run(model, **given, shards=4)
    assert len(sharded.report.shards) == 4
    assert_same_outputs(sharded, run)
    assert_same_summary(sharded, run)
    written = simc.ray.run(model, **given, shards=4, out=str(tmp_path / "worlds"))
    assert_same_summary(written, run)
    with pytest.raises(simc.RunError, match="whole worlds"):
        simc.ray.run(model, agents=2_150, world=100)


def test_observed_worlds_have_the_bits_of_one_process() -> None:
    model = simc.compile(
        "agents 2_600\nworld 100\nsteps 6\nstate x = normal()\n"
        "step { x = x + 0.1 * mean(for other in world: other.x) + 0.3 * normal() }\n"
        "output x\nobserve middle = mean(x)\nworld observe own = mean(x)\n"
        "world observe width = sd(x)\nobserve top = max(x) every 2"
    )
    run = model.run(seed=4, backend="cpu")
    sharded = simc.ray.run(model, seed=4, shards=4)
    assert [shard.agents for shard in sharded.report.shards] == [800, 800, 800, 200]
    assert_same_outputs(sharded, run)
    for name in run.observations:
        assert same_bits(sharded.observed(name).values, run.observed(name).values), name


def test_inputs_are_cut_as_the_agents_are() -> None:
    model = simc.load(EXAMPLES / "lorenz.sim")
    rho = np.linspace(20.0, 30.0, 1_001, dtype=np.float32)
    given: dict[str, Any] = {"agents": 1_001, "steps": 40}
    run = model.run(**given, rho=rho, backend="cpu")
    assert_same_outputs(simc.ray.run(model, **given, rho=rho, shards=3), run)
    run = model.run(**given, rho=27.5, backend="cpu")
    assert_same_outputs(simc.ray.run(model, **given, rho=27.5, shards=3), run)
    with pytest.raises(simc.RunError, match="1,001 rows for 1,000 agents"):
        simc.ray.run(model, agents=1_000, rho=rho)


def test_inputs_are_drawn_as_in_one_process() -> None:
    model = simc.load(EXAMPLES / "cartpole.sim")
    run = model.run(agents=700, steps=60, seed=9, backend="cpu")
    sharded = simc.ray.run(model, agents=700, steps=60, seed=9, shards=4)
    assert_same_outputs(sharded, run)
    assert sharded.report.agent_steps == run.report.agent_steps
    assert sharded.report.stopped_agents == run.report.stopped_agents > 0


def test_histograms_count_all_values(gbm: simc.Model) -> None:
    prices = gbm.run(agents=30_000, backend="cpu")["price"]
    bins = (95.0, 105.0, 16)
    sharded = simc.ray.run(gbm, agents=30_000, shards=5, outputs=[], histograms={"price": bins})
    found = sharded.histograms["price"]
    expected, edges = np.histogram(prices, bins=16, range=(95.0, 105.0))
    assert np.array_equal(found.counts, expected)
    assert np.array_equal(found.edges, edges)
    assert found.below == np.count_nonzero(prices < 95.0) > 0
    assert found.above == np.count_nonzero(prices > 105.0) > 0
    assert found.nan == 0


def test_a_killed_worker_changes_no_bit() -> None:
    model = simc.load(EXAMPLES / "lorenz.sim")
    given: dict[str, Any] = {"agents": 400_000, "steps": 1_000}
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not killed and not done.is_set():
            for process in workers("simc work"):
                os.kill(process, signal.SIGKILL)
                killed.append(process)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        sharded = simc.ray.run(model, **given, shards=4)
    finally:
        done.set()
        killer.join()
    # It was named after its shard when it died: the shard was lost, and computed again.
    assert killed, "no worker was seen at work"
    assert [shard.number for shard in sharded.report.shards] == [0, 1, 2, 3]
    run = model.run(**given, backend="cpu")
    assert_same_outputs(sharded, run)
    assert_same_summary(sharded, run)


def test_a_shard_that_is_lost_each_time_is_an_error() -> None:
    model = simc.load(EXAMPLES / "lorenz.sim")
    done = threading.Event()

    def kill() -> None:
        while not done.is_set():
            for process in workers("simc work"):
                os.kill(process, signal.SIGKILL)
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(simc.RunError, match="was lost, and 0 repetitions"):
            simc.ray.run(model, agents=1_000_000, steps=1_000, shards=2, retries=0)
    finally:
        done.set()
        killer.join()


def test_errors_of_shards_are_those_of_runs(gbm: simc.Model) -> None:
    with pytest.raises(simc.UnknownNameError, match="sgima"):
        simc.ray.run(gbm, sgima=0.3)
    with pytest.raises(simc.RunError, match="sigma"):
        simc.ray.run(gbm, sigma=7.0, shards=2)
    with pytest.raises(simc.UnknownNameError, match="payof"):
        simc.ray.run(gbm, outputs=["payof"])
    with pytest.raises(simc.RunError, match="at least 1"):
        simc.ray.run(gbm, shards=0)
    with pytest.raises(simc.RunError, match="histogram of `price`"):
        simc.ray.run(gbm, histograms={"price": (1.0, 1.0, 4)})
    with pytest.raises(simc.RunError, match="no machine of the cluster"):
        simc.ray.run(gbm, gpus=3)
    wrong = simc.compile(
        "agents 300\nsteps 1\nparam n = 4\nstate x = [1.0, 2.0]\nstate y = 0.0\n"
        "step { y = x[agent] }\noutput y"
    )
    with pytest.raises(simc.FaultError):
        simc.ray.run(wrong, shards=3, check=True)


def test_progress_ends_with_all(gbm: simc.Model) -> None:
    seen: list[tuple[int, int]] = []
    simc.ray.run(gbm, agents=4_000, shards=4, progress=lambda done, all: seen.append((done, all)))
    assert seen[-1] == (32_000, 32_000)
    assert len(seen) == 4
    assert seen == sorted(seen)


def test_a_sweep_has_the_bits_of_one_process(gbm: simc.Model) -> None:
    given: dict[str, Any] = {"sigma": np.linspace(0.1, 0.5, 5), "strike": [90, 100, 110]}
    one = gbm.sweep(agents=500, seed=[3, 4], backend="cpu", **given)
    dealt = simc.ray.sweep(gbm, agents=500, seed=[3, 4], tasks=4, **given)
    assert dealt.shape == one.shape == (5, 3, 2)
    for name in one:
        for of in ("count", "mean", "std", "std_error", "min", "q25", "median", "q75", "max"):
            assert same_bits(getattr(dealt[name], of), getattr(one[name], of)), (name, of)
    assert dealt.to_arrow().equals(one.to_arrow())
    assert dealt.report.agent_steps == one.report.agent_steps


def test_swept_observations_have_the_bits_of_one_process() -> None:
    model = simc.compile(
        OBSERVED.replace("0.01 *", "scale *")
        .replace("state price", "param scale = 0.01\nstate price", 1)
        .replace("record price every 6", "")
    )
    scales = [0.01, 0.02, 0.03]
    one = model.sweep(agents=700, scale=scales, backend="cpu")
    dealt = simc.ray.sweep(model, agents=700, scale=scales, tasks=2)
    for name in ("middle", "total", "spread"):
        assert same_bits(dealt.observed(name).values, one.observed(name).values)
    with pytest.raises(simc.RunError, match="nothing is swept"):
        simc.ray.sweep(model, agents=700)
    with pytest.raises(simc.UnknownNameError, match="scal"):
        simc.ray.sweep(model, agents=700, scal=scales)


def test_shards_run_on_the_gpu_backend() -> None:
    """On a software adapter: the same code as on a GPU."""
    model = simc.load(EXAMPLES / "gbm.sim")
    given: dict[str, Any] = {"agents": 3_000, "steps": 20, "adapter": "llvmpipe"}
    try:
        run = model.run(**given)
    except simc.RunError as error:
        pytest.skip(f"needs Mesa's software adapter: {error}")
    with pytest.warns(UserWarning, match="has 2 GPUs, and all of its shards run on the first"):
        sharded = simc.ray.run(model, **given, gpus=1, shards=3)
    assert sharded.report.backend == "gpu"
    assert "llvmpipe" in str(sharded.report.shards[0].adapter)
    assert_same_outputs(sharded, run)
    assert_same_summary(sharded, run)


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = EXAMPLES.parent / "docs" / "ray.md"
    monkeypatch.chdir(tmp_path)
    for model in ("gbm.sim", "cartpole.sim"):
        (tmp_path / model).write_text((EXAMPLES / model).read_text())
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)
    assert names["sweep"].shape == (9, 3)
    assert names["paths"].histograms["price"].counts.sum() > 190_000
    assert names["run"].summary()["call"].count == 200_000
    assert (names["found"].candidates, len(names["found"].history)) == (512, 10)
