//! Runs a population on all cores, in tasks of several groups. Results are kept, each task in its own part of
//! them, or passed to a callback block by block.

use super::{Group, LANES, Lane, Machine, Program, Values, kernel::GROUP, program::Stored};
use crate::cpu::{Cancelled, Control, Progress};
use crate::parallel;
use crate::parallel::*;
use sim_compiler::manifest::Field;
use std::{
    ops::Range,
    sync::{Mutex, PoisonError},
};

/// Tasks per thread, for load balancing.
const TASKS: usize = 16;

/// What to run.
#[derive(Clone, Debug)]
pub struct Job<'a, L = u32> {
    /// The compiled model.
    pub program: &'a Program<L>,
    /// The values of the launch.
    pub values: Values<'a>,
    /// The number of the first agent in the population.
    pub first: u32,
    /// The number of agents, at least one.
    pub agents: u32,
    /// Rows of inputs, one agent after another; empty if the launch gives none.
    pub inputs: &'a [u32],
    /// Words per row.
    pub input_words: usize,
    /// Rows of inputs of the worlds.
    pub world_inputs: &'a [u32],
    /// Words per row.
    pub world_input_words: usize,
    /// By word of a row: whether the launch gives it.
    pub given: &'a [bool],
    /// The numbers of the inputs that the program computes.
    pub absent: &'a [usize],
    /// The jobs that are run at the same time, on threads that they share.
    pub jobs: usize,
    /// The steps to run, from `init` if they start with 0.
    pub steps: Range<u32>,
    /// Whether `finish` follows them, and there are outputs.
    pub finishes: bool,
    /// What the steps before them left, if any.
    pub before: Option<Before<'a>>,
}

/// What the earlier steps of a run left: a column of all agents or worlds per word of a row.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// By word of a row of states.
    pub states: &'a [Vec<u32>],
    /// By word of a row of the worlds' states.
    pub world_states: &'a [Vec<u32>],
    /// The progress words, see [`crate::cpu::Progress::word`].
    pub progress: &'a [u32],
}

impl Before<'_> {
    /// Loads the states of a group, whose first agent has this place in the run.
    fn load<L: Lane>(&self, group: &mut Group<'_, L>, job: &Job<'_, L>, first: usize) {
        let [_, states, _] = job.program.rows();
        for stored in states {
            let column = &self.states[stored.word as usize][first..];
            group.load(&[Stored { word: 0, ..*stored }], column, 1);
        }
        let world = first / job.values.members as usize;
        for stored in &job.program.world_states {
            let column = &self.world_states[stored.word as usize][world..];
            group.load_worlds(&[Stored { word: 0, ..*stored }], column, 1);
        }
        let progress = self.progress[first..].iter();
        group.resume(progress.map(|&word| Progress::from_word(word)));
    }
}

impl<L: Lane> Job<'_, L> {
    /// The registers of the inputs that the launch gives.
    fn given(&self) -> Vec<Stored> {
        let inputs = self.program.inputs.iter().copied();
        inputs
            .filter(|stored| self.given[stored.word as usize])
            .collect()
    }
}

/// A field of all agents, or of all worlds: `width` words each, one after another.
#[derive(Debug)]
pub struct Column<'a> {
    /// The field's first word in a row.
    pub word: u32,
    /// Words per row.
    pub width: usize,
    /// All words.
    pub words: &'a mut [u32],
}

impl<'a> Column<'a> {
    /// Columns for each word of a row.
    pub fn by_word(words: &'a mut [Vec<u32>]) -> Vec<Column<'a>> {
        (words.iter_mut().zip(0..))
            .map(|(words, word)| Column {
                word,
                width: 1,
                words,
            })
            .collect()
    }

    /// Columns over the words of fields.
    pub fn of<W: AsMut<[u32]>>(fields: &[Field], words: &'a mut [W]) -> Vec<Column<'a>> {
        (fields.iter().zip(words))
            .map(|(field, words)| Column {
                word: field.word,
                width: field.words() as usize,
                words: words.as_mut(),
            })
            .collect()
    }

    fn split_off(&mut self, rows: usize) -> Column<'a> {
        let (now, rest) = std::mem::take(&mut self.words).split_at_mut(rows * self.width);
        self.words = rest;
        Column {
            words: now,
            ..*self
        }
    }
}

/// The samples of a series: `width` words of each agent, or of each world or unit.
#[derive(Debug)]
pub struct Samples<'a> {
    /// The number of its sampling.
    pub sampling: usize,
    /// Is there a row per agent?
    pub of_agents: bool,
    /// The first word in a sample's row.
    pub word: u32,
    /// Words per row.
    pub width: usize,
    /// The number of the first sample.
    pub first: usize,
    /// By sample: all words.
    pub samples: Vec<&'a mut [u32]>,
}

