//! The builtins' precise forms in WGSL: what kernels call under `--math precise` instead of the device's own
//! functions, which WGSL lets be off by far more than a few units in the last place.
//!
//! They are the algorithms of [`math`](super::math) in `f32`, with its coefficients: `functions.wgsl` names a
//! polynomial or a number of the Rust text by `$NAME`, and `expand` writes it out. Where the Rust functions
//! go through `f64`, these keep what rounding loses in a second float. They do not rely on how a driver takes
//! WGSL:
//!
//! * It may fuse a product into a sum, and `fma` may be fused or not. So products whose error would matter
//!   are exact, by factors of few digits (`pieces`), or what they lose is computed from halves of their
//!   factors.
//! * It may reorder sums. What must not be reordered passes through an integer (`precise_opaque`).
//! * It may flush denormals to zero, and may ignore infinities and NaN in comparisons. These cases are
//!   detected by bits; results that are denormal may be 0.
//!
//! A builtin's row names its form. Those that have none have a device function that is exact or good to a few
//! units.

use super::{
    BuiltinId, Precise,
    math::{
        normal::{ERFC_FAR, QUANTILE_FAR_TAIL, QUANTILE_NEAR, QUANTILE_TAIL},
        primary,
        reduction::TWO_OVER_PI,
        special::{ERF_FAR, ERF_NEAR},
        wide,
    },
};
use std::{
    collections::{HashMap, HashSet},
    f64::consts,
    fmt::Write,
    sync::LazyLock,
};

/// The function that divides floats.
pub const QUOTIENT: &str = "precise_quotient";

/// A function or type of the precise forms.
#[derive(Debug)]
pub struct Item {
    /// Its name in WGSL.
    pub name: &'static str,
    /// Its whole text.
    pub text: String,
    /// What of the others its text names.
    pub needs: Vec<&'static str>,
}

/// The name of a builtin's precise function, if it has one.
pub fn form(builtin: BuiltinId) -> Option<&'static str> {
    match builtin.row().pure().precise {
        Precise::Form(function) => Some(function),
        Precise::Unstated | Precise::Same => None,
    }
}

/// All functions and types, in the order of their text.
pub fn items() -> &'static [Item] {
    &ITEMS
}

/// Their names, without what they stand for: every kernel needs these.
pub fn names() -> impl Iterator<Item = &'static str> {
    let declares = |line: &&str| line.starts_with("fn ") || line.starts_with("struct ");
    (include_str!("precise/functions.wgsl").lines())
        .filter(declares)
        .map(declared)
}

/// Names and their texts as they are written.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    (include_str!("precise/functions.wgsl").split("\n\n"))
        .map(|text| (declared(text), text.trim_end()))
}

static ITEMS: LazyLock<Vec<Item>> = LazyLock::new(|| {
    let constants = constants();
    let needs = |name: &str, text| {
        let words: HashSet<&str> = words(text).collect();
        names()
            .filter(|other| *other != name && words.contains(other))
            .collect()
    };
    blocks()
        .map(|(name, text)| Item {
            name,
            text: expand(text, &constants),
            needs: needs(name, text),
        })
        .collect()
});

/// The name that a block of the text declares.
fn declared(block: &'static str) -> &'static str {
    let line = block.lines().find(|line| !line.starts_with("//"));
    let name = line.and_then(|line| words(line).nth(1));
    name.expect("every block declares something")
}

/// The identifiers and numbers of a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Writes out what `$NAME` stands for: a number, or in `let p = $NAME(x);` a polynomial in x.
fn expand(text: &str, constants: &HashMap<&'static str, Constant>) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if !out.is_empty() {
            out.push('\n');
        }
        let mut parts = line.split('$');
        out.push_str(parts.next().unwrap_or_default());
        for part in parts {
            let name = words(part).next().unwrap_or_default();
            let rest = &part[name.len()..];
            match &constants[name] {
                Constant::Text(text) => {
                    out.push_str(text);
                    out.push_str(rest);
                }
                Constant::Polynomial(coefficients) => horner(&mut out, rest, coefficients),
            }
        }
    }
    out
}

