//! Whether an expectation holds, and what to say where it does not.

use super::measure::{Found, term};
use crate::problem;
use serde_json::{Value, json};
use sim_compiler::{
    diagnostic::{Diagnostic, Label},
    testing::{Comparison, Expectation, Kind, Relation, Unit},
};
use sim_runtime::Run;

/// What became of an expectation.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    pub(super) holds: bool,
    found: Found,
    /// What it was compared with: one value, or both ends.
    expected: Vec<f64>,
    /// How far off the value may be, where that is said.
    tolerance: Option<f64>,
}

/// Looks at one expectation.
pub(super) fn judge(run: &Run, expectation: &Expectation) -> Verdict {
    let found = term(run, &expectation.value);
    let other = |of| term(run, of).value;
    // In the precision of results: 0.1 is no float, and the nearest one is what a model gives.
    let comparable = |value: f64| match expectation.kind {
        Kind::Float => f64::from(value as f32),
        Kind::Int | Kind::Bool | Kind::Enum(_) => value,
    };
    let (holds, expected, tolerance) = match &expectation.relation {
        Relation::Compare(comparison, right) => {
            let right = other(right);
            let holds = comparison.holds(comparable(found.value), comparable(right));
            (holds, vec![right], None)
        }
        Relation::In(low, high) => {
            let (low, high) = (other(low), other(high));
            let above = Comparison::GreaterEqual.holds(comparable(found.value), comparable(low));
            let below = Comparison::LessEqual.holds(comparable(found.value), comparable(high));
            (above && below, vec![low, high], None)
        }
        Relation::Near {
            expected,
            tolerance,
            unit,
        } => {
            let expected = other(expected);
            let allowed = match unit {
                Unit::Absolute => Some(*tolerance),
                Unit::Percent => Some(tolerance / 100.0 * expected.abs()),
                Unit::StandardErrors => found.standard_error.map(|error| tolerance * error),
            };
            // Equal infinities have no difference.
            let near =
                |allowed| found.value == expected || (found.value - expected).abs() <= allowed;
            (allowed.is_some_and(near), vec![expected], allowed)
        }
    };
    Verdict {
        holds,
        found,
        expected,
        tolerance,
    }
}

impl Verdict {
    /// What is wrong, at its place.
    pub(super) fn complaint(&self, expectation: &Expectation) -> Diagnostic {
        let shown = |value| shown(value, &expectation.kind);
        let message = match (&expectation.relation, self.expected.as_slice()) {
            (Relation::Compare(Comparison::Equal, _), [expected]) => {
                format!(
                    "found {}, expected {}",
                    shown(self.found.value),
                    shown(*expected)
                )
            }
            (Relation::Compare(comparison, _), [expected]) => format!(
                "found {}, expected {} {}",
                shown(self.found.value),
                comparison.text(),
                shown(*expected)
            ),
            (Relation::In(..), [low, high]) => format!(
                "found {}, expected {} to {}",
                shown(self.found.value),
                shown(*low),
                shown(*high)
            ),
            (_, expected) => format!(
                "found {}, expected about {}",
                shown(self.found.value),
                expected
                    .first()
                    .map_or(String::new(), |value| shown(*value))
            ),
        };
        let label = |span, text: String| Label { span, text };
        let mut labels = vec![label(expectation.value_span, self.distance(expectation))];
        if let Some(error) = self.found.standard_error {
            let text = format!("its standard error is {}", short(error));
            labels[0].text = match labels[0].text.is_empty() {
                true => text,
                false => format!("{}; {text}", labels[0].text),
            };
        }
        if labels[0].text.is_empty() {
            labels[0].text = format!("is {}", shown(self.found.value));
        }
        let help = self.help(expectation);
        problem::expectation_failed(&message, help.as_deref()).in_model(labels)
    }

    /// By how much it is off.
    fn distance(&self, expectation: &Expectation) -> String {
        let (Kind::Int | Kind::Float, value) = (&expectation.kind, self.found.value) else {
            return String::new();
        };
        let nearest = match self.expected.as_slice() {
            [low, high] if value > *high && low <= high => *high,
            [first, ..] => *first,
            [] => return String::new(),
        };
        let off = value - nearest;
        if !off.is_finite() || off == 0.0 {
            return String::new();
        }
        let side = if off > 0.0 { "above" } else { "below" };
        let mut text = format!(
            "{} {side} {}",
            short(off.abs()),
            shown(nearest, &expectation.kind)
        );
        if let Some(allowed) = self.tolerance.filter(|allowed| *allowed > 0.0) {
            let times = short(off.abs() / allowed);
            text += &format!(", {times} times the tolerance of {}", short(allowed));
        }
        text
    }

    fn help(&self, expectation: &Expectation) -> Option<String> {
        let errors = matches!(
            expectation.relation,
            Relation::Near {
                unit: Unit::StandardErrors,
                ..
            }
        );
        match self.tolerance {
            _ if self.found.value.is_nan() => {
                Some("a value among the results is not a number; nothing is near it".to_owned())
            }
            None if errors => Some(
                "a standard error needs two values that are independent of one another: two agents, or \
                 two worlds where the model has them"
                    .to_owned(),
            ),
            Some(allowed) if errors && allowed == 0.0 => {
                Some("all values are equal, so that the standard error is 0: write `within 0.01`".to_owned())
            }
            _ => None,
        }
    }

    /// For tools.
    pub(super) fn json(&self, text: &str, line: usize) -> Value {
        let number = |value: f64| match value.is_finite() {
            true => json!(value),
            false => json!(value.to_string()),
        };
        json!({
            "text": text,
            "line": line,
            "ok": self.holds,
            "found": number(self.found.value),
            "expected": self.expected.iter().map(|value| number(*value)).collect::<Vec<_>>(),
            "tolerance": self.tolerance.map(number),
            "standard_error": self.found.standard_error.map(number),
        })
    }
}

/// A value as a model would write it.
fn shown(value: f64, kind: &Kind) -> String {
    match kind {
        Kind::Bool => (value != 0.0).to_string(),
        Kind::Enum(variants) => match variants.get(value as usize) {
            Some(variant) => variant.clone(),
            None => value.to_string(),
        },
        Kind::Int => value.to_string(),
        Kind::Float if value.is_nan() => "NaN".to_owned(),
        Kind::Float => plain(value, 9),
    }
}

/// A distance, of which the first digits matter.
fn short(value: f64) -> String {
    plain(value, 3)
}

/// So many digits, without zeros at the end.
fn plain(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let exponent = value.abs().log10().floor();
    if !(-4.0..9.0).contains(&exponent) {
        let text = format!("{value:.*e}", digits - 1);
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    let places = (digits as f64 - 1.0 - exponent).max(0.0) as usize;
    trimmed(&format!("{value:.places$}")).to_owned()
}

fn trimmed(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_as_many_digits_as_matter() {
        let shown = [
            (0.0, "0"),
            (8.021_352_2, "8.02"),
            (0.000_123_456, "0.000123"),
            (0.000_012_345_6, "1.23e-5"),
            (1234.56, "1235"),
            (-2.5, "-2.5"),
            (f64::INFINITY, "inf"),
        ];
        for (value, text) in shown {
            assert_eq!(short(value), text);
        }
        assert_eq!(plain(0.1_f32.into(), 9), "0.100000001");
        assert_eq!(plain(104.5, 9), "104.5");
    }
}