impl<'a> Samples<'a> {
    fn split_off(&mut self, rows: usize) -> Samples<'a> {
        let width = self.width;
        let split = |words: &mut &'a mut [u32]| {
            let (now, rest) = std::mem::take(words).split_at_mut(rows * width);
            *words = rest;
            now
        };
        Samples {
            samples: self.samples.iter_mut().map(split).collect(),
            ..*self
        }
    }

    /// Stores a sample of a group.
    fn store<L: Lane>(&mut self, group: &Group<'_, L>, program: &Program<L>, number: usize) {
        let sample = &program.samples[self.sampling];
        let (width, words) = (self.width, &mut *self.samples[number - self.first]);
        let range = self.word..self.word + width as u32;
        let first = self.word;
        let at = |stored: &Stored| (stored.word - first) as usize;
        if self.of_agents {
            let own = sample.records.iter().filter(|it| range.contains(&it.word));
            own.for_each(|stored| group.store(stored, &mut words[at(stored)..], width));
            return;
        }
        let own = sample.world_records.iter();
        for (stored, tree) in own.filter(|(stored, _)| range.contains(&stored.word)) {
            let words = &mut words[at(stored)..];
            match tree {
                Some(tree) => group.store_combined(stored, *tree, words, width),
                None => group.store_worlds(stored, words, width),
            }
        }
    }
}

/// The destination of results; what is not kept is empty.
#[derive(Debug, Default)]
pub struct Results<'a> {
    /// The outputs.
    pub outputs: Vec<Column<'a>>,
    /// The final states.
    pub states: Vec<Column<'a>>,
    /// The outputs of the worlds.
    pub world_outputs: Vec<Column<'a>>,
    /// The final states of the worlds.
    pub world_states: Vec<Column<'a>>,
    /// All words of the states, where a run is cut: see [`Column::by_word`].
    pub saved: Vec<Column<'a>>,
    /// The same of the worlds.
    pub world_saved: Vec<Column<'a>>,
    /// What is sampled.
    pub series: Vec<Samples<'a>>,
    /// The progress words, see [`crate::cpu::Progress::word`].
    pub progress: &'a mut [u32],
}

impl<'a> Results<'a> {
    /// Splits off what these agents have.
    fn split_off(&mut self, agents: usize, members: usize) -> Results<'a> {
        let split = |columns: &mut Vec<Column<'a>>, rows: usize| {
            columns.iter_mut().map(|it| it.split_off(rows)).collect()
        };
        let worlds = agents.div_ceil(members);
        let series = (self.series.iter_mut())
            .map(|it| it.split_off(if it.of_agents { agents } else { worlds }))
            .collect();
        let progress = std::mem::take(&mut self.progress);
        let (now, later) = progress.split_at_mut(agents.min(progress.len()));
        self.progress = later;
        Results {
            outputs: split(&mut self.outputs, agents),
            states: split(&mut self.states, agents),
            world_outputs: split(&mut self.world_outputs, worlds),
            world_states: split(&mut self.world_states, worlds),
            saved: split(&mut self.saved, agents),
            world_saved: split(&mut self.world_saved, worlds),
            series,
            progress: now,
        }
    }

    /// Stores what the next part of a run that is cut needs of a group.
    fn save<L: Lane>(&mut self, group: &Group<'_, L>, program: &Program<L>) {
        let [_, states, _] = program.rows();
        if !self.saved.is_empty() {
            for stored in states {
                group.store(stored, self.saved[stored.word as usize].words, 1);
            }
        }
        if !self.world_saved.is_empty() {
            for stored in &program.world_states {
                group.store_worlds(stored, self.world_saved[stored.word as usize].words, 1);
            }
        }
        for (word, progress) in self.progress.iter_mut().zip(group.progress()) {
            *word = progress.word();
        }
    }

    /// Stores the results of a group.
    fn store<L: Lane>(&mut self, group: &Group<'_, L>, program: &Program<L>) {
        let [_, states, outputs] = program.rows();
        for (columns, all) in [(&mut self.outputs, outputs), (&mut self.states, states)] {
            each_word(columns, all, |stored, words, width| {
                group.store(stored, words, width);
            });
        }
        for (columns, all) in [
            (&mut self.world_outputs, &program.world_outputs),
            (&mut self.world_states, &program.world_states),
        ] {
            each_word(columns, all, |stored, words, width| {
                group.store_worlds(stored, words, width);
            });
        }
    }
}

