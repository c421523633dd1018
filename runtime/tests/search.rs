//! `Simulation::search`: against published functions with known optima, and policies with known scores.

use sim_runtime::{
    Aim, Backend, CmaEs, Control, Error, Found, Genetic, OpenEs, Optimiser, Range, SavedSearch,
    Search, SearchEnded, SearchMethod, Simulation,
};
use std::{fs, path::Path, sync::atomic::AtomicBool};

/// Functions in 8 dimensions, whose optimum is `x = place`, away from the middle of the range and from 0, so
/// that no method finds it by beginning there. The least value is 0 each.
///
/// Sources: sphere and Rosenbrock as functions 1 and 8, Rastrigin as function 3 of N. Hansen, S. Finck, R.
/// Ros and A. Auger, "Real-Parameter Black-Box Optimization Benchmarking 2009"; D. Ackley, "A Connectionist
/// Machine for Genetic Hillclimbing" (1987).
const FUNCTIONS: [(&str, &str); 4] = [
    ("sphere", "sum(for k in 0..D: z[k] * z[k])"),
    (
        "rosenbrock",
        "sum(for k in 0..D - 1: 100.0 * (z[k + 1] + 1.0 - (z[k] + 1.0) ** 2) ** 2 + z[k] * z[k])",
    ),
    (
        "rastrigin",
        "sum(for k in 0..D: z[k] * z[k] + 10.0 * (1.0 - cos(6.283185307179586 * z[k])))",
    ),
    (
        "ackley",
        "20.0 - 20.0 * exp(-0.2 * sqrt(mean(for k in 0..D: z[k] * z[k]))) + 2.718281828459045
            - exp(mean(for k in 0..D: cos(6.283185307179586 * z[k])))",
    ),
];

fn function(value: &str, dimensions: u32, agents: u32) -> Simulation {
    let source = format!(
        "agents {agents}
        const D = {dimensions}
        input x: [f32; D] ~ uniform(-5.0, 5.0)
        fn f(z: [f32; D]) -> f32 {{ return {value} }}
        output cost = f([for k in 0..D: x[k] - 2.5 + 0.7 * f32(k % 4)])"
    );
    model(&source)
}

fn model(source: &str) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

