//! What the device keeps of a search between its submissions, and the buffers of one of them.

use super::{
    BLOCK_WORDS, BREEDING, DRAWN, INPUTS, LANES, LEADERS, NONE, NORMALS, POPULATION, SCORES,
    SETTINGS, VARY, WORDS, WRONG,
};
use crate::{
    breeding::{Bred, InputWord, Plan, Population, SCORE_WORDS},
    clock,
    error::Error,
    gpu::{
        buffer_set::BufferSet,
        device::OpenDevice,
        entry_point::{Dispatch, entry},
        kernel::binding,
        submission::{Commands, Staging, Submitted},
    },
};
use sim_compiler::{manifest::Manifest, value::WORD_BYTES};
use std::{collections::VecDeque, ops::Range, sync::Arc, time::Duration};

/// Most generations whose populations are kept beside their parents.
const MOST_GENERATIONS: u64 = 64;
/// Most bytes of the populations that are kept: on a GPU, and in the memory of the host.
const MOST_KEPT: [u64; 2] = [1 << 30, 64 << 20];
/// Most of the best of an island that `rank` finds one by one.
const MOST_LEADERS: u32 = 64;

/// The populations of a search.
pub(super) struct Kept {
    pub(super) holder: Arc<()>,
    pub(super) size: Size,
    /// The slot of the parents of the first generation of which no rows were wanted since, and how many such
    /// generations there are: their slots follow.
    pub(super) parents: u64,
    pub(super) bred: u64,
    pub(super) population: wgpu::Buffer,
    pub(super) scores: wgpu::Buffer,
    pub(super) leaders: wgpu::Buffer,
    words: wgpu::Buffer,
    normals: wgpu::Buffer,
    pub(super) wrong: wgpu::Buffer,
    /// What runs draw; of one word before the first do.
    pub(super) drawn: wgpu::Buffer,
    /// The submissions that were not read yet, the oldest first.
    in_flight: VecDeque<InFlight>,
    /// Staging buffers that no submission uses, each with its bytes.
    staging: Vec<(Staging, u64)>,
    /// When the last submission was done, by [`clock::now`], and what a generation took in it.
    done: Option<Duration>,
    pub(super) pace: Option<Duration>,
}

/// A submission.
struct InFlight {
    submitted: Submitted,
    staging: (Staging, u64),
    generations: u32,
    started: Duration,
    /// What a generation is expected to take.
    pace: Duration,
}

/// The sizes of what is kept.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) agents: u64,
    /// Words of a row of inputs.
    pub(super) row: u64,
    pub(super) slots: u64,
    pub(super) islands: u64,
    pub(super) leaders: u64,
    /// Words of a row that each run draws.
    pub(super) drawn: u64,
}

impl Size {
    /// That of a plan; none if the device cannot breed it.
    pub(super) fn of(open: &OpenDevice, manifest: &Manifest, plan: &Plan<'_>) -> Option<Size> {
        let operators = plan.operators;
        let agents = u64::from(plan.launch.agents);
        let row = u64::from(manifest.input_words);
        let leaders = operators.keep.max(operators.migrants);
        let most = MOST_KEPT[usize::from(!open.adapter.kind.is_gpu())].min(open.most_bytes());
        let widest = row.max(SCORE_WORDS as u64) * WORD_BYTES;
        let slots = (most / (agents * widest)).min(MOST_GENERATIONS + 1);
        let limits = &open.limits;
        let storage = VARY.len() as u32 - 1;
        let is_possible = slots >= 2
            && leaders <= MOST_LEADERS
            && agents * (u64::from(operators.islands) + 1) <= u64::from(u32::MAX)
            && operators.islands <= limits.max_compute_workgroups_per_dimension
            && storage <= limits.max_storage_buffers_per_shader_stage
            && limits.max_compute_invocations_per_workgroup >= LANES
            && limits.max_compute_workgroup_size_x >= LANES;
        is_possible.then_some(Size {
            agents,
            row,
            slots,
            islands: operators.islands.into(),
            leaders: leaders.into(),
            drawn: drawn(plan).count() as u64,
        })
    }

