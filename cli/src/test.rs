//! `simc test`: runs the tests of models, and reports those that fail.

mod judge;
mod measure;

use crate::{
    cache,
    compilation::Compilation,
    failure::Failure,
    interrupt,
    launch::{self, Assignment},
    models::models,
    place::Backend,
    problem,
    source::Source,
    standard_output,
    table::reading::Reading,
};
use serde_json::{Value, json};
use sim_compiler::{
    artifact::Artifact,
    diagnostic::Label,
    syntax::{self, Token},
    testing::{Given, Role, Test},
};
use sim_runtime::{Array, Control, Run, Simulation};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

/// Arguments of `simc test`.
#[derive(clap::Args)]
#[command(after_help = "\
A test is a block of a model: `test \"a call has a value\" { expect mean(payoff) > 0.0 }`. Each
runs the model once per backend, and the exit code is 1 if one fails. A model with an `assert`
is run as with `simc run --check`.

Examples:
  simc test
  simc test gbm.sim models/ --filter call
  simc test gbm.sim --backend cpu,gpu
  simc test --list")]
pub(crate) struct Args {
    /// Models, and directories whose `.sim` files are tested [default: the current directory]; `-` is
    /// standard input.
    #[arg(value_name = "FILE", value_hint = clap::ValueHint::AnyPath)]
    files: Vec<PathBuf>,
    /// Run only the tests whose names contain this text; given several times, any of them.
    #[arg(long, value_name = "TEXT")]
    filter: Vec<String>,
    /// Print the names of the tests, and run none.
    #[arg(long)]
    list: bool,
    /// Where to run, one after the other; the CPU gives the same results on every machine.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "cpu")]
    backend: Vec<Backend>,
    #[command(flatten)]
    compilation: Compilation,
    /// Print the results as JSON.
    #[arg(long, conflicts_with = "list")]
    json: bool,
}

/// Values of an input that a test may write out for all agents: 1 GiB.
const MOST_INPUT_VALUES: usize = 1 << 28;

/// What became of the tests.
#[derive(Default)]
struct Tally {
    /// Those that were run, once per backend.
    run: usize,
    failed: usize,
    /// Tests that the filter left out.
    left_out: usize,
    /// Models that could not be read or compiled.
    unread: usize,
    /// One entry per test that was run.
    results: Vec<Value>,
}

/// A model, compiled.
struct Model {
    source: Source,
    artifact: Artifact,
    /// Where relative paths of its tests begin.
    folder: PathBuf,
}

/// Runs the tests of all models, and says how many passed and failed.
pub(crate) fn test(args: &Args, quiet: bool) -> Result<(), Failure> {
    let started = Instant::now();
    let mut tally = Tally::default();
    let here = [PathBuf::from(".")];
    let paths = match args.files.is_empty() {
        true => &here[..],
        false => &args.files,
    };
    for path in paths {
        match models(path) {
            Ok(files) => {
                for file in &files {
                    tally.model(args, quiet, file)?;
                }
            }
            Err(failure) => tally.refuse(&failure),
        }
    }
    if args.json {
        let report = json!({
            "tests": tally.results,
            "passed": tally.run - tally.failed,
            "failed": tally.failed,
            "filtered_out": tally.left_out,
            "models_with_mistakes": tally.unread,
        });
        standard_output::print(format!("{report:#}\n"))?;
    }
    if tally.run == 0 && tally.unread == 0 {
        return Err(problem::no_tests(&args.filter).into());
    }
    if !args.json && !args.list {
        let seconds = started.elapsed().as_secs_f64();
        standard_output::print(tally.remark(seconds))?;
    }
    match tally.failed + tally.unread {
        0 => Ok(()),
        _ => Err(Failure::Reported),
    }
}

impl Tally {
    fn refuse(&mut self, failure: &Failure) {
        failure.print();
        self.unread += 1;
    }

    /// Runs the tests of one model. Only what concerns all of them is an error.
    fn model(&mut self, args: &Args, quiet: bool, path: &Path) -> Result<(), Failure> {
        let compiled = Source::read(path).and_then(|source| {
            let tokens = syntax::tokens(&source.text);
            let asserts = tokens.iter().any(|(token, _)| *token == Token::Assert);
            let artifact = args.compilation.compile_with(&source, asserts)?;
            Ok(Model {
                folder: path.parent().map_or_else(PathBuf::new, Path::to_owned),
                source,
                artifact,
            })
        });
        let model = match compiled {
            Ok(model) => model,
            Err(failure) => {
                self.refuse(&failure);
                return Ok(());
            }
        };
        for test in &model.artifact.tests {
            let wanted = |part: &String| test.name.contains(part.as_str());
            if !args.filter.is_empty() && !args.filter.iter().any(wanted) {
                self.left_out += 1;
                continue;
            }
            if args.list {
                self.run += 1;
                let line = format!("{}: {}\n", model.source.name, test.name);
                standard_output::print(line)?;
                continue;
            }
            for backend in &args.backend {
                self.one(args, quiet, &model, test, *backend)?;
            }
        }
        Ok(())
    }

