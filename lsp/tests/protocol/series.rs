//! What is sampled over time: `record`, `observe`, `world observe`.

use crate::requests::{classes, complete, hover, labels, rename, with};

const MODEL: &str = "\
agents 8
world 4
steps 20

const EVERY = 5

/// What an agent has.
state wealth = 1.0
input skill = 2.0
world state price = 1.0

fn double(x: f32) -> f32 {
    return 2.0 * x
}

step {
    wealth += 0.1
}

record wealth every EVERY
observe spread = var(wealth) every 2
observe bins = histogram(wealth, 0.0, 10.0, 5)
world observe price
world observe gap = max(wealth)
output wealth
";

/// That model with a text in place of another, which it has once.
fn with_text(old: &str, new: &str) -> String {
    assert_eq!(MODEL.matches(old).count(), 1, "`{old}`");
    MODEL.replace(old, new)
}

fn has(text: &str, label: &str) -> bool {
    labels(&complete(text)).contains(&label)
}

#[test]
fn folds_of_agents_are_offered_with_a_sentence_each() {
    let names = [
        "mean",
        "sum",
        "min",
        "max",
        "var",
        "sd",
        "count",
        "any",
        "all",
        "quantiles",
        "histogram",
    ];
    let found = complete(&with_text("var(wealth) every 2", "¦"));
    assert_eq!(labels(&found), names);
    for item in found.as_array().expect("a list") {
        let doc = item["documentation"]["value"].as_str().unwrap_or_default();
        assert!(doc.trim_end().ends_with(['.', '?']), "{item}");
    }
    let begun = complete(&with_text("var(wealth) every 2", "qua¦"));
    assert_eq!(
        begun[9]["textEdit"]["newText"],
        "quantiles(${1:value}, ${2:0.1, 0.5, 0.9})"
    );
    // A world has other values, too; the names of the folds are offered once.
    let world = complete(&with_text("max(wealth)", "¦"));
    let world = labels(&world);
    for name in names.iter().chain(&["price", "exp", "world"]) {
        let count = world.iter().filter(|label| *label == name).count();
        assert_eq!(count, 1, "`{name}` in {world:?}");
    }
    assert!(!world.contains(&"wealth"), "which agent's?");
}

#[test]
fn what_is_sampled_reads_states_and_draws_nothing() {
    for place in [
        with_text("var(wealth)", "var(¦)"),
        with_text("var(wealth)", "var(2.0 * ¦)"),
        with_text("max(wealth)", "max(¦)"),
        with_text("record wealth every", "record money = ¦ every"),
    ] {
        for label in [
            "wealth", "skill", "price", "double", "exp", "EVERY", "agent",
        ] {
            assert!(has(&place, label), "`{label}` in {place}");
        }
        for label in ["normal", "uniform", "spread", "sd"] {
            assert!(!has(&place, label), "`{label}` in {place}");
        }
    }
    let counts = with_text("every 2", "every ¦");
    assert!(has(&counts, "EVERY"));
    for label in ["wealth", "price", "agent", "every", "normal"] {
        assert!(!has(&counts, label), "`{label}` behind `every`");
    }
}

#[test]
fn names_and_every_are_offered() {
    assert_eq!(
        labels(&complete(&with_text(
            "record wealth every EVERY",
            "record ¦"
        ))),
        ["wealth", "price"]
    );
    assert_eq!(
        labels(&complete(&with_text(
            "world observe price",
            "world observe ¦"
        ))),
        ["price"]
    );
    let nothing = complete(&with_text(
        "observe spread = var(wealth) every 2",
        "observe ¦",
    ));
    assert!(labels(&nothing).is_empty(), "a new name");
    for place in [
        with_text("record wealth every EVERY", "record wealth ¦"),
        with_text("record wealth every EVERY", "record wealth ev¦"),
        with_text("var(wealth) every 2", "var(wealth) ¦"),
        with_text("max(wealth)", "max(wealth) ¦"),
    ] {
        assert_eq!(labels(&complete(&place)), ["every"], "{place}");
    }
    let items = complete("agents 8\n¦");
    for label in ["record", "observe", "world observe"] {
        assert!(labels(&items).contains(&label), "{items}");
    }
}

