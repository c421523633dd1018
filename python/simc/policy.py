"""Weights of policies as inputs of a model, so that one run is the episodes of many policies.

A model that holds its policy, as ``lang-examples/cartpole.sim`` does, takes the weights as inputs
``w1``, ``b1`` and so on. Evolution strategies and genetic algorithms want them as a row of numbers
per candidate, and torch as the parameters of a module. :class:`Weights` converts between the three:

>>> weights = simc.policy.Weights(model, {"w1": "0.weight.T", "b1": "0.bias"})
>>> run = model.run(agents=64 * 8, inputs=weights.inputs(candidates, repeat=8))
>>> fitness = weights.per_candidate(run["reward"], repeat=8).mean(axis=1)
>>> weights.load(candidates[fitness.argmax()], module)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._model import Model
from ._run import nearest
from .errors import RunError, UnknownNameError

__all__ = ["Weights"]

Array = NDArray[Any]
Floats = NDArray[np.float32]


class _Place(NamedTuple):
    """Where the values of an input stand in a row."""

    start: int
    end: int
    shape: tuple[int, ...]
    key: str
    """The name in a state dictionary."""
    transposed: bool


class Weights:
    """The weights of a model's policy: which of its inputs they are, and where they come from."""

    def __init__(self, model: Model, names: Mapping[str, str] | Iterable[str]) -> None:
        """``names`` are inputs of the model, in the order of a row of numbers; a mapping gives for
        each the key of a state dictionary. ``.T`` behind a key transposes: torch keeps the weights
        of a layer with a row per output, and ``[[f32; OUT]; IN]`` has a row per input."""
        keys = dict(names) if isinstance(names, Mapping) else {name: name for name in names}
        self._places: dict[str, _Place] = {}
        start = 0
        for name, key in keys.items():
            if name not in model.inputs:
                help = nearest(name, model.inputs, "input")
                raise UnknownNameError("E0701", f"the model has no input `{name}`", help)
            field = model.inputs[name]
            if not field.is_float or field.of_world:
                of = " of each world" if field.of_world else ""
                message = (
                    f"input `{name}` is {field.type}{of}, and weights are floats of each agent"
                )
                raise RunError("policy", message)
            transposed = key.endswith(".T")
            if transposed and len(field.shape) != 2:
                dimensions = len(field.shape)
                message = f"`{key}` transposes, and input `{name}` has {dimensions} dimensions"
                raise RunError("policy", message, f"`{key[:-2]}`")
            end = start + math.prod(field.shape)
            plain = key.removesuffix(".T")
            self._places[name] = _Place(start, end, field.shape, plain, transposed)
            start = end
        if not self._places:
            raise RunError("policy", "a policy has at least one input", 'names=["w1", "b1"]')
        self.size = start
        """Numbers of a candidate."""

    def vectors(self, candidates: Iterable[Any]) -> Floats:
        """The weights of modules of torch, or of state dictionaries of arrays: a row for each."""
        rows = [self._row(candidate) for candidate in candidates]
        return np.stack(rows) if rows else np.empty((0, self.size), np.float32)

    def inputs(self, candidates: Any, repeat: int = 1) -> dict[str, Floats]:
        """The inputs of a run: of rows of numbers, modules of torch or state dictionaries.

        With ``repeat`` each candidate has as many agents, one after the other: for as many episodes
        of each.
        """
        if repeat < 1:
            raise RunError("policy", f"`repeat` is {repeat}, and each candidate has an agent")
        rows = candidates
        if not isinstance(candidates, np.ndarray):
            rows = self.vectors(candidates)
        if rows.ndim != 2 or rows.shape[1] != self.size:
            message = f"the candidates have shape {rows.shape}, and not (candidates, {self.size})"
            raise RunError("policy", message, "give a row of numbers for each")
        rows = np.asarray(rows, np.float32)
        if repeat > 1:
            rows = np.repeat(rows, repeat, axis=0)
        return {
            name: np.ascontiguousarray(rows[:, place.start : place.end]).reshape(-1, *place.shape)
            for name, place in self._places.items()
        }

    def per_candidate(self, values: Array, repeat: int) -> Array:
        """An output of a run with a row per candidate: shape ``(candidates, repeat, …)``."""
        if len(values) % repeat:
            message = f"{len(values)} agents are no whole number of candidates of {repeat} each"
            raise RunError("policy", message)
        return values.reshape(-1, repeat, *values.shape[1:])

    def state(self, row: Array) -> dict[str, Floats]:
        """A row of numbers as a state dictionary of arrays."""
        row = np.asarray(row, np.float32)
        if row.shape != (self.size,):
            message = f"the row has shape {row.shape}, and not ({self.size},)"
            raise RunError("policy", message)
        found = {}
        for place in self._places.values():
            values = row[place.start : place.end].reshape(place.shape)
            found[place.key] = np.ascontiguousarray(values.T if place.transposed else values)
        return found

    def load(self, row: Array, module: Any) -> None:
        """Writes a row of numbers to the parameters of a module of torch. Its other parameters
        stay."""
        from torch import from_numpy as tensor  # pyright: ignore[reportAttributeAccessIssue]

        state = module.state_dict()
        new = {key: tensor(values) for key, values in self.state(row).items()}
        for key, values in new.items():
            if key not in state:
                raise self._no_key(key, state)
            if state[key].shape != values.shape:
                shapes = f"{tuple(state[key].shape)}, and the weights {tuple(values.shape)}"
                raise RunError("policy", f"`{key}` of the module has shape {shapes}")
        module.load_state_dict({**state, **new})

    def _row(self, candidate: Any) -> Floats:
        state = candidate
        if hasattr(candidate, "state_dict"):
            state = candidate.state_dict()
        if not isinstance(state, Mapping):
            message = f"a candidate is a {type(candidate).__name__}"
            help = "give a module of torch, or a mapping of names to arrays"
            raise RunError("policy", message, help)
        row = np.empty(self.size, np.float32)
        for name, place in self._places.items():
            if place.key not in state:
                raise self._no_key(place.key, state)
            values = state[place.key]
            if hasattr(values, "detach"):
                values = values.detach().cpu().float()
            array = np.asarray(values)
            array = array.T if place.transposed else array
            if array.shape != place.shape:
                shapes = f"shape {array.shape}, and input `{name}` {place.shape}"
                transposed = array.shape == place.shape[::-1]
                hint = f"`{place.key}.T` transposes it" if transposed else None
                raise RunError("policy", f"`{place.key}` has {shapes}", hint)
            row[place.start : place.end] = array.reshape(-1)
        return row

    def _no_key(self, key: str, state: Mapping[str, Any]) -> UnknownNameError:
        message = f"the candidate has no weights `{key}`"
        return UnknownNameError("policy", message, nearest(key, state, "key"))
