//! Buffers and what is written to them, with errors that say what for.

use crate::{
    error::Error,
    gpu::device::{OpenDevice, Task},
};

/// Allocates a buffer.
pub(crate) fn buffer(
    open: &OpenDevice,
    during: &'static str,
    bytes: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    open.guarded(Task { during, bytes }, || {
        open.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sim"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    })
}

/// Writes words to the beginning of a buffer, and counts them.
pub(crate) fn upload(
    open: &OpenDevice,
    during: &'static str,
    buffer: &wgpu::Buffer,
    words: &[u32],
) -> Result<(), Error> {
    open.meter(|telemetry| telemetry.bytes_up += words.len() as u64 * 4);
    write(open, during, buffer, 0, words)
}

/// Writes words to a buffer from the byte `offset` on.
pub(crate) fn write(
    open: &OpenDevice,
    during: &'static str,
    buffer: &wgpu::Buffer,
    offset: u64,
    words: &[u32],
) -> Result<(), Error> {
    let bytes = words.len() as u64 * 4;
    open.guarded(Task { during, bytes }, || {
        open.queue
            .write_buffer(buffer, offset, bytemuck::cast_slice(words));
    })
}
