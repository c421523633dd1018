//! The head of a specimen under `tests/run/`: how to launch it, and what must come out.
//!
//! ```text
//! // run agents=4 steps=3 seed=1 param.sigma=0.3
//! // data signals = 1 2 3 / 4 5 6
//! // input w = 1 2 / 3 4
//! // expect price = 1 2.5 3 4
//! // state pos = 0 0
//! // series price = 1 1 1 1 / 2 2 3 4
//! // steps price = 0 2
//! // within 1e-6
//! ```
//!
//! Any other word is an error: a comment of the model's own is documentation, `//!` or `///`. `within` is a
//! part of the largest number that is expected of an output. Values of worlds stand like those of agents, and
//! `run world=2` gives their size. `series` is what was recorded or observed, a sample after another; `steps`
//! are those before each sample.

use sim_compiler::manifest::{Field, Scalar};
use sim_runtime::{Array, Column, Run, Simulation};

/// What the head says.
#[derive(Debug, Default)]
pub struct Head {
    launch: Vec<(String, String)>,
    data: Vec<(String, Vec<Vec<f64>>)>,
    inputs: Vec<(String, Vec<f64>)>,
    expected: Vec<(Kind, String, Vec<f64>)>,
    within: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Output,
    State,
    Series,
    Steps,
}

impl Head {
    /// Reads the comment lines at the top of a specimen.
    ///
    /// # Errors
    /// The line that is none of the forms above.
    pub fn read(source: &str) -> Result<Head, String> {
        let mut head = Head::default();
        for line in source.lines().take_while(|line| line.starts_with("//")) {
            let text = &line["//".len()..];
            if text.starts_with(['!', '/']) {
                continue;
            }
            let text = text.trim();
            // A warning that the specimen means to give.
            if text.starts_with("allow(") {
                continue;
            }
            let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
            let named = || {
                rest.split_once('=')
                    .map(|(name, values)| (name.trim().to_string(), values.trim()))
            };
            match word {
                "run" => {
                    for pair in rest.split_whitespace() {
                        let (key, value) =
                            pair.split_once('=').ok_or(format!("no `=` in `{pair}`"))?;
                        head.launch.push((key.to_string(), value.to_string()));
                    }
                }
                "within" => {
                    head.within = rest
                        .parse()
                        .map_err(|_| format!("no tolerance: `{rest}`"))?
                }
                "data" => {
                    let (name, values) = named().ok_or(line)?;
                    let rows = values.split('/').map(numbers).collect::<Result<_, _>>()?;
                    head.data.push((name, rows));
                }
                "input" => {
                    let (name, values) = named().ok_or(line)?;
                    head.inputs
                        .push((name, numbers(&values.replace('/', " "))?));
                }
                "expect" | "state" | "series" | "steps" => {
                    let (name, values) = named().ok_or(format!("no `=` in `{line}`"))?;
                    let kind = match word {
                        "expect" => Kind::Output,
                        "state" => Kind::State,
                        "series" => Kind::Series,
                        _ => Kind::Steps,
                    };
                    let values = numbers(&values.replace('/', " "))?;
                    head.expected.push((kind, name, values));
                }
                other => return Err(format!("`{other}` is no word of a head")),
            }
        }
        if head.expected.is_empty() {
            return Err("the head expects nothing".to_string());
        }
        Ok(head)
    }

    /// Sets the launch values.
    ///
    /// # Errors
    /// What the runtime refuses.
    pub fn launch(&self, mut simulation: Simulation) -> Result<Simulation, String> {
        let text = |error: sim_runtime::Error| error.to_string();
        for (key, value) in &self.launch {
            let count = || {
                value
                    .parse::<u64>()
                    .map_err(|_| format!("`{key}={value}` is no count"))
            };
            simulation = match key.as_str() {
                "agents" => simulation.agents(count()? as u32),
                "steps" => simulation.steps(count()? as u32),
                "seed" => simulation.seed(count()?),
                "world" => simulation.world(count()? as u32),
                "first_agent" => simulation.first_agent(count()? as u32),
                _ => {
                    let name = key
                        .strip_prefix("param.")
                        .ok_or(format!("unknown key `{key}`"))?;
                    let field = find(
                        simulation
                            .manifest()
                            .params
                            .iter()
                            .map(|param| &param.field),
                        name,
                    )?;
                    let values = numbers(&value.replace(',', " "))?;
                    let array = array(field.scalar, &values);
                    simulation.param(name, array).map_err(text)?
                }
            };
        }
        for (name, rows) in &self.data {
            let field = find(
                simulation.manifest().data.iter().map(|data| &data.field),
                name,
            )?;
            let array = array(field.scalar, &rows.concat());
            simulation = simulation.data(name, array).map_err(text)?;
        }
        for (name, values) in &self.inputs {
            let manifest = simulation.manifest();
            let inputs = manifest.inputs.iter().chain(&manifest.world_rows().inputs);
            let field = find(inputs.map(|input| &input.field), name)?;
            let array = array(field.scalar, values);
            simulation = simulation.input(name, array).map_err(text)?;
        }
        Ok(simulation)
    }

