"""Runs on a cluster of Dask, as `simc.ray` has them on one of Ray.

>>> from distributed import Client
>>> import simc, simc.dask
>>> model = simc.load("gbm.sim")
>>> run = simc.dask.run(Client("scheduler:8786"), model, agents=10**9, out="paths")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ._model import Model, Range, _asked, _settings, seed_of
from ._progress import Progress
from ._results import Found
from ._searched import search as _search_sharded
from ._sharded import ShardedReport, ShardedRun, Wanted
from ._sharded import run as _run_sharded
from ._sharded import sweep as _sweep_sharded
from ._shards import ShardReport
from ._sweep import Sweep, planned
from .errors import RunError

try:
    import distributed
except ImportError as _error:
    raise RunError(
        "dask", "`simc.dask` needs the package distributed", "pip install distributed"
    ) from _error

_distributed: Any = distributed

__all__ = ["ShardReport", "ShardedReport", "ShardedRun", "run", "search", "sweep"]


def run(
    client: Any,
    model: Model,
    *,
    agents: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    backend: str = "cpu",
    adapter: str | None = None,
    world: int | None = None,
    shards: int | None = None,
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    outputs: Sequence[str] | None = None,
    out: str | None = None,
    statistics: bool = True,
    quartiles: bool = True,
    histograms: Mapping[str, tuple[float, float, int]] | None = None,
    records: bool | None = None,
    check: bool = False,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> ShardedRun:
    """Runs a model on the cluster of a ``distributed.Client``.

    A shard uses as many threads as its worker has, so workers take one task each at a time or are
    processes of one thread. ``resources`` are those of workers that a shard needs. A shard whose
    worker is lost is repeated by Dask; ``retries`` counts what failed without that. Everything else
    is as in `simc.ray.run`.
    """
    wanted = Wanted(
        agents=agents,
        steps=steps,
        seed=seed,
        backend=backend,
        adapter=adapter,
        world=world,
        shards=shards,
        outputs=outputs,
        out=out,
        statistics=statistics,
        quartiles=quartiles,
        histograms=histograms,
        records=records,
        check=check,
        progress=progress,
        threads=None,
    )
    given = model._given(run, values, params, inputs, data)
    return _run_sharded(_Cluster(client, resources, retries), model, wanted, given)


def sweep(
    client: Any,
    model: Model,
    *,
    agents: int | None = None,
    steps: int | None = None,
    seed: Any = 0,
    backend: str = "cpu",
    adapter: str | None = None,
    world: int | None = None,
    tasks: int | None = None,
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    zip: bool = False,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> Sweep:
    """Runs a sweep as `Model.sweep` does, with its points distributed to the cluster; see
    `simc.ray.sweep`."""
    given = model._given(sweep, values, params, inputs, data)
    settings = _settings(agents, steps, world, 0, None, backend, adapter)
    plan = planned(model, seed if np.ndim(seed) else seed_of(seed), given, zip)
    cluster = _Cluster(client, resources, retries)
    return _sweep_sharded(cluster, model, settings, plan, tasks, None, progress)


def search(
    client: Any,
    model: Model,
    over: str | Iterable[str],
    *,
    maximise: str | None = None,
    minimise: str | None = None,
    method: str = "ga",
    method_settings: Mapping[str, Any] | None = None,
    generations: int = 100,
    target: float | None = None,
    evaluations: int = 1,
    common_draws: bool = False,
    fixed_draws: bool = False,
    start: Range | None = None,
    within: Range | None = None,
    elites: int = 10,
    search_seed: int = 0,
    agents: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    backend: str = "cpu",
    adapter: str | None = None,
    world: int | None = None,
    shards: int | None = None,
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> Found:
    """Searches as `Model.search` does, with the candidates of each generation distributed; see
    `simc.ray.search`."""
    asked = _asked(
        over=over,
        maximise=maximise,
        minimise=minimise,
        method=method,
        method_settings=method_settings,
        generations=generations,
        target=target,
        evaluations=evaluations,
        common_draws=common_draws,
        fixed_draws=fixed_draws,
        start=start,
        within=within,
        elites=elites,
        search_seed=search_seed,
    )
    given = model._given(search, values, params, inputs, data)
    settings = _settings(agents, steps, world, 0, None, backend, adapter)
    cluster = _Cluster(client, resources, retries)
    return _search_sharded(
        cluster, model, settings, seed_of(seed), asked, given, shards, None, progress
    )


def _same(value: Any) -> Any:
    return value


class _Cluster:
    """Functions as tasks of Dask."""

    def __init__(self, client: Any, resources: Mapping[str, float] | None, retries: int) -> None:
        if not isinstance(client, _distributed.Client):
            raise TypeError(f"`client` is a distributed.Client, not {type(client).__name__}")
        if retries < 0:
            raise RunError("E0703", f"`retries` is {retries}, and is at least 0", "retries=3")
        self._client: Any = client
        self._options = {"resources": dict(resources or {}) or None, "retries": retries}

    def slots(self) -> int:
        threads = sum(self._client.nthreads().values())
        if not threads:
            raise RunError("dask", "the cluster has no workers", "start some")
        return int(threads)

    def share(self, value: Any) -> Any:
        # A task, unlike scattered data, is repeated when the worker that has its result is lost.
        return self._client.submit(_same, value, pure=False)

    def results(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        places = {}
        for place, call in enumerate(calls):
            # A name of its own: the same call twice is run twice, as files may be gone.
            future = self._client.submit(function, *call, pure=False, **self._options)
            places[future] = place
        try:
            for future in _distributed.as_completed(list(places)):
                try:
                    result = future.result()
                except _distributed.KilledWorker as error:
                    raise RunError(
                        "dask",
                        f"shard {places[future]} was lost with several workers, one after another",
                        "look for machines that lack memory, or give smaller ones by `shards`",
                    ) from error
                yield places.pop(future), result
                future.release()
        finally:
            self._client.cancel(list(places))
