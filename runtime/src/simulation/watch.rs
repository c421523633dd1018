//! What a simulation does on the interpreter to be looked at: agents in `f64`, and agents step by step.

use super::Simulation;
use crate::{
    bind::bind,
    control::Control,
    error::Error,
    shadow::{self, Shadow},
    trace::{self, Trace},
    walk::{DoubleRun, Group},
};
use sim_compiler::RealType;

impl Simulation {
    /// Runs agents of the launch in `f64` on the interpreter, in the order of their numbers; where the model
    /// has worlds, all agents of theirs. Random words, integers and the values of the launch are those of
    /// [`Simulation::run`]; all else is computed in `f64`, see `docs/precision.md`.
    ///
    /// # Errors
    /// Any [`Error`] of a run, and [`Error::CountOutOfRange`] for an agent that is not one of the launch.
    pub fn run_double(&self, agents: &[u32], control: &Control<'_>) -> Result<DoubleRun, Error> {
        let launch = bind(&self.artifact, &self.settings)?;
        let mut groups = Vec::new();
        for &agent in agents {
            let place = trace::place(&launch, agent)?;
            groups.push(Group::of(&self.artifact.manifest, &launch, place));
        }
        groups.sort_unstable_by_key(|group| group.agents().start);
        groups.dedup_by_key(|group| group.agents().start);
        shadow::double(&self.artifact, &launch, &groups, *control)
    }

    /// Runs about so many agents, spread over the launch, in `f32` and in `f64`, and says by how much the
    /// results differ. Where the model has worlds, whole worlds run: at least one.
    ///
    /// # Errors
    /// [`Error::OnlySingle`], and any [`Error`] of a run.
    pub fn shadow(&self, agents: u32, control: &Control<'_>) -> Result<Shadow, Error> {
        self.only_single("a shadow run")?;
        let launch = bind(&self.artifact, &self.settings)?;
        let groups = Group::spread(&self.artifact.manifest, &launch, agents);
        shadow::shadow(&self.artifact, &launch, &groups, *control)
    }

    /// Runs an agent on the interpreter, with its world where the model has worlds, and calls `each` with the
    /// values of its variables at the beginning and after each step, until it stops or the run ends, or
    /// `each` returns `false`.
    ///
    /// # Errors
    /// [`Error::OnlySingle`], any [`Error`] of a run, and [`Error::CountOutOfRange`] for an agent that is not
    /// one of the launch.
    pub fn trace(
        &self,
        agent: u32,
        control: &Control<'_>,
        each: &mut dyn FnMut(&mut Trace<'_>) -> bool,
    ) -> Result<(), Error> {
        self.only_single("a trace")?;
        let launch = bind(&self.artifact, &self.settings)?;
        trace::trace(&self.artifact, &launch, agent, *control, each)
    }

    /// Refuses what is not done in `f64`.
    ///
    /// # Errors
    /// [`Error::OnlySingle`]
    pub(crate) fn only_single(&self, what: &'static str) -> Result<(), Error> {
        match self.artifact.options.real {
            RealType::F32 => Ok(()),
            RealType::F64 => Err(Error::OnlySingle { what }),
        }
    }
}
