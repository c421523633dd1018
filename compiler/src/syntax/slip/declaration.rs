//! Slips in declarations, their types and parameters.

use super::Scene;
use crate::{
    builtin::sampled::FoldOfAgents,
    diagnostic::{
        Diagnostic,
        catalog::{names, syntax as say},
    },
    foreign::{self, Meant},
    span::Span,
    syntax::{
        parse::{DECLARATIONS, EXPRESSION, STATEMENT, operator::INFIX, stmt::ASSIGNMENTS},
        token::{Token, TokenSet},
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.expected.covers(DECLARATIONS) {
        return Some(behind_series(scene).unwrap_or_else(|| top_level(scene)));
    }
    counted_steps(scene)
        .or_else(|| numbered_variant(scene))
        .or_else(|| missing_equals(scene))
        .or_else(|| semicolon(scene))
        .or_else(|| count(scene))
        .or_else(|| missing_type(scene))
        .or_else(|| type_arguments(scene))
        .or_else(|| array_type(scene))
        .or_else(|| arrow(scene))
        .or_else(|| missing_value(scene))
}

/// What stands at the top level and declares nothing.
fn top_level(scene: &Scene<'_>) -> Diagnostic {
    let text = scene.text(0);
    let place = scene.place(0);
    let word = scene.token(0) == Some(Token::Ident);
    let next = |kinds: TokenSet| scene.token(1).is_some_and(|token| kinds.has(token));
    let assigned = word && next(ASSIGNMENTS.or(TokenSet::of(&[Token::Dot, Token::LeftBracket])));
    let statement = scene.token(0).is_some_and(|token| {
        STATEMENT.has(token) && !word && !matches!(token, Token::Let | Token::Var)
    });
    // `turtles-own` and its like are read as subtractions.
    let dashed = |at: isize| {
        let parts = [Token::Ident, Token::Minus, Token::Ident];
        let fits = parts
            .iter()
            .zip(at..)
            .all(|(kind, at)| scene.is(at, &[*kind]));
        (fits && scene.glued(at) && scene.glued(at + 1)).then(|| scene.between(at, at + 2))
    };
    if let Some(name) = dashed(-3)
        && !scene.first(0)
        && foreign::function(name).is_some()
    {
        return names::unknown_function(name, scene.span(-3, -1), None);
    }
    if let Some((name, meant)) =
        dashed(0).and_then(|name| Some((name, foreign::declaration(name)?)))
    {
        return say::not_a_declaration(name, Some(meant), None, scene.span(0, 2));
    }
    let meant =
        foreign::declaration(text).filter(|_| word || scene.is(0, &[Token::Let, Token::Var]));
    if meant.is_none() && (assigned || statement || scene.is(0, &[Token::Else])) {
        return match scene.is(0, &[Token::If]).then(|| scene.choice(0)).flatten() {
            Some(choice) => say::ternary("if", place, Some(choice)),
            None => say::statement_outside_block(text, place),
        };
    }
    if scene.is(0, &[Token::Percent]) && scene.first(0) {
        return say::hash_comment("%", place);
    }
    if let Some(diagnostic) = buffer(scene) {
        return diagnostic;
    }
    if let Some(Meant::Omit(_)) = meant
        && scene.first(0)
        && foreign::is_import(text)
    {
        let mut last = 0;
        while scene.token(last + 1).is_some() && !scene.first(last + 1) && last < 40 {
            last += 1;
        }
        return say::not_a_declaration(text, meant, None, scene.span(0, last));
    }
    if let Some(diagnostic) = typed(scene).or_else(|| short_function(scene)) {
        return diagnostic;
    }
    if let Some(diagnostic) = behind_output(scene) {
        return diagnostic;
    }
    if !scene.first(0) && meant.is_none() {
        return say::unexpected_token("an operator or the next declaration", text, place);
    }
    let near = nearest(text).filter(|_| word);
    say::not_a_declaration(text, meant, near, place)
}

/// `var<storage, read> prices`
fn buffer(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.is(0, &[Token::Var]) || !scene.is(1, &[Token::Less]) {
        return None;
    }
    let close = (2..8)
        .find(|at| scene.is(*at, &[Token::Greater]))
        .unwrap_or(1);
    let meant = match scene.text(2) {
        "storage" => "data",
        "uniform" => "param",
        _ => "state",
    };
    Some(say::not_a_declaration(
        "var<…>",
        Some(Meant::Write(meant)),
        None,
        scene.span(0, close),
    ))
}

/// `output x, y`, `output x * 2.0`
fn behind_output(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.is(0, &[Token::Comma]) && scene.is(-2, &[Token::Output]) {
        let name = scene.is(1, &[Token::Ident]);
        return Some(say::second_value("output", name, scene.place(0)));
    }
    unnamed(scene, "output", Token::Output)
}

/// `output x[0]`, `output a - b`, `record order.price every 10`, `observe mean(x)`
fn unnamed(scene: &Scene<'_>, word: &str, token: Token) -> Option<Diagnostic> {
    let goes_on = [Token::LeftBracket, Token::LeftParen, Token::Dot];
    let value = scene
        .token(0)
        .filter(|next| INFIX.has(*next) || goes_on.contains(next))
        .is_some_and(|_| !scene.first(0));
    if !value || !scene.is(-1, &[Token::Ident]) || !scene.is(-2, &[token]) {
        return None;
    }
    let last = scene.value_end(-1);
    // What `every` says is no part of the value.
    let end = (0..=last)
        .find(|at| scene.word(*at, &["every"]))
        .map_or(last, |every| every - 1);
    let value = scene.between(-1, end);
    let parts = value.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let words: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let chain = end == scene.chain_end(-1);
    let name = match words.join("_") {
        name if chain && name.len() <= 20 => name,
        _ => "value".to_owned(),
    };
    let shown = match value.len() <= 60 && !value.contains('\n') {
        true => value,
        false => "…",
    };
    let help = format!("give it a name: `{word} {name} = {shown}`");
    let span = scene.span(-1, end);
    Some(say::value_without_name(word, &help, span, &name))
}

/// `float x = 1.0`, `float f(float x) {`
fn typed(scene: &Scene<'_>) -> Option<Diagnostic> {
    let ty = kind(scene.text(0)).filter(|_| scene.is(0, &[Token::Ident]))?;
    if !scene.is(1, &[Token::Ident]) {
        return None;
    }
    let name = scene.text(1);
    if !scene.is(2, &[Token::LeftParen]) {
        let meant = format!("state {name}: {ty}");
        return Some(say::type_before_name(name, &meant, scene.span(0, 1)));
    }
    if name == "main" {
        let what = Meant::Say(
            "what an agent does stands in `step { … }`, and what comes out in `output x`",
        );
        return Some(say::not_a_declaration(
            scene.text(0),
            Some(what),
            None,
            scene.place(0),
        ));
    }
    let close = scene.closer(2)?;
    let mut params = Vec::new();
    let mut at = 3;
    while at < close {
        let ty = kind(scene.text(at))?;
        if !scene.is(at + 1, &[Token::Ident])
            || !scene.is(at + 2, &[Token::Comma, Token::RightParen])
        {
            return None;
        }
        params.push(format!("{}: {ty}", scene.text(at + 1)));
        at += 3;
    }
    let meant = format!("fn {name}({}) -> {ty}", params.join(", "));
    Some(say::type_before_name(name, &meant, scene.span(0, close)))
}

/// `f(x) = x * x`
fn short_function(scene: &Scene<'_>) -> Option<Diagnostic> {
    let assigned = scene.is(0, &[Token::Ident])
        && match scene.token(1)? {
            Token::LeftParen => scene.is(scene.closer(1)? + 1, &[Token::Assign]),
            // `f <- function(x)`
            Token::Less => scene.is(2, &[Token::Minus]) && scene.word(3, &["function"]),
            _ => false,
        };
    assigned.then(|| {
        let meant = Meant::Say("a function is declared: `fn f(x: f32) -> f32 { return x * x }`");
        say::not_a_declaration(scene.text(0), Some(meant), None, scene.place(0))
    })
}

/// The type that a word names, here or in another language.
fn kind(word: &str) -> Option<&str> {
    let own = ["f32", "i32", "u32", "bool", "vec2", "vec3", "vec4"];
    foreign::type_name(word).or_else(|| own.contains(&word).then_some(word))
}

/// `record x each 10`, `record x, 10`, `record x, y`, `observe mean(x)`, `observe m = mean x`
fn behind_series(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.first(0) {
        return None;
    }
    let (word, at) = series(scene)?;
    let token = scene.token(at)?;
    if let Some(diagnostic) = unnamed(scene, word, token) {
        return Some(diagnostic);
    }
    let number = |offset| {
        scene.is(offset, &[Token::Int, Token::LeftParen]) || {
            let next = scene.is(offset, &[Token::Ident]);
            next && !scene.first(offset)
        }
    };
    let before = scene.text(-1);
    let callable = scene.is(-1, &[Token::Ident]) && FoldOfAgents::of(before).is_some();
    let (help, every) = match scene.token(0)? {
        Token::Int if before == "every" => (
            format!("name what is sampled: `{word} x every {}`", scene.text(0)),
            false,
        ),
        Token::Ident if callable => (
            format!("write the call: `{before}({})`", scene.text(0)),
            false,
        ),
        Token::Comma if scene.is(1, &[Token::Ident]) => {
            (format!("write one `{word}` for each value"), false)
        }
        Token::Comma if number(1) => (format!("write `every {}`", scene.text(1)), false),
        Token::Ident if number(1) => (format!("write `every {}`", scene.text(1)), true),
        _ => (
            "write `every` and the steps between two samples, or nothing".to_owned(),
            false,
        ),
    };
    Some(say::after_series(
        word,
        scene.text(0),
        &help,
        every,
        scene.place(0),
    ))
}

/// `record x every 3 steps`
fn counted_steps(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.is(-1, &[Token::Steps, Token::Step]) || scene.first(-1) {
        return None;
    }
    let (word, at) = series(scene)?;
    let every = (at..0).any(|offset| scene.text(offset) == "every");
    let help = "`every 3` counts steps already: leave this out";
    every.then(|| say::after_series(word, scene.text(-1), help, false, scene.place(-1)))
}

/// The `record` or `observe` before the fault, and its offset.
fn series(scene: &Scene<'_>) -> Option<(&'static str, isize)> {
    let words = [Token::Record, Token::Observe];
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Semicolon];
    let at = scene.back_to(&words, &barriers)?;
    let word = if scene.is(at, &[Token::Record]) {
        "record"
    } else {
        "observe"
    };
    Some((word, at))
}

