//! Tokens to tree: the grammar, by area, and the few rules that all areas share.
//!
//! Decisions of the grammar:
//! * Newlines mean nothing. A token that can continue an expression does continue it, wherever it stands:
//!   `x = y` and `-z` on the next line are one statement `x = y - z`, `f` and `(a)` below it are a call. No
//!   legal statement begins with `(`, `[` or an operator, so nothing is lost. `return` takes the expression
//!   that follows, if one follows.
//! * One token of lookahead decides everything (two after `else` and at `world`); nothing is read twice. So
//!   the first token that fits nowhere is the mistake, and the time is linear.
//! * Lines and indentation only guide recovery and messages, never what is legal.
//! * `agents`, `steps`, `step` and `world` are words of declarations and also names inside expressions.
//!   `limit` is a word only after the condition of `while`, `test` only where a declaration begins and a text
//!   follows, and the words of tests only in one.
//! * The grammar gets balanced brackets (`bracket`), so all recursion is bounded; `if` values count
//!   themselves.

pub(super) mod expr;
pub(super) mod fault;
pub(super) mod item;
pub(super) mod operator;
pub(super) mod recover;
pub(super) mod stmt;
pub(super) mod test;
pub(super) mod ty;

use super::{
    ast::Name,
    lex::{MAX_DIAGNOSTICS, Mark},
    token::{Token, TokenSet},
};
use crate::span::Span;
use chumsky::{input::InputRef, prelude::*};
use fault::Fault;
use std::cell::Cell;

/// What the grammar reads.
pub(super) struct Script<'a> {
    /// The text.
    pub(super) source: &'a str,
    /// The kinds of the tokens, brackets balanced.
    pub(super) tokens: &'a [Token],
    /// Their places.
    pub(super) marks: &'a [Mark],
    /// The `///` comments, in order.
    pub(super) docs: &'a [Span],
    /// How many mistakes have been noted; past the limit nobody reads them.
    pub(super) noted: Cell<usize>,
    /// How many `if` values are being read inside each other; the one recursion that needs no bracket.
    pub(super) ifs: Cell<usize>,
}

pub(super) type Tokens<'a> = &'a [Token];
pub(super) type Extra = extra::Err<Fault>;
/// A rule of the grammar.
pub(super) type Rule<'a, O> = Boxed<'a, 'a, Tokens<'a>, O, Extra>;
type Reader<'a, 'p> = InputRef<'a, 'p, Tokens<'a>, Extra>;

/// The words that begin a declaration.
pub(super) const DECLARATIONS: TokenSet = TokenSet::of(&[
    Token::Agents,
    Token::Steps,
    Token::Const,
    Token::Param,
    Token::Data,
    Token::Input,
    Token::State,
    Token::Output,
    Token::Fn,
    Token::Struct,
    Token::Enum,
    Token::Init,
    Token::Step,
    Token::Finish,
    Token::World,
    Token::Observe,
    Token::Record,
]);

/// The declarations and blocks that `world` may stand before.
pub(super) const OF_WORLD: TokenSet = TokenSet::of(&[
    Token::Input,
    Token::State,
    Token::Output,
    Token::Step,
    Token::Observe,
]);

/// The words of a later version.
pub(super) const RESERVED: TokenSet = TokenSet::of(&[Token::Near, Token::Spawn, Token::Die]);

/// The words that begin a statement and nothing else.
pub(super) const STATEMENT_WORDS: TokenSet = TokenSet::of(&[
    Token::Let,
    Token::Var,
    Token::While,
    Token::Match,
    Token::Return,
    Token::Break,
    Token::Continue,
    Token::Stop,
    Token::Integrate,
    Token::Assert,
]);

/// What reads as a name inside expressions.
pub(super) const NAMES: TokenSet = TokenSet::of(&[
    Token::Ident,
    Token::Agents,
    Token::Steps,
    Token::Step,
    Token::World,
]);

/// What can begin a statement.
pub(super) const STATEMENT: TokenSet = STATEMENT_WORDS.or(NAMES).or(TokenSet::of(&[
    Token::If,
    Token::For,
    Token::LeftBrace,
    Token::Hole,
]));

/// What can begin an expression.
pub(super) const EXPRESSION: TokenSet = NAMES.or(TokenSet::of(&[
    Token::Int,
    Token::Uint,
    Token::Float,
    Token::True,
    Token::False,
    Token::LeftParen,
    Token::LeftBracket,
    Token::If,
    Token::Bitcast,
    Token::Minus,
    Token::Not,
    Token::Tilde,
    Token::Hole,
]));

