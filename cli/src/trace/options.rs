//! The values of a launch, for commands that run agents to be looked at.

use crate::{
    failure::Failure,
    launch::{self, Assignment},
    number,
    table::reading::Reading,
};
use sim_runtime::Simulation;

/// Arguments that decide what a launch is.
#[derive(clap::Args)]
#[command(next_help_heading = "The launch")]
pub(crate) struct LaunchOptions {
    /// Number of agents, such as 1_000 or 1e6, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    agents: Option<u32>,
    /// Number of agents in a world, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    world: Option<u32>,
    /// Seed of all random draws.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::seed,
        allow_negative_numbers = true,
        default_value = "0"
    )]
    seed: u64,
    /// Value of a param; the values of an array or vector row by row, with commas.
    #[arg(long, value_name = "NAME=VALUE", value_parser = Assignment::parse)]
    param: Vec<Assignment>,
    /// File of a data table: .csv, .parquet, .arrow, .npy or .npz, with its columns after a colon if they are
    /// not found by name; `-` is CSV from standard input.
    #[arg(long, value_name = "NAME=FILE[:COLUMNS]", value_parser = Assignment::parse)]
    data: Vec<Assignment>,
    /// One value of an input for all agents or all worlds, or a file with a row for each, as for --data.
    #[arg(long, value_name = "NAME=VALUE|FILE", value_parser = Assignment::parse)]
    input: Vec<Assignment>,
    #[command(flatten)]
    reading: Reading,
    /// Number of the first agent, where only a part of a larger population is run.
    #[arg(
        long,
        value_name = "N",
        value_parser = number::count,
        allow_negative_numbers = true,
        default_value = "0"
    )]
    first_agent: u32,
    /// Agents of the whole population, which the model calls `agents`, when only a part is run.
    #[arg(long, value_name = "N", value_parser = number::count, allow_negative_numbers = true)]
    population: Option<u32>,
}

impl LaunchOptions {
    /// The simulation with these values; `agent` is one that it must have. A model that says nothing of its
    /// number of agents has as many as that needs.
    pub(crate) fn of(
        &self,
        mut simulation: Simulation,
        agent: u32,
        steps: Option<u32>,
    ) -> Result<Simulation, Failure> {
        let manifest = simulation.manifest();
        let members = self
            .world
            .or(manifest.world.as_ref().and_then(|world| world.members));
        let each = members.unwrap_or(1).max(1);
        let enough = (agent / each).saturating_add(1).saturating_mul(each);
        let agents = self.agents.or(manifest.agents).unwrap_or(enough);
        simulation.set_seed(self.seed);
        simulation.set_first_agent(self.first_agent);
        simulation.set_agents(agents);
        if let Some(steps) = steps {
            simulation.set_steps(steps);
        }
        if let Some(members) = self.world {
            simulation.set_world(members);
        }
        if let Some(population) = self.population {
            simulation.set_population(population);
        }
        launch::params(&mut simulation, &self.param)?;
        let counts = (Some(agents), members);
        launch::data(&mut simulation, &self.data, &self.reading)?;
        launch::inputs(&mut simulation, &self.input, &self.reading, counts)?;
        Ok(simulation)
    }
}
