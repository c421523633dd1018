//! `Simulation::gradient` and `Simulation::derivatives`: against closed forms, in blocks, on all backends;
//! and that `check` finds a derivative that is wrong.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

use sim_runtime::{
    Agreement, Backend, Control, Element, Error, Fold, GradientMode, Loss, LossGradient,
    Simulation, Values,
};
use sim_tests::launch::has_gpu;

const CALL: &str = "
    agents 50_000
    steps  20
    const DT = 1.0 / 20.0
    param rate   = 0.05
    param sigma  = 0.2 in 0.01..1.0
    param strike = 105.0
    param spot   = 100.0
    state price = spot
    step { price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal()) }
    output payoff = exp(-rate) * max(price - strike, 0.0)
    output price";

fn simulation(source: &str, backend: Backend) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(backend).seed(3)
}

fn backends() -> Vec<Backend> {
    let mut all = vec![Backend::Cpu];
    all.extend(has_gpu().then_some(Backend::Gpu));
    all
}

/// Value, delta, vega and rho of a European call: F. Black and M. Scholes, "The Pricing of Options and
/// Corporate Liabilities", Journal of Political Economy 81 (1973). Values by SciPy 1.17.
#[test]
fn greeks_are_those_of_black_and_scholes() {
    let known = [
        8.021_352_235_1,
        0.542_228_333_6,
        39.670_523_808,
        46.201_481_123,
    ];
    for backend in backends() {
        let simulation = simulation(CALL, backend);
        let found = simulation.gradient(&Loss::mean("payoff"), &["spot", "sigma", "rate"]);
        let found = found.expect("a gradient");
        let mut all = vec![(found.value, found.standard_error)];
        all.extend(
            found
                .slopes
                .iter()
                .map(|slope| (slope.value, slope.standard_error)),
        );
        for ((value, error), known) in all.into_iter().zip(known) {
            let error = error.expect("there are many agents");
            assert!(
                (value - known).abs() < 4.0 * error,
                "{backend:?}: {value} ± {error}, not {known}"
            );
            // A standard error that is too large would pass anything.
            assert!(error < 0.01 * known, "{error} of {known}");
        }
    }
}

/// A sum is the mean times the number of agents, and so is its error.
#[test]
fn a_sum_is_a_mean_times_agents() {
    let simulation = simulation(CALL, Backend::Cpu);
    let of = |loss| simulation.gradient(&loss, &["sigma"]).expect("a gradient");
    let (mean, sum): (LossGradient, LossGradient) =
        (of(Loss::mean("price")), of(Loss::sum("price")));
    assert_eq!(mean.value * 50_000.0, sum.value);
    assert_eq!(mean.slopes[0].value * 50_000.0, sum.slopes[0].value);
    assert!(sum.slopes[0].standard_error > mean.slopes[0].standard_error);
}

/// More directions than one program holds: `Σ w[k] sin(k + agent)` has the derivatives `sin(k + agent)`.
#[test]
fn many_directions_are_computed_in_blocks() {
    let source = "agents 10 param w: [[f32; 5]; 4] = 0.5 param v = vec3(1.0, 2.0, 3.0)
        state x = 0.0
        init { for i in 0..4 { for j in 0..5 { x += w[i][j] * sin(f32(5 * i + j + agent)) } } x += dot(v, v) }
        output x";
    for backend in backends() {
        let simulation = simulation(source, backend);
        let differentiated =
            simulation.differentiate("x", &["w", "v", "w[1][2]"], GradientMode::Forward);
        let differentiated = differentiated.expect("programs");
        let found = differentiated
            .derivatives(&Control::default())
            .expect("derivatives");
        assert_eq!(found.wrt.len(), 23);
        assert_eq!([&found.wrt[7], &found.wrt[22]], ["w[1][2]", "v.z"]);
        for (k, column) in found.derivatives.iter().enumerate() {
            for (agent, value) in singles(column).iter().enumerate() {
                let exact = match k {
                    0..20 => ((k + agent) as f32).sin(),
                    _ => 2.0 * (k - 19) as f32,
                };
                assert!(
                    (value - exact).abs() < 1e-5,
                    "{}: {value} {exact}",
                    found.wrt[k]
                );
            }
        }
        let gradient = differentiated.gradient(Fold::Mean, &Control::default());
        assert_eq!(gradient.expect("a gradient").programs, 3);
    }
}

