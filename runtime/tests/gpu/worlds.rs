//! Worlds on a GPU: the results of the reference interpreter, whatever the size of a world and however a run
//! is laid out or split.

use sim_runtime::{Backend, Error, Run, Simulation, Tuning, Values, Variation, WorldDispatch};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::has_gpu,
};

/// Integers, truth values and floats without roundings: all bits are the same everywhere.
const EXACT: &str = "
steps 13

struct Pair { first: i32, second: f32 }

param rate = 0.25
data shifts: [i32; 4]

world input pull: i32
world input turns: [i32; 3] = [1, 2, 3]
world input drawn ~ randint(0, 50)
world state luck = randint(0, 1000)
world state sums: [i32; 2] = [0, 0]
world state mean_of_four = 0.0
world state all_even = true
world state sign = 1.0
world state best = 0

input start: i32
input scale: vec3 = vec3(1.0, 2.0, 4.0)
input partners: [i32; 6] = [5, 3, 8, 0, 2, 1]
state x = start + luck % 7
state on = member % 3 != 1
state seen: [i32; 4] = [0, 1, 2, 3]
state place = vec2(f32(member), 1.0)
state pair = Pair(member, 0.5)

fn own_place(k: i32) -> i32 { return (k + member + world.number) % len(world) }

step t {
    let total = sum(for other in world if other.on: other.x % 100)
    let many = count(for other in world: other.x > 20)
    if on && x > 600 - 60 * t { stop }
    x += total % 11 + many + world[partners[t % 6]].seen[x & 3] + turns[t % 3]
    for other in world {
        if other.member == member { continue }
        if other.seen[0] > 90 { break }
        seen[t & 3] = (seen[t & 3] + other.x + other.partners[x & 3] + i32(other.scale.y)) % 1000
        if x > 5000 { stop }
    }
    if bernoulli(rate) { on = !on }
    place += world[own_place(x & 1023)].place
    place = vec2(place.x % 8.0, place.y % 4.0)
    x = (x + randint(0, 30) + shifts[t & 3]) % 2000
}
world step t {
    let odd = any(for other in world: other.x % 2 == 1)
    all_even = !odd && all(for other in world if other.on: other.seen[1] >= 0)
    sign *= product(for other in world if other.x % 5 == 0: if other.on { -1.0 } else { 1.0 })
    best = argmax(for other in world if other.x % 3 != 0: other.x % 50)
    if sum(for other in world: other.x) % 2 == 0 {
        sums[0] += max(for other in world: other.x)
        for k in 0..sums[0] % 3 {
            sums[1] = (sums[1] + min(for other in world if other.on: other.x + k) + randint(0, 3)) % 10_000
            if k > 0 && any(for other in world: other.x % 7 == k) { break }
        }
    } else if any(for other in world: other.x > 500) {
        sums[1] += 1
    } else if luck % 2 == 0 && all(for other in world: other.x < 1000) {
        sums[0] += count(for other in world if !other.on: other.x > 3)
    }
    var k = 0
    while any(for other in world: other.x % 16 > k) limit 6 {
        k += 5
        if t > 5 && k > 9 { continue }
        sums[0] += world[k].x % 2
    }
    luck = (luck + k + pull + drawn + randint(0, 9)) % 1000
    let square = sum(for other in world: other.place * other.place)
    mean_of_four = square.x % 64.0 + square.y + sum(for other in world: other.pair.second)
    for other in world { sums[1] = (sums[1] * 3 + other.x) % 10_007 }
}
step {
    let least = argmin(for other in world: other.seen[2])
    x = (x + world[member - 1].x + world[least].pair.first + luck + best) % 2000
    pair.first = world[x].pair.first
    if on { x += randint(0, 2) }
    pair.second = if all_even { 0.25 } else { 0.5 * sign }
}
finish {
    x += world[member + 1].x + randint(0, 5)
}
output x
output seen
output sum_of_all = sum(for other in world: other.x)
output neighbour = world[member + 1].place
output first = world[0].on
output chosen = world[x].pair
output number = world.number * 1000 + own_place(3)
world output luck
world output last = max(for other in world: other.x)
world output half = sum(for other in world: 0.5 * f32(other.x % 4))
world output lucky = any(for other in world: other.on) && luck % 2 == 0
";

