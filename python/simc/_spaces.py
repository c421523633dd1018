"""Gymnasium's spaces of a model's declarations."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from ._manifest import Field
from .errors import RunError

Array = NDArray[Any]
Bounds = list[tuple[float, float]]

_LINE = re.compile(r"^\s*Range\s*:(.*)$", re.MULTILINE)


def bounds_of(field: Field) -> Bounds | None:
    """The ranges that a declaration's ``Range:`` line states, one per element."""
    lines = _LINE.findall(field.doc)
    if not lines:
        return None
    if len(lines) > 1:
        raise _malformed(field, f"`{field.name}` has {len(lines)} lines `Range:`")
    found: Bounds = []
    for text in lines[0].split(","):
        ends = text.split("..")
        try:
            low, high = (float(end) for end in ends)
        except ValueError:
            message = f"`{field.name}` has a range that is none: `{text.strip()}`"
            raise _malformed(field, message) from None
        if math.isnan(low) or math.isnan(high) or low > high:
            raise _malformed(field, f"`{field.name}` has an empty range: `{text.strip()}`")
        found.append((low, high))
    elements = math.prod(field.shape)
    if len(found) == 1:
        return found * elements
    if len(found) != elements:
        message = f"`{field.name}` has {elements} elements, and {len(found)} ranges"
        raise _malformed(field, message)
    return found


def space_of(
    fields: Sequence[Field],
    given: spaces.Space[Any] | None,
    *,
    is_action: bool = False,
    joined: bool = False,
) -> spaces.Space[Any]:
    """The space of one environment: of an input, of an output, or of outputs that are joined."""
    found = _joined(fields) if joined else _single(fields[0], given is not None, is_action)
    if given is None:
        return found
    if type(given) is not type(found) or given.shape != found.shape:
        # An enumeration may be given for numbers without a range.
        numbers = not any(field.is_float for field in fields)
        if not numbers or given.shape != found.shape:
            names = ", ".join(f"`{field.name}`" for field in fields)
            message = f"{names} is {found}, and the space that was given is {given}"
            raise RunError("gym", message, f"give a space of shape {found.shape}")
    return given


def _single(field: Field, is_given: bool, is_action: bool) -> spaces.Space[Any]:
    bounds: Bounds | None = bounds_of(field)
    shape = field.shape
    if field.scalar == "bool":
        return spaces.MultiBinary(shape) if shape else spaces.Discrete(2)
    if field.is_float:
        return _box(bounds, shape, field.dtype.type)
    if field.variants:
        bounds = bounds or [(0.0, len(field.variants) - 1.0)] * math.prod(shape)
    if bounds is None or any(math.isinf(end) for ends in bounds for end in ends):
        if is_action and not is_given:
            raise RunError(
                "gym",
                f"the actions `{field.name}` are {field.type} without a range",
                "state it above the input, `/// Range: 0..3`, or give `action_space=`",
            )
        return _box(bounds, shape, field.dtype.type)
    low = np.array([ends[0] for ends in bounds], np.int64)
    count = np.array([ends[1] for ends in bounds], np.int64) - low + 1
    if shape:
        return spaces.MultiDiscrete(count.reshape(shape), start=low.reshape(shape))
    return spaces.Discrete(int(count[0]), start=int(low[0]))


def _joined(fields: Sequence[Field]) -> spaces.Box:
    if not fields:
        raise RunError("gym", "an observation has at least one output", "observation=['x']")
    for field in fields:
        if not field.is_float:
            raise RunError(
                "gym",
                f"outputs that are joined are floats, and `{field.name}` is {field.type}",
                f"output {field.name} = f32(…)",
            )
    bounds: Bounds = []
    for field in fields:
        bounds += bounds_of(field) or [(-math.inf, math.inf)] * math.prod(field.shape)
    return _box(bounds, (len(bounds),), fields[0].dtype.type)


def _box(bounds: Bounds | None, shape: tuple[int, ...], dtype: Any) -> spaces.Box:
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(dtype)
        ends = (float(limits.min), float(limits.max))
        bounds = [(max(low, ends[0]), min(high, ends[1])) for low, high in bounds or [ends]]
        bounds = bounds if len(bounds) > 1 else bounds * math.prod(shape)
    bounds = bounds or [(-math.inf, math.inf)] * math.prod(shape)
    low = np.array([ends[0] for ends in bounds]).astype(dtype).reshape(shape)
    high = np.array([ends[1] for ends in bounds]).astype(dtype).reshape(shape)
    return spaces.Box(low, high, shape=shape, dtype=dtype)


def gathered(columns: Sequence[Array], space: spaces.Space[Any]) -> Array:
    """What outputs show, as the space of all environments holds it."""
    dtype = space.dtype
    if len(columns) == 1 and columns[0].shape == space.shape:
        return columns[0].astype(dtype, copy=False)
    agents = len(columns[0])
    return np.concatenate([column.reshape(agents, -1) for column in columns], axis=1)


def _malformed(field: Field, message: str) -> RunError:
    return RunError("gym", message, "as in `/// Range: -1..1`; `inf` is a number, too")
