//! Outcomes before choices: what is computed by outcomes, what is not, and that nothing else changes.

use crate::kernel::tests::relax::schedule;
use crate::{
    compile,
    ir::{Program, print::print},
    kernel::{
        order::speculate,
        rewrites::{self, Bound, Changes},
        tests::relax::{dice, reassociated},
    },
    passes::tests::{check, evaluate},
};

/// The text has no numbers that tell names apart.
fn waiting(body: &str) -> (String, Changes) {
    let (text, changes) = reassociated(Bound::Idle, "", body);
    let mut parts = text.split('.');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if plain.ends_with(|c: char| c.is_alphabetic()) {
            plain += part.trim_start_matches(|c: char| c.is_ascii_digit());
        } else {
            plain = plain + "." + part;
        }
    }
    (plain, changes)
}

#[test]
fn what_follows_from_a_choice_is_computed_before_it() {
    let (text, changes) = waiting(
        "let push = if sin(cos(a) + exp(b)) > 0.5 { 1.0 } else { -1.0 }
        b = b + 0.5 * push a = clamp(a + b * c, -2.0, 2.0) d = d + a",
    );
    assert_eq!(changes.of("speculate"), 1, "{text}");
    for expected in [
        "let b: f32 = b + 0.5",
        "let b: f32 = b + -0.5",
        "let a: f32 = clamp(a + b * c, -2.0, 2.0)",
        "a = if holds then a else a",
        "b = if holds then b else b",
        // Nothing waits for it.
        "d = d + a",
    ] {
        assert!(text.contains(expected), "no {expected} in {text}");
    }
    assert!(!text.contains("push"), "{text}");
}

#[test]
fn what_does_not_wait_for_a_choice_stays() {
    let late = "let push = if sin(cos(a) + exp(b)) > 0.5 { 1.0 } else { -1.0 }";
    for body in [
        // Known early.
        "let push = if a > 0.5 { 1.0 } else { -1.0 } b = b + 0.5 * push a = max(a + b * c, -2.0)"
            .to_owned(),
        // The next step does not wait for it.
        format!("{late} c = c + 0.5 * push d = max(d + c * c, -2.0)"),
        // Little follows from it.
        format!("{late} a = a + push"),
        // All else is known as late.
        format!("{late} let s = sin(cos(a) - exp(b)) b = b + s * push a = max(s + b * push, -2.0)"),
        // Dear.
        format!("{late} b = sin(b + 0.5 * push) a = cos(a + b * c * c * c)"),
        format!(
            "{late} let force = push * c * c * c * c * c * c * c * c * c
            let more = force * c * c * c * c * c * c * c * c * c * c * c
            let most = more * c * c * c * c * c * c * c * c * c * c * c * c * c * c * c
            b = b + most a = a + b * c"
        ),
    ] {
        let (text, changes) = waiting(&body);
        assert_eq!(changes.of("speculate"), 0, "{body}: {text}");
    }
}

#[test]
fn an_agent_that_stops_has_its_states() {
    let (text, changes) = waiting(
        "let push = if sin(cos(a) + exp(b)) > 0.5 { 1.0 } else { -1.0 }
        b = b + 0.5 * push let e = max(b * c + 1.0, d) if d > 9.0 { n = 1 stop } a = a + e * e",
    );
    assert_eq!(changes.of("speculate"), 1, "{text}");
    let at = |part: &str| (text.find(part)).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(at("b = if holds") < at("if d > 9.0"), "{text}");
}

/// What is handed on as a reciprocal is known at the begin of a step.
#[test]
fn reciprocals_that_are_handed_on_are_known_early() {
    let source = "state a = 0.3 state b = 0.2 state d = 0.4 state y = 2.0
        step {
            let push = if sin(sin(cos(a) + exp(b)) * 3.0) > 0.5 { 1.0 } else { -1.0 }
            b = clamp(b * 0.3 + push + d / y, -2.0, 2.0)
            a = max(a * 0.5 + b, push)
            y = clamp(y + 0.1 * a, 1.0, 4.0)
            a = a + d / y
        }
        output a output b";
    let program = compile(source).expect("a legal model").program;
    let changed = rewrites::apply(&program, Bound::Idle, &schedule(false));
    let (changed, changes) = changed.expect("something to change");
    let text = print(&changed);
    assert!(text.contains("var per_y"), "{text}");
    assert_eq!(changes.of("speculate"), 1, "{text}");
}

