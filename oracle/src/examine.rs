//! What must be true of any text, whatever it says: one text is examined in this process, stage by stage.

use sim_compiler::{Diagnostic, Options, compile_with, diagnostic::render, manifest::Scalar};
use sim_runtime::{Array, Backend, Control, Error, Run, Simulation};
use sim_tests::compare::{Difference, Tolerance, compare};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Agents of a run.
const AGENTS: u32 = 3;

/// Steps of a run at most.
const STEPS: u32 = 4;

/// A run that takes longer is cancelled, and counts as done.
const RUN: Duration = Duration::from_millis(250);

/// How far a text got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It has mistakes.
    Refused,
    /// The launch was refused.
    NotLaunched,
    /// It was still running when its time was over.
    Cancelled,
    /// It ran to its end.
    Ran,
}

/// Examines a text; `stage` hears what comes next.
///
/// # Errors
/// What is wrong with the compiler, in one line that begins with the kind of fault.
pub fn examine(text: &str, mut stage: impl FnMut(&'static str)) -> Result<End, String> {
    stage("compile");
    let compiled = compile_with(text, Options::default());
    stage("survey");
    let survey = sim_compiler::survey(text);
    placed(text, &survey.diagnostics)?;
    let artifact = match compiled {
        Ok(artifact) => artifact,
        Err(diagnostics) => {
            if diagnostics.is_empty() {
                return Err("refused without a diagnostic".into());
            }
            placed(text, &diagnostics)?;
            stage("render");
            // A thousand complaints render like the first ones.
            let first = &diagnostics[..diagnostics.len().min(20)];
            render::render("model.sim", text, first, Default::default());
            stage("format");
            formatted(text, None)?;
            return Ok(End::Refused);
        }
    };
    stage("warnings");
    placed(text, &sim_compiler::warnings(text))?;
    stage("emit");
    let simulation = Simulation::from_artifact(artifact);
    // Models with worlds have no kernel yet.
    let has_kernel = simulation.manifest().world.is_none();
    let wgsl = has_kernel.then(|| simulation.wgsl());
    stage("format");
    formatted(text, wgsl.as_deref())?;
    stage("naga");
    wgsl.map_or(Ok(()), |wgsl| validated(&wgsl))?;
    stage("run");
    run(simulation)
}

/// Each diagnostic has a code, a message, and places in the text.
fn placed(text: &str, diagnostics: &[Diagnostic]) -> Result<(), String> {
    for diagnostic in diagnostics {
        let about = format!("{} {}", diagnostic.code, diagnostic.slug);
        if diagnostic.code.is_empty() || diagnostic.message.trim().is_empty() {
            return Err(format!("diagnostic without code or message: {about}"));
        }
        if diagnostic.labels.is_empty() {
            return Err(format!("diagnostic without a place: {about}"));
        }
        let labels = diagnostic.labels.iter().map(|label| label.span);
        let fixes = diagnostic.fixes.iter().flat_map(|fix| &fix.edits);
        for span in labels.chain(fixes.map(|edit| edit.0)) {
            let inside = span.start <= span.end && text.get(span.range()).is_some();
            if !inside {
                return Err(format!("diagnostic outside the text: {about}"));
            }
        }
    }
    Ok(())
}

/// Formatting keeps the kernel, and does nothing the second time.
fn formatted(text: &str, wgsl: Option<&str>) -> Result<(), String> {
    let pretty = match sim_format::format(text) {
        Ok(pretty) => pretty,
        Err(sim_format::Error::Syntax(found)) if wgsl.is_none() && !found.is_empty() => {
            return Ok(());
        }
        Err(error) => return Err(format!("format: {error}")),
    };
    match sim_format::format(&pretty) {
        Ok(twice) if twice == pretty => {}
        Ok(_) => return Err("format: the second time changes the text".into()),
        Err(error) => return Err(format!("format: the second time: {error}")),
    }
    if let Some(wgsl) = wgsl {
        let artifact = compile_with(&pretty, Options::default())
            .map_err(|_| "format: the result does not compile")?;
        if Simulation::from_artifact(artifact).wgsl() != wgsl {
            return Err("format: the result means something else".into());
        }
    }
    Ok(())
}

fn validated(wgsl: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(wgsl)
        .map_err(|error| format!("naga cannot read the kernel: {}", error.message()))?;
    let flags = naga::valid::ValidationFlags::all();
    let mut validator = naga::valid::Validator::new(flags, naga::valid::Capabilities::empty());
    validator.subgroup_stages(naga::valid::ShaderStages::COMPUTE);
    validator.subgroup_operations(naga::valid::SubgroupOperationSet::all());
    validator.validate(&module).map_err(|error| {
        let text = error.emit_to_string(wgsl).replace('\n', " ");
        format!("naga refuses the kernel: {text}")
    })?;
    Ok(())
}

/// Runs the model on the vector machine and on the interpreter: both give the same bits.
fn run(simulation: Simulation) -> Result<End, String> {
    let simulation = match launched(simulation) {
        Ok(simulation) => simulation,
        Err(error) => return said(&error).map(|()| End::NotLaunched),
    };
    let fast = bounded(&simulation)?;
    let simulation = simulation.backend(Backend::Reference);
    let slow = bounded(&simulation)?;
    match (fast, slow) {
        (Ok(fast), Ok(slow)) => same(&fast, &slow).map(|()| End::Ran),
        (Err(Error::Cancelled), _) | (_, Err(Error::Cancelled)) => Ok(End::Cancelled),
        (Err(error), Err(_)) => said(&error).map(|()| End::NotLaunched),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => {
            Err(format!("run: one backend only refuses: {error}"))
        }
    }
}

/// An error of the runtime says something.
fn said(error: &Error) -> Result<(), String> {
    match error.to_string().trim().is_empty() || error.code().is_empty() {
        true => Err("run: an error without text or code".into()),
        false => Ok(()),
    }
}

/// A launch with few agents and steps, and ones for everything that has no default.
fn launched(simulation: Simulation) -> Result<Simulation, Error> {
    let manifest = simulation.manifest().clone();
    let steps = manifest.steps.unwrap_or(STEPS).min(STEPS);
    let mut simulation = simulation
        .agents(AGENTS)
        .steps(steps)
        .seed(7)
        .backend(Backend::Cpu);
    for param in manifest
        .params
        .iter()
        .filter(|param| param.default.is_none())
    {
        let first = param.range.map_or(1.0, |range| range[0]);
        let values = ones(param.field.scalar, param.field.words() as usize, first);
        simulation = simulation.param(&param.field.name, values)?;
    }
    for data in &manifest.data {
        let open = data.field.shape.first() == Some(&0);
        let rows = if open { 5 } else { 1 };
        let values = ones(data.field.scalar, data.field.words() as usize * rows, 1.0);
        simulation = simulation.data(&data.field.name, values)?;
    }
    let required = |input: &&sim_compiler::manifest::Input| {
        matches!(input.source, sim_compiler::manifest::Source::Required)
    };
    for input in manifest.inputs.iter().filter(required) {
        let count = input.field.words() as usize * AGENTS as usize;
        let values = ones(input.field.scalar, count, 1.0);
        simulation = simulation.input(&input.field.name, values)?;
    }
    Ok(simulation)
}

fn ones(scalar: Scalar, count: usize, value: f64) -> Array {
    match scalar {
        Scalar::F32 => Array::from(vec![value as f32; count]),
        Scalar::I32 => Array::from(vec![value as i32; count]),
        Scalar::U32 => Array::from(vec![value as u32; count]),
        Scalar::F64 => Array::from(vec![value; count]),
        Scalar::Bool => Array::from(vec![value != 0.0; count]),
    }
}

/// A run that is cancelled when its time is over; an error here if it does not end then.
fn bounded(simulation: &Simulation) -> Result<Result<Run, Error>, String> {
    let (cancel, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let start = std::time::Instant::now();
    let run = std::thread::scope(|scope| {
        let timer = scope.spawn(|| {
            while start.elapsed() < RUN && !done.load(Ordering::Relaxed) {
                std::thread::park_timeout(RUN.saturating_sub(start.elapsed()));
            }
            cancel.store(true, Ordering::Relaxed);
        });
        let control = Control {
            cancel: Some(&cancel),
            ..Control::default()
        };
        let run = simulation.run_with(&control);
        done.store(true, Ordering::Relaxed);
        timer.thread().unpark();
        run
    });
    Ok(run)
}

fn same(fast: &Run, slow: &Run) -> Result<(), String> {
    compare(fast, slow, Tolerance::Bits).map_err(|difference| match difference {
        Difference::Value { name, .. } | Difference::Sample { name, .. } => {
            format!("run: vectors and interpreter differ in `{name}`")
        }
        Difference::Columns { what, .. } => {
            format!("run: vectors and interpreter have other {what}")
        }
    })
}
