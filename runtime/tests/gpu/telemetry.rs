//! The telemetry of runs, and the pipeline cache.

use crate::walk::{same, walk};
use sim_runtime::{CacheUse, Control, Simulation, Telemetry, Timing, Tuning, Variation};
use std::{
    fs,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

/// Bytes of the walk's step count and outputs for one agent.
const BYTES_DOWN: u64 = 4 * (1 + 7);

fn run(simulation: &Simulation) -> Telemetry {
    simulation.run().expect("the walk runs").report().telemetry
}

#[test]
fn bytes_and_submissions_are_counted() {
    let Some(simulation) = walk(1000) else { return };
    let simulation = simulation.keep_states(false);
    let first = run(&simulation);
    let inputs = 4 * 4 * 1000;
    let table = 4 * 2 * 400;
    assert!(first.bytes_up > inputs + table, "{first:?}");
    assert!(first.bytes_down >= BYTES_DOWN * 1000, "{first:?}");
    assert!(first.submissions >= 1);
    assert!(first.device_seconds > 0.0 && first.pipeline_seconds > 0.0);
    assert!(first.wait_seconds > 0.0 && first.wait_seconds < first.total_seconds);
    // The first run has measured that the steps fit one submission.
    let warm = run(&simulation);
    assert_eq!(warm.submissions, 1);
    assert!(warm.bytes_up <= 4096, "params at most: {warm:?}");
    assert_eq!(warm.device_seconds + warm.pipeline_seconds, 0.0);
    let again = run(&simulation);
    assert_eq!(again.bytes_up, 0, "all is there: {again:?}");
    assert_eq!(again.bytes_down, warm.bytes_down);
    // Another seed changes only params: the inputs are given, not drawn.
    let reseeded = simulation.run_batch(&[Variation::new().seed(5)]);
    let reseeded = reseeded.expect("the walk runs")[0].report().telemetry;
    assert!((1..=4096).contains(&reseeded.bytes_up), "{reseeded:?}");
}

#[test]
fn states_are_read_only_where_they_are_kept() {
    let (Some(with), Some(without)) = (walk(100), walk(100)) else {
        return;
    };
    let (with, without) = (run(&with), run(&without.keep_states(false)));
    // Bindings are aligned to 256 bytes, so there can be padding between outputs and states.
    let states = with.bytes_down - without.bytes_down;
    assert!(
        (4 * 2 * 100..4 * 2 * 100 + 256).contains(&states),
        "{states}"
    );
}

#[test]
fn the_clock_of_the_device_counts_every_submission() {
    let Some(simulation) = walk(5000) else { return };
    let simulation = simulation.tuning(Tuning {
        max_agents_per_chunk: Some(1000),
        steps_per_dispatch: Some(10),
        ..Tuning::default()
    });
    let clocked = Control {
        timing: Some(Timing::ONCE),
        ..Control::default()
    };
    let told = simulation.run_with(&clocked).expect("the walk runs");
    let told = told.report().telemetry;
    assert!(told.submissions >= 5, "one a chunk");
    if let Some(seconds) = told.gpu_seconds {
        assert!(seconds > 0.0 && seconds <= told.total_seconds, "{told:?}");
    }
    assert_eq!(run(&simulation).gpu_seconds, None, "nobody asked");
}

#[test]
fn a_run_can_be_repeated_on_the_device() {
    let Some(simulation) = walk(100).map(|it| it.steps(50)) else {
        return;
    };
    let clocked = Control {
        timing: Some(Timing::ONCE),
        ..Control::default()
    };
    // The first runs are split, until their time is known.
    for _ in 0..4 {
        run(&simulation);
    }
    let once = simulation.run_with(&clocked).expect("the walk runs");
    if once.report().telemetry.gpu_seconds.is_none() {
        return;
    }
    let often = Control {
        timing: Some(Timing { repeats: 7 }),
        ..clocked
    };
    let often = simulation.run_with(&often).expect("the walk runs");
    same(&once, &often);
    let (first, told) = (once.report(), often.report());
    assert_eq!((first.dispatches, told.dispatches), (1, 7));
    assert_eq!(told.telemetry.submissions, 1);
    let seconds = told.telemetry.gpu_seconds.expect("there is a clock");
    assert!(
        seconds > 0.0 && 7.0 * seconds <= told.telemetry.total_seconds,
        "{told:?}"
    );
}

/// A directory that is removed after the test.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Directory {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("sim-cache-{}-{number}", std::process::id());
        Directory(std::env::temp_dir().join(name))
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.0).into_iter().flatten();
        entries
            .map(|entry| entry.expect("readable").path())
            .collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // It may not exist.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn pipelines_are_kept_on_disk() {
    let directory = Directory::new();
    let start = || walk(64).map(|it| it.pipeline_cache(Some(directory.0.join("below"))));
    let Some(simulation) = start() else { return };
    let first = simulation.run().expect("the walk runs");
    let below = directory.0.join("below");
    match first.report().telemetry.pipeline_cache {
        // This driver has no pipeline cache.
        None => assert!(directory.files().is_empty()),
        Some(found) => {
            assert_eq!(found, CacheUse::Miss);
            let files: Vec<_> = fs::read_dir(&below).expect("it was made").collect();
            assert_eq!(files.len(), 1, "one file, and nothing half-written");
            let path = files[0].as_ref().expect("readable").path();
            let again = start()
                .expect("there is an adapter")
                .run()
                .expect("it runs");
            same(&first, &again);
            assert_eq!(again.report().telemetry.pipeline_cache, Some(CacheUse::Hit));
            let checked = || {
                let simulation = start().expect("there is an adapter");
                let run = simulation.tuning(Tuning {
                    checks: Some(true),
                    ..Tuning::default()
                });
                let run = run.run().expect("it runs");
                same(&first, &run);
                run.report().telemetry.pipeline_cache
            };
            assert_eq!(checked(), Some(CacheUse::Miss), "the text is not all");
            assert_eq!(checked(), Some(CacheUse::Hit));
            fs::write(&path, b"simpipe1 and nonsense").expect("writable");
            let broken = start()
                .expect("there is an adapter")
                .run()
                .expect("it runs");
            same(&first, &broken);
            assert_eq!(
                broken.report().telemetry.pipeline_cache,
                Some(CacheUse::Miss)
            );
            let mended = run(&start().expect("there is an adapter"));
            assert_eq!(mended.pipeline_cache, Some(CacheUse::Hit));
        }
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_no_error() {
    let directory = Directory::new();
    fs::write(&directory.0, "a file where a directory should be").expect("writable");
    let Some(simulation) = walk(64) else { return };
    let simulation = simulation.pipeline_cache(Some(directory.0.clone()));
    let told = run(&simulation);
    assert_ne!(told.pipeline_cache, Some(CacheUse::Hit));
    fs::remove_file(&directory.0).expect("it is there");
}
