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
    let mut words = Words {
        model,
        structs: vec![None; model.structs.len()],
    };
    let largest = |sizes: &[(u64, Span)]| sizes.iter().copied().max_by_key(|(size, _)| *size);
    let total = |sizes: &[(u64, Span)]| {
        let sizes = sizes.iter().map(|(size, _)| *size);
        sizes.fold(0, u64::saturating_add)
    };
    let params = model.params.iter();
    let params: Vec<(u64, Span)> = params
        .map(|param| (words.of(&param.ty).saturating_mul(4), param.span))
        .collect();
    // Alignment and the block's header take some of it.
    let padding = 64 + 16 * params.len() as u64;
    if let Some((_, span)) = largest(&params)
        && total(&params).saturating_add(padding) > UNIFORM_BYTES
    {
        found.push(catalog::model::too_many_params(total(&params), span));
    }
    let inputs = model.inputs.iter().map(|item| (&item.ty, item.span));
    let states = model.states.iter().map(|item| (&item.ty, item.span));
    let outputs = model.outputs.iter().map(|item| (&item.ty, item.span));
    let rows: [(&str, Vec<_>); 3] = [
        ("the inputs", inputs.collect()),
        ("the states", states.collect()),
        ("the outputs", outputs.collect()),
    ];
    for (what, row) in rows {
        let sizes = row.into_iter().map(|(ty, span)| (words.of(ty), span));
        let sizes: Vec<(u64, Span)> = sizes.collect();
        if let Some((_, span)) = largest(&sizes)
            && total(&sizes) > ROW_WORDS
        {
            found.push(catalog::model::too_large(what, total(&sizes), span));
        }
    }
    for table in &model.data {
        let words = words.of(&table.ty);
        if words > ROW_WORDS {
            found.push(catalog::model::too_large("this table", words, table.span));
        }
    }
    for local in &model.locals {
        let words = words.of(&local.ty);
        if words > ROW_WORDS {
            let what = format!("`{}`", local.name);
            found.push(catalog::model::too_large(&what, words, local.span));
        }
    }
    found.extend(check_variants(model));
    found
}

/// A complaint if the manifest would list too many names of variants: it has those of each value that is an
/// enum.
fn check_variants(model: &Model) -> Option<Diagnostic> {
    let mut names = Names {
        model,
        structs: vec![None; model.structs.len()],
    };
    let params = model.params.iter().map(|item| (&item.ty, item.span));
    let inputs = model.inputs.iter().map(|item| (&item.ty, item.span));
    let states = model.states.iter().map(|item| (&item.ty, item.span));
    let outputs = model.outputs.iter().map(|item| (&item.ty, item.span));
    let data = model.data.iter().map(|item| (&item.ty, item.span));
    let all = params
        .chain(inputs)
        .chain(states)
        .chain(outputs)
        .chain(data);
    let mut sum = 0u64;
    for (ty, span) in all {
        sum = sum.saturating_add(names.of(ty));
        if sum > MOST_VARIANTS {
            return Some(catalog::model::too_many_variants(MOST_VARIANTS, span));
        }
    }
    None
}

/// The names of variants of each struct, found once.
struct Names<'m> {
    model: &'m Model,
    structs: Vec<Option<u64>>,
}

impl Names<'_> {
    fn of(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, _) | Type::Open(element) => self.of(element),
            Type::Enum(id) => self.model[*id].variants.len() as u64,
            Type::Struct(id) => {
                let index = id.0 as usize;
                if let Some(known) = self.structs[index] {
                    return known;
                }
                let fields = self.model[*id].fields.iter();
                let names = fields
                    .map(|(_, ty)| self.of(ty))
                    .fold(0, u64::saturating_add);
                self.structs[index] = Some(names);
                names
            }
            Type::Value(_) | Type::AbstractInt | Type::AbstractFloat | Type::Error(_) => 0,
        }
    }
}

/// The 32-bit words of each struct, found once.
struct Words<'m> {
    model: &'m Model,
    structs: Vec<Option<u64>>,
}

impl Words<'_> {
    /// The 32-bit words of a value; saturates.
    fn of(&mut self, ty: &Type) -> u64 {
        match ty {
            Type::Array(element, length) => self.of(element).saturating_mul(u64::from(*length)),
            Type::Open(element) => self.of(element),
            Type::Struct(id) => {
                let index = id.0 as usize;
                if let Some(known) = self.structs[index] {
                    return known;
                }
                let fields = self.model[*id].fields.iter();
                let words = fields
                    .map(|(_, ty)| self.of(ty))
                    .fold(0, u64::saturating_add);
                self.structs[index] = Some(words);
                words
            }
            Type::Value(ty) => ty.components() as u64,
            Type::Enum(_) | Type::AbstractInt | Type::AbstractFloat | Type::Error(_) => 1,
        }
    }
}

/// Complaints about an optimised program that exceeds what WGSL guarantees.
pub(crate) fn check_program(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let demand = limits::demand(program);
    let mut found = Vec::new();
    if let Some(&first) = demand.variables.unplaced.first() {
        let (bytes, span) = (demand.variables.bytes.into(), program[first].span);
        found.push(catalog::model::too_much_memory(bytes, span));
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
