//! A search, generation by generation.

use super::{
    Again, Aim, Elite, Found, Generation, Search, SearchEnded, SearchMethod, SearchSeconds,
    Strategy,
    archive::{Archive, Here, Kept},
    bred::OnDevice,
    cma_es::CmaEsState,
    compare::Comparison,
    draws::Draws,
    evaluate::{Evaluator, check_count},
    genetic::GeneticState,
    genome::{Founders, Layout},
    open_es::OpenEsState,
    random::Random,
    saved::Bound,
    trials::Trials,
};
use crate::{
    clock::Stopwatch,
    control::Control,
    error::Error,
    simulation::Simulation,
    values::{Column, Values},
};
use sim_compiler::manifest::{Field, Param};

/// So many candidates are kept for each that is wanted: where fitness is noisy, most of the best were lucky,
/// and new draws show which.
const RESERVE: u32 = 4;
/// Genes beyond which the covariance of all pairs is not learned: its axes would take longer than runs.
const MOST_FULL: usize = 1000;

/// A search between two generations.
pub struct Searching {
    pub(super) search: Search,
    pub(super) layout: Layout,
    founders: Founders,
    pub(super) evaluator: Evaluator,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) archive: Archive,
    pub(super) history: Vec<Generation>,
    pub(super) seconds: SearchSeconds,
    genomes: Vec<f64>,
    pub(super) agents: u32,
    pub(super) on_device: OnDevice,
    /// What a saved search is bound to.
    pub(super) bound: Bound,
    /// The generation that is evaluated now.
    trying: Option<Trying>,
    /// The best in new draws, after the last generation.
    comparison: Option<Comparison>,
}

/// What is known of the scores of a generation: of those that are numbers the best, their mean, and how many.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    best: f64,
    mean: f64,
    finite: u32,
}

impl Seen {
    pub(super) fn of(scores: &[f64]) -> Seen {
        let (mut best, mut sum, mut finite) = (f64::NAN, 0.0, 0);
        for score in scores.iter().filter(|score| score.is_finite()) {
            best = best.max(*score);
            sum += score;
            finite += 1;
        }
        Seen {
            best,
            mean: sum / f64::from(finite),
            finite,
        }
    }

    /// The generation, with the best of those so far.
    pub(super) fn generation(self, number: u32, archive: &Archive, aim: Aim) -> Generation {
        let best = archive.kept.first();
        Generation {
            number,
            best: aim.shown(self.best),
            mean: aim.shown(self.mean),
            best_so_far: aim.shown(best.map_or(f64::NAN, Kept::score)),
            finite: self.finite,
        }
    }
}

impl Aim {
    /// The fitness that a score stands for: larger scores are better.
    fn shown(self, score: f64) -> f64 {
        match self {
            Aim::Maximise => score,
            Aim::Minimise => -score,
        }
    }
}

impl Search {
    /// Whether the best of these generations reach the target.
    pub(super) fn is_reached(&self, history: &[Generation]) -> bool {
        let best = history.last().map(|last| last.best_so_far);
        best.zip(self.target)
            .is_some_and(|(best, target)| match self.aim {
                Aim::Maximise => best >= target,
                Aim::Minimise => best <= target,
            })
    }
}

/// A generation of which some runs are done.
struct Trying {
    /// So many.
    done: usize,
    /// The sum of the fitness of each candidate in them.
    sums: Vec<f64>,
    since: Stopwatch,
}

impl std::fmt::Debug for Searching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Searching")
            .field("search", &self.search)
            .field("history", &self.history)
            .finish_non_exhaustive()
    }
}

