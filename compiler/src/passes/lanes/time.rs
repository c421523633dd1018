//! Steps that only add to what earlier steps have added up can be taken in any order, since a draw is a
//! function of its step's number: so the lanes of an agent share out the time loop itself.

use super::accumulation;
use crate::{
    ir::{Block, Expr, ExprId, LaneOp, Program, Stmt, VarId, VarKind},
    passes::rewrite::{operands, roots},
};
use std::collections::BTreeMap;

/// The states that the step accumulates, and how; none if the step does anything else with a state, or can
/// stop its agent.
pub(super) fn accumulated(program: &Program) -> Option<Vec<(VarId, LaneOp)>> {
    let mut walk = Walk {
        program,
        found: BTreeMap::new(),
    };
    walk.block(&program.step)?;
    (!walk.found.is_empty()).then(|| walk.found.into_iter().collect())
}

struct Walk<'a> {
    program: &'a Program,
    found: BTreeMap<VarId, LaneOp>,
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) -> Option<()> {
        block.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn statement(&mut self, stmt: &Stmt) -> Option<()> {
        match stmt {
            Stmt::Assign { var, value } if self.is_state(*var) => {
                let (op, read) = accumulation(self.program, *var, *value)?;
                let before = self.found.insert(*var, op);
                before.is_none_or(|before| before == op).then_some(())?;
                read.into_iter().try_for_each(|id| self.reads_no_state(id))
            }
            Stmt::AssignElement { var, .. } if self.is_state(*var) => None,
            Stmt::Stop | Stmt::Return(_) => None,
            Stmt::If { accept, reject, .. } => {
                self.roots(stmt)?;
                self.block(accept)?;
                self.block(reject)
            }
            Stmt::For { body, .. } => {
                self.roots(stmt)?;
                self.block(body)
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue => self.roots(stmt),
        }
    }

    fn roots(&self, stmt: &Stmt) -> Option<()> {
        (roots(stmt).iter()).try_for_each(|&root| self.reads_no_state(root))
    }

    fn is_state(&self, var: VarId) -> bool {
        self.program[var].kind == VarKind::State
    }

    fn reads_no_state(&self, root: ExprId) -> Option<()> {
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            if let Expr::Read(var) | Expr::Element { array: var, .. } = self.program[id]
                && self.is_state(var)
            {
                return None;
            }
            waiting.extend_from_slice(&operands(&self.program[id]));
        }
        Some(())
    }
}
