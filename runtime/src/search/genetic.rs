//! A genetic algorithm on islands: tournaments, uniform and blend crossover, mutation, elites, migration,
//! extinction.
//!
//! Sources: J. Holland, "Adaptation in Natural and Artificial Systems" (1975); D. Goldberg and K. Deb, "A
//! Comparative Analysis of Selection Schemes", Foundations of Genetic Algorithms 1 (1991), for tournaments;
//! L. Eshelman and J. Schaffer, "Real-Coded Genetic Algorithms and Interval-Schemata", Foundations of Genetic
//! Algorithms 2 (1993), for the blend crossover; R. Tanese, "Distributed Genetic Algorithms", ICGA 1989, for
//! migration in a ring.

use super::{
    Crossover, Genetic, Memory, Strategy,
    draws::{Drawn, Draws, Purpose},
    genome::Founders,
};
use crate::{
    breeding::{Chance, Normals, Operators, Planned, Real, number},
    error::Error,
};
use rayon::prelude::*;
use sim_compiler::RealType;
use std::{cmp::Ordering, ops::Range, sync::Arc};

/// Mutations do not decay below this part of the first ones.
const LEAST_MUTATION: f64 = 0.01;

/// What is known of an island.
#[derive(Clone, Debug)]
struct Island {
    candidates: Range<usize>,
    /// The best score since it began, and the generations without a better one.
    best: f64,
    idle: u32,
    /// Generations since it began.
    age: u32,
}

/// What was learned of the generations so far.
pub(super) struct Learned {
    scores: Vec<f64>,
    islands: Vec<Island>,
}

/// The state of the search: the generation that was evaluated last.
pub(super) struct GeneticState {
    how: Genetic,
    draws: Draws,
    operators: Arc<Operators>,
    real: RealType,
    parents: Vec<f64>,
    scores: Vec<f64>,
    islands: Vec<Island>,
}

impl GeneticState {
    pub(super) fn new(
        how: &Genetic,
        draws: Draws,
        scales: Vec<f64>,
        agents: u32,
        real: RealType,
    ) -> GeneticState {
        let rate = how
            .mutation_rate
            .unwrap_or((1.0 / scales.len() as f64).max(0.1));
        let operators = Operators {
            seed: draws.seed(Purpose::Vary),
            tournament: how.tournament.max(1),
            crosses: Chance::new(how.crossover_rate),
            blends: Chance::new(match how.crossover {
                Crossover::Uniform => 0.0,
                Crossover::Both => 0.5,
                Crossover::Blend => 1.0,
            }),
            mutates: Chance::new(rate),
            blend: how.blend,
            keep: how.keep,
            islands: how.islands.max(1),
            migrants: how.migrants,
            scales,
            normals: Normals::new(),
        };
        let islands = (0..operators.islands as usize).map(|k| Island {
            candidates: operators.candidates(k, agents),
            best: f64::NEG_INFINITY,
            idle: 0,
            age: 0,
        });
        GeneticState {
            how: how.clone(),
            draws,
            real,
            parents: Vec::new(),
            scores: vec![f64::NEG_INFINITY; agents as usize],
            islands: islands.collect(),
            operators: Arc::new(operators),
        }
    }

    pub(super) fn operators(&self) -> Arc<Operators> {
        Arc::clone(&self.operators)
    }

    /// The genomes that were evaluated last, and their scores.
    pub(super) fn evaluated(&self) -> (&[f64], &[f64]) {
        (&self.parents, &self.scores)
    }

    /// The next generations, at most so many, in which no island dies out; none if one does in the first.
    pub(super) fn plan(&self, first: u32, most: u32) -> Vec<Planned> {
        let lives = |island: &Island| match self.how.patience {
            Some(patience) => patience.saturating_sub(island.idle),
            None => u32::MAX,
        };
        let lives = self.islands.iter().map(lives).min().unwrap_or(0);
        let planned = |later: u32| {
            let sizes = self.islands.iter();
            let sizes = sizes.map(|island| self.size(island.age.saturating_add(later)) as f32);
            Planned {
                number: first + later,
                migrates: self.migrates(first + later),
                seeds: Vec::new(),
                drawn: Vec::new(),
                sizes: sizes.collect(),
            }
        };
        (0..most.min(lives)).map(planned).collect()
    }

