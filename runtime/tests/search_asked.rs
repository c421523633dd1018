//! `Searching::ask` and `tell`: searches whose caller evaluates the candidates.

use sim_runtime::{
    Aim, Backend, CmaEs, Column, Control, Error, Found, Genetic, OpenEs, SavedSearch, Search,
    SearchMethod, Searching, Simulation, Trials, Values,
};

const AGENTS: u32 = 49;
const NOISY: &str = "agents 49 steps 3
    input x: [f32; 3] ~ uniform(-4.0, 4.0)
    input y ~ normal()
    input other: f32 ~ uniform(0.0, 0.1)
    state cost = abs(x[0] - 1.5) + abs(x[1] + 0.5) + abs(x[2] - 3.0) + abs(y) + other
    step { cost += 0.1 * normal() + 0.001 * f32(agent) / f32(agents) }
    output cost";

fn model() -> Simulation {
    let simulation = Simulation::compile(NOISY).unwrap_or_else(|error| panic!("{error}"));
    simulation.backend(Backend::Cpu)
}

fn searches() -> Vec<Search> {
    let islands = Genetic {
        islands: 3,
        migration: 2,
        patience: Some(2),
        ..Genetic::default()
    };
    let methods = [
        SearchMethod::Genetic(islands),
        SearchMethod::OpenEs(OpenEs::default()),
        SearchMethod::CmaEs(CmaEs::default()),
        SearchMethod::Random,
    ];
    let search = |method: &SearchMethod, evaluations, common_draws| Search {
        aim: Aim::Minimise,
        method: method.clone(),
        generations: 5,
        evaluations,
        common_draws,
        ..Search::new("cost", &["x", "y"])
    };
    let each = |method| [(1, false), (3, false), (4, true)].map(|(n, it)| search(&method, n, it));
    methods.into_iter().flat_map(each).collect()
}

/// Some rows of a column.
fn rows(column: &Column, first: usize, last: usize) -> Column {
    let width: usize = column.shape[1..].iter().product();
    let Values::F32(values) = &column.values else {
        panic!("genes are floats");
    };
    let mut shape = column.shape.clone();
    shape[0] = last - first;
    Column {
        field: column.field.clone(),
        shape,
        values: Values::F32(values[first * width..last * width].to_vec()),
    }
}

fn part(trials: &Trials, first: usize, last: usize) -> Trials {
    let cut = |column| rows(column, first, last);
    Trials {
        inputs: trials.inputs.iter().map(cut).collect(),
        ..trials.clone()
    }
}

/// What runs of these trials give, with a simulation that has their agents from a first one on.
fn fitness(trials: &Trials, first_agent: u32) -> Vec<Vec<f32>> {
    let mut simulation = model().agents(trials.agents).first_agent(first_agent);
    if !trials.apart {
        simulation = simulation.population(AGENTS);
    }
    let genes = trials.agents as usize;
    simulation = simulation
        .input("x", vec![0.0_f32; 3 * genes])
        .expect("it is an input")
        .input("y", 0.0)
        .expect("it is an input");
    let mut all = Vec::new();
    let each = |run: sim_runtime::Run| all.push(run.output::<f32>("cost").unwrap().to_vec());
    let run = trials.run(&simulation, &Control::default(), each);
    run.unwrap_or_else(|error| panic!("{error}"));
    all
}

/// The same in two parts, as two machines compute them.
fn in_parts(trials: &Trials) -> Vec<f32> {
    if trials.apart {
        let cut = trials.seeds.len() / 3;
        let half = |first: usize, last: usize| Trials {
            seeds: trials.seeds[first..last].to_vec(),
            ..part(trials, first, last)
        };
        let halves = [half(0, cut), half(cut, trials.seeds.len())];
        return halves
            .iter()
            .flat_map(|it| fitness(it, 0).concat())
            .collect();
    }
    let half = |first: u32, last: u32| Trials {
        agents: last - first,
        ..part(trials, first as usize, last as usize)
    };
    let [before, after] = [half(0, 20), half(20, AGENTS)];
    let both = fitness(&before, 0).into_iter().zip(fitness(&after, 20));
    both.flat_map(|(before, after)| [before, after].concat())
        .collect()
}

/// Takes a search to its end.
fn told(mut searching: Searching) -> Found {
    while let Some(trials) = searching.ask().expect("it asks") {
        assert_eq!(trials.generation.is_none(), searching.is_done());
        let values = in_parts(&trials);
        assert_eq!(values.len(), trials.values());
        searching.tell(&values).expect("it takes them");
    }
    searching.found().expect("it ends")
}

