//! Random well-typed models give the same bits on the reference interpreter, on the vector machine with each
//! instruction set that is here, and on the GPU, optimised and not.
//!
//! `SIM_MODELS` says how many (default 60), `SIM_FIRST_MODEL` the first seed.

use super::files;
#[cfg(feature = "texts")]
use super::validators::naga_complaint;
use sim_runtime::Column;
use sim_tests::{
    generate,
    launch::{self, Way},
};

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

/// Outputs and final states of a run, as words: NaN of any payload is one value.
fn results(source: &str, way: &Way) -> Result<Vec<(String, Vec<u32>)>, String> {
    let simulation = way.simulation(source)?.seed(11);
    #[cfg(feature = "texts")]
    if let Some(complaint) = naga_complaint(simulation.wgsl()) {
        return Err(format!("naga refuses the kernel: {complaint}"));
    }
    let run = simulation.run().map_err(|error| error.to_string())?;
    let columns = run.outputs().iter().chain(run.states());
    Ok(columns
        .map(|column| (column.field.name.clone(), words(column)))
        .collect())
}

fn words(column: &Column) -> Vec<u32> {
    let float = column.field.scalar == sim_compiler::manifest::Scalar::F32;
    let plain = |word: u32| match float && f32::from_bits(word).is_nan() {
        true => f32::NAN.to_bits(),
        false => word,
    };
    column.values.words().into_iter().map(plain).collect()
}

/// The same where a GPU does not tell the zeros apart.
fn alike(expected: &[u32], got: &[u32]) -> bool {
    let plain = |&word: &u32| {
        if word == (-0.0_f32).to_bits() {
            0
        } else {
            word
        }
    };
    expected.iter().map(plain).eq(got.iter().map(plain))
}

fn difference(source: &str) -> Result<(), String> {
    let ways = launch::ways();
    let expected = results(source, &ways[0])?;
    for way in &ways[1..] {
        let got = results(source, way).map_err(|error| format!("{way}: {error}"))?;
        for ((name, expected), (_, got)) in expected.iter().zip(&got) {
            let agree = match way.is_exact() {
                true => expected == got,
                false => alike(expected, got),
            };
            if !agree {
                return Err(format!(
                    "{way}: `{name}` is {got:x?}, by the reference {expected:x?}"
                ));
            }
        }
    }
    Ok(())
}

/// Seeds whose models once found a mistake: of comparisons in WGSL's argument lists, of vectors that take two
/// words from one register, and of functions that nothing calls any more.
const ONCE_WRONG: [u64; 5] = [2371, 7153, 1919, 2236, 10_088];

#[test]
fn models_that_found_mistakes_agree() {
    let complaints: Vec<String> = (ONCE_WRONG.into_iter())
        .filter_map(|seed| {
            let complaint = difference(&generate::model(seed)).err()?;
            Some(format!("seed {seed}: {complaint}"))
        })
        .collect();
    files::report("models differ again", complaints);
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
