//! Worlds of a launch: their size, and their inputs.

use super::{Given, Launch, Settings, in_range, place_inputs, with_interpreter};
use crate::{
    error::Error,
    memory::{Need, zeroed},
};
use sim_compiler::{
    RealType,
    artifact::Artifact,
    builtin::real::Real,
    ir::{Owner, interpret::Interpreter},
    manifest::{MOST_AGENTS, Manifest},
};
use std::sync::Arc;

/// The number of agents in a world; where the model has no worlds, in a unit of what is sampled, or 1.
pub(super) fn members(manifest: &Manifest, settings: &Settings) -> Result<u32, Error> {
    let Some(world) = &manifest.world else {
        return match settings.world {
            Some(_) => Err(Error::NoWorlds),
            None => Ok(manifest.members(None)),
        };
    };
    let members = settings.world.or(world.members);
    let members = members.ok_or(Error::MissingCount { what: "world" })?;
    in_range("world", members.into(), 1, MOST_AGENTS.into())?;
    Ok(members)
}

/// Rejects a launch that would cut a world.
pub(super) fn check(manifest: &Manifest, launch: &Launch) -> Result<(), Error> {
    if manifest.world.is_none() {
        return Ok(());
    }
    let counts = [
        ("the number of agents", launch.agents),
        ("the number of the first agent", launch.first_agent),
        ("the population", launch.population),
    ];
    for (what, count) in counts {
        if !count.is_multiple_of(launch.members) {
            let below = count / launch.members * launch.members;
            return Err(Error::WorldCut {
                what,
                count,
                members: launch.members,
                below,
                above: u64::from(below) + u64::from(launch.members),
            });
        }
    }
    Ok(())
}

/// Lays out the inputs of the worlds: those that the caller gave, and the others as the model computes them.
pub(super) fn fill_inputs(
    artifact: &Artifact,
    settings: &Settings,
    launch: &mut Launch,
) -> Result<(), Error> {
    let rows = artifact.manifest.world_rows();
    let stride = rows.input_words as usize;
    if stride == 0 {
        return Ok(());
    }
    let worlds = launch.worlds();
    let mut need = Need::new(worlds);
    need.each("rows of world inputs", stride as u64);
    need.check()?;
    let mut words = zeroed(worlds as usize * stride)?;
    let given = |name: &str| settings.inputs.get(name);
    let absent = rows
        .inputs
        .iter()
        .filter(|input| given(&input.field.name).is_none());
    let absent: Vec<&str> = absent.map(|input| input.field.name.as_str()).collect();
    let computed = (artifact.program.input_defaults.iter().enumerate())
        .filter(|(_, default)| default.owner == Owner::World)
        .filter(|(_, default)| absent.iter().any(|name| default.is_of(name)));
    let computed: Vec<usize> = computed.map(|(number, _)| number).collect();
    if !computed.is_empty() {
        with_interpreter(artifact, launch, |interpreter| {
            let rows = words.chunks_exact_mut(stride).enumerate();
            let rows = rows.map(|(world, row)| {
                let agent = launch.first_agent + world as u32 * launch.members;
                (agent, row)
            });
            match interpreter.real() {
                RealType::F32 => compute::<f32>(interpreter, &computed, rows),
                RealType::F64 => compute::<f64>(interpreter, &computed, rows),
            }
        })?;
    }
    for input in &rows.inputs {
        if let Some(array) = given(&input.field.name) {
            place_inputs(&[Given::new(input, array, worlds)?], &mut words, stride);
        }
    }
    launch.world_inputs = Arc::new(words);
    Ok(())
}

/// Computes inputs of worlds: of each the number of its first agent, and its row.
fn compute<'a, R: Real>(
    interpreter: &Interpreter<'_>,
    inputs: &[usize],
    rows: impl Iterator<Item = (u32, &'a mut [u32])>,
) {
    let mut machine = interpreter.machine_of::<R, _>(1, || false);
    for (agent, row) in rows {
        for &number in inputs {
            machine.input_default(number, agent, row);
        }
    }
}
