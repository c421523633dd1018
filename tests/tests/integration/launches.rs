//! Which launches are refused and which are not: tables that are too short for the agents and steps that read
//! them.

use sim_runtime::{Error, Simulation};

/// Reads the row of the step, the row of the agent, and rows beyond both.
const TABLES: &str = "
agents 4
steps  3
data by_agent: [f32]
data by_step: [i32]
data behind: [[f32; 2]]
data fixed: [u32; 3]
data three: [f32]
state x = by_agent[agent]
state n = 0
step t {
    n += by_step[t]
    x += behind[t + 2][1]
}
output x
output y = n + i32(fixed[agent])
output z = three[2]
";

/// Rows that the tables have, and how the run is launched.
#[derive(Clone, Copy)]
struct Case {
    agents: u32,
    first: u32,
    steps: u32,
    by_agent: usize,
    by_step: usize,
    behind: usize,
    three: usize,
}

/// Everything is as long as it must be.
const ENOUGH: Case = Case {
    agents: 3,
    first: 0,
    steps: 3,
    by_agent: 3,
    by_step: 3,
    behind: 5,
    three: 3,
};

/// The table that is too short, the row that it lacks, and the rows that it has; none if the launch runs.
fn lacking(case: Case) -> Option<(String, i64, u64)> {
    let set = |simulation: Simulation, name: &str, count: usize| {
        simulation.data(name, vec![1.0_f32; count])
    };
    let launch = || -> Result<(), Error> {
        let simulation = Simulation::compile(TABLES)?
            .agents(case.agents)
            .first_agent(case.first)
            .steps(case.steps)
            .backend(sim_runtime::Backend::Cpu)
            .data("by_step", vec![2_i32; case.by_step])?
            .data("fixed", vec![5_u32; 3])?;
        let simulation = set(simulation, "by_agent", case.by_agent)?;
        let simulation = set(simulation, "behind", 2 * case.behind)?;
        set(simulation, "three", case.three)?.run()?;
        Ok(())
    };
    match launch() {
        Ok(()) => None,
        Err(Error::TableTooShort {
            data, index, rows, ..
        }) => Some((data, index, rows)),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn tables_have_a_row_for_each_agent_and_step() {
    let short = |name: &str, index: i64, rows: u64| Some((name.to_owned(), index, rows));
    let by_agent = |first: u32, agents: u32, rows: usize| {
        lacking(Case {
            first,
            agents,
            by_agent: rows,
            ..ENOUGH
        })
    };
    assert_eq!(lacking(ENOUGH), None);
    assert_eq!(by_agent(0, 3, 2), short("by_agent", 2, 2));
    // The agents of a part of a population read the rows of their own numbers.
    assert_eq!(by_agent(1, 2, 3), None);
    assert_eq!(by_agent(1, 2, 2), short("by_agent", 2, 2));
    assert_eq!(by_agent(2, 1, 2), short("by_agent", 2, 2));
    assert_eq!(by_agent(2, 1, 3), None);
    let by_step = |steps: u32, by_step: usize, behind: usize| {
        lacking(Case {
            steps,
            by_step,
            behind,
            ..ENOUGH
        })
    };
    assert_eq!(by_step(4, 3, 9), short("by_step", 3, 3));
    assert_eq!(by_step(4, 4, 5), short("behind", 5, 5));
    assert_eq!(by_step(4, 4, 6), None);
    // Without a step no row of a step is read.
    assert_eq!(by_step(0, 1, 1), None);
    let three = |three: usize| lacking(Case { three, ..ENOUGH });
    assert_eq!(three(2), short("three", 2, 2));
    assert_eq!(three(4), None);
}

/// A table that says how many rows it has is checked the same.
#[test]
fn fixed_tables_are_read_within_their_rows() {
    let agents = |first: u32, agents: u32| {
        lacking(Case {
            first,
            agents,
            by_agent: 9,
            ..ENOUGH
        })
    };
    assert_eq!(agents(0, 4), Some(("fixed".to_owned(), 3, 3)));
    assert_eq!(agents(3, 1), Some(("fixed".to_owned(), 3, 3)));
    assert_eq!(agents(1, 2), None);
}

/// What a launch says is checked against what the model says, and against what its type can hold.
#[test]
fn values_fit_their_types() {
    let code = |set: fn(Simulation) -> Result<Simulation, Error>| {
        let source = "agents 2 steps 1
            enum Mood { Calm, Cross }
            param x = 0.5 in 0.0..1.0 param n = 3 param w = [1.0, 2.0] param mood = Calm
            input u: u32 = 1u input v: [f32; 2] = 1.0
            state s = x + w[0] + f32(n) + f32(u) + v[0] output s output calm = mood == Calm";
        let simulation = Simulation::compile(source).expect("a legal model");
        let outcome = set(simulation.backend(sim_runtime::Backend::Cpu));
        outcome
            .and_then(|it| it.run().map(drop))
            .err()
            .map(|error| error.code())
    };
    assert_eq!(code(|it| it.param("x", 1.0_f64)), None);
    assert_eq!(code(|it| it.param("w", [1e38_f64, -3e38])), None);
    let beyond = code(|it| it.param("w", [1.0_f64, 1e39]));
    assert!(beyond.is_some(), "1e39 is no f32");
    assert_eq!(code(|it| it.input("v", [0.0, 1.0, 2.0, -1e300])), beyond);
    assert_eq!(
        code(|it| it.input("v", [0.0, 1.0, 2.0, f64::INFINITY])),
        None
    );
    assert!(code(|it| it.param("x", f32::NAN)).is_some());
    assert!(code(|it| it.param("x", 1.5)).is_some());
    assert!(code(|it| it.param("x", -0.5)).is_some());
    assert!(code(|it| it.param("w", [1.0])).is_some());
    assert!(code(|it| it.input("u", [1u32, 2, 3])).is_some());
    assert!(code(|it| it.input("v", [1.0, 2.0])).is_some());
    assert!(code(|it| Ok(it.agents(0))).is_some());
    assert!(code(|it| it.param("y", 1.0)).is_some());
    let empty: [f32; 0] = [];
    assert!(sim_runtime::Array::from(empty).is_empty());
    assert!(!sim_runtime::Array::from(0.0_f32).is_empty());
}
