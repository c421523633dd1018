//! Special values (NaN, infinities, signed zeros, denormals, the largest values, halfway cases) through every
//! builtin, operator and conversion. The vector machine gives the reference interpreter's bits with every
//! available instruction set. For the GPU, see `gpu`.

mod expressions;
#[cfg(feature = "gpu")]
mod gpu;

use expressions::{AGENTS, expressions, float, integer};
use sim_compiler::{Math, Options, compile_with};
use sim_runtime::{Backend, Isa, Run, Simulation, Tuning};
use sim_tests::compare::{layouts, words};
use std::fmt::Write;

/// Declares the inputs, and an output for each expression.
fn model(expressions: &[String]) -> String {
    let mut source = "input f0: f32\ninput f1: f32\ninput f2: f32\n".to_owned();
    for k in 0..4 {
        writeln!(source, "input i{k}: i32\ninput u{k}: u32").expect("a String");
    }
    for (k, expression) in expressions.iter().enumerate() {
        writeln!(source, "output y{k} = {expression}").expect("a String");
    }
    source
}

fn run(source: &str, backend: Backend, isa: Option<(Isa, bool)>, math: Math) -> Run {
    let options = Options {
        math,
        ..Options::default()
    };
    let artifact = compile_with(source, options);
    let artifact = artifact.unwrap_or_else(|found| panic!("{found:#?}\n{source}"));
    let mut simulation = Simulation::from_artifact(artifact)
        .agents(AGENTS as u32)
        .steps(0)
        .backend(backend);
    if let Some((isa, jit)) = isa {
        let tuning = Tuning {
            jit: Some(jit),
            ..Tuning::AUTO
        };
        simulation = simulation.instruction_set(isa).tuning(tuning);
    }
    let given: Vec<String> = (simulation.manifest().inputs.iter())
        .map(|input| input.field.name.clone())
        .collect();
    for name in given {
        let which = usize::from(name.as_bytes()[1] - b'0');
        let floats = || (0..AGENTS).map(|agent| float(agent, which));
        let words = || (0..AGENTS).map(|agent| integer(agent, which));
        match name.as_bytes()[0] {
            b'f' => simulation.set_input(&name, floats().collect::<Vec<f32>>()),
            b'i' => simulation.set_input(&name, words().map(|x| x as i32).collect::<Vec<i32>>()),
            _ => simulation.set_input(&name, words().collect::<Vec<u32>>()),
        }
        .expect("an input");
    }
    simulation.run().expect("it runs")
}

#[test]
fn special_values_give_the_same_bits_everywhere() {
    let expressions = expressions();
    let paths: Vec<(Isa, bool)> = (Isa::available().into_iter())
        .flat_map(|isa| [(isa, false), (isa, true)])
        .collect();
    let names: Vec<String> = (paths.iter())
        .map(|(isa, jit)| format!("{isa}, jit {jit}"))
        .collect();
    println!(
        "{} expressions of {AGENTS} sets of values on {}",
        expressions.len(),
        names.join(", ")
    );
    let source = model(&expressions);
    let expected = run(&source, Backend::Reference, None, Math::Fast);
    let mut wrong = Vec::new();
    for (isa, jit) in paths {
        let got = run(&source, Backend::Cpu, Some((isa, jit)), Math::Fast);
        assert_eq!(layouts(&got, &expected), Ok(()));
        assert_eq!(got.outputs().len(), expressions.len());
        for ((expected, got), expression) in
            (expected.outputs().iter().zip(got.outputs())).zip(&expressions)
        {
            let width = expected.field.words() as usize;
            // Processors disagree about the bits of the NaNs that they make.
            let pairs = words(expected).into_iter().zip(words(got));
            let mut different = pairs.enumerate().filter(|(_, (a, b))| a != b);
            if let Some((at, (a, b))) = different.next() {
                let agent = at / width;
                wrong.push(format!(
                    "{isa}, jit {jit}: {expression} is {b:#x}, by the reference {a:#x}, for f = {:?} {:?} \
                    {:?}, u = {:x?}",
                    float(agent, 0),
                    float(agent, 1),
                    float(agent, 2),
                    [0, 1, 2, 3].map(|which| integer(agent, which)),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
