//! Runs that are cut between steps.

use super::{Simulation, execute::Asked};
use crate::{
    array::Array,
    control::Control,
    cut::Saved,
    error::{Error, Role},
    field::unknown,
    run::Run,
    snapshot::{Snapshot, joined},
    values::{Column, Values},
    variation::Variation,
};
use sim_compiler::{artifact::Artifact, manifest::Field};
use std::ops::AddAssign;

impl Simulation {
    /// Begins a run that can be cut: before its first step, and before `init`.
    ///
    /// ```
    /// use sim_runtime::{Control, Simulation, Values};
    ///
    /// let source = "agents 4 steps 100 state x = agent step { x += 1 } output x";
    /// let simulation = Simulation::compile(source)?;
    /// let control = Control::default();
    /// let mut snapshot = simulation.begin()?;
    /// simulation.advance(&mut snapshot, 40, &control)?;
    /// assert_eq!(simulation.state_of(&snapshot, "x")?.values, Values::I32(vec![40, 41, 42, 43]));
    /// let run = simulation.finish(snapshot, &control)?;
    /// assert_eq!(run.output::<i32>("x")?, [100, 101, 102, 103]);
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the values of the launch, and [`Error::NotOnDevices`].
    pub fn begin(&self) -> Result<Snapshot, Error> {
        if self.options.devices.is_some() {
            return Err(Error::NotOnDevices {
                what: "a run in parts",
            });
        }
        let (_, identity) = self.identified()?;
        Ok(Snapshot::begin(identity))
    }

    /// Runs all agents up to the step `until`, exclusive, which lies before the last one: the last step and
    /// `finish` belong to [`Simulation::finish`]. If it fails, the snapshot is as it was.
    /// [`Control::progress`] gets the agent-steps of the whole run, those before the snapshot included.
    ///
    /// # Errors
    /// [`Error::SnapshotModel`], [`Error::SnapshotDiffers`] and [`Error::SnapshotDevice`] if
    /// the snapshot belongs elsewhere, [`Error::CutOutOfRange`], and those of
    /// [`Simulation::run`].
    pub fn advance(
        &self,
        snapshot: &mut Snapshot,
        until: u32,
        control: &Control<'_>,
    ) -> Result<(), Error> {
        self.check(snapshot)?;
        let (step, steps) = (snapshot.step(), snapshot.steps());
        if until < step || until >= steps {
            return Err(Error::CutOutOfRange { until, step, steps });
        }
        let (mut found, whole) = (None, [Variation::new()]);
        let asked = Asked::part(&whole, snapshot, until, control);
        self.run_asked(asked, &mut |_, raw, reports| {
            let seconds = reports.seconds();
            found = Some((raw, reports.device().clone(), seconds));
        })?;
        let Some((raw, device, seconds)) = found else {
            return Err(Error::Cancelled);
        };
        snapshot.spent.seconds += seconds;
        snapshot.spent.dispatches += raw.dispatches;
        let saved = raw.saved.expect("the run is cut");
        snapshot.take(saved, raw.series, &device);
        Ok(())
    }

    /// Runs the steps that are left, and gives the results of the whole run. Its report counts the seconds
    /// and dispatches of all parts; the telemetry is that of the last one. A snapshot that may be needed
    /// after an error must be cloned before.
    ///
    /// # Errors
    /// As of [`Simulation::advance`].
    pub fn finish(&self, mut snapshot: Snapshot, control: &Control<'_>) -> Result<Run, Error> {
        self.check(&snapshot)?;
        let mut series = match snapshot.step() {
            0 => Vec::new(),
            _ => std::mem::take(&mut snapshot.saved.series),
        };
        let (mut done, whole) = (None, [Variation::new()]);
        let asked = Asked::part(&whole, &snapshot, snapshot.steps(), control);
        self.run_asked(asked, &mut |number, mut raw, reports| {
            raw.series = joined(std::mem::take(&mut series), raw.series);
            let mut run = reports.run(number, raw);
            run.report.run_seconds += snapshot.spent.seconds;
            run.report.dispatches += snapshot.spent.dispatches;
            done = Some(run);
        })?;
        done.ok_or(Error::Cancelled)
    }

    /// Checks that a snapshot belongs to the launch.
    fn check(&self, snapshot: &Snapshot) -> Result<(), Error> {
        let (launch, identity) = self.identified()?;
        snapshot.check(&self.artifact, &launch, &identity)
    }

