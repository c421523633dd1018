//! The WGSL backend: whatever the verifier of the IR accepts, naga and tint accept as a kernel.

#[path = "../../src/passes/tests/build.rs"]
mod build;
mod coarsening;
mod constants;
mod forms;
mod lanes;
mod limits;
#[path = "../../src/passes/tests/random.rs"]
mod random;
mod source;
mod validate;
mod worlds;

// The builders are those of the passes' tests, which name the crate's rooms.
use sim_compiler::{builtin, ir, span};

use sim_compiler::{
    Artifact, Math, Options,
    ir::{Len, Program, VarId},
    manifest::{Data, Field, Input, Manifest, Param, Source, header},
    random::Generator,
};
use validate::{naga, tint};

/// A manifest that fits a program built by hand; gives the params and tables their places too.
fn manifest(program: &mut Program) -> Manifest {
    let mut word = header::END;
    let mut data = Vec::new();
    for (k, id) in program.data.clone().into_iter().enumerate() {
        let open = matches!(program[id].len, Len::Open { .. });
        program[id].word = 5 + k as u32;
        data.push(Data {
            field: field(program, id),
            binding: 5 + k as u32,
            rows_word: open.then_some(word),
        });
        word += u32::from(open);
    }
    let mut params = Vec::new();
    for id in program.params.clone() {
        let components = program[id].ty.components() as u32;
        let (align, words) = match program[id].len {
            Len::One => (components.next_power_of_two(), components),
            Len::Fixed(n) | Len::Open { stride: n } => (4, (n * components).next_multiple_of(4)),
        };
        word = word.next_multiple_of(align);
        program[id].word = word;
        word += words;
        params.push(Param {
            field: field(program, id),
            default: None,
            range: None,
        });
    }
    let fields = |ids: &[VarId]| ids.iter().map(|&id| field(program, id)).collect::<Vec<_>>();
    let words = |fields: &[Field]| fields.iter().map(Field::words).sum::<u32>();
    let (inputs, states, outputs) = (
        fields(&program.inputs),
        fields(&program.states),
        fields(&program.outputs),
    );
    Manifest {
        spill: None,
        constants: None,
        version: sim_compiler::manifest::VERSION,
        doc: "A model built by hand.".to_owned(),
        generator: String::new(),
        agents: None,
        steps: None,
        has_step: true,
        world: None,
        samplings: Vec::new(),
        series: Vec::new(),
        params,
        data,
        requirements: Vec::new(),
        uniform_words: word.next_multiple_of(4),
        input_words: words(&inputs).next_multiple_of(4),
        state_words: words(&states),
        output_words: words(&outputs),
        workgroup_size: 64,
        inner_iterations: None,
        step_table: None,
        real: Default::default(),
        inputs: inputs
            .into_iter()
            .map(|field| Input {
                field,
                source: Source::Required,
            })
            .collect(),
        states,
        outputs,
    }
}

fn field(program: &Program, id: VarId) -> Field {
    let var = &program[id];
    Field {
        name: var.name.clone(),
        doc: var.doc.clone(),
        scalar: var.ty.stored(Default::default()),
        shape: match var.len {
            Len::One => Vec::new(),
            Len::Fixed(n) => vec![n],
            Len::Open { stride } => vec![0, stride],
        },
        components: var.ty.components() as u32,
        variants: Vec::new(),
        word: var.word,
    }
}

/// The kernel of a program that the verifier accepts.
fn kernel(program: Program, generator: Generator) -> String {
    let options = Options {
        generator,
        ..Options::default()
    };
    kernel_with(program, options)
}

fn kernel_with(mut program: Program, options: Options) -> String {
    let manifest = manifest(&mut program);
    sim_compiler::ir::verify::verify(&program).expect("a valid program");
    let artifact = Artifact {
        kernels: Vec::new(),
        manifest,
        lowered: program.clone(),
        program,
        launch_checks: None,
        own_kernel: None,
        tests: Vec::new(),
        options,
    };
    artifact.wgsl()
}

#[test]
fn random_programs_give_valid_kernels() {
    for seed in 0..300 {
        let generator = Generator::ALL[seed as usize % Generator::ALL.len()];
        for math in [Math::Fast, Math::Precise] {
            let options = Options {
                generator,
                math,
                ..Options::default()
            };
            let text = kernel_with(random::program(seed), options);
            naga(&text);
            if seed < 25 {
                tint(&text);
            }
        }
    }
}

#[test]
fn random_programs_with_loops_and_sums_give_valid_kernels() {
    for seed in 0..60 {
        for program in [random::split::loops(seed), random::split::steps(seed)] {
            naga(&kernel(program, Generator::default()));
        }
    }
}

#[test]
fn kernels_are_the_same_from_build_to_build() {
    for seed in 0..20 {
        let generator = Generator::default();
        let first = kernel(random::program(seed), generator);
        assert_eq!(first, kernel(random::program(seed), generator));
    }
}
