//! Sessions: runs whose caller takes the steps, a few at a time, and changes inputs between them.

mod reset;

use super::{Simulation, parts::state_column};
use crate::{
    array::Array,
    backend::Backend,
    batch::Batch,
    bind::{Given, Launch, Settings, all_inputs, bind, find_param, param_words, place_inputs},
    clock,
    control::{Control, Keep},
    cpu::vector::Isa,
    cut::{Part, Saved},
    error::{Error, Role},
    fault::Watch,
    field::{unknown, unknown_of},
    launches::{InputCache, Launches, Model},
    results::RawResults,
    run::Device,
    select::{BackendOptions, Selected},
    values::{Column, has_stopped},
    variation::Variation,
};
use sim_compiler::{
    artifact::Artifact,
    ir::{Expr, Program, interpret::Progress},
    manifest::{Field, MOST_STEPS, Manifest},
};
use std::sync::Arc;

/// A run whose steps are taken one after the other, or some at a time, by its caller: for environments of
/// reinforcement learning, controllers, and whatever else decides between steps what agents get. Inputs and
/// params can be changed between steps, states and outputs can be read, and agents can begin anew.
///
/// Without such changes it gives the bits of [`Simulation::run`], however its steps are taken.
///
/// States stay on the device between calls: on a GPU they are read back only for [`Session::state`] and
/// [`Session::reset_agents`]. [`Backend::Auto`] is the CPU here, since calls of few steps take less time
/// there than a GPU takes to answer.
pub struct Session {
    artifact: Arc<Artifact>,
    /// See [`Simulation::manifest`].
    visible: Manifest,
    /// What the caller has set, with the values of now.
    settings: Settings,
    options: BackendOptions,
    instruction_set: Option<Isa>,
    selected: Option<Selected>,
    /// The values of now, with the inputs that the model computes as the agents have them.
    launch: Arc<Launch>,
    saved: Saved,
    /// What the model gives if it ends here, once somebody asks.
    outcome: Option<Outcome>,
    /// Whether somebody has asked since the last step: then parts compute it with their steps.
    previews: bool,
    /// Whether outputs depend on the seed by draws of their own.
    draws_outputs: bool,
    input_cache: InputCache,
}

/// The results of a run that ends after the steps that are done.
struct Outcome {
    outputs: Vec<Column>,
    world_outputs: Vec<Column>,
    /// Only where all steps of the run are done: `finish` may have changed them.
    last: Option<[Vec<Column>; 2]>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Session { launch, saved, .. } = self;
        f.debug_struct("Session")
            .field("agents", &launch.agents)
            .field("steps", &launch.steps)
            .field("step", &saved.step)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Begins a session with the values and options of this simulation: all agents have their initial values,
    /// and no step is done. It needs at least one step; where nobody says how many there will be,
    /// [`MOST_STEPS`](crate::MOST_STEPS) is as good as any number, if the model does not read `steps`.
    ///
    /// ```
    /// use sim_runtime::{Control, Simulation, Values};
    ///
    /// let source = "agents 3 steps 100 input push = 1.0 state x = 0.0 step { x += push } output x";
    /// let mut session = Simulation::compile(source)?.session()?;
    /// session.step(2, &Control::default())?;
    /// session.set_input("push", vec![10.0_f32, 20.0, 30.0])?;
    /// session.step(1, &Control::default())?;
    /// assert_eq!(session.output("x")?.values, Values::F32(vec![12.0, 22.0, 32.0]));
    /// session.reset_agents(&[false, true, false])?;
    /// assert_eq!(session.state("x")?.values, Values::F32(vec![12.0, 0.0, 32.0]));
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Any [`Error`] of a run, and [`Error::CountOutOfRange`] for a run without steps.
    pub fn session(&self) -> Result<Session, Error> {
        let mut options = self.options.clone();
        if options.devices.is_some() {
            return Err(Error::NotOnDevices { what: "a session" });
        }
        if options.backend == Backend::Auto {
            options.backend = Backend::Cpu;
        }
        let launch = bind(&self.artifact, &self.settings)?;
        if launch.steps == 0 {
            return Err(Error::CountOutOfRange {
                what: "steps of a session",
                value: 0,
                least: 1,
                most: MOST_STEPS.into(),
            });
        }
        let mut session = Session {
            artifact: Arc::clone(&self.artifact),
            visible: self.manifest().clone(),
            settings: self.settings.clone(),
            options,
            instruction_set: self.instruction_set,
            selected: None,
            launch: Arc::new(launch),
            saved: Saved::default(),
            outcome: None,
            previews: false,
            draws_outputs: draws_outputs(&self.artifact.program),
            input_cache: InputCache::default(),
        };
        session.begin()?;
        Ok(session)
    }
}

