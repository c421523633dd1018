//! Derivatives agent by agent.

use super::{Differentiated, GradientMode};
use crate::{control::Control, error::Error, simulation::Simulation, values::Values};
use sim_compiler::{gradient, ir::Owner, manifest::Manifest};

/// An output of each agent, or of each world, and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentDerivatives {
    /// The number of the first agent, or of the first world.
    pub first_agent: u32,
    /// The value of each agent.
    pub values: Values,
    /// The floats of params and inputs: `sigma`, `weights[3]`, `start.x`.
    pub wrt: Vec<String>,
    /// For each of these, the derivative of each agent's value, by an input that by the agent's own. If
    /// `joint`, derivatives by inputs are others.
    pub derivatives: Vec<Values>,
    /// Do agents depend on one another, or is the output one of worlds? Then the derivative by an agent's
    /// input is that of the sum of all agents' values, and the one of a world's output is by a number that is
    /// added to the inputs of all its agents.
    pub joint: bool,
}

impl Simulation {
    /// An output of each agent with its derivatives by all floats of params and inputs of these names.
    ///
    /// # Errors
    /// Those of [`Simulation::differentiate`] and of [`Simulation::run`].
    pub fn derivatives(&self, output: &str, wrt: &[&str]) -> Result<AgentDerivatives, Error> {
        let is_param = |name: &&str| has_param(self.manifest(), name);
        let mode = match gradient::agents_depend(&self.artifact) && wrt.iter().any(is_param) {
            true => GradientMode::Forward,
            false => GradientMode::Auto,
        };
        let differentiated = self.differentiate(output, wrt, mode)?;
        differentiated.derivatives(&Control::default())
    }
}

/// Is it a param, or a float of one?
fn has_param(manifest: &Manifest, name: &str) -> bool {
    let mut params = manifest.params.iter();
    params.any(|param| {
        let rest = name.strip_prefix(param.field.name.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
    })
}

impl Differentiated {
    /// The value of each agent, and its derivatives.
    ///
    /// # Errors
    /// Any error of a run. Values that are not finite are none. [`Error::NoDerivative`] for derivatives by
    /// params in reverse mode where agents depend on one another: there are those of a sum or mean only.
    pub fn derivatives(&self, control: &Control<'_>) -> Result<AgentDerivatives, Error> {
        self.each_owner(control, false)
    }

    /// The same, where values that are not finite are errors.
    ///
    /// # Errors
    /// As [`Differentiated::derivatives`], and [`Error::DerivativeNotFinite`].
    pub fn finite_derivatives(&self, control: &Control<'_>) -> Result<AgentDerivatives, Error> {
        self.each_owner(control, true)
    }

    fn each_owner(&self, control: &Control<'_>, finite: bool) -> Result<AgentDerivatives, Error> {
        self.check_apart()?;
        let (mut found, members) = self.each_agent(control, finite)?;
        if self.owner == Owner::World {
            // Each agent has what its world has, or backwards what it adds to that of all of them.
            found.first_agent /= members.max(1) as u32;
            for values in found.derivatives.iter_mut().chain([&mut found.values]) {
                *values = means(values, members);
            }
        }
        Ok(found)
    }

    /// Checks that what the programs compute for an agent is the derivative of its own value.
    fn check_apart(&self) -> Result<(), Error> {
        let manifest = self.base.manifest();
        let param = self.wrt.iter().find(|name| has_param(manifest, name));
        let is_sum = self.mode == GradientMode::Reverse
            && self.owner == Owner::Agent
            && gradient::agents_depend(&self.base.artifact);
        match param.filter(|_| is_sum) {
            None => Ok(()),
            Some(param) => Err(Error::NoDerivative {
                message: format!(
                    "agents depend on one another, so reverse mode has the derivative by `{param}` of the \
                     sum over agents, not of each agent"
                ),
                span: None,
                help: "use forward mode, or ask for the gradient of a mean or a sum",
            }),
        }
    }

    /// What the programs have for each agent, and the number of agents in a world.
    pub(super) fn each_agent(
        &self,
        control: &Control<'_>,
        finite: bool,
    ) -> Result<(AgentDerivatives, usize), Error> {
        let mut members = 1;
        let mut found: Option<AgentDerivatives> = None;
        self.each_run(control, |number, run| {
            let columns = self.columns(number, &run)?;
            if finite {
                self.check_finite(number, &columns, &run)?;
            }
            members = (run.report().agents / run.report().worlds.max(1)) as usize;
            let mut columns = columns.into_iter();
            let values = columns.next();
            let all = found.get_or_insert_with(|| AgentDerivatives {
                first_agent: run.report().first_agent,
                values: values.unwrap_or(Values::F32(Vec::new())),
                wrt: self.wrt.clone(),
                derivatives: Vec::new(),
                joint: self.owner == Owner::World || gradient::agents_depend(&self.base.artifact),
            });
            all.derivatives.extend(columns);
            Ok(())
        })?;
        Ok((found.ok_or(Error::Cancelled)?, members))
    }
}

/// The means of so many values each, one after the other.
fn means(values: &Values, count: usize) -> Values {
    let count = count.max(1);
    let mean = |group: usize| {
        let all = (0..count).map(|k| values.number(group * count + k));
        all.sum::<f64>() / count as f64
    };
    let all = (0..values.len() / count).map(mean);
    match values {
        Values::F64(_) => Values::F64(all.collect()),
        _ => Values::F32(all.map(|mean| mean as f32).collect()),
    }
}
