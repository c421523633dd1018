//! Draws at their edges: the ends of intervals, tiny chances, arguments without a distribution, and integers
//! that every backend draws to the bit.

use sim_compiler::compile;
use sim_runtime::{Array, Backend, Error, Simulation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch,
};

/// Draws with arguments of every size, which integers make: no backend rounds them.
const INTEGERS: &str = "
steps 2
param rate   = 12.5
param share  = [0.25, 1.0e-6, 3.0, 0.0]
state hash: u32 = 2166136261
state count = 0

fn mixed(hash: u32, value: i32) -> u32 {
    return (hash ^ bitcast<u32>(value)) * 16777619u
}

step t {
    let n = (u32(agent) * 4u + u32(t) + 1u) * 2654435761u
    let m = (n ^ (n >> 15u)) * 2246822519u
    // From 2^-31 to 2^30, from 2 to 2,048, and whatever bits give.
    hash = mixed(hash, poisson(bitcast<f32>(0x30000000u + m % 0x1e800001u)))
    count = poisson(bitcast<f32>(0x40000000u + n % 0x05000000u))
    hash = mixed(hash, count)
    hash = mixed(hash, poisson(bitcast<f32>(n ^ m)))
    hash = mixed(hash, poisson(rate) + poisson(0.75) + poisson(700.5))
    hash = mixed(hash, i32(bernoulli(bitcast<f32>(0x2c000000u + n % 0x13800001u))))
    hash = mixed(hash, i32(bernoulli(bitcast<f32>(m))))
    hash = mixed(hash, randint(i32(m), i32(n)))
    hash = mixed(hash, randint(0, 1610612736) + randint(-5, 5))
    hash = mixed(hash, categorical([for i in 0..5: bitcast<f32>(0x38000000u + (m >> u32(i)) % 0x09000000u)]))
    hash = mixed(hash, categorical([for i in 0..3: bitcast<f32>(n << u32(i))]))
    hash = mixed(hash, categorical(share) + categorical([1.0, 2.0, 5.0]))
    hash = mixed(hash, binomial(i32(n >> (m % 32u)), bitcast<f32>(0x2c000000u + n % 0x13800001u)))
    hash = mixed(hash, binomial(i32(m), bitcast<f32>(n ^ m)) + binomial(1000, 0.25) + binomial(30, 0.125))
    hash = mixed(hash, geometric(bitcast<f32>(0x2c000000u + m % 0x13800001u)) + geometric(0.01))
    hash = mixed(hash, geometric(bitcast<f32>(m)))
}

output hash
output count
";

/// `SIM_DRAW_AGENTS=10_000_000` compares that many agents; docs/random.md has the command.
#[test]
fn integers_are_the_same_everywhere() {
    let agents = std::env::var("SIM_DRAW_AGENTS").map_or(5_000, |text| {
        let count = text.replace('_', "").parse();
        count.expect("SIM_DRAW_AGENTS is a number")
    });
    let results = |backend| {
        let simulation = launch::simulation(INTEGERS, backend, true).expect("compiles");
        simulation.agents(agents).seed(5).run().expect("runs")
    };
    let expected = results(Backend::Reference);
    let counts = expected.output::<i32>("count").expect("an output");
    assert!(counts.iter().all(|count| *count < 4_000));
    for backend in launch::backends() {
        let held = compare(&results(backend), &expected, Tolerance::Bits);
        assert_eq!(held, Ok(()), "{backend:?}");
    }
}

/// One value of a model with one output for one agent.
fn value(backend: Backend, body: &str, seed: u64, agent: u32) -> f32 {
    let simulation = launch::simulation(body, backend, true).expect("compiles");
    let simulation = simulation.seed(seed).first_agent(agent).agents(1);
    let run = simulation.run().expect("runs");
    run.output::<f32>("o").expect("an output")[0]
}

