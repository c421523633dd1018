//! Sessions: the bits of runs, however steps are taken; inputs that change; agents that begin anew.
//!
//! Without an adapter the GPU's part is skipped with a message; with `SIM_REQUIRE_GPU=1` it fails.

use sim_runtime::{Backend, Control, Error, Options, Session, Simulation, Values};
use sim_tests::launch::has_gpu;

/// Draws in states, inputs and steps; agents that stop; a state that is integrated; `finish`.
const WALK: &str = "agents 700 steps 40
param pull = 0.1
input start ~ uniform(-1.0, 1.0)
input push = 0.0
state x = start + uniform(0.0, 0.5)
state y = 1.0
state last = 0.0
step t {
    x += normal(0.0, 1.0) - pull * x + push
    integrate rk4(0.1) { y' = -y }
    if abs(x) > 6.0 { stop }
    last = f32(t) + f32(steps)
}
finish { last += 0.5 }
output x
output y
output last";

/// Agents that see one another, and values of their world.
const WORLDS: &str = "agents 96 steps 12 world 8
world state level = uniform(0.0, 1.0)
world step { level = 0.5 * level + mean(for other in world: other.x) }
state x = normal(0.0, 1.0)
step { x += 0.1 * (level - x) + 0.01 * uniform(0.0, 1.0) }
output x
world output level";

fn simulation(source: &str, backend: Backend) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    simulation.seed(11).backend(backend)
}

fn backends() -> Vec<Backend> {
    let mut all = vec![Backend::Reference, Backend::Cpu];
    if has_gpu() {
        all.push(Backend::Gpu);
    }
    all
}

fn session(source: &str, backend: Backend) -> Session {
    (simulation(source, backend).session()).unwrap_or_else(|error| panic!("{error}"))
}

fn step(session: &mut Session, count: u32) {
    (session.step(count, &Control::default())).unwrap_or_else(|error| panic!("{error}"));
}

fn floats(session: &mut Session, name: &str) -> Vec<f32> {
    match session.state(name).expect("a state").values {
        Values::F32(values) => values,
        other => panic!("{other:?}"),
    }
}

#[test]
fn steps_give_the_bits_of_a_run_however_they_are_taken() {
    for backend in backends() {
        for (source, steps, outputs) in [
            (WALK, 40, &["x", "y", "last"][..]),
            (WORLDS, 12, &["x", "level"]),
        ] {
            let run = simulation(source, backend).run().expect("a run");
            for taken in [vec![1; steps], vec![steps], vec![3, steps - 4, 1]] {
                let mut session = session(source, backend);
                for count in taken {
                    step(&mut session, count as u32);
                }
                assert_eq!(session.at(), steps as u32);
                for name in outputs {
                    let whole = run.column(name).expect("an output");
                    let found = session.output(name).expect("an output");
                    assert_eq!(
                        found.values.words(),
                        whole.values.words(),
                        "{backend:?} {name}"
                    );
                }
                let x = run.state::<f32>("x").expect("a state");
                assert_eq!(floats(&mut session, "x"), x, "{backend:?}");
            }
        }
    }
}

/// A world that no workgroup holds: each step takes several dispatches, which keep values between them.
const CROWD: &str = "agents 6000 steps 6 world 3000
state x = normal(0.0, 1.0)
step { x += 0.1 * (mean(for other in world: other.x) - x) + 0.01 * uniform(0.0, 1.0) }
output x";

#[test]
fn states_that_are_read_between_steps_stay_where_they_are() {
    for backend in backends() {
        for (source, steps) in [(WALK, 40), (WORLDS, 12), (CROWD, 6)] {
            let run = simulation(source, backend).run().expect("a run");
            let whole = run.state::<f32>("x").expect("a state");
            // Read after no step, after some steps, after each step.
            for every in [u32::MAX, 3, 1] {
                let mut session = session(source, backend);
                for at in 0..steps {
                    if at % every == 0 {
                        let now = simulation(source, backend).steps(at).run().expect("a run");
                        let x = now.state::<f32>("x").expect("a state");
                        assert_eq!(floats(&mut session, "x"), x, "{backend:?} {at}");
                    }
                    step(&mut session, 1);
                }
                assert_eq!(floats(&mut session, "x"), whole, "{backend:?} {every}");
            }
        }
    }
}

#[test]
fn a_model_without_states_has_sessions() {
    for backend in backends() {
        let source = "agents 4 steps 5 input push = 1.0 step { } output x = push * f32(agent)";
        let mut session = session(source, backend);
        for push in [2.0, 3.0] {
            session.set_input("push", push).expect("a number");
            step(&mut session, 1);
            let mask = [true, false, false, true];
            session.reset_agents(&mask).expect("a reset");
            let found = &session.output("x").expect("an output").values;
            let expected = (0..4).map(|agent| push * agent as f32).collect();
            assert_eq!(*found, Values::F32(expected), "{backend:?}");
        }
    }
}

