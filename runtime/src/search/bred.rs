//! Generations that the device breeds: the genetic algorithm where a GPU runs the model in `f32`. The device
//! gives their scores and what stands for their genomes. The host learns from them as from its own, while the
//! device breeds the next ones, which do not depend on what it learns, and reads back the genomes of those
//! that the archive keeps.

use super::{
    Generation, Search,
    archive::{Archive, There},
    evaluate::Evaluator,
    genetic::GeneticState,
    genome::Layout,
    searching::{Searching, Seen},
};
use crate::{
    bind::Launch,
    breeding::{Bred, InputWord, Operators, Plan, Planned, Population, Wanted},
    clock::Stopwatch,
    control::Control,
    error::Error,
};
use rayon::prelude::*;
use sim_compiler::manifest::Scalar;
use std::{
    collections::BTreeMap,
    panic::resume_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
};

/// Most generations that are planned at a time.
const MOST_PLANNED: usize = 64;

/// The same of the first plan.
const FIRST_PLANNED: usize = 4;

/// The submissions of a plan, of which the device has the next one while the host reads one and learns from
/// it, …
const PARTS: usize = 8;

/// … and the least generations of one.
const LEAST_PART: usize = 4;

/// The time after which nothing more is submitted, so that a search can be interrupted, and shows how far it
/// is.
const MOST_SECONDS: f64 = 0.1;

/// What a search keeps for it.
#[derive(Debug)]
pub(super) struct OnDevice {
    /// Whether no device can breed for this search.
    is_barred: bool,
    model: Option<Model>,
    /// Who the population on the device belongs to: this search, since the host has bred a generation.
    holder: Arc<()>,
    /// Whether the genomes of the last generation are only there.
    has_parents: bool,
    /// Generations that are planned at a time: not many more than the device takes.
    at_a_time: usize,
    /// What later generations draw.
    drawn: Drawn,
    /// Generations that it has bred.
    pub(super) generations: u32,
    /// The seconds in which it did.
    waited: f64,
}

/// The launch of all runs, of which seeds differ, and its rows of inputs.
#[derive(Debug)]
struct Model {
    launch: Launch,
    words: Vec<InputWord>,
    /// The words of a row that each run draws.
    drawn: Vec<usize>,
}

/// What the runs of generations draw of inputs that are not searched: by generation, of each run agent by
/// agent.
type Drawn = BTreeMap<u32, Vec<Vec<u32>>>;

impl OnDevice {
    pub(super) fn new() -> OnDevice {
        OnDevice {
            is_barred: false,
            model: None,
            holder: Arc::new(()),
            has_parents: false,
            at_a_time: FIRST_PLANNED,
            drawn: Drawn::new(),
            generations: 0,
            waited: 0.0,
        }
    }

    /// The host is to breed a generation.
    pub(super) fn forget(&mut self) {
        self.holder = Arc::new(());
    }
}

impl Searching {
    /// Lets the device breed the next generations. Gives their number: 0 if the host is to.
    ///
    /// # Errors
    /// Those of the device, after which the search is as it was before.
    pub(super) fn breed(&mut self, control: &Control<'_>) -> Result<usize, Error> {
        let first = self.generation();
        if first == 0 || self.on_device.is_barred || !self.evaluator.simulation().can_breed() {
            return Ok(0);
        }
        let most = (self.search.generations - first).min(self.on_device.at_a_time as u32);
        let Some(genetic) = self.strategy.genetic() else {
            self.on_device.is_barred = true;
            return Ok(0);
        };
        let mut planned = genetic.plan(first, most);
        if planned.is_empty() {
            return Ok(0);
        }
        for generation in &mut planned {
            generation.seeds = self.evaluator.seeds(generation.number);
        }
        let before = (genetic.learned(), self.archive.clone());
        self.find_model()?;
        let started = Stopwatch::start();
        let done = (self.breed_planned(&mut planned, control)).and_then(|done| match done {
            0 => Ok(0),
            _ => self.take_rows(done),
        });
        if done.is_err() {
            let (learned, archive) = before;
            self.archive = archive;
            self.history.truncate(first as usize);
            if let Some(genetic) = self.strategy.genetic() {
                genetic.restore(learned);
            }
        }
        self.seconds.vary += started.seconds() - self.on_device.waited;
        self.seconds.evaluate += std::mem::take(&mut self.on_device.waited);
        done
    }

