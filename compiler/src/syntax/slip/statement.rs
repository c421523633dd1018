//! Slips in statements and in what they are made of.

use super::{Scene, block};
use crate::{
    diagnostic::{
        Diagnostic,
        catalog::{control, syntax as say},
    },
    foreign,
    span::Span,
    syntax::{
        parse::{DECLARATIONS, EXPRESSION, NAMES, STATEMENT, operator::INFIX, stmt::ASSIGNMENTS},
        token::{Token, TokenSet},
    },
};

pub(super) fn slip(scene: &Scene<'_>) -> Option<Diagnostic> {
    lone_name(scene)
        .or_else(|| start(scene))
        .or_else(|| assert(scene))
        .or_else(|| for_header(scene))
        .or_else(|| condition(scene))
        .or_else(|| block::missing_brace(scene))
        .or_else(|| arm(scene))
        .or_else(|| value(scene))
}

/// A name, and then something that does not continue it: `elif c {`, `int x = 3`.
fn lone_name(scene: &Scene<'_>) -> Option<Diagnostic> {
    if let Some(offset) = [0, -1]
        .into_iter()
        .find(|offset| scene.word(*offset, &["elif", "elseif", "elsif"]))
    {
        return Some(say::else_if_word(scene.text(offset), scene.place(offset)));
    }
    if scene.is(0, &[Token::Colon]) && scene.is(-1, &[Token::Ident]) && scene.is(1, &[Token::Ident])
    {
        let begins = scene.first(-1) || scene.is(-2, &[Token::LeftBrace, Token::Semicolon]);
        if begins && scene.expected.has(Token::Assign) {
            return Some(say::missing_let(scene.text(-1), scene.place(-1)));
        }
    }
    if !scene.expected.covers(ASSIGNMENTS) {
        return None;
    }
    if let Some(meant) = foreign::statement(scene.text(-1)) {
        return Some(say::foreign_statement(
            scene.text(-1),
            meant,
            scene.place(-1),
        ));
    }
    if scene.word(-1, &["set"]) && scene.is(0, &[Token::Ident]) {
        let last = scene.chain_end(0);
        let meant = format!("{} =", scene.between(0, last));
        return Some(say::set(scene.span(-1, last), &meant));
    }
    if let Some(diagnostic) = typed(scene) {
        return Some(diagnostic);
    }
    let names = scene.token(-1).is_some_and(|token| NAMES.has(token));
    if scene.is(-1, &[Token::Step]) {
        return Some(say::declaration_in_block("step", scene.place(-1)));
    }
    (names && scene.token(0) == Some(Token::Ident)).then(|| {
        say::two_names(
            scene.text(-1),
            scene.text(0),
            scene.place(-1),
            scene.place(0),
        )
    })
}

/// `float x = 1.0`, `float y[3] = …`
fn typed(scene: &Scene<'_>) -> Option<Diagnostic> {
    let ty = foreign::type_name(scene.text(-1)).or_else(|| {
        let own = ["f32", "i32", "u32", "bool", "vec2", "vec3", "vec4"];
        own.into_iter().find(|own| *own == scene.text(-1))
    })?;
    if !scene.is(0, &[Token::Ident]) {
        return None;
    }
    let name = scene.text(0);
    if scene.is(1, &[Token::LeftBracket]) && scene.is(3, &[Token::RightBracket]) {
        let meant = format!("var {name}: [{ty}; {}]", scene.text(2));
        return Some(say::type_before_name(name, &meant, scene.span(-1, 3)));
    }
    let meant = format!("var {name}: {ty}");
    Some(say::type_before_name(name, &meant, scene.span(-1, 0)))
}

/// What cannot begin a statement.
fn start(scene: &Scene<'_>) -> Option<Diagnostic> {
    if !scene.expected.covers(STATEMENT) {
        return None;
    }
    let found = scene.token(0)?;
    let (text, place) = (scene.text(0), scene.place(0));
    if DECLARATIONS.has(found) {
        return Some(say::declaration_in_block(text, place));
    }
    match found {
        Token::Comma if scene.is(-1, &[Token::Ident]) && scene.first(-1) && !scene.first(0) => {
            Some(say::several_places(place))
        }
        Token::Int | Token::Float | Token::Minus | Token::LeftParen
            if scene.first(0) && scene.in_function() =>
        {
            let whole = scene.span(0, scene.value_end(0));
            Some(control::useless_expression(whole, true))
        }
        Token::Else => Some(say::else_without_if(place)),
        Token::LeftParen if scene.is(-1, &[Token::RightParen, Token::RightBracket]) => {
            Some(say::call_of_value(place))
        }
        _ if ASSIGNMENTS.has(found) => {
            let hanging = scene
                .token(-2)
                .is_some_and(|token| ASSIGNMENTS.or(INFIX).has(token));
            if scene.first(-1) && hanging {
                return Some(say::unfinished_statement(scene.place(-2), scene.place(-1)));
            }
            Some(say::chained_assignment(place))
        }
        _ => None,
    }
}

