//! Invocations that run several agents give the bits of those that run one.

use crate::worlds::{run, same, simulation};
use sim_runtime::{Backend, Run, Simulation, Tuning, WorldDispatch};
use sim_tests::{compare::Tolerance, launch::has_gpu};

/// Everything that agents of a world can do, without roundings.
const WORLD: &str = "
steps 7
param factors: [i32; 8] = [3, 1, 4, 1, 5, 9, 2, 6]
input bonus = agent % 5
world input offset = world.number + 1
world state level = 2
world state worst = 0
state x = member * 7 % 11
state rows: [i32; 3] = [member, agent % 4, 2]
state place = vec2(f32(member % 8), 1.0)
state on = false
world step t {
    var sum_of_all = 0
    if t % 3 != 1 {
        sum_of_all = sum(for other in world: other.x * factors[t])
    } else {
        sum_of_all = max(for other in world: other.x) - min(for other in world: other.rows[1])
    }
    for k in 0..2 { sum_of_all += count(for other in world: other.x % 3 == k) }
    level = (level + sum_of_all + offset) % 97
    worst = argmax(for other in world: other.x)
    for k in 0..9 { if level % 7 == k { break } level += 1 }
    for k in 0..3 { if level % 3 == k { continue } level += sum(for other in world: other.x % 5) }
    while sum(for other in world: other.x % 3) > level % 50 limit 3 { level += 5 }
}
step t {
    var total = 0
    for k in 0..8 { total += factors[k] * (x + k) }
    for other in world { if other.x > x { total += other.rows[t % 3] } }
    let lucky = random() < 0.5
    if t % 2 == 0 { total += 5 } else { total -= level }
    for k in 0..40 { if (x + k) % 13 == 7 { break } total += k }
    if lucky && x % 2 == 0 { rows[x % 3] = total % 50 } else { rows[t % 3] += 1 }
    x = (total + bonus + world[member + 1].x + worst) % 1000
    on = x % 4 == 1
    place = vec2((place.x + f32(x % 4)) % 64.0, f32(rows[0] % 16))
}
step { x += world[member - 1].rows[0] % 3 }
record x every 2
observe total = sum(x)
observe middle = mean(place.x) every 3
observe any_on = any(on)
world observe level
world observe range = max(for other in world: other.x) - min(for other in world: other.x) every 2
output x
output rows
output place
world output level
world output some = any(for other in world: other.on)
world output centre = sum(for other in world: other.place)
";

fn coarse(agents: u32) -> Tuning {
    Tuning {
        agents_per_invocation: Some(agents),
        world_dispatch: Some(WorldDispatch::Fused),
        worlds_per_workgroup: Some(1),
        ..Tuning::AUTO
    }
}

/// Agents that an invocation ran.
fn per_invocation(run: &Run) -> u32 {
    let decisions = run.report().decisions.iter();
    let mut numbers = decisions.filter_map(|decision| {
        let number = decision.what.strip_suffix(" agents per invocation")?;
        Some(number.parse().expect("a number"))
    });
    numbers.next().unwrap_or(1)
}

#[test]
fn agents_of_a_world_share_an_invocation() {
    if !has_gpu() {
        return;
    }
    for (members, worlds) in [
        (2, 3),
        (4, 5),
        (36, 4),
        (64, 3),
        (130, 2),
        (256, 3),
        (700, 2),
    ] {
        let of = |steps| simulation(WORLD, members, worlds, Backend::Gpu).steps(steps);
        for (agents, steps) in [(2, 0), (2, 7), (4, 1), (4, 7)] {
            let what = format!("{worlds} worlds of {members}, {agents} agents, {steps} steps");
            let got = run(&of(steps).tuning(coarse(agents)));
            let expected_agents = if members.is_multiple_of(agents) {
                agents
            } else {
                2
            };
            assert_eq!(per_invocation(&got), expected_agents, "{what}");
            let expected = run(&of(steps).backend(Backend::Reference));
            same(&got, &expected, Tolerance::Bits, &what);
        }
        let parts = Tuning {
            max_agents_per_chunk: Some(members),
            steps_per_dispatch: Some(3),
            shuffles: Some(false),
            ..coarse(2)
        };
        let got = run(&of(7).tuning(parts));
        assert_eq!(got.report().chunks, worlds);
        let expected = run(&of(7).backend(Backend::Reference));
        same(&got, &expected, Tolerance::Bits, "in parts");
    }
}

