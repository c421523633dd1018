//! The largest numbers of agents and steps: one in the documentation, the compiler, the command and every
//! backend.

use crate::{Place, repository};
use sim_compiler::manifest::{MOST_AGENTS, MOST_STEPS};
use sim_tests::launch::has_gpu;

/// All agents are done after the first step, however many there may be.
const BRIEF: &str = "agents 3
steps STEPS
state n = 0
step {
    n += 1
    stop
}
output n
output left = steps - n
";

fn brief(steps: u64) -> String {
    BRIEF.replace("STEPS", &steps.to_string())
}

#[test]
fn the_most_steps_run_on_every_backend_and_one_more_on_none() {
    let place = Place::new();
    place.write("brief.sim", brief(1));
    let (most, more) = (MOST_STEPS.to_string(), (MOST_STEPS + 1).to_string());
    let mut backends = vec!["cpu", "reference"];
    backends.extend(has_gpu().then_some("gpu"));
    for backend in backends {
        let run = |steps| {
            let args = ["run", "brief.sim", "--backend", backend, "--steps", steps];
            place.simc(&[&args[..], &["--json"]].concat())
        };
        let said = run(&most);
        assert_eq!(said.code, 0, "{backend}: {}", said.err);
        let report: serde_json::Value =
            serde_json::from_str(&said.out).expect("--json prints JSON");
        assert_eq!(report["steps"], MOST_STEPS, "{backend}");
        assert_eq!(report["stopped_agents"], 3, "{backend}");
        assert_eq!(report["agent_steps"], 3, "{backend}");
        assert_eq!(report["outputs"][0]["mean"], 1.0, "{backend}");
        assert_eq!(
            report["outputs"][1]["mean"],
            f64::from(MOST_STEPS - 1),
            "{backend}"
        );
        let said = run(&more);
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{backend}");
        assert!(said.err.starts_with("[E0710]"), "{backend}: {}", said.err);
        assert!(said.err.contains(&most), "{backend}: {}", said.err);
    }
}

#[test]
fn a_model_may_say_the_most_steps_and_agents_but_no_more() {
    let place = Place::new();
    place.write("most.sim", brief(MOST_STEPS.into()));
    place.good(&["check", "most.sim"]);
    place.write("more.sim", brief(u64::from(MOST_STEPS) + 1));
    let said = place.simc(&["check", "more.sim"]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.starts_with("[E0604]"), "{}", said.err);
    assert!(
        said.err.contains(&format!("0 to {MOST_STEPS}")),
        "{}",
        said.err
    );
    place.write(
        "crowd.sim",
        format!("agents {MOST_AGENTS}\noutput a = agent\n"),
    );
    place.good(&["check", "crowd.sim"]);
    let crowd = u64::from(MOST_AGENTS) + 1;
    let said = place.simc(&["run", "crowd.sim", "--agents", &crowd.to_string()]);
    assert_eq!(said.code, 1, "{}", said.err);
    assert!(said.err.starts_with("[E0710]"), "{}", said.err);
}

/// Digits in groups of three, with commas.
fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    let groups: Vec<&str> = groups
        .iter()
        .filter_map(|it| str::from_utf8(it).ok())
        .collect();
    groups.join(",")
}

#[test]
fn the_documentation_states_these_numbers() {
    let (agents, steps) = (grouped(MOST_AGENTS), grouped(MOST_STEPS));
    let page = std::fs::read_to_string(repository("docs/language.md")).expect("it is there");
    assert!(page.contains(&format!("| agents of a population | {agents} |")));
    assert!(page.contains(&format!("| steps of a run | {steps} |")));
    let place = Place::new();
    for code in ["E0604", "E0710"] {
        let text = place.good(&["explain", code]).out.replace('\n', " ");
        assert!(text.contains(&agents) && text.contains(&steps), "{text}");
    }
}
