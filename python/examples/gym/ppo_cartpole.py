"""Proximal policy optimisation solves CartPole: a mean return of at least 475 over 100 episodes.

The policy is trained and tested in `cartpole.sim`, and in the end tested in Gymnasium's own
CartPole-v1.

The algorithm is the plain one (J. Schulman et al., "Proximal Policy Optimization Algorithms", 2017)
as CleanRL writes it: one file, no framework. It needs gymnasium and torch.

    python examples/gym/ppo_cartpole.py
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import VectorEnv
from torch import nn
from torch.distributions import Categorical

import simc
import simc.gym

MODEL = Path(__file__).parent / "cartpole.sim"

ENVS, STEPS = 16, 128
"""Environments, and steps of each between two updates of the policy."""
EPOCHS, BATCHES = 4, 4
GAMMA, LAMBDA = 0.99, 0.95
RATE, CLIP, ENTROPY, VALUE, NORM = 1e-3, 0.2, 0.01, 0.5, 0.5
SOLVED = 475.0
EPISODES = 100
UPDATES_BETWEEN_TESTS = 10


class Agent(nn.Module):
    """A policy and the value of what it sees."""

    def __init__(self, seen: int, actions: int) -> None:
        super().__init__()
        self.actor = network(seen, actions, 0.01)
        self.critic = network(seen, 1, 1.0)

    def act(self, seen: torch.Tensor) -> Categorical:
        """What it would do."""
        return Categorical(logits=self.actor(seen))

    def value(self, seen: torch.Tensor) -> torch.Tensor:
        """What it expects to get."""
        found: torch.Tensor = self.critic(seen).squeeze(-1)
        return found


def network(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Two hidden layers of 64, with orthogonal weights."""

    def layer(inputs: int, outputs: int, gain: float) -> nn.Linear:
        made = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(made.weight, gain)
        nn.init.zeros_(made.bias)
        return made

    root = 2.0**0.5
    return nn.Sequential(
        layer(inputs, 64, root), nn.Tanh(), layer(64, 64, root), nn.Tanh(), layer(64, outputs, gain)
    )


def test(agent: Agent, env: VectorEnv[Any, Any, Any], seed: int) -> float:
    """The mean return of the most likely actions, an episode in each environment."""
    seen, _ = env.reset(seed=seed)
    returns, alive = np.zeros(EPISODES), np.ones(EPISODES, bool)
    while alive.any():
        with torch.no_grad():
            actions = agent.actor(torch.from_numpy(seen)).argmax(-1).numpy()
        seen, rewards, terminations, truncations, _ = env.step(actions)
        returns += rewards * alive
        alive &= ~(terminations | truncations)
    return float(returns.mean())


def advantages(
    rewards: torch.Tensor, values: torch.Tensor, ended: torch.Tensor, last: torch.Tensor
) -> torch.Tensor:
    """Generalised advantage estimates (J. Schulman et al., 2016)."""
    found, running, following = torch.zeros_like(rewards), torch.zeros(ENVS), last
    for t in reversed(range(STEPS)):
        goes_on = 1.0 - ended[t]
        running = (
            rewards[t]
            + GAMMA * goes_on * following
            - values[t]
            + GAMMA * LAMBDA * goes_on * running
        )
        found[t], following = running, values[t]
    return found


def update(agent: Agent, optimizer: torch.optim.Optimizer, rolled: dict[str, torch.Tensor]) -> None:
    """Some epochs of clipped policy gradients."""
    size = ENVS * STEPS
    for _ in range(EPOCHS):
        for chosen in torch.randperm(size).split(size // BATCHES):
            part = {name: values[chosen] for name, values in rolled.items()}
            act = agent.act(part["seen"])
            ratio = (act.log_prob(part["actions"]) - part["logs"]).exp()
            gain = part["gains"]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8)
            clipped = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            wrong = (agent.value(part["seen"]) - part["returns"]).square().mean()
            loss = -clipped + VALUE * 0.5 * wrong - ENTROPY * act.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), NORM)
            optimizer.step()


def train(seed: int, most_steps: int) -> Agent:
    """Trains until CartPole is solved, or for so many steps."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    model = simc.load(MODEL)
    env = simc.gym.VectorEnv(
        model, ENVS, autoreset_mode=simc.gym.AutoresetMode.SAME_STEP, backend="cpu"
    )
    agent = Agent(4, 2)
    optimizer = torch.optim.Adam(agent.parameters(), RATE, eps=1e-5)
    seen_now, _ = env.reset(seed=seed)
    rolled = {name: torch.zeros(STEPS, ENVS) for name in ("logs", "values", "rewards", "ended")}
    rolled["actions"] = torch.zeros(STEPS, ENVS, dtype=torch.long)
    rolled["seen"] = torch.zeros(STEPS, ENVS, seen_now.shape[1])
    started, stepping = time.perf_counter(), 0.0
    updates = most_steps // (ENVS * STEPS)
    for k in range(1, updates + 1):
        optimizer.param_groups[0]["lr"] = RATE * (1.0 - (k - 1) / updates)
        with torch.no_grad():
            for t in range(STEPS):
                seen = torch.from_numpy(seen_now)
                act = agent.act(seen)
                actions = act.sample()
                before = time.perf_counter()
                seen_now, rewards, terminations, truncations, infos = env.step(actions.numpy())
                stepping += time.perf_counter() - before
                gained = torch.from_numpy(rewards).clone()
                if truncations.any():
                    # What was cut off would have gone on: its value stands for the rest.
                    cut = np.flatnonzero(truncations & ~terminations)
                    for env_number in cut:
                        final = torch.from_numpy(infos["final_obs"][env_number])
                        gained[env_number] += GAMMA * agent.value(final)
                ended = torch.from_numpy(terminations | truncations)
                row = (act.log_prob(actions), agent.value(seen), gained, ended, actions, seen)
                for values, now in zip(rolled.values(), row, strict=True):
                    values[t] = now
            last = agent.value(torch.from_numpy(seen_now))
            gains = advantages(rolled["rewards"], rolled["values"], rolled["ended"], last)
        batch = {name: rolled[name].flatten(0, 1) for name in ("seen", "actions", "logs")}
        batch["gains"] = gains.flatten()
        batch["returns"] = (gains + rolled["values"]).flatten()
        update(agent, optimizer, batch)
        if k % UPDATES_BETWEEN_TESTS == 0 or k == updates:
            seconds = time.perf_counter() - started
            tested = simc.gym.VectorEnv(model, EPISODES)
            mean = test(agent, tested, seed + 1)
            tested.close()
            print(
                f"{k * ENVS * STEPS:9,} steps  {seconds:6.1f} s ({stepping:.1f} s in the "
                f"environment)  mean return {mean:6.1f}"
            )
            if mean >= SOLVED:
                break
    env.close()
    return agent


def main() -> None:
    """Trains, and fails if CartPole is not solved."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=500_000, help="the most steps")
    given = parser.parse_args()
    agent = train(given.seed, given.steps)
    env = gymnasium.make_vec("CartPole-v1", EPISODES, vectorization_mode="vector_entry_point")
    mean = test(agent, env, given.seed + 2)
    print(f"in Gymnasium's CartPole-v1: mean return {mean:.1f} over {EPISODES} episodes")
    if mean < SOLVED:
        raise SystemExit(f"not solved: the mean return is below {SOLVED}")


if __name__ == "__main__":
    main()
