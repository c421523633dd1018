//! A cache of compiled pipelines on disk, so that a driver compiles a kernel once and not in every process.
//!
//! There is one file per adapter and version of this crate. It holds the driver's data, opaque to this crate,
//! after a header: the driver's version, the kernels in it, and a checksum. A file that is damaged, of
//! another driver, too large or writable by other users is ignored. No failure here is an error: the kernel
//! is then compiled without a cache.

mod file;

use crate::{
    clock::Stopwatch,
    gpu::device::{OpenDevice, Task},
    telemetry::CacheUse,
};
use std::path::{Path, PathBuf};

/// The first bytes of every file.
const MAGIC: &[u8; 8] = b"simpipe2";
/// Larger files are ignored, and larger caches are started again: drivers never evict a pipeline.
const MOST_BYTES: usize = 64 << 20;
/// A cache with more kernels is started again.
const MOST_KERNELS: usize = 512;

/// Bytes of the checksum.
const CHECKSUM_BYTES: usize = 32;
/// Bytes before the kernels: magic, checksum, driver, number of kernels.
const HEAD_BYTES: usize = MAGIC.len() + CHECKSUM_BYTES + 16;

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
    driver: u64,
    /// The kernels in it, this one last.
    kernels: Vec<u64>,
    known: bool,
}

/// The content of a file.
#[derive(Debug, Default, PartialEq)]
struct Content {
    kernels: Vec<u64>,
    blob: Vec<u8>,
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
        let name = format!("{}_{}.bin", location.key, env!("CARGO_PKG_VERSION"));
        let path = location.directory.join(name);
        let driver = number_of(open.adapter.driver.as_bytes());
        let kernel = number_of(wgsl.as_bytes()) ^ u64::from(checks);
        let mut content = read(&path, driver).unwrap_or_default();
        let known = content.kernels.contains(&kernel);
        if !known && content.kernels.len() >= MOST_KERNELS {
            content = Content::default();
        }
        let handle = open.guarded(Task::new("opening the pipeline cache"), || {
            // SAFETY: the data must come from `PipelineCache::get_data`. The data of this file does: the file
            // name has the adapter and the version of this crate, the header has the driver, a cryptographic
            // checksum covers everything, and the file is a regular file of this user that nobody else can
            // write. So it is complete, and was written by a process of this user, who could also replace
            // this program. With `fallback`, wgpu checks its own header and the driver its own, and both
            // start with an empty cache on a mismatch.
            unsafe {
                open.device
                    .create_pipeline_cache(&wgpu::PipelineCacheDescriptor {
                        label: Some("sim"),
                        data: (!content.blob.is_empty()).then_some(&content.blob),
                        fallback: true,
                    })
            }
        });
        let handle = handle.ok()?;
        open.meter(|telemetry| {
            let found = if known { CacheUse::Hit } else { CacheUse::Miss };
            telemetry.pipeline_cache = Some(found);
            telemetry.cache_seconds += started.seconds();
        });
        let mut kernels = content.kernels;
        kernels.retain(|&other| other != kernel);
        kernels.push(kernel);
        Some(Cache {
            handle,
            path,
            driver,
            kernels,
            known,
        })
    }

    /// The handle for the pipeline's descriptor.
    pub(crate) fn handle(&self) -> &wgpu::PipelineCache {
        &self.handle
    }

    /// Writes the file, if the kernel was not in it.
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
            let _ = file::write(&self.path, &encode(self.driver, &self.kernels, &blob));
        }
        open.meter(|telemetry| telemetry.cache_seconds += started.seconds());
    }
}

/// The content of a file, if it is complete, of this driver and of this user.
fn read(path: &Path, driver: u64) -> Option<Content> {
    let most = MOST_BYTES + HEAD_BYTES + 8 * MOST_KERNELS;
    decode(driver, &file::read(path, most as u64)?)
}

/// Magic, checksum of all that follows, driver, number of kernels, kernels, the driver's bytes.
fn encode(driver: u64, kernels: &[u64], blob: &[u8]) -> Vec<u8> {
    let mut body = Vec::with_capacity(blob.len() + 8 * (kernels.len() + 2));
    body.extend(driver.to_le_bytes());
    body.extend((kernels.len() as u64).to_le_bytes());
    for kernel in kernels {
        body.extend(kernel.to_le_bytes());
    }
    body.extend(blob);
    let mut bytes = MAGIC.to_vec();
    bytes.extend(checksum(&body));
    bytes.extend(body);
    bytes
}

fn decode(driver: u64, bytes: &[u8]) -> Option<Content> {
    let (sum, mut rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk()?;
    if checksum(rest) != *sum || number(&mut rest)? != driver {
        return None;
    }
    let count = number(&mut rest)?;
    if count > MOST_KERNELS as u64 {
        return None;
    }
    let kernels = (0..count)
        .map(|_| number(&mut rest))
        .collect::<Option<_>>()?;
    Some(Content {
        kernels,
        blob: rest.to_vec(),
    })
}

fn number(bytes: &mut &[u8]) -> Option<u64> {
    let (head, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*head))
}

/// BLAKE3 in its own key derivation context.
fn checksum(bytes: &[u8]) -> [u8; CHECKSUM_BYTES] {
    blake3::derive_key("sim-runtime 2026 compiled pipelines", bytes)
}

/// A hash of a text.
fn number_of(text: &[u8]) -> u64 {
    number(&mut &checksum(text)[..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let bytes = encode(7, &[1, 2, u64::MAX], b"the driver's own");
        let content = decode(7, &bytes).expect("it is whole");
        assert_eq!(content.kernels, [1, 2, u64::MAX]);
        assert_eq!(content.blob, b"the driver's own");
        assert_eq!(decode(8, &bytes), None, "another driver");
    }

    #[test]
    fn a_broken_file_is_none() {
        let bytes = encode(7, &[1, 2], b"0123456789");
        for cut in 0..bytes.len() {
            assert_eq!(decode(7, &bytes[..cut]), None, "cut at {cut}");
        }
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x10;
            assert_eq!(decode(7, &flipped), None, "flipped at {at}");
        }
    }
}
