//! What a backend gives back, before its words get names and types.

use crate::{
    bind::Launch, control::Keep, error::Error, memory::zeroed, series::Places, statistics::Sums,
    telemetry::Telemetry,
};
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
    /// By world output: the words of all worlds.
    pub(crate) world_outputs: Vec<Vec<u32>>,
    /// By world state, if states are kept.
    pub(crate) world_states: Option<Vec<Vec<u32>>>,
    /// By series: what the kernel stores of each sample, the rows of all agents, worlds or units.
    pub(crate) series: Vec<Vec<u32>>,
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
    /// Zeros for the fields that `keep` names, of all agents and worlds.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    pub(crate) fn empty(
        manifest: &Manifest,
        launch: &Launch,
        keep: Keep,
    ) -> Result<RawResults, Error> {
        let agents = launch.agents as usize;
        let worlds = launch.worlds() as usize;
        let columns = |fields: &[Field], rows: usize| -> Result<Vec<Vec<u32>>, Error> {
            (fields.iter())
                .map(|field| zeroed(rows * field.words() as usize))
                .collect()
        };
        let outputs = keep.outputs.then(|| columns(&manifest.outputs, agents));
        let states = keep.states.then(|| columns(&manifest.states, agents));
        let rows = manifest.world_rows();
        let world_states = keep.states.then(|| columns(&rows.states, worlds));
        Ok(RawResults {
            outputs: outputs.transpose()?.unwrap_or_default(),
            states: states.transpose()?,
            world_outputs: columns(&rows.outputs, worlds)?,
            world_states: world_states.transpose()?,
            series: (manifest.series.iter())
                .map(|series| {
                    let places = Places::of(manifest, series, launch.steps);
                    zeroed(places.words(launch.agents, launch.worlds()))
                })
                .collect::<Result<_, Error>>()?,
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
