//! `simc build`: a model's kernel and manifest, or an intermediate form of the compiler.

mod web;

use crate::{
    compilation::Compilation, failure::Failure, knobs::KernelKnobs, number, output::replace,
    problem, source::Source, standard_output, terminal, translate::Kernel, usage,
    warnings::Warnings,
};
use sim_compiler::{
    Stage,
    artifact::Artifact,
    emit::{self, RunSize, WorldSize},
    kernel::{
        profile::DeviceClass,
        schedule::{Target, Tuning},
    },
};
use std::{
    ffi::OsStr,
    fs,
    io::{self, IsTerminal, Write},
    path::{Path, PathBuf},
};

/// Arguments of `simc build`.
#[derive(clap::Args)]
#[command(after_help = "\
Without --emit and -o, the kernel and the manifest are written into the current directory.

Examples:
  simc build gbm.sim -o out                      out/gbm.wgsl and out/gbm.json
  simc build gbm.sim --emit wgsl                 the kernel on standard output
  simc build gbm.sim -o out --emit spirv,msl     out/gbm.spv and out/gbm.metal
  simc build gbm.sim --target web -o site        a page and a module that run the model
  simc build gbm.sim --emit wgsl --device large-gpu --agents 1e6
                                                 the kernel that such a run is given")]
