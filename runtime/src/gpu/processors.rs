//! The number of processors (SMs) of a GPU, each of which runs workgroups of its own. wgpu does not report
//! it; NVIDIA's Vulkan driver does.

#[cfg(any(windows, target_os = "linux"))]
use ash::{nv::shader_sm_builtins, vk};

/// The number of processors, if the driver reports it.
#[cfg(any(windows, target_os = "linux"))]
pub(crate) fn count(adapter: &wgpu::Adapter) -> Option<u32> {
    // SAFETY: nothing is destroyed, and the adapter outlives the reference.
    let vulkan = unsafe { adapter.as_hal::<wgpu::hal::api::Vulkan>() }?;
    if !(vulkan.physical_device_capabilities()).supports_extension(shader_sm_builtins::NAME) {
        return None;
    }
    if vulkan.shared_instance().instance_api_version() < vk::API_VERSION_1_1 {
        return None;
    }
    let mut processors = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut processors);
    let instance = vulkan.shared_instance().raw_instance();
    // SAFETY: the physical device belongs to this instance, whose version has the call, and the driver knows
    // the structure in the chain, since it has the extension.
    unsafe {
        instance.get_physical_device_properties2(vulkan.raw_physical_device(), &mut properties);
    }
    Some(processors.shader_sm_count).filter(|&count| count > 0)
}

/// Unknown on this system.
#[cfg(not(any(windows, target_os = "linux")))]
pub(crate) fn count(_: &wgpu::Adapter) -> Option<u32> {
    None
}
