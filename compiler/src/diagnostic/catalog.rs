//! Every complaint of the compiler, mistakes and warnings, one constructor function each, by area.
//!
//! The doc comment of a constructor is what `simc explain CODE` prints; its name is the name of its
//! specimen `tests/errors/<name>.sim`, or `tests/warnings/<name>.sim`.

pub mod constants;
pub mod control;
pub mod model;
pub mod names;
pub mod syntax;
pub mod test;
pub mod types;
pub mod warning;
pub mod world;

use super::{Diagnostic, Entry};
use crate::foreign::Meant;

/// Defines constructors of diagnostics and the list of them that `simc explain` reads.
macro_rules! catalog {
    ($(
        $(#[doc = $doc:literal])+
        $code:ident $name:ident ( $($arg:ident : $ty:ty),* $(,)? ) $body:block
    )+) => {
        $(
            $(#[doc = $doc])+
            pub fn $name($($arg: $ty),*) -> $crate::diagnostic::Diagnostic {
                // A function of its own, so that a body may return early.
                fn build($($arg: $ty),*) -> $crate::diagnostic::Diagnostic $body
                let mut diagnostic = build($($arg),*);
                diagnostic.code = stringify!($code);
                diagnostic.severity = $crate::diagnostic::Severity::of(stringify!($code));
                diagnostic.slug = stringify!($name);
                diagnostic
            }
        )+
        pub(super) static ENTRIES: &[$crate::diagnostic::Entry] = &[
            $($crate::diagnostic::Entry {
                code: stringify!($code),
                slug: stringify!($name),
                // In browsers they are a file beside the module, loaded when a user asks for one.
                explanation: if cfg!(sim_web) { "" } else { concat!($($doc, "\n"),+) },
            }),+
        ];
    };
}
pub(crate) use catalog;

/// The first of `count` names in a row, and how many more there are.
pub(crate) fn list<'n>(names: impl Iterator<Item = &'n str>, count: usize) -> String {
    const SHOWN: usize = 12;
    let shown: Vec<&str> = names.take(SHOWN).collect();
    match count - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Adds the help line for a name that looks like the one written.
fn did_you_mean(report: Diagnostic, near: Option<&str>) -> Diagnostic {
    match near {
        Some(near) => {
            let name = near.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
            let span = report.span();
            let report = report.help(format!("did you mean `{near}`?"));
            if name {
                report.replace(span, near)
            } else {
                report
            }
        }
        None => report,
    }
}

/// Adds what another language's word means here, or else the name that looks like the one written.
fn meant_or_near(report: Diagnostic, meant: Option<Meant>, near: Option<&str>) -> Diagnostic {
    let span = report.span();
    match meant {
        Some(Meant::Write(word)) => report.help(format!("write `{word}`")).replace(span, word),
        Some(Meant::Call(id)) => meant_or_near(report, Some(Meant::Write(id.row().name)), near),
        Some(Meant::Say(help)) => report.help(help),
        Some(Meant::Omit(why)) => report.help(why).replace(span, ""),
        None => did_you_mean(report, near),
    }
}

/// All complaints, ordered by area.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    [
        syntax::ENTRIES,
        names::ENTRIES,
        types::ENTRIES,
        control::ENTRIES,
        world::ENTRIES,
        test::ENTRIES,
        constants::ENTRIES,
        model::ENTRIES,
        warning::ENTRIES,
    ]
    .into_iter()
    .flatten()
}

/// The complaint with this code (`E0201`) or slug (`unknown_name`), in any case.
pub fn find(code: &str) -> Option<&'static Entry> {
    entries().find(|entry| {
        entry.code.eq_ignore_ascii_case(code) || entry.slug.eq_ignore_ascii_case(code)
    })
}
