//! Fitting: the params of a model at which a loss is least, or at which residuals are.
//!
//! All methods work in coordinates in which each param has about the size 1, and on values of the model's
//! type of floats, as a launch takes them. They keep params in their ranges by projection. A model with draws
//! has the same draws at each point (those of the simulation's seed), so that points do not differ by noise.

mod adam;
mod cma_es;
mod lbfgs;
mod least_squares;
mod nelder_mead;
mod problem;
mod random;

use crate::{
    control::Control,
    error::Error,
    simulation::{Float, GradientMode, Loss, Simulation},
};
pub(crate) use cma_es::Constants;
use problem::{Point, Problem};
use random::Random;

/// What is made small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// A mean or a sum over agents.
    Loss(Loss),
    /// The sum of the squares of an output over agents: each agent has one residual.
    Residuals(String),
}

/// How the least value is searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Limited-memory BFGS with the last 10 steps: D. C. Liu and J. Nocedal, "On the limited memory BFGS
    /// method for large scale optimization", Mathematical Programming 45 (1989). The line search is the
    /// bisection for the weak Wolfe conditions of A. S. Lewis and M. L. Overton, "Nonsmooth optimization via
    /// quasi-Newton methods", Mathematical Programming 141 (2013); params at an end of their range that
    /// would leave it are held.
    Lbfgs,
    /// D. P. Kingma and J. Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015.
    Adam,
    /// K. Levenberg (1944), D. W. Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear
    /// Parameters", J. SIAM 11 (1963); the damping is H. B. Nielsen's (1999). For residuals only.
    LevenbergMarquardt,
    /// J. A. Nelder and R. Mead, "A simplex method for function minimization", The Computer Journal 7
    /// (1965), with the coefficients of F. Gao and L. Han, Computational Optimization and Applications 51
    /// (2012). Needs no derivatives.
    NelderMead,
    /// N. Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772. Needs no derivatives.
    CmaEs,
}

impl Method {
    /// Whether it needs derivatives.
    pub fn needs_derivatives(self) -> bool {
        match self {
            Method::Lbfgs | Method::Adam | Method::LevenbergMarquardt => true,
            Method::NelderMead | Method::CmaEs => false,
        }
    }
}

/// What is fitted, and how.
#[derive(Clone, Debug)]
pub struct Fit {
    /// What is made small.
    pub goal: Goal,
    /// Params; of an array all values, unless one is named: `w[3]`.
    pub over: Vec<String>,
    /// How.
    pub method: Method,
    /// How derivatives are computed.
    pub mode: GradientMode,
    /// Searches: the first from the values of the simulation, the others from points drawn from the ranges
    /// of the params. A param without a range keeps its value in them.
    pub starts: u32,
    /// Most iterations of a search; by method if none is said.
    pub iterations: Option<u32>,
    /// The seed of starts and of CMA-ES.
    pub seed: u64,
}

/// How far a search is.
#[derive(Clone, Debug)]
pub struct FitProgress {
    /// Which search it is, from 0.
    pub start: u32,
    /// Its iteration, from 0.
    pub iteration: u32,
    /// Runs so far, of all searches.
    pub evaluations: u64,
    /// The loss, or the sum of squares.
    pub loss: f64,
    /// The norm of the gradient by the coordinates of the search, without those held at an end of a range.
    pub gradient_norm: Option<f64>,
    /// The length of the last step in these coordinates, or the spread of the points.
    pub step: f64,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The gradient is 0 within what its rounding leaves of it.
    Gradient,
    /// The loss no longer decreases by more than the rounding of floats.
    Loss,
    /// The steps, or the distances of the points, are below the resolution of floats.
    Step,
    /// After the last iteration that was allowed.
    Iterations,
    /// It was cancelled.
    Interrupted,
}

/// A param after a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The float: its name, its place in the param, and its range. Its value is that before the fit.
    pub float: Float,
    /// The value found.
    pub value: f64,
    /// Whether the search ended at an end of its range.
    pub at_bound: bool,
    /// Of least squares, the standard error: the root of a diagonal element of `s² (JᵀJ)⁻¹`, where `s²` is
    /// the sum of squares over the number of residuals without that of params. None for a param at its bound
    /// and where the residuals do not determine it.
    pub standard_error: Option<f64>,
}

