//! `Simulation::fit`: against minima that are known. (`nist` has the certified values of NIST.)

use sim_runtime::{
    Backend, Control, Ended, Error, Fit, Fitted, Goal, GradientMode, Loss, Method, Simulation,
};
use std::sync::atomic::AtomicBool;

fn fit(goal: Goal, over: &[&str], method: Method) -> Fit {
    Fit {
        goal,
        over: over.iter().map(|&name| name.to_owned()).collect(),
        method,
        mode: GradientMode::Auto,
        starts: 1,
        iterations: None,
        seed: 1,
    }
}

fn model(source: &str) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

fn fitted(simulation: &Simulation, fit: &Fit) -> Fitted {
    let found = simulation.fit(fit, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// J. J. Moré, B. S. Garbow and K. E. Hillstrom, "Testing Unconstrained Optimization Software", ACM TOMS 7
/// (1981), functions 1, 5 and 13: a model with its start, the params, and where the minimum, 0, is.
const KNOWN: [(&str, &str, &[&str], &[f64]); 3] = [
    (
        "Rosenbrock",
        "agents 1 param x = -1.2 param y = 1.0
         output f = 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2",
        &["x", "y"],
        &[1.0, 1.0],
    ),
    (
        "Beale",
        "agents 1 param x = 1.0 param y = 1.0
         output f = (1.5 - x * (1.0 - y)) ** 2 + (2.25 - x * (1.0 - y ** 2)) ** 2
             + (2.625 - x * (1.0 - y ** 3)) ** 2",
        &["x", "y"],
        &[3.0, 0.5],
    ),
    (
        "Powell",
        "agents 1 param x = [3.0, -1.0, 0.0, 1.0]
         output f = (x[0] + 10.0 * x[1]) ** 2 + 5.0 * (x[2] - x[3]) ** 2 + (x[1] - 2.0 * x[2]) ** 4
             + 10.0 * (x[0] - x[3]) ** 4",
        &["x"],
        &[0.0; 4],
    ),
];

#[test]
fn published_minima_are_found() {
    for method in [
        Method::Lbfgs,
        Method::NelderMead,
        Method::CmaEs,
        Method::Adam,
    ] {
        for (name, source, over, minimum) in KNOWN {
            let found = fitted(
                &model(source),
                &fit(Goal::Loss(Loss::mean("f")), over, method),
            );
            // Powell's Hessian is singular at the minimum: the loss is a fourth power there. Adam is slow.
            let (distance, loss) = match (method, name) {
                (Method::Adam, _) => (0.2, 1e-2),
                (_, "Powell") => (2e-2, 1e-6),
                _ => (1e-3, 1e-7),
            };
            println!(
                "{method:?} {name}: {} {:?} {}",
                found.loss, found.ended, found.evaluations
            );
            assert!(found.loss < loss, "{method:?} {name}: {found:?}");
            for (estimate, exact) in found.estimates.iter().zip(minimum) {
                let apart = (estimate.value - exact).abs();
                assert!(
                    apart < distance,
                    "{method:?} {name}: {estimate:?}, not {exact}"
                );
            }
        }
    }
}

/// In the box `x <= 0.5`, Rosenbrock's function is least at (0.5, 0.25).
/// Residuals and losses of worlds: m = i (1 + p)².
#[test]
fn outputs_of_worlds_are_fitted() {
    let simulation = model(
        "agents 12 world 3 steps 2 param p = 0.5 state x = 1.0 + f32(world.number)
         step { x += p * mean(for o in world: o.x) }
         world output miss = mean(for o in world: o.x) - 1.44 * (1.0 + f32(world.number))
         world output square = (mean(for o in world: o.x) - 1.44 * (1.0 + f32(world.number))) ** 2",
    );
    let residuals = Goal::Residuals("miss".to_owned());
    let loss = || Goal::Loss(Loss::mean("square"));
    for (goal, method) in [
        (residuals, Method::LevenbergMarquardt),
        (loss(), Method::Lbfgs),
        (loss(), Method::NelderMead),
    ] {
        let found = fitted(&simulation, &fit(goal, &["p"], method));
        assert!(
            (found.estimates[0].value - 0.2).abs() < 1e-4,
            "{method:?}: {found:?}"
        );
        if method == Method::LevenbergMarquardt {
            assert_eq!(found.residuals, Some(4), "one per world");
        }
    }
}

#[test]
fn params_stay_in_their_ranges_and_say_so() {
    let source = "agents 1 param x = -1.2 in -2.0..0.5 param y = 1.0 in -2.0..2.0
        output f = 100.0 * (y - x * x) ** 2 + (1.0 - x) ** 2";
    for method in [Method::Lbfgs, Method::NelderMead, Method::CmaEs] {
        let goal = Goal::Loss(Loss::mean("f"));
        let found = fitted(&model(source), &fit(goal, &["x", "y"], method));
        let [x, y] = found.estimates.as_slice() else {
            panic!("{found:?}")
        };
        assert!(
            (x.value - 0.5).abs() < 1e-5 && (y.value - 0.25).abs() < 1e-3,
            "{method:?} {found:?}"
        );
        assert!(x.at_bound && !y.at_bound, "{method:?} {found:?}");
    }
}

/// `sin` has several minima; from one start the nearest is found, from several the least.
#[test]
fn several_starts_find_the_least_of_several_minima() {
    let source = "agents 1 param x = -3.0 in -9.0..9.0 output f = sin(x) + 0.01 * (x - 5.0) ** 2";
    let mut asked = fit(Goal::Loss(Loss::mean("f")), &["x"], Method::Lbfgs);
    let near = fitted(&model(source), &asked);
    assert!((near.estimates[0].value + 1.44).abs() < 0.1, "{near:?}");
    asked.starts = 12;
    let far = fitted(&model(source), &asked);
    // The root of cos(x) + 0.02 (x - 5) near 3π/2.
    assert!((far.estimates[0].value - 4.718).abs() < 1e-2, "{far:?}");
    assert_eq!(far.losses.len(), 12);
}

/// A fit that is cancelled has a result, if it has any point.
#[test]
fn a_cancelled_fit_gives_the_best_point() {
    let (simulation, cancel) = (model(KNOWN[0].1), AtomicBool::new(false));
    let control = Control {
        cancel: Some(&cancel),
        ..Control::default()
    };
    let asked = fit(Goal::Loss(Loss::mean("f")), &["x", "y"], Method::Lbfgs);
    let found = simulation.fit(&asked, &control, &mut |progress| {
        cancel.store(
            progress.iteration >= 5,
            std::sync::atomic::Ordering::Relaxed,
        );
    });
    let found = found.expect("the best point so far");
    assert_eq!(found.ended, Ended::Interrupted);
    assert!(found.loss < 24.2 && found.loss > 1e-6, "{found:?}");
    cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    let nothing = simulation.fit(&asked, &control, &mut |_| {});
    assert!(matches!(nothing, Err(Error::Cancelled)));
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let source = "agents 2 param a = 0.5 param n = 3 state x = 0.0
        finish { x = f32(bernoulli(a)) + f32(n) } output x";
    let simulation = model(source);
    let refused = |output: &str, over: &str, method| {
        let asked = fit(Goal::Loss(Loss::mean(output)), &[over], method);
        let found = simulation.fit(&asked, &Control::default(), &mut |_| {});
        found.expect_err("no fit").code()
    };
    assert_eq!(refused("x", "a", Method::Lbfgs), "E0740");
    assert_eq!(refused("x", "n", Method::NelderMead), "E0741");
    assert_eq!(refused("y", "a", Method::NelderMead), "E0701");
    assert_eq!(refused("x", "b", Method::CmaEs), "E0701");
}
