//! Where latency counts, adds the terms that are known last at the end of a sum.
//!
//! * In a chain of sums, the terms that are known last are added last: those that depend on the states that
//!   the step before computed last. The others have been added up by then.
//! * Sums over lanes that a sum adds or subtracts with the same factor become one: one exchange instead of
//!   several.
//!
//! Invariant: sums change only by the order of their terms; some stay (see
//! [`crate::kernel::analysis::free_sums`]). A uniform subtree stays one term: the step table may have it.
//!
//! This is not a pass of the pipeline, as it changes roundings: a kernel's schedule asks for it.

mod join;

use crate::{
    ir::{BinaryOp, Expr, ExprId, Program, Stmt, Value},
    kernel::analysis::{
        free_sums::FreeSums,
        readiness::Times,
        terms::{Term, sum, terms_but},
    },
};

/// Terms of a sum that is ordered, at most: the tree becomes that deep.
const LONGEST: usize = 128;

/// Changes what it can; returns how many sums it changed.
pub(crate) fn run(program: &mut Program) -> u32 {
    let joined = join::run(program);
    let sums = FreeSums::new(program, program.phases.iter().map(|phase| phase.as_slice()));
    let mut times = Times::new(program);
    let mut ordered = 0;
    program.each_phase(|program, block| ordered += order(program, block, &sums, &mut times));
    joined + ordered
}

/// Makes the sum at `root` one of these terms.
fn replace(program: &mut Program, root: ExprId, terms: &[Term]) {
    let span = program.span(root);
    let new = sum(program, terms, span);
    program[root] = program[new].clone();
}

/// Orders the terms of sums by when they are known.
fn order(program: &mut Program, block: &[Stmt], sums: &FreeSums, times: &mut Times) -> u32 {
    let mut changed = 0;
    for stmt in block {
        for &root in stmt.roots().iter() {
            for sum in sums.of(program, root) {
                changed += u32::from(order_sum(program, sum, times));
            }
        }
        times.statement(program, stmt);
        for inner in stmt.blocks() {
            changed += order(program, inner, sums, times);
        }
    }
    changed
}

fn order_sum(program: &mut Program, sum: ExprId, times: &mut Times) -> bool {
    if times.uniformity.find(program, sum).is_uniform() {
        return false;
    }
    // A uniform subtree is one term.
    let old = terms_but(program, sum, |id| {
        times.uniformity.find(program, id).is_uniform()
    });
    if !(3..=LONGEST).contains(&old.len()) {
        return false;
    }
    let mut new = old.clone();
    new.sort_by_cached_key(|&(term, _)| times.of(program, term));
    if let Some(literal) = fold_literals(program, &mut new) {
        new.insert(0, literal);
    }
    let product = |&(id, _): &Term| matches!(program[id], Expr::Binary(BinaryOp::Multiply, ..));
    // A product that comes first is not fused.
    if let Some(first) = new.iter().position(|term| !product(term)) {
        new[..=first].rotate_right(1);
    }
    let changed = new != old;
    if changed {
        replace(program, sum, &new);
    }
    changed
}

/// Removes the literals of a sum if there are several; returns them.
fn fold_literals(program: &mut Program, terms: &mut Vec<Term>) -> Option<Term> {
    let number = |&(id, negative): &Term| {
        let Expr::Literal(Value::F32(x)) = program[id] else {
            return None;
        };
        Some(f64::from(if negative { -x } else { x }))
    };
    let literals: Vec<f64> = terms.iter().filter_map(number).collect();
    let span = program.span(terms.first()?.0);
    if literals.len() < 2 {
        return None;
    }
    terms.retain(|term| number(term).is_none());
    let total = literals.iter().sum::<f64>() as f32;
    Some((program.add(Expr::Literal(Value::F32(total)), span), false))
}
