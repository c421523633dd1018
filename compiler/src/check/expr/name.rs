//! Names as values: locals, declarations of the model, variants and launch values.

use crate::{
    builtin::{
        BuiltinId,
        constants::{CONSTANTS, NamedConstant, NamedValue},
    },
    check::{Binding, Checked, Checker, ConstState, Global, Place},
    diagnostic::{Reported, catalog},
    hir::{Constant, DataId, ExprKind, InputId, LocalId, LocalKind, StateId, Type},
    ir::{Launch, Owner, Value},
    span::Span,
    syntax::ast,
};

impl Checker<'_> {
    pub(super) fn name(&mut self, name: &str, span: Span) -> Checked {
        let local = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        if let Some((binding, declared)) = local.cloned() {
            self.note(span, declared);
            return match binding {
                Binding::Local(id) => self.local(id, span),
                Binding::Constant(constant, ty) => Ok(self.constant_node(constant, ty, span)),
            };
        }
        if let Some((global, declared)) = self.globals.get(name).copied() {
            self.note(span, declared);
            return self.global(global, name, declared, span);
        }
        if let Some(owners) = self.variants.get(name) {
            if let [(owner, variant)] = owners[..] {
                self.note_variant(span, owner, variant as usize);
                let variant = Constant::Value(Value::U32(variant));
                return Ok(self.constant_node(variant, Type::Enum(owner), span));
            }
            let names = owners.iter().map(|(id, _)| self.model[*id].name.as_str());
            let owners = catalog::list(names, owners.len());
            let report = catalog::names::ambiguous_variant(name, &owners, span);
            return Err(self.report(report));
        }
        if let Some(constant) = NamedConstant::of(name) {
            let (value, ty) = match constant.value {
                NamedValue::Literal(x) => (Constant::Float(x), Type::AbstractFloat),
                NamedValue::Float(x) => (Constant::Value(Value::F32(x).double()), Type::F32),
            };
            return Ok(self.constant_node(value, ty, span));
        }
        let later = self.later.iter().rev().find_map(|later| later.get(name));
        if let Some(&declared) = later {
            self.note(span, declared);
            return Err(self.report(catalog::names::use_before_declaration(name, span, declared)));
        }
        match name {
            "agent" => self.launch(Launch::Agent, name, span),
            "agents" => self.launch(Launch::Agents, name, span),
            "steps" => self.launch(Launch::Steps, name, span),
            "member" => self.launch(Launch::Member, name, span),
            "world" => Err(self.report(catalog::world::world_as_value(span))),
            _ => Err(self.unknown_name(name, span)),
        }
    }

    /// A number of the launch.
    pub(in crate::check) fn launch(&mut self, launch: Launch, name: &str, span: Span) -> Checked {
        if self.place == Place::Constant {
            return Err(self.not_constant(span));
        }
        if matches!(launch, Launch::Agent | Launch::Member) {
            self.own(name, false, span)?;
        }
        Ok(self.node(ExprKind::Launch(launch), Type::I32, span))
    }

    fn local(&mut self, id: LocalId, span: Span) -> Checked {
        let (ty, kind) = (self.model[id].ty.clone(), self.model[id].kind);
        if self.place == Place::Constant {
            return Err(self.not_constant(span));
        }
        Ok(match kind {
            LocalKind::Step => self.node(ExprKind::Launch(Launch::Step), Type::I32, span),
            LocalKind::Let | LocalKind::Var | LocalKind::Index | LocalKind::Param => {
                self.node(ExprKind::Local(id), ty, span)
            }
        })
    }

    pub(in crate::check) fn not_constant(&mut self, span: Span) -> Reported {
        self.report(catalog::constants::not_constant("this", span))
    }

    fn unknown_name(&mut self, name: &str, span: Span) -> Reported {
        if BuiltinId::find(name).is_some() {
            let what = "a builtin function";
            return self.report(catalog::names::not_a_value(name, what, span));
        }
        if self.outputs.contains(name) {
            return self.report(catalog::names::not_available_here(
                name,
                "an output is evaluated last; nothing reads it",
                self.place_name(),
                span,
            ));
        }
        let near = self.near(name);
        let report = catalog::names::unknown_name(name, span, near.as_deref());
        self.report(report)
    }

    /// The value in scope that is nearly called so.
    pub(in crate::check) fn near(&mut self, name: &str) -> Option<String> {
        let locals = self
            .scopes
            .iter()
            .flat_map(|scope| scope.keys().map(String::as_str));
        let globals = self
            .globals
            .keys()
            .copied()
            .chain(self.variants.keys().copied());
        let builtin = ["agent", "agents", "steps", "member", "true", "false"];
        // `E` is as near to any letter.
        let constants = CONSTANTS.iter().map(|constant| constant.name);
        let constants = constants.filter(|constant| constant.len() > 1);
        let candidates = locals.chain(builtin).chain(constants).chain(globals);
        self.suggestions
            .nearest(name, candidates)
            .map(str::to_owned)
    }

    fn global(&mut self, global: Global, name: &str, declared: Span, span: Span) -> Checked {
        if let Global::Const(index) = global {
            let (constant, ty) = self.const_value(index, span)?;
            return Ok(self.constant_node(constant, ty, span));
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
            | Global::Broken(_) => None,
        };
        if let Some(what) = not_value {
            return Err(self.report(catalog::names::not_a_value(name, what, span)));
        }
        match global {
            Global::Broken(reported) => Err(reported),
            _ if self.place == Place::Constant => Err(self.not_constant(span)),
            Global::Param(id) => match self.model.params.get(id.0 as usize) {
                Some(param) => {
                    let ty = param.ty.clone();
                    Ok(self.node(ExprKind::Param(id), ty, span))
                }
                None => Err(self.not_constant(span)),
            },
            Global::Data(id) => self.data(id, name, span),
            Global::Input(id) => self.input(id, name, span),
            Global::State(id) => self.state(id, name, declared, span),
            Global::Const(_) | Global::Function(_) | Global::Struct(_) | Global::Enum(_) => {
                unreachable!("these were dealt with above")
            }
        }
    }

    fn data(&mut self, id: DataId, name: &str, span: Span) -> Checked {
        if matches!(self.place, Place::InputDefault | Place::InputDraw) {
            return Err(self.report(catalog::names::not_available_here(
                name,
                "a table: inputs are set before any table is read",
                self.place_name(),
                span,
            )));
        }
        let Some(data) = self.model.data.get(id.0 as usize) else {
            return Err(self.not_constant(span));
        };
        let ty = data.ty.clone();
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_data = true;
        }
        Ok(self.node(ExprKind::Data(id), ty, span))
    }

    fn input(&mut self, id: InputId, name: &str, span: Span) -> Checked {
        if matches!(self.place, Place::InputDefault | Place::InputDraw) {
            return Err(self.report(catalog::names::not_available_here(
                name,
                "another input: inputs are set before any agent lives",
                self.place_name(),
                span,
            )));
        }
        // Before the inputs are known, only `len` in a constant gets here.
        let Some(input) = self.model.inputs.get(id.0 as usize) else {
            return Err(self.not_constant(span));
        };
        let ty = input.ty.clone();
        if input.owner == Owner::Agent {
            self.own(name, true, span)?;
        }
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_inputs = true;
        }
        Ok(self.node(ExprKind::Input(id), ty, span))
    }

    fn state(&mut self, id: StateId, name: &str, declared: Span, span: Span) -> Checked {
        match self.place {
            Place::Function(function) => {
                if let Some(reported) = self.states_in_functions.get(&(function, id)) {
                    return Err(*reported);
                }
                let of = self.model[function].name.clone();
                let report = catalog::names::state_in_function(name, &of, span, declared);
                let reported = self.report(report);
                self.states_in_functions.insert((function, id), reported);
                return Err(reported);
            }
            Place::InputDefault | Place::InputDraw | Place::Constant => {
                let place = self.place_name();
                return Err(self.report(catalog::names::not_available_here(
                    name, "a state", place, span,
                )));
            }
            Place::StateInit
            | Place::Init
            | Place::Step
            | Place::Finish
            | Place::Output
            | Place::Sample => {}
        }
        match self.model.states.get(id.0 as usize) {
            Some(state) => {
                let ty = state.ty.clone();
                if state.owner == Owner::Agent {
                    self.own(name, true, span)?;
                }
                Ok(self.node(ExprKind::State(id), ty, span))
            }
            None if self.place == Place::StateInit => {
                Err(self.report(catalog::names::use_before_declaration(name, span, declared)))
            }
            None => Err(self.not_constant(span)),
        }
    }

    /// A `const`, evaluated on first use.
    pub(in crate::check) fn const_value(
        &mut self,
        index: usize,
        span: Span,
    ) -> Checked<(Constant, Type)> {
        let (item, state) = &self.consts[index];
        let ast::ItemKind::Const { name, ty, value } = &item.kind else {
            return Err(self.hole(span));
        };
        match state {
            ConstState::Known(constant, ty) => return Ok((constant.clone(), ty.clone())),
            ConstState::Broken(reported) => return Err(*reported),
            ConstState::Running => {
                return Err(self.report(catalog::names::use_before_declaration(
                    &name.text, span, name.span,
                )));
            }
            ConstState::Unknown => {}
        }
        self.consts[index].1 = ConstState::Running;
        let value = self.outside_evaluation(|checker| checker.evaluate_const(ty.as_ref(), value));
        self.consts[index].1 = match &value {
            Ok((constant, ty)) => ConstState::Known(constant.clone(), ty.clone()),
            Err(reported) => ConstState::Broken(*reported),
        };
        value
    }

    fn evaluate_const(
        &mut self,
        ty: Option<&ast::Type>,
        value: &ast::Expr,
    ) -> Checked<(Constant, Type)> {
        // A constant sees no names of the block that happens to use it first.
        let scopes = std::mem::take(&mut self.scopes);
        let later = std::mem::take(&mut self.later);
        let nodes = self.model.exprs.len();
        let id = self.at_place(Place::Constant, |checker| {
            let want = ty.map(|ty| checker.resolve_type(ty, false));
            match &want {
                Some(want) => checker.value_of(value, want, "the value of this constant", None),
                None => checker.expr(value, None),
            }
        });
        self.scopes = scopes;
        self.later = later;
        let sound = self.sound(id);
        let (constant, ty) = (self.constant(id).cloned(), self.ty(id).clone());
        self.model.exprs.truncate(nodes);
        sound?;
        match constant {
            Some(constant) => Ok((constant, ty)),
            None => Err(self.report(catalog::constants::not_constant("a `const`", value.span))),
        }
    }
}
