//! `match`: patterns, exhaustiveness and arms that are never reached.

use super::{Checked, Checker};
use crate::{
    diagnostic::catalog,
    hir::{Arm, Constant, StmtKind, Type},
    ir,
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

/// No message names more variants that a `match` lacks.
const MISSING_SHOWN: usize = 12;

impl<'a> Checker<'a> {
    pub(super) fn match_stmt(
        &mut self,
        value: &ast::Expr,
        arms: &'a [ast::Arm],
        span: Span,
    ) -> Checked<StmtKind> {
        let id = self.expr(value, None);
        let id = self.concrete(id);
        let ty = self.ty(id).clone();
        let legal = matches!(
            &ty,
            Type::Enum(_) | Type::Value(ir::Type::I32 | ir::Type::U32 | ir::Type::Bool)
        );
        if !legal && !ty.has_error() {
            let report = catalog::control::cannot_match(&self.show(&ty), self.expr_span(id));
            self.report(report);
        }
        self.complain_of_branches(arms.len(), span);
        let mut seen: HashMap<i64, Span> = HashMap::new();
        let mut rest: Option<Span> = None;
        let mut checked = Vec::new();
        // A pattern that could not be read may have meant what is missing.
        let mut whole = true;
        for arm in arms {
            let patterns = self.patterns(arm, &ty, &mut seen, &mut rest, &mut whole);
            let body = self.block(&arm.body);
            checked.push(Arm { patterns, body });
        }
        if legal && rest.is_none() && whole {
            self.complain_of_missing(&ty, &seen, span);
        }
        Ok(StmtKind::Match {
            value: id,
            arms: checked,
        })
    }

    /// The constants of an arm; empty for `_`.
    fn patterns(
        &mut self,
        arm: &ast::Arm,
        ty: &Type,
        seen: &mut HashMap<i64, Span>,
        rest: &mut Option<Span>,
        whole: &mut bool,
    ) -> Vec<Constant> {
        if let Some(earlier) = *rest {
            self.report(catalog::control::unreachable_arm(arm.span, earlier));
        }
        let mut constants = Vec::new();
        let mut all = false;
        for pattern in &arm.patterns {
            let ast::PatternKind::Value(expr) = &pattern.kind else {
                all = true;
                continue;
            };
            let id = match self.pattern_value(expr, ty) {
                Ok(id) => self.coerce(id, ty, "a pattern of this `match`", None),
                Err(reported) => self.error(expr.span, reported),
            };
            if self.sound(id).is_err() {
                *whole = false;
                continue;
            }
            let Some(constant) = self.constant(id).cloned() else {
                *whole = false;
                self.report(catalog::constants::not_constant("a pattern", pattern.span));
                continue;
            };
            let key = match &constant {
                Constant::Value(ir::Value::Bool(value)) => i64::from(*value),
                other => other.as_int().unwrap_or_default(),
            };
            if let Some(earlier) = seen.insert(key, pattern.span) {
                self.report(catalog::control::unreachable_arm(pattern.span, earlier));
            }
            constants.push(constant);
        }
        if all {
            *rest = rest.or(Some(arm.span));
            return Vec::new();
        }
        constants
    }

    /// A bare variant's name means the matched enum's, whatever else has that name.
    pub(super) fn pattern_value(&mut self, expr: &ast::Expr, ty: &Type) -> Checked {
        if let (ast::ExprKind::Name(name), Type::Enum(id)) = (&expr.kind, ty) {
            if let Some(value) = self.variant_of(*id, name) {
                self.note_variant(expr.span, *id, value as usize);
                let variant = Constant::Value(ir::Value::U32(value));
                return Ok(self.constant_node(variant, ty.clone(), expr.span));
            }
            if !self.variants.contains_key(name.as_str())
                && !self.globals.contains_key(name.as_str())
            {
                let owner = &self.model[*id];
                let names = owner.variants.iter().map(String::as_str);
                let near = self.suggestions.nearest(name, names);
                let report = catalog::names::unknown_variant(&owner.name, name, expr.span, near);
                return Err(self.report(report));
            }
        }
        Ok(self.at_constant(|checker| checker.expr(expr, Some(ty))))
    }

    fn complain_of_missing(&mut self, ty: &Type, seen: &HashMap<i64, Span>, span: Span) {
        let missing = match ty {
            Type::Enum(id) => {
                let variants = &self.model[*id].variants;
                // Every pattern that was seen is a variant.
                let count = variants.len() - seen.len();
                if count == 0 {
                    return;
                }
                let variants = variants.iter().enumerate();
                let missing = variants.filter(|(value, _)| !seen.contains_key(&(*value as i64)));
                let missing: Vec<String> = missing
                    .map(|(_, name)| format!("`{name}`"))
                    .take(count.min(MISSING_SHOWN))
                    .collect();
                catalog::list(missing.iter().map(String::as_str), count)
            }
            Type::Value(ir::Type::Bool) => match (seen.contains_key(&1), seen.contains_key(&0)) {
                (true, true) => return,
                (false, _) => "`true`".to_string(),
                (_, false) => "`false`".to_string(),
            },
            _ => "every integer".to_string(),
        };
        self.report(catalog::control::not_exhaustive(&missing, span));
    }
}
