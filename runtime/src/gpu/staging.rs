//! The staging buffer of a submission, through which the host reads its results. The submission itself fills
//! and maps the buffer, so that there is one round trip.

use super::{device::OpenDevice, timing::Timestamps};
use crate::error::Error;
use std::sync::mpsc::{self, Receiver, TryRecvError};

/// A buffer that the host can map, and the timestamps of its submissions.
pub(crate) struct Staging {
    buffer: wgpu::Buffer,
    /// `None` if the device has no timestamps.
    pub(crate) timestamps: Option<Timestamps>,
}

/// The outcome of mapping a buffer.
type Mapped = Result<(), wgpu::BufferAsyncError>;

/// The range that a submission fills and maps. The submission has completed when it is mapped.
pub(crate) struct Mapping {
    bytes: u64,
    /// Whether the range begins with timestamps.
    timed: bool,
    done: Receiver<Mapped>,
    mapped: Option<Mapped>,
}

impl Mapping {
    /// Whether mapping has succeeded or failed.
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
    pub(crate) fn create(open: &OpenDevice, bytes: u64) -> Result<Staging, Error> {
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        Ok(Staging {
            buffer: open.buffer("allocating the staging buffer", bytes, usage)?,
            timestamps: Timestamps::create(open)?,
        })
    }

    /// The timestamps, if a submission is timed.
    pub(crate) fn timestamps_if(&self, timed: bool) -> Option<&Timestamps> {
        self.timestamps.as_ref().filter(|_| timed)
    }

    /// Records the end of a submission: copies the first bytes of each source, one after the other, and maps
    /// the copies. Timestamps of a timed submission replace the beginning of the first source.
    pub(crate) fn fill<'a>(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        sources: impl Iterator<Item = (&'a wgpu::Buffer, u64)>,
        timed: bool,
    ) -> Mapping {
        let timestamps = self.timestamps_if(timed);
        let mut end = 0;
        for (source, bytes) in sources {
            if let Some(timestamps) = timestamps.filter(|_| end == 0) {
                timestamps.resolve(encoder, source);
            }
            encoder.copy_buffer_to_buffer(source, 0, &self.buffer, end, bytes);
            end += bytes;
        }
        let (sender, done) = mpsc::channel();
        encoder.map_buffer_on_submit(&self.buffer, wgpu::MapMode::Read, ..end, move |mapped| {
            // Sending fails only if the run has failed already.
            let _ = sender.send(mapped);
        });
        Mapping {
            bytes: end,
            timed: timestamps.is_some(),
            done,
            mapped: None,
        }
    }

    /// Calls `read` with the mapped words and the seconds between the timestamps, then unmaps the buffer.
    ///
    /// # Errors
    /// [`Error::Device`] if the buffer is not mapped.
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
        let timestamps = self.timestamps_if(mapping.timed);
        let value = read(words, timestamps.map(|it| it.seconds(words)));
        drop(view);
        self.buffer.unmap();
        Ok(value)
    }
}
