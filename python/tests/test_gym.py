"""Models as environments of Gymnasium, beside Gymnasium's own environments."""

from __future__ import annotations

import copy
import functools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simc

pytest.importorskip("gymnasium", reason="pip install gymnasium")

import gymnasium
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import simc.gym

GYM = Path(__file__).resolve().parents[1] / "examples" / "gym"
THEIRS = {
    "cartpole": "CartPole-v1",
    "pendulum": "Pendulum-v1",
    "mountain_car_continuous": "MountainCarContinuous-v0",
}
NAMES = list(THEIRS)

COUNTER = """
agents 1
steps 5
/// Range: 0..2
input action: u32
param end = 3
state n = 0
state last = 0u
step {
    n += 1
    last = action
    if n >= end { stop }
}
output observation = [f32(n), f32(last)]
output reward = f32(n)
output number = n
output late = n >= 4
"""


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def made(name: str, num_envs: int, **options: Any) -> simc.gym.VectorEnv:
    return simc.gym.VectorEnv(GYM / f"{name}.sim", num_envs, **options)


def counter(num_envs: int = 2, source: str = COUNTER, **options: Any) -> simc.gym.VectorEnv:
    return simc.gym.VectorEnv(simc.compile(source), num_envs, **options)


def state_of(name: str, session: simc.Session) -> np.ndarray:
    """The states as Gymnasium's environment of this name has them."""
    states = {
        "cartpole": ("x", "v", "theta", "omega"),
        "pendulum": ("theta", "omega"),
        "mountain_car_continuous": ("position", "velocity"),
    }[name]
    return np.stack([session.state(state) for state in states], axis=1)


def set_state(name: str, env: Any, state: np.ndarray) -> None:
    dtype = np.float32 if name == "mountain_car_continuous" else np.float64
    env.unwrapped.state = state.astype(dtype)


# Spaces


def test_spaces_are_those_of_gymnasium(name: str) -> None:
    env, theirs = made(name, 3), gymnasium.make(THEIRS[name])
    assert env.single_action_space == theirs.action_space
    assert env.single_observation_space == theirs.observation_space
    vector = gymnasium.make_vec(THEIRS[name], 3, vectorization_mode="sync")
    assert env.action_space == vector.action_space
    assert env.observation_space == vector.observation_space
    assert theirs.spec is not None
    assert env._limit == theirs.spec.max_episode_steps


@pytest.mark.parametrize(
    ("declared", "space"),
    [
        ("/// Range: 0..2\ninput action: u32", spaces.Discrete(3)),
        ("/// Range: -1..1\ninput action: i32", spaces.Discrete(3, start=-1)),
        ("enum Move { Up, Down }\ninput action: Move", spaces.Discrete(2)),
        ("input action: bool", spaces.Discrete(2)),
        ("input action: [bool; 3]", spaces.MultiBinary((3,))),
        ("/// Range: 0..4\ninput action: [u32; 2]", spaces.MultiDiscrete([5, 5])),
        ("/// Range: 0..4, 0..1\ninput action: [u32; 2]", spaces.MultiDiscrete([5, 2])),
        ("input action: f32", spaces.Box(-np.inf, np.inf, (), np.float32)),
        ("/// Which way.\n/// Range: -1..2.5\ninput action: vec3", spaces.Box(-1, 2.5, (3,))),
        ("/// Range: -inf..inf\ninput action: [[f32; 2]; 4]", spaces.Box(-np.inf, np.inf, (4, 2))),
    ],
)
def test_an_action_space_follows_the_input(declared: str, space: spaces.Space[Any]) -> None:
    rest = "state x = 0.0\nstep { x += 1.0 }\noutput observation = [x]\noutput reward = x"
    source = f"{declared}\n{rest}"
    env = counter(4, source)
    assert env.single_action_space == space
    env.action_space.seed(1)
    env.reset(seed=1)
    observations, rewards, *_ = env.step(env.action_space.sample())
    assert observations.tolist() == [[1.0]] * 4
    assert rewards.dtype == np.float32


