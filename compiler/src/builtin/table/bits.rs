//! Functions of the bits of integers.

use super::{BLANK, INTEGER_1};
use crate::builtin::{
    Builtin, Class, Cost, Double, Meaning, Precise, Pure, Slot, Wgsl, eval::ill_typed,
    math::bits as scalar,
};
use crate::value::Value;

ids! {
    COUNT_LEADING_ZEROS, COUNT_ONE_BITS, COUNT_TRAILING_ZEROS, EXTRACT_BITS, FIRST_LEADING_BIT,
    FIRST_TRAILING_BIT, INSERT_BITS, MUL_HIGH, REVERSE_BITS,
}

/// The rows, by name.
pub(super) const ROWS: &[Builtin] = &[
    Builtin {
        name: "countLeadingZeros",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| bits(a[0], scalar::count_leading_zeros),
            double: Double::Same,
            wgsl: Wgsl::Native("countLeadingZeros"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "How many zero bits stand before the highest 1; 32 for zero.",
        example: "countLeadingZeros(1u) == 31u",
    },
    Builtin {
        name: "countOneBits",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| bits(a[0], scalar::count_one_bits),
            double: Double::Same,
            wgsl: Wgsl::Native("countOneBits"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "How many bits are 1.",
        example: "countOneBits(7u) == 3u",
    },
    Builtin {
        name: "countTrailingZeros",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| bits(a[0], scalar::count_trailing_zeros),
            double: Double::Same,
            wgsl: Wgsl::Native("countTrailingZeros"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "How many zero bits stand after the lowest 1; 32 for zero.",
        example: "countTrailingZeros(8u) == 3u",
    },
    Builtin {
        name: "extractBits",
        params: &["x", "offset", "count"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32, Slot::U32, Slot::U32],
            result: Slot::U32,
            eval: extract_bits,
            double: Double::Same,
            wgsl: Wgsl::helper("bit_field", BIT_FIELD, &[]),
            precise: Precise::Same,
            cost: Cost::of(6).integer(1),
            ..BLANK
        }),
        doc: "The `count` bits of `x` from bit `offset` on, as a number; bits past the 32nd do not count.",
        example: "extractBits(0xabcu, 4u, 4u) == 0xbu",
    },
    Builtin {
        name: "firstLeadingBit",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: first_leading_bit,
            double: Double::Same,
            wgsl: Wgsl::Native("firstLeadingBit"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "The place of the highest 1 (of a negative number: the highest 0), counted from the lowest \
            bit; all ones if there is none.",
        example: "firstLeadingBit(8u) == 3u",
    },
    Builtin {
        name: "firstTrailingBit",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| bits(a[0], scalar::first_trailing_bit),
            double: Double::Same,
            wgsl: Wgsl::Native("firstTrailingBit"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "The place of the lowest 1; all ones if there is none.",
        example: "firstTrailingBit(12u) == 2u",
    },
    Builtin {
        name: "insertBits",
        params: &["x", "new_bits", "offset", "count"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32, Slot::U32, Slot::U32, Slot::U32],
            result: Slot::U32,
            eval: insert_bits,
            double: Double::Same,
            wgsl: Wgsl::helper("with_bit_field", WITH_BIT_FIELD, &[]),
            precise: Precise::Same,
            cost: Cost::of(6).integer(1),
            ..BLANK
        }),
        doc: "`x` with its `count` bits from bit `offset` on replaced by the lowest of `new_bits`.",
        example: "insertBits(0xaffu, 0xbu, 4u, 4u) == 0xabfu",
    },
    Builtin {
        name: "mul_high",
        params: &["a", "b"],
        meaning: Meaning::Pure(Pure {
            class: Class::Integer,
            params: &[Slot::U32, Slot::U32],
            result: Slot::U32,
            eval: mul_high,
            double: Double::Same,
            wgsl: Wgsl::helper("multiply_high", MULTIPLY_HIGH, &[]),
            precise: Precise::Same,
            cost: Cost::of(19).integer(1),
            ..BLANK
        }),
        doc: "The upper 32 bits of the 64-bit product.",
        example: "mul_high(0x80000000u, 6u) == 3u",
    },
    Builtin {
        name: "reverseBits",
        params: &["x"],
        meaning: Meaning::Pure(Pure {
            eval: |a| bits(a[0], scalar::reverse_bits),
            double: Double::Same,
            wgsl: Wgsl::Native("reverseBits"),
            precise: Precise::Same,
            cost: Cost::of(1).integer(1),
            ..INTEGER_1
        }),
        doc: "The bits in reverse order.",
        example: "reverseBits(1u) == 0x80000000u",
    },
];

/// A function, so that WGSL does not refuse constants that reach past the 32nd bit.
const BIT_FIELD: &str = "\
fn bit_field(x: u32, offset: u32, count: u32) -> u32 {
    return extractBits(x, offset, count);
}";

/// Likewise.
const WITH_BIT_FIELD: &str = "\
fn with_bit_field(x: u32, new_bits: u32, offset: u32, count: u32) -> u32 {
    return insertBits(x, new_bits, offset, count);
}";

/// Long multiplication with digits of 16 bits.
const MULTIPLY_HIGH: &str = "\
fn multiply_high(a: u32, b: u32) -> u32 {
    let a_low = a & 0xffffu;
    let a_high = a >> 16u;
    let b_low = b & 0xffffu;
    let b_high = b >> 16u;
    let middle = a_high * b_low + ((a_low * b_low) >> 16u);
    let rest = a_low * b_high + (middle & 0xffffu);
    return a_high * b_high + (middle >> 16u) + (rest >> 16u);
}";

/// A function of the bits of an integer of either type.
fn bits(a: Value, f: fn(u32) -> u32) -> Value {
    match a {
        Value::I32(x) => Value::I32(f(x as u32) as i32),
        Value::U32(x) => Value::U32(f(x)),
        Value::F32(_) | Value::Bool(_) | Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            ill_typed("integer")
        }
    }
}

fn word(a: Value) -> u32 {
    match a {
        Value::U32(x) => x,
        Value::I32(_)
        | Value::F32(_)
        | Value::Bool(_)
        | Value::Vec2(_)
        | Value::Vec3(_)
        | Value::Vec4(_) => ill_typed("u32"),
    }
}

fn first_leading_bit(a: &[Value]) -> Value {
    match a[0] {
        Value::I32(x) => Value::I32(scalar::first_leading_bit_i32(x)),
        other => bits(other, scalar::first_leading_bit),
    }
}

fn extract_bits(a: &[Value]) -> Value {
    Value::U32(scalar::extract_bits(word(a[0]), word(a[1]), word(a[2])))
}

fn insert_bits(a: &[Value]) -> Value {
    let [x, new_bits, offset, count] = [a[0], a[1], a[2], a[3]].map(word);
    Value::U32(scalar::insert_bits(x, new_bits, offset, count))
}

fn mul_high(a: &[Value]) -> Value {
    Value::U32(scalar::mul_high(word(a[0]), word(a[1])))
}
