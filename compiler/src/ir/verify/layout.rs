//! The lists of the program: every variable of a kind stands in its kind's list, once, with a length that
//! the kind may have.

use crate::ir::{Len, Program, Type, Var, VarId, VarKind};

pub(super) fn verify(program: &Program) -> Result<(), String> {
    if program.spans.len() != program.exprs.len() {
        return Err("expressions and spans differ in number".to_owned());
    }
    for var in &program.vars {
        length(var)?;
    }
    let constants: Vec<VarId> = program.constants.iter().map(|(var, _)| *var).collect();
    list(program, &constants, VarKind::Constant)?;
    list(program, &program.params, VarKind::Param)?;
    list(program, &program.data, VarKind::Data)?;
    list(program, &program.inputs, VarKind::Input)?;
    list(program, &program.states, VarKind::State)?;
    list(program, &program.outputs, VarKind::Output)?;
    list(program, &program.world_inputs, VarKind::WorldInput)?;
    list(program, &program.world_states, VarKind::WorldState)?;
    list(program, &program.world_outputs, VarKind::WorldOutput)?;
    for (var, elements) in &program.constants {
        let var = &program[*var];
        let count = elements.len();
        if var.len != Len::Fixed(count as u32) || elements.iter().any(|e| e.ty() != var.ty) {
            return Err(format!("the elements of `{}` do not fit it", var.name));
        }
    }
    let world = [
        &program.world_inputs,
        &program.world_states,
        &program.world_outputs,
    ];
    let agents = [&program.inputs, &program.states, &program.outputs];
    for vars in agents.into_iter().chain(world) {
        rows(program, vars)?;
    }
    Ok(())
}

fn length(var: &Var) -> Result<(), String> {
    let fine = match (var.kind, var.len) {
        (VarKind::Let | VarKind::Index | VarKind::Argument, len) => len == Len::One,
        (VarKind::Constant, Len::Fixed(count)) => count > 0,
        (VarKind::Constant, Len::One | Len::Open { .. }) => false,
        (VarKind::Data, Len::Fixed(count)) => count > 0,
        (VarKind::Data, Len::Open { stride }) => stride > 0,
        // A table of one value has no length, which the language has no way to say but lists may.
        (VarKind::Data, Len::One) => true,
        (
            VarKind::Param
            | VarKind::Input
            | VarKind::State
            | VarKind::Output
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Local,
            len,
        ) => match len {
            Len::One => true,
            Len::Fixed(count) => count > 0,
            Len::Open { .. } => false,
        },
    };
    if fine {
        Ok(())
    } else {
        Err(format!(
            "`{}`, a {:?}, may not have length {:?}",
            var.name, var.kind, var.len
        ))
    }
}

/// Exactly the variables of that kind, each once; a constant that nobody reads any more may be missing.
fn list(program: &Program, listed: &[VarId], kind: VarKind) -> Result<(), String> {
    let mut seen = vec![false; program.vars.len()];
    for &var in listed {
        let Some(mark) = seen.get_mut(var.0 as usize) else {
            return Err(format!("the list of {kind:?}s names variable {}", var.0));
        };
        if std::mem::replace(mark, true) || program[var].kind != kind {
            return Err(format!(
                "`{}` stands twice or wrongly in the list of {kind:?}s",
                program[var].name
            ));
        }
    }
    if kind == VarKind::Constant {
        return Ok(());
    }
    match (program.vars.iter().zip(&seen)).find(|(var, seen)| var.kind == kind && !**seen) {
        Some((var, _)) => Err(format!(
            "`{}` is missing from the list of {kind:?}s",
            var.name
        )),
        None => Ok(()),
    }
}

/// The words of a kind's variables do not overlap.
fn rows(program: &Program, vars: &[VarId]) -> Result<(), String> {
    let words = |ty: Type, len: Len| {
        let count = match len {
            Len::One => 1,
            Len::Fixed(count) => u64::from(count),
            Len::Open { stride } => u64::from(stride),
        };
        count * u64::from(ty.words())
    };
    let mut ranges: Vec<(u64, u64, &str)> = vars
        .iter()
        .map(|&id| {
            let var = &program[id];
            let first = u64::from(var.word);
            (first, first + words(var.ty, var.len), var.name.as_str())
        })
        .collect();
    ranges.sort_unstable();
    match ranges.windows(2).find(|pair| pair[1].0 < pair[0].1) {
        Some(pair) => Err(format!("`{}` and `{}` share words", pair[0].2, pair[1].2)),
        None => Ok(()),
    }
}
