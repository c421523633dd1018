//! Analysis before code generation: the type of each expression, and which values are uniform.
//!
//! A value is *uniform* if it is the same for all agents of a block: it reads constants, params, tables, the
//! launch and the step, and variables that are only assigned such values under uniform control flow. All
//! other values are *varying*. The analysis starts with everything uniform and iterates to a fixed point.

use sim_compiler::ir::{
    BinaryOp, Block, Expr, ExprId, Function, Launch, Program, Stmt, Type, VarId, VarKind,
};

/// The result.
pub struct Analysis {
    /// By expression.
    types: Vec<Type>,
    varying_exprs: Vec<bool>,
    varying_vars: Vec<bool>,
    /// By local variable: the depth of divergent control flow at its declaration.
    levels: Vec<u32>,
    /// By function: whether its body consists of `let`s and a result.
    simple: Vec<bool>,
    changed: bool,
}

/// How control flow diverges in a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parting {
    /// Some agents may end an iteration while others continue with it.
    pub rounds: bool,
    /// Some agents may leave the loop while others stay.
    pub breaks: bool,
}

impl Analysis {
    /// Analyses a program that `ir::verify` accepts.
    pub fn new(program: &Program) -> Analysis {
        let mut analysis = Analysis {
            types: vec![Type::F32; program.exprs.len()],
            varying_exprs: vec![false; program.exprs.len()],
            varying_vars: program.vars.iter().map(always_varies).collect(),
            levels: vec![0; program.vars.len()],
            simple: Vec::new(),
            changed: true,
        };
        for function in &program.functions {
            let simple = analysis.is_simple(program, function);
            analysis.simple.push(simple);
        }
        while analysis.changed {
            analysis.changed = false;
            for function in &program.functions {
                analysis.block(program, &function.body, 0);
            }
            for default in &program.input_defaults {
                analysis.block(program, &default.body, 0);
            }
            for block in program.agent_blocks() {
                analysis.block(program, block, 0);
            }
        }
        analysis
    }

    /// The type of an expression.
    pub fn ty(&self, id: ExprId) -> Type {
        self.types[id.0 as usize]
    }

    /// Whether an expression is varying. Uniform expressions become scalars.
    pub fn varies(&self, id: ExprId) -> bool {
        self.varying_exprs[id.0 as usize]
    }

    /// Whether a variable is varying.
    pub fn var_varies(&self, id: VarId) -> bool {
        self.varying_vars[id.0 as usize]
    }

    /// How control flow diverges in the body of a loop.
    pub fn parting(&self, body: &Block) -> Parting {
        let mut parting = Parting::default();
        let mut any_break = false;
        self.find_jumps(body, false, &mut parting, &mut any_break);
        parting.breaks |= any_break && parting.rounds;
        parting
    }

    fn find_jumps(&self, block: &Block, parted: bool, found: &mut Parting, any_break: &mut bool) {
        for stmt in block {
            match stmt {
                Stmt::Break => {
                    *any_break = true;
                    found.breaks |= parted;
                }
                Stmt::Continue => found.rounds |= parted,
                Stmt::If {
                    condition,
                    accept,
                    reject,
                } => {
                    let parted = parted || self.varies(*condition);
                    self.find_jumps(accept, parted, found, any_break);
                    self.find_jumps(reject, parted, found, any_break);
                }
                Stmt::Let { .. }
                | Stmt::Var { .. }
                | Stmt::Assign { .. }
                | Stmt::AssignElement { .. }
                | Stmt::For { .. }
                | Stmt::Stop
                | Stmt::Return(_) => {}
            }
        }
    }

    fn is_simple(&self, program: &Program, function: &Function) -> bool {
        let pure = |id: ExprId| {
            post_order(program, id)
                .into_iter()
                .all(|node| match &program[node] {
                    Expr::Call(callee, _) => self.simple[callee.0 as usize],
                    Expr::Launch(Launch::Agent) | Expr::RandomWord { .. } => false,
                    Expr::Read(var) | Expr::Element { array: var, .. } => {
                        program[*var].kind != VarKind::Input
                    }
                    _ => true,
                })
        };
        function.body.iter().all(|stmt| match stmt {
            Stmt::Let { value, .. } => pure(*value),
            Stmt::Return(value) => pure(*value),
            _ => false,
        })
    }

