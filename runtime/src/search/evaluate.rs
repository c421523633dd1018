//! The fitness of a population.

use super::{Aim, Search, draws::Draws, genome::Layout, trials::Trials};
use crate::{
    control::Control,
    error::{Error, Role},
    field::unknown,
    run::Device,
    simulation::Simulation,
    values::Column,
};
use sim_compiler::manifest::{Field, Manifest, Scalar, describe};
use std::sync::OnceLock;

/// Most values of fitness that are asked for at a time, beyond those of one run.
const MOST_VALUES: usize = 1 << 24;
/// The numbers of seeds for the comparison of the best begin here, beyond those of generations.
const LAST: u32 = u32::MAX;

/// What gives a population its scores.
pub(super) struct Evaluator {
    simulation: Simulation,
    layout: Layout,
    draws: Draws,
    fitness: Field,
    aim: Aim,
    /// Runs of a generation; with common draws, agents of the run of each candidate.
    runs: u32,
    common: bool,
    fixed: bool,
    agents: u32,
    /// What ran the first run.
    device: OnceLock<Device>,
}

impl Evaluator {
    /// Checks the output.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::NotAFitness`], [`Error::SearchSetting`]
    pub(super) fn new(
        simulation: &Simulation,
        search: &Search,
        layout: &Layout,
        draws: Draws,
        agents: u32,
    ) -> Result<Evaluator, Error> {
        let manifest = simulation.manifest();
        let fitness = check_fitness(manifest, &search.fitness)?.clone();
        if search.common_draws && manifest.world.is_some() {
            return Err(Error::SearchSetting {
                message:
                    "candidates of a model with worlds cannot have the same draws: each would \
                    need a run of its own"
                        .to_owned(),
                help: "leave common draws out, and average several evaluations".to_owned(),
            });
        }
        let runs = search.evaluations.max(1);
        let mut own = simulation.with_outputs();
        if search.common_draws {
            own.set_agents(runs);
        }
        for part in &layout.parts {
            // A launch wants a value for each input, also where every run replaces it.
            let agents = own.agent_count()?;
            own.set_input(&part.field.name, part.zeros(agents))?;
        }
        Ok(Evaluator {
            simulation: own,
            layout: layout.clone(),
            draws,
            fitness,
            aim: search.aim,
            runs,
            common: search.common_draws,
            fixed: search.fixed_draws,
            agents,
            device: OnceLock::new(),
        })
    }

    /// What runs the model, once anything has.
    pub(super) fn device(&self) -> Option<&Device> {
        self.device.get()
    }

    /// The output that is the fitness.
    pub(super) fn output(&self) -> &Field {
        &self.fitness
    }

    /// What runs the candidates.
    pub(super) fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Whether a small fitness is good.
    pub(super) fn minimises(&self) -> bool {
        self.aim == Aim::Minimise
    }

    /// The seeds of the runs of a generation that all candidates have together.
    pub(super) fn seeds(&self, generation: u32) -> Vec<u64> {
        (0..self.runs)
            .map(|run| self.seed(generation, run))
            .collect()
    }

    /// The fitness of a score; not finite for none.
    pub(super) fn fitness_of(&self, score: f64) -> f64 {
        match self.aim {
            Aim::Maximise => score,
            Aim::Minimise => -score,
        }
    }

    /// The number of agents that a generation computes.
    pub(super) fn cost(&self) -> u64 {
        u64::from(self.agents) * u64::from(self.runs)
    }

    /// Whether each candidate has runs of its own.
    pub(super) fn is_apart(&self) -> bool {
        self.common
    }

    /// The runs of a generation that are asked for next, after `done` ones.
    pub(super) fn trials(&self, generation: u32, genomes: &[f64], done: usize) -> Trials {
        let runs = done..done + self.next(done);
        let genes = self.layout.genes;
        match self.common {
            true => {
                let own = &genomes[runs.start * genes..runs.end * genes];
                self.of(
                    Some(generation),
                    own,
                    vec![self.seed(generation, 0); runs.len()],
                )
            }
            false => {
                let seeds = self.seeds(generation)[runs].to_vec();
                self.of(Some(generation), genomes, seeds)
            }
        }
    }

    /// A round of the comparison of a few candidates.
    pub(super) fn comparison(&self, round: u32, genomes: &[f64], count: usize) -> Trials {
        let seed = self.seed(LAST, round);
        if self.common {
            return self.of(None, genomes, vec![seed; count]);
        }
        let genes = self.layout.genes;
        let mut all = Vec::with_capacity(self.agents as usize * genes);
        for agent in 0..self.agents as usize {
            let k = self.candidate(agent, count);
            all.extend_from_slice(&genomes[k * genes..(k + 1) * genes]);
        }
        self.of(None, &all, vec![seed])
    }

    /// The most rounds of that: with fewer than about 30 values the standard error is itself a guess.
    pub(super) fn rounds(&self, count: usize) -> u32 {
        match self.common {
            true => 32_u32.div_ceil(self.runs),
            false => (32 * count).div_ceil(self.agents as usize).max(2) as u32,
        }
    }