/// Of seed 1: agents whose first word as they begin is 4 and 5; the second one's next word is 0.4966 of 2^32.
const WORD_IS_4: u32 = 551_565_705;
const WORD_IS_5: u32 = 243_566_740;

#[test]
fn tiny_chances_and_long_waits_have_all_bits_of_a_word() {
    let cases = [
        // 4.295, 4.724 and 6.01 in 2^32.
        ("f32(bernoulli(1.0e-9))", [0.0, 0.0]),
        ("f32(bernoulli(1.1e-9))", [1.0, 0.0]),
        ("f32(bernoulli(1.4e-9))", [1.0, 1.0]),
        ("exponential(1.0)", [20.676_63, 20.475_96]),
        ("f32(randint(0, 2000000000))", [2.0, 2.0]),
    ];
    let mut backends = launch::backends();
    backends.push(Backend::Reference);
    for (call, expected) in cases {
        let body = format!("state o = {call}\noutput o\n");
        for backend in &backends {
            for (agent, expected) in [WORD_IS_4, WORD_IS_5].into_iter().zip(expected) {
                let found = value(*backend, &body, 1, agent);
                let near = (found - expected).abs() <= 2e-4 * expected;
                assert!(near, "{backend:?}, {call}: {found}, not {expected}");
            }
        }
    }
}

#[test]
fn an_exponential_number_is_above_zero() {
    let ends = "state o = exponential_from(0xffffffffu)\nstate p = exponential_from(0u)\noutput o\n\
        output p\n";
    for backend in launch::backends() {
        let simulation = launch::simulation(ends, backend, true).expect("compiles");
        let run = simulation.agents(1).run().expect("runs");
        let [least, most] = ["o", "p"].map(|name| run.output::<f32>(name).expect("an output")[0]);
        assert!(
            (least / 2f32.powi(-33) - 1.0).abs() < 1e-6,
            "{backend:?}: {least}"
        );
        assert!(
            (most - 33.0 * 2f32.ln()).abs() < 1e-3,
            "{backend:?}: {most}"
        );
    }
}

/// Ends as constants, as params and as values of the run.
#[test]
fn uniform_numbers_stay_below_their_end() {
    const ENDS: [[f32; 2]; 6] = [
        [2.0, 3.0],
        [1e6, 1e6 + 1.0],
        [-16_777_217.0, -16_777_214.0],
        [1.0, 1.000_000_1],
        [-1e-3, 0.0],
        [-3e38, 3e37],
    ];
    for [low, high] in ENDS {
        let constant = format!("state o = uniform({low:?}, {high:?})\noutput o\n");
        let param = "param a: f32\nparam b: f32\nstate o = uniform(a, b)\noutput o\n";
        let run = "param a: f32\nparam b: f32\nstate c = select(a, b, agent < 0)\n\
            state d = select(b, a, agent < 0)\n\
                   state o = uniform(c, d)\noutput o\n";
        for (body, params) in [(constant.as_str(), false), (param, true), (run, true)] {
            for backend in launch::backends() {
                let mut simulation = launch::simulation(body, backend, true).expect("compiles");
                if params {
                    simulation = simulation.param("a", low).expect("a param");
                    simulation = simulation.param("b", high).expect("a param");
                }
                let run = simulation.agents(100_000).run().expect("runs");
                let found = run.output::<f32>("o").expect("an output");
                let outside = found.iter().find(|x| !(low..high).contains(*x));
                assert_eq!(outside, None, "{backend:?}, {low}..{high}: {body}");
            }
        }
    }
}

