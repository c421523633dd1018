//! The timed runs.

use super::{Unmeasured, interval::Interval, verify::words};
use sim_runtime::{Control, Report, Run, Simulation};
use std::time::Instant;

/// Warm runs, in seconds.
#[derive(Debug)]
pub(crate) struct Measured {
    /// By the device's clock; none if it has none.
    pub(crate) gpu: Option<Interval>,
    /// From the call to the results in the host's memory.
    pub(crate) total: Interval,
    /// What the second takes longer than the first, run by run.
    pub(crate) overhead: Option<Interval>,
    /// How the last run was done.
    pub(crate) report: Report,
    /// How many.
    pub(crate) runs: u32,
}

impl Measured {
    /// Runs a simulation that has run before; every run must give the bits of the `first`.
    pub(crate) fn of(
        simulation: &Simulation,
        first: &Run,
        runs: u32,
        control: &Control<'_>,
    ) -> Result<Measured, Unmeasured> {
        let expected = words(first);
        // One run more, untimed: the first may have learnt how to cut the next ones.
        let mut report = repeated(simulation, &expected, control)?.0;
        let (mut gpu, mut totals) = (Vec::new(), Vec::new());
        for _ in 0..runs.max(1) {
            let (told, seconds) = repeated(simulation, &expected, control)?;
            gpu.extend(told.telemetry.gpu_seconds);
            totals.push(seconds);
            report = told;
        }
        let overhead = totals.iter().zip(&gpu).map(|(total, gpu)| total - gpu);
        Ok(Measured {
            overhead: Interval::of(overhead),
            gpu: Interval::of(gpu),
            total: Interval::of(totals.iter().copied())
                .ok_or_else(|| Unmeasured::Unverified("there was no run".to_owned()))?,
            report,
            runs: totals.len() as u32,
        })
    }
}

fn repeated(
    simulation: &Simulation,
    expected: &[Vec<u32>],
    control: &Control<'_>,
) -> Result<(Report, f64), Unmeasured> {
    let started = Instant::now();
    let run = simulation.run_with(control)?;
    let seconds = started.elapsed().as_secs_f64();
    if words(&run) != expected {
        let why = "a run did not repeat the results of the first one";
        return Err(Unmeasured::Unverified(why.to_owned()));
    }
    Ok((run.report().clone(), seconds))
}
