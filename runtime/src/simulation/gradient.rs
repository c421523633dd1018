//! Derivatives of runs: of a loss by params, and of an output agent by agent.
//!
//! The compiler makes programs with derivatives (`sim_compiler::gradient`): by forward mode beside values,
//! each for a few floats of params and inputs; by reverse mode one for all of them, which runs forward and
//! back. They run as any program does, one after the other, with the same draws.

mod agents;
mod check;
mod loss;
mod moments;
mod programs;

use super::Simulation;
use crate::{
    array::Array,
    backend::Backend,
    bind::all_inputs,
    control::Control,
    error::{Error, Role},
    field::unknown_of,
    parallel::*,
    run::{Device, Run},
    values::{Column, Element, Values},
};
pub use agents::AgentDerivatives;
pub use check::{Agreement, CheckedComponent, GradientCheck};
pub use loss::{Fold, Loss};
use moments::{Moments, moments};
use programs::{Block, DIRECTIONS};
use sim_compiler::{
    artifact::Artifact,
    gradient,
    ir::Owner,
    manifest::{Field, Scalar},
};

/// Floats up to which forward mode is expected to be faster: those of one program.
const FEW: usize = DIRECTIONS;

/// How derivatives are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GradientMode {
    /// The mode that is expected to be faster: reverse for more than 8 floats. The other one where the model
    /// has no derivatives in that one.
    #[default]
    Auto,
    /// Tangents beside the values. Takes time in proportion to the number of floats.
    Forward,
    /// Backwards through the run, with states kept every √steps steps: takes the same time for any number of
    /// floats. Not for agents whose states leave no memory for that. Where agents depend on one another it is
    /// the mode for derivatives by inputs; folds over a world must be sums or means, and no agent stops.
    Reverse,
}

/// The derivative of a loss by one float.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// The float of a param or an input: `sigma`, `weights[3]`, `start.x`.
    pub wrt: String,
    /// The derivative: the loss's unit over that of the float.
    pub value: f64,
    /// Its standard error; see [`LossGradient::standard_error`].
    pub standard_error: Option<f64>,
}

/// A loss and its derivatives, at the values of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct LossGradient {
    /// The value of the loss.
    pub value: f64,
    /// The standard error of the value as an estimate for a population without end: for a mean the sample
    /// standard deviation over agents, divided by the root of their number. Agents of one world depend on
    /// one another, so that means over worlds take their place. `None` for fewer than 2 agents or worlds.
    pub standard_error: Option<f64>,
    /// The derivatives, in the order in which they were asked for.
    pub slopes: Vec<Slope>,
    /// Agents that were run.
    pub agents: u32,
    /// Their steps.
    pub steps: u32,
    /// The mode that was used: forward or reverse.
    pub mode: GradientMode,
    /// Programs that were run, one after the other.
    pub programs: usize,
    /// What computed them.
    pub device: Device,
    /// Seconds for the runs of the programs, transfers included.
    pub run_seconds: f64,
    /// Seconds of their dispatches by the device's timestamps; see
    /// [`Telemetry::gpu_seconds`](crate::Telemetry::gpu_seconds).
    pub gpu_seconds: Option<f64>,
}

/// A simulation with the programs that compute derivatives of one output: for many evaluations at several
/// values. Values that are set here are those of the next evaluation.
#[derive(Debug)]
pub struct Differentiated {
    /// As it was when it was differentiated, for differences.
    base: Simulation,
    /// What computes the derivatives.
    mode: GradientMode,
    programs: Vec<Block>,
    /// The steps of the model, where its programs have others.
    steps: Option<u32>,
    /// The output as it was named: `payoff`, `path[3]`.
    of: String,
    /// Whose it is: what is a world's is that of each agent in the programs.
    owner: Owner,
    /// The name of its column, and the place of the value within an agent's row of that.
    column: (String, usize),
    wrt: Vec<String>,
}

