//! The commands of a submission. The host takes longer to record them than to submit them, so those of a run that is
//! over in one submission are recorded once more while the device computes it, for the next run like it.

use super::{
    Built,
    buffers::{Buffers, Dispatch},
    device::{OpenDevice, Task},
    reduce::{Reducer, Reduction},
    staging::Mapping,
};
use crate::error::Error;

/// What the device does with them.
pub(super) const RUNNING: Task = Task::new("running the kernel");

/// What commands depend on, beside the kernel and the buffers.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Plan {
    /// The place of each dispatch, and its agents.
    dispatches: Vec<(usize, u32)>,
    /// How often they are computed.
    pub(super) repeats: u32,
    /// What comes back of each of so many places.
    pub(super) places: usize,
    bytes: u64,
    /// Does the device's clock time them?
    clocked: bool,
}

/// What goes into the commands of one submission only.
#[derive(Clone, Copy, Default)]
pub(super) struct Once<'a> {
    /// Dispatches whose tables of steps are filled if they are not yet.
    pub(super) prepared: &'a [Dispatch<'a>],
    /// What the results are reduced to.
    pub(super) reduced: Option<(&'a Reducer, &'a [Reduction])>,
}

/// Commands that are ready to be submitted, once.
pub(super) struct Commands {
    plan: Plan,
    buffer: wgpu::CommandBuffer,
    mapping: Mapping,
}

impl Plan {
    /// For the dispatches of a submission, with so many bytes to come back of each of so many places.
    pub(super) fn new(
        dispatches: &[Dispatch<'_>],
        repeats: u32,
        (places, bytes): (usize, u64),
        clocked: bool,
    ) -> Plan {
        let dispatches = dispatches.iter();
        Plan {
            dispatches: dispatches.map(|it| (it.place, it.chunk.1)).collect(),
            repeats,
            places,
            bytes,
            clocked,
        }
    }
}

impl Commands {
    /// Records the dispatches and the way back of their results.
    pub(super) fn record(
        open: &OpenDevice,
        built: &Built,
        buffers: &Buffers,
        plan: Plan,
        once: Once<'_>,
    ) -> Result<Commands, Error> {
        open.guarded(RUNNING, || {
            let mut encoder = open
                .device
                .create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("sim") });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
                label: Some("sim"),
                timestamp_writes: buffers.staging.timestamps(plan.clocked),
            });
            buffers.staging.start(&mut pass, plan.clocked);
            buffers.prepare(&mut pass, open, &built.kernel, once.prepared);
            for _ in 0..plan.repeats {
                let kernel = (&built.kernel, built.agents);
                buffers.record(&mut pass, open, kernel, &plan.dispatches);
            }
            drop(pass);
            let reductions = once.reduced.map_or(&[][..], |(reducer, reductions)| {
                reducer.record(&mut encoder, reductions);
                reductions
            });
            let results = buffers.places[..plan.places].iter();
            let results = results.map(|it| (&it.results.device, plan.bytes));
            let parts = results.chain(reductions.iter().map(Reduction::report));
            let mapping = buffers.staging.fill(&mut encoder, parts, plan.clocked);
            Commands {
                plan,
                buffer: encoder.finish(),
                mapping,
            }
        })
    }

    /// Are they what a plan asks for?
    pub(super) fn are_for(&self, plan: &Plan) -> bool {
        self.plan == *plan
    }

    /// Are they kept in the place of those: does the device's clock time both, or neither?
    pub(super) fn replace(&self, others: &Commands) -> bool {
        self.plan.clocked == others.plan.clocked
    }

    /// Sends them to the device.
    pub(super) fn submit(
        self,
        open: &OpenDevice,
    ) -> Result<(wgpu::SubmissionIndex, Mapping), Error> {
        let submission = open.guarded(RUNNING, || open.queue.submit([self.buffer]))?;
        open.meter(|telemetry| telemetry.submissions += 1);
        Ok((submission, self.mapping))
    }
}
