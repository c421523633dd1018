//! The interface of all backends: what one gets, runs of one model that differ only by their launches, and
//! what it does with them.

use crate::{
    bind::Launch,
    breeding::{Bred, Plan, Wanted},
    control::{Control, Keep},
    cut::{Part, Saved},
    error::Error,
    memory::Need,
    results::{RawResults, Target},
    run::Device,
};
use sim_compiler::manifest::Manifest;
use std::{future::Future, pin::Pin, sync::Arc};

/// Gives the launch of the run with this number.
pub(crate) type LaunchOf<'a> = &'a (dyn Fn(usize) -> Result<Arc<Launch>, Error> + Sync);

/// Calls its argument, once, with the place of results.
pub(crate) type Lend<'a> = &'a dyn Fn(&mut dyn FnMut(&mut Target<'_>));

/// Receives the results of a run with its number.
pub(crate) type Deliver<'a> = &'a mut dyn FnMut(usize, RawResults);

/// A batch that is being run. It waits for a GPU in a browser, and otherwise never: it blocks its thread.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<(), Error>> + 'a>>;

/// Runs of one model. All have the same number of agents and steps and the same tables.
pub(crate) struct Batch<'a> {
    /// Number of runs, at least 1.
    pub(crate) runs: usize,
    /// The launch of each run; the backend computes the inputs in [`Launch::absent`].
    pub(crate) launch: LaunchOf<'a>,
    /// The launch of each run with every input computed, for backends that cannot do it themselves.
    pub(crate) complete_launch: LaunchOf<'a>,
    /// Whether all runs have the same inputs.
    pub(crate) same_inputs: bool,
    pub(crate) keep: Keep,
    /// The steps that are computed of each run; a batch of several runs computes all of them.
    pub(crate) part: Part<'a>,
    pub(crate) control: Control<'a>,
    /// Where the results of the only run go, if the caller has memory for them; then it is of all steps, and
    /// what is delivered has no columns.
    pub(crate) target: Option<Lend<'a>>,
}

impl Batch<'_> {
    /// Calls `act` with the place of the results of a run: that of the caller, or that of `raw`.
    pub(crate) fn with_target<T>(
        &self,
        manifest: &Manifest,
        launch: &Launch,
        raw: &mut RawResults,
        act: impl FnOnce(&mut Target<'_>) -> T,
    ) -> T {
        let Some(lend) = self.target else {
            return act(&mut raw.target(manifest, launch, self.part));
        };
        let (mut act, mut done) = (Some(act), None);
        lend(&mut |target| done = act.take().map(|act| act(target)));
        done.expect("a place that is lent calls back at once")
    }

    /// Room for the results of a run; without columns where the caller has it.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    pub(crate) fn room(
        &self,
        manifest: &Manifest,
        launch: &Launch,
        keep: Keep,
    ) -> Result<RawResults, Error> {
        match self.target {
            Some(_) => Ok(RawResults::bare()),
            None => RawResults::empty(manifest, launch, keep, self.part),
        }
    }
}

/// A backend that is ready to run one model.
pub(crate) trait Executor: Send {
    /// What it runs on; the first device of several.
    fn device(&self) -> Device;

    /// The names and devices among which it splits runs; none if it is one device.
    fn members(&self) -> Vec<(String, Device)> {
        Vec::new()
    }

    /// The host memory that runs like `launch` allocate, beside the inputs in the launch. The caller holds
    /// the results of `held` runs at a time.
    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need;

    /// Runs a batch and delivers the results of its runs in the order of their numbers.
    ///
    /// # Errors
    /// Runs that were delivered before the error are valid.
    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a>;

    /// Reads states back that a part has left on the device, if it has: see [`Part::leaves`]. They stay there
    /// as well.
    ///
    /// # Errors
    /// [`Error::SessionLost`], and those of the device.
    fn read<'a>(&'a mut self, saved: &'a mut Saved) -> Running<'a> {
        debug_assert!(saved.on_device.is_none(), "it has no memory of its own");
        Box::pin(async { Ok(()) })
    }

    /// Whether it is a device that can breed generations of a search.
    fn can_breed(&self) -> bool {
        false
    }

    /// Submits generations of a search, to be bred and evaluated where the populations are: as many of the
    /// plan as it takes at a time. Gives their number; 0 if it cannot.
    ///
    /// # Errors
    /// Those of the device.
    fn breed(&mut self, _plan: &Plan<'_>) -> Result<usize, Error> {
        Ok(0)
    }

    /// Waits for the oldest submission of [`breed`](Executor::breed) that was not read; none if there is
    /// none, or if a run went wrong, which runs elsewhere will then say.
    ///
    /// # Errors
    /// Those of the device.
    fn bred(&mut self) -> Result<Option<Bred>, Error> {
        Ok(None)
    }

    /// Rows of inputs of those that were bred last; none if there are none.
    ///
    /// # Errors
    /// Those of the device.
    fn bred_rows(&mut self, _wanted: Wanted<'_>) -> Result<Option<Vec<u32>>, Error> {
        Ok(None)
    }
}
