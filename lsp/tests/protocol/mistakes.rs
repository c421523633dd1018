//! A beginner's mistakes, `tests/mistakes/LANGUAGE/NAME.sim`: what a person used to another language writes.
//! The first line of each says what was meant. docs/mistakes.md shows all of them with their messages and
//! fixes; `SIM_UPDATE=1` writes it.

use crate::editor::models;
use sim_compiler::{
    Diagnostic,
    diagnostic::{Fix, Severity, render::render},
};
use sim_lsp::analysis::{Document, action};
use std::{fmt::Write, path::Path};

/// The folders and the headings of their parts of the page.
const LANGUAGES: [(&str, &str); 8] = [
    ("sim", "Sim's own types and places"),
    ("python", "Python"),
    ("c", "C and C++"),
    ("julia", "Julia"),
    ("netlogo", "NetLogo"),
    ("wgsl", "WGSL"),
    ("rust", "Rust"),
    ("matlab", "MATLAB and R"),
];

const HEAD: &str = "# A beginner's mistakes

What people used to other languages write in their first models, and what `simc check` says to it. Each
message has a code that `simc explain` explains; where a change mends the mistake, an editor offers it, and so
does `simc check --json`. \"So the model compiles\" stands where the first change offered, for each message in
turn, leads to a model without mistakes. `lsp/tests/protocol/mistakes.rs` makes this page from the models in
`tests/mistakes`, and holds that each change that is offered does mend its mistake.
";

/// A model with a mistake.
struct Mistake {
    name: String,
    /// What was meant.
    title: String,
    document: Document,
}

fn mistakes(language: &str) -> Vec<Mistake> {
    let all = models(&format!("tests/mistakes/{language}")).into_iter();
    let split = |(name, text): (String, String)| {
        let (title, source) = text.split_once("\n\n").expect("a title and a model");
        Mistake {
            title: title.trim_start_matches("// ").to_owned(),
            document: Document::new(source.to_owned()),
            name,
        }
    };
    all.map(split).collect()
}

/// The lines of a text that a change makes, with the line numbers of neither.
fn changed(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[same..], &new[same..]);
    let tail = old.iter().rev().zip(new.iter().rev());
    let tail = tail.take_while(|(a, b)| a == b).count();
    new[..new.len() - tail].join("\n")
}

/// Applies the first change that is offered until there is none; whether the model compiles then.
fn mended(document: &Document) -> bool {
    let mut document = Document::new(document.text().to_owned());
    for _ in 0..20 {
        let found = document.diagnostics().iter();
        let errors: Vec<_> = found
            .filter(|one| one.severity == Severity::Error)
            .collect();
        if errors.is_empty() {
            return true;
        }
        let mut offered = (errors.iter()).flat_map(|one| action::fixes(&document, one));
        let Some(fix) = offered.next() else {
            return false;
        };
        let text = document.with(&fix.edits);
        document = Document::new(text);
    }
    false
}

/// A report as the page shows it: without colours, empty lines and the spaces at the ends of lines.
fn report(document: &Document, diagnostic: &Diagnostic) -> String {
    let one = std::slice::from_ref(diagnostic);
    let text = render("model.sim", document.text(), one, Default::default());
    let lines = text.lines().map(str::trim_end);
    let shown = lines.filter(|line| !matches!(line.trim(), "│" | "·"));
    shown.collect::<Vec<_>>().join("\n")
}

fn part(page: &mut String, mistake: &Mistake) {
    let document = &mistake.document;
    let source = document.text();
    let mut write = |text: String| page.push_str(&text);
    write(format!("\n### {}\n\n```text\n{source}```\n", mistake.title));
    for diagnostic in document.diagnostics() {
        write(format!(
            "\n```text\n{}\n```\n",
            report(document, diagnostic)
        ));
        for Fix { title, edits } in action::fixes(document, diagnostic) {
            let lines = changed(source, &document.with(&edits));
            let lines = match lines.trim() {
                "" => ".".to_owned(),
                one if !one.contains(['\n', '`']) => format!(": `{one}`"),
                _ => format!(":\n\n```text\n{lines}\n```"),
            };
            write(format!("\nOffered: {title}{lines}\n"));
        }
    }
    if mended(document) {
        write("\nSo the model compiles.\n".to_owned());
    }
}

#[test]
fn the_page_of_mistakes_is_current() {
    let mut page = HEAD.to_owned();
    for (folder, heading) in LANGUAGES {
        writeln!(page, "\n## {heading}").expect("a string takes all");
        for mistake in mistakes(folder) {
            part(&mut page, &mistake);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mistakes.md");
    if std::env::var_os("SIM_UPDATE").is_some() {
        std::fs::write(path, page).expect("docs/ is writable");
        return;
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        kept == page,
        "docs/mistakes.md is out of date: run the tests with SIM_UPDATE=1"
    );
}

/// No mistake passes, and whatever the catalog offers for one removes its message.
#[test]
fn each_mistake_has_a_message_and_each_fix_mends_it() {
    let mut count = 0;
    for (folder, _) in LANGUAGES {
        for Mistake { name, document, .. } in mistakes(folder) {
            count += 1;
            let found = document.diagnostics();
            assert!(!found.is_empty(), "{folder}/{name}: no message");
            for diagnostic in found {
                let vague = diagnostic.slug == "unexpected_token";
                assert!(!vague, "{folder}/{name}: {}", diagnostic.message);
                let offered = action::fixes(&document, diagnostic);
                for fix in &diagnostic.fixes {
                    let title = &fix.title;
                    assert!(
                        offered.contains(fix),
                        "{folder}/{name}: `{title}` mends nothing"
                    );
                }
            }
        }
    }
    assert!(count >= 100, "only {count} mistakes");
}
