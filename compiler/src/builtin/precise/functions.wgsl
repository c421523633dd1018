// x, of which the driver knows nothing: it neither fuses nor reorders what stands on either side.
fn precise_opaque(x: f32) -> f32 {
    return bitcast<f32>(bitcast<u32>(x) ^ (run.guard - 2u));
}

// The float of these bits, infinite or NaN: WGSL refuses to hear of those before the kernel runs.
fn precise_bits(bits: u32) -> f32 {
    return bitcast<f32>(bits ^ (run.guard - 2u));
}

// |x| with the sign of y.
fn precise_signed(x: f32, y: f32) -> f32 {
    return bitcast<f32>((bitcast<u32>(x) & 0x7fffffffu) | (bitcast<u32>(y) & 0x80000000u));
}

// `value`, a function of x, but x where that is NaN: selections by comparisons of floats, which keep x in
// bounds, become minima that lose it.
fn precise_known(x: f32, value: f32) -> f32 {
    return select(x, value, (bitcast<u32>(x) & 0x7fffffffu) <= 0x7f800000u);
}

// Is x neither zero, denormal, infinite nor NaN?
fn precise_is_normal(x: f32) -> bool {
    return ((bitcast<u32>(x) >> 23u) & 0xffu) - 1u < 254u;
}

// x times 2^n, in two factors: 2^n alone may be out of range where the result is not.
fn precise_scale(x: f32, n: i32) -> f32 {
    let half = n >> 1u;
    let first = bitcast<f32>(u32(half + 127) << 23u);
    let second = bitcast<f32>(u32(n - half + 127) << 23u);
    return precise_opaque(x * first) * second;
}

// c - a b, where c is a b but for its last digits: the products of halves are exact, fused or not.
fn precise_residue(c: f32, a: f32, b: f32) -> f32 {
    let a_high = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
    let b_high = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
    let a_low = precise_opaque(a - a_high);
    let b_low = precise_opaque(b - b_high);
    let first = precise_opaque(c - a_high * b_high);
    let second = precise_opaque(first - a_high * b_low);
    return precise_opaque(second - a_low * b_high) - a_low * b_low;
}

// a / b for numbers far from the ends of the range: what the quotient leaves over is divided again. That
// helps whether or not the driver fuses `fma`.
fn precise_ratio(a: f32, b: f32) -> f32 {
    let q = precise_opaque(a / b);
    return q + fma(-q, b, a) / b;
}

fn precise_quotient(a: f32, b: f32) -> f32 {
    // The reciprocal of a larger divisor may be flushed.
    let scale = select(1.0, 0.25, max(abs(a), abs(b)) > 4.2535296e37);
    let n = a * scale;
    let d = b * scale;
    let q = precise_opaque(n / d);
    return select(q, q + fma(-q, d, n) / d, precise_is_normal(q));
}

fn precise_sqrt(x: f32) -> f32 {
    let large = x > 4.2535296e37;
    let y = select(x, 0.25 * x, large);
    let s = precise_opaque(sqrt(y));
    let better = s + 0.5 * fma(-s, s, y) / s;
    let root = select(better, better + better, large);
    return select(s, root, precise_is_normal(x) && x > 0.0);
}

fn precise_inverse_sqrt(x: f32) -> f32 {
    let y = precise_opaque(inverseSqrt(x));
    let high = precise_opaque(x * y);
    let low = fma(x, y, -high);
    let residue = fma(-low, y, fma(-high, y, 1.0));
    return select(y, fma(0.5 * y, residue, y), precise_is_normal(x) && x > 0.0);
}

fn precise_multiply_high(a: u32, b: u32) -> u32 {
    let low = (a & 0xffffu) * (b & 0xffffu);
    let first = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
    let second = (a & 0xffffu) * (b >> 16u) + (first & 0xffffu);
    return (a >> 16u) * (b >> 16u) + (first >> 16u) + (second >> 16u);
}

// An angle as right angles, of whose count the lowest two bits matter, and a rest within π/4.
struct PreciseAngle {
    quarter: u32,
    rest: f32,
}

