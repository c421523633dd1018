//! The functions of inner loops as values: the operations of `sim_compiler::builtin::math::primary`, of
//! `special` and of `sim_compiler::random`, one for one, with their constants.

use super::{
    body::{Body, One, Two, Value},
    rare::Rare,
};
use sim_compiler::{
    builtin::math::primary,
    random::keyed_hash::{ROUND_1, ROUND_2, STEP_WEYL, STEP_WEYL_2, WORD_WEYL},
};
use std::f32::consts::{FRAC_2_PI, LOG2_E, PI};

/// The sign bit.
const SIGN: u32 = 1 << 31;
/// 2^-32.
const UNIT: f32 = 1.0 / 4_294_967_296.0;

impl Body {
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.two(Two::AddF, a, b)
    }

    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.two(Two::SubF, a, b)
    }

    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.two(Two::MulF, a, b)
    }

    /// `a * b` with a constant.
    fn times(&mut self, a: Value, b: f32) -> Value {
        let b = self.float(b);
        self.mul(a, b)
    }

    /// `a * b + c` with two constants.
    fn fma_of(&mut self, a: Value, b: f32, c: f32) -> Value {
        let [b, c] = [b, c].map(|x| self.float(x));
        self.fma(a, b, c)
    }

    /// `a * b + c` with a constant factor.
    fn fma_by(&mut self, a: Value, b: f32, c: Value) -> Value {
        let b = self.float(b);
        self.fma(a, b, c)
    }

    /// By Horner's rule.
    fn polynomial<const N: usize>(&mut self, x: Value, c: [f32; N]) -> Value {
        let mut sum = self.float(c[N - 1]);
        for &next in c[..N - 1].iter().rev() {
            let next = self.float(next);
            sum = self.fma(sum, x, next);
        }
        sum
    }

    /// `bound` if the value is beyond it; NaN stays.
    fn at_most(&mut self, a: Value, bound: f32) -> Value {
        let bound = self.float(bound);
        self.two(Two::LesserF, bound, a)
    }

    fn at_least(&mut self, a: Value, bound: f32) -> Value {
        let bound = self.float(bound);
        self.two(Two::GreaterF, bound, a)
    }

    /// 2^n for n in -126..=127.
    fn power_of_two(&mut self, n: Value) -> Value {
        let bias = self.bits(127);
        let biased = self.two(Two::AddI, n, bias);
        self.one(One::ShiftLeft(23), biased)
    }

    /// e^x.
    pub fn exp(&mut self, x: Value) -> Value {
        let x = self.at_most(x, 90.0);
        self.exp_of_negative(x)
    }

    fn exp_of_negative(&mut self, x: Value) -> Value {
        let x = self.at_least(x, -105.0);
        let sum = self.fma_of(x, LOG2_E, primary::ROUND);
        let round = self.float(primary::ROUND);
        let n = self.sub(sum, round);
        let r = self.fma_by(n, -primary::LN_2[0], x);
        let r = self.fma_by(n, -primary::LN_2[1], r);
        let p = self.polynomial(r, primary::EXP);
        let n = self.two(Two::SubI, sum, round);
        let half = self.one(One::ShiftRightSigned(1), n);
        let rest = self.two(Two::SubI, n, half);
        let [first, second] = [half, rest].map(|n| self.power_of_two(n));
        let p = self.mul(p, first);
        self.mul(p, second)
    }

    /// The natural logarithm.
    pub fn log(&mut self, x: Value) -> Value {
        let least = self.float(f32::MIN_POSITIVE);
        let small = self.two(Two::LtF, x, least);
        let places = self.bits(23);
        let shift = self.two(Two::And, small, places);
        let scale = self.power_of_two(shift);
        let scaled = self.mul(x, scale);
        let value = self.log_scaled(scaled, Some(shift));
        let [zero, infinity, below, nan] =
            [0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN].map(|x| self.float(x));
        let finite = self.two(Two::LtF, x, infinity);
        let value = self.select(finite, value, x);
        let is_zero = self.two(Two::EqF, x, zero);
        let corner = self.select(is_zero, below, nan);
        let positive = self.two(Two::LtF, zero, x);
        self.select(positive, value, corner)
    }

    /// ln(x / 2^shift) for a positive, finite, normal number.
    fn log_scaled(&mut self, x: Value, shift: Option<Value>) -> Value {
        let [root, mantissa] = [primary::ROOT_HALF, 0x007f_ffff].map(|bits| self.bits(bits));
        let bits = self.two(Two::SubI, x, root);
        let exponent = self.one(One::ShiftRightSigned(23), bits);
        let m = self.two(Two::And, bits, mantissa);
        let m = self.two(Two::AddI, m, root);
        let exponent = match shift {
            Some(shift) => self.two(Two::SubI, exponent, shift),
            None => exponent,
        };
        let e = self.one(One::FloatOfI, exponent);
        let one = self.float(1.0);
        let f = self.sub(m, one);
        let p = self.polynomial(f, primary::LOG);
        let f2 = self.mul(f, f);
        let low = self.times(e, primary::LN_2[1]);
        let f3 = self.mul(f2, f);
        let tail = self.fma(f3, p, low);
        let near = self.fma_by(f2, -0.5, tail);
        let near = self.add(near, f);
        self.fma_by(e, primary::LN_2[0], near)
    }

    /// `inverseSqrt`
    pub fn inverse_sqrt(&mut self, x: Value) -> Value {
        let one = self.float(1.0);
        let root = self.one(One::Sqrt, x);
        let y = self.two(Two::DivF, one, root);
        let high = self.mul(x, y);
        let less = self.neg(high);
        let low = self.fma(x, y, less);
        let rest = self.fma(less, y, one);
        let low = self.neg(low);
        let residue = self.fma(low, y, rest);
        let half = self.times(y, 0.5);
        let better = self.fma(half, residue, y);
        let nan = self.two(Two::Unordered, better, better);
        self.select(nan, y, better)
    }

    /// The hyperbolic tangent.
    pub fn tanh(&mut self, x: Value) -> Value {
        let x = self.at_least(x, -9.02);
        let x = self.at_most(x, 9.02);
        let x2 = self.mul(x, x);
        let p = self.polynomial(x2, primary::TANH_ABOVE);
        let q = self.polynomial(x2, primary::TANH_BELOW);
        let above = self.mul(x, p);
        self.two(Two::DivF, above, q)
    }

    /// The nearest multiple of π/2, whose lowest bits are a count, and what is left, for an angle that needs
    /// no wide reduction.
    fn reduce(&mut self, x: Value) -> (Value, Value) {
        let sum = self.fma_of(x, FRAC_2_PI, primary::ROUND);
        let round = self.float(primary::ROUND);
        let n = self.sub(sum, round);
        let mut r = x;
        for part in primary::HALF_PI {
            r = self.fma_by(n, -part, r);
        }
        (sum, r)
    }

    /// The sine of so many right angles and `r` more, with the sign bit of `flip` turned into it.
    fn sin_of(&mut self, quarter: Value, r: Value, flip: Option<Value>) -> Value {
        let [lowest, zero, sign] = [1, 0, SIGN].map(|bits| self.bits(bits));
        let r2 = self.mul(r, r);
        let p = self.polynomial(r2, primary::SINE);
        let r3 = self.mul(r2, r);
        let sin = self.fma(r3, p, r);
        let p = self.polynomial(r2, primary::COSINE);
        let r4 = self.mul(r2, r2);
        let near = self.fma_of(r2, -0.5, 1.0);
        let cos = self.fma(r4, p, near);
        let odd = self.two(Two::And, quarter, lowest);
        let even = self.two(Two::EqI, odd, zero);
        let value = self.select(even, sin, cos);
        let turn = self.one(One::ShiftLeft(30), quarter);
        let turn = match flip {
            Some(flip) => self.two(Two::Xor, turn, flip),
            None => turn,
        };
        let turn = self.two(Two::And, turn, sign);
        self.two(Two::Xor, value, turn)
    }

    /// The cosine of an angle that needs no wide reduction.
    fn cos_fast(&mut self, x: Value) -> Value {
        let (quarter, r) = self.reduce(x);
        let one_more = self.bits(1);
        let quarter = self.two(Two::AddI, quarter, one_more);
        self.sin_of(quarter, r, None)
    }

    /// Whether the magnitude of an angle is so large that it needs a wide reduction.
    fn is_large(&mut self, size: Value) -> Value {
        let bound = self.float(primary::LARGE);
        self.two(Two::LtF, bound, size)
    }

    /// The sine.
    pub fn sin(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let (quarter, r) = self.reduce(size);
        let usual = self.sin_of(quarter, r, Some(x));
        let large = self.is_large(size);
        self.rare(Rare::Sin, large, usual, x)
    }

    /// The cosine: that of the magnitude, which has the same bits, so that a sine beside it shares the
    /// reduction.
    pub fn cos(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let usual = self.cos_fast(size);
        let large = self.is_large(size);
        self.rare(Rare::Cos, large, usual, x)
    }

    /// `unit(word)`
    pub fn unit(&mut self, word: Value) -> Value {
        let top = self.one(One::ShiftRight(8), word);
        // Below 2^24, where both conversions are the same.
        let top = self.one(One::FloatOfI, top);
        self.times(top, 1.0 / 16_777_216.0)
    }

    /// (word + ½) / 2^32.
    fn open_unit(&mut self, word: Value) -> Value {
        let float = self.float_of_u(word);
        let scaled = self.times(float, UNIT);
        let half = self.float(0.5 * UNIT);
        self.add(scaled, half)
    }

    /// A normal number from two words.
    pub fn normal_from(&mut self, a: Value, b: Value) -> Value {
        let u = self.open_unit(a);
        let angle = self.one(One::FloatOfI, b);
        let angle = self.times(angle, PI / 2_147_483_648.0);
        let log = self.log_scaled(u, None);
        let square = self.times(log, -2.0);
        let size = self.one(One::Sqrt, square);
        let cos = self.cos_fast(angle);
        self.mul(size, cos)
    }

    /// An exponential number from a word.
    pub fn exponential_from(&mut self, word: Value) -> Value {
        let u = self.open_unit(word);
        let rest = self.not(word);
        let v = self.open_unit(rest);
        let [third, half] = [1.0 / 3.0, 0.5].map(|x| self.float(x));
        let series = self.times(v, 0.25);
        let series = self.add(third, series);
        let series = self.mul(v, series);
        let series = self.add(half, series);
        let square = self.mul(v, v);
        let series = self.mul(square, series);
        let series = self.add(v, series);
        let log = self.log_scaled(u, None);
        let log = self.neg(log);
        let bound = self.bits(0xfc00_0000);
        let most = self.two(Two::MaxU, word, bound);
        let high = self.two(Two::EqI, most, word);
        self.select(high, series, log)
    }

    /// The logistic function.
    pub fn sigmoid(&mut self, x: Value) -> Value {
        let size = self.abs(x);
        let less = self.neg(size);
        let e = self.exp_of_negative(less);
        let [zero, one] = [0.0, 1.0].map(|x| self.float(x));
        let negative = self.two(Two::LtF, x, zero);
        let above = self.select(negative, e, one);
        let below = self.add(one, e);
        self.two(Two::DivF, above, below)
    }

    /// Word number `n` of the step with this key.
    pub fn draw(&mut self, [k0, k1]: [Value; 2], n: Value) -> Value {
        let weyl = self.bits(WORD_WEYL);
        let x = self.two(Two::MulI, n, weyl);
        let x = self.two(Two::AddI, x, k0);
        let x = self.two(Two::Xor, x, k1);
        let x = self.shifted(x, 17);
        let x = self.quadratic(x, ROUND_1);
        let x = self.two(Two::AddI, x, k1);
        let x = self.shifted(x, 16);
        let x = self.quadratic(x, ROUND_2);
        self.shifted(x, 17)
    }

    /// `x ^ (x >> by)`
    fn shifted(&mut self, x: Value, by: u8) -> Value {
        let high = self.one(One::ShiftRight(by), x);
        self.two(Two::Xor, x, high)
    }

    fn quadratic(&mut self, x: Value, c: u32) -> Value {
        let c = self.bits(c);
        let twice = self.two(Two::AddI, x, x);
        let factor = self.two(Two::AddI, twice, c);
        self.two(Two::MulI, x, factor)
    }

    /// The key of a step.
    pub fn step_key(&mut self, [k0, k1]: [Value; 2], step: Value) -> [Value; 2] {
        let [weyl, weyl_2, round] = [STEP_WEYL, STEP_WEYL_2, ROUND_1].map(|bits| self.bits(bits));
        let x = self.two(Two::MulI, step, weyl);
        let x = self.two(Two::AddI, x, k0);
        let x = self.shifted(x, 16);
        let x = self.two(Two::MulI, x, round);
        let second = self.two(Two::MulI, step, weyl_2);
        [self.two(Two::AddI, x, k1), self.two(Two::AddI, second, k1)]
    }
}
