//! Programs that are split over lanes end with the same states and outputs as before, to the bit, and sums of
//! floats as far off as the order of their terms allows. Each lane has the same bits as the others for what
//! is not its own part.
//!
//! `LANES_PROGRAMS` says how many random programs (default 300), `LANES_FIRST` the first seed.

use crate::{
    ir::{
        Program, Value, VarId,
        interpret::{Fault, combined},
        print::print,
    },
    kernel::{
        lane_layout::LaneLayout,
        lanes::{neutral, split, split_time},
    },
    passes::{
        optimise,
        tests::{
            check,
            outcome::{AGENT, Sample, kinds, places, row_words, rows, words},
            random, seeds,
        },
    },
};
use std::collections::BTreeMap;

/// The lanes of a subgroup.
const SUBGROUP: u32 = 32;

/// The words of states and outputs by kind and place.
pub(super) type Words = BTreeMap<(&'static str, usize), u32>;

/// Some numbers of lanes, others for each program.
fn lanes_of(seed: u64) -> [u32; 2] {
    [0, 3].map(|k| 2 << ((seed + k) % 7))
}

/// Records the words of a lane, which other lanes may have as well.
fn take(all: &mut Words, kind: &'static str, place: usize, word: u32) {
    let before = all.insert((kind, place), word);
    let equal = before.is_none_or(|before| before == word);
    assert!(equal, "lanes differ in {kind} word {place}");
}

pub(super) fn whole(program: &Program, steps: u32, seed: u32) -> Words {
    let rows = rows(program, 1, steps, seed).expect("one lane has no faults");
    gathered(program, &LaneLayout::default(), &rows)
}

/// The words of all lanes, each of which has its part of what is split.
pub(super) fn gathered(program: &Program, layout: &LaneLayout, rows: &[Vec<u32>; 2]) -> Words {
    let lanes = layout.lanes as usize;
    let mut all = Words::new();
    for (kind, vars, rows) in kinds(program, rows) {
        for lane in 0..lanes {
            let row = &rows[lane * (rows.len() / lanes)..];
            for &var in vars {
                let part = layout.part(program, var);
                for (place, word) in words(program, var, row) {
                    let place = part.map_or(place, |part| {
                        let first = part.word(place as u32, layout.lanes) as usize;
                        first + lane * part.run as usize
                    });
                    take(&mut all, kind, place, word);
                }
            }
        }
    }
    all
}

/// What an agent ends with whose steps are split over lanes as `split_time` says. Lane `l` of `L` takes steps
/// `l`, `l + L`, …, begins with neutral sums and with what is skipped over the steps before its first, and
/// skips those of the other lanes after each. In the end the sums are combined, and the lane whose turn came
/// next has what was skipped.
fn with_shared_time(program: &Program, layout: &LaneLayout, steps: u32, seed: u32) -> Words {
    let (lanes, sums, skipped) = (layout.lanes, &layout.accumulated, &layout.skipped);
    let sample = Sample::new(program, steps, seed);
    let rows = sample.interpret(program, |interpreter| {
        let mut machine = interpreter.machine(1, || false);
        let mut states = vec![0; row_words(program, &program.states)];
        let mut outputs = vec![0; row_words(program, &program.outputs)];
        machine.begin(AGENT, Some(&sample.inputs), None)?;
        machine.states(&mut states);
        let place = |var: VarId| places(&program[var]);
        let mut parts = Vec::new();
        for lane in 0..lanes {
            let mut own = states.clone();
            for &(var, op) in sums {
                let neutral: Vec<u32> = neutral(op, program[var].ty).words().collect();
                own[place(var)].copy_from_slice(&neutral);
            }
            for (var, map) in skipped {
                let word = &mut own[place(*var).start];
                *word = map.power(lane).apply(*word);
            }
            for step in (lane..steps).step_by(lanes as usize) {
                let next = skipped.iter().map(|(var, map)| {
                    let word = own[place(*var).start];
                    (place(*var).start, map.power(lanes).apply(word))
                });
                let next: Vec<(usize, u32)> = next.collect();
                machine.begin(AGENT, Some(&sample.inputs), Some(&own))?;
                assert!(!machine.step(step)?, "an agent stopped");
                machine.states(&mut own);
                next.into_iter().for_each(|(place, word)| own[place] = word);
            }
            parts.push(own);
        }
        for (var, _) in skipped {
            let at_end = &parts[(steps % lanes) as usize];
            states[place(*var)].copy_from_slice(&at_end[place(*var)]);
        }
        for &(var, op) in sums {
            let value = |row: &Vec<u32>| Value::from_words(program[var].ty, &row[place(var)]);
            let parts: Vec<Value> = parts.iter().map(value).collect();
            let all = combined(op, &[value(&states), combined(op, &parts)]);
            let all: Vec<u32> = all.words().collect();
            states[place(var)].copy_from_slice(&all);
        }
        machine.begin(AGENT, Some(&sample.inputs), Some(&states))?;
        machine.finish(&mut outputs)?;
        machine.states(&mut states);
        Ok::<_, Fault>([states, outputs])
    });
    gathered(
        program,
        &LaneLayout::default(),
        &rows.expect("one lane has no faults"),
    )
}

/// Compares what a split agent ends with to what it ended with before. Has the order changed a sum?
fn assert_equal(
    program: &Program,
    before: &Words,
    after: &Words,
    what: &dyn Fn() -> String,
) -> bool {
    let place = |name: &str| {
        let var = program
            .states
            .iter()
            .find(|var| program[**var].name == name);
        ("state", program[*var.expect("such a state")].word as usize)
    };
    let float = |words: &Words, name: &str| f32::from_bits(words[&place(name)]);
    let places = |words: &Words| words.keys().copied().collect::<Vec<_>>();
    assert_eq!(places(before), places(after), "{}", what());
    for (place_of, word) in before {
        let exact = *place_of != place("loose") && *place_of != place("mass");
        let fine = !exact || after[place_of] == *word;
        assert!(
            fine,
            "{place_of:?} is {:#x}, not {word:#x}\n{}",
            after[place_of],
            what()
        );
    }
    let most = before[&place("terms")] as f32 * f32::EPSILON * float(before, "mass");
    for name in ["loose", "mass"] {
        let off = (float(after, name) - float(before, name)).abs();
        assert!(
            off <= most,
            "`{name}` is off by {off}, beyond {most}\n{}",
            what()
        );
    }
    float(after, "loose") != float(before, "loose")
}

#[test]
fn loops_that_are_split_keep_their_results() {
    let (mut counts, mut exchanges, mut moved) = ([0; 7], 0, 0);
    for seed in seeds("LANES") {
        let program = random::split::loops(seed);
        check(&program);
        let expected = whole(&program, 2, 1);
        for lanes in lanes_of(seed) {
            let mut split_program = program.clone();
            let Some(layout) = split(&mut split_program, lanes, SUBGROUP) else {
                continue;
            };
            counts[lanes.ilog2() as usize - 1] += 1;
            exchanges += u32::from(print(&split_program).contains("lanes_"));
            let mut optimised = split_program.clone();
            optimise(&mut optimised);
            check(&optimised);
            for split_program in [split_program, optimised] {
                let what = || {
                    let (before, after) = (print(&program), print(&split_program));
                    format!("program {seed}, {lanes} lanes:\n{before}\nbecame\n{after}")
                };
                let rows = rows(&split_program, lanes, 2, 1);
                let rows = rows.unwrap_or_else(|fault| panic!("{fault:?} in {}", what()));
                let got = std::panic::catch_unwind(|| gathered(&split_program, &layout, &rows));
                let got = got.unwrap_or_else(|_| panic!("lanes differ in {}", what()));
                moved += u32::from(assert_equal(&program, &expected, &got, &what));
            }
        }
    }
    if seeds("LANES") == (0..300) {
        assert!(counts.iter().all(|count| *count >= 20), "{counts:?}");
        assert!(exchanges >= 200 && moved >= 50, "{exchanges}, {moved}");
    }
}

#[test]
fn steps_that_lanes_share_keep_their_results() {
    let (mut split, mut skips, mut moved) = (0, 0, 0);
    for seed in seeds("LANES") {
        let plain = random::split::steps(seed);
        check(&plain);
        let mut optimised = plain.clone();
        optimise(&mut optimised);
        for program in [plain, optimised] {
            for lanes in lanes_of(seed) {
                let Some(layout) = split_time(&program, lanes) else {
                    continue;
                };
                split += 1;
                skips += u32::from(!layout.skipped.is_empty());
                for steps in [0, 1, 5, lanes + 3] {
                    let what = || {
                        let text = print(&program);
                        format!("program {seed}, {steps} steps, {layout:?}:\n{text}")
                    };
                    let expected = whole(&program, steps, 1);
                    let got = with_shared_time(&program, &layout, steps, 1);
                    moved += u32::from(assert_equal(&program, &expected, &got, &what));
                }
            }
        }
    }
    if seeds("LANES") == (0..300) {
        assert!(
            split >= 800 && skips >= 400 && moved >= 150,
            "{split}, {skips}, {moved}"
        );
    }
}