/// `assert(c, "message")`
fn assert(scene: &Scene<'_>) -> Option<Diagnostic> {
    let comma = scene.is(0, &[Token::Comma]) && scene.is(1, &[Token::Text]);
    let barriers = [Token::LeftBrace, Token::RightBrace, Token::Semicolon];
    let word = scene.back_to(&[Token::Assert], &barriers)?;
    let open = word + 1;
    (comma && scene.is(open, &[Token::LeftParen]))
        .then(|| say::assert_with_parentheses(scene.place(open)))
}

/// `for (int i = 0; …)`, `for i in range(10)`, `for i = 0`
fn for_header(scene: &Scene<'_>) -> Option<Diagnostic> {
    let place = scene.place(0);
    if scene.is(-1, &[Token::For]) && scene.is(0, &[Token::LeftParen]) {
        return Some(say::for_with_parentheses(place, counted(scene)));
    }
    if scene.wants_only(Token::In) && scene.is(-2, &[Token::For]) {
        return Some(say::for_without_in(scene.text(-1), place));
    }
    let wanted = scene.expected.has(Token::DotDot);
    let barriers = [Token::LeftBrace, Token::RightBrace];
    let word = scene.back_to(&[Token::In], &barriers)?;
    let span = scene.span(word + 1, -1);
    wanted.then(|| {
        let fix = range_of(scene, word + 1, -1);
        say::for_without_range(scene.text(word + 1), span, fix)
    })
}

/// What `range(10)` or `1:10` is here, and where it stands.
fn range_of(scene: &Scene<'_>, from: isize, to: isize) -> Option<(Span, String)> {
    if scene.word(from, &["range"]) && scene.is(from + 1, &[Token::LeftParen]) {
        let close = scene.closer(from + 1)?;
        let commas: Vec<isize> = (from + 2..close)
            .filter(|at| scene.is(*at, &[Token::Comma]) && scene.opener(*at) == Some(from + 1))
            .collect();
        let text = match commas[..] {
            [] => format!("0..{}", scene.between(from + 2, close - 1)),
            [comma] => format!(
                "{}..{}",
                scene.between(from + 2, comma - 1),
                scene.between(comma + 1, close - 1)
            ),
            _ => return None,
        };
        return (close == to).then(|| (scene.span(from, close), text));
    }
    if !scene.is(to + 1, &[Token::Colon]) || !scene.is(to + 2, &[Token::Int, Token::Ident]) {
        return None;
    }
    let end = match scene.text(to + 2).parse::<u32>() {
        Ok(end) => (u64::from(end) + 1).to_string(),
        Err(_) => format!("{} + 1", scene.text(to + 2)),
    };
    let text = format!("{}..{end}", scene.between(from, to));
    // A colon behind which a line ends begins a block.
    (!scene.first(to + 2)).then(|| (scene.span(from, to + 2), text))
}

/// `(int i = 0; i < 10; i++)`, as it is written here.
fn counted(scene: &Scene<'_>) -> Option<(Span, String)> {
    let close = scene.closer(0)?;
    let name =
        (1..=2).find(|at| scene.is(*at, &[Token::Ident]) && scene.is(*at + 1, &[Token::Assign]))?;
    let index = scene.text(name);
    let first = (name..close).find(|at| scene.is(*at, &[Token::Semicolon]))?;
    let second = (first + 1..close).find(|at| scene.is(*at, &[Token::Semicolon]))?;
    let compared =
        scene.text(first + 1) == index && scene.is(first + 2, &[Token::Less, Token::LessEqual]);
    let by_one = scene.is(second + 1, &[Token::PlusPlus])
        || scene.is(second + 2, &[Token::PlusPlus])
        || { scene.is(second + 2, &[Token::PlusAssign]) && scene.text(second + 3) == "1" };
    if !compared || !by_one {
        return None;
    }
    let start = scene.between(name + 2, first - 1);
    let end = scene.between(first + 3, second - 1);
    let end = match (scene.is(first + 2, &[Token::LessEqual]), end.parse::<u32>()) {
        (false, _) => end.to_owned(),
        (true, Ok(end)) => (u64::from(end) + 1).to_string(),
        (true, Err(_)) => format!("{end} + 1"),
    };
    Some((scene.span(0, close), format!("{index} in {start}..{end}")))
}

