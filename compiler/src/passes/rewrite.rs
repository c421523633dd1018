//! Utilities that passes share: facts of blocks, literals, copies with renaming.

use crate::ir::{Block, Expr, ExprId, Program, Stmt, Value, Var, VarId, VarMap, each_statement};

/// How often each variable is read as one value, by variable.
pub(crate) fn reads(program: &Program) -> VarMap<u32> {
    let mut reads = VarMap::filled(0, program.vars.len());
    program.each_node(&mut |id| {
        if let Expr::Read(var) = program[id] {
            reads[var] += 1;
        }
    });
    reads
}

/// Adds to `found` every variable that a block declares as `Local` or assigns, at any depth, with
/// repetitions.
pub(crate) fn assigned(block: &[Stmt], found: &mut Vec<VarId>) {
    each_statement(block, &mut |stmt| {
        if let Stmt::Var { var, .. } | Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } =
            stmt
        {
            found.push(*var);
        }
    });
}

/// When variables were assigned last, so that a pass can tell whether a tree still has the value that it had.
pub(crate) struct Clock {
    assigned: VarMap<u32>,
    now: u32,
}

impl Clock {
    pub(crate) fn new(program: &Program) -> Clock {
        Clock {
            assigned: VarMap::filled(0, program.vars.len()),
            now: 1,
        }
    }

    pub(crate) fn now(&self) -> u32 {
        self.now
    }

    pub(crate) fn tick(&mut self) {
        self.now += 1;
    }

    /// A statement changes what it assigns, and a loop what its body does.
    pub(crate) fn pass(&mut self, stmt: &Stmt) {
        let mut changed = Vec::new();
        match stmt {
            Stmt::For { body, .. } => assigned(body, &mut changed),
            Stmt::Var { var, .. } | Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } => {
                changed.push(*var);
            }
            Stmt::Let { .. }
            | Stmt::If { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => {}
        }
        for var in changed {
            self.tick();
            self.assigned[var] = self.now;
        }
    }

    /// Has nothing that a tree reads been assigned since?
    pub(crate) fn is_unchanged(&self, program: &Program, id: ExprId, since: u32) -> bool {
        let mut read = program.nodes(id).filter_map(|id| program[id].variable());
        read.all(|var| self.assigned[var] <= since)
    }
}

/// Is the end of this block unreachable?
pub(crate) fn leaves(block: &[Stmt]) -> bool {
    block.last().is_some_and(|last| {
        matches!(
            last,
            Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_)
        ) || matches!(last, Stmt::If { accept, reject, .. } if leaves(accept) && leaves(reject))
    })
}

/// The value of a literal.
pub(crate) fn literal(program: &Program, id: ExprId) -> Option<Value> {
    if let Expr::Literal(value) = &program[id] {
        Some(*value)
    } else {
        None
    }
}

/// The value of an `i32` literal.
pub(crate) fn literal_i32(program: &Program, id: ExprId) -> Option<i32> {
    if let Expr::Literal(Value::I32(value)) = program[id] {
        Some(value)
    } else {
        None
    }
}

/// Did the compiler make this variable?
pub(crate) fn is_generated(var: &Var) -> bool {
    var.span.start == var.span.end
}

/// What replaces a variable in a copy.
#[derive(Clone, Copy)]
enum Substitute {
    Itself,
    Var(VarId),
    Literal(Value),
}

/// Copies blocks, with a fresh name for everything that they declare.
#[derive(Default)]
pub(crate) struct Cloner {
    substitutes: Vec<Substitute>,
}

impl Cloner {
    /// From now on a literal replaces a variable.
    pub(crate) fn fix(&mut self, var: VarId, value: Value) {
        self.put(var, Substitute::Literal(value));
    }

    /// From now on another variable replaces a variable.
    pub(crate) fn rename(&mut self, var: VarId, other: VarId) {
        self.put(var, Substitute::Var(other));
    }

    fn put(&mut self, var: VarId, substitute: Substitute) {
        let at = var.0 as usize;
        if at >= self.substitutes.len() {
            self.substitutes.resize(at + 1, Substitute::Itself);
        }
        self.substitutes[at] = substitute;
    }

    fn get(&self, var: VarId) -> Substitute {
        self.substitutes
            .get(var.0 as usize)
            .copied()
            .unwrap_or(Substitute::Itself)
    }

    fn name(&self, var: VarId) -> VarId {
        if let Substitute::Var(fresh) = self.get(var) {
            fresh
        } else {
            var
        }
    }

    fn declare(&mut self, program: &mut Program, var: VarId) -> VarId {
        let copy = program[var].clone();
        let fresh = program.add_var(copy);
        self.put(var, Substitute::Var(fresh));
        fresh
    }

    /// A copy of an expression.
    pub(crate) fn expr(&self, program: &mut Program, id: ExprId) -> ExprId {
        let mut copy = program[id].clone();
        if let Expr::Read(var) = &mut copy {
            match self.get(*var) {
                Substitute::Itself => {}
                Substitute::Var(fresh) => *var = fresh,
                Substitute::Literal(value) => copy = Expr::Literal(value),
            }
        } else {
            if let Expr::Element { array, .. } = &mut copy {
                *array = self.name(*array);
            }
            copy.map_operands(|operand| self.expr(program, operand));
        }
        let span = program.span(id);
        program.add(copy, span)
    }

    /// A copy of a block.
    pub(crate) fn block(&mut self, program: &mut Program, block: &[Stmt]) -> Block {
        block
            .iter()
            .map(|stmt| self.statement(program, stmt))
            .collect()
    }

    fn statement(&mut self, program: &mut Program, stmt: &Stmt) -> Stmt {
        match stmt {
            Stmt::Let { var, value } => {
                let value = self.expr(program, *value);
                let var = self.declare(program, *var);
                Stmt::Let { var, value }
            }
            Stmt::Var { var, value } => {
                let value = value.map(|value| self.expr(program, value));
                let var = self.declare(program, *var);
                Stmt::Var { var, value }
            }
            Stmt::Assign { var, value } => Stmt::Assign {
                var: self.name(*var),
                value: self.expr(program, *value),
            },
            Stmt::AssignElement { var, index, value } => Stmt::AssignElement {
                var: self.name(*var),
                index: self.expr(program, *index),
                value: self.expr(program, *value),
            },
            Stmt::If {
                condition,
                accept,
                reject,
            } => Stmt::If {
                condition: self.expr(program, *condition),
                accept: self.block(program, accept),
                reject: self.block(program, reject),
            },
            Stmt::For {
                index,
                start,
                end,
                body,
            } => {
                let start = self.expr(program, *start);
                let end = self.expr(program, *end);
                let index = self.declare(program, *index);
                let body = self.block(program, body);
                Stmt::For {
                    index,
                    start,
                    end,
                    body,
                }
            }
            Stmt::Break => Stmt::Break,
            Stmt::Continue => Stmt::Continue,
            Stmt::Stop => Stmt::Stop,
            Stmt::Return(value) => Stmt::Return(self.expr(program, *value)),
        }
    }
}
