//! One submission: its dispatches, and the staging buffer through which the host reads their results. The
//! submission itself fills and maps the buffer, so that there is one round trip.

use super::{
    device::{OpenDevice, Task},
    entry_point::{Dispatch, record},
};
#[cfg(not(target_family = "wasm"))]
use crate::clock;
use crate::{clock::Stopwatch, error::Error};
#[cfg(target_family = "wasm")]
use std::task::Poll;
use std::{
    ops::Range,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    task::Waker,
};

/// Recording, submitting and waiting, in errors.
pub(super) const RUNNING: Task = Task::new("running the kernel");

/// The work of a submission, in the order of its execution.
pub(super) struct Commands<'a> {
    pub(super) dispatches: Vec<Dispatch<'a>>,
    /// Dispatches after these, which are not timed.
    pub(super) untimed: Vec<Dispatch<'a>>,
    /// Buffers and which of their bytes are read back, one after the other. If the submission is timed, the
    /// timestamps replace the beginning of the first one.
    pub(super) copies: Vec<(&'a wgpu::Buffer, Range<u64>)>,
    pub(super) timed: bool,
}

/// Work on the device. It has completed when its results are mapped.
pub(super) struct Submitted {
    #[cfg(not(target_family = "wasm"))]
    pub(super) index: wgpu::SubmissionIndex,
    /// Bytes that are read back.
    bytes: u64,
    timed: bool,
    mapped: Arc<Mapped>,
}

/// Whether a buffer is mapped, and who waits for it.
#[derive(Default)]
struct Mapped {
    result: OnceLock<Result<(), wgpu::BufferAsyncError>>,
    waiting: Mutex<Option<Waker>>,
}

impl Mapped {
    fn waiting(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Submitted {
    /// Whether it has completed or failed.
    pub(super) fn is_done(&self) -> bool {
        self.mapped.result.get().is_some()
    }

    /// Waits until it has completed. Blocks this thread, except in a browser.
    ///
    /// # Errors
    /// Those of the device.
    #[cfg(target_family = "wasm")]
    pub(super) async fn wait(&self, open: &OpenDevice) -> Result<(), Error> {
        self.done(open).await;
        open.settle().await
    }

    /// Waits until it has completed. Blocks this thread, except in a browser.
    ///
    /// # Errors
    /// Those of the device.
    #[cfg(not(target_family = "wasm"))]
    pub(super) async fn wait(&self, open: &OpenDevice) -> Result<(), Error> {
        let now = clock::now();
        open.wait(RUNNING, self.index.clone(), now, || self.is_done())
    }

    /// Waits until it has completed or failed, where the device completes it without being polled.
    #[cfg(target_family = "wasm")]
    pub(super) async fn done(&self, open: &OpenDevice) {
        std::future::poll_fn(|context| {
            *self.mapped.waiting() = Some(context.waker().clone());
            match self.is_done() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
        if matches!(self.mapped.result.get(), Some(Err(_))) {
            open.learn_of_loss().await;
        }
    }
}

/// A buffer that the host can map.
pub(super) struct Staging {
    buffer: wgpu::Buffer,
    /// Two timestamps, if the device has any.
    queries: Option<wgpu::QuerySet>,
}

impl Staging {
    /// Allocates `bytes` bytes.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(super) fn create(open: &OpenDevice, bytes: u64) -> Result<Staging, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let queries = || {
            open.device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("sim"),
                ty: wgpu::QueryType::Timestamp,
                count: 2,
            })
        };
        let has_clock = open.has(wgpu::Features::TIMESTAMP_QUERY);
        Ok(Staging {
            buffer: open.buffer("allocating the staging buffer", bytes, usage)?,
            queries: has_clock
                .then(|| open.guarded(Task::new("allocating the clock"), queries))
                .transpose()?,
        })
    }

    /// Whether submissions can be timed.
    pub(super) fn has_clock(&self) -> bool {
        self.queries.is_some()
    }

