//! What the checker records for editors: which declaration each name refers to.

use super::{Checker, ConstState, hir};
use crate::{
    hir::{Constant, EnumId, StructId, Type},
    names::{Members, Notes},
    span::Span,
    syntax::ast,
};

/// The notes, and what is needed to record them.
#[derive(Default)]
pub(super) struct Notebook {
    /// Nothing is recorded unless it was asked for.
    pub(super) open: bool,
    /// The names of the variants of each enum and the fields of each struct.
    pub(super) variants: Vec<Vec<Span>>,
    pub(super) fields: Vec<Vec<Span>>,
    pub(super) enums: Vec<Span>,
    pub(super) notes: Notes,
}

impl Checker<'_> {
    /// The name at a place is that of the declaration there.
    pub(super) fn note(&mut self, place: Span, declared: Span) {
        if self.notebook.open {
            self.notebook.notes.uses.insert(place, declared);
        }
    }

    pub(super) fn note_variant(&mut self, place: Span, owner: EnumId, value: usize) {
        let variants = self.notebook.variants.get(owner.0 as usize);
        if let Some(declared) = variants.and_then(|variants| variants.get(value)).copied() {
            self.note(place, declared);
        }
    }

    pub(super) fn note_field(&mut self, place: Span, owner: StructId, position: usize) {
        let fields = self.notebook.fields.get(owner.0 as usize);
        if let Some(declared) = fields.and_then(|fields| fields.get(position)).copied() {
            self.note(place, declared);
        }
    }

    /// The type of the declaration whose name stands there.
    pub(super) fn note_type(&mut self, declared: Span, ty: &Type) {
        if self.notebook.open && !ty.has_error() {
            let text = self.show(ty);
            self.notebook.notes.types.insert(declared, text);
        }
    }

    fn note_value(&mut self, declared: Span, value: &Constant, ty: &Type) {
        let text = hir::print::plain(value, ty, &self.model);
        self.notebook.notes.values.insert(declared, text);
    }

    /// A division of integers that are known when the model is compiled.
    pub(super) fn note_division(&mut self, place: Span, a: i64, b: i64) {
        if self.notebook.open && a.checked_rem(b).is_some_and(|rest| rest != 0) {
            self.notebook.notes.divisions.push((place, a / b));
        }
    }

    /// An integer that is known when the model is compiled, and becomes a float.
    pub(super) fn note_float(&mut self, place: Span) {
        if self.notebook.open {
            self.notebook.notes.floats.push(place);
        }
    }

    /// What the value before a `.` has behind it.
    pub(super) fn note_members(&mut self, place: Span, ty: &Type) {
        if !self.notebook.open {
            return;
        }
        let members = match ty {
            Type::Struct(id) => Members::Of(self.model[*id].span),
            Type::Value(value) if value.is_vector() => Members::Components(value.components()),
            Type::Agent => Members::OfAgent,
            _ => return,
        };
        self.notebook.notes.members.insert(place, members);
    }

    /// The name at a place stands behind `world`.
    pub(super) fn note_world(&mut self, place: Span) {
        if self.notebook.open {
            let members = &mut self.notebook.notes.members;
            members.insert(place, Members::OfWorld);
        }
    }

    /// What stands behind the name of an enum.
    pub(super) fn note_enum(&mut self, place: Span, owner: EnumId) {
        if let Some(declared) = self.notebook.enums.get(owner.0 as usize).copied() {
            let members = &mut self.notebook.notes.members;
            members.insert(place, Members::Of(declared));
        }
    }

    /// The notes, completed with the types of the declarations of the top level.
    pub(super) fn take_notes(&mut self) -> Notes {
        for (item, state) in std::mem::take(&mut self.consts) {
            if let (ast::ItemKind::Const { name, .. }, ConstState::Known(value, ty)) =
                (&item.kind, state)
            {
                self.note_type(name.span, &ty);
                self.note_value(name.span, &value, &ty);
            }
        }
        for item in std::mem::take(&mut self.model.params) {
            self.note_type(item.span, &item.ty);
            if let Some(default) = &item.default {
                self.note_value(item.span, default, &item.ty);
            }
        }
        let (data, inputs) = (&mut self.model.data, &mut self.model.inputs);
        let (states, outputs) = (&mut self.model.states, &mut self.model.outputs);
        let mut types: Vec<(Span, Type)> = Vec::new();
        types.extend(data.drain(..).map(|item| (item.span, item.ty)));
        types.extend(inputs.drain(..).map(|item| (item.span, item.ty)));
        // `output x` stands at the same place as its name's use; a state is declared elsewhere.
        types.extend(outputs.drain(..).map(|item| (item.span, item.ty)));
        types.extend(states.drain(..).map(|item| (item.span, item.ty)));
        let functions = self.model.functions.drain(..);
        types.extend(functions.map(|item| (item.span, item.result)));
        let structs = self.model.structs.iter().zip(&self.notebook.fields);
        for (item, spans) in structs {
            let fields = item.fields.iter().zip(spans);
            types.extend(fields.map(|((_, ty), span)| (*span, ty.clone())));
        }
        for (span, ty) in types {
            self.note_type(span, &ty);
        }
        std::mem::take(&mut self.notebook.notes)
    }
}
