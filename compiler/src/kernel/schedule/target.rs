//! What is known of a run and a device when a schedule is chosen.

use super::Occupancy;
use crate::kernel::profile::{DeviceClass, Profile};

/// What a choice depends on beside the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The class of the device.
    pub class: DeviceClass,
    /// Agents of the whole population: a run of a part of it gets the kernel of the whole, so that its sums
    /// have the same order.
    pub agents: u32,
    /// Steps of the run.
    pub steps: u32,
    /// Agents of a world, instead of the model's number.
    pub members: Option<u32>,
    /// Processors of the device: units each of which runs workgroups of its own. None where it is not known.
    pub processors: Option<u32>,
    /// How many invocations keep the device busy; below that, more invocations cost almost nothing. None for
    /// a CPU, which is never idle.
    pub busy: Option<u32>,
    /// Invocations of a workgroup at most, and bytes of its memory.
    pub workgroup: (u32, u32),
    /// The smallest subgroup that it may form; 1 if it has none.
    pub subgroup: u32,
    /// Bytes that the step table may take; 0 if there is no binding left for it.
    pub table_bytes: u64,
    /// See [`Schedule::keeps_order`](super::Schedule::keeps_order).
    pub keeps_order: bool,
    /// See [`Schedule::has_infinities`](super::Schedule::has_infinities).
    pub has_infinities: bool,
    /// Several runs of the same size share a dispatch, if the kernel that is right for one of them can.
    pub points: bool,
}

impl Target {
    /// A device like the one that was measured for this profile.
    pub fn of(class: DeviceClass, agents: u32, steps: u32) -> Target {
        let profile = class.profile();
        let is_gpu = profile.busy.is_some();
        Target {
            class,
            agents,
            steps,
            members: None,
            processors: profile.processors,
            busy: Target::busy(class, profile.processors),
            workgroup: profile.workgroup,
            subgroup: profile.subgroup,
            table_bytes: profile.table_bytes,
            keeps_order: is_gpu,
            has_infinities: is_gpu,
            points: false,
        }
    }

    /// A device of which nothing is known: its kernel runs on all.
    pub fn any(agents: u32, steps: u32) -> Target {
        Target {
            class: DeviceClass::default(),
            agents,
            steps,
            members: None,
            processors: None,
            busy: None,
            workgroup: (u32::MAX, u32::MAX),
            subgroup: 1,
            table_bytes: u64::MAX,
            keeps_order: false,
            has_infinities: false,
            points: false,
        }
    }

    /// A large GPU.
    pub fn large(agents: u32, steps: u32) -> Target {
        Target::of(DeviceClass::LargeGpu, agents, steps)
    }

    /// Invocations that keep a device with this many processors busy; none for one that is never idle.
    pub fn busy(class: DeviceClass, processors: Option<u32>) -> Option<u32> {
        let busy = class.profile().busy?;
        Some(processors.map_or(busy.unknown, |count| count.saturating_mul(busy.processor)))
    }

    pub(crate) fn profile(&self) -> &'static Profile {
        self.class.profile()
    }

    /// How busy this many lanes per agent keep it.
    pub(crate) fn occupancy(&self, lanes: u32) -> Occupancy {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        let full = self.profile().full_percent;
        match self.busy.map(u64::from) {
            Some(busy) if 100 * invocations < full * busy => Occupancy::Low,
            Some(_) | None => Occupancy::Full,
        }
    }

    /// Does every processor have space for its invocations and for reserved memory?
    pub(crate) fn is_roomy(&self, lanes: u32, workgroup_size: u32) -> bool {
        let invocations = u64::from(self.agents) * u64::from(lanes);
        let workgroups = invocations.div_ceil(workgroup_size.into());
        let each = self.profile().reserved_workgroups;
        self.processors
            .is_some_and(|count| workgroups <= u64::from(count) * u64::from(each))
    }
}
