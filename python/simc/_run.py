"""The results of a run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._report import Report, report_of
from ._tables import Tabular
from ._text import count, html_table, significant, text_table
from .errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from ._model import Model
    from ._simc import NativeRun

Array = NDArray[Any]


@dataclass(frozen=True, repr=False)
class Series:
    """What was recorded or observed under a name: a sample before the first step, then after every
    so many. It is an array for NumPy."""

    name: str
    of: str
    """``agents`` (``record``), ``worlds`` or ``population`` (``observe``)."""
    steps: NDArray[np.uint32]
    """By sample the number of steps before it, 0 for the first."""
    values: Array
    """``(samples, agents, …)`` of agents, ``(samples, worlds, …)`` of worlds, else
    ``(samples, …)``."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        if copy:
            return np.array(self.values, dtype=dtype)
        return np.asarray(self.values, dtype=dtype)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, at: Any) -> Any:
        return self.values[at]

    def __repr__(self) -> str:
        return (
            f"<simc.Series {self.name!r} of {self.of}: {len(self.steps)} samples, "
            f"shape {self.values.shape}, {self.values.dtype}>"
        )


@dataclass(frozen=True)
class Statistics:
    """Statistics of one element of an output over all agents, or worlds."""

    name: str
    """The element: ``price``, ``path[3]``, ``place.x``."""
    elements: int
    """Values of an agent that the row is about: 1, or all if there are many."""
    of_world: bool
    count: int
    """Values that are not NaN."""
    nan: int
    mean: float | None
    std_error: float | None
    std: float | None
    """The sample standard deviation (divisor n - 1)."""
    min: float | None
    q25: float | None
    median: float | None
    q75: float | None
    max: float | None


