//! `simc grad`: the derivatives of a loss by params and inputs.

use crate::{
    columns::{Flush, table},
    failure::Failure,
    interrupt, number,
    number::grouped,
    prepared::{ModelArgs, device},
    problem,
    progress::{Progress, ProgressArgs},
    standard_output,
    summary::significant,
};
use serde_json::{Value, json};
use sim_runtime::{
    Agreement, CheckedComponent, Control, Differentiated, GradientCheck, GradientMode, Loss,
    LossGradient,
};
use std::fmt::Write;

/// Arguments of `simc grad`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc grad call.sim --of \"mean(payoff)\" --wrt sigma,spot
  simc grad call.sim --of \"mean(payoff)\" --wrt sigma --agents 1e6 --seed 7 --param strike=90
  simc grad policy.sim --of \"mean(score)\" --wrt w1,b1 --json | jq '.gradient[].value'
  simc grad sir.sim --of \"sum(cases)\" --wrt beta --check

The derivative is that along the paths of the agents, with the same draws: `normal(mu, sd)` moves with mu
and sd. A comparison or a conversion to an integer hides what it depends on. A standard error is that of
the mean over agents. docs/gradients.md has the rules.")]
pub(crate) struct Args {
    #[command(flatten)]
    model: ModelArgs,
    /// The loss, `mean(OUTPUT)` or `sum(OUTPUT)`; of an output with several values one, `mean(path[3])`.
    #[arg(long, value_name = "LOSS")]
    of: String,
    /// Params and inputs to take derivatives by, with commas; of an array all values, or `w[3]`.
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    wrt: Vec<String>,
    /// How derivatives are computed.
    #[arg(long, value_enum, default_value = "auto")]
    mode: Mode,
    /// Compare each derivative with central differences in f64 on the reference interpreter, for a sample of
    /// the agents. If one differs, the exit code is 1.
    #[arg(long)]
    check: bool,
    /// Agents of that sample.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        default_value = "128",
        requires = "check"
    )]
    check_agents: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    progress: ProgressArgs,
}

/// `--mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Mode {
    /// Forward for up to 8 floats, reverse for more; the other one where the model has not that one.
    Auto,
    /// Derivatives beside the values: takes time in proportion to the number of floats.
    Forward,
    /// From the last step to the first: the same time for any number of floats.
    Reverse,
}

impl From<Mode> for GradientMode {
    fn from(mode: Mode) -> GradientMode {
        match mode {
            Mode::Auto => GradientMode::Auto,
            Mode::Forward => GradientMode::Forward,
            Mode::Reverse => GradientMode::Reverse,
        }
    }
}

/// A mode in a word.
fn word(mode: GradientMode) -> &'static str {
    match mode {
        GradientMode::Auto => "auto",
        GradientMode::Forward => "forward",
        GradientMode::Reverse => "reverse",
    }
}

/// Computes a gradient and prints it.
pub(crate) fn grad(args: &Args) -> Result<(), Failure> {
    let Some(prepared) = args.model.prepare()? else {
        return Ok(());
    };
    let loss: Loss = args.of.parse()?;
    let wrt: Vec<&str> = args.wrt.iter().map(|name| name.trim()).collect();
    let refusal = |error| prepared.source.refusal(error);
    let simulation = &prepared.simulation;
    let differentiated =
        (simulation.differentiate(&loss.output, &wrt, args.mode.into())).map_err(refusal)?;
    let progress = Progress::start(args.progress);
    let control = Control {
        cancel: Some(interrupt::flag()),
        progress: Some(&|done, total| progress.update(done, total)),
        timing: None,
    };
    let found = computed(args, &loss, &differentiated, &control);
    progress.finish();
    let (gradient, check) = found.map_err(refusal)?;
    standard_output::print(match args.json {
        true => format!(
            "{:#}\n",
            object(&loss, simulation.current_seed(), &gradient, check.as_ref())
        ),
        false => text(&loss, &gradient, check.as_ref()),
    })?;
    let wrong = check
        .iter()
        .flat_map(|check| &check.components)
        .find_map(|component| {
            let message = match component.agreement {
                Agreement::Agrees | Agreement::Unchecked(_) => return None,
                Agreement::Rounding => "is lost in the rounding of f32",
                Agreement::Disagrees => "differs from central differences",
            };
            Some(problem::gradient_disagrees(&component.wrt, message))
        });
    wrong.map_or(Ok(()), |problem| Err(problem.into()))
}

type Found = (LossGradient, Option<GradientCheck>);

fn computed(
    args: &Args,
    loss: &Loss,
    differentiated: &Differentiated,
    control: &Control<'_>,
) -> Result<Found, sim_runtime::Error> {
    let gradient = differentiated.gradient(loss.fold, control)?;
    let check = match args.check {
        true => Some(differentiated.check(args.check_agents, control)?),
        false => None,
    };
    Ok((gradient, check))
}

