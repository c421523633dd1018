//! States that stay in the memory of the device between the parts of a run.

use super::{
    device::{OpenDevice, Task},
    submission::{Commands, Staging},
};
use crate::{
    cut::{OnDevice, Saved, Scratch},
    error::Error,
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::{ops::Range, sync::Arc};

/// Copying, in errors.
const COPYING: Task = Task::new("copying states");

/// The states of all agents and worlds of a run, and what its kernel keeps beside them. They are a copy: the
/// buffers of submissions are used again.
pub(crate) struct Resident {
    /// The words of worlds, then those of agents, as they are in a buffer of results.
    states: wgpu::Buffer,
    scratch: Option<wgpu::Buffer>,
    /// See [`OpenDevice::identity`].
    device: Arc<()>,
}

/// The results and the scratch buffer of a run.
type Buffers<'a> = (&'a wgpu::Buffer, Option<&'a wgpu::Buffer>);

/// A copy on the device: from a buffer and its bytes, to a buffer and the place in it.
type Copy<'a> = (&'a wgpu::Buffer, Range<u64>, &'a wgpu::Buffer, u64);

impl Resident {
    /// Copies what a run leaves in its buffers.
    ///
    /// # Errors
    /// [`Error::GpuMemory`], and those of the device.
    pub(super) fn keep(
        open: &OpenDevice,
        ranges: [Range<u64>; 2],
        (results, scratch): Buffers<'_>,
    ) -> Result<OnDevice, Error> {
        let usage = wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        let new = |bytes: u64| open.buffer("allocating states", bytes, usage);
        let kept = Resident {
            states: new(length(&ranges[0]) + length(&ranges[1]))?,
            scratch: scratch.map(|it| new(it.size())).transpose()?,
            device: Arc::clone(&open.identity),
        };
        let [worlds, agents] = ranges;
        let first = length(&worlds);
        let mut copies: Vec<Copy<'_>> = vec![
            (results, worlds, &kept.states, 0),
            (results, agents, &kept.states, first),
        ];
        if let Some((from, to)) = scratch.zip(kept.scratch.as_ref()) {
            copies.push((from, 0..from.size(), to, 0));
        }
        copy(open, &copies)?;
        Ok(OnDevice(Arc::new(kept)))
    }

    /// What is on this device.
    ///
    /// # Errors
    /// [`Error::SessionLost`] if it was on another one.
    fn of<'a>(open: &OpenDevice, states: &'a OnDevice) -> Result<&'a Resident, Error> {
        let own = states.0.downcast_ref::<Resident>();
        own.filter(|own| Arc::ptr_eq(&own.device, &open.identity))
            .ok_or(Error::SessionLost)
    }

    /// Copies states to the buffers of a run that goes on.
    ///
    /// # Errors
    /// [`Error::SessionLost`], [`Error::SnapshotDiffers`] if the run now takes several chunks, and those of
    /// the device.
    pub(super) fn restore(
        open: &OpenDevice,
        states: &OnDevice,
        [worlds, agents]: [Range<u64>; 2],
        (results, scratch): Buffers<'_>,
    ) -> Result<(), Error> {
        let own = Resident::of(open, states)?;
        let (first, all) = (length(&worlds), length(&worlds) + length(&agents));
        if own.states.size() != all {
            return Err(chunks_differ());
        }
        let mut copies: Vec<Copy<'_>> = vec![
            (&own.states, 0..first, results, worlds.start),
            (&own.states, first..all, results, agents.start),
        ];
        if let Some((from, to)) = own.scratch.as_ref().zip(scratch) {
            copies.push((from, 0..from.size(), to, 0));
        }
        copy(open, &copies)
    }

    /// Reads states back, if they are on the device, where they stay.
    ///
    /// # Errors
    /// [`Error::SessionLost`], and those of the device.
    pub(super) async fn read(
        open: &OpenDevice,
        manifest: &Manifest,
        saved: &mut Saved,
    ) -> Result<(), Error> {
        let Some(states) = &saved.on_device else {
            return Ok(());
        };
        let own = Resident::of(open, states)?;
        let scratch = own.scratch.as_ref().map_or(0, wgpu::Buffer::size);
        let bytes = own.states.size() + scratch;
        if bytes == 0 {
            return Ok(());
        }
        let staging = Staging::create(open, bytes)?;
        let copies = [Some(&own.states), own.scratch.as_ref()].into_iter();
        let submitted = staging.submit(
            open,
            &Commands {
                dispatches: Vec::new(),
                untimed: Vec::new(),
                copies: copies.flatten().map(|it| (it, 0..it.size())).collect(),
                timed: false,
            },
        )?;
        submitted.wait(open).await?;
        let agents = saved.progress.len();
        staging.read(open, &submitted, |words, _| {
            let columns = |words: &[u32], count: u32| -> Vec<Vec<u32>> {
                let rows = words.len() / (count as usize).max(1);
                words
                    .chunks_exact(rows.max(1))
                    .map(<[u32]>::to_vec)
                    .collect()
            };
            let of_agents = agents * manifest.state_words as usize;
            let (states, scratch) = words.split_at((own.states.size() / WORD_BYTES) as usize);
            let (worlds, own) = states.split_at(states.len() - of_agents);
            saved.world_states = columns(worlds, manifest.world_rows().state_words);
            saved.states = columns(own, manifest.state_words);
            if !scratch.is_empty() {
                saved.scratch = vec![Scratch {
                    agents: [0, agents as u32],
                    words: scratch.to_vec(),
                }];
            }
        })
    }
}

/// The error of what one chunk of agents left for a chunk of another size.
pub(super) fn chunks_differ() -> Error {
    Error::SnapshotDiffers {
        what: "the number of agents that the device's memory holds at a time".to_owned(),
        values: None,
    }
}

fn length(bytes: &Range<u64>) -> u64 {
    bytes.end - bytes.start
}

fn copy(open: &OpenDevice, copies: &[Copy<'_>]) -> Result<(), Error> {
    open.guarded(COPYING, || {
        let mut encoder = open.device.create_command_encoder(&Default::default());
        for (from, bytes, to, at) in copies.iter().filter(|it| length(&it.1) > 0) {
            encoder.copy_buffer_to_buffer(from, bytes.start, to, *at, length(bytes));
        }
        open.queue.submit([encoder.finish()]);
    })
}
