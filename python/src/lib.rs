//! The native module of the Python package `simc`: models, runs and arrays. The package's Python files make
//! the public classes of it; `simc/_simc.pyi` has its types.
//!
//! In the order of their dependencies: `errors` raises exceptions, `interrupt` runs work that Ctrl-C ends,
//! `values` reads values from Python, `arrays` gives arrays to it, `report` says how a run was done, `run` is
//! the results, `model` a compiled model, `session` a run whose caller takes the steps.

mod arrays;
mod errors;
mod interrupt;
mod model;
mod report;
mod run;
mod session;
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
    use crate::session::NativeSession;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
