"""Statistics of outputs that come in parts: each is counted where it is, and the counts add up.

Sums are exact, so that moments have the bits of those of all values at once, however these are cut.
Quartiles are found by counting, in two passes: the upper half of each value's key, then the lower
half of those that share the upper half of an order statistic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._manifest import Field
from ._run import Statistics, Summary, spellings
from ._simc import Native, moments, tally
from .errors import RunError

_MOST_ROWS = 16
"""Most values of an agent that have statistics of their own."""

_HALF = 1 << 16
_BLOCK = 1 << 17
"""Values that are counted at a time."""
_QUARTILES = (0.25, 0.5, 0.75)

Counts = tuple[NDArray[np.uint16], NDArray[np.int64]]
"""Digits that occur, and how often."""


def rows_of(field: Field) -> int:
    """The number of statistics of an output: one per value of an agent, or one for all."""
    values = int(np.prod(field.shape, dtype=int))
    return 1 if values > _MOST_ROWS else values


@dataclass(frozen=True)
class Tally:
    """What one part of an output adds to its statistics."""

    sums: bytes
    """Exact sums, for the native module."""
    upper: list[Counts]
    """By row of statistics the counts of the upper halves of keys; empty without quartiles."""


def tally_of(native: Native, field: Field, values: NDArray[Any], quartiles: bool) -> Tally:
    """Counts a part."""
    upper = []
    if quartiles:
        for column in _columns(field, values):
            counts = np.zeros(_HALF, dtype=np.int64)
            for keys in _keys(column):
                counts += np.bincount(keys >> np.uint32(16), minlength=_HALF)
            upper.append(_sparse(counts))
    return Tally(tally(native, field.name, values), upper)


def _columns(field: Field, values: NDArray[Any]) -> Iterable[NDArray[Any]]:
    """The values of each row of statistics."""
    table = values.reshape(-1, rows_of(field))
    return (table[:, row] for row in range(table.shape[1]))


def _blocks(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Parts that fit the caches of a processor, with what is computed of them."""
    for first in range(0, len(values), _BLOCK):
        yield values[first : first + _BLOCK]


def _keys(values: NDArray[Any]) -> Iterator[NDArray[np.uint32]]:
    """By block integers that are ordered like the values, -0 before 0, without those of NaNs."""
    top = np.uint32(1 << 31)
    for block in _blocks(values):
        if block.dtype == np.float32:
            is_nan = np.isnan(block)
            numbers = block[~is_nan] if is_nan.any() else np.ascontiguousarray(block)
            # All bits of a negative number are turned, of others the sign.
            turned = (numbers.view(np.int32) >> 31).view(np.uint32) | top
            yield numbers.view(np.uint32) ^ turned
        elif block.dtype == np.int32:
            yield np.ascontiguousarray(block).view(np.uint32) ^ top
        else:
            yield block.astype(np.uint32)


def _value(scalar: str, key: int) -> float:
    """The value of a key."""
    if scalar == "f32":
        bits = key ^ (1 << 31) if key >> 31 else key ^ 0xFFFF_FFFF
        return float(np.uint32(bits).view(np.float32))
    return float(key - (1 << 31) if scalar == "i32" else key)


def _sparse(counts: NDArray[np.int64]) -> Counts:
    found = np.flatnonzero(counts)
    return found.astype(np.uint16), counts[found]


def _added(parts: Iterable[Counts]) -> NDArray[np.int64]:
    total = np.zeros(_HALF, dtype=np.int64)
    for digits, counts in parts:
        total[digits] += counts
    return total


@dataclass(frozen=True)
class Rank:
    """An order statistic that is looked for."""

    upper: int
    """The upper half of its key."""
    below: int
    """Its rank among the values with that half."""


def ranks_of(parts: Sequence[Tally], row: int) -> tuple[list[Rank], dict[int, int]]:
    """The ranks on both sides of each quartile, none without numbers; and how many values have the
    upper half of each."""
    counts = _added(part.upper[row] for part in parts)
    ends = np.cumsum(counts)
    number = int(ends[-1])
    ranks = []
    for quartile in _QUARTILES if number else ():
        below = min(int((number - 1) * quartile), number - 1)
        for rank in (below, min(below + 1, number - 1)):
            upper = int(np.searchsorted(ends, rank, side="right"))
            ranks.append(Rank(upper, rank - int(ends[upper] - counts[upper])))
    return ranks, {rank.upper: int(counts[rank.upper]) for rank in ranks}


