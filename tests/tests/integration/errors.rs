//! Every mistake of the catalog with its specimen: `tests/errors/<slug>.sim`, one mistake, one message.
//! Other forms of the same mistake are `<slug>-<form>.sim`, where it may be made several times.

use super::files;
use sim_compiler::diagnostic::{Severity, catalog, render::render};
use std::collections::BTreeSet;

/// The mistake that a specimen of this name makes.
fn slug_of(name: &str) -> &str {
    name.split_once('-').map_or(name, |(slug, _)| slug)
}

#[test]
fn each_specimen_makes_its_one_mistake() {
    let mut complaints = Vec::new();
    for (name, source) in files::models("tests/errors") {
        let diagnostics = sim_compiler::check(&source);
        let report = render(
            &format!("{name}.sim"),
            &source,
            &diagnostics,
            Default::default(),
        );
        insta::with_settings!({
            snapshot_path => "../../errors/snapshots",
            prepend_module_to_snapshot => false,
            omit_expression => true
        }, {
            insta::assert_snapshot!(name.clone(), report);
        });
        let (slug, form) = (slug_of(&name), name.contains('-'));
        if slug == "several" {
            if diagnostics.len() < 3 {
                complaints.push(format!("{slug}: only {} messages", diagnostics.len()));
            }
            continue;
        }
        // Its one mistake is that there are a hundred others.
        if slug == "too_many_mistakes" {
            if diagnostics.len() != 101
                || !diagnostics.iter().any(|diagnostic| diagnostic.slug == slug)
            {
                complaints.push(format!("{slug}: {} messages", diagnostics.len()));
            }
            continue;
        }
        let slugs: Vec<&str> = diagnostics
            .iter()
            .map(|diagnostic| diagnostic.slug)
            .collect();
        let other = slugs.iter().any(|found| *found != slug);
        if slugs.is_empty() || other || (slugs.len() > 1 && !form) {
            complaints.push(format!("{name}: {slugs:?}"));
        }
    }
    files::report("specimens do not make their mistake", complaints);
}

#[test]
fn the_catalog_and_the_specimens_are_one_to_one() {
    let slugs: BTreeSet<String> = catalog::entries()
        .filter(|entry| Severity::of(entry.code) == Severity::Error)
        .map(|entry| entry.slug.to_string())
        .collect();
    let specimens: BTreeSet<String> = files::models("tests/errors")
        .into_iter()
        .map(|(name, _)| slug_of(&name).to_string())
        .filter(|slug| slug != "several")
        .collect();
    let missing: Vec<_> = slugs.difference(&specimens).collect();
    let extra: Vec<_> = specimens.difference(&slugs).collect();
    assert!(
        missing.is_empty() && extra.is_empty(),
        "without specimen: {missing:?}; without entry: {extra:?}"
    );
}

#[test]
fn codes_are_unique_and_explained() {
    let mut codes = BTreeSet::new();
    for entry in catalog::entries() {
        assert!(codes.insert(entry.code), "{} is used twice", entry.code);
        assert!(
            entry.explanation.trim().len() > 20,
            "{} has no explanation",
            entry.slug
        );
        assert_eq!(
            catalog::find(entry.code).map(|found| found.slug),
            Some(entry.slug)
        );
    }
}
