//! Several devices as one backend.
//!
//! A run is split by agents (`agents`): the population is cut between worlds or units, each device computes
//! some consecutive agents of it on a thread of its own, and writes their rows to the columns of the whole
//! run. All that is combined over agents is combined afterwards, from these columns, by what combines it for
//! one device; so a run has the bits that it has there. A batch of many runs is split by runs (`runs`), each
//! of which is whole.
//!
//! How large a share is follows from the speeds that were measured before (`shares`). A device that fails
//! computes no more; what it had not finished goes to the others.

mod agents;
mod progress;
mod runs;
mod shares;
#[cfg(test)]
mod tests;

use crate::{
    adapter::AdapterKind,
    batch::{Batch, Deliver, Executor, Running},
    bind::Launch,
    clock,
    control::Keep,
    error::Error,
    memory::Need,
    parallel,
    results::{RawResults, Share},
    run::Device,
};
use shares::Weights;
use sim_compiler::artifact::Artifact;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Runs per device from which on a batch is split by runs.
const MANY_RUNS: usize = 4;

/// One of the devices.
pub(crate) struct Member {
    /// As the caller calls it.
    name: String,
    device: Device,
    executor: Box<dyn Executor>,
    /// Agent-steps per second, once measured.
    speed: Option<f64>,
    /// Why it computes no more.
    failure: Option<String>,
    /// The last share of a launch, which has its inputs on the device.
    share: Option<agents::LastShare>,
}

impl Member {
    pub(crate) fn new(name: String, executor: Box<dyn Executor>) -> Member {
        Member {
            name,
            device: executor.device(),
            executor,
            speed: None,
            failure: None,
            share: None,
        }
    }

    /// The backend alone, for one device.
    pub(crate) fn into_executor(self) -> Box<dyn Executor> {
        self.executor
    }
}

/// Several devices, ready to run one model.
pub(crate) struct SplitBackend {
    artifact: Arc<Artifact>,
    /// At least one.
    members: Vec<Member>,
}

/// What a device computed in a batch, and how long it took.
#[derive(Clone, Debug, Default)]
struct Work {
    /// Agents, or runs.
    amount: u32,
    agent_steps: f64,
    seconds: f64,
}

impl SplitBackend {
    pub(crate) fn new(artifact: Arc<Artifact>, members: Vec<Member>) -> SplitBackend {
        SplitBackend { artifact, members }
    }

    fn run_all(&mut self, batch: &Batch<'_>, deliver: Deliver<'_>) -> Result<(), Error> {
        if batch.part.from.is_some() || batch.target.is_some() {
            return Err(not_split("a run in parts"));
        }
        // A thread of rayon's pool must not wait for threads that ask rayon for work.
        if parallel::in_pool() || cfg!(target_family = "wasm") {
            return self.run_on_first(batch, deliver);
        }
        let first = (batch.launch)(0)?;
        if batch.part.is_cut(first.steps) {
            return Err(not_split("a run in parts"));
        }
        let alive = self.alive();
        let pieces = first.agents.div_ceil(shares::granule(&first)) as usize;
        let few = batch.runs < MANY_RUNS * alive && pieces >= 2 * alive;
        if batch.runs > 1 && !few {
            return self.run_by_runs(batch, &first, deliver);
        }
        for number in 0..batch.runs {
            let control = batch.control;
            let raw = control.part(number, batch.runs, |control| {
                self.run_by_agents(batch, number, control)
            })?;
            deliver(number, raw);
        }
        Ok(())
    }

    /// Runs a batch on the first device.
    fn run_on_first(&mut self, batch: &Batch<'_>, deliver: Deliver<'_>) -> Result<(), Error> {
        let alive = self.members.iter().position(|it| it.failure.is_none());
        let at = alive.ok_or_else(|| not_split("a run whose devices have failed"))?;
        let agents = (batch.launch)(0)?.agents;
        let mut deliver = |number, mut raw: RawResults| {
            raw.shares = vec![Share {
                member: at,
                agents,
                seconds: 0.0,
                failure: None,
            }];
            deliver(number, raw);
        };
        let run = self.members[at].executor.run(batch, &mut deliver);
        clock::at_once(run).unwrap_or(Err(Error::MustNotBlock))
    }

