"""Portfolio, Acrobot and MountainCar in PyTorch: one operation for all agents at a time, a Python loop over steps.

* `eager`: as it stands;
* `graph`: so many steps at a time through `torch.compile`, and the whole run recorded as one CUDA graph;
* `reduce-overhead`: the same steps with `torch.compile(mode="reduce-overhead")`, PyTorch's own use of CUDA graphs.

Networks are batched products (`bmm`), or products summed over an axis (`sum`), which the compiler can join with what
is around them; the worker keeps the faster. `batched` is how ensembles of networks are usually written: `bmm`, or the
same through `torch.func.vmap`; `baddbmm` is `bmm` alone.
"""

import math
import time

import numpy as np
import torch

PI = math.pi
PARAM, INIT, SIGNALS, APEX = 0x11110000, 0x22220000, 0x33330000, 0x44440000


def hash32(x):
    """Of 32-bit numbers held in 64 bits; the lower half of a product needs no unsigned type."""
    mask = 0xFFFFFFFF
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & mask
    x = ((x ^ (x >> 15)) * 0x846CA68B) & mask
    return x ^ (x >> 16)


def unit(key, count, device):
    """In slices, since 64-bit numbers take room."""
    parts = []
    for first in range(0, count, 1 << 24):
        i = torch.arange(first, min(count, first + (1 << 24)), device=device)
        parts.append((hash32((i + key) & 0xFFFFFFFF) >> 8).to(torch.float32) * 2.0**-24)
    return torch.cat(parts)


def symmetric(key, agents, width, scale, device):
    return ((2 * unit(key, agents * width, device) - 1) * scale).reshape(agents, width)


def policies(agents, seen, hidden, out, scale, device):
    sizes = [seen * hidden, hidden, hidden * out, out]
    w1, b1, w2, b2 = symmetric(PARAM, agents, sum(sizes), scale, device).split(sizes, dim=1)
    shapes = (w1.reshape(-1, seen, hidden), b1, w2.reshape(-1, hidden, out), b2)
    return [values.contiguous() for values in shapes]


def market(rows, device):
    u = unit(SIGNALS, 36 * rows, device).reshape(rows, 36)
    s = 2 * u - 1
    scores = torch.clamp(0.6 * u[:, 4:20] - 0.1, min=0)
    total = scores.sum(dim=1, keepdim=True)
    scores = scores / torch.where(total > 0, total, 1.0)
    apex = hash32((torch.arange(rows, device=device) + APEX) & 0xFFFFFFFF) & 15
    fee = 0.002 * torch.nn.functional.one_hot(apex, 16).to(torch.float32)
    # Signals, scores scaled to a sum of 1 (the same for all agents), returns, the apex asset's surcharge.
    return torch.cat([s[:, :3] * 0.5, scores, s[:, 20:] * 0.017 + 0.0003, fee], dim=1)


def product(x, w, b, form):
    if form == "vmap":
        return torch.func.vmap(lambda x, w, b: x @ w + b)(x, w, b)
    if form == "bmm":
        return torch.baddbmm(b[:, None, :], x[:, None, :], w)[:, 0, :]
    return b + (x[:, :, None] * w).sum(dim=1)


def network(x, weights, activation, form):
    w1, b1, w2, b2 = weights
    return product(activation(product(torch.stack(x, dim=1), w1, b1, form)), w2, b2, form)


def chosen_push(scores):
    """-1, 0 or 1: the first of the largest of three."""
    return torch.argmax(scores, dim=1).to(torch.float32) - 1


def scored(taken, best, done, reached, over):
    taken = torch.where(done, taken, taken + 1)
    best = torch.where(done, best, torch.maximum(best, reached))
    return [taken, best, done | over]


