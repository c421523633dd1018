//! What is an agent's own, and what all agents share in a step: `prepare` can compute the latter once, so
//! nothing should mix the two that need not.

use crate::{
    ir::{Block, Expr, ExprId, Launch, Program, Stmt, VarId, VarKind},
    passes::rewrite::{blocks, operands, roots},
};

/// Which functions read the agent's number, or call a function that does.
pub(crate) fn functions(program: &Program) -> Vec<bool> {
    let mut personal = Vec::with_capacity(program.functions.len());
    for function in &program.functions {
        let reads = reads_agent(program, &personal, &function.body);
        personal.push(reads);
    }
    personal
}

fn reads_agent(program: &Program, personal: &[bool], body: &[Stmt]) -> bool {
    let mut pending = Vec::new();
    body.iter().any(|stmt| {
        pending.extend_from_slice(&roots(stmt));
        while let Some(id) = pending.pop() {
            match program[id] {
                Expr::Launch(Launch::Agent) => return true,
                Expr::Call(function, _) if personal[function.0 as usize] => return true,
                _ => pending.extend_from_slice(&operands(&program[id])),
            }
        }
        blocks(stmt)
            .into_iter()
            .flatten()
            .any(|block| reads_agent(program, personal, block))
    })
}

/// Which values depend on the agent.
#[derive(Clone)]
pub(crate) struct Personal {
    functions: Vec<bool>,
    /// Per variable.
    vars: Vec<bool>,
    /// Per node that was asked for.
    nodes: Vec<Option<bool>>,
}

impl Personal {
    /// Finds the names that do.
    pub(crate) fn new(program: &Program) -> Personal {
        let mut personal = Personal {
            functions: functions(program),
            vars: program
                .vars
                .iter()
                .map(|var| is_personal(var.kind))
                .collect(),
            nodes: Vec::new(),
        };
        let functions = program.functions.iter().map(|function| &function.body);
        let own = [
            &program.init,
            &program.prologue,
            &program.step,
            &program.finish,
        ];
        for block in functions.chain(own) {
            personal.names(program, block);
        }
        personal
    }

    fn names(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            if let Stmt::Let { var, value } = stmt {
                self.name(program, *var, *value);
            }
            for inner in blocks(stmt).into_iter().flatten() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.names(program, inner));
            }
        }
    }

    /// A name is given to a value.
    pub(crate) fn name(&mut self, program: &Program, var: VarId, value: ExprId) {
        let vars = program.vars.len().max(self.vars.len());
        self.vars.resize(vars, true);
        self.vars[var.0 as usize] = self.of(program, value);
    }

    /// Does the value of a tree depend on the agent? The answer stays, whatever the tree becomes.
    pub(crate) fn of(&mut self, program: &Program, id: ExprId) -> bool {
        if let Some(Some(known)) = self.nodes.get(id.0 as usize) {
            return *known;
        }
        let own = match program[id] {
            Expr::Launch(Launch::Agent) | Expr::RandomWord { .. } => true,
            Expr::Call(function, _) => self.functions[function.0 as usize],
            Expr::Read(var) | Expr::Element { array: var, .. } => self.var(var),
            Expr::Literal(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::AcrossLanes(..) => false,
        };
        let personal = own
            || operands(&program[id])
                .iter()
                .any(|&operand| self.of(program, operand));
        self.nodes
            .resize(program.exprs.len().max(self.nodes.len()), None);
        self.nodes[id.0 as usize] = Some(personal);
        personal
    }

    /// Variables that a pass made since are taken for the agent's own.
    fn var(&self, var: VarId) -> bool {
        self.vars.get(var.0 as usize).copied().unwrap_or(true)
    }
}

/// Is a variable of this kind the agent's own? Names are what their values are.
fn is_personal(kind: VarKind) -> bool {
    match kind {
        VarKind::Constant | VarKind::Param | VarKind::Data | VarKind::Let => false,
        VarKind::Input
        | VarKind::State
        | VarKind::Output
        | VarKind::Local
        | VarKind::Index
        | VarKind::Argument => true,
    }
}