#[test]
fn outputs_between_steps_are_those_of_a_run_that_ends_there() {
    for backend in backends() {
        let mut session = session(WALK, backend);
        for until in [0, 1, 7, 39] {
            let more = until - session.at();
            step(&mut session, more);
            let run = simulation(WALK, backend).steps(until).run().expect("a run");
            for name in ["x", "y"] {
                let found = session.output(name).expect("an output").values.words();
                let whole = run.column(name).expect("an output").values.words();
                assert_eq!(found, whole, "{backend:?} {name} {until}");
            }
            // `steps` is what the session was made for, and `finish` has run for the output alone.
            let last = match session.output("last").expect("an output").values {
                Values::F32(ref values) => values.clone(),
                ref other => panic!("{other:?}"),
            };
            let before = floats(&mut session, "last");
            assert!(
                last.iter()
                    .zip(&before)
                    .all(|(last, before)| *last == before + 0.5)
            );
        }
    }
}

#[test]
fn inputs_and_params_change_between_steps() {
    for backend in backends() {
        let source = "agents 3 steps 9 param gain = 1.0 input push: i32
            state x = 0.0 step { x += gain * f32(push) } output x";
        let simulation = simulation(source, backend)
            .input("push", 1)
            .expect("an input");
        let mut session = simulation.session().expect("a session");
        step(&mut session, 2);
        session.set_input("push", vec![1, 2, 3]).expect("rows");
        step(&mut session, 1);
        session.set_param("gain", 10.0).expect("a param");
        step(&mut session, 1);
        assert_eq!(floats(&mut session, "x"), [13.0, 24.0, 35.0], "{backend:?}");
        let wrong = session.set_input("push", vec![1, 2]).expect_err("two rows");
        assert_eq!(wrong.code(), "E0704", "{wrong}");
        let wrong = session.set_input("pusch", 1).expect_err("no such input");
        assert!(matches!(wrong, Error::UnknownName { .. }), "{wrong}");
        let wrong = session.set_param("gain", f32::NAN).expect_err("no number");
        assert!(matches!(wrong, Error::NotANumber { .. }), "{wrong}");
        step(&mut session, 1);
        assert_eq!(floats(&mut session, "x"), [23.0, 44.0, 65.0], "{backend:?}");
        // Before the first step, initial values follow inputs.
        let source = "agents 2 steps 3 input start = 1.0 state x = start step { x += 1.0 }";
        let mut session = Simulation::compile(source)
            .expect("a model")
            .session()
            .expect("one");
        session.set_input("start", vec![5.0, 6.0]).expect("rows");
        assert_eq!(floats(&mut session, "x"), [5.0, 6.0]);
    }
}

#[test]
fn agents_begin_anew_with_draws_that_depend_on_nothing_but_seed_agent_and_step() {
    for backend in backends() {
        let mask = |every: usize| (0..700).map(|agent| agent % every == 0).collect::<Vec<_>>();
        let after = |every: usize| {
            let mut session = session(WALK, backend);
            step(&mut session, 20);
            let before = floats(&mut session, "x");
            let stopped = session.stopped();
            session.reset_agents(&mask(every)).expect("a reset");
            let anew = floats(&mut session, "x");
            step(&mut session, 5);
            (
                before,
                stopped,
                anew,
                floats(&mut session, "x"),
                session.stopped(),
            )
        };
        let begun = floats(&mut session(WALK, backend), "x");
        let (before, stopped, some, later_some, _) = after(3);
        let (_, _, all, later_all, still) = after(1);
        assert!(stopped.contains(&true), "some agents stop");
        assert!(still.iter().filter(|it| **it).count() < 100, "they go on");
        for agent in 0..700 {
            let reset = agent % 3 == 0;
            assert_eq!(some[agent], if reset { all[agent] } else { before[agent] });
            if reset {
                assert_eq!(later_some[agent], later_all[agent]);
                assert_ne!(some[agent], begun[agent], "other draws than at first");
                assert!((-1.0..=1.5).contains(&some[agent]));
            }
        }
    }
}

/// `finish` draws what is read.
const NOISY: &str = "agents 300 steps 30
state x = normal(0.0, 1.0)
state seen = 0.0
step { x += normal(0.0, 0.1) }
finish { seen = x + uniform(0.0, 1.0) }
output x
output seen";

