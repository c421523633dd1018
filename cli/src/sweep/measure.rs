//! Runs the points of a sweep and takes the statistics of each.

use super::{points::Points, sampled::Sampled};
use crate::{failure::Failure, number::grouped, problem, summary::Shares, table::spellings};
use sim_compiler::manifest::{Field, Manifest};
use sim_runtime::{
    Column, Control, Error, Report, Run, Series, Simulation, Statistics, Timing, Variation,
};
use std::{sync::atomic::AtomicBool, time::Instant};

/// Most values of a point whose repeats are pooled: a gibibyte.
const MOST_POOLED: u64 = 1 << 28;

/// How points are run, and what is computed of each.
pub(crate) struct Plan<'a> {
    pub(crate) repeats: usize,
    pub(crate) common_draws: bool,
    pub(crate) quantiles: &'a [f64],
    pub(crate) covariance: Option<Pair>,
    /// Whether what is observed and recorded is wanted.
    pub(crate) samples: bool,
    /// Whether the device's clock is asked.
    pub(crate) timed: bool,
    /// Agents that the kernel of a GPU is chosen for, where that is not by each point's own.
    pub(crate) kernel_agents: Option<u32>,
}

/// Two values of agents, or of worlds.
pub(crate) struct Pair {
    pub(crate) names: [String; 2],
    /// For each, whether it is of worlds, which output it is in and at which place there.
    places: [(bool, usize, usize); 2],
}

/// Finds the outputs whose covariance is asked for.
///
/// # Errors
/// If there are none of these names, or one is of agents and the other of worlds.
pub(crate) fn pair(manifest: &Manifest, names: &[String]) -> Result<Option<Pair>, Failure> {
    let refused = |why: &str, help: &str| {
        let what = format!("`--covariance {}`: {why}", names.join(","));
        Err(crate::usage::refused(what, help))
    };
    let [first, second] = match names {
        [] => return Ok(None),
        [first, second] => [first, second],
        _ => return refused("it takes two outputs", "write `--covariance A,B`"),
    };
    let worlds = &manifest.world_rows().outputs;
    let find = |name: &String| {
        let of = |of_worlds: bool, fields: &[Field]| {
            fields.iter().enumerate().find_map(|(number, field)| {
                let at = spellings(field, 0).iter().position(|known| known == name)?;
                Some((of_worlds, number, at))
            })
        };
        of(false, &manifest.outputs).or_else(|| of(true, worlds))
    };
    let known = || {
        let fields = manifest.outputs.iter().chain(worlds);
        let names: Vec<String> = fields
            .flat_map(|field| spellings(field, 0))
            .take(8)
            .collect();
        format!("outputs are `{}`", names.join("`, `"))
    };
    match (find(first), find(second)) {
        (None, _) => refused(&format!("there is no output `{first}`"), &known()),
        (_, None) => refused(&format!("there is no output `{second}`"), &known()),
        (Some(a), Some(b)) if a.0 != b.0 => refused(
            "one output is of agents and the other of worlds",
            "name two of the same kind",
        ),
        (Some(a), Some(b)) => Ok(Some(Pair {
            names: [first.clone(), second.clone()],
            places: [a, b],
        })),
    }
}

/// The statistics of one output at a point, or of an element of it.
pub(crate) struct Measure {
    pub(crate) of: Statistics,
    pub(crate) quantiles: Vec<Option<f64>>,
}

/// What is known of a point that has results.
pub(crate) struct Measured {
    /// By row of the outputs of agents, then of worlds.
    pub(crate) outputs: Vec<Measure>,
    pub(crate) covariance: Option<f64>,
    /// By series in declaration order; none if they are not wanted.
    pub(crate) series: Vec<Sampled>,
}

/// What the runs of a point gave, to be pooled.
struct Pooled {
    outputs: [Vec<Column>; 2],
    /// By run.
    series: Vec<Vec<Series>>,
}

/// The results of a sweep.
pub(crate) struct Measures {
    /// By point: what was measured, or why there is nothing.
    pub(crate) points: Vec<Result<Measured, String>>,
    /// Was the sweep ended before all points were run?
    pub(crate) interrupted: bool,
    /// Of the first run that completed.
    pub(crate) report: Option<Report>,
    /// What each of several devices computed.
    pub(crate) shares: Shares,
    pub(crate) agent_steps: u64,
    pub(crate) dispatches: u64,
    pub(crate) submissions: u64,
    /// Of all dispatches by the device's clock, if it was asked.
    pub(crate) gpu_seconds: Option<f64>,
    /// Of all runs, with their statistics.
    pub(crate) seconds: f64,
}

