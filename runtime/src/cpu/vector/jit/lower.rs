//! Takes the machine's instructions apart into values: the same operations in the same order as the function
//! that defines each ([`sim_compiler::builtin::math`]).

use super::body::{Body, One, Two, Value};
use crate::cpu::vector::{
    op::{Code, Finish, Fused, Plain, Term, Test},
    program::Register,
};

/// The sign bit.
const SIGN: u32 = 1 << 31;

impl Body {
    /// The value of an instruction, given the old one of its destination and its operands; `None` if it is
    /// not taken apart.
    fn lower(&mut self, code: Code, d: Value, from: [Value; 4]) -> Option<Value> {
        match code {
            Code::Plain(plain) => self.plain(plain, d, from),
            Code::Fused(fused) => Some(self.fused(fused, d, from)),
        }
    }

    /// Sets a register to the value of an instruction, unless that is not taken apart.
    pub fn operate(&mut self, code: Code, to: Register, operands: [Value; 4]) -> bool {
        let old = match code.reads_destination() {
            true => self.read(to),
            false => 0,
        };
        let value = self.lower(code, old, operands);
        if let Some(value) = value {
            self.write(to, value);
        }
        value.is_some()
    }

    fn term(&mut self, term: Term, a: Value, b: Value) -> Value {
        let two = match term {
            Term::Add => Two::AddF,
            Term::Sub => Two::SubF,
            Term::Mul => Two::MulF,
            Term::Div => Two::DivF,
        };
        self.two(two, a, b)
    }

    fn fused(&mut self, fused: Fused, d: Value, [a, b, c, e]: [Value; 4]) -> Value {
        match fused {
            Fused::Then(first, second) => {
                let inner = self.term(first, a, b);
                self.term(second, inner, c)
            }
            Fused::From(outer, inner) => {
                let inner = self.term(inner, a, b);
                self.term(outer, c, inner)
            }
            Fused::Both(left, right, between) => {
                let left = self.term(left, a, b);
                let right = self.term(right, c, e);
                self.term(between, left, right)
            }
            Fused::Choose(test) => {
                let mask = match test {
                    Test::EqF => self.two(Two::EqF, a, b),
                    Test::LtF => self.two(Two::LtF, a, b),
                    Test::LeF => self.two(Two::LeF, a, b),
                    Test::GtF => self.two(Two::LtF, b, a),
                    Test::GeF => self.two(Two::LeF, b, a),
                    Test::EqI => self.two(Two::EqI, a, b),
                    Test::LtI => self.two(Two::GtI, b, a),
                    Test::GtI => self.two(Two::GtI, a, b),
                };
                self.select(mask, c, e)
            }
            Fused::Finish(finish, term) => {
                let x = self.term(term, a, b);
                match finish {
                    Finish::Abs => self.abs(x),
                    Finish::Neg => self.neg(x),
                    Finish::Sqrt => self.one(One::Sqrt, x),
                    Finish::Tanh => self.tanh(x),
                    Finish::Sigmoid => self.sigmoid(x),
                    Finish::Exp => self.exp(x),
                }
            }
            Fused::Update(term) => self.term(term, d, a),
            Fused::Keep => self.two(Two::And, d, a),
            Fused::Drop => self.two(Two::NotAnd, a, d),
            Fused::Accumulate | Fused::Deduct | Fused::AccumulateTwo => {
                let product = self.two(Two::MulF, a, b);
                match fused {
                    Fused::Accumulate => self.two(Two::AddF, d, product),
                    Fused::Deduct => self.two(Two::SubF, d, product),
                    _ => {
                        let sum = self.two(Two::AddF, d, product);
                        let product = self.two(Two::MulF, c, e);
                        self.two(Two::AddF, sum, product)
                    }
                }
            }
        }
    }

