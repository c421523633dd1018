//! Number literals: where one ends, what is wrong with it, and its value.

use crate::syntax::token::Token;

/// What stands at the start of a text that begins like a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scan {
    /// Its length in bytes.
    pub(super) len: usize,
    /// What it is, or what is wrong with it.
    pub(super) kind: Result<Token, Flaw>,
}

/// What can be wrong with a number literal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// Letters that follow the number; they begin at this byte.
    Suffix(usize),
    /// No digits after `0x`, or a letter that is no hexadecimal digit.
    Hexadecimal,
    /// `007`
    LeadingZero,
    /// More than 64 bits.
    IntegerTooLarge,
    /// More than the largest double.
    FloatTooLarge,
}

/// Reads the number at the start of `text`, which begins with a digit, or with a dot and a digit.
///
/// A dot belongs to the number unless a second dot (`0..16`) or a name (`1.x`) follows it.
pub(super) fn scan(text: &[u8]) -> Scan {
    if text.len() > 1 && text[0] == b'0' && matches!(text[1], b'x' | b'X') {
        return hexadecimal(text);
    }
    let at = |index: usize| text.get(index).copied().unwrap_or(b' ');
    let mut end = run(text, 0, is_digit);
    let whole = end;
    if at(end) == b'.' {
        let next = at(end + 1);
        let suffix = matches!(next, b'f' | b'h') && !is_word(at(end + 2)) && at(end + 2) != b'(';
        let exponent = matches!(next, b'e' | b'E') && has_exponent(text, end + 1);
        if next.is_ascii_digit() || suffix || exponent || !(next == b'.' || is_word(next)) {
            end = run(text, end + 1, is_digit);
        }
    }
    if has_exponent(text, end) {
        end = run(text, end + 2, is_digit);
    }
    let float = end > whole;
    let letters = end;
    end = run(text, end, is_word);
    let kind = match &text[letters..end] {
        b"" if float => float_kind(&text[..letters]),
        b"" => integer_kind(&text[..letters], 10, Token::Int),
        b"u" if !float => integer_kind(&text[..letters], 10, Token::Uint),
        _ => Err(Flaw::Suffix(letters)),
    };
    Scan { len: end, kind }
}

fn hexadecimal(text: &[u8]) -> Scan {
    let len = run(text, 2, is_word);
    let (digits, kind) = match text[2..len].strip_suffix(b"u") {
        Some(digits) => (digits, Token::Uint),
        None => (&text[2..len], Token::Int),
    };
    let legal = digits.iter().any(u8::is_ascii_hexdigit)
        && digits.iter().all(|b| b.is_ascii_hexdigit() || *b == b'_');
    let kind = if legal {
        integer_kind(digits, 16, kind)
    } else {
        Err(Flaw::Hexadecimal)
    };
    Scan { len, kind }
}

fn integer_kind(digits: &[u8], radix: u64, kind: Token) -> Result<Token, Flaw> {
    if radix == 10 && digits.len() > 1 && digits[0] == b'0' {
        return Err(Flaw::LeadingZero);
    }
    integer_of(digits, radix)
        .map(|_| kind)
        .ok_or(Flaw::IntegerTooLarge)
}

fn float_kind(text: &[u8]) -> Result<Token, Flaw> {
    if float_of(text).is_finite() {
        Ok(Token::Float)
    } else {
        Err(Flaw::FloatTooLarge)
    }
}

/// The value of an integer literal as the scanner accepted it.
pub(in crate::syntax) fn integer(text: &str) -> u64 {
    let text = text.strip_suffix('u').unwrap_or(text).as_bytes();
    let value = match text {
        [b'0', b'x' | b'X', digits @ ..] => integer_of(digits, 16),
        digits => integer_of(digits, 10),
    };
    value.unwrap_or(u64::MAX)
}

/// The value of a float literal as the scanner accepted it: the nearest double.
pub(in crate::syntax) fn float(text: &str) -> f64 {
    float_of(text.as_bytes())
}

fn integer_of(digits: &[u8], radix: u64) -> Option<u64> {
    let mut value = 0u64;
    for digit in digits.iter().filter(|b| **b != b'_') {
        let digit = (*digit as char).to_digit(radix as u32)?;
        value = value.checked_mul(radix)?.checked_add(u64::from(digit))?;
    }
    Some(value)
}

fn float_of(text: &[u8]) -> f64 {
    let plain: String = text
        .iter()
        .filter(|b| **b != b'_')
        .map(|b| *b as char)
        .collect();
    plain.parse().unwrap_or(f64::INFINITY)
}

fn has_exponent(text: &[u8], at: usize) -> bool {
    match text.get(at..) {
        Some([b'e' | b'E', b'+' | b'-', digit, ..]) => digit.is_ascii_digit(),
        Some([b'e' | b'E', digit, ..]) => digit.is_ascii_digit(),
        _ => false,
    }
}

fn run(text: &[u8], from: usize, belongs: fn(u8) -> bool) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    from + rest.iter().take_while(|b| belongs(**b)).count()
}

fn is_digit(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'_'
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
