//! `simc run --shadow`: a sample of agents in `f32` and in `f64`.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    interrupt,
    number::{self, grouped},
    progress::{Progress, ProgressArgs},
    source::Source,
    standard_output,
    summary::significant,
};
use serde_json::{Value, json};
use sim_runtime::{Compared, Control, Of, Scalar, Shadow, Simulation, Verdict};
use std::fmt::Write;

/// Arguments that ask for a comparison with `f64`.
#[derive(clap::Args)]
#[command(next_help_heading = "Precision")]
pub(crate) struct ShadowOptions {
    /// Instead of the run, compute a sample of its agents in f32 and in f64, with the same draws, and say by
    /// how much the results differ. On the reference interpreter; docs/precision.md says what is compared.
    #[arg(long, conflicts_with_all = [
        "output", "quantiles", "check", "backend", "adapter", "plot", "checkpoint", "resume", "sweep",
        "sweep_random", "sweep_sobol", "sweep_file",
    ])]
    shadow: bool,
    /// Agents of the sample, spread over the population; whole worlds, where the model has worlds.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        default_value = "256",
        requires = "shadow"
    )]
    shadow_agents: u32,
}

impl ShadowOptions {
    /// Is a comparison asked for?
    pub(crate) fn is_on(&self) -> bool {
        self.shadow
    }

    /// Compares, and prints what differs.
    ///
    /// # Errors
    /// Those of a run.
    pub(crate) fn report(
        &self,
        source: &Source,
        simulation: &Simulation,
        (json, progress): (bool, ProgressArgs),
    ) -> Result<(), Failure> {
        let progress = Progress::start(progress);
        let shadow = simulation.shadow(
            self.shadow_agents,
            &Control {
                cancel: Some(interrupt::flag()),
                progress: Some(&|done, total| progress.update(done, total)),
                timing: None,
            },
        );
        progress.finish();
        let shadow = shadow.map_err(|error| source.refusal(error))?;
        standard_output::print(match json {
            true => format!("{:#}\n", object(&shadow)),
            false => text(&shadow),
        })
    }
}

fn text(shadow: &Shadow) -> String {
    let mut lines = vec![head()];
    lines.extend(shadow.compared.iter().map(cells));
    let mut text = table(&lines, Flush::Right);
    let width = shadow
        .compared
        .iter()
        .map(|it| name(it).chars().count())
        .max()
        .unwrap_or(0);
    for compared in &shadow.compared {
        let _ = writeln!(text, "{:width$}  {}", name(compared), sentence(compared));
    }
    if shadow.compared.is_empty() {
        text.push_str("the model has neither outputs nor states to compare\n");
    }
    let _ = writeln!(text, "\ncontrol flow  {}", flow(shadow));
    let _ = writeln!(text, "compared      {}", sample(shadow));
    text
}

fn head() -> Vec<String> {
    let names = [
        "output",
        "median diff",
        "worst diff",
        "median rel",
        "worst rel",
        "of spread",
        "rank corr",
        "differing",
    ];
    names.map(str::to_owned).to_vec()
}

/// Which output it is; worlds' and states say so.
fn name(compared: &Compared) -> String {
    match compared.of {
        Of::Output => compared.field.name.clone(),
        Of::World => format!("{} (world)", compared.field.name),
        Of::State => format!("{} (state)", compared.field.name),
    }
}

fn cells(compared: &Compared) -> Vec<String> {
    let short = |value: f64| significant(value, 3);
    let correlation = compared.rank_correlation.map_or("-".to_owned(), |it| {
        // 1 is said of 1 alone.
        let shown = format!("{it:.6}");
        if it < 1.0 && shown.starts_with('1') {
            "0.999999+".to_owned()
        } else {
            shown
        }
    });
    vec![
        name(compared),
        short(compared.absolute[0]),
        short(compared.absolute[1]),
        short(compared.relative[0]),
        short(compared.relative[1]),
        short(compared.of_spread[1]),
        correlation,
        format!("{}/{}", compared.differing, compared.rows),
    ]
}

