//! A search, generation by generation.

use super::{
    Again, Aim, Elite, Found, Generation, Search, SearchEnded, SearchMethod, SearchSeconds,
    Strategy,
    archive::Archive,
    cma_es::CmaEsState,
    draws::Draws,
    evaluate::{Compared, Evaluator},
    genetic::GeneticState,
    genome::{Founders, Layout},
    open_es::OpenEsState,
    random::Random,
    saved::Bound,
};
use crate::{
    clock::Stopwatch, control::Control, error::Error, simulation::Simulation, values::Column,
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
    evaluator: Evaluator,
    pub(super) strategy: Box<dyn Strategy>,
    pub(super) archive: Archive,
    pub(super) history: Vec<Generation>,
    pub(super) seconds: SearchSeconds,
    genomes: Vec<f32>,
    agents: u32,
    /// What a saved search is bound to.
    pub(super) bound: Bound,
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
            SearchMethod::Genetic(how) => Box::new(GeneticState::new(how, draws, scales, agents)),
            SearchMethod::OpenEs(how) => Box::new(OpenEsState::new(how, draws, scales)),
            SearchMethod::CmaEs(how) => Box::new(CmaEsState::new(how, draws, scales, agents)),
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
        let inputs = self.layout.parts.iter().map(|part| &part.field);
        inputs.chain([self.evaluator.output()]).collect()
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
        let best = self.history.last().map(|last| last.best_so_far);
        best.zip(self.search.target)
            .is_some_and(|(best, target)| match self.search.aim {
                Aim::Maximise => best >= target,
                Aim::Minimise => best <= target,
            })
    }

    /// Evaluates one generation.
    ///
    /// # Errors [`Error::NoFitness`] in the first one, [`Error::Cancelled`], after which the search is as it
    /// was before the generation, and any error of a run.
    pub fn advance(&mut self, control: &Control<'_>) -> Result<Generation, Error> {
        let number = self.generation();
        let started = Stopwatch::start();
        control.check()?;
        self.strategy
            .ask(number, &self.founders, &mut self.genomes)?;
        self.layout.confine(&mut self.genomes);
        let asked = started.seconds();
        let scores = self.evaluator.scores(number, &self.genomes, control)?;
        let evaluated = started.seconds();
        self.seconds.evaluate += evaluated - asked;
        if number == 0 && !scores.iter().any(|score| score.is_finite()) {
            return Err(Error::NoFitness {
                name: self.search.fitness.clone(),
                candidates: self.agents,
            });
        }
        self.strategy.tell(number, &self.genomes, &scores);
        self.archive.take(number, &self.genomes, &scores);
        let generation = self.seen(number, &scores);
        self.history.push(generation);
        self.seconds.vary += asked + started.seconds() - evaluated;
        Ok(generation)
    }

    fn seen(&self, number: u32, scores: &[f64]) -> Generation {
        let finite = || scores.iter().filter(|score| score.is_finite());
        let count = finite().count();
        let sum: f64 = finite().sum();
        let best = finite().copied().fold(f64::NAN, f64::max);
        let so_far = self
            .archive
            .kept
            .first()
            .map_or(f64::NAN, |best| best.score());
        Generation {
            number,
            best: self.shown(best),
            mean: self.shown(sum / count as f64),
            best_so_far: self.shown(so_far),
            finite: count as u32,
        }
    }

    /// The fitness that a score stands for.
    fn shown(&self, score: f64) -> f64 {
        match self.search.aim {
            Aim::Maximise => score,
            Aim::Minimise => -score,
        }
    }

    /// The result so far. Where fitness depends on draws, the best are run once more in new draws, unless the
    /// search was cancelled.
    ///
    /// # Errors
    /// [`Error::Cancelled`] if there was no generation.
    pub fn finish(self, control: &Control<'_>) -> Result<Found, Error> {
        if self.history.is_empty() {
            return Err(Error::Cancelled);
        }
        let ended = match (self.has_target(), self.is_done()) {
            (true, _) => SearchEnded::Target,
            (false, true) => SearchEnded::Generations,
            (false, false) => SearchEnded::Interrupted,
        };
        let mut kept = &self.archive.kept[..];
        kept = &kept[..kept.len().min(self.agents as usize)];
        let genomes: Vec<f32> = kept.iter().flat_map(|kept| &kept.genome).copied().collect();
        let is_interrupted = ended == SearchEnded::Interrupted;
        let compared = match is_interrupted {
            true => None,
            // What was found is not lost if this run fails.
            false => self.evaluator.compare(&genomes, control).ok(),
        };
        let compared = compared.filter(|all| all.iter().any(Compared::is_noisy));
        let mut elites: Vec<Elite> = (kept.iter().enumerate())
            .map(|(k, kept)| Elite {
                genome: kept.genome.clone(),
                fitness: self.shown(kept.score()),
                count: kept.count,
                generation: kept.generation,
                again: compared.as_ref().map(|all| Again {
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
            seconds: self.seconds,
            device: self.evaluator.device().cloned(),
            history: self.history,
            ended,
        })
    }

    fn columns(&self, elites: &[Elite]) -> Vec<Column> {
        let count = elites.len() as u32;
        let inputs = self.layout.parts.iter().map(|part| {
            let genes = elites.iter().flat_map(|elite| &elite.genome[part.genes()]);
            let words = genes.map(|gene| gene.to_bits()).collect();
            Column::new(&part.field, count, words)
        });
        let fitness = elites.iter().map(|elite| {
            let mean = elite.again.map_or(elite.fitness, |again| again.mean);
            (mean as f32).to_bits()
        });
        let output = self.evaluator.output();
        let fitness = Column::new(output, count, fitness.collect());
        inputs.chain([fitness]).collect()
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
