//! How values of files become values of the model: what is missing, what may be rounded.

use super::cell::Kind;
use crate::number;

/// Texts that stand for a value that is missing; R, pandas, polars and spreadsheets write them.
const MISSING: [&str; 7] = ["", "NA", "N/A", "#N/A", "null", "NULL", "None"];

/// Whole numbers up to this size are exact as an `f32`.
const EXACT: f32 = 16_777_216.0;
/// And as an `f64`.
const EXACT_DOUBLE: f64 = 9_007_199_254_740_992.0;

/// What `--empty` says about a value that is missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Empty {
    /// It is an error.
    #[default]
    Error,
    /// It is read as NaN, where floats stand.
    Nan,
}

/// How strictly values are read.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules {
    /// What a missing value is.
    pub(crate) empty: Empty,
    /// Whole numbers are rounded to the nearest float.
    pub(crate) lossy: bool,
}

/// Why a value cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// To follow the value in a sentence.
    pub(crate) why: &'static str,
    /// What reads it all the same.
    pub(crate) fix: Option<&'static str>,
}

impl From<&'static str> for Refusal {
    fn from(why: &'static str) -> Refusal {
        Refusal { why, fix: None }
    }
}

impl Rules {
    /// The bits of a cell's text, without white space around it.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn text(self, kind: Kind<'_>, text: &str) -> Result<u64, Refusal> {
        let found = match kind {
            Kind::F32 => number::float_cell(text).map(|value| {
                let exact = value.abs() < EXACT || !is_inexact(text, value as i128);
                (value.to_bits().into(), exact)
            }),
            Kind::F64 => number::double_cell(text).map(|value| {
                let exact = value.abs() < EXACT_DOUBLE || !is_inexact(text, value as i128);
                (value.to_bits(), exact)
            }),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => return Ok(kind.word(text)?),
        };
        match found {
            Ok((_, false)) if !self.lossy => Err(inexact(kind)),
            Ok((bits, _)) => Ok(bits),
            Err(_) if text.is_empty() => self.missing(kind, "is empty"),
            Err(_) if is_missing(text) => self.missing(kind, "stands for a missing value"),
            Err(why) => Err(why.into()),
        }
    }

    /// The bits of a whole number.
    ///
    /// # Errors
    /// Why it has none.
    pub(crate) fn integer(self, kind: Kind<'_>, value: i128) -> Result<u64, Refusal> {
        match kind {
            Kind::F32 if self.lossy => Ok((value as f32).to_bits().into()),
            Kind::F64 if self.lossy => Ok((value as f64).to_bits()),
            Kind::F32 | Kind::F64 => kind.integer(value).map_err(|_| inexact(kind)),
            Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_) => Ok(kind.integer(value)?),
        }
    }

    /// The bits where there is no value.
    ///
    /// # Errors
    /// That there is none, in these words.
    pub(crate) fn missing(self, kind: Kind<'_>, why: &'static str) -> Result<u64, Refusal> {
        match (kind, self.empty) {
            (Kind::F32, Empty::Nan) => Ok(f32::NAN.to_bits().into()),
            (Kind::F64, Empty::Nan) => Ok(f64::NAN.to_bits()),
            (Kind::F32 | Kind::F64, Empty::Error) => Err(Refusal {
                why,
                fix: Some("`--empty nan` reads what is missing as NaN"),
            }),
            (Kind::I32 | Kind::U32 | Kind::Bool | Kind::Enum(_), _) => Err(why.into()),
        }
    }
}

const INEXACT: Refusal = Refusal {
    why: "is not exact as an f32",
    fix: Some(
        "an f32 holds whole numbers up to 16777216 exactly, and some beyond; `--lossy` rounds the \
         others to the nearest f32",
    ),
};

const INEXACT_DOUBLE: Refusal = Refusal {
    why: "is not exact as an f64",
    fix: Some(
        "an f64 holds whole numbers up to 9007199254740992 exactly, and some beyond; `--lossy` rounds the \
         others to the nearest f64",
    ),
};

/// Why a whole number is no value of this kind.
fn inexact(kind: Kind<'_>) -> Refusal {
    match kind {
        Kind::F64 => INEXACT_DOUBLE,
        _ => INEXACT,
    }
}

/// Does the text stand for a value that is missing?
pub(crate) fn is_missing(text: &str) -> bool {
    MISSING.contains(&text)
}

/// Is the text an integer, and its nearest float another one? A text with a point or an exponent is a float,
/// which is rounded.
fn is_inexact(text: &str, value: i128) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    whole && text.parse() != Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_unless_told_otherwise() {
        let strict = Rules::default();
        let lossy = Rules {
            lossy: true,
            ..strict
        };
        let bits = |value: f32| Ok(value.to_bits().into());
        assert_eq!(strict.text(Kind::F32, "16777216"), bits(16_777_216.0));
        assert_eq!(strict.text(Kind::F32, "16777218"), bits(16_777_218.0));
        assert_eq!(strict.text(Kind::F32, "-16777217"), Err(INEXACT));
        assert_eq!(strict.text(Kind::F32, "16777217.0"), bits(16_777_216.0));
        assert_eq!(lossy.text(Kind::F32, "16777217"), bits(16_777_216.0));
        assert_eq!(strict.integer(Kind::F32, 16_777_217), Err(INEXACT));
        assert_eq!(lossy.integer(Kind::F32, 16_777_217), bits(16_777_216.0));
        assert_eq!(strict.text(Kind::F32, "-inf"), bits(f32::NEG_INFINITY));
        assert!(lossy.integer(Kind::I32, 1 << 40).is_err());
    }

    #[test]
    fn what_is_missing_is_nan_on_request() {
        let nan = Rules {
            empty: Empty::Nan,
            lossy: false,
        };
        for text in MISSING {
            assert_eq!(nan.text(Kind::F32, text), Ok(f32::NAN.to_bits().into()));
            let refused = Rules::default().text(Kind::F32, text);
            assert!(
                refused.is_err_and(|refusal| refusal.fix.is_some()),
                "{text}"
            );
            assert!(nan.text(Kind::I32, text).is_err(), "{text}");
        }
        assert!(nan.text(Kind::F32, "none").is_err());
        let variants = ["None".to_owned()];
        assert_eq!(nan.text(Kind::Enum(&variants), "None"), Ok(0));
    }
}