/// Thousands of choices, and thousands of states that follow from one another: a walk over all of them for each would
/// take minutes.
#[test]
fn many_choices_end() {
    let choices = (0..2_000).map(|k| {
        format!("let k{k} = if a > {k}.5 {{ 1.0 }} else {{ -1.0 }} a += sin(b * {k}.5) * k{k} + cos(k{k})\n")
    });
    let states = (0..2_000).map(|k| format!("state x{k} = 0.5\n"));
    let moves = (0..1_999).map(|k| format!("x{k} = x{}\n", k + 1));
    let source = format!(
        "state a = 0.5 state b = 0.2 {}
        step {{ let push = if sin(cos(x0) + exp(a)) > 0.5 {{ 1.0 }} else {{ -1.0 }} {} x1999 = b + push {} b = b * 0.9 }}
        output a",
        states.collect::<String>(),
        moves.collect::<String>(),
        choices.collect::<String>(),
    );
    let mut program = compile(&source).expect("a legal model").program;
    let before = print(&program);
    assert_eq!(speculate::run(&mut program), 0);
    assert_eq!(print(&program), before);
}

/// What a model's agents end with, as it is and by outcomes.
fn ends(source: &str, seed: u32) -> Option<[Vec<(String, u32)>; 2]> {
    let program = compile(source)
        .unwrap_or_else(|errors| panic!("{source}: {errors:?}"))
        .program;
    let mut changed = program.clone();
    if speculate::run(&mut changed) == 0 {
        return None;
    }
    check(&changed);
    let of = |program: &Program| evaluate::run(program, 5, seed);
    let [before, after] = [of(&program), of(&changed)];
    assert_eq!(before, after, "{}\n{}", print(&program), print(&changed));
    Some([before, after])
}

/// Models made of what may follow from a choice, and of what must not be disturbed by it.
#[test]
fn results_stay_to_the_bit() {
    let mut below = dice(11);
    let mut changed = 0;
    for _ in 0..400 {
        let mut body =
            String::from("let s = sin(3.0 * x + cos(5.0 * v)) let r = cos(exp(x) - v)\n");
        body += [
            "let k = if s > 0.3 { 2 } else { -1 }\n",
            "let k = if s > 0.3 { 2 } else { if r > 0.1 { 0 } else { -1 } }\n",
            "let k = if s > r { if s > 0.5 { 3 } else { 1 } } else { if r > 0.7 { 0 } else { 1 } }\n",
            "let late = s > 0.2 let k = if late && r > 0.0 { 1 } else { if late { 2 } else { 4 } }\n",
        ][below(4) as usize];
        let mut names = vec![
            "x".to_owned(),
            "v".to_owned(),
            "w".to_owned(),
            "f32(k)".to_owned(),
        ];
        for number in 0..5 + below(6) {
            let [a, b, c] = [(); 3].map(|()| names[below(names.len() as u64) as usize].clone());
            let value = match below(6) {
                0 => format!("{a} + 0.1 * {b}"),
                1 => format!("clamp({a} - {b} * 0.25, -2.0, 2.0)"),
                2 => format!("if {a} > {b} {{ {b} }} else {{ {c} }}"),
                3 => format!("0.5 * max({a}, {b} - {c})"),
                4 => format!("{a} / 3.0 - {b} / (1.5 + w * w)"),
                _ => format!("0.5 * {a} * {b} + cos(w) * {c}"),
            };
            body += &match below(9) {
                0..=2 => {
                    names.push(format!("y{number}"));
                    format!("let y{number} = {value}\n")
                }
                3 | 4 => format!("x = {value}\n"),
                5 => format!("v = {value}\n"),
                6 => format!("w = {value}\n"),
                7 => format!(
                    "if {a} > 0.4 {{ {} = {value} }}\n",
                    ["x", "v", "w"][below(3) as usize]
                ),
                _ => format!("if {a} > 1.5 {{ n = k v = {value} stop }}\n"),
            };
        }
        let end = ["", "", "", "stop"][below(4) as usize];
        let last = names.last().cloned().unwrap_or_default();
        let source = format!(
            "state x = 0.3 state v = 0.1 state w = 0.2 state n = 0
            step {{ {body} x = x + 0.05 * {last} v = clamp(v, -3.0, 3.0) x = clamp(x, -3.0, 3.0) w = clamp(w, -3.0, 3.0) {end} }}
            output x output v output w output n"
        );
        for seed in 1..4 {
            changed += u32::from(ends(&source, seed).is_some());
        }
    }
    assert!(changed > 600, "only {changed} of 1,200 have changed");
}