fn short(value: f64) -> String {
    // The function drops the sign of a zero alone.
    significant(value, 6)
}

fn error(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| significant(value, 3))
}

fn text(loss: &Loss, gradient: &LossGradient, check: Option<&GradientCheck>) -> String {
    let head = |names: [&str; 3]| names.map(str::to_owned).to_vec();
    let value = vec![
        loss.to_string(),
        short(gradient.value),
        error(gradient.standard_error),
    ];
    let mut text = table(&[head(["loss", "value", "std err"]), value], Flush::Right);
    let mut lines = vec![head(["derivative by", "value", "std err"])];
    lines.extend(gradient.slopes.iter().map(|slope| {
        vec![
            slope.wrt.clone(),
            short(slope.value),
            error(slope.standard_error),
        ]
    }));
    text += &table(&lines, Flush::Right);
    if let Some(check) = check {
        text += &checked(check);
    }
    let programs = match gradient.programs {
        1 => "1 program".to_owned(),
        count => format!("{count} programs, one after the other"),
    };
    let (agents, steps) = (
        grouped(gradient.agents.into()),
        grouped(gradient.steps.into()),
    );
    let _ = writeln!(text, "mode     {}, {programs}", word(gradient.mode));
    let _ = writeln!(text, "run      {agents} agents, {steps} steps");
    let _ = writeln!(text, "backend  {}", device(&gradient.device));
    text
}

/// The comparison with differences.
fn checked(check: &GradientCheck) -> String {
    let head = [
        "checked",
        "f32",
        "f64",
        "difference",
        "step",
        "differs by",
        "of f32",
        "verdict",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(check.components.iter().map(|component| {
        let compared = !component.step.is_nan();
        let optional = |value: f64, digits: usize| match compared {
            true => significant(value, digits),
            false => "-".to_owned(),
        };
        vec![
            component.wrt.clone(),
            short(component.single),
            short(component.double),
            optional(component.difference, 6),
            optional(component.step, 2),
            optional(component.errors[1], 2),
            optional(component.errors[0], 2),
            verdict(component).to_owned(),
        ]
    }));
    let mut text = table(&lines, Flush::Right);
    for component in &check.components {
        if component.jumps {
            let _ = writeln!(
                text,
                "the differences by `{}` depend on their step: where the output jumps, as at a comparison, \
                 the derivative along paths leaves the jumps out",
                component.wrt
            );
        }
        if let Agreement::Unchecked(why) = component.agreement {
            let _ = writeln!(text, "`{}` was not compared: {why}", component.wrt);
        }
    }
    let (agents, all) = (
        grouped(check.agents.into()),
        grouped(check.population.into()),
    );
    let _ = writeln!(
        text,
        "checked  means over {agents} of {all} agents, with the same draws; differences in f64 on the \
         reference interpreter\n"
    );
    text
}

fn verdict(component: &CheckedComponent) -> &'static str {
    match component.agreement {
        Agreement::Agrees => "agrees",
        Agreement::Rounding => "lost in rounding",
        Agreement::Disagrees => "DIFFERS",
        Agreement::Unchecked(_) => "not compared",
    }
}

fn object(loss: &Loss, seed: u64, gradient: &LossGradient, check: Option<&GradientCheck>) -> Value {
    let slopes = gradient.slopes.iter().map(|slope| {
        json!({
            "wrt": slope.wrt,
            "value": slope.value,
            "standard_error": slope.standard_error,
        })
    });
    let component = |component: &CheckedComponent| {
        json!({
            "wrt": component.wrt,
            "f32": component.single,
            "f64": component.double,
            "difference": finite(component.difference),
            "step": finite(component.step),
            "error_of_f32": finite(component.errors[0]),
            "error_of_f64": finite(component.errors[1]),
            "jumps": component.jumps,
            "verdict": verdict(component),
        })
    };
    json!({
        "loss": loss.to_string(),
        "value": gradient.value,
        "standard_error": gradient.standard_error,
        "gradient": slopes.collect::<Vec<_>>(),
        "mode": word(gradient.mode),
        "programs": gradient.programs,
        "agents": gradient.agents,
        "steps": gradient.steps,
        "seed": seed,
        "backend": device(&gradient.device),
        "check": check.map(|check| json!({
            "agents": check.agents,
            "population": check.population,
            "agrees": check.agrees(),
            "components": check.components.iter().map(component).collect::<Vec<_>>(),
        })),
    })
}

/// What is no number in JSON is nothing.
fn finite(value: f64) -> Value {
    match value.is_finite() {
        true => value.into(),
        false => Value::Null,
    }
}
