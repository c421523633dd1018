//! Searches whose generations the device breeds: the same as those that the host breeds, to the bit, where
//! fitness has the same bits.

use sim_runtime::{
    Aim, Backend, Control, Crossover, Error, Found, Genetic, Range, SavedSearch, Search,
    SearchEnded, SearchMethod, Simulation,
};
use sim_tests::launch::has_gpu;

/// Sums, absolute values and products with powers of 2 have the same bits everywhere. Genes of two inputs,
/// more than a workgroup has invocations; between them an input that is given and one that is drawn; draws
/// in steps; and a fitness that some do not have.
const MODEL: &str = "
agents 200
steps 3
input x: [f32; 70] ~ uniform(-2.0, 2.0)
input weight: f32
input bias: [f32; 2] ~ uniform(0.0, 1.0)
input y ~ uniform(0.0, 1.0)
state luck = 0.0
step { luck += random() }
output cost = if y > 0.97 { y * 3.0e38 * 10.0 } else {
    bias[0] + bias[1] + abs(y - 0.5) + sum(for k in 0..70: abs(x[k] - 0.015625 * f32(k))) + weight * luck
}
";

fn simulation(backend: Backend, agents: u32) -> Simulation {
    let simulation = Simulation::compile(MODEL).unwrap_or_else(|error| panic!("{error}"));
    let weights: Vec<f32> = (0..agents).map(|k| (k % 3) as f32 * 0.25).collect();
    let given = simulation.agents(agents).input("weight", weights);
    given.expect("it is an input").backend(backend)
}

fn search(how: Genetic) -> Search {
    Search {
        aim: Aim::Minimise,
        method: SearchMethod::Genetic(how),
        generations: 90,
        ..Search::new("cost", &["x", "y"])
    }
}

