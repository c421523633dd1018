//! Levenberg–Marquardt, with ranges, and the errors of its estimates.

use super::{
    Ended, Search,
    problem::{Point, Problem, Residuals},
};
use crate::{error::Error, parallel::*};
use nalgebra::{DMatrix, DVector};

/// The damping at the start, relative to the diagonal of JᵀJ.
const DAMPING: f64 = 1e-3;
/// More damping than this leaves steps below the resolution of floats.
const MOST_DAMPING: f64 = 1e16;
/// The most steps beyond that.
const POLISH: u32 = 8;

/// JᵀJ and Jᵀr of the coordinates that are not held.
struct Normal {
    free: Vec<usize>,
    matrix: DMatrix<f64>,
    gradient: DVector<f64>,
}

/// The sum of the products of two columns. Neighbours are added to different sums, which a processor does at
/// the same time; the order is the same everywhere.
fn product(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (mut sums, mut rest) = ([0.0; SUMS], 0.0);
    let (a, b) = (a.as_chunks::<SUMS>(), b.as_chunks::<SUMS>());
    for (a, b) in a.0.iter().zip(b.0) {
        for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
            *sum += a * b;
        }
    }
    for (a, b) in a.1.iter().zip(b.1) {
        rest += a * b;
    }
    sums.iter().sum::<f64>() + rest
}

fn normal(residuals: &Residuals, free: Vec<usize>) -> Normal {
    let column = |at: usize| residuals.columns[free[at]].as_slice();
    let count = free.len();
    // The matrix is symmetric.
    let pairs: Vec<(usize, usize)> = (0..count)
        .flat_map(|row| (0..=row).map(move |col| (row, col)))
        .collect();
    let products: Vec<f64> = pairs
        .par_iter()
        .map(|&(row, col)| product(column(row), column(col)))
        .collect();
    let mut matrix = DMatrix::zeros(count, count);
    for (&(row, col), value) in pairs.iter().zip(products) {
        matrix[(row, col)] = value;
        matrix[(col, row)] = value;
    }
    let gradient = DVector::from_fn(count, |row, _| product(column(row), &residuals.values));
    Normal {
        free,
        matrix,
        gradient,
    }
}

impl Normal {
    /// The step of the equations that are damped by so much of the `sizes` of all coordinates; none if they
    /// have no solution.
    fn step(&self, damping: f64, sizes: &[f64]) -> Option<DVector<f64>> {
        let mut matrix = self.matrix.clone();
        for (at, &coordinate) in self.free.iter().enumerate() {
            let own = matrix[(at, at)].max(f64::MIN_POSITIVE);
            matrix[(at, at)] = own + damping * sizes[coordinate].max(own);
        }
        let solved = matrix.cholesky()?.solve(&-&self.gradient);
        solved
            .iter()
            .all(|value| value.is_finite())
            .then_some(solved)
    }
}

