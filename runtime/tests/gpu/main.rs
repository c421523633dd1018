//! The GPU backend, driven through the public interface with a hand-written kernel.
//!
//! Where there is no adapter these tests say so and pass; with `SIM_REQUIRE_GPU=1` they fail.

use sim_compiler::{
    artifact::Artifact,
    ir::Program,
    manifest::{
        Counter, Data, Field, Input, Manifest, Param, Requirement, Scalar, Source, VERSION,
    },
    random::Generator,
};
use sim_runtime::{
    Array, Backend, Control, Device, Error, Role, Run, Simulation, Tuning, Values, adapters,
};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const KERNEL: &str = include_str!("walk/walk.wgsl");
const ROWS: usize = 400;

fn field(name: &str, scalar: Scalar, shape: &[u32], word: u32) -> Field {
    Field {
        name: name.to_owned(),
        doc: String::new(),
        scalar,
        shape: shape.to_vec(),
        components: 1,
        variants: Vec::new(),
        word,
    }
}

fn vector(field: Field, components: u32) -> Field {
    Field {
        components,
        ..field
    }
}

fn param(field: Field, default: u32, range: Option<[f64; 2]>) -> Param {
    Param {
        default: Some(vec![default; field.words() as usize]),
        field,
        range,
    }
}

fn manifest(inner_rounds: Option<u64>) -> Manifest {
    Manifest {
        version: VERSION,
        doc: String::new(),
        generator: Generator::default().name().to_owned(),
        agents: None,
        steps: Some(100),
        has_step: true,
        params: vec![
            param(
                field("drift", Scalar::F32, &[], 10),
                0.01_f32.to_bits(),
                Some([0.01, 2.0]),
            ),
            param(field("turns", Scalar::I32, &[], 11), 3, None),
            param(field("offsets", Scalar::F32, &[4], 12), 0, None),
        ],
        data: vec![Data {
            field: field("table", Scalar::F32, &[0, 2], 0),
            binding: 5,
            rows_word: Some(9),
        }],
        inputs: vec![Input {
            field: field("start", Scalar::F32, &[], 0),
            source: Source::Required,
        }],
        states: vec![
            field("x", Scalar::F32, &[], 0),
            field("wheel", Scalar::U32, &[], 1),
        ],
        outputs: vec![
            field("end", Scalar::F32, &[], 0),
            vector(field("trail", Scalar::F32, &[], 1), 3),
            field("who", Scalar::I32, &[], 4),
            field("high", Scalar::Bool, &[], 5),
            field("wheel", Scalar::U32, &[], 6),
        ],
        requirements: vec![Requirement {
            data: "table".to_owned(),
            counts: Counter::Step,
            offset: 0,
            span: [0, 0],
        }],
        uniform_words: 16,
        input_words: 4,
        state_words: 2,
        output_words: 7,
        workgroup_size: 64,
        inner_rounds,
    }
}

fn artifact(inner_rounds: Option<u64>) -> Artifact {
    Artifact {
        manifest: manifest(inner_rounds),
        program: Program::default(),
        wgsl: KERNEL.to_owned(),
        generator: Generator::default(),
    }
}

fn table() -> Vec<f32> {
    (0..2 * ROWS).map(|k| (k % 7) as f32 * 0.01).collect()
}

fn starts(agents: u32, first: u32) -> Vec<f32> {
    (first..first + agents)
        .map(|agent| agent as f32 * 0.125)
        .collect()
}

/// A walk of `agents` on the best adapter, or none where a machine has no adapter.
fn walk(agents: u32) -> Option<Simulation> {
    walk_with(agents, artifact(None))
}

fn walk_with(agents: u32, artifact: Artifact) -> Option<Simulation> {
    if adapters().is_empty() {
        let required = std::env::var("SIM_REQUIRE_GPU").is_ok_and(|value| value == "1");
        assert!(!required, "SIM_REQUIRE_GPU=1, but there is no adapter");
        eprintln!("SKIPPED: this machine has no adapter, not even a software one");
        return None;
    }
    Some(
        Simulation::from_artifact(artifact)
            .backend(Backend::Gpu)
            .agents(agents)
            .data("table", table())
            .and_then(|simulation| simulation.input("start", starts(agents, 0)))
            .expect("these are legal values"),
    )
}