/// The declaring word at most two letters away.
fn nearest(text: &str) -> Option<&'static str> {
    if text.len() > 12 {
        return None;
    }
    let words = [
        "agents", "steps", "const", "param", "data", "input", "state", "output", "fn", "struct",
        "enum", "init", "step", "finish", "world", "record", "observe",
    ];
    let close = |word: &&str| word.len() > 2 && distance(text, word) <= word.len().min(6) / 3;
    words
        .into_iter()
        .filter(close)
        .min_by_key(|word| distance(text, word))
}

/// Levenshtein's distance, on short words.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// `enum E { A = 0, B = 1 }`
fn numbered_variant(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = scene.opener(0)?;
    let variant = scene.is(0, &[Token::Assign]) && scene.is(1, &[Token::Int]);
    let of_enum = scene.is(open, &[Token::LeftBrace]) && scene.is(open - 2, &[Token::Enum]);
    if !(variant && of_enum) {
        return None;
    }
    let number = |at: &isize| scene.is(*at, &[Token::Assign]) && scene.is(*at + 1, &[Token::Int]);
    let numbers = (open..scene.closer(open)?).filter(number);
    let numbers = numbers.map(|at| Span {
        start: scene.place(at - 1).end,
        end: scene.place(at + 1).end,
    });
    Some(say::numbered_variant(scene.span(0, 1), numbers.collect()))
}

