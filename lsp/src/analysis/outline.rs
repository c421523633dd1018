//! The outline of a file: its symbols, what folds, and inlay hints for inferred types.

use super::Document;
use lsp_types::{
    DocumentSymbol, FoldingRange, FoldingRangeKind, InlayHint, InlayHintKind, InlayHintLabel,
    Range, SymbolKind,
};
use sim_compiler::{
    names::{Declaration, Kind},
    span::Span,
    syntax::{Token, ast::ItemKind},
};

/// The declarations and blocks of the top level, with fields and variants.
pub fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let names = document.names();
    let all = names.declarations.iter().enumerate();
    let mut found: Vec<DocumentSymbol> = all
        .filter(|(_, declaration)| !declaration.kind.is_local() && declaration.owner.is_none())
        .map(|(index, declaration)| {
            let parts = names.parts_of(index);
            let parts = parts.filter(|part| part.kind != Kind::Parameter);
            let children: Vec<DocumentSymbol> = parts
                .map(|part| declared(document, part, Vec::new()))
                .collect();
            declared(document, declaration, children)
        })
        .collect();
    for item in &document.survey().tree.items {
        let name = match &item.kind {
            ItemKind::Init(_) => "init",
            ItemKind::Step { .. } if item.of_world => "world step",
            ItemKind::Step { .. } => "step",
            ItemKind::Finish(_) => "finish",
            _ => continue,
        };
        let start = item.span.start;
        // More than one blank may stand behind `world`.
        let first = name.split(' ').next().unwrap_or(name);
        let word = Span::new(start as usize, start as usize + first.len());
        found.push(symbol(
            document,
            name,
            None,
            SymbolKind::EVENT,
            item.span,
            word,
        ));
    }
    found.sort_by_key(|symbol| symbol.range.start);
    found
}

fn declared(
    document: &Document,
    declaration: &Declaration,
    children: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let kind = match declaration.kind {
        Kind::Const => SymbolKind::CONSTANT,
        Kind::Param | Kind::Data | Kind::Input => SymbolKind::PROPERTY,
        Kind::Output | Kind::Record | Kind::Observation => SymbolKind::INTERFACE,
        Kind::Test => SymbolKind::EVENT,
        Kind::Function => SymbolKind::FUNCTION,
        Kind::Struct => SymbolKind::STRUCT,
        Kind::Enum => SymbolKind::ENUM,
        Kind::Field => SymbolKind::FIELD,
        Kind::Variant => SymbolKind::ENUM_MEMBER,
        _ => SymbolKind::VARIABLE,
    };
    let detail = match &declaration.ty {
        Some(ty) => format!("{}: {ty}", declaration.describe()),
        None => declaration.describe(),
    };
    let (whole, span) = (declaration.whole.to(declaration.span), declaration.span);
    let mut found = symbol(document, &declaration.name, Some(detail), kind, whole, span);
    found.children = (!children.is_empty()).then_some(children);
    found
}

#[allow(
    deprecated,
    reason = "the protocol's type has a field that it calls deprecated"
)]
fn symbol(
    document: &Document,
    name: &str,
    detail: Option<String>,
    kind: SymbolKind,
    whole: Span,
    span: Span,
) -> DocumentSymbol {
    DocumentSymbol {
        name: name.to_owned(),
        detail,
        kind,
        tags: None,
        deprecated: None,
        range: document.range(whole),
        selection_range: document.range(span),
        children: None,
    }
}

/// Blocks, lists in brackets and runs of comments that go over several lines.
pub fn folds(document: &Document) -> Vec<FoldingRange> {
    let mut open: Vec<Span> = Vec::new();
    let mut found = Vec::new();
    let mut fold = |start: u32, end: u32, kind: FoldingRangeKind| {
        if end > start {
            found.push(FoldingRange {
                start_line: start,
                end_line: end,
                kind: Some(kind),
                ..FoldingRange::default()
            });
        }
    };
    let line = |at: u32| document.position(at as usize).line;
    for (token, span) in document.tokens() {
        if token.opens() {
            open.push(*span);
        } else if token.closes()
            && let Some(start) = open.pop()
        {
            // The line of the closing bracket stays in sight.
            let end = line(span.start).saturating_sub(1);
            fold(line(start.start), end, FoldingRangeKind::Region);
        }
    }
    let mut run: Option<(u32, u32)> = None;
    for span in document.comments() {
        let (first, last) = (line(span.start), line(span.end));
        run = match run {
            Some((start, end)) if first == end + 1 => Some((start, last)),
            Some((start, end)) => {
                fold(start, end, FoldingRangeKind::Comment);
                Some((first, last))
            }
            None => Some((first, last)),
        };
    }
    if let Some((start, end)) = run {
        fold(start, end, FoldingRangeKind::Comment);
    }
    found.sort_by_key(|fold| (fold.start_line, fold.end_line));
    found
}

/// The inferred types of declarations in a range.
pub fn hints(document: &Document, range: Range) -> Vec<InlayHint> {
    let within = document.span(range);
    let declarations = document.names().declarations.iter();
    let mut found: Vec<&Declaration> = declarations
        .filter(|declaration| {
            let carries = matches!(
                declaration.kind,
                Kind::Let | Kind::Var | Kind::State | Kind::Input | Kind::Param
            );
            carries
                && !declaration.typed
                && within.start <= declaration.span.start
                && declaration.span.end <= within.end
        })
        .collect();
    found.sort_by_key(|declaration| declaration.span);
    let hint = |declaration: &Declaration| {
        // An agent is of no type that could be written.
        let ty = declaration.ty.clone().filter(|ty| ty != "agent")?;
        let position = document.position(declaration.span.end as usize);
        let label = format!(": {ty}");
        Some(InlayHint {
            position,
            label: InlayHintLabel::String(label.clone()),
            kind: Some(InlayHintKind::TYPE),
            text_edits: Some(vec![lsp_types::TextEdit::new(
                Range::new(position, position),
                label,
            )]),
            tooltip: None,
            padding_left: None,
            padding_right: None,
            data: None,
        })
    };
    found.into_iter().filter_map(hint).collect()
}

/// What begins a declaration of the top level.
pub(super) fn begins_item(token: Token) -> bool {
    (Token::Agents as u8..=Token::Record as u8).contains(&(token as u8))
}
