//! Step counts of many agents that never stop are checked on the device, and not read back.

use super::walk::{KERNEL, artifact, starts, table};
use sim_compiler::ir::Program;
use sim_runtime::{Backend, Simulation, Tuning};
use sim_tests::launch::has_gpu;

const AGENTS: u32 = 600_000;

fn counting(backend: Backend) -> Simulation {
    let source = "agents 1 steps 5 state x = agent step t { x += t } output x";
    Simulation::compile(source)
        .expect("a legal model")
        .agents(AGENTS)
        .backend(backend)
        .keep_states(false)
}

#[test]
fn outputs_alone_are_read_back() {
    if !has_gpu() {
        return;
    }
    let expected: Vec<i32> = (0..AGENTS as i32).map(|agent| agent + 10).collect();
    for chunk in [None, Some(400_000)] {
        let tuning = Tuning {
            max_agents_per_chunk: chunk,
            ..Tuning::default()
        };
        let run = counting(Backend::Gpu).tuning(tuning).run().expect("runs");
        assert!(run.output::<i32>("x").expect("known") == expected);
        assert!(run.steps().expect("known").eq((0..AGENTS).map(|_| 5)));
        assert!(run.stopped().expect("known").all(|stopped| !stopped));
        assert_eq!(
            (run.agent_steps(), run.stopped_agents()),
            (5 * u64::from(AGENTS), 0)
        );
        let down = run.report().telemetry.bytes_down;
        let bytes = 4 * u64::from(AGENTS);
        assert!((bytes..bytes + 1_000).contains(&down), "{down} bytes");
    }
}

#[test]
fn the_cpu_keeps_none_either() {
    let run = counting(Backend::Cpu).run().expect("runs");
    assert_eq!(run.agent_steps(), 5 * u64::from(AGENTS));
    assert_eq!(run.into_parts().progress, vec![5; AGENTS as usize]);
}

#[test]
fn an_agent_that_missed_a_step_is_found() {
    if !has_gpu() {
        return;
    }
    let kernel = KERNEL.replace("x > 100.0", "x > 1e9").replace(
        "steps_run += 1u;",
        "steps_run += u32(t != 1 || i != 271828u);",
    );
    let mut wrong = artifact(Some(3));
    wrong.own_kernel = Some(kernel);
    wrong.program = Program::default();
    let simulation = Simulation::from_artifact(wrong)
        .backend(Backend::Gpu)
        .agents(AGENTS)
        .steps(3)
        .data("table", table())
        .and_then(|simulation| simulation.input("start", starts(AGENTS, 0)));
    let found = simulation.expect("these are legal values").run();
    let message = found.expect_err("a step is missing").to_string();
    assert!(
        message.contains("agent 271828 ran 2 steps instead of 3"),
        "{message}"
    );
}
