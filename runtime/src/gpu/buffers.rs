//! The buffers of a submission: allocated once, used for every submission of the same shape.

use crate::{
    bind::Launch,
    control::Keep,
    error::Error,
    gpu::{
        commands::{Commands, Plan},
        device::{OpenDevice, Task},
        kernel::{Kernel, binding},
        per_step::PerStep,
        plan, reduce,
        results::{Layout, Results},
        staging::Staging,
        upload::{buffer, upload},
    },
};
use sim_compiler::manifest::{Manifest, header};
use std::sync::{Arc, Mutex, PoisonError};

/// Most dispatches of one submission.
const SLOTS: u64 = 64;
/// Most bytes for all slots of the uniform buffer; a model may have large arrays of params.
const SLOT_BYTES: u64 = 1 << 20;

/// A table on the device, with the words that it was made from.
#[derive(Clone)]
pub(crate) struct Table {
    words: Arc<[u32]>,
    buffer: wgpu::Buffer,
}

/// The rows of inputs of a chunk; runs of a batch may share them.
pub(crate) struct Inputs {
    buffer: wgpu::Buffer,
    /// Agents for which there is room.
    agents: u32,
    /// The launch whose inputs lie there, and the first agent: they need no upload.
    loaded: Mutex<Option<(Arc<Launch>, u32)>>,
}

/// What one run of a submission has of its own.
pub(crate) struct Place {
    pub(crate) results: Results,
    inputs: Option<Arc<Inputs>>,
    pub(crate) per_step: Option<PerStep>,
    pub(crate) bind_group: wgpu::BindGroup,
}

/// Everything that one submission needs.
pub(crate) struct Buffers {
    /// Agents of which each place has room for so many.
    agents: u32,
    /// One uniform block per dispatch, chosen by dynamic offset: so all dispatches of a submission lie in one
    /// compute pass, without copies between them.
    uniform: wgpu::Buffer,
    /// The words that lie in it.
    written: Vec<u32>,
    stride: u64,
    pub(crate) slots: u32,
    /// The way back to the host.
    pub(crate) staging: Staging,
    /// What it has room for.
    keep: Keep,
    tables: Vec<Table>,
    /// The inputs that all places share, if they do.
    shared: Option<Arc<Inputs>>,
    pub(crate) places: Vec<Place>,
    /// Recorded for the next submissions: one that the device's clock times and one that it does not.
    recorded: Vec<Commands>,
}

/// What buffers have to have room for.
#[derive(Clone, Copy)]
pub(crate) struct Shape<'a> {
    /// Runs side by side.
    pub(crate) runs: usize,
    /// Agents of each.
    pub(crate) agents: u32,
    /// What comes back of each; where that is no outputs, what they are reduced to.
    pub(crate) keep: Keep,
    pub(crate) tables: &'a [Table],
    /// The inputs, if all runs have the same.
    pub(crate) shared: Option<&'a Arc<Inputs>>,
}

/// One start of the kernel: the place of its run, the run's launch, the first agent and the agents of the chunk, and
/// its steps from the first to the one after the last.
pub(crate) struct Dispatch<'a> {
    pub(crate) place: usize,
    pub(crate) launch: &'a Launch,
    pub(crate) chunk: (u32, u32),
    pub(crate) steps: (u32, u32),
}

impl Inputs {
    /// Allocates rows for so many agents; none if the model has no inputs.
    pub(crate) fn create(
        open: &OpenDevice,
        agents: u32,
        words: u32,
    ) -> Result<Option<Arc<Inputs>>, Error> {
        let bytes = u64::from(agents) * u64::from(words) * 4;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let allocate = || -> Result<_, Error> {
            Ok(Arc::new(Inputs {
                buffer: buffer(open, "allocating the inputs", bytes, usage)?,
                agents,
                loaded: Mutex::default(),
            }))
        };
        (words > 0).then(allocate).transpose()
    }

    /// Is there room for so many agents?
    pub(crate) fn has_room(&self, agents: u32) -> bool {
        agents <= self.agents
    }