// For |x| up to $LARGE. The parts of π/2 have 8 digits each, so that their products with the count are
// exact, fused or not.
fn precise_reduce(x: f32) -> PreciseAngle {
    let n = round(x * $TWO_OVER_PI);
    var r = precise_opaque(x - n * $HALF_PI_0);
    r = precise_opaque(r - n * $HALF_PI_1);
    r = precise_opaque(r - n * $HALF_PI_2);
    r = precise_opaque(r - n * $HALF_PI_3);
    r = precise_opaque(r - n * $HALF_PI_4);
    r = precise_opaque(r - n * $HALF_PI_5);
    return PreciseAngle(u32(i32(n)), r - n * $HALF_PI_6);
}

// For larger angles up to infinity, after Payne and Hanek: of the product of x and 2/π only the bits that are
// neither multiples of 4 nor too small to matter.
fn precise_reduce_large(x: f32) -> PreciseAngle {
    var words = array<u32, 8>($TWO_OVER_PI_WORDS);
    let bits = bitcast<u32>(x);
    let mantissa = (bits & 0x007fffffu) | 0x00800000u;
    // The first of the bits, counted from a word of zeros before the point.
    let skip = (bits >> 23u) - 120u;
    let first = skip >> 5u;
    let by = skip & 31u;
    let w0 = (words[first] << by) | ((words[first + 1u] >> 1u) >> (31u - by));
    let w1 = (words[first + 1u] << by) | ((words[first + 2u] >> 1u) >> (31u - by));
    let w2 = (words[first + 2u] << by) | ((words[first + 3u] >> 1u) >> (31u - by));
    let low = mantissa * w1 + precise_multiply_high(mantissa, w2);
    let carry = select(0u, 1u, low < mantissa * w1);
    let high = mantissa * w0 + precise_multiply_high(mantissa, w1) + carry;
    // Two bits of the count, then the fraction of a right angle, rounded to the nearest count.
    let fraction_high = (high << 2u) | (low >> 30u);
    let fraction_low = low << 2u;
    let up = fraction_high >> 31u;
    let flip = 0u - up;
    let size_high = fraction_high ^ flip;
    let size_low = fraction_low ^ flip;
    // No float is so near a multiple of π/2 that the upper word is 0.
    let zeros = countLeadingZeros(size_high);
    let digits = (size_high << zeros) | ((size_low >> 1u) >> (31u - zeros));
    let unit = bitcast<f32>((95u - zeros) << 23u);
    let part = f32(digits & 0xffffff00u) * unit;
    let part_low = f32(digits & 0xffu) * unit;
    let size = fma(part, $HALF_PI_HIGH, fma(part, $HALF_PI_LOW, part_low * $HALF_PI_HIGH));
    let rest = bitcast<f32>(bitcast<u32>(size) ^ (up << 31u));
    let finite = bits < 0x7f800000u;
    return PreciseAngle((high >> 30u) + up, select(precise_bits(0x7fc00000u), rest, finite));
}

// Of an angle that is not negative.
fn precise_angle(x: f32) -> PreciseAngle {
    if (x > $LARGE) {
        return precise_reduce_large(x);
    }
    return precise_reduce(x);
}

// Sine of an angle and `more` right angles, with the sign bit of `flip` turned into it.
fn precise_sine_of(angle: PreciseAngle, more: u32, flip: u32) -> f32 {
    let quarter = angle.quarter + more;
    let r = angle.rest;
    let r2 = r * r;
    let p = $SINE(r2);
    let sine = fma(r2 * r, p, r);
    let q = $COSINE(r2);
    let cosine = fma(r2 * r2, q, fma(r2, -0.5, 1.0));
    let value = select(cosine, sine, (quarter & 1u) == 0u);
    return bitcast<f32>(bitcast<u32>(value) ^ (((quarter << 30u) ^ flip) & 0x80000000u));
}

fn precise_sin(x: f32) -> f32 {
    // Of the magnitude: zeros keep their signs.
    return precise_sine_of(precise_angle(abs(x)), 0u, bitcast<u32>(x));
}

fn precise_cos(x: f32) -> f32 {
    return precise_sine_of(precise_angle(abs(x)), 1u, 0u);
}

fn precise_tan(x: f32) -> f32 {
    let angle = precise_angle(abs(x));
    let r = angle.rest;
    let r2 = r * r;
    let p = $SINE(r2);
    let sine = fma(r2 * r, p, r);
    let q = $COSINE(r2);
    let cosine = fma(r2 * r2, q, fma(r2, -0.5, 1.0));
    let even = (angle.quarter & 1u) == 0u;
    let value = precise_ratio(select(-cosine, sine, even), select(sine, cosine, even));
    return bitcast<f32>(bitcast<u32>(value) ^ (bitcast<u32>(x) & 0x80000000u));
}

