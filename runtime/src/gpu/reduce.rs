//! Statistics of results that are not read back. The device reduces outputs and step counts to some kilobytes
//! per column, from which the host computes [`Statistics`]. Counts, extremes and quartiles are exact, mean
//! and deviation exact up to the last rounding. All are deterministic, since only integers are added
//! (`reduce/reduce.wgsl`).

#[cfg(test)]
mod tests;

use crate::{
    clock::Stopwatch,
    error::Error,
    gpu::{
        device::{OpenDevice, Task},
        entry_point::{Binding, Dispatch, EntryPoint, READ, WRITE, entry},
        kernel::binding,
        results::Fault,
    },
    statistics::{EXPONENTS, Exact, Statistics, Sums, rows},
};
use sim_compiler::{
    manifest::{CUT_SHORT, Field, STOPPED, Scalar},
    value::WORD_BYTES,
};
use std::sync::Arc;

const TEXT: &str = include_str!("reduce/reduce.wgsl");
/// Invocations of a workgroup.
const LANES: u32 = 256;
/// Words of workgroup memory: the sums, and one per target.
const WORKGROUP_WORDS: u32 = 2048 + TARGETS as u32;
/// Order statistics to find: the extremes, and two for each quartile.
const TARGETS: usize = 8;
/// Digits of 8 bits.
const DIGITS: usize = 4;
/// Words of the report's header.
const REPORT_HEAD: usize = 7;
/// Words of a column in the report: the keys, and two per sum.
const REPORT_WORDS: usize = TARGETS + 2 * SUMS;
/// Sums of a column: two pieces of 16 bits for each sign and exponent, four of squares for each exponent.
const SUMS: usize = SQUARES + 4 * EXPONENTS;
/// Index of the first square among the sums.
const SQUARES: usize = 2 * 2 * EXPONENTS;
/// Indices of the sums that count NaNs, one per sign.
const NANS: [usize; 2] = [2 * (EXPONENTS - 1), 2 * (2 * EXPONENTS - 1)];
/// Words of a column's search: the digit, three per target, and the histogram.
const SEARCH_WORDS: usize = 1 + 3 * TARGETS + 2048;
/// Bindings of all kernels. Outputs and step counts have the numbers that they have in a model's kernel.
const BINDINGS: [Binding; 5] = [
    (binding::OUTPUTS, READ),
    (binding::PROGRESS, READ),
    (TASK, READ),
    (REPORT, WRITE),
    (SEARCHES, WRITE),
];
const TASK: u32 = 5;
const REPORT: u32 = 6;
const SEARCHES: u32 = 7;
/// Values per workgroup: at most what its sums can hold, and at least what makes merging them worthwhile.
const MOST_SHARE: u32 = 1 << 16;
const LEAST_SHARE: u32 = 1 << 12;
/// Workgroups that fill a large device.
const GROUPS: u32 = 2048;
/// Most values of all columns together.
const MOST_VALUES: u32 = 1 << 31;

/// The results of a run on the device.
pub(crate) struct Source<'a> {
    /// Bindings, among them those of its outputs (word `w` of agent `i` is at index `w * agents + i`) and of
    /// its step counts.
    pub(crate) results: Vec<wgpu::BindGroupEntry<'a>>,
    /// The fields of the outputs.
    pub(crate) fields: &'a [Field],
    /// The number of agents.
    pub(crate) agents: u32,
    /// The steps of an agent that does not stop.
    pub(crate) steps: u32,
}

/// A reduction of one run's results, as part of a submission.
pub(crate) struct Reduction {
    reducer: Arc<Reducer>,
    /// The columns of each output.
    outputs: Vec<Vec<Column>>,
    agents: u32,
    buffers: wgpu::BindGroup,
    /// What is read back.
    pub(crate) report: wgpu::Buffer,
}

/// The compiled kernels of the reduction.
pub(crate) struct Reducer {
    ran: EntryPoint,
    moments: EntryPoint,
    tally: EntryPoint,
    narrow: EntryPoint,
}

/// A range of the outputs with statistics of its own.
struct Column {
    scalar: Scalar,
    first: u32,
    count: u32,
}

