//! Runs that a search wants the fitness of.

use crate::{
    array::{Array, Number},
    control::Control,
    error::Error,
    run::Run,
    simulation::Simulation,
    values::{Column, Element},
    variation::Variation,
};
use sim_compiler::manifest::Scalar;

/// Runs that are prepared at a time.
const RUNS: usize = 1024;

/// Runs that a search wants the fitness of: [`Searching::ask`](super::Searching::ask) gives them.
#[derive(Clone, Debug)]
pub struct Trials {
    /// The generation that they are of; none for runs that compare the best at the end of a search.
    pub generation: Option<u32>,
    /// Agents of each run.
    pub agents: u32,
    /// The seed of each run.
    pub seeds: Vec<u64>,
    /// Whether each run has a genome of its own, which all its agents have; so it is with common draws.
    /// Otherwise each agent has a genome, and all runs the same.
    pub apart: bool,
    /// The inputs that are searched: a row per agent, or per run if those have genomes of their own.
    pub inputs: Vec<Column>,
}

impl Trials {
    /// The values of fitness that these runs give: one per run and agent.
    pub fn values(&self) -> usize {
        self.seeds.len() * self.agents as usize
    }

    /// Runs them. `each` gets the runs in their order.
    ///
    /// The simulation has the model and the launch of the search, with as many agents as `self.agents`, and
    /// any values for the inputs that are searched. A part of the agents of all runs, with a part of the
    /// rows of `inputs` and of the agents of the simulation, has the fitness that it has among all.
    ///
    /// # Errors
    /// Those of a run.
    pub fn run(
        &self,
        simulation: &Simulation,
        control: &Control<'_>,
        mut each: impl FnMut(Run),
    ) -> Result<(), Error> {
        let shared = (!self.apart).then(|| self.arrays(0, self.agents, 1));
        for first in (0..self.seeds.len()).step_by(RUNS) {
            let last = (first + RUNS).min(self.seeds.len());
            let variations: Vec<Variation> = (first..last)
                .map(|run| {
                    let own = || self.arrays(run, 1, self.agents);
                    let inputs = shared.clone().unwrap_or_else(own);
                    let start = Variation::new().seed(self.seeds[run]);
                    let give = |it: Variation, (name, array): (&str, Array)| it.input(name, array);
                    inputs.into_iter().fold(start, give)
                })
                .collect();
            simulation.run_each(&variations, control, |_, run| each(run))?;
        }
        Ok(())
    }

    /// Some rows of the inputs, so many times.
    fn arrays(&self, first: usize, rows: u32, times: u32) -> Vec<(&str, Array)> {
        let array = |column| (name(column), rows_of(column, first, rows, times));
        self.inputs.iter().map(array).collect()
    }
}

fn name(column: &Column) -> &str {
    &column.field.name
}

/// Some rows of a column, so many times. Rows that it lacks are refused by the run that gets the array.
fn rows_of(column: &Column, first: usize, rows: u32, times: u32) -> Array {
    match column.field.scalar {
        Scalar::F64 => array_of::<f64>(column, first, rows, times),
        _ => array_of::<f32>(column, first, rows, times),
    }
}

fn array_of<T: Element + Number>(column: &Column, first: usize, rows: u32, times: u32) -> Array {
    let inner = &column.shape[1..];
    let width: usize = inner.iter().product();
    let values = T::slice(&column.values).unwrap_or_default();
    let own = values.get(first * width..(first + rows as usize) * width);
    let words = T::words(own.unwrap_or_default());
    let mut shape = vec![rows * times];
    shape.extend(inner.iter().map(|&length| length as u32));
    let scalar = <T as Number>::SCALAR;
    match times {
        1 => Array::shaped(scalar, words, shape),
        _ => Array::shaped(scalar, words.repeat(times as usize), shape),
    }
}
