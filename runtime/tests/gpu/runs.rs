//! Runs: results, splits, cancellation, and faulty kernels and drivers.

use crate::walk::{KERNEL, ROWS, artifact, expected, same, starts, walk, walk_with};
use sim_runtime::{
    AdapterKind, Control, Device, Error, Simulation, Timing, Tuning, Values, adapters,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

fn tuned(simulation: Simulation, chunk: Option<u32>, steps: Option<u32>) -> Simulation {
    simulation.tuning(Tuning {
        max_agents_per_chunk: chunk,
        steps_per_dispatch: steps,
        ..Tuning::default()
    })
}

#[test]
fn results_come_back_by_name_type_and_shape() {
    let Some(simulation) = walk(1000) else { return };
    let run = simulation.run().expect("the walk runs");
    let end: &[f32] = run.output("end").expect("end is an f32");
    let trail: &[f32] = run.output("trail").expect("trail is a vec3");
    let who: &[i32] = run.output("who").expect("who is an i32");
    let high: &[bool] = run.output("high").expect("high is a bool");
    let x: &[f32] = run.state("x").expect("x is a state");
    assert_eq!(run.shape("trail").expect("known"), [1000, 3]);
    assert_eq!(run.shape("x").expect("known"), [1000]);
    let (steps, stopped): (Vec<_>, Vec<_>) = (
        run.steps().expect("all is kept").collect(),
        run.stopped().expect("all is kept").collect(),
    );
    for agent in 0..1000_u32 {
        let i = agent as usize;
        let start = agent as f32 * 0.125;
        let (value, count, stop) = expected(agent, start, 100);
        // The driver's compiler may contract a * b + c, unlike the host.
        assert!((end[i] - value).abs() < 1e-3, "{agent}: {} {value}", end[i]);
        assert_eq!(trail[3 * i..3 * i + 3], [end[i], -end[i], start]);
        assert_eq!(
            (who[i], high[i], x[i]),
            (agent as i32, end[i] > 50.0, end[i])
        );
        assert_eq!((steps[i], stopped[i]), (count, stop));
    }
    assert!(stopped.contains(&true) && stopped.contains(&false));
    let report = run.report();
    assert!(matches!(report.backend, Device::Gpu(_)) && report.chunks == 1);
    assert_eq!((report.agents, report.steps, report.seed), (1000, 100, 0));
}

#[test]
fn neither_split_steps_nor_chunks_nor_a_second_run_change_a_bit() {
    let Some(simulation) = walk(1000) else { return };
    let whole = simulation.run().expect("the walk runs");
    same(&whole, &simulation.run().expect("it runs again"));
    for (chunk, steps) in [
        (None, Some(1)),
        (None, Some(7)),
        (Some(100), None),
        (Some(1), Some(50)),
        (Some(333), Some(64)),
    ] {
        let Some(simulation) = walk(1000) else { return };
        let simulation = tuned(simulation, chunk, steps);
        let run = simulation.run().expect("the walk runs");
        same(&whole, &run);
        same(&whole, &simulation.run().expect("it runs again"));
        if let Some(steps) = steps {
            let per_chunk = u64::from(100_u32.div_ceil(steps));
            assert!(run.report().dispatches >= per_chunk * u64::from(run.report().chunks));
        }
        if let Some(chunk) = chunk {
            assert!(run.report().chunks >= 1000 / chunk);
        }
    }
}

#[test]
fn a_part_of_a_population_runs_as_in_the_whole() {
    let Some(simulation) = walk(1000) else { return };
    let whole = simulation.run().expect("the walk runs");
    let Some(part) = walk(300) else { return };
    let part = part
        .first_agent(600)
        .population(1000)
        .input("start", starts(300, 600))
        .expect("legal")
        .run()
        .expect("the part runs");
    let (all, some) = (whole.output::<f32>("end"), part.output::<f32>("end"));
    assert_eq!(all.expect("known")[600..900], *some.expect("known"));
    let who = part.output::<i32>("who").expect("known");
    assert_eq!(who, (600..900).collect::<Vec<_>>());
}

#[test]
fn values_can_change_between_runs() {
    let Some(mut simulation) = walk(10) else {
        return;
    };
    let before = simulation.run().expect("the walk runs");
    simulation
        .set_param("offsets", [0.0, 1.0, 0.0, 0.0])
        .expect("legal");
    simulation.set_param("drift", 0.5).expect("legal");
    let after = simulation.run().expect("the walk runs");
    let moved = after.output::<f32>("end").expect("known")[0]
        - before.output::<f32>("end").expect("known")[0];
    assert!((moved - 1.0 - 100.0 * 0.49).abs() < 1e-3, "{moved}");
    simulation
        .set_data("table", vec![0.0_f32; 2 * ROWS])
        .expect("legal");
    simulation
        .set_input("start", 5.0)
        .expect("one number for all");
    let flat = simulation.steps(0).run().expect("no step is a run too");
    assert_eq!(flat.output::<f32>("end").expect("known"), [6.0; 10]);
}

/// Commands are recorded for the next run while one is computed. Whatever the next one asks for, its results
/// are those of a new session.
#[test]
fn a_run_gives_what_it_asks_for_whatever_ran_before() {
    let Some(mut simulation) = walk(100).map(|it| it.steps(50)) else {
        return;
    };
    let clocked = Control {
        timing: Some(Timing::ONCE),
        ..Control::default()
    };
    type Change = fn(Simulation) -> Simulation;
    let changes: [Change; 9] = [
        |it| it,
        |it| it.seed(7),
        |it| it.param("drift", 0.5).expect("legal"),
        |it| it.input("start", 2.0).expect("legal"),
        |it| it.keep_states(false),
        |it| it.agents(40),
        |it| it.steps(20),
        |it| it.keep_states(true).agents(130),
        |it| it.data("table", vec![0.5_f32; 2 * ROWS]).expect("legal"),
    ];
    for done in 1..=changes.len() {
        simulation = changes[done - 1](simulation);
        let fresh = walk(100).expect("there was an adapter").steps(50);
        let fresh = changes[..done].iter().fold(fresh, |it, change| change(it));
        let alone = fresh.run().expect("the walk runs");
        // Each twice, so that the second run finds the buffers of the first.
        for control in [&Control::default(), &clocked, &Control::default(), &clocked] {
            same(
                &alone,
                &simulation.run_with(control).expect("the walk runs"),
            );
        }
    }
}

#[test]
fn drivers_that_cut_loops_short_are_outrun() {
    // 64 steps of 1,500 iterations exceed what a software driver runs in the first dispatch.
    let Some(unknown) = walk(100) else { return };
    let unknown = unknown.param("turns", 1500).expect("legal");
    let run = unknown.run().expect("shorter dispatches were found");
    let wheel = (0..150_000_u32).fold(0_u32, |wheel, _| {
        wheel.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    });
    assert_eq!(run.output::<u32>("wheel").expect("known")[0], wheel);
    assert!(run.steps().expect("all is kept").all(|steps| steps == 100));
    if adapters()[0].name.contains("llvmpipe") {
        let (tried, done) = (100_u64.div_ceil(64), 100_u64.div_ceil(16));
        let first = run.report().dispatches;
        assert!(first >= tried + done, "it started over: {first} dispatches");
        let again = unknown.run().expect("it runs again").report().dispatches;
        assert!(
            (done..tried + done).contains(&again),
            "what was learnt is kept: {again}"
        );
    }
    let Some(known) = walk_with(100, artifact(Some(1500))) else {
        return;
    };
    let known = known.param("turns", 1500).expect("legal");
    same(
        &run,
        &known.run().expect("the manifest bounds the dispatches"),
    );
}

#[test]
fn two_dispatches_that_were_cut_short_are_shortened_once() {
    // A software driver can run only one step per dispatch, and two chunks are in flight.
    let source = "agents 64 steps 12 input n = 30000 state x = 0u
        step { let most = n for i in 0..most { x = x * 3u + 1u } }
        output z = x";
    if !sim_tests::launch::has_gpu() {
        return;
    }
    let run = |chunk: Option<u32>| {
        let simulation = Simulation::compile(source).expect("a legal model");
        let simulation = tuned(simulation.backend(sim_runtime::Backend::Gpu), chunk, None);
        simulation.run().expect("shorter dispatches were found")
    };
    let z = (0..360_000_u32).fold(0_u32, |x, _| x.wrapping_mul(3).wrapping_add(1));
    for chunk in [None, Some(32), Some(16)] {
        assert_eq!(run(chunk).output::<u32>("z").expect("known"), [z; 64]);
    }
}

#[test]
fn more_workgroups_than_one_dimension_holds() {
    let mut tiny = artifact(None);
    tiny.own_kernel = Some(
        KERNEL
            .replace("@workgroup_size(64)", "@workgroup_size(1)")
            .replace("groups.x * 64u", "groups.x"),
    );
    tiny.manifest.workgroup_size = 1;
    let agents = 65_535 + 4_466;
    let (Some(one), Some(two)) = (walk(agents), walk_with(agents, tiny)) else {
        return;
    };
    let (one, two) = (one.steps(3).run(), two.steps(3).run());
    same(
        &one.expect("it runs"),
        &two.expect("it runs in two dimensions"),
    );
}

#[test]
fn a_step_too_long_for_a_driver_is_an_error() {
    let Some(simulation) = walk_with(8, artifact(None)) else {
        return;
    };
    let simulation = simulation.steps(2).param("turns", 70_000).expect("legal");
    match simulation.run() {
        // Only adapters that cut loops short may fail.
        Err(Error::LoopCutShort { agent: 0, .. }) => {
            assert!(adapters()[0].kind == AdapterKind::Software);
        }
        Err(other) => panic!("{other}"),
        Ok(run) => assert!(run.steps().expect("all is kept").all(|steps| steps == 2)),
    }
}

#[test]
fn a_kernel_that_skips_steps_is_found_out() {
    let mut wrong = artifact(None);
    wrong.own_kernel = Some(KERNEL.replace("steps_run += 1u;", "steps_run += u32(t != 50);"));
    let Some(simulation) = walk_with(4, wrong) else {
        return;
    };
    match simulation.run() {
        Err(Error::WrongStepCount {
            expected, found, ..
        }) => {
            assert_eq!((expected, found), (100, 99));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_invalid_kernel_is_our_bug_and_no_panic() {
    let mut wrong = artifact(None);
    wrong.own_kernel = Some(KERNEL.replace("let start = ", "let start: i32 = "));
    let Some(simulation) = walk_with(4, wrong) else {
        return;
    };
    match simulation.run() {
        Err(error @ Error::KernelRefused { .. }) => {
            assert_eq!(error.code(), "E0805");
            assert!(error.help().is_some_and(|help| help.contains("report")));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_shader_compilers_checks_reach_the_device() {
    let mut unguarded = artifact(None);
    unguarded.own_kernel = Some(KERNEL.replace(
        "wheel = wheel * 1664525u + 1013904223u;",
        "wheel = 17u / u32(run.offsets[0].x);",
    ));
    let Some(simulation) = walk_with(4, unguarded) else {
        return;
    };
    // The offsets are 0. Only run with checks: without them, a division by 0 depends on the device.
    let run = simulation.tuning(Tuning {
        checks: Some(true),
        ..Tuning::default()
    });
    let run = run.run().expect("the walk runs");
    let wheel = run.output::<u32>("wheel").expect("known");
    assert_eq!(wheel, [17; 4], "WGSL's x / 0 is x");
}

#[test]
fn a_run_can_be_watched_and_cancelled() {
    let Some(simulation) = walk(100) else { return };
    let simulation = tuned(simulation, Some(10), Some(1));
    let furthest = AtomicU64::new(0);
    let cancel = AtomicBool::new(false);
    let watch = |done: u64, total: u64| {
        assert_eq!(total, 100 * 100);
        furthest.fetch_max(done, Ordering::Relaxed);
    };
    let control = Control {
        cancel: Some(&cancel),
        progress: Some(&watch),
        ..Control::default()
    };
    simulation.run_with(&control).expect("nobody cancels");
    assert_eq!(furthest.load(Ordering::Relaxed), 100 * 100);
    let stop_at_once = |_: u64, _: u64| cancel.store(true, Ordering::Relaxed);
    let control = Control {
        progress: Some(&stop_at_once),
        ..control
    };
    assert!(matches!(
        simulation.run_with(&control),
        Err(Error::Cancelled)
    ));
    simulation.run().expect("a cancelled simulation runs again");
}

#[test]
fn states_may_stay_on_the_device() {
    let Some(simulation) = walk(10) else { return };
    let run = simulation.keep_states(false).run().expect("the walk runs");
    assert!(matches!(
        run.state::<f32>("x"),
        Err(Error::StatesNotKept { .. })
    ));
    assert!(matches!(
        run.state::<f32>("y"),
        Err(Error::UnknownName { .. })
    ));
    assert!(run.states().is_empty());
    assert_eq!(run.output::<f32>("end").expect("known").len(), 10);
}

#[test]
fn an_unknown_adapter_is_named() {
    let Some(simulation) = walk(10) else { return };
    match simulation.adapter("no such adapter").run() {
        Err(Error::NoAdapter { wanted, found }) => {
            assert_eq!(wanted.as_deref(), Some("no such adapter"));
            assert_eq!(found.len(), adapters().len());
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn wrong_result_types_are_refused() {
    let Some(simulation) = walk(10) else { return };
    let run = simulation.run().expect("the walk runs");
    let error = run.output::<i32>("end").expect_err("it is an f32");
    assert_eq!(error.to_string(), "output `end` holds f32, not i32");
    let error = run.output::<f32>("edn").expect_err("no such output");
    assert_eq!(error.help().as_deref(), Some("did you mean `end`?"));
    assert!(matches!(run.outputs()[3].values, Values::Bool(_)));
    assert_eq!(run.steps().expect("all is kept").len(), 10);
}
