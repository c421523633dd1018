//! What kind of word belongs at a place, from the tokens before it: they are there in any broken text.

use crate::analysis::{
    Document,
    hover::first_on_line,
    outline::begins_item,
    testing::{self, Expected},
};
use sim_compiler::{
    names::{Declaration, Kind},
    span::Span,
    syntax::Token,
};

/// What may stand at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expects {
    /// The name of something new.
    Nothing,
    /// A name behind a `.`.
    Member,
    Type,
    /// A method of `integrate`.
    Method,
    /// A declaration of the top level.
    Item,
    /// A declaration behind `world`.
    WorldItem,
    Statement,
    Value,
    /// The name of a state, after `output`, `record` or `world observe`.
    State,
    /// `every`, behind the name or the value of what is sampled.
    Every,
    /// What stands at a place of a test.
    InTest(Expected),
}

/// A place: what belongs there, and in which declaration it lies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) expects: Expects,
    /// The word that begins the declaration, or stands behind its `world`.
    item: Option<Token>,
    /// Does `world` begin the declaration?
    of_world: bool,
    /// Behind the `~` of an input.
    drawn: bool,
    /// Just behind the `=` of a declaration.
    begins_value: bool,
    /// Behind the `=` of what is sampled.
    in_value: bool,
    /// Behind the `every` of what is sampled.
    counts: bool,
    in_loop: bool,
    in_integrate: bool,
}

/// The declarations, as snippets.
pub(super) const ITEMS: &[(&str, &str)] = &[
    ("agents", "agents ${1:10_000}"),
    ("steps", "steps ${1:100}"),
    ("const", "const ${1:NAME} = ${2:1.0}"),
    ("param", "param ${1:name} = ${2:0.5} in ${3:0.0}..${4:1.0}"),
    ("data", "data ${1:name}: [${2:f32}]"),
    ("input", "input ${1:name}: ${2:f32} ~ ${3:normal(0.0, 1.0)}"),
    ("state", "state ${1:name} = ${2:0.0}"),
    ("output", "output ${1:name} = ${2:0.0}"),
    (
        "fn",
        "fn ${1:name}(${2:x}: ${3:f32}) -> ${4:f32} {\n    return $0\n}",
    ),
    ("struct", "struct ${1:Name} { ${2:field}: ${3:f32} }"),
    ("enum", "enum ${1:Name} { ${2:First}, ${3:Second} }"),
    ("init", "init {\n    $0\n}"),
    ("step", "step {\n    $0\n}"),
    ("finish", "finish {\n    $0\n}"),
    ("world", "world ${1:1_000}"),
    (
        "world input",
        "world input ${1:name}: ${2:f32} ~ ${3:normal(0.0, 1.0)}",
    ),
    ("world state", "world state ${1:name} = ${2:0.0}"),
    ("world output", "world output ${1:name} = ${2:0.0}"),
    ("world step", "world step {\n    $0\n}"),
    ("record", "record ${1:name} every ${2:10}"),
    ("observe", "observe ${1:name} = ${2:mean}(${3:value})"),
    (
        "world observe",
        "world observe ${1:name} = ${2:mean}(${3:value})",
    ),
    (
        "test",
        "test \"${1:name}\" {\n    expect ${2:mean}(${3:x}) ~ ${4:1.0} within ${5:4 se}\n}",
    ),
];

/// The statements, as snippets.
pub(super) const STATEMENTS: &[(&str, &str)] = &[
    ("let", "let ${1:name} = $0"),
    ("var", "var ${1:name} = $0"),
    ("if", "if ${1:condition} {\n    $0\n}"),
    ("for", "for ${1:i} in 0..${2:n} {\n    $0\n}"),
    ("for in world", "for ${1:other} in world {\n    $0\n}"),
    ("while", "while ${1:condition} limit ${2:100} {\n    $0\n}"),
    ("match", "match ${1:value} {\n    $0\n}"),
    ("integrate", "integrate ${1:rk4}(${2:DT}) {\n    $0\n}"),
    ("return", "return $0"),
    ("break", "break"),
    ("continue", "continue"),
    ("stop", "stop"),
    ("assert", "assert ${1:condition}, \"${2:message}\""),
];

