//! The columns of an Arrow schema, which Parquet files have, too: structs are taken apart into their fields.

use super::columns::{Column, Found, Part, Wanted};
use crate::problem::{self, Problem};
use arrow_schema::{DataType, Field, Fields};
use std::path::Path;

/// A column of values or lists, with the way to it from the top: numbers of columns, then of fields.
#[derive(Debug)]
pub(super) struct Leaf {
    /// What it is called, and what its rows have.
    pub(super) column: Column,
    /// The way to it.
    pub(super) way: Vec<usize>,
    /// What its values are, in words, if they are none of a model.
    unreadable: Option<String>,
    is_text: bool,
}

/// All columns of a schema.
pub(super) fn leaves(fields: &Fields, wanted: Wanted<'_>) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        add(field, String::new(), vec![at], &mut leaves);
    }
    // Where columns are taken in order, there is one field.
    let takes_text = (wanted.fields.iter()).all(|field| !field.variants.is_empty());
    for leaf in &mut leaves {
        if leaf.is_text && !takes_text {
            leaf.column.unfit = Some("text");
        }
    }
    leaves
}

fn add(field: &Field, prefix: String, way: Vec<usize>, leaves: &mut Vec<Leaf>) {
    let name = prefix + field.name();
    if let DataType::Struct(children) = field.data_type() {
        for (at, child) in children.iter().enumerate() {
            let way = [way.as_slice(), &[at]].concat();
            add(child, format!("{name}."), way, leaves);
        }
        return;
    }
    let mut lists = Vec::new();
    let mut of = field.data_type();
    loop {
        of = match of {
            DataType::FixedSizeList(child, length) => {
                lists.push(usize::try_from(*length).ok());
                child.data_type()
            }
            DataType::List(child) | DataType::LargeList(child) => {
                lists.push(None);
                child.data_type()
            }
            _ => break,
        };
    }
    let is_index = name.starts_with("__index_level_");
    let mut leaf = Leaf {
        column: Column {
            lists,
            unfit: Some("an index of pandas").filter(|_| is_index),
            name,
        },
        way,
        unreadable: None,
        is_text: false,
    };
    leaf.classify(of);
    leaves.push(leaf);
}

impl Leaf {
    /// Says what values of this type are.
    fn classify(&mut self, of: &DataType) {
        let (unfit, what) = match of {
            DataType::Null
            | DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::UInt64
            | DataType::Float16
            | DataType::Float32
            | DataType::Float64
            | DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..) => return,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
                self.is_text = true;
                return;
            }
            DataType::Dictionary(_, values) => return self.classify(values),
            DataType::Timestamp(..) => ("dates", "timestamps"),
            DataType::Date32 | DataType::Date64 => ("dates", "dates"),
            DataType::Time32(_) | DataType::Time64(_) => ("times", "times"),
            DataType::Duration(_) | DataType::Interval(_) => ("times", "durations"),
            DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView
            | DataType::FixedSizeBinary(_) => ("bytes", "bytes"),
            DataType::Struct(_) => ("lists of structs", "lists of structs"),
            DataType::Map(..) => ("maps", "maps"),
            _ => ("other values", "values of a type that is not read"),
        };
        self.column.unfit = Some(unfit);
        self.unreadable = Some(match what {
            "values of a type that is not read" => {
                format!("values of type {of}, which is not read")
            }
            _ => what.to_owned(),
        });
    }
}

/// What a file's columns hold that fill the table.
///
/// # Errors
/// Which columns it lacks, and which of them hold no values of a model.
pub(super) fn find(path: &Path, wanted: Wanted<'_>, leaves: &[Leaf]) -> Result<Found, Problem> {
    let columns: Vec<Column> = leaves.iter().map(|leaf| leaf.column.clone()).collect();
    let found = wanted.find(path, &columns)?;
    for (field, parts) in wanted.fields.iter().zip(&found.of_fields) {
        for Part { column, .. } in parts {
            let leaf = &leaves[*column];
            let takes_text = !field.variants.is_empty();
            let what = match &leaf.unreadable {
                Some(what) => what.clone(),
                None if leaf.is_text && !takes_text => "text".to_owned(),
                None => continue,
            };
            let help = match what.as_str() {
                "text" => {
                    "only an enum is read from text, by the names of its variants: write numbers"
                }
                "timestamps" | "dates" | "times" | "durations" => {
                    "a model has no dates: write a number, such as days or seconds since the first row"
                }
                _ => "write a column of numbers, or a list of numbers of one length",
            };
            let what = format!(
                "holds {what}, but {} `{}` takes numbers",
                wanted.role, field.name
            );
            return Err(problem::column_type(path, &leaf.column.name, &what, help));
        }
    }
    Ok(found)
}

/// The columns that were left out, with what they hold.
pub(super) fn left_out(leaves: &[Leaf], found: &Found) -> Vec<String> {
    let columns = found.left_out.iter().map(|&at| &leaves[at].column);
    columns
        .map(|column| format!("`{}` ({})", column.name, column.unfit.unwrap_or_default()))
        .collect()
}
