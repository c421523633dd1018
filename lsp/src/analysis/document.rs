//! A text under edit, its lines, and what the compiler knows of it.

use lsp_types::{Position, Range, TextDocumentContentChangeEvent, TextEdit};
use sim_compiler::{
    Diagnostic,
    names::{Declaration, Names, Survey},
    span::Span,
    syntax::{self, Token, ast::ItemKind},
};
use std::cell::OnceCell;

/// A text and what the compiler says about it. The compiler is asked when an answer first needs it, once a
/// text.
pub struct Document {
    text: String,
    /// The byte at which each line begins.
    lines: Vec<usize>,
    survey: OnceCell<Survey>,
    diagnostics: OnceCell<Vec<Diagnostic>>,
    tokens: OnceCell<Vec<(Token, Span)>>,
    comments: OnceCell<Vec<Span>>,
}

impl Document {
    /// A document of that text.
    pub fn new(text: String) -> Self {
        Document {
            lines: line_starts(&text),
            text,
            survey: OnceCell::new(),
            diagnostics: OnceCell::new(),
            tokens: OnceCell::new(),
            comments: OnceCell::new(),
        }
    }

    /// The document after changes, in their order.
    pub fn changed(&self, changes: Vec<TextDocumentContentChangeEvent>) -> Document {
        let mut document = Document::new(self.text.clone());
        for change in changes {
            let Some(range) = change.range else {
                document = Document::new(change.text);
                continue;
            };
            let span = document.span(range).range();
            let mut text = document.text;
            text.replace_range(span, &change.text);
            document = Document::new(text);
        }
        document
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What stands at a place.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// What the front end of the compiler knows.
    pub fn survey(&self) -> &Survey {
        self.survey.get_or_init(|| sim_compiler::survey(&self.text))
    }

    /// Its names.
    pub fn names(&self) -> &Names {
        &self.survey().names
    }

    /// Everything that the compiler complains about: mistakes, or, without any, warnings.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        self.diagnostics.get_or_init(|| {
            let found = &self.survey().diagnostics;
            if found.is_empty() {
                // Only a model without mistakes can be found too large.
                sim_compiler::complaints(&self.text)
            } else {
                found.clone()
            }
        })
    }

    /// The tokens of the text, comments left out.
    pub fn tokens(&self) -> &[(Token, Span)] {
        self.tokens.get_or_init(|| syntax::tokens(&self.text))
    }

    /// Its comments.
    pub fn comments(&self) -> &[Span] {
        self.comments.get_or_init(|| syntax::comments(&self.text))
    }

    /// The index of the token that a place touches; a name before anything else.
    pub fn token_at(&self, at: usize) -> Option<usize> {
        let tokens = self.tokens();
        let after = tokens.partition_point(|(_, span)| (span.end as usize) < at);
        let touches = |index: &usize| {
            let found = tokens.get(*index);
            found.is_some_and(|(_, span)| span.start as usize <= at && at <= span.end as usize)
        };
        let both = [after, after + 1].into_iter().filter(touches);
        let word = |index: &usize| {
            let token = tokens[*index].0;
            token == Token::Ident || token.is_keyword()
        };
        both.clone().find(word).or_else(|| both.clone().next_back())
    }

    /// The name or keyword that a place touches.
    pub fn word_at(&self, at: usize) -> Option<(Token, Span)> {
        let (token, span) = self.tokens()[self.token_at(at)?];
        (token == Token::Ident || token.is_keyword()).then_some((token, span))
    }

    /// Is this the `every` of a `record` or an `observe`, and no name?
    pub fn is_every(&self, span: Span) -> bool {
        if self.slice(span) != "every" {
            return false;
        }
        let items = &self.survey().tree.items;
        let every = items.iter().find_map(|item| match &item.kind {
            ItemKind::Record { every, .. } | ItemKind::Observe { every, .. }
                if item.span.start <= span.start && span.end <= item.span.end =>
            {
                every.as_ref()
            }
            _ => None,
        });
        every.is_some_and(|every| {
            let next = self
                .tokens()
                .partition_point(|(_, token)| token.start <= span.start);
            self.tokens()
                .get(next)
                .is_some_and(|(_, token)| token.start == every.span.start)
        })
    }

    /// Whether a place lies in a comment.
    pub fn in_comment(&self, at: usize) -> bool {
        let comments = self.comments();
        let after = comments.partition_point(|span| (span.end as usize) < at);
        comments.get(after).is_some_and(|span| {
            // A comment with `//` goes on behind its last character, one that `*/` closes does not.
            let closed = span.end as usize == at && self.slice(*span).starts_with("/*");
            (span.start as usize) < at && !closed
        })
    }

    /// The declaration that the name at a place means: as the checker found it, else by the rules of scope.
    pub fn meant(&self, span: Span) -> Option<usize> {
        let names = self.names();
        // `output x` declares an output and reads the state: the state is what a reader asks for.
        let used = names.uses.get(&span).copied();
        let known = used.or_else(|| names.declared_at(span));
        let behind_dot = self.text[..span.start as usize].trim_end().ends_with('.');
        known.or_else(|| {
            let name = self.slice(span);
            (!behind_dot).then(|| names.visible(name, span.start as usize))?
        })
    }

    /// A declaration by its index.
    pub fn declaration(&self, index: usize) -> &Declaration {
        &self.names().declarations[index]
    }

    /// The byte of a position; beyond a line's end it is that end, beyond the text its end.
    pub fn offset(&self, position: Position) -> usize {
        let line = position.line as usize;
        let Some(start) = self.lines.get(line).copied() else {
            return self.text.len();
        };
        let end = self
            .lines
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        let mut units = position.character as usize;
        for (at, c) in self.text[start..end].char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        end
    }

    /// The position of a byte: line, and UTF-16 units within it.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let before = &self.text[self.lines[line]..offset];
        let units: usize = if before.is_ascii() {
            before.len()
        } else {
            before.chars().map(char::len_utf16).sum()
        };
        Position::new(line as u32, units as u32)
    }

    /// A place as the protocol says it.
    pub fn range(&self, span: Span) -> Range {
        let range = span.range();
        Range::new(self.position(range.start), self.position(range.end))
    }

    /// A place of the protocol in bytes; one that ends before it begins is empty.
    pub fn span(&self, range: Range) -> Span {
        let start = self.offset(range.start);
        Span::new(start, self.offset(range.end).max(start))
    }

    /// A text for a place.
    pub fn edit(&self, span: Span, text: impl Into<String>) -> TextEdit {
        TextEdit::new(self.range(span), text.into())
    }

    /// The text after edits that do not overlap.
    pub fn with(&self, edits: &[(Span, String)]) -> String {
        let mut edits: Vec<&(Span, String)> = edits.iter().collect();
        edits.sort_by_key(|(span, _)| *span);
        let mut text = self.text.clone();
        for (span, new) in edits.into_iter().rev() {
            text.replace_range(span.range(), new);
        }
        text
    }
}

