//! Arguments that make choices for the GPU's kernel which are otherwise made by device and population.

use sim_runtime::{Occupancy, Tuning};

/// How busy a run is taken to keep a GPU.
#[derive(Clone, Copy, clap::ValueEnum)]
pub(crate) enum Busy {
    /// Execution units wait for values: kernels are made for latency.
    Low,
    /// Execution units are busy: kernels are made for throughput.
    Full,
}

impl Busy {
    /// As the runtime takes it.
    pub(crate) fn occupancy(self) -> Occupancy {
        match self {
            Busy::Low => Occupancy::Low,
            Busy::Full => Occupancy::Full,
        }
    }
}

/// Choices for the kernel, of `run` and `bench`.
#[derive(clap::Args)]
#[command(next_help_heading = "Choices for the kernel on a GPU")]
pub(crate) struct Choices {
    /// Lanes that share an agent, 1 to 128, instead of a choice by agents and device; sums are then taken in
    /// another order.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=128))]
    lanes: Option<u32>,
    /// Whether lanes tell one another values by shuffles where the GPU has them, instead of through workgroup
    /// memory as those of several subgroups do.
    #[arg(long, value_name = "BOOL")]
    shuffles: Option<bool>,
    /// How often the step stands in one round of the time loop, 1 to 64.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    unroll_steps: Option<u32>,
    /// Whether what all agents share in a step is computed once, before they run.
    #[arg(long, value_name = "BOOL")]
    step_table: Option<bool>,
    /// Whether float sums are taken in another order, and pairs of divisions share a reciprocal, where that
    /// is faster; never with --math precise.
    #[arg(long, value_name = "BOOL")]
    relax: Option<bool>,
    /// Whether workgroup memory is reserved, so that the driver's compiler spends registers on speed: for few
    /// agents.
    #[arg(long, value_name = "BOOL")]
    reserve: Option<bool>,
    /// The occupancy that kernels are made for, instead of a choice by agents and device.
    #[arg(long, value_enum, value_name = "OCCUPANCY")]
    occupancy: Option<Busy>,
    /// Steps per start of the kernel, at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    steps_per_dispatch: Option<u32>,
    /// Whether the shader compiler checks indices, divisors and loops as well, which kernels do themselves:
    /// slow, and there to tell a fault of this compiler from one of a driver.
    #[arg(long, value_name = "BOOL", default_value_t = false, action = clap::ArgAction::Set)]
    checks: bool,
}

impl Choices {
    /// As the runtime takes them.
    pub(crate) fn tuning(&self) -> Tuning {
        Tuning {
            lanes: self.lanes,
            shuffles: self.shuffles,
            unroll_steps: self.unroll_steps,
            step_table: self.step_table,
            relax: self.relax,
            reserve: self.reserve,
            occupancy: self.occupancy.map(Busy::occupancy),
            steps_per_dispatch: self.steps_per_dispatch,
            checks: self.checks,
            ..Tuning::default()
        }
    }
}
