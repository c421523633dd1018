//! The timed runs.

use super::{Unmeasured, interval::Interval};
use crate::summary::Shares;
use sim_runtime::{
    Control, Report, Run, Simulation, Timing, Variation,
    compare::{Tolerance, outputs},
};
use std::{slice, time::Instant};

/// Warm runs, in seconds.
#[derive(Debug)]
pub(crate) struct Measured {
    /// By the device's clock; none if it has none.
    pub(crate) gpu: Option<Interval>,
    /// From the call to the results in the host's memory, in runs without the clock, which take turns with
    /// those.
    pub(crate) total: Interval,
    /// What the second takes longer than the first, pair by pair.
    pub(crate) overhead: Option<Interval>,
    /// How the last run was done.
    pub(crate) report: Report,
    /// How many.
    pub(crate) runs: u32,
}

/// Runs one after the other on the device, in seconds per run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InARow {
    /// Runs of a submission.
    pub(crate) runs: u32,
    /// By the device's clock.
    pub(crate) gpu: Interval,
}

/// Seconds that the runs of a submission should take together: beside them, what the clock itself takes is
/// nothing.
const ROW: f64 = 2e-3;
/// Seconds that a device runs before it is timed: its clock falls to a fraction while it has nothing to do,
/// as when the host verifies results.
const WARM_UP: f64 = 0.5;
/// Most runs in a row.
const MOST_IN_A_ROW: f64 = 200.0;

impl InARow {
    /// As many submissions as runs were `measured`; every run that is read must give the bits of the `first`.
    /// None where the device has no clock, or one run is long enough.
    pub(crate) fn of(
        simulation: &Simulation,
        first: &Run,
        measured: &Measured,
        control: &Control<'_>,
    ) -> Result<Option<InARow>, Unmeasured> {
        let alone = measured.gpu.map_or(f64::INFINITY, |alone| alone.median);
        let repeats = (ROW / alone.max(1e-9)).min(MOST_IN_A_ROW) as u32;
        if repeats < 2 {
            return Ok(None);
        }
        let repeated_on_device = Control {
            timing: Some(Timing { repeats }),
            ..*control
        };
        let mut times = Vec::new();
        for _ in 0..measured.runs {
            let report = repeated(simulation, first, &repeated_on_device)?.0;
            if report.dispatches == u64::from(repeats) {
                times.extend(report.telemetry.gpu_seconds);
            }
        }
        let row = |gpu| InARow { runs: repeats, gpu };
        Ok(Interval::of(times).map(row))
    }
}