@pytest.mark.parametrize(
    ("declared", "space"),
    [
        ("output observation = x", spaces.Box(-np.inf, np.inf, (), np.float32)),
        ("output observation = x > 0.0", spaces.Discrete(2)),
        ("output observation = [x > 0.0, true]", spaces.MultiBinary((2,))),
        ("/// Range: 0..9\noutput observation = i32(x)", spaces.Discrete(10)),
        ("output observation = i32(x)", spaces.Box(-(2**31), 2**31 - 1, (), np.int32)),
        ("output observation = [u32(x)]", spaces.Box(0, 2**32 - 1, (1,), np.uint32)),
    ],
)
def test_an_observation_space_follows_the_output(declared: str, space: spaces.Space[Any]) -> None:
    rest = "input action: bool\nstate x = 0.0\nstep { x += 1.0 }\noutput reward = x"
    source = f"{rest}\n{declared}"
    env = counter(4, source)
    assert env.single_observation_space == space
    observations, _ = env.reset(seed=1)
    assert env.observation_space.contains(observations)
    observations, *_ = env.step(np.zeros(4, bool))
    assert env.observation_space.contains(observations)


def test_outputs_are_joined_and_spaces_can_be_given() -> None:
    source = COUNTER.replace("output observation", "/// Range: 0..9, 0..2\noutput pair")
    source += "\noutput half = 0.5 * f32(n)"
    env = counter(2, source, observation=["half", "pair"])
    assert env.single_observation_space == spaces.Box(
        np.array([-np.inf, 0, 0], np.float32), np.array([np.inf, 9, 2], np.float32)
    )
    env.reset(seed=0)
    assert env.step(np.array([2, 1]))[0].tolist() == [[0.5, 1.0, 2.0], [0.5, 1.0, 1.0]]
    given = spaces.Box(0, 9, (3,), np.float32)
    env = counter(2, source, observation=["half", "pair"], observation_space=given)
    assert env.single_observation_space == given
    free = COUNTER.replace("/// Range: 0..2", "")
    given_actions = counter(2, free, action_space=spaces.Discrete(5)).single_action_space
    assert given_actions == spaces.Discrete(5)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Range: 0..2", "Range: 2", "range that is none: `2`"),
        ("Range: 0..2", "Range: 2..0", "empty range: `2..0`"),
        ("Range: 0..2", "Range: 0..2, 0..2", "1 elements, and 2 ranges"),
        ("Range: 0..2", "Range: 0..2\n/// Range: 0..3", "2 lines `Range:`"),
        ("Range: 0..2", "Any number.", "without a range"),
        ("output observation", "output seen", "no output `observation`.*\n.*observation="),
        ("output reward", "output gain", "no output `reward`"),
        ("output reward = f32(n)", "output reward = [f32(n)]", "a reward is a number"),
        ("output late", "output done = n\noutput late", "`done` is a bool"),
        ("input action: u32", "input move: u32\nconst action = 1u", "no input `action`"),
        ("output late", "output rest = steps - n\noutput late", "reads `steps`"),
        ("agents 1", "agents 4 world 2", "agents of a world"),
    ],
)
def test_a_model_that_is_no_environment_says_why(old: str, new: str, says: str) -> None:
    assert old in COUNTER
    with pytest.raises(simc.RunError, match=says):
        counter(2, COUNTER.replace(old, new, 1))


def test_a_model_that_reads_steps_can_be_given_them() -> None:
    env = counter(2, COUNTER.replace("n >= 4", "n >= steps"), steps=3, max_episode_steps=9)
    env.reset(seed=0)
    for _ in range(3):
        env.step(np.zeros(2, int))
    with pytest.raises(simc.RunError) as found:
        env.step(np.zeros(2, int))
    assert found.value.code == "E0727"
    env.reset(seed=0)
    env.step(np.zeros(2, int))


def test_wrong_arguments_are_refused() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"done": "number"}, "`done` is a bool"),
        ({"truncated": "lat"}, "did you mean `late`"),
        ({"info": ["numbr"]}, "did you mean `number`"),
        ({"observation": []}, "at least one output"),
        ({"observation": ["number"]}, "joined are floats"),
        ({"max_episode_steps": 0}, "needs one"),
        ({"observation_space": spaces.Box(0, 1, (3,))}, "shape"),
        ({"params": {"ende": 3}}, "did you mean `end`"),
        ({"render_mode": "human"}, "no pictures"),
    ]
    for options, says in wrong:
        with pytest.raises(simc.RunError, match=says):
            counter(2, **options)
    with pytest.raises(ValueError, match="AutoresetMode"):
        counter(2, autoreset_mode="sometimes")