pub(crate) struct Args {
    /// Model to compile; `-` is standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Directory for the files, which are named after the model; created if it does not exist.
    #[arg(short, long, value_name = "DIR", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// What to write; may be given several times, or as a list with commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    emit: Vec<Emit>,
    /// Write what another platform needs to run the model, instead of its kernel alone.
    #[arg(long, value_enum, conflicts_with_all = ["emit", "explain", "device", "world"], requires = "output")]
    target: Option<Platform>,
    /// Folder with the runtime for --target web, as scripts/web/build.sh builds it.
    #[arg(long, value_name = "DIR", requires = "target", value_hint = clap::ValueHint::DirPath)]
    runtime: Option<PathBuf>,
    /// Address of a folder with the runtime, for pages that share one, such as ../runtime: none is copied.
    #[arg(long, value_name = "URL", requires = "target", conflicts_with = "runtime",
          value_parser = web::address)]
    runtime_url: Option<String>,
    #[command(flatten)]
    compilation: Compilation,
    #[command(flatten)]
    warnings: Warnings,
    /// Print which kernel a device would be given for the model, and why, instead of writing files.
    #[arg(long, conflicts_with_all = ["emit", "output"])]
    explain: bool,
    /// Write the kernel that a run on such a device is given, instead of one for any device; only in WGSL.
    /// --explain is about a large GPU unless this says otherwise.
    #[arg(long, value_enum, value_name = "PROFILE")]
    device: Option<Device>,
    /// Number of agents of that run, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count)]
    agents: Option<u32>,
    /// Number of its steps, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count)]
    steps: Option<u32>,
    /// Number of agents in a world, instead of the model's; the kernel has that size.
    #[arg(long, value_name = "N", value_parser = number::count)]
    world: Option<u32>,
    #[command(flatten)]
    knobs: KernelKnobs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Platform {
    /// Browsers and Node: a module of JavaScript with its types, a page, and the runtime.
    Web,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Device {
    /// A GPU with memory of its own.
    LargeGpu,
    /// A GPU within a processor.
    SmallGpu,
    /// A driver that computes on the processor.
    Software,
}

impl Device {
    fn class(self) -> DeviceClass {
        match self {
            Device::LargeGpu => DeviceClass::LargeGpu,
            Device::SmallGpu => DeviceClass::SmallGpu,
            Device::Software => DeviceClass::Software,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Emit {
    /// The tokens of the text (.tokens).
    Tokens,
    /// The syntax tree (.ast).
    Ast,
    /// The checked model, every expression with its type (.hir).
    Hir,
    /// The optimised program (.ir).
    Ir,
    /// The kernel (.wgsl).
    Wgsl,
    /// Names, types, shapes and places of all that goes in and out (.json).
    Manifest,
    /// The kernel for Vulkan, binary (.spv).
    Spirv,
    /// The kernel for Metal (.metal).
    Msl,
    /// The kernel for DirectX 12 (.hlsl).
    Hlsl,
    /// The kernel for OpenGL ES 3.1 (.comp).
    Glsl,
}

impl Emit {
    fn ending(self) -> &'static str {
        match self {
            Emit::Tokens => "tokens",
            Emit::Ast => "ast",
            Emit::Hir => "hir",
            Emit::Ir => "ir",
            Emit::Wgsl => "wgsl",
            Emit::Manifest => "json",
            Emit::Spirv => "spv",
            Emit::Msl => "metal",
            Emit::Hlsl => "hlsl",
            Emit::Glsl => "comp",
        }
    }

    /// Is it the kernel in another language, in which it can have only one entry point?
    fn is_translated(self) -> bool {
        matches!(self, Emit::Spirv | Emit::Msl | Emit::Hlsl | Emit::Glsl)
    }
}

/// Compiles a model and writes what was asked for.
pub(crate) fn build(args: &Args) -> Result<(), Failure> {
    if args.explain {
        return explain(args);
    }
    let mut emits = Vec::new();
    for &emit in &args.emit {
        if !emits.contains(&emit) {
            emits.push(emit);
        }
    }
    let directory = match (&args.output, emits.as_slice()) {
        (Some(directory), _) if directory == Path::new("-") => {
            let why = "`--output` is a directory, not standard output";
            return Err(usage::refused(why, "leave it out: one `--emit` is printed"));
        }
        (Some(directory), _) => Some(directory.as_path()),
        (None, []) => Some(Path::new(".")),
        (None, [_]) => None,
        (None, _) => {
            let why = "several `--emit` need a directory to write into";
            return Err(usage::refused(why, "add `-o DIR`"));
        }
    };
    if emits.is_empty() {
        emits = vec![Emit::Wgsl, Emit::Manifest];
    }
    if emits.iter().any(|emit| emit.is_translated()) {
        let knob = args.knobs.tuning.settings().next();
        match (args.device, knob) {
            (Some(_), _) => return Err(translated("device")),
            (None, Some((knob, _))) => return Err(translated(knob.name)),
            (None, None) => {}
        }
    }
    if args.device.is_none() && (args.agents.is_some() || args.steps.is_some()) {
        let why = "`--agents` and `--steps` choose a kernel for a device";
        return Err(usage::refused(why, "add `--device PROFILE` or `--explain`"));
    }
    if let (Some(Platform::Web), Some(directory)) = (args.target, directory) {
        return for_web(args, directory);
    }
    let source = args.warnings.read(&args.file)?;
    let mut compiled = Compiled::new(&source, args);
    let mut files = Vec::new();
    for emit in emits {
        files.push((emit, compiled.bytes(emit)?));
    }
    match directory {
        Some(directory) => write_files(directory, &args.file, files),
        None => {
            for (emit, bytes) in files {
                if emit == Emit::Spirv && io::stdout().is_terminal() {
                    return Err(problem::binary_to_terminal().into());
                }
                standard_output::print(bytes)?;
            }
            Ok(())
        }
    }
}

/// Writes what the web needs.
fn for_web(args: &Args, directory: &Path) -> Result<(), Failure> {
    if let Some((knob, _)) = args.knobs.tuning.settings().next() {
        let why = format!("`--{}` makes a kernel for one device", knob.name);
        return Err(usage::refused(
            why,
            "leave it out: the page makes the kernel for the visitor's",
        ));
    }
    let source = args.warnings.read(&args.file)?;
    let mut artifact = args.compilation.compile(&source)?;
    let name = stem(&args.file).to_string_lossy();
    let runtime = match &args.runtime_url {
        Some(address) => web::Runtime::At(address),
        None => web::Runtime::Copied(args.runtime.as_deref()),
    };
    // A model that does not say the size of its worlds has no kernels: pages run it on the CPU.
    let _ = emit::prepare(&mut artifact, RunSize::default());
    web::write(directory, &name, &source, &artifact, &runtime)
}

/// The name of what is written of a model.
fn stem(model: &Path) -> &OsStr {
    match model == Path::new("-") {
        true => OsStr::new("stdin"),
        false => model.file_stem().unwrap_or_default(),
    }
}

/// What is known of a run, on a device or on any.
fn target(args: &Args, artifact: &Artifact, device: Option<Device>) -> Result<Target, Failure> {
    let size = RunSize {
        agents: args.agents,
        steps: args.steps,
        world: args.world,
    };
    let target = emit::target(&artifact.manifest, device.map(Device::class), size);
    target.map_err(|why| match why {
        WorldSize::Unknown => usage::refused(
            "the model does not say how many agents a world has, as its kernel must know",
            "add `--world N`",
        ),
        WorldSize::NoWorlds => usage::refused("the model has no worlds", "leave out `--world`"),
    })
}

/// Prints the choices for a device.
fn explain(args: &Args) -> Result<(), Failure> {
    let source = args.warnings.read(&args.file)?;
    let artifact = args.compilation.compile(&source)?;
    let device = args.device.unwrap_or(Device::LargeGpu);
    let target = target(args, &artifact, Some(device))?;
    let kernel = emit::choose(&artifact, &target, &args.knobs.tuning).kernel;
    let device = match target.busy {
        Some(busy) => format!("a GPU that {busy} invocations keep busy"),
        None => "a device that computes on the processor".to_owned(),
    };
    let mut text = format!(
        "{}: {} agents x {} steps on {device}, in subgroups of {}\n",
        source.name, target.agents, target.steps, target.subgroup
    );
    for decision in kernel.decisions {
        text += &format!("  {}\n      {}\n", decision.what, decision.why);
    }
    standard_output::print(text)
}

/// The complaint about an option that only WGSL can follow.
fn translated(flag: &str) -> Failure {
    let why = format!(
        "`--{flag}` may make a kernel of lanes or of two entry points, which only WGSL can have here"
    );
    usage::refused(why, "write it with `--emit wgsl`")
}

fn write_files(directory: &Path, model: &Path, files: Vec<(Emit, Vec<u8>)>) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| problem::unwritable(directory, &error))?;
    let name = stem(model);
    for (emit, bytes) in files {
        let mut file = name.to_owned();
        file.push(".");
        file.push(emit.ending());
        let path = directory.join(file);
        replace(&path, |out| out.write_all(&bytes))?;
        terminal::note(format!("wrote {}\n", path.display()));
    }
    Ok(())
}

/// A model as far as it had to be compiled.
struct Compiled<'a> {
    source: &'a Source,
    args: &'a Args,
    artifact: Option<Artifact>,
    kernel: Option<Kernel>,
}

