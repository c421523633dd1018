//! What a device and a launch say to the compiler's choice of a kernel.

use crate::{
    adapter::{AdapterKind, AdapterSummary},
    bind::Launch,
    gpu::{device::OpenDevice, kernel::last_binding},
};
use sim_compiler::{
    kernel::{
        profile::DeviceClass,
        schedule::{Decision, Target, Tuning},
    },
    manifest::Manifest,
};

/// What the kernel of a launch is to run on.
/// `points` asks for dispatches of several runs.
pub(crate) fn target(
    open: &OpenDevice,
    manifest: &Manifest,
    launch: &Launch,
    points: bool,
) -> Target {
    let class = class(open.adapter.kind);
    Target {
        class,
        agents: launch.population,
        steps: launch.steps,
        members: Some(launch.members),
        processors: open.processors,
        busy: Target::busy(class, open.processors),
        workgroup: (
            (open.limits.max_compute_invocations_per_workgroup)
                .min(open.limits.max_compute_workgroup_size_x),
            open.limits.max_compute_workgroup_storage_size,
        ),
        subgroup: open.subgroup,
        table_bytes: match has_room(&open.limits, manifest) {
            true => class.profile().table_bytes.min(open.most_bytes()),
            false => 0,
        },
        points: points && has_room(&open.limits, manifest),
        keeps_order: is_nvidia(&open.adapter),
        has_infinities: is_nvidia(&open.adapter),
    }
}

fn class(kind: AdapterKind) -> DeviceClass {
    match kind {
        AdapterKind::Discrete | AdapterKind::Virtual => DeviceClass::LargeGpu,
        AdapterKind::Integrated => DeviceClass::SmallGpu,
        AdapterKind::Other | AdapterKind::Software => DeviceClass::Software,
    }
}

/// Is it NVIDIA's driver? Its compiler was seen to contract products into sums and to reorder products, but
/// never sums (lavapipe reorders them), and its reciprocal of infinity is 0.
fn is_nvidia(adapter: &AdapterSummary) -> bool {
    adapter.api == "vulkan" && adapter.driver.starts_with("NVIDIA")
}

/// Is there a binding left for one more table?
fn has_room(limits: &wgpu::Limits, manifest: &Manifest) -> bool {
    // Inputs, states, outputs, progress, the tables, worlds, and one more.
    let worlds = u32::from(manifest.world_words(0) > 0);
    let buffers = 5 + manifest.data.len() as u32 + worlds;
    buffers <= limits.max_storage_buffers_per_shader_stage
        && last_binding(manifest) + 1 < limits.max_bindings_per_bind_group
}

/// What is said of the shader compiler's checks; nothing where there are none.
pub(crate) fn checks(tuning: &Tuning) -> Option<Decision> {
    (tuning.checks == Some(true)).then(|| Decision {
        what: "the shader compiler's runtime checks are on".to_owned(),
        why: "the caller asked for it".to_owned(),
    })
}
