//! `simc bench --tune`: looks for the tuning under which a model's kernel is fastest, by running it.
//!
//! The heuristics' choices are good, not best: drivers allocate registers and order instructions by rules of
//! their own, so that a text that saves an instruction can be slower. Coordinate descent: each knob is tried
//! at each of the values that its row has for that, the others at their best so far, and all again until
//! nothing is gained; a value must be clearly faster than the best so far.

use sim_compiler::kernel::schedule::{KNOBS, Tuning};

/// A time must be so much shorter to count: runs differ by less.
const CLEARLY: f64 = 0.99;

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuned {
    /// The best tuning.
    pub(crate) tuning: Tuning,
    /// Seconds of a run by the rules, and of a run with these.
    pub(crate) seconds: (f64, f64),
    /// Kernels that were timed.
    pub(crate) tried: u32,
}

/// Looks for the fastest tuning among those that set what `start` does. `time` gives the seconds of a run, or
/// none for one that does not do what it should.
pub(crate) fn search<E>(
    start: Tuning,
    mut time: impl FnMut(Tuning) -> Result<Option<f64>, E>,
) -> Result<Option<Tuned>, E> {
    let Some(plain) = time(start)? else {
        return Ok(None);
    };
    let mut best = Tuned {
        tuning: start,
        seconds: (plain, plain),
        tried: 1,
    };
    let mut known = vec![start];
    // Knobs depend on one another: again, as long as that helps.
    loop {
        let before = best.tuning;
        for knob in KNOBS.iter().filter(|knob| knob.get(&start).is_none()) {
            let others = best.tuning;
            for value in knob.tried {
                let mut tuning = others;
                (knob.set(&mut tuning, value)).expect("a row tries values that its knob can take");
                if known.contains(&tuning) {
                    continue;
                }
                known.push(tuning);
                best.tried += 1;
                if let Some(seconds) = time(tuning)?.filter(|it| *it < CLEARLY * best.seconds.1) {
                    best.tuning = tuning;
                    best.seconds.1 = seconds;
                }
            }
        }
        if best.tuning == before {
            return Ok(Some(best));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knobs::arguments;
    use sim_runtime::Occupancy;

    /// Seconds that grow with the distance from what is best.
    fn seconds(tuning: Tuning) -> f64 {
        let lanes = f64::from(tuning.lanes.unwrap_or(1));
        let copies = f64::from(tuning.unroll_steps.unwrap_or(4));
        let order = match tuning.relax {
            Some(false) => 0.0,
            Some(true) | None => 0.5,
        };
        let occupancy = match tuning.occupancy {
            Some(Occupancy::Low) => 0.0,
            Some(Occupancy::Full) | None => 0.5,
        };
        1.0 + (lanes.log2() - 2.0).abs() + order + occupancy + (copies - 8.0).abs() / 8.0
    }

    #[test]
    fn the_best_of_each_knob_is_found() {
        let mut runs = 0;
        let found = search(Tuning::default(), |tuning| {
            runs += 1;
            Ok::<_, ()>(Some(seconds(tuning)))
        });
        let found = found.expect("no error").expect("a time");
        assert_eq!(
            arguments(&found.tuning),
            "--lanes 4 --relax false --occupancy low --unroll-steps 8"
        );
        assert_eq!(found.seconds, (seconds(Tuning::default()), 1.0));
        assert_eq!(found.tried, runs);
    }

    #[test]
    fn what_is_given_stays_and_what_fails_is_not_taken() {
        let start = Tuning {
            lanes: Some(32),
            ..Tuning::default()
        };
        let found = search(start, |tuning| {
            assert_eq!(tuning.lanes, Some(32));
            let fails = tuning.relax == Some(false) || tuning.unroll_steps == Some(8);
            Ok::<_, ()>((!fails).then(|| seconds(tuning)))
        });
        let found = found.expect("no error").expect("a time");
        assert_eq!(
            arguments(&found.tuning),
            "--lanes 32 --occupancy low --unroll-steps 5"
        );
        assert!(
            search(start, |_| Ok::<_, ()>(None))
                .expect("no error")
                .is_none()
        );
        assert_eq!(search(start, |_| Err(7)).expect_err("an error"), 7);
    }
}