#[test]
fn samples_are_explained() {
    let says = |text: &str, part: &str| {
        let said = hover(&with_text(text, &format!("¦{text}")));
        assert!(said.contains(part), "{text}: {said}");
    };
    says("record wealth", "a value of each agent as the run goes on");
    says("wealth every", "state wealth: f32");
    says("observe spread", "a fold of all agents as the run goes on");
    says("spread =", "observe spread: f32");
    says("var(wealth)", "variance");
    says("every 2", "Steps between two samples");
    says("histogram(", "bins from low to high");
    says("bins =", "observe bins: [i32; 5]");
    says("observe price", "one value of each world");
    says("price\nworld observe gap", "world state price: f32");
    says("max(wealth)", "greatest of the agents' values");
}

#[test]
fn signatures_of_folds_say_which_argument_is_being_written() {
    let help = |text: &str| with(text, |editor, places| editor.at("signatureHelp", places[0]));
    let bins = help(&with_text("0.0, 10.0, 5", "0.0, ¦10.0, 5"));
    assert_eq!(
        bins["signatures"][0]["label"],
        "histogram(e, low, high, n) -> [i32; n]"
    );
    assert_eq!(bins["activeParameter"], 2);
    let var = help(&with_text("var(wealth)", "var(¦wealth)"));
    assert_eq!(var["signatures"][0]["label"], "var(e) -> f32");
}

#[test]
fn words_of_samples_have_classes() {
    let found = classes(MODEL);
    let has = |word: &str, class: &str| {
        let pair = (word.to_owned(), class.to_owned());
        assert!(found.contains(&pair), "{pair:?} in {found:?}");
    };
    has("record", "keyword");
    has("observe", "keyword");
    has("every", "keyword");
    has("var", "function");
    has("histogram", "function");
    has("spread", "property");
    let named = classes("state every = 1.0\nstep { var x = every }\nrecord every every 2\n");
    let every = named.iter().filter(|(word, _)| word == "every");
    let every: Vec<&str> = every.map(|(_, class)| class.as_str()).collect();
    assert_eq!(every, ["variable", "variable", "property", "keyword"]);
    assert!(named.contains(&("var".to_owned(), "keyword".to_owned())));
}

#[test]
fn series_keep_their_names_when_a_state_is_renamed() {
    let renamed = rename(&with_text("wealth = 1.0", "¦wealth = 1.0"), "money");
    let renamed = renamed.expect("`money` is free");
    for line in [
        "record wealth = money every EVERY\n",
        "observe spread = var(money) every 2\n",
        "world observe gap = max(money)\n",
        "output wealth = money\n",
    ] {
        assert!(renamed.contains(line), "{line}: {renamed}");
    }
    assert_eq!(sim_compiler::check(&renamed), []);
    let renamed = rename(&with_text("price = 1.0", "¦price = 1.0"), "cost");
    let renamed = renamed.expect("`cost` is free");
    assert!(
        renamed.contains("world observe price = cost\n"),
        "{renamed}"
    );
    // From the short form the state is renamed, too.
    let from_record = rename(&with_text("record wealth", "record ¦wealth"), "money");
    let from_record = from_record.expect("`money` is free");
    assert!(from_record.contains("state money = 1.0\n"), "{from_record}");
    let series = rename(&with_text("spread =", "¦spread ="), "variance");
    let series = series.expect("a name of its own");
    assert_eq!(series, with_text("spread =", "variance ="));
}

#[test]
fn the_outline_lists_what_is_sampled() {
    with(MODEL, |editor, _| {
        let symbols = editor.about("documentSymbol");
        let names: Vec<&str> = (symbols.as_array().expect("a list").iter())
            .map(|symbol| symbol["name"].as_str().expect("a name"))
            .collect();
        for name in ["wealth", "spread", "bins", "gap"] {
            assert!(names.contains(&name), "{names:?}");
        }
        let spread = names
            .iter()
            .position(|name| *name == "spread")
            .expect("there");
        assert_eq!(symbols[spread]["detail"], "observation: f32");
    });
}
