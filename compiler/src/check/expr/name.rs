//! Names as values: locals, declarations of the model, variants and launch values.

use crate::{
    builtin::BuiltinId,
    check::{Binding, Checker, ConstState, Global, Place, suggest::nearest},
    diagnostic::catalog,
    hir::{Constant, DataId, ExprId, ExprKind, InputId, LocalId, LocalKind, StateId, Type},
    ir::{Launch, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(super) fn name(&mut self, name: &str, span: Span) -> ExprId {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        if let Some((binding, declared)) = local.cloned() {
            self.note(span, declared);
            return match binding {
                Binding::Local(id) => self.local(id, span),
                Binding::Constant(constant, ty) => self.constant_node(constant, ty, span),
            };
        }
        if let Some((global, declared)) = self.globals.get(name).copied() {
            self.note(span, declared);
            return self.global(global, name, declared, span);
        }
        if let Some(declared) = self
            .later
            .iter()
            .rev()
            .find_map(|later| later.get(name).copied())
        {
            self.note(span, declared);
            self.report(catalog::names::use_before_declaration(name, span, declared));
            return self.error(span);
        }
        if let Some(owners) = self.variants.get(name) {
            if let [(owner, variant)] = owners[..] {
                self.note_variant(span, owner, variant as usize);
                return self.constant_node(
                    Constant::Value(Value::U32(variant)),
                    Type::Enum(owner),
                    span,
                );
            }
            let owners: Vec<&str> = owners
                .iter()
                .map(|(id, _)| self.model[*id].name.as_str())
                .collect();
            let report = catalog::names::ambiguous_variant(name, &owners.join(", "), span);
            self.report(report);
            return self.error(span);
        }
        let launch = match name {
            "agent" => Some(Launch::Agent),
            "agents" => Some(Launch::Agents),
            "steps" => Some(Launch::Steps),
            _ => None,
        };
        if let Some(launch) = launch {
            if self.place == Place::Constant {
                return self.not_constant(span);
            }
            return self.node(ExprKind::Launch(launch), Type::I32, span);
        }
        self.unknown_name(name, span);
        self.error(span)
    }

    fn local(&mut self, id: LocalId, span: Span) -> ExprId {
        let (ty, kind) = (self.model[id].ty.clone(), self.model[id].kind);
        if self.place == Place::Constant {
            return self.not_constant(span);
        }
        match kind {
            LocalKind::Step => self.node(ExprKind::Launch(Launch::Step), Type::I32, span),
            LocalKind::Let | LocalKind::Var | LocalKind::Index | LocalKind::Param => {
                self.node(ExprKind::Local(id), ty, span)
            }
        }
    }

    pub(in crate::check) fn not_constant(&mut self, span: Span) -> ExprId {
        self.report(catalog::constants::not_constant("this", span));
        self.error(span)
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let builtin = BuiltinId::find(name).is_some();
        if builtin {
            return self.report(catalog::names::not_a_value(
                name,
                "a builtin function",
                span,
            ));
        }
        if self.tree.items.iter().any(|item| matches!(&item.kind, ast::ItemKind::Output { name: output, .. } if output.text == name)) {
            return self.report(catalog::names::not_available_here(
                name,
                "an output is evaluated last; nothing reads it",
                self.place.describe(),
                span,
            ));
        }
        let locals = self
            .scopes
            .iter()
            .flat_map(|scope| scope.keys().map(String::as_str));
        let globals = self
            .globals
            .keys()
            .copied()
            .chain(self.variants.keys().copied());
        let near = nearest(
            name,
            locals
                .chain(globals)
                .chain(["agent", "agents", "steps", "true", "false"]),
        );
        let report = catalog::names::unknown_name(name, span, near);
        self.report(report);
    }

    fn global(&mut self, global: Global, name: &str, declared: Span, span: Span) -> ExprId {
        if let Global::Const(index) = global {
            return match self.const_value(index, span) {
                Some((constant, ty)) => self.constant_node(constant, ty, span),
                None => self.error(span),
            };
        }
        if matches!(global, Global::Broken) {
            return self.error(span);
        }
        let not_value = match global {
            Global::Function(_) => Some("a function"),
            Global::Struct(_) => Some("a struct"),
            Global::Enum(_) => Some("an enum"),
            Global::Const(_)
            | Global::Param(_)
            | Global::Data(_)
            | Global::Input(_)
            | Global::State(_)
            | Global::Broken => None,
        };
        if let Some(what) = not_value {
            self.report(catalog::names::not_a_value(name, what, span));
            return self.error(span);
        }
        if self.place == Place::Constant {
            return self.not_constant(span);
        }
        match global {
            Global::Param(id) => match self.model.params.get(id.0 as usize) {
                Some(param) => {
                    let ty = param.ty.clone();
                    self.node(ExprKind::Param(id), ty, span)
                }
                None => self.not_constant(span),
            },
            Global::Data(id) => self.data(id, name, span),
            Global::Input(id) => self.input(id, name, span),
            Global::State(id) => self.state(id, name, declared, span),
            Global::Const(_)
            | Global::Function(_)
            | Global::Struct(_)
            | Global::Enum(_)
            | Global::Broken => self.error(span),
        }
    }

    fn data(&mut self, id: DataId, name: &str, span: Span) -> ExprId {
        if matches!(self.place, Place::InputDefault | Place::InputDraw) {
            self.report(catalog::names::not_available_here(
                name,
                "a table: inputs are set before any table is read",
                self.place.describe(),
                span,
            ));
            return self.error(span);
        }
        let Some(data) = self.model.data.get(id.0 as usize) else {
            return self.not_constant(span);
        };
        let ty = data.ty.clone();
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_data = true;
        }
        self.node(ExprKind::Data(id), ty, span)
    }

    fn input(&mut self, id: InputId, name: &str, span: Span) -> ExprId {
        if matches!(self.place, Place::InputDefault | Place::InputDraw) {
            self.report(catalog::names::not_available_here(
                name,
                "another input: inputs are set before any agent lives",
                self.place.describe(),
                span,
            ));
            return self.error(span);
        }
        // Only `len` in a constant comes here before the inputs are known.
        let Some(input) = self.model.inputs.get(id.0 as usize) else {
            return self.not_constant(span);
        };
        let ty = input.ty.clone();
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_inputs = true;
        }
        self.node(ExprKind::Input(id), ty, span)
    }

    fn state(&mut self, id: StateId, name: &str, declared: Span, span: Span) -> ExprId {
        match self.place {
            Place::Function(_) => {
                self.report(catalog::names::state_in_function(name, span, declared));
                return self.error(span);
            }
            Place::InputDefault | Place::InputDraw | Place::Constant => {
                let place = self.place.describe();
                self.report(catalog::names::not_available_here(
                    name, "a state", place, span,
                ));
                return self.error(span);
            }
            Place::StateInit | Place::Init | Place::Step | Place::Finish | Place::Output => {}
        }
        match self.model.states.get(id.0 as usize) {
            Some(state) => {
                let ty = state.ty.clone();
                self.node(ExprKind::State(id), ty, span)
            }
            None if self.place == Place::StateInit => {
                self.report(catalog::names::use_before_declaration(name, span, declared));
                self.error(span)
            }
            None => self.not_constant(span),
        }
    }

    /// A `const`, evaluated on first use.
    pub(in crate::check) fn const_value(
        &mut self,
        index: usize,
        span: Span,
    ) -> Option<(Constant, Type)> {
        match &self.consts[index].1 {
            ConstState::Known(constant, ty) => return Some((constant.clone(), ty.clone())),
            ConstState::Broken => return None,
            ConstState::Running => {
                let ast::ItemKind::Const { name, .. } = &self.consts[index].0.kind else {
                    return None;
                };
                self.report(catalog::names::use_before_declaration(
                    &name.text, span, name.span,
                ));
                return None;
            }
            ConstState::Unknown => {}
        }
        self.consts[index].1 = ConstState::Running;
        let value = self.evaluate_const(index);
        self.consts[index].1 = match &value {
            Some((constant, ty)) => ConstState::Known(constant.clone(), ty.clone()),
            None => ConstState::Broken,
        };
        value
    }

    fn evaluate_const(&mut self, index: usize) -> Option<(Constant, Type)> {
        let ast::ItemKind::Const { ty, value, .. } = &self.consts[index].0.kind else {
            return None;
        };
        // A constant sees no names of the block that happens to use it first.
        let scopes = std::mem::take(&mut self.scopes);
        let later = std::mem::take(&mut self.later);
        let nodes = self.model.exprs.len();
        let id = self.at_place(Place::Constant, |checker| {
            let want = ty.as_ref().map(|ty| checker.resolve_type(ty, false));
            match &want {
                Some(want) => checker.expr_of(value, want, "the value of this constant"),
                None => checker.expr(value, None),
            }
        });
        self.scopes = scopes;
        self.later = later;
        let failed = self.is_error(id);
        let (constant, ty) = (self.constant(id).cloned(), self.ty(id).clone());
        // The nodes of a comprehension's rounds are many, and nobody reads them again.
        self.model.exprs.truncate(nodes);
        match constant {
            Some(constant) if !failed => Some((constant, ty)),
            None if !failed => {
                self.report(catalog::constants::not_constant("a `const`", value.span));
                None
            }
            _ => None,
        }
    }
}
