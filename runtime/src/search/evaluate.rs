//! The fitness of a population.

use super::{Aim, Search, draws::Draws, genome::Layout};
use crate::{
    array::Array,
    control::Control,
    error::{Error, Role},
    field::unknown,
    run::{Device, Run},
    simulation::Simulation,
    variation::Variation,
};
use sim_compiler::manifest::{Field, Manifest, Scalar, describe};
use std::sync::OnceLock;

/// Runs that are prepared at a time, where each candidate has a run of its own.
const RUNS: usize = 1024;
/// The numbers of seeds for the comparison of the best begin here, beyond those of generations.
const LAST: u32 = u32::MAX;

/// What gives a population its scores.
pub(super) struct Evaluator {
    simulation: Simulation,
    layout: Layout,
    draws: Draws,
    fitness: Field,
    aim: Aim,
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
        for (name, array) in layout.arrays(
            &vec![0.0; own.agent_count()? as usize * layout.genes],
            own.agent_count()?,
        ) {
            // A launch wants a value for each input, also where every run replaces it.
            own.set_input(&name, array)?;
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

    /// The number of agents that a generation computes.
    pub(super) fn cost(&self) -> u64 {
        u64::from(self.agents) * u64::from(self.runs)
    }

    /// The score of each candidate of a generation: the mean of its fitness, larger is better; negative
    /// infinity if that is no finite number.
    ///
    /// # Errors
    /// Those of a run.
    pub(super) fn scores(
        &self,
        generation: u32,
        genomes: &[f32],
        control: &Control<'_>,
    ) -> Result<Vec<f64>, Error> {
        let sums = match self.common {
            true => self.each_alone(generation, genomes, self.runs, control)?,
            false => self.together(generation, genomes, control)?,
        };
        let score = |sum: f64| self.score(sum / f64::from(self.runs));
        Ok(sums.into_iter().map(score).collect())
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

    /// One run of all candidates per evaluation: the sums of their fitness.
    fn together(
        &self,
        generation: u32,
        genomes: &[f32],
        control: &Control<'_>,
    ) -> Result<Vec<f64>, Error> {
        let inputs = self.layout.arrays(genomes, self.agents);
        let variations: Vec<Variation> = (0..self.runs)
            .map(|number| with(&inputs).seed(self.seed(generation, number)))
            .collect();
        let mut sums = vec![0.0; self.agents as usize];
        let mut failed = None;
        self.simulation
            .run_each(&variations, control, |_, run| match self.values(&run) {
                Ok(values) => {
                    for (sum, value) in sums.iter_mut().zip(values) {
                        *sum += f64::from(*value);
                    }
                }
                Err(error) => failed = Some(error),
            })?;
        failed.map_or(Ok(sums), Err)
    }

    /// One run per candidate, of `agents` agents that all have its genome: agent `k` draws the same for all
    /// candidates.
    fn each_alone(
        &self,
        generation: u32,
        genomes: &[f32],
        agents: u32,
        control: &Control<'_>,
    ) -> Result<Vec<f64>, Error> {
        let seed = self.seed(generation, 0);
        let genes = self.layout.genes;
        let mut sums = Vec::with_capacity(genomes.len() / genes);
        let mut failed = None;
        for part in genomes.chunks(genes * RUNS) {
            let variations: Vec<Variation> = (part.chunks_exact(genes))
                .map(|genome| {
                    let all = genome.repeat(agents as usize);
                    with(&self.layout.arrays(&all, agents)).seed(seed)
                })
                .collect();
            self.simulation
                .run_each(&variations, control, |_, run| match self.values(&run) {
                    Ok(values) => sums.push(values.iter().map(|&it| f64::from(it)).sum()),
                    Err(error) => failed = Some(error),
                })?;
        }
        failed.map_or(Ok(sums), Err)
    }

    fn values<'a>(&self, run: &'a Run) -> Result<&'a [f32], Error> {
        self.device.get_or_init(|| run.report().backend.clone());
        run.output::<f32>(&self.fitness.name)
    }

