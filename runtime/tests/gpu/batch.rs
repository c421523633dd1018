//! Batches: each run gives the same results as alone.

use crate::walk::same;
use sim_runtime::{Array, Backend, Control, Error, Run, Simulation, Timing, Tuning, Variation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::has_gpu,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// An agent with an input that may be given or drawn, a table, and draws.
const MODEL: &str = "
agents 700
steps 40
param drift = 0.5
data tide: [f32; 40]
input scale = 1.0 + 0.001 * f32(agent) * drift
START
state x = start
state low = start
output end = x
output least = low
step t {
    x += scale * drift * tide[t] + normal()
    low = min(low, x)
    if x > 400.0 { stop }
}
";

/// The same model with inputs that are drawn or computed.
fn simulation_with(backend: Backend, drawn: bool) -> Simulation {
    let start = match drawn {
        true => "input start ~ uniform(0.0, drift)",
        false => "input start = 10.0 * sin(f32(agent))",
    };
    let tide: Vec<f32> = (0..40).map(|t| (t as f32 * 0.3).sin()).collect();
    let simulation =
        Simulation::compile(&MODEL.replace("START", start)).expect("the model compiles");
    simulation
        .backend(backend)
        .data("tide", tide)
        .expect("the table fits")
}

fn simulation(backend: Backend) -> Simulation {
    simulation_with(backend, true)
}

fn backends() -> Vec<Backend> {
    let mut backends = vec![Backend::Cpu, Backend::Reference];
    backends.extend(has_gpu().then_some(Backend::Gpu));
    backends
}

fn starts(k: u32) -> Array {
    let starts: Vec<f32> = (0..700).map(|i| (i * (k + 3) % 17) as f32).collect();
    starts.into()
}

/// Variations of every kind, including none.
fn variations() -> Vec<Variation> {
    (0..25)
        .map(|k| {
            let mut variation = Variation::new();
            if k % 5 > 0 {
                variation = variation.seed(u64::from(k));
            }
            if k % 3 == 1 {
                variation = variation.param("drift", 0.1 * k as f32);
            }
            match k % 7 {
                6 => variation.input("start", starts(k)),
                _ => variation,
            }
        })
        .collect()
}

/// Where the input comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Start {
    Given,
    Drawn,
    Computed,
}

/// The same runs, each with a simulation of its own.
fn alone(backend: Backend, tuning: Tuning, number: u32, start: Start) -> Run {
    let mut simulation = simulation_with(backend, start == Start::Drawn).tuning(tuning);
    if start == Start::Given {
        simulation = simulation.input("start", starts(99)).expect("it fits");
    }
    if !number.is_multiple_of(5) {
        simulation = simulation.seed(number.into());
    }
    if number % 3 == 1 {
        simulation = simulation
            .param("drift", 0.1 * number as f32)
            .expect("it is a param");
    }
    if number % 7 == 6 {
        simulation = simulation
            .input("start", starts(number))
            .expect("it is an input");
    }
    simulation.run().expect("it runs")
}

#[test]
fn each_run_of_a_batch_gives_what_it_gives_alone() {
    let tunings = [
        Tuning::default(),
        Tuning {
            max_agents_per_chunk: Some(300),
            ..Tuning::default()
        },
        Tuning {
            steps_per_dispatch: Some(7),
            step_table: Some(true),
            ..Tuning::default()
        },
    ];
    for backend in backends() {
        for (which, tuning) in tunings.into_iter().enumerate() {
            if which > 0 && backend != Backend::Gpu {
                continue;
            }
            for start in [Start::Given, Start::Drawn, Start::Computed] {
                let mut batch = simulation_with(backend, start == Start::Drawn).tuning(tuning);
                if start == Start::Given {
                    batch = batch.input("start", starts(99)).expect("it fits");
                }
                let variations = variations();
                // The second time everything is allocated, and runs share submissions from the start.
                for round in 0..2 {
                    let runs = batch.run_batch(&variations).expect("the batch runs");
                    assert_eq!(runs.len(), variations.len());
                    for (number, run) in (0..).zip(&runs) {
                        let alone = alone(backend, tuning, number, start);
                        let what = format!("{backend:?}, {tuning:?}, {start:?}, {round}, {number}");
                        let held = compare(run, &alone, Tolerance::Bits);
                        assert_eq!(held, Ok(()), "{what}");
                        assert_eq!(run.report().seed, alone.report().seed, "{what}");
                        assert_eq!(run.report().chunks, alone.report().chunks, "{what}");
                    }
                }
                // A run after a batch is not affected by its variations.
                same(
                    &alone(backend, tuning, 0, start),
                    &batch.run().expect("it runs"),
                );
            }
        }
    }
}

