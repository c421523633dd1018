//! The examples against answers that this project did not make up: `lang-examples/fixtures/`.
//!
//! A fixture lists runs of one model and what each must give; `lang-examples/README.md` describes the form.
//! Every run is made on the CPU and on the GPU, if a world fits one of its workgroups.

use serde_json::Value;
use sim_compiler::manifest::{Field, Scalar};
use sim_runtime::{Array, Backend, Run, Simulation};
use sim_tests::launch::{backends, tuning};
use std::error::Error;
use std::path::PathBuf;

pub(crate) type Outcome<T = ()> = Result<T, Box<dyn Error>>;

const SEED: u64 = 7;

/// A file of the examples' folder as text.
pub(crate) fn read(path: &str) -> Outcome<String> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    std::fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}").into())
}

/// A CSV file: the names of its columns and its rows.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(path: &str) -> Outcome<Table> {
        let text = read(path)?;
        let mut lines = text.lines();
        let header = lines.next().ok_or("an empty table")?;
        let names = header.split(',').map(str::to_owned).collect();
        let rows = lines
            .map(|line| line.split(',').map(str::parse).collect())
            .collect::<Result<_, _>>()?;
        Ok(Table { names, rows })
    }

    /// The columns of one declared name, row after row: `name`, `name[…]` or `name.x`.
    fn values(&self, name: &str) -> Vec<f32> {
        let belongs = |column: &str| {
            column
                .strip_prefix(name)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        let picked: Vec<usize> = (0..self.names.len())
            .filter(|&c| belongs(&self.names[c]))
            .collect();
        let pick = |row: &Vec<f64>| picked.iter().map(|&c| row[c] as f32).collect::<Vec<_>>();
        self.rows.iter().flat_map(pick).collect()
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_f64).collect()
}

fn float(value: &Value, key: &str) -> Outcome<f64> {
    value[key]
        .as_f64()
        .ok_or_else(|| format!("`{key}` is missing: {value}").into())
}

/// Numbers as the param or input of this name holds them.
fn array(simulation: &Simulation, name: &str, values: &[f32]) -> Array {
    let manifest = simulation.manifest();
    let inputs = (manifest.inputs.iter()).chain(&manifest.world_rows().inputs);
    let mut fields = inputs
        .map(|input| &input.field)
        .chain(manifest.params.iter().map(|param| &param.field));
    let scalar = fields
        .find(|field: &&Field| field.name == name)
        .map(|field| field.scalar);
    let whole = values.iter().map(|&value| value as i32);
    match scalar {
        Some(Scalar::I32) => whole.collect::<Vec<i32>>().into(),
        _ => values.to_vec().into(),
    }
}

/// The simulation that a case asks for, on a backend.
pub(crate) fn simulation(source: &str, case: &Value, backend: Backend) -> Outcome<Simulation> {
    let mut sim = Simulation::compile(source)?
        .backend(backend)
        .tuning(tuning())
        .agents(float(case, "agents")? as u32)
        .seed(SEED);
    if let Some(steps) = case["steps"].as_u64() {
        sim = sim.steps(steps as u32);
    }
    if let Some(members) = case["world"].as_u64() {
        sim = sim.world(members as u32);
    }
    for (name, value) in case["params"].as_object().into_iter().flatten() {
        let values = match value.as_f64() {
            Some(value) => vec![value],
            None => numbers(value),
        };
        let values: Vec<f32> = values.into_iter().map(|x| x as f32).collect();
        let values = array(&sim, name, &values);
        sim = sim.param(name, values)?;
    }
    for (name, value) in case["inputs"].as_object().into_iter().flatten() {
        let values = match value.as_str() {
            Some(file) => Table::read(&format!("data/{file}"))?.values(name),
            None => numbers(value).into_iter().map(|x| x as f32).collect(),
        };
        let values = match case["repeat"].as_u64() {
            Some(times) => values.repeat(times as usize),
            None => values,
        };
        let values = array(&sim, name, &values);
        sim = sim.input(name, values)?;
    }
    for (name, value) in case["data"].as_object().into_iter().flatten() {
        let file = value.as_str().ok_or("data is no file")?;
        sim = sim.data(name, Table::read(&format!("data/{file}"))?.values(name))?;
    }
    Ok(sim)
}

/// An output of every agent or world, whatever its type.
fn output(run: &Run, name: &str) -> Outcome<Vec<f64>> {
    if let Ok(values) = run.output::<f32>(name) {
        return Ok(values.iter().map(|&x| f64::from(x)).collect());
    }
    if let Ok(values) = run.output::<bool>(name) {
        return Ok(values.iter().map(|&x| f64::from(x)).collect());
    }
    Ok(run
        .output::<i32>(name)?
        .iter()
        .map(|&x| f64::from(x))
        .collect())
}

/// Mean and unbiased variance.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, squares / (n - 1.0))
}

