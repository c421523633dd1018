//! Machine code that is made at run time: asked for, not asked for, and forbidden by the system.

use crate::{Place, Said};
use serde_json::Value;
use std::process::Command;

const MODEL: &str = "
agents 4_000
steps 50
state x = uniform(0.5, 0.9)
step {
    let y = x * x
    x = fract(3.9 * y * (1.0 - y) + normal(0.0, 0.1) * exp(-y) + select(sqrt(y), 0.25 * y, y < 0.5))
}
output x
";

/// What a run said of itself, and its results.
fn run(place: &Place, command: &mut Command) -> Value {
    let said = Said::from(command.output().expect("simc can be started"));
    assert_eq!(said.code, 0, "{}", said.err);
    let mut report: Value = serde_json::from_str(&said.out).expect("it is JSON");
    report["bytes"] = place.read("x.npy").into();
    report
}

fn arguments(jit: &'static str) -> [&'static str; 10] {
    [
        "run",
        "model.sim",
        "--backend",
        "cpu",
        "--jit",
        jit,
        "--json",
        "--output",
        "x.npy",
        "--force",
    ]
}

#[test]
fn a_run_says_what_code_was_made_for_it() {
    let place = Place::new();
    place.write("model.sim", MODEL);
    let without = run(&place, &mut place.command(&arguments("false")));
    let with = run(&place, &mut place.command(&arguments("true")));
    assert_eq!(without["bytes"], with["bytes"]);
    assert_eq!(without["kernel"], serde_json::json!([]));
    let said = with["kernel"].to_string();
    let expected = match cfg!(target_arch = "x86_64") && std::arch::is_x86_feature_detected!("avx2")
    {
        true => "machine code made at run time: ",
        false => "[]",
    };
    assert!(said.contains(expected), "{said}");
}

/// Linux refuses memory that becomes executable to a process that asks for that, and to its children.
#[cfg(target_os = "linux")]
#[test]
fn where_the_system_forbids_code_the_machine_runs_and_says_so() {
    use nix::libc::{PR_SET_MDWE, prctl};
    use std::os::unix::process::CommandExt;

    let place = Place::new();
    place.write("model.sim", MODEL);
    let free = run(&place, &mut place.command(&arguments("true")));
    if free["kernel"] == serde_json::json!([]) {
        println!("SKIPPED: no code is made for this processor");
        return;
    }
    let mut command = place.command(&arguments("true"));
    // SAFETY: between fork and exec it makes one system call.
    unsafe {
        command.pre_exec(|| match prctl(PR_SET_MDWE, 1, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    if let Err(error) = command.output() {
        println!("SKIPPED: this kernel forbids no code ({error})");
        return;
    }
    let forbidden = run(&place, &mut command);
    let said = forbidden["kernel"].to_string();
    assert!(said.contains("the system forbids it"), "{said}");
    assert_eq!(free["bytes"], forbidden["bytes"]);
}
