"""Sweeps: many runs of a model with other params or seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._manifest import Field, Param
from ._report import Report, report_of
from ._run import Series, nearest, spellings
from ._tables import Tabular
from ._text import count
from .errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ._model import Model
    from ._simc import NativeSweep

_MOST_RUNS = 1_000_000
"""Most runs of a sweep, as on the command line."""


@dataclass(frozen=True)
class SweptStatistics:
    """Statistics of an output at each point. Each array has the shape of the grid, and after it
    that of the output's elements."""

    count: NDArray[np.int64]
    nan: NDArray[np.int64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    std_error: NDArray[np.float64]
    min: NDArray[np.float64]
    q25: NDArray[np.float64]
    median: NDArray[np.float64]
    q75: NDArray[np.float64]
    max: NDArray[np.float64]


_ORDER = ("count", "nan", "mean", "std", "std_error", "min", "q25", "median", "q75", "max")
"""The numbers of a row, as the native module has them."""

_COLUMNS = {
    "mean": "mean",
    "std_err": "std_error",
    "std_dev": "std",
    "min": "min",
    "q0.25": "q25",
    "q0.5": "median",
    "q0.75": "q75",
    "max": "max",
    "count": "count",
    "nan": "nan",
}
"""The columns of a table, named and ordered as the command line has them."""


class _Statistics(Mapping[str, NDArray[np.float64]]):
    """Those of the native module, computed when they are asked for."""

    def __init__(self, native: NativeSweep) -> None:
        self._native = native
        self._known: dict[str, NDArray[np.float64]] = {}

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name not in self._known:
            table = self._native.statistics(name)
            if table is None:
                raise KeyError(name)
            self._known[name] = table
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.names)

    def __len__(self) -> int:
        return len(self._native.names)


@dataclass(frozen=True)
class Points:
    """What the runs of a sweep gave, one after the other."""

    statistics: Mapping[str, NDArray[np.float64]]
    """By output, of shape ``(points, rows, 10)``: see `_ORDER`."""
    series: list[tuple[str, str, NDArray[np.uint32], NDArray[Any]]]
    """The name of each, of whom it is, its steps, and its values by point."""
    report: dict[str, Any]
    """Of the first run."""
    agent_steps: int
    """Of all runs."""

    @staticmethod
    def of(native: NativeSweep) -> Points:
        """What the native module has found."""
        report = native.report()
        return Points(_Statistics(native), native.series(), report or {}, native.agent_steps)


