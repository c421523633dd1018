//! Runs in `f64`: against closed forms that `f32` misses, and what is refused.

use sim_runtime::{
    Array, Backend, Control, Device, Fit, Goal, GradientMode, Loss, Method, Options, RealType, Run,
    Scalar, Simulation, Snapshot, Values, Variation,
};
use sim_tests::compare::{Tolerance, compare};

/// The backends that run models in `f64`.
const BACKENDS: [Backend; 3] = [Backend::Reference, Backend::Cpu, Backend::Auto];

fn model(source: &str, real: RealType) -> Simulation {
    let options = Options {
        real,
        ..Options::default()
    };
    let compiled = Simulation::compile_with(source, options);
    compiled.unwrap_or_else(|error| panic!("{error}"))
}

fn double(source: &str, backend: Backend) -> Run {
    let run = model(source, RealType::F64).backend(backend).run();
    run.unwrap_or_else(|error| panic!("{error}"))
}

fn doubles<'a>(run: &'a Run, name: &str) -> &'a [f64] {
    run.output(name).unwrap_or_else(|error| panic!("{error}"))
}

/// A circle in 10^5 steps of Störmer and Verlet: `x(n) = cos(n a)` where `cos(a) = 1 - h²/2`. In `f32` the
/// rounding of each step adds up; in `f64` nine digits are left.
#[test]
fn a_long_run_keeps_its_digits() {
    let source = "agents 3 steps 100_000
        param h = 0.01
        state x = 1.0
        state before = 1.0 - 0.5 * h * h
        step { let next = (2.0 - h * h) * x - before  before = x  x = next }
        output place = x";
    let h = 0.01_f64;
    let exact = (100_000.0 * (1.0 - h * h / 2.0).acos()).cos();
    let single = model(source, RealType::F32).backend(Backend::Cpu).run();
    let single = f64::from(
        single
            .expect("it runs")
            .output::<f32>("place")
            .expect("it is there")[0],
    );
    println!("f32 is off by {:e}", single - exact);
    assert!((single - exact).abs() > 1e-3, "{single}, not {exact}");
    for backend in BACKENDS {
        let run = double(source, backend);
        let own = doubles(&run, "place");
        println!("{backend:?}: f64 is off by {:e}", own[0] - exact);
        assert!(
            (own[0] - exact).abs() < 1e-9,
            "{backend:?}: {own:?}, not {exact}"
        );
        assert_eq!(own.len(), 3);
    }
}

/// A stiff pair, 1 and 10^4 per unit of time, by the implicit trapezoidal rule: after n steps the slow part
/// is `((1 - h/2) / (1 + h/2))^n` and the fast one has its own root.
#[test]
fn a_stiff_system_keeps_its_slow_part() {
    let source = "agents 1 steps 20_000
        const H = 1e-4
        const FAST = 1e4
        state u = 2.0   // slow + fast
        state v = 0.0   // slow - fast
        step {
            let slow = 0.5 * (u + v) * ((1.0 - 0.5 * H) / (1.0 + 0.5 * H))
            let fast = 0.5 * (u - v) * ((1.0 - 0.5 * H * FAST) / (1.0 + 0.5 * H * FAST))
            u = slow + fast
            v = slow - fast
        }
        output u";
    let h = 1e-4_f64;
    let exact = ((1.0 - 0.5 * h) / (1.0 + 0.5 * h)).powi(20_000);
    let single = model(source, RealType::F32).backend(Backend::Cpu).run();
    let single = f64::from(
        single
            .expect("it runs")
            .output::<f32>("u")
            .expect("it is there")[0],
    );
    println!("f32 is off by {:e}", (single - exact) / exact);
    assert!(
        (single - exact).abs() > 1e-5 * exact,
        "{single}, not {exact}"
    );
    for backend in BACKENDS {
        let run = double(source, backend);
        let own = doubles(&run, "u")[0];
        assert!(
            (own - exact).abs() < 1e-11 * exact,
            "{backend:?}: {own}, not {exact}"
        );
    }
}

