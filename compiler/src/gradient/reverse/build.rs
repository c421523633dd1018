//! How statements are written: each result has a name.

use super::record::Sweep;
use crate::{
    builtin::BuiltinId,
    gradient::forward::Atom,
    ir::{BinaryOp, Block, Expr, ExprId, Len, Stmt, Type, Value, VarId, VarKind},
};

impl Sweep<'_> {
    /// Declares the adjoint of the wanted output, where one value has the adjoint 1.
    pub(super) fn begin_with_one(&mut self, wanted: VarId, place: usize) {
        let bar = self.bar(wanted, VarKind::Local);
        let declaration = self.no_adjoint(bar);
        self.block.push(declaration);
        let ty = self.source[wanted].ty;
        let (element, component) = (place / ty.components(), place % ty.components());
        let ones = (0..ty.components()).map(|k| Value::F32(f32::from(u8::from(k == component))));
        let ones: Vec<ExprId> = ones.map(|one| self.add(Expr::Literal(one))).collect();
        let value = match ones.as_slice() {
            [one] => *one,
            _ => self.add(Expr::Compose(ones)),
        };
        let index = match self.source[wanted].len {
            Len::Fixed(_) => Some(int(element as u32)),
            Len::One | Len::Open { .. } => None,
        };
        self.assign(bar, index, value);
    }

    /// A copy of an adjoint.
    pub(super) fn copy_of(&mut self, bar: VarId) -> VarId {
        let (ty, len) = (self.program[bar].ty, self.program[bar].len);
        let copy = self.variable("before", ty, len, VarKind::Local);
        let declaration = self.zeros(copy);
        self.block.push(declaration);
        self.each_value(bar, |sweep, k| {
            let value = sweep.element(bar, k);
            sweep.assign(copy, k, value);
        });
        copy
    }

    /// The sum of a vector's components; a number as it is.
    pub(super) fn parts_added(&mut self, value: ExprId) -> ExprId {
        let ty = self.program.type_of(value);
        if !ty.is_vector() {
            return value;
        }
        let ones = self.add(Expr::Literal(Value::F32(1.0)));
        let ones = self.add(Expr::Splat { ty, value: ones });
        self.add(Expr::Builtin(BuiltinId::DOT, vec![value, ones]))
    }

    /// Sets a variable to zeros.
    pub(super) fn clear(&mut self, var: VarId) {
        let zero = Value::zero(self.program[var].ty);
        self.each_value(var, |sweep, k| {
            let value = sweep.add(Expr::Literal(zero));
            sweep.assign(var, k, value);
        });
    }

    /// Writes what is done with each element of a variable, or with its value.
    pub(super) fn each_value(&mut self, var: VarId, each: impl FnOnce(&mut Self, Option<Atom>)) {
        match self.program[var].len {
            Len::Fixed(count) => self.copy(count, |sweep, k| each(sweep, Some(k))),
            Len::One | Len::Open { .. } => each(self, None),
        }
    }

    /// The statements that `write` writes.
    pub(super) fn written(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        let outer = std::mem::take(&mut self.block);
        write(self);
        std::mem::replace(&mut self.block, outer)
    }

    pub(super) fn when(&mut self, condition: Atom, accept: Block, reject: Block) {
        let condition = self.write(condition);
        self.block.push(Stmt::If {
            condition,
            accept,
            reject,
        });
    }

    pub(super) fn times(&mut self, name: &str, count: Atom, each: impl FnOnce(&mut Self, Atom)) {
        let index = self.variable(name, Type::I32, Len::One, VarKind::Index);
        let body = self.written(|sweep| each(sweep, Atom::Var(index)));
        let (start, end) = (self.write(int(0)), self.write(count));
        self.block.push(Stmt::For {
            index,
            start,
            end,
            body,
        });
    }

    /// Names the result of an operation.
    pub(super) fn op(&mut self, name: &str, op: BinaryOp, a: Atom, b: Atom) -> Atom {
        let (a, b) = (self.write(a), self.write(b));
        let value = self.add(Expr::Binary(op, a, b));
        Atom::Var(self.bind(name, value))
    }

    pub(super) fn choice(
        &mut self,
        name: &str,
        condition: Atom,
        accept: Atom,
        reject: Atom,
    ) -> Atom {
        let [condition, accept, reject] = [condition, accept, reject].map(|it| self.write(it));
        let value = self.add(Expr::Select {
            condition,
            accept,
            reject,
        });
        Atom::Var(self.bind(name, value))
    }
}

/// A literal of type `i32`.
pub(super) fn int(number: u32) -> Atom {
    Atom::Literal(Value::I32(number as i32))
}
