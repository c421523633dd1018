//! The launches of a batch, each made when its run is due: what the caller gave, what a variation changes, and the
//! inputs that the model computes.

use crate::{
    batch::Variation,
    bind::{Launch, Settings, vary},
    cpu::vector::{self, Isa, Program},
    error::Error,
    interpreter, vectors,
};
use sim_compiler::artifact::Artifact;
use std::{cell::RefCell, sync::Arc};

/// A model, and the instruction set for what is computed on the CPU.
#[derive(Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) artifact: &'a Arc<Artifact>,
    pub(crate) isa: Option<Isa>,
}

/// The launches of a batch.
pub(crate) struct Launches<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) settings: &'a Settings,
    /// What all have in common.
    pub(crate) base: &'a Arc<Launch>,
    pub(crate) variations: &'a [Variation],
    /// The base with every input there, once it was needed.
    pub(crate) complete: RefCell<Option<Arc<Launch>>>,
    /// The first run's launch with inputs of its own, if they were made while the device was opened.
    pub(crate) first: RefCell<Option<Arc<Launch>>>,
}

impl Launches<'_> {
    /// What the caller gives for a run.
    pub(crate) fn bound(&self, number: usize) -> Result<Arc<Launch>, Error> {
        self.varied(self.base, number)
    }

    /// What a run makes of a launch.
    fn varied(&self, launch: &Arc<Launch>, number: usize) -> Result<Arc<Launch>, Error> {
        let variation = &self.variations[number];
        if variation.is_none() {
            return Ok(Arc::clone(launch));
        }
        vary(self.model.artifact, self.settings, launch, variation).map(Arc::new)
    }

    /// A run's launch with the inputs that the model computes.
    pub(crate) fn complete(&self, number: usize) -> Result<Arc<Launch>, Error> {
        if self.base.absent.is_empty() {
            return self.bound(number);
        }
        if self.keeps_inputs(&self.variations[number]) {
            let known = self.complete.borrow().clone();
            let base = match known {
                Some(launch) => launch,
                None => self.model.with_all_inputs(self.base).map(Arc::new)?,
            };
            *self.complete.borrow_mut() = Some(Arc::clone(&base));
            return self.varied(&base, number);
        }
        if let Some(first) = self.first.take().filter(|_| number == 0) {
            return Ok(first);
        }
        let bound = self.bound(number)?;
        match bound.absent.is_empty() {
            true => Ok(bound),
            false => self.model.with_all_inputs(&bound).map(Arc::new),
        }
    }

    /// Has a run the inputs of the base? Those that the model computes may depend on params, those that it draws on
    /// the seed, too.
    pub(crate) fn keeps_inputs(&self, variation: &Variation) -> bool {
        let absent = !self.base.absent.is_empty();
        variation.inputs.is_empty()
            && (!absent || variation.params.is_empty())
            && (!absent || variation.seed.is_none() || !self.base.draws_inputs)
    }

    /// Do all have the same inputs?
    pub(crate) fn have_same_inputs(&self) -> bool {
        self.variations.iter().all(|it| self.keeps_inputs(it))
    }
}

impl Model<'_> {
    /// The program for the CPU, or why there is none.
    pub(crate) fn vector_program(&self) -> Result<Result<Program, vector::TooLarge>, Error> {
        let isa = self.isa.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(Error::NoSuchInstructions { name: isa.name() });
        }
        let artifact = self.artifact;
        Ok(vector::compile(
            &artifact.program,
            &artifact.manifest,
            artifact.options.generator,
            isa,
        ))
    }

    /// The launch with every row of inputs there.
    pub(crate) fn with_all_inputs(&self, launch: &Launch) -> Result<Launch, Error> {
        match self.vector_program()? {
            Ok(program) => vectors::with_all_inputs(&program, self.artifact, launch),
            Err(_) => interpreter::with_all_inputs(self.artifact, launch),
        }
    }
}
