//! One run on several devices, split by agents.

use super::{
    Member, SplitBackend, Work, is_of_device, lock,
    progress::Done,
    shares::{Weights, granule},
};
use crate::{
    batch::Batch,
    bind::Launch,
    clock::{self, Stopwatch},
    control::{Control, Keep},
    cut::Part,
    error::Error,
    results::{RawResults, Share, Target},
    run::Device,
    telemetry::Telemetry,
};
use std::{
    cell::RefCell,
    ops::Range,
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
};

/// A share of a launch that a device had last.
pub(super) struct LastShare {
    of: Arc<Launch>,
    agents: Range<u32>,
    launch: Arc<Launch>,
}

/// Consecutive agents, and where their results go.
struct Piece<'t> {
    agents: Range<u32>,
    target: Target<'t>,
}

/// Hands out work to the threads of all devices.
struct Scheduler<'a, 't> {
    state: Mutex<State<'t>>,
    changed: Condvar,
    done: Done<'a>,
    /// All agents, and those that stay together.
    agents: u32,
    granule: u32,
    steps: u64,
}

struct State<'t> {
    /// What nobody computes yet, in the order of agents.
    open: Vec<Piece<'t>>,
    /// By device: the agents that it computes, and the agent-steps it had done before them.
    busy: Vec<Option<(u32, u64)>>,
    weights: Weights,
    work: Vec<Work>,
    /// By device: what it delivered, without columns.
    raw: Vec<RawResults>,
    failures: Vec<Option<Error>>,
    /// The error that no other device can help, of the first agents that have one.
    stop: Option<(u32, Error)>,
}

/// What a device does with each piece.
#[derive(Clone, Copy)]
struct Task<'a> {
    launch: &'a Arc<Launch>,
    keep: Keep,
    part: Part<'a>,
}

impl SplitBackend {
    /// Runs one run of a batch on all devices.
    pub(super) fn run_by_agents(
        &mut self,
        batch: &Batch<'_>,
        number: usize,
        control: Control<'_>,
    ) -> Result<RawResults, Error> {
        let is_gpu = |it: &Member| matches!(it.device, Device::Gpu(_));
        let launch = match self.members.iter().any(is_gpu) {
            true => (batch.complete_launch)(number)?,
            false => (batch.launch)(number)?,
        };
        let manifest = &self.artifact.manifest;
        let keep = batch.keep.with_outputs();
        let mut whole = RawResults::empty(manifest, &launch, keep, batch.part)?;
        let target = whole.target(manifest, &launch, batch.part);
        let (weights, count) = (self.weights(), self.members.len());
        let first = weights.first(launch.agents, granule(&launch));
        let steps = u64::from(launch.steps.max(1));
        let all = u64::from(launch.agents) * batch.part.steps().len() as u64;
        let mut state = State {
            open: Vec::new(),
            busy: (0..count).map(|_| None).collect(),
            weights,
            work: vec![Work::default(); count],
            raw: (0..count).map(|_| none()).collect(),
            failures: (0..count).map(|_| None).collect(),
            stop: None,
        };
        let pieces = state.distribute(target, &first, launch.agents);
        let scheduler = Scheduler {
            state: Mutex::new(state),
            changed: Condvar::new(),
            done: Done::new(control, all, count),
            agents: launch.agents,
            granule: granule(&launch),
            steps,
        };
        let task = Task {
            launch: &launch,
            keep,
            part: batch.part,
        };
        thread::scope(|scope| {
            let members = self.members.iter_mut().zip(pieces).enumerate();
            let mut members = members.filter(|(_, (member, _))| member.failure.is_none());
            // This thread is the first device's.
            let own = members.next();
            let scheduler = &scheduler;
            for (device, (member, piece)) in members {
                scope.spawn(move || scheduler.work(device, member, piece, task));
            }
            if let Some((device, (member, piece))) = own {
                scheduler.work(device, member, piece, task);
            }
        });
        let state = scheduler
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let outcome = state.outcome();
        self.end(outcome, whole)
    }

