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
        let found = short(found);
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

    /// `if` values in the conditions of `if` values, too many of them.
    ///
    /// ```text
    /// let x = if if if a { b } else { c } { d } else { e } { f } else { g }
    /// ```
    ///
    /// Give the conditions names with `let`.
    E0110 nested_if_values(limit: usize, span: Span) {
        Diagnostic::new(format!("`if` values are nested more than {limit} deep"))
            .at(span, "this one is too deep")
            .help("give the conditions names with `let`")
    }

    /// An operator spelt as a word.
    ///
    /// ```text
    /// if age > 3 and alive { stop }
    /// ```
    ///
    /// Write `&&` for and, `||` for or, `!` for not, `^` for exclusive or, `%` for the remainder.
    E0111 word_operator(word: &str, meant: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is no operator"))
            .at(span, format!("write `{meant}`"))
            .help(format!("the operator is `{meant}`"))
    }

    /// `++` or `--`, which the language does not have.
    ///
    /// ```text
    /// i++
    /// ```
    ///
    /// Write `i += 1`. For a double negation write `-(-x)`.
    E0112 increment(sign: &str, span: Span) {
        Diagnostic::new(format!("there is no operator `{sign}{sign}`"))
            .at(span, "not an operator")
            .help(format!("to change a variable by one write `x {sign}= 1`"))
    }

    /// The conditional operator of C.
    ///
    /// ```text
    /// let x = c ? a : b
    /// ```
    ///
    /// Write `if c { a } else { b }`, which is a value.
    E0113 ternary(span: Span) {
        Diagnostic::new("there is no operator `?`")
            .at(span, "not an operator")
            .help("write `if c { a } else { b }`, which is a value")
    }

    /// An assignment with an operator that has none.
    ///
    /// ```text
    /// x **= 2
    /// ```
    ///
    /// Write `x = x ** 2`. There are `+=`, `-=`, `*=`, `/=` and `%=`.
    E0114 no_such_assignment(op: &str, span: Span) {
        Diagnostic::new(format!("there is no assignment `{op}=`"))
            .at(span, "not an operator")
            .help(format!("write `x = x {op} …`"))
    }

    /// An operator as another language spells it.
    ///
    /// ```text
    /// if age === 3 { stop }
    /// ```
    ///
    /// The help line says the spelling of this one: here `==`.
    E0115 operator_spelling(written: &str, meant: &str, span: Span) {
        Diagnostic::new(format!("`{written}` is spelt `{meant}` here"))
            .at(span, format!("write `{meant}`"))
            .help(format!("write `{meant}`"))
    }

    /// A range that would include its end.
    ///
    /// ```text
    /// for i in 0..=9 { total += x[i] }
    /// ```
    ///
    /// Ranges end before their second value: write `0..10`.
    E0116 inclusive_range(span: Span) {
        Diagnostic::new("a range ends before its second value")
            .at(span, "there is no range with its end included")
            .help("write `a..b + 1` for the numbers from `a` to `b`")
    }

    /// Something at the top level that is no declaration.
    ///
    /// A file is a row of declarations: `agents steps const param data input state output fn struct enum`,
    /// and the blocks `init`, `step` and `finish`.
    ///
    /// ```text
    /// def double(x: f32) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `fn double(x: f32) -> f32 { … }`.
    E0117 not_a_declaration(found: &str, meant: Option<&str>, span: Span) {
        let found = short(found);
        let diagnostic = Diagnostic::new(format!("expected a declaration, found {found}"))
            .at(span, "no declaration begins with this");
        match meant {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(
                "a file is a row of `agents`, `steps`, `const`, `param`, `data`, `input`, `state`, \
                 `output`, `fn`, `struct`, `enum`, `init`, `step` and `finish`",
            ),
        }
    }

    /// A statement at the top level.
    ///
    /// ```text
    /// price *= 1.01
    /// ```
    ///
    /// Statements stand in `init`, `step`, `finish` or `fn`: `step { price *= 1.01 }`.
    E0118 statement_outside_block(found: &str, span: Span) {
        Diagnostic::new("a statement stands outside of every block")
            .at(span, format!("{} begins a statement", short(found)))
            .help("put it into `init { … }`, `step { … }`, `finish { … }` or a `fn`")
    }

    /// A declaration inside a block.
    ///
    /// ```text
    /// step {
    ///     const HALF = 0.5
    /// }
    /// ```
    ///
    /// Declarations stand at the top level of the file; inside a block `let` names a value.
    E0119 declaration_in_block(word: &str, span: Span) {
        let help = match word {
            "const" => "inside a block `let` names a value; a `const` stands at the top level",
            "state" => "inside a block `var` makes a variable; a `state` stands at the top level",
            _ => "move it out of the block, to the top level of the file",
        };
        Diagnostic::new(format!("`{word}` cannot be declared inside a block"))
            .at(span, "a declaration of the top level")
            .help(help)
    }

    /// A sign between `agents` or `steps` and the number.
    ///
    /// ```text
    /// agents = 10_000
    /// ```
    ///
    /// Write `agents 10_000`.
    E0120 count_with_sign(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` takes its number without a sign"))
            .at(span, "leave this out")
            .help(format!("write `{word} 1_000`"))
    }

    /// A parameter or a field without a type.
    ///
    /// ```text
    /// fn double(x) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `x: f32`.
    E0121 missing_type(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` has no type"))
            .at(span, "needs a type")
            .help(format!("write `{name}: f32`, or another type"))
    }

    /// A type before the name instead of after it.
    ///
    /// ```text
    /// fn double(float x) -> f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `x: f32`.
    E0122 type_before_name(ty: &str, name: &str, span: Span) {
        let ty = type_of_c(ty);
        Diagnostic::new("a type stands after the name")
            .at(span, "the other way round")
            .help(format!("write `{name}: {ty}`"))
    }

    /// A `data` declaration without a type.
    ///
    /// The type says how the file is read; only its outermost length may be open.
    ///
    /// ```text
    /// data signals
    /// ```
    ///
    /// Write `data signals: [[f32; 36]]`.
    E0123 data_without_type(name: &str, span: Span) {
        Diagnostic::new(format!("the data `{name}` has no type"))
            .at(span, "needs a type")
            .help(format!("write `data {name}: [f32]`, or `[[f32; 36]]` for 36 columns"))
    }

    /// A type with arguments between `<` and `>`.
    ///
    /// ```text
    /// let v: vec3<f32> = vec3(0.0, 0.0, 0.0)
    /// ```
    ///
    /// Vectors are `vec2`, `vec3` and `vec4`, of `f32`; arrays are written `[f32; 16]`.
    E0124 type_arguments(name: &str, span: Span) {
        let help = match name {
            "array" => "write an array type as `[f32; 16]`".to_owned(),
            "vec2" | "vec3" | "vec4" => format!("write `{name}`: its components are `f32`"),
            _ => "no type takes arguments; an array type is written `[f32; 16]`".to_owned(),
        };
        Diagnostic::new("a type takes no arguments")
            .at(span, "no `<` here")
            .help(help)
    }

    /// A comma in an array type.
    ///
    /// ```text
    /// state held: [f32, 16] = [0.0; 16]
    /// ```
    ///
    /// Write `[f32; 16]`.
    E0125 comma_in_array_type(span: Span) {
        Diagnostic::new("the length of an array type stands after a `;`")
            .at(span, "write `;`")
            .help("write `[f32; 16]`")
    }

    /// A function's result type without `->`.
    ///
    /// ```text
    /// fn double(x: f32): f32 { return 2.0 * x }
    /// ```
    ///
    /// Write `fn double(x: f32) -> f32`.
    E0126 missing_arrow(found: &str, span: Span) {
        Diagnostic::new(format!("expected `->` or `{{` after the parameters, found {}", short(found)))
            .at(span, "the type of the result stands after `->`")
            .help("write `fn name(x: f32) -> f32 { … }`")
    }

    /// A name that gets no value.
    ///
    /// ```text
    /// var total: f32
    /// ```
    ///
    /// Nothing is ever without a value: write `var total = 0.0`.
    E0127 missing_value(name: &str, span: Span) {
        Diagnostic::new(format!("`{name}` has no value"))
            .at(span, "needs `= …`")
            .help(format!("write `{name} = 0.0`, or another value"))
    }

    /// `let mut`, which is `var` here.
    ///
    /// ```text
    /// let mut total = 0.0
    /// ```
    ///
    /// Write `var total = 0.0`.
    E0128 let_mut(span: Span) {
        Diagnostic::new("a variable that changes is declared with `var`")
            .at(span, "write `var`")
            .help("write `var x = …`; `let` names a value that stays")
    }

    /// A word of the language where a name belongs.
    ///
    /// ```text
    /// let state = 3
    /// ```
    ///
    /// Choose another name.
    E0129 keyword_as_name(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is a word of the language and cannot be a name"))
            .at(span, "a name belongs here")
            .help(format!("choose another name, such as `{word}_`"))
    }

    /// Two things in a list without a comma between them.
    ///
    /// ```text
    /// let x = max(1.0 2.0)
    /// ```
    ///
    /// Write `max(1.0, 2.0)`.
    E0130 missing_comma(found: &str, span: Span, end: Span) {
        Diagnostic::new(format!("expected `,` before {}", short(found)))
            .at(span, "the next of the list")
            .at(end, "a `,` is missing here")
    }

    /// `elif` and its like, which are `else if` here.
    ///
    /// ```text
    /// if a { x = 1 } elif b { x = 2 }
    /// ```
    ///
    /// Write `else if b`.
    E0131 else_if_word(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is written `else if`"))
            .at(span, "write `else if`")
            .help("write `else if`")
    }

    /// Two names in a row.
    ///
    /// ```text
    /// float x = 3.0
    /// ```
    ///
    /// Write `let x = 3.0`, or `var x = 3.0` for a variable that changes.
    E0132 two_names(first: &str, second: &str, first_span: Span, span: Span) {
        let known = type_of_c(first);
        let help = if known == first && !matches!(first, "f32" | "i32" | "u32" | "bool" | "vec2" | "vec3" | "vec4" | "auto") {
            format!("to declare a name write `let {second} = …`; to multiply write `{first} * {second}`")
        } else {
            format!("write `let {second} = …`, or `var {second} = …` for a variable that changes")
        };
        Diagnostic::new(format!("expected `=` or an operator after `{first}`, found `{second}`"))
            .at(span, "does not continue the statement")
            .at(first_span, "a statement begins here")
            .help(help)
    }

    /// An `else` that follows no `if`.
    ///
    /// ```text
    /// for i in 0..3 { } else { stop }
    /// ```
    ///
    /// An `else` stands right after the block of an `if`.
    E0133 else_without_if(span: Span) {
        Diagnostic::new("this `else` follows no `if`")
            .at(span, "no `if` before it")
    }

    /// Parentheses after something that is no name.
    ///
    /// ```text
    /// x = table[0](y)
    /// ```
    ///
    /// Only a name can be called. To multiply write `*`.
    E0134 call_of_value(span: Span) {
        Diagnostic::new("only a name can be called")
            .at(span, "this calls no function")
            .help("to multiply write `*`; values are no functions")
    }

    /// An `=` where a statement should begin.
    ///
    /// ```text
    /// a = b = 0.0
    /// ```
    ///
    /// An assignment is no value; write two: `a = 0.0` and `b = 0.0`. If the line before ends with an
    /// operator or an `=`, its value is missing.
    E0135 chained_assignment(span: Span) {
        Diagnostic::new("an assignment is no value")
            .at(span, "what stands before this is already a statement")
            .help("write one statement for each; if the line before is unfinished, finish it")
    }

    /// A `for` loop with parentheses, as in C.
    ///
    /// ```text
    /// for (int i = 0; i < 10; i++) { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10 { … }`.
    E0136 for_with_parentheses(span: Span) {
        Diagnostic::new("a `for` loop runs over a range")
            .at(span, "no parentheses here")
            .help("write `for i in 0..10 { … }`; for other loops `while c limit 100 { … }`")
    }

    /// A `for` loop without `in`.
    ///
    /// ```text
    /// for i = 0..10 { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10 { … }`.
    E0137 for_without_in(name: &str, span: Span) {
        Diagnostic::new("a `for` loop needs `in` after its index")
            .at(span, "write `in`")
            .help(format!("write `for {name} in 0..10 {{ … }}`"))
    }

    /// A `for` over something that is no range.
    ///
    /// ```text
    /// for i in range(10) { total += x[i] }
    /// ```
    ///
    /// Write `for i in 0..10`; to visit an array, run over its indices.
    E0138 for_without_range(span: Span) {
        Diagnostic::new("a `for` runs over a range `a..b`")
            .at(span, "not a range")
            .help("write `0..n`; to visit an array, run over its indices")
    }

    /// An assignment where a condition belongs.
    ///
    /// ```text
    /// if age = 3 { stop }
    /// ```
    ///
    /// Write `==` to compare.
    E0139 assignment_in_condition(word: &str, span: Span) {
        Diagnostic::new(format!("an assignment in the condition of `{word}`"))
            .at(span, "assigns, and is no value")
            .help("write `==` to compare")
    }

    /// A block without braces.
    ///
    /// ```text
    /// if age > 3 stop
    /// ```
    ///
    /// Write `if age > 3 { stop }`.
    E0140 missing_braces(word: &str, word_span: Span, found: &str, span: Span) {
        Diagnostic::new(format!("expected `{{` after this `{word}`, found {}", short(found)))
            .at(span, "a `{` is missing before this")
            .at(word_span, format!("this `{word}` needs a block"))
            .help("put braces around the block: `{ … }`")
    }

    /// An arm of a `match` without `=>`.
    ///
    /// ```text
    /// match health { Infected: days += 1, _ => {} }
    /// ```
    ///
    /// Write `Infected => days += 1`.
    E0141 arm_without_arrow(found: &str, span: Span) {
        Diagnostic::new(format!("an arm of a `match` has `=>`, not {}", short(found)))
            .at(span, "write `=>`")
            .help("write `Pattern => statement,` or `Pattern => { … }`")
    }

    /// An `if` value without `else`.
    ///
    /// ```text
    /// let fee = if big { 0.1 }
    /// ```
    ///
    /// A value is needed either way: `if big { 0.1 } else { 0.0 }`.
    E0142 if_value_without_else(span: Span) {
        Diagnostic::new("an `if` value needs an `else`")
            .at(span, "expected `else` before this")
            .help("write `if c { a } else { b }`")
    }

    /// A `for` where a value belongs.
    ///
    /// ```text
    /// let squares = for i in 0..4: i * i
    /// ```
    ///
    /// Put it between brackets for an array, `[for i in 0..4: i * i]`, or into a fold, `sum(for …)`.
    E0143 for_as_value(span: Span) {
        Diagnostic::new("a `for` is a value only between brackets")
            .at(span, "not a value by itself")
            .help("write `[for i in 0..n: e]` for an array or `sum(for i in 0..n: e)` for a sum")
    }

    /// A statement where a value belongs.
    ///
    /// ```text
    /// let days = match health { Infected => 7, _ => 0 }
    /// ```
    ///
    /// Only `if` is also a value. Declare a `var` and assign to it in the arms.
    E0144 statement_as_value(word: &str, span: Span) {
        Diagnostic::new(format!("`{word}` is a statement and has no value"))
            .at(span, "a value belongs here")
            .help("`if c { a } else { b }` is a value, with one expression in each branch; otherwise assign to a `var`")
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

    /// More mistakes than anyone reads at once.
    ///
    /// Only the first are told. A file with so many mistakes may not be a model at all.
    E0199 too_many_mistakes(limit: usize, span: Span) {
        Diagnostic::new(format!("more than {limit} mistakes: the others are not listed"))
            .at(span, "and more from here on")
    }
}

/// A piece of source in quotes, short enough for a line.
fn short(text: &str) -> String {
    const MOST: usize = 40;
    match text.char_indices().nth(MOST) {
        _ if text.is_empty() => "the end of the file".to_owned(),
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

/// The type that another language calls so; the name itself if it is none of these.
fn type_of_c(name: &str) -> &str {
    match name {
        "float" | "double" | "real" | "f64" => "f32",
        "int" | "long" | "short" => "i32",
        "uint" | "unsigned" | "size_t" | "usize" => "u32",
        "boolean" => "bool",
        other => other,
    }
}
