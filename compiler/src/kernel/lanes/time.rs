//! Steps that only add to accumulators can be taken in any order, since a draw is a function of its step's
//! number: so the time loop itself is split over the lanes of an agent. A generator of the model's own does
//! not prevent that if it can be skipped ahead over the steps of the other lanes.

use crate::{
    ir::{Affine, Block, Expr, ExprId, LaneOp, Program, Stmt, VarId, VarKind},
    kernel::lanes::{accumulation, affine::affine},
};
use std::collections::{BTreeMap, BTreeSet};

/// All that a step does to states, if the steps can be split over lanes.
pub(crate) struct Steps {
    /// What the steps accumulate, at least one, and how.
    pub(crate) accumulated: Vec<(VarId, LaneOp)>,
    /// The states that are skipped ahead, and the map that one step applies to them.
    pub(crate) skipped: Vec<(VarId, Affine)>,
}

/// How lanes can split the steps; none if a step does anything else with a state, or can stop its agent.
pub(crate) fn split(program: &Program) -> Option<Steps> {
    let mut walk = Walk {
        program,
        sums: BTreeMap::new(),
        others: BTreeSet::new(),
        read: BTreeSet::new(),
    };
    program
        .phases
        .iter()
        .try_for_each(|block| walk.block(block))?;
    // What is read must not depend on the steps of other lanes.
    let (accumulated, kept): (Vec<_>, Vec<_>) = (walk.sums.into_iter())
        .partition(|(var, _)| !walk.others.contains(var) && !walk.read.contains(var));
    let kept = kept.into_iter().map(|(var, _)| var);
    let affine = affine(program);
    let skipped: BTreeSet<VarId> = kept.chain(walk.others).collect();
    let skipped = (skipped.into_iter())
        .map(|var| Some((var, *affine.get(&var)?)))
        .collect::<Option<_>>()?;
    (!accumulated.is_empty()).then_some(Steps {
        accumulated,
        skipped,
    })
}

struct Walk<'a> {
    program: &'a Program,
    /// States that are accumulated.
    sums: BTreeMap<VarId, LaneOp>,
    /// States that are assigned otherwise, or in several ways.
    others: BTreeSet<VarId>,
    /// States that are read other than to accumulate them.
    read: BTreeSet<VarId>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) -> Option<()> {
        block.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Assign { var, value } if self.is_state(*var) => self.assign(*var, *value),
            Stmt::AssignElement { var, .. } if self.is_state(*var) => return None,
            Stmt::Stop | Stmt::Return(_) => return None,
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::If { .. }
            | Stmt::For { .. }
            | Stmt::Break
            | Stmt::Continue => self.roots(stmt),
        }
        stmt.blocks().try_for_each(|inner| self.block(inner))
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        let Some((op, read)) = accumulation(self.program, var, value) else {
            self.others.insert(var);
            return self.expr(value);
        };
        let before = self.sums.insert(var, op);
        if before.is_some_and(|before| before != op) {
            self.others.insert(var);
        }
        read.into_iter().for_each(|id| self.expr(id));
    }

    fn roots(&mut self, stmt: &Stmt) {
        (stmt.roots().iter()).for_each(|&root| self.expr(root));
    }

    fn is_state(&self, var: VarId) -> bool {
        self.program[var].kind == VarKind::State
    }

    fn expr(&mut self, root: ExprId) {
        for id in self.program.nodes(root) {
            if let Expr::Read(var) | Expr::Element { array: var, .. } = self.program[id]
                && self.is_state(var)
            {
                self.read.insert(var);
            }
        }
    }
}

#[cfg(test)]
mod tests;
