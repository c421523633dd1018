//! What a name means, as text: for hovers, completions and signatures.

use super::{Document, outline::begins_item, testing};
use lsp_types::{
    Hover, HoverContents, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel,
    SignatureHelp, SignatureInformation,
};
use sim_compiler::{
    builtin::{Builtin, BuiltinId, constants::NamedConstant, manual, sampled::FoldOfAgents},
    names::{Declaration, Kind, Members},
    span::Span,
    syntax::Token,
};

/// The built-in types.
pub(super) const TYPES: [(&str, &str); 7] = [
    (
        "f32",
        "A number with a fraction: IEEE 754 single precision.",
    ),
    ("i32", "A 32-bit integer with sign."),
    ("u32", "A 32-bit integer without sign."),
    ("bool", "`true` or `false`."),
    ("vec2", "Two `f32`s: `x`, `y`."),
    ("vec3", "Three `f32`s: `x`, `y`, `z`."),
    ("vec4", "Four `f32`s: `x`, `y`, `z`, `w`."),
];

/// The values that a launch sets.
pub(super) const LAUNCH: [(&str, &str); 4] = [
    ("agent", "The agent's number in the population, from 0."),
    ("member", "The agent's place in its world, from 0."),
    ("agents", "The population: how many agents there are."),
    ("steps", "How many steps a run has."),
];

/// The numbers of another agent, behind it.
pub(super) const OF_AGENT: [(&str, &str); 2] = [
    ("member", "The place of that agent in its world, from 0."),
    (
        "agent",
        "The number of that agent in the population, from 0.",
    ),
];

/// The agents of the world.
pub(super) const WORLD: (&str, &str) = (
    "world",
    "The agents of the world: `for other in world`, `world[k].x`, `len(world)`; `world.number` is its \
     number. Before `input`, `state`, `output`, `observe` or `step`, one of the world; before a number, how \
     many agents it has.",
);

/// How often a value is sampled.
pub(super) const EVERY: (&str, &str) = (
    "every",
    "Steps between two samples: the first is taken before the first step, then one after each so many \
     steps. 1 where nothing is said.",
);

/// The words that sample values over time.
const SAMPLED: [(Token, &str, &str); 2] = [
    (
        Token::Record,
        "record",
        "Keeps a value of each agent as the run goes on: `record price every 10`; without `=`, the state of \
         that name.",
    ),
    (
        Token::Observe,
        "observe",
        "Keeps a fold of all agents as the run goes on: `observe m = mean(x) every 10`. `world observe` \
         keeps one value of each world: a fold of its agents, or an expression of world code.",
    ),
];

/// What stands behind `world`.
pub(super) const NUMBER: (&str, &str) = ("number", "The number of the world, from 0.");

/// The methods of `integrate`.
pub(super) const METHODS: [(&str, &str); 4] = [
    ("euler", "Explicit Euler: one stage, order 1."),
    ("midpoint", "The midpoint rule: two stages, order 2."),
    ("heun", "Heun's method: two stages, order 2."),
    (
        "rk4",
        "The classical Runge-Kutta method: four stages, order 4.",
    ),
];

/// The statement that a run may leave out.
pub(super) const ASSERT: (&str, &str) = (
    "assert",
    "Says what is true here: `assert x > 0.0, \"x is positive\"`. `simc run --check` ends where it is not; \
     other runs leave it out.",
);

/// Longest declaration that is shown whole.
const LONG: usize = 600;

/// What stands at a place.
pub fn hover(document: &Document, at: usize) -> Option<Hover> {
    if document.in_comment(at) {
        return None;
    }
    let (_, span) = document.word_at(at)?;
    let text = explain(document, span)?;
    Some(Hover {
        contents: HoverContents::Markup(markdown(text)),
        range: Some(document.range(span)),
    })
}

