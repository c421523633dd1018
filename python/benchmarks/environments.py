"""Steps a second of CartPole: `simc.gym.VectorEnv` beside Gymnasium's own, EnvPool and gymnax.

All take the same number of environments, get random actions that were drawn before, begin episodes
anew by themselves, and give NumPy arrays (gymnax: arrays of JAX, waited for). What is not installed
is left out.

    pip install gymnasium envpool gymnax
    python benchmarks/environments.py
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import simc
import simc.gym

MODEL = Path(__file__).resolve().parents[1] / "examples" / "gym" / "cartpole.sim"
POLICY = Path(__file__).resolve().parents[2] / "lang-examples" / "cartpole.sim"
COUNTS = (1, 16, 256, 4_096, 65_536)
DRAWN = 64
"""Different arrays of actions."""
SECONDS, PARTS = 1.5, 15
"""Time for a number, and how many parts it is the best of: others may use the machine meanwhile."""

Step = Callable[[Any], object]


def ours(count: int, seed: int) -> Step:
    """A VectorEnv of the model."""
    env = simc.gym.VectorEnv(MODEL, count, backend="cpu")
    env.reset(seed=seed)
    return env.step


def of_gymnasium(count: int, seed: int) -> Step:
    """Gymnasium's own, in NumPy."""
    import gymnasium

    env = gymnasium.make_vec("CartPole-v1", count, vectorization_mode="vector_entry_point")
    env.reset(seed=seed)
    return env.step


def of_envpool(count: int, seed: int) -> Step:
    """EnvPool's, in C++."""
    import envpool

    env = envpool.make_gymnasium("CartPole-v1", num_envs=count, seed=seed)
    env.reset()
    return lambda actions: env.step(actions)


def of_gymnax(count: int, seed: int) -> Step:
    """Gymnax's, compiled by JAX."""
    import gymnax
    import jax

    env, params = gymnax.make("CartPole-v1")
    key = jax.random.key(seed)
    _, now = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, count), params)

    def all_step(key: Any, now: Any, actions: Any) -> Any:
        key, own = jax.random.split(key)
        step = jax.vmap(env.step, in_axes=(0, 0, 0, None))
        return key, *step(jax.random.split(own, count), now, actions, params)

    compiled = jax.jit(all_step)

    def step(actions: Any) -> object:
        nonlocal key, now
        key, seen, now, *rest = compiled(key, now, actions)
        return jax.block_until_ready((seen, rest))

    return step


def measured(step: Step, actions: list[Any], count: int) -> float:
    """Steps of environments a second: the best part."""
    calls, at = 1, 0

    def part() -> float:
        nonlocal at
        started = time.perf_counter()
        for _ in range(calls):
            step(actions[at % DRAWN])
            at += 1
        return time.perf_counter() - started

    part()
    while (took := part()) < SECONDS / PARTS:
        calls = max(calls + 1, int(calls * min(10.0, 0.7 * SECONDS / PARTS / max(took, 1e-9))))
        if took > 0.5 * SECONDS / PARTS:
            break
    return max(calls * count / part() for _ in range(PARTS))


def in_one_run(count: int) -> float:
    """Steps a second of whole episodes in one run, whose agents have a network for a policy."""
    model = simc.load(POLICY)
    best = 0.0
    for seed in range(PARTS):
        started = time.perf_counter()
        run = model.run(agents=count, seed=seed, backend="cpu")
        seconds = time.perf_counter() - started
        best = max(best, run.report.agent_steps / seconds)
    return best


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--counts", type=int, nargs="+", default=COUNTS)
    counts = parser.parse_args().counts
    made: dict[str, Callable[[int, int], Step]] = {
        "simc.gym.VectorEnv": ours,
        "Gymnasium (NumPy)": of_gymnasium,
        "EnvPool (C++)": of_envpool,
        "gymnax (JAX)": of_gymnax,
    }
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    print(f"CartPole, million steps a second on {os.cpu_count()} cores (load {load:.1f})")
    print(f"{'environments':24}" + "".join(f"{count:>10,}" for count in counts))
    random = np.random.default_rng(0)
    for name, make in made.items():
        cells = []
        for count in counts:
            actions = list(random.integers(0, 2, (DRAWN, count), dtype=np.int32))
            try:
                step = make(count, 1)
            except ImportError as error:
                cells = [f"  not installed: {error.name}"]
                break
            cells.append(f"{measured(step, actions, count) / 1e6:10.3f}")
        print(f"{name:24}" + "".join(cells), flush=True)
    cells = [f"{in_one_run(count) / 1e6:10.3f}" for count in counts]
    print(f"{'simc, policy in the run':24}" + "".join(cells))


if __name__ == "__main__":
    main()
