//! Worlds that are spread over a device, with several dispatches a step: what is sampled, and lanes that
//! share an agent's loops over its world.

use crate::worlds::{FLOATS, LEAN, PER_STEP, is_per_step, run, same, simulation, without_loops};
use sim_runtime::{Backend, Run, Tuning};
use sim_tests::{compare::Tolerance, launch::has_gpu};

/// Values of agents, of worlds and of the population over time, without roundings.
const SAMPLED: &str = "
steps 11
world state level = 0
state x = member * 7 % 11
state on = member % 3 == 0
world step t { level = (level + max(for other in world: other.x) + t) % 97 }
step t {
    x = (x + world[member + 1].x + level) % 1000
    on = x % 3 == 0
    if x % 50 == 7 && t > 4 { stop }
}
record x every 2
record on every 5
observe total = sum(x)
observe least = min(f32(x)) every 3
observe middle = quantiles(f32(x), 0.25, 0.5) every 4
observe many = count(on) every 2
world observe level
world observe most = max(for other in world: other.x) every 3
world observe twice = sum(for other in world: other.x) - max(for other in world: other.x * 2) every 3
world observe third = world[3].x
output x
world output level
";

#[test]
fn samples_of_large_worlds_have_the_bits_of_the_reference() {
    if !has_gpu() {
        return;
    }
    for (members, worlds) in [(1, 3), (33, 4), (256, 2), (257, 2), (1500, 2)] {
        let what = format!("{worlds} worlds of {members}");
        let of = |steps| simulation(SAMPLED, members, worlds, Backend::Gpu).steps(steps);
        for steps in [0, 1, 11] {
            let expected = of(steps).backend(Backend::Reference);
            let got = run(&of(steps).tuning(PER_STEP));
            assert!(is_per_step(&got), "{what}");
            assert_eq!(got.series().len(), 10, "{what}");
            same(&got, &run(&expected), Tolerance::Bits, &what);
        }
        let whole = run(&of(11));
        let chunks = Tuning {
            max_agents_per_chunk: Some(members),
            ..PER_STEP
        };
        let got = run(&of(11).tuning(chunks));
        assert_eq!(got.report().chunks, worlds, "{what}");
        same(&got, &whole, Tolerance::Bits, &what);
    }
}

/// Everything that a loop over the world can accumulate, without roundings.
const ACCUMULATES: &str = "
steps 6
world state level = 3
state x = member * 7 % 11
state on = member % 3 == 0
state place = vec2(f32(member % 5), 1.0)
step t {
    var least = 1000
    var most = -1000
    var total = level
    var many = 0u
    var some = false
    var every = true
    var sign = 1
    var sums = vec2(0.5, 8.0)
    for other in world {
        let d = other.x - x
        least = min(least, d)
        most = max(d * 3 + other.member % 2, most)
        total -= d * (t + 1)
        if other.on && other.member != member { many += 1u }
        some = some || d == 5
        every = every && other.x < 900
        sums += other.place
        sign = if other.x % 7 == 3 { -sign } else { sign }
    }
    var shift = 1.0
    for other in world { if other.x % 5 == 1 { shift *= -1.0 } }
    var pairs = 0
    if on {
        for a in world {
            var own = 0
            for b in world { if b.member % 4 == a.member % 4 { own += b.x % 3 } }
            pairs += own % 5
        }
    }
    if x % 50 == 7 && t > 2 { stop }
    x = (x + least + most * 3 + total + i32(many) + pairs + world[member + 1].x) % 1000
    on = some != every || sign > 0
    place = vec2((place.x + sums.x) % 16.0, shift * (sums.y % 4.0))
}
world step { level = (level + max(for other in world: other.x)) % 97 }
output x
output place
output on
world output level
";

/// The same of an array of the agent and of those of others.
const WITH_ARRAYS: &str = "
steps 5
state x = member * 7 % 11
state own: [i32; 4] = [1, 2, 3, 4]
step t {
    var total = 0
    for other in world { total += own[other.member & 3] * other.own[(t + other.x) & 3] }
    own[t & 3] = total % 13
    x = (x + total) % 1000
}
output x
output own
";

fn lanes(run: &Run) -> Option<u32> {
    let mut decisions = run.report().decisions.iter();
    let found = decisions.find_map(|it| {
        it.what
            .strip_suffix(" lanes per agent share its loops over the world")
    });
    found.map(|lanes| lanes.parse().expect("a number"))
}

#[test]
fn lanes_that_share_loops_over_the_world_have_the_bits_of_the_reference() {
    if !has_gpu() {
        return;
    }
    let exact = without_loops();
    // Agents of the second one look at all pairs.
    let cases = [
        (LEAN, true, &[7, 16, 33, 64, 250, 1000][..]),
        (ACCUMULATES, true, &[7, 16, 33, 64]),
        (WITH_ARRAYS, true, &[7, 64, 250]),
        (&exact, false, &[33]),
    ];
    for (source, shares, sizes) in cases {
        for &members in sizes {
            let expected = run(&simulation(source, members, 2, Backend::Reference));
            for asked in [2, 4, 8] {
                let gpu = simulation(source, members, 2, Backend::Gpu).tuning(Tuning {
                    lanes: Some(asked),
                    ..PER_STEP
                });
                let got = run(&gpu);
                let what = format!("{asked} lanes, worlds of {members}\n{source}");
                assert_eq!(lanes(&got), shares.then_some(asked), "{what}");
                same(&got, &expected, Tolerance::ZerosOfEitherSign, &what);
            }
        }
    }
}

#[test]
fn lanes_that_share_loops_over_the_world_round_as_near() {
    if !has_gpu() {
        return;
    }
    // Longer runs of many agents make much of small differences.
    for (members, steps) in [(16, 12), (33, 12), (257, 12), (1500, 3)] {
        let of = |backend| simulation(FLOATS, members, 2, backend).steps(steps);
        let expected = run(&of(Backend::Reference));
        let got = run(&of(Backend::Gpu).tuning(Tuning {
            lanes: Some(4),
            ..PER_STEP
        }));
        assert_eq!(lanes(&got), Some(4));
        same(&got, &expected, Tolerance::OfLargest(1e-5), "4 lanes");
    }
}
