//! The tree-sitter grammar against the compiler: it reads every legal file, cuts it into the same tokens,
//! and its queries name each of them once.

use super::files;
use sim_compiler::{
    syntax::{self, Token},
    words::{Role, Word, words},
};
use std::{collections::BTreeSet, ops::Range, path::Path};
use tree_sitter::{Language, Node, Parser, Query, QueryCursor, StreamingIterator, Tree};

const LEGAL: [&str; 3] = ["lang-examples", "tests/run", "tests/language"];
const HIGHLIGHTS: [&str; 3] = [
    "tree-sitter-sim/queries/highlights.scm",
    "helix/queries/sim/highlights.scm",
    "zed/languages/sim/highlights.scm",
];

fn language() -> Language {
    tree_sitter_sim::LANGUAGE.into()
}

fn parse(source: &str) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&language())
        .expect("a language of this version");
    parser.parse(source, None).expect("a tree")
}

fn read(path: &str) -> String {
    let path = files::root().join("editors").join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn legal() -> impl Iterator<Item = (String, String)> {
    LEGAL.into_iter().flat_map(|folder| {
        let named = move |(name, text)| (format!("{folder}/{name}.sim"), text);
        files::models(folder).into_iter().map(named)
    })
}

/// The nodes that stand for one token each: leaves, and floats, whose point may be one.
fn tokens<'t>(node: Node<'t>, found: &mut Vec<Node<'t>>) {
    if node.child_count() == 0 || node.kind() == "float" {
        found.push(node);
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        tokens(child, found);
    }
}

/// What a query captures: the place, the name.
fn captures(query: &Query, tree: &Tree, source: &str) -> Vec<(Range<usize>, String)> {
    let mut cursor = QueryCursor::new();
    let mut found = Vec::new();
    let mut all = cursor.captures(query, tree.root_node(), source.as_bytes());
    while let Some((matched, index)) = all.next() {
        let capture = matched.captures()[*index];
        let name = query.capture_names()[capture.index as usize].to_owned();
        found.push((capture.node.byte_range(), name));
    }
    found
}

#[test]
fn legal_files_have_the_tokens_of_the_compiler() {
    let mut complaints = Vec::new();
    for (name, source) in legal() {
        let tree = parse(&source);
        if tree.root_node().has_error() {
            complaints.push(format!("{name}: {}", tree.root_node().to_sexp()));
            continue;
        }
        let mut nodes = Vec::new();
        tokens(tree.root_node(), &mut nodes);
        nodes.retain(|node| !node.kind().ends_with("comment"));
        let got = nodes.iter().map(|node| node.byte_range());
        let wanted = syntax::tokens(&source)
            .into_iter()
            .map(|(_, span)| span.range());
        if !got.eq(wanted) {
            complaints.push(format!("{name}: other tokens than the compiler's"));
        }
    }
    files::report("files are read wrongly", complaints);
}

#[test]
fn every_token_is_highlighted_once() {
    let mut complaints = BTreeSet::new();
    for path in HIGHLIGHTS {
        let query = Query::new(&language(), &read(path)).expect(path);
        for (name, source) in legal() {
            let tree = parse(&source);
            let captured = captures(&query, &tree, &source);
            let mut nodes = Vec::new();
            tokens(tree.root_node(), &mut nodes);
            for node in nodes {
                let place = node.byte_range();
                let names: Vec<&String> = captured
                    .iter()
                    .filter(|(range, _)| *range == place)
                    .map(|(_, name)| name)
                    .collect();
                if names.len() != 1 {
                    let text = &source[place];
                    complaints.insert(format!("{path}: {name}: `{text}`: {names:?}"));
                }
            }
        }
    }
    files::report(
        "tokens are not highlighted once",
        complaints.into_iter().collect(),
    );
}

/// What a capture may be called for a token, by the compiler's table; nothing where only the tree can say.
fn expected(token: Token, text: &str, next: Option<Token>) -> &'static [&'static str] {
    let has = |role: Role| words().any(|word: Word| word.role == role && word.text == text);
    let called = next == Some(Token::LeftParen);
    match token {
        Token::Int | Token::Uint => &["number"],
        Token::Float => &["number.float"],
        Token::True | Token::False => &["boolean"],
        Token::Agents | Token::Steps | Token::World => &["keyword", "variable.builtin"],
        Token::Step | Token::Var if called => &["function.builtin"],
        Token::Bitcast => &["function.builtin"],
        Token::Fn => &["keyword.function"],
        Token::Struct | Token::Enum => &["keyword.type"],
        _ if has(Role::Conditional) => &["keyword.conditional"],
        Token::For | Token::In | Token::While => &["keyword.repeat"],
        _ if has(Role::Jump) => &["keyword.return"],
        _ if token.is_keyword() => &["keyword"],
        Token::Ident if has(Role::Type) => &["type.builtin"],
        Token::Ident if called && (has(Role::Function) || has(Role::Fold) || has(Role::Draw)) => {
            &["function.builtin"]
        }
        Token::Ident if text == "agent" => &["variable.builtin", "variable.member"],
        Token::Less | Token::Greater => &["operator", "punctuation.bracket"],
        Token::Prime | Token::FatArrow | Token::Arrow | Token::DotDot => &["operator"],
        _ if token.is_operator() => &["operator"],
        _ if token.opens() || token.closes() => &["punctuation.bracket"],
        Token::Comma | Token::Semicolon | Token::Colon | Token::Dot => &["punctuation.delimiter"],
        _ => &[],
    }
}