/// Constants of every kind have all digits of the text.
#[test]
fn literals_and_constants_are_doubles() {
    let source = "agents 1
        const DT = 1.0 / 252.0
        const TYPED: f32 = 0.1
        const TABLE = [0.1, 0.2, 0.3]
        const AXIS = vec3(0.1, 0.2, 0.7)
        const MANY = [for k in 0..4: f32(k) * 0.1]
        fn third() -> f32 { return 1.0 / 3.0 }
        const THIRD = third()
        param p = 0.1
        param list = [0.1, 0.7]
        input i = 0.3
        state s = 0.1
        step { s = s * 0.1 + 0.7 }
        output a = DT
        output b = TYPED
        output c = TABLE[agent + 1]
        output d = AXIS
        output e = MANY[agent + 3]
        output f = THIRD
        output g = p + list[1]
        output h = i
        output i2 = s
        output j = sqrt(2.0) + exp(0.1) + PI
        output k = 16_777_217.0
        output l = f32(agent + 16_777_217)
        output m = agent + 3
        output n = 1e-300 * 1e-10 < 1e-300";
    let options = |optimise| Options {
        real: RealType::F64,
        optimise,
        ..Options::default()
    };
    for optimise in [false, true] {
        let compiled = Simulation::compile_with(source, options(optimise));
        let mut simulation = compiled.unwrap_or_else(|error| panic!("{error}")).steps(2);
        for backend in BACKENDS {
            let run = run_on(&mut simulation, backend);
            let one = |name: &str| doubles(&run, name)[0];
            assert_eq!(one("a"), 1.0 / 252.0);
            assert_eq!(one("b"), 0.1);
            assert_eq!(one("c"), 0.2);
            assert_eq!(doubles(&run, "d"), [0.1, 0.2, 0.7]);
            assert_eq!(one("e"), 3.0 * 0.1);
            assert_eq!(one("f"), 1.0 / 3.0);
            assert_eq!(one("g"), 0.1 + 0.7);
            assert_eq!(one("h"), 0.3);
            assert_eq!(one("i2"), (0.1 * 0.1 + 0.7) * 0.1 + 0.7);
            let exact = 2.0_f64.sqrt() + 0.1_f64.exp() + std::f64::consts::PI;
            assert!((one("j") - exact).abs() < 2e-15, "{} {exact}", one("j"));
            assert_eq!((one("k"), one("l")), (16_777_217.0, 16_777_217.0));
            assert_eq!(run.output::<i32>("m").expect("it is there"), [3]);
            assert_eq!(run.output::<bool>("n").expect("it is there"), [true]);
        }
    }
}

fn run_on(simulation: &mut Simulation, backend: Backend) -> Run {
    simulation.set_backend(backend);
    simulation.run().unwrap_or_else(|error| panic!("{error}"))
}

/// What a launch gives as `f64` arrives; what it gives as `f32` is the `f32`.
#[test]
fn launches_give_doubles() {
    let source = "agents 2 param p = 1.0 param list = [1.0, 2.0] data table: [f32]
        input x: f32 input n: i32
        output sum = p + list[1] + table[1] + x + f32(n)";
    let simulation = model(source, RealType::F64).backend(Backend::Cpu);
    let set = simulation
        .param("p", 0.1)
        .and_then(|it| it.param("list", [0.0, 0.2]));
    let set = set.and_then(|it| it.data("table", vec![0.0, 0.4]));
    let set = set
        .and_then(|it| it.input("x", [0.8, 0.9]))
        .and_then(|it| it.input("n", [1, 2]));
    let simulation = set.unwrap_or_else(|error| panic!("{error}"));
    let run = simulation.run().expect("it runs");
    let exact = |x: f64, n: f64| 0.1 + 0.2 + 0.4 + x + n;
    assert_eq!(doubles(&run, "sum"), [exact(0.8, 1.0), exact(0.9, 2.0)]);
    let single = simulation
        .param("p", 0.1_f32)
        .expect("a param")
        .run()
        .expect("it runs");
    assert_eq!(
        doubles(&single, "sum")[0],
        f64::from(0.1_f32) + 0.2 + 0.4 + 0.8 + 1.0
    );
    let large = model("agents 1 param p = 1.0 output p2 = p", RealType::F64).param("p", 1e300);
    assert_eq!(
        doubles(&large.expect("a param").run().expect("it runs"), "p2"),
        [1e300]
    );
    let refused = model("agents 1 param p = 1.0 output p2 = p", RealType::F32).param("p", 1e300);
    assert_eq!(refused.expect_err("too large").code(), "E0703");
    let words = Array::shaped(Scalar::F64, vec![0, 0x3ff0_0000], Vec::new());
    let shaped = model("agents 1 param p = 0.5 output p2 = p", RealType::F64).param("p", words);
    assert_eq!(
        doubles(&shaped.expect("a param").run().expect("it runs"), "p2"),
        [1.0]
    );
}

