//! `expect`: values of a run and constants, and what relates them.

use super::result::{Result as RunResult, Rows};
use crate::{
    check::Checker,
    diagnostic::catalog::test as say,
    hir::{BinaryOp, Constant, EnumId, Type, UnaryOp},
    ir::{self, Value},
    manifest::SeriesOf,
    span::Span,
    syntax::ast,
    testing::{
        Arithmetic, Comparison, Expectation, Fold, Kind, Measure, Of, Relation, Term, Test, Unit,
    },
};

/// What messages say that an expectation may be.
const FORMS: &str =
    "compare a value of the run: `mean(x) ~ 1.0 within 0.1`, `max(x) < 2.0`, `all(x > 0.0)`";

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Int,
    Float,
    Bool,
    Enum(EnumId),
}

impl Sort {
    /// That of a type, if it is one value.
    pub(super) fn of(ty: &Type) -> Option<Sort> {
        match ty {
            Type::Value(ir::Type::F32) | Type::AbstractFloat => Some(Sort::Float),
            Type::Value(ir::Type::I32 | ir::Type::U32) | Type::AbstractInt => Some(Sort::Int),
            Type::Value(ir::Type::Bool) => Some(Sort::Bool),
            Type::Enum(id) => Some(Sort::Enum(*id)),
            Type::Value(_)
            | Type::Array(..)
            | Type::Open(_)
            | Type::Struct(_)
            | Type::Agent
            | Type::Error(_) => None,
        }
    }

    pub(super) fn is_number(self) -> bool {
        matches!(self, Sort::Int | Sort::Float)
    }
}

/// One side of a relation.
pub(super) struct Side {
    pub(super) term: Term,
    pub(super) sort: Sort,
    pub(super) span: Span,
}

/// The comparison that an operator is, if it is one.
pub(super) fn comparison(op: BinaryOp) -> Option<Comparison> {
    Some(match op {
        BinaryOp::Equal => Comparison::Equal,
        BinaryOp::NotEqual => Comparison::NotEqual,
        BinaryOp::Less => Comparison::Less,
        BinaryOp::LessEqual => Comparison::LessEqual,
        BinaryOp::Greater => Comparison::Greater,
        BinaryOp::GreaterEqual => Comparison::GreaterEqual,
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::Power
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => return None,
    })
}

/// A constant as a double; a `bool` is 0 or 1, a variant its number.
pub(super) fn number(constant: &Constant) -> Option<f64> {
    match constant {
        Constant::Value(Value::Bool(value)) => Some(f64::from(u8::from(*value))),
        other => other.as_number(),
    }
}

