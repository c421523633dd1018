//! Where models run in these tests: the available backends, and one way to start a model on each.

use sim_compiler::{Math, Options, RealType, compile_with};
use sim_runtime::{Backend, Isa, Simulation, Tuning};
use std::fmt;

/// Must a GPU adapter be here, so that its lack is a failure? So says `1` in the environment variable
/// `SIM_REQUIRE_GPU`.
pub fn requires_gpu() -> bool {
    std::env::var("SIM_REQUIRE_GPU").as_deref() == Ok("1")
}

/// Is a GPU adapter here, real or software? Says so once if not; a failure if [`requires_gpu`].
pub fn has_gpu() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = !sim_runtime::adapters().is_empty();
        if !found {
            assert!(
                !requires_gpu(),
                "SIM_REQUIRE_GPU=1, but no Vulkan adapter was found"
            );
            eprintln!(
                "SKIPPED on the GPU: no Vulkan adapter was found; only the CPU backend is tested"
            );
        }
        found
    })
}

/// The backends that this machine has, but for the reference interpreter.
pub fn backends() -> Vec<Backend> {
    let mut backends = vec![Backend::Cpu];
    backends.extend(has_gpu().then_some(Backend::Gpu));
    backends
}

/// A way to run a model.
#[derive(Clone, Debug)]
pub struct Way {
    /// What runs it.
    pub backend: Backend,
    /// The type of its floats.
    pub real: RealType,
    /// The instruction set, on the CPU.
    pub isa: Option<Isa>,
    /// Is the program optimised?
    pub optimise: bool,
    /// What is set of the GPU's kernel.
    pub tuning: Tuning,
}

/// Each step as in the model, one copy an iteration, by every agent.
pub const PLAIN: Tuning = Tuning {
    lanes: Some(1),
    step_table: Some(false),
    relax: Some(false),
    reserve: Some(false),
    unroll_steps: Some(1),
    ..Tuning::AUTO
};

/// As many bytes of arrays as an invocation can keep: by themselves kernels for software adapters keep few.
pub const IN_INVOCATION: Option<u32> = Some(16_384);

/// A kernel that does all that kernels can do beside what a model says, with copies of the step and
/// dispatches that divide no number of steps.
pub const ELABORATE: Tuning = Tuning {
    steps_per_dispatch: Some(29),
    step_table: Some(true),
    reserve: Some(true),
    unroll_steps: Some(3),
    array_bytes: IN_INVOCATION,
    ..Tuning::AUTO
};

/// All arrays are in storage, where kernels have those that are large.
pub const IN_STORAGE: Tuning = Tuning {
    array_bytes: Some(0),
    ..Tuning::AUTO
};

/// Invocations run several agents, as far as models allow it, of chunks that they do not divide.
pub const COARSE: Tuning = Tuning {
    agents_per_invocation: Some(4),
    steps_per_dispatch: Some(29),
    max_agents_per_chunk: Some(41),
    ..Tuning::AUTO
};

impl Way {
    /// A model, compiled, ready for its launch values.
    ///
    /// # Errors
    /// The compiler's messages as text.
    pub fn simulation(&self, source: &str) -> Result<Simulation, String> {
        let simulation = simulation_in(self.real, source, self.backend, self.optimise)?;
        let simulation = match self.tuning == Tuning::default() {
            true => simulation,
            false => simulation.tuning(forced(self.tuning)),
        };
        Ok(match self.isa {
            Some(isa) => simulation.instruction_set(isa),
            None => simulation,
        })
    }

    /// Does it give what the reference interpreter gives, to the bit?
    pub fn is_exact(&self) -> bool {
        self.backend != Backend::Gpu
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.backend)?;
        if let Some(isa) = self.isa {
            write!(f, " with {isa}")?;
        }
        if self.real == RealType::F64 {
            f.write_str(" in f64")?;
        }
        f.write_str(if self.optimise {
            ", optimised"
        } else {
            ", not optimised"
        })?;
        if self.tuning != Tuning::default() {
            write!(f, ", {}", self.tuning)?;
        }
        Ok(())
    }
}

