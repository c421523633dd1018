//! Runs a population on all cores, in tasks of several blocks. Results are kept, each task in its own part of
//! them, or passed to a callback block by block.

use super::{LANES, Machine, Program, Values, kernel::GROUP, program::Stored};
use crate::cpu::{Cancelled, Control};
use rayon::prelude::*;
use sim_compiler::manifest::Field;
use std::sync::{Mutex, PoisonError, atomic::Ordering};

/// Tasks per thread, for load balancing.
const TASKS: usize = 16;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The compiled model.
    pub program: &'a Program,
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
    /// By word of a row: whether the launch gives it.
    pub given: &'a [bool],
    /// The numbers of the inputs that the program computes.
    pub absent: &'a [usize],
}

impl Job<'_> {
    /// The registers of the inputs that the launch gives.
    fn given(&self) -> Vec<Stored> {
        let inputs = self.program.inputs.iter().copied();
        inputs
            .filter(|stored| self.given[stored.word as usize])
            .collect()
    }
}

/// A field of all agents: `width` words each, one agent after another.
#[derive(Debug)]
pub struct Column<'a> {
    /// The field's first word in an agent's row.
    pub word: u32,
    /// Words per agent.
    pub width: usize,
    /// All agents' words.
    pub words: &'a mut [u32],
}

impl<'a> Column<'a> {
    /// Columns over the words of fields.
    pub fn of(fields: &[Field], words: &'a mut [Vec<u32>]) -> Vec<Column<'a>> {
        (fields.iter().zip(words))
            .map(|(field, words)| Column {
                word: field.word,
                width: field.words() as usize,
                words,
            })
            .collect()
    }

    fn split_off(&mut self, agents: usize) -> Column<'a> {
        let (now, rest) = std::mem::take(&mut self.words).split_at_mut(agents * self.width);
        self.words = rest;
        Column {
            words: now,
            ..*self
        }
    }
}

/// The destination of results.
#[derive(Debug)]
pub struct Results<'a> {
    /// The outputs.
    pub outputs: Vec<Column<'a>>,
    /// The final states; empty if they are not kept.
    pub states: Vec<Column<'a>>,
    /// The progress words, see [`crate::cpu::Progress::word`].
    pub progress: &'a mut [u32],
}

/// Several blocks of the population.
struct Task<'a> {
    first: u32,
    inputs: &'a [u32],
    results: Results<'a>,
}

/// Runs all steps of all agents.
///
/// # Errors
/// If the run was cancelled; the results are then incomplete.
pub fn run(job: &Job<'_>, results: Results<'_>, control: &Control) -> Result<(), Cancelled> {
    let block = block_size(job.agents as usize);
    let tasks = tasks(job, results, block);
    tasks.into_par_iter().try_for_each_init(
        || Machine::new(job.program, &job.values, control),
        |machine, task| run_task(job, machine, task, block, control),
    )
}

/// Computes the absent inputs and writes them to rows of `input_words` words.
///
/// # Errors
/// If the run was cancelled.
pub fn fill_inputs(job: &Job<'_>, rows: &mut [u32], control: &Control) -> Result<(), Cancelled> {
    let stride = job.input_words;
    (rows.par_chunks_mut(stride * LANES).enumerate()).try_for_each_init(
        || Machine::new(job.program, &job.values, control),
        |machine, (block, rows)| {
            let count = rows.len() / stride;
            machine.begin(job.first + (block * LANES) as u32, count);
            for &number in job.absent {
                machine.default_input(number)?;
                for stored in &job.program.defaults[number].inputs {
                    machine.store(stored, &mut rows[stored.word as usize..], stride, count);
                }
            }
            Ok(())
        },
    )
}

/// Agents per block: as many as fit, with enough blocks for all threads.
fn block_size(agents: usize) -> usize {
    let threads = rayon::current_num_threads();
    let blocks = agents.div_ceil(LANES);
    // With few blocks, a partial last round would leave threads idle.
    let blocks = match blocks < 4 * threads {
        true => blocks.next_multiple_of(threads),
        false => blocks,
    };
    agents.div_ceil(blocks).next_multiple_of(GROUP).min(LANES)
}

/// Agents per task, in whole blocks.
fn agents_of_task(agents: usize, block: usize) -> usize {
    let blocks = agents.div_ceil(block);
    blocks.div_ceil(TASKS * rayon::current_num_threads()).max(1) * block
}

fn tasks<'a>(job: &Job<'a>, mut rest: Results<'a>, block: usize) -> Vec<Task<'a>> {
    let agents = job.agents as usize;
    let each = agents_of_task(agents, block);
    let mut tasks = Vec::new();
    let mut begun = 0;
    while begun < agents {
        let count = each.min(agents - begun);
        let split = |columns: &mut Vec<Column<'a>>| {
            columns.iter_mut().map(|it| it.split_off(count)).collect()
        };
        let (progress, later) = std::mem::take(&mut rest.progress).split_at_mut(count);
        rest.progress = later;
        let inputs = match job.inputs {
            [] => job.inputs,
            rows => &rows[begun * job.input_words..][..count * job.input_words],
        };
        tasks.push(Task {
            first: job.first + begun as u32,
            inputs,
            results: Results {
                outputs: split(&mut rest.outputs),
                states: split(&mut rest.states),
                progress,
            },
        });
        begun += count;
    }
    tasks
}