# Steps


def test_trajectories_are_those_of_gymnasium_step_for_step(name: str) -> None:
    """Each step from the same state: nothing but the rounding of one step is between them."""
    agents, steps = 32, 300
    env, theirs = made(name, agents), gymnasium.make(THEIRS[name])
    theirs.reset(seed=0)
    env.reset(seed=11)
    env.action_space.seed(12)
    ended = 0
    over = np.zeros(agents, bool)
    for _ in range(steps):
        before, actions = state_of(name, env.session), env.action_space.sample()
        observations, rewards, terminations, truncations, _ = env.step(actions)
        for k in np.flatnonzero(~over):
            inner: Any = theirs.unwrapped
            inner.steps_beyond_terminated = None
            set_state(name, theirs, before[k])
            seen, reward, terminated, _, _ = inner.step(actions[k])
            assert np.allclose(observations[k], seen, rtol=2e-6, atol=2e-6)
            assert rewards[k] == pytest.approx(reward, rel=2e-6, abs=2e-6)
            assert terminations[k] == terminated
        ended += terminations.sum()
        over = terminations | truncations
    if name == "cartpole":
        assert ended > 100


def test_trajectories_stay_those_of_gymnasium(name: str) -> None:
    """Whole episodes, from the same starts: rounding grows as the system makes it grow.

    CartPole is unstable: a difference grows 3,000 times in 100 steps, but episodes of random
    actions are shorter. The difference of two pendulums grows whenever they pass the top: it was up
    to 2e-4 in the first 50 steps, and 3e-2 in 200. The others' was up to 2e-6.
    """
    agents = 16
    steps = {"cartpole": 60, "pendulum": 200, "mountain_car_continuous": 999}[name]
    mode = AutoresetMode.DISABLED
    env = made(name, agents, autoreset_mode=mode)
    theirs = [gymnasium.make(THEIRS[name]) for _ in range(agents)]
    observations, _ = env.reset(seed=5)
    states = state_of(name, env.session)
    for each, start in zip(theirs, states, strict=True):
        each.reset(seed=0)
        set_state(name, each, start)
    env.action_space.seed(6)
    over, lengths = np.zeros(agents, bool), np.zeros(agents, int)
    for t in range(steps):
        tolerance = 1e-5 if name != "pendulum" else 1e-3 if t < 50 else 0.1
        actions = env.action_space.sample()
        if name == "mountain_car_continuous":
            # Pushes the way it goes, so that it gets somewhere.
            actions = np.where(observations[:, 1:] >= 0, 1.0, -1.0).astype(np.float32) * 0.9
        observations, rewards, terminations, truncations, _ = env.step(actions)
        for k in np.flatnonzero(~over).tolist():
            seen, reward, terminated, truncated, _ = theirs[k].step(actions[k])
            lengths[k] += 1
            assert np.allclose(observations[k], seen, rtol=tolerance, atol=tolerance)
            assert rewards[k] == pytest.approx(reward, rel=tolerance, abs=tolerance)
            assert (terminations[k], truncations[k]) == (terminated, truncated)
        over |= terminations | truncations
        if (terminations | truncations).any():
            # What has ended goes on from elsewhere, and is not looked at.
            env.reset(options={"reset_mask": terminations | truncations})
        if over.all():
            break
    assert over.sum() > agents // 2
    assert lengths.max() > 20


def test_a_seed_gives_the_same_episodes() -> None:
    def rolled(env: simc.gym.VectorEnv, seed: int | None) -> np.ndarray:
        all_seen = [env.reset(seed=seed)[0]]
        env.action_space.seed(1)
        for _ in range(60):
            all_seen.append(env.step(env.action_space.sample())[0])
        return np.stack(all_seen)

    env, other = made("cartpole", 8), made("cartpole", 8)
    first, again = rolled(env, 3), rolled(other, 3)
    assert np.array_equal(first, again)
    assert env.np_random_seed == 3
    later, later_again = rolled(env, None), rolled(other, None)
    assert np.array_equal(later, later_again)
    assert not np.array_equal(first, later)
    assert not np.array_equal(first, rolled(env, 4))
    assert np.array_equal(first, rolled(env, 3))
    assert len(np.unique(first[0][:, 0])) == 8


