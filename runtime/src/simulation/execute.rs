//! Executes the runs of a simulation: binds the launch, selects the backend, reports each run, and keeps what
//! the next call can reuse.

use super::Simulation;
use crate::{
    batch::{Batch, Deliver},
    bind::{Launch, bind},
    clock::Stopwatch,
    control::{Control, Keep},
    error::Error,
    fault::Watch,
    launches::{Launches, Model},
    results::RawResults,
    run::{Device, Report, Run},
    select::Selected,
    variation::Variation,
};
use std::sync::{Arc, PoisonError};

/// What a run leaves for the runs after it.
#[derive(Default)]
pub(super) struct Reusable {
    pub(super) launch: Option<Arc<Launch>>,
    /// The launch with every input computed.
    pub(super) complete: Option<Arc<Launch>>,
    pub(super) selected: Option<Selected>,
}

impl std::fmt::Debug for Reusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reusable").finish_non_exhaustive()
    }
}

/// The runs of one call, of which the caller holds `held` results at a time.
#[derive(Clone, Copy)]
struct Runs<'a> {
    variations: &'a [Variation],
    held: usize,
    control: &'a Control<'a>,
}

impl Simulation {
    /// [`Simulation::run_each`] for a caller that holds the results of `held` runs at a time.
    pub(super) fn run_held(
        &self,
        variations: &[Variation],
        held: usize,
        control: &Control<'_>,
        mut each: impl FnMut(usize, Run),
    ) -> Result<(), Error> {
        if variations.is_empty() {
            return Ok(());
        }
        let started = Stopwatch::start();
        let runs = Runs {
            variations,
            held,
            control,
        };
        let Some(_guard) = self.exclusive.acquire() else {
            return self.run_all(&mut Reusable::default(), runs, started, &mut each);
        };
        // A panic in another thread's run leaves nothing half-written: the fields are replaced as a whole.
        let mut reusable = (self.reusable.lock()).unwrap_or_else(PoisonError::into_inner);
        self.run_all(&mut reusable, runs, started, &mut each)
    }

    /// Runs a batch with what earlier runs left.
    fn run_all(
        &self,
        reusable: &mut Reusable,
        runs: Runs<'_>,
        started: Stopwatch,
        each: &mut dyn FnMut(usize, Run),
    ) -> Result<(), Error> {
        let Runs {
            variations,
            control,
            ..
        } = runs;
        let base = self.bound(reusable)?;
        let model = Model {
            artifact: &self.artifact,
            isa: self.instruction_set,
        };
        let complete = reusable.complete.take();
        let launches = Launches::new(model, &self.settings, &base, variations, complete);
        // The backend of one short run may not suit many. After an error of the device the backend is not put
        // back.
        let known = reusable.selected.take();
        let suits = |known: &Selected| !known.for_short_run || variations.len() == 1;
        let mut selected = match known.filter(suits) {
            Some(known) => known,
            None => self.options.select(&launches)?,
        };
        let keep = self.kept();
        let need = selected.backend.need(&base, keep, runs.held);
        if let Err(error) = need.check() {
            reusable.selected = Some(selected);
            return Err(error);
        }
        let mut reports = Reports {
            simulation: self,
            launch: &base,
            variations,
            device: selected.backend.device(),
            reason: selected.reason.clone(),
            setup_seconds: started.seconds(),
            started,
        };
        let batch = Batch {
            runs: variations.len(),
            launch: &|number| launches.bound(number),
            complete_launch: &|number| launches.complete(number),
            same_inputs: launches.have_same_inputs(),
            keep,
            control: *control,
        };
        let mut watch = Watch::new(&self.artifact, base.first_agent, base.members);
        let deliver: Deliver<'_> = &mut |number, mut raw| {
            if !watch.passes(&mut raw.outputs) {
                return;
            }
            each(number, reports.run(number, raw));
            // The seconds of the caller's callback belong to no run.
            reports.setup_seconds = 0.0;
            reports.started = Stopwatch::start();
        };
        let result = selected.backend.run(&batch, deliver);
        reusable.complete = launches.into_complete();
        if !result.as_ref().is_err_and(Error::drops_backend) {
            reusable.selected = Some(selected);
        }
        result?;
        (watch.into_found()).map_or(Ok(()), |fault| Err(Error::of_fault(fault)))
    }

    /// What a run keeps: faults are in outputs.
    fn kept(&self) -> Keep {
        match self.artifact.program.checks.words.is_empty() {
            true => self.keep,
            false => self.keep.with_outputs(),
        }
    }

    /// The launch that all runs vary.
    fn bound(&self, reusable: &mut Reusable) -> Result<Arc<Launch>, Error> {
        let launch = match reusable.launch.take() {
            Some(launch) => launch,
            None => Arc::new(bind(&self.artifact, &self.settings)?),
        };
        reusable.launch = Some(Arc::clone(&launch));
        Ok(launch)
    }
}

/// Makes the runs that a caller gets, with their reports.
struct Reports<'a> {
    simulation: &'a Simulation,
    launch: &'a Launch,
    variations: &'a [Variation],
    device: Device,
    reason: String,
    /// Seconds from `started` until the backend was ready; 0 after the first run.
    setup_seconds: f64,
    /// Started with the call, and again after each run.
    started: Stopwatch,
}

impl Reports<'_> {
    fn run(&mut self, number: usize, mut raw: RawResults) -> Run {
        let launch = self.launch;
        raw.telemetry.total_seconds = self.started.seconds();
        let report = Report {
            backend: self.device.clone(),
            reason: self.reason.clone(),
            agents: launch.agents,
            first_agent: launch.first_agent,
            population: launch.population,
            steps: launch.steps,
            worlds: match self.simulation.manifest().world {
                Some(_) => launch.worlds(),
                None => launch.agents,
            },
            seed: self.variations[number].seed.unwrap_or(launch.seed),
            compile_seconds: self.simulation.compile_seconds,
            setup_seconds: self.setup_seconds,
            run_seconds: raw.telemetry.total_seconds - self.setup_seconds,
            statistics_seconds: 0.0,
            dispatches: raw.dispatches,
            chunks: raw.chunks,
            reduced: raw.sums.is_some(),
            passes: raw.passes,
            telemetry: raw.telemetry,
            decisions: std::mem::take(&mut raw.decisions),
        };
        let keeps_outputs = self.simulation.keep.outputs;
        Run::of(self.simulation.manifest(), raw, keeps_outputs, report)
    }
}