/// The same walk on the host: end, steps run and whether it stopped.
fn expected(agent: u32, start: f32, steps: u32) -> (f32, u32, bool) {
    let table = table();
    let mut x = start;
    for t in 0..steps as usize {
        x += 0.01 + table[2 * t + 1] + 0.001 * agent as f32;
        if x > 100.0 {
            return (x, t as u32 + 1, true);
        }
    }
    (x, steps, false)
}

fn same(a: &Run, b: &Run) {
    let words = |run: &Run| -> Vec<Vec<u32>> {
        run.outputs()
            .iter()
            .chain(run.states())
            .map(|column| column.values.words())
            .collect()
    };
    assert_eq!(words(a), words(b));
    assert!(a.steps().eq(b.steps()) && a.stopped().eq(b.stopped()));
}

fn tuned(simulation: Simulation, chunk: Option<u32>, steps: Option<u32>) -> Simulation {
    simulation.tuning(Tuning {
        max_agents_per_chunk: chunk,
        steps_per_dispatch: steps,
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
    let (steps, stopped): (Vec<_>, Vec<_>) = (run.steps().collect(), run.stopped().collect());
    for agent in 0..1000_u32 {
        let i = agent as usize;
        let start = agent as f32 * 0.125;
        let (value, count, stop) = expected(agent, start, 100);
        // The compiler of the driver may contract a * b + c, which the host does not.
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

#[test]
fn drivers_that_cut_loops_short_are_outrun() {
    // 64 steps of 1,500 rounds are more than a software driver runs in the dispatch that is tried first.
    let Some(unknown) = walk(100) else { return };
    let unknown = unknown.param("turns", 1500).expect("legal");
    let run = unknown.run().expect("shorter dispatches were found");
    let wheel = (0..150_000_u32).fold(0_u32, |wheel, _| {
        wheel.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    });
    assert_eq!(run.output::<u32>("wheel").expect("known")[0], wheel);
    assert!(run.steps().all(|steps| steps == 100));
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
fn more_workgroups_than_one_dimension_holds() {
    let mut tiny = artifact(None);
    tiny.wgsl = KERNEL
        .replace("@workgroup_size(64)", "@workgroup_size(1)")
        .replace("groups.x * 64u", "groups.x");
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
            assert!(adapters()[0].kind == sim_runtime::AdapterKind::Software);
        }
        Err(other) => panic!("{other}"),
        Ok(run) => assert!(run.steps().all(|steps| steps == 2)),
    }
}

#[test]
fn a_kernel_that_skips_steps_is_found_out() {
    let mut wrong = artifact(None);
    wrong.wgsl = KERNEL.replace("steps_run += 1u;", "steps_run += u32(t != 50);");
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
    wrong.wgsl = KERNEL.replace("let start = ", "let start: i32 = ");
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

/// Launch errors need no adapter: they come before the device.
fn refused(change: impl FnOnce(Simulation) -> Result<Simulation, Error>) -> Error {
    let simulation = Simulation::from_artifact(artifact(None))
        .backend(Backend::Gpu)
        .agents(10)
        .data("table", table())
        .and_then(|simulation| simulation.input("start", starts(10, 0)))
        .expect("these are legal values");
    change(simulation)
        .and_then(|simulation| simulation.run().map(|_| ()))
        .expect_err("this launch is illegal")
}

#[test]
fn names_and_types_are_checked() {
    let error = refused(|it| it.param("drfit", 0.5));
    assert_eq!(error.to_string(), "the model has no param `drfit`");
    assert_eq!(error.help().as_deref(), Some("did you mean `drift`?"));
    assert!(error.explanation().contains("declare"));
    let error = refused(|it| it.param("turns", 0.5));
    assert_eq!(error.to_string(), "param `turns` holds i32, not f32");
    assert!(matches!(
        refused(|it| it.data("table", [true, false])),
        Error::WrongType {
            role: Role::Data,
            ..
        }
    ));
    assert!(matches!(
        refused(|it| it.input("begin", 0.0)),
        Error::UnknownName { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("turns", u32::MAX)),
        Error::NotRepresentable { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("drift", 1e300)),
        Error::NotRepresentable { .. }
    ));
}

#[test]
fn enums_take_their_variants_only() {
    let mut moods = artifact(None);
    let field = &mut moods.manifest.params[1].field;
    field.scalar = Scalar::U32;
    field.variants = vec!["Calm".to_owned(), "Cross".to_owned()];
    let set = |value: u32| Simulation::from_artifact(moods.clone()).param("turns", value);
    set(1).expect("1 is Cross");
    let error = set(2).expect_err("there is no third variant");
    assert_eq!(error.to_string(), "param `turns` has no variant number 2");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("`Calm`, `Cross`"))
    );
}

#[test]
fn params_stay_in_range() {
    let error = refused(|it| it.param("drift", 2.5));
    assert_eq!(
        error.to_string(),
        "param `drift` must lie in 0.01..2, but is 2.5"
    );
    assert!(matches!(
        refused(|it| it.param("drift", f32::NAN)),
        Error::NotANumber { .. }
    ));
    let Some(simulation) = walk(10) else { return };
    simulation
        .param("drift", 0.01)
        .expect("the end of the range, rounded to f32, is in it");
}

#[test]
fn shapes_are_checked_and_both_are_named() {
    let error = refused(|it| it.input("start", [1.0, 2.0]));
    assert_eq!(
        error.to_string(),
        "input `start` needs [10] of f32 (10 values), but was given 2 values of f32"
    );
    let error = refused(|it| it.data("table", [1.0; 801]));
    assert_eq!(
        error.to_string(),
        "data `table` needs [rows, 2] of f32, with at least one row, but was given 801 values of f32"
    );
    let words = vec![0_u32; 800];
    let shaped = |shape: &[u32]| Array::shaped(Scalar::F32, words.clone(), shape.to_vec());
    assert!(matches!(
        refused(|it| it.data("table", shaped(&[2, 400]))),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.data("table", shaped(&[401, 2]))),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.data("table", Vec::<f32>::new())),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("offsets", 1.0)),
        Error::WrongShape { .. }
    ));
}

