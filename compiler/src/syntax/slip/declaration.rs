//! Slips in declarations, their types and parameters.

use super::Scene;
use crate::{
    builtin::sampled::FoldOfAgents,
    diagnostic::{Diagnostic, catalog::syntax as say},
    syntax::{
        parse::{DECLARATIONS, STATEMENT, stmt::ASSIGNMENTS},
        token::{Token, TokenSet},
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.expected.covers(DECLARATIONS) {
        return Some(behind_series(scene).unwrap_or_else(|| top_level(scene)));
    }
    counted_steps(scene)
        .or_else(|| count(scene))
        .or_else(|| missing_type(scene))
        .or_else(|| type_arguments(scene))
        .or_else(|| array_type(scene))
        .or_else(|| arrow(scene))
        .or_else(|| missing_value(scene))
}

/// What stands at the top level and declares nothing.
fn top_level(scene: &Scene<'_>) -> Diagnostic {
    let text = scene.text(0);
    let place = scene.place(0);
    let word = scene.token(0) == Some(Token::Ident);
    let next = |kinds: TokenSet| scene.token(1).is_some_and(|token| kinds.has(token));
    let assigned = word && next(ASSIGNMENTS.or(TokenSet::of(&[Token::Dot, Token::LeftBracket])));
    let statement = scene.token(0).is_some_and(|token| {
        STATEMENT.has(token) && !word && !matches!(token, Token::Let | Token::Var)
    });
    if assigned || statement || scene.is(0, &[Token::Else]) {
        return say::statement_outside_block(text, place);
    }
    let meant = match text {
        "def" | "func" | "function" | "fun" | "void" | "proc" => Some("fn"),
        "let" | "final" | "static" | "define" => Some("const"),
        "var" | "mut" => Some("state"),
        "class" | "type" | "record_type" => Some("struct"),
        "parameter" | "uniform" => Some("param"),
        "int" | "float" | "double" | "f32" | "i32" | "u32" | "bool" | "auto" => Some("const"),
        "main" | "update" | "loop" | "tick" => Some("step"),
        "setup" | "start" => Some("init"),
        "result" | "return" => Some("output"),
        _ if word => nearest(text),
        _ => None,
    };
    say::not_a_declaration(text, meant, place)
}

/// `record x each 10`, `record x, 10`, `record x, y`, `observe mean(x)`, `observe m = mean x`
fn behind_series(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.first(0) {
        return None;
    }
    let (word, at) = series(scene)?;
    let number = |offset| {
        scene.is(offset, &[Token::Int, Token::LeftParen]) || {
            let next = scene.is(offset, &[Token::Ident]);
            next && !scene.first(offset)
        }
    };
    let before = scene.text(-1);
    let callable = scene.is(-1, &[Token::Ident]) && FoldOfAgents::of(before).is_some();
    let (help, every) = match scene.token(0)? {
        Token::LeftParen if at == -2 => {
            (format!("give it a name: `{word} m = {before}(…)`"), false)
        }
        Token::Int if before == "every" => (
            format!("name what is sampled: `{word} x every {}`", scene.text(0)),
            false,
        ),
        Token::Ident if callable => (
            format!("write the call: `{before}({})`", scene.text(0)),
            false,
        ),
        Token::Comma if scene.is(1, &[Token::Ident]) => {
            (format!("write one `{word}` for each value"), false)
        }
        Token::Comma if number(1) => (format!("write `every {}`", scene.text(1)), false),
        Token::Ident if number(1) => (format!("write `every {}`", scene.text(1)), true),
        _ => (
            "write `every` and the steps between two samples, or nothing".to_owned(),
            false,
        ),
    };
    Some(say::after_series(
        word,
        scene.text(0),
        &help,
        every,
        scene.place(0),
    ))
}

/// `record x every 3 steps`
fn counted_steps(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.is(-1, &[Token::Steps, Token::Step]) || scene.first(-1) {
        return None;
    }
    let (word, at) = series(scene)?;
    let every = (at..0).any(|offset| scene.text(offset) == "every");
    let help = "`every 3` counts steps already: leave this out";
    every.then(|| say::after_series(word, scene.text(-1), help, false, scene.place(-1)))
}

/// The `record` or `observe` before the fault, and its offset.
fn series(scene: &Scene<'_>) -> Option<(&'static str, isize)> {
    let words = [Token::Record, Token::Observe];
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Semicolon];
    let at = scene.back_to(&words, &barriers)?;
    let word = if scene.is(at, &[Token::Record]) {
        "record"
    } else {
        "observe"
    };
    Some((word, at))
}

