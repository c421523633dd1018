//! The CPU backend on the examples: compiling the IR to a vector program, and agent-steps per second on one
//! core and on all.
//!
//! Agents that stop early count as if they ran all steps. Peers are compared by `peers/cpu/run.py`.

use divan::{Bencher, counter::ItemsCount};
use rayon::{ThreadPool, ThreadPoolBuilder};
use sim_compiler::artifact::Artifact;
use sim_runtime::{Backend, Isa, Simulation, cpu::vector};
use std::{fmt, fs, path::Path};

fn main() {
    divan::main();
}

/// A model of `lang-examples`.
struct Example {
    name: String,
    source: String,
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

fn examples() -> Vec<Example> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let mut examples: Vec<Example> = fs::read_dir(folder)
        .expect("the folder of the examples")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sim"))
        .map(|path| Example {
            name: path.file_stem().unwrap_or_default().display().to_string(),
            source: fs::read_to_string(&path).expect("a readable example"),
        })
        .collect();
    examples.sort_by(|a, b| a.name.cmp(&b.name));
    examples
}

fn compiled(example: &Example) -> Artifact {
    sim_compiler::compile(&example.source).expect("a legal model")
}

/// Compiles the IR to a program of the vector machine.
#[divan::bench(args = examples())]
fn ir_to_program(bencher: Bencher, example: &Example) {
    let artifact = compiled(example);
    bencher.bench_local(|| {
        let (program, manifest) = (&artifact.program, &artifact.manifest);
        vector::compile::<u32>(
            program,
            manifest,
            artifact.options.generator,
            Isa::best(),
            1,
        )
    });
}

/// Values for every table that an example needs.
fn with_tables(artifact: Artifact) -> Simulation {
    let tables = artifact.manifest.data.clone();
    let agents = artifact.manifest.agents.unwrap_or(1).min(20_000);
    let steps = artifact.manifest.steps.unwrap_or(0);
    let mut simulation = Simulation::from_artifact(artifact)
        .agents(agents)
        .backend(Backend::Cpu);
    for table in tables {
        let words: u32 = match table.field.shape.first() {
            Some(0) => steps.max(1) * table.field.shape[1..].iter().product::<u32>(),
            _ => table.field.shape.iter().product(),
        };
        let values = (0..words).map(|k| (k.wrapping_mul(0x9E37_79B9) >> 24) as f32 / 256.0);
        let name = &table.field.name;
        let set = match table.field.scalar {
            sim_compiler::manifest::Scalar::F32 => {
                simulation.set_data(name, values.collect::<Vec<f32>>())
            }
            _ => simulation.set_data(
                name,
                values.map(|x| (16.0 * x) as i32).collect::<Vec<i32>>(),
            ),
        };
        set.expect("a table");
    }
    simulation
}

fn run(bencher: Bencher, example: &Example, pool: &ThreadPool) {
    let mut simulation = with_tables(compiled(example));
    let required = simulation.manifest().inputs.iter();
    let required: Vec<_> = required
        .filter(|input| input.source == sim_compiler::manifest::Source::Required)
        .map(|input| input.field.clone())
        .collect();
    let agents = simulation.manifest().agents.unwrap_or(1).min(20_000);
    for field in required {
        let values = vec![0.5_f32; (agents * field.words()) as usize];
        simulation.set_input(&field.name, values).expect("an input");
    }
    let steps = u64::from(simulation.manifest().steps.unwrap_or(0)).max(1);
    bencher
        .counter(ItemsCount::new(u64::from(agents) * steps))
        .bench_local(|| pool.install(|| simulation.run().expect("it runs")));
}

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("threads")
}

/// All agents and steps on one core; the items are agent-steps.
#[divan::bench(args = examples(), sample_count = 5)]
fn one_core(bencher: Bencher, example: &Example) {
    run(bencher, example, &pool(1));
}

/// The same on all cores.
#[divan::bench(args = examples(), sample_count = 5)]
fn all_cores(bencher: Bencher, example: &Example) {
    run(bencher, example, &pool(0));
}
