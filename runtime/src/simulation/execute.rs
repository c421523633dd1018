//! Executes the runs of a simulation: binds the launch, selects the backend, reports each run, and keeps what
//! the next call can reuse.

use super::Simulation;
use crate::{
    batch::{Batch, Deliver, Executor},
    bind::{Launch, bind},
    clock::{self, Stopwatch},
    control::{Control, Keep},
    cut::Part,
    error::Error,
    fault::Watch,
    launches::{Launches, Model},
    memory::Need,
    results::{RawResults, Share},
    run::{Device, DeviceShare, Report, Run},
    select::Selected,
    snapshot::{Identity, Snapshot},
    variation::Variation,
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::sync::{Arc, MutexGuard, PoisonError};

/// What a run leaves for the runs after it.
#[derive(Default)]
pub(super) struct Reusable {
    pub(super) launch: Option<Arc<Launch>>,
    /// The launch with every input computed.
    pub(super) complete: Option<Arc<Launch>>,
    pub(super) selected: Option<Selected>,
    /// What snapshots of the launch are bound to, once there is one.
    pub(super) identity: Option<Arc<Identity>>,
}

impl std::fmt::Debug for Reusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reusable").finish_non_exhaustive()
    }
}

/// What one call asks for: runs, of which the caller holds `held` results at a time, or a part of one.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    variations: &'a [Variation],
    held: usize,
    control: &'a Control<'a>,
    /// Where the run was cut, and the end of the part.
    part: Option<(&'a Snapshot, u32)>,
}

impl<'a> Asked<'a> {
    /// The steps after a snapshot of the launch, up to `until`, of the run that `variations` has.
    pub(super) fn part(
        variations: &'a [Variation; 1],
        snapshot: &'a Snapshot,
        until: u32,
        control: &'a Control<'a>,
    ) -> Asked<'a> {
        Asked {
            variations,
            held: 1,
            control,
            part: Some((snapshot, until)),
        }
    }
}

