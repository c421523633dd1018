//! Makes the brackets of a token list balanced and shallow before the grammar sees it.
//!
//! Invariant: in the result every bracket has its partner, properly nested, at most `MAX_NESTING` deep. All
//! recursion of the grammar goes through brackets, so this bounds the stack of every later stage.

use super::{
    lex::{Lexed, MAX_DIAGNOSTICS, Mark},
    token::Token,
};
use crate::{
    diagnostic::{Diagnostic, catalog::syntax as say},
    span::Span,
};

/// The deepest nesting of brackets of all kinds together.
pub const MAX_NESTING: usize = 64;

/// Tokens with balanced brackets.
#[derive(Debug, Default)]
pub(super) struct Balanced {
    /// The kinds.
    pub(super) tokens: Vec<Token>,
    /// Their places; a bracket that was missing has an empty one.
    pub(super) marks: Vec<Mark>,
    /// Ranges of tokens, in which a missing or stray bracket has already been reported and what the
    /// grammar finds is its consequence.
    pub(super) excused: Vec<std::ops::Range<usize>>,
    /// What was wrong.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Balances the brackets of the tokens.
pub(super) fn balance(source: &str, lexed: &Lexed) -> Balanced {
    let mut balancer = Balancer {
        source: source.as_bytes(),
        lexed,
        out: Balanced::default(),
        stack: Vec::new(),
        indent: 0,
        suspect: None,
        top: 0,
        stray: false,
    };
    balancer.out.tokens.reserve(lexed.tokens.len());
    balancer.out.marks.reserve(lexed.tokens.len());
    let mut index = 0;
    while index < lexed.tokens.len() {
        index = balancer.step(index);
    }
    if !balancer.stack.is_empty() {
        balancer.abandon(None);
    }
    balancer.out
}

/// A bracket that waits for its partner.
struct Open {
    token: Token,
    /// Its index in the result.
    at: usize,
    span: Span,
    /// The column at which its line begins.
    indent: usize,
    /// Whether a `(`, a `[` is open at or above this one and inside the nearest `{`; whether a `{` is.
    paren: bool,
    square: bool,
    brace: bool,
    /// Whether it is the `{` of a test, in which declarations' words stand.
    test: bool,
}

struct Balancer<'a> {
    source: &'a [u8],
    lexed: &'a Lexed,
    out: Balanced,
    stack: Vec<Open>,
    /// The column at which the present line begins.
    indent: usize,
    /// A `}` whose indentation says that it was meant for another `{`.
    suspect: Option<Span>,
    /// Index in the result just after the last `}` that closed everything.
    top: usize,
    /// Whether the token before was a stray bracket.
    stray: bool,
}

