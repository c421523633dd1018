//! The buffers of one submission. A submission may have several runs side by side: each with dispatches and
//! results of its own, or all in the same dispatches and buffers, as their points. The uniform blocks are in
//! one buffer, one block per dispatch, selected by a dynamic offset: so all dispatches share one compute pass
//! without copies between them.

mod in_turn;
mod shape;

use super::{
    chunk::workgroups,
    device::OpenDevice,
    entry_point::{Dispatch, entry},
    jobs::Job,
    kernel::{Kernel, binding},
    resident::{Resident, chunks_differ},
    results::{Layout, POISON, Point},
    step_check::{StepCheck, StepChecker},
    submission::Staging,
};
use crate::{cut::Saved, error::Error};
pub(crate) use shape::Shape;
use sim_compiler::{
    manifest::{Manifest, header},
    value::WORD_BYTES,
};
use std::{ops::Range, sync::Arc};

/// Most ranges of steps of one submission.
const MOST_BLOCKS: u64 = 64;
/// The same for kernels whose ranges have one step, so that a submission is worth its latency.
const MOST_STEPS: u64 = 4_096;
/// Most bytes of all uniform blocks: a model may have large arrays of params.
const MOST_UNIFORM_BYTES: u64 = 1 << 20;

/// The size and number of uniform blocks.
#[derive(Clone, Copy)]
pub(crate) struct UniformBlocks {
    /// Bytes from one block to the next.
    stride: u64,
    pub(crate) count: u64,
}

impl UniformBlocks {
    pub(crate) fn new(open: &OpenDevice, kernel: &Kernel, manifest: &Manifest) -> UniformBlocks {
        let alignment = u64::from(open.limits.min_uniform_buffer_offset_alignment).max(WORD_BYTES);
        let stride = (u64::from(manifest.uniform_words) * WORD_BYTES).next_multiple_of(alignment);
        let most = match kernel.is_per_step() {
            true => MOST_STEPS,
            false => MOST_BLOCKS,
        };
        UniformBlocks {
            stride,
            count: (MOST_UNIFORM_BYTES / stride).clamp(1, most),
        }
    }

    /// The dynamic offset of a block.
    fn offset(self, block: usize) -> Option<u32> {
        Some((block as u64 * self.stride) as u32)
    }
}

/// The rows of inputs of a chunk, uploaded again only if the host has others.
struct Inputs {
    buffer: wgpu::Buffer,
    /// By point: the rows of all agents of a launch, of which the buffer has a chunk, and its first agent.
    holds: Vec<Option<(Arc<Vec<u32>>, u32)>>,
}

impl Inputs {
    /// Allocates those of a set: one for all runs where they share them, none where the model has no inputs.
    fn create(open: &OpenDevice, manifest: &Manifest, shape: &Shape) -> Result<Vec<Inputs>, Error> {
        let count = match (manifest.input_words, shape.shares_inputs) {
            (0, _) => 0,
            (_, true) => 1,
            (_, false) => shape.runs,
        };
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let parts = if shape.shares_inputs { 1 } else { shape.points };
        let rows = parts as u64 * u64::from(shape.agents);
        let bytes = rows * u64::from(manifest.input_words) * WORD_BYTES;
        let inputs = (0..count).map(|_| {
            Ok(Inputs {
                buffer: open.buffer("allocating the inputs", bytes, usage)?,
                holds: vec![None; parts],
            })
        });
        inputs.collect()
    }
}

/// A buffer, and the words that it holds.
struct Written {
    buffer: wgpu::Buffer,
    words: Vec<u32>,
}

impl Written {
    fn new(buffer: wgpu::Buffer) -> Written {
        Written {
            buffer,
            words: Vec::new(),
        }
    }

    /// Writes words, unless the device holds them.
    fn write(&mut self, open: &OpenDevice, words: Vec<u32>) -> Result<(), Error> {
        if !self.words.starts_with(&words) {
            open.upload("writing the params", &self.buffer, 0, &words)?;
            self.words = words;
        }
        Ok(())
    }
}