    /// The number of devices that have not failed.
    fn alive(&self) -> usize {
        self.members
            .iter()
            .filter(|it| it.failure.is_none())
            .count()
    }

    /// Whether all devices are of one kind.
    fn are_alike(&self) -> bool {
        (self.members.windows(2)).all(|pair| pair[0].device == pair[1].device)
    }

    /// How fast the devices are, as far as it is known.
    fn weights(&self) -> Weights {
        let of = |member: &Member| match member.failure {
            Some(_) => None,
            None => Some((member.speed, guess(&member.device))),
        };
        Weights::new(self.members.iter().map(of), self.are_alike())
    }

    /// Notes which devices have failed, and gives the error of one of them.
    fn note(&mut self, failures: Vec<Option<Error>>) -> Option<Error> {
        let mut last = None;
        for (member, failure) in self.members.iter_mut().zip(failures) {
            if let Some(error) = failure {
                member.failure = Some(error.to_string());
                last = Some(error);
            }
        }
        last
    }

    /// Learns from what the devices did side by side.
    fn learn(&mut self, work: &[Work]) {
        let old: Vec<_> = self.members.iter().map(|it| it.speed).collect();
        let done: Vec<_> = work.iter().map(|it| (it.agent_steps, it.seconds)).collect();
        let learnt = shares::learn(&old, &done, self.are_alike());
        for (member, speed) in self.members.iter_mut().zip(learnt) {
            member.speed = speed;
        }
    }
}

impl Executor for SplitBackend {
    fn device(&self) -> Device {
        self.members[0].device.clone()
    }

    fn members(&self) -> Vec<(String, Device)> {
        let member = |it: &Member| (it.name.clone(), it.device.clone());
        self.members.iter().map(member).collect()
    }

    /// The results, once, and what each device needs beside them.
    fn need(&self, launch: &Launch, keep: Keep, held: usize) -> Need {
        let manifest = &self.artifact.manifest;
        let mut need = Need::new(launch.agents);
        // Of a batch, some runs wait for those before them.
        let held = if held > 1 {
            held + self.members.len()
        } else {
            held
        };
        need.results(manifest, keep.with_outputs(), held);
        need.series(manifest, launch.steps, launch.worlds(), held);
        let results = need.bytes();
        for member in &self.members {
            let own = (member.executor).need(launch, keep.with_outputs(), held);
            need.fixed(
                "work space of a device",
                own.bytes().saturating_sub(results),
            );
        }
        need
    }

    fn run<'a>(&'a mut self, batch: &'a Batch<'a>, deliver: Deliver<'a>) -> Running<'a> {
        Box::pin(async { self.run_all(batch, deliver) })
    }
}

/// Whether another device may do better than the one that returned the error.
fn is_of_device(error: &Error) -> bool {
    matches!(
        error,
        Error::DeviceLost { .. }
            | Error::DeviceRefused { .. }
            | Error::GpuMemory { .. }
            | Error::Device { .. }
    )
}

/// How fast a device may be beside others, before anything was measured.
fn guess(device: &Device) -> f64 {
    match device {
        Device::Gpu(adapter) => match adapter.kind {
            AdapterKind::Discrete | AdapterKind::Virtual => 64.0,
            AdapterKind::Integrated => 8.0,
            AdapterKind::Other | AdapterKind::Software => 1.0,
        },
        Device::Cpu(_) => 2.0,
        Device::Reference => 0.1,
    }
}

fn not_split(what: &'static str) -> Error {
    Error::NotOnDevices { what }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
