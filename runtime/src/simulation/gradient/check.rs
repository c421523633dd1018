//! Derivatives beside central differences in `f64`, on the reference interpreter, with the same draws.

use super::{Differentiated, GradientMode, Rows};
use crate::{
    control::Control, error::Error, simulation::floats::Float, values::Values, walk::DoubleRun,
};
use sim_compiler::{gradient, manifest::Param};

/// Steps of differences relative to the param's size. Rounding in `f64` counts for the last ones, the third
/// derivative for the first ones.
const STEPS: [f64; 4] = [
    1.0 / (1 << 6) as f64,
    1.0 / (1 << 10) as f64,
    1.0 / (1 << 15) as f64,
    1.0 / (1 << 20) as f64,
];

/// Most that derivative and difference may differ by, both in `f64`, relative to the mean size of the
/// derivatives of single agents.
const DOUBLE: f64 = 1e-5;

/// Most that the derivative of the run, in `f32`, may differ from the difference, likewise.
const SINGLE: f64 = 2e-3;

/// Most that differences of different steps may differ by where nothing jumps.
const STEADY: f64 = 0.05;

/// What is said of a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// The derivative is the difference, in `f32` and in `f64`.
    Agrees,
    /// In `f64` it is, but rounding in `f32` has moved the derivative of the run.
    Rounding,
    /// It is not, in either type.
    Disagrees,
    /// It was not compared; why.
    Unchecked(&'static str),
}

/// A derivative and its differences: means over the sample.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckedComponent {
    /// The float of a param or an input.
    pub wrt: String,
    /// The derivative of the run, in `f32`.
    pub single: f64,
    /// The same program in `f64`.
    pub double: f64,
    /// The central difference that is nearest to it.
    pub difference: f64,
    /// Its step.
    pub step: f64,
    /// What `single` and `double` differ from `difference` by, relative to the mean size of the derivatives
    /// of single agents.
    pub errors: [f64; 2],
    /// Whether differences depend on their step, as they do where the output jumps: derivatives along paths
    /// do not see the chance of a jump.
    pub jumps: bool,
    /// What is said of it.
    pub agreement: Agreement,
}

/// A comparison of derivatives with differences, on a sample of agents.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientCheck {
    /// Agents that were compared.
    pub agents: u32,
    /// Agents of the run.
    pub population: u32,
    /// Steps of the differences, relative to the size of each param.
    pub steps: Vec<f64>,
    /// The components, in the order in which they were asked for.
    pub components: Vec<CheckedComponent>,
}

impl GradientCheck {
    /// Whether nothing that was compared differs.
    pub fn agrees(&self) -> bool {
        let fine = |component: &CheckedComponent| {
            matches!(
                component.agreement,
                Agreement::Agrees | Agreement::Unchecked(_)
            )
        };
        self.components.iter().all(fine)
    }
}

/// A value of each agent that was run.
fn column_of(run: &DoubleRun, name: &str, place: usize) -> Vec<f64> {
    let found = run.outputs.iter().find(|column| column.field.name == name);
    let column = found.expect("the program has this output");
    let rows = Rows {
        place,
        count: run.agents.len(),
    };
    rows.all(&column.values)
}

impl Differentiated {
    /// Compares the mean derivatives of about `agents` agents, spread over the population, with central
    /// differences of several steps. Where the model has worlds, all agents of theirs are compared. Draws,
    /// and the values of the launch, are those of the run; differences, and a second evaluation of the
    /// derivatives, are in `f64` on the reference interpreter, which is slow.
    ///
    /// # Errors
    /// [`Error::OnlySingle`], [`Error::DerivativeNotFinite`], and any error of a run.
    pub fn check(&self, agents: u32, control: &Control<'_>) -> Result<GradientCheck, Error> {
        self.base
            .only_single("a check of derivatives in `f32` by those in `f64`")?;
        // In `f64` derivatives are computed by forward mode, whatever the mode of the run: the guards of
        // reverse mode look at the bits of numbers in `f32`. Where agents depend on one another there are
        // none, and forward mode may not have the derivatives.
        let made;
        let blocks = match self.mode {
            GradientMode::Forward | GradientMode::Auto => &self.programs,
            GradientMode::Reverse if gradient::agents_depend(&self.base.artifact) => &self.programs,
            GradientMode::Reverse => {
                made = self.base.forward(&self.column, &self.wrt)?;
                &made
            }
        };
        // Two differences per step and component, a run per program, and one without any of these.
        let runs = 2 * STEPS.len() * self.wrt.len() + blocks.len() + 2;
        let (found, _) = control.part(0, runs, |control| self.each_agent(&control, true))?;
        let numbers = |values: &Values| (0..values.len()).map(|at| values.number(at)).collect();
        let single: Vec<Vec<f64>> = found.derivatives.iter().map(numbers).collect();
        let (population, first) = (found.values.len() as u32, found.first_agent);
        let count = agents.clamp(1, population);
        let spread =
            |k: u32| first + (u64::from(k) * u64::from(population) / u64::from(count)) as u32;
        let sample: Vec<u32> = (0..count).map(spread).collect();
        let mut double: Vec<Vec<f64>> = Vec::new();
        let mut chosen = Vec::new();
        for (number, block) in blocks.iter().enumerate() {
            let run = control.part(1 + number, runs, |control| {
                block.simulation.run_double(&sample, &control)
            })?;
            let outputs = block.outputs.iter();
            double.extend(outputs.map(|(name, place)| column_of(&run, name, *place)));
            chosen.clone_from(&run.agents);
        }
        let mut checked = Vec::new();
        for (k, wrt) in self.wrt.iter().enumerate() {
            let of_sample = |agent: &u32| single[k][(agent - first) as usize];
            let single: Vec<f64> = chosen.iter().map(of_sample).collect();
            let first = 1 + blocks.len() + 2 * STEPS.len() * k;
            let part = Part {
                control,
                first,
                runs,
            };
            let differences = self.differences(wrt, &sample, &part)?;
            checked.push(compared(wrt, [&single, &double[k]], differences));
        }
        Ok(GradientCheck {
            agents: chosen.len() as u32,
            population,
            steps: STEPS.to_vec(),
            components: checked,
        })
    }