pub(super) fn search(problem: &mut Problem<'_>, start: Point, most: u32) -> Result<Search, Error> {
    let mut point = start;
    let mut residuals = problem.residuals(&point)?;
    let (mut damping, mut growth) = (DAMPING, 2.0);
    let rounding = problem.resolution().squares;
    // The largest squares of the columns so far: J. J. Moré, "The Levenberg–Marquardt algorithm:
    // implementation and theory" (1978). A coordinate that lost its say does not run away.
    let mut sizes = vec![0.0; point.len()];
    let (mut iteration, mut idle, mut length) = (0, 0, 0.0);
    let ended = loop {
        let gradient = gradient(&residuals);
        let norm = problem.free_norm(&point, &gradient);
        let loss = residuals.squares();
        problem.report(iteration, loss, Some(norm), length);
        if norm == 0.0 || loss == 0.0 {
            break Ended::Gradient;
        }
        if iteration >= most {
            break Ended::Iterations;
        }
        if idle >= 3 {
            break Ended::Loss;
        }
        let free = (0..point.len()).filter(|&at| !problem.is_held(&point, at, -gradient[at]));
        let normal = normal(&residuals, free.collect());
        for (at, &coordinate) in normal.free.iter().enumerate() {
            sizes[coordinate] = normal.matrix[(at, at)].max(sizes[coordinate]);
        }
        let found = loop {
            if damping > MOST_DAMPING {
                break None;
            }
            if let Some(tried) = tried(problem, &point, loss, &normal, (damping, &sizes))? {
                break Some(tried);
            }
            damping *= growth;
            growth *= 2.0;
        };
        let Some((next, found, gain)) = found else {
            break Ended::Step;
        };
        let decrease = loss - found.squares();
        idle = if decrease <= rounding * loss {
            idle + 1
        } else {
            0
        };
        let squares = next.iter().zip(&point).map(|(a, b)| (a - b).powi(2));
        length = squares.sum::<f64>().sqrt();
        damping = (damping * (1.0 - (2.0 * gain - 1.0).powi(3)).max(1.0 / 3.0)).max(1e-15);
        growth = 2.0;
        (point, residuals) = (next, found);
        iteration += 1;
    };
    if ended != Ended::Iterations {
        (point, residuals) = polished(problem, point, residuals)?;
    }
    Ok(Search {
        gradient_norm: Some(problem.free_norm(&point, &gradient(&residuals))),
        loss: residuals.squares(),
        point,
        iterations: iteration,
        ended,
    })
}

/// 2 Jᵀr: the gradient of the sum of squares.
fn gradient(residuals: &Residuals) -> Vec<f64> {
    let columns = residuals.columns.par_iter();
    let slope = |column: &Vec<f64>| 2.0 * product(column, &residuals.values);
    columns.map(slope).collect()
}

/// Steps of Gauss and Newton, where rounding hides whether the sum of squares decreases: Jᵀr
/// tells more exactly where it is least, since near there the sum is a square of the distance. They go on
/// while each is less than half of the one before.
fn polished(
    problem: &mut Problem<'_>,
    mut point: Point,
    mut residuals: Residuals,
) -> Result<(Point, Residuals), Error> {
    let mut before = f64::INFINITY;
    let hidden = problem.resolution().hidden;
    for _ in 0..POLISH {
        let slope = gradient(&residuals);
        let free = (0..point.len()).filter(|&at| !problem.is_held(&point, at, -slope[at]));
        let normal = normal(&residuals, free.collect());
        let Some(step) = normal.step(0.0, &vec![0.0; point.len()]) else {
            break;
        };
        let mut moved = point.clone();
        for (at, change) in normal.free.iter().zip(step.iter()) {
            moved[*at] += change;
        }
        let moved = problem.settled(&moved);
        let length = step.norm();
        if moved == point || length > 0.5 * before {
            break;
        }
        let found = match problem.residuals(&moved) {
            Err(Error::DerivativeNotFinite { .. }) => break,
            other => other?,
        };
        if found.squares() > residuals.squares() * (1.0 + hidden) {
            break;
        }
        before = length;
        (point, residuals) = (moved, found);
    }
    Ok((point, residuals))
}

