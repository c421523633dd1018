//! Holds a program on the compiler's backends against the evaluator, bit by bit.

use crate::language::{Column, Launch, Model, Results, Whose as Sampled};
use crate::programs::Program;
use sim_compiler::manifest::{Field, Manifest, Scalar};
use sim_compiler::{Options, compile_with};
use sim_runtime::{Array, Backend, Error, Isa, Run, Simulation, Tuning, WorldDispatch};

/// How far columns whose names begin with `near_` may be off, of the larger of the value and 1.
const NEAR: f64 = 2e-5;

/// What a comparison says if the backends are not at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All agents agree.
    Agrees,
    /// The pages leave the results of some agents open; the others agree.
    PartlyOpen,
    /// The program takes too long for the evaluator.
    TooLong,
}

/// A way to run a program.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Way {
    backend: Backend,
    isa: Option<Isa>,
    optimise: bool,
    /// On a GPU, of models with worlds.
    dispatch: Option<WorldDispatch>,
}

/// The interpreter and the vector machine with each instruction set, optimised and not; the GPU if asked
/// for.
pub fn ways(gpu: bool) -> Vec<Way> {
    let mut places = vec![(Backend::Reference, None, None)];
    let sets = Isa::available().into_iter();
    places.extend(sets.map(|isa| (Backend::Cpu, Some(isa), None)));
    if gpu {
        let per_step = Some(WorldDispatch::PerStep);
        places.extend([(Backend::Gpu, None, None), (Backend::Gpu, None, per_step)]);
    }
    let both = |(backend, isa, dispatch)| {
        [false, true].map(|optimise| Way {
            backend,
            isa,
            optimise,
            dispatch,
        })
    };
    places.into_iter().flat_map(both).collect()
}

/// Compares a program.
///
/// # Errors
/// What is wrong: the kind of fault up to the first ` | `, and what is particular of the program after it.
pub fn compare(program: &Program, ways: &[Way]) -> Result<Outcome, String> {
    compare_with(program, &program.launch, ways)
}

/// The same where the evaluator is given another launch than the backends.
///
/// # Errors
/// As [`compare`].
pub fn compare_with(
    program: &Program,
    evaluated: &Launch,
    ways: &[Way],
) -> Result<Outcome, String> {
    let wrong = |error: String| format!("evaluator: {error}");
    let model = Model::read(&program.text).map_err(wrong)?;
    let results = match model.run(evaluated) {
        Ok(results) => results,
        Err(error) if error == "too long" => return Ok(Outcome::TooLong),
        Err(error) => return Err(wrong(error)),
    };
    for optimise in [false, true] {
        let options = Options {
            optimise,
            ..Options::default()
        };
        let artifact = compile_with(&program.text, options).map_err(|found| {
            let first = &found[0];
            let line = program.text[..first.span().range().start]
                .matches('\n')
                .count()
                + 1;
            format!(
                "refused {} {} | line {line}: {}",
                first.code, first.slug, first.message
            )
        })?;
        let mut simulation = Simulation::from_artifact(artifact).seed(program.launch.seed);
        let manifest = simulation.manifest().clone();
        launch(&mut simulation, &manifest, &program.launch)
            .map_err(|error| format!("launch {} | {error}", error.code()))?;
        for way in ways.iter().filter(|way| way.optimise == optimise) {
            if way.dispatch.is_some() && manifest.world.is_none() {
                continue;
            }
            simulation = simulation.backend(way.backend).tuning(Tuning {
                world_dispatch: way.dispatch,
                ..Tuning::AUTO
            });
            if let Some(isa) = way.isa {
                simulation = simulation.instruction_set(isa);
            }
            let run = simulation
                .run()
                .map_err(|error| format!("run {} | {way:?}: {error}", error.code()))?;
            let exact = way.backend != Backend::Gpu;
            held(&results, &run, exact)
                .map_err(|error| format!("differs {:?} | {way:?}: {error}", way.backend))?;
        }
    }
    if program.text.contains("assert ") {
        checked(program, &results)?;
    }
    match results.open.iter().any(Option::is_some) {
        true => Ok(Outcome::PartlyOpen),
        false => Ok(Outcome::Agrees),
    }
}

