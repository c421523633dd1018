//! Runs that are cut between steps give the bits of whole runs, on every backend and wherever they are cut.

use sim_runtime::{
    Backend, Control, Error, Run, Simulation, Snapshot, Tuning, Values, WorldDispatch,
    compare::words,
};
use sim_tests::launch::{backends, has_gpu};

/// Draws whose number varies, a compensated sum, agents that stop, an absent input, and series.
const ALONE: &str = "
agents 700
steps 60
param rate = 0.3
data shifts: [f32; 3]
input start ~ normal(0.0, 1.0)
state x = start
state angle = vec2(1.0, 0.0)
state k = randint(0, 9)
state seen: [i32; 3] = [0, 0, 0]
state tired = false
step t {
    integrate rk4(0.01) { angle' = vec2(angle.y, -angle.x) }
    if k % 3 == 0 { x += normal() * rate }
    x += shifts[t % 3]
    k = (k + poisson(1.5)) % 17
    seen[k % 3] += 1
    tired = tired || bernoulli(0.02)
    if tired && t > 30 { stop }
}
finish { x *= 2.0 }
record x every 7
record pair = vec2(x, f32(k)) every 20
observe total = sum(x)
observe spread = sd(x) every 9
observe few = count(tired) every 4
output x
output angle
output seen
";

/// Worlds with states, inputs and draws of their own.
const WORLDS: &str = "
world 20
agents 400
steps 40
world input pull ~ random()
world state heat = random()
world state count_of = 0
state x = random()
state on = true
step {
    let mean_x = mean(for o in world: o.x)
    if on { x += 0.1 * (mean_x - x) + 0.01 * normal() * heat }
    if x > 1.4 { stop }
}
world step t {
    heat = 0.9 * heat + 0.1 * pull + 0.05 * random()
    if count_of % 2 == 0 { count_of += randint(0, 3) } else { count_of += 1 }
}
world output final_heat = heat
world observe h = heat every 3
record x every 8
observe total = sum(x) every 2
output x
";

/// What only several dispatches a step run, if they are asked for: no series.
const LARGE_WORLDS: &str = "
world 64
agents 256
steps 21
world state heat = 0.5
state x = random()
state path: [i32; 4] = [0, 0, 0, 0]
step t {
    x += 0.1 * (mean(for o in world: o.x) - x) + 0.01 * normal()
    path[t % 4] += world[(member + t) % len(world)].path[0] + randint(0, 5)
}
world step { heat += 0.1 * (max(for o in world: o.x) - heat) }
world output warm = heat
output x
output path
";

fn simulation(source: &str, backend: Backend, tuning: Tuning) -> Simulation {
    let mut simulation = Simulation::compile(source).expect("compiles");
    if source == ALONE {
        simulation = simulation
            .data("shifts", vec![0.1, -0.2, 0.05])
            .expect("fits");
    }
    simulation.seed(11).backend(backend).tuning(tuning)
}

/// All results, as bits.
fn bits(run: &Run) -> Vec<(String, Vec<u32>)> {
    let series = run.series().iter().map(|series| &series.column);
    let columns = (run.outputs().iter().chain(run.states()))
        .chain(run.world_outputs().iter().chain(run.world_states()))
        .chain(series);
    let mut all: Vec<_> = columns
        .map(|column| (column.field.name.clone(), words(column)))
        .collect();
    let steps = run.steps().expect("they are kept");
    let stopped = run.stopped().expect("they are kept");
    all.push(("steps".to_owned(), steps.collect()));
    all.push(("stopped".to_owned(), stopped.map(u32::from).collect()));
    all
}

/// The run, cut at these steps; each time it goes on from bytes, in a simulation of its own.
fn cut(make: &dyn Fn() -> Simulation, at: &[u32]) -> Run {
    let control = Control::default();
    let mut snapshot = make().begin().expect("begins");
    for &until in at {
        let bytes = snapshot.to_bytes();
        snapshot = Snapshot::from_bytes(&bytes).expect("reads what it wrote");
        make()
            .advance(&mut snapshot, until, &control)
            .expect("advances");
        assert_eq!(snapshot.step(), until);
    }
    make().finish(snapshot, &control).expect("finishes")
}

fn holds(source: &str, backend: Backend, tuning: Tuning) {
    let make = || simulation(source, backend, tuning);
    let whole = make().run().expect("runs");
    let expected = bits(&whole);
    let last = whole.report().steps - 1;
    for at in [
        &[][..],
        &[0],
        &[1],
        &[last],
        &[7, 7, 8],
        &[0, 3, 12, 20, last],
    ] {
        let run = cut(&make, at);
        for (found, expected) in bits(&run).into_iter().zip(&expected) {
            assert_eq!(
                found, *expected,
                "cut at {at:?} on {backend:?} with {tuning:?}"
            );
        }
    }
}

#[test]
fn agents_go_on_where_they_were_cut() {
    for backend in backends() {
        holds(ALONE, backend, Tuning::default());
    }
    if has_gpu() {
        let array_bytes = Some(0);
        let stored = Tuning {
            array_bytes,
            ..Tuning::default()
        };
        holds(ALONE, Backend::Gpu, stored);
    }
}

#[test]
fn worlds_go_on_where_they_were_cut() {
    for backend in backends() {
        holds(WORLDS, backend, Tuning::default());
    }
}

#[test]
fn a_population_in_chunks_goes_on() {
    let tuning = Tuning {
        max_agents_per_chunk: Some(128),
        steps_per_dispatch: Some(5),
        ..Tuning::default()
    };
    if backends().contains(&Backend::Gpu) {
        holds(ALONE, Backend::Gpu, tuning);
        holds(WORLDS, Backend::Gpu, tuning);
    }
}

#[test]
fn worlds_of_several_dispatches_a_step_go_on() {
    for backend in backends() {
        for dispatch in [WorldDispatch::Fused, WorldDispatch::PerStep] {
            for max_agents_per_chunk in [None, Some(64)] {
                let tuning = Tuning {
                    world_dispatch: Some(dispatch),
                    max_agents_per_chunk,
                    ..Tuning::default()
                };
                holds(LARGE_WORLDS, backend, tuning);
            }
        }
    }
}

#[test]
fn states_are_known_where_a_run_is_cut() {
    for backend in backends() {
        let make = || simulation(ALONE, backend, Tuning::default());
        let simulation = make();
        let control = Control::default();
        let mut snapshot = simulation.begin().expect("begins");
        let early = simulation.state_of(&snapshot, "k");
        assert!(matches!(early, Err(Error::NotBegun)), "{early:?}");
        for step in [0, 20] {
            simulation
                .advance(&mut snapshot, step, &control)
                .expect("advances");
            // Without `finish`, which leaves `k` alone, a shorter run ends with the same states.
            let short = make().steps(step).run().expect("runs");
            let found = simulation.state_of(&snapshot, "k").expect("it is a state");
            assert_eq!(
                found.values,
                Values::I32(short.state("k").expect("kept").to_vec())
            );
            let found = simulation
                .state_of(&snapshot, "angle")
                .expect("it is a state");
            let all = short
                .states()
                .iter()
                .find(|column| column.field.name == "angle");
            assert!(Some(&found.values) == all.map(|column| &column.values));
        }
        let unknown = simulation
            .state_of(&snapshot, "kk")
            .expect_err("there is none");
        assert_eq!(unknown.code(), "E0701");
    }
}

#[test]
fn a_snapshot_goes_on_only_where_it_belongs() {
    let control = Control::default();
    let base = || simulation(ALONE, Backend::Cpu, Tuning::default());
    let mut snapshot = base().begin().expect("begins");
    base()
        .advance(&mut snapshot, 10, &control)
        .expect("advances");
    let refused = |simulation: Simulation| {
        let error = simulation
            .finish(snapshot.clone(), &control)
            .expect_err("refused");
        format!("{} {error}", error.code())
    };
    let expected = "E0720 param `rate` is 0.5 here, but 0.3 in the snapshot";
    assert_eq!(refused(base().param("rate", 0.5).expect("fits")), expected);
    let expected = "E0720 the number of steps is 61 here, but 60 in the snapshot";
    assert_eq!(refused(base().steps(61)), expected);
    let expected = "E0720 the number of agents is 699 here, but 700 in the snapshot";
    assert_eq!(refused(base().agents(699)), expected);
    let expected = "E0720 the seed is 3 here, but 11 in the snapshot";
    assert_eq!(refused(base().seed(3)), expected);
    let other = vec![0.1, -0.2, 0.06];
    let expected = "E0720 data `shifts` is not as it was for the snapshot";
    assert_eq!(
        refused(base().data("shifts", other).expect("fits")),
        expected
    );
    let expected = "E0720 an input is not as it was for the snapshot";
    assert_eq!(refused(base().input("start", 0.5).expect("fits")), expected);
    let other = Simulation::compile(&ALONE.replace("% 17", "% 19")).expect("compiles");
    let other = other
        .data("shifts", vec![0.1, -0.2, 0.05])
        .expect("fits")
        .seed(11);
    assert!(refused(other.backend(Backend::Cpu)).starts_with("E0722"));
    // The same program in another layout, on the interpreter.
    let same = Simulation::compile(&ALONE.replace("steps 60", "// minutes\nsteps 60"));
    let same = same
        .expect("compiles")
        .data("shifts", vec![0.1, -0.2, 0.05]);
    let same = same.expect("fits").seed(11).backend(Backend::Reference);
    same.finish(snapshot.clone(), &control).expect("goes on");
    if backends().contains(&Backend::Gpu) {
        let here = simulation(ALONE, Backend::Gpu, Tuning::default());
        assert!(refused(here).starts_with("E0724 the snapshot was computed on the CPU"));
    }
    for until in [9, 60, 61] {
        let error = base().advance(&mut snapshot.clone(), until, &control);
        assert_eq!(error.expect_err("refused").code(), "E0723");
    }
}

#[test]
fn every_damage_of_a_snapshot_is_found() {
    let control = Control::default();
    let simulation = simulation(ALONE, Backend::Cpu, Tuning::default()).agents(3);
    let mut snapshot = simulation.begin().expect("begins");
    simulation
        .advance(&mut snapshot, 10, &control)
        .expect("advances");
    let bytes = snapshot.to_bytes();
    let refused = |bytes: &[u8]| Snapshot::from_bytes(bytes).err().map(|error| error.code());
    assert_eq!(refused(&bytes), None);
    for length in 0..bytes.len() {
        assert_eq!(refused(&bytes[..length]), Some("E0721"), "{length} bytes");
    }
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert_eq!(refused(&damaged), Some("E0721"), "byte {at}");
    }
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert_eq!(refused(&longer), Some("E0721"));
}

#[test]
fn progress_counts_the_whole_run() {
    for backend in backends() {
        let simulation = simulation(ALONE, backend, Tuning::default());
        let seen = std::sync::Mutex::new(Vec::new());
        let note = |done, all| seen.lock().expect("no panics").push((done, all));
        let control = Control {
            progress: Some(&note),
            ..Control::default()
        };
        let mut snapshot = simulation.begin().expect("begins");
        simulation
            .advance(&mut snapshot, 20, &control)
            .expect("advances");
        let all = 700 * 60;
        assert_eq!(seen.lock().expect("no panics").pop(), Some((700 * 20, all)));
        simulation.finish(snapshot, &control).expect("finishes");
        assert_eq!(seen.lock().expect("no panics").pop(), Some((all, all)));
    }
}
