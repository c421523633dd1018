//! The results of a run in files: which files there will be, whether they can be written, and what is in
//! them. `metadata` says of each run how it was done, with what `hash` computes; `tables` which tables and
//! columns there are; the other modules write one form each.

pub(crate) mod arrow;
mod blocks;
mod csv;
mod hash;
mod json;
pub(crate) mod metadata;
pub(crate) mod npy;
mod plain;
mod stream;
mod swept;
mod tables;

use crate::{
    failure::Failure,
    output::{self, Files, Written},
    problem, standard_output, terminal, usage,
};
use metadata::Metadata;
pub(crate) use plain::Plain;
use sim_compiler::manifest::Manifest;
use sim_runtime::Run;
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};
pub(crate) use stream::Stream;
pub(crate) use tables::TableOf;
use tables::{Table, columns};

/// Most columns of a Parquet or Arrow file.
const MOST_COLUMNS: u64 = 16_384;

/// Arguments that say where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Results")]
pub(crate) struct Destination {
    /// File for the outputs of all agents and worlds, and for series: .csv, .parquet, .arrow, .feather, .npy,
    /// .npz or .json; `DIR/` for a file of each table in a directory; `-` is standard output.
    #[arg(long, short, value_name = "FILE|DIR/", value_hint = clap::ValueHint::AnyPath)]
    output: Option<PathBuf>,
    /// Form of the results, where no ending says it [default: parquet in a directory, csv on standard output]
    #[arg(long, value_enum, requires = "output")]
    format: Option<Form>,
    /// Replace files that are there already, of results and plots.
    #[arg(long)]
    force: bool,
}

/// A form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Form {
    /// Text with a header line, a file per table.
    Csv,
    /// Apache Parquet, a file per table.
    Parquet,
    /// Arrow IPC, also called Feather 2, a file per table.
    Arrow,
    /// NumPy's array, a file per output and series.
    Npy,
    /// NumPy's archive of arrays, one file.
    Npz,
    /// Nested arrays, one file.
    Json,
}

impl Form {
    /// By the path's ending, in any case.
    fn of(path: &Path) -> Option<Form> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Form::Csv),
            "parquet" => Some(Form::Parquet),
            "arrow" | "feather" => Some(Form::Arrow),
            "npy" => Some(Form::Npy),
            "npz" => Some(Form::Npz),
            "json" => Some(Form::Json),
            _ => None,
        }
    }

    /// Its ending, which is its name on the command line, too.
    fn ending(self) -> &'static str {
        match self {
            Form::Csv => "csv",
            Form::Parquet => "parquet",
            Form::Arrow => "arrow",
            Form::Npy => "npy",
            Form::Npz => "npz",
            Form::Json => "json",
        }
    }
}

/// Where results go.
#[derive(Debug)]
pub(crate) struct Target {
    place: Place,
    form: Form,
    replaces: bool,
}

#[derive(Debug)]
enum Place {
    StandardOutput,
    Directory(PathBuf),
    File(PathBuf),
}

impl Destination {
    /// Are results to be written?
    pub(crate) fn are_wanted(&self) -> bool {
        self.output.is_some()
    }

    /// May files be replaced that are there already?
    pub(crate) fn replaces(&self) -> bool {
        self.force
    }

    /// Where the results go, if anywhere.
    ///
    /// # Errors
    /// If the form is not known, or cannot go there.
    pub(crate) fn target(&self, prints_json: bool) -> Result<Option<Target>, Failure> {
        let Some(path) = &self.output else {
            return Ok(None);
        };
        let (place, form) = if path == Path::new("-") {
            (Place::StandardOutput, self.format.unwrap_or(Form::Csv))
        } else if path.is_dir() || ends_with_separator(path) {
            let form = self.format.unwrap_or(Form::Parquet);
            (Place::Directory(path.components().collect()), form)
        } else {
            let form = match (Form::of(path), self.format) {
                (Some(ending), Some(form)) if ending != form => {
                    let (path, form) = (path.display(), form.ending());
                    return Err(usage::refused(
                        format!("`{path}` has the ending of another form than `--format {form}`"),
                        "leave out `--format`, or name the file otherwise",
                    ));
                }
                (_, Some(form)) | (Some(form), None) => form,
                (None, None) => return Err(problem::unknown_output_form(path).into()),
            };
            (Place::File(path.clone()), form)
        };
        let target = Target {
            place,
            form,
            replaces: self.force,
        };
        target.check_form(prints_json)?;
        Ok(Some(target))
    }
}

