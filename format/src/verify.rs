//! Checks that formatting changed only what it may, before a result leaves the crate.

use crate::script::Script;
use sim_compiler::syntax::{self, ast::Model, print};

/// Whether the result says what the source says: the same words and comments in the same order, and the
/// same tree.
///
/// # Errors
/// What differs.
pub(crate) fn verify(
    source: &Script<'_>,
    model: &Model,
    result: &Script<'_>,
    text: &str,
) -> Result<(), String> {
    if let Some(at) = difference(&source.words, &result.words) {
        let word = source.words.get(at).map_or("the end", |word| word.text);
        return Err(format!("word {at}, `{word}`, would change"));
    }
    if let Some(at) = difference(&texts(source), &texts(result)) {
        let comment = source
            .remarks
            .get(at)
            .map_or("the end", |remark| remark.text);
        return Err(format!("comment {at}, `{comment}`, would change"));
    }
    let parsed = syntax::parse(text);
    if !parsed.diagnostics.is_empty() || print::ast(&parsed.model) != print::ast(model) {
        return Err("the tree would change".to_owned());
    }
    Ok(())
}

fn texts<'a>(script: &Script<'a>) -> Vec<&'a str> {
    script.remarks.iter().map(|remark| remark.text).collect()
}

/// The first place where two lists differ.
fn difference<T: PartialEq>(left: &[T], right: &[T]) -> Option<usize> {
    let same = left.iter().zip(right).take_while(|(l, r)| l == r).count();
    (same < left.len().max(right.len())).then_some(same)
}
