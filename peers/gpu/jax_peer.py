"""Portfolio, Acrobot and MountainCar in JAX: `jit` of a `lax.scan` over the steps, for all agents.

The portfolio, networks, Runge-Kutta and the two ways to bring in the agents (`vmap`, `arrays`) are those of
`../cpu/jax_peer.py`. Inputs are made on the device.
"""

import importlib.util
import time
from pathlib import Path

import jax
import jax.numpy as jnp

spec = importlib.util.spec_from_file_location("cpu_jax_peer", Path(__file__).parent.parent / "cpu/jax_peer.py")
common = importlib.util.module_from_spec(spec)
spec.loader.exec_module(common)

f32, u32 = jnp.float32, jnp.uint32
PI = common.PI
PARAM, INIT, SIGNALS, APEX = 0x11110000, 0x22220000, 0x33330000, 0x44440000


def hash32(x):
    x = (x ^ (x >> 16)) * u32(0x7FEB352D)
    x = (x ^ (x >> 15)) * u32(0x846CA68B)
    return x ^ (x >> 16)


def unit(key, count):
    return (hash32(jnp.arange(count, dtype=u32) + u32(key)) >> 8).astype(f32) * f32(2.0**-24)


def symmetric(key, agents, width, scale):
    return ((2 * unit(key, agents * width) - 1) * f32(scale)).reshape(agents, width)


def policies(agents, seen, hidden, out, scale):
    cuts = [seen * hidden, (seen + 1) * hidden, (seen + 1 + out) * hidden]
    w1, b1, w2, b2 = jnp.split(symmetric(PARAM, agents, (seen + 1 + out) * hidden + out, scale), cuts, axis=1)
    return {"w1": w1.reshape(-1, seen, hidden), "b1": b1, "w2": w2.reshape(-1, hidden, out), "b2": b2}


def market(rows):
    u = unit(SIGNALS, 36 * rows).reshape(rows, 36)
    s = 2 * u - 1
    signals = jnp.concatenate([s[:, :3] * 0.5, 0 * s[:, 3:4], 0.6 * u[:, 4:20] - 0.1, s[:, 20:] * 0.017 + 0.0003], axis=1)
    return signals, (hash32(jnp.arange(rows, dtype=u32) + u32(APEX)) & 15).astype(jnp.int32)


def chosen_push(scores):
    """-1, 0 or 1: the first of the largest of three."""
    choice = jnp.where(scores[2] > jnp.maximum(scores[0], scores[1]), 1, jnp.where(scores[1] > scores[0], 0, -1))
    return choice.astype(f32)


def scored(taken, best, done, reached, goal):
    """Steps and the best value count until the goal."""
    taken = jnp.where(done, taken, taken + 1)
    best = jnp.where(done, best, jnp.maximum(best, reached))
    return [taken, best, done | (reached > goal if goal == 1 else reached >= goal)]


class Acrobot:
    @staticmethod
    def inputs(agents):
        return policies(agents, 6, 16, 3, 1.0) | {"start": symmetric(INIT, agents, 4, 0.1)}

    @staticmethod
    def start(a, steps):
        zero = jnp.zeros_like(a["start"][0])
        return [*a["start"], zero, zero - 2, zero > 1]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        *s, taken, best, done = carry
        seen = [jnp.cos(s[0]), jnp.sin(s[0]), jnp.cos(s[1]), jnp.sin(s[1]), s[2], s[3]]
        torque = chosen_push(common.network(seen, a, jnp.tanh, variant))

        def slopes(s):
            theta1, theta2, omega1, omega2 = s
            sin2, cos2 = jnp.sin(theta2), jnp.cos(theta2)
            d1, d2 = 3.5 + cos2, 1.25 + 0.5 * cos2
            phi2 = 4.9 * jnp.sin(theta1 + theta2)
            phi1 = 14.7 * jnp.sin(theta1) + phi2 - (0.5 * omega2 + omega1) * omega2 * sin2
            acc2 = (torque + d2 / d1 * phi1 - 0.5 * omega1 * omega1 * sin2 - phi2) / (1.25 - d2 * d2 / d1)
            return [omega1, omega2, -(d2 * acc2 + phi1) / d1, acc2]

        s = common.rk4(slopes, s, 0.2)
        wrap = lambda angle: angle - 2 * PI * jnp.round(angle * (0.5 / PI))
        s = [wrap(s[0]), wrap(s[1]), jnp.clip(s[2], -4 * PI, 4 * PI), jnp.clip(s[3], -9 * PI, 9 * PI)]
        height = -jnp.cos(s[0]) - jnp.cos(s[0] + s[1])
        return [*s, *scored(taken, best, done, height, 1)]

    @staticmethod
    def finish(carry, a):
        return {"score": carry[5] - carry[4]}


class MountainCar:
    @staticmethod
    def inputs(agents):
        return policies(agents, 2, 8, 3, 2.0) | {"start": -0.5 + symmetric(INIT, agents, 1, 0.1)[:, 0]}

    @staticmethod
    def start(a, steps):
        zero = jnp.zeros_like(a["start"])
        return [a["start"], zero, zero, zero - 2, zero > 1]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        x, v, taken, best, done = carry
        push = chosen_push(common.network([x, 20 * v], a, jnp.tanh, variant))
        v = jnp.clip(v + 0.001 * push - 0.0025 * jnp.cos(3 * x), -0.07, 0.07)
        x = jnp.clip(x + v, -1.2, 0.6)
        v = jnp.where((x <= f32(-1.2)) & (v < 0), 0, v)
        return [x, v, *scored(taken, best, done, x, 0.5)]

    @staticmethod
    def finish(carry, a):
        return {"score": carry[3] - carry[2]}


class Portfolio(common.Portfolio):
    @staticmethod
    def inputs(agents):
        return policies(agents, 8, 16, 6, 1.5)


MODELS = {"portfolio": Portfolio, "acrobot": Acrobot, "mountain_car": MountainCar}


def missing(device, workload):
    if workload.model not in MODELS:
        return "not written"
    if device == "gpu" and jax.default_backend() != "gpu":
        return f"not installed: JAX {jax.__version__} has no GPU backend here"
    return None


def candidates(workload, variant):
    return [{"variant": variant, "unroll": unroll} for unroll in (1, 4)]


class Peer:
    """A workload, compiled; the first run apart."""

    def __init__(self, workload, variant, unroll):
        model = MODELS[workload.model]
        inputs = model.inputs(workload.agents)
        if variant != "vmap":
            inputs = {name: jnp.moveaxis(values, 0, -1) for name, values in inputs.items()}
        tables = market(workload.steps) if workload.model == "portfolio" else ()
        self.arguments = jax.block_until_ready((inputs, {}, tables))
        started = time.perf_counter()
        program = jax.jit(common.program(model, workload.steps, variant, unroll))
        self.compiled = program.lower(*self.arguments).compile()
        self.compile_seconds = time.perf_counter() - started

    def run(self):
        return self.compiled(*self.arguments)

    def scores(self):
        return jax.device_get(self.run()["score"])

    def wall(self, times):
        """Seconds of so many runs, issued one after the other and awaited together."""
        started = time.perf_counter()
        jax.block_until_ready([self.run() for _ in range(times)])
        return time.perf_counter() - started
