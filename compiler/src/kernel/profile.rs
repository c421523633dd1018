//! The measured numbers on which choices depend, each with the measurement. The thresholds of single rewrites
//! and passes still stand in their own files.
//!
//! A profile describes a class of devices: a runtime takes [`LARGE_GPU`] for discrete GPUs, [`SMALL_GPU`] for
//! integrated ones, and [`SOFTWARE`] for drivers that compute on a CPU. To measure a number again, vary it
//! here and run `simc bench` on the models that its comment names; `simc bench --tune` varies what a caller
//! may set without a change of the code. `docs/performance.md` says what each choice is worth.

/// All bytes of arrays that WGSL lets an invocation keep, or more.
pub(crate) const ARRAY_BYTES: u32 = 16_384;

/// A kind of device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// A discrete GPU, with memory of its own.
    #[default]
    LargeGpu,
    /// An integrated GPU.
    SmallGpu,
    /// A driver that computes on the CPU, as in browsers without a GPU and on servers.
    Software,
}

impl DeviceClass {
    /// All of them.
    pub const ALL: [DeviceClass; 3] = [
        DeviceClass::LargeGpu,
        DeviceClass::SmallGpu,
        DeviceClass::Software,
    ];

    /// Its numbers.
    pub fn profile(self) -> &'static Profile {
        match self {
            DeviceClass::LargeGpu => &LARGE_GPU,
            DeviceClass::SmallGpu => &SMALL_GPU,
            DeviceClass::Software => &SOFTWARE,
        }
    }
}

