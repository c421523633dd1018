"""The same three models in Sim, JAX, Numba and NumPy on the CPU: lines of code, and time.

    pip install jax numba
    python benchmarks/peers.py            # one core: taskset -c 0 python benchmarks/peers.py

Each implementation is written as its users would: `lax.scan` under `vmap` and `jit` for JAX, a
loop over agents for Numba, arrays for NumPy. All compute in f32. The first call is timed with what
compiles, apart from the median of the others. Lines are those that are neither blank nor comments,
nor imports or tests. What the implementations compute is compared before they are timed.
"""

from __future__ import annotations

import argparse
import importlib.util
import inspect
import os
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import simc

EXAMPLES = Path(__file__).resolve().parents[2] / "lang-examples"
F = np.float32
Result = dict[str, Any]


# Geometric Brownian motion: 252 steps, then the payoff of a call.


def gbm_sim() -> Callable[[int], Result]:
    model = simc.load(EXAMPLES / "gbm.sim")
    return lambda agents: dict(model.run(agents=agents, backend="cpu", keep_states=False))


def gbm_jax() -> Callable[[int], Result]:
    import jax
    import jax.numpy as jnp

    rate, sigma, strike, spot, maturity, steps = 0.05, 0.2, 105.0, 100.0, 1.0, 252
    dt = maturity / steps

    def step(price: Any, z: Any) -> Any:
        growth = jnp.exp((rate - 0.5 * sigma * sigma) * dt + sigma * jnp.sqrt(dt) * z)
        return price * growth, None

    def agent(key: Any) -> Any:
        price, _ = jax.lax.scan(step, jnp.float32(spot), jax.random.normal(key, (steps,)))
        return jnp.exp(-rate * maturity) * jnp.maximum(price - strike, 0.0)

    run = jax.jit(jax.vmap(agent))
    key = jax.random.key(0)
    return lambda agents: {"call": run(jax.random.split(key, agents)).block_until_ready()}


def gbm_numba() -> Callable[[int], Result]:
    import numba

    rate, sigma, strike, spot, maturity, steps = F(0.05), F(0.2), F(105), F(100), F(1), 252
    dt = F(maturity / steps)

    @numba.njit(parallel=True, fastmath=True)
    def run(call: Any) -> None:
        for agent in numba.prange(len(call)):
            price = spot
            for _ in range(steps):
                z = F(np.random.normal())
                price *= np.exp((rate - F(0.5) * sigma * sigma) * dt + sigma * np.sqrt(dt) * z)
            call[agent] = np.exp(-rate * maturity) * max(price - strike, F(0))

    def of(agents: int) -> Result:
        call = np.empty(agents, F)
        run(call)
        return {"call": call}

    return of


def gbm_numpy() -> Callable[[int], Result]:
    rate, sigma, strike, spot, maturity, steps = F(0.05), F(0.2), F(105), F(100), F(1), 252
    dt = F(maturity / steps)
    generator = np.random.default_rng(0)

    def run(agents: int) -> Result:
        price = np.full(agents, spot)
        for _ in range(steps):
            z = generator.standard_normal(agents, dtype=F)
            price *= np.exp((rate - F(0.5) * sigma * sigma) * dt + sigma * np.sqrt(dt) * z)
        return {"call": np.exp(-rate * maturity) * np.maximum(price - strike, F(0))}

    return run


# CartPole: a policy 4 -> 8 -> 2 per agent, up to 500 steps. A scan of JAX runs all 500, whether
# agents are done or not; the others leave out agents that are.


def weights(agents: int) -> dict[str, Any]:
    generator = np.random.default_rng(1)

    def normal(*shape: int) -> Any:
        return generator.standard_normal((agents, *shape), dtype=F)

    start = generator.uniform(-0.05, 0.05, (agents, 4)).astype(F)
    return {
        "w1": normal(4, 8),
        "b1": normal(8),
        "w2": normal(8, 2),
        "b2": normal(2),
        "start": start,
    }


def cartpole_sim() -> Callable[[int], Result]:
    model = simc.load(EXAMPLES / "cartpole.sim")
    given = weights(CARTPOLE)
    return lambda agents: dict(model.run(agents=agents, backend="cpu", keep_states=False, **given))


