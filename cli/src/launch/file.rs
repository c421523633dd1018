//! `--params FILE`: values of params from a JSON object.

use super::Assignment;
use crate::{
    failure::Failure,
    open::{named, open},
    problem,
};
use serde_json::{Map, Value};
use std::{io::Read, path::Path};

/// Most bytes of such a file.
const MOST: u64 = 64 << 20;

/// The values in a file, as they stand on a command line.
///
/// # Errors
/// If it cannot be read, or holds something else.
pub(super) fn read(path: &Path) -> Result<Vec<Assignment>, Failure> {
    let path = &named(path);
    let refused = |why: &str| -> Failure { problem::bad_params_file(path, why).into() };
    let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
    let mut text = String::new();
    (opened.file.take(MOST).read_to_string(&mut text))
        .map_err(|error| problem::unreadable(path, &error))?;
    let value: Value = serde_json::from_str(&text).map_err(|error| refused(&error.to_string()))?;
    let Value::Object(object) = value else {
        return Err(refused("it is no object"));
    };
    let mut given = Vec::new();
    for (name, value) in values(object) {
        let mut parts = Vec::new();
        if !listed(&value, &mut parts) {
            return Err(refused(&format!(
                "the value of `{name}` is no number and no list of numbers"
            )));
        }
        let value = parts.join(",");
        given.push(Assignment { name, value });
    }
    Ok(given)
}

/// The object of params: the one under `params`, as results of `simc fit` have it, or the whole.
fn values(mut object: Map<String, Value>) -> Map<String, Value> {
    match object.remove("params") {
        Some(Value::Object(inner)) => inner,
        Some(other) => {
            object.insert("params".to_owned(), other);
            object
        }
        None => object,
    }
}

/// The values one by one, as text; false if there is something else.
fn listed(value: &Value, parts: &mut Vec<String>) -> bool {
    match value {
        Value::Number(number) => parts.push(number.to_string()),
        Value::Bool(truth) => parts.push(truth.to_string()),
        Value::String(text) => parts.push(text.clone()),
        Value::Array(all) => return !all.is_empty() && all.iter().all(|one| listed(one, parts)),
        Value::Null | Value::Object(_) => return false,
    }
    true
}
