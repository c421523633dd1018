//! Changes that put something around or instead of something: expressions and statements of the
//! language, deep nesting, long repetitions, long names.

use super::tokens::{self, Look};
use crate::dice::Dice;

/// Values in terms of another one, `$`, and of constants.
const EXPRESSIONS: [&str; 40] = [
    "($ + 1)",
    "($ * 0)",
    "($ / 0)",
    "($ % 0)",
    "($ - $)",
    "(-$)",
    "(!$)",
    "(~$)",
    "($ ** 2)",
    "(2 ** $)",
    "($ << 33)",
    "f32($)",
    "i32($)",
    "u32($)",
    "bool($)",
    "bitcast<f32>($)",
    "bitcast<i32>($)",
    "vec2($, $)",
    "vec3($)",
    "$.x",
    "$.yx",
    "[$]",
    "[$; 3]",
    "[$; 65536]",
    "[$, $]",
    "[for i in 0..3: $]",
    "sum(for i in 0..$: $)",
    "max(for i in 0..4 if i > 9: $)",
    "argmax(for i in 0..4: $)",
    "count(for i in 0..4 if $: 1)",
    "(if $ > 0 { $ } else { 0 })",
    "min($, $)",
    "select($, $, true)",
    "clamp($, 0, 1)",
    "sqrt($)",
    "len($)",
    "$[0]",
    "$[agent]",
    "poisson($)",
    "normal($, 1.0)",
];

/// Statements in terms of a name.
const STATEMENTS: [&str; 20] = [
    "$ += 1",
    "$ = $ - $",
    "$ *= 2.0",
    "let $ = 1",
    "var $ = [0.5; 4]",
    "stop",
    "break",
    "continue",
    "return $",
    "if $ > 0 { stop }",
    "for i in 0..3 { $ += 1 }",
    "for i in 0..$ { if i > 2 { break } }",
    "while $ < 10 limit 100 { $ += 1 }",
    "while true limit 2000000000 { $ += 1 }",
    "match $ { 0 => {} _ => $ = 1 }",
    "match $ { true | false => stop }",
    "{ var q = $  q += 1 }",
    "integrate rk4(0.1) { $' = -$ }",
    "integrate euler(0.1) { let q = $  $' = q }",
    "for i in 0..2147483647 { $ += 1 }",
];

fn fill(dice: &mut Dice, pattern: &str, values: &[&str]) -> String {
    let mut filled = String::new();
    for (k, piece) in pattern.split('$').enumerate() {
        if k > 0 {
            filled += *dice.pick::<&str>(values);
        }
        filled += piece;
    }
    filled
}

fn values<'a>(tokens: &[(Look, &'a str)]) -> Vec<&'a str> {
    let mut values: Vec<&str> = tokens
        .iter()
        .filter(|token| matches!(token.0, Look::Word | Look::Number))
        .map(|token| token.1)
        .collect();
    if values.is_empty() {
        values.push("0");
    }
    values
}

/// A name or number becomes an expression of it and others.
pub fn expression(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = tokens::split(text);
    let places: Vec<usize> = (0..tokens.len())
        .filter(|&k| matches!(tokens[k].0, Look::Word | Look::Number))
        .collect();
    if places.is_empty() {
        return text.to_owned();
    }
    let place = *dice.pick(&places);
    let pattern = *dice.pick(&EXPRESSIONS);
    let others = values(&tokens);
    let new = match dice.chance(70) {
        true => pattern.replace('$', tokens[place].1),
        false => fill(dice, pattern, &others),
    };
    tokens::join(&tokens[..place]) + &new + &tokens::join(&tokens[place + 1..])
}

/// A statement with names of the file after a line.
pub fn statement(dice: &mut Dice, text: &str, _: &str) -> String {
    let tokens = tokens::split(text);
    let names: Vec<&str> = tokens
        .iter()
        .filter(|token| token.0 == Look::Word)
        .map(|token| token.1)
        .collect();
    if names.is_empty() {
        return text.to_owned();
    }
    let name = *dice.pick(&names);
    let new = dice.pick(&STATEMENTS).replace('$', name);
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let new = format!("    {new}\n");
    lines.insert(dice.below(lines.len() + 1), &new);
    lines.concat()
}

