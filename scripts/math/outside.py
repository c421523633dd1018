"""Compares the special functions of `simc` with SciPy and mpmath, at random floats of each region.

`outside.py SIMC [COUNT [NAME...]]`: COUNT floats of each region (a million unless told) and all functions.
Prints for the CPU the largest error in units in the last place, and for a GPU, if there is one, the largest
share of what docs/builtins.md allows: 1 is the bound itself. SciPy's doubles are the truth. Next to the
zeros of lgamma they have too few digits: there it is mpmath with 50 digits, at the 401 floats about each zero
from -12 on.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import mpmath
import numpy as np
from scipy import optimize, special

TINY = np.float32(1.1754944e-38)

# Name: the truth in doubles, and regions of arguments.
FUNCTIONS = {
    "erfc": (special.erfc, [(-4, 0.5), (0.5, 3), (3, 10.2)]),
    "normal_cdf": (special.ndtr, [(-14, -4), (-4, 0), (0, 6)]),
    "normal_quantile": (special.ndtri, [(1e-30, 1e-3), (1e-3, 0.2), (0.2, 0.8), (0.8, 1)]),
    "gamma": (special.gamma, [(-34, -4), (-4, 0), (1e-30, 0.5), (0.5, 3), (3, 12), (12, 35)]),
    "lgamma": (
        special.gammaln,
        [(-1e4, -12), (-12, -2), (-2, 0), (1e-30, 0.9), (0.9, 2.1), (2.1, 12), (12, 1e30)],
    ),
}


def allowed(name):
    """What docs/builtins.md allows a GPU to be off: absolute, and relative."""
    page = (Path(__file__).parents[2] / "docs/builtins.md").read_text()
    entry = page.split(f"\n### `{name}(")[1]
    row = re.search(r"^\* GPU: .*; (\S+) absolute or (\S+) relative$", entry, re.M)
    return float(row[1]), float(row[2])


def arguments(low, high, count, dice):
    """Random floats of a region: evenly spread where it has one size, else of all sizes."""
    wide = low > 0 and high / low > 1e3 or low < -100
    if not wide:
        return dice.uniform(low, high, count).astype(np.float32)
    ends = np.log([abs(low), abs(high)])
    return (np.sign(low) * np.exp(dice.uniform(ends.min(), ends.max(), count))).astype(np.float32)


def simc(program, name, x, backend, folder):
    """What `simc run` computes, in doubles; where a GPU could not run it, the first line of the message."""
    model, given = folder / "f.sim", folder / "x.npy"
    model.write_text(f"input x: f32\noutput y = {name}(x)\n")
    np.save(given, x)
    result = folder / "y.npy"
    command = [program, "run", model, "--agents", len(x), "--input", f"x={given}", "--backend", backend]
    command = [str(word) for word in [*command, "-q", "--output", result]]
    found = subprocess.run(command, capture_output=True, text=True)
    if found.returncode != 0 and backend == "cpu":
        sys.exit(found.stderr)
    if found.returncode != 0:
        return found.stderr.strip().splitlines()[0]
    return np.load(result).astype(np.float64).reshape(-1)


def about_zeros():
    """The floats about the zeros of lgamma, and what it is there."""
    zeros = [1.0, 2.0]
    for n in range(2, 12):
        middle = -n - 0.5
        for end in (-n - 1 + 1e-13, -n - 1e-13):
            zeros.append(optimize.brentq(special.gammaln, *sorted((end, middle)), xtol=1e-15))
    steps = np.arange(-200, 201)
    bits = [np.float32(zero).view(np.int32) + steps for zero in zeros]
    x = np.concatenate(bits).astype(np.int32).view(np.float32)
    x = x[(x > 0) | (np.floor(x) != x)]
    with mpmath.workdps(50):
        exact = [float(mpmath.log(abs(mpmath.gamma(mpmath.mpf(float(one)))))) for one in x]
    return x, np.array(exact)


def compared(x, exact, cpu, gpu, tolerance):
    """The last three columns of a row, over the arguments whose result is an ordinary float."""
    ordinary = np.isfinite(exact) & (np.abs(exact) < 3.4e38)
    x, exact, cpu = x[ordinary], exact[ordinary], cpu[ordinary]
    assert not np.isnan(cpu).any(), x[np.isnan(cpu)][:3]
    size = np.maximum(np.abs(exact).astype(np.float32), TINY)
    ulps = np.abs(cpu - exact) / np.spacing(size)
    share = gpu
    if not isinstance(gpu, str):
        # A GPU may flush denormal arguments and results.
        normal = (np.abs(exact) > 2 * TINY) & (np.abs(x) > TINY)
        absolute, relative = tolerance
        bound = np.maximum(absolute, relative * np.abs(exact))[normal]
        share = f"{np.max(np.abs(gpu[ordinary] - exact)[normal] / bound):.2f}"
    return f"{np.max(ulps):.3f} | `{x[np.argmax(ulps)]:.9g}` | {share}"


def main():
    program = sys.argv[1]
    count = int(sys.argv[2].replace("_", "")) if len(sys.argv) > 2 else 1_000_000
    dice = np.random.default_rng(1)
    print("| function | from | to | CPU: largest ulp | at | GPU: share of the bound |")
    print("|---|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[3:] or FUNCTIONS:
            function, regions = FUNCTIONS[name]
            samples = [arguments(low, high, count, dice) for low, high in regions]
            pairs = [
                (f"{low:g} | {high:g}", x, function(x.astype(np.float64)))
                for (low, high), x in zip(regions, samples)
            ]
            if name == "lgamma":
                pairs.append(("about its | zeros", *about_zeros()))
            for region, x, exact in pairs:
                cpu = simc(program, name, x, "cpu", Path(folder))
                gpu = simc(program, name, x, "gpu", Path(folder))
                found = compared(x, exact, cpu, gpu, allowed(name))
                print(f"| `{name}` | {region} | {found} |", flush=True)


if __name__ == "__main__":
    main()
