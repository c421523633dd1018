//! Numbers: literals where something begins or ends, and words for launches.

use super::{Maker, T};

const FLOATS: [&str; 30] = [
    "0.0",
    "1.0",
    "0.5",
    "2.0",
    "3.0",
    "0.1",
    "1.5",
    "0.25",
    "10.0",
    "100.0",
    "1e-3",
    "7.0",
    "0.3333333",
    "1e10",
    "1e-10",
    "1e30",
    "1e-30",
    "3.4028235e38",
    "1.1754944e-38",
    "1e-45",
    "16777216.0",
    "16777217.0",
    "2147483648.0",
    "4294967296.0",
    "1.0000001",
    "0.99999994",
    "PI",
    "TAU",
    "E",
    "EPSILON",
];

const INTEGERS: [i64; 18] = [
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    10,
    31,
    32,
    33,
    100,
    255,
    65_536,
    16_777_217,
    1_000_003,
    2_147_483_646,
    2_147_483_647,
];

impl Maker {
    /// A literal of a scalar type, and whether it is abstract.
    pub(super) fn literal(&mut self, ty: &T) -> (String, bool) {
        match ty {
            T::F => {
                let text = match self.dice.below(4) {
                    0 => self.dice.below(20).to_string(),
                    1 => format!("{}.{}", self.dice.below(10), self.dice.below(100)),
                    _ => (*self.dice.pick(&FLOATS)).to_owned(),
                };
                match self.dice.chance(25) {
                    true => (format!("-{text}"), true),
                    false => (text, true),
                }
            }
            T::I => match self.dice.below(12) {
                0 => ("-2147483648".into(), true),
                1 => (format!("0x{:x}", self.dice.below(1 << 16)), true),
                2..=4 => (format!("-{}", self.dice.pick(&INTEGERS)), true),
                5..=8 => (self.dice.below(12).to_string(), true),
                _ => (self.dice.pick(&INTEGERS).to_string(), true),
            },
            T::U => match self.dice.below(6) {
                0 => ("4294967295u".into(), false),
                1 => ("0x80000000u".into(), false),
                2 => (format!("{}u", self.dice.pick(&INTEGERS)), false),
                _ => (format!("{}u", self.dice.below(12)), false),
            },
            _ => ((*self.dice.pick(&["true", "false"])).to_owned(), false),
        }
    }

    /// A literal that has its type by itself.
    pub(super) fn typed_literal(&mut self, ty: &T) -> String {
        let (text, is_abstract) = self.literal(ty);
        match (is_abstract, ty) {
            (true, T::F) => format!("f32({text})"),
            (true, _) => format!("i32({text})"),
            (false, _) => text,
        }
    }

    /// A word for a value of the launch; NaN and infinities only where `any` floats are welcome.
    pub(super) fn word(&mut self, ty: &T, any: bool) -> u32 {
        match ty {
            T::F | T::V(_) => {
                let x = match self.dice.below(8) {
                    0 if any => {
                        *self
                            .dice
                            .pick(&[f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-40])
                    }
                    1 => self.dice.pick(&FLOATS).parse().unwrap_or(0.0),
                    2 => f32::from_bits(self.dice.word() as u32),
                    3 => self.dice.below(1000) as f32 * 0.125 - 60.0,
                    _ => self.dice.below(9) as f32 - 3.0,
                };
                if x.is_finite() || any { x.to_bits() } else { 0 }
            }
            T::I => match self.dice.below(4) {
                0 => self.dice.word() as u32,
                1 => *self
                    .dice
                    .pick(&[0x8000_0000, 0x7fff_ffff, u32::MAX, 0x8000_0001]),
                _ => (self.dice.below(20) as u32).wrapping_sub(8),
            },
            T::U => match self.dice.below(4) {
                0 => self.dice.word() as u32,
                1 => *self.dice.pick(&[0x8000_0000, 0x7fff_ffff, u32::MAX, 33]),
                _ => self.dice.below(20) as u32,
            },
            T::E(k) => self.dice.below(self.enums[*k]) as u32,
            _ => self.dice.below(2) as u32,
        }
    }
}
