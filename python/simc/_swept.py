"""What is drawn of a sweep."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._panels import CURVES, first_sentence, head, wrapped
from ._run import nearest, spellings
from ._text import significant
from .errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._sweep import Sweep

Array = NDArray[Any]

_MOST_ELEMENTS = 4
_MOST_CURVES = 60


@dataclass(frozen=True)
class _Axis:
    """What was swept: places along an axis."""

    name: str
    label: str
    places: Array
    ticks: tuple[str, ...]
    """Names of the places, if they are not numbers."""

    @property
    def is_logarithmic(self) -> bool:
        """Do the values have equal ratios over a decade or more?"""
        if self.ticks or len(self.places) < 3 or (self.places <= 0).any():
            return False
        ratios = np.diff(np.log(self.places.astype(np.float64)))
        is_wide = abs(ratios.sum()) >= np.log(9.99)
        return bool(is_wide and np.allclose(ratios, ratios[0], rtol=0.2))

    def on_x(self, ax: Axes) -> None:
        """Writes it along the lower side."""
        ax.set_xlabel(self.label)
        if self.ticks:
            ax.set_xticks(self.places, self.ticks)
        elif self.is_logarithmic:
            ax.set_xscale("log")

    def on_y(self, ax: Axes) -> None:
        """Writes it along the left side."""
        ax.set_ylabel(self.label)
        if self.ticks:
            ax.set_yticks(self.places, self.ticks)
        elif self.is_logarithmic:
            ax.set_yscale("log")

    def borders(self) -> Array:
        """Borders of cells whose middles are the places, in their order."""
        places = self.places.astype(np.float64)
        if len(places) == 1:
            return np.array([places[0] - 0.5, places[0] + 0.5])
        if self.is_logarithmic:
            places = np.log(places)
        between = (places[1:] + places[:-1]) / 2
        ends = 2 * places[0] - between[0], 2 * places[-1] - between[-1]
        borders = np.concatenate([[ends[0]], between, [ends[1]]])
        return np.exp(borders) if self.is_logarithmic else borders


@dataclass(frozen=True)
class _Swept:
    """A statistic of one element of an output."""

    name: str
    label: str
    values: Array
    errors: Array | None
    """Standard errors of a mean."""
    notes: tuple[str, ...] = ()


def panels(sweep: Sweep, names: Sequence[str], statistic: str) -> list[Callable[[Axes], None]]:
    """The plots of the named results, or of all."""
    observed = {each.name: each for each in sweep.model.series if each.of == "population"}
    chosen = list(names) or [*sweep, *observed]
    found: list[Callable[[Axes], None]] = []
    for name in chosen:
        if name not in sweep and name not in observed:
            base = name.split("[")[0].rpartition(".")[0] or name.split("[")[0]
            if base not in sweep:
                known = [*sweep, *observed]
                raise UnknownNameError(
                    "E0701", f"the sweep has no result `{name}`", nearest(name, known, "result")
                )
            found += _of_output(sweep, base, statistic, only=name)
            continue
        if name in sweep:
            found += _of_output(sweep, name, statistic)
        if name in observed and (not observed[name].shape or names):
            found.append(partial(_curves, sweep=sweep, name=name))
    return found


def _axes(sweep: Sweep) -> list[_Axis]:
    """What was swept, without seeds beside params."""
    found = []
    for name, values in sweep.axes.items():
        param = sweep.model.params.get(name)
        variants: tuple[str, ...] = ()
        label = name
        if param is not None:
            variants = param.variants or (("false", "true") if param.scalar == "bool" else ())
            label = first_sentence(param.doc) or name
            label = label if label == name else wrapped(f"{label}: {name}")
        places = np.asarray(values)
        ticks: tuple[str, ...] = ()
        if variants:
            ticks = tuple(variants[int(each)] for each in places)
            places = np.arange(len(ticks))
        elif places.ndim > 1:
            ticks = tuple(str(at) for at in range(len(places)))
            places, label = np.arange(len(ticks)), f"{label} (number of its value)"
        found.append(_Axis(name, label, places, ticks))
    return found


def _of_output(
    sweep: Sweep, name: str, statistic: str, only: str | None = None
) -> list[Callable[[Axes], None]]:
    statistics = sweep[name]
    known = [each.name for each in fields(statistics)]
    if statistic not in known:
        raise RunError("plot", f"there is no statistic `{statistic}`", f"known: {', '.join(known)}")
    field = sweep.model.outputs[name]
    axes = _axes(sweep)
    is_grid = len(sweep.shape) == len(axes)
    values = np.asarray(getattr(statistics, statistic), dtype=np.float64)
    errors = statistics.std_error if statistic == "mean" else None
    notes: tuple[str, ...] = ()
    shape = sweep.shape
    if is_grid and len(axes) > 1 and "seed" in sweep.axes:
        at = list(sweep.axes).index("seed")
        seeds = shape[at]
        with np.errstate(invalid="ignore"):
            errors = values.std(axis=at, ddof=1) / np.sqrt(seeds) if seeds > 1 else None
        values = values.mean(axis=at)
        shape = shape[:at] + shape[at + 1 :]
        axes.pop(at)
        notes = (f"mean of {seeds} seeds",)
    elements = values.shape[len(shape) :]
    names = spellings(name, field.shape, field.is_vector) if elements else [name]
    rows = values.reshape(*shape, -1)
    spreads = None if errors is None else errors.reshape(*shape, -1)
    label = first_sentence(field.doc) or name
    if statistic != "mean":
        label = f"{statistic} of {label}"
    label = wrapped(label)
    results = [
        _Swept(each, label, rows[..., at], None if spreads is None else spreads[..., at], notes)
        for at, each in enumerate(names)
    ]
    if only is not None:
        results = [each for each in results if each.name == only]
        if not results:
            raise UnknownNameError(
                "E0701", f"the sweep has no result `{only}`", nearest(only, names, "result")
            )
    if len(results) > _MOST_ELEMENTS and len(axes) == 1:
        return [partial(_elements, axis=axes[0], name=name, label=label, values=rows)]
    chosen = results[:_MOST_ELEMENTS]
    if len(chosen) < len(results):
        few = f"{len(chosen)} of {len(results)} elements; others by name"
        chosen = [replace(each, notes=(*each.notes, few)) for each in chosen]
    if len(axes) == 1:
        return [partial(_curve, axis=axes[0], swept=each) for each in chosen]
    if len(axes) == 2 and is_grid:
        return [partial(_map, axes=axes, swept=each) for each in chosen]
    return [
        partial(_against, sweep=sweep, axis=axis, swept=each, is_grid=is_grid, at=at)
        for each in chosen
        for at, axis in enumerate(axes)
    ]


def _error_note(swept: _Swept) -> str:
    return "" if swept.errors is None else "bars are ± 2 standard errors"


def _curve(ax: Axes, axis: _Axis, swept: _Swept) -> None:
    order = np.argsort(axis.places, kind="stable")
    errors = None if swept.errors is None else 2 * swept.errors[order]
    line = "none" if axis.ticks else "-"
    ax.errorbar(
        axis.places[order], swept.values[order], errors, fmt="o", ms=4, ls=line, capsize=2, lw=1.4
    )
    axis.on_x(ax)
    ax.set_ylabel(swept.label)
    head(ax, swept.name, [*swept.notes, _error_note(swept)])


def _map(ax: Axes, axes: Sequence[_Axis], swept: _Swept) -> None:
    y, x = axes
    orders = [np.argsort(each.places, kind="stable") for each in axes]
    values = swept.values[np.ix_(*orders)]
    sorted_axes = [
        _Axis(each.name, each.label, each.places[order], tuple(each.ticks))
        for each, order in zip(axes, orders, strict=True)
    ]
    drawn = ax.pcolormesh(sorted_axes[1].borders(), sorted_axes[0].borders(), values)
    ax.figure.colorbar(drawn, ax=ax, label=swept.label)
    x.on_x(ax)
    y.on_y(ax)
    notes = list(swept.notes)
    if swept.errors is not None and np.isfinite(swept.errors).any():
        notes.append(f"standard errors up to {significant(float(np.nanmax(swept.errors)), 3)}")
    head(ax, swept.name, notes)


def _elements(ax: Axes, axis: _Axis, name: str, label: str, values: Array) -> None:
    """Many elements over one param."""
    order = np.argsort(axis.places, kind="stable")
    ordered = _Axis(axis.name, axis.label, axis.places[order], axis.ticks)
    elements = values.shape[-1]
    borders = np.arange(elements + 1) - 0.5
    drawn = ax.pcolormesh(ordered.borders(), borders, values[order].T)
    ax.figure.colorbar(drawn, ax=ax, label=label)
    axis.on_x(ax)
    ax.set_ylabel("element")
    head(ax, name)


def _against(ax: Axes, sweep: Sweep, axis: _Axis, swept: _Swept, is_grid: bool, at: int) -> None:
    """Each point against one of the params."""
    if is_grid:
        lengths = [1] * swept.values.ndim
        lengths[at] = -1
        places = np.broadcast_to(axis.places.reshape(lengths), swept.values.shape).ravel()
    else:
        places = axis.places
    values = swept.values.ravel()
    errors = None if swept.errors is None else 2 * swept.errors.ravel()
    ax.errorbar(places, values, errors, fmt="o", ms=3, alpha=0.5, lw=0.8)
    if is_grid:
        others = tuple(each for each in range(swept.values.ndim) if each != at)
        order = np.argsort(axis.places, kind="stable")
        ax.plot(axis.places[order], swept.values.mean(axis=others)[order], color="C1")
    axis.on_x(ax)
    ax.set_ylabel(swept.label)
    line = "the line is the mean over the other params" if is_grid else ""
    head(ax, f"{swept.name} over {axis.name}", [*swept.notes, line or _error_note(swept)])


def _curves(ax: Axes, sweep: Sweep, name: str) -> None:
    """An observation at each point, over steps."""
    series = sweep.observed(name)
    values = series.values.reshape(
        -1, len(series.steps), *series.values.shape[len(sweep.shape) + 1 :]
    )
    if values.ndim > 2:
        raise RunError(
            "plot",
            f"`{name}` has several values at each step",
            f"draw them with matplotlib from `sweep.observed('{name}')`",
        )
    total = len(values)
    chosen = range(0, total, max(-(-total // _MOST_CURVES), 1))
    names = list(sweep.points)
    first = sweep.points[names[0]]
    field = next(each for each in sweep.model.series if each.name == name)
    if total <= CURVES:
        for row in chosen:
            text = ", ".join(f"{each} = {_value(sweep, each, row)}" for each in names)
            ax.plot(series.steps, values[row], label=text)
        ax.legend(fontsize="small")
    else:
        from matplotlib import cm, colors, rcParams

        places = first if first.ndim == 1 else np.arange(total)
        is_logarithmic = _axes(sweep)[0].is_logarithmic
        norm = (colors.LogNorm if is_logarithmic else colors.Normalize)(
            float(places.min()), float(places.max())
        )
        scale = cm.ScalarMappable(norm, rcParams["image.cmap"])
        for row in chosen:
            ax.plot(series.steps, values[row], color=scale.cmap(norm(float(places[row]))), lw=1)
        ax.figure.colorbar(scale, ax=ax, label=names[0])
    left_out = f"{len(chosen)} of {total} points" if len(chosen) < total else ""
    head(ax, name, [left_out])
    ax.set_xlabel("step")
    ax.set_ylabel(wrapped(first_sentence(field.doc)) or name)


def _value(sweep: Sweep, name: str, row: int) -> str:
    """The value of a param at a point."""
    value = sweep.points[name][row]
    param = sweep.model.params.get(name)
    if param is not None and param.variants:
        return str(param.variants[int(value)])
    return significant(float(value), 5) if np.ndim(value) == 0 else f"value {row}"