def lower_of(
    field: Field, values: NDArray[Any], wanted: Sequence[Iterable[int]]
) -> list[dict[int, Counts]]:
    """Counts a part once more: by row, the lower halves of keys with one of the upper halves."""
    found = []
    for column, uppers in zip(_columns(field, values), wanted, strict=True):
        counts = {upper: np.zeros(_HALF, dtype=np.int64) for upper in uppers}
        for keys in _keys(column):
            halves = keys >> np.uint32(16)
            for upper, total in counts.items():
                lower = keys[halves == upper] & np.uint32(_HALF - 1)
                if len(lower):
                    total += np.bincount(lower, minlength=_HALF)
        found.append({upper: _sparse(total) for upper, total in counts.items()})
    return found


def quartiles_of(
    field: Field,
    ranks: Sequence[Rank],
    sizes: Mapping[int, int],
    parts: Sequence[Mapping[int, Counts]],
) -> list[float]:
    """The quartiles of a row, from the counts of both passes."""
    if not ranks:
        return []
    counted = {}
    for upper, size in sizes.items():
        ends = np.cumsum(_added(part[upper] for part in parts))
        if int(ends[-1]) != size:
            raise RunError(
                "shard",
                f"output `{field.name}` had other values when it was computed once more",
                "run all shards on the same kind of device, or with `quartiles=False`",
            )
        counted[upper] = ends
    keys = [
        rank.upper << 16 | int(np.searchsorted(counted[rank.upper], rank.below, side="right"))
        for rank in ranks
    ]
    values = [_value(field.scalar, key) for key in keys]
    return values


def summary_of(
    native: Native,
    fields: Iterable[Field],
    parts: Mapping[str, Sequence[Tally]],
    around: Mapping[str, Sequence[Sequence[float]]],
) -> Summary:
    """The summary of a run of all. ``around`` has by output and row the values on both sides of
    each quartile, or nothing."""
    rows = []
    for field in fields:
        names = spellings(field.name, field.shape, field.is_vector)
        elements = 1 if len(names) <= _MOST_ROWS else len(names)
        names = names if elements == 1 else [field.name]
        found = moments(native, field.name, [part.sums for part in parts[field.name]])
        for at, (name, (number, nan, mean, std, extremes)) in enumerate(
            zip(names, found, strict=True)
        ):
            pairs = around[field.name][at] if field.name in around else ()
            q25, median, q75 = _between(number, pairs) if pairs else (None, None, None)
            low, high = extremes or (None, None)
            rows.append(
                Statistics(
                    name=name,
                    elements=elements,
                    of_world=field.of_world,
                    count=number,
                    nan=nan,
                    mean=mean,
                    std_error=None if std is None else std / float(number) ** 0.5,
                    std=std,
                    min=low,
                    q25=q25,
                    median=median,
                    q75=q75,
                    max=high,
                )
            )
    return Summary(rows)


def _between(number: int, pairs: Sequence[float]) -> list[float]:
    """The quartiles: interpolated as the runtime does."""
    found = []
    for at, quartile in enumerate(_QUARTILES):
        place = (number - 1) * quartile
        rest = place - int(place)
        one, other = pairs[2 * at], pairs[2 * at + 1]
        found.append(one if rest == 0.0 or one == other else one + rest * (other - one))
    return found


@dataclass(frozen=True)
class Histogram:
    """How many values lie in each of some equal bins: each has its lower end, the last one both."""

    edges: NDArray[np.float64]
    """The ends of the bins, one more than there are bins."""
    counts: NDArray[np.int64]
    """By element of the output, the counts of its bins: ``(elements…, bins)``."""
    below: NDArray[np.int64]
    above: NDArray[np.int64]
    nan: NDArray[np.int64]


def binned(field: Field, values: NDArray[Any], bins: tuple[float, float, int]) -> NDArray[np.int64]:
    """By row of statistics the counts of bins, and of values below, above, and NaNs."""
    low, high, number = bins
    found = []
    for column in _columns(field, values):
        counts = np.zeros(number, dtype=np.int64)
        below = above = nan = 0
        for block in _blocks(column):
            numbers = block.astype(np.float64)
            below += int(np.count_nonzero(numbers < low))
            above += int(np.count_nonzero(numbers > high))
            inside = numbers[(numbers >= low) & (numbers <= high)]
            places = ((inside - low) * number / (high - low)).astype(np.int64)
            counts += np.bincount(np.minimum(places, number - 1), minlength=number)
            nan += int(np.count_nonzero(np.isnan(numbers)))
        found.append([*counts.tolist(), below, above, nan])
    return np.array(found, dtype=np.int64)


def histogram_of(
    field: Field, bins: tuple[float, float, int], parts: Sequence[NDArray[np.int64]]
) -> Histogram:
    """The histogram of all parts."""
    low, high, number = bins
    total = np.sum(parts, axis=0)
    shape = field.shape if rows_of(field) == int(np.prod(field.shape, dtype=int)) else ()
    counts, rest = total[:, :number], total[:, number:].T.reshape(3, *shape)
    edges = np.linspace(low, high, number + 1)
    return Histogram(edges, counts.reshape(*shape, number), rest[0], rest[1], rest[2])
