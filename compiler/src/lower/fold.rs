//! Folds over arrays and comprehensions, as loops. Sums run from the first element to the last; nothing
//! is reassociated.

use super::{
    Lowerer,
    place::{Index, Place},
};
use crate::{
    builtin::{BuiltinId, Fold},
    hir::{self, Comprehension, Domain, Type},
    ir::{self, BinaryOp, Expr, ExprId, Launch, Stmt, UnaryOp, Value, VarId},
};

/// A fold while its loop is being built.
struct Accumulator {
    fold: Fold,
    /// The running result; for `argmin` and `argmax` the best index.
    result: VarId,
    /// For `mean` the count, for `argmin` and `argmax` the best value.
    other: Option<VarId>,
    /// For `argmin` and `argmax`: whether there has been an element, where a filter may reject the first.
    found: Option<VarId>,
}

impl Lowerer<'_> {
    /// `sum(for i in a..b if c: e)`, from the first element to the last.
    pub(super) fn fold_in_order(
        &mut self,
        fold: Fold,
        over: &Comprehension,
        result: &Type,
    ) -> ExprId {
        let (mut start, mut end) = match over.domain {
            Domain::Range(start, end) => (self.scalar(start), self.scalar(end)),
            Domain::World => (self.int(0), self.add(Expr::Launch(Launch::Members))),
        };
        let never_empty = over.filter.is_none()
            && (matches!(over.domain, Domain::World)
                || matches!((self.range(start), self.range(end)), (Some((_, a)), Some((b, _))) if a < b));
        let element = self.value_type(over.value);
        let result = result.value().expect("a fold has one value");
        let mut accumulator = self.accumulator(fold, element, result, never_empty);
        if matches!(fold, Fold::ArgMin | Fold::ArgMax) {
            if over.filter.is_some() {
                let none = self.literal(Value::Bool(false));
                accumulator.found = Some(self.local("found", none));
            } else {
                (start, end) = self.begin_search(accumulator.result, start, end);
            }
        }
        let name = self.model[over.index].name.clone();
        self.each(&name, start, end, |lowerer, index| {
            match over.domain {
                Domain::Range(..) => lowerer.bind_index(over.index, index),
                Domain::World => lowerer.bind_agent(over.index, index),
            }
            let Some(filter) = over.filter else {
                return lowerer.iteration(&accumulator, over.value, index);
            };
            let condition = lowerer.scalar(filter);
            let accept =
                lowerer.conditionally(|lowerer| lowerer.iteration(&accumulator, over.value, index));
            lowerer.emit(Stmt::If {
                condition,
                accept,
                reject: Vec::new(),
            });
        });
        self.folded(&accumulator)
    }

    fn iteration(&mut self, accumulator: &Accumulator, value: hir::ExprId, index: VarId) {
        let value = self.scalar(value);
        let index = self.read(index);
        self.accumulate(accumulator, value, index);
    }

    /// The initial index of `argmin` and `argmax` without a filter: the first index, or 0 if there is none.
    /// Returns the ends of the range, too, which are read twice.
    fn begin_search(&mut self, result: VarId, start: ExprId, end: ExprId) -> (ExprId, ExprId) {
        let (start, end) = (self.bind("first", start), self.bind("end", end));
        let (first, last) = (self.read(start), self.read(end));
        let condition = self.binary(BinaryOp::Less, first, last);
        let accept = self.read(start);
        self.choose(result, condition, accept);
        (self.read(start), self.read(end))
    }

    /// `sum(array)`: begins with the first element, so that no neutral element is needed; but folds that
    /// compare ignore NaN elements.
    pub(super) fn fold_array(&mut self, fold: Fold, array: hir::ExprId) -> ExprId {
        let place = self.place(array);
        let first = place.at(Index::Constant(0));
        let ty = first
            .ty
            .value()
            .expect("the checker lets only scalars and vectors be folded");
        if ty.is_float() && matches!(fold, Fold::ArgMin | Fold::ArgMax) {
            let accumulator = self.accumulator(fold, ty, ir::Type::I32, true);
            return self.fold_elements(&accumulator, &place, 0);
        }
        let first = self.load(&first);
        let first = match fold {
            Fold::Sum => self.as_number(first, ir::Type::I32),
            Fold::Mean => self.as_number(first, ir::Type::F32),
            _ => first,
        };
        let (result, other) = match fold {
            Fold::Min | Fold::Max if ty.is_float() => {
                let none = self.literal(worst(fold, ty));
                (self.better(fold, none, first), None)
            }
            Fold::Sum | Fold::Product | Fold::Min | Fold::Max | Fold::Any | Fold::All => {
                (first, None)
            }
            Fold::Mean => (first, Some(self.literal(Value::F32(1.0)))),
            Fold::Count if ty == ir::Type::Bool => {
                let to = ir::Type::I32;
                let value = first;
                (self.add(Expr::Convert { to, value }), None)
            }
            Fold::Count => (self.int(1), None),
            Fold::ArgMin | Fold::ArgMax => (self.int(0), Some(first)),
        };
        let other = other.map(|value| self.local(other_name(fold), value));
        let accumulator = Accumulator {
            fold,
            result: self.local(name(fold), result),
            other,
            found: None,
        };
        self.fold_elements(&accumulator, &place, 1)
    }

    /// The elements of an array from `start` on, and their contributions.
    fn fold_elements(&mut self, accumulator: &Accumulator, place: &Place, start: i64) -> ExprId {
        let start = self.int(start);
        let end = match place.length() {
            Some(length) => self.int(i64::from(length)),
            None => self.add(Expr::Rows(place.leaves[0].var)),
        };
        self.each("k", start, end, |lowerer, index| {
            let value = lowerer.load(&place.at(Index::Variable(index)));
            let index = lowerer.read(index);
            lowerer.accumulate(accumulator, value, index);
        });
        self.folded(accumulator)
    }

    fn accumulator(
        &mut self,
        fold: Fold,
        element: ir::Type,
        ty: ir::Type,
        never_empty: bool,
    ) -> Accumulator {
        let start = match fold {
            Fold::Sum | Fold::Mean => zero(ty, never_empty),
            Fold::Product => one(ty),
            Fold::Min | Fold::Max => worst(fold, ty),
            Fold::Any => Value::Bool(false),
            Fold::All => Value::Bool(true),
            Fold::Count | Fold::ArgMin | Fold::ArgMax => Value::I32(0),
        };
        let start = self.literal(start);
        let result = self.local(name(fold), start);
        let other = match fold {
            Fold::Mean => Some(Value::F32(0.0)),
            Fold::ArgMin | Fold::ArgMax => Some(worst(fold, element)),
            Fold::Sum
            | Fold::Product
            | Fold::Min
            | Fold::Max
            | Fold::Any
            | Fold::All
            | Fold::Count => None,
        };
        let other = other.map(|value| self.literal(value));
        Accumulator {
            fold,
            result,
            other: other.map(|value| self.local(other_name(fold), value)),
            found: None,
        }
    }

    fn accumulate(&mut self, accumulator: &Accumulator, value: ExprId, index: ExprId) {
        let before = self.read(accumulator.result);
        let value = match accumulator.fold {
            Fold::Sum | Fold::Mean => {
                let ty = self.program[accumulator.result].ty;
                self.as_number(value, ty)
            }
            _ => value,
        };
        let next = match accumulator.fold {
            Fold::Sum => self.accumulated(BinaryOp::Add, before, value),
            Fold::Product => self.accumulated(BinaryOp::Multiply, before, value),
            Fold::Min | Fold::Max => self.better(accumulator.fold, before, value),
            Fold::Any => self.binary(BinaryOp::Or, before, value),
            Fold::All => self.binary(BinaryOp::And, before, value),
            Fold::Count => {
                let by = if self.program.type_of(value) == ir::Type::Bool {
                    self.add(Expr::Convert {
                        to: ir::Type::I32,
                        value,
                    })
                } else {
                    self.int(1)
                };
                self.binary(BinaryOp::Add, before, by)
            }
            Fold::Mean => {
                let number = accumulator.other.expect("`mean` counts");
                let (old, one) = (self.read(number), self.literal(Value::F32(1.0)));
                let more = self.binary(BinaryOp::Add, old, one);
                self.assign(number, more);
                self.accumulated(BinaryOp::Add, before, value)
            }
            Fold::ArgMin | Fold::ArgMax => return self.accumulate_best(accumulator, value, index),
        };
        self.assign(accumulator.result, next);
    }

    /// NaN is never better, since comparisons with it are false; nor does it become the best value.
    fn accumulate_best(&mut self, accumulator: &Accumulator, value: ExprId, index: ExprId) {
        let best = accumulator
            .other
            .expect("`argmin` and `argmax` keep the best value");
        let value = self.bind("candidate", value);
        let op = if accumulator.fold == Fold::ArgMin {
            BinaryOp::Less
        } else {
            BinaryOp::Greater
        };
        let (candidate, old) = (self.read(value), self.read(best));
        let better = self.binary(op, candidate, old);
        let better = self.bind("better", better);
        let mut condition = self.read(better);
        if let Some(found) = accumulator.found {
            let before = self.read(found);
            let first = self.not(before);
            condition = self.binary(BinaryOp::Or, condition, first);
        }
        self.choose(accumulator.result, condition, index);
        let (condition, accept) = (self.read(better), self.read(value));
        self.choose(best, condition, accept);
        if let Some(found) = accumulator.found {
            let yes = self.literal(Value::Bool(true));
            self.assign(found, yes);
        }
    }

    /// Assigns `accept` where the condition holds.
    fn choose(&mut self, var: VarId, condition: ExprId, accept: ExprId) {
        let reject = self.read(var);
        let next = self.add(Expr::Select {
            condition,
            accept,
            reject,
        });
        self.assign(var, next);
    }

    /// The smaller or larger of two; the other one if one is NaN.
    pub(super) fn better(&mut self, fold: Fold, a: ExprId, b: ExprId) -> ExprId {
        let id = match fold {
            Fold::Min | Fold::ArgMin => BuiltinId::MIN,
            _ => BuiltinId::MAX,
        };
        self.builtin(id, vec![a, b])
    }

    fn folded(&mut self, accumulator: &Accumulator) -> ExprId {
        let result = self.read(accumulator.result);
        match (accumulator.fold, accumulator.other) {
            (Fold::Mean, Some(number)) => {
                let number = self.read(number);
                self.mean(result, number)
            }
            _ => result,
        }
    }

    /// `!value`
    pub(super) fn not(&mut self, value: ExprId) -> ExprId {
        self.add(Expr::Unary(UnaryOp::Not, value))
    }
}

