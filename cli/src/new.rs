//! `simc new`: a model that runs, to start from.

use crate::{failure::Failure, problem, standard_output};
use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

/// Arguments of `simc new`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc new walk
  simc new models/town --template epidemic
  simc new trader --template policy      writes trader.sim and its data, trader.csv")]
pub(crate) struct Args {
    /// Name of the model, with or without `.sim`; it may have directories before it.
    #[arg(value_name = "NAME", value_hint = clap::ValueHint::FilePath)]
    name: PathBuf,
    /// What it is about.
    #[arg(long, short, value_enum, default_value = "agent")]
    template: Template,
}

/// `--template`.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Template {
    /// A random walk that stops by itself: short, with little of everything.
    Agent,
    /// The price of an option by Monte Carlo.
    Gbm,
    /// An epidemic in towns of people who meet.
    Epidemic,
    /// An ensemble of solutions of a differential equation.
    Ode,
    /// A search for the best of many trading policies, with data.
    Policy,
    /// Birds that see one another.
    Flock,
}

impl Template {
    fn model(self) -> &'static str {
        match self {
            Template::Agent => include_str!("new/agent.sim"),
            Template::Gbm => include_str!("new/gbm.sim"),
            Template::Epidemic => include_str!("new/epidemic.sim"),
            Template::Ode => include_str!("new/ode.sim"),
            Template::Policy => include_str!("new/policy.sim"),
            Template::Flock => include_str!("new/flock.sim"),
        }
    }

    /// The table that the model needs, with its name in the model.
    fn data(self) -> Option<(&'static str, &'static str)> {
        match self {
            Template::Policy => Some(("returns", include_str!("new/policy.csv"))),
            Template::Agent
            | Template::Gbm
            | Template::Epidemic
            | Template::Ode
            | Template::Flock => None,
        }
    }

    /// A param of the model, with another value than its default.
    fn change(self) -> &'static str {
        match self {
            Template::Agent => "limit=30",
            Template::Gbm => "sigma=0.3",
            Template::Epidemic => "contacts=0.4",
            Template::Ode => "alpha=1.2",
            Template::Policy => "cost=0.002",
            Template::Flock => "sight=2",
        }
    }
}

/// Writes a model, and says how to run it.
pub(crate) fn new(args: &Args) -> Result<(), Failure> {
    let model = model_path(&args.name)?;
    let mut files = vec![(model.clone(), args.template.model())];
    let mut run = format!("simc run {}", shown(&model));
    if let Some((name, table)) = args.template.data() {
        let path = model.with_extension("csv");
        run += &format!(" --data {name}={}", shown(&path));
        files.push((path, table));
    }
    if let Some((path, _)) = files
        .iter()
        .find(|(path, _)| path.symlink_metadata().is_ok())
    {
        return Err(problem::new_exists(path).into());
    }
    if let Some(directory) = model.parent() {
        fs::create_dir_all(directory).map_err(|error| problem::unwritable(&model, &error))?;
    }
    for (at, (path, text)) in files.iter().enumerate() {
        if let Err(error) = create(path, text) {
            // All of them or none.
            for (written, _) in &files[..at] {
                let _ = fs::remove_file(written);
            }
            return Err(problem::unwritable(path, &error).into());
        }
    }
    let names: Vec<String> = files.iter().map(|(path, _)| shown(path)).collect();
    standard_output::print(format!(
        "wrote {}\n\ntry\n  {run}\n  {run} --param {}\n  simc inspect {}\n",
        names.join(" and "),
        args.template.change(),
        shown(&model)
    ))
}

/// `walk` and `walk.sim` for `walk.sim`.
fn model_path(name: &Path) -> Result<PathBuf, Failure> {
    let Some(file) = name.file_name() else {
        return Err(problem::new_without_name(name).into());
    };
    if Path::new(file).extension().is_some_and(|it| it == "sim") {
        return Ok(name.to_owned());
    }
    let mut file = file.to_owned();
    file.push(".sim");
    Ok(name.with_file_name(file))
}

/// A path as a shell takes it.
fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_alphanumeric() || "/\\._-:+,=@%".contains(c);
    match text.chars().all(plain) && !text.starts_with('-') {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// Writes a file that is not there yet.
fn create(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written
}