/// The declaring word at most two letters away.
fn nearest(text: &str) -> Option<&'static str> {
    if text.len() > 12 {
        return None;
    }
    let words = [
        "agents", "steps", "const", "param", "data", "input", "state", "output", "fn", "struct",
        "enum", "init", "step", "finish", "world", "record", "observe",
    ];
    let close = |word: &&str| word.len() > 2 && distance(text, word) <= word.len().min(6) / 3;
    words
        .into_iter()
        .filter(close)
        .min_by_key(|word| distance(text, word))
}

/// Levenshtein's distance, on short words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// `agents = 100`, `world: 10`
fn count(scene: &Scene<'_>) -> Option<Diagnostic> {
    let word = scene.is(-1, &[Token::Agents, Token::Steps, Token::World]);
    let sign = scene.is(0, &[Token::Assign, Token::Colon]);
    (word && sign).then(|| say::count_with_sign(scene.text(-1), scene.place(0)))
}

/// `fn f(x)`, `struct S { a }`, `data x`
fn missing_type(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.wants_only(Token::Colon) || scene.token(-1) != Some(Token::Ident) {
        return None;
    }
    if scene.is(-2, &[Token::Data]) {
        return Some(say::data_without_type(scene.text(-1), scene.place(-1)));
    }
    if scene.token(0) == Some(Token::Ident) && !scene.first(0) {
        let span = scene.place(-1).to(scene.place(0));
        return Some(say::type_before_name(scene.text(-1), scene.text(0), span));
    }
    Some(say::missing_type(scene.text(-1), scene.place(-1)))
}

/// `x: vec3<f32>`
fn type_arguments(scene: &Scene<'_>) -> Option<Diagnostic> {
    let generic = scene.token(0) == Some(Token::Less) && scene.token(-1) == Some(Token::Ident);
    let annotated = scene.is(
        -2,
        &[Token::Colon, Token::Arrow, Token::LeftBracket, Token::Less],
    );
    (generic && annotated)
        .then(|| say::type_arguments(scene.text(-1), scene.place(-1).to(scene.place(0))))
}

/// `[f32, 3]`
fn array_type(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = TokenSet::of(&[Token::Semicolon, Token::RightBracket]);
    (scene.token(0) == Some(Token::Comma) && scene.expected == wanted)
        .then(|| say::comma_in_array_type(scene.place(0)))
}

/// `fn f(x: f32) f32 {`, `fn f(x: f32): f32 {`
fn arrow(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = scene.expected.has(Token::Arrow);
    let found = scene.is(
        0,
        &[
            Token::Ident,
            Token::Colon,
            Token::FatArrow,
            Token::LeftBracket,
        ],
    );
    (wanted && found).then(|| say::missing_arrow(scene.text(0), scene.place(0)))
}

/// `let x`, `state x: f32`
fn missing_value(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.has(Token::Assign) || scene.expected.covers(ASSIGNMENTS) {
        return None;
    }
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Assign];
    let words = [Token::Let, Token::Var, Token::Const, Token::State];
    let word = scene.back_to(&words, &barriers)?;
    if word == -2 && scene.text(-1) == "mut" && scene.token(0) == Some(Token::Ident) {
        return Some(say::let_mut(scene.place(-2).to(scene.place(-1))));
    }
    if scene.is(0, &[Token::Equal]) {
        return Some(say::operator_spelling("==", "=", scene.place(0)));
    }
    let ends = scene.first(0) || scene.is(0, &[Token::Semicolon, Token::RightBrace, Token::Comma]);
    ends.then(|| {
        let span = scene.place(word).to(scene.place(-1));
        say::missing_value(scene.text(word + 1), span)
    })
}