    /// Takes what the devices left.
    fn end(&mut self, outcome: Outcome, mut whole: RawResults) -> Result<RawResults, Error> {
        self.learn(&outcome.work);
        let last = self.note(outcome.failures);
        if let Some((_, error)) = outcome.stop {
            return Err(error);
        }
        if let Some(error) = last.filter(|_| !outcome.is_done) {
            return Err(error);
        }
        whole.chunks = 0;
        for (device, (raw, work)) in outcome.raw.into_iter().zip(&outcome.work).enumerate() {
            whole.dispatches += raw.dispatches;
            whole.chunks += raw.chunks;
            beside(&mut whole.telemetry, &raw.telemetry);
            if whole.decisions.is_empty() {
                whole.decisions = raw.decisions;
            }
            whole.shares.push(Share {
                member: device,
                agents: work.amount,
                seconds: work.seconds,
                failure: self.members[device].failure.clone(),
            });
        }
        Ok(whole)
    }
}

/// What the devices left, but for the columns.
struct Outcome {
    work: Vec<Work>,
    raw: Vec<RawResults>,
    failures: Vec<Option<Error>>,
    stop: Option<(u32, Error)>,
    is_done: bool,
}

/// What a device delivered that has delivered nothing.
fn none() -> RawResults {
    RawResults {
        chunks: 0,
        ..RawResults::bare()
    }
}

impl<'t> State<'t> {
    fn outcome(self) -> Outcome {
        Outcome {
            is_done: self.open.is_empty(),
            work: self.work,
            raw: self.raw,
            failures: self.failures,
            stop: self.stop,
        }
    }

    /// The first pieces of all devices, which end at these agents; the rest is left open.
    fn distribute(
        &mut self,
        mut target: Target<'t>,
        ends: &[u32],
        all: u32,
    ) -> Vec<Option<Piece<'t>>> {
        let mut from = 0;
        let mut pieces = Vec::new();
        for (device, &end) in ends.iter().enumerate() {
            let piece = (end > from).then(|| Piece {
                agents: from..end,
                target: target.split_off(end - from),
            });
            self.busy[device] = piece.as_ref().map(|_| (end - from, 0));
            from = end;
            pieces.push(piece);
        }
        if from < all {
            let agents = from..all;
            self.open.push(Piece { agents, target });
        }
        pieces
    }
}

impl<'t> Scheduler<'_, 't> {
    /// Computes pieces until none is left, or the device fails.
    fn work(&self, device: usize, member: &mut Member, first: Option<Piece<'t>>, task: Task<'_>) {
        let _guard = WorkerGuard {
            scheduler: self,
            device,
        };
        let mut next = first.or_else(|| self.next(device));
        while let Some(mut piece) = next {
            let started = Stopwatch::start();
            let amount = piece.agents.end - piece.agents.start;
            let agent_steps = u64::from(amount) * task.part.steps().len() as u64;
            let result = self.done.with(device, agent_steps, |control| {
                member.run_piece(&mut piece, task, control)
            });
            let mut state = lock(&self.state);
            state.busy[device] = None;
            match result {
                Ok(raw) => {
                    let work = &mut state.work[device];
                    work.amount += amount;
                    work.seconds += started.seconds();
                    work.agent_steps += f64::from(amount) * self.steps as f64;
                    let speed = work.agent_steps / work.seconds.max(1e-9);
                    let all = &mut state.raw[device];
                    all.dispatches += raw.dispatches;
                    all.chunks += raw.chunks;
                    all.telemetry.add(&raw.telemetry);
                    all.decisions = raw.decisions;
                    if !state.open.is_empty() {
                        state.weights.measure(device, speed);
                    }
                }
                Err(error) => {
                    let first = piece.agents.start;
                    if is_of_device(&error) {
                        state.weights.fail(device);
                        state.failures[device] = Some(error);
                        state.open.push(piece);
                        state.open.sort_by_key(|piece| piece.agents.start);
                    } else if state.stop.as_ref().is_none_or(|(known, _)| first < *known) {
                        state.stop = Some((first, error));
                    }
                    return;
                }
            }
            drop(state);
            self.changed.notify_all();
            next = self.next(device);
        }
    }

    /// The next piece of a device. Waits while others have pieces, which they may hand over.
    fn next(&self, device: usize) -> Option<Piece<'t>> {
        let mut state = lock(&self.state);
        loop {
            if state.stop.is_some() || !state.weights.has(device) {
                return None;
            }
            if !state.open.is_empty() {
                break;
            }
            if state.busy.iter().all(Option::is_none) {
                return None;
            }
            state = (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
        let open: u32 = state
            .open
            .iter()
            .map(|it| it.agents.end - it.agents.start)
            .sum();
        let rest = |(of, busy): (usize, &Option<(u32, u64)>)| {
            busy.map_or(0.0, |(agents, before)| {
                let done = self.done.of(of).saturating_sub(before) as f64 / self.steps as f64;
                (f64::from(agents) - done).max(0.0)
            })
        };
        let rest: Vec<f64> = state.busy.iter().enumerate().map(rest).collect();
        let most = (state.weights).next(device, (open, self.agents), &rest, self.granule);
        let mut piece = state.open.remove(0);
        let agents = piece.agents.end - piece.agents.start;
        if most < agents {
            let own = piece.agents.start..piece.agents.start + most;
            let target = piece.target.split_off(most);
            piece.agents.start += most;
            state.open.insert(0, piece);
            piece = Piece {
                agents: own,
                target,
            };
        }
        let own = piece.agents.end - piece.agents.start;
        state.busy[device] = Some((own, self.done.of(device)));
        Some(piece)
    }
}