impl Place {
    /// The place of a word, which need not be there yet.
    pub(super) fn at(document: &Document, word: Span) -> Place {
        let all = document.tokens();
        let count = all.partition_point(|(_, span)| span.end <= word.start);
        let before = &all[..count];
        let mut place = Place {
            expects: Expects::Value,
            item: None,
            of_world: false,
            drawn: false,
            begins_value: false,
            in_value: false,
            counts: false,
            in_loop: false,
            in_integrate: false,
        };
        if let Some(expected) = testing::expected(document, before, word) {
            place.expects = Expects::InTest(expected);
            return place;
        }
        let depth = place.walk(document, before);
        place.begins_value = matches!(before.last(), Some((Token::Assign, _)));
        if place.samples() {
            let sampled =
                |(token, _): &&(Token, Span)| !matches!(token, Token::Record | Token::Observe);
            let parts = before.iter().rev().take_while(sampled);
            place.in_value = parts.clone().any(|(token, _)| *token == Token::Assign);
            // The name may be `every`, too.
            let named = parts.clone().count().saturating_sub(1);
            place.counts = (parts.take(named)).any(|(_, span)| document.slice(*span) == "every");
        }
        place.expects = place.expected(document, before, word, depth);
        place
    }

    /// Follows the text up to the place; how many braces are open there.
    fn walk(&mut self, document: &Document, before: &[(Token, Span)]) -> usize {
        let mut open: Vec<Option<Token>> = Vec::new();
        let (mut head, mut last) = (None, None);
        for (token, span) in before {
            match token {
                Token::For | Token::While | Token::Integrate => head = Some(*token),
                Token::LeftBrace => open.push(head.take()),
                Token::RightBrace => {
                    open.pop();
                }
                Token::Tilde if open.is_empty() => self.drawn = true,
                // These never stand inside a block: braces before were left open.
                token if begins_item(*token) && first_on_line(document, *span) => {
                    let starts = span.start == 0
                        || document.text().as_bytes()[span.start as usize - 1] == b'\n';
                    // Inside an expression `world` may begin a line, too.
                    if starts || (open.is_empty() && *token != Token::World) {
                        open.clear();
                        self.item = Some(*token);
                        self.of_world = *token == Token::World;
                        self.drawn = false;
                    }
                }
                token
                    if open.is_empty()
                        && begins_item(*token)
                        && last == Some(Token::World)
                        && self.item == Some(Token::World) =>
                {
                    self.item = Some(*token);
                }
                _ => {}
            }
            last = Some(*token);
        }
        self.in_loop = open
            .iter()
            .any(|head| matches!(head, Some(Token::For | Token::While)));
        self.in_integrate = open.contains(&Some(Token::Integrate));
        open.len()
    }

    fn expected(
        &self,
        document: &Document,
        before: &[(Token, Span)],
        word: Span,
        depth: usize,
    ) -> Expects {
        let Some((last, _)) = before.last() else {
            return Expects::Item;
        };
        let fresh = first_on_line(document, word);
        match last {
            Token::Dot => Expects::Member,
            Token::Output | Token::Record => Expects::State,
            Token::Observe if self.of_world => Expects::State,
            Token::Observe => Expects::Nothing,
            Token::World if depth == 0 && self.item == Some(Token::World) => Expects::WorldItem,
            Token::Let | Token::Var | Token::For | Token::Fn | Token::Struct | Token::Enum => {
                Expects::Nothing
            }
            Token::Const | Token::Param | Token::Data | Token::Input | Token::State => {
                Expects::Nothing
            }
            Token::Integrate => Expects::Method,
            Token::Arrow => Expects::Type,
            Token::Colon | Token::LeftBracket if wants_type(before) => Expects::Type,
            Token::LeftBrace | Token::FatArrow if self.in_code() => Expects::Statement,
            Token::RightBrace | Token::Semicolon if depth > 0 => Expects::Statement,
            Token::RightBrace if fresh => Expects::Item,
            _ if self.declares_parts(before, depth) => Expects::Nothing,
            token if self.samples() && !self.counts && !fresh && ends_value(*token) => {
                match in_brackets(before) {
                    true => Expects::Value,
                    false => Expects::Every,
                }
            }
            token if fresh && ends_value(*token) => {
                if depth == 0 {
                    Expects::Item
                } else {
                    Expects::Statement
                }
            }
            _ => Expects::Value,
        }
    }

    /// In `record` or `observe`.
    pub(super) fn samples(&self) -> bool {
        matches!(self.item, Some(Token::Record | Token::Observe))
    }

    /// Is this the value of an `observe` from its beginning, where a fold of agents belongs?
    pub(super) fn wants_fold(&self) -> bool {
        self.begins_value && self.item == Some(Token::Observe)
    }

    /// Does `world` stand before the declaration?
    pub(super) fn of_world(&self) -> bool {
        self.of_world
    }

    /// May names be read that only agents have? In a fold of agents, `world observe` reads them, too.
    fn in_fold(&self) -> bool {
        self.item == Some(Token::Observe) && self.in_value && !self.begins_value
    }

    /// In a declaration that holds statements.
    fn in_code(&self) -> bool {
        let code = [Token::Fn, Token::Init, Token::Step, Token::Finish];
        self.item.is_some_and(|item| code.contains(&item))
    }

