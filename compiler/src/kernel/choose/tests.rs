//! What is chosen for whom.

use super::*;
use crate::{
    emit::choose,
    kernel::profile::DeviceClass,
    options::{Math, Options},
};

const SHARED: &str = "state x = 0.0 step t { x += sin(f32(t)) + cos(0.5 * f32(t)) } output x";
const OWN: &str = "state x = 0.0 step t { x += sin(x) } output x";
const NETWORK: &str = "
input w1: [f32; 128]
input w2: [f32; 128]
state x = 1.0
step {
    let hidden = [for i in 0..128: tanh(x * w1[i])]
    x = sum(for i in 0..128: hidden[i] * w2[i])
}
output x
";
const DARTS: &str = "
state hits = 0
step {
    if random() < 0.5 { hits += 1 }
}
output hits
";
const GENERATOR: &str = "
state s    = u32(agent)
state hits = 0
step {
    s = s * 747796405u + 2891336453u
    if s < 2147483648u { hits += 1 }
}
output hits
";

const LONG: &str = "
input x: [f32; 2000]
output score = sum(for k in 0..2000: x[k] * x[k] - 10.0 * cos(6.28 * x[k]))
";

const BRANCH: &str = "
input w: [f32; 512]
state x = 1.0
step { if x > 0.5 { x = sum(for i in 0..512: w[i] * x) } }
output x
";

fn artifact(source: &str) -> Artifact {
    crate::compile(source).expect("a legal model")
}

/// Whether a run has a step table, and what is said about it.
fn step_table(source: &str, target: Target, asked: Option<bool>) -> (bool, String) {
    let tuning = Tuning {
        step_table: asked,
        ..Tuning::default()
    };
    let chosen = choose(&artifact(source), &target, &tuning);
    let has_table = chosen.schedule.step_table;
    assert_eq!(chosen.kernel.step_table.is_some(), has_table);
    assert_eq!(chosen.kernel.wgsl.contains("fn prepare("), has_table);
    let mut decisions = chosen.kernel.decisions.into_iter();
    let said = decisions.find(|decision| decision.what.contains("step table"));
    (has_table, said.expect("a decision").why)
}

#[test]
fn large_runs_on_gpus_have_a_step_table_where_it_pays() {
    let large = Target::large(1_000, 16);
    let software = Target {
        busy: None,
        ..large
    };
    let full = Target {
        table_bytes: 0,
        ..large
    };
    assert!(step_table(SHARED, large, None).0);
    for (case, word) in [
        (step_table(SHARED, Target::large(999, 16), None), "few"),
        (step_table(SHARED, Target::large(1_000, 15), None), "few"),
        (step_table(SHARED, software, None), "software"),
        (step_table(SHARED, large, Some(false)), "off"),
        (step_table(SHARED, full, Some(true)), "binding"),
        (step_table(OWN, large, None), "too little"),
        (step_table(OWN, large, Some(true)), "too little"),
    ] {
        assert!(!case.0 && case.1.contains(word), "{case:?}");
    }
    let small = Target {
        agents: 1,
        steps: 1,
        ..software
    };
    assert!(step_table(SHARED, small, Some(true)).0);
}

#[test]
fn a_model_without_such_work_has_one_kernel() {
    let artifact = artifact(OWN);
    let [plain, asked] = [false, true].map(|step_table| {
        let schedule = Schedule {
            step_table,
            ..Schedule::default()
        };
        artifact.kernel(&schedule).wgsl
    });
    assert_eq!(plain, asked);
}

#[test]
fn a_table_that_is_too_large_is_not_made() {
    // One vec4 per step in at most 64 MiB.
    let most = 1 << 22;
    assert!(step_table(SHARED, Target::large(1_000, most), None).0);
    let (has_table, why) = step_table(SHARED, Target::large(1_000, most + 1), None);
    assert!(!has_table && why.contains("67108880 bytes"), "{why}");
}

/// Where nothing is known of a device, nothing is chosen but what is asked for.
#[test]
fn a_kernel_for_any_device_is_the_default() {
    for source in [SHARED, OWN, NETWORK, LONG] {
        let artifact = artifact(source);
        let any = Target::any(1_000_000, 1_000);
        let chosen = choose(&artifact, &any, &Tuning::AUTO).kernel;
        assert_eq!(chosen.wgsl, artifact.wgsl());
        let asked = "lanes=4 step-table=true reserve=true relax=true unroll-steps=1";
        let tuning = asked.parse().expect("a tuning");
        let asked = choose(&artifact, &any, &tuning).kernel;
        assert!(asked.schedule.reserve && asked.schedule.unroll_steps == 1);
        assert!(!asked.wgsl.contains("subgroup"), "{}", asked.wgsl);
    }
}

