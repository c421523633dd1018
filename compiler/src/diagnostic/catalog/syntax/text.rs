//! Complaints about characters, comments and numbers (E0001–E0099).

use super::short;
use crate::{
    diagnostic::{Diagnostic, catalog::catalog},
    span::Span,
};

/// The name of a Greek letter in ASCII.
fn greek(letter: &str) -> Option<&'static str> {
    const LETTERS: [(&str, &str); 27] = [
        ("α", "alpha"),
        ("β", "beta"),
        ("γ", "gamma"),
        ("δ", "delta"),
        ("ε", "epsilon"),
        ("ζ", "zeta"),
        ("η", "eta"),
        ("θ", "theta"),
        ("κ", "kappa"),
        ("λ", "lambda"),
        ("μ", "mu"),
        ("ν", "nu"),
        ("ξ", "xi"),
        ("π", "pi"),
        ("ρ", "rho"),
        ("σ", "sigma"),
        ("τ", "tau"),
        ("φ", "phi"),
        ("χ", "chi"),
        ("ψ", "psi"),
        ("ω", "omega"),
        ("Γ", "Gamma"),
        ("Δ", "Delta"),
        ("Λ", "Lambda"),
        ("Σ", "Sigma"),
        ("Φ", "Phi"),
        ("Ω", "Omega"),
    ];
    let row = LETTERS.iter().find(|(written, _)| *written == letter);
    row.map(|(_, name)| *name)
}