impl Session {
    /// The number of agents.
    pub fn agents(&self) -> u32 {
        self.launch.agents
    }

    /// The number of steps that it can take in all: the value of `steps` in the model.
    pub fn steps(&self) -> u32 {
        self.launch.steps
    }

    /// The number of steps that are done.
    pub fn at(&self) -> u32 {
        self.saved.step
    }

    /// The seed of every draw.
    pub fn seed(&self) -> u64 {
        self.launch.seed
    }

    /// The names, types and documentation of the model.
    pub fn manifest(&self) -> &Manifest {
        &self.visible
    }

    /// What it runs on.
    ///
    /// # Errors
    /// Those of opening the device, if an error lost it.
    pub fn device(&mut self) -> Result<Device, Error> {
        Ok(self.selected()?.backend.device())
    }

    /// Takes so many steps with all agents. After an error nothing has changed; that holds for a fault that a
    /// checked model ([`Options::checks`](crate::Options)) finds, too.
    ///
    /// # Errors
    /// [`Error::SessionOver`], [`Error::Cancelled`], and those of the device and of checks.
    pub fn step(&mut self, count: u32, control: &Control<'_>) -> Result<(), Error> {
        let (step, steps) = (self.at(), self.steps());
        let until = step.checked_add(count).filter(|&until| until <= steps);
        let Some(until) = until else {
            return Err(Error::SessionOver { count, step, steps });
        };
        if count == 0 {
            return Ok(());
        }
        let before = std::mem::take(&mut self.saved);
        let outcome = self.outcome.take();
        let after = self.part(&before, until, control).and_then(|mut raw| {
            let saved = raw.saved.take();
            let found = match &saved {
                None => Some(self.outcome_of(raw, true)?),
                Some(_) if raw.has_outputs() => Some(self.outcome_of(raw, false)?),
                Some(saved) if self.is_checked() => Some(self.ended(saved, control)?),
                Some(_) => None,
            };
            Ok((saved, found))
        });
        match after {
            Ok((Some(saved), found)) => {
                (self.saved, self.outcome) = (saved, found);
                self.previews = false;
            }
            Ok((None, found)) => {
                self.saved.step = until;
                self.outcome = found;
            }
            Err(error) => {
                (self.saved, self.outcome) = (before, outcome);
                return Err(error);
            }
        }
        Ok(())
    }

    /// A state of all agents, or of all worlds.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and those of the device.
    pub fn state(&mut self, name: &str) -> Result<Column, Error> {
        self.read()?;
        let Some([agents, worlds]) = self.outcome.as_ref().and_then(|it| it.last.as_ref()) else {
            return state_column(&self.artifact, &self.saved, name);
        };
        found(Role::State, agents.iter().chain(worlds), name).cloned()
    }

    /// An output of all agents, or of all worlds: what it would be if the run ended here.
    ///
    /// # Errors
    /// [`Error::UnknownName`], and those of the device.
    pub fn output(&mut self, name: &str) -> Result<&Column, Error> {
        self.previews = true;
        if self.outcome.is_none() {
            let saved = std::mem::take(&mut self.saved);
            let outcome = self.ended(&saved, &Control::default());
            self.saved = saved;
            self.outcome = Some(outcome?);
        }
        let Outcome {
            outputs,
            world_outputs,
            ..
        } = self.outcome.as_ref().expect("it was computed");
        found(Role::Output, outputs.iter().chain(world_outputs), name)
    }

    /// Whether each agent has stopped.
    pub fn stopped(&self) -> Vec<bool> {
        let words = self.saved.progress.iter();
        words.map(|&word| has_stopped(word)).collect()
    }