/// The lanes of a kernel for this many agents.
fn lanes_for(source: &str, target: Target) -> u32 {
    choose(&artifact(source), &target, &Tuning::default())
        .kernel
        .lanes
}

#[test]
fn few_agents_are_shared_and_many_are_not() {
    for source in [NETWORK, DARTS, GENERATOR] {
        assert!(lanes_for(source, Target::large(1_000, 100)) > 1, "{source}");
    }
    for source in [DARTS, GENERATOR] {
        assert_eq!(lanes_for(source, Target::large(1 << 20, 100)), 1);
    }
    // 256 weights do not fit one lane's registers.
    assert_eq!(lanes_for(NETWORK, Target::large(1 << 20, 100)), 2);
    assert_eq!(lanes_for(OWN, Target::large(1_000, 100)), 1);
}

/// Where lanes of several agents take turns at the unit for special functions, fewer are faster.
#[test]
fn runs_that_share_a_dispatch_get_the_kernel_of_all_their_agents() {
    let few = Target {
        points: true,
        ..Target::large(1_000, 100)
    };
    let together = Tuning {
        kernel_agents: Some(1_000_000),
        ..Tuning::default()
    };
    let chosen = |target: &Target, tuning: &Tuning| choose(&artifact(NETWORK), target, tuning);
    let (alone, shared) = (chosen(&few, &Tuning::default()), chosen(&few, &together));
    let large = chosen(&Target::large(1_000_000, 100), &Tuning::default());
    assert!(alone.schedule.lanes > large.schedule.lanes);
    assert_eq!(shared.schedule.lanes, large.schedule.lanes);
    assert!(shared.schedule.points);
    // A run by itself for as many agents differs in nothing but the points.
    let single = Target {
        points: false,
        ..few
    };
    let by_itself = chosen(&single, &together).schedule;
    let points = true;
    assert_eq!(
        shared.schedule,
        Schedule {
            points,
            ..by_itself
        }
    );
    // Each would need its own table; runs that fill the device by themselves have one, and share nothing.
    let (has_table, why) = step_table(SHARED, few, None);
    assert!(!has_table && why.contains("share a dispatch"), "{why}");
    let many = Target {
        agents: 1_000_000,
        ..few
    };
    assert!(step_table(SHARED, many, None).0);
}

#[test]
fn lanes_that_take_turns_are_fewer() {
    let model = |end: &str| {
        format!(
            "input w: [f32; 64] state x = 0.5
            step {{
                var s = 0.0
                for k in 0..64 {{ s += max(w[k] * x, 0.1) }}
                {end}
                x = s
            }}
            output x"
        )
    };
    let (expensive, cheap) = (model(&"s = sin(s)\n".repeat(24)), model("s = s * 0.5"));
    for source in [&expensive, &cheap] {
        assert!(lanes_for(source, Target::large(1_000, 100)) > 1);
    }
    assert_eq!(lanes_for(&expensive, Target::large(12_000, 100)), 1);
    assert!(lanes_for(&cheap, Target::large(12_000, 100)) > 1);
}

/// Whether steps are optimised for latency or throughput.
fn made_for(target: Target, occupancy: Option<Occupancy>) -> Vec<String> {
    let tuning = Tuning {
        lanes: Some(1),
        occupancy,
        ..Tuning::default()
    };
    let kernel = choose(&artifact(NETWORK), &target, &tuning).kernel;
    let decisions = kernel.decisions.into_iter().map(|decision| decision.what);
    decisions
        .filter(|what| what.contains("optimised for"))
        .collect()
}

#[test]
fn few_agents_are_computed_for_latency_and_many_for_throughput() {
    for (agents, what) in [
        (20_000, "steps are optimised for latency"),
        (50_000, "steps are optimised for latency"),
        (51_000, "steps are optimised for throughput"),
    ] {
        assert_eq!(made_for(Target::large(agents, 100), None), [what]);
        let asked = made_for(Target::large(agents, 100), Some(Occupancy::Full));
        assert_eq!(asked, ["steps are optimised for throughput"]);
    }
    let processor = Target {
        busy: None,
        ..Target::large(1_000, 100)
    };
    assert!(made_for(processor, None).is_empty(), "there is no decision");
    let asked = made_for(processor, Some(Occupancy::Low));
    assert_eq!(asked.len(), 1);
}

