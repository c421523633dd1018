//! The vector machine gives what the reference interpreter gives, to the bit, on every instruction set that
//! this machine has, for every model in the repository.

use super::files;
use sim_compiler::{
    RealType,
    manifest::{Counter, Field, Scalar, Source},
};
use sim_runtime::{Array, Isa, Run, Simulation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::{Way, ways_on_cpu},
};

/// More than a block of the vector machine, and no multiple of anything but of `MEMBERS`.
const AGENTS: u32 = 301;
/// Agents of a world.
const MEMBERS: u32 = 43;
const MOST_STEPS: u32 = 40;
/// Models with so long loops that the interpreter takes seconds for a few steps, of which they do two.
const LONG: &[&str] = &[
    "loops_in_loops",
    "large_arrays",
    "series_large_arrays",
    "large_loops",
];

/// Some values for a field, the same on every call: small, of both signs.
fn values(field: &Field, count: usize) -> Array {
    let word = |k: usize| (k as u32).wrapping_mul(0x9E37_79B9) ^ 0x5bd1_e995;
    let float = |k: usize| (word(k) >> 8) as f32 / 8_388_608.0 - 1.0;
    match field.scalar {
        Scalar::F32 => (0..count).map(float).collect::<Vec<f32>>().into(),
        Scalar::F64 => (0..count)
            .map(|k| f64::from(float(k)) + 1e-9)
            .collect::<Vec<f64>>()
            .into(),
        Scalar::I32 => (0..count)
            .map(|k| (word(k) >> 28) as i32 - 8)
            .collect::<Vec<i32>>()
            .into(),
        Scalar::U32 => (0..count)
            .map(|k| word(k) >> 30)
            .collect::<Vec<u32>>()
            .into(),
        Scalar::Bool => (0..count)
            .map(|k| word(k) >> 31 == 0)
            .collect::<Vec<bool>>()
            .into(),
    }
}

/// The model with every value that it lacks, for a small population and few steps.
pub(crate) fn filled(simulation: Simulation) -> Result<Simulation, String> {
    let manifest = simulation.manifest().clone();
    let steps = manifest.steps.unwrap_or(MOST_STEPS).min(MOST_STEPS);
    // A table of fixed length that is indexed by the agent ends the population.
    let longest = |name: &str| {
        let table = manifest.data.iter().find(|table| table.field.name == name);
        table.and_then(|table| table.field.shape.first().copied())
    };
    let agents = (manifest.requirements.iter())
        .filter(|requirement| requirement.counts == Counter::Agent)
        .filter_map(|requirement| longest(&requirement.data))
        .filter(|&rows| rows > 0)
        .fold(AGENTS, u32::min);
    let mut simulation = simulation.agents(agents).steps(steps).seed(5);
    if manifest.world.is_some() {
        simulation = simulation.world(MEMBERS);
    }
    let text = |error: sim_runtime::Error| error.to_string();
    for param in &manifest.params {
        if param.default.is_none() {
            let value = match param.range {
                Some([first, last]) => 0.5 * (first + last),
                None => 0.5,
            };
            let count = param.field.values() as usize;
            let value: Array = match (param.field.scalar, count) {
                (Scalar::F32, 1) => (value as f32).into(),
                (Scalar::F64, 1) => value.into(),
                _ => values(&param.field, count),
            };
            simulation = simulation.param(&param.field.name, value).map_err(text)?;
        }
    }
    for table in &manifest.data {
        let words: u32 = match table.field.shape.first() {
            Some(0) => AGENTS * table.field.shape[1..].iter().product::<u32>().max(1),
            _ => table.field.shape.iter().product::<u32>().max(1),
        };
        let count = words as usize * table.field.components as usize;
        let name = &table.field.name;
        simulation = simulation
            .data(name, values(&table.field, count))
            .map_err(text)?;
    }
    let of_worlds = &manifest.world_rows().inputs;
    let rows = manifest.inputs.iter().map(|input| (input, agents));
    let of_worlds = of_worlds.iter().map(|input| (input, agents / MEMBERS));
    for (input, rows) in rows.chain(of_worlds) {
        if input.source == Source::Required {
            let count = rows as usize * input.field.values() as usize;
            let name = &input.field.name;
            simulation = simulation
                .input(name, values(&input.field, count))
                .map_err(text)?;
        }
    }
    Ok(simulation)
}

fn run(name: &str, source: &str, way: &Way) -> Result<Run, String> {
    let mut simulation = filled(way.simulation(source)?)?;
    if LONG.contains(&name) {
        simulation = simulation.steps(2);
    }
    simulation.run().map_err(|error| error.to_string())
}

#[test]
fn every_model_gives_the_same_bits_on_every_instruction_set() {
    every_model_gives_the_same_bits(RealType::F32);
}

#[test]
fn every_model_gives_the_same_bits_on_every_instruction_set_in_f64() {
    every_model_gives_the_same_bits(RealType::F64);
}

fn every_model_gives_the_same_bits(real: RealType) {
    let names: Vec<&str> = Isa::available().into_iter().map(Isa::name).collect();
    println!("instruction sets here: {}", names.join(", "));
    let ways = ways_on_cpu(real);
    let mut complaints = Vec::new();
    let mut compared = 0;
    for folder in ["lang-examples", "tests/language", "tests/run"] {
        for (name, source) in files::models(folder) {
            let expected = match run(&name, &source, &ways[0]) {
                Ok(expected) => expected,
                Err(complaint) => {
                    complaints.push(format!("{name}: {complaint}"));
                    continue;
                }
            };
            for way in &ways[1..] {
                compared += 1;
                let held = run(&name, &source, way).and_then(|got| {
                    compare(&got, &expected, Tolerance::Bits)
                        .map_err(|difference| difference.to_string())
                });
                complaints.extend(held.err().map(|it| format!("{name} ({way}): {it}")));
            }
        }
    }
    println!("{compared} runs compared");
    files::report("models differ", complaints);
}