impl Simulation {
    /// Begins a search, and runs nothing yet.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::NoGenome`], [`Error::NotAFitness`], [`Error::TooFewCandidates`],
    /// [`Error::SearchSetting`], and those of a launch.
    pub fn begin_search(&self, search: &Search) -> Result<Searching, Error> {
        let layout = Layout::of(self.manifest(), search)?;
        let agents = self.agent_count()?;
        let draws = Draws::new(search.seed);
        // Names are checked before values.
        let evaluator = Evaluator::new(self, search, &layout, draws, agents)?;
        check_method(search, &layout, agents)?;
        let founders = Founders::new(self, &layout, draws, agents)?;
        let first = founders.population(0)?;
        let scales = founders.scales(&first);
        let strategy: Box<dyn Strategy> = match &search.method {
            SearchMethod::Genetic(how) => {
                let real = self.manifest().real;
                Box::new(GeneticState::new(how, draws, scales, agents, real))
            }
            SearchMethod::OpenEs(how) => Box::new(OpenEsState::new(how, draws, scales)),
            SearchMethod::CmaEs(how) => {
                let real = self.manifest().real;
                Box::new(CmaEsState::new(how, draws, scales, agents, real))
            }
            SearchMethod::Random => Box::new(Random),
        };
        Ok(Searching {
            bound: founders.bound(search, &first)?,
            search: search.clone(),
            layout,
            founders,
            evaluator,
            strategy,
            archive: Archive::new(search.elites.saturating_mul(RESERVE)),
            history: Vec::new(),
            seconds: SearchSeconds::default(),
            genomes: first,
            agents,
            on_device: OnDevice::new(),
            trying: None,
            comparison: None,
        })
    }
}

impl Searching {
    /// The number of the next generation.
    pub fn generation(&self) -> u32 {
        self.history.len() as u32
    }

    /// The params of the model.
    pub(super) fn params(&self) -> &[Param] {
        self.founders.params()
    }

    /// The inputs of the search and the output that is the fitness: the columns of [`Found::columns`].
    pub fn fields(&self) -> Vec<&Field> {
        self.inputs().chain([self.evaluator.output()]).collect()
    }

    /// The inputs of the search.
    pub fn inputs(&self) -> impl Iterator<Item = &Field> {
        self.layout.parts.iter().map(|part| &part.field)
    }

    /// What is searched, and how.
    pub fn search(&self) -> &Search {
        &self.search
    }

    /// The generations so far.
    pub fn history(&self) -> &[Generation] {
        &self.history
    }

    /// The seconds so far.
    pub fn seconds(&self) -> SearchSeconds {
        self.seconds
    }

    /// Whether the last generation is done, or the target is reached.
    pub fn is_done(&self) -> bool {
        self.generation() >= self.search.generations || self.has_target()
    }

    fn has_target(&self) -> bool {
        self.search.is_reached(&self.history)
    }

    /// Evaluates the next generation, or several where the device breeds them: those of a genetic algorithm
    /// on a GPU, except the first one, those in which an island begins anew, and those of models in `f64`,
    /// with worlds, or with common draws. They are the same as if the host had bred them. Gives their
    /// number; [`Searching::history`] has them.
    ///
    /// # Errors
    /// [`Error::NoFitness`] in the first one, [`Error::Cancelled`], after which the search is as it was
    /// before the generation, and any error of a run.
    pub fn advance(&mut self, control: &Control<'_>) -> Result<usize, Error> {
        control.check()?;
        if self.trying.is_none() {
            let bred = self.breed(control)?;
            if bred > 0 {
                return Ok(bred);
            }
        }
        loop {
            let trials = self.ask_generation()?;
            let values = self.evaluator.values(&trials, control);
            let values = values.inspect_err(|_| self.trying = None)?;
            if self.tell(&values)?.is_some() {
                return Ok(1);
            }
        }
    }

    /// The runs whose fitness is wanted next, for a caller who evaluates candidates elsewhere; the same ones
    /// until [`Searching::tell`] has taken it. After the last generation they compare the best in new draws,
    /// and then there are none: [`Searching::found`] has the result.
    ///
    /// ```
    /// use sim_runtime::{Control, Search, Simulation};
    ///
    /// let simulation = Simulation::compile("agents 50 input x ~ normal() output f = -x * x")?;
    /// let search = Search { generations: 20, ..Search::new("f", &["x"]) };
    /// let mut searching = simulation.begin_search(&search)?;
    /// while let Some(trials) = searching.ask()? {
    ///     let mut fitness = Vec::new();
    ///     trials.run(&simulation, &Control::default(), |run| {
    ///         fitness.extend_from_slice(run.output::<f32>("f").unwrap());
    ///     })?;
    ///     searching.tell(&fitness)?;
    /// }
    /// assert!(searching.found()?.elites[0].fitness > -1e-3);
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of a launch.
    pub fn ask(&mut self) -> Result<Option<Trials>, Error> {
        match self.is_done() {
            true => Ok(self.ask_comparison()),
            false => self.ask_generation().map(Some),
        }
    }

