//! What a backend gives back, before its words get names and types.

use crate::{
    bind::Launch,
    control::Keep,
    cut::{Part, Saved},
    error::Error,
    memory::zeroed,
    series::Places,
    statistics::Sums,
    telemetry::Telemetry,
};
use sim_compiler::{
    kernel::schedule::Decision,
    manifest::{self, Field, Manifest},
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
    /// By series: what the kernel stores of each sample of the part that was run, the rows of all agents,
    /// worlds or units.
    pub(crate) series: Vec<Vec<u32>>,
    /// By agent: its step count and flags.
    pub(crate) progress: Vec<u32>,
    /// Replaces `outputs` and `progress`, which are then empty.
    pub(crate) sums: Option<Sums>,
    /// Where the run was cut, if it was; there are no states then, and outputs only of a [`Part::previews`].
    pub(crate) saved: Option<Saved>,
    /// How often all agents were computed.
    pub(crate) passes: u32,
    pub(crate) dispatches: u64,
    pub(crate) chunks: u32,
    pub(crate) telemetry: Telemetry,
    pub(crate) decisions: Vec<Decision>,
}

impl RawResults {
    /// Whether outputs were computed.
    pub(crate) fn has_outputs(&self) -> bool {
        !self.outputs.is_empty() || !self.world_outputs.is_empty()
    }

    /// Zeros for the fields that `keep` names, of all agents and worlds, and for what `part` samples. If the
    /// part is cut, zeros for what is saved of it instead.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    pub(crate) fn empty(
        manifest: &Manifest,
        launch: &Launch,
        keep: Keep,
        part: Part<'_>,
    ) -> Result<RawResults, Error> {
        let (agents, worlds) = (launch.agents, launch.worlds());
        let is_cut = part.is_cut(launch.steps);
        let keep = if is_cut { Keep::NOTHING } else { keep };
        let outputs = keep.outputs.then(|| columns(&manifest.outputs, agents));
        let states = keep.states.then(|| columns(&manifest.states, agents));
        let rows = manifest.world_rows();
        let world_states = keep.states.then(|| columns(&rows.states, worlds));
        Ok(RawResults {
            outputs: outputs.transpose()?.unwrap_or_default(),
            states: states.transpose()?,
            world_outputs: match is_cut {
                true => Vec::new(),
                false => columns(&rows.outputs, worlds)?,
            },
            world_states: world_states.transpose()?,
            series: (manifest.series.iter())
                .map(|series| {
                    let places = Places::of(manifest, series, launch.steps);
                    let sampling = manifest.samplings[series.sampling as usize];
                    let rows = places.rows(launch.agents, launch.worlds());
                    zeroed(part.samples(sampling).len() * rows * places.width)
                })
                .collect::<Result<_, Error>>()?,
            progress: zeroed(if keep.outputs { agents as usize } else { 0 })?,
            sums: None,
            saved: is_cut
                .then(|| Saved::zeros(manifest, launch, part.until))
                .transpose()?,
            passes: 1,
            dispatches: 0,
            chunks: 1,
            telemetry: Telemetry::default(),
            decisions: Vec::new(),
        })
    }
}

/// Zeros for the fields of so many agents or worlds.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn columns(fields: &[Field], rows: u32) -> Result<Vec<Vec<u32>>, Error> {
    (fields.iter())
        .map(|field| zeroed(rows as usize * field.words() as usize))
        .collect()
}

impl Saved {
    /// Zeros for the states of all agents and worlds after so many steps.
    ///
    /// # Errors
    /// [`Error::HostMemory`]
    fn zeros(manifest: &Manifest, launch: &Launch, step: u32) -> Result<Saved, Error> {
        let agents = launch.agents as usize;
        let columns = |words: u32, rows: usize| -> Result<Vec<Vec<u32>>, Error> {
            (0..words).map(|_| zeroed(rows)).collect()
        };
        Ok(Saved {
            step,
            states: columns(manifest.state_words, agents)?,
            progress: zeroed(agents)?,
            world_states: columns(manifest.world_rows().state_words, launch.worlds() as usize)?,
            series: Vec::new(),
            kernel: String::new(),
            scratch: Vec::new(),
            on_device: None,
        })
    }

    /// Whether all arrays are as long as those of a launch are, `scratch` apart.
    pub(crate) fn fits(&self, manifest: &Manifest, launch: &Launch) -> bool {
        let (agents, worlds) = (launch.agents, launch.worlds());
        let all = |columns: &[Vec<u32>], words: u32, rows: u32| {
            columns.len() == words as usize
                && columns.iter().all(|column| column.len() == rows as usize)
        };
        let taken = Part::whole(self.step);
        let has_samples = |(series, words): (&manifest::Series, &Vec<u32>)| {
            let places = Places::of(manifest, series, launch.steps);
            let samples = taken.samples(manifest.samplings[series.sampling as usize]);
            words.len() == samples.len() * places.rows(agents, worlds) * places.width
        };
        self.step < launch.steps
            && all(&self.states, manifest.state_words, agents)
            && all(
                &self.world_states,
                manifest.world_rows().state_words,
                worlds,
            )
            && self.progress.len() == agents as usize
            && self.series.len() == manifest.series.len()
            && manifest.series.iter().zip(&self.series).all(has_samples)
    }
}
