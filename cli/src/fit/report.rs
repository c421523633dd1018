//! What `simc fit` prints and writes.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    number::grouped,
    summary::{duration, significant},
    table::cell::{bits_of, number_of},
};
use serde_json::{Map, Value, json};
use sim_runtime::{Ended, Estimate, Fit, Fitted, Goal, RealType, Simulation};
use std::{fmt::Write, path::Path};

/// A fit with what was asked for.
pub(super) struct Report<'a> {
    pub(super) fit: &'a Fit,
    pub(super) method: &'static str,
    pub(super) found: &'a Fitted,
    pub(super) simulation: &'a Simulation,
    pub(super) seconds: f64,
}

impl Report<'_> {
    fn goal(&self) -> String {
        match &self.fit.goal {
            Goal::Loss(loss) => loss.to_string(),
            Goal::Residuals(output) => format!("sum of squares of {output}"),
        }
    }

    /// For people.
    pub(super) fn text(&self, file: Option<&Path>) -> String {
        let found = self.found;
        let has_errors = found.correlation.is_some();
        let mut head = vec!["param", "value", "before"];
        if has_errors {
            head.push("std err");
        }
        head.push("");
        let mut lines: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        lines.extend(found.estimates.iter().map(|estimate| {
            let mut cells = vec![
                estimate.float.name.clone(),
                shown(estimate.float.real, estimate.value),
                shown(estimate.float.real, estimate.float.value),
            ];
            if has_errors {
                let error = estimate.standard_error;
                cells.push(error.map_or("-".to_owned(), |error| significant(error, 3)));
            }
            cells.push(bound(estimate).to_owned());
            cells
        }));
        let mut text = table(&lines, Flush::Right);
        text += &self.correlations();
        let _ = writeln!(text, "{}  {}", self.goal(), significant(found.loss, 8));
        if let Some(residuals) = found.residuals {
            let freedom = f64::from(residuals) - found.estimates.len() as f64;
            let deviation = (found.loss / freedom).sqrt();
            let _ = match freedom > 0.0 {
                true => writeln!(
                    text,
                    "residuals   {}, standard deviation {}",
                    grouped(residuals.into()),
                    significant(deviation, 6)
                ),
                false => writeln!(text, "residuals   {}", grouped(residuals.into())),
            };
        }
        if let Some(norm) = found.gradient_norm {
            let _ = writeln!(text, "gradient    {}", significant(norm, 3));
        }
        if found.losses.len() > 1 {
            let near = found.losses.iter().filter(|loss| {
                (**loss - found.loss).abs() <= 1e-3 * found.loss.abs().max(f64::MIN_POSITIVE)
            });
            let _ = writeln!(
                text,
                "searches    {}, of which {} came to this loss",
                found.losses.len(),
                near.count()
            );
        }
        let _ = writeln!(
            text,
            "{:<12}{} iterations, {} runs, {}: {}",
            self.method,
            found.iterations,
            grouped(found.evaluations),
            duration(self.seconds),
            why(found.ended)
        );
        if let Some(path) = file {
            let _ = writeln!(text, "written     {}", path.display());
        }
        text
    }

    /// The correlations of the estimates, below the diagonal.
    fn correlations(&self) -> String {
        let (Some(rows), estimates) = (&self.found.correlation, &self.found.estimates) else {
            return String::new();
        };
        if estimates.len() < 2 || estimates.len() > 12 {
            return String::new();
        }
        let mut head = vec!["correlation".to_owned()];
        head.extend(
            estimates[..estimates.len() - 1]
                .iter()
                .map(|it| it.float.name.clone()),
        );
        let mut lines = vec![head];
        for (at, row) in rows.iter().enumerate().skip(1) {
            let mut cells = vec![estimates[at].float.name.clone()];
            cells.extend(row[..at].iter().map(|value| match value.is_nan() {
                true => "-".to_owned(),
                false => format!("{value:.4}"),
            }));
            lines.push(cells);
        }
        table(&lines, Flush::Right)
    }

    /// For programs, and for `simc run --params`.
    pub(super) fn object(&self) -> Result<Value, Failure> {
        let found = self.found;
        let floats: Vec<_> = found.estimates.iter().map(|it| it.float.clone()).collect();
        let values: Vec<f64> = found
            .estimates
            .iter()
            .map(|estimate| estimate.value)
            .collect();
        let mut params: Map<String, Value> = Map::new();
        for (at, (float, value)) in floats.iter().zip(&values).enumerate() {
            if floats[..at]
                .iter()
                .any(|before| before.param == float.param)
            {
                continue;
            }
            // Values of an array that were not fitted are those of the launch.
            let scalar = float.real.scalar();
            let words = self.simulation.param_words(&float.param)?;
            let mut all: Vec<f64> = bits_of(scalar, &words)
                .map(|bits| number_of(scalar, bits))
                .collect();
            for (other, value) in floats.iter().zip(&values) {
                if other.param == float.param {
                    all[other.at] = *value;
                }
            }
            let all: Vec<Value> = all.iter().map(|one| number(float.real, *one)).collect();
            let value = match all.len() {
                1 => number(float.real, *value),
                _ => all.into(),
            };
            params.insert(float.param.clone(), value);
        }
        let estimate = |estimate: &Estimate| {
            json!({
                "name": estimate.float.name,
                "value": number(estimate.float.real, estimate.value),
                "before": number(estimate.float.real, estimate.float.value),
                "standard_error": estimate.standard_error,
                "at_bound": estimate.at_bound,
            })
        };
        Ok(json!({
            "params": params,
            "goal": self.goal(),
            "loss": found.loss,
            "gradient_norm": found.gradient_norm,
            "residuals": found.residuals,
            "estimates": found.estimates.iter().map(estimate).collect::<Vec<_>>(),
            "correlation": found.correlation,
            "searches": found.losses,
            "method": self.method,
            "iterations": found.iterations,
            "runs": found.evaluations,
            "seconds": self.seconds,
            "seed": self.simulation.current_seed(),
            "ended": word(found.ended),
        }))
    }
}

/// The digits that give the same value of that type.
fn shown(real: RealType, value: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e9).contains(&value.abs());
    match (real, is_plain) {
        (RealType::F32, true) => (value as f32).to_string(),
        (RealType::F32, false) => format!("{:e}", value as f32),
        (RealType::F64, true) => value.to_string(),
        (RealType::F64, false) => format!("{value:e}"),
    }
}

/// The shortest digits that give the same value of that type, as a number of JSON.
fn number(real: RealType, value: f64) -> Value {
    let text = match real {
        RealType::F32 => (value as f32).to_string(),
        RealType::F64 => value.to_string(),
    };
    text.parse::<f64>().map_or(Value::Null, Value::from)
}

fn bound(estimate: &Estimate) -> &'static str {
    let [low, high] = estimate.float.range;
    match estimate.at_bound {
        true if estimate.value - low <= high - estimate.value => "at the lower end of its range",
        true => "at the upper end of its range",
        false => "",
    }
}

fn why(ended: Ended) -> &'static str {
    match ended {
        Ended::Gradient => "the gradient is 0",
        Ended::Loss => "the loss no longer decreases",
        Ended::Step => "the steps are below the resolution of floats",
        Ended::Iterations => "the last iteration that is allowed; --iterations N allows more",
        Ended::Interrupted => "interrupted",
    }
}

fn word(ended: Ended) -> &'static str {
    match ended {
        Ended::Gradient => "gradient",
        Ended::Loss => "loss",
        Ended::Step => "step",
        Ended::Iterations => "iterations",
        Ended::Interrupted => "interrupted",
    }
}
