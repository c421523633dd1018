//! Slips in statements and in what they are made of.

use super::Scene;
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    syntax::{
        parse::{DECLARATIONS, EXPRESSION, NAMES, STATEMENT, operator::INFIX, stmt::ASSIGNMENTS},
        token::{Token, TokenSet},
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    lone_name(scene)
        .or_else(|| start(scene))
        .or_else(|| assert(scene))
        .or_else(|| for_header(scene))
        .or_else(|| condition(scene))
        .or_else(|| missing_brace(scene))
        .or_else(|| arm(scene))
        .or_else(|| value(scene))
}

/// A name, and then something that does not continue it: `elif c {`, `int x = 3`.
fn lone_name(scene: &Scene<'_>) -> Option<Diagnostic> {
    if let Some(offset) = [0, -1]
        .into_iter()
        .find(|offset| scene.word(*offset, &["elif", "elseif", "elsif"]))
    {
        return Some(say::else_if_word(scene.text(offset), scene.place(offset)));
    }
    if !scene.expected.covers(ASSIGNMENTS) {
        return None;
    }
    let meant = match scene.text(-1) {
        "loop" | "do" | "repeat" | "until" => Some("while c limit 100 { … }"),
        "switch" | "case" => Some("match x { A => …, _ => … }"),
        "foreach" => Some("for i in 0..n { … }"),
        _ => None,
    };
    if let Some(meant) = meant {
        return Some(say::foreign_statement(
            scene.text(-1),
            meant,
            scene.place(-1),
        ));
    }
    let names = scene.token(-1).is_some_and(|token| NAMES.has(token));
    if scene.is(-1, &[Token::Step]) {
        return Some(say::declaration_in_block("step", scene.place(-1)));
    }
    (names && scene.token(0) == Some(Token::Ident)).then(|| {
        say::two_names(
            scene.text(-1),
            scene.text(0),
            scene.place(-1),
            scene.place(0),
        )
    })
}

/// What cannot begin a statement.
fn start(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.covers(STATEMENT) {
        return None;
    }
    let found = scene.token(0)?;
    let (text, place) = (scene.text(0), scene.place(0));
    if DECLARATIONS.has(found) {
        return Some(say::declaration_in_block(text, place));
    }
    match found {
        Token::Else => Some(say::else_without_if(place)),
        Token::LeftParen if scene.is(-1, &[Token::RightParen, Token::RightBracket]) => {
            Some(say::call_of_value(place))
        }
        _ if ASSIGNMENTS.has(found) => {
            let hanging = scene
                .token(-2)
                .is_some_and(|token| ASSIGNMENTS.or(INFIX).has(token));
            if scene.first(-1) && hanging {
                return Some(say::unfinished_statement(scene.place(-2), scene.place(-1)));
            }
            Some(say::chained_assignment(place))
        }
        _ => None,
    }
}

/// `assert(c, "message")`
fn assert(scene: &Scene<'_>) -> Option<Diagnostic> {
    let comma = scene.is(0, &[Token::Comma]) && scene.is(1, &[Token::Text]);
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Semicolon];
    let word = scene.back_to(&[Token::Assert], &barriers)?;
    let open = word + 1;
    (comma && scene.is(open, &[Token::LeftParen]))
        .then(|| say::assert_with_parentheses(scene.place(open)))
}

/// `for (int i = 0; …)`, `for i in range(10)`, `for i = 0`
fn for_header(scene: &Scene<'_>) -> Option<Diagnostic> {
    let place = scene.place(0);
    if scene.is(-1, &[Token::For]) && scene.is(0, &[Token::LeftParen]) {
        return Some(say::for_with_parentheses(place));
    }
    if scene.wants_only(Token::In) && scene.is(-2, &[Token::For]) {
        return Some(say::for_without_in(scene.text(-1), place));
    }
    let wanted = scene.expected.has(Token::DotDot);
    let barriers = [Token::LeftBrace, Token::RightBrace];
    let word = scene.back_to(&[Token::In], &barriers)?;
    let (first, last) = (scene.place(word + 1), scene.place(-1));
    wanted.then(|| say::for_without_range(scene.text(word + 1), first.to(last)))
}

/// `if x = 3 {`
fn condition(scene: &Scene<'_>) -> Option<Diagnostic> {
    let barriers = [
        Token::LeftBrace,
        Token::RightBrace,
        Token::Assign,
        Token::Semicolon,
    ];
    let word = scene.back_to(&[Token::If, Token::While], &barriers)?;
    (scene.token(0) == Some(Token::Assign))
        .then(|| say::assignment_in_condition(scene.text(word), scene.place(0)))
}

/// `if c x = 1`, `else x = 1`, `if c:`
fn missing_brace(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.has(Token::LeftBrace) || scene.expected.covers(STATEMENT) {
        return None;
    }
    let words = [
        Token::If,
        Token::Else,
        Token::While,
        Token::For,
        Token::Match,
        Token::Integrate,
        Token::Step,
        Token::Init,
        Token::Finish,
        Token::Fn,
        Token::Struct,
        Token::Enum,
    ];
    let barriers = [Token::LeftBrace, Token::RightBrace];
    let word = scene.back_to(&words, &barriers)?;
    if scene.is(0, &[Token::Else]) {
        return Some(say::ternary("if", scene.place(word)));
    }
    Some(say::missing_braces(
        scene.text(word),
        scene.place(word),
        scene.text(0),
        scene.place(0),
    ))
}

/// `A: x = 1`, `A -> x = 1`
fn arm(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = scene.expected.has(Token::FatArrow);
    if wanted && scene.word(-1, &["case", "when"]) {
        return Some(say::arm_without_arrow(scene.text(-1), scene.place(-1)));
    }
    let found = scene.is(0, &[Token::Colon, Token::Arrow, Token::Assign]);
    (wanted && found).then(|| say::arm_without_arrow(scene.text(0), scene.place(0)))
}

/// What is no value, where one was expected.
fn value(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.wants_only(Token::Else) {
        return Some(say::if_value_without_else(scene.place(-1)));
    }
    let listed = TokenSet::of(&[Token::Comma]).or(INFIX);
    if scene.is(0, &[Token::For]) && scene.expected.covers(listed) {
        return Some(say::comprehension_order(scene.place(0)));
    }
    if !scene.expected.covers(EXPRESSION) || scene.expected.covers(STATEMENT) {
        return None;
    }
    let found = scene.token(0)?;
    let statement = STATEMENT.has(found) && !EXPRESSION.has(found);
    match found {
        Token::For => Some(say::for_as_value(scene.place(0))),
        Token::LeftBrace => None,
        _ if statement => Some(say::statement_as_value(scene.text(0), scene.place(0))),
        _ => None,
    }
}