#[test]
fn runs_of_a_batch_share_submissions_once_their_time_is_known() {
    if !has_gpu() {
        return;
    }
    let simulation = simulation(Backend::Gpu)
        .input("start", starts(1))
        .expect("it fits");
    simulation.run().expect("it runs");
    let seeds: Vec<Variation> = (0..32).map(|k| Variation::new().seed(k)).collect();
    let clock = Control {
        timing: Some(Timing::ONCE),
        ..Control::default()
    };
    let mut runs = Vec::new();
    let result = simulation.run_each(&seeds, &clock, |_, run| runs.push(run));
    result.expect("the batch runs");
    let told = |of: fn(&Run) -> u64| runs.iter().map(of).sum::<u64>();
    assert!(told(|run| run.report().telemetry.submissions) < 32);
    // Only seeds are uploaded: the inputs and the table are on the device.
    assert!(told(|run| run.report().telemetry.bytes_up) < 32 * 4096);
    assert!(told(|run| run.report().telemetry.bytes_down) >= 32 * 700 * 3 * 4);
    let seconds = |run: &Run| run.report().telemetry.gpu_seconds;
    if seconds(&runs[0]).is_some() {
        assert!(runs.iter().all(|run| seconds(run) > Some(0.0)));
    }
}

#[test]
fn what_was_handed_over_before_an_error_stays() {
    for backend in backends() {
        let simulation = simulation(backend);
        let mut variations = vec![Variation::new(); 6];
        variations[4] = Variation::new().param("drift", f32::NAN);
        let mut done = Vec::new();
        let result = simulation.run_each(&variations, &Control::default(), |number, run| {
            done.push((number, run));
        });
        assert!(
            matches!(result, Err(Error::NotANumber { .. })),
            "{result:?}"
        );
        assert_eq!(done.len(), 4, "those before the wrong one");
        let alone = simulation.run().expect("it still runs");
        for (at, (number, run)) in done.iter().enumerate() {
            assert_eq!(at, *number);
            same(&alone, run);
        }
        for wrong in [
            Variation::new().param("x", 1.0),
            Variation::new().input("y", 1.0),
        ] {
            let result = simulation.run_batch(&[wrong]);
            assert!(
                matches!(result, Err(Error::UnknownName { .. })),
                "{result:?}"
            );
        }
        assert!(
            simulation
                .run_batch(&[])
                .expect("nothing is no error")
                .is_empty()
        );
    }
}

