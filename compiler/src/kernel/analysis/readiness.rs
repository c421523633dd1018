//! When the values of a step are known, where latency counts:
//! [`late_terms_last`](crate::kernel::relax::late_terms_last) orders sums by this.

use crate::ir::{
    Expr, ExprId, Program, Stmt, VarMap, cost,
    uniformity::{Tracking, Uniformity},
};

/// Time of values that depend on no state: early.
const EARLY: i32 = -1_000_000;

/// When values are known, in additions after the beginning of a step.
#[derive(Clone)]
pub(crate) struct Times {
    pub(crate) uniformity: Uniformity,
    vars: VarMap<i32>,
}

impl Times {
    /// At the beginning of a step.
    pub(crate) fn new(program: &Program) -> Times {
        let mut times = Times {
            uniformity: Uniformity::new(program, Tracking::Names),
            vars: VarMap::filled(EARLY, program.vars.len()),
        };
        for state in &program.states {
            times.vars[*state] = 0;
        }
        for phase in &program.phases {
            times.block(program, phase);
        }
        // The next step begins with the values that this one computes last.
        let ends = program.states.iter().map(|state| times.vars[*state]);
        let end = ends.max().unwrap_or(0);
        for state in &program.states {
            times.vars[*state] -= end;
        }
        times
    }

    pub(crate) fn of(&mut self, program: &Program, id: ExprId) -> i32 {
        if self.uniformity.find(program, id).is_uniform() {
            return EARLY;
        }
        if let Expr::Read(var) | Expr::Element { array: var, .. } = program[id] {
            return self.vars.get(var).copied().unwrap_or(EARLY);
        }
        let own = cost::latency(&program[id]);
        let operands = program[id].operands();
        let latest = operands.iter().map(|&operand| self.of(program, operand));
        latest.max().unwrap_or(EARLY).saturating_add(own)
    }

    fn block(&mut self, program: &Program, block: &[Stmt]) {
        for stmt in block {
            self.statement(program, stmt);
            for inner in stmt.blocks() {
                self.block(program, inner);
            }
        }
    }

    /// The latency of a statement itself.
    pub(crate) fn statement(&mut self, program: &Program, stmt: &Stmt) {
        if let Stmt::Let { var, value } | Stmt::Assign { var, value } = stmt {
            self.vars[*var] = self.of(program, *value);
        } else if let Stmt::Var { var, value } = stmt {
            let known = value.map_or(EARLY, |value| self.of(program, value));
            self.vars[*var] = known;
        } else if let Stmt::AssignElement { var, value, .. } = stmt {
            let known = self.of(program, *value);
            let all = &mut self.vars[*var];
            *all = known.max(*all);
        }
    }
}
