"""What `help` and completion know of a model: documentation, and keywords of its methods."""

from __future__ import annotations

import inspect
import textwrap
import types
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ._manifest import Field, Input, Param, SeriesField

if TYPE_CHECKING:
    from ._model import Model


def with_keywords(method: Callable[..., Any], borders: Mapping[str, Field]) -> Callable[..., Any]:
    """A method that takes the names of a model as keywords, as far as signatures say."""
    assert isinstance(method, types.FunctionType)
    own = types.FunctionType(
        method.__code__,
        method.__globals__,
        method.__name__,
        method.__defaults__,
        method.__closure__,
    )
    own.__kwdefaults__ = method.__kwdefaults__
    own.__doc__ = method.__doc__
    own.__module__ = method.__module__
    own.__qualname__ = method.__qualname__
    signature = inspect.signature(method)
    parameters = list(signature.parameters.values())
    taken = {each.name for each in parameters}
    keywords = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default if isinstance(field, Param) else None,
        )
        for name, field in borders.items()
        if name.isidentifier() and name not in taken
    ]
    last = len(parameters)
    if parameters and parameters[-1].kind is inspect.Parameter.VAR_KEYWORD:
        last -= 1
    own.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[*parameters[:last], *keywords, *parameters[last:]]
    )
    return own


def documentation(model: Model) -> str:
    """What `help(model)` says of a model."""
    lines = [f"The model {model.name}."]
    if model.doc:
        lines += ["", model.doc.strip()]
    counts = [
        f"{name} {value:,}"
        for name, value in (("agents", model.agents), ("steps", model.steps))
        if value is not None
    ]
    if counts:
        lines += ["", "By default: " + ", ".join(counts)]
    fields: list[tuple[str, Mapping[str, Field]]] = [
        ("Params", model.params),
        ("Inputs", model.inputs),
        ("Data", model.data),
        ("Outputs", model.outputs),
        ("States", model.states),
        ("Recorded and observed", {each.name: each for each in model.series}),
    ]
    for title, group in fields:
        if not group:
            continue
        lines += ["", f"{title}:"]
        for field in group.values():
            lines.append(f"    {_described(field)}")
            if field.doc:
                lines.append(textwrap.indent(field.doc.strip(), "        "))
    return "\n".join(lines)


def _described(field: Field) -> str:
    text = f"{field.name}: {field.type}"
    if field.of_world:
        text += ", of each world"
    if isinstance(field, Param):
        text += ", required" if field.default is None else f" = {field.default}"
        if field.range is not None:
            text += f", in {field.range[0]:g} .. {field.range[1]:g}"
    elif isinstance(field, Input):
        text += {
            "required": ", required",
            "default": ", has a default",
            "drawn": ", drawn where not given",
        }[field.source]
    elif isinstance(field, SeriesField):
        fold = field.fold or "values"
        text += f", {fold} of {field.of}, every {field.every} steps"
    return text
