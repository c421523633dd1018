"""What is drawn in the axes of a plot, by the kind of result."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._distribution import Distribution, distribution, sampled
from ._manifest import Field, SeriesField
from ._text import count, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[Any]

CURVES = 7
"""Most curves with colours and a key of their own."""
MOST_POINTS = 5000
"""Points of a scatter plot; of more agents the density is shown."""
_BAND_ROWS = 4096
"""Agents whose quantiles are bands."""
_COUNTED_ROWS = 1 << 15
_LINES = 24
"""Agents whose paths are thin lines."""
_ORBITS = 12
_MOST_SAMPLES = 600
_MOST_NAMES = 24
_SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Quantity:
    """A result, or one element of it, with its values."""

    name: str
    """As it is written: ``price``, ``w[3]``, ``place.x``."""
    field: Field
    values: Array
    """Rows of agents or worlds; of a series a sample first."""
    steps: Array | None = None
    """Of a series, the step of each sample."""

    @property
    def owner(self) -> str:
        """What has a row."""
        if isinstance(self.field, SeriesField):
            return self.field.of
        return "worlds" if self.field.of_world else "agents"

    @property
    def label(self) -> str:
        """For an axis: the first sentence of the comment, or the name."""
        return wrapped(first_sentence(self.field.doc)) or self.name

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the values of a `bool` or an enum; none of numbers."""
        if self.field.variants:
            return self.field.variants
        return ("false", "true") if self.field.scalar == "bool" else ()

    @property
    def row_shape(self) -> tuple[int, ...]:
        """The shape of one row."""
        lead = (self.steps is not None) + (self.owner != "population")
        return self.values.shape[lead:]


def first_sentence(doc: str) -> str:
    """The first sentence of a comment, with a unit in brackets that stands later."""
    words = " ".join(doc.strip().split("\n\n")[0].split())
    sentence = words.split(". ")[0].rstrip(".")
    unit = _unit(words)
    return f"{sentence} {unit}" if unit and unit not in sentence else sentence


def wrapped(label: str) -> str:
    """A label in lines that fit beside small axes."""
    return textwrap.fill(label, 36)


def _unit(text: str) -> str | None:
    """Something in brackets that is no interval: ``[m/s]``, ``[%]``."""
    for part in text.split("[")[1:]:
        inside, bracket, _ = part.partition("]")
        is_short = bracket and 1 <= len(inside) <= 12 and "," not in inside and " " not in inside
        if is_short and any(letter.isalpha() or letter in "%°€$" for letter in inside):
            return f"[{inside}]"
    return None


def head(ax: Axes, title: str, notes: Sequence[str] = ()) -> None:
    """The title of the axes, and small notes below it."""
    note = " · ".join(each for each in notes if each)
    ax.set_title(title, loc="left", pad=18 if note else 6)
    if note:
        ax.annotate(
            note,
            xy=(0, 1),
            xycoords="axes fraction",
            xytext=(0, 5),
            textcoords="offset points",
            fontsize="small",
            va="bottom",
        )


def histogram(ax: Axes, quantity: Quantity) -> None:
    """How the values of agents or worlds are distributed."""
    if quantity.names:
        _names(ax, quantity)
        return
    found = distribution(quantity.values)
    notes = []
    if found.finite:
        notes.append(f"mean {significant(found.mean, 4)}")
    if found.finite > 1:
        notes.append(f"sd {significant(found.std, 4)}")
    for number, what in (
        (found.outside, "beyond the bins"),
        (found.nan, "NaN"),
        (found.infinite, "infinite"),
    ):
        if number:
            notes.append(f"{count(number)} {what}")
    head(ax, quantity.name, notes)
    ax.set_xlabel(quantity.label)
    if not found.finite:
        ax.text(0.5, 0.5, "no finite value", transform=ax.transAxes, ha="center", va="center")
        ax.set_yticks([])
        return
    _bars(ax, found)
    _shares_up(ax, f"share of {quantity.owner}")


def _shares_up(ax: Axes, label: str) -> None:
    from matplotlib.ticker import PercentFormatter

    ax.yaxis.set_major_formatter(PercentFormatter(xmax=1, symbol=" %"))
    ax.set_ylabel(label)