    /// The values of fitness that a round gives.
    pub(super) fn values_of_round(&self, count: usize) -> usize {
        match self.common {
            true => count * self.runs as usize,
            false => self.agents as usize,
        }
    }

    fn of(&self, generation: Option<u32>, genomes: &[f64], seeds: Vec<u64>) -> Trials {
        Trials {
            generation,
            agents: self.agents_of_run(),
            seeds,
            apart: self.common,
            inputs: self.layout.columns(genomes),
        }
    }

    fn agents_of_run(&self) -> u32 {
        match self.common {
            true => self.runs,
            false => self.agents,
        }
    }

    fn runs_of_generation(&self) -> usize {
        match self.common {
            true => self.agents as usize,
            false => self.runs as usize,
        }
    }

    /// How many runs of a generation are asked for after `done` ones: none after the last.
    fn next(&self, done: usize) -> usize {
        let most = MOST_VALUES / self.agents_of_run() as usize;
        (self.runs_of_generation() - done).min(most.max(1))
    }

    /// Which of `count` candidates has a value, counted from the first of a run.
    pub(super) fn candidate(&self, value: usize, count: usize) -> usize {
        match self.common {
            true => value / self.runs as usize,
            false => value % count,
        }
    }

    /// Adds the fitness of the next runs of a generation to the sums of its candidates. Gives the number of
    /// runs that are done then; none if they were the last.
    ///
    /// # Errors
    /// [`Error::SearchSetting`]
    pub(super) fn add(
        &self,
        values: &[impl Copy + Into<f64>],
        done: usize,
        sums: &mut [f64],
    ) -> Result<Option<usize>, Error> {
        let runs = self.next(done);
        check_count(values, runs * self.agents_of_run() as usize)?;
        let first = if self.common { done } else { 0 };
        for (at, value) in values.iter().enumerate() {
            let sum = &mut sums[first + self.candidate(at, self.agents as usize)];
            // In the floats of the model, as a device adds them.
            *sum = match (self.fitness.scalar, (*value).into()) {
                (Scalar::F64, value) => *sum + value,
                (_, value) => f64::from(*sum as f32 + value as f32),
            };
        }
        let done = done + runs;
        Ok((done < self.runs_of_generation()).then_some(done))
    }

    /// The score of each candidate, from the sum of its fitness: the mean, larger is better; negative
    /// infinity if that is no finite number.
    pub(super) fn scores(&self, sums: &[f64]) -> Vec<f64> {
        let score = |sum: &f64| self.score(sum / f64::from(self.runs));
        sums.iter().map(score).collect()
    }

    fn score(&self, fitness: f64) -> f64 {
        match (fitness.is_finite(), self.aim) {
            (false, _) => f64::NEG_INFINITY,
            (true, Aim::Maximise) => fitness,
            (true, Aim::Minimise) => -fitness,
        }
    }

    /// The seed of a run.
    fn seed(&self, generation: u32, number: u32) -> u64 {
        match self.fixed && generation != LAST {
            true => {
                let own = self.simulation.current_seed();
                own.wrapping_add(number.into())
            }
            false => self.draws.run_seed(generation, number),
        }
    }

    /// The fitness of each agent of each run, here.
    ///
    /// # Errors
    /// Those of a run.
    pub(super) fn values(&self, trials: &Trials, control: &Control<'_>) -> Result<Vec<f64>, Error> {
        let mut values = Vec::with_capacity(trials.values());
        let mut failed = None;
        trials.run(&self.simulation, control, |run| {
            self.device.get_or_init(|| run.report().backend.clone());
            let own = run.column(&self.fitness.name);
            match own.and_then(Column::floats) {
                Ok(own) => values.extend(own),
                Err(error) => failed = Some(error),
            }
        })?;
        failed.map_or(Ok(values), Err)
    }
}

/// Checks the number of values that a search is told.
///
/// # Errors
/// [`Error::SearchSetting`]
pub(super) fn check_count<T>(values: &[T], asked: usize) -> Result<(), Error> {
    match values.len() == asked {
        true => Ok(()),
        false => Err(Error::SearchSetting {
            message: format!(
                "a search is told {} values of fitness, and has asked for {asked}",
                values.len()
            ),
            help: "tell it one of each agent of each run that it asks for, run by run".to_owned(),
        }),
    }
}

fn check_fitness<'a>(manifest: &'a Manifest, name: &str) -> Result<&'a Field, Error> {
    let of_worlds = &manifest.world_rows().outputs;
    let all = manifest.outputs.iter();
    let Some(field) = all.clone().find(|field| field.name == name) else {
        if of_worlds.iter().any(|field| field.name == name) {
            return Err(Error::NotAFitness {
                name: name.to_owned(),
                found: "an output of worlds".to_owned(),
            });
        }
        return Err(unknown(
            Role::Output,
            name,
            all.map(|field| field.name.as_str()),
        ));
    };
    let dims = field.dims();
    match field.scalar.is_float() && dims.is_empty() {
        true => Ok(field),
        false => Err(Error::NotAFitness {
            name: name.to_owned(),
            found: describe(field.scalar, &dims),
        }),
    }
}
