//! Checks whether a model fits: params into a uniform block, rows into buffers, an agent's arrays into
//! private memory, blocks and functions into what WGSL guarantees.

use crate::{
    diagnostic::{Diagnostic, catalog},
    hir::{Model, Type},
    ir::Program,
    kernel::limits,
    span::Span,
};

/// The uniform block that every WebGPU device has.
const UNIFORM_BYTES: u64 = 65_536;
/// With more words per agent than this it is a mistake.
const ROW_WORDS: u64 = 1 << 24;

/// Names of variants in the manifest.
const MOST_VARIANTS: u64 = 1 << 20;

/// Levels of blocks that are accepted. Up to [`limits::NESTING_MAX`] every program is valid for naga and tint
/// whatever is in its blocks; models with simple blocks are valid up to this limit.
const BLOCK_LEVELS: u32 = 56;

/// Complaints about declarations that are too large, before anything is laid out.
pub(crate) fn check(model: &Model) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut words = Amounts::new(model, words_of_leaf, u64::saturating_mul);
    let params = model.params.iter().map(|item| (&item.ty, item.span));
    let inputs = model.inputs.iter().map(|item| (&item.ty, item.span));
    let states = model.states.iter().map(|item| (&item.ty, item.span));
    let outputs = model.outputs.iter().map(|item| (&item.ty, item.span));
    let series = model.series.iter().map(|item| (&item.ty, item.span));
    let data = model.data.iter().map(|item| (&item.ty, item.span));
    let (total, largest) = words.sum(params.clone());
    let bytes = total.saturating_mul(4);
    // Alignment and the block's header take some of it.
    let padding = 64 + 16 * model.params.len() as u64;
    if let Some(span) = largest
        && bytes.saturating_add(padding) > UNIFORM_BYTES
    {
        found.push(catalog::model::too_many_params(bytes, span));
    }
    let rows = [
        ("the inputs", words.sum(inputs.clone())),
        ("the states", words.sum(states.clone())),
        ("the outputs", words.sum(outputs.clone())),
        ("the values of a sample", words.sum(series.clone())),
    ];
    for (what, (total, largest)) in rows {
        if let Some(span) = largest.filter(|_| total > ROW_WORDS) {
            found.push(catalog::model::too_large(what, total, span));
        }
    }
    let tables = data
        .clone()
        .map(|(ty, span)| ("this table".to_owned(), ty, span));
    let locals = model.locals.iter();
    let locals = locals.map(|local| (format!("`{}`", local.name), &local.ty, local.span));
    for (what, ty, span) in tables.chain(locals) {
        let words = words.of(ty);
        if words > ROW_WORDS {
            found.push(catalog::model::too_large(&what, words, span));
        }
    }
    // The manifest has the names of each value that is an enum.
    let mut names = Amounts::new(model, names_of_leaf, |names, _| names);
    let mut sum = 0u64;
    let mut all = params
        .chain(inputs)
        .chain(states)
        .chain(outputs)
        .chain(series)
        .chain(data);
    let too_many = all.find(|(ty, _)| {
        sum = sum.saturating_add(names.of(ty));
        sum > MOST_VARIANTS
    });
    let complaint = |(_, span)| catalog::model::too_many_variants(MOST_VARIANTS, span);
    found.extend(too_many.map(complaint));
    found
}

/// 32-bit words.
fn words_of_leaf(_: &Model, ty: &Type) -> u64 {
    match ty {
        Type::Value(ty) => ty.components() as u64,
        _ => 1,
    }
}

/// Names of variants.
fn names_of_leaf(model: &Model, ty: &Type) -> u64 {
    match ty {
        Type::Enum(id) => model[*id].variants.len() as u64,
        _ => 0,
    }
}

/// An amount that is added up over the fields of structs, that of each struct found once. All saturate.
struct Amounts<'m> {
    model: &'m Model,
    of_leaf: fn(&Model, &Type) -> u64,
    /// That of an array, by that of its elements and their number.
    of_array: fn(u64, u64) -> u64,
    structs: Vec<Option<u64>>,
}

impl<'m> Amounts<'m> {
    fn new(
        model: &'m Model,
        of_leaf: fn(&Model, &Type) -> u64,
        of_array: fn(u64, u64) -> u64,
    ) -> Amounts<'m> {
        Amounts {
            model,
            of_leaf,
            of_array,
            structs: vec![None; model.structs.len()],
        }
    }

    fn of(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, length) => (self.of_array)(self.of(element), u64::from(*length)),
            Type::Open(element) => self.of(element),
            Type::Struct(id) => {
                let index = id.0 as usize;
                if let Some(known) = self.structs[index] {
                    return known;
                }
                let fields = self.model[*id].fields.iter();
                let all = fields
                    .map(|(_, ty)| self.of(ty))
                    .fold(0, u64::saturating_add);
                self.structs[index] = Some(all);
                all
            }
            leaf => (self.of_leaf)(self.model, leaf),
        }
    }

    /// The amount of all these, and the place of the largest.
    fn sum<'t>(&mut self, items: impl Iterator<Item = (&'t Type, Span)>) -> (u64, Option<Span>) {
        let sizes: Vec<(u64, Span)> = items.map(|(ty, span)| (self.of(ty), span)).collect();
        let total = sizes
            .iter()
            .map(|(size, _)| *size)
            .fold(0, u64::saturating_add);
        let largest = sizes.into_iter().max_by_key(|(size, _)| *size);
        (total, largest.map(|(_, span)| span))
    }
}

/// Complaints about an optimised program that exceeds what WGSL guarantees.
pub(crate) fn check_program(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let demand = limits::demand(program);
    let mut found = Vec::new();
    if let Some(&first) = demand.variables.unplaced.first() {
        found.push(catalog::model::too_many_values(program[first].span));
    }
    let spilled = demand.variables.spilled_words(program);
    if let Some(&last) = demand.variables.spilled.last()
        && spilled > ROW_WORDS
    {
        let span = program[last].span;
        found.push(catalog::model::too_large(
            "all arrays of an agent",
            spilled,
            span,
        ));
    }
    if let Some((levels, head)) = demand.deepest
        && levels > BLOCK_LEVELS
    {
        let span = program.span(head);
        found.push(catalog::model::blocks_too_deep(levels, BLOCK_LEVELS, span));
    }
    if demand.members > limits::MEMBERS_MAX
        && let Some(&last) = program.params.last()
    {
        let count = program.params.len();
        found.push(catalog::model::too_many_members(count, program[last].span));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}