#[test]
fn a_caller_who_evaluates_candidates_in_parts_finds_the_same() {
    for search in searches() {
        let whole = model().search(&search, &Control::default(), &mut |_| {});
        let whole = whole.unwrap_or_else(|error| panic!("{error}"));
        assert!(whole.elites[0].again.is_some());
        let told = told(model().begin_search(&search).expect("it begins"));
        assert_eq!(told.elites, whole.elites, "{search:?}");
        assert_eq!(told.history, whole.history);
        assert_eq!(told.evaluations, whole.evaluations);
        assert_eq!(told.ended, whole.ended);
        assert!(told.device.is_none());
        for (told, whole) in told.columns.iter().zip(&whole.columns) {
            assert_eq!((&told.shape, &told.values), (&whole.shape, &whole.values));
        }
    }
}

#[test]
fn both_ways_of_evaluation_can_be_mixed_and_saved() {
    for search in searches() {
        let simulation = model();
        let whole = simulation.search(&search, &Control::default(), &mut |_| {});
        let whole = whole.unwrap_or_else(|error| panic!("{error}"));
        let mut first = simulation.begin_search(&search).expect("it begins");
        first.advance(&Control::default()).expect("it advances");
        let asked = first.ask().expect("it asks").expect("it is not done");
        let again = first.ask().expect("it asks").expect("it is not done");
        assert_eq!((&asked.seeds, asked.generation), (&again.seeds, Some(1)));
        let told = first.tell(&in_parts(&again)).expect("it takes them");
        assert_eq!(told, Some(whole.history[1]));
        // What is asked for and not told is not saved.
        first.ask().expect("it asks");
        let mut bytes = Vec::new();
        let saved = first.save().expect("it is saved");
        saved.write(&mut bytes).expect("it is written");
        let saved = SavedSearch::read(bytes.as_slice()).expect("it is read");
        assert_eq!(saved.generations(), 2);
        let second = model().resume_search(&search, saved).expect("it resumes");
        assert_eq!(told_found(second), (whole.elites, whole.history));
    }
}

fn told_found(searching: Searching) -> (Vec<sim_runtime::Elite>, Vec<sim_runtime::Generation>) {
    let found = told(searching);
    (found.elites, found.history)
}

#[test]
fn a_search_says_how_many_values_it_wants() {
    let search = Search {
        generations: 1,
        evaluations: 2,
        ..Search::new("cost", &["x"])
    };
    let mut searching = model().begin_search(&search).expect("it begins");
    let refused = |searching: &mut Searching, values: &[f32]| {
        let error = searching.tell(values).expect_err("it is refused");
        assert!(matches!(error, Error::SearchSetting { .. }));
        error.to_string()
    };
    let message = refused(&mut searching, &[1.0]);
    assert_eq!(
        message,
        "a search is told 1 values of fitness, and has asked for 0"
    );
    let trials = searching.ask().expect("it asks").expect("it is not done");
    let message = refused(&mut searching, &[1.0; 49]);
    assert_eq!(
        message,
        "a search is told 49 values of fitness, and has asked for 98"
    );
    let bad = [f32::NAN; 98];
    let error = searching.tell(&bad).expect_err("none has a fitness");
    assert!(matches!(error, Error::NoFitness { candidates: 49, .. }));
    searching.ask().expect("it asks");
    let generation = searching.tell(&in_parts(&trials)).expect("it takes them");
    assert_eq!(generation.map(|it| it.finite), Some(49));
    // Now the best are compared, but nobody tells how.
    let last = searching
        .ask()
        .expect("it asks")
        .expect("they are compared");
    assert_eq!((last.generation, last.values()), (None, 49));
    assert_eq!(
        refused(&mut searching, &[]),
        "a search is told 0 values of fitness, and has asked for 49"
    );
    let found = searching.found().expect("it has one generation");
    assert!(found.elites.iter().all(|elite| elite.again.is_none()));
}

#[test]
fn many_evaluations_are_asked_for_in_parts() {
    let simulation = Simulation::compile(
        "agents 65_536 input x ~ uniform(0.0, 1.0) state luck = normal() output f = x + luck",
    );
    let simulation = simulation.unwrap_or_else(|error| panic!("{error}"));
    let simulation = simulation.backend(Backend::Cpu);
    let search = Search {
        generations: 1,
        evaluations: 300,
        ..Search::new("f", &["x"])
    };
    let mut searching = simulation.begin_search(&search).expect("it begins");
    let mut runs = Vec::new();
    let mut seeds = Vec::new();
    while !searching.is_done() {
        let trials = searching.ask().expect("it asks").expect("it is not done");
        runs.push(trials.seeds.len());
        seeds.extend_from_slice(&trials.seeds);
        let mut values = Vec::new();
        let ran = trials.run(&simulation, &Control::default(), |run| {
            values.extend_from_slice(run.output::<f32>("f").unwrap());
        });
        ran.unwrap_or_else(|error| panic!("{error}"));
        searching.tell(&values).expect("it takes them");
    }
    assert_eq!(runs, [256, 44]);
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 300);
    // The mean of 300 normals has a deviation of 0.058, of which five are the most among so many.
    let best = searching.found().expect("it ends").elites[0].fitness;
    assert!((0.9..1.3).contains(&best), "{best}");
}