fn explain(document: &Document, span: Span) -> Option<String> {
    let name = document.slice(span);
    if let Some(fold) = fold_of_agents(document, span) {
        return Some(of_agents(fold));
    }
    if let Some(doc) = testing::word(document, span) {
        return Some(format!("```sim\n{name}\n```\n{doc}"));
    }
    if is_callee(document, span)
        && let Some((signature, doc)) = testing::fold(document, span)
    {
        return Some(format!("```sim\n{signature}\n```\n{doc}"));
    }
    if document.is_every(span) {
        return Some(format!("```sim\n{name}\n```\n{}", EVERY.1));
    }
    let token = document.tokens()[document.token_at(span.start as usize)?].0;
    if let Some((_, _, doc)) = SAMPLED.iter().find(|(known, ..)| *known == token) {
        return Some(format!("```sim\n{name}\n```\n{doc}"));
    }
    if is_callee(document, span) && BuiltinId::find(name).is_some() {
        let rows = BuiltinId::of_name(name).map(|id| builtin(id.row()));
        return Some(rows.collect::<Vec<String>>().join("\n\n---\n\n"));
    }
    if let Some(index) = document.meant(span) {
        return Some(describe(document, document.declaration(index)));
    }
    if let Some(members) = document.names().members.get(&span) {
        let rows: &[(&str, &str)] = match members {
            Members::OfAgent => &OF_AGENT,
            Members::OfWorld => &[NUMBER],
            Members::Components(_) | Members::Of(_) => &[],
        };
        let row = rows.iter().find(|(known, _)| *known == name);
        return row.map(|(_, doc)| format!("```sim\n{name}: i32\n```\n{doc}"));
    }
    if let Some(constant) = NamedConstant::of(name) {
        return Some(format!("```sim\n{name}: f32\n```\n{}", constant.doc));
    }
    let rows = TYPES
        .iter()
        .chain(&LAUNCH)
        .chain(&METHODS)
        .chain([&WORLD, &ASSERT]);
    let row = rows.into_iter().find(|(known, _)| *known == name)?;
    let starts_item = document.tokens()[document.token_at(span.start as usize)?].0;
    let declares =
        matches!(starts_item, Token::Agents | Token::Steps) && first_on_line(document, span);
    (!declares).then(|| format!("```sim\n{name}\n```\n{}", row.1))
}

pub(super) fn first_on_line(document: &Document, span: Span) -> bool {
    let before = &document.text()[..span.start as usize];
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.trim().is_empty()
}

/// Does a `(` follow?
fn is_callee(document: &Document, span: Span) -> bool {
    let rest = document.text().get(span.end as usize..).unwrap_or_default();
    rest.trim_start().starts_with('(')
}

/// The fold of agents that is called at a place: the outermost call of an `observe`.
pub(super) fn fold_of_agents(document: &Document, span: Span) -> Option<&'static FoldOfAgents> {
    let tokens = document.tokens();
    let at = document.token_at(span.start as usize)?;
    let called = tokens.get(at + 1)?.0 == Token::LeftParen;
    let assigned = tokens.get(at.checked_sub(1)?)?.0 == Token::Assign;
    if !called || !assigned {
        return None;
    }
    let fold = FoldOfAgents::of(document.slice(span))?;
    let word = tokens[..at]
        .iter()
        .rev()
        .find(|(token, _)| begins_item(*token))?
        .0;
    // A comprehension is a fold of the language, and so is that of an array.
    let over = tokens.get(at + 2)?.0 == Token::For;
    (word == Token::Observe && !over).then_some(fold)
}

/// A row of the table of folds of agents.
pub(super) fn of_agents(fold: &FoldOfAgents) -> String {
    format!("```sim\n{}\n```\n{}", fold.signature(), fold.doc)
}

/// A row of the table of builtins.
pub(super) fn builtin(row: &Builtin) -> String {
    let signature = manual::signature(row);
    format!(
        "```sim\n{signature}\n```\n{}\n\nExample: `{}`",
        row.doc, row.example
    )
}

/// A declaration: its head, its kind, its documentation.
pub(super) fn describe(document: &Document, declaration: &Declaration) -> String {
    let mut text = format!("```sim\n{}\n```\n", head(document, declaration));
    text.push_str(&declaration.describe());
    if let (Some(value), Kind::Const) = (&declaration.value, declaration.kind) {
        text.push_str(&format!(", `{value}`"));
    }
    if let (Some(value), Kind::Param) = (&declaration.value, declaration.kind) {
        text.push_str(&format!(", default `{value}`"));
    }
    if !declaration.doc.is_empty() {
        text.push_str("\n\n");
        text.push_str(&declaration.doc);
    }
    text
}

