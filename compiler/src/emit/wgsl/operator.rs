//! Operators: which parentheses WGSL's grammar needs, and what its operators leave undefined.

use super::{Writer, literal, support::Support};
use crate::builtin::{BuiltinId, Wgsl};
use crate::ir::{BinaryOp, Expr, ExprId, Type, UnaryOp, Value, Var, VarKind};
use crate::passes::rewrite;

/// How tightly an expression binds. WGSL has no total order: `&& || & | ^` mix with nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// `&& || & | ^`, and a place that accepts everything.
    Lowest,
    /// `== != < <= > >=`
    Comparison,
    /// `<< >>`
    Shift,
    /// `+ -`
    Additive,
    /// `* / %`
    Multiplicative,
    /// A sign before a primary expression.
    Unary,
    /// Names, numbers, calls, elements.
    Primary,
}

/// The operator's sign.
fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
    }
}

/// The level of the operator's result, and the least levels of its operands.
fn levels(op: BinaryOp) -> (Level, Level, Level) {
    match op {
        BinaryOp::Add | BinaryOp::Subtract => {
            (Level::Additive, Level::Additive, Level::Multiplicative)
        }
        BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Remainder => {
            (Level::Multiplicative, Level::Multiplicative, Level::Unary)
        }
        // A shift as an operand would be legal, but `a < b >> c` begins like a list of templates.
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual => (Level::Comparison, Level::Additive, Level::Additive),
        BinaryOp::And | BinaryOp::Or => (Level::Lowest, Level::Comparison, Level::Comparison),
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => {
            (Level::Lowest, Level::Unary, Level::Unary)
        }
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => (Level::Shift, Level::Unary, Level::Unary),
    }
}

/// Builtins look like calls, but for those that stand for another kind of expression.
fn builtin_level(id: BuiltinId) -> Level {
    match id.row().pure().wgsl {
        Wgsl::Native(_) | Wgsl::Helper { .. } => Level::Primary,
        Wgsl::Expression(template) if template.ends_with(')') => Level::Primary,
        Wgsl::Expression(_) => Level::Lowest,
    }
}

