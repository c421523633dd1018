//! Slips in calls, indices and what is written like them.

use super::Scene;
use crate::{
    builtin::BuiltinId,
    diagnostic::{
        Diagnostic,
        catalog::{names, syntax as say},
    },
    foreign::{self, Meant},
    span::Span,
    syntax::{
        parse::{DECLARATIONS, EXPRESSION, STATEMENT, TYPE},
        token::Token,
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    generic(scene)
        .or_else(|| method(scene))
        .or_else(|| namespace(scene))
        .or_else(|| dotted_call(scene))
        .or_else(|| named_argument(scene))
        .or_else(|| struct_literal(scene))
        .or_else(|| braces(scene))
        .or_else(|| anonymous_function(scene))
        .or_else(|| index(scene))
        .or_else(|| matrix(scene))
        .or_else(|| macro_call(scene))
        .or_else(|| cast(scene))
        .or_else(|| agent_set(scene))
}

/// `vec3<f32>(x)`
fn generic(scene: &Scene<'_>) -> Option<Diagnostic> {
    let called = scene.word(0, &["vec2", "vec3", "vec4", "array"]) && scene.is(1, &[Token::Less]);
    called.then(|| scene.type_arguments(0))
}

/// What a function is called here, if it is a builtin.
fn builtin(name: &str) -> Option<&'static str> {
    let id = match foreign::function(name) {
        Some(Meant::Call(id)) => id,
        Some(Meant::Write(meant)) => BuiltinId::find(meant)?,
        Some(_) => return None,
        None => BuiltinId::find(name)?,
    };
    Some(id.row().name)
}

/// `x.sqrt()`, `math.sqrt(x)`
fn method(scene: &Scene<'_>) -> Option<Diagnostic> {
    let shape = scene.is(0, &[Token::LeftParen])
        && scene.is(-1, &[Token::Ident])
        && scene.is(-2, &[Token::Dot]);
    if !shape {
        return None;
    }
    let name = scene.text(-1);
    let from = scene.chain_start(-3);
    if foreign::is_module(scene.text(from)) {
        let (whole, module) = (scene.span(from, -1), scene.span(from, -2));
        let meant = builtin(name).map(|meant| (whole, meant));
        let path = scene.between(from, -3);
        return Some(names::foreign_qualifier(path, name, module, meant));
    }
    let close = scene.closer(0)?;
    let receiver = scene.between(from, -3);
    let rest = match close {
        1 => String::new(),
        _ => format!(", {}", scene.between(1, close - 1)),
    };
    let meant = match foreign::function(name) {
        Some(Meant::Say(help)) => return Some(say::method_call(name, help, scene.place(-1), None)),
        _ if BuiltinId::find(name) == Some(BuiltinId::LENGTH) => BuiltinId::LEN.row().name,
        _ => builtin(name).unwrap_or(name),
    };
    let call = match receiver {
        "self" | "this" => format!("{meant}({})", rest.trim_start_matches(", ")),
        _ => format!("{meant}({receiver}{rest})"),
    };
    let fix = (scene.span(from, close), call.as_str());
    let help = "write `f(x)` in place of `x.f()`";
    Some(say::method_call(name, help, scene.place(-1), Some(fix)))
}

/// `std::max(x, y)`
fn namespace(scene: &Scene<'_>) -> Option<Diagnostic> {
    let shape = scene.is(0, &[Token::Colon]) && scene.is(1, &[Token::Colon]) && scene.glued(0);
    if !shape || !foreign::is_module(scene.text(-1)) {
        return None;
    }
    let whole = scene.span(-1, 2);
    let meant = builtin(scene.text(2)).map(|meant| (whole, meant));
    let module = scene.span(-1, 1);
    Some(names::foreign_qualifier(
        scene.text(-1),
        scene.text(2),
        module,
        meant,
    ))
}

/// `exp.(a)`
fn dotted_call(scene: &Scene<'_>) -> Option<Diagnostic> {
    let shape = scene.is(0, &[Token::LeftParen])
        && scene.is(-1, &[Token::Dot])
        && scene.is(-2, &[Token::Ident]);
    if !shape {
        return None;
    }
    let (function, argument) = (scene.text(-2), scene.text(1));
    let simple = scene.is(1, &[Token::Ident]) && scene.is(2, &[Token::RightParen]);
    let call = format!("[for i in 0..len({argument}): {function}({argument}[i])]");
    let fix = simple.then(|| (scene.span(-2, 2), call.as_str()));
    Some(say::call_by_element(scene.span(-1, 0), fix))
}