impl Measured {
    /// Runs a simulation that has run before; every run must give the bits of the `first`.
    pub(crate) fn of(
        simulation: &Simulation,
        first: &Run,
        runs: u32,
        control: &Control<'_>,
    ) -> Result<Measured, Unmeasured> {
        let clocked = Control {
            timing: Some(Timing::ONCE),
            ..*control
        };
        let (mut report, has_clock) = warmed_up(simulation, first, &clocked)?;
        let (mut gpu, mut totals) = (Vec::new(), Vec::new());
        for _ in 0..runs.max(1) {
            let (measured, seconds) = repeated(simulation, first, control)?;
            totals.push(seconds);
            report = measured;
            if has_clock {
                report = repeated(simulation, first, &clocked)?.0;
                gpu.extend(report.telemetry.gpu_seconds);
            }
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

/// Warm runs on several devices and on the first of them alone, in turns, in seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beside {
    /// On the first device.
    pub(crate) alone: Interval,
    /// How many times as fast several are, pair by pair.
    pub(crate) ratio: Interval,
    /// Whether both gave the same bits.
    pub(crate) same_bits: bool,
}

impl Beside {
    /// `runs` pairs of runs, of which the first of each is on one device.
    pub(crate) fn of(
        (simulation, alone): (&Simulation, &Simulation),
        runs: u32,
        control: &Control<'_>,
    ) -> Result<Beside, Unmeasured> {
        let timed = |simulation: &Simulation| -> Result<(Run, f64), Unmeasured> {
            let started = Instant::now();
            let run = simulation.run_with(control)?;
            Ok((run, started.elapsed().as_secs_f64()))
        };
        let (mut times, mut ratios) = (Vec::new(), Vec::new());
        let (mut same_bits, mut is_alike) = (true, true);
        // Twice more, untimed: the first runs may have learnt how to cut the next ones.
        for turn in 0..runs.max(1) + 2 {
            let (one, alone) = timed(alone)?;
            let (several, together) = timed(simulation)?;
            same_bits &= is_same(&several, &one);
            is_alike &= Shares::of(&several.report().devices).are_alike();
            if turn >= 2 {
                times.push(alone);
                ratios.push(alone / together.max(1e-9));
            }
        }
        if is_alike && !same_bits {
            let why = "several devices of one kind gave other bits than one of them";
            return Err(Unmeasured::Unverified(why.to_owned()));
        }
        let interval = |times: Vec<f64>| {
            Interval::of(times).ok_or_else(|| Unmeasured::Unverified("there was no run".to_owned()))
        };
        Ok(Beside {
            alone: interval(times)?,
            ratio: interval(ratios)?,
            same_bits,
        })
    }
}

/// Warm runs of a batch that differ by their seeds, in seconds per run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batched {
    /// Runs of the batch.
    pub(crate) runs: u32,
    /// As a batch.
    pub(crate) together: Interval,
    /// The device's part of it, by its own clock; none if it has none.
    pub(crate) gpu: Option<Interval>,
    /// One after the other.
    pub(crate) one_by_one: Interval,
}

impl Batched {
    /// Runs `runs` seeds, from that of the `first` run on, `times` times as a batch and as often one by one;
    /// each run must give the same bits both ways.
    pub(crate) fn of(
        simulation: &Simulation,
        first: &Run,
        (runs, times): (u32, u32),
        control: &Control<'_>,
    ) -> Result<Batched, Unmeasured> {
        let unverified = |why: &str| Unmeasured::Unverified(why.to_owned());
        let seed = first.report().seed;
        let variations: Vec<Variation> = (0..u64::from(runs.max(1)))
            .map(|k| Variation::new().seed(seed.wrapping_add(k)))
            .collect();
        let clocked = Control {
            timing: Some(Timing::ONCE),
            ..*control
        };
        let (mut together, mut gpu, mut one_by_one) = (Vec::new(), Vec::new(), Vec::new());
        // Once more, untimed: the first time buffers are made.
        for time in 0..=times.max(1) {
            let mut alone = Vec::new();
            let started = Instant::now();
            for variation in &variations {
                simulation.run_each(slice::from_ref(variation), control, |_, run| {
                    alone.push(run)
                })?;
            }
            let apart = started.elapsed().as_secs_f64();
            let mut batch = Vec::new();
            let started = Instant::now();
            simulation.run_each(&variations, control, |number, run| {
                batch.push((number, run))
            })?;
            let joint = started.elapsed().as_secs_f64();
            let mut on_gpu = Vec::new();
            simulation.run_each(&variations, &clocked, |_, run| {
                on_gpu.extend(run.report().telemetry.gpu_seconds);
            })?;
            let same = |(number, run): &(usize, Run)| is_same(run, &alone[*number]);
            if batch.len() != alone.len() || !batch.iter().all(same) {
                return Err(unverified("a run gave other results in a batch"));
            }
            if !alone.first().is_some_and(|run| is_same(run, first)) {
                return Err(unverified(
                    "a run did not repeat the results of the first one",
                ));
            }
            if time > 0 {
                if !on_gpu.is_empty() {
                    gpu.push(on_gpu.iter().sum::<f64>() / variations.len() as f64);
                }
                together.push(joint / variations.len() as f64);
                one_by_one.push(apart / variations.len() as f64);
            }
        }
        let interval = |times| Interval::of(times).ok_or_else(|| unverified("there was no run"));
        Ok(Batched {
            runs: variations.len() as u32,
            together: interval(together)?,
            gpu: Interval::of(gpu),
            one_by_one: interval(one_by_one)?,
        })
    }
}

/// Whether the outputs of two runs have the same bits.
fn is_same(a: &Run, b: &Run) -> bool {
    outputs(a, b, Tolerance::Bits).is_ok()
}

/// Untimed runs: the first may have learnt how to cut the next ones. The last one's report, and whether the
/// device has a clock.
fn warmed_up(
    simulation: &Simulation,
    first: &Run,
    clocked: &Control<'_>,
) -> Result<(Report, bool), Unmeasured> {
    let started = Instant::now();
    loop {
        let (report, _) = repeated(simulation, first, clocked)?;
        let has_clock = report.telemetry.gpu_seconds.is_some();
        if !has_clock || started.elapsed().as_secs_f64() >= WARM_UP {
            return Ok((report, has_clock));
        }
    }
}

fn repeated(
    simulation: &Simulation,
    first: &Run,
    control: &Control<'_>,
) -> Result<(Report, f64), Unmeasured> {
    let started = Instant::now();
    let run = simulation.run_with(control)?;
    let seconds = started.elapsed().as_secs_f64();
    if !is_same(&run, first) {
        let why = "a run did not repeat the results of the first one";
        return Err(Unmeasured::Unverified(why.to_owned()));
    }
    Ok((run.report().clone(), seconds))
}
