//! Names that nothing uses, and variables that hide a state.

use super::Facts;
use crate::{
    diagnostic::{Diagnostic, Fix, catalog::warning as say},
    hir::{ExprId, StmtKind},
    names::{Declaration, Kind},
    span::Span,
    syntax::ast::ItemKind,
};
use std::collections::{HashMap, HashSet};

pub(super) fn lint(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let declarations = &facts.names.declarations;
    let variants = declarations.iter().zip(&facts.uses);
    let variants = variants.filter(|(it, uses)| it.kind == Kind::Variant && !uses.is_empty());
    // A variant of an enum uses the enum.
    let enums: HashSet<usize> = variants.filter_map(|(it, _)| it.owner).collect();
    let assigned = assigned(facts);
    let values = values(facts);
    let tests = facts.tree.items.iter().filter_map(|item| match &item.kind {
        ItemKind::Test(test) => Some(test.body),
        _ => None,
    });
    let tests: Vec<Span> = tests.collect();
    for (index, (declaration, uses)) in declarations.iter().zip(&facts.uses).enumerate() {
        if enums.contains(&index) || declaration.name.starts_with('_') {
            continue;
        }
        let (span, what) = (declaration.span, declaration.describe());
        match declaration.kind {
            Kind::Param | Kind::Data | Kind::Input => {
                // A test gives it a value, and reads none.
                let tested = |place: &Span| {
                    tests
                        .iter()
                        .any(|test| test.start <= place.start && place.end <= test.end)
                };
                if uses.iter().all(tested) {
                    found.push(say::unread_value(&what, &declaration.name, span));
                }
            }
            Kind::Const
            | Kind::State
            | Kind::Function
            | Kind::Struct
            | Kind::Enum
            | Kind::Parameter
            | Kind::Let
            | Kind::Var
            | Kind::Step => {
                let only_assigned = declaration.kind == Kind::Var
                    && uses.iter().all(|place| assigned.contains(place));
                if !uses.is_empty() && !only_assigned {
                    continue;
                }
                let value = values.get(&span).copied();
                let fixes = fixes(facts, declaration, uses, value);
                let assigned = !uses.is_empty();
                let what = match declaration.kind {
                    Kind::Let => "variable",
                    _ => &what,
                };
                found.push(say::unused_name(
                    what,
                    &declaration.name,
                    assigned,
                    span,
                    fixes,
                ));
            }
            Kind::Output
            | Kind::Test
            | Kind::Record
            | Kind::Observation
            | Kind::Field
            | Kind::Variant
            | Kind::Index => {}
        }
    }
    hidden_states(facts, found);
}

/// Where a name stands only to be assigned.
fn assigned(facts: &Facts<'_>) -> HashSet<Span> {
    let places = facts.statements.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Assign { place, .. } => Some(facts.model[facts.root_of(*place)].span),
        _ => None,
    });
    places.collect()
}

/// The values of variables, by the places of their names.
fn values(facts: &Facts<'_>) -> HashMap<Span, ExprId> {
    let values = facts.statements.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Declare { local, value } => Some((facts.model[*local].span, *value)),
        _ => None,
    });
    values.collect()
}

/// What an editor can do about a name that nothing uses.
fn fixes(
    facts: &Facts<'_>,
    declaration: &Declaration,
    uses: &[Span],
    value: Option<ExprId>,
) -> Vec<Fix> {
    let remove = |span: Span| Fix {
        title: "Remove it".to_owned(),
        edits: vec![(span, String::new())],
    };
    let mut fixes = Vec::new();
    match declaration.kind {
        // Without its draws later ones would be others.
        Kind::Let | Kind::Var
            if uses.is_empty() && value.is_some_and(|value| !facts.draws(value)) =>
        {
            fixes.push(remove(with_its_line(facts.source, declaration.whole)));
        }
        Kind::Step => {
            let before = &facts.source[..declaration.span.start as usize];
            let start = before.trim_end().len();
            return vec![remove(Span::new(start, declaration.span.end as usize))];
        }
        Kind::Let | Kind::Var | Kind::Parameter | Kind::Const | Kind::Function => {}
        _ => return fixes,
    }
    let places = [declaration.span].into_iter().chain(uses.iter().copied());
    let mark = |place: Span| {
        let start = place.start as usize;
        (Span::new(start, start), "_".to_owned())
    };
    let mut edits: Vec<(Span, String)> = places.map(mark).collect();
    edits.sort();
    fixes.push(Fix {
        title: format!("Name it `_{}`", declaration.name),
        edits,
    });
    fixes
}

/// A statement with its line, if nothing else stands there.
fn with_its_line(source: &str, span: Span) -> Span {
    let range = span.range();
    let start = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
    let end = source[range.end..]
        .find('\n')
        .map_or(source.len(), |at| range.end + at + 1);
    let alone =
        source[start..range.start].trim().is_empty() && source[range.end..end].trim().is_empty();
    match alone {
        true => Span::new(start, end),
        false => span,
    }
}

/// Variables and indices with the names of states that can be read where they stand.
fn hidden_states(facts: &Facts<'_>, found: &mut Vec<Diagnostic>) {
    let declarations = &facts.names.declarations;
    let states = declarations.iter().filter(|it| it.kind == Kind::State);
    let states: HashMap<&str, &Declaration> = states.map(|it| (it.name.as_str(), it)).collect();
    let items = &facts.tree.items;
    for local in declarations {
        let what = match local.kind {
            Kind::Let | Kind::Var => "variable",
            Kind::Index => "index",
            Kind::Step => "number of the step",
            _ => continue,
        };
        let Some(state) = states.get(local.name.as_str()) else {
            continue;
        };
        let after = items.partition_point(|item| item.span.start <= local.span.start);
        let Some(item) = after.checked_sub(1).map(|index| &items[index]) else {
            continue;
        };
        let reads_states = matches!(
            item.kind,
            ItemKind::State { .. }
                | ItemKind::Init(_)
                | ItemKind::Step { .. }
                | ItemKind::Finish(_)
                | ItemKind::Output { .. }
                | ItemKind::Record { .. }
                | ItemKind::Observe { .. }
        );
        // World code has no states of agents to read.
        if reads_states && (state.of_world || !item.of_world) {
            found.push(say::hidden_state(&local.name, what, local.span, state.span));
        }
    }
}