/// Draws have the random bits that those in `f32` have.
#[test]
fn draws_are_those_of_f32_but_for_rounding() {
    let source = "agents 2_000 steps 3 param width = 2.0
        state u = 0.0 state n = 0.0 state e = 0.0 state k = 0 state w = 0.0 state c = 0.0
        step { u = uniform(0.0, 1.0) n = normal(1.0, 3.0) e = exponential(2.0) k = poisson(4.0)
            w = uniform(1.0, 1.0 + width) c = gamma(2.5, 1.0) }
        output u output n output e output k output w output c";
    let single = model(source, RealType::F32)
        .seed(5)
        .backend(Backend::Reference)
        .run();
    let single = single.expect("it runs");
    let mut both = model(source, RealType::F64).seed(5);
    for backend in BACKENDS {
        let run = run_on(&mut both, backend);
        // The 24 bits of a unit are exact in both types.
        let units = single.output::<f32>("u").expect("it is there");
        let wide: Vec<f64> = units.iter().map(|&u| u.into()).collect();
        assert_eq!(doubles(&run, "u"), wide);
        assert_eq!(run.output::<i32>("k").ok(), single.output::<i32>("k").ok());
        for (name, apart) in [("n", 2e-5), ("e", 1e-6), ("w", 1e-6), ("c", 1e-5)] {
            let pairs = single
                .output::<f32>(name)
                .expect("it is there")
                .iter()
                .zip(doubles(&run, name));
            let worst = pairs
                .map(|(&a, b)| (f64::from(a) - b).abs())
                .fold(0.0, f64::max);
            assert!(worst < apart && worst > 0.0, "{name}: {worst:e}");
        }
    }
    // A range of a few spacings of `f64`, where no `f32` is.
    let narrow = model(
        "agents 1_000 param a = 1.0 param b = 1.0 state x = 0.0
        init { x = uniform(a, b) } output x",
        RealType::F64,
    );
    let high = 1.0 + 8.0 * f64::EPSILON;
    let run = narrow
        .param("b", high)
        .expect("a param")
        .run()
        .expect("it runs");
    assert!(doubles(&run, "x").iter().all(|x| (1.0..high).contains(x)));
}