    fn ask_generation(&mut self) -> Result<Trials, Error> {
        let number = self.generation();
        self.comparison = None;
        if self.trying.is_none() {
            self.fetch()?;
            self.on_device.forget();
            let started = Stopwatch::start();
            self.strategy
                .ask(number, &self.founders, &mut self.genomes)?;
            self.layout.confine(&mut self.genomes);
            self.seconds.vary += started.seconds();
            self.trying = Some(Trying {
                done: 0,
                // To which any number is added exactly.
                sums: vec![-0.0; self.agents as usize],
                since: Stopwatch::start(),
            });
        }
        let done = self.trying.as_ref().map_or(0, |trying| trying.done);
        Ok(self.evaluator.trials(number, &self.genomes, done))
    }

    fn ask_comparison(&mut self) -> Option<Trials> {
        let kept = self.kept();
        let begin = || {
            let genomes = kept.iter().flat_map(|kept| &kept.genome).copied();
            Comparison::new(genomes.collect(), kept.len())
        };
        if self.comparison.is_none() {
            self.comparison = Some(begin());
        }
        self.comparison.as_ref()?.trials(&self.evaluator)
    }

    /// Takes the fitness in the runs that [`Searching::ask`] gave: of each run of each agent, run by run. The
    /// generation, if they were its last ones.
    ///
    /// # Errors
    /// [`Error::SearchSetting`] for more or fewer values, [`Error::NoFitness`] in the first generation.
    pub fn tell(&mut self, values: &[impl Copy + Into<f64>]) -> Result<Option<Generation>, Error> {
        if let Some(trying) = &mut self.trying {
            if let Some(done) = self.evaluator.add(values, trying.done, &mut trying.sums)? {
                trying.done = done;
                return Ok(None);
            }
            self.seconds.evaluate += trying.since.seconds();
            let scores = self.evaluator.scores(&trying.sums);
            self.trying = None;
            return self.learn(&scores).map(Some);
        }
        match &mut self.comparison {
            Some(comparison) => comparison.take(&self.evaluator, values)?,
            None => check_count(values, 0)?,
        }
        Ok(None)
    }

    /// Takes the scores of a generation.
    fn learn(&mut self, scores: &[f64]) -> Result<Generation, Error> {
        let started = Stopwatch::start();
        let number = self.generation();
        if number == 0 && !scores.iter().any(|score| score.is_finite()) {
            return Err(Error::NoFitness {
                name: self.search.fitness.clone(),
                candidates: self.agents,
            });
        }
        let here = Here {
            genomes: &self.genomes,
            genes: self.layout.genes,
        };
        self.archive.take(number, &here, scores);
        self.strategy.tell(number, &mut self.genomes, scores);
        let generation = self.saw(number, Seen::of(scores));
        self.seconds.vary += started.seconds();
        Ok(generation)
    }

    /// Adds a generation to the history.
    fn saw(&mut self, number: u32, seen: Seen) -> Generation {
        let generation = seen.generation(number, &self.archive, self.search.aim);
        self.history.push(generation);
        generation
    }

    /// The best so far, of which each gets an agent when they are compared.
    fn kept(&self) -> &[Kept] {
        let kept = &self.archive.kept;
        &kept[..kept.len().min(self.agents as usize)]
    }

    /// The fitness that a score stands for.
    fn shown(&self, score: f64) -> f64 {
        self.search.aim.shown(score)
    }

    /// The result so far. Where fitness depends on draws, the best are run once more in new draws, unless the
    /// search was cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if there was no generation.
    pub fn finish(mut self, control: &Control<'_>) -> Result<Found, Error> {
        while self.is_done()
            && let Some(trials) = self.ask_comparison()
        {
            // What was found is not lost if this run fails.
            let Ok(values) = self.evaluator.values(&trials, control) else {
                break;
            };
            self.tell(&values)?;
        }
        self.found()
    }