/// By an agent's own input, and a value of an output that is an array.
#[test]
fn derivatives_by_inputs_are_of_each_agent() {
    let source = "agents 3 steps 2 input x0 = 0.0 state x = x0 state p = [0.0, 0.0]
        step t { x = x * x p[t] = x } output p";
    let simulation = simulation(source, Backend::Cpu).input("x0", [1.0, 2.0, 3.0_f32]);
    let simulation = simulation.expect("an input");
    let found = simulation
        .derivatives("p[1]", &["x0"])
        .expect("derivatives");
    assert_eq!(singles(&found.values), [1.0, 16.0, 81.0]);
    let [by_x0] = found.derivatives.as_slice() else {
        panic!("{found:?}")
    };
    assert_eq!(singles(by_x0), [4.0, 32.0, 108.0]);
}

/// Agents of a world are not independent: the error of a mean is that over worlds.
#[test]
fn errors_of_worlds_are_over_worlds() {
    let source = "world 4 agents 8 param a = 2.0 state x = 0.0
        step { x = a * f32(agent / 4) } steps 1 output x";
    let found = simulation(source, Backend::Cpu)
        .gradient(&Loss::mean("x"), &["a"])
        .expect("a gradient");
    // The worlds have 0 and 1: a deviation of 1 / √2 over √2.
    assert_eq!(found.slopes[0].value, 0.5);
    assert!((found.slopes[0].standard_error.expect("two worlds") - 0.5).abs() < 1e-12);
}

#[test]
fn what_has_no_derivative_is_said() {
    let source =
        "agents 4 steps 1 param p = 0.5 param n = 3 param q = 0.0 state x = 0.0 state y = 0.0
        step { x += p * f32(n) y += f32(bernoulli(p)) + floor(q) } output x output y output k = n
        output r = sqrt(q * f32(agent)) output both = [x, y]";
    let simulation = simulation(source, Backend::Cpu);
    let refused = |of: &str, wrt: &str| {
        let error = simulation
            .gradient(&Loss::mean(of), &[wrt])
            .expect_err("no gradient");
        let help = error.help().unwrap_or_default();
        format!("{} {error} | {help}", error.code())
    };
    assert!(refused("xx", "p").contains("E0701 the model has no output `xx` | did you mean `x`?"));
    assert!(refused("x", "pp").contains("E0701 the model has no param `pp` | did you mean `p`?"));
    assert!(refused("x", "n").starts_with("E0741 param `n` holds i32"));
    assert!(refused("k", "p").starts_with("E0741 output `k` holds i32"));
    assert!(refused("y", "p").starts_with("E0740 `bernoulli` is drawn with an argument"));
    assert!(refused("y", "q").starts_with("E0740 output `y` cannot depend on `q`"));
    assert!(refused("both", "p").starts_with("E0742"));
    let nan = refused("r", "q");
    assert!(nan.starts_with("E0743 d(r)/d(q) of agent 0 is"), "{nan}");
}

/// Smooth models agree; `floor` hides a slope; a jump is noticed.
#[test]
fn a_check_compares_with_differences() {
    let simulation = simulation(CALL, Backend::Cpu);
    let differentiated =
        simulation.differentiate("payoff", &["spot", "sigma", "rate"], GradientMode::Auto);
    let differentiated = differentiated.expect("a program");
    let check = differentiated
        .check(64, &Control::default())
        .expect("a check");
    assert_eq!((check.agents, check.population), (64, 50_000));
    for component in &check.components {
        assert_eq!(component.agreement, Agreement::Agrees, "{component:?}");
        assert!(
            component.errors[1] < 1e-7 && component.errors[0] < 1e-4,
            "{component:?}"
        );
    }
    // Each agent's value is a staircase in `a`, whose derivative along the path leaves the stairs out.
    let source = "agents 200 param a = 0.5 state x = 0.0
        finish { x = a + floor(a * 1000.0 + uniform(0.0, 1.0)) / 1000.0 } output x";
    let simulation = Simulation::compile(source)
        .expect("a model")
        .backend(Backend::Cpu);
    let differentiated = simulation
        .differentiate("x", &["a"], GradientMode::Auto)
        .expect("a program");
    let check = differentiated
        .check(200, &Control::default())
        .expect("a check");
    assert!(check.components[0].jumps, "{check:?}");
}

