"""The workloads in JAX: `lax.scan` over the steps inside `jit`, for all agents at once.

A step is written once, for values without an agent axis. How the agents come in is the variant's business:

* `vmap`: `jax.vmap` over the scan of one agent, agents first, networks as `x @ w`;
* `arrays`: the same step on arrays whose last axis is the agents. Networks are sums written out term by term,
  so that XLA joins them to loops over the agents; a product with the weights and a sum over an axis ran at a
  tenth of the speed.

`unroll` is that of the scan; the driver tries several and keeps the fastest. Donating buffers would change
nothing: the carry of a scan lives inside the compiled function, which updates it in place, and the arguments
are needed for the next run. Agents whose episode is over are masked and computed all the same: a scan has
no early end, and a `while_loop` could only end when the last agent of all is over.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

f32, u32 = jnp.float32, jnp.uint32
PI = float(np.pi)


def product(x, w, b, variant):
    """b + x w for a list of values and weights (rows, columns, agents)."""
    if variant == "vmap":
        return b + jnp.stack(x) @ w
    columns = []
    for i in range(len(b)):
        total = b[i]
        for j, value in enumerate(x):
            total = total + value * w[j, i]
        columns.append(total)
    return jnp.stack(columns)


def network(x, a, activation, variant):
    hidden = activation(product(x, a["w1"], a["b1"], variant))
    return product(list(hidden), a["w2"], a["b2"], variant)


def rk4(slopes, s, h):
    along = lambda h, k: [x + h * d for x, d in zip(s, k)]
    a = slopes(s)
    b = slopes(along(0.5 * h, a))
    c = slopes(along(0.5 * h, b))
    d = slopes(along(h, c))
    return [x + h / 6 * (p + 2 * q + 2 * r + t) for x, p, q, r, t in zip(s, a, b, c, d)]


class Acrobot:
    names = ["theta1", "theta2", "omega1", "omega2", "action", "reward", "done"]

    @staticmethod
    def start(a, steps):
        zero = jnp.zeros_like(a["start"][0])
        return [*a["start"], zero.astype(jnp.int32), zero, zero > 1]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        *s, action, reward, done = carry
        seen = [jnp.cos(s[0]), jnp.sin(s[0]), jnp.cos(s[1]), jnp.sin(s[1]), s[2], s[3]]
        scores = network(seen, a, jnp.tanh, variant)
        choice = jnp.where(scores[1] > scores[0], 1, 0)
        choice = jnp.where(scores[2] > jnp.maximum(scores[0], scores[1]), 2, choice)
        torque = (choice - 1).astype(f32)

        def slopes(s):
            theta1, theta2, omega1, omega2 = s
            sin2, cos2 = jnp.sin(theta2), jnp.cos(theta2)
            d1, d2 = 3.5 + cos2, 1.25 + 0.5 * cos2
            phi2 = 4.9 * jnp.sin(theta1 + theta2)
            phi1 = 14.7 * jnp.sin(theta1) + phi2 - (0.5 * omega2 + omega1) * omega2 * sin2
            acc2 = (torque + d2 / d1 * phi1 - 0.5 * omega1 * omega1 * sin2 - phi2) / (1.25 - d2 * d2 / d1)
            return [omega1, omega2, -(d2 * acc2 + phi1) / d1, acc2]

        now = rk4(slopes, s, 0.2)
        wrap = lambda angle: angle - 2 * PI * jnp.round(angle * (0.5 / PI))
        now = [wrap(now[0]), wrap(now[1]), jnp.clip(now[2], -4 * PI, 4 * PI), jnp.clip(now[3], -9 * PI, 9 * PI)]
        over = done | (-jnp.cos(now[0]) - jnp.cos(now[0] + now[1]) > 1)
        kept = [jnp.where(done, old, new) for old, new in zip(s, now)]
        return [*kept, jnp.where(done, action, choice), jnp.where(over, reward, reward - 1), over]

    @staticmethod
    def finish(carry, a):
        return dict(zip(Acrobot.names, [*carry[:6], carry[6].astype(jnp.int32)]))


class CartPole:
    names = ["x", "v", "theta", "omega", "action", "reward", "done"]
    start = Acrobot.start

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        x, v, theta, omega, action, reward, done = carry
        scores = network([x, v, theta, omega], a, jnp.tanh, variant)
        choice = jnp.where(scores[1] > scores[0], 1, 0)
        force = jnp.where(scores[1] > scores[0], 10.0, -10.0).astype(f32)
        sin, cos = jnp.sin(theta), jnp.cos(theta)
        push = (force + 0.05 * omega * omega * sin) / 1.1
        spin = (9.8 * sin - cos * push) / (0.5 * (4 / 3 - 0.1 * cos * cos / 1.1))
        pull = push - 0.05 * spin * cos / 1.1
        now = [x + 0.02 * v, v + 0.02 * pull, theta + 0.02 * omega, omega + 0.02 * spin]
        kept = [jnp.where(done, old, new) for old, new in zip(carry, now)]
        over = done | (jnp.abs(now[0]) > 2.4) | (jnp.abs(now[2]) > 0.20943951023931953)
        return [*kept, jnp.where(done, action, choice), jnp.where(done, reward, reward + 1), over]

    @staticmethod
    def finish(carry, a):
        return dict(zip(CartPole.names, [*carry[:6], carry[6].astype(jnp.int32)]))


class Lorenz:
    @staticmethod
    def start(a, steps):
        one = jnp.ones_like(a["rho"])
        return [one, one, one]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        def slopes(s):
            x, y, z = s
            return [10 * (y - x), x * (a["rho"] - z) - y, x * y - 2.6666667 * z]

        return rk4(slopes, carry, 0.001)

    @staticmethod
    def finish(carry, a):
        return dict(zip("xyz", carry))


def random_word(k0, k1, n):
    x = (u32(n * 0x9E3779B9 & 0xFFFFFFFF) + k0) ^ k1
    x = x ^ (x >> 17)
    x = x * (2 * x + u32(0x21F0AAAD)) + k1
    x = x ^ (x >> 16)
    x = x * (2 * x + u32(0xD35A2D97))
    return x ^ (x >> 17)


class Gbm:
    """The agents' keys are made in the run, as the other systems do."""

    @staticmethod
    def start(a, steps):
        agent, (s0, s1) = a["agent"], a["seed"]

        def word(i, half):
            k0, k1 = s0 + u32(i * 0xC13FA9A9 & 0xFFFFFFFF), s1 + u32(i * 0x91E10DA5 & 0xFFFFFFFF)
            x = (half * u32(0x9E3779B9) + k0) ^ k1
            x = x ^ (x >> 17)
            x = x * (2 * x + u32(0x21F0AAAD)) + k1
            x = x ^ (x >> 16)
            x = x * (2 * x + u32(0xD35A2D97))
            return x ^ (x >> 17)

        k1 = word(0, agent)
        k0 = agent ^ word(1, k1)
        k1 = k1 ^ word(2, k0)
        return [k0 ^ word(3, k1), k1, jnp.full_like(agent, 100, f32)]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        k0, k1, price = carry
        t = t.astype(u32)
        dt = np.float32(1 / steps)
        drift, scale = np.float32((0.05 - 0.5 * 0.2 * 0.2) * dt), np.float32(0.2 * np.sqrt(dt))
        x = t * u32(0xC13FA9A9) + k0
        s0 = (x ^ (x >> 16)) * u32(0x21F0AAAD) + k1
        s1 = t * u32(0x91E10DA5) + k1
        u = random_word(s0, s1, 0).astype(f32) * f32(2.0**-32) + f32(2.0**-33)
        angle = lax.bitcast_convert_type(random_word(s0, s1, 1), jnp.int32).astype(f32) * f32(PI * 2.0**-31)
        normal = jnp.sqrt(jnp.maximum(-2 * jnp.log(u), 0)) * jnp.cos(angle)
        return [k0, k1, price * jnp.exp(drift + scale * normal)]

    @staticmethod
    def finish(carry, a):
        price, discount = carry[2], f32(np.exp(-0.05))
        call, put = jnp.maximum(price - 105, 0), jnp.maximum(105 - price, 0)
        return {"call": discount * call, "put": discount * put, "price": price}


