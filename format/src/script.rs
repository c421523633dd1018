//! A source file as the printer reads it: the words that carry meaning, and between them the gaps with what
//! the style keeps of white space and comments.
//!
//! Invariant: the result of formatting depends on nothing but a script, and the script of a formatted text is
//! the script that it was made from. So formatting is idempotent.

use sim_compiler::{
    span::Span,
    syntax::{self, Token},
};
use std::ops::Range;

/// A token that is no separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// Its kind.
    pub(crate) token: Token,
    /// Its text.
    pub(crate) text: &'a str,
}

/// A part of a gap: a comment, or a `;` that must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Remark<'a> {
    /// The comment without the white space at its end.
    pub(crate) text: &'a str,
    /// Where it stands.
    pub(crate) place: Place,
    /// Whether an empty line stands before it.
    pub(crate) blank: bool,
}

/// Where a comment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// On lines of its own.
    OwnLine,
    /// At the end of a line.
    LineEnd,
    /// `/* … */` directly before the word behind it, on its line.
    Inline,
}

/// What stands before a word, or before the end of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Gap {
    /// The comments, as a range of the script's remarks.
    pub(crate) remarks: Range<usize>,
    /// Whether an empty line stands between the last of them, or the word before, and this word.
    pub(crate) blank: bool,
}

/// A source file without its separators and white space.
#[derive(Debug, Default)]
pub(crate) struct Script<'a> {
    /// Every token but `,` and the `;` between statements and declarations.
    pub(crate) words: Vec<Word<'a>>,
    /// What stands before each word, and one more for the end of the file.
    pub(crate) gaps: Vec<Gap>,
    /// The comments of all gaps.
    pub(crate) remarks: Vec<Remark<'a>>,
    /// For each word that opens a bracket, the word that closes it.
    pub(crate) partners: Vec<usize>,
}

impl<'a> Script<'a> {
    /// Reads a text without syntax errors.
    pub(crate) fn read(source: &'a str) -> Script<'a> {
        let mut reader = Reader {
            source,
            script: Script::default(),
            open: Vec::new(),
            end: source.len() - source.trim_start_matches('\u{feff}').len(),
            gap: Gap::default(),
            carried: false,
        };
        let comments = syntax::comments(source);
        let mut comments = comments.into_iter().peekable();
        for (token, span) in syntax::tokens(source) {
            let mut before = Vec::new();
            while let Some(comment) = comments.next_if(|comment| comment.start < span.start) {
                before.push(comment);
            }
            let inline = reader.inline(&before, token, span);
            for (index, comment) in before.into_iter().enumerate() {
                reader.comment(comment, index >= inline);
            }
            reader.token(token, span);
        }
        comments.for_each(|comment| reader.comment(comment, false));
        reader.script.gaps.push(reader.gap);
        reader.script
    }

    /// The comments before a word.
    pub(crate) fn remarks(&self, word: usize) -> &[Remark<'a>] {
        let gap = self.gaps.get(word).map(|gap| gap.remarks.clone());
        gap.and_then(|range| self.remarks.get(range))
            .unwrap_or_default()
    }
}

struct Reader<'a> {
    source: &'a str,
    script: Script<'a>,
    /// The brackets that wait for their partners: index of the word.
    open: Vec<usize>,
    /// Where the last token or comment ended.
    end: usize,
    gap: Gap,
    /// An empty line before a separator that was left out.
    carried: bool,
}

impl<'a> Reader<'a> {
    /// How many lines end between what was read last and `start`.
    fn breaks(&mut self, span: Span) -> usize {
        let range = span.range();
        let between = self.source.get(self.end..range.start).unwrap_or_default();
        self.end = range.end;
        between.bytes().filter(|byte| *byte == b'\n').count()
    }

    /// Of the comments before a token, the first of those that stand on its line and belong to it. What ends
    /// a list's element, a statement or a block has none: such a comment belongs to what it ends.
    fn inline(&self, comments: &[Span], token: Token, span: Span) -> usize {
        let belongs = !self.separates(token) && token != Token::RightBrace;
        let mut next = span.start;
        let inline = comments.iter().rev().take_while(|comment| {
            let to_next = self.source.get(comment.start as usize..next as usize);
            next = comment.start;
            belongs && to_next.is_some_and(|text| text.starts_with("/*") && !text.contains('\n'))
        });
        comments.len() - inline.count()
    }

    fn comment(&mut self, span: Span, inline: bool) {
        let breaks = self.breaks(span);
        let text = self.source.get(span.range()).unwrap_or_default().trim_end();
        let first = self.gap.remarks.is_empty();
        let place = match inline {
            true => Place::Inline,
            false if breaks > 0 || !first || self.script.words.is_empty() => Place::OwnLine,
            false => Place::LineEnd,
        };
        self.remark(text, place, breaks);
    }

    fn remark(&mut self, text: &'a str, place: Place, breaks: usize) {
        let blank = place != Place::LineEnd && (breaks > 1 || self.carried);
        self.carried = false;
        self.script.remarks.push(Remark { text, place, blank });
        self.gap.remarks.end = self.script.remarks.len();
    }

    fn token(&mut self, token: Token, span: Span) {
        let breaks = self.breaks(span);
        if self.separates(token) {
            self.carried |= breaks > 1;
            if token == Token::Semicolon && self.open.is_empty() && self.has_documentation() {
                self.remark(";", Place::OwnLine, breaks);
            }
            return;
        }
        self.gap.blank = breaks > 1 || self.carried;
        self.carried = false;
        let at = self.script.words.len();
        let text = self.source.get(span.range()).unwrap_or_default();
        self.script.words.push(Word { token, text });
        self.script.partners.push(at);
        if token.opens() {
            self.open.push(at);
        } else if token.closes()
            && let Some(open) = self.open.pop()
        {
            self.script.partners[open] = at;
        }
        let next = self.script.remarks.len();
        let fresh = Gap {
            remarks: next..next,
            blank: false,
        };
        self.script
            .gaps
            .push(std::mem::replace(&mut self.gap, fresh));
    }

    /// A `,`, or a `;` outside of `[v; N]`.
    fn separates(&self, token: Token) -> bool {
        let inside = self.open.last().map(|open| self.script.words[*open].token);
        match token {
            Token::Comma => true,
            Token::Semicolon => inside != Some(Token::LeftBracket),
            _ => false,
        }
    }

    /// Whether the gap so far holds a `///` that would become the next declaration's if a `;` went.
    fn has_documentation(&self) -> bool {
        let remarks = &self.script.remarks[self.gap.remarks.clone()];
        let last = remarks.iter().rev().take_while(|remark| remark.text != ";");
        let mut last = last.map(|remark| remark.text);
        last.any(|text| text.starts_with("///") && !text.starts_with("////"))
    }
}
