//! What each request answers, on a whole model and on broken ones.

use crate::editor::{Editor, Server, URI, byte, edited};
use serde_json::{Value, json};

const MODEL: &str = "\
//! Walkers in the plane.
agents 100
steps 10

/// Metres a step.
const STRIDE = 0.5 * 3.0
param pull = 0.1 in 0.0..1.0

enum Mode { Resting, Moving }
struct Walker { at: vec2, mode: Mode }

/// Towards the origin.
fn home(p: vec2, k: f32) -> vec2 {
    let way = -p
    return way * k
}

state walker = Walker(vec2(1.0, 0.0), Moving)
state x = 0.0

step {
    let noise = normal(0.0, STRIDE)
    walker.at += home(walker.at, pull)
    x += noise
    if x > 3.0 { walker.mode = Mode.Resting }
}

output x
output far = length(walker.at)
";

/// Opens a text, whose `¦` are taken out, and asks about their places.
pub(crate) fn with<T>(text: &str, ask: impl FnOnce(&mut Editor, &[usize]) -> T) -> T {
    let pieces: Vec<&str> = text.split('¦').collect();
    let ends = pieces.iter().scan(0, |end, piece| {
        *end += piece.len();
        Some(*end)
    });
    let places: Vec<usize> = ends.take(pieces.len() - 1).collect();
    let (connection, server) = Server::start();
    let mut editor = Editor::open(connection, &pieces.concat());
    let found = ask(&mut editor, &places);
    editor.leave();
    server.ended();
    found
}

/// The model with a `¦` before the given text, which it has once.
fn marked(text: &str) -> String {
    assert_eq!(MODEL.matches(text).count(), 1, "`{text}`");
    MODEL.replace(text, &format!("¦{text}"))
}

/// What a range of the protocol holds.
fn slice<'a>(text: &'a str, range: &Value) -> &'a str {
    &text[byte(text, &range["start"])..byte(text, &range["end"])]
}

