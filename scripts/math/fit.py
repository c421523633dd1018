"""Prints the polynomial coefficients of compiler/src/builtin/math, with the relative error of each fit.

They are least-maximum fits of the relative error by Remez's exchange algorithm, in 60 decimal digits,
rounded to f64 or f32 one by one: after each rounding the coefficients left are fitted again, so that they
make up for it. Needs mpmath; `python3 fit.py [NAME...]`, without names all.
"""

import struct
import sys

from mpmath import mp, mpf

mp.dps = 60


def rounded(value, kind):
    """The nearest f64 or f32."""
    value = float(value)
    return mpf(struct.unpack("f", struct.pack("f", value))[0] if kind == "f32" else value)


def errors(target, weight, basis, coefficients, xs):
    return [(sum(c * b(x) for c, b in zip(coefficients, basis)) - target(x)) * weight(x) for x in xs]


def remez(target, weight, basis, low, high):
    """Coefficients of the least maximum of |weight (fit - target)| over [low, high], and that maximum."""
    n = len(basis)
    if n == 0:
        xs = [low + (high - low) * k / 400 for k in range(401)]
        return [], max(abs(target(x) * weight(x)) for x in xs)
    middle, half = (low + high) / 2, (high - low) / 2
    points = [middle - half * mp.cos(mp.pi * (k + mpf(1) / 2) / (n + 1)) for k in range(n + 1)]
    grid = [middle - half * mp.cos(mp.pi * k / (40 * n)) for k in range(40 * n + 1)]
    for _ in range(30):
        rows = mp.matrix(n + 1, n + 1)
        right = mp.matrix(n + 1, 1)
        for i, x in enumerate(points):
            w = weight(x)
            for j, b in enumerate(basis):
                rows[i, j] = b(x) * w
            rows[i, n] = (-1) ** i
            right[i] = target(x) * w
        solved = mp.lu_solve(rows, right)
        coefficients = [solved[j] for j in range(n)]
        level = abs(solved[n])
        found = errors(target, weight, basis, coefficients, grid)
        # The largest error of each run of one sign.
        extremes = []
        for x, e in zip(grid, found):
            if extremes and (extremes[-1][1] > 0) == (e > 0):
                if abs(e) > abs(extremes[-1][1]):
                    extremes[-1] = (x, e)
            else:
                extremes.append((x, e))
        while len(extremes) > n + 1:
            extremes.pop(0 if abs(extremes[0][1]) < abs(extremes[-1][1]) else -1)
        worst = max(abs(e) for e in found)
        if len(extremes) < n + 1 or worst < level * mpf("1.0001"):
            break
        points = [x for x, _ in extremes]
    return coefficients, worst


def fit(name, kind, target, powers, low, high, fixed=None, relative=None):
    """Fits `sum of c_k x^powers[k]`; `fixed` are coefficients given by power, `relative` what the error is
    relative to, the target itself unless told."""
    fixed = dict(fixed or {})
    relative = relative or target
    weight = lambda x: 1 / relative(x)
    low, high = mpf(low), mpf(high)
    if low == 0:
        low = high * mpf(10) ** -9
    free = [p for p in powers if p not in fixed]
    while free:
        rest = lambda x: target(x) - sum(c * x**p for p, c in fixed.items())
        basis = [lambda x, p=p: x**p for p in free]
        coefficients, _ = remez(rest, weight, basis, low, high)
        fixed[free[0]] = rounded(coefficients[0], kind)
        free.pop(0)
    xs = [low + (high - low) * k / 2000 for k in range(2001)]
    worst = max(abs((sum(c * x**p for p, c in fixed.items()) - target(x)) * weight(x)) for x in xs)
    print(f"{name} ({kind}), relative error {mp.nstr(worst, 3)}")
    for p in sorted(fixed):
        value = float(fixed[p])
        text = repr(value) if kind == "f64" else f"{value:.9g}"
        print(f"    {text},")


ROOT = mp.sqrt


def over(f, zero):
    """f(√z)/√z, whose value at 0 is `zero`."""
    return lambda z: f(ROOT(z)) / ROOT(z) if z else mpf(zero)


def normal_beyond(s):
    """The z beyond which a normal number is with chance e^(-s²/2), by Newton's method."""
    z = s - (mp.log(2 * mp.pi) + 2 * mp.log(s)) / (2 * s) if s > 2 else mpf("0.8")
    for _ in range(30):
        chance = mp.erfc(z / ROOT(2)) / 2
        change = (mp.log(chance) + s * s / 2) * chance * ROOT(2 * mp.pi) * mp.exp(z * z / 2)
        z += change
        if abs(change) < mpf(10) ** -40:
            break
    return z