/// Bytes that are read back instead of these outputs.
pub(crate) fn report_bytes(fields: &[Field]) -> u64 {
    let columns: u32 = fields.iter().map(rows).sum();
    (REPORT_HEAD as u64 + u64::from(columns) * REPORT_WORDS as u64) * WORD_BYTES
}

/// Whether a device with these limits can reduce these outputs, if it holds all of them at once.
pub(crate) fn is_possible(limits: &wgpu::Limits, fields: &[Field], agents: u32) -> bool {
    let words: u64 = fields.iter().map(|field| u64::from(field.words())).sum();
    let groups = MOST_VALUES.div_ceil(MOST_SHARE);
    let columns: u32 = fields.iter().map(rows).sum();
    words > 0
        && words * u64::from(agents) <= MOST_VALUES.into()
        && groups.max(columns) <= limits.max_compute_workgroups_per_dimension
        && LANES <= limits.max_compute_invocations_per_workgroup
        && LANES <= limits.max_compute_workgroup_size_x
        && WORKGROUP_WORDS * WORD_BYTES as u32 <= limits.max_compute_workgroup_storage_size
        && BINDINGS.len() as u32 <= limits.max_storage_buffers_per_shader_stage
        && report_bytes(fields) <= limits.max_storage_buffer_binding_size
}

impl Reducer {
    /// Compiles the kernels.
    pub(crate) fn create(open: &OpenDevice) -> Result<Reducer, Error> {
        let started = Stopwatch::start();
        let module = open.guarded(Task::new("compiling the summary"), || {
            (open.device).create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some("summary"),
                source: wgpu::ShaderSource::Wgsl(text().into()),
            })
        })?;
        let compile = |name| EntryPoint::compile(open, &module, name, BINDINGS.to_vec(), None);
        let reducer = Reducer {
            ran: compile("ran")?,
            moments: compile("moments")?,
            tally: compile("tally")?,
            narrow: compile("narrow")?,
        };
        open.meter(|telemetry| telemetry.pipeline_seconds += started.seconds());
        Ok(reducer)
    }
}

impl Reduction {
    /// Allocates the buffers of a reduction.
    ///
    /// # Errors
    /// [`Error::GpuMemory`]
    pub(crate) fn create(
        open: &OpenDevice,
        reducer: Arc<Reducer>,
        source: &Source<'_>,
    ) -> Result<Reduction, Error> {
        let fields = source.fields.iter();
        let outputs: Vec<_> = fields.map(|field| columns(field, source.agents)).collect();
        let columns = outputs.iter().flatten();
        let count = columns.clone().count();
        let mut words = vec![source.agents, source.steps, share(source.agents)];
        words.extend(columns.flat_map(Column::task));
        let during = "allocating the summary";
        let create = |words: usize, usage| {
            let usage = usage | wgpu::BufferUsages::STORAGE;
            open.buffer(during, words as u64 * WORD_BYTES, usage)
        };
        let task = create(words.len(), wgpu::BufferUsages::COPY_DST)?;
        open.write(during, &task, 0, &words)?;
        let report_words = REPORT_HEAD + REPORT_WORDS * count;
        let report = create(report_words, wgpu::BufferUsages::COPY_SRC)?;
        let searches = create(SEARCH_WORDS * count, wgpu::BufferUsages::empty())?;
        let is_read = |it: &&wgpu::BindGroupEntry<'_>| {
            [binding::OUTPUTS, binding::PROGRESS].contains(&it.binding)
        };
        let mut buffers: Vec<_> = (source.results.iter()).filter(is_read).cloned().collect();
        buffers.extend([
            entry(TASK, &task),
            entry(REPORT, &report),
            entry(SEARCHES, &searches),
        ]);
        Ok(Reduction {
            outputs,
            agents: source.agents,
            // The kernels have the same bindings.
            buffers: reducer.ran.bind(open, &buffers)?,
            report,
            reducer,
        })
    }

    /// The dispatches, in their order.
    pub(crate) fn dispatches(&self) -> Vec<Dispatch<'_>> {
        let groups = |count: u32| count.div_ceil(share(count));
        let columns = self.outputs.iter().flatten();
        let y = columns.clone().count() as u32;
        let x = columns
            .map(|column| groups(column.count))
            .max()
            .unwrap_or(0);
        let Reducer {
            ran,
            moments,
            tally,
            narrow,
        } = &*self.reducer;
        let mut all = vec![(ran, (groups(self.agents), 1)), (moments, (x, y))];
        all.extend([(tally, (x, y)), (narrow, (y, 1))].repeat(DIGITS));
        let dispatch = |(entry_point, workgroups)| Dispatch {
            entry_point,
            buffers: &self.buffers,
            offset: None,
            workgroups,
            points: 1,
        };
        all.into_iter().map(dispatch).collect()
    }

    /// Reads the report at the front of `words`, and removes it from them: what the host would compute.
    ///
    /// # Errors
    /// The first agent with a wrong step count.
    pub(crate) fn read(&self, words: &mut &[u32]) -> Result<Sums, Fault> {
        let columns: usize = self.outputs.iter().map(Vec::len).sum();
        let (head, others) = words.split_at(REPORT_HEAD);
        let (reports, others) = others.split_at(REPORT_WORDS * columns);
        *words = others;
        if head[5] != 0 {
            return Err(Fault {
                agent: !head[5],
                word: head[6],
            });
        }
        let mut reports = reports.chunks_exact(REPORT_WORDS);
        let output = |columns: &Vec<Column>| {
            let columns = columns.iter().zip(&mut reports);
            columns
                .map(|(column, words)| statistics(column, words))
                .collect()
        };
        Ok(Sums {
            outputs: self.outputs.iter().map(output).collect(),
            agent_steps: long(&head[0..2]) + (long(&head[2..4]) << 16),
            stopped: head[4].into(),
        })
    }
}

