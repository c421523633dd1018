//! The way back to the host: one buffer that holds all that a submission's runs give back, filled and mapped by that
//! submission, so that there is one round trip and no more.

use crate::{
    error::Error,
    gpu::{
        device::{OpenDevice, Task},
        upload::buffer,
    },
};
use std::sync::mpsc::{self, Receiver, TryRecvError};

/// The buffer, and the clock of the device if it has one.
pub(crate) struct Staging {
    buffer: wgpu::Buffer,
    clock: Option<Clock>,
}

/// What measures the dispatches of a compute pass.
struct Clock {
    queries: wgpu::QuerySet,
    /// Can it be read within a pass? Else it starts with the pass.
    within: bool,
    /// Seconds of one tick.
    tick: f64,
}

/// What became of a request to map a buffer.
type Mapped = Result<(), wgpu::BufferAsyncError>;

/// A part of the buffer that a submission fills and maps: the submission is done when it is mapped.
pub(crate) struct Mapping {
    bytes: u64,
    /// Are there timestamps in it?
    clocked: bool,
    done: Receiver<Mapped>,
    mapped: Option<Mapped>,
}

impl Mapping {
    /// Is it mapped, or will it never be?
    pub(crate) fn is_done(&mut self) -> bool {
        if self.mapped.is_none() {
            self.mapped = match self.done.try_recv() {
                Ok(mapped) => Some(mapped),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Disconnected) => Some(Err(wgpu::BufferAsyncError)),
            };
        }
        self.mapped.is_some()
    }
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
            buffer: buffer(open, "allocating the way back", bytes, usage)?,
            clock: has_clock.then(|| Clock::create(open)).transpose()?,
        })
    }

    /// Has the device a clock?
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// For the compute pass, if it is to be `clocked`.
    pub(crate) fn timestamps(&self, clocked: bool) -> Option<wgpu::ComputePassTimestampWrites<'_>> {
        let clock = self.clock.as_ref().filter(|_| clocked)?;
        Some(wgpu::ComputePassTimestampWrites {
            query_set: &clock.queries,
            beginning_of_pass_write_index: (!clock.within).then_some(0),
            end_of_pass_write_index: Some(1),
        })
    }

    /// Starts the clock within the pass, if it is `clocked` and did not start with it: one that does counts half a
    /// microsecond more on an H200, presumably for the queries that wgpu clears right before.
    pub(crate) fn start(&self, pass: &mut wgpu::ComputePass<'_>, clocked: bool) {
        if let Some(clock) = self.clock.as_ref().filter(|it| clocked && it.within) {
            pass.write_timestamp(&clock.queries, 0);
        }
    }

    /// Ends a submission: copies so many bytes of the beginning of each part, one after the other, and maps what was
    /// copied. Timestamps, if it is `clocked`, lie at the beginning of the first.
    pub(crate) fn fill<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        parts: impl Iterator<Item = (&'a wgpu::Buffer, u64)>,
        clocked: bool,
    ) -> Mapping {
        let clock = self.clock.as_ref().filter(|_| clocked);
        let mut end = 0;
        for (part, bytes) in parts {
            if let Some(clock) = clock.filter(|_| end == 0) {
                encoder.resolve_query_set(&clock.queries, 0..2, part, 0);
            }
            encoder.copy_buffer_to_buffer(part, 0, &self.buffer, end, bytes);
            end += bytes;
        }
        let (sender, done) = mpsc::channel();
        encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Read, ..end, move |mapped| {
            // The receiver is gone only if the run has failed already.
            let _ = sender.send(mapped);
        });
        Mapping {
            bytes: end,
            clocked: clock.is_some(),
            done,
            mapped: None,
        }
    }

    /// Gives what was mapped to `read`, with the seconds that the device's clock counted, and unmaps it.
    pub(crate) fn read<T>(
        &self,
        open: &OpenDevice,
        mut mapping: Mapping,
        read: impl FnOnce(&[u32], Option<f64>) -> T,
    ) -> Result<T, Error> {
        let failed = |message: String| Error::Device {
            adapter: open.adapter.name.clone(),
            during: "reading the results",
            message,
        };
        mapping.is_done();
        mapping
            .mapped
            .ok_or_else(|| failed("the buffer was not mapped".to_owned()))?
            .map_err(|error| failed(error.to_string()))?;
        let view = self
            .buffer
            .slice(..mapping.bytes)
            .get_mapped_range()
            .map_err(|error| failed(error.to_string()))?;
        let words: &[u32] =
            bytemuck::try_cast_slice(&view).map_err(|error| failed(error.to_string()))?;
        open.meter(|telemetry| telemetry.bytes_down += mapping.bytes);
        let clock = self.clock.as_ref().filter(|_| mapping.clocked);
        let value = read(words, clock.map(|clock| clock.seconds(words)));
        drop(view);
        self.buffer.unmap();
        Ok(value)
    }
}

impl Clock {
    fn create(open: &OpenDevice) -> Result<Clock, Error> {
        let queries = open.guarded(Task::new("allocating the clock"), || {
            open.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sim"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        })?;
        Ok(Clock {
            queries,
            within: open
                .device
                .features()
                .contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES),
            tick: f64::from(open.queue.get_timestamp_period()) * 1e-9,
        })
    }

    /// What it counted.
    fn seconds(&self, words: &[u32]) -> f64 {
        let time = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        time(2).saturating_sub(time(0)) as f64 * self.tick
    }
}
