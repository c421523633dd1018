//! From the device's layout to the caller's: word `w` of agent `i` lies at `w * agents + i` on the device,
//! the values of one agent lie together in the results.

use crate::{
    error::Error,
    gpu::{
        buffers::Results,
        device::{OpenDevice, Task},
    },
};
use rayon::prelude::*;
use sim_compiler::manifest::Field;
use std::sync::mpsc;

/// Agents that one task of the transposition handles: some pages of each column.
const BLOCK: usize = 4096;

/// Starts to map the first `bytes` of a staging buffer; the result arrives when the device is waited for.
pub(crate) fn map(
    open: &OpenDevice,
    results: &Results,
    count: u32,
) -> Result<mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>, Error> {
    let (sender, receiver) = mpsc::channel();
    let bytes = used_bytes(results, count);
    open.guarded(Task::new("mapping the results"), || {
        results
            .staging
            .slice(..bytes)
            .map_async(wgpu::MapMode::Read, move |mapped| {
                // The receiver is gone only if the run has failed already.
                let _ = sender.send(mapped);
            });
    })?;
    Ok(receiver)
}

/// Gives the mapped words to `read` and unmaps the buffer.
pub(crate) fn with_mapped<T>(
    open: &OpenDevice,
    results: &Results,
    count: u32,
    mapped: &mpsc::Receiver<Result<(), wgpu::BufferAsyncError>>,
    read: impl FnOnce(&[u32]) -> T,
) -> Result<T, Error> {
    let failed = |message: String| Error::Device {
        adapter: open.adapter.name.clone(),
        during: "reading the results",
        message,
    };
    mapped
        .try_recv()
        .map_err(|_| failed("the buffer was not mapped".to_owned()))?
        .map_err(|error| failed(error.to_string()))?;
    let view = results
        .staging
        .slice(..used_bytes(results, count))
        .get_mapped_range()
        .map_err(|error| failed(error.to_string()))?;
    let words = bytemuck::try_cast_slice(&view).map_err(|error| failed(error.to_string()))?;
    let value = read(words);
    drop(view);
    results.staging.unmap();
    Ok(value)
}

/// Bytes that a chunk of `count` agents uses.
pub(crate) fn used_bytes(results: &Results, count: u32) -> u64 {
    u64::from(count) * u64::from(results.words) * 4
}

/// Copies a field of a chunk of `count` agents from the device's words to its rows in `rows`.
pub(crate) fn transpose(field: &Field, words: &[u32], count: usize, rows: &mut [u32]) {
    let width = field.words() as usize;
    let first = field.word as usize;
    let columns = &words[first * count..(first + width) * count];
    if width == 1 {
        rows.copy_from_slice(columns);
        return;
    }
    rows.par_chunks_mut(BLOCK * width)
        .enumerate()
        .for_each(|(block, rows)| {
            let start = block * BLOCK;
            for (i, row) in rows.chunks_exact_mut(width).enumerate() {
                for (w, value) in row.iter_mut().enumerate() {
                    *value = columns[w * count + start + i];
                }
            }
        });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim_compiler::manifest::Scalar;

    #[test]
    fn columns_become_rows() {
        let field = Field {
            name: "x".to_owned(),
            doc: String::new(),
            scalar: Scalar::U32,
            shape: vec![3],
            components: 1,
            variants: Vec::new(),
            word: 1,
        };
        let count = 10_000;
        let words: Vec<u32> = (0..5 * count as u32).collect();
        let mut rows = vec![0; 3 * count];
        transpose(&field, &words, count, &mut rows);
        for i in 0..count {
            for w in 0..3 {
                assert_eq!(rows[i * 3 + w], ((1 + w) * count + i) as u32);
            }
        }
    }
}