fn ends_with_separator(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.ends_with(std::path::is_separator)
}

impl Target {
    /// Can the form go there?
    fn check_form(&self, prints_json: bool) -> Result<(), Failure> {
        let form = self.form.ending();
        let (message, help) = match (&self.place, self.form) {
            (Place::StandardOutput, _) if prints_json => (
                "`--output -` and `--json` both write to standard output".to_owned(),
                "write the outputs to a file, or leave out `--json`",
            ),
            (Place::StandardOutput, Form::Csv | Form::Json) => return Ok(()),
            (Place::StandardOutput, Form::Parquet | Form::Arrow | Form::Npy | Form::Npz) => (
                format!("standard output takes `--format csv` or `json`, not `{form}`"),
                "write to a file or a directory",
            ),
            // The directory of a ZIP archive is written last, but places before it are, too.
            (Place::File(path), Form::Npz) if !output::is_replaced(path) => (
                format!(
                    "`{}` is a pipe or a device, which cannot hold `{form}`",
                    path.display()
                ),
                "write to a plain file",
            ),
            (Place::File(_) | Place::Directory(_), _) => return Ok(()),
        };
        Err(usage::refused(message, help))
    }

    /// Do results go to standard output?
    pub(crate) fn is_standard_output(&self) -> bool {
        matches!(self.place, Place::StandardOutput)
    }

    /// Which files there will be for a model. Looks whether any is there already, and tries to write beside
    /// them.
    ///
    /// # Errors
    /// Why they could not be written after the run.
    pub(crate) fn plan(self, manifest: &Manifest) -> Result<Plan, Failure> {
        let contents = self.contents(manifest);
        if contents.is_empty() {
            return Err(problem::no_outputs().into());
        }
        if let Form::Parquet | Form::Arrow = self.form {
            for of in TableOf::in_model(manifest) {
                let fields = of.fields(manifest).into_iter();
                let values: u64 = fields.map(|field| u64::from(field.values())).sum();
                let columns = of.index().len() as u64 + values;
                if columns > MOST_COLUMNS {
                    let problem = problem::too_many_columns(of.word(), columns, MOST_COLUMNS);
                    return Err(problem.into());
                }
            }
        }
        self.place(contents)
    }

    /// The files that hold these contents.
    fn place(self, contents: Vec<Content>) -> Result<Plan, Failure> {
        let mut plan = Plan {
            form: self.form,
            replaces: self.replaces,
            directory: None,
            files: Vec::new(),
            metadata: None,
        };
        match self.place {
            Place::StandardOutput => {}
            Place::Directory(directory) => {
                let named = |content: &Content| {
                    directory.join(format!("{}.{}", content.name(), self.form.ending()))
                };
                plan.files = contents.into_iter().map(|it| (named(&it), it)).collect();
                plan.metadata = Some(directory.join("meta.json"));
                plan.directory = Some(directory);
            }
            Place::File(path) => {
                plan.metadata =
                    output::is_replaced(&path).then(|| path.with_extension("meta.json"));
                let several_arrays = self.form == Form::Npy && contents.len() > 1;
                // Of tables the first one has the name that was asked for.
                plan.files = (contents.into_iter().enumerate())
                    .map(|(at, content)| match at > 0 || several_arrays {
                        true => (path_of(&path, &content.name()), content),
                        false => (path.clone(), content),
                    })
                    .collect();
            }
        }
        plan.check()?;
        Ok(plan)
    }

