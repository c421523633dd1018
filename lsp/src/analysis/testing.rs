//! The words of tests, which are names everywhere else, and what may be written where in a test.

use super::{Document, hover::first_on_line};
use sim_compiler::{
    builtin::sampled::FoldOfAgents,
    span::Span,
    syntax::{Token, ast::ItemKind},
};

/// The words, with what they mean.
pub(super) const WORDS: [(&str, &str); 6] = [
    (
        "test",
        "A test of the model, which `simc test` runs: `test \"name\" { … }`. It changes nothing of the \
         model.",
    ),
    (
        "seed",
        "The seed of all draws of the test; 0 where nothing is said.",
    ),
    (
        "expect",
        "What must be true of the run: `expect mean(x) ~ 8.02 within 0.05`, `expect all(x > 0.0)`, `expect \
         at(infected, 10) in 0.1..0.2`.",
    ),
    (
        "within",
        "How far off a value may be: `within 0.05`, `within 1 %` of the value that is expected, `within 4 \
         se`.",
    ),
    (
        "se",
        "Standard errors of the mean on the left: of independent agents, or of the means of worlds.",
    ),
    ("from", "A file that the test reads, relative to the model."),
];

/// What only a test can call.
pub(super) const CALLS: [(&str, &str, &str); 2] = [
    (
        "at",
        "at(series, step)",
        "The sample of a series after so many steps; `mean(at(x, 10))` combines what was recorded of agents.",
    ),
    (
        "quantile",
        "quantile(x, p)",
        "The value at the fraction p of the sorted values, 0.5 for the median.",
    ),
];

/// The parts of a test, as snippets.
pub(super) const PARTS: &[(&str, &str)] = &[
    ("agents", "agents ${1:10_000}"),
    ("steps", "steps ${1:100}"),
    ("world", "world ${1:1_000}"),
    ("seed", "seed ${1:7}"),
    ("param", "param ${1:name} = ${2:0.5}"),
    ("data", "data ${1:name} from \"${2:table.csv}\""),
    ("input", "input ${1:name} = ${2:0.0}"),
    (
        "expect",
        "expect ${1:mean}(${2:x}) ~ ${3:1.0} within ${4:4 se}",
    ),
];

/// What belongs at a place of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    Part,
    /// The name of what `param`, `data` or `input` declares.
    NameOf(Token),
    Value,
    /// Behind a value.
    Within,
    Nothing,
}

/// What the word at a place means, if it is one of a test.
pub(super) fn word(document: &Document, span: Span) -> Option<&'static str> {
    let name = document.slice(span);
    let row = WORDS.iter().find(|(known, _)| *known == name)?;
    let mut items = document.survey().tree.items.iter();
    let test = items.find(|item| item.span.start <= span.start && span.end <= item.span.end)?;
    let ItemKind::Test(tree) = &test.kind else {
        return None;
    };
    let inside = tree.body.start <= span.start && document.names().meant_at(span).is_none();
    let begins = span.start == test.span.start;
    (if name == "test" { begins } else { inside }).then_some(row.1)
}

/// Is this the name before `(` of what combines values of a run, in a test?
pub(super) fn fold(document: &Document, span: Span) -> Option<(String, &'static str)> {
    let tests = document.survey().tree.items.iter();
    let mut tests = tests.filter(|item| matches!(item.kind, ItemKind::Test(_)));
    tests.find(|item| item.span.start <= span.start && span.end <= item.span.end)?;
    let name = document.slice(span);
    let own = CALLS.iter().find(|(known, ..)| *known == name);
    let own = own.map(|(_, signature, doc)| ((*signature).to_owned(), *doc));
    own.or_else(|| FoldOfAgents::of(name).map(|fold| (fold.signature(), fold.doc)))
}

/// What belongs behind these tokens, if they end inside a test.
pub(super) fn expected(
    document: &Document,
    before: &[(Token, Span)],
    word: Span,
) -> Option<Expected> {
    let start = open_test(document, before)?;
    let (last, place) = *before.last()?;
    let fresh = first_on_line(document, word);
    let value = matches!(
        last,
        Token::Int
            | Token::Uint
            | Token::Float
            | Token::Text
            | Token::True
            | Token::False
            | Token::Ident
            | Token::Percent
    ) || last.closes();
    let begins = matches!(document.slice(place), "expect" | "seed" | "within" | "from");
    Some(match last {
        Token::LeftBrace if before.len() == start => Expected::Part,
        Token::Param | Token::Data | Token::Input => Expected::NameOf(last),
        Token::Ident if document.slice(place) == "from" => Expected::Nothing,
        _ if begins => Expected::Value,
        _ if value && fresh => Expected::Part,
        Token::Percent => Expected::Value,
        _ if value => Expected::Within,
        _ => Expected::Value,
    })
}

/// How many tokens there are up to the brace of the test that the tokens end in.
fn open_test(document: &Document, before: &[(Token, Span)]) -> Option<usize> {
    let mut open = None;
    let mut depth = 0u32;
    for (index, (token, span)) in before.iter().enumerate() {
        let next = |ahead: usize| before.get(index + ahead).map(|(token, _)| *token);
        let begins = *token == Token::Ident
            && next(1) == Some(Token::Text)
            && next(2) == Some(Token::LeftBrace)
            && document.slice(*span) == "test";
        match token {
            _ if begins && (depth == 0 || span.start == 0 || at_margin(document, *span)) => {
                (open, depth) = (Some(index + 3), 0);
            }
            Token::LeftBrace => depth += 1,
            Token::RightBrace => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    open = None;
                }
            }
            _ => {}
        }
    }
    open
}

fn at_margin(document: &Document, span: Span) -> bool {
    let before = &document.text().as_bytes()[..span.start as usize];
    before.last() == Some(&b'\n')
}