/// What a fit found.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The params.
    pub estimates: Vec<Estimate>,
    /// The loss, or the sum of squares, there.
    pub loss: f64,
    /// The norm of the gradient there, as in [`FitProgress`].
    pub gradient_norm: Option<f64>,
    /// Of least squares, the number of residuals.
    pub residuals: Option<u32>,
    /// Of least squares, the correlations of the estimates, row by row; NaN for those without an error.
    pub correlation: Option<Vec<Vec<f64>>>,
    /// The least loss of each search, infinite for those that did not begin.
    pub losses: Vec<f64>,
    /// Iterations of the search that found it.
    pub iterations: u32,
    /// Runs of all searches.
    pub evaluations: u64,
    /// Why the search that found it ended.
    pub ended: Ended,
}

/// What one search found.
struct Search {
    point: Point,
    loss: f64,
    gradient_norm: Option<f64>,
    iterations: u32,
    ended: Ended,
}

/// Is told how far a search is.
pub type Watch<'a> = &'a mut dyn FnMut(&FitProgress);

impl Simulation {
    /// Searches the params at which a loss is least. The simulation is left as it was. A fit that is
    /// cancelled gives the best point so far.
    ///
    /// ```
    /// use sim_runtime::{Control, Fit, Goal, GradientMode, Loss, Method, Simulation};
    ///
    /// let source = "agents 1 param x = -1.2 param y = 1.0
    ///     output f = 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2";
    /// let fit = Fit {
    ///     goal: Goal::Loss(Loss::mean("f")),
    ///     over: vec!["x".to_owned(), "y".to_owned()],
    ///     method: Method::Lbfgs,
    ///     mode: GradientMode::Auto,
    ///     starts: 1,
    ///     iterations: None,
    ///     seed: 0,
    /// };
    /// let simulation = Simulation::compile(source)?;
    /// let found = simulation.fit(&fit, &Control::default(), &mut |_| {})?;
    /// assert!(found.estimates.iter().all(|estimate| (estimate.value - 1.0).abs() < 1e-3));
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Simulation::floats`], of [`Simulation::differentiate`] where the method needs derivatives,
    /// [`Error::DerivativeNotFinite`] at the first start, and any error of a run.
    pub fn fit(&self, fit: &Fit, control: &Control<'_>, watch: Watch<'_>) -> Result<Fitted, Error> {
        let mut problem = Problem::new(self, fit, *control, watch)?;
        let starts = starts(&problem, fit);
        let mut best: Option<Search> = None;
        let mut losses = vec![f64::INFINITY; starts.len()];
        for (number, start) in starts.into_iter().enumerate() {
            problem.start = number as u32;
            let found = match search(&mut problem, fit, start) {
                Ok(found) => found,
                Err(Error::Cancelled) => match problem.rescued() {
                    Some(found) => found,
                    None => return Err(Error::Cancelled),
                },
                // A start in a place without numbers is no reason to lose the others.
                Err(Error::DerivativeNotFinite { .. }) if number > 0 => continue,
                Err(error) => return Err(error),
            };
            losses[number] = found.loss;
            let interrupted = found.ended == Ended::Interrupted;
            if best.as_ref().is_none_or(|best| found.loss < best.loss) {
                best = Some(found);
            } else if let Some(best) = best.as_mut().filter(|_| interrupted) {
                best.ended = Ended::Interrupted;
            }
            if interrupted {
                break;
            }
        }
        let best = best.ok_or(Error::Cancelled)?;
        Ok(problem.fitted(best, losses))
    }
}

fn search(problem: &mut Problem<'_>, fit: &Fit, start: Point) -> Result<Search, Error> {
    let most = |usual: u32| fit.iterations.unwrap_or(usual);
    match fit.method {
        Method::Lbfgs => lbfgs::search(problem, start, most(500)),
        Method::Adam => adam::search(problem, start, most(2000)),
        Method::LevenbergMarquardt => least_squares::search(problem, start, most(2000)),
        Method::NelderMead => nelder_mead::search(problem, start, most(2000)),
        Method::CmaEs => cma_es::search(problem, start, most(1000), fit.seed),
    }
}

/// The points at which searches begin.
fn starts(problem: &Problem<'_>, fit: &Fit) -> Vec<Point> {
    let mut random = Random::new(fit.seed);
    let mut starts = vec![problem.origin()];
    for _ in 1..fit.starts.max(1) {
        let place = |float: &Float| {
            let place = random.unit();
            match float.range {
                [low, high] if (high - low).is_finite() => low + (high - low) * place,
                _ => float.value,
            }
        };
        let values: Vec<f64> = problem.floats.iter().map(place).collect();
        starts.push(problem.point_of(&values));
    }
    starts
}