#[test]
fn outputs_do_not_depend_on_how_often_they_are_read() {
    for backend in backends() {
        for (source, agents, members, names) in [
            (WALK, 700, 1, &["x", "y", "last"][..]),
            (WORLDS, 96, 8, &["x", "level"]),
            (NOISY, 300, 1, &["x", "seen"]),
        ] {
            let words = |session: &mut Session| -> Vec<Vec<u32>> {
                let words = |name: &&str| session.output(name).expect("an output").values.words();
                names.iter().map(words).collect()
            };
            let mask = |at: usize| -> Vec<bool> {
                (0..agents)
                    .map(|agent| (agent / members + at).is_multiple_of(5))
                    .collect()
            };
            // One session is read after each call, the other at the end alone.
            for end in 1..9 {
                let [mut often, mut once] = [session(source, backend), session(source, backend)];
                for at in 1..=end {
                    words(&mut often);
                    step(&mut often, 1);
                    step(&mut once, 1);
                    if at % 3 == 0 {
                        words(&mut often);
                    }
                    if at % 2 == 0 {
                        often.reset_agents(&mask(at)).expect("a reset");
                        once.reset_agents(&mask(at)).expect("a reset");
                    }
                    if at == 7 {
                        often.reset(Some(3)).expect("a reset");
                        once.reset(Some(3)).expect("a reset");
                    }
                }
                assert!(
                    words(&mut often) == words(&mut once),
                    "{backend:?} {source} {end}"
                );
            }
        }
    }
}

#[test]
fn all_agents_begin_anew_as_a_new_session() {
    for backend in backends() {
        let mut old = session(WALK, backend);
        step(&mut old, 9);
        for seed in [None, Some(5)] {
            old.reset(seed).expect("a reset");
            assert_eq!(old.at(), 0);
            step(&mut old, 3);
            let new = simulation(WALK, backend).seed(seed.unwrap_or(11));
            let mut new = new.session().expect("a session");
            step(&mut new, 3);
            assert_eq!(
                floats(&mut old, "x"),
                floats(&mut new, "x"),
                "{backend:?} {seed:?}"
            );
        }
    }
}

#[test]
fn agents_of_a_world_begin_together() {
    for backend in [Backend::Reference, Backend::Cpu] {
        let mut session = session(WORLDS, backend);
        step(&mut session, 4);
        let (x, level) = (floats(&mut session, "x"), floats(&mut session, "level"));
        let mut mask = vec![false; 96];
        mask[8..16].fill(true);
        session.reset_agents(&mask).expect("a reset");
        let (x2, level2) = (floats(&mut session, "x"), floats(&mut session, "level"));
        assert!((0..96).all(|agent| (x[agent] == x2[agent]) != (8..16).contains(&agent)));
        assert!((0..12).all(|world| (level[world] == level2[world]) != (world == 1)));
        mask[8] = false;
        let error = session.reset_agents(&mask).expect_err("a split world");
        assert_eq!(error.code(), "E0728", "{error}");
        assert!(error.to_string().contains("world 1"), "{error}");
        let error = session.reset_agents(&[true]).expect_err("one value");
        assert_eq!(error.code(), "E0728", "{error}");
    }
}

#[test]
fn a_session_says_when_it_is_over_and_loses_nothing_by_errors() {
    let mut session = session(WALK, Backend::Cpu);
    step(&mut session, 39);
    let before = floats(&mut session, "x");
    let error = session.step(2, &Control::default()).expect_err("41 steps");
    assert_eq!(error.code(), "E0727", "{error}");
    let cancel = std::sync::atomic::AtomicBool::new(true);
    let control = Control {
        cancel: Some(&cancel),
        ..Control::default()
    };
    let error = session.step(1, &control).expect_err("cancelled");
    assert!(matches!(error, Error::Cancelled), "{error}");
    assert_eq!((session.at(), floats(&mut session, "x")), (39, before));
    step(&mut session, 1);
    let error = session.reset_agents(&[true; 700]).expect_err("it is over");
    assert_eq!(error.code(), "E0727", "{error}");
    session.reset(None).expect("a reset");
    step(&mut session, 40);
    let none = simulation(WALK, Backend::Cpu).steps(0).session();
    assert_eq!(none.expect_err("no step").code(), "E0710");
}

#[test]
fn checks_find_the_step_and_leave_the_session_before_it() {
    let source = "agents 4 steps 9 state n = 0 step { n += 1 assert n < 3, \"three\" } output n";
    let options = Options {
        checks: true,
        ..Options::default()
    };
    let simulation = Simulation::compile_with(source, options).expect("a model");
    let mut session = simulation.session().expect("a session");
    step(&mut session, 2);
    let error = session.step(1, &Control::default()).expect_err("a fault");
    assert!(matches!(error, Error::AssertionFailed { .. }), "{error}");
    assert_eq!(session.at(), 2);
    let Values::I32(n) = &session.output("n").expect("an output").values else {
        panic!("integers");
    };
    assert_eq!(n, &[2; 4]);
}