#[test]
fn a_device_without_subgroups_or_a_processor_has_one_lane() {
    let large = Target::large(1_000, 100);
    let target = Target {
        subgroup: 1,
        ..large
    };
    assert_eq!(lanes_for(NETWORK, target), 1);
    let target = Target {
        busy: None,
        ..large
    };
    assert_eq!(lanes_for(NETWORK, target), 1);
}

/// The first choice: of lanes.
fn said_of_lanes(source: &str, target: Target, tuning: Tuning) -> (u32, Decision) {
    let kernel = choose(&artifact(source), &target, &tuning).kernel;
    (kernel.lanes, kernel.decisions[0].clone())
}

#[test]
fn barriers_are_for_long_sums_of_few_agents() {
    let large = Target::large(4_096, 1);
    let without = Target {
        subgroup: 1,
        ..large
    };
    for target in [large, without] {
        let (lanes, said) = said_of_lanes(LONG, target, Tuning::default());
        assert!(lanes >= 64, "{said:?}");
        assert!(
            said.what
                .ends_with("exchange values through workgroup memory"),
            "{said:?}"
        );
        let many = Target {
            agents: 1 << 20,
            ..target
        };
        assert!(lanes_for(LONG, many) <= 32);
        assert!(lanes_for(NETWORK, target) <= 32);
    }
    assert_eq!(lanes_for(NETWORK, without), 1);
    // Each agent's own inputs come from memory, which more lanes ask for at once; a table is there for all.
    assert_eq!(lanes_for(LONG, Target::large(16_384, 1)), 128);
    let table = LONG
        .replace("input x", "data x")
        .replace("x[k] * x[k]", "x[k] * f32(agent)");
    assert!(lanes_for(&table, Target::large(16_384, 1)) <= 32);
    // Steps that only accumulate exchange once a run.
    assert!(lanes_for(DARTS, without) > 1);
    let (_, said) = said_of_lanes(NETWORK, without, Tuning::default());
    assert!(said.why.contains("no subgroups"), "{said:?}");
}

#[test]
fn lanes_that_a_caller_asks_for_talk_as_they_can() {
    let large = Target::large(1_000, 100);
    for (source, lanes, shuffles, expected, what) in [
        (NETWORK, 16, None, 16, "16 lanes per agent"),
        (NETWORK, 16, Some(false), 16, "through workgroup memory"),
        (NETWORK, 128, None, 128, "through workgroup memory"),
        (LONG, 200, None, 128, "through workgroup memory"),
        (OWN, 64, None, 1, "one lane per agent"),
        // A sum in a branch: 32 lanes can take it; more would wait for those of other agents.
        (BRANCH, 64, None, 32, "32 lanes per agent"),
    ] {
        let tuning = Tuning {
            lanes: Some(lanes),
            shuffles,
            ..Tuning::default()
        };
        let (got, said) = said_of_lanes(source, large, tuning);
        assert_eq!(got, expected, "{said:?}");
        assert!(said.what.ends_with(what), "{said:?}");
        let short = got < lanes.min(MOST_LANES);
        assert_eq!(said.why.contains("barriers"), short, "{said:?}");
    }
}

#[test]
fn a_kernel_that_was_given_runs_as_it_is() {
    let mut artifact = artifact(SHARED);
    artifact.own_kernel = Some("// mine".to_owned());
    let chosen = choose(&artifact, &Target::large(1_000, 100), &Tuning::default());
    assert_eq!(chosen.kernel.wgsl, "// mine");
    assert!(chosen.kernel.step_table.is_none() && chosen.schedule == Schedule::default());
}

#[test]
fn skipping_ahead_is_work_too() {
    let work = |source: &str| {
        let artifact = artifact(source);
        lanes::estimates(&artifact.lowered, &artifact.program, 32)
            .into_iter()
            .map(|estimate| f64::from(estimate.lanes) * estimate.work)
            .collect::<Vec<_>>()
    };
    for (source, more) in [(DARTS, 0.0), (GENERATOR, 2.0)] {
        let work = work(source);
        assert_eq!(work.len(), 8, "1 to 128 lanes");
        assert_eq!(work[1..], [work[0] + more; 7], "{source}");
    }
}

const DENSE: &str = "
input w: [f32; 9]
state x = 1.0
state y = 1.0
step {
    let a = tanh(w[0] + (w[1] * x + w[2] * y))
    let b = tanh(w[3] + (w[4] * x + w[5] * y))
    x = w[6] + (w[7] * a + w[8] * b)
    y = a - b
}
output x
";

