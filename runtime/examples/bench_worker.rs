//! Runs one model repeatedly on command, for the comparison with other systems in `peers/`.
//!
//! `bench_worker MODEL.sim FOLDER --agents N --seed N --backend cpu --instruction-set avx2` reads the inputs
//! and tables of the model from `FOLDER/<name>.npy`, if the files exist. Then it executes the lines of its
//! standard input:
//!
//! * `run STEPS` runs the model and answers `seconds S`, the run alone, measured by the runtime;
//! * `save FOLDER` writes the outputs of the last run as `FOLDER/<name>.npy` and answers `saved`.
//!
//! Its first line is `ready S`: the seconds from the model's text to a compiled artifact.

use sim_compiler::manifest::{Field, Scalar};
use sim_runtime::{Array, Backend, Isa, Run, Simulation};
use std::{
    error::Error,
    io::{BufRead, Write},
    path::{Path, PathBuf},
};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// The arguments of the command line.
struct Options {
    model: PathBuf,
    inputs: PathBuf,
    agents: u32,
    seed: u64,
    backend: Backend,
    /// The fastest one if none is given.
    instruction_set: Option<Isa>,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Outcome<Options> {
        let (Some(model), Some(inputs)) = (words.next(), words.next()) else {
            return Err(
                "usage: bench_worker MODEL FOLDER [--agents N] [--seed N] [--backend cpu]".into(),
            );
        };
        let mut options = Options {
            model: model.into(),
            inputs: inputs.into(),
            agents: 1,
            seed: 0,
            backend: Backend::Cpu,
            instruction_set: None,
        };
        while let Some(flag) = words.next() {
            let value = words
                .next()
                .ok_or_else(|| format!("{flag} needs a value"))?;
            match flag.as_str() {
                "--agents" => options.agents = value.parse()?,
                "--seed" => options.seed = value.parse()?,
                "--backend" => options.backend = backend(&value)?,
                "--instruction-set" => {
                    let known = Isa::available().into_iter().find(|isa| isa.name() == value);
                    let known = known.ok_or_else(|| format!("this processor has no {value}"))?;
                    options.instruction_set = Some(known);
                }
                _ => return Err(format!("unknown option {flag}").into()),
            }
        }
        Ok(options)
    }
}

fn backend(name: &str) -> Outcome<Backend> {
    match name {
        "cpu" => Ok(Backend::Cpu),
        "reference" => Ok(Backend::Reference),
        _ => Err(format!("unknown backend {name}: use cpu or reference").into()),
    }
}

/// An array of 32-bit elements in C order from an NPY file of version 1.
fn read_npy(path: &Path) -> Outcome<Array> {
    let bytes = std::fs::read(path)?;
    let bad = || format!("{}: not an NPY file of version 1", path.display());
    if bytes.get(..7) != Some(b"\x93NUMPY\x01") || bytes.len() < 10 {
        return Err(bad().into());
    }
    let end = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let header = std::str::from_utf8(bytes.get(10..end).ok_or_else(bad)?)?;
    let after = |text: &str| {
        header
            .split_once(text)
            .map(|(_, rest)| rest)
            .ok_or_else(bad)
    };
    let scalar = match after("'descr': '")?.get(..3) {
        Some("<f4") => Scalar::F32,
        Some("<i4") => Scalar::I32,
        _ => return Err(format!("{}: neither <f4 nor <i4", path.display()).into()),
    };
    if !after("'fortran_order': ")?.starts_with("False") {
        return Err(format!("{}: not in C order", path.display()).into());
    }
    let shape = after("'shape': (")?.split(')').next().unwrap_or_default();
    let shape = shape
        .split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(str::parse)
        .collect::<Result<Vec<u32>, _>>()?;
    let words: Vec<u32> = bytes[end..]
        .as_chunks::<4>()
        .0
        .iter()
        .map(|&word| u32::from_le_bytes(word))
        .collect();
    Ok(Array::shaped(scalar, words, shape))
}

/// Writes words as an NPY file.
fn write_npy(path: &Path, scalar: Scalar, shape: &[usize], words: &[u32]) -> Outcome {
    let kind = match scalar {
        Scalar::F32 => "<f4",
        Scalar::I32 => "<i4",
        Scalar::U32 | Scalar::Bool => "<u4",
        Scalar::F64 => return Err("models run in `f32` here".into()),
    };
    let shape: String = shape.iter().map(|size| format!("{size},")).collect();
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    Ok(std::fs::write(path, bytes)?)
}

fn save(run: &Run, folder: &Path) -> Outcome {
    std::fs::create_dir_all(folder)?;
    for column in run.outputs() {
        let path = folder.join(format!("{}.npy", column.field.name));
        write_npy(
            &path,
            column.field.scalar,
            &column.shape,
            &column.values.words(),
        )?;
    }
    Ok(())
}

fn names<'a>(fields: impl Iterator<Item = &'a Field>) -> Vec<String> {
    fields.map(|field| field.name.clone()).collect()
}

/// Sets the inputs and tables from the files of the folder.
fn load(simulation: &mut Simulation, folder: &Path) -> Outcome {
    let manifest = simulation.manifest();
    let inputs = names(manifest.inputs.iter().map(|input| &input.field));
    let tables = names(manifest.data.iter().map(|table| &table.field));
    for name in inputs {
        let path = folder.join(format!("{name}.npy"));
        if path.exists() {
            simulation.set_input(&name, read_npy(&path)?)?;
        }
    }
    for name in tables {
        simulation.set_data(&name, read_npy(&folder.join(format!("{name}.npy")))?)?;
    }
    Ok(())
}

fn main() -> Outcome {
    let options = Options::parse(std::env::args().skip(1))?;
    let mut simulation = Simulation::compile(&std::fs::read_to_string(&options.model)?)?
        .agents(options.agents)
        .seed(options.seed)
        .backend(options.backend)
        .keep_states(false);
    if let Some(known) = options.instruction_set {
        simulation = simulation.instruction_set(known);
    }
    load(&mut simulation, &options.inputs)?;
    // A run without steps binds everything, so that timed runs do not.
    simulation = simulation.steps(0);
    let mut run = simulation.run()?;
    let mut steps = 0;
    answer(&format!("ready {}", run.report().compile_seconds))?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        match line.split_once(' ') {
            Some(("run", count)) => {
                let count: u32 = count.parse()?;
                if count != steps {
                    simulation = simulation.steps(count);
                    steps = count;
                }
                run = simulation.run()?;
                answer(&format!("seconds {}", run.report().run_seconds))?;
            }
            Some(("save", folder)) => {
                save(&run, Path::new(folder))?;
                answer("saved")?;
            }
            _ => return Err(format!("unknown command `{line}`").into()),
        }
    }
    Ok(())
}

fn answer(line: &str) -> Outcome {
    println!("{line}");
    Ok(std::io::stdout().flush()?)
}
