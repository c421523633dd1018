"""The five workloads: their sizes, their inputs, and what must agree before anything is timed.

Inputs come from one integer hash, so they are the same to the bit on every machine. They are written once as
NPY files named after the inputs and tables of the Sim model; every system reads the same files.
"""

from dataclasses import dataclass, field

import numpy as np

PARAM, INIT, SIGNALS, APEX = 0x11110000, 0x22220000, 0x33330000, 0x44440000
SEED = 7


def hash32(x):
    """A 32-bit mixer."""
    x = np.array(x, np.uint32)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def unit(key, count):
    """`count` numbers in [0, 1), exact in single precision."""
    i = np.arange(count, dtype=np.uint32) + np.uint32(key)
    return (hash32(i) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def symmetric(key, agents, width, scale):
    """Rows of numbers in [-scale, scale), one row an agent."""
    numbers = (np.float32(2) * unit(key, agents * width) - np.float32(1)) * np.float32(scale)
    return numbers.reshape(agents, width)


def policies(agents, seen, hidden, actions, scale):
    """Weights and biases of networks with one hidden layer."""
    cuts = np.cumsum([seen * hidden, hidden, hidden * actions, actions])
    w1, b1, w2, b2, _ = np.split(symmetric(PARAM, agents, cuts[-1], scale), cuts, axis=1)
    return {"w1": w1.reshape(-1, seen, hidden), "b1": b1, "w2": w2.reshape(-1, hidden, actions), "b2": b2}


def acrobot(agents, steps):
    return policies(agents, 6, 16, 3, 1.0) | {"start": symmetric(INIT, agents, 4, 0.1)}


def cartpole(agents, steps):
    return policies(agents, 4, 8, 2, 1.0) | {"start": symmetric(INIT, agents, 4, 0.05)}


def balancing(agents, steps):
    """CartPole whose policies push towards the side where the pole falls, each with its own disturbance."""
    inputs = policies(agents, 4, 8, 2, 0.1)
    inputs["w1"][:, :, 0] += np.array([0.1, 0.3, 2.0, 0.8], np.float32)
    inputs["w2"][:, 0] += np.array([-1.0, 1.0], np.float32)
    inputs["b2"] *= np.float32(0.1)
    return inputs | {"start": symmetric(INIT, agents, 4, 0.05)}


def lorenz(agents, steps):
    return {"rho": ((np.arange(agents) + 0.5) * (28.0 / agents)).astype(np.float32)}


def gbm(agents, steps):
    return {}


def portfolio(agents, steps):
    u = unit(SIGNALS, 1500 * 36).reshape(1500, 36)
    one, two = np.float32(1), np.float32(2)
    signals = np.zeros_like(u)
    signals[:, :3] = (two * u[:, :3] - one) * np.float32(0.5)
    signals[:, 4:20] = np.float32(0.6) * u[:, 4:20] - np.float32(0.1)
    signals[:, 20:] = (two * u[:, 20:] - one) * np.float32(0.017) + np.float32(0.0003)
    apex = (hash32(np.arange(1500) + APEX) & np.uint32(15)).astype(np.int32)
    return policies(agents, 8, 16, 6, 1.5) | {"signals": signals, "apex": apex}


class Disagreement(Exception):
    """Two systems do not compute the same thing."""


def demand(holds, text):
    if not holds:
        raise Disagreement(text)
    return text


def share_near(ours, theirs, names, scales, tolerance):
    """The share of agents all of whose outputs differ by at most `tolerance` of their scale."""
    off = [np.abs(ours[name].astype(float) - theirs[name]) / scale for name, scale in zip(names, scales)]
    return float((np.max(off, axis=0) <= tolerance).mean())


def check_gbm(ours, theirs, agents, steps, full):
    """1,000 factors of relative error 1e-7 each, which may add up: 1e-4 for every path."""
    worst = float(np.max(np.abs(theirs["price"] / ours["price"].astype(float) - 1)))
    demand(theirs["price"].shape == (agents,), "wrong number of paths")
    return demand(worst <= 1e-4, f"worst path off by {worst:.1e} of its price (at most 1e-4)")


def check_lorenz(ours, theirs, agents, steps, full):
    """Up to t = 1 neighbouring trajectories part by a factor of some hundred: 1e-3 of the state's length."""
    ours, theirs = ([outputs[name].astype(float) for name in "xyz"] for outputs in (ours, theirs))
    length = np.sqrt(sum(x * x for x in ours))
    worst = float(np.max(np.sqrt(sum((x - y) ** 2 for x, y in zip(ours, theirs))) / length))
    return demand(worst <= 1e-3, f"worst state off by {worst:.1e} of its length (at most 1e-3)")


def check_portfolio(ours, theirs, agents, steps, full):
    """A change of weight within rounding of the dead band is traded by one and not by the other; those few
    agents part by up to some 1e-2 and the mean by 1e-4 at most."""
    a, b = ours["score"].astype(float), theirs["score"].astype(float)
    near = float((np.abs(b / a - 1) <= 1e-3).mean())
    apart = abs(b.mean() / a.mean() - 1)
    text = f"mean score {b.mean():.6f}, off by {apart:.1e} (at most 3e-4); {near:.2%} of agents within 1e-3 (at least 97 %)"
    if full:
        demand(abs(b.mean() / 1.29475 - 1) <= 3e-4, text + "; the known mean is 1.29475")
    return demand(near >= 0.97 and apart <= 3e-4, text)


def check_episodes(ours, theirs, agents, steps, full):
    """A network's choice turns rounding into another trajectory, so single agents part. What rounding did to
    them has no direction: the means of reward and done must agree within four standard errors of the
    differences between the paired agents."""
    texts = []
    for name in ("reward", "done"):
        difference = theirs[name].astype(float) - ours[name]
        error = difference.std() / np.sqrt(agents)
        text = (
            f"mean {name} {theirs[name].mean(dtype=float):.4f}, off by {difference.mean():+.1e} "
            f"(at most {4 * error:.1e}; {np.count_nonzero(difference)} of {agents} agents differ)"
        )
        texts.append(demand(abs(difference.mean()) <= 4 * error, text))
    return "; ".join(texts)


@dataclass
class Workload:
    """One row block of the report."""

    title: str
    model: str
    agents: int
    steps: int
    inputs: object
    check: object
    quick: tuple
    # Episodes are also compared agent by agent after this many steps, before rounding has grown.
    early_steps: int = 0
    # Scales of the states for that comparison, in the order of the outputs.
    early: dict = field(default_factory=dict)

    def size(self, quick):
        return self.quick if quick else (self.agents, self.steps)

    def check_early(self, ours, theirs):
        near = share_near(ours, theirs, self.early.keys(), self.early.values(), 1e-3)
        exact = float(((ours["reward"] == theirs["reward"]) & (ours["done"] == theirs["done"])).mean())
        text = f"after {self.early_steps} steps {near:.2%} of agents within 1e-3, {exact:.2%} of rewards equal (at least 99 %)"
        return demand(near >= 0.99 and exact >= 0.99, text)


POLE = {"x": 1.0, "v": 1.0, "theta": 0.2, "omega": 1.0}
LINKS = {"theta1": 1.0, "theta2": 1.0, "omega1": 3.0, "omega2": 6.0}

WORKLOADS = {
    "acrobot": Workload("Acrobot + net", "acrobot", 4096, 500, acrobot, check_episodes, (256, 100), 20, LINKS),
    "gbm": Workload("GBM", "gbm", 65536, 1000, gbm, check_gbm, (2048, 50)),
    "lorenz": Workload("Lorenz RK4", "lorenz", 65536, 1000, lorenz, check_lorenz, (1024, 1000)),
    "portfolio": Workload("Portfolio", "portfolio", 10000, 1500, portfolio, check_portfolio, (256, 100)),
    "cartpole": Workload("CartPole, random nets", "cartpole", 4096, 500, cartpole, check_episodes, (256, 100), 20, POLE),
    "balancing": Workload("CartPole, balancing nets", "cartpole", 4096, 500, balancing, check_episodes, (256, 100), 20, POLE),
}
