//! What a backend gives back, before its words get names and types.

use crate::{
    bind::Launch,
    control::Keep,
    cut::{Part, Saved},
    error::Error,
    memory::{to_overwrite, zeroed},
    series::Places,
    statistics::Sums,
    telemetry::Telemetry,
};
use sim_compiler::{
    kernel::schedule::Decision,
    manifest::{self, Field, Manifest},
};
use std::mem;

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
    /// By agent: its step count and flags; empty if they are not kept, see [`Keep::steps`].
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
    /// Who computed it, if runs are split among several devices.
    pub(crate) shares: Vec<Share>,
}

/// What one of several devices computed of a run.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    /// Its place among the members of the backend.
    pub(crate) member: usize,
    pub(crate) agents: u32,
    pub(crate) seconds: f64,
    /// Why it computes no more, if it failed.
    pub(crate) failure: Option<String>,
}

/// Where the results of consecutive agents go: their rows of the columns of [`RawResults`].
pub(crate) struct Target<'a> {
    pub(crate) outputs: Vec<&'a mut [u32]>,
    pub(crate) states: Option<Vec<&'a mut [u32]>>,
    pub(crate) world_outputs: Vec<&'a mut [u32]>,
    pub(crate) world_states: Option<Vec<&'a mut [u32]>>,
    pub(crate) series: Vec<Sampled<'a>>,
    pub(crate) progress: &'a mut [u32],
    agents: u32,
    members: u32,
}

/// Where the samples of a series go.
pub(crate) struct Sampled<'a> {
    /// Is there a row per agent? Otherwise one per world or unit.
    pub(crate) of_agents: bool,
    /// By sample.
    pub(crate) samples: Vec<&'a mut [u32]>,
}

impl<'a> Target<'a> {
    /// Splits off the rows of the first agents, which are whole worlds or units unless they are all.
    pub(crate) fn split_off(&mut self, agents: u32) -> Target<'a> {
        let worlds = agents.div_ceil(self.members) as usize;
        let (all, all_worlds) = (
            self.agents as usize,
            self.agents.div_ceil(self.members) as usize,
        );
        let split = |columns: &mut Vec<&'a mut [u32]>, rows: usize, all: usize| -> Vec<_> {
            let front = |column: &mut &'a mut [u32]| {
                let words = column.len() / all * rows;
                let (front, rest) = mem::take(column).split_at_mut(words);
                *column = rest;
                front
            };
            columns.iter_mut().map(front).collect()
        };
        let of_agents = |columns: &mut Vec<_>| split(columns, agents as usize, all);
        let of_worlds = |columns: &mut Vec<_>| split(columns, worlds, all_worlds);
        let own = (agents as usize).min(self.progress.len());
        let (progress, rest) = mem::take(&mut self.progress).split_at_mut(own);
        self.progress = rest;
        self.agents -= agents;
        Target {
            outputs: of_agents(&mut self.outputs),
            states: self.states.as_mut().map(of_agents),
            world_outputs: of_worlds(&mut self.world_outputs),
            world_states: self.world_states.as_mut().map(of_worlds),
            series: (self.series.iter_mut())
                .map(
                    |Sampled {
                         of_agents: each,
                         samples,
                     }| Sampled {
                        of_agents: *each,
                        samples: match each {
                            true => of_agents(samples),
                            false => of_worlds(samples),
                        },
                    },
                )
                .collect(),
            progress,
            agents,
            members: self.members,
        }
    }

    /// Copies results of the same agents.
    pub(crate) fn copy(&mut self, mut from: Target<'_>) {
        fn all(to: &mut [&mut [u32]], from: Vec<&mut [u32]>) {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| to.copy_from_slice(from));
        }
        all(&mut self.outputs, from.outputs);
        all(&mut self.world_outputs, from.world_outputs);
        for (to, from) in [
            (&mut self.states, from.states.take()),
            (&mut self.world_states, from.world_states.take()),
        ] {
            if let (Some(to), Some(from)) = (to, from) {
                all(to, from);
            }
        }
        for (to, from) in self.series.iter_mut().zip(from.series) {
            all(&mut to.samples, from.samples);
        }
        self.progress.copy_from_slice(from.progress);
    }
}

/// The columns, to write to.
fn slices(columns: &mut [Vec<u32>]) -> Vec<&mut [u32]> {
    columns.iter_mut().map(Vec::as_mut_slice).collect()
}

impl RawResults {
    /// Whether outputs were computed.
    pub(crate) fn has_outputs(&self) -> bool {
        !self.outputs.is_empty() || !self.world_outputs.is_empty()
    }

    /// No results: they go elsewhere.
    pub(crate) fn bare() -> RawResults {
        RawResults {
            outputs: Vec::new(),
            states: None,
            world_outputs: Vec::new(),
            world_states: None,
            series: Vec::new(),
            progress: Vec::new(),
            sums: None,
            saved: None,
            passes: 1,
            dispatches: 0,
            chunks: 1,
            telemetry: Telemetry::default(),
            decisions: Vec::new(),
            shares: Vec::new(),
        }
    }

    /// Where the results of all agents go.
    pub(crate) fn target(
        &mut self,
        manifest: &Manifest,
        launch: &Launch,
        part: Part<'_>,
    ) -> Target<'_> {
        let sampled = |(series, words): (&manifest::Series, _)| {
            let places = Places::of(manifest, series, launch.steps);
            let row = places.rows(launch.agents, launch.worlds()) * places.width;
            let samples = part.samples(manifest.samplings[series.sampling as usize]);
            let words: &mut Vec<u32> = words;
            debug_assert_eq!(words.len(), samples.len() * row);
            Sampled {
                of_agents: places.of_agents,
                samples: words.chunks_exact_mut(row.max(1)).collect(),
            }
        };
        Target {
            outputs: slices(&mut self.outputs),
            states: self.states.as_deref_mut().map(slices),
            world_outputs: slices(&mut self.world_outputs),
            world_states: self.world_states.as_deref_mut().map(slices),
            series: manifest
                .series
                .iter()
                .zip(&mut self.series)
                .map(sampled)
                .collect(),
            progress: &mut self.progress,
            agents: launch.agents,
            members: launch.members,
        }
    }

    /// Memory for the fields that `keep` names, of all agents and worlds, and for what `part` samples. If the
    /// part is cut, for what is saved of it instead.
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
            progress: zeroed(if keep.outputs && keep.steps {
                agents as usize
            } else {
                0
            })?,
            saved: is_cut
                .then(|| Saved::zeros(manifest, launch, part.until))
                .transpose()?,
            ..RawResults::bare()
        })
    }
}

/// Memory for the fields of so many agents or worlds, all of which a backend overwrites.
///
/// # Errors
/// [`Error::HostMemory`]
pub(crate) fn columns(fields: &[Field], rows: u32) -> Result<Vec<Vec<u32>>, Error> {
    (fields.iter())
        .map(|field| to_overwrite(rows as usize * field.words() as usize))
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
