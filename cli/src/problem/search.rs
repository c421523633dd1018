//! Complaints of `simc search` (E0956–E0959).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// The form of the file for the best candidates is not known.
    ///
    /// `simc search -o FILE` writes the inputs of the best candidates, a row each, and their fitness, as
    /// `.npz`, `.npy` (a file per input), `.csv`, `.parquet`, `.arrow` or `.feather`. `simc run` takes them
    /// again: `--input w1=elites.npz --input b1=elites.npz --agents 10`.
    E0956 elites_form(path: &Path) {
        Problem::new(format!("`{}` names no form for the best candidates", path.display()))
            .help("end its name with `.npz`, `.npy`, `.csv`, `.parquet`, `.arrow` or `.feather`")
    }
}
