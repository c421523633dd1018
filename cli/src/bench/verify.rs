//! Are the results right? A run is compared with another backend, agent by agent, for a sample of the
//! population.

use super::Unmeasured;
use crate::failure::Failure;
use sim_runtime::{
    Backend, Column, Control, Device, Run, Simulation, Statistics, Values,
    compare::{Difference, Tolerance, differences, first_agents, largest},
};

/// Agents whose results a GPU must share with the CPU.
const SAMPLE: u32 = 256;
/// Agents whose results the CPU must share with the reference interpreter, which is slow.
const SMALL_SAMPLE: u32 = 16;
/// How far two floats may be apart, relative to the largest one of their output.
const WITHIN: f64 = 1e-3;
/// What rounding may leave where numbers cancel, as in the drift of an energy, relative to the largest float
/// of all outputs.
const CANCELLED: f64 = 1e-5;
/// The share of an output's values that may be further apart: one in a hundred agents is at a threshold.
const DIVERGED: f64 = 0.01;
/// Steps after which agents of chaotic models must still agree.
const FEW_STEPS: u32 = 16;
/// How far the means of chaotic models may be apart, in standard errors of their difference.
const STANDARD_ERRORS: f64 = 4.0;

/// How far the mean of the differences may be from 0, in standard errors of its own: more is a drift.
const BIAS_ERRORS: f64 = 5.0;
/// And relative to the mean of the sizes: as much may come from functions that a GPU rounds to one side.
const BIAS: f64 = 1e-4;

/// How results agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Agent by agent.
    Agents,
    /// Agent by agent after a few steps, in the means after all.
    Means,
}

impl Agreement {
    /// In words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Agreement::Agents => "agent by agent",
            Agreement::Means => "agent by agent after 16 steps, then in the means",
        }
    }
}

/// Compares the `first` run of a simulation with another backend. `start` gives a simulation of this many
/// agents of the same population; the simulation comes back ready for the same run.
pub(crate) fn verify(
    simulation: Simulation,
    first: &Run,
    control: &Control<'_>,
    start: impl Fn(u32) -> Result<Simulation, Failure>,
) -> Result<(Simulation, Agreement), Unmeasured> {
    let report = first.report();
    let (backend, sample) = match report.backend {
        Device::Gpu(_) => (Backend::Cpu, SAMPLE),
        Device::Cpu(_) => (Backend::Reference, SMALL_SAMPLE),
        Device::Reference => (Backend::Cpu, SMALL_SAMPLE),
    };
    // Whole worlds, at least one.
    let members = report.agents.checked_div(report.worlds).unwrap_or(1).max(1);
    let sample = sample.next_multiple_of(members).min(report.agents);
    let other = start(sample)?.backend(backend);
    let differ = |difference: Difference| Unmeasured::Unverified(difference.to_string());
    let full = compare(first, &other.run_with(control)?).map_err(differ)?;
    if let Some(bias) = full.bias {
        return Err(Unmeasured::Unverified(bias));
    }
    let Some(apart) = full.parted else {
        return Ok((simulation, Agreement::Agents));
    };
    if let Some(means) = full.means {
        return Err(Unmeasured::Unverified(format!("{apart}, and {means}")));
    }
    let steps = report.steps;
    if steps <= FEW_STEPS {
        return Err(Unmeasured::Unverified(apart));
    }
    let other = other.steps(FEW_STEPS).run_with(control)?;
    let simulation = simulation.steps(FEW_STEPS);
    let few = compare(&simulation.run_with(control)?, &other).map_err(differ)?;
    match few.parted {
        None => Ok((simulation.steps(steps), Agreement::Means)),
        Some(apart) => Err(Unmeasured::Unverified(format!(
            "after {FEW_STEPS} steps {apart}"
        ))),
    }
}

/// What is wrong with the agents and with the means, if anything.
struct Comparison {
    parted: Option<String>,
    means: Option<String>,
    bias: Option<String>,
}

/// The agents of `other` are the first ones of `run`.
fn compare(run: &Run, other: &Run) -> Result<Comparison, Difference> {
    let mut found = Comparison {
        parted: None,
        means: None,
        bias: None,
    };
    let pairs = first_agents(run, other)?;
    let sizes = pairs.iter().map(|(_, theirs)| largest(&theirs.values));
    let cancelled = CANCELLED * sizes.fold(0.0, f64::max);
    for (ours, theirs) in pairs {
        let name = &theirs.field.name;
        let most = (WITHIN * largest(&theirs.values)).max(cancelled);
        found.parted = found.parted.or_else(|| parted(&ours, &theirs, most));
        let (ours, theirs) = (numbers(&ours), numbers(&theirs));
        found.means = found.means.or_else(|| means(name, &ours, &theirs, most));
        found.bias = found.bias.or_else(|| bias(name, &ours, &theirs));
    }
    Ok(found)
}

/// Are more than a few agents apart by more than `most`?
fn parted(ours: &Column, theirs: &Column, most: f64) -> Option<String> {
    let mut apart = differences(ours, theirs, Tolerance::Absolute(most));
    let first = apart.next()?;
    let (count, all, name) = (1 + apart.count(), theirs.values.len(), &theirs.field.name);
    (count as f64 > DIVERGED * all as f64)
        .then(|| format!("{count} of {all} values of output `{name}` differ; {first}"))
}

