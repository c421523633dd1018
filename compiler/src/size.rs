//! Does a model fit? Params into a uniform block, rows into buffers, an agent's arrays into private
//! memory, blocks and functions into what WGSL guarantees.

use crate::{
    diagnostic::{Diagnostic, catalog},
    emit::limits,
    hir::{Model, Type},
    ir::Program,
};

/// The uniform block that every WebGPU device has.
const UNIFORM_BYTES: u64 = 65_536;
/// More words per agent than this are no agent.
const ROW_WORDS: u64 = 1 << 24;

/// Levels of blocks that are accepted. Up to [`limits::NESTING_MAX`] every program is valid for naga and
/// tint whatever its blocks hold; models with plain blocks go on to be valid up to here.
const BLOCK_LEVELS: u32 = 56;

/// Levels of blocks through which the passes can walk. What folds away is counted here, unlike there.
const WALKED_LEVELS: u32 = 1_000;

/// Complaints about declarations that are too large, before anything is laid out.
pub(crate) fn check(model: &Model) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let params: u64 = model
        .params
        .iter()
        .map(|param| words(model, &param.ty).saturating_mul(4))
        .fold(0, u64::saturating_add);
    // Alignment and the block's header take some of it.
    let padding = 64 + 16 * model.params.len() as u64;
    if let Some(largest) = model
        .params
        .iter()
        .max_by_key(|param| words(model, &param.ty))
        && params.saturating_add(padding) > UNIFORM_BYTES
    {
        found.push(catalog::model::too_many_params(params, largest.span));
    }
    let inputs = model
        .inputs
        .iter()
        .map(|item| ("the inputs", &item.ty, item.span))
        .collect();
    let states = model
        .states
        .iter()
        .map(|item| ("the states", &item.ty, item.span))
        .collect();
    let outputs = model
        .outputs
        .iter()
        .map(|item| ("the outputs", &item.ty, item.span))
        .collect();
    let data = model
        .data
        .iter()
        .map(|item| ("this table", &item.ty, item.span));
    let rows: [Vec<_>; 3] = [inputs, states, outputs];
    for row in rows {
        let sum = row
            .iter()
            .map(|(_, ty, _)| words(model, ty))
            .fold(0, u64::saturating_add);
        if let Some((what, _, span)) = row.iter().max_by_key(|(_, ty, _)| words(model, ty))
            && sum > ROW_WORDS
        {
            found.push(catalog::model::too_large(what, sum, *span));
        }
    }
    for (what, ty, span) in data {
        let words = words(model, ty);
        if words > ROW_WORDS {
            found.push(catalog::model::too_large(what, words, span));
        }
    }
    for local in &model.locals {
        let words = words(model, &local.ty);
        if words > ROW_WORDS {
            found.push(catalog::model::too_large(
                &format!("`{}`", local.name),
                words,
                local.span,
            ));
        }
    }
    found
}

/// The 32-bit words of a value; saturates.
fn words(model: &Model, ty: &Type) -> u64 {
    match ty {
        Type::Array(element, length) => words(model, element).saturating_mul(u64::from(*length)),
        Type::Open(element) => words(model, element),
        Type::Struct(id) => model[*id]
            .fields
            .iter()
            .map(|(_, ty)| words(model, ty))
            .fold(0, u64::saturating_add),
        Type::Value(ty) => ty.components() as u64,
        Type::Enum(_) | Type::AbstractInt | Type::AbstractFloat | Type::Error(_) => 1,
    }
}

/// Complaints about a program through which the passes cannot walk.
pub(crate) fn check_lowered(program: &Program) -> Result<(), Vec<Diagnostic>> {
    too_deep(program, WALKED_LEVELS).map_or(Ok(()), |complaint| Err(vec![complaint]))
}

/// A complaint about blocks that lie more than `most` levels within one another.
fn too_deep(program: &Program, most: u32) -> Option<Diagnostic> {
    let (levels, head) = limits::deepest(program).filter(|(levels, _)| *levels > most)?;
    let span = program.span(head);
    Some(catalog::model::blocks_too_deep(levels, BLOCK_LEVELS, span))
}

/// Complaints about an optimised program that is beyond what WGSL guarantees.
pub(crate) fn check_program(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    if let Some(&first) = limits::place(program).unplaced.first() {
        let bytes = u64::from(limits::private_bytes(program));
        found.push(catalog::model::too_much_memory(bytes, program[first].span));
    }
    found.extend(too_deep(program, BLOCK_LEVELS));
    if limits::members(program) > limits::MEMBERS_MAX
        && let Some(&last) = program.params.last()
    {
        let count = program.params.len();
        found.push(catalog::model::too_many_members(count, program[last].span));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}
