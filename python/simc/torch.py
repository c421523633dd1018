"""Models as functions of PyTorch, which `backward` goes through.

>>> import simc, simc.torch, torch
>>> model = simc.load("call.sim")
>>> price = simc.torch.function(model, of="mean(payoff)", wrt=["sigma", "spot"], seed=7)
>>> sigma = torch.tensor(0.2, requires_grad=True)
>>> price(sigma, torch.tensor(100.0)).backward()
>>> sigma.grad

The derivatives are those of `Model.gradient` and `Model.derivatives`: along the paths of the
agents, with the same draws in each call. The model computes in the type that it was compiled with,
``real="f32"`` or ``"f64"``, whatever the tensors have.
"""

# Where PyTorch is not installed, pyright takes this module for it.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._manifest import Field
from ._model import Model
from ._run import nearest, spellings
from .errors import RunError, UnknownNameError

try:
    import torch as _torch
except ImportError as _error:
    raise RunError("torch", "`simc.torch` needs the package torch", "pip install torch") from _error

__all__ = ["Function", "function"]

_LOSS = re.compile(r"\s*(mean|sum)\s*\((.*)\)\s*", re.DOTALL)


def function(
    model: Model,
    *,
    of: str,
    wrt: str | Sequence[str],
    mode: str = "auto",
    **options: Any,
) -> Function:
    """A model as a function of some of its params and inputs, given as tensors in the order of
    ``wrt``.

    ``of`` is ``mean(OUTPUT)`` or ``sum(OUTPUT)`` over all agents, which gives a tensor without
    dimensions, or an output itself, which gives a value per agent: ``payoff``, ``path[3]``.
    ``mode`` is ``auto``, ``forward`` or ``reverse``. The options, and all other params, inputs and
    tables, are those of `Model.gradient`.
    """
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    found = _LOSS.fullmatch(of)
    fold, output = (found[1], found[2].strip()) if found else (None, of.strip())
    known = {**model.params, **model.inputs}
    if not names:
        raise RunError("torch", "the function has no arguments", 'wrt=["sigma"]')
    for name in names:
        if name not in known:
            raise UnknownNameError(
                "E0701",
                f"the model has no param or input `{name}`",
                nearest(name, known, "param or input"),
            )
        if not known[name].is_float:
            raise RunError(
                "torch",
                f"`{name}` has the type {known[name].type}, and derivatives are by floats",
                "give it as an option",
            )
        if name in options:
            raise RunError("E0701", f"`{name}` is an argument and an option", "give it once")
    if len(set(names)) < len(names):
        raise RunError("E0701", f"`wrt` has a name twice: {', '.join(names)}", "name each once")
    spelled = [
        each
        for field in model.outputs.values()
        if field.is_float
        for each in spellings(field.name, field.shape, field.is_vector)
    ]
    if output not in spelled:
        raise UnknownNameError(
            "E0701",
            f"the model has no output `{output}` of one float",
            nearest(output, spelled, "output"),
        )
    return Function(model, fold, output, tuple(known[name] for name in names), mode, options)


class Function:
    """A model as a function of tensors."""

    def __init__(
        self,
        model: Model,
        fold: str | None,
        output: str,
        wrt: tuple[Field, ...],
        mode: str,
        options: Mapping[str, Any],
    ) -> None:
        self.model = model
        """The model that is run in each call."""
        self.wrt = tuple(field.name for field in wrt)
        """The names of the arguments, in order."""
        self._fold = fold
        self._output = output
        self._fields = wrt
        self._mode = mode
        self._options = dict(options)

    def __call__(self, *tensors: Any, **options: Any) -> Any:
        """Runs the model. Options of this call, such as ``seed``, take the place of others."""
        if len(tensors) != len(self.wrt):
            raise TypeError(
                f"the function takes {len(self.wrt)} tensors ({', '.join(self.wrt)}), "
                f"and was given {len(tensors)}"
            )
        given = []
        per_agent = []
        for field, value in zip(self._fields, tensors, strict=True):
            tensor = value if isinstance(value, _torch.Tensor) else _torch.as_tensor(value)
            if not tensor.is_floating_point():
                raise RunError(
                    "E0702", f"`{field.name}` is a tensor of {tensor.dtype}", "give one of floats"
                )
            rows = tensor.ndim - len(field.shape)
            is_input = field.name in self.model.inputs
            if rows not in ((0, 1) if is_input else (0,)) or tensor.shape[rows:] != field.shape:
                raise RunError(
                    "E0706",
                    f"`{field.name}` has the shape {tuple(tensor.shape)}, and takes {field.shape}"
                    + (" or that with a row per agent in front" if is_input else ""),
                )
            given.append(tensor)
            per_agent.append(rows == 1)
        has_worlds = self.model._manifest.has_worlds
        if any(per_agent) and has_worlds and self._fold is None:
            raise RunError(
                "torch",
                "in a model with worlds, what an agent is given moves the others, too",
                f'write of="mean({self._output})", or give the input one value for all agents',
            )
        call = _Call(
            self.model,
            self._output,
            self._fold,
            self._fields,
            tuple(per_agent),
            self._mode,
            {**self._options, **options},
        )
        if self._fold is None or (any(per_agent) and not has_worlds):
            values = _PerAgent.apply(call, *given)
            if self._fold is None:
                return values
            summed = values.double().sum()
            loss = summed / len(values) if self._fold == "mean" else summed
            return loss.to(values.dtype)
        return _Folded.apply(call, *given)

    def __repr__(self) -> str:
        of = f"{self._fold}({self._output})" if self._fold else self._output
        return f"<simc.torch.Function {of} of {', '.join(self.wrt)}: {self.model.name}>"


