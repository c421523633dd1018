//! Indices into arrays: proven in range, checked at launch, or clamped.

use super::{
    Lowerer,
    checks::{Held, Kept},
    place::{Index, Place},
};
use crate::{
    builtin::BuiltinId,
    hir::{self, ExprKind},
    ir::{self, Expr, ExprId, Launch, Len, Value, VarKind},
    manifest::{Counter, Requirement},
    passes::rewrite::literal_i32,
    span::Span,
};

impl Lowerer<'_> {
    /// The element of `base` at an index that the user wrote.
    pub(super) fn element(&mut self, base: &Place, index: hir::ExprId) -> Place {
        let constant = match &self.model[index].kind {
            ExprKind::Constant(constant) => constant.as_int(),
            _ => None,
        };
        let is_data = self.program[base.leaves[0].var].kind == VarKind::Data;
        match (constant, base.length()) {
            (Some(value), Some(_)) => return base.at(Index::Constant(value as u32)),
            (Some(value), None) if self.require(base, Counter::Constant, value, index) => {
                return base.at(Index::Constant(value as u32));
            }
            _ => {}
        }
        let span = self.model[index].span;
        let value = self.scalar(index);
        if let Some((counter, offset)) = self.counted(value)
            && is_data
            && self.require(base, counter, offset, index)
        {
            let var = self.index_variable(value);
            return base.at(Index::Variable(var));
        }
        let value = self.checked_index(base, value, span);
        let value = self.signed(value);
        let value = match base.length() {
            Some(length) => self.index_below(length, value, span),
            None => {
                let rows = self.add(Expr::Rows(base.leaves[0].var));
                let one = self.int(1);
                let last = self.binary(ir::BinaryOp::Subtract, rows, one);
                self.clamp(value, last, span)
            }
        };
        let var = self.index_variable(value);
        base.at(Index::Variable(var))
    }

    /// The nearest index of `length` things.
    pub(super) fn index_below(&mut self, length: u32, value: ExprId, span: Span) -> ExprId {
        let value = self.signed(value);
        if self.is_within(value, length) {
            return value;
        }
        let last = self.int(i64::from(length) - 1);
        self.clamp(value, last, span)
    }

    /// Does the form of an index say that it is one of `length` things?
    fn is_within(&self, value: ExprId, length: u32) -> bool {
        matches!(self.range(value), Some((low, high)) if low >= 0 && high < i64::from(length))
    }

    /// The index again, after the check that it is one of a place's elements.
    fn checked_index(&mut self, base: &Place, value: ExprId, span: Span) -> ExprId {
        let length = base.length();
        if !self.checks() || length.is_some_and(|length| self.is_within(value, length)) {
            return value;
        }
        let index = self.hold(value);
        let length = match length {
            Some(length) => Held::Literal(Value::I32(length as i32)),
            None => {
                let rows = self.add(Expr::Rows(base.leaves[0].var));
                self.hold(rows)
            }
        };
        self.check_index(Kept::at(span, index), length);
        self.again(index)
    }

    pub(super) fn clamp(&mut self, value: ExprId, last: ExprId, span: Span) -> ExprId {
        let before = std::mem::replace(&mut self.span, span);
        let first = self.int(0);
        let clamped = self.builtin(BuiltinId::CLAMP, vec![value, first, last]);
        self.span = before;
        clamped
    }

    /// A `u32` index as an `i32` that is too large if the `u32` was.
    pub(super) fn signed(&mut self, value: ExprId) -> ExprId {
        if self.program.type_of(value) != ir::Type::U32 {
            return value;
        }
        let most = self.literal(Value::U32(i32::MAX as u32));
        let value = self.builtin(BuiltinId::MIN, vec![value, most]);
        self.add(Expr::Convert {
            to: ir::Type::I32,
            value,
        })
    }

    /// A variable that holds an index; one that already does needs no other.
    pub(super) fn index_variable(&mut self, value: ExprId) -> ir::VarId {
        if let Expr::Read(var) = self.program[value]
            && matches!(self.program[var].kind, VarKind::Index | VarKind::Let)
        {
            return var;
        }
        self.bind("at", value)
    }

    /// Leaves the check of an index to the launch, where every agent reaches it; true if it could.
    fn require(&mut self, base: &Place, counts: Counter, offset: i64, index: hir::ExprId) -> bool {
        let whole = self.data.iter().position(|data| {
            data.leaves[0].var == base.leaves[0].var
                && data.leaves[0].dims.len() == base.leaves[0].dims.len()
        });
        let Some(whole) = whole else { return false };
        if self.conditional || offset < 0 || self.frame.is_some() {
            return false;
        }
        let span = self.model[index].span;
        // A launch gives a table per field of a struct.
        for leaf in &self.data[whole].leaves {
            let requirement = Requirement {
                data: self.program[leaf.var].name.clone(),
                counts,
                offset,
                span: [span.start, span.end],
            };
            if !self.requirements.iter().any(|known| {
                known.data == requirement.data && known.counts == counts && known.offset >= offset
            }) {
                self.requirements.push(requirement);
            }
        }
        true
    }

    /// Is the value the step or the agent, plus a constant?
    fn counted(&self, value: ExprId) -> Option<(Counter, i64)> {
        if let Expr::Launch(launch) = self.program[value] {
            return match launch {
                Launch::Step => Some((Counter::Step, 0)),
                Launch::Agent => Some((Counter::Agent, 0)),
                Launch::Agents
                | Launch::Steps
                | Launch::Member
                | Launch::Members
                | Launch::World
                | Launch::Lane { .. } => None,
            };
        }
        let Expr::Binary(op, a, b) = self.program[value] else {
            return None;
        };
        let number = |id| literal_i32(&self.program, id).map(i64::from);
        let (by, other) = match (number(a), number(b)) {
            (_, Some(by)) if op == ir::BinaryOp::Add => (by, a),
            (_, Some(by)) if op == ir::BinaryOp::Subtract => (-by, a),
            (Some(by), None) if op == ir::BinaryOp::Add => (by, b),
            _ => return None,
        };
        let (counter, offset) = self.counted(other)?;
        Some((counter, offset + by))
    }

    /// Inclusive bounds of an `i32` expression, where its form implies them.
    pub(super) fn range(&self, value: ExprId) -> Option<(i64, i64)> {
        let fits = |(low, high): (i64, i64)| {
            (low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX) && low <= high)
                .then_some((low, high))
        };
        match &self.program[value] {
            Expr::Literal(Value::I32(value)) => Some((i64::from(*value), i64::from(*value))),
            Expr::Read(var) if self.program[*var].len == Len::One => self.ranges.get(var).copied(),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.range(*a)?, self.range(*b)?);
                match op {
                    ir::BinaryOp::Add => fits((a.0 + b.0, a.1 + b.1)),
                    ir::BinaryOp::Subtract => fits((a.0 - b.1, a.1 - b.0)),
                    ir::BinaryOp::Multiply => {
                        let ends = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1];
                        fits((ends.into_iter().min()?, ends.into_iter().max()?))
                    }
                    ir::BinaryOp::Remainder if a.0 >= 0 && b.0 > 0 => fits((0, b.1 - 1)),
                    ir::BinaryOp::Divide
                    | ir::BinaryOp::Remainder
                    | ir::BinaryOp::Equal
                    | ir::BinaryOp::NotEqual
                    | ir::BinaryOp::Less
                    | ir::BinaryOp::LessEqual
                    | ir::BinaryOp::Greater
                    | ir::BinaryOp::GreaterEqual
                    | ir::BinaryOp::And
                    | ir::BinaryOp::Or
                    | ir::BinaryOp::BitAnd
                    | ir::BinaryOp::BitOr
                    | ir::BinaryOp::BitXor
                    | ir::BinaryOp::ShiftLeft
                    | ir::BinaryOp::ShiftRight => None,
                }
            }
            Expr::Builtin(BuiltinId::CLAMP, args) => {
                fits((self.range(args[1])?.0, self.range(args[2])?.1))
            }
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => None,
        }
    }
}