fn found(simulation: &Simulation, search: &Search) -> Found {
    let found = simulation.search(search, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn islands() -> SearchMethod {
    SearchMethod::Genetic(Genetic {
        islands: 4,
        patience: Some(50),
        ..Genetic::default()
    })
}

fn cma_es(separable: bool) -> SearchMethod {
    SearchMethod::CmaEs(CmaEs {
        separable,
        ..CmaEs::default()
    })
}

fn methods() -> [SearchMethod; 6] {
    [
        islands(),
        SearchMethod::OpenEs(OpenEs::default()),
        SearchMethod::OpenEs(OpenEs {
            optimiser: Optimiser::Momentum,
            ..OpenEs::default()
        }),
        cma_es(false),
        cma_es(true),
        SearchMethod::Random,
    ]
}

fn minimised(method: SearchMethod, generations: u32) -> Search {
    Search {
        aim: Aim::Minimise,
        method,
        generations,
        ..Search::new("cost", &["x"])
    }
}

/// A function, a method with its number of candidates, the value to be reached, and within how many
/// evaluations.
type Target = (&'static str, SearchMethod, u32, f64, u64);

#[test]
fn published_minima_are_reached_within_a_number_of_evaluations() {
    let open_es = || SearchMethod::OpenEs(OpenEs::default());
    let targets: Vec<Target> = vec![
        ("sphere", islands(), 200, 1e-3, 20_000),
        ("sphere", open_es(), 100, 1e-3, 30_000),
        ("sphere", cma_es(false), 50, 1e-6, 5_000),
        ("sphere", cma_es(true), 50, 1e-6, 4_000),
        ("sphere", methods()[2].clone(), 100, 0.1, 10_000),
        ("rosenbrock", cma_es(false), 50, 1e-6, 15_000),
        ("rosenbrock", open_es(), 100, 2.0, 30_000),
        ("rastrigin", islands(), 200, 1e-3, 40_000),
        ("rastrigin", cma_es(false), 600, 1e-3, 40_000),
        ("ackley", islands(), 200, 1e-3, 60_000),
        ("ackley", cma_es(false), 50, 1e-3, 6_000),
        ("ackley", cma_es(true), 50, 1e-3, 4_000),
        ("sphere", SearchMethod::Random, 200, 6.0, 60_000),
    ];
    for (name, method, agents, target, evaluations) in targets {
        let (_, value) = FUNCTIONS
            .iter()
            .find(|(known, _)| *known == name)
            .expect("it is one");
        let search = Search {
            target: Some(target),
            ..minimised(method, (evaluations / u64::from(agents)) as u32)
        };
        let it = found(&function(value, 8, agents), &search);
        let method = search.method.name();
        println!(
            "{name} {method}: {:e} after {}",
            it.elites[0].fitness, it.evaluations
        );
        assert_eq!(
            it.ended,
            SearchEnded::Target,
            "{name} {method}: {:e}",
            it.elites[0].fitness
        );
        // The minimum is at the place that the functions have, not only as low.
        if target <= 1e-6 {
            for (k, gene) in it.elites[0].genome.iter().enumerate() {
                let place = 2.5 - 0.7 * (k % 4) as f64;
                assert!(
                    (gene - place).abs() < 0.02,
                    "{name} {method}: {gene} is not {place}"
                );
            }
        }
    }
}

#[test]
fn a_rotated_valley_needs_the_whole_covariance() {
    let value =
        "sum(for k in 0..D - 1: 100.0 * (z[k + 1] + 1.0 - (z[k] + 1.0) ** 2) ** 2 + z[k] * z[k])";
    let after = |separable| {
        let it = found(&function(value, 8, 50), &minimised(cma_es(separable), 250));
        it.elites[0].fitness
    };
    let [full, separable] = [false, true].map(after);
    assert!(full < 1e-6 && separable > 0.1, "{full:e} {separable:e}");
}

fn example(name: &str, agents: u32) -> Simulation {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lang-examples");
    let source = fs::read_to_string(path.join(name)).unwrap_or_else(|error| panic!("{error}"));
    model(&source).agents(agents)
}

#[test]
fn a_pole_is_held_for_the_whole_episode() {
    for method in [
        SearchMethod::Genetic(Genetic::default()),
        SearchMethod::OpenEs(OpenEs::default()),
        cma_es(false),
    ] {
        let search = Search {
            method,
            generations: 15,
            evaluations: 2,
            elites: 5,
            ..Search::new("reward", &["w1", "b1", "w2", "b2"])
        };
        let it = found(&example("cartpole.sim", 128), &search);
        let best = it.elites[0]
            .again
            .map_or(it.elites[0].fitness, |again| again.mean);
        println!("{}: {best} in {:?}", search.method.name(), it.seconds);
        // 500 is all that an episode gives. The value is in new starts, which did not choose the policy.
        assert!(best > 495.0, "{}: {:?}", search.method.name(), it.elites[0]);
    }
}

#[test]
fn a_car_swings_out_of_its_valley() {
    let search = Search {
        generations: 25,
        evaluations: 4,
        elites: 5,
        ..Search::new("reward", &["w1", "b1", "w2", "b2"])
    };
    let it = found(&example("mountain_car.sim", 128), &search);
    let best = it.elites[0].again.expect("starts are drawn").mean;
    // Gymnasium calls the task solved at -110.
    assert!(best > -110.0, "{best} {:?}", it.history.last());
}

/// Sums of distances: no operation of it is rounded in two ways.
const EXACT: &str = "agents 64
    input x: [f32; 3] ~ uniform(-4.0, 4.0)
    output cost = abs(x[0] - 1.5) + abs(x[1] + 0.5) + abs(x[2] - 3.0)";

#[test]
fn all_backends_find_the_same_winner() {
    let mut backends = vec![Backend::Cpu, Backend::Reference];
    match sim_runtime::adapters().is_empty() {
        true => eprintln!("SKIPPED on the GPU: no adapter was found"),
        false => backends.push(Backend::Gpu),
    }
    for method in methods() {
        let search = minimised(method, 12);
        let results: Vec<Found> = (backends.iter())
            .map(|backend| found(&model(EXACT).backend(*backend), &search))
            .collect();
        for other in &results[1..] {
            assert_eq!(other.elites, results[0].elites, "{}", search.method.name());
            assert_eq!(other.history, results[0].history);
        }
    }
    let search = |seed| Search {
        seed,
        ..minimised(islands(), 12)
    };
    let other = found(&model(EXACT), &search(1));
    assert_ne!(other.elites, found(&model(EXACT), &search(0)).elites);
}

/// Fitness with draws, so that a generation that had others would show.
const NOISY: &str = "agents 48 steps 3
    input x: [f32; 3] ~ uniform(-4.0, 4.0)
    state cost = abs(x[0] - 1.5) + abs(x[1] + 0.5) + abs(x[2] - 3.0)
    step { cost += 0.1 * normal() }
    output cost";

#[test]
fn a_search_goes_on_as_if_nobody_had_interrupted_it() {
    for method in methods() {
        let method = match method {
            SearchMethod::Genetic(how) => SearchMethod::Genetic(Genetic {
                patience: Some(3),
                migration: 2,
                ..how
            }),
            SearchMethod::CmaEs(how) => SearchMethod::CmaEs(CmaEs {
                patience: Some(3),
                ..how
            }),
            other => other,
        };
        let search = minimised(method, 12);
        let simulation = model(NOISY);
        let whole = found(&simulation, &search);
        for cut in [0, 1, 7] {
            let mut first = simulation.begin_search(&search).expect("it begins");
            for _ in 0..cut {
                first.advance(&Control::default()).expect("it advances");
            }
            // A generation that is cancelled is as if it had not begun.
            let cancel = AtomicBool::new(true);
            let cancelled = first.advance(&Control {
                cancel: Some(&cancel),
                ..Control::default()
            });
            assert!(matches!(cancelled, Err(Error::Cancelled)));
            let mut bytes = Vec::new();
            let saved = first.save().expect("it is saved");
            saved.write(&mut bytes).expect("it is written");
            let saved = SavedSearch::read(bytes.as_slice()).expect("it is read");
            let mut second = model(NOISY)
                .resume_search(&search, saved)
                .expect("it is the same");
            while !second.is_done() {
                second.advance(&Control::default()).expect("it advances");
            }
            let second = second.finish(&Control::default()).expect("it ends");
            assert_eq!(
                second.elites,
                whole.elites,
                "{} {cut}",
                search.method.name()
            );
            assert_eq!(second.history, whole.history);
        }
    }
}

#[test]
fn another_search_does_not_go_on() {
    let search = minimised(islands(), 5);
    let saved = || {
        let mut begun = model(NOISY).begin_search(&search).expect("it begins");
        begun.advance(&Control::default()).expect("it advances");
        let mut bytes = Vec::new();
        let saved = begun.save().expect("it is saved");
        saved.write(&mut bytes).expect("it is written");
        bytes
    };
    let bytes = saved();
    let resumed = |simulation: Simulation, search: &Search| {
        let saved = SavedSearch::read(bytes.as_slice()).expect("it is read");
        simulation.resume_search(search, saved).map(|_| ())
    };
    let longer = Search {
        generations: 50,
        ..search.clone()
    };
    assert!(resumed(model(NOISY), &longer).is_ok());
    let other_seed = Search {
        seed: 3,
        ..search.clone()
    };
    let message = resumed(model(NOISY), &other_seed)
        .expect_err("it differs")
        .to_string();
    assert_eq!(
        message,
        "the seed of the search is 3 here, but 0 in the snapshot"
    );
    let message = resumed(model(NOISY).steps(4), &search)
        .expect_err("it differs")
        .to_string();
    assert_eq!(
        message,
        "the number of steps is 4 here, but 3 in the snapshot"
    );
    let other_model = model(&NOISY.replace("0.1", "0.2"));
    assert!(matches!(
        resumed(other_model, &search),
        Err(Error::SnapshotModel)
    ));
    for at in (0..bytes.len()).step_by(7) {
        let mut broken = bytes.clone();
        broken[at] ^= 4;
        let read = SavedSearch::read(broken.as_slice());
        assert!(
            matches!(read, Err(Error::SnapshotBroken { .. })),
            "byte {at}"
        );
        let read = SavedSearch::read(&bytes[..at]);
        assert!(
            matches!(read, Err(Error::SnapshotBroken { .. })),
            "{at} bytes"
        );
    }
}

#[test]
fn the_first_generation_is_what_the_model_draws() {
    let simulation = model(EXACT).seed(9);
    let run = simulation.run().expect("it runs");
    let values: &[f32] = run.output("cost").expect("it is there");
    let least = values.iter().copied().fold(f32::INFINITY, f32::min);
    for method in methods() {
        let it = found(&simulation, &minimised(method, 1));
        assert_eq!(it.history[0].best, f64::from(least));
    }
}

#[test]
fn fitness_is_averaged_and_draws_are_shared_as_asked() {
    let model =
        || model("agents 400 input x: f32 ~ uniform(0.0, 1.0) state luck = normal() output luck");
    let search = |evaluations, common_draws, fixed_draws| Search {
        method: SearchMethod::Random,
        generations: 3,
        evaluations,
        common_draws,
        fixed_draws,
        ..Search::new("luck", &["x"])
    };
    let one = found(&model(), &search(1, false, false));
    let many = found(&model(), &search(64, false, false));
    // The largest of 400 normals is about 2.97 of their deviations, which is an eighth for 64 of them.
    let [one_best, many_best] = [&one, &many].map(|it| it.history[0].best);
    assert!(
        (2.0..4.5).contains(&one_best) && (0.2..0.6).contains(&many_best),
        "{one_best} {many_best}"
    );
    assert_ne!(one.history[0].best, one.history[1].best);
    // The best was lucky; in new draws it is not.
    let again = one.elites[0].again.expect("it is noisy");
    assert!(again.mean.abs() < 4.5 * again.standard_error, "{again:?}");
    let common = found(&model(), &search(4, true, false));
    for generation in &common.history {
        assert_eq!(generation.best, generation.mean);
    }
    assert_ne!(common.history[0].best, common.history[1].best);
    let fixed = found(&model(), &search(1, false, true));
    assert_eq!(fixed.history[0].best, fixed.history[2].best);
}

#[test]
fn genes_begin_and_stay_where_they_are_told_to() {
    let source = "agents 40 input a: f32 input b: vec2 ~ normal(0.0, 1.0) input fixed: f32 ~ uniform(0.0, 1.0)
        output f = a + b.x - b.y";
    let range = |input: Option<&str>, low, high| Range {
        input: input.map(str::to_owned),
        low,
        high,
    };
    for method in methods() {
        let search = Search {
            method,
            generations: 20,
            from: vec![range(Some("a"), 2.0, 3.0)],
            within: vec![range(None, -1.5, 1.5), range(Some("a"), 1.0, 4.0)],
            ..Search::new("f", &["a", "b"])
        };
        let simulation = model(source);
        let it = found(&simulation, &search);
        for elite in &it.elites {
            assert!((1.0..=4.0).contains(&elite.genome[0]), "{elite:?}");
            assert!(
                elite.genome[1..].iter().all(|gene| gene.abs() <= 1.5),
                "{elite:?}"
            );
        }
        if search.method != SearchMethod::Random {
            // Beyond the largest that the first genomes can have.
            assert!(it.elites[0].fitness > 6.01, "{:?}", it.elites[0]);
        }
        let first = found(
            &simulation,
            &Search {
                generations: 1,
                ..search.clone()
            },
        );
        assert!(
            first
                .elites
                .iter()
                .all(|elite| (2.0..=3.0).contains(&elite.genome[0]))
        );
        assert_eq!(it.columns.len(), 3);
        assert_eq!(it.columns[1].shape, [10, 2]);
    }
}

/// Code, message and help of a search that is refused.
fn refusal(source: &str, search: Search) -> (&'static str, String, String) {
    let error = model(source).search(&search, &Control::default(), &mut |_| {});
    let error = error.expect_err("it is refused");
    let help = error.help().unwrap_or_default();
    (error.code(), error.to_string(), help)
}

const REFUSED: &str = "agents 3 param p = 1.0 input w: f32 = 1.0 input n: i32 = 2
    output f = w + p output g = [w, w] output h = n output bad = sqrt(-1.0 - w * w)";

#[test]
fn what_is_no_genome_and_no_fitness_is_said() {
    let source = REFUSED;
    let (code, _, help) = refusal(source, Search::new("fit", &["w"]));
    assert_eq!((code, help.contains("`f`")), ("E0701", true), "{help}");
    let (code, _, help) = refusal(source, Search::new("f", &["W"]));
    assert_eq!((code, help.contains("`w`")), ("E0701", true), "{help}");
    let (code, message, _) = refusal(source, Search::new("f", &["n"]));
    assert_eq!(
        (code, &message[..]),
        ("E0745", "input `n` holds i32, and a search is over floats")
    );
    let (code, message, _) = refusal("agents 9 output f = 1.0", Search::new("f", &["n"]));
    assert_eq!(
        (code, &message[..]),
        ("E0745", "the model has no float input to search over")
    );
    let (code, message, _) = refusal(source, Search::new("g", &["w"]));
    assert_eq!(
        (code, &message[..]),
        (
            "E0746",
            "output `g` is [2] of f32, and a fitness is one float per agent"
        )
    );
    assert_eq!(refusal(source, Search::new("h", &["w"])).0, "E0746");
    let with_world = "agents 8 world 2 input w: f32 = 1.0 world input c: f32 = 1.0
        world output best = c output f = w + c";
    let (code, message, _) = refusal(with_world, Search::new("f", &["c"]));
    assert_eq!(
        (code, &message[..]),
        (
            "E0745",
            "input `c` belongs to worlds, and candidates are agents"
        )
    );
    assert_eq!(refusal(with_world, Search::new("best", &["w"])).0, "E0746");
}

#[test]
fn settings_that_no_search_can_have_are_said() {
    let source = REFUSED;
    let (code, message, _) = refusal(source, Search::new("f", &["w"]));
    assert_eq!(
        (code, &message[..]),
        ("E0747", "ga needs at least 4 candidates, but a run has 3")
    );
    let random = Search {
        method: SearchMethod::Random,
        ..Search::new("bad", &["w"])
    };
    let (code, message, _) = refusal(source, random);
    assert_eq!(
        (code, &message[..]),
        (
            "E0748",
            "output `bad` is no finite number for any of 3 candidates"
        )
    );
    let with_islands = Search {
        method: islands(),
        ..Search::new("f", &["w"])
    };
    let (code, message, _) = refusal(&source.replace("agents 3", "agents 12"), with_islands);
    assert_eq!(
        (code, &message[..]),
        (
            "E0747",
            "ga needs at least 4 candidates, but an island has 3"
        )
    );
    let turned = Search {
        from: vec![Range {
            input: None,
            low: 2.0,
            high: 1.0,
        }],
        ..Search::new("f", &["w"])
    };
    assert_eq!(refusal(source, turned).0, "E0749");
}

#[test]
fn a_candidate_without_a_fitness_is_the_worst() {
    let source = "agents 60 input x: f32 ~ uniform(-1.0, 1.0) output cost = log(x)";
    let search = Search {
        generations: 20,
        ..minimised(islands(), 20)
    };
    let it = found(
        &model(&source.replace("cost = log(x)", "cost = abs(log(x))")),
        &search,
    );
    assert!(it.history[0].finite < 60 && it.history[0].finite > 10);
    assert!(it.elites[0].fitness < 0.05, "{:?}", it.elites[0]);
    assert!(it.history[0].mean.is_finite());
}
