#!/usr/bin/env python3
"""Draws numbers of each distribution with simc and compares them with SciPy's: rows for docs/random.md.

    python3 laws.py SIMC COUNT [CALL...]

Mean and variance are in standard errors, where they exist. Fit is the chance of a larger chi-squared (whole
numbers; cells that expect at least 10) or Kolmogorov-Smirnov distance (floats; at 65,536 equally likely places).
Needs numpy and scipy.
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
from scipy import stats

CELLS = 1 << 16
CHUNK = 10_000_000


def f32(x):
    return float(np.float32(x))


def truncated(mean, deviation, a, b):
    return stats.truncnorm((a - mean) / deviation, (b - mean) / deviation, loc=mean, scale=deviation)


FLOATS = {
    "lognormal(0.5, 0.25)": stats.lognorm(0.25, scale=np.exp(0.5)),
    "lognormal(0.0, 1.0)": stats.lognorm(1.0),
    "gamma(0.1, 1.0)": stats.gamma(f32(0.1)),
    "gamma(0.5, 2.0)": stats.gamma(0.5, scale=2.0),
    "gamma(1.0, 1.0)": stats.gamma(1.0),
    "gamma(2.5, 3.0)": stats.gamma(2.5, scale=3.0),
    "gamma(7.75, 1.0)": stats.gamma(7.75),
    "gamma(30.0, 0.5)": stats.gamma(30.0, scale=0.5),
    "gamma(1000.0, 1.0)": stats.gamma(1000.0),
    "beta(0.5, 0.5)": stats.beta(0.5, 0.5),
    "beta(0.1, 3.0)": stats.beta(f32(0.1), 3.0),
    "beta(2.0, 5.0)": stats.beta(2.0, 5.0),
    "beta(100.0, 40.0)": stats.beta(100.0, 40.0),
    "chi_squared(1.0)": stats.chi2(1.0),
    "chi_squared(9.5)": stats.chi2(9.5),
    "student_t(1.0)": stats.t(1.0),
    "student_t(2.5)": stats.t(2.5),
    "student_t(5.0)": stats.t(5.0),
    "student_t(1000.0)": stats.t(1000.0),
    "cauchy(0.0, 1.0)": stats.cauchy(),
    "cauchy(-2.0, 0.5)": stats.cauchy(-2.0, 0.5),
    "laplace(1.0, 2.0)": stats.laplace(1.0, 2.0),
    "normal(1.0, 2.0, 0.0, 4.0)": truncated(1.0, 2.0, 0.0, 4.0),
    "normal(0.0, 1.0, -INFINITY, 1.0)": truncated(0.0, 1.0, -np.inf, 1.0),
    "normal(0.0, 1.0, 6.0, INFINITY)": truncated(0.0, 1.0, 6.0, np.inf),
    "normal(0.0, 1.0, 12.0, 13.0)": truncated(0.0, 1.0, 12.0, 13.0),
}

WHOLE = {
    "binomial(1, 0.001)": stats.binom(1, f32(0.001)),
    "binomial(10, 0.3)": stats.binom(10, f32(0.3)),
    "binomial(17, 0.5)": stats.binom(17, 0.5),
    "binomial(20, 0.5)": stats.binom(20, 0.5),
    "binomial(50, 0.9)": stats.binom(50, f32(0.9)),
    "binomial(1000, 0.00001)": stats.binom(1000, f32(1e-5)),
    "binomial(1000, 0.35)": stats.binom(1000, f32(0.35)),
    "binomial(100000, 0.01)": stats.binom(100000, f32(0.01)),
    "binomial(1000000, 0.000012)": stats.binom(1000000, f32(1.2e-5)),
    "binomial(2000000000, 0.75)": stats.binom(2000000000, 0.75),
    "geometric(0.9)": stats.geom(f32(0.9)),
    "geometric(0.5)": stats.geom(0.5),
    "geometric(0.1)": stats.geom(f32(0.1)),
    "geometric(0.001)": stats.geom(f32(0.001)),
    "geometric(0.000001)": stats.geom(f32(1e-6)),
}


def draws(simc, call, count):
    """Numbers, a run of agents at a time."""
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "m.sim"), os.path.join(folder, "x.npy")
        with open(model, "w") as file:
            file.write(f"steps 0\nstate x = {call}\noutput x\n")
        for k in range(-(-count // CHUNK)):
            agents = min(CHUNK, count - k * CHUNK)
            seed = 17 + 1000 * sum(map(ord, call)) + k
            command = [simc, "run", model, "--agents", str(agents), "--seed", str(seed), "--output", result]
            subprocess.run(command + ["--backend", "cpu"], check=True, capture_output=True)
            yield np.load(result)


def text(x, expected=True):
    return f"{x:.2f}" if expected and np.isfinite(x) else "–"


def judge(simc, call, truth, count, whole):
    mean, variance, _, excess = (float(x) for x in truth.stats(moments="mvsk"))
    known = np.isfinite(mean) and np.isfinite(variance)
    deviation = np.sqrt(variance) if known else np.inf
    first = second = far = 0.0
    least, most = np.inf, -np.inf
    edges = truth.ppf(np.arange(1, CELLS) / CELLS)
    counts = np.zeros(CELLS, dtype=np.int64)
    values = {}
    for x in draws(simc, call, count):
        x = x.astype(np.float64)
        least, most = min(least, x.min()), max(most, x.max())
        if known:
            away = x - mean
            first += away.sum()
            second += (away * away).sum()
            far += np.count_nonzero(np.abs(away) > 5 * deviation)
        if whole:
            for value, n in zip(*np.unique(x, return_counts=True)):
                values[value] = values.get(value, 0) + n
        else:
            counts += np.bincount(np.searchsorted(edges, x), minlength=CELLS)
    error = np.sqrt(variance / count)
    of_mean = first / count / error if known else np.nan
    spread = variance * np.sqrt((excess + 2) / count)
    of_variance = (second / count - variance) / spread if known else np.nan
    expected = count * (truth.cdf(mean - 5 * deviation) + truth.sf(mean + 5 * deviation)) if known else 0.0
    if whole:
        fit = chi_squared(values, truth, count)
    else:
        distance = np.abs(np.cumsum(counts) / count - np.arange(1, CELLS + 1) / CELLS).max()
        fit = stats.kstwobign.sf(distance * np.sqrt(count))
    found = f"{far:,.0f} / {expected:,.1f}" if known else "–"
    ends = f"{least:,.0f} | {most:,.0f}" if whole else f"{least:.8g} | {most:.8g}"
    print(f"| `{call}` | {text(of_mean)} | {text(of_variance)} | {found} | {ends} | {fit:.3f} |", flush=True)


def chi_squared(values, truth, count):
    low, high = truth.ppf([1e-12, 1 - 1e-12])
    # Wide laws by cells of equal width.
    width = max(1, int((high - low) / CELLS))
    starts = np.arange(np.floor(low), high + width, width)
    chances = np.diff(np.concatenate(([0.0], truth.cdf(starts[1:] - 1), [1.0])))
    keys = np.array(list(values))
    cells = np.clip(((keys - starts[0]) // width).astype(np.int64), 0, len(starts) - 1)
    found = np.bincount(cells, weights=np.array(list(values.values())), minlength=len(starts))
    rows, pair = [], [0.0, 0.0]
    for got, chance in zip(found, chances):
        pair = [pair[0] + got, pair[1] + chance * count]
        if pair[1] >= 10:
            rows.append(pair)
            pair = [0.0, 0.0]
    rows[-1] = [rows[-1][0] + pair[0], rows[-1][1] + pair[1]]
    sum_ = sum((got - wanted) ** 2 / wanted for got, wanted in rows)
    return stats.chi2.sf(sum_, len(rows) - 1) if len(rows) > 1 else 1.0


def main():
    simc, count, wanted = sys.argv[1], int(sys.argv[2].replace("_", "")), sys.argv[3:]
    for laws, whole in ((FLOATS, False), (WHOLE, True)):
        for call, truth in laws.items():
            if not wanted or any(call.startswith(name) for name in wanted):
                judge(simc, call, truth, count, whole)


main()
