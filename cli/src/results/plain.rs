//! Columns that are not those of a run, in files of the same forms.

use super::{Form, MOST_COLUMNS, arrow, csv, npy, path_of, tables::Table};
use crate::{
    failure::Failure,
    output::{self, Files, Written},
    problem,
};
use sim_runtime::{Column, manifest::Field};
use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

/// Files of columns to come.
#[derive(Debug)]
pub(crate) struct Plain {
    path: PathBuf,
    form: Form,
    replaces: bool,
}

impl Plain {
    /// The form by the ending of the name; none for endings of which there is no such form.
    pub(crate) fn new(path: &Path, replaces: bool) -> Option<Plain> {
        match Form::of(path)? {
            Form::Json => None,
            form @ (Form::Csv | Form::Parquet | Form::Arrow | Form::Npy | Form::Npz) => {
                Some(Plain {
                    path: path.to_owned(),
                    form,
                    replaces,
                })
            }
        }
    }

    /// Can the files be written, and is none there that must stay?
    ///
    /// # Errors
    /// Why they could not be written later.
    pub(crate) fn check(&self, fields: &[&Field]) -> Result<(), Failure> {
        let columns: u64 = fields.iter().map(|field| u64::from(field.values())).sum();
        if matches!(self.form, Form::Parquet | Form::Arrow) && columns > MOST_COLUMNS {
            return Err(problem::too_many_columns("elites", columns, MOST_COLUMNS).into());
        }
        let paths = self.paths(fields.iter().map(|field| field.name.as_str()));
        for path in &paths {
            output::check_place(path)?;
        }
        let there: Vec<&Path> = (paths.iter().map(PathBuf::as_path))
            .filter(|path| output::is_there(path))
            .collect();
        match there.is_empty() || self.replaces {
            true => Ok(()),
            false => Err(problem::file_exists(&there).into()),
        }
    }

    fn paths<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<PathBuf> {
        match self.form {
            Form::Npy => names.map(|name| path_of(&self.path, name)).collect(),
            Form::Csv | Form::Parquet | Form::Arrow | Form::Npz | Form::Json => {
                vec![self.path.clone()]
            }
        }
    }

    /// Writes all columns, which have as many rows each, and says which files there are.
    ///
    /// # Errors
    /// Why they cannot be written; none of them is there then.
    pub(crate) fn write(&self, columns: &[Column]) -> Result<Vec<Written>, Failure> {
        // What was found is written also after Ctrl-C.
        let cancel = &AtomicBool::new(false);
        let paths = self.paths(columns.iter().map(|column| column.field.name.as_str()));
        let mut files = Files::default();
        for (path, column) in paths.iter().zip(columns) {
            files.write(path, |out| match self.form {
                Form::Npy => npy::write(column, out, cancel),
                Form::Npz => npy::write_columns(columns, out, cancel),
                Form::Parquet => {
                    arrow::write_parquet(&Table::of_columns(columns), &[], out, cancel)
                }
                Form::Arrow => arrow::write_ipc(&Table::of_columns(columns), &[], out, cancel),
                Form::Csv | Form::Json => csv::write(&Table::of_columns(columns), out, cancel),
            })?;
        }
        files.keep(self.replaces)?;
        let written = |path| Written { path, what: "" };
        Ok(paths.into_iter().map(written).collect())
    }
}