def _bars(ax: Axes, found: Distribution) -> None:
    shares = found.value_counts / found.finite
    if not len(found.edges):
        gaps = np.diff(found.values)
        width = 0.8 * float(gaps.min()) if len(gaps) else 0.8
        ax.bar(found.values, shares, width=width)
        if len(found.values) == 1:
            ax.set_xticks(found.values, [significant(float(found.values[0]), 7)])
            ax.set_xlim(found.values[0] - 2, found.values[0] + 2)
        elif len(found.values) <= 12:
            ax.set_xticks(found.values, [significant(float(each), 4) for each in found.values])
        return
    bins = found.bin_counts / found.finite
    ax.stairs(bins, found.edges, fill=True)
    if found.is_logarithmic:
        ax.set_xscale("log")
    # A point mass far higher than the bins would leave them flat.
    top = float(max(bins.max(initial=0), shares.max(initial=0)))
    tallest = float(bins.max(initial=0))
    if tallest > 0 and top > 4 * tallest:
        top = 1.8 * tallest
    ax.set_ylim(0, 1.12 * top)
    for value, share in zip(found.values, shares, strict=True):
        text = f"{significant(float(value), 4)}: {100 * share:.1f} %"
        ax.vlines(value, 0, min(share, top), color="C1", linewidth=3, label=text)
    if len(found.values):
        ax.legend(fontsize="small", handlelength=0.8)


def _names(ax: Axes, quantity: Quantity) -> None:
    """A row for each name with its share."""
    names = quantity.names
    counts = np.bincount(quantity.values.ravel().astype(np.int64), minlength=len(names))
    total = max(int(counts.sum()), 1)
    rows = list(range(min(len(names), _MOST_NAMES)))
    notes = [f"{count(int(counts.sum()))} {quantity.owner}"]
    if len(names) > _MOST_NAMES:
        rows = sorted(np.argsort(-counts, kind="stable")[:_MOST_NAMES].tolist())
        notes.append(f"the {_MOST_NAMES} most frequent of {len(names)} names")
    shares = [float(counts[row] / total) for row in rows]
    bars = ax.barh([names[row] for row in rows], shares)
    ax.bar_label(bars, [f"{100 * share:.4g} %" for share in shares], padding=3, fontsize="small")
    ax.invert_yaxis()
    ax.set_xlim(0, 1.18 * max(shares))
    ax.set_xticks([])
    head(ax, quantity.name, notes)
    ax.set_xlabel(quantity.label if quantity.label != quantity.name else "")
    ax.set_ylabel("")


def profile(ax: Axes, quantity: Quantity) -> None:
    """Many elements of an output: the median over agents, with bands."""
    rows = sampled(quantity.values.reshape(len(quantity.values), -1), _BAND_ROWS)
    head(ax, quantity.name, [_band_note(rows, quantity)])
    ax.set_xlabel("element")
    places = np.arange(rows.shape[1])
    if quantity.names:
        _name_curves(ax, quantity, places, rows.T)
        return
    _fan(ax, places, rows.T)
    ax.set_ylabel(quantity.label)
    ax.legend(fontsize="small")


def pair(ax: Axes, x: Quantity, y: Quantity) -> None:
    """One output against another: a point for each agent, of many their density."""
    both = np.stack([x.values.ravel(), y.values.ravel()]).astype(np.float64)
    finite = both[:, np.isfinite(both).all(axis=0)]
    across, up = finite
    notes = [f"{count(finite.shape[1])} {x.owner}"]
    with np.errstate(invalid="ignore", divide="ignore"):
        r = float(np.asarray(np.corrcoef(finite))[0, 1]) if finite.shape[1] > 1 else np.nan
    if np.isfinite(r):
        notes.append(f"correlation {r:.3f}")
    if finite.shape[1] < both.shape[1]:
        notes.append(f"{count(both.shape[1] - finite.shape[1])} with NaN or infinity left out")
    if finite.shape[1] > MOST_POINTS:
        drawn = ax.hexbin(across, up, gridsize=48, mincnt=1, bins="log")
        ax.figure.colorbar(drawn, ax=ax, label=x.owner)
    else:
        ax.scatter(across, up, s=8, alpha=0.7, linewidths=0)
    head(ax, f"{x.name} and {y.name}", notes)
    ax.set_xlabel(_own_label(x))
    ax.set_ylabel(_own_label(y))


