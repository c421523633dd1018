//! Random well-typed models give the same bits on the interpreter and on the GPU, optimised and not.
//!
//! `SIM_MODELS` says how many (default 60), `SIM_FIRST_MODEL` the first seed.

use super::{files, validators::naga_complaint};
use sim_runtime::{Backend, Column};
use sim_tests::{generate, launch};

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Outputs and final states of a run, as words: NaN of any payload is one value, and so are the zeros.
fn results(
    source: &str,
    backend: Backend,
    optimise: bool,
) -> Result<Vec<(String, Vec<u32>)>, String> {
    let simulation = launch::simulation(source, backend, optimise)?.seed(11);
    if let Some(complaint) = naga_complaint(simulation.wgsl()) {
        return Err(format!("naga refuses the kernel: {complaint}"));
    }
    let run = simulation.run().map_err(|error| error.to_string())?;
    let words = |column: &Column| {
        let float = column.field.scalar == sim_compiler::manifest::Scalar::F32;
        let plain = |word: u32| match f32::from_bits(word) {
            value if float && value.is_nan() => f32::NAN.to_bits(),
            value if float && value == 0.0 => 0,
            _ => word,
        };
        (
            column.field.name.clone(),
            column.values.words().into_iter().map(plain).collect(),
        )
    };
    Ok(run
        .outputs()
        .iter()
        .chain(run.states())
        .map(words)
        .collect())
}

fn difference(source: &str) -> Result<(), String> {
    let expected = results(source, Backend::Cpu, false)?;
    for (way, backend, optimise) in launch::ways() {
        if backend == Backend::Cpu && !optimise {
            continue;
        }
        let got = results(source, backend, optimise).map_err(|error| format!("{way}: {error}"))?;
        for ((name, expected), (_, got)) in expected.iter().zip(&got) {
            if expected != got {
                return Err(format!(
                    "{way}: `{name}` is {got:x?}, on the interpreter {expected:x?}"
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn random_models_agree() {
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 60);
    let mut complaints = Vec::new();
    for seed in first..first + count {
        let source = generate::model(seed);
        let outcome = std::panic::catch_unwind(|| difference(&source))
            .unwrap_or_else(|_| Err("a panic".into()));
        if let Err(complaint) = outcome {
            complaints.push(format!("seed {seed}: {complaint}\n{source}"));
            if complaints.len() >= 5 {
                break;
            }
        }
    }
    println!(
        "{count} random models from seed {first}, {} differ",
        complaints.len()
    );
    files::report("random models differ", complaints);
}