    fn plain(&mut self, plain: Plain, d: Value, [a, b, c, e]: [Value; 4]) -> Option<Value> {
        use Plain::*;
        Some(match plain {
            AddF | SubF | MulF | DivF | RemF | NegF | EqF | NeF | LtF | LeF | GtF | GeF | AbsF
            | Ceil | Floor | Fract | Round | Trunc | Fma | Sqrt | MaxF | MinF | ClampF | Mix
            | Saturate | SignF | Smoothstep | Step | Relu => self.of_floats(plain, [a, b, c]),
            AddI | SubI | MulI | NegI | EqI | NeI | LtI | LeI | GtI | GeI | LtU | LeU | GtU
            | GeU | ShiftLeft | ShiftRightI | ShiftRightU | AbsI | ClampI | ClampU | MaxI
            | MaxU | MinI | MinU | SignI | MulHigh => self.of_integers(plain, [a, b, c]),
            Same => a,
            And => self.two(Two::And, a, b),
            AndNot => self.two(Two::NotAnd, b, a),
            Or => self.two(Two::Or, a, b),
            Xor => self.two(Two::Xor, a, b),
            Not => self.not(a),
            FloatOfI | FloatOfU | FloatOfBool | IOfFloat | UOfFloat | IntOfBool | BoolOfFloat
            | BoolOfInt | BitsOfFloat | FloatOfBits => self.conversion(plain, a),
            Select => self.select(a, b, c),
            Blend => self.select(a, b, d),
            Exp => self.exp(a),
            Log => self.log(a),
            Sin => self.sin(a),
            Cos => self.cos(a),
            InverseSqrt => self.inverse_sqrt(a),
            Tanh => self.tanh(a),
            Sigmoid => self.sigmoid(a),
            Unit => self.unit(a),
            ExponentialFrom => self.exponential_from(a),
            NormalFrom => self.normal_from(a, b),
            StepKey0 => self.step_key([a, b], c)[0],
            StepKey1 => self.step_key([a, b], c)[1],
            Draw => self.draw([a, b], c),
            DrawUnit => {
                let word = self.draw([a, b], c);
                self.unit(word)
            }
            DrawNormal => {
                let first = self.draw([a, b], c);
                let second = self.draw([a, b], e);
                self.normal_from(first, second)
            }
            // Computed in `f64`, or seldom.
            DivI | RemI | DivU | RemU | Ldexp | Exp2 | Log2 | Pow | Acos | Acosh | Asin | Asinh
            | Atan | Atan2 | Atanh | Cosh | Degrees | Radians | Sinh | Erf | Erfc | Gamma
            | Lgamma | NormalCdf | NormalQuantile | Softplus | CountLeadingZeros | CountOneBits
            | CountTrailingZeros | ExtractBits | FirstLeadingBitI | FirstLeadingBitU
            | FirstTrailingBit | InsertBits | ReverseBits | AgentKey0 | AgentKey1 | Tan
            | Philox => return None,
        })
    }

    fn of_floats(&mut self, plain: Plain, [a, b, c]: [Value; 3]) -> Value {
        use Plain::*;
        match plain {
            AddF => self.two(Two::AddF, a, b),
            SubF => self.two(Two::SubF, a, b),
            MulF => self.two(Two::MulF, a, b),
            DivF => self.two(Two::DivF, a, b),
            RemF => {
                let quotient = self.two(Two::DivF, a, b);
                let whole = self.one(One::Trunc, quotient);
                let part = self.two(Two::MulF, b, whole);
                self.two(Two::SubF, a, part)
            }
            NegF => self.neg(a),
            EqF => self.two(Two::EqF, a, b),
            NeF => self.two(Two::NeF, a, b),
            LtF => self.two(Two::LtF, a, b),
            LeF => self.two(Two::LeF, a, b),
            GtF => self.two(Two::LtF, b, a),
            GeF => self.two(Two::LeF, b, a),
            AbsF => self.abs(a),
            Ceil => self.one(One::Ceil, a),
            Floor => self.one(One::Floor, a),
            Fract => {
                let floor = self.one(One::Floor, a);
                self.two(Two::SubF, a, floor)
            }
            Round => self.one(One::Round, a),
            Trunc => self.one(One::Trunc, a),
            Fma => self.fma(a, b, c),
            Sqrt => self.one(One::Sqrt, a),
            MaxF => self.max(a, b),
            MinF => self.min(a, b),
            ClampF => {
                let above = self.max(a, b);
                self.min(above, c)
            }
            Mix => {
                let one = self.float(1.0);
                let rest = self.two(Two::SubF, one, c);
                let left = self.two(Two::MulF, a, rest);
                let right = self.two(Two::MulF, b, c);
                self.two(Two::AddF, left, right)
            }
            Saturate => self.saturate(a),
            SignF => self.sign(a),
            Smoothstep => self.smoothstep(a, b, c),
            Step => {
                let one = self.float(1.0);
                let below = self.two(Two::LtF, b, a);
                self.two(Two::NotAnd, below, one)
            }
            _ => {
                let zero = self.float(0.0);
                self.max(a, zero)
            }
        }
    }

