//! Which column of a CSV file holds which value: one rule for `--data` and `--input`.
//!
//! Every value of a row has a name, such as `orders.price` or `w[0][1]`, and a shorter one within a struct or
//! vector: `price`. Columns are found by these names, in any order; either all are long or all are short.
//! Columns of other names are ignored. Only where a table is one field without names inside it, neither
//! struct nor vector, and the header has none of its columns' names, the columns are taken in order.

use super::spellings;
use crate::problem::{self, Problem};
use sim_compiler::manifest::Field;
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
}

impl Wanted<'_> {
    /// Dimensions that are rows of the file, not columns.
    fn skip(self) -> usize {
        usize::from(self.role == "data")
    }

    /// Values of a field in one row.
    pub(super) fn width(self, field: &Field) -> usize {
        let inner = field.shape.iter().skip(self.skip());
        let inner: usize = inner.map(|&length| length as usize).product();
        inner * field.components as usize
    }

    /// Values of all fields in one row.
    pub(super) fn all(self) -> usize {
        self.fields.iter().map(|field| self.width(field)).sum()
    }

    /// May the columns be taken in order?
    fn has_order(self) -> bool {
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

    /// The columns of each field's values; none where they are to be taken in order, but are not as many.
    ///
    /// # Errors
    /// Which columns are missing, or there twice.
    pub(super) fn find(
        self,
        path: &Path,
        header: &[String],
    ) -> Result<Option<Vec<usize>>, Problem> {
        // Rows may have millions of values, whose names are not needed then.
        if self.has_order() && header.len() != self.all() && !header.iter().any(|it| self.names(it))
        {
            return Ok(None);
        }
        let long: Vec<String> = (self.fields.iter())
            .flat_map(|field| spellings(field, self.skip()))
            .collect();
        let short: Option<Vec<String>> = (long.iter())
            .map(|name| name.split_once('.').map(|(_, short)| short.to_owned()))
            .collect();
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, name) in header.iter().enumerate() {
            places.entry(name).or_default().push(at);
        }
        let there = |names: &[String]| {
            names
                .iter()
                .filter(|name| places.contains_key(name.as_str()))
                .count()
        };
        let names = match &short {
            Some(short) if there(&long) == 0 && there(short) > 0 => short,
            _ => &long,
        };
        if there(names) == 0 && self.has_order() {
            let in_order = (0..header.len()).collect();
            return Ok(Some(in_order).filter(|_| header.len() == self.all()));
        }
        if there(names) < names.len() {
            return Err(self.missing(path, header, (&long, short.as_deref(), names)));
        }
        let column = |name: &String| match places.get(name.as_str()).map(Vec::as_slice) {
            Some([at]) => Ok(*at),
            _ => Err(problem::csv_twin_columns(path, name)),
        };
        names.iter().map(column).collect::<Result<_, _>>().map(Some)
    }

    /// Says which columns are missing, which there are, and how they may be called.
    fn missing(
        self,
        path: &Path,
        header: &[String],
        (long, short, names): (&[String], Option<&[String]>, &[String]),
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
            Some(short) => format!("{}, or {}", listed(long), listed(short)),
            None => listed(long),
        };
        let unknown = match unknown.as_slice() {
            [] => String::new(),
            [_] => format!("; {} is none of them", listed(&unknown)),
            some => format!("; {} are none of them", listed(some)),
        };
        problem::csv_missing_column(
            path,
            &format!(
                "column{} {}",
                if missing.len() == 1 { "" } else { "s" },
                listed(&missing)
            ),
            &format!(
                "{} `{}` takes its columns by name, in any order: {called}{unknown}",
                self.role, self.name
            ),
        )
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

    fn found(
        role: &str,
        name: &str,
        fields: &[Field],
        header: &str,
    ) -> Result<Option<Vec<usize>>, String> {
        let fields: Vec<&Field> = fields.iter().collect();
        let header: Vec<String> = header.split(',').map(str::to_owned).collect();
        let wanted = Wanted {
            role,
            name,
            fields: &fields,
        };
        let found = wanted.find(Path::new("t.csv"), &header);
        found.map_err(|problem| problem.text(Default::default()))
    }

    #[test]
    fn columns_of_structs_and_vectors_are_found_by_name() {
        let orders = [
            field("orders.price", Scalar::F32, &[0], 1),
            field("orders.legs", Scalar::I32, &[0, 2], 1),
        ];
        let data = |header| found("data", "orders", &orders, header);
        assert_eq!(data("price,legs[0],legs[1]"), Ok(Some(vec![0, 1, 2])));
        assert_eq!(data("legs[1],day,price,legs[0]"), Ok(Some(vec![2, 3, 0])));
        assert_eq!(
            data("orders.legs[1],orders.legs[0],orders.price"),
            Ok(Some(vec![2, 1, 0]))
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
        assert_eq!(found("data", "place", &place, "y,x"), Ok(Some(vec![1, 0])));
        assert_eq!(
            found("data", "place", &place, "place.y,place.x"),
            Ok(Some(vec![1, 0]))
        );
        assert!(found("data", "place", &place, "lon,lat").is_err());
        let one = [field("orders.price", Scalar::F32, &[0], 1)];
        assert_eq!(
            found("data", "orders.price", &one, "size,price"),
            Ok(Some(vec![1]))
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
        assert_eq!(data("left,right"), Ok(Some(vec![0, 1])));
        assert_eq!(data("left,middle,right"), Ok(None));
        assert_eq!(data("t[1],note,t[0]"), Ok(Some(vec![2, 0])));
        assert!(data("t[0],right").is_err());
        let weights = [field("w", Scalar::F32, &[2], 1)];
        assert!(found("input", "w", &weights, "left,right").is_err());
        assert_eq!(
            found("input", "w", &weights, "w[1],w[0]"),
            Ok(Some(vec![1, 0]))
        );
    }
}