/// `let loss 0.5`, `const float DT = 0.01`
fn missing_equals(scene: &Scene<'_>) -> Option<Diagnostic> {
    let words = [
        Token::Let,
        Token::Var,
        Token::Const,
        Token::State,
        Token::Param,
        Token::Input,
    ];
    let value = scene.token(0).is_some_and(|token| EXPRESSION.has(token));
    if !scene.is(-2, &words) || !scene.is(-1, &[Token::Ident]) || !value || scene.first(0) {
        return None;
    }
    if let Some(ty) = kind(scene.text(-1)) {
        let meant = format!("{}: {ty}", scene.text(0));
        return Some(say::type_before_name(
            scene.text(0),
            &meant,
            scene.span(-1, 0),
        ));
    }
    let wanted = scene.text(-1) != "mut" && scene.expected.has(Token::Assign);
    wanted.then(|| say::missing_equals(scene.text(-2), scene.text(-1), scene.place(-1)))
}

/// `struct P { x: f32; y: f32 }`
fn semicolon(scene: &Scene<'_>) -> Option<Diagnostic> {
    let open = scene.opener(0)?;
    let of_struct = scene.is(open, &[Token::LeftBrace]) && scene.is(open - 2, &[Token::Struct]);
    let wanted = scene.is(0, &[Token::Semicolon]) && scene.expected.has(Token::Comma);
    (of_struct && wanted).then(|| say::operator_spelling(";", ",", scene.place(0)))
}

/// `agents = 100`, `world: 10`
fn count(scene: &Scene<'_>) -> Option<Diagnostic> {
    let word = scene.is(-1, &[Token::Agents, Token::Steps, Token::World]);
    let sign = scene.is(0, &[Token::Assign, Token::Colon]);
    (word && sign).then(|| say::count_with_sign(scene.text(-1), scene.place(0)))
}

