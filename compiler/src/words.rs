//! The words of the language by kind, each with a sentence. Editors read this table: their grammars are
//! filled from it, and a language server explains words with it.
//!
//! Types, integration methods and builtins come from the tables that the checker reads; a test holds the
//! rest against the lexer, so that no keyword and no operator is missing here.

use crate::{
    builtin::{BuiltinId, Meaning, sampled::FOLDS_OF_AGENTS},
    check::SCALARS,
    hir::Method,
    syntax::Token,
};

/// The kind of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// Begins a declaration.
    Declaration,
    /// `every`.
    Sampling,
    /// `test` and the words of tests, which are names elsewhere.
    Testing,
    /// Begins a block that runs at its time.
    Phase,
    /// Declares a variable of a block.
    Binding,
    /// A branch.
    Conditional,
    /// A loop.
    Loop,
    /// A jump.
    Jump,
    /// `integrate`.
    Integrate,
    /// `assert`.
    Check,
    /// `bitcast`.
    Bitcast,
    /// `true` and `false`.
    Boolean,
    /// Reserved; has no meaning yet.
    Reserved,
    /// A builtin type; called, it converts or builds.
    Type,
    /// A builtin value.
    Value,
    /// A method of `integrate`.
    Method,
    /// A builtin function of values.
    Function,
    /// A builtin function of arrays and comprehensions, or a fold of agents in `observe`.
    Fold,
    /// A random draw.
    Draw,
    /// `+` and the like.
    Arithmetic,
    /// `==` and the like.
    Comparison,
    /// Of `bool`s.
    Logical,
    /// Of bits; `~` also gives an input its distribution.
    Bitwise,
    /// An assignment.
    Assignment,
}

/// A word with its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub text: &'static str,
    /// What it is. A word with several meanings has several rows.
    pub role: Role,
    /// One sentence.
    pub doc: &'static str,
}

/// All words and operators: the language's own, then types, methods and builtins.
pub fn words() -> impl Iterator<Item = Word> {
    let row = |role: Role, text: &'static str, doc: &'static str| Word { text, role, doc };
    let own = OWN.iter().map(move |(role, token, doc)| {
        let text = token.text().unwrap_or_default();
        row(*role, text, doc)
    });
    let others = OTHERS
        .iter()
        .map(move |(role, text, doc)| row(*role, text, doc));
    let types = SCALARS
        .iter()
        .map(move |(name, ty)| row(Role::Type, name, type_doc(*ty)));
    let methods = Method::ALL
        .iter()
        .map(move |(name, method)| row(Role::Method, name, method_doc(*method)));
    // A name that is a function and a draw is highlighted as a draw.
    let last = |id: &BuiltinId| BuiltinId::of_name(id.row().name).last() == Some(*id);
    let builtins = BuiltinId::all().filter(last).map(move |id| {
        let builtin = id.row();
        let role = match builtin.meaning {
            Meaning::Pure(_) => Role::Function,
            Meaning::Fold(_) | Meaning::Length => Role::Fold,
            Meaning::Draw(_) => Role::Draw,
        };
        row(role, builtin.name, builtin.doc)
    });
    let of_agents = FOLDS_OF_AGENTS
        .iter()
        .filter(|fold| BuiltinId::find(fold.name).is_none())
        .map(move |fold| row(Role::Fold, fold.name, fold.doc));
    own.chain(others)
        .chain(types)
        .chain(methods)
        .chain(builtins)
        .chain(of_agents)
}

fn type_doc(ty: crate::ir::Type) -> &'static str {
    use crate::ir::Type;
    match ty {
        Type::F32 => "A 32-bit float; called, it converts from other numbers and `bool`.",
        Type::I32 => "A 32-bit integer with sign; called, it converts, also from enums.",
        Type::U32 => "A 32-bit integer without sign; called, it converts, also from enums.",
        Type::Bool => "`true` or `false`; called, it is false for zero and true for all else.",
        Type::Vec2 => "Two `f32`s, `x` and `y`.",
        Type::Vec3 => "Three `f32`s, `x`, `y` and `z`.",
        Type::Vec4 => "Four `f32`s, `x`, `y`, `z` and `w`.",
    }
}

fn method_doc(method: Method) -> &'static str {
    match method {
        Method::Euler => "One stage: x + h k1.",
        Method::Midpoint => "Two stages: x + h k2, with k2 taken half a step ahead.",
        Method::Heun => "Two stages: x + h/2 (k1 + k2), with k2 taken a step ahead.",
        Method::Rk4 => "Four stages: the classical Runge-Kutta method of order 4.",
    }
}

