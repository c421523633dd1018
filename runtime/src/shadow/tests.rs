//! Runs in `f64` against numbers that others computed in `f64`, and the verdicts on models of every kind.

use super::*;
use crate::{DoubleColumn, Simulation};
use sim_compiler::{compile, random::Generator};

fn simulation(source: &str) -> Simulation {
    let artifact = compile(source).unwrap_or_else(|found| panic!("{found:#?}"));
    Simulation::from_artifact(artifact)
}

fn values<'a>(columns: &'a [DoubleColumn], name: &str) -> &'a [f64] {
    let found = columns.iter().find(|column| column.field.name == name);
    &found
        .unwrap_or_else(|| panic!("there is no `{name}`"))
        .values
}

fn assert_near(found: f64, known: f64, error: f64) {
    assert!(
        (found / known - 1.0).abs() <= error,
        "{found} is not {known}"
    );
}

const LORENZ: [(&str, f64); 3] = [
    ("x", 1.1982731113336684),
    ("y", -8.867197580924495),
    ("z", 32.454739901475236),
];

const PENDULUM: [(&str, f64); 2] = [
    ("theta", -1.0602279747902212),
    ("omega", -0.5124752474254883),
];

/// By classical Runge-Kutta steps of NumPy in `f64`, from the same doubles.
#[test]
fn trajectories_are_those_of_f64() {
    let lorenz = "
        agents 3
        steps 500
        const DT = 0.001
        param sigma = 10.0
        param beta = 2.6666667
        input rho: f32 = 28.0
        state x = 1.0
        state y = 1.0
        state z = 1.0
        step {
            integrate rk4(DT) {
                x' = sigma * (y - x)
                y' = x * (rho - z) - y
                z' = x * y - beta * z
            }
        }
        output x
        output y
        output z";
    let run = simulation(lorenz)
        .run_double(&[2], &Control::default())
        .expect("it runs");
    assert_eq!(run.agents, [2]);
    for (name, known) in LORENZ {
        assert_near(values(&run.outputs, name)[0], known, 1e-12);
        assert_near(values(&run.states, name)[0], known, 1e-12);
    }
    let pendulum = "
        agents 1
        steps 300
        const DT = 0.01
        state theta = 1.2
        state omega = 0.1
        step {
            integrate rk4(DT) {
                theta' = omega
                omega' = -sin(theta)
            }
        }
        output theta
        output omega";
    let run = simulation(pendulum)
        .run_double(&[0], &Control::default())
        .expect("it runs");
    for (name, known) in PENDULUM {
        assert_near(values(&run.outputs, name)[0], known, 1e-12);
    }
}

const GBM: &str = "
    agents 1000
    steps 50
    const DT = 1.0 / 50.0
    param rate = 0.05
    param sigma = 0.2
    state price = 100.0
    step { price *= exp((rate - 0.5 * sigma * sigma) * DT + sigma * sqrt(DT) * normal()) }
    output call = exp(-rate) * max(price - 101.5, 0.0)
    output price";

/// The same words, the formula of Box and Muller, and the closed form of the path in `f64`.
#[test]
fn paths_are_those_of_the_same_draws_in_f64() {
    let agents = [3, 999];
    let simulation = simulation(GBM).seed(11);
    let run = simulation
        .run_double(&agents, &Control::default())
        .expect("it runs");
    let (rate, sigma, dt) = (f64::from(0.05_f32), f64::from(0.2_f32), 1.0 / 50.0);
    for (row, agent) in agents.into_iter().enumerate() {
        let noise = |step: u32| {
            let word = |n| Generator::default().draw(11, agent, step, n);
            let u = (f64::from(word(0)) + 0.5) / 4_294_967_296.0;
            let angle = f64::from(word(1) as i32) / 2_147_483_648.0 * std::f64::consts::PI;
            (-2.0 * u.ln()).sqrt() * angle.cos()
        };
        let sum: f64 = (0..50).map(noise).sum();
        let drift = (rate - 0.5 * sigma * sigma) * dt * 50.0;
        let price = 100.0 * (drift + sigma * dt.sqrt() * sum).exp();
        assert_near(values(&run.outputs, "price")[row], price, 1e-13);
        let call = (-rate).exp() * (price - 101.5).max(0.0);
        assert!((values(&run.outputs, "call")[row] - call).abs() < 1e-11);
    }
}

/// In `f32` the run is that of the CPU, to the bit.
#[test]
fn walks_in_f32_are_the_runs_of_the_cpu() {
    let simulation = simulation(GBM).agents(20).seed(4);
    let run = simulation.run().expect("it runs");
    let prices: &[f32] = run.output("price").expect("it is there");
    for agent in [0, 7, 19] {
        let mut last = None;
        let see = &mut |trace: &mut crate::Trace<'_>| {
            let price = trace.program.states[0];
            trace.values(price, &mut |_, values| last = Some(values[0]));
            true
        };
        simulation
            .trace(agent, &Control::default(), see)
            .expect("it runs");
        assert_eq!(
            last.map(|value| value.floats()[0]),
            Some(prices[agent as usize])
        );
    }
}

