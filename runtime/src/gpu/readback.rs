//! From the device's layout to the caller's: word `w` of agent `i` lies at `w * agents + i` on the device,
//! the values of one agent lie together in the results.

use rayon::prelude::*;
use sim_compiler::manifest::Field;

/// Agents that one task of the transposition handles: some pages of each column.
const BLOCK: usize = 4096;

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