    /// Holds a run against the expectations; says what differs.
    ///
    /// # Errors
    /// The first difference.
    pub fn compare(&self, run: &Run) -> Result<(), String> {
        for (kind, name, expected) in &self.expected {
            let of_series = run.series().iter().find(|series| series.name() == name);
            let named = |columns: [&'_ [Column]; 2]| {
                let mut all = columns.into_iter().flatten();
                all.rfind(|column| column.field.name == *name).cloned()
            };
            let column = match kind {
                Kind::Output => named([run.outputs(), run.world_outputs()]),
                Kind::State => named([run.states(), run.world_states()]),
                Kind::Series | Kind::Steps => of_series.map(|series| series.column.clone()),
            };
            let column = column.ok_or(format!("no `{name}` in the run"))?;
            let got = match (kind, of_series) {
                (Kind::Steps, Some(series)) => {
                    series.steps.iter().copied().map(f64::from).collect()
                }
                _ => floats(&column.values.words(), column.field.scalar),
            };
            if got.len() != expected.len() {
                return Err(format!(
                    "`{name}` has {} values, expected {}",
                    got.len(),
                    expected.len()
                ));
            }
            let finite = expected.iter().filter(|value| value.is_finite());
            let scale = finite.fold(0.0_f64, |most, value| most.max(value.abs()));
            for (k, (got, expected)) in got.iter().zip(expected).enumerate() {
                let wanted = if column.field.scalar == Scalar::F32 {
                    f64::from(*expected as f32)
                } else {
                    *expected
                };
                let same = *got == wanted || (got.is_nan() && wanted.is_nan());
                let near = (got - wanted).abs() <= self.within * scale;
                if !same && !near {
                    return Err(format!(
                        "`{name}` value {k} is {got}, expected {wanted} within {}",
                        self.within
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The words of a column as numbers.
pub fn floats(words: &[u32], scalar: Scalar) -> Vec<f64> {
    words
        .iter()
        .map(|&word| match scalar {
            Scalar::F32 => f64::from(f32::from_bits(word)),
            Scalar::I32 => f64::from(word as i32),
            Scalar::U32 | Scalar::Bool => f64::from(word),
            Scalar::F64 => unreachable!("specimens run in `f32`"),
        })
        .collect()
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split_whitespace()
        .map(|word| match word {
            "true" => Ok(1.0),
            "false" => Ok(0.0),
            _ => word
                .parse::<f64>()
                .map_err(|_| format!("`{word}` is no number")),
        })
        .collect()
}

fn find<'a>(mut fields: impl Iterator<Item = &'a Field>, name: &str) -> Result<&'a Field, String> {
    fields
        .find(|field| field.name == name)
        .ok_or(format!("the model has no `{name}`"))
}

fn array(scalar: Scalar, values: &[f64]) -> Array {
    match scalar {
        Scalar::F32 => Array::from(values.iter().map(|&x| x as f32).collect::<Vec<_>>()),
        Scalar::I32 => Array::from(values.iter().map(|&x| x as i32).collect::<Vec<_>>()),
        Scalar::U32 => Array::from(values.iter().map(|&x| x as u32).collect::<Vec<_>>()),
        Scalar::F64 => Array::from(values.to_vec()),
        Scalar::Bool => Array::from(values.iter().map(|&x| x != 0.0).collect::<Vec<_>>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_nothing_but_what_is_known() {
        let refused = |line: &str| {
            let source =
                format!("// run agents=1 steps=1\n{line}\n// expect x = 1\noutput x = 1.0\n");
            Head::read(&source).err()
        };
        assert_eq!(refused("// expect y = 2"), None);
        assert_eq!(refused("//! expects nothing of y"), None);
        for wrong in [
            "// expects y = 2",
            "// a comment",
            "// expect y 2",
            "// expect y = two",
            "// within a hair",
            "// run agents",
        ] {
            assert!(refused(wrong).is_some(), "{wrong}");
        }
        let none = Head::read("// run agents=1\noutput x = 1.0\n");
        assert!(none.is_err(), "a head that expects nothing");
    }
}
