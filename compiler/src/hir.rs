//! The checked model: names are ids, every expression has a concrete type, nothing in it can be the
//! user's fault any more (a model with errors never leaves the checker).
#![allow(
    missing_docs,
    reason = "the doc comment of a variant says what its fields are"
)]

pub mod print;
pub mod ty;
mod walk;

pub use crate::syntax::ast::{BinaryOp, UnaryOp};
use crate::{
    builtin::{BuiltinId, Draw, Fold},
    diagnostic::Reported,
    ir::{Launch, Owner},
    manifest::{SeriesFold, SeriesOf},
    span::Span,
    testing,
    value::RealType,
};
use std::collections::HashMap;
pub use ty::{Constant, Type};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
            pub struct $name(pub u32);
        )*
    };
}

ids! {
    /// Names an expression of [`Model::exprs`].
    ExprId
    /// Names a variable of [`Model::locals`].
    LocalId
    /// Names a function of [`Model::functions`].
    FunctionId
    /// Names a struct of [`Model::structs`].
    StructId
    /// Names an enum of [`Model::enums`].
    EnumId
    /// Names a param of [`Model::params`].
    ParamId
    /// Names a table of [`Model::data`].
    DataId
    /// Names an input of [`Model::inputs`].
    InputId
    /// Names a state of [`Model::states`].
    StateId
}

/// A whole model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub doc: String,
    /// Default population.
    pub agents: Option<u32>,
    /// Default number of steps.
    pub steps: Option<u32>,
    /// Default number of agents in a world.
    pub world: Option<u32>,
    pub structs: Vec<Struct>,
    pub enums: Vec<Enum>,
    pub params: Vec<Param>,
    pub data: Vec<Data>,
    pub inputs: Vec<Input>,
    pub states: Vec<State>,
    pub outputs: Vec<Output>,
    pub series: Vec<Series>,
    pub functions: Vec<Function>,
    pub init: Vec<Block>,
    pub step: Vec<StepBlock>,
    pub finish: Vec<Block>,
    pub tests: Vec<Test>,
    pub exprs: Vec<Expr>,
    pub locals: Vec<Local>,
    /// The prelude's functions that are draws.
    pub prelude_draws: Vec<(FunctionId, Draw)>,
    /// The numbers that the model says where constants are other ones, because these are `f32`.
    pub texts: HashMap<ExprId, f64>,
    /// The machine type of floats.
    pub real: RealType,
}

/// `struct`
#[derive(Clone, Debug)]
pub struct Struct {
    pub name: String,
    pub fields: Vec<(String, Type)>,
    pub span: Span,
}

/// `enum`
#[derive(Clone, Debug)]
pub struct Enum {
    pub name: String,
    pub variants: Vec<String>,
}

/// `param`
#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    pub doc: String,
    pub ty: Type,
    pub default: Option<Constant>,
    pub range: Option<[f64; 2]>,
    pub span: Span,
}

/// `data`; its type may be [`Type::Open`].
#[derive(Clone, Debug)]
pub struct Data {
    pub name: String,
    pub doc: String,
    pub ty: Type,
    pub span: Span,
}

/// `input`
#[derive(Clone, Debug)]
pub struct Input {
    pub name: String,
    pub doc: String,
    pub ty: Type,
    pub owner: Owner,
    pub source: InputSource,
    pub span: Span,
}

/// Where an input comes from when the launch gives none.
#[derive(Clone, Copy, Debug)]
pub enum InputSource {
    Required,
    /// A value of the input's type.
    Default(ExprId),
    /// A draw, evaluated once per scalar element.
    Drawn(ExprId),
}

/// `state`
#[derive(Clone, Debug)]
pub struct State {
    pub name: String,
    pub doc: String,
    pub ty: Type,
    pub owner: Owner,
    pub init: ExprId,
    /// Has it an equation in an `integrate`?
    pub integrated: bool,
    pub span: Span,
}

/// `output`
#[derive(Clone, Debug)]
pub struct Output {
    pub name: String,
    pub doc: String,
    pub ty: Type,
    pub owner: Owner,
    pub value: ExprId,
    pub span: Span,
}

