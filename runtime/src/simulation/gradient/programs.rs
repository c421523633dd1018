//! The programs of a simulation that compute derivatives.

use super::refusal;
use crate::{bind::counts, error::Error, simulation::Simulation};
use sim_compiler::{gradient, manifest::Field};

/// Directions of one program. Each has a twin of every float that depends on it, so that more of them make
/// a kernel with many registers; each further program computes the values again.
pub(super) const DIRECTIONS: usize = 8;

/// A program, and by float where its derivative is: an output, and the place within an agent's row of that.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) simulation: Simulation,
    pub(super) outputs: Vec<(String, usize)>,
}

impl Simulation {
    /// Programs with tangents, each for a few directions.
    pub(super) fn forward(
        &self,
        of: &(String, usize),
        names: &[String],
    ) -> Result<Vec<Block>, Error> {
        let (output, place) = of;
        let block = |names: &[String]| {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let found = gradient::forward(&self.artifact, &[output], &names).map_err(refusal)?;
            Ok(Block {
                simulation: self.with_artifact(found.artifact),
                outputs: (found.derivatives.into_iter())
                    .map(|derivative| (derivative.output, *place))
                    .collect(),
            })
        };
        names.chunks(DIRECTIONS).map(block).collect()
    }

    /// The program that runs forward and back, and the number of the model's steps that it is for.
    pub(super) fn backward(
        &self,
        of: &(String, usize),
        names: &[String],
    ) -> Result<(Block, u32), Error> {
        let manifest = &self.artifact.manifest;
        let steps = counts(manifest, &self.settings)?.steps;
        let params = manifest.params.iter().map(|param| &param.field);
        let fields = params.chain(manifest.inputs.iter().map(|input| &input.field));
        let holds = |field: &&Field| names.iter().any(|name| field.spellings().contains(name));
        let whole: Vec<&str> = fields.filter(holds).map(|field| &*field.name).collect();
        let found = gradient::reverse(&self.artifact, &of.0, of.1, &whole, steps);
        let found = found.map_err(refusal)?;
        let place = |name: &String| {
            let mut by = found.by.iter();
            by.find_map(|by| {
                let place = by
                    .field
                    .spellings()
                    .iter()
                    .position(|float| float == name)?;
                Some((by.output.clone(), place))
            })
        };
        let outputs = names.iter().map(place).collect::<Option<_>>();
        let mut simulation = self.with_artifact(found.artifact);
        simulation.settings.steps = Some(found.steps);
        let block = Block {
            simulation,
            outputs: outputs.expect("each name is that of a float, as `directions` has found"),
        };
        Ok((block, steps))
    }
}
