//! Does a model fit? Params into a uniform block, rows into buffers, an agent's arrays into private
//! memory.

use crate::{
    diagnostic::{Diagnostic, catalog},
    emit,
    hir::{Model, Type},
    ir::{Len, Program, VarKind},
};

/// The uniform block that every WebGPU device has.
const UNIFORM_BYTES: u64 = 65_536;
/// More words per agent than this are no agent.
const ROW_WORDS: u64 = 1 << 24;
/// WGSL guarantees so much for the variables of a function, and as much again for private ones.
const PRIVATE_BYTES: u32 = 8_192;

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
        Type::Enum(_) | Type::AbstractInt | Type::AbstractFloat | Type::Error => 1,
    }
}

/// Refuses a program whose arrays do not fit private memory.
pub(crate) fn check_private(program: &Program) -> Result<(), Vec<Diagnostic>> {
    let bytes = emit::private_bytes(program);
    if bytes <= PRIVATE_BYTES {
        return Ok(());
    }
    let arrays = program
        .vars
        .iter()
        .filter_map(|var| match (var.kind, var.len) {
            (VarKind::Local | VarKind::State | VarKind::Constant, Len::Fixed(length)) => {
                Some((length as usize * var.ty.components(), var.span))
            }
            _ => None,
        });
    let span = arrays
        .max_by_key(|(words, _)| *words)
        .map(|(_, span)| span)
        .unwrap_or_default();
    Err(vec![catalog::model::too_much_memory(
        u64::from(bytes),
        span,
    )])
}
