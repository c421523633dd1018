//! Text to tokens: logos recognises the words; this file adds what a table cannot express: comments and
//! documentation, number literals, look-alike characters, and a complaint about the rest.

pub(super) mod number;

use super::token::Token;
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    foreign::{self, Meant},
    span::Span,
};
use logos::{Lexer, Logos};
use std::collections::HashSet;

/// A token where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// Where.
    pub(super) span: Span,
    /// Whether it is the first on its line. Only recovery and messages ask; the grammar never does.
    pub(super) first: bool,
}

/// The tokens of a source and what stood between them.
#[derive(Debug, Default)]
pub(super) struct Lexed {
    /// The kinds.
    pub(super) tokens: Vec<Token>,
    /// Their places, one for each.
    pub(super) marks: Vec<Mark>,
    /// All comments, in order, documentation and block comments included.
    pub(super) comments: Vec<Span>,
    /// The `///` comments, in order.
    pub(super) docs: Vec<Span>,
    /// The `//!` comments, in order.
    pub(super) model_docs: Vec<Span>,
    /// What could not be read.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Bytes of a name. Names are copied to wherever a value goes: without a limit a few of them fill the memory.
const MAX_NAME: usize = 255;

/// More complaints than this are not useful; the rest is counted but not shown.
pub(super) const MAX_DIAGNOSTICS: usize = crate::diagnostic::MOST_COMPLAINTS;

/// Reads the whole text.
pub(super) fn lex(source: &str) -> Lexed {
    // A byte order mark is not part of the text, but places count it.
    let mark = source.len() - source.trim_start_matches('\u{feff}').len();
    let mut lexer = Token::lexer(source);
    lexer.bump(mark);
    let mut scanner = Scanner {
        source,
        out: Lexed::default(),
        line_seen: 0,
        foreign: HashSet::new(),
    };
    while let Some(token) = lexer.next() {
        match token {
            Ok(Token::LineComment) => scanner.line_comment(&mut lexer),
            Ok(Token::BlockComment) => scanner.block_comment(&mut lexer),
            Ok(Token::Int | Token::Float) => scanner.number(&mut lexer),
            Ok(Token::Text) => scanner.text(&mut lexer),
            Ok(token) => scanner.push(token, lexer.span().into()),
            Err(()) => scanner.odd(&mut lexer),
        }
    }
    scanner.out
}

struct Scanner<'a> {
    source: &'a str,
    out: Lexed,
    /// Everything before this byte has been searched for line breaks.
    line_seen: usize,
    /// The names with letters beyond ASCII that have been complained about.
    foreign: HashSet<&'a str>,
}

type Words<'a> = Lexer<'a, Token>;

