"""What a call from Python costs beyond the call from Rust.

The runtime times each run from its call to its results. That time, of runs on a thread that handles
no signals, is what `Simulation::run` takes by itself; the wall time of `model.run` on the main
thread less that is the overhead: the arguments, Ctrl-C, the interpreter lock, and the arrays.

    python benchmarks/overhead.py
"""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Callable

import simc

SOURCE = """
agents {agents}
steps 8
param sigma = 0.2
state price = 100.0
step {{ price *= exp(0.01 * sigma * normal()) }}
output payoff = max(price - 100.0, 0.0)
"""
MOST = 50e-6
"""The most seconds that a call may add."""
RUNS = 2_000


def measured(run: Callable[[int], simc.Run]) -> tuple[float, float]:
    """The median of the wall time of a call, and of the time that the runtime reports."""
    for k in range(50):
        run(k)
    walls, inside = [], []
    for k in range(RUNS):
        started = time.perf_counter()
        done = run(k)
        walls.append(time.perf_counter() - started)
        inside.append(done.report.telemetry.total_seconds)
    return statistics.median(walls), statistics.median(inside)


def on_a_thread(run: Callable[[int], simc.Run]) -> tuple[float, float]:
    """The same on another thread than the main one."""
    found: list[tuple[float, float]] = []
    thread = threading.Thread(target=lambda: found.append(measured(run)))
    thread.start()
    thread.join()
    return found[0]


def main() -> None:
    """Prints a row per number of agents, and fails if a call adds too much."""
    print("agents   Rust    Python  overhead   (microseconds, medians)")
    worst = 0.0
    for agents in (1, 100, 10_000):
        model = simc.compile(SOURCE.format(agents=agents))

        def run(k: int, model: simc.Model = model) -> simc.Run:
            return model.run(seed=k, sigma=0.1 + k * 1e-5, backend="cpu")

        _, rust = on_a_thread(run)
        python, _ = measured(run)
        worst = max(worst, python - rust)
        print(f"{agents:6}  {rust * 1e6:6.1f}  {python * 1e6:6.1f}  {(python - rust) * 1e6:8.1f}")
    if worst > MOST:
        raise SystemExit(f"a call adds {worst * 1e6:.0f} µs, and may add {MOST * 1e6:.0f}")


if __name__ == "__main__":
    main()
