//! Slips in operators: spellings of other languages.

use super::Scene;
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    syntax::{
        parse::{EXPRESSION, stmt::ASSIGNMENTS},
        token::Token,
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    word(scene)
        .or_else(|| sign(scene))
        .or_else(|| compound(scene))
        .or_else(|| spelling(scene))
}

/// `a and b`, `not a`
fn word(scene: &Scene<'_>) -> Option<Diagnostic> {
    let words = ["and", "or", "xor", "mod"];
    let operand = scene.token(0).is_some_and(|token| EXPRESSION.has(token));
    let offset = if scene.word(0, &words) {
        0
    } else if operand && scene.word(-1, &["not"])
        || scene.expected.covers(ASSIGNMENTS) && scene.word(-1, &words)
    {
        -1
    } else {
        return None;
    };
    let meant = match scene.text(offset) {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "xor" => "^",
        _ => "%",
    };
    let text = scene.text(offset).to_owned();
    Some(say::word_operator(&text, meant, scene.place(offset)))
}

/// `i++`, `c ? a : b`
fn sign(scene: &Scene<'_>) -> Option<Diagnostic> {
    match scene.token(0)? {
        Token::PlusPlus => Some(say::increment("+", scene.place(0))),
        Token::MinusMinus => Some(say::increment("-", scene.place(0))),
        Token::Question => Some(say::ternary("?", scene.place(0))),
        Token::Prime => Some(say::misplaced_prime(scene.place(0))),
        _ => None,
    }
}

/// `x **= 2`, `alive &&= true`
fn compound(scene: &Scene<'_>) -> Option<Diagnostic> {
    let infix = [Token::StarStar, Token::AndAnd, Token::OrOr];
    if !(scene.is(0, &[Token::Assign]) && scene.is(-1, &infix) && scene.glued(-1)) {
        return None;
    }
    let span = scene.place(-1).to(scene.place(0));
    Some(say::no_such_assignment(scene.text(-1), span))
}

/// `===`, `<>`, `:=` and their like.
fn spelling(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.is(0, &[Token::Assign]) && scene.is(1, &[Token::Less]) && scene.glued(0) {
        let span = scene.place(0).to(scene.place(1));
        return Some(say::operator_spelling("=<", "<=", span));
    }
    let pair = (scene.token(-1)?, scene.token(0)?);
    if pair.1 == Token::FatArrow && scene.expected.has(Token::GreaterEqual) {
        return Some(say::operator_spelling("=>", ">=", scene.place(0)));
    }
    let meant = match pair {
        (Token::Equal, Token::Assign) => "==",
        (Token::NotEqual, Token::Assign) => "!=",
        (Token::Less, Token::Greater) => "!=",
        (Token::Colon, Token::Assign) => "=",
        (Token::Assign, Token::Plus) => "+=",
        (Token::DotDot, Token::Dot) => "..",
        (Token::ShiftRight, Token::Greater) => ">>",
        (Token::DotDot, Token::Assign) if scene.glued(-1) => {
            return Some(say::inclusive_range(scene.place(-1).to(scene.place(0))));
        }
        (_, Token::Colon) if scene.is(1, &[Token::Colon]) && scene.glued(0) => {
            let span = scene.place(0).to(scene.place(1));
            return Some(say::operator_spelling("::", ".", span));
        }
        (Token::Colon, Token::Colon) => ".",
        _ => return None,
    };
    if !scene.glued(-1) {
        return None;
    }
    let written = [scene.text(-1), scene.text(0)].concat();
    let span = scene.place(-1).to(scene.place(0));
    Some(say::operator_spelling(&written, meant, span))
}
