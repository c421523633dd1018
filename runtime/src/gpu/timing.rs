//! Timing of submissions by the device's clock: two timestamps around the dispatches.

use crate::{
    error::Error,
    gpu::device::{OpenDevice, Task},
};

/// How a submission is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubmissionTiming {
    /// Whether timestamps are written.
    pub(crate) timestamps: bool,
    /// How often the dispatches are repeated between the timestamps, at least 1.
    pub(crate) repeats: u32,
}

/// The timestamp queries of a submission.
pub(crate) struct Timestamps {
    queries: wgpu::QuerySet,
    /// Whether timestamps can be written within a pass.
    inside_passes: bool,
    seconds_per_tick: f64,
}

impl Timestamps {
    /// Bytes of the resolved timestamps.
    pub(crate) const BYTES: u64 = 16;

    /// Allocates the queries. `None` if the device has no timestamps.
    pub(crate) fn create(open: &OpenDevice) -> Result<Option<Timestamps>, Error> {
        let features = open.device.features();
        if !features.contains(wgpu::Features::TIMESTAMP_QUERY) {
            return Ok(None);
        }
        let queries = open.guarded(Task::new("allocating the clock"), || {
            open.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sim"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        Ok(Some(Timestamps {
            queries,
            inside_passes: features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES),
            seconds_per_tick: f64::from(open.queue.get_timestamp_period()) * 1e-9,
        }))
    }

    /// The timestamps that the compute pass itself writes.
    pub(crate) fn pass_writes(&self) -> wgpu::ComputePassTimestampWrites<'_> {
        wgpu::ComputePassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: (!self.inside_passes).then_some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Writes the first timestamp, unless the pass does. A timestamp at the beginning of the pass counts half
    /// a microsecond more on an H200, presumably for the queries that wgpu clears right before it.
    pub(crate) fn begin(&self, pass: &mut wgpu::ComputePass<'_>) {
        if self.inside_passes {
            pass.write_timestamp(&self.queries, 0);
        }
    }

    /// Writes both timestamps to the beginning of a buffer.
    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder, buffer: &wgpu::Buffer) {
        encoder.resolve_query_set(&self.queries, 0..2, buffer, 0);
    }

    /// The seconds between the timestamps, from their words.
    pub(crate) fn seconds(&self, words: &[u32]) -> f64 {
        let time = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        time(2).saturating_sub(time(0)) as f64 * self.seconds_per_tick
    }
}
