"""How the values of an output are counted for a histogram."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SAMPLE = 1 << 16
"""Values that decide about bins."""
_MASS = 0.02
"""The share of agents from which one value is a point mass."""
_WHOLE_MASS = 0.1
_MOST_MASSES = 3
_MOST_VALUES = 60
_MOST_BINS = 50
_MANY_DECADES = 1000.0


@dataclass(frozen=True)
class Distribution:
    """Counts of the finite values of an output."""

    finite: int
    nan: int
    infinite: int
    mean: float
    std: float
    values: Floats
    """Values that have a bar of their own: all where there are few, else the point masses."""
    value_counts: NDArray[np.int64]
    edges: Floats
    """Borders of bins, one more than bins; none where all values have bars of their own."""
    bin_counts: NDArray[np.int64]
    is_logarithmic: bool
    outside: int
    """Values in no bin, since they lie far from all others."""


def distribution(given: NDArray[Any]) -> Distribution:
    """Counts values: few different ones one by one, others in bins."""
    numbers = np.asarray(given, dtype=np.float64).ravel()
    nan = int(np.isnan(numbers).sum())
    finite = numbers[np.isfinite(numbers)]
    sample = np.sort(sampled(finite, _SAMPLE))
    # A model may count in floats, too.
    is_whole = bool((sample == np.round(sample)).all())
    counted = _few(finite, sample, is_whole)
    if counted is not None:
        values, counts = counted
        edges, bins, is_logarithmic, outside = np.empty(0), np.empty(0, dtype=np.int64), False, 0
    else:
        values = _heavy(sample, _WHOLE_MASS if is_whole else _MASS)
        rest = finite
        if len(values):
            counts = np.array([(finite == each).sum() for each in values], dtype=np.int64)
            rest = finite[~np.isin(finite, values)]
        else:
            counts = np.empty(0, dtype=np.int64)
        edges, is_logarithmic = _edges(sample[~np.isin(sample, values)], finite, values, is_whole)
        bins = np.histogram(rest, edges)[0].astype(np.int64)
        outside = len(rest) - int(bins.sum())
    return Distribution(
        finite=len(finite),
        nan=nan,
        infinite=len(numbers) - len(finite) - nan,
        mean=float(finite.mean()) if len(finite) else np.nan,
        std=float(finite.std(ddof=1)) if len(finite) > 1 else np.nan,
        values=values,
        value_counts=counts,
        edges=edges,
        bin_counts=bins,
        is_logarithmic=is_logarithmic,
        outside=outside,
    )


def sampled(values: NDArray[Any], most: int, axis: int = 0) -> NDArray[Any]:
    """At most so many values, always the same ones; all if there are no more."""
    count = values.shape[axis]
    if count <= most:
        return values
    chosen = np.random.default_rng(0).choice(count, size=most, replace=False)
    return np.take(values, np.sort(chosen), axis=axis)


def _few(finite: Floats, sample: Floats, is_whole: bool) -> tuple[Floats, NDArray[np.int64]] | None:
    """The different values and how many there are of each, if these are few."""
    if not len(finite):
        return np.empty(0), np.empty(0, dtype=np.int64)
    different = len(np.unique(sample))
    is_narrow = is_whole and finite.max() - finite.min() < _MOST_VALUES
    if not is_narrow and different > 1 and different > min(_MOST_VALUES, len(sample) // 4):
        return None
    values, counts = np.unique(finite, return_counts=True)
    return (values, counts.astype(np.int64)) if len(values) <= _MOST_VALUES else None


def _heavy(sample: Floats, share: float) -> Floats:
    """The values that are point masses."""
    values, counts = np.unique(sample, return_counts=True)
    most = np.argsort(-counts, kind="stable")[:_MOST_MASSES]
    chosen = most[counts[most] >= max(share * len(sample), 5.0)]
    found: Floats = np.sort(values[chosen])
    return found


def _edges(sample: Floats, finite: Floats, heavy: Floats, is_whole: bool) -> tuple[Floats, bool]:
    """Borders of bins, and whether they are equal in logarithms."""
    low, high = float(finite.min()), float(finite.max())
    if not len(sample):
        sample = finite
    below, lower, upper, above = np.quantile(sample, [0.005, 0.25, 0.75, 0.995])
    if low > 0 and above / below >= _MANY_DECADES and (heavy > 0).all():
        first, last = np.floor(np.log10(low)), np.ceil(np.log10(high))
        decades = int(max(last - first, 1))
        per_decade = min(max(40 // decades, 1), 10)
        return np.logspace(first, first + decades, decades * per_decade + 1), True
    middle = upper - lower
    # A few far values would leave a single bin for all others.
    start, end = low, high
    if middle > 0:
        start, end = max(low, lower - 8 * middle), min(high, upper + 8 * middle)
    if start >= end:
        half = 0.5 * max(abs(start), 1.0)
        return np.array([start - half, start + half]), False
    # Freedman and Diaconis' rule.
    width = 2 * middle / np.cbrt(len(sample))
    bins = min(max((end - start) / width, 8), _MOST_BINS) if width > 0 else _MOST_BINS
    width = _round_width((end - start) / bins)
    if is_whole:
        width = max(width, 1.0)
    first = np.floor(start / width)
    # A value at a border belongs to the bin above it, the greatest one too.
    last = np.floor(end / width) + 1
    return np.arange(first, last + 1) * width, False


def _round_width(width: float) -> float:
    """The nearest of 1, 2, 2.5 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(width))
    rounds = np.array([1.0, 2.0, 2.5, 5.0, 10.0]) * power
    return float(rounds[np.argmin(np.abs(np.log(rounds / width)))])
