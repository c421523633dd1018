//! The editors' grammars and the playground's: filled from the compiler's table of words, and complete.
//!
//! A file of `editors/templates/` is a grammar with `{{role}}` or `{{role role}}` where words belong;
//! `PRODUCTS` lists the paths of its results. `SIM_UPDATE=1` writes them; without it the test fails if one is
//! stale.

use super::files;
use sim_compiler::words::{Role, words};
use std::{collections::BTreeSet, path::PathBuf};

/// The roles as templates name them.
const ROLES: [(&str, Role); 24] = [
    ("declaration", Role::Declaration),
    ("sampling", Role::Sampling),
    ("testing", Role::Testing),
    ("phase", Role::Phase),
    ("binding", Role::Binding),
    ("conditional", Role::Conditional),
    ("loop", Role::Loop),
    ("jump", Role::Jump),
    ("integrate", Role::Integrate),
    ("check", Role::Check),
    ("bitcast", Role::Bitcast),
    ("boolean", Role::Boolean),
    ("reserved", Role::Reserved),
    ("type", Role::Type),
    ("value", Role::Value),
    ("method", Role::Method),
    ("function", Role::Function),
    ("fold", Role::Fold),
    ("draw", Role::Draw),
    ("arithmetic", Role::Arithmetic),
    ("comparison", Role::Comparison),
    ("logical", Role::Logical),
    ("bitwise", Role::Bitwise),
    ("assignment", Role::Assignment),
];

/// A result: its template, where it stands, and how its captures are called there.
struct Product {
    template: &'static str,
    result: &'static str,
    captures: &'static [(&'static str, &'static str)],
}

const PRODUCTS: [Product; 8] = [
    Product {
        template: "sim.tmLanguage.json",
        result: "vscode/syntaxes/sim.tmLanguage.json",
        captures: &[],
    },
    Product {
        template: "highlights.scm",
        result: "tree-sitter-sim/queries/highlights.scm",
        captures: &[],
    },
    Product {
        template: "highlights.scm",
        result: "helix/queries/sim/highlights.scm",
        captures: &[
            ("@boolean", "@constant.builtin.boolean"),
            ("@comment.documentation", "@comment.line.documentation"),
            ("@function.call", "@function"),
            ("@keyword.conditional", "@keyword.control.conditional"),
            ("@keyword.repeat", "@keyword.control.repeat"),
            ("@keyword.return", "@keyword.control.return"),
            ("@keyword.type", "@keyword.storage.type"),
            ("@number", "@constant.numeric.integer"),
            ("@number.float", "@constant.numeric.float"),
            ("@variable.member", "@variable.other.member"),
        ],
    },
    Product {
        template: "highlights.scm",
        result: "zed/languages/sim/highlights.scm",
        captures: &[
            ("@comment.documentation", "@comment.doc"),
            ("@constant.builtin", "@constant"),
            ("@function.call", "@function"),
            ("@variable.builtin", "@variable.special"),
            ("@variable.member", "@property"),
        ],
    },
    Product {
        template: "sim.vim",
        result: "vim/syntax/sim.vim",
        captures: &[],
    },
    Product {
        template: "sim-mode.el",
        result: "emacs/sim-mode.el",
        captures: &[],
    },
    Product {
        template: "words.py",
        result: "../python/simc/_words.py",
        captures: &[],
    },
    Product {
        template: "words.js",
        result: "../web/playground/src/words.js",
        captures: &[],
    },
];

fn editors() -> PathBuf {
    files::root().join("editors")
}