/// The byte at which each line begins.
pub(super) fn line_starts(text: &str) -> Vec<usize> {
    let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0)
        .chain(breaks.map(|(at, _)| at + 1))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(range: [u32; 4], text: &str) -> TextDocumentContentChangeEvent {
        let [a, b, c, d] = range;
        TextDocumentContentChangeEvent {
            range: Some(Range::new(Position::new(a, b), Position::new(c, d))),
            range_length: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn positions_count_utf16_units() {
        let document = Document::new("// 𝄞é\nstate x = 0.0\r\n".to_owned());
        assert_eq!(document.offset(Position::new(0, 5)), 7, "after the clef");
        assert_eq!(document.offset(Position::new(0, 4)), 3, "inside the clef");
        assert_eq!(document.position(9), Position::new(0, 6));
        assert_eq!(document.position(10), Position::new(1, 0));
        assert_eq!(document.offset(Position::new(0, 99)), 9);
        assert_eq!(document.offset(Position::new(9, 0)), document.text().len());
        for (offset, _) in document.text().char_indices() {
            assert_eq!(document.offset(document.position(offset)), offset);
        }
    }

    #[test]
    fn changes_apply_in_order() {
        let document = Document::new("a𝄞b\nc".to_owned());
        let document = document.changed(vec![
            change([0, 3, 0, 4], "xy"),
            change([1, 0, 1, 0], "z\n"),
            change([0, 0, 0, 1], ""),
        ]);
        assert_eq!(document.text(), "𝄞xy\nz\nc");
        assert_eq!(
            document.changed(vec![change([5, 0, 2, 0], "!")]).text(),
            "𝄞xy\nz\nc!"
        );
    }
}
