//! Operators: which types they accept, and the type of the result.

use super::{Checked, Checker, ir_binary, ir_unary};
use crate::{
    builtin::{BuiltinId, eval, real::Real},
    diagnostic::{Reported, catalog},
    hir::{BinaryOp, Constant, ExprId, ExprKind, Type, UnaryOp},
    ir,
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(super) fn unary(
        &mut self,
        op: UnaryOp,
        operand: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        let id = self.expr(operand, want);
        let id = self.sound(id)?;
        let ty = self.ty(id).clone();
        let fits = match (op, &ty) {
            (UnaryOp::Negate, Type::Value(value)) => value.is_float() || *value == ir::Type::I32,
            (UnaryOp::Negate, Type::AbstractInt | Type::AbstractFloat) => true,
            (UnaryOp::Not, ty) => *ty == Type::BOOL,
            (
                UnaryOp::Complement,
                Type::Value(ir::Type::I32 | ir::Type::U32) | Type::AbstractInt,
            ) => true,
            _ => false,
        };
        if !fits {
            let report =
                catalog::types::bad_operand(op.text(), &self.show(&ty), self.expr_span(id));
            return Err(self.report(report));
        }
        if let Some(constant) = self.constant(id).cloned()
            && let Some(folded) = self.fold_unary(op, &constant, &ty, span)?
        {
            let wide = self
                .wide(&[id])
                .map(|wide| eval::unary(ir_unary(op), wide[0]));
            return Ok(self.folded(folded, wide, ty, span));
        }
        Ok(self.node(ExprKind::Unary(op, id), ty, span))
    }

    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        left: &ast::Expr,
        right: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        let want = if is_comparison(op) { None } else { want };
        let a = self.expr(left, want);
        let b = self.expr(right, if is_shift(op) { None } else { want });
        let (a, b) = (self.sound(a)?, self.sound(b)?);
        if op == BinaryOp::Power {
            return self.power([(left, a), (right, b)], span);
        }
        let (a, b) = if is_shift(op) {
            self.shift_operands(a, b)?
        } else {
            self.unify(a, b)?
        };
        let sides = [(left, a), (right, b)];
        let (x, y) = (self.ty(a).clone(), self.ty(b).clone());
        let Some(ty) = result(op, &x, &y) else {
            return Err(self.bad_operands(op, sides, span));
        };
        if let (Some(left), Some(right)) = (self.constant(a).cloned(), self.constant(b).cloned()) {
            let right_span = self.expr_span(b);
            if let Some(constant) = self.fold_binary(op, &left, &right, span, right_span)? {
                let ty = match (&ty, &constant) {
                    (Type::AbstractInt, Constant::Float(_)) => Type::AbstractFloat,
                    _ => ty,
                };
                let wide = (ir_binary(op).filter(|_| ty == Type::F32))
                    .and_then(|op| Some((op, self.wide(&[a, b])?)))
                    .map(|(op, wide)| eval::binary(op, wide[0], wide[1]));
                return Ok(self.folded(constant, wide, ty, span));
            }
        }
        Ok(self.node(ExprKind::Binary(op, a, b), ty, span))
    }

    /// The amount of a shift is a `u32`, or an `i32` whose low bits count.
    fn shift_operands(&mut self, a: ExprId, b: ExprId) -> Checked<(ExprId, ExprId)> {
        if self.ty(a).is_abstract() && self.ty(b).is_abstract() {
            return Ok((a, b));
        }
        let b = self.adapt_or_keep(b, &Type::U32)?;
        let a = self.concrete(a);
        Ok((self.sound(a)?, b))
    }

    fn bad_operands(
        &mut self,
        op: BinaryOp,
        sides: [(&ast::Expr, ExprId); 2],
        span: Span,
    ) -> Reported {
        let [(left, a), (right, b)] = sides;
        if let Some(reported) = self.array_operands(op, sides, span) {
            return reported;
        }
        let (x, y) = (self.ty(a).clone(), self.ty(b).clone());
        let number = |ty: &Type| {
            matches!(
                ty,
                Type::Value(ir::Type::F32 | ir::Type::I32 | ir::Type::U32) | Type::AbstractFloat
            )
        };
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) || (is_comparison(op) && x == y) {
            for (id, ty) in [(a, &x), (b, &y)] {
                if matches!(ty, Type::Array(..) | Type::Open(_) | Type::Struct(_)) || ty.is_vector()
                {
                    let report = catalog::types::not_comparable(
                        &self.show(ty),
                        op.text(),
                        self.expr_span(id),
                    );
                    return self.report(report);
                }
            }
        }
        for (id, other) in [(a, &y), (b, &x)] {
            if let Some(reported) = self.whole_number(id, other) {
                return reported;
            }
        }
        let assigned = self.target == Some(left.span);
        if op == BinaryOp::BitXor && !assigned && (x == Type::F32 || y == Type::F32) {
            let report =
                catalog::types::power_as_xor(&self.show(&Type::F32), left.span, right.span);
            return self.report(report);
        }
        let help = if x != y && number(&x) && number(&y) {
            let float = |ty: &Type| *ty == Type::F32 || *ty == Type::AbstractFloat;
            let (convert, to) = if float(&x) { (&y, &x) } else { (&x, &y) };
            Some(format!(
                "convert the `{}`: `{}(…)`",
                self.show(convert),
                self.show(&to.default_concrete())
            ))
        } else {
            other_operator(op, &x, number(&x))
        };
        let report = catalog::types::bad_operands(
            op.text(),
            &self.show(&x),
            &self.show(&y),
            self.expr_span(a),
            self.expr_span(b),
            help,
        );
        self.report(report)
    }

    /// `a ** b`: exact for constants; for floats `pow`; an integer base wants a constant exponent.
    fn power(&mut self, sides: [(&ast::Expr, ExprId); 2], span: Span) -> Checked {
        let [(left, a), (right, b)] = sides;
        if self.ty(a).is_abstract() && self.ty(b).is_abstract() {
            let (a, b) = self.unify(a, b)?;
            let divisor = self.expr_span(b);
            let folded = match (self.constant(a).cloned(), self.constant(b).cloned()) {
                (Some(x), Some(y)) => self.fold_binary(BinaryOp::Power, &x, &y, span, divisor)?,
                _ => None,
            };
            let Some(constant) = folded else {
                return Err(self.bad_operands(BinaryOp::Power, [(left, a), (right, b)], span));
            };
            let ty = if matches!(constant, Constant::Float(_)) {
                Type::AbstractFloat
            } else {
                Type::AbstractInt
            };
            return Ok(self.constant_node(constant, ty, span));
        }
        let base = self.ty(a).clone();
        let exponent = self.constant(b).and_then(Constant::as_int);
        if matches!(base, Type::Value(ir::Type::I32 | ir::Type::U32)) {
            return match exponent.filter(|exponent| (0..=64).contains(exponent)) {
                Some(exponent) => Ok(self.integer_power(a, exponent, span)),
                None => Err(self.bad_operands(BinaryOp::Power, sides, span)),
            };
        }
        let a = self.adapt_or_keep(a, &Type::F32)?;
        let b = self.adapt_or_keep(b, &Type::F32)?;
        let (x, y) = (self.ty(a).clone(), self.ty(b).clone());
        if !matches!(&x, Type::Value(value) if value.is_float()) || (y != Type::F32 && y != x) {
            return Err(self.bad_operands(BinaryOp::Power, [(left, a), (right, b)], span));
        }
        if let Some(small) = exponent.filter(|exponent| (1..=4).contains(exponent)) {
            return Ok(self.integer_power(a, small, span));
        }
        let b = if y == x {
            b
        } else {
            self.node(ExprKind::Splat(b), x.clone(), span)
        };
        let id = BuiltinId::POW;
        Ok(match self.values(&[a, b]) {
            Some(values) => {
                let wide = self.wide(&[a, b]).map(|wide| f64::apply(id, &wide));
                let value = self.applied(id, &values);
                self.folded(Constant::Value(value), wide, x, span)
            }
            None => self.node(ExprKind::Builtin(id, vec![a, b]), x, span),
        })
    }

    /// A power by multiplication, as a person would write squares and cubes.
    fn integer_power(&mut self, base: ExprId, exponent: i64, span: Span) -> ExprId {
        let ty = self.ty(base).clone();
        let exponent_id = self.constant_node(Constant::Int(exponent), Type::AbstractInt, span);
        self.node(
            ExprKind::Binary(BinaryOp::Power, base, exponent_id),
            ty,
            span,
        )
    }
}

