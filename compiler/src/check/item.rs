//! Top-level declarations: their names, types and constants, and the model as a whole. What a launch sets
//! and what runs are below.

mod body;
mod launch;
mod series;
mod test;

use super::{Checker, ConstState, Global};
use crate::{
    builtin::{BuiltinId, sampled::FoldOfAgents},
    diagnostic::catalog,
    hir::{DataId, Enum, EnumId, FunctionId, InputId, ParamId, StateId, Struct, StructId},
    manifest::{MOST_AGENTS, MOST_STEPS},
    span::Span,
    syntax::ast,
};
use std::collections::HashMap;

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
        for item in &self.tree.items {
            if let ast::ItemKind::Output { name, .. } = &item.kind {
                self.outputs.insert(&name.text);
            }
        }
        for (number, item) in self.items().enumerate() {
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
                    let id = FunctionId(next("fn"));
                    if number >= self.tree.items.len() {
                        self.prelude_functions.insert(&function.name.text, id);
                        continue;
                    }
                    (&function.name, Global::Function(id))
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
                | ast::ItemKind::World(_)
                | ast::ItemKind::Output { .. }
                | ast::ItemKind::Record { .. }
                | ast::ItemKind::Observe { .. }
                | ast::ItemKind::Init(_)
                | ast::ItemKind::Step { .. }
                | ast::ItemKind::Finish(_)
                | ast::ItemKind::Test(_)
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
        let called = || BuiltinId::find(text).is_some() || FoldOfAgents::of(text).is_some();
        if super::ty::is_built_in(text) || (callable && called()) {
            self.report(catalog::names::builtin_name(text, name.span));
        }
        if let Some((_, first)) = self.globals.get(text).copied() {
            let report = catalog::names::duplicate_declaration(text, name.span, first);
            let reported = self.report(report);
            self.globals.insert(text, (Global::Broken(reported), first));
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
        let spans = variants.iter().map(|variant| variant.span);
        self.notebook.variants.push(spans.collect());
        self.notebook.enums.push(name.span);
        self.model.enums.push(Enum {
            name: name.text.clone(),
            variants: variants
                .iter()
                .map(|variant| variant.text.clone())
                .collect(),
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
            let mut spans = Vec::new();
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
                spans.push(field.name.span);
            }
            self.model.structs[index].fields = checked;
            self.notebook.fields.push(spans);
            index += 1;
        }
        self.check_recursive_structs();
    }

    fn check_recursive_structs(&mut self) {
        let inner = self.structs_of_structs();
        let components = super::graph::components(&inner);
        let mut recursive: Vec<usize> = components
            .iter()
            .filter(|members| members.len() > 1 || inner[members[0]].contains(&members[0]))
            .flatten()
            .copied()
            .collect();
        recursive.sort_unstable();
        let mut reported = None;
        for &index in &recursive {
            let item = &self.model.structs[index];
            let report = catalog::types::recursive_struct(&item.name, item.span);
            reported = Some(self.report(report));
        }
        if let Some(reported) = reported {
            // An infinite struct would hang everything that walks its fields.
            self.break_structs(reported);
            return;
        }
        let order: Vec<usize> = components.into_iter().flatten().collect();
        self.check_fields(&inner, &order);
    }

    pub(super) fn check_constants(&mut self) {
        for index in 0..self.consts.len() {
            let span = self.consts[index].0.span;
            // A complaint is kept with the constant.
            let _ = self.const_value(index, span);
        }
        let mut agents: Option<Span> = None;
        let mut steps: Option<Span> = None;
        let mut world: Option<Span> = None;
        for item in self.items() {
            let (word, value, first) = match &item.kind {
                ast::ItemKind::Agents(value) => ("agents", value, &mut agents),
                ast::ItemKind::Steps(value) => ("steps", value, &mut steps),
                ast::ItemKind::World(value) => ("world", value, &mut world),
                _ => continue,
            };
            if let Some(first) = *first {
                self.report(catalog::model::declared_twice(word, item.span, first));
            }
            *first = Some(item.span);
            let Ok(count) =
                self.scoped(|checker| checker.constant_int(value, &format!("`{word}`")))
            else {
                continue;
            };
            let legal = match word {
                "agents" | "world" => 1..=MOST_AGENTS,
                _ => 0..=MOST_STEPS,
            };
            if !(i64::from(*legal.start())..=i64::from(*legal.end())).contains(&count) {
                let count = count.to_string();
                self.report(catalog::model::bad_count(word, &count, legal, value.span));
                continue;
            }
            match word {
                "agents" => self.model.agents = Some(count as u32),
                "world" => self.model.world = Some(count as u32),
                _ => self.model.steps = Some(count as u32),
            }
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
            && self.model.series.is_empty()
            && self.model.outputs.is_empty()
            && self.model.step.is_empty();
        if empty && !broken && self.complaints.is_empty() {
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
