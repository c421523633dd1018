//! The kernel in other shading languages, through naga's back ends.
//!
//! Group 0 binding `b` becomes descriptor set 0 binding `b` in SPIR-V, `[[buffer(b)]]` in MSL, register `b`
//! of space 0 in HLSL (`b` for the uniform block, `t` for what is only read, `u` for the rest), and binding
//! `b` in GLSL. The kernel's loops are bounded and its indices in range by construction, so no back end adds
//! checks of its own, except those of integer division, which give WGSL's results.

use crate::problem::{self, Problem};
use naga::{
    Module, ResourceBinding, ShaderStage,
    back::{glsl, hlsl, msl, spv},
    front::wgsl,
    proc::BoundsCheckPolicies,
    valid::{Capabilities, ModuleInfo, ValidationFlags, Validator},
};

/// In MSL, the slot of the buffer that holds the sizes of the others, should the kernel ask for them.
const SIZES_SLOT: u8 = 30;

/// A kernel that the validator has accepted.
#[derive(Debug)]
pub(crate) struct Kernel {
    module: Module,
    info: ModuleInfo,
    entry: String,
}

impl Kernel {
    /// Reads and validates WGSL with the capabilities that every WebGPU device has.
    ///
    /// # Errors
    /// A bug of the compiler.
    pub(crate) fn new(text: &str) -> Result<Kernel, Problem> {
        let module = wgsl::parse_str(text)
            .map_err(|error| problem::kernel_invalid(&error.emit_to_string(text)))?;
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .map_err(|error| problem::kernel_invalid(&error.emit_to_string(text)))?;
        let entry = match module.entry_points.as_slice() {
            [entry] if entry.stage == ShaderStage::Compute => entry.name.clone(),
            _ => {
                return Err(problem::kernel_invalid(
                    "it has not one compute entry point",
                ));
            }
        };
        Ok(Kernel {
            module,
            info,
            entry,
        })
    }

    /// The bindings that the kernel uses.
    fn bindings(&self) -> impl Iterator<Item = ResourceBinding> {
        self.module
            .global_variables
            .iter()
            .filter_map(|(_, variable)| variable.binding)
    }