/// What a placeholder stands for: the words of its roles as the kind of file writes them, or with `bar`
/// before the roles, as a Vim pattern of one of them.
fn list(placeholder: &str, file: &str) -> String {
    if let Some(roles) = placeholder.strip_prefix("bar ") {
        return texts(roles).join("\\|");
    }
    let texts = texts(placeholder);
    match file.rsplit('.').next() {
        Some("json") => {
            let sign = |c: char| match c {
                c if c.is_alphanumeric() || c == '_' => c.to_string(),
                c => format!("\\\\{c}"),
            };
            let escape = |text: &&str| text.chars().map(sign).collect();
            let escaped: Vec<String> = texts.iter().map(escape).collect();
            escaped.join("|")
        }
        Some("vim") => texts.join(" "),
        Some("js") => {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
            quoted.join(", ")
        }
        Some("scm" | "el") => {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\"")).collect();
            quoted.join(" ")
        }
        Some("py") => {
            let quoted: Vec<String> = texts.iter().map(|text| format!("\"{text}\",")).collect();
            quoted.join(" ")
        }
        _ => panic!("{file}: no list of words in such a file"),
    }
}

/// The words of roles, names in the order of the alphabet, operators with the longest first.
fn texts(roles: &str) -> Vec<&'static str> {
    let wanted: Vec<Role> = roles
        .split_whitespace()
        .map(|name| {
            let row = ROLES.iter().find(|(known, _)| *known == name);
            row.unwrap_or_else(|| panic!("no role is called `{name}`"))
                .1
        })
        .collect();
    let found = words().filter(|word| wanted.contains(&word.role));
    let found: BTreeSet<&str> = found.map(|word| word.text).collect();
    let mut found: Vec<&str> = found.into_iter().collect();
    if !found
        .iter()
        .all(|text| text.starts_with(char::is_alphabetic))
    {
        found.sort_by_key(|text| std::cmp::Reverse(text.len()));
    }
    found
}

/// A template with its words, lines of words broken at a width that reads well.
fn filled(product: &Product) -> String {
    let path = editors().join("templates").join(product.template);
    let template = std::fs::read_to_string(&path).expect("a template can be read");
    let mut out = String::new();
    for line in template.lines() {
        let mut line = line.to_owned();
        while let Some((before, rest)) = line.split_once("{{") {
            let (roles, after) = rest
                .split_once("}}")
                .expect("a placeholder ends on its line");
            line = format!("{before}{}{after}", list(roles, product.result));
        }
        let breaks = [".scm", ".el", ".js", ".py"]
            .iter()
            .any(|end| product.result.ends_with(end));
        out += &if breaks { wrapped(&line) } else { line };
        out += "\n";
    }
    renamed(out, product.captures)
}

/// A line of words as several, none wider than reads well.
fn wrapped(line: &str) -> String {
    let indent = &line[..line.len() - line.trim_start().len()];
    let mut out = String::new();
    let mut width = indent.len();
    if line.len() <= 100 {
        return line.to_owned();
    }
    for word in line.split_whitespace() {
        if out.is_empty() {
            out = format!("{indent}{word}");
        } else if width + 1 + word.len() > 98 {
            out += &format!("\n{indent}{word}");
            width = indent.len();
        } else {
            out += &format!(" {word}");
        }
        width += word.len() + 1;
    }
    out
}

fn renamed(text: String, captures: &[(&str, &str)]) -> String {
    let mut out = String::new();
    let mut rest = text.as_str();
    let name = |c: char| c.is_alphanumeric() || c == '.' || c == '_';
    while let Some(at) = rest.find('@') {
        let end = rest[at + 1..]
            .find(|c| !name(c))
            .map_or(rest.len(), |end| at + 1 + end);
        let capture = &rest[at..end];
        let row = captures.iter().find(|(from, _)| *from == capture);
        out += &rest[..at];
        out += row.map_or(capture, |(_, to)| to);
        rest = &rest[end..];
    }
    out + rest
}

#[test]
fn grammars_have_the_words_of_the_compiler() {
    let mut stale = Vec::new();
    for product in &PRODUCTS {
        let path = editors().join(product.result);
        let wanted = filled(product);
        if std::env::var_os("SIM_UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().expect("a result has a folder"))
                .expect("a folder");
            std::fs::write(&path, wanted).expect("a result can be written");
        } else if std::fs::read_to_string(&path).unwrap_or_default() != wanted {
            stale.push(format!(
                "editors/{}: `SIM_UPDATE=1` writes it",
                product.result
            ));
        }
    }
    files::report("editor files are stale", stale);
}
