//! Random well-typed models give the same bits on the reference interpreter, on the vector machine with each
//! instruction set that is here, and on the GPU, optimised and not.
//!
//! `SIM_MODELS` says how many (default 60), `SIM_FIRST_MODEL` the first seed.

use super::files;
#[cfg(feature = "texts")]
use super::validators::naga_complaint;
use sim_runtime::{Backend, Column, Load, Tuning};
use sim_tests::{
    generate,
    launch::{self, Way},
    sharing,
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
    if let Some(complaint) = naga_complaint(&simulation.wgsl()) {
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
            let complaint = difference(&generate::plain_model(seed)).err()?;
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

/// The same of models that lanes share: of states that some lanes had written before others of another subgroup had
/// read them.
const SHARED_ONCE_WRONG: [u64; 2] = [1055, 1147];

/// Choices for a model that lanes share, by its number.
fn choices(seed: u64) -> Tuning {
    Tuning {
        lanes: Some([2, 4, 8, 16][seed as usize % 4]),
        shuffles: [None, Some(false)][seed as usize / 4 % 2],
        steps_per_dispatch: [None, Some(3), Some(7)][seed as usize % 3],
        reassociate: Some(seed.is_multiple_of(2)),
        reserve: Some(seed.is_multiple_of(3)),
        load: [None, Some(Load::Idle), Some(Load::Light)][seed as usize / 2 % 3],
        unroll_steps: [None, Some(2)][seed as usize / 2 % 2],
        prepare: Some(seed % 5 < 3),
        ..Tuning::default()
    }
}

#[test]
fn random_models_agree_when_lanes_share_them() {
    if !launch::has_gpu() {
        return;
    }
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 30);
    let (mut complaints, mut shared, mut stopping) = (Vec::new(), 0, 0);
    for seed in SHARED_ONCE_WRONG.into_iter().chain(first..first + count) {
        let source = sharing::model(seed);
        let results = |backend: Backend, tuning: Option<Tuning>| -> Result<_, String> {
            let simulation = launch::simulation(&source, backend, true)?;
            let simulation = match tuning {
                Some(tuning) => simulation.tuning(launch::forced(tuning)),
                None => simulation,
            };
            let run = simulation.run().map_err(|error| error.to_string())?;
            let columns = run.outputs().iter().chain(run.states());
            let columns: Vec<_> = columns
                .map(|column| (column.field.name.clone(), words(column)))
                .chain([(
                    "steps".to_owned(),
                    run.steps().expect("all is kept").collect(),
                )])
                .collect();
            Ok((columns, run.report().choices.clone()))
        };
        let mut outcome = || -> Result<(), String> {
            let (expected, _) = results(Backend::Reference, None)?;
            let (got, said) = results(Backend::Gpu, Some(choices(seed)))?;
            shared += u32::from(!said[0].what.starts_with("one lane"));
            let steps = &expected.last().expect("steps come last").1;
            stopping += u32::from(steps.iter().any(|ran| *ran != steps[0]));
            for ((name, expected), (_, got)) in expected.iter().zip(&got) {
                if !alike(expected, got) {
                    return Err(format!(
                        "`{name}` is {got:x?}, by the reference {expected:x?}"
                    ));
                }
            }
            Ok(())
        };
        if let Err(complaint) = outcome() {
            complaints.push(format!(
                "seed {seed}, {:?}: {complaint}\n{source}",
                choices(seed)
            ));
        }
    }
    println!("{count} random models, {shared} shared by lanes, agents of {stopping} stop");
    complaints.truncate(3);
    files::report("shared models differ", complaints);
    assert!(u64::from(shared) * 3 > count && u64::from(stopping) * 10 > count);
}