/// Receives the results of a run with its number, and what makes a [`Run`] of them.
pub(super) type Receive<'a> = &'a mut dyn FnMut(usize, RawResults, &mut Reports<'_>);

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
        let asked = Asked {
            variations,
            held,
            control,
            part: None,
        };
        self.run_asked(asked, &mut |number, raw, reports| {
            each(number, reports.run(number, raw));
        })
    }

    /// One run, as a future.
    pub(super) async fn run_one(&self, control: &Control<'_>) -> Result<Run, Error> {
        let (mut done, whole) = (None, [Variation::new()]);
        let asked = Asked {
            variations: &whole,
            held: 1,
            control,
            part: None,
        };
        let mut receive = |number, raw, reports: &mut Reports<'_>| {
            done = Some(reports.run(number, raw));
        };
        self.run_asked_async(asked, &mut receive).await?;
        done.ok_or(Error::Cancelled)
    }

    /// Runs what is asked for. Blocks this thread.
    ///
    /// # Errors
    /// [`Error::MustNotBlock`] for a GPU in a browser, and those of the run.
    pub(super) fn run_asked(&self, asked: Asked<'_>, receive: Receive<'_>) -> Result<(), Error> {
        let run = clock::at_once(self.run_asked_async(asked, receive));
        run.unwrap_or(Err(Error::MustNotBlock))
    }

    /// Runs what is asked for.
    pub(super) async fn run_asked_async(
        &self,
        asked: Asked<'_>,
        receive: Receive<'_>,
    ) -> Result<(), Error> {
        let started = Stopwatch::start();
        let Some(_guard) = self.exclusive.acquire() else {
            let mut reusable = Reusable::default();
            return self.run_all(&mut reusable, asked, started, receive).await;
        };
        // What the run before left is taken out for this one, so that no lock is held while a future waits.
        let mut reusable = std::mem::take(&mut *self.reusable());
        let result = self.run_all(&mut reusable, asked, started, receive).await;
        *self.reusable() = reusable;
        result
    }

    /// What runs leave. A panic in another thread's run leaves nothing half-written: it is replaced as a
    /// whole.
    fn reusable(&self) -> MutexGuard<'_, Reusable> {
        self.reusable.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks what a launch promises of tables.
    ///
    /// # Errors
    /// As of [`Simulation::run`].
    pub(super) fn check_tables(&self) -> Result<(), Error> {
        match self.artifact.manifest.requirements.is_empty() {
            true => Ok(()),
            false => self.identified().map(|_| ()),
        }
    }

    /// The launch, and what snapshots of it are bound to.
    pub(super) fn identified(&self) -> Result<(Arc<Launch>, Arc<Identity>), Error> {
        let find = |reusable: &mut Reusable| {
            let launch = self.bound(reusable)?;
            let new = || Arc::new(Identity::of(&self.artifact, &launch));
            let identity = Arc::clone(reusable.identity.get_or_insert_with(new));
            Ok((launch, identity))
        };
        match self.exclusive.acquire() {
            Some(_guard) => find(&mut self.reusable()),
            None => find(&mut Reusable::default()),
        }
    }

    /// Runs a batch with what earlier runs left.
    async fn run_all(
        &self,
        reusable: &mut Reusable,
        asked: Asked<'_>,
        started: Stopwatch,
        receive: Receive<'_>,
    ) -> Result<(), Error> {
        let variations = asked.variations;
        let base = self.bound(reusable)?;
        let complete = reusable.complete.take();
        let launches = Launches::new(self.model(), &self.settings, &base, variations, complete);
        // After an error of the device the backend is not put back.
        let mut selected = self.selected(reusable.selected.take(), &launches).await?;
        let keep = self.kept();
        let mut need = selected.backend.need(&base, keep, asked.held);
        let part = asked.part_of(&base, self.manifest(), &mut need);
        let device = selected.backend.device();
        if let Err(error) = need.check().and(asked.check_device(&device)) {
            reusable.selected = Some(selected);
            return Err(error);
        }
        let mut reports = Reports {
            simulation: self,
            launch: &base,
            variations,
            device,
            members: selected.backend.members(),
            reason: selected.reason.clone(),
            setup_seconds: started.seconds(),
            started,
        };
        let of = |steps: u32| u64::from(base.agents) * u64::from(steps);
        let (before, after) = (of(part.steps().start), of(base.steps - part.until));
        let progress = |done, all| asked.control.report(before + done, all + before + after);
        let batch = Batch {
            runs: variations.len(),
            launch: &|number| launches.bound(number),
            complete_launch: &|number| launches.complete(number),
            same_inputs: launches.have_same_inputs(),
            keep,
            part,
            control: Control {
                progress: (asked.control.progress).map(|_| &progress as &(dyn Fn(_, _) + Sync)),
                ..*asked.control
            },
            target: None,
        };
        let mut watch = Watch::new(&self.artifact, base.first_agent, base.members);
        // A part that is cut has no outputs yet: faults are in its states.
        let is_cut = part.is_cut(base.steps);
        let deliver: Deliver<'_> = &mut |number, mut raw| {
            if !is_cut && !watch.passes(&mut raw.outputs) {
                return;
            }
            receive(number, raw, &mut reports);
            // The seconds of the caller's callback belong to no run.
            reports.setup_seconds = 0.0;
            reports.started = Stopwatch::start();
        };
        let result = selected.backend.run(&batch, deliver).await;
        reusable.complete = launches.into_complete();
        if !result.as_ref().is_err_and(Error::drops_backend) {
            reusable.selected = Some(selected);
        }
        result?;
        (watch.into_found()).map_or(Ok(()), |fault| Err(Error::of_fault(fault)))
    }

    /// Lets the backend of the run before do something, if there is one.
    ///
    /// # Errors
    /// Those of it.
    pub(super) fn with_backend<T>(
        &self,
        act: impl FnOnce(&mut dyn Executor) -> Result<Option<T>, Error>,
    ) -> Result<Option<T>, Error> {
        let Some(_guard) = self.exclusive.acquire() else {
            return Ok(None);
        };
        let Some(mut selected) = self.reusable().selected.take() else {
            return Ok(None);
        };
        let result = act(&mut *selected.backend);
        if !result.as_ref().is_err_and(Error::drops_backend) {
            self.reusable().selected = Some(selected);
        }
        result
    }

    /// The backend of the run before, or another: that of a short run may not suit a longer one.
    async fn selected(
        &self,
        known: Option<Selected>,
        launches: &Launches<'_>,
    ) -> Result<Selected, Error> {
        match known.filter(|known| known.suits(launches)) {
            Some(known) => Ok(known),
            None => self.options.select(launches).await,
        }
    }

    pub(super) fn model(&self) -> Model<'_> {
        Model {
            artifact: &self.artifact,
            isa: self.instruction_set,
            input_cache: &self.input_cache,
        }
    }

    /// What a run keeps: faults are in outputs.
    fn kept(&self) -> Keep {
        match self.artifact.program.checks.words.is_empty() {
            true => self.keep,
            false => self.keep.with_outputs(),
        }
    }

    /// The launch that all runs vary.
    ///
    /// # Errors
    /// [`Error::OnlySingle`] for checks in `f64`, and those of its values.
    fn bound(&self, reusable: &mut Reusable) -> Result<Arc<Launch>, Error> {
        if !self.artifact.program.checks.words.is_empty() {
            self.only_single("a run with `--check`")?;
        }
        let launch = match reusable.launch.take() {
            Some(launch) => launch,
            None => Arc::new(bind(&self.artifact, &self.settings)?),
        };
        reusable.launch = Some(Arc::clone(&launch));
        Ok(launch)
    }
}