    /// Where the values of a slot are in a buffer with so many bytes for each agent.
    pub(super) fn slot(&self, slot: u64, bytes: u64) -> Range<u64> {
        let each = self.agents * bytes;
        slot * each..(slot + 1) * each
    }
}

impl Kept {
    /// Allocates the buffers of a search, and uploads the parents of its next generation.
    pub(super) fn create(
        open: &OpenDevice,
        plan: &Plan<'_>,
        size: Size,
        parents: Population,
    ) -> Result<Kept, Error> {
        let during = "allocating populations";
        let usage = wgpu::BufferUsages::STORAGE
            | wgpu::BufferUsages::COPY_SRC
            | wgpu::BufferUsages::COPY_DST;
        let new = |words: u64| open.buffer(during, words.max(1) * WORD_BYTES, usage);
        let values = size.agents * size.slots;
        let scales = &plan.operators.scales;
        let places = drawn(plan).chain(std::iter::repeat(0));
        let mut numbers = 0..;
        let words: Vec<u32> = (plan.words.iter().zip(places))
            .flat_map(|(word, place)| match word {
                InputWord::Gene { number, within } => {
                    let floats = [scales[*number as usize] as f32, within[0], within[1]];
                    let [scale, low, high] = floats.map(f32::to_bits);
                    [*number, scale, low, high, place, NONE]
                }
                InputWord::Fixed => [NONE, 0, 0, 0, place, NONE],
                InputWord::Drawn => [NONE, 0, 0, 0, place, numbers.next().unwrap_or(NONE)],
            })
            .collect();
        let normals = plan.operators.normals.words();
        let kept = Kept {
            holder: Arc::clone(plan.holder),
            size,
            parents: 0,
            bred: 0,
            population: new(values * size.row)?,
            scores: new(SCORE_WORDS as u64 * values)?,
            leaders: new(size.islands * size.leaders)?,
            words: new(words.len() as u64)?,
            normals: new(normals.len() as u64)?,
            wrong: new(1)?,
            drawn: new(1)?,
            in_flight: VecDeque::new(),
            staging: Vec::new(),
            done: None,
            pace: None,
        };
        let sums: Vec<u32> = parents.sums.iter().map(|sum| sum.to_bits()).collect();
        open.upload("uploading a population", &kept.population, 0, &parents.rows)?;
        open.upload("uploading a population", &kept.scores, 0, &sums)?;
        open.write("uploading the operators", &kept.words, 0, &words)?;
        open.write("uploading the operators", &kept.normals, 0, &normals)?;
        Ok(kept)
    }