impl Scanner<'_> {
    fn push(&mut self, token: Token, mut span: Span) {
        let end = span.end;
        if token == Token::Ident && span.range().len() > MAX_NAME {
            let name = self.source.get(span.range()).unwrap_or_default();
            self.complain(say::name_too_long(name, MAX_NAME, span));
            // Later stages see a name of a valid length in spite of the complaint.
            span.end = span.start + MAX_NAME as u32;
        }
        let gap = &self.source.as_bytes()[self.line_seen..span.start as usize];
        let first = self.out.tokens.is_empty() || gap.contains(&b'\n');
        self.line_seen = end as usize;
        self.out.tokens.push(token);
        self.out.marks.push(Mark { span, first });
    }

    fn complain(&mut self, diagnostic: Diagnostic) {
        if self.out.diagnostics.len() <= MAX_DIAGNOSTICS {
            self.out.diagnostics.push(diagnostic);
        }
    }

    fn line_comment(&mut self, lexer: &mut Words) {
        let rest = lexer.remainder();
        lexer.bump(line_length(rest));
        let text = lexer.slice();
        self.out.comments.push(lexer.span().into());
        if text.starts_with("//!") {
            self.out.model_docs.push(lexer.span().into());
        } else if text.starts_with("///") && !text.starts_with("////") {
            self.out.docs.push(lexer.span().into());
        }
    }

    fn block_comment(&mut self, lexer: &mut Words) {
        let rest = lexer.remainder();
        let end = comment_end(rest);
        let start = lexer.span().start;
        lexer.bump(end.unwrap_or(rest.len()));
        self.out.comments.push(lexer.span().into());
        if end.is_none() {
            self.complain(say::unclosed_comment(Span::new(start, start + 2)));
        }
    }

    fn number(&mut self, lexer: &mut Words) {
        let start = lexer.span().start;
        let scan = number::scan(&self.source.as_bytes()[start..]);
        let seen = lexer.slice().len();
        lexer.bump(scan.len - seen);
        let span: Span = lexer.span().into();
        let text = lexer.slice();
        let flaw = match scan.kind {
            Ok(token) => return self.push(token, span),
            Err(flaw) => flaw,
        };
        self.complain(match flaw {
            number::Flaw::Suffix(at) => say::number_suffix(text, at, span),
            number::Flaw::Hexadecimal => say::malformed_hexadecimal(text, span),
            number::Flaw::LeadingZero => say::leading_zero(text, span),
            number::Flaw::IntegerTooLarge => say::integer_too_large(span),
            number::Flaw::FloatTooLarge => say::float_too_large(span),
        });
        self.push(Token::Hole, span);
    }

    /// What no pattern matches: a letter beyond ASCII, a foreign sign, or a broken byte.
    fn odd(&mut self, lexer: &mut Words) {
        let start = lexer.span().start;
        let Some(found) = self.source[start..].chars().next() else {
            return;
        };
        extend(lexer, start + found.len_utf8());
        if found.is_alphabetic() {
            return self.foreign_name(lexer, start);
        }
        match found {
            '#' => {
                extend(lexer, start + line_length(&self.source[start..]));
                let rest = &self.source[start..];
                let mark = Span::new(start, start + 1);
                self.complain(match directive(rest) {
                    Some((word, meant)) => {
                        let whole = matches!(meant, Meant::Omit(_));
                        let length = if whole { line_length(rest) } else { word.len() };
                        let place = Span::new(start, start + length);
                        say::not_a_declaration(word, Some(meant), None, place)
                    }
                    None => say::hash_comment("#", mark),
                });
            }
            _ => match lookalike(found) {
                Some((meant, token)) => {
                    let span = lexer.span().into();
                    self.complain(say::lookalike_character(found, meant, span));
                    if let Some(token) = token {
                        self.push(token, span);
                    }
                }
                None => self.garbage(lexer, found),
            },
        }
    }

    /// A run of signs without meaning is one mistake.
    fn garbage(&mut self, lexer: &mut Words, found: char) {
        let rest = lexer.remainder();
        if found == '@' && rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            lexer.bump(attributes(rest));
            let span: Span = lexer.span().into();
            let text = lexer.slice().split_ascii_whitespace().next();
            self.complain(say::attribute(text.unwrap_or_default(), span));
            return self.push(Token::Hole, span);
        }
        let more = rest
            .find(|c: char| c.is_ascii_graphic() && !is_foreign(c) || c.is_whitespace())
            .unwrap_or(rest.len());
        lexer.bump(more);
        let span = lexer.span().into();
        self.complain(say::unexpected_character(found, span));
        self.push(Token::Hole, span);
    }

    fn foreign_name(&mut self, lexer: &mut Words, start: usize) {
        let rest = lexer.remainder();
        let more = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        lexer.bump(more);
        let mut span: Span = lexer.span().into();
        let glued = match (self.out.tokens.last(), self.out.marks.last()) {
            (Some(token), Some(mark)) => {
                (*token == Token::Ident || token.is_keyword()) && mark.span.end as usize == start
            }
            _ => false,
        };
        if glued && let Some(mark) = self.out.marks.last_mut() {
            mark.span = mark.span.to(span);
            span = mark.span;
            self.line_seen = span.end as usize;
            if let Some(token) = self.out.tokens.last_mut() {
                *token = Token::Ident;
            }
        } else {
            self.push(Token::Ident, span);
        }
        let source = self.source;
        let name = &source[span.range()];
        if self.foreign.insert(name) {
            self.complain(say::name_beyond_ascii(name, span));
        }
    }

    /// A text, which ends on its line.
    fn text(&mut self, lexer: &mut Words) {
        // Only up to the end is looked at: a line may have many texts.
        let rest = lexer.remainder();
        let end = text_end(rest);
        let start = lexer.span().end;
        let unclosed = || rest[..line_length(rest)].trim_end().len();
        lexer.bump(end.map_or_else(unclosed, |end| end + 1));
        let span = lexer.span().into();
        let Some(end) = end else {
            self.complain(say::unclosed_text(span));
            return self.push(Token::Hole, span);
        };
        for (at, found) in escapes(&rest[..end]) {
            if unescaped(found).is_none() {
                let place = Span::new(start + at, start + at + 1 + found.len_utf8());
                self.complain(say::unknown_escape(found, place));
            }
        }
        self.push(Token::Text, span);
    }
}

