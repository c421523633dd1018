//! Text to tokens, after docs/language.md, "Text".

/// A token.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name or a word of the language.
    Word(String),
    /// An integer without suffix.
    Whole(i64),
    /// An integer with `u`.
    Unsigned(u32),
    /// A number with a point or an exponent.
    Real(f64),
    /// What a text between quotation marks says.
    Text(String),
    /// An operator or a bracket.
    Mark(&'static str),
    /// Behind the last token.
    End,
}

const MARKS: [&str; 48] = [
    "<<=", ">>=", "&=", "|=", "^=", "..", "=>", "->", "==", "!=", "<=", ">=", "&&", "||", "<<",
    ">>", "**", "+=", "-=", "*=", "/=", "%=", "+", "-", "*", "/", "%", "<", ">", "&", "|", "^",
    "!", "~", "=", "(", ")", "[", "]", "{", "}", ",", ";", ":", ".", "'", "?", "#",
];

/// The tokens of a text and their lines.
///
/// # Errors
/// A character that means nothing, a number that is none, or a comment without an end.
pub fn lex(text: &str) -> Result<Vec<(Token, usize)>, String> {
    let mut tokens = Vec::new();
    // How many block comments are open.
    let mut comments = 0u32;
    for (k, line) in text.lines().enumerate() {
        let mut rest = line.trim_start();
        while !rest.is_empty() {
            let starts = rest.starts_with("/*");
            if starts || (comments > 0 && rest.starts_with("*/")) {
                comments = if starts { comments + 1 } else { comments - 1 };
                rest = &rest[2..];
            } else if comments > 0 {
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
            } else if rest.starts_with("//") {
                break;
            } else {
                let (token, length) =
                    token(rest).map_err(|error| format!("line {}: {error}", k + 1))?;
                tokens.push((token, k + 1));
                rest = &rest[length..];
            }
            rest = rest.trim_start();
        }
    }
    if comments > 0 {
        return Err("a comment is not closed".to_owned());
    }
    tokens.push((Token::End, text.lines().count()));
    Ok(tokens)
}

fn token(rest: &str) -> Result<(Token, usize), String> {
    let first = rest.as_bytes()[0];
    let second = rest.as_bytes().get(1).copied().unwrap_or(0);
    if first.is_ascii_digit() || (first == b'.' && second.is_ascii_digit()) {
        return number(rest);
    }
    if first.is_ascii_alphabetic() || first == b'_' {
        let length = run(rest, |c| c.is_ascii_alphanumeric() || c == b'_');
        return Ok((Token::Word(rest[..length].to_owned()), length));
    }
    if first == b'"' {
        return text(rest);
    }
    match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        Some(mark) => Ok((Token::Mark(mark), mark.len())),
        None => Err(format!("`{rest}` begins no token")),
    }
}

fn run(text: &str, test: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|c| !test(c)).unwrap_or(text.len())
}

/// A text, which ends on its line.
fn text(rest: &str) -> Result<(Token, usize), String> {
    let mut said = String::new();
    let mut characters = rest.char_indices().skip(1);
    while let Some((at, found)) = characters.next() {
        let meant = match found {
            '"' => return Ok((Token::Text(said), at + 1)),
            '\\' => match characters.next() {
                Some((_, 'n')) => '\n',
                Some((_, next @ ('"' | '\\'))) => next,
                _ => return Err(format!("`{rest}` has a backslash without a meaning")),
            },
            other => other,
        };
        said.push(meant);
    }
    Err(format!("`{rest}` does not end on its line"))
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let digits = |text: &str| run(text, |c| c.is_ascii_digit() || c == b'_');
    let wrong = || format!("`{text}` begins with no number");
    let mut whole = true;
    let mut length;
    let value;
    if let Some(digits) = text.strip_prefix("0x") {
        length = 2 + run(digits, |c| c.is_ascii_hexdigit() || c == b'_');
        let plain = text[2..length].replace('_', "");
        value = u64::from_str_radix(&plain, 16).map_err(|_| wrong())?;
    } else {
        length = digits(text);
        // `0..3` is a range, `1.` a number.
        if text[length..].starts_with('.') && !text[length..].starts_with("..") {
            whole = false;
            length += 1;
            length += digits(&text[length..]);
        }
        if text[length..].starts_with(['e', 'E']) {
            let sign = usize::from(text[length + 1..].starts_with(['+', '-']));
            whole = false;
            length += 1 + sign;
            length += digits(&text[length..]);
        }
        let plain = text[..length].replace('_', "");
        if !whole {
            return Ok((Token::Real(plain.parse().map_err(|_| wrong())?), length));
        }
        value = plain.parse().map_err(|_| wrong())?;
    }
    if text[length..].starts_with('u') {
        let value = u32::try_from(value).map_err(|_| wrong())?;
        return Ok((Token::Unsigned(value), length + 1));
    }
    let value = i64::try_from(value).map_err(|_| wrong())?;
    Ok((Token::Whole(value), length))
}