impl<'a> Compiled<'a> {
    fn new(source: &'a Source, args: &'a Args) -> Compiled<'a> {
        Compiled {
            source,
            args,
            artifact: None,
            kernel: None,
        }
    }

    fn bytes(&mut self, emit: Emit) -> Result<Vec<u8>, Failure> {
        Ok(match emit {
            Emit::Tokens => self.stage(Stage::Tokens)?,
            Emit::Ast => self.stage(Stage::Ast)?,
            Emit::Hir => self.stage(Stage::Hir)?,
            Emit::Ir => self.stage(Stage::Ir)?,
            Emit::Wgsl => self.artifact()?.wgsl().into_bytes(),
            Emit::Manifest => {
                let mut text = self.artifact()?.manifest.json();
                text.push('\n');
                text.into_bytes()
            }
            Emit::Spirv => self.kernel()?.spirv()?,
            Emit::Msl => self.kernel()?.msl()?.into_bytes(),
            Emit::Hlsl => self.kernel()?.hlsl()?.into_bytes(),
            Emit::Glsl => self.kernel()?.glsl()?.into_bytes(),
        })
    }

    fn stage(&self, stage: Stage) -> Result<Vec<u8>, Failure> {
        match sim_compiler::emit_stage(&self.source.text, stage) {
            Ok(text) => Ok(text.into_bytes()),
            Err(diagnostics) => Err(self.source.failure(diagnostics)),
        }
    }

    fn artifact(&mut self) -> Result<&Artifact, Failure> {
        if self.artifact.is_none() {
            let args = self.args;
            let mut artifact = args.compilation.compile(self.source)?;
            // The kernel of a model with worlds depends on their size.
            let has_worlds = artifact.manifest.world.is_some();
            if args.device.is_some() || args.knobs.tuning != Tuning::AUTO || has_worlds {
                let target = target(args, &artifact, args.device)?;
                emit::fix_kernel(&mut artifact, &target, &args.knobs.tuning);
            }
            self.artifact = Some(artifact);
        }
        Ok(self.artifact.as_ref().expect("it was just compiled"))
    }

    fn kernel(&mut self) -> Result<&Kernel, Failure> {
        if self.kernel.is_none() {
            let kernel = Kernel::new(&self.artifact()?.wgsl())?;
            self.kernel = Some(kernel);
        }
        Ok(self.kernel.as_ref().expect("it was just made"))
    }
}