/// `fn f(x)`, `struct S { a }`, `data x`
fn missing_type(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.wants_only(Token::Colon) || scene.token(-1) != Some(Token::Ident) {
        return None;
    }
    if scene.is(-2, &[Token::Data]) {
        return Some(say::data_without_type(scene.text(-1), scene.place(-1)));
    }
    if scene.token(0) == Some(Token::Ident) && !scene.first(0) {
        let ty = kind(scene.text(-1)).unwrap_or(scene.text(-1));
        let meant = format!("{}: {ty}", scene.text(0));
        return Some(say::type_before_name(
            scene.text(0),
            &meant,
            scene.span(-1, 0),
        ));
    }
    Some(say::missing_type(scene.text(-1), scene.place(-1)))
}

/// `x: vec3<f32>`
fn type_arguments(scene: &Scene<'_>) -> Option<Diagnostic> {
    let generic = scene.token(0) == Some(Token::Less) && scene.token(-1) == Some(Token::Ident);
    let annotated = scene.is(
        -2,
        &[Token::Colon, Token::Arrow, Token::LeftBracket, Token::Less],
    );
    (generic && annotated).then(|| scene.type_arguments(-1))
}

impl Scene<'_> {
    /// The complaint about `vec3<f32>` or `array<f32, 3>`, whose name stands at an offset.
    pub(super) fn type_arguments(&self, name: isize) -> Diagnostic {
        let mut close = name + 2;
        let inside = [
            Token::Ident,
            Token::Comma,
            Token::Int,
            Token::LeftBracket,
            Token::RightBracket,
        ];
        while self.is(close, &inside) {
            close += 1;
        }
        let word = self.text(name);
        let meant = match word {
            _ if !self.is(close, &[Token::Greater]) => None,
            "vec2" | "vec3" | "vec4" => Some(vec![(self.span(name + 1, close), String::new())]),
            "array" if self.is(close + 1, &[Token::LeftParen]) => {
                self.closer(close + 1).map(|end| {
                    vec![
                        (self.span(name, close + 1), "[".to_owned()),
                        (self.place(end), "]".to_owned()),
                    ]
                })
            }
            "array" if self.is(close - 2, &[Token::Comma]) => {
                let of = self.between(name + 2, close - 3);
                let text = format!("[{of}; {}]", self.text(close - 1));
                Some(vec![(self.span(name, close), text)])
            }
            _ => None,
        };
        let call = self.is(close + 1, &[Token::LeftParen]);
        say::type_arguments(word, call, self.span(name, name + 1), meant)
    }

    /// The first value that a type suggests, for a type from one token to another.
    fn zero(&self, from: isize, to: isize) -> Option<String> {
        if self.is(from, &[Token::LeftBracket]) {
            let semicolon = (from..to)
                .rev()
                .find(|at| self.is(*at, &[Token::Semicolon]))?;
            let element = self.zero(from + 1, semicolon - 1)?;
            return Some(format!(
                "[{element}; {}]",
                self.between(semicolon + 1, to - 1)
            ));
        }
        let zero = match self.text(from) {
            "f32" => "0.0",
            "i32" | "u32" => "0",
            "bool" => "false",
            "vec2" => "vec2(0.0)",
            "vec3" => "vec3(0.0)",
            "vec4" => "vec4(0.0)",
            _ => return None,
        };
        (from == to).then(|| zero.to_owned())
    }
}

/// `[f32, 3]`
fn array_type(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = TokenSet::of(&[Token::Semicolon, Token::RightBracket]);
    (scene.token(0) == Some(Token::Comma) && scene.expected == wanted)
        .then(|| say::comma_in_array_type(scene.place(0)))
}

/// `fn f(x: f32) f32 {`, `fn f(x: f32): f32 {`
fn arrow(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = scene.expected.has(Token::Arrow);
    let found = scene.is(
        0,
        &[
            Token::Ident,
            Token::Colon,
            Token::FatArrow,
            Token::LeftBracket,
        ],
    );
    (wanted && found).then(|| say::missing_arrow(scene.text(0), scene.place(0)))
}

/// `let x`, `state x: f32`
fn missing_value(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.has(Token::Assign) || scene.expected.covers(ASSIGNMENTS) {
        return None;
    }
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Assign];
    let words = [Token::Let, Token::Var, Token::Const, Token::State];
    let word = scene.back_to(&words, &barriers)?;
    if word == -2 && scene.text(-1) == "mut" && scene.token(0) == Some(Token::Ident) {
        return Some(say::let_mut(scene.place(-2).to(scene.place(-1))));
    }
    if scene.is(0, &[Token::Equal]) {
        return Some(say::operator_spelling("==", "=", scene.place(0)));
    }
    let ends = scene.first(0) || scene.is(0, &[Token::Semicolon, Token::RightBrace, Token::Comma]);
    ends.then(|| {
        let span = scene.place(word).to(scene.place(-1));
        let zero = match scene.is(word + 2, &[Token::Colon]) {
            true => scene.zero(word + 3, -1),
            false => Some("0.0".to_owned()),
        };
        say::missing_value(scene.text(word + 1), zero.as_deref(), span)
    })
}