    /// Records commands and hands them to the device.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn submit(
        &self,
        open: &OpenDevice,
        commands: &Commands<'_>,
    ) -> Result<Submitted, Error> {
        let mapped = Arc::new(Mapped::default());
        let on_mapped = Arc::clone(&mapped);
        let copies = commands.copies.iter();
        let bytes = copies.map(|(_, bytes)| bytes.end - bytes.start).sum();
        let started = Stopwatch::start();
        let recorded = open.guarded(RUNNING, || {
            let encoder = self.record(open, commands);
            encoder.map_buffer_on_submit(
                &self.buffer,
                wgpu::MapMode::Read,
                ..bytes,
                move |result| {
                    // Called once.
                    let _ = on_mapped.result.set(result);
                    if let Some(waiting) = on_mapped.waiting().take() {
                        waiting.wake();
                    }
                },
            );
            encoder.finish()
        })?;
        open.meter(|telemetry| telemetry.record_seconds += started.seconds());
        #[cfg_attr(
            target_family = "wasm",
            expect(unused_variables, reason = "nobody asks a browser whether it is done")
        )]
        let index = open.guarded(RUNNING, || open.queue.submit([recorded]))?;
        open.meter(|telemetry| telemetry.submissions += 1);
        Ok(Submitted {
            #[cfg(not(target_family = "wasm"))]
            index,
            bytes,
            timed: commands.timed && self.has_clock(),
            mapped,
        })
    }

    fn record(&self, open: &OpenDevice, commands: &Commands<'_>) -> wgpu::CommandEncoder {
        let label = Some("sim");
        let descriptor = wgpu::CommandEncoderDescriptor { label };
        let mut encoder = open.device.create_command_encoder(&descriptor);
        let clock = self.queries.as_ref().filter(|_| commands.timed);
        // A timestamp at the beginning of the pass counts half a microsecond more, presumably for
        // the queries that wgpu clears right before it.
        let inside = open.has(wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES);
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label,
            timestamp_writes: clock.map(|query_set| wgpu::ComputePassTimestampWrites {
                query_set,
                beginning_of_pass_write_index: (!inside).then_some(0),
                end_of_pass_write_index: Some(1),
            }),
        });
        if let Some(queries) = clock.filter(|_| inside) {
            pass.write_timestamp(queries, 0);
        }
        record(&mut pass, &commands.dispatches);
        if clock.is_none() {
            record(&mut pass, &commands.untimed);
        }
        drop(pass);
        if clock.is_some() && !commands.untimed.is_empty() {
            record(
                &mut encoder.begin_compute_pass(&Default::default()),
                &commands.untimed,
            );
        }
        if let (Some(queries), Some((first, _))) = (clock, commands.copies.first()) {
            encoder.resolve_query_set(queries, 0..2, first, 0);
        }
        let mut end = 0;
        for (source, bytes) in &commands.copies {
            let count = bytes.end - bytes.start;
            encoder.copy_buffer_to_buffer(source, bytes.start, &self.buffer, end, count);
            end += count;
        }
        encoder
    }

    /// Calls `read` with the mapped words and the seconds between the timestamps, then unmaps the buffer.
    ///
    /// # Errors
    /// [`Error::Device`] if the buffer is not mapped.
    pub(super) fn read<T>(
        &self,
        open: &OpenDevice,
        submitted: &Submitted,
        read: impl FnOnce(&[u32], Option<f64>) -> T,
    ) -> Result<T, Error> {
        let failed = |message: &dyn ToString| {
            open.failed(Task::new("reading the results"), message.to_string())
        };
        match submitted.mapped.result.get() {
            None => return Err(failed(&"the buffer was not mapped")),
            Some(Err(error)) => return Err(failed(error)),
            Some(Ok(())) => {}
        }
        let view = self.buffer.slice(..submitted.bytes).get_mapped_range();
        let view = view.map_err(|error| failed(&error))?;
        let words: &[u32] = bytemuck::try_cast_slice(&view).map_err(|error| failed(&error))?;
        open.meter(|telemetry| telemetry.bytes_down += submitted.bytes);
        let time = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
        let ticks = submitted.timed.then(|| time(2).saturating_sub(time(0)));
        let seconds_per_tick = f64::from(open.queue.get_timestamp_period()) * 1e-9;
        let value = read(words, ticks.map(|ticks| ticks as f64 * seconds_per_tick));
        drop(view);
        self.buffer.unmap();
        Ok(value)
    }
}