/// The numbers of a class of devices.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name on the command line.
    pub name: &'static str,
    /// What its numbers were measured on, and when.
    pub measured: &'static str,
    /// Invocations that keep the device busy, by what is known of it; none for a CPU, which is never idle.
    pub busy: Option<Busy>,
    /// Percent of that from which on throughput counts. An H200 is just kept busy by 40,128. Kernels made for
    /// throughput were faster there in 10 of 14 cases of 60,000 to 80,000 invocations (a portfolio by 17 %)
    /// and in 7 of 12 of 50,000.
    pub full_percent: u64,
    /// Processors of the measured device, where their number matters.
    pub processors: Option<u32>,
    /// Invocations of a workgroup and bytes of its memory at most, where the device at hand is not asked.
    pub workgroup: (u32, u32),
    /// Invocations of the smallest subgroup.
    pub subgroup: u32,
    /// Bytes that the step table may take.
    pub table_bytes: u64,
    /// Runs of fewer steps end before a second entry point has paid for its start.
    pub table_steps: u32,
    /// The same for agents.
    pub table_agents: u32,
    /// Workgroup memory that is reserved so that drivers do not limit registers. On an H200 less had no
    /// effect, and with more, five workgroups did not fit a processor.
    pub reserved_bytes: u32,
    /// Workgroups that fit a processor with it.
    pub reserved_workgroups: u32,
    /// With this many input values a lane needs registers that leave space for few workgroups anyway: 64 of
    /// them take 200 registers each, of the 65,536 that NVIDIA's processors have.
    pub crowded_inputs: u32,
    /// With this many words of arrays in memory, and so many invocations for each processor, the arrays of
    /// all that run at a time do not fit its cache. With five workgroups at a time, 131,072 agents of four
    /// models of the corpus with 64 to 192 words took 0.31, 0.35, 0.49 and 0.68 of their time, a million of
    /// them 0.13 to 0.43; one took 1.09 and 1.02, others 0.77 to 1.02. With 10 to 32 words models took up to
    /// 1.39 of it, and 65,536 agents 0.83 to 1.23.
    pub cached_words: u32,
    /// See `cached_words`.
    pub cached_invocations: u32,
    /// Bytes of an agent's arrays that an invocation keeps in its own memory, at most: others are in storage.
    /// lavapipe writes some six basic blocks for each element that it clears, and unrolls loops with as many
    /// iterations as the array has elements; LLVM then takes time with the cube of the number of blocks.
    /// `benchmarks/large/attention.sim` started in 413 s with all of its arrays there, in 70 s with at most
    /// 512 bytes and in 10 s with 64; `lstm.sim` in 330 and 1.5 s, `rod.sim` in 49 and 3 s.
    pub array_bytes: u32,
    /// Input values that a lane can hold in registers beside its other values.
    pub held_inputs: u32,
    /// Where the time goes into loading tables, which all agents read, this many times as many invocations
    /// keep a device busy.
    pub streaming: u32,
    /// The same for inputs, which come from memory. An H200 was fastest with 128 lanes per agent for 256 to
    /// 65,536 agents with 2,000 inputs, by 1 to 17 %.
    pub streaming_inputs: u32,
    /// Invocations that give each scheduler of a processor one subgroup.
    pub scheduled: u32,
    /// What each special-function operation of a lane costs another subgroup of the same scheduler, in
    /// instructions of a step (an H200 takes eight cycles for it). With this term, six models with 1,000 to
    /// 40,000 agents (twelve numbers of them) are 1.7 % slower on average than with the best of 1, 2, 4 and 8
    /// lanes; by estimates without it, 10 %.
    pub special_wait: f64,
    /// A larger number of lanes has to be better by this factor, since estimates are rough.
    pub clearly: f64,
    /// The same where lanes read elements of one another, beside one lane. By estimates below it models took
    /// 0.07 to 0.89 of their time (a H100, 4,096 agents); from 0.73 to 0.80, 0.98, 1.11 and 2.5.
    pub clearly_by_shuffles: f64,
    /// Cycles of a processor that a dispatch takes which waits for the one before: a step of 256 bodies takes
    /// an H200 3.1 us, and its host 2.4 to 5 us to record, of which it does a part before the first begins.
    pub dispatch_cycles: f64,
    /// Cycles for each instruction of a subgroup whose scheduler has no other: 128 bodies, each of which
    /// looks at all others, take 35 cycles an iteration of some 15 instructions there.
    pub latency_cycles: f64,
    /// Worlds that fit a workgroup are spread over the device where that should take this part of the time.
    /// 32 worlds of 512 bodies take 0.58 of it, 64 of them 1.01; estimated are 0.7 and 1.2.
    pub clearly_spread: f64,
    /// Invocations run several agents where they still are at least so many percent of those that keep the
    /// device busy. With 623 % `lang-examples/sir_worlds.sim` took 0.72 of its time; with 326 % the layers
    /// took 1.01 of theirs, with 163 % 1.21, and `lang-examples/ising.sim` with 82 % 1.17.
    pub coarse_percent: u64,
    /// The same where agents have arrays in memory, from and up to: more invocations have no room for them in
    /// the caches of processors. With 82 % `benchmarks/large/shared.sim` took 0.72 of its time, with 1,307 %
    /// 1.20.
    pub coarse_in_memory: (u64, u64),
    /// And where this part of a step's instructions is loads that agents have in common: 0.50 in
    /// `benchmarks/large/shared.sim`, which took 0.72 of its time with two agents, and 0.58 in
    /// `benchmarks/worlds/layers.sim`, 0.26 with four; with 0.13, bodies took 1.01 of theirs.
    pub shared_loads: f64,
    /// Or where a step has fewer instructions than this for each time that values of a world are combined:
    /// 136 in `benchmarks/worlds/sir.sim`, which took 0.83 of its time with four agents, 0.87 with two. And
    /// where values are observed after each step of fewer instructions: with two agents GBM (74) took 0.94 of
    /// its time, Lorenz' equations (85) 0.96, GBM with draws from a counter 1.01; GBM with four 1.02.
    pub coarse_fold: f64,
    /// Words that an agent holds, at most, where an invocation runs two, and where it runs four.
    pub coarse_words: (u32, u32),
    /// Instructions of a dispatch for each of these words, at least: with 59, `layers.sim` took 2.2 times its
    /// time, with 472 a quarter.
    pub coarse_work: f64,
    /// Instructions that other subgroups issue in the time of one special function.
    pub special_ratio: u64,
    /// Independent chains that are interleaved where pairs of divisions follow them: an H200 was slower with
    /// fewer and with more.
    pub interleaved_pairs: usize,
    /// The same where no pairs follow: 5 % faster than 8 for a network of 16 `tanh`, and 3 % than 2, 3, 5 and
    /// 6.
    pub interleaved: usize,
    /// Copies of a step in an iteration of the time loop.
    pub copies: Copies,
    /// Most folds of a world in a kernel of all steps: each is many branches between barriers, within the
    /// time loop. SwiftShader compiles `attention`, which has 20, in 4 s where a dispatch is a part of a
    /// step, and has not done so after 60 s where it is all steps.
    pub most_folds: u32,
}