pub(crate) fn hover(text: &str) -> String {
    let found = with(text, |editor, places| editor.at("hover", places[0]));
    found["contents"]["value"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

pub(crate) fn labels(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter()
        .filter_map(|item| item["label"].as_str())
        .collect()
}

pub(crate) fn complete(text: &str) -> Value {
    with(text, |editor, places| editor.at("completion", places[0]))
}

#[test]
fn hover_says_kind_type_value_and_documentation() {
    let stride = hover(&marked("STRIDE)"));
    assert!(stride.contains("const STRIDE: float"), "{stride}");
    assert!(
        stride.contains("`1.5`") && stride.contains("Metres a step."),
        "{stride}"
    );
    let noise = hover(&marked("noise\n    if"));
    assert!(noise.contains("let noise: f32"), "{noise}");
    let pull = hover(&marked("pull)"));
    assert!(
        pull.contains("param pull: f32") && pull.contains("default `0.1`"),
        "{pull}"
    );
    let home = hover(&marked("home(walker"));
    assert!(home.contains("fn home(p: vec2, k: f32) -> vec2"), "{home}");
    assert!(home.contains("Towards the origin."), "{home}");
    let normal = hover(&marked("normal("));
    assert!(
        normal.contains("normal(") && normal.contains("Example"),
        "{normal}"
    );
    let variant = hover(&marked("Resting }\n}"));
    assert!(variant.contains("Mode.Resting"), "{variant}");
    let at = hover(&marked("at, pull"));
    assert!(at.contains("Walker.at: vec2"), "{at}");
    assert_eq!(hover(&marked("Metres")), "", "in a comment");
}

#[test]
fn names_lead_to_their_declaration_and_uses() {
    let text = marked("at, pull");
    with(&text, |editor, places| {
        let found = editor.at("definition", places[0]);
        let start = byte(&editor.text, &found["range"]["start"]);
        assert!(editor.text[start..].starts_with("at: vec2"));
        let params = json!({
            "textDocument": { "uri": URI },
            "position": crate::editor::position(&editor.text, places[0]),
            "context": { "includeDeclaration": true },
        });
        let found = editor.ask("textDocument/references", params);
        assert_eq!(found.as_array().map(Vec::len), Some(4), "{found}");
        let found = editor.at("documentHighlight", places[0]);
        let kinds: Vec<u64> = (found.as_array().expect("a list").iter())
            .map(|place| place["kind"].as_u64().expect("a kind"))
            .collect();
        assert_eq!(kinds, [3, 3, 2, 2], "declared, written, read, read");
    });
}

pub(crate) fn rename(text: &str, new: &str) -> Result<String, String> {
    with(text, |editor, places| {
        let position = crate::editor::position(&editor.text, places[0]);
        let params = json!({
            "textDocument": { "uri": URI }, "position": position, "newName": new,
        });
        let answer = editor
            .response("textDocument/rename", params)
            .response_result;
        let edit = answer.map_err(|error| error.message)?;
        Ok(edited(&editor.text, &edit["changes"][URI]))
    })
}

#[test]
fn renaming_changes_all_uses_and_nothing_else() {
    let renamed = rename(&marked("noise\n    if"), "jitter").expect("`jitter` is free");
    assert_eq!(renamed, MODEL.replace("noise", "jitter"));
    // The output's name is known to others and stays.
    let renamed = rename(&marked("x = 0.0"), "height").expect("`height` is free");
    assert!(renamed.contains("output x = height\n"), "{renamed}");
    assert_eq!(sim_compiler::check(&renamed), []);
    for taken in ["x", "step", "f32", "1st", "", "walker", "a b"] {
        let refused = rename(&marked("noise\n    if"), taken);
        assert!(refused.is_err(), "`{taken}`: {refused:?}");
    }
    assert!(rename(&marked("normal("), "gauss").is_err(), "a builtin");
}

#[test]
fn completion_knows_what_is_legal() {
    let found = complete(&marked("at, pull"));
    assert_eq!(labels(&found), ["at", "mode"], "fields");
    let found = complete("state v = vec2(0.0, 0.0)\nstep {\n    v.¦\n}\n");
    assert_eq!(labels(&found), ["x", "y", "r", "g", "xy"], "components");
    let found = complete("enum Mode { On, Off }\nstate m = Mode.¦\n");
    assert_eq!(labels(&found), ["On", "Off"], "variants");
    let found = complete("state x: ¦");
    assert!(labels(&found).contains(&"vec3") && !labels(&found).contains(&"sin"));
    let found = complete("state x = 1.0\nstep {\n    integrate ¦\n}\n");
    assert_eq!(labels(&found), ["euler", "midpoint", "heun", "rk4"]);
    let found = complete("¦");
    assert!(labels(&found).contains(&"state") && !labels(&found).contains(&"let"));
    let found = complete(&marked("noise\n    if"));
    let names = labels(&found);
    assert!(names.contains(&"noise") && names.contains(&"pull") && names.contains(&"sqrt"));
    assert!(!names.contains(&"way"), "a local of another function");
    let sqrt = found
        .as_array()
        .expect("a list")
        .iter()
        .find(|item| item["label"] == "sqrt");
    let sqrt = sqrt.expect("`sqrt` was there");
    assert!(
        sqrt["documentation"]["value"]
            .as_str()
            .is_some_and(|doc| doc.contains("root"))
    );
    let found = complete("fn f(x: f32) -> f32 {\n    ¦\n}\n");
    let names = labels(&found);
    assert!(names.contains(&"return") && !names.contains(&"stop") && !names.contains(&"break"));
    let found = complete("state x = 1.0\noutput y = ¦\n");
    assert!(
        !labels(&found).contains(&"normal"),
        "an output draws nothing"
    );
    assert_eq!(complete("// a ¦"), json!([]), "in a comment");
    assert_eq!(complete("let ¦"), json!([]), "a new name");
}

#[test]
fn signatures_say_which_argument_is_being_written() {
    let found = with("state x = clamp(1.0, max(2.0, ¦", |editor, places| {
        editor.at("signatureHelp", places[0])
    });
    let label = found["signatures"][0]["label"].as_str().expect("a label");
    assert!(label.starts_with("max("), "{label}");
    assert_eq!(found["activeParameter"], 1);
    let found = with(&marked("pull)"), |editor, places| {
        editor.at("signatureHelp", places[0])
    });
    assert_eq!(
        found["signatures"][0]["label"],
        "home(p: vec2, k: f32) -> vec2"
    );
}

#[test]
fn the_shape_of_a_file() {
    with(MODEL, |editor, _| {
        let found = editor.about("documentSymbol");
        let symbols = found.as_array().expect("a list");
        let names: Vec<&str> = symbols
            .iter()
            .filter_map(|it| it["name"].as_str())
            .collect();
        let all = [
            "STRIDE", "pull", "Mode", "Walker", "home", "walker", "x", "step", "x", "far",
        ];
        assert_eq!(names, all);
        assert_eq!(symbols[3]["children"][1]["name"], "mode");
        assert_eq!(symbols[3]["children"][1]["detail"], "field: Mode");
        for symbol in symbols {
            let (whole, name) = (&symbol["range"], &symbol["selectionRange"]);
            let place = |position| byte(&editor.text, position);
            assert!(place(&whole["start"]) <= place(&name["start"]), "{symbol}");
            assert!(place(&name["end"]) <= place(&whole["end"]), "{symbol}");
        }
        let folds = editor.about("foldingRange");
        let folds: Vec<(u64, u64)> = (folds.as_array().expect("a list").iter())
            .filter_map(|fold| Some((fold["startLine"].as_u64()?, fold["endLine"].as_u64()?)))
            .collect();
        assert_eq!(folds, [(12, 14), (20, 24)]);
        let end = crate::editor::position(MODEL, MODEL.len());
        let range = json!({ "start": { "line": 0, "character": 0 }, "end": end });
        let params = json!({ "textDocument": { "uri": URI }, "range": range });
        let hints = editor.ask("textDocument/inlayHint", params);
        let label = |hint: &Value| hint["label"].as_str().map(str::to_owned);
        let hints: Vec<String> = hints
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(label)
            .collect();
        assert_eq!(hints, [": f32", ": vec2", ": Walker", ": f32", ": f32"]);
        let options = json!({ "tabSize": 4, "insertSpaces": true });
        let params = json!({ "textDocument": { "uri": URI }, "options": options });
        let edits = editor.ask("textDocument/formatting", params);
        let formatted = sim_format::format(MODEL).expect("it has no mistakes");
        assert_eq!(edited(MODEL, &edits), formatted);
    });
}

/// The words of a text with their classes.
pub(crate) fn classes(text: &str) -> Vec<(String, String)> {
    let (connection, server) = Server::start();
    let mut editor = Editor::open(connection, text);
    let legend = sim_lsp::analysis::tokens::legend().token_types;
    let data = editor.about("semanticTokens/full")["data"].clone();
    let data = data.as_array().cloned().expect("numbers").into_iter();
    let data: Vec<usize> = data.filter_map(|n| Some(n.as_u64()? as usize)).collect();
    let (mut line, mut character) = (0, 0);
    let mut found = Vec::new();
    for token in data.chunks(5) {
        character = if token[0] == 0 {
            character + token[1]
        } else {
            token[1]
        };
        line += token[0];
        let place = |character| json!({ "line": line, "character": character });
        let range = json!({ "start": place(character), "end": place(character + token[2]) });
        let class = legend[token[3]].as_str().to_owned();
        found.push((slice(text, &range).to_owned(), class));
    }
    editor.leave();
    server.ended();
    found
}

#[test]
fn words_have_classes() {
    let found = classes(MODEL);
    let has = |word: &str, class: &str| {
        let pair = (word.to_owned(), class.to_owned());
        assert!(found.contains(&pair), "{pair:?} in {found:?}");
    };
    has("step", "keyword");
    has("/// Metres a step.", "comment");
    has("STRIDE", "variable");
    has("pull", "macro");
    has("Moving", "enumMember");
    has("mode", "property");
    has("home", "function");
    has("normal", "function");
    has("k", "parameter");
    has("Walker", "struct");
    has("vec2", "type");
    has("0.5", "number");
    has("+=", "operator");
}

/// Characters that take two UTF-16 units, or one but several bytes, before what is asked about.
#[test]
fn positions_are_utf16() {
    let text = "const A = 1.0 // 𝄞𝄞 é𐐷\nstate x = 𝄞 B\nstate y = A\n";
    with(text, |editor, _| {
        let found = editor.diagnostics();
        let clef = &found[0]["range"];
        assert_eq!(slice(text, clef), "𝄞");
        assert_eq!(clef["start"], json!({ "line": 1, "character": 10 }));
        assert_eq!(clef["end"], json!({ "line": 1, "character": 12 }));
        // Typing behind and between them.
        let behind = text.find('é').expect("it is there");
        editor.change(behind..behind, "𝄞!");
        editor.change(behind + 4..behind + 5, "?");
        let clef = editor.text.find("𝄞 B").expect("it is there");
        editor.change(clef..clef + 4, "A +");
        editor.change(clef + 4..clef + 5, "A");
        assert_eq!(
            editor.text,
            "const A = 1.0 // 𝄞𝄞 𝄞?é𐐷\nstate x = A + A\nstate y = A\n"
        );
        let last = clef + 4;
        let found = editor.at("definition", last);
        assert_eq!(
            found["range"]["start"],
            json!({ "line": 0, "character": 6 })
        );
        let comment = classes(&editor.text);
        assert!(comment.contains(&("// 𝄞𝄞 𝄞?é𐐷".to_owned(), "comment".to_owned())));
        let fresh = sim_compiler::complaints(&editor.text).len();
        assert_eq!(editor.diagnostics().len(), fresh);
        // A place inside a character is the place before it.
        let range = json!({
            "start": { "line": 0, "character": 18 }, "end": { "line": 0, "character": 19 },
        });
        let at = editor.text.find('𝄞').expect("it is there");
        editor.text.replace_range(at..at + 4, "");
        let range_start = json!({ "line": 0, "character": 17 });
        editor.send(json!({
            "range": { "start": range_start, "end": range["end"] }, "text": "",
        }));
        let comment = classes(&editor.text);
        assert!(comment.contains(&("// 𝄞 𝄞?é𐐷".to_owned(), "comment".to_owned())));
        let answer = editor.at("hover", editor.text.find("x = A").expect("it is there"));
        assert!(
            answer["contents"]["value"]
                .as_str()
                .is_some_and(|text| text.contains("f32"))
        );
    });
}

#[test]
fn a_broken_file_answers_with_what_is_whole() {
    let text = "\
const A = 2.0
fn twice(v: f32) -> f32 { return v * A }
state x = twice(¦1.0
step {
    let q = A +
    x = ¦A
}
output far = ¦twice(x)
";
    with(text, |editor, places| {
        assert!(!editor.diagnostics().is_empty());
        let found = editor.at("signatureHelp", places[0]);
        assert_eq!(found["signatures"][0]["label"], "twice(v: f32) -> f32");
        for (place, want) in [(places[1], "A = 2.0"), (places[2], "twice(v")] {
            let found = editor.at("definition", place);
            let start = byte(&editor.text, &found["range"]["start"]);
            assert!(editor.text[start..].starts_with(want), "{found}");
        }
        let found = editor.about("documentSymbol");
        assert!(
            found.as_array().is_some_and(|symbols| symbols.len() >= 3),
            "{found}"
        );
    });
}

#[test]
fn diagnostics_have_code_place_causes_and_fixes() {
    let text = "state x = 1.0\nconst N = 3\nstep {\n    N = 4\n    x = xx\n}\noutput x\n";
    with(text, |editor, _| {
        let found = editor.diagnostics();
        let assigned = &found[0];
        assert_eq!(slice(text, &assigned["range"]), "N");
        assert_eq!(assigned["source"], "sim");
        assert_eq!(assigned["severity"], 1);
        let code = assigned["code"].as_str().expect("a code");
        assert!(code.starts_with('E') && sim_compiler::diagnostic::catalog::find(code).is_some());
        let related = &assigned["relatedInformation"][0]["location"];
        assert_eq!(related["range"]["start"]["line"], 1);
        let misspelt = &found[1];
        let actions = editor.actions(&misspelt["range"]);
        assert_eq!(actions[0]["title"], "Write `x`");
        assert_eq!(actions[0]["diagnostics"][0]["message"], misspelt["message"]);
    });
}

#[test]
fn commands_are_those_that_are_offered() {
    let (connection, server) = Server::start();
    let mut editor = Editor::open(connection, MODEL);
    let mut kernel = |arguments: Value| {
        let params = json!({ "command": "simc.wgsl", "arguments": arguments });
        let answer = editor.response("workspace/executeCommand", params);
        answer.response_result.map_err(|error| error.message)
    };
    let found = kernel(json!([URI])).expect("the model has no mistakes");
    assert!(
        found["text"]
            .as_str()
            .is_some_and(|text| text.contains("fn main"))
    );
    assert!(found["lines"].as_array().is_some_and(|rows| rows.len() > 5));
    for wrong in [
        json!([]),
        json!([3]),
        json!(["file:///other.sim"]),
        json!({}),
    ] {
        assert!(kernel(wrong.clone()).is_err(), "{wrong}");
    }
    editor.leave();
    server.ended();
}
