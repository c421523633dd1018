//! What a model becomes: its kernel, its manifest and its program.

use crate::{
    editing,
    places::Places,
    request::{Answer, Refusal, write},
};
use serde::Serialize;
use sim_compiler::{
    Artifact, Math, Options, compile_with,
    emit::{self, RunSize, WorldSize},
    ir::print,
    kernel::schedule::Tuning,
    packed::base64,
    random::Generator,
};
use sim_lsp::analysis::wgsl;

/// How to build; what is left out is as `simc build` has it.
#[derive(Default)]
pub(crate) struct BuildOptions {
    pub(crate) generator: Generator,
    pub(crate) math: Math,
    /// Agents in a world, instead of the model's.
    pub(crate) world: Option<u32>,
    /// Also which lines of the kernel each line of the model went to.
    pub(crate) lines: bool,
    /// Also the optimised program.
    pub(crate) ir: bool,
    /// Only for programs that run: they look for faults.
    pub(crate) checks: bool,
}

/// What a model becomes.
#[derive(Serialize)]
struct Built {
    wgsl: String,
    lines: Option<Vec<[u32; 3]>>,
    manifest: String,
    ir: Option<String>,
}

/// What the runtime takes.
#[derive(Serialize)]
struct Packed {
    program: String,
}

/// The kernel and the manifest; the map of lines and the program if asked for.
pub(crate) fn build(places: &Places, options: &BuildOptions) -> Answer {
    let mut artifact = compiled(places, options)?;
    let size = RunSize {
        world: options.world,
        ..RunSize::default()
    };
    let target = emit::target(&artifact.manifest, None, size).map_err(|why| match why {
        WorldSize::Unknown => Refusal::new(
            "the model does not say how many agents a world has, as its kernel must know",
            "give the option `world`",
        ),
        WorldSize::NoWorlds => {
            Refusal::new("the model has no worlds", "leave out the option `world`")
        }
    })?;
    // The kernel of a model with worlds depends on their size.
    let has_worlds = artifact.manifest.world.is_some();
    let origins = options.lines.then(|| match has_worlds {
        true => emit::fixed_origins(&artifact, &target, &Tuning::AUTO),
        false => artifact.origins(),
    });
    if has_worlds {
        emit::fix_kernel(&mut artifact, &target, &Tuning::AUTO);
    }
    let text = artifact.wgsl();
    let lines = origins.map(|origins| wgsl::lines(&places.document, &text, origins));
    let ir = options.ir.then(|| print::print(&artifact.program));
    write(Built {
        wgsl: text,
        lines,
        manifest: artifact.manifest.json(),
        ir,
    })
}

/// The model as the runtime takes it, with kernels for browsers if the size of its worlds is known.
pub(crate) fn pack(places: &Places, options: &BuildOptions) -> Answer {
    let mut artifact = compiled(places, options)?;
    // Without kernels it runs on the CPU.
    let _ = emit::prepare(&mut artifact, RunSize::default());
    write(Packed {
        program: base64(&artifact.pack()),
    })
}

fn compiled(places: &Places, options: &BuildOptions) -> Result<Artifact, Refusal> {
    let how = Options {
        generator: options.generator,
        math: options.math,
        checks: options.checks,
        ..Options::default()
    };
    compile_with(places.document.text(), how).map_err(|found| {
        let mut refusal = Refusal::new(
            match found.len() {
                1 => "the model has a mistake".to_owned(),
                count => format!("the model has {count} mistakes"),
            },
            "mend what the diagnostics show",
        );
        refusal.diagnostics = Some(editing::complaints(places, &found, editing::SOME_FIXES));
        refusal
    })
}
