//! Arrays that do not fit the memory of an invocation: kernels have them in storage, and results are those of
//! the CPU, however a run is split.

use super::walk::same;
use sim_runtime::{Backend, Control, Simulation, Tuning, Variation};
use sim_tests::launch::has_gpu;

/// 5,000 and 6,000 words of integers, the second of which live for a step.
const SOURCE: &str = "
agents 700
steps 30
const SHIFTS = [for i in 0..5_000: (7 * i) % 11]
state seen = [for i in 0..5_000: i]
state place = randint(0, 4_999)
state last = 0
step t {
    var marks = [false; 6_000]
    for k in 0..20 {
        place = (place * 31 + SHIFTS[(place + k) % 5_000] + 1) % 5_000
        seen[place] += t
        marks[place] = true
    }
    last = sum(for i in 0..6_000: if marks[i] { 1 } else { 0 })
}
output last
output place
output total = sum(for i in 0..5_000: seen[i])
";

fn simulation(backend: Backend, tuning: Tuning) -> Simulation {
    let simulation = Simulation::compile(SOURCE).expect("a legal model");
    simulation.backend(backend).tuning(tuning).seed(3)
}

#[test]
fn kernels_have_large_arrays_however_a_run_is_split() {
    if !has_gpu() {
        return;
    }
    let expected = simulation(Backend::Cpu, Tuning::default()).run();
    let expected = expected.expect("runs");
    for (max_agents_per_chunk, steps_per_dispatch) in [(None, None), (Some(100), Some(7))] {
        let tuning = Tuning {
            max_agents_per_chunk,
            steps_per_dispatch,
            ..Tuning::default()
        };
        let run = simulation(Backend::Gpu, tuning).run().expect("runs");
        same(&expected, &run);
        let decisions = &run.report().decisions;
        let found = decisions.iter().find(|it| it.what.contains("in storage"));
        let what = found.map(|decision| decision.what.as_str());
        let said = "24000 bytes of an agent's arrays in storage, and 20000 bytes of constants";
        assert_eq!(what, Some(said), "states stay where they are");
    }
}

#[test]
fn batches_have_large_arrays() {
    if !has_gpu() {
        return;
    }
    let variations: Vec<Variation> = (0..5).map(|seed| Variation::new().seed(seed)).collect();
    let totals = |backend| {
        let mut totals: Vec<Vec<i32>> = Vec::new();
        let simulation = simulation(backend, Tuning::default()).agents(70);
        let all = simulation.run_each(&variations, &Control::default(), |_, run| {
            totals.push(run.output::<i32>("total").expect("known").to_vec());
        });
        all.expect("runs");
        totals
    };
    assert_eq!(totals(Backend::Gpu), totals(Backend::Cpu));
}