/// Whether a difference is larger than allowed; a NaN always is.
fn exceeds(apart: f64, allowed: f64) -> bool {
    apart.is_nan() || apart.abs() > allowed
}

/// Fails unless `got` is within this many standard errors of the exact answer.
fn within_errors(what: &str, expect: &Value, got: f64, exact: f64, error: f64) -> Outcome {
    let apart = (got - exact) / error;
    let allowed = float(expect, "standard_errors")?;
    if exceeds(apart, allowed) {
        return Err(format!(
            "{what} is {got}, not {exact}: {apart:.2} standard errors of {error:.3e}"
        )
        .into());
    }
    Ok(())
}

/// One expectation about the population.
fn check(expect: &Value, got: &[f64]) -> Outcome {
    let name = expect["output"]
        .as_str()
        .ok_or("an expectation without output")?;
    let n = got.len() as f64;
    let (mean, variance) = moments(got);
    if let Some(exact) = expect["mean"].as_f64() {
        let deviation = expect["standard_deviation"]
            .as_f64()
            .unwrap_or(variance.sqrt());
        within_errors(
            &format!("the mean of {name}"),
            expect,
            mean,
            exact,
            deviation / n.sqrt(),
        )
    } else if let Some(exact) = expect["variance"].as_f64() {
        let error = exact * (2.0 / (n - 1.0)).sqrt();
        within_errors(
            &format!("the variance of {name}"),
            expect,
            variance,
            exact,
            error,
        )
    } else if let Some(exact) = expect["fraction"].as_f64() {
        let wanted = float(expect, "equals")?;
        let share = got.iter().filter(|&&x| x == wanted).count() as f64 / n;
        let error = (exact * (1.0 - exact) / n).sqrt();
        within_errors(
            &format!("the share of {name} = {wanted}"),
            expect,
            share,
            exact,
            error,
        )
    } else {
        let values = numbers(&expect["values"]);
        if values.len() != got.len() || values.is_empty() {
            return Err(
                format!("{name}: {} results for {} answers", got.len(), values.len()).into(),
            );
        }
        (0..values.len())
            .try_for_each(|agent| check_value(expect, agent, agent, got[agent], values[agent]))
    }
}

/// One value against its answer; `scale` is one number, a list by `agent`, or the answer itself.
fn check_value(expect: &Value, agent: usize, shown: usize, got: f64, exact: f64) -> Outcome {
    let scale = match &expect["scale"] {
        Value::Array(list) => list[agent].as_f64().ok_or("a scale is no number")?,
        Value::Number(one) => one.as_f64().ok_or("a scale is no number")?,
        _ => exact.abs(),
    };
    let tolerance = match expect["exact"].as_bool() {
        Some(true) => 0.0,
        _ => float(expect, "relative")? * scale,
    };
    if exceeds(got - exact, tolerance) {
        let name = &expect["output"];
        return Err(format!(
            "{name} of agent {shown} is {got}, not {exact} within {tolerance:.2e}"
        )
        .into());
    }
    Ok(())
}

/// Every step of every agent: a run of k steps ends in row k of the trajectories.
fn check_trajectories(source: &str, case: &Value, backend: Backend) -> Outcome {
    let file = case["trajectories"].as_str().ok_or("no trajectories")?;
    let table = Table::read(&format!("fixtures/{file}"))?;
    let agents = float(case, "agents")? as usize;
    let mut paths: Vec<Vec<&Vec<f64>>> = vec![Vec::new(); agents];
    for row in &table.rows {
        paths[row[0] as usize].push(row);
    }
    let mut sim = simulation(source, case, backend)?;
    for step in 1..=float(case, "last_step")? as usize {
        sim = sim.steps(step as u32);
        let run = sim.run()?;
        for expect in case["expect"].as_array().into_iter().flatten() {
            let name = expect["output"]
                .as_str()
                .ok_or("an expectation without output")?;
            let column = table
                .names
                .iter()
                .position(|n| n == name)
                .ok_or("no such column")?;
            let got = output(&run, name)?;
            for (agent, path) in paths.iter().enumerate() {
                let row = path[step.min(path.len()) - 1];
                check_value(expect, agent, agent, got[agent], row[column])
                    .map_err(|error| format!("after {step} steps: {error}"))?;
            }
        }
    }
    Ok(())
}