/// Writes a polynomial by Horner's rule, after `let p = ` and of what stands in brackets.
fn horner(out: &mut String, argument: &str, coefficients: &[f32]) {
    let start = out
        .rfind("let ")
        .expect("a polynomial is the value of a let");
    let name = out[start + 4..].trim_end_matches(" = ").to_owned();
    let x = argument.trim_matches(['(', ')', ';']);
    out.replace_range(start..start + 3, "var");
    let mut coefficients = coefficients.iter().rev();
    if let Some(last) = coefficients.next() {
        let _ = write!(out, "{last:?};");
    }
    for coefficient in coefficients {
        let _ = write!(out, "\n    {name} = fma({name}, {x}, {coefficient:?});");
    }
}

/// What a `$NAME` of the text stands for.
enum Constant {
    /// This text.
    Text(String),
    /// A polynomial, the lowest coefficient first.
    Polynomial(Vec<f32>),
}

/// All constants, from those of the Rust functions.
fn constants() -> HashMap<&'static str, Constant> {
    let mut all = HashMap::new();
    for (name, coefficients) in [
        ("SINE", &primary::SINE[..]),
        ("COSINE", &primary::COSINE),
        ("EXP", &primary::EXP),
        ("LOG", &primary::LOG),
        ("TANH_ABOVE", &primary::TANH_ABOVE),
        ("TANH_BELOW", &primary::TANH_BELOW),
    ] {
        all.insert(name, Constant::Polynomial(coefficients.to_vec()));
    }
    // A head of 1 or 2 is no part of a tail: it is added last, where it loses least.
    for (name, coefficients) in [
        ("EXP2", &wide::EXP2[..]),
        ("SINH_TAIL", &wide::SINH[1..]),
        ("COSH_TAIL", &wide::COSH[1..]),
        ("LOG_OF_RATIO_TAIL", &wide::LOG_OF_RATIO[1..]),
        ("LOG_1_PLUS_TAIL", &wide::LOG_1_PLUS[1..]),
        ("ATAN_TAIL", &wide::ATAN[1..]),
        ("ASIN_TAIL", &wide::ASIN[1..]),
        ("ERF_NEAR", &ERF_NEAR),
        ("ERF_FAR", &ERF_FAR),
        ("ERFC_FAR", &ERFC_FAR),
        ("QUANTILE_NEAR", &QUANTILE_NEAR),
        ("QUANTILE_TAIL", &QUANTILE_TAIL),
        ("QUANTILE_FAR_TAIL", &QUANTILE_FAR_TAIL),
    ] {
        let rounded = coefficients.iter().map(|c| *c as f32).collect();
        all.insert(name, Constant::Polynomial(rounded));
    }
    let ln_2 = pieces(consts::LN_2, 0.0, 16, 2);
    for (name, number) in [
        ("LARGE", primary::LARGE),
        ("TWO_OVER_PI", std::f32::consts::FRAC_2_PI),
        ("HALF_PI_HIGH", primary::HALF_PI[0]),
        ("HALF_PI_LOW", primary::HALF_PI[1]),
        ("PI_HIGH", 2.0 * primary::HALF_PI[0]),
        ("PI_LOW", 2.0 * primary::HALF_PI[1]),
        ("LN_2_HIGH", primary::LN_2[0]),
        ("LN_2_LOW", primary::LN_2[1]),
        ("LN_2_SHORT", ln_2[0]),
        ("LN_2_REST", ln_2[1]),
        ("LOG2_E", std::f32::consts::LOG2_E),
        ("LOG2_E_LOW", rest(consts::LOG2_E)),
    ] {
        all.insert(name, Constant::Text(format!("{number:?}")));
    }
    const HALF_PI_PIECES: [&str; 7] = [
        "HALF_PI_0",
        "HALF_PI_1",
        "HALF_PI_2",
        "HALF_PI_3",
        "HALF_PI_4",
        "HALF_PI_5",
        "HALF_PI_6",
    ];
    let half_pi = pieces(consts::FRAC_PI_2, HALF_PI_REST, 8, HALF_PI_PIECES.len());
    for (name, piece) in HALF_PI_PIECES.into_iter().zip(half_pi) {
        all.insert(name, Constant::Text(format!("{piece:?}")));
    }
    let words = TWO_OVER_PI.map(|word| format!(", {word:#010x}u")).concat();
    all.insert("TWO_OVER_PI_WORDS", Constant::Text(format!("0u{words}")));
    let bits = format!("{:#010x}u", primary::ROOT_HALF);
    all.insert("ROOT_HALF_BITS", Constant::Text(bits));
    all
}