/// What docs/random.md says of arguments that only the run knows.
#[test]
fn arguments_without_a_distribution_give_what_is_written() {
    const MODEL: &str = "
param bad: [f32; 4]
param few: [i32; 2]
input none = 0.0
state less = uniform(bad[0] + none, bad[1] + none)
state forever = exponential(bad[2] + none)
state never = bernoulli(bad[2] + none)
state always = bernoulli(bad[0] + none)
state no_one = poisson(bad[2] + none) + poisson(bad[3] + none)
state most = poisson(bad[0] * 1.0e15 + none)
state start = randint(few[0] + i32(none), few[1] + i32(none))
state last = categorical([none, bad[2] + none, none])
state mirrored = abs(normal(none, bad[2] + none)) < 7.0
output less
output forever = forever > 3.0e38
output bools = [never, always, mirrored]
state between = normal(0.0, 1.0, bad[0] + none, bad[1] + none)
state at_mean = normal(2.5, bad[3] + none, bad[1] + none, bad[0] + none)
state counts = [binomial(-1 + i32(none), 0.5), binomial(9, bad[2] + none), binomial(9, bad[0] + none)]
state waits = [geometric(bad[3] + none), geometric(bad[0] + none)]
state unknown = [gamma(bad[2] + none, 1.0), beta(1.0, bad[3] + none), chi_squared(bad[2] + none),
    student_t(bad[3] + none)]
output ints = [no_one, most, start, last]
output ends = [between, at_mean]
output whole = [counts[0], counts[1], counts[2], waits[0], waits[1]]
output is_unknown = all(for k in 0..4: unknown[k] != unknown[k])
";
    let mut backends = launch::backends();
    backends.push(Backend::Reference);
    for backend in backends {
        let simulation = launch::simulation(MODEL, backend, true).expect("compiles");
        let simulation = simulation
            .param("bad", [3.0, 2.0, -1.0, 0.0])
            .expect("a param");
        let simulation = simulation.param("few", [5, 2]).expect("a param").agents(1);
        let run = simulation.run().expect("runs");
        assert_eq!(
            run.output::<f32>("less").expect("an output"),
            [3.0],
            "{backend:?}"
        );
        assert_eq!(
            run.output::<bool>("forever").expect("an output"),
            [true],
            "{backend:?}"
        );
        let bools = run.output::<bool>("bools").expect("an output");
        assert_eq!(bools, [false, true, true], "{backend:?}");
        let ints = run.output::<i32>("ints").expect("an output");
        assert_eq!([ints[0], ints[2], ints[3]], [0, 5, 2], "{backend:?}");
        let ends = run.output::<f32>("ends").expect("an output");
        assert_eq!(ends, [3.0, 2.5], "{backend:?}");
        let whole = run.output::<i32>("whole").expect("an output");
        assert_eq!(whole, [0, 0, 9, i32::MAX, 1], "{backend:?}");
        let unknown = run.output::<bool>("is_unknown").expect("an output");
        assert_eq!(unknown, [true], "{backend:?}");
        assert!(
            (ints[1] - (1 << 30)).abs() < 400_000,
            "{backend:?}: {}",
            ints[1]
        );
    }
}

