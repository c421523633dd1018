//! Worlds: what their agents and their code are offered, told and renamed.

use crate::editor::{URI, byte};
use crate::requests::{complete, hover, labels, rename, with};
use serde_json::{Value, json};

const WORLDS: &str = "\
agents 8
world 4
steps 2

/// What an agent has.
state wealth = 1.0
input skill = 2.0
world state price = 1.0
world input tax = 0.1

step {
    let first = world[0]
    for other in world {
        wealth += other.wealth * first.skill + f32(world.number + member)
    }
    wealth += world[1].wealth - price
}

world step t {
    price = mean(for other in world: other.wealth)
}

output wealth
world output price
";

/// That model with a `¦` before the given text, which it has once.
fn in_worlds(text: &str) -> String {
    assert_eq!(WORLDS.matches(text).count(), 1, "`{text}`");
    WORLDS.replace(text, &format!("¦{text}"))
}

#[test]
fn agents_of_a_world_have_fields_to_complete() {
    let fields = ["agent", "member", "skill", "wealth"];
    for place in ["other.¦", "first.¦", "world[0].¦", "world[member + 1].¦we"] {
        let text = WORLDS.replace("f32(world.number + member)", place);
        let found = complete(&text);
        let mut found = labels(&found);
        found.sort_unstable();
        assert_eq!(found, fields, "{place}");
    }
    let number = complete(&WORLDS.replace("world.number", "world.¦"));
    assert_eq!(labels(&number), ["number"]);
    let unfinished = complete(
        "agents 8\nstate x = 1.0\nstep {\n    for other in world {\n        x += other.¦\n",
    );
    assert!(labels(&unfinished).contains(&"x"), "{unfinished}");
}

#[test]
fn world_code_is_offered_what_is_of_the_world() {
    let has = |list: &Value, label: &str| labels(list).contains(&label);
    let agents = complete(&WORLDS.replace("world[1].wealth - price", "¦"));
    let offered = [
        "wealth", "skill", "price", "tax", "agent", "member", "world",
    ];
    for label in offered {
        assert!(has(&agents, label), "`{label}` in a step");
    }
    let world = complete(&WORLDS.replace("    price = mean", "    price = ¦mean"));
    for label in offered {
        let of_agent = ["wealth", "skill", "agent", "member"].contains(&label);
        assert_eq!(has(&world, label), !of_agent, "`{label}` in a world step");
    }
    let statements = complete(&WORLDS.replace("    price = mean", "    ¦\n    price = mean"));
    assert!(has(&statements, "for in world"));
    let first = complete(&WORLDS.replace("world state", "init {\n    ¦\n}\nworld state"));
    assert!(has(&first, "for") && !has(&first, "for in world"));
    assert!(has(&statements, "for") && !has(&statements, "stop") && !has(&statements, "integrate"));
    let items = complete("agents 8\nworld ¦");
    assert_eq!(
        labels(&items),
        ["input", "state", "output", "step", "observe"]
    );
    let outputs = complete(&WORLDS.replace("world output price", "world output ¦"));
    assert_eq!(labels(&outputs), ["price"]);
}

#[test]
fn worlds_are_explained() {
    let says = |text: &str, parts: &[&str]| {
        let said = hover(&in_worlds(text));
        for part in parts {
            assert!(said.contains(part), "{text}: {said}");
        }
    };
    says("other in world {", &["other: agent", "loop index"]);
    says("first = ", &["let first: agent"]);
    for place in [
        "world {",
        "world 4",
        "world[0]",
        "world state",
        "world step",
        "world: other",
    ] {
        says(place, &["The agents of the world"]);
    }
    says(
        "wealth - price",
        &["state wealth: f32", "What an agent has."],
    );
    says("number +", &["number of the world"]);
    says("member)", &["place in its world"]);
    says("price\n}", &["world state price: f32"]);
    says(
        "wealth * first",
        &["state wealth: f32", "What an agent has."],
    );
    says("skill + f32", &["input skill: f32"]);
    says("t {\n", &["number of the step"]);
}

#[test]
fn a_state_is_renamed_behind_other_agents_too() {
    let renamed = rename(&in_worlds("wealth = 1.0"), "money").expect("it can be renamed");
    let expected = WORLDS.replace("wealth", "money");
    let expected = expected.replace("output money", "output wealth = money");
    assert_eq!(renamed, expected);
    // From `other.wealth`, `world[1].wealth` and `other.wealth` in a fold.
    for place in ["wealth * first", "wealth - price", "wealth)\n}"] {
        let from_use = rename(&in_worlds(place), "money");
        assert_eq!(from_use.as_deref(), Ok(expected.as_str()), "{place}");
    }
    let inputs = rename(&in_worlds("skill + f32"), "talent");
    assert_eq!(inputs, Ok(WORLDS.replace("skill", "talent")));
    let prices = rename(&in_worlds("price = mean"), "cost").expect("a world state, too");
    let expected = WORLDS.replace("price", "cost");
    assert_eq!(
        prices,
        expected.replace("output cost", "output price = cost")
    );
    let other = rename(&in_worlds("other in world {"), "them").expect("an index, too");
    assert!(
        other.contains("for them in world {\n        wealth += them.wealth"),
        "{other}"
    );
    assert!(
        rename(&in_worlds("wealth = 1.0"), "member").is_err(),
        "a built-in value"
    );
    with(&in_worlds("wealth - price"), |editor, places| {
        let found = editor.at("definition", places[0]);
        let start = byte(&editor.text, &found["range"]["start"]);
        assert!(editor.text[start..].starts_with("wealth = 1.0"));
    });
}

#[test]
fn the_outline_tells_worlds_from_agents() {
    with(WORLDS, |editor, _| {
        let params = json!({ "textDocument": { "uri": URI } });
        let found = editor.ask("textDocument/documentSymbol", params);
        let symbols = found.as_array().expect("a list");
        let names: Vec<&str> = symbols
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        assert_eq!(
            names,
            [
                "wealth",
                "skill",
                "price",
                "tax",
                "step",
                "world step",
                "wealth",
                "price"
            ]
        );
        assert_eq!(symbols[2]["detail"], "world state: f32");
    });
}
