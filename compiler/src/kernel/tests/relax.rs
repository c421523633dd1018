//! Sums as chains and divisions that share a reciprocal: what changes, what does not, and by how much.

use crate::kernel::lane_layout::LaneLayout;
use crate::{
    compile,
    ir::{Program, print::print},
    kernel::{
        rewrites::{self, Bound, Changes},
        schedule::Schedule,
    },
    passes::tests::{check, outcome},
};

/// A schedule for a device that respects infinities or may not.
pub(crate) fn schedule(has_infinities: bool) -> Schedule {
    Schedule {
        has_infinities,
        ..Schedule::default()
    }
}

/// The lines of the step after the rewrites where agents fill the device, and what was changed.
pub(crate) fn step(items: &str, body: &str) -> (Vec<String>, Changes) {
    let (text, changes) = relaxed(Bound::Special, items, body);
    let lines = text.lines().skip_while(|line| !line.starts_with("step"));
    let lines = lines.skip(1).take_while(|line| line.starts_with("    "));
    (lines.map(|line| line.trim().to_owned()).collect(), changes)
}

/// The text of a program after the rewrites, and what was changed.
pub(crate) fn relaxed(bound: Bound, items: &str, body: &str) -> (String, Changes) {
    let source = format!(
        "input w: [f32; 90]
        data rows: [[f32; 4]]
        {items}
        state a = 3.0 state b = 5.0 state c = 2.0 state d = 7.0 state n = 0
        step t {{ {body} b = b * 1.5 c = c * 1.5 d = d * 1.5 }}
        output z = a"
    );
    let artifact = compile(&source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
    let changed = rewrites::apply(
        &artifact.program,
        &LaneLayout::default(),
        bound,
        &schedule(false),
    );
    let (program, changes) =
        changed.unwrap_or_else(|| (artifact.program.clone(), Changes::default()));
    check(&program);
    (print(&program), changes)
}

fn sums(body: &str) -> (Vec<String>, u32) {
    let (lines, changes) = step("", body);
    assert_eq!(changes.of("shared_reciprocals"), 0, "{lines:#?}");
    (lines, changes.of("fma_chains"))
}

fn pairs(items: &str, body: &str) -> (Vec<String>, u32) {
    let (lines, changes) = step(items, body);
    (lines, changes.of("shared_reciprocals"))
}

#[test]
fn products_come_last() {
    for (body, expected) in [
        (
            "a = d + (a * b + b * c + c * d)",
            "a = d + a * b + b * c + c * d",
        ),
        ("a = a * b + b * c + d", "a = d + a * b + b * c"),
        ("a = d - (a * b - b * c)", "a = d - a * b + b * c"),
        ("a = a * b - b * c - d", "a = a * b - d - b * c"),
        (
            "a = d + ((a * b + b * c) + (c * d + d * a))",
            "a = d + a * b + b * c + c * d + d * a",
        ),
        ("let s = a * b + b * c b = c a = s + d", "a = s + d"),
        ("let s = a * b + b * c a = d + s", "a = d + a * b + b * c"),
        ("let p = a * b a = p + b * c + d", "a = d + p + b * c"),
        ("a = w[0] + (a * b + w[1])", "a = w_0_plus_w_1 + a * b"),
        (
            "a = d + 2.0 * (d + (a * b + b * c))",
            "a = d + 2.0 * (d + a * b + b * c)",
        ),
    ] {
        let (lines, changed) = sums(body);
        let found = lines.iter().any(|line| line == expected);
        assert!(found, "{body}: {lines:#?}");
        assert_eq!(changed, u32::from(!expected.contains("s + d")), "{body}");
    }
}

/// An element of an array that was assigned since a sum read it is another value.
#[test]
fn sums_do_not_move_past_assignments_of_elements() {
    let items = "state m = [1.0, 2.0, 4.0] state k = [3.0, 5.0, 7.0]";
    let sums = |between: &str| {
        let body = format!("let s = m[n] * b + b * c {between} a = d + s n = (n + 1) % 3");
        let (lines, changes) = step(items, &body);
        let last = lines.iter().find(|line| line.starts_with("a = "));
        (
            last.expect("`a` is assigned").clone(),
            changes.of("fma_chains"),
            lines.join("\n"),
        )
    };
    let (line, changed, text) = sums("k[n] = c");
    assert_eq!(
        (line.as_str(), changed),
        ("a = d + m[at] * b + b * c", 1),
        "{text}"
    );
    for between in [
        "m[n] = c",
        "m[0] = c",
        "if d > 9.0 { m[n] = c * c c = sin(m[1]) }",
        "for i in 0..n { m[i] = c }",
    ] {
        let (line, changed, text) = sums(between);
        assert_eq!((line.as_str(), changed), ("a = d + s", 0), "{text}");
    }
}

#[test]
fn sums_that_cost_no_less_stay() {
    for body in [
        "a = a * b + c",
        "a = a * b + b * c + c * d",
        "a = (a + b) + (c + d)",
        "a = d + (a * b + c)",
        // Two parallel chains, for one operation.
        "a = a * b + b * c + (c * d + d * a)",
        "a = d + a * b + (b * c - c * d)",
        "let s = b * c - c * d a = d + a * b + s",
        "let s = a * b + b * c a = d + s + s",
        // Products that are computed before the branch: no addition in it absorbs them.
        "let p = a * b let q = b * c if d > 9.0 { a = d + (p + q) stop }",
        "n = n + (n * 3 + n * n)",
        "a = w[0] + (a + w[1])",
        "a = w[0] + (b + w[1])",
        // A product with a name in another block is no part of a sum.
        "let p = a * b if n > 0 { a = p + b * c + d c = p }",
        // Roundings that are intended, or that would add up.
        "a += a * b + b * c",
        "a = b * c + (a - d * c)",
        "a = (a * b + 12582912.0) - 12582912.0",
        "a = b + (a * b + b * c) - b",
    ] {
        assert_eq!(sums(body).1, 0, "{body}");
    }
}

#[test]
fn what_all_agents_share_stays_one_term() {
    let (lines, changed) =
        sums("a = rows[t][0] * rows[t][1] + rows[t][2] * rows[t][3] + (a * b + b * c)");
    assert_eq!(changed, 1);
    let found = lines.iter().any(|line| line.ends_with(" + a * b + b * c"));
    assert!(found, "{lines:#?}");
    assert_eq!(
        sums("a += rows[t][2] + (rows[t][0] * rows[t][1] + rows[t][2] * rows[t][3])").1,
        0
    );
}

#[test]
fn a_long_sum_is_one_chain() {
    let products: Vec<String> = (0..90).map(|k| format!("w[{k}] * a")).collect();
    let (lines, changed) = sums(&format!("a = b + ({})", products.join(" + ")));
    assert_eq!(changed, 1);
    let text = lines.join("\n");
    let (plus, times) = (text.matches(" + ").count(), text.matches(" * ").count());
    // Three other products are those of `b`, `c` and `d`.
    assert_eq!((plus, times), (90, 93), "{text}");
    // Each link begins with the sum so far.
    for line in &lines[1..lines.len() - 3] {
        let value = line.split(" = ").nth(1).expect("a value");
        assert!(!value.starts_with("w_"), "{text}");
    }
}

#[test]
fn activations_share_reciprocals() {
    let (lines, count) = pairs(
        "",
        "let x = tanh(a) let y = tanh(b * c) a = x + y b = x * y",
    );
    assert_eq!(count, 1);
    let text = lines.join("\n");
    assert!(
        text.contains("= exp2(-bits_f32(min(bits_u32(-2.88539 * (b * c)), 3261517005u))) + 1.0"),
        "{text}"
    );
    assert_eq!(text.matches(" / ").count(), 1, "{text}");
    assert!(text.contains("= 2.0 / ("), "{text}");
}

#[test]
fn quotients_that_may_be_small_keep_their_form() {
    let (lines, count) = pairs(
        "",
        "let e = exp(min(a, 20.0)) let f = exp(min(b, 20.0))
        let x = (e - 1.0) / (e + 60.0) let y = (f + 0.000001) / (f + 2.0) a = x * y",
    );
    let text = lines.join("\n");
    assert_eq!(count, 1, "{text}");
    assert!(text.contains("e - 1.0"), "{text}");
}

/// What is written out is small, whatever calls what.
#[test]
fn functions_of_functions_do_not_explode() {
    let mut items =
        "fn f0(x: f32) -> f32 { return 1.0 / (1.0 + exp(clamp(-x, -20.0, 20.0))) }".to_owned();
    for k in 1..20 {
        let inner = k - 1;
        items += &format!(" fn f{k}(x: f32) -> f32 {{ return f{inner}(x) + f{inner}(2.0 * x) }}");
    }
    let (_, count) = pairs(&items, "a = f19(a) + f1(b) + f1(c)");
    assert_eq!(count, 2);
}

#[test]
fn long_chains_take_turns() {
    let (lines, changes) = step(
        "",
        "let h = [for i in 0..10: tanh(w[5 * i] + (w[5 * i + 1] * a + w[5 * i + 2] * b + w[5 * i + 3] * c + \
        w[5 * i + 4] * d))]
        a = sum(h)",
    );
    assert_eq!(changes.of("shared_reciprocals"), 5);
    let at = |text: &str| {
        let found = lines.iter().position(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no {text} in {lines:#?}"))
    };
    // Eight chains together, link by link; then the other two.
    let first = |k: u32| at(&format!("w_{k}_scaled + w_{}_scaled * a", k + 1));
    assert_eq!(first(35) - first(0), 7);
    assert_eq!(at("w_2_scaled * b"), first(35) + 1);
    assert!(first(40) > at("w_39_scaled * d"));
    assert_eq!(first(45) - first(40), 1);
}

#[test]
fn chains_before_functions_without_pairs_take_turns_by_four() {
    // The divisor has no known bounds, so that there is nothing to pair.
    let (lines, changes) = step(
        "fn bump(x: f32) -> f32 { return exp(x) / (x * x - 1.0) } fn line(x: f32) -> f32 { return 3.0 * x * \
        x }",
        "let h = [for i in 0..5: bump(w[5 * i] + (w[5 * i + 1] * a + w[5 * i + 2] * b + w[5 * i + 3] * c + \
        w[5 * i + 4] * d))]
        let g = [for i in 5..7: line(w[5 * i] + (w[5 * i + 1] * a + w[5 * i + 2] * b + w[5 * i + 3] * c + \
        w[5 * i + 4] * d))]
        a = sum(h) + sum(g)",
    );
    assert_eq!(
        (changes.of("shared_reciprocals"), changes.of("fma_chains")),
        (0, 7)
    );
    let at = |text: &str| {
        let found = lines.iter().position(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("no {text} in {lines:#?}"))
    };
    assert_eq!(at("w_15 + w_16 * a") - at("w_0 + w_1 * a"), 3);
    assert_eq!(at("w_2 * b"), at("w_15 + w_16 * a") + 1);
    assert!(at("w_20 + w_21 * a") > at("w_19 * d"));
    // Without an exponential there is nothing to wait for beside them.
    assert!(lines[at("w_25 + w_26 * a")].contains("w_29 * d"));
}

/// A function that is inlined has names between a chain and its exponential.
#[test]
fn chains_with_a_name_before_an_exponential_take_turns() {
    let (text, _) = relaxed(
        Bound::Issue,
        GATES,
        "let h = [for i in 0..3: squash(w[5 * i] + (w[5 * i + 1] * a + w[5 * i + 2] * b + w[5 * i + 3] * c \
        + w[5 * i + 4] * d))]
        a = sum(h)",
    );
    let at = |part: &str| (text.find(part)).unwrap_or_else(|| panic!("no {part} in {text}"));
    let first = |k: u32| at(&format!("w_{k}_scaled + w_{}_scaled * a", k + 1));
    assert!(first(0) < first(5) && first(5) < first(10), "{text}");
    assert!(first(10) < at("w_2_scaled * b"), "{text}");
}

const GATES: &str = "
fn gate(a: f32) -> f32 { return 1.0 / (1.0 + exp(clamp(-a, -20.0, 20.0))) }
fn squash(a: f32) -> f32 {
    let e = exp(clamp(2.0 * a, -20.0, 20.0))
    return (e - 1.0) / (e + 1.0)
}
fn twice(a: f32) -> f32 { return gate(a) + squash(a) }
";

#[test]
fn pairs_are_found() {
    for (body, expected) in [
        ("a = tanh(a) + tanh(b)", 1),
        ("a = tanh(a) + tanh(b) + tanh(c)", 1),
        ("let x = sigmoid(a) b = c let y = sigmoid(b) a = x + y", 1),
        ("let x = gate(a) let y = squash(b) a = x * y", 1),
        ("let x = twice(a) let y = twice(b) a = x * y", 2),
        (
            "let x = a / clamp(b, 2.0, 3.0) let y = b / clamp(c, -5.0, -4.0) a = x * y",
            1,
        ),
        ("let h = [for i in 0..6: tanh(w[i] * a)] a = sum(h)", 3),
    ] {
        let (lines, count) = pairs(GATES, body);
        assert_eq!(count, expected, "{body}: {lines:#?}");
    }
}

#[test]
fn unsafe_pairs_are_refused() {
    for body in [
        // Unbounded, infinite or 0.
        "a = 1.0 / a + 1.0 / b",
        "a = 1.0 / (1.0 + exp(a)) + 1.0 / (1.0 + exp(b))",
        "a = 1.0 / (1.0 + abs(a)) + 1.0 / (1.0 + abs(b))",
        "a = 1.0 / clamp(a, 0.0, 1.0) + 1.0 / clamp(b, 0.0, 1.0)",
        "a = 1.0 / clamp(a, -1.0, 1.0) + 1.0 / clamp(b, -1.0, 1.0)",
        "a = 1.0 / max(a, 1.0) + 1.0 / max(b, 1.0)",
        // NaN for an infinite argument.
        "a = max(1.0 / (2.0 + sin(a)), 1.0 / (2.0 + sin(b)))",
        "a = max(1.0 / (1.0 + clamp(a, 1.0, 2.0) * (b - b)), 1.0 / clamp(b, 1.0, 2.0))",
        "a = 5.0 / (max(cos(a), -3.0) + 3.0) + 7.0 / (clamp(cos(b), -1.0, 1.0) + 2.0)",
        // Their product overflows or underflows.
        "a = 1.0 / (1.0 + exp(min(a, 80.0))) + 1.0 / (1.0 + exp(min(b, 80.0)))",
        "a = 1.0 / clamp(a, 1e-20, 1.0) + 1.0 / clamp(b, 1e-20, 1.0)",
        // Devices may flush one of them, or its reciprocal, to 0.
        "a = 1.0 / clamp(a, 1e-39, 1.0) + 1.0 / clamp(b, 1e5, 2e5)",
        "a = 1.0 / clamp(a, 1e37, 2e38) + 1.0 / clamp(b, 0.01, 0.05)",
        // One needs the other.
        "a = tanh(tanh(a))",
        "let x = tanh(a) let y = x + 1.0 a = tanh(y)",
        // A variable that is read is assigned in between, or it is another block.
        "let x = tanh(a) a = b let y = tanh(c) b = x + y",
        "var x = 0.0 if n > 1 { x = tanh(a) } b = x + tanh(b)",
        // No instruction of that kind.
        "a = a / 3.0 + b / 5.0",
    ] {
        let (lines, count) = pairs("", body);
        assert_eq!(count, 0, "{body}: {lines:#?}");
    }
}

/// Integers below a bound, the same for the same seed.
pub(crate) fn dice(mut seed: u64) -> impl FnMut(u64) -> u64 {
    move |n| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % n
    }
}

/// Compares all that agents end with: off by at most this fraction of the sum of one and its size.
pub(crate) fn assert_near(plain: &Program, changed: &Program, steps: u32, off: f32) {
    for seed in 1..4 {
        let [expected, got] = [plain, changed].map(|program| outcome::run(program, steps, seed));
        for ((word, expected), (_, got)) in expected.into_iter().zip(got) {
            let (expected, got) = (f32::from_bits(expected), f32::from_bits(got));
            assert!(
                (expected - got).abs() <= off * (1.0 + expected.abs()),
                "{word} is {got}, not {expected}\n{}\n{}",
                print(plain),
                print(changed)
            );
        }
    }
}

/// What an agent's `a` is after some steps, as written and relaxed.
pub(crate) fn results(body: &str, bound: Bound) -> [f32; 2] {
    let source = format!(
        "{GATES} state a = 0.3 state b = 0.25 state c = -2.0
        step {{ {body} b = 0.9 * b c = 0.8 * c }}
        output a"
    );
    let program = compile(&source).expect("a legal model").program;
    let (changed, _) = rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(false))
        .expect("something to change");
    [program, changed].map(|program| {
        let words = outcome::run(&program, 4, 1);
        let (_, word) = words
            .into_iter()
            .find(|(name, _)| name == "output word 0")
            .expect("an output");
        f32::from_bits(word)
    })
}

#[test]
fn results_move_by_roundings() {
    for body in [
        "let x = tanh(a) let y = tanh(b * c) a = x + y b = x * y + (a * b + c * b)",
        "let x = gate(a) let y = squash(b) c = x a = x * y + c b = squash(c) + gate(a)",
        "a = sigmoid(a) + sigmoid(100.0 * c) * (a * b + b * b + c)",
        "a = twice(a) - twice(b) + 200.0 * squash(1000.0 * a)",
    ] {
        let [plain, changed] = results(body, Bound::Special);
        assert!(plain.is_finite() && plain != 0.0, "{body}: {plain}");
        assert!(
            (plain - changed).abs() <= 2e-6 * plain.abs(),
            "{body}: {changed}, not {plain}"
        );
    }
}

/// Sums of small integers have no roundings that could move, and ratios of powers of two none either.
#[test]
fn whole_numbers_keep_their_bits() {
    let mut below = dice(1);
    let mut changed = 0;
    for _ in 0..500 {
        let mut body = String::new();
        let mut names = vec!["a", "b", "c", "d"];
        for name in ["p", "q", "r", "s"] {
            let mut sum = String::new();
            for at in 0..2 + below(5) {
                let mut pick = || names[below(names.len() as u64) as usize];
                let (x, y) = (pick(), pick());
                let operator = if at == 0 {
                    ""
                } else {
                    [" + ", " - "][below(2) as usize]
                };
                sum += operator;
                sum += &match below(4) {
                    0 => x.to_owned(),
                    1 => format!("({x} - {y} * 2.0)"),
                    2 => format!("({x} * 2.0 + {y} * 4.0)"),
                    _ => format!("{x} * 2.0"),
                };
            }
            body += &format!("let {name} = {sum}\n");
            names.push(name);
            if below(3) == 0 {
                body += "b = 4.0 - b\n";
            }
        }
        let source = format!(
            "state a = 3.0 state b = 5.0 state c = 2.0 state d = 7.0
            step {{ {body} a = s b = 4.0 - b c = 9.0 - c d = 8.0 - d }}
            output a"
        );
        let program = compile(&source).expect("a legal model").program;
        for bound in [Bound::Special, Bound::Issue, Bound::Latency] {
            let Some((relaxed, _)) =
                rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(false))
            else {
                continue;
            };
            changed += 1;
            check(&relaxed);
            let again = rewrites::apply(&program, &LaneLayout::default(), bound, &schedule(false))
                .map(|(again, _)| print(&again));
            assert_eq!(again, Some(print(&relaxed)), "it differs from time to time");
            let expected = outcome::run(&program, 1, 1);
            assert_eq!(outcome::run(&relaxed, 1, 1), expected, "{source}");
        }
    }
    assert!(changed > 150, "only {changed} of 1,500 have changed");
}

