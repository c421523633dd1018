"""Compiled models."""

from __future__ import annotations

import inspect
import operator
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _manifest
from ._help import documentation, with_keywords
from ._manifest import Data, Field, Input, Param, SeriesField
from ._progress import bar
from ._results import Derivatives, Fit, Found, Gradient
from ._run import Run, nearest
from ._simc import Native
from ._sweep import Sweep, sweep
from .errors import Diagnostic, RunError, UnknownNameError

if TYPE_CHECKING:
    from ._session import Session

Progress = Callable[[int, int], object]
"""Called now and then with the agent-steps that are done, and all."""

_MOST_BYTES = 256 << 20
"""Most bytes of a model, as on the command line."""

Options = tuple[str, str, str]
"""Generator, functions of mathematics, and type of floats of a model."""

Devices = int | str | Sequence[int | str]
"""Devices that run together: ``"all"``, how many of them, or their numbers and names."""

Range = tuple[float, float] | Mapping[str, tuple[float, float]]
"""Ends of a range for all inputs, or by input."""

_COUNTS = {
    "agents": 2**31 - 1,
    "steps": 2**30 - 1,
    "world": 2**31 - 1,
    "first_agent": 2**32 - 1,
    "population": 2**31 - 1,
    "starts": 2**20,
    "iterations": 2**32 - 1,
    "generations": 2**32 - 1,
    "evaluations": 2**20,
    "elites": 2**20,
}
"""The greatest value of each count."""