/// `record`, `observe`, `world observe`
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub doc: String,
    /// Of a sample.
    pub ty: Type,
    pub of: SeriesOf,
    /// Steps between two samples.
    pub every: u32,
    /// What is sampled, or what of each agent is combined.
    pub value: ExprId,
    pub fold: Option<SeriesFold>,
    pub span: Span,
}

/// `test`
#[derive(Clone, Debug)]
pub struct Test {
    /// All but the values that it gives.
    pub test: testing::Test,
    pub given: Vec<GivenValue>,
}

/// What a test gives a value to.
#[derive(Clone, Debug)]
pub struct GivenValue {
    pub role: testing::Role,
    pub name: String,
    /// Its own, but for the number of rows of an open table, which is that of the value.
    pub ty: Type,
    pub value: Constant,
}

/// `fn`
#[derive(Clone, Debug)]
pub struct Function {
    pub name: String,
    pub doc: String,
    pub params: Vec<LocalId>,
    pub result: Type,
    pub body: Block,
    /// Its body is one expression, which stands wherever it is called: so only in the prelude.
    pub is_expression: bool,
    /// Itself or a function that it calls draws random numbers.
    pub draws: bool,
    /// Itself or a function that it calls reads an input.
    pub reads_inputs: bool,
    /// Itself or a function that it calls reads an input of an agent, `agent` or `member`.
    pub reads_agent: bool,
    /// Itself or a function that it calls reads a table.
    pub reads_data: bool,
    /// Itself or a function that it calls has an `assert`.
    pub asserts: bool,
    pub span: Span,
}

/// Parameters that a function of a kernel may have, by WGSL.
const MAX_PARAMETERS: usize = 255;

impl Model {
    /// The draw that a function of the prelude is.
    pub fn prelude_draw(&self, id: FunctionId) -> Option<Draw> {
        let found = self.prelude_draws.iter().find(|(draw, _)| *draw == id);
        found.map(|(_, draw)| *draw)
    }

    /// A function of the prelude that the compiler itself calls.
    ///
    /// # Panics
    /// If there is none: the prelude's texts are read for the words that call for them.
    pub fn prelude_function(&self, name: &str) -> FunctionId {
        let last = (self.functions.iter()).rposition(|function| function.name == name);
        FunctionId(last.expect("the prelude has this function") as u32)
    }
}

impl Function {
    /// Is its body inlined where it is called? The IR's functions are pure and of scalars and vectors, and
    /// WGSL's have at most this many parameters.
    pub fn is_written_out(&self, model: &Model) -> bool {
        self.draws
            || self.is_expression
            || self.reads_inputs
            || self.asserts
            || self.params.len() > MAX_PARAMETERS
            || self.result.value().is_none()
            || self
                .params
                .iter()
                .any(|&param| model[param].ty.value().is_none())
    }
}

/// `step`, `world step`
#[derive(Clone, Debug)]
pub struct StepBlock {
    pub owner: Owner,
    /// The name of the step index.
    pub index: Option<LocalId>,
    pub body: Block,
}

/// A variable inside a block, a parameter or a loop index.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: String,
    pub ty: Type,
    pub kind: LocalKind,
    pub span: Span,
}

/// What may happen to a local.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    Let,
    Var,
    Index,
    Param,
    /// The index of a `step t` block.
    Step,
}

pub type Block = Vec<Stmt>;

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// `let` or `var`, as the local's kind says.
    Declare {
        local: LocalId,
        value: ExprId,
    },
    /// `place = value`, or `place op= value`
    Assign {
        place: ExprId,
        op: Option<BinaryOp>,
        value: ExprId,
    },
    If {
        branches: Vec<(ExprId, Block)>,
        otherwise: Option<Block>,
    },
    For {
        index: LocalId,
        domain: Domain,
        body: Block,
    },
    While {
        condition: ExprId,
        limit: ExprId,
        body: Block,
    },
    /// Exhaustive: the last arm takes what is left.
    Match {
        value: ExprId,
        arms: Vec<Arm>,
    },
    Return(ExprId),
    Break,
    Continue,
    Stop,
    Integrate {
        method: Method,
        dt: ExprId,
        body: Block,
    },
    /// Only at the top level of an `integrate` body.
    Equation {
        state: StateId,
        value: ExprId,
    },
    /// Only in programs with checks.
    Assert {
        condition: ExprId,
        message: String,
    },
    Block(Block),
}

