//! Adam, with ranges.

use super::{
    Ended, Search,
    problem::{Point, Problem},
};
use crate::error::Error;

/// The first step along each axis, in coordinates of about the size 1. It falls to 0 as half a cosine.
const RATE: f64 = 0.05;
/// How slowly the means of gradients and of their squares forget.
const DECAY: [f64; 2] = [0.9, 0.999];
const TINY: f64 = 1e-12;
/// A gradient that is smaller than that at the start by this factor is 0.
const FLAT: f64 = 1e-9;

pub(super) fn search(problem: &mut Problem<'_>, start: Point, most: u32) -> Result<Search, Error> {
    let mut point = start;
    let mut means = vec![[0.0_f64; 2]; point.len()];
    let mut best: Option<Search> = None;
    let (mut first, mut step) = (None, 0.0);
    for iteration in 0..=most {
        let slope = problem.slope(&point)?;
        let norm = problem.free_norm(&point, &slope.gradient);
        problem.report(iteration, slope.loss, Some(norm), step);
        if best.as_ref().is_none_or(|best| slope.loss < best.loss) {
            best = Some(Search {
                point: point.clone(),
                loss: slope.loss,
                gradient_norm: Some(norm),
                iterations: iteration,
                ended: Ended::Iterations,
            });
        }
        if norm <= FLAT * *first.get_or_insert(norm) {
            best = best.map(|best| Search {
                ended: Ended::Gradient,
                ..best
            });
            break;
        }
        let part = f64::from(iteration) / f64::from(most.max(1));
        let rate = RATE * 0.5 * (1.0 + (std::f64::consts::PI * part).cos());
        let power = iteration as i32 + 1;
        let mut moved = point.clone();
        for ((x, mean), slope) in moved.iter_mut().zip(&mut means).zip(&slope.gradient) {
            for (mean, (decay, new)) in mean
                .iter_mut()
                .zip(DECAY.into_iter().zip([*slope, slope * slope]))
            {
                *mean = decay * *mean + (1.0 - decay) * new;
            }
            let [mean, square] = [0, 1].map(|k| mean[k] / (1.0 - DECAY[k].powi(power)));
            *x -= rate * mean / (square.sqrt() + TINY);
        }
        let moved = problem.settled(&moved);
        let squares = moved.iter().zip(&point).map(|(a, b)| (a - b).powi(2));
        step = squares.sum::<f64>().sqrt();
        point = moved;
    }
    best.ok_or(Error::Cancelled)
}
