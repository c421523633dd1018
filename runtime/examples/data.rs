//! Feeds a table and an input: each agent holds its own share of two funds, and a day's returns are a row of
//! the table.
//!
//! `cargo run --example data`

use sim_runtime::{Error, Simulation};

const MODEL: &str = "
agents 3
steps  4

/// Returns of a bond and a share, day by day.
data returns: [[f32; 2]]
/// How much of an agent's wealth is in the share.
input share: f32

state wealth = 100.0

step day {
    wealth *= 1.0 + (1.0 - share) * returns[day][0] + share * returns[day][1]
}

output wealth
";

/// Prints what each agent has after four days.
pub fn main() -> Result<(), Error> {
    let shares = [0.0_f32, 0.5, 1.0];
    // Row by row; a table of seven rows would do as well, one of three is an error.
    let returns = [0.01_f32, 0.10, 0.01, -0.20, 0.01, 0.05, 0.01, 0.10];
    let simulation = Simulation::compile(MODEL)?
        .data("returns", returns)?
        .input("share", shares)?;
    let wealth: Vec<f32> = simulation.run()?.into_output("wealth")?;
    for (share, wealth) in shares.iter().zip(&wealth) {
        println!("{:3.0} % in the share: {wealth:.2}", share * 100.0);
    }
    assert!((wealth[0] - 100.0 * 1.01_f32.powi(4)).abs() < 1e-3);
    Ok(())
}
