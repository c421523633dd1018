//! One value as text: the cells of CSV files, the values of `--param`, and the other way round.

use crate::number;
use sim_compiler::manifest::{Field, Scalar};
use std::io::{self, Write};

/// What a value of a field may be.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'a> {
    /// Floats.
    F32,
    /// Floats of models that are run in `f64`.
    F64,
    /// Signed integers.
    I32,
    /// Unsigned integers.
    U32,
    /// Truths.
    Bool,
    /// Variants of an enum, by name or number.
    Enum(&'a [String]),
}

impl<'a> Kind<'a> {
    /// Of a field's values.
    pub(crate) fn of(field: &'a Field) -> Kind<'a> {
        match field.scalar {
            Scalar::F32 => Kind::F32,
            Scalar::F64 => Kind::F64,
            Scalar::I32 => Kind::I32,
            Scalar::U32 if !field.variants.is_empty() => Kind::Enum(&field.variants),
            Scalar::U32 => Kind::U32,
            Scalar::Bool => Kind::Bool,
        }
    }

    /// Is it one of floats?
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }

    /// The bits of a cell, without white space around it.
    ///
    /// # Errors
    /// Why it has none, to follow the text in a sentence.
    pub(crate) fn word(self, text: &str) -> Result<u64, &'static str> {
        if text.is_empty() {
            return Err("is empty");
        }
        match self {
            Kind::F32 => number::float_cell(text).map(|value| value.to_bits().into()),
            Kind::F64 => number::double_cell(text).map(f64::to_bits),
            Kind::I32 => match text.parse::<i32>() {
                Ok(value) => Ok((value as u32).into()),
                Err(_) => self.integer(number::whole(text)?),
            },
            Kind::U32 => match text.parse::<u32>() {
                Ok(value) => Ok(value.into()),
                Err(_) => self.integer(number::whole(text)?),
            },
            Kind::Bool => match text {
                "true" | "True" | "TRUE" | "1" => Ok(1),
                "false" | "False" | "FALSE" | "0" => Ok(0),
                _ => Err("is neither true nor false"),
            },
            Kind::Enum(variants) => match variants.iter().position(|name| name == text) {
                Some(at) => Ok(at as u64),
                None => match number::whole(text) {
                    Ok(value) => self.integer(value),
                    Err(_) => Err("is not a variant"),
                },
            },
        }
    }

    /// The bits of a whole number.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn integer(self, value: i128) -> Result<u64, &'static str> {
        match self {
            Kind::F32 => {
                let float = value as f32;
                if float as i128 == value {
                    Ok(float.to_bits().into())
                } else {
                    Err("is not exact as an f32")
                }
            }
            Kind::F64 => {
                let double = value as f64;
                if double as i128 == value {
                    Ok(double.to_bits())
                } else {
                    Err("is not exact as an f64")
                }
            }
            Kind::I32 => match i32::try_from(value) {
                Ok(value) => Ok((value as u32).into()),
                Err(_) => Err("does not fit into an i32"),
            },
            Kind::U32 => match u32::try_from(value) {
                Ok(value) => Ok(value.into()),
                Err(_) => Err("does not fit into a u32"),
            },
            Kind::Bool => match value {
                0 => Ok(0),
                1 => Ok(1),
                _ => Err("is neither true (1) nor false (0)"),
            },
            Kind::Enum(variants) => match u32::try_from(value) {
                Ok(value) if (value as usize) < variants.len() => Ok(value.into()),
                Ok(_) | Err(_) => Err("is the number of no variant"),
            },
        }
    }

    /// The bits of a float: rounded for an `f32`, exact for all others.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn float(self, value: f64) -> Result<u64, &'static str> {
        match self {
            Kind::F32 => {
                let float = value as f32;
                if float.is_infinite() && value.is_finite() {
                    Err("is too large for an f32")
                } else {
                    Ok(float.to_bits().into())
                }
            }
            Kind::F64 => Ok(value.to_bits()),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => {
                if value.is_finite() && value.fract() == 0.0 {
                    // A cast saturates far outside of every type's range, and so is refused like the value.
                    self.integer(value as i128)
                } else {
                    Err("is not a whole number")
                }
            }
        }
    }

    /// What may be written, as a sentence.
    pub(crate) fn accepts(self) -> String {
        match self {
            Kind::F32 => "an f32 is written 1, 0.25, -1e-3, NaN (for what is missing), inf or -inf"
                .to_owned(),
            Kind::F64 => "an f64 is written 1, 0.25, -1e-3, NaN (for what is missing), inf or -inf"
                .to_owned(),
            Kind::I32 => "an i32 is a whole number in -2147483648..=2147483647".to_owned(),
            Kind::U32 => "a u32 is a whole number in 0..=4294967295".to_owned(),
            Kind::Bool => "a bool is true, false, 1 or 0".to_owned(),
            Kind::Enum(variants) => {
                let names: Vec<String> = variants.iter().map(|name| format!("`{name}`")).collect();
                format!("the variants are {}", names.join(", "))
            }
        }
    }

    /// Writes a value of these bits so that [`Kind::word`] gives the same bits back (NaNs become one NaN).
    pub(crate) fn write(self, bits: u64, out: &mut impl Write) -> io::Result<()> {
        let word = bits as u32;
        match self {
            // Debug switches to exponents where Display would write up to 45 digits; both are shortest.
            Kind::F32 => write!(out, "{:?}", f32::from_bits(word)),
            Kind::F64 => write!(out, "{:?}", f64::from_bits(bits)),
            Kind::I32 => write!(out, "{}", word as i32),
            Kind::U32 => write!(out, "{word}"),
            Kind::Bool => out.write_all(if word != 0 { b"true" } else { b"false" }),
            Kind::Enum(variants) => match variants.get(word as usize) {
                Some(name) => out.write_all(name.as_bytes()),
                None => write!(out, "{word}"),
            },
        }
    }
}