def squash(a):
    e = jnp.exp(jnp.clip(2 * a, -20, 20))
    return (e - 1) / (e + 1)


class Portfolio:
    @staticmethod
    def start(a, steps):
        zero = jnp.zeros_like(a["b2"][0])
        held = jnp.zeros_like(a["b1"])
        return [zero + 1, zero + 1, zero, zero, zero, zero, held, zero > 1]

    @staticmethod
    def step(carry, a, row, t, steps, variant):
        value, peak, drawdown, worst, memory0, memory1, held, ruined = carry
        row, before_cap, apex_fee = row
        columns = lambda x: x.reshape(x.shape + (1,) * (held.ndim - 1))
        gain = jnp.minimum(10 * jnp.maximum(value / peak - 1, 0), 1)
        zero = f32(0)
        x = [row[0], jnp.minimum(5 * drawdown, 1), zero, gain, row[1], row[2], memory0, memory1]
        s = 1 / (1 + jnp.exp(jnp.clip(-network(x, a, squash, variant), -20, 20)))
        leverage, cap = 1 + 2 * s[1], (1 - 0.8 * s[0]) * (0.2 + 0.8 * s[3])
        w = jnp.minimum(columns(before_cap), cap)
        total = w.sum(axis=0)
        w = w / jnp.where(total > 0, total, 1)
        w = jnp.where(jnp.abs(w - held) < 0.05, held, w)
        earned = (w * columns(row[20:])).sum(axis=0)
        rate = jnp.where(w < held, f32(0.0002), f32(0.0004)) + jnp.maximum(leverage * w - 5, 0) * 0.0005
        rate = rate + jnp.where(w > held, columns(apex_fee), 0)
        cost = (jnp.abs(w - held) * rate).sum(axis=0)
        value = jnp.where(ruined, value, value * (1 + earned * leverage - cost * leverage - 0.00001))
        ruined = ruined | (value <= 0.05)
        peak = jnp.maximum(peak, value)
        drawdown = jnp.where(ruined, drawdown, (peak - value) / peak)
        return [value, peak, drawdown, jnp.maximum(worst, drawdown), s[4], s[5], w, ruined]

    @staticmethod
    def finish(carry, a):
        value, worst, ruined = carry[0], carry[3], carry[7]
        return {"score": jnp.where(ruined | (worst > 0.85), -9999, value), "value": value, "worst_drawdown": worst}


