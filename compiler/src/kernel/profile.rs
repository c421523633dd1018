//! What was measured on devices and choices depend on, each number with what it was measured by. The bounds
//! of single rewrites and passes still stand in their own files.
//!
//! A profile describes a kind of device, not one: a runtime takes [`LARGE_GPU`] for discrete GPUs,
//! [`SMALL_GPU`] for those that share a processor's memory, and [`SOFTWARE`] for drivers that compute on a
//! processor. To measure a number again, vary it here and run `simc bench` on the models that its comment
//! names; `simc bench --tune` varies what a caller may set without a change of the code. What each choice is
//! worth stands in `docs/performance.md`.

/// A kind of device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceClass {
    /// A GPU with memory of its own.
    #[default]
    LargeGpu,
    /// A GPU within a processor.
    SmallGpu,
    /// A driver that computes on the processor, as in browsers without a GPU and on servers.
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

/// The numbers of a kind of device.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What its numbers were measured on, and when.
    pub measured: &'static str,
    /// Invocations that keep the device busy, by what is known of it; none for a processor, which is never
    /// idle.
    pub busy: Option<Busy>,
    /// Percent of that from which on throughput counts. On an H200, which 40,128 keep just busy, kernels made
    /// for throughput were faster in 10 of 14 cases of 60,000 to 80,000 invocations (a portfolio by 17 %) and
    /// in 7 of 12 of 50,000.
    pub full_percent: u64,
    /// Processors of the device that was measured, where they count.
    pub processors: Option<u32>,
    /// Invocations of the smallest subgroup.
    pub subgroup: u32,
    /// Bytes that the step table may take.
    pub table_bytes: u64,
    /// Runs of fewer steps are over before a second entry point has paid for its start.
    pub table_steps: u32,
    /// The same for agents.
    pub table_agents: u32,
    /// Workgroup memory that is reserved so that drivers spend registers freely. On an H200 less had no
    /// effect, and more left no room for five workgroups.
    pub reserved_bytes: u32,
    /// Workgroups for which a processor has room with it.
    pub reserved_workgroups: u32,
    /// Lanes that hold so many input values leave registers for no more workgroups anyway: 64 of them take
    /// 200 registers each, of the 65,536 that processors of NVIDIA have.
    pub crowded_inputs: u32,
    /// Input values that a lane can hold in registers beside its work.
    pub held_inputs: u32,
    /// So many times as many invocations keep a device busy whose time goes into loading tables, which all
    /// agents read.
    pub streaming: u32,
    /// The same for inputs, which come from memory. An H200 was fastest with 128 lanes for each of 256 to
    /// 65,536 agents with 2,000 inputs, by 1 to 17 %.
    pub streaming_inputs: u32,
    /// Invocations that give each scheduler of a processor one subgroup.
    pub scheduled: u32,
    /// What each operation of a lane's special functions costs another subgroup of the same scheduler, in
    /// instructions of a step (an H200 takes eight cycles for it). By this six models with 1,000 to 40,000
    /// agents, twelve numbers of them, are 1.7 % slower on average than with the best of 1, 2, 4 and 8 lanes,
    /// by estimates without it 10 %.
    pub special_wait: f64,
    /// A larger number of lanes has to be better by this factor: estimates are rough.
    pub clearly: f64,
    /// Instructions that others issue in the time of one special function.
    pub special_ratio: u64,
    /// Independent chains that are interleaved where pairs of divisions follow them: an H200 was slower with
    /// fewer and with more.
    pub interleaved_pairs: usize,
    /// The same where no pairs do: 5 % faster than 8 for a network of 16 `tanh`, and 3 % than 2, 3, 5 and 6.
    pub interleaved: usize,
    /// Copies of a step in an iteration of the time loop.
    pub copies: Copies,
}

/// How many invocations keep a device busy; with fewer, more of them cost next to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy {
    /// For each processor.
    pub processor: u32,
    /// In all, where the number of processors is not known.
    pub unknown: u32,
}

/// By the instructions of a step, how many copies of it an iteration of the time loop has. One where it has
/// loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copies {
    /// Steps of at most so many instructions, and their copies: fewer were slower on an H200 (GBM,
    /// MountainCar).
    pub small: (u32, u32),
    /// The next: more copies made some of them slower, and with four Lorenz's equations took 1 % longer.
    pub medium: (u32, u32),
    /// The next, where the device is full (a network's step took 3 % longer with four); where it is not,
    /// copies made the same step up to 50 % slower.
    pub large: (u32, u32),
    /// The next, where workgroup memory is reserved for few agents, so that one step begins before the last
    /// has ended: a step of Acrobot or of a portfolio took 5 % less.
    pub latent: (u32, u32),
    /// Whether steps with branches are copied. SwiftShader compiles `sir` in 0.12 s with one step, in 17 s
    /// with four.
    pub branches: bool,
    /// Steps after which a subgroup asks whether all its agents have stopped, where latency counts.
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
    subgroup: 32,
    table_bytes: 64 << 20,
    table_steps: 16,
    table_agents: 1_000,
    reserved_bytes: 8 << 10,
    reserved_workgroups: 5,
    crowded_inputs: 160,
    held_inputs: 170,
    streaming: 4,
    streaming_inputs: 64,
    scheduled: 128,
    special_wait: 24.0,
    clearly: 0.93,
    special_ratio: 8,
    interleaved_pairs: 8,
    interleaved: 4,
    copies: Copies {
        small: (64, 16),
        medium: (128, 5),
        large: (300, 8),
        latent: (800, 4),
        branches: true,
        until_asked: 16,
    },
};

/// GPUs within a processor. None was at hand: the numbers are those of [`LARGE_GPU`] but for how many
/// invocations keep it busy, which is a guess by the number of its processors.
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

/// Drivers that compute on a processor: lavapipe, SwiftShader.
pub const SOFTWARE: Profile = Profile {
    name: "software",
    measured: "SwiftShader of Chromium: the time to compile sir; for the rest a processor is never idle",
    busy: None,
    processors: None,
    subgroup: 4,
    copies: Copies {
        branches: false,
        ..LARGE_GPU.copies
    },
    ..LARGE_GPU
};
