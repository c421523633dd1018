//! Folds over arrays and comprehensions, as loops. Sums run from the first element to the last; nothing
//! is reassociated.

use super::{Lowerer, place::Index};
use crate::{
    builtin::Fold,
    hir::{self, Comprehension, Type},
    ir::{self, BinaryOp, Expr, ExprId, Stmt, UnaryOp, Value, VarId},
};

/// A fold while its loop is being built.
struct Accumulator {
    fold: Fold,
    /// The running result; for `argmin` and `argmax` the best index.
    result: VarId,
    /// For `mean` how many, for `argmin` and `argmax` the best value.
    other: Option<VarId>,
}

impl Lowerer<'_> {
    /// `sum(for i in a..b if c: e)`
    pub(super) fn fold(&mut self, fold: Fold, over: &Comprehension, result: &Type) -> ExprId {
        let start = self.scalar(over.start);
        let end = self.scalar(over.end);
        let never_empty = over.filter.is_none()
            && matches!((self.range(start), self.range(end)), (Some((_, a)), Some((b, _))) if a < b);
        let element = self.value_type(over.value);
        let accumulator = self.accumulator(fold, element, result, never_empty);
        let name = self.model[over.index].name.clone();
        self.each(&name, start, end, |lowerer, index| {
            lowerer.bind_index(over.index, index);
            let Some(filter) = over.filter else {
                return lowerer.round(&accumulator, over.value, index);
            };
            let condition = lowerer.scalar(filter);
            let accept =
                lowerer.conditionally(|lowerer| lowerer.round(&accumulator, over.value, index));
            lowerer.emit(Stmt::If {
                condition,
                accept,
                reject: Vec::new(),
            });
        });
        self.folded(&accumulator)
    }

    fn round(&mut self, accumulator: &Accumulator, value: hir::ExprId, index: VarId) {
        let value = self.scalar(value);
        let index = self.read(index);
        self.accumulate(accumulator, value, index);
    }

    /// `sum(array)`: begins with the first element, so that no neutral element is needed.
    pub(super) fn fold_array(&mut self, fold: Fold, array: hir::ExprId) -> ExprId {
        let place = self.place(array);
        let element = place.at(Index::Constant(0)).ty;
        let ty = element
            .value()
            .expect("the checker lets only scalars and vectors be folded");
        let first = place.at(Index::Constant(0));
        let first = self.load(&first);
        let accumulator = match fold {
            Fold::Sum | Fold::Product | Fold::Min | Fold::Max | Fold::Any | Fold::All => {
                Accumulator {
                    fold,
                    result: self.local(name(fold), first),
                    other: None,
                }
            }
            Fold::Mean => {
                let one = self.literal(Value::F32(1.0));
                Accumulator {
                    fold,
                    result: self.local("sum", first),
                    other: Some(self.local("number", one)),
                }
            }
            Fold::Count => {
                let first = if ty == ir::Type::Bool {
                    self.add(Expr::Convert {
                        to: ir::Type::I32,
                        value: first,
                    })
                } else {
                    self.int(1)
                };
                Accumulator {
                    fold,
                    result: self.local("number", first),
                    other: None,
                }
            }
            Fold::ArgMin | Fold::ArgMax => {
                let zero = self.int(0);
                let best = self.local("best", first);
                Accumulator {
                    fold,
                    result: self.local("best_at", zero),
                    other: Some(best),
                }
            }
        };
        let start = self.int(1);
        let end = match place.length() {
            Some(length) => self.int(i64::from(length)),
            None => self.add(Expr::Rows(place.leaves[0].var)),
        };
        self.each("k", start, end, |lowerer, index| {
            let value = lowerer.load(&place.at(Index::Variable(index)));
            let index = lowerer.read(index);
            lowerer.accumulate(&accumulator, value, index);
        });
        self.folded(&accumulator)
    }

    fn accumulator(
        &mut self,
        fold: Fold,
        element: ir::Type,
        result: &Type,
        never_empty: bool,
    ) -> Accumulator {
        let ty = result.value().expect("a fold has one value");
        let start = match fold {
            Fold::Sum | Fold::Mean => zero(ty, never_empty),
            Fold::Product => one(ty),
            Fold::Min => largest(ty),
            Fold::Max => smallest(ty),
            Fold::Any => Value::Bool(false),
            Fold::All => Value::Bool(true),
            Fold::Count | Fold::ArgMin | Fold::ArgMax => Value::I32(0),
        };
        let start = self.literal(start);
        let result = self.local(name(fold), start);
        let other = match fold {
            Fold::Mean => Some(Value::F32(0.0)),
            Fold::ArgMin => Some(largest(element)),
            Fold::ArgMax => Some(smallest(element)),
            Fold::Sum
            | Fold::Product
            | Fold::Min
            | Fold::Max
            | Fold::Any
            | Fold::All
            | Fold::Count => None,
        };
        let other = other.map(|value| {
            let value = self.literal(value);
            self.local(if fold == Fold::Mean { "number" } else { "best" }, value)
        });
        Accumulator {
            fold,
            result,
            other,
        }
    }

    fn accumulate(&mut self, accumulator: &Accumulator, value: ExprId, index: ExprId) {
        let before = self.read(accumulator.result);
        let next = match accumulator.fold {
            Fold::Sum => self.binary(BinaryOp::Add, before, value),
            Fold::Product => self.binary(BinaryOp::Multiply, before, value),
            Fold::Min => self.builtin("min", vec![before, value]),
            Fold::Max => self.builtin("max", vec![before, value]),
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
                self.binary(BinaryOp::Add, before, value)
            }
            Fold::ArgMin | Fold::ArgMax => return self.accumulate_best(accumulator, value, index),
        };
        self.assign(accumulator.result, next);
    }

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
        for (var, accept) in [
            (accumulator.result, index),
            (best, self.program.add(Expr::Read(value), self.span)),
        ] {
            let (condition, reject) = (self.read(better), self.read(var));
            let next = self.add(Expr::Select {
                condition,
                accept,
                reject,
            });
            self.assign(var, next);
        }
    }

    fn folded(&mut self, accumulator: &Accumulator) -> ExprId {
        let result = self.read(accumulator.result);
        match (accumulator.fold, accumulator.other) {
            (Fold::Mean, Some(number)) => {
                let number = self.read(number);
                self.binary(BinaryOp::Divide, result, number)
            }
            _ => result,
        }
    }

    /// `!value`
    pub(super) fn not(&mut self, value: ExprId) -> ExprId {
        self.add(Expr::Unary(UnaryOp::Not, value))
    }
}

fn name(fold: Fold) -> &'static str {
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
fn zero(ty: ir::Type, never_empty: bool) -> Value {
    if ty.is_float() && never_empty {
        return Value::from_floats(&vec![-0.0; ty.components()]);
    }
    Value::zero(ty)
}

fn one(ty: ir::Type) -> Value {
    match ty {
        ir::Type::I32 => Value::I32(1),
        ir::Type::U32 => Value::U32(1),
        _ => Value::from_floats(&vec![1.0; ty.components()]),
    }
}

fn largest(ty: ir::Type) -> Value {
    match ty {
        ir::Type::I32 => Value::I32(i32::MAX),
        ir::Type::U32 => Value::U32(u32::MAX),
        _ => Value::F32(f32::INFINITY),
    }
}

fn smallest(ty: ir::Type) -> Value {
    match ty {
        ir::Type::I32 => Value::I32(i32::MIN),
        ir::Type::U32 => Value::U32(0),
        _ => Value::F32(f32::NEG_INFINITY),
    }
}
