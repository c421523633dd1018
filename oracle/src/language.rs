//! The language once more: an evaluator written from `docs/` alone. It shares no line with the compiler
//! and names none of its crates, so that what both say is twice found out. It walks a tree, knows no
//! optimisation, and is slow.
//!
//! ```text
//! text ─ lex ─ parse ─► tree ─ check ─► typed ─ machine ─► columns
//! ```

mod arithmetic;
mod builtin;
mod check;
mod draw;
mod lex;
mod machine;
mod parse;
#[cfg(test)]
mod tests;
mod tree;
mod typed;
mod value;

use std::collections::HashMap;

pub use typed::Whose;

type Outcome<T> = Result<T, String>;

/// The values of a launch.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    /// Agents, where the model does not say or another number is wanted.
    pub agents: Option<u32>,
    /// Steps likewise.
    pub steps: Option<u32>,
    /// Agents of a world likewise.
    pub world: Option<u32>,
    /// The seed.
    pub seed: u64,
    /// The number of the first agent.
    pub first_agent: u32,
    /// Words of params, tables and inputs (one row an agent, or a world) by the names of columns, such as
    /// `order.price`.
    pub values: HashMap<String, Vec<u32>>,
}

impl Launch {
    fn has(&self, declared: &typed::Declared, structs: &value::Structs) -> bool {
        let mut names = value::leaves(&declared.ty, structs).into_iter();
        names.all(|leaf| {
            self.values
                .contains_key(&format!("{}{}", declared.name, leaf.suffix))
        })
    }
}

/// The values of all agents or of all worlds, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Are the words floats?
    pub float: bool,
    /// 32 bits a scalar.
    pub words: Vec<u32>,
}

/// What was sampled as a run went on.
#[derive(Clone, Debug)]
pub struct Series {
    /// Whose values there are.
    pub whose: Whose,
    /// Steps before each sample.
    pub steps: Vec<u32>,
    /// Samples; agents or worlds unless the values are of the whole population; then the dimensions of a
    /// value.
    pub shape: Vec<usize>,
    /// All values, sample by sample.
    pub column: Column,
    /// May a float be off by one in its last place? The pages say of a variance how it is rounded, and the
    /// evaluator computes it in double precision.
    pub near: bool,
    /// Why the pages leave it open, where it is of the population and they do.
    pub open: Option<&'static str>,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Results {
    /// Outputs in the model's order.
    pub outputs: Vec<Column>,
    /// Final states in the model's order.
    pub states: Vec<Column>,
    /// Outputs of worlds in the model's order.
    pub world_outputs: Vec<Column>,
    /// Final states of worlds in the model's order.
    pub world_states: Vec<Column>,
    /// What was recorded and observed, in the model's order.
    pub series: Vec<Series>,
    /// For each agent, why the pages leave its results open, if they do: those of a world do together.
    pub open: Vec<Option<&'static str>>,
    /// For each world the same; without worlds each agent is one.
    pub open_worlds: Vec<Option<&'static str>>,
}

/// A model that can be run.
#[derive(Debug)]
pub struct Model(typed::Program);

impl Model {
    /// Reads a model.
    ///
    /// # Errors
    /// What is wrong with it, as far as the evaluator notices.
    pub fn read(text: &str) -> Outcome<Model> {
        check::check(&parse::parse(text)?).map(Model)
    }

    /// Runs it.
    ///
    /// # Errors
    /// A launch value that is missing, or a model that takes too long.
    pub fn run(&self, launch: &Launch) -> Outcome<Results> {
        machine::run(&self.0, launch)
    }
}
