//! The buffers of a chunk: allocated once, used for every chunk and every run of the same size.

use crate::{
    bind::Launch,
    error::Error,
    gpu::{
        device::{OpenDevice, Task},
        kernel::{Kernel, binding},
        per_step::PerStep,
        staging::{self, Staging},
    },
    run::Keep,
};
use sim_compiler::manifest::{Manifest, header};
use std::sync::Arc;

/// Most dispatches of one submission.
const SLOTS: u64 = 64;
/// Most bytes for all slots of the uniform buffer; a model may have large arrays of params.
const SLOT_BYTES: u64 = 1 << 20;
/// What debug builds fill results with: a NaN that says where it comes from.
pub(crate) const POISON: u32 = 0x7fc0_dead;

/// A buffer of results.
pub(crate) struct Results {
    pub(crate) device: wgpu::Buffer,
    /// Words per agent.
    pub(crate) words: u32,
}

/// A table on the device, with the words that it was made from.
struct Table {
    words: Arc<[u32]>,
    buffer: wgpu::Buffer,
}

/// Everything that one chunk needs.
pub(crate) struct Buffers {
    /// Agents that fit.
    pub(crate) agents: u32,
    /// One uniform block per dispatch of a submission, chosen by dynamic offset: so all dispatches of a
    /// submission lie in one compute pass, without copies between them.
    uniform: wgpu::Buffer,
    /// The words that lie in it.
    written: Vec<u32>,
    stride: u64,
    pub(crate) slots: u32,
    inputs: Option<wgpu::Buffer>,
    pub(crate) states: Option<Results>,
    pub(crate) outputs: Option<Results>,
    pub(crate) progress: Results,
    /// The way back to the host.
    pub(crate) staging: Staging,
    /// What it has room for.
    keep: Keep,
    tables: Vec<Table>,
    pub(crate) per_step: Option<PerStep>,
    pub(crate) bind_group: wgpu::BindGroup,
    /// The launch whose inputs lie in `inputs`, and the first agent of the chunk: they need no upload.
    loaded: Option<(Arc<Launch>, u32)>,
}

impl Buffers {
    /// Allocates for chunks of `agents` and uploads the tables.
    pub(crate) fn create(
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        launch: &Launch,
        (agents, keep): (u32, Keep),
    ) -> Result<Buffers, Error> {
        let (stride, slots) = slots(open, manifest);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let uniform = buffer(open, "allocating the params", stride * slots, usage)?;
        let inputs = input_rows(open, agents, manifest.input_words)?;
        let states = optional_results(open, "allocating the states", agents, manifest.state_words)?;
        let outputs = optional_results(
            open,
            "allocating the outputs",
            agents,
            manifest.output_words,
        )?;
        let progress = results(open, "allocating the step counts", agents, 1)?;
        let staging = Staging::create(open, staging::bytes(manifest, agents, keep))?;
        let tables = upload_tables(open, launch)?;
        let mut entries = vec![
            uniform_entry(manifest, &uniform),
            entry(binding::PROGRESS, &progress.device),
        ];
        entries.extend(inputs.iter().map(|it| entry(binding::INPUTS, it)));
        entries.extend(states.iter().map(|it| entry(binding::STATES, &it.device)));
        entries.extend(outputs.iter().map(|it| entry(binding::OUTPUTS, &it.device)));
        let table_entries: Vec<_> = (manifest.data.iter().zip(&tables))
            .map(|(data, table)| entry(data.binding, &table.buffer))
            .collect();
        let per_step = kernel.preparing.as_ref().map(|preparing| {
            let (uniform, tables) = (&uniform, &table_entries);
            PerStep::create(open, preparing, manifest, uniform, tables, launch.steps)
                .map(|it| (preparing.prepared.binding, it))
        });
        let per_step = per_step.transpose()?;
        entries.extend(table_entries.iter().cloned());
        entries.extend((per_step.iter()).map(|(binding, it)| entry(*binding, &it.buffer)));
        let bind_group = open.guarded(Task::new("binding the buffers"), || {
            open.device.create_bind_group(&wgpu::BindGroupDescriptor {
                label: Some("sim"),
                layout: &kernel.layout,
                entries: &entries,
            })
        })?;
        Ok(Buffers {
            agents,
            uniform,
            written: Vec::new(),
            stride,
            slots: slots as u32,
            inputs,
            states,
            outputs,
            progress,
            staging,
            keep,
            tables,
            per_step: per_step.map(|(_, it)| it),
            bind_group,
            loaded: None,
        })
    }

    /// Do these buffers serve a run with this launch in chunks of `agents`?
    pub(crate) fn serve(&self, launch: &Launch, (agents, keep): (u32, Keep)) -> bool {
        let same = |(ours, theirs): (&Table, &Arc<[u32]>)| Arc::ptr_eq(&ours.words, theirs);
        self.agents == agents
            && (self.keep.outputs || !keep.outputs)
            && (self.keep.states || !keep.states)
            && self.per_step.as_ref().is_none_or(|it| it.serves(launch))
            && self.tables.iter().zip(&launch.data).all(same)
    }