    /// Finds out what all runs share, if a device can breed for this search.
    fn find_model(&mut self) -> Result<(), Error> {
        if self.on_device.model.is_some() {
            return Ok(());
        }
        let Some(launch) = self.evaluator.common_launch()? else {
            self.on_device.is_barred = true;
            return Ok(());
        };
        let manifest = self.evaluator.simulation().manifest();
        let words = self.layout.words(manifest, &launch.given);
        let drawn = words.iter().zip(0..);
        let drawn = drawn.filter(|(word, _)| **word == InputWord::Drawn);
        self.on_device.model = Some(Model {
            drawn: drawn.map(|(_, place)| place).collect(),
            launch,
            words,
        });
        Ok(())
    }

    /// Lets the device breed a plan, and learns from each submission while it breeds the next ones.
    /// Gives the number of generations that were learned from: none behind one that reaches the target.
    fn breed_planned(
        &mut self,
        planned: &mut [Planned],
        control: &Control<'_>,
    ) -> Result<usize, Error> {
        let (Some(model), Some(genetic)) = (&self.on_device.model, self.strategy.genetic()) else {
            return Ok(0);
        };
        let started = Stopwatch::start();
        let numbers = planned.iter().map(|it| it.number).collect();
        let mut drawn = std::mem::take(&mut self.on_device.drawn);
        self.evaluator.draw(model, numbers, &mut drawn)?;
        for generation in &mut *planned {
            generation.drawn = drawn.remove(&generation.number).unwrap_or_default();
        }
        let after = planned[planned.len() - 1].number + 1;
        let last = (self.search.generations).min(after.saturating_add(planned.len() as u32));
        let evaluator = &self.evaluator;
        let mut submissions = Submissions {
            model,
            evaluator,
            layout: &self.layout,
            operators: genetic.operators(),
            holder: &self.on_device.holder,
            planned: &*planned,
            submitted: 0,
            bred: 0,
            seconds: started.seconds(),
        };
        let mut learner = Learner {
            evaluator,
            search: &self.search,
            genetic,
            archive: &mut self.archive,
            history: &mut self.history,
            planned: &*planned,
            agents: self.agents as usize,
            done: 0,
        };
        let (bred, next) = thread::scope(|scope| {
            let mut next = Drawn::new();
            // Meanwhile the host draws for the generations after these.
            let ahead = scope.spawn(|| {
                let numbers = (after..last).collect();
                evaluator.draw(model, numbers, &mut next).map(|()| next)
            });
            let bred = submissions.breed_all(&mut learner, control);
            let next = ahead.join().unwrap_or_else(|panic| resume_unwind(panic));
            (bred, next)
        });
        let (done, bred_count, seconds) = (learner.done, submissions.bred, submissions.seconds);
        self.on_device.waited += seconds;
        drawn.extend(next?);
        for generation in &mut planned[bred_count..] {
            drawn.insert(generation.number, std::mem::take(&mut generation.drawn));
        }
        self.on_device.drawn = drawn;
        bred?;
        Ok(done)
    }

    /// Reads back the genomes of the best that were bred. Those of the last generation stay on the device.
    fn take_rows(&mut self, done: usize) -> Result<usize, Error> {
        let candidates = &self.archive.places();
        let rows = self.rows(Wanted::Of {
            parents: done - 1,
            candidates,
        })?;
        self.archive.fetch(rows.into_iter());
        self.on_device.generations += done as u32;
        self.on_device.at_a_time = (2 * done).clamp(FIRST_PLANNED, MOST_PLANNED);
        self.on_device.has_parents = true;
        Ok(done)
    }