/// π/2 less the `f64` nearest to it.
const HALF_PI_REST: f64 = 6.123_233_995_736_766e-17;

/// What the `f32` nearest to a number lacks to it.
fn rest(x: f64) -> f32 {
    (x - f64::from(x as f32)) as f32
}

/// `x + rest` as a sum of `count` floats, all but the last of at most `digits` binary digits.
fn pieces(x: f64, rest: f64, digits: u32, count: usize) -> Vec<f32> {
    let mut left = x;
    let mut found = Vec::new();
    for _ in 1..count {
        let mask = !((1_u64 << (53 - digits)) - 1);
        let piece = f64::from_bits(left.to_bits() & mask);
        found.push(piece as f32);
        left -= piece;
    }
    found.push((left + rest) as f32);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::{Meaning, Pure, table};

    #[test]
    fn every_form_has_its_function_and_every_function_its_use() {
        let rows = table::rows().iter();
        let forms = rows.filter_map(|row| match row.meaning {
            Meaning::Pure(Pure {
                precise: Precise::Form(function),
                ..
            }) => Some((row.name, function)),
            Meaning::Pure(_) | Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => None,
        });
        let mut open = vec![QUOTIENT];
        for (builtin, function) in forms {
            let found = items().iter().any(|item| item.name == function);
            assert!(found, "`{builtin}` has no function `{function}`");
            open.push(function);
        }
        let mut used = HashSet::new();
        while let Some(name) = open.pop() {
            if used.insert(name) {
                let item = items().iter().filter(|item| item.name == name);
                open.extend(item.flat_map(|item| &item.needs));
            }
        }
        for item in items() {
            assert!(used.contains(item.name), "nothing calls `{}`", item.name);
        }
    }

    #[test]
    fn names_are_those_of_the_functions_and_types() {
        assert!(names().eq(items().iter().map(|item| item.name)));
    }

    #[test]
    fn every_constant_of_the_text_is_written_out_and_used() {
        let text = include_str!("precise/functions.wgsl");
        for name in constants().keys() {
            let used = text
                .split('$')
                .skip(1)
                .any(|part| words(part).next() == Some(name));
            assert!(used, "{name} is not used");
        }
        for item in items() {
            assert!(!item.text.contains('$'), "{}", item.text);
        }
    }

    #[test]
    fn coefficients_have_the_bits_of_the_rust_functions() {
        let sine = items().iter().find(|item| item.name == "precise_sine_of");
        let text = &sine.expect("there is a sine").text;
        for coefficient in primary::SINE.iter().chain(&primary::COSINE) {
            let mut numbers = text.split(['(', ')', ',', ';', '=', ' ']);
            let bits = coefficient.to_bits();
            assert!(
                numbers.any(|word| word.parse().is_ok_and(|x: f32| x.to_bits() == bits)),
                "{coefficient} is not in {text}"
            );
        }
    }

    #[test]
    fn pieces_are_short_and_make_up_the_number() {
        let found = pieces(consts::FRAC_PI_2, HALF_PI_REST, 8, 7);
        for piece in &found[..6] {
            assert_eq!(
                piece.to_bits() & 0xffff,
                0,
                "{piece} has more than 8 digits"
            );
        }
        let sum: f64 = found.iter().map(|piece| f64::from(*piece)).sum();
        assert_eq!(sum, consts::FRAC_PI_2);
        let three: f64 = primary::HALF_PI.iter().map(|part| f64::from(*part)).sum();
        assert_eq!(sum, three);
    }
}
