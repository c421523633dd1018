//! A cache of compiled pipelines on disk, so that a driver compiles a kernel once and not in every process.
//!
//! There is one file per kernel, adapter, driver and version of this crate. It holds the driver's data,
//! opaque to this crate, after a checksum. A file that is damaged, too large or writable by other users is
//! ignored. No failure here is an error: the kernel is then compiled without a cache.

mod file;

use crate::{
    clock::Stopwatch,
    gpu::device::{OpenDevice, Task},
    telemetry::CacheUse,
};
use std::path::PathBuf;

/// The first bytes of every file.
const MAGIC: &[u8; 8] = b"simpipe3";
/// Larger files are neither read nor written.
const MOST_BYTES: usize = 64 << 20;
/// Bytes of the checksum.
const CHECKSUM_BYTES: usize = 32;

/// Where pipelines are kept between processes.
pub(crate) struct CacheLocation {
    pub(crate) directory: PathBuf,
    /// Names the adapter.
    pub(crate) key: String,
}

/// The cache of a kernel that is being built.
pub(crate) struct Cache {
    handle: wgpu::PipelineCache,
    path: PathBuf,
    /// Whether the file has the kernel.
    known: bool,
}

impl Cache {
    /// Opens the cache for a kernel. `None` if the driver has no caches. With `checks`, the same text
    /// is another kernel.
    pub(crate) fn open(
        open: &OpenDevice,
        location: &CacheLocation,
        wgsl: &str,
        checks: bool,
    ) -> Option<Cache> {
        if !open.has(wgpu::Features::PIPELINE_CACHE) {
            return None;
        }
        let started = Stopwatch::start();
        let (version, driver) = (env!("CARGO_PKG_VERSION"), &open.adapter.driver);
        let kernel = checksum(format!("{version}\n{driver}\n{checks}\n{wgsl}").as_bytes());
        let kernel: String = kernel[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let name = format!("{}_{kernel}.{}", location.key, file::ENDING);
        let path = location.directory.join(name);
        let most = MAGIC.len() + CHECKSUM_BYTES + MOST_BYTES;
        let bytes = file::read(&path, most as u64);
        let data = bytes.as_deref().and_then(decode);
        let handle = open.guarded(Task::new("opening the pipeline cache"), || {
            // SAFETY: the data must come from `PipelineCache::get_data`. The data of this file does: the file
            // name has the adapter and a hash of the driver and the version of this crate, a cryptographic
            // checksum covers the data, and the file is a regular file of this user that nobody else can
            // write. So it is complete, and was written by a process of this user, who could also replace
            // this program. With `fallback`, wgpu checks its own header and the driver its own, and both
            // start with an empty cache on a mismatch.
            unsafe {
                open.device
                    .create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                        label: Some("sim"),
                        data,
                        fallback: true,
                    })
            }
        });
        let (handle, known) = (handle.ok()?, data.is_some());
        open.meter(|telemetry| {
            let found = if known { CacheUse::Hit } else { CacheUse::Miss };
            telemetry.pipeline_cache = Some(found);
            telemetry.cache_seconds += started.seconds();
        });
        Some(Cache {
            handle,
            path,
            known,
        })
    }

    /// The handle for the pipeline's descriptor.
    pub(crate) fn handle(&self) -> &wgpu::PipelineCache {
        &self.handle
    }

    /// Writes the file, if it does not have the kernel.
    pub(crate) fn save(&self, open: &OpenDevice) {
        if self.known {
            return;
        }
        let started = Stopwatch::start();
        let data = open.guarded(Task::new("reading the pipeline cache"), || {
            self.handle.get_data()
        });
        if let Ok(Some(blob)) = data
            && blob.len() <= MOST_BYTES
        {
            // On failure, the next process compiles the kernel again.
            let _ = file::write(&self.path, &encode(&blob));
        }
        open.meter(|telemetry| telemetry.cache_seconds += started.seconds());
    }
}

/// Magic, checksum, the driver's data.
fn encode(data: &[u8]) -> Vec<u8> {
    [MAGIC, &checksum(data)[..], data].concat()
}

/// The driver's data, if the file is complete.
fn decode(bytes: &[u8]) -> Option<&[u8]> {
    let (sum, data) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    (*sum == checksum(data)).then_some(data)
}

/// BLAKE3 in its own key derivation context.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    blake3::derive_key("sim-runtime 2026 compiled pipelines", bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_a_broken_file_is_none() {
        let bytes = encode(b"the driver's own");
        assert_eq!(decode(&bytes), Some(&b"the driver's own"[..]));
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut]), None, "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            assert_eq!(decode(&flipped), None, "flipped at {at}");
        }
    }
}