/// `if x = 3 {`
fn condition(scene: &Scene<'_>) -> Option<Diagnostic> {
    let barriers = [
        Token::LeftBrace,
        Token::RightBrace,
        Token::Assign,
        Token::Semicolon,
    ];
    let word = scene.back_to(&[Token::If, Token::While], &barriers)?;
    (scene.token(0) == Some(Token::Assign))
        .then(|| say::assignment_in_condition(scene.text(word), scene.place(0)))
}

/// `A: x = 1`, `A -> x = 1`
fn arm(scene: &Scene<'_>) -> Option<Diagnostic> {
    let wanted = scene.expected.has(Token::FatArrow);
    if wanted && scene.word(-1, &["case", "when"]) {
        return Some(say::arm_without_arrow(scene.text(-1), scene.place(-1)));
    }
    let found = scene.is(0, &[Token::Colon, Token::Arrow, Token::Assign]);
    (wanted && found).then(|| say::arm_without_arrow(scene.text(0), scene.place(0)))
}

/// What is no value, where one was expected.
fn value(scene: &Scene<'_>) -> Option<Diagnostic> {
    if scene.wants_only(Token::Else) {
        return Some(say::if_value_without_else(scene.place(-1)));
    }
    let listed = TokenSet::of(&[Token::Comma]).or(INFIX);
    if scene.is(0, &[Token::For]) && scene.expected.covers(listed) {
        return Some(say::comprehension_order(scene.place(0), reordered(scene)));
    }
    if !scene.expected.covers(EXPRESSION) || scene.expected.covers(STATEMENT) {
        return None;
    }
    let found = scene.token(0)?;
    let statement = STATEMENT.has(found) && !EXPRESSION.has(found);
    match found {
        Token::For => Some(say::for_as_value(scene.place(0))),
        _ if statement => Some(say::statement_as_value(scene.text(0), scene.place(0))),
        _ => None,
    }
}

/// `[x * x for x in range(3) if c]`, as it is written here.
fn reordered(scene: &Scene<'_>) -> Option<(Span, String)> {
    let open = scene.opener(0)?;
    let close = scene.closer(open)?;
    if !scene.is(2, &[Token::In]) {
        return None;
    }
    let filter =
        (3..close).find(|at| scene.is(*at, &[Token::If]) && scene.opener(*at) == Some(open));
    let last = filter.unwrap_or(close) - 1;
    let plain = (3..=last).any(|at| scene.is(at, &[Token::DotDot]));
    let (index, value) = (scene.text(1), scene.between(open + 1, -1));
    let (index, domain, value) = match range_of(scene, 3, last) {
        Some((_, range)) => (index, range, value.to_owned()),
        None if plain => (index, scene.between(3, last).to_owned(), value.to_owned()),
        // `v * v for v in x`
        None if filter.is_none() && last == 3 && scene.is(3, &[Token::Ident]) => {
            let array = scene.text(3);
            let value = replaced(value, index, &format!("{array}[i]"))?;
            ("i", format!("0..len({array})"), value)
        }
        None => return None,
    };
    let filter = filter.map(|at| format!(" {}", scene.between(at, close - 1)));
    let text = format!(
        "for {index} in {domain}{}: {value}",
        filter.unwrap_or_default(),
    );
    Some((scene.span(open + 1, close - 1), text))
}

/// A text with another one for a name; none where it has the name `i`, which the other one uses.
fn replaced(text: &str, name: &str, by: &str) -> Option<String> {
    let mut result = String::new();
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|other: char| part(other) != part(c));
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        let field = result.ends_with('.');
        match word {
            _ if word == name && !field => result.push_str(by),
            "i" if !field => return None,
            _ => result.push_str(word),
        }
        rest = after;
    }
    Some(result)
}