impl Checker<'_> {
    /// What an `expect` says; none after a mistake.
    pub(super) fn expectation(
        &mut self,
        test: &Test,
        value: &ast::Expr,
        relation: Option<&ast::TestRelation>,
    ) -> Option<Expectation> {
        match (relation, &value.kind) {
            (None, ast::ExprKind::Binary(op, left, right)) if comparison(*op).is_some() => {
                let op = comparison(*op)?;
                let (left, right) = (self.side(test, left), self.side(test, right));
                self.compared(op, left?, right?, value.span)
            }
            (None, _) => {
                let side = self.side(test, value)?;
                if side.sort != Sort::Bool {
                    return self.no_expectation(
                        "this says nothing that could be true or false",
                        value.span,
                    );
                }
                let right = Side {
                    term: Term::Number(1.0),
                    sort: Sort::Bool,
                    span: value.span,
                };
                self.compared(Comparison::Equal, side, right, value.span)
            }
            (Some(ast::TestRelation::In(range)), _) => {
                let side = self.side(test, value);
                let ends = [&range.start, &range.end].map(|end| self.side(test, end));
                let ([Some(low), Some(high)], Some(side)) = (ends, side) else {
                    return None;
                };
                let whole = value.span.to(range.end.span);
                if let (Term::Number(a), Term::Number(b)) = (&low.term, &high.term)
                    && a > b
                {
                    let message = format!("the range {a}..{b} is empty");
                    let span = range.start.span.to(range.end.span);
                    let label = "the end is below the start";
                    let report = say::bad_number_in_test(
                        &message,
                        label,
                        "write the lesser bound first",
                        span,
                    );
                    self.report(report);
                    return None;
                }
                self.all_numbers(&[&side, &low, &high])?;
                self.of_the_run(&[&side, &low, &high], whole)?;
                let kind = self.kind(&[&side, &low, &high]);
                Some(Expectation {
                    span: whole,
                    value: side.term,
                    value_span: side.span,
                    kind,
                    relation: Relation::In(low.term, high.term),
                })
            }
            (
                Some(ast::TestRelation::Near {
                    value: expected,
                    tolerance,
                    unit,
                }),
                _,
            ) => self.near_to(test, value, expected, tolerance, *unit),
        }
    }

    fn compared(
        &mut self,
        op: Comparison,
        left: Side,
        right: Side,
        span: Span,
    ) -> Option<Expectation> {
        let ordered = !matches!(op, Comparison::Equal | Comparison::NotEqual);
        let fits =
            left.sort.is_number() && right.sort.is_number() || left.sort == right.sort && !ordered;
        if !fits {
            let (a, b) = (self.sort_name(left.sort), self.sort_name(right.sort));
            let message = format!("`{}` cannot compare {a} with {b}", op.text());
            let help =
                "compare numbers, or by `==` and `!=` two `bool`s or two variants of an enum";
            self.report(say::not_an_expectation(
                &message,
                "these do not fit",
                help,
                span,
            ));
            return None;
        }
        self.of_the_run(&[&left, &right], span)?;
        Some(Expectation {
            span,
            kind: self.kind(&[&left, &right]),
            value: left.term,
            value_span: left.span,
            relation: Relation::Compare(op, right.term),
        })
    }

    /// `value ~ expected within tolerance`
    fn near_to(
        &mut self,
        test: &Test,
        value: &ast::Expr,
        expected: &ast::Expr,
        tolerance: &ast::Expr,
        unit: ast::ToleranceUnit,
    ) -> Option<Expectation> {
        let (left, right) = (self.side(test, value), self.side(test, expected));
        let within = self.side(test, tolerance)?;
        let (left, right) = (left?, right?);
        self.all_numbers(&[&left, &right, &within])?;
        self.of_the_run(&[&left, &right], value.span.to(expected.span))?;
        let Term::Number(amount) = within.term else {
            let message = "a tolerance is a constant";
            let label = "known only after the run";
            let help = "write a number, a `const`, or an expression of these in parentheses";
            self.report(say::not_an_expectation(
                message,
                label,
                help,
                tolerance.span,
            ));
            return None;
        };
        if !(amount >= 0.0 && amount.is_finite()) {
            let message = format!("a tolerance cannot be {amount}");
            let help = "write a number from 0";
            self.report(say::bad_number_in_test(
                &message,
                "here",
                help,
                tolerance.span,
            ));
            return None;
        }
        let unit = match unit {
            ast::ToleranceUnit::Absolute => Unit::Absolute,
            ast::ToleranceUnit::Percent => Unit::Percent,
            ast::ToleranceUnit::StandardErrors => Unit::StandardErrors,
        };
        if unit == Unit::StandardErrors && !has_standard_error(&left.term) {
            self.report(say::not_an_expectation(
                "only a mean over agents or worlds has a standard error",
                "this is none",
                "write `mean(x) ~ e within 4 se`; any other value takes `within 0.05` or `within 1 %`",
                value.span,
            ));
            return None;
        }
        Some(Expectation {
            span: value.span.to(tolerance.span),
            kind: self.kind(&[&left, &right]),
            value: left.term,
            value_span: left.span,
            relation: Relation::Near {
                expected: right.term,
                tolerance: amount,
                unit,
            },
        })
    }

    pub(super) fn no_expectation<T>(&mut self, message: &str, span: Span) -> Option<T> {
        self.report(say::not_an_expectation(message, "here", FORMS, span));
        None
    }

    /// A relation of constants is always true, or never.
    fn of_the_run(&mut self, sides: &[&Side], span: Span) -> Option<()> {
        match sides
            .iter()
            .all(|side| matches!(side.term, Term::Number(_)))
        {
            true => self.no_expectation("this is known without a run", span),
            false => Some(()),
        }
    }

    fn all_numbers(&mut self, sides: &[&Side]) -> Option<()> {
        let wrong = sides.iter().find(|side| !side.sort.is_number());
        let Some(wrong) = wrong else {
            return Some(());
        };
        let message = format!(
            "a number is needed here, not {}",
            self.sort_name(wrong.sort)
        );
        let help = "compare other values by `==` or `!=`, or count them: `mean(x == Infected)`";
        self.report(say::not_an_expectation(
            &message,
            "no number",
            help,
            wrong.span,
        ));
        None
    }

    pub(super) fn sort_name(&self, sort: Sort) -> String {
        match sort {
            Sort::Int => "an integer".to_owned(),
            Sort::Float => "a float".to_owned(),
            Sort::Bool => "a `bool`".to_owned(),
            Sort::Enum(id) => format!("a variant of `{}`", self.model.enums[id.0 as usize].name),
        }
    }

    /// How both sides are compared. An integer that meets a float is noted, as one that becomes a float.
    fn kind(&mut self, sides: &[&Side]) -> Kind {
        let float = sides.iter().any(|side| side.sort == Sort::Float);
        let met = sides.iter().filter(|side| float && side.sort == Sort::Int);
        for side in met.filter(|side| matches!(side.term, Term::Number(_))) {
            self.note_float(side.span);
        }
        match sides[0].sort {
            Sort::Enum(id) => Kind::Enum(self.model.enums[id.0 as usize].variants.clone()),
            Sort::Bool => Kind::Bool,
            Sort::Int | Sort::Float if float => Kind::Float,
            Sort::Int | Sort::Float => Kind::Int,
        }
    }

    /// One side of a relation: results and constants, combined by arithmetic.
    pub(super) fn side(&mut self, test: &Test, expr: &ast::Expr) -> Option<Side> {
        if !self.reads_run(expr) {
            return self.constant_side(expr);
        }
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Paren(inner) => Some(Side {
                span,
                ..self.side(test, inner)?
            }),
            ast::ExprKind::Unary(op, inner) => {
                let inner = self.side(test, inner)?;
                let (start, sort) = match op {
                    UnaryOp::Negate if inner.sort.is_number() => (-0.0, inner.sort),
                    UnaryOp::Not if inner.sort == Sort::Bool => (1.0, Sort::Bool),
                    UnaryOp::Negate | UnaryOp::Not | UnaryOp::Complement => {
                        let message = format!("`{}` cannot stand before this", op.text());
                        return self.no_expectation(&message, span);
                    }
                };
                let terms = Box::new([Term::Number(start), inner.term]);
                let term = Term::Combined(Arithmetic::Subtract, terms);
                Some(Side { term, sort, span })
            }
            ast::ExprKind::Binary(op, left, right) => {
                let arithmetic = match op {
                    BinaryOp::Add => Arithmetic::Add,
                    BinaryOp::Subtract => Arithmetic::Subtract,
                    BinaryOp::Multiply => Arithmetic::Multiply,
                    BinaryOp::Divide => Arithmetic::Divide,
                    BinaryOp::Remainder
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
                    | BinaryOp::ShiftRight => {
                        let message = format!("`{}` cannot combine values of a run", op.text());
                        let help = "write one `expect` for each; `+ - * /` combine numbers";
                        let label = "known only after the run";
                        self.report(say::not_an_expectation(&message, label, help, span));
                        return None;
                    }
                };
                let (left, right) = (self.side(test, left), self.side(test, right));
                let (left, right) = (left?, right?);
                self.all_numbers(&[&left, &right])?;
                let float = arithmetic == Arithmetic::Divide
                    || left.sort == Sort::Float
                    || right.sort == Sort::Float;
                let sort = if float { Sort::Float } else { Sort::Int };
                let term = Term::Combined(arithmetic, Box::new([left.term, right.term]));
                Some(Side { term, sort, span })
            }
            ast::ExprKind::Call { callee, args } => self.call_of_run(test, callee, args, span),
            ast::ExprKind::Index(..) | ast::ExprKind::Field(..) | ast::ExprKind::Name(_) => {
                let found = self.result(test, expr)?;
                self.alone(found, expr)
            }
            _ => self.no_expectation("values of a run cannot stand in such an expression", span),
        }
    }

    /// What is known without a run.
    fn constant_side(&mut self, expr: &ast::Expr) -> Option<Side> {
        let id = self.expr(expr, None);
        let constant = self.known_in_test(id, "what a test compares with")?;
        let found = Sort::of(self.ty(id)).zip(number(&constant));
        let Some((sort, value)) = found else {
            let ty = self.show(self.ty(id));
            let message = format!("`{ty}` is not one value");
            return self.no_expectation(&message, expr.span);
        };
        Some(Side {
            term: Term::Number(value),
            sort,
            span: expr.span,
        })
    }

    /// `agents[0].payoff`, `at(infected, 10)`
    pub(super) fn alone(&mut self, found: RunResult, expr: &ast::Expr) -> Option<Side> {
        let Rows::One(number) = found.rows else {
            let text = &found.name;
            let (each, help) = match found.of {
                Of::Output(ir::Owner::Agent) => (
                    "agent",
                    format!(
                        "combine them, `mean({text})` or `all({text} > 0.0)`, or name one: `agents[0].{text}`"
                    ),
                ),
                Of::Output(ir::Owner::World) => (
                    "world",
                    format!("combine them, `mean({text})`, or name one: `worlds[0].{text}`"),
                ),
                Of::Series(SeriesOf::Population, _) => (
                    "sample",
                    format!(
                        "name one by its step, `at({text}, 10)`, or combine them: `max({text})`"
                    ),
                ),
                Of::Series(..) => (
                    "agent or world at each sample",
                    format!("name the step and combine them: `mean(at({text}, 10))`"),
                ),
            };
            let message = format!("`{text}` has a value for each {each}");
            self.report(say::not_an_expectation(
                &message,
                "which one?",
                &help,
                expr.span,
            ));
            return None;
        };
        Some(Side {
            sort: found.sort,
            span: expr.span,
            term: Term::Measure(Measure {
                span: expr.span,
                of: found.of,
                name: found.name,
                element: found.element,
                test: None,
                fold: Fold::One(number),
            }),
        })
    }
}

/// Without parentheses around it.
pub(super) fn unwrapped(expr: &ast::Expr) -> &ast::Expr {
    match &expr.kind {
        ast::ExprKind::Paren(inner) => unwrapped(inner),
        _ => expr,
    }
}

/// Agents and worlds are independent of one another, samples are not.
fn has_standard_error(term: &Term) -> bool {
    let Term::Measure(measure) = term else {
        return false;
    };
    measure.fold == Fold::Mean && !matches!(measure.of, Of::Series(SeriesOf::Population, _))
}
