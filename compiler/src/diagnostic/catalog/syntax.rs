//! Complaints about the text itself: characters, tokens, grammar (E0001–E0199).

use super::catalog;
use crate::{diagnostic::Diagnostic, span::Span, syntax::Token};

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
            .at(span, "not plain text")
            .help(format!("type {quoted} here"))
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
            .help("spell it with the letters a–z; `SCREAMING_CASE`, `snake_case` and digits are fine")
    }

    /// A text between quotation marks.
    ///
    /// The language has numbers, booleans, vectors, arrays, structs and enums, but no text.
    ///
    /// ```text
    /// let name = "fast"
    /// ```
    ///
    /// To choose between cases, declare an enum: `enum Mode { Fast, Slow }`.
    E0004 string_literal(span: Span) {
        Diagnostic::new("there are no strings in the language")
            .at(span, "a text has no type here")
            .help("to name a case, declare an enum: `enum Mode { Fast, Slow }`")
    }

    /// A comment that starts with `#`.
    ///
    /// ```text
    /// # the risk-free rate
    /// ```
    ///
    /// Comments start with `//`; `///` documents the next declaration and `//!` the file.
    E0005 hash_comment(span: Span) {
        Diagnostic::new("`#` starts no comment")
            .at(span, "not a comment")
            .help("write `//`")
    }

    /// A comment between `/*` and `*/`.
    ///
    /// ```text
    /// /* the risk-free rate */
    /// ```
    ///
    /// Comments start with `//` and end with the line.
    E0006 block_comment(span: Span, closed: bool) {
        let what = if closed { "not a comment" } else { "not a comment, and nothing ends it" };
        Diagnostic::new("`/*` starts no comment")
            .at(span, what)
            .help("write `//` before each line of the comment")
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
            "f" | "f32" | "h" if float => format!("`f32` is the only float type: write `{number}`"),
            "f" | "f32" | "h" => format!("`f32` is the only float type: write `{number}.0`"),
            "i" | "i32" => format!("an integer takes the type that is needed: write `{number}`"),
            "u" | "u32" if !float => format!("write `{number}u`"),
            "u" | "u32" => "a `u32` has no fraction: leave out the fraction or the suffix".into(),
            _ if number == "0" => "besides decimals there are hexadecimals, such as `0xff`".into(),
            _ => "put an operator between the number and the name, or begin the name with a letter".into(),
        };
        Diagnostic::new(format!("`{suffix}` is no suffix of a number"))
            .at(place, "touches the number")
            .help(help)
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
        Diagnostic::new(format!("`{text}` is no hexadecimal number"))
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

    /// A token that does not fit where it stands.
    ///
    /// The message says what could stand there instead.
    ///
    /// ```text
    /// let x = max(1.0 2.0)
    /// ```
    ///
    /// Here a comma is missing: `max(1.0, 2.0)`.
    E0100 unexpected_token(expected: &str, found: &str, span: Span) {
        let found: String = found.chars().take(40).collect();
        let found = if found.is_empty() { "the end of the file".to_owned() } else { format!("`{found}`") };
        Diagnostic::new(format!("expected {expected}, found {found}"))
            .at(span, format!("expected {expected}"))
    }

    /// A bracket that nothing closes.
    ///
    /// ```text
    /// step {
    ///     price *= exp(drift
    /// }
    /// ```
    ///
    /// Write the closing bracket: `exp(drift)`.
    E0101 unclosed_bracket(open: Token, span: Span, found: Option<Span>, suspect: Option<Span>) {
        let close = open.closer().and_then(Token::text).unwrap_or_default();
        let mut diagnostic = Diagnostic::new(format!("this `{open}` is never closed"))
            .at(span, format!("needs a `{close}`"));
        if let Some(suspect) = suspect {
            diagnostic = diagnostic.at(suspect, "this `}` closes another `{` than its indentation says");
        }
        if let Some(found) = found {
            diagnostic = diagnostic.at(found, format!("the `{close}` is missing before this"));
        }
        diagnostic
    }

    /// A closing bracket that nothing opens.
    ///
    /// ```text
    /// let x = (a + b))
    /// ```
    ///
    /// Take it out, or write the opening bracket.
    E0102 stray_bracket(token: Token, span: Span) {
        Diagnostic::new(format!("this `{token}` closes nothing"))
            .at(span, "no bracket is open here that it could close")
    }

    /// A closing bracket of another kind than the open one.
    ///
    /// ```text
    /// let x = max(a, b]
    /// ```
    ///
    /// Write the one that fits: `max(a, b)`.
    E0103 mismatched_bracket(found: Token, meant: Token, span: Span, open: Span) {
        Diagnostic::new(format!("`{found}` where `{meant}` belongs"))
            .at(span, format!("write `{meant}`"))
            .at(open, "this bracket is open")
    }

    /// Brackets within brackets, too many of them.
    ///
    /// ```text
    /// let x = ((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1)))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))
    /// ```
    ///
    /// Give the inner part a name with `let`, or put it in a `fn`.
    E0104 nesting_too_deep(limit: usize, span: Span) {
        Diagnostic::new(format!("brackets are nested more than {limit} deep"))
            .at(span, "this one is too deep")
            .help("give the inner part a name with `let`, or put it in a `fn`")
    }

    /// An expression with too many operators in a row or within each other.
    ///
    /// ```text
    /// let x = a + a + a + … + a
    /// ```
    ///
    /// Give parts of it names with `let`, or write a fold: `sum(for i in 0..1000: a)`.
    E0105 expression_too_deep(limit: u32, span: Span) {
        Diagnostic::new(format!("this expression is more than {limit} operations deep"))
            .at(span, "too long a chain")
            .help("give parts of it names with `let`, or write a fold such as `sum(for i in 0..n: x[i])`")
    }

    /// Two comparisons in a row.
    ///
    /// In mathematics `a < b < c` compares both; here it would compare a truth value with `c`.
    ///
    /// ```text
    /// if 0.0 < x < 1.0 { hits += 1 }
    /// ```
    ///
    /// Write `0.0 < x && x < 1.0`.
    E0106 chained_comparison(first: Span, second: Span) {
        Diagnostic::new("comparisons cannot be chained")
            .at(second, "compares the result of a comparison")
            .at(first, "the first comparison")
            .help("join two comparisons with `&&`: `a < b && b < c`")
    }

    /// A `'` that is not part of an equation.
    ///
    /// The prime means the derivative by time; it stands after the name of a state, at the start of an
    /// equation in an `integrate` block.
    ///
    /// ```text
    /// pos.x' = vel.x
    /// ```
    ///
    /// Write an equation for the state as a whole: `pos' = vel`.
    E0107 misplaced_prime(span: Span) {
        Diagnostic::new("a `'` stands only after the name of a state, at the start of an equation")
            .at(span, "not an equation")
            .help("write `x' = …` inside `integrate`, with `x` the name of a state")
    }

    /// A declaration that this version of the language does not have.
    ///
    /// `world`, `observe`, `record`, `other` and `every` are kept for agents that see each other and for
    /// values recorded while a model runs.
    ///
    /// ```text
    /// observe infected = mean(health)
    /// ```
    ///
    /// Use an `output` for a value after the last step; choose another word for a name.
    E0108 reserved_word(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is not in this version of the language"))
            .at(span, "a reserved word")
    }

    /// An input that has both a default and a distribution.
    ///
    /// ```text
    /// input s0: f32 = 100.0 ~ normal(100.0, 5.0)
    /// ```
    ///
    /// Keep one: `= e` gives every agent the same value, `~ d` draws one per agent.
    E0109 two_input_sources(default: Span, drawn: Span) {
        Diagnostic::new("an input has a default or a distribution, not both")
            .at(drawn, "a distribution")
            .at(default, "a default")
            .help("keep `= …` for the same value everywhere, or `~ …` for a draw per agent")
    }

    /// More mistakes than anyone reads at once.
    ///
    /// Only the first are told. A file with so many mistakes may not be a model at all.
    E0199 too_many_mistakes(limit: usize, span: Span) {
        Diagnostic::new(format!("more than {limit} mistakes: the others are not listed"))
            .at(span, "and more from here on")
    }
}
