//! Top-level declarations and blocks.

use super::{Checker, ConstState, Global, Place, flow};
use crate::{
    builtin::BuiltinId,
    diagnostic::catalog,
    hir::{
        self, Constant, Data, DataId, Enum, EnumId, ExprKind, Function, FunctionId, Input, InputId,
        InputSource, LocalKind, Output, Param, ParamId, State, StateId, StepBlock, Struct,
        StructId, Type,
    },
    ir,
    span::Span,
    syntax::ast,
};
use std::collections::{HashMap, HashSet};

/// The prelude's function behind `poisson`; no user can write this name.
pub(super) const POISSON: &str = "__poisson";

impl<'a> Checker<'a> {
    fn items(&self) -> impl Iterator<Item = &'a ast::Item> + use<'a> {
        self.tree.items.iter().chain(&self.prelude.items)
    }

    /// Every name of the top level.
    pub(super) fn declare_items(&mut self) {
        let mut counts: HashMap<&'static str, u32> = HashMap::new();
        let mut next = |kind: &'static str| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            *count - 1
        };
        for item in self.items() {
            let (name, global) = match &item.kind {
                ast::ItemKind::Const { name, .. } => {
                    self.consts.push((item, ConstState::Unknown));
                    (name, Global::Const(self.consts.len() - 1))
                }
                ast::ItemKind::Param { name, .. } => (name, Global::Param(ParamId(next("param")))),
                ast::ItemKind::Data { name, .. } => (name, Global::Data(DataId(next("data")))),
                ast::ItemKind::Input { name, .. } => (name, Global::Input(InputId(next("input")))),
                ast::ItemKind::State { name, .. } => (name, Global::State(StateId(next("state")))),
                ast::ItemKind::Fn(function) => {
                    self.function_items.push(item);
                    (&function.name, Global::Function(FunctionId(next("fn"))))
                }
                ast::ItemKind::Struct { name, .. } => {
                    (name, Global::Struct(StructId(next("struct"))))
                }
                ast::ItemKind::Enum { name, variants } => {
                    let id = EnumId(next("enum"));
                    self.declare_enum(name, variants, id);
                    (name, Global::Enum(id))
                }
                ast::ItemKind::Agents(_)
                | ast::ItemKind::Steps(_)
                | ast::ItemKind::Output { .. }
                | ast::ItemKind::Init(_)
                | ast::ItemKind::Step { .. }
                | ast::ItemKind::Finish(_)
                | ast::ItemKind::Error => continue,
            };
            self.declare_global(name, global);
        }
    }

    fn declare_global(&mut self, name: &'a ast::Name, global: Global) {
        let text = name.text.as_str();
        let callable = matches!(
            global,
            Global::Function(_) | Global::Struct(_) | Global::Enum(_)
        );
        let launch = matches!(text, "agent" | "agents" | "steps");
        if launch
            || super::ty::value_type(text).is_some()
            || (callable && BuiltinId::find(text).is_some())
        {
            self.report(catalog::names::builtin_name(text, name.span));
        }
        if let Some((_, first)) = self.globals.get(text).copied() {
            self.report(catalog::names::duplicate_declaration(
                text, name.span, first,
            ));
            self.globals.insert(text, (Global::Broken, first));
            return;
        }
        self.globals.insert(text, (global, name.span));
    }

    fn declare_enum(&mut self, name: &'a ast::Name, variants: &'a [ast::Name], id: EnumId) {
        let mut first: HashMap<&str, Span> = HashMap::new();
        for (value, variant) in variants.iter().enumerate() {
            if let Some(first) = first.insert(&variant.text, variant.span) {
                self.report(catalog::names::duplicate_declaration(
                    &variant.text,
                    variant.span,
                    first,
                ));
                continue;
            }
            self.variants
                .entry(&variant.text)
                .or_default()
                .push((id, value as u32));
        }
        self.model.enums.push(Enum {
            name: name.text.clone(),
            variants: variants
                .iter()
                .map(|variant| variant.text.clone())
                .collect(),
            span: name.span,
        });
    }

    /// Structs, whose fields may use constants and each other.
    pub(super) fn check_types(&mut self) {
        for item in self.items() {
            if let ast::ItemKind::Struct { name, .. } = &item.kind {
                self.model.structs.push(Struct {
                    name: name.text.clone(),
                    fields: Vec::new(),
                    span: name.span,
                });
            }
        }
        let mut index = 0;
        for item in self.items() {
            let ast::ItemKind::Struct { fields, .. } = &item.kind else {
                continue;
            };
            let mut seen: HashMap<&str, Span> = HashMap::new();
            let mut checked = Vec::new();
            for field in fields {
                if let Some(first) = seen.insert(&field.name.text, field.name.span) {
                    self.report(catalog::names::duplicate_declaration(
                        &field.name.text,
                        field.name.span,
                        first,
                    ));
                    continue;
                }
                let ty = self.resolve_type(&field.ty, false);
                checked.push((field.name.text.clone(), ty));
            }
            self.model.structs[index].fields = checked;
            index += 1;
        }
        self.check_recursive_structs();
    }

    fn check_recursive_structs(&mut self) {
        let count = self.model.structs.len();
        for start in 0..count {
            let mut seen = HashSet::new();
            let mut stack = vec![start];
            let mut circle = false;
            while let Some(index) = stack.pop() {
                for (_, ty) in &self.model.structs[index].fields {
                    let mut ty = ty;
                    while let Type::Array(element, _) = ty {
                        ty = element;
                    }
                    if let Type::Struct(id) = ty {
                        circle |= id.0 as usize == start;
                        if seen.insert(id.0) {
                            stack.push(id.0 as usize);
                        }
                    }
                }
            }
            if circle {
                let item = &self.model.structs[start];
                let report = catalog::types::recursive_struct(&item.name, item.span);
                self.report(report);
            }
        }
        // A struct without end would hang everything that walks its fields.
        if self
            .diagnostics
            .iter()
            .any(|report| report.slug == "recursive_struct")
        {
            for item in &mut self.model.structs {
                item.fields.iter_mut().for_each(|(_, ty)| *ty = Type::Error);
            }
        }
    }

    pub(super) fn check_constants(&mut self) {
        for index in 0..self.consts.len() {
            let span = self.consts[index].0.span;
            self.const_value(index, span);
        }
        let mut agents: Option<Span> = None;
        let mut steps: Option<Span> = None;
        for item in self.items() {
            let (word, value, first) = match &item.kind {
                ast::ItemKind::Agents(value) => ("agents", value, &mut agents),
                ast::ItemKind::Steps(value) => ("steps", value, &mut steps),
                _ => continue,
            };
            if let Some(first) = *first {
                self.report(catalog::model::declared_twice(word, item.span, first));
            }
            *first = Some(item.span);
            let Some(count) =
                self.scoped(|checker| checker.constant_int(value, &format!("`{word}`")))
            else {
                continue;
            };
            let least = i64::from(word == "agents");
            if !(least..=i64::from(i32::MAX)).contains(&count) {
                self.report(catalog::model::bad_count(
                    word,
                    &count.to_string(),
                    value.span,
                ));
                continue;
            }
            match word {
                "agents" => self.model.agents = Some(count as u32),
                _ => self.model.steps = Some(count as u32),
            }
        }
    }

    pub(super) fn check_params(&mut self) {
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
                    let id = checker.typed_value(&name.text, ty.as_ref(), value);
                    let known = checker.constant(id).cloned();
                    if known.is_none() && !checker.is_error(id) {
                        checker.report(catalog::constants::not_constant(
                            "the default of a param",
                            value.span,
                        ));
                    }
                    (checker.ty(id).clone(), known)
                }
                (Some(ty), None) => (checker.resolve_type(ty, false), None),
                (None, None) => {
                    checker.report(catalog::types::missing_type(
                        "a param without a default",
                        name.span,
                    ));
                    (Type::Error, None)
                }
            });
            let range = range.as_ref().and_then(|range| {
                self.param_range(name, &ty, value.as_ref(), default.as_ref(), range)
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
    ) -> Option<[f64; 2]> {
        let mut scalar = ty.clone();
        while let Type::Array(element, _) = scalar {
            scalar = (*element).clone();
        }
        let number = matches!(&scalar, Type::Value(value) if *value != ir::Type::Bool);
        if !number {
            if !scalar.has_error() {
                let report =
                    catalog::model::range_on(&self.show(ty), range.start.span.to(range.end.span));
                self.report(report);
            }
            return None;
        }
        let want = Type::Value(scalar.value().map_or(ir::Type::F32, ir::Type::scalar));
        let mut ends = [0.0; 2];
        for (end, expr) in ends.iter_mut().zip([&range.start, &range.end]) {
            let id = self.at_place(Place::Constant, |checker| {
                checker.expr_of(expr, &want, "an end of the range")
            });
            *end = self.constant(id).and_then(Constant::as_number)?;
        }
        let span = range.start.span.to(range.end.span);
        if ends[1] <= ends[0] {
            self.report(catalog::model::bad_range(ends[0], ends[1], span));
            return None;
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
        Some(ends)
    }

    pub(super) fn check_data(&mut self) {
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

    pub(super) fn check_inputs(&mut self) {
        for item in self.items() {
            let ast::ItemKind::Input { name, ty, source } = &item.kind else {
                continue;
            };
            let written = ty.as_ref().map(|ty| {
                self.at_place(Place::Constant, |checker| checker.resolve_type(ty, false))
            });
            let (ty, source) = match source {
                ast::InputSource::Required => match written {
                    Some(ty) => (ty, InputSource::Required),
                    None => {
                        self.report(catalog::types::missing_type(
                            "an input without a default",
                            name.span,
                        ));
                        (Type::Error, InputSource::Required)
                    }
                },
                ast::InputSource::Default(value) => {
                    let id = self.at_place(Place::InputDefault, |checker| match &written {
                        Some(want) => checker.default_of(value, want),
                        None => checker.typed_value(&name.text, None, value),
                    });
                    (
                        written.unwrap_or_else(|| self.ty(id).clone()),
                        InputSource::Default(id),
                    )
                }
                ast::InputSource::Drawn(value) => self.drawn_input(value, written),
            };
            self.model.inputs.push(Input {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                source,
                span: name.span,
            });
        }
    }

    /// A default of the input's type, or one value for all elements.
    fn default_of(&mut self, value: &ast::Expr, want: &Type) -> hir::ExprId {
        let id = self.expr(value, Some(want));
        let scalar = element_scalar(want);
        let single = matches!(self.ty(id), Type::AbstractInt | Type::AbstractFloat)
            || *self.ty(id) == scalar;
        if single && matches!(want, Type::Array(..)) {
            return self.coerce(id, &scalar, "the default", None);
        }
        self.coerce(id, want, "the default", None)
    }

    fn drawn_input(&mut self, value: &ast::Expr, written: Option<Type>) -> (Type, InputSource) {
        let id = self.at_place(Place::InputDraw, |checker| {
            let want = written.as_ref().map(element_scalar);
            checker.expr(value, want.as_ref())
        });
        if self.is_error(id) {
            return (written.unwrap_or(Type::Error), InputSource::Required);
        }
        let draws = match &self.model[id].kind {
            ExprKind::Draw(..) => true,
            ExprKind::Call(function, _) => self.model[*function].name == POISSON,
            _ => false,
        };
        if !draws {
            self.report(catalog::model::not_a_distribution(value.span));
            return (written.unwrap_or(Type::Error), InputSource::Required);
        }
        let own = self.ty(id).clone();
        let ty = written.unwrap_or_else(|| own.clone());
        let scalar = element_scalar(&ty);
        let floats = matches!(&scalar, Type::Value(value) if value.is_vector()) && own == Type::F32;
        if scalar != own && !floats && !ty.has_error() {
            let report = catalog::types::mismatched_types(
                "the distribution of this input",
                &self.show(&scalar),
                &self.show(&own),
                value.span,
                None,
            );
            self.report(report);
        }
        (ty, InputSource::Drawn(id))
    }

    pub(super) fn check_states(&mut self) {
        for item in self.items() {
            let ast::ItemKind::State { name, ty, value } = &item.kind else {
                continue;
            };
            let init = self.at_place(Place::StateInit, |checker| {
                checker.typed_value(&name.text, ty.as_ref(), value)
            });
            let ty = self.ty(init).clone();
            self.model.states.push(State {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                init,
                span: name.span,
            });
        }
    }

    /// The types of all functions, before any body.
    pub(super) fn check_signatures(&mut self) {
        for item in self.function_items.clone() {
            let ast::ItemKind::Fn(function) = &item.kind else {
                continue;
            };
            let id = FunctionId(self.model.functions.len() as u32);
            let (params, result) = self.at_place(Place::Function(id), |checker| {
                let params = function
                    .params
                    .iter()
                    .map(|param| {
                        let ty = checker.resolve_type(&param.ty, false);
                        checker.declare(&param.name, ty, LocalKind::Param)
                    })
                    .collect();
                let result = match &function.result {
                    Some(ty) => checker.resolve_type(ty, false),
                    None => {
                        checker.report(catalog::control::function_without_result(
                            &function.name.text,
                            function.name.span,
                        ));
                        Type::Error
                    }
                };
                (params, result)
            });
            self.model.functions.push(Function {
                name: function.name.text.clone(),
                doc: item.doc.clone(),
                params,
                result,
                body: Vec::new(),
                draws: false,
                reads_inputs: false,
                span: function.name.span,
            });
        }
    }

    pub(super) fn check_functions(&mut self) {
        for (index, item) in self.function_items.clone().into_iter().enumerate() {
            let ast::ItemKind::Fn(function) = &item.kind else {
                continue;
            };
            let id = FunctionId(index as u32);
            let Some(params) = self
                .model
                .functions
                .get(index)
                .map(|function| function.params.clone())
            else {
                continue;
            };
            let body = self.at_place(Place::Function(id), |checker| {
                for (param, local) in function.params.iter().zip(params) {
                    let scope = checker
                        .scopes
                        .last_mut()
                        .expect("`at_place` has opened a scope");
                    scope.insert(
                        param.name.text.clone(),
                        (super::Binding::Local(local), param.name.span),
                    );
                }
                checker.block(&function.body)
            });
            if !flow::returns(&body) && function.result.is_some() && !ends_in_error(&function.body)
            {
                let end = function.body.span.end as usize;
                let span = Span::new(end.saturating_sub(1), end);
                self.report(catalog::control::missing_return(&function.name.text, span));
            }
            self.model.functions[index].body = body;
        }
    }

    pub(super) fn check_blocks(&mut self) {
        for item in self.items() {
            match &item.kind {
                ast::ItemKind::Init(body) => {
                    let body = self.at_place(Place::Init, |checker| checker.block(body));
                    self.model.init.push(body);
                }
                ast::ItemKind::Step { index, body } => {
                    let block = self.at_place(Place::Step, |checker| {
                        let index = index
                            .as_ref()
                            .map(|name| checker.declare(name, Type::I32, LocalKind::Step));
                        StepBlock {
                            index,
                            body: checker.block(body),
                        }
                    });
                    self.model.step.push(block);
                }
                ast::ItemKind::Finish(body) => {
                    let body = self.at_place(Place::Finish, |checker| checker.block(body));
                    self.model.finish.push(body);
                }
                _ => {}
            }
        }
    }

    pub(super) fn check_outputs(&mut self) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for item in self.items() {
            let ast::ItemKind::Output { name, ty, value } = &item.kind else {
                continue;
            };
            if let Some(first) = seen.insert(&name.text, name.span) {
                self.report(catalog::names::duplicate_declaration(
                    &name.text, name.span, first,
                ));
            }
            let own;
            let value = match value {
                Some(value) => value,
                None => {
                    if !matches!(
                        self.globals.get(name.text.as_str()),
                        Some((Global::State(_) | Global::Broken, _))
                    ) {
                        self.report(catalog::model::output_without_state(&name.text, name.span));
                        continue;
                    }
                    own = ast::Expr {
                        kind: ast::ExprKind::Name(name.text.clone()),
                        span: name.span,
                        depth: 1,
                    };
                    &own
                }
            };
            let value = self.at_place(Place::Output, |checker| {
                checker.typed_value(&name.text, ty.as_ref(), value)
            });
            let ty = self.ty(value).clone();
            self.model.outputs.push(Output {
                name: name.text.clone(),
                doc: item.doc.clone(),
                ty,
                value,
                span: name.span,
            });
        }
    }

    /// A model without anything to run.
    pub(super) fn check_whole(&mut self) {
        let broken = self
            .tree
            .items
            .iter()
            .any(|item| matches!(item.kind, ast::ItemKind::Error));
        let empty = self.model.states.is_empty()
            && self.model.outputs.is_empty()
            && self.model.step.is_empty();
        if empty && !broken && self.diagnostics.is_empty() {
            let span = self
                .tree
                .items
                .first()
                .map(|item| item.span)
                .unwrap_or_default();
            self.report(catalog::model::empty_model(span));
        }
    }
}

fn ends_in_error(block: &ast::Block) -> bool {
    block
        .stmts
        .iter()
        .any(|stmt| matches!(stmt.kind, ast::StmtKind::Error | ast::StmtKind::Return(_)))
        && block.stmts.last().is_some_and(|stmt| {
            matches!(stmt.kind, ast::StmtKind::Error | ast::StmtKind::Return(_))
        })
}

/// The innermost element type of nested arrays.
fn element_scalar(ty: &Type) -> Type {
    match ty {
        Type::Array(element, _) => element_scalar(element),
        other => other.clone(),
    }
}

fn flatten_numbers(constant: &Constant, numbers: &mut Vec<f64>) {
    match constant {
        Constant::Many(values) => values
            .iter()
            .for_each(|value| flatten_numbers(value, numbers)),
        Constant::Value(value) if value.ty().is_float() => {
            numbers.extend(value.floats().iter().map(|float| f64::from(*float)));
        }
        other => numbers.extend(other.as_number()),
    }
}