def _own_label(quantity: Quantity) -> str:
    """The label of an axis that names the element, too."""
    label = quantity.label
    is_element = quantity.name != quantity.field.name and label != quantity.name
    return f"{label}: {quantity.name}" if is_element else label


def curve(ax: Axes, quantity: Quantity, spread: Quantity | None) -> None:
    """One number per sample, with its deviation as a band if that is observed, too."""
    steps, values = _thinned(quantity)
    numbers = values.astype(np.float64)
    notes = [f"from {significant(float(numbers[0]), 4)} to {significant(float(numbers[-1]), 4)}"]
    (line,) = ax.plot(steps, numbers, drawstyle=_drawstyle(quantity))
    if spread is not None:
        band = _thinned(spread)[1].astype(np.float64)
        ax.fill_between(
            steps, numbers - band, numbers + band, alpha=0.2, color=line.get_color(), linewidth=0
        )
        notes.append(f"the band is ± {spread.name}")
    if quantity.names:
        ax.set_yticks(range(len(quantity.names)), quantity.names)
    _over_steps(ax, quantity, notes)


def curves(ax: Axes, quantities: Sequence[Quantity], title: str) -> None:
    """Several numbers per sample, a curve each."""
    for each in quantities:
        steps, values = _thinned(each)
        ax.plot(steps, values.astype(np.float64), label=each.name, drawstyle=_drawstyle(each))
    head(ax, title)
    ax.set_xlabel("step")
    labels = {each.label for each in quantities}
    ax.set_ylabel(labels.pop() if len(labels) == 1 else "")
    ax.legend(fontsize="small")


