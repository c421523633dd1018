//! The results of a population that is run in batches of agents: rows are written as they come.

use super::{
    Content, Form, Plan,
    arrow::{Ipc, Parquet},
    csv,
    metadata::Metadata,
    npy,
    tables::{Table, TableOf, columns},
};
use crate::{
    failure::Failure,
    output::{Files, OpenFile, Written, unwritten},
    problem, standard_output, usage,
};
use sim_compiler::manifest::{Field, Manifest, Scalar};
use sim_runtime::Run;
use std::{
    fs::File,
    io::{self, BufWriter},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Files to which batch after batch is added.
pub(crate) struct Stream<'a> {
    plan: &'a Plan,
    /// Rows of all batches: agents, worlds.
    rows: [usize; 2],
    /// Begun with the first batch.
    files: Vec<StreamedFile<'a>>,
    cancel: &'a AtomicBool,
    prints_header: bool,
}

struct StreamedFile<'a> {
    path: &'a Path,
    content: &'a Content,
    open: OpenFile,
    writer: Writer,
}

enum Writer {
    Csv(BufWriter<File>),
    Npy(BufWriter<File>),
    Parquet(Box<Parquet<BufWriter<File>>>),
    Ipc(Box<Ipc<BufWriter<File>>>),
}

impl Plan {
    /// Can rows be added to files of this form?
    ///
    /// # Errors
    /// Which forms there are instead.
    pub(crate) fn check_streams(&self) -> Result<(), Failure> {
        match self.form {
            Form::Csv | Form::Parquet | Form::Arrow | Form::Npy => Ok(()),
            Form::Npz | Form::Json => Err(usage::refused(
                format!(
                    "`{}` holds one output after another, so agents cannot be written in batches",
                    self.form.ending()
                ),
                "write .csv, .parquet, .arrow or .npy, or to a directory",
            )),
        }
    }