/// What can begin a type.
pub(super) const TYPE: TokenSet = TokenSet::of(&[Token::Ident, Token::LeftBracket, Token::Hole]);

/// The makers of rules: all closures share the script.
#[derive(Clone, Copy)]
pub(super) struct Grammar<'a> {
    pub(super) script: &'a Script<'a>,
}

impl<'a> Grammar<'a> {
    /// The text of the token at an index.
    pub(super) fn text(self, index: usize) -> &'a str {
        let mark = self.script.marks.get(index);
        mark.and_then(|mark| self.script.source.get(mark.span.range()))
            .unwrap_or_default()
    }

    /// The place of the tokens `from..to`.
    pub(super) fn span(self, from: usize, to: usize) -> Span {
        let first = self.place(from);
        match to.checked_sub(1) {
            Some(last) if last >= from => first.to(self.place(last)),
            _ => Span::new(first.start as usize, first.start as usize),
        }
    }

    /// The place of the token at an index; past the last one, the end of the text.
    pub(super) fn place(self, index: usize) -> Span {
        let end = self.script.source.len();
        let mark = self.script.marks.get(index);
        mark.map_or(Span::new(end, end), |mark| mark.span)
    }

    /// One token of this kind.
    pub(super) fn token(self, token: Token) -> Rule<'a, Token> {
        self.one(TokenSet::of(&[token]))
    }

    /// One token of these kinds.
    pub(super) fn one(self, wanted: TokenSet) -> Rule<'a, Token> {
        custom(move |inp: &mut Reader<'a, '_>| match inp.peek() {
            Some(token) if wanted.has(token) => {
                inp.skip();
                Ok(token)
            }
            _ => Err(Fault::unexpected(here(inp), wanted)),
        })
        .boxed()
    }

    /// A name that a declaration gives.
    pub(super) fn name(self) -> Rule<'a, Name> {
        self.token(Token::Ident)
            .map_with(move |_, extra| {
                let span: SimpleSpan = extra.span();
                self.name_at(span.start)
            })
            .boxed()
    }

    /// The token at an index as a name.
    pub(super) fn name_at(self, index: usize) -> Name {
        Name {
            text: self.text(index).to_owned(),
            span: self.place(index),
        }
    }

    /// Nothing, or `mark` and then `rule`: once the mark stands there, the rule must follow.
    pub(super) fn after<O: 'a>(self, mark: Token, rule: Rule<'a, O>) -> Rule<'a, Option<O>> {
        Self::once(self.token(mark).ignored().boxed(), rule)
    }

    /// The same behind a name that is a keyword only here.
    pub(super) fn after_word<O: 'a>(
        self,
        word: &'static str,
        rule: Rule<'a, O>,
    ) -> Rule<'a, Option<O>> {
        let word = custom(move |inp: &mut Reader<'a, '_>| {
            let at = here(inp);
            if inp.peek() == Some(Token::Ident) && self.text(at) == word {
                inp.skip();
                return Ok(());
            }
            Err(Fault::unexpected(at, TokenSet::of(&[])))
        });
        Self::once(word.boxed(), rule)
    }

    /// What follows a mark, if it stands there.
    fn once<O: 'a>(mark: Rule<'a, ()>, rule: Rule<'a, O>) -> Rule<'a, Option<O>> {
        // Through `or_not`, so that a later fault still names the mark among what was expected.
        let mark = mark.or_not();
        custom(move |inp: &mut Reader<'a, '_>| match inp.parse(&mark)? {
            Some(()) => inp.parse(&rule).map(Some),
            None => Ok(None),
        })
        .boxed()
    }
}

/// The index of the next token.
pub(super) fn here(inp: &Reader<'_, '_>) -> usize {
    *inp.cursor().inner()
}

impl Token {
    /// Whether this stands between or before operands, or between a place and its value.
    pub fn is_operator(self) -> bool {
        let operators = operator::INFIX.or(operator::PREFIXES);
        operators.or(stmt::ASSIGNMENTS).has(self)
    }

    /// Whether this stands between a place and its value.
    pub fn is_assignment(self) -> bool {
        stmt::ASSIGNMENTS.has(self)
    }
}