class Sweep(Tabular, Mapping[str, SweptStatistics]):
    """The results of a sweep: a mapping of output names to statistics at each point."""

    def __init__(
        self,
        model: Model,
        axes: dict[str, NDArray[Any]],
        shape: tuple[int, ...],
        points: dict[str, NDArray[Any]],
        found: Points,
    ) -> None:
        self.model = model
        self.axes = axes
        """The values of each param that was swept, and of ``seed``."""
        self.shape = shape
        """The shape of the grid: a dimension per axis, or one with ``zip=True``."""
        self.points = points
        """By name the value at each point, in row-major order of the grid."""
        self._found = found

    def __getitem__(self, name: str) -> SweptStatistics:
        table = self._found.statistics.get(name)
        if table is None:
            known = self._found.statistics
            raise UnknownNameError(
                "E0701", f"the model has no output `{name}`", nearest(name, known, "output")
            )
        field = self.model.outputs[name]
        elements = field.shape if table.shape[1] == int(np.prod(field.shape, dtype=int)) else ()
        columns: dict[str, NDArray[Any]] = {}
        for at, each in enumerate(_ORDER):
            values = table[:, :, at]
            if each in ("count", "nan"):
                values = values.astype(np.int64)
            columns[each] = values.reshape(self.shape + elements)
        return SweptStatistics(**columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found.statistics)

    def __len__(self) -> int:
        return len(self._found.statistics)

    def mean(self, name: str) -> NDArray[np.float64]:
        """The mean of an output at each point."""
        return self[name].mean

    def observed(self, name: str) -> Series:
        """What was observed at each point: values of shape ``(grid…, samples, …)``."""
        for own, of, steps, values in self._found.series:
            if own == name:
                return Series(own, of, steps, values.reshape(self.shape + values.shape[1:]))
        known = [each[0] for each in self._found.series]
        raise UnknownNameError(
            "E0701", f"the model has no observation `{name}`", nearest(name, known, "observation")
        )

    def plot(self, *names: str, ax: Any = None, statistic: str = "mean") -> Figure:
        """Draws the results over what was swept: see `simc.plot.sweep`."""
        from . import plot

        return plot.sweep(self, *names, ax=ax, statistic=statistic)

    @cached_property
    def report(self) -> Report:
        """How the first point was run; ``agent_steps`` are those of all points."""
        return report_of(dict(self._found.report), (self._found.agent_steps, 0))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table that ``simc run --sweep`` writes: a row per point, with the params and the
        statistics of each output."""
        rows = int(np.prod(self.shape, dtype=int))
        table: dict[str, NDArray[Any]] = {"point": np.arange(rows, dtype=np.uint32)}
        for name, field in self.model.outputs.items():
            statistics = self._found.statistics[name]
            names = spellings(name, field.shape, field.is_vector)
            names = names if len(names) == statistics.shape[1] else [name]
            for row, spelled in enumerate(names):
                for column, each in _COLUMNS.items():
                    values = statistics[:, row, _ORDER.index(each)]
                    if each in ("count", "nan"):
                        values = values.astype(np.int64)
                    table[f"{spelled}.{column}"] = np.ascontiguousarray(values)
        axes: dict[str, NDArray[Any]] = {}
        for name, values in self.points.items():
            axes[f"param.{name}" if name in table else name] = values
        point = table.pop("point")
        return {"point": point, **axes, **table}

    def _repr_html_(self) -> str:
        return self._html(20)

    def __repr__(self) -> str:
        points = int(np.prod(self.shape, dtype=int))
        axes = ", ".join(f"{name} ({len(values)})" for name, values in self.axes.items())
        return f"<simc.Sweep of {self.model.name}: {count(points)} points over {axes}>"


def sweep(
    model: Model,
    settings: dict[str, Any],
    seed: Any,
    given: Mapping[str, Any],
    together: bool,
    handles_signals: bool,
    progress: Any,
) -> Sweep:
    """Runs a sweep over those of the values that are sequences of what a param takes."""
    plan = planned(model, seed, given, together)
    call = (settings, plan.fixed, handles_signals, progress)
    found = Points.of(model._native.sweep(call, plan.seeds, plan.params))
    return Sweep(model, plan.axes, plan.shape, plan.points, found)


class Planned(NamedTuple):
    """The points of a sweep."""

    axes: dict[str, NDArray[Any]]
    shape: tuple[int, ...]
    points: dict[str, NDArray[Any]]
    fixed: dict[str, Any]
    """What all points are given, with the params of the first one."""
    seeds: list[int]
    """By point."""
    params: dict[str, NDArray[Any]]
    """By point, of the params that are swept."""


def planned(model: Model, seed: Any, given: Mapping[str, Any], together: bool) -> Planned:
    """Finds out what is swept."""
    axes: dict[str, NDArray[Any]] = {}
    fixed: dict[str, Any] = {}
    for name, value in given.items():
        param = model.params.get(name)
        values = None if param is None else _axis(param, value)
        if values is None:
            fixed[name] = value
        else:
            axes[name] = values
    seeds = _seeds(seed)
    if seeds is not None:
        if "seed" in axes:
            raise RunError("E0701", "a param `seed` and the seeds are swept", "sweep one of them")
        axes["seed"] = seeds
    if not axes:
        raise RunError(
            "sweep",
            "nothing is swept",
            "give a param several values, as in `sigma=[0.1, 0.2]`; `run` runs a single point",
        )
    lengths = [len(values) for values in axes.values()]
    shape, chosen = _grid(axes, lengths, together)
    points = {name: values[at] for (name, values), at in zip(axes.items(), chosen, strict=True)}
    rows = len(chosen[0])
    each_seed = [seed] * rows if seeds is None else [int(one) for one in points["seed"]]
    params = {name: values for name, values in points.items() if name in model.params}
    # A launch is complete without what its variations say.
    fixed.update({name: values[0] for name, values in params.items()})
    return Planned(axes, shape, points, fixed, each_seed, params)


def _axis(param: Param, value: Any) -> NDArray[Any] | None:
    """The values of a param, if there are several."""
    if isinstance(value, (str, bytes, bool, int, float)):
        return None
    array = np.asarray([_number(param, each) for each in value] if _names(param, value) else value)
    if array.ndim != len(param.shape) + 1:
        return None
    if not len(array):
        raise RunError("sweep", f"param `{param.name}` has no values", "give at least one")
    if array.shape[1:] != param.shape:
        raise RunError(
            "E0704",
            f"param `{param.name}` needs values of shape {list(param.shape)}, "
            f"but was given some of shape {list(array.shape[1:])}",
            "the first dimension counts the values, the others are those of the param",
        )
    return array


def _names(param: Field, value: Any) -> bool:
    """Are these names of an enum's variants?"""
    return bool(param.variants) and any(isinstance(each, str) for each in value)


def _number(param: Field, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value not in param.variants:
        raise RunError(
            "E0707",
            f"param `{param.name}` has no variant `{value}`",
            f"its variants are {', '.join(param.variants)}",
        )
    return param.variants.index(value)


def _seeds(seed: Any) -> NDArray[np.uint64] | None:
    """The seeds, if there are several."""
    if np.ndim(seed) == 0:
        return None
    from ._model import seed_of

    seeds = np.array([seed_of(each) for each in seed], dtype=np.uint64)
    if not len(seeds):
        raise RunError("sweep", "there is no seed", "give at least one")
    return seeds


def _grid(
    axes: dict[str, NDArray[Any]], lengths: list[int], together: bool
) -> tuple[tuple[int, ...], list[NDArray[np.intp]]]:
    """The shape of the grid, and for each axis which of its values a point has."""
    if together:
        if len(set(lengths)) > 1:
            sizes = ", ".join(f"{name} {len(values)}" for name, values in axes.items())
            raise RunError(
                "sweep",
                f"with `zip=True` all have as many values, but here are {sizes}",
                "give as many values of each, or leave `zip` out for a grid",
            )
        shape: tuple[int, ...] = (lengths[0],)
    else:
        shape = tuple(lengths)
    runs = math.prod(shape)
    if runs > _MOST_RUNS:
        raise RunError(
            "sweep",
            f"the sweep has {runs:,} runs, and may have {_MOST_RUNS:,}",
            "sweep fewer values, or in parts",
        )
    if together:
        return shape, [np.arange(runs) for _ in axes]
    return shape, [at.ravel() for at in np.indices(shape)]
