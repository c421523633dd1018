//! Populations beyond memory: batch after batch of agents, whose results the caller takes before the next
//! batch is computed.

use super::Simulation;
use crate::{
    bind::{all_inputs, counts, input_dims},
    control::Control,
    error::{Error, Role},
    run::Run,
};
use std::ops::Range;

/// A population that is run in batches of agents.
#[derive(Debug)]
pub struct AgentBatches<'a> {
    /// What was asked for, with the values of all agents.
    whole: &'a Simulation,
    /// The simulation of one batch; it keeps the device and the kernel for the next.
    part: Simulation,
    agents: u32,
    first_agent: u32,
    /// Agents of a world, or 1.
    members: u32,
    steps: u32,
    /// Agents of each batch but the last.
    size: u32,
}

impl Simulation {
    /// The population in batches of at most `size` agents, rounded down to whole worlds, of which there is at
    /// least one in a batch. Each agent has the bits that it has in one run of all: draws and `agents` are
    /// those of the population, for which the kernel is chosen, too.
    ///
    /// # Errors
    /// [`Error::NotInBatches`] for a model that observes or records, whose samples need all agents at once,
    /// and errors of numbers of agents or of the shapes of inputs.
    pub fn agent_batches(&self, size: u32) -> Result<AgentBatches<'_>, Error> {
        let manifest = &self.artifact.manifest;
        if let Some(series) = manifest.series.first() {
            return Err(Error::NotInBatches {
                name: series.field.name.clone(),
            });
        }
        let launch = counts(manifest, &self.settings)?;
        for input in all_inputs(manifest) {
            let of_world = !manifest.inputs.iter().any(|it| std::ptr::eq(it, input));
            let rows = if of_world {
                launch.worlds()
            } else {
                launch.agents
            };
            let field = &input.field;
            if let Some(array) = self.settings.inputs.get(&field.name)
                && !array.is_single()
            {
                array.fit(Role::Input, field, &input_dims(field, rows))?;
            }
        }
        let mut part = Simulation::of(self.artifact.clone(), self.visible.clone());
        part.settings = self.settings.clone();
        part.settings.population = Some(launch.population);
        part.options = self.options.clone();
        part.instruction_set = self.instruction_set;
        part.keep = self.keep;
        Ok(AgentBatches {
            whole: self,
            part,
            agents: launch.agents,
            first_agent: launch.first_agent,
            members: launch.members,
            steps: launch.steps,
            size: (size / launch.members)
                .max(1)
                .saturating_mul(launch.members),
        })
    }
}

impl AgentBatches<'_> {
    /// The number of batches.
    pub fn count(&self) -> u32 {
        self.agents.div_ceil(self.size)
    }

    /// The number of all agents.
    pub fn agents(&self) -> u32 {
        self.agents
    }

    /// The number of all worlds; as many as agents where the model has none.
    pub fn worlds(&self) -> u32 {
        match self.whole.manifest().world {
            Some(_) => self.agents.div_ceil(self.members),
            None => self.agents,
        }
    }

    /// Runs a batch, counted from 0. Progress is that of all of them.
    ///
    /// # Errors
    /// Those of a run.
    ///
    /// # Panics
    /// If there is no such batch.
    pub fn run(&mut self, number: u32, control: &Control<'_>) -> Result<Run, Error> {
        let count = self.count();
        assert!(number < count, "batch {number} of {count}");
        let first = number * self.size;
        let last = first.saturating_add(self.size).min(self.agents);
        let settings = &mut self.part.settings;
        settings.first_agent = self.first_agent + first;
        settings.agents = Some(last - first);
        let manifest = &self.whole.artifact.manifest;
        for (of_world, inputs) in [
            (false, &manifest.inputs),
            (true, &manifest.world_rows().inputs),
        ] {
            let rows = |agent: u32| match of_world {
                true => agent.div_ceil(self.members) as usize,
                false => agent as usize,
            };
            let (part, all): (Range<usize>, usize) = (rows(first)..rows(last), rows(self.agents));
            for input in inputs {
                let name = &input.field.name;
                if let Some(array) = self.whole.settings.inputs.get(name)
                    && !array.is_single()
                {
                    let array = array.rows(part.clone(), all);
                    settings.inputs.insert(name.clone(), array);
                }
            }
        }
        self.part.forget_launch();
        let steps_of = |agents: u32| u64::from(agents) * u64::from(self.steps);
        let (before, all) = (steps_of(first), steps_of(self.agents));
        let progress = |done, _| control.report(before + done, all);
        self.part.run_with(&Control {
            progress: (control.progress).map(|_| &progress as &(dyn Fn(_, _) + Sync)),
            ..*control
        })
    }
}