class Acrobot:
    @staticmethod
    def inputs(agents, device):
        return policies(agents, 6, 16, 3, 1.0, device), symmetric(INIT, agents, 4, 0.1, device).unbind(dim=1)

    @staticmethod
    def start(start):
        zero = torch.zeros_like(start[0])
        return [*(part.contiguous() for part in start), zero, zero - 2, zero > 1]

    @staticmethod
    def step(carry, weights, row, form):
        *s, taken, best, done = carry
        seen = [torch.cos(s[0]), torch.sin(s[0]), torch.cos(s[1]), torch.sin(s[1]), s[2], s[3]]
        torque = chosen_push(network(seen, weights, torch.tanh, form))

        def slopes(s):
            theta1, theta2, omega1, omega2 = s
            sin2, cos2 = torch.sin(theta2), torch.cos(theta2)
            d1, d2 = 3.5 + cos2, 1.25 + 0.5 * cos2
            phi2 = 4.9 * torch.sin(theta1 + theta2)
            phi1 = 14.7 * torch.sin(theta1) + phi2 - (0.5 * omega2 + omega1) * omega2 * sin2
            acc2 = (torque + d2 / d1 * phi1 - 0.5 * omega1 * omega1 * sin2 - phi2) / (1.25 - d2 * d2 / d1)
            return [omega1, omega2, -(d2 * acc2 + phi1) / d1, acc2]

        along = lambda h, k: [x + h * d for x, d in zip(s, k)]
        a = slopes(s)
        b = slopes(along(0.1, a))
        c = slopes(along(0.1, b))
        d = slopes(along(0.2, c))
        s = [x + 0.2 / 6 * (p + 2 * q + 2 * r + t) for x, p, q, r, t in zip(s, a, b, c, d)]
        wrap = lambda angle: angle - 2 * PI * torch.round(angle * (0.5 / PI))
        s = [wrap(s[0]), wrap(s[1]), s[2].clamp(-4 * PI, 4 * PI), s[3].clamp(-9 * PI, 9 * PI)]
        height = -torch.cos(s[0]) - torch.cos(s[0] + s[1])
        return [*s, *scored(taken, best, done, height, height > 1)]

    @staticmethod
    def score(carry):
        return carry[5] - carry[4]


class MountainCar:
    @staticmethod
    def inputs(agents, device):
        return policies(agents, 2, 8, 3, 2.0, device), -0.5 + symmetric(INIT, agents, 1, 0.1, device)[:, 0]

    @staticmethod
    def start(start):
        zero = torch.zeros_like(start)
        return [start, zero, zero.clone(), zero - 2, zero > 1]

    @staticmethod
    def step(carry, weights, row, form):
        x, v, taken, best, done = carry
        push = chosen_push(network([x, 20 * v], weights, torch.tanh, form))
        v = (v + 0.001 * push - 0.0025 * torch.cos(3 * x)).clamp(-0.07, 0.07)
        x = (x + v).clamp(-1.2, 0.6)
        v = torch.where((x <= -1.2) & (v < 0), 0.0, v)
        return [x, v, *scored(taken, best, done, x, x >= 0.5)]

    @staticmethod
    def score(carry):
        return carry[3] - carry[2]


def squash(a):
    e = torch.exp(torch.clamp(2 * a, -20, 20))
    return (e - 1) / (e + 1)


