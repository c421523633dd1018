//! Generations of the genetic algorithm that the device breeds and evaluates, several in a submission. The
//! host sees their scores, and reads back what it wants of the genomes.
//!
//! Populations stay on the device, each in a slot of a ring. A submission goes on behind the one before it,
//! which need not be read; the first one of a plan goes on behind the last generation that the host has
//! learned from.

mod kept;

use super::{
    buffer_pool::BufferPool,
    buffer_set::{BufferSet, Shape, UniformBlocks},
    chunk::{Chunk, workgroups},
    device::{OpenDevice, Task},
    entry_point::{Binding, Dispatch, EntryPoint, READ, WRITE},
    jobs::Job,
    kernel::{Kernel, binding},
};
use crate::{
    bind::Launch,
    breeding::{Bred, Plan, SCORE_WORDS, Wanted, number},
    control::Keep,
    error::Error,
};
use kept::{Buffers, Kept, Size};
use sim_compiler::{
    manifest::{CUT_SHORT, Manifest, STOPPED},
    random::Generator,
    value::WORD_BYTES,
};
use std::{ops::Range, sync::Arc, time::Duration};

const TEXT: &str = include_str!("breeding/breed.wgsl");
/// Invocations of a workgroup of all kernels but `rank`.
const LANES: u32 = 64;
/// Most invocations of a workgroup of `rank`.
const MOST_RANK_LANES: u32 = 1024;
const SETTINGS: u32 = 5;
const WORDS: u32 = 6;
const NORMALS: u32 = 7;
const POPULATION: u32 = 8;
const SCORES: u32 = 9;
const LEADERS: u32 = 10;
const INPUTS: u32 = 11;
const WRONG: u32 = 12;
const DRAWN: u32 = 13;
const GENERATION: Binding = (binding::RUN, wgpu::BufferBindingType::Uniform);
const GATHER: [Binding; 6] = [
    GENERATION,
    (binding::OUTPUTS, READ),
    (binding::PROGRESS, READ),
    (SETTINGS, READ),
    (SCORES, WRITE),
    (WRONG, WRITE),
];
const GIVE: [Binding; 5] = [
    GENERATION,
    (SETTINGS, READ),
    (WORDS, READ),
    (INPUTS, WRITE),
    (DRAWN, READ),
];
const RANK: [Binding; 4] = [
    GENERATION,
    (SETTINGS, READ),
    (SCORES, WRITE),
    (LEADERS, WRITE),
];
const VARY: [Binding; 9] = [
    GENERATION,
    (SETTINGS, READ),
    (WORDS, READ),
    (NORMALS, READ),
    (POPULATION, WRITE),
    (SCORES, WRITE),
    (LEADERS, WRITE),
    (INPUTS, WRITE),
    (DRAWN, READ),
];
/// Words of a uniform block of a generation.
const BLOCK_WORDS: u64 = 7;
/// What stands for no gene and no candidate.
const NONE: u32 = u32::MAX;
/// Most bytes of what runs of a submission draw.
const MOST_DRAWN: u64 = 64 << 20;
/// The time that a submission should take, so that a search can be interrupted.
const TIME: Duration = Duration::from_millis(100);
/// The time that it may take: a watchdog resets a device after a second or two.
const MOST_TIME: Duration = Duration::from_millis(500);
/// Recording, submitting and waiting, in errors.
const BREEDING: Task = Task::new("breeding generations");

/// What a session keeps for searches.
pub(super) struct Breeder {
    operators: Operators,
    kept: Option<Kept>,
}

/// One of each kernel.
struct PerKernel<T> {
    give: T,
    gather: T,
    rank: T,
    vary: T,
}

/// The compiled kernels.
type Operators = PerKernel<EntryPoint>;

impl Operators {
    fn bind(
        &self,
        open: &OpenDevice,
        buffers: &[wgpu::BindGroupEntry<'_>],
    ) -> Result<PerKernel<wgpu::BindGroup>, Error> {
        Ok(PerKernel {
            give: self.give.bind(open, buffers)?,
            gather: self.gather.bind(open, buffers)?,
            rank: self.rank.bind(open, buffers)?,
            vary: self.vary.bind(open, buffers)?,
        })
    }
}

/// What a submission computes.
struct Submission<'a> {
    operators: &'a Operators,
    groups: &'a PerKernel<wgpu::BindGroup>,
    /// Bytes from the block of a run to the next.
    stride: u64,
    kernel: &'a Kernel,
    set: &'a BufferSet,
    /// The steps of each dispatch of the model's kernel.
    ranges: &'a [Range<u32>],
    size: Size,
    /// Runs of a generation, and generations.
    runs: usize,
    count: usize,
}

