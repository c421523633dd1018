//! The interface of the crate: what a caller sets, what an error says, and what a run gives away. It names
//! nothing of the compiler but what this crate gives on.

#[path = "../examples/data.rs"]
mod data;
#[path = "../examples/run.rs"]
mod run;
#[path = "../examples/sweep.rs"]
mod sweep;
#[path = "../examples/worlds.rs"]
mod worlds;

use sim_runtime::{
    Array, Backend, Column, Device, Error, Field, Generator, Manifest, Math, Options, Scalar,
    SeriesOf, Simulation, Values,
};

const WALK: &str = "
agents 4
steps 3
param scale = 2.0 in 0.001..5.0
input start = 0.0
state x = start
step { x += random() * 0.0 + scale }
observe total = sum(x)
output x
output number = agent
world output peak = max(for other in world: other.x)
";

fn walk() -> Simulation {
    Simulation::compile(WALK)
        .unwrap_or_else(|error| panic!("{error}"))
        .world(2)
        .backend(Backend::Cpu)
}

#[test]
fn a_compiled_simulation_changes_in_place() -> Result<(), Error> {
    let mut simulation = walk();
    let drawn = |simulation: &Simulation| -> Result<(usize, Vec<f32>), Error> {
        let run = simulation.run()?;
        Ok((run.output::<f32>("x")?.len(), run.into_output("x")?))
    };
    assert_eq!(drawn(&simulation)?, (4, vec![6.0; 4]));
    simulation.set_agents(6);
    simulation.set_steps(5);
    assert_eq!(drawn(&simulation)?, (6, vec![10.0; 6]));
    simulation.set_param("scale", 1.0)?;
    simulation.set_seed(9);
    simulation.set_backend(Backend::Reference);
    let run = simulation.run()?;
    assert_eq!(run.report().seed, 9);
    assert_eq!(run.report().backend, Device::Reference);
    assert_eq!(run.output::<f32>("x")?, [5.0; 6]);
    simulation.set_world(3);
    simulation.set_population(12);
    simulation.set_first_agent(6);
    let run = simulation.run()?;
    assert_eq!(run.output::<i32>("number")?, [6, 7, 8, 9, 10, 11]);
    assert_eq!(run.report().worlds, 2);
    Ok(())
}

#[test]
fn a_builder_says_the_same_as_a_setter() -> Result<(), Error> {
    let built = walk().agents(8).steps(2).seed(3).world(4).run()?;
    let mut set = walk();
    set.set_agents(8);
    set.set_steps(2);
    set.set_seed(3);
    set.set_world(4);
    let set = set.run()?;
    assert_eq!(built.output::<f32>("x")?, set.output::<f32>("x")?);
    assert_eq!(built.report().seed, set.report().seed);
    Ok(())
}

#[test]
fn a_model_is_compiled_with_options() -> Result<(), Error> {
    let source = "agents 2\nstate x = random()\noutput x\n";
    let run = |generator| -> Result<Vec<f32>, Error> {
        let options = Options {
            generator,
            math: Math::Precise,
            ..Options::default()
        };
        let simulation = Simulation::compile_with(source, options)?;
        simulation.backend(Backend::Cpu).run()?.into_output("x")
    };
    assert_ne!(run(Generator::KeyedHash)?, run(Generator::Philox4x32)?);
    Ok(())
}

#[test]
fn an_error_of_the_compiler_says_everything_with_its_lines() {
    let source = "agents 4\nparam sigma = 0.2\nstate x = 0.0\nstep { x += sgima }\noutput y\n";
    let error = Simulation::compile(source).expect_err("two names are unknown");
    let text = error.to_string();
    let expected = "the model does not compile:\n  \
                    line 4, column 13: [E0201] unknown name `sgima` (did you mean `sigma`?)\n  \
                    line 5, column 8: ";
    assert!(text.starts_with(expected), "{text}");
    assert!(!text.ends_with('\n'), "{text}");
}