@dataclass(frozen=True)
class _Call:
    model: Model
    output: str
    fold: str | None
    fields: tuple[Field, ...]
    per_agent: tuple[bool, ...]
    """By argument, whether it has a row per agent."""
    mode: str
    options: Mapping[str, Any]

    def values(self, tensors: Sequence[Any]) -> dict[str, NDArray[Any]]:
        """The arguments for the model."""
        return {
            field.name: tensor.detach().cpu().numpy()
            for field, tensor in zip(self.fields, tensors, strict=True)
        }

    def merged(self, tensors: Sequence[Any]) -> dict[str, Any]:
        """All options, with the arguments as params and inputs, since they may have any names."""
        options = dict(self.options)
        values = self.values(tensors)
        for kind, known in (("params", self.model.params), ("inputs", self.model.inputs)):
            own = {name: value for name, value in values.items() if name in known}
            options[kind] = {**(options.get(kind) or {}), **own}
        return options

    def of_each_agent(
        self, needs: Sequence[bool], tensors: Sequence[Any]
    ) -> dict[str, NDArray[Any]]:
        """The derivatives of the loss by those arguments that have a row per agent."""
        each = zip(self.fields, self.per_agent, needs, strict=True)
        names = [field.name for field, own, need in each if own and need]
        if not names:
            return {}
        found = self.model.derivatives(self.output, names, mode=self.mode, **self.merged(tensors))
        scale = 1.0 / len(found.values_of_agents) if self.fold == "mean" else 1.0
        return {name: found[name].astype(np.float64) * scale for name in names}

    def wanted(self, needs: Sequence[bool]) -> list[str]:
        """The arguments that a derivative is needed by."""
        return [field.name for field, need in zip(self.fields, needs, strict=True) if need]


def _dtype(tensors: Sequence[Any]) -> Any:
    """The type of the result: f64 if an argument has it, else f32."""
    has_doubles = any(tensor.dtype == _torch.float64 for tensor in tensors)
    return _torch.float64 if has_doubles else _torch.float32


class _Folded(_torch.autograd.Function):
    """A mean or a sum over agents."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        needed = ctx.needs_input_grad[1:]
        # Without a derivative the loss is still that of `gradient`, to the bit.
        wanted = call.wanted(needed) or [call.fields[0].name]
        found = call.model.gradient(
            f"{call.fold}({call.output})", wanted, mode=call.mode, **call.merged(tensors)
        )
        each = call.of_each_agent(needed, tensors)
        slopes = []
        for field, tensor, need in zip(call.fields, tensors, needed, strict=True):
            slope = (each if field.name in each else found)[field.name] if need else None
            slopes.append(None if slope is None else _like(np.asarray(slope, np.float64), tensor))
        ctx.slopes = slopes
        ctx.save_for_backward(*tensors)
        return _torch.tensor(found.value, dtype=_dtype(tensors), device=tensors[0].device)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        gradient = gradients[0].detach()
        slopes = [
            None if slope is None else gradient.to(slope.device, slope.dtype) * slope
            for slope in ctx.slopes
        ]
        return (None, *_once(slopes, gradients[0], ctx.saved_tensors))


class _PerAgent(_torch.autograd.Function):
    """A value per agent."""

    @staticmethod
    def forward(ctx: Any, call: _Call, *tensors: Any) -> Any:
        needed = ctx.needs_input_grad[1:]
        wanted = call.wanted(needed) or [call.fields[0].name]
        found = call.model.derivatives(call.output, wanted, mode=call.mode, **call.merged(tensors))
        ctx.call = call
        ctx.save_for_backward(*tensors)
        ctx.tensors = [(tensor.dtype, tensor.device) for tensor in tensors]
        ctx.slopes = [
            found[field.name] if need else None
            for field, need in zip(call.fields, needed, strict=True)
        ]
        values = np.asarray(found.values_of_agents)
        return _torch.tensor(values, dtype=_dtype(tensors), device=tensors[0].device)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        weights = gradients[0].detach().cpu().double().numpy()
        result: list[Any] = []
        for slopes, per_agent, (dtype, device) in zip(
            ctx.slopes, ctx.call.per_agent, ctx.tensors, strict=True
        ):
            if slopes is None:
                result.append(None)
                continue
            each = slopes.astype(np.float64)
            if per_agent:
                each *= weights.reshape(-1, *(1,) * (each.ndim - 1))
            else:
                each = np.tensordot(weights, each, axes=1)
            result.append(_torch.tensor(each, dtype=dtype, device=device))
        return (None, *_once(result, gradients[0], ctx.saved_tensors))


class _Once(_torch.autograd.Function):
    """A derivative, which has none itself. Without this it would count as a constant."""

    @staticmethod
    def forward(ctx: Any, slope: Any, *_of: Any) -> Any:
        return slope.clone()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise RunError(
            "torch",
            "derivatives of a model have no derivatives themselves",
            "take differences of them, or keep them out of the loss by `detach()`",
        )


def _once(slopes: list[Any], gradient: Any, tensors: Sequence[Any]) -> list[Any]:
    """Ties derivatives to what they depend on, where a graph of them is made."""
    if not _torch.is_grad_enabled():
        return slopes
    return [None if slope is None else _Once.apply(slope, gradient, *tensors) for slope in slopes]


def _like(values: NDArray[Any], tensor: Any) -> Any:
    return _torch.tensor(values, dtype=tensor.dtype, device=tensor.device)