fn precise_exp(x: f32) -> f32 {
    let bounded = select(select(x, -105.0, x < -105.0), 90.0, x > 90.0);
    let n = round(bounded * $LOG2_E);
    let r = precise_opaque(bounded - n * $LN_2_SHORT) - n * $LN_2_REST;
    let p = $EXP(r);
    return precise_known(x, precise_scale(p, i32(n)));
}

fn precise_exp2(x: f32) -> f32 {
    let bounded = select(select(x, -200.0, x < -200.0), 200.0, x > 200.0);
    let n = round(bounded);
    let r = bounded - n;
    let p = $EXP2(r);
    return precise_known(x, precise_scale(p, i32(n)));
}

// A logarithm of x: `value` if x is positive and finite, else what IEEE 754 has there.
fn precise_log_corners(x: f32, value: f32) -> f32 {
    let bits = bitcast<u32>(x);
    let other = select(precise_bits(0x7fc00000u), x, bits < 0x80000000u);
    let corner = select(other, precise_bits(0xff800000u), (bits << 1u) == 0u);
    return select(corner, value, bits - 1u < 0x7f7fffffu);
}

// A positive number as 2^exponent times a mantissa in [√½, √2). Denormals count by their bits, which no
// processor flushes.
struct PreciseParts {
    exponent: f32,
    mantissa: f32,
}

fn precise_parts(x: f32) -> PreciseParts {
    let all = bitcast<u32>(x);
    let small = all < 0x00800000u;
    let normal = select(all, bitcast<u32>(f32(all)), small);
    let bits = normal - $ROOT_HALF_BITS;
    let exponent = (bitcast<i32>(bits) >> 23u) - select(0, 149, small);
    return PreciseParts(f32(exponent), bitcast<f32>((bits & 0x007fffffu) + $ROOT_HALF_BITS));
}

// Of a positive, finite number.
fn precise_log_of(x: f32) -> f32 {
    let parts = precise_parts(x);
    let e = parts.exponent;
    let f = parts.mantissa - 1.0;
    let p = $LOG(f);
    let f2 = f * f;
    let tail = fma(f2 * f, p, e * $LN_2_LOW);
    return fma(e, $LN_2_HIGH, fma(f2, -0.5, tail) + f);
}

fn precise_log(x: f32) -> f32 {
    return precise_log_corners(x, precise_log_of(x));
}

// The binary logarithm of a positive, finite number as a sum of two floats.
fn precise_log2_of(x: f32) -> vec2f {
    let parts = precise_parts(x);
    let m = parts.mantissa;
    let a = m - 1.0;
    let b = precise_opaque(m + 1.0);
    let b_low = m - precise_opaque(b - 1.0);
    // (m - 1) / (m + 1) is s + s_low.
    let s = precise_opaque(a / b);
    let s_low = (precise_residue(a, s, b) - s * b_low) / b;
    let s2 = s * s;
    let p = $LOG_OF_RATIO_TAIL(s2);
    let tail = fma(s * s2, p, s_low + s_low);
    // The logarithm to the base e is 2 s + tail.
    let high = precise_opaque((s + s) * $LOG2_E);
    let low = fma(tail, $LOG2_E, (s + s) * $LOG2_E_LOW) - precise_residue(high, s + s, $LOG2_E);
    let sum = precise_opaque(parts.exponent + high);
    let rest = (high - precise_opaque(sum - parts.exponent)) + low;
    let result = precise_opaque(sum + rest);
    return vec2f(result, rest - precise_opaque(result - sum));
}

fn precise_log2(x: f32) -> f32 {
    return precise_log_corners(x, precise_log2_of(x).x);
}