    /// Sets an input for the steps to come: one row per agent (or world), or one number for all of them.
    /// Before the first step, initial values and inputs that the model computes follow it.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or the error of values of the wrong type or shape; nothing has changed then.
    pub fn set_input(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let manifest = &self.artifact.manifest;
        let Some(input) = all_inputs(manifest).find(|input| input.field.name == name) else {
            let names = all_inputs(manifest).map(|input| input.field.name.as_str());
            return Err(unknown_of(manifest, Role::Input, name, names));
        };
        let values = values.into();
        let is_of_agents = manifest.inputs.iter().any(|it| it.field.name == name);
        let launch = Arc::make_mut(&mut self.launch);
        let (count, words) = match is_of_agents {
            true => (launch.agents, manifest.input_words),
            false => (launch.worlds(), manifest.world_rows().input_words),
        };
        let rows = match is_of_agents {
            true => &mut launch.inputs,
            false => &mut launch.world_inputs,
        };
        let rows: &mut Vec<u32> = Arc::make_mut(rows);
        place_inputs(&[Given::new(input, &values, count)?], rows, words as usize);
        self.settings.inputs.insert(name.to_owned(), values);
        self.outcome.take_if(|outcome| outcome.last.is_none());
        self.begin_if_none_done()
    }

    /// Sets a param for the steps to come. Before the first step, initial values and inputs that the model
    /// computes follow it; later, such inputs stay as they are.
    ///
    /// # Errors
    /// [`Error::UnknownName`], or the error of a value of the wrong type, shape or range; nothing has changed
    /// then.
    pub fn set_param(&mut self, name: &str, value: impl Into<Array>) -> Result<(), Error> {
        let (param, value) = (find_param(&self.artifact.manifest, name)?, value.into());
        let words = param_words(param, Some(&value))?;
        let first = param.field.word as usize;
        let launch = Arc::make_mut(&mut self.launch);
        launch.uniform[first..first + words.len()].copy_from_slice(&words);
        self.settings.params.insert(name.to_owned(), value);
        self.outcome.take_if(|outcome| outcome.last.is_none());
        self.begin_if_none_done()
    }

    /// Lets all agents begin anew, with no step done: with the same draws as before, or those of another
    /// seed. Inputs and params that were set stay; the model computes the other inputs again.
    ///
    /// # Errors
    /// Those of the device.
    pub fn reset(&mut self, seed: Option<u64>) -> Result<(), Error> {
        self.settings.seed = seed.unwrap_or(self.settings.seed);
        self.begin()
    }

    /// Sets all agents to their initial values.
    fn begin(&mut self) -> Result<(), Error> {
        self.launch = Arc::new(self.bound()?);
        let mut raw = self.part(&Saved::default(), 0, &Control::default())?;
        self.saved = raw.saved.take().expect("the part is cut");
        self.outcome = match raw.has_outputs() {
            true => Some(self.outcome_of(raw, false)?),
            false => None,
        };
        Ok(())
    }

    /// The same after a value has changed, if no step is done.
    fn begin_if_none_done(&mut self) -> Result<(), Error> {
        if self.at() > 0 { Ok(()) } else { self.begin() }
    }

    /// The launch that the settings describe, with every input computed, and a row for each agent if the
    /// model has inputs.
    fn bound(&self) -> Result<Launch, Error> {
        let launch = bind(&self.artifact, &self.settings)?;
        match launch.absent.is_empty() {
            true => Ok(launch),
            false => self.model().with_all_inputs(&launch),
        }
    }