#[test]
fn divisors_that_may_be_nan_share_with_what_is_nan_then_anyway() {
    let start = "let e = 3.5 + cos(b)";
    for (body, expected) in [
        // As in the equations of a double pendulum.
        (
            "let x = a / (1.25 * e - 2.0) let y = (c - x) / e a = x + y",
            1,
        ),
        // The second is a number where the first is not; it is never seen without the first.
        ("let x = a / (1.25 * e - 2.0) let y = c / e a = x + y", 1),
        (
            "let x = a / (1.25 * e - 2.0) let y = c / e a = x + y b = y",
            0,
        ),
        (
            "let x = a / (1.25 * e - 2.0) let y = c / e a = if c > 1.0 { x } else { y }",
            0,
        ),
        ("a = max(a / (1.25 * e - 2.0), c / e)", 0),
        ("a = 1.0 - a / (1.25 * e - 2.0) * (c / e)", 1),
        // `max` makes a number of the first.
        (
            "let x = max(a / (e * 2.0), 0.5) let y = (x + c) / e a = y",
            0,
        ),
        // The first is a number where the second is not.
        (
            "let x = a / clamp(c, 1.0, 2.0) let y = (c - x) / e a = x + y",
            0,
        ),
    ] {
        let (lines, count) = pairs("", &format!("{start} {body} d = e"));
        assert_eq!(count, expected, "{body}: {lines:#?}");
    }
}
