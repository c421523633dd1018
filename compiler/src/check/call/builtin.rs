//! Pure builtins, whose arguments agree on one type, and `len`.

use super::plural;
use crate::{
    builtin::{BuiltinId, Class, Fold, Pure, Slot},
    check::{Checker, Place},
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    /// `min(a, b)` and every other pure builtin; `min(array)` is the fold.
    pub(super) fn builtin(
        &mut self,
        id: BuiltinId,
        pure: Pure,
        callee: &ast::Name,
        args: &[ast::Expr],
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        if args.len() == 1
            && pure.params.len() == 2
            && let Some(fold) = Fold::of(&callee.text)
        {
            return self.fold_array(fold, callee, args, span);
        }
        let needed = plural(pure.params.len());
        if !self.count(
            &callee.text,
            &needed,
            args.len() == pure.params.len(),
            args.len(),
            span,
        ) {
            return self.error(span);
        }
        let hint = if pure.result == Slot::T { want } else { None };
        let mut ids = Vec::new();
        for (slot, arg) in pure.params.iter().zip(args) {
            let fixed = fixed_slot(*slot);
            ids.push(self.expr(arg, fixed.as_ref().or(hint)));
        }
        if ids.iter().any(|&id| self.is_error(id)) {
            return self.error(span);
        }
        let Some(t) = self.shared_type(&pure, &mut ids, want, &callee.text, id.row().params) else {
            return self.error(span);
        };
        for (k, slot) in pure.params.iter().enumerate() {
            let want = Type::Value(slot.resolve(t));
            ids[k] = self.argument(ids[k], &want, &callee.text, id.row().params[k]);
            if self.is_error(ids[k]) {
                return self.error(span);
            }
        }
        let result = Type::Value(pure.result.resolve(t));
        match self.values(&ids) {
            Some(values) => self.constant_node(Constant::Value((pure.eval)(&values)), result, span),
            None => self.node(ExprKind::Builtin(id, ids), result, span),
        }
    }

    /// What `T` stands for in this call; adapts the literals among the arguments. None after a complaint.
    fn shared_type(
        &mut self,
        pure: &Pure,
        ids: &mut [ExprId],
        want: Option<&Type>,
        function: &str,
        names: &[&str],
    ) -> Option<ir::Type> {
        let places: Vec<usize> = (0..ids.len())
            .filter(|&k| pure.params[k] == Slot::T)
            .collect();
        if places.is_empty() {
            return Some(ir::Type::F32);
        }
        let float_only = matches!(pure.class, Class::Float | Class::Vector);
        let mut t: Option<ir::Type> = None;
        for &k in &places {
            if self.ty(ids[k]).is_abstract() {
                continue;
            }
            let Some(own) = self
                .ty(ids[k])
                .value()
                .filter(|ty| pure.class.contains(*ty) && !matches!(self.ty(ids[k]), Type::Enum(_)))
            else {
                return self.misfit(function, names[k], describe_class(pure.class), ids[k]);
            };
            match t {
                None => t = Some(own),
                Some(first) if first != own => {
                    return self.misfit(function, names[k], &format!("`{}`", first.name()), ids[k]);
                }
                Some(_) => {}
            }
        }
        let t = t.unwrap_or_else(|| {
            let float = float_only
                || places
                    .iter()
                    .any(|&k| *self.ty(ids[k]) == Type::AbstractFloat);
            let wanted = want
                .and_then(Type::value)
                .filter(|ty| !ty.is_vector() && pure.class.contains(*ty) && pure.result == Slot::T);
            match wanted {
                Some(ty) if !float || ty == ir::Type::F32 => ty,
                _ if float => ir::Type::F32,
                _ => ir::Type::I32,
            }
        });
        for &k in &places {
            if self.ty(ids[k]).is_abstract() {
                let scalar = Type::Value(t.scalar());
                match self.adapt(ids[k], &scalar) {
                    Some(id) if t.is_vector() => {
                        let span = self.expr_span(id);
                        ids[k] = self.node(ExprKind::Splat(id), Type::Value(t), span);
                    }
                    Some(id) => ids[k] = id,
                    None => {
                        return self.misfit(function, names[k], &format!("`{}`", t.name()), ids[k]);
                    }
                }
            }
        }
        Some(t)
    }

    fn misfit<T>(&mut self, function: &str, param: &str, needed: &str, id: ExprId) -> Option<T> {
        let (found, span) = (self.show(self.ty(id)), self.expr_span(id));
        if self
            .diagnostics
            .last()
            .is_none_or(|last| last.span() != span)
        {
            self.report(catalog::types::bad_argument(
                function, param, needed, &found, span,
            ));
        }
        None
    }

    pub(super) fn length_of(
        &mut self,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        if !self.count(
            &callee.text,
            "one argument",
            args.len() == 1,
            args.len(),
            span,
        ) {
            return self.error(span);
        }
        // The length is part of the type, so it is known even where the elements are not.
        let place = self.place;
        if place == Place::Constant {
            self.place = Place::Output;
        }
        let id = self.expr(&args[0], None);
        self.place = place;
        match (self.ty(id).clone(), &self.model[id].kind) {
            (Type::Array(_, length), _) => {
                self.constant_node(Constant::Value(Value::I32(length as i32)), Type::I32, span)
            }
            (Type::Open(_), ExprKind::Data(data)) => {
                let data = *data;
                if self.place == Place::Constant {
                    return self.not_constant(span);
                }
                self.node(ExprKind::Rows(data), Type::I32, span)
            }
            (Type::Error, _) => self.error(span),
            (other, _) => {
                let report = catalog::types::not_an_array(&self.show(&other), self.expr_span(id));
                self.report(report);
                self.error(span)
            }
        }
    }
}

fn fixed_slot(slot: Slot) -> Option<Type> {
    match slot {
        Slot::T | Slot::Component => None,
        Slot::F32 | Slot::I32 | Slot::U32 | Slot::Bool | Slot::Vec3 => {
            Some(Type::Value(slot.resolve(ir::Type::F32)))
        }
    }
}

fn describe_class(class: Class) -> &'static str {
    match class {
        Class::Float => "`f32` or a vector",
        Class::Numeric => "a number or a vector",
        Class::Signed => "`f32`, `i32` or a vector",
        Class::Integer => "`i32` or `u32`",
        Class::Vector => "a vector",
        Class::Any => "a scalar or a vector",
    }
}
