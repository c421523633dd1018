//! The grammar of the Sim language for [tree-sitter](https://tree-sitter.github.io), and its queries.

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_sim() -> *const ();
}

/// The grammar, as `tree_sitter::Parser::set_language` takes it.
// SAFETY: the generated parser exports this function, and it returns its language.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_sim) };

/// What to highlight as what.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");

/// Which name means which.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");

/// What there is to jump to.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");