/// Where a block comment ends whose start was read; those inside of it end before it does.
fn comment_end(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut open, mut at) = (1u32, 0);
    while open > 0 {
        match bytes.get(at..at + 2)? {
            b"/*" => (open, at) = (open + 1, at + 2),
            b"*/" => (open, at) = (open - 1, at + 2),
            _ => at += 1,
        }
    }
    Some(at)
}

/// Where the quotation mark is that ends a text, if one stands on its line.
fn text_end(rest: &str) -> Option<usize> {
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped || byte == b'\n';
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.filter(|&end| rest.as_bytes()[end] == b'"')
}

/// The characters behind the backslashes of a text, with the places of these.
fn escapes(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut characters = text.char_indices();
    std::iter::from_fn(move || {
        let (at, _) = characters.find(|(_, c)| *c == '\\')?;
        characters.next().map(|(_, found)| (at, found))
    })
}

/// What a backslash and this character stand for.
fn unescaped(found: char) -> Option<char> {
    match found {
        '"' | '\\' => Some(found),
        'n' => Some('\n'),
        _ => None,
    }
}

/// What a token of kind [`Token::Text`] says.
pub(super) fn content(text: &str) -> String {
    let inside = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let mut characters = inside.unwrap_or_default().chars();
    let mut content = String::new();
    while let Some(found) = characters.next() {
        let meant = match found {
            '\\' => characters
                .next()
                .map(|next| unescaped(next).unwrap_or(next)),
            _ => Some(found),
        };
        content.extend(meant);
    }
    content
}

/// The bytes of attributes in a row behind their first `@`, on one line: `compute @workgroup_size(64)`.
fn attributes(rest: &str) -> usize {
    /// An argument list that is longer is none.
    const LONGEST: usize = 200;
    let bytes = rest.as_bytes();
    let at = |place: usize| bytes.get(place).copied().unwrap_or(b'\n');
    let mut end = 0;
    loop {
        while at(end).is_ascii_alphanumeric() || matches!(at(end), b'_' | b'.') {
            end += 1;
        }
        if at(end) == b'(' {
            let mut inside = end..end + LONGEST;
            let last = inside.find(|place| matches!(at(*place), b')' | b'\n'));
            end = last
                .filter(|last| at(*last) == b')')
                .map_or(end, |last| last + 1);
        }
        let mut next = end;
        while at(next) == b' ' {
            next += 1;
        }
        if at(next) != b'@' || !at(next + 1).is_ascii_alphabetic() {
            return end;
        }
        end = next + 1;
    }
}

/// `#include <…>` and `#define …`: its words, and what stands in its place.
fn directive(text: &str) -> Option<(&str, Meant)> {
    let line = &text[..line_length(text)];
    let word = line.split_ascii_whitespace().next()?;
    let meant = match word {
        "#include" | "#import" | "#pragma" => foreign::declaration("include")?,
        "#define" => Meant::Write("const"),
        _ => return None,
    };
    Some((word, meant))
}

/// Makes the current token reach to `end`, and no further than it must.
fn extend(lexer: &mut Words, end: usize) {
    let now = lexer.span().end;
    if end > now {
        lexer.bump(end - now);
    }
}

fn line_length(text: &str) -> usize {
    text.bytes().position(|b| b == b'\n').unwrap_or(text.len())
}

/// Printable ASCII that starts no token.
fn is_foreign(c: char) -> bool {
    matches!(c, '@' | '$' | '\\' | '`')
}

/// The sign of the language that a typographic one stands for; no token for what reads as a space.
fn lookalike(found: char) -> Option<(&'static str, Option<Token>)> {
    Some(match found {
        '\u{2212}' | '\u{2013}' | '\u{2014}' | '\u{2010}' | '\u{2011}' => ("-", Some(Token::Minus)),
        '\u{d7}' | '\u{22c5}' | '\u{b7}' | '\u{2217}' => ("*", Some(Token::Star)),
        '\u{f7}' | '\u{2215}' => ("/", Some(Token::Slash)),
        '\u{2264}' => ("<=", Some(Token::LessEqual)),
        '\u{2265}' => (">=", Some(Token::GreaterEqual)),
        '\u{2260}' => ("!=", Some(Token::NotEqual)),
        '\u{2192}' => ("->", Some(Token::Arrow)),
        '\u{21d2}' => ("=>", Some(Token::FatArrow)),
        '\u{2026}' => ("..", Some(Token::DotDot)),
        '\u{2018}' | '\u{2019}' | '\u{2032}' => ("'", Some(Token::Prime)),
        '\u{a0}' | '\u{2002}'..='\u{200b}' | '\u{202f}' | '\u{3000}' | '\u{feff}' => (" ", None),
        _ => return None,
    })
}
