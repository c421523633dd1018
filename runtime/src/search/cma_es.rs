//! CMA-ES, an evolution strategy that learns the covariance of its steps: N. Hansen, "The CMA Evolution
//! Strategy: A Tutorial", arXiv:1604.00772, whose symbols and constants are used. The separable form learns
//! variances alone, so that its cost grows with the number of genes and not with its square: R. Ros and N.
//! Hansen, "A Simple Modification in CMA-ES Achieving Linear Time and Space Complexity", PPSN 2008.
//!
//! Coordinates are genes over their scales. A search that no longer gets better begins again elsewhere.

use super::{
    CmaEs, Memory, Strategy,
    draws::{Draws, Purpose},
    genome::Founders,
};
use crate::{error::Error, fit::Constants};
use nalgebra::{DMatrix, DVector, SymmetricEigen};
use rayon::prelude::*;
use sim_compiler::RealType;

/// Steps below this change no number of the size 1.
fn shortest(real: RealType) -> f64 {
    match real {
        RealType::F32 => 1e-7,
        RealType::F64 => 1e-16,
    }
}

/// Variances of the smallest axis are not below this part of that of the largest.
const LEAST_VARIANCE: f64 = 1e-14;
/// Most sweeps for eigenvalues of one axis; a matrix of numbers takes a few.
const SWEEPS: usize = 1000;

/// What is learned of the steps.
enum Shape {
    /// Their covariance, its axes as columns, and the deviations along these.
    Full {
        covariance: DMatrix<f64>,
        axes: DMatrix<f64>,
        deviations: DVector<f64>,
    },
    /// Their variances.
    Separable { variances: DVector<f64> },
}

/// The state of the search.
pub(super) struct CmaEsState {
    how: CmaEs,
    draws: Draws,
    scales: Vec<f64>,
    constants: Constants,
    patience: u32,
    shortest: f64,
    mean: DVector<f64>,
    sigma: f64,
    shape: Shape,
    paths: [DVector<f64>; 2],
    /// Generations since it began.
    age: u32,
    /// The best score since it began, and the generations without a better one.
    best: f64,
    idle: u32,
}

impl CmaEsState {
    pub(super) fn new(
        how: &CmaEs,
        draws: Draws,
        scales: Vec<f64>,
        agents: u32,
        real: RealType,
    ) -> CmaEsState {
        let genes = scales.len();
        let n = genes as f64;
        let mut constants = Constants::of(n, agents as usize);
        if how.separable {
            let factor = (n + 2.0) / 3.0;
            constants.c_1 = (constants.c_1 * factor).min(1.0);
            constants.c_mu = (constants.c_mu * factor).min(1.0 - constants.c_1);
        }
        let usual = 100 + (30.0 * n / f64::from(agents)) as u32;
        CmaEsState {
            how: how.clone(),
            draws,
            constants,
            patience: how.patience.unwrap_or(usual),
            shortest: shortest(real),
            mean: DVector::zeros(genes),
            sigma: how.sigma,
            shape: Shape::new(genes, how.separable),
            paths: [DVector::zeros(genes), DVector::zeros(genes)],
            age: 0,
            best: f64::NEG_INFINITY,
            idle: 0,
            scales,
        }
    }

    /// Begins at a genome.
    fn begin(&mut self, genome: &[f64]) {
        let genes = self.scales.len();
        for ((mean, gene), scale) in self.mean.iter_mut().zip(genome).zip(&self.scales) {
            *mean = gene / scale;
        }
        self.sigma = self.how.sigma;
        self.shape = Shape::new(genes, self.how.separable);
        self.paths = [DVector::zeros(genes), DVector::zeros(genes)];
        (self.age, self.best, self.idle) = (0, f64::NEG_INFINITY, 0);
    }

    fn has_ended(&self) -> bool {
        let size = self.sigma * self.shape.largest();
        !(self.shortest..=1e15).contains(&size) || self.idle >= self.patience
    }