MODELS = {"acrobot": Acrobot, "cartpole": CartPole, "lorenz": Lorenz, "gbm": Gbm, "portfolio": Portfolio}


def program(model, steps, variant, unroll):
    """The whole run as one function of the agents' arrays and the tables."""

    def run(per_agent, shared, tables):
        a = per_agent | shared

        def step(carry, at):
            t, row = at
            return model.step(carry, a, row, t, steps, variant), None

        if tables:
            signals, apex = (table[:steps] for table in tables)
            # The target weights before the cap are the same for all agents.
            before_cap = jnp.maximum(signals[:, 4:20], 0)
            total = before_cap.sum(axis=1, keepdims=True)
            before_cap = before_cap / jnp.where(total > 0, total, 1)
            tables = (signals, before_cap, 0.002 * jax.nn.one_hot(apex, 16, dtype=f32))
        carry, _ = lax.scan(step, model.start(a, steps), (jnp.arange(steps), tables), unroll=unroll)
        return model.finish(carry, a)

    return jax.vmap(run, in_axes=(0, None, None)) if variant == "vmap" else run


def prepare(model, inputs, agents, seed, variant="arrays", unroll=1):
    """A function of the number of steps that runs the model; each number is compiled at its first run."""
    tables = tuple(jnp.asarray(inputs[name]) for name in ("signals", "apex") if name in inputs)
    per_agent = {name: np.asarray(values) for name, values in inputs.items() if name not in ("signals", "apex")}
    if variant != "vmap":
        per_agent = {name: np.ascontiguousarray(np.moveaxis(values, 0, -1)) for name, values in per_agent.items()}
    per_agent = jax.tree.map(jnp.asarray, per_agent)
    shared = {}
    if model == "gbm":
        per_agent["agent"] = jnp.arange(agents, dtype=u32)
        shared["seed"] = jnp.array([seed & 0xFFFFFFFF, seed >> 32], u32)
    compiled = {}

    def compile(steps):
        function = jax.jit(program(MODELS[model], steps, variant, unroll))
        compiled[steps] = function.lower(per_agent, shared, tables).compile()

    def run(steps):
        if steps not in compiled:
            compile(steps)
        return jax.block_until_ready(compiled[steps](per_agent, shared, tables))

    run.compile = compile
    return run