/// `normal(mean = 0.0)`, `Order(price: 1.0)`
fn named_argument(scene: &Scene<'_>) -> Option<Diagnostic> {
    let sign = scene.is(0, &[Token::Assign, Token::Colon]) && scene.is(-1, &[Token::Ident]);
    let open = -2;
    let listed = scene.is(open, &[Token::LeftParen, Token::Comma]);
    let call = scene.opener(0)?;
    let called = scene.is(call, &[Token::LeftParen]) && scene.is(call - 1, &[Token::Ident]);
    if !(sign && listed && called) || scene.is(call - 2, &[Token::Fn]) {
        return None;
    }
    let edits = names_of(scene, call)?;
    Some(say::named_argument(
        scene.text(call - 1),
        scene.span(-1, 0),
        edits,
    ))
}

/// The edits that take out `name:` or `name =` behind an open bracket and its commas.
fn names_of(scene: &Scene<'_>, open: isize) -> Option<Vec<(Span, String)>> {
    let close = scene.closer(open)?;
    let mut edits = Vec::new();
    let mut at = open;
    while at < close {
        let starts = at == open || scene.is(at, &[Token::Comma]);
        let named =
            scene.is(at + 1, &[Token::Ident]) && scene.is(at + 2, &[Token::Colon, Token::Assign]);
        if starts && named {
            let span = Span {
                start: scene.place(at + 1).start,
                end: scene.place(at + 3).start,
            };
            edits.push((span, String::new()));
        }
        at += 1;
        if scene.token(at).is_some_and(Token::opens) {
            at = scene.closer(at)?;
        }
    }
    Some(edits)
}

/// `Order { price: 1.0, size: 2 }`
fn struct_literal(scene: &Scene<'_>) -> Option<Diagnostic> {
    // At the top level the brace fits nowhere; in a block it begins another, and the colon fits nowhere.
    let open = match scene.token(0)? {
        Token::LeftBrace => 0,
        Token::Colon if scene.is(-2, &[Token::LeftBrace]) => -2,
        _ => return None,
    };
    let fields = scene.is(open + 1, &[Token::Ident]) && scene.is(open + 2, &[Token::Colon]);
    let value = scene.is(open - 1, &[Token::Ident])
        && !scene.first(open)
        && scene
            .back_to(
                &[Token::Struct, Token::If, Token::While, Token::Match],
                &[Token::Assign],
            )
            .is_none();
    if !(fields && value) {
        return None;
    }
    let close = scene.closer(open)?;
    let gap = Span {
        start: scene.place(open - 1).end,
        end: scene.place(open + 1).start,
    };
    let end = Span {
        start: scene.place(close - 1).end,
        end: scene.place(close).end,
    };
    let mut edits = names_of(scene, open)?;
    // The first name goes with the brace before it.
    let first = edits.first_mut()?;
    first.0 = Span {
        start: gap.start,
        end: first.0.end,
    };
    first.1 = "(".to_owned();
    edits.push((end, ")".to_owned()));
    Some(say::struct_literal(
        scene.text(open - 1),
        scene.place(open),
        edits,
    ))
}

/// `{1.0, 2.0}`, `{"low": 0.1}`
fn braces(scene: &Scene<'_>) -> Option<Diagnostic> {
    let value = scene.expected.covers(EXPRESSION) && !scene.expected.covers(STATEMENT);
    if !value || !scene.is(0, &[Token::LeftBrace]) {
        return None;
    }
    let numbers = scene.is(1, &[Token::Int, Token::Float, Token::Minus]);
    let list = scene
        .closer(0)
        .filter(|_| numbers && !scene.is(2, &[Token::Colon]));
    let edits = list.map(|close| {
        vec![
            (scene.place(0), "[".to_owned()),
            (scene.place(close), "]".to_owned()),
        ]
    });
    Some(say::braces_as_value(scene.place(0), edits))
}

/// `lambda x: x * x`, `x -> x^2`, `|x| x * x`
fn anonymous_function(scene: &Scene<'_>) -> Option<Diagnostic> {
    let lambda = [-1, -2, -3]
        .into_iter()
        .find(|at| scene.word(*at, &["lambda"]));
    if let Some(at) = lambda {
        return Some(say::anonymous_function(scene.place(at)));
    }
    let value = scene.expected.covers(EXPRESSION) && !scene.expected.covers(STATEMENT);
    let bars = value && scene.is(0, &[Token::Or, Token::OrOr]);
    let arrow = scene.is(0, &[Token::Arrow, Token::FatArrow])
        && scene.is(-1, &[Token::Ident, Token::RightParen])
        && !scene.glued(-1)
        && scene
            .opener(0)
            .is_some_and(|open| scene.is(open, &[Token::LeftParen]));
    let typed = scene.expected.has(Token::Arrow) || scene.expected.has(Token::FatArrow);
    ((bars || arrow) && !typed).then(|| say::anonymous_function(scene.place(0)))
}

