//! The formatter on every model of the repository and on random ones in random disarray: it is idempotent,
//! loses no word and no comment, and does not change a model's meaning.
//!
//! `SIM_MODELS` says how many random models (default 200), `SIM_FIRST_MODEL` the first seed.

use super::{files, random_models::number};
use serde_json::Value;
use sim_compiler::{ir, syntax};
use sim_format::{Error, format};
use sim_tests::{disturb::disturbed, generate, page};

/// Folders of models with nothing wrong.
const GOOD: [&str; 3] = ["lang-examples", "tests/run", "tests/language"];

/// What a model means: everything that a host can see of it but the places in its text, or its mistakes.
fn meaning(source: &str) -> Result<String, Vec<&'static str>> {
    match sim_compiler::compile(source) {
        Ok(artifact) => {
            let mut manifest =
                serde_json::to_value(&artifact.manifest).expect("a manifest is data");
            remove_spans(&mut manifest);
            let program = ir::print::print(&artifact.program);
            let kernel = artifact.wgsl();
            Ok(format!("{program}\n{manifest}\n{kernel}"))
        }
        Err(diagnostics) => Err(diagnostics.iter().map(|one| one.slug).collect()),
    }
}

fn remove_spans(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("span");
            fields.values_mut().for_each(remove_spans);
        }
        Value::Array(elements) => elements.iter_mut().for_each(remove_spans),
        _ => {}
    }
}

/// The words of a source, but for its separators.
fn words(source: &str) -> Vec<&str> {
    let tokens = syntax::tokens(source).into_iter();
    let words = tokens.map(|(_, span)| &source[span.range()]);
    words.filter(|word| !matches!(*word, "," | ";")).collect()
}

fn comments(source: &str) -> Vec<&str> {
    let comments = syntax::comments(source).into_iter();
    comments
        .map(|span| source[span.range()].trim_end())
        .collect()
}

/// Every guarantee of the formatter, for one source.
fn hold(source: &str) -> Result<String, String> {
    let text = format(source).map_err(|error| format!("{error}: {error:?}"))?;
    let again = format(&text).map_err(|error| format!("the second time: {error}"))?;
    if again != text {
        return Err(format!("twice is not once:\n{text}\n---- twice\n{again}"));
    }
    if words(source) != words(&text) {
        return Err(format!("the words differ:\n{text}"));
    }
    if comments(source) != comments(&text) {
        return Err(format!("the comments differ:\n{text}"));
    }
    if meaning(source) != meaning(&text) {
        return Err(format!("the meaning differs:\n{text}"));
    }
    for line in text.lines() {
        if line.trim_end() != line || line.contains('\t') && !line.contains("//") {
            return Err(format!("a line has space at its end, or tabs: `{line}`"));
        }
    }
    Ok(text)
}

#[test]
fn examples_are_in_canonical_style() {
    let mut complaints = Vec::new();
    for (name, source) in files::models("lang-examples") {
        match format(&source) {
            Ok(text) if text == source => {}
            Ok(_) => complaints.push(format!("{name}.sim: run `simc fmt lang-examples`")),
            Err(error) => complaints.push(format!("{name}.sim: {error}")),
        }
        let wide = source.lines().filter(|line| line.chars().count() > 100);
        complaints.extend(wide.map(|line| format!("{name}.sim is wider than 100: {line}")));
    }
    files::report("examples are not in canonical style", complaints);
}

#[test]
fn models_in_the_documentation_are_in_canonical_style() {
    let mut pages = page::pages(&files::root().join("docs"));
    pages.push(files::root().join("README.md"));
    let mut complaints = Vec::new();
    let mut models = 0;
    for path in pages {
        let text = std::fs::read_to_string(&path).expect("a page is text");
        for block in page::blocks(&text).iter().filter(|block| block.is_model()) {
            let (path, source) = (path.display(), block.text);
            models += 1;
            match format(source) {
                Ok(text) if text == source => {}
                Ok(text) => complaints.push(format!("{path}: should be\n{text}")),
                Err(error) => complaints.push(format!("{path}: {error}\n{source}")),
            }
        }
    }
    assert!(models > 60, "the documentation shows models");
    files::report("models in the documentation are not in style", complaints);
}