    /// Takes the scores of a generation, whose genomes are elsewhere.
    pub(super) fn learn(&mut self, scores: &[f64]) {
        self.scores.copy_from_slice(scores);
        let patience = self.how.patience;
        for island in &mut self.islands {
            // It died out before this generation, so that this is its first one.
            if patience.is_some_and(|most| island.idle >= most) {
                (island.best, island.idle, island.age) = (f64::NEG_INFINITY, 0, 0);
            }
            let best = best_of(&scores[island.candidates.clone()]);
            island.idle = if best > island.best {
                0
            } else {
                island.idle + 1
            };
            island.best = island.best.max(best);
            island.age += 1;
        }
    }

    /// What [`GeneticState::learn`] changes.
    pub(super) fn learned(&self) -> Learned {
        Learned {
            scores: self.scores.clone(),
            islands: self.islands.clone(),
        }
    }

    /// Forgets what it has learned since.
    pub(super) fn restore(&mut self, learned: Learned) {
        (self.scores, self.islands) = (learned.scores, learned.islands);
    }

    /// Takes the genomes of the generation that it learned from last.
    pub(super) fn set_evaluated(&mut self, genomes: Vec<f64>) {
        self.parents = genomes;
    }

    fn migrates(&self, generation: u32) -> bool {
        let every = self.how.migration;
        every > 0 && generation.is_multiple_of(every) && self.islands.len() > 1
    }

    /// The size of mutations on an island of this age.
    fn size(&self, age: u32) -> f64 {
        // Beyond this age the power is below the least mutation for any decay that is worth the name.
        let decay = self.how.decay.powi(age.min(1_000_000) as i32);
        self.how.mutation * decay.max(LEAST_MUTATION)
    }

    /// The better one first; of equals, the one with the smaller number.
    fn order(&self, a: usize, b: usize) -> Ordering {
        let by_score = self.scores[b].total_cmp(&self.scores[a]);
        by_score.then(a.cmp(&b))
    }

    /// The best of an island that live on or migrate, the best first.
    fn leaders(&self, island: &Island) -> Vec<usize> {
        let most = self.operators.keep.max(self.operators.migrants) as usize;
        let mut all: Vec<usize> = island.candidates.clone().collect();
        if most < all.len() {
            all.select_nth_unstable_by(most, |&a, &b| self.order(a, b));
            all.truncate(most);
        }
        all.sort_unstable_by(|&a, &b| self.order(a, b));
        all
    }

    fn is_extinct(&self, island: &Island) -> bool {
        self.how.patience.is_some_and(|most| island.idle >= most)
    }

    fn genome(&self, candidate: usize) -> &[f64] {
        let genes = self.operators.scales.len();
        &self.parents[candidate * genes..(candidate + 1) * genes]
    }

    /// The candidate of the generation before that a place of an island has unchanged, counted from its first
    /// one: the best of the island, or of the one before it.
    fn unchanged(
        &self,
        leaders: &[Vec<usize>],
        generation: u32,
        island: usize,
        place: usize,
    ) -> Option<usize> {
        let count = self.islands[island].candidates.len();
        if place < (self.operators.keep as usize).min(count) {
            return Some(leaders[island][place]);
        }
        let from_last = count - 1 - place;
        if !self.migrates(generation) || from_last >= self.operators.migrants as usize {
            return None;
        }
        let before = &leaders[(island + leaders.len() - 1) % leaders.len()];
        before.get(from_last).copied()
    }

    /// The winner of a tournament: the best of some candidates that are drawn with replacement.
    fn winner(&self, island: &Island, drawn: Drawn, tournament: u32) -> &[f64] {
        let of = |place: u32| {
            let number = number::candidate(tournament, place);
            island.candidates.start + drawn.below(number, island.candidates.len())
        };
        let drawn = (0..self.operators.tournament).map(of);
        let best = drawn.min_by(|&a, &b| self.order(a, b));
        self.genome(best.unwrap_or(island.candidates.start))
    }