    /// Uploads the inputs of the chunk that begins at agent `first` (counted within the run), unless they
    /// are there, and poisons the results in debug builds.
    pub(crate) fn load(
        &mut self,
        open: &OpenDevice,
        launch: &Arc<Launch>,
        input_words: u32,
        first: u32,
        count: u32,
    ) -> Result<(), Error> {
        if let Some(per_step) = &mut self.per_step {
            per_step.load(launch);
        }
        // Another seed or param makes another launch, often with the same inputs.
        let there = self.loaded.as_ref().is_some_and(|(known, at)| {
            *at == first && (Arc::ptr_eq(known, launch) || known.inputs == launch.inputs)
        });
        if let Some(inputs) = &self.inputs
            && !there
        {
            self.loaded = None;
            let row = input_words as usize;
            let words = &launch.inputs[first as usize * row..][..count as usize * row];
            upload(open, "uploading the inputs", inputs, words)?;
        }
        self.loaded = Some((Arc::clone(launch), first));
        if cfg!(debug_assertions) {
            let keep = Keep {
                outputs: true,
                states: false,
            };
            for results in staging::results(self, keep) {
                let poison = vec![POISON; count as usize * results.words as usize];
                write(open, "poisoning the results", &results.device, &poison)?;
            }
        }
        Ok(())
    }

    /// Writes the uniform blocks of a submission's dispatches, unless they are there, and gives their dynamic
    /// offsets.
    pub(crate) fn write_headers(
        &mut self,
        open: &OpenDevice,
        launch: &Launch,
        chunk: (u32, u32),
        dispatches: &[(u32, u32)],
    ) -> Result<Vec<u32>, Error> {
        let stride_words = (self.stride / 4) as usize;
        let mut words = vec![0; stride_words * dispatches.len()];
        let (first, count) = chunk;
        for (slot, &(first_step, end_step)) in words.chunks_exact_mut(stride_words).zip(dispatches)
        {
            slot[..launch.uniform.len()].copy_from_slice(&launch.uniform);
            slot[header::AGENTS as usize] = count;
            slot[header::FIRST_AGENT as usize] = launch.first_agent + first;
            slot[header::FIRST_STEP as usize] = first_step;
            slot[header::END_STEP as usize] = end_step;
        }
        if !self.written.starts_with(&words) {
            upload(open, "writing the params", &self.uniform, &words)?;
            self.written = words;
        }
        Ok((0..dispatches.len())
            .map(|slot| (slot as u64 * self.stride) as u32)
            .collect())
    }
}

/// Bytes of a block of params, and how many blocks there are.
fn slots(open: &OpenDevice, manifest: &Manifest) -> (u64, u64) {
    let alignment = u64::from(open.limits.min_uniform_buffer_offset_alignment).max(4);
    let stride = (u64::from(manifest.uniform_words) * 4).next_multiple_of(alignment);
    (stride, (SLOT_BYTES / stride).clamp(1, SLOTS))
}

fn input_rows(open: &OpenDevice, agents: u32, words: u32) -> Result<Option<wgpu::Buffer>, Error> {
    let bytes = u64::from(agents) * u64::from(words) * 4;
    let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
    let allocate = || buffer(open, "allocating the inputs", bytes, usage);
    (words > 0).then(allocate).transpose()
}

/// The block of one dispatch; which one, says the dynamic offset.
pub(crate) fn uniform_entry<'a>(
    manifest: &Manifest,
    uniform: &'a wgpu::Buffer,
) -> wgpu::BindGroupEntry<'a> {
    wgpu::BindGroupEntry {
        binding: binding::RUN,
        resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
            buffer: uniform,
            offset: 0,
            size: wgpu::BufferSize::new(u64::from(manifest.uniform_words) * 4),
        }),
    }
}

fn entry(binding: u32, buffer: &wgpu::Buffer) -> wgpu::BindGroupEntry<'_> {
    wgpu::BindGroupEntry {
        binding,
        resource: buffer.as_entire_binding(),
    }
}

fn upload_tables(open: &OpenDevice, launch: &Launch) -> Result<Vec<Table>, Error> {
    let limit = open
        .limits
        .max_storage_buffer_binding_size
        .min(open.limits.max_buffer_size);
    let mut tables = Vec::with_capacity(launch.data.len());
    for words in &launch.data {
        let bytes = words.len() as u64 * 4;
        if bytes > limit {
            return Err(Error::AdapterLimit {
                adapter: open.adapter.name.clone(),
                limit: "bytes in one table",
                needed: bytes,
                available: limit,
            });
        }
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = buffer(open, "allocating a table", bytes, usage)?;
        upload(open, "uploading a table", &buffer, words)?;
        tables.push(Table {
            words: Arc::clone(words),
            buffer,
        });
    }
    Ok(tables)
}

fn optional_results(
    open: &OpenDevice,
    during: &'static str,
    agents: u32,
    words: u32,
) -> Result<Option<Results>, Error> {
    match words {
        0 => Ok(None),
        words => results(open, during, agents, words).map(Some),
    }
}

fn results(
    open: &OpenDevice,
    during: &'static str,
    agents: u32,
    words: u32,
) -> Result<Results, Error> {
    let bytes = u64::from(agents) * u64::from(words) * 4;
    let usage =
        wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
    Ok(Results {
        device: buffer(open, during, bytes, usage)?,
        words,
    })
}

pub(crate) fn buffer(
    open: &OpenDevice,
    during: &'static str,
    bytes: u64,
    usage: wgpu::BufferUsages,
) -> Result<wgpu::Buffer, Error> {
    open.guarded(Task { during, bytes }, || {
        open.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("sim"),
            size: bytes,
            usage,
            mapped_at_creation: false,
        })
    })
}

fn upload(
    open: &OpenDevice,
    during: &'static str,
    buffer: &wgpu::Buffer,
    words: &[u32],
) -> Result<(), Error> {
    open.meter(|telemetry| telemetry.bytes_up += words.len() as u64 * 4);
    write(open, during, buffer, words)
}

fn write(
    open: &OpenDevice,
    during: &'static str,
    buffer: &wgpu::Buffer,
    words: &[u32],
) -> Result<(), Error> {
    let bytes = words.len() as u64 * 4;
    open.guarded(Task { during, bytes }, || {
        open.queue
            .write_buffer(buffer, 0, bytemuck::cast_slice(words));
    })
}
