//! A run on several devices has the bits of one device of the kind, for every model in the repository.
//!
//! Everywhere on the CPU, opened twice or thrice; on a GPU, real or software, where there is one.

use super::{files, vector::filled};
use sim_runtime::{Backend, Devices, Run, Simulation};
use sim_tests::{
    compare::{Tolerance, compare},
    launch::{has_gpu, simulation},
};

/// The run of a model on one device, with outputs and without.
struct One {
    kept: Run,
    reduced: Run,
}

fn ready(source: &str, backend: Backend) -> Result<Simulation, String> {
    filled(simulation(source, backend, true)?)
}

fn runs(simulation: Simulation) -> Result<One, String> {
    let text = |error: sim_runtime::Error| error.to_string();
    let kept = simulation.run().map_err(text)?;
    let simulation = simulation.keep_outputs(false).keep_states(false);
    let reduced = simulation.run().map_err(text)?;
    Ok(One { kept, reduced })
}

fn hold(source: &str, one: &One, backend: Backend, devices: &str) -> Result<(), String> {
    let devices: Devices = devices.parse()?;
    let got = runs(ready(source, backend)?.devices(devices))?;
    compare(&got.kept, &one.kept, Tolerance::Bits).map_err(|difference| difference.to_string())?;
    let report = got.kept.report();
    let shared: u32 = report.devices.iter().map(|share| share.agents).sum();
    if shared != report.agents {
        return Err(format!(
            "{shared} agents in the shares of {}",
            report.agents
        ));
    }
    for name in one.kept.output_names() {
        let of = |run: &Run| format!("{:?}", run.statistics(name));
        if of(&got.reduced) != of(&one.reduced) {
            return Err(format!("other statistics of `{name}`"));
        }
    }
    let steps = |run: &Run| (run.agent_steps(), run.stopped_agents());
    match steps(&got.reduced) == steps(&one.reduced) {
        true => Ok(()),
        false => Err("other numbers of steps".to_owned()),
    }
}

fn hold_all(folders: &[&str], backend: Backend, devices: &[&str]) {
    let mut complaints = Vec::new();
    for folder in folders {
        for (name, source) in files::models(folder) {
            let one = match ready(&source, backend).and_then(runs) {
                Ok(one) => one,
                Err(complaint) => {
                    complaints.push(format!("{name}: {complaint}"));
                    continue;
                }
            };
            for devices in devices {
                let held = hold(&source, &one, backend, devices);
                complaints.extend(held.err().map(|it| format!("{name} ({devices}): {it}")));
            }
        }
    }
    files::report("models differ on several devices", complaints);
}

#[test]
fn every_model_has_the_bits_of_one_processor() {
    let folders = ["lang-examples", "tests/language", "tests/run"];
    hold_all(&folders, Backend::Cpu, &["cpu,cpu", "cpu,cpu,cpu"]);
}

#[test]
fn every_example_has_the_bits_of_one_gpu() {
    if has_gpu() {
        hold_all(&["lang-examples"], Backend::Gpu, &["0,0"]);
    }
}
