//! Tables in files, and how a value of the model is spelled in them: `reading` reads CSV, NPY, NPZ, Parquet
//! and Arrow files, a module each.

mod arrow_columns;
mod arrow_reader;
mod arrow_values;
pub(crate) mod cell;
mod columns;
mod csv_reader;
mod dialect;
pub(crate) mod lines;
pub(crate) mod npy;
mod npz_reader;
mod parquet_reader;
pub(crate) mod reading;
mod rules;
pub(crate) mod source;
mod zstd_pages;

use crate::problem::{self, Problem};
use sim_compiler::manifest::{Field, Scalar};
use std::path::Path;

/// The values of one param, table or input.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loaded {
    /// As the manifest calls it.
    pub(crate) name: String,
    /// Its type.
    pub(crate) scalar: Scalar,
    /// The bits of its values, row by row.
    pub(crate) words: Vec<u32>,
    /// Rows or agents first where there are any, components of a vector last.
    pub(crate) shape: Vec<u32>,
}

/// What the columns of a file hold.
#[derive(Debug, Default)]
struct Values {
    /// The words of each field, row by row.
    words: Vec<Vec<u32>>,
    /// How many rows there are.
    rows: u64,
}

/// Limits the values of a file to the available memory: a pipe may bring more and more.
#[derive(Debug)]
struct MemoryCheck {
    /// Bytes up to which no check is needed.
    asked: u64,
}

impl Default for MemoryCheck {
    fn default() -> MemoryCheck {
        MemoryCheck { asked: 64 << 20 }
    }
}

impl MemoryCheck {
    /// Checks whether this many bytes fit, each time that they have doubled.
    ///
    /// # Errors
    /// If there is none.
    fn hold(&mut self, path: &Path, bytes: u64) -> Result<(), Problem> {
        if bytes <= self.asked {
            return Ok(());
        }
        self.asked = bytes.saturating_mul(2);
        // A vector that grows is copied into one of twice its size, and the values once more for the run.
        let needed = bytes.saturating_mul(3);
        match sim_runtime::available_memory() {
            Some(available) if needed > available => {
                Err(problem::table_too_large(path, bytes, available))
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The spellings of the values below the first `skip` dimensions of a field, in storage order: `name`,
/// `name[0]`, `name[0][1]`, `name.x`, `name[0].x`.
pub(crate) fn spellings(field: &Field, skip: usize) -> Vec<String> {
    let mut names = vec![field.name.clone()];
    for &length in field.shape.iter().skip(skip) {
        names = names
            .iter()
            .flat_map(|name| (0..length).map(move |index| format!("{name}[{index}]")))
            .collect();
    }
    if field.components > 1 {
        names = names
            .iter()
            .flat_map(|name| {
                ["x", "y", "z", "w"]
                    .into_iter()
                    .take(field.components as usize)
                    .map(move |component| format!("{name}.{component}"))
            })
            .collect();
    }
    names
}

/// Does an array of this shape hold what is declared? A declared first length of 0 is open. All but the
/// first dimension may be flattened into one, and a last dimension of 1 may be left out or added.
pub(crate) fn fits(found: &[u64], declared: &[u32]) -> bool {
    let open = declared.first() == Some(&0);
    let wanted = |at: usize| u64::from(declared[at]);
    match (found, declared) {
        ([], []) => true,
        ([one], []) => *one == 1,
        ([], _) => false,
        (_, []) => false,
        ([rows, rest @ ..], _) => {
            let first = if open { *rows > 0 } else { *rows == wanted(0) };
            let same = rest.len() + 1 == declared.len()
                && rest.iter().zip(1..).all(|(&n, at)| n == wanted(at));
            let width: u64 = (1..declared.len()).map(wanted).product();
            let flat = match rest {
                [] => width == 1,
                [columns] => *columns == width,
                _ => false,
            };
            first && (same || flat)
        }
    }
}

/// A field for the tests of tables.
#[cfg(test)]
pub(crate) fn field(name: &str, scalar: Scalar, shape: &[u32], components: u32) -> Field {
    Field {
        name: name.to_owned(),
        doc: String::new(),
        scalar,
        shape: shape.to_vec(),
        components,
        variants: Vec::new(),
        word: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_follow_the_storage() {
        assert_eq!(spellings(&field("s", Scalar::F32, &[], 1), 0), ["s"]);
        assert_eq!(
            spellings(&field("w", Scalar::F32, &[2, 2], 1), 0),
            ["w[0][0]", "w[0][1]", "w[1][0]", "w[1][1]"]
        );
        assert_eq!(
            spellings(&field("w", Scalar::F32, &[0, 2], 1), 1),
            ["w[0]", "w[1]"]
        );
        assert_eq!(
            spellings(&field("order.pos", Scalar::F32, &[2], 2), 0),
            [
                "order.pos[0].x",
                "order.pos[0].y",
                "order.pos[1].x",
                "order.pos[1].y"
            ]
        );
    }

    #[test]
    fn shapes_fit_exactly_or_flattened() {
        assert!(fits(&[5, 2, 3], &[0, 2, 3]));
        assert!(fits(&[5, 6], &[0, 2, 3]));
        assert!(!fits(&[5, 3, 2], &[0, 2, 3]));
        assert!(!fits(&[30], &[0, 2, 3]));
        assert!(!fits(&[0, 6], &[0, 2, 3]));
        assert!(fits(&[5], &[0]) && fits(&[5, 1], &[5]) && !fits(&[4], &[5]));
        assert!(fits(&[], &[]) && fits(&[1], &[]) && !fits(&[2], &[]) && !fits(&[], &[3]));
    }
}