    fn mark(&mut self, var: VarId, varies: bool) {
        let place = &mut self.varying_vars[var.0 as usize];
        if varies && !*place {
            *place = true;
            self.changed = true;
        }
    }

    fn block(&mut self, program: &Program, block: &Block, level: u32) {
        for stmt in block {
            self.statement(program, stmt, level);
        }
    }

    fn statement(&mut self, program: &Program, stmt: &Stmt, level: u32) {
        match stmt {
            Stmt::Let { var, value } => {
                let varies = self.tree(program, *value);
                self.mark(*var, varies);
            }
            Stmt::Var { var, value } => {
                self.levels[var.0 as usize] = level;
                let varies = value.is_some_and(|value| self.tree(program, value));
                self.mark(*var, varies);
            }
            Stmt::Assign { var, value } => {
                let varies = self.tree(program, *value);
                self.mark(*var, varies || level > self.levels[var.0 as usize]);
            }
            Stmt::AssignElement { index, value, .. } => {
                self.tree(program, *index);
                self.tree(program, *value);
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let inner = level + u32::from(self.tree(program, *condition));
                stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
                    self.block(program, accept, inner);
                    self.block(program, reject, inner);
                });
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                let start = self.tree(program, *start);
                let varies = self.tree(program, *end) || start;
                self.mark(*index, varies);
                let parting = self.parting(body);
                let inner = level + u32::from(varies || parting.rounds || parting.breaks);
                stacker::maybe_grow(32 * 1024, 1024 * 1024, || {
                    self.block(program, body, inner);
                });
            }
            Stmt::Return(value) => {
                self.tree(program, *value);
            }
            Stmt::Break | Stmt::Continue | Stmt::Stop => {}
        }
    }

    /// Computes the types of a tree and what varies in it; returns whether the root varies. Expressions only
    /// become varying, never uniform.
    fn tree(&mut self, program: &Program, root: ExprId) -> bool {
        for node in post_order(program, root) {
            self.types[node.0 as usize] = self.type_of(program, node);
            let varies = self.node_varies(program, node);
            // Divergence in a loop depends on conditions in its body, which are analysed after the loop
            // itself.
            self.changed |= varies != self.varying_exprs[node.0 as usize];
            self.varying_exprs[node.0 as usize] = varies;
        }
        self.varies(root)
    }

    fn node_varies(&self, program: &Program, node: ExprId) -> bool {
        let of_var = |var: &VarId| self.varying_vars[var.0 as usize];
        let own = match &program[node] {
            Expr::Launch(Launch::Agent) | Expr::RandomWord { .. } => true,
            Expr::Read(var) | Expr::Element { array: var, .. } => of_var(var),
            Expr::Call(function, _) => !self.simple[function.0 as usize],
            _ => false,
        };
        own || (program[node].operands().iter().copied()).any(|operand| self.varies(operand))
    }

    /// Like `Program::type_of`, with the types of operands known.
    fn type_of(&self, program: &Program, node: ExprId) -> Type {
        match &program[node] {
            Expr::Unary(_, a) | Expr::Select { accept: a, .. } => self.ty(*a),
            Expr::Binary(op, a, b) if !is_comparison(*op) => match self.ty(*a) {
                Type::F32 => self.ty(*b),
                other => other,
            },
            Expr::Builtin(id, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| self.ty(arg)).collect();
                id.row().result(&types)
            }
            // The operand types of other expressions are not needed.
            _ => program.type_of(node),
        }
    }
}

/// Whether the result is a `bool`.
fn is_comparison(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => true,
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => false,
    }
}

/// The variables that are varying whatever is assigned to them.
fn always_varies(var: &sim_compiler::ir::Var) -> bool {
    match var.kind {
        VarKind::Constant | VarKind::Param | VarKind::Data | VarKind::Let | VarKind::Index => false,
        VarKind::Input | VarKind::State | VarKind::Output | VarKind::Argument => true,
        VarKind::Local => var.len != sim_compiler::ir::Len::One,
    }
}

/// The nodes of a tree, operands before users. Without recursion: a tree may be deep.
fn post_order(program: &Program, root: ExprId) -> Vec<ExprId> {
    let mut order = Vec::new();
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        order.push(node);
        waiting.extend_from_slice(&program[node].operands());
    }
    order.reverse();
    order
}