/// The bits of values of this type, which lie one after another in words.
pub(crate) fn bits_of(scalar: Scalar, words: &[u32]) -> impl Iterator<Item = u64> + '_ {
    let each = words.chunks_exact(scalar.words() as usize);
    each.map(|words| match words {
        [low, high] => u64::from(*low) | u64::from(*high) << 32,
        words => words[0].into(),
    })
}

/// Writes bits to the words that a value of this type has.
pub(crate) fn put(bits: u64, words: &mut [u32]) {
    words[0] = bits as u32;
    if let Some(high) = words.get_mut(1) {
        *high = (bits >> 32) as u32;
    }
}

/// Adds the words of a value of this type.
pub(crate) fn push(scalar: Scalar, bits: u64, words: &mut Vec<u32>) {
    words.push(bits as u32);
    if scalar.words() == 2 {
        words.push((bits >> 32) as u32);
    }
}

/// The words of values of this type.
pub(crate) fn words_of(scalar: Scalar, bits: impl IntoIterator<Item = u64>) -> Vec<u32> {
    let mut words = Vec::new();
    bits.into_iter()
        .for_each(|bits| push(scalar, bits, &mut words));
    words
}

/// A value as a number; a `bool` is 0 or 1.
pub(crate) fn number_of(scalar: Scalar, bits: u64) -> f64 {
    match scalar {
        Scalar::F32 => f32::from_bits(bits as u32).into(),
        Scalar::F64 => f64::from_bits(bits),
        Scalar::I32 => (bits as u32).cast_signed().into(),
        Scalar::U32 | Scalar::Bool => (bits as u32).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: Kind<'_>, word: u64) -> String {
        let mut out = Vec::new();
        kind.write(word, &mut out).expect("memory takes everything");
        String::from_utf8(out).expect("cells are text")
    }

    #[test]
    fn words_survive_the_way_through_text() {
        // Every exponent, many mantissas; a stride that is odd reaches all low bits.
        let mut word = 0_u32;
        let mut double = 0_u64;
        for _ in 0..200_000 {
            let bits = word.into();
            if !f32::from_bits(word).is_nan() {
                assert_eq!(Kind::F32.word(&text(Kind::F32, bits)), Ok(bits));
            }
            if !f64::from_bits(double).is_nan() {
                assert_eq!(Kind::F64.word(&text(Kind::F64, double)), Ok(double));
            }
            assert_eq!(Kind::I32.word(&text(Kind::I32, bits)), Ok(bits));
            assert_eq!(Kind::U32.word(&text(Kind::U32, bits)), Ok(bits));
            word = word.wrapping_add(0x0123_4567);
            double = double.wrapping_add(0x0123_4567_89ab_cdef);
        }
        for value in [
            f32::MIN_POSITIVE,
            f32::MAX,
            1e-45,
            -0.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ] {
            let word = value.to_bits().into();
            assert_eq!(Kind::F32.word(&text(Kind::F32, word)), Ok(word));
        }
        assert_eq!(text(Kind::F32, f32::NAN.to_bits().into()), "NaN");
        assert_eq!(text(Kind::F32, f32::NEG_INFINITY.to_bits().into()), "-inf");
        let variants = ["Red".to_owned(), "Blue".to_owned()];
        assert_eq!(
            Kind::Enum(&variants).word(&text(Kind::Enum(&variants), 1)),
            Ok(1)
        );
        assert_eq!(Kind::Bool.word(&text(Kind::Bool, 1)), Ok(1));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let variants = ["Red".to_owned(), "Blue".to_owned()];
        assert_eq!(Kind::F32.word("abc"), Err("is not a number"));
        assert_eq!(Kind::F32.word(""), Err("is empty"));
        assert_eq!(Kind::F32.word("1e39"), Err("is too large for an f32"));
        assert_eq!(
            Kind::I32.word("2147483648"),
            Err("does not fit into an i32")
        );
        assert_eq!(
            Kind::I32.word("99999999999999999999999999999999999999999"),
            Err("is too large")
        );
        assert_eq!(Kind::I32.word("1.5"), Err("is not whole"));
        assert_eq!(Kind::I32.word("3.0"), Ok(3));
        assert_eq!(Kind::U32.word("-1"), Err("does not fit into a u32"));
        assert_eq!(Kind::Bool.word("2"), Err("is neither true nor false"));
        assert_eq!(Kind::Enum(&variants).word("Green"), Err("is not a variant"));
        assert_eq!(
            Kind::Enum(&variants).word("2"),
            Err("is the number of no variant")
        );
        assert_eq!(Kind::F32.integer(16_777_217), Err("is not exact as an f32"));
        assert_eq!(Kind::I32.float(f64::NAN), Err("is not a whole number"));
        assert_eq!(Kind::I32.float(1e300), Err("does not fit into an i32"));
        assert_eq!(Kind::F32.float(1e300), Err("is too large for an f32"));
    }
}
