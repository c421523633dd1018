//! Each rewrite of the table by itself, on random models.

use super::relax::dice;
use crate::{
    compile,
    kernel::rewrites::{Bound, REWRITES, alone},
    passes::tests::{check, outcome},
};

const BOUNDS: [Bound; 3] = [Bound::Latency, Bound::Special, Bound::Issue];

/// Right sides that some rewrite of the table changes, of names `A`, `B` and `C`.
const VALUES: [&str; 12] = [
    "sin(A + (B * w[0] + C * w[1]))",
    "tanh(w[2] + A * w[3] + B * w[4] + C * w[5] + A * w[6])",
    "sigmoid(w[7] + A * w[8] + B * w[9] + C * w[10] + B * w[11])",
    "(A + 0.5) / (4.0 - B * C / e)",
    "(exp(clamp(A, -9.0, 9.0)) - 1.0) / (exp(clamp(A, -9.0, 9.0)) + 1.0)",
    "0.5 * (2.0 * (A - B) * 0.25)",
    "tanh(A) * 0.5 - tanh(B) * w[12]",
    "if A > B { 0.5 } else { -0.5 }",
    "sin(A / d) + cos(B / d)",
    "1.0 / (1.0 + exp(-(A * w[13] + B * w[14] + w[15])))",
    "cos(A * 0.1 + B * 0.3 + C * w[16] + w[17])",
    "0.9 * A + 0.1 * B",
];

/// A model whose step names some values and ends with states of moderate size.
fn model(seed: u64) -> String {
    let step = values(seed);
    format!(
        "input w: [f32; 18] state a = 0.3 state b = 0.7 state c = -0.4
        step {{ {step} }} output x = a"
    )
}

fn values(seed: u64) -> String {
    let mut below = dice(seed);
    let mut names: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let mut step =
        "let d = if sin(a) > 0.25 { 2.0 } else { 3.0 } let e = 2.0 + cos(b)\n".to_owned();
    for number in 0..4 + below(8) {
        let mut value = VALUES[below(VALUES.len() as u64) as usize].to_owned();
        for place in ["A", "B", "C"] {
            value = value.replace(place, &names[below(names.len() as u64) as usize]);
        }
        step += &format!("let v{number} = {value}\n");
        names.push(format!("v{number}"));
    }
    let last = names[names.len() - 1].clone();
    for state in ["a", "b", "c"] {
        let value = &names[below(names.len() as u64) as usize];
        step += &format!("{state} = sin({value}) + 0.1 * cos({last})\n");
    }
    step
}

/// Is a word the same, or a float that differs by some roundings?
fn is_near(a: u32, b: u32) -> bool {
    let [x, y] = [a, b].map(f32::from_bits);
    a == b || (x - y).abs() <= 1e-3 * (1.0 + x.abs())
}

/// What is exact keeps every bit. What changes roundings may make an agent take another branch, and few do.
#[test]
fn each_rewrite_keeps_results_of_random_models() {
    for rewrite in &REWRITES {
        let (mut words, mut far, mut fired) = (0, 0, 0);
        for seed in 0..120 {
            let source = model(seed);
            let artifact = compile(&source).unwrap_or_else(|errors| panic!("{source}: {errors:?}"));
            let (count, changed) = alone(&artifact.program, rewrite, BOUNDS[seed as usize % 3]);
            fired += u32::from(count > 0);
            check(&changed);
            let [expected, got] =
                [&artifact.program, &changed].map(|program| outcome::run(program, 3, 1));
            assert_eq!(expected.len(), got.len(), "`{}`: {source}", rewrite.name);
            if rewrite.exact {
                assert_eq!(expected, got, "`{}`: {source}", rewrite.name);
            }
            let pairs = expected.iter().zip(&got);
            far += pairs.filter(|((_, a), (_, b))| !is_near(*a, *b)).count();
            words += expected.len();
        }
        let name = rewrite.name;
        assert!(fired >= 5, "`{name}` changed {fired} of 120 models");
        assert!(
            50 * far <= words,
            "`{name}`: {far} of {words} words are far off"
        );
    }
}