/// Words that are tokens of their own.
const OWN: &[(Role, Token, &str)] = {
    use Role::*;
    &[
        (
            Declaration,
            Token::Agents,
            "The default population: `agents 1_000`.",
        ),
        (
            Declaration,
            Token::Steps,
            "The default number of steps: `steps 252`.",
        ),
        (
            Declaration,
            Token::Const,
            "A value that is known when the model is compiled.",
        ),
        (
            Declaration,
            Token::Param,
            "A value per run, with a default and a legal range.",
        ),
        (
            Declaration,
            Token::Data,
            "A read-only table, the same for all agents.",
        ),
        (
            Declaration,
            Token::Input,
            "A value per agent, given or drawn at launch.",
        ),
        (
            Declaration,
            Token::State,
            "A value per agent that changes while the model runs.",
        ),
        (
            Declaration,
            Token::Output,
            "A value per agent, evaluated after the last step.",
        ),
        (
            Declaration,
            Token::Fn,
            "A function, without effects: `fn f(x: f32) -> f32 { … }`.",
        ),
        (
            Declaration,
            Token::Struct,
            "A type of named fields: `struct P { x: f32, y: f32 }`.",
        ),
        (
            Declaration,
            Token::Enum,
            "A type of named variants: `enum Light { Red, Green }`.",
        ),
        (Phase, Token::Init, "Runs once, after the initial values."),
        (
            Phase,
            Token::Step,
            "Runs once a step; `step t { … }` names the number of the step.",
        ),
        (
            Phase,
            Token::Finish,
            "Runs once, after the last step or a `stop`.",
        ),
        (
            Declaration,
            Token::World,
            "How many agents a world has: `world 1_000`; before `input`, `state`, `output`, `observe` or \
             `step`, one of the world.",
        ),
        (
            Declaration,
            Token::Observe,
            "A fold over all agents, sampled as the run goes on: `observe m = mean(x) every 10`; after \
             `world`, one per world.",
        ),
        (
            Declaration,
            Token::Record,
            "A value of each agent, sampled as the run goes on: `record x every 10`.",
        ),
        (Reserved, Token::Near, "Reserved: it means nothing yet."),
        (Reserved, Token::Spawn, "Reserved: it means nothing yet."),
        (Reserved, Token::Die, "Reserved: it means nothing yet."),
        (Binding, Token::Let, "A name for a value in this block."),
        (
            Binding,
            Token::Var,
            "A variable of this block, which may be assigned.",
        ),
        (
            Conditional,
            Token::If,
            "Runs a block, or is a value, if a condition holds.",
        ),
        (
            Conditional,
            Token::Else,
            "What happens if the condition does not hold.",
        ),
        (
            Conditional,
            Token::Match,
            "Runs the first arm with an equal pattern.",
        ),
        (
            Loop,
            Token::For,
            "Runs once for each number of a range, or each agent of the world: `for i in 0..8 { … }`.",
        ),
        (Loop, Token::In, "Stands before a range or `world`."),
        (
            Loop,
            Token::While,
            "Runs as long as a condition holds: `while c limit 64 { … }`.",
        ),
        (Jump, Token::Return, "Ends the function with a value."),
        (Jump, Token::Break, "Ends the innermost loop."),
        (
            Jump,
            Token::Continue,
            "Continues with the next iteration of the innermost loop.",
        ),
        (
            Jump,
            Token::Stop,
            "Ends the steps of this agent; `finish` and outputs still run.",
        ),
        (
            Integrate,
            Token::Integrate,
            "Advances states by their equations, `x' = …`, over a time.",
        ),
        (
            Check,
            Token::Assert,
            "Says what is true here: `assert x > 0.0, \"x is positive\"`; runs with `--check` look at it.",
        ),
        (
            Bitcast,
            Token::Bitcast,
            "The same 32 bits as another type: `bitcast<u32>(x)`.",
        ),
        (Boolean, Token::True, "The `bool` that holds."),
        (Boolean, Token::False, "The `bool` that does not hold."),
        (Arithmetic, Token::Plus, "Sum."),
        (
            Arithmetic,
            Token::Minus,
            "Difference; before an operand, the negative.",
        ),
        (Arithmetic, Token::Star, "Product."),
        (
            Arithmetic,
            Token::Slash,
            "Quotient; of integers toward zero, and `x / 0` is `x`.",
        ),
        (
            Arithmetic,
            Token::Percent,
            "Remainder, with the sign of the left side; `x % 0` is 0.",
        ),
        (Arithmetic, Token::StarStar, "Power; groups to the right."),
        (Comparison, Token::Equal, "Equal."),
        (Comparison, Token::NotEqual, "Not equal."),
        (Comparison, Token::Less, "Less."),
        (Comparison, Token::LessEqual, "Less or equal."),
        (Comparison, Token::Greater, "Greater."),
        (Comparison, Token::GreaterEqual, "Greater or equal."),
        (
            Logical,
            Token::AndAnd,
            "Both; the right side is evaluated only if the left one holds.",
        ),
        (
            Logical,
            Token::OrOr,
            "Either; the right side is evaluated only if the left one fails.",
        ),
        (Logical, Token::Not, "Not."),
        (Bitwise, Token::And, "The bits that both have."),
        (
            Bitwise,
            Token::Or,
            "The bits that either has; between patterns, one of them.",
        ),
        (Bitwise, Token::Caret, "The bits that one has."),
        (
            Bitwise,
            Token::Tilde,
            "All bits turned; after an input, how it is drawn.",
        ),
        (
            Bitwise,
            Token::ShiftLeft,
            "Bits moved up; the amount counts modulo 32.",
        ),
        (
            Bitwise,
            Token::ShiftRight,
            "Bits moved down; of `i32`, the sign stays.",
        ),
        (Assignment, Token::Assign, "Gives a place a value."),
        (Assignment, Token::PlusAssign, "Adds to a place."),
        (Assignment, Token::MinusAssign, "Subtracts from a place."),
        (Assignment, Token::StarAssign, "Multiplies a place."),
        (Assignment, Token::SlashAssign, "Divides a place."),
        (
            Assignment,
            Token::PercentAssign,
            "Takes the remainder of a place.",
        ),
        (
            Assignment,
            Token::AndAssign,
            "Keeps the bits that the value has, too.",
        ),
        (Assignment, Token::OrAssign, "Adds the bits of the value."),
        (
            Assignment,
            Token::CaretAssign,
            "Turns the bits that the value has.",
        ),
        (
            Assignment,
            Token::ShiftLeftAssign,
            "Moves the bits of a place up.",
        ),
        (
            Assignment,
            Token::ShiftRightAssign,
            "Moves the bits of a place down.",
        ),
    ]
};

