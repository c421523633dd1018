//! The results of a run: outputs and final states by name and type, step counts, and a report.

use crate::{
    adapter::AdapterSummary,
    clock::Stopwatch,
    cpu::vector::Isa,
    error::{Error, Role},
    field::unknown,
    memory,
    results::RawResults,
    series::{Counts, Series},
    statistics::{Statistics, Sums},
    telemetry::Telemetry,
    values::{Column, Element, StepCounts, has_stopped, steps},
};
use sim_compiler::{
    kernel::schedule::Decision,
    manifest::{Field, Manifest},
};
use std::{mem, ops::Deref};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) output_fields: Vec<Field>,
    pub(crate) results: Results,
    /// `None` if states are not kept.
    pub(crate) states: Option<Columns>,
    pub(crate) state_names: Vec<String>,
    /// One row per world.
    pub(crate) world_outputs: Vec<Column>,
    /// `None` if states are not kept.
    pub(crate) world_states: Option<Vec<Column>>,
    pub(crate) series: Vec<Series>,
    pub(crate) report: Report,
}

/// Outputs and step counts.
#[derive(Clone, Debug)]
pub(crate) enum Results {
    /// Of each agent.
    Kept { outputs: Columns, steps: StepCounts },
    /// Of all agents together, if outputs are not kept.
    Summed(Sums),
}

/// Columns of which nobody else has the memory: it is kept for later runs once they are dropped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Columns(Vec<Column>);

impl Columns {
    /// The columns, whose memory is the caller's from now on.
    fn take(mut self) -> Vec<Column> {
        mem::take(&mut self.0)
    }
}

impl Deref for Columns {
    type Target = [Column];

    fn deref(&self) -> &[Column] {
        &self.0
    }
}

impl Drop for Columns {
    fn drop(&mut self) {
        let words = self.0.drain(..).filter_map(|it| it.values.into_words());
        words.for_each(memory::keep);
    }
}

/// Everything that a run has, by kind: see [`Run::into_parts`].
#[derive(Debug)]
pub struct Parts {
    /// The outputs of agents; empty if they are not kept.
    pub outputs: Vec<Column>,
    /// For each agent the number of its steps and whether it stopped, as [`Progress::from_word`] decodes it;
    /// empty if outputs are not kept.
    ///
    /// [`Progress::from_word`]: crate::Progress::from_word
    pub progress: Vec<u32>,
    /// By output of agents its statistics, one per element; `None` if outputs are kept.
    pub statistics: Option<Vec<Vec<Statistics>>>,
    /// The final states; empty if they are not kept.
    pub states: Vec<Column>,
    /// The outputs of worlds.
    pub world_outputs: Vec<Column>,
    /// The final states of worlds; empty if states are not kept.
    pub world_states: Vec<Column>,
    /// All that was recorded and observed.
    pub series: Vec<Series>,
    /// How the run was executed.
    pub report: Report,
}

/// How a run was executed.
#[derive(Clone, Debug)]
pub struct Report {
    /// The device; of several, the first that took part.
    pub backend: Device,
    /// What each of several devices computed of this run; empty if one was asked for.
    pub devices: Vec<DeviceShare>,
    /// Why this backend was chosen, in words.
    pub reason: String,
    /// The number of agents.
    pub agents: u32,
    /// The number of the first agent.
    pub first_agent: u32,
    /// The value of `agents` in the model.
    pub population: u32,
    /// The number of steps.
    pub steps: u32,
    /// The number of worlds; as many as agents where the model has none.
    pub worlds: u32,
    /// The seed of every draw.
    pub seed: u64,
    /// Seconds for compiling the source text; 0 if an artifact was given.
    pub compile_seconds: f64,
    /// Seconds for checking the launch, opening the device and building the kernel; nearly 0 if a run is
    /// repeated.
    pub setup_seconds: f64,
    /// Seconds for the run, transfers included, and statistics where the backend computes them.
    pub run_seconds: f64,
    /// Seconds for the statistics of outputs that the backend held and the caller does not keep; 0 for all
    /// others, whose statistics the backend computes, or [`Run::statistics`] when it is called.
    pub statistics_seconds: f64,
    /// Dispatches of the kernel; 0 on the CPU.
    pub dispatches: u64,
    /// Chunks that the population was split into to fit the device.
    pub chunks: u32,
    /// Whether the statistics were computed without holding all outputs and step counts in host memory: on
    /// the device, or on the CPU block by block.
    pub reduced: bool,
    /// How often all agents were computed. More than once if the CPU reduces outputs, whose quartiles take
    /// several passes.
    pub passes: u32,
    /// Counts and times in detail.
    pub telemetry: Telemetry,
    /// What was decided for the kernel, with reasons; empty on the CPU.
    pub decisions: Vec<Decision>,
}