/// A step under a damping, its residuals and the part of the decrease that was predicted; none if it brings
/// no decrease.
fn tried(
    problem: &mut Problem<'_>,
    point: &[f64],
    loss: f64,
    normal: &Normal,
    (damping, sizes): (f64, &[f64]),
) -> Result<Option<(Point, Residuals, f64)>, Error> {
    let Some(step) = normal.step(damping, sizes) else {
        return Ok(None);
    };
    let mut moved = point.to_vec();
    for (at, change) in normal.free.iter().zip(step.iter()) {
        moved[*at] += change;
    }
    let moved = problem.settled(&moved);
    // A step is rounded once more.
    let shortest = 0.1 * problem.resolution().shortest;
    let is_short = moved
        .iter()
        .zip(point)
        .all(|(a, b)| (a - b).abs() < shortest * b.abs().max(1e-3));
    if is_short || moved == point {
        return Ok(None);
    }
    let found = match problem.residuals(&moved) {
        Err(Error::DerivativeNotFinite { .. }) => return Ok(None),
        other => other?,
    };
    let decrease = loss - found.squares();
    let taken = DVector::from_iterator(
        normal.free.len(),
        normal.free.iter().map(|&at| moved[at] - point[at]),
    );
    let linear = -2.0 * normal.gradient.dot(&taken) - taken.dot(&(&normal.matrix * &taken));
    // The prediction of a step that a range has shortened may be no decrease.
    let gain = if linear > 0.0 { decrease / linear } else { 1.0 };
    Ok((decrease > 0.0).then_some((moved, found, gain)))
}

/// The standard errors of params, and the correlations of these.
pub(super) type Errors = (Vec<Option<f64>>, Vec<Vec<f64>>);

/// From `s² (JᵀJ)⁻¹` of the params that are not at a bound.
pub(super) fn errors(residuals: &Residuals, held: &[bool], scales: &[f64]) -> Errors {
    let count = held.len();
    let mut errors = vec![None; count];
    let mut correlation = vec![vec![f64::NAN; count]; count];
    let normal = normal(residuals, (0..count).filter(|&at| !held[at]).collect());
    let freedom = residuals.values.len() as f64 - normal.free.len() as f64;
    // With columns of length 1 the inverse is as exact as it can be.
    let lengths: Vec<f64> = (0..normal.free.len())
        .map(|at| normal.matrix[(at, at)].sqrt())
        .collect();
    let scaled = DMatrix::from_fn(lengths.len(), lengths.len(), |row, col| {
        normal.matrix[(row, col)] / (lengths[row] * lengths[col])
    });
    let inverse = scaled.cholesky().map(|factor| factor.inverse());
    let Some(inverse) = inverse.filter(|_| freedom > 0.0) else {
        return (errors, correlation);
    };
    let variance = residuals.squares() / freedom;
    for (row, &at) in normal.free.iter().enumerate() {
        let error = (variance * inverse[(row, row)]).sqrt() / lengths[row] * scales[at];
        errors[at] = Some(error).filter(|error| error.is_finite());
        for (col, &other) in normal.free.iter().enumerate() {
            let size = (inverse[(row, row)] * inverse[(col, col)]).sqrt();
            correlation[at][other] = inverse[(row, col)] / size;
        }
    }
    (errors, correlation)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line `a + b x` through (0, 1), (1, 3), (2, 4), (3, 4): `a` = 1.5, `b` = 1, residuals -0.5, 0.5,
    /// 0.5 and -0.5, so `s²` = 1 / 2. `(JᵀJ)⁻¹` is `[14, -6; -6, 4] / 20`.
    #[test]
    fn errors_are_those_of_a_line() {
        let residuals = Residuals {
            values: vec![0.5, -0.5, -0.5, 0.5],
            columns: vec![vec![1.0; 4], vec![0.0, 2.0, 4.0, 6.0]],
        };
        // The second coordinate counts in units of 2.
        let (errors, correlation) = errors(&residuals, &[false; 2], &[1.0, 2.0]);
        let exact = [
            (0.5 * 14.0 / 20.0_f64).sqrt(),
            (0.5 * 4.0 / 20.0_f64).sqrt(),
        ];
        for (error, exact) in errors.iter().zip(exact) {
            assert!((error.expect("it is determined") - exact).abs() < 1e-12);
        }
        assert!((correlation[0][1] + 6.0 / 56.0_f64.sqrt()).abs() < 1e-12);
        let (held, _) = super::errors(&residuals, &[true, false], &[1.0, 2.0]);
        assert_eq!(held[0], None);
        assert!(held[1].is_some());
    }
}