    /// The result so far, without any run: the best are compared in new draws only if the runs for it, which
    /// [`Searching::ask`] gives last, are done.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if there was no generation.
    pub fn found(&self) -> Result<Found, Error> {
        if self.history.is_empty() {
            return Err(Error::Cancelled);
        }
        let ended = match (self.has_target(), self.is_done()) {
            (true, _) => SearchEnded::Target,
            (false, true) => SearchEnded::Generations,
            (false, false) => SearchEnded::Interrupted,
        };
        let kept = self.kept();
        let compared = self.comparison.as_ref().and_then(Comparison::found);
        let mut elites: Vec<Elite> = (kept.iter().enumerate())
            .map(|(k, kept)| Elite {
                genome: kept.genome.clone(),
                fitness: self.shown(kept.score()),
                count: kept.count,
                generation: kept.generation,
                again: compared.map(|all| Again {
                    mean: all[k].mean(),
                    standard_error: all[k].standard_error(),
                    count: all[k].count(),
                }),
            })
            .collect();
        // Stable: of equals, the one that was better before stays first.
        elites.sort_by(|a, b| match (a.again, b.again) {
            (Some(a), Some(b)) => self.shown(b.mean).total_cmp(&self.shown(a.mean)),
            (None, _) | (_, None) => std::cmp::Ordering::Equal,
        });
        elites.truncate(self.search.elites.max(1) as usize);
        Ok(Found {
            columns: self.columns(&elites),
            elites,
            genes: self.layout.genes as u32,
            candidates: self.agents,
            evaluations: self.evaluator.cost() * u64::from(self.generation()),
            bred_on_device: self.on_device.generations,
            seconds: self.seconds,
            device: self.evaluator.device().cloned(),
            history: self.history.clone(),
            ended,
        })
    }

    fn columns(&self, elites: &[Elite]) -> Vec<Column> {
        let genomes: Vec<f64> = (elites.iter())
            .flat_map(|elite| &elite.genome)
            .copied()
            .collect();
        let mut columns = self.layout.columns(&genomes);
        let fitness =
            (elites.iter()).map(|elite| elite.again.map_or(elite.fitness, |again| again.mean));
        let output = self.evaluator.output();
        let fitness = Values::of_floats(output.scalar, fitness);
        columns.push(Column::with_values(output, elites.len() as u32, fitness));
        columns
    }
}

/// Checks settings against the genome and the population.
fn check_method(search: &Search, layout: &Layout, agents: u32) -> Result<(), Error> {
    let method = search.method.name();
    let few = |found, of_island| Error::TooFewCandidates {
        method,
        found,
        least: search.method.least(),
        of_island,
    };
    if agents < search.method.least() {
        return Err(few(agents, false));
    }
    let refused = |message: String, help: &str| {
        Err(Error::SearchSetting {
            message,
            help: help.to_owned(),
        })
    };
    let mut rates = Vec::new();
    let mut sizes = Vec::new();
    match &search.method {
        SearchMethod::Genetic(how) => {
            let island = agents / how.islands.max(1);
            if island < search.method.least() {
                return Err(few(island, true));
            }
            rates.extend([
                ("crossover rate", how.crossover_rate),
                ("mutation rate", how.mutation_rate.unwrap_or(0.0)),
                ("decay", how.decay),
            ]);
            sizes.extend([("mutation", how.mutation), ("blend", how.blend + 1.0)]);
        }
        SearchMethod::OpenEs(how) => {
            rates.extend([("decay", how.decay)]);
            sizes.extend([("step size", how.sigma), ("rate", how.rate)]);
        }
        SearchMethod::CmaEs(how) => {
            if !how.separable && layout.genes > MOST_FULL {
                return refused(
                    format!(
                        "cma-es learns a covariance of {} genes, and takes at most {MOST_FULL}",
                        layout.genes
                    ),
                    "use the separable form, `sep-cma-es`, or another method",
                );
            }
            sizes.extend([("step size", how.sigma)]);
        }
        SearchMethod::Random => {}
    }
    for (what, value) in rates {
        if !(0.0..=1.0).contains(&value) {
            return refused(
                format!("the {what} is {value}"),
                "give a number from 0 to 1",
            );
        }
    }
    for (what, value) in sizes {
        if !(value.is_finite() && value > 0.0) {
            return refused(format!("the {what} is {value}"), "give a number above 0");
        }
    }
    Ok(())
}