impl Simulation {
    /// The gradient of a loss with respect to all floats of params and inputs of these names. Of an input,
    /// the derivative is that by a number which is added to the values of all agents.
    ///
    /// ```
    /// use sim_runtime::{Loss, Simulation};
    ///
    /// let source = "agents 1000 param rate = 0.5 state x = 1.0
    ///     step { x *= 1.0 + rate * uniform(0.0, 1.0) } output x";
    /// let simulation = Simulation::compile(source)?.steps(10).seed(1);
    /// let gradient = simulation.gradient(&Loss::mean("x"), &["rate"])?;
    /// // The mean of x is (1 + rate / 2) ** 10.
    /// let exact = 5.0 * 1.25_f64.powi(9);
    /// let slope = &gradient.slopes[0];
    /// assert!((slope.value - exact).abs() < 4.0 * slope.standard_error.expect("there are many agents"));
    /// # Ok::<(), sim_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Simulation::differentiate`] and [`Differentiated::gradient`].
    pub fn gradient(&self, loss: &Loss, wrt: &[&str]) -> Result<LossGradient, Error> {
        let differentiated = self.differentiate(&loss.output, wrt, GradientMode::Auto)?;
        differentiated.gradient(loss.fold, &Control::default())
    }

    /// Compiles what computes the derivatives of an output, or of one value of it such as `path[3]`, by all
    /// floats of params and inputs of these names. The values of the launch are taken over.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::DerivativeOfNoFloat`] and [`Error::NoDerivative`].
    pub fn differentiate(
        &self,
        output: &str,
        wrt: &[&str],
        mode: GradientMode,
    ) -> Result<Differentiated, Error> {
        let (column, owner) = self.output_value(output)?;
        let copied = match owner {
            Owner::Agent => None,
            Owner::World => gradient::with_output_of_agents(&self.artifact, &column.0)
                .map(|artifact| self.with_artifact(artifact)),
        };
        let made = copied
            .as_ref()
            .unwrap_or(self)
            .of_agents(output, column, wrt, mode)?;
        Ok(Differentiated { owner, ..made })
    }