fn precise_pow(x: f32, y: f32) -> f32 {
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    let y_bits = bitcast<u32>(y) & 0x7fffffffu;
    let log = precise_log2_of(bitcast<f32>(bits));
    // Past this bound every power is 0, 1 or infinite.
    let bounded = clamp(y, -1e10, 1e10);
    let high = precise_opaque(bounded * log.x);
    let low = bounded * log.y - precise_residue(high, bounded, log.x);
    let inside = abs(high) < 200.0;
    let power = select(precise_signed(200.0, high), high, inside);
    let n = round(power);
    let r = precise_opaque(power - n) + select(0.0, low, inside);
    let p = $EXP2(r);
    let proper = precise_scale(p, i32(n));
    let infinity = precise_bits(0x7f800000u);
    let edge = select(0.0, infinity, (y > 0.0) == (bits != 0u));
    let size = select(edge, proper, bits - 1u < 0x7f7fffffu);
    let whole = trunc(y) == y;
    let half = 0.5 * y;
    // Floats from 2^24 on are even.
    let odd = whole && trunc(half) != half && y_bits < 0x4b800000u;
    let value = select(size, -size, odd && bitcast<i32>(x) < 0);
    let finite_negative = bitcast<u32>(x) - 0x80000001u < 0x7f7fffffu;
    let undefined = finite_negative && !whole && y_bits < 0x7f800000u;
    let unknown = undefined || bits > 0x7f800000u || y_bits > 0x7f800000u;
    let known = select(value, precise_bits(0x7fc00000u), unknown);
    return select(known, 1.0, y_bits == 0u || x == 1.0);
}

fn precise_tanh(x: f32) -> f32 {
    let bounded = select(select(x, -9.02, x < -9.02), 9.02, x > 9.02);
    let x2 = bounded * bounded;
    let p = $TANH_ABOVE(x2);
    let q = $TANH_BELOW(x2);
    // The ratio's remainder loses the sign of zero.
    return precise_known(x, precise_signed(precise_ratio(bounded * p, q), x));
}

// sinh |x| and cosh x by the addition theorems from the count of ln 2 nearest to |x|. From 2^60 on the
// smaller power of 2 is nothing beside the larger, and a factor of 2^64 comes last.
fn precise_sinh_cosh(x: f32) -> vec2f {
    let size = select(abs(x), 100.0, abs(x) > 100.0);
    let n = round(size * $LOG2_E);
    let r = precise_opaque(size - n * $LN_2_SHORT) - n * $LN_2_REST;
    let r2 = r * r;
    let p = $SINH_TAIL(r2);
    let sinh_r = fma(r2 * r, p, r);
    let q = $COSH_TAIL(r2);
    let cosh_r = fma(r2, q, 1.0);
    let k = i32(n);
    let large = k > 60;
    let up = bitcast<f32>(u32(select(k, k - 64, large) + 126) << 23u);
    let down = select(bitcast<f32>(u32(126 - k) << 23u), 0.0, large);
    let s = up - down;
    let c = up + down;
    let both = vec2f(fma(s, cosh_r, c * sinh_r), fma(c, cosh_r, s * sinh_r));
    return both * select(1.0, 18446744073709551616.0, large);
}

fn precise_sinh(x: f32) -> f32 {
    return precise_known(x, precise_signed(precise_sinh_cosh(x).x, x));
}

fn precise_cosh(x: f32) -> f32 {
    return precise_known(x, precise_sinh_cosh(x).y);
}

// ln(v + low) for v >= 1, given (v - 1)/(v + 1) in a form that keeps the precision of v near 1.
fn precise_log_near_1(v: f32, low: f32, ratio: f32) -> f32 {
    let parts = precise_parts(v);
    let near = parts.exponent == 0.0;
    let s = select(precise_ratio(parts.mantissa - 1.0, parts.mantissa + 1.0), ratio, near);
    let s2 = s * s;
    let p = $LOG_OF_RATIO_TAIL(s2);
    let tail = fma(s * s2, p, fma(parts.exponent, $LN_2_LOW, select(low / v, 0.0, near)));
    return fma(parts.exponent, $LN_2_HIGH, (s + s) + tail);
}

fn precise_asinh(x: f32) -> f32 {
    let size = abs(x);
    // From here on the root is x, and the logarithm that of 2 x.
    let large = size > 16384.0;
    let bounded = select(size, 1.0, large);
    let square = bounded * bounded;
    let root = precise_sqrt(square + 1.0);
    let sum = precise_opaque(root + bounded);
    let low = bounded - precise_opaque(sum - root);
    let near = precise_log_near_1(sum, low, precise_ratio(bounded, root + 1.0));
    let far = precise_log_of(size) + $LN_2_HIGH;
    let value = precise_signed(select(near, far, large), x);
    // The next term is x^3 / 6; devices that flush denormals lose what the logarithm makes of a tiny x.
    let counts = size > 0.00024414062 && (bitcast<u32>(x) & 0x7fffffffu) < 0x7f800000u;
    return select(x, value, counts);
}

