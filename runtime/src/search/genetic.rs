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
    draws::{Drawn, Draws, Purpose, normals_of, unit},
    genome::Founders,
};
use crate::error::Error;
use rayon::prelude::*;
use std::ops::Range;

/// Mutations do not decay below this part of the first ones.
const LEAST_MUTATION: f64 = 0.01;
/// The numbers of the draws of a child.
mod number {
    /// Whether it has two parents, and which crossover it has.
    pub(super) const CROSSES: u32 = 0;
    pub(super) const BLENDS: u32 = 1;
    /// The tournaments of both parents, so many numbers each.
    pub(super) const TOURNAMENTS: [u32; 2] = [0x100, 0x200];
    /// Of each gene four: which parent, whether it mutates, and two for how.
    pub(super) const GENES: u32 = 0x300;
    pub(super) const OF_GENE: usize = 4;
}

/// What is known of an island.
#[derive(Clone, Debug)]
struct Island {
    candidates: Range<usize>,
    /// Its candidates, the best first.
    order: Vec<usize>,
    /// The best score since it began, and the generations without a better one.
    best: f64,
    idle: u32,
    /// Generations since it began.
    age: u32,
}

/// The state of the search: the generation that was evaluated last.
pub(super) struct GeneticState {
    how: Genetic,
    draws: Draws,
    scales: Vec<f64>,
    parents: Vec<f64>,
    scores: Vec<f64>,
    islands: Vec<Island>,
}

impl GeneticState {
    pub(super) fn new(how: &Genetic, draws: Draws, scales: Vec<f64>, agents: u32) -> GeneticState {
        let (count, agents) = (how.islands.max(1) as usize, agents as usize);
        let islands = (0..count).map(|k| Island {
            candidates: k * agents / count..(k + 1) * agents / count,
            order: Vec::new(),
            best: f64::NEG_INFINITY,
            idle: 0,
            age: 0,
        });
        GeneticState {
            how: how.clone(),
            draws,
            scales,
            parents: Vec::new(),
            scores: vec![f64::NEG_INFINITY; agents],
            islands: islands.collect(),
        }
    }

    fn rank(&mut self) {
        let scores = &self.scores;
        for island in &mut self.islands {
            island.order = island.candidates.clone().collect();
            let better = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
            island.order.par_sort_unstable_by(better);
        }
    }

    fn is_extinct(&self, island: &Island) -> bool {
        self.how.patience.is_some_and(|most| island.idle >= most)
    }

    fn genome(&self, candidate: usize) -> &[f64] {
        let genes = self.scales.len();
        &self.parents[candidate * genes..(candidate + 1) * genes]
    }

    /// The immigrant that takes this place of an island, counted from its last one.
    fn immigrant(&self, generation: u32, island: usize, from_last: usize) -> Option<&[f64]> {
        let is_due = self.how.migration > 0 && generation.is_multiple_of(self.how.migration);
        if !is_due || self.islands.len() < 2 || from_last >= self.how.migrants as usize {
            return None;
        }
        let before = &self.islands[(island + self.islands.len() - 1) % self.islands.len()];
        before.order.get(from_last).map(|&best| self.genome(best))
    }

    /// The winner of a tournament: the best of some candidates that are drawn with replacement.
    fn winner(&self, island: &Island, drawn: Drawn, first: u32) -> &[f64] {
        let count = island.order.len();
        let draw = |number: u32| drawn.below(first + number, count);
        let place = (0..self.how.tournament.max(1)).map(draw).min();
        self.genome(island.order[place.unwrap_or(0)])
    }