    /// Writes a child of two winners.
    fn breed<R: Real>(
        &self,
        island: &Island,
        drawn: Drawn,
        words: &mut [[u32; number::OF_GENE]],
        child: &mut [f64],
    ) {
        let [mother, father] = number::TOURNAMENTS.map(|it| self.winner(island, drawn, it));
        let [crosses, blends] = [number::CROSSES, number::BLENDS].map(|it| drawn.word(it));
        let mating = self.operators.mating(crosses, blends);
        drawn.words(number::GENES, words.as_flattened_mut());
        let size = R::of(self.size(island.age));
        let parents = mother.iter().zip(father);
        let genes = child.iter_mut().zip(parents);
        for ((gene, (&a, &b)), (words, &scale)) in
            genes.zip(words.iter().zip(&self.operators.scales))
        {
            let parents = [R::of(a), R::of(b)];
            let sizes = (size, R::of(scale));
            *gene = self.operators.gene(mating, parents, sizes, *words).wide();
        }
    }
}

/// The best of some scores: eight at once, of which each would otherwise wait for the one before.
fn best_of(scores: &[f64]) -> f64 {
    let mut best = [f64::NEG_INFINITY; 8];
    let (chunks, rest) = scores.as_chunks::<8>();
    for chunk in chunks {
        for (best, score) in best.iter_mut().zip(chunk) {
            if score > best {
                *best = *score;
            }
        }
    }
    let all = best.iter().chain(rest).copied();
    all.fold(f64::NEG_INFINITY, f64::max)
}

impl Strategy for GeneticState {
    fn ask(
        &mut self,
        generation: u32,
        founders: &Founders,
        genomes: &mut [f64],
    ) -> Result<(), Error> {
        if generation == 0 {
            genomes.copy_from_slice(&founders.population(0)?);
            return Ok(());
        }
        let fresh = match self.islands.iter().any(|island| self.is_extinct(island)) {
            true => Some(founders.population(generation)?),
            false => None,
        };
        let genes = self.operators.scales.len();
        let leaders: Vec<_> = self.islands.iter().map(|it| self.leaders(it)).collect();
        let mut rest = &mut *genomes;
        for (number, island) in self.islands.iter().enumerate() {
            let (own, others) = rest.split_at_mut(island.candidates.len() * genes);
            rest = others;
            if let Some(fresh) = fresh.as_ref().filter(|_| self.is_extinct(island)) {
                let range = island.candidates.start * genes..island.candidates.end * genes;
                own.copy_from_slice(&fresh[range]);
                continue;
            }
            let children = own.par_chunks_exact_mut(genes).enumerate();
            let words = || vec![[0; number::OF_GENE]; genes];
            children.for_each_init(words, |words, (place, child)| {
                if let Some(same) = self.unchanged(&leaders, generation, number, place) {
                    child.copy_from_slice(self.genome(same));
                    return;
                }
                let candidate = (island.candidates.start + place) as u32;
                let drawn = self.draws.of(Purpose::Vary, generation, candidate);
                match self.real {
                    RealType::F32 => self.breed::<f32>(island, drawn, words, child),
                    RealType::F64 => self.breed::<f64>(island, drawn, words, child),
                }
            });
        }
        Ok(())
    }

    fn tell(&mut self, _generation: u32, genomes: &mut Vec<f64>, scores: &[f64]) {
        self.parents.resize(genomes.len(), 0.0);
        std::mem::swap(&mut self.parents, genomes);
        self.learn(scores);
    }

    fn genetic(&mut self) -> Option<&mut GeneticState> {
        Some(self)
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.put_genes(&self.parents);
        memory.put_numbers(&self.scores);
        for island in &self.islands {
            memory.put_numbers(&[island.best, island.idle.into(), island.age.into()]);
        }
        memory
    }

    fn remember(&mut self, memory: &mut Memory) -> Option<()> {
        let genes = self.operators.scales.len();
        self.parents = memory.take_genes(self.scores.len() * genes)?;
        self.scores = memory.take_numbers(self.scores.len())?;
        for island in &mut self.islands {
            let numbers = memory.take_numbers(3)?;
            island.best = numbers[0];
            // Counts of generations.
            island.idle = numbers[1] as u32;
            island.age = numbers[2] as u32;
        }
        Some(())
    }
}
