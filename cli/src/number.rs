//! Numbers on the command line: `1_000`, `1e6`, `0x2a`, `-0.5`, and their conversion to the model's types.

/// Removes the underscores between digits; none if one stands anywhere else.
fn without_separators(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    // `1_e3` is a mistake, `0x1_e3` is none.
    let hexadecimal = text.contains(['x', 'X']);
    let digit = |at: Option<usize>| {
        at.and_then(|at| bytes.get(at))
            .is_some_and(|byte| byte.is_ascii_digit() || hexadecimal && byte.is_ascii_hexdigit())
    };
    let misplaced = bytes
        .iter()
        .enumerate()
        .any(|(at, &byte)| byte == b'_' && !(digit(at.checked_sub(1)) && digit(Some(at + 1))));
    (!misplaced).then(|| text.replace('_', ""))
}

/// A whole number, exactly: `1000`, `1_000`, `1e6`, `1.5e3`, `0x3e8`.
///
/// # Errors
/// Why it is none, to follow the number in a sentence.
pub(crate) fn whole(text: &str) -> Result<i128, &'static str> {
    const NO_NUMBER: &str = "is not a whole number";
    let plain = without_separators(text.trim()).ok_or(NO_NUMBER)?;
    let (sign, digits) = match plain.strip_prefix(['-', '+']) {
        Some(rest) if plain.starts_with('-') => (-1, rest),
        Some(rest) => (1, rest),
        None => (1, plain.as_str()),
    };
    if let Some(hex) = digits.strip_prefix("0x").or(digits.strip_prefix("0X")) {
        let legal = !hex.is_empty() && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        return match i128::from_str_radix(hex, 16) {
            Ok(value) if legal => Ok(sign * value),
            Ok(_) => Err(NO_NUMBER),
            Err(_) if legal => Err("is too large"),
            Err(_) => Err(NO_NUMBER),
        };
    }
    decimal(digits).map(|value| sign * value)
}

/// The value of unsigned digits with an optional fraction and exponent, if it is whole.
fn decimal(text: &str) -> Result<i128, &'static str> {
    const NO_NUMBER: &str = "is not a whole number";
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().map_err(|_| NO_NUMBER)?),
        None => (text, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    if mantissa.is_empty() || mantissa == "." || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(NO_NUMBER);
    }
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Ok(0);
    }
    let shift = i64::from(exponent) - fraction.len() as i64;
    let zeros = digits.len() - digits.trim_end_matches('0').len();
    if shift < -(zeros as i64) {
        return Err("is not whole");
    }
    if digits.len() as i64 + shift > 38 {
        return Err("is too large");
    }
    // At most 38 digits, so an i128 holds it.
    let kept = (digits.len() as i64 + shift.min(0)) as usize;
    let value: i128 = digits[..kept].parse().map_err(|_| NO_NUMBER)?;
    Ok(value * 10_i128.pow(shift.max(0) as u32))
}

/// A count of agents or steps for clap.
pub(crate) fn count(text: &str) -> Result<u32, String> {
    let value = whole(text).map_err(|why| format!("it {why}"))?;
    u32::try_from(value).map_err(|_| "it must lie in 0..=2147483647".to_owned())
}

/// A seed for clap.
pub(crate) fn seed(text: &str) -> Result<u64, String> {
    let value = whole(text).map_err(|why| format!("it {why}"))?;
    u64::try_from(value).map_err(|_| "a seed lies in 0..=18446744073709551615".to_owned())
}

/// A probability for clap.
pub(crate) fn probability(text: &str) -> Result<f64, String> {
    let value: f64 = text.trim().parse().map_err(|_| "it is not a number")?;
    match (0.0..=1.0).contains(&value) {
        true => Ok(value),
        false => Err("a probability lies in 0..=1".to_owned()),
    }
}

/// An `f32`, rounded to nearest: `0.5`, `1e-3`, `1_000.5`, `NaN`, `inf`.
///
/// # Errors
/// Why it is none, to follow the text in a sentence.
pub(crate) fn float(text: &str) -> Result<f32, &'static str> {
    let plain = without_separators(text).ok_or("is not a number")?;
    float_cell(&plain)
}

/// A double: `0.5`, `1e-3`, `1_000.5`.
///
/// # Errors
/// Why it is none, to follow the text in a sentence.
pub(crate) fn double(text: &str) -> Result<f64, &'static str> {
    let plain = without_separators(text).ok_or("is not a number")?;
    double_cell(&plain)
}

/// [`float`] without separators, as files have it.
///
/// # Errors
/// Why it is none, to follow the text in a sentence.
pub(crate) fn float_cell(text: &str) -> Result<f32, &'static str> {
    let value: f32 = text.parse().map_err(|_| "is not a number")?;
    // `inf` may be written; a finite number that becomes it is a mistake.
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err("is too large for an f32");
    }
    Ok(value)
}

/// [`double`] without separators, as files have it.
///
/// # Errors
/// Why it is none, to follow the text in a sentence.
pub(crate) fn double_cell(text: &str) -> Result<f64, &'static str> {
    let value: f64 = text.parse().map_err(|_| "is not a number")?;
    if value.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Err("is too large for an f64");
    }
    Ok(value)
}

/// Digits in groups of three, as models may write them: `1_000_000`.
pub(crate) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact() {
        assert_eq!(whole("1_000"), Ok(1000));
        assert_eq!(whole("1e6"), Ok(1_000_000));
        assert_eq!(whole("1.5e3"), Ok(1500));
        assert_eq!(whole("1500e-2"), Ok(15));
        assert_eq!(whole("1.0"), Ok(1));
        assert_eq!(whole("-0x2A"), Ok(-42));
        assert_eq!(whole("0e999999999"), Ok(0));
        assert_eq!(whole("18446744073709551615"), Ok(i128::from(u64::MAX)));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "", "_1", "1_", "1__0", "1_e3", "e3", ".", "-", "--1", "1e", "0x", "0x-1", "one", "1 0",
        ] {
            assert_eq!(whole(text), Err("is not a whole number"), "{text}");
        }
        assert_eq!(whole("1.5"), Err("is not whole"));
        assert_eq!(whole("1e-1"), Err("is not whole"));
        assert_eq!(whole("1e39"), Err("is too large"));
        assert_eq!(whole("9e999999999"), Err("is too large"));
        assert!(count("4294967296").is_err() && count("-1").is_err());
    }

    #[test]
    fn floats_round_once_and_do_not_overflow_silently() {
        assert_eq!(float("1_000.5"), Ok(1000.5));
        assert_eq!(float("16777217"), Ok(16_777_216.0));
        assert_eq!(float("-inf"), Ok(f32::NEG_INFINITY));
        assert!(float("NaN").is_ok_and(f32::is_nan));
        assert_eq!(float("1e39"), Err("is too large for an f32"));
        assert_eq!(float("1__0"), Err("is not a number"));
        assert_eq!(float(""), Err("is not a number"));
    }
}