def cartpole_jax() -> Callable[[int], Result]:
    import jax
    import jax.numpy as jnp

    def agent(w1: Any, b1: Any, w2: Any, b2: Any, start: Any) -> Any:
        def step(carry: Any, _: Any) -> Any:
            state, reward, done = carry
            _, v, theta, omega = state
            action = jnp.argmax(b2 + jnp.tanh(b1 + state @ w1) @ w2)
            force = jnp.where(action == 1, 10.0, -10.0)
            sin, cos = jnp.sin(theta), jnp.cos(theta)
            push = (force + 0.05 * omega**2 * sin) / 1.1
            spin = (9.8 * sin - cos * push) / (0.5 * (4.0 / 3.0 - 0.1 * cos**2 / 1.1))
            change = jnp.stack([v, push - 0.05 * spin * cos / 1.1, omega, spin])
            moved = jnp.where(done, state, state + 0.02 * change)
            fell = (jnp.abs(moved[0]) > 2.4) | (jnp.abs(moved[2]) > 0.20943951)
            return (moved, reward + jnp.where(done, 0.0, 1.0), done | fell), None

        first = (start, jnp.float32(0.0), False)
        (_, reward, _), _ = jax.lax.scan(step, first, None, length=500)
        return reward

    run = jax.jit(jax.vmap(agent))
    given = {name: jnp.asarray(value) for name, value in weights(CARTPOLE).items()}
    return lambda _: {"reward": run(*given.values()).block_until_ready()}


def cartpole_numba() -> Callable[[int], Result]:
    import numba

    @numba.njit(parallel=True, fastmath=True)
    def run(w1: Any, b1: Any, w2: Any, b2: Any, start: Any, reward: Any) -> None:
        for agent in numba.prange(len(reward)):
            x, v, theta, omega = start[agent]
            for _ in range(500):
                left, right = b2[agent]
                for i in range(8):
                    hidden = b1[agent, i] + x * w1[agent, 0, i] + v * w1[agent, 1, i]
                    hidden += theta * w1[agent, 2, i] + omega * w1[agent, 3, i]
                    hidden = np.tanh(hidden)
                    left += hidden * w2[agent, i, 0]
                    right += hidden * w2[agent, i, 1]
                force = F(10) if right > left else F(-10)
                sin, cos = np.sin(theta), np.cos(theta)
                push = (force + F(0.05) * omega * omega * sin) / F(1.1)
                below = F(0.5) * (F(4 / 3) - F(0.1) * cos * cos / F(1.1))
                spin = (F(9.8) * sin - cos * push) / below
                x, v = x + F(0.02) * v, v + F(0.02) * (push - F(0.05) * spin * cos / F(1.1))
                theta, omega = theta + F(0.02) * omega, omega + F(0.02) * spin
                reward[agent] += F(1)
                if abs(x) > F(2.4) or abs(theta) > F(0.20943951):
                    break

    given = weights(CARTPOLE)

    def of(agents: int) -> Result:
        reward = np.zeros(agents, F)
        run(*given.values(), reward)
        return {"reward": reward}

    return of


def cartpole_numpy() -> Callable[[int], Result]:
    given = weights(CARTPOLE)

    def run(agents: int) -> Result:
        w1, b1, w2, b2, start = given.values()
        reward = np.zeros(agents, F)
        alive, state = np.arange(agents), start
        for _ in range(500):
            _, v, theta, omega = state.T
            hidden = np.tanh(b1 + np.einsum("aj,aji->ai", state, w1))
            scores = b2 + np.einsum("ai,aik->ak", hidden, w2)
            force = np.where(scores[:, 1] > scores[:, 0], F(10), F(-10))
            sin, cos = np.sin(theta), np.cos(theta)
            push = (force + F(0.05) * omega**2 * sin) / F(1.1)
            spin = (F(9.8) * sin - cos * push) / (F(0.5) * (F(4 / 3) - F(0.1) * cos**2 / F(1.1)))
            change = np.stack([v, push - F(0.05) * spin * cos / F(1.1), omega, spin], axis=1)
            state = state + F(0.02) * change
            reward[alive] += F(1)
            runs = (np.abs(state[:, 0]) <= F(2.4)) & (np.abs(state[:, 2]) <= F(0.20943951))
            alive, state, w1, b1 = alive[runs], state[runs], w1[runs], b1[runs]
            w2, b2 = w2[runs], b2[runs]
        return {"reward": reward}

    return run


