//! The tools that passes share: operands without allocation, walks over blocks, copies with renaming.

use crate::ir::{Block, Expr, ExprId, Program, Stmt, Value, Var, VarId};
use std::ops::Deref;

/// The operands of a node, copied out so that the program may change meanwhile.
pub(crate) struct Operands {
    few: [ExprId; 4],
    count: usize,
    many: Vec<ExprId>,
}

impl Deref for Operands {
    type Target = [ExprId];
    fn deref(&self) -> &[ExprId] {
        if self.many.is_empty() {
            &self.few[..self.count]
        } else {
            &self.many
        }
    }
}

#[inline]
fn some(ids: &[ExprId]) -> Operands {
    let mut few = [ExprId(0); 4];
    let mut many = Vec::new();
    if ids.len() <= few.len() {
        few[..ids.len()].copy_from_slice(ids);
    } else {
        many = ids.to_vec();
    }
    Operands {
        few,
        count: ids.len(),
        many,
    }
}

/// The operands of a node in evaluation order.
#[inline]
pub(crate) fn operands(expr: &Expr) -> Operands {
    match expr {
        Expr::Literal(_) | Expr::Launch(_) | Expr::Rows(_) | Expr::Read(_) => some(&[]),
        Expr::Element { index: one, .. }
        | Expr::Swizzle { vector: one, .. }
        | Expr::Splat { value: one, .. }
        | Expr::Unary(_, one)
        | Expr::Convert { value: one, .. }
        | Expr::Bitcast { value: one, .. }
        | Expr::RandomWord { number: one }
        | Expr::AcrossLanes(_, one) => some(&[*one]),
        Expr::Binary(_, a, b) => some(&[*a, *b]),
        Expr::Select {
            condition,
            accept,
            reject,
        } => some(&[*condition, *accept, *reject]),
        Expr::Compose(parts) => some(parts),
        Expr::Builtin(_, args) | Expr::Call(_, args) => some(args),
    }
}

/// Lets `f` change every operand of a node.
pub(crate) fn map_operands(expr: &mut Expr, mut f: impl FnMut(ExprId) -> ExprId) {
    match expr {
        Expr::Literal(_) | Expr::Launch(_) | Expr::Rows(_) | Expr::Read(_) => {}
        Expr::Element { index: one, .. }
        | Expr::Swizzle { vector: one, .. }
        | Expr::Splat { value: one, .. }
        | Expr::Unary(_, one)
        | Expr::Convert { value: one, .. }
        | Expr::Bitcast { value: one, .. }
        | Expr::RandomWord { number: one }
        | Expr::AcrossLanes(_, one) => *one = f(*one),
        Expr::Binary(_, a, b) => {
            *a = f(*a);
            *b = f(*b);
        }
        Expr::Select {
            condition,
            accept,
            reject,
        } => {
            *condition = f(*condition);
            *accept = f(*accept);
            *reject = f(*reject);
        }
        Expr::Compose(parts) => parts.iter_mut().for_each(|part| *part = f(*part)),
        Expr::Builtin(_, args) | Expr::Call(_, args) => {
            args.iter_mut().for_each(|arg| *arg = f(*arg));
        }
    }
}

/// The expressions that a statement itself evaluates, in order; those of its blocks are not among them.
pub(crate) fn roots(stmt: &Stmt) -> Operands {
    match stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
            some(&[*value])
        }
        Stmt::Var { value, .. } => value.map_or(some(&[]), |value| some(&[value])),
        Stmt::AssignElement { index, value, .. } => some(&[*index, *value]),
        Stmt::If { condition, .. } => some(&[*condition]),
        Stmt::For { start, end, .. } => some(&[*start, *end]),
        Stmt::Break | Stmt::Continue | Stmt::Stop => some(&[]),
    }
}

/// Lets `f` change the expressions that [`roots`] lists.
pub(crate) fn map_roots(stmt: &mut Stmt, mut f: impl FnMut(ExprId) -> ExprId) {
    match stmt {
        Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
            *value = f(*value);
        }
        Stmt::Var { value, .. } => {
            if let Some(value) = value {
                *value = f(*value);
            }
        }
        Stmt::AssignElement { index, value, .. } => {
            *index = f(*index);
            *value = f(*value);
        }
        Stmt::If { condition, .. } => *condition = f(*condition),
        Stmt::For { start, end, .. } => {
            *start = f(*start);
            *end = f(*end);
        }
        Stmt::Break | Stmt::Continue | Stmt::Stop => {}
    }
}

/// The blocks inside a statement.
pub(crate) fn blocks(stmt: &Stmt) -> [Option<&Block>; 2] {
    match stmt {
        Stmt::If { accept, reject, .. } => [Some(accept), Some(reject)],
        Stmt::For { body, .. } => [Some(body), None],
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Stop
        | Stmt::Return(_) => [None, None],
    }
}