#[test]
fn a_batch_can_be_watched_and_cancelled_and_run_again() {
    for backend in backends() {
        let simulation = simulation(backend);
        let cancel = AtomicBool::new(false);
        let last = std::sync::atomic::AtomicU64::new(0);
        let progress = |done: u64, total: u64| {
            assert!(done <= total && total == 30 * 700 * 40, "{done} of {total}");
            last.fetch_max(done, Ordering::Relaxed);
        };
        let control = Control {
            cancel: Some(&cancel),
            progress: Some(&progress),
            ..Control::default()
        };
        let variations: Vec<Variation> = (0..30).map(|k| Variation::new().seed(k)).collect();
        let mut done = 0;
        let result = simulation.run_each(&variations, &control, |_, _| {
            done += 1;
            cancel.store(done >= 3, Ordering::Relaxed);
        });
        assert!(
            matches!(result, Err(Error::Cancelled)),
            "{backend:?}: {result:?}"
        );
        assert!((3..30).contains(&done), "{done}");
        cancel.store(false, Ordering::Relaxed);
        let mut count = 0;
        let result = simulation.run_each(&variations, &control, |_, _| count += 1);
        assert!(result.is_ok() && count == 30, "{backend:?}: {result:?}");
        assert_eq!(last.load(Ordering::Relaxed), 30 * 700 * 40);
    }
}

#[test]
fn runs_may_be_started_from_anywhere() {
    for backend in [Backend::Cpu, Backend::Gpu] {
        if backend == Backend::Gpu && !has_gpu() {
            continue;
        }
        let simulation = std::sync::Arc::new(simulation(backend));
        let expected = simulation.run().expect("it runs");
        // In a callback of another run of the same simulation.
        let mut inner = None;
        let outer = simulation.run_each(&[Variation::new()], &Control::default(), |_, _| {
            inner = Some(simulation.run().expect("it runs within"));
        });
        outer.expect("it runs");
        same(&expected, &inner.expect("it ran"));
        // On threads of rayon's pool, which run other work while they wait, and on other threads.
        let count = if backend == Backend::Cpu { 64 } else { 4 };
        let (sender, receiver) = std::sync::mpsc::channel();
        for number in 0..2 * count {
            let (simulation, sender) = (simulation.clone(), sender.clone());
            let run = move || {
                let run = simulation.run().expect("it runs");
                sender.send(run).expect("the test waits");
            };
            match number % 2 {
                0 => rayon::spawn(run),
                _ => drop(std::thread::spawn(run)),
            }
        }
        drop(sender);
        let results: Vec<_> = receiver.iter().collect();
        assert_eq!(results.len(), 2 * count);
        for run in &results {
            same(&expected, run);
        }
    }
}

#[test]
fn a_wrong_value_costs_no_device() {
    if !has_gpu() {
        return;
    }
    let simulation = simulation(Backend::Gpu);
    simulation.run().expect("it runs");
    let wrong = Variation::new().param("drift", f32::NAN);
    assert!(simulation.run_batch(&[Variation::new(), wrong]).is_err());
    let run = simulation.run().expect("it still runs");
    assert_eq!(run.report().telemetry.device_seconds, 0.0);
}

#[test]
fn runs_are_handed_over_in_order_though_some_take_longer() {
    if !has_gpu() {
        return;
    }
    // A software adapter cuts the loops of the slow runs short, so that they start again while others
    // continue.
    let simulation = Simulation::compile(
        "agents 10\nsteps 64\nparam rounds = 1\nstate n = 0\n\
         step {\n    for i in 0..rounds { n += 1 + i % 2 * (n % 2) }\n}\noutput n\n",
    );
    let simulation = simulation.expect("it compiles").backend(Backend::Gpu);
    let rounds = [3000, 1, 2, 1, 4000, 1, 1, 3000];
    let variations = rounds.map(|rounds| Variation::new().param("rounds", rounds));
    let mut handed = Vec::new();
    let result = simulation.run_each(&variations, &Control::default(), |number, run| {
        handed.push((number, run.output::<i32>("n").expect("it is an i32")[0]));
    });
    result.expect("it runs");
    let cpu = simulation.backend(Backend::Cpu);
    let alone = cpu.run_batch(&variations).expect("it runs");
    let alone = alone
        .iter()
        .map(|run| run.output::<i32>("n").expect("it is an i32")[0]);
    let expected: Vec<(usize, i32)> = alone.enumerate().collect();
    assert_eq!(handed, expected);
}
