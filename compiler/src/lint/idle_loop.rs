//! Loops that change nothing, and loops that never run.

use super::Facts;
use crate::{
    diagnostic::{Diagnostic, catalog::warning as say},
    hir::{Constant, Domain, ExprId, ExprKind, Stmt, StmtKind},
    span::Span,
};
use std::collections::HashSet;

const COUNTS_UP: &str = "a range counts up; to count down compute the index from it: `9 - i`";

pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let mut idle: Vec<Span> = Vec::new();
    for stmt in &facts.statements {
        match &stmt.kind {
            StmtKind::For { domain, .. } if is_empty(facts, *domain) => {
                found.push(say::idle_loop(Some(COUNTS_UP), head(facts, stmt.span)));
            }
            StmtKind::While { limit, .. } if is_none(facts, *limit) => {
                let help = "its limit leaves no iteration";
                found.push(say::idle_loop(Some(help), head(facts, stmt.span)));
            }
            StmtKind::For { .. } | StmtKind::While { .. } if !has_effect(facts, stmt) => {
                idle.push(stmt.span);
            }
            _ => {}
        }
    }
    // Of loops within one another the outermost is reported.
    idle.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    for span in idle {
        if span.start >= end {
            end = span.end;
            found.push(say::idle_loop(None, head(facts, span)));
        }
    }
    for id in facts.within(facts.roots()) {
        if let ExprKind::Fold(_, over) = &facts.model[id].kind
            && is_empty(facts, over.domain)
        {
            found.push(say::idle_loop(Some(COUNTS_UP), facts.model[id].span));
        }
    }
}

/// A range of literals that ends before it begins.
fn is_empty(facts: &Facts<'_>, domain: Domain) -> bool {
    let Domain::Range(start, end) = domain else {
        return false;
    };
    let literal = |id: ExprId| {
        let literal = facts.is_literal(facts.model[id].span);
        known(facts, id).filter(|_| literal)
    };
    matches!((literal(start), literal(end)), (Some(start), Some(end)) if end <= start)
}

fn is_none(facts: &Facts<'_>, limit: ExprId) -> bool {
    facts.is_literal(facts.model[limit].span) && known(facts, limit).is_some_and(|limit| limit <= 0)
}

fn known(facts: &Facts<'_>, id: ExprId) -> Option<i64> {
    match &facts.model[id].kind {
        ExprKind::Constant(constant) => Constant::as_int(constant),
        _ => None,
    }
}

/// Does the loop assign, draw, check or leave anything outside of it?
fn has_effect(facts: &Facts<'_>, stmt: &Stmt) -> bool {
    let mut own = HashSet::new();
    let (mut open, mut within) = (vec![stmt], Vec::new());
    while let Some(stmt) = open.pop() {
        if let StmtKind::Declare { local, .. } = &stmt.kind {
            own.insert(*local);
        }
        within.push(stmt);
        open.extend(stmt.blocks().into_iter().flatten());
    }
    within.into_iter().any(|stmt| {
        let acts = match &stmt.kind {
            StmtKind::Assign { place, .. } => match &facts.model[facts.root_of(*place)].kind {
                ExprKind::Local(local) => !own.contains(local),
                _ => true,
            },
            StmtKind::Return(_)
            | StmtKind::Stop
            | StmtKind::Integrate { .. }
            | StmtKind::Equation { .. }
            | StmtKind::Assert { .. } => true,
            StmtKind::Declare { .. }
            | StmtKind::If { .. }
            | StmtKind::For { .. }
            | StmtKind::While { .. }
            | StmtKind::Match { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Block(_) => false,
        };
        acts || stmt.roots().into_iter().any(|root| facts.draws(root))
    })
}

/// A loop up to its body.
fn head(facts: &Facts<'_>, span: Span) -> Span {
    let text = facts.text(span);
    let brace = text.find('{').unwrap_or(text.len());
    let length = text[..brace].trim_end().len();
    Span::new(span.start as usize, span.start as usize + length)
}