/// Calls `store` with each word of the columns, the place of its first value, and the words per row.
fn each_word(
    columns: &mut [Column<'_>],
    all: &[Stored],
    store: impl Fn(&Stored, &mut [u32], usize),
) {
    for column in columns {
        let range = column.word..column.word + column.width as u32;
        for stored in all.iter().filter(|stored| range.contains(&stored.word)) {
            let first = (stored.word - column.word) as usize;
            store(stored, &mut column.words[first..], column.width);
        }
    }
}

/// How a population is split.
#[derive(Clone, Copy)]
struct Split {
    /// Agents per group.
    group: usize,
    /// Blocks per group.
    blocks: usize,
    /// Agents per task, in whole groups.
    task: usize,
}

impl Split {
    fn new<L: Lane>(program: &Program<L>, agents: usize, members: usize, jobs: usize) -> Split {
        let threads = parallel::current_num_threads().div_ceil(jobs);
        let block = block_size(agents, threads);
        let (group, blocks) = match program.joint {
            false => (block, 1),
            true if program.alone || members > LANES => (members, members.div_ceil(LANES)),
            true => ((block / members).max(1) * members, 1),
        };
        let groups = agents.div_ceil(group);
        let each = groups.div_ceil(TASKS * threads).max(1);
        Split {
            group,
            blocks,
            task: each * group,
        }
    }
}

/// The work space of all threads for a population, in bytes.
pub fn work_space<L: Lane>(program: &Program<L>, agents: u32, members: u32) -> u64 {
    let split = Split::new(program, agents as usize, members as usize, 1);
    let tasks = (agents as usize).div_ceil(split.task);
    let threads = parallel::current_num_threads().min(tasks);
    threads as u64 * Group::bytes(program, split.blocks)
}

/// Some agents of the population.
struct Task<'a> {
    first: u32,
    agents: usize,
    inputs: &'a [u32],
    world_inputs: &'a [u32],
    results: Results<'a>,
}

impl<'a> Task<'a> {
    /// The tasks of a job.
    fn all<L: Lane>(job: &Job<'a, L>, split: Split, results: Results<'a>) -> Vec<Task<'a>> {
        let mut rest = Task {
            first: job.first,
            agents: job.agents as usize,
            inputs: job.inputs,
            world_inputs: job.world_inputs,
            results,
        };
        let mut tasks = Vec::new();
        while rest.agents > 0 {
            tasks.push(rest.split_off(split.task, job));
        }
        tasks
    }

    /// Splits off so many agents, or all.
    fn split_off<L: Lane>(&mut self, agents: usize, job: &Job<'_, L>) -> Task<'a> {
        let agents = agents.min(self.agents);
        let members = job.values.members as usize;
        let rows = |rows: &mut &'a [u32], words: usize| {
            let (now, later) = rows.split_at(words.min(rows.len()));
            *rows = later;
            now
        };
        let task = Task {
            first: self.first,
            agents,
            inputs: rows(&mut self.inputs, agents * job.input_words),
            world_inputs: rows(
                &mut self.world_inputs,
                agents.div_ceil(members) * job.world_input_words,
            ),
            results: self.results.split_off(agents, members),
        };
        self.first += agents as u32;
        self.agents -= agents;
        task
    }
}

/// Runs the steps of all agents.
///
/// # Errors
/// If the run was cancelled; the results are then incomplete.
pub fn run<L: Lane>(
    job: &Job<'_, L>,
    results: Results<'_>,
    control: &Control,
) -> Result<(), Cancelled> {
    let split = Split::new(
        job.program,
        job.agents as usize,
        job.values.members as usize,
        job.jobs,
    );
    let tasks = Task::all(job, split, results);
    tasks.into_par_iter().try_for_each_init(
        || Group::new(job.program, &job.values, split.blocks, control),
        |group, task| run_task(job, group, task, split, |_| {}),
    )
}