/// The buffers of one run of a submission. The bind groups keep those that nothing else names.
pub(crate) struct RunBuffers {
    pub(crate) results: wgpu::Buffer,
    /// What the stages of the kernel keep.
    pub(crate) scratch: Option<wgpu::Buffer>,
    main: wgpu::BindGroup,
    /// Of the entry point that fills the step table.
    prepare: Option<wgpu::BindGroup>,
    /// The check of step counts, if the device does it.
    check: Option<StepCheck>,
}

impl RunBuffers {
    /// The buffers that have what a run needs to go on.
    pub(crate) fn states(&self) -> (&wgpu::Buffer, Option<&wgpu::Buffer>) {
        (&self.results, self.scratch.as_ref())
    }
}

/// The buffers of a submission.
pub(crate) struct BufferSet {
    pub(crate) shape: Shape,
    /// The layout of each run's results.
    pub(crate) layout: Layout,
    /// The same of what is read back of them.
    pub(crate) read: Layout,
    pub(crate) blocks: UniformBlocks,
    pub(crate) staging: Staging,
    pub(crate) runs: Vec<RunBuffers>,
    uniforms: Written,
    /// The blocks of the runs that share dispatches.
    points: Option<Written>,
    /// One for each run, or one for all; none if the model has no inputs.
    inputs: Vec<Inputs>,
    /// Words of a row of inputs.
    row: usize,
}

