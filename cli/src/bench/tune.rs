//! `simc bench --tune`: looks for the choices under which a model's kernel is fastest, by running it.
//!
//! Choices by rule are good, not best: drivers allocate registers and order instructions by rules of their
//! own, so that a text that saves an instruction can be slower. One choice after another is tried at each of
//! its values, the others as they are best so far, and all again until nothing is gained; a value must be
//! clearly faster than what there was.

use crate::choices::Busy;
use clap::ValueEnum;
use sim_runtime::Tuning;

/// A time must be so much shorter to count: runs differ by less.
const CLEARLY: f64 = 0.99;

/// What a search found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tuned {
    /// The best choices.
    pub(crate) tuning: Tuning,
    /// Seconds of a run by the rules, and of a run with these.
    pub(crate) seconds: (f64, f64),
    /// Kernels that were timed.
    pub(crate) tried: u32,
}

/// A choice, and the values that are tried.
struct Choice {
    is_given: fn(&Tuning) -> bool,
    set: fn(&mut Tuning, u32),
    values: &'static [u32],
}

/// In the order in which they are tried.
const CHOICES: [Choice; 6] = [
    Choice {
        is_given: |tuning| tuning.lanes.is_some(),
        set: |tuning, value| tuning.lanes = Some(value),
        values: &[1, 2, 4, 8, 16, 32, 64, 128],
    },
    Choice {
        is_given: |tuning| tuning.relax.is_some(),
        set: |tuning, value| tuning.relax = Some(value > 0),
        values: &[0, 1],
    },
    Choice {
        is_given: |tuning| tuning.occupancy.is_some(),
        set: |tuning, value| {
            tuning.occupancy = Some(Busy::value_variants()[value as usize].occupancy())
        },
        values: &[0, 1],
    },
    Choice {
        is_given: |tuning| tuning.reserve.is_some(),
        set: |tuning, value| tuning.reserve = Some(value > 0),
        values: &[0, 1],
    },
    Choice {
        is_given: |tuning| tuning.step_table.is_some(),
        set: |tuning, value| tuning.step_table = Some(value > 0),
        values: &[0, 1],
    },
    Choice {
        is_given: |tuning| tuning.unroll_steps.is_some(),
        set: |tuning, value| tuning.unroll_steps = Some(value),
        values: &[1, 2, 4, 5, 8, 16],
    },
];

/// Looks for the fastest choices among those that `start` leaves open. `time` gives the seconds of a run, or
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
    // Choices depend on one another: again, as long as that helps.
    loop {
        let before = best.tuning;
        for choice in CHOICES.iter().filter(|choice| !(choice.is_given)(&start)) {
            let others = best.tuning;
            for &value in choice.values {
                let mut tuning = others;
                (choice.set)(&mut tuning, value);
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

impl Tuned {
    /// The arguments that make these choices without a search.
    pub(crate) fn arguments(&self) -> String {
        let tuning = &self.tuning;
        let mut words = Vec::new();
        words.extend(tuning.lanes.map(|lanes| format!("--lanes {lanes}")));
        words.extend((tuning.shuffles).map(|value| format!("--shuffles {value}")));
        words.extend((tuning.relax).map(|value| format!("--relax {value}")));
        let busy = Busy::value_variants().iter();
        let busy = (busy.filter(|busy| tuning.occupancy == Some(busy.occupancy())))
            .filter_map(Busy::to_possible_value);
        words.extend(busy.map(|word| format!("--occupancy {}", word.get_name())));
        words.extend(tuning.reserve.map(|value| format!("--reserve {value}")));
        words.extend(
            tuning
                .step_table
                .map(|value| format!("--step-table {value}")),
        );
        words.extend((tuning.unroll_steps).map(|copies| format!("--unroll-steps {copies}")));
        words.extend(tuning.checks.then(|| "--checks true".to_owned()));
        words.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn the_best_of_each_choice_is_found() {
        let mut runs = 0;
        let found = search(Tuning::default(), |tuning| {
            runs += 1;
            Ok::<_, ()>(Some(seconds(tuning)))
        });
        let found = found.expect("no error").expect("a time");
        assert_eq!(
            found.arguments(),
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
            found.arguments(),
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
