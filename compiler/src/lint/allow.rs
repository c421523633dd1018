//! `// allow(W0201)`: comments that silence warnings.

use super::Facts;
use crate::{
    diagnostic::{
        Diagnostic, Severity,
        catalog::{self, warning as say},
    },
    span::Span,
    syntax::{
        self,
        ast::{Block, ItemKind, StmtKind},
    },
};

/// A code that a comment allows.
struct Allowed {
    /// As it is written.
    span: Span,
    /// What is removed with it.
    whole: Span,
    code: &'static str,
    /// Where it silences: each from its first byte to its last.
    places: Vec<Span>,
    used: bool,
}

/// Takes out what comments allow, and warns of comments that allow nothing.
pub(super) fn silence(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    if !facts.source.contains("allow") {
        return;
    }
    let mut allowed = read(facts, found);
    found.sort_by_key(Diagnostic::span);
    let mut silent = vec![false; found.len()];
    for allow in &mut allowed {
        for place in &allow.places {
            let from = found.partition_point(|warning| warning.span().start < place.start);
            let here = found[from..]
                .iter()
                .take_while(|warning| warning.span().start < place.end);
            for (index, _) in here
                .enumerate()
                .filter(|(_, warning)| warning.code == allow.code)
            {
                (allow.used, silent[from + index]) = (true, true);
            }
        }
    }
    let mut silent = silent.into_iter();
    found.retain(|_| !silent.next().unwrap_or(false));
    let unused = allowed.iter().filter(|allow| !allow.used);
    found.extend(unused.map(|allow| say::unused_allow(allow.code, allow.span, allow.whole)));
}

/// The codes of all comments that begin with `allow(`.
fn read(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) -> Vec<Allowed> {
    let source = facts.source;
    let tokens = syntax::tokens(source);
    let mut statements = None;
    let mut allowed = Vec::new();
    for comment in syntax::comments(source) {
        let Some(codes) = codes(facts.text(comment)) else {
            continue;
        };
        let start = comment.start as usize;
        let next = tokens.partition_point(|(_, token)| token.start < comment.start);
        let line_start = source[..start].rfind('\n').map_or(0, |at| at + 1);
        let places = if next == 0 {
            vec![Span::new(0, source.len())]
        } else {
            // The line of the comment, or the next one with something on it.
            let alone = source[line_start..start].trim().is_empty();
            let at = match tokens.get(next) {
                Some((_, token)) if alone => token.start as usize,
                _ => start,
            };
            let line = line_around(source, at);
            let all = statements.get_or_insert_with(|| spans(facts));
            let first = all.partition_point(|span| span.start < line.start);
            let here = all[first..].iter().take_while(|span| span.start < line.end);
            here.copied().chain([line]).collect()
        };
        let spans = codes.iter().map(|(offset, written)| {
            let at = start + offset;
            Span::new(at, at + written.len())
        });
        let spans: Vec<Span> = spans.collect();
        for (index, (_, written)) in codes.iter().enumerate() {
            let span = spans[index];
            // With the comma before it, or behind it.
            let whole = match (index.checked_sub(1), spans.get(index + 1)) {
                (Some(before), _) => Span::new(spans[before].end as usize, span.end as usize),
                (None, Some(next)) => Span::new(span.start as usize, next.start as usize),
                (None, None) => comment,
            };
            let entry = catalog::find(written);
            match entry.filter(|entry| Severity::of(entry.code) == Severity::Warning) {
                Some(entry) => allowed.push(Allowed {
                    span,
                    whole,
                    code: entry.code,
                    places: places.clone(),
                    used: false,
                }),
                None => found.push(say::unknown_warning(written, span)),
            }
        }
    }
    allowed
}

/// The codes between the parentheses of `// allow(W0201, W0203)`, and where they stand in the comment. What
/// follows the parentheses is a reason, for readers.
fn codes(comment: &str) -> Option<Vec<(usize, &str)>> {
    let rest = comment.strip_prefix("//")?.trim_start();
    let list = rest.strip_prefix("allow")?.trim_start().strip_prefix('(')?;
    let (list, _) = list.split_once(')')?;
    let mut at = list.as_ptr() as usize - comment.as_ptr() as usize;
    let codes = list.split(',').filter_map(|code| {
        let offset = at + code.len() - code.trim_start().len();
        at += code.len() + 1;
        let code = code.trim();
        (!code.is_empty()).then_some((offset, code))
    });
    Some(codes.collect())
}

fn line_around(source: &str, at: usize) -> Span {
    let start = source[..at].rfind('\n').map_or(0, |at| at + 1);
    let end = source[at..].find('\n').map_or(source.len(), |end| at + end);
    Span::new(start, end)
}

/// The declarations and statements, by where they begin.
fn spans(facts: &Facts<'_>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open: Vec<&Block> = Vec::new();
    for item in &facts.tree.items {
        found.push(item.span);
        match &item.kind {
            ItemKind::Init(body) | ItemKind::Step { body, .. } | ItemKind::Finish(body) => {
                open.push(body);
            }
            ItemKind::Fn(function) => open.push(&function.body),
            ItemKind::Test(test) => found.extend(test.parts.iter().map(|part| part.span)),
            _ => {}
        }
    }
    while let Some(block) = open.pop() {
        for stmt in &block.stmts {
            found.push(stmt.span);
            match &stmt.kind {
                StmtKind::If {
                    branches,
                    otherwise,
                } => {
                    open.extend(branches.iter().map(|(_, body)| body));
                    open.extend(otherwise);
                }
                StmtKind::For { body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::Integrate { body, .. }
                | StmtKind::Block(body) => open.push(body),
                StmtKind::Match { arms, .. } => open.extend(arms.iter().map(|arm| &arm.body)),
                _ => {}
            }
        }
    }
    found.sort();
    found
}
