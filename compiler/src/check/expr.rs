//! Expressions: names, literals, arrays, comprehensions, `if` values, indices and fields.

use super::{Binding, Checker, ConstState, Global, Place, suggest::nearest};
use crate::{
    builtin::BuiltinId,
    diagnostic::catalog,
    hir::{Comprehension, Constant, ExprId, ExprKind, LocalKind, Type},
    ir::{self, Launch, Value},
    span::Span,
    syntax::ast,
};
use std::rc::Rc;

/// Comprehensions that are evaluated at compile time may have so many rounds.
const MAX_CONSTANT_ROUNDS: i64 = 1 << 16;

impl Checker<'_> {
    /// Checks an expression. `want` is the type that its place will ask for, where that is known; it only
    /// guides literals, the result may have another type.
    pub(super) fn expr(&mut self, expr: &ast::Expr, want: Option<&Type>) -> ExprId {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.expr_inner(expr, want))
    }

    fn expr_inner(&mut self, expr: &ast::Expr, want: Option<&Type>) -> ExprId {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Int(value) => self.int_literal(*value, span),
            ast::ExprKind::Uint(value) => match u32::try_from(*value) {
                Ok(value) => {
                    self.constant_node(Constant::Value(Value::U32(value)), Type::U32, span)
                }
                Err(_) => {
                    self.report(catalog::constants::constant_out_of_range(
                        &format!("{value}u"),
                        "u32",
                        span,
                    ));
                    self.error(span)
                }
            },
            ast::ExprKind::Float(value) => {
                self.constant_node(Constant::Float(*value), Type::AbstractFloat, span)
            }
            ast::ExprKind::Bool(value) => {
                self.constant_node(Constant::Value(Value::Bool(*value)), Type::BOOL, span)
            }
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Paren(inner) => self.expr(inner, want),
            ast::ExprKind::Unary(op, operand) => self.unary(*op, operand, want, span),
            ast::ExprKind::Binary(op, left, right) => self.binary(*op, left, right, want, span),
            ast::ExprKind::Call { callee, args } => self.call(callee, args, want, span),
            ast::ExprKind::Bitcast { to, value } => self.bitcast(to, value, span),
            ast::ExprKind::Index(base, index) => self.index(base, index, span),
            ast::ExprKind::Field(base, field) => self.field(base, field, span),
            ast::ExprKind::Array(elements) => self.array(elements, want, span),
            ast::ExprKind::Repeat(value, length) => self.repeat(value, length, want, span),
            ast::ExprKind::Comprehension(inner) => self.array_comprehension(inner, want, span),
            ast::ExprKind::Fold { callee, over } => self.fold(callee, over, want, span),
            ast::ExprKind::If {
                branches,
                otherwise,
            } => self.if_value(branches, otherwise, want, span),
            ast::ExprKind::Error => self.error(span),
        }
    }

    fn int_literal(&mut self, value: u64, span: Span) -> ExprId {
        match i64::try_from(value) {
            Ok(value) => self.constant_node(Constant::Int(value), Type::AbstractInt, span),
            Err(_) => {
                self.report(catalog::constants::constant_out_of_range(
                    &value.to_string(),
                    "i32",
                    span,
                ));
                self.error(span)
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> ExprId {
        if let Some((binding, _)) = self.scopes.iter().rev().find_map(|scope| scope.get(name)) {
            return match binding.clone() {
                Binding::Local(id) => self.local(id, span),
                Binding::Constant(constant, ty) => self.constant_node(constant, ty, span),
            };
        }
        if let Some((global, declared)) = self.globals.get(name).copied() {
            return self.global(global, name, declared, span);
        }
        if let Some(declared) = self
            .later
            .iter()
            .rev()
            .find_map(|later| later.get(name).copied())
        {
            self.report(catalog::names::use_before_declaration(name, span, declared));
            return self.error(span);
        }
        if let Some(owners) = self.variants.get(name) {
            if let [(owner, variant)] = owners[..] {
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

    fn local(&mut self, id: crate::hir::LocalId, span: Span) -> ExprId {
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

    pub(super) fn not_constant(&mut self, span: Span) -> ExprId {
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
            Global::Data(id) => match self.model.data.get(id.0 as usize) {
                Some(data) => {
                    let ty = data.ty.clone();
                    self.node(ExprKind::Data(id), ty, span)
                }
                None => self.not_constant(span),
            },
            Global::Input(id) => self.input(id, name, declared, span),
            Global::State(id) => self.state(id, name, declared, span),
            Global::Const(_)
            | Global::Function(_)
            | Global::Struct(_)
            | Global::Enum(_)
            | Global::Broken => self.error(span),
        }
    }

    fn input(&mut self, id: crate::hir::InputId, name: &str, declared: Span, span: Span) -> ExprId {
        if matches!(self.place, Place::InputDefault | Place::InputDraw) {
            self.report(catalog::names::not_available_here(
                name,
                "another input: inputs are set before any agent lives",
                self.place.describe(),
                span,
            ));
            return self.error(span);
        }
        let Some(input) = self.model.inputs.get(id.0 as usize) else {
            self.report(catalog::names::use_before_declaration(name, span, declared));
            return self.error(span);
        };
        let ty = input.ty.clone();
        if let Place::Function(function) = self.place {
            self.model.functions[function.0 as usize].reads_inputs = true;
        }
        self.node(ExprKind::Input(id), ty, span)
    }

    fn state(&mut self, id: crate::hir::StateId, name: &str, declared: Span, span: Span) -> ExprId {
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
            None => {
                self.report(catalog::names::use_before_declaration(name, span, declared));
                self.error(span)
            }
        }
    }

    /// A `const`, evaluated on first use.
    pub(super) fn const_value(&mut self, index: usize, span: Span) -> Option<(Constant, Type)> {
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
        let id = self.at_place(Place::Constant, |checker| {
            let want = ty.as_ref().map(|ty| checker.resolve_type(ty, false));
            match &want {
                Some(want) => checker.expr_of(value, want, "the value of this constant"),
                None => checker.expr(value, None),
            }
        });
        self.scopes = scopes;
        self.later = later;
        if self.is_error(id) {
            return None;
        }
        match self.constant(id).cloned() {
            Some(constant) => Some((constant, self.ty(id).clone())),
            None => {
                self.report(catalog::constants::not_constant("a `const`", value.span));
                None
            }
        }
    }

    fn array(&mut self, elements: &[ast::Expr], want: Option<&Type>, span: Span) -> ExprId {
        if elements.is_empty() {
            self.report(catalog::types::empty_array(span));
            return self.error(span);
        }
        let want = element_of(want);
        let mut ids: Vec<ExprId> = elements
            .iter()
            .map(|element| self.expr(element, want.as_ref()))
            .collect();
        let element = self.common(&mut ids, want.as_ref(), "the elements of an array");
        let ty = Type::Array(Rc::new(element), ids.len() as u32);
        match self.constants(&ids) {
            Some(values) => self.constant_node(Constant::Many(values), ty, span),
            None => self.node(ExprKind::Array(ids), ty, span),
        }
    }

    fn repeat(
        &mut self,
        value: &ast::Expr,
        length: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        let want = element_of(want);
        let mut id = self.expr(value, want.as_ref());
        if let Some(want) = &want {
            id = self.adapt(id, want).unwrap_or(id);
        }
        let Some(length) = self.length(length) else {
            return self.error(span);
        };
        let constant = self.constant(id).cloned();
        if let Some(constant) = constant {
            let ty = Type::Array(Rc::new(self.ty(id).clone()), length);
            if length <= 1 << 16 {
                return self.constant_node(
                    Constant::Many(vec![constant; length as usize]),
                    ty,
                    span,
                );
            }
        }
        let id = self.concrete(id);
        let ty = Type::Array(Rc::new(self.ty(id).clone()), length);
        self.node(ExprKind::Repeat(id), ty, span)
    }

    fn array_comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        if let Some(filter) = &inner.filter {
            self.report(catalog::control::filter_in_array(filter.span));
        }
        let want = element_of(want);
        if self.place == Place::Constant {
            let Some(mut values) = self.constant_rounds(inner, want.as_ref()) else {
                return self.error(span);
            };
            if values.is_empty() {
                self.report(catalog::types::empty_array(span));
                return self.error(span);
            }
            let element = self.common(&mut values, want.as_ref(), "the elements of an array");
            let ty = Type::Array(Rc::new(element), values.len() as u32);
            return match self.constants(&values) {
                Some(values) => self.constant_node(Constant::Many(values), ty, span),
                None => self.not_constant(span),
            };
        }
        let comprehension = self.comprehension(inner, want.as_ref());
        let (start, end) = (
            self.constant(comprehension.start),
            self.constant(comprehension.end),
        );
        let (Some(start), Some(end)) = (
            start.and_then(Constant::as_int),
            end.and_then(Constant::as_int),
        ) else {
            if !self.is_error(comprehension.start) && !self.is_error(comprehension.end) {
                self.report(catalog::constants::range_not_constant(
                    inner.range.start.span.to(inner.range.end.span),
                ));
            }
            return self.error(span);
        };
        if end <= start {
            self.report(catalog::constants::empty_range(
                start,
                end,
                inner.range.start.span.to(inner.range.end.span),
            ));
            return self.error(span);
        }
        if end - start > 1 << 24 {
            self.report(catalog::constants::bad_length(
                &(end - start).to_string(),
                span,
            ));
            return self.error(span);
        }
        let ty = Type::Array(
            Rc::new(self.ty(comprehension.value).clone()),
            (end - start) as u32,
        );
        self.node(ExprKind::Comprehension(Box::new(comprehension)), ty, span)
    }

    /// The parts of a comprehension; its value is concrete.
    pub(super) fn comprehension(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Comprehension {
        let start = self.expr_of(&inner.range.start, &Type::I32, "the start of a range");
        let end = self.expr_of(&inner.range.end, &Type::I32, "the end of a range");
        self.scoped(|checker| {
            let index = checker.declare(&inner.index, Type::I32, LocalKind::Index);
            let filter = inner
                .filter
                .as_ref()
                .map(|filter| checker.expr_of(filter, &Type::BOOL, "a filter"));
            let value = checker.expr(&inner.value, want);
            let value = want
                .and_then(|want| checker.adapt(value, want))
                .unwrap_or(value);
            let value = checker.concrete(value);
            Comprehension {
                index,
                start,
                end,
                filter,
                value,
            }
        })
    }

    /// The values of a comprehension whose index is known at compile time, round by round.
    pub(super) fn constant_rounds(
        &mut self,
        inner: &ast::Comprehension,
        want: Option<&Type>,
    ) -> Option<Vec<ExprId>> {
        let start =
            self.constant_int(&inner.range.start, "the range of a constant comprehension")?;
        let end = self.constant_int(&inner.range.end, "the range of a constant comprehension")?;
        if end - start > MAX_CONSTANT_ROUNDS {
            self.report(catalog::constants::bad_length(
                &(end - start).to_string(),
                inner.range.end.span,
            ));
            return None;
        }
        let mut values = Vec::new();
        for round in start..end {
            let value = self.scoped(|checker| {
                checker.bind(
                    &inner.index,
                    Binding::Constant(Constant::Int(round), Type::AbstractInt),
                );
                if let Some(filter) = &inner.filter {
                    let id = checker.expr_of(filter, &Type::BOOL, "a filter");
                    match checker.constant(id) {
                        Some(Constant::Value(Value::Bool(true))) => {}
                        Some(_) => return Some(None),
                        None => return None,
                    }
                }
                let id = checker.expr(&inner.value, want);
                (!checker.is_error(id)).then_some(Some(id))
            })?;
            values.extend(value);
        }
        Some(values)
    }

    fn if_value(
        &mut self,
        branches: &[(ast::Expr, ast::Expr)],
        otherwise: &ast::Expr,
        want: Option<&Type>,
        span: Span,
    ) -> ExprId {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        for (condition, value) in branches {
            conditions.push(self.expr_of(condition, &Type::BOOL, "the condition of `if`"));
            values.push(self.expr(value, want));
        }
        values.push(self.expr(otherwise, want));
        let constant = self.constant_branch(&conditions);
        let mut ty = self.common(&mut values, want, "the branches of `if`");
        if let Some(chosen) = constant {
            return values[chosen];
        }
        if ty.is_abstract() {
            ty = want
                .filter(|want| super::ty::adapts(&ty, want))
                .cloned()
                .unwrap_or_else(|| ty.default_concrete());
            values = values
                .into_iter()
                .map(|id| self.adapt(id, &ty).unwrap_or(id))
                .collect();
        }
        let otherwise = values.pop().expect("the last branch was pushed above");
        let branches = conditions.into_iter().zip(values).collect();
        self.node(
            ExprKind::If {
                branches,
                otherwise,
            },
            ty,
            span,
        )
    }

    /// Which branch a compile-time `if` takes, if its conditions are constants.
    fn constant_branch(&self, conditions: &[ExprId]) -> Option<usize> {
        for (index, &condition) in conditions.iter().enumerate() {
            match self.constant(condition)? {
                Constant::Value(Value::Bool(true)) => return Some(index),
                _ => continue,
            }
        }
        Some(conditions.len())
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr, span: Span) -> ExprId {
        let base = self.expr(base, None);
        let position = self.expr(index, Some(&Type::I32));
        let before = self.diagnostics.len();
        let position = self.adapt(position, &Type::I32).unwrap_or(position);
        let too_large = self.diagnostics.len() > before;
        let ty = self.ty(base).clone();
        let (element, length) = match &ty {
            Type::Array(element, length) => ((**element).clone(), Some(*length)),
            Type::Open(element) => ((**element).clone(), None),
            Type::Error => return self.error(span),
            Type::Value(_)
            | Type::Struct(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let report = catalog::types::not_an_array(&self.show(&ty), self.expr_span(base));
                self.report(report);
                return self.error(span);
            }
        };
        if !matches!(
            self.ty(position),
            Type::Value(ir::Type::I32 | ir::Type::U32)
        ) {
            if !too_large && !self.is_error(position) {
                let found = self.show(self.ty(position));
                self.report(catalog::types::mismatched_types(
                    "an index", "i32", &found, index.span, None,
                ));
            }
            return self.error(span);
        }
        if let Some(value) = self.constant(position).and_then(Constant::as_int) {
            if value < 0 || length.is_some_and(|length| value >= i64::from(length)) {
                let report = match length {
                    Some(length) => catalog::constants::index_out_of_range(
                        value,
                        length,
                        index.span,
                        self.expr_span(base),
                    ),
                    None => catalog::constants::constant_out_of_range(
                        &value.to_string(),
                        "an index",
                        index.span,
                    ),
                };
                self.report(report);
                return self.error(span);
            }
            if let Some(Constant::Many(values)) = self.constant(base) {
                let value = values[value as usize].clone();
                return self.constant_node(value, element, span);
            }
        }
        let base = self.concrete(base);
        self.node(
            ExprKind::Index(base, position),
            element.default_concrete(),
            span,
        )
    }

    fn field(&mut self, base: &ast::Expr, field: &ast::Name, span: Span) -> ExprId {
        if let Some(id) = self.qualified_variant(base, field, span) {
            return id;
        }
        let base = self.expr(base, None);
        let ty = self.ty(base).clone();
        match &ty {
            Type::Error => self.error(span),
            Type::Struct(id) => {
                let item = &self.model[*id];
                let Some(position) = item.fields.iter().position(|(name, _)| *name == field.text)
                else {
                    let near = nearest(
                        &field.text,
                        item.fields.iter().map(|(name, _)| name.as_str()),
                    );
                    let report =
                        catalog::names::unknown_field(&item.name, &field.text, field.span, near);
                    self.report(report);
                    return self.error(span);
                };
                let field_ty = item.fields[position].1.clone();
                if let Some(Constant::Many(values)) = self.constant(base) {
                    let value = values[position].clone();
                    return self.constant_node(value, field_ty, span);
                }
                self.node(ExprKind::Field(base, position as u32), field_ty, span)
            }
            Type::Value(vector) if vector.is_vector() => {
                match swizzle(&field.text, vector.components()) {
                    Some(components) => self.swizzle(base, components, span),
                    None => {
                        self.report(catalog::names::unknown_field(
                            vector.name(),
                            &field.text,
                            field.span,
                            None,
                        ));
                        self.error(span)
                    }
                }
            }
            Type::Value(_)
            | Type::Array(..)
            | Type::Open(_)
            | Type::Enum(_)
            | Type::AbstractInt
            | Type::AbstractFloat => {
                let report = catalog::types::no_fields(&self.show(&ty), self.expr_span(base));
                self.report(report);
                self.error(span)
            }
        }
    }

    fn swizzle(&mut self, base: ExprId, components: Vec<u8>, span: Span) -> ExprId {
        let ty = Type::Value(ir::Type::float(components.len()));
        if let Some(Constant::Value(value)) = self.constant(base) {
            let floats = value.floats();
            let parts: Vec<f32> = components.iter().map(|&k| floats[k as usize]).collect();
            return self.constant_node(Constant::Value(Value::from_floats(&parts)), ty, span);
        }
        self.node(ExprKind::Swizzle(base, components), ty, span)
    }

    /// `Health.Infected`
    fn qualified_variant(
        &mut self,
        base: &ast::Expr,
        field: &ast::Name,
        span: Span,
    ) -> Option<ExprId> {
        let ast::ExprKind::Name(name) = &base.kind else {
            return None;
        };
        if self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return None;
        }
        let Some((Global::Enum(id), _)) = self.globals.get(name.as_str()) else {
            return None;
        };
        let id = *id;
        let variants = &self.model[id].variants;
        match variants.iter().position(|variant| *variant == field.text) {
            Some(value) => Some(self.constant_node(
                Constant::Value(Value::U32(value as u32)),
                Type::Enum(id),
                span,
            )),
            None => {
                let near = nearest(&field.text, variants.iter().map(String::as_str));
                let report = catalog::names::unknown_variant(name, &field.text, field.span, near);
                self.report(report);
                Some(self.error(span))
            }
        }
    }
}

fn element_of(want: Option<&Type>) -> Option<Type> {
    match want {
        Some(Type::Array(element, _)) => Some((**element).clone()),
        _ => None,
    }
}

/// The components that a swizzle names, if a vector of that size has them.
pub(super) fn swizzle(name: &str, size: usize) -> Option<Vec<u8>> {
    let letters = |set: &str| -> Option<Vec<u8>> {
        name.chars()
            .map(|letter| set.find(letter).filter(|k| *k < size).map(|k| k as u8))
            .collect()
    };
    if name.is_empty() || name.len() > 4 {
        return None;
    }
    letters("xyzw").or_else(|| letters("rgba"))
}
