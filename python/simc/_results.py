"""What derivatives, fits and searches give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._run import nearest, spellings
from ._tables import Tabular
from ._text import html_table, significant, text_table
from .errors import UnknownNameError

if TYPE_CHECKING:
    from ._model import Model


class Slope(NamedTuple):
    """The derivative of a loss by one number."""

    wrt: str
    """The number: ``sigma``, ``weights[3]``, ``start.x``."""
    value: float
    std_error: float | None


class _Floats:
    """Finds the floats that belong to a name."""

    def __init__(self, model: Model, wrt: list[str]) -> None:
        self._model = model
        self._wrt = wrt

    def places(self, name: str) -> tuple[list[int], tuple[int, ...]]:
        """Where the floats of a name are, and their shape."""
        field = self._model._borders.get(name)
        if name in self._wrt:
            return [self._wrt.index(name)], ()
        if field is not None:
            names = spellings(name, field.shape, field.is_vector)
            if all(each in self._wrt for each in names):
                return [self._wrt.index(each) for each in names], field.shape
        raise UnknownNameError(
            "E0701",
            f"there is no derivative by `{name}`",
            nearest(name, self._wrt, "derivative"),
        )


class Gradient(Mapping[str, Any]):
    """A loss and its derivatives: a mapping of the names in ``wrt`` to a number, or to an array of
    the shape of the param."""

    def __init__(self, model: Model, of: str, found: dict[str, Any]) -> None:
        self.of = of
        """The loss, as it was asked for."""
        self.value: float = found["value"]
        """The value of the loss."""
        self.std_error: float | None = found["std_error"]
        """The standard error of the value as an estimate for a population without end."""
        self.slopes = tuple(Slope(*each) for each in found["slopes"])
        """A row per number."""
        self.mode: str = found["mode"]
        """``forward`` or ``reverse``."""
        self._floats = _Floats(model, [slope.wrt for slope in self.slopes])

    def _of(self, name: str, values: list[Any]) -> Any:
        places, shape = self._floats.places(name)
        if not shape:
            return values[places[0]]
        return np.array([values[at] for at in places], dtype=np.float64).reshape(shape)

    def __getitem__(self, name: str) -> Any:
        return self._of(name, [slope.value for slope in self.slopes])

    def error(self, name: str) -> Any:
        """The standard error of a derivative, in the shape of the derivative."""
        errors = (slope.std_error for slope in self.slopes)
        return self._of(name, [np.nan if error is None else error for error in errors])

    def __iter__(self) -> Iterator[str]:
        return iter(slope.wrt for slope in self.slopes)

    def __len__(self) -> int:
        return len(self.slopes)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = [[self.of, significant(self.value, 7), significant(self.std_error, 3)]]
        for slope in self.slopes:
            value, error = significant(slope.value, 7), significant(slope.std_error, 3)
            rows.append([f"by {slope.wrt}", value, error])
        return ["", "value", "std err"], rows

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())


class Derivatives(Mapping[str, NDArray[Any]]):
    """An output of each agent, and its derivatives: a mapping of the names in ``wrt`` to arrays of
    shape ``(agents, …)``. By an input it is the derivative by the agent's own value. Where agents
    depend on one another, it is that of the sum of all agents' outputs by the agent's own input.

    Of an output of worlds there is a row for each world, and the derivative by an input is that by
    a number which is added to the values of all agents of the world."""

    def __init__(self, model: Model, of: str, found: dict[str, Any]) -> None:
        self.of = of
        self.values_of_agents: NDArray[Any] = found["values"]
        """The output of each agent."""
        self.wrt: list[str] = found["wrt"]
        """The numbers that derivatives are taken by."""
        self.joint: bool = found["joint"]
        """Whether agents depend on one another, or the output is one of worlds: the derivative by
        an input is then not that of the agent's output alone."""
        self._each: list[NDArray[Any]] = found["derivatives"]
        self._floats = _Floats(model, self.wrt)

    def __getitem__(self, name: str) -> NDArray[Any]:
        places, shape = self._floats.places(name)
        if not shape:
            return self._each[places[0]]
        columns = np.stack([self._each[at] for at in places], axis=1)
        return columns.reshape(len(columns), *shape)

    def __iter__(self) -> Iterator[str]:
        return iter(self.wrt)

    def __len__(self) -> int:
        return len(self.wrt)

    def __repr__(self) -> str:
        agents = len(self.values_of_agents)
        return f"<simc.Derivatives of {self.of} by {', '.join(self.wrt)}: {agents:,} agents>"


@dataclass(frozen=True)
class Estimate:
    """A param after a fit."""

    name: str
    value: float
    std_error: float | None
    """Of least squares, where the residuals determine the param."""
    at_bound: bool
    """Whether the search ended at an end of the param's range."""
    before: float
    """The value with which the fit began."""


