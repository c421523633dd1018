//! Which column of a file holds which value: one rule for `--data` and `--input`, CSV, Parquet and Arrow.
//!
//! Every value of a row has a name, such as `orders.price` or `w[0][1]`, and a shorter one within a struct or
//! vector: `price`. Columns are found by these names, in any order; either all are long or all are short. A
//! column of lists with a field's name holds all values of that field. Columns of other names are ignored.
//! Only where a table is one field without names inside it, neither struct nor vector, and the file has none
//! of its columns' names, the columns are taken in order: all, or all but those of dates and text. Columns
//! that the command line names are taken in its order.

use super::spellings;
use crate::problem::{self, Problem};
use sim_compiler::manifest::{Field, describe};
use std::{collections::HashMap, path::Path};

/// What the columns of a file are to fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'a> {
    /// `data` or `input`.
    pub(super) role: &'a str,
    /// The name on the command line.
    pub(super) name: &'a str,
    /// The field of that name, or all the fields of the struct.
    pub(super) fields: &'a [&'a Field],
    /// Columns that the command line names.
    pub(super) picked: Option<&'a [String]>,
}

/// A column of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Column {
    /// Its name; of a struct's field with the struct's name before it.
    pub(super) name: String,
    /// The lengths of its lists, the outer ones first: empty for plain values, none for lengths that only the
    /// rows say.
    pub(super) lists: Vec<Option<usize>>,
    /// What it holds, if no value of the table can be that: `dates`, `text`.
    pub(super) unfit: Option<&'static str>,
}

/// Names of columns, for each field.
type Names = Vec<Vec<String>>;

/// A column that fills values of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The column's number.
    pub(super) column: usize,
    /// The lengths that its lists must have; empty for plain values.
    pub(super) lengths: Vec<usize>,
}

impl Part {
    /// Values of a row that it fills.
    pub(super) fn width(&self) -> usize {
        self.lengths.iter().product()
    }
}

/// The columns of a file that fill a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Those of each field, in the order of its values.
    pub(super) of_fields: Vec<Vec<Part>>,
    /// Those that were left out because of what they hold.
    pub(super) left_out: Vec<usize>,
}