/// What one of several devices computed of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceShare {
    /// What the caller called it: a number, `cpu`, or a part of a name.
    pub name: String,
    /// The device.
    pub device: Device,
    /// The agents that it computed.
    pub agents: u32,
    /// Seconds that it took, transfers included.
    pub seconds: f64,
    /// Why it computes no more, if it failed: other devices took over.
    pub failure: Option<String>,
}

impl Report {
    /// Adds the next batch of agents of the same population: numbers and times of both.
    pub fn add(&mut self, next: &Report) {
        self.agents += next.agents;
        for (own, next) in self.devices.iter_mut().zip(&next.devices) {
            own.agents += next.agents;
            own.seconds += next.seconds;
            own.failure.clone_from(&next.failure);
        }
        self.worlds += next.worlds;
        self.setup_seconds += next.setup_seconds;
        self.run_seconds += next.run_seconds;
        self.statistics_seconds += next.statistics_seconds;
        self.dispatches += next.dispatches;
        self.chunks += next.chunks;
        self.telemetry.add(&next.telemetry);
    }
}

/// What a model ran on.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// All cores, with this instruction set.
    Cpu(Isa),
    /// The reference interpreter, on all cores.
    Reference,
    /// A GPU or a software adapter.
    Gpu(AdapterSummary),
}

impl Run {
    /// Adds names and types to raw results, and reduces outputs that are not kept.
    pub(crate) fn of(
        manifest: &Manifest,
        raw: RawResults,
        keep_outputs: bool,
        mut report: Report,
    ) -> Run {
        let columns_of = |fields: &[Field], rows: Vec<Vec<u32>>, count: u32| -> Vec<Column> {
            (fields.iter().zip(rows))
                .map(|(field, words)| Column::new(field, count, words))
                .collect()
        };
        let (agents, worlds) = (report.agents, report.worlds);
        let columns = |fields: &[Field], rows| Columns(columns_of(fields, rows, agents));
        let of_worlds = |fields: &[Field], rows| columns_of(fields, rows, worlds);
        let rows = manifest.world_rows();
        let world_outputs = of_worlds(&rows.outputs, raw.world_outputs);
        let world_states = raw
            .world_states
            .map(|states| of_worlds(&rows.states, states));
        let counts = Counts {
            agents: report.agents,
            worlds: report.worlds,
            steps: report.steps,
        };
        let series = (manifest.series.iter().zip(raw.series))
            .map(|(series, words)| Series::of(manifest, series, counts, words));
        let series = series.collect();
        let results = match raw.sums {
            Some(sums) => Results::Summed(sums),
            None => {
                let outputs = columns(&manifest.outputs, raw.outputs);
                let steps = StepCounts::new(raw.progress, agents, report.steps);
                match keep_outputs {
                    true => Results::Kept { outputs, steps },
                    false => {
                        let started = Stopwatch::start();
                        let sums = Sums::of(&outputs, &steps);
                        report.statistics_seconds = started.seconds();
                        Results::Summed(sums)
                    }
                }
            }
        };
        let states = raw.states.map(|rows| columns(&manifest.states, rows));
        let names = manifest.states.iter().chain(&rows.states);
        let names = names.map(|field| field.name.clone());
        Run {
            output_fields: manifest.outputs.clone(),
            results,
            states,
            state_names: names.collect(),
            world_outputs,
            world_states,
            series,
            report,
        }
    }

