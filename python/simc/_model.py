"""Compiled models."""

from __future__ import annotations

import inspect
import operator
import os
import textwrap
import threading
import types
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _manifest
from ._manifest import Data, Field, Input, Param, SeriesField
from ._progress import bar
from ._run import Run, nearest
from ._simc import Native, NativeSession
from .errors import Diagnostic, RunError, UnknownNameError

if TYPE_CHECKING:
    from ._session import Session

Progress = Callable[[int, int], object]
"""Called now and then with the agent-steps that are done, and all."""

_MOST_BYTES = 256 << 20
"""Most bytes of a model, as on the command line."""

_COUNTS = {
    "agents": 2**31 - 1,
    "steps": 2**30 - 1,
    "world": 2**31 - 1,
    "first_agent": 2**32 - 1,
    "population": 2**31 - 1,
}
"""The greatest value of each count of a run."""


def load(
    path: str | os.PathLike[str], *, generator: str = "keyed-hash", math: str = "fast"
) -> Model:
    """Reads and compiles a ``.sim`` file.

    ``generator`` is ``keyed-hash`` or ``philox4x32-10``. ``math`` is ``fast``, the functions of the
    device, or ``precise``, ours.
    """
    file = Path(path)
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise RunError(
            "file", f"cannot read {file}: {error.strerror}", "give the path of a .sim file"
        ) from error
    if len(data) > _MOST_BYTES:
        raise RunError("file", f"{file} is larger than a model can be ({_MOST_BYTES:,} bytes)")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RunError(
            "file", f"{file} is no UTF-8 text: byte {error.start}", "save it as UTF-8"
        ) from error
    return Model(text, name=str(file), generator=generator, math=math)


def compile(
    source: str,
    *,
    name: str = "<source>",
    generator: str = "keyed-hash",
    math: str = "fast",
) -> Model:
    """Compiles a model from its text. ``name`` is what errors call it."""
    return Model(source, name=name, generator=generator, math=math)