#[test]
fn the_page_of_the_style_shows_it() {
    let page = std::fs::read_to_string(files::root().join("docs/format.md"));
    let page = page.expect("the page is there");
    let mut complaints = Vec::new();
    let mut fragments = 0;
    for block in page.split("```sim-fragment\n").skip(1) {
        let block = block.split("```").next().unwrap_or_default();
        // In a list, a fragment is indented by two spaces; a statement in a block by four.
        let lines = block.lines().map(|line| format!("  {line}\n"));
        let lines: String = lines.filter(|line| !line.trim().is_empty()).collect();
        let source = format!("step {{\n{lines}}}\n");
        fragments += 1;
        match format(&source) {
            Ok(text) if text == source => {}
            other => complaints.push(format!(
                "{source}\nshould be\n{}",
                other.unwrap_or_default()
            )),
        }
    }
    assert!(fragments > 3, "the page shows how lines break");
    files::report("fragments of the page are not in style", complaints);
}

#[test]
fn models_of_the_repository_keep_their_meaning() {
    let mut complaints = Vec::new();
    for (name, source) in GOOD.into_iter().flat_map(files::models) {
        if let Err(complaint) = hold(&source) {
            complaints.push(format!("{name}: {complaint}"));
        }
        for seed in 0..3 {
            let source = disturbed(&source, seed, true);
            if let Err(complaint) = hold(&source) {
                complaints.push(format!(
                    "{name}, disturbed by {seed}: {complaint}\n---- from\n{source}"
                ));
            }
        }
    }
    files::report("models are not formatted well", complaints);
}

#[test]
fn specimens_with_syntax_errors_are_refused_and_others_formatted() {
    let mut complaints = Vec::new();
    let mut refused = 0;
    for (name, source) in files::models("tests/errors") {
        let expected = syntax::parse(&source).diagnostics;
        if expected.is_empty() {
            if let Err(complaint) = hold(&source) {
                complaints.push(format!("{name}: {complaint}"));
            }
            continue;
        }
        refused += 1;
        match format(&source) {
            Err(Error::Syntax(found)) if found == expected => {}
            other => complaints.push(format!("{name}: {other:?}")),
        }
    }
    assert!(refused > 20, "only {refused} specimens have syntax errors");
    files::report("specimens are treated wrongly", complaints);
}

#[test]
fn random_models_in_disarray_are_formatted() {
    let first = number("SIM_FIRST_MODEL", 0);
    let count = number("SIM_MODELS", 200);
    let mut complaints = Vec::new();
    for seed in first..first + count {
        let model = generate::model(seed);
        let loose = disturbed(&model, seed, true);
        let outcome = std::panic::catch_unwind(|| {
            meaning(&loose).map_err(|slugs| format!("the model is wrong: {slugs:?}"))?;
            hold(&loose)?;
            let (plain, other) = (
                disturbed(&model, seed, false),
                disturbed(&model, !seed, false),
            );
            if format(&plain).ok() != format(&other).ok() {
                return Err(format!(
                    "white space matters:\n{plain}\n---- other\n{other}"
                ));
            }
            Ok(())
        });
        if let Err(complaint) = outcome.unwrap_or_else(|_| Err("a panic".to_owned())) {
            complaints.push(format!("seed {seed}: {complaint}\n---- from\n{loose}"));
            if complaints.len() >= 3 {
                break;
            }
        }
    }
    println!(
        "{count} random models in disarray from seed {first}, {} formatted wrongly",
        complaints.len()
    );
    files::report("random models are formatted wrongly", complaints);
}
