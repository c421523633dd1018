//! The files of a sweep: at the places and in the forms of those of a run, but of other tables, whose content
//! the sweep writes.

use super::{Content, Form, MOST_COLUMNS, Plan, Target, metadata::Metadata, tables::TableOf};
use crate::{
    failure::Failure,
    output::{Files, Written},
    problem, usage,
};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
};

/// Writes what a file holds in a form: a table, or all of them, with words about the sweep.
pub(crate) type Writer<'a> =
    dyn Fn(Form, Option<TableOf>, &[(String, String)], &mut BufWriter<File>) -> io::Result<()> + 'a;

impl Target {
    /// Which files there will be for a sweep with these tables, each with its number of columns. Looks
    /// whether any is there already, and tries to write beside them.
    ///
    /// # Errors
    /// Why they could not be written after the sweep.
    pub(crate) fn plan_sweep(self, tables: &[(TableOf, usize)]) -> Result<Plan, Failure> {
        let contents = match self.form {
            Form::Csv | Form::Parquet | Form::Arrow => {
                tables.iter().map(|&(of, _)| Content::Table(of)).collect()
            }
            Form::Npz | Form::Json => vec![Content::All],
            Form::Npy => return Err(refuse_npy()),
        };
        if let Form::Parquet | Form::Arrow = self.form {
            let many = tables
                .iter()
                .find(|(_, columns)| *columns as u64 > MOST_COLUMNS);
            if let Some(&(of, columns)) = many {
                let columns = columns as u64;
                return Err(problem::too_many_columns(of.word(), columns, MOST_COLUMNS).into());
            }
        }
        self.place(contents)
    }

    /// Refuses a form that has no room for the table of a sweep.
    ///
    /// # Errors
    /// That it is such a form.
    pub(crate) fn check_sweep(&self) -> Result<(), Failure> {
        match self.form {
            Form::Npy => Err(refuse_npy()),
            Form::Csv | Form::Parquet | Form::Arrow | Form::Npz | Form::Json => Ok(()),
        }
    }
}

fn refuse_npy() -> Failure {
    usage::refused(
        "a .npy file holds one array, and the table of a sweep has columns of several types",
        "write it to a file that ends with .npz, .csv, .parquet, .arrow, .feather or .json",
    )
}

impl Plan {
    /// The form of the files.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// Writes the files of a sweep, and says which there are.
    ///
    /// # Errors
    /// Why they cannot be written; none of them is there then.
    pub(crate) fn write_tables(
        &self,
        metadata: Option<Metadata>,
        content: &Writer<'_>,
    ) -> Result<Vec<Written>, Failure> {
        self.in_directory(|| self.write_all(metadata, content))
    }

    fn write_all(
        &self,
        metadata: Option<Metadata>,
        content: &Writer<'_>,
    ) -> Result<Vec<Written>, Failure> {
        let metadata = metadata.map(|metadata| self.named(metadata));
        let about = metadata.as_ref().map(Metadata::words).unwrap_or_default();
        let mut files = Files::default();
        let mut written = Vec::new();
        for (path, holds) in &self.files {
            let (of, what) = match holds {
                Content::Table(of) => (Some(*of), of.rows_of_sweep()),
                Content::Array(..) | Content::All => (None, ""),
            };
            files.write(path, |out| content(self.form, of, &about, out))?;
            let path = path.clone();
            written.push(Written { path, what });
        }
        if let (Some(path), Some(metadata)) = (&self.metadata, &metadata) {
            files.write(path, |out| out.write_all(metadata.json().as_bytes()))?;
            let (path, what) = (path.clone(), ", how to repeat the sweep");
            written.push(Written { path, what });
        }
        files.keep(self.replaces)?;
        Ok(written)
    }
}
