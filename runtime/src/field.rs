//! Fields of a manifest: shapes in words, and the error for an unknown name.

use crate::error::{Error, Role};
use sim_compiler::manifest::{self, Manifest, Scalar};

/// A shape in words, and how many values it has: `[8, 16] of f32 (128 values)`.
pub(crate) fn describe(scalar: Scalar, shape: &[u32]) -> String {
    let text = manifest::describe(scalar, shape);
    match shape {
        [] => text,
        [0, ..] => text + ", with at least one row",
        all => format!("{text} ({} values)", product(all)),
    }
}

/// The number of elements; saturates.
pub(crate) fn product(dims: &[u32]) -> u64 {
    dims.iter()
        .fold(1_u64, |all, &n| all.saturating_mul(n.into()))
}

/// The error for a name that the model does not have, with the most similar known name.
pub(crate) fn unknown<'a>(role: Role, name: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<String> = known.map(str::to_owned).collect();
    Error::UnknownName {
        role,
        name: name.to_owned(),
        meant: None,
        nearest: nearest(name, &known).map(str::to_owned),
        known,
    }
}

/// The error for a name that a launch cannot set in this role, with the role that it has.
pub(crate) fn unknown_of<'a>(
    manifest: &Manifest,
    role: Role,
    given: &str,
    known: impl Iterator<Item = &'a str>,
) -> Error {
    let inputs = manifest.inputs.iter().chain(&manifest.world_rows().inputs);
    let params = manifest
        .params
        .iter()
        .map(|param| (Role::Param, &param.field));
    let tables = manifest.data.iter().map(|table| (Role::Data, &table.field));
    let inputs = inputs.map(|input| (Role::Input, &input.field));
    let mut all = params.chain(tables).chain(inputs);
    let found = all.find(|(_, field)| field.name == given);
    let mut error = unknown(role, given, known);
    if let Error::UnknownName { meant, .. } = &mut error {
        *meant = found.map(|(role, _)| role);
    }
    error
}

/// The known name with the smallest edit distance, if that is at most a third of the name's length or 1.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    known
        .iter()
        .map(|candidate| (edits(name, candidate), candidate.as_str()))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// The optimal string alignment distance of the lower-cased names: insertions, deletions, substitutions and
/// transpositions.
fn edits(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut before = vec![0; b.len() + 1];
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut next = vec![i + 1; b.len() + 1];
        for j in 0..b.len() {
            let substitute = row[j] + usize::from(a[i] != b[j]);
            next[j + 1] = substitute.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                next[j + 1] = next[j + 1].min(before[j - 1] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_a_stranger_is_not() {
        let known = ["sigma".to_owned(), "strike".to_owned()];
        assert_eq!(nearest("sgima", &known), Some("sigma"));
        assert_eq!(nearest("sgimaa", &known), Some("sigma"));
        assert_eq!(nearest("sigmaa", &known), Some("sigma"));
        assert_eq!(nearest("Sigma", &known), Some("sigma"));
        assert_eq!(nearest("strke", &known), Some("strike"));
        assert_eq!(nearest("rate", &known), None);
    }
}
