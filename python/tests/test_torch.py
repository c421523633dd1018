"""Models as functions of PyTorch."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import simc

from .conftest import EXAMPLES

torch = pytest.importorskip("torch", reason="needs `pip install torch`")

from torch.autograd.gradcheck import GradcheckError  # noqa: E402

import simc.torch  # noqa: E402

SMOOTH = """
agents 400
steps 10
const DT = 0.1
param rate = 0.05
param sigma = 0.2
param spot = 100.0
input shift: f32 = 0.0
state price = spot + shift
step {
    price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal())
}
output price
output pair = [price, 2.0 * price * rate]
output payoff = exp(-rate) * max(price - 105.0, 0.0)
output number = 3
"""

ARRAYS = """
agents 200
steps 3
param w = [0.5, -0.25, 0.125]
input start: vec2 = vec2(1.0, 2.0)
state x = start.x
state y = start.y
step {
    x += 0.1 * w[0] * y * y
    y += 0.1 * (w[1] * x + w[2])
}
output z = x * y
"""

WORLDS = """
agents 60
world 10
steps 2
param pull = 0.5
input start: f32
state x = start
step { x += pull * (mean(for other in world: other.x) - x) }
output x
"""

# The model computes in f32, so a difference of two runs at a step h is off by about 1e-7 / h of the
# value. With the steps below that is 1e-5 of it; the defaults of `gradcheck` (a step of 1e-6, 1e-5
# absolute) would see rounding alone.
STEP, RELATIVE, ABSOLUTE = 1e-2, 1e-3, 1e-3


@pytest.fixture(scope="module")
def smooth() -> simc.Model:
    return simc.compile(SMOOTH)


def doubles(*values: Any) -> tuple[Any, ...]:
    return tuple(torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in values)


def exact(price: Any, rate: float, sigma: float, spot: float) -> dict[str, Any]:
    """The derivatives of each price of geometric Brownian motion at the time 1, in f64."""
    moved = (np.log(price / spot) - (rate - 0.5 * sigma * sigma)) / sigma
    return {"rate": price, "sigma": price * (moved - sigma), "spot": price / spot}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("of", ["mean(price)", "price", "sum(pair[1])"])
def test_gradcheck_agrees_within_the_tolerances_of_f32(
    smooth: simc.Model, of: str, mode: str
) -> None:
    function = simc.torch.function(
        smooth, of=of, wrt=["rate", "sigma", "spot"], mode=mode, agents=20, seed=3, backend="cpu"
    )
    assert torch.autograd.gradcheck(
        function, doubles(0.05, 0.2, 10.0), eps=STEP, rtol=RELATIVE, atol=ABSOLUTE
    )


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("of", ["mean(price)", "price", "sum(pair[1])"])
def test_gradcheck_agrees_with_its_defaults_in_f64(of: str, mode: str) -> None:
    model = simc.compile(SMOOTH, real="f64")
    function = simc.torch.function(
        model, of=of, wrt=["rate", "sigma", "spot"], mode=mode, agents=20, seed=3
    )
    assert torch.autograd.gradcheck(function, doubles(0.05, 0.2, 10.0))


def test_gradcheck_finds_a_wrong_gradient(smooth: simc.Model) -> None:
    function = simc.torch.function(smooth, of="mean(price)", wrt="sigma", agents=20, backend="cpu")

    def wrong(sigma: Any) -> Any:
        # The value of the function, and 1.01 times its derivative.
        return 1.01 * function(sigma) - 0.01 * function(sigma.detach())

    with pytest.raises(GradcheckError):
        torch.autograd.gradcheck(wrong, doubles(0.2), eps=STEP, rtol=RELATIVE, atol=ABSOLUTE)


def test_derivatives_are_those_of_the_formula(smooth: simc.Model) -> None:
    at = {"rate": 0.05, "sigma": 0.2, "spot": 100.0}
    each = simc.torch.function(smooth, of="price", wrt=list(at), seed=5, backend="cpu")
    mean = simc.torch.function(smooth, of="mean(price)", wrt=list(at), seed=5, backend="cpu")
    price = smooth.run(seed=5, backend="cpu")["price"].astype(np.float64)
    expected = exact(price, **at)
    # Weights that differ by agent, so that no derivative is another agent's.
    weights = torch.linspace(0.1, 1.0, 400, dtype=torch.float64)
    arguments = doubles(*at.values())
    values = each(*arguments)
    assert np.array_equal(values.detach().numpy(), price)
    (values * weights).sum().backward()
    for name, argument in zip(at, arguments, strict=True):
        found, true = float(argument.grad), float(weights.numpy() @ expected[name])
        assert found == pytest.approx(true, rel=2e-5), name
    arguments = doubles(*at.values())
    loss = mean(*arguments)
    assert float(loss.detach()) == pytest.approx(price.mean(), rel=1e-12)
    loss.backward()
    for name, argument in zip(at, arguments, strict=True):
        assert float(argument.grad) == pytest.approx(expected[name].mean(), rel=2e-5), name


def test_the_gradient_is_that_of_the_model(smooth: simc.Model) -> None:
    given: dict[str, Any] = {"agents": 1_000, "seed": 2, "backend": "cpu", "rate": 0.01}
    expected = smooth.gradient("mean(payoff)", ["sigma", "spot"], **given, sigma=0.3, spot=95.0)
    function = simc.torch.function(smooth, of="mean(payoff)", wrt=["sigma", "spot"], **given)
    sigma, spot = doubles(0.3, 95.0)
    loss = function(sigma, spot)
    (3.0 * loss).backward()
    assert float(loss.detach()) == expected.value
    assert float(sigma.grad) == 3.0 * expected["sigma"]
    assert float(spot.grad) == 3.0 * expected["spot"]


def test_an_input_has_a_derivative_per_agent(smooth: simc.Model) -> None:
    shift = torch.linspace(-1.0, 1.0, 400, dtype=torch.float64, requires_grad=True)
    function = simc.torch.function(smooth, of="mean(price)", wrt=["shift"], seed=5, backend="cpu")
    function(shift).backward()
    price = smooth.run(seed=5, shift=shift.detach().numpy(), backend="cpu")["price"]
    expected = price / (100.0 + shift.detach().numpy()) / 400
    assert np.allclose(shift.grad.numpy(), expected, rtol=2e-5)
    one = torch.tensor(0.0, requires_grad=True)
    function(one).backward()
    price = smooth.run(seed=5, backend="cpu")["price"].astype(np.float64)
    assert float(one.grad) == pytest.approx(price.mean() / 100.0, rel=2e-5)


def test_arrays_and_vectors_keep_their_shapes() -> None:
    model = simc.compile(ARRAYS)
    function = simc.torch.function(model, of="z", wrt=["w", "start"], backend="cpu", agents=3)
    generator = np.random.default_rng(0)
    w, start = doubles([0.5, -0.25, 0.125], generator.uniform(0.5, 1.5, (3, 2)))
    assert torch.autograd.gradcheck(function, (w, start), eps=STEP, rtol=RELATIVE, atol=ABSOLUTE)

    def in_torch(w: Any, start: Any) -> Any:
        x, y = start[:, 0], start[:, 1]
        for _ in range(3):
            x = x + 0.1 * w[0] * y * y
            y = y + 0.1 * (w[1] * x + w[2])
        return x * y

    ours = torch.autograd.grad(function(w, start).square().sum(), (w, start))
    theirs = torch.autograd.grad(in_torch(w, start).square().sum(), (w, start))
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert torch.allclose(one, other, rtol=1e-5)


def test_a_descent_finds_the_volatility_of_a_price(smooth: simc.Model) -> None:
    function = simc.torch.function(
        smooth, of="mean(payoff)", wrt="sigma", agents=4_000, seed=1, backend="cpu"
    )
    target = float(function(torch.tensor(0.3)))
    sigma = torch.tensor(0.15, requires_grad=True)
    optimizer = torch.optim.Adam([sigma], lr=0.02)
    for _ in range(80):
        optimizer.zero_grad()
        loss = (function(sigma) - target) ** 2
        loss.backward()
        optimizer.step()
    assert float(sigma.detach()) == pytest.approx(0.3, abs=2e-3)


def test_types_and_options_are_those_of_the_call(smooth: simc.Model) -> None:
    function = simc.torch.function(smooth, of="price", wrt="sigma", seed=1, backend="cpu")
    assert function(torch.tensor(0.2)).dtype == torch.float32
    assert function(torch.tensor(0.2, dtype=torch.float64)).dtype == torch.float64
    assert not function(torch.tensor(0.2)).requires_grad
    other = function(torch.tensor(0.2), seed=2)
    assert not torch.equal(other, function(torch.tensor(0.2)))
    run = smooth.run(sigma=0.2, seed=2, backend="cpu")
    assert np.array_equal(other.numpy(), run["price"])
    assert "price of sigma" in repr(function)


def test_mistakes_are_clear(smooth: simc.Model) -> None:
    with pytest.raises(simc.UnknownNameError, match="sgima"):
        simc.torch.function(smooth, of="price", wrt="sgima")
    with pytest.raises(simc.UnknownNameError, match="prce"):
        simc.torch.function(smooth, of="mean(prce)", wrt="sigma")
    with pytest.raises(simc.UnknownNameError, match="pair"):
        simc.torch.function(smooth, of="pair", wrt="sigma")
    with pytest.raises(simc.RunError, match="twice"):
        simc.torch.function(smooth, of="price", wrt=["sigma", "sigma"])
    with pytest.raises(simc.RunError, match="an argument and an option"):
        simc.torch.function(smooth, of="price", wrt="sigma", sigma=0.3)
    function = simc.torch.function(smooth, of="price", wrt="sigma")
    with pytest.raises(TypeError, match="takes 1 tensors"):
        function(torch.tensor(0.2), torch.tensor(0.2))
    with pytest.raises(simc.RunError, match="shape"):
        function(torch.tensor([0.2, 0.3]))
    with pytest.raises(simc.RunError, match=r"torch\.int64"):
        function(torch.tensor(1))


@pytest.mark.parametrize("of", ["price", "mean(price)"])
def test_second_derivatives_are_refused(smooth: simc.Model, of: str) -> None:
    function = simc.torch.function(smooth, of=of, wrt="sigma")
    sigma = torch.tensor(0.2, requires_grad=True)
    (slope,) = torch.autograd.grad(function(sigma).sum(), sigma, create_graph=True)
    # It may be read, and be part of what is not derived.
    assert float(slope.detach()) != 0.0
    with pytest.raises(simc.RunError, match="no derivatives themselves"):
        (slope + sigma).backward()


def test_worlds_have_gradients_by_what_all_agents_share() -> None:
    model = simc.compile(WORLDS)
    start = np.linspace(0.0, 1.0, 60, dtype=np.float32)
    function = simc.torch.function(
        model, of="mean(x)", wrt="pull", inputs={"start": start}, backend="cpu"
    )
    assert float(function(torch.tensor(0.5))) == pytest.approx(0.5, abs=1e-6)


def test_worlds_have_gradients_by_the_inputs_of_each_agent() -> None:
    # What an agent begins with moves the others: with weights, in torch itself.
    model = simc.compile(WORLDS.replace("output x", "output y = x * x"))
    start = torch.linspace(0.0, 1.0, 60, requires_grad=True)
    pull = torch.tensor(0.5, requires_grad=True)
    for fold in ("mean", "sum"):
        of = f"{fold}(y)"
        function = simc.torch.function(model, of=of, wrt=["start", "pull"], backend="cpu")
        found = torch.autograd.grad(3.0 * function(start, pull), [start, pull])
        x = start.reshape(6, 10)
        for _ in range(2):
            x = x + pull * (x.mean(dim=1, keepdim=True) - x)
        expected = torch.autograd.grad(3.0 * getattr(x * x, fold)(), [start, pull])
        for one, other in zip(found, expected, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-6)
    each = model.derivatives("y", ["start"], start=start.detach().numpy())
    assert each.joint
    function = simc.torch.function(model, of="y", wrt="start", backend="cpu")
    with pytest.raises(simc.RunError, match="moves the others"):
        function(start)


def test_the_code_of_the_page_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    page = EXAMPLES.parent / "docs" / "torch.md"
    monkeypatch.chdir(EXAMPLES)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL):
        exec(compile(block, str(page), "exec"), names)
    assert names["sigma"].grad > 0
    assert names["spot"].grad > 0
