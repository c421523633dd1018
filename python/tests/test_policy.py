"""Weights of policies as inputs of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simc
import simc.policy

from .conftest import EXAMPLES

NAMES = {"w1": "0.weight.T", "b1": "0.bias", "w2": "2.weight.T", "b2": "2.bias"}


@pytest.fixture(scope="module")
def cartpole() -> simc.Model:
    return simc.load(EXAMPLES / "cartpole.sim")


def state(random: np.random.Generator) -> dict[str, np.ndarray]:
    shapes = {"0.weight": (8, 4), "0.bias": (8,), "2.weight": (2, 8), "2.bias": (2,)}
    return {key: random.standard_normal(shape) for key, shape in shapes.items()}


def test_state_dictionaries_become_inputs_and_come_back(cartpole: simc.Model) -> None:
    weights = simc.policy.Weights(cartpole, NAMES)
    assert weights.size == 4 * 8 + 8 + 8 * 2 + 2
    states = [state(np.random.default_rng(k)) for k in range(5)]
    rows = weights.vectors(states)
    assert rows.shape == (5, 58)
    assert rows.dtype == np.float32
    inputs = weights.inputs(states)
    assert inputs["w1"].shape == (5, 4, 8)
    assert inputs["b2"].shape == (5, 2)
    assert np.array_equal(inputs["w1"][3], states[3]["0.weight"].T.astype(np.float32))
    assert np.array_equal(weights.inputs(rows)["w2"], inputs["w2"])
    back = weights.state(rows[2])
    assert list(back) == ["0.weight", "0.bias", "2.weight", "2.bias"]
    for key, values in back.items():
        assert np.array_equal(values, states[2][key].astype(np.float32))


def test_a_run_of_all_is_the_run_of_each(cartpole: simc.Model) -> None:
    weights = simc.policy.Weights(cartpole, ["w1", "b1", "w2", "b2"])
    rows = np.random.default_rng(1).standard_normal((6, weights.size)).astype(np.float32)
    starts = np.random.default_rng(2).uniform(-0.05, 0.05, (18, 4)).astype(np.float32)
    run = cartpole.run(agents=18, start=starts, inputs=weights.inputs(rows, repeat=3))
    returns = weights.per_candidate(run["reward"], repeat=3)
    assert returns.shape == (6, 3)
    for k in range(6):
        each = cartpole.run(
            agents=3, start=starts[3 * k : 3 * k + 3], inputs=weights.inputs(rows[[k] * 3])
        )
        assert np.array_equal(each["reward"], returns[k])
    assert len(np.unique(returns)) > 3


def test_modules_of_torch_do_what_the_model_does(cartpole: simc.Model) -> None:
    torch = pytest.importorskip("torch", reason="pip install torch")
    torch.manual_seed(0)
    linear, tanh = torch.nn.Linear, torch.nn.Tanh
    modules = [torch.nn.Sequential(linear(4, 8), tanh(), linear(8, 2)) for _ in range(200)]
    weights = simc.policy.Weights(cartpole, NAMES)
    starts = np.random.default_rng(3).uniform(-0.05, 0.05, (200, 4)).astype(np.float32)
    run = cartpole.run(agents=200, steps=1, start=starts, inputs=weights.inputs(modules))
    with torch.no_grad():
        scores = [
            module(torch.from_numpy(start)) for module, start in zip(modules, starts, strict=True)
        ]
    clear = np.array([abs(float(each[0] - each[1])) > 1e-5 for each in scores])
    wanted = np.array([int(each.argmax()) for each in scores])
    assert clear.sum() > 190
    assert np.array_equal(run["action"][clear], wanted[clear])
    assert 0 < wanted.sum() < 200
    rows = weights.vectors(modules)
    other = torch.nn.Sequential(linear(4, 8), tanh(), linear(8, 2))
    weights.load(rows[17], other)
    for key, values in other.state_dict().items():
        assert torch.equal(values, modules[17].state_dict()[key])
    wrong = torch.nn.Sequential(linear(4, 9), tanh(), linear(9, 2))
    with pytest.raises(simc.RunError, match=r"shape \(9, 4\)"):
        weights.load(rows[0], wrong)
    with pytest.raises(simc.RunError, match=r"no weights `0\.weight`"):
        weights.load(rows[0], linear(4, 8))


def wrong_names() -> list[tuple[Any, str]]:
    return [
        (["w1", "b3"], "no input `b3`"),
        ({"w1": "0.weight.T", "b1": "0.bias.T"}, "transposes"),
        ([], "at least one input"),
    ]


@pytest.mark.parametrize(("names", "says"), wrong_names())
def test_wrong_names_are_refused(cartpole: simc.Model, names: Any, says: str) -> None:
    with pytest.raises(simc.RunError, match=says):
        simc.policy.Weights(cartpole, names)


def test_wrong_candidates_are_refused(cartpole: simc.Model) -> None:
    weights = simc.policy.Weights(cartpole, {"w1": "0.weight", "b1": "0.bias"})
    good = state(np.random.default_rng(0))
    for candidates, says in [
        ([good], r"`0.weight.T` transposes"),
        ([{"0.weight": np.zeros((4, 8))}], "no weights `0.bias`"),
        ([3], "candidate is a int"),
        (np.zeros((2, 7)), r"\(2, 7\), and not \(candidates, 40\)"),
        (np.zeros(40), r"\(40,\), and not"),
    ]:
        with pytest.raises(simc.RunError, match=says):
            weights.inputs(candidates)
    with pytest.raises(simc.RunError, match="`repeat` is 0"):
        weights.inputs(np.zeros((2, 40)), repeat=0)
    with pytest.raises(simc.RunError, match="7 agents"):
        weights.per_candidate(np.zeros(7), repeat=2)
    with pytest.raises(simc.RunError, match=r"\(3,\)"):
        weights.state(np.zeros(3))
    integers = simc.compile("agents 2 steps 1 input n: i32 state x = 0 step { x += n } output x")
    with pytest.raises(simc.RunError, match="weights are floats"):
        simc.policy.Weights(integers, ["n"])
