//! The types of expressions.

use super::{Expr, ExprId, Program, Type};

impl Program {
    /// The type of an expression.
    pub fn type_of(&self, id: ExprId) -> Type {
        self.type_by(id, |operand| {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.type_of(operand))
        })
    }

    /// The type of an expression whose operands have the types that `of` says.
    pub fn type_by(&self, id: ExprId, of: impl Fn(ExprId) -> Type) -> Type {
        match &self[id] {
            Expr::Literal(value) => value.ty(),
            Expr::Double(_) => Type::F32,
            Expr::Launch(_) | Expr::Rows(_) => Type::I32,
            Expr::Read(var) | Expr::Element { array: var, .. } | Expr::Other { var, .. } => {
                self[*var].ty
            }
            Expr::Swizzle { components, .. } => Type::float(components.len()),
            Expr::Compose(parts) => Type::float(parts.len()),
            Expr::Splat { ty, .. } => *ty,
            Expr::Unary(_, operand) => of(*operand),
            Expr::Binary(op, ..) if op.gives_bool() => Type::Bool,
            Expr::Binary(_, a, b) => {
                let left = of(*a);
                if left == Type::F32 { of(*b) } else { left }
            }
            Expr::Select { accept, .. } => of(*accept),
            Expr::Convert { to, .. } | Expr::Bitcast { to, .. } => *to,
            Expr::Builtin(id, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| of(arg)).collect();
                id.row().result(&types)
            }
            Expr::Call(id, _) => self[*id].result,
            Expr::RandomWord { .. } => Type::U32,
            Expr::AcrossLanes { value, .. }
            | Expr::Shuffle { value, .. }
            | Expr::AcrossWorld { value, .. } => of(*value),
        }
    }
}