/// `x[1:3]`, `m[0, 1]`
fn index(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = scene.opener(0)?;
    let suffix = scene.is(open, &[Token::LeftBracket])
        && scene.is(
            open - 1,
            &[Token::Ident, Token::RightBracket, Token::RightParen],
        );
    if !suffix || scene.expected.covers(TYPE) && !scene.expected.covers(EXPRESSION) {
        return None;
    }
    match scene.token(0)? {
        Token::Colon | Token::DotDot => Some(say::slice(scene.text(open - 1), scene.place(0))),
        Token::Comma if scene.expected.has(Token::RightBracket) => {
            let gap = Span {
                start: scene.place(0).start,
                end: scene.place(1).start,
            };
            Some(say::several_indices(gap))
        }
        _ => None,
    }
}

/// `[1.0 2.0; 3.0 4.0]`
fn matrix(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = scene.expected.has(Token::Comma) && scene.expected.has(Token::RightBracket);
    let open = scene
        .opener(0)
        .filter(|open| wanted && scene.is(*open, &[Token::LeftBracket]))?;
    let close = scene.closer(open)?;
    let ends = |at: &isize| scene.is(*at, &[Token::Semicolon]);
    let first = (open..close).find(ends)?;
    // Before the `;` of `[v; n]` stands one value.
    if first == open + 2 {
        return None;
    }
    let mut rows = vec![Vec::new()];
    let mut sign = "";
    for at in open + 1..close {
        match scene.token(at)? {
            Token::Semicolon => rows.push(Vec::new()),
            Token::Comma => {}
            Token::Minus => sign = "-",
            Token::Int | Token::Float | Token::Ident => {
                rows.last_mut()?.push(format!("{sign}{}", scene.text(at)));
                sign = "";
            }
            _ => return Some(say::matrix(scene.span(open, close), None)),
        }
    }
    let rows = rows.iter().filter(|row| !row.is_empty());
    let rows: Vec<String> = rows.map(|row| format!("[{}]", row.join(", "))).collect();
    let meant = format!("[{}]", rows.join(", "));
    Some(say::matrix(scene.span(open, close), Some(&meant)))
}

/// `vec![0.0; 3]`, `println!("…")`
fn macro_call(scene: &Scene<'_>) -> Option<Diagnostic> {
    let shape = scene.is(0, &[Token::Not])
        && scene.is(-1, &[Token::Ident])
        && scene.is(1, &[Token::LeftParen, Token::LeftBracket])
        && scene.glued(-1);
    if !shape {
        return None;
    }
    let whole = scene.span(-1, 0);
    let array = scene.is(1, &[Token::LeftBracket]);
    Some(say::no_macro(scene.text(-1), whole, array))
}

/// `(float)n`, `n as f32`
fn cast(scene: &Scene<'_>) -> Option<Diagnostic> {
    let kind = |at: isize| {
        let word = scene.text(at);
        let own = ["f32", "i32", "u32", "bool"];
        let own = own.into_iter().find(|name| *name == word);
        foreign::type_name(word).or(own)
    };
    if scene.word(0, &["as"]) && scene.is(1, &[Token::Ident]) {
        let from = scene.chain_start(-1);
        let to = kind(1)?;
        let call = format!("{to}({})", scene.between(from, -1));
        return Some(say::cast(scene.place(0), (scene.span(from, 1), &call)));
    }
    let parentheses = scene.is(-1, &[Token::RightParen])
        && scene.is(-2, &[Token::Ident])
        && scene.is(-3, &[Token::LeftParen])
        && !scene.is(-4, &[Token::Ident]);
    let operand = scene.is(
        0,
        &[Token::Ident, Token::LeftParen, Token::Int, Token::Float],
    );
    if !(parentheses && operand) || scene.first(0) {
        return None;
    }
    let to = kind(-2)?;
    let last = scene.chain_end(0);
    let operand = scene.between(0, last);
    let call = match scene.closer(0) == Some(last) {
        true => format!("{to}{operand}"),
        false => format!("{to}({operand})"),
    };
    Some(say::cast(scene.span(-3, -1), (scene.span(-3, last), &call)))
}

/// `count turtles with [ … ]`, `mean [wealth] of turtles`
fn agent_set(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = scene.expected.covers(DECLARATIONS) || scene.expected.covers(STATEMENT);
    let words = ["of", "turtles", "patches", "neighbors", "agentset"];
    let fold = ["count", "mean", "sum", "min", "max", "any?", "all?"];
    let found = scene.word(0, &words) && (scene.text(0) == "of" || fold.contains(&scene.text(-1)));
    (open && found && !scene.first(0))
        .then(|| say::agent_set(scene.text(-1) == "count", scene.place(0)))
}
