//! The fused multiply–add of four lanes without relaxed vector instructions. `scripts/web/build.sh` makes a
//! second module in which it stands in place of each of them, for hosts that lack them or do not fuse.

#![cfg(target_arch = "wasm32")]
// Vectors are passed as they are, and only this module's own code calls.
#![allow(improper_ctypes_definitions)]

use std::arch::wasm32::*;

/// `a b + c`, rounded once.
///
/// In `f64` the product is exact, and the sum is rounded. To round it once more is wrong only where it lies
/// in the middle between two `f32`s: its last 28 bits are then zero.
#[unsafe(no_mangle)]
extern "C" fn fused_multiply_add(a: v128, b: v128, c: v128) -> v128 {
    let second = |x| i32x4_shuffle::<2, 3, 2, 3>(x, x);
    let halves = [[a, b, c], [second(a), second(b), second(c)]];
    let wide = halves.map(|half| half.map(|x| f64x2_promote_low_f32x4(x)));
    let products = wide.map(|[a, b, _]| f64x2_mul(a, b));
    let mut sums = [0, 1].map(|k| f64x2_add(products[k], wide[k][2]));
    let last = i64x2_splat((1 << 28) - 1);
    let middle = sums.map(|sum| i64x2_eq(v128_and(sum, last), i64x2_splat(0)));
    if v128_any_true(v128_or(middle[0], middle[1])) {
        sums = [0, 1].map(|k| to_odd(sums[k], products[k], wide[k][2]));
    }
    let [low, high] = sums.map(|sum| f32x4_demote_f64x2_zero(sum));
    i32x4_shuffle::<0, 1, 4, 5>(low, high)
}

/// `c - a b`, rounded once.
#[unsafe(no_mangle)]
extern "C" fn fused_negative_multiply_add(a: v128, b: v128, c: v128) -> v128 {
    fused_multiply_add(f32x4_neg(a), b, c)
}

/// A sum rounded to odd, as `sim_compiler::builtin::math::arithmetic::fma` does it with one value, where the
/// steps have names.
fn to_odd(sum: v128, product: v128, c: v128) -> v128 {
    let (zero, one) = (f64x2_splat(0.0), i64x2_splat(1));
    let of_c = f64x2_sub(sum, product);
    let lost = f64x2_add(f64x2_sub(product, f64x2_sub(sum, of_c)), f64x2_sub(c, of_c));
    let is_above = f64x2_gt(lost, zero);
    let is_inexact = v128_or(is_above, f64x2_lt(lost, zero));
    let towards = v128_xor(is_above, f64x2_gt(sum, zero));
    let is_even = i64x2_eq(v128_and(sum, one), zero);
    let step = v128_bitselect(i64x2_splat(-1), one, towards);
    i64x2_add(sum, v128_and(step, v128_and(is_inexact, is_even)))
}
