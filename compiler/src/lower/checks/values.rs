//! Values that a check looks at more than once, and keeps.

use crate::{
    hir::{self, BinaryOp, ExprKind},
    ir::{Expr, ExprId, Type, Value, VarId},
    lower::Lowerer,
    span::Span,
};

/// Most values that are kept of an assertion.
const MOST_NAMES: usize = 4;

/// A value that can be read any number of times, as long as nothing is assigned.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) enum Held {
    Literal(Value),
    Var(VarId),
}

/// A value that a fault keeps.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Kept {
    pub(in crate::lower) held: Held,
    /// Where it stands.
    pub(in crate::lower) span: Span,
    /// Its name, where that is not what stands there.
    pub(in crate::lower) name: String,
}

impl Kept {
    /// The value of what stands at a place.
    pub(in crate::lower) fn at(span: Span, held: Held) -> Kept {
        let name = String::new();
        Kept { held, span, name }
    }
}

impl Lowerer<'_> {
    /// A value for several uses: under a name, unless it has one.
    pub(in crate::lower) fn hold(&mut self, value: ExprId) -> Held {
        if let Expr::Literal(value) = self.program[value] {
            return Held::Literal(value);
        }
        if let Expr::Read(var) = self.program[value] {
            return Held::Var(var);
        }
        Held::Var(self.bind("value", value))
    }

    /// Another use of a value.
    pub(in crate::lower) fn again(&mut self, held: Held) -> ExprId {
        match held {
            Held::Literal(value) => self.literal(value),
            Held::Var(var) => self.read(var),
        }
    }

    pub(super) fn type_of_held(&self, held: Held) -> Type {
        match held {
            Held::Literal(value) => value.ty(),
            Held::Var(var) => self.program[var].ty,
        }
    }

    /// A value and another use of it, each of the components that it has.
    pub(super) fn components(&mut self, held: Held) -> Vec<ExprId> {
        let count = self.type_of_held(held).components();
        let component = |k| {
            let vector = self.again(held);
            let components = vec![k];
            match count {
                1 => vector,
                _ => self.add(Expr::Swizzle { vector, components }),
            }
        };
        (0..count as u8).map(component).collect()
    }

    /// The words of a value.
    pub(super) fn words_of(&mut self, held: Held) -> Vec<ExprId> {
        let scalar = self.type_of_held(held).scalar();
        let components = self.components(held);
        let word = |value| match scalar {
            Type::U32 => value,
            Type::Bool => self.convert(Type::U32, value),
            _ => self.bitcast(Type::U32, value),
        };
        components.into_iter().map(word).collect()
    }

    /// A condition, and what it says about: both sides of a comparison, or else what it names.
    pub(super) fn condition_with_values(&mut self, condition: hir::ExprId) -> (ExprId, Vec<Kept>) {
        let model = self.model;
        let mut kept = Vec::new();
        if let ExprKind::Binary(op, a, b) = &model[condition].kind
            && compares(*op)
        {
            let mut side = |id: hir::ExprId| {
                let value = self.scalar(id);
                let held = self.hold(value);
                if !matches!(model[id].kind, ExprKind::Constant(_)) {
                    kept.push(Kept::at(model[id].span, held));
                }
                held
            };
            let sides = [side(*a), side(*b)];
            let [left, right] = sides.map(|held| self.again(held));
            return (self.join(*op, left, right), kept);
        }
        let value = self.scalar(condition);
        let holds = self.bind("holds", value);
        let mut names = Vec::new();
        self.names_in(condition, &mut names);
        for id in names {
            let value = self.scalar(id);
            let held = self.hold(value);
            kept.push(Kept::at(model[id].span, held));
        }
        (self.read(holds), kept)
    }

    /// What an expression names, of one value each, the first few.
    fn names_in(&self, id: hir::ExprId, found: &mut Vec<hir::ExprId>) {
        let model = self.model;
        // The indices of comprehensions have no value here.
        if let ExprKind::Fold(..) | ExprKind::Comprehension(_) = model[id].kind {
            return;
        }
        let known = |&other: &hir::ExprId| is_same_name(&model[other].kind, &model[id].kind);
        if is_same_name(&model[id].kind, &model[id].kind)
            && model[id].ty.value().is_some()
            && found.len() < MOST_NAMES
            && !found.iter().any(known)
        {
            found.push(id);
        }
        for operand in model.operands(id) {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.names_in(operand, found));
        }
    }
}

/// Are both the same name?
fn is_same_name(a: &ExprKind, b: &ExprKind) -> bool {
    match (a, b) {
        (ExprKind::Local(a), ExprKind::Local(b)) => a == b,
        (ExprKind::State(a), ExprKind::State(b)) => a == b,
        (ExprKind::Input(a), ExprKind::Input(b)) => a == b,
        (ExprKind::Param(a), ExprKind::Param(b)) => a == b,
        _ => false,
    }
}

fn compares(op: BinaryOp) -> bool {
    matches!(
        op,
        BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual
    )
}