    /// The same of an output of agents.
    fn of_agents(
        &self,
        output: &str,
        column: (String, usize),
        wrt: &[&str],
        mode: GradientMode,
    ) -> Result<Differentiated, Error> {
        for name in wrt {
            self.check_float(name)?;
        }
        let found = gradient::directions(&self.artifact, wrt).map_err(refusal)?;
        let mut names: Vec<String> = Vec::new();
        for name in found {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let forward = || Ok((GradientMode::Forward, self.forward(&column, &names)?, None));
        let backward = || {
            let (block, steps) = self.backward(&column, &names)?;
            Ok((GradientMode::Reverse, vec![block], Some(steps)))
        };
        let (mode, programs, steps) = match mode {
            GradientMode::Forward => forward().map_err(|why| with_other_mode(why, backward()))?,
            GradientMode::Reverse => backward().map_err(|why| with_other_mode(why, forward()))?,
            GradientMode::Auto => {
                let few = names.len() <= FEW;
                let first = if few { forward() } else { backward() };
                let second = |why| {
                    let second = if few { backward() } else { forward() };
                    second.map_err(|other| with_other_mode(why, Err(other)))
                };
                first.or_else(second)?
            }
        };
        Ok(Differentiated {
            base: self.with_outputs(),
            mode,
            programs,
            steps,
            of: output.to_owned(),
            owner: Owner::Agent,
            column,
            wrt: names,
        })
    }

    /// The same simulation, which keeps outputs and nothing else.
    pub(crate) fn with_outputs(&self) -> Simulation {
        self.with_artifact(self.artifact.as_ref().clone())
    }

    /// Checks that an output of agents or of worlds, or a value of one, is a float.
    ///
    /// # Errors
    /// As of [`Simulation::differentiate`].
    pub(crate) fn check_output(&self, output: &str) -> Result<(), Error> {
        self.output_value(output).map(|_| ())
    }

    /// The value of each agent, or of each world, of an output or of one value of it: `payoff`, `path[3]`.
    ///
    /// # Errors
    /// As of [`Simulation::differentiate`], and [`Error::OutputsNotKept`].
    pub(crate) fn values_of(&self, run: &Run, output: &str) -> Result<Values, Error> {
        let ((column, place), _) = self.output_value(output)?;
        column_values(run, &column, place)
    }

    /// Another program with the values and options of this simulation, which keeps outputs.
    fn with_artifact(&self, artifact: Artifact) -> Simulation {
        let mut simulation = Simulation::from_artifact(artifact);
        simulation.set_as(self);
        simulation.keep.states = false;
        simulation
    }

    /// The column and the place in its rows of a value of an output, and whose it is.
    fn output_value(&self, name: &str) -> Result<((String, usize), Owner), Error> {
        let manifest = self.manifest();
        let of_agents = manifest.outputs.iter().map(|field| (field, Owner::Agent));
        let of_worlds = manifest.world_rows().outputs.iter();
        let outputs = of_agents.chain(of_worlds.map(|field| (field, Owner::World)));
        let part = |(field, _): &(&Field, Owner)| {
            let rest = name.strip_prefix(field.name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        let found = outputs.clone().filter(part);
        let Some((field, owner)) = found.max_by_key(|(field, _)| field.name.len()) else {
            let names = outputs.map(|(field, _)| field.name.as_str());
            return Err(unknown_of(manifest, Role::Output, name, names));
        };
        check_scalar(Role::Output, field)?;
        let names = field.spellings();
        match names.iter().position(|known| known == name) {
            Some(place) => Ok(((field.name.clone(), place), owner)),
            None => Err(Error::NotALoss {
                text: name.to_owned(),
                why: format!(
                    "output `{}` has {} values, `{}` to `{}`, and one of them must be named",
                    field.name,
                    names.len(),
                    names[0],
                    names[names.len() - 1]
                ),
            }),
        }
    }

    /// Checks that a name is that of floats which a launch sets.
    fn check_float(&self, name: &str) -> Result<(), Error> {
        let manifest = self.manifest();
        let params = (manifest.params.iter()).map(|param| (Role::Param, &param.field));
        let inputs = (manifest.inputs.iter()).map(|input| (Role::Input, &input.field));
        let mut own = params.clone().chain(inputs).filter(|(_, field)| {
            let of_struct = field.name.strip_prefix(name);
            let part = name.strip_prefix(field.name.as_str());
            of_struct.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
                || part.is_some_and(|rest| rest.starts_with(['[', '.']))
        });
        let Some((role, field)) = own.next() else {
            let all = params.map(|(_, field)| field);
            let all = all.chain(all_inputs(manifest).map(|input| &input.field));
            let names = all.map(|field| field.name.as_str());
            return Err(unknown_of(manifest, Role::Param, name, names));
        };
        let of_struct = field.name != name && field.name.starts_with(name);
        match of_struct {
            true => Ok(()),
            false => check_scalar(role, field),
        }
    }
}

fn check_scalar(role: Role, field: &Field) -> Result<(), Error> {
    match field.scalar {
        Scalar::F32 | Scalar::F64 => Ok(()),
        Scalar::I32 | Scalar::U32 | Scalar::Bool => Err(Error::DerivativeOfNoFloat {
            role,
            name: field.name.clone(),
            scalar: field.scalar,
        }),
    }
}

/// The programs of a mode, and the steps of one that runs back.
type Made = (GradientMode, Vec<Block>, Option<u32>);

/// Why one mode has no derivatives, and what the other one makes of it: it is advised if it has them.
fn with_other_mode(why: Error, other: Result<Made, Error>) -> Error {
    let Error::NoDerivative {
        message,
        span,
        help,
    } = why
    else {
        return why;
    };
    let message = match other {
        Ok((GradientMode::Reverse, ..)) => format!("{message}: use reverse mode"),
        Ok(_) => format!("{message}: use forward mode"),
        Err(Error::NoDerivative { message: other, .. }) if other != message => {
            format!("{message}; {other}")
        }
        Err(_) => message,
    };
    Error::NoDerivative {
        message,
        span,
        help,
    }
}

/// What the compiler refuses, as an error.
fn refusal(refused: gradient::Refused) -> Error {
    let help = match refused.span {
        Some(_) => "methods without derivatives need none, such as `simc fit --method nelder-mead`",
        None => "ask for another output, or for another param; `simc explain E0740` says more",
    };
    Error::NoDerivative {
        message: refused.message,
        span: refused.span,
        help,
    }
}

impl Differentiated {
    /// The floats of params and inputs that derivatives are taken by.
    pub fn wrt(&self) -> &[String] {
        &self.wrt
    }

    /// [`Simulation::set_param`] for the next evaluations.
    ///
    /// # Errors
    /// The same.
    pub fn set_param(&mut self, name: &str, value: impl Into<Array>) -> Result<(), Error> {
        let value = value.into();
        (self.simulations()).try_for_each(|it| it.set_param(name, value.clone()))
    }

    /// [`Simulation::set_input`] for the next evaluations.
    ///
    /// # Errors
    /// The same.
    pub fn set_input(&mut self, name: &str, values: impl Into<Array>) -> Result<(), Error> {
        let values = values.into();
        (self.simulations()).try_for_each(|it| it.set_input(name, values.clone()))
    }

    /// [`Simulation::set_seed`] for the next evaluations.
    pub fn set_seed(&mut self, seed: u64) {
        self.simulations()
            .for_each(|simulation| simulation.set_seed(seed));
    }

    /// [`Simulation::set_backend`] for the next evaluations.
    pub fn set_backend(&mut self, backend: Backend) {
        self.simulations()
            .for_each(|simulation| simulation.set_backend(backend));
    }

    fn simulations(&mut self) -> impl Iterator<Item = &mut Simulation> {
        let blocks = self.programs.iter_mut().map(|block| &mut block.simulation);
        std::iter::once(&mut self.base).chain(blocks)
    }

    /// The mode that is used: forward or reverse.
    pub fn mode(&self) -> GradientMode {
        self.mode
    }

    /// The mean or the sum of the output over all agents, and its derivatives. They are computed agent
    /// by agent in the model's type of floats, and reduced in `f64` in a fixed order: the same bits every
    /// time.
    ///
    /// # Errors
    /// [`Error::DerivativeNotFinite`], and any error of a run.
    pub fn gradient(&self, fold: Fold, control: &Control<'_>) -> Result<LossGradient, Error> {
        let mut found: Option<LossGradient> = None;
        self.each_run(control, |number, run| {
            let report = run.report();
            let group = (report.agents / report.worlds.max(1)).max(1) as usize;
            let all = self.moments(number, &run, group)?;
            let (of, slopes) = all.split_first().ok_or(Error::Cancelled)?;
            let count = match self.owner {
                Owner::Agent => report.agents,
                Owner::World => report.worlds,
            };
            let (value, standard_error) = scaled(of, fold, count);
            let all = found.get_or_insert_with(|| LossGradient {
                value,
                standard_error,
                slopes: Vec::new(),
                agents: report.agents,
                steps: self.steps.unwrap_or(report.steps),
                mode: self.mode(),
                programs: self.programs.len(),
                device: report.backend.clone(),
                run_seconds: 0.0,
                gpu_seconds: None,
            });
            all.run_seconds += report.run_seconds;
            if let Some(seconds) = report.telemetry.gpu_seconds {
                *all.gpu_seconds.get_or_insert(0.0) += seconds;
            }
            for slope in slopes {
                let (value, standard_error) = scaled(slope, fold, count);
                all.slopes.push(Slope {
                    wrt: self.wrt[all.slopes.len()].clone(),
                    value,
                    standard_error,
                });
            }
            Ok(())
        })?;
        found.ok_or(Error::Cancelled)
    }

    /// The moments over agents, or over the means of worlds, of the output and of its derivatives in the run
    /// of a block.
    ///
    /// # Errors
    /// [`Error::DerivativeNotFinite`]
    fn moments(&self, number: usize, run: &Run, group: usize) -> Result<Vec<Moments>, Error> {
        let agents = run.report().agents as usize;
        let tables: Vec<(&str, Vec<Moments>)> = (run.outputs().iter())
            .filter(|column| {
                self.places(number)
                    .any(|(name, _)| *name == column.field.name)
            })
            .map(|column| {
                let width = (column.values.len() / agents.max(1)).max(1);
                (&*column.field.name, moments(&column.values, width, group))
            })
            .collect();
        let moments_of = |(name, place): &(String, usize)| {
            let mut tables = tables.iter();
            let (_, columns) = tables.find(|(of, _)| of == name)?;
            columns.get(*place).copied()
        };
        let all: Vec<Moments> = self.places(number).filter_map(moments_of).collect();
        // Where a value is not finite, neither is the sum, which is not often otherwise.
        match all.iter().all(|of| of.mean.is_finite()) {
            true => {}
            false => self.check_finite(number, &self.columns(number, run)?, run)?,
        }
        Ok(all)
    }

    /// Where the output and its derivatives are in the run of a block: a column, and the place in its rows.
    fn places(&self, number: usize) -> impl Iterator<Item = &(String, usize)> {
        std::iter::once(&self.column).chain(&self.programs[number].outputs)
    }

    /// The output and its derivatives in the run of a block, by agent.
    fn columns(&self, number: usize, run: &Run) -> Result<Vec<Values>, Error> {
        let places: Vec<&(String, usize)> = self.places(number).collect();
        let column = |(name, place): &&(String, usize)| column_values(run, name, *place);
        places.par_iter().map(column).collect()
    }

    /// Calls `each` with the number of a block of floats and its run; there is one block in reverse mode.
    fn each_run(
        &self,
        control: &Control<'_>,
        mut each: impl FnMut(usize, Run) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.steps.is_some() {
            self.base.check_tables()?;
        }
        let count = self.programs.len();
        for (number, block) in self.programs.iter().enumerate() {
            let run = control.part(number, count, |control| block.simulation.run_with(&control))?;
            each(number, run)?;
        }
        Ok(())
    }

    /// Finds the first agent with a value that is not finite.
    fn check_finite(&self, number: usize, columns: &[Values], run: &Run) -> Result<(), Error> {
        let is_finite = |values: &Values| match values {
            Values::F32(values) => values.iter().all(|value| value.is_finite()),
            values => (0..values.len()).all(|at| values.number(at).is_finite()),
        };
        if !columns.par_iter().any(|values| !is_finite(values)) {
            return Ok(());
        }
        let mut first: Option<(usize, usize)> = None;
        for (column, values) in columns.iter().enumerate() {
            let found = (0..values.len()).position(|at| !values.number(at).is_finite());
            if let Some(row) = found.filter(|&row| first.is_none_or(|(before, _)| row < before)) {
                first = Some((row, column));
            }
        }
        let Some((row, column)) = first else {
            return Ok(());
        };
        let all = &columns[column];
        let what = match column.checked_sub(1) {
            None => format!("output `{}`", self.of),
            Some(at) => format!("d({})/d({})", self.of, self.wrt[number * DIRECTIONS + at]),
        };
        Err(Error::DerivativeNotFinite {
            what,
            agent: run.report().first_agent + row as u32,
            value: all.number(row),
            count: (0..all.len())
                .filter(|&at| !all.number(at).is_finite())
                .count() as u64,
        })
    }
}

/// By agent or by world: a value of an output.
fn column_values(run: &Run, name: &str, place: usize) -> Result<Values, Error> {
    let column = run.column(name)?;
    let of_world = |column: &Column| column.field.name == name;
    let count = match run.world_outputs().iter().any(of_world) {
        true => run.report().worlds,
        false => run.report().agents,
    };
    let rows = Rows {
        place,
        count: count as usize,
    };
    Ok(match &column.values {
        Values::F64(values) => Values::F64(rows.all(values)),
        values => Values::F32(rows.all(f32::slice(values).unwrap_or_default())),
    })
}

/// Which value of each row.
#[derive(Clone, Copy)]
struct Rows {
    place: usize,
    count: usize,
}

impl Rows {
    fn all<T: Copy>(self, values: &[T]) -> Vec<T> {
        let width = (values.len() / self.count.max(1)).max(1);
        values
            .iter()
            .skip(self.place)
            .step_by(width)
            .copied()
            .collect()
    }
}

/// The mean or sum over agents, with its standard error.
fn scaled(of: &Moments, fold: Fold, count: u32) -> (f64, Option<f64>) {
    let factor = match fold {
        Fold::Mean => 1.0,
        Fold::Sum => f64::from(count),
    };
    (
        of.mean * factor,
        of.standard_error().map(|error| error * factor),
    )
}
