"""Derivatives of the models of `benchmarks/gradients` by JAX: `grad` of a mean over agents of a `lax.scan`.

    python3 peers/gradients.py TOOL [--scale 8] [--times 5]

runs each model and its gradient in JAX, and by `TOOL`, the example `gradient_cost` of the crate
`sim-runtime`, one after the other: on a GPU if JAX has one, else on the CPU (`taskset -c 0` makes it one
core). It prints times and ratios. The scan is cut in segments of about the root of the steps
(`jax.checkpoint`); with `--whole` it is not, and keeps what all steps leave in memory.
"""

import argparse
import math
import os
import subprocess
import time
from pathlib import Path

import jax
import jax.numpy as jnp

MODELS = Path(__file__).parent.parent / "benchmarks/gradients"


def gbm(agents, steps):
    dt = 1.0 / 252.0

    def start(params, key):
        zero = jnp.zeros(agents)
        return (zero + params["spot"], zero, key)

    def step(params, state, _):
        price, total, key = state
        key, own = jax.random.split(key)
        rate, sigma = params["rate"], params["sigma"]
        noise = jax.random.normal(own, (agents,))
        price = price * jnp.exp((rate - 0.5 * sigma * sigma) * dt + sigma * math.sqrt(dt) * noise)
        return (price, total + price, key)

    def score(params, state):
        return jnp.exp(-params["rate"]) * jnp.maximum(state[1] / steps - 100.0, 0.0)

    return {"spot": 100.0, "rate": 0.04, "sigma": 0.2}, start, step, score


def lorenz(agents, steps):
    rho0 = 21.0 * jnp.arange(agents, dtype=jnp.float32) / agents

    def start(params, key):
        return (jnp.ones(agents), jnp.zeros(agents), jnp.zeros(agents))

    def step(params, state, _):
        sigma, beta, rho = params["sigma"], params["beta"], rho0 + params["rho"]

        def slope(x, y, z):
            return sigma * (y - x), x * (rho - z) - y, x * y - beta * z

        def moved(by, h):
            return slope(*(s + h * d for s, d in zip(state, by)))

        k1 = slope(*state)
        k2 = moved(k1, 0.0005)
        k3 = moved(k2, 0.0005)
        k4 = moved(k3, 0.001)
        return tuple(
            s + (0.001 / 6.0) * (a + 2.0 * b + 2.0 * c + d) for s, a, b, c, d in zip(state, k1, k2, k3, k4)
        )

    def score(params, state):
        return state[0] + state[1] + state[2]

    return {"sigma": 10.0, "beta": 2.6666667, "rho": 0.0}, start, step, score


def mountain_car(agents, steps):
    w1 = jnp.array([[0.5 - ((7 * j + 4 * i) % 9) / 8.0 for i in range(8)] for j in range(2)])
    w2 = jnp.array([[0.5 - ((5 * j + 2 * i) % 9) / 8.0 for i in range(3)] for j in range(8)])
    params = {"w1": w1, "b1": 0.1 * (jnp.arange(8) % 3), "w2": w2, "b2": jnp.array([0.1, 0.0, -0.1])}

    def start(params, key):
        position = -0.6 + 0.2 * jax.random.uniform(key, (agents,))
        return (position, jnp.zeros(agents), jnp.zeros(agents))

    def step(params, state, _):
        position, velocity, height = state
        seen = (position, 20.0 * velocity)
        hidden = [
            jnp.tanh(params["b1"][i] + sum(seen[j] * params["w1"][j, i] for j in range(2))) for i in range(8)
        ]
        value = [
            jnp.exp(params["b2"][i] + sum(hidden[j] * params["w2"][j, i] for j in range(8))) for i in range(3)
        ]
        push = (value[2] - value[0]) / (value[0] + value[1] + value[2])
        velocity = jnp.clip(velocity + 0.001 * push - 0.0025 * jnp.cos(3.0 * position), -0.07, 0.07)
        position = jnp.clip(position + velocity, -1.2, 0.6)
        velocity = jnp.where((position <= -1.2) & (velocity < 0.0), 0.0, velocity)
        return (position, velocity, height + jnp.sin(3.0 * position))

    def score(params, state):
        return state[2] / steps

    return params, start, step, score


WORKLOADS = {
    "gbm": (gbm, 1 << 20, 252, "spot,rate,sigma"),
    "lorenz": (lorenz, 1 << 20, 1000, "sigma,beta,rho"),
    "mountain_car": (mountain_car, 4096, 200, "w1,b1,w2,b2"),
}


def losses(make, agents, steps, whole):
    params, start, step, score = make(agents, steps)
    params = jax.tree.map(jnp.float32, params)
    length = math.isqrt(steps - 1) + 1

    def loss(params, key):
        state = start(params, key)
        if whole:
            body = lambda state, k: (step(params, state, k), None)
            return jnp.mean(score(params, jax.lax.scan(body, state, None, length=steps)[0]))

        @jax.checkpoint
        def segment(params, state):
            body = lambda state, k: (step(params, state, k), None)
            return jax.lax.scan(body, state, None, length=length)[0]

        segments = lambda state, k: (segment(params, state), None)
        state = jax.lax.scan(segments, state, None, length=steps // length)[0]
        for _ in range(steps % length):
            state = step(params, state, None)
        return jnp.mean(score(params, state))

    return params, jax.jit(loss), jax.jit(jax.value_and_grad(loss))


def least(times, call):
    jax.block_until_ready(call())
    found = []
    for _ in range(times):
        begun = time.perf_counter()
        jax.block_until_ready(call())
        found.append(time.perf_counter() - begun)
    return min(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("tool")
    parser.add_argument(
        "--scale", type=int, default=1, help="divides numbers of agents, to no less than 4,096"
    )
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--whole", action="store_true", help="without checkpoints")
    args = parser.parse_args()
    device = "gpu" if jax.default_backend() == "gpu" else "cpu"
    key = jax.random.key(1)
    for name, (make, agents, steps, names) in WORKLOADS.items():
        agents = max(agents // args.scale, 4096)
        params, run, gradient = losses(make, agents, steps, args.whole)
        forward = least(args.times, lambda: run(params, key))
        both = least(args.times, lambda: gradient(params, key))
        first = jnp.ravel(gradient(params, key)[1][names.split(",")[0]])[0]
        print(
            f"{name}, {agents} agents x {steps} steps on {jax.devices()[0]}: "
            f"JAX run {forward * 1e3:.3f} ms, gradient {both * 1e3:.3f} ms, {both / forward:.2f} runs "
            f"(the first is {first:.6f})",
            flush=True,
        )
        command = [args.tool, device, str(MODELS / f"{name}.sim"), "score", names, str(agents)]
        subprocess.run(command, check=True, env=os.environ | {"SIM_GRADIENT_MODES": "reverse"})


if __name__ == "__main__":
    main()