    /// Uploads the inputs of the chunk that begins at agent `first` (counted within the run), unless they are there.
    fn load(
        &self,
        open: &OpenDevice,
        launch: &Arc<Launch>,
        words: u32,
        (first, count): (u32, u32),
    ) -> Result<(), Error> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        // Another seed or param makes another launch, often with the same inputs.
        let there = loaded.as_ref().is_some_and(|(known, at)| {
            let same =
                || Arc::ptr_eq(&known.inputs, &launch.inputs) || known.inputs == launch.inputs;
            *at == first && same()
        });
        if !there {
            *loaded = None;
            let row = words as usize;
            let words = &launch.inputs[first as usize * row..][..count as usize * row];
            upload(open, "uploading the inputs", &self.buffer, words)?;
        }
        *loaded = Some((Arc::clone(launch), first));
        Ok(())
    }
}

impl Place {
    /// Makes the place ready for a chunk of a launch; in debug builds, poisons the results.
    pub(crate) fn load(
        &mut self,
        open: &OpenDevice,
        launch: &Arc<Launch>,
        input_words: u32,
        chunk: (u32, u32),
    ) -> Result<(), Error> {
        if let Some(per_step) = &mut self.per_step {
            per_step.load(launch);
        }
        if let Some(inputs) = &self.inputs {
            inputs.load(open, launch, input_words, chunk)?;
        }
        if cfg!(debug_assertions) {
            self.results.poison(open)?;
        }
        Ok(())
    }
}

impl Buffers {
    /// Allocates what a shape asks for.
    pub(crate) fn create(
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        steps: u32,
        shape: Shape<'_>,
    ) -> Result<Buffers, Error> {
        let (stride, slots) = slots(open, manifest);
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let uniform = buffer(open, "allocating the params", stride * slots, usage)?;
        let layout = Layout::new(manifest, shape.agents);
        let mut back = layout.read(shape.keep);
        if !shape.keep.outputs {
            back += reduce::bytes(&manifest.outputs);
        }
        let place = |_| place(open, kernel, manifest, (&uniform, steps), layout, shape);
        let places = (0..shape.runs).map(place).collect::<Result<_, Error>>()?;
        Ok(Buffers {
            agents: shape.agents,
            written: Vec::new(),
            stride,
            slots: slots as u32,
            staging: Staging::create(open, back * shape.runs as u64)?,
            keep: shape.keep,
            tables: shape.tables.to_vec(),
            shared: shape.shared.cloned(),
            places,
            recorded: Vec::new(),
            uniform,
        })
    }

    /// Agents of each place.
    pub(crate) fn agents(&self) -> u32 {
        self.agents
    }