/// The derivative of (prey, hunters) of Lotka and Volterra by (alpha, beta, prey0), in `f64`: the sensitivity
/// equations `S' = (∂f/∂y) S + ∂f/∂p` beside the equations, by Runge and Kutta's method with small steps.
fn sensitivities(alpha: f64, beta: f64, end: f64) -> [f64; 8] {
    let slope = |y: [f64; 8]| {
        let [x, z, xa, za, xb, zb, x0, z0] = y;
        let both = |dx: f64, dz: f64| {
            [
                (alpha - beta * z) * dx - beta * x * dz,
                z * dx + (x - 3.0) * dz,
            ]
        };
        let ([a, az], [b, bz], [c, cz]) = (both(xa, za), both(xb, zb), both(x0, z0));
        [
            alpha * x - beta * x * z,
            -3.0 * z + x * z,
            a + x,
            az,
            b - x * z,
            bz,
            c,
            cz,
        ]
    };
    let plus = |y: [f64; 8], k: [f64; 8], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    let mut y = [1.2, 0.8, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let steps = 20_000;
    let h = end / f64::from(steps);
    for _ in 0..steps {
        let k1 = slope(y);
        let k2 = slope(plus(y, k1, h / 2.0));
        let k3 = slope(plus(y, k2, h / 2.0));
        let k4 = slope(plus(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y
}

#[test]
fn sensitivities_of_lotka_and_volterra_are_those_of_their_equations() {
    let source = "agents 1 steps 1000 param alpha = 1.5 param beta = 1.0 param prey0 = 1.2
        state prey = prey0 state hunter = 0.8
        step { integrate rk4(0.005) {
            prey' = alpha * prey - beta * prey * hunter
            hunter' = -3.0 * hunter + prey * hunter
        } } output x = prey output y = hunter";
    let [.., xa, ya, xb, yb, x0, y0] = sensitivities(1.5, 1.0, 5.0);
    for backend in backends() {
        let simulation = simulation(source, backend);
        for (of, exact) in [("x", [xa, xb, x0]), ("y", [ya, yb, y0])] {
            let found = simulation.gradient(&Loss::mean(of), &["alpha", "beta", "prey0"]);
            for (slope, exact) in found.expect("a gradient").slopes.iter().zip(exact) {
                let apart = (slope.value - exact).abs() / exact.abs();
                assert!(
                    apart < 1e-4,
                    "{backend:?}: d{of}/d{}: {} {exact}",
                    slope.wrt,
                    slope.value
                );
            }
        }
    }
}

const WEIGHTS: &str = "
agents 40
steps 30
param w: [f32; 70] = [for i in 0..70: 0.01 * f32(i % 7) - 0.02]
param scale = 0.5 in 0.0..2.0
input start ~ normal(0.0, 0.3)
state x = start
step t {
    let mean = sum(for i in 0..70: w[i] * sin(x * f32(i + 1) * 0.1))
    x += scale * tanh(mean) + 0.01 * normal()
}
output other = x * 2.0
output pair = vec2(x * x, x)
";

#[test]
fn reverse_mode_gives_what_forward_mode_gives() -> Result<(), Error> {
    let simulation = Simulation::compile(WEIGHTS)?.seed(5).backend(Backend::Cpu);
    let of = |wrt: &[&str], mode| {
        let made = simulation.differentiate("pair.x", wrt, mode)?;
        let gradient = made.gradient(Fold::Mean, &Control::default())?;
        Ok::<_, Error>((made, gradient))
    };
    let wrt = ["scale", "w[3]", "start", "w[69]"];
    let (made, forward) = of(&wrt, GradientMode::Forward)?;
    let (_, reverse) = of(&wrt, GradientMode::Reverse)?;
    assert_eq!((made.mode(), forward.programs), (GradientMode::Forward, 1));
    assert_eq!((reverse.mode, reverse.programs), (GradientMode::Reverse, 1));
    assert_eq!(forward.value, reverse.value);
    assert_eq!(forward.slopes.len(), reverse.slopes.len());
    for (one, other) in forward.slopes.iter().zip(&reverse.slopes) {
        assert_eq!(one.wrt, other.wrt);
        let close = (one.value - other.value).abs() < 1e-5 * (0.01 + one.value.abs());
        assert!(close && one.value.abs() > 1e-4, "{one:?} {other:?}");
        let [one, other] = [one, other].map(|slope| slope.standard_error.expect("of 40 agents"));
        assert!((one - other).abs() < 1e-4 * one, "{one} {other}");
    }
    // Of many floats it is the mode that is chosen; differences agree with it.
    let (made, all) = of(&["w", "scale"], GradientMode::Auto)?;
    assert_eq!((made.mode(), all.slopes.len()), (GradientMode::Reverse, 71));
    assert_eq!(all.slopes[3], reverse.slopes[1]);
    let (made, _) = of(&wrt, GradientMode::Reverse)?;
    let check = made.check(8, &Control::default())?;
    assert!(check.agrees(), "{check:?}");
    // Where agents depend on one another, reverse mode has derivatives of sums.
    let source = "agents 6 world 3 steps 2 param p = 0.5 input i = 1.0 state x = i
        step { x += p * mean(for other in world: other.x) } output x";
    let worlds = Simulation::compile(source)?;
    let made = worlds.differentiate("x", &["p"], GradientMode::Reverse)?;
    // x = (1 + p)² for all.
    assert_eq!(
        made.gradient(Fold::Mean, &Control::default())?.slopes[0].value,
        3.0
    );
    let refused = made.derivatives(&Control::default());
    let message = refused.expect_err("not of each agent").to_string();
    assert!(message.contains("of the sum over agents"), "{message}");
    let each = worlds.derivatives("x", &["p"])?;
    assert_eq!(singles(&each.derivatives[0]), [3.0; 6]);
    // By inputs it is the mode that is chosen.
    let made = worlds.differentiate("x", &["i"], GradientMode::Auto)?;
    assert_eq!(made.mode(), GradientMode::Reverse);
    let each = worlds.derivatives("x", &["i"])?;
    assert_eq!(singles(&each.derivatives[0]), [2.25; 6]);
    Ok(())
}

/// Several steps are one of the program in reverse mode, which leaves out what they cannot do: sums of states
/// that are integrated are renormalised in every 16th step. On the CPU the values have the bits of a run.
#[test]
fn reverse_mode_computes_the_values_of_a_run() -> Result<(), Error> {
    for steps in [1, 7, 8, 9, 16, 17, 40, 100, 1_000] {
        let source = format!(
            "agents 33 steps {steps} param w = 1.5 input start = f32(agent)
             state x = start state v = 0.0
             step {{ integrate rk4(0.01) {{ x' = v  v' = -w * sin(x) }} }}
             output y = x + v"
        );
        let simulation = simulation(&source, Backend::Cpu);
        let run = simulation.run()?;
        let found = simulation.differentiate("y", &["w", "start"], GradientMode::Reverse)?;
        let found = found.derivatives(&Control::default())?;
        assert_eq!(
            singles(&found.values),
            run.output::<f32>("y")?,
            "{steps} steps"
        );
    }
    Ok(())
}

/// An output of worlds is a loss, too: its mean is over worlds, and so are its derivatives.
#[test]
fn outputs_of_worlds_are_losses() -> Result<(), Error> {
    let source =
        "agents 6 world 3 steps 2 param p = 0.5 input i = 1.0 + f32(world.number) state x = i
        step { x += p * mean(for o in world: o.x) }
        output unused = 2.0 * x
        world output other = p
        world output m = [mean(for o in world: o.x), mean(for o in world: o.x) * p]";
    let simulation = Simulation::compile(source)?;
    // m = i (1 + p)² is 2.25 and 4.5, dm/dp = 2 i (1 + p), and each of three inputs has a third of dm/di.
    let control = Control::default();
    for mode in [GradientMode::Forward, GradientMode::Reverse] {
        let made = simulation.differentiate("m[0]", &["p"], mode)?;
        let of = |fold| made.gradient(fold, &control);
        let (mean, sum) = (of(Fold::Mean)?, of(Fold::Sum)?);
        assert_eq!((mean.value, mean.slopes[0].value), (3.375, 4.5), "{mode:?}");
        assert_eq!((sum.value, sum.slopes[0].value), (6.75, 9.0), "{mode:?}");
        // Of 3 and 6 the standard error of the mean is 1.5.
        assert_eq!(mean.slopes[0].standard_error, Some(1.5), "{mode:?}");
        let each = made.derivatives(&control)?;
        assert_eq!(singles(&each.values), [2.25, 4.5], "{mode:?}");
        assert_eq!(singles(&each.derivatives[0]), [3.0, 6.0], "{mode:?}");
        assert!(made.check(6, &control)?.agrees(), "{mode:?}");
        let made = simulation.differentiate("m[1]", &["p"], mode)?;
        // d(m p)/dp = m + p dm/dp.
        assert_eq!(
            singles(&made.derivatives(&control)?.derivatives[0]),
            [3.75, 7.5],
            "{mode:?}"
        );
    }
    let by_input = simulation.gradient(&Loss::sum("m[0]"), &["i"])?;
    assert!(
        (by_input.slopes[0].value - 4.5).abs() < 1e-6,
        "{by_input:?}"
    );
    let unknown = simulation.gradient(&Loss::mean("n"), &["p"]);
    assert!(
        matches!(unknown, Err(Error::UnknownName { .. })),
        "{unknown:?}"
    );
    Ok(())
}

/// Of a model in `f32`.
fn singles(values: &Values) -> &[f32] {
    f32::slice(values).expect("floats")
}
