//! When the values of a step are known, where each step waits for its own: by this [`crate::kernel::relax::late_terms_last`] orders sums, and
//! [`crate::kernel::order::speculate`] finds the choices that are waited for.

use crate::{
    ir::{BinaryOp, Expr, ExprId, Program, Stmt},
    kernel::analysis::agent_dependence::Personal,
    passes::rewrite::{blocks, operands},
};

/// When what depends on no state is known: early.
const EARLY: i32 = -1_000_000;

/// When values are known, in additions after the begin of a step.
#[derive(Clone)]
pub(crate) struct Times {
    pub(crate) personal: Personal,
    vars: Vec<i32>,
}

impl Times {
    /// At the begin of a step.
    pub(crate) fn new(program: &Program) -> Times {
        let mut times = Times {
            personal: Personal::new(program),
            vars: vec![EARLY; program.vars.len()],
        };
        for state in &program.states {
            times.vars[state.0 as usize] = 0;
        }
        times.block(program, &program.step);
        // The next step begins with what this one knows last.
        let ends = program
            .states
            .iter()
            .map(|state| times.vars[state.0 as usize]);
        let end = ends.max().unwrap_or(0);
        for state in &program.states {
            times.vars[state.0 as usize] -= end;
        }
        // So does it with what it hands on beside them (see [`crate::kernel::relax::early_reciprocals`]).
        for stmt in &program.prologue {
            if let Stmt::Var { var, .. } = stmt {
                times.vars[var.0 as usize] -= end;
            }
        }
        times
    }

    pub(crate) fn of(&mut self, program: &Program, id: ExprId) -> i32 {
        if !self.personal.of(program, id) {
            return EARLY;
        }
        let own = match &program[id] {
            Expr::Read(var) | Expr::Element { array: var, .. } => {
                return self.vars.get(var.0 as usize).copied().unwrap_or(EARLY);
            }
            Expr::Binary(BinaryOp::Divide, ..) | Expr::Builtin(..) => 6,
            Expr::AcrossLanes(..) => 6 * program.lanes.trailing_zeros() as i32,
            Expr::Call(..) => 12,
            _ => 1,
        };
        let operands = operands(&program[id]);
        let latest = operands.iter().map(|&operand| self.of(program, operand));
        latest.max().unwrap_or(EARLY).saturating_add(own)
    }

    fn block(&mut self, program: &Program, block: &[Stmt]) {
        for stmt in block {
            self.statement(program, stmt);
            for inner in blocks(stmt).into_iter().flatten() {
                self.block(program, inner);
            }
        }
    }

    /// What a statement does itself.
    pub(crate) fn statement(&mut self, program: &Program, stmt: &Stmt) {
        match stmt {
            Stmt::Let { var, value } | Stmt::Assign { var, value } => {
                self.vars[var.0 as usize] = self.of(program, *value);
            }
            Stmt::Var { var, value } => {
                let known = value.map_or(EARLY, |value| self.of(program, value));
                self.vars[var.0 as usize] = known;
            }
            Stmt::AssignElement { var, value, .. } => {
                let known = self.of(program, *value);
                let all = &mut self.vars[var.0 as usize];
                *all = known.max(*all);
            }
            _ => {}
        }
    }
}
