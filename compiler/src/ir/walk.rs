//! What an expression or a statement consists of: operands, nodes, blocks. All walks over a program use
//! these, so that a new kind of expression or statement lists its parts once.

use super::{Block, Expr, ExprId, Program, Stmt, VarId};
use std::ops::Deref;

/// A few ids, copied out of a program so that it may change meanwhile; up to four without allocation.
pub struct Operands {
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

impl IntoIterator for Operands {
    type Item = ExprId;
    type IntoIter = std::vec::IntoIter<ExprId>;
    fn into_iter(mut self) -> Self::IntoIter {
        if self.many.is_empty() {
            self.many.extend_from_slice(&self.few[..self.count]);
        }
        self.many.into_iter()
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

impl Expr {
    /// The operands in evaluation order.
    #[inline]
    pub fn operands(&self) -> Operands {
        match self {
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_) => some(&[]),
            Expr::Other {
                index: Some(index),
                member,
                ..
            } => some(&[*index, *member]),
            Expr::RandomWord {
                number,
                step: Some(step),
                ..
            } => some(&[*number, *step]),
            Expr::Element { index: one, .. }
            | Expr::Other {
                index: None,
                member: one,
                ..
            }
            | Expr::Swizzle { vector: one, .. }
            | Expr::Splat { value: one, .. }
            | Expr::Unary(_, one)
            | Expr::Convert { value: one, .. }
            | Expr::Bitcast { value: one, .. }
            | Expr::RandomWord {
                number: one,
                step: None,
                ..
            }
            | Expr::AcrossLanes { value: one, .. }
            | Expr::AcrossWorld { value: one, .. } => some(&[*one]),
            Expr::Binary(_, a, b)
            | Expr::Shuffle {
                value: a, lane: b, ..
            } => some(&[*a, *b]),
            Expr::Select {
                condition,
                accept,
                reject,
            } => some(&[*condition, *accept, *reject]),
            Expr::Compose(parts) => some(parts),
            Expr::Builtin(_, args) | Expr::Call(_, args) => some(args),
        }
    }

    /// Does the node combine values of lanes or agents, so that all of them run it together?
    pub fn crosses_lanes(&self) -> bool {
        matches!(
            self,
            Expr::AcrossLanes { .. } | Expr::Shuffle { .. } | Expr::AcrossWorld { .. }
        )
    }

    /// The variable that the node itself names.
    pub fn variable(&self) -> Option<VarId> {
        match self {
            Expr::Rows(var)
            | Expr::Read(var)
            | Expr::Element { array: var, .. }
            | Expr::Other { var, .. } => Some(*var),
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. } => None,
        }
    }

    /// [`Expr::variable`], to be changed.
    pub fn variable_mut(&mut self) -> Option<&mut VarId> {
        if let Expr::Rows(var)
        | Expr::Read(var)
        | Expr::Element { array: var, .. }
        | Expr::Other { var, .. } = self
        {
            Some(var)
        } else {
            None
        }
    }