/// [`EXACT`] without folds in loops, which steps of several dispatches cannot have.
pub(crate) fn without_loops() -> String {
    let loops = [
        (
            "for k in 0..sums[0] % 3 {",
            "if sums[0] % 3 > 0 {\n            let k = sums[0] % 5",
            "            if k > 0 && any(for other in world: other.x % 7 == k) { break }\n",
        ),
        (
            "while any(for other in world: other.x % 16 > k) limit 6 {",
            "if any(for other in world: other.x % 16 > k) {",
            "        if t > 5 && k > 9 { continue }\n",
        ),
    ];
    loops
        .iter()
        .fold(EXACT.to_owned(), |text, (from, to, jump)| {
            assert!(text.contains(from) && text.contains(jump));
            text.replace(from, to).replace(jump, "")
        })
}

/// The same of few bytes an agent, for worlds that fill a workgroup.
pub(crate) const LEAN: &str = "
steps 9
world input pull: i32
world state luck = randint(0, 1000)
world state least = 0
input start: i32
state x = start + luck % 7
state on = member % 3 != 1
step t {
    let total = sum(for other in world if other.on: other.x % 100)
    x += total % 11 + world[x].x % 3 + world[member + 1].start
    if on && x > 600 - 60 * t { stop }
    if x % 3 == 0 { on = on != world[member + t + 1].on }
    x = (x + randint(0, 30) + count(for other in world: other.x > x % 100)) % 2000
}
world step {
    if all(for other in world: other.x < 1500) {
        luck += max(for other in world: other.x) + randint(0, 7)
    }
    least = argmin(for other in world if !other.on: other.x) + pull
}
output x
output on
output ahead = world[member + 1].x - sum(for other in world: other.x)
world output luck
world output least
";

/// The order of sums, and functions of floats: compared with a tolerance.
pub(crate) const FLOATS: &str = "
steps 12
world state centre = vec2(0.0, 0.0)
world state heat = uniform(0.5, 1.0)
state pos = vec2(normal(), normal())
state vel = vec2(0.0, 0.0)
step {
    let middle = mean(for other in world: other.pos)
    var force = 0.01 * (middle - pos)
    for other in world {
        let d = other.pos - pos
        force += d / (dot(d, d) + 0.5)
    }
    vel += 0.01 * force + 0.001 * heat * vec2(normal(), normal())
}
step { pos += 0.1 * vel }
world step {
    centre = mean(for other in world: other.pos)
    heat *= exp(0.01 * normal() - 0.001 * mean(for other in world: length(other.vel)))
}
output pos
output far = max(for other in world: distance(other.pos, pos))
world output centre
world output heat
world output spread = sqrt(mean(for other in world: dot(other.pos - centre, other.pos - centre)))
";

fn tuning(chunk: Option<u32>, steps: Option<u32>, worlds: Option<u32>) -> Tuning {
    Tuning {
        max_agents_per_chunk: chunk,
        steps_per_dispatch: steps,
        worlds_per_workgroup: worlds,
        ..Tuning::AUTO
    }
}

pub(crate) fn simulation(source: &str, members: u32, worlds: u32, backend: Backend) -> Simulation {
    let simulation = Simulation::compile(source).unwrap_or_else(|error| panic!("{error}"));
    let simulation = simulation.agents(members * worlds).world(members).seed(7);
    let simulation = simulation.backend(backend).keep_states(true);
    let starts: Vec<i32> = (0..members * worlds)
        .map(|i| (i * 37 % 101) as i32)
        .collect();
    let pulls: Vec<i32> = (0..worlds).map(|i| i as i32 % 5).collect();
    if !source.contains("input start: i32") {
        return simulation;
    }
    let simulation = match source.contains("data shifts") {
        true => simulation.data("shifts", vec![3, 1, 4, 1]).expect("legal"),
        false => simulation,
    };
    let simulation = simulation.input("start", starts).expect("legal");
    simulation.input("pull", pulls).expect("legal")
}