    /// The differences of each agent for each step, by a float of a param; nothing for one of an input.
    fn differences(
        &self,
        wrt: &str,
        sample: &[u32],
        part: &Part<'_>,
    ) -> Result<Option<Differences>, Error> {
        let is_param = |param: &Param| param.field.spellings().iter().any(|name| name == wrt);
        if !self.base.manifest().params.iter().any(is_param) {
            return Ok(None);
        }
        let floats = self.base.floats(&[wrt])?;
        let mut varied = self.base.with_outputs();
        let mut found = Vec::new();
        for (number, relative) in STEPS.into_iter().enumerate() {
            let mut at = |side: usize, sign: f64| {
                let value = moved(&floats[0], sign * relative);
                for (param, values) in self.base.params_with(&floats, &[value])? {
                    varied.set_param(&param, values)?;
                }
                let run =
                    part.control
                        .part(part.first + 2 * number + side, part.runs, |control| {
                            varied.run_double(sample, &control)
                        })?;
                let (name, place) = &self.column;
                Ok::<_, Error>((value, column_of(&run, name, *place)))
            };
            let ((low, below), (high, above)) = (at(0, -1.0)?, at(1, 1.0)?);
            if high > low {
                let pairs = below.iter().zip(&above);
                let slopes = pairs.map(|(below, above)| (above - below) / (high - low));
                found.push((0.5 * (high - low), slopes.collect()));
            }
        }
        Ok(Some(found))
    }
}

/// Steps of differences, and the difference of each agent over twice the step.
type Differences = Vec<(f64, Vec<f64>)>;

/// A part of the runs of a check, for the progress.
struct Part<'a> {
    control: &'a Control<'a>,
    /// Which run of the check the first one is.
    first: usize,
    /// Runs of the check.
    runs: usize,
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Compares a component: the derivatives of each agent in `f32` and in `f64` with the differences.
fn compared(
    wrt: &str,
    [single, double]: [&Vec<f64>; 2],
    differences: Option<Differences>,
) -> CheckedComponent {
    let unchecked = |why| CheckedComponent {
        wrt: wrt.to_owned(),
        single: mean(single),
        double: mean(double),
        difference: f64::NAN,
        step: f64::NAN,
        errors: [f64::NAN; 2],
        jumps: false,
        agreement: Agreement::Unchecked(why),
    };
    let Some(differences) = differences else {
        return unchecked("inputs are not varied, only params");
    };
    let size = |values: &[f64]| mean(&values.iter().map(|value| value.abs()).collect::<Vec<_>>());
    let error = |of: f64, difference: &[f64]| {
        let scale = size(double).max(size(difference));
        let apart = (of - mean(difference)).abs();
        if apart == 0.0 { 0.0 } else { apart / scale }
    };
    let own = mean(double);
    let by_error = |one: &&(f64, Vec<f64>), other: &&(f64, Vec<f64>)| {
        error(own, &one.1).total_cmp(&error(own, &other.1))
    };
    let Some((step, nearest)) = differences.iter().min_by(by_error) else {
        return unchecked("its range has no room for a difference");
    };
    let errors = [error(mean(single), nearest), error(own, nearest)];
    let first = differences.first().map_or(0.0, |(_, first)| mean(first));
    CheckedComponent {
        difference: mean(nearest),
        step: *step,
        errors,
        jumps: error(first, nearest) > STEADY,
        agreement: match errors {
            [single, double] if single <= SINGLE && double <= DOUBLE => Agreement::Agrees,
            [_, double] if double <= DOUBLE => Agreement::Rounding,
            [..] => Agreement::Disagrees,
        },
        ..unchecked("")
    }
}

/// The value moved by so much of its own size, as one of its type within the range.
fn moved(float: &Float, relative: f64) -> f64 {
    let value = float.value;
    let size = if value == 0.0 { 1.0 } else { value.abs() };
    let moved = float.real.nearest(value + relative * size);
    match float.holds(moved) {
        true => moved,
        false => float.value,
    }
}
