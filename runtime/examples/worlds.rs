//! Worlds, and values over time: agents of a market learn its price from one another, and the spread of their
//! opinions is observed as it shrinks.
//!
//! `cargo run --release --example worlds`

use sim_runtime::{Error, Simulation};

const MODEL: &str = "
agents 1_000
world  10
steps  30

world state price = 0.0
state opinion = normal()

step {
    opinion += 0.2 * (price - opinion)
}
world step {
    price = mean(for other in world: other.opinion)
}

observe spread = sd(opinion) every 10
world output price
";

/// Prints the spread of all opinions, every ten steps.
pub fn main() -> Result<(), Error> {
    let run = Simulation::compile(MODEL)?.seed(3).run()?;
    let spread = run.observed("spread")?;
    for (step, value) in spread.steps.iter().zip(spread.values::<f32>()?) {
        println!("after {step:2} steps: {value:.3}");
    }
    let prices: &[f32] = run.output("price")?;
    println!("{} markets, the first at {:.3}", prices.len(), prices[0]);
    assert!(
        spread
            .values::<f32>()?
            .is_sorted_by(|more, less| more > less)
    );
    Ok(())
}