/// Some lines go into a block.
pub fn block(dice: &mut Dice, text: &str, _: &str) -> String {
    let heads = [
        "if agent > 1 {",
        "for i in 0..3 {",
        "while agent > 1 limit 4 {",
        "{",
        "init {",
        "step {",
        "step t {",
        "finish {",
        "integrate heun(0.5) {",
        "match agent { 0 => {} _ => {",
    ];
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let head = *dice.pick(&heads);
    let from = dice.below(lines.len() + 1);
    let to = (from + 1 + dice.below(4)).min(lines.len()).max(from);
    let close = "}".repeat(head.matches('{').count() - head.matches('}').count());
    let (head, close) = (format!("{head}\n"), format!("{close}\n"));
    lines.insert(to, &close);
    lines.insert(from, &head);
    lines.concat()
}

const COUNTS: [usize; 10] = [10, 60, 64, 65, 250, 257, 1000, 4000, 10_000, 50_000];

/// A value goes into many brackets, calls, operators or branches.
pub fn deep(dice: &mut Dice, text: &str, _: &str) -> String {
    let forms = [
        ("(", ")"),
        ("[", "]"),
        ("-", ""),
        ("!", ""),
        ("abs(", ")"),
        ("f32(", ")"),
        ("if true { ", " } else { 0 }"),
        ("1 + ", ""),
        ("2 ** ", ""),
        ("", " + 1"),
        ("", ".x"),
        ("", "[0]"),
        ("{", "}"),
        ("sum(for i in 0..2: ", ")"),
        ("[for i in 0..2: ", "]"),
        ("min(1, ", ")"),
    ];
    let (open, close) = *dice.pick(&forms);
    let count = *dice.pick(&COUNTS);
    tokens::exchange(dice, text, |_, tokens, place| {
        format!(
            "{}{}{}",
            open.repeat(count),
            tokens[place].1,
            close.repeat(count)
        )
    })
}

/// A token stands many times.
pub fn repeat_token(dice: &mut Dice, text: &str, _: &str) -> String {
    let count = *dice.pick(&[100, 1000, 10_000]);
    let between = *dice.pick(&["", " ", ", ", " + "]);
    tokens::exchange(dice, text, |_, tokens, place| {
        format!("{}{between}", tokens[place].1).repeat(count) + tokens[place].1
    })
}

/// A line stands many times; `#` in its names becomes a number in half of the mutants.
pub fn repeat_line(dice: &mut Dice, text: &str, _: &str) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let place = dice.below(lines.len());
    let count = *dice.pick(&[30, 300, 3000]);
    let numbered = dice.chance(50);
    let tokens = tokens::split(lines[place]);
    // The second word is what a declaration declares.
    let name = tokens
        .iter()
        .filter(|token| token.0 == Look::Word)
        .nth(1)
        .map(|token| token.1);
    let mut repeated = String::new();
    for k in 0..count {
        match name {
            Some(name) if numbered => {
                repeated += &lines[place].replacen(name, &format!("{name}_{k}"), 1);
            }
            _ => repeated += lines[place],
        }
    }
    lines[..=place].concat() + &repeated + &lines[place + 1..].concat()
}

/// A name becomes longer wherever it stands.
pub fn lengthen(dice: &mut Dice, text: &str, _: &str) -> String {
    let mut tokens = tokens::split(text);
    let names: Vec<&str> = tokens
        .iter()
        .filter(|token| token.0 == Look::Word)
        .map(|token| token.1)
        .collect();
    if names.is_empty() {
        return text.to_owned();
    }
    let name = *dice.pick(&names);
    let long = name.to_owned() + &"x".repeat(*dice.pick(&[100, 1000, 20_000, 70_000]));
    for token in &mut tokens {
        if token.1 == name {
            token.1 = &long;
        }
    }
    tokens::join(&tokens)
}
