//! Complaints of `simc grad` and `simc fit`, and about files of params (E0990–E0999).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// A file of params is not understood.
    ///
    /// `--params FILE` reads a JSON object with the values of params by their names, `{"sigma": 0.2,
    /// "weights": [0.1, 0.2]}`, or a result of `simc fit -o FILE`, which has such an object under `params`.
    /// An array or a vector is a list, an enum the name of its variant. A `--param` on the command line
    /// counts more than the file.
    E0990 bad_params_file(path: &Path, why: &str) {
        Problem::new(format!("`{}` holds no params: {why}", path.display()))
            .help("write an object such as `{\"sigma\": 0.2, \"weights\": [0.1, 0.2]}`")
    }

    /// `simc grad --check` found a derivative that differs from central differences.
    ///
    /// Derivatives and differences are taken of the same agents with the same draws. If both are computed in
    /// `f64` and differ, then either the output jumps between the steps of the differences (a comparison, a
    /// conversion to an integer, `floor`), or the derivative is wrong, which is a bug of the compiler: please
    /// report it with the model. If they agree in `f64` alone, the derivative of the run is lost in the
    /// rounding of `f32`, as in chaotic models over many steps: run fewer steps, or another loss.
    E0991 gradient_disagrees(wrt: &str, message: &str) {
        Problem::new(format!("the derivative by `{wrt}` {message}"))
            .help("the table above has both; `simc explain E0991` says what can be the cause")
    }

    /// `simc fit -o FILE` writes JSON.
    ///
    /// The file has the values of the params under `params`, so that `simc run --params FILE` takes it, and
    /// beside them the loss, standard errors, correlations and how they were found.
    E0992 fit_form(path: &Path) {
        Problem::new(format!("`{}` is no .json file", path.display()))
            .help("end its name with `.json`")
    }

    /// `simc fit --starts N` has no range to draw points from.
    ///
    /// The first search begins at the values of the launch. The others begin at points drawn from the ranges
    /// that the model declares, `param beta = 0.3 in 0.0..2.0`; a param without one keeps its value.
    E0993 no_start_range(name: &str) {
        Problem::new("no param that is fitted has a range to draw starts from")
            .help(format!(
                "declare one in the model, `param {name} = … in LOW..HIGH`, or leave out `--starts`"
            ))
    }
}
