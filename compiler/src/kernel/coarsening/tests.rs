//! How many agents an invocation runs, and why.

use super::*;
use crate::{Artifact, compile, emit, kernel::schedule::WorldDispatch};

fn artifact(source: &str) -> Artifact {
    compile(source).unwrap_or_else(|found| panic!("{found:?}\n{source}"))
}

/// The schedule of a run on a large GPU.
fn schedule(artifact: &Artifact, agents: u32, steps: u32, tuning: Tuning) -> Schedule {
    let world = artifact.manifest.world.as_ref();
    let target = Target {
        members: world.and_then(|world| world.members),
        ..Target::large(agents, steps)
    };
    emit::choose(artifact, &target, &tuning).kernel.schedule
}

/// Agents of an invocation.
fn chosen(source: &str, agents: u32, steps: u32) -> u32 {
    schedule(&artifact(source), agents, steps, Tuning::AUTO).agents_per_invocation
}

const LAYERS: &str = include_str!("../../../../benchmarks/worlds/layers.sim");
const SHARED: &str = include_str!("../../../../benchmarks/large/shared.sim");
const EPIDEMIC: &str = include_str!("../../../../benchmarks/worlds/sir.sim");
const BODIES: &str = include_str!("../../../../benchmarks/worlds/nbody.sim");
const PUT: &str = include_str!("../../../../lang-examples/longstaff_schwartz.sim");

#[test]
fn loads_in_common_and_folds_decide_where_agents_fill_the_device() {
    assert_eq!(chosen(LAYERS, 4_194_304, 8), 4);
    assert_eq!(chosen(LAYERS, 4_096, 8), 1);
    // A dispatch of one step is bound by memory.
    let one = Tuning {
        steps_per_dispatch: Some(1),
        ..Tuning::AUTO
    };
    let layers = artifact(LAYERS);
    assert_eq!(
        schedule(&layers, 4_194_304, 8, one).agents_per_invocation,
        1
    );
    // Its arrays are in memory, of which a processor's cache holds those of few agents.
    assert_eq!(chosen(SHARED, 65_536, 100), 2);
    assert_eq!(chosen(SHARED, 1_048_576, 100), 1);
    assert_eq!(chosen(EPIDEMIC, 1_000_000, 365), 4);
    assert_eq!(chosen(EPIDEMIC, 400_000, 365), 2);
    assert_eq!(chosen(EPIDEMIC, 100_000, 365), 1);
    assert_eq!(chosen(BODIES, 524_288, 200), 1);
}

#[test]
fn a_large_world_fits_a_workgroup_with_several_agents_per_invocation() {
    let put = artifact(PUT);
    let found = schedule(&put, 65_536, 49, Tuning::AUTO);
    let fused = (WorldDispatch::Fused, 4);
    assert_eq!((found.world_dispatch, found.agents_per_invocation), fused);
    let one = Tuning {
        agents_per_invocation: Some(1),
        ..Tuning::AUTO
    };
    let found = schedule(&put, 65_536, 49, one);
    let per_step = (WorldDispatch::PerStep, 1);
    assert_eq!(
        (found.world_dispatch, found.agents_per_invocation),
        per_step
    );
    // On a processor, invocations run one after the other anyway.
    let software = Target {
        members: Some(4_096),
        ..Target::of(crate::kernel::profile::DeviceClass::Software, 65_536, 49)
    };
    let found = emit::choose(&put, &software, &Tuning::AUTO).kernel.schedule;
    assert_eq!(
        (found.world_dispatch, found.agents_per_invocation),
        per_step
    );
}

#[test]
fn what_stands_against_it_is_said() {
    let of = |source: &str, tuning: Tuning| {
        let asked = Tuning {
            agents_per_invocation: Some(4),
            ..tuning
        };
        let kernel = emit::choose(&artifact(source), &Target::large(100_000, 9), &asked).kernel;
        let decisions = kernel.decisions.into_iter();
        let mut found = decisions.filter(|it| it.what.ends_with("per invocation"));
        found.next().map(|it| (it.what, it.why))
    };
    let words = |what: &str, why: &str| Some((what.to_owned(), why.to_owned()));
    let plain = "state x = 0.5 step { x *= 0.5 } output x";
    assert_eq!(
        of(plain, Tuning::AUTO),
        words("4 agents per invocation", "the caller asked for it")
    );
    let one = "one agent per invocation";
    let stops = "state x = 0.5 step { if x < 0.1 { stop } x *= 0.5 } output x";
    assert_eq!(of(stops, Tuning::AUTO), words(one, "agents stop"));
    let lanes = Tuning {
        lanes: Some(4),
        ..Tuning::AUTO
    };
    let sums = "input w: [f32; 64] state x = 0.5
        step { x = 0.01 * sum(for k in 0..64: w[k] * x) } output x";
    assert_eq!(of(sums, lanes), words(one, "an agent has several lanes"));
    let few = Target::large(1_000, 9);
    let asked = |agents| Tuning {
        agents_per_invocation: agents,
        ..Tuning::AUTO
    };
    let lanes_of = |agents| {
        emit::choose(&artifact(sums), &few, &asked(agents))
            .kernel
            .lanes
    };
    assert_eq!((lanes_of(Some(4)), lanes_of(Some(1))), (1, lanes_of(None)));
    assert!(lanes_of(None) > 1);
}

#[test]
fn values_are_held_from_where_they_are_given_to_where_they_are_last_read() {
    let of = |source: &str| live_words(&artifact(source).lowered);
    // `a` and `b`, and `x`; then `c` beside them.
    let short =
        "state x = 0.5 step { let a = x + 1.0 let b = x + 2.0 let c = a * b x = c } output x";
    let long =
        "state x = 0.5 step { let a = x + 1.0 let b = x + 2.0 let c = b * b x = c + a } output x";
    assert_eq!((of(short), of(long)), (4, 4));
    let inputs = "input w: [f32; 8] input v = 0.5 state x = v step { x += w[3] } output x";
    assert_eq!(of(inputs), 9);
    let looped = "state x = 0.5 step { let a = x * 2.0 let b = x * 3.0
        for k in 0..9 { let c = f32(k) * a x += c } x += b } output x";
    let after = "state x = 0.5 step { let a = x * 2.0 for k in 0..9 { let c = f32(k) * a x += c }
        let b = x * 3.0 x += b } output x";
    assert!(of(looped) > of(after), "{} {}", of(looped), of(after));
}

#[test]
fn agents_that_are_observed_after_every_step_share_an_invocation() {
    const PATHS: &str = include_str!("../../../../benchmarks/gbm.sim");
    const DRAWN: &str = include_str!("../../../../benchmarks/gbm_random.sim");
    let observed =
        |model: &str, every: u32| format!("{model}\nobserve m = mean(price) every {every}\n");
    assert_eq!(chosen(&observed(PATHS, 1), 1_048_576, 252), 2);
    // Too few agents would be left to fill the device, or nothing is combined after most steps.
    assert_eq!(chosen(&observed(PATHS, 1), 200_000, 252), 1);
    assert_eq!(chosen(&observed(PATHS, 21), 1_048_576, 252), 1);
    // Generators of numbers need registers.
    assert_eq!(chosen(&observed(DRAWN, 1), 1_048_576, 252), 1);
}