/// All cases of a model's fixture on all backends; every failure is listed.
fn hold(model: &str) {
    let attempt = || -> Outcome<Vec<String>> {
        let source = read(&format!("{model}.sim"))?;
        let fixture: Value = serde_json::from_str(&read(&format!("fixtures/{model}.json"))?)?;
        let cases = fixture["cases"]
            .as_array()
            .ok_or("a fixture without cases")?;
        assert!(!cases.is_empty(), "a fixture without cases");
        let mut failures = Vec::new();
        for backend in backends() {
            for (number, case) in cases.iter().enumerate() {
                let mut note = |result: Outcome| {
                    if let Err(error) = result {
                        failures.push(format!("{backend:?}, case {number}: {error}"));
                    }
                };
                if case["trajectories"].is_string() {
                    note(check_trajectories(&source, case, backend));
                    continue;
                }
                let run = match simulation(&source, case, backend)?.run() {
                    Err(sim_runtime::Error::AdapterLimit { .. }) => continue,
                    run => run?,
                };
                for expect in case["expect"].as_array().into_iter().flatten() {
                    let name = expect["output"]
                        .as_str()
                        .ok_or("an expectation without output")?;
                    note(check(expect, &output(&run, name)?));
                }
            }
        }
        Ok(failures)
    };
    match attempt() {
        Ok(failures) => assert!(failures.is_empty(), "{model}:\n{}", failures.join("\n")),
        Err(error) => panic!("{model}: {error}"),
    }
}

macro_rules! known_answers {
    ($($model:ident)*) => {
        $(#[test] fn $model() { hold(stringify!($model)); })*
    };
}

known_answers! {
    gbm asian heston heston_smile
    lorenz lotka_volterra pendulum
    ornstein_uhlenbeck sir pi
    sphere rastrigin ackley griewank schwefel
    cartpole mountain_car acrobot
    conv2d
    nbody boids kuramoto spring_net
    sir_worlds voter ising wealth market epidemic_graph genetic
    digits_cnn attention
    longstaff_schwartz
}

/// The integer hash of the portfolio's table and weights; the formulas are in the model's header.
fn hash32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// Uniform in [0, 1).
fn unit(key: u32, i: usize) -> f32 {
    (hash32((i as u32).wrapping_add(key)) >> 8) as f32 / 16_777_216.0
}

/// Uniform in [-scale, scale).
fn symmetric(key: u32, i: usize, scale: f32) -> f32 {
    (2.0 * unit(key, i) - 1.0) * scale
}

const ROWS: usize = 1_500;
const WEIGHTS: usize = 246;

/// 36 columns a row: signals, an empty one, the assets' scores, the assets' returns.
fn signals() -> Vec<f32> {
    let cell = |i: usize| match i % 36 {
        0..3 => symmetric(0x3333_0000, i, 0.5),
        3 => 0.0,
        4..20 => 0.6 * unit(0x3333_0000, i) - 0.1,
        _ => symmetric(0x3333_0000, i, 0.017) + 0.0003,
    };
    (0..36 * ROWS).map(cell).collect()
}

/// The values `from..to` of the 246 weights of every agent.
fn weights(agents: usize, from: usize, to: usize) -> Vec<f32> {
    let of_agent = |a: usize| (from..to).map(move |k| symmetric(0x1111_0000, WEIGHTS * a + k, 1.5));
    (0..agents).flat_map(of_agent).collect()
}

/// The portfolio of a case, on a backend, with its tables and weights.
pub(crate) fn portfolio_simulation(case: &Value, backend: Backend) -> Outcome<Simulation> {
    let agents = float(case, "agents")? as usize;
    let apex: Vec<i32> = (0..ROWS as u32)
        .map(|h| (hash32(h + 0x4444_0000) & 15) as i32)
        .collect();
    Ok(simulation(&read("portfolio.sim")?, case, backend)?
        .data("signals", signals())?
        .data("apex", &apex)?
        .input("w1", weights(agents, 0, 128))?
        .input("b1", weights(agents, 128, 144))?
        .input("w2", weights(agents, 144, 240))?
        .input("b2", weights(agents, 240, 246))?)
}

#[test]
fn portfolio() {
    let attempt = |backend: Backend, case: &Value| -> Outcome {
        let run = portfolio_simulation(case, backend)?.run()?;
        let score = output(&run, "score")?;
        let (got, exact) = (moments(&score).0, float(case, "mean_score")?);
        if exceeds(got / exact - 1.0, float(case, "mean_relative")?) {
            return Err(format!("the mean score is {got}, not {exact}").into());
        }
        for name in ["score", "worst_drawdown"] {
            let (got, exact) = (output(&run, name)?, numbers(&case[name]));
            assert_eq!(got.len(), exact.len(), "{name}");
            let relative = float(case, "agent_relative")?;
            let close = |(g, e): &(&f64, &f64)| (**g - **e).abs() <= relative * e.abs();
            let share = got.iter().zip(&exact).filter(close).count() as f64 / got.len() as f64;
            if share < float(case, "agents_within")? {
                return Err(
                    format!("{name}: only {share} of the agents are within {relative}").into(),
                );
            }
        }
        Ok(())
    };
    let text = read("fixtures/portfolio.json").expect("the fixture can be read");
    let fixture: Value = serde_json::from_str(&text).expect("the fixture is JSON");
    for backend in backends() {
        for case in fixture["cases"].as_array().into_iter().flatten() {
            if let Err(error) = attempt(backend, case) {
                panic!("{backend:?}, {} steps: {error}", case["steps"]);
            }
        }
    }
}