    /// Lets `f` change every operand, in the order of [`Expr::operands`].
    pub fn map_operands(&mut self, mut f: impl FnMut(ExprId) -> ExprId) {
        match self {
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_) => {}
            Expr::Other { index, member, .. } => {
                if let Some(index) = index {
                    *index = f(*index);
                }
                *member = f(*member);
            }
            Expr::Element { index: one, .. }
            | Expr::Swizzle { vector: one, .. }
            | Expr::Splat { value: one, .. }
            | Expr::Unary(_, one)
            | Expr::Convert { value: one, .. }
            | Expr::Bitcast { value: one, .. }
            | Expr::AcrossLanes { value: one, .. }
            | Expr::AcrossWorld { value: one, .. } => *one = f(*one),
            Expr::RandomWord { number, step, .. } => {
                *number = f(*number);
                if let Some(step) = step {
                    *step = f(*step);
                }
            }
            Expr::Binary(_, a, b)
            | Expr::Shuffle {
                value: a, lane: b, ..
            } => {
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
}

impl Stmt {
    /// The expressions that the statement itself evaluates, in order; those of its blocks are not among them.
    pub fn roots(&self) -> Operands {
        match self {
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

    /// Lets `f` change the expressions that [`Stmt::roots`] lists.
    pub fn map_roots(&mut self, mut f: impl FnMut(ExprId) -> ExprId) {
        match self {
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

    /// The variable that the statement declares or assigns.
    pub fn target(&self) -> Option<VarId> {
        match self {
            Stmt::Let { var, .. }
            | Stmt::Var { var, .. }
            | Stmt::Assign { var, .. }
            | Stmt::AssignElement { var, .. }
            | Stmt::For { index: var, .. } => Some(*var),
            Stmt::If { .. } | Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => None,
        }
    }

    /// The variable that the statement declares or assigns, to be changed.
    pub fn target_mut(&mut self) -> Option<&mut VarId> {
        match self {
            Stmt::Let { var, .. }
            | Stmt::Var { var, .. }
            | Stmt::Assign { var, .. }
            | Stmt::AssignElement { var, .. }
            | Stmt::For { index: var, .. } => Some(var),
            Stmt::If { .. } | Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => None,
        }
    }

    /// The blocks inside the statement.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        let blocks = match self {
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
        };
        blocks.into_iter().flatten()
    }

    /// The blocks inside the statement, to be changed.
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
        let blocks = match self {
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
        };
        blocks.into_iter().flatten()
    }
}

/// Calls `f` for a block within a block: inlining nests them deeper than the stack.
fn nested<T>(f: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(32 << 10, 1 << 20, f)
}

/// Shows `visit` every statement of a block, at any depth, each before those of its blocks.
pub fn each_statement(block: &[Stmt], visit: &mut impl FnMut(&Stmt)) {
    for stmt in block {
        visit(stmt);
        for inner in stmt.blocks() {
            nested(|| each_statement(inner, visit));
        }
    }
}

/// The names of a block, at any depth, and their values.
pub fn names(block: &[Stmt]) -> Vec<(VarId, ExprId)> {
    let mut found = Vec::new();
    each_statement(block, &mut |stmt| {
        if let Stmt::Let { var, value } = stmt {
            found.push((*var, *value));
        }
    });
    found
}

/// Does a statement of the block, at any depth, satisfy `is_such`?
pub fn any_statement(block: &[Stmt], is_such: &impl Fn(&Stmt) -> bool) -> bool {
    let inside = |block: &Block| nested(|| any_statement(block, is_such));
    block
        .iter()
        .any(|stmt| is_such(stmt) || stmt.blocks().any(inside))
}

/// The nodes of expression trees; see [`Program::nodes`].
pub struct Nodes<'a> {
    program: &'a Program,
    pending: Vec<ExprId>,
}

impl Iterator for Nodes<'_> {
    type Item = ExprId;

    fn next(&mut self) -> Option<ExprId> {
        let id = self.pending.pop()?;
        self.pending.extend_from_slice(&self.program[id].operands());
        Some(id)
    }
}

impl Program {
    /// An expression's nodes: itself, then all below it, each before its operands.
    pub fn nodes(&self, root: ExprId) -> Nodes<'_> {
        Nodes {
            program: self,
            pending: vec![root],
        }
    }

    /// The nodes of the expressions that a statement itself evaluates.
    pub fn nodes_of(&self, stmt: &Stmt) -> Nodes<'_> {
        Nodes {
            program: self,
            pending: stmt.roots().to_vec(),
        }
    }

    /// Shows `visit` every node of a block, at any depth.
    pub fn each_node_of(&self, block: &[Stmt], visit: &mut impl FnMut(ExprId)) {
        each_statement(block, &mut |stmt| self.nodes_of(stmt).for_each(&mut *visit));
    }
}
