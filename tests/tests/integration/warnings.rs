//! Every warning with its specimen: `tests/warnings/<slug>.sim` gives it, in all its forms, and shows
//! beside them what gives none; other files are `<slug>-<form>.sim`. No example, benchmark or page gives
//! any.

use super::files;
use sim_compiler::{
    Diagnostic,
    diagnostic::{Severity, catalog, render::render},
    span::Span,
};
use sim_tests::page;
use std::collections::BTreeSet;

/// The warning of a specimen.
fn slug_of(name: &str) -> &str {
    name.split_once('-').map_or(name, |(slug, _)| slug)
}

#[test]
fn each_specimen_gives_its_warning() {
    let mut complaints = Vec::new();
    for (name, source) in files::models("tests/warnings") {
        let mistakes = sim_compiler::check(&source);
        let warnings = sim_compiler::warnings(&source);
        let file = format!("{name}.sim");
        let both: Vec<Diagnostic> = mistakes.iter().chain(&warnings).cloned().collect();
        let report = render(&file, &source, &both, Default::default());
        insta::with_settings!({
            snapshot_path => "../../warnings/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true
        }, {
            insta::assert_snapshot!(name.clone(), report);
        });
        let slugs: BTreeSet<&str> = warnings.iter().map(|warning| warning.slug).collect();
        if !mistakes.is_empty() || slugs != BTreeSet::from([slug_of(&name)]) {
            complaints.push(format!("{name}: {} mistakes, {slugs:?}", mistakes.len()));
        }
    }
    files::report("specimens do not give their warning", complaints);
}

#[test]
fn every_warning_has_a_specimen() {
    let warnings = catalog::entries().filter(|entry| Severity::of(entry.code) == Severity::Warning);
    let slugs: BTreeSet<String> = warnings.map(|entry| entry.slug.to_string()).collect();
    let specimens: BTreeSet<String> = files::models("tests/warnings")
        .into_iter()
        .map(|(name, _)| slug_of(&name).to_string())
        .collect();
    assert_eq!(slugs, specimens);
}

/// What the fixes of a warning leave, for all of them.
#[test]
fn fixes_take_a_warning_away() {
    let mut seen = 0;
    for (name, source) in files::models("tests/warnings") {
        let before = sim_compiler::warnings(&source);
        for fix in before.iter().flat_map(|warning| &warning.fixes) {
            let mut text = source.clone();
            for (Span { start, end }, new) in fix.edits.iter().rev() {
                text.replace_range(*start as usize..*end as usize, new);
            }
            assert_eq!(
                sim_compiler::check(&text),
                [],
                "{name}, {}:\n{text}",
                fix.title
            );
            let after = sim_compiler::warnings(&text);
            assert!(after.len() < before.len(), "{name}, {}:\n{text}", fix.title);
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} fixes");
}

#[test]
fn no_model_of_the_repository_gives_a_warning() {
    let mut models: Vec<(String, String)> = Vec::new();
    for folder in [
        "lang-examples",
        "benchmarks",
        "peers",
        "cli/examples",
        "docs",
        "tests/run",
        "tests/language",
        "tests/drift",
    ] {
        let files = files::texts(folder, &["sim", "md"]);
        models.extend(
            files
                .into_iter()
                .map(|(path, text)| (path.display().to_string(), text)),
        );
    }
    let readme = std::fs::read_to_string(files::root().join("README.md"));
    models.push(("README.md".to_owned(), readme.expect("a page is text")));
    let (mut complaints, mut seen) = (Vec::new(), 0);
    for (name, text) in models {
        let blocks: Vec<&str> = match name.ends_with(".md") {
            true => {
                let blocks = page::blocks(&text).into_iter();
                let models = blocks.filter(|block| block.is_model());
                models.map(|block| block.text).collect()
            }
            false => vec![&text],
        };
        for source in blocks {
            seen += 1;
            let warnings = sim_compiler::warnings(source);
            complaints.extend(warnings.iter().map(|warning| {
                let line = source[..warning.span().start as usize]
                    .matches('\n')
                    .count()
                    + 1;
                format!("{name}:{line}: {} {}", warning.code, warning.message)
            }));
        }
    }
    assert!(seen > 300, "only {seen} models");
    files::report("warnings about models that are fine", complaints);
}
