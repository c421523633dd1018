"""Runs on a cluster of Ray: the line of one machine, on many.

>>> import simc, simc.ray
>>> model = simc.load("gbm.sim")
>>> run = simc.ray.run(model, agents=10**9, out="paths")
>>> run.summary()

The population is cut into shards of consecutive agents. Each is a task of Ray, and all together
have the bits of a run in one process. `sweep` and `search` are those of a model, distributed. A
task that is lost with its process or its machine is repeated.
"""

from __future__ import annotations

import warnings
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
    import ray
except ImportError as _error:
    raise RunError("ray", "`simc.ray` needs the package ray", "pip install ray") from _error

_ray: Any = ray

__all__ = ["ShardReport", "ShardedReport", "ShardedRun", "run", "search", "sweep"]


def run(
    model: Model,
    *,
    agents: int | None = None,
    steps: int | None = None,
    seed: int = 0,
    backend: str | None = None,
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
    cpus: float = 1.0,
    gpus: float = 0.0,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> ShardedRun:
    """Runs a model on the cluster that ``ray`` is connected to; without one, on this machine.

    ``shards`` is the most into which the population is cut; by default four for each that runs at a
    time. ``cpus``, ``gpus`` and ``resources`` are what a shard takes of a machine. ``backend`` is
    ``gpu`` if a shard takes GPUs, else ``cpu``, unless given: all shards have the same.

    ``outputs`` names the outputs to keep, all by default; ``[]`` keeps none. They are arrays of the
    result, or with ``out="directory"`` Parquet files, one per shard, in a directory that all
    machines share. ``statistics`` takes those of all outputs; their ``quartiles`` need a second
    pass, over arrays or files if they are kept, else over a second run. ``histograms`` has by
    output the ends and the number of bins. ``records`` says whether to keep what is recorded of
    each agent.

    A shard that is lost with its process or machine is repeated up to ``retries`` times.
    Params, inputs and tables are given as to `Model.run`.
    """
    given = model._given(run, values, params, inputs, data)
    chosen = ("gpu" if gpus else "cpu") if backend is None else backend
    wanted = Wanted(
        agents=agents,
        steps=steps,
        seed=seed,
        backend=chosen,
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
        threads=max(1, int(cpus)),
    )
    cluster = _Cluster(cpus, gpus, resources, retries, chosen)
    return _run_sharded(cluster, model, wanted, given)


def sweep(
    model: Model,
    *,
    agents: int | None = None,
    steps: int | None = None,
    seed: Any = 0,
    backend: str | None = None,
    adapter: str | None = None,
    world: int | None = None,
    tasks: int | None = None,
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    zip: bool = False,
    cpus: float = 1.0,
    gpus: float = 0.0,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> Sweep:
    """Runs a sweep as `Model.sweep` does, with its points distributed to the cluster.

    A point is run whole, by one machine; ``tasks`` is into how many parts the points are cut, by
    default four for each that runs at a time. Everything else is as in `run`.
    """
    given = model._given(sweep, values, params, inputs, data)
    chosen = ("gpu" if gpus else "cpu") if backend is None else backend
    settings = _settings(agents, steps, world, 0, None, chosen, adapter)
    plan = planned(model, seed if np.ndim(seed) else seed_of(seed), given, zip)
    cluster = _Cluster(cpus, gpus, resources, retries, chosen)
    return _sweep_sharded(cluster, model, settings, plan, tasks, max(1, int(cpus)), progress)


def search(
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
    backend: str | None = None,
    adapter: str | None = None,
    world: int | None = None,
    shards: int | None = None,
    params: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
    cpus: float = 1.0,
    gpus: float = 0.0,
    resources: Mapping[str, float] | None = None,
    retries: int = 3,
    progress: bool | Progress = False,
    **values: Any,
) -> Found:
    """Searches as `Model.search` does, with the candidates of each generation distributed.

    Candidates are agents, and ``shards`` is the most parts into which they are cut, by default two
    for each that runs at a time; with ``common_draws`` each has a run of its own, and those are
    distributed. The next genomes are made by the caller, from the fitness of all. ``progress``
    counts the agent-steps of all generations. Everything else is as in `run` and `Model.search`.
    """
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
    chosen = ("gpu" if gpus else "cpu") if backend is None else backend
    settings = _settings(agents, steps, world, 0, None, chosen, adapter)
    cluster = _Cluster(cpus, gpus, resources, retries, chosen)
    return _search_sharded(
        cluster,
        model,
        settings,
        seed_of(seed),
        asked,
        given,
        shards,
        max(1, int(cpus)),
        progress,
    )


class _Cluster:
    """Functions as tasks of Ray."""

    def __init__(
        self,
        cpus: float,
        gpus: float,
        resources: Mapping[str, float] | None,
        retries: int,
        backend: str,
    ) -> None:
        if retries < 0:
            raise RunError("E0703", f"`retries` is {retries}, and is at least 0", "retries=3")
        if not _ray.is_initialized():
            _ray.init()
        self._options: dict[str, Any] = {
            "num_cpus": cpus,
            "num_gpus": gpus,
            "resources": dict(resources or {}),
            "max_retries": retries,
            # A file system that is away for a moment; errors of models are the same each time.
            "retry_exceptions": [OSError],
        }
        self._retries = retries
        self._tasks: dict[Callable[..., Any], Any] = {}
        needs = {"CPU": cpus, "GPU": gpus, **(resources or {})}
        self._needs = {name: amount for name, amount in needs.items() if amount > 0}
        self._slots = self._count_slots()
        if backend != "cpu":
            self._warn_of_idle_gpus()

    def _count_slots(self) -> int:
        slots = 0
        for node in _ray.nodes():
            if node["Alive"]:
                has = node["Resources"]
                each = [int(has.get(name, 0.0) / need) for name, need in self._needs.items()]
                slots += min(each, default=1)
        if slots == 0:
            needs = ", ".join(f"{amount:g} {name}" for name, amount in self._needs.items())
            raise RunError(
                "ray",
                f"no machine of the cluster has what a shard takes: {needs}",
                "lower `cpus`, `gpus` or `resources`, or start machines that have it",
            )
        return int(slots)

    def _warn_of_idle_gpus(self) -> None:
        """Ray hides GPUs from CUDA only, and a run takes the first GPU that Vulkan shows."""
        for node in _ray.nodes():
            number = node["Resources"].get("GPU", 0.0) if node["Alive"] else 0.0
            if number > 1:
                warnings.warn(
                    f"{node['NodeManagerHostname']} has {number:g} GPUs, and all of its shards run "
                    "on the first: start a node of Ray per GPU, in a container that sees only it",
                    stacklevel=4,
                )

    def slots(self) -> int:
        return self._slots

    def share(self, value: Any) -> Any:
        return _ray.put(value)

    def results(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        # Once: Ray sends each task that is made of a function to all processes.
        task = self._tasks.setdefault(function, _ray.remote(function))
        places = {}
        for place, call in enumerate(calls):
            name = f"simc {function.__name__} {place}"
            places[task.options(name=name, **self._options).remote(*call)] = place
        try:
            while places:
                done, _ = _ray.wait(list(places), num_returns=1)
                for reference in done:
                    result = self._result(reference, places[reference])
                    yield places.pop(reference), result
        finally:
            # Without `force`: Ray ends this process if a worker is killed while its result
            # arrives.
            for reference in places:
                _ray.cancel(reference)

    def _result(self, reference: Any, place: int) -> Any:
        try:
            return _ray.get(reference)
        except _ray.exceptions.RayTaskError as error:
            cause = getattr(error, "cause", None)
            raise (cause if isinstance(cause, Exception) else error) from None
        except _ray.exceptions.RayError as error:
            kind = type(error).__name__
            raise RunError(
                "ray",
                f"shard {place} was lost, and {self._retries} repetitions of it: {kind}",
                "look for machines that lack memory, or give smaller ones by `shards`",
            ) from error
