#!/usr/bin/env python3
"""Checks the fixed point of compiler/src/prelude/poisson.sim for means from 10 to 2^30: needs numpy.

For a grid of means and of the first word of an attempt it compares the chance of acceptance with that in doubles:
its logarithm must be right to 3e-6, it must not exceed 1 (the hat covers the numbers), and the squeeze must stay below.
"""

import math
import struct

import numpy as np

ATANH = [round(2**32 / k) for k in (3, 5, 7, 9, 11)]


def u64(x):
    return np.asarray(x, dtype=np.uint64)


def mul_high(a, b):
    return (u64(a) * u64(b)) >> u64(32)


def leading_zeros(a):
    a = u64(a)
    zeros = np.full(a.shape, 32)
    for k in range(32):
        zeros = np.where((a >> u64(k)) & u64(1) == 1, 31 - k, zeros)
    return zeros


def reciprocal(x):
    guess = (u64(0xFFFFFFFF) // (u64(x) >> u64(16))) << u64(15)
    error = mul_high(x, guess).astype(np.int64) - 2**31
    change = 2 * mul_high(guess, np.abs(error)).astype(np.int64)
    return u64(guess.astype(np.int64) - np.sign(error) * change)


def atanh_series(s):
    square = mul_high(s << u64(1), s << u64(1))
    total = ATANH[4]
    for c in ATANH[3::-1]:
        total = u64(c) + (mul_high(total, square) >> u64(4))
    return total


def log_ratio(a, b):
    a, b = np.broadcast_arrays(u64(a), u64(b))
    high, low = mul_high(a, 0xB504F334) > b, mul_high(b, 0xB504F334) > a
    x, y = np.where(high, a >> u64(1), a), np.where(low, b >> u64(1), b)
    total = (x >> u64(1)) + (y >> u64(1))
    zeros = u64(leading_zeros(total))
    difference = np.where(x < y, y - x, x - y)
    s = mul_high(difference << u64(1), reciprocal(total << zeros)) << zeros
    square = mul_high(s << u64(1), s << u64(1))
    rest = mul_high(s, mul_high(square, atanh_series(s))) >> u64(4)
    half = ((s + rest) >> u64(1)).astype(np.int64)
    return np.where(x < y, -half, half) + np.where(high, 1488522236, 0) - np.where(low, 1488522236, 0)


class Setup:
    """What follows from the mean alone."""

    def __init__(self, mean):
        bits = struct.unpack("<I", struct.pack("<f", mean))[0]
        self.mean = struct.unpack("<f", struct.pack("<I", bits))[0]
        self.exponent = (bits >> 23) - 127
        self.digits = (bits & 0x7FFFFF) | 0x800000
        self.odd = self.exponent & 1
        self.scale = scale = (30 + self.odd - self.exponent) >> 1
        deviation = math.isqrt(self.digits << (7 + self.odd))
        self.b = (953 << scale) + 2591 * deviation
        self.a = ((self.b << 4) * 1706308608 >> 32) - (15466 << scale)
        self.squeeze = (60200 - (3709 << (scale + 6)) // ((self.b - (2048 << scale)) >> 10)) << 16
        inverse_alpha = 184628 + (3090 << (scale + 6)) // ((self.b - (3482 << scale)) >> 10)
        self.area = ((deviation << 16) * (inverse_alpha << 14)) >> 32
        shift = 23 - self.exponent
        self.whole = self.digits >> shift if shift > 0 else self.digits << -shift
        rest = self.digits & ((1 << shift) - 1) if shift > 0 else 0
        self.fraction = rest << (scale + 10 - shift) if shift > 0 else 0
        numbers = (self.b << 4, self.a, 3709 << (scale + 6), inverse_alpha << 14, self.area)
        assert all(0 < number < 2**32 for number in numbers), mean


def propose(m, word):
    far = u64(np.where(word >= 2**31, 2**32 - 1 - word, word))
    ends = u64(2**31) - far
    kept = ends > 2**24
    word, far, ends = word[kept], far[kept], ends[kept]
    zeros = leading_zeros(ends)
    inverse = reciprocal(ends << u64(zeros))
    slope = u64(m.b) + ((mul_high(m.a, inverse) << u64(1)) >> u64(7 - zeros))
    assert slope.max() < 2**32
    reach = mul_high(slope, far).astype(np.int64)
    start = m.fraction + (440 << m.scale) + np.where(word >= 2**31, -reach, reach)
    assert np.abs(start).max() < 2**31
    cells = start >> (m.scale + 10)
    inside = m.whole + cells >= 0
    return cells[inside], ends[inside], zeros[inside], inverse[inside]


def room(m, inverse, zeros):
    """For v = 1."""
    density = (mul_high(m.a, mul_high(inverse, inverse)) >> u64(2)) + ((u64(m.b) << u64(4)) >> u64(2 * zeros))
    assert density.max() < 2**32
    bound = mul_high(0xFFFFFFFF, m.area)
    left, right = leading_zeros(density), int(leading_zeros(bound))
    power = 2 * zeros + right - left
    return 2907270 * power + (log_ratio(density << u64(left), bound << u64(right)) >> 9)


def exponent(m, cells):
    k = m.whole + cells
    distance = (cells << (m.scale + 10)) - m.fraction
    if m.mean < 700:
        count = u64(np.maximum(k, 1))
        zeros = leading_zeros(count)
        log = log_ratio(count << u64(zeros), m.digits << 8)
        twice = 2 * k + 1
        product = (mul_high(u64(np.abs(log)) << u64(1), u64(twice) << u64(20)) << u64(1)).astype(np.int64)
        away = distance << (12 - m.scale) if m.scale <= 12 else distance >> (m.scale - 12)
        main = twice * (31 - zeros - m.exponent) * 1453635 + np.sign(log) * product - away
    else:
        length = u64(np.abs(distance)) << u64(1)
        total = u64((m.digits << 7) + (distance >> (11 + m.odd - m.scale)))
        zeros = u64(leading_zeros(total))
        quotient = mul_high(length, reciprocal(total << zeros)) << zeros
        square = (mul_high(length, quotient) >> u64(m.odd)).astype(np.int64)
        s = np.minimum(quotient >> u64(m.scale + m.exponent - 20), u64(0x7FFFFFFF))
        sign = np.where(distance < 0, -1, 1)
        first = (s >> u64(11)).astype(np.int64)
        second = (mul_high(np.maximum(square + sign * first, 0), s) >> u64(1)).astype(np.int64)
        inner = np.maximum(square + sign * second, 0)
        third = (mul_high(mul_high(inner, s), atanh_series(s)) >> u64(1)).astype(np.int64)
        main = square + sign * (first + third)
    most = np.maximum(k, 1)
    small = np.minimum(most, 23)
    rest = 349525 // most - 11651 // small**3
    for few, value in enumerate((-3854308, 339997, 173396, 116090)):
        rest = np.where(k == few, value, rest)
    return main + rest


def log_chance(mean, k):
    """ln P(k) in doubles, by Loader's deviance where the logarithm of a factorial loses places."""
    if mean < 1e4:
        factorial = np.array([math.lgamma(x + 1.0) for x in k])
        return k * math.log(mean) - mean - factorial
    d = k - mean
    v = d / (k + mean)
    series = d * v + 2 * k * v**3 * (1 / 3 + v * v * (1 / 5 + v * v * (1 / 7 + v * v / 9)))
    return -series - 1 / (12 * k) - 0.5 * np.log(2 * np.pi * k)


def check(mean, grid):
    """The largest chance of acceptance, the largest error of its logarithm, the least margin of the squeeze."""
    m = Setup(mean)
    near = 2**31 + np.linspace(-(2**26), 2**26, grid).astype(np.int64)
    word = np.concatenate([np.linspace(0, 2**32 - 1, grid).astype(np.int64), near])
    cells, ends, zeros, inverse = propose(m, word)
    us = ends.astype(float) / 2**32
    density = m.a / 2 ** (m.scale + 18) / us**2 + m.b / 2 ** (m.scale + 10)
    chance = log_chance(m.mean, (m.whole + cells).astype(float))
    truth = chance + np.log(density) - math.log(m.area / 2 ** (m.scale + 14)) + 0.5 * math.log(2 * math.pi * m.mean)
    error = (room(m, inverse, zeros) - exponent(m, cells)) / 2**22 - truth
    quick = ends >= 300647711
    margin = np.exp(truth[quick]).min() - m.squeeze / 2**32
    return np.exp(truth.max()), np.abs(error[truth > -38]).max(), margin


def main():
    means = [*np.arange(10, 60, 0.173), *np.geomspace(60, 3000, 150), *np.geomspace(3000, 2**30, 60)]
    found = [check(mean, 30_001) for mean in means]
    most, error, margin = (max(x[0] for x in found), max(x[1] for x in found), min(x[2] for x in found))
    print(f"{len(means)} means: chance at most {most:.6f}, logarithm right to {error:.2e}, squeeze below by {margin:.4f}")
    assert most <= 1 and error < 3e-6 and margin > 0


if __name__ == "__main__":
    main()