/// The verdict, as a sentence.
fn sentence(compared: &Compared) -> String {
    let short = |value: f64| significant(value, 2);
    let [median, most] = compared.of_spread;
    let measure = match compared.rank_correlation {
        None if compared.bias.is_none() => "the value",
        _ => "the spread",
    };
    let bias = match (compared.bias, compared.bias_of_sample) {
        (Some(all), Some(sample)) if all >= 1.0 => format!(
            "; the mean is off by {} standard errors of the sample ({} of the whole run's)",
            short(sample),
            short(all)
        ),
        _ => String::new(),
    };
    let (differing, rows) = (compared.differing, compared.rows);
    match compared.verdict {
        Verdict::Equal => "f32 is enough: all values are equal".to_owned(),
        Verdict::Enough => {
            format!(
                "f32 is enough: differences are at most {} of {measure}",
                short(most)
            )
        }
        Verdict::Rough => format!(
            "f32 is enough for statistics: differences are up to {} of {measure}{bias}",
            short(most)
        ),
        Verdict::Few => format!(
            "f32 is enough for statistics: {differing} of {rows} go another way, by up to {} of {measure}, \
             the others differ by {}{bias}",
            short(most),
            short(median)
        ),
        Verdict::Chaotic => format!(
            "chaotic: single values differ, by {} of {measure} in the median; mean and spread agree within \
             their standard errors{bias}",
            short(median)
        ),
        Verdict::NotEnough if compared.not_finite > 0 => format!(
            "f32 is NOT enough: {} of {rows} are infinite or NaN in one of the types alone",
            compared.not_finite
        ),
        Verdict::NotEnough => format!(
            "f32 is NOT enough: values differ by {} of {measure} in the median and {} at most{bias}",
            short(median),
            short(most)
        ),
    }
}

fn flow(shadow: &Shadow) -> String {
    let agents = grouped(shadow.agents.into());
    let Some([first, half]) = shadow.parted_in else {
        return format!("all {agents} agents went the same way: no comparison came out otherwise");
    };
    let moment = |step: u32| match step < shadow.steps {
        true => format!("step {step}"),
        false => "`finish`".to_owned(),
    };
    format!(
        "{} of {agents} agents took another way, the first in {}, half of them by {}",
        grouped(shadow.parted.into()),
        moment(first),
        moment(half)
    )
}

fn sample(shadow: &Shadow) -> String {
    let (agents, all) = (
        grouped(shadow.agents.into()),
        grouped(shadow.population.into()),
    );
    let worlds = match shadow.worlds {
        0 => String::new(),
        1 => " in 1 world".to_owned(),
        worlds => format!(" in {} worlds", grouped(worlds.into())),
    };
    let steps = grouped(shadow.steps.into());
    format!("{agents} of {all} agents{worlds}, {steps} steps, f32 with f64, the same draws")
}

fn object(shadow: &Shadow) -> Value {
    let outputs = shadow.compared.iter().map(|compared| {
        let pair =
            |[median, worst]: [f64; 2]| json!({ "median": finite(median), "worst": finite(worst) });
        json!({
            "name": compared.field.name,
            "of": match compared.of {
                Of::Output => "output",
                Of::State => "state",
                Of::World => "world output",
            },
            "float": compared.field.scalar == Scalar::F32,
            "rows": compared.rows,
            "absolute": pair(compared.absolute),
            "relative": pair(compared.relative),
            "of_spread": pair(compared.of_spread),
            "rank_correlation": compared.rank_correlation,
            "bias_in_standard_errors": compared.bias,
            "bias_in_standard_errors_of_sample": compared.bias_of_sample,
            "differing": compared.differing,
            "not_finite": compared.not_finite,
            "verdict": verdict(compared.verdict),
            "says": sentence(compared),
        })
    });
    json!({
        "agents": shadow.agents,
        "worlds": shadow.worlds,
        "population": shadow.population,
        "steps": shadow.steps,
        "parted": shadow.parted,
        "first_parted_step": shadow.parted_in.map(|[first, _]| first),
        "half_parted_step": shadow.parted_in.map(|[_, half]| half),
        "verdict": verdict(shadow.verdict()),
        "outputs": outputs.collect::<Vec<_>>(),
    })
}

/// Infinity, which JSON does not have, is a word.
fn finite(value: f64) -> Value {
    match value.is_finite() {
        true => value.into(),
        false => value.to_string().into(),
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Equal => "equal",
        Verdict::Enough => "enough",
        Verdict::Rough => "rough",
        Verdict::Few => "few",
        Verdict::Chaotic => "chaotic",
        Verdict::NotEnough => "not enough",
    }
}
