//! Changes of tokens and lines. The splitter knows words, numbers and operators, and keeps white space and
//! comments as tokens of their own, so that a text is the concatenation of its tokens.

use crate::dice::Dice;

/// What a token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// White space or a comment.
    Gap,
    /// A name or a word of the language.
    Word,
    /// A number.
    Number,
    /// An operator between two values.
    Infix,
    /// Anything else.
    Mark,
}

/// Operators of several characters, longest first.
const LONG: [&str; 23] = [
    "<<=", ">>=", "..", "=>", "->", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "**", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "::",
];

/// The tokens of a text.
pub fn split(text: &str) -> Vec<(Look, &str)> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let run = |test: fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let (look, length) = if rest.starts_with("//") {
            (Look::Gap, rest.find('\n').unwrap_or(rest.len()))
        } else if first.is_whitespace() {
            (Look::Gap, run(char::is_whitespace))
        } else if first.is_ascii_digit() {
            (Look::Number, number_length(rest))
        } else if first == '"' {
            let end = rest[1..].find(['"', '\n']).map(|end| end + 1);
            let closed = end.map(|end| end + usize::from(rest.as_bytes()[end] == b'"'));
            (Look::Mark, closed.unwrap_or(rest.len()))
        } else if first.is_alphanumeric() || first == '_' {
            (Look::Word, run(|c| c.is_alphanumeric() || c == '_'))
        } else if let Some(long) = LONG.iter().find(|long| rest.starts_with(**long)) {
            let infix = !matches!(*long, ".." | "=>" | "->" | "::") && !is_assignment(long);
            (if infix { Look::Infix } else { Look::Mark }, long.len())
        } else {
            let infix = "+-*/%<>&|^".contains(first);
            (
                if infix { Look::Infix } else { Look::Mark },
                first.len_utf8(),
            )
        };
        tokens.push((look, &rest[..length]));
        rest = &rest[length..];
    }
    tokens
}

fn is_assignment(token: &str) -> bool {
    matches!(
        token,
        "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>="
    )
}

fn number_length(text: &str) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let whole = text.find(|c| !word(c)).unwrap_or(text.len());
    let rest = &text[whole..];
    if rest.starts_with('.') && rest[1..].starts_with(|c: char| c.is_ascii_digit()) {
        let fraction = rest[1..].find(|c| !word(c)).unwrap_or(rest.len() - 1);
        return whole + 1 + fraction;
    }
    whole
}

/// Numbers where something begins, ends or overflows.
pub const NUMBERS: [&str; 44] = [
    "0",
    "1",
    "2",
    "-1",
    "3",
    "7",
    "31",
    "32",
    "33",
    "63",
    "64",
    "65",
    "255",
    "256",
    "257",
    "4095",
    "4096",
    "4097",
    "65535",
    "65536",
    "65537",
    "1048576",
    "1048577",
    "16777215",
    "16777216",
    "16777217",
    "2147483646",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "0xffffffff",
    "0x80000000u",
    "4294967295u",
    "0u",
    "0.0",
    "1e-45",
    "1e38",
    "3.4028235e38",
    "1e39",
    "1e308",
    "1e309",
];

