//! Calls: what a name calls, structs, and the model's own functions. Conversions, builtins, draws and folds
//! are below.

mod builtin;
mod convert;
mod draw;
mod fold;

pub(super) use draw::refused;

use super::{Binding, CallSite, Checked, Checker, ConstState, Global, Place, ty::value_type};
use crate::{
    builtin::{BuiltinId, Meaning, sampled::FoldOfAgents, table},
    diagnostic::{Reported, catalog},
    hir::{Constant, ExprId, ExprKind, FunctionId, StructId, Type},
    span::Span,
    syntax::ast,
};

/// An element of an array as it is written, and the edits that make it of a call.
type Element = (String, Vec<(Span, String)>);

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        callee: &ast::Name,
        args: &[ast::Expr],
        want: Option<&Type>,
        span: Span,
    ) -> Checked {
        if let Some(ty) = value_type(&callee.text) {
            return if ty.is_vector() {
                self.vector(ty, args, span)
            } else {
                self.convert(ty, callee, args, span)
            };
        }
        if self.is_of_prelude(callee.span)
            && let Some(id) = self.words(callee, args, span)
        {
            return Ok(id);
        }
        let meant = self.callable(callee);
        if let Some((
            Global::Function(_) | Global::Struct(_) | Global::Enum(_) | Global::Broken(_),
            declared,
        )) = meant
        {
            self.note(callee.span, declared);
        }
        match meant {
            Some((Global::Function(id), _)) => return self.call_function(id, callee, args, span),
            Some((Global::Struct(id), _)) => return self.construct(id, callee, args, span),
            Some((Global::Enum(id), _)) => return self.variant_numbered(id, callee, args, span),
            Some((Global::Broken(reported), _)) => {
                self.args(args, None)?;
                return Err(reported);
            }
            Some((other, declared)) if BuiltinId::find(&callee.text).is_none() => {
                let report = catalog::names::not_a_function(
                    &callee.text,
                    describe(other),
                    callee.span,
                    Some(declared),
                    self.brackets(callee, args, span),
                );
                self.note(callee.span, declared);
                return Err(self.report(report));
            }
            _ => {}
        }
        let Some(id) = BuiltinId::called(&callee.text, args.len()) else {
            return Err(self.unknown_function(callee, self.brackets(callee, args, span)));
        };
        match id.row().meaning {
            Meaning::Pure(pure) => self.builtin(id, pure, callee, args, want, span),
            Meaning::Fold(fold) => self.fold_array(fold, callee, args, span),
            Meaning::Draw(draw) => self.draw(draw, callee, args, span),
            Meaning::Length => self.length_of(callee, args, span),
        }
    }

    /// `brackets` is the element that the call may have been meant to be.
    fn unknown_function(&mut self, callee: &ast::Name, brackets: Option<Element>) -> Reported {
        let name = callee.text.as_str();
        if name == "world" {
            return self.report(catalog::world::world_as_value(callee.span));
        }
        if FoldOfAgents::of(name).is_some() {
            return self.report(catalog::world::fold_of_observe(name, callee.span));
        }
        let local = self
            .scopes
            .iter()
            .rev()
            .find_map(|scope| scope.get(name).map(|(_, span)| *span));
        let report = if local.is_some() {
            catalog::names::not_a_function(name, "a variable", callee.span, local, brackets)
        } else {
            let own = self
                .globals
                .iter()
                .filter(|(_, (global, _))| {
                    matches!(global, Global::Function(_) | Global::Struct(_))
                })
                .map(|(name, _)| *name);
            let builtins = table::rows().iter().map(|row| row.name);
            let conversions = super::ty::SCALARS.iter().map(|(name, _)| *name);
            let candidates = builtins.chain(conversions).chain(own);
            let near = self.suggestions.nearest(name, candidates);
            catalog::names::unknown_function(name, callee.span, near)
        };
        self.report(report)
    }

    fn args(&mut self, args: &[ast::Expr], want: Option<&Type>) -> Checked<Vec<ExprId>> {
        let ids: Vec<ExprId> = args.iter().map(|arg| self.expr(arg, want)).collect();
        self.all_sound(&ids)?;
        Ok(ids)
    }

    pub(in crate::check) fn count(
        &mut self,
        callee: &str,
        needed: &str,
        ok: bool,
        found: usize,
        span: Span,
    ) -> Checked<()> {
        if ok {
            return Ok(());
        }
        let signature =
            BuiltinId::find(callee).map(|id| crate::builtin::manual::signature(id.row()));
        Err(self.report(catalog::types::wrong_argument_count(
            callee, needed, found, span, None, signature,
        )))
    }

    /// `Order(1.0, 2.0)`
    fn construct(
        &mut self,
        id: StructId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        let (fields, declared) = (self.model[id].fields.clone(), self.model[id].span);
        if args.len() != fields.len() {
            let needed = plural(fields.len());
            return Err(self.report(catalog::types::wrong_argument_count(
                &callee.text,
                &needed,
                args.len(),
                span,
                Some(declared),
                None,
            )));
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
        let written = args.iter().zip(&fields).map(|(arg, (_, ty))| (arg, ty));
        let copied = self.copied(written);
        if let Some(values) = self.constants(&ids)
            && self.folds(copied, span)?
        {
            let fields = Constant::Many(values.into());
            return Ok(self.constant_node(fields, Type::Struct(id), span));
        }
        Ok(self.node(ExprKind::Compose(ids), Type::Struct(id), span))
    }

    fn call_function(
        &mut self,
        id: FunctionId,
        callee: &ast::Name,
        args: &[ast::Expr],
        span: Span,
    ) -> Checked {
        if self.place == Place::Constant {
            return self.constant_call(id, callee, args, span);
        }
        // Before the signatures are known, only `len` in a constant gets here.
        let Some(function) = self.model.functions.get(id.0 as usize) else {
            return Err(self.not_constant(span));
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
            before_launch: matches!(self.place, Place::InputDefault | Place::InputDraw),
            in_world: self.of_world.then(|| self.place_name()),
            per_agent: self.in_elements,
        });
        if args.len() != params.len() {
            let needed = plural(params.len());
            return Err(self.report(catalog::types::wrong_argument_count(
                &callee.text,
                &needed,
                args.len(),
                span,
                Some(declared),
                None,
            )));
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
        Ok(self.node(ExprKind::Call(id, ids), result, span))
    }

    /// What a call `x(i)` of an array means.
    fn brackets(&self, callee: &ast::Name, args: &[ast::Expr], span: Span) -> Option<Element> {
        let array = matches!(
            self.type_of_value(&callee.text),
            Some(Type::Array(..) | Type::Open(_))
        );
        let [index] = args else { return None };
        if !array {
            return None;
        }
        let before = Span {
            start: callee.span.end,
            end: index.span.start,
        };
        let after = Span {
            start: index.span.end,
            end: span.end,
        };
        let mut edits = vec![(before, "[".to_owned()), (after, "]".to_owned())];
        let index = match index.kind {
            // Where elements stand in parentheses, as in MATLAB and Fortran, the first is 1.
            ast::ExprKind::Int(one_based @ 1..) => {
                edits.push((index.span, (one_based - 1).to_string()));
                (one_based - 1).to_string()
            }
            _ => "…".to_owned(),
        };
        Some((format!("{}[{index}]", callee.text), edits))
    }

    /// The type of the value of that name, if one in scope has it.
    fn type_of_value(&self, name: &str) -> Option<&Type> {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        match local {
            Some((Binding::Local(id), _)) => return Some(&self.model[*id].ty),
            Some((Binding::Constant(_, ty), _)) => return Some(ty),
            None => {}
        }
        match self.globals.get(name)?.0 {
            Global::Const(index) => match &self.consts[index].1 {
                ConstState::Known(_, ty) => Some(ty),
                ConstState::Unknown | ConstState::Running | ConstState::Broken(_) => None,
            },
            Global::Param(id) => (self.model.params.get(id.0 as usize)).map(|param| &param.ty),
            Global::Data(id) => (self.model.data.get(id.0 as usize)).map(|data| &data.ty),
            Global::Input(id) => (self.model.inputs.get(id.0 as usize)).map(|input| &input.ty),
            Global::State(id) => (self.model.states.get(id.0 as usize)).map(|state| &state.ty),
            Global::Function(_) | Global::Struct(_) | Global::Enum(_) | Global::Broken(_) => None,
        }
    }

    /// An argument that must have one certain type.
    fn argument(&mut self, id: ExprId, want: &Type, function: &str, param: &str) -> Checked {
        let id = self.sound(id)?;
        if let Some(adapted) = self.adapt(id, want)? {
            return Ok(adapted);
        }
        if self.ty(id) == want {
            return Ok(id);
        }
        if let Some(reported) = self.whole_number(id, want) {
            return Err(reported);
        }
        let (needed, found, span) = (
            format!("`{}`", self.show(want)),
            self.show(self.ty(id)),
            self.expr_span(id),
        );
        Err(self.report(catalog::types::bad_argument(
            function, param, &needed, &found, span,
        )))
    }
}

pub(super) fn plural(count: usize) -> String {
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
        Global::Broken(_) => "declared twice",
    }
}
