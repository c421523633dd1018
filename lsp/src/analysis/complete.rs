//! Completion: the names and words that are legal at a place, best first.
//!
//! The text is analysed again with a placeholder name at the cursor: so the parser sees a whole expression
//! where the user has only begun one, and the checker knows the type of the value before a `.`.

mod place;

use super::{
    Document, hover,
    testing::{self, Expected},
};
use lsp_types::{
    CompletionItem, CompletionItemKind as Item, CompletionTextEdit, Documentation, InsertTextFormat,
};
use place::{Expects, Place};
use sim_compiler::{
    builtin::{
        Meaning,
        constants::CONSTANTS,
        manual,
        sampled::{FOLDS_OF_AGENTS, FoldOfAgents},
        table,
    },
    names::{Declaration, Kind, Members},
    span::Span,
    syntax::Token,
};

/// Stands at the cursor; no user writes it.
const CURSOR: &str = "cursor__here";

/// What may be written at a place.
pub fn complete(document: &Document, at: usize) -> Vec<CompletionItem> {
    if document.in_comment(at) || in_literal(document, at) {
        return Vec::new();
    }
    let mut word = Span::new(at, at);
    let mut whole = word;
    if let Some((token, span)) = document.word_at(at) {
        word.start = span.start.min(word.start);
        // Before a keyword something else is being written.
        if token == Token::Ident || word.start < word.end {
            whole = span;
        }
    }
    let place = Place::at(document, word);
    let mut list = List {
        document,
        word,
        whole,
        items: Vec::new(),
    };
    match place.expects {
        Expects::Nothing => {}
        Expects::Member => list.members(),
        Expects::Type => list.types(),
        Expects::Method => {
            for (name, doc) in hover::METHODS {
                list.add(name, Item::METHOD, None, doc, '0');
            }
        }
        Expects::Item => list.snippets(place::ITEMS, '0'),
        Expects::WorldItem => {
            let rest = |(name, text): &(&'static str, &'static str)| {
                Some((name.strip_prefix("world ")?, text.strip_prefix("world ")?))
            };
            let legal: Vec<(&str, &str)> = place::ITEMS.iter().filter_map(rest).collect();
            list.snippets(&legal, '0');
        }
        Expects::Statement => {
            let legal = place::STATEMENTS
                .iter()
                .filter(|(word, _)| place.allows(word));
            let legal: Vec<(&str, &str)> = legal.copied().collect();
            list.snippets(&legal, '3');
            list.values(&place);
        }
        Expects::Value => list.values(&place),
        Expects::Every => {
            let (name, doc) = hover::EVERY;
            list.insert(name, "every ${1:10}", Item::KEYWORD, None, doc, '0');
        }
        Expects::InTest(expected) => list.in_test(&place, expected),
        Expects::State => list.names(|found| found.kind == Kind::State && place.sees(found)),
    }
    list.items
}

/// A number or a text is being typed.
fn in_literal(document: &Document, at: usize) -> bool {
    let index = document.token_at(at);
    let found = index.map(|index| document.tokens()[index]);
    found.is_some_and(|(token, span)| {
        let closed = token == Token::Text && at >= span.end as usize;
        matches!(
            token,
            Token::Int | Token::Uint | Token::Float | Token::Text | Token::Hole
        ) && (span.start as usize) < at
            && !closed
    })
}

struct List<'a> {
    document: &'a Document,
    /// What has been typed of the word.
    word: Span,
    /// The word with what stands behind the cursor.
    whole: Span,
    items: Vec<CompletionItem>,
}

