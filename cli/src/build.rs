//! `simc build`: a model's kernel and manifest, or what the compiler made of it on the way.

use crate::{
    compilation::Compilation, failure::Failure, number, output::replace, problem, source::Source,
    terminal, translate::Kernel,
};
use clap::error::ErrorKind;
use sim_compiler::{
    Stage,
    artifact::Artifact,
    schedule::{self, Schedule, Target, Wishes},
};
use std::{
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
  simc build gbm.sim -o out --emit spirv,msl     out/gbm.spv and out/gbm.metal")]
pub(crate) struct Args {
    /// Model to compile.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Directory for the files, which bear the model's name; it is made if it does not exist.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// What to write; may be given several times, or as a list with commas.
    #[arg(long, value_enum, value_delimiter = ',')]
    emit: Vec<Emit>,
    #[command(flatten)]
    compilation: Compilation,
    /// Gives the kernel a second entry point, `prepare`, that computes once per step what all agents share,
    /// if the model has such work; only in WGSL.
    #[arg(long)]
    prepare: bool,
    /// Print which kernel a large GPU would be given for the model, and why, instead of writing files.
    #[arg(long, conflicts_with_all = ["emit", "output", "prepare"])]
    explain: bool,
    /// Number of agents that --explain is about, instead of the model's.
    #[arg(long, value_name = "N", value_parser = number::count, requires = "explain")]
    agents: Option<u32>,
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

    /// Is it the kernel in another language, which has room for one entry point?
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
        (Some(directory), _) => Some(directory.as_path()),
        (None, []) => Some(Path::new(".")),
        (None, [_]) => None,
        (None, _) => several_without_directory(),
    };
    if emits.is_empty() {
        emits = vec![Emit::Wgsl, Emit::Manifest];
    }
    if args.prepare && emits.iter().any(|emit| emit.is_translated()) {
        translated_with_prepare();
    }
    let source = Source::read(&args.file)?;
    let mut compiled = Compiled::new(&source, args.compilation, args.prepare);
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
                terminal::print(bytes)?;
            }
            Ok(())
        }
    }
}

/// Agents of a model that does not say how many it has.
const SOME_AGENTS: u32 = 10_000;
/// The same for steps.
const SOME_STEPS: u32 = 1_000;

/// Prints the choices for a GPU that is like the one they were measured on.
fn explain(args: &Args) -> Result<(), Failure> {
    let source = Source::read(&args.file)?;
    let artifact = args.compilation.compile(&source)?;
    let agents = args.agents.or(artifact.manifest.agents);
    let steps = artifact.manifest.steps.unwrap_or(SOME_STEPS);
    let target = Target::large(agents.unwrap_or(SOME_AGENTS), steps);
    let kernel = schedule::choose(&artifact, &target, &Wishes::default()).kernel;
    let mut text = format!(
        "{}: {} agents x {steps} steps on a GPU that {} invocations keep busy, in subgroups of {}\n",
        source.name,
        target.agents,
        schedule::BUSY_LARGE,
        target.subgroup
    );
    for choice in kernel.choices {
        text += &format!("  {}\n      {}\n", choice.what, choice.why);
    }
    terminal::print(text)
}

/// A usage error, as clap reports its own.
fn several_without_directory() -> ! {
    let text = "several --emit need a directory to write into: add `-o DIR`\n";
    clap::Error::raw(ErrorKind::MissingRequiredArgument, text).exit()
}

/// A usage error, as clap reports its own.
fn translated_with_prepare() -> ! {
    let text = "--prepare makes a kernel of two entry points, which only `--emit wgsl` can write\n";
    clap::Error::raw(ErrorKind::ArgumentConflict, text).exit()
}

fn write_files(directory: &Path, model: &Path, files: Vec<(Emit, Vec<u8>)>) -> Result<(), Failure> {
    fs::create_dir_all(directory).map_err(|error| problem::unwritable(directory, &error))?;
    let name = model.file_stem().unwrap_or_default();
    for (emit, bytes) in files {
        let mut file = name.to_owned();
        file.push(".");
        file.push(emit.ending());
        let path = directory.join(file);
        replace(&path, |out| out.write_all(&bytes))?;
        terminal::remark(format!("wrote {}\n", path.display()));
    }
    Ok(())
}

/// A model as far as it had to be compiled.
struct Compiled<'a> {
    source: &'a Source,
    compilation: Compilation,
    prepare: bool,
    artifact: Option<Artifact>,
    kernel: Option<Kernel>,
}

impl<'a> Compiled<'a> {
    fn new(source: &'a Source, compilation: Compilation, prepare: bool) -> Compiled<'a> {
        Compiled {
            source,
            compilation,
            prepare,
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
            let mut artifact = self.compilation.compile(self.source)?;
            if self.prepare {
                let kernel = artifact.kernel(&Schedule {
                    prepare: true,
                    ..Schedule::default()
                });
                artifact.own_kernel = Some(kernel.wgsl);
                artifact.manifest.prepare = kernel.prepared;
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
