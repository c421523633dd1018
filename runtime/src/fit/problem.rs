//! What a search asks: the loss at points, its gradient, and residuals with their Jacobian.

use super::{Ended, Estimate, Fit, FitProgress, Fitted, Goal, Search, Watch, least_squares};
use crate::{
    control::Control,
    error::Error,
    parallel::*,
    simulation::{Differentiated, Float, Fold, Simulation},
    values::Values,
    variation::Variation,
};
use sim_compiler::RealType;

/// A point of the search: each param over its scale. The params are values of the model's type of floats, so
/// that a point is what the model was run at.
pub(super) type Point = Vec<f64>;

/// What the type of the model's floats leaves of differences: all are relative, of coordinates of about the
/// size 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolution {
    /// Steps and distances that are shorter change no value.
    pub(super) shortest: f64,
    /// What rounding leaves of a loss.
    pub(super) loss: f64,
    /// A gradient that is smaller than that at the start by this factor is 0.
    pub(super) gradient: f64,
    /// Losses that differ by less are those of a simplex at its minimum.
    pub(super) flat: f64,
    /// What it leaves of a sum of squares, summed in `f64`.
    pub(super) squares: f64,
    /// What rounding may add to a sum of squares near where it is least.
    pub(super) hidden: f64,
}

impl Resolution {
    const SINGLE: Resolution = Resolution {
        shortest: 1e-7,
        loss: 1e-7,
        gradient: 1e-9,
        flat: 1e-8,
        squares: 1e-9,
        hidden: 1e-3,
    };
    const DOUBLE: Resolution = Resolution {
        shortest: 1e-15,
        loss: 1e-15,
        gradient: 1e-15,
        flat: 1e-15,
        squares: 1e-16,
        hidden: 1e-8,
    };
}

/// What is asked at points.
pub(super) struct Problem<'a> {
    simulation: Simulation,
    differentiated: Option<Differentiated>,
    goal: &'a Goal,
    pub(super) floats: Vec<Float>,
    /// The size of each param.
    scales: Vec<f64>,
    control: Control<'a>,
    watch: Watch<'a>,
    pub(super) start: u32,
    evaluations: u64,
    iteration: u32,
    best: Option<(Point, f64)>,
}

/// The loss at a point and its gradient by the point's coordinates.
#[derive(Clone, Debug)]
pub(super) struct Slope {
    pub(super) loss: f64,
    pub(super) gradient: Vec<f64>,
}

/// Residuals at a point, and for each param their derivatives by its coordinate.
pub(super) struct Residuals {
    pub(super) values: Vec<f64>,
    pub(super) columns: Vec<Vec<f64>>,
}

impl Residuals {
    /// The sum of their squares.
    pub(super) fn squares(&self) -> f64 {
        self.values.iter().map(|value| value * value).sum()
    }
}