    /// The mean fitness of a few candidates in new draws, and its standard error: a run in which each has an
    /// equal number of agents, and more of them if these are few and differ.
    ///
    /// # Errors
    /// Those of a run.
    pub(super) fn compare(
        &self,
        genomes: &[f32],
        control: &Control<'_>,
    ) -> Result<Vec<Compared>, Error> {
        let genes = self.layout.genes;
        let count = genomes.len() / genes;
        let mut found = vec![Compared::default(); count];
        if self.common {
            return self.compare_alone(genomes, control);
        }
        let mut all = Vec::with_capacity(self.agents as usize * genes);
        for agent in 0..self.agents as usize {
            let k = agent % count;
            all.extend_from_slice(&genomes[k * genes..(k + 1) * genes]);
        }
        let inputs = self.layout.arrays(&all, self.agents);
        // With fewer than about 30 values the standard error is itself a guess.
        let most = (32 * count).div_ceil(self.agents as usize).max(2) as u32;
        for number in 0..most {
            let variation = with(&inputs).seed(self.seed(LAST, number));
            let mut failed = None;
            self.simulation
                .run_each(&[variation], control, |_, run| match self.values(&run) {
                    Ok(values) => {
                        for (agent, value) in values.iter().enumerate() {
                            found[agent % count].add((*value).into());
                        }
                    }
                    Err(error) => failed = Some(error),
                })?;
            if let Some(error) = failed {
                return Err(error);
            }
            // A second run shows whether a candidate that has one agent differs from run to run.
            if number > 0
                && found
                    .iter()
                    .all(|it| it.least.total_cmp(&it.largest).is_eq())
            {
                break;
            }
        }
        Ok(found)
    }

    /// The same where candidates have the same draws.
    fn compare_alone(
        &self,
        genomes: &[f32],
        control: &Control<'_>,
    ) -> Result<Vec<Compared>, Error> {
        let genes = self.layout.genes;
        let mut found = vec![Compared::default(); genomes.len() / genes];
        for number in 0..32_u32.div_ceil(self.runs) {
            let seed = self.seed(LAST, number);
            let variations: Vec<Variation> = (genomes.chunks_exact(genes))
                .map(|genome| {
                    let all = genome.repeat(self.runs as usize);
                    with(&self.layout.arrays(&all, self.runs)).seed(seed)
                })
                .collect();
            let mut failed = None;
            self.simulation
                .run_each(&variations, control, |candidate, run| {
                    match self.values(&run) {
                        Ok(values) => values
                            .iter()
                            .for_each(|&it| found[candidate].add(it.into())),
                        Err(error) => failed = Some(error),
                    }
                })?;
            if let Some(error) = failed {
                return Err(error);
            }
        }
        Ok(found)
    }
}

/// The fitness of one candidate in several draws.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared {
    count: f64,
    mean: f64,
    /// The sum of squared deviations: B. P. Welford, Technometrics 4 (1962).
    squares: f64,
    least: f64,
    largest: f64,
}

impl Default for Compared {
    fn default() -> Compared {
        Compared {
            count: 0.0,
            mean: 0.0,
            squares: 0.0,
            least: f64::INFINITY,
            largest: f64::NEG_INFINITY,
        }
    }
}

impl Compared {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
        self.least = self.least.min(value);
        self.largest = self.largest.max(value);
    }

    /// Whether its fitness depends on draws.
    pub(super) fn is_noisy(&self) -> bool {
        self.least < self.largest
    }

    pub(super) fn mean(&self) -> f64 {
        self.mean
    }

    pub(super) fn standard_error(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0) / self.count).sqrt()
    }

    pub(super) fn count(&self) -> u64 {
        self.count as u64
    }
}

fn with(inputs: &[(String, Array)]) -> Variation {
    let all = inputs.iter();
    all.fold(Variation::new(), |variation, (name, array)| {
        variation.input(name, array.clone())
    })
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
    match field.scalar == Scalar::F32 && dims.is_empty() {
        true => Ok(field),
        false => Err(Error::NotAFitness {
            name: name.to_owned(),
            found: describe(field.scalar, &dims),
        }),
    }
}
