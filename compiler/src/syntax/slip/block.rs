//! Blocks without braces: `if c:`, `if c then … end`, `for i in 0..3` with an indented line, `if c [ … ]`.

use super::Scene;
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    foreign,
    span::Span,
    syntax::{parse::STATEMENT, token::Token},
};

/// The words before a block.
const HEADS: [Token; 12] = [
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

/// `if c x = 1`, `else x = 1`, `if c:`
pub(super) fn missing_brace(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.has(Token::LeftBrace) || scene.expected.covers(STATEMENT) {
        return None;
    }
    let barriers = [Token::LeftBrace, Token::RightBrace];
    let word = scene.back_to(&HEADS, &barriers)?;
    if let Some(head) = done(scene, word) {
        return Some(head);
    }
    if scene.is(0, &[Token::Else]) {
        return Some(say::ternary("if", scene.place(word), scene.choice(word)));
    }
    Some(say::missing_braces(
        scene.text(word),
        scene.place(word),
        scene.text(0),
        scene.place(0),
        braced(scene, word),
    ))
}

/// `do { … } while (c);`, which the complaint about its `do` covers; this one is the same.
fn done(scene: &Scene<'_>, word: isize) -> Option<Diagnostic> {
    let ends = scene.is(word, &[Token::While]) && scene.is(word - 1, &[Token::RightBrace]);
    let open = scene
        .opener(word - 1)
        .filter(|_| ends && scene.is(0, &[Token::Semicolon]))?;
    let head = scene.word(open - 1, &["do"]).then_some(open - 1)?;
    let meant = foreign::statement("do")?;
    Some(say::foreign_statement("do", meant, scene.place(head)))
}

/// `if c [ stop ]`, `while [c] [ … ]`
pub(super) fn brackets(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = scene.opener(0)?;
    let barriers = [
        Token::LeftBrace,
        Token::RightBrace,
        Token::Assign,
        Token::Semicolon,
    ];
    let close = scene.closer(open)?;
    let last = scene.token(close + 1);
    let ends = scene.first(close + 1)
        || last.is_none_or(|token| token.closes() || token == Token::LeftBracket);
    if !scene.is(open, &[Token::LeftBracket]) || !ends {
        return None;
    }
    let word = scene
        .at(open)
        .back_to(&[Token::If, Token::While], &barriers)?
        + open;
    let edits = vec![
        (scene.place(open), "{".to_owned()),
        (scene.place(close), "}".to_owned()),
    ];
    Some(say::missing_braces(
        scene.text(word),
        scene.place(word),
        scene.text(open),
        scene.place(open),
        Some(edits),
    ))
}

/// The edits that put braces around the statements behind the word at an offset: those on its line, or else
/// the lines below that are indented deeper. An `end` that follows becomes the brace.
fn braced(scene: &Scene<'_>, word: isize) -> Option<Vec<(Span, String)>> {
    let source = scene.grammar.script.source;
    let mark = scene.is(0, &[Token::Colon]) || scene.word(0, &["then", "do", "begin"]);
    let start = scene.place(0);
    let body = if mark { 1 } else { 0 };
    let header = scene.column(word);
    let mut last = body;
    if scene.first(body) {
        // Below: as long as lines are indented deeper than the word.
        if scene.column(body) <= header {
            return None;
        }
        while scene.token(last + 1).is_some()
            && !(scene.first(last + 1) && scene.column(last + 1) <= header)
        {
            last += 1;
            if last > 400 {
                return None;
            }
        }
    } else {
        while scene
            .token(last + 1)
            .is_some_and(|token| token != Token::Else && !token.closes())
            && !scene.first(last + 1)
        {
            last += 1;
        }
    }
    let end = scene.place(last).end;
    let mut edits = Vec::new();
    if mark {
        let glued = source.get(..start.start as usize)?.ends_with(' ');
        let brace = if glued { "{" } else { " {" };
        edits.push((start, brace.to_owned()));
    } else if scene.first(0) {
        let head = scene.place(-1).end;
        edits.push((
            Span {
                start: head,
                end: head,
            },
            " {".to_owned(),
        ));
    } else {
        let head = Span {
            end: start.start,
            ..start
        };
        edits.push((head, "{ ".to_owned()));
    }
    let next = last + 1;
    let same_column = scene.first(next) && scene.column(next) == header;
    if scene.word(next, &["end"]) && same_column {
        edits.push((scene.place(next), "}".to_owned()));
    } else if same_column
        && (scene.is(next, &[Token::Else]) || scene.word(next, &["elseif", "elif"]))
    {
        let start = scene.place(next).start;
        edits.push((Span { start, end: start }, "} ".to_owned()));
    } else if scene.first(body) {
        let indent = " ".repeat(header);
        edits.push((Span { start: end, end }, format!("\n{indent}}}")));
    } else {
        edits.push((Span { start: end, end }, " }".to_owned()));
    }
    Some(edits)
}
