//! Compiled models give the same results on the CPU and on the GPU, however a run is split.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

use sim_compiler::kernel::schedule::Decision;
use sim_runtime::{Backend, Calibration, Control, Device, Error, Isa, Run, Simulation, Tuning};
use sim_tests::{
    compare::{Tolerance, compare, words},
    launch::has_gpu,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Integers and exact arithmetic only, so that every backend must give the same bits: no division of floats.
const MODEL: &str = "
    agents 300
    steps  40

    enum Mood { Calm, Cross }
    struct Order { price: f32, size: f32 }

    param pull: f32 = 0.5 in 0.0..1.0
    param weights = [1.0, 2.0, 4.0]
    data  levels: [[f32; 3]]
    input order: Order = Order(1.0, 2.0)
    input luck: [i32; 2] ~ randint(0, 100)
    state level = 0.0
    state bits: u32 = 0u
    state mood = Mood.Calm

    step t {
        level = level * pull + levels[t][agent % 3] * weights[agent % 3]
        for k in 0..(agent % 5) {
            bits = bits * 3u + u32(randint(0, 1000)) + u32(k)
        }
        if bits % 7u == 3u { mood = Mood.Cross }
        if level > 90.0 { stop }
    }

    output level
    output pair = [order.price + level, order.size]
    output bits
    output chance = luck
    output cross = mood == Mood.Cross
    output share = f32(agent) + 0.25 * f32(agents)
";

fn levels() -> Vec<f32> {
    (0..40 * 3).map(|k| (k % 11) as f32 * 1.25).collect()
}

fn model() -> Simulation {
    Simulation::compile(MODEL)
        .unwrap_or_else(|error| match error {
            Error::Compile { diagnostics, .. } => panic!("{diagnostics:#?}"),
            other => panic!("{other}"),
        })
        .seed(11)
        .data("levels", levels())
        .expect("40 rows of 3")
}

fn same(a: &Run, b: &Run) {
    if let Err(difference) = compare(b, a, Tolerance::Bits) {
        panic!("{difference}");
    }
}

/// Debug builds fill memory that is used again with a value of their own: what is not overwritten has that.
#[test]
fn memory_of_earlier_results_is_overwritten() {
    let mut backends = vec![Backend::Cpu, Backend::Reference];
    backends.extend(has_gpu().then_some(Backend::Gpu));
    let mut all = Vec::new();
    for backend in backends {
        // So many that each output is kept.
        let simulation = model().agents(270_000).steps(4).backend(backend);
        let first = simulation.run().expect("it runs");
        drop(simulation.run().expect("it runs again"));
        let again = simulation
            .run()
            .expect("it runs in the memory of the second run");
        same(&first, &again);
        all.push(first);
    }
    all.windows(2).for_each(|pair| same(&pair[0], &pair[1]));
}

#[test]
fn both_backends_agree_to_the_bit_however_the_run_is_cut() {
    let cpu = model().backend(Backend::Cpu).run().expect("it runs");
    assert_eq!(cpu.report().backend, Device::Cpu(Isa::best()));
    same(
        &cpu,
        &model().backend(Backend::Reference).run().expect("it runs"),
    );
    if !has_gpu() {
        return;
    }
    let on_gpu = || model().backend(Backend::Gpu);
    same(&cpu, &on_gpu().run().expect("it runs"));
    for (max_agents_per_chunk, steps_per_dispatch) in [(Some(70), None), (None, Some(3))] {
        let cut = on_gpu().tuning(Tuning {
            max_agents_per_chunk,
            steps_per_dispatch,
            ..Tuning::default()
        });
        same(&cpu, &cut.run().expect("it runs in parts"));
    }
}

#[test]
fn the_shader_compilers_checks_change_no_bit_and_are_reported() {
    if !has_gpu() {
        return;
    }
    let said = |run: &Run| {
        let decisions = run.report().decisions.iter();
        decisions
            .filter(|it| it.what.contains("checks are on"))
            .count()
    };
    let simulation = model().backend(Backend::Gpu);
    let plain = simulation.run().expect("it runs");
    assert_eq!(said(&plain), 0);
    for (step_table, steps_per_dispatch) in [(None, None), (Some(true), Some(3))] {
        let simulation = model().backend(Backend::Gpu);
        same(&plain, &simulation.run().expect("it runs"));
        let checked = simulation.tuning(Tuning {
            step_table,
            steps_per_dispatch,
            checks: Some(true),
            ..Tuning::default()
        });
        let run = checked.run().expect("it runs with checks");
        same(&plain, &run);
        assert_eq!(said(&run), 1);
        let fewer = checked.steps(39).run().expect("its kernel is known");
        assert_eq!(said(&fewer), 1);
    }
}

#[test]
fn a_part_of_the_population_has_the_draws_of_the_whole() {
    let whole = model().backend(Backend::Cpu).run().expect("it runs");
    let part = |backend| {
        let part = model().backend(backend).agents(50).first_agent(100);
        part.population(300).run().expect("the part runs")
    };
    let cpu = part(Backend::Cpu);
    for (all, some) in [
        (whole.outputs(), cpu.outputs()),
        (whole.states(), cpu.states()),
    ] {
        assert_eq!(all.len(), some.len());
        for (all, some) in all.iter().zip(some) {
            let (name, width) = (&all.field.name, all.values.len() / 300);
            assert_eq!(*name, some.field.name);
            assert_eq!(words(all)[100 * width..150 * width], words(some), "{name}");
        }
    }
    if has_gpu() {
        same(&cpu, &part(Backend::Gpu));
    }
}

#[test]
fn inputs_come_from_the_caller_the_default_or_the_draw() {
    let run = model().backend(Backend::Cpu).run().expect("it runs");
    let pair = run.output::<f32>("pair").expect("two floats");
    assert_eq!(run.shape("pair").expect("known"), [300, 2]);
    assert!(pair.chunks(2).all(|pair| pair[1] == 2.0));
    let luck = run.output::<i32>("chance").expect("integers");
    assert!(luck.iter().all(|&luck| (0..100).contains(&luck)));
    assert!(luck.iter().any(|other| *other != luck[0]), "they are drawn");
    let again = model()
        .seed(12)
        .backend(Backend::Cpu)
        .run()
        .expect("it runs");
    assert_ne!(luck, again.output::<i32>("chance").expect("integers"));
    // One field of a struct alone may be given.
    let sizes: Vec<f32> = (0..300).map(|agent| agent as f32).collect();
    let given = model().input("order.size", &sizes).expect("a float");
    let given = given.backend(Backend::Cpu).run().expect("it runs");
    let pair = given.output::<f32>("pair").expect("two floats");
    let level = given.output::<f32>("level").expect("floats");
    for agent in 0..300 {
        assert_eq!(
            pair[2 * agent..2 * agent + 2],
            [1.0 + level[agent], sizes[agent]]
        );
    }
}

#[test]
fn the_cpu_can_be_watched_and_cancelled() {
    let last = std::sync::atomic::AtomicU64::new(0);
    let watch = |done: u64, total: u64| {
        assert_eq!(total, 300 * 40);
        last.store(done, Ordering::Relaxed);
    };
    let cancel = AtomicBool::new(false);
    let control = Control {
        cancel: Some(&cancel),
        progress: Some(&watch),
        ..Control::default()
    };
    let simulation = model().backend(Backend::Cpu);
    simulation.run_with(&control).expect("nobody cancels");
    assert_eq!(last.load(Ordering::Relaxed), 300 * 40);
    cancel.store(true, Ordering::Relaxed);
    assert!(matches!(
        simulation.run_with(&control),
        Err(Error::Cancelled)
    ));
}

#[test]
fn auto_takes_no_software_adapter() {
    let run = model().run().expect("it runs somewhere");
    match &run.report().backend {
        Device::Cpu(_) | Device::Reference => assert!(
            run.report().reason.contains("no GPU"),
            "{}",
            run.report().reason
        ),
        Device::Gpu(adapter) => assert!(adapter.kind.is_gpu()),
    }
}

#[test]
fn a_wrong_model_gives_diagnostics() {
    match Simulation::compile("agents 10 steps 10 output x = y") {
        Err(error @ Error::Compile { .. }) => {
            assert!(error.code().starts_with('E') && error.code() < "E0700");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_step_table_follows_the_launch() {
    if !has_gpu() {
        return;
    }
    const SHARED: &str = "
        param scale = 2.0
        data rows: [[f32; 4]]
        state x = 0.0
        step t {
            let row = rows[t]
            let total = (row[0] + row[1] + row[2] + row[3]) * scale
            x += total * f32(agent) + f32(t % 3)
        }
        output x
    ";
    let table =
        |salt: usize| -> Vec<f32> { (0..4 * 30).map(|k| ((k * salt) % 8) as f32).collect() };
    let start = |backend| {
        let tuning = Tuning {
            step_table: Some(true),
            max_agents_per_chunk: Some(70),
            steps_per_dispatch: Some(4),
            ..Tuning::default()
        };
        let simulation = Simulation::compile(SHARED).expect("a legal model");
        let simulation = simulation.backend(backend).agents(200).tuning(tuning);
        let simulation = simulation.steps(10).data("rows", table(1));
        simulation.expect("30 rows of 4")
    };
    let (mut cpu, mut device) = (start(Backend::Cpu), start(Backend::Gpu));
    let check = |cpu: &Simulation, device: &Simulation| {
        let run = device.run().expect("it runs");
        let has_table = |decision: &Decision| decision.what.starts_with("a step table");
        assert!(run.report().decisions.iter().any(has_table));
        same(&cpu.run().expect("it runs"), &run);
        same(&run, &device.run().expect("it runs again"));
    };
    check(&cpu, &device);
    for simulation in [&mut cpu, &mut device] {
        simulation.set_param("scale", 0.5).expect("legal");
    }
    check(&cpu, &device);
    for simulation in [&mut cpu, &mut device] {
        simulation.set_data("rows", table(3)).expect("legal");
    }
    check(&cpu, &device);
    // More steps need a longer table.
    (cpu, device) = (cpu.steps(30), device.steps(30));
    check(&cpu, &device);
}

/// A table of structs is stored as a table per field, each of which must have the rows that the model reads.
#[test]
fn rows_of_struct_tables_are_checked() {
    const QUOTES: &str = "
        agents 3
        steps 2
        struct Quote { price: f32, sizes: [f32; 2] }
        data quotes: [Quote]
        state total = 0.0
        step t { total += quotes[t].price }
        output total
        output far = quotes[6].sizes
    ";
    let simulation = Simulation::compile(QUOTES).expect("a legal model");
    let rows = |count: usize| {
        let simulation = Simulation::compile(QUOTES).expect("a legal model");
        let simulation = simulation.data("quotes.price", vec![1.0_f32; count]);
        let simulation = simulation.expect("rows of one value");
        let simulation = simulation.data("quotes.sizes", vec![2.0_f32; 2 * count]);
        simulation.expect("rows of two values").run()
    };
    let tables = simulation.manifest().requirements.iter();
    assert!(
        tables
            .clone()
            .any(|requirement| requirement.data == "quotes.price")
    );
    assert!(
        tables
            .clone()
            .any(|requirement| requirement.data == "quotes.sizes")
    );
    let refused = rows(6).expect_err("there is no row 6");
    assert_eq!(refused.code(), "E0711");
    let run = rows(7).expect("row 6 is there");
    assert_eq!(run.output::<f32>("far").expect("floats"), [2.0; 6]);
}

#[test]
fn auto_decides_anew_for_a_run_of_another_size() -> Result<(), Error> {
    const SHORT: &str = "the run takes less time than opening a GPU";
    let mut simulation = Simulation::compile(
        "agents 100\nsteps 10\nparam a = 1.0\nstate x = 0.0\nstep { x += a }\noutput x\n",
    )?
    .calibration(Calibration {
        gpu_open_seconds: 1e-3,
        ..Calibration::default()
    });
    let mut short = |agents: u32, a: f32| {
        simulation.set_agents(agents);
        simulation.set_param("a", a)?;
        let run = simulation.run()?;
        assert_eq!(run.output::<f32>("x")?[0], 10.0 * a);
        Ok::<_, Error>(run.report().reason == SHORT)
    };
    assert!(short(100, 1.0)?);
    assert!(short(100, 2.0)?);
    assert!(!short(2_000_000, 3.0)?);
    // What a longer run opened is there.
    assert!(!short(100, 4.0)?);
    Ok(())
}
