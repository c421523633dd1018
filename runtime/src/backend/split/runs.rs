//! A batch of many runs on several devices, split by runs.

use super::{Member, SplitBackend, Work, is_of_device, lock, progress::Done, shares::Weights};
use crate::{
    batch::{Batch, Deliver, LaunchOf},
    bind::Launch,
    clock::{self, Stopwatch},
    control::{Control, Keep},
    cut::Part,
    error::Error,
    memory::Need,
    results::{RawResults, Share},
};
use std::{
    collections::BTreeMap,
    iter,
    ops::Range,
    sync::{
        Condvar, Mutex, PoisonError,
        mpsc::{self, Sender},
    },
    thread,
};

/// Blocks of runs for each device, so that all end at about the same time.
const BLOCKS: u32 = 4;
/// Most bytes of results that wait for those of runs before them.
const WAITING_BYTES: u64 = 256 << 20;

/// The parts of a batch that all threads see.
#[derive(Clone, Copy)]
struct Shared<'a> {
    launch: LaunchOf<'a>,
    complete_launch: LaunchOf<'a>,
    same_inputs: bool,
    keep: Keep,
    part: Part<'a>,
    /// Agents of a run, and agent-steps, at least one.
    agents: u32,
    each: u64,
}

/// Hands out work to the threads of all devices.
struct Scheduler<'a> {
    state: Mutex<State>,
    changed: Condvar,
    done: Done<'a>,
    /// All runs, and how many may wait for those before them.
    runs: u32,
    window: u32,
}

struct State {
    /// Runs that nobody computes yet, in their order.
    open: Vec<Range<u32>>,
    /// By device: the runs that it computes.
    busy: Vec<u32>,
    weights: Weights,
    work: Vec<Work>,
    failures: Vec<Option<Error>>,
    delivered: u32,
    /// The error of the first run that has one which no other device can help.
    stop: Option<(u32, Error)>,
}

impl SplitBackend {
    /// Runs a batch on all devices, and delivers its runs in the order of their numbers.
    pub(super) fn run_by_runs(
        &mut self,
        batch: &Batch<'_>,
        first: &Launch,
        deliver: Deliver<'_>,
    ) -> Result<(), Error> {
        let each = u64::from(first.agents) * batch.part.steps().len() as u64;
        let shared = Shared {
            launch: batch.launch,
            complete_launch: batch.complete_launch,
            same_inputs: batch.same_inputs,
            keep: batch.keep,
            part: batch.part,
            agents: first.agents,
            each: each.max(1),
        };
        let (count, runs) = (self.members.len(), batch.runs as u32);
        let scheduler = Scheduler {
            state: Mutex::new(State {
                open: iter::once(0..runs).collect(),
                busy: vec![0; count],
                weights: self.weights(),
                work: vec![Work::default(); count],
                failures: (0..count).map(|_| None).collect(),
                delivered: 0,
                stop: None,
            }),
            changed: Condvar::new(),
            done: Done::new(batch.control, each * batch.runs as u64, count),
            runs,
            window: self.window(first, batch.keep),
        };
        thread::scope(|scope| {
            let (sender, receiver) = mpsc::channel();
            let scheduler = &scheduler;
            for (device, member) in self.members.iter_mut().enumerate() {
                if member.failure.is_none() {
                    let sender = sender.clone();
                    scope.spawn(move || scheduler.work(device, member, shared, &sender));
                }
            }
            drop(sender);
            // Also if the caller's code panics, so that no thread waits for ever.
            let _stop = StopGuard(scheduler);
            let mut waiting = BTreeMap::new();
            let mut next = 0;
            for (number, raw) in receiver {
                waiting.insert(number, raw);
                while let Some(raw) = waiting.remove(&next) {
                    deliver(next as usize, raw);
                    next += 1;
                    lock(&scheduler.state).delivered = next;
                    scheduler.changed.notify_all();
                }
            }
        });
        let state = scheduler
            .state
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        self.learn(&state.work);
        let last = self.note(state.failures);
        match state.stop {
            Some((_, error)) => Err(error),
            None if state.open.is_empty() => Ok(()),
            None => Err(last.unwrap_or(Error::Cancelled)),
        }
    }

    /// How many runs like this one may wait for those before them.
    fn window(&self, launch: &Launch, keep: Keep) -> u32 {
        let manifest = &self.artifact.manifest;
        let mut need = Need::new(launch.agents);
        need.results(manifest, keep, 1);
        need.series(manifest, launch.steps, launch.worlds(), 1);
        (WAITING_BYTES / need.bytes().max(1)).clamp(1, 1 << 20) as u32
    }
}

