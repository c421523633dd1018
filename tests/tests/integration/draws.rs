//! Draws depend on seed, agent, step and number alone: the same on every backend and in every split.

use sim_runtime::{Backend, Simulation};
use sim_tests::launch;

/// Folds every draw into a hash, so that one wrong bit in a million draws shows.
const MODEL: &str = "
agents 1000
steps  250
state hash: u32 = 2166136261
state last = 0
step {
    for k in 0..2 {
        hash = (hash ^ u32(random() * 16777216.0)) * 16777619u
    }
    last = randint(-2147483648, 2147483647)
    hash = (hash ^ u32(last)) * 16777619u
    if bernoulli(0.5) {
        hash = (hash ^ u32(randint(0, 1000))) * 16777619u
    }
    hash = (hash ^ u32(uniform(0.0, 65536.0))) * 16777619u
}
output hash
output last
";

fn hashes(simulation: Simulation) -> (Vec<u32>, Vec<i32>) {
    let run = simulation.run().expect("the model runs");
    let hash = run.output::<u32>("hash").expect("an output").to_vec();
    (hash, run.output::<i32>("last").expect("an output").to_vec())
}

fn simulation(backend: Backend) -> Simulation {
    launch::simulation(MODEL, backend, true)
        .expect("the model compiles")
        .seed(0x1234_5678_9abc_def0)
}

#[test]
fn a_million_draws_are_the_same_bits_everywhere() {
    let expected = hashes(simulation(Backend::Reference));
    let distinct: std::collections::BTreeSet<u32> = expected.0.iter().copied().collect();
    assert!(
        distinct.len() > 990,
        "agents must not share a stream: {} hashes",
        distinct.len()
    );
    for backend in launch::backends() {
        assert!(
            hashes(simulation(backend)) == expected,
            "{backend:?} draws other bits than the interpreter"
        );
    }
}

#[test]
fn a_population_in_two_parts_draws_the_same() {
    for backend in launch::backends() {
        let whole = hashes(simulation(backend));
        let mut parts = hashes(simulation(backend).agents(400));
        let rest = hashes(simulation(backend).first_agent(400).agents(600));
        parts.0.extend(rest.0);
        parts.1.extend(rest.1);
        assert!(
            parts == whole,
            "{backend:?}: two parts differ from the whole"
        );
    }
}

#[test]
fn another_seed_draws_otherwise() {
    let (one, _) = hashes(simulation(Backend::Reference));
    let (other, _) = hashes(simulation(Backend::Reference).seed(2));
    let same = one.iter().zip(&other).filter(|(a, b)| a == b).count();
    assert!(
        same < 3,
        "{same} of 1000 agents drew the same under two seeds"
    );
}

/// Moments of every distribution, within five standard errors of the exact values at this sample size.
#[test]
fn distributions_have_their_moments() {
    const SAMPLE: &str = "
agents 100_000
param mean = 3.5
output unit = u
output normal_ = n
output wait = e
output dice = f32(d)
output few = f32(p)
output many = f32(q)
output pick = f32(c)
state u = random()
state n = normal(1.0, 2.0)
state e = exponential(4.0)
state d = randint(1, 7)
state p = poisson(mean)
state q = poisson(250.0)
state c = categorical([1.0, 2.0, 5.0])
";
    let cases = [
        ("unit", 0.5, 1.0 / 12.0),
        ("normal_", 1.0, 4.0),
        ("wait", 0.25, 0.0625),
        ("dice", 3.5, 35.0 / 12.0),
        ("few", 3.5, 3.5),
        ("many", 250.0, 250.0),
        ("pick", 1.5, 0.5),
    ];
    for backend in launch::backends() {
        let run = launch::simulation(SAMPLE, backend, true)
            .expect("compiles")
            .seed(3)
            .run()
            .expect("runs");
        for (name, mean, variance) in cases {
            let values: Vec<f64> = run
                .output::<f32>(name)
                .expect("an output")
                .iter()
                .map(|&x| f64::from(x))
                .collect();
            let n = values.len() as f64;
            let got = values.iter().sum::<f64>() / n;
            let spread = values.iter().map(|x| (x - got).powi(2)).sum::<f64>() / n;
            let error = (variance / n).sqrt();
            assert!(
                (got - mean).abs() < 5.0 * error,
                "{backend:?} {name}: mean {got}, exact {mean}"
            );
            // Fourth moments of these distributions are below 24 variances squared (the exponential's 9).
            let variance_error = variance * (9.0 / n).sqrt();
            assert!(
                (spread - variance).abs() < 5.0 * variance_error,
                "{backend:?} {name}: variance {spread}, exact {variance}"
            );
        }
    }
}