    /// The genomes of candidates on the device.
    fn rows(&self, wanted: Wanted<'_>) -> Result<Vec<Vec<f64>>, Error> {
        let rows = self.evaluator.simulation().bred_rows(wanted)?;
        // Nobody else has used the device since.
        let rows = rows.ok_or(Error::SessionLost)?;
        let stride = self.on_device.model.as_ref().map_or(1, |it| it.words.len());
        let genome = |row: &[u32]| {
            let mut genome = vec![0.0; self.layout.genes];
            self.layout.take(row, &mut genome);
            genome
        };
        Ok(rows.chunks_exact(stride).map(genome).collect())
    }

    /// Reads back the genomes of the last generation, if the device has bred it.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn fetch(&mut self) -> Result<(), Error> {
        if !self.on_device.has_parents {
            return Ok(());
        }
        let genomes = self.rows(Wanted::Parents)?.concat();
        if let Some(genetic) = self.strategy.genetic() {
            genetic.set_evaluated(genomes);
        }
        self.on_device.has_parents = false;
        Ok(())
    }
}

/// The submissions of a plan, each a part of it.
struct Submissions<'a> {
    model: &'a Model,
    evaluator: &'a Evaluator,
    layout: &'a Layout,
    operators: Arc<Operators>,
    holder: &'a Arc<()>,
    planned: &'a [Planned],
    /// The generations that were submitted, and those that were read.
    submitted: usize,
    bred: usize,
    /// The seconds of these, and of drawing for them.
    seconds: f64,
}

impl Submissions<'_> {
    /// Breeds all generations, or as many as take [`MOST_SECONDS`], and lets `learner` learn from them.
    ///
    /// # Errors
    /// Those of the device.
    fn breed_all(&mut self, learner: &mut Learner<'_>, control: &Control<'_>) -> Result<(), Error> {
        let runs = self.planned[0].seeds.len() as f64;
        let (layout, evaluator, model) = (self.layout, self.evaluator, self.model);
        {
            let (genomes, scores) = learner.genetic.evaluated();
            let parents = || {
                let mut rows = model.launch.inputs.to_vec();
                layout.put(genomes, &mut rows);
                Population {
                    rows,
                    // The mean has all the digits of the sum and more.
                    sums: (scores.iter())
                        .map(|&score| (evaluator.fitness_of(score) * runs) as f32)
                        .collect(),
                }
            };
            self.submit(Some(&parents))?;
        }
        let is_done = AtomicBool::new(false);
        let (sender, receiver) = mpsc::channel::<Bred>();
        thread::scope(|scope| {
            let learning = scope.spawn(|| {
                for bred in receiver {
                    learner.learn(&bred);
                    is_done.store(learner.is_done(), Ordering::Relaxed);
                }
            });
            let goes_on = || control.check().is_ok() && !is_done.load(Ordering::Relaxed);
            let read = self.read_all(&sender, &goes_on);
            drop(sender);
            learning.join().unwrap_or_else(|panic| resume_unwind(panic));
            read
        })
    }

    /// Reads the submissions and hands on what they give, always with another one behind the one that is
    /// waited for while the search `goes_on`.
    fn read_all(
        &mut self,
        sender: &mpsc::Sender<Bred>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        while self.bred < self.submitted {
            if self.seconds < MOST_SECONDS && goes_on() {
                self.submit(None)?;
            }
            let started = Stopwatch::start();
            let bred = self.evaluator.simulation().bred()?;
            self.seconds += started.seconds();
            let Some(bred) = bred else {
                break;
            };
            let agents = self.model.launch.agents as usize;
            self.bred += bred.generations(agents).count();
            // Who learns listens until nothing more is sent.
            let _ = sender.send(bred);
        }
        Ok(())
    }

    /// Submits the next part, unless all are submitted or the device cannot now.
    fn submit(&mut self, parents: Option<&dyn Fn() -> Population>) -> Result<(), Error> {
        let started = Stopwatch::start();
        let part = (self.planned.len() / PARTS).max(LEAST_PART);
        let rest = &self.planned[self.submitted..];
        if rest.is_empty() {
            return Ok(());
        }
        let plan = Plan {
            operators: &self.operators,
            words: &self.model.words,
            fitness: self.evaluator.output().word,
            minimises: self.evaluator.minimises(),
            launch: &self.model.launch,
            generations: &rest[..part.min(rest.len())],
            holder: self.holder,
            behind: self.submitted,
            parents,
        };
        self.submitted += self.evaluator.simulation().breed(&plan)?;
        self.seconds += started.seconds();
        Ok(())
    }
}

