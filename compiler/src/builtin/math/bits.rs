//! The scalar meaning of the builtins that work on bits.
//!
//! All are of `u32`. The same of an `i32` is that of its bits, but for [`first_leading_bit_i32`].

/// `countLeadingZeros`.
#[inline(always)]
pub fn count_leading_zeros(x: u32) -> u32 {
    x.leading_zeros()
}

/// `countOneBits`.
#[inline(always)]
pub fn count_one_bits(x: u32) -> u32 {
    x.count_ones()
}

/// `countTrailingZeros`.
#[inline(always)]
pub fn count_trailing_zeros(x: u32) -> u32 {
    x.trailing_zeros()
}

/// `extractBits`.
#[inline(always)]
pub fn extract_bits(x: u32, offset: u32, count: u32) -> u32 {
    let (offset, mask) = field(offset, count);
    shift_right(x, offset) & mask
}

/// `firstLeadingBit` of a `u32`.
#[inline(always)]
pub fn first_leading_bit(x: u32) -> u32 {
    // All ones for zero, as it should be.
    31_u32.wrapping_sub(x.leading_zeros())
}

/// `firstLeadingBit` of an `i32`: of a negative number, the highest 0.
#[inline(always)]
pub fn first_leading_bit_i32(x: i32) -> i32 {
    first_leading_bit((x ^ (x >> 31)) as u32) as i32
}

/// `firstTrailingBit`.
#[inline(always)]
pub fn first_trailing_bit(x: u32) -> u32 {
    if x == 0 { u32::MAX } else { x.trailing_zeros() }
}

/// `insertBits`.
#[inline(always)]
pub fn insert_bits(x: u32, new_bits: u32, offset: u32, count: u32) -> u32 {
    let (offset, mask) = field(offset, count);
    (x & !shift_left(mask, offset)) | shift_left(new_bits & mask, offset)
}

/// `mul_high`.
#[inline(always)]
pub fn mul_high(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

/// `reverseBits`.
#[inline(always)]
pub fn reverse_bits(x: u32) -> u32 {
    x.reverse_bits()
}

/// Where a field of `count` bits from `offset` on lies: its first bit, 32 at most, and a mask of as many
/// ones.
#[inline(always)]
fn field(offset: u32, count: u32) -> (u32, u32) {
    let offset = super::arithmetic::min_u32(offset, 32);
    let count = super::arithmetic::min_u32(count, 32 - offset);
    (offset, !shift_left(u32::MAX, count))
}

/// `x << by` for `by` up to 32.
#[inline(always)]
fn shift_left(x: u32, by: u32) -> u32 {
    let shifted = x.wrapping_shl(by);
    if by > 31 { 0 } else { shifted }
}

/// `x >> by` for `by` up to 32.
#[inline(always)]
fn shift_right(x: u32, by: u32) -> u32 {
    let shifted = x.wrapping_shr(by);
    if by > 31 { 0 } else { shifted }
}
