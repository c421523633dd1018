//! `simc explain`: the long texts behind the codes of all messages.

use crate::{
    failure::Failure,
    problem::{self, unknown_code},
    standard_output,
};
use sim_compiler::diagnostic::catalog;
use std::fmt::Write;

/// Arguments of `simc explain`.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  simc explain E0901
  simc explain unknown_name
  simc explain")]
pub(crate) struct Args {
    /// A code such as E0201, or its name; without one all are listed.
    code: Option<String>,
}

/// One message of the compiler, the runtime or the command.
struct Entry {
    code: &'static str,
    slug: &'static str,
    text: &'static str,
}

/// Every message, by code.
fn entries() -> Vec<Entry> {
    let compiler = catalog::entries().map(|entry| Entry {
        code: entry.code,
        slug: entry.slug,
        text: entry.explanation,
    });
    let runtime = sim_runtime::explanations()
        .iter()
        .map(|&(code, slug, text)| Entry { code, slug, text });
    let command = problem::entries().map(|entry| Entry {
        code: entry.code,
        slug: entry.slug,
        text: entry.explanation,
    });
    let mut all: Vec<Entry> = compiler.chain(runtime).chain(command).collect();
    all.sort_by_key(|entry| entry.code);
    all
}

/// Prints one explanation, or the list of all.
pub(crate) fn explain(args: &Args) -> Result<(), Failure> {
    let entries = entries();
    let mut text = String::new();
    match &args.code {
        Some(code) => {
            let entry = entries
                .iter()
                .find(|entry| {
                    entry.code.eq_ignore_ascii_case(code) || entry.slug.eq_ignore_ascii_case(code)
                })
                .ok_or_else(|| unknown_code(code))?;
            let _ = writeln!(
                text,
                "{} ({})\n\n{}",
                entry.code,
                entry.slug,
                unindented(entry.text)
            );
        }
        None => {
            for entry in &entries {
                let _ = writeln!(
                    text,
                    "{}  {}: {}",
                    entry.code,
                    entry.slug,
                    first_sentence(entry.text)
                );
            }
        }
    }
    standard_output::print(text)
}

/// Doc comments begin every line with a space.
fn unindented(text: &str) -> String {
    let lines: Vec<&str> = text
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect();
    lines.join("\n").trim_end().to_owned()
}

/// The first sentence, on one line.
fn first_sentence(text: &str) -> String {
    let paragraph: Vec<&str> = text
        .lines()
        .map(str::trim)
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = paragraph.join(" ");
    match paragraph.find(". ") {
        Some(end) => paragraph[..=end].to_owned(),
        None => paragraph,
    }
}
