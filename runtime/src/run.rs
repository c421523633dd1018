//! What a run gives: the outputs and final states by name and type, the steps that every agent ran, and a
//! report of how it was done.

use crate::{
    adapter::AdapterSummary,
    cpu::vector::Isa,
    error::{Error, Role},
    field::unknown,
    results::RawResults,
    statistics::{Statistics, Sums},
    telemetry::Telemetry,
    values::{Column, Element, agent_steps, has_stopped, steps, stopped_agents},
};
use sim_compiler::{
    manifest::{Field, Manifest},
    schedule::Choice,
};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) output_fields: Vec<Field>,
    pub(crate) results: Results,
    /// None if the run was told to leave the states on the device.
    pub(crate) states: Option<Vec<Column>>,
    pub(crate) state_names: Vec<String>,
    pub(crate) report: Report,
}

/// What is known of outputs and step counts.
#[derive(Clone, Debug)]
pub(crate) enum Results {
    /// Those of each agent.
    Kept {
        outputs: Vec<Column>,
        progress: Vec<u32>,
    },
    /// Those of all agents together: the run was told not to keep more.
    Summed(Sums),
}

/// How a run was done.
#[derive(Clone, Debug)]
pub struct Report {
    /// What ran it.
    pub backend: Device,
    /// Why this backend, in words.
    pub reason: String,
    /// Agents of this run.
    pub agents: u32,
    /// Number of the first of them.
    pub first_agent: u32,
    /// What the model calls `agents`.
    pub population: u32,
    /// Steps of the run.
    pub steps: u32,
    /// The seed of every draw.
    pub seed: u64,
    /// Seconds from source text to artifact; 0 for an artifact that was given.
    pub compile_seconds: f64,
    /// Seconds for binding values, opening the device and building the kernel; nearly 0 when a run is
    /// repeated.
    pub setup_seconds: f64,
    /// Seconds for the run itself, with the transfers to and from the device.
    pub run_seconds: f64,
    /// How often the kernel was started; 0 on the CPU.
    pub dispatches: u64,
    /// Parts that the population was split into to fit the device.
    pub chunks: u32,
    /// Whether the statistics were computed without outputs and step counts of all agents in this machine's memory:
    /// by a GPU where they lay, on the CPU block by block.
    pub reduced: bool,
    /// How often all agents were computed: more than once where the CPU reduces outputs, whose quartiles need them
    /// again.
    pub passes: u32,
    /// What it cost in detail.
    pub telemetry: Telemetry,
    /// What was chosen for the kernel, and why; empty on the CPU.
    pub choices: Vec<Choice>,
}

/// What ran a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// All cores, with this instruction set.
    Cpu(Isa),
    /// The reference interpreter, on all cores.
    Reference,
    /// An adapter, which may be software.
    Gpu(AdapterSummary),
}

impl Run {
    /// Gives what came from a backend its names and types. Where that is more than is to be kept of each agent, it
    /// is summed.
    pub(crate) fn of(
        manifest: &Manifest,
        raw: RawResults,
        keep_outputs: bool,
        report: Report,
    ) -> Run {
        let columns = |fields: &[Field], rows: Vec<Vec<u32>>| -> Vec<Column> {
            (fields.iter().zip(rows))
                .map(|(field, words)| Column::new(field, report.agents, words))
                .collect()
        };
        let results = match raw.sums {
            Some(sums) => Results::Summed(sums),
            None => {
                let outputs = columns(&manifest.outputs, raw.outputs);
                let progress = raw.progress;
                match keep_outputs {
                    true => Results::Kept { outputs, progress },
                    false => Results::Summed(Sums::of(&outputs, &progress)),
                }
            }
        };
        let states = raw.states.map(|rows| columns(&manifest.states, rows));
        let names = manifest.states.iter().map(|field| field.name.clone());
        Run {
            output_fields: manifest.outputs.clone(),
            results,
            states,
            state_names: names.collect(),
            report,
        }
    }

