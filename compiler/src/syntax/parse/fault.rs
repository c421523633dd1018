//! What the grammar notes where it cannot go on; `slip` turns it into a diagnostic.

use super::Tokens;
use crate::{
    diagnostic::Diagnostic,
    syntax::token::{Token, TokenSet},
};
use chumsky::{DefaultExpected, error::Error, error::LabelError, span::SimpleSpan, util::MaybeRef};

/// A mistake: where, and what would have been right there.
#[derive(Clone, Debug)]
pub(in crate::syntax) struct Fault {
    /// The index of the token that fits nowhere.
    pub(in crate::syntax) at: usize,
    /// The kinds that would have fitted.
    pub(in crate::syntax) expected: TokenSet,
    /// The complaint, if the rule knew it.
    pub(in crate::syntax) said: Option<Box<Diagnostic>>,
}

impl Fault {
    /// The token at `at` is none of `expected`.
    pub(super) fn unexpected(at: usize, expected: TokenSet) -> Self {
        Fault {
            at,
            expected,
            said: None,
        }
    }

    /// A mistake of which the rule knows the message.
    pub(super) fn said(at: usize, diagnostic: Diagnostic) -> Self {
        Fault {
            at,
            expected: TokenSet::default(),
            said: Some(Box::new(diagnostic)),
        }
    }
}

impl<'a> Error<'a, Tokens<'a>> for Fault {
    fn merge(self, other: Self) -> Self {
        if self.at != other.at {
            return if self.at > other.at { self } else { other };
        }
        Fault {
            at: self.at,
            expected: self.expected.or(other.expected),
            said: self.said.or(other.said),
        }
    }
}

impl<'a> LabelError<'a, Tokens<'a>, DefaultExpected<'a, Token>> for Fault {
    fn expected_found<E: IntoIterator<Item = DefaultExpected<'a, Token>>>(
        expected: E,
        _: Option<MaybeRef<'a, Token>>,
        span: SimpleSpan,
    ) -> Self {
        let mut set = TokenSet::default();
        for one in expected {
            if let DefaultExpected::Token(token) = one {
                set = set.or(TokenSet::of(&[*token]));
            }
        }
        Fault::unexpected(span.start, set)
    }
}
