"""Runs whose caller takes the steps."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._model import Model, _count, _on_main_thread, seed_of
from ._run import nearest
from ._simc import Native, NativeSession
from .errors import RunError, UnknownNameError

if TYPE_CHECKING:
    from typing_extensions import Self

Array = NDArray[Any]
Call = tuple[dict[str, Any], dict[str, Any], bool, Any]


class Session:
    """A run whose steps are taken one after the other, or some at a time: ``model.session(…)``
    begins it.

    Inputs and params can be changed between steps, states and outputs can be read, and agents can
    begin anew. Without such changes it gives the bits of ``model.run``. Use it as a context
    manager, or close it, to free its memory early.
    """

    def __init__(self, model: Model, native: Native, call: Call, seed: int) -> None:
        self.model = model
        """The model."""
        self._native = NativeSession(native, call, seed)

    def step(self, count: int = 1) -> None:
        """Takes so many steps with all agents. After an error nothing has changed."""
        if type(count) is not int or count < 0:
            count = _count("steps", count)
        self._native.step(count, _on_main_thread())

    def state(self, name: str) -> Array:
        """A state of all agents, or of all worlds."""
        if name not in self.model.states:
            raise _unknown("state", name, self.model.states)
        return self._native.state(name)

    def output(self, name: str) -> Array:
        """An output of all agents, or of all worlds: what it would be if the run ended here."""
        return self.outputs((name,))[0]

    def outputs(self, names: Iterable[str]) -> tuple[Array, ...]:
        """Several of them at once."""
        wanted = list(names)
        for name in wanted:
            if name not in self.model.outputs:
                raise _unknown("output", name, self.model.outputs)
        return self._native.outputs(wanted)

    def __getitem__(self, name: str) -> Array:
        return self.output(name)

    def set_input(self, name: str, values: Any) -> None:
        """Sets an input for the steps to come: a row per agent (or world), or one number for all.

        Before the first step, initial values and inputs that the model computes follow it.
        """
        if name not in self.model.inputs:
            raise _unknown("input", name, self.model.inputs)
        self._native.set("input", name, values)

    def set_param(self, name: str, value: Any) -> None:
        """Sets a param for the steps to come.

        Before the first step, initial values and inputs that the model computes follow it; later,
        such inputs stay as they are.
        """
        if name not in self.model.params:
            raise _unknown("param", name, self.model.params)
        self._native.set("param", name, value)

    def reset(self, seed: int | None = None, *, mask: Any = None) -> None:
        """Lets agents begin anew.

        Without a mask it is all of them, with no step done, and the same draws as before, or those
        of another seed. A mask has a bool per agent: those with ``True`` begin anew, and the step
        number goes on. Their draws depend on the seed, the agent and the step number alone.
        """
        if mask is None:
            self._native.reset(None if seed is None else seed_of(seed))
            return
        if seed is not None:
            raise RunError(
                "E0728",
                "a seed is for all agents, and was given with a mask",
                "reset all agents with the seed, or some without one",
            )
        chosen = np.ascontiguousarray(mask)
        if chosen.dtype != np.bool_ or chosen.ndim != 1:
            raise RunError(
                "E0728",
                f"the mask is an array of {chosen.dtype} of shape {chosen.shape}",
                f"give a bool for each of the {self.agents} agents",
            )
        self._native.reset_agents(chosen)

    @property
    def stopped(self) -> NDArray[np.bool_]:
        """Whether each agent executed ``stop``."""
        return self._native.stopped()

    @property
    def agents(self) -> int:
        """The number of agents."""
        return self._native.counts()[0]

    @property
    def at(self) -> int:
        """The number of steps that are done."""
        return self._native.counts()[1]

    @property
    def steps(self) -> int:
        """The number of steps that it can take in all: the value of ``steps`` in the model."""
        return self._native.counts()[2]

    @property
    def seed(self) -> int:
        """The seed of every draw."""
        return self._native.counts()[3]

    @property
    def backend(self) -> str:
        """``cpu``, ``gpu`` or ``reference``."""
        return self._native.device()[0]

    @property
    def adapter(self) -> str | None:
        """The name of the GPU."""
        return self._native.device()[1]

    @property
    def closed(self) -> bool:
        """Whether it is closed: nothing can be done with it then."""
        return self._native.closed()

    def close(self) -> None:
        """Frees its memory. Closing it twice does nothing."""
        self._native.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if self.closed:
            return f"<simc.Session of {self.model.name}, closed>"
        agents, at, steps, _ = self._native.counts()
        return f"<simc.Session of {self.model.name}: {agents:,} agents, {at:,} of {steps:,} steps>"


def _unknown(role: str, name: str, known: Iterable[str]) -> UnknownNameError:
    return UnknownNameError(
        "E0701", f"the model has no {role} `{name}`", nearest(name, known, role)
    )


Session.__module__ = "simc"
