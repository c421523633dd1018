#!/usr/bin/env python3
"""Draws numbers of each distribution with simc and compares them with SciPy's: rows for docs/random.md.

    python3 laws.py SIMC COUNT [--processes N] [--limit SECONDS] [--table FILE] [LAW...]

Mean and variance are in standard errors, where they exist. Fit is the chance of a larger chi-squared (whole
numbers; cells that expect at least 10) or Kolmogorov-Smirnov distance (floats; at 65,536 equally likely places).
A row is written when all numbers of its law are drawn; what the limit cuts short says how many it had.
Needs numpy and scipy.
"""

import argparse
import dataclasses
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
from scipy import stats

CELLS = 1 << 16
CHUNK = 10_000_000
# Where a law of floats has 65,535 of its quantiles.
EDGES = {}


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


LAWS = FLOATS | WHOLE


@dataclasses.dataclass
class Sums:
    """What some of a law's numbers add up to."""

    count: int = 0
    first: float = 0.0
    second: float = 0.0
    far: int = 0
    least: float = np.inf
    most: float = -np.inf
    cells: np.ndarray | int = 0
    values: dict = dataclasses.field(default_factory=dict)

    def add(self, other):
        self.count += other.count
        self.first += other.first
        self.second += other.second
        self.far += other.far
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.cells = self.cells + other.cells
        for value, n in other.values.items():
            self.values[value] = self.values.get(value, 0) + n


def draw(simc, call, k, agents):
    """The k-th run of a law's agents."""
    with tempfile.TemporaryDirectory() as folder:
        model, result = os.path.join(folder, "m.sim"), os.path.join(folder, "x.npy")
        with open(model, "w") as file:
            file.write(f"steps 0\nstate x = {call}\noutput x\n")
        seed = 17 + 1000 * sum(map(ord, call)) + k
        command = [simc, "run", model, "--agents", str(agents), "--seed", str(seed), "--output", result]
        # The runs go side by side; each has one core.
        environment = os.environ | {"RAYON_NUM_THREADS": "1"}
        subprocess.run(command + ["--backend", "cpu"], check=True, capture_output=True, env=environment)
        return np.load(result).astype(np.float64)


def moments(truth):
    """Mean, variance and excess kurtosis, where the first two exist."""
    mean, variance, _, excess = (float(x) for x in truth.stats(moments="mvsk"))
    return (mean, variance, excess) if np.isfinite(mean) and np.isfinite(variance) else None


def survey(task):
    """The sums of one run, or none after the limit."""
    simc, call, k, agents, end = task
    if time.monotonic() > end:
        return call, None
    x = draw(simc, call, k, agents)
    sums = Sums(count=len(x), least=x.min(), most=x.max())
    known = moments(LAWS[call])
    if known:
        away = x - known[0]
        sums.first, sums.second = away.sum(), (away * away).sum()
        sums.far = np.count_nonzero(np.abs(away) > 5 * np.sqrt(known[1]))
    if call in WHOLE:
        values, counts = np.unique(x, return_counts=True)
        sums.values = dict(zip(values.tolist(), counts.tolist()))
    else:
        sums.cells = np.bincount(np.searchsorted(EDGES[call], x), minlength=CELLS)
    return call, sums


def text(x, expected=True):
    return f"{x:.2f}" if expected and np.isfinite(x) else "–"


def row(call, sums, wanted):
    truth, count = LAWS[call], sums.count
    known = moments(truth)
    of_mean, of_variance, found = "–", "–", "–"
    if known:
        mean, variance, excess = known
        of_mean = text(sums.first / count / np.sqrt(variance / count))
        of_variance = text((sums.second / count - variance) / (variance * np.sqrt((excess + 2) / count)))
        deviation = np.sqrt(variance)
        expected = count * (truth.cdf(mean - 5 * deviation) + truth.sf(mean + 5 * deviation))
        found = f"{sums.far:,.0f} / {expected:,.1f}"
    if call in WHOLE:
        fit = chi_squared(sums.values, truth, count)
        ends = f"{sums.least:,.0f} | {sums.most:,.0f}"
    else:
        distance = np.abs(np.cumsum(sums.cells) / count - np.arange(1, CELLS + 1) / CELLS).max()
        fit = stats.kstwobign.sf(distance * np.sqrt(count))
        ends = f"{sums.least:.8g} | {sums.most:.8g}"
    cut = "" if count == wanted else f" ({count:,} numbers)"
    return f"| `{call}`{cut} | {of_mean} | {of_variance} | {found} | {ends} | {fit:.3f} |"


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
    parser = argparse.ArgumentParser()
    parser.add_argument("simc")
    parser.add_argument("count", type=lambda text: int(text.replace("_", "")))
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=np.inf, help="seconds after which no run begins")
    parser.add_argument("--table", help="a file for the rows, in the order of the laws")
    parser.add_argument("laws", nargs="*", help="beginnings of calls, such as gamma or beta(2.0; all without any")
    given = parser.parse_intermixed_args()
    start = time.monotonic()
    calls = [call for call in LAWS if not given.laws or any(call.startswith(law) for law in given.laws)]
    for call in FLOATS:
        if call in calls:
            EDGES[call] = LAWS[call].ppf(np.arange(1, CELLS) / CELLS)
    sizes = [min(CHUNK, given.count - first) for first in range(0, given.count, CHUNK)]
    end = start + given.limit
    tasks = [(given.simc, call, k, size, end) for call in calls for k, size in enumerate(sizes)]
    sums, rows = {call: Sums() for call in calls}, {}
    # The workers are forked, so that they share EDGES.
    with multiprocessing.get_context("fork").Pool(given.processes) as pool:
        for call, part in pool.imap_unordered(survey, tasks):
            if part:
                sums[call].add(part)
                if sums[call].count == given.count:
                    rows[call] = row(call, sums[call], given.count)
                    print(rows[call], flush=True)
    for call in calls:
        if call not in rows and sums[call].count:
            rows[call] = row(call, sums[call], given.count)
            print(rows[call], flush=True)
    missing = [call for call in calls if call not in rows]
    if missing:
        print("not drawn: " + ", ".join(missing), file=sys.stderr)
    print(f"{len(rows)} of {len(calls)} laws in {time.monotonic() - start:.0f} s", file=sys.stderr)
    if given.table:
        with open(given.table, "w") as file:
            file.writelines(rows[call] + "\n" for call in calls if call in rows)


if __name__ == "__main__":
    main()
