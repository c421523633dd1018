//! The launches of a batch. Each is made when its run is due: from what the caller gave, the variation of the
//! run, and the inputs that the model computes.

use crate::{
    backend::{reference, vector},
    bind::{Launch, Settings, vary},
    cpu::vector::{Isa, Lane, NotCompiled, Program, Wide, compile},
    error::Error,
    variation::Variation,
};
use sim_compiler::{RealType, artifact::Artifact};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A model, and the instruction set of its program for the CPU.
#[derive(Clone, Copy)]
pub(crate) struct Model<'a> {
    pub(crate) artifact: &'a Arc<Artifact>,
    pub(crate) isa: Option<Isa>,
    /// The program that computes inputs, from the runs before.
    pub(crate) input_cache: &'a InputCache,
}

/// The program that computes the inputs of one model, kept for the next launch: to compile it takes longer
/// than many runs.
#[derive(Default)]
pub(crate) struct InputCache {
    known: Mutex<Option<Arc<InputProgram>>>,
}

/// A program, what it is for, and its form.
struct InputProgram {
    members: u32,
    isa: Isa,
    form: Form,
}

/// Where inputs are computed.
enum Form {
    Single(Program<u32>),
    Wide(Program<Wide>),
    /// The model is too large for the vector machine.
    Interpreted,
}

impl std::fmt::Debug for InputCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InputCache").finish_non_exhaustive()
    }
}

/// The launches of a batch.
pub(crate) struct Launches<'a> {
    pub(crate) model: Model<'a>,
    pub(crate) settings: &'a Settings,
    /// The launch that all runs vary.
    pub(crate) base: &'a Arc<Launch>,
    pub(crate) variations: &'a [Variation],
    /// The base with every input computed, once a run needed it.
    complete: OnceLock<Arc<Launch>>,
}

impl<'a> Launches<'a> {
    /// The launches of some variations; `complete` is the base with every input computed, if an earlier batch
    /// left it.
    pub(crate) fn new(
        model: Model<'a>,
        settings: &'a Settings,
        base: &'a Arc<Launch>,
        variations: &'a [Variation],
        complete: Option<Arc<Launch>>,
    ) -> Launches<'a> {
        Launches {
            model,
            settings,
            base,
            variations,
            complete: complete.map_or_else(OnceLock::new, OnceLock::from),
        }
    }

    /// The launch of a run, as the caller gave it.
    pub(crate) fn bound(&self, number: usize) -> Result<Arc<Launch>, Error> {
        self.varied(self.base, number)
    }

    fn varied(&self, launch: &Arc<Launch>, number: usize) -> Result<Arc<Launch>, Error> {
        let variation = &self.variations[number];
        if variation.is_none() {
            return Ok(Arc::clone(launch));
        }
        vary(self.model.artifact, self.settings, launch, variation).map(Arc::new)
    }

    /// Whether the first run needs inputs of the base that are not computed yet.
    pub(crate) fn needs_inputs(&self) -> bool {
        let known = self.base.absent.is_empty() || self.complete.get().is_some();
        !known && self.keeps_inputs(&self.variations[0])
    }

    /// Takes the base with every input computed.
    pub(crate) fn set_complete(&self, complete: Launch) {
        self.complete.get_or_init(|| Arc::new(complete));
    }

    /// The base with every input computed, if a run needed it.
    pub(crate) fn into_complete(self) -> Option<Arc<Launch>> {
        self.complete.into_inner()
    }

    /// The launch of a run with every input computed.
    pub(crate) fn complete(&self, number: usize) -> Result<Arc<Launch>, Error> {
        if self.base.absent.is_empty() {
            return self.bound(number);
        }
        if self.keeps_inputs(&self.variations[number]) {
            let base = match self.complete.get() {
                Some(launch) => Arc::clone(launch),
                None => self.model.with_all_inputs(self.base).map(Arc::new)?,
            };
            return self.varied(self.complete.get_or_init(|| base), number);
        }
        let bound = self.bound(number)?;
        match bound.absent.is_empty() {
            true => Ok(bound),
            false => self.model.with_all_inputs(&bound).map(Arc::new),
        }
    }

    /// Whether a run has the inputs of the base. Computed inputs may depend on params; drawn inputs depend on
    /// the seed too.
    fn keeps_inputs(&self, variation: &Variation) -> bool {
        let absent = !self.base.absent.is_empty();
        variation.inputs.is_empty()
            && (!absent || variation.params.is_empty())
            && (!absent || variation.seed.is_none() || !self.base.draws_inputs)
    }

    /// Whether all runs have the same inputs.
    pub(crate) fn have_same_inputs(&self) -> bool {
        self.variations.iter().all(|it| self.keeps_inputs(it))
    }
}

impl Model<'_> {
    /// The program of the vector machine for worlds of that size; the inner error if the model is too large
    /// for it.
    ///
    /// # Errors
    /// [`Error::NoSuchInstructions`]
    pub(crate) fn vector_program<L: Lane>(
        &self,
        members: u32,
    ) -> Result<Result<Program<L>, NotCompiled>, Error> {
        let isa = self.isa.unwrap_or_else(Isa::best);
        if !isa.is_available() {
            return Err(Error::NoSuchInstructions { name: isa.name() });
        }
        let artifact = self.artifact;
        Ok(compile(
            &artifact.program,
            &artifact.manifest,
            artifact.options.generator,
            isa,
            members,
        ))
    }

    /// The launch with every input computed.
    pub(crate) fn with_all_inputs(&self, launch: &Launch) -> Result<Launch, Error> {
        match &self.input_program(launch.members)?.form {
            Form::Single(program) => vector::with_all_inputs(program, self.artifact, launch),
            Form::Wide(program) => vector::with_all_inputs(program, self.artifact, launch),
            Form::Interpreted => reference::with_all_inputs(self.artifact, launch),
        }
    }

    /// What computes inputs, compiled where it is not known.
    fn input_program(&self, members: u32) -> Result<Arc<InputProgram>, Error> {
        let isa = self.isa.unwrap_or_else(Isa::best);
        let known = self.input_cache.known.lock();
        let mut known = known.unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = &*known
            && (program.members, program.isa) == (members, isa)
        {
            return Ok(Arc::clone(program));
        }
        let form = match self.artifact.options.real {
            RealType::F32 => self
                .vector_program(members)?
                .map_or(Form::Interpreted, Form::Single),
            RealType::F64 => self
                .vector_program(members)?
                .map_or(Form::Interpreted, Form::Wide),
        };
        let program = Arc::new(InputProgram { members, isa, form });
        *known = Some(Arc::clone(&program));
        Ok(program)
    }
}
