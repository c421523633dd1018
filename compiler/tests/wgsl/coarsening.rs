//! Kernels whose invocations run several agents.

use crate::{
    validate::{naga_with_subgroups, tint},
    worlds::{DIVERGENT, model},
};
use sim_compiler::{
    compile,
    emit::choose,
    kernel::schedule::{Kernel, Target, Tuning, WorldDispatch},
};

/// The kernel of a model for so many agents per invocation, where a large GPU has subgroups or none.
fn kernel(source: &str, members: Option<u32>, agents: u32, shuffles: bool) -> Kernel {
    let artifact = compile(source).unwrap_or_else(|found| panic!("{found:?}\n{source}"));
    let world = artifact.manifest.world.as_ref();
    let members = members.or(world.and_then(|world| world.members));
    let target = Target {
        members,
        ..Target::large(10 * members.unwrap_or(100), 9)
    };
    let tuning = Tuning {
        lanes: Some(1),
        agents_per_invocation: Some(agents),
        worlds_per_workgroup: Some(1),
        world_dispatch: Some(WorldDispatch::Fused),
        shuffles: Some(shuffles),
        ..Tuning::AUTO
    };
    let kernel = choose(&artifact, &target, &tuning).kernel;
    let head = match shuffles {
        true => "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n",
        false => "",
    };
    naga_with_subgroups(&kernel.wgsl);
    tint(&format!("{head}{}", kernel.wgsl));
    kernel
}

/// Those that end a loop in which they combine values.
const ENDS_LOOP: [usize; 2] = [6, 9];

#[test]
fn barriers_stand_in_uniform_control_flow() {
    for (number, world) in DIVERGENT.into_iter().enumerate() {
        let source = model(
            world,
            "x += 1\nfor other in world { if other.on { break } }",
        ) + "observe sum_x = sum(x)\nworld observe total\nrecord x every 2\n";
        for (members, agents) in [(4, 2), (4, 4), (100, 4)] {
            for shuffles in [false, true] {
                let found = kernel(&source, Some(members), agents, shuffles);
                let expected = if ENDS_LOOP.contains(&number) {
                    1
                } else {
                    agents
                };
                let got = found.schedule.agents_per_invocation;
                assert_eq!(got, expected, "{world}");
            }
        }
    }
}

#[test]
fn examples_are_valid() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../lang-examples");
    let mut coarse = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("an example").path();
        if path.extension().is_none_or(|extension| extension != "sim") {
            continue;
        }
        let source = std::fs::read_to_string(&path).expect("a text");
        for agents in [2, 4] {
            let found = kernel(&source, None, agents, agents == 2);
            coarse += u32::from(found.schedule.agents_per_invocation > 1);
        }
    }
    assert!(coarse >= 40, "{coarse}");
}

/// What agents have in common is written once, all else once for each.
#[test]
fn a_loop_that_agents_have_in_common_is_written_once() {
    let source = "
        param table: [f32; 512]
        state x = 1.0
        step t {
            for k in 0..400 { x += table[k + t] * x }
            for k in 0..400 { if x > f32(k) { break } x *= 0.5 }
        }
        output x";
    let text = kernel(source, None, 2, false).wgsl;
    let count = |what: &str| text.matches(what).count();
    assert_eq!(count("< 400;"), 3, "{text}");
    assert_eq!((count("x += "), count("x_2 += ")), (1, 1), "{text}");
}
