//! What is an agent's own, and what all agents share in a step: `prepare` can compute the latter once, so
//! nothing should mix the two that need not.

use crate::ir::{
    Block, Expr, ExprId, ExprMap, FunctionMap, Launch, Program, Stmt, VarId, VarKind, VarMap,
};

/// Which functions read the agent's number, or call a function that does.
pub(crate) fn functions(program: &Program) -> FunctionMap<bool> {
    let mut personal = FunctionMap::default();
    for function in &program.functions {
        let mut reads = false;
        program.each_node_of(&function.body, &mut |id| {
            reads |= match program[id] {
                Expr::Launch(Launch::Agent) => true,
                Expr::Call(function, _) => personal[function],
                _ => false,
            };
        });
        personal.push(reads);
    }
    personal
}

/// Which values depend on the agent.
#[derive(Clone)]
pub(crate) struct Personal {
    functions: FunctionMap<bool>,
    vars: VarMap<bool>,
    /// Of the nodes that were asked for.
    nodes: ExprMap<Option<bool>>,
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
            nodes: ExprMap::default(),
        };
        let functions = program.functions.iter().map(|function| &function.body);
        for block in functions.chain(program.agent_blocks()) {
            personal.names(program, block);
        }
        personal
    }

    fn names(&mut self, program: &Program, block: &Block) {
        for stmt in block {
            if let Stmt::Let { var, value } = stmt {
                self.name(program, *var, *value);
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.names(program, inner));
            }
        }
    }

    /// A name is given to a value.
    pub(crate) fn name(&mut self, program: &Program, var: VarId, value: ExprId) {
        let personal = self.of(program, value);
        *self.vars.grow(var, true) = personal;
    }

    /// Does the value of a tree depend on the agent? The answer stays, whatever the tree becomes.
    pub(crate) fn of(&mut self, program: &Program, id: ExprId) -> bool {
        if let Some(Some(known)) = self.nodes.get(id) {
            return *known;
        }
        let own = match program[id] {
            Expr::Launch(Launch::Agent) | Expr::RandomWord { .. } => true,
            Expr::Call(function, _) => self.functions[function],
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
            | Expr::AcrossLanes { .. } => false,
        };
        let personal = own
            || program[id]
                .operands()
                .iter()
                .any(|&operand| self.of(program, operand));
        *self.nodes.grow(id, None) = Some(personal);
        personal
    }

    /// Variables that a pass made since are taken for the agent's own.
    fn var(&self, var: VarId) -> bool {
        self.vars.get(var).copied().unwrap_or(true)
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
