"""The workloads in NumPy: one array operation for all agents at a time.

Arrays have the agents as their last axis, so that every operation runs over contiguous memory. Agents whose
episode is over are masked and computed all the same; the loop ends when all are over.
"""

import numpy as np

f32, u32 = np.float32, np.uint32
PI, TAU = f32(np.pi), f32(2 * np.pi)


def network(x, hidden, out, activation):
    """A network with one hidden layer for x (seen, agents); weights (rows, columns, agents)."""
    (w1, b1), (w2, b2) = hidden, out
    h = b1.copy()
    for j, row in enumerate(x):
        h += row * w1[j]
    h = activation(h)
    scores = b2.copy()
    for j in range(len(h)):
        scores += h[j] * w2[j]
    return scores


def agents_last(inputs, names):
    return [np.ascontiguousarray(np.moveaxis(inputs[name], 0, -1)) for name in names]


def random_word(k0, k1, n):
    x = (u32(n * 0x9E3779B9 & 0xFFFFFFFF) + k0) ^ k1
    x ^= x >> u32(17)
    x *= u32(2) * x + u32(0x21F0AAAD)
    x += k1
    x ^= x >> u32(16)
    x *= u32(2) * x + u32(0xD35A2D97)
    x ^= x >> u32(17)
    return x


def agent_keys(seed, agents):
    words = [seed & 0xFFFFFFFF, seed >> 32]

    def round_of(i, half):
        s0, s1 = (words[0] + i * 0xC13FA9A9) & 0xFFFFFFFF, (words[1] + i * 0x91E10DA5) & 0xFFFFFFFF
        x = (half * u32(0x9E3779B9) + u32(s0)) ^ u32(s1)
        x ^= x >> u32(17)
        x = x * (u32(2) * x + u32(0x21F0AAAD)) + u32(s1)
        x ^= x >> u32(16)
        x = x * (u32(2) * x + u32(0xD35A2D97))
        return x ^ (x >> u32(17))

    k0 = np.arange(agents, dtype=u32)
    k1 = round_of(0, k0)
    k0 = k0 ^ round_of(1, k1)
    k1 = k1 ^ round_of(2, k0)
    return k0 ^ round_of(3, k1), k1


def gbm(inputs, agents, steps, seed):
    rate, sigma, strike, maturity = f32(0.05), f32(0.2), f32(105), f32(1)
    dt = maturity / f32(steps)
    drift, scale = (rate - f32(0.5) * sigma * sigma) * dt, sigma * np.sqrt(dt)
    k0, k1 = agent_keys(seed, agents)
    price = np.full(agents, 100, f32)
    for step in range(steps):
        x = u32(step * 0xC13FA9A9 & 0xFFFFFFFF) + k0
        s0 = (x ^ (x >> u32(16))) * u32(0x21F0AAAD) + k1
        s1 = u32(step * 0x91E10DA5 & 0xFFFFFFFF) + k1
        u = random_word(s0, s1, 0).astype(f32)
        u *= f32(2.0**-32)
        u += f32(2.0**-33)
        angle = random_word(s0, s1, 1).view(np.int32).astype(f32)
        angle *= f32(np.pi * 2.0**-31)
        radius = np.log(u, out=u)
        radius *= f32(-2)
        np.maximum(radius, f32(0), out=radius)
        normal = np.sqrt(radius, out=radius)
        normal *= np.cos(angle, out=angle)
        normal *= scale
        normal += drift
        price *= np.exp(normal, out=normal)
    discount = np.exp(-rate * maturity)
    call, put = np.maximum(price - strike, f32(0)), np.maximum(strike - price, f32(0))
    return {"call": discount * call, "put": discount * put, "price": price}


def lorenz(inputs, agents, steps, seed):
    rho, dt, sigma, beta = inputs["rho"], f32(0.001), f32(10), f32(2.6666667)
    s = np.ones((3, agents), f32)

    def slopes(s):
        x, y, z = s
        k = np.empty_like(s)
        k[0] = sigma * (y - x)
        k[1] = x * (rho - z) - y
        k[2] = x * y - beta * z
        return k

    for _ in range(steps):
        s = rk4(slopes, s, dt)
    return dict(zip("xyz", s))


def rk4(slopes, s, dt):
    half = f32(0.5) * dt
    a = slopes(s)
    b = slopes(s + half * a)
    c = slopes(s + half * b)
    d = slopes(s + dt * c)
    b += c
    b *= f32(2)
    a += b
    a += d
    a *= dt / f32(6)
    return s + a


