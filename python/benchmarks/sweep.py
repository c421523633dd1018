"""What a sweep from Python takes, beside its runs from Rust.

A thousand points of a small model: `model.sweep`, which keeps the outputs of all points and
computes their statistics when they are asked for, and `Simulation::run_each` by itself, which
computes the runs and drops their results.

    python benchmarks/sweep.py
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import simc

SOURCE = """
agents {agents}
steps {steps}
param sigma = 0.2
state price = 100.0
step {{ price *= exp(0.01 * sigma * normal()) }}
output payoff = max(price - 100.0, 0.0)
"""
MOST = 1.2
"""How many times longer a sweep may take."""
POINTS = 1_000
RUNS = 15


def main() -> None:
    """Prints a row per size of the model, and fails if a sweep takes too long."""
    sigma = np.linspace(0.1, 0.5, POINTS)
    print("agents  steps  run_each    sweep  ratio   (milliseconds of all cores, medians)")
    worst = 0.0
    for agents, steps in ((1_000, 50), (1_000, 252), (10_000, 252)):
        model = simc.compile(SOURCE.format(agents=agents, steps=steps))
        settings = {"backend": "cpu"}
        runs, sweeps = [], []
        for _ in range(RUNS):
            given = {"sigma": sigma[0]}
            seeds = [0] * POINTS
            call = (settings, given, True, None)
            started = time.process_time()
            model._native.time_sweep(call, seeds, {"sigma": sigma})
            runs.append(time.process_time() - started)
            started = time.process_time()
            model.sweep(sigma=sigma, backend="cpu")
            sweeps.append(time.process_time() - started)
        run, sweep = statistics.median(runs), statistics.median(sweeps)
        worst = max(worst, sweep / run)
        print(
            f"{agents:6}  {steps:5}  {run * 1e3:8.1f} {sweep * 1e3:8.1f}  {sweep / run:5.2f}",
        )
    if worst > MOST:
        raise SystemExit(f"a sweep takes {worst:.2f} times as long, and may take {MOST} times")


if __name__ == "__main__":
    main()