/// A run with checks, whose assertions all hold, gives the same; or the machines find the same fault of
/// another kind.
fn checked(program: &Program, results: &Results) -> Result<(), String> {
    let options = Options {
        checks: true,
        ..Options::default()
    };
    let artifact = compile_with(&program.text, options)
        .map_err(|found| format!("refused {} with checks", found[0].code))?;
    let mut simulation = Simulation::from_artifact(artifact).seed(program.launch.seed);
    let manifest = simulation.manifest().clone();
    launch(&mut simulation, &manifest, &program.launch)
        .map_err(|error| format!("launch {} | with checks", error.code()))?;
    let mut faults = Vec::new();
    for backend in [Backend::Reference, Backend::Cpu] {
        simulation = simulation.backend(backend);
        match simulation.run() {
            Ok(run) => {
                faults.push(None);
                held(results, &run, true)
                    .map_err(|error| format!("differs with checks | {backend:?}: {error}"))?;
            }
            Err(Error::AssertionFailed { .. }) => return Err("an assertion fails".to_owned()),
            Err(error) => match error.fault() {
                // NaN is not equal to itself, but its text is.
                Some(fault) => faults.push(Some(format!("{fault:?}"))),
                None => return Err(format!("run {} | {error}", error.code())),
            },
        }
    }
    match faults[0] == faults[1] {
        true => Ok(()),
        false => Err(format!("faults differ | {faults:?}")),
    }
}

/// Are the results of a run those of the pages?
fn held(results: &Results, run: &Run, exact: bool) -> Result<(), String> {
    let agents = Whose {
        name: "agent",
        open: &results.open,
    };
    hold(&results.outputs, run.outputs(), agents, exact)?;
    hold(&results.states, run.states(), agents, exact)?;
    let worlds = Whose {
        name: "world",
        open: &results.open_worlds,
    };
    hold(&results.world_outputs, run.world_outputs(), worlds, exact)?;
    hold(&results.world_states, run.world_states(), worlds, exact)?;
    hold_series(results, run.series(), exact)
}

/// Gives a simulation the launch values.
fn launch(
    simulation: &mut Simulation,
    manifest: &Manifest,
    launch: &Launch,
) -> Result<(), sim_runtime::Error> {
    let given = |field: &Field| {
        launch
            .values
            .get(&field.name)
            .map(|words| array(field, words))
    };
    for param in &manifest.params {
        if let Some(values) = given(&param.field) {
            simulation.set_param(&param.field.name, values)?;
        }
    }
    for data in &manifest.data {
        if let Some(values) = given(&data.field) {
            simulation.set_data(&data.field.name, values)?;
        }
    }
    let of_worlds = &manifest.world_rows().inputs;
    for input in manifest.inputs.iter().chain(of_worlds) {
        if let Some(values) = given(&input.field) {
            simulation.set_input(&input.field.name, values)?;
        }
    }
    Ok(())
}

fn array(field: &Field, words: &[u32]) -> Array {
    let words = words.iter().copied();
    match field.scalar {
        Scalar::F32 => Array::from(words.map(f32::from_bits).collect::<Vec<_>>()),
        Scalar::I32 => Array::from(words.map(|word| word as i32).collect::<Vec<_>>()),
        Scalar::U32 => Array::from(words.collect::<Vec<_>>()),
        Scalar::F64 => unreachable!("programs run in `f32`"),
        Scalar::Bool => Array::from(words.map(|word| word != 0).collect::<Vec<_>>()),
    }
}

/// Whose columns are held: agents' or worlds', and whose results the pages leave open.
#[derive(Clone, Copy)]
struct Whose<'a> {
    name: &'a str,
    open: &'a [Option<&'static str>],
}

