"""What the calls of a session cost, in microseconds: the least of many, for different populations.

With one agent a call is almost nothing but overhead: of Python, of the interpreter lock, and of the
runtime, which binds the launch and hands the states over.

    python benchmarks/session.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import simc
import simc.gym

MODEL = Path(__file__).resolve().parents[1] / "examples" / "gym" / "cartpole.sim"
COUNTS = (1, 64, 1_024, 16_384)
CALLS = 500


def least(call: Callable[[], object]) -> float:
    """The least time of a call."""
    best = float("inf")
    for _ in range(CALLS):
        started = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - started)
    return best * 1e6


def whole(session: simc.Session, actions: NDArray[np.int32]) -> None:
    """What an environment does in a step."""
    session.set_input("action", actions)
    session.step()
    session.outputs(["observation", "reward", "done"])


def main() -> None:
    """Prints a row per call."""
    model = simc.load(MODEL)
    rows: dict[str, list[float]] = {}
    for count in COUNTS:
        actions, mask = np.zeros(count, np.int32), np.zeros(count, bool)
        mask[0] = True
        session = model.session(agents=count, steps=2**30 - 1, action=actions, backend="cpu")
        session.step()
        env = simc.gym.VectorEnv(model, count, backend="cpu", max_episode_steps=2**30)
        env.reset(seed=0)

        calls: dict[str, Callable[[], object]] = {
            "step()": session.step,
            "set_input": partial(session.set_input, "action", actions),
            "state": partial(session.state, "x"),
            "set_input, step, outputs": partial(whole, session, actions),
            "reset(mask)": partial(session.reset, mask=mask),
            "VectorEnv.step": partial(env.step, actions),
        }
        for name, call in calls.items():
            rows.setdefault(name, []).append(least(call))
    print(f"{'µs a call; agents:':26}" + "".join(f"{count:>9,}" for count in COUNTS))
    for name, values in rows.items():
        print(f"{name:26}" + "".join(f"{value:9.1f}" for value in values))


if __name__ == "__main__":
    main()
