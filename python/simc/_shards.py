"""A population cut into shards, and the work on one of them, in any process."""

from __future__ import annotations

import functools
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._arrays import as_array
from ._manifest import Field
from ._model import Model, Options, _on_main_thread, again
from ._parquet import Files
from ._sweep import Points
from ._tallies import Counts, Tally, binned, lower_of, tally_of
from .errors import RunError

if TYPE_CHECKING:
    from ._run import Run

UNIT = 128
"""Agents that a model without worlds combines first where it observes its population."""

_WHOLE = {"var", "sd", "quantiles"}
"""Folds that need the values of all agents at once."""


@dataclass(frozen=True)
class Shard:
    """Consecutive agents of a population."""

    number: int
    first: int
    agents: int


def shards_of(
    model: Model, agents: int, world: int | None, wanted: int, *, observed: bool = True
) -> list[Shard]:
    """Cuts a population into at most so many shards, each of whole worlds.

    Where the population is observed, all but the last have a power of two of worlds, or of units:
    what is observed is combined as a tree, which then goes on where the trees of the shards end.
    ``observed=False`` is for those who leave that aside.
    """
    least = 1
    if model._manifest.has_worlds:
        least = _world(model, agents, world)
    series = [each for each in model.series if observed and each.of == "population"]
    if series and not model._manifest.has_worlds:
        least = UNIT
    pieces = -(-agents // least)
    size = -(-pieces // wanted)
    if series:
        size = 1 << (size - 1).bit_length()
    size *= least
    shards = [
        Shard(number, first, min(size, agents - first))
        for number, first in enumerate(range(0, agents, size))
    ]
    refused = [each for each in series if each.fold in _WHOLE]
    if refused and len(shards) > 1:
        raise RunError(
            "shard",
            f"observation `{refused[0].name}` is the {refused[0].fold} of all agents, which "
            "shards cannot be merged to",
            "observe a mean, a sum, extremes or a histogram, or run with `shards=1`",
        )
    return shards


def _world(model: Model, agents: int, world: int | None) -> int:
    members = model._manifest.world if world is None else world
    if members is None:
        raise RunError("E0704", "the number of agents in a world is missing", "world=100")
    if members < 1 or agents % members:
        raise RunError(
            "shard",
            f"{agents:,} agents are not whole worlds of {members:,}",
            "give a multiple of the world's agents",
        )
    return members


def refuse_doubles(model: Model) -> None:
    """Statistics and searches of shards merge values of 32 bits."""
    if model.real != "f32":
        raise RunError(
            "shard",
            f"populations are distributed in `f32`, and the model computes in `{model.real}`",
            "compile it without `real`, or run it on one machine",
        )


@dataclass(frozen=True)
class Job:
    """What is done with each shard. It travels to other processes."""

    source: str
    name: str
    options: Options
    version: str
    """The version of the package that asks."""
    settings: Mapping[str, Any]
    """Keywords of `Model.run` that all shards have."""
    params: Mapping[str, Any]
    data: Mapping[str, Any]
    kept: tuple[str, ...]
    """Outputs whose arrays are given back."""
    counted: tuple[str, ...]
    """Outputs that have statistics."""
    quartiles: bool
    histograms: Mapping[str, tuple[float, float, int]]
    records: bool
    """Whether what is recorded of each agent is given back."""
    files: Files | None
    threads: int | None
    """Threads of the CPU backend; by default as many as there are processors."""


@dataclass(frozen=True)
class ShardReport:
    """How a shard was run."""

    number: int
    first_agent: int
    agents: int
    node: str
    """The name of the machine."""
    process: int
    backend: str
    instruction_set: str | None
    adapter: str | None
    driver: str | None
    seconds: float
    """For the run, its statistics and its file."""
    agent_steps: int
    stopped_agents: int
    steps: int
    """Steps of the run."""
    file: str | None
    """The Parquet file of its outputs."""


@dataclass
class Part:
    """The results of a shard."""

    report: ShardReport
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    tallies: dict[str, Tally] = field(default_factory=dict)
    bins: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    series: list[tuple[str, str, NDArray[Any], NDArray[Any] | None]] = field(default_factory=list)
    """Name, whose they are, steps and values; no values of records that are not given back."""
    sums: dict[str, NDArray[Any]] = field(default_factory=dict)
    """The sums behind observed means."""


def inputs_of(
    model: Model, given: Mapping[str, Any], agents: int, world: int | None, shards: Sequence[Shard]
) -> list[dict[str, Any]]:
    """By shard its rows of the inputs."""
    parts: list[dict[str, Any]] = [{} for _ in shards]
    members = _world(model, agents, world) if model._manifest.has_worlds else 1
    for name, value in given.items():
        own = model.inputs[name]
        if np.ndim(value) == 0 and not hasattr(value, "__arrow_c_stream__"):
            for part in parts:
                part[name] = value
            continue
        array = as_array(value)
        if array.ndim == len(own.shape):
            for part in parts:
                part[name] = array
            continue
        each = members if own.of_world else 1
        rows = agents // each
        if array.shape[0] != rows:
            of = "worlds" if own.of_world else "agents"
            raise RunError(
                "E0706",
                f"input `{name}` has {array.shape[0]:,} rows for {rows:,} {of}",
                "give a row for each, in order, or one for all",
            )
        for part, shard in zip(parts, shards, strict=True):
            rows_of_part = slice(shard.first // each, (shard.first + shard.agents) // each)
            part[name] = array[rows_of_part]
    return parts


class Device(NamedTuple):
    """What ran a shard."""

    number: int
    """Of the shard."""
    node: str
    backend: str
    adapter: str | None
    driver: str | None


@dataclass(frozen=True)
class Launch:
    """What all points of a sweep, or all runs of a search, have. It travels to other processes."""

    source: str
    name: str
    options: Options
    version: str
    settings: Mapping[str, Any]
    """Of the native module."""
    fixed: Mapping[str, Any]
    threads: int | None


def launch_of(
    model: Model, settings: Mapping[str, Any], fixed: Mapping[str, Any], threads: int | None
) -> Launch:
    """A launch of a model by this version of the package."""
    from . import __version__

    return Launch(
        source=model.source,
        name=model.name,
        options=model._options,
        version=__version__,
        settings=settings,
        fixed=fixed,
        threads=threads,
    )


def sweep_points(job: Launch, seeds: Sequence[int], params: Mapping[str, NDArray[Any]]) -> Points:
    """Runs some points of a sweep, and computes their statistics."""
    model = _prepared(job)
    call = (dict(job.settings), _aligned(job.fixed), _on_main_thread(), None)
    points = Points.of(model._native.sweep(call, list(seeds), _aligned(params)))
    return replace(points, statistics=dict(points.statistics))


def _aligned(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values with arrays that begin where their type may: in a message they need not."""
    return {
        name: np.require(value, requirements=["C", "A"]) if isinstance(value, np.ndarray) else value
        for name, value in values.items()
    }


@functools.lru_cache(maxsize=4)
def _model(source: str, name: str, options: Options) -> Model:
    """A model, which a process compiles once."""
    return again(source, name, options)


def _prepared(job: Job | Launch) -> Model:
    from . import __version__

    if job.version != __version__:
        raise RunError(
            "shard",
            f"{socket.gethostname()} has simc {__version__}, and the caller {job.version}",
            "install the same version on all machines",
        )
    if job.threads is not None:
        # Read when the first run starts the threads of this process.
        os.environ.setdefault("RAYON_NUM_THREADS", str(job.threads))
    return _model(job.source, job.name, job.options)


def _run(job: Job, model: Model, shard: Shard, inputs: Mapping[str, Any]) -> Run:
    return model.run(
        agents=shard.agents,
        first_agent=shard.first,
        keep_states=False,
        inputs=_aligned(inputs),
        params=_aligned(job.params),
        data=_aligned(job.data),
        **job.settings,
    )


def work(job: Job, shard: Shard, inputs: Mapping[str, Any]) -> Part:
    """Runs a shard, counts its outputs and writes its file."""
    model = _prepared(job)
    started = time.perf_counter()
    run = _run(job, model, shard, inputs)
    tallies, bins = {}, {}
    for name in job.counted:
        tallies[name] = tally_of(model._native, model.outputs[name], run[name], job.quartiles)
    for name, of in job.histograms.items():
        bins[name] = binned(model.outputs[name], run[name], of)
    file = None
    if job.files is not None:
        file = job.files.write(model, shard.number, shard.first, run)
    series = [
        (each.name, each.of, each.steps, each.values if _is_kept(job, each.of) else None)
        for each in run.series
    ]
    report = run.report
    return Part(
        report=ShardReport(
            number=shard.number,
            first_agent=shard.first,
            agents=shard.agents,
            node=socket.gethostname(),
            process=os.getpid(),
            backend=report.backend,
            instruction_set=report.instruction_set,
            adapter=report.adapter,
            driver=report.driver,
            seconds=time.perf_counter() - started,
            agent_steps=report.agent_steps,
            stopped_agents=report.stopped_agents,
            steps=report.steps,
            file=file,
        ),
        arrays={name: run[name] for name in job.kept},
        tallies=tallies,
        bins=bins,
        series=series,
        sums=dict(run._native.series_sums),
    )


def _is_kept(job: Job, of: str) -> bool:
    return of != "agents" or job.records


def count_again(
    job: Job,
    shard: Shard,
    inputs: Mapping[str, Any],
    wanted: Mapping[str, Sequence[Sequence[int]]],
) -> dict[str, list[dict[int, Counts]]]:
    """The second pass for quartiles: over the shard's file, or over a second run of
    it."""
    model = _prepared(job)
    written = job.files.names if job.files is not None else ()
    values = {}
    if any(name not in written for name in wanted):
        run = _run(job, model, shard, inputs)
        values = {name: run[name] for name in wanted}
    found = {}
    for name, uppers in wanted.items():
        own: Field = model.outputs[name]
        if job.files is not None and name in written:
            values[name] = job.files.read(own, shard.number)
        found[name] = lower_of(own, values[name], uppers)
    return found