#[test]
fn counts_and_requirements_are_checked() {
    assert!(matches!(
        refused(|it| Ok(it.agents(0))),
        Error::CountOutOfRange {
            what: "agents",
            value: 0,
            ..
        }
    ));
    assert!(matches!(
        refused(|it| Ok(it.steps(u32::MAX))),
        Error::CountOutOfRange { what: "steps", .. }
    ));
    assert!(matches!(
        refused(|it| Ok(it.first_agent(u32::MAX))),
        Error::CountOutOfRange {
            what: "population",
            ..
        }
    ));
    assert!(matches!(
        refused(|it| Ok(it.population(9))),
        Error::CountOutOfRange {
            what: "population",
            value: 9,
            least: 10,
            ..
        }
    ));
    let error = refused(|it| Ok(it.steps(401)));
    assert_eq!(
        error.to_string(),
        "the model reads row 400 of data `table`, which has 400 rows: the run has 401 steps"
    );
    let bare = || Simulation::from_artifact(artifact(None)).backend(Backend::Gpu);
    assert!(matches!(
        bare().run(),
        Err(Error::MissingCount { what: "agents" })
    ));
    assert!(matches!(
        bare().agents(1).run(),
        Err(Error::Missing {
            role: Role::Data,
            ..
        })
    ));
    let with_data = bare().agents(1).data("table", table()).expect("legal");
    assert!(matches!(
        with_data.run(),
        Err(Error::Missing {
            role: Role::Input,
            ..
        })
    ));
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
    assert_eq!(run.steps().len(), 10);
}
