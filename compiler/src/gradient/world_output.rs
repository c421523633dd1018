//! Derivatives of outputs of worlds, as those of outputs of agents: each agent has what its world has.

use super::{
    reverse::pruned,
    whole::{assign_copy, assign_each},
};
use crate::{
    Artifact,
    ir::{Expr, Value, VarId, VarKind},
    manifest::Field,
    passes,
    span::Span,
};
use std::collections::HashSet;

/// The model with an output of agents of the name of an output of worlds, which has its values for each agent
/// of the world, and without any output of worlds. None if there is no such output.
pub fn with_output_of_agents(artifact: &Artifact, name: &str) -> Option<Artifact> {
    let mut artifact = artifact.clone();
    let rows = &mut artifact.manifest.world.as_mut()?.rows;
    let field = rows
        .outputs
        .iter()
        .find(|field| field.name == name)?
        .clone();
    rows.outputs.clear();
    let mut program = artifact.lowered.clone();
    let of_world = super::of_word(&program, &program.world_outputs, field.word);
    // Its values are a state of the world now, which agents read.
    let others = std::mem::take(&mut program.world_outputs);
    let others: HashSet<VarId> = others.into_iter().filter(|var| *var != of_world).collect();
    for mut phase in std::mem::take(&mut program.ends) {
        phase.body = pruned(&program, phase.body, &others);
        program.ends.push(phase);
    }
    program.ends.retain(|phase| !phase.body.is_empty());
    for var in others {
        program[var].kind = VarKind::Local;
    }
    program[of_world].kind = VarKind::WorldState;
    program[of_world].word = program.row_words(&program.world_states);
    program.world_states.push(of_world);
    let zero = Value::zero(program[of_world].ty);
    let clears = assign_each(&mut program, of_world, |program, _| {
        program.add(Expr::Literal(zero), Span::default())
    });
    program.init.push(clears);
    let output = program.add_var(program[of_world].clone());
    program[output].kind = VarKind::Output;
    program[output].word = program.row_words(&program.outputs);
    program.outputs.push(output);
    let copies = assign_copy(&mut program, output, of_world);
    program.finish.push(copies);
    let manifest = &mut artifact.manifest;
    let word = program[output].word;
    manifest.outputs.push(Field {
        word,
        ..field.clone()
    });
    manifest.output_words = program.row_words(&program.outputs);
    let rows = &mut manifest.world.as_mut()?.rows;
    rows.states.push(Field {
        word: program[of_world].word,
        ..field
    });
    rows.state_words = program.row_words(&program.world_states);
    rows.output_words = 0;
    crate::ir::verify::debug_verify(&program, "world_output");
    artifact.lowered = program.clone();
    if artifact.options.optimise {
        passes::optimise(&mut program);
    }
    artifact.program = program;
    Some(artifact)
}
