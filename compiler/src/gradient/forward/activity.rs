//! On which directions a value depends.

use super::{Forward, Set};
use crate::gradient::rules;
use crate::ir::{Block, Expr, ExprId, FunctionId, Stmt, UnaryOp, VarId, VarKind, each_statement};

impl Forward<'_> {
    /// Marks what the statements of a block make depend on directions; whether anything is new.
    pub(super) fn spread(&mut self, block: &Block) -> bool {
        let mut found = Vec::new();
        each_statement(block, &mut |stmt| {
            if let Stmt::Let { var, value }
            | Stmt::Var {
                var,
                value: Some(value),
            }
            | Stmt::Assign { var, value }
            | Stmt::AssignElement { var, value, .. } = stmt
            {
                found.push((*var, *value));
            }
        });
        let mut new = false;
        for (var, value) in found {
            if self.program[var].ty.is_float() {
                let set = self.set(value);
                let known = self.varied.entry(var).or_default();
                new |= set & !*known != 0;
                *known |= set;
                if *known == 0 {
                    self.varied.remove(&var);
                }
            }
        }
        new
    }

    pub(super) fn of_var(&self, var: VarId) -> Set {
        self.varied.get(&var).copied().unwrap_or(0)
    }

    /// The directions on which an expression's derivative may be other than zero.
    pub(super) fn set(&self, id: ExprId) -> Set {
        let of = |id: ExprId| stacker::maybe_grow(32 << 10, 1 << 20, || self.set(id));
        match &self.program[id] {
            Expr::Read(var) | Expr::Element { array: var, .. } | Expr::Other { var, .. } => {
                self.of_var(*var)
            }
            Expr::Swizzle { vector: one, .. }
            | Expr::Splat { value: one, .. }
            | Expr::Unary(UnaryOp::Negate | UnaryOp::Fence, one)
            | Expr::AcrossLanes { value: one, .. }
            | Expr::Shuffle { value: one, .. }
            | Expr::AcrossWorld { value: one, .. } => of(*one),
            Expr::Convert { to, value } if to.is_float() => of(*value),
            Expr::Binary(op, a, b) if !op.gives_bool() => of(*a) | of(*b),
            Expr::Select { accept, reject, .. } => of(*accept) | of(*reject),
            Expr::Compose(parts) => parts.iter().fold(0, |set, part| set | of(*part)),
            Expr::Builtin(builtin, args) => {
                let moves = |k: &usize| rules::text(*builtin, *k) != Some("0.0");
                let moving = (0..args.len()).filter(moves);
                moving.fold(0, |set, k| set | of(args[k]))
            }
            Expr::Call(function, args) if self.program[*function].result.is_float() => {
                let args = args.iter().fold(0, |set, arg| set | of(*arg));
                args | self.read_by(*function)
            }
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Call(..)
            | Expr::RandomWord { .. } => 0,
        }
    }

    /// The directions among the params that a function reads itself, or what it calls.
    fn read_by(&self, function: FunctionId) -> Set {
        let (program, mut set) = (&self.program, 0);
        program.each_node_of(&program[function].body, &mut |id| {
            if let Expr::Call(inner, _) = &program[id] {
                set |= self.read_by(*inner);
            }
            let read = program[id].variable();
            let param = read.filter(|var| program[*var].kind == VarKind::Param);
            set |= param.map_or(0, |var| self.of_var(var));
        });
        set
    }
}
