//! Agents on the reference interpreter, before all passes, with floats of either type.

use crate::{
    bind::{Launch, with_interpreter_of},
    error::Error,
};
use sim_compiler::{
    artifact::Artifact,
    builtin::real::Real,
    ir::{
        Program, VarId,
        interpret::{Fault, Inputs, Interpreter, Progress, Walk},
    },
    manifest::{Field, Manifest},
};
use std::ops::Range;

/// Agents that run together: one agent, or a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    /// Its place among the groups of the launch.
    place: u32,
    /// Agents of a group; none where agents run alone.
    pub(crate) members: Option<u32>,
}

impl Group {
    /// The group of the agent with that place in the launch.
    pub(crate) fn of(manifest: &Manifest, launch: &Launch, agent: u32) -> Group {
        let members = manifest.world.is_some().then_some(launch.members);
        let place = agent / members.unwrap_or(1);
        Group { place, members }
    }

    /// Groups with about so many agents, spread over the launch.
    pub(crate) fn spread(manifest: &Manifest, launch: &Launch, agents: u32) -> Vec<Group> {
        let members = manifest.world.is_some().then_some(launch.members);
        let each = members.unwrap_or(1).max(1);
        let groups = (launch.agents / each).max(1);
        let count = (agents / each).clamp(1, groups);
        let place = |k: u32| (u64::from(k) * u64::from(groups) / u64::from(count)) as u32;
        (0..count)
            .map(|k| Group {
                place: place(k),
                members,
            })
            .collect()
    }

    /// Places of its agents in the launch.
    pub(crate) fn agents(self) -> Range<u32> {
        let each = self.members.unwrap_or(1);
        self.place * each..(self.place + 1) * each
    }

    /// Begins with the group.
    pub(crate) fn begin<F: Fn() -> bool + Copy, R: Real>(
        self,
        walk: &mut Walk<'_, F, R>,
        manifest: &Manifest,
        launch: &Launch,
    ) -> Result<(), Fault> {
        let row = |rows: &'_ [u32], words: u32, rows_each: usize| {
            let each = words as usize * rows_each;
            let first = self.place as usize * each;
            first.min(rows.len())..(first + each).min(rows.len())
        };
        let each = self.members.unwrap_or(1);
        let rows = row(&launch.inputs, manifest.input_words, each as usize);
        let world = row(&launch.world_inputs, manifest.world_rows().input_words, 1);
        let inputs = Inputs {
            rows: &launch.inputs[rows],
            given: &launch.given,
            world: &launch.world_inputs[world],
            absent: &launch.absent,
        };
        walk.begin(launch.first_agent / each + self.place, &inputs)
    }
}

/// Calls `act` with an interpreter of the program before all passes.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn with_lowered<T>(
    artifact: &Artifact,
    launch: &Launch,
    act: impl FnOnce(&Interpreter<'_>) -> T,
) -> Result<T, Error> {
    with_interpreter_of(&artifact.lowered, artifact, launch, act)
}

/// What ended a walk early, as an error.
pub(crate) fn error(fault: Fault) -> Error {
    match fault {
        Fault::Cancelled => Error::Cancelled,
        Fault::Diverged => panic!("internal error: agents of a world diverge"),
    }
}

/// Results of agents that ran in `f64`.
#[derive(Clone, Debug)]
pub struct DoubleRun {
    /// The numbers of the agents in the population, ascending.
    pub agents: Vec<u32>,
    /// Their outputs, in the order of the manifest.
    pub outputs: Vec<DoubleColumn>,
    /// Their final states.
    pub states: Vec<DoubleColumn>,
    /// The numbers of the worlds; empty without worlds.
    pub worlds: Vec<u32>,
    /// The outputs of these.
    pub world_outputs: Vec<DoubleColumn>,
    /// How many steps each agent ran, and whether it stopped.
    pub progress: Vec<Progress>,
}

/// An output or a state of agents or worlds, in `f64`.
#[derive(Clone, Debug)]
pub struct DoubleColumn {
    /// Its name, type and shape in the model.
    pub field: Field,
    /// The values, one agent or world after another. Integers and truth values are numbers, too.
    pub values: Vec<f64>,
}

impl DoubleColumn {
    /// Columns without values.
    pub(crate) fn empty(fields: &[Field]) -> Vec<DoubleColumn> {
        let column = |field: &Field| DoubleColumn {
            field: field.clone(),
            values: Vec::new(),
        };
        fields.iter().map(column).collect()
    }
}

impl DoubleRun {
    /// Results of no agents yet.
    pub(crate) fn empty(manifest: &Manifest) -> DoubleRun {
        DoubleRun {
            agents: Vec::new(),
            outputs: DoubleColumn::empty(&manifest.outputs),
            states: DoubleColumn::empty(&manifest.states),
            worlds: Vec::new(),
            world_outputs: DoubleColumn::empty(&manifest.world_rows().outputs),
            progress: Vec::new(),
        }
    }

    /// Adds the results of a group that has finished.
    pub(crate) fn add<F: Fn() -> bool + Copy, R: Real>(
        &mut self,
        group: Group,
        (program, launch): (&Program, &Launch),
        walk: &mut Walk<'_, F, R>,
    ) {
        let mut add = |columns: &mut [DoubleColumn], vars: &[VarId], member| {
            for DoubleColumn { field, values } in columns {
                let var = vars.iter().find(|var| program[**var].word == field.word);
                let var = var.expect("every field of a lowered program has a variable");
                values.extend(walk.numbers(member, *var));
            }
        };
        for (member, agent) in group.agents().enumerate() {
            self.agents.push(launch.first_agent + agent);
            add(&mut self.outputs, &program.outputs, member);
            add(&mut self.states, &program.states, member);
        }
        if let Some(members) = group.members {
            self.worlds.push(launch.first_agent / members + group.place);
            add(&mut self.world_outputs, &program.world_outputs, 0);
        }
        let members = group.agents().enumerate();
        (self.progress).extend(members.map(|(member, _)| walk.progress(member)));
    }

    /// Adds the results of agents that follow.
    pub(crate) fn append(&mut self, other: DoubleRun) {
        self.agents.extend(other.agents);
        self.worlds.extend(other.worlds);
        self.progress.extend(other.progress);
        let pairs = [
            (&mut self.outputs, other.outputs),
            (&mut self.states, other.states),
            (&mut self.world_outputs, other.world_outputs),
        ];
        for (columns, others) in pairs {
            for (column, other) in columns.iter_mut().zip(others) {
                column.values.extend(other.values);
            }
        }
    }
}
