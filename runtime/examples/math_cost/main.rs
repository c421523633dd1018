//! Measures fast and precise mathematics on a GPU and prints the table of `docs/mathematics.md`.
//!
//! `math_cost [AGENTS] [STEPS]`: errors against the CPU backend in units in the last place, operations as the
//! compiler counts them, and the device's time for one call. Times are the median of 9 runs of a model that
//! calls a function once a step, less those of one that only makes the arguments, over all agents and steps.
//! On a large GPU, give it some million agents and a thousand steps.

mod samples;

use samples::{Arguments, Case, Found, arguments, cases, compare, simulation};
use sim_compiler::{
    Math, Options,
    builtin::{BuiltinId, precise},
    compile_with,
    ir::cost::operations::cost,
};
use sim_runtime::{Backend, Control, Error, Timing, adapters};
use std::process::ExitCode;

/// Timed runs.
const RUNS: usize = 9;

/// The size of a timed run.
#[derive(Clone, Copy)]
struct Size {
    agents: u32,
    steps: u32,
}

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>());
    let mut next = |default| numbers.next().unwrap_or(Ok(default));
    let (Ok(agents), Ok(steps)) = (next(16_384), next(200)) else {
        eprintln!("math_cost [AGENTS] [STEPS], both whole numbers");
        return ExitCode::FAILURE;
    };
    let Some(adapter) = adapters().into_iter().next() else {
        eprintln!("there is no GPU adapter, not even a software one");
        return ExitCode::FAILURE;
    };
    println!("{adapter:?}, {agents} agents, {steps} steps\n");
    match table(Size { agents, steps }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn table(size: Size) -> Result<(), Error> {
    println!(
        "| call | range | fast: ulp in it | anywhere | at | precise: ulp in it | anywhere | at | bound \
        tested | operations, fast | precise | ns, fast | precise |"
    );
    println!("|---|--:|--:|--:|---|--:|--:|---|--:|--:|--:|--:|--:|");
    let arguments = arguments();
    for case in &cases() {
        let [fast, precise] =
            [Math::Fast, Math::Precise].map(|math| row(case, math, &arguments, size));
        let (fast, precise) = (fast?, precise?);
        println!(
            "| `{}` | {} | {} | {} | {} | {} | {} | {} | {} |",
            case.call,
            range(case),
            error(case, &fast.0),
            error(case, &precise.0),
            case.bound,
            fast_operations(case),
            precise_operations(case),
            significant(fast.1),
            significant(precise.1),
        );
    }
    Ok(())
}

/// Errors of one kind of mathematics, and nanoseconds per call.
fn row(case: &Case, math: Math, arguments: &Arguments, size: Size) -> Result<(Found, f64), Error> {
    let found = compare(case, math, arguments)?;
    let with = seconds(&model(case, &case.call), math, size)?;
    let without = seconds(&model(case, bare(case).0), math, size)?;
    let calls = f64::from(size.agents) * f64::from(size.steps);
    Ok((found, (with - without) / calls * 1e9))
}

/// The baseline of a call: its arguments and their operations.
fn bare(case: &Case) -> (&'static str, u64) {
    match &*case.call {
        call if call.contains("(a") => ("f32(a ^ b)", 2),
        call if call.contains(" y") => ("x + y", 1),
        _ => ("x", 0),
    }
}

/// A model with one call per step.
fn model(case: &Case, call: &str) -> String {
    let (low, high) = case.range;
    format!(
        "input start: f32 ~ uniform(0.0, 1.0)\nstate u = start\nstate sum = 0.0\nstep {{\n\
         u = fract(u + 0.618034)\nlet x = {low:?} + {:?} * u\nlet y = {high:?} - {:?} * u\n\
         let a = u32(u * 4294967040.0)\nlet b = ~a\nsum += {call}\n}}\noutput sum\noutput u\n",
        high - low,
        high - low
    )
}

/// The median of the device's times, or of the host's without timestamps.
fn seconds(source: &str, math: Math, size: Size) -> Result<f64, Error> {
    let simulation = simulation(source, math)
        .backend(Backend::Gpu)
        .agents(size.agents)
        .steps(size.steps);
    let mut found = Vec::new();
    let clock = Control {
        timing: Some(Timing::ONCE),
        ..Control::default()
    };
    for _ in 0..=RUNS {
        let run = simulation.run_with(&clock)?;
        let report = run.report();
        found.push(report.telemetry.gpu_seconds.unwrap_or(report.run_seconds));
    }
    // The first run is a warm-up.
    found.remove(0);
    found.sort_by(f64::total_cmp);
    Ok(found[RUNS / 2])
}

/// The typical arguments.
fn range(case: &Case) -> String {
    match case.range {
        _ if case.call.contains("(a") => "all".to_owned(),
        (low, high) => format!("{low} to {high}"),
    }
}

/// Three cells: the error in the case's range, the error anywhere, and where it is. Infinities and NaNs that
/// differ from the CPU's are counted separately.
fn error(case: &Case, found: &Found) -> String {
    let lost = match found.lost {
        0 => String::new(),
        lost => format!(" ({lost} special)"),
    };
    let short = |error| match error {
        large if large >= 1e4 => format!("{large:.0e}"),
        small => format!("{small:.0}"),
    };
    let (usual, worst) = (short(found.usual), short(found.worst));
    let [first, second] = found.at;
    let [x, y] = found.at.map(f32::from_bits);
    let at = match &*case.call {
        call if call.contains("(a") => format!("`{first:#x}, {second:#x}`"),
        call if call.contains(" y") => format!("`{x:e}, {y:e}`"),
        _ => format!("`{x:e}`"),
    };
    format!("{usual} | {worst}{lost} | {at}")
}

/// The operations of the fast form, as the compiler counts them.
fn fast_operations(case: &Case) -> u64 {
    let count = |call: &str| {
        let artifact = compile_with(&model(case, call), Options::default()).expect("it compiles");
        let found = cost(&artifact.program, artifact.options.generator).expect("it has no loops");
        found.step.total()
    };
    let (bare, own) = bare(case);
    count(&case.call) + own - count(bare)
}

/// Of the precise form: operators and functions of its text and of those that it calls, but for the path of
/// angles beyond 100,000. Products in sums count as one with them.
fn precise_operations(case: &Case) -> usize {
    let builtin = case.call.split('(').next().unwrap_or_default();
    let form = BuiltinId::find(builtin).and_then(precise::form);
    operations(form.unwrap_or(precise::QUOTIENT))
}

fn operations(function: &str) -> usize {
    const COUNTED: [&str; 26] = [
        " + ",
        " - ",
        " * ",
        " / ",
        " ^ ",
        " & ",
        " | ",
        " << ",
        " >> ",
        " < ",
        " > ",
        " <= ",
        " >= ",
        " == ",
        "fma(",
        "select(",
        "round(",
        "trunc(",
        "sqrt(",
        "inverseSqrt(",
        "f32(",
        "i32(",
        "max(",
        "min(",
        "clamp(",
        "countLeadingZeros(",
    ];
    let item = precise::items().iter().find(|item| item.name == function);
    let text = &item.expect("a function").text;
    let body = text.split_once("{\n").map_or("", |(_, body)| body);
    let own: usize = COUNTED.iter().map(|sign| body.matches(sign).count()).sum();
    // `n * c` in `r - n * c`.
    let fused = body.matches("- n * ").count();
    let calls = |name: &str| body.matches(&format!("{name}(")).count();
    let called: usize = (precise::items().iter())
        .filter(|other| other.name != "precise_reduce_large" && other.text.contains("fn "))
        .filter(|other| calls(other.name) > 0)
        .map(|other| calls(other.name) * operations(other.name))
        .sum();
    own - fused + called
}

/// Three significant digits.
fn significant(number: f64) -> String {
    let digits = 2 - number.abs().max(1e-9).log10().floor() as i32;
    format!("{number:.*}", digits.max(0) as usize)
}