impl Wanted<'_> {
    /// Lengths of a field's values in a row, the outer ones first.
    fn lengths(self, field: &Field) -> Vec<usize> {
        let rows = usize::from(self.role == "data");
        let inner = field.shape.iter().skip(rows);
        let components = Some(&field.components).filter(|&&components| components > 1);
        inner
            .chain(components)
            .map(|&length| length as usize)
            .collect()
    }

    /// The names of a field's values.
    fn spellings(self, field: &Field) -> Vec<String> {
        spellings(field, usize::from(self.role == "data"))
    }

    /// Values of a field in one row.
    pub(super) fn width(self, field: &Field) -> usize {
        self.lengths(field).iter().product()
    }

    /// Values of all fields in one row.
    pub(super) fn all(self) -> usize {
        self.fields.iter().map(|field| self.width(field)).sum()
    }

    /// Words of all fields in one row.
    pub(super) fn row_words(self) -> u64 {
        let words = |field: &&Field| self.width(field) as u64 * u64::from(field.scalar.words());
        self.fields.iter().map(words).sum()
    }

    /// May the columns be taken in order?
    pub(super) fn has_order(self) -> bool {
        matches!(self.fields, [field] if field.name == self.name && field.components == 1)
            && self.role == "data"
    }

    /// Is a column called as the one field is, or as an element of it?
    fn names(self, column: &str) -> bool {
        let short = self.name.split_once('.').map(|(_, short)| short);
        [Some(self.name), short].into_iter().flatten().any(|name| {
            let rest = column.strip_prefix(name);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
        })
    }

    /// The columns of each field's values.
    ///
    /// # Errors
    /// Which columns are missing, or there twice, or that they are not as many as the values of a row.
    pub(super) fn find(self, path: &Path, columns: &[Column]) -> Result<Found, Problem> {
        if let Some(picked) = self.picked {
            return self.find_picked(path, columns, picked);
        }
        // Rows may have millions of values, whose names are not needed then.
        if self.has_order() && !columns.iter().any(|column| self.names(&column.name)) {
            return self.in_order(path, columns);
        }
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, column) in columns.iter().enumerate() {
            places.entry(&column.name).or_default().push(at);
        }
        let of_lists = |name: &str| {
            let found = places.get(name).into_iter().flatten();
            found.copied().any(|at| !columns[at].lists.is_empty())
        };
        let (long, short) = self.all_names(of_lists);
        let there = |names: &[Vec<String>]| {
            let names = names.iter().flatten();
            names
                .filter(|name| places.contains_key(name.as_str()))
                .count()
        };
        let names = match &short {
            Some(short) if there(&long) == 0 && there(short) > 0 => short,
            _ => &long,
        };
        if there(names) == 0 && self.has_order() {
            return self.in_order(path, columns);
        }
        if there(names) < names.iter().map(Vec::len).sum() {
            let header: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
            let [long, names] = [&long, names].map(|names| names.concat());
            return Err(self.missing(path, &header, (&long, short.map(|it| it.concat()), &names)));
        }
        let part = |field: &Field, alone: bool, name: &String| {
            let at = match places.get(name.as_str()).map(Vec::as_slice) {
                Some([at]) => *at,
                _ => return Err(problem::twin_columns(path, name)),
            };
            let lengths = match alone {
                true => resolved(&columns[at], &self.lengths(field)),
                false => resolved(&columns[at], &[]),
            };
            let lengths = lengths.ok_or_else(|| self.lists_problem(path, &columns[at], field))?;
            Ok(Part {
                column: at,
                lengths,
            })
        };
        let of_fields = self.fields.iter().zip(names).map(|(field, names)| {
            let alone = names.len() == 1;
            names.iter().map(|name| part(field, alone, name)).collect()
        });
        Ok(Found {
            of_fields: of_fields.collect::<Result<_, _>>()?,
            left_out: Vec::new(),
        })
    }

    /// The names of the columns of each field, and their shorter forms if all have one. A column of lists
    /// fills a field alone.
    fn all_names(self, of_lists: impl Fn(&str) -> bool) -> (Names, Option<Names>) {
        let long = self.fields.iter().map(|field| match of_lists(&field.name) {
            true => vec![field.name.clone()],
            false => self.spellings(field),
        });
        let inner = |name: &String| name.split_once('.').map(|(_, short)| short.to_owned());
        let short = self.fields.iter().map(|field| match inner(&field.name) {
            Some(short) if of_lists(&short) => Some(vec![short]),
            _ => self.spellings(field).iter().map(inner).collect(),
        });
        (long.collect(), short.collect())
    }

    /// The columns in the order of the file: all, or those that hold what the table takes.
    fn in_order(self, path: &Path, columns: &[Column]) -> Result<Found, Problem> {
        let all: Vec<usize> = (0..columns.len()).collect();
        let is_fit = |&at: &usize| columns[at].unfit.is_none();
        let (fit, left_out): (Vec<usize>, Vec<usize>) = all.iter().partition(|at| is_fit(at));
        if let Some(of_fields) = self.assigned(columns, &all) {
            return Ok(Found {
                of_fields,
                left_out: Vec::new(),
            });
        }
        match self.assigned(columns, &fit) {
            Some(of_fields) => Ok(Found {
                of_fields,
                left_out,
            }),
            None => Err(self.other_shape(path, &self.described(columns, &left_out))),
        }
    }

    /// The columns that the command line names.
    fn find_picked(
        self,
        path: &Path,
        columns: &[Column],
        picked: &[String],
    ) -> Result<Found, Problem> {
        let mut order = Vec::new();
        for name in picked {
            let is_inside = |column: &Column| {
                let rest = column.name.strip_prefix(name.as_str());
                rest.is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            let of = |test: &dyn Fn(&Column) -> bool| -> Vec<usize> {
                (0..columns.len())
                    .filter(|&at| test(&columns[at]))
                    .collect()
            };
            let exact = of(&|column| column.name == *name);
            match exact.as_slice() {
                [at] => order.push(*at),
                [] => {
                    let inside = of(&is_inside);
                    if inside.is_empty() {
                        let names: Vec<&str> = columns.iter().map(|it| it.name.as_str()).collect();
                        return Err(problem::unknown_column(path, name, &known(name, &names)));
                    }
                    order.extend(inside);
                }
                _ => return Err(problem::twin_columns(path, name)),
            }
        }
        match self.assigned(columns, &order) {
            Some(of_fields) => Ok(Found {
                of_fields,
                left_out: Vec::new(),
            }),
            None => {
                let width =
                    |&at: &usize| columns[at].lists.iter().copied().product::<Option<usize>>();
                let count = order.iter().map(width);
                let found = match count.sum::<Option<usize>>() {
                    Some(found) => format!("the columns that are named hold {}", values(found)),
                    None => "lists of any length must fill a field alone".to_owned(),
                };
                let needed = values(self.all());
                Err(problem::picked_count(self.role, self.name, &needed, &found))
            }
        }
    }

    /// Gives columns to the fields one after the other; none if they do not fill them exactly.
    fn assigned(self, columns: &[Column], order: &[usize]) -> Option<Vec<Vec<Part>>> {
        let mut left = order.iter();
        let mut of_fields = Vec::new();
        for field in self.fields {
            let lengths = self.lengths(field);
            let width = lengths.iter().product();
            let mut parts: Vec<Part> = Vec::new();
            let mut filled = 0;
            while filled < width {
                let &column = left.next()?;
                let whole = match columns[column].lists.as_slice() {
                    [] => Some(Vec::new()),
                    &[Some(length)] if length < width => Some(vec![length]),
                    _ if parts.is_empty() => resolved(&columns[column], &lengths),
                    _ => None,
                };
                let part = Part {
                    column,
                    lengths: whole?,
                };
                filled += part.width();
                parts.push(part);
            }
            of_fields.push(Some(parts).filter(|_| filled == width)?);
        }
        left.next().is_none().then_some(of_fields)
    }

    /// What a file's columns are, for a complaint about their number.
    fn described(self, columns: &[Column], unfit: &[usize]) -> String {
        let count = |count: usize| match count {
            1 => "1 column".to_owned(),
            _ => format!("{count} columns"),
        };
        let lists = columns.iter().any(|column| !column.lists.is_empty());
        let all = match lists {
            true => format!("{} with lists", count(columns.len())),
            false => count(columns.len()),
        };
        let names: Vec<String> = (unfit.iter()).map(|&at| columns[at].name.clone()).collect();
        match names.is_empty() {
            true => all,
            false => format!("{all}, of which {} hold no numbers", listed(&names)),
        }
    }

    /// The complaint about a file of another shape than the table has.
    pub(super) fn other_shape(self, path: &Path, found: &str) -> Problem {
        let declared: Vec<String> = match self.fields {
            [field] => vec![describe(field.scalar, &field.dims())],
            many => (many.iter())
                .map(|field| {
                    let shape = describe(field.scalar, &field.dims());
                    format!("`{}`: {shape}", field.name)
                })
                .collect(),
        };
        let rows = match self.fields.first().and_then(|field| field.shape.first()) {
            Some(0) => "any number of rows".to_owned(),
            Some(1) | None => "1 row".to_owned(),
            Some(rows) => format!("{rows} rows"),
        };
        let name = self.name;
        let file = path.display();
        let pick = match self.all() {
            1 => format!("`--{} {name}={file}:COLUMN` takes one column", self.role),
            width => {
                format!(
                    "`--{} {name}={file}:COLUMN,…` takes {width} columns",
                    self.role
                )
            }
        };
        let width = values(self.all());
        problem::table_shape(
            path,
            self.role,
            name,
            &declared.join(", "),
            found,
            &format!("in a file that is {rows} of {width}; {pick} by their names"),
        )
    }

    /// The complaint about lists that are not those of the field.
    fn lists_problem(self, path: &Path, column: &Column, field: &Field) -> Problem {
        let length = |length: &Option<usize>| match length {
            Some(length) => length.to_string(),
            None => "?".to_owned(),
        };
        let lengths: Vec<String> = column.lists.iter().map(length).collect();
        let wanted = describe(
            field.scalar,
            &self
                .lengths(field)
                .iter()
                .map(|&n| n as u32)
                .collect::<Vec<_>>(),
        );
        let found = match lengths.is_empty() {
            true => "single values".to_owned(),
            false => format!("lists of length {}", lengths.join(" × ")),
        };
        problem::column_type(
            path,
            &column.name,
            &format!(
                "holds {found}, but {} `{}` takes {wanted} per row",
                self.role, field.name
            ),
            "lists must have the declared lengths, or be flattened into one list",
        )
    }

    /// Says which columns are missing, which there are, and how they may be called.
    fn missing(
        self,
        path: &Path,
        header: &[String],
        (long, short, names): (&[String], Option<Vec<String>>, &[String]),
    ) -> Problem {
        let missing: Vec<String> = names
            .iter()
            .filter(|name| !header.contains(name))
            .cloned()
            .collect();
        let unknown: Vec<String> = header
            .iter()
            .filter(|name| !names.contains(name))
            .cloned()
            .collect();
        let called = match short {
            Some(short) => format!("{}, or {}", listed(long), listed(&short)),
            None => listed(long),
        };
        let unknown = match unknown.as_slice() {
            [] => String::new(),
            [_] => format!("; {} is none of them", listed(&unknown)),
            some => format!("; {} are none of them", listed(some)),
        };
        problem::missing_column(
            path,
            &format!(
                "column{} {}",
                if missing.len() == 1 { "" } else { "s" },
                listed(&missing)
            ),
            &format!(
                "{} `{}` takes its columns by name, in any order: {called}{unknown}; \
                 `--{} {}={}:COLUMN` takes others",
                self.role,
                self.name,
                self.role,
                self.name,
                path.display()
            ),
        )
    }
}

