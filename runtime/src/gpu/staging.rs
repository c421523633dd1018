//! The staging buffer of a submission, through which the host reads its results, and the device's clock. The
//! submission itself fills and maps the buffer, so that there is one round trip.

use super::device::{OpenDevice, Task};
use crate::error::Error;
use std::sync::{Arc, OnceLock};

/// A buffer that the host can map.
pub(crate) struct Staging {
    buffer: wgpu::Buffer,
    clock: Option<Clock>,
}

/// Two timestamps around the dispatches of a submission.
struct Clock {
    queries: wgpu::QuerySet,
    /// Whether timestamps can be written within a pass.
    inside_passes: bool,
    seconds_per_tick: f64,
}

/// The range that a submission fills and maps. The submission has completed when it is mapped.
pub(crate) struct Mapping {
    bytes: u64,
    /// Whether the range begins with timestamps.
    timed: bool,
    mapped: Arc<OnceLock<Result<(), wgpu::BufferAsyncError>>>,
}

impl Mapping {
    /// Whether mapping has succeeded or failed.
    pub(crate) fn is_done(&self) -> bool {
        self.mapped.get().is_some()
    }
}

impl Staging {
    pub(crate) fn create(open: &OpenDevice, bytes: u64) -> Result<Staging, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        Ok(Staging {
            buffer: open.buffer("allocating the staging buffer", bytes, usage)?,
            clock: Clock::create(open)?,
        })
    }

    /// Whether submissions can be timed.
    pub(crate) fn has_clock(&self) -> bool {
        self.clock.is_some()
    }

    /// The clock, if a submission is timed.
    fn clock_if(&self, timed: bool) -> Option<&Clock> {
        self.clock.as_ref().filter(|_| timed)
    }

    /// Begins the pass of the dispatches, with timestamps on both sides if it is timed.
    pub(crate) fn begin_pass<'a>(
        &self,
        encoder: &'a mut wgpu::CommandEncoder,
        timed: bool,
    ) -> wgpu::ComputePass<'a> {
        let clock = self.clock_if(timed);
        let timestamp_writes = clock.map(|clock| wgpu::ComputePassTimestampWrites {
            query_set: &clock.queries,
            beginning_of_pass_write_index: (!clock.inside_passes).then_some(0),
            end_of_pass_write_index: Some(1),
        });
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("sim"),
            timestamp_writes,
        });
        // A timestamp at the beginning of the pass counts half a microsecond more, presumably for
        // the queries that wgpu clears right before it.
        if let Some(clock) = clock.filter(|clock| clock.inside_passes) {
            pass.write_timestamp(&clock.queries, 0);
        }
        pass
    }

    /// Records the end of a submission: copies the first bytes of each source, one after the other, and maps
    /// the copies. Timestamps of a timed submission replace the beginning of the first source.
    pub(crate) fn fill<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sources: impl Iterator<Item = (&'a wgpu::Buffer, u64)>,
        timed: bool,
    ) -> Mapping {
        let clock = self.clock_if(timed);
        let mut end = 0;
        for (source, bytes) in sources {
            if let Some(clock) = clock.filter(|_| end == 0) {
                encoder.resolve_query_set(&clock.queries, 0..2, source, 0);
            }
            encoder.copy_buffer_to_buffer(source, 0, &self.buffer, end, bytes);
            end += bytes;
        }
        let mapped = Arc::new(OnceLock::new());
        let on_mapped = Arc::clone(&mapped);
        encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Read, ..end, move |result| {
            // Called once.
            let _ = on_mapped.set(result);
        });
        Mapping {
            bytes: end,
            timed: clock.is_some(),
            mapped,
        }
    }

    /// Calls `read` with the mapped words and the seconds between the timestamps, then unmaps the buffer.
    ///
    /// # Errors
    /// [`Error::Device`] if the buffer is not mapped.
    pub(crate) fn read<T>(
        &self,
        open: &OpenDevice,
        mapping: &Mapping,
        read: impl FnOnce(&[u32], Option<f64>) -> T,
    ) -> Result<T, Error> {
        let task = Task::new("reading the results");
        let mapped = mapping.mapped.get();
        mapped
            .ok_or_else(|| open.failed(task, "the buffer was not mapped"))?
            .as_ref()
            .map_err(|error| open.failed(task, error))?;
        let view = self.buffer.slice(..mapping.bytes).get_mapped_range();
        let view = view.map_err(|error| open.failed(task, error))?;
        let words: &[u32] =
            bytemuck::try_cast_slice(&view).map_err(|error| open.failed(task, error))?;
        open.meter(|telemetry| telemetry.bytes_down += mapping.bytes);
        let clock = self.clock_if(mapping.timed);
        let value = read(words, clock.map(|clock| clock.seconds(words)));
        drop(view);
        self.buffer.unmap();
        Ok(value)
    }
}

impl Clock {
    /// `None` if the device has no timestamps.
    fn create(open: &OpenDevice) -> Result<Option<Clock>, Error> {
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
        Ok(Some(Clock {
            queries,
            inside_passes: features.contains(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES),
            seconds_per_tick: f64::from(open.queue.get_timestamp_period()) * 1e-9,
        }))
    }

    /// The seconds between the timestamps, from their words.
    fn seconds(&self, words: &[u32]) -> f64 {
        let time = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        time(2).saturating_sub(time(0)) as f64 * self.seconds_per_tick
    }
}
