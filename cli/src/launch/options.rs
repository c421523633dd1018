//! The options that decide what a launch is, which all commands that run a model share.

use super::{Assignment, data, file, inputs, params};
use crate::{failure::Failure, number, table::reading::Reading};
use sim_runtime::Simulation;
use std::path::PathBuf;

/// The values of a launch, but for its steps.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct LaunchOptions {
    /// Number of agents, such as 1_000 or 1e6, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    pub(crate) agents: Option<u32>,
    /// Number of agents in a world, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    pub(crate) world: Option<u32>,
    /// Seed of all random draws [default: 0].
    #[arg(long, value_name = "N", value_parser = number::seed, allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Value of a param; the values of an array or vector row by row, with commas.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Assignment::parse)]
    pub(crate) param: Vec<Assignment>,
    /// JSON file with values of params by their names, such as `simc fit -o FILE` writes; those of --param
    /// count more.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    pub(crate) params: Option<PathBuf>,
    /// File of a data table: .csv, .parquet, .arrow, .npy or .npz, with its columns after a colon if they are
    /// not found by name; `-` is CSV from standard input.
    #[arg(long, value_name = "NAME=FILE[:COLUMNS]", value_parser = Assignment::parse)]
    pub(crate) data: Vec<Assignment>,
    /// One value of an input for all agents or all worlds, or a file with a row for each, as for --data.
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = Assignment::parse)]
    pub(crate) input: Vec<Assignment>,
    /// Number of the first agent, to run a part of a larger population [default: 0].
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    pub(crate) first_agent: Option<u32>,
    /// Agents of the whole population, which the model calls `agents`, when only a part is run.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    pub(crate) population: Option<u32>,
    #[command(flatten)]
    reading: Reading,
}

impl LaunchOptions {
    /// The values of params: those of the command line, and those of the file that it does not name.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub(crate) fn assignments(&self) -> Result<Vec<Assignment>, Failure> {
        let mut all = self.param.clone();
        if let Some(path) = &self.params {
            let given = file::read(path)?;
            all.extend(given.into_iter().filter(|Assignment { name, .. }| {
                self.param.iter().all(|param| param.name != *name)
            }));
        }
        Ok(all)
    }

    /// Gives a simulation these values. `known` are the numbers of agents, and of agents in a world, where no
    /// option says them; otherwise they are the model's.
    ///
    /// # Errors
    /// A value that is wrong, or a file that cannot be read.
    pub(crate) fn give(
        &self,
        simulation: &mut Simulation,
        known: (Option<u32>, Option<u32>),
    ) -> Result<(), Failure> {
        if let Some(seed) = self.seed {
            simulation.set_seed(seed);
        }
        if let Some(first) = self.first_agent {
            simulation.set_first_agent(first);
        }
        if let Some(agents) = self.agents {
            simulation.set_agents(agents);
        }
        if let Some(members) = self.world {
            simulation.set_world(members);
        }
        if let Some(population) = self.population {
            simulation.set_population(population);
        }
        let manifest = simulation.manifest();
        let agents = self.agents.or(known.0).or(manifest.agents);
        let world = manifest.world.as_ref();
        let members = world.and_then(|world| self.world.or(known.1).or(world.members));
        params(simulation, &self.assignments()?)?;
        data(simulation, &self.data, &self.reading)?;
        inputs(simulation, &self.input, &self.reading, (agents, members))
    }
}