impl BufferSet {
    /// Allocates the buffers of a shape; `tables` are the data tables in the manifest's order.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn create<'a>(
        open: &OpenDevice,
        kernel: &Kernel,
        manifest: &Manifest,
        shape: Shape,
        tables: impl Iterator<Item = &'a wgpu::Buffer>,
        checker: Option<Arc<StepChecker>>,
    ) -> Result<BufferSet, Error> {
        let points = shape.points as u32;
        let layout = Layout::of_points(manifest, points, shape.agents, shape.members, shape.steps);
        let blocks = UniformBlocks::new(open, kernel, manifest);
        let read = match shape.checks {
            true => layout.without_progress(),
            false => layout,
        };
        let bytes_back = shape.bytes_back(&read, kernel, manifest);
        let inputs = Inputs::create(open, manifest, &shape)?;
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let block_bytes = u64::from(manifest.uniform_words) * WORD_BYTES;
        let points = (kernel.points)
            .map(|_| u64::from(points) * block_bytes)
            .map(|bytes| open.buffer("allocating the params of runs", bytes, usage));
        let usage = wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST;
        let bytes = blocks.stride * blocks.count;
        let uniforms = open.buffer("allocating the params", bytes, usage)?;
        let mut set = BufferSet {
            shape,
            layout,
            read,
            blocks,
            uniforms: Written::new(uniforms),
            points: points.transpose()?.map(Written::new),
            staging: Staging::create(open, bytes_back * shape.runs as u64)?,
            runs: Vec::with_capacity(shape.runs),
            inputs,
            row: manifest.input_words as usize,
        };
        let uniform = wgpu::BufferBinding {
            buffer: &set.uniforms.buffer,
            offset: 0,
            size: wgpu::BufferSize::new(block_bytes),
        };
        let mut shared = vec![wgpu::BindGroupEntry {
            binding: binding::RUN,
            resource: wgpu::BindingResource::Buffer(uniform),
        }];
        shared.extend(
            manifest
                .data
                .iter()
                .zip(tables)
                .map(|(data, it)| entry(data.binding, it)),
        );
        let points = kernel.points.zip(set.points.as_ref());
        shared.extend(points.map(|(binding, it)| entry(binding, &it.buffer)));
        for run in 0..shape.runs {
            set.runs
                .push(set.run(open, kernel, &shared, checker.as_ref(), run)?);
        }
        Ok(set)
    }

    /// Allocates the buffers of one run; `shared` are those that it shares with others.
    fn run(
        &self,
        open: &OpenDevice,
        kernel: &Kernel,
        shared: &[wgpu::BindGroupEntry<'_>],
        checker: Option<&Arc<StepChecker>>,
        run: usize,
    ) -> Result<RunBuffers, Error> {
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST
            | wgpu::BufferUsages::QUERY_RESOLVE;
        let results = open.buffer("allocating the results", self.layout.bytes(), usage)?;
        let per_step = (kernel.prepare.as_ref())
            .map(|(_, table)| {
                let bytes = table.table_bytes(self.shape.steps);
                let usage = wgpu::BufferUsages::STORAGE;
                Ok((
                    table.binding,
                    open.buffer("allocating the step table", bytes, usage)?,
                ))
            })
            .transpose()?;
        let scratch = (kernel.scratch.as_ref())
            .map(|scratch| {
                let bytes = scratch.bytes(self.shape.agents, self.shape.members);
                let usage = wgpu::BufferUsages::STORAGE
                    | wgpu::BufferUsages::COPY_SRC
                    | wgpu::BufferUsages::COPY_DST;
                let buffer = open.buffer("allocating what agents read of others", bytes, usage)?;
                Ok((scratch.binding, buffer))
            })
            .transpose()?;
        let spill = self.spill(open, kernel)?;
        let inputs = self.inputs.get(run % self.inputs.len().max(1));
        let mut buffers = shared.to_vec();
        buffers.extend(inputs.map(|it| entry(binding::INPUTS, &it.buffer)));
        buffers.extend(self.layout.entries(&results));
        let own = per_step
            .iter()
            .chain(&scratch)
            .chain(&spill)
            .chain(&kernel.constants);
        buffers.extend(own.map(|(binding, it)| entry(*binding, it)));
        let prepare = kernel
            .prepare
            .as_ref()
            .map(|(it, _)| it.bind(open, &buffers));
        let check = checker.map(|checker| {
            let progress = self.layout.entries(&results);
            let progress = progress.filter(|it| it.binding == binding::PROGRESS);
            StepCheck::create(open, checker, progress, self.shape.agents)
        });
        Ok(RunBuffers {
            check: check.transpose()?,
            // All stages have the same bindings.
            main: kernel.stages[0].entry_point.bind(open, &buffers)?,
            prepare: prepare.transpose()?,
            scratch: scratch.map(|(_, buffer)| buffer),
            results,
        })
    }

    /// Allocates the buffer for arrays that do not fit the memory of an invocation, with its binding. In
    /// debug builds its beginning is filled with [`POISON`].
    fn spill(
        &self,
        open: &OpenDevice,
        kernel: &Kernel,
    ) -> Result<Option<(u32, wgpu::Buffer)>, Error> {
        let Some(spill) = kernel.spill else {
            return Ok(None);
        };
        let bytes = kernel.spill_bytes(open, self.shape.agents, self.shape.members);
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
        let buffer = open.buffer("allocating arrays of agents", bytes, usage)?;
        if cfg!(debug_assertions) {
            let poison = vec![POISON; spill.words as usize];
            open.write("poisoning arrays", &buffer, 0, &poison)?;
        }
        Ok(Some((spill.binding, buffer)))
    }

    /// Whether a submission of this shape can use the buffers.
    pub(crate) fn fits(&self, shape: Shape) -> bool {
        self.shape.agents == shape.agents
            && self.shape.members == shape.members
            && self.shape.runs >= shape.runs
            && self.shape.points >= shape.points
            && self.shape.steps == shape.steps
            && self.shape.keep == shape.keep
            && self.shape.shares_inputs == shape.shares_inputs
            && self.shape.is_cut == shape.is_cut
            && self.shape.checks == shape.checks
    }

    /// What is read back of the first `runs` runs: buffers and their bytes.
    pub(crate) fn copies(&self, runs: usize) -> Vec<(&wgpu::Buffer, Range<u64>)> {
        let ranges = self.layout.ranges_back(self.shape.keep, self.shape.checks);
        let runs = self.runs[..runs].iter();
        let ranges = ranges.iter().filter(|bytes| !bytes.is_empty());
        runs.flat_map(|run| ranges.clone().map(|bytes| (&run.results, bytes.clone())))
            .collect()
    }

    /// The checks of step counts of the first `runs` runs; none if the host does them.
    pub(crate) fn checks(&self, runs: usize) -> impl Iterator<Item = &StepCheck> {
        self.runs[..runs]
            .iter()
            .filter_map(|run| run.check.as_ref())
    }

    /// The buffers of a job of the submission, by its place, and which of its `jobs` runs it is there.
    pub(crate) fn place_of(&self, job: usize, jobs: usize) -> (usize, Point) {
        match self.points {
            Some(_) => (
                0,
                Point {
                    number: job,
                    points: jobs,
                },
            ),
            None => (
                job,
                Point {
                    number: 0,
                    points: 1,
                },
            ),
        }
    }

    /// The number of runs of buffers that `jobs` jobs take, and the runs in each of their dispatches.
    pub(crate) fn sharing(&self, jobs: usize) -> (usize, usize) {
        match self.points {
            Some(_) => (1, jobs),
            None => (jobs, 1),
        }
    }

    /// Begins the checks that all agents of some jobs have run so many steps.
    ///
    /// # Errors
    /// Those of the device.
    pub(crate) fn begin_checks(
        &self,
        open: &OpenDevice,
        jobs: &[Job],
        steps: u32,
    ) -> Result<Vec<&StepCheck>, Error> {
        let (runs, _) = self.sharing(jobs.len());
        let checks = self.checks(runs).zip(jobs);
        let begun = checks.map(|(check, job)| {
            check.begin(open, job.chunk.count, steps)?;
            Ok(check)
        });
        begun.collect()
    }

    /// Uploads the inputs of the jobs of the submission, and those of their worlds. In debug builds, also
    /// fills the results with a poison value.
    pub(crate) fn upload(&mut self, open: &OpenDevice, jobs: &[Job]) -> Result<(), Error> {
        for (number, job) in jobs.iter().enumerate() {
            let (run, point) = self.place_of(number, jobs.len());
            self.upload_inputs(open, run, point, job)?;
            let results = &self.runs[run].results;
            (self.layout).upload_worlds(open, results, &job.launch, job.chunk, point)?;
            if cfg!(debug_assertions) && point.number == 0 {
                self.layout.poison(open, results)?;
            }
        }
        Ok(())
    }

    fn upload_inputs(
        &mut self,
        open: &OpenDevice,
        run: usize,
        point: Point,
        job: &Job,
    ) -> Result<(), Error> {
        let count = self.inputs.len().max(1);
        let Some(inputs) = self.inputs.get_mut(run % count) else {
            return Ok(());
        };
        let part = point.number % inputs.holds.len();
        let (rows, first) = (&job.launch.inputs, job.chunk.first);
        let holds = inputs.holds[part].as_ref();
        if !holds.is_some_and(|(known, from)| *from == first && Arc::ptr_eq(known, rows)) {
            let words = job.chunk.count as usize * self.row;
            let at = (part * words) as u64 * WORD_BYTES;
            let words = &rows[first as usize * self.row..][..words];
            open.upload("uploading the inputs", &inputs.buffer, at, words)?;
            inputs.holds[part] = Some((Arc::clone(rows), first));
        }
        Ok(())
    }

    /// Uploads what the steps before those of a part left of a job, as this run of the submission.
    pub(crate) fn resume(
        &self,
        open: &OpenDevice,
        manifest: &Manifest,
        run: usize,
        job: &Job,
        from: &Saved,
    ) -> Result<(), Error> {
        let run = &self.runs[run];
        (self.layout).upload_saved(open, manifest, &run.results, job.chunk, from)?;
        if let Some(states) = &from.on_device {
            let bytes = self.layout.state_bytes(manifest, job.chunk);
            return Resident::restore(open, states, bytes, run.states());
        }
        let Some(scratch) = &run.scratch else {
            return Ok(());
        };
        let agents = [job.chunk.first, job.chunk.count];
        let known = (from.scratch.iter()).find(|known| known.agents == agents);
        let words = known.filter(|known| known.words.len() as u64 * WORD_BYTES == scratch.size());
        let words = words.ok_or_else(chunks_differ)?;
        open.upload(
            "uploading what agents read of others",
            scratch,
            0,
            &words.words,
        )
    }

    /// Writes a uniform block per dispatch, all jobs side by side in each range of steps, unless the device
    /// holds the same words.
    pub(crate) fn write_uniforms(
        &mut self,
        open: &OpenDevice,
        jobs: &[Job],
        ranges: &[Range<u32>],
    ) -> Result<(), Error> {
        let (groups, points) = self.sharing(jobs.len());
        let stride = (self.blocks.stride / WORD_BYTES) as usize;
        let mut words = vec![0; stride * ranges.len() * groups];
        let dispatches = ranges
            .iter()
            .flat_map(|steps| jobs[..groups].iter().map(move |job| (job, steps)));
        for (block, (job, steps)) in words.chunks_exact_mut(stride).zip(dispatches) {
            write_block(block, job);
            block[header::AGENTS as usize] *= points as u32;
            block[header::FIRST_STEP as usize] = steps.start;
            block[header::END_STEP as usize] = steps.end;
        }
        self.uniforms.write(open, words)?;
        if let Some(points) = &mut self.points {
            let width = jobs[0].launch.uniform.len();
            let mut words = vec![0; width * jobs.len()];
            for (block, job) in words.chunks_exact_mut(width).zip(jobs) {
                write_block(block, job);
            }
            points.write(open, words)?;
        }
        Ok(())
    }

    /// The dispatches that fill the step tables of the first `runs` runs.
    pub(crate) fn prepare<'a>(
        &'a self,
        open: &OpenDevice,
        kernel: &'a Kernel,
        runs: usize,
        steps: u32,
    ) -> impl Iterator<Item = Dispatch<'a>> {
        let most = open.limits.max_compute_workgroups_per_dimension;
        let prepare = kernel.prepare.as_ref().filter(|_| steps > 0);
        prepare.into_iter().flat_map(move |(entry_point, table)| {
            let rows = steps * table.rows_per_step;
            let buffers = self.runs[..runs]
                .iter()
                .filter_map(|run| run.prepare.as_ref());
            buffers.enumerate().map(move |(run, buffers)| Dispatch {
                entry_point,
                buffers,
                offset: self.blocks.offset(run),
                workgroups: workgroups(rows, table.workgroup_size, most),
                points: 1,
            })
        })
    }

    /// The dispatches of the first `jobs` jobs, of `agents` agents and `steps` steps each, side by side in
    /// each of these ranges of steps.
    pub(crate) fn main<'a>(
        &'a self,
        open: &OpenDevice,
        kernel: &'a Kernel,
        jobs: usize,
        ranges: &'a [Range<u32>],
        (agents, steps): (u32, u32),
    ) -> impl Iterator<Item = Dispatch<'a>> + Clone {
        let most = open.limits.max_compute_workgroups_per_dimension;
        let members = self.shape.members;
        let (runs, points) = self.sharing(jobs);
        (0..ranges.len() * runs).flat_map(move |block| {
            let range = &ranges[block / runs];
            let stages = (kernel.stages.iter()).filter(move |stage| stage.runs(range, steps));
            stages.map(move |stage| Dispatch {
                entry_point: &stage.entry_point,
                buffers: &self.runs[block % runs].main,
                offset: self.blocks.offset(block),
                workgroups: stage.workgroups(agents, members, most),
                points: points as u32,
            })
        })
    }
}

