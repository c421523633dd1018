//! The evolution strategy of T. Salimans, J. Ho, X. Chen, S. Sidor and I. Sutskever, "Evolution Strategies
//! as a Scalable Alternative to Reinforcement Learning", arXiv:1703.03864: pairs of opposite steps from one
//! point, whose ranks estimate the gradient of the expected fitness, which Adam or momentum follows.

use super::{
    Memory, OpenEs, Optimiser, Strategy,
    draws::{Draws, Purpose},
    genome::Founders,
};
use crate::error::Error;
use rayon::prelude::*;

/// How slowly Adam's means of slopes and of their squares forget: D. P. Kingma and J. Ba, ICLR 2015.
const DECAY: [f64; 2] = [0.9, 0.999];
/// How slowly momentum forgets.
const MOMENTUM: f64 = 0.9;
const TINY: f64 = 1e-8;
/// Steps do not decay below this part of the first ones.
const LEAST: f64 = 0.001;
/// Genes whose slopes one core adds up: those of a cache line, twice.
const GENES: usize = 16;

/// The state of the search.
pub(super) struct OpenEsState {
    how: OpenEs,
    draws: Draws,
    scales: Vec<f64>,
    /// The point, in genes over their scales; none before the first generation was evaluated.
    point: Vec<f64>,
    /// Means of slopes and of their squares.
    means: [Vec<f64>; 2],
    /// Steps so far.
    steps: u32,
    /// What a generation adds to the point and takes from it, before it is scaled, pair by pair.
    steps_of_pairs: Vec<f64>,
}

impl OpenEsState {
    pub(super) fn new(how: &OpenEs, draws: Draws, scales: Vec<f64>) -> OpenEsState {
        let none = vec![0.0; scales.len()];
        OpenEsState {
            how: how.clone(),
            draws,
            point: none.clone(),
            means: [none.clone(), none],
            scales,
            steps: 0,
            steps_of_pairs: Vec::new(),
        }
    }

    fn decay(&self) -> f64 {
        let power = self.steps.min(1_000_000) as i32;
        self.how.decay.powi(power).max(LEAST)
    }

    fn climb(&mut self, slope: &[f64]) {
        self.steps += 1;
        let rate = self.how.rate * self.decay();
        let power = self.steps.min(1_000_000) as i32;
        let [first, second] = &mut self.means;
        for (k, slope) in slope.iter().enumerate() {
            let change = match self.how.optimiser {
                Optimiser::Adam => {
                    first[k] = DECAY[0] * first[k] + (1.0 - DECAY[0]) * slope;
                    second[k] = DECAY[1] * second[k] + (1.0 - DECAY[1]) * slope * slope;
                    let mean = first[k] / (1.0 - DECAY[0].powi(power));
                    let square = second[k] / (1.0 - DECAY[1].powi(power));
                    mean / (square.sqrt() + TINY)
                }
                Optimiser::Momentum => {
                    first[k] = MOMENTUM * first[k] + slope;
                    first[k]
                }
            };
            self.point[k] += rate * change - self.how.weight_decay * rate * self.point[k];
        }
    }
}

impl Strategy for OpenEsState {
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
        let genes = self.scales.len();
        let size = self.how.sigma * self.decay();
        let (draws, scales, point) = (self.draws, &self.scales, &self.point);
        self.steps_of_pairs
            .resize(genomes.len() / (2 * genes) * genes, 0.0);
        let steps = self.steps_of_pairs.par_chunks_exact_mut(genes);
        let pairs = genomes.par_chunks_exact_mut(2 * genes).zip(steps);
        pairs.enumerate().for_each(|(pair, (genomes, steps))| {
            draws
                .of(Purpose::Vary, generation, pair as u32)
                .normals(steps);
            let (first, second) = genomes.split_at_mut(genes);
            for (k, step) in steps.iter().enumerate() {
                first[k] = scales[k] * (point[k] + size * step);
                second[k] = scales[k] * (point[k] - size * step);
            }
        });
        // The last one of an odd number is the point itself.
        let odd = genomes.len() % (2 * genes);
        let rest = genomes.len() - odd;
        for (k, gene) in genomes[rest..].iter_mut().enumerate() {
            *gene = scales[k] * point[k];
        }
        Ok(())
    }

    fn tell(&mut self, generation: u32, genomes: &mut Vec<f64>, scores: &[f64]) {
        let (genes, count) = (self.scales.len(), scores.len());
        if generation == 0 {
            let best = (0..count)
                .rev()
                .max_by(|&a, &b| scores[a].total_cmp(&scores[b]));
            let best = best.unwrap_or(0) * genes;
            for (k, point) in self.point.iter_mut().enumerate() {
                *point = genomes[best + k] / self.scales[k];
            }
            return;
        }
        let shaped = shaped(scores);
        let size = self.how.sigma * self.decay();
        let weights = shaped
            .chunks_exact(2)
            .map(|weights| weights[0] - weights[1]);
        let weights: Vec<f64> = weights.map(|it| it / (count as f64 * size)).collect();
        // Genes are divided among the cores: each is summed in the order of the pairs.
        let mut slope = vec![0.0; genes];
        let parts = slope.par_chunks_mut(GENES).enumerate();
        parts.for_each(|(part, slope)| {
            let steps = self.steps_of_pairs.chunks_exact(genes);
            for (weight, steps) in weights.iter().zip(steps) {
                for (slope, step) in slope.iter_mut().zip(&steps[part * GENES..]) {
                    *slope += weight * step;
                }
            }
        });
        self.climb(&slope);
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.put_numbers(&[self.steps.into()]);
        for numbers in [&self.point, &self.means[0], &self.means[1]] {
            memory.put_numbers(numbers);
        }
        memory
    }

    fn remember(&mut self, memory: &mut Memory) -> Option<()> {
        self.steps = memory.take_numbers(1)?[0] as u32;
        self.point = memory.take_numbers(self.scales.len())?;
        let take = |memory: &mut Memory| memory.take_numbers(self.scales.len());
        self.means = [take(memory)?, take(memory)?];
        Some(())
    }
}

/// Ranks from -0.5 for the worst to 0.5 for the best; equal scores have the mean of their ranks.
fn shaped(scores: &[f64]) -> Vec<f64> {
    let count = scores.len();
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut shaped = vec![0.0; count];
    let mut first = 0;
    while first < count {
        let same = |&&k: &&usize| scores[k].total_cmp(&scores[order[first]]).is_eq();
        let end = first + order[first..].iter().take_while(same).count();
        let mean = (first + end - 1) as f64 / 2.0;
        for &k in &order[first..end] {
            shaped[k] = mean / (count as f64 - 1.0).max(1.0) - 0.5;
        }
        first = end;
    }
    shaped
}

#[cfg(test)]
mod tests {
    use super::shaped;

    #[test]
    fn equal_scores_have_equal_shapes_and_all_add_up_to_nothing() {
        let found = shaped(&[3.0, f64::NEG_INFINITY, 3.0, 7.0, 3.0]);
        assert_eq!(found, [0.0, -0.5, 0.0, 0.5, 0.0]);
        assert_eq!(shaped(&[1.0, 1.0]), [0.0, 0.0]);
    }
}
