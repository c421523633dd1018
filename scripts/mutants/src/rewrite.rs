//! Writes a file anew with its mutants in it, each behind the question whether it is the one that runs.

use crate::find::{Change, Site};
use std::ops::Range;

/// A site that was chosen, with its number.
#[derive(Clone, Debug)]
pub struct Mutant {
    pub number: usize,
    pub site: Site,
}

/// The text with all mutants in it.
pub fn rewritten(source: &str, mutants: &[Mutant]) -> String {
    let mut all: Vec<&Mutant> = mutants.iter().collect();
    all.sort_by_key(|mutant| {
        let range = &mutant.site.range;
        (
            range.start,
            usize::MAX - range.end,
            depth(&mutant.site.change),
            mutant.number,
        )
    });
    render(source, 0..source.len(), &all)
}

/// Of changes of the same text: which is around which.
fn depth(change: &Change) -> usize {
    match change {
        Change::Statement => 0,
        Change::Guard { .. } => 1,
        Change::Arm | Change::Body { .. } => 2,
        Change::Operator { .. } | Change::Unary { .. } => 3,
    }
}

fn active(mutant: &Mutant) -> String {
    format!("crate::mutants::active({})", mutant.number)
}

/// A stretch of the source with the mutants in it, outermost first.
fn render(source: &str, range: Range<usize>, mutants: &[&Mutant]) -> String {
    let mut text = String::new();
    let mut at = range.start;
    let mut rest = mutants;
    while let Some((&first, _)) = rest.split_first() {
        let own = &first.site.range;
        let alternatives = rest.iter().take_while(|other| {
            other.site.range == *own && depth(&other.site.change) == depth(&first.site.change)
        });
        let (alternatives, after) = rest.split_at(alternatives.count());
        let inside = after
            .iter()
            .take_while(|other| other.site.range.end <= own.end && !own.is_empty());
        let (inner, after) = after.split_at(inside.count());
        text += &source[at..own.start];
        text += &wrapped(source, alternatives, inner);
        at = own.end;
        rest = after;
    }
    text + &source[at..range.end]
}

fn within<'m>(mutants: &[&'m Mutant], range: &Range<usize>) -> Vec<&'m Mutant> {
    let inside = |mutant: &&&Mutant| {
        mutant.site.range.start >= range.start && mutant.site.range.end <= range.end
    };
    mutants.iter().filter(inside).copied().collect()
}

/// One place: what it was, or what one of its mutants makes of it.
fn wrapped(source: &str, alternatives: &[&Mutant], inner: &[&Mutant]) -> String {
    let part = |range: &Range<usize>| render(source, range.clone(), &within(inner, range));
    let first = alternatives[0];
    match &first.site.change {
        Change::Operator {
            left, right, old, ..
        } => {
            let (left, right) = (part(left), part(right));
            let mut text = "(".to_owned();
            for mutant in alternatives {
                if let Change::Operator { new, .. } = &mutant.site.change {
                    text += &format!("if {} {{ ({left}) {new} ({right}) }} else ", active(mutant));
                }
            }
            text + &format!("{{ ({left}) {old} ({right}) }})")
        }
        Change::Unary { operand, old } => {
            let operand = part(operand);
            format!(
                "(if {} {{ {operand} }} else {{ {old}({operand}) }})",
                active(first)
            )
        }
        Change::Body { .. } => (alternatives.iter())
            .map(|mutant| match &mutant.site.change {
                Change::Body { value } => format!(" if {} {{ return {value}; }}", active(mutant)),
                _ => String::new(),
            })
            .collect(),
        Change::Guard { .. } => {
            let mut text = format!("({})", part(&first.site.range));
            for mutant in alternatives {
                let Change::Guard { always } = mutant.site.change else {
                    continue;
                };
                text = match always {
                    true => format!("({} || {text})", active(mutant)),
                    false => format!("(!{} && {text})", active(mutant)),
                };
            }
            text
        }
        Change::Arm => format!(" if !{}", active(first)),
        Change::Statement => {
            let text = part(&first.site.range);
            format!("if !{} {{ {text} }}", active(first))
        }
    }
}
