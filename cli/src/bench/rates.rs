//! `simc bench --rates`: measures what the floor is computed from, the rates of a device's units.
//!
//! Each rate is that of a model whose agents do little but one kind of operation, in chains that are
//! independent of one another. Operations are counted as for the floor.

use super::floor::Rates;
use crate::{failure::Failure, interrupt};
use sim_compiler::ir::cost::operations::{self, Operations};
use sim_runtime::{AdapterSummary, Backend, Control, Device, Simulation, Timing, Tuning};
use std::{fmt::Write, time::Instant};

/// Enough to fill a device.
const AGENTS: u32 = 1 << 20;
/// Chains of an agent, for each kind of operation.
const CHAINS: usize = 8;
/// Links of a chain in a step.
const LINKS: usize = 4;
/// A run that is measured takes at least this long, unless it has [`MOST_STEPS`].
const SECONDS: f64 = 0.05;
const MOST_STEPS: u32 = 1 << 20;
/// Runs of each model; the fastest counts.
const RUNS: u32 = 5;

const FLOAT: &str = "x# = fma(x#, scale, offset)";
const SPECIAL: &str = "x# = inverseSqrt(x#)";
const INTEGER: &str = "n# = n# ^ (n# << 5u)";

/// Measures a GPU: its row of the devices that are known, as Rust.
pub(super) fn row() -> Result<String, Failure> {
    let (adapter, float) = rate(&[FLOAT], |operations| operations.float)?;
    let (_, special) = rate(&[SPECIAL], |operations| operations.special)?;
    let (_, integer) = rate(&[INTEGER], |operations| operations.integer)?;
    let (_, issue) = rate(&[FLOAT, INTEGER], Operations::total)?;
    let measured = format!("{}, simc bench --rates", adapter.driver);
    Ok(Rates {
        name: &adapter.name,
        measured: &measured,
        float,
        special,
        integer,
        issue,
    }
    .to_string())
}

/// The device, and how many of the counted operations it does in a second.
fn rate(links: &[&str], counted: fn(Operations) -> u64) -> Result<(AdapterSummary, f64), Failure> {
    let artifact = sim_compiler::compile(&model(links)).expect("the model is ours");
    let cost = operations::cost(&artifact.program, artifact.options.generator);
    let operations = counted(cost.expect("the model has no loops").step);
    let simulation = Simulation::from_artifact(artifact)
        .backend(Backend::Gpu)
        .agents(AGENTS)
        .keep_states(false)
        .tuning(Tuning {
            relax: Some(false),
            ..Tuning::default()
        });
    let mut steps = 16;
    let mut simulation = simulation.steps(steps);
    let (mut adapter, mut least) = seconds(&simulation)?;
    while least < SECONDS && steps < MOST_STEPS {
        steps *= 2;
        simulation = simulation.steps(steps);
        least = seconds(&simulation)?.1;
    }
    for _ in 1..RUNS {
        let (found, time) = seconds(&simulation)?;
        (adapter, least) = (found, least.min(time));
    }
    let done = operations as f64 * f64::from(AGENTS) * f64::from(steps);
    Ok((adapter, done / least))
}

/// What a run takes by the device's clock, or from call to results where it has none.
fn seconds(simulation: &Simulation) -> Result<(AdapterSummary, f64), Failure> {
    let started = Instant::now();
    let run = simulation.run_with(&Control {
        timing: Some(Timing::ONCE),
        cancel: Some(interrupt::flag()),
        ..Control::default()
    })?;
    let elapsed = started.elapsed().as_secs_f64();
    let report = run.report();
    let Device::Gpu(adapter) = &report.backend else {
        unreachable!("this backend runs on GPUs alone");
    };
    let seconds = report.telemetry.gpu_seconds.unwrap_or(elapsed);
    Ok((adapter.clone(), seconds))
}

/// A model with chains of these links, where `#` is a chain's number.
fn model(links: &[&str]) -> String {
    let mut text = "param scale = 0.999\nparam offset = 0.001\n".to_owned();
    let mut step = String::new();
    let mut sum = "0.0".to_owned();
    for chain in 0..CHAINS {
        let _ = write!(
            text,
            "state x{chain} = 1.5 + f32(agent + {chain})\nstate n{chain} = u32(agent + {chain})\n"
        );
        let _ = write!(sum, " + x{chain} + f32(n{chain})");
    }
    for link in links.repeat(LINKS) {
        for chain in 0..CHAINS {
            let _ = writeln!(step, "    {}", link.replace('#', &chain.to_string()));
        }
    }
    text + &format!("step {{\n{step}}}\noutput sum = {sum}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_do_little_but_what_is_measured() {
        let count = |links: &[&str]| {
            let artifact = sim_compiler::compile(&model(links)).expect("the model compiles");
            let cost = operations::cost(&artifact.program, artifact.options.generator);
            cost.expect("it has no loops").step
        };
        let each = (CHAINS * LINKS) as u64;
        let of = |float, special, integer| Operations {
            float,
            special,
            integer,
        };
        assert_eq!(count(&[FLOAT]), of(each, 0, 0));
        assert_eq!(count(&[SPECIAL]), of(0, each, 0));
        assert_eq!(count(&[INTEGER]), of(0, 0, 2 * each));
        assert_eq!(count(&[FLOAT, INTEGER]), of(each, 0, 2 * each));
    }
}
