//! Dead code elimination: removes names and locals that are never read, statements after a jump, empty
//! branches and loops, and functions that are never called.
//!
//! Results are the assignments of states, outputs and inputs, and the jumps. A variable is live if the value
//! of a result, a condition, a bound or a live variable reads it. Marking starts from the results, so that a
//! counter that only counts itself is dead.

use super::{algebra::simplify, rewrite::leaves};
use crate::ir::{
    Block, Expr, ExprId, FunctionId, FunctionMap, Program, Stmt, UnaryOp, VarId, VarKind, VarMap,
};

/// Removing a branch frees its condition; after this many iterations what is still dead stays.
const MAX_ITERATIONS: usize = 4;

/// Removes what is dead.
pub(crate) fn run(program: &mut Program) {
    for _ in 0..MAX_ITERATIONS {
        let mut live = Live {
            live: VarMap::filled(false, program.vars.len()),
            first: VarMap::filled(u32::MAX, program.vars.len()),
            values: Vec::new(),
            work: Vec::new(),
        };
        program.each_section(|program, _, block| live.collect(program, block));
        live.mark(program);
        let mut branches = false;
        program.each_section(|program, _, block| {
            sweep(program, &live, block, &mut branches);
        });
        if !branches {
            break;
        }
    }
    drop_functions(program);
}

struct Live {
    /// Per variable: is it read by live code?
    live: VarMap<bool>,
    /// Per variable: its first entry in `values`.
    first: VarMap<u32>,
    /// Values assigned to removable variables, chained by variable.
    values: Vec<(ExprId, u32)>,
    /// Live expressions that are still to be visited.
    work: Vec<ExprId>,
}

/// Is an assignment of this variable live only if something reads it?
fn is_removable(kind: VarKind) -> bool {
    matches!(kind, VarKind::Let | VarKind::Local)
}

impl Live {
    fn collect(&mut self, program: &Program, block: &[Stmt]) {
        for stmt in block {
            let roots = stmt.roots();
            match stmt.target().filter(|var| is_removable(program[*var].kind)) {
                Some(var) => {
                    for &root in roots.iter() {
                        let first = &mut self.first[var];
                        self.values.push((root, *first));
                        *first = self.values.len() as u32 - 1;
                    }
                }
                None => self.work.extend_from_slice(&roots),
            }
            for inner in stmt.blocks() {
                self.collect(program, inner);
            }
        }
    }

    fn mark(&mut self, program: &Program) {
        while let Some(id) = self.work.pop() {
            let expr = &program[id];
            if let Expr::Read(var) | Expr::Element { array: var, .. } = expr
                && !std::mem::replace(&mut self.live[var], true)
            {
                let mut next = self.first[var];
                while let Some(&(value, after)) = self.values.get(next as usize) {
                    self.work.push(value);
                    next = after;
                }
            }
            self.work.extend_from_slice(&expr.operands());
        }
    }

    fn keeps(&self, program: &Program, var: VarId) -> bool {
        self.live[var] || !is_removable(program[var].kind)
    }
}

fn sweep(program: &mut Program, live: &Live, block: &mut Block, branches: &mut bool) {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        match &mut stmt {
            Stmt::Let { var, .. }
            | Stmt::Var { var, .. }
            | Stmt::Assign { var, .. }
            | Stmt::AssignElement { var, .. } => {
                if !live.keeps(program, *var) {
                    continue;
                }
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                sweep(program, live, accept, branches);
                sweep(program, live, reject, branches);
                if accept.is_empty() && reject.is_empty() {
                    *branches = true;
                    continue;
                }
                if accept.is_empty() {
                    std::mem::swap(accept, reject);
                    *condition = not(program, *condition);
                }
            }
            Stmt::For { body, .. } => {
                sweep(program, live, body, branches);
                drop_last_continue(body);
                if is_idle(body) {
                    *branches = true;
                    continue;
                }
            }
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => {}
        }
        new.push(stmt);
        if leaves(&new) {
            break;
        }
    }
    *block = new;
}

fn not(program: &mut Program, condition: ExprId) -> ExprId {
    let span = program.span(condition);
    let id = program.add(Expr::Unary(UnaryOp::Not, condition), span);
    simplify(program, id);
    id
}

/// A `continue` at the end of a body has no effect.
fn drop_last_continue(body: &mut Block) {
    let last = body.last_mut();
    let goes = match last {
        Some(Stmt::If { accept, reject, .. }) => {
            drop_last_continue(accept);
            drop_last_continue(reject);
            accept.is_empty() && reject.is_empty()
        }
        other => matches!(other, Some(Stmt::Continue)),
    };
    if goes {
        body.pop();
    }
}

/// Does a loop with this body have no effect?
fn is_idle(body: &[Stmt]) -> bool {
    body.iter().all(|stmt| {
        matches!(stmt, Stmt::Break | Stmt::Continue)
            || matches!(stmt, Stmt::If { accept, reject, .. } if is_idle(accept) && is_idle(reject))
    })
}

fn drop_functions(program: &mut Program) {
    if program.functions.is_empty() {
        return;
    }
    let called = called(program);
    if !called.contains(&false) {
        return;
    }
    let mut next = 0;
    let renumbered: FunctionMap<FunctionId> = called
        .iter()
        .map(|&called| {
            let id = FunctionId(next);
            next += u32::from(called);
            id
        })
        .collect();
    let mut keep = called.iter();
    program.functions.retain(|_| keep.next() == Some(&true));
    for expr in &mut program.exprs {
        // Dead nodes may still refer to functions that were removed before.
        if let Expr::Call(id, _) = expr
            && let Some(&new) = renumbered.get(*id)
        {
            *id = new;
        }
    }
}

/// Per function: is it called, directly or by a function that is?
fn called(program: &Program) -> FunctionMap<bool> {
    let mut called = FunctionMap::filled(false, program.functions.len());
    // A call of a dead function by a dead function keeps it this time, which is harmless.
    program.each_node(&mut |id| {
        if let Expr::Call(function, _) = program[id] {
            called[function] = true;
        }
    });
    called
}
