//! Says whether a model is in canonical style, as a check before a commit does.
//!
//! `cargo run --example changed`

use sim_format::{Error, format};

/// Is the model written as `simc fmt` would write it?
fn is_canonical(model: &str) -> Result<bool, Error> {
    Ok(format(model)? == model)
}

/// Asks about a model before and after formatting.
pub fn main() -> Result<(), Error> {
    let loose = "agents 2\noutput x=agent\n";
    let neat = format(loose)?;
    println!(
        "before: {}, after: {}",
        is_canonical(loose)?,
        is_canonical(&neat)?
    );
    assert!(!is_canonical(loose)? && is_canonical(&neat)?);
    Ok(())
}
