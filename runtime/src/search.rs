//! Searches over float inputs: an agent is a candidate, the values of its inputs are its genome, and an
//! output is its fitness. A generation is a run of the whole population.
//!
//! [`Searching`] alternates between two parts: the `evaluate::Evaluator` gives genomes their scores, and a
//! `Strategy` gives scores the next genomes. Between both lie [`Trials`], the runs that give a generation its
//! scores: [`Searching::advance`] runs them here, and a caller who asks for them runs them where they like.
//! Both parts meet on the host. `bred` replaces them where a GPU runs the model and the strategy is the
//! genetic algorithm: there the device breeds generation after generation, and the host only sees their
//! scores.

mod archive;
mod bred;
mod cma_es;
mod compare;
mod draws;
mod evaluate;
mod genetic;
mod genome;
mod open_es;
mod random;
mod saved;
mod searching;
mod trials;

use crate::{control::Control, error::Error, run::Device, simulation::Simulation, values::Column};
use genetic::GeneticState;
use genome::Founders;
pub use saved::SavedSearch;
pub use searching::Searching;
pub use trials::Trials;

/// Whether a large or a small fitness is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// A large one.
    Maximise,
    /// A small one.
    Minimise,
}

/// A range for the genes of an input.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The input, or the struct of inputs; all that have no range of their own if none is named.
    pub input: Option<String>,
    /// The lower end.
    pub low: f64,
    /// The upper end, which is larger.
    pub high: f64,
}

/// What is searched, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The output that is the fitness: one float per agent. A candidate whose fitness is NaN or infinite is
    /// worse than all others.
    pub fitness: String,
    /// Which fitness is good.
    pub aim: Aim,
    /// The inputs of the genome, of floats: values, arrays, vectors, or structs of them.
    pub over: Vec<String>,
    /// How.
    pub method: SearchMethod,
    /// Generations, the first one included.
    pub generations: u32,
    /// The search ends when a candidate of the archive has this fitness.
    pub target: Option<f64>,
    /// Runs of a generation. The fitness of a candidate is its mean over them; each run has draws of its own.
    pub evaluations: u32,
    /// All candidates of a generation have the same draws: each has a run of its own, of `evaluations` agents
    /// with its genome, all with the same seed. Without it, a candidate draws by its agent's number.
    pub common_draws: bool,
    /// Every generation has the draws of the simulation's seed. Without it, each has new ones.
    pub fixed_draws: bool,
    /// Where genomes begin, uniformly; without a range they begin as the launch gives or draws them.
    pub from: Vec<Range>,
    /// What genes are kept in.
    pub within: Vec<Range>,
    /// Candidates in the archive of the best.
    pub elites: u32,
    /// The seed of the search: of its operators, and of the draws of its generations.
    pub seed: u64,
}

impl Search {
    /// A search with the usual settings: 100 generations of a genetic algorithm.
    pub fn new(fitness: &str, over: &[&str]) -> Search {
        Search {
            fitness: fitness.to_owned(),
            aim: Aim::Maximise,
            over: over.iter().map(|&name| name.to_owned()).collect(),
            method: SearchMethod::Genetic(Genetic::default()),
            generations: 100,
            target: None,
            evaluations: 1,
            common_draws: false,
            fixed_draws: false,
            from: Vec::new(),
            within: Vec::new(),
            elites: 10,
            seed: 0,
        }
    }
}

/// How genomes are found.
#[derive(Clone, Debug, PartialEq)]
pub enum SearchMethod {
    /// Parents are chosen by their fitness, and children differ from them.
    Genetic(Genetic),
    /// Steps around one point estimate the slope of the fitness.
    OpenEs(OpenEs),
    /// Steps around one point, whose covariance is learned.
    CmaEs(CmaEs),
    /// Each generation is drawn anew.
    Random,
}

impl SearchMethod {
    /// Its name, as on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            SearchMethod::Genetic(_) => "ga",
            SearchMethod::OpenEs(_) => "open-es",
            SearchMethod::CmaEs(how) if how.separable => "sep-cma-es",
            SearchMethod::CmaEs(_) => "cma-es",
            SearchMethod::Random => "random",
        }
    }

    /// The fewest candidates that it takes.
    fn least(&self) -> u32 {
        match self {
            SearchMethod::Genetic(how) => 4.max(how.keep.saturating_add(1)),
            SearchMethod::OpenEs(_) | SearchMethod::CmaEs(_) => 4,
            SearchMethod::Random => 1,
        }
    }
}

