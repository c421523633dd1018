//! Tests in models: `test "name" { … }`.

use crate::requests::{classes, complete, hover, labels, with};

const MODEL: &str = "\
agents 8
steps 20

param seed = 1.0
param rate = 0.5
input skill = 2.0
state wealth = skill * seed + rate

step {
    wealth += 0.1
}

observe spread = var(wealth) every 2
output wealth

test \"wealth grows\" {
    seed 7
    param rate = 0.25

    expect mean(wealth) ~ 4.25 within 1 %
    expect at(spread, 4) == 0.0
}
";

fn with_text(old: &str, new: &str) -> String {
    assert_eq!(MODEL.matches(old).count(), 1, "`{old}`");
    MODEL.replace(old, new)
}

fn found(old: &str, new: &str) -> Vec<String> {
    let found = complete(&with_text(old, new));
    labels(&found).into_iter().map(str::to_owned).collect()
}

#[test]
fn what_belongs_in_a_test_is_offered() {
    let parts = found("    seed 7\n", "    ¦\n");
    let words = [
        "agents", "steps", "world", "seed", "param", "data", "input", "expect",
    ];
    assert_eq!(parts, words);
    assert_eq!(found("param rate = 0.25", "param ¦"), ["seed", "rate"]);
    let values = found("mean(wealth) ~", "mean(¦) ~");
    for name in ["wealth", "spread", "rate", "at", "quantile", "sd"] {
        assert!(
            values.iter().any(|value| value == name),
            "{name}: {values:?}"
        );
    }
    assert!(!values.iter().any(|value| value == "skill"), "{values:?}");
    assert_eq!(found(" within 1 %", " ¦"), ["within"]);
    let items = found("output wealth\n", "output wealth\n¦\n");
    assert!(items.iter().any(|item| item == "test"), "{items:?}");
}

#[test]
fn words_of_tests_are_explained() {
    for (place, text) in [
        ("t¦est \"wealth", "which `simc test` runs"),
        ("    s¦eed 7", "The seed of all draws"),
        ("ex¦pect mean", "What must be true"),
        ("w¦ithin 1", "How far off"),
        ("a¦t(spread", "The sample of a series"),
        ("param ra¦te = 0.25", "param rate: f32"),
        ("mean(we¦alth)", "wealth"),
        ("at(spr¦ead", "observe spread"),
    ] {
        let old = place.replace('¦', "");
        let shown = hover(&with_text(&old, place));
        assert!(shown.contains(text), "{place}: {shown}");
    }
}

#[test]
fn words_of_tests_are_keywords_only_there() {
    let all = classes(MODEL);
    let of = |text: &str| -> Vec<&str> {
        let all = all.iter().filter(|(word, _)| word == text);
        all.map(|(_, class)| class.as_str()).collect()
    };
    assert_eq!(of("test"), ["keyword"]);
    assert_eq!(of("expect"), ["keyword", "keyword"]);
    assert_eq!(of("within"), ["keyword"]);
    assert_eq!(of("seed"), ["macro", "macro", "keyword"]);
    assert_eq!(of("at"), ["function"]);
}

#[test]
fn a_test_is_a_symbol() {
    let symbols = with(MODEL, |editor, _| editor.about("documentSymbol"));
    assert!(symbols.to_string().contains("wealth grows"), "{symbols}");
}