/// A declaration in one line or a few, with its type.
pub(super) fn head(document: &Document, declaration: &Declaration) -> String {
    let name = &declaration.name;
    let whole = document.slice(declaration.whole);
    let owner = declaration
        .owner
        .map(|owner| &document.declaration(owner).name);
    let typed = match &declaration.ty {
        Some(ty) => format!("{name}: {ty}"),
        None => name.clone(),
    };
    let word = match declaration.kind {
        Kind::Function => {
            let head = whole.split('{').next().unwrap_or_default();
            return head.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        Kind::Struct | Kind::Enum if whole.len() <= LONG => return whole.to_owned(),
        Kind::Field => return format!("{}.{typed}", owner.map_or("", |owner| owner)),
        Kind::Variant => return format!("{}.{name}", owner.map_or("", |owner| owner)),
        Kind::Parameter | Kind::Index | Kind::Step => return typed,
        Kind::Test => return format!("test {:?}", declaration.name),
        Kind::Struct => "struct",
        Kind::Enum => "enum",
        Kind::Const => "const",
        Kind::Param => "param",
        Kind::Data => "data",
        Kind::Input => "input",
        Kind::State => "state",
        Kind::Output => "output",
        Kind::Record => "record",
        Kind::Observation => "observe",
        Kind::Let => "let",
        Kind::Var => "var",
    };
    let world = if declaration.of_world { "world " } else { "" };
    format!("{world}{word} {typed}")
}

pub(super) fn markdown(value: String) -> MarkupContent {
    MarkupContent {
        kind: MarkupKind::Markdown,
        value,
    }
}

/// The call whose arguments a place lies in, and which argument that is.
pub fn signature(document: &Document, at: usize) -> Option<SignatureHelp> {
    let (callee, argument) = enclosing_call(document, at)?;
    let name = document.slice(callee);
    // Of several builtins of the name, the first that takes the argument.
    let takes = |id: &BuiltinId| id.row().params.len() > argument as usize;
    let meant = BuiltinId::of_name(name).find(takes);
    let row = meant.or(BuiltinId::find(name)).map(BuiltinId::row);
    let of_agents = fold_of_agents(document, callee);
    let (label, params, text) = match (of_agents, row) {
        (Some(fold), _) => {
            let params = fold.params.iter().map(|name| (*name).to_owned()).collect();
            (fold.signature(), params, fold.doc.to_owned())
        }
        (None, Some(row)) => {
            let params = row.params.iter().map(|name| (*name).to_owned()).collect();
            (manual::signature(row), params, row.doc.to_owned())
        }
        (None, None) => own_signature(document, callee)?,
    };
    let parameters: Vec<ParameterInformation> = (params.into_iter())
        .map(|name| ParameterInformation {
            label: ParameterLabel::Simple(name),
            documentation: None,
        })
        .collect();
    Some(SignatureHelp {
        signatures: vec![SignatureInformation {
            label,
            documentation: Some(lsp_types::Documentation::MarkupContent(markdown(text))),
            parameters: Some(parameters),
            active_parameter: Some(argument),
        }],
        active_signature: Some(0),
        active_parameter: Some(argument),
    })
}

/// Label, parameters and documentation of a function or a struct of the model.
fn own_signature(document: &Document, callee: Span) -> Option<(String, Vec<String>, String)> {
    let index = document.meant(callee)?;
    let declaration = document.declaration(index);
    if !matches!(declaration.kind, Kind::Function | Kind::Struct) {
        return None;
    }
    let params: Vec<String> = (document.names().parts_of(index))
        .map(|part| document.slice(part.whole).to_owned())
        .collect();
    let result = match (&declaration.ty, declaration.kind) {
        (Some(ty), Kind::Function) => format!(" -> {ty}"),
        _ => String::new(),
    };
    let label = format!("{}({}){result}", declaration.name, params.join(", "));
    Some((label, params, declaration.doc.clone()))
}

/// The name before the innermost open parenthesis, and how many commas stand between.
fn enclosing_call(document: &Document, at: usize) -> Option<(Span, u32)> {
    let tokens = document.tokens();
    let end = tokens.partition_point(|(_, span)| (span.end as usize) <= at);
    let (mut depth, mut commas) = (0, 0);
    for index in (0..end).rev() {
        match tokens[index].0 {
            token if token.closes() => depth += 1,
            Token::LeftBrace if depth == 0 => return None,
            Token::LeftParen if depth == 0 => {
                let (token, span) = *tokens.get(index.checked_sub(1)?)?;
                if matches!(token, Token::Ident | Token::Step | Token::Var) {
                    return Some((span, commas));
                }
                commas = 0;
            }
            Token::LeftBracket if depth == 0 => commas = 0,
            token if token.opens() => depth -= 1,
            Token::Comma if depth == 0 => commas += 1,
            _ => {}
        }
    }
    None
}
