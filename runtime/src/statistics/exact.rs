//! Exact sums. Magnitudes are summed by sign and exponent and their squares by exponent, as integers. These
//! give one integer for the sum of the values and one for the sum of the squares, from which mean and
//! variance follow with one or two roundings. So the result does not depend on the order of values.
//!
//! The long accumulator is due to U. W. Kulisch ("Computer Arithmetic and Validity", 2013): a fixed-point
//! number that is wide enough for every product of floats sums them exactly.

/// Limbs of 64 bits. The largest integer is n times the sum of n squares: below 2 ^ 55 times 2 ^ 55 times
/// 2 ^ (2 · (253 + 24)), so 664 bits.
const LIMBS: usize = 11;

/// The number of biased exponents of a float; infinities and NaNs have the last one.
pub(crate) const EXPONENTS: usize = 256;
/// The exponent at which the unit is 1: a float is its 24-bit magnitude times 2 ^ (exponent - 150).
pub(crate) const UNIT: usize = 150;

/// A natural number, the lowest limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wide([u64; LIMBS]);

impl Wide {
    const ZERO: Wide = Wide([0; LIMBS]);

    /// Adds a number of up to 128 bits times `2 ^ shift`.
    fn add_long(&mut self, number: u128, shift: usize) {
        self.add(number as u64, shift);
        self.add((number >> 64) as u64, shift + 64);
    }

    /// Adds a number times `2 ^ shift`.
    fn add(&mut self, number: u64, shift: usize) {
        // Of most exponents there are no values.
        if number == 0 {
            return;
        }
        let shifted = u128::from(number) << (shift % 64);
        let mut carry = 0;
        let parts = [shifted as u64, (shifted >> 64) as u64];
        for (at, limb) in self.0[shift / 64..].iter_mut().enumerate() {
            let part = parts.get(at).copied().unwrap_or(0);
            let sum = u128::from(*limb) + u128::from(part) + carry;
            *limb = sum as u64;
            carry = sum >> 64;
        }
    }

    /// Subtracts a number that is not larger.
    fn minus(mut self, other: Wide) -> Wide {
        let mut borrow = false;
        for (limb, other) in self.0.iter_mut().zip(other.0) {
            let (less, first) = limb.overflowing_sub(other);
            let (less, second) = less.overflowing_sub(borrow.into());
            *limb = less;
            borrow = first | second;
        }
        self
    }

    /// The product, whose upper limbs must be 0.
    fn times(self, other: Wide) -> Wide {
        let mut product = Wide::ZERO;
        for (i, &a) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (limb, &b) in product.0[i..].iter_mut().zip(&other.0) {
                let sum = u128::from(*limb) + u128::from(a) * u128::from(b) + carry;
                *limb = sum as u64;
                carry = sum >> 64;
            }
        }
        product
    }

    fn is_less_than(&self, other: &Wide) -> bool {
        self.0.iter().rev().lt(other.0.iter().rev())
    }

    /// The nearest `f64`, times `2 ^ power`, which must be in the range of normal numbers.
    fn to_f64(self, power: i32) -> f64 {
        let top = (self.0.iter().rposition(|&limb| limb != 0)).map_or(1, |top| top.max(1));
        let low = top - 1;
        let two = u128::from(self.0[top]) << 64 | u128::from(self.0[low]);
        // The lower bits matter only if the upper ones are half-way between two floats.
        let rest = self.0[..low].iter().any(|&limb| limb != 0);
        (two | u128::from(rest)) as f64 * 2.0_f64.powi(64 * low as i32 + power)
    }
}

/// The first two moments of finite values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moments {
    /// `None` without numbers.
    pub(crate) mean: Option<f64>,
    /// The sample standard deviation; `None` for fewer than 2 numbers.
    pub(crate) deviation: Option<f64>,
}

/// Sums of magnitudes by sign and exponent, and of their squares by exponent. A magnitude has up to 32 bits,
/// so the sums hold 2 ^ 64 of them.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    /// Positive ones, then negative ones.
    pub(crate) sums: Box<[u128; 2 * EXPONENTS]>,
    pub(crate) squares: Box<[u128; EXPONENTS]>,
}

impl Exact {
    /// Bytes of one.
    pub(crate) const BYTES: u64 = 16 * 3 * EXPONENTS as u64;

    /// Sums of no values.
    pub(crate) fn new() -> Exact {
        Exact {
            sums: Box::new([0; 2 * EXPONENTS]),
            squares: Box::new([0; EXPONENTS]),
        }
    }

    /// Adds the value `magnitude * 2 ^ (exponent - 150)`; `at` is its exponent, and 256 more if it is
    /// negative.
    #[inline]
    pub(crate) fn add(&mut self, at: usize, magnitude: u32) {
        let magnitude = u64::from(magnitude);
        self.sums[at] += u128::from(magnitude);
        self.squares[at % EXPONENTS] += u128::from(magnitude * magnitude);
    }

    /// Adds the sums of other values.
    pub(crate) fn merge(&mut self, other: &Exact) {
        let pairs = self.sums.iter_mut().zip(other.sums.iter());
        for (sum, other) in pairs.chain(self.squares.iter_mut().zip(other.squares.iter())) {
            *sum += other;
        }
    }

    /// The moments of `count` values. Values with the last exponent are ignored.
    pub(crate) fn moments(&self, count: u64) -> Moments {
        // In units of 2 ^ -149 and its square.
        let mut signed = [Wide::ZERO; 2];
        let mut squares = Wide::ZERO;
        for exponent in 1..EXPONENTS - 1 {
            let shift = exponent - 1;
            for (sign, sum) in signed.iter_mut().enumerate() {
                sum.add_long(self.sums[sign * EXPONENTS + exponent], shift);
            }
            squares.add_long(self.squares[exponent], 2 * shift);
        }
        let [positive, negative] = signed;
        let (sign, sum) = match positive.is_less_than(&negative) {
            true => (-1.0, negative.minus(positive)),
            false => (1.0, positive.minus(negative)),
        };
        let n = count as f64;
        let mean = (count > 0).then(|| sign * sum.to_f64(-149) / n);
        let deviation = (count > 1).then(|| {
            // (sum of squares - sum ^ 2 / n) / (n - 1), over one denominator.
            let mut number = Wide::ZERO;
            number.add(count, 0);
            let above = squares.times(number).minus(sum.times(sum));
            (above.to_f64(-298) / (n * (n - 1.0))).sqrt()
        });
        Moments { mean, deviation }
    }
}
