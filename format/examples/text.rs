//! Formats a model.
//!
//! `cargo run --example text`

use sim_format::{Error, format};

const LOOSE: &str =
    "agents 2\nstate x=1.0// kept\nstate longer=2.0\nstep{x+=longer*normal()}\noutput x\n";

/// Prints the model in canonical style.
pub fn main() -> Result<(), Error> {
    let neat = format(LOOSE)?;
    print!("{neat}");
    assert!(neat.contains("state x      = 1.0 // kept"));
    Ok(())
}