/// The settings of the genetic algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct Genetic {
    /// Candidates that are drawn for a parent, of which the best is taken: 3.
    pub tournament: u32,
    /// How two parents give a child.
    pub crossover: Crossover,
    /// The chance that a child has two parents, and not one: 0.9.
    pub crossover_rate: f64,
    /// How far blend crossover reaches beyond the parents, in parts of their distance: 0.5.
    pub blend: f64,
    /// The chance of a gene to change; without it 0.1, and at least one gene of a child in the mean.
    pub mutation_rate: Option<f64>,
    /// The standard deviation of a change, in standard deviations of the gene in the first generation: 0.3.
    pub mutation: f64,
    /// What that is multiplied by in each generation, down to a hundredth: 0.99.
    pub decay: f64,
    /// The best of an island that live on unchanged: 2.
    pub keep: u32,
    /// Parts of the population that breed on their own: 1.
    pub islands: u32,
    /// Generations between two migrations, in which the best of each island take the places of the last of
    /// the next one; 0 for none: 10.
    pub migration: u32,
    /// How many migrate: 2.
    pub migrants: u32,
    /// Generations without a better candidate after which an island dies out and begins anew; without it
    /// none does.
    pub patience: Option<u32>,
}

impl Default for Genetic {
    fn default() -> Genetic {
        Genetic {
            tournament: 3,
            crossover: Crossover::Both,
            crossover_rate: 0.9,
            blend: 0.5,
            mutation_rate: None,
            mutation: 0.3,
            decay: 0.99,
            keep: 2,
            islands: 1,
            migration: 10,
            migrants: 2,
            patience: None,
        }
    }
}

/// How two parents give a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossover {
    /// Each gene is that of one of them.
    Uniform,
    /// Each gene is uniform between theirs, and somewhat beyond (BLX-alpha).
    Blend,
    /// A child has either with even chances.
    Both,
}

/// The settings of OpenAI's evolution strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenEs {
    /// The standard deviation of the steps around the point, in standard deviations of the gene in the first
    /// generation: 0.2.
    pub sigma: f64,
    /// How far the point moves, in the same unit: with Adam by about this much in each gene: 0.1.
    pub rate: f64,
    /// What both are multiplied by in each generation, down to a thousandth: 0.99.
    pub decay: f64,
    /// What follows the slope.
    pub optimiser: Optimiser,
    /// How fast genes are drawn to 0, as a part of `rate`: 0.
    pub weight_decay: f64,
}

impl Default for OpenEs {
    fn default() -> OpenEs {
        OpenEs {
            sigma: 0.2,
            rate: 0.1,
            decay: 0.99,
            optimiser: Optimiser::Adam,
            weight_decay: 0.0,
        }
    }
}

/// What follows a slope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimiser {
    /// Adam, of D. Kingma and J. Ba.
    Adam,
    /// Steps that keep nine tenths of the one before.
    Momentum,
}

/// The settings of CMA-ES.
#[derive(Clone, Debug, PartialEq)]
pub struct CmaEs {
    /// Whether variances alone are learned, for large genomes.
    pub separable: bool,
    /// The first step size, in standard deviations of the gene in the first generation: 0.5.
    pub sigma: f64,
    /// Generations without a better candidate after which it begins anew; without it 100, and more for many
    /// genes and few candidates.
    pub patience: Option<u32>,
}

impl Default for CmaEs {
    fn default() -> CmaEs {
        CmaEs {
            separable: false,
            sigma: 0.5,
            patience: None,
        }
    }
}

/// What is known of a generation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generation {
    /// Its number, from 0.
    pub number: u32,
    /// The best fitness of its candidates; NaN if none has any.
    pub best: f64,
    /// The mean fitness of those that have one.
    pub mean: f64,
    /// The best of the archive.
    pub best_so_far: f64,
    /// The candidates with a fitness that is a finite number.
    pub finite: u32,
}

/// The seconds that a search has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchSeconds {
    /// For runs, and for moving genomes there and fitness back.
    pub evaluate: f64,
    /// For the operators and the archive.
    pub vary: f64,
}

/// One of the best candidates.
#[derive(Clone, Debug, PartialEq)]
pub struct Elite {
    /// Its genes: the values of the inputs of the search, in their order, each row by row.
    pub genome: Vec<f64>,
    /// Its fitness: the mean of the generations that had it.
    pub fitness: f64,
    /// The generations that had it.
    pub count: u32,
    /// The first of them.
    pub generation: u32,
    /// What it has in draws that no generation had; none where fitness depends on no draw, or where the
    /// search was cancelled or that run failed.
    pub again: Option<Again>,
}

