//! What `simc run` says of an error of a run: with `--check` and `--json` a fault is an object, too.

use crate::{failure::Failure, source::Source, standard_output};
use serde_json::{Map, Value as Json, json};
use sim_compiler::value::Value;
use sim_runtime::{Error, Moment};

/// The report of an error of a run. If it is a fault and `json` is asked for, prints that to standard output.
pub(crate) fn refusal(source: &Source, error: Error, json: bool) -> Failure {
    let printed = match object(source, &error).filter(|_| json) {
        Some(text) => standard_output::print(text),
        None => Ok(()),
    };
    match printed {
        Ok(()) => source.refusal(error),
        Err(failure) => failure,
    }
}

/// The fault of a checked run as an object, if the error is one. Lines and columns begin at 1; columns count
/// characters.
fn object(source: &Source, error: &Error) -> Option<String> {
    let fault = error.fault()?;
    let place = |span: sim_compiler::span::Span| {
        let (line, column) = span.position(&source.text);
        let text = source.text.get(span.range()).unwrap_or_default();
        Map::from_iter([
            ("line".to_owned(), json!(line)),
            ("column".to_owned(), json!(column)),
            ("text".to_owned(), json!(text)),
        ])
    };
    let values = fault.values.iter().map(|seen| {
        let mut value = place(seen.span);
        value.insert("name".to_owned(), json!(seen.name));
        value.insert("value".to_owned(), number(seen.value));
        Json::Object(value)
    });
    let (moment, step) = match fault.moment {
        Moment::Launch => ("launch", None),
        Moment::Beginning => ("beginning", None),
        Moment::Sample(steps) => ("sample", Some(steps)),
        Moment::Step(step) => ("step", Some(step)),
        Moment::End => ("end", None),
    };
    let mut found = place(fault.span);
    let rest = json!({
        "code": error.code(),
        "message": fault.message(),
        "file": source.name,
        "agent": fault.agent,
        "world": fault.world,
        "moment": moment,
        "step": step,
        "values": values.collect::<Vec<Json>>(),
    });
    if let Json::Object(rest) = rest {
        found.extend(rest);
    }
    Some(format!("{:#}\n", json!({ "fault": found })))
}

/// A value; what is no number in JSON is text, as in results.
fn number(value: Value) -> Json {
    let float = |x: f32| match x {
        x if x.is_nan() => json!("NaN"),
        x if x == f32::INFINITY => json!("inf"),
        x if x == f32::NEG_INFINITY => json!("-inf"),
        // The shortest digits that give the same float.
        x => x.to_string().parse::<f64>().map_or(Json::Null, Json::from),
    };
    match value {
        Value::Bool(value) => json!(value),
        Value::I32(value) => json!(value),
        Value::U32(value) => json!(value),
        Value::F32(value) => float(value),
        Value::Vec2(_) | Value::Vec3(_) | Value::Vec4(_) => {
            value.floats().iter().map(|&part| float(part)).collect()
        }
    }
}