/// The lengths of a column's lists where they may be those of a field: the same, or flattened into one.
fn resolved(column: &Column, lengths: &[usize]) -> Option<Vec<usize>> {
    let width: usize = lengths.iter().product();
    let wanted = match column.lists.len() {
        0 => return (width == 1).then(Vec::new),
        1 => vec![width],
        _ => lengths.to_vec(),
    };
    let fits = column.lists.len() == wanted.len()
        && (column.lists.iter().zip(&wanted))
            .all(|(found, wanted)| found.is_none_or(|n| n == *wanted));
    fits.then_some(wanted)
}

/// What was meant by a name, or what there is.
pub(super) fn known(name: &str, names: &[&str]) -> String {
    let same = names.iter().find(|it| it.eq_ignore_ascii_case(name));
    // Files may have very many columns, whose comparison would take long.
    let near = similar::get_close_matches(name, &names[..names.len().min(10_000)], 1, 0.6);
    match same.or(near.first()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if names.is_empty() => "it has none at all".to_owned(),
        None => {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            format!("it has {}", listed(&names))
        }
    }
}

fn values(count: usize) -> String {
    match count {
        1 => "1 value".to_owned(),
        _ => format!("{count} values"),
    }
}

/// Names, at most a dozen.
fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let some: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();
    let some = some.join(", ");
    if names.len() > MOST {
        format!("{some} and {} more", names.len() - MOST)
    } else {
        some
    }
}

