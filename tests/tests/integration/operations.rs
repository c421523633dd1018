//! How many operations the kernel of each example has under each schedule. Numbers alone do not notice an
//! optimiser that has stopped optimising: a change here is either intended, or a mistake.

use super::files;
use sim_compiler::kernel::schedule::{Occupancy, Schedule};
use std::fmt::Write;

/// What is counted, as it stands in the text.
const WORDS: [&str; 12] = [
    " + ", " - ", " * ", " / ", "select(", "min(", "max(", "exp2(", "sqrt(", "if ", "for ",
    "subgroup",
];

/// Schedules by name: the step stands once in each.
fn schedules() -> Vec<(&'static str, Schedule)> {
    let once = Schedule {
        unroll_steps: 1,
        ..Schedule::default()
    };
    let relaxed = |occupancy: Occupancy, lanes: u32, has_infinities: bool| Schedule {
        occupancy,
        lanes,
        relax: true,
        step_table: occupancy != Occupancy::Full,
        has_infinities,
        ..once
    };
    vec![
        ("as it is", once),
        (
            "step table",
            Schedule {
                step_table: true,
                ..once
            },
        ),
        ("full", relaxed(Occupancy::Full, 1, false)),
        ("low", relaxed(Occupancy::Low, 1, false)),
        ("low, infinities", relaxed(Occupancy::Low, 1, true)),
        ("2 lanes", Schedule { lanes: 2, ..once }),
        ("4 lanes, low", relaxed(Occupancy::Low, 4, false)),
        (
            "16 lanes, low, infinities",
            relaxed(Occupancy::Low, 16, true),
        ),
        (
            "64 lanes at barriers",
            Schedule {
                lanes: 64,
                subgroup: 16,
                ..once
            },
        ),
    ]
}

#[test]
fn each_kernel_has_its_operations() {
    let mut page = String::new();
    let models = files::models_without_worlds("lang-examples").into_iter();
    for (name, source) in models.chain(files::models_without_worlds("benchmarks")) {
        let artifact = sim_compiler::compile(&source).expect("an example compiles");
        let mut seen: Vec<String> = Vec::new();
        writeln!(page, "{name}").expect("a string takes all");
        for (schedule_name, schedule) in schedules() {
            let kernel = artifact.kernel(&schedule);
            let counts = WORDS.map(|word| kernel.wgsl.matches(word).count());
            let shown: Vec<String> = (WORDS.iter().zip(counts))
                .filter(|(_, count)| *count > 0)
                .map(|(word, count)| format!("{count} {}", word.trim().trim_end_matches('(')))
                .collect();
            let lines = kernel.wgsl.lines().count();
            let line = format!(
                "{} lanes, {lines} lines: {}",
                kernel.lanes,
                shown.join(", ")
            );
            // A schedule that a model has no use for is one of those above.
            if !seen.contains(&line) {
                writeln!(page, "    {schedule_name}: {line}").expect("a string takes all");
                seen.push(line);
            }
        }
    }
    insta::with_settings!({
        snapshot_path => "snapshots",
        prepend_module_to_snapshot => false,
        omit_expression => true
    }, {
        insta::assert_snapshot!("operations", page);
    });
}
