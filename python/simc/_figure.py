"""Figures that notebooks show once. This module needs matplotlib."""

# mypy: allow-subclassing-any, allow-untyped-calls

from __future__ import annotations

import matplotlib
from matplotlib import pyplot
from matplotlib.figure import Figure


class PlotFigure(Figure):
    """A figure that a notebook shows once.

    The inline backend shows all figures of a cell at its end. One that is also the cell's last
    value would be shown twice.
    """

    def _ipython_display_(self) -> None:
        number = getattr(self, "number", None)
        is_open = number is not None and pyplot.fignum_exists(number)
        if not (is_open and "inline" in matplotlib.get_backend() and _is_last_value()):
            # IPython takes it as "show it as any other figure".
            raise NotImplementedError


def _is_last_value() -> bool:
    """Is IPython about to show the last value of a cell?"""
    from IPython import get_ipython

    hook = getattr(get_ipython(), "displayhook", None)
    # That of a kernel has a message only while it shows a value.
    return getattr(hook, "msg", None) is not None or getattr(hook, "is_active", False) is True


def new(width: float, height: float) -> Figure:
    """A new figure of pyplot, so that ``pyplot.show()`` shows it."""
    return pyplot.figure(FigureClass=PlotFigure, figsize=(width, height), layout="constrained")


def owner_of(axes: object) -> Figure:
    """The figure of given axes."""
    figure = getattr(axes, "figure", None)
    while figure is not None and not isinstance(figure, Figure):
        figure = figure.figure
    if figure is None:
        raise TypeError(f"`ax` is one matplotlib Axes, or a sequence, not {type(axes).__name__}")
    return figure
