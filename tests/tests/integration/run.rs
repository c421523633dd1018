//! Specimens with expected numbers, on every backend, optimised and not.

use super::files;
use sim_tests::{expectation::Head, launch};

#[test]
fn each_specimen_gives_its_numbers() {
    let mut complaints = Vec::new();
    for (name, source) in files::models("tests/run") {
        for way in launch::ways() {
            // WGSL leaves infinities, NaN, signs of zeros and the order of sums to the driver.
            if name.starts_with("cpu_") && !way.is_exact() {
                continue;
            }
            let outcome = Head::read(&source).and_then(|head| {
                let simulation = head.launch(way.simulation(&source)?)?;
                match simulation.run() {
                    Ok(run) => head.compare(&run),
                    Err(error) => Err(error.to_string()),
                }
            });
            if let Err(complaint) = outcome {
                complaints.push(format!("{name} ({way}): {complaint}"));
            }
        }
    }
    files::report("specimens give other numbers", complaints);
}