/// How many invocations keep a device busy; below that, more invocations cost almost nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Per processor.
    pub processor: u32,
    /// In all, where the number of processors is not known.
    pub unknown: u32,
}

/// How many copies of a step an iteration of the time loop has, by the step's instructions. One if the step
/// has loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// Steps of at most this many instructions, and their copies: fewer copies were slower on an H200 (GBM,
    /// MountainCar).
    pub small: (u32, u32),
    /// The next size: more copies made some of them slower; with four, Lorenz's equations took 1 % longer.
    pub medium: (u32, u32),
    /// The next, where occupancy is full (a network's step took 3 % longer with four); where it is low,
    /// copies made the same step up to 50 % slower.
    pub large: (u32, u32),
    /// The next, where workgroup memory is reserved for few agents, so that one step begins before the last
    /// has ended: a step of Acrobot or of a portfolio took 5 % less.
    pub latent: (u32, u32),
    /// Steps an iteration where fewer are left than the copies of one in which samples are combined: with 12
    /// of 252 left, GBM took 0.3 to 1.6 % less, with and without draws.
    pub left: u32,
    /// Whether steps with branches are copied. SwiftShader compiles `sir` in 0.12 s with one copy, in 17 s
    /// with four.
    pub branches: bool,
    /// Steps after which a subgroup checks whether all its agents have stopped, where latency counts.
    pub until_asked: u32,
}

/// Discrete GPUs.
pub const LARGE_GPU: Profile = Profile {
    name: "large-gpu",
    measured: "NVIDIA H200, driver 580.159, 2026-11-21 and 22, simc bench on benchmarks/ and lang-examples/",
    busy: Some(Busy {
        processor: 304,
        unknown: 40_000,
    }),
    full_percent: 125,
    processors: Some(132),
    workgroup: (1_024, 48 << 10),
    subgroup: 32,
    table_bytes: 64 << 20,
    table_steps: 16,
    table_agents: 1_000,
    reserved_bytes: 8 << 10,
    reserved_workgroups: 5,
    crowded_inputs: 160,
    cached_words: 64,
    cached_invocations: 900,
    array_bytes: ARRAY_BYTES,
    held_inputs: 170,
    streaming: 4,
    streaming_inputs: 64,
    scheduled: 128,
    special_wait: 24.0,
    clearly: 0.93,
    clearly_by_shuffles: 0.6,
    dispatch_cycles: 7_000.0,
    latency_cycles: 2.2,
    clearly_spread: 0.8,
    coarse_percent: 400,
    coarse_in_memory: (75, 100),
    shared_loads: 0.4,
    coarse_fold: 200.0,
    coarse_words: (160, 40),
    coarse_work: 200.0,
    special_ratio: 8,
    interleaved_pairs: 8,
    interleaved: 4,
    copies: Copies {
        small: (64, 16),
        medium: (128, 5),
        large: (300, 8),
        latent: (800, 4),
        left: 4,
        branches: true,
        until_asked: 16,
    },
    most_folds: u32::MAX,
};

/// Integrated GPUs. None was available: the numbers are those of [`LARGE_GPU`], except how many invocations
/// keep it busy, which is a guess from its number of processors.
pub const SMALL_GPU: Profile = Profile {
    name: "small-gpu",
    measured: "not measured: the numbers of large-gpu with a tenth of its invocations",
    busy: Some(Busy {
        processor: 304,
        unknown: 4_000,
    }),
    processors: None,
    ..LARGE_GPU
};

/// Drivers that compute on the CPU: lavapipe, SwiftShader.
pub const SOFTWARE: Profile = Profile {
    name: "software",
    measured: "SwiftShader of Chromium: the time to compile sir and attention; a processor is never idle",
    busy: None,
    processors: None,
    subgroup: 4,
    copies: Copies {
        branches: false,
        ..LARGE_GPU.copies
    },
    most_folds: 8,
    array_bytes: 64,
    ..LARGE_GPU
};