def acrobot(inputs, agents, steps, seed):
    w1, b1, w2, b2, s = agents_last(inputs, ["w1", "b1", "w2", "b2", "start"])
    gravity, one, half = f32(9.8), f32(1), f32(0.5)
    action, reward = np.zeros(agents, np.int32), np.zeros(agents, f32)
    done = np.zeros(agents, bool)
    bound = np.array([[4 * np.pi], [9 * np.pi]], f32)

    def slopes(s):
        theta1, theta2, omega1, omega2 = s
        sin2, cos2 = np.sin(theta2), np.cos(theta2)
        d1, d2 = f32(3.5) + cos2, f32(1.25) + half * cos2
        phi2 = half * gravity * np.sin(theta1 + theta2)
        phi1 = f32(1.5) * gravity * np.sin(theta1) + phi2 - (half * omega2 + omega1) * omega2 * sin2
        acc2 = torque + d2 / d1 * phi1 - half * omega1 * omega1 * sin2 - phi2
        acc2 /= f32(1.25) - d2 * d2 / d1
        return np.stack([omega1, omega2, -(d2 * acc2 + phi1) / d1, acc2])

    for _ in range(steps):
        seen = [np.cos(s[0]), np.sin(s[0]), np.cos(s[1]), np.sin(s[1]), s[2], s[3]]
        choice = np.argmax(network(seen, (w1, b1), (w2, b2), np.tanh), axis=0).astype(np.int32)
        torque = (choice - 1).astype(f32)
        now = rk4(slopes, s, f32(0.2))
        now[:2] -= TAU * np.rint(now[:2] * f32(0.5 / np.pi))
        np.clip(now[2:], -bound, bound, out=now[2:])
        s = np.where(done, s, now)
        action = np.where(done, action, choice)
        done |= -np.cos(now[0]) - np.cos(now[0] + now[1]) > one
        reward -= ~done
        if done.all():
            break
    names = ["theta1", "theta2", "omega1", "omega2"]
    return dict(zip(names, s)) | {"action": action, "reward": reward, "done": done.astype(np.int32)}


def cartpole(inputs, agents, steps, seed):
    w1, b1, w2, b2, s = agents_last(inputs, ["w1", "b1", "w2", "b2", "start"])
    action, reward = np.zeros(agents, np.int32), np.zeros(agents, f32)
    done = np.zeros(agents, bool)
    for _ in range(steps):
        scores = network(s, (w1, b1), (w2, b2), np.tanh)
        choice = (scores[1] > scores[0]).astype(np.int32)
        force = np.where(choice == 1, f32(10), f32(-10))
        x, v, theta, omega = s
        sin, cos = np.sin(theta), np.cos(theta)
        push = (force + f32(0.05) * omega * omega * sin) / f32(1.1)
        spin = (f32(9.8) * sin - cos * push) / (f32(0.5) * (f32(4 / 3) - f32(0.1) * cos * cos / f32(1.1)))
        pull = push - f32(0.05) * spin * cos / f32(1.1)
        now = s + f32(0.02) * np.stack([v, pull, omega, spin])
        s = np.where(done, s, now)
        action = np.where(done, action, choice)
        reward += ~done
        done |= (np.abs(now[0]) > f32(2.4)) | (np.abs(now[2]) > f32(0.20943951023931953))
        if done.all():
            break
    outputs = dict(zip(["x", "v", "theta", "omega"], s))
    return outputs | {"action": action, "reward": reward, "done": done.astype(np.int32)}


def squash(a):
    e = np.exp(np.clip(f32(2) * a, f32(-20), f32(20)))
    return (e - f32(1)) / (e + f32(1))


def portfolio(inputs, agents, steps, seed):
    w1, b1, w2, b2 = agents_last(inputs, ["w1", "b1", "w2", "b2"])
    signals, apex = inputs["signals"], inputs["apex"]
    zero, one = f32(0), f32(1)
    value, peak = np.ones(agents, f32), np.ones(agents, f32)
    drawdown, worst = np.zeros(agents, f32), np.zeros(agents, f32)
    memory, held = np.zeros((2, agents), f32), np.zeros((16, agents), f32)
    ruined = np.zeros(agents, bool)
    # The target weights before the cap are the same for all agents.
    before_cap = np.maximum(signals[:, 4:20], zero)
    total = before_cap.sum(axis=1, keepdims=True)
    before_cap /= np.where(total > zero, total, one)
    for t in range(steps):
        row = signals[t]
        gain = np.minimum(f32(10) * np.maximum(value / peak - one, zero), one)
        x = [row[0], np.minimum(f32(5) * drawdown, one), zero, gain, row[1], row[2], memory[0], memory[1]]
        out = network(x, (w1, b1), (w2, b2), squash)
        s = one / (one + np.exp(np.clip(-out, f32(-20), f32(20))))
        leverage, cap = one + f32(2) * s[1], (one - f32(0.8) * s[0]) * (f32(0.2) + f32(0.8) * s[3])
        memory = s[4:6]
        w = np.minimum(before_cap[t][:, None], cap)
        total = w.sum(axis=0)
        w /= np.where(total > zero, total, one)
        w = np.where(np.abs(w - held) < f32(0.05), held, w)
        earned = row[20:] @ w
        rate = leverage * w
        rate -= f32(5)
        np.maximum(rate, zero, out=rate)
        rate *= f32(0.0005)
        rate += np.where(w < held, f32(0.0002), f32(0.0004))
        rate[apex[t]] += np.where(w[apex[t]] > held[apex[t]], f32(0.002), zero)
        rate *= np.abs(w - held)
        held = w
        growth = one + earned * leverage - rate.sum(axis=0) * leverage - f32(0.00001)
        value = np.where(ruined, value, value * growth)
        ruined |= value <= f32(0.05)
        peak = np.maximum(peak, value)
        drawdown = np.where(ruined, drawdown, (peak - value) / peak)
        worst = np.maximum(worst, drawdown)
        if ruined.all():
            break
    score = np.where(ruined | (worst > f32(0.85)), f32(-9999), value)
    return {"score": score, "value": value, "worst_drawdown": worst}


MODELS = {"gbm": gbm, "lorenz": lorenz, "acrobot": acrobot, "cartpole": cartpole, "portfolio": portfolio}


def prepare(model, inputs, agents, seed):
    """A function of the number of steps that runs the model."""
    return lambda steps: MODELS[model](inputs, agents, steps, seed)