/// Words that the lexer knows as names, or with another meaning.
const OTHERS: &[(Role, &str, &str)] = &[
    (
        Role::Loop,
        "limit",
        "The largest number of iterations of a `while`.",
    ),
    (
        Role::Sampling,
        "every",
        "Steps between two samples of `record` and `observe`.",
    ),
    (
        Role::Testing,
        "test",
        "A test of the model, which `simc test` runs: `test \"name\" { … }`.",
    ),
    (Role::Testing, "seed", "The seed of a test."),
    (
        Role::Testing,
        "expect",
        "What a test finds true of a run: `expect mean(x) ~ 8.02 within 0.05`.",
    ),
    (
        Role::Testing,
        "within",
        "How far off a value may be: `within 0.05`, `within 1 %`, `within 4 se`.",
    ),
    (Role::Testing, "se", "Standard errors of a mean, in a test."),
    (Role::Testing, "from", "A file that a test reads."),
    (
        Role::Value,
        "agent",
        "The agent's number in the population, from 0.",
    ),
    (
        Role::Value,
        "member",
        "The agent's place in its world, from 0.",
    ),
    (Role::Value, "agents", "The population."),
    (Role::Value, "steps", "The number of steps."),
    (
        Role::Value,
        "world",
        "The agents of the world: `for other in world`, `world[k].x`, `len(world)`; `world.number` is its \
         number.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_keyword_and_operator_has_one_row() {
        for token in Token::written() {
            let rows = OWN.iter().filter(|row| row.1 == token).count();
            let expected = usize::from(token.is_keyword() || token.is_operator());
            assert_eq!(rows, expected, "`{token}` in the table of words");
        }
    }

    #[test]
    fn every_word_says_one_sentence() {
        for word in words() {
            assert!(!word.text.is_empty() && word.doc.ends_with('.'), "{word:?}");
        }
    }

    #[test]
    fn values_are_values() {
        for word in words().filter(|word| word.role == Role::Value) {
            let value = match word.text {
                "world" => "len(world)",
                text => text,
            };
            let model = format!("agents 1\nsteps 1\noutput x = {value}\n");
            assert!(crate::compile(&model).is_ok(), "`{}`", word.text);
        }
    }
}
