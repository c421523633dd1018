"""Plots of runs and sweeps with matplotlib: what ``run.plot()`` and ``sweep.plot()`` draw.

The plots take their colours from matplotlib's current style: ``plt.style.use("dark_background")``
makes them dark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _panels, _swept
from ._manifest import Field, SeriesField
from ._panels import Quantity
from ._run import Run, nearest, spellings
from ._text import count
from .errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ._sweep import Sweep

__all__ = ["run", "sweep"]

Panel = Callable[["Axes"], None]
"""Draws into axes."""

_MOST_PANELS = 12
_MOST_ELEMENTS = 4
"""Elements of an output that have axes of their own."""

KINDS = ("output", "record", "observe")


def run(run: Run, *names: str, ax: Any = None, kind: str | None = None) -> Figure:
    """Draws the results of a run, each by its kind; returns the figure.

    Without names all results are drawn, at most 12. A name is that of an output or a series, of a
    struct (its fields) or of an element (``w[3]``, ``place.x``). ``x:y`` draws one against the
    other: two outputs, or two records. ``a+b`` draws several observations in one plot. ``kind`` is
    ``output``, ``record`` or ``observe``, where a name means several.

    ``ax`` are the axes to draw into, or a sequence of as many as there are plots.
    """
    if kind is not None and kind not in KINDS:
        raise RunError("plot", f"`kind` is no `{kind}`", f"it is one of {', '.join(KINDS)}")
    given = _quantities(run, kind)
    panels: list[Panel] = []
    if names:
        for name in names:
            panels += _named(run, given, name)
    else:
        spreads = {_spread_of(each, given) for each in given if _spread_of(each, given)}
        for each in given:
            if each.name not in spreads:
                panels += _of(each, given, run)
    if not panels:
        raise RunError(
            "plot",
            "the run has nothing to draw",
            "it has no outputs and series; `keep_outputs=True` keeps outputs",
        )
    report = run.report
    counts = [
        f"{count(report.agents)} agents",
        f"{count(report.worlds)} worlds" if run.model._manifest.has_worlds else "",
        f"{count(report.steps)} steps" if report.steps else "",
        f"seed {report.seed}",
    ]
    return _draw(panels, ax, run.model.doc, counts, is_all=not names)


def sweep(sweep: Sweep, *names: str, ax: Any = None, statistic: str = "mean") -> Figure:
    """Draws the results of a sweep; returns the figure.

    Over one param an output is a curve with error bars of two standard errors, over two a heat map,
    over more a plot for each param. Over seeds means are averaged. Observations are curves, one for
    each point. ``statistic`` is what is drawn of outputs: ``mean``, ``median``, ``std`` and so on.
    """
    panels = _swept.panels(sweep, names, statistic)
    if not panels:
        raise RunError(
            "plot", "the sweep has nothing to draw", "it has no outputs and observations"
        )
    report = sweep.report
    counts = [
        f"{count(int(np.prod(sweep.shape, dtype=int)))} points of {count(report.agents)} agents",
        f"{count(report.steps)} steps" if report.steps else "",
        "" if "seed" in sweep.axes else f"seed {report.seed}",
    ]
    return _draw(panels, ax, sweep.model.doc, counts, is_all=not names)


def need_matplotlib() -> None:
    """Says how to install matplotlib where it is missing."""
    try:
        import matplotlib.pyplot  # noqa: F401
    except ImportError as error:
        raise RunError(
            "plot",
            "plots are drawn with matplotlib, which is not installed",
            "pip install matplotlib, or pip install 'simc[plot]'",
        ) from error


def _draw(
    panels: Sequence[Panel], ax: Any, doc: str, counts: Iterable[str], is_all: bool
) -> Figure:
    need_matplotlib()
    from . import _figure

    if ax is not None:
        axes = list(np.ravel(np.asarray(ax, dtype=object)))
        if len(axes) != len(panels):
            raise RunError(
                "plot",
                f"there are {len(panels)} plots, and axes for {len(axes)}",
                "name what is to be drawn, as in `run.plot('price', ax=ax)`, or give as many axes",
            )
        figure = _figure.owner_of(axes[0])
    else:
        left_out = len(panels) - _MOST_PANELS
        if left_out > 0:
            if not is_all:
                raise RunError(
                    "plot",
                    f"these are {len(panels)} plots, and a figure has at most {_MOST_PANELS}",
                    "name fewer, or give axes",
                )
            panels = panels[:_MOST_PANELS]
            counts = [*counts, f"{left_out} more by name"]
        number = len(panels)
        columns = 1 if number == 1 else 2 if number <= 4 else 3
        rows = -(-number // columns)
        size = (6.4, 4.4) if number == 1 else (4.8 * columns, 3.5 * rows + 0.6)
        figure = _figure.new(*size)
        grid = figure.subplots(rows, columns, squeeze=False)
        axes = list(grid.ravel())
        for unused in axes[number:]:
            unused.remove()
        title = _panels.first_sentence(doc)
        if title:
            figure.suptitle(title)
        figure.supxlabel(" · ".join(each for each in counts if each), fontsize="small", alpha=0.8)
    for panel, each in zip(panels, axes, strict=False):
        panel(each)
    return figure


def _quantities(run: Run, kind: str | None) -> list[Quantity]:
    """All outputs and series of a run."""
    found = []
    if kind in (None, "output"):
        for name, field in run.model.outputs.items():
            values = run.world_outputs if field.of_world else run.outputs
            if name in values:
                found.append(Quantity(name, field, values[name]))
    for field, series in zip(run.model.series, run.series, strict=True):
        if kind in (None, "record" if series.of == "agents" else "observe"):
            found.append(Quantity(series.name, field, series.values, series.steps))
    return found


def _elements(quantity: Quantity) -> list[Quantity]:
    """The elements of a quantity, or itself if it has one."""
    field, values = quantity.field, quantity.values
    shape = quantity.row_shape
    if not shape:
        return [quantity]
    lead = values.shape[: values.ndim - len(shape)]
    flat = values.reshape(*lead, -1)
    names = spellings(field.name, shape, field.is_vector)
    return [Quantity(name, field, flat[..., at], quantity.steps) for at, name in enumerate(names)]


def _find(run: Run, given: list[Quantity], name: str) -> list[Quantity]:
    """What a name means."""
    exact = [each for each in given if each.name == name]
    if exact:
        return exact
    fields = [each for each in given if each.name.startswith(f"{name}.")]
    if fields:
        return fields
    base = name.split("[")[0].rsplit(".", 1)[0] if "[" in name else name.rpartition(".")[0]
    owners = [each for each in given if each.name in (base, name.split("[")[0])]
    found = [part for each in owners for part in _elements(each) if part.name == name]
    if found:
        return found
    if name in run.model.outputs:
        # Says that outputs are not kept.
        run[name]
    known = [each.name for each in given]
    raise UnknownNameError(
        "E0701", f"the run has no result `{name}`", nearest(name, known, "result")
    )


def _single(run: Run, given: list[Quantity], name: str, side: str) -> Quantity:
    """A number of agents, worlds or the population that a name means."""
    elements = [part for each in _find(run, given, name.strip()) for part in _elements(each)]
    if len(elements) > 1:
        wanted = [each for each in elements if (each.steps is None) == (side == "output")]
        if side and len(wanted) == 1:
            return wanted[0]
        names = ", ".join(f"`{each.name}`" for each in elements[:8])
        raise RunError(
            "plot", f"`{name}` means several results: {names}", "name one, or give `kind`"
        )
    return elements[0]


def _named(run: Run, given: list[Quantity], name: str) -> list[Panel]:
    if not isinstance(name, str):
        raise TypeError(f"names of results are text, not {type(name).__name__}; axes are `ax=`")
    if ":" in name:
        return [_pair(run, given, name)]
    if "+" in name:
        parts = [_single(run, given, part, "series") for part in name.split("+")]
        if any(each.owner != "population" for each in parts):
            raise RunError(
                "plot",
                f"`{name}` are not all observed of the population",
                "`a+b` draws observations together",
            )
        return [partial(_panels.curves, quantities=parts, title=", ".join(p.name for p in parts))]
    return [panel for each in _find(run, given, name) for panel in _of(each, given, run)]


def _pair(run: Run, given: list[Quantity], name: str) -> Panel:
    first, _, second = name.partition(":")
    for side in ("output", "series"):
        try:
            x, y = (_single(run, given, part, side) for part in (first, second))
        except RunError:
            if side == "series":
                raise
            continue
        if x.owner == y.owner != "population" and x.values.shape == y.values.shape:
            if x.steps is None and y.steps is None:
                return partial(_panels.pair, x=x, y=y)
            if x.steps is not None and y.steps is not None:
                return partial(_panels.orbits, x=x, y=y)
    raise RunError(
        "plot",
        f"`{first}` and `{second}` are not of the same agents and steps",
        "`x:y` draws two outputs, or two records, against each other",
    )


def _spread_of(quantity: Quantity, given: list[Quantity]) -> str | None:
    """The name of the observed deviation that is a band about an observation."""
    if quantity.steps is None or quantity.owner != "population" or quantity.row_shape:
        return None
    stem = quantity.name.removesuffix("_mean")
    for each in given:
        is_deviation = isinstance(each.field, SeriesField) and each.field.fold == "sd"
        if (
            is_deviation
            and each.name == f"{stem}_sd"
            and each.values.shape == quantity.values.shape
        ):
            return each.name
    return None


def _of(quantity: Quantity, given: list[Quantity], run: Run) -> list[Panel]:
    """The plots of a result."""
    field: Field = quantity.field
    elements = _elements(quantity)
    if not isinstance(field, SeriesField):
        if len(elements) > _MOST_ELEMENTS and not field.is_vector:
            return [partial(_panels.profile, quantity=quantity)]
        return [partial(_panels.histogram, quantity=each) for each in elements]
    if field.of != "population":
        chosen = elements[: _panels.CURVES]
        few = f"{len(chosen)} of {len(elements)} elements; others by name"
        note = few if len(chosen) < len(elements) else ""
        return [partial(_panels.paths, quantity=each, note=note) for each in chosen]
    is_whole = quantity.row_shape != ()
    if field.quantiles and is_whole:
        return [partial(_panels.quantiles, quantity=quantity, shares=field.quantiles)]
    if field.bounds is not None and is_whole:
        return [partial(_panels.heat_map, quantity=quantity, edges=field.bounds)]
    if len(elements) > _panels.CURVES:
        return [partial(_panels.heat_map, quantity=quantity, edges=None)]
    if len(elements) > 1:
        return [partial(_panels.curves, quantities=elements, title=quantity.name)]
    name = _spread_of(quantity, given)
    spread = next((each for each in given if each.name == name and each.steps is not None), None)
    return [partial(_panels.curve, quantity=quantity, spread=spread)]
