//! Random well-typed models give the same bits on the reference interpreter, on the vector machine with each
//! instruction set that is here, and on the GPU, optimised and not. A GPU may give a zero the other sign.
//!
//! `SIM_MODELS` says how many (default 30, with worlds 12), `SIM_FIRST_MODEL` the first seed.

use super::files;
#[cfg(feature = "texts")]
use super::validators::naga_complaint;
use sim_runtime::{Backend, Occupancy, RealType, Run, Simulation, Tuning, WorldDispatch};
use sim_tests::{
    compare::{Tolerance, compare},
    generate,
    launch::{self, Way},
    sharing,
};

#[path = "../../../compiler/src/kernel/tests/shuffles/model.rs"]
mod shuffling;

pub(crate) fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(default)
}

fn run(source: &str, way: &Way) -> Result<Run, String> {
    let simulation = way.simulation(source)?.seed(11);
    #[cfg(feature = "texts")]
    if way.real == RealType::F32
        && let Some(complaint) = naga_complaint(&simulation.wgsl())
    {
        return Err(format!("naga refuses the kernel: {complaint}"));
    }
    simulation.run().map_err(|error| error.to_string())
}

fn difference(source: &str, ways: &[Way]) -> Result<(), String> {
    let expected = run(source, &ways[0])?;
    for way in &ways[1..] {
        let tolerance = match way.is_exact() {
            true => Tolerance::Bits,
            false => Tolerance::ZerosOfEitherSign,
        };
        let got = run(source, way).map_err(|error| format!("{way}: {error}"))?;
        compare(&got, &expected, tolerance).map_err(|difference| format!("{way}: {difference}"))?;
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
            let complaint = difference(&generate::plain_model(seed), &launch::ways()).err()?;
            Some(format!("seed {seed}: {complaint}"))
        })
        .collect();
    files::report("models differ again", complaints);
}

#[test]
fn random_models_agree() {
    agree(generate::model, &launch::ways(), 60);
}

#[test]
fn random_models_agree_in_f64() {
    let ways = launch::ways_on_cpu(RealType::F64);
    agree(generate::model, &ways, 30);
    agree(generate::world_model, &ways, 30);
}

/// Models with worlds, phases and series, also with several worlds in a workgroup, with a dispatch for each
/// phase of each step, with lanes that share loops over the world, and split in time.
#[test]
fn random_worlds_agree() {
    let mut ways = launch::ways();
    let on_gpu = ways.iter().find(|way| way.backend == Backend::Gpu);
    if let Some(way) = on_gpu.cloned() {
        ways.extend(WORLD_TUNINGS.map(|tuning| Way {
            optimise: true,
            tuning,
            ..way.clone()
        }));
    }
    agree(generate::world_model, &ways, 12);
}

/// Schedules of worlds that the rules do not choose by themselves.
const WORLD_TUNINGS: [Tuning; 4] = [
    Tuning {
        world_dispatch: Some(WorldDispatch::Fused),
        worlds_per_workgroup: Some(3),
        steps_per_dispatch: Some(2),
        array_bytes: Some(0),
        ..Tuning::AUTO
    },
    Tuning {
        world_dispatch: Some(WorldDispatch::PerStep),
        max_agents_per_chunk: Some(40),
        array_bytes: Some(0),
        ..Tuning::AUTO
    },
    Tuning {
        world_dispatch: Some(WorldDispatch::PerStep),
        lanes: Some(4),
        ..Tuning::AUTO
    },
    Tuning {
        world_dispatch: Some(WorldDispatch::Fused),
        worlds_per_workgroup: Some(1),
        agents_per_invocation: Some(2),
        array_bytes: launch::IN_INVOCATION,
        ..Tuning::AUTO
    },
];