/// Computes the absent inputs and writes them to rows of `input_words` words, which have those that are
/// given.
///
/// # Errors
/// If the run was cancelled.
pub fn fill_inputs<L: Lane>(
    job: &Job<'_, L>,
    rows: &mut [u32],
    control: &Control,
) -> Result<(), Cancelled> {
    let stride = job.input_words;
    (rows.par_chunks_mut(stride * LANES).enumerate()).try_for_each_init(
        || Group::new(job.program, &job.values, 1, control),
        |group, (block, rows)| {
            group.begin(job.first + (block * LANES) as u32, rows.len() / stride);
            for &number in job.absent {
                group.default_input(number)?;
                let computed = &job.program.defaults[number].inputs;
                for stored in computed.iter().filter(|it| !job.given[it.word as usize]) {
                    group.store(stored, &mut rows[stored.word as usize..], stride);
                }
            }
            Ok(())
        },
    )
}

/// Agents per block: as many as fit, with enough blocks for all threads.
fn block_size(agents: usize, threads: usize) -> usize {
    let blocks = agents.div_ceil(LANES);
    // With few blocks, a partial last round would leave threads idle.
    let blocks = match blocks < 4 * threads {
        true => blocks.next_multiple_of(threads),
        false => blocks,
    };
    agents.div_ceil(blocks).next_multiple_of(GROUP).min(LANES)
}

/// Runs the agents of a task, group by group, and passes each group to `see`.
fn run_task<L: Lane>(
    job: &Job<'_, L>,
    group: &mut Group<'_, L>,
    mut task: Task<'_>,
    split: Split,
    mut see: impl FnMut(&Group<'_, L>),
) -> Result<(), Cancelled> {
    let program = job.program;
    let given = job.given();
    while task.agents > 0 {
        let mut now = task.split_off(split.group, job);
        group.begin(now.first, now.agents);
        let words = job.world_input_words;
        group.load_worlds(&program.world_inputs, now.world_inputs, words);
        for &number in job.absent {
            group.default_input(number)?;
        }
        if !now.inputs.is_empty() {
            group.load(&given, now.inputs, job.input_words);
        }
        if let Some(before) = &job.before {
            before.load(group, job, (now.first - job.first) as usize);
        }
        group.run(job.steps.clone(), &mut |group, sampling, number| {
            for samples in &mut now.results.series {
                if samples.sampling == sampling {
                    samples.store(group, program, number);
                }
            }
        })?;
        now.results.save(group, program);
        if job.finishes {
            group.finish()?;
        }
        now.results.store(group, program);
        see(group);
    }
    Ok(())
}

/// A block of agents that has been run.
pub struct Shown<'a, L = u32> {
    machine: &'a Machine<'a, L>,
    outputs: &'a [Stored],
}

impl<L: Lane> Shown<'_, L> {
    /// Calls `each` with the number of each word of the outputs, and its values.
    pub fn outputs(&self, mut each: impl FnMut(u32, &[u32])) {
        let mut values = [0; LANES];
        for stored in self.outputs {
            let values = &mut values[..self.machine.agents()];
            self.machine.store(stored, values, 1);
            each(stored.word, values);
        }
    }

    /// The progress words, see [`crate::cpu::Progress::word`].
    pub fn progress(&self) -> impl Iterator<Item = u32> + Clone {
        let progress = self.machine.progress();
        progress.iter().map(|progress| progress.word())
    }
}

/// Runs the steps of all agents and passes each block to `see`, in any order, with a value that `make`
/// creates once per thread. Returns these values. Beside `results`, which may have less than all, it holds no
/// more than one group per thread in memory.
///
/// # Errors
/// If the run was cancelled.
pub fn show<L: Lane, T: Send>(
    job: &Job<'_, L>,
    results: Results<'_>,
    control: &Control,
    make: impl Fn() -> T + Sync,
    see: impl Fn(&mut T, &Shown<'_, L>) + Sync,
) -> Result<Vec<T>, Cancelled> {
    let split = Split::new(
        job.program,
        job.agents as usize,
        job.values.members as usize,
        job.jobs,
    );
    // A task reuses the machine of a finished task, so there are at most as many as threads.
    let idle = Mutex::new(Vec::new());
    let locked = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let tasks = Task::all(job, split, results);
    tasks.into_par_iter().try_for_each(|task| {
        let taken = locked().pop();
        let new = || Group::new(job.program, &job.values, split.blocks, control);
        let (mut group, mut made) = taken.unwrap_or_else(|| (new(), make()));
        run_task(job, &mut group, task, split, |group| {
            for machine in group.blocks() {
                let outputs = &job.program.outputs;
                see(&mut made, &Shown { machine, outputs });
            }
        })?;
        locked().push((group, made));
        Ok(())
    })?;
    let idle = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(idle.into_iter().map(|(_, made)| made).collect())
}