impl<'a> Submission<'a> {
    fn dispatches(&self, open: &OpenDevice, launch: &Launch) -> Vec<Dispatch<'a>> {
        let (operators, groups) = (self.operators, self.groups);
        let most = open.limits.max_compute_workgroups_per_dimension;
        let each = workgroups(launch.agents, 1, most);
        let all = workgroups(launch.agents, LANES, most);
        let dispatch = |entry_point, buffers, block: usize, workgroups| Dispatch {
            entry_point,
            buffers,
            offset: Some((block as u64 * self.stride) as u32),
            workgroups,
            points: 1,
        };
        let (set, kernel) = (self.set, self.kernel);
        let mut dispatches: Vec<_> = set.prepare(open, kernel, 1, launch.steps).collect();
        let steps = (launch.agents, launch.steps);
        for generation in 0..self.count {
            let block = generation * self.runs;
            if self.size.leaders > 0 {
                let islands = (self.size.islands as u32, 1);
                dispatches.push(dispatch(&operators.rank, &groups.rank, block, islands));
            }
            dispatches.push(dispatch(&operators.vary, &groups.vary, block, each));
            for run in block..block + self.runs {
                // `vary` has written what the first one draws.
                if self.size.drawn > 0 && run > block {
                    dispatches.push(dispatch(&operators.give, &groups.give, run, all));
                }
                let place = (run, self.count * self.runs);
                dispatches.extend(set.one_of(open, kernel, place, self.ranges, steps));
                dispatches.push(dispatch(&operators.gather, &groups.gather, run, all));
            }
        }
        dispatches
    }
}

/// The session's parts that breeding uses.
pub(super) struct Parts<'a> {
    pub(super) open: &'a OpenDevice,
    pub(super) manifest: &'a Manifest,
    pub(super) kernel: &'a Kernel,
    pub(super) pool: &'a mut BufferPool,
}

impl Breeder {
    /// Compiles the operators.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn create(open: &OpenDevice) -> Result<Breeder, Error> {
        let module = open.guarded(Task::new("compiling the operators of searches"), || {
            (open.device).create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("breeding"),
                source: wgpu::ShaderSource::Wgsl(text(open).into()),
            })
        })?;
        let compile = |name: &str, bindings: &[Binding]| {
            EntryPoint::compile(open, &module, name, bindings.to_vec(), None)
        };
        Ok(Breeder {
            operators: Operators {
                give: compile("give", &GIVE)?,
                gather: compile("gather", &GATHER)?,
                rank: compile("rank", &RANK)?,
                vary: compile("vary", &VARY)?,
            },
            kept: None,
        })
    }

    /// Submits generations of a plan, bred and evaluated: as many as fit a submission. Gives their number; 0
    /// if the device cannot.
    ///
    /// # Errors
    /// [`Error::GpuMemory`], and those of the device.
    pub(super) fn breed(&mut self, parts: Parts<'_>, plan: &Plan<'_>) -> Result<usize, Error> {
        let Parts {
            open,
            manifest,
            kernel,
            pool,
        } = parts;
        let launch = plan.launch;
        let Some(size) = Size::of(open, manifest, plan) else {
            return Ok(0);
        };
        let blocks = UniformBlocks::new(open, kernel, manifest).count;
        let ranges = kernel.pace.dispatches(launch.steps);
        let Breeder { operators, kept } = self;
        let is_own = |it: &Kept| Arc::ptr_eq(&it.holder, plan.holder) && it.size == size;
        let alone = kernel.pace.expected(launch.agents, launch.steps);
        let alone = alone * plan.generations[0].seeds.len() as u32;
        let known = kept.as_ref().filter(|it| is_own(it));
        let pace = known.and_then(|own| own.pace).unwrap_or(alone);
        let count = generations(plan, size, blocks / ranges.len() as u64, pace.max(alone));
        if count == 0 {
            return Ok(0);
        }
        let own = match (kept.take_if(|it| is_own(it)), plan.parents) {
            (Some(own), _) => own,
            (None, Some(parents)) => Kept::create(open, plan, size, parents())?,
            (None, None) => return Ok(0),
        };
        let own = kept.insert(own);
        let behind = plan.behind as u64;
        if own.bred < behind {
            return Ok(0);
        }
        // Generations of an earlier plan that the host has not learned from are bred again.
        own.go_back(behind);
        pool.set_tables(open, launch)?;
        let shape = shape(kernel, manifest, launch);
        let mut set = pool.acquire(open, kernel, manifest, shape, None)?;
        set.write_uniforms(open, &jobs(plan, count), &ranges)?;
        if cfg!(debug_assertions) {
            set.layout.poison(open, &set.runs[0].results)?;
        }
        let buffers = Buffers::of(open, own, plan, count, &mut set)?;
        let groups = operators.bind(open, &buffers.entries(own, &set))?;
        let submission = Submission {
            operators,
            groups: &groups,
            stride: buffers.stride,
            kernel,
            set: &set,
            ranges: &ranges,
            size,
            runs: plan.generations[0].seeds.len(),
            count,
        };
        let dispatches = submission.dispatches(open, launch);
        open.meter(|telemetry| telemetry.dispatches += dispatches.len() as u64);
        own.submit(open, dispatches, count as u32, pace)?;
        // Another submission may use these buffers: it is executed behind this one.
        pool.release(set);
        Ok(count)
    }

    /// Waits for the oldest submission that was not read and reads what it gives; none if there is none, or
    /// if a run went wrong, which runs elsewhere will then say.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn bred(&mut self, open: &OpenDevice) -> Result<Option<Bred>, Error> {
        match &mut self.kept {
            Some(kept) => kept.read(open),
            None => Ok(None),
        }
    }

    /// The rows of inputs that are wanted; none if nothing is kept.
    ///
    /// # Errors
    /// [`Error::GpuMemory`], and those of the device.
    pub(super) fn rows(
        &mut self,
        open: &OpenDevice,
        wanted: Wanted<'_>,
    ) -> Result<Option<Vec<u32>>, Error> {
        let Some(kept) = &mut self.kept else {
            return Ok(None);
        };
        let size = kept.size;
        let row = size.row * WORD_BYTES;
        let place = |&[generation, candidate]: &[usize; 2]| {
            let slot = size.slot(kept.slot(generation as u64), row);
            let at = slot.start + candidate as u64 * row;
            at..at + row
        };
        let ranges: Vec<_> = match wanted {
            Wanted::Parents => vec![size.slot(kept.parents, row)],
            Wanted::Of { candidates, .. } => candidates.iter().map(place).collect(),
        };
        let rows = match ranges.is_empty() {
            true => Vec::new(),
            false => kept.read_rows(open, ranges)?,
        };
        // What could not be read does not move the search on.
        if let Wanted::Of { parents, .. } = wanted {
            kept.parents = kept.slot(parents as u64);
            kept.go_back(0);
        }
        Ok(Some(rows))
    }
}