    /// SPIR-V 1.3, as Vulkan 1.1 takes it, with names for a disassembler.
    ///
    /// # Errors
    /// What cannot be said in it.
    pub(crate) fn spirv(&self) -> Result<Vec<u8>, Problem> {
        let options = spv::Options {
            lang_version: (1, 3),
            flags: spv::WriterFlags::DEBUG,
            fake_missing_bindings: true,
            bounds_check_policies: BoundsCheckPolicies::default(),
            force_loop_bounding: false,
            ..spv::Options::default()
        };
        let pipeline = spv::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: self.entry.clone(),
        };
        let words = spv::write_vec(&self.module, &self.info, &options, Some(&pipeline))
            .map_err(|error| problem::untranslatable("SPIR-V", &error.to_string()))?;
        Ok(words.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    /// MSL 2.1.
    ///
    /// # Errors
    /// What cannot be said in it.
    pub(crate) fn msl(&self) -> Result<String, Problem> {
        let failed = |error: String| problem::untranslatable("MSL", &error);
        let mut resources = msl::BindingMap::default();
        for binding in self.bindings() {
            let slot = u8::try_from(binding.binding)
                .ok()
                .filter(|&slot| slot < SIZES_SLOT);
            let slot = slot.ok_or_else(|| failed("it has more than 30 buffers".to_owned()))?;
            let target = msl::BindTarget {
                buffer: Some(slot),
                mutable: true,
                ..msl::BindTarget::default()
            };
            resources.insert(binding, target);
        }
        let entry = msl::EntryPointResources {
            resources,
            immediates_buffer: None,
            sizes_buffer: Some(SIZES_SLOT),
        };
        let options = msl::Options {
            lang_version: (2, 1),
            per_entry_point_map: [(self.entry.clone(), entry)].into(),
            fake_missing_bindings: false,
            bounds_check_policies: BoundsCheckPolicies::default(),
            force_loop_bounding: false,
            ..msl::Options::default()
        };
        let pipeline = msl::PipelineOptions {
            entry_point: Some((ShaderStage::Compute, self.entry.clone())),
            ..msl::PipelineOptions::default()
        };
        let (text, info) = msl::write_string(&self.module, &self.info, &options, &pipeline)
            .map_err(|error| failed(error.to_string()))?;
        for entry in info.entry_point_names {
            entry.map_err(|error| failed(error.to_string()))?;
        }
        Ok(text)
    }

    /// HLSL for shader model 6.0.
    ///
    /// # Errors
    /// What cannot be said in it.
    pub(crate) fn hlsl(&self) -> Result<String, Problem> {
        let failed = |error: String| problem::untranslatable("HLSL", &error);
        let options = hlsl::Options {
            shader_model: hlsl::ShaderModel::V6_0,
            // A binding that is not in the map gets the register and space of its own numbers.
            fake_missing_bindings: true,
            restrict_indexing: false,
            force_loop_bounding: false,
            ..hlsl::Options::default()
        };
        let pipeline = hlsl::PipelineOptions {
            entry_point: Some((ShaderStage::Compute, self.entry.clone())),
        };
        let mut text = String::new();
        let info = hlsl::Writer::new(&mut text, &options, &pipeline)
            .write(&self.module, &self.info, None)
            .map_err(|error| failed(error.to_string()))?;
        for entry in info.entry_point_names {
            entry.map_err(|error| failed(error.to_string()))?;
        }
        Ok(text)
    }

    /// GLSL ES 3.10, the first with compute shaders.
    ///
    /// # Errors
    /// What cannot be said in it.
    pub(crate) fn glsl(&self) -> Result<String, Problem> {
        let failed = |error: String| problem::untranslatable("GLSL", &error);
        let mut binding_map = glsl::BindingMap::default();
        for binding in self.bindings() {
            let slot = u8::try_from(binding.binding)
                .map_err(|_| failed("it has more than 256 buffers".to_owned()))?;
            binding_map.insert(binding, slot);
        }
        let options = glsl::Options {
            version: glsl::Version::new_gles(310),
            writer_flags: glsl::WriterFlags::empty(),
            binding_map,
            zero_initialize_workgroup_memory: true,
        };
        let pipeline = glsl::PipelineOptions {
            shader_stage: ShaderStage::Compute,
            entry_point: self.entry.clone(),
            multiview: None,
        };
        let mut text = String::new();
        glsl::Writer::new(
            &mut text,
            &self.module,
            &self.info,
            &options,
            &pipeline,
            BoundsCheckPolicies::default(),
        )
        .and_then(|mut writer| writer.write())
        .map_err(|error| failed(error.to_string()))?;
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::Kernel;

    const TEXT: &str = "
        struct Run { agents: u32, divisor: i32 }
        @group(0) @binding(0) var<uniform> run: Run;
        @group(0) @binding(5) var<storage, read> table: array<f32>;
        @group(0) @binding(3) var<storage, read_write> outputs: array<f32>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {
            if id.x >= run.agents { return; }
            for (var t = 0; t < 10; t++) {
                outputs[id.x] += table[t / run.divisor];
            }
        }";

    #[test]
    fn every_language_keeps_the_bindings() {
        let kernel = Kernel::new(TEXT).expect("the text is valid");
        let spirv = kernel.spirv().expect("SPIR-V can say it");
        assert_eq!(spirv[..4], 0x0723_0203_u32.to_le_bytes());
        let msl = kernel.msl().expect("MSL can say it");
        assert!(
            msl.contains("[[buffer(5)]]") && msl.contains("[[buffer(3)]]"),
            "{msl}"
        );
        let hlsl = kernel.hlsl().expect("HLSL can say it");
        assert!(
            hlsl.contains("register(t5)") && hlsl.contains("register(u3)"),
            "{hlsl}"
        );
        let glsl = kernel.glsl().expect("GLSL can say it");
        assert!(
            glsl.starts_with("#version 310 es") && glsl.contains("binding = 5"),
            "{glsl}"
        );
    }

    #[test]
    fn a_kernel_that_is_none_is_a_bug() {
        assert!(Kernel::new("fn main( {").is_err());
        assert!(Kernel::new("fn main() {}").is_err());
    }
}
