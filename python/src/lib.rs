//! The native module of the Python package `simc`: models, runs and arrays. The package's Python files make
//! the public classes of it; `simc/_simc.pyi` has its types.
//!
//! In the order of their dependencies: `errors` raises exceptions, `interrupt` runs work that Ctrl-C ends,
//! `values` reads values from Python, `launch` all that a run is given, `arrays` gives arrays to Python,
//! `report` says how a run was done, `run` is the results, `sweep` those of many runs, `derive` derivatives,
//! `optimise` fits and searches, `model` a compiled model, `searching` a search whose candidates are
//! evaluated elsewhere, `session` a run whose caller takes the steps, `tally` sums what comes in parts.

mod arrays;
mod derive;
mod errors;
mod interrupt;
mod launch;
mod model;
mod optimise;
mod report;
mod run;
mod searching;
mod session;
mod sweep;
mod tally;
mod values;

use pyo3::prelude::*;

/// The native module.
#[pymodule]
mod _simc {
    #[pymodule_export]
    use crate::model::Native;
    #[pymodule_export]
    use crate::run::NativeRun;
    #[pymodule_export]
    use crate::searching::{NativeSearch, fitness};
    #[pymodule_export]
    use crate::session::NativeSession;
    #[pymodule_export]
    use crate::sweep::NativeSweep;
    #[pymodule_export]
    use crate::tally::{moments, tally};
    use pyo3::prelude::*;
    use std::ffi::OsString;

    /// Runs the `simc` command with these arguments, the first of which is its name; gives the exit code.
    #[pyfunction]
    fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
        py.detach(|| simc::main_with(arguments))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