/// The error of a launch, if it is refused.
fn refused(simulation: &Simulation) -> Option<String> {
    match simulation.run() {
        Ok(_) => None,
        Err(error @ Error::NoDistribution { .. }) => {
            assert_eq!(error.code(), "E0717");
            Some(error.to_string())
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_launch_without_a_distribution_is_refused() {
    let with = |body: &str, value: f32| {
        let source =
            format!("agents 10\nsteps 2\nparam p = 0.5\nstate x = 0.0\n{body}\noutput x\n");
        let simulation = Simulation::compile(&source)
            .expect("compiles")
            .backend(Backend::Cpu);
        refused(&simulation.param("p", value).expect("a param"))
    };
    for (call, bad) in [
        ("f32(poisson(p))", -1.0),
        ("f32(poisson(p))", 1e10),
        ("f32(bernoulli(2.0 * p))", 0.75),
        ("exponential(p)", 0.0),
        ("normal(x, p)", -0.1),
        ("uniform(1.0, p)", 0.5),
        ("f32(randint(1, i32(p)))", 1.0),
        ("f32(categorical([p, p]))", 0.0),
        ("f32(categorical([x, p]))", -1.0),
        ("gamma(p, 1.0)", 0.0),
        ("beta(1.0, p)", -1.0),
        ("normal(0.0, 1.0, p, 1.0)", 2.0),
        ("f32(binomial(9, p))", 1.5),
        ("f32(geometric(p))", 0.0),
    ] {
        let good = if call.starts_with('u') || call.contains("randint") {
            2.0
        } else {
            0.25
        };
        let body = format!("step {{\n    let q = {call}\n    x += q\n}}");
        assert_eq!(with(&body, good), None, "{call}");
        assert!(with(&body, bad).is_some(), "{call} with {bad}");
        let guarded = format!("step {{\n    if x > 1.0 {{\n        x += {call}\n    }}\n}}");
        assert_eq!(with(&guarded, bad), None, "{guarded}");
    }
    let named = "step {\n    let mean = p * 3.0\n    x += f32(poisson(mean + 1.0))\n}";
    let message = with(named, -1.0).expect("refused");
    assert_eq!(
        message,
        "`poisson` needs a mean from 0 to 2^30; here `mean` is -2"
    );
    // Through functions of params, too, but not of the agent.
    let hazard = "fn twice(x: f32) -> f32 {\n    return 2.0 * x\n}\nstep {\n    x = exponential(twice(p))\n}";
    assert!(with(hazard, 0.0).is_some());
    let own = "fn at(x: f32) -> f32 {\n    return x * f32(agent)\n}\nstep {\n    x = exponential(at(p) + \
        1.0)\n}";
    assert_eq!(with(own, -9.0), None);
    let weights = "param w = [1.0, 2.0]\nagents 1\nstate x = categorical(w)\noutput x\n";
    let simulation = Simulation::compile(weights)
        .expect("compiles")
        .backend(Backend::Cpu);
    assert_eq!(refused(&simulation), None);
    let simulation = simulation.param("w", [0.0, 0.0]).expect("a param");
    assert!(refused(&simulation).is_some());
}

/// An input's distribution counts only where the launch does not give the input.
#[test]
fn a_given_input_needs_no_distribution() {
    let source = "agents 2\nparam d = -1.0\ninput x: [f32; 3] ~ normal(0.0, d)\noutput y = x[0]\n";
    let simulation = Simulation::compile(source)
        .expect("compiles")
        .backend(Backend::Cpu);
    assert!(refused(&simulation).is_some());
    let rows = Array::from(vec![1.0_f32; 6]);
    assert_eq!(
        refused(&simulation.input("x", rows).expect("an input")),
        None
    );
}

#[test]
fn a_constant_without_a_distribution_is_an_error() {
    for call in [
        "randint(5, 2)",
        "randint(2, 2)",
        "poisson(-1.0)",
        "poisson(2.0e9)",
        "categorical([0.0, 0.0])",
        "categorical([1.0, -1.0])",
        "exponential(-1.0)",
        "exponential(0.0)",
        "bernoulli(1.5)",
        "normal(0.0, -1.0)",
        "uniform(3.0, 2.0)",
        "normal(0.0, 1.0, 2.0, 2.0)",
        "normal(0.0, -1.0, 0.0, 2.0)",
        "lognormal(0.0, -1.0)",
        "gamma(0.0, 1.0)",
        "gamma(2.0, -1.0)",
        "beta(1.0, 0.0)",
        "chi_squared(-1.0)",
        "student_t(0.0)",
        "cauchy(0.0, -1.0)",
        "laplace(INFINITY, 1.0)",
        "binomial(-1, 0.5)",
        "binomial(5, 1.5)",
        "geometric(0.0)",
        "uniform(-3.0e38, 3.0e38)",
    ] {
        let source = format!("state x = {call}\noutput x\n");
        let found = compile(&source).expect_err(call);
        assert_eq!((found.len(), found[0].code), (1, "E0424"), "{call}");
    }
}