/// What is said about sums and divisions, if they are changed.
fn relaxes(math: Math, target: Target, asked: Option<bool>) -> Option<String> {
    let options = Options {
        math,
        ..Options::default()
    };
    let artifact = crate::compile_with(DENSE, options).expect("a legal model");
    let tuning = Tuning {
        relax: asked,
        step_table: Some(false),
        ..Tuning::default()
    };
    let chosen = choose(&artifact, &target, &tuning);
    let said = chosen
        .kernel
        .decisions
        .iter()
        .find(|it| it.what.contains("multiply-adds"));
    assert_eq!(chosen.schedule.relax, said.is_some());
    assert_eq!(chosen.kernel.wgsl == artifact.wgsl(), said.is_none());
    said.map(|it| it.what.clone())
}

#[test]
fn gpus_relax_under_the_fast_mathematics() {
    let gpu = Target {
        subgroup: 1,
        ..Target::large(1 << 20, 100)
    };
    let software = Target { busy: None, ..gpu };
    let few = Target {
        agents: 1_000,
        ..gpu
    };
    let sums =
        "3 sums are chains of fused multiply-adds; 2 constants went into weights; 2 sums add the \
                terms that are known last at their end"
            .to_owned();
    assert_eq!(relaxes(Math::Fast, few, None), Some(sums));
    let text = "3 sums are chains of fused multiply-adds; 1 pair of divisions shares a reciprocal; 2 \
        constants went into weights";
    let said = Some(text.to_owned());
    for asked in [None, Some(true)] {
        assert_eq!(relaxes(Math::Fast, gpu, asked), said);
        assert_eq!(relaxes(Math::Precise, gpu, asked), None);
    }
    assert_eq!(relaxes(Math::Fast, software, None), None);
    assert_eq!(relaxes(Math::Fast, software, Some(true)), said);
    assert_eq!(relaxes(Math::Fast, gpu, Some(false)), None);
}

/// The text of a kernel for this many agents, and whether memory is reserved in it.
fn reserves(target: Target, asked: Option<bool>) -> (String, bool) {
    let tuning = Tuning {
        lanes: Some(1),
        reserve: asked,
        ..Tuning::default()
    };
    let chosen = choose(&artifact(OWN), &target, &tuning);
    let mut decisions = chosen.kernel.decisions.iter();
    let said = decisions.any(|decision| decision.what == "8 KiB of workgroup memory reserved");
    assert_eq!(said, chosen.schedule.reserve);
    (chosen.kernel.wgsl, said)
}

#[test]
fn memory_is_reserved_where_inputs_leave_no_registers() {
    let few = "input w: [f32; 159] state a = 1.0 step { a = a * sum(w) } output z = a";
    let many = few.replace("159", "160");
    for (source, expected) in [(few, false), (&many, true)] {
        let tuning = Tuning {
            lanes: Some(1),
            ..Tuning::default()
        };
        let chosen = choose(&artifact(source), &Target::large(1 << 20, 100), &tuning);
        assert_eq!(chosen.schedule.reserve, expected, "{source}");
    }
}

#[test]
fn memory_is_reserved_where_arrays_of_many_agents_would_fill_the_caches() {
    let model = |elements: u32| {
        format!(
            "state places: [i32; {elements}] = [1; {elements}] state at = 0
            step {{ at = places[at] places[at] += 1 }} output at"
        )
    };
    // 900 invocations for each of 132 processors.
    for (elements, agents, expected) in [
        (64, 118_800, true),
        (64, 118_799, false),
        (63, 1 << 20, false),
        (192, 1 << 20, true),
    ] {
        let target = Target::large(agents, 100);
        let chosen = choose(&artifact(&model(elements)), &target, &Tuning::AUTO);
        assert_eq!(chosen.schedule.reserve, expected, "{elements}, {agents}");
    }
}

#[test]
fn memory_is_reserved_where_few_agents_run_on_a_known_device() {
    // Five workgroups of 64 for each of 132 processors.
    let [most, more] = [42_240, 42_241].map(|agents| Target::large(agents, 100));
    let unknown = Target {
        processors: None,
        ..most
    };
    for (target, asked, expected) in [
        (most, None, true),
        (more, None, false),
        (unknown, None, false),
        (unknown, Some(true), true),
        (most, Some(false), false),
    ] {
        let (text, said) = reserves(target, asked);
        assert_eq!(said, expected, "{target:?}");
        let (memory, uses) = (
            text.matches("var<workgroup> reserved: array<u32, 2048>;"),
            text.matches(" reserved["),
        );
        assert_eq!(memory.count(), usize::from(expected));
        assert_eq!(uses.count(), usize::from(expected) * 2, "{text}");
    }
}