fn precise_acosh(x: f32) -> f32 {
    let large = x > 16384.0;
    let bounded = select(x, 2.0, large);
    let more = bounded - 1.0;
    let root = precise_sqrt(more * (bounded + 1.0));
    let sum = precise_opaque(bounded + root);
    let low = root - precise_opaque(sum - bounded);
    let ratio = precise_ratio(more + root, (more + root) + 2.0);
    let near = precise_log_near_1(sum, low, ratio);
    let far = precise_log_of(x) + $LN_2_HIGH;
    let value = select(select(near, far, large), x, bitcast<u32>(x) == 0x7f800000u);
    return select(precise_bits(0x7fc00000u), value, x >= 1.0);
}

fn precise_atanh(x: f32) -> f32 {
    let size = abs(x);
    let bounded = select(size, 0.5, size >= 1.0);
    let above = precise_opaque(1.0 + bounded);
    let above_low = bounded - precise_opaque(above - 1.0);
    let below = precise_opaque(1.0 - bounded);
    let below_low = precise_opaque(1.0 - below) - bounded;
    let v = precise_ratio(above, below);
    // What rounding took from the quotient and its parts.
    let residue = precise_residue(above, v, below) + (above_low - v * below_low);
    let inside = 0.5 * precise_log_near_1(v, residue / below, bounded);
    let bits = bitcast<u32>(x) & 0x7fffffffu;
    let edge = precise_bits(select(0x7fc00000u, 0x7f800000u, bits == 0x3f800000u));
    return precise_signed(select(edge, inside, bits < 0x3f800000u), x);
}

// The angle between 0 and π/2 of the point (x, y), neither of which is negative.
fn precise_first_quadrant(y: f32, x: f32) -> f32 {
    let steep = y > x;
    let num = select(y, x, steep);
    let den = select(x, y, steep);
    // 0/0 stands for 0, ∞/∞ for 1.
    let both = bitcast<u32>(num) == 0x7f800000u;
    let above = select(num, 1.0, both);
    let below = select(select(den, 1.0, den == 0.0), 1.0, both);
    let t = precise_quotient(above, below);
    let t2 = t * t;
    let p = $ATAN_TAIL(t2);
    let angle = fma(t * t2, p, t);
    return select(angle, precise_opaque($HALF_PI_HIGH - angle) + $HALF_PI_LOW, steep);
}

fn precise_atan(x: f32) -> f32 {
    return precise_signed(precise_first_quadrant(abs(x), 1.0), x);
}

fn precise_atan2(y: f32, x: f32) -> f32 {
    let first = precise_first_quadrant(abs(y), abs(x));
    let mirrored = precise_opaque($PI_HIGH - first) + $PI_LOW;
    let value = precise_signed(select(first, mirrored, bitcast<i32>(x) < 0), y);
    return precise_known(x, precise_known(y, value));
}

// arcsin w, where arcsin |x| is that or, for |x| above 1/2, π/2 less twice that. NaN for |x| above 1.
fn precise_half_arc(x: f32) -> f32 {
    let size = abs(x);
    let w = select(size, precise_sqrt((1.0 - size) * 0.5), size > 0.5);
    let w2 = w * w;
    let p = $ASIN_TAIL(w2);
    let arc = fma(w * w2, p, w);
    return select(precise_bits(0x7fc00000u), arc, (bitcast<u32>(x) & 0x7fffffffu) <= 0x3f800000u);
}

fn precise_asin(x: f32) -> f32 {
    let arc = precise_half_arc(x);
    let outer = precise_opaque($HALF_PI_HIGH - (arc + arc)) + $HALF_PI_LOW;
    return precise_signed(select(arc, outer, abs(x) > 0.5), x);
}

fn precise_acos(x: f32) -> f32 {
    let arc = precise_half_arc(x);
    let outer = arc + arc;
    let mirrored = precise_opaque($PI_HIGH - outer) + $PI_LOW;
    // The sine bends with the sign of x.
    let inner = precise_opaque($HALF_PI_HIGH - precise_signed(arc, x)) + $HALF_PI_LOW;
    return select(inner, select(outer, mirrored, x < 0.0), !(abs(x) <= 0.5));
}