    fn of_integers(&mut self, plain: Plain, [a, b, c]: [Value; 3]) -> Value {
        use Plain::*;
        match plain {
            AddI => self.two(Two::AddI, a, b),
            SubI => self.two(Two::SubI, a, b),
            MulI => self.two(Two::MulI, a, b),
            NegI => {
                let zero = self.bits(0);
                self.two(Two::SubI, zero, a)
            }
            EqI => self.two(Two::EqI, a, b),
            NeI => {
                let same = self.two(Two::EqI, a, b);
                self.not(same)
            }
            GtI => self.two(Two::GtI, a, b),
            LtI => self.two(Two::GtI, b, a),
            LeI => {
                let above = self.two(Two::GtI, a, b);
                self.not(above)
            }
            GeI => {
                let below = self.two(Two::GtI, b, a);
                self.not(below)
            }
            LeU | GtU | GeU | LtU => self.compare_unsigned(plain, a, b),
            ShiftLeft | ShiftRightI | ShiftRightU => {
                let low = self.bits(31);
                let by = self.two(Two::And, b, low);
                let two = match plain {
                    ShiftLeft => Two::ShiftLeft,
                    ShiftRightI => Two::ShiftRightSigned,
                    _ => Two::ShiftRight,
                };
                self.two(two, a, by)
            }
            AbsI => self.one(One::AbsI, a),
            ClampI => {
                let above = self.two(Two::MaxI, a, b);
                self.two(Two::MinI, above, c)
            }
            ClampU => {
                let above = self.two(Two::MaxU, a, b);
                self.two(Two::MinU, above, c)
            }
            MaxI => self.two(Two::MaxI, a, b),
            MaxU => self.two(Two::MaxU, a, b),
            MinI => self.two(Two::MinI, a, b),
            MinU => self.two(Two::MinU, a, b),
            SignI => {
                let zero = self.bits(0);
                let below = self.two(Two::GtI, zero, a);
                let above = self.two(Two::GtI, a, zero);
                self.two(Two::SubI, below, above)
            }
            _ => self.mul_high(a, b),
        }
    }

    fn conversion(&mut self, plain: Plain, a: Value) -> Value {
        use Plain::*;
        match plain {
            FloatOfI => self.one(One::FloatOfI, a),
            FloatOfU => self.float_of_u(a),
            FloatOfBool => {
                let one = self.float(1.0);
                self.two(Two::And, a, one)
            }
            IOfFloat => {
                let nan = self.two(Two::Unordered, a, a);
                let [first, last] = [-2_147_483_648.0, 2_147_483_520.0].map(|x| self.float(x));
                let below = self.two(Two::LesserF, a, last);
                let inside = self.two(Two::GreaterF, below, first);
                let whole = self.one(One::Truncate, inside);
                self.two(Two::NotAnd, nan, whole)
            }
            UOfFloat => {
                let [zero, half, last] =
                    [0.0, 2_147_483_648.0, 4_294_967_040.0].map(|x| self.float(x));
                // NaN becomes 0.
                let above = self.two(Two::GreaterF, a, zero);
                let inside = self.two(Two::LesserF, above, last);
                let large = self.two(Two::LeF, half, inside);
                let base = self.two(Two::And, large, half);
                let rest = self.two(Two::SubF, inside, base);
                let rest = self.one(One::Truncate, rest);
                let high = self.one(One::ShiftLeft(31), large);
                self.two(Two::Xor, rest, high)
            }
            IntOfBool => self.one(One::ShiftRight(31), a),
            BoolOfFloat => {
                let zero = self.float(0.0);
                self.two(Two::NeF, a, zero)
            }
            BoolOfInt => {
                let zero = self.bits(0);
                let same = self.two(Two::EqI, a, zero);
                self.not(same)
            }
            BitsOfFloat => {
                let nan = self.two(Two::Unordered, a, a);
                let bits = self.bits(0x7fc0_0000);
                self.select(nan, bits, a)
            }
            _ => a,
        }
    }