# Lorenz's system: RK4, 1,000 steps, a rho per agent.


def rhos(agents: int) -> Any:
    return np.linspace(20.0, 30.0, agents, dtype=F)


def lorenz_sim() -> Callable[[int], Result]:
    model = simc.load(EXAMPLES / "lorenz.sim")
    rho = rhos(LORENZ)
    return lambda agents: dict(model.run(agents=agents, rho=rho, backend="cpu", keep_states=False))


def lorenz_jax() -> Callable[[int], Result]:
    import jax
    import jax.numpy as jnp

    def agent(rho: Any) -> Any:
        def slope(s: Any) -> Any:
            x, y, z = s
            return jnp.stack([10.0 * (y - x), x * (rho - z) - y, x * y - 2.6666667 * z])

        def step(s: Any, _: Any) -> Any:
            h = 0.001
            k1 = slope(s)
            k2 = slope(s + 0.5 * h * k1)
            k3 = slope(s + 0.5 * h * k2)
            k4 = slope(s + h * k3)
            return s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

        return jax.lax.scan(step, jnp.ones(3), None, length=1_000)[0]

    run = jax.jit(jax.vmap(agent))
    rho = jnp.asarray(rhos(LORENZ))
    return lambda _: {"x": run(rho).block_until_ready()[:, 0]}


def lorenz_numba() -> Callable[[int], Result]:
    import numba

    @numba.njit(fastmath=True)
    def slope(x: Any, y: Any, z: Any, rho: Any) -> Any:
        return F(10) * (y - x), x * (rho - z) - y, x * y - F(2.6666667) * z

    @numba.njit(parallel=True, fastmath=True)
    def run(rho: Any, out: Any) -> None:
        h, half, sixth = F(0.001), F(0.0005), F(0.001 / 6)
        for agent in numba.prange(len(rho)):
            x, y, z = F(1), F(1), F(1)
            for _ in range(1_000):
                a1, b1, c1 = slope(x, y, z, rho[agent])
                a2, b2, c2 = slope(x + half * a1, y + half * b1, z + half * c1, rho[agent])
                a3, b3, c3 = slope(x + half * a2, y + half * b2, z + half * c2, rho[agent])
                a4, b4, c4 = slope(x + h * a3, y + h * b3, z + h * c3, rho[agent])
                x += sixth * (a1 + F(2) * a2 + F(2) * a3 + a4)
                y += sixth * (b1 + F(2) * b2 + F(2) * b3 + b4)
                z += sixth * (c1 + F(2) * c2 + F(2) * c3 + c4)
            out[agent] = x

    rho = rhos(LORENZ)

    def of(agents: int) -> Result:
        out = np.empty(agents, F)
        run(rho, out)
        return {"x": out}

    return of


def lorenz_numpy() -> Callable[[int], Result]:
    rho = rhos(LORENZ)

    def slope(s: Any) -> Any:
        x, y, z = s
        return np.stack([F(10) * (y - x), x * (rho - z) - y, x * y - F(2.6666667) * z])

    def run(agents: int) -> Result:
        h, s = F(0.001), np.ones((3, agents), F)
        for _ in range(1_000):
            k1 = slope(s)
            k2 = slope(s + F(0.5) * h * k1)
            k3 = slope(s + F(0.5) * h * k2)
            k4 = slope(s + h * k3)
            s = s + h / F(6) * (k1 + F(2) * k2 + F(2) * k3 + k4)
        return {"x": s[0]}

    return run


GBM, CARTPOLE, LORENZ = 100_000, 4_096, 4_096
BLACK_SCHOLES = 8.021352