    /// The steps of the best candidates as columns, the best first, each times the root of its weight; and
    /// the weighted step.
    fn steps(&self, genomes: &[f64], scores: &[f64]) -> Option<(DMatrix<f64>, DVector<f64>)> {
        let genes = self.scales.len();
        let mut order: Vec<usize> = (0..scores.len())
            .filter(|&k| scores[k].is_finite())
            .collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order.truncate(self.constants.weights.len());
        // Where fewer have a fitness, their weights add up to 1 nevertheless.
        let sum: f64 = self.constants.weights.iter().take(order.len()).sum();
        let weights = self.constants.weights.iter().take(order.len());
        let roots = DVector::from_iterator(order.len(), weights.map(|it| (it / sum).sqrt()));
        let mut all = DMatrix::zeros(genes, order.len());
        let (scales, mean) = (&self.scales, self.mean.as_slice());
        let columns = all.as_mut_slice().par_chunks_exact_mut(genes);
        let each = columns.zip(order.par_iter().zip(roots.as_slice()));
        each.for_each(|(column, (&candidate, root))| {
            let genome = &genomes[candidate * genes..(candidate + 1) * genes];
            for (k, y) in column.iter_mut().enumerate() {
                *y = root * (genome[k] / scales[k] - mean[k]) / self.sigma;
            }
        });
        let step = &all * roots;
        (!order.is_empty()).then_some((all, step))
    }

    fn learn(&mut self, steps: &DMatrix<f64>, step: &DVector<f64>) {
        let n = self.mean.len() as f64;
        let Constants {
            mu_eff,
            c_sigma,
            d_sigma,
            c_c,
            c_1,
            c_mu,
            chi,
            ..
        } = self.constants;
        self.mean += step * self.sigma;
        let [path, path_c] = &mut self.paths;
        let root = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        *path = &*path * (1.0 - c_sigma) + self.shape.whitened(step) * root;
        let faded = (1.0 - (1.0 - c_sigma).powf(2.0 * f64::from(self.age + 1))).sqrt();
        let is_slow = path.norm() / faded < (1.4 + 2.0 / (n + 1.0)) * chi;
        let h = if is_slow { 1.0 } else { 0.0 };
        *path_c = &*path_c * (1.0 - c_c) + step * (h * (c_c * (2.0 - c_c) * mu_eff).sqrt());
        let kept = 1.0 + c_1 * (1.0 - h) * c_c * (2.0 - c_c) - c_1 - c_mu;
        self.shape.learn(kept, c_1, path_c, c_mu, steps);
        let change = c_sigma / d_sigma * (path.norm() / chi - 1.0);
        self.sigma *= change.min(1.0).exp();
        self.age += 1;
        // The axes change slowly: Hansen's section B.2.
        let every = (1.0 / (10.0 * n * (c_1 + c_mu))).max(1.0) as u32;
        if self.age.is_multiple_of(every) {
            self.shape.decompose();
        }
    }
}

impl Strategy for CmaEsState {
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
        if self.has_ended() {
            let fresh = founders.population(generation)?;
            self.begin(&fresh[..genes]);
        }
        let state = &*self;
        let deviations = state.shape.deviations();
        (genomes.par_chunks_exact_mut(genes).enumerate()).for_each(|(candidate, genome)| {
            let drawn = state.draws.of(Purpose::Vary, generation, candidate as u32);
            let mut normals = DVector::zeros(genes);
            drawn.normals(normals.as_mut_slice());
            normals.component_mul_assign(&deviations);
            let step = state.shape.turned(normals);
            for (k, gene) in genome.iter_mut().enumerate() {
                *gene = state.scales[k] * (state.mean[k] + state.sigma * step[k]);
            }
        });
        Ok(())
    }

    fn tell(&mut self, generation: u32, genomes: &mut Vec<f64>, scores: &[f64]) {
        let best = (0..scores.len())
            .rev()
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .unwrap_or(0);
        if generation == 0 {
            let genes = self.scales.len();
            self.begin(&genomes[best * genes..(best + 1) * genes]);
            return;
        }
        if let Some((steps, step)) = self.steps(genomes, scores) {
            self.learn(&steps, &step);
        }
        self.idle = match scores[best] > self.best {
            true => 0,
            false => self.idle + 1,
        };
        self.best = self.best.max(scores[best]);
    }

    fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.put_numbers(&[self.sigma, self.age.into(), self.best, self.idle.into()]);
        for vector in [&self.mean, &self.paths[0], &self.paths[1]] {
            memory.put_numbers(vector.as_slice());
        }
        match &self.shape {
            Shape::Full {
                covariance,
                axes,
                deviations,
            } => {
                memory.put_numbers(covariance.as_slice());
                memory.put_numbers(axes.as_slice());
                memory.put_numbers(deviations.as_slice());
            }
            Shape::Separable { variances } => memory.put_numbers(variances.as_slice()),
        }
        memory
    }

    fn remember(&mut self, memory: &mut Memory) -> Option<()> {
        let genes = self.scales.len();
        let numbers = memory.take_numbers(4)?;
        (self.sigma, self.best) = (numbers[0], numbers[2]);
        // Counts of generations.
        (self.age, self.idle) = (numbers[1] as u32, numbers[3] as u32);
        let vector = |memory: &mut Memory| memory.take_numbers(genes).map(DVector::from_vec);
        self.mean = vector(memory)?;
        self.paths = [vector(memory)?, vector(memory)?];
        let matrix = |memory: &mut Memory| {
            let numbers = memory.take_numbers(genes * genes)?;
            Some(DMatrix::from_vec(genes, genes, numbers))
        };
        self.shape = match self.how.separable {
            true => Shape::Separable {
                variances: vector(memory)?,
            },
            false => Shape::Full {
                covariance: matrix(memory)?,
                axes: matrix(memory)?,
                deviations: vector(memory)?,
            },
        };
        Some(())
    }
}

