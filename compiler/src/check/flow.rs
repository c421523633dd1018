//! What only shows once all bodies are known: paths without `return`, recursion, draws where none may be.

use super::{CallSite, Checker};
use crate::{
    diagnostic::catalog,
    hir::{self, FunctionId, Stmt, StmtKind},
    span::Span,
};

/// Does every path through the block return?
pub(crate) fn returns(block: &[Stmt]) -> bool {
    block.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) => true,
        StmtKind::If {
            branches,
            otherwise: Some(otherwise),
        } => branches.iter().all(|(_, body)| returns(body)) && returns(otherwise),
        StmtKind::Match { arms, .. } => {
            !arms.is_empty() && arms.iter().all(|arm| returns(&arm.body))
        }
        StmtKind::Block(body) => returns(body),
        StmtKind::Declare { .. }
        | StmtKind::Assign { .. }
        | StmtKind::If {
            otherwise: None, ..
        }
        | StmtKind::For { .. }
        | StmtKind::While { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Stop
        | StmtKind::Integrate { .. }
        | StmtKind::Equation { .. } => false,
    })
}

impl Checker<'_> {
    /// Recursion, then draws through calls.
    pub(super) fn check_calls(&mut self) {
        let count = self.model.functions.len();
        let mut edges: Vec<Vec<(FunctionId, Span)>> = vec![Vec::new(); count];
        for call in &self.calls {
            if let Some(caller) = call.caller {
                edges[caller.0 as usize].push((call.callee, call.span));
            }
        }
        if self.find_circles(&edges) {
            return;
        }
        self.spread(&edges);
        let calls: Vec<CallSite> = self.calls.clone();
        for call in calls {
            if let (Some(place), true) = (call.forbids_draw, self.model[call.callee].draws) {
                let name = self.model[call.callee].name.clone();
                self.report(catalog::control::draw_not_allowed(&name, place, call.span));
            }
            let callee = &self.model[call.callee];
            if call.before_launch && (callee.reads_inputs || callee.reads_data) {
                let report = catalog::names::not_available_here(
                    &callee.name,
                    "this function reads inputs or tables",
                    "the default of an input",
                    call.span,
                );
                self.report(report);
            }
        }
        self.check_written_out(&edges);
    }

    /// Complains of every circle of calls; true if there is one. An explicit stack, since the chain of
    /// calls is as long as the user made it.
    fn find_circles(&mut self, edges: &[Vec<(FunctionId, Span)>]) -> bool {
        let mut state = vec![0u8; edges.len()];
        let mut found = false;
        for root in 0..edges.len() {
            if state[root] != 0 {
                continue;
            }
            let mut stack = vec![(root, 0)];
            state[root] = 1;
            while let Some((node, next)) = stack.last_mut() {
                let Some(&(callee, span)) = edges[*node].get(*next) else {
                    state[*node] = 2;
                    stack.pop();
                    continue;
                };
                *next += 1;
                let callee = callee.0 as usize;
                match state[callee] {
                    0 => {
                        state[callee] = 1;
                        stack.push((callee, 0));
                    }
                    1 => {
                        found = true;
                        let from = stack
                            .iter()
                            .position(|(node, _)| *node == callee)
                            .unwrap_or(0);
                        let path: Vec<&str> = stack[from..]
                            .iter()
                            .map(|(node, _)| *node)
                            .chain([callee])
                            .map(|node| self.model.functions[node].name.as_str())
                            .collect();
                        let path = path.join(" → ");
                        let name = self.model.functions[callee].name.clone();
                        self.report(catalog::control::recursion(&name, &path, span));
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// A function draws, or reads inputs, if one that it calls does. Calls have no circles here.
    fn spread(&mut self, edges: &[Vec<(FunctionId, Span)>]) {
        loop {
            let mut changed = false;
            for (caller, callees) in edges.iter().enumerate() {
                for (callee, _) in callees {
                    let effects = |function: &hir::Function| {
                        [function.draws, function.reads_inputs, function.reads_data]
                    };
                    let inner = effects(&self.model[*callee]);
                    let caller = &mut self.model.functions[caller];
                    let before = effects(caller);
                    caller.draws |= inner[0];
                    caller.reads_inputs |= inner[1];
                    caller.reads_data |= inner[2];
                    changed |= effects(caller) != before;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
