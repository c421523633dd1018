//! Kernels that are made before their device is known, for runtimes without what makes kernels: that is most
//! of a compiler, which a page that only runs models need not load.

use super::{RunSize, WorldSize, choose, target};
use crate::{
    artifact::Artifact,
    kernel::{
        profile::{ARRAY_BYTES, DeviceClass},
        schedule::{Chosen, Target, Tuning},
    },
    manifest::{FIRST_DATA_BINDING, Manifest},
};

/// The classes of devices that a browser tells apart. It does not say which GPUs are large.
const CLASSES: [DeviceClass; 2] = [DeviceClass::SmallGpu, DeviceClass::Software];
/// What every device of a browser allows: invocations of a workgroup and bytes of its memory, …
const WORKGROUP: (u32, u32) = (256, 16 << 10);
/// … and storage buffers.
const STORAGE_BUFFERS: u32 = 8;
/// Arrays in storage take buffers, which a page may not have.
const TUNING: Tuning = Tuning {
    array_bytes: Some(ARRAY_BYTES),
    ..Tuning::AUTO
};

/// Gives an artifact kernels for the devices of browsers, for runs of the model's own numbers of agents and
/// steps, or those of `size`. A run of other numbers has the same results, and worlds of another size have no
/// kernel.
///
/// # Errors
/// If the size of its worlds is not known, or the model has none.
pub fn prepare(artifact: &mut Artifact, size: RunSize) -> Result<(), WorldSize> {
    let mut kernels: Vec<Chosen> = Vec::new();
    for class in CLASSES {
        let any = target(&artifact.manifest, Some(class), size)?;
        let table_bytes = match has_room(&artifact.manifest) {
            true => any.table_bytes,
            false => 0,
        };
        // The second one serves runs of so many steps that they have no room for a step table.
        for table_bytes in [table_bytes, 0] {
            let target = Target {
                processors: None,
                busy: Target::busy(class, None),
                workgroup: WORKGROUP,
                subgroup: 1,
                table_bytes,
                keeps_order: false,
                has_infinities: false,
                ..any
            };
            let mut chosen = choose(artifact, &target, &TUNING);
            chosen.schedule.members = target.members.unwrap_or(0);
            if kernels
                .iter()
                .all(|known| known.schedule != chosen.schedule)
            {
                kernels.push(chosen);
            }
        }
    }
    artifact.kernels = kernels;
    Ok(())
}

/// The kernel that [`prepare`] made for runs like this one, if there is one.
pub fn prepared<'a>(artifact: &'a Artifact, target: &Target) -> Option<&'a Chosen> {
    let members = (artifact.manifest.world.as_ref()).map_or(0, |_| target.members.unwrap_or(0));
    artifact.kernels.iter().find(|known| {
        let table = known.kernel.step_table;
        known.schedule.class == target.class
            && known.schedule.members == members
            && table.is_none_or(|table| table.table_bytes(target.steps) <= target.table_bytes)
    })
}

/// Is there a binding left for a step table on every device? Inputs, states, outputs and progress take four.
fn has_room(manifest: &Manifest) -> bool {
    let worlds = u32::from(manifest.world_words(0) > 0);
    FIRST_DATA_BINDING + manifest.data.len() as u32 + worlds <= STORAGE_BUFFERS
}