/// Every way to run a model here: the first is the reference interpreter on the program as it was lowered.
/// With the environment variable `SIM_CPU_ONLY` those on the GPU are left out.
pub fn ways() -> Vec<Way> {
    let mut ways = ways_on_cpu(RealType::F32);
    if std::env::var_os("SIM_CPU_ONLY").is_none() && has_gpu() {
        let on_gpu = |optimise, tuning| Way {
            backend: Backend::Gpu,
            real: RealType::F32,
            isa: None,
            optimise,
            tuning,
        };
        ways.extend([
            on_gpu(false, IN_STORAGE),
            on_gpu(true, Tuning::default()),
            on_gpu(true, ELABORATE),
            on_gpu(true, COARSE),
        ]);
    }
    ways
}

/// The same on the CPU alone, with floats of that type.
pub fn ways_on_cpu(real: RealType) -> Vec<Way> {
    let mut sets = Isa::available();
    if real == RealType::F64 {
        sets = sets.into_iter().map(Isa::of_doubles).collect();
        sets.dedup();
    }
    let way = |backend, isa, optimise, jit| Way {
        backend,
        real,
        isa,
        optimise,
        tuning: Tuning {
            jit,
            ..Tuning::default()
        },
    };
    let reference = [false, true].map(|optimise| way(Backend::Reference, None, optimise, None));
    let on_machine = sets.into_iter().flat_map(|isa| {
        let plain =
            [false, true].map(|optimise| way(Backend::Cpu, Some(isa), optimise, Some(false)));
        let has_jit = isa != Isa::Portable && real == RealType::F32;
        let native = has_jit.then(|| {
            [false, true].map(|optimise| way(Backend::Cpu, Some(isa), optimise, Some(true)))
        });
        plain.into_iter().chain(native.into_iter().flatten())
    });
    reference.into_iter().chain(on_machine).collect()
}

/// What the environment variable `SIM_SCHEDULE` sets on every test, such as
/// `lanes=4 shuffles=false unroll-steps=3`; `math=precise` there is for [`math`].
///
/// # Panics
/// If it sets what cannot be set.
pub fn tuning() -> Tuning {
    let text = std::env::var("SIM_SCHEDULE").unwrap_or_default();
    let settings = text.split([' ', ',']);
    let settings: Vec<&str> = settings.filter(|it| !it.starts_with("math=")).collect();
    let tuning = settings.join(" ").parse();
    tuning.unwrap_or_else(|error| panic!("SIM_SCHEDULE: {error}"))
}

/// A test's own tuning, with what `SIM_SCHEDULE` forces on it, too: the shader compiler's checks,
/// which change nothing that a test may look at.
pub fn forced(own: Tuning) -> Tuning {
    Tuning {
        checks: own.checks.or(tuning().checks),
        ..own
    }
}

/// The mathematics that `math=fast` or `math=precise` in `SIM_SCHEDULE` forces on every test.
///
/// # Panics
/// If it names something that does not exist.
pub fn math() -> Math {
    let text = std::env::var("SIM_SCHEDULE").unwrap_or_default();
    let forced = text
        .split([' ', ','])
        .find_map(|setting| setting.strip_prefix("math="));
    match forced {
        None | Some("fast") => Math::Fast,
        Some("precise") => Math::Precise,
        Some(other) => panic!("SIM_SCHEDULE: there is no mathematics `{other}`"),
    }
}

/// A model, compiled, ready for its launch values.
///
/// # Errors
/// The compiler's messages as text.
pub fn simulation(source: &str, backend: Backend, optimise: bool) -> Result<Simulation, String> {
    simulation_in(RealType::F32, source, backend, optimise)
}

/// The same with floats of that type.
fn simulation_in(
    real: RealType,
    source: &str,
    backend: Backend,
    optimise: bool,
) -> Result<Simulation, String> {
    let options = Options {
        real,
        optimise,
        math: math(),
        ..Options::default()
    };
    let artifact = compile_with(source, options).map_err(|diagnostics| {
        sim_compiler::diagnostic::render::render(
            "model.sim",
            source,
            &diagnostics,
            Default::default(),
        )
    })?;
    Ok(Simulation::from_artifact(artifact)
        .backend(backend)
        .tuning(tuning()))
}
