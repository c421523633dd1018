//! Expressions: what each kind is, literals, arrays and `if` values. Names, comprehensions and parts of
//! values are below.

mod access;
mod comprehension;
mod name;

pub(super) use access::components;

use super::{Checked, Checker, Place, extent::MAX_FOLDED_NUMBERS};
use crate::{
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, Type},
    ir::Value,
    span::Span,
    syntax::ast,
};
use std::rc::Rc;

/// Branches of an `if`, at most.
const MAX_BRANCHES: usize = 2_000;

impl Checker<'_> {
    /// Checks an expression. `want` is the type that its context expects, if it is known; it only guides
    /// literals, the result may have another type.
    pub(super) fn expr(&mut self, expr: &ast::Expr, want: Option<&Type>) -> ExprId {
        let id = self.expr_or_agent(expr, want);
        self.no_agent(id)
    }

    /// Checks an expression that may stand for an agent: the value of a `let`, and what is before a `.`.
    pub(super) fn expr_or_agent(&mut self, expr: &ast::Expr, want: Option<&Type>) -> ExprId {
        self.count_evaluation();
        let checked = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(expr, want));
        checked.unwrap_or_else(|reported| self.error(expr.span, reported))
    }

    fn expr_inner(&mut self, expr: &ast::Expr, want: Option<&Type>) -> Checked {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int(value) => self.int_literal(*value, span),
            ast::ExprKind::Uint(value) => match u32::try_from(*value) {
                Ok(value) => {
                    Ok(self.constant_node(Constant::Value(Value::U32(value)), Type::U32, span))
                }
                Err(_) => Err(self.report(catalog::constants::constant_out_of_range(
                    &format!("{value}u"),
                    "u32",
                    span,
                ))),
            },
            ast::ExprKind::Float(value) => {
                Ok(self.constant_node(Constant::Float(*value), Type::AbstractFloat, span))
            }
            ast::ExprKind::Bool(value) => {
                Ok(self.constant_node(Constant::Value(Value::Bool(*value)), Type::BOOL, span))
            }
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Paren(inner) => Ok(self.expr_or_agent(inner, want)),
            ast::ExprKind::Unary(op, operand) => self.unary(*op, operand, want, span),
            ast::ExprKind::Binary(op, left, right) => self.binary(*op, left, right, want, span),
            ast::ExprKind::Call { callee, args } => self.call(callee, args, want, span),
            ast::ExprKind::Bitcast { to, value } => self.bitcast(to, value, span),
            ast::ExprKind::Index(base, index) => self.index(base, index, span),
            ast::ExprKind::Field(base, field) => self.field(base, field, span),
            ast::ExprKind::Array(elements) => self.array(elements, want, span),
            ast::ExprKind::Repeat(value, length) => self.repeat(value, length, want, span),
            ast::ExprKind::Comprehension(inner) => self.array_comprehension(inner, want, span),
            ast::ExprKind::Fold { callee, over } => self.fold(callee, over, want, span),
            ast::ExprKind::If {
                branches,
                otherwise,
            } => self.if_value(branches, otherwise, want, span),
            ast::ExprKind::Error => Err(self.hole(span)),
        }
    }

    fn int_literal(&mut self, value: u64, span: Span) -> Checked {
        match i64::try_from(value) {
            Ok(value) => Ok(self.constant_node(Constant::Int(value), Type::AbstractInt, span)),
            Err(_) => Err(self.report(catalog::constants::constant_out_of_range(
                &value.to_string(),
                "i32",
                span,
            ))),
        }
    }

    fn array(&mut self, elements: &[ast::Expr], want: Option<&Type>, span: Span) -> Checked {
        if elements.is_empty() {
            return Err(self.report(catalog::types::empty_array(span)));
        }
        let want = element_of(want);
        let mut ids: Vec<ExprId> = elements
            .iter()
            .map(|element| self.expr(element, want.as_ref()))
            .collect();
        let element = self.common(&mut ids, want.as_ref(), "the elements of an array");
        self.all_sound(&ids)?;
        let copied = self.copied(elements.iter().map(|written| (written, &element)));
        let length = ids.len() as u32;
        if let Some(values) = self.constants(&ids)
            && self.folds(copied, span)?
        {
            let ty = Type::Array(Rc::new(element), length);
            return Ok(self.constant_node(Constant::Many(values.into()), ty, span));
        }
        for id in &mut ids {
            *id = self.concrete(*id);
        }
        let ty = Type::Array(Rc::new(element.default_concrete()), length);
        Ok(self.node(ExprKind::Array(ids), ty, span))
    }

    fn repeat(
        &mut self,
        value: &ast::Expr,
        length: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        let want = element_of(want);
        let mut id = self.expr(value, want.as_ref());
        let length = self.length(length);
        id = self.sound(id)?;
        if let Some(want) = &want {
            id = self.adapt_or_keep(id, want)?;
        }
        self.repeated(id, length?, span)
    }

    /// An array of equal elements.
    pub(super) fn repeated(&mut self, id: ExprId, length: u32, span: Span) -> Checked {
        if let Some(constant) = self.constant(id).cloned() {
            let own = self.ty(id).clone();
            let ty = Type::Array(Rc::new(own.clone()), length);
            let all = self.numbers(&ty);
            // The first copy is what `v` took itself.
            let new = match &own {
                Type::Array(..) | Type::Struct(_) => all - self.numbers(&own),
                _ => all,
            };
            let small = self.place == Place::Constant || all <= MAX_FOLDED_NUMBERS;
            if small && self.folds(new, span)? {
                let values = std::iter::repeat_n(constant, length as usize);
                return Ok(self.constant_node(Constant::Many(values.collect()), ty, span));
            }
        }
        let id = self.concrete(id);
        let id = self.sound(id)?;
        let ty = Type::Array(Rc::new(self.ty(id).clone()), length);
        Ok(self.node(ExprKind::Repeat(id), ty, span))
    }

    /// From here on branches are nested, and later stages recurse over them.
    pub(super) fn complain_of_branches(&mut self, count: usize, span: Span) {
        if count > MAX_BRANCHES {
            let complaint =
                catalog::model::blocks_too_deep(count as u32, MAX_BRANCHES as u32, span);
            self.report(complaint);
        }
    }

    fn if_value(
        &mut self,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        for (condition, value) in branches {
            conditions.push(self.expr_of(condition, &Type::BOOL, "the condition of `if`"));
            values.push(self.expr(value, want));
        }
        values.push(self.expr(otherwise, want));
        let constant = self.constant_branch(&conditions);
        let mut ty = self.common(&mut values, want, "the branches of `if`");
        if let Some(chosen) = constant {
            return Ok(values[chosen]);
        }
        self.complain_of_branches(branches.len(), span);
        if ty.is_abstract() {
            ty = want
                .filter(|want| super::ty::adapts(&ty, want))
                .cloned()
                .unwrap_or_else(|| ty.default_concrete());
            for id in &mut values {
                *id = self.adapt_or_keep(*id, &ty)?;
            }
        }
        let otherwise = values.pop().expect("the last branch was pushed above");
        let branches = conditions.into_iter().zip(values).collect();
        let kind = ExprKind::If {
            branches,
            otherwise,
        };
        Ok(self.node(kind, ty, span))
    }

    /// All of these, unless a mistake was reported in one.
    pub(super) fn all_sound(&self, ids: &[ExprId]) -> Checked<()> {
        ids.iter().try_for_each(|&id| self.sound(id).map(|_| ()))
    }

    /// Which branch a compile-time `if` takes, if its conditions are constants.
    fn constant_branch(&self, conditions: &[ExprId]) -> Option<usize> {
        for (index, &condition) in conditions.iter().enumerate() {
            match self.constant(condition)? {
                Constant::Value(Value::Bool(true)) => return Some(index),
                _ => continue,
            }
        }
        Some(conditions.len())
    }
}

fn element_of(want: Option<&Type>) -> Option<Type> {
    match want {
        Some(Type::Array(element, _)) => Some((**element).clone()),
        _ => None,
    }
}
