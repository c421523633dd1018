//! The way back to the host: one buffer that holds all that a run reads, filled and mapped by the submission
//! that computes it, so that there is one round trip and no more.
//!
//! Its words: two timestamps of 64 bits each, then what is kept of a chunk: step counts and outputs, and states.

use crate::{
    error::Error,
    gpu::{
        buffers::{Buffers, Results, buffer},
        device::{OpenDevice, Task},
    },
    run::Keep,
};
use sim_compiler::manifest::Manifest;
use std::sync::mpsc;

/// Words of the two timestamps.
const HEAD: usize = 4;
/// Their bytes.
const HEAD_BYTES: u64 = HEAD as u64 * 4;

/// The buffer, and the clock of the device if it has one.
pub(crate) struct Staging {
    buffer: wgpu::Buffer,
    clock: Option<Clock>,
}

/// What measures a compute pass.
struct Clock {
    queries: wgpu::QuerySet,
    /// Where the timestamps are put before they are copied.
    resolved: wgpu::Buffer,
    /// Seconds of one tick.
    tick: f64,
}

/// A part of the buffer that a submission fills and maps.
pub(crate) struct Mapping {
    bytes: u64,
    done: mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
}

/// Bytes for a chunk of so many agents.
pub(crate) fn bytes(manifest: &Manifest, agents: u32, keep: Keep) -> u64 {
    let mut words = 0;
    if keep.outputs {
        words += 1 + u64::from(manifest.output_words);
    }
    if keep.states {
        words += u64::from(manifest.state_words);
    }
    HEAD_BYTES + words * 4 * u64::from(agents)
}

impl Staging {
    /// Allocates so many bytes.
    pub(crate) fn create(open: &OpenDevice, bytes: u64) -> Result<Staging, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let has_clock = open
            .device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY);
        Ok(Staging {
            buffer: buffer(open, "allocating the results", bytes, usage)?,
            clock: has_clock.then(|| Clock::create(open)).transpose()?,
        })
    }

    /// For the compute pass that is to be measured.
    pub(crate) fn timestamps(&self) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let clock = self.clock.as_ref()?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &clock.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        })
    }

    /// Ends a submission: copies its timestamps, and the results of `count` agents if there are any, and maps
    /// what was copied.
    pub(crate) fn fill<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        results: impl Iterator<Item = &'a Results>,
        count: u32,
    ) -> Option<Mapping> {
        let mut bytes = HEAD_BYTES;
        if let Some(clock) = &self.clock {
            encoder.resolve_query_set(&clock.queries, 0..2, &clock.resolved, 0);
            encoder.copy_buffer_to_buffer(&clock.resolved, 0, &self.buffer, 0, HEAD_BYTES);
        }
        for results in results {
            let size = u64::from(count) * u64::from(results.words) * 4;
            encoder.copy_buffer_to_buffer(&results.device, 0, &self.buffer, bytes, size);
            bytes += size;
        }
        if self.clock.is_none() && bytes == HEAD_BYTES {
            return None;
        }
        let (sender, done) = mpsc::channel();
        encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Read, ..bytes, move |mapped| {
            // The receiver is gone only if the run has failed already.
            let _ = sender.send(mapped);
        });
        Some(Mapping { bytes, done })
    }

    /// Gives what was mapped to `read` and unmaps it; with the seconds that the device's clock counted. The
    /// device must have been waited for.
    pub(crate) fn read<T>(
        &self,
        open: &OpenDevice,
        mapping: &Mapping,
        read: impl FnOnce(&[u32]) -> T,
    ) -> Result<(T, Option<f64>), Error> {
        let failed = |message: String| Error::Device {
            adapter: open.adapter.name.clone(),
            during: "reading the results",
            message,
        };
        mapping
            .done
            .try_recv()
            .map_err(|_| failed("the buffer was not mapped".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        let view = self
            .buffer
            .slice(..mapping.bytes)
            .get_mapped_range()
            .map_err(|error| failed(error.to_string()))?;
        let words: &[u32] =
            bytemuck::try_cast_slice(&view).map_err(|error| failed(error.to_string()))?;
        let seconds = self.seconds(words);
        open.meter(|telemetry| {
            telemetry.bytes_down += mapping.bytes;
            if let Some(seconds) = seconds {
                *telemetry.gpu_seconds.get_or_insert(0.0) += seconds;
            }
        });
        let value = read(words);
        drop(view);
        self.buffer.unmap();
        Ok((value, seconds))
    }

    /// What the device's clock counted for the compute pass.
    fn seconds(&self, words: &[u32]) -> Option<f64> {
        let clock = self.clock.as_ref()?;
        let time = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        Some(time(2).saturating_sub(time(0)) as f64 * clock.tick)
    }
}

impl Clock {
    fn create(open: &OpenDevice) -> Result<Clock, Error> {
        let task = "allocating the clock";
        let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
        let queries = open.guarded(Task::new(task), || {
            open.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sim"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        Ok(Clock {
            queries,
            resolved: buffer(open, task, HEAD_BYTES, usage)?,
            tick: f64::from(open.queue.get_timestamp_period()) * 1e-9,
        })
    }
}

/// The words of the results in a mapped buffer, one after the other.
pub(crate) struct Words<'a>(&'a [u32]);

impl<'a> Words<'a> {
    /// After the timestamps.
    pub(crate) fn new(words: &'a [u32]) -> Words<'a> {
        Words(&words[HEAD..])
    }

    /// The next results.
    pub(crate) fn take(&mut self, words: usize) -> &'a [u32] {
        let (taken, rest) = self.0.split_at(words);
        self.0 = rest;
        taken
    }
}

/// The results that are read back, in the order in which they lie: step counts, outputs, states.
pub(crate) fn results(buffers: &Buffers, keep: Keep) -> impl Iterator<Item = &Results> {
    let states = buffers.states.iter().filter(move |_| keep.states);
    [&buffers.progress]
        .into_iter()
        .chain(&buffers.outputs)
        .filter(move |_| keep.outputs)
        .chain(states)
}