    /// A state of all agents, or of all worlds, where a run was cut.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and [`Error::NotBegun`] before the first call of [`Simulation::advance`].
    pub fn state_of(&self, snapshot: &Snapshot, name: &str) -> Result<Column, Error> {
        snapshot.check_model(&self.artifact)?;
        state_column(&self.artifact, &snapshot.saved, name)
    }

    /// Takes the numbers of agents and steps, the seed and the params of a snapshot, so that the run can go
    /// on. Tables and inputs are not part of it: the caller sets them again, and they are compared.
    ///
    /// # Errors
    /// [`Error::SnapshotModel`], [`Error::SnapshotDiffers`]
    pub fn set_from(&mut self, snapshot: &Snapshot) -> Result<(), Error> {
        snapshot.check_model(&self.artifact)?;
        self.set_agents(snapshot.agents());
        self.set_first_agent(snapshot.first_agent());
        self.set_population(snapshot.population());
        self.set_steps(snapshot.steps());
        self.set_seed(snapshot.seed());
        let artifact = std::sync::Arc::clone(&self.artifact);
        if artifact.manifest.world.is_some() {
            self.set_world(snapshot.members());
        }
        for param in &artifact.manifest.params {
            let field = &param.field;
            let words = snapshot.param(&field.name).unwrap_or_default();
            let value = Array::shaped(field.scalar, words, field.dims());
            self.set_param(&field.name, value)?;
        }
        Ok(())
    }
}

/// A state of all agents, or of all worlds, of what was saved.
///
/// # Errors
/// [`Error::UnknownName`], and [`Error::NotBegun`] where nothing was saved yet.
pub(super) fn state_column(
    artifact: &Artifact,
    saved: &Saved,
    name: &str,
) -> Result<Column, Error> {
    let manifest = &artifact.manifest;
    let of_worlds = &manifest.world_rows().states;
    let column = |fields: &[Field], columns: &[Vec<u32>]| {
        let field = fields.iter().find(|field| field.name == name)?;
        let width = field.words();
        let own: Vec<&Vec<u32>> = (field.word..field.word + width)
            .filter_map(|word| columns.get(word as usize))
            .collect();
        let low: Vec<&Vec<u32>> = (low_part(artifact, field).into_iter())
            .flat_map(|word| word..word + width)
            .filter_map(|word| columns.get(word as usize))
            .collect();
        let rows = own.first().map_or(0, |column| column.len());
        let gathered = |columns: &[&Vec<u32>]| {
            let words = (0..rows).flat_map(|row| columns.iter().map(move |column| column[row]));
            Column::new(field, rows as u32, words.collect())
        };
        let mut found = gathered(&own);
        if !low.is_empty() {
            let low = gathered(&low);
            match (&mut found.values, &low.values) {
                (Values::F32(high), Values::F32(low)) => add_all(high, low),
                (Values::F64(high), Values::F64(low)) => add_all(high, low),
                _ => unreachable!("what is integrated is a float"),
            }
        }
        Some(found)
    };
    let found =
        column(&manifest.states, &saved.states).or_else(|| column(of_worlds, &saved.world_states));
    let Some(found) = found else {
        let all = manifest.states.iter().chain(of_worlds);
        return Err(unknown(
            Role::State,
            name,
            all.map(|field| field.name.as_str()),
        ));
    };
    match saved.progress.is_empty() {
        true => Err(Error::NotBegun),
        false => Ok(found),
    }
}

fn add_all<T: Copy + AddAssign>(to: &mut [T], from: &[T]) {
    to.iter_mut().zip(from).for_each(|(to, &from)| *to += from);
}

/// The word of the second float of a state that is integrated: its value is the sum of both. It is
/// hidden, so it lies behind all states that a launch sees.
fn low_part(artifact: &Artifact, field: &Field) -> Option<u32> {
    let (program, manifest) = (&artifact.program, &artifact.manifest);
    let seen = manifest.states.iter().map(|seen| seen.word + seen.words());
    let seen = seen.max().unwrap_or(0);
    let name = format!("{}_low", field.name);
    let mut hidden = program.states.iter().map(|&var| &program[var]);
    let low = hidden.find(|var| var.word >= seen && var.name == name);
    low.map(|var| var.word)
}
