//! What every name of a source file refers to, for editors: the declarations with their types, values and
//! scopes, and for each use its declaration. Works on broken files: what the checker could not reach has no
//! entry.

mod collect;

pub(crate) use collect::collect;

use crate::{diagnostic::Diagnostic, span::Span, syntax::ast};
use std::collections::HashMap;

/// Everything that the front end knows of a source file.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The tree, with `Error` nodes where the text could not be parsed.
    pub tree: ast::Model,
    /// The complaints of syntax and checker, in the order of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The names.
    pub names: Names,
}

/// The names of a source file.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// The declarations, in no particular order.
    pub declarations: Vec<Declaration>,
    /// The declaration of each use of a name, by the place of the use. A declaration is not a use of itself.
    pub uses: HashMap<Span, usize>,
    /// What the value before a `.` has behind it, by the place of the name after the `.`.
    pub members: HashMap<Span, Members>,
    /// The declaration whose name stands at a place.
    by_place: HashMap<Span, usize>,
}

/// A name's declaration.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name.
    pub name: String,
    /// What it declares.
    pub kind: Kind,
    /// Where the name stands.
    pub span: Span,
    /// The whole declaration.
    pub whole: Span,
    /// Where the name can be used; empty for fields, which stand behind a value.
    pub scope: Span,
    /// The documentation before it.
    pub doc: String,
    /// Its type as messages show it, where there is one and it is known.
    pub ty: Option<String>,
    /// Its value, where it is known at compile time.
    pub value: Option<String>,
    /// Is its type written out?
    pub typed: bool,
    /// Does `world` stand before it?
    pub of_world: bool,
    /// The struct of a field, the enum of a variant, the function of a parameter.
    pub owner: Option<usize>,
}

/// What a declaration declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `const`
    Const,
    /// `param`
    Param,
    /// `data`
    Data,
    /// `input`
    Input,
    /// `state`
    State,
    /// `output`; nothing reads it.
    Output,
    /// `record`; nothing reads it.
    Record,
    /// `observe`; nothing reads it.
    Observation,
    /// `test`; nothing reads it.
    Test,
    /// `fn`
    Function,
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// A field of a struct.
    Field,
    /// A variant of an enum.
    Variant,
    /// A parameter of a function.
    Parameter,
    /// `let`
    Let,
    /// `var`
    Var,
    /// The index of a loop or a comprehension.
    Index,
    /// The `t` of `step t`.
    Step,
}

/// What may stand behind the `.` after a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Members {
    /// The components of a vector of this size.
    Components(usize),
    /// The fields or variants of the declaration whose name stands there.
    Of(Span),
    /// The states and inputs of an agent of the world, and its numbers.
    OfAgent,
    /// The number of the world.
    OfWorld,
}

/// What the checker records as it goes, by the places of names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    /// The place of a declaration for that of a use.
    pub(crate) uses: HashMap<Span, Span>,
    /// Types of declarations, as messages show them.
    pub(crate) types: HashMap<Span, String>,
    /// Values of declarations.
    pub(crate) values: HashMap<Span, String>,
    /// Divisions of integers that are known when the model is compiled and leave a remainder, with the
    /// quotient.
    pub(crate) divisions: Vec<(Span, i64)>,
    /// Integers that are known when the model is compiled and became floats.
    pub(crate) floats: Vec<Span>,
    /// As in [`Names`].
    pub(crate) members: HashMap<Span, Members>,
}

impl Kind {
    /// What messages and editors call it.
    pub fn describe(self) -> &'static str {
        match self {
            Kind::Const => "constant",
            Kind::Param => "param",
            Kind::Data => "data table",
            Kind::Input => "input",
            Kind::State => "state",
            Kind::Output => "output",
            Kind::Record => "record",
            Kind::Observation => "observation",
            Kind::Test => "test",
            Kind::Function => "function",
            Kind::Struct => "struct",
            Kind::Enum => "enum",
            Kind::Field => "field",
            Kind::Variant => "variant",
            Kind::Parameter => "parameter",
            Kind::Let => "let",
            Kind::Var => "variable",
            Kind::Index => "loop index",
            Kind::Step => "number of the step",
        }
    }

    /// Is it declared inside a block, a function's head or an expression?
    pub fn is_local(self) -> bool {
        matches!(
            self,
            Kind::Parameter | Kind::Let | Kind::Var | Kind::Index | Kind::Step
        )
    }
}

impl Names {
    /// The declaration whose own name stands there.
    pub fn declared_at(&self, span: Span) -> Option<usize> {
        self.by_place.get(&span).copied()
    }

    /// The declaration that the name at a place names or declares.
    pub fn meant_at(&self, span: Span) -> Option<usize> {
        self.declared_at(span)
            .or_else(|| self.uses.get(&span).copied())
    }

    /// The places where a declaration is used, in order.
    pub fn uses_of(&self, declaration: usize) -> Vec<Span> {
        let uses = self.uses.iter();
        let mut found: Vec<Span> = uses
            .filter(|(_, meant)| **meant == declaration)
            .map(|(span, _)| *span)
            .collect();
        found.sort();
        found
    }

    /// The fields of a struct, the variants of an enum or the parameters of a function, in order.
    pub fn parts_of(&self, owner: usize) -> impl Iterator<Item = &Declaration> {
        let all = self.declarations.iter();
        all.filter(move |declaration| declaration.owner == Some(owner))
    }

    /// The declaration that a name in a block or an expression at this place refers to by the rules of scope,
    /// whether or not the checker got there.
    pub fn visible(&self, name: &str, at: usize) -> Option<usize> {
        let all = self.declarations.iter().enumerate();
        all.filter(|(_, declaration)| declaration.name == name && declaration.reaches(at))
            .max_by_key(|(_, declaration)| declaration.rank())
            .map(|(index, _)| index)
    }

    /// All that is visible at a place, by name.
    pub fn all_visible(&self, at: usize) -> HashMap<&str, usize> {
        let mut found: HashMap<&str, usize> = HashMap::new();
        let all = self.declarations.iter().enumerate();
        for (index, declaration) in all.filter(|(_, declaration)| declaration.reaches(at)) {
            let best = found.entry(&declaration.name).or_insert(index);
            if declaration.rank() >= self.declarations[*best].rank() {
                *best = index;
            }
        }
        found
    }
}

impl Declaration {
    /// What messages and editors call it.
    pub fn describe(&self) -> String {
        let world = if self.of_world { "world " } else { "" };
        format!("{world}{}", self.kind.describe())
    }

    /// Can its name be used at a place?
    fn reaches(&self, at: usize) -> bool {
        let scope = self.scope.range();
        scope.start <= at && at <= scope.end
    }

    /// Of two declarations of a name, the one of higher rank hides the other.
    fn rank(&self) -> u64 {
        match self.kind {
            Kind::Variant => 0,
            kind if !kind.is_local() => 1,
            _ => 2 + u64::from(self.scope.start),
        }
    }
}
