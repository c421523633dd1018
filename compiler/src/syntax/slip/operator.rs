//! Slips in operators: spellings of other languages.

use super::Scene;
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    span::Span,
    syntax::{
        parse::{EXPRESSION, TYPE, stmt::ASSIGNMENTS},
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
    let membership = scene.is(0, &[Token::In]) && scene.expected.has(Token::Equal);
    if membership && !scene.first(0) {
        return Some(say::membership(scene.place(0)));
    }
    let words = ["and", "or", "xor", "mod", "is"];
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
        "is" => "==",
        _ => "%",
    };
    let text = scene.text(offset).to_owned();
    Some(say::word_operator(&text, meant, scene.place(offset)))
}

/// `i++`, `c ? a : b`
fn sign(scene: &Scene<'_>) -> Option<Diagnostic> {
    match scene.token(0)? {
        Token::PlusPlus => Some(increment(scene, "+")),
        Token::MinusMinus => Some(increment(scene, "-")),
        Token::Question => Some(say::ternary("?", scene.place(0), question(scene))),
        Token::Prime => Some(say::misplaced_prime(scene.place(0))),
        _ => None,
    }
}

/// `i++`, `++i`
fn increment(scene: &Scene<'_>, sign: &str) -> Diagnostic {
    let after = scene.is(1, &[Token::Semicolon]) || scene.first(1) || {
        let next = scene.token(1);
        next.is_none_or(Token::closes)
    };
    let change = format!(" {sign}= 1");
    let before =
        scene.is(1, &[Token::Ident]) && (scene.first(0) || scene.is(-1, &[Token::Semicolon]));
    let edits = if after {
        Some(vec![(scene.place(0), change)])
    } else if before {
        let end = scene.place(scene.chain_end(1)).end;
        Some(vec![
            (scene.place(0), String::new()),
            (Span { start: end, end }, change),
        ])
    } else {
        None
    };
    say::increment(sign, scene.place(0), edits)
}

/// `c ? a : b`, as it is written here.
fn question(scene: &Scene<'_>) -> Option<(Span, String)> {
    let colon = scene.value_end(1) + 1;
    if !scene.is(colon, &[Token::Colon]) {
        return None;
    }
    let (from, to) = (scene.value_start(-1), scene.value_end(colon + 1));
    let text = format!(
        "if {} {{ {} }} else {{ {} }}",
        scene.between(from, -1),
        scene.between(1, colon - 1),
        scene.between(colon + 1, to)
    );
    Some((scene.span(from, to), text))
}

/// `x **= 2`, `alive &&= true`
fn compound(scene: &Scene<'_>) -> Option<Diagnostic> {
    let infix = [Token::StarStar, Token::AndAnd, Token::OrOr];
    if !(scene.is(0, &[Token::Assign]) && scene.is(-1, &infix) && scene.glued(-1)) {
        return None;
    }
    let span = scene.place(-1).to(scene.place(0));
    let place = scene.between(scene.value_start(-2), -2);
    Some(say::no_such_assignment(scene.text(-1), place, span))
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
        (_, Token::Tilde) if scene.is(1, &[Token::Assign]) && scene.glued(0) => {
            let span = scene.place(0).to(scene.place(1));
            return Some(say::operator_spelling("~=", "!=", span));
        }
        (Token::Percent, Token::Percent) => "%",
        (Token::Dot, Token::Star) => "*",
        (Token::Dot, Token::Slash) => "/",
        (Token::Dot, Token::Plus) => "+",
        (Token::Dot, Token::Minus) => "-",
        (Token::Dot, Token::Caret) => "**",
        (_, Token::Arrow) if scene.glued(-1) && scene.is(1, &[Token::Ident]) && scene.glued(0) => {
            return Some(say::operator_spelling("->", ".", scene.place(0)));
        }
        (Token::Equal, Token::Assign) => "==",
        (Token::NotEqual, Token::Assign) => "!=",
        (Token::Less, Token::Greater) => "!=",
        (Token::Colon, Token::Assign) => "=",
        (Token::Assign, Token::Plus) => "+=",
        (Token::DotDot, Token::Dot) => "..",
        (Token::ShiftRight, Token::Greater) => ">>",
        (Token::DotDot, Token::Assign) if scene.glued(-1) => {
            return Some(inclusive(scene));
        }
        (_, Token::Colon) if scene.is(1, &[Token::Colon]) && scene.glued(0) => {
            let span = scene.place(0).to(scene.place(1));
            return Some(say::operator_spelling("::", ".", span));
        }
        (Token::Colon, Token::Colon) if scene.expected.covers(TYPE) => ":",
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

/// `0..=9`
fn inclusive(scene: &Scene<'_>) -> Diagnostic {
    let sign = scene.span(-1, 0);
    let last = scene.chain_end(1);
    let meant = match scene.text(1).parse::<u32>() {
        Ok(end) if scene.is(1, &[Token::Int]) => Some(format!("..{}", u64::from(end) + 1)),
        _ if scene.is(1, &[Token::Ident]) => Some(format!("..{} + 1", scene.between(1, last))),
        _ => None,
    };
    let span = sign.to(scene.place(last));
    say::inclusive_range(sign, meant.map(|meant| (span, meant)))
}
