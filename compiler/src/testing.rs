//! The tests of a model, as its source writes them: what each launches, and what it expects of the results.
//! They are no part of a kernel, nor of the manifest.

use crate::{
    ir::Owner,
    manifest::{Scalar, SeriesOf},
    span::Span,
};

/// A test: a launch, and expectations of its results.
#[derive(Clone, Debug)]
pub struct Test {
    /// Its name, which no other test of the model has.
    pub name: String,
    /// Where the name stands.
    pub span: Span,
    /// The population, where the test says it; else the model does.
    pub agents: Option<u32>,
    /// The number of steps, likewise.
    pub steps: Option<u32>,
    /// Agents of a world, likewise.
    pub world: Option<u32>,
    /// The seed of all draws, 0 where the test says none.
    pub seed: u64,
    /// Values that stand in the test, one for each field of the manifest.
    pub given: Vec<Given>,
    /// Values that are read from files.
    pub files: Vec<File>,
    /// What it expects, in order; at least one.
    pub expectations: Vec<Expectation>,
}

/// What a test gives a value to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `param`
    Param,
    /// `data`
    Data,
    /// `input`
    Input,
}

/// A value of a launch.
#[derive(Clone, Debug)]
pub struct Given {
    /// What it is.
    pub role: Role,
    /// The field of the manifest.
    pub name: String,
    /// Its type.
    pub scalar: Scalar,
    /// Its dimensions; of an input those of one agent or world, for all of which it is.
    pub shape: Vec<u32>,
    /// The bits, row by row.
    pub words: Vec<u32>,
}

/// A file that a launch reads.
#[derive(Clone, Debug)]
pub struct File {
    /// A table or an input.
    pub role: Role,
    /// The model's name for it.
    pub name: String,
    /// As it is written, relative to the folder of the model.
    pub path: String,
    /// Where the path stands.
    pub span: Span,
}

/// One `expect`.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// From the first to the last word behind `expect`.
    pub span: Span,
    /// What is looked at.
    pub value: Term,
    /// Where that stands.
    pub value_span: Span,
    /// How both sides are compared and shown.
    pub kind: Kind,
    /// What it must be.
    pub relation: Relation,
}

/// What the values of an expectation are.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Integers, exact up to 2^53.
    Int,
    /// Numbers of which one at least has a fraction: `==` and the orders compare them rounded to `f32`.
    Float,
    /// 0 or 1.
    Bool,
    /// The number of one of these variants.
    Enum(Vec<String>),
}

/// What a value must be.
#[derive(Clone, Debug)]
pub enum Relation {
    /// `value == e`
    Compare(Comparison, Term),
    /// `value ~ e within t`
    Near {
        /// The value that is expected.
        expected: Term,
        /// How far off it may be, at least 0.
        tolerance: f64,
        /// What the tolerance is measured in.
        unit: Unit,
    },
    /// `value in a..b`, both ends included.
    In(Term, Term),
}

/// What a tolerance is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The value itself.
    Absolute,
    /// Hundredths of the value that is expected.
    Percent,
    /// Standard errors of the value, which is a [`Fold::Mean`] over agents or worlds.
    StandardErrors,
}

/// A relation of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
}

impl Comparison {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            Comparison::Equal => "==",
            Comparison::NotEqual => "!=",
            Comparison::Less => "<",
            Comparison::LessEqual => "<=",
            Comparison::Greater => ">",
            Comparison::GreaterEqual => ">=",
        }
    }

    /// Does it hold? Of NaN only `!=` does.
    pub fn holds(self, left: f64, right: f64) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessEqual => left <= right,
            Comparison::Greater => left > right,
            Comparison::GreaterEqual => left >= right,
        }
    }
}

/// A value that is computed, in double precision, from results and constants.
#[derive(Clone, Debug)]
pub enum Term {
    /// A constant; a `bool` is 0 or 1, a variant its number.
    Number(f64),
    /// What the run gave.
    Measure(Measure),
    /// Two terms.
    Combined(Arithmetic, Box<[Term; 2]>),
}

/// How two terms are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
}

/// A value of a run: some of its results, combined.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Where it stands.
    pub span: Span,
    /// Whose values.
    pub of: Of,
    /// The field of the manifest.
    pub name: String,
    /// Which scalar of a row of the field.
    pub element: u32,
    /// A comparison that each value is replaced by.
    pub test: Option<(Comparison, f64)>,
    /// How the values are combined.
    pub fold: Fold,
}

/// Whose values are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// An output's, of all agents or worlds.
    Output(Owner),
    /// A series' that was sampled after this number of steps, or of all samples.
    Series(SeriesOf, Option<u32>),
}

/// How values are combined to one. A NaN among them makes it NaN, but for `count`, `any` and `all`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fold {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// How many are true, or not 0.
    Count,
    /// Is one true?
    Any,
    /// Are all true?
    All,
    /// Their variance, with n - 1 below the sum.
    Var,
    /// The square root of that.
    Sd,
    /// The value at a fraction of the sorted ones.
    Quantile(f64),
    /// The one of a number.
    One(u32),
}
