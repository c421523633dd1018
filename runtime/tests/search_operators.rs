//! The operators of the genetic algorithm in `Simulation::search`: each changes what it is there to change.

use sim_runtime::{
    Backend, Control, Crossover, Found, Generation, Genetic, Search, SearchMethod, Simulation,
};

fn model(source: &str) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

fn found(simulation: &Simulation, search: &Search) -> Found {
    let found = simulation.search(search, &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn crossovers_do_what_their_names_say() {
    let source = "agents 30 input x: [f32; 2] ~ uniform(0.0, 1.0) output f = x[0] + x[1]";
    let after = |crossover| {
        let method = SearchMethod::Genetic(Genetic {
            crossover,
            mutation_rate: Some(0.0),
            ..Genetic::default()
        });
        let search = Search {
            method,
            generations: 30,
            ..Search::new("f", &["x"])
        };
        let it = found(&model(source), &search);
        it.elites[0].genome.clone()
    };
    let run = model(source).run().expect("it runs");
    let first: &[f32] = run.output("f").expect("it is there");
    let best: f64 = first.iter().copied().fold(0.0, f32::max).into();
    // Uniform crossover only combines genes that were there; blend crossover goes beyond them.
    let uniform = after(Crossover::Uniform);
    assert!(uniform.iter().all(|gene| *gene < 1.0) && uniform[0] + uniform[1] >= best);
    assert!(after(Crossover::Blend).iter().all(|gene| *gene > 1.0));
}

/// The history of a genetic algorithm that only selects: a child is the copy of a parent.
fn selected(how: Genetic) -> Vec<Generation> {
    let source = "agents 40 input x: f32 ~ uniform(0.0, 1.0) output f = x";
    let search = Search {
        method: SearchMethod::Genetic(Genetic {
            crossover: Crossover::Uniform,
            mutation_rate: Some(0.0),
            ..how
        }),
        generations: 60,
        ..Search::new("f", &["x"])
    };
    found(&model(source), &search).history
}

#[test]
fn migrants_carry_the_best_to_the_next_island() {
    let with = |migration| {
        let how = Genetic {
            islands: 4,
            migration,
            ..Genetic::default()
        };
        selected(how)[59]
    };
    // Apart, each island ends with the best of its own; together, all end with the best of all.
    let [apart, together] = [0, 3].map(with);
    assert!(apart.best == together.best && together.mean == together.best);
    assert!(apart.mean < apart.best - 0.001, "{apart:?}");
}

#[test]
fn an_island_that_dies_out_begins_with_new_genomes() {
    let with = |patience| {
        selected(Genetic {
            patience,
            ..Genetic::default()
        })
    };
    let [without, history] = [None, Some(4)].map(with);
    assert!(without.iter().all(|it| it.best_so_far == without[0].best));
    // The third generation has not been better for four generations yet; later ones have new candidates,
    // whose mean is that of the first ones, and of hundreds of them one is better than the best of 40.
    assert!(history[..3].iter().all(|it| it.best == history[0].best));
    assert!(history[59].best_so_far > history[0].best);
    let fresh = history[3..].iter().filter(|it| it.mean < 0.6);
    assert!((5..20).contains(&fresh.count()), "{history:?}");
}

#[test]
fn larger_tournaments_select_harder() {
    let second = |tournament| {
        let how = Genetic {
            tournament,
            keep: 0,
            ..Genetic::default()
        };
        selected(how)[1].mean
    };
    // The mean of the largest of k uniform numbers is k / (k + 1); a standard error of 40 is below 0.05.
    for (tournament, mean) in [(1, 0.5), (3, 0.75), (9, 0.9)] {
        let found = second(tournament);
        assert!((found - mean).abs() < 0.12, "{tournament}: {found}");
    }
}