impl Shape {
    fn new(genes: usize, separable: bool) -> Shape {
        match separable {
            true => Shape::Separable {
                variances: DVector::from_element(genes, 1.0),
            },
            false => Shape::Full {
                covariance: DMatrix::identity(genes, genes),
                axes: DMatrix::identity(genes, genes),
                deviations: DVector::from_element(genes, 1.0),
            },
        }
    }

    /// The largest deviation of a gene.
    fn largest(&self) -> f64 {
        match self {
            Shape::Full { covariance, .. } => covariance.diagonal().max().sqrt(),
            Shape::Separable { variances } => variances.max().sqrt(),
        }
    }

    /// The deviations along the axes.
    fn deviations(&self) -> DVector<f64> {
        match self {
            Shape::Full { deviations, .. } => deviations.clone(),
            Shape::Separable { variances } => variances.map(f64::sqrt),
        }
    }

    /// A step by genes from one along the axes.
    fn turned(&self, step: DVector<f64>) -> DVector<f64> {
        match self {
            Shape::Full { axes, .. } => axes * step,
            Shape::Separable { .. } => step,
        }
    }

    /// A step with the covariance taken out of it.
    fn whitened(&self, step: &DVector<f64>) -> DVector<f64> {
        match self {
            Shape::Full {
                axes, deviations, ..
            } => axes * axes.tr_mul(step).component_div(deviations),
            Shape::Separable { variances } => step.component_div(&variances.map(f64::sqrt)),
        }
    }

    /// Keeps a part of what is known, and adds a part of a path's product with itself, and of those of steps.
    fn learn(&mut self, kept: f64, c_1: f64, path: &DVector<f64>, c_mu: f64, steps: &DMatrix<f64>) {
        match self {
            Shape::Full { covariance, .. } => {
                *covariance *= kept;
                covariance.ger(c_1, path, path, 1.0);
                covariance.gemm(c_mu, steps, &steps.transpose(), 1.0);
            }
            Shape::Separable { variances } => {
                let mut squares = vec![0.0; variances.len()];
                for column in steps.as_slice().chunks_exact(variances.len()) {
                    for (sum, y) in squares.iter_mut().zip(column) {
                        *sum += y * y;
                    }
                }
                for (k, variance) in variances.iter_mut().enumerate() {
                    *variance = kept * *variance + c_1 * path[k] * path[k] + c_mu * squares[k];
                }
                let least = LEAST_VARIANCE * variances.max();
                variances.apply(|variance| *variance = variance.max(least));
            }
        }
    }

    fn decompose(&mut self) {
        if let Shape::Full {
            covariance,
            axes,
            deviations,
        } = self
        {
            let symmetric = (&*covariance + covariance.transpose()) * 0.5;
            // None where it holds no numbers; then the size of the steps ends the search.
            let sweeps = SWEEPS * symmetric.nrows();
            if let Some(eigen) = SymmetricEigen::try_new(symmetric, f64::EPSILON, sweeps) {
                let least = LEAST_VARIANCE * eigen.eigenvalues.max();
                *deviations = eigen.eigenvalues.map(|value| value.max(least).sqrt());
                *axes = eigen.eigenvectors;
            }
        }
    }
}
