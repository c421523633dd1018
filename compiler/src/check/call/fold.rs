//! Folds over arrays and comprehensions.

use crate::{
    builtin::{BuiltinId, Fold},
    check::{Checked, Checker, Place},
    diagnostic::catalog,
    hir::{Domain, ExprId, ExprKind, Type},
    ir,
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// `sum(array)`
    pub(super) fn fold_array(
        &mut self,
        fold: Fold,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let (needed, one) = ("one array or comprehension", args.len() == 1);
        self.count(&callee.text, needed, one, args.len(), span)?;
        if self.place == Place::Constant {
            let report = catalog::constants::fold_in_constant(&callee.text, span);
            return Err(self.report(report));
        }
        let id = self.expr(&args[0], None);
        let id = self.concrete(id);
        let element = match self.ty(id) {
            Type::Array(element, _) | Type::Open(element) => (**element).clone(),
            Type::Error(reported) => return Err(*reported),
            other => {
                let (found, place) = (self.show(other), self.expr_span(id));
                return Err(self.report(catalog::types::bad_argument(
                    &callee.text,
                    "values",
                    "an array or a comprehension",
                    &found,
                    place,
                )));
            }
        };
        let result = self.fold_type(fold, &element, &callee.text, id)?;
        Ok(self.node(ExprKind::FoldArray(fold, id), result, span))
    }

    /// `sum(for i in 0..n if c: e)`
    pub(in crate::check) fn fold(
        &mut self,
        callee: &ast::Name,
        over: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        let Some(fold) = Fold::of(&callee.text) else {
            if BuiltinId::find(&callee.text).is_some()
                || self.globals.contains_key(callee.text.as_str())
            {
                let report = catalog::types::bad_argument(
                    &callee.text,
                    "argument",
                    "values, not",
                    "a comprehension",
                    over.value.span,
                );
                return Err(self.report(report));
            }
            return Err(self.unknown_function(callee, None));
        };
        let want = match fold {
            Fold::Sum | Fold::Product | Fold::Min | Fold::Max => want.cloned(),
            Fold::Mean => Some(Type::F32),
            Fold::Any | Fold::All => Some(Type::BOOL),
            Fold::Count | Fold::ArgMin | Fold::ArgMax => None,
        };
        if self.place == Place::Constant {
            let report = catalog::constants::fold_in_constant(&callee.text, span);
            return Err(self.report(report));
        }
        let comprehension = self.comprehension(over, want.as_ref());
        let value = self.sound(comprehension.value)?;
        match comprehension.domain {
            Domain::Range(start, end) => self.all_sound(&[start, end])?,
            Domain::World => {
                if let Some(reported) = self.model[comprehension.index].ty.error() {
                    return Err(reported);
                }
            }
        }
        let element = self.ty(value).clone();
        let result = self.fold_type(fold, &element, &callee.text, value)?;
        Ok(self.node(ExprKind::Fold(fold, Box::new(comprehension)), result, span))
    }

    pub(in crate::check) fn fold_type(
        &mut self,
        fold: Fold,
        element: &Type,
        callee: &str,
        id: ExprId,
    ) -> Checked<Type> {
        if let Some(reported) = element.error() {
            return Err(reported);
        }
        let value = match element {
            Type::Value(value) => Some(*value),
            _ => None,
        };
        let number = value.filter(|ty| *ty != ir::Type::Bool);
        let scalar = number.filter(|ty| !ty.is_vector());
        let truth = *element == Type::BOOL;
        let (needed, result) = match fold {
            Fold::Sum if truth => ("", Some(Type::I32)),
            Fold::Mean if truth => ("", Some(Type::F32)),
            Fold::Sum => ("numbers, vectors or `bool`s", number.map(Type::Value)),
            Fold::Product => ("numbers", scalar.map(Type::Value)),
            Fold::Min | Fold::Max => ("numbers", scalar.map(Type::Value)),
            Fold::Mean => (
                "`f32`s, vectors or `bool`s",
                number.filter(|ty| ty.is_float()).map(Type::Value),
            ),
            Fold::Any | Fold::All => ("`bool`s", (*element == Type::BOOL).then_some(Type::BOOL)),
            Fold::Count => (
                "`bool`s or numbers",
                value.filter(|ty| !ty.is_vector()).map(|_| Type::I32),
            ),
            Fold::ArgMin | Fold::ArgMax => ("numbers", scalar.map(|_| Type::I32)),
        };
        result.ok_or_else(|| {
            let (found, span) = (self.show(self.ty(id)), self.expr_span(id));
            self.report(catalog::types::bad_argument(
                callee, "values", needed, &found, span,
            ))
        })
    }
}
