//! Sweeps a param: how large an epidemic becomes, by how contagious it is. The model is compiled once, and
//! the runs of a batch overlap on a GPU.
//!
//! `cargo run --release --example sweep`

use sim_runtime::{Control, Error, Simulation, Variation};

const MODEL: &str = "
agents 500
steps  200

param contacts = 0.2 in 0.0..1.0

state healthy = 990.0
state ill     = 10.0

step {
    let infected  = min(healthy, f32(poisson(contacts * healthy * ill / 1000.0)))
    let recovered = min(ill, f32(poisson(0.1 * ill)))
    healthy -= infected
    ill     += infected - recovered
}

output spared = healthy
";

/// Each line is a param and how many of 1,000 people never fell ill.
pub fn main() -> Result<(), Error> {
    let mut simulation = Simulation::compile(MODEL)?;
    simulation.set_seed(1);
    let contacts: Vec<f32> = (1..=6).map(|k| 0.05 * k as f32).collect();
    let sweep: Vec<Variation> = (contacts.iter())
        .map(|&contacts| Variation::new().param("contacts", contacts))
        .collect();
    let mut spared = Vec::new();
    simulation.run_each(&sweep, &Control::default(), |number, run| {
        let mean = run
            .statistics("spared")
            .ok()
            .and_then(|found| found[0].mean);
        println!("{:.2}: {:6.1}", contacts[number], mean.unwrap_or(f64::NAN));
        spared.extend(mean);
    })?;
    assert!(spared.is_sorted_by(|more, less| more > less), "{spared:?}");
    Ok(())
}
