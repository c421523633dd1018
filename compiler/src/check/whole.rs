//! Whole numbers that were meant as floats: `state x = 0` and, far below, `x += normal()`. The mistake is in
//! the declaration, so the complaint stands there, once for all uses.

use super::Checker;
use crate::{
    diagnostic::{Reported, catalog},
    hir::{ExprId, ExprKind, Type},
    span::Span,
    syntax::ast,
};

/// A declaration without a type whose value is a literal integer, or such a variable.
#[derive(Clone, Debug)]
pub(super) struct WholeNumber {
    name: ast::Name,
    /// The value, with the text of the literal if it is one.
    value: Span,
    literal: Option<String>,
    /// The complaint about it, if one was made.
    reported: Option<Reported>,
}

impl Checker<'_> {
    /// Notes that a name without a written type has this value.
    pub(super) fn note_whole_number(&mut self, name: &ast::Name, value: &ast::Expr, id: ExprId) {
        match self.ty(id) {
            Type::AbstractInt => {
                let literal = is_literal(value).then(|| self.constant(id)?.as_int());
                let whole = WholeNumber {
                    name: name.clone(),
                    value: value.span,
                    literal: literal.flatten().map(|value| value.to_string()),
                    reported: None,
                };
                self.whole_numbers.insert(name.span, whole);
            }
            ty if *ty == Type::I32 => {
                let source = self.declared_at(id).and_then(|span| self.origin(span));
                if let Some(source) = source {
                    self.whole_copies.insert(name.span, source);
                }
            }
            _ => {}
        }
    }

    /// Complains of the declaration where a value of type `i32` is used as an `f32`, if the value is a
    /// variable that begins as a whole number.
    pub(super) fn whole_number(&mut self, id: ExprId, want: &Type) -> Option<Reported> {
        let float = *want == Type::F32 || *want == Type::AbstractFloat || want.is_vector();
        if !float || *self.ty(id) != Type::I32 {
            return None;
        }
        let used = self.expr_span(id);
        self.whole_number_at(id, used, self.target != Some(used))
    }

    /// The same where an `f32` is assigned to such a variable.
    pub(super) fn whole_target(
        &mut self,
        target: ExprId,
        found: &Type,
        used: Span,
    ) -> Option<Reported> {
        let float = matches!(found, Type::AbstractFloat) || *found == Type::F32;
        if !float || *self.ty(target) != Type::I32 {
            return None;
        }
        self.whole_number_at(target, used, false)
    }

    fn whole_number_at(&mut self, id: ExprId, used: Span, converts: bool) -> Option<Reported> {
        let declared = self.declared_at(id)?;
        let origin = self.origin(declared)?;
        let whole = self.whole_numbers.get(&origin)?.clone();
        if whole.reported.is_some() {
            return whole.reported;
        }
        let of = self.name_at(id).to_owned();
        let through = (declared != origin).then_some((of.as_str(), declared));
        let report = catalog::types::whole_number(
            (&whole.name.text, whole.name.span),
            whole.literal.as_deref(),
            whole.value,
            (&of, used),
            converts,
            through,
        );
        let reported = self.report(report);
        if let Some(whole) = self.whole_numbers.get_mut(&origin) {
            whole.reported = Some(reported);
        }
        Some(reported)
    }

    /// The declaration whose literal decided the type of the one declared there.
    fn origin(&self, declared: Span) -> Option<Span> {
        if self.whole_numbers.contains_key(&declared) {
            return Some(declared);
        }
        self.whole_copies.get(&declared).copied()
    }

    /// Where the variable is declared whose value this is.
    fn declared_at(&self, id: ExprId) -> Option<Span> {
        match &self.model[id].kind {
            ExprKind::State(state) => Some(self.model[*state].span),
            ExprKind::Param(param) => Some(self.model[*param].span),
            ExprKind::Input(input) => Some(self.model[*input].span),
            ExprKind::Local(local) => Some(self.model[*local].span),
            _ => None,
        }
    }

    fn name_at(&self, id: ExprId) -> &str {
        match &self.model[id].kind {
            ExprKind::State(state) => &self.model[*state].name,
            ExprKind::Param(param) => &self.model[*param].name,
            ExprKind::Input(input) => &self.model[*input].name,
            ExprKind::Local(local) => &self.model[*local].name,
            _ => "n",
        }
    }
}

/// `100` and `-100`.
fn is_literal(value: &ast::Expr) -> bool {
    match &value.kind {
        ast::ExprKind::Int(_) => true,
        ast::ExprKind::Unary(_, operand) => matches!(operand.kind, ast::ExprKind::Int(_)),
        _ => false,
    }
}
