//! Puts the live nodes in the order of evaluation, and removes all others and the variables and constants
//! without references; the rest keeps its order. Nothing else changes.

use crate::{
    ir::{Expr, ExprId, Program, Stmt, Value, VarId, VarKind, VarMap},
    span::Span,
};

/// Compacts the arena of expressions and the table of variables.
pub(super) fn run(program: &mut Program) {
    let mut layout = Layout {
        old: std::mem::take(&mut program.exprs),
        spans: std::mem::take(&mut program.spans),
        used: program.vars.iter().map(|var| is_layout(var.kind)).collect(),
    };
    program.exprs.reserve(layout.old.len());
    program.spans.reserve(layout.old.len());
    for function in &program.functions {
        for param in &function.params {
            layout.used[param] = true;
        }
    }
    program.each_section(|program, _, block| {
        for stmt in block {
            layout.statement(program, stmt);
        }
    });
    if layout.used.contains(&false) {
        drop_vars(program, &layout.used);
    }
}

/// Does the launch provide this variable, used or not?
fn is_layout(kind: VarKind) -> bool {
    match kind {
        VarKind::Param
        | VarKind::Data
        | VarKind::Input
        | VarKind::State
        | VarKind::Output
        | VarKind::WorldInput
        | VarKind::WorldState
        | VarKind::WorldOutput
        | VarKind::Record
        | VarKind::WorldRecord => true,
        VarKind::Constant | VarKind::Let | VarKind::Local | VarKind::Index | VarKind::Argument => {
            false
        }
    }
}

struct Layout {
    old: Vec<Expr>,
    spans: Vec<Span>,
    /// Per variable: is it referenced?
    used: VarMap<bool>,
}

impl Layout {
    fn statement(&mut self, program: &mut Program, stmt: &mut Stmt) {
        stmt.map_roots(|root| self.lay(program, root));
        if let Some(var) = stmt.target() {
            self.used[var] = true;
        }
        for inner in stmt.blocks_mut() {
            for stmt in inner {
                self.statement(program, stmt);
            }
        }
    }

    fn lay(&mut self, program: &mut Program, id: ExprId) -> ExprId {
        let at = id.0 as usize;
        let nothing = Expr::Literal(Value::Bool(false));
        let mut expr = std::mem::replace(&mut self.old[at], nothing);
        if let Some(var) = expr.variable() {
            self.used[var] = true;
        }
        expr.map_operands(|operand| self.lay(program, operand));
        program.add(expr, self.spans[at])
    }
}

fn drop_vars(program: &mut Program, used: &VarMap<bool>) {
    let mut next = 0;
    let numbers: VarMap<VarId> = used
        .iter()
        .map(|used| {
            let number = VarId(next);
            next += u32::from(*used);
            number
        })
        .collect();
    let renumber = |var: &mut VarId| *var = numbers[*var];
    let mut keep = used.iter();
    program.vars.retain(|_| keep.next() == Some(&true));
    program.constants.retain(|(var, _)| used[var]);
    for (var, _) in &mut program.constants {
        renumber(var);
    }
    for list in [
        &mut program.params,
        &mut program.data,
        &mut program.inputs,
        &mut program.states,
        &mut program.outputs,
        &mut program.world_inputs,
        &mut program.world_states,
        &mut program.world_outputs,
        &mut program.checks.words,
        &mut program.checks.samples,
    ] {
        list.iter_mut().for_each(renumber);
    }
    for sample in &mut program.samples {
        let lists = [&mut sample.records, &mut sample.world_records];
        let combined = sample.combined.iter_mut().map(|(var, _)| var);
        (lists.into_iter().flatten().chain(combined)).for_each(renumber);
    }
    for function in &mut program.functions {
        function.params.iter_mut().for_each(renumber);
    }
    for expr in &mut program.exprs {
        if let Some(var) = expr.variable_mut() {
            renumber(var);
        }
    }
    program.each_section(|_, _, block| targets(block, &renumber));
}

fn targets(block: &mut [Stmt], renumber: &impl Fn(&mut VarId)) {
    for stmt in block {
        if let Some(var) = stmt.target_mut() {
            renumber(var);
        }
        for inner in stmt.blocks_mut() {
            targets(inner, renumber);
        }
    }
}
