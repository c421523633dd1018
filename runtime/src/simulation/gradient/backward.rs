//! Derivatives by reverse mode, in the order in which they were asked for.

use super::{Differentiated, Programs, Results, refusal};
use crate::{
    control::Control,
    error::Error,
    simulation::{Seed, Simulation, reverse::Compiled},
};
use sim_compiler::{gradient, manifest::Field};
use std::sync::{Mutex, PoisonError};

/// What computes derivatives by reverse mode.
#[derive(Debug)]
pub(super) struct Backward {
    programs: gradient::Reverse,
    /// By float of [`Differentiated::wrt`]: its number among those of the programs.
    columns: Vec<usize>,
    /// What the last evaluation left for the next one.
    compiled: Mutex<Option<Compiled>>,
}

impl Backward {
    pub(super) fn forget_backends(&mut self) {
        self.compiled = Mutex::default();
    }
}

impl Simulation {
    /// The programs that run from the last step to the first.
    pub(super) fn backward(&self, output: &str, names: &[String]) -> Result<Programs, Error> {
        let manifest = &self.artifact.manifest;
        let params = manifest.params.iter().map(|param| &param.field);
        let fields = params.chain(manifest.inputs.iter().map(|input| &input.field));
        let holds = |field: &&Field| names.iter().any(|name| field.spellings().contains(name));
        let whole: Vec<&str> = fields.filter(holds).map(|field| &*field.name).collect();
        let programs = gradient::reverse(&self.artifact, &[output], &whole).map_err(refusal)?;
        let floats: Vec<String> = (programs.by.iter())
            .flat_map(|by| by.field.spellings())
            .collect();
        let column = |name: &String| floats.iter().position(|float| float == name);
        let columns = names.iter().map(column).collect::<Option<Vec<usize>>>();
        Ok(Programs::Reverse(Box::new(Backward {
            programs,
            columns: columns.expect("each name is that of a float, as `directions` has found"),
            compiled: Mutex::default(),
        })))
    }
}

impl Differentiated {
    /// Runs the programs of reverse mode.
    pub(super) fn run_backward(
        &self,
        backward: &Backward,
        control: &Control<'_>,
    ) -> Result<Results, Error> {
        let seed = Seed {
            output: 0,
            place: self.column.1,
        };
        // Taken out, so that evaluations by several threads need not wait for one another.
        let kept = || (backward.compiled.lock()).unwrap_or_else(PoisonError::into_inner);
        let mut compiled = kept().take();
        let found = (self.base).reverse_with(&backward.programs, &mut compiled, &[seed], control);
        *kept() = compiled;
        let mut found = found?;
        let mut derivatives = found.derivatives.pop().unwrap_or_default();
        let values = self.column_values(&found.run, &self.column.0)?;
        let own = (backward.columns.iter()).map(|&column| std::mem::take(&mut derivatives[column]));
        Ok(Results {
            columns: std::iter::once(values).chain(own).collect(),
            run: found.run,
        })
    }
}
