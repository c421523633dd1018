"""Models as environments of Gymnasium.

>>> import simc.gym
>>> env = simc.gym.VectorEnv("cartpole.sim", num_envs=4096)
>>> observations, infos = env.reset(seed=7)
>>> observations, rewards, terminations, truncations, infos = env.step(env.action_space.sample())

A model is an environment by the names of its declarations:

* ``input action`` without a default is what the agent does;
* ``output observation`` is what it sees;
* ``output reward`` is the reward of the last step;
* ``output done``, a bool, ends the episode (``terminations``); without it, ``stop`` does;
* ``output truncated``, a bool, cuts it off (``truncations``), if there is one; ``steps N`` cuts off
  each episode after N steps.

Spaces follow types. A line ``/// Range: low..high`` above the input or the output states the
bounds, both ends included, for all elements, or one range per element: ``/// Range: -1..1, -8..8``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

try:
    import gymnasium
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
    from gymnasium.vector import AutoresetMode
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise ImportError("simc.gym needs gymnasium 1.1 or newer: pip install gymnasium") from error

from ._manifest import Field, Input
from ._model import Model, load
from ._run import nearest
from ._session import Session
from ._spaces import gathered, space_of
from .errors import RunError, UnknownNameError

__all__ = ["AutoresetMode", "Env", "VectorEnv"]

Array = NDArray[Any]
Infos = dict[str, Any]

_MOST_STEPS = 2**30 - 1
"""The most steps of a session."""


class VectorEnv(gymnasium.vector.VectorEnv[Any, Any, Array]):
    """Many environments of one model, an agent each, that take their steps together."""

    metadata: dict[str, Any] = {  # noqa: RUF012
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        model: Model | str | os.PathLike[str],
        num_envs: int = 1,
        *,
        action: str = "action",
        observation: str | Sequence[str] = "observation",
        reward: str = "reward",
        done: str = "done",
        truncated: str = "truncated",
        info: Sequence[str] = (),
        action_space: spaces.Space[Any] | None = None,
        observation_space: spaces.Space[Any] | None = None,
        max_episode_steps: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        steps: int | None = None,
        backend: str = "auto",
        adapter: str | None = None,
        params: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        data: Mapping[str, Any] | None = None,
        check: bool = False,
        render_mode: None = None,
    ) -> None:
        """``model`` is a model or the path of one.

        ``action`` to ``truncated`` are the names in the model; ``observation`` may name several
        outputs, whose numbers are then joined. ``info`` names outputs for ``infos``.
        ``action_space`` and ``observation_space`` are those of a single environment, in place of
        those that the model declares. An episode is cut off after ``max_episode_steps``, by default
        the model's ``steps``. ``autoreset_mode`` is one of Gymnasium's. ``steps`` is needed only by
        a model that reads it: as many steps can then be taken before all begin anew. The others are
        those of :meth:`simc.Model.session`.
        """
        model = model if isinstance(model, Model) else load(model)
        self.model = model
        """The model."""
        self.num_envs = num_envs
        self.render_mode = render_mode
        if render_mode is not None:
            raise RunError("gym", "a model draws no pictures: `render_mode` is None")
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self._roles(action, observation, reward, done, truncated, info)
        limit = model.steps if max_episode_steps is None else max_episode_steps
        self._limit = None if limit is None else int(limit)
        if self._limit is not None and self._limit < 1:
            raise RunError(
                "gym", f"an episode has {limit} steps, and needs one", "max_episode_steps=500"
            )

        self.single_action_space = space_of([self._action], action_space, is_action=True)
        self.single_observation_space = space_of(
            self._observed, observation_space, joined=self._is_joined
        )
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)

        given = dict(inputs or {})
        if self._action.source == "required":
            # Until the first step.
            given.setdefault(action, np.zeros((num_envs, *self._action.shape), self._action.dtype))
        self.session: Session = model.session(
            agents=num_envs,
            steps=self._session_steps(steps),
            backend=backend,
            adapter=adapter,
            params=params,
            inputs=given,
            data=data,
            check=check,
        )
        """What the environments run in, for params and inputs that change."""
        self._elapsed = np.zeros(num_envs, np.int64)
        self._over = np.zeros(num_envs, np.bool_)
        self._began = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, Infos]:
        """Lets the environments begin anew: all, or those of ``options={"reset_mask": mask}``.

        The same seed gives the same episodes. Without one, each reset gives others.
        """
        mask = self._mask(options)
        if mask is None:
            super().reset(seed=seed)
            drawn = int(self.np_random.integers(2**63)) if seed is None else seed
            self.session.reset(seed=drawn)
            self._began = True
        elif seed is not None:
            raise RunError(
                "gym",
                "a seed is for all environments, and was given with `reset_mask`",
                "reset all with the seed, or some without one",
            )
        elif not self._began:
            raise ResetNeeded("Call `reset()` for all environments before one with `reset_mask`.")
        else:
            self.session.reset(mask=mask)
        self._elapsed[... if mask is None else mask] = 0
        self._over[... if mask is None else mask] = False
        found = self.session.outputs(self._names)
        return self._seen(found), self._infos(found)

    def step(self, actions: Any) -> tuple[Array, Array, Array, Array, Infos]:
        """Takes a step in each environment: observations, rewards, terminations, truncations and
        infos. An episode that has ended begins anew as the autoreset mode says."""
        self._refuse_step()
        session, anew = self.session, None
        session.set_input(self._action.name, self._checked(actions))
        session.step(1)
        self._elapsed += 1
        if self._mode is AutoresetMode.NEXT_STEP and self._over.any():
            anew = self._over
            session.reset(mask=anew)
            self._elapsed[anew] = 0
        found = session.outputs(self._names)
        real = np.float64 if self.model.real == "f64" else np.float32
        rewards = np.asarray(found[self._reward_at], real)
        terminations, truncations = self._ends(found)
        if anew is not None:
            # The step of these environments was their beginning.
            rewards = np.where(anew, real(0.0), rewards)
            terminations &= ~anew
            truncations &= ~anew
        over = terminations | truncations
        self._over = over
        observations, infos = self._seen(found), self._infos(found)
        if self._mode is AutoresetMode.SAME_STEP and over.any():
            observations, infos = self._begun_in_same_step(observations, infos)
        return observations, rewards, terminations, truncations, infos

    def close_extras(self, **kwargs: Any) -> None:
        """Closes the session."""
        if hasattr(self, "session"):
            self.session.close()

    def _begun_in_same_step(self, observations: Array, infos: Infos) -> tuple[Array, Infos]:
        over = self._over
        final = np.full(self.num_envs, None, dtype=object)
        for k in np.flatnonzero(over):
            final[k] = observations[k]
        self.session.reset(mask=over)
        self._elapsed[over] = 0
        self._over = np.zeros(self.num_envs, np.bool_)
        fresh = self.session.outputs(self._names)
        last: Infos = {}
        for name in self._info_at:
            last[name], last[f"_{name}"] = infos[name], over.copy()
        begun = self._infos(fresh)
        begun.update(final_obs=final, _final_obs=over.copy())
        begun.update(final_info=last, _final_info=over.copy())
        return self._seen(fresh), begun

    def _refuse_step(self) -> None:
        if not self._began and not self.session.closed:
            raise ResetNeeded("Call `reset()` before the first `step()`.")
        if self._mode is AutoresetMode.DISABLED and self._over.any():
            raise ResetNeeded(
                f"{int(self._over.sum())} environments have ended their episodes, and autoreset is "
                'disabled: call `reset(options={"reset_mask": terminations | truncations})`.'
            )

    def _roles(
        self,
        action: str,
        observation: str | Sequence[str],
        reward: str,
        done: str,
        truncated: str,
        info: Sequence[str],
    ) -> None:
        """Finds the model's declarations, and where their values will be among those of a step."""
        model = self.model
        if model._manifest.has_worlds:
            raise RunError(
                "gym",
                "the agents of a world begin together, and environments begin by themselves",
                "use `model.session()`",
            )
        if action not in model.inputs:
            raise self._missing("input", action, "action", model.inputs)
        self._action: Input = model.inputs[action]
        self._is_joined = not isinstance(observation, str)
        names = [observation] if isinstance(observation, str) else list(observation)
        self._observed = [self._output(name, "observation") for name in names]
        self._output(reward, "reward")
        self._names = [*names, reward]
        self._reward_at = len(names)
        self._done_at = self._flag(done, "done", optional="done")
        self._truncated_at = self._flag(truncated, "truncated", optional="truncated")
        self._info_at = {}
        for name in info:
            self._output(name, "info")
            self._info_at[name] = len(self._names)
            self._names.append(name)
        field = model.outputs[reward]
        if field.shape or field.scalar == "bool" or field.variants:
            message = f"output `{reward}` is {field.type}, and a reward is a number"
            raise RunError("gym", message, "reward = f32(…)")

    def _output(self, name: str, what: str) -> Field:
        if name not in self.model.outputs:
            raise self._missing("output", name, what, self.model.outputs)
        return self.model.outputs[name]

    def _flag(self, name: str, what: str, optional: str) -> int | None:
        """Where a bool stands. Only the name of the convention may be missing."""
        if name == optional and name not in self.model.outputs:
            return None
        field = self._output(name, what)
        if field.shape or field.scalar != "bool":
            message = f"output `{name}` is {field.type}, and `{what}` is a bool"
            raise RunError("gym", message, f"output {name} = … != 0")
        self._names.append(name)
        return len(self._names) - 1

    def _missing(
        self, role: str, name: str, what: str, known: Mapping[str, Field]
    ) -> UnknownNameError:
        message = f"the model has no {role} `{name}`, which is its {what} as an environment"
        help = f"declare it, or name another one by `{what}=`; {nearest(name, known, role)}"
        return UnknownNameError("E0701", message, help)

    def _session_steps(self, steps: int | None) -> int:
        if steps is None and self.model._native.reads_steps():
            raise RunError(
                "gym",
                "the model reads `steps`, and an environment has no last step",
                "use a param in its place, or give `steps=`: the environment can then take as many",
            )
        return _MOST_STEPS if steps is None else steps

    def _mask(self, options: dict[str, Any] | None) -> NDArray[np.bool_] | None:
        rest = dict(options or {})
        mask = rest.pop("reset_mask", None)
        if rest:
            raise UnknownNameError(
                "gym", f"there is no option `{next(iter(rest))}`", "known: `reset_mask`"
            )
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(f"`reset_mask` is an array of bool, not {_type_of(mask)}")
        if mask.shape != (self.num_envs,):
            raise ValueError(
                f"`reset_mask` has shape {mask.shape}, and there are {self.num_envs} environments"
            )
        return mask

    def _checked(self, given: Any) -> Array:
        """The actions as the model takes them."""
        actions: Array = np.asarray(given)
        space = self.single_action_space
        shape = self.action_space.shape
        if actions.shape != shape:
            raise ValueError(f"the actions have shape {actions.shape}, and not {shape}")
        if isinstance(space, spaces.Box):
            return actions
        if actions.dtype.kind not in "iub":
            raise TypeError(f"the actions are {actions.dtype}, and not integers")
        low: Any = 0
        high: Any = 1
        if isinstance(space, spaces.Discrete):
            low, high = space.start, space.start + space.n - 1
        elif isinstance(space, spaces.MultiDiscrete):
            low, high = space.start, space.start + space.nvec - 1
        if ((actions < low) | (actions > high)).any():
            raise ValueError(f"actions lie in {space}: {actions}")
        return actions.astype(self._action.dtype, copy=False)

    def _seen(self, found: tuple[Array, ...]) -> Array:
        return gathered(found[: self._reward_at], self.observation_space)

    def _ends(self, found: tuple[Array, ...]) -> tuple[Array, Array]:
        done, cut = self._done_at, self._truncated_at
        terminations = self.session.stopped if done is None else found[done]
        truncations = np.zeros(self.num_envs, np.bool_) if cut is None else found[cut]
        if self._limit is not None:
            truncations = truncations | (self._elapsed >= self._limit)
        return terminations, truncations

    def _infos(self, found: tuple[Array, ...]) -> Infos:
        infos: Infos = {}
        for name, at in self._info_at.items():
            infos[name] = found[at]
            infos[f"_{name}"] = np.ones(self.num_envs, np.bool_)
        return infos


