//! Kernels of worlds: their barriers stand where naga and tint know that all invocations come to them.

use crate::validate::{naga, naga_with_subgroups, tint};
use sim_compiler::{
    compile,
    emit::choose,
    kernel::schedule::{Grid, Kernel, Schedule, Target, Tuning, When, WorldDispatch},
};

/// The kernel for worlds of this size.
fn text(source: &str, members: u32) -> String {
    let artifact = compile(source).unwrap_or_else(|found| panic!("{found:?}\n{source}"));
    let schedule = Schedule {
        members,
        ..Schedule::default()
    };
    artifact.kernel(&schedule).wgsl
}

/// The kernel where each step is several dispatches, if it can be.
fn kernel_per_step(source: &str, members: u32) -> Option<Kernel> {
    let artifact = compile(source).unwrap_or_else(|found| panic!("{found:?}\n{source}"));
    let schedule = Schedule {
        members,
        world_dispatch: WorldDispatch::PerStep,
        ..Schedule::default()
    };
    let kernel = artifact.kernel(&schedule);
    (kernel.schedule.world_dispatch == WorldDispatch::PerStep).then_some(kernel)
}

/// Its text.
fn per_step(source: &str, members: u32) -> Option<String> {
    kernel_per_step(source, members).map(|kernel| kernel.wgsl)
}

/// A model whose world runs these statements in each step, and its agents those.
pub(crate) fn model(world: &str, agents: &str) -> String {
    format!(
        "steps 9\nworld state total = 0\nworld state sums: [i32; 4] = [0, 0, 0, 0]\nstate x = member\n\
         state on = true\nstep {{ {agents} }}\nworld step t {{ {world} }}\nstep {{ x += world[x].x }}\n\
         output x\nworld output total\n"
    )
}

/// Each way in which a fold of the world can stand under a condition or in a loop.
pub(crate) const DIVERGENT: [&str; 13] = [
    "if total > 3 { total += sum(for a in world: a.x) }",
    "if total > 3 { total += 1 } else { total += sum(for a in world: a.x) }",
    "if total > 3 { total += 1 } else if any(for a in world: a.on) { total = 2 } else { total = 3 }",
    "if total > 3 && any(for a in world: a.on) { total += 1 }",
    "total += if total > 3 || all(for a in world if a.x > total: a.on) { 1 } else { 2 }",
    "for k in 0..total { total += max(for a in world: a.x + k) }",
    "for k in 0..total { if k > 2 { break }\n total += max(for a in world: a.x + k) }",
    "for k in 0..9 { if sums[k % 4] > 2 { continue }\n total += sum(for a in world: a.x) }",
    "for k in 0..9 { for j in 0..sums[k % 4] { if j > total { break }\n total += 1 }\n \
     total += sum(for a in world: a.x) }",
    "for k in 0..9 { for j in 0..sums[k % 4] { if j > total { break }\n \
     total += min(for a in world: a.x + j) }\n if total > 9 { if k > 3 { continue } else { break } } }",
    "while sum(for a in world: a.x) > total limit 9 { total += 5\n if total % 3 == 0 { break } }",
    "for other in world { if other.on { total += sum(for a in world: a.x) } }",
    "match t { 1 => { total = sum(for a in world: a.x) }, 2 => { if total > 1 { sums[t % 4] = \
     count(for a in world: a.on) } }, _ => {} }",
];

/// Those in which it stands in a loop, and depends on its iterations.
const FOLD_IN_LOOP: [usize; 3] = [5, 6, 9];

#[test]
fn barriers_stand_in_uniform_control_flow() {
    for world in DIVERGENT {
        for agents in [
            "x += 1",
            "if x > 9 { stop }\n for other in world { if other.on { if x > 5 { stop }\n break } }",
        ] {
            for members in [1, 5, 100] {
                let text = text(&model(world, agents), members);
                naga(&text);
                tint(&text);
            }
        }
    }
}

#[test]
fn a_fold_under_a_condition_has_a_workgroup_of_its_own() {
    let free = text(&model("total += sum(for a in world: a.x)", "x += 1"), 5);
    assert!(free.contains("@workgroup_size(128)"), "{free}");
    assert!(!free.contains("workgroupUniformLoad"));
    let bound = text(&model(DIVERGENT[0], "x += 1"), 5);
    assert!(bound.contains("@workgroup_size(32)"), "{bound}");
    assert!(bound.contains("workgroupUniformLoad"));
}

#[test]
fn stages_of_steps_are_valid() {
    for members in [1, 5, 300, 5_000, 100_000] {
        for (number, world) in DIVERGENT.into_iter().enumerate() {
            let mut source = model(world, "x += 1\n if x > world[member + 1].x { stop }");
            source += "observe sum_x = sum(x)\nworld observe next = world[1].x every 3\nrecord x every 2\n";
            // In a loop, a fold would be a stage each time.
            let is_per_step = per_step(&source, members);
            assert_eq!(
                is_per_step.is_some(),
                FOLD_IN_LOOP.binary_search(&number).is_err(),
                "{world}"
            );
            if let Some(text) = is_per_step {
                naga(&text);
                tint(&text);
            }
        }
    }
}