def check_gbm(result: Result) -> str:
    call = np.asarray(result["call"], dtype=np.float64)
    error = (call.mean() - BLACK_SCHOLES) / (call.std() / np.sqrt(len(call)))
    assert abs(error) < 4.0, f"the mean is {error:.1f} standard errors off"
    return f"{call.mean():.4f} ({error:+.1f} se)"


def check_cartpole(result: Result) -> str:
    """Episodes are chaotic near their ends: in f32 nearly all have the same number of steps."""
    reward = np.asarray(result["reward"])
    REFERENCE.setdefault("cartpole", reward)
    same = float(np.mean(reward == REFERENCE["cartpole"]))
    assert same > 0.98, f"only {same:.1%} of the episodes are those of Sim"
    return f"{same:.2%} same"


def check_lorenz(result: Result) -> str:
    x = np.asarray(result["x"], dtype=np.float64)
    REFERENCE.setdefault("lorenz", x)
    worst = float(np.abs(x - REFERENCE["lorenz"]).max())
    assert worst < 1e-2, f"a trajectory is {worst} from that of Sim"
    return f"within {worst:.1e}"


REFERENCE: dict[str, Any] = {}
MODELS: list[tuple[str, int, Callable[[Result], str], list[tuple[str, Any, Path | None]]]] = [
    (
        f"GBM, {GBM:,} paths, 252 steps",
        GBM,
        check_gbm,
        [
            ("Sim", gbm_sim, EXAMPLES / "gbm.sim"),
            ("JAX", gbm_jax, None),
            ("Numba", gbm_numba, None),
            ("NumPy", gbm_numpy, None),
        ],
    ),
    (
        f"CartPole, {CARTPOLE:,} policies, up to 500 steps",
        CARTPOLE,
        check_cartpole,
        [
            ("Sim", cartpole_sim, EXAMPLES / "cartpole.sim"),
            ("JAX", cartpole_jax, None),
            ("Numba", cartpole_numba, None),
            ("NumPy", cartpole_numpy, None),
        ],
    ),
    (
        f"Lorenz, {LORENZ:,} trajectories, 1,000 steps of RK4",
        LORENZ,
        check_lorenz,
        [
            ("Sim", lorenz_sim, EXAMPLES / "lorenz.sim"),
            ("JAX", lorenz_jax, None),
            ("Numba", lorenz_numba, None),
            ("NumPy", lorenz_numpy, None),
        ],
    ),
]


def lines_of_python(function: Any) -> int:
    """Lines of code, without those of imports and documentation."""
    lines = [line.strip() for line in inspect.getsource(function).splitlines()]
    return sum(bool(line) and not line.startswith(("#", "import ")) for line in lines)


def lines_of_sim(path: Path) -> int:
    """Lines of code of a model, without its tests."""
    count, depth, in_test = 0, 0, False
    for line in path.read_text().splitlines():
        code = line.split("//")[0].strip()
        if not code:
            continue
        in_test = in_test or (depth == 0 and code.startswith("test "))
        depth += code.count("{") - code.count("}")
        count += not in_test
        in_test = in_test and depth > 0
    return count


def timed(call: Callable[[], Any], least: float) -> float:
    """The median of calls that take so many seconds together, three at least."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < least:
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3.0, help="for the runs of each, about")
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(f"{platform.processor() or platform.machine()}, {cores} cores; load {load}")
    for name, agents, check, peers in MODELS:
        print(f"\n{name}")
        print(f"{'':8}{'lines':>6}{'first call':>12}{'time':>11}{'of Sim':>8}  result")
        base = None
        for peer, make, model in peers:
            if importlib.util.find_spec(peer.lower().replace("sim", "simc")) is None:
                print(f"{peer:8}not installed")
                continue
            importlib.import_module(peer.lower().replace("sim", "simc"))
            started = time.perf_counter()
            run = make()
            result = run(agents)
            first = time.perf_counter() - started
            said = check(result)
            seconds = timed(partial(run, agents), options.seconds)
            base = base or seconds
            lines = lines_of_python(make) + (lines_of_sim(model) if model else 0)
            print(
                f"{peer:8}{lines:>6}{first:>10.2f} s{seconds * 1e3:>8.1f} ms"
                f"{seconds / base:>7.1f}x  {said}"
            )


if __name__ == "__main__":
    main()