    /// Is there space for the results of so many agents and worlds?
    ///
    /// # Errors
    /// If the least that they can take is more than the file system has.
    pub(crate) fn check_space(
        &self,
        manifest: &Manifest,
        [agents, worlds]: [u32; 2],
    ) -> Result<(), Failure> {
        let Some((path, _)) = self.files.first() else {
            return Ok(());
        };
        // A cell of CSV has a character and a separator; Parquet may compress values to nearly nothing.
        let value_bits = match self.form {
            Form::Csv => 16,
            Form::Npy | Form::Arrow => 32,
            Form::Parquet | Form::Npz | Form::Json => 0,
        };
        let bits = |field: &Field| match (self.form, field.scalar) {
            (Form::Arrow, Scalar::Bool) => 1,
            (Form::Npy, Scalar::Bool) => 8,
            (Form::Npy | Form::Arrow, Scalar::F64) => 64,
            (_, Scalar::F32 | Scalar::F64 | Scalar::I32 | Scalar::U32 | Scalar::Bool) => value_bits,
        };
        let bits_of = |fields: &[Field], rows: u32| -> u64 {
            let row = fields
                .iter()
                .map(|field| bits(field) * u64::from(field.values()));
            row.sum::<u64>() * u64::from(rows)
        };
        let all =
            bits_of(&manifest.outputs, agents) + bits_of(&manifest.world_rows().outputs, worlds);
        let place = match &self.directory {
            Some(directory) if directory.exists() => directory.as_path(),
            Some(_) | None => path
                .parent()
                .filter(|it| it.exists())
                .unwrap_or(Path::new(".")),
        };
        match fs4::available_space(place) {
            Ok(free) if all / 8 > free => Err(problem::disk_short(place, all / 8, free).into()),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Can rows be added to them, without complaint?
    pub(crate) fn streams(&self) -> bool {
        self.check_streams().is_ok()
    }

    /// Writes the results of all batches of so many agents and worlds: `each` runs them and adds each to the
    /// stream, and gives what is said about them together.
    ///
    /// # Errors
    /// Those of `each`, and why files cannot be written; none of them is there then.
    pub(crate) fn write_batches<T>(
        &self,
        [agents, worlds]: [u32; 2],
        cancel: &AtomicBool,
        each: impl FnOnce(&mut Stream<'_>) -> Result<(T, Option<Metadata>), Failure>,
    ) -> Result<(T, Vec<Written>), Failure> {
        let mut stream = Stream {
            plan: self,
            rows: [agents as usize, worlds as usize],
            files: Vec::new(),
            cancel,
            prints_header: true,
        };
        self.in_directory(|| {
            let (all, metadata) = each(&mut stream)?;
            Ok((all, stream.finish(metadata)?))
        })
    }
}

impl Stream<'_> {
    /// Adds the rows of a batch.
    ///
    /// # Errors
    /// Why they cannot be written.
    pub(crate) fn add(&mut self, run: &Run) -> Result<(), Failure> {
        if self.plan.files.is_empty() {
            return self.print(run);
        }
        let plan = self.plan;
        if self.files.is_empty() {
            for (path, content) in &plan.files {
                let (open, out) = OpenFile::create(path)?;
                let writer = self.begin(content, run, out);
                self.files.push(StreamedFile {
                    path,
                    content,
                    open,
                    writer: writer.map_err(|error| unwritten(path, &error))?,
                });
            }
        }
        for file in &mut self.files {
            let added = file.writer.add(file.content, run, self.cancel);
            added.map_err(|error| unwritten(file.path, &error))?;
        }
        Ok(())
    }

    fn begin(&self, content: &Content, run: &Run, mut out: BufWriter<File>) -> io::Result<Writer> {
        let of = match content {
            Content::Table(of) | Content::Array(of, _) => *of,
            Content::All => unreachable!("`check_streams` refuses it"),
        };
        let table = Table::new(run, of);
        Ok(match self.plan.form {
            Form::Parquet => Writer::Parquet(Box::new(Parquet::start(&table, &[], out)?)),
            Form::Arrow => Writer::Ipc(Box::new(Ipc::start(&table, &[], out)?)),
            Form::Npy => {
                let rows = self.rows[usize::from(of == TableOf::Worlds)];
                if let Some(column) = content.column(run) {
                    npy::head(column, rows, &mut out)?;
                }
                Writer::Npy(out)
            }
            Form::Csv | Form::Npz | Form::Json => {
                csv::head(&table, &mut out)?;
                Writer::Csv(out)
            }
        })
    }

    /// Writes the first table to standard output.
    fn print(&mut self, run: &Run) -> Result<(), Failure> {
        let Some(&first) = TableOf::in_run(run).first() else {
            return Ok(());
        };
        let table = Table::new(run, first);
        let head = std::mem::take(&mut self.prints_header);
        standard_output::write(|out| {
            if head {
                csv::head(&table, out)?;
            }
            csv::rows(&table, out, self.cancel)
        })
    }

    /// Ends all files and gives them their names.
    fn finish(self, metadata: Option<Metadata>) -> Result<Vec<Written>, Failure> {
        let metadata = metadata.map(|metadata| self.plan.named(metadata));
        let about = metadata.as_ref().map(Metadata::words).unwrap_or_default();
        let mut files = Files::default();
        let mut written = Vec::new();
        for file in self.files {
            let path: &Path = file.path;
            let out = match file.writer {
                Writer::Csv(out) | Writer::Npy(out) => Ok(out),
                Writer::Parquet(file) => file.finish(&about),
                Writer::Ipc(file) => file.finish(&about),
            };
            let out = out.map_err(|error| unwritten(path, &error))?;
            files.complete(file.open, out)?;
            written.push(Written {
                path: PathBuf::from(path),
                what: file.content.what(),
            });
        }
        (self.plan).complete(files, metadata.as_ref(), written, self.cancel)
    }
}

impl Content {
    /// Of an array, its column.
    fn column<'r>(&self, run: &'r Run) -> Option<&'r sim_runtime::Column> {
        let found = columns(run).find(|(of, column, _)| self.holds(*of, &column.field.name));
        found.map(|(_, column, _)| column)
    }
}

impl Writer {
    fn add(&mut self, content: &Content, run: &Run, cancel: &AtomicBool) -> io::Result<()> {
        let table = match content {
            Content::Table(of) | Content::Array(of, _) => Table::new(run, *of),
            Content::All => unreachable!("`check_streams` refuses it"),
        };
        match self {
            Writer::Csv(out) => csv::rows(&table, out, cancel),
            Writer::Parquet(file) => file.append(&table, cancel),
            Writer::Ipc(file) => file.append(&table, cancel),
            Writer::Npy(out) => match content.column(run) {
                Some(column) => npy::values(column, out, cancel),
                None => Ok(()),
            },
        }
    }
}