impl Measures {
    /// Runs all points whose values are in range. One that fails does not end the others, unless the one
    /// after it fails in the same way.
    ///
    /// # Errors
    /// What is wrong with all points: no run completed, and the first one failed for this.
    pub(crate) fn of(
        simulation: &Simulation,
        points: &Points<'_>,
        plan: &Plan<'_>,
        cancel: &AtomicBool,
        progress: &(dyn Fn(u64, u64) + Sync),
    ) -> Result<Measures, Error> {
        let started = Instant::now();
        let faults = (0..points.rows.len()).map(|point| match points.fault(point) {
            Some(fault) => Err(fault),
            None => Err("not computed".to_owned()),
        });
        let mut measures = Measures {
            points: faults.collect(),
            interrupted: false,
            report: None,
            shares: Shares::default(),
            agent_steps: 0,
            dispatches: 0,
            submissions: 0,
            gpu_seconds: None,
            seconds: 0.0,
        };
        let legal = (0..points.rows.len()).filter(|&point| points.fault(point).is_none());
        let runs: Vec<(usize, usize)> = legal
            .flat_map(|point| (0..plan.repeats).map(move |repeat| (point, repeat)))
            .collect();
        let variation = |&(point, repeat): &(usize, usize)| {
            let number = match plan.common_draws {
                true => repeat,
                false => point * plan.repeats + repeat,
            };
            let seed = simulation.current_seed().wrapping_add(number as u64);
            points.variation(point).seed(seed)
        };
        let variations: Vec<Variation> = runs.iter().map(variation).collect();
        let control = Control {
            cancel: Some(cancel),
            progress: Some(progress),
            timing: plan.timed.then_some(Timing::ONCE),
        };
        measures.run(simulation, plan, (&runs, &variations), &control)?;
        measures.seconds = started.elapsed().as_secs_f64();
        Ok(measures)
    }

    fn run(
        &mut self,
        simulation: &Simulation,
        plan: &Plan<'_>,
        (runs, variations): (&[(usize, usize)], &[Variation]),
        control: &Control<'_>,
    ) -> Result<(), Error> {
        let mut first = 0;
        let mut before: Option<String> = None;
        while first < runs.len() {
            let mut pool = None;
            let mut done = 0;
            let result = simulation.run_each(&variations[first..], control, |number, run| {
                let (point, repeat) = runs[first + number];
                done = number + 1;
                self.take(plan, (point, repeat), run, &mut pool);
            });
            let Err(error) = result else {
                return Ok(());
            };
            let cancelled = matches!(error, Error::Cancelled);
            if self.report.is_none()
                && (cancelled || before.is_some() || runs.len() == plan.repeats)
            {
                return Err(error);
            }
            let why = match cancelled {
                true => "interrupted".to_owned(),
                false => error.to_string(),
            };
            self.interrupted = cancelled;
            let (failed, _) = runs[first + done];
            self.points[failed] = Err(why.clone());
            let again = done < plan.repeats && before.as_ref() == Some(&why);
            let next = runs[first + done..]
                .iter()
                .position(|(point, _)| *point != failed);
            first = next.map_or(runs.len(), |next| first + done + next);
            if cancelled || again {
                for &(point, _) in &runs[first..] {
                    self.points[point] = Err(why.clone());
                }
                return Ok(());
            }
            before = Some(why);
        }
        Ok(())
    }

    /// Adds a run to those of its point, and measures the point after the last one.
    fn take(
        &mut self,
        plan: &Plan<'_>,
        (point, repeat): (usize, usize),
        run: Run,
        pool: &mut Option<Pooled>,
    ) {
        let report = run.report();
        self.agent_steps += run.agent_steps();
        self.shares.add(&report.devices);
        self.dispatches += report.telemetry.dispatches;
        self.submissions += report.telemetry.submissions;
        if let Some(seconds) = report.telemetry.gpu_seconds {
            *self.gpu_seconds.get_or_insert(0.0) += seconds;
        }
        self.report.get_or_insert_with(|| report.clone());
        if repeat == 0 {
            *pool = None;
        }
        let outputs = [run.outputs().to_vec(), run.world_outputs().to_vec()];
        let series = match plan.samples {
            true => run.series().to_vec(),
            false => Vec::new(),
        };
        match pool {
            None => {
                let series = vec![series];
                *pool = Some(Pooled { outputs, series });
            }
            Some(pooled) => {
                let all = pooled.outputs.iter_mut().flatten();
                let all = all.zip(outputs.iter().flatten());
                all.for_each(|(pooled, column)| append(pooled, column));
                pooled.series.push(series);
            }
        }
        if repeat + 1 == plan.repeats
            && let Some(pooled) = pool.take()
        {
            self.points[point] = Ok(Measured::of(&pooled, plan));
        }
    }

