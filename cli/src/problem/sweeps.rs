//! Complaints about sweeps (E0970–E0974).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// The values of a swept param are not understood.
    ///
    /// `--sweep sigma=0.1:0.5:9` takes nine values from 0.1 to 0.5, both included; `--sweep
    /// strike=90,100,110` takes those of the list. An element of an array or a vector is named:
    /// `w[3]=0.0,1.0`, `place.x=0:1:5`. Both ends of a range are numbers, the first is less than the second,
    /// and there are at least two values.
    E0970 bad_sweep(what: &str, why: &str, help: &str) {
        Problem::new(format!("`{what}` cannot be swept: {why}")).help(help)
    }

    /// A param has no range to take values from.
    ///
    /// `--sweep-random` and `--sweep-sobol` take the values of params from the ranges that the model
    /// declares, `param sigma = 0.2 in 0.01..1.0`: of all params that have one, or of those of
    /// `--sweep-over`.
    E0971 no_sweep_range(message: &str, help: &str) {
        Problem::new(message).help(help)
    }

    /// A sweep has more points, or more results, than fit.
    ///
    /// A grid has a point for each combination of values, so that each further param multiplies their number.
    /// With `--repeats`, the values of all runs of a point are held until its row is computed. The tables of
    /// what points observe and record are held until they are written.
    E0972 too_large_sweep(message: &str, help: &str) {
        Problem::new(message).help(help)
    }

    /// Some points of a sweep have no results.
    ///
    /// The others do: the row of a point that failed says why, in the column `error`.
    E0973 failed_points(failed: &str, first: &str) {
        Problem::new(failed).help(format!(
            "the column `error` says why in the row of each; of the first of them: {first}"
        ))
    }

    /// A file of points is not understood.
    ///
    /// `--sweep-file points.csv` has a column per param, whose name it has, and a row per point. Params that
    /// have no column keep their values.
    E0974 bad_points_file(path: &Path, line: u64, why: &str, help: &str) {
        Problem::new(why)
            .at(format!("{}:{line}", path.display()))
            .help(help)
    }
}
