//! A beginner's mistakes, `tests/mistakes/LANGUAGE/NAME.sim`: what a person used to another language writes.
//! The first line of each says what was meant. docs/mistakes.md shows all of them with their messages and
//! fixes; `SIM_UPDATE=1` writes it.

use crate::editor::models;
use sim_compiler::{
    Diagnostic,
    diagnostic::{Fix, Severity, render::render},
};
use sim_lsp::analysis::{Document, action};
use std::{collections::HashSet, fmt::Write, path::Path};

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

What people who know another language write in their first models, and the messages of `simc check`. `simc
explain E0401` says more about the message with that code. \"Offered\" is a change that an editor makes on
request; `simc check --json` lists it, too. Where the first change for each message, again and again, ends in
a model that compiles, that model is shown, in the style of `simc fmt`.

The contents come first: what was written, and the code of the first message.
";

/// What compiles, but is another value elsewhere: an expression, and what it is there.
const SILENT: [(&str, &str); 4] = [
    ("7 / 2", "3.5 in Python, Julia, R and NetLogo"),
    ("-7 % 3", "2 in Python and R"),
    (
        "7 // 2",
        "3 in Python, where `//` divides; here it begins a comment",
    ),
    ("5 ^ 2", "25 in Julia, MATLAB, R and NetLogo"),
];

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

/// Applies the first change that is offered until there is none: the model, if it compiles then.
fn mended(document: &Document) -> Option<String> {
    let mut document = Document::new(document.text().to_owned());
    for _ in 0..20 {
        let found = document.diagnostics().iter();
        let errors: Vec<_> = found
            .filter(|one| one.severity == Severity::Error)
            .collect();
        if errors.is_empty() {
            return Some(sim_format::format(document.text()).expect("a model"));
        }
        let mut offered = (errors.iter()).flat_map(|one| action::fixes(&document, one));
        let text = document.with(&offered.next()?.edits);
        document = Document::new(text);
    }
    None
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
    if let Some(model) = mended(document) {
        write(format!("\nThis compiles:\n\n```sim\n{model}```\n"));
    }
}

/// The anchor of a heading, as mdBook and GitHub make it.
fn anchor(title: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let kept = title
        .to_lowercase()
        .chars()
        .filter(kept)
        .collect::<String>();
    kept.replace(' ', "-")
}

fn contents(page: &mut String) {
    let mut anchors = HashSet::new();
    for (folder, heading) in LANGUAGES {
        write!(page, "\n**{heading}**\n\n").expect("a string takes all");
        for Mistake {
            title, document, ..
        } in mistakes(folder)
        {
            let new = anchors.insert(anchor(&title));
            assert!(new, "two mistakes with the heading {title}");
            let code = document.diagnostics()[0].code;
            let line = format!("* [{title}](#{}) {code}", anchor(&title));
            writeln!(page, "{line}").expect("a string takes all");
        }
    }
}

/// A table of [`SILENT`] with the values that the compiler gives them.
fn silent(page: &mut String) {
    page.push_str(
        "\n## What compiles, and means something else\n\nThese give no error. `//` before a number, \
         and a division of integers that is\nused as a float, give a warning.\n\n\
         | written | value | elsewhere |\n|---|---|---|\n",
    );
    for (written, elsewhere) in SILENT {
        let source = format!("param x: i32 = {written}\noutput y = x\n");
        let model = sim_compiler::compile(&source).expect("a model");
        let words = model.manifest.params[0].default.as_ref();
        let value = words.expect("a default")[0] as i32;
        let row = format!("| `{written}` | {value} | {elsewhere} |");
        writeln!(page, "{row}").expect("a string takes all");
    }
    page.push_str(
        "\nAn index beyond the end is clamped to the last element, `stop` ends all further steps of the \
         agent (in\nNetLogo only the procedure), and a range `a..b` does not include `b`.\n",
    );
}

#[test]
fn the_page_of_mistakes_is_current() {
    let mut page = HEAD.to_owned();
    contents(&mut page);
    silent(&mut page);
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
