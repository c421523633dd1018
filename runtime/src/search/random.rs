//! Random search: each generation has new genomes, from where the first ones came.

use super::{Memory, Strategy, genome::Founders};
use crate::error::Error;

/// It learns nothing.
pub(super) struct Random;

impl Strategy for Random {
    fn ask(
        &mut self,
        generation: u32,
        founders: &Founders,
        genomes: &mut [f64],
    ) -> Result<(), Error> {
        genomes.copy_from_slice(&founders.population(generation)?);
        Ok(())
    }

    fn tell(&mut self, _generation: u32, _genomes: &mut Vec<f64>, _scores: &[f64]) {}

    fn memory(&self) -> Memory {
        Memory::default()
    }

    fn remember(&mut self, memory: &mut Memory) -> Option<()> {
        memory.is_empty().then_some(())
    }
}
