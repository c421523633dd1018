//! Large angles, brought to within π/4 of a multiple of π/2.

/// The bits of 2/π after the binary point, 32 to a word.
pub(in crate::builtin) const TWO_OVER_PI: [u32; 7] = [
    0xA2F9_836E,
    0x4E44_1529,
    0xFC27_57D1,
    0xF534_DDC0,
    0xDB62_9599,
    0x3C43_9041,
    0xFE51_63AB,
];

/// How many right angles (its lowest two bits count) are nearest to `x`, and the rest in radians, at most
/// π/4 in magnitude and good to 2^-40 of itself, for |x| > [`super::primary::LARGE`]. The rest is NaN for
/// infinities and NaN.
pub fn large(x: f32) -> (u32, f64) {
    if !x.is_finite() {
        return (0, f64::NAN);
    }
    let (quarter, r) = reduce(x.abs());
    if x < 0.0 {
        (quarter.wrapping_neg(), -r)
    } else {
        (quarter, r)
    }
}

/// [`large`] for finite x > [`super::primary::LARGE`], after Payne and Hanek ("Radian reduction for
/// trigonometric functions", SIGNUM Newsletter 18, 1983): of the product of `x` and 2/π only the bits that
/// are neither multiples of 4 nor too small to matter.
fn reduce(x: f32) -> (u32, f64) {
    let mantissa = (x.to_bits() & 0x007f_ffff | 0x0080_0000) as u128;
    let exponent = (x.to_bits() >> 23) as i32 - 150;
    // Bit k of 2/π (from 1) weighs 2^(exponent - k) times the integer mantissa.
    let skip = (exponent - 2).max(0);
    let first = (skip / 32) as usize;
    let words = TWO_OVER_PI[first..first + 4]
        .iter()
        .fold(0, |bits: u128, &word| bits << 32 | u128::from(word));
    let window = words << (skip % 32) >> 32;
    let product = mantissa * window;
    let fraction_bits = 96 - (exponent - skip);
    let quarter = (product >> fraction_bits) as u32 & 3;
    let fraction = (product & ((1 << fraction_bits) - 1)) as i128;
    let half = 1 << (fraction_bits - 1);
    let (quarter, fraction) = if fraction < half {
        (quarter, fraction)
    } else {
        (quarter + 1, fraction - 2 * half)
    };
    let turns = fraction as f64 / (1_i128 << fraction_bits) as f64;
    (quarter, turns * std::f64::consts::FRAC_PI_2)
}