/// Says that a device computes no more, also after a panic.
struct WorkerGuard<'b, 'a, 't> {
    scheduler: &'b Scheduler<'a, 't>,
    device: usize,
}

impl Drop for WorkerGuard<'_, '_, '_> {
    fn drop(&mut self) {
        lock(&self.scheduler.state).busy[self.device] = None;
        self.scheduler.changed.notify_all();
    }
}

impl Member {
    /// Computes a piece of a launch. What is delivered has no columns.
    fn run_piece(
        &mut self,
        piece: &mut Piece<'_>,
        task: Task<'_>,
        control: Control<'_>,
    ) -> Result<RawResults, Error> {
        let launch = self.share_of(task.launch, &piece.agents);
        let same = |_: usize| Ok(Arc::clone(&launch));
        let target = RefCell::new(&mut piece.target);
        let lend = |act: &mut dyn FnMut(&mut Target<'_>)| act(&mut target.borrow_mut());
        let batch = Batch {
            runs: 1,
            launch: &same,
            complete_launch: &same,
            same_inputs: true,
            keep: task.keep,
            part: task.part,
            control,
            target: Some(&lend),
        };
        let mut found = None;
        let mut deliver = |_, raw| found = Some(raw);
        let run = self.executor.run(&batch, &mut deliver);
        clock::at_once(run).unwrap_or(Err(Error::MustNotBlock))?;
        found.ok_or(Error::Cancelled)
    }

    /// A share of a launch: the same as before if it is the same part, so that a device need not get the
    /// inputs again.
    fn share_of(&mut self, of: &Arc<Launch>, agents: &Range<u32>) -> Arc<Launch> {
        let is_same = |last: &&LastShare| Arc::ptr_eq(&last.of, of) && last.agents == *agents;
        if let Some(last) = self.share.as_ref().filter(is_same) {
            return Arc::clone(&last.launch);
        }
        let launch = Arc::new(of.share(agents.clone()));
        self.share = Some(LastShare {
            of: Arc::clone(of),
            agents: agents.clone(),
            launch: Arc::clone(&launch),
        });
        launch
    }
}

/// Adds the costs of what ran at the same time.
fn beside(all: &mut Telemetry, other: &Telemetry) {
    let longest = |a: f64, b: f64| a.max(b);
    let gpu = match (all.gpu_seconds, other.gpu_seconds) {
        (Some(a), Some(b)) => Some(longest(a, b)),
        (a, b) => a.or(b),
    };
    let wait = longest(all.wait_seconds, other.wait_seconds);
    all.add(other);
    (all.gpu_seconds, all.wait_seconds) = (gpu, wait);
}
