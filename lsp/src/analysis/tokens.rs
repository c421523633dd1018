//! Semantic tokens: the class of every word of a text.

use super::{Document, hover, testing};
use lsp_types::{SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokensLegend};
use sim_compiler::{
    builtin::{BuiltinId, constants::NamedConstant, sampled::FoldOfAgents},
    names::Kind,
    span::Span,
    syntax::Token,
};

const TYPES: [SemanticTokenType; 15] = [
    SemanticTokenType::KEYWORD,
    SemanticTokenType::COMMENT,
    SemanticTokenType::NUMBER,
    SemanticTokenType::OPERATOR,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::FUNCTION,
    SemanticTokenType::STRUCT,
    SemanticTokenType::ENUM,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::TYPE,
    // `param`, `data` and `input`: what a launch sets.
    SemanticTokenType::MACRO,
    SemanticTokenType::METHOD,
    SemanticTokenType::STRING,
];
const MODIFIERS: [SemanticTokenModifier; 4] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::DEFAULT_LIBRARY,
    SemanticTokenModifier::DOCUMENTATION,
];
const DECLARATION: u32 = 1;
const READONLY: u32 = 2;
const LIBRARY: u32 = 4;
const DOCUMENTATION: u32 = 8;

/// The names of the classes, in the order of their numbers.
pub fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend {
        token_types: TYPES.to_vec(),
        token_modifiers: MODIFIERS.to_vec(),
    }
}

/// A word's place, the number of its class in [`legend`], and the bits of its modifiers there.
pub type Classified = (Span, u32, u32);

/// The classes of all words, comments included, in their order; none goes over a line's end.
pub fn classes(document: &Document) -> Vec<Classified> {
    let number = |class: SemanticTokenType| {
        let found = TYPES.iter().position(|known| *known == class);
        found.unwrap_or(0) as u32
    };
    let mut classes = Vec::new();
    for span in document.comments() {
        let text = document.slice(*span);
        let documents = text.starts_with("///") || text.starts_with("//!");
        let modifiers = if documents { DOCUMENTATION } else { 0 };
        for line in lines(text, span.start) {
            classes.push((line, number(SemanticTokenType::COMMENT), modifiers));
        }
    }
    for (index, (token, span)) in document.tokens().iter().enumerate() {
        if let Some((class, modifiers)) = class(document, index, *token, *span) {
            classes.push((*span, number(class), modifiers));
        }
    }
    classes.sort_by_key(|(span, ..)| *span);
    classes
}

/// The same as the protocol encodes it.
pub fn tokens(document: &Document) -> Vec<SemanticToken> {
    let classes = classes(document);
    let mut last = lsp_types::Position::default();
    let mut encoded = Vec::with_capacity(classes.len());
    for (span, class, modifiers) in classes {
        let range = document.range(span);
        // A token never goes over a line's end.
        let same = range.start.line == last.line;
        encoded.push(SemanticToken {
            delta_line: range.start.line - last.line,
            delta_start: range.start.character - if same { last.character } else { 0 },
            length: range.end.character.saturating_sub(range.start.character),
            token_type: class,
            token_modifiers_bitset: modifiers,
        });
        last = range.start;
    }
    encoded
}

/// The lines of a comment: clients take no token that goes over several.
fn lines(text: &str, start: u32) -> impl Iterator<Item = Span> {
    let mut at = start as usize;
    text.split('\n').filter_map(move |line| {
        let start = at + line.len() - line.trim_start().len();
        let end = at + line.trim_end().len();
        at += line.len() + 1;
        (start < end).then(|| Span::new(start, end))
    })
}

fn class(
    document: &Document,
    index: usize,
    token: Token,
    span: Span,
) -> Option<(SemanticTokenType, u32)> {
    let next = document.tokens().get(index + 1).map(|(token, _)| *token);
    Some(match token {
        Token::Int | Token::Uint | Token::Float => (SemanticTokenType::NUMBER, 0),
        Token::Text => (SemanticTokenType::STRING, 0),
        Token::Step | Token::Var if next == Some(Token::LeftParen) => {
            (SemanticTokenType::FUNCTION, LIBRARY)
        }
        Token::Ident => return name(document, span, next),
        token if token.is_keyword() => (SemanticTokenType::KEYWORD, 0),
        Token::Hole => return None,
        token if token.opens() || token.closes() => return None,
        Token::Comma | Token::Semicolon | Token::Colon | Token::Dot => return None,
        _ => (SemanticTokenType::OPERATOR, 0),
    })
}

fn name(document: &Document, span: Span, next: Option<Token>) -> Option<(SemanticTokenType, u32)> {
    let text = document.slice(span);
    let called = next == Some(Token::LeftParen);
    if called && (BuiltinId::find(text).is_some() || FoldOfAgents::of(text).is_some()) {
        return Some((SemanticTokenType::FUNCTION, LIBRARY));
    }
    if called && testing::fold(document, span).is_some() {
        return Some((SemanticTokenType::FUNCTION, LIBRARY));
    }
    if document.is_every(span) || testing::word(document, span).is_some() {
        return Some((SemanticTokenType::KEYWORD, 0));
    }
    if let Some(index) = document.names().meant_at(span) {
        let declaration = document.declaration(index);
        let own = if declaration.span == span {
            DECLARATION
        } else {
            0
        };
        let (class, modifiers) = match declaration.kind {
            Kind::Const => (SemanticTokenType::VARIABLE, READONLY),
            Kind::Param | Kind::Data | Kind::Input => (SemanticTokenType::MACRO, READONLY),
            Kind::State | Kind::Var => (SemanticTokenType::VARIABLE, 0),
            Kind::Let | Kind::Index | Kind::Step => (SemanticTokenType::VARIABLE, READONLY),
            Kind::Output | Kind::Record | Kind::Observation | Kind::Field => {
                (SemanticTokenType::PROPERTY, 0)
            }
            Kind::Test => (SemanticTokenType::STRING, 0),
            Kind::Function => (SemanticTokenType::FUNCTION, 0),
            Kind::Struct => (SemanticTokenType::STRUCT, 0),
            Kind::Enum => (SemanticTokenType::ENUM, 0),
            Kind::Variant => (SemanticTokenType::ENUM_MEMBER, READONLY),
            Kind::Parameter => (SemanticTokenType::PARAMETER, READONLY),
        };
        return Some((class, own | modifiers));
    }
    let known = |rows: &[(&str, &str)]| rows.iter().any(|(name, _)| *name == text);
    if known(&hover::TYPES) {
        return Some((SemanticTokenType::TYPE, LIBRARY));
    }
    if document.names().members.contains_key(&span) {
        return Some((SemanticTokenType::PROPERTY, 0));
    }
    if known(&hover::METHODS) && called {
        return Some((SemanticTokenType::METHOD, LIBRARY));
    }
    if known(&hover::LAUNCH) || NamedConstant::of(text).is_some() {
        return Some((SemanticTokenType::VARIABLE, READONLY | LIBRARY));
    }
    (text == "limit").then_some((SemanticTokenType::KEYWORD, 0))
}