    /// What each file will hold.
    fn contents(&self, manifest: &Manifest) -> Vec<Content> {
        let tables = TableOf::in_model(manifest);
        match self.form {
            Form::Csv | Form::Parquet | Form::Arrow => tables.map(Content::Table).collect(),
            Form::Npy => tables
                .flat_map(|of| {
                    let names = of.fields(manifest).into_iter();
                    names.map(move |field| Content::Array(of, field.name.clone()))
                })
                .collect(),
            Form::Npz | Form::Json => tables.take(1).map(|_| Content::All).collect(),
        }
    }
}

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Content {
    Table(TableOf),
    /// An output or series, by its name.
    Array(TableOf, String),
    /// All tables.
    All,
}

impl Content {
    /// Its name in a directory.
    fn name(&self) -> String {
        match self {
            Content::Table(of) => of.word().to_owned(),
            Content::Array(of, name) => format!("{}{name}", of.prefix()),
            Content::All => "results".to_owned(),
        }
    }

    /// What it is, after the name of the file.
    fn what(&self) -> &'static str {
        match self {
            Content::Table(of) => of.rows(),
            Content::Array(of, _) => of.dimensions(),
            Content::All => "",
        }
    }

    /// Does it hold this column?
    fn holds(&self, table: TableOf, name: &str) -> bool {
        match self {
            Content::Table(of) => *of == table,
            Content::Array(of, own) => *of == table && own == name,
            Content::All => true,
        }
    }
}

/// The files of a run to come.
#[derive(Debug)]
pub(crate) struct Plan {
    form: Form,
    replaces: bool,
    /// The directory for them, which is made if it is not there.
    directory: Option<PathBuf>,
    /// None where the results go to standard output.
    files: Vec<(PathBuf, Content)>,
    /// The file that says how the run was done.
    metadata: Option<PathBuf>,
}

impl Plan {
    /// The file for the metadata of the run, if there is one.
    pub(crate) fn metadata(&self) -> Option<&Path> {
        self.metadata.as_deref()
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        let files = self.files.iter().map(|(path, _)| path);
        files.chain(&self.metadata).map(PathBuf::as_path)
    }

    /// Can all files be written, and is none there that must stay?
    fn check(&self) -> Result<(), Failure> {
        match &self.directory {
            Some(directory) if directory.exists() && !directory.is_dir() => {
                return Err(problem::no_output_directory(directory, directory).into());
            }
            Some(directory) if !directory.exists() => return output::check_place(directory),
            Some(_) | None => {}
        }
        for path in self.paths() {
            output::check_place(path)?;
        }
        let there: Vec<&Path> = self.paths().filter(|path| output::is_there(path)).collect();
        match there.is_empty() || self.replaces {
            true => Ok(()),
            false => Err(problem::file_exists(&there).into()),
        }
    }