#[test]
fn kinds_of_tokens_are_told_apart() {
    let query = Query::new(&language(), tree_sitter_sim::HIGHLIGHTS_QUERY).expect("a query");
    let mut complaints = BTreeSet::new();
    let mut seen = BTreeSet::new();
    for (name, source) in legal() {
        let tree = parse(&source);
        let captured = captures(&query, &tree, &source);
        seen.extend(captured.iter().map(|(_, name)| name.clone()));
        let tokens = syntax::tokens(&source);
        for (index, (token, span)) in tokens.iter().enumerate() {
            let text = &source[span.range()];
            let next = tokens.get(index + 1).map(|(token, _)| *token);
            let wanted = expected(*token, text, next);
            let row = captured.iter().find(|(range, _)| *range == span.range());
            let got = row.map_or("nothing", |(_, name)| name.as_str());
            if !wanted.is_empty() && !wanted.contains(&got) {
                complaints.insert(format!("{name}: `{text}` is {got}, not {wanted:?}"));
            }
        }
    }
    files::report(
        "tokens are taken for others",
        complaints.into_iter().collect(),
    );
    for name in query.capture_names() {
        assert!(seen.contains(*name), "no legal file has a {name}");
    }
}

#[test]
fn the_grammar_has_the_words_of_the_compiler() {
    let language = language();
    let kinds = (0..language.node_kind_count() as u16)
        .filter(|id| !language.node_kind_is_named(*id))
        .filter_map(|id| language.node_kind_for_id(id));
    let got: BTreeSet<&str> = kinds.filter(|kind| *kind != "end").collect();
    let own = |word: &Word| {
        let other = [
            Role::Reserved,
            Role::Type,
            Role::Value,
            Role::Method,
            Role::Function,
            Role::Fold,
            Role::Draw,
        ];
        !other.contains(&word.role)
    };
    let mut wanted: BTreeSet<&str> = words().filter(own).map(|word| word.text).collect();
    let signs = Token::written().filter(|token| !token.is_keyword());
    let foreign = [
        Token::PlusPlus,
        Token::MinusMinus,
        Token::Question,
        Token::Underscore,
    ];
    wanted.extend(
        signs
            .filter(|token| !foreign.contains(token))
            .filter_map(Token::text),
    );
    // These stand as nodes of their own.
    for word in ["true", "false", "break", "continue", "stop"] {
        assert!(wanted.remove(word), "`{word}`");
    }
    let got: BTreeSet<&str> = got
        .into_iter()
        .filter(|kind| wanted.contains(kind))
        .collect();
    assert_eq!(
        got, wanted,
        "words of the grammar, and words of the compiler"
    );
}

/// The queries of all editors name nodes and fields that there are.
#[test]
fn queries_fit_the_grammar() {
    let mut count = 0;
    for folder in [
        "tree-sitter-sim/queries",
        "helix/queries/sim",
        "zed/languages/sim",
    ] {
        let path = files::root().join("editors").join(folder);
        for entry in std::fs::read_dir(path).expect(folder).flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".scm") {
                let path = format!("{folder}/{name}");
                Query::new(&language(), &read(&path))
                    .unwrap_or_else(|error| panic!("{path}: {error}"));
                count += 1;
            }
        }
    }
    assert!(count >= 12, "{count} queries");
}

/// The corpus, whose form is tree-sitter's: a title between `=` lines, a text, `---`, its tree.
#[test]
fn the_corpus_has_its_trees() {
    let folder = files::root().join("editors/tree-sitter-sim/test/corpus");
    let mut complaints = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("the corpus").flatten() {
        let text = std::fs::read_to_string(entry.path()).expect("text");
        for (title, source, wanted) in cases(&text) {
            let got = bare(&parse(source).root_node().to_sexp());
            let wanted = wanted.split_whitespace().collect::<Vec<_>>().join(" ");
            if got != wanted {
                let file = entry.path();
                let file = Path::new(file.file_name().unwrap_or_default());
                complaints.push(format!("{}: {title}: {got}", file.display()));
            }
            count += 1;
        }
    }
    assert!(count >= 20, "{count} cases");
    files::report("cases have other trees", complaints);
}

fn cases(text: &str) -> Vec<(&str, &str, &str)> {
    let bar = "==================\n";
    let parts: Vec<&str> = text.split(bar).skip(1).collect();
    parts
        .chunks(2)
        .map(|part| {
            let (source, tree) = part[1].split_once("\n---\n").expect("a case has a tree");
            (part[0].trim(), source, tree)
        })
        .collect()
}

/// A tree without the names of fields.
fn bare(tree: &str) -> String {
    let words = tree.split_whitespace().filter(|word| !word.ends_with(':'));
    words.collect::<Vec<_>>().join(" ")
}

/// Any text has a tree, and what is whole in it stays readable.
#[test]
fn files_with_mistakes_have_trees() {
    for (name, source) in files::models("tests/errors") {
        let tree = parse(&source);
        let read = tree.root_node().end_byte();
        assert!(read >= source.trim_end().len(), "{name}: read up to {read}");
    }
    let tree = parse("state x = 1.0\nstep { x = }\nfn f(y: f32) -> f32 { return y }\n");
    let root = tree.root_node().to_sexp();
    assert!(
        root.contains("(state_declaration") && root.contains("(function_declaration"),
        "{root}"
    );
}