pub(super) fn name(fold: Fold) -> &'static str {
    match fold {
        Fold::Sum | Fold::Mean => "sum",
        Fold::Product => "product",
        Fold::Min => "least",
        Fold::Max => "most",
        Fold::Any => "any_of",
        Fold::All => "all_of",
        Fold::Count => "number",
        Fold::ArgMin | Fold::ArgMax => "best_at",
    }
}

/// The neutral element of addition: -0.0 for floats, which keeps a first element of -0.0; but the sum of
/// nothing is 0.0.
pub(super) fn zero(ty: ir::Type, never_empty: bool) -> Value {
    if ty.is_float() && never_empty {
        return Value::from_floats(&vec![-0.0; ty.components()]);
    }
    Value::zero(ty)
}

pub(super) fn one(ty: ir::Type) -> Value {
    match ty {
        ir::Type::I32 => Value::I32(1),
        ir::Type::U32 => Value::U32(1),
        _ => Value::from_floats(&vec![1.0; ty.components()]),
    }
}

/// The name of an accumulator's second variable.
fn other_name(fold: Fold) -> &'static str {
    if fold == Fold::Mean { "number" } else { "best" }
}

/// The worst value of the type: the result of `min` and `max` of nothing, and the initial value of `argmin`
/// and `argmax`.
pub(super) fn worst(fold: Fold, ty: ir::Type) -> Value {
    let largest = matches!(fold, Fold::Min | Fold::ArgMin);
    match (ty, largest) {
        (ir::Type::I32, true) => Value::I32(i32::MAX),
        (ir::Type::I32, false) => Value::I32(i32::MIN),
        (ir::Type::U32, true) => Value::U32(u32::MAX),
        (ir::Type::U32, false) => Value::U32(0),
        (_, true) => Value::F32(f32::INFINITY),
        (_, false) => Value::F32(f32::NEG_INFINITY),
    }
}
