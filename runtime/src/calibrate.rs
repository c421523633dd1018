//! Measures a machine: how fast its processor and one of its adapters are, and whether they agree.

use crate::{
    backend::Backend,
    calibration::Calibration,
    error::Error,
    launches::{InputCache, Model},
    run::{Device, Run},
    simulation::Simulation,
};
use std::sync::Arc;

/// A model with draws, mathematical functions and integers.
const PROBE: &str = "
agents 1
steps 1
state price = 100.0
state drawn = 0
step {
    price *= exp(0.0001 + 0.01 * normal())
    drawn ^= randint(0, 1_000_000_000)
}
output price
output drawn
";

/// Agents that keep a processor or a GPU busy.
const BUSY: u32 = 1 << 18;
/// Agents whose results are compared.
const COMPARED: u32 = 4_096;
/// A run that takes this long is measured well.
const ENOUGH_SECONDS: f64 = 0.05;
/// Most steps of a run that is timed.
const MOST_STEPS: u32 = 1 << 22;

/// What was measured of an adapter and the processor.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The adapter's name.
    pub adapter: String,
    /// The speeds.
    pub calibration: Calibration,
    /// Instructions of the probe per agent and step: it draws a normal number and an integer, and has one
    /// exponential function.
    pub probe_instructions: u32,
    /// Whether the adapter computed the same integers as the processor, to the bit.
    pub agrees: bool,
}

/// Measures an adapter, by a part of its name, beside the processor. Takes one to a few seconds.
///
/// # Errors
/// Those of opening and running a GPU.
pub fn calibrate(adapter: &str) -> Result<Measured, Error> {
    let probe = || Simulation::compile(PROBE).map(|it| it.keep_states(false).seed(1));
    let mut cpu = probe()?.backend(Backend::Cpu);
    let instructions = instructions(&cpu)?;

    // The first run of a device: all that it takes until a kernel is there.
    let mut gpu = probe()?.adapter(adapter);
    let opened = sample(&mut gpu)?;
    let seconds = opened.report().telemetry;
    let gpu_open_seconds = seconds.instance_seconds
        + seconds.adapter_seconds
        + seconds.device_seconds
        + seconds.kernel_seconds
        + seconds.module_seconds
        + seconds.pipeline_seconds;
    let name = match &opened.report().backend {
        Device::Gpu(adapter) => adapter.name.clone(),
        Device::Cpu(_) | Device::Reference => adapter.to_owned(),
    };
    let drawn = |run: &Run| run.output::<i32>("drawn").map(<[i32]>::to_vec);
    let agrees = drawn(&opened)? == drawn(&sample(&mut cpu)?)?;
    Ok(Measured {
        adapter: name,
        calibration: Calibration {
            gpu_open_seconds,
            gpu_instruction_seconds: step_seconds(&mut gpu)? / f64::from(instructions),
            cpu_instruction_seconds: step_seconds(&mut cpu)? / f64::from(instructions),
            cpu_threads: rayon::current_num_threads() as u32,
        },
        probe_instructions: instructions,
        agrees,
    })
}

/// Instructions of the probe per agent and step.
fn instructions(probe: &Simulation) -> Result<u32, Error> {
    let artifact = &Arc::new(probe.artifact().clone());
    let program = Model {
        artifact,
        isa: None,
        input_cache: &InputCache::default(),
    }
    .vector_program::<u32>(1)?;
    let program = program.expect("the probe is small");
    Ok(program.lane_instructions() as u32)
}

/// A short run, whose results are compared.
fn sample(simulation: &mut Simulation) -> Result<Run, Error> {
    simulation.set_agents(COMPARED);
    simulation.set_steps(16);
    simulation.run()
}

/// Seconds of a busy device per agent and step: the difference of two runs, without what each run costs.
fn step_seconds(simulation: &mut Simulation) -> Result<f64, Error> {
    const FEW: u32 = 16;
    simulation.set_agents(BUSY);
    // The first run allocates.
    timed(simulation, FEW)?;
    let short = timed(simulation, FEW)?;
    let mut steps = FEW;
    loop {
        steps *= 4;
        let difference = timed(simulation, steps)? - short;
        if difference >= ENOUGH_SECONDS || steps >= MOST_STEPS {
            let agent_steps = f64::from(steps - FEW) * f64::from(BUSY);
            return Ok(difference.max(1e-6) / agent_steps);
        }
    }
}

fn timed(simulation: &mut Simulation, steps: u32) -> Result<f64, Error> {
    simulation.set_steps(steps);
    Ok(simulation.run()?.report().run_seconds)
}