    /// Where the names of fields, variants and parameters are made up.
    fn declares_parts(&self, before: &[(Token, Span)], depth: usize) -> bool {
        let opens = matches!(
            before.last(),
            Some((Token::LeftBrace | Token::Comma | Token::LeftParen, _))
        );
        opens
            && match self.item {
                Some(Token::Struct | Token::Enum) => true,
                Some(Token::Fn) => depth == 0,
                _ => false,
            }
    }

    /// May a declaration of this kind be read here?
    pub(super) fn reads(&self, kind: Kind) -> bool {
        let constant = matches!(
            self.item,
            Some(
                Token::Const
                    | Token::Param
                    | Token::Agents
                    | Token::Steps
                    | Token::World
                    | Token::Data
            )
        ) || self.counts;
        let in_test = matches!(self.expects, Expects::InTest(_));
        match kind {
            Kind::Data | Kind::Input | Kind::State if in_test => false,
            Kind::Output | Kind::Record | Kind::Observation | Kind::Test | Kind::Field => false,
            Kind::Const | Kind::Variant | Kind::Enum | Kind::Struct => true,
            Kind::Index => true,
            Kind::Param => !constant,
            Kind::Data | Kind::Input => !constant && self.item != Some(Token::Input),
            Kind::Function => !constant,
            Kind::State => !constant && !matches!(self.item, Some(Token::Input | Token::Fn)),
            Kind::Parameter | Kind::Let | Kind::Var | Kind::Step => true,
        }
    }

    /// May what is of a world or of an agent be read here, if its kind may?
    pub(super) fn sees(&self, found: &Declaration) -> bool {
        let owned = matches!(found.kind, Kind::State | Kind::Input);
        !owned || !self.of_world || found.of_world || self.in_fold()
    }

    /// Has this number of the launch a meaning here?
    pub(super) fn has_launch(&self, name: &str) -> bool {
        !self.of_world || self.in_fold() || !matches!(name, "agent" | "member")
    }

    /// May the agents of the world be read here?
    pub(super) fn reads_agents(&self) -> bool {
        let code = matches!(self.item, Some(Token::Step | Token::Finish | Token::Output));
        let observed = self.item == Some(Token::Observe) && self.of_world;
        (code || observed && !self.counts) && !self.in_integrate
    }

    /// May random numbers be drawn here?
    pub(super) fn draws(&self) -> bool {
        match self.item {
            Some(Token::Init | Token::Step | Token::Finish | Token::Fn) => !self.in_integrate,
            Some(Token::State) => true,
            Some(Token::Input) => self.drawn,
            _ => false,
        }
    }

    /// May this statement stand here?
    pub(super) fn allows(&self, word: &str) -> bool {
        match word {
            "for in world" => self.reads_agents(),
            "return" => self.item == Some(Token::Fn),
            "stop" => self.item == Some(Token::Step) && !self.in_integrate && !self.of_world,
            "integrate" => self.item != Some(Token::Fn) && !self.in_integrate && !self.of_world,
            "break" | "continue" => self.in_loop,
            _ => true,
        }
    }
}

/// Can a statement or a declaration end with this token?
fn ends_value(token: Token) -> bool {
    let literal = matches!(
        token,
        Token::Int | Token::Uint | Token::Float | Token::Text | Token::True | Token::False
    );
    let word = matches!(
        token,
        Token::Ident | Token::Break | Token::Continue | Token::Stop | Token::Agents | Token::Steps
    );
    literal || word || token.closes() || token == Token::Semicolon
}

/// Does the `:` or `[` at the end begin a type?
fn wants_type(before: &[(Token, Span)]) -> bool {
    let kinds: Vec<Token> = before
        .iter()
        .rev()
        .take(12)
        .map(|(token, _)| *token)
        .collect();
    let after = kinds.iter().position(|token| *token != Token::LeftBracket);
    match after.map(|index| &kinds[index..]) {
        Some([Token::Arrow, ..]) => true,
        Some([Token::Colon, Token::Ident, start, ..]) => matches!(
            start,
            Token::Let
                | Token::Var
                | Token::Const
                | Token::Param
                | Token::Data
                | Token::Input
                | Token::State
                | Token::Output
                | Token::Record
                | Token::Observe
                | Token::LeftParen
                | Token::LeftBrace
                | Token::Comma
        ),
        _ => false,
    }
}

/// Is a round or square bracket open at the end?
fn in_brackets(before: &[(Token, Span)]) -> bool {
    let mut open = 0;
    for (token, _) in before.iter().rev() {
        match token {
            Token::RightParen | Token::RightBracket => open += 1,
            Token::LeftParen | Token::LeftBracket if open == 0 => return true,
            Token::LeftParen | Token::LeftBracket => open -= 1,
            Token::Record | Token::Observe => return false,
            _ => {}
        }
    }
    false
}