def load(
    path: str | os.PathLike[str],
    *,
    generator: str = "keyed-hash",
    math: str = "fast",
    real: str = "f32",
) -> Model:
    """Reads and compiles a ``.sim`` file.

    ``generator`` is ``keyed-hash`` or ``philox4x32-10``. ``math`` is ``fast``, the functions of the
    device, or ``precise``, ours. ``real`` is the type of floats: ``f32``, or ``f64`` on the CPU.
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
    return Model(text, name=str(file), generator=generator, math=math, real=real)


def compile(
    source: str,
    *,
    name: str = "<source>",
    generator: str = "keyed-hash",
    math: str = "fast",
    real: str = "f32",
) -> Model:
    """Compiles a model from its text, as `load` does. ``name`` is what errors call it."""
    return Model(source, name=name, generator=generator, math=math, real=real)


class Model:
    """A compiled model."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Model:
        # A class per model: so `help(model)`, signatures and completion know its params.
        if getattr(cls, "_is_own", False):
            return super().__new__(cls)
        own: Any = type(cls.__name__, (cls,), {"__module__": "simc", "_is_own": True})
        made: Model = super().__new__(own)
        return made

    def __init__(
        self,
        source: str,
        *,
        name: str = "<source>",
        generator: str = "keyed-hash",
        math: str = "fast",
        real: str = "f32",
    ) -> None:
        if not isinstance(source, str):
            raise TypeError(f"the source of a model is text, not {type(source).__name__}")
        self._options: Options = (generator, math, real)
        self.source = source
        """The text."""
        self.name = name
        """What errors call it: the path, or ``<source>``."""
        self.real = real
        """The type of its floats: ``f32`` or ``f64``."""
        self._native = Native(name, source, *self._options, False)
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
        devices: Devices | None = None,
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
        of a GPU. ``devices`` runs on several devices at once, in place of both: ``"all"``, how
        many, or a list such as ``[0, 1]`` or ``[0, "cpu"]``. Params, inputs and tables are
        keywords; those whose name is also an option, or no Python name, go in ``params``,
        ``inputs`` and ``data``. ``keep_outputs=False`` computes
        statistics only. ``check=True`` finds bad indices, divisions and numbers, and checks each
        ``assert``. ``progress=True`` shows a bar; a function gets the agent-steps that are done and
        all.
        """
        given = self._given(self.run, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        if not keep_outputs:
            settings["keep_outputs"] = False
        if not keep_states:
            settings["keep_states"] = False
        native = self._native_checked() if check else self._native
        with _shown(progress) as report:
            call = (settings, given, _on_main_thread(), report)
            run = native.run(call, seed_of(seed))
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
        """Begins a run whose steps the caller takes, a few at a time: see `simc.Session`.

        ``backend="auto"`` is the CPU here. ``steps`` is the most that it can take in all, up to
        ``2**30 - 1``. Everything else is as in `run`.
        """
        from ._session import Session

        given = self._given(self.session, values, params, inputs, data)
        settings = _settings(agents, steps, world, first_agent, population, backend, adapter)
        native = self._native_checked() if check else self._native
        return Session(self, native, (settings, given, _on_main_thread(), None), seed_of(seed))

    def sweep(
        self,
        *,
        agents: int | None = None,
        steps: int | None = None,
        seed: Any = 0,
        backend: str = "auto",
        adapter: str | None = None,
        devices: Devices | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        zip: bool = False,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Sweep:
        """Runs the model at many points, as one batch, and takes the statistics of each.

        Each param that is given a sequence of its values is an axis, and so is ``seed``: the points
        are a grid, or with ``zip=True`` the first values together, then the second ones, and so on.
        All points have the same draws unless ``seed`` is swept. Everything else is as in `run`.
        """
        given = self._given(self.sweep, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        with _shown(progress) as report:
            found = seed if np.ndim(seed) else seed_of(seed)
            return sweep(self, settings, found, given, zip, _on_main_thread(), report)

    def gradient(
        self,
        of: str,
        wrt: str | Iterable[str],
        *,
        mode: str = "auto",
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        devices: Devices | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Gradient:
        """A loss and its derivatives by all floats of some params and inputs.

        ``of`` is ``mean(OUTPUT)`` or ``sum(OUTPUT)`` over all agents, of an output with several
        values of one: ``mean(path[3])``. ``mode`` is ``auto``, ``forward`` or ``reverse``. The
        derivative is that along the paths of the agents, with the same draws. Everything else is as
        in `run`. Programs are compiled once, and used again while only values change.
        """
        given = self._given(self.gradient, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        with _shown(progress) as report:
            call = (settings, given, _on_main_thread(), report)
            found = self._native.gradient(call, seed_of(seed), of, _names(wrt), mode)
        return Gradient(self, of, found)

    def derivatives(
        self,
        of: str,
        wrt: str | Iterable[str],
        *,
        mode: str = "auto",
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        devices: Devices | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Derivatives:
        """An output of each agent, and its derivatives by all floats of some params and inputs.

        By an input it is the derivative by the agent's own value. Everything else is as in
        `gradient`; values that are not finite are no error here.
        """
        given = self._given(self.derivatives, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        with _shown(progress) as report:
            call = (settings, given, _on_main_thread(), report)
            found = self._native.derivatives(call, seed_of(seed), of, _names(wrt), mode)
        return Derivatives(self, of, found)

    def fit(
        self,
        over: str | Iterable[str],
        *,
        minimise: str | None = None,
        least_squares: str | None = None,
        method: str | None = None,
        mode: str = "auto",
        starts: int = 1,
        iterations: int | None = None,
        search_seed: int = 0,
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        devices: Devices | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Fit:
        """Searches the params at which a loss is least, or at which residuals are.

        ``over`` names the params, of an array all values, or ``w[3]``. ``minimise`` is a loss as in
        `gradient`; ``least_squares`` an output whose sum of squares over agents is made small.
        ``method`` is ``lbfgs``, ``adam``, ``lm`` (least squares), ``nelder-mead`` or ``cma-es``;
        ``starts`` searches from several points. All points have the same draws. Everything else is
        as in `run`.
        """
        if (minimise is None) == (least_squares is None):
            raise RunError(
                "fit",
                "`fit` takes either `minimise` or `least_squares`",
                'as in `minimise="mean(loss)"`',
            )
        asked = {
            "minimise": minimise,
            "least_squares": least_squares,
            "over": _names(over),
            "method": method,
            "mode": mode,
            "starts": _count("starts", starts),
            "iterations": None if iterations is None else _count("iterations", iterations),
            "search_seed": seed_of(search_seed),
        }
        given = self._given(self.fit, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        with _shown(progress) as report:
            call = (settings, given, _on_main_thread(), report)
            found = self._native.fit(call, seed_of(seed), asked)
        return Fit(self, minimise or f"sum of squares of {least_squares}", found)

    def search(
        self,
        over: str | Iterable[str],
        *,
        maximise: str | None = None,
        minimise: str | None = None,
        method: str = "ga",
        method_settings: Mapping[str, Any] | None = None,
        generations: int = 100,
        target: float | None = None,
        evaluations: int = 1,
        common_draws: bool = False,
        fixed_draws: bool = False,
        start: Range | None = None,
        within: Range | None = None,
        elites: int = 10,
        search_seed: int = 0,
        agents: int | None = None,
        steps: int | None = None,
        seed: int = 0,
        backend: str = "auto",
        adapter: str | None = None,
        devices: Devices | None = None,
        world: int | None = None,
        first_agent: int = 0,
        population: int | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        progress: bool | Progress = False,
        **values: Any,
    ) -> Found:
        """Searches the inputs with which a fitness is best: each agent is a candidate.

        ``over`` names float inputs of agents, and ``maximise`` or ``minimise`` the output that is
        the fitness. ``method`` is ``ga``, ``open-es``, ``cma-es``, ``sep-cma-es`` or ``random``;
        ``method_settings`` what it takes. ``start`` and ``within`` are a range ``(low, high)`` of
        all genes, or a mapping of inputs to ranges. Everything else is as in `run`.
        """
        asked = _asked(
            over=over,
            maximise=maximise,
            minimise=minimise,
            method=method,
            method_settings=method_settings,
            generations=generations,
            target=target,
            evaluations=evaluations,
            common_draws=common_draws,
            fixed_draws=fixed_draws,
            start=start,
            within=within,
            elites=elites,
            search_seed=search_seed,
        )
        given = self._given(self.search, values, params, inputs, data)
        settings = _settings(
            agents, steps, world, first_agent, population, backend, adapter, devices
        )
        with _shown(progress) as report:
            call = (settings, given, _on_main_thread(), report)
            found = self._native.search(call, seed_of(seed), asked)
        return Found(asked["fitness"], found)

    def warnings(self) -> list[Diagnostic]:
        """What is likely a mistake in the model though it compiles: unused names, conditions that
        are always true, and so on."""
        return self._native.warnings()[1]

    def _native_checked(self) -> Native:
        if self._checked is None:
            self._checked = Native(self.name, self.source, *self._options, True)
        return self._checked

    def _given(
        self,
        method: Callable[..., Any],
        values: dict[str, Any],
        params: Mapping[str, Any] | None,
        inputs: Mapping[str, Any] | None,
        data: Mapping[str, Any] | None,
    ) -> dict[str, Any]:
        """All values by name."""
        for name in values:
            if name not in self._borders:
                raise self._unknown(name, method)
        if not (params or inputs or data):
            return values
        joined = dict(values)
        kinds: list[tuple[str, Mapping[str, Any] | None, Mapping[str, Field]]] = [
            ("params", params, self.params),
            ("inputs", inputs, self.inputs),
            ("data", data, self.data),
        ]
        for kind, given, known in kinds:
            if not given:
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
        own.__doc__ = documentation(self)
        methods = (
            Model.run,
            Model.session,
            Model.sweep,
            Model.gradient,
            Model.derivatives,
            Model.fit,
            Model.search,
        )
        for method in methods:
            setattr(own, method.__name__, with_keywords(method, self._borders))

    def __repr__(self) -> str:
        names = ", ".join(self._borders)
        return f"<simc.Model {self.name}({names}) -> {', '.join(self.outputs)}>"

    def _repr_html_(self) -> str:
        from ._source import model_html

        return model_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return again, (self.source, self.name, self._options)


def again(source: str, name: str, options: Options) -> Model:
    """The same model in another process."""
    generator, math, real = options
    return Model(source, name=name, generator=generator, math=math, real=real)


def _settings(
    agents: int | None,
    steps: int | None,
    world: int | None,
    first_agent: int,
    population: int | None,
    backend: str,
    adapter: str | None,
    devices: Devices | None = None,
) -> dict[str, Any]:
    """What a run is given beside values and a seed, for the native module."""
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
    if devices is not None:
        if backend != "auto" or adapter is not None:
            raise RunError(
                "option",
                "`devices` stands in place of `backend` and `adapter`",
                "leave them out",
            )
        settings["devices"] = _listed(devices)
    return settings


def _listed(devices: Devices) -> str:
    """Devices as the command line takes them."""
    if isinstance(devices, str):
        return devices
    if isinstance(devices, Sequence):
        # With a comma at the end, one number is that of a device and not how many.
        return ",".join(str(each) for each in devices) + "," * (len(devices) == 1)
    return str(devices)


def _asked(
    *,
    over: str | Iterable[str],
    maximise: str | None,
    minimise: str | None,
    method: str,
    method_settings: Mapping[str, Any] | None,
    generations: int,
    target: float | None,
    evaluations: int,
    common_draws: bool,
    fixed_draws: bool,
    start: Range | None,
    within: Range | None,
    elites: int,
    search_seed: int,
) -> dict[str, Any]:
    """What a search is asked for, for the native module."""
    if (maximise is None) == (minimise is None):
        raise RunError(
            "search", "`search` takes either `maximise` or `minimise`", 'maximise="reward"'
        )
    return {
        "fitness": maximise if maximise is not None else minimise,
        "maximise": maximise is not None,
        "over": _names(over),
        "method": method,
        "settings": dict(method_settings or {}),
        "generations": _count("generations", generations),
        "target": target,
        "evaluations": _count("evaluations", evaluations),
        "common_draws": common_draws,
        "fixed_draws": fixed_draws,
        "start": _ranges("start", start),
        "within": _ranges("within", within),
        "elites": _count("elites", elites),
        "search_seed": seed_of(search_seed),
    }


def _shown(progress: bool | Progress) -> AbstractContextManager[Progress | None]:
    """What a run reports its progress to, if anything."""
    return bar(progress) if progress else nullcontext(None)


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


def _names(given: str | Iterable[str]) -> list[str]:
    """Names, from a list or from a text with commas."""
    if isinstance(given, str):
        return [name.strip() for name in given.split(",") if name.strip()]
    return [str(name) for name in given]


def _ranges(what: str, given: Range | None) -> list[tuple[str | None, float, float]]:
    """Ranges by input; without a name it is that of all inputs."""
    if given is None:
        return []
    try:
        if isinstance(given, Mapping):
            return [(name, float(low), float(high)) for name, (low, high) in given.items()]
        low, high = given
        return [(None, float(low), float(high))]
    except (TypeError, ValueError) as error:
        raise RunError(
            "E0702", f"`{what}` is a range or a mapping of inputs to ranges", f"{what}=(-1.0, 1.0)"
        ) from error


def seed_of(value: Any) -> int:
    """A seed as an integer."""
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
