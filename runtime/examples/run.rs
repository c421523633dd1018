//! Runs a model: the price of a call option by Monte Carlo, with its standard error.
//!
//! `cargo run --release --example run`

use sim_runtime::{Error, Simulation};

const MODEL: &str = "
agents 20_000
steps  252

param rate  = 0.05
param sigma = 0.2 in 0.01..1.0

state price = 100.0

step {
    let dt = 1.0 / 252.0
    price *= exp((rate - 0.5 * sigma * sigma) * dt + sigma * sqrt(dt) * normal())
}

output payoff = exp(-rate) * max(price - 105.0, 0.0)
";

/// Black and Scholes say 8.0214.
pub fn main() -> Result<(), Error> {
    let run = Simulation::compile(MODEL)?.seed(7).run()?;
    let payoffs: &[f32] = run.output("payoff")?;
    let found = run.statistics("payoff")?[0];
    let (mean, error) = (
        found.mean.unwrap_or(0.0),
        found.standard_error().unwrap_or(0.0),
    );
    println!("{} paths: {mean:.3} ± {error:.3}", payoffs.len());
    println!(
        "99 % of the payoffs are below {:.1}",
        run.column("payoff")?.quantiles(&[0.99])[0][0]
    );
    println!(
        "on {:?}, in {:.3} s",
        run.report().backend,
        run.report().run_seconds
    );
    assert!(
        (mean - 8.0214).abs() < 4.0 * error,
        "a price within four standard errors"
    );
    Ok(())
}