#[test]
fn a_world_of_more_agents_than_a_workgroup_has_invocations_fits_one() {
    if !has_gpu() {
        return;
    }
    const SMALL: &str = "
        steps 5
        state x = member * 7 % 11
        world state level = 1
        world step { level = (level + sum(for other in world: other.x)) % 1009 }
        step { x = (x * 5 + level + i32(random() * 8.0)) % 1000 }
        output x
        world output level
    ";
    for (members, agents) in [(2048, 2), (2050, 4), (4096, 4), (3000, 4)] {
        let of = || simulation(SMALL, members, 3, Backend::Gpu);
        let largest = 1024 * agents;
        if !members.is_multiple_of(agents) || members > largest {
            let refused = of().tuning(coarse(agents)).run();
            refused.expect_err("a workgroup has no room for it");
            continue;
        }
        let got = run(&of().tuning(coarse(agents)));
        assert_eq!(per_invocation(&got), agents);
        let expected = run(&of().backend(Backend::Reference));
        same(&got, &expected, Tolerance::Bits, &format!("{members}"));
    }
}

/// A model without worlds, of which something is sampled or nothing is, in populations that no number of
/// agents divides.
#[test]
fn agents_without_a_world_share_an_invocation() {
    if !has_gpu() {
        return;
    }
    let model = "
        steps 9
        param table: [i32; 16] = [for k in 0..16: k * k % 7]
        input start = agent * 3 % 17
        state x = start
        state y = 0.5
        step t {
            for k in 0..12 { x += table[(k + t) % 16] }
            if x % 5 == agent % 5 { x -= 40 * i32(random() * 4.0) }
            for k in 0..30 { if (x + k) % 11 == 3 { continue } if k > x % 30 { break } x += 1 }
            y = f32(x % 64) * 0.25
        }
        output x
        output y
    ";
    let sampled = format!(
        "{model}
        record x every 4
        observe total = sum(y)
        observe signs = min(x) every 2
        observe large = count(x > 100)"
    );
    for source in [model, &sampled] {
        for population in [1, 2, 3, 5, 127, 128, 129, 255, 1001] {
            let of = || {
                Simulation::compile(source)
                    .expect("a legal model")
                    .agents(population)
                    .seed(5)
                    .backend(Backend::Gpu)
            };
            let expected = run(&of().backend(Backend::Reference));
            for agents in [2, 4] {
                let whole = Tuning {
                    agents_per_invocation: Some(agents),
                    ..Tuning::AUTO
                };
                let parts = Tuning {
                    max_agents_per_chunk: Some(130),
                    steps_per_dispatch: Some(2),
                    ..whole
                };
                for tuning in [whole, parts] {
                    let what = format!("{population} agents, {tuning}");
                    let got = run(&of().tuning(tuning));
                    assert_eq!(per_invocation(&got), agents, "{what}");
                    same(&got, &expected, Tolerance::Bits, &what);
                }
            }
        }
    }
}

/// What is observed after every step of a small model, over more steps than rows are kept, which no number
/// divides. The last agent may be alone in its invocation, and has what is unlike any other value.
#[test]
fn rows_of_samples_are_combined_whole_and_in_part() {
    if !has_gpu() {
        return;
    }
    let model = "
        steps 71
        state x = f32(agent % 64)
        state low = -0.0
        step t {
            x = f32((t * agent) % 64) * 0.25
            if agent == agents - 1 { x = 3.0e38 * f32(t) }
            low *= 2.0
        }
        output x
    ";
    let sums = "observe all_x = sum(x)\nobserve lows = sum(low)\n";
    let more = "observe largest = max(x)\nobserve square = sum(vec2(f32(i32(x) % 8), low))\n";
    let others = "observe any_low = any(low < x)\nrecord x every 8\n";
    for observed in [sums, &format!("{sums}{more}"), others] {
        let source = format!("{model}{observed}");
        for population in [1, 3, 64, 127, 129, 259] {
            let of = |steps| {
                Simulation::compile(&source)
                    .unwrap_or_else(|error| panic!("{error}\n{source}"))
                    .agents(population)
                    .steps(steps)
                    .backend(Backend::Gpu)
            };
            for steps in [1, 16, 71] {
                let expected = run(&of(steps).backend(Backend::Reference));
                for (agents, steps_per_dispatch) in [
                    (1, None),
                    (2, None),
                    (4, None),
                    (1, Some(21)),
                    (2, Some(19)),
                    (4, Some(3)),
                ] {
                    let tuning = Tuning {
                        agents_per_invocation: Some(agents),
                        max_agents_per_chunk: steps_per_dispatch.map(|_| 130),
                        steps_per_dispatch,
                        ..Tuning::AUTO
                    };
                    let what = format!("{population} agents, {steps} steps, {tuning}\n{source}");
                    let got = run(&of(steps).tuning(tuning));
                    assert_eq!(per_invocation(&got), agents, "{what}");
                    same(&got, &expected, Tolerance::Bits, &what);
                }
            }
        }
    }
}
