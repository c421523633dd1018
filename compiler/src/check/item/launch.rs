//! What a launch sets: params, data and inputs.

use crate::{
    check::{Checked, Checker, Place},
    diagnostic::catalog,
    hir::{Constant, Data, ExprId, ExprKind, Input, InputSource, Param, Type},
    ir,
    syntax::ast,
};

impl Checker<'_> {
    pub(in crate::check) fn check_params(&mut self) {
        for item in self.items() {
            let ast::ItemKind::Param {
                name,
                ty,
                value,
                range,
            } = &item.kind
            else {
                continue;
            };
            let (ty, default) = self.at_place(Place::Constant, |checker| match (ty, value) {
                (_, Some(value)) => {
                    let id = checker.typed_value(name, ty.as_ref(), value);
                    let known = checker.constant(id).cloned();
                    if known.is_none() && checker.sound(id).is_ok() {
                        checker.report(catalog::constants::not_constant(
                            "the default of a param",
                            value.span,
                        ));
                    }
                    (checker.ty(id).clone(), known)
                }
                (Some(ty), None) => (checker.resolve_type(ty, false), None),
                (None, None) => {
                    let what = "a param without a default";
                    let report = catalog::types::missing_type(what, name.span);
                    (Type::Error(checker.report(report)), None)
                }
            });
            let range = range.as_ref().and_then(|range| {
                let known = self.param_range(name, &ty, value.as_ref(), default.as_ref(), range);
                known.ok()
            });
            self.model.params.push(Param {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                default,
                range,
                span: name.span,
            });
        }
    }

    fn param_range(
        &mut self,
        name: &ast::Name,
        ty: &Type,
        value: Option<&ast::Expr>,
        default: Option<&Constant>,
        range: &ast::Range,
    ) -> Checked<[f64; 2]> {
        let scalar = ty.innermost();
        let number = matches!(scalar, Type::Value(value) if *value != ir::Type::Bool);
        if !number {
            if let Some(reported) = scalar.error() {
                return Err(reported);
            }
            let report =
                catalog::model::range_on(&self.show(ty), range.start.span.to(range.end.span));
            return Err(self.report(report));
        }
        let want = Type::Value(scalar.value().map_or(ir::Type::F32, ir::Type::scalar));
        let mut ends = [0.0; 2];
        for (end, expr) in ends.iter_mut().zip([&range.start, &range.end]) {
            let id = self.at_place(Place::Constant, |checker| {
                checker.expr_of(expr, &want, "an end of the range")
            });
            let id = self.sound(id)?;
            *end = match self.constant(id).and_then(Constant::as_number) {
                Some(number) => number,
                None => return Err(self.not_constant(expr.span)),
            };
        }
        let span = range.start.span.to(range.end.span);
        if ends[1] <= ends[0] {
            return Err(self.report(catalog::model::bad_range(ends[0], ends[1], span)));
        }
        if let (Some(value), Some(default)) = (value, default) {
            let mut numbers = Vec::new();
            flatten_numbers(default, &mut numbers);
            if let Some(wrong) = numbers
                .into_iter()
                .find(|number| !(ends[0]..=ends[1]).contains(number))
            {
                let report = catalog::model::default_outside_range(
                    &name.text, wrong, ends[0], ends[1], value.span, span,
                );
                self.report(report);
            }
        }
        Ok(ends)
    }

    pub(in crate::check) fn check_data(&mut self) {
        for item in self.items() {
            let ast::ItemKind::Data { name, ty } = &item.kind else {
                continue;
            };
            let ty = self.at_place(Place::Constant, |checker| checker.resolve_type(ty, true));
            self.model.data.push(Data {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                span: name.span,
            });
        }
    }

    pub(in crate::check) fn check_inputs(&mut self) {
        for item in self.items() {
            let ast::ItemKind::Input { name, ty, source } = &item.kind else {
                continue;
            };
            let owner = super::body::owner(item);
            let written = ty.as_ref().map(|ty| {
                self.at_place(Place::Constant, |checker| checker.resolve_type(ty, false))
            });
            let (ty, source) = match source {
                ast::InputSource::Required => match written {
                    Some(ty) => (ty, InputSource::Required),
                    None => {
                        let what = "an input without a default";
                        let report = catalog::types::missing_type(what, name.span);
                        (Type::Error(self.report(report)), InputSource::Required)
                    }
                },
                ast::InputSource::Default(value) => {
                    let id =
                        self.at_place_of(owner, Place::InputDefault, |checker| match &written {
                            Some(want) => checker.default_of(value, want),
                            None => checker.typed_value(name, None, value),
                        });
                    (
                        written.unwrap_or_else(|| self.ty(id).clone()),
                        InputSource::Default(id),
                    )
                }
                ast::InputSource::Drawn(value) => self.drawn_input(value, written, owner),
            };
            self.model.inputs.push(Input {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                owner,
                source,
                span: name.span,
            });
        }
    }

    /// A default of the input's type, or one value for all elements.
    fn default_of(&mut self, value: &ast::Expr, want: &Type) -> ExprId {
        let id = self.expr(value, Some(want));
        let scalar = want.innermost();
        let single =
            matches!(self.ty(id), Type::AbstractInt | Type::AbstractFloat) || self.ty(id) == scalar;
        if single && matches!(want, Type::Array(..)) {
            return self.coerce(id, scalar, "the default", None);
        }
        self.coerce(id, want, "the default", None)
    }

    fn drawn_input(
        &mut self,
        value: &ast::Expr,
        written: Option<Type>,
        owner: ir::Owner,
    ) -> (Type, InputSource) {
        let id = self.at_place_of(owner, Place::InputDraw, |checker| {
            let want = written.as_ref().map(Type::innermost);
            checker.expr(value, want)
        });
        if let Err(reported) = self.sound(id) {
            let ty = written.unwrap_or(Type::Error(reported));
            return (ty, InputSource::Required);
        }
        let draws = match &self.model[id].kind {
            ExprKind::Draw(..) => true,
            ExprKind::Call(function, _) => self.model.prelude_draw(*function).is_some(),
            _ => false,
        };
        if !draws {
            let reported = self.report(catalog::model::not_a_distribution(value.span));
            let ty = written.unwrap_or(Type::Error(reported));
            return (ty, InputSource::Required);
        }
        let own = self.ty(id).clone();
        let ty = written.unwrap_or_else(|| own.clone());
        let scalar = ty.innermost();
        let floats = matches!(scalar, Type::Value(value) if value.is_vector()) && own == Type::F32;
        if *scalar != own && !floats && !ty.has_error() {
            let report = catalog::types::mismatched_types(
                "the distribution of this input",
                &self.show(scalar),
                &self.show(&own),
                value.span,
                None,
                None,
            );
            self.report(report);
        }
        (ty, InputSource::Drawn(id))
    }
}

pub(super) fn flatten_numbers(constant: &Constant, numbers: &mut Vec<f64>) {
    match constant {
        Constant::Many(values) => values
            .iter()
            .for_each(|value| flatten_numbers(value, numbers)),
        Constant::Value(value) if value.ty().is_float() => {
            numbers.extend(value.floats());
        }
        other => numbers.extend(other.as_number()),
    }
}