    /// An output of all agents, row by row: `f32`, `i32`, `u32` (also enums) or `bool` as the model has it.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::WrongType`], and [`Error::OutputsNotKept`] if the run was told to keep
    /// statistics only.
    pub fn output<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        let at = self.output_at(name)?;
        match &self.results {
            Results::Kept { outputs, .. } => outputs[at].typed(Role::Output),
            Results::Summed(_) => Err(not_kept(format!("output `{name}`"))),
        }
    }

    /// Statistics of an output: one for each element, in the order of its row, or one for all of its values if an
    /// agent has more than 16. They are known whether the outputs were kept or not.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn statistics(&self, name: &str) -> Result<Vec<Statistics>, Error> {
        let at = self.output_at(name)?;
        Ok(match &self.results {
            Results::Kept { outputs, .. } => outputs[at].statistics(),
            Results::Summed(sums) => sums.outputs[at].clone(),
        })
    }

    /// A state of all agents after the last step, row by row.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::WrongType`], and [`Error::StatesNotKept`] if the run was told not to
    /// read the states back.
    pub fn state<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        match &self.states {
            Some(states) => find(Role::State, states, name)?.typed(Role::State),
            None if self.state_names.iter().any(|known| known == name) => {
                Err(Error::StatesNotKept {
                    name: name.to_owned(),
                })
            }
            None => Err(unknown(
                Role::State,
                name,
                self.state_names.iter().map(String::as_str),
            )),
        }
    }

    /// The shape `(agents, dimensions…)` of an output, or else of a state; vectors add a dimension.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn shape(&self, name: &str) -> Result<&[usize], Error> {
        let mut columns = self.outputs().iter().chain(self.states());
        match columns.find(|column| column.field.name == name) {
            Some(column) => Ok(&column.shape),
            None => Err(match self.output_at(name) {
                Ok(_) => not_kept(format!("output `{name}`")),
                Err(unknown) => unknown,
            }),
        }
    }

    /// All outputs, in the model's order; none if they were not kept.
    pub fn outputs(&self) -> &[Column] {
        match &self.results {
            Results::Kept { outputs, .. } => outputs,
            Results::Summed(_) => &[],
        }
    }

    /// All final states, in the model's order; none if they were not read back.
    pub fn states(&self) -> &[Column] {
        self.states.as_deref().unwrap_or_default()
    }

    /// Steps that each agent really ran: all, or fewer where the model says `stop`.
    ///
    /// # Errors
    /// [`Error::OutputsNotKept`] if the run was told to keep statistics only.
    pub fn steps(&self) -> Result<impl ExactSizeIterator<Item = u32>, Error> {
        let progress = self.progress("the number of its steps")?;
        Ok(progress.iter().copied().map(steps))
    }

    /// Whether each agent has stopped by itself.
    ///
    /// # Errors
    /// [`Error::OutputsNotKept`] if the run was told to keep statistics only.
    pub fn stopped(&self) -> Result<impl ExactSizeIterator<Item = bool>, Error> {
        let progress = self.progress("whether it stopped")?;
        Ok(progress.iter().copied().map(has_stopped))
    }

    /// Steps that all agents ran together.
    pub fn agent_steps(&self) -> u64 {
        match &self.results {
            Results::Kept { progress, .. } => agent_steps(progress.iter().copied()),
            Results::Summed(sums) => sums.agent_steps,
        }
    }

    /// How many agents have stopped by themselves.
    pub fn stopped_agents(&self) -> u64 {
        match &self.results {
            Results::Kept { progress, .. } => stopped_agents(progress.iter().copied()),
            Results::Summed(sums) => sums.stopped,
        }
    }

    /// How the run was done.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn output_at(&self, name: &str) -> Result<usize, Error> {
        let names = || self.output_fields.iter().map(|field| field.name.as_str());
        let at = names().position(|known| known == name);
        at.ok_or_else(|| unknown(Role::Output, name, names()))
    }

    fn progress(&self, what: &str) -> Result<&[u32], Error> {
        match &self.results {
            Results::Kept { progress, .. } => Ok(progress),
            Results::Summed(_) => Err(not_kept(what.to_owned())),
        }
    }
}

fn not_kept(what: String) -> Error {
    Error::OutputsNotKept { what }
}

fn find<'a>(role: Role, columns: &'a [Column], name: &str) -> Result<&'a Column, Error> {
    columns
        .iter()
        .find(|column| column.field.name == name)
        .ok_or_else(|| {
            unknown(
                role,
                name,
                columns.iter().map(|column| column.field.name.as_str()),
            )
        })
}
