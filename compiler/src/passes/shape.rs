//! The operation of a node without its operands, so that nodes can be compared and hashed.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Expr, ExprId, FunctionId, LaneOp, Launch, Owner, Program, Type, UnaryOp, VarId,
    },
};

/// A node without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// With its words.
    Literal(Type, [u32; 4]),
    Double(u64),
    Launch(Launch),
    Rows(VarId),
    Read(VarId),
    Element(VarId),
    /// With how many components, and which.
    Swizzle(u8, [u8; 4]),
    Compose,
    Splat(Type),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Select,
    Convert(Type),
    Bitcast(Type),
    Builtin(BuiltinId),
    Call(FunctionId),
    /// Whose, and whether it names its step.
    RandomWord(Owner, bool),
    Other(VarId),
    AcrossLanes(LaneOp),
    Shuffle,
    AcrossWorld(LaneOp),
}

/// The shape of a node.
pub(crate) fn shape(expr: &Expr) -> Shape {
    match expr {
        Expr::Literal(value) => {
            let mut words = [0; 4];
            for (slot, word) in words.iter_mut().zip(value.words()) {
                *slot = word;
            }
            Shape::Literal(value.ty(), words)
        }
        Expr::Double(bits) => Shape::Double(*bits),
        Expr::Launch(which) => Shape::Launch(*which),
        Expr::Rows(var) => Shape::Rows(*var),
        Expr::Read(var) => Shape::Read(*var),
        Expr::Element { array, .. } => Shape::Element(*array),
        Expr::Swizzle { components, .. } => {
            let mut which = [0; 4];
            which[..components.len()].copy_from_slice(components);
            Shape::Swizzle(components.len() as u8, which)
        }
        Expr::Compose(_) => Shape::Compose,
        Expr::Splat { ty, .. } => Shape::Splat(*ty),
        Expr::Unary(op, _) => Shape::Unary(*op),
        Expr::Binary(op, _, _) => Shape::Binary(*op),
        Expr::Select { .. } => Shape::Select,
        Expr::Convert { to, .. } => Shape::Convert(*to),
        Expr::Bitcast { to, .. } => Shape::Bitcast(*to),
        Expr::Builtin(id, _) => Shape::Builtin(*id),
        Expr::Call(id, _) => Shape::Call(*id),
        Expr::RandomWord { owner, step, .. } => Shape::RandomWord(*owner, step.is_some()),
        Expr::Other { var, .. } => Shape::Other(*var),
        Expr::AcrossWorld { op, .. } => Shape::AcrossWorld(*op),
        Expr::AcrossLanes { op, .. } => Shape::AcrossLanes(*op),
        Expr::Shuffle { .. } => Shape::Shuffle,
    }
}

/// Are these two trees, evaluated at the same moment, identical?
pub(crate) fn identical(program: &Program, a: ExprId, b: ExprId) -> bool {
    if shape(&program[a]) != shape(&program[b]) {
        return false;
    }
    let (left, right) = (program[a].operands(), program[b].operands());
    left.len() == right.len()
        && left
            .iter()
            .zip(right.iter())
            .all(|(&a, &b)| identical(program, a, b))
}

/// Is this node, or this node of trivial operands, not worth a name of its own: a leaf, a sign, a
/// component, a conversion?
pub(crate) fn is_trivial(program: &Program, id: ExprId) -> bool {
    let expr = &program[id];
    match expr {
        Expr::Literal(_) | Expr::Double(_) | Expr::Launch(_) | Expr::Rows(_) | Expr::Read(_) => {
            true
        }
        Expr::Swizzle { .. }
        | Expr::Compose(_)
        | Expr::Splat { .. }
        | Expr::Unary(_, _)
        | Expr::Convert { .. }
        | Expr::Bitcast { .. } => expr
            .operands()
            .iter()
            .all(|&operand| is_trivial(program, operand)),
        Expr::Element { .. }
        | Expr::Binary(_, _, _)
        | Expr::Select { .. }
        | Expr::Builtin(_, _)
        | Expr::Call(_, _)
        | Expr::RandomWord { .. }
        | Expr::AcrossLanes { .. }
        | Expr::Shuffle { .. }
        | Expr::AcrossWorld { .. }
        | Expr::Other { .. } => false,
    }
}