class Model:
    """A compiled model."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Model:
        # A class per model: so `help(model)`, signatures and completion know its params.
        own = type(cls.__name__, (cls,), {"__module__": "simc", "_is_own": True})
        return super().__new__(cls if getattr(cls, "_is_own", False) else own)

    def __init__(
        self,
        source: str,
        *,
        name: str = "<source>",
        generator: str = "keyed-hash",
        math: str = "fast",
    ) -> None:
        if not isinstance(source, str):
            raise TypeError(f"the source of a model is text, not {type(source).__name__}")
        self._options = (generator, math)
        self.source = source
        """The text."""
        self.name = name
        """What errors call it: the path, or ``<source>``."""
        self._native = Native(name, source, generator, math, False)
        self._checked: Native | None = None
        manifest = _manifest.read(self._native.manifest())
        self._manifest = manifest
        self.doc: str = manifest.doc
        """The model's ``//!`` lines."""
        self.agents: int | None = manifest.agents
        """The model's number of agents, if it gives one."""
        self.steps: int | None = manifest.steps
        """The model's number of steps, if it gives one."""
        self.params: dict[str, Param] = manifest.params
        """A value per run, by name."""
        self.data: dict[str, Data] = manifest.data
        """Tables, by name."""
        self.inputs: dict[str, Input] = manifest.inputs
        """A value per agent or world, by name."""
        self.states: dict[str, Field] = manifest.states
        """States of agents and worlds, by name."""
        self.outputs: dict[str, Field] = manifest.outputs
        """Outputs of agents and worlds, by name."""
        self.series: tuple[SeriesField, ...] = manifest.series
        """What is recorded and observed."""
        self._describe()

    def run(
        self,
        *,
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        keep_states: bool = True,
        keep_outputs: bool = True,
        check: bool = False,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Run:
        """Runs the model.

        ``backend`` is ``auto``, ``gpu``, ``cpu`` or ``reference``; ``adapter`` a part of the name
        of a GPU. Params, inputs and tables are keywords; those whose name is also an option, or no
        Python name, go in ``params``, ``inputs`` and ``data``. ``keep_outputs=False`` computes
        statistics only. ``check=True`` finds bad indices, divisions and numbers, and checks each
        ``assert``. ``progress=True`` shows a bar; a function gets the agent-steps that are done and
        all.
        """
        given = values
        if params or inputs or data:
            given = self._joined(values, params, inputs, data)
        settings: dict[str, Any] = {"backend": backend}
        if agents is not None:
            settings["agents"] = _count("agents", agents)
        if steps is not None:
            settings["steps"] = _count("steps", steps)
        if world is not None:
            settings["world"] = _count("world", world)
        if first_agent:
            settings["first_agent"] = _count("first_agent", first_agent)
        if population is not None:
            settings["population"] = _count("population", population)
        if adapter is not None:
            settings["adapter"] = adapter
        if not keep_outputs:
            settings["keep_outputs"] = False
        if not keep_states:
            settings["keep_states"] = False
        for name in given:
            if name not in self._borders:
                raise self._unknown(name, self.run)
        native = self._native_checked() if check else self._native
        shown: AbstractContextManager[Progress | None] = (
            bar(progress) if progress else nullcontext(None)
        )
        with shown as report:
            run = native.run(settings, _seed(seed), given, _on_main_thread(), report)
        return Run(self, run)

    def session(
        self,
        *,
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        check: bool = False,
        **values: Any,
    ) -> Session:
        """Begins a run whose steps the caller takes: see :class:`simc.Session`.

        The keywords are those of :meth:`run`. ``backend="auto"`` is the CPU here. ``steps`` is the
        most that it can take in all, up to ``2**30 - 1``.
        """
        from ._session import Session

        given = values
        if params or inputs or data:
            given = self._joined(values, params, inputs, data)
        settings: dict[str, Any] = {"backend": backend}
        counts = {"agents": agents, "steps": steps, "world": world, "population": population}
        for name, value in {**counts, "first_agent": first_agent or None}.items():
            if value is not None:
                settings[name] = _count(name, value)
        if adapter is not None:
            settings["adapter"] = adapter
        for name in given:
            if name not in self._borders:
                raise self._unknown(name, self.session)
        native = self._native_checked() if check else self._native
        return Session(self, NativeSession(native, settings, _seed(seed), given))

    def warnings(self) -> list[Diagnostic]:
        """What is likely a mistake in the model though it compiles: unused names, conditions that
        are always true, and so on."""
        return self._native.warnings()[1]

    def _native_checked(self) -> Native:
        if self._checked is None:
            generator, math = self._options
            self._checked = Native(self.name, self.source, generator, math, True)
        return self._checked

    def _joined(
        self,
        values: dict[str, Any],
        params: Mapping[str, Any] | None,
        inputs: Mapping[str, Any] | None,
        data: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """All values by name."""
        joined = dict(values)
        kinds: list[tuple[str, Mapping[str, Any] | None, Mapping[str, Field]]] = [
            ("params", params, self.params),
            ("inputs", inputs, self.inputs),
            ("data", data, self.data),
        ]
        for kind, given, known in kinds:
            if given is None:
                continue
            if not isinstance(given, Mapping):
                message = f"`{kind}` is a mapping of names to values, not {type(given).__name__}"
                raise RunError("E0702", message, f"{kind}={{'name': values}}")
            for name, value in given.items():
                if name not in known:
                    raise UnknownNameError(
                        "E0701", f"the model has no {kind} `{name}`", nearest(name, known, kind)
                    )
                if name in joined:
                    raise RunError("E0701", f"`{name}` is given twice", "give it once")
                joined[name] = value
        return joined

    def _unknown(self, name: str, method: Callable[..., Any]) -> UnknownNameError:
        options = [
            each
            for each, parameter in inspect.signature(method).parameters.items()
            if parameter.kind is parameter.KEYWORD_ONLY and each not in self._borders
        ]
        message = f"`{name}` is neither a param, an input or data of the model, nor an option"
        if name in self.outputs or name in self.states:
            kind = "an output" if name in self.outputs else "a state"
            return UnknownNameError("E0701", f"`{name}` is {kind}, which a run computes", None)
        known = [*self._borders, *options]
        help = nearest(name, known, "param or option")
        return UnknownNameError("E0701", message, help)

    def _describe(self) -> None:
        """Gives the class of this model its documentation, and `run` its keywords."""
        self._borders: dict[str, Field] = {**self.params, **self.inputs, **self.data}
        own = type(self)
        own.__doc__ = _documentation(self)
        own.run = _with_keywords(Model.run, self._borders)  # type: ignore[method-assign]
        own.session = _with_keywords(  # type: ignore[method-assign]
            Model.session, self._borders
        )

    def __repr__(self) -> str:
        names = ", ".join(self._borders)
        return f"<simc.Model {self.name}({names}) -> {', '.join(self.outputs)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self.source, self.name, *self._options)


def _again(source: str, name: str, generator: str, math: str) -> Model:
    """The same model in another process."""
    return Model(source, name=name, generator=generator, math=math)


def _with_keywords(method: Callable[..., Any], borders: Mapping[str, Field]) -> Callable[..., Any]:
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


def _documentation(model: Model) -> str:
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


def _count(name: str, value: Any) -> int:
    """A count of a run as an integer."""
    try:
        number = operator.index(value)
    except TypeError:
        if isinstance(value, float) and value.is_integer():
            number = int(value)
        else:
            message = f"`{name}` is a whole number, not {value!r}"
            raise RunError("E0702", message, f"{name}=1_000") from None
    if not 0 <= number <= _COUNTS[name]:
        message = f"`{name}` is {number}, and lies in 0..={_COUNTS[name]}"
        raise RunError("E0703", message, "give a number within")
    return number


def _seed(value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise RunError("E0702", f"`seed` is a whole number, not {value!r}", "seed=7") from None
    if not 0 <= number < 2**64:
        message = f"`seed` is {number}, and lies in 0..=18446744073709551615"
        raise RunError("E0703", message, "give a number within")
    return number


def _on_main_thread() -> bool:
    return threading.get_ident() == threading.main_thread().ident
