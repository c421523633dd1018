"""Runs in shards on a cluster of Dask, which these tests start on this machine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc

from .conftest import EXAMPLES

distributed = pytest.importorskip("distributed", reason="needs `pip install distributed`")
pytest.importorskip("pyarrow", reason="needs `pip install pyarrow`")

import simc.dask  # noqa: E402


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    # Workers find the package where this process has found it.
    place = str(Path(simc.__file__).resolve().parents[1])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", place, prepend=os.pathsep)
        yield from started()


def started() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_shards_have_the_bits_of_one_process(client: Any, gbm: simc.Model, tmp_path: Path) -> None:
    run = gbm.run(agents=30_001, seed=7, backend="cpu")
    sharded = simc.dask.run(client, gbm, agents=30_001, seed=7, shards=5)
    for name in run:
        assert sharded[name].tobytes() == run[name].tobytes()
    assert list(sharded.summary()) == list(run.summary())
    alone = simc.dask.run(client, gbm, agents=30_001, seed=7, shards=5, outputs=[])
    assert list(alone.summary()) == list(run.summary())
    written = simc.dask.run(client, gbm, agents=30_001, seed=7, shards=5, out=str(tmp_path / "out"))
    assert list(written.summary()) == list(run.summary())
    table = written.dataset().to_table()
    assert table["payoff"].to_numpy().tobytes() == run["payoff"].tobytes()


def test_a_sweep_has_the_bits_of_one_process(client: Any, gbm: simc.Model) -> None:
    sigmas = np.linspace(0.1, 0.5, 7)
    one = gbm.sweep(agents=500, sigma=sigmas, backend="cpu")
    dealt = simc.dask.sweep(client, gbm, agents=500, sigma=sigmas, tasks=3)
    assert dealt.to_arrow().equals(one.to_arrow())


def test_a_search_has_the_bits_of_one_process(client: Any) -> None:
    model = simc.load(EXAMPLES / "cartpole.sim")
    given: dict[str, Any] = {"maximise": "reward", "agents": 301, "generations": 4}
    for more in ({"evaluations": 2}, {"common_draws": True, "agents": 20}):
        given |= more
        one = model.search("w1,b1,w2,b2", backend="cpu", **given)
        dealt = simc.dask.search(client, model, "w1,b1,w2,b2", shards=3, **given)
        assert (dealt.elites, dealt.history) == (one.elites, one.history)
        for name, rows in one.columns().items():
            assert dealt.columns()[name].tobytes() == rows.tobytes()
    with pytest.raises(simc.UnknownNameError, match="rewrad"):
        simc.dask.search(client, model, "w1", maximise="rewrad")


def test_a_killed_worker_changes_no_bit(client: Any) -> None:
    model = simc.load(EXAMPLES / "lorenz.sim")
    given: dict[str, Any] = {"agents": 400_000, "steps": 1_000}
    processes: dict[str, int] = client.run(os.getpid)
    killed: list[int] = []
    done = threading.Event()

    def kill() -> None:
        while not killed and not done.is_set():
            for worker, shards in client.processing().items():
                if shards:
                    os.kill(processes[worker], signal.SIGKILL)
                    killed.append(processes[worker])
                    return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        sharded = simc.dask.run(client, model, **given, shards=4)
    finally:
        done.set()
        killer.join()
    assert killed, "no worker was seen at work"
    assert killed[0] not in set(client.run(os.getpid).values())
    assert [shard.number for shard in sharded.report.shards] == [0, 1, 2, 3]
    run = model.run(**given, backend="cpu")
    for name in run:
        assert sharded[name].tobytes() == run[name].tobytes()


def test_errors_of_shards_are_those_of_runs(client: Any, gbm: simc.Model) -> None:
    with pytest.raises(simc.RunError, match="sigma"):
        simc.dask.run(client, gbm, sigma=7.0, shards=2)
    with pytest.raises(simc.UnknownNameError, match="sgima"):
        simc.dask.run(client, gbm, sgima=0.3)
    with pytest.raises(TypeError, match="Client"):
        simc.dask.run(gbm, gbm)