    /// All that was recorded and observed, in declaration order.
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// What was recorded under a name: values of each agent, of shape `(samples, agents, dimensions…)`.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn record(&self, name: &str) -> Result<&Series, Error> {
        self.series_of(Role::Record, name)
    }

    /// What was observed under a name: of shape `(samples, dimensions…)`, or for `world observe`
    /// `(samples, worlds, dimensions…)`.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn observed(&self, name: &str) -> Result<&Series, Error> {
        self.series_of(Role::Observation, name)
    }

    fn series_of(&self, role: Role, name: &str) -> Result<&Series, Error> {
        let series = self.series.iter().filter(|series| series.role() == role);
        let found = series.clone().find(|series| series.name() == name);
        found.ok_or_else(|| unknown(role, name, series.map(Series::name)))
    }

    /// The values of an output for all agents, or of a world output for all worlds, row by row: `f32`, `i32`,
    /// `u32` (also enums) or `bool`, as declared.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::WrongType`], and [`Error::OutputsNotKept`] if only statistics are
    /// kept.
    pub fn output<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        self.column(name)?.typed(Role::Output)
    }

    /// The values of an output, as [`Run::output`] lends them, without copying them.
    ///
    /// # Errors
    /// Those of [`Run::output`].
    pub fn into_output<T: Element>(self, name: &str) -> Result<Vec<T>, Error> {
        self.into_column(name)?.into_typed(Role::Output)
    }

    /// All outputs, then all world outputs, in declaration order; none of agents if they are not kept.
    pub fn into_outputs(self) -> Vec<Column> {
        let mut all = match self.results {
            Results::Kept { outputs, .. } => outputs.take(),
            Results::Summed(_) => Vec::new(),
        };
        all.extend(self.world_outputs);
        all
    }

    /// Takes the run apart, without copying values.
    pub fn into_parts(self) -> Parts {
        let (outputs, progress, statistics) = match self.results {
            Results::Kept { outputs, steps } => (outputs.take(), steps.into_words(), None),
            Results::Summed(sums) => (Vec::new(), Vec::new(), Some(sums.outputs)),
        };
        Parts {
            outputs,
            progress,
            statistics,
            states: self.states.map(Columns::take).unwrap_or_default(),
            world_outputs: self.world_outputs,
            world_states: self.world_states.unwrap_or_default(),
            series: self.series,
            report: self.report,
        }
    }

    fn into_column(self, name: &str) -> Result<Column, Error> {
        self.column(name)?;
        let mut all = self.into_outputs().into_iter();
        let found = all.find(|column| column.field.name == name);
        Ok(found.expect("it was just found"))
    }

    /// An output or a world output, with its shape.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and [`Error::OutputsNotKept`] if only statistics are kept.
    pub fn column(&self, name: &str) -> Result<&Column, Error> {
        if let Some(column) = self.of_world(name) {
            return Ok(column);
        }
        let at = self.output_at(name)?;
        match &self.results {
            Results::Kept { outputs, .. } => Ok(&outputs[at]),
            Results::Summed(_) => Err(not_kept(format!("output `{name}`"))),
        }
    }

    /// Statistics of an output: one per element, in row-major order, or one for all values if an agent has
    /// more than 16. Available whether outputs are kept or not.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn statistics(&self, name: &str) -> Result<Vec<Statistics>, Error> {
        if let Some(column) = self.of_world(name) {
            return Ok(column.statistics());
        }
        let at = self.output_at(name)?;
        Ok(match &self.results {
            Results::Kept { outputs, .. } => outputs[at].statistics(),
            Results::Summed(sums) => sums.outputs[at].clone(),
        })
    }

    /// The values of a state after the last step for all agents, or of a world state for all worlds, row by
    /// row.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::WrongType`], and [`Error::StatesNotKept`] if states are not kept.
    pub fn state<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        let world = self.world_states().iter();
        if let Some(column) = world.into_iter().find(|column| column.field.name == name) {
            return column.typed(Role::State);
        }
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

    /// The shape `(agents, dimensions…)` of an output or state, `(worlds, dimensions…)` of one of the
    /// world; vectors add a dimension.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn shape(&self, name: &str) -> Result<&[usize], Error> {
        let world = self.world_outputs.iter().chain(self.world_states());
        let mut columns = self.outputs().iter().chain(self.states()).chain(world);
        match columns.find(|column| column.field.name == name) {
            Some(column) => Ok(&column.shape),
            None => Err(match self.output_at(name) {
                Ok(_) => not_kept(format!("output `{name}`")),
                Err(unknown) => unknown,
            }),
        }
    }

    /// The names of all outputs, then of all world outputs, in declaration order.
    pub fn output_names(&self) -> impl Iterator<Item = &str> {
        let world = self.world_outputs.iter().map(|column| &column.field);
        let fields = self.output_fields.iter().chain(world);
        fields.map(|field| field.name.as_str())
    }

    /// All outputs, in declaration order; empty if they are not kept.
    pub fn outputs(&self) -> &[Column] {
        match &self.results {
            Results::Kept { outputs, .. } => outputs,
            Results::Summed(_) => &[],
        }
    }

    /// All final states, in declaration order; empty if they are not kept.
    pub fn states(&self) -> &[Column] {
        self.states.as_deref().unwrap_or_default()
    }

    /// All world outputs, in declaration order.
    pub fn world_outputs(&self) -> &[Column] {
        &self.world_outputs
    }

    /// All final world states, in declaration order; empty if they are not kept.
    pub fn world_states(&self) -> &[Column] {
        self.world_states.as_deref().unwrap_or_default()
    }

    fn of_world(&self, output: &str) -> Option<&Column> {
        (self.world_outputs.iter()).find(|column| column.field.name == output)
    }

    /// The number of steps that each agent ran: all, or fewer if it stopped.
    ///
    /// # Errors
    /// [`Error::OutputsNotKept`] if only statistics are kept.
    pub fn steps(&self) -> Result<impl ExactSizeIterator<Item = u32>, Error> {
        let counts = self.step_counts("the number of its steps")?;
        Ok(counts.words().map(steps))
    }

    /// Whether each agent executed `stop`.
    ///
    /// # Errors
    /// [`Error::OutputsNotKept`] if only statistics are kept.
    pub fn stopped(&self) -> Result<impl ExactSizeIterator<Item = bool>, Error> {
        let counts = self.step_counts("whether it stopped")?;
        Ok(counts.words().map(has_stopped))
    }

    /// The sum of the steps of all agents.
    pub fn agent_steps(&self) -> u64 {
        match &self.results {
            Results::Kept { steps, .. } => steps.agent_steps(),
            Results::Summed(sums) => sums.agent_steps,
        }
    }

    /// The number of agents that executed `stop`.
    pub fn stopped_agents(&self) -> u64 {
        match &self.results {
            Results::Kept { steps, .. } => steps.stopped(),
            Results::Summed(sums) => sums.stopped,
        }
    }

    /// How the run was executed.
    pub fn report(&self) -> &Report {
        &self.report
    }

    fn output_at(&self, name: &str) -> Result<usize, Error> {
        let names = || self.output_fields.iter().map(|field| field.name.as_str());
        let at = names().position(|known| known == name);
        let world = self.world_outputs.iter();
        let all = names().chain(world.map(|column| column.field.name.as_str()));
        at.ok_or_else(|| unknown(Role::Output, name, all))
    }

    fn step_counts(&self, what: &str) -> Result<&StepCounts, Error> {
        match &self.results {
            Results::Kept { steps, .. } => Ok(steps),
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