impl Scheduler<'_> {
    /// Computes blocks of runs until none is left, or the device fails.
    fn work(
        &self,
        device: usize,
        member: &mut Member,
        shared: Shared<'_>,
        sender: &Sender<(u32, RawResults)>,
    ) {
        let _guard = WorkerGuard(self, device);
        while let Some(block) = self.next(device) {
            let mut started = Stopwatch::start();
            let mut send = |number: usize, mut raw: RawResults| {
                let seconds = started.seconds();
                started = Stopwatch::start();
                raw.shares = vec![Share {
                    member: device,
                    agents: shared.agents,
                    seconds,
                    failure: None,
                }];
                let mut state = lock(&self.state);
                let work = &mut state.work[device];
                work.amount += 1;
                work.seconds += seconds;
                work.agent_steps += shared.each as f64;
                state.busy[device] -= 1;
                // The receiver is gone only after a panic.
                let _ = sender.send((block.start + number as u32, raw));
            };
            let runs = u64::from(block.end - block.start);
            let result = self.done.with(device, runs * shared.each, |control| {
                shared.run(member, &block, control, &mut send)
            });
            let mut state = lock(&self.state);
            let left = std::mem::take(&mut state.busy[device]);
            match result {
                Ok(()) => {
                    let Work {
                        agent_steps,
                        seconds,
                        ..
                    } = state.work[device];
                    state
                        .weights
                        .measure(device, agent_steps / seconds.max(1e-9));
                }
                Err(error) => {
                    let first = block.end - left;
                    if is_of_device(&error) {
                        state.weights.fail(device);
                        state.failures[device] = Some(error);
                        state.open.push(first..block.end);
                        state.open.sort_by_key(|runs| runs.start);
                    } else if state.stop.as_ref().is_none_or(|(known, _)| first < *known) {
                        state.stop = Some((first, error));
                    }
                    return;
                }
            }
            drop(state);
            self.changed.notify_all();
        }
    }

    /// The next runs of a device. Waits while others have runs, which they may hand over, and while too many
    /// results wait for those before them.
    fn next(&self, device: usize) -> Option<Range<u32>> {
        let mut state = lock(&self.state);
        loop {
            let end = state.stop.as_ref().map_or(u32::MAX, |(first, _)| *first);
            let is_idle = state.busy.iter().all(|&runs| runs == 0);
            if !state.weights.has(device) {
                return None;
            }
            match state.open.first() {
                Some(runs) if runs.start >= end => return None,
                Some(runs) if is_idle || runs.start < state.delivered + self.window => break,
                None if is_idle => return None,
                Some(_) | None => {}
            }
            state = (self.changed.wait(state)).unwrap_or_else(PoisonError::into_inner);
        }
        let open: u32 = state.open.iter().map(|it| it.end - it.start).sum();
        let rest: Vec<f64> = state.busy.iter().map(|&runs| runs.into()).collect();
        let fair = state.weights.next(device, (open, self.runs), &rest, 1);
        let most = fair.div_ceil(BLOCKS).min(self.window).max(1);
        let mut runs = state.open.remove(0);
        if runs.end - runs.start > most {
            let later = runs.start + most..runs.end;
            runs.end = later.start;
            state.open.insert(0, later);
        }
        state.busy[device] = runs.end - runs.start;
        Some(runs)
    }
}

impl Shared<'_> {
    /// Runs a block of the batch.
    fn run(
        &self,
        member: &mut Member,
        block: &Range<u32>,
        control: Control<'_>,
        deliver: Deliver<'_>,
    ) -> Result<(), Error> {
        let first = block.start as usize;
        let batch = Batch {
            runs: (block.end - block.start) as usize,
            launch: &|number| (self.launch)(first + number),
            complete_launch: &|number| (self.complete_launch)(first + number),
            same_inputs: self.same_inputs,
            keep: self.keep,
            part: self.part,
            control,
            target: None,
        };
        let run = member.executor.run(&batch, deliver);
        clock::at_once(run).unwrap_or(Err(Error::MustNotBlock))
    }
}

/// Says that a device computes no more, also after a panic.
struct WorkerGuard<'b, 'a>(&'b Scheduler<'a>, usize);

impl Drop for WorkerGuard<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).busy[self.1] = 0;
        self.0.changed.notify_all();
    }
}

/// Ends all work that is not begun, if the caller takes no more results.
struct StopGuard<'b, 'a>(&'b Scheduler<'a>);

impl Drop for StopGuard<'_, '_> {
    fn drop(&mut self) {
        if thread::panicking() {
            lock(&self.0.state).stop = Some((0, Error::Cancelled));
            self.0.changed.notify_all();
        }
    }
}