#[test]
fn what_was_rewritten_is_said() {
    let said = |body: &str| {
        let source = format!("input w: [f32; 9] state x = 1.0 step {{ {body} }} output x");
        let tuning = Tuning {
            lanes: Some(1),
            ..Tuning::default()
        };
        let decisions = choose(&artifact(&source), &Target::large(1_000_000, 500), &tuning)
            .kernel
            .decisions;
        let said = decisions
            .iter()
            .find(|decision| decision.why.contains("rounded in another order"));
        said.map_or_else(String::new, |decision| decision.what.clone())
    };
    assert_eq!(
        said("x = sin(w[0] + (x * w[1] + x * x * w[2]))"),
        "1 sum is a chain of fused multiply-adds"
    );
    assert_eq!(
        said("x = sin(w[0] + (x * w[1] + x * x * w[2])) + cos(w[3] + (x * w[4] + x * x * w[5]))"),
        "2 sums are chains of fused multiply-adds"
    );
}

#[test]
fn worlds_that_do_not_fit_a_workgroup_take_dispatches_a_step() {
    let fold = "world 512\nstate x = f32(agent)\nstep { x += mean(for other in world: other.x) }\noutput x\n";
    let artifact = crate::compile(fold).expect("a legal model");
    let chosen = |invocations: u32| {
        let target = Target {
            workgroup: (invocations, 16 << 10),
            ..Target::large(512, 100)
        };
        let schedule = choose(&artifact, &target, &Tuning::AUTO).schedule;
        (schedule.world_dispatch, schedule.agents_per_invocation)
    };
    assert_eq!(chosen(64).0, WorldDispatch::PerStep);
    assert_eq!(chosen(128), (WorldDispatch::Fused, 4));
    assert_eq!(chosen(256), (WorldDispatch::Fused, 2));
    assert_eq!(chosen(512), (WorldDispatch::Fused, 1));
}

#[test]
fn few_worlds_whose_agents_look_at_all_others_are_spread() {
    let looks = "world 512\nstate x = f32(agent)\n\
        step { var pull = 0.0\n for other in world { let d = other.x - x\n pull += d / (d * d + 0.01) }\n \
        x += 0.01 * pull }\noutput x\n";
    let fold = "world 512\nstate x = f32(agent)\nstep { x += mean(for other in world: other.x) }\noutput x\n";
    let chosen = |source: &str, worlds: u32, tuning: &Tuning| {
        let artifact = crate::compile(source).expect("a legal model");
        let schedule = choose(&artifact, &Target::large(512 * worlds, 100), tuning).schedule;
        (schedule.world_dispatch, schedule.lanes)
    };
    let (spread, fused) = ((WorldDispatch::PerStep, 32), (WorldDispatch::Fused, 1));
    assert_eq!(chosen(looks, 1, &Tuning::AUTO), spread);
    assert_eq!(chosen(looks, 8, &Tuning::AUTO), spread);
    assert_eq!(chosen(looks, 1_000, &Tuning::AUTO), fused);
    assert_eq!(chosen(fold, 1, &Tuning::AUTO), fused);
    let one_lane = Tuning {
        lanes: Some(1),
        ..Tuning::AUTO
    };
    assert_eq!(chosen(looks, 1, &one_lane), fused);
    // Arrays in storage would be there once for each lane.
    let large = looks.replace(
        "step {",
        "state w: [f32; 9000] = [0.0; 9000]\nstep { w[agent] = x\n",
    );
    assert_eq!(chosen(&large, 1, &Tuning::AUTO).1, 1);
}

#[test]
fn many_folds_of_a_world_are_several_dispatches_where_software_would_compile_them() {
    let with = |folds: usize| {
        let sum: Vec<String> = (0..folds)
            .map(|k| format!("sum(for other in world: other.x * {k}.5)"))
            .collect();
        let sum = sum.join(" + ");
        format!("world 16\nstate x = f32(agent)\nstep {{ x = {sum} }}\noutput x\n")
    };
    for (folds, class, expected) in [
        (8, DeviceClass::Software, WorldDispatch::Fused),
        (9, DeviceClass::Software, WorldDispatch::PerStep),
        (9, DeviceClass::LargeGpu, WorldDispatch::Fused),
    ] {
        let artifact = crate::compile(&with(folds)).expect("a legal model");
        let target = Target {
            class,
            ..Target::large(512, 100)
        };
        let choice = choose(&artifact, &target, &Tuning::AUTO);
        assert_eq!(choice.schedule.world_dispatch, expected, "{folds}");
    }
}