/// Agents' and worlds' results are the same.
pub(crate) fn same(got: &Run, expected: &Run, tolerance: Tolerance, what: &str) {
    compare(got, expected, tolerance).unwrap_or_else(|error| panic!("{what}: {error}"));
    let columns = |run: &Run| {
        let all: Vec<_> = run
            .world_outputs()
            .iter()
            .chain(run.world_states())
            .cloned()
            .collect();
        all
    };
    let (got, expected) = (columns(got), columns(expected));
    assert_eq!(got.len(), expected.len(), "{what}");
    for (got, expected) in got.iter().zip(&expected) {
        let name = &expected.field.name;
        assert_eq!(
            (&got.field.name, &got.shape),
            (name, &expected.shape),
            "{what}"
        );
        if let (Tolerance::OfLargest(part), Values::F32(got), Values::F32(expected)) =
            (tolerance, &got.values, &expected.values)
        {
            let largest = expected.iter().fold(0.0, |most: f32, x| most.max(x.abs()));
            for (world, (a, b)) in got.iter().zip(expected).enumerate() {
                let apart = f64::from((a - b).abs());
                assert!(
                    apart <= part * f64::from(largest),
                    "{what}: {name} of {world}: {a} {b}"
                );
            }
        } else {
            assert_eq!(got.values, expected.values, "{what}: world's {name}");
        }
    }
}