catalog! {
    /// A character that no token of the language starts with.
    ///
    /// Sim source is plain text; outside comments only ASCII letters, digits and the operators of the
    /// language may stand.
    ///
    /// ```text
    /// let x = 3 @ y
    /// ```
    ///
    /// Take the character out, or put it in a comment.
    E0001 unexpected_character(found: char, span: Span) {
        Diagnostic::new(format!("unexpected character `{}`", found.escape_default()))
            .at(span, "no token starts with this")
    }

    /// `@` before a word, as decorators, attributes and macros are written elsewhere.
    ///
    /// ```text
    /// @compute @workgroup_size(64)
    /// ```
    ///
    /// Leave it out: `simc` makes the kernel and chooses how it runs. `assert` is a statement: `assert c,
    /// "…"`.
    E0015 attribute(text: &str, span: Span) {
        Diagnostic::new(format!("`{text}` is an attribute of another language"))
            .at(span, "means nothing here")
            .help("leave it out: a model says what an agent does, `simc` makes the kernel of it")
            .replace(span, "")
    }

    /// A character that looks like one of the language but is another.
    ///
    /// Word processors and web pages put typographic characters in the place of plain ones: a minus sign
    /// for `-`, a cross for `*`, a space that does not break.
    ///
    /// ```text
    /// let x = 3 × y
    /// ```
    ///
    /// Type the plain character: `3 * y`.
    E0002 lookalike_character(found: char, meant: &str, span: Span) {
        let code = u32::from(found);
        let what = if meant == " " { "a space" } else { meant };
        let quoted = if meant == " " { what.to_owned() } else { format!("`{what}`") };
        Diagnostic::new(format!("the character U+{code:04X} looks like {quoted} but is another"))
            .at(span, "not ASCII")
            .help(format!("type {quoted} here"))
            .replace(span, meant)
    }

    /// A name with letters beyond ASCII.
    ///
    /// Names go into the shader text and the column headers of files, so they are made of the letters a–z
    /// and A–Z, digits and `_`. Comments may hold any text.
    ///
    /// ```text
    /// param größe = 1.0
    /// ```
    ///
    /// Write `groesse`, or an English word.
    E0003 name_beyond_ascii(name: &str, span: Span) {
        let name: String = name.chars().take(40).collect();
        Diagnostic::new(format!("the name `{name}` has letters beyond ASCII"))
            .at(span, "letters, digits and `_` only")
            .help(match greek(&name) {
                Some(word) => format!("write `{word}`"),
                None => "spell it with the letters a–z; `snake_case` and digits are fine".to_owned(),
            })
    }

    /// A name that no person wrote.
    E0007 name_too_long(name: &str, limit: usize, span: Span) {
        let length = name.len();
        Diagnostic::new(format!("the name {} has {length} bytes", short(name)))
            .at(span, format!("at most {limit} are possible"))
    }

    /// A string that is not the message of an `assert`.
    ///
    /// The language has numbers, booleans, vectors, arrays, structs and enums, but no strings as values.
    ///
    /// ```text
    /// let name = "fast"
    /// ```
    ///
    /// To choose between cases, declare an enum: `enum Mode { Fast, Slow }`.
    E0004 string_literal(comment: bool, index: bool, span: Span) {
        if comment {
            return Diagnostic::new("a string is not a comment")
                .at(span, "stands between declarations or statements")
                .help("comments begin with `//`; `///` documents the next declaration, `//!` the file");
        }
        Diagnostic::new("strings are not values: they are only the messages of `assert`")
            .at(span, "numbers, truth values, vectors, arrays, structs and enums are values")
            .help(match index {
                true => "an index is a number; a value with a name is the field of a struct: `rates.low`",
                false => "to name a case, declare an enum: `enum Mode { Fast, Slow }`",
            })
    }

    /// A comment that starts with `#`.
    ///
    /// ```text
    /// # the risk-free rate
    /// ```
    ///
    /// Comments start with `//`; `///` documents the next declaration and `//!` the file.
    E0005 hash_comment(sign: &str, span: Span) {
        Diagnostic::new(format!("`{sign}` does not start a comment"))
            .at(span, "not a comment")
            .help("write `//`")
            .replace(span, "//")
    }

    /// A comment that nothing ends.
    ///
    /// ```text
    /// /* the risk-free rate
    /// param rate = 0.05
    /// ```
    ///
    /// Write `*/` where the comment ends. Comments may stand inside of one another: each `/*` needs a `*/`
    /// of its own.
    E0006 unclosed_comment(span: Span) {
        Diagnostic::new("this comment is never closed")
            .at(span, "needs a `*/`")
            .help("write `*/` where the comment ends; each `/*` inside of it needs one, too")
    }

    /// A string that is not closed on its line.
    ///
    /// ```text
    /// assert price > 0.0, "a price is positive
    /// ```
    ///
    /// Write the quotation mark that closes it. A string takes one line; `\n` in it is a line break, and
    /// `\"` a quotation mark.
    E0008 unclosed_text(span: Span) {
        let end = Span { start: span.end, ..span };
        Diagnostic::new("this string is never closed")
            .at(span, "needs a `\"` on its line")
            .replace(end, "\"")
    }

    /// A backslash before a character that it gives no meaning.
    ///
    /// ```text
    /// assert price > 0.0, "see C:\models"
    /// ```
    ///
    /// Write `\\` for a backslash, `\"` for a quotation mark and `\n` for a line break.
    E0009 unknown_escape(found: char, span: Span) {
        Diagnostic::new(format!("`\\{}` has no meaning in a string", found.escape_default()))
            .at(span, "`\\\\`, `\\\"` and `\\n` have one")
            .help("write `\\\\` for a backslash")
    }

    /// Letters that touch a number.
    ///
    /// The only suffix is `u`, on integers: `7u` is a `u32`. A number without it is abstract and takes the
    /// type that is needed, so `2` and `2.0` need no suffix.
    ///
    /// ```text
    /// let x = 1.5f
    /// ```
    ///
    /// Write `1.5`, or `f32(i)` to convert a value.
    E0010 number_suffix(text: &str, at: usize, span: Span) {
        let (number, suffix) = text.split_at(at);
        let suffix: String = suffix.chars().take(40).collect();
        let place = Span::new(span.start as usize + at, span.end as usize);
        let float = number.contains('.') || number.contains(['e', 'E']);
        let help = match suffix.as_str() {
            "f" | "f32" | "h" if number.ends_with('.') => {
                format!("`f32` is the only float type: write `{number}0`")
            }
            "f" | "f32" | "h" if float => format!("`f32` is the only float type: write `{number}`"),
            "f" | "f32" | "h" => format!("`f32` is the only float type: write `{number}.0`"),
            "i" | "i32" => format!("an integer takes the type that is needed: write `{number}`"),
            "u" | "u32" if !float => format!("write `{number}u`"),
            "u" | "u32" => "a `u32` has no fraction: leave out the fraction or the suffix".into(),
            "e" | "E" => format!("an exponent has digits: `{number}e-3`"),
            _ if number == "0" => "besides decimals there are hexadecimals, such as `0xff`".into(),
            _ => format!("to multiply write `{number} * {suffix}`; a name begins with a letter"),
        };
        let multiplied = format!(" * {suffix}");
        let meant = match suffix.as_str() {
            "f" | "f32" | "h" if number.ends_with('.') => Some("0"),
            "f" | "f32" | "h" if !float => Some(".0"),
            "f" | "f32" | "h" | "i" | "i32" => Some(""),
            "u32" if !float => Some("u"),
            "u" | "e" | "E" => None,
            _ if number == "0" => None,
            _ => Some(multiplied.as_str()),
        };
        let report = Diagnostic::new(format!("`{suffix}` is not a suffix of a number"))
            .at(place, "directly after the number")
            .help(help);
        match meant {
            Some(meant) => report.replace(place, meant),
            None => report,
        }
    }

    /// A hexadecimal number without digits, or with a letter after `f`.
    ///
    /// ```text
    /// let mask = 0xfg
    /// ```
    ///
    /// After `0x` stand the digits 0–9 and a–f, and `u` at the end makes a `u32`: `0xffu`.
    E0011 malformed_hexadecimal(text: &str, span: Span) {
        let text: String = text.chars().take(40).collect();
        Diagnostic::new(format!("`{text}` is not a hexadecimal number"))
            .at(span, "after `0x` stand the digits 0–9 and a–f")
    }

    /// A decimal integer that starts with `0`.
    ///
    /// Some languages read `010` as eight, others as ten.
    ///
    /// ```text
    /// let x = 010
    /// ```
    ///
    /// Write `10`, or `0x8` for a hexadecimal.
    E0012 leading_zero(text: &str, span: Span) {
        let digits = text.trim_end_matches('u').trim_start_matches(['0', '_']);
        let digits: String = digits.chars().take(40).collect();
        let digits = if digits.is_empty() { "0".to_owned() } else { digits };
        Diagnostic::new("a decimal integer does not start with 0")
            .at(span, "octal or decimal?")
            .help(format!("write `{digits}`"))
            .replace(span, format!("{digits}{}", if text.ends_with('u') { "u" } else { "" }))
    }

    /// An integer that no type of the language holds.
    ///
    /// The largest `u32` is 4294967295, the largest `i32` 2147483647.
    ///
    /// ```text
    /// let x = 99999999999999999999
    /// ```
    ///
    /// Write a float, such as `1e20`, if the value need not be exact.
    E0013 integer_too_large(span: Span) {
        Diagnostic::new("this integer is too large")
            .at(span, "does not fit 64 bits, and no type has more than 32")
            .help("write it as a float, such as `1e20`, if it need not be exact")
    }

    /// A float that is larger than any number.
    ///
    /// The largest `f32` is about 3.4e38.
    ///
    /// ```text
    /// let x = 1e999
    /// ```
    ///
    /// Write a smaller value; as a stand-in for infinity `3.4e38` serves.
    E0014 float_too_large(span: Span) {
        Diagnostic::new("this number is too large")
            .at(span, "the largest `f32` is about 3.4e38")
    }

    /// A file that is not text.
    ///
    /// A NUL byte never stands in a text; the file may be a binary, or in an encoding such as UTF-16.
    ///
    /// Save the model as plain text in UTF-8.
    E0020 not_text(span: Span) {
        Diagnostic::new("this file is not plain text")
            .at(span, "a byte that no text has")
            .help("save the model as plain text in UTF-8")
    }
}
