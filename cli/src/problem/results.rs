//! Complaints about files of results and repeated runs (E0923–E0928, E0964).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// A file that would be written is there already.
    ///
    /// `simc run --output` replaces no file unless it is told to, neither the file that was named nor those
    /// beside it: the other tables of the run and what is said about it (`paths.meta.json`). All are looked
    /// for before the run. A pipe or a device is no such file.
    E0923 file_exists(paths: &[&Path]) {
        let names: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        let are = if names.len() == 1 { "is" } else { "are" };
        Problem::new(format!("{} {are} there already", names.join(", ")))
            .help("write to another name, or add `--force` to replace what is there")
    }

    /// A file is not what `simc run --output` writes about a run.
    ///
    /// `simc rerun` takes the file whose name ends with `.meta.json`, or `meta.json` in a directory of
    /// results, which is written beside them. It must be whole, and of a version of `simc` whose metadata
    /// this one understands.
    E0924 bad_metadata(path: &Path, why: &str) {
        Problem::new(format!("`{}` does not say how a run is repeated: {why}", path.display()))
            .help("name the `.meta.json` file beside results that `simc run --output` wrote")
    }

    /// A run cannot be repeated, since a part of it came through a pipe.
    ///
    /// A model or table from standard input or a pipe is gone when the run is over. Put it into a file, and
    /// run that.
    E0925 came_through_a_pipe(what: &str) {
        Problem::new(format!("the run cannot be repeated: {what} came through a pipe"))
            .help("put it into a file, and run that")
    }

    /// The results of a repeated run are not those of the first one.
    ///
    /// The same model, values, seed, data, backend, adapter and version of `simc` give the same bits. What is
    /// not as it was stands above the table. If everything is as it was, the fault is in `simc` or in the
    /// driver. Please report it with the model.
    E0926 results_differ(differing: usize, all: usize, path: &Path) {
        let columns = if all == 1 { "column" } else { "columns" };
        let differ = if differing == 1 { "differs" } else { "differ" };
        Problem::new(format!(
            "{differing} of {all} {columns} {differ} from what `{}` says",
            path.display()
        ))
        .help("the lines above the table say what is not as it was in the first run")
    }

    /// A table has more columns than a Parquet or Arrow file should have.
    ///
    /// These forms have a column for each value of a row, and describe each in every block of rows. With
    /// tens of thousands of columns the descriptions outgrow the values.
    E0927 too_many_columns(table: &str, columns: u64, most: u64) {
        Problem::new(format!(
            "the table `{table}` has {columns} columns, and a file of this form at most {most}"
        ))
        .help("write arrays instead, to a file that ends with .npz or .npy")
    }

    /// The model of a run that is to be repeated is not where it was.
    ///
    /// Metadata has the directory of the run twice: as the way there from the metadata file, so that a folder
    /// may be moved as a whole, and from the root of the file system. `simc rerun` looks for the model in
    /// the first, then in the second; data and inputs are looked for beside it.
    E0928 moved_model(places: &[&Path]) {
        let names: Vec<String> = places.iter().map(|path| format!("`{}`", path.display())).collect();
        Problem::new(format!("the model is not there: {}", names.join(", ")))
            .help("put it back, with its data, or move the metadata to where they are")
    }

    /// The file system has less space than the results need.
    ///
    /// The rows of populations that do not fit memory are written while agents are run, which can take
    /// hours, so the space is compared before the run with the least that the files can take.
    E0964 disk_short(path: &Path, bytes: u64, free: u64) {
        let in_gb = |bytes: u64| format!("{:.1} GB", bytes as f64 / 1e9);
        Problem::new(format!(
            "the results in `{}` take at least {}, and the file system has {}",
            path.display(),
            in_gb(bytes),
            in_gb(free)
        ))
        .help("run fewer agents, `--agents N`, and go on with `--first-agent`, or write to another disk")
    }
}