impl Balancer<'_> {
    /// Takes the token at `index`, or a whole group that is too deep; returns the next index.
    fn step(&mut self, index: usize) -> usize {
        let token = self.lexed.tokens[index];
        let mark = self.lexed.marks[index];
        if mark.first {
            self.indent = self.column(mark.span);
            let part =
                matches!(self.stack.as_slice(), [only] if only.test) && self.begins_part(index);
            if !self.stack.is_empty() && !part && self.begins_declaration(index) {
                self.abandon(Some(mark.span));
            } else if self.begins_statement(index) {
                self.abandon_expression(mark.span);
            }
        }
        let was_stray = std::mem::take(&mut self.stray);
        if token.opens() {
            return self.open(index);
        }
        if token.closes() {
            self.close(token, mark, was_stray);
        } else {
            self.push(token, mark);
        }
        index + 1
    }

    fn push(&mut self, token: Token, mark: Mark) {
        self.out.tokens.push(token);
        self.out.marks.push(mark);
    }

    fn complain(&mut self, diagnostic: Diagnostic) {
        if self.out.diagnostics.len() <= MAX_DIAGNOSTICS {
            self.out.diagnostics.push(diagnostic);
        }
    }

    fn open(&mut self, index: usize) -> usize {
        let token = self.lexed.tokens[index];
        let mark = self.lexed.marks[index];
        let outer = self.stack.last();
        let brace = token == Token::LeftBrace;
        let inherit = |held: fn(&Open) -> bool| !brace && outer.is_some_and(held);
        let open = Open {
            token,
            at: self.out.tokens.len(),
            span: mark.span,
            indent: self.indent,
            paren: token == Token::LeftParen || inherit(|open| open.paren),
            square: token == Token::LeftBracket || inherit(|open| open.square),
            brace: brace || outer.is_some_and(|open| open.brace),
            test: brace && outer.is_none() && self.follows_test(index),
        };
        self.push(token, mark);
        if self.stack.len() < MAX_NESTING {
            self.stack.push(open);
            return index + 1;
        }
        self.complain(say::nesting_too_deep(MAX_NESTING, mark.span));
        self.skip_group(index)
    }

    /// Replaces what stands in the group that opens at `index` by a hole.
    fn skip_group(&mut self, index: usize) -> usize {
        let opener = self.lexed.tokens[index];
        let mut depth = 0usize;
        let mut next = index;
        let mut end = self.lexed.marks[index].span;
        while next < self.lexed.tokens.len() {
            if depth > 0 && self.lexed.marks[next].first && self.begins_declaration(next) {
                break;
            }
            let token = self.lexed.tokens[next];
            depth += usize::from(token.opens());
            depth -= usize::from(token.closes());
            end = self.lexed.marks[next].span;
            next += 1;
            if depth == 0 {
                break;
            }
        }
        let place = |span| Mark { span, first: false };
        let inside = Span::new(end.start as usize, end.start as usize);
        let hole = self.out.tokens.len();
        self.out.excused.push(hole..hole + 2);
        self.push(Token::Hole, place(inside));
        self.push(opener.closer().unwrap_or(Token::Hole), place(end));
        if depth > 0 {
            // The missing brackets are a part of the same mistake.
            while let Some(open) = self.stack.pop() {
                self.close_virtually(&open, end);
            }
        }
        next
    }

    fn close(&mut self, token: Token, mark: Mark, was_stray: bool) {
        let Some(open) = self.stack.last() else {
            return self.drop_stray(token, mark, was_stray);
        };
        if open.token.closer() == Some(token) {
            return self.pop(token, mark);
        }
        let waits = match token {
            Token::RightParen => open.paren,
            Token::RightBracket => open.square,
            _ => open.brace,
        };
        if waits {
            self.complain_unclosed(Some(mark.span));
            while let Some(open) = self.stack.pop_if(|open| open.token.closer() != Some(token)) {
                self.close_virtually(&open, mark.span);
            }
            self.pop(token, mark);
        } else if token != Token::RightBrace && open.token != Token::LeftBrace {
            let meant = open.token.closer().unwrap_or(token);
            self.complain(say::mismatched_bracket(
                bracket(token),
                bracket(meant),
                mark.span,
                open.span,
            ));
            self.pop(meant, mark);
        } else {
            self.drop_stray(token, mark, was_stray);
        }
    }

    /// Pushes the bracket that closes the innermost open one.
    fn pop(&mut self, token: Token, mark: Mark) {
        let Some(open) = self.stack.pop() else { return };
        if token == Token::RightBrace && mark.first && open.indent != self.indent {
            self.suspect.get_or_insert(mark.span);
        }
        self.push(token, mark);
        if self.stack.is_empty() {
            self.suspect = None;
            if token == Token::RightBrace {
                self.top = self.out.tokens.len();
            }
        }
    }

    fn drop_stray(&mut self, token: Token, mark: Mark, was_stray: bool) {
        self.stray = true;
        if !was_stray {
            self.complain(say::stray_bracket(bracket(token), mark.span));
        }
        if self.stack.is_empty() && token == Token::RightBrace {
            // What stands between was meant for the block that the extra brace ended too early.
            self.out.excused.push(self.top..self.out.tokens.len() + 1);
            self.top = self.out.tokens.len();
        }
    }

    /// Closes everything that is open, because a declaration begins or the text ends.
    fn abandon(&mut self, next: Option<Span>) {
        self.complain_unclosed(next);
        let end = match (next, self.lexed.marks.last()) {
            (Some(next), _) => Span::new(next.start as usize, next.start as usize),
            (None, Some(last)) => Span::new(last.span.end as usize, last.span.end as usize),
            (None, None) => Span::default(),
        };
        while let Some(open) = self.stack.pop() {
            self.close_virtually(&open, end);
        }
        self.suspect = None;
        self.top = self.out.tokens.len();
    }

    /// Closes what is open inside the nearest `{`, because a statement begins.
    fn abandon_expression(&mut self, next: Span) {
        let inside = |open: &mut Open| open.token != Token::LeftBrace;
        if self.stack.last_mut().is_some_and(inside) {
            self.complain_unclosed(Some(next));
            while let Some(open) = self.stack.pop_if(inside) {
                self.close_virtually(&open, next);
            }
        }
    }

    fn complain_unclosed(&mut self, found: Option<Span>) {
        if let Some(open) = self.stack.last() {
            let suspect = self
                .suspect
                .take()
                .filter(|_| open.token == Token::LeftBrace);
            self.complain(say::unclosed_bracket(
                bracket(open.token),
                open.token.closer().map_or("", bracket),
                open.span,
                found,
                suspect,
            ));
        }
    }

    fn close_virtually(&mut self, open: &Open, before: Span) {
        let at = before.start as usize;
        let index = self.out.tokens.len();
        let from = if open.token == Token::LeftBrace {
            index
        } else {
            open.at
        };
        self.out.excused.push(from..index + 1);
        let mark = Mark {
            span: Span::new(at, at),
            first: false,
        };
        self.push(open.token.closer().unwrap_or(Token::Hole), mark);
    }

    /// The number of bytes before the place on its line.
    fn column(&self, span: Span) -> usize {
        let before = &self.source[..span.start as usize];
        before.iter().rev().take_while(|b| **b != b'\n').count()
    }

    /// Whether a statement begins here that cannot stand between parentheses.
    fn begins_statement(&self, index: usize) -> bool {
        let next = self.lexed.tokens.get(index + 1);
        let assigned = next.is_some_and(|token| super::parse::stmt::ASSIGNMENTS.has(*token));
        match self.lexed.tokens[index] {
            Token::Ident => assigned,
            // The variance is a value, also on a line of its own.
            Token::Var => next != Some(&Token::LeftParen),
            word => super::parse::STATEMENT_WORDS.has(word),
        }
    }

    /// Whether `test "name"` stands before the index.
    fn follows_test(&self, index: usize) -> bool {
        let before = index.checked_sub(2);
        before.is_some_and(|first| {
            let word = self.lexed.marks[first].span.range();
            self.lexed.tokens[first..index] == [Token::Ident, Token::Text]
                && &self.source[word] == b"test"
        })
    }

    /// Whether a part of a test begins here with a word that begins declarations, too.
    fn begins_part(&self, index: usize) -> bool {
        let next = self.lexed.tokens.get(index + 1);
        match self.lexed.tokens[index] {
            Token::World => next.is_none_or(|next| !super::parse::OF_WORLD.has(*next)),
            word => super::parse::test::PARTS.has(word),
        }
    }

    /// Whether a declaration begins here at the left edge: inside brackets no legal model has such words.
    fn begins_declaration(&self, index: usize) -> bool {
        let token = |ahead: usize| self.lexed.tokens.get(index + ahead).copied();
        let word = match self.lexed.tokens[index] {
            Token::Step => {
                token(1) == Some(Token::LeftBrace)
                    || token(1) == Some(Token::Ident) && token(2) == Some(Token::LeftBrace)
            }
            Token::Agents | Token::Steps => token(1) == Some(Token::Int),
            Token::World => {
                token(1).is_some_and(|next| next == Token::Int || super::parse::OF_WORLD.has(next))
            }
            word => super::parse::DECLARATIONS.has(word),
        };
        word && self.column(self.lexed.marks[index].span) == 0
    }
}

/// How a bracket is written.
fn bracket(token: Token) -> &'static str {
    token.text().unwrap_or_default()
}