    /// Submits the dispatches of the next generations, one of which is expected to take so long.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn submit(
        &mut self,
        open: &OpenDevice,
        dispatches: Vec<Dispatch<'_>>,
        generations: u32,
        pace: Duration,
    ) -> Result<(), Error> {
        let scores_of_one = SCORE_WORDS as u64 * WORD_BYTES;
        let count = u64::from(generations);
        let bytes = count * self.size.agents * scores_of_one + WORD_BYTES;
        let staging = self.staging_of(open, bytes)?;
        let slots = (self.bred..self.bred + count).map(|generation| self.slot(generation));
        let scores = slots.map(|slot| (&self.scores, self.size.slot(slot, scores_of_one)));
        let copies = scores.chain([(&self.wrong, 0..WORD_BYTES)]).collect();
        let commands = Commands {
            dispatches,
            untimed: Vec::new(),
            copies,
            timed: false,
        };
        let started = clock::now();
        let submitted = staging.0.submit(open, &commands)?;
        drop(commands);
        self.in_flight.push_back(InFlight {
            submitted,
            staging,
            generations,
            started,
            pace,
        });
        self.bred += count;
        Ok(())
    }

    /// Waits for the oldest submission and reads what it gives; none if a run went wrong, or if there is no
    /// submission.
    ///
    /// # Errors
    /// Those of the device.
    pub(super) fn read(&mut self, open: &OpenDevice) -> Result<Option<Bred>, Error> {
        let Some(InFlight {
            submitted,
            staging,
            generations,
            started,
            pace,
        }) = self.in_flight.pop_front()
        else {
            return Ok(None);
        };
        // It began when the one before it was done.
        let began = self.done.map_or(started, |done| done.max(started));
        let is_done = || submitted.is_done();
        open.wait(
            BREEDING,
            submitted.index.clone(),
            began + pace * generations,
            is_done,
        )?;
        let done = clock::now();
        self.done = Some(done);
        self.pace = Some((done - began) / generations);
        let bred = staging.0.read(open, &submitted, |words, _| match words {
            [scores @ .., 0] => Some(Bred {
                scores: scores.to_vec(),
            }),
            _ => None,
        })?;
        self.staging.push(staging);
        Ok(bred)
    }

    /// Goes on behind so many of the generations that were bred, as if there had been no later ones.
    pub(super) fn go_back(&mut self, bred: u64) {
        if bred < self.bred {
            self.in_flight.clear();
        }
        self.bred = bred;
    }

    /// Reads back parts of the populations, by their bytes.
    ///
    /// # Errors
    /// [`Error::GpuMemory`], and those of the device.
    pub(super) fn read_rows(
        &mut self,
        open: &OpenDevice,
        ranges: Vec<Range<u64>>,
    ) -> Result<Vec<u32>, Error> {
        let bytes = ranges.iter().map(|range| range.end - range.start).sum();
        let staging = self.staging_of(open, bytes)?;
        let copies = ranges.into_iter().map(|range| (&self.population, range));
        let commands = Commands {
            dispatches: Vec::new(),
            untimed: Vec::new(),
            copies: copies.collect(),
            timed: false,
        };
        let submitted = staging.0.submit(open, &commands)?;
        let is_done = || submitted.is_done();
        open.wait(BREEDING, submitted.index.clone(), clock::now(), is_done)?;
        let rows = staging
            .0
            .read(open, &submitted, |words, _| words.to_vec())?;
        self.staging.push(staging);
        Ok(rows)
    }

    /// A staging buffer of so many bytes at least.
    fn staging_of(&mut self, open: &OpenDevice, bytes: u64) -> Result<(Staging, u64), Error> {
        match self.staging.pop() {
            Some(staging) if staging.1 >= bytes => Ok(staging),
            _ => Ok((Staging::create(open, bytes)?, bytes)),
        }
    }

    /// Uploads what the runs of the first generations of a plan draw.
    fn draw(&mut self, open: &OpenDevice, plan: &Plan<'_>, count: usize) -> Result<(), Error> {
        let runs = || plan.generations[..count].iter().flat_map(|it| &it.drawn);
        let bytes: u64 = runs().map(|words| words.len() as u64 * WORD_BYTES).sum();
        if self.drawn.size() < bytes {
            let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_DST;
            self.drawn = open.buffer("allocating what runs draw", bytes, usage)?;
        }
        let mut at = 0;
        for words in runs() {
            open.upload("uploading what runs draw", &self.drawn, at, words)?;
            at += words.len() as u64 * WORD_BYTES;
        }
        Ok(())
    }

    /// The slot of the generation before one, counted from the first one of which no rows were wanted since.
    fn slot_before(&self, generation: u64) -> u64 {
        (self.parents + generation) % self.size.slots
    }

    /// The slot of a generation, counted so.
    pub(super) fn slot(&self, generation: u64) -> u64 {
        self.slot_before(generation + 1)
    }
}

/// The buffers of one submission.
pub(super) struct Buffers {
    generations: wgpu::Buffer,
    /// Bytes from the block of a generation to the next.
    pub(super) stride: u64,
    settings: wgpu::Buffer,
    inputs: wgpu::Buffer,
}

