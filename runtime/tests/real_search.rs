//! Searches in `f64`.

use sim_runtime::{
    Aim, CmaEs, Control, Element, Found, Options, Range, RealType, SavedSearch, Search,
    SearchEnded, SearchMethod, Simulation,
};

const SOURCE: &str = "agents 16
    input x: [f32; 3] ~ uniform(-4.0, 4.0)
    output cost = (x[0] - 1.4) ** 2 + (x[1] + 0.3) ** 2 + (x[2] - 3.7) ** 2";

fn model(real: RealType) -> Simulation {
    let options = Options {
        real,
        ..Options::default()
    };
    Simulation::compile_with(SOURCE, options).unwrap_or_else(|error| panic!("{error}"))
}

fn search() -> Search {
    Search {
        aim: Aim::Minimise,
        method: SearchMethod::CmaEs(CmaEs::default()),
        generations: 400,
        target: Some(1e-20),
        from: vec![Range {
            input: None,
            low: -1.0,
            high: 5.0,
        }],
        ..Search::new("cost", &["x"])
    }
}

fn found(real: RealType) -> Found {
    let found = model(real).search(&search(), &Control::default(), &mut |_| {});
    found.unwrap_or_else(|error| panic!("{error}"))
}

/// The best genes are no numbers of `f32`, of which the one next to 1.4 is off by 2.4e-8.
#[test]
fn genes_have_the_digits_of_their_type() {
    let best = found(RealType::F64);
    assert_eq!(best.ended, SearchEnded::Target, "{:?}", best.history.last());
    let genome = &best.elites[0].genome[..];
    for (gene, exact) in genome.iter().zip([1.4, -0.3, 3.7]) {
        assert!((gene - exact).abs() < 1e-10, "{gene} {exact}");
    }
    // The first row of the table is the genome, and its run gives the fitness.
    let column = f64::slice(&best.columns[0].values).expect("doubles");
    assert_eq!(&column[..3], genome);
    let given = model(RealType::F64).agents(1).input("x", genome);
    let run = given.and_then(|it| it.run()).expect("it runs");
    assert_eq!(
        run.output::<f64>("cost").expect("it is there"),
        [best.elites[0].fitness]
    );
    let genome = &found(RealType::F32).elites[0].genome;
    let is_single = |gene: &f64| f64::from(*gene as f32) == *gene;
    assert!(genome.iter().all(is_single), "{genome:?}");
}

#[test]
fn an_interrupted_search_goes_on_in_its_type() {
    let control = Control::default();
    let double = model(RealType::F64);
    let mut first = double.begin_search(&search()).expect("it begins");
    for _ in 0..20 {
        first.advance(&control).expect("it goes on");
    }
    let mut bytes = Vec::new();
    let saved = first.save().expect("it is saved");
    saved.write(&mut bytes).expect("it is written");
    let saved = || SavedSearch::read(&bytes[..]).expect("it is read");
    let resumed = double.resume_search(&search(), saved());
    let mut second = resumed.expect("it goes on");
    while !second.is_done() {
        second.advance(&control).expect("it goes on");
    }
    let second = second.finish(&control).expect("it ends");
    let whole = found(RealType::F64);
    assert_eq!(second.elites, whole.elites);
    assert_eq!(second.history, whole.history);
    let single = model(RealType::F32).resume_search(&search(), saved());
    let error = single.expect_err("another type");
    assert_eq!(error.code(), "E0720", "{error}");
}
