//! A random walk: a hand-written kernel with its manifest and values, and the same walk on the host.

use sim_compiler::{
    artifact::Artifact,
    ir::{Phase, Program, Stmt},
    manifest::{
        Counter, Data, Field, Input, Manifest, Param, Requirement, Scalar, Source, VERSION,
    },
    random::Generator,
};
use sim_runtime::{Backend, Run, Simulation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::has_gpu,
};

pub const KERNEL: &str = include_str!("walk.wgsl");
pub const ROWS: usize = 400;

fn field(name: &str, scalar: Scalar, shape: &[u32], word: u32) -> Field {
    Field {
        name: name.to_owned(),
        doc: String::new(),
        scalar,
        shape: shape.to_vec(),
        components: 1,
        variants: Vec::new(),
        word,
    }
}

fn vector(field: Field, components: u32) -> Field {
    Field {
        components,
        ..field
    }
}

fn param(field: Field, default: u32, range: Option<[f64; 2]>) -> Param {
    Param {
        default: Some(vec![default; field.words() as usize]),
        field,
        range,
    }
}

fn manifest(inner_iterations: Option<u64>) -> Manifest {
    Manifest {
        spill: None,
        constants: None,
        version: VERSION,
        doc: String::new(),
        generator: Generator::default().name().to_owned(),
        agents: None,
        steps: Some(100),
        has_step: true,
        params: vec![
            param(
                field("drift", Scalar::F32, &[], 10),
                0.01_f32.to_bits(),
                Some([0.01, 2.0]),
            ),
            param(field("turns", Scalar::I32, &[], 11), 3, None),
            param(field("offsets", Scalar::F32, &[4], 12), 0, None),
        ],
        data: vec![Data {
            field: field("table", Scalar::F32, &[0, 2], 0),
            binding: 5,
            rows_word: Some(9),
        }],
        inputs: vec![Input {
            field: field("start", Scalar::F32, &[], 0),
            source: Source::Required,
        }],
        states: vec![
            field("x", Scalar::F32, &[], 0),
            field("wheel", Scalar::U32, &[], 1),
        ],
        world: None,
        samplings: Vec::new(),
        series: Vec::new(),
        outputs: vec![
            field("end", Scalar::F32, &[], 0),
            vector(field("trail", Scalar::F32, &[], 1), 3),
            field("who", Scalar::I32, &[], 4),
            field("high", Scalar::Bool, &[], 5),
            field("wheel", Scalar::U32, &[], 6),
        ],
        requirements: vec![Requirement {
            data: "table".to_owned(),
            counts: Counter::Step,
            offset: 0,
            span: [0, 0],
        }],
        uniform_words: 16,
        input_words: 4,
        state_words: 2,
        output_words: 7,
        workgroup_size: 64,
        inner_iterations,
        step_table: None,
        real: Default::default(),
    }
}

pub fn artifact(inner_iterations: Option<u64>) -> Artifact {
    Artifact {
        kernels: Vec::new(),
        manifest: manifest(inner_iterations),
        // The kernel's agents stop.
        program: Program {
            phases: vec![Phase::from(vec![Stmt::Stop])],
            ..Program::default()
        },
        own_kernel: Some(KERNEL.to_owned()),
        options: sim_compiler::Options::default(),
        lowered: Program::default(),
        launch_checks: None,
        tests: Vec::new(),
    }
}

pub fn table() -> Vec<f32> {
    (0..2 * ROWS).map(|k| (k % 7) as f32 * 0.01).collect()
}

pub fn starts(agents: u32, first: u32) -> Vec<f32> {
    (first..first + agents)
        .map(|agent| agent as f32 * 0.125)
        .collect()
}

/// A walk of `agents` agents on the best adapter; `None` without an adapter.
pub fn walk(agents: u32) -> Option<Simulation> {
    walk_with(agents, artifact(None))
}

pub fn walk_with(agents: u32, artifact: Artifact) -> Option<Simulation> {
    if !has_gpu() {
        return None;
    }
    Some(
        Simulation::from_artifact(artifact)
            .backend(Backend::Gpu)
            .agents(agents)
            .data("table", table())
            .and_then(|simulation| simulation.input("start", starts(agents, 0)))
            .expect("these are legal values"),
    )
}

/// The same walk on the host: end, steps run and whether it stopped.
pub fn expected(agent: u32, start: f32, steps: u32) -> (f32, u32, bool) {
    let table = table();
    let mut x = start;
    for t in 0..steps as usize {
        x += 0.01 + table[2 * t + 1] + 0.001 * agent as f32;
        if x > 100.0 {
            return (x, t as u32 + 1, true);
        }
    }
    (x, steps, false)
}

/// Fails unless `b` has the bits of `a`.
pub fn same(a: &Run, b: &Run) {
    if let Err(difference) = compare(b, a, Tolerance::Bits) {
        panic!("{difference}");
    }
}
