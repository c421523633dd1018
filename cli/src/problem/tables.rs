//! Complaints about tables: the files of `--data` and `--input` (E0930–E0959).

use super::{Problem, catalog};
use std::{fmt::Display, path::Path};

catalog! {
    /// The ending of a table's file says no known form.
    ///
    /// Tables and inputs are read from `.csv` (and `.tsv`), `.parquet`, `.arrow` (and `.feather`), `.npy` and
    /// `.npz` files. An input also takes values for all agents: `--input x=0.5`.
    E0930 unknown_table_form(path: &Path) {
        let number = path.to_str().is_some_and(|text| text.parse::<f64>().is_ok());
        let help = "give a .csv, .parquet, .arrow, .npy or .npz file";
        Problem::new(format!("`{}` ends with no known form of table", path.display())).help(match number {
            true => format!("{help}; one number is a `param`, or an input: `--input x=0.5`"),
            false => help.to_owned(),
        })
    }

    /// A table's file has no content at all, or no row.
    ///
    /// The first line of a CSV file names the columns, every other line is a row.
    E0931 table_empty(path: &Path, what: &str) {
        let problem = Problem::new(format!("`{}` has no {what}", path.display()));
        match what {
            "row" | "content" => {
                problem.help("a table has at least one row: was the file written to its end?")
            }
            _ => problem.help("the first line names the columns, every other line is a row"),
        }
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
            .help(match expected {
                1 => "every row needs one cell per column; if the commas are decimal marks, give \
                      `--separator ';' --decimal comma`",
                _ => "every row needs one cell per column, which may be empty with `--empty nan`",
            })
    }

    /// A file lacks a column.
    ///
    /// Columns are found by their names, in any order, and others are left alone: a scalar `x` is the column
    /// `x`, an array the columns `x[0]`, `x[1]`, … (`x[0][0]`, … if it is nested), a vector `x.x`, `x.y`, …,
    /// and the fields of a struct are `order.price`, `order.size`, …. All columns of a struct or vector may
    /// leave its name away: `price`, `size`. The columns of a table (`--data`) that is neither struct nor
    /// vector may have any names: if none of them is one of the table's, they are taken in order. Columns of
    /// any names are taken where the command line lists them: `--data x=file.csv:open,close`.
    E0934 missing_column(path: &Path, columns: &str, help: &str) {
        Problem::new(format!("`{}` has no {columns}", path.display()))
            .help(help)
    }

    /// Two columns of a file have the same name, and one of them is needed.
    E0935 twin_columns(path: &Path, column: &str) {
        Problem::new(format!("`{}` has two columns `{column}`", path.display()))
            .help("rename one of them")
    }

    /// A cell of a table is not a value of the declared type.
    ///
    /// Floats are `1`, `0.25`, `-1e-3`, `NaN`, `inf` and `-inf`; integers may not have a fraction; a bool is
    /// `true`, `false`, `1` or `0`; an enum is the name of a variant or its number. An empty cell, a null,
    /// or `NA` is read as NaN with `--empty nan`, where floats stand. A whole number that no `f32` holds
    /// exactly, such as 16777217, is rounded with `--lossy`; a number with a fraction always is.
    E0936 bad_cell(place: &str, column: &str, text: &str, why: &str, accepts: &str) {
        let subject = if text.is_empty() {
            "the cell".to_owned()
        } else {
            format!("`{text}`")
        };
        Problem::new(format!("{subject} in column `{column}` {why}"))
            .at(place)
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
    /// A file of columns has one row per agent (`--input`) or per outermost element (`--data`), and one
    /// column per value in it, or a column of lists. An NPY array has the declared dimensions, for inputs
    /// after one of the agents; components of vectors are the last dimension. All but the first dimension
    /// may be flattened into one.
    E0939 table_shape(path: &Path, role: &str, name: &str, expected: &str, found: &str, help: &str) {
        Problem::new(format!(
            "{role} `{name}` needs {expected}, but `{}` holds {found}",
            path.display()
        ))
        .help(help)
    }

    /// A file is no NPY file, or is cut short.
    ///
    /// NPY is NumPy's own form, as `numpy.save` writes it, and the form of the members of an `.npz` archive.
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
    /// for an integer must be whole. `--lossy` also rounds integers to f32.
    E0942 npy_value(path: &Path, index: &str, value: &str, why: &str, help: Option<&str>) {
        let problem = Problem::new(format!("{value} at index {index} {why}")).at(path.display().to_string());
        match help {
            Some(help) => problem.help(help),
            None => problem,
        }
    }

    /// One file cannot fill all the fields of this struct.
    ///
    /// A file of columns fills a whole struct if all its fields have the same number of rows. Otherwise, and
    /// with NPY files, each field is given by its own name: `--data order.price=price.npy`.
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

    /// A CSV file can be read in several ways.
    ///
    /// Cells are separated by commas, semicolons or tabs, whichever the first line has. Where commas do not
    /// separate, they are decimal marks, as in `0,5`. But `1,234` and `1.234` may be meant as 1234, and a
    /// file may have both marks: `--separator` and `--decimal` say what is meant. Marks between thousands
    /// are not read.
    E0945 csv_ambiguous(path: &Path, line: u64, why: &str, help: &str) {
        Problem::new(why).at(format!("{}:{line}", path.display())).help(help)
    }

    /// A Parquet, Arrow or NPZ file is none, or is cut short.
    E0946 columns_malformed(path: &Path, form: &str, why: &dyn Display) {
        let mut why = why.to_string();
        for start in ["Parquet error: ", "Parser error: ", "Ipc error: ", "Io error: "] {
            why = why.strip_prefix(start).unwrap_or(&why).to_owned();
        }
        let file = path.display();
        Problem::new(format!("`{file}` cannot be read as {} {form} file: {why}", article(form)))
            .help("was it written to its end, and does its name end as its form does?")
    }

    /// The columns of a file are compressed in a way that is not read.
    ///
    /// Parquet files may be compressed with Snappy, gzip, LZ4 or Zstandard, Arrow files with LZ4, and members
    /// of NPZ archives with deflate.
    E0947 codec(path: &Path, codec: &str) {
        Problem::new(format!("`{}` is compressed with {codec}, which is not read here", path.display()))
            .help(
                "write Parquet with `compression=\"snappy\"`, Arrow with `compression=\"lz4\"`, or \
                 without any",
            )
    }

    /// A column holds no values of a model.
    ///
    /// Integers, floats, decimals and bools are numbers; text and dictionaries of text name the variants of
    /// an enum. Lists must have the declared lengths. Dates, times, bytes and maps are not read.
    E0948 column_type(path: &Path, column: &str, what: &str, help: &str) {
        Problem::new(format!("column `{column}` {what}")).at(path.display().to_string()).help(help)
    }

    /// The command line names a column that the file does not have.
    E0949 unknown_column(path: &Path, column: &str, help: &str) {
        Problem::new(format!("`{}` has no column `{column}`", path.display())).help(help)
    }

    /// The command line names more or fewer columns than a row has values.
    ///
    /// `--data signals=prices.csv:open,close` gives a row of two values. The columns are taken in the order
    /// in which they are named; a name of a struct, or of an array such as `w` for `w[0]` and `w[1]`, stands
    /// for all of its columns.
    E0950 picked_count(role: &str, name: &str, needed: &str, found: &str) {
        Problem::new(format!("{role} `{name}` takes {needed} per row, but {found}"))
            .help("name as many columns as a row has values, in their order")
    }

    /// The list of columns after a file's name cannot be read.
    ///
    /// Names stand between commas, as in `prices.csv:open,close`. A name with a comma or a quote is quoted:
    /// `prices.csv:"open, EUR",close`.
    E0951 bad_columns(file: &str, text: &str) {
        Problem::new(format!("`{text}` is no list of columns of `{file}`"))
            .help("names stand between commas, and names with commas in double quotes")
    }

    /// An NPY file holds one array, which has no columns to be named.
    E0952 no_columns(path: &Path) {
        Problem::new(format!("`{}` holds one array, which has no names inside", path.display()))
            .help("leave out the colon and what follows")
    }

    /// An NPZ archive has no array of that name, or several that could be meant.
    ///
    /// An archive's arrays have names: `--data signals=prices.npz:close` reads `close`. Without one, the
    /// array with the name of the table is read, or the only one that there is.
    E0953 npz_member(path: &Path, what: &str, help: &str) {
        Problem::new(format!("`{}` has {what}", path.display())).help(help)
    }

    /// A Parquet, Arrow or NPZ file cannot come from a pipe.
    ///
    /// What these files hold is listed at their ends.
    E0954 needs_plain_file(path: &Path) {
        Problem::new(format!("`{}` is no plain file, but must be read from its end", path.display()))
            .help("write it to a disk first, or give CSV, which may come from a pipe")
    }

    /// What stands for an input is neither a value of it nor a file.
    ///
    /// `--input x=0.5` gives all agents, or all worlds, the same value; the values of an array or vector
    /// stand between commas. `--input x=x.csv` reads a row for each.
    E0955 input_value(name: &str, text: &str, why: &str, accepts: &str) {
        Problem::new(format!("`{text}` is no value of input `{name}`, and no file: {why}"))
            .help(format!("{accepts}; or give a .csv, .parquet, .arrow, .npy or .npz file"))
    }
}

fn article(form: &str) -> &'static str {
    match form {
        "Arrow" | "NPZ" => "an",
        _ => "a",
    }
}

fn cells(count: usize) -> String {
    if count == 1 {
        "1 cell".to_owned()
    } else {
        format!("{count} cells")
    }
}
