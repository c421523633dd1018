//! The simplex method. The four points that an iteration may need run as one batch.

use super::{
    Ended, Search,
    problem::{Point, Problem},
};
use crate::error::Error;

/// The first simplex: so far along each axis, in coordinates of about the size 1.
const EDGE: f64 = 0.1;

struct Simplex {
    /// Points with their losses, the best first.
    corners: Vec<(Point, f64)>,
}

impl Simplex {
    fn sort(&mut self) {
        self.corners.sort_by(|a, b| a.1.total_cmp(&b.1));
    }

    /// The largest distance of a coordinate from that of the best corner.
    fn size(&self) -> f64 {
        let best = &self.corners[0].0;
        let distances = self.corners.iter().flat_map(|(corner, _)| {
            corner
                .iter()
                .zip(best)
                .map(|(a, b)| (a - b).abs() / b.abs().max(1e-2))
        });
        distances.fold(0.0, f64::max)
    }

    /// From the middle of all corners but the worst, away from that one by so much of the distance.
    fn away(&self, factor: f64) -> Point {
        let (worst, others) = self.corners.split_last().expect("a simplex has corners");
        let count = others.len() as f64;
        (0..worst.0.len())
            .map(|at| {
                let middle = others.iter().map(|(corner, _)| corner[at]).sum::<f64>() / count;
                middle + factor * (middle - worst.0[at])
            })
            .collect()
    }
}

pub(super) fn search(problem: &mut Problem<'_>, start: Point, most: u32) -> Result<Search, Error> {
    let n = problem.dimension() as f64;
    // Gao and Han's coefficients, with those of Nelder and Mead in one dimension.
    let dimension = n.max(2.0);
    let (expand, contract, shrink) = (
        1.0 + 2.0 / dimension,
        0.75 - 0.5 / dimension,
        1.0 - 1.0 / dimension,
    );
    let resolution = problem.resolution();
    let mut simplex = around(problem, &start, EDGE)?;
    let (mut iteration, mut restarts) = (0, 0);
    let ended = loop {
        simplex.sort();
        let (size, best, worst) = (
            simplex.size(),
            simplex.corners[0].1,
            simplex.corners[n as usize].1,
        );
        problem.report(iteration, best, None, size);
        let is_flat = worst - best <= resolution.flat * best.abs() && size < 1e-3;
        if size < resolution.shortest || is_flat {
            if restarts == 2 {
                break if is_flat { Ended::Loss } else { Ended::Step };
            }
            restarts += 1;
            again(problem, &mut simplex, EDGE / 10.0_f64.powi(restarts))?;
        }
        if iteration >= most {
            break Ended::Iterations;
        }
        iteration += 1;
        let factors = [1.0, expand, contract, -contract];
        let points: Vec<Point> = factors
            .iter()
            .map(|&factor| problem.settled(&simplex.away(factor)))
            .collect();
        let losses = problem.losses(&points)?;
        let second = simplex.corners[n as usize - 1].1;
        let worst = simplex.corners[n as usize].1;
        let [reflected, expanded, outside, inside] = [0, 1, 2, 3].map(|k| losses[k]);
        let chosen = match reflected {
            loss if loss < simplex.corners[0].1 && expanded < loss => Some(1),
            loss if loss < second || loss < simplex.corners[0].1 => Some(0),
            loss if loss < worst && outside <= loss => Some(2),
            loss if loss >= worst && inside < worst => Some(3),
            _ => None,
        };
        match chosen {
            Some(k) => simplex.corners[n as usize] = (points[k].clone(), losses[k]),
            None => shrink_all(problem, &mut simplex, shrink)?,
        }
    };
    let (point, loss) = simplex.corners[0].clone();
    Ok(Search {
        point,
        loss,
        gradient_norm: None,
        iterations: iteration,
        ended,
    })
}

/// Lays another simplex around the best corner: one can collapse beside a minimum.
fn again(problem: &mut Problem<'_>, simplex: &mut Simplex, edge: f64) -> Result<(), Error> {
    let (point, loss) = simplex.corners[0].clone();
    let count = simplex.corners.len();
    *simplex = around(problem, &point, edge)?;
    simplex.corners.push((point, loss));
    simplex.sort();
    simplex.corners.truncate(count);
    Ok(())
}

/// Moves all corners to the best one by a part of their distances.
fn shrink_all(problem: &mut Problem<'_>, simplex: &mut Simplex, shrink: f64) -> Result<(), Error> {
    let best = simplex.corners[0].clone();
    let moved = |(corner, _): &(Point, f64)| {
        let pairs = corner.iter().zip(&best.0);
        let moved: Vec<f64> = pairs.map(|(x, b)| b + shrink.min(0.5) * (x - b)).collect();
        problem.settled(&moved)
    };
    let points: Vec<Point> = simplex.corners[1..].iter().map(moved).collect();
    let losses = problem.losses(&points)?;
    simplex.corners = std::iter::once(best)
        .chain(points.into_iter().zip(losses))
        .collect();
    Ok(())
}

/// A simplex with a corner here, and one along each axis, to the side that the range leaves.
fn around(problem: &mut Problem<'_>, point: &[f64], edge: f64) -> Result<Simplex, Error> {
    let mut points = vec![point.to_vec()];
    for at in 0..point.len() {
        let far = |sign: f64| {
            let mut moved = point.to_vec();
            moved[at] += sign * edge;
            problem.settled(&moved)
        };
        let [below, above] = [far(-1.0), far(1.0)];
        let distance = |moved: &Point| (moved[at] - point[at]).abs();
        points.push(if distance(&above) >= distance(&below) {
            above
        } else {
            below
        });
    }
    let losses = problem.losses(&points)?;
    Ok(Simplex {
        corners: points.into_iter().zip(losses).collect(),
    })
}