class Summary:
    """Statistics of all outputs: a table in a terminal and in a notebook, and a sequence of
    :class:`Statistics`."""

    def __init__(self, rows: list[Statistics]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Statistics]:
        return iter(self.rows)

    def __getitem__(self, name: str | int) -> Statistics:
        if isinstance(name, int):
            return self.rows[name]
        for row in self.rows:
            if row.name == name:
                return row
        raise UnknownNameError(
            "E0701",
            f"the summary has no row `{name}`",
            nearest(name, [row.name for row in self.rows], "row"),
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        has_nan = any(row.nan for row in self.rows)
        head = ["output", "count", "mean", "std err", "std dev", "min"]
        head += ["25 %", "median", "75 %", "max"]
        rows = []
        for row in self.rows:
            name = f"world {row.name}" if row.of_world else row.name
            if row.elements > 1:
                name += f" (all {row.elements} values)"
            numbers = [
                significant(row.mean, 7),
                significant(row.std_error, 3),
                *(
                    significant(each, 6)
                    for each in (row.std, row.min, row.q25, row.median, row.q75, row.max)
                ),
            ]
            rows.append([name, count(row.count), *numbers, *([count(row.nan)] if has_nan else [])])
        return [*head, "NaN"] if has_nan else head, rows

    def __repr__(self) -> str:
        if not self.rows:
            return "the model has no outputs"
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


class Run(Tabular, Mapping[str, Array]):
    """The results of a run: a mapping of output names to NumPy arrays, a row per agent (or world).

    The arrays are the memory that the run was computed into: nothing was copied. What you write to
    them, the run shows.
    """

    def __init__(self, model: Model, native: NativeRun) -> None:
        self._native = native
        self.model = model
        """The model that was run."""

    def __getitem__(self, name: str) -> Array:
        native = self._native
        found = native.outputs.get(name)
        if found is None:
            found = native.world_outputs.get(name)
        if found is None:
            raise self._missing(name)
        return found

    def __iter__(self) -> Iterator[str]:
        yield from self._native.outputs
        yield from self._native.world_outputs

    def __len__(self) -> int:
        return len(self._native.outputs) + len(self._native.world_outputs)

    @property
    def outputs(self) -> dict[str, Array]:
        """The outputs of agents by name, without those of worlds."""
        return self._native.outputs

    @property
    def world_outputs(self) -> dict[str, Array]:
        """The outputs of worlds by name."""
        return self._native.world_outputs

    @property
    def states(self) -> dict[str, Array]:
        """The states after the last step by name; empty with ``keep_states=False``."""
        return self._native.states

    @property
    def world_states(self) -> dict[str, Array]:
        """The states of worlds after the last step by name."""
        return self._native.world_states

    def state(self, name: str) -> Array:
        """A state of agents or worlds after the last step."""
        native = self._native
        for states in (native.states, native.world_states):
            if name in states:
                return states[name]
        known = self.model.states
        if name in known:
            raise RunError("E0712", f"state `{name}` is not kept", "run with `keep_states=True`")
        raise UnknownNameError(
            "E0701", f"the model has no state `{name}`", nearest(name, known, "state")
        )

    @cached_property
    def series(self) -> tuple[Series, ...]:
        """All that was recorded and observed, in the order of the model."""
        return tuple(Series(*each) for each in self._native.series)

    def record(self, name: str) -> Series:
        """What was recorded of each agent under a name."""
        return self._series(name, "record", ("agents",))

    def observed(self, name: str) -> Series:
        """What was observed of all agents, or of each world, under a name."""
        return self._series(name, "observation", ("population", "worlds"))

    @property
    def records(self) -> dict[str, Series]:
        """All records by name."""
        return {each.name: each for each in self.series if each.of == "agents"}

    @property
    def observations(self) -> dict[str, Series]:
        """All observations by name."""
        return {each.name: each for each in self.series if each.of != "agents"}

    def _series(self, name: str, role: str, of: tuple[str, ...]) -> Series:
        for each in self.series:
            if each.name == name and each.of in of:
                return each
        known = [each.name for each in self.series if each.of in of]
        raise UnknownNameError(
            "E0701", f"the model has no {role} `{name}`", nearest(name, known, role)
        )

    @cached_property
    def steps(self) -> NDArray[np.uint32]:
        """The number of steps that each agent ran: all, or fewer if it stopped."""
        self._kept("the number of its steps")
        return self._native.steps()

    @cached_property
    def stopped(self) -> NDArray[np.bool_]:
        """Whether each agent executed ``stop``."""
        self._kept("whether it stopped")
        return self._native.stopped()

    def summary(self) -> Summary:
        """Statistics of all outputs, those of the table that ``simc run`` prints."""
        rows = []
        for field in self.model.outputs.values():
            names = spellings(field.name, field.shape, field.is_vector)
            found = self._native.statistics(field.name)
            names = names if len(found) == len(names) else [field.name]
            elements = 1 if len(names) > 1 else int(np.prod(field.shape, dtype=int))
            for name, (number, nan, mean, std, error, five) in zip(names, found, strict=True):
                low, q25, median, q75, high = five or (None,) * 5
                rows.append(
                    Statistics(
                        name=name,
                        elements=elements,
                        of_world=field.of_world,
                        count=number,
                        nan=nan,
                        mean=mean,
                        std_error=error,
                        std=std,
                        min=low,
                        q25=q25,
                        median=median,
                        q75=q75,
                        max=high,
                    )
                )
        return Summary(rows)

    def quantiles(self, name: str, probabilities: Iterable[float]) -> Array:
        """Quantiles of an output, of shape ``(probabilities, elements…)``: interpolated as
        ``numpy.quantile`` does by default, without NaNs."""
        self[name]
        wanted = [float(each) for each in probabilities]
        found = self._native.quantiles(name, wanted)
        rows = [row or [np.nan] * len(wanted) for row in found]
        array = np.array(rows, dtype=np.float64).reshape(len(rows), len(wanted)).T
        return array[:, 0] if len(rows) == 1 else array

    def columns(self) -> dict[str, Array]:
        """The outputs of agents, a row per agent."""
        if not self._native.keeps_outputs():
            raise not_kept("a table of the outputs")
        return dict(self._native.outputs)

    @cached_property
    def report(self) -> Report:
        """How the run was done: backend, adapter, times, speed, telemetry."""
        return report_of(self._native.report(), self._native.totals())

    def __repr__(self) -> str:
        report = self.report
        agents, steps = count(report.agents), count(report.steps)
        return f"<simc.Run of {self.model.name}: {agents} agents, {steps} steps, {report.backend}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _kept(self, what: str) -> None:
        if not self._native.keeps_outputs():
            raise not_kept(what)

    def _missing(self, name: str) -> RunError:
        if name in self.model.outputs:
            return not_kept(f"output `{name}`")
        known = self.model.outputs
        return UnknownNameError(
            "E0701", f"the model has no output `{name}`", nearest(name, known, "output")
        )


def not_kept(what: str) -> RunError:
    """The error of what is asked of a run that has only statistics."""
    return RunError("E0716", f"{what} is not kept", "run with `keep_outputs=True`")


def nearest(name: str, known: Iterable[str], what: str) -> str:
    """A help line with the name that was meant, or with all."""
    known = list(known)
    close = difflib.get_close_matches(str(name), known, n=1)
    if close:
        return f"did you mean `{close[0]}`?"
    if not known:
        return f"the model has no {what}"
    return f"known: {', '.join(f'`{each}`' for each in known)}"


def spellings(name: str, shape: tuple[int, ...], is_vector: bool) -> list[str]:
    """The names of an array's elements in row-major order."""
    names = [name]
    for at, length in enumerate(shape):
        if is_vector and at == len(shape) - 1:
            names = [f"{each}.{part}" for each in names for part in "xyzw"[:length]]
        else:
            names = [f"{each}[{k}]" for each in names for k in range(length)]
    return names