    /// The number of points without results.
    pub(crate) fn failed(&self) -> usize {
        self.points.iter().filter(|point| point.is_err()).count()
    }

    /// Complains if a point has no results.
    ///
    /// # Errors
    /// How many have none, and why the first of them has none; or how many are complete, if the sweep was
    /// interrupted.
    pub(crate) fn verdict(&self) -> Result<(), Failure> {
        if self.interrupted {
            return Err(Failure::Unfinished {
                complete: self.points.len() - self.failed(),
                points: self.points.len(),
            });
        }
        let failed: Vec<&String> = self
            .points
            .iter()
            .filter_map(|it| it.as_ref().err())
            .collect();
        let Some(first) = failed.first() else {
            return Ok(());
        };
        let (count, all) = (failed.len(), self.points.len());
        let message = format!(
            "{} of {} points {} no results",
            grouped(count as u64),
            grouped(all as u64),
            if count == 1 { "has" } else { "have" }
        );
        Err(problem::failed_points(&message, first).into())
    }
}

/// Refuses repeats whose values do not fit memory together.
///
/// # Errors
/// How many values there are.
pub(crate) fn refuse_large(
    manifest: &Manifest,
    agents: u32,
    repeats: usize,
) -> Result<(), Failure> {
    let words: u64 = manifest
        .outputs
        .iter()
        .map(|field| u64::from(field.values()))
        .sum();
    let values = words * u64::from(agents) * repeats as u64;
    if repeats == 1 || values <= MOST_POOLED {
        return Ok(());
    }
    Err(problem::too_large_sweep(
        &format!(
            "the repeats of a point have {} values, and at most {} are pooled",
            grouped(values),
            grouped(MOST_POOLED)
        ),
        "take fewer repeats or fewer agents; more agents in one run say as much as repeats",
    )
    .into())
}

fn append(to: &mut Column, from: &Column) {
    to.values.append(&from.values);
    to.shape[0] += from.shape[0];
}

impl Measured {
    fn of(pooled: &Pooled, plan: &Plan<'_>) -> Measured {
        let columns = &pooled.outputs;
        let outputs = columns.iter().flatten();
        let count = pooled.series.first().map_or(0, Vec::len);
        let runs = |number: usize| -> Vec<&Series> {
            pooled.series.iter().map(|run| &run[number]).collect()
        };
        Measured {
            outputs: outputs
                .flat_map(|it| Measure::all(it, plan.quantiles))
                .collect(),
            covariance: (plan.covariance.as_ref()).and_then(|pair| covariance(columns, pair)),
            series: (0..count)
                .map(|number| Sampled::of(&runs(number), plan.quantiles))
                .collect(),
        }
    }
}

impl Measure {
    /// Those of a column: one per element, or one for all of many.
    pub(super) fn all(column: &Column, quantiles: &[f64]) -> Vec<Measure> {
        let found = column.quantiles(quantiles);
        let rows = column.statistics().into_iter().zip(found);
        let rows = rows.map(|(of, found)| Measure {
            of,
            quantiles: (0..quantiles.len())
                .map(|at| found.get(at).copied())
                .collect(),
        });
        rows.collect()
    }
}

/// The sample covariance of two outputs (divisor n - 1); none for fewer than two agents.
fn covariance(columns: &[Vec<Column>; 2], pair: &Pair) -> Option<f64> {
    let [a, b] = pair.places.each_ref().map(|&(of_worlds, number, at)| {
        let column = &columns[usize::from(of_worlds)][number];
        values(column, at)
    });
    let count = a.len() as f64;
    let mean = |of: &[f64]| of.iter().sum::<f64>() / count;
    let (mean_a, mean_b) = (mean(&a), mean(&b));
    let products = a.iter().zip(&b).map(|(a, b)| (a - mean_a) * (b - mean_b));
    (a.len() > 1).then(|| products.sum::<f64>() / (count - 1.0))
}

/// The values of an element of an output, as numbers.
fn values(column: &Column, at: usize) -> Vec<f64> {
    let (values, width) = (&column.values, column.field.values() as usize);
    let places = (at..values.len()).step_by(width);
    places.map(|at| values.number(at)).collect()
}
