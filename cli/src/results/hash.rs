//! Hashes of results and files, by which two runs are compared.

use crate::{failure::Failure, problem};
use blake3::Hasher;
use bytemuck::NoUninit;
use sim_runtime::{Column, Values};
use std::{fs, path::Path};

/// Bytes that are hashed on all cores: fewer take less time than to wake these.
const MANY_BYTES: usize = 1 << 20;

/// Hashes a column's bits: words of 32 or 64 bits, the low byte first.
pub(super) fn hash_bits(column: &Column, hasher: &mut Hasher) {
    match &column.values {
        Values::F32(values) => hash_words(values, hasher),
        Values::F64(values) => hash_words(values, hasher),
        Values::I32(values) => hash_words(values, hasher),
        Values::U32(values) => hash_words(values, hasher),
        Values::Bool(values) => {
            for values in values.chunks(1 << 16) {
                let words: Vec<u32> = values.iter().map(|&value| value.into()).collect();
                hash_words(&words, hasher);
            }
        }
    }
}

/// Hashes words as they lie in memory, on all cores if they are many.
fn hash_words<T: NoUninit>(words: &[T], hasher: &mut Hasher) {
    const {
        assert!(
            cfg!(target_endian = "little"),
            "the low byte of a word is the first"
        );
    }
    let bytes: &[u8] = bytemuck::cast_slice(words);
    match bytes.len() < MANY_BYTES {
        true => hasher.update(bytes),
        false => hasher.update_rayon(bytes),
    };
}

/// The hash of bytes, in hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// The hash of a file, in hexadecimal digits.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn hash_of_file(path: &Path) -> Result<String, Failure> {
    let read = || {
        let mut hasher = Hasher::new();
        hasher.update_reader(fs::File::open(path)?)?;
        Ok(hasher.finalize().to_hex().to_string())
    };
    read().map_err(|error| problem::unreadable(path, &error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hash that value by value has.
    #[test]
    fn the_hash_is_that_of_the_bits_of_all_values() {
        let count = MANY_BYTES / 4 + 12_345;
        let number = |at: usize| (at as u32).wrapping_mul(2_654_435_769);
        let all = [
            Values::F32((0..count).map(|at| f32::from_bits(number(at))).collect()),
            Values::F64((0..count).map(|at| f64::from(number(at)).sqrt()).collect()),
            Values::I32((0..count).map(|at| number(at) as i32).collect()),
            Values::U32((0..count).map(number).collect()),
            Values::Bool((0..count).map(|at| number(at) % 3 == 0).collect()),
        ];
        let source = "state x = 0.0\nstep {}\noutput y = x\n";
        let field =
            (sim_compiler::compile(source).expect("it compiles").manifest).outputs[0].clone();
        for values in all {
            let bytes = 4 * values.scalar().words() as usize;
            let mut expected = Hasher::new();
            for at in 0..count {
                expected.update(&values.bits(at).to_le_bytes()[..bytes]);
            }
            let (mut found, shape) = (Hasher::new(), vec![count]);
            let field = field.clone();
            hash_bits(
                &Column {
                    field,
                    shape,
                    values,
                },
                &mut found,
            );
            assert_eq!(found.finalize(), expected.finalize());
        }
    }
}