/// Writes what a block has of a job, apart from its steps.
fn write_block(block: &mut [u32], job: &Job) {
    let launch = &job.launch;
    block[..launch.uniform.len()].copy_from_slice(&launch.uniform);
    block[header::AGENTS as usize] = job.chunk.count;
    block[header::FIRST_AGENT as usize] = launch.first_agent + job.chunk.first;
}

/// The most agents of one chunk of runs of so many steps, at least 1.
///
/// # Errors
/// [`Error::AdapterLimit`]
pub(crate) fn most_agents(
    open: &OpenDevice,
    manifest: &Manifest,
    steps: u32,
) -> Result<u32, Error> {
    let limits = &open.limits;
    let widest = u64::from(manifest.input_words.max(manifest.state_words))
        .max(manifest.result_words(steps))
        // A world may have one agent.
        .max(manifest.world_words(steps))
        .max(1);
    let bytes = widest * WORD_BYTES;
    let per_dimension = u64::from(limits.max_compute_workgroups_per_dimension);
    let most = (open.most_bytes() / bytes)
        // All results are in one buffer.
        .min(Layout::most_agents(manifest, steps, limits.max_buffer_size))
        .min(per_dimension * per_dimension * u64::from(manifest.workgroup_size.max(1)))
        // Kernels compute the index `word * agents + i` in 32 bits.
        .min(u64::from(u32::MAX) / widest)
        .min(i32::MAX as u64);
    match most {
        0 => Err(open.beyond_limit("bytes of values per agent", bytes, open.most_bytes())),
        most => Ok(most as u32),
    }
}