/// What is sampled, and what a world combines.
#[test]
fn series_and_worlds_are_in_f64() {
    let source = "agents 6 steps 2 world 3
        state x = 0.1 * f32(agent)
        world state total = 0.0
        step { x += 0.1 }
        world step { total = sum(for a in world: a.x) }
        record path = x every 1
        observe all = mean(x) every 1
        observe spread = sd(x) every 1
        observe middle = quantiles(x, 0.5, 0.95) every 1
        observe bins = histogram(x, 0.0, 1.0, 4) every 1
        world observe part = sum(x) every 2
        output x
        world output total";
    let mut simulation = model(source, RealType::F64);
    for backend in BACKENDS {
        let run = run_on(&mut simulation, backend);
        let at = |agent: u32, steps: u32| {
            let start = 0.1 * f64::from(agent);
            (0..steps).fold(start, |x, _| x + 0.1)
        };
        let x: Vec<f64> = (0..6).map(|agent| at(agent, 2)).collect();
        assert_eq!(doubles(&run, "x"), x);
        let totals = [(x[0] + x[1]) + x[2], (x[3] + x[4]) + x[5]];
        assert_eq!(doubles(&run, "total"), totals);
        let path = run.record("path").expect("a series");
        let path: &[f64] = path.values().expect("doubles");
        assert_eq!(
            path[6..12],
            (0..6).map(|agent| at(agent, 1)).collect::<Vec<_>>()
        );
        let mean: &[f64] = run
            .observed("all")
            .expect("a series")
            .values()
            .expect("doubles");
        assert!((mean[2] - x.iter().sum::<f64>() / 6.0).abs() < 1e-15);
        let spread: &[f64] = run
            .observed("spread")
            .expect("a series")
            .values()
            .expect("doubles");
        assert!((spread[2] - 0.035_f64.sqrt()).abs() < 1e-15, "{spread:?}");
        let middle: &[f64] = run
            .observed("middle")
            .expect("a series")
            .values()
            .expect("doubles");
        assert!(
            (middle[4] - 0.45).abs() < 1e-15 && (middle[5] - 0.675).abs() < 1e-15,
            "{middle:?}"
        );
        let part: &[f64] = run
            .observed("part")
            .expect("a series")
            .values()
            .expect("doubles");
        assert_eq!(part[2..], totals);
    }
}