def test_the_number_of_environments_changes_no_episode() -> None:
    few, many = made("cartpole", 2), made("cartpole", 20)
    assert np.array_equal(few.reset(seed=1)[0], many.reset(seed=1)[0][:2])


# Autoreset


def test_next_step_begins_anew_in_the_step_after_the_end() -> None:
    env = counter(2, info=["number"], truncated="late")
    env.reset(seed=0)
    env.session.set_param("end", 2)
    zeros = np.zeros(2, np.int64)
    observations, rewards, terminations, truncations, infos = env.step(zeros)
    assert observations[:, 0].tolist() == [1.0, 1.0]
    assert infos["number"].tolist() == [1, 1]
    assert infos["_number"].all()
    assert not terminations.any()
    observations, rewards, terminations, truncations, infos = env.step(np.array([1, 2]))
    assert observations.tolist() == [[2.0, 1.0], [2.0, 2.0]]
    assert rewards.tolist() == [2.0, 2.0]
    assert terminations.all()
    assert not truncations.any()
    observations, rewards, terminations, truncations, infos = env.step(zeros)
    assert observations.tolist() == [[0.0, 0.0], [0.0, 0.0]]
    assert rewards.tolist() == [0.0, 0.0]
    assert not (terminations | truncations).any()
    assert env.step(zeros)[0][:, 0].tolist() == [1.0, 1.0]


def test_same_step_begins_anew_at_once_and_keeps_the_end() -> None:
    env = counter(3, autoreset_mode="SameStep", info=["number"])
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert simc.gym.VectorEnv.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    env.reset(seed=0)
    ones = np.ones(3, int)
    env.step(ones)
    env.reset(options={"reset_mask": np.array([False, True, False])})
    env.step(ones)
    observations, rewards, terminations, _, infos = env.step(ones)
    assert terminations.tolist() == [True, False, True]
    assert observations.tolist() == [[0.0, 0.0], [2.0, 1.0], [0.0, 0.0]]
    assert rewards.tolist() == [3.0, 2.0, 3.0]
    assert infos["final_obs"][0].tolist() == [3.0, 1.0]
    assert infos["final_obs"][1] is None
    assert infos["_final_obs"].tolist() == [True, False, True]
    assert infos["number"].tolist() == [0, 2, 0]
    assert infos["final_info"]["number"][[0, 2]].tolist() == [3, 3]
    assert infos["final_info"]["_number"].tolist() == [True, False, True]
    assert infos["final_obs"][0].dtype == np.float32
    *_, infos = env.step(ones)
    assert infos["final_obs"][1].tolist() == [3.0, 1.0]
    assert "final_obs" not in env.step(ones)[4]


def test_disabled_waits_for_a_reset() -> None:
    env = counter(2, autoreset_mode=AutoresetMode.DISABLED)
    zeros = np.zeros(2, int)
    env.reset(seed=0)
    env.step(zeros)
    env.reset(options={"reset_mask": np.array([True, False])})
    env.step(zeros)
    _, _, terminations, _, _ = env.step(zeros)
    assert terminations.tolist() == [False, True]
    with pytest.raises(ResetNeeded, match="1 environments have ended"):
        env.step(zeros)
    observations, _ = env.reset(options={"reset_mask": terminations})
    assert observations[:, 0].tolist() == [2.0, 0.0]
    assert env.step(zeros)[0][:, 0].tolist() == [3.0, 1.0]