/// Words, operators and marks of the language.
pub const VOCABULARY: [&str; 178] = [
    "agents",
    "steps",
    "const",
    "param",
    "data",
    "input",
    "state",
    "output",
    "fn",
    "struct",
    "enum",
    "init",
    "step",
    "finish",
    "world",
    "observe",
    "record",
    "every",
    "test \"t\" {",
    "seed",
    "expect",
    "within",
    "se",
    "from",
    "sd",
    "quantiles",
    "histogram",
    "var(",
    "other",
    "near",
    "spawn",
    "die",
    "member",
    "number",
    "let",
    "var",
    "if",
    "else",
    "for",
    "in",
    "while",
    "limit",
    "match",
    "return",
    "break",
    "continue",
    "stop",
    "integrate",
    "assert",
    "\"a text\"",
    "\"\\q",
    "\"",
    "bitcast",
    "true",
    "false",
    "agent",
    "_",
    "f32",
    "i32",
    "u32",
    "bool",
    "vec2",
    "vec3",
    "vec4",
    "euler",
    "midpoint",
    "heun",
    "rk4",
    "sum",
    "product",
    "min",
    "max",
    "mean",
    "any",
    "all",
    "count",
    "argmin",
    "argmax",
    "len",
    "random",
    "uniform",
    "normal",
    "exponential",
    "bernoulli",
    "randint",
    "poisson",
    "categorical",
    "normal_from",
    "unit",
    "abs",
    "clamp",
    "floor",
    "fma",
    "fract",
    "ldexp",
    "mix",
    "round",
    "saturate",
    "select",
    "sign",
    "smoothstep",
    "exp",
    "log",
    "pow",
    "sqrt",
    "sin",
    "atan2",
    "tanh",
    "erf",
    "erfc",
    "normal_cdf",
    "normal_quantile",
    "gamma",
    "lgamma",
    "beta",
    "student_t",
    "binomial",
    "geometric",
    "PI",
    "INFINITY",
    "NAN",
    "cross",
    "distance",
    "dot",
    "length",
    "normalize",
    "reflect",
    "refract",
    "countOneBits",
    "extractBits",
    "insertBits",
    "mul_high",
    "reverseBits",
    "firstLeadingBit",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "<<",
    ">>",
    "!",
    "~",
    "=",
    "+=",
    "-=",
    "*=",
    "/=",
    "%=",
    "&=",
    "|=",
    "^=",
    "<<=",
    ">>=",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "..",
    "=>",
];

/// Places of the tokens that are no gaps.
pub fn solid(tokens: &[(Look, &str)]) -> Vec<usize> {
    (0..tokens.len())
        .filter(|&k| tokens[k].0 != Look::Gap)
        .collect()
}

/// A text of tokens.
pub fn join(tokens: &[(Look, &str)]) -> String {
    tokens.iter().map(|token| token.1).collect()
}

/// Changes a token of a text to another text.
pub fn exchange(
    dice: &mut Dice,
    text: &str,
    change: impl FnOnce(&mut Dice, &[(Look, &str)], usize) -> String,
) -> String {
    let tokens = split(text);
    let places = solid(&tokens);
    if places.is_empty() {
        return text.to_owned();
    }
    let place = *dice.pick(&places);
    let new = change(dice, &tokens, place);
    join(&tokens[..place]) + &new + &join(&tokens[place + 1..])
}

/// A token becomes another of the file that looks alike: names become names, operators operators.
pub fn alike(dice: &mut Dice, text: &str, _: &str) -> String {
    exchange(dice, text, |dice, tokens, place| {
        let look = tokens[place].0;
        if look == Look::Infix {
            let infix = [
                "+", "-", "*", "/", "%", "<", ">", "<=", ">=", "==", "!=", "&", "|", "^", "<<",
                ">>", "**", "&&", "||",
            ];
            return (*dice.pick(&infix)).to_owned();
        }
        let alike: Vec<&str> = tokens
            .iter()
            .filter(|token| token.0 == look)
            .map(|token| token.1)
            .collect();
        (*dice.pick(&alike)).to_owned()
    })
}

/// A number becomes one of [`NUMBERS`], or one of another value nearby.
pub fn number(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = split(text);
    let places: Vec<usize> = (0..tokens.len())
        .filter(|&k| tokens[k].0 == Look::Number)
        .collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let place = *dice.pick(&places);
    let new = match dice.below(4) {
        0 => dice.below(20).to_string(),
        1 => format!("{}.{}", dice.below(5), dice.below(100)),
        _ => (*dice.pick(&NUMBERS)).to_owned(),
    };
    join(&tokens[..place]) + &new + &join(&tokens[place + 1..])
}

/// An operator becomes another of the same operands and result.
pub fn operator(dice: &mut Dice, text: &str, _: &str) -> String {
    const ROWS: [&[&str]; 5] = [
        &["+", "-", "*", "/", "%"],
        &["<", "<=", ">", ">=", "==", "!="],
        &["&&", "||"],
        &["&", "|", "^", "<<", ">>"],
        &[
            "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "=",
        ],
    ];
    let tokens = split(text);
    let row = |token: &str| ROWS.iter().find(|row| row.contains(&token));
    let places: Vec<usize> = (0..tokens.len())
        .filter(|&k| row(tokens[k].1).is_some())
        .collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let place = *dice.pick(&places);
    let new = row(tokens[place].1).map_or("", |row| *dice.pick::<&str>(row));
    join(&tokens[..place]) + new + &join(&tokens[place + 1..])
}

