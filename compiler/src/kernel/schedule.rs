//! Schedules: the choices that a kernel's text depends on beside the program, what a device and a caller say
//! to them, and the kernel that results.
//!
//! A schedule never changes what a model computes but for the order in which a float sum is taken (`lanes`,
//! `relax`) and for some roundings (`relax`, by `occupancy` in other places); draws are the same bits
//! under each. [`Schedule::default`] asks nothing of the host beyond the manifest; a runtime that knows its
//! device and population takes a better one.

use super::profile::{DeviceClass, Profile};
use crate::manifest::StepTable;

/// The choices of one kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The kind of device.
    pub class: DeviceClass,
    /// Lanes that share one agent: a power of two, 1 to [`MOST_LANES`].
    pub lanes: u32,
    /// Lanes that exchange values by shuffles: the smallest subgroup of the device, or 1. Where an agent has
    /// more lanes, they exchange through workgroup memory.
    pub subgroup: u32,
    /// How often the time loop's body stands in the text, at least 1; 0 chooses by the body's size.
    pub unroll_steps: u32,
    /// Computes what depends on the step but not on the agent once, into a step table, which an entry point
    /// `prepare` fills that the host dispatches before `main`.
    pub step_table: bool,
    /// The device's compiler takes float sums in the order of the text, so that lanes which add the same two
    /// values get the same bits without further care, and few sums need an arithmetic fence.
    pub keeps_order: bool,
    /// The device's compiler does not assume that there are no infinities, as WGSL would let it: 1 over
    /// infinity is 0.
    pub has_infinities: bool,
    /// How much of the device the agents keep busy.
    pub occupancy: Occupancy,
    /// Reserves workgroup memory that is never used, [`Profile::reserved_bytes`] a workgroup. Drivers
    /// save registers for occupancy, at the price of latency. Where few workgroups run anyway, latency is the
    /// limit, and memory for which few workgroups have room makes drivers spend registers.
    pub reserve: bool,
    /// Applies the rewrites for devices: constant factors move, sums of floats are taken in the order that
    /// suits fused multiply-adds, and pairs of divisions share a reciprocal if the device is full and waits
    /// for special functions. Only with [`crate::Math::Fast`] and the optimiser.
    pub relax: bool,
}

/// How much of a device a run keeps busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Occupancy {
    /// A step waits for its own values: latency counts.
    Low,
    /// All of it: throughput counts.
    Full,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule {
            class: DeviceClass::default(),
            lanes: 1,
            subgroup: 32,
            unroll_steps: 0,
            step_table: false,
            keeps_order: false,
            has_infinities: false,
            occupancy: Occupancy::Full,
            reserve: false,
            relax: false,
        }
    }
}

/// Most lanes of an agent: all of a workgroup. WebGPU has at least 256 invocations there.
pub const MOST_LANES: u32 = 128;

/// A kernel's text and what a host must know to dispatch it, beside the manifest.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// WGSL with the entry point `main`, and `prepare` if there is a step table.
    pub wgsl: String,
    /// The schedule, without what the model has no use for.
    pub schedule: Schedule,
    /// Lanes per agent: a workgroup runs `workgroup_size / lanes` agents.
    pub lanes: u32,
    /// Invocations of a workgroup.
    pub workgroup_size: u32,
    /// The step table, which `prepare` fills; none if there is no such entry point.
    pub step_table: Option<StepTable>,
    /// What was decided for it, and why.
    pub decisions: Vec<Decision>,
}

/// A decision about a kernel, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What was decided.
    pub what: String,
    /// The reason.
    pub why: String,
}

/// What a choice depends on beside the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The kind of device.
    pub class: DeviceClass,
    /// Agents of the whole population: a run of a part of it gets the kernel of the whole, so that its sums
    /// are taken in the same order.
    pub agents: u32,
    /// Steps of the run.
    pub steps: u32,
    /// Processors of the device: units of which each runs workgroups of its own. None where it is not known.
    pub processors: Option<u32>,
    /// How many invocations keep the device busy; with fewer, more of them cost next to nothing. None for a
    /// processor, which is never idle.
    pub busy: Option<u32>,
    /// The smallest subgroup that it may form; 1 if it has none.
    pub subgroup: u32,
    /// Bytes that the step table may take; 0 if there is no binding left for it.
    pub table_bytes: u64,
    /// See [`Schedule::keeps_order`].
    pub keeps_order: bool,
    /// See [`Schedule::has_infinities`].
    pub has_infinities: bool,
}

/// Choices that a caller makes instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Lanes per agent, 1 to [`MOST_LANES`], as far as the model allows.
    pub lanes: Option<u32>,
    /// Whether lanes talk by shuffles where the device has them; else all through workgroup memory.
    pub shuffles: Option<bool>,
    /// Whether there is a step table, where a model has work for it.
    pub step_table: Option<bool>,
    /// Whether sums and divisions of floats are changed to what is faster.
    pub relax: Option<bool>,
    /// Whether workgroup memory is reserved.
    pub reserve: Option<bool>,
    /// How busy the run is taken to keep the device.
    pub occupancy: Option<Occupancy>,
    /// Steps in the text of a round, at least 1.
    pub unroll_steps: Option<u32>,
}

impl Target {
    /// A device like the one whose profile this is.
    pub fn of(class: DeviceClass, agents: u32, steps: u32) -> Target {
        let profile = class.profile();
        let is_gpu = profile.busy.is_some();
        Target {
            class,
            agents,
            steps,
            processors: profile.processors,
            busy: Target::busy(class, profile.processors),
            subgroup: profile.subgroup,
            table_bytes: profile.table_bytes,
            keeps_order: is_gpu,
            has_infinities: is_gpu,
        }
    }

    /// A large GPU.
    pub fn large(agents: u32, steps: u32) -> Target {
        Target::of(DeviceClass::LargeGpu, agents, steps)
    }

    /// Invocations that keep a device of so many processors busy; none for one that is never idle.
    pub fn busy(class: DeviceClass, processors: Option<u32>) -> Option<u32> {
        let busy = class.profile().busy?;
        Some(processors.map_or(busy.unknown, |count| count.saturating_mul(busy.processor)))
    }

    pub(crate) fn profile(&self) -> &'static Profile {
        self.class.profile()
    }

    /// How busy so many lanes per agent keep it.
    pub(crate) fn occupancy(&self, lanes: u32) -> Occupancy {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        let full = self.profile().full_percent;
        match self.busy.map(u64::from) {
            Some(busy) if 100 * invocations < full * busy => Occupancy::Low,
            Some(_) | None => Occupancy::Full,
        }
    }

    /// Has every processor room for its invocations and for reserved memory?
    pub(crate) fn is_roomy(&self, lanes: u32, workgroup_size: u32) -> bool {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        let workgroups = invocations.div_ceil(workgroup_size.into());
        let each = self.profile().reserved_workgroups;
        self.processors
            .is_some_and(|count| workgroups <= u64::from(count) * u64::from(each))
    }
}