fn precise_sigmoid(x: f32) -> f32 {
    let e = precise_exp(-abs(x));
    return precise_quotient(select(1.0, e, x < 0.0), 1.0 + e);
}

fn precise_softplus(x: f32) -> f32 {
    let e = precise_exp(-abs(x));
    let s = precise_quotient(e, 2.0 + e);
    let s2 = s * s;
    let p = $LOG_1_PLUS_TAIL(s2);
    let tail = fma(s * s2, p, s + s);
    // A small e is its own logarithm; devices that flush denormals lose what the quotient makes of it.
    return select(0.0, x, x > 0.0) + select(tail, e, e < 2.9802322e-8);
}

fn precise_erf(x: f32) -> f32 {
    let size = select(abs(x), 4.0, abs(x) > 4.0);
    let square = size * size;
    let p = $ERF_NEAR(square);
    let t = precise_ratio(1.0, size + 2.0);
    let q = $ERF_FAR(t);
    let outer = 1.0 - precise_exp(-square) * q;
    return precise_known(x, precise_signed(select(outer, size * p, size < 1.0), x));
}

// e^(-factor x²): the square of the first half of the digits is exact, and small is what is left of it.
fn precise_exp_of_square(size: f32, factor: f32) -> f32 {
    let high = bitcast<f32>(bitcast<u32>(size) & 0xfffff000u);
    let low = precise_opaque(size - high);
    return precise_exp(-factor * (high * high)) * precise_exp(-factor * (low * precise_opaque(size + high)));
}

fn precise_erfc(x: f32) -> f32 {
    let size = select(abs(x), 10.2, abs(x) > 10.2);
    let square = size * size;
    let p = $ERF_NEAR(square);
    let t = precise_ratio(1.0, size + 2.0);
    let q = $ERFC_FAR(t);
    let value = select(precise_exp_of_square(size, 1.0) * q, 1.0 - size * p, size < 0.5);
    return precise_known(x, select(value, 2.0 - value, x < 0.0));
}

fn precise_normal_cdf(x: f32) -> f32 {
    let size = select(abs(x), 14.4, abs(x) > 14.4);
    let z = size * 0.70710678;
    let square = 0.5 * size * size;
    let p = $ERF_NEAR(square);
    let t = precise_ratio(1.0, z + 2.0);
    let q = $ERFC_FAR(t);
    let value = 0.5 * select(precise_exp_of_square(size, 0.5) * q, 1.0 - z * p, z < 0.5);
    return precise_known(x, select(value, 1.0 - value, x > 0.0));
}

fn precise_normal_quantile(x: f32) -> f32 {
    let q = x - 0.5;
    let square = q * q;
    let p = $QUANTILE_NEAR(square);
    let bits = bitcast<u32>(x);
    let rest = select(abs(x), 1.0 - x, q > 0.0);
    let none = (bitcast<u32>(rest) << 1u) == 0u;
    let s = precise_sqrt(-2.0 * precise_log_of(select(rest, 0.25, none || rest < 0.0)));
    let t = precise_ratio(1.0, s);
    let a = t - 0.37;
    let tail = $QUANTILE_TAIL(a);
    let b = t - 0.13;
    let far_tail = $QUANTILE_FAR_TAIL(b);
    let size = select(s - select(tail, far_tail, t < 0.2), precise_bits(0x7f800000u), none);
    let value = select(select(size, -size, q < 0.0), q * p, abs(q) <= 0.3);
    let inside = bits <= 0x3f800000u || bits == 0x80000000u;
    return select(precise_bits(0x7fc00000u), value, inside);
}

fn precise_exponential_from(word: u32) -> f32 {
    let u = f32(word) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let v = f32(~word) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let series = v + v * v * (0.5 + v * (0.33333334 + v * 0.25));
    return select(-precise_log_of(u), series, word >= 0xfc000000u);
}

fn precise_normal_from(a: u32, b: u32) -> f32 {
    let u = f32(a) * 2.3283064365386963e-10 + 1.1641532182693481e-10;
    let angle = precise_opaque(f32(bitcast<i32>(b)) * 1.4629180792671596e-9);
    let radius = precise_sqrt(max(-2.0 * precise_log_of(u), 0.0));
    return radius * precise_sine_of(precise_reduce(angle), 1u, 0u);
}