def test_episodes_are_cut_off() -> None:
    for limit, most in [(None, 5), (3, 3)]:
        env = counter(2, params={"end": 100}, max_episode_steps=limit)
        env.reset(seed=0)
        for _ in range(2):
            ends = [env.step(np.zeros(2, int))[2:4] for _ in range(most)]
            assert [end[1].all() for end in ends] == [False] * (most - 1) + [True]
            assert not any(end[0].any() for end in ends)
            env.step(np.zeros(2, int))
        env.step(np.zeros(2, int))
        env.reset(options={"reset_mask": np.array([True, False])})
        cut = [env.step(np.zeros(2, int))[3].tolist() for _ in range(most - 1)]
        assert cut[-1] == [False, most == 1] or cut[-1][0] is False
        assert [True, False] not in cut
        assert env.step(np.zeros(2, int))[3][0]


def test_an_output_cuts_off() -> None:
    env = counter(1, params={"end": 100}, truncated="late", max_episode_steps=50)
    env.reset(seed=0)
    assert [env.step(np.zeros(1, int))[3][0] for _ in range(4)] == [False, False, False, True]


def test_params_change_between_episodes() -> None:
    env = counter(1)
    env.reset(seed=0)
    env.session.set_param("end", 1)
    assert env.step(np.zeros(1, int))[2].all()


# Misuse


def test_wrong_actions_are_refused() -> None:
    env = counter(2)
    env.reset(seed=0)
    for actions, error in [
        (np.array([0, 3]), ValueError),
        (np.array([0, -1]), ValueError),
        (np.array([0.0, 1.0]), TypeError),
        (np.array([0]), ValueError),
        (1, ValueError),
        (np.zeros((2, 1), int), ValueError),
    ]:
        with pytest.raises(error):
            env.step(actions)
    assert env.session.at == 0
    env.step([0, 2])
    pendulum = made("pendulum", 2)
    pendulum.reset(seed=0)
    with pytest.raises(ValueError, match="shape"):
        pendulum.step(np.zeros(2, np.float32))
    pendulum.step(np.zeros((2, 1)))


def test_misuse_is_refused() -> None:
    env = counter(2)
    with pytest.raises(ResetNeeded):
        env.step(np.zeros(2, int))
    with pytest.raises(ResetNeeded):
        env.reset(options={"reset_mask": np.ones(2, bool)})
    env.reset(seed=0)
    with pytest.raises(simc.RunError, match="no option `low`"):
        env.reset(options={"low": 1})
    with pytest.raises(TypeError, match="int64"):
        env.reset(options={"reset_mask": np.ones(2, int)})
    with pytest.raises(ValueError, match="2 environments"):
        env.reset(options={"reset_mask": np.ones(3, bool)})
    with pytest.raises(simc.RunError, match="seed"):
        env.reset(seed=1, options={"reset_mask": np.ones(2, bool)})
    with pytest.raises(gymnasium.error.Error):
        env.reset(seed=-1)
    env.close()
    env.close()
    with pytest.raises(simc.RunError, match="closed"):
        env.step(np.zeros(2, int))
    with pytest.raises(simc.RunError, match="closed"):
        env.reset()


# Gymnasium's own checks


def test_gymnasium_checks_a_single_environment(name: str, recwarn: pytest.WarningsRecorder) -> None:
    env = simc.gym.Env(GYM / f"{name}.sim")
    check_env(env, skip_render_check=True)
    theirs: list[str] = []
    known = ["not registered in the gymnasium registry", "symmetric and normalized", "infinity"]
    theirs += [str(each.message) for each in recwarn.list]
    # CartPole, and Pendulum, of Gymnasium have the warnings about bounds, too.
    assert not [each for each in theirs if not any(part in each for part in known)]


def test_gymnasium_makes_it() -> None:
    model = str(GYM / "cartpole.sim")
    gymnasium.register(
        "SimCartPole-v0",
        entry_point="simc.gym:Env",
        vector_entry_point="simc.gym:VectorEnv",
        max_episode_steps=40,
        kwargs={"model": model},
    )
    try:
        env = gymnasium.make_vec("SimCartPole-v0", num_envs=5)
        assert isinstance(env, simc.gym.VectorEnv)
        assert env._limit == 40
        assert "SimCartPole-v0" in repr(env)
        single = gymnasium.make("SimCartPole-v0")
        observation, _ = single.reset(seed=1)
        assert single.observation_space.contains(observation)
        sync = gymnasium.make_vec("SimCartPole-v0", num_envs=3, vectorization_mode="sync")
        sync.reset(seed=0)
        for _ in range(60):
            sync.step(sync.action_space.sample())
        for each in (env, single, sync):
            each.close()
    finally:
        gymnasium.registry.pop("SimCartPole-v0")