/// The fitness of a candidate in new draws. The fitness with which a candidate was chosen is too good, since
/// luck was chosen with it; this is not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Again {
    /// The mean.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Over so many agents.
    pub count: u64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchEnded {
    /// After the last generation that was allowed.
    Generations,
    /// A candidate reached the target.
    Target,
    /// It was cancelled between two generations.
    Interrupted,
}

/// What a search found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The best candidates: the best first, by their fitness in new draws where there is one.
    pub elites: Vec<Elite>,
    /// Their inputs, a row per elite, and their fitness under the name of the output.
    pub columns: Vec<Column>,
    /// All generations.
    pub history: Vec<Generation>,
    /// Genes of a candidate.
    pub genes: u32,
    /// Candidates of a generation.
    pub candidates: u32,
    /// Agents that were run in all generations.
    pub evaluations: u64,
    /// Generations that the device bred, of those in this process: see [`Searching::advance`].
    pub bred_on_device: u32,
    /// What ran it; none if there was no run in this process.
    pub device: Option<Device>,
    /// What it took, in all processes.
    pub seconds: SearchSeconds,
    /// Why it ended.
    pub ended: SearchEnded,
}

/// What gives the genomes of a generation, from the scores of those before.
trait Strategy: Send {
    /// Writes the genomes of a generation; what the inputs cannot hold is rounded and moved afterwards.
    fn ask(
        &mut self,
        generation: u32,
        founders: &Founders,
        genomes: &mut [f64],
    ) -> Result<(), Error>;

    /// Takes the scores of a generation: larger is better, and negative infinity stands for none. It may keep
    /// the genomes, and leave others of the same number.
    fn tell(&mut self, generation: u32, genomes: &mut Vec<f64>, scores: &[f64]);

    /// The genetic algorithm, whose generations a device can breed, if it is that.
    fn genetic(&mut self) -> Option<&mut GeneticState> {
        None
    }

    /// What it knows after a generation.
    fn memory(&self) -> Memory;

    /// Takes that again; nothing if it does not fit.
    fn remember(&mut self, memory: &mut Memory) -> Option<()>;
}

/// What a strategy knows, as numbers in an order of its own.
#[derive(Clone, Debug, Default, PartialEq)]
struct Memory {
    numbers: Vec<f64>,
    genes: Vec<f64>,
    /// How much of both was taken.
    taken: [usize; 2],
}

impl Memory {
    fn put_numbers(&mut self, numbers: &[f64]) {
        self.numbers.extend_from_slice(numbers);
    }

    fn put_genes(&mut self, genes: &[f64]) {
        self.genes.extend_from_slice(genes);
    }

    fn take_numbers(&mut self, count: usize) -> Option<Vec<f64>> {
        let first = self.taken[0];
        self.taken[0] += count;
        Some(self.numbers.get(first..first + count)?.to_vec())
    }

    fn take_genes(&mut self, count: usize) -> Option<Vec<f64>> {
        let first = self.taken[1];
        self.taken[1] += count;
        Some(self.genes.get(first..first + count)?.to_vec())
    }

    /// Whether all of it was taken.
    fn is_empty(&self) -> bool {
        self.taken == [self.numbers.len(), self.genes.len()]
    }
}

impl Simulation {
    /// Searches the inputs with the best fitness. The simulation is left as it was: its agents are the
    /// candidates of a generation. A search that is cancelled gives the best so far.
    ///
    /// ```
    /// use sim_runtime::{Aim, Control, Search, Simulation};
    ///
    /// let source = "agents 200 input x: [f32; 3] ~ uniform(-5.0, 5.0)
    ///     output cost = sum(for k in 0..3: (x[k] - 1.0) ** 2)";
    /// let search = Search {
    ///     aim: Aim::Minimise,
    ///     ..Search::new("cost", &["x"])
    /// };
    /// let found = Simulation::compile(source)?.search(&search, &Control::default(), &mut |_| {})?;
    /// assert!(found.elites[0].fitness < 1e-3);
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Simulation::begin_search`] and of [`Searching::advance`].
    pub fn search(
        &self,
        search: &Search,
        control: &Control<'_>,
        watch: &mut dyn FnMut(&Generation),
    ) -> Result<Found, Error> {
        let mut searching = self.begin_search(search)?;
        while !searching.is_done() {
            match searching.advance(control) {
                Ok(count) => {
                    let done = searching.history();
                    done[done.len() - count..].iter().for_each(&mut *watch);
                }
                Err(Error::Cancelled) if searching.generation() > 0 => break,
                Err(error) => return Err(error),
            }
        }
        searching.finish(control)
    }
}
