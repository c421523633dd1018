//! Sums whose terms may be reordered, and may take new terms.
//!
//! Two kinds stay as they are. A sum that subtracts a term again is there for its rounding, as in `(x +
//! 12582912.0) - 12582912.0` and in compensated sums, also through names. And where a variable adds to
//! itself, roundings of its magnitude would add up over the steps.
//!
//! All rewrites that move terms ask this.

use crate::{
    ir::{BinaryOp, Expr, ExprId, Program, Stmt, Type, UnaryOp, Value, VarId, VarKind, names},
    kernel::analysis::{
        accumulators::Accumulators,
        terms::{Term, terms},
    },
    passes::shape::{Shape, shape},
};
use std::collections::HashMap;

/// Terms, with those behind names, beyond which names are not looked through.
const MANY: usize = 256;

/// The values of names.
pub(crate) struct FreeSums {
    values: HashMap<VarId, ExprId>,
    accumulators: Accumulators,
}

impl FreeSums {
    /// Records the names of these blocks, at any depth.
    pub(crate) fn new<'a>(
        program: &Program,
        blocks: impl IntoIterator<Item = &'a [Stmt], IntoIter: Clone>,
    ) -> FreeSums {
        let blocks = blocks.into_iter();
        FreeSums {
            values: blocks.clone().flat_map(names).collect(),
            accumulators: Accumulators::new(program, blocks),
        }
    }

    /// The free sums of numbers in a tree, innermost first.
    pub(crate) fn of(&self, program: &Program, id: ExprId) -> Vec<ExprId> {
        let mut found = Vec::new();
        self.collect(program, id, false, &mut found);
        found
    }

    fn collect(&self, program: &Program, id: ExprId, inside: bool, found: &mut Vec<ExprId>) {
        let is_number = program.type_of(id) == Type::F32;
        let is_sum = matches!(
            program[id],
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..)
        );
        // The terms of what is negated are the sum's.
        let is_negation = matches!(program[id], Expr::Unary(UnaryOp::Negate, _));
        let part = is_sum && is_number || is_negation && inside;
        for &operand in program[id].operands().iter() {
            self.collect(program, operand, part, found);
        }
        if part && !inside && self.is_free(program, id) {
            found.push(id);
        }
    }

    /// May the terms of this sum be reordered?
    pub(crate) fn is_free(&self, program: &Program, sum: ExprId) -> bool {
        let changes = |id: ExprId| {
            let is_variable =
                |var: VarId| matches!(program[var].kind, VarKind::State | VarKind::Local);
            matches!(program[id], Expr::Read(var) if is_variable(var))
        };
        !self.accumulators.contains(sum)
            && !terms(program, sum).iter().any(|&(term, _)| changes(term))
            && !self.takes_off(program, sum)
    }

    /// Does a sum, with names written out, subtract what it has added, or so much that little is left of two
    /// literals?
    pub(crate) fn takes_off(&self, program: &Program, sum: ExprId) -> bool {
        self.terms_take_off(program, terms(program, sum))
    }

    /// The same for a sum of these terms.
    pub(crate) fn terms_take_off(&self, program: &Program, mut pending: Vec<Term>) -> bool {
        let mut seen: HashMap<Vec<Shape>, bool> = HashMap::new();
        let mut literals: Vec<f32> = Vec::new();
        let mut count = 0;
        while let Some((term, negative)) = pending.pop() {
            count += 1;
            if let Expr::Literal(Value::F32(number)) = program[term] {
                let number = if negative { -number } else { number };
                let cancels =
                    |other: &f32| (other + number).abs() < other.abs().max(number.abs()) / 1024.0;
                if literals.iter().any(cancels) {
                    return true;
                }
                literals.push(number);
                continue;
            }
            // A name may meet itself as well as its value.
            let sign = *seen.entry(shapes(program, term)).or_insert(negative);
            if sign != negative {
                return true;
            }
            if let Expr::Read(var) = program[term]
                && let Some(&value) = self.values.get(&var)
                && count < MANY
            {
                let behind = terms(program, value);
                pending.extend(behind.iter().map(|&(term, sign)| (term, sign != negative)));
            }
        }
        false
    }
}

/// The nodes of a tree in order: trees with equal lists have equal values.
fn shapes(program: &Program, id: ExprId) -> Vec<Shape> {
    program.nodes(id).map(|id| shape(&program[id])).collect()
}