def test_gymnasium_runs_it_in_processes() -> None:
    make = functools.partial(simc.gym.Env, str(GYM / "cartpole.sim"))
    env = gymnasium.vector.AsyncVectorEnv([make, make], context="spawn")
    try:
        observations, _ = env.reset(seed=1)
        assert env.observation_space.contains(observations)
        assert env.step(env.action_space.sample())[1].tolist() == [1.0, 1.0]
    finally:
        env.close()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_a_vector_of_ours_behaves_as_one_of_gymnasium(mode: AutoresetMode) -> None:
    """The same calls as Gymnasium's vector of single environments give the same."""

    def single() -> simc.gym.Env:
        return simc.gym.Env(simc.compile(COUNTER), info=["number"])

    ours = counter(3, autoreset_mode=mode, info=["number"])
    theirs = gymnasium.vector.SyncVectorEnv([single] * 3, autoreset_mode=mode)
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    ours.action_space.seed(4)
    pairs: list[tuple[Any, Any]] = [(ours.reset(seed=1), theirs.reset(seed=1))]
    over = np.zeros(3, bool)
    for k in range(20):
        if mode is AutoresetMode.DISABLED and over.any():
            options = {"reset_mask": over}
            pairs.append((ours.reset(options=dict(options)), theirs.reset(options=dict(options))))
        if k == 1:
            mask = {"reset_mask": np.array([False, True, False])}
            pairs.append((ours.reset(options=dict(mask)), theirs.reset(options=dict(mask))))
        actions = ours.action_space.sample()
        found, wanted = ours.step(actions), theirs.step(actions)
        over = found[2] | found[3]
        pairs.append((found, wanted))
    for found, wanted in pairs:
        assert_same(found[:-1], wanted[:-1])
        assert ours.observation_space.contains(found[0])
        ours_info, their_info = copy.copy(found[-1]), copy.copy(wanted[-1])
        if len(found) == 2 and len(pairs) > 1 and found is not pairs[0][0]:
            # A partial reset of theirs has infos of what was reset alone.
            ours_info = their_info = {}
        assert sorted(ours_info) == sorted(their_info)
        for key in ("final_obs", "_final_obs", "number", "_number"):
            if key in their_info:
                assert_same(list(ours_info[key]), list(their_info[key]))
        if "final_info" in their_info:
            at = their_info["_final_info"]
            final, wanted_final = ours_info["final_info"], their_info["final_info"]
            assert_same(final["number"][at], wanted_final["number"][at])
            assert_same(final["_number"], wanted_final["_number"])


def assert_same(found: Any, wanted: Any) -> None:
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert np.shape(one) == np.shape(other)
            assert np.array_equal(one, other)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_it_goes_into_wrappers(mode: AutoresetMode) -> None:
    env = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        made("cartpole", 8, autoreset_mode=mode)
    )
    env.reset(seed=3)
    env.action_space.seed(3)
    lengths: list[int] = []
    for _ in range(200):
        *_, infos = env.step(env.action_space.sample())
        if "episode" in infos:
            lengths += infos["episode"]["l"][infos["_episode"]].tolist()
            assert np.array_equal(
                infos["episode"]["r"][infos["_episode"]], infos["episode"]["l"][infos["_episode"]]
            )
    assert len(lengths) > 30
    assert 15 < np.mean(lengths) < 30


# Documentation


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "gymnasium.md"
    monkeypatch.chdir(GYM)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
    assert len(blocks) == 5
    names: dict[str, Any] = {}
    try:
        for block in blocks:
            exec(compile(block, str(page), "exec"), names)
    finally:
        gymnasium.registry.pop("SimCartPole-v0", None)
    assert names["session"].closed
    assert names["env"].num_envs == 16
    assert names["returns"].shape == (64,)
    assert np.array_equal(
        names["rows"][0], names["candidates"][names["returns"].argmax()].astype("f4")
    )