fn hold(
    expected: &[Column],
    got: &[sim_runtime::Column],
    whose: Whose<'_>,
    exact: bool,
) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err("another number of columns".into());
    }
    for (expected, got) in expected.iter().zip(got) {
        let name = &expected.name;
        let words = got.values.words();
        if *name != got.field.name || expected.words.len() != words.len() {
            return Err(format!("`{name}` has another name or size"));
        }
        let row = (words.len() / whose.open.len()).max(1);
        for (k, (wanted, word)) in expected.words.iter().zip(&words).enumerate() {
            let one = k / row;
            if whose.open[one].is_some() || same(*wanted, *word, expected, exact) {
                continue;
            }
            let (wanted, word) = (shown(*wanted, expected), shown(*word, expected));
            return Err(format!(
                "`{name}` of {} {one}, value {}, is {word}, by the pages {wanted}",
                whose.name,
                k % row
            ));
        }
    }
    Ok(())
}

/// Series have the same samples, of the same shape, with the same bits.
fn hold_series(results: &Results, got: &[sim_runtime::Series], exact: bool) -> Result<(), String> {
    if results.series.len() != got.len() {
        return Err("another number of series".into());
    }
    for (expected, got) in results.series.iter().zip(got) {
        let (name, shape) = (&expected.column.name, &got.column.shape);
        if name != got.name() || expected.steps != got.steps || expected.shape != *shape {
            return Err(format!(
                "series `{name}` has another name, other steps or another shape | {:?} {shape:?}, by the \
                 pages {:?} {:?}",
                got.steps, expected.steps, expected.shape
            ));
        }
        let words = got.column.values.words();
        if words.len() != expected.column.words.len() {
            return Err(format!("series `{name}` has another size"));
        }
        let of_sample = words.len() / expected.steps.len();
        let pairs = expected.column.words.iter().zip(&words);
        for (k, (&wanted, &word)) in pairs.enumerate() {
            let (sample, at) = (k / of_sample, k % of_sample);
            let of_each = |open: &[Option<&'static str>]| open[at * open.len() / of_sample];
            let open = match expected.whose {
                Sampled::Agents => of_each(&results.open),
                Sampled::Worlds => of_each(&results.open_worlds),
                Sampled::Population => expected.open,
            };
            let near = expected.near && neighbours(wanted, word);
            if open.is_none() && !near && !same(wanted, word, &expected.column, exact) {
                let (wanted, word) = (
                    shown(wanted, &expected.column),
                    shown(word, &expected.column),
                );
                return Err(format!(
                    "series `{name}`, sample {sample}, value {at}, is {word}, by the pages {wanted}"
                ));
            }
        }
    }
    Ok(())
}

/// Are these floats of one sign at most one apart in the last place?
fn neighbours(wanted: u32, got: u32) -> bool {
    let finite = |word: u32| f32::from_bits(word).is_finite();
    wanted.abs_diff(got) <= 1 && finite(wanted) && finite(got)
}

fn shown(word: u32, column: &Column) -> String {
    match column.float {
        true => format!("{:?}", f32::from_bits(word)),
        false => format!("{}", word as i32),
    }
}

fn same(wanted: u32, got: u32, column: &Column, exact: bool) -> bool {
    if wanted == got || !column.float {
        return wanted == got;
    }
    let (wanted, got) = (f32::from_bits(wanted), f32::from_bits(got));
    if wanted.is_nan() && got.is_nan() {
        return true;
    }
    if !column.name.starts_with("near_") {
        return !exact && wanted == got;
    }
    let (wanted, got) = (f64::from(wanted), f64::from(got));
    // The largest float and infinity are neighbours, but not by their difference.
    wanted == got
        || (wanted - got).abs() <= NEAR * wanted.abs().max(1.0)
        || (wanted.abs().max(got.abs()) > 3.4e38
            && wanted.signum() == got.signum()
            && !(wanted - got).is_nan())
}