impl<'a> Asked<'a> {
    /// The steps that are run. Adds the memory for what travels between parts.
    fn part_of(&self, launch: &Launch, manifest: &Manifest, need: &mut Need) -> Part<'a> {
        let Some((snapshot, until)) = self.part else {
            return Part::whole(launch.steps);
        };
        // Before the part, after it, and on the way from the device.
        need.each(
            "states between steps",
            3 * (u64::from(manifest.state_words) + 1),
        );
        let words = 3 * u64::from(manifest.world_rows().state_words);
        let bytes = words * u64::from(launch.worlds()) * WORD_BYTES;
        need.fixed("states of worlds between steps", bytes);
        Part::after(&snapshot.saved, until)
    }

    /// Checks that a device may go on with the snapshot, if there is one.
    fn check_device(&self, device: &Device) -> Result<(), Error> {
        let snapshot = self.part.map(|(snapshot, _)| snapshot);
        snapshot.map_or(Ok(()), |snapshot| snapshot.check_device(device))
    }
}

/// Makes the runs that a caller gets, with their reports.
pub(super) struct Reports<'a> {
    simulation: &'a Simulation,
    launch: &'a Launch,
    variations: &'a [Variation],
    device: Device,
    /// Names and devices, where several run together.
    members: Vec<(String, Device)>,
    reason: String,
    /// Seconds from `started` until the backend was ready; 0 after the first run.
    setup_seconds: f64,
    /// Started with the call, and again after each run.
    started: Stopwatch,
}

impl Reports<'_> {
    /// What computed the results.
    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Seconds of the run, without those until the backend was ready.
    pub(super) fn seconds(&self) -> f64 {
        self.started.seconds() - self.setup_seconds
    }

    fn share(&self, share: Share) -> DeviceShare {
        let (name, device) = self.members[share.member].clone();
        DeviceShare {
            name,
            device,
            agents: share.agents,
            seconds: share.seconds,
            failure: share.failure,
        }
    }

    pub(super) fn run(&mut self, number: usize, mut raw: RawResults) -> Run {
        let launch = self.launch;
        raw.telemetry.total_seconds = self.started.seconds();
        let devices: Vec<_> = raw
            .shares
            .drain(..)
            .map(|share| self.share(share))
            .collect();
        let took_part = devices.iter().find(|share| share.agents > 0);
        let report = Report {
            backend: took_part
                .map_or(&self.device, |share| &share.device)
                .clone(),
            devices,
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