fn is_comparison(op: BinaryOp) -> bool {
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

fn is_shift(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight)
}

/// The type of `x op y`, if the operator accepts these types.
fn result(op: BinaryOp, x: &Type, y: &Type) -> Option<Type> {
    let number =
        |ty: &Type| matches!(ty, Type::Value(ty) if *ty != ir::Type::Bool) || ty.is_abstract();
    let integer = |ty: &Type| {
        matches!(
            ty,
            Type::Value(ir::Type::I32 | ir::Type::U32) | Type::AbstractInt
        )
    };
    match op {
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder => {
            if matches!(x, Type::Array(..)) {
                None
            } else if x == y {
                number(x).then(|| x.clone())
            } else if x.is_vector() && *y == Type::F32 {
                Some(x.clone())
            } else if y.is_vector() && *x == Type::F32 {
                Some(y.clone())
            } else {
                None
            }
        }
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            (x == y && number(x) && !x.is_vector() && !matches!(x, Type::Array(..)))
                .then_some(Type::BOOL)
        }
        BinaryOp::Equal | BinaryOp::NotEqual => {
            let scalar = !x.is_vector()
                && matches!(
                    x,
                    Type::Value(_) | Type::Enum(_) | Type::AbstractInt | Type::AbstractFloat
                );
            (x == y && scalar).then_some(Type::BOOL)
        }
        BinaryOp::And | BinaryOp::Or => {
            (*x == Type::BOOL && *y == Type::BOOL).then_some(Type::BOOL)
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            (x == y && integer(x)).then(|| x.clone())
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (integer(x) && integer(y)).then(|| x.clone()),
        BinaryOp::Power => None,
    }
}

/// The operator that was meant, where operands of one type suggest another.
fn other_operator(op: BinaryOp, ty: &Type, is_number: bool) -> Option<String> {
    let help = match op {
        BinaryOp::BitAnd if *ty == Type::BOOL => "`&&` joins conditions",
        BinaryOp::BitOr if *ty == Type::BOOL => "`||` joins conditions",
        BinaryOp::BitXor if *ty == Type::F32 => "`**` is the power operator",
        BinaryOp::And if is_number => "`&` joins bits; for conditions compare first: `x != 0`",
        BinaryOp::Or if is_number => "`|` joins bits; for conditions compare first: `x != 0`",
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::Power
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => return None,
    };
    Some(help.to_owned())
}
