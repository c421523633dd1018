//! Random models with worlds give the same bits however they are run on the CPU: as a whole, in two parts of
//! the population, and step by step in a session.
//!
//! `SIM_MODELS` says how many (default 30), `SIM_FIRST_MODEL` the first seed.

use super::{files, random_models::number};
use sim_compiler::manifest::SeriesOf;
use sim_runtime::{Backend, Column, Control, Run, Simulation, Values};
use sim_tests::{generate, launch};

#[test]
fn parts_and_sessions_give_what_a_run_gives() {
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 30);
    let (mut complaints, mut cut, mut stepped) = (Vec::new(), 0, 0);
    for seed in first..first + count {
        let source = generate::world_model(seed);
        let whole = run(&source, |it| it);
        let found = || -> Result<(), String> {
            let whole = whole?;
            cut += u64::from(compare_with_parts(&source, &whole)?);
            stepped += u64::from(compare_with_session(&source, &whole)?);
            Ok(())
        };
        if let Err(complaint) = found() {
            complaints.push(format!("seed {seed}: {complaint}\n{source}"));
        }
    }
    println!("{count} random models from seed {first}, {cut} in two parts, {stepped} by steps");
    complaints.truncate(3);
    files::report("parts and sessions differ", complaints);
    assert!(2 * cut > count && 2 * stepped > count);
}

fn simulation(source: &str) -> Result<Simulation, String> {
    Ok(launch::simulation(source, Backend::Cpu, true)?.seed(11))
}

fn run(source: &str, with: impl FnOnce(Simulation) -> Simulation) -> Result<Run, String> {
    let simulation = with(simulation(source)?);
    simulation.run().map_err(|error| error.to_string())
}

/// The number that the model gives a word for: `agents`, `world`, `steps`.
fn given(source: &str, word: &str) -> u32 {
    let number = (source.lines()).find_map(|line| line.strip_prefix(word)?.trim().parse().ok());
    number.expect("each model has a line for it")
}

/// Compares with two runs of some worlds each. False if there is one world only.
fn compare_with_parts(source: &str, whole: &Run) -> Result<bool, String> {
    let (agents, members) = (given(source, "agents"), given(source, "world"));
    let worlds = agents / members;
    if worlds < 2 {
        return Ok(false);
    }
    let first = worlds / 2 * members;
    let of = |from: u32, count: u32| {
        run(source, |it| {
            it.agents(count).first_agent(from).population(agents)
        })
    };
    let parts = [of(0, first)?, of(first, agents - first)?];
    let columns = |run: &Run| -> Vec<Column> {
        let world = run.world_outputs().iter().chain(run.world_states());
        let agent = run.outputs().iter().chain(run.states());
        agent.chain(world).cloned().collect()
    };
    let [begin, end] = [&parts[0], &parts[1]].map(columns);
    for (expected, (begin, end)) in columns(whole).iter().zip(begin.iter().zip(&end)) {
        let mut values = begin.values.clone();
        values.append(&end.values);
        same(&values, &expected.values)
            .map_err(|text| format!("{} in parts: {text}", expected.field.name))?;
    }
    for (number, series) in whole.series().iter().enumerate() {
        if series.of == SeriesOf::Population {
            continue;
        }
        let [begin, end] = [&parts[0], &parts[1]].map(|run| &run.series()[number]);
        for sample in 0..series.steps.len() {
            let row = |of: &sim_runtime::Series| {
                let width = of.width();
                of.column.values.part(sample * width..(sample + 1) * width)
            };
            let mut values = row(begin);
            values.append(&row(end));
            same(&values, &row(series))
                .map_err(|text| format!("{} in parts: {text}", series.name()))?;
        }
    }
    Ok(true)
}

/// Compares with a session of one step, and of all others. False if there are no steps.
fn compare_with_session(source: &str, whole: &Run) -> Result<bool, String> {
    let steps = given(source, "steps");
    if steps == 0 {
        return Ok(false);
    }
    let text = |error: sim_runtime::Error| error.to_string();
    let mut session = simulation(source)?.session().map_err(text)?;
    for count in [1, steps - 1] {
        session.step(count, &Control::default()).map_err(text)?;
    }
    for expected in whole.outputs().iter().chain(whole.world_outputs()) {
        let name = &expected.field.name;
        let found = session.output(name).map_err(text)?;
        same(&found.values, &expected.values).map_err(|text| format!("{name} by steps: {text}"))?;
    }
    Ok(true)
}

/// Have they the same bits? Any NaN is like another.
fn same(found: &Values, expected: &Values) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} values, not {}", found.len(), expected.len()));
    }
    for at in 0..found.len() {
        let both_nan = found.number(at).is_nan() && expected.number(at).is_nan();
        if found.bits(at) != expected.bits(at) && !both_nan {
            let [found, expected] = [found, expected].map(|of| of.number(at));
            return Err(format!("value {at} is {found}, and {expected} in the run"));
        }
    }
    Ok(())
}
