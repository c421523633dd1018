//! From Arrow arrays to the words of a table.

use super::{
    Values,
    arrow_columns::Leaf,
    cell::{self, Kind},
    columns::{Found, Part, Wanted},
    csv_reader::shortened,
    rules::{Refusal, Rules},
};
use crate::problem::{self, Problem};
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, GenericListArray, OffsetSizeTrait, PrimitiveArray,
    RecordBatch,
    cast::AsArray,
    types::{
        Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type,
        Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
        UInt32Type, UInt64Type,
    },
};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use std::{fmt::Display, path::Path};

/// Takes in the batches of a file, one after the other.
pub(super) struct Sink<'a> {
    pub(super) path: &'a Path,
    pub(super) wanted: Wanted<'a>,
    pub(super) leaves: &'a [Leaf],
    pub(super) found: &'a Found,
    pub(super) rules: Rules,
    pub(super) values: Values,
}

/// A value that cannot be read.
struct Bad {
    /// Its row in the array.
    row: usize,
    text: String,
    refusal: Refusal,
}

type Words = Result<Vec<u64>, Bad>;

impl Sink<'_> {
    /// The columns at the top of the schema that are needed, in ascending order.
    pub(super) fn roots(leaves: &[Leaf], found: &Found) -> Vec<usize> {
        let parts = found.of_fields.iter().flatten();
        let mut roots: Vec<usize> = parts.map(|part| leaves[part.column].way[0]).collect();
        roots.sort_unstable();
        roots.dedup();
        roots
    }

    /// Appends the rows of a batch, which has the columns of `roots`.
    ///
    /// # Errors
    /// Which value no field of its type can hold.
    pub(super) fn take(&mut self, batch: &RecordBatch, roots: &[usize]) -> Result<(), Problem> {
        let rows = batch.num_rows();
        if self.values.words.is_empty() {
            self.values.words = vec![Vec::new(); self.wanted.fields.len()];
        }
        let fields = self.wanted.fields.iter().zip(&self.found.of_fields);
        for ((field, parts), words) in fields.zip(&mut self.values.words) {
            let kind = Kind::of(field);
            let width: usize = parts.iter().map(Part::width).sum();
            let each = field.scalar.words() as usize;
            let first = words.len();
            words.resize(first + rows * width * each, 0);
            let mut offset = 0;
            for part in parts {
                let leaf = &self.leaves[part.column];
                let (array, nulls) = arrive(batch, roots, &leaf.way);
                let found = flatten(&array, nulls, &part.lengths, (kind, self.rules));
                let found = found.map_err(|bad| {
                    let row = self.values.rows + bad.row as u64;
                    problem::bad_cell(
                        &format!("{}, row {row} (the first is 0)", self.path.display()),
                        &leaf.column.name,
                        &shortened(&bad.text),
                        bad.refusal.why,
                        bad.refusal.fix.unwrap_or(&kind.accepts()),
                    )
                })?;
                let part_width = part.width();
                let lines = words[first..].chunks_exact_mut(width * each);
                for (line, values) in lines.zip(found.chunks_exact(part_width)) {
                    let line = line[offset * each..].chunks_exact_mut(each);
                    line.zip(values)
                        .for_each(|(words, bits)| cell::put(*bits, words));
                }
                offset += part_width;
            }
        }
        self.values.rows += rows as u64;
        Ok(())
    }
}

/// The array at the end of a way, and where a struct on the way there is null.
fn arrive(batch: &RecordBatch, roots: &[usize], way: &[usize]) -> (ArrayRef, Option<NullBuffer>) {
    let root = roots.partition_point(|&root| root < way[0]);
    let mut array = batch.column(root).clone();
    let mut nulls = None;
    for &child in &way[1..] {
        let parent = array.as_struct();
        nulls = NullBuffer::union(nulls.as_ref(), parent.nulls());
        array = parent.column(child).clone();
    }
    (array, nulls)
}

