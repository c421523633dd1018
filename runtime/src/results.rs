//! What a backend gives back, before its words get names and types.

use crate::{control::Keep, error::Error, memory::zeroed, statistics::Sums, telemetry::Telemetry};
use sim_compiler::{
    kernel::schedule::Decision,
    manifest::{Field, Manifest},
};

/// The results of one run in words. Fields are in the manifest's order; the words of one agent are
/// contiguous.
pub(crate) struct RawResults {
    /// By output: the words of all agents.
    pub(crate) outputs: Vec<Vec<u32>>,
    /// By state, if states are kept.
    pub(crate) states: Option<Vec<Vec<u32>>>,
    /// By agent: its step count and flags.
    pub(crate) progress: Vec<u32>,
    /// Replaces `outputs` and `progress`, which are then empty.
    pub(crate) sums: Option<Sums>,
    /// How often all agents were computed.
    pub(crate) passes: u32,
    pub(crate) dispatches: u64,
    pub(crate) chunks: u32,
    pub(crate) telemetry: Telemetry,
    pub(crate) decisions: Vec<Decision>,
}

impl RawResults {
    /// Zeros for the fields that `keep` names, of `agents` agents.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    pub(crate) fn empty(manifest: &Manifest, agents: u32, keep: Keep) -> Result<RawResults, Error> {
        let agents = agents as usize;
        let columns = |fields: &[Field]| -> Result<Vec<Vec<u32>>, Error> {
            (fields.iter())
                .map(|field| zeroed(agents * field.words() as usize))
                .collect()
        };
        let outputs = keep.outputs.then(|| columns(&manifest.outputs));
        let states = keep.states.then(|| columns(&manifest.states));
        Ok(RawResults {
            outputs: outputs.transpose()?.unwrap_or_default(),
            states: states.transpose()?,
            progress: zeroed(if keep.outputs { agents } else { 0 })?,
            sums: None,
            passes: 1,
            dispatches: 0,
            chunks: 1,
            telemetry: Telemetry::default(),
            decisions: Vec::new(),
        })
    }
}