/// An arm of a `match`.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Constants of the value's type; empty for `_`.
    pub patterns: Vec<Constant>,
    pub body: Block,
}

/// Integration methods for one step of length dt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Euler,
    Midpoint,
    Heun,
    Rk4,
}

impl Method {
    /// Every method with its name.
    pub const ALL: [(&'static str, Method); 4] = [
        ("euler", Method::Euler),
        ("midpoint", Method::Midpoint),
        ("heun", Method::Heun),
        ("rk4", Method::Rk4),
    ];
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: Type,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Constant(Constant),
    Local(LocalId),
    Param(ParamId),
    Data(DataId),
    Input(InputId),
    State(StateId),
    Launch(Launch),
    /// `world[k]`, an agent of the world.
    WorldAt(ExprId),
    /// What belongs to an agent of the world.
    Of(ExprId, AgentField),
    /// How many rows an open table has.
    Rows(DataId),
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// Between scalar types; from an integer to an enum, of which it gives the nearest number.
    Convert(ExprId),
    /// The same bits as the expression's type.
    Bitcast(ExprId),
    /// A pure builtin.
    Builtin(BuiltinId, Vec<ExprId>),
    Draw(Draw, Vec<ExprId>),
    /// In the prelude: 32 random bits, `u32`, by the number of the word within the step.
    RandomWord(ExprId),
    /// In the prelude: the number of the next word, `u32`; that many words are taken.
    TakeWords(u32),
    /// Over an array.
    FoldArray(Fold, ExprId),
    /// Over a comprehension.
    Fold(Fold, Box<Comprehension>),
    Call(FunctionId, Vec<ExprId>),
    /// A struct from its fields, or a vector from its parts, scalars and vectors.
    Compose(Vec<ExprId>),
    /// A vector with equal components.
    Splat(ExprId),
    Index(ExprId, ExprId),
    Field(ExprId, u32),
    Swizzle(ExprId, Vec<u8>),
    Array(Vec<ExprId>),
    /// As many as the type says.
    Repeat(ExprId),
    /// As many as the type says; no filter.
    Comprehension(Box<Comprehension>),
    If {
        branches: Vec<(ExprId, ExprId)>,
        otherwise: ExprId,
    },
    /// A mistake was reported here; never leaves the checker.
    Error(Reported),
}

/// What stands behind an agent of the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AgentField {
    State(StateId),
    Input(InputId),
    /// Its place in the world.
    Member,
    /// Its number in the population.
    Agent,
}

/// What a loop or a comprehension runs over.
#[derive(Clone, Copy, Debug)]
pub enum Domain {
    /// `i32`s from the first to before the last.
    Range(ExprId, ExprId),
    /// The agents of the world.
    World,
}

/// `for i in a..b if c: e`, `for other in world if c: e`
#[derive(Clone, Debug)]
pub struct Comprehension {
    pub index: LocalId,
    pub domain: Domain,
    pub filter: Option<ExprId>,
    pub value: ExprId,
}

macro_rules! index {
    ($($id:ident => $list:ident: $item:ty),* $(,)?) => {$(
        impl std::ops::Index<$id> for Model {
            type Output = $item;
            fn index(&self, id: $id) -> &$item {
                &self.$list[id.0 as usize]
            }
        }
    )*};
}

index! {
    ExprId => exprs: Expr, LocalId => locals: Local, FunctionId => functions: Function,
    StructId => structs: Struct, EnumId => enums: Enum, ParamId => params: Param, DataId => data: Data,
    InputId => inputs: Input,
    StateId => states: State,
}
