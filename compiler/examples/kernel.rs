//! The kernel of a model as WGSL, for any device and for a large GPU.
//!
//! `cargo run --example kernel`

use sim_compiler::{
    Diagnostic, compile, emit,
    kernel::{
        profile::DeviceClass,
        schedule::{Target, Tuning},
    },
};

const MODEL: &str = "\
agents 1_000_000
steps 252
param sigma = 0.2
state price = 100.0
step { price *= exp(sigma * normal()) }
output price
";

/// Prints the portable kernel, and what is decided for a large GPU.
pub fn main() -> Result<(), Vec<Diagnostic>> {
    let artifact = compile(MODEL)?;
    let portable = artifact.wgsl();
    println!("{portable}");
    let target = Target::of(DeviceClass::LargeGpu, 1_000_000, 252);
    let kernel = emit::choose(&artifact, &target, &Tuning::AUTO).kernel;
    for decision in &kernel.decisions {
        println!("{}: {}", decision.what, decision.why);
    }
    assert!(portable.contains("@compute") && kernel.wgsl.contains("@compute"));
    Ok(())
}