class Env(gymnasium.Env[Any, Any]):
    """A single environment of a model, for what takes no :class:`VectorEnv`. It takes the same
    arguments, but for the number of environments and the autoreset mode.

    A step costs as much as one of some hundred environments.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012

    def __init__(self, model: Model | str | os.PathLike[str], **options: Any) -> None:
        for name in ("num_envs", "autoreset_mode"):
            if name in options:
                raise TypeError(f"a single environment takes no `{name}`: use simc.gym.VectorEnv")
        self._all = VectorEnv(model, 1, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.action_space = self._all.single_action_space
        self.observation_space = self._all.single_observation_space
        self.render_mode = None

    @property
    def model(self) -> Model:
        """The model."""
        return self._all.model

    @property
    def session(self) -> Session:
        """What it runs in, for params and inputs that change."""
        return self._all.session

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Infos]:
        """Begins an episode."""
        super().reset(seed=seed)
        if options:
            raise UnknownNameError("gym", f"there is no option `{next(iter(options))}`")
        drawn = int(self.np_random.integers(2**63)) if seed is None else seed
        observations, infos = self._all.reset(seed=drawn)
        return observations[0], _single(infos)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, Infos]:
        """Takes a step."""
        actions = np.asarray(action)[None]
        observations, rewards, terminations, truncations, infos = self._all.step(actions)
        ends = bool(terminations[0]), bool(truncations[0])
        return observations[0], float(rewards[0]), *ends, _single(infos)

    def close(self) -> None:
        """Closes the session."""
        self._all.close()


def _single(infos: Infos) -> Infos:
    return {name: values[0] for name, values in infos.items() if not name.startswith("_")}


def _type_of(value: Any) -> str:
    return str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__