#[cfg(test)]
mod tests {
    use super::super::field;
    use super::*;
    use sim_compiler::manifest::Scalar;

    fn found(role: &str, name: &str, fields: &[Field], header: &str) -> Result<Vec<usize>, String> {
        let fields: Vec<&Field> = fields.iter().collect();
        let column = |name: &str| Column {
            name: name.to_owned(),
            ..Column::default()
        };
        let columns: Vec<Column> = header.split(',').map(column).collect();
        let wanted = Wanted {
            role,
            name,
            fields: &fields,
            picked: None,
        };
        let found = wanted.find(Path::new("t.csv"), &columns);
        let found = found.map_err(|problem| problem.text(Default::default()))?;
        let parts = found.of_fields.iter().flatten();
        Ok(parts.map(|part| part.column).collect())
    }

    #[test]
    fn columns_of_structs_and_vectors_are_found_by_name() {
        let orders = [
            field("orders.price", Scalar::F32, &[0], 1),
            field("orders.legs", Scalar::I32, &[0, 2], 1),
        ];
        let data = |header| found("data", "orders", &orders, header);
        assert_eq!(data("price,legs[0],legs[1]"), Ok(vec![0, 1, 2]));
        assert_eq!(data("legs[1],day,price,legs[0]"), Ok(vec![2, 3, 0]));
        assert_eq!(
            data("orders.legs[1],orders.legs[0],orders.price"),
            Ok(vec![2, 1, 0])
        );
        let problem = data("price,legs[0],leg").expect_err("a column is missing");
        assert!(problem.contains("no column `legs[1]`"), "{problem}");
        assert!(problem.contains("`leg` is none of them"), "{problem}");
        assert!(
            data("orders.price,legs[0],legs[1]").is_err(),
            "long and short names"
        );
        assert!(data("a,b,c").is_err(), "other names");
        assert!(data("price,price,legs[0],legs[1]").is_err(), "twins");
        let place = [field("place", Scalar::F32, &[0], 2)];
        assert_eq!(found("data", "place", &place, "y,x"), Ok(vec![1, 0]));
        assert_eq!(
            found("data", "place", &place, "place.y,place.x"),
            Ok(vec![1, 0])
        );
        assert!(found("data", "place", &place, "lon,lat").is_err());
        let one = [field("orders.price", Scalar::F32, &[0], 1)];
        assert_eq!(
            found("data", "orders.price", &one, "size,price"),
            Ok(vec![1])
        );
        assert!(
            found("data", "orders", &one, "size").is_err(),
            "a struct of one field"
        );
    }

    #[test]
    fn only_a_table_without_names_inside_is_taken_in_order() {
        let table = [field("t", Scalar::F32, &[0, 2], 1)];
        let data = |header| found("data", "t", &table, header);
        assert_eq!(data("left,right"), Ok(vec![0, 1]));
        let problem = data("left,middle,right").expect_err("a column too many");
        assert!(problem.contains("E0939"), "{problem}");
        assert_eq!(data("t[1],note,t[0]"), Ok(vec![2, 0]));
        assert!(data("t[0],right").is_err());
        let weights = [field("w", Scalar::F32, &[2], 1)];
        assert!(found("input", "w", &weights, "left,right").is_err());
        assert_eq!(found("input", "w", &weights, "w[1],w[0]"), Ok(vec![1, 0]));
    }
}
