//! A `match` over the kinds that the IR is made of names every one of them: whoever adds a kind is led by the
//! compiler to each place that must handle it. Code that asks for one kind writes `if let` or `matches!`.
//!
//! A `match` counts if the pattern of an arm begins with a variant of one of [`KINDS`]. Tuples do not count,
//! whose combinations are too many to be named; the arguments of macros and fields of variants are not
//! looked into.

use super::files;
use proc_macro2::Span;
use syn::{
    Attribute, ExprMatch, ItemMod, Meta, Pat, Path,
    visit::{self, Visit},
};

/// The enums of the IR that grow with it.
const KINDS: [&str; 7] = [
    "BinaryOp", "Expr", "LaneOp", "Launch", "Stmt", "UnaryOp", "VarKind",
];

#[test]
fn matches_over_the_ir_name_every_kind() {
    let mut complaints = Vec::new();
    let mut seen = 0;
    for (path, text) in ["compiler/src", "runtime/src"]
        .into_iter()
        .flat_map(files::sources)
    {
        let place = path.to_string_lossy();
        if place.contains("/tests/") || place.ends_with("/tests.rs") {
            continue;
        }
        let mut matches = Matches::default();
        matches.visit_file(&syn::parse_file(&text).expect("what compiles parses"));
        seen += matches.seen;
        for (span, kind) in matches.open {
            let line = span.start().line;
            complaints.push(format!("{place}:{line}: this arm takes every other {kind}"));
        }
    }
    files::report("arms pass over kinds", complaints);
    assert!(seen > 80, "only {seen} matches were found");
}

/// The `match`es over [`KINDS`] of a file.
#[derive(Default)]
struct Matches {
    seen: usize,
    /// Arms that take whatever is left, and the enum they take it of.
    open: Vec<(Span, &'static str)>,
}

impl<'ast> Visit<'ast> for Matches {
    fn visit_expr_match(&mut self, node: &'ast ExprMatch) {
        if let Some(kind) = node.arms.iter().find_map(|arm| kind_of(&arm.pat)) {
            self.seen += 1;
            for arm in node.arms.iter().filter(|arm| takes_all(&arm.pat)) {
                self.open.push((arm.fat_arrow_token.spans[0], kind));
            }
        }
        visit::visit_expr_match(self, node);
    }

    fn visit_item_mod(&mut self, node: &'ast ItemMod) {
        if !node.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, node);
        }
    }
}

/// Is it `#[cfg(test)]`?
fn is_for_tests(attribute: &Attribute) -> bool {
    matches!(&attribute.meta, Meta::List(list) if list.tokens.to_string() == "test")
}

/// Which of [`KINDS`] a pattern is a variant of.
fn kind_of(pattern: &Pat) -> Option<&'static str> {
    match pattern {
        Pat::Guard(it) => kind_of(&it.pat),
        Pat::Ident(it) => it.subpat.as_ref().and_then(|(_, inner)| kind_of(inner)),
        Pat::Or(it) => it.cases.iter().find_map(kind_of),
        Pat::Paren(it) => kind_of(&it.pat),
        Pat::Path(it) => kind_in(&it.path),
        Pat::Reference(it) => kind_of(&it.pat),
        Pat::Struct(it) => kind_in(&it.path),
        Pat::TupleStruct(it) => kind_in(&it.path),
        _ => None,
    }
}

/// The enum of `…::Expr::Literal`.
fn kind_in(path: &Path) -> Option<&'static str> {
    let owner = path.segments.iter().rev().nth(1)?;
    KINDS.into_iter().find(|kind| owner.ident == kind)
}

/// Is it `_` or a name, with or without a condition?
fn takes_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Guard(it) => takes_all(&it.pat),
        Pat::Ident(it) => it.subpat.is_none(),
        Pat::Paren(it) => takes_all(&it.pat),
        Pat::Reference(it) => takes_all(&it.pat),
        Pat::Wild(_) => true,
        _ => false,
    }
}