#[test]
fn stages_with_lanes_are_valid() {
    let loops = "for other in world { if other.on { total_x += other.x } }";
    let with_rows = "state x = member\nstate on = true\n";
    let with_arrays = "state x = member\nstate on = true\nstate y: [i32; 3] = [1, 2, 3]\n";
    for (states, reads) in [(with_rows, "1"), (with_arrays, "world[x].y[x]")] {
        for members in [40, 64, 1_000, 5_000] {
            let source = format!(
                "steps 9\n{states}step t {{ if on {{ var total_x = 0\n {loops}\n x += total_x + {reads} }}\n \
                 if x % 50 == 7 {{ stop }} }}\nworld output all = sum(for other in world: other.x)\n"
            );
            let artifact = compile(&source).unwrap_or_else(|found| panic!("{found:?}\n{source}"));
            let target = Target {
                members: Some(members),
                ..Target::large(2 * members, 9)
            };
            let tuning = Tuning {
                world_dispatch: Some(WorldDispatch::PerStep),
                ..Tuning::AUTO
            };
            let kernel = choose(&artifact, &target, &tuning).kernel;
            let [agents] = (kernel.stages.iter())
                .filter(|stage| stage.when == When::Step)
                .map(|stage| stage.grid)
                .collect::<Vec<Grid>>()[..]
            else {
                panic!("one dispatch a step")
            };
            // A workgroup whose agents read rows from its memory has several.
            let shares = reads == "1" && members <= 1_000;
            let lanes = if members < 64 {
                8
            } else if members < 1_000 {
                16
            } else {
                32
            };
            let each = if shares { 8 } else { 64 / lanes };
            assert_eq!(
                (kernel.lanes, agents),
                (lanes, Grid::Agents(each)),
                "{members} {reads}"
            );
            assert_eq!(kernel.wgsl.contains("rows_of_world["), shares);
            naga_with_subgroups(&kernel.wgsl);
            tint(&format!(
                "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n{}",
                kernel.wgsl
            ));
        }
    }
}

#[test]
fn stages_are_as_few_as_what_they_read_of_one_another_allows() {
    let cases = [
        // Neither phase reads of others what the one before it assigns.
        (
            "step { x += world[x].y }\nstep { y += world[x].y }",
            &["agents_1"][..],
        ),
        (
            "step { y += 1 }\nstep { x += world[x].y }",
            &["agents_1", "agents_2"],
        ),
        ("step { total += x }", &["agents_1"]),
        (
            "step { x += world[x].x }\nworld step { all += 1 }\nstep { y += x }",
            &["agents_1", "world_2", "agents_3"],
        ),
        // Independent folds share a stage; the second of these needs the result of the first.
        (
            "world step { all = sum(for a in world: a.x) + count(for a in world: a.y > 3) }",
            &["parts_1", "world_2", "agents_3"],
        ),
        (
            "world step { let most = max(for a in world: a.x)\n \
             if most > 3 { all = sum(for a in world: a.x + most) } }",
            &["parts_1", "parts_2", "world_3", "agents_4"],
        ),
        // A variable that depends on a fold, and later on none.
        (
            "world step { var k = max(for a in world: a.x)\n all = k\n k = 5\n \
             all += min(for a in world: a.y + k) }",
            &["parts_1", "world_2", "agents_3"],
        ),
    ];
    for (steps, expected) in cases {
        let source = format!(
            "steps 9\nworld state all = 0\nstate x = member\nstate y = 1\nstate total = 0\n{steps}\n\
             output x\noutput y\noutput total\nworld output all\n"
        );
        let kernel = kernel_per_step(&source, 5).expect("no fold in a loop");
        let names: Vec<&str> = (kernel.stages.iter())
            .filter(|stage| stage.when == When::Step)
            .map(|stage| stage.name.as_str())
            .collect();
        assert_eq!(names, expected, "{steps}");
        naga(&kernel.wgsl);
        tint(&kernel.wgsl);
    }
}

#[test]
fn a_small_world_reads_like_one() {
    let source = "agents 60\nworld 3\nsteps 4\nworld input pull = 0.5\nworld state centre = 0.0\n\
        input mass = 1.0\nstate x = f32(member)\nstate on = true\n\
        step {\n    x += pull * (centre - x) + 0.01 * normal()\n    if x > world[member + 1].x { stop }\n}\n\
        world step { centre = mean(for other in world if other.on: other.mass * other.x) }\n\
        output x\noutput first = world[0].x * world[1].mass\nworld output centre\n";
    let text = text(source, 0);
    naga(&text);
    tint(&text);
    insta::assert_snapshot!(text);
    let text = per_step(source, 0).expect("no fold in a loop");
    naga(&text);
    tint(&text);
    insta::assert_snapshot!("a_small_world_reads_like_one_per_step", text);
}
