//! Converts results from the device's layout to the caller's. On the device, word `w` of agent `i` is at
//! index `w * agents + i`; for the caller, the words of one agent are contiguous.

use crate::memory::MANY;
use crate::parallel::*;

/// Agents per parallel task of the transposition: some pages of each column.
const BLOCK: usize = 4096;

/// Copies words; large copies use all cores.
pub(crate) fn copy(from: &[u32], to: &mut [u32]) {
    if from.len() < MANY {
        to.copy_from_slice(from);
        return;
    }
    let parts = to.par_chunks_mut(MANY / 4).zip(from.par_chunks(MANY / 4));
    parts.for_each(|(to, from)| to.copy_from_slice(from));
}

/// Copies columns, of which each begins `stride` words after the one before, to rows of `width` words.
pub(crate) fn transpose(width: usize, columns: &[u32], stride: usize, rows: &mut [u32]) {
    if width == 1 {
        copy(&columns[..rows.len()], rows);
        return;
    }
    let transpose = |(block, rows): (usize, &mut [u32])| {
        let start = block * BLOCK;
        for (i, row) in rows.chunks_exact_mut(width).enumerate() {
            for (w, value) in row.iter_mut().enumerate() {
                *value = columns[w * stride + start + i];
            }
        }
    };
    // To wake another thread for one task takes longer than the task.
    match rows.len() <= BLOCK * width {
        true => transpose((0, rows)),
        false => (rows.par_chunks_mut(BLOCK * width).enumerate()).for_each(transpose),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_words_are_copied_as_few_are() {
        for len in [0, 1, MANY - 1, MANY, 3 * MANY + 7] {
            let from: Vec<u32> = (0..len as u32).collect();
            let mut to = crate::memory::zeroed(len).expect("there is memory");
            assert!(to.len() == len && to.iter().all(|&word| word == 0));
            copy(&from, &mut to);
            assert_eq!(to, from);
        }
    }

    #[test]
    fn columns_become_rows() {
        let count = 10_000;
        let words: Vec<u32> = (0..5 * count as u32).collect();
        let mut rows = vec![0; 3 * count];
        transpose(3, &words[count..], count, &mut rows);
        for i in 0..count {
            for w in 0..3 {
                assert_eq!(rows[i * 3 + w], ((1 + w) * count + i) as u32);
            }
        }
    }
}
