//! The examples that are made to be fitted, `lang-examples/heston_smile.sim` and `spring_net.sim`, against
//! answers that this project did not make up.

use sim_runtime::{
    Backend, Control, Fit, Fitted, Goal, GradientMode, Loss, Method, Options, RealType, Simulation,
};
use std::{fs, path::Path};

fn read(path: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    fs::read_to_string(folder.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn model(name: &str, real: RealType) -> Simulation {
    let options = Options {
        real,
        ..Options::default()
    };
    let simulation = Simulation::compile_with(&read(&format!("{name}.sim")), options);
    let simulation = simulation.unwrap_or_else(|error| panic!("{name}: {error}"));
    simulation.backend(Backend::Cpu)
}

fn fitted(simulation: &Simulation, goal: Goal, over: &[&str], method: Method) -> Fitted {
    let fit = Fit {
        goal,
        over: over.iter().map(|&name| name.to_owned()).collect(),
        method,
        mode: GradientMode::Auto,
        starts: 1,
        iterations: None,
        seed: 0,
    };
    let found = simulation.fit(&fit, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// A column of the table of quotes.
fn column(number: usize) -> Vec<f64> {
    let table = read("data/heston_smile.csv");
    let cells = table
        .lines()
        .skip(1)
        .filter_map(|row| row.split(',').nth(number));
    cells.map(|cell| cell.parse().expect("a number")).collect()
}

/// The quotes are those of known params, by another formula with 30 digits (`scripts/fixtures/options.py`).
/// Y. Cui, S. del Bano Rollin and G. Germano, European Journal of Operational Research 263 (2017), begin
/// there, too.
#[test]
fn a_smile_is_calibrated() {
    let exact = [0.08, 3.0, 0.1, 0.25, -0.8];
    // In single precision the quotes are rounded, and kappa and xi compensate one another.
    for (real, most) in [(RealType::F32, 2e-2), (RealType::F64, 1e-6)] {
        let mut simulation = model("heston_smile", real);
        for (number, input) in ["strike", "years", "quote"].into_iter().enumerate() {
            let given = simulation.input(input, column(number));
            simulation = given.unwrap_or_else(|error| panic!("{error}"));
        }
        let over = ["v0", "kappa", "theta", "xi", "rho"];
        let goal = Goal::Residuals("residual".to_owned());
        let found = fitted(&simulation, goal, &over, Method::LevenbergMarquardt);
        println!("{real:?}: {found:?}");
        for (estimate, exact) in found.estimates.iter().zip(exact) {
            let apart = (estimate.value / exact - 1.0).abs();
            assert!(apart < most, "{real:?}: {estimate:?}, not {exact}");
        }
    }
}

/// The energy and the place of the middle node are those of Newton's method (`scripts/fixtures/springs.py`).
#[test]
fn a_net_of_springs_comes_to_rest() {
    for (real, most) in [(RealType::F32, [1e-6, 5e-3]), (RealType::F64, [1e-9, 1e-4])] {
        let simulation = model("spring_net", real);
        let goal = Goal::Loss(Loss::sum("energy"));
        let found = fitted(&simulation, goal, &["place"], Method::Lbfgs);
        println!("{real:?}: {found:?}");
        let apart = (found.loss / -27.295_678_794 - 1.0).abs();
        assert!(apart < most[0], "{real:?}: {}", found.loss);
        let middle = found.estimates[3 * 12 + 2].value;
        assert!(
            (middle + 1.777_682_24).abs() < most[1],
            "{real:?}: {middle}"
        );
    }
}
