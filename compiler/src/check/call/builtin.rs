//! Pure builtins, whose arguments agree on one type, and `len`.

use super::plural;
use crate::{
    builtin::{BuiltinId, Class, Fold, Pure, Slot, eval, real::Real},
    check::{
        Checked, Checker, Place,
        elements::{Part, by_element, name_of},
        ty::adapts,
    },
    diagnostic::{Reported, catalog},
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
    ) -> Checked {
        if args.len() == 1
            && pure.params.len() == 2
            && let Some(fold) = Fold::of(&callee.text)
        {
            return self.fold_array(fold, callee, args, span);
        }
        let needed = plural(pure.params.len());
        let fits = args.len() == pure.params.len();
        self.count(&callee.text, &needed, fits, args.len(), span)?;
        let hint = if pure.result == Slot::T { want } else { None };
        let mut ids = Vec::new();
        for (slot, arg) in pure.params.iter().zip(args) {
            let fixed = fixed_slot(*slot);
            ids.push(self.expr(arg, fixed.as_ref().or(hint)));
        }
        self.all_sound(&ids)?;
        self.no_arrays(id, args, &ids, span)?;
        let t = self.shared_type(&pure, &mut ids, want, &callee.text, id.row().params)?;
        for (k, slot) in pure.params.iter().enumerate() {
            let want = Type::Value(slot.resolve(t));
            ids[k] = self.argument(ids[k], &want, &callee.text, id.row().params[k])?;
        }
        let result = Type::Value(pure.result.resolve(t));
        Ok(match self.values(&ids) {
            Some(values) => {
                let wide = self.wide(&ids).map(|wide| f64::apply(id, &wide));
                let value = Constant::Value(self.applied(id, &values));
                self.folded(value, wide, result, span)
            }
            None => self.node(ExprKind::Builtin(id, ids), result, span),
        })
    }

    /// The value of a builtin in the type of the run's floats.
    pub(in crate::check) fn applied(&self, id: BuiltinId, values: &[Value<f64>]) -> Value<f64> {
        if self.model.real.is_double() {
            return f64::apply(id, values);
        }
        let values: Vec<Value> = values.iter().map(|value| value.single()).collect();
        f32::apply(id, &values).double()
    }

    /// Complains of arguments that are arrays, with what a person may have meant.
    fn no_arrays(
        &mut self,
        id: BuiltinId,
        args: &[ast::Expr],
        ids: &[ExprId],
        span: Span,
    ) -> Checked<()> {
        let array = |id: &ExprId| matches!(self.ty(*id), Type::Array(..) | Type::Open(_));
        let Some(first) = ids.iter().copied().find(array) else {
            return Ok(());
        };
        let function = id.row().name;
        let parts: Option<Vec<Part>> = args
            .iter()
            .zip(ids)
            .map(|(arg, id)| self.part(arg, *id))
            .collect();
        let instead = match (id, args) {
            (BuiltinId::LENGTH, [one]) => name_of(one).map(|name| format!("len({name})")),
            (BuiltinId::DOT, _) => {
                parts.and_then(|parts| by_element(&parts, ["sum(", "", " * ", "", ")"]))
            }
            _ => parts.and_then(|parts| {
                by_element(&parts, ["[", &format!("{function}("), ", ", ")", "]"])
            }),
        };
        let fits = instead.is_some();
        let instead = instead.unwrap_or_else(|| match id {
            BuiltinId::LENGTH => "len(x)".to_owned(),
            BuiltinId::DOT => "sum(for i in 0..3: a[i] * b[i])".to_owned(),
            _ => format!("[for i in 0..3: {function}(x[i])]"),
        });
        let report = catalog::types::array_as_whole(
            function,
            &self.show(self.ty(first)),
            &format!("`{instead}`"),
            span,
            self.expr_span(first),
            fits.then_some(instead.as_str()),
        );
        Err(self.report(report))
    }

    /// The type of `T` in this call; adapts the literals among the arguments.
    fn shared_type(
        &mut self,
        pure: &Pure,
        ids: &mut [ExprId],
        want: Option<&Type>,
        function: &str,
        names: &[&str],
    ) -> Checked<ir::Type> {
        let places: Vec<usize> = (0..ids.len())
            .filter(|&k| pure.params[k] == Slot::T)
            .collect();
        if places.is_empty() {
            return Ok(ir::Type::F32);
        }
        let mut t: Option<ir::Type> = None;
        for &k in &places {
            let ty = self.ty(ids[k]);
            if ty.is_abstract() {
                continue;
            }
            let own = match ty {
                Type::Value(own) if pure.class.contains(*own) => *own,
                _ => {
                    let needed = describe_class(pure.class);
                    return Err(self.misfit(function, names[k], needed, ids[k]));
                }
            };
            match t {
                None => t = Some(own),
                Some(first) if first != own => {
                    let needed = format!("`{}`", first.name());
                    return Err(self.misfit(function, names[k], &needed, ids[k]));
                }
                Some(_) => {}
            }
        }
        let t = t.or_else(|| {
            let literals: Vec<&Type> = places.iter().map(|&k| self.ty(ids[k])).collect();
            of_literals(pure, &literals, want)
        });
        let Some(t) = t else {
            let needed = describe_class(pure.class);
            return Err(self.misfit(function, names[places[0]], needed, ids[places[0]]));
        };
        for &k in &places {
            if !self.ty(ids[k]).is_abstract() {
                continue;
            }
            let Some(id) = self.adapt(ids[k], &Type::Value(t.scalar()))? else {
                let needed = format!("`{}`", t.name());
                return Err(self.misfit(function, names[k], &needed, ids[k]));
            };
            ids[k] = if t.is_vector() { self.splat(id, t) } else { id };
        }
        Ok(t)
    }

    /// A vector with equal components.
    fn splat(&mut self, id: ExprId, ty: ir::Type) -> ExprId {
        let (span, target) = (self.expr_span(id), Type::Value(ty));
        match self.constant(id) {
            Some(Constant::Value(value)) => {
                let vector = eval::splat(ty, *value);
                self.constant_node(Constant::Value(vector), target, span)
            }
            _ => self.node(ExprKind::Splat(id), target, span),
        }
    }

    fn misfit(&mut self, function: &str, param: &str, needed: &str, id: ExprId) -> Reported {
        if needed.starts_with("`f32`")
            && let Some(reported) = self.whole_number(id, &Type::F32)
        {
            return reported;
        }
        let (found, span) = (self.show(self.ty(id)), self.expr_span(id));
        self.report(catalog::types::bad_argument(
            function, param, needed, &found, span,
        ))
    }

    pub(super) fn length_of(
        &mut self,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let one = args.len() == 1;
        self.count(&callee.text, "one argument", one, args.len(), span)?;
        if matches!(&args[0].kind, ast::ExprKind::Name(name) if name == "world") {
            return self.launch(ir::Launch::Members, "len(world)", span);
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
                let length = Constant::Value(Value::I32(length as i32));
                Ok(self.constant_node(length, Type::I32, span))
            }
            (Type::Open(_), ExprKind::Data(data)) => {
                let data = *data;
                if self.place == Place::Constant {
                    return Err(self.not_constant(span));
                }
                Ok(self.node(ExprKind::Rows(data), Type::I32, span))
            }
            (Type::Error(reported), _) => Err(reported),
            (other, _) => {
                let report =
                    catalog::types::not_an_array(&self.show(&other), false, self.expr_span(id));
                Err(self.report(report))
            }
        }
    }
}

/// The type of `T` if all its arguments are literals: the expected type, if the function accepts it and the
/// literals can have it; else `f32` or `i32`, as the literals are. None if the function takes neither.
fn of_literals(pure: &Pure, literals: &[&Type], want: Option<&Type>) -> Option<ir::Type> {
    let takes = |ty: &ir::Type| {
        let all = literals.iter().all(|own| adapts(own, &Type::Value(*ty)));
        all && pure.class.contains(*ty)
    };
    let wanted = want
        .filter(|_| pure.result == Slot::T)
        .and_then(|want| match want {
            Type::Value(ty) => Some(*ty),
            _ => None,
        });
    [wanted, Some(ir::Type::I32), Some(ir::Type::F32)]
        .into_iter()
        .flatten()
        .find(takes)
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