def tail(name, n, middle, low, high):
    at = lambda u: 1 / (u + mpf(middle))
    ends = [mpf(end) - mpf(middle) for end in (low, high)]
    target = lambda u: at(u) - normal_beyond(at(u))
    fit(name, "f64", target, range(n), *ends, relative=lambda u: normal_beyond(at(u)))


FITS = {
    # e^r = 1 + r + …, |r| <= ln 2 / 2
    "exp": lambda n=8: fit("exp", "f64", mp.exp, range(n), -mp.log(2) / 2, mp.log(2) / 2, {0: mpf(1)}),
    # 2^r, |r| <= 1/2
    "exp2": lambda n=8: fit("exp2", "f64", lambda r: mpf(2) ** r, range(n), -0.5, 0.5, {0: mpf(1)}),
    # 2 artanh(s)/s in s², for the logarithm of a mantissa in [√½, √2): |s| <= (√2 - 1)/(√2 + 1)
    "log": lambda n=6: fit("log", "f64", over(lambda s: 2 * mp.atanh(s), 2), range(n), 0, ((ROOT(2) - 1) / (ROOT(2) + 1)) ** 2),
    # The same for s up to 1/3, for softplus
    "log1p": lambda n=7: fit("log1p", "f64", over(lambda s: 2 * mp.atanh(s), 2), range(n), 0, mpf(1) / 9),
    # sin r / r and cos r in r², |r| <= π/4
    "sin": lambda n=5: fit("sin", "f64", over(mp.sin, 1), range(n), 0, (mp.pi / 4) ** 2 * mpf("1.0001"), {0: mpf(1)}),
    "cos": lambda n=5: fit("cos", "f64", lambda z: mp.cos(ROOT(z)), range(n), 0, (mp.pi / 4) ** 2 * mpf("1.0001"), {0: mpf(1)}),
    # sinh r / r and cosh r in r², |r| <= ln 2 / 2
    "sinh": lambda n=4: fit("sinh", "f64", over(mp.sinh, 1), range(n), 0, (mp.log(2) / 2) ** 2 * mpf("1.0001"), {0: mpf(1)}),
    "cosh": lambda n=4: fit("cosh", "f64", lambda z: mp.cosh(ROOT(z)), range(n), 0, (mp.log(2) / 2) ** 2 * mpf("1.0001"), {0: mpf(1)}),
    # atan t / t in t², t <= 1
    "atan": lambda n=12: fit("atan", "f64", over(mp.atan, 1), range(n), 0, 1),
    # asin w / w in w², w <= 1/2
    "asin": lambda n=8: fit("asin", "f64", over(mp.asin, 1), range(n), 0, mpf(1) / 4, {0: mpf(1)}),
    # erf x / x in x², x <= 1
    "erf": lambda n=8: fit("erf", "f64", over(mp.erf, 2 / ROOT(mp.pi)), range(n), 0, 1),
    # e^(x²) (1 - erf x) in t = 1/(x + 2), x in [1, 4]; the error counts as one of erf
    "erfc": lambda n=7: fit("erfc", "f64", lambda t: mp.exp((1 / t - 2) ** 2) * mp.erfc(1 / t - 2), range(n), mpf(1) / 6, mpf(1) / 3,
        relative=lambda t: mp.exp((1 / t - 2) ** 2) * mp.erf(1 / t - 2)),
    # e^(x²) erfc x in t = 1/(x + 2), x in [1/2, 10.2]
    "erfc_far": lambda n=12: fit("erfc_far", "f64", lambda t: mp.exp((1 / t - 2) ** 2) * mp.erfc(1 / t - 2), range(n), 1 / mpf("12.2"), mpf("0.4")),
    # the quantile of 1/2 + q over q in q², |q| <= 0.3
    "quantile": lambda n=10: fit("quantile", "f64", over(lambda q: ROOT(2) * mp.erfinv(2 * q), ROOT(2 * mp.pi)), range(n), 0, mpf("0.09")),
    # s - z in 1/s - 0.37 and 1/s - 0.13, where a normal number is beyond z with chance e^(-s²/2); relative to z
    "quantile_tail": lambda n=12: tail("quantile_tail", n, "0.37", "0.2", "0.5458"),
    "quantile_far_tail": lambda n=10: tail("quantile_far_tail", n, "0.13", "0.0693", "0.2"),
    # Γ(1 + t), 0 <= t <= 1
    "gamma": lambda n=22: fit("gamma", "f64", lambda t: mp.gamma(1 + t), range(n), 0, 1, {0: mpf(1)}),
}

if __name__ == "__main__":
    for argument in sys.argv[1:] or FITS:
        name, _, count = argument.partition(":")
        FITS[name](*([int(count)] if count else []))