/// A run that is cut has the bits of one that is not; its states go nowhere else.
#[test]
fn snapshots_keep_doubles_and_their_type() {
    let source = "agents 5 steps 20 state x = 0.1 state y = 0.0
        step { x = x * 1.01 + 0.1 * normal() integrate rk4(0.1) { y' = x - y } } output x output y";
    for backend in [Backend::Reference, Backend::Cpu] {
        let simulation = model(source, RealType::F64).backend(backend).seed(3);
        let control = Control::default();
        let whole = simulation.run().expect("it runs");
        let mut snapshot = simulation.begin().expect("it begins");
        simulation
            .advance(&mut snapshot, 7, &control)
            .expect("it goes on");
        let state = simulation.state_of(&snapshot, "x").expect("a state");
        assert!(matches!(&state.values, Values::F64(values) if values.len() == 5));
        let mut bytes = Vec::new();
        snapshot.write(&mut bytes).expect("it is written");
        let snapshot = Snapshot::read(&bytes[..]).expect("it is read");
        let other = model(source, RealType::F32).backend(backend).seed(3);
        let refused = other
            .finish(snapshot.clone(), &control)
            .expect_err("another type");
        assert!(refused.to_string().contains("f64"), "{refused}");
        let cut = simulation.finish(snapshot, &control).expect("it ends");
        for name in ["x", "y"] {
            assert_eq!(doubles(&cut, name), doubles(&whole, name));
        }
    }
}

/// Draws in states, inputs and steps; agents that stop; tables, arrays, vectors; what a world shares.
const MIXED: &str = "agents 704 steps 30 world 16
    param pull = 0.1
    param calm = false
    param push = [0.01, 0.02]
    data table: [f32]
    input start ~ uniform(-1.0, 1.0)
    input kick = 0.0
    state x = start + uniform(0.0, 0.5)
    state place = vec2(0.1, 0.2)
    state bins: [f32; 4] = 0.1
    state n = 0
    state still = true
    world state level = uniform(0.0, 1.0)
    world step { level = 0.5 * level + mean(for other in world: other.x) }
    step t {
        let u = uniform(0.0, 1.0)
        still = still && calm
        n += poisson(1.5) + i32(x * 10.0)
        x += normal(0.0, 1.0) - pull * x + kick + push[t % 2] + table[(n + t) % len(table)] * exp(-u)
        place = place + vec2(sin(x), cos(x * u)) * level
        bins[t % 4] += tanh(x) + if u < 0.1 { log(u) } else { pow(abs(x), 0.3) }
        if abs(x) > 6.0 { stop }
    }
    observe mean_of_x = mean(x) every 3
    record path = place every 7
    output x
    output place
    output n
    output still
    output all = bins[0] + bins[1] + bins[2] + bins[3] + bitcast<f32>(bitcast<u32>(x))
    world output level";

fn mixed(backend: Backend) -> Simulation {
    let simulation = model(MIXED, RealType::F64).seed(11).backend(backend);
    let simulation = simulation.data("table", vec![0.1, -0.2, 0.3, 1e-9]);
    simulation.unwrap_or_else(|error| panic!("{error}"))
}

fn same_bits(got: &Run, expected: &Run) {
    assert!(
        matches!(got.report().backend, Device::Cpu(_)),
        "{:?}",
        got.report().backend
    );
    assert!(matches!(expected.report().backend, Device::Reference));
    compare(got, expected, Tolerance::Bits).unwrap_or_else(|difference| panic!("{difference}"));
}

/// The vector machine has the bits of the interpreter in what is more than one run from beginning to end.
#[test]
fn batches_and_sessions_have_the_bits_of_the_interpreter() {
    let variations = [
        Variation::new().seed(3),
        Variation::new().param("pull", 0.2).param("calm", true),
        Variation::new().input("kick", vec![0.1; 704]).seed(4),
    ];
    let [expected, got] = [Backend::Reference, Backend::Cpu].map(|backend| {
        let runs = mixed(backend).run_batch(&variations);
        runs.unwrap_or_else(|error| panic!("{error}"))
    });
    for (got, expected) in got.iter().zip(&expected) {
        same_bits(got, expected);
    }
    let kicks: Vec<f64> = (0..704).map(|agent| 1e-3 * f64::from(agent)).collect();
    let [expected, got] = [Backend::Reference, Backend::Cpu].map(|backend| {
        let session = mixed(backend).session();
        let mut session = session.unwrap_or_else(|error| panic!("{error}"));
        let mut seen = Vec::new();
        for (number, count) in [1, 9, 1, 1].into_iter().enumerate() {
            let done = session.step(count, &Control::default());
            done.unwrap_or_else(|error| panic!("{error}"));
            for name in ["x", "place", "n", "level"] {
                let column = session.output(name);
                seen.push(format!(
                    "{:?}",
                    column.unwrap_or_else(|error| panic!("{error}"))
                ));
            }
            let set = match number {
                0 => session.set_input("kick", kicks.clone()),
                1 => session.set_param("pull", 0.3),
                _ => Ok(()),
            };
            set.unwrap_or_else(|error| panic!("{error}"));
        }
        seen
    });
    assert_eq!(got.len(), 16);
    assert_eq!(got, expected);
}

#[test]
fn gradients_have_the_bits_of_the_interpreter() {
    let source = "agents 600 steps 25 param a = 0.3 param b = 0.2 input k ~ uniform(0.0, 1.0)
        state x = k
        step { x = x * exp(-a * 0.1) + b * normal() * sqrt(0.1) + 0.01 * sin(x + k) }
        output x";
    for mode in [GradientMode::Forward, GradientMode::Reverse] {
        let [expected, got] = [Backend::Reference, Backend::Cpu].map(|backend| {
            let simulation = model(source, RealType::F64).seed(5).backend(backend);
            let found = simulation.differentiate("x", &["a", "b"], mode);
            let found = found.and_then(|it| it.gradient(Loss::mean("x").fold, &Control::default()));
            let found = found.unwrap_or_else(|error| panic!("{error}"));
            found
                .slopes
                .iter()
                .map(|slope| slope.value)
                .collect::<Vec<f64>>()
        });
        assert!(expected.iter().all(|slope| *slope != 0.0), "{expected:?}");
        assert_eq!(got, expected, "{mode:?}");
    }
}

#[test]
fn what_is_done_in_f32_only_is_said() {
    let source =
        "agents 4 steps 2 param a = 0.5 input x = 0.0 state s = a step { s *= a } output s";
    let simulation = model(source, RealType::F64);
    let on_gpu = model(source, RealType::F64)
        .backend(Backend::Gpu)
        .run()
        .expect_err("no GPU");
    assert_eq!(on_gpu.code(), "E0735");
    assert!(
        on_gpu
            .help()
            .is_some_and(|help| help.contains("--backend cpu")),
        "{on_gpu}"
    );
    let control = Control::default();
    let shadow = simulation.shadow(2, &control).expect_err("no shadow");
    let trace = simulation
        .trace(0, &control, &mut |_| true)
        .expect_err("no trace");
    let checked = Options {
        real: RealType::F64,
        checks: true,
        ..Options::default()
    };
    let checks = Simulation::compile_with(source, checked)
        .and_then(|it| it.run())
        .expect_err("no checks");
    let found = simulation.differentiate("s", &["a"], GradientMode::Forward);
    let found = found.and_then(|it| it.check(2, &control).map(drop));
    let gradients = found.expect_err("no check");
    for error in [shadow, trace, checks, gradients] {
        assert_eq!(error.code(), "E0735", "{error}");
    }
    let wrong = simulation.run().expect("it runs");
    assert_eq!(
        wrong.output::<f32>("s").expect_err("it is f64").code(),
        "E0702"
    );
}

/// The derivative of `x(n) = a^n` by `a`, forward and backward, to the digits of `f64`.
#[test]
fn derivatives_are_in_f64() {
    let source = "agents 2 steps 30 param a = 1.1 param b = 0.3 state x = 1.0
        step { x = x * a + log2(1.0 + b) * 1e-3 } output x";
    for mode in [GradientMode::Forward, GradientMode::Reverse] {
        let simulation = model(source, RealType::F64).backend(Backend::Cpu);
        let found = simulation.differentiate("x", &["a", "b"], mode);
        let found = found.and_then(|it| it.gradient(Loss::mean("x").fold, &Control::default()));
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let (a, c) = (1.1_f64, 1.3_f64.log2() * 1e-3);
        let n = 30;
        let by_a: f64 = f64::from(n) * a.powi(n - 1)
            + c * (0..n).map(|k| f64::from(k) * a.powi(k - 1)).sum::<f64>();
        let by_b = (0..n).map(|k| a.powi(k)).sum::<f64>() * 1e-3 / (1.3 * std::f64::consts::LN_2);
        for (slope, exact) in found.slopes.iter().zip([by_a, by_b]) {
            let apart = (slope.value - exact).abs() / exact;
            assert!(
                apart < 1e-13,
                "{mode:?} {}: {} {exact} {apart:e}",
                slope.wrt,
                slope.value
            );
        }
    }
}

/// Every method comes nearer to Rosenbrock's minimum than an `f32` can be.
#[test]
fn fits_use_the_digits_of_f64() {
    let source = "agents 1 param x = -1.2 param y = 1.0
        output f = 100.0 * (y - x * x - 0.1) ** 2 + (1.1 - x) ** 2";
    for (method, most) in [
        (Method::Lbfgs, 1e-9),
        (Method::NelderMead, 1e-7),
        (Method::CmaEs, 1e-7),
    ] {
        let fit = Fit {
            goal: Goal::Loss(Loss::mean("f")),
            over: vec!["x".to_owned(), "y".to_owned()],
            method,
            mode: GradientMode::Auto,
            starts: 1,
            iterations: None,
            seed: 1,
        };
        let simulation = model(source, RealType::F64).backend(Backend::Cpu);
        let found = simulation.fit(&fit, &Control::default(), &mut |_| {});
        let found = found.unwrap_or_else(|error| panic!("{error}"));
        let apart = [1.1, 1.31].into_iter().zip(&found.estimates);
        let apart = apart
            .map(|(exact, estimate)| (estimate.value - exact).abs())
            .fold(0.0, f64::max);
        println!(
            "{method:?}: {apart:e}, {:?} after {}",
            found.ended, found.evaluations
        );
        assert!(apart < most, "{method:?}: {found:?}");
    }
}