    /// Writes all files, and says which there are.
    ///
    /// # Errors
    /// Why they cannot be written; none of them is there then.
    pub(crate) fn write(
        &self,
        run: &Run,
        metadata: Option<Metadata>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Written>, Failure> {
        if self.files.is_empty() {
            return self.print(run, cancel).map(|()| Vec::new());
        }
        self.in_directory(|| self.write_files(run, metadata, cancel))
    }

    /// Makes the directory of the files, if it is not there, and removes it again if they are not written.
    fn in_directory<T>(&self, write: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
        let makes = self
            .directory
            .as_deref()
            .filter(|directory| !directory.exists());
        if let Some(directory) = makes {
            fs::create_dir(directory).map_err(|error| problem::unwritable(directory, &error))?;
        }
        let written = write();
        if let (Some(directory), Err(_)) = (makes, &written) {
            let _ = fs::remove_dir(directory);
        }
        written
    }

    /// The metadata with the file of each column.
    fn named(&self, metadata: Metadata) -> Metadata {
        metadata.with_files(|table, name| {
            let holds = |(_, content): &&(PathBuf, Content)| content.holds(table, name);
            let found = self.files.iter().find(holds);
            found.and_then(|(path, _)| path.file_name())
        })
    }

    /// Writes the metadata, if there is a file for it, and gives all files their names.
    fn complete(
        &self,
        mut files: Files,
        metadata: Option<&Metadata>,
        mut written: Vec<Written>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Written>, Failure> {
        if let (Some(path), Some(metadata)) = (&self.metadata, metadata) {
            files.write(path, |out| out.write_all(metadata.json().as_bytes()))?;
            written.push(Written {
                path: path.clone(),
                what: ", how to repeat the run",
            });
        }
        if cancel.load(Ordering::Relaxed) {
            return Err(Failure::Interrupted);
        }
        files.keep(self.replaces)?;
        Ok(written)
    }

    fn write_files(
        &self,
        run: &Run,
        metadata: Option<Metadata>,
        cancel: &AtomicBool,
    ) -> Result<Vec<Written>, Failure> {
        let metadata = metadata.map(|metadata| self.named(metadata));
        let about = metadata.as_ref().map(Metadata::words).unwrap_or_default();
        let mut files = Files::default();
        let mut written = Vec::new();
        for (path, content) in &self.files {
            files.write(path, |out| self.content(content, run, &about, out, cancel))?;
            written.push(Written {
                path: path.clone(),
                what: content.what(),
            });
        }
        self.complete(files, metadata.as_ref(), written, cancel)
    }

    fn content(
        &self,
        content: &Content,
        run: &Run,
        about: &[(String, String)],
        out: &mut BufWriter<File>,
        cancel: &AtomicBool,
    ) -> io::Result<()> {
        match content {
            Content::All if self.form == Form::Npz => npy::write_all(run, out, cancel),
            Content::All => json::write(run, out, cancel),
            Content::Array(..) => {
                let mut all = columns(run);
                let found = all.find(|(of, column, _)| content.holds(*of, &column.field.name));
                found.map_or(Ok(()), |(_, column, _)| npy::write(column, out, cancel))
            }
            Content::Table(of) => {
                let table = Table::new(run, *of);
                match self.form {
                    Form::Parquet => arrow::write_parquet(&table, about, out, cancel),
                    Form::Arrow => arrow::write_ipc(&table, about, out, cancel),
                    Form::Csv | Form::Npy | Form::Npz | Form::Json => {
                        csv::write(&table, out, cancel)
                    }
                }
            }
        }
    }

    /// Writes the first table to standard output, and notes which others there are; or all as JSON.
    fn print(&self, run: &Run, cancel: &AtomicBool) -> Result<(), Failure> {
        if self.form == Form::Json {
            return standard_output::write(|out| json::write(run, out, cancel));
        }
        let all = TableOf::in_run(run);
        let [first, others @ ..] = all.as_slice() else {
            return Ok(());
        };
        let table = Table::new(run, *first);
        standard_output::write(|out| csv::write(&table, out, cancel))?;
        if !others.is_empty() {
            let names: Vec<&str> = others.iter().map(|of| of.word()).collect();
            let names = names.join(", ");
            terminal::note(format!(
                "standard output has the first table only; with `--output FILE.csv` the others have \
                 files: {names}\n"
            ));
        }
        Ok(())
    }
}

/// `run.npy` for the output `price` is `run.price.npy`, `run.csv` for those of worlds `run.world.csv`.
fn path_of(path: &Path, name: &str) -> PathBuf {
    let mut file = path.file_stem().unwrap_or_default().to_owned();
    file.push(".");
    file.push(name);
    if let Some(ending) = path.extension() {
        file.push(".");
        file.push(ending);
    }
    path.with_file_name(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_output_has_its_own_array_file() {
        assert_eq!(
            path_of(Path::new("results/run.1.npy"), "order.price"),
            PathBuf::from("results/run.1.order.price.npy")
        );
        assert_eq!(
            path_of(Path::new("run"), "world"),
            PathBuf::from("run.world")
        );
    }
}