impl Writer<'_> {
    /// How tightly the text of an expression binds.
    pub(super) fn level(&self, id: ExprId) -> Level {
        if self.hoisted.contains_key(&id) {
            return Level::Primary;
        }
        match &self.program[id] {
            Expr::Literal(value) if literal::is_negative(value) => Level::Unary,
            Expr::Read(var) => self.read_level(*var),
            Expr::Element { array, index } => match self.constant_element(*array, *index) {
                Some(value) if literal::is_negative(&value) => Level::Unary,
                _ => self.read_level(*array),
            },
            Expr::Unary(..) => Level::Unary,
            Expr::Binary(op, a, b) => match self.division(*op, *a, *b) {
                Some(_) => Level::Primary,
                None if self.is_float_difference(*op, *a) => Level::Unary,
                None => levels(*op).0,
            },
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Call(..)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. } => Level::Primary,
            Expr::Other { var, .. } => match self.program[*var] {
                Var {
                    kind: VarKind::State,
                    ty: Type::Bool,
                    ..
                } => Level::Comparison,
                _ => Level::Primary,
            },
            Expr::Builtin(id, _) => builtin_level(*id),
        }
    }

    /// The least level of the left operand `a`: chains such as `a && b && c` need no parentheses.
    pub(super) fn left_level(&self, op: BinaryOp, a: ExprId) -> Level {
        let (own, left, _) = levels(op);
        let chains = matches!(self.program[a], Expr::Binary(inner, ..) if inner == op);
        if chains && own == Level::Lowest {
            Level::Lowest
        } else {
            left
        }
    }

    /// Writes an operator on one operand.
    pub(super) fn unary(&mut self, op: UnaryOp, operand: ExprId, hide: bool) {
        let sign = match op {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
            UnaryOp::Fence => {
                self.call(Support::fence(self.program.type_of(operand)));
                return self.arguments(&[operand]);
            }
            UnaryOp::Keep => {
                self.call(Support::Kept);
                return self.arguments(&[operand]);
            }
        };
        self.push(sign);
        if self.is_constant(operand) && (hide || !self.is_plain_negation(op, operand)) {
            if matches!(self.program[operand], Expr::Unary(..)) {
                self.push("(");
                self.hidden(operand);
                self.push(")");
            } else {
                self.hidden(operand);
            }
        } else if op == UnaryOp::Negate {
            // `--x` would be another operator.
            self.expr(operand, Level::Primary);
        } else {
            self.expr(operand, Level::Unary);
        }
    }

    /// Is it a minus sign before a literal, which WGSL may well compute early?
    pub(super) fn is_plain_negation(&self, op: UnaryOp, operand: ExprId) -> bool {
        match (op, &self.program[operand]) {
            (UnaryOp::Negate, Expr::Literal(Value::F32(x))) => literal::has_digits(*x),
            (UnaryOp::Negate, Expr::Literal(Value::I32(x))) => *x > 0,
            _ => false,
        }
    }

    /// Writes an operator on two operands.
    pub(super) fn binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) {
        if let Some(support) = self.division(op, a, b) {
            let types = [a, b].map(|operand| self.program.type_of(operand));
            let widest = types[usize::from(types[1].is_vector())];
            self.call(support);
            self.push("(");
            self.widened(a, widest, false);
            self.push(", ");
            self.widened(b, widest, true);
            self.push(")");
            return;
        }
        if self.is_float_difference(op, a) {
            self.push("!(");
            self.plain_binary(BinaryOp::Equal, a, b);
            self.push(")");
            return;
        }
        self.plain_binary(op, a, b);
    }

    /// Writes an argument of a function, a number for a vector as a vector of it.
    fn widened(&mut self, id: ExprId, ty: Type, last: bool) {
        if ty == self.program.type_of(id) {
            self.argument(id, last);
        } else {
            self.push(literal::type_name(ty));
            self.push("(");
            self.argument(id, true);
            self.push(")");
        }
    }

    fn plain_binary(&mut self, op: BinaryOp, a: ExprId, b: ExprId) {
        if self.is_constant(a) && self.is_constant(b) {
            self.hidden(a);
        } else {
            self.expr(a, self.left_level(op, a));
        }
        self.push(" ");
        self.push(sign(op));
        self.push(" ");
        self.right_operand(op, b);
    }

    /// Some drivers take `!=` of floats as ordered, and NaN as equal to everything; a negated `==` is always
    /// right.
    fn is_float_difference(&self, op: BinaryOp, a: ExprId) -> bool {
        op == BinaryOp::NotEqual && self.program.type_of(a).is_float()
    }

    /// Writes `target op= b` if `target = a op b` can be abbreviated so: if `a` reads the target.
    pub(super) fn compound(&mut self, op: BinaryOp, a: ExprId, b: ExprId) -> bool {
        let assigns = !op.gives_bool() && self.division(op, a, b).is_none();
        if assigns {
            self.push(" ");
            self.push(sign(op));
            self.push("= ");
            if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
                self.shift_amount(b, Level::Lowest);
            } else {
                self.expr(b, Level::Lowest);
            }
        }
        assigns
    }

    fn right_operand(&mut self, op: BinaryOp, b: ExprId) {
        let least = levels(op).2;
        if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
            self.shift_amount(b, least);
        } else {
            self.expr(b, least);
        }
    }

    /// The low five bits: WGSL leaves greater amounts open.
    fn shift_amount(&mut self, b: ExprId, least: Level) {
        if let Expr::Literal(Value::U32(amount)) = self.program[b] {
            self.push_number(amount & 31);
            self.push("u");
            return;
        }
        if least > Level::Lowest {
            self.push("(");
        }
        if self.is_constant(b) {
            self.hidden(b);
        } else {
            self.expr(b, Level::Unary);
        }
        self.push(" & 31u");
        if least > Level::Lowest {
            self.push(")");
        }
    }

    /// The function that divides integers with the IR's meaning, where WGSL's operator may not have it: WGSL
    /// also leaves `%` of negative numbers to the drivers.
    pub(super) fn division(&self, op: BinaryOp, a: ExprId, b: ExprId) -> Option<Support> {
        if !matches!(op, BinaryOp::Divide | BinaryOp::Remainder) {
            return None;
        }
        let remainder = op == BinaryOp::Remainder;
        let divisor = match rewrite::literal(self.program, b) {
            Some(Value::I32(x)) => i64::from(x),
            Some(Value::U32(x)) => i64::from(x),
            _ => 0,
        };
        match (self.program.type_of(b), remainder) {
            (Type::I32, false) => (divisor == 0 || divisor == -1).then_some(Support::DivI32),
            (Type::I32, true) => {
                let safe = divisor > 0 && self.is_natural(a);
                (!safe).then_some(Support::RemI32)
            }
            (Type::U32, false) => (divisor == 0).then_some(Support::DivU32),
            (Type::U32, true) => (divisor == 0).then_some(Support::RemU32),
            (ty, false) if ty.is_float() => self.precise_division(a, b),
            (Type::F32 | Type::Bool | Type::Vec2 | Type::Vec3 | Type::Vec4, _) => None,
        }
    }

    /// Is an `i32` evidently never negative?
    pub(super) fn is_natural(&self, id: ExprId) -> bool {
        if let Expr::Read(var) = self.program[id] {
            return self.program[var].kind == VarKind::Index && self.natural.contains(&var);
        }
        matches!(self.program[id], Expr::Literal(Value::I32(x)) if x >= 0)
            || matches!(self.program[id], Expr::Launch(_) | Expr::Rows(_))
    }
}