/// The words of an array whose lists have these lengths. `nulls` says which rows an outer value leaves out.
fn flatten(
    array: &ArrayRef,
    nulls: Option<NullBuffer>,
    lengths: &[usize],
    how: (Kind<'_>, Rules),
) -> Words {
    let Some((&length, inner)) = lengths.split_first() else {
        return values(array, nulls.as_ref(), how);
    };
    let nulls = NullBuffer::union(nulls.as_ref(), array.nulls());
    match array.data_type() {
        DataType::FixedSizeList(..) => {
            let list = array.as_fixed_size_list();
            let first = list.value_offset_at(0);
            let child = list.values().slice(first, list.len() * length);
            let nulls = nulls.map(|nulls| nulls.expand(length));
            flatten(&child, nulls, inner, how).map_err(|bad| Bad {
                row: bad.row / length.max(1),
                ..bad
            })
        }
        DataType::LargeList(_) => {
            lists(array.as_list::<i64>(), nulls.as_ref(), (length, inner), how)
        }
        _ => lists(array.as_list::<i32>(), nulls.as_ref(), (length, inner), how),
    }
}

/// [`flatten`] of lists whose lengths may differ, but must not.
fn lists<O: OffsetSizeTrait>(
    list: &GenericListArray<O>,
    nulls: Option<&NullBuffer>,
    (length, inner): (usize, &[usize]),
    how: (Kind<'_>, Rules),
) -> Words {
    for (row, ends) in list.value_offsets().windows(2).enumerate() {
        let found = (ends[1] - ends[0]).as_usize();
        let (text, why) = match nulls {
            Some(nulls) if nulls.is_null(row) => (String::new(), "is null, where a list belongs"),
            _ if found != length => (
                format!("a list of {found}"),
                "has another length than the table's rows",
            ),
            _ => continue,
        };
        let refusal = Refusal {
            why,
            fix: Some("lists must be as long as the declared array or vector, in every row"),
        };
        return Err(Bad { row, text, refusal });
    }
    let first = list.value_offsets()[0].as_usize();
    let child = list.values().slice(first, list.len() * length);
    flatten(&child, None, inner, how).map_err(|bad| Bad {
        row: bad.row / length.max(1),
        ..bad
    })
}

/// The words of an array of plain values.
fn values(array: &ArrayRef, outer: Option<&NullBuffer>, how: (Kind<'_>, Rules)) -> Words {
    let nulls = NullBuffer::union(outer, array.logical_nulls().as_ref());
    let all = All {
        len: array.len(),
        nulls: nulls.as_ref(),
        kind: how.0,
        rules: how.1,
    };
    match array.data_type() {
        DataType::Int8 => all.integers::<Int8Type>(array),
        DataType::Int16 => all.integers::<Int16Type>(array),
        DataType::Int32 => all.integers::<Int32Type>(array),
        DataType::Int64 => all.integers::<Int64Type>(array),
        DataType::UInt8 => all.integers::<UInt8Type>(array),
        DataType::UInt16 => all.integers::<UInt16Type>(array),
        DataType::UInt32 => all.integers::<UInt32Type>(array),
        DataType::UInt64 => all.integers::<UInt64Type>(array),
        DataType::Float16 => all.floats::<Float16Type>(array),
        DataType::Float32 if matches!(all.kind, Kind::F32) => {
            let array = array.as_primitive::<Float32Type>();
            all.words(|at| Ok(array.value(at).to_bits().into()), |_| String::new())
        }
        DataType::Float32 => all.floats::<Float32Type>(array),
        DataType::Float64 => all.floats::<Float64Type>(array),
        DataType::Decimal32(..) => all.decimals::<Decimal32Type>(array),
        DataType::Decimal64(..) => all.decimals::<Decimal64Type>(array),
        DataType::Decimal128(..) => all.decimals::<Decimal128Type>(array),
        DataType::Decimal256(..) => all.decimals::<Decimal256Type>(array),
        DataType::Boolean => {
            let array = array.as_boolean();
            all.words(
                |at| all.rules.integer(all.kind, array.value(at).into()),
                |at| array.value(at).to_string(),
            )
        }
        DataType::Utf8 => all.texts(|at| array.as_string::<i32>().value(at)),
        DataType::LargeUtf8 => all.texts(|at| array.as_string::<i64>().value(at)),
        DataType::Utf8View => all.texts(|at| array.as_string_view().value(at)),
        DataType::Dictionary(..) => all.dictionary(array),
        // A column of nulls has no type; those of other types are refused by their schema.
        _ => all.words(
            |_| all.rules.missing(all.kind, "is null"),
            |_| String::new(),
        ),
    }
}

/// All values of an array.
#[derive(Clone, Copy)]
struct All<'a> {
    len: usize,
    nulls: Option<&'a NullBuffer>,
    kind: Kind<'a>,
    rules: Rules,
}

impl All<'_> {
    fn words(
        self,
        word: impl Fn(usize) -> Result<u64, Refusal>,
        text: impl Fn(usize) -> String,
    ) -> Words {
        let is_null = |at| self.nulls.is_some_and(|nulls| nulls.is_null(at));
        let one = |row| {
            let found = match is_null(row) {
                true => self.rules.missing(self.kind, "is null"),
                false => word(row),
            };
            found.map_err(|refusal| Bad {
                row,
                text: if is_null(row) {
                    String::new()
                } else {
                    text(row)
                },
                refusal,
            })
        };
        (0..self.len).map(one).collect()
    }

    fn integers<T: ArrowPrimitiveType>(self, array: &ArrayRef) -> Words
    where
        T::Native: Into<i128> + Display,
    {
        let array: &PrimitiveArray<T> = array.as_primitive();
        self.words(
            |at| self.rules.integer(self.kind, array.value(at).into()),
            |at| array.value(at).to_string(),
        )
    }

    fn floats<T: ArrowPrimitiveType>(self, array: &ArrayRef) -> Words
    where
        T::Native: Into<f64>,
    {
        let array: &PrimitiveArray<T> = array.as_primitive();
        self.words(
            |at| Ok(self.kind.float(array.value(at).into())?),
            |at| format!("{:?}", array.value(at).into()),
        )
    }

    fn decimals<T: DecimalType>(self, array: &ArrayRef) -> Words {
        let array: &PrimitiveArray<T> = array.as_primitive();
        self.words(
            |at| self.rules.text(self.kind, &array.value_as_string(at)),
            |at| array.value_as_string(at),
        )
    }

    fn texts<'t>(self, text: impl Fn(usize) -> &'t str) -> Words {
        self.words(
            |at| self.rules.text(self.kind, text(at)),
            |at| text(at).to_owned(),
        )
    }

    /// Values that stand once, and are named by their number. Only those that are named must be readable.
    fn dictionary(self, array: &ArrayRef) -> Words {
        let dictionary = array.as_any_dictionary();
        let keys = dictionary.normalized_keys();
        let mut known: Vec<Option<u64>> = vec![None; dictionary.values().len()];
        let mut words = Vec::with_capacity(self.len);
        for (row, &key) in keys.iter().enumerate() {
            if self.nulls.is_some_and(|nulls| nulls.is_null(row)) {
                let missing = self.rules.missing(self.kind, "is null");
                words.push(missing.map_err(|refusal| Bad {
                    row,
                    text: String::new(),
                    refusal,
                })?);
                continue;
            }
            let word = match known[key] {
                Some(word) => word,
                None => {
                    let one = dictionary.values().slice(key, 1);
                    let found = values(&one, None, (self.kind, self.rules));
                    found.map_err(|bad| Bad { row, ..bad })?[0]
                }
            };
            known[key] = Some(word);
            words.push(word);
        }
        Ok(words)
    }
}