/// What learns from generations that were bred.
struct Learner<'a> {
    evaluator: &'a Evaluator,
    search: &'a Search,
    genetic: &'a mut GeneticState,
    archive: &'a mut Archive,
    history: &'a mut Vec<Generation>,
    planned: &'a [Planned],
    agents: usize,
    /// The generations so far.
    done: usize,
}

impl Learner<'_> {
    fn is_done(&self) -> bool {
        self.search.is_reached(self.history)
    }

    /// Learns from the next generations, until the target is reached.
    fn learn(&mut self, bred: &Bred) {
        let agents = self.agents;
        let evaluator = self.evaluator;
        let generations: Vec<_> = bred.generations(agents).collect();
        let scores: Vec<(Vec<f64>, Seen)> = (generations.par_iter())
            .map(|(sums, _)| {
                let sums: Vec<f64> = sums.iter().copied().map(f64::from).collect();
                let scores = evaluator.scores(&sums);
                let seen = Seen::of(&scores);
                (scores, seen)
            })
            .collect();
        for ((scores, seen), (_, fingerprints)) in scores.iter().zip(generations) {
            if self.is_done() {
                break;
            }
            let there = There {
                fingerprints,
                bred: self.done,
            };
            let number = self.planned[self.done].number;
            self.archive.take(number, &there, scores);
            self.genetic.learn(scores);
            let generation = seen.generation(number, self.archive, self.search.aim);
            self.history.push(generation);
            self.done += 1;
        }
    }
}

impl Evaluator {
    /// The launch that all runs share but for their seeds and what they draw of inputs, if a device can breed
    /// for it: the model computes in `f32`, candidates are the agents of each run, none lives in a world, and
    /// nothing is checked.
    fn common_launch(&self) -> Result<Option<Launch>, Error> {
        let artifact = self.simulation().artifact();
        let is_possible = !self.is_apart()
            && self.output().scalar != Scalar::F64
            && artifact.manifest.world.is_none()
            && artifact.program.checks.words.is_empty();
        is_possible
            .then(|| self.simulation().launch_of_next())
            .transpose()
    }

    /// Draws what the runs of generations draw of inputs that are not searched, unless it is known.
    fn draw(&self, model: &Model, generations: Vec<u32>, known: &mut Drawn) -> Result<(), Error> {
        if model.drawn.is_empty() {
            return Ok(());
        }
        let of_run = |seed: u64| {
            let launch = self.simulation().completed(&model.launch.with_seed(seed))?;
            let mut drawn = Vec::with_capacity(launch.agents as usize * model.drawn.len());
            for row in launch.inputs.chunks_exact(model.words.len()) {
                drawn.extend(model.drawn.iter().map(|&place| row[place]));
            }
            Ok(drawn)
        };
        let new = generations
            .into_par_iter()
            .filter(|it| !known.contains_key(it));
        let new = new.map(|generation| {
            let runs = self.seeds(generation).into_iter().map(of_run);
            Ok((generation, runs.collect::<Result<_, Error>>()?))
        });
        let new = new.collect::<Result<Vec<_>, Error>>()?;
        known.extend(new);
        Ok(())
    }
}