/// The blocks inside a statement, to be changed.
pub(crate) fn blocks_mut(stmt: &mut Stmt) -> [Option<&mut Block>; 2] {
    match stmt {
        Stmt::If { accept, reject, .. } => [Some(accept), Some(reject)],
        Stmt::For { body, .. } => [Some(body), None],
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Stop
        | Stmt::Return(_) => [None, None],
    }
}

/// Which block of the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// The body of a function.
    Function(usize),
    /// The body of an input's default.
    InputDefault(usize),
    /// At birth.
    Init,
    /// Before the time loop.
    Prologue,
    /// The body of the time loop.
    Step,
    /// After the time loop.
    Finish,
}

/// Every section, callees before callers and the prologue before the step that sees its names.
pub(crate) fn sections(program: &Program) -> Vec<Section> {
    (0..program.functions.len())
        .map(Section::Function)
        .chain((0..program.input_defaults.len()).map(Section::InputDefault))
        .chain([
            Section::Init,
            Section::Prologue,
            Section::Step,
            Section::Finish,
        ])
        .collect()
}

/// The block of a section.
pub(crate) fn section(program: &mut Program, section: Section) -> &mut Block {
    match section {
        Section::Function(number) => &mut program.functions[number].body,
        Section::InputDefault(number) => &mut program.input_defaults[number].body,
        Section::Init => &mut program.init,
        Section::Prologue => &mut program.prologue,
        Section::Step => &mut program.step,
        Section::Finish => &mut program.finish,
    }
}

/// Hands every section's block out of the program to `visit` and puts it back.
pub(crate) fn each_section(
    program: &mut Program,
    mut visit: impl FnMut(&mut Program, Section, &mut Block),
) {
    for place in sections(program) {
        let mut block = std::mem::take(section(program, place));
        visit(program, place, &mut block);
        *section(program, place) = block;
    }
}

/// Shows `visit` every node of every section.
pub(crate) fn each_node(program: &Program, visit: &mut impl FnMut(&Expr)) {
    let functions = program.functions.iter().map(|function| &function.body);
    let defaults = program.input_defaults.iter().map(|default| &default.body);
    let own = [
        &program.init,
        &program.prologue,
        &program.step,
        &program.finish,
    ];
    let mut stack = Vec::new();
    for block in functions.chain(defaults).chain(own) {
        nodes_of(program, block, &mut stack, visit);
    }
}

pub(crate) fn nodes_of(
    program: &Program,
    block: &[Stmt],
    stack: &mut Vec<ExprId>,
    visit: &mut impl FnMut(&Expr),
) {
    for stmt in block {
        stack.extend_from_slice(&roots(stmt));
        while let Some(id) = stack.pop() {
            visit(&program[id]);
            stack.extend_from_slice(&operands(&program[id]));
        }
        for inner in blocks(stmt).into_iter().flatten() {
            nodes_of(program, inner, stack, visit);
        }
    }
}

/// How often each variable is read as one value, by variable.
pub(crate) fn reads(program: &Program) -> Vec<u32> {
    let mut reads = vec![0; program.vars.len()];
    each_node(program, &mut |expr| {
        if let Expr::Read(var) = expr {
            reads[var.0 as usize] += 1;
        }
    });
    reads
}

/// Adds to `found` every variable that a block declares as `Local` or assigns, at any depth, with
/// repetitions.
pub(crate) fn assigned(block: &[Stmt], found: &mut Vec<VarId>) {
    for stmt in block {
        match stmt {
            Stmt::Var { var, .. } | Stmt::Assign { var, .. } | Stmt::AssignElement { var, .. } => {
                found.push(*var);
            }
            Stmt::If { accept, reject, .. } => {
                assigned(accept, found);
                assigned(reject, found);
            }
            Stmt::For { body, .. } => assigned(body, found),
            Stmt::Let { .. } | Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => {}
        }
    }
}

/// Does control never reach the end of this block?
pub(crate) fn leaves(block: &[Stmt]) -> bool {
    block.last().is_some_and(|last| match last {
        Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => true,
        Stmt::If { accept, reject, .. } => leaves(accept) && leaves(reject),
        Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::For { .. } => false,
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

/// What stands for a variable in a copy.
#[derive(Clone, Copy)]
enum Substitute {
    Itself,
    Var(VarId),
    Literal(Value),
}

/// Copies blocks, giving everything that they declare a fresh name.
#[derive(Default)]
pub(crate) struct Cloner {
    substitutes: Vec<Substitute>,
}

impl Cloner {
    /// From now on a literal stands for a variable.
    pub(crate) fn fix(&mut self, var: VarId, value: Value) {
        self.put(var, Substitute::Literal(value));
    }

    /// From now on another variable stands for a variable.
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
            map_operands(&mut copy, |operand| self.expr(program, operand));
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