    /// Writes a child of two winners.
    fn breed(&self, island: &Island, drawn: Drawn, space: &mut Space, child: &mut [f64]) {
        let how = &self.how;
        let [mother, father] = number::TOURNAMENTS.map(|first| self.winner(island, drawn, first));
        let crosses = drawn.unit(number::CROSSES) < how.crossover_rate;
        let blends = match how.crossover {
            Crossover::Uniform => false,
            Crossover::Blend => true,
            Crossover::Both => drawn.unit(number::BLENDS) < 0.5,
        };
        drawn.words(number::GENES, space.words.as_flattened_mut());
        let parents = mother.iter().zip(father).zip(&space.words);
        let values = space.values.iter_mut().zip(parents);
        match (crosses, blends) {
            (false, _) => values.for_each(|(value, ((a, _), _))| *value = *a),
            (true, false) => values.for_each(|(value, ((a, b), words))| {
                *value = if unit(words[0]) < 0.5 { *a } else { *b };
            }),
            (true, true) => values.for_each(|(value, ((a, b), words))| {
                let place = (1.0 + 2.0 * how.blend) * unit(words[0]) - how.blend;
                *value = a + (b - a) * place;
            }),
        }
        let genes = self.scales.len();
        let rate = how.mutation_rate.unwrap_or((1.0 / genes as f64).max(0.1));
        // Beyond this age the power is below the least mutation for any decay that is worth the name.
        let decay = how.decay.powi(island.age.min(1_000_000) as i32);
        let size = how.mutation * decay.max(LEAST_MUTATION);
        for (k, gene) in child.iter_mut().enumerate() {
            let [_, mutates, a, b] = space.words[k];
            *gene = space.values[k];
            if unit(mutates) < rate {
                *gene += size * self.scales[k] * normals_of([a, b])[0];
            }
        }
    }
}

/// What breeding a child needs, used again for the next one.
struct Space {
    /// The words of each gene.
    words: Vec<[u32; number::OF_GENE]>,
    values: Vec<f64>,
}

impl Space {
    fn new(genes: usize) -> Space {
        Space {
            words: vec![[0; number::OF_GENE]; genes],
            values: vec![0.0; genes],
        }
    }
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
        let genes = self.scales.len();
        let mut rest = &mut *genomes;
        for (number, island) in self.islands.iter().enumerate() {
            let (own, others) = rest.split_at_mut(island.candidates.len() * genes);
            rest = others;
            if let Some(fresh) = fresh.as_ref().filter(|_| self.is_extinct(island)) {
                let range = island.candidates.start * genes..island.candidates.end * genes;
                own.copy_from_slice(&fresh[range]);
                continue;
            }
            let count = island.candidates.len();
            let keep = (self.how.keep as usize).min(count);
            let children = own.par_chunks_exact_mut(genes).enumerate();
            let space = || Space::new(genes);
            children.for_each_init(space, |space, (place, child)| {
                if place < keep {
                    child.copy_from_slice(self.genome(island.order[place]));
                } else if let Some(other) = self.immigrant(generation, number, count - 1 - place) {
                    child.copy_from_slice(other);
                } else {
                    let candidate = (island.candidates.start + place) as u32;
                    let drawn = self.draws.of(Purpose::Vary, generation, candidate);
                    self.breed(island, drawn, space, child);
                }
            });
        }
        Ok(())
    }

    fn tell(&mut self, _generation: u32, genomes: &mut Vec<f64>, scores: &[f64]) {
        self.parents.resize(genomes.len(), 0.0);
        std::mem::swap(&mut self.parents, genomes);
        self.scores.copy_from_slice(scores);
        self.rank();
        let patience = self.how.patience;
        for island in &mut self.islands {
            // It died out before this generation, so that this is its first one.
            if patience.is_some_and(|most| island.idle >= most) {
                (island.best, island.idle, island.age) = (f64::NEG_INFINITY, 0, 0);
            }
            let best = island.order.first().map(|&first| scores[first]);
            let best = best.unwrap_or(f64::NEG_INFINITY);
            island.idle = if best > island.best {
                0
            } else {
                island.idle + 1
            };
            island.best = island.best.max(best);
            island.age += 1;
        }
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
        self.parents = memory.take_genes(self.scores.len() * self.scales.len())?;
        self.scores = memory.take_numbers(self.scores.len())?;
        for island in &mut self.islands {
            let numbers = memory.take_numbers(3)?;
            island.best = numbers[0];
            // Counts of generations.
            island.idle = numbers[1] as u32;
            island.age = numbers[2] as u32;
        }
        self.rank();
        Some(())
    }
}