pub(crate) fn run(simulation: &Simulation) -> Run {
    simulation.run().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn worlds_of_any_size_have_the_bits_of_the_reference() {
    if !has_gpu() {
        return;
    }
    let lean = [1, 2, 3, 31, 32, 33, 64, 255, 256, 257, 512, 1000].map(|members| (LEAN, members));
    let exact = [1, 2, 3, 33, 64, 257].map(|members| (EXACT, members));
    for (source, members) in lean.into_iter().chain(exact) {
        let worlds = if members < 100 { 7 } else { 2 };
        let expected = run(&simulation(source, members, worlds, Backend::Reference));
        let got = run(&simulation(source, members, worlds, Backend::Gpu));
        let what = format!("{worlds} worlds of {members}");
        same(&got, &expected, Tolerance::ZerosOfEitherSign, &what);
        assert!(
            members < 31 || expected.stopped_agents() > 0,
            "{what}: none stops"
        );
    }
}

pub(crate) const PER_STEP: Tuning = Tuning {
    world_dispatch: Some(WorldDispatch::PerStep),
    lanes: Some(1),
    ..Tuning::AUTO
};
const FUSED: Tuning = Tuning {
    world_dispatch: Some(WorldDispatch::Fused),
    ..Tuning::AUTO
};

/// Is each step of a run several dispatches?
pub(crate) fn is_per_step(run: &Run) -> bool {
    (run.report().decisions.iter()).any(|decision| decision.what.ends_with(" a step"))
}

#[test]
fn steps_of_several_dispatches_have_the_bits_of_the_reference() {
    if !has_gpu() {
        return;
    }
    let exact = without_loops();
    let lean = [1, 2, 3, 31, 32, 33, 64, 255, 256, 257, 512, 1000, 5000];
    let lean = lean.map(|members| (LEAN, members));
    let exact = [1, 2, 3, 33, 64, 257, 600].map(|members| (exact.as_str(), members));
    for (source, members) in lean.into_iter().chain(exact) {
        let worlds = if members < 100 { 7 } else { 2 };
        let expected = run(&simulation(source, members, worlds, Backend::Reference));
        let gpu = simulation(source, members, worlds, Backend::Gpu).tuning(PER_STEP);
        let got = run(&gpu);
        let what = format!("{worlds} worlds of {members}");
        assert!(is_per_step(&got), "{what}");
        same(&got, &expected, Tolerance::ZerosOfEitherSign, &what);
    }
}

#[test]
fn steps_of_several_dispatches_have_the_bits_of_one_of_all_steps() {
    if !has_gpu() {
        return;
    }
    let sizes = [1, 2, 31, 32, 33, 64, 255, 256, 257, 512, 1000];
    for members in sizes {
        let worlds = if members < 100 { 9 } else { 3 };
        let of = |tuning| run(&simulation(FLOATS, members, worlds, Backend::Gpu).tuning(tuning));
        let (fused, per_step) = (of(FUSED), of(PER_STEP));
        assert!(is_per_step(&per_step) && !is_per_step(&fused));
        same(
            &per_step,
            &fused,
            Tolerance::Bits,
            &format!("worlds of {members}"),
        );
    }
}

#[test]
fn floats_of_worlds_are_near_those_of_the_reference() {
    if !has_gpu() {
        return;
    }
    for (members, worlds) in [(1, 300), (3, 50), (33, 9), (64, 3), (257, 2)] {
        let expected = run(&simulation(FLOATS, members, worlds, Backend::Reference));
        let what = format!("{worlds} worlds of {members}");
        for asked in [None, Some(1), Some(2)] {
            let gpu = simulation(FLOATS, members, worlds, Backend::Gpu);
            let got = run(&gpu.tuning(tuning(None, None, asked)));
            same(&got, &expected, Tolerance::OfLargest(1e-5), &what);
        }
    }
}

#[test]
fn neither_split_steps_nor_chunks_change_a_bit() {
    if !has_gpu() {
        return;
    }
    for (source, members, worlds) in [(EXACT, 33, 6), (FLOATS, 33, 6), (FLOATS, 3, 100)] {
        let whole = run(&simulation(source, members, worlds, Backend::Gpu));
        let per_step = Some(WorldDispatch::PerStep);
        for (chunk, steps, world_dispatch) in [
            (None, Some(1), None),
            (None, Some(5), None),
            (Some(1), None, None),
            (Some(70), Some(4), None),
            (Some(1), None, per_step),
            (Some(70), None, per_step),
        ] {
            let gpu = simulation(source, members, worlds, Backend::Gpu);
            let got = run(&gpu.tuning(Tuning {
                world_dispatch,
                lanes: world_dispatch.map(|_| 1),
                ..tuning(chunk, steps, None)
            }));
            let what = format!("{members} {chunk:?} {steps:?}");
            same(&got, &whole, Tolerance::Bits, &what);
            let chunks = chunk.map_or(1, |most| {
                (members * worlds).div_ceil((most / members * members).max(members))
            });
            assert_eq!(got.report().chunks, chunks, "{what}");
        }
    }
}

#[test]
fn more_steps_than_a_submission_dispatches_change_no_bit() {
    if !has_gpu() {
        return;
    }
    // Agents read of others what the same phase assigns, so that odd steps have it elsewhere than even ones.
    let source = "state x = member\nstate done = false\nworld state total = 0\n\
        step t { x = (3 * x + world[member + 1].x + t) % 1009\n if x == 7 && t > 4_500 { stop } }\n\
        world step { total = (total + sum(for other in world: other.x)) % 10_007 }\n\
        output x\noutput next = world[member + 1].x\nworld output total\n";
    for steps in [0, 1, 2, 5_000, 8_193] {
        let of = |tuning| {
            let gpu = simulation(source, 5, 2, Backend::Gpu).steps(steps);
            run(&gpu.tuning(tuning))
        };
        let (fused, per_step) = (of(FUSED), of(PER_STEP));
        assert!(is_per_step(&per_step));
        same(
            &per_step,
            &fused,
            Tolerance::Bits,
            &format!("{steps} steps"),
        );
    }
}

#[test]
fn a_part_of_a_population_is_whole_worlds() {
    if !has_gpu() {
        return;
    }
    for tuning in [FUSED, PER_STEP] {
        let whole = run(&simulation(FLOATS, 33, 6, Backend::Gpu).tuning(tuning));
        let part = simulation(FLOATS, 33, 2, Backend::Gpu).tuning(tuning);
        let part = run(&part.first_agent(99).population(198));
        let heat = |run: &Run| match &run.world_outputs()[1].values {
            Values::F32(values) => values.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(heat(&whole)[3..5], heat(&part));
        let pos = |run: &Run| run.output::<f32>("pos").expect("known").to_vec();
        assert_eq!(pos(&whole)[2 * 99..2 * 165], pos(&part));
    }
}

#[test]
fn each_run_of_a_batch_is_as_alone() {
    if !has_gpu() {
        return;
    }
    let variation = |k: u32| {
        let variation = Variation::new()
            .seed(k.into())
            .param("rate", 0.02 * k as f32);
        let pulls: Vec<i32> = (0..5).map(|world| world + k as i32).collect();
        match k % 3 {
            0 => variation.input("pull", pulls),
            _ => variation,
        }
    };
    let variations: Vec<Variation> = (0..20).map(variation).collect();
    for (source, tuning) in [(EXACT, FUSED), (&without_loops(), PER_STEP)] {
        let gpu = simulation(source, 31, 5, Backend::Gpu).tuning(tuning);
        let reference = simulation(source, 31, 5, Backend::Reference);
        let expected = reference.run_batch(&variations).expect("the batch runs");
        // The first batch measures the pace; the runs of the second share submissions.
        for _ in 0..2 {
            let runs = gpu.run_batch(&variations).expect("the batch runs");
            for (k, (got, expected)) in runs.iter().zip(&expected).enumerate() {
                let what = format!("run {k} of {tuning}");
                same(got, expected, Tolerance::ZerosOfEitherSign, &what);
            }
        }
    }
}

#[test]
fn statistics_are_reduced_and_values_of_worlds_come_back() {
    if !has_gpu() {
        return;
    }
    for (source, tuning) in [(EXACT, FUSED), (&without_loops(), PER_STEP)] {
        let all = run(&simulation(source, 64, 30, Backend::Gpu).tuning(tuning));
        let few = simulation(source, 64, 30, Backend::Gpu)
            .keep_outputs(false)
            .keep_states(false);
        let few = run(&few.tuning(Tuning {
            reduce: Some(true),
            ..tuning
        }));
        assert!(few.report().reduced);
        assert_eq!(few.agent_steps(), all.agent_steps());
        let five = |run: &Run| run.statistics("x").expect("known")[0].five;
        assert_eq!(five(&few), five(&all));
        for (few, all) in few.world_outputs().iter().zip(all.world_outputs()) {
            assert_eq!(few.values, all.values, "{}", all.field.name);
        }
    }
}

/// A state that takes 240 bytes an agent.
const WIDE: &str = "
steps 3
state x: [f32; 60] = [0.0; 60]
step t { x[t + member % 50] += world[member + 1].x[member % 60] + 1.0 }
output y = x[0]
output z = x[7]
";

#[test]
fn worlds_that_do_not_fit_a_workgroup_take_a_few_dispatches_a_step() {
    if !has_gpu() {
        return;
    }
    for (source, members) in [(FLOATS, 5000), (WIDE, 1000)] {
        let of = |backend| simulation(source, members, 1, backend).steps(2);
        let (got, expected) = (run(&of(Backend::Gpu)), run(&of(Backend::Reference)));
        assert!(is_per_step(&got));
        same(&got, &expected, Tolerance::OfLargest(1e-5), source);
        let fused = of(Backend::Gpu).tuning(FUSED).run();
        assert!(matches!(fused, Err(Error::AdapterLimit { .. })));
    }
    // As many parts as a workgroup combines at once, and more.
    let fold = "steps 2\nstate x = member % 7\nstate y = 0\n\
        step { y = sum(for other in world: other.x) + max(for other in world: other.y)\n \
        x += y % 5 }\noutput y\n";
    for members in [65_536, 65_537, 200_000] {
        let of = |backend| simulation(fold, members, 2, backend);
        let (got, expected) = (run(&of(Backend::Gpu)), run(&of(Backend::Cpu)));
        same(
            &got,
            &expected,
            Tolerance::Bits,
            &format!("worlds of {members}"),
        );
    }
}

#[test]
fn a_large_world_with_a_fold_in_a_loop_is_refused_with_the_reason() {
    if !has_gpu() {
        return;
    }
    let Err(error @ Error::AdapterLimit { .. }) = simulation(EXACT, 5000, 1, Backend::Gpu).run()
    else {
        panic!("a fold in a loop is no dispatch");
    };
    let error = error.to_string();
    assert!(
        error.contains("since a fold of the world stands in a loop"),
        "{error}"
    );
}
