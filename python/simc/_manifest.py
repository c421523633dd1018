"""What a model takes and gives."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

_DTYPES: dict[str, Any] = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "u32": np.uint32,
    "bool": np.bool_,
}
_FORMATS = {"f32": "f", "f64": "d", "i32": "i", "u32": "I", "bool": "I"}


@dataclass(frozen=True)
class Field:
    """A state or an output: a value, or an array of values, of each agent or world."""

    name: str
    doc: str
    """The model's ``///`` lines."""
    scalar: str
    """``f32``, in models with ``real="f64"`` ``f64``, ``i32``, ``u32`` (also enums) or ``bool``."""
    shape: tuple[int, ...]
    """The dimensions of one row; vectors have their components as the last one."""
    is_vector: bool
    """Whether the last dimension are the components of a vector."""
    variants: tuple[str, ...]
    """For an enum the names of its values, by number."""
    of_world: bool
    """Whether a world has one, rather than an agent."""

    @property
    def is_float(self) -> bool:
        """Whether its values are floats."""
        return self.scalar in ("f32", "f64")

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its arrays."""
        found: np.dtype[Any] = np.dtype(_DTYPES[self.scalar])
        return found

    @property
    def type(self) -> str:
        """As a model writes it: ``f32``, ``[3] of f32``, ``{red, green}`` of an enum."""
        scalar = "{" + ", ".join(self.variants) + "}" if self.variants else self.scalar
        dims = ", ".join("rows" if length == 0 else str(length) for length in self.shape)
        return f"[{dims}] of {scalar}" if self.shape else scalar


@dataclass(frozen=True)
class Param(Field):
    """A value per run."""

    default: Any
    """A number, an array, or ``None`` if the run must give it."""
    range: tuple[float, float] | None
    """The legal values, both ends included."""


@dataclass(frozen=True)
class Input(Field):
    """A value per agent, or per world."""

    source: str
    """``required``, ``default`` or ``drawn``: what happens if the run gives none."""


@dataclass(frozen=True)
class Data(Field):
    """A table that all agents read. An open one has ``0`` as its first dimension."""


@dataclass(frozen=True)
class SeriesField(Field):
    """What is recorded or observed as a run goes on."""

    of: str
    """``agents`` for ``record``, ``worlds`` or ``population`` for ``observe``."""
    every: int
    """Steps between two samples."""
    fold: str | None
    """How the values of agents are combined, if they are."""
    quantiles: tuple[float, ...] = ()
    """Of ``quantiles`` the probabilities."""
    bounds: tuple[float, float] | None = None
    """Of ``histogram`` the lower end of the first bin and the upper end of the last one."""


@dataclass(frozen=True)
class Manifest:
    """All of a model's names."""

    doc: str
    agents: int | None
    steps: int | None
    has_step: bool
    world: int | None
    """Agents of a world by default; ``None`` without worlds or a default."""
    has_worlds: bool
    params: dict[str, Param]
    data: dict[str, Data]
    inputs: dict[str, Input]
    states: dict[str, Field]
    outputs: dict[str, Field]
    series: tuple[SeriesField, ...]


def _field(given: dict[str, Any], of_world: bool = False) -> dict[str, Any]:
    components = [given["components"]] if given["components"] > 1 else []
    return {
        "name": given["name"],
        "doc": given["doc"],
        "scalar": given["scalar"],
        "shape": (*given["shape"], *components),
        "is_vector": given["components"] > 1,
        "variants": tuple(given["variants"]),
        "of_world": of_world,
    }


def _default(given: dict[str, Any]) -> Any:
    words = given["default"]
    if words is None:
        return None
    field = _field(given)
    data = struct.pack(f"<{len(words)}I", *words)
    values = [value for (value,) in struct.iter_unpack(f"<{_FORMATS[field['scalar']]}", data)]
    array = np.array(values, dtype=_DTYPES[field["scalar"]]).reshape(field["shape"])
    if array.shape:
        return array
    value = array.item()
    if field["scalar"] == "f32":
        # The shortest decimal that gives the same f32, as the model writes it.
        value = float(np.format_float_positional(np.float32(value), unique=True))
    return value


def _fold(fold: Any) -> dict[str, Any]:
    """What a series says of how values are combined."""
    if not isinstance(fold, dict):
        return {"fold": fold}
    ((name, details),) = fold.items()
    if name == "quantiles":
        return {"fold": name, "quantiles": tuple(details)}
    if name == "histogram":
        return {"fold": name, "bounds": (details["low"], details["high"])}
    return {"fold": name}


def read(text: str) -> Manifest:
    """A manifest from its JSON."""
    given = json.loads(text)
    world = given.get("world") or {}

    def both(name: str) -> list[tuple[dict[str, Any], bool]]:
        own = [(each, False) for each in given.get(name, [])]
        return own + [(each, True) for each in world.get(name, [])]

    params = {
        each["name"]: Param(
            **_field(each),
            default=_default(each),
            range=tuple(each["range"]) if each["range"] else None,
        )
        for each in given["params"]
    }
    samplings = given.get("samplings", [])
    return Manifest(
        doc=given["doc"],
        agents=given["agents"],
        steps=given["steps"],
        has_step=given["has_step"],
        world=world.get("members"),
        has_worlds=bool(world),
        params=params,
        data={each["name"]: Data(**_field(each)) for each in given["data"]},
        inputs={
            each["name"]: Input(**_field(each, of_world), source=each["source"])
            for each, of_world in both("inputs")
        },
        states={each["name"]: Field(**_field(each, of_world)) for each, of_world in both("states")},
        outputs={
            each["name"]: Field(**_field(each, of_world)) for each, of_world in both("outputs")
        },
        series=tuple(
            SeriesField(
                **_field(each, each["of"] == "worlds"),
                of=each["of"],
                every=samplings[each["sampling"]]["every"],
                **_fold(each.get("fold")),
            )
            for each in given.get("series", [])
        ),
    )
