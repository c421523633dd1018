"""Runs whose shards are computed elsewhere, and what their results add up to."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ._manifest import Field, SeriesField
from ._model import Model, _count, _shown, seed_of
from ._parquet import Files
from ._progress import Progress
from ._run import Array, Series, Summary, nearest, not_kept
from ._shards import (
    Device,
    Job,
    Part,
    ShardReport,
    count_again,
    inputs_of,
    launch_of,
    refuse_doubles,
    shards_of,
    sweep_points,
    work,
)
from ._sweep import Planned, Points, Sweep
from ._tallies import (
    Histogram,
    Rank,
    Tally,
    histogram_of,
    lower_of,
    quartiles_of,
    ranks_of,
    rows_of,
    summary_of,
)
from ._text import count, duration
from .errors import RunError, UnknownNameError

_MOST_AGENTS = 1 << 24
"""Most agents of a shard by default."""

_PER_SLOT = 4
"""Shards by default for each that runs at a time, so that slower machines get fewer."""


class Executor(Protocol):
    """What runs functions on a cluster."""

    def slots(self) -> int:
        """How many calls run at a time."""
        ...

    def share(self, value: Any) -> Any:
        """What stands for a value in calls, so that a machine gets it once."""

    def results(
        self, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """The results of calls with their places, as they come. Calls that are lost with their
        process or machine are repeated."""
        ...


@dataclass(frozen=True)
class ShardedReport:
    """How a run in shards was done."""

    agents: int
    steps: int
    seed: int
    backend: str
    shards: tuple[ShardReport, ...]
    seconds: float
    """From the first shard to the last, statistics included."""
    passes: int
    """How often values were computed or read: twice where quartiles needed it."""

    @property
    def agent_steps(self) -> int:
        """Steps of all agents together."""
        return sum(shard.agent_steps for shard in self.shards)

    @property
    def stopped_agents(self) -> int:
        """How many agents executed ``stop``."""
        return sum(shard.stopped_agents for shard in self.shards)

    @property
    def agent_steps_per_second(self) -> float:
        """The speed of all shards together."""
        return self.agent_steps / self.seconds if self.seconds > 0 else 0.0

    def __str__(self) -> str:
        workers = {(shard.node, shard.process) for shard in self.shards}
        nodes = {shard.node for shard in self.shards}
        lines = [
            ("backend", self.backend),
            ("agents", count(self.agents)),
            ("steps", count(self.steps)),
            ("seed", str(self.seed)),
            (
                "shards",
                f"{len(self.shards)}, by {len(workers)} processes on {len(nodes)} machines",
            ),
            ("time", duration(self.seconds)),
            ("speed", f"{self.agent_steps_per_second:.3g} agent-steps/s"),
        ]
        return "\n".join(f"{name:<8}  {value}" for name, value in lines)


class ShardedRun(Mapping[str, Array]):
    """The results of a run in shards, with the bits of one run of all agents: a mapping of the
    outputs that were kept to NumPy arrays, a row per agent (or world)."""

    def __init__(
        self,
        model: Model,
        arrays: dict[str, Array],
        series: tuple[Series, ...],
        summary: Summary | None,
        histograms: dict[str, Histogram],
        report: ShardedReport,
        files: Files | None,
    ) -> None:
        self.model = model
        """The model that was run."""
        self.report = report
        """How the run was done, shard by shard."""
        self.series = series
        """What was observed, and recorded if outputs were kept."""
        self.histograms = histograms
        """By output the histogram that was asked for."""
        self._arrays = arrays
        self._summary = summary
        self._files = files

    def __getitem__(self, name: str) -> Array:
        if name in self._arrays:
            return self._arrays[name]
        known = self.model.outputs
        if name not in known:
            raise UnknownNameError(
                "E0701", f"the model has no output `{name}`", nearest(name, known, "output")
            )
        if self._files is not None:
            raise RunError(
                "E0716", f"output `{name}` is in files", "read `dataset()`, or run without `out`"
            )
        raise not_kept(f"output `{name}`")

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def summary(self) -> Summary:
        """Statistics of all outputs, with the bits of those of one run."""
        if self._summary is None:
            raise RunError("shard", "no statistics were taken", "run with `statistics=True`")
        return self._summary

    def observed(self, name: str) -> Series:
        """What was observed of all agents, or of each world, under a name."""
        return self._named(name, "observation", ("population", "worlds"))

    def record(self, name: str) -> Series:
        """What was recorded of each agent under a name."""
        return self._named(name, "record", ("agents",))

    def _named(self, name: str, role: str, of: tuple[str, ...]) -> Series:
        for each in self.series:
            if each.name == name and each.of in of:
                return each
        known = [each.name for each in self.model.series if each.of in of]
        if name in known:
            raise RunError("E0716", f"{role} `{name}` is not kept", "run with `records=True`")
        raise UnknownNameError(
            "E0701", f"the model has no {role} `{name}`", nearest(name, known, role)
        )

    def dataset(self) -> Any:
        """The Parquet files as a ``pyarrow.dataset.Dataset``, in the order of agents."""
        if self._files is None:
            raise RunError("shard", "no files were written", "run with `out='directory'`")
        import pyarrow.dataset

        return pyarrow.dataset.dataset(self._files.directory, format="parquet")

    def __repr__(self) -> str:
        report = self.report
        return (
            f"<simc.ShardedRun of {self.model.name}: {count(report.agents)} agents, "
            f"{count(report.steps)} steps, {len(report.shards)} shards, {report.backend}>"
        )

    def _repr_html_(self) -> str:
        return self._summary._repr_html_() if self._summary is not None else repr(self)


@dataclass(frozen=True)
class Wanted:
    """What a run in shards is asked for."""

    agents: int | None
    steps: int | None
    seed: int
    backend: str
    adapter: str | None
    world: int | None
    shards: int | None
    outputs: Sequence[str] | None
    out: str | None
    statistics: bool
    quartiles: bool
    histograms: Mapping[str, tuple[float, float, int]] | None
    records: bool | None
    check: bool
    progress: bool | Progress
    threads: int | None


def number_of_shards(
    executor: Executor, agents: int, wanted: int | None, per_slot: int = _PER_SLOT
) -> int:
    """The most shards of a population."""
    if wanted is None:
        return max(per_slot * executor.slots(), -(-agents // _MOST_AGENTS))
    if wanted < 1:
        raise RunError("E0703", f"`shards` is {wanted}, and is at least 1", "shards=8")
    return wanted


def run(executor: Executor, model: Model, wanted: Wanted, given: Mapping[str, Any]) -> ShardedRun:
    """Runs a model in shards."""
    agents = model.agents if wanted.agents is None else _count("agents", wanted.agents)
    if agents is None or agents < 1:
        raise RunError("E0704", "the number of agents is missing", "agents=1_000_000")
    refuse_doubles(model)
    number = number_of_shards(executor, agents, wanted.shards)
    shards = shards_of(model, agents, wanted.world, number)
    job = _job(model, wanted, given, agents, len(shards))
    own = {name: value for name, value in given.items() if name in model.inputs}
    inputs = inputs_of(model, own, agents, wanted.world, shards)
    if job.files is not None:
        job.files.prepare()
    started = time.perf_counter()
    shared = executor.share(job)
    calls = [(shared, shard, part) for shard, part in zip(shards, inputs, strict=True)]
    collected = _Collected(model, job, agents, wanted.world)
    steps = 0
    with _shown(wanted.progress) as report:
        for _, part in executor.results(work, calls):
            collected.add(part)
            steps = part.report.steps
            if report is not None:
                report(collected.agents * steps, agents * steps)
    parts = collected.in_order()
    refuse_mixture(
        Device(each.number, each.node, each.backend, each.adapter, each.driver)
        for each in (part.report for part in parts)
    )
    _look_for_files(parts)
    summary = None
    passes = 1
    if wanted.statistics:
        around, passes = _quartiles(executor, model, job, collected, calls)
        tallies = {name: [part.tallies[name] for part in parts] for name in job.counted}
        fields = [model.outputs[name] for name in job.counted]
        summary = summary_of(model._native, fields, tallies, around)
    found = ShardedRun(
        model,
        collected.arrays,
        _series(model, parts, agents),
        summary,
        {
            name: histogram_of(model.outputs[name], bins, [part.bins[name] for part in parts])
            for name, bins in job.histograms.items()
        },
        ShardedReport(
            agents=agents,
            steps=steps,
            seed=wanted.seed,
            backend=parts[0].report.backend,
            shards=tuple(part.report for part in parts),
            seconds=time.perf_counter() - started,
            passes=passes,
        ),
        job.files,
    )
    if job.files is not None:
        job.files.finish(_about(model, job, found.report))
    return found


def _job(model: Model, wanted: Wanted, given: Mapping[str, Any], agents: int, shards: int) -> Job:
    from . import __version__

    names = tuple(model.outputs) if wanted.outputs is None else tuple(wanted.outputs)
    histograms = dict(wanted.histograms or {})
    for name in (*names, *histograms):
        if name not in model.outputs:
            raise UnknownNameError(
                "E0701",
                f"the model has no output `{name}`",
                nearest(name, model.outputs, "output"),
            )
    for name, (low, high, bins) in histograms.items():
        if not (np.isfinite(low) and np.isfinite(high) and low < high and bins >= 1):
            raise RunError(
                "E0703",
                f"the histogram of `{name}` is ({low}, {high}, {bins})",
                "give two finite ends in order, and how many bins lie between",
            )
    settings: dict[str, Any] = {
        "steps": wanted.steps,
        "seed": seed_of(wanted.seed),
        "backend": wanted.backend,
        "adapter": wanted.adapter,
        "world": wanted.world,
        "population": agents,
        "check": wanted.check,
    }
    params = {name: value for name, value in given.items() if name in model.params}
    data = {name: value for name, value in given.items() if name in model.data}
    files = None
    if wanted.out is not None:
        # Other processes have other working directories.
        directory = os.path.abspath(wanted.out)
        files = Files(directory, max(5, len(str(shards - 1))), names)
    keeps = files is None
    return Job(
        source=model.source,
        name=model.name,
        options=model._options,
        version=__version__,
        settings=settings,
        params=params,
        data=data,
        kept=names if keeps else (),
        counted=tuple(model.outputs) if wanted.statistics else (),
        quartiles=wanted.quartiles,
        histograms=histograms,
        records=keeps and bool(names) if wanted.records is None else wanted.records,
        files=files,
        threads=wanted.threads,
    )


def sweep(
    executor: Executor,
    model: Model,
    settings: dict[str, Any],
    plan: Planned,
    tasks: int | None,
    threads: int | None,
    progress: bool | Progress,
) -> Sweep:
    """Runs a sweep whose points are distributed in as many tasks."""
    points = len(plan.seeds)
    number = min(points, _PER_SLOT * executor.slots() if tasks is None else tasks)
    if number < 1:
        raise RunError("E0703", f"`tasks` is {number}, and is at least 1", "tasks=8")
    shared = executor.share(launch_of(model, settings, plan.fixed, threads))
    ends = [points * at // number for at in range(number + 1)]
    calls = []
    for first, last in itertools.pairwise(ends):
        params = {name: values[first:last] for name, values in plan.params.items()}
        calls.append((shared, plan.seeds[first:last], params))
    parts: dict[int, Points] = {}
    done = 0
    with _shown(progress) as report:
        for place, part in executor.results(sweep_points, calls):
            parts[place] = part
            done += ends[place + 1] - ends[place]
            if report is not None:
                steps = part.report["agents"] * part.report["steps"]
                report(done * steps, points * steps)
    in_order = [parts[place] for place in range(number)]
    return Sweep(model, plan.axes, plan.shape, plan.points, _joined(in_order))


def _joined(parts: Sequence[Points]) -> Points:
    """What the runs of all parts gave."""
    first = parts[0]
    series = []
    for at, (name, of, steps, _) in enumerate(first.series):
        values = np.concatenate([part.series[at][3] for part in parts])
        series.append((name, of, steps, values))
    return Points(
        statistics={
            name: np.concatenate([part.statistics[name] for part in parts])
            for name in first.statistics
        },
        series=series,
        report=first.report,
        agent_steps=sum(part.agent_steps for part in parts),
    )


class _Collected:
    """The parts so far. Arrays of shards are copied to their places in those of all agents."""

    def __init__(self, model: Model, job: Job, agents: int, world: int | None) -> None:
        self.agents = 0
        self.arrays: dict[str, Array] = {}
        self._parts: dict[int, Part] = {}
        members = world or model._manifest.world or 1
        self._rows: dict[str, tuple[int, int]] = {}
        for name in job.kept:
            field = model.outputs[name]
            each = members if field.of_world else 1
            self._rows[name] = (each, agents // each)
            self.arrays[name] = np.empty((agents // each, *field.shape), dtype=field.dtype)

    def add(self, part: Part) -> None:
        for name, values in part.arrays.items():
            each, _ = self._rows[name]
            first = part.report.first_agent // each
            self.arrays[name][first : first + len(values)] = values
        part.arrays = {}
        self._parts[part.report.number] = part
        self.agents += part.report.agents

    def in_order(self) -> list[Part]:
        return [self._parts[number] for number in range(len(self._parts))]


def refuse_mixture(devices: Iterable[Device]) -> None:
    """Refuses results of unlike devices, which differ in the last bits of floats."""
    seen = {(each.backend, each.adapter, each.driver): each for each in devices}
    if len(seen) > 1:
        one, other = list(seen.values())[:2]

        def said(of: Device) -> str:
            device = f"{of.adapter}, {of.driver}" if of.adapter else of.backend
            return f"shard {of.number} ran on {of.node} ({device})"

        raise RunError(
            "shard",
            f"the shards ran on unlike devices: {said(one)}, {said(other)}",
            "results differ in the last bits of floats then: choose one kind by `resources`, "
            "or `backend='cpu'`",
        )


def _look_for_files(parts: Sequence[Part]) -> None:
    """Refuses files that other machines keep for themselves."""
    for part in parts:
        file = part.report.file
        if file is not None and not os.path.exists(file):
            raise RunError(
                "file",
                f"{file}, which {part.report.node} has written, is not seen from here",
                "give a directory that all machines share",
            )


def _quartiles(
    executor: Executor,
    model: Model,
    job: Job,
    collected: _Collected,
    calls: Sequence[tuple[Any, ...]],
) -> tuple[dict[str, list[list[float]]], int]:
    """By output and row the values on both sides of each quartile; and the number of passes."""
    if not job.quartiles:
        return {}, 1
    parts = collected.in_order()
    ranks: dict[str, list[tuple[list[Rank], dict[int, int]]]] = {}
    for name in job.counted:
        tallies: list[Tally] = [part.tallies[name] for part in parts]
        rows = range(rows_of(model.outputs[name]))
        ranks[name] = [ranks_of(tallies, row) for row in rows]
    uppers = {name: [list(sizes) for _, sizes in rows] for name, rows in ranks.items()}
    counts: dict[str, list[list[dict[int, Any]]]] = {name: [] for name in job.counted}
    for name, values in collected.arrays.items():
        if name in uppers:
            counts[name] = [lower_of(model.outputs[name], values, uppers[name])]
    passes = 1
    missing = [name for name in job.counted if name not in collected.arrays]
    if missing:
        passes = 2
        wanted = executor.share({name: uppers[name] for name in missing})
        again = [(*call, wanted) for call in calls]
        for _, found in executor.results(count_again, again):
            for name, rows_found in found.items():
                counts[name].append(rows_found)
    around: dict[str, list[list[float]]] = {}
    for name in job.counted:
        field: Field = model.outputs[name]
        around[name] = [
            quartiles_of(field, of_row, sizes, [part[row] for part in counts[name]])
            for row, (of_row, sizes) in enumerate(ranks[name])
        ]
    return around, passes


def _series(model: Model, parts: Sequence[Part], agents: int) -> tuple[Series, ...]:
    merged = []
    for at, field in enumerate(model.series):
        name, of, steps, _ = parts[0].series[at]
        values = [part.series[at][3] for part in parts]
        if any(each is None for each in values):
            continue
        arrays = [each for each in values if each is not None]
        if of != "population":
            joined = np.concatenate(arrays, axis=1)
        elif field.fold == "mean":
            total = _tree([part.sums[name] for part in parts], np.add)
            joined = total / np.float32(agents)
        else:
            joined = _tree(arrays, _both(field))
        merged.append(Series(name, of, steps, joined))
    return tuple(merged)


Both = Callable[[Any, Any], Any]


def _both(field: SeriesField) -> Both:
    """What combines the values of two shards, as the runtime does."""
    if field.fold == "min":
        return lambda one, other: np.where(other < one, other, one)
    if field.fold == "max":
        return lambda one, other: np.where(one < other, other, one)
    if field.fold == "any":
        return np.logical_or
    if field.fold == "all":
        return np.logical_and
    # Sums, counts and histograms, whose integers wrap as those of the runtime do.
    return np.add


def _tree(arrays: list[NDArray[Any]], both: Both) -> NDArray[Any]:
    """Neighbours first; a last one without a neighbour stays."""
    level = arrays
    with np.errstate(all="ignore"):
        while len(level) > 1:
            pairs = [both(level[at], level[at + 1]) for at in range(0, len(level) - 1, 2)]
            level = pairs + level[len(pairs) * 2 :]
    return level[0]


def _about(model: Model, job: Job, report: ShardedReport) -> dict[str, Any]:
    """What stands beside the files of a run."""
    return {
        "simc": job.version,
        "model": model.name,
        "seed": report.seed,
        "agents": report.agents,
        "steps": report.steps,
        "backend": report.backend,
        "params": {name: np.asarray(each).tolist() for name, each in job.params.items()},
        "agent_steps": report.agent_steps,
        "shards": [
            {"first_agent": shard.first_agent, "agents": shard.agents, "file": shard.file}
            for shard in report.shards
        ],
    }