    fn model(&self) -> Model<'_> {
        Model {
            artifact: &self.artifact,
            isa: self.instruction_set,
            input_cache: &self.input_cache,
        }
    }

    /// Whether the model has checks in it.
    fn is_checked(&self) -> bool {
        !self.artifact.program.checks.words.is_empty()
    }

    /// What the model gives if it ends after the steps of `saved`: its last step is said to be done, so that
    /// `finish` and the outputs are all that is left to run.
    fn ended(&mut self, saved: &Saved, control: &Control<'_>) -> Result<Outcome, Error> {
        let steps = self.steps();
        let words = saved.progress.iter().map(|&word| {
            let progress = Progress::from_word(word);
            match progress.stopped {
                true => word,
                false => Progress { steps, ..progress }.word(),
            }
        });
        let last = Saved {
            step: steps,
            progress: words.collect(),
            ..saved.clone()
        };
        let raw = self.part(&last, steps, control)?;
        self.outcome_of(raw, false)
    }

    /// The results of a part that ended the run; its faults are an error.
    fn outcome_of(&mut self, mut raw: RawResults, is_last: bool) -> Result<Outcome, Error> {
        let launch = &self.launch;
        let mut watch = Watch::new(&self.artifact, launch.first_agent, launch.members);
        watch.passes(&mut raw.outputs);
        if let Some(fault) = watch.into_found() {
            return Err(Error::of_fault(fault));
        }
        let (agents, worlds) = (launch.agents, launch.worlds());
        let columns = |fields: &[Field], rows: Vec<Vec<u32>>, count: u32| -> Vec<Column> {
            let columns = fields.iter().zip(rows);
            columns
                .map(|(field, words)| Column::new(field, count, words))
                .collect()
        };
        let (visible, of_worlds) = (&self.visible, self.visible.world_rows());
        let last = is_last.then(|| {
            self.saved.progress = std::mem::take(&mut raw.progress);
            let states = raw.states.take().unwrap_or_default();
            let world_states = raw.world_states.take().unwrap_or_default();
            [
                columns(&visible.states, states, agents),
                columns(&of_worlds.states, world_states, worlds),
            ]
        });
        Ok(Outcome {
            outputs: columns(&visible.outputs, raw.outputs, agents),
            world_outputs: columns(&of_worlds.outputs, raw.world_outputs, worlds),
            last,
        })
    }

    /// Runs the steps of all agents behind `from`, up to `until`.
    fn part(
        &mut self,
        from: &Saved,
        until: u32,
        control: &Control<'_>,
    ) -> Result<RawResults, Error> {
        let launch = Arc::clone(&self.launch);
        let part = Part {
            previews: self.previews,
            leaves: true,
            ..Part::after(from, until)
        };
        self.part_of(&launch, part, control)
    }

    /// Reads the states back, if they are on the device.
    fn read(&mut self) -> Result<(), Error> {
        let has_states = !self.saved.states.is_empty() || !self.saved.world_states.is_empty();
        if self.saved.on_device.is_none() || has_states {
            return Ok(());
        }
        let selected = self.selected.as_mut().ok_or(Error::SessionLost)?;
        let mut saved = self.saved.clone();
        let result = clock::at_once(selected.backend.read(&mut saved));
        let result = result.unwrap_or(Err(Error::MustNotBlock));
        if result.as_ref().is_err_and(Error::drops_backend) {
            self.selected = None;
        }
        result?;
        self.saved = saved;
        Ok(())
    }

    fn part_of(
        &mut self,
        launch: &Arc<Launch>,
        part: Part<'_>,
        control: &Control<'_>,
    ) -> Result<RawResults, Error> {
        let same = |_: usize| Ok(Arc::clone(launch));
        let batch = Batch {
            runs: 1,
            launch: &same,
            complete_launch: &same,
            same_inputs: true,
            keep: Keep::ALL,
            part,
            control: *control,
            target: None,
        };
        let mut found = None;
        let selected = self.selected()?;
        let mut deliver = |_, raw| found = Some(raw);
        let result = clock::at_once(selected.backend.run(&batch, &mut deliver));
        let result = result.unwrap_or(Err(Error::MustNotBlock));
        if result.as_ref().is_err_and(Error::drops_backend) {
            self.selected = None;
        }
        result?;
        found.ok_or(Error::Cancelled)
    }

    /// The backend, opened once.
    fn selected(&mut self) -> Result<&mut Selected, Error> {
        if self.selected.is_none() {
            let (whole, base) = ([Variation::new()], &self.launch);
            let complete = Some(Arc::clone(base));
            let launches = Launches::new(self.model(), &self.settings, base, &whole, complete);
            let selected = clock::at_once(self.options.select(&launches));
            let selected = selected.unwrap_or(Err(Error::MustNotBlock))?;
            let manifest = &self.artifact.manifest;
            let mut need = (selected.backend).need(&self.launch, Keep::ALL, 1);
            need.each("states between steps", 4 * u64::from(manifest.state_words));
            need.check()?;
            self.selected = Some(selected);
        }
        Ok(self.selected.as_mut().expect("it was opened"))
    }
}

/// Whether outputs may have draws: of functions it is not asked whether they draw.
fn draws_outputs(program: &Program) -> bool {
    let mut draws = false;
    let mut visit = |id| {
        draws |= matches!(program[id], Expr::RandomWord { .. } | Expr::Call(..));
    };
    for block in (program.ends.iter())
        .map(|phase| &phase.body)
        .chain([&program.finish])
    {
        program.each_node_of(block, &mut visit);
    }
    draws
}

/// The column with this name.
fn found<'a>(
    role: Role,
    columns: impl Iterator<Item = &'a Column> + Clone,
    name: &str,
) -> Result<&'a Column, Error> {
    let names = columns.clone().map(|column| column.field.name.as_str());
    let mut columns = columns;
    let column = columns.find(|column| column.field.name == name);
    column.ok_or_else(|| unknown(role, name, names))
}