/// The kernels' text, after the constants that host and device share.
fn text() -> String {
    let constants = [
        ("KIND_F32", kind(Scalar::F32)),
        ("KIND_I32", kind(Scalar::I32)),
        ("KIND_BOOL", kind(Scalar::Bool)),
        ("STOPPED", STOPPED),
        ("CUT_SHORT", CUT_SHORT),
    ];
    let constants = constants.map(|(name, value)| format!("const {name} = {value}u;\n"));
    constants.concat() + TEXT
}

/// A number of two words, the lower one first.
fn long(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words[1]) << 32
}

fn kind(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::F32 => 0,
        Scalar::F64 => unreachable!("no GPU has results in `f64`"),
        Scalar::I32 => 1,
        Scalar::U32 => 2,
        Scalar::Bool => 3,
    }
}

/// The columns of an output.
fn columns(field: &Field, agents: u32) -> Vec<Column> {
    let rows = rows(field);
    let column = |row| Column {
        scalar: field.scalar,
        first: (field.word + row) * agents,
        count: field.words() / rows * agents,
    };
    (0..rows).map(column).collect()
}

impl Column {
    /// Its words in the kernels' parameters.
    fn task(&self) -> [u32; 4] {
        let Column {
            scalar,
            first,
            count,
        } = *self;
        [first, count, kind(scalar), share(count)]
    }
}

/// The values of a column that one workgroup reduces.
fn share(count: u32) -> u32 {
    (count / GROUPS)
        .next_multiple_of(LANES)
        .clamp(LEAST_SHARE, MOST_SHARE)
}

/// The statistics of a column, from its part of the report.
fn statistics(column: &Column, words: &[u32]) -> Statistics {
    let (keys, sums) = words.split_at(TARGETS);
    let sums: Vec<u64> = sums.chunks_exact(2).map(long).collect();
    let nan = NANS.iter().map(|&at| sums[at]).sum();
    let count = u64::from(column.count) - nan;
    let keys = std::array::from_fn(|target| keys[target]);
    Statistics::from_keys(column.scalar, count, nan, &exact(&sums), keys)
}

/// The sums of a column, assembled from pieces of 16 bits.
fn exact(pieces: &[u64]) -> Exact {
    let whole = |pieces: &[u64]| {
        let upper_first = pieces.iter().rev();
        upper_first.fold(0, |whole, &piece| (whole << 16) + u128::from(piece))
    };
    let (sums, squares) = pieces.split_at(SQUARES);
    let mut exact = Exact::new();
    for (sum, pieces) in exact.sums.iter_mut().zip(sums.chunks_exact(2)) {
        *sum = whole(pieces);
    }
    for (square, pieces) in exact.squares.iter_mut().zip(squares.chunks_exact(4)) {
        *square = whole(pieces);
    }
    exact
}