    /// Do these buffers have what a shape asks for, and room for so many steps?
    pub(crate) fn serve(&self, shape: Shape<'_>, steps: u32) -> bool {
        let same = |(ours, theirs): (&Table, &Table)| Arc::ptr_eq(&ours.words, &theirs.words);
        let shared = match (&self.shared, shape.shared) {
            (Some(ours), Some(theirs)) => Arc::ptr_eq(ours, theirs),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let fits = |place: &Place| place.per_step.as_ref().is_none_or(|it| it.serves(steps));
        self.agents == shape.agents
            && self.places.len() >= shape.runs
            && self.keep == shape.keep
            && self.tables.iter().zip(shape.tables).all(same)
            && shared
            && self.places.iter().all(fits)
    }

    /// Writes the uniform blocks of a submission's dispatches, unless they are there. The dynamic offset of each is
    /// its number times [`Buffers::offset`].
    pub(crate) fn write_headers(
        &mut self,
        open: &OpenDevice,
        dispatches: &[Dispatch<'_>],
    ) -> Result<(), Error> {
        let stride_words = (self.stride / 4) as usize;
        let mut words = vec![0; stride_words * dispatches.len()];
        for (slot, dispatch) in words.chunks_exact_mut(stride_words).zip(dispatches) {
            let launch = dispatch.launch;
            slot[..launch.uniform.len()].copy_from_slice(&launch.uniform);
            slot[header::AGENTS as usize] = dispatch.chunk.1;
            slot[header::FIRST_AGENT as usize] = launch.first_agent + dispatch.chunk.0;
            slot[header::FIRST_STEP as usize] = dispatch.steps.0;
            slot[header::END_STEP as usize] = dispatch.steps.1;
        }
        if !self.written.starts_with(&words) {
            upload(open, "writing the params", &self.uniform, &words)?;
            self.written = words;
        }
        Ok(())
    }

    /// Records what fills the tables of steps of dispatches that have not what their launches ask for.
    pub(crate) fn prepare(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        open: &OpenDevice,
        kernel: &Kernel,
        dispatches: &[Dispatch<'_>],
    ) {
        let Some(preparing) = &kernel.preparing else {
            return;
        };
        for (number, dispatch) in dispatches.iter().enumerate() {
            let (offset, steps) = (self.offset(number), dispatch.launch.steps);
            if let Some(per_step) = &self.places[dispatch.place].per_step {
                per_step.fill(pass, preparing, &open.limits, steps, offset);
            }
        }
    }

    /// Records the dispatches of a submission, the place and the agents of each, for a kernel whose workgroups have so
    /// many agents.
    pub(crate) fn record(
        &self,
        pass: &mut wgpu::ComputePass<'_>,
        open: &OpenDevice,
        (kernel, agents): (&Kernel, u32),
        dispatches: &[(usize, u32)],
    ) {
        pass.set_pipeline(&kernel.pipeline);
        let most = open.limits.max_compute_workgroups_per_dimension;
        for (number, &(place, count)) in dispatches.iter().enumerate() {
            let (x, y) = plan::workgroups(count, agents, most);
            let bind_group = &self.places[place].bind_group;
            pass.set_bind_group(0, bind_group, &[self.offset(number)]);
            pass.dispatch_workgroups(x, y, 1);
        }
    }

    /// Commands that were recorded for such a submission, if there is nothing to prepare before them.
    pub(crate) fn recorded(&mut self, plan: &Plan) -> Option<Commands> {
        let prepared = |place: &Place| place.per_step.as_ref().is_none_or(PerStep::is_filled);
        let at = self.recorded.iter().position(|it| it.are_for(plan))?;
        let ready = self.places[..plan.places].iter().all(prepared);
        ready.then(|| self.recorded.swap_remove(at))
    }

    /// Keeps commands for a later submission.
    pub(crate) fn keep_recorded(&mut self, commands: Commands) {
        self.recorded.retain(|it| !commands.replace(it));
        self.recorded.push(commands);
    }

    /// The dynamic offset of a dispatch's uniform block.
    fn offset(&self, dispatch: usize) -> u32 {
        (dispatch as u64 * self.stride) as u32
    }
}

fn place(
    open: &OpenDevice,
    kernel: &Kernel,
    manifest: &Manifest,
    (uniform, steps): (&wgpu::Buffer, u32),
    layout: Layout,
    shape: Shape<'_>,
) -> Result<Place, Error> {
    let results = Results::create(open, layout)?;
    let inputs = match shape.shared {
        Some(shared) => Some(Arc::clone(shared)),
        None => Inputs::create(open, shape.agents, manifest.input_words)?,
    };
    let tables: Vec<_> = (manifest.data.iter().zip(shape.tables))
        .map(|(data, table)| entry(data.binding, &table.buffer))
        .collect();
    let per_step = kernel.preparing.as_ref().map(|preparing| {
        PerStep::create(open, preparing, manifest, uniform, &tables, steps)
            .map(|it| (preparing.prepared.binding, it))
    });
    let per_step = per_step.transpose()?;
    let mut entries = vec![uniform_entry(manifest, uniform)];
    entries.extend(results.entries());
    entries.extend(inputs.iter().map(|it| entry(binding::INPUTS, &it.buffer)));
    entries.extend(tables);
    entries.extend((per_step.iter()).map(|(binding, it)| entry(*binding, &it.buffer)));
    let bind_group = open.guarded(Task::new("binding the buffers"), || {
        open.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("sim"),
            layout: &kernel.layout,
            entries: &entries,
        })
    })?;
    Ok(Place {
        results,
        inputs,
        per_step: per_step.map(|(_, it)| it),
        bind_group,
    })
}

/// Bytes of a block of params, and how many blocks there are.
pub(crate) fn slots(open: &OpenDevice, manifest: &Manifest) -> (u64, u64) {
    let alignment = u64::from(open.limits.min_uniform_buffer_offset_alignment).max(4);
    let stride = (u64::from(manifest.uniform_words) * 4).next_multiple_of(alignment);
    (stride, (SLOT_BYTES / stride).clamp(1, SLOTS))
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

/// Uploads a launch's tables.
pub(crate) fn upload_tables(open: &OpenDevice, launch: &Launch) -> Result<Vec<Table>, Error> {
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

/// Are these the tables of a launch?
pub(crate) fn are_tables_of(tables: &[Table], launch: &Launch) -> bool {
    let same = |(ours, theirs): (&Table, &Arc<[u32]>)| Arc::ptr_eq(&ours.words, theirs);
    tables.len() == launch.data.len() && tables.iter().zip(&launch.data).all(same)
}
