//! Launches that are rejected before a device is opened.

use crate::walk::{artifact, starts, table, walk};
use sim_compiler::manifest::Scalar;
use sim_runtime::{Array, Backend, Error, Role, Simulation};

/// Launch errors need no adapter: they are found before the device is opened.
fn refused(change: impl FnOnce(Simulation) -> Result<Simulation, Error>) -> Error {
    let simulation = Simulation::from_artifact(artifact(None))
        .backend(Backend::Gpu)
        .agents(10)
        .data("table", table())
        .and_then(|simulation| simulation.input("start", starts(10, 0)))
        .expect("these are legal values");
    change(simulation)
        .and_then(|simulation| simulation.run().map(|_| ()))
        .expect_err("this launch is illegal")
}

#[test]
fn names_and_types_are_checked() {
    let error = refused(|it| it.param("drfit", 0.5));
    assert_eq!(error.to_string(), "the model has no param `drfit`");
    assert_eq!(error.help().as_deref(), Some("did you mean `drift`?"));
    assert!(error.explanation().contains("declare"));
    let error = refused(|it| it.param("turns", 0.5));
    assert_eq!(error.to_string(), "param `turns` holds i32, not f64");
    assert!(matches!(
        refused(|it| it.data("table", [true, false])),
        Error::WrongType {
            role: Role::Data,
            ..
        }
    ));
    assert!(matches!(
        refused(|it| it.input("begin", 0.0)),
        Error::UnknownName { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("turns", u32::MAX)),
        Error::NotRepresentable { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("drift", 1e300)),
        Error::NotRepresentable { .. }
    ));
}

#[test]
fn enums_take_their_variants_only() {
    let mut moods = artifact(None);
    let field = &mut moods.manifest.params[1].field;
    field.scalar = Scalar::U32;
    field.variants = vec!["Calm".to_owned(), "Cross".to_owned()];
    let set = |value: u32| Simulation::from_artifact(moods.clone()).param("turns", value);
    set(1).expect("1 is Cross");
    let error = set(2).expect_err("there is no third variant");
    assert_eq!(error.to_string(), "param `turns` has no variant number 2");
    assert!(
        error
            .help()
            .is_some_and(|help| help.contains("`Calm`, `Cross`"))
    );
}

#[test]
fn params_stay_in_range() {
    let error = refused(|it| it.param("drift", 2.5));
    assert_eq!(
        error.to_string(),
        "param `drift` must lie in 0.01..2, but is 2.5"
    );
    assert!(matches!(
        refused(|it| it.param("drift", f32::NAN)),
        Error::NotANumber { .. }
    ));
    let Some(simulation) = walk(10) else { return };
    simulation
        .param("drift", 0.01)
        .expect("the end of the range, rounded to f32, is in it");
}

#[test]
fn shapes_are_checked_and_both_are_named() {
    let error = refused(|it| it.input("start", [1.0, 2.0]));
    assert_eq!(
        error.to_string(),
        "input `start` needs [10] of f32 (10 values), but was given 2 values of f64"
    );
    let error = refused(|it| it.data("table", [1.0; 801]));
    assert_eq!(
        error.to_string(),
        "data `table` needs [rows, 2] of f32, with at least one row, but was given 801 values of f64"
    );
    let words = vec![0_u32; 800];
    let shaped = |shape: &[u32]| Array::shaped(Scalar::F32, words.clone(), shape.to_vec());
    assert!(matches!(
        refused(|it| it.data("table", shaped(&[2, 400]))),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.data("table", shaped(&[401, 2]))),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.data("table", Vec::<f32>::new())),
        Error::WrongShape { .. }
    ));
    assert!(matches!(
        refused(|it| it.param("offsets", 1.0)),
        Error::WrongShape { .. }
    ));
}

#[test]
fn counts_and_requirements_are_checked() {
    assert!(matches!(
        refused(|it| Ok(it.agents(0))),
        Error::CountOutOfRange {
            what: "agents",
            value: 0,
            ..
        }
    ));
    assert!(matches!(
        refused(|it| Ok(it.steps(u32::MAX))),
        Error::CountOutOfRange { what: "steps", .. }
    ));
    assert!(matches!(
        refused(|it| Ok(it.first_agent(u32::MAX))),
        Error::CountOutOfRange {
            what: "population",
            ..
        }
    ));
    assert!(matches!(
        refused(|it| Ok(it.population(9))),
        Error::CountOutOfRange {
            what: "population",
            value: 9,
            least: 10,
            ..
        }
    ));
    assert_eq!(
        refused(|it| Ok(it.population(9))).to_string(),
        "population must lie in 10..=2147483647, but is 9"
    );
    let error = refused(|it| Ok(it.steps(401)));
    assert_eq!(
        error.to_string(),
        "the model reads row 400 of data `table`, which has 400 rows: the run has 401 steps"
    );
    let bare = || Simulation::from_artifact(artifact(None)).backend(Backend::Gpu);
    assert!(matches!(
        bare().run(),
        Err(Error::MissingCount { what: "agents" })
    ));
    let error = bare().agents(1).run().expect_err("a table and an input");
    assert_eq!(
        error.to_string(),
        "data `table` has no default and was not given; also missing: input `start`"
    );
    let with_data = bare().agents(1).data("table", table()).expect("legal");
    assert!(matches!(
        with_data.run(),
        Err(Error::Missing {
            role: Role::Input,
            ..
        })
    ));
}