impl List<'_> {
    fn add(&mut self, name: &str, kind: Item, detail: Option<String>, doc: &str, rank: char) {
        self.insert(name, name, kind, detail, doc, rank);
    }

    /// `text` may be a snippet, with `$1` where the cursor goes.
    fn insert(
        &mut self,
        name: &str,
        text: &str,
        kind: Item,
        detail: Option<String>,
        doc: &str,
        rank: char,
    ) {
        let format = if text.contains('$') {
            InsertTextFormat::SNIPPET
        } else {
            InsertTextFormat::PLAIN_TEXT
        };
        let doc = doc.to_owned();
        self.items.push(CompletionItem {
            label: name.to_owned(),
            kind: Some(kind),
            detail,
            documentation: (!doc.is_empty())
                .then(|| Documentation::MarkupContent(hover::markdown(doc))),
            sort_text: Some(format!("{rank}{name}")),
            insert_text_format: Some(format),
            text_edit: Some(CompletionTextEdit::Edit(
                self.document.edit(self.word, text),
            )),
            ..CompletionItem::default()
        });
    }

    /// The document with our name where the word is.
    fn surveyed(&self) -> Document {
        let edit = (self.whole, CURSOR.to_owned());
        Document::new(self.document.with(&[edit]))
    }

    fn members(&mut self) {
        let whole = self.surveyed();
        let start = self.word.start as usize;
        let place = Span::new(start, start + CURSOR.len());
        match whole.names().members.get(&place) {
            Some(Members::Components(count)) => self.components(*count),
            Some(Members::OfAgent) => {
                self.declared(&whole, |declaration| {
                    matches!(declaration.kind, Kind::State | Kind::Input) && !declaration.of_world
                });
                for (name, doc) in hover::OF_AGENT {
                    self.add(name, Item::FIELD, Some("i32".to_owned()), doc, '2');
                }
            }
            Some(Members::OfWorld) => {
                let (name, doc) = hover::NUMBER;
                self.add(name, Item::FIELD, Some("i32".to_owned()), doc, '0');
            }
            Some(Members::Of(owner)) => {
                let Some(owner) = whole.names().declared_at(*owner) else {
                    return;
                };
                for part in whole.names().parts_of(owner) {
                    let kind = match part.kind {
                        Kind::Variant => Item::ENUM_MEMBER,
                        _ => Item::FIELD,
                    };
                    self.add(&part.name, kind, part.ty.clone(), &part.doc, '0');
                }
            }
            None => {}
        }
    }

    fn in_test(&mut self, place: &Place, expected: Expected) {
        match expected {
            Expected::Part => self.snippets(testing::PARTS, '0'),
            Expected::NameOf(word) => {
                let kind = match word {
                    Token::Param => Kind::Param,
                    Token::Data => Kind::Data,
                    _ => Kind::Input,
                };
                self.names(|found| found.kind == kind);
            }
            Expected::Value => {
                self.results();
                self.values(place);
            }
            Expected::Within => {
                let doc = "How far off a value may be.";
                self.insert("within", "within ${1:4 se}", Item::KEYWORD, None, doc, '0');
            }
            Expected::Nothing => {}
        }
    }

    /// What an `expect` looks at, and what combines it.
    fn results(&mut self) {
        let whole = self.surveyed();
        for declaration in &whole.names().declarations {
            let kinds = [Kind::Output, Kind::Record, Kind::Observation];
            if kinds.contains(&declaration.kind) {
                let detail = Some(hover::head(&whole, declaration));
                self.add(
                    &declaration.name,
                    Item::FIELD,
                    detail,
                    &declaration.doc,
                    '0',
                );
            }
        }
        let own = testing::CALLS;
        for (name, signature, doc) in own {
            let detail = Some(signature.to_owned());
            self.insert(
                name,
                &format!("{name}($1)"),
                Item::FUNCTION,
                detail,
                doc,
                '0',
            );
        }
        for fold in FOLDS_OF_AGENTS {
            if !matches!(fold.name, "quantiles" | "histogram") {
                let text = format!("{}($1)", fold.name);
                let detail = Some(fold.signature());
                self.insert(fold.name, &text, Item::FUNCTION, detail, fold.doc, '0');
            }
        }
    }

    /// Components and the swizzles that take the first few in order.
    fn components(&mut self, count: usize) {
        for set in ["xyzw", "rgba"] {
            let rank = if set == "xyzw" { '0' } else { '2' };
            for index in 0..count {
                let name = &set[index..=index];
                self.add(name, Item::FIELD, Some("f32".to_owned()), "", rank);
            }
        }
        for length in 2..=count {
            let ty = Some(format!("vec{length}"));
            self.add(&"xyzw"[..length], Item::FIELD, ty, "", '1');
        }
    }

    fn types(&mut self) {
        for (name, doc) in hover::TYPES {
            self.add(name, Item::KEYWORD, None, doc, '1');
        }
        self.names(|found| matches!(found.kind, Kind::Struct | Kind::Enum));
    }

    fn snippets(&mut self, rows: &[(&str, &str)], rank: char) {
        for (name, text) in rows {
            let kind = if text.contains('$') {
                Item::SNIPPET
            } else {
                Item::KEYWORD
            };
            self.insert(name, text, kind, None, "", rank);
        }
    }

    fn values(&mut self, place: &Place) {
        if place.wants_fold() {
            for fold in &FOLDS_OF_AGENTS {
                let text = match fold.name {
                    "quantiles" => "quantiles(${1:value}, ${2:0.1, 0.5, 0.9})",
                    "histogram" => "histogram(${1:value}, ${2:0.0}, ${3:1.0}, ${4:20})",
                    name => &format!("{name}(${{1:value}})"),
                };
                let detail = Some(fold.signature());
                let doc = hover::of_agents(fold);
                self.insert(fold.name, text, Item::FUNCTION, detail, &doc, '0');
            }
            // A population has no other values.
            if !place.of_world() {
                return;
            }
        }
        self.names(|found| place.reads(found.kind) && place.sees(found));
        for row in table::rows() {
            let draws = matches!(row.meaning, Meaning::Draw(_));
            let folds = place.wants_fold() || matches!(place.expects, Expects::InTest(_));
            let offered = folds && FoldOfAgents::of(row.name).is_some();
            if offered || draws && !place.draws() {
                continue;
            }
            let text = if row.params.is_empty() {
                format!("{}()", row.name)
            } else {
                format!("{}($1)", row.name)
            };
            let doc = hover::builtin(row);
            let detail = Some(manual::signature(row));
            self.insert(row.name, &text, Item::FUNCTION, detail, &doc, '4');
        }
        for (name, doc) in hover::TYPES {
            self.insert(name, &format!("{name}($1)"), Item::FUNCTION, None, doc, '5');
        }
        for constant in &CONSTANTS {
            if self.items.iter().any(|item| item.label == constant.name) {
                continue;
            }
            let detail = Some("f32".to_owned());
            self.add(constant.name, Item::CONSTANT, detail, constant.doc, '4');
        }
        let launch = hover::LAUNCH.iter().filter(|_| place.reads(Kind::Param));
        for (name, doc) in launch.filter(|(name, _)| place.has_launch(name)) {
            self.add(name, Item::VARIABLE, Some("i32".to_owned()), doc, '3');
        }
        if place.reads_agents() {
            let (name, doc) = hover::WORLD;
            self.add(name, Item::KEYWORD, None, doc, '3');
        }
        for name in ["true", "false"] {
            self.add(name, Item::KEYWORD, None, "", '5');
        }
        if place.expects == Expects::Value {
            let text = "if $1 { $2 } else { $3 }";
            self.insert("if", text, Item::SNIPPET, None, "", '5');
        }
    }

    /// The declarations in scope of these kinds; an inner one hides an outer one of its name.
    fn names(&mut self, wanted: impl Fn(&Declaration) -> bool) {
        let whole = self.surveyed();
        self.declared(&whole, wanted);
    }

    /// The same, of the document that was surveyed.
    fn declared(&mut self, whole: &Document, wanted: impl Fn(&Declaration) -> bool) {
        let at = self.word.start as usize;
        let mut visible: Vec<usize> = whole.names().all_visible(at).into_values().collect();
        visible.sort_unstable();
        for declaration in visible.into_iter().map(|index| whole.declaration(index)) {
            let name = &declaration.name;
            if !wanted(declaration) || name == CURSOR {
                continue;
            }
            let (kind, rank) = match declaration.kind {
                Kind::Const => (Item::CONSTANT, '1'),
                Kind::Function => (Item::FUNCTION, '2'),
                Kind::Struct => (Item::STRUCT, '2'),
                Kind::Enum => (Item::ENUM, '2'),
                Kind::Variant => (Item::ENUM_MEMBER, '1'),
                Kind::Param | Kind::Data | Kind::Input => (Item::PROPERTY, '1'),
                kind if kind.is_local() => (Item::VARIABLE, '0'),
                _ => (Item::VARIABLE, '1'),
            };
            let detail = Some(hover::head(whole, declaration));
            let doc = declaration.doc.clone();
            if declaration.kind == Kind::Function {
                self.insert(name, &format!("{name}($1)"), kind, detail, &doc, rank);
            } else {
                self.add(name, kind, detail, &doc, rank);
            }
        }
    }
}