fn agree(model: fn(u64) -> String, ways: &[Way], default: u64) {
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", default);
    let mut complaints = Vec::new();
    for seed in first..first + count {
        let source = model(seed);
        let outcome = std::panic::catch_unwind(|| difference(&source, ways))
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

/// The same of models that lanes share: of states that some lanes had written before others of another
/// subgroup had read them.
const SHARED_ONCE_WRONG: [u64; 2] = [1055, 1147];

/// Choices for a model that lanes share, by its number.
fn choices(seed: u64) -> Tuning {
    Tuning {
        lanes: Some([2, 4, 8, 16][seed as usize % 4]),
        shuffles: [None, Some(false)][seed as usize / 4 % 2],
        steps_per_dispatch: [None, Some(3), Some(7)][seed as usize % 3],
        relax: Some(seed.is_multiple_of(2)),
        array_bytes: [launch::IN_INVOCATION, Some(0)][seed as usize / 8 % 2],
        reserve: Some(seed.is_multiple_of(3)),
        occupancy: [None, Some(Occupancy::Low), Some(Occupancy::Full)][seed as usize / 2 % 3],
        unroll_steps: [None, Some(2)][seed as usize / 2 % 2],
        step_table: Some(seed % 5 < 3),
        ..Tuning::default()
    }
}

/// What the reference interpreter and the GPU, with these choices, make of a model that lanes share.
fn shared(
    source: &str,
    tuning: Tuning,
    launch: impl Fn(Simulation) -> Simulation,
) -> Result<[Run; 2], String> {
    let run = |backend: Backend, tuning: Option<Tuning>| -> Result<Run, String> {
        let simulation = launch(launch::simulation(source, backend, true)?);
        let simulation = match tuning {
            Some(tuning) => simulation.tuning(launch::forced(tuning)),
            None => simulation,
        };
        simulation.run().map_err(|error| error.to_string())
    };
    let expected = run(Backend::Reference, None)?;
    let got = run(Backend::Gpu, Some(tuning))?;
    compare(&got, &expected, Tolerance::ZerosOfEitherSign)
        .map_err(|difference| difference.to_string())?;
    Ok([expected, got])
}

/// Do agents of a run have several lanes?
fn has_lanes(run: &Run) -> bool {
    !run.report().decisions[0].what.starts_with("one lane")
}

/// Do its lanes read elements of one another?
fn reads_others(run: &Run) -> bool {
    run.report().decisions[0].what.contains("one another")
}

#[test]
fn random_models_agree_when_lanes_share_them() {
    if !launch::has_gpu() {
        return;
    }
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 16);
    let (mut complaints, mut split, mut stopping) = (Vec::new(), 0, 0);
    for seed in SHARED_ONCE_WRONG.into_iter().chain(first..first + count) {
        let source = sharing::model(seed);
        let mut outcome = || -> Result<(), String> {
            let [expected, got] = shared(&source, choices(seed), |simulation| simulation)?;
            split += u32::from(has_lanes(&got));
            let mut steps = expected.steps().map_err(|error| error.to_string())?;
            let first = steps.next();
            stopping += u32::from(steps.any(|ran| Some(ran) != first));
            Ok(())
        };
        if let Err(complaint) = outcome() {
            complaints.push(format!(
                "seed {seed}, {:?}: {complaint}\n{source}",
                choices(seed)
            ));
        }
    }
    println!("{count} random models, {split} shared by lanes, agents of {stopping} stop");
    complaints.truncate(3);
    files::report("shared models differ", complaints);
    assert!(u64::from(split) * 3 > count && u64::from(stopping) * 10 > count);
}

#[test]
fn random_models_agree_when_lanes_read_one_another() {
    if !launch::has_gpu() {
        return;
    }
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 20);
    let (mut complaints, mut shuffling) = (Vec::new(), 0);
    for seed in first..first + count {
        let (source, _) = shuffling::model(seed);
        // Of as many lanes as subgroups of all devices here have.
        let tuning = Tuning {
            lanes: Some([2, 4, 8][seed as usize % 3]),
            shuffles: None,
            ..choices(seed)
        };
        match shared(&source, tuning, |simulation| simulation.agents(9).steps(5)) {
            Ok([_, got]) => shuffling += u32::from(reads_others(&got)),
            Err(complaint) => {
                complaints.push(format!("seed {seed}, {tuning:?}: {complaint}\n{source}"));
            }
        }
    }
    println!("lanes of {shuffling} of {count} random models read one another's elements");
    complaints.truncate(3);
    files::report("models whose lanes read one another differ", complaints);
    assert!(u64::from(shuffling) * 2 > count);
}
