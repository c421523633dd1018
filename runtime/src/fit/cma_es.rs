//! CMA-ES: an evolution strategy that learns the covariance of its steps. Symbols are those of N. Hansen's
//! tutorial, arXiv:1604.00772, whose table 1 has the constants. A generation runs as one batch.

use super::{
    Ended, Search,
    problem::{Point, Problem},
    random::Random,
};
use crate::error::Error;
use nalgebra::{DMatrix, DVector, SymmetricEigen};

/// The first step size, in coordinates of about the size 1.
const SIGMA: f64 = 0.3;
/// Fewest candidates of a generation: runs of one batch cost less than runs one by one.
const FEWEST: usize = 12;
/// Generations without a better loss, after which the search ends.
const PATIENCE: u32 = 60;

/// The constants of a search.
pub(crate) struct Constants {
    /// Of the better half, the best first; they add up to 1.
    pub(crate) weights: Vec<f64>,
    pub(crate) mu_eff: f64,
    pub(crate) c_sigma: f64,
    pub(crate) d_sigma: f64,
    pub(crate) c_c: f64,
    pub(crate) c_1: f64,
    pub(crate) c_mu: f64,
    /// The expected length of a standard normal vector.
    pub(crate) chi: f64,
}

impl Constants {
    /// Those of a search over `n` numbers with `lambda` candidates a generation.
    pub(crate) fn of(n: f64, lambda: usize) -> Constants {
        let mu = lambda / 2;
        let raw = (1..=mu).map(|i| ((lambda as f64 + 1.0) / 2.0).ln() - (i as f64).ln());
        let raw: Vec<f64> = raw.collect();
        let sum: f64 = raw.iter().sum();
        let weights: Vec<f64> = raw.iter().map(|weight| weight / sum).collect();
        let mu_eff = 1.0 / weights.iter().map(|weight| weight * weight).sum::<f64>();
        let c_sigma = (mu_eff + 2.0) / (n + mu_eff + 5.0);
        let c_1 = 2.0 / ((n + 1.3).powi(2) + mu_eff);
        let c_mu = 2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((n + 2.0).powi(2) + mu_eff);
        Constants {
            d_sigma: 1.0 + 2.0 * (((mu_eff - 1.0) / (n + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma,
            c_c: (4.0 + mu_eff / n) / (n + 4.0 + 2.0 * mu_eff / n),
            c_mu: c_mu.min(1.0 - c_1),
            chi: n.sqrt() * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n)),
            weights,
            mu_eff,
            c_sigma,
            c_1,
        }
    }
}

/// What a search has learned.
struct State {
    mean: DVector<f64>,
    sigma: f64,
    covariance: DMatrix<f64>,
    /// The root of the covariance and that of its inverse.
    roots: [DMatrix<f64>; 2],
    paths: [DVector<f64>; 2],
}

impl State {
    /// Takes the steps of the best candidates, the best first.
    fn learn(&mut self, constants: &Constants, steps: &[DVector<f64>], generation: u32) {
        let n = self.mean.len() as f64;
        let Constants {
            mu_eff,
            c_sigma,
            c_c,
            c_1,
            c_mu,
            chi,
            ..
        } = *constants;
        let mut step = DVector::zeros(self.mean.len());
        let mut spread = DMatrix::zeros(self.mean.len(), self.mean.len());
        for (weight, y) in constants.weights.iter().zip(steps) {
            step += y * *weight;
            spread += y * y.transpose() * *weight;
        }
        self.mean += &step * self.sigma;
        let [path, path_c] = &mut self.paths;
        let root = (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt();
        *path = &*path * (1.0 - c_sigma) + &self.roots[1] * &step * root;
        let faded = (1.0 - (1.0 - c_sigma).powf(2.0 * f64::from(generation + 1))).sqrt();
        let is_slow = path.norm() / faded < (1.4 + 2.0 / (n + 1.0)) * chi;
        let h = if is_slow { 1.0 } else { 0.0 };
        *path_c = &*path_c * (1.0 - c_c) + &step * (h * (c_c * (2.0 - c_c) * mu_eff).sqrt());
        let lost = (1.0 - h) * c_c * (2.0 - c_c);
        let rank_one = &*path_c * path_c.transpose();
        self.covariance =
            &self.covariance * (1.0 + c_1 * lost - c_1 - c_mu) + rank_one * c_1 + spread * c_mu;
        let change = c_sigma / constants.d_sigma * (path.norm() / chi - 1.0);
        self.sigma *= change.min(1.0).exp();
        self.decompose();
    }

    fn decompose(&mut self) {
        let symmetric = (&self.covariance + self.covariance.transpose()) * 0.5;
        let eigen = SymmetricEigen::new(symmetric);
        let root = |power: f64| {
            let values = eigen.eigenvalues.map(|value| value.max(1e-30).powf(power));
            &eigen.eigenvectors * DMatrix::from_diagonal(&values) * eigen.eigenvectors.transpose()
        };
        self.roots = [root(0.5), root(-0.5)];
    }

    /// The longest of the steps along the axes.
    fn size(&self) -> f64 {
        self.sigma * self.covariance.diagonal().max().sqrt()
    }
}

pub(super) fn search(
    problem: &mut Problem<'_>,
    start: Point,
    most: u32,
    seed: u64,
) -> Result<Search, Error> {
    let (count, shortest) = (problem.dimension(), problem.resolution().shortest);
    let n = count as f64;
    let lambda = (4 + (3.0 * n.ln()) as usize).max(FEWEST);
    let constants = Constants::of(n, lambda);
    let mut random = Random::new(seed ^ u64::from(problem.start) << 32);
    let mut state = State {
        mean: DVector::from_vec(start.clone()),
        sigma: SIGMA,
        covariance: DMatrix::identity(count, count),
        roots: [
            DMatrix::identity(count, count),
            DMatrix::identity(count, count),
        ],
        paths: [DVector::zeros(count), DVector::zeros(count)],
    };
    let loss = problem.losses(std::slice::from_ref(&start))?[0];
    let mut best = (start, loss);
    let (mut generation, mut idle) = (0, 0);
    let ended = loop {
        problem.report(generation, best.1, None, state.size());
        match () {
            () if generation >= most => break Ended::Iterations,
            () if state.size() < shortest => break Ended::Step,
            () if idle >= PATIENCE => break Ended::Loss,
            () => {}
        }
        let steps: Vec<DVector<f64>> = (0..lambda)
            .map(|_| &state.roots[0] * DVector::from_fn(count, |_, _| random.normal()))
            .collect();
        let wanted: Vec<DVector<f64>> = steps
            .iter()
            .map(|y| &state.mean + y * state.sigma)
            .collect();
        let points: Vec<Point> = wanted
            .iter()
            .map(|point| problem.settled(point.as_slice()))
            .collect();
        let losses = problem.losses(&points)?;
        let before = best.1;
        let ranked = ranked(&wanted, &points, &losses, shortest);
        for (point, loss) in points.into_iter().zip(&losses) {
            if *loss < best.1 {
                best = (point, *loss);
            }
        }
        idle = if best.1 < before { 0 } else { idle + 1 };
        let chosen: Vec<DVector<f64>> = ranked.iter().map(|k| steps[*k].clone()).collect();
        state.learn(&constants, &chosen, generation);
        generation += 1;
    };
    Ok(Search {
        point: best.0,
        loss: best.1,
        gradient_norm: None,
        iterations: generation,
        ended,
    })
}

/// The numbers of candidates, the best first. What lies beyond a range counts as worse than its nearest point
/// within, where it was run.
fn ranked(wanted: &[DVector<f64>], points: &[Point], losses: &[f64], shortest: f64) -> Vec<usize> {
    let value = |k: usize| {
        let pairs = wanted[k].iter().zip(&points[k]);
        let beyond: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
        let size = losses[k].abs().max(f64::MIN_POSITIVE);
        // Rounding is no way out of a range.
        let is_beyond = beyond.sqrt() > shortest;
        losses[k] + if is_beyond { beyond * size } else { 0.0 }
    };
    let mut order: Vec<usize> = (0..losses.len()).collect();
    order.sort_by(|&a, &b| value(a).total_cmp(&value(b)));
    order
}
