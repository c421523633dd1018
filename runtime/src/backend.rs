//! Where a model may run, and the backends for the CPU; that for GPUs is `gpu`.

pub(crate) mod reference;
pub(crate) mod split;
pub(crate) mod vector;

use crate::{
    batch::{Batch, Deliver},
    bind::Launch,
    control::Control,
    error::Error,
    results::RawResults,
};

/// Where a model runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A GPU if the machine has one, otherwise the CPU. Also the CPU if the run is estimated to take less
    /// time than opening a GPU. Never a software adapter.
    #[default]
    Auto,
    /// The best adapter; a software adapter if there is no other.
    Gpu,
    /// All cores of the processor, with its vector instructions.
    Cpu,
    /// The reference interpreter, which defines the meaning of the language. Slow; gives the same bits as
    /// `Cpu`.
    Reference,
}

/// Runs a batch one run after the other.
fn run_sequentially(
    batch: &Batch<'_>,
    deliver: Deliver<'_>,
    run: impl Fn(&Launch, Control<'_>) -> Result<RawResults, Error>,
) -> Result<(), Error> {
    for number in 0..batch.runs {
        let launch = (batch.launch)(number)?;
        let part = |control: Control<'_>| run(&launch, control);
        deliver(number, batch.control.part(number, batch.runs, part)?);
    }
    Ok(())
}
