//! Accumulators: variables that add to themselves, `x += a * b + c * d`, also through names and selections.
//!
//! A rounding of the variable's magnitude that is the same in every step adds up over the steps, as that of
//! `x + a * b` with the same `a` and `b`. So the increment has to stay a sum of its own.

use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Expr, ExprId, Program, Stmt, VarId, VarKind, each_statement, names},
};
use std::collections::HashMap;

/// The sums by which variables add to themselves.
#[derive(Default)]
pub(crate) struct Accumulators {
    sums: HashMap<ExprId, Vec<VarId>>,
    /// The values of names.
    names: HashMap<VarId, ExprId>,
}

impl Accumulators {
    /// Finds them in these blocks, at any depth.
    pub(crate) fn new<'a>(
        program: &Program,
        blocks: impl IntoIterator<Item = &'a [Stmt]>,
    ) -> Accumulators {
        let mut found = Accumulators::default();
        let mut assigned = Vec::new();
        for block in blocks {
            found.names.extend(names(block));
            each_statement(block, &mut |stmt| {
                if let Stmt::Assign { var, value } | Stmt::AssignElement { var, value, .. } = stmt {
                    assigned.push((*var, *value));
                }
            });
        }
        for (var, value) in assigned {
            let mut known = HashMap::new();
            found.carries(program, value, var, &mut known);
        }
        found
    }

    /// All blocks that run on a device.
    pub(crate) fn blocks(program: &Program) -> impl Iterator<Item = &[Stmt]> + Clone {
        let functions = program.functions.iter().map(|function| &function.body);
        functions.chain(program.agent_blocks()).map(Vec::as_slice)
    }

    /// Does this sum add to a variable, or to a name for its value so far, which is then assigned to the
    /// variable?
    pub(crate) fn contains(&self, sum: ExprId) -> bool {
        self.sums.contains_key(&sum)
    }

    /// Do a sum and an operand of it add to the same variable?
    pub(crate) fn continues(&self, part: ExprId, sum: ExprId) -> bool {
        let [part, sum] = [part, sum].map(|id| self.sums.get(&id).map_or(&[][..], |vars| vars));
        part.iter().any(|var| sum.contains(var))
    }

    /// The value of a name, if it is one.
    pub(crate) fn named(&self, program: &Program, id: ExprId) -> Option<ExprId> {
        let Expr::Read(var) = program[id] else {
            return None;
        };
        self.names.get(&var).copied()
    }

    /// Is the value the variable plus an increment? Records the sums by which it became it.
    fn carries(
        &mut self,
        program: &Program,
        value: ExprId,
        var: VarId,
        known: &mut HashMap<VarId, bool>,
    ) -> bool {
        stacker::maybe_grow(32 << 10, 1 << 20, || {
            if let Expr::Read(read) | Expr::Element { array: read, .. } = program[value]
                && read == var
            {
                // Any element: in a loop it may be the same one each time.
                program[var].kind != VarKind::Output
            } else if let Expr::Read(name) = program[value] {
                if let Some(&known) = known.get(&name) {
                    return known;
                }
                let Some(&value) = self.names.get(&name) else {
                    return false;
                };
                let carries = self.carries(program, value, var, known);
                known.insert(name, carries);
                carries
            } else if let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Subtract), a, b) =
                program[value]
            {
                let left = self.carries(program, a, var, known);
                let right = op == BinaryOp::Add && self.carries(program, b, var, known);
                if left || right {
                    self.sums.entry(value).or_default().push(var);
                }
                left || right
            } else if let Expr::Select { accept, reject, .. } = program[value] {
                let accept = self.carries(program, accept, var, known);
                self.carries(program, reject, var, known) || accept
            } else if let Expr::Builtin(builtin, args) = &program[value]
                && BuiltinId::BOUNDS.contains(builtin)
            {
                let carries = args
                    .iter()
                    .map(|&arg| self.carries(program, arg, var, known));
                carries.fold(false, |any, carries| any | carries)
            } else {
                false
            }
        })
    }
}
