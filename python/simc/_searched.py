"""Searches whose candidates are evaluated elsewhere. What they have learned stays at the caller."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._model import Model, _on_main_thread, _shown
from ._progress import Progress
from ._results import Found
from ._sharded import Executor, number_of_shards, refuse_mixture
from ._shards import (
    Device,
    Launch,
    Shard,
    _aligned,
    _prepared,
    inputs_of,
    launch_of,
    refuse_doubles,
    shards_of,
)
from ._simc import NativeSearch, fitness
from .errors import RunError

_PER_SLOT = 2
"""Shards by default for each that runs at a time: fewer than of a run, since they are short, and
each costs some milliseconds in each generation."""


class Trials(NamedTuple):
    """Runs that a search wants the fitness of, or a part of them."""

    generation: int | None
    """None for those that compare the best at the end."""
    agents: int
    """Of each run."""
    seeds: Sequence[int]
    """A seed per run."""
    apart: bool
    """Whether each run has a genome of its own, which all its agents have."""
    inputs: Mapping[str, NDArray[Any]]
    """What is searched: a row per agent, or per run if those have genomes of their own."""


@dataclass(frozen=True)
class Part:
    """Some agents of all runs, or some runs. It travels to other processes."""

    output: str
    """The fitness."""
    shard: Shard
    """The agents."""
    population: int | None
    """The agents of a run, unless they are the part's own."""
    first_run: int
    trials: Trials


@dataclass(frozen=True)
class Evaluated:
    """The fitness in a part of some trials."""

    values: NDArray[np.float32]
    """Of shape ``(runs, agents)``."""
    device: Device
    steps: int
    """Steps of a run."""


def evaluate(job: Launch, inputs: Mapping[str, Any], part: Part) -> Evaluated:
    """Computes the fitness in a part of some trials. ``inputs`` are those that are not searched."""
    model = _prepared(job)
    settings: dict[str, Any] = {
        **job.settings,
        "agents": part.shard.agents,
        "first_agent": part.shard.first,
        "keep_states": False,
    }
    if part.population is not None:
        settings["population"] = part.population
    call = (settings, _aligned({**job.fixed, **inputs}), _on_main_thread(), None)
    trials = part.trials
    values, report = fitness(
        model._native,
        call,
        part.output,
        (list(trials.seeds), trials.apart, _aligned(trials.inputs)),
    )
    return Evaluated(
        values.reshape(len(trials.seeds), part.shard.agents),
        Device(
            part.shard.number,
            socket.gethostname(),
            report["backend"],
            report["adapter"],
            report["driver"],
        ),
        report["steps"],
    )


def search(
    executor: Executor,
    model: Model,
    settings: Mapping[str, Any],
    seed: int,
    asked: dict[str, Any],
    given: Mapping[str, Any],
    shards: int | None,
    threads: int | None,
    progress: bool | Progress,
) -> Found:
    """Searches as `Model.search` does, with the candidates of each generation distributed."""
    refuse_doubles(model)
    call = (dict(settings), dict(given), _on_main_thread(), None)
    native = NativeSearch(model._native, call, seed, asked)
    agents: int = settings.get("agents", model.agents)
    number = number_of_shards(executor, agents, shards, _PER_SLOT)
    searched = native.inputs()
    others = {name: value for name, value in given.items() if name not in searched}
    cut = shards_of(model, agents, settings.get("world"), number, observed=False)
    inputs: list[Any] = [{} for _ in range(number)]
    if not asked["common_draws"]:
        rows = {name: others.pop(name) for name in model.inputs if name in others}
        own = inputs_of(model, rows, agents, settings.get("world"), cut)
        inputs = [executor.share(each) if each else each for each in own]
    job = executor.share(launch_of(model, settings, others, threads))
    total = asked["generations"] * max(1, asked["evaluations"]) * agents
    done = 0
    devices: set[Device] = set()
    with _shown(progress) as report:
        while (wanted := native.ask()) is not None:
            trials = Trials(*wanted)
            values = np.empty((len(trials.seeds), trials.agents), dtype=np.float32)
            parts = _parts(asked["fitness"], trials, cut, number)
            calls = [(job, inputs[at], part) for at, part in enumerate(parts)]
            try:
                for at, found in executor.results(evaluate, calls):
                    devices.add(found.device)
                    refuse_mixture(devices)
                    run, agent = parts[at].first_run, parts[at].shard.first
                    runs, columns = found.values.shape
                    values[run : run + runs, agent : agent + columns] = found.values
                    if report is not None and trials.generation is not None:
                        done += found.values.size
                        report(done * found.steps, total * found.steps)
            except RunError:
                if trials.generation is None:
                    # What was found is not lost if these runs fail.
                    break
                raise
            native.tell(values.ravel())
    return Found(asked["fitness"], native.found())


def _parts(output: str, trials: Trials, cut: Sequence[Shard], number: int) -> list[Part]:
    """Cuts the agents of all runs as the population is cut, or distributes whole runs."""
    if not trials.apart:
        return [
            Part(
                output,
                shard,
                trials.agents,
                0,
                trials._replace(inputs=_rows(trials, shard.first, shard.first + shard.agents)),
            )
            for shard in cut
        ]
    runs = len(trials.seeds)
    number = min(number, runs)
    ends = [runs * at // number for at in range(number + 1)]
    return [
        Part(
            output,
            Shard(at, 0, trials.agents),
            None,
            first,
            trials._replace(seeds=trials.seeds[first:last], inputs=_rows(trials, first, last)),
        )
        for at, (first, last) in enumerate(itertools.pairwise(ends))
    ]


def _rows(trials: Trials, first: int, last: int) -> dict[str, NDArray[Any]]:
    return {name: rows[first:last] for name, rows in trials.inputs.items()}