/// An integer becomes an integer, a float a float.
pub fn number_alike(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = split(text);
    let places: Vec<usize> = (0..tokens.len())
        .filter(|&k| tokens[k].0 == Look::Number)
        .collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let place = *dice.pick(&places);
    let float = tokens[place].1.contains(['.', 'e']) && !tokens[place].1.starts_with("0x");
    let new = match (float, dice.chance(60)) {
        (true, true) => format!("{}.{}", dice.below(5), dice.below(100)),
        (false, true) => dice.below(20).to_string(),
        (float, false) => {
            let alike = |number: &&&str| number.contains(['.', 'e']) == float;
            let all: Vec<&&str> = NUMBERS.iter().filter(alike).collect();
            (**dice.pick(&all)).to_owned()
        }
    };
    join(&tokens[..place]) + &new + &join(&tokens[place + 1..])
}

/// Up to four tokens go.
pub fn delete(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = split(text);
    let from = dice.below(tokens.len());
    let to = (from + 1 + dice.below(4)).min(tokens.len());
    join(&tokens[..from]) + &join(&tokens[to..])
}

/// Up to twenty tokens stand twice.
pub fn double(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = split(text);
    let from = dice.below(tokens.len());
    let to = (from + 1 + dice.below(20)).min(tokens.len());
    join(&tokens[..to]) + " " + &join(&tokens[from..])
}

/// Two tokens change places.
pub fn swap(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut tokens = split(text);
    let places = solid(&tokens);
    if places.len() < 2 {
        return text.to_owned();
    }
    let near = dice.below(places.len());
    let far = if dice.chance(50) {
        (near + 1 + dice.below(4)).min(places.len() - 1)
    } else {
        dice.below(places.len())
    };
    tokens.swap(places[near], places[far]);
    join(&tokens)
}

/// A token becomes another of the file.
pub fn replace(dice: &mut Dice, text: &str, _: &str) -> String {
    exchange(dice, text, |dice, tokens, _| {
        let places = solid(tokens);
        tokens[*dice.pick(&places)].1.to_owned()
    })
}

/// A token becomes one of the language.
pub fn vocabulary(dice: &mut Dice, text: &str, _: &str) -> String {
    exchange(dice, text, |dice, _, _| {
        (*dice.pick(&VOCABULARY)).to_owned()
    })
}

/// A token of the language more.
pub fn insert(dice: &mut Dice, text: &str, _: &str) -> String {
    exchange(dice, text, |dice, tokens, place| {
        format!("{} {} ", tokens[place].1, dice.pick(&VOCABULARY))
    })
}

/// Some tokens of another file more.
pub fn transplant(dice: &mut Dice, text: &str, other: &str) -> String {
    let others = split(other);
    if others.is_empty() {
        return text.to_owned();
    }
    let from = dice.below(others.len());
    let to = (from + 1 + dice.below(12)).min(others.len());
    exchange(dice, text, |_, tokens, place| {
        format!("{} {} ", tokens[place].1, join(&others[from..to]))
    })
}

fn lines(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// A line goes.
pub fn delete_line(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut lines = lines(text);
    if !lines.is_empty() {
        lines.remove(dice.below(lines.len()));
    }
    lines.concat()
}

/// A line stands twice.
pub fn double_line(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut lines = lines(text);
    if !lines.is_empty() {
        let line = *dice.pick(&lines);
        lines.insert(dice.below(lines.len()), line);
    }
    lines.concat()
}

/// A line stands elsewhere.
pub fn move_line(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut lines = lines(text);
    if !lines.is_empty() {
        let line = lines.remove(dice.below(lines.len()));
        lines.insert(dice.below(lines.len() + 1), line);
    }
    lines.concat()
}

/// Some lines of another file more.
pub fn splice(dice: &mut Dice, text: &str, other: &str) -> String {
    let mut own = lines(text);
    let others = lines(other);
    if others.is_empty() {
        return text.to_owned();
    }
    let from = dice.below(others.len());
    let to = (from + 1 + dice.below(8)).min(others.len());
    let place = dice.below(own.len() + 1);
    own.splice(place..place, others[from..to].iter().copied());
    own.concat()
}
