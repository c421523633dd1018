//! `Simulation::search`: against published functions with known optima, and policies with known scores.

use sim_runtime::{
    Aim, Backend, CmaEs, Control, Crossover, Error, Found, Genetic, OpenEs, Optimiser, Range,
    SavedSearch, Search, SearchEnded, SearchMethod, Simulation,
};
use std::{fs, path::Path, sync::atomic::AtomicBool};

/// Functions in 8 dimensions, whose optimum is `x = place`, away from the middle of the range and from 0, so
/// that no method finds it by beginning there. The least value is 0 each.
///
/// Sources: sphere and Rosenbrock as functions 1 and 8, Rastrigin as function 3 of N. Hansen, S. Finck, R. Ros
/// and A. Auger, "Real-Parameter Black-Box Optimization Benchmarking 2009"; D. Ackley, "A Connectionist
/// Machine for Genetic Hillclimbing" (1987).
const FUNCTIONS: [(&str, &str); 4] = [
    ("sphere", "sum(for k in 0..D: z[k] * z[k])"),
    (
        "rosenbrock",
        "sum(for k in 0..D - 1: 100.0 * (z[k + 1] + 1.0 - (z[k] + 1.0) ** 2) ** 2 + z[k] * z[k])",
    ),
    (
        "rastrigin",
        "sum(for k in 0..D: z[k] * z[k] + 10.0 * (1.0 - cos(6.283185307179586 * z[k])))",
    ),
    (
        "ackley",
        "20.0 - 20.0 * exp(-0.2 * sqrt(mean(for k in 0..D: z[k] * z[k]))) + 2.718281828459045
            - exp(mean(for k in 0..D: cos(6.283185307179586 * z[k])))",
    ),
];

fn function(value: &str, dimensions: u32, agents: u32) -> Simulation {
    let source = format!(
        "agents {agents}
        const D = {dimensions}
        input x: [f32; D] ~ uniform(-5.0, 5.0)
        fn f(z: [f32; D]) -> f32 {{ return {value} }}
        output cost = f([for k in 0..D: x[k] - 2.5 + 0.7 * f32(k % 4)])"
    );
    model(&source)
}

fn model(source: &str) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

fn found(simulation: &Simulation, search: &Search) -> Found {
    let found = simulation.search(search, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn explore() {
    for (name, value) in FUNCTIONS {
        for (method, agents) in [
            (SearchMethod::Genetic(Genetic::default()), 200),
            (
                SearchMethod::Genetic(Genetic {
                    islands: 4,
                    patience: Some(50),
                    ..Genetic::default()
                }),
                200,
            ),
            (SearchMethod::OpenEs(OpenEs::default()), 100),
            (
                SearchMethod::OpenEs(OpenEs {
                    optimiser: Optimiser::Momentum,
                    ..OpenEs::default()
                }),
                100,
            ),
            (SearchMethod::CmaEs(CmaEs::default()), 50),
            (
                SearchMethod::CmaEs(CmaEs {
                    separable: true,
                    ..CmaEs::default()
                }),
                50,
            ),
            (SearchMethod::Random, 200),
        ] {
            let started = std::time::Instant::now();
            let simulation = function(value, 8, agents);
            let search = Search {
                aim: Aim::Minimise,
                method,
                generations: 300,
                ..Search::new("cost", &["x"])
            };
            let it = found(&simulation, &search);
            let at = |target: f64| {
                it.history
                    .iter()
                    .find(|g| g.best_so_far <= target)
                    .map(|g| (g.number + 1) * agents)
            };
            println!(
                "{name} {} {}: {:e} at 1: {:?} 0.1: {:?} 1e-3: {:?} 1e-6: {:?} {:.2?}",
                search.method.name(),
                agents,
                it.elites[0].fitness,
                at(1.0),
                at(0.1),
                at(1e-3),
                at(1e-6),
                started.elapsed()
            );
        }
    }
}
