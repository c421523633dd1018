//! Complaints of `simc trace`.

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// `--columns` of `simc trace` names nothing that the model has.
    ///
    /// A column is a state, a `let` or a `var`, as the header of the table spells it: `price`, `w[3]`,
    /// `place.x`. A name without an index or a component stands for all columns of that name.
    E0975 not_traced(name: &str, known: &str) {
        Problem::new(format!("the model has no state and no `let` called `{name}`"))
            .help(match known {
                "" => "it has neither states nor `let`s".to_owned(),
                known => format!("it has {known}"),
            })
    }

    /// `--steps A..B` of `simc trace` lies outside of the run.
    ///
    /// Steps are counted from 0, and the last one of `A..B` is the one before `B`, as in a loop of the model.
    E0976 steps_beyond(step: u32, steps: u32) {
        Problem::new(format!("there is no step {step}: the run has {}", counted(steps)))
            .help(match steps {
                0 => "give the run more steps, such as `--steps 100`".to_owned(),
                steps => format!("steps are counted from 0 to {}", steps - 1),
            })
    }

    /// `simc trace` writes tables as CSV or JSON.
    E0977 trace_form(path: &Path) {
        Problem::new(format!("`{}` is neither a .csv nor a .json file", path.display()))
            .help("end its name with `.csv` or `.json`; `-` is CSV to standard output")
    }
}

fn counted(steps: u32) -> String {
    match steps {
        0 => "no steps".to_owned(),
        1 => "1 step".to_owned(),
        steps => format!("{steps} steps"),
    }
}