def quantiles(ax: Axes, quantity: Quantity, shares: Sequence[float]) -> None:
    """Observed quantiles: the middle one as a curve, the others as bands about it."""
    steps, values = _thinned(quantity)
    order = np.argsort(shares)
    columns = [values[:, at].astype(np.float64) for at in order]
    _bands(ax, steps, columns)
    if len(columns) % 2:
        ax.plot(steps, columns[len(columns) // 2])
    names = ", ".join(f"{significant(100 * shares[at], 4)} %" for at in order)
    _over_steps(ax, quantity, [f"quantiles {names}"])


def heat_map(ax: Axes, quantity: Quantity, edges: tuple[float, float] | None) -> None:
    """Many numbers per sample: bins of a histogram, or elements."""
    from matplotlib import colors

    assert quantity.steps is not None
    values = quantity.values.reshape(len(quantity.values), -1).astype(np.float64)
    width = values.shape[1]
    low, high = edges if edges is not None else (-0.5, width - 0.5)
    borders = np.linspace(low, high, width + 1)
    is_counts = edges is not None
    # Agents that all begin in one bin would leave the later ones dark.
    norm = colors.PowerNorm(0.5, vmin=0) if is_counts else None
    drawn = ax.pcolormesh(_borders(quantity.steps), borders, values.T, norm=norm, rasterized=True)
    ax.figure.colorbar(drawn, ax=ax, label="agents" if is_counts else quantity.label)
    _over_steps(ax, quantity, [])
    if not is_counts:
        ax.set_ylabel("element")


def paths(ax: Axes, quantity: Quantity, note: str = "") -> None:
    """A value of each agent or world at each sample: some of them, and bands of all."""
    steps, values = _thinned(quantity)
    if quantity.names:
        rows = sampled(values, _COUNTED_ROWS, axis=1)
        _name_curves(ax, quantity, steps, rows)
        _over_steps(ax, quantity, [_band_note(rows.T, quantity), note])
        ax.set_ylabel(f"share of {quantity.owner}")
        return
    total = values.shape[1]
    rows = sampled(values, _BAND_ROWS, axis=1)
    if total <= CURVES:
        one = quantity.owner.removesuffix("s")
        for row in range(total):
            ax.plot(steps, values[:, row], label=f"{one} {row}", drawstyle=_drawstyle(quantity))
        notes = []
    else:
        _fan(ax, steps, rows)
        color = ax.yaxis.label.get_color()
        some = sampled(values, _LINES, axis=1)
        ax.plot(steps, some, color=color, alpha=0.2, linewidth=0.5, zorder=1.5)
        notes = [_band_note(rows.T, quantity)]
    ax.legend(fontsize="small")
    _over_steps(ax, quantity, [*notes, note])


def orbits(ax: Axes, x: Quantity, y: Quantity) -> None:
    """One recorded value against another: the ways of some agents."""
    across, up = (each.values.reshape(len(each.values), -1) for each in (x, y))
    total = across.shape[1]
    rows = sampled(np.arange(total), _ORBITS)
    ax.plot(across[:, rows], up[:, rows], linewidth=0.9)
    ax.plot(across[-1, rows], up[-1, rows], "o", markersize=4, color=ax.yaxis.label.get_color())
    notes = [f"{len(rows)} of {count(total)} {x.owner}" if total > len(rows) else ""]
    head(ax, f"{x.name} and {y.name}", [*notes, "a dot at the end"])
    ax.set_xlabel(_own_label(x))
    ax.set_ylabel(_own_label(y))


def _over_steps(ax: Axes, quantity: Quantity, notes: Sequence[str]) -> None:
    head(ax, quantity.name, notes)
    ax.set_xlabel("step")
    ax.set_ylabel(quantity.label)


def _thinned(quantity: Quantity) -> tuple[Array, Array]:
    """Steps and samples, of many some, the last one too."""
    assert quantity.steps is not None
    samples = len(quantity.steps)
    chosen = np.arange(0, samples, max(-(-samples // _MOST_SAMPLES), 1))
    if chosen[-1] != samples - 1:
        chosen = np.append(chosen, samples - 1)
    values = quantity.values if len(chosen) == samples else quantity.values[chosen]
    return quantity.steps[chosen].astype(np.float64), values


def _borders(steps: Array) -> Array:
    """Borders of cells whose middles are these steps."""
    middles = steps.astype(np.float64)
    if len(middles) == 1:
        return np.array([middles[0] - 0.5, middles[0] + 0.5])
    between = (middles[1:] + middles[:-1]) / 2
    first, last = 2 * middles[0] - between[0], 2 * middles[-1] - between[-1]
    return np.concatenate([[first], between, [last]])


def _drawstyle(quantity: Quantity) -> str:
    return "steps-post" if quantity.field.scalar in ("bool", "u32") else "default"


def _band_note(rows: Array, quantity: Quantity) -> str:
    total = quantity.values.shape[1 if quantity.steps is not None else 0]
    of = quantity.owner
    return (
        f"{count(len(rows))} of {count(total)} {of}"
        if len(rows) < total
        else f"{count(total)} {of}"
    )


def _fan(ax: Axes, places: Array, values: Array) -> None:
    """Mean, median, the middle half and the middle nine tenths of each row."""
    numbers = values.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    filled = np.isfinite(numbers).any(axis=1)
    columns = np.full((len(_SHARES), len(numbers)), np.nan)
    means = np.full(len(numbers), np.nan)
    if filled.any():
        own = numbers[filled]
        quantile = np.nanquantile if np.isnan(own).any() else np.quantile
        columns[:, filled] = quantile(own, _SHARES, axis=1)
        means[filled] = np.nanmean(own, axis=1)
    _bands(ax, places, list(columns), ("middle 90 %", "middle half"))
    (line,) = ax.plot(places, columns[2], label="median")
    ax.plot(places, means, "--", color=line.get_color(), linewidth=1, label="mean")


def _bands(ax: Axes, places: Array, columns: Sequence[Array], labels: Sequence[str] = ()) -> None:
    """Bands between the outermost columns, the next ones, and so on."""
    for outer in range(len(columns) // 2):
        label = labels[outer] if outer < len(labels) else None
        ax.fill_between(
            places,
            columns[outer],
            columns[len(columns) - 1 - outer],
            color="C0",
            alpha=0.18 + 0.1 * outer,
            linewidth=0,
            label=label,
        )


def _name_curves(ax: Axes, quantity: Quantity, places: Array, values: Array) -> None:
    """The share of each name in each row."""
    names = quantity.names
    numbers = values.reshape(len(values), -1)
    shares = np.array([(numbers == at).mean(axis=1) for at in range(len(names))])
    order = list(range(len(names)))
    if len(names) > CURVES:
        order = sorted(np.argsort(-shares.mean(axis=1), kind="stable")[:CURVES].tolist())
    for at in order:
        ax.plot(places, shares[at], label=names[at])
    _shares_up(ax, f"share of {quantity.owner}")
    ax.legend(fontsize="small")
