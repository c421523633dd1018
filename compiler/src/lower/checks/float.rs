//! Checks of floats, by their bits: what is left of a float's exponent does not depend on what a device makes
//! of NaN.

use super::values::{Held, Kept};
use crate::{
    builtin::{Bounds, BuiltinId},
    hir::{self, BinaryOp},
    ir::{BinaryOp as Op, ExprId, Stmt, Type, Value, checks::CheckKind},
    lower::Lowerer,
    span::Span,
};

/// The bits of an infinity but its sign.
const INFINITY: u32 = 0x7f80_0000;
/// All bits but the sign.
const MAGNITUDE: u32 = 0x7fff_ffff;

/// Which operands decide about a component of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Operands {
    /// The same components.
    ByComponent,
    /// All components.
    Whole,
}

impl Lowerer<'_> {
    /// `left op right`, checked. The spans are those of the operands.
    pub(in crate::lower) fn operation(
        &mut self,
        op: BinaryOp,
        [left, right]: [ExprId; 2],
        spans: [Span; 2],
    ) -> ExprId {
        if !self.checks() {
            return self.join(op, left, right);
        }
        let ty = self.program.type_of(left);
        let divides = matches!(op, BinaryOp::Divide | BinaryOp::Remainder);
        let computes =
            divides || matches!(op, BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply);
        let checked = if ty.is_float() { computes } else { divides };
        if !checked {
            return self.join(op, left, right);
        }
        let held = [left, right].map(|operand| self.hold(operand));
        let [a, b] = [0, 1].map(|k| Kept::at(spans[k], held[k]));
        if ty.is_float() {
            let [left, right] = held.map(|held| self.again(held));
            let value = self.join(op, left, right);
            return self.computed(value, &[a, b], Operands::ByComponent);
        }
        self.check_division(self.span, [a, b]);
        let [left, right] = held.map(|held| self.again(held));
        self.join(op, left, right)
    }

    /// A sum or product so far and the next element of a fold.
    pub(in crate::lower) fn accumulated(&mut self, op: Op, before: ExprId, by: ExprId) -> ExprId {
        if !self.checks() || !self.program.type_of(before).is_float() {
            return self.binary(op, before, by);
        }
        let held = [before, by].map(|operand| self.hold(operand));
        let names = ["so far", "next"];
        let kept = [0, 1].map(|k| Kept {
            held: held[k],
            span: self.span,
            name: names[k].to_owned(),
        });
        let [before, by] = held.map(|held| self.again(held));
        let value = self.binary(op, before, by);
        self.computed(value, &kept, Operands::ByComponent)
    }

    /// A sum over the number of its elements; that of nothing is NaN.
    pub(in crate::lower) fn mean(&mut self, sum: ExprId, number: ExprId) -> ExprId {
        if !self.checks() {
            return self.binary(Op::Divide, sum, number);
        }
        let held = [sum, number].map(|operand| self.hold(operand));
        let names = ["sum", "number of elements"];
        let kept = [0, 1].map(|k| Kept {
            held: held[k],
            span: self.span,
            name: names[k].to_owned(),
        });
        let [sum, number] = held.map(|held| self.again(held));
        let value = self.binary(Op::Divide, sum, number);
        self.computed(value, &kept, Operands::Whole)
    }

    /// A call of a builtin, checked.
    pub(in crate::lower) fn checked_call(
        &mut self,
        id: BuiltinId,
        args: Vec<ExprId>,
        written: &[hir::ExprId],
    ) -> ExprId {
        if !self.checks() {
            return self.builtin(id, args);
        }
        let floats = args.iter().any(|&arg| self.program.type_of(arg).is_float());
        let stays = match id.row().pure().bounds {
            Bounds::Magnitude | Bounds::Least | Bounds::Most | Bounds::Clamped => true,
            Bounds::Any | Bounds::Unit | Bounds::Growing(_) => false,
        };
        if !floats || stays {
            return self.builtin(id, args);
        }
        let held: Vec<Held> = args.into_iter().map(|arg| self.hold(arg)).collect();
        let kept: Vec<Kept> = (held.iter().zip(written))
            .map(|(&held, &arg)| Kept::at(self.model[arg].span, held))
            .collect();
        let args = held.into_iter().map(|held| self.again(held)).collect();
        let value = self.builtin(id, args);
        if !self.program.type_of(value).is_float() {
            return value;
        }
        self.computed(value, &kept, Operands::Whole)
    }

    /// The value of what was computed at the current place, after the check that it is finite, or that one of
    /// its operands is not, either.
    pub(in crate::lower) fn computed(
        &mut self,
        value: ExprId,
        operands: &[Kept],
        decides: Operands,
    ) -> ExprId {
        if !self.checks() {
            return value;
        }
        let span = self.span;
        let result = Held::Var(self.bind("result", value));
        let bad = self.any(result, Self::not_finite);
        let condition = self.guarded(bad);
        let accept = self.nested(|lowerer| {
            let at_fault = lowerer.at_fault(result, operands, decides);
            let mut kept = vec![Kept {
                held: result,
                span,
                name: "result".to_owned(),
            }];
            // A literal says itself what it is.
            let is_open =
                |kept: &&Kept| !matches!(kept.held, Held::Literal(_)) || !kept.name.is_empty();
            kept.extend(operands.iter().filter(is_open).cloned());
            let guards = std::mem::take(&mut lowerer.guards);
            lowerer.fault(CheckKind::NotFinite, span, at_fault, &kept);
            lowerer.guards = guards;
        });
        self.emit(Stmt::If {
            condition,
            accept,
            reject: Vec::new(),
        });
        self.again(result)
    }

    /// Is a result that is not finite the fault of its operation?
    fn at_fault(&mut self, result: Held, operands: &[Kept], decides: Operands) -> ExprId {
        let operands: Vec<Held> = (operands.iter().map(|kept| kept.held))
            .filter(|&held| self.type_of_held(held).is_float())
            .collect();
        let parts = self.type_of_held(result).components();
        let mut any = None;
        for k in 0..parts {
            let from = |lowerer: &mut Self, test: fn(&mut Self, ExprId) -> ExprId| {
                let mut found = None;
                for &held in &operands {
                    let components = lowerer.components(held);
                    let same = components.len() == parts && decides == Operands::ByComponent;
                    let own = if same {
                        &components[k..=k]
                    } else {
                        &components
                    };
                    for &component in own {
                        let holds = test(lowerer, component);
                        found = Some(lowerer.either(found, holds));
                    }
                }
                found.unwrap_or_else(|| lowerer.literal(Value::Bool(false)))
            };
            let own = self.components(result)[k];
            let nan = self.is_nan(own);
            let (from_nan, from_infinity) =
                (from(self, Self::is_nan), from(self, Self::not_finite));
            let follows = self.select(nan, from_nan, from_infinity);
            let own = self.components(result)[k];
            let bad = self.not_finite(own);
            let new = self.not(follows);
            let fault = self.binary(Op::And, bad, new);
            any = Some(self.either(any, fault));
        }
        any.unwrap_or_else(|| self.literal(Value::Bool(false)))
    }

    /// Is it true of a component?
    pub(super) fn any(&mut self, held: Held, test: fn(&mut Self, ExprId) -> ExprId) -> ExprId {
        let mut any = None;
        for component in self.components(held) {
            let holds = test(self, component);
            any = Some(self.either(any, holds));
        }
        any.unwrap_or_else(|| self.literal(Value::Bool(false)))
    }

    fn either(&mut self, known: Option<ExprId>, other: ExprId) -> ExprId {
        match known {
            Some(known) => self.binary(Op::Or, known, other),
            None => other,
        }
    }

    fn bits(&mut self, value: ExprId, mask: u32) -> ExprId {
        let (bits, mask) = (
            self.bitcast(Type::U32, value),
            self.literal(Value::U32(mask)),
        );
        self.binary(Op::BitAnd, bits, mask)
    }

    /// Is a float NaN or infinite?
    pub(in crate::lower) fn not_finite(&mut self, value: ExprId) -> ExprId {
        let (exponent, all) = (
            self.bits(value, INFINITY),
            self.literal(Value::U32(INFINITY)),
        );
        self.binary(Op::Equal, exponent, all)
    }

    fn is_nan(&mut self, value: ExprId) -> ExprId {
        let (magnitude, infinity) = (
            self.bits(value, MAGNITUDE),
            self.literal(Value::U32(INFINITY)),
        );
        self.binary(Op::Greater, magnitude, infinity)
    }
}