class Portfolio:
    @staticmethod
    def inputs(agents, device):
        return policies(agents, 8, 16, 6, 1.5, device), torch.ones(agents, device=device)

    @staticmethod
    def start(one):
        zero = torch.zeros_like(one)
        held = torch.zeros(len(one), 16, device=one.device)
        return [one, one.clone(), zero, zero.clone(), zero.clone(), zero.clone(), held, zero > 1]

    @staticmethod
    def step(carry, weights, row, form):
        value, peak, drawdown, worst, memory0, memory1, held, ruined = carry
        gain = (10 * (value / peak - 1).clamp(min=0)).clamp(max=1)
        signal = [part.expand(len(value)) for part in row[:3].unbind()]
        x = [signal[0], (5 * drawdown).clamp(max=1), torch.zeros_like(value), gain, signal[1], signal[2], memory0, memory1]
        s = 1 / (1 + torch.exp((-network(x, weights, squash, form)).clamp(-20, 20)))
        leverage, cap = 1 + 2 * s[:, 1], (1 - 0.8 * s[:, 0]) * (0.2 + 0.8 * s[:, 3])
        w = torch.minimum(row[None, 3:19], cap[:, None])
        total = w.sum(dim=1, keepdim=True)
        w = w / torch.where(total > 0, total, 1.0)
        w = torch.where((w - held).abs() < 0.05, held, w)
        earned = (w * row[None, 19:35]).sum(dim=1)
        rate = torch.where(w < held, 0.0002, 0.0004) + (leverage[:, None] * w - 5).clamp(min=0) * 0.0005
        rate = rate + torch.where(w > held, row[None, 35:51], 0.0)
        cost = ((w - held).abs() * rate).sum(dim=1)
        value = torch.where(ruined, value, value * (1 + earned * leverage - cost * leverage - 0.00001))
        ruined = ruined | (value <= 0.05)
        peak = torch.maximum(peak, value)
        drawdown = torch.where(ruined, drawdown, (peak - value) / peak)
        # Copies, so that the step's results do not share the memory of the network's.
        return [value, peak, drawdown, torch.maximum(worst, drawdown), s[:, 4].clone(), s[:, 5].clone(), w, ruined]

    @staticmethod
    def score(carry):
        return torch.where(carry[7] | (carry[3] > 0.85), -9999.0, carry[0])


MODELS = {"portfolio": Portfolio, "acrobot": Acrobot, "mountain_car": MountainCar}


def missing(device, workload):
    if workload.model not in MODELS:
        return "not written"
    if device == "gpu" and not torch.cuda.is_available():
        return f"not installed: PyTorch {torch.__version__} sees no CUDA device"
    return None


def candidates(workload, variant):
    eager = {"eager": ("bmm", "sum"), "batched": ("bmm", "vmap"), "baddbmm": ("bmm",)}
    if variant in eager:
        return [{"mode": "eager", "chunk": 1, "form": form} for form in eager[variant]]
    return [{"mode": mode, "chunk": 5, "form": form} for mode in ("graph", "reduce-overhead") for form in ("bmm", "sum")]


class Peer:
    """A workload with its inputs on the device; compiled and recorded where the mode says so."""

    def __init__(self, workload, mode, chunk, form):
        torch.set_grad_enabled(False)
        torch.set_float32_matmul_precision("highest")
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model, self.steps, self.chunk, self.mode = MODELS[workload.model], workload.steps, chunk, mode
        self.weights, self.origin = self.model.inputs(workload.agents, self.device)
        rows = market(workload.steps, self.device) if workload.model == "portfolio" else torch.zeros(workload.steps, 1, device=self.device)
        self.rows = rows.split(chunk)
        if workload.steps % chunk:
            raise ValueError(f"{workload.steps} steps are no multiple of {chunk}")

        def several(carry, weights, rows):
            for row in rows.unbind():
                carry = self.model.step(carry, weights, row, form)
            return carry

        self.several = several
        self.graph = None
        started = time.perf_counter()
        if mode != "eager":
            torch._dynamo.reset()
            self.several = torch.compile(several, mode="reduce-overhead" if mode == "reduce-overhead" else None, dynamic=False)
            self.run()
        if mode == "graph" and self.device == "cuda":
            self.record()
        self.wait()
        self.compile_seconds = time.perf_counter() - started

    def whole(self):
        carry = self.model.start(self.origin)
        for rows in self.rows:
            carry = self.several(carry, self.weights, rows)
            if self.mode == "reduce-overhead":
                # The next call writes where this one's results lie.
                carry = [part.clone() for part in carry]
        return self.model.score(carry)

    def record(self):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            self.whole()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.result = self.whole()
        self.graph = graph

    def run(self):
        if self.graph:
            self.graph.replay()
            return self.result
        return self.whole()

    def wait(self):
        if self.device == "cuda":
            torch.cuda.synchronize()

    def scores(self):
        return np.asarray(self.run().cpu())

    def wall(self, times):
        """Seconds of so many runs, issued one after the other and awaited together."""
        self.wait()
        started = time.perf_counter()
        for _ in range(times):
            self.run()
        self.wait()
        return time.perf_counter() - started