/// Are the means apart by more than chance and by more than `most`?
fn means(name: &str, ours: &[f64], theirs: &[f64], most: f64) -> Option<String> {
    let of = |values: &[f64]| -> Option<(f64, f64)> {
        let values = values.iter().map(|&value| value as f32).collect();
        let found = Statistics::of(&Values::F32(values), 0, 1);
        let mean = found.mean?;
        let error = found.deviation.unwrap_or(0.0) / (found.count as f64).sqrt();
        Some((mean, error))
    };
    let ((a, a_error), (b, b_error)) = match (of(ours), of(theirs)) {
        (Some(ours), Some(theirs)) => (ours, theirs),
        (None, None) => return None,
        (Some(_), None) | (None, Some(_)) => {
            return Some(format!("output `{name}` is NaN on one of the two"));
        }
    };
    let error = a_error.hypot(b_error);
    // Outputs that hardly vary still differ by rounding.
    let bound = (STANDARD_ERRORS * error).max(most);
    let near = a == b || (a - b).abs() <= bound;
    (!near).then(|| format!("the mean of output `{name}` is {a} instead of {b} +- {error}"))
}

/// Do values differ to one side, agent by agent, by less than would show in any of them? Roundings that fall
/// the same way in every step add up like that.
fn bias(name: &str, ours: &[f64], theirs: &[f64]) -> Option<String> {
    let finite = |&(a, b): &(&f64, &f64)| a.is_finite() && b.is_finite();
    let pairs: Vec<(&f64, &f64)> = ours.iter().zip(theirs).filter(finite).collect();
    let count = pairs.len() as f64;
    if count < 8.0 {
        return None;
    }
    let size = pairs.iter().map(|(_, b)| b.abs()).sum::<f64>() / count;
    let mean = pairs.iter().map(|(a, b)| *a - *b).sum::<f64>() / count;
    let squares: f64 = (pairs.iter().map(|(a, b)| (*a - *b - mean).powi(2))).sum();
    let error = (squares / (count - 1.0) / count).sqrt();
    (mean.abs() > (BIAS_ERRORS * error).max(BIAS * size)).then(|| {
        format!(
            "output `{name}` is off to one side, by {mean:e} +- {error:e} in the mean of {count} values: \
             roundings that fall the same way in every step"
        )
    })
}

fn numbers(column: &Column) -> Vec<f64> {
    let values = &column.values;
    (0..values.len()).map(|at| values.number(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::field;
    use sim_compiler::manifest::Scalar;

    fn column(values: &[f64]) -> Column {
        Column {
            field: field("x", Scalar::F32, &[], 1),
            shape: vec![values.len()],
            values: Values::F32(values.iter().map(|&value| value as f32).collect()),
        }
    }

    fn parted(ours: &[f64], theirs: &[f64]) -> Option<String> {
        let theirs = column(theirs);
        super::parted(&column(ours), &theirs, WITHIN * largest(&theirs.values))
    }

    fn means(ours: &[f64], theirs: &[f64]) -> Option<String> {
        super::means("x", ours, theirs, WITHIN * largest(&column(theirs).values))
    }

    #[test]
    fn one_agent_in_a_hundred_may_part() {
        let theirs: Vec<f64> = (0..200).map(f64::from).collect();
        let mut ours: Vec<f64> = theirs.iter().map(|value| value * 1.0005).collect();
        assert_eq!(parted(&ours, &theirs), None);
        ours[3] = f64::NAN;
        ours[100] = 7.0;
        assert_eq!(parted(&ours, &theirs), None);
        ours[101] = f64::INFINITY;
        let said = parted(&ours, &theirs).expect("three are too many");
        let expected = "3 of 200 values of output `x` differ; `x` of agent 3, value 0, is NaN";
        assert!(said.starts_with(expected), "{said}");
    }

    #[test]
    fn small_outputs_part_like_large_ones() {
        let theirs: Vec<f64> = (0..200).map(|k| 1e-6 * f64::from(k)).collect();
        let ours: Vec<f64> = theirs.iter().map(|value| value * 1.01).collect();
        assert!(parted(&ours, &theirs).is_some());
        assert!(means(&ours, &theirs).is_none(), "within their spread");
        let moved: Vec<f64> = theirs.iter().map(|value| value + 1e-4).collect();
        assert!(means(&moved, &theirs).is_some());
    }

    #[test]
    fn a_drift_is_found_that_no_value_shows() {
        let theirs: Vec<f64> = (0..200).map(|k| 4.6 + 0.001 * f64::from(k)).collect();
        let noise = |k: usize| 1e-6 * ((k * 7 % 13) as f64 - 6.0);
        let shifted = |shift: f64| -> Vec<f64> {
            (theirs.iter().enumerate())
                .map(|(k, x)| x + noise(k) + shift)
                .collect()
        };
        let drifted = shifted(-0.0023);
        assert_eq!(parted(&drifted, &theirs), None);
        assert_eq!(means(&drifted, &theirs), None);
        assert!(bias("x", &drifted, &theirs).is_some());
        assert_eq!(bias("x", &shifted(1e-5), &theirs), None);
        assert_eq!(bias("x", &theirs, &theirs), None);
    }

    #[test]
    fn means_have_a_bound() {
        let theirs: Vec<f64> = (0..100).map(f64::from).collect();
        let turned: Vec<f64> = theirs.iter().rev().copied().collect();
        assert_eq!(means(&turned, &theirs), None);
        let moved: Vec<f64> = theirs.iter().map(|value| value + 20.0).collect();
        assert!(means(&moved, &theirs).is_some());
        assert!(means(&[f64::NAN; 4], &theirs).is_some());
    }
}