#[test]
fn messages_have_sensible_digits() {
    let error = walk().param("scale", 0.0001_f32);
    let error = error.expect_err("it is out of range");
    let expected = "param `scale` must lie in 0.001..5, but is 0.0001";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn outputs_are_given_away() -> Result<(), Error> {
    let run = walk().run()?;
    let wrong = run.clone().into_output::<i32>("x");
    let wrong = wrong.expect_err("it holds floats");
    assert_eq!(wrong.to_string(), "output `x` holds f32, not i32");
    let unknown = run.clone().into_output::<f32>("z");
    assert!(matches!(unknown, Err(Error::UnknownName { .. })));
    assert_eq!(run.clone().into_output::<f32>("peak")?, [6.0, 6.0]);
    let all: Vec<Column> = run.into_outputs();
    let names: Vec<&str> = all.iter().map(|it| it.field.name.as_str()).collect();
    assert_eq!(names, ["x", "number", "peak"]);
    assert_eq!(all[1].values, Values::I32(vec![0, 1, 2, 3]));
    let statistics_only = walk().keep_outputs(false).run()?;
    assert_eq!(statistics_only.clone().into_outputs().len(), 1);
    let lost = statistics_only.into_output::<f32>("x");
    assert!(matches!(lost, Err(Error::OutputsNotKept { .. })));
    Ok(())
}

#[test]
fn a_run_is_taken_apart() -> Result<(), Error> {
    let run = walk().run()?;
    let values = run.output::<f32>("x")?.as_ptr();
    let parts = run.into_parts();
    let x = parts.outputs[0].values.clone();
    assert_eq!(x, Values::F32(vec![6.0; 4]));
    let Values::F32(own) = &parts.outputs[0].values else {
        panic!("it holds floats");
    };
    assert_eq!(own.as_ptr(), values, "values were copied");
    assert_eq!(parts.progress, [3; 4]);
    assert_eq!(parts.states[0].values, x);
    assert_eq!(parts.world_outputs[0].field.name, "peak");
    assert_eq!(parts.series[0].name(), "total");
    assert_eq!(parts.report.agents, 4);
    assert!(parts.statistics.is_none());
    let parts = walk()
        .keep_outputs(false)
        .keep_states(false)
        .run()?
        .into_parts();
    assert!(parts.outputs.is_empty() && parts.progress.is_empty() && parts.states.is_empty());
    let statistics = parts.statistics.expect("outputs are not kept");
    assert_eq!(statistics[0][0].mean, Some(6.0));
    Ok(())
}

#[test]
fn settings_are_forgotten() -> Result<(), Error> {
    let mut simulation = walk();
    let first = simulation.run()?;
    simulation.set_agents(6);
    simulation.set_world(3);
    simulation.set_seed(9);
    simulation.set_param("scale", 1.0)?;
    simulation.set_input("start", 2.0)?;
    assert_eq!(simulation.run()?.output::<f32>("x")?, [5.0; 6]);
    simulation.forget_settings();
    simulation.set_world(2);
    let again = simulation.run()?;
    assert_eq!(again.output::<f32>("x")?, first.output::<f32>("x")?);
    assert_eq!(again.report().seed, 0);
    Ok(())
}

#[test]
fn quantiles_are_chosen() -> Result<(), Error> {
    let run = walk()
        .agents(102)
        .input("start", (0..102).collect::<Vec<i32>>())?;
    let run = run.steps(0).run()?;
    let found = run.column("x")?.quantiles(&[0.01, 0.5, 0.9, 1.0]);
    assert_eq!(found, [[1.01, 50.5, 90.9, 101.0]]);
    Ok(())
}

#[test]
fn the_manifest_needs_no_other_crate() {
    let simulation = walk();
    let manifest: &Manifest = simulation.manifest();
    let outputs: &[Field] = &manifest.outputs;
    assert_eq!(outputs[1].scalar, Scalar::I32);
    assert_eq!(manifest.series[0].of, SeriesOf::Population);
    let _: Array = Array::shaped(Scalar::F32, vec![0; 4], vec![4]);
}

/// They check what they print.
#[test]
fn the_examples_run() -> Result<(), Error> {
    data::main()?;
    run::main()?;
    sweep::main()?;
    worlds::main()
}

const DRAWN: &str = "
agents 1000
steps 5
input start ~ normal()
input given = 1.0
state x = start + given
step { x += normal() + f32(agents) }
output x
output number = agent
";

#[test]
fn agents_in_batches_are_those_of_one_run() -> Result<(), Error> {
    let given: Vec<f32> = (0..1000).map(|at| at as f32).collect();
    for backend in [Backend::Cpu, Backend::Reference] {
        let simulation = Simulation::compile(DRAWN)?
            .seed(3)
            .backend(backend)
            .input("given", given.clone())?;
        let whole = simulation.run()?;
        let mut batches = simulation.agent_batches(300)?;
        assert_eq!(
            (batches.count(), batches.agents(), batches.worlds()),
            (4, 1000, 1000)
        );
        let (mut x, mut numbers) = (Vec::<f32>::new(), Vec::<i32>::new());
        for number in 0..batches.count() {
            let run = batches.run(number, &Default::default())?;
            x.extend(run.output::<f32>("x")?.iter());
            numbers.extend(run.output::<i32>("number")?.iter());
        }
        assert_eq!(x, whole.output::<f32>("x")?);
        assert_eq!(numbers, (0..1000).collect::<Vec<i32>>());
        // A part of a larger population.
        let part = Simulation::compile(DRAWN)?
            .seed(3)
            .backend(backend)
            .first_agent(900)
            .agents(100)
            .population(1000)
            .input("given", given[900..].to_vec())?;
        let mut batches = part.agent_batches(64)?;
        let last = batches.run(1, &Default::default())?;
        assert_eq!(last.output::<f32>("x")?, &x[964..]);
    }
    let short = Simulation::compile(DRAWN)?.input("given", vec![1.0_f32; 10])?;
    assert!(matches!(
        short.agent_batches(300),
        Err(Error::WrongShape { .. })
    ));
    let walk = walk();
    assert!(matches!(walk.agent_batches(2), Err(Error::NotInBatches { name }) if name == "total"));
    Ok(())
}
