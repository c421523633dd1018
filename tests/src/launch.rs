//! Where models run in these tests: which backends there are, and one way to start a model on each.

use sim_compiler::{Options, compile_with};
use sim_runtime::{Backend, Simulation};

/// Is a GPU adapter here, real or software? Says so once if not; a failure if the environment variable
/// `SIM_REQUIRE_GPU` is `1`.
pub fn has_gpu() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| {
        let found = !sim_runtime::adapters().is_empty();
        if !found {
            assert!(
                std::env::var("SIM_REQUIRE_GPU").as_deref() != Ok("1"),
                "SIM_REQUIRE_GPU is set, but no Vulkan adapter was found"
            );
            eprintln!(
                "SKIPPED on the GPU: no Vulkan adapter was found; only the CPU backend is tested"
            );
        }
        found
    })
}

/// The backends that this machine has.
pub fn backends() -> Vec<Backend> {
    if has_gpu() {
        vec![Backend::Cpu, Backend::Gpu]
    } else {
        vec![Backend::Cpu]
    }
}

/// Every way to run a model here: backend and whether optimised, with a name for messages.
pub fn ways() -> Vec<(String, Backend, bool)> {
    let mut ways = Vec::new();
    for backend in backends() {
        for optimise in [false, true] {
            ways.push((
                format!(
                    "{backend:?}, {}",
                    if optimise {
                        "optimised"
                    } else {
                        "not optimised"
                    }
                ),
                backend,
                optimise,
            ));
        }
    }
    ways
}

/// A model, compiled, ready for its launch values.
///
/// # Errors
/// The compiler's messages as text.
pub fn simulation(source: &str, backend: Backend, optimise: bool) -> Result<Simulation, String> {
    let options = Options {
        optimise,
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
    Ok(Simulation::from_artifact(artifact).backend(backend))
}