impl Buffers {
    pub(super) fn of(
        open: &OpenDevice,
        kept: &mut Kept,
        plan: &Plan<'_>,
        count: usize,
        set: &mut BufferSet,
    ) -> Result<Buffers, Error> {
        let alignment = u64::from(open.limits.min_uniform_buffer_offset_alignment);
        let stride = (BLOCK_WORDS * WORD_BYTES).next_multiple_of(alignment.max(WORD_BYTES));
        let mut words = Vec::new();
        for (at, planned) in plan.generations[..count].iter().enumerate() {
            let place = kept.bred + at as u64;
            let slots = [place, place + 1].map(|place| kept.slot_before(place) as u32);
            for run in 0..planned.seeds.len() {
                words.extend([planned.number, slots[0], slots[1]]);
                words.extend([planned.migrates.into(), u32::from(run == 0)]);
                words.push(at as u32 * plan.operators.islands);
                words.push((at * planned.seeds.len() + run) as u32);
                words.resize(
                    words.len().next_multiple_of((stride / WORD_BYTES) as usize),
                    0,
                );
            }
        }
        let create = |words: &[u32], usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            let bytes = words.len() as u64 * WORD_BYTES;
            let buffer = open.buffer("allocating the operators", bytes, usage)?;
            open.write("uploading the operators", &buffer, 0, words)?;
            Ok::<_, Error>(buffer)
        };
        open.write("uploading the operators", &kept.wrong, 0, &[0])?;
        kept.draw(open, plan, count)?;
        Ok(Buffers {
            generations: create(&words, wgpu::BufferUsages::UNIFORM)?,
            stride,
            settings: create(
                &settings(plan, kept.size, count),
                wgpu::BufferUsages::STORAGE,
            )?,
            inputs: set.take_inputs(),
        })
    }

    pub(super) fn entries<'a>(
        &'a self,
        kept: &'a Kept,
        set: &'a BufferSet,
    ) -> Vec<wgpu::BindGroupEntry<'a>> {
        let generation = wgpu::BufferBinding {
            buffer: &self.generations,
            offset: 0,
            size: wgpu::BufferSize::new(BLOCK_WORDS * WORD_BYTES),
        };
        let mut entries = vec![wgpu::BindGroupEntry {
            binding: binding::RUN,
            resource: wgpu::BindingResource::Buffer(generation),
        }];
        entries.extend(set.layout.entries(&set.runs[0].results));
        entries.extend([
            entry(SETTINGS, &self.settings),
            entry(WORDS, &kept.words),
            entry(NORMALS, &kept.normals),
            entry(POPULATION, &kept.population),
            entry(SCORES, &kept.scores),
            entry(LEADERS, &kept.leaders),
            entry(INPUTS, &self.inputs),
            entry(WRONG, &kept.wrong),
            entry(DRAWN, &kept.drawn),
        ]);
        entries
    }
}

/// The words of a row of inputs that each run draws.
fn drawn<'a>(plan: &'a Plan<'_>) -> impl Iterator<Item = u32> + 'a {
    let words = plan.words.iter().zip(0..);
    words.filter_map(|(word, at)| (*word == InputWord::Drawn).then_some(at))
}

/// The settings of all generations.
fn settings(plan: &Plan<'_>, size: Size, count: usize) -> Vec<u32> {
    let operators = plan.operators;
    let blend = operators.blend;
    let floats = [blend as f32, (1.0 + 2.0 * blend) as f32].map(f32::to_bits);
    let mut words = vec![
        operators.seed as u32,
        (operators.seed >> 32) as u32,
        size.agents as u32,
        size.row as u32,
        operators.islands,
        operators.tournament,
        operators.crosses.words(),
        operators.blends.words(),
        operators.mutates.words(),
        operators.keep,
        operators.migrants,
        size.leaders as u32,
        floats[0],
        floats[1],
        0,
        plan.launch.steps,
        plan.fitness,
        u32::from(plan.minimises) << 31,
        size.drawn as u32,
    ];
    let sizes = plan.generations[..count].iter().flat_map(|it| &it.sizes);
    words.extend(sizes.map(|size| size.to_bits()));
    // As long as a whole number of vectors.
    words.resize(words.len().next_multiple_of(2), 0);
    words
}