impl<'a> Problem<'a> {
    pub(super) fn new(
        simulation: &Simulation,
        fit: &'a Fit,
        control: Control<'a>,
        watch: Watch<'a>,
    ) -> Result<Problem<'a>, Error> {
        let names: Vec<&str> = fit.over.iter().map(String::as_str).collect();
        let floats = simulation.floats(&names)?;
        let output = match &fit.goal {
            Goal::Loss(loss) => &loss.output,
            Goal::Residuals(output) => output,
        };
        // Refused before the first run, also where no derivative is needed.
        simulation.check_output(output)?;
        let own: Vec<&str> = floats.iter().map(|float| float.name.as_str()).collect();
        let differentiated = match fit.method.needs_derivatives() {
            true => Some(simulation.differentiate(output, &own, fit.mode)?),
            false => None,
        };
        Ok(Problem {
            simulation: simulation.with_outputs(),
            differentiated,
            goal: &fit.goal,
            scales: floats.iter().map(scale).collect(),
            floats,
            control: Control {
                progress: None,
                ..control
            },
            watch,
            start: 0,
            evaluations: 0,
            iteration: 0,
            best: None,
        })
    }

    /// What a search can tell apart.
    pub(super) fn resolution(&self) -> Resolution {
        match self.simulation.manifest().real {
            RealType::F32 => Resolution::SINGLE,
            RealType::F64 => Resolution::DOUBLE,
        }
    }

    /// The number of params.
    pub(super) fn dimension(&self) -> usize {
        self.floats.len()
    }

    /// Where the simulation is.
    pub(super) fn origin(&self) -> Point {
        let values: Vec<f64> = self.floats.iter().map(|float| float.value).collect();
        self.point_of(&values)
    }

    /// The point of some values of params, rounded and moved into their ranges.
    pub(super) fn point_of(&self, values: &[f64]) -> Point {
        let each = self.floats.iter().zip(values).zip(&self.scales);
        each.map(|((float, value), scale)| float.nearest(*value) / scale)
            .collect()
    }

    /// The nearest point that a launch can have.
    pub(super) fn settled(&self, point: &[f64]) -> Point {
        let values: Vec<f64> = point
            .iter()
            .zip(&self.scales)
            .map(|(x, scale)| x * scale)
            .collect();
        self.point_of(&values)
    }

    /// The values of the params at a point.
    pub(super) fn values(&self, point: &[f64]) -> Vec<f64> {
        let each = self.floats.iter().zip(point).zip(&self.scales);
        each.map(|((float, x), scale)| float.nearest(x * scale))
            .collect()
    }

    /// Whether a coordinate is at an end of its range, and a step of this sign would leave it.
    pub(super) fn is_held(&self, point: &[f64], at: usize, step: f64) -> bool {
        let value = self.values(point)[at];
        let float = &self.floats[at];
        let next = if step < 0.0 {
            float.below(value)
        } else {
            float.above(value)
        };
        step != 0.0 && !float.holds(next)
    }

    /// The norm of a gradient, without coordinates that are held.
    pub(super) fn free_norm(&self, point: &[f64], gradient: &[f64]) -> f64 {
        let free = (0..point.len()).filter(|&at| !self.is_held(point, at, -gradient[at]));
        free.map(|at| gradient[at].powi(2)).sum::<f64>().sqrt()
    }

    /// Tells how far the search is.
    pub(super) fn report(&mut self, iteration: u32, loss: f64, norm: Option<f64>, step: f64) {
        self.iteration = iteration;
        (self.watch)(&FitProgress {
            start: self.start,
            iteration,
            evaluations: self.evaluations,
            loss,
            gradient_norm: norm,
            step,
        });
    }

    fn keep(&mut self, point: &[f64], loss: f64) {
        if loss.is_finite() && self.best.as_ref().is_none_or(|(_, best)| loss < *best) {
            self.best = Some((point.to_vec(), loss));
        }
    }

    /// The best point of a fit that is cancelled.
    pub(super) fn rescued(&self) -> Option<Search> {
        self.best.as_ref().map(|(point, loss)| Search {
            point: point.clone(),
            loss: *loss,
            gradient_norm: None,
            iterations: self.iteration,
            ended: Ended::Interrupted,
        })
    }

    /// The loss at each of some points, which run as one batch. Infinite where it is no number.
    pub(super) fn losses(&mut self, points: &[Point]) -> Result<Vec<f64>, Error> {
        let mut variations = Vec::new();
        for point in points {
            let values = self.values(point);
            let params = self.simulation.params_with(&self.floats, &values)?;
            let with =
                |variation: Variation, (name, value): (String, _)| variation.param(&name, value);
            variations.push(params.into_iter().fold(Variation::new(), with));
        }
        let (simulation, goal) = (&self.simulation, self.goal);
        let mut found = vec![f64::INFINITY; points.len()];
        let mut failed = None;
        simulation.run_each(&variations, &self.control, |number, run| {
            let loss = match goal {
                Goal::Loss(loss) => simulation.values_of(&run, &loss.output).map(|values| {
                    let sum: f64 = (0..values.len()).map(|at| values.number(at)).sum();
                    match loss.fold {
                        Fold::Mean => sum / values.len() as f64,
                        Fold::Sum => sum,
                    }
                }),
                Goal::Residuals(output) => simulation
                    .values_of(&run, output)
                    .map(|values| (0..values.len()).map(|at| values.number(at).powi(2)).sum()),
            };
            match loss {
                Ok(loss) if loss.is_finite() => found[number] = loss,
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
        })?;
        self.evaluations += points.len() as u64;
        for (point, loss) in points.iter().zip(&found) {
            self.keep(point, *loss);
        }
        failed.map_or(Ok(found), Err)
    }

    /// Sets the params of the programs for derivatives.
    fn at(&mut self, point: &[f64]) -> Result<&Differentiated, Error> {
        let values = self.values(point);
        let params = self.simulation.params_with(&self.floats, &values)?;
        self.evaluations += 1;
        let differentiated = self.differentiated.as_mut();
        let differentiated = differentiated.expect("the method needs derivatives");
        for (name, value) in params {
            differentiated.set_param(&name, value)?;
        }
        Ok(differentiated)
    }

    /// The loss and its gradient.
    ///
    /// # Errors
    /// [`Error::DerivativeNotFinite`], and those of a run.
    pub(super) fn slope(&mut self, point: &[f64]) -> Result<Slope, Error> {
        let Goal::Loss(loss) = self.goal else {
            let residuals = self.residuals(point)?;
            let product = |column: &Vec<f64>| -> f64 {
                let pairs = column.iter().zip(&residuals.values);
                2.0 * pairs.map(|(d, r)| d * r).sum::<f64>()
            };
            return Ok(Slope {
                loss: residuals.squares(),
                gradient: residuals.columns.iter().map(product).collect(),
            });
        };
        let control = self.control;
        let found = self.at(point)?.gradient(loss.fold, &control)?;
        self.keep(point, found.value);
        let slopes = found.slopes.iter().zip(&self.scales);
        Ok(Slope {
            loss: found.value,
            gradient: slopes.map(|(slope, scale)| slope.value * scale).collect(),
        })
    }

    /// The same, where a loss that is no number is infinite.
    pub(super) fn try_slope(&mut self, point: &[f64]) -> Result<Slope, Error> {
        match self.slope(point) {
            Err(Error::DerivativeNotFinite { .. }) => Ok(Slope {
                loss: f64::INFINITY,
                gradient: vec![0.0; point.len()],
            }),
            other => other,
        }
    }

    /// Residuals and their derivatives.
    ///
    /// # Errors
    /// [`Error::DerivativeNotFinite`], and those of a run.
    pub(super) fn residuals(&mut self, point: &[f64]) -> Result<Residuals, Error> {
        let control = self.control;
        let found = self.at(point)?.finite_derivatives(&control)?;
        let wide = |values: &Values, scale: f64| -> Vec<f64> {
            (0..values.len())
                .map(|at| values.number(at) * scale)
                .collect()
        };
        let columns = found.derivatives.par_iter().zip(&self.scales);
        let residuals = Residuals {
            values: wide(&found.values, 1.0),
            columns: columns
                .map(|(values, scale)| wide(values, *scale))
                .collect(),
        };
        self.keep(point, residuals.squares());
        Ok(residuals)
    }

    /// The result of the best search.
    pub(super) fn fitted(&mut self, best: Search, losses: Vec<f64>) -> Fitted {
        let values = self.values(&best.point);
        let held: Vec<bool> = (0..values.len())
            .map(|at| {
                [-1.0, 1.0]
                    .into_iter()
                    .any(|step| self.is_held(&best.point, at, step))
            })
            .collect();
        let of_residuals = matches!(self.goal, Goal::Residuals(_)) && self.differentiated.is_some();
        // After Ctrl-C no further run is made.
        let last = match of_residuals && best.ended != Ended::Interrupted {
            true => self.residuals(&best.point).ok(),
            false => None,
        };
        let errors = last
            .as_ref()
            .map(|last| least_squares::errors(last, &held, &self.scales));
        let (errors, correlation) = errors.unzip();
        let errors = errors.unwrap_or_else(|| vec![None; values.len()]);
        let estimates = self.floats.iter().zip(values).zip(held).zip(errors);
        Fitted {
            estimates: estimates
                .map(|(((float, value), at_bound), standard_error)| Estimate {
                    float: float.clone(),
                    value,
                    at_bound,
                    standard_error,
                })
                .collect(),
            loss: best.loss,
            gradient_norm: best.gradient_norm,
            residuals: last.map(|last| last.values.len() as u32),
            correlation,
            losses,
            iterations: best.iterations,
            evaluations: self.evaluations,
            ended: best.ended,
        }
    }
}

/// The size that a param has: the width of its range, or that of its value.
fn scale(float: &Float) -> f64 {
    let width = float.range[1] - float.range[0];
    let value = float.value.abs();
    match (value > 0.0, width.is_finite() && width > 0.0) {
        (true, true) => value.min(width),
        (true, false) => value,
        (false, true) => width,
        (false, false) => 1.0,
    }
}
