//! An agent of a launch step by step, with the values of its variables.

use crate::{
    bind::Launch,
    cancel::cancellable,
    control::Control,
    error::Error,
    walk::{Group, error, with_lowered},
};
use sim_compiler::{
    artifact::Artifact,
    ir::{
        Program, Value, VarId,
        interpret::{Fault, Progress, Walk},
    },
};
use std::sync::atomic::Ordering;

/// Takes how often a variable was given a value, and its values.
type See<'a> = dyn FnMut(u32, &[Value]) + 'a;

/// An agent at the beginning, or after a step.
pub struct Trace<'a> {
    /// The program that it runs: the model's before all passes.
    pub program: &'a Program,
    /// The step that it has run; none at the beginning.
    pub step: Option<u32>,
    /// How many steps the run has.
    pub steps: u32,
    /// How far the agent is.
    pub progress: Progress,
    /// Whether nothing will change any more.
    pub is_over: bool,
    values: &'a mut dyn FnMut(VarId, &mut See<'_>),
}

impl Trace<'_> {
    /// Calls `see` with the values of a variable, which is no table: one, or the elements of an array; and
    /// how often a `let`, a `var` or a loop gave it a value in this step.
    pub fn values(&mut self, var: VarId, see: &mut dyn FnMut(u32, &[Value])) {
        (self.values)(var, see);
    }
}

/// The place of an agent in the launch.
pub(crate) fn place(launch: &Launch, agent: u32) -> Result<u32, Error> {
    let place = agent.checked_sub(launch.first_agent);
    let place = place.filter(|&place| place < launch.agents);
    place.ok_or(Error::CountOutOfRange {
        what: "the agent",
        value: agent.into(),
        least: launch.first_agent.into(),
        most: u64::from(launch.first_agent) + u64::from(launch.agents) - 1,
    })
}

/// Runs an agent and shows each step.
pub(crate) fn trace(
    artifact: &Artifact,
    launch: &Launch,
    agent: u32,
    control: Control<'_>,
    each: &mut dyn FnMut(&mut Trace<'_>) -> bool,
) -> Result<(), Error> {
    let manifest = &artifact.manifest;
    let place = place(launch, agent)?;
    let group = Group::of(manifest, launch, place);
    let member = (place - group.agents().start) as usize;
    with_lowered(artifact, launch, |interpreter| {
        let mut ended = Ok(());
        cancellable(launch.steps.into(), control, |inner| {
            let cancelled = || inner.cancel.load(Ordering::Relaxed);
            let mut walk = interpreter.walk::<f32, _>(group.members, cancelled);
            walk.clear_counts(member);
            ended = (group.begin(&mut walk, manifest, launch))
                .and_then(|()| along(&mut walk, member, artifact, launch, each));
            match ended {
                Err(Fault::Cancelled) => Err(Error::Cancelled),
                Ok(()) | Err(Fault::Diverged) => Ok(()),
            }
        })?;
        ended.map_err(error)
    })?
}

/// Shows a member at the beginning and after each step.
fn along<F: Fn() -> bool + Copy>(
    walk: &mut Walk<'_, F, f32>,
    member: usize,
    artifact: &Artifact,
    launch: &Launch,
    each: &mut dyn FnMut(&mut Trace<'_>) -> bool,
) -> Result<(), Fault> {
    let mut steps = 0..launch.steps;
    let mut step = None;
    loop {
        let progress = walk.progress(member);
        let is_over = progress.stopped || walk.is_over();
        let values = &mut |var, see: &mut See<'_>| {
            see(walk.count(member, var), walk.values(member, var));
        };
        let goes_on = each(&mut Trace {
            program: &artifact.lowered,
            step,
            steps: launch.steps,
            progress,
            is_over,
            values,
        });
        step = steps.next();
        match step.filter(|_| goes_on && !is_over) {
            Some(step) => {
                walk.clear_counts(member);
                walk.step(step)?;
            }
            None => return Ok(()),
        }
    }
}