    fn sign(&mut self, a: Value) -> Value {
        let [zero, one, minus] = [0.0, 1.0, -1.0].map(|x| self.float(x));
        let above = self.two(Two::LtF, zero, a);
        let below = self.two(Two::LtF, a, zero);
        let positive = self.two(Two::And, above, one);
        self.select(below, minus, positive)
    }

    fn smoothstep(&mut self, low: Value, high: Value, x: Value) -> Value {
        let [two, three] = [2.0, 3.0].map(|x| self.float(x));
        let above = self.two(Two::SubF, x, low);
        let width = self.two(Two::SubF, high, low);
        let t = self.two(Two::DivF, above, width);
        let t = self.saturate(t);
        let square = self.two(Two::MulF, t, t);
        let twice = self.two(Two::MulF, two, t);
        let rest = self.two(Two::SubF, three, twice);
        self.two(Two::MulF, square, rest)
    }

    /// By the smaller or the larger of both: AVX2 compares signed integers only.
    fn compare_unsigned(&mut self, plain: Plain, a: Value, b: Value) -> Value {
        let extreme = match plain {
            Plain::LeU | Plain::GtU => self.two(Two::MinU, a, b),
            _ => self.two(Two::MaxU, a, b),
        };
        let within = self.two(Two::EqI, extreme, a);
        match plain {
            Plain::LeU | Plain::GeU => within,
            _ => self.not(within),
        }
    }

    /// The high words of the products of every second word, and of the others.
    fn mul_high(&mut self, a: Value, b: Value) -> Value {
        let even = self.two(Two::WideProduct, a, b);
        let [a, b] = [a, b].map(|x| self.one(One::HighToLow, x));
        let odd = self.two(Two::WideProduct, a, b);
        let even = self.one(One::HighToLow, even);
        let odd = self.one(One::HighToLow, odd);
        let odd = self.one(One::LowToHigh, odd);
        self.two(Two::Or, even, odd)
    }

    pub(super) fn not(&mut self, a: Value) -> Value {
        let ones = self.bits(u32::MAX);
        self.two(Two::Xor, a, ones)
    }

    pub(super) fn neg(&mut self, a: Value) -> Value {
        let sign = self.bits(SIGN);
        self.two(Two::Xor, a, sign)
    }

    pub(super) fn abs(&mut self, a: Value) -> Value {
        let rest = self.bits(!SIGN);
        self.two(Two::And, a, rest)
    }

    /// Whether a value is surely no NaN and no zero, whose signs could differ from those of equals.
    fn is_plain_number(&self, value: Value) -> bool {
        let number = self.constant_of(value).map(f32::from_bits);
        number.is_some_and(|x| !x.is_nan() && x != 0.0)
    }

    fn max(&mut self, a: Value, b: Value) -> Value {
        self.extreme(Two::GreaterF, a, b)
    }

    fn min(&mut self, a: Value, b: Value) -> Value {
        self.extreme(Two::LesserF, a, b)
    }

    /// The first of equals, and the other one if one is NaN.
    fn extreme(&mut self, two: Two, a: Value, b: Value) -> Value {
        if self.is_plain_number(b) {
            return self.two(two, a, b);
        }
        let one = self.two(two, b, a);
        if self.is_plain_number(a) {
            return one;
        }
        let nan = self.two(Two::Unordered, a, a);
        self.select(nan, b, one)
    }

    fn saturate(&mut self, a: Value) -> Value {
        let [zero, one] = [0.0, 1.0].map(|x| self.float(x));
        let above = self.max(a, zero);
        self.min(above, one)
    }

    /// The nearest float of a `u32`: the sum of its halves, which are exact, rounded once.
    pub(super) fn float_of_u(&mut self, a: Value) -> Value {
        // 2^23, 2^39, and both as floats.
        let [low_mask, low_base, high_base] =
            [0xffff, 0x4b00_0000, 0x5300_0000].map(|bits| self.bits(bits));
        let both = self.bits(0x5300_0080);
        let low = self.two(Two::And, a, low_mask);
        let low = self.two(Two::Or, low, low_base);
        let high = self.one(One::ShiftRight(16), a);
        let high = self.two(Two::Or, high, high_base);
        let high = self.two(Two::SubF, high, both);
        self.two(Two::AddF, high, low)
    }
}