/// How many generations of a plan fit a submission, of which one takes so long; none if that is too long. How
/// long they take changes slowly, and the host doubles their number at most.
fn generations(plan: &Plan<'_>, size: Size, blocks: u64, alone: Duration) -> usize {
    let runs = plan.generations.first().map_or(1, |it| it.seeds.len()) as u64;
    let by_time = match alone.is_zero() {
        true => 1,
        false if alone > MOST_TIME => 0,
        false => (TIME.as_secs_f64() / alone.as_secs_f64()).max(1.0) as u64,
    };
    let drawn = size.drawn * size.agents * WORD_BYTES * runs;
    (plan.generations.len() as u64)
        .min((size.slots - 1).saturating_sub(plan.behind as u64))
        .min(MOST_DRAWN.checked_div(drawn).unwrap_or(u64::MAX))
        .min(blocks / runs)
        .min(by_time) as usize
}

/// The buffers that each run uses in turn.
fn shape(kernel: &Kernel, manifest: &Manifest, launch: &Launch) -> Shape {
    let has_table = kernel.prepare.is_some() || !manifest.samplings.is_empty();
    Shape {
        runs: 1,
        points: 1,
        agents: launch.agents,
        members: launch.members,
        steps: if has_table { launch.steps } else { 0 },
        keep: Keep {
            states: false,
            ..Keep::ALL
        },
        shares_inputs: true,
        is_cut: false,
        checks: false,
    }
}

/// The runs of the first generations of a plan, one after the other.
fn jobs(plan: &Plan<'_>, count: usize) -> Vec<Job> {
    let seeds = plan.generations[..count].iter().flat_map(|it| &it.seeds);
    let job = |(run, &seed): (usize, &u64)| Job {
        run,
        chunk: Chunk {
            first: 0,
            count: plan.launch.agents,
        },
        launch: Arc::new(plan.launch.with_seed(seed)),
    };
    seeds.enumerate().map(job).collect()
}

/// The operators, with as many invocations in a workgroup of `rank` as the device has.
fn text(open: &OpenDevice) -> String {
    let limits = &open.limits;
    let most = limits.max_compute_invocations_per_workgroup;
    let lanes = most
        .min(limits.max_compute_workgroup_size_x)
        .min(MOST_RANK_LANES);
    let constants = [
        ("RANK_LANES", 1 << lanes.max(1).ilog2()),
        ("CHILD_LANES", LANES),
        ("SCORE_WORDS", SCORE_WORDS as u32),
        ("STOPPED", STOPPED),
        ("CUT_SHORT", CUT_SHORT),
        ("CROSSES", number::CROSSES),
        ("BLENDS", number::BLENDS),
        ("FIRST_TOURNAMENT", number::TOURNAMENTS[0]),
        ("SECOND_TOURNAMENT", number::TOURNAMENTS[1]),
        ("GENES", number::GENES),
        ("OF_GENE", number::OF_GENE as u32),
    ];
    let constants = constants.map(|(name, value)| format!("const {name} = {value}u;\n"));
    [&constants.concat(), Generator::KeyedHash.wgsl(), TEXT].concat()
}