fn run_task(
    job: &Job<'_>,
    machine: &mut Machine<'_>,
    task: Task<'_>,
    block: usize,
    control: &Control,
) -> Result<(), Cancelled> {
    let Task {
        first,
        inputs,
        mut results,
    } = task;
    let program = job.program;
    let given = job.given();
    let mut inputs = inputs.chunks(block * job.input_words.max(1));
    let mut done = 0;
    while !results.progress.is_empty() {
        let count = block.min(results.progress.len());
        let inputs = inputs.next().unwrap_or_default();
        machine.begin(first + done, count);
        run_block(job, machine, &given, inputs)?;
        for column in &mut results.outputs {
            store(machine, &program.outputs, column.split_off(count), count);
        }
        for column in &mut results.states {
            store(machine, &program.states, column.split_off(count), count);
        }
        let (progress, later) = std::mem::take(&mut results.progress).split_at_mut(count);
        results.progress = later;
        for (word, lane) in progress.iter_mut().zip(machine.progress()) {
            *word = lane.word();
        }
        let count = count as u32;
        control
            .agents_done
            .fetch_add(count.into(), Ordering::Relaxed);
        done += count;
    }
    Ok(())
}

/// Runs the block of agents with which the machine has started. `inputs` is empty if the launch gives none.
fn run_block(
    job: &Job<'_>,
    machine: &mut Machine<'_>,
    given: &[Stored],
    inputs: &[u32],
) -> Result<(), Cancelled> {
    machine.check_cancelled()?;
    for &number in job.absent {
        machine.default_input(number)?;
    }
    if !inputs.is_empty() {
        machine.load(given, inputs, job.input_words);
    }
    machine.run(0..job.values.steps)
}

/// A block of agents that has been run.
pub struct Shown<'a> {
    machine: &'a Machine<'a>,
    outputs: &'a [Stored],
    count: usize,
}

impl Shown<'_> {
    /// Calls `each` with the number of each word of the outputs, and its values.
    pub fn outputs(&self, mut each: impl FnMut(u32, &[u32])) {
        let mut values = [0; LANES];
        for stored in self.outputs {
            let values = &mut values[..self.count];
            self.machine.store(stored, values, 1, self.count);
            each(stored.word, values);
        }
    }

    /// The progress words, see [`crate::cpu::Progress::word`].
    pub fn progress(&self) -> impl Iterator<Item = u32> + Clone {
        let progress = &self.machine.progress()[..self.count];
        progress.iter().map(|progress| progress.word())
    }
}

/// Runs all steps of all agents and passes each block to `see`, in any order, with a value that `make`
/// creates once per thread. Returns these values. Holds no more than one block per thread in memory.
///
/// # Errors
/// If the run was cancelled.
pub fn show<T: Send>(
    job: &Job<'_>,
    control: &Control,
    make: impl Fn() -> T + Sync,
    see: impl Fn(&mut T, &Shown<'_>) + Sync,
) -> Result<Vec<T>, Cancelled> {
    let agents = job.agents as usize;
    let block = block_size(agents);
    let each = agents_of_task(agents, block);
    let given = job.given();
    let words = job.input_words;
    // A task reuses the machine of a finished task, so there are at most as many as threads.
    let idle = Mutex::new(Vec::new());
    let locked = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    (0..agents.div_ceil(each))
        .into_par_iter()
        .try_for_each(|task| {
            let taken = locked().pop();
            let (mut machine, mut made) =
                taken.unwrap_or_else(|| (Machine::new(job.program, &job.values, control), make()));
            let end = agents.min((task + 1) * each);
            for first in (task * each..end).step_by(block) {
                let count = block.min(end - first);
                let inputs = match job.inputs {
                    [] => job.inputs,
                    rows => &rows[first * words..][..count * words],
                };
                machine.begin(job.first + first as u32, count);
                run_block(job, &mut machine, &given, inputs)?;
                see(
                    &mut made,
                    &Shown {
                        machine: &machine,
                        outputs: &job.program.outputs,
                        count,
                    },
                );
                control
                    .agents_done
                    .fetch_add(count as u64, Ordering::Relaxed);
            }
            locked().push((machine, made));
            Ok(())
        })?;
    let idle = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(idle.into_iter().map(|(_, made)| made).collect())
}

/// Stores a field of a block.
fn store(machine: &Machine<'_>, all: &[Stored], column: Column<'_>, count: usize) {
    let words = column.word..column.word + column.width as u32;
    for stored in all.iter().filter(|stored| words.contains(&stored.word)) {
        let first = (stored.word - column.word) as usize;
        machine.store(stored, &mut column.words[first..], column.width, count);
    }
}
