//! Calls: builtins, draws, folds, conversions, vectors, structs, and the model's own functions.

use super::{CallSite, Checker, Global, Place, suggest::nearest, ty::value_type};
use crate::{
    builtin::{BuiltinId, Class, Draw, Fold, Meaning, Pure, Slot, eval, table},
    diagnostic::catalog,
    hir::{Constant, ExprId, ExprKind, FunctionId, StructId, Type},
    ir::{self, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        callee: &ast::Name,
        args: &[ast::Expr],
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        if let Some(ty) = value_type(&callee.text) {
            return if ty.is_vector() {
                self.vector(ty, args, span)
            } else {
                self.convert(ty, callee, args, span)
            };
        }
        match self.globals.get(callee.text.as_str()).copied() {
            Some((Global::Function(id), _)) => return self.call_function(id, callee, args, span),
            Some((Global::Struct(id), _)) => return self.construct(id, callee, args, span),
            Some((Global::Broken, _)) => {
                self.args(args, None);
                return self.error(span);
            }
            Some((other, declared)) if BuiltinId::find(&callee.text).is_none() => {
                let report = catalog::names::not_a_function(
                    &callee.text,
                    describe(other),
                    callee.span,
                    Some(declared),
                );
                self.report(report);
                return self.error(span);
            }
            _ => {}
        }
        let Some(id) = BuiltinId::find(&callee.text) else {
            return self.unknown_function(callee, span);
        };
        match id.row().meaning {
            Meaning::Pure(pure) => self.builtin(id, pure, callee, args, want, span),
            Meaning::Fold(fold) => self.fold_array(fold, callee, args, span),
            Meaning::Draw(draw) => self.draw(draw, callee, args, span),
            Meaning::Length => self.length_of(callee, args, span),
        }
    }

    fn unknown_function(&mut self, callee: &ast::Name, span: Span) -> ExprId {
        let name = callee.text.as_str();
        let local = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name).map(|(_, span)| *span));
        let report = if local.is_some() {
            catalog::names::not_a_function(name, "a variable", callee.span, local)
        } else {
            let own = self
                .globals
                .iter()
                .filter(|(_, (global, _))| {
                    matches!(global, Global::Function(_) | Global::Struct(_))
                })
                .map(|(name, _)| *name);
            let foreign = match name {
                "rand" => Some("random"),
                "randn" | "gauss" | "gaussian" => Some("normal"),
                "ln" => Some("log"),
                "fabs" => Some("abs"),
                "length_of" | "size" => Some("len"),
                "powf" | "powi" => Some("pow"),
                "fmod" => Some("%"),
                "rsqrt" => Some("inverseSqrt"),
                _ => None,
            };
            let builtins = table::rows().iter().map(|row| row.name);
            let conversions = super::ty::SCALARS.iter().map(|(name, _)| *name);
            let near = foreign.or_else(|| nearest(name, builtins.chain(conversions).chain(own)));
            catalog::names::unknown_function(name, callee.span, near)
        };
        self.report(report);
        self.error(span)
    }

    fn args(&mut self, args: &[ast::Expr], want: Option<&Type>) -> Option<Vec<ExprId>> {
        let ids: Vec<ExprId> = args.iter().map(|arg| self.expr(arg, want)).collect();
        (!ids.iter().any(|&id| self.is_error(id))).then_some(ids)
    }

    fn count(&mut self, callee: &str, needed: &str, ok: bool, found: usize, span: Span) -> bool {
        if !ok {
            self.report(catalog::types::wrong_argument_count(
                callee, needed, found, span, None,
            ));
        }
        ok
    }

    /// `f32(x)` and its kin.
    fn convert(
        &mut self,
        to: ir::Type,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        let target = Type::Value(to);
        if !self.count(
            &callee.text,
            "one argument",
            args.len() == 1,
            args.len(),
            span,
        ) {
            return self.error(span);
        }
        let Some(ids) = self.args(args, None) else {
            return self.error(span);
        };
        let mut id = ids[0];
        if let Some(adapted) = self.adapt(id, &target) {
            return adapted;
        }
        if self
            .diagnostics
            .last()
            .is_some_and(|last| last.span() == self.expr_span(id))
        {
            return self.error(span);
        }
        id = self.concrete(id);
        let from = self.ty(id).clone();
        let legal = match &from {
            Type::Value(value) => !value.is_vector(),
            Type::Enum(_) => to == ir::Type::I32 || to == ir::Type::U32,
            _ => false,
        };
        if !legal {
            if !from.has_error() {
                let report =
                    catalog::types::no_conversion(&self.show(&from), to.name(), self.expr_span(id));
                self.report(report);
            }
            return self.error(span);
        }
        if let Some(Constant::Value(value)) = self.constant(id) {
            let value = eval::convert(to, *value);
            return self.constant_node(Constant::Value(value), target, span);
        }
        self.node(ExprKind::Convert(id), target, span)
    }

    pub(super) fn bitcast(&mut self, to: &ast::Type, value: &ast::Expr, span: Span) -> ExprId {
        let target = self.resolve_type(to, false);
        let id = self.expr(value, None);
        let id = self.concrete(id);
        if target.has_error() || self.is_error(id) {
            return self.error(span);
        }
        let word = |ty: &Type| {
            matches!(
                ty,
                Type::Value(ir::Type::F32 | ir::Type::I32 | ir::Type::U32)
            )
        };
        let from = self.ty(id).clone();
        if !word(&target) || !word(&from) {
            let report =
                catalog::types::no_conversion(&self.show(&from), &self.show(&target), span);
            self.report(report);
            return self.error(span);
        }
        if let (Some(Constant::Value(value)), Some(to)) = (self.constant(id), target.value()) {
            let value = eval::bitcast(to, *value);
            return self.constant_node(Constant::Value(value), target, span);
        }
        self.node(ExprKind::Bitcast(id), target, span)
    }

    /// `vec3(…)`
    fn vector(&mut self, ty: ir::Type, args: &[ast::Expr], span: Span) -> ExprId {
        let Some(mut ids) = self.args(args, Some(&Type::F32)) else {
            return self.error(span);
        };
        let mut found = 0;
        for id in &mut ids {
            if let Some(adapted) = self.adapt(*id, &Type::F32) {
                *id = adapted;
            }
            match self.ty(*id) {
                Type::Value(value) if value.is_float() => found += value.components(),
                other => {
                    let (found, span) = (self.show(other), self.expr_span(*id));
                    self.report(catalog::types::bad_argument(
                        ty.name(),
                        "component",
                        "`f32`",
                        &found,
                        span,
                    ));
                    return self.error(span);
                }
            }
        }
        let target = Type::Value(ty);
        if ids.len() == 1 && found == 1 {
            if let Some(Constant::Value(Value::F32(x))) = self.constant(ids[0]) {
                let value = Value::from_floats(&vec![*x; ty.components()]);
                return self.constant_node(Constant::Value(value), target, span);
            }
            return self.node(ExprKind::Splat(ids[0]), target, span);
        }
        if found != ty.components() {
            self.report(catalog::types::wrong_components(
                ty.name(),
                ty.components(),
                found,
                span,
            ));
            return self.error(span);
        }
        if let Some(values) = self.values(&ids) {
            let parts: Vec<f32> = values
                .iter()
                .flat_map(|value| value.floats().to_vec())
                .collect();
            return self.constant_node(Constant::Value(Value::from_floats(&parts)), target, span);
        }
        self.node(ExprKind::Compose(ids), target, span)
    }

    /// `Order(1.0, 2.0)`
    fn construct(
        &mut self,
        id: StructId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        let (fields, declared) = (self.model[id].fields.clone(), self.model[id].span);
        if args.len() != fields.len() {
            let needed = plural(fields.len());
            self.report(catalog::types::wrong_argument_count(
                &callee.text,
                &needed,
                args.len(),
                span,
                Some(declared),
            ));
            return self.error(span);
        }
        let ids: Vec<ExprId> = args
            .iter()
            .zip(&fields)
            .map(|(arg, (name, ty))| {
                let id = self.expr(arg, Some(ty));
                self.coerce(
                    id,
                    ty,
                    &format!("the field `{name}`"),
                    Some((declared, "declared here".into())),
                )
            })
            .collect();
        match self.constants(&ids) {
            Some(values) => self.constant_node(Constant::Many(values), Type::Struct(id), span),
            None => self.node(ExprKind::Compose(ids), Type::Struct(id), span),
        }
    }

    fn call_function(
        &mut self,
        id: FunctionId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        if self.place == Place::Constant {
            return self.not_constant(span);
        }
        let Some(function) = self.model.functions.get(id.0 as usize) else {
            return self.error(span);
        };
        let (params, result, declared) = (
            function.params.clone(),
            function.result.clone(),
            function.span,
        );
        self.calls.push(CallSite {
            caller: match self.place {
                Place::Function(caller) => Some(caller),
                _ => None,
            },
            callee: id,
            span: callee.span,
            forbids_draw: self.no_draws(),
        });
        if args.len() != params.len() {
            let needed = plural(params.len());
            self.report(catalog::types::wrong_argument_count(
                &callee.text,
                &needed,
                args.len(),
                span,
                Some(declared),
            ));
            return self.error(span);
        }
        let ids = args
            .iter()
            .zip(&params)
            .map(|(arg, param)| {
                let param = &self.model[*param];
                let (name, ty, span) = (param.name.clone(), param.ty.clone(), param.span);
                let id = self.expr(arg, Some(&ty));
                self.coerce(
                    id,
                    &ty,
                    &format!("the argument `{name}`"),
                    Some((span, "declared here".into())),
                )
            })
            .collect();
        self.node(ExprKind::Call(id, ids), result, span)
    }

    /// Why no draw may be made here.
    pub(super) fn no_draws(&self) -> Option<&'static str> {
        if self.in_integrate {
            return Some("the body of `integrate`");
        }
        match self.place {
            Place::Constant | Place::InputDefault | Place::Output => Some(self.place.describe()),
            Place::InputDraw
            | Place::StateInit
            | Place::Init
            | Place::Step
            | Place::Finish
            | Place::Function(_) => None,
        }
    }

    fn draw(&mut self, draw: Draw, callee: &ast::Name, args: &[ast::Expr], span: Span) -> ExprId {
        let (needed, ok, result) = match draw {
            Draw::Random => ("no arguments", args.is_empty(), Type::F32),
            Draw::Uniform => ("two arguments", args.len() == 2, Type::F32),
            Draw::Normal => (
                "no or two arguments",
                args.is_empty() || args.len() == 2,
                Type::F32,
            ),
            Draw::Exponential => ("one argument", args.len() == 1, Type::F32),
            Draw::Bernoulli => ("one argument", args.len() == 1, Type::BOOL),
            Draw::RandInt => ("two arguments", args.len() == 2, Type::I32),
            Draw::Poisson => ("one argument", args.len() == 1, Type::I32),
            Draw::Categorical => ("one argument", args.len() == 1, Type::I32),
        };
        if let Some(place) = self.no_draws() {
            self.report(catalog::control::draw_not_allowed(
                &callee.text,
                place,
                callee.span,
            ));
            return self.error(span);
        }
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].draws = true;
        }
        if !self.count(&callee.text, needed, ok, args.len(), span) {
            return self.error(span);
        }
        if draw == Draw::Categorical {
            return self.categorical(callee, &args[0], span);
        }
        let want = if draw == Draw::RandInt {
            Type::I32
        } else {
            Type::F32
        };
        let names = BuiltinId::named(&callee.text).row().params;
        let ids = args
            .iter()
            .enumerate()
            .map(|(k, arg)| {
                let id = self.expr(arg, Some(&want));
                self.argument(
                    id,
                    &want,
                    &callee.text,
                    names.get(k).copied().unwrap_or("it"),
                )
            })
            .collect();
        if draw == Draw::Poisson
            && let Some((Global::Function(id), _)) = self.globals.get(super::item::POISSON).copied()
        {
            self.calls.push(CallSite {
                caller: match self.place {
                    Place::Function(caller) => Some(caller),
                    _ => None,
                },
                callee: id,
                span,
                forbids_draw: None,
            });
            return self.node(ExprKind::Call(id, ids), result, span);
        }
        self.node(ExprKind::Draw(draw, ids), result, span)
    }

    fn categorical(&mut self, callee: &ast::Name, weights: &ast::Expr, span: Span) -> ExprId {
        let id = self.expr(weights, None);
        let id = match self.ty(id).clone() {
            Type::Array(element, length) if element.is_abstract() => {
                let want = Type::Array(std::rc::Rc::new(Type::F32), length);
                self.adapt(id, &want).unwrap_or(id)
            }
            _ => id,
        };
        match self.ty(id) {
            Type::Array(element, _) if **element == Type::F32 => {
                self.node(ExprKind::Draw(Draw::Categorical, vec![id]), Type::I32, span)
            }
            Type::Error => self.error(span),
            other => {
                let found = self.show(other);
                let place = self.expr_span(id);
                self.report(catalog::types::bad_argument(
                    &callee.text,
                    "weights",
                    "an array of `f32`",
                    &found,
                    place,
                ));
                self.error(span)
            }
        }
    }

    /// An argument that must have one certain type.
    fn argument(&mut self, id: ExprId, want: &Type, function: &str, param: &str) -> ExprId {
        if let Some(adapted) = self.adapt(id, want) {
            return adapted;
        }
        if self.ty(id) == want || self.is_error(id) {
            return id;
        }
        let (needed, found, span) = (
            format!("`{}`", self.show(want)),
            self.show(self.ty(id)),
            self.expr_span(id),
        );
        self.report(catalog::types::bad_argument(
            function, param, &needed, &found, span,
        ));
        self.error(span)
    }

    /// `min(a, b)` and every other pure builtin; `min(array)` is the fold.
    fn builtin(
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
        if !self
            .diagnostics
            .last()
            .is_some_and(|last| last.span() == span)
        {
            self.report(catalog::types::bad_argument(
                function, param, needed, &found, span,
            ));
        }
        None
    }

    fn length_of(&mut self, callee: &ast::Name, args: &[ast::Expr], span: Span) -> ExprId {
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

    /// `sum(array)`
    fn fold_array(
        &mut self,
        fold: Fold,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> ExprId {
        if !self.count(
            &callee.text,
            "one array or comprehension",
            args.len() == 1,
            args.len(),
            span,
        ) {
            return self.error(span);
        }
        let id = self.expr(&args[0], None);
        let id = self.concrete(id);
        let element = match self.ty(id) {
            Type::Array(element, _) | Type::Open(element) => (**element).clone(),
            Type::Error => return self.error(span),
            other => {
                let (found, place) = (self.show(other), self.expr_span(id));
                self.report(catalog::types::bad_argument(
                    &callee.text,
                    "values",
                    "an array or a comprehension",
                    &found,
                    place,
                ));
                return self.error(span);
            }
        };
        let Some(result) = self.fold_type(fold, &element, &callee.text, id) else {
            return self.error(span);
        };
        self.node(ExprKind::FoldArray(fold, id), result, span)
    }

    /// `sum(for i in 0..n if c: e)`
    pub(super) fn fold(
        &mut self,
        callee: &ast::Name,
        over: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
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
                self.report(report);
                return self.error(span);
            }
            return self.unknown_function(callee, span);
        };
        let want = match fold {
            Fold::Sum | Fold::Product | Fold::Min | Fold::Max => want.cloned(),
            Fold::Mean => Some(Type::F32),
            Fold::Any | Fold::All => Some(Type::BOOL),
            Fold::Count | Fold::ArgMin | Fold::ArgMax => None,
        };
        if self.place == Place::Constant {
            return self.not_constant(span);
        }
        let comprehension = self.comprehension(over, want.as_ref());
        let element = self.ty(comprehension.value).clone();
        if element.has_error()
            || self.is_error(comprehension.start)
            || self.is_error(comprehension.end)
        {
            return self.error(span);
        }
        let Some(result) = self.fold_type(fold, &element, &callee.text, comprehension.value) else {
            return self.error(span);
        };
        self.node(ExprKind::Fold(fold, Box::new(comprehension)), result, span)
    }

    fn fold_type(&mut self, fold: Fold, element: &Type, callee: &str, id: ExprId) -> Option<Type> {
        let value = match element {
            Type::Value(value) => Some(*value),
            _ => None,
        };
        let number = value.filter(|ty| *ty != ir::Type::Bool);
        let scalar = number.filter(|ty| !ty.is_vector());
        let (needed, result) = match fold {
            Fold::Sum => ("numbers or vectors", number.map(Type::Value)),
            Fold::Product => ("numbers", scalar.map(Type::Value)),
            Fold::Min | Fold::Max => ("numbers", scalar.map(Type::Value)),
            Fold::Mean => (
                "`f32`s or vectors",
                number.filter(|ty| ty.is_float()).map(Type::Value),
            ),
            Fold::Any | Fold::All => ("`bool`s", (*element == Type::BOOL).then_some(Type::BOOL)),
            Fold::Count => (
                "`bool`s or numbers",
                value.filter(|ty| !ty.is_vector()).map(|_| Type::I32),
            ),
            Fold::ArgMin | Fold::ArgMax => ("numbers", scalar.map(|_| Type::I32)),
        };
        if result.is_none() && !element.has_error() {
            let (found, span) = (self.show(element), self.expr_span(id));
            self.report(catalog::types::bad_argument(
                callee, "values", needed, &found, span,
            ));
        }
        result
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

fn plural(count: usize) -> String {
    match count {
        0 => "no arguments".to_string(),
        1 => "one argument".to_string(),
        count => format!("{count} arguments"),
    }
}

fn describe(global: Global) -> &'static str {
    match global {
        Global::Const(_) => "a constant",
        Global::Param(_) => "a param",
        Global::Data(_) => "a data table",
        Global::Input(_) => "an input",
        Global::State(_) => "a state",
        Global::Function(_) => "a function",
        Global::Struct(_) => "a struct",
        Global::Enum(_) => "an enum",
        Global::Broken => "declared twice",
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