    /// Runs a test on one backend.
    fn one(
        &mut self,
        args: &Args,
        quiet: bool,
        model: &Model,
        test: &Test,
        backend: Backend,
    ) -> Result<(), Failure> {
        let started = Instant::now();
        let outcome = model.run(test, backend);
        if matches!(outcome, Err(Failure::Interrupted)) {
            return Err(Failure::Interrupted);
        }
        let mut failures: Vec<Failure> = Vec::new();
        let mut expectations = Vec::new();
        match outcome {
            Ok(run) => {
                let mut complaints = Vec::new();
                for expectation in &test.expectations {
                    let verdict = judge::judge(&run, expectation);
                    let text = &model.source.text;
                    let (line, _) = expectation.span.position(text);
                    let written = text.get(expectation.span.range()).unwrap_or_default();
                    expectations.push(verdict.json(written, line));
                    if !verdict.holds {
                        complaints.push(verdict.complaint(expectation));
                    }
                }
                if !complaints.is_empty() {
                    failures.push(model.source.failure(complaints));
                }
            }
            Err(failure) => failures.push(failure),
        }
        let passed = failures.is_empty();
        self.run += 1;
        self.failed += usize::from(!passed);
        let place = backend.name();
        if args.json {
            self.results.push(json!({
                "file": model.source.name,
                "name": test.name,
                "backend": place,
                "ok": passed,
                "seconds": started.elapsed().as_secs_f64(),
                "expectations": expectations,
            }));
        } else if !passed || !quiet {
            let on = match args.backend.len() {
                1 => String::new(),
                _ => format!(" on {place}"),
            };
            let end = if passed { "ok" } else { "FAILED" };
            let line = format!("test {}: {}{on} ... {end}\n", model.source.name, test.name);
            standard_output::print(line)?;
        }
        failures.iter().for_each(Failure::print);
        Ok(())
    }

    fn remark(&self, seconds: f64) -> String {
        let word = if self.failed + self.unread == 0 {
            "ok"
        } else {
            "FAILED"
        };
        let passed = self.run - self.failed;
        let mut text = format!(
            "test result: {word}. {passed} passed; {} failed",
            self.failed
        );
        if self.left_out > 0 {
            text += &format!("; {} filtered out", self.left_out);
        }
        if self.unread > 0 {
            let models = if self.unread == 1 { "model" } else { "models" };
            text += &format!("; {} {models} with mistakes", self.unread);
        }
        text + &format!("; finished in {seconds:.2} s\n")
    }
}

impl Model {
    /// The run that a test asks for.
    fn run(&self, test: &Test, backend: Backend) -> Result<Run, Failure> {
        let mut simulation = Simulation::from_artifact(self.artifact.clone())
            .seed(test.seed)
            .backend(backend.into())
            .pipeline_cache(cache::directory())
            .keep_states(false);
        let manifest = &self.artifact.manifest;
        let members = manifest.world.as_ref().and_then(|world| world.members);
        let counts = [
            ("agents", test.agents, manifest.agents),
            (
                "steps",
                test.steps,
                manifest.steps.or((!manifest.has_step).then_some(0)),
            ),
            (
                "world",
                test.world,
                members.or(manifest.world.is_none().then_some(1)),
            ),
        ];
        for (what, given, default) in counts {
            if given.or(default).is_none() {
                let label = Label {
                    span: test.span,
                    text: "in this test".to_owned(),
                };
                let complaint = problem::test_without_count(what).in_model(vec![label]);
                return Err(self.source.failure(vec![complaint]));
            }
        }
        if let Some(agents) = test.agents {
            simulation.set_agents(agents);
        }
        if let Some(steps) = test.steps {
            simulation.set_steps(steps);
        }
        if let Some(members) = test.world {
            simulation.set_world(members);
        }
        let agents = test.agents.or(manifest.agents);
        let members = test.world.or(members);
        for given in &test.given {
            give(&mut simulation, given, agents, members)?;
        }
        let files = |role: Role| -> Vec<Assignment> {
            let of_role = test.files.iter().filter(|file| file.role == role);
            let assigned = of_role.map(|file| Assignment {
                name: file.name.clone(),
                value: self.folder.join(&file.path).display().to_string(),
            });
            assigned.collect()
        };
        let (how, counts) = (Reading::default(), (agents, members));
        launch::data(&mut simulation, &files(Role::Data), &how)?;
        launch::inputs(&mut simulation, &files(Role::Input), &how, counts)?;
        let result = simulation.run_with(&Control {
            cancel: Some(interrupt::flag()),
            ..Control::default()
        });
        result.map_err(|error| self.source.refusal(error))
    }
}

/// Gives a simulation what stands in the test; of an input the same to all agents or worlds.
fn give(
    simulation: &mut Simulation,
    given: &Given,
    agents: Option<u32>,
    members: Option<u32>,
) -> Result<(), Failure> {
    let Given {
        name,
        scalar,
        shape,
        words,
        ..
    } = given;
    let array = |rows: &[u32], words| {
        let shape = [rows, shape.as_slice()].concat();
        Array::shaped(*scalar, words, shape)
    };
    match given.role {
        Role::Param => simulation.set_param(name, array(&[], words.clone()))?,
        Role::Data => simulation.set_data(name, array(&[], words.clone()))?,
        Role::Input => {
            let worlds = &simulation.manifest().world_rows().inputs;
            let of_world = worlds.iter().any(|input| input.field.name == *name);
            let agents = agents.unwrap_or(0);
            let rows = match members {
                Some(members) if of_world => agents / members.max(1),
                _ => agents,
            };
            if let [first, rest @ ..] = words.as_slice()
                && rest.iter().all(|word| word == first)
            {
                let one = Array::shaped(*scalar, vec![*first], Vec::new());
                return Ok(simulation.set_input(name, one)?);
            }
            if rows as usize > MOST_INPUT_VALUES / words.len().max(1) {
                return Err(problem::test_input_too_large(name, rows, words.len()).into());
            }
            simulation.set_input(name, array(&[rows], words.repeat(rows as usize)))?;
        }
    }
    Ok(())
}
