//! Runs that keep statistics only give the statistics of runs that keep everything.

use crate::walk::{KERNEL, artifact, walk, walk_with};
use sim_runtime::{Error, Run, Simulation, Statistics, Tuning, Variation};

/// The outputs of the walk.
const OUTPUTS: [&str; 5] = ["end", "trail", "who", "high", "wheel"];

/// The device computes the statistics, whatever their size.
fn reduced(simulation: Simulation) -> Simulation {
    let simulation = simulation.keep_outputs(false).keep_states(false);
    simulation.tuning(Tuning {
        reduce: Some(true),
        ..Tuning::default()
    })
}

fn near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-12 * b.abs(),
        (None, None) => true,
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Compares the statistics of all agents.
fn same(few: &Run, all: &Run) {
    assert_eq!(few.agent_steps(), all.agent_steps());
    assert_eq!(few.stopped_agents(), all.stopped_agents());
    for name in OUTPUTS {
        let of = |run: &Run| -> Vec<Statistics> { run.statistics(name).expect("it is an output") };
        let (few, all) = (of(few), of(all));
        assert_eq!(few.len(), all.len(), "{name}");
        for (few, all) in few.iter().zip(&all) {
            let exact = |it: &Statistics| (it.count, it.nan, it.five);
            assert_eq!(exact(few), exact(all), "{name}");
            assert!(near(few.mean, all.mean), "{name}: {few:?} {all:?}");
            assert!(
                near(few.deviation, all.deviation),
                "{name}: {few:?} {all:?}"
            );
        }
    }
}

#[test]
fn statistics_are_the_same_wherever_they_are_computed() {
    let (Some(all), Some(few)) = (walk(5003), walk(5003)) else {
        return;
    };
    let all = all.run().expect("it runs");
    assert!(!all.report().reduced && all.stopped_agents() > 0);
    let steps = all.steps().expect("all is kept");
    assert_eq!(all.agent_steps(), steps.map(u64::from).sum::<u64>());
    let few = reduced(few);
    for _ in 0..2 {
        let few = few.run().expect("it runs");
        assert!(few.report().reduced);
        same(&few, &all);
    }
    // Then the same device keeps everything, or only states, or nothing again.
    let kept = few.keep_outputs(true).keep_states(true);
    crate::walk::same(&kept.run().expect("it runs"), &all);
    let kept = kept.keep_outputs(false);
    let run = kept.run().expect("it runs");
    assert!(!run.report().reduced, "states bring the rest along");
    same(&run, &all);
    let x = |run: &Run| run.state::<f32>("x").expect("states are kept").to_vec();
    assert_eq!(x(&run), x(&all));
    assert!(matches!(
        run.output::<f32>("end"),
        Err(Error::OutputsNotKept { .. })
    ));
    let few = kept.keep_states(false).run().expect("it runs");
    assert!(few.report().reduced);
    same(&few, &all);
}

#[test]
fn runs_of_a_batch_have_statistics_of_their_own() {
    let (Some(all), Some(few)) = (walk(300), walk(300)) else {
        return;
    };
    let few = reduced(few);
    let variations: Vec<Variation> = (0..12)
        .map(|k| Variation::new().param("drift", 0.01 + 0.1 * k as f32))
        .collect();
    // The second time their length is known, and they share submissions.
    for _ in 0..2 {
        let few = few.run_batch(&variations).expect("it runs");
        let all = all.run_batch(&variations).expect("it runs");
        for (few, all) in few.iter().zip(&all) {
            assert!(few.report().reduced && !all.report().reduced);
            same(few, all);
        }
    }
}

#[test]
fn what_is_not_on_the_device_at_once_is_fetched() {
    let (Some(all), Some(few)) = (walk(5003), walk(5003)) else {
        return;
    };
    let few = reduced(few).tuning(Tuning {
        reduce: Some(true),
        max_agents_per_chunk: Some(2000),
        ..Tuning::default()
    });
    let few = few.run().expect("it runs");
    assert!(few.report().chunks > 1 && !few.report().reduced);
    same(&few, &all.run().expect("it runs"));
}

#[test]
fn few_results_are_fetched() {
    let (Some(all), Some(few)) = (walk(100), walk(100)) else {
        return;
    };
    let few = few.keep_outputs(false).keep_states(false);
    let few = few.run().expect("it runs");
    assert!(!few.report().reduced);
    same(&few, &all.run().expect("it runs"));
    assert!(few.outputs().is_empty());
}

#[test]
fn bytes_come_back_for_rows_and_not_for_agents() {
    let Some(few) = walk(20_000) else { return };
    let few = reduced(few).run().expect("it runs");
    // Seven values of an agent: 2048 sums of 8 bytes for each, the keys, and the head.
    let told = few.report().telemetry;
    assert!(told.bytes_down < 7 * 17_000 + 1000, "{told:?}");
}

#[test]
fn the_results_of_an_agent_are_not_known() {
    let Some(few) = walk(10) else { return };
    let run = reduced(few).run().expect("it runs");
    let error = run.output::<f32>("end").expect_err("it was not kept");
    assert_eq!(
        error.to_string(),
        "the results of each agent were not kept, and output `end` is one of them"
    );
    assert_eq!(error.code(), "E0716");
    assert!(error.help().is_some_and(|help| help.contains("statistics")));
    assert!(matches!(
        run.shape("end"),
        Err(Error::OutputsNotKept { .. })
    ));
    assert!(matches!(
        run.steps().err(),
        Some(Error::OutputsNotKept { .. })
    ));
    assert!(matches!(
        run.stopped().err(),
        Some(Error::OutputsNotKept { .. })
    ));
    for unknown in [
        run.output::<f32>("edn").err(),
        run.statistics("edn").err(),
        run.shape("edn").err(),
    ] {
        let help = unknown.and_then(|error| error.help());
        assert_eq!(help.as_deref(), Some("did you mean `end`?"));
    }
}

#[test]
fn wrong_step_counts_are_found_out_on_the_device() {
    let mut wrong = artifact(None);
    wrong.own_kernel =
        Some(KERNEL.replace("steps_run += 1u;", "steps_run += u32(t != 50 || i < 3u);"));
    let (Some(all), Some(few)) = (walk_with(1000, wrong.clone()), walk_with(1000, wrong)) else {
        return;
    };
    let all = all.run().expect_err("steps are missing").to_string();
    let few = reduced(few)
        .run()
        .expect_err("steps are missing")
        .to_string();
    assert!(all.contains("agent 3 ran 99 steps instead of 100"), "{all}");
    assert_eq!(few, all);
}

#[test]
fn loops_that_are_cut_short_are_run_again() {
    let cut = |artifact| -> Option<Simulation> {
        let simulation = walk_with(100, artifact)?;
        Some(simulation.param("turns", 1500).expect("legal"))
    };
    // The iterations per step of one model are unknown, so its dispatches are found by trial.
    let (Some(all), Some(few)) = (cut(artifact(Some(1500))), cut(artifact(None))) else {
        return;
    };
    let few = reduced(few).run().expect("it runs");
    same(&few, &all.run().expect("it runs"));
}
