//! Complaints about tables: the files of `--data` and `--input` (E0930–E0959).

use super::{Problem, catalog};
use std::path::Path;

catalog! {
    /// The ending of a table's file says no known form.
    ///
    /// Tables are read from `.csv` and `.npy` files.
    E0930 unknown_table_form(path: &Path) {
        let number = path.to_str().is_some_and(|text| text.parse::<f64>().is_ok());
        Problem::new(format!("`{}` ends with no known form of table", path.display())).help(match number {
            true => "give a .csv or .npy file; one number for all agents is a `param`, or a default in the \
                     model: `input x = 1.0`",
            false => "give a .csv or .npy file",
        })
    }

    /// A CSV file has no line at all, or only a header.
    ///
    /// The first line names the columns, every other line is a row.
    E0931 csv_empty(path: &Path, what: &str) {
        Problem::new(format!("`{}` has no {what}", path.display()))
            .help("the first line names the columns, every other line is a row")
    }

    /// The first line of a CSV file holds numbers only.
    ///
    /// It would be taken for the names of the columns, and a row of the table would be lost without a word.
    E0932 csv_no_header(path: &Path) {
        Problem::new("the first line must name the columns, but holds only numbers")
            .at(format!("{}:1", path.display()))
            .help("add a line with one name per column above it")
    }

    /// A row of a CSV file has more or fewer cells than its header has names.
    E0933 csv_ragged(path: &Path, line: u64, expected: usize, found: usize) {
        Problem::new(format!("this row has {}, but the header names {expected}", cells(found)))
            .at(format!("{}:{line}", path.display()))
            .help("every row needs one cell per column; write NaN for a float that is missing")
    }

    /// A CSV file lacks a column.
    ///
    /// Columns are found by their names, in any order, and others are left alone: a scalar `x` is the column
    /// `x`, an array the columns `x[0]`, `x[1]`, … (`x[0][0]`, … if it is nested), a vector `x.x`, `x.y`, …,
    /// and the fields of a struct are `order.price`, `order.size`, …. All columns of a struct or vector may
    /// leave its name away: `price`, `size`. The columns of a table (`--data`) that is neither struct nor
    /// vector may have any names: if none of them is one of the table's, they are taken in order.
    E0934 csv_missing_column(path: &Path, columns: &str, help: &str) {
        Problem::new(format!("`{}` has no {columns}", path.display()))
            .at(format!("{}:1", path.display()))
            .help(help)
    }

    /// Two columns of a CSV file have the same name, and one of them is needed.
    E0935 csv_twin_columns(path: &Path, column: &str) {
        Problem::new(format!("`{}` has two columns `{column}`", path.display()))
            .help("rename one of them")
    }

    /// A cell of a CSV file is not a value of the declared type.
    ///
    /// Floats are `1`, `0.25`, `-1e-3`, `NaN`, `inf` and `-inf`; integers may not have a fraction; a bool is
    /// `true`, `false`, `1` or `0`; an enum is the name of a variant or its number. An empty cell is not
    /// read as anything: write `NaN` for a float that is missing.
    E0936 bad_cell(path: &Path, line: u64, column: &str, text: &str, why: &str, accepts: &str) {
        let subject = if text.is_empty() {
            "the cell".to_owned()
        } else {
            format!("`{text}`")
        };
        Problem::new(format!("{subject} in column `{column}` {why}"))
            .at(format!("{}:{line}", path.display()))
            .help(accepts)
    }

    /// A row of a CSV file is empty.
    ///
    /// In a file of one column an empty line may be a value that is missing, and leaving it out would move
    /// all later rows. Empty lines at the end of the file do no harm.
    E0937 csv_blank_line(path: &Path, line: u64) {
        Problem::new("this line is empty, but rows follow")
            .at(format!("{}:{line}", path.display()))
            .help("remove the line, or write NaN if a float is missing here")
    }

    /// A CSV file cannot be taken apart into rows and cells.
    ///
    /// A quote may not be closed: a cell that begins with a double quote ends with one. Or the file is no CSV
    /// file, or UTF-16 text (which some spreadsheets call "Unicode text") instead of UTF-8.
    E0938 csv_malformed(path: &Path, line: u64, why: &str, help: &str) {
        Problem::new(why).at(format!("{}:{line}", path.display())).help(help)
    }

    /// A table has another shape than the model declares.
    ///
    /// A CSV file has one row per agent (`--input`) or per outermost element (`--data`), and one column per
    /// value in it. An NPY array has the declared dimensions, for inputs after one of the agents; components
    /// of vectors are the last dimension. All but the first dimension may be flattened into one.
    E0939 table_shape(path: &Path, role: &str, name: &str, expected: &str, found: &str, help: &str) {
        Problem::new(format!(
            "{role} `{name}` needs {expected}, but `{}` holds {found}",
            path.display()
        ))
        .help(help)
    }

    /// A file is no NPY file, or is cut short.
    ///
    /// NPY is NumPy's own form, as `numpy.save` writes it; `.npz` archives are not read.
    E0940 npy_malformed(path: &Path, why: &str) {
        Problem::new(format!("`{}` is no NPY file: {why}", path.display()))
            .help("write it with `numpy.save(path, array)`")
    }

    /// An NPY file holds a type or an order that is not read.
    ///
    /// Read are floats of 4 and 8 bytes, integers of 1 to 8 bytes, and bools; little-endian, in C order (the
    /// last dimension varies fastest).
    E0941 npy_unsupported(path: &Path, what: &str, help: &str) {
        Problem::new(format!("`{}` holds {what}, which is not read", path.display()))
            .help(help)
    }

    /// A value of an NPY file cannot be held by the declared type.
    ///
    /// Only the rounding of 8-byte floats to f32 is done without asking. An integer must fit, and a float
    /// for an integer must be whole.
    E0942 npy_value(path: &Path, index: &str, value: &str, why: &str) {
        Problem::new(format!("{value} at index {index} {why}"))
            .at(path.display().to_string())
    }

    /// One file cannot fill all the fields of this struct.
    ///
    /// A CSV file fills a whole struct if all its fields have the same number of rows. Otherwise, and with
    /// NPY files, each field is given by its own name: `--data order.price=price.npy`.
    E0943 struct_needs_files(path: &Path, role: &str, name: &str, fields: &str) {
        Problem::new(format!(
            "`{}` cannot hold all the fields of {role} `{name}`",
            path.display()
        ))
        .help(format!("give each field its own file: {fields}"))
    }

    /// A file has more values than fit in memory.
    ///
    /// Tables and inputs lie in memory, and are copied once on their way there. A pipe whose other end never
    /// stops writing ends so, too.
    E0944 table_too_large(path: &Path, bytes: u64, available: u64) {
        Problem::new(format!(
            "the values of `{}` take more than {} MB, and {} MB of memory are left",
            path.display(),
            bytes / 1_000_000,
            available / 1_000_000
        ))
        .help("give fewer rows, or run a part of the population at a time: `--agents`, `--first-agent`")
    }
}

fn cells(count: usize) -> String {
    if count == 1 {
        "1 cell".to_owned()
    } else {
        format!("{count} cells")
    }
}