fn found(simulation: &Simulation, search: &Search) -> Found {
    let found = simulation.search(search, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

fn is_same(a: &Found, b: &Found, what: &str) {
    let mean = |found: &Found| -> Vec<[u64; 4]> {
        let of = found.history.iter().map(|it| {
            let floats = [it.best, it.mean, it.best_so_far, it.finite.into()];
            floats.map(f64::to_bits)
        });
        of.collect()
    };
    for (number, (a, b)) in mean(a).into_iter().zip(mean(b)).enumerate() {
        assert_eq!(a, b, "{what}: generation {number}");
    }
    assert_eq!(a.history.len(), b.history.len(), "{what}");
    let elites = |found: &Found| -> Vec<_> {
        let of = found.elites.iter().map(|it| {
            let genome: Vec<u64> = it.genome.iter().map(|gene| gene.to_bits()).collect();
            (genome, it.fitness.to_bits(), it.count, it.generation)
        });
        of.collect()
    };
    assert_eq!(elites(a), elites(b), "{what}");
}

/// What it is, agents, and the search.
type Case = (&'static str, u32, Search);

fn cases_of_operators() -> Vec<Case> {
    let usual = Genetic::default;
    vec![
        ("as usual", 200, search(usual())),
        (
            "islands of unequal size",
            203,
            search(Genetic {
                islands: 4,
                migration: 3,
                migrants: 5,
                ..usual()
            }),
        ),
        (
            "nobody lives on",
            130,
            search(Genetic {
                keep: 0,
                crossover: Crossover::Blend,
                crossover_rate: 1.0,
                mutation_rate: Some(1.0),
                tournament: 1,
                ..usual()
            }),
        ),
        (
            "a small range, and only one parent",
            64,
            Search {
                within: vec![Range {
                    input: None,
                    low: 0.0,
                    high: 0.7,
                }],
                ..search(Genetic {
                    crossover_rate: 0.0,
                    tournament: 300,
                    ..usual()
                })
            },
        ),
    ]
}

fn cases_of_runs() -> Vec<Case> {
    let usual = Genetic::default;
    vec![
        (
            "several runs",
            96,
            Search {
                evaluations: 3,
                ..search(Genetic {
                    crossover: Crossover::Uniform,
                    ..usual()
                })
            },
        ),
        (
            "the same draws",
            96,
            Search {
                fixed_draws: true,
                aim: Aim::Maximise,
                ..search(usual())
            },
        ),
        (
            "islands that die out",
            120,
            search(Genetic {
                islands: 3,
                patience: Some(4),
                ..usual()
            }),
        ),
        (
            "a target on the way",
            200,
            Search {
                target: Some(30.0),
                ..search(usual())
            },
        ),
    ]
}

#[test]
fn a_device_breeds_what_the_host_breeds() {
    if !has_gpu() {
        return;
    }
    let cases = cases_of_operators().into_iter();
    for (what, agents, search) in cases.chain(cases_of_runs()) {
        let [host, device] =
            [Backend::Cpu, Backend::Gpu].map(|it| found(&simulation(it, agents), &search));
        assert_eq!(host.bred_on_device, 0, "{what}");
        let least = host.history.len() as u32 / 2;
        assert!(
            device.bred_on_device > least,
            "{what}: {}",
            device.bred_on_device
        );
        is_same(&host, &device, what);
        assert_eq!(host.ended, device.ended, "{what}");
        if search.target.is_some() {
            assert_eq!(device.ended, SearchEnded::Target, "{what}");
            assert!(device.history.len() < 90, "{what}");
        }
    }
}

#[test]
fn a_search_that_the_device_breeds_can_be_saved() {
    if !has_gpu() {
        return;
    }
    let search = Search {
        generations: 60,
        ..search(Genetic::default())
    };
    let whole = found(&simulation(Backend::Gpu, 100), &search);
    let first = Search {
        generations: 23,
        ..search.clone()
    };
    let of = simulation(Backend::Gpu, 100);
    let mut begun = of.begin_search(&first).expect("it begins");
    while !begun.is_done() {
        begun.advance(&Control::default()).expect("it advances");
    }
    let mut bytes = Vec::new();
    let saved = begun.save().expect("it is saved");
    saved.write(&mut bytes).expect("it is written");
    let saved = SavedSearch::read(&bytes[..]).expect("it is read");
    let mut resumed = of.resume_search(&search, saved).expect("it goes on");
    while !resumed.is_done() {
        resumed.advance(&Control::default()).expect("it advances");
    }
    let resumed = resumed.finish(&Control::default()).expect("it is done");
    is_same(&whole, &resumed, "saved and resumed");
}

#[test]
fn the_host_goes_on_where_the_device_was() {
    if !has_gpu() {
        return;
    }
    let search = Search {
        generations: 60,
        ..search(Genetic::default())
    };
    let of = simulation(Backend::Gpu, 100);
    let whole = found(&of, &search);
    let mut begun = of.begin_search(&search).expect("it begins");
    let mut turn = 0;
    while !begun.is_done() {
        turn += 1;
        // Two submissions in a row, and a generation of the host.
        if turn % 3 != 0 {
            begun.advance(&Control::default()).expect("it advances");
            continue;
        }
        let trials = begun.ask().expect("it asks").expect("it is not done");
        let mut fitness: Vec<f32> = Vec::new();
        let run = trials.run(&of, &Control::default(), |run| {
            fitness.extend_from_slice(run.output::<f32>("cost").expect("it is an output"));
        });
        run.expect("it runs");
        begun.tell(&fitness).expect("it learns");
    }
    let mixed = begun.finish(&Control::default()).expect("it is done");
    assert!((20..59).contains(&mixed.bred_on_device), "{turn} turns");
    is_same(&whole, &mixed, "by both in turn");
}

#[test]
fn other_searches_are_bred_by_the_host() {
    if !has_gpu() {
        return;
    }
    let models = [(
        "worlds",
        "world 5\ninput x ~ normal()\nstate s = x\noutput f = s",
        "x",
    )];
    for (what, source, over) in models {
        let simulation = Simulation::compile(&format!("agents 40\nsteps 2\n{source}"))
            .unwrap_or_else(|error| panic!("{what}: {error}"));
        let search = Search {
            generations: 5,
            ..Search::new("f", &[over])
        };
        let found = found(&simulation.backend(Backend::Gpu), &search);
        assert_eq!(found.bred_on_device, 0, "{what}");
        assert_eq!(found.history.len(), 5);
    }
}

#[test]
fn a_search_is_cancelled_between_submissions() {
    if !has_gpu() {
        return;
    }
    let flag = std::sync::atomic::AtomicBool::new(false);
    let control = Control {
        cancel: Some(&flag),
        ..Control::default()
    };
    let of = simulation(Backend::Gpu, 100);
    let mut begun = of
        .begin_search(&search(Genetic::default()))
        .expect("it begins");
    begun.advance(&control).expect("it advances");
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    assert!(matches!(begun.advance(&control), Err(Error::Cancelled)));
    assert_eq!(begun.history().len(), 1);
}
