"""An evolution strategy in NumPy solves CartPole: each generation is one run of the model.

The model `lang-examples/cartpole.sim` holds the policy, a network whose weights are inputs. A
generation perturbs a mean by noise and its negative, runs all candidates through their episodes at
once, and moves the mean by the ranks of their returns (T. Salimans et al., "Evolution Strategies as
a Scalable Alternative to Reinforcement Learning", 2017).

    python examples/gym/es_cartpole.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

import simc
import simc.policy

MODEL = Path(__file__).resolve().parents[3] / "lang-examples" / "cartpole.sim"

PAIRS, EPISODES = 64, 8
"""Pairs of candidates of a generation, and episodes of each."""
SIGMA, RATE = 0.2, 0.4
SOLVED = 475.0
TESTS = 100


def evolve(seed: int, generations: int) -> float:
    """Evolves until CartPole is solved; the mean return of the last test."""
    model = simc.load(MODEL)
    weights = simc.policy.Weights(model, ["w1", "b1", "w2", "b2"])
    random = np.random.default_rng(seed)
    mean = np.zeros(weights.size, np.float32)
    started, steps, tested = time.perf_counter(), 0, 0.0
    for k in range(1, generations + 1):
        noise = random.standard_normal((PAIRS, weights.size), dtype=np.float32)
        candidates = mean + SIGMA * np.concatenate([noise, -noise])
        run = model.run(
            agents=len(candidates) * EPISODES,
            seed=int(random.integers(2**63)),
            inputs=weights.inputs(candidates, repeat=EPISODES),
        )
        steps += run.report.agent_steps
        returns = weights.per_candidate(run["reward"], EPISODES).mean(axis=1)
        ranks = returns.argsort().argsort() / (len(returns) - 1) - 0.5
        slope = (ranks[:PAIRS] - ranks[PAIRS:]) @ noise / (2 * PAIRS * SIGMA)
        mean = (mean + RATE * slope).astype(np.float32)
        test = model.run(
            agents=TESTS, seed=seed + k, inputs=weights.inputs(mean[np.newaxis], repeat=TESTS)
        )
        tested = float(test["reward"].mean())
        seconds = time.perf_counter() - started
        print(
            f"generation {k:3}  {steps:10,} steps  {seconds:5.2f} s  "
            f"returns {returns.mean():6.1f}, of the mean {tested:6.1f}"
        )
        if tested >= SOLVED:
            break
    return tested


def main() -> None:
    """Evolves, and fails if CartPole is not solved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--generations", type=int, default=100, help="the most generations")
    given = parser.parse_args()
    if evolve(given.seed, given.generations) < SOLVED:
        raise SystemExit(f"not solved: the mean return is below {SOLVED}")


if __name__ == "__main__":
    main()
