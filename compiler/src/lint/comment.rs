//! `n // 2`: a comment that reads as a division.

use super::Facts;
use crate::{
    diagnostic::{Diagnostic, catalog::warning as say},
    span::Span,
    syntax::{self, Token},
};

/// Warns of comments that are numbers and follow a name, a call or an element on their line.
pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let divides = |comment: &Span| divisor(facts.text(*comment)).is_some();
    let comments: Vec<Span> = (syntax::comments(facts.source).into_iter())
        .filter(divides)
        .collect();
    if comments.is_empty() {
        return;
    }
    let tokens = syntax::tokens(facts.source);
    let operands = [Token::Ident, Token::RightParen, Token::RightBracket];
    for comment in comments {
        let next = tokens.partition_point(|(_, token)| token.start < comment.start);
        let Some((token, place)) = next.checked_sub(1).map(|last| tokens[last]) else {
            continue;
        };
        let between = Span::new(place.end as usize, comment.start as usize);
        if operands.contains(&token) && !facts.text(between).contains('\n') {
            let start = comment.start as usize;
            found.push(say::division_as_comment(
                comment,
                Span::new(start, start + 2),
            ));
        }
    }
}

/// The number that a comment consists of, but for parentheses that it closes.
fn divisor(comment: &str) -> Option<&str> {
    let text = comment.strip_prefix("//")?.trim();
    let number = text.trim_end_matches([')', ']']).trim_end();
    let digits = number
        .chars()
        .all(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
    (digits && number.starts_with(|c: char| c.is_ascii_digit())).then_some(number)
}
