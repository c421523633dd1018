//! Which steps are split over lanes, and what of them is skipped.

use super::*;
use crate::{Options, compile_with};

/// A state's name, and its map's factor and offset.
type Skipped = (String, u32, u32);

/// What a model's step accumulates and what it skips, by name; the same optimised or not.
fn survey(source: &str) -> Option<(Vec<String>, Vec<Skipped>)> {
    let answers = [true, false].map(|optimise| {
        let options = Options {
            optimise,
            ..Options::default()
        };
        let artifact = compile_with(source, options).expect("a legal model");
        let program = artifact.program;
        let steps = split(&program)?;
        let name = |var: &VarId| program[*var].name.clone();
        let sums = steps.accumulated.iter().map(|(var, _)| name(var));
        let skipped = (steps.skipped.iter())
            .map(|(var, map)| (name(var), map.factor, map.offset))
            .collect();
        Some((sums.collect(), skipped))
    });
    let [optimised, plain] = answers;
    assert_eq!(optimised, plain, "{source}");
    optimised
}

/// What one step does to `s`, if a step of these statements that then draws from `s` can be split.
fn skipped(step: &str) -> Option<(u32, u32)> {
    let step = step.replace(';', "\n");
    let source = format!(
        "state s = 1u state n = 0 state free = 0.5
        fn next(s: u32) -> u32 {{ return s * 5u + 1u }}
        fn twice(x: u32) -> u32 {{ let once = next(x) return next(once) }}
        fn either(x: u32) -> u32 {{ if x > 9u {{ return 1u }} return x + 1u }}
        fn both(x: u32, y: u32) -> u32 {{ return x + y }}
        step t {{ {step} if unit(s) < free {{ n += 1 }} }}
        output n output s output free"
    );
    let (sums, skipped) = survey(&source)?;
    assert_eq!(sums, ["n"], "{source}");
    match skipped.as_slice() {
        [(name, factor, offset)] if name == "s" => Some((*factor, *offset)),
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn what_is_affine_in_a_state_is_skipped() {
    let minus = |n: u32| n.wrapping_neg();
    for (step, expected) in [
        ("s = s * 5u + 1u", (5, 1)),
        ("s += 3u", (1, 3)),
        ("s = 7u - 2u * s", (minus(2), 7)),
        ("s = s << 35u", (8, 0)),
        ("s = 9u", (0, 9)),
        ("s = (s + 4294967295u) * 65537u", (65_537, minus(65_537))),
        ("s = u32(-i32(s) * 3) + 1u", (minus(3), 1)),
        ("s = next(s)", (5, 1)),
        ("s = twice(s)", (25, 6)),
        ("s = next(s); s = next(s)", (25, 6)),
        // Read after it was assigned, and by way of names and variables.
        (
            "s = next(s); let x = s; if unit(x) < free { n += 2 }; s = x + s",
            (10, 2),
        ),
        ("var x = s; x = x * 3u; s = x - s + 1u", (2, 1)),
        ("s += 3u; s *= 5u", (5, 15)),
        ("s += s", (2, 0)),
    ] {
        assert_eq!(skipped(step), Some(expected), "{step}");
    }
}

#[test]
fn what_is_not_affine_keeps_the_steps_in_their_order() {
    for step in [
        "if s > 3u { s = s * 5u + 1u }",
        "for k in 0..1000 { s = s * 5u + u32(k) }",
        "s = s ^ (s << 13u)",
        "s = s * s",
        "s = s >> 1u",
        "s = s * 5u + u32(t)",
        "s = s + u32(n)",
        "s = either(s)",
        "s = both(s, s)",
        "s = u32(f32(s) * 2.0)",
        "s = s * 5u + 1u; free = free * 0.5 + 0.1",
        "s = s * 5u + 1u; if s == 0u { stop }",
    ] {
        assert_eq!(skipped(step), None, "{step}");
    }
    let array = "state a: [u32; 4] = [1u; 4] state n = 0
        step t { a[t % 4] += 3u
        if a[1] > 9u { n += 1 } } output n output a";
    assert_eq!(survey(array), None);
    let swapped = "state a = 1u state b = 2u state n = 0
        step { let old = a
        a = b
        b = old
        n += i32(a) } output n output b";
    assert_eq!(survey(swapped), None);
}

#[test]
fn counters_that_nobody_reads_are_sums() {
    let source = |read: &str| {
        format!(
            "state s = 1u state count = 0u state n = 0
            step {{ s = s * 5u + 1u
            count += 1u
            if s > 99u {{ n += {read} }} }} output n output s output count"
        )
    };
    let generator = ("s".to_owned(), 5, 1);
    let (sums, skipped) = survey(&source("1")).expect("it is split");
    assert_eq!(
        (sums, skipped),
        (vec!["count".into(), "n".into()], vec![generator.clone()])
    );
    let (sums, skipped) = survey(&source("i32(count)")).expect("it is split");
    let count = ("count".to_owned(), 1, 1);
    assert_eq!((sums, skipped), (vec!["n".into()], vec![generator, count]));
}

#[test]
fn steps_that_add_up_nothing_are_not_shared() {
    assert_eq!(
        survey("state s = 1u step { s = s * 5u + 1u } output s"),
        None
    );
}