fn shadow(source: &str) -> Shadow {
    simulation(source)
        .shadow(64, &Control::default())
        .expect("it runs")
}

#[test]
fn verdicts_tell_models_apart() {
    let gbm = shadow(GBM);
    assert_eq!((gbm.agents, gbm.parted), (64, 0));
    assert_eq!(gbm.verdict(), Verdict::Enough);

    // The logistic map doubles a difference in each step.
    let chaos = shadow(
        "agents 64\nsteps 200\ninput start ~ random()\nstate x = 0.1 + 0.8 * start\n\
         step { x = 3.99 * x * (1.0 - x) }\noutput x",
    );
    assert_eq!(chaos.verdict(), Verdict::Chaotic, "{chaos:#?}");
    assert_eq!(chaos.parted, 0);

    // From 2^24 on a float is no larger by one.
    let stuck = shadow(
        "agents 64\nsteps 20\nstate n = 16777210.0\nstep { n += 1.0 }\noutput more = n - 16777210.0",
    );
    assert_eq!(stuck.verdict(), Verdict::NotEnough, "{stuck:#?}");

    // A number that rounding brings to its threshold in another step.
    let part = shadow(
        "agents 64\nsteps 30\nstate t = 0.0\nstate late = 0\nstep { t += 0.1\n\
         if t < 1.0 { late += 1 } }\noutput late",
    );
    assert_eq!(
        (part.parted, part.parted_in),
        (64, Some([9, 9])),
        "{part:#?}"
    );

    // Overflow in one of the types alone.
    let beyond = shadow("agents 64\nsteps 5\nstate x = 1e30\nstep { x *= 100.0 }\noutput x");
    assert_eq!(beyond.compared[0].not_finite, 64);
    assert_eq!(beyond.verdict(), Verdict::NotEnough);
}

/// Draws of every kind have the same words, and what the prelude rejects is no way of the agent's.
#[test]
fn draws_are_the_same() {
    let draws = shadow(
        "agents 64\nsteps 20\nstate total = 0.0\nstate count = 0\n\
         step {\n    total += gamma(2.5, 1.0) + beta(2.0, 3.0) + student_t(5.0) + exponential(2.0)\n    \
         count += poisson(3.5) + binomial(40, 0.3) + randint(0, 9)\n    \
         if bernoulli(0.3) { count += 1 }\n}\noutput total\noutput count",
    );
    assert_eq!(draws.parted, 0);
    assert_eq!(draws.compared[1].verdict, Verdict::Equal);
    assert_eq!(draws.verdict(), Verdict::Enough, "{draws:#?}");
}

/// Agents of a world read one another, worlds have values, and inputs are drawn.
#[test]
fn worlds_run_whole() {
    let source = "
        agents 40
        steps 10
        world 8
        input weight ~ uniform(0.5, 1.5)
        world input tax = 0.25
        state x = weight + random()
        world state level = 0.0
        step { x += 0.1 * (mean(for other in world: other.x) - x) }
        world step { level += tax * max(for other in world: other.x) }
        output x
        world output level
        record x every 5
        observe total = sum(x) every 5";
    let simulation = simulation(source).seed(2);
    let shadow = simulation.shadow(16, &Control::default()).expect("it runs");
    assert_eq!((shadow.agents, shadow.worlds, shadow.parted), (16, 2, 0));
    assert_eq!(shadow.verdict(), Verdict::Enough, "{shadow:#?}");
    let run = simulation
        .run_double(&[9, 17], &Control::default())
        .expect("it runs");
    assert_eq!(
        (run.worlds.as_slice(), run.agents.len()),
        ([1, 2].as_slice(), 16)
    );
    let single = simulation.run().expect("it runs");
    let x: &[f32] = single.output("x").expect("it is there");
    for (&agent, &wide) in run.agents.iter().zip(values(&run.outputs, "x")) {
        assert_near(x[agent as usize].into(), wide, 1e-5);
    }
}

#[test]
fn agents_of_no_launch_are_refused() {
    let simulation = simulation(GBM).agents(10).first_agent(100);
    let error = simulation
        .run_double(&[99], &Control::default())
        .expect_err("it is before it");
    assert_eq!(error.code(), "E0710");
    let see = &mut |_: &mut crate::Trace<'_>| true;
    let error = simulation
        .trace(110, &Control::default(), see)
        .expect_err("it is behind it");
    assert!(error.to_string().contains("100..=109"), "{error}");
}