class Fit:
    """What a fit found. ``model.run(**fit.params)`` runs the model with it."""

    def __init__(self, model: Model, goal: str, found: dict[str, Any]) -> None:
        self.goal = goal
        """What was made small."""
        self.estimates = tuple(Estimate(*each) for each in found["estimates"])
        """A row per number."""
        self.loss: float = found["loss"]
        """The loss there, or the sum of squares."""
        self.gradient_norm: float | None = found["gradient_norm"]
        self.residuals: int | None = found["residuals"]
        """Of least squares, the number of residuals."""
        correlation = found["correlation"]
        self.correlation = None if correlation is None else np.array(correlation)
        """Of least squares, the correlations of the estimates."""
        self.losses: list[float] = found["losses"]
        """The least loss of each search."""
        self.iterations: int = found["iterations"]
        self.evaluations: int = found["evaluations"]
        """Runs of the model."""
        self.ended: str = found["ended"]
        """Why the search ended: ``gradient``, ``loss``, ``step`` or ``iterations``."""
        self.history: list[tuple[int, int, int, float]] = found["history"]
        """By iteration: search, iteration, runs so far, loss."""
        self._model = model

    @property
    def params(self) -> dict[str, Any]:
        """The params at the least loss, for `run`: numbers, and whole arrays."""
        found: dict[str, Any] = {}
        values = {each.name: each.value for each in self.estimates}
        for name, param in self._model.params.items():
            names = spellings(name, param.shape, param.is_vector)
            own = [each for each in names if each in values]
            if not own:
                continue
            if not param.shape:
                found[name] = values[name]
                continue
            start = {each.name: each.before for each in self.estimates}
            default = None if param.default is None else np.ravel(param.default)
            array = []
            for at, each in enumerate(names):
                if each in values:
                    array.append(values[each])
                else:
                    array.append(start.get(each, 0.0 if default is None else float(default[at])))
            found[name] = np.array(array, dtype=param.dtype).reshape(param.shape)
        return found

    def __getitem__(self, name: str) -> float:
        for each in self.estimates:
            if each.name == name:
                return each.value
        known = [each.name for each in self.estimates]
        raise UnknownNameError(
            "E0701", f"`{name}` was not fitted", nearest(name, known, "fitted param")
        )

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for each in self.estimates:
            value = significant(each.value, 7) + (" (at its bound)" if each.at_bound else "")
            rows.append(
                [each.name, value, significant(each.std_error, 3), significant(each.before, 7)]
            )
        return ["param", "value", "std err", "before"], rows

    def __repr__(self) -> str:
        tail = f"{self.goal}  {significant(self.loss, 7)}, ended by {self.ended}"
        return f"{text_table(*self._table())}\n{tail} after {self.evaluations:,} runs"

    def _repr_html_(self) -> str:
        return html_table(*self._table())


@dataclass(frozen=True)
class Elite:
    """One of the best candidates of a search."""

    fitness: float
    """The mean of the generations that had it."""
    count: int
    """The generations that had it."""
    generation: int
    """The first of them."""
    again: tuple[float, float, int] | None
    """Mean, standard error and agents, in draws that no generation had: luck has not chosen it."""


class Found(Tabular):
    """What a search found. ``model.run(agents=1, inputs=found.best)`` runs the best candidate."""

    def __init__(self, fitness: str, found: dict[str, Any]) -> None:
        self.fitness = fitness
        """The output that was the fitness."""
        self.elites = tuple(Elite(*each) for each in found["elites"])
        """The best candidates, the best first."""
        self._columns: dict[str, NDArray[Any]] = found["columns"]
        self.history: list[tuple[int, float, float, float, int]] = found["history"]
        """By generation: number, best, mean, best so far, candidates with a fitness."""
        self.genes: int = found["genes"]
        self.candidates: int = found["candidates"]
        self.evaluations: int = found["evaluations"]
        """Agents that were run in all generations."""
        self.seconds: float = found["seconds"]
        self.ended: str = found["ended"]
        """Why it ended: ``generations`` or ``target``."""

    @property
    def inputs(self) -> dict[str, NDArray[Any]]:
        """The inputs of the elites, a row each."""
        return {name: rows for name, rows in self._columns.items() if name != self.fitness}

    @property
    def best(self) -> dict[str, NDArray[Any]]:
        """The inputs of the best candidate, for a run of one agent."""
        return {name: rows[:1] for name, rows in self.inputs.items()}

    def columns(self) -> dict[str, NDArray[Any]]:
        """The inputs of the elites and their fitness, a row each."""
        return dict(self._columns)

    def _table(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for at, elite in enumerate(self.elites):
            again = "-" if elite.again is None else significant(elite.again[0], 7)
            error = "-" if elite.again is None else significant(elite.again[1], 3)
            cells = [significant(elite.fitness, 7), again, error, str(elite.generation)]
            rows.append([str(at), *cells])
        return ["elite", self.fitness, "in new draws", "std err", "generation"], rows

    def __repr__(self) -> str:
        return text_table(*self._table())

    def _repr_html_(self) -> str:
        return html_table(*self._table())
