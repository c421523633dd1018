//! Limited-memory BFGS with ranges.

use super::{
    Ended, Search,
    problem::{Point, Problem, Slope},
};
use crate::error::Error;
use std::collections::VecDeque;

/// Steps that the approximation of the inverse Hessian is made of.
const MEMORY: usize = 10;
/// Longest first step along an axis, in coordinates of about the size 1.
const FIRST: f64 = 0.1;
/// The part of the expected decrease that a step must bring.
const DECREASE: f64 = 1e-4;
/// The part of the slope that may be left after a step.
const CURVATURE: f64 = 0.9;
/// Points that a line search tries.
const TRIALS: u32 = 30;

type Pair = (Vec<f64>, Vec<f64>);

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

pub(super) fn search(problem: &mut Problem<'_>, start: Point, most: u32) -> Result<Search, Error> {
    let mut slope = problem.slope(&start)?;
    let first = problem.free_norm(&start, &slope.gradient);
    let mut point = start;
    let mut pairs: VecDeque<Pair> = VecDeque::new();
    let mut best = Search {
        point: point.clone(),
        loss: slope.loss,
        gradient_norm: Some(first),
        iterations: 0,
        ended: Ended::Iterations,
    };
    let (mut iteration, mut idle, mut step) = (0, 0, 0.0);
    let resolution = problem.resolution();
    loop {
        let norm = problem.free_norm(&point, &slope.gradient);
        problem.report(iteration, slope.loss, Some(norm), step);
        if slope.loss <= best.loss {
            best.point.clone_from(&point);
            (best.loss, best.gradient_norm) = (slope.loss, Some(norm));
        }
        best.iterations = iteration;
        best.ended = match () {
            () if norm <= resolution.gradient * first => Ended::Gradient,
            () if idle >= 3 => Ended::Loss,
            () if iteration >= most => Ended::Iterations,
            () => {
                let direction = direction(problem, &point, &slope.gradient, &pairs);
                match along(problem, &point, &slope, &direction)? {
                    Some((next, found)) => {
                        let (s, y) = (
                            minus(&next, &point),
                            minus(&found.gradient, &slope.gradient),
                        );
                        step = dot(&s, &s).sqrt();
                        let small =
                            slope.loss - found.loss <= 0.1 * resolution.loss * slope.loss.abs();
                        idle = if small { idle + 1 } else { 0 };
                        if dot(&s, &y) > 1e-12 * step * dot(&y, &y).sqrt() {
                            pairs.push_back((s, y));
                        }
                        if pairs.len() > MEMORY {
                            pairs.pop_front();
                        }
                        (point, slope) = (next, found);
                        iteration += 1;
                        continue;
                    }
                    // The steepest descent is tried before the search gives up.
                    None if !pairs.is_empty() => {
                        pairs.clear();
                        continue;
                    }
                    None => Ended::Loss,
                }
            }
        };
        return Ok(best);
    }
}

/// Downhill, within the ranges.
fn direction(
    problem: &Problem<'_>,
    point: &[f64],
    gradient: &[f64],
    pairs: &VecDeque<Pair>,
) -> Vec<f64> {
    let held: Vec<bool> = (0..point.len())
        .map(|at| problem.is_held(point, at, -gradient[at]))
        .collect();
    let free = |values: &mut Vec<f64>| {
        for (value, _) in values.iter_mut().zip(&held).filter(|(_, held)| **held) {
            *value = 0.0;
        }
    };
    let mut along: Vec<f64> = gradient.to_vec();
    free(&mut along);
    let steepest: Vec<f64> = along.iter().map(|value| -value).collect();
    let mut weights = Vec::new();
    for (s, y) in pairs.iter().rev() {
        let weight = dot(s, &along) / dot(s, y);
        along
            .iter_mut()
            .zip(y)
            .for_each(|(value, y)| *value -= weight * y);
        weights.push(weight);
    }
    if let Some((s, y)) = pairs.back() {
        let scale = dot(s, y) / dot(y, y);
        along.iter_mut().for_each(|value| *value *= scale);
    }
    for ((s, y), weight) in pairs.iter().zip(weights.iter().rev()) {
        let back = weight - dot(y, &along) / dot(s, y);
        along
            .iter_mut()
            .zip(s)
            .for_each(|(value, s)| *value += back * s);
    }
    along.iter_mut().for_each(|value| *value = -*value);
    free(&mut along);
    let descends = dot(&along, gradient) < 0.0 && along.iter().all(|value| value.is_finite());
    if descends && !pairs.is_empty() {
        return along;
    }
    let largest = steepest
        .iter()
        .fold(0.0_f64, |most, value| most.max(value.abs()));
    let scale = FIRST / largest.max(f64::MIN_POSITIVE);
    steepest.iter().map(|value| value * scale).collect()
}

/// A point along a direction that meets the weak Wolfe conditions, or the best one that decreases the loss.
fn along(
    problem: &mut Problem<'_>,
    point: &[f64],
    from: &Slope,
    direction: &[f64],
) -> Result<Option<(Point, Slope)>, Error> {
    let steep = dot(&from.gradient, direction);
    let rounding = problem.resolution().loss;
    let (mut low, mut high, mut length) = (0.0_f64, f64::INFINITY, 1.0_f64);
    let mut best: Option<(Point, Slope)> = None;
    for _ in 0..TRIALS {
        let moved: Vec<f64> = point
            .iter()
            .zip(direction)
            .map(|(x, d)| x + length * d)
            .collect();
        let moved = problem.settled(&moved);
        // Beyond the end of a range all steps lead to the same point.
        let is_known = best.as_ref().is_some_and(|(best, _)| *best == moved);
        if moved == point || is_known {
            break;
        }
        let found = problem.try_slope(&moved)?;
        let expected = dot(&from.gradient, &minus(&moved, point)).min(0.0);
        let left = dot(&found.gradient, direction);
        // Where rounding hides the decrease, slopes tell: W. W. Hager and H. Zhang, "A new conjugate gradient
        // method with guaranteed descent and an efficient line search", SIAM J. Optim. 16 (2005).
        let hidden = found.loss <= from.loss + rounding * from.loss.abs()
            && left <= (2.0 * 0.1 - 1.0) * steep;
        if found.loss <= from.loss + DECREASE * expected || hidden && left.abs() < steep.abs() {
            let is_steep = left < CURVATURE * steep;
            if best.as_ref().is_none_or(|(_, best)| found.loss < best.loss) {
                best = Some((moved, found));
            }
            if !is_steep {
                break;
            }
            low = length;
        } else {
            high = length;
        }
        length = match high.is_finite() {
            true => 0.5 * (low + high),
            false => 2.0 * low,
        };
    }
    Ok(best)
}
