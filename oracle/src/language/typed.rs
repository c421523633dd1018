//! The model with every name resolved and every type known.

use super::value::{Structs, Ty, Value};

/// An expression and its type.
#[derive(Clone, Debug)]
pub struct Typed {
    /// Its type.
    pub ty: Ty,
    /// What it is.
    pub node: Node,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub enum Node {
    /// Known.
    Known(Value),
    /// A local variable by its slot.
    Local(usize),
    /// By its number.
    State(usize),
    /// By its number.
    Param(usize),
    /// By its number.
    Input(usize),
    /// By its number.
    Data(usize),
    /// `agent`
    Agent,
    /// `agents`
    Agents,
    /// `steps`
    Steps,
    /// `-x !x ~x`
    Unary(&'static str, Box<Typed>),
    /// `a + b`
    Binary(&'static str, Box<[Typed; 2]>),
    /// `x ** n` by multiplication.
    Power(Box<Typed>, u32),
    /// `a[i]`
    Index(Box<[Typed; 2]>),
    /// A field by its number.
    Field(Box<Typed>, usize),
    /// Components.
    Swizzle(Box<Typed>, Vec<usize>),
    /// To the type of the expression.
    Convert(Box<Typed>),
    /// The same bits in the type of the expression.
    Bitcast(Box<Typed>),
    /// A vector of scalars and vectors.
    Vector(Vec<Typed>),
    /// A struct of its fields.
    Struct(Vec<Typed>),
    /// A builtin function of scalars and vectors.
    Builtin(String, Vec<Typed>),
    /// A distribution.
    Draw(String, Vec<Typed>),
    /// A function of the model.
    Call(usize, Vec<Typed>),
    /// `[a, b]`
    List(Vec<Typed>),
    /// `[v; N]`
    Repeat(Box<Typed>, usize),
    /// `[for i in a..b: e]`
    Rounds(Box<Rounds>),
    /// A fold of a comprehension.
    FoldRounds(String, Box<Rounds>),
    /// A fold of an array.
    FoldArray(String, Box<Typed>),
    /// `len` of an open table.
    Rows(Box<Typed>),
    /// `if c { a } else { b }`
    If(Box<[Typed; 3]>),
}

/// A comprehension.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Where the index lies.
    pub slot: usize,
    /// The first.
    pub from: Typed,
    /// Behind the last.
    pub to: Typed,
    /// What passes.
    pub filter: Option<Typed>,
    /// The elements.
    pub body: Typed,
}

/// Where an assignment goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// A state, or a local.
    pub state: bool,
    /// Its number or slot.
    pub number: usize,
    /// From there on.
    pub path: Vec<Part>,
    /// What lies there.
    pub ty: Ty,
}

/// A part of a value.
#[derive(Clone, Debug)]
pub enum Part {
    /// An element.
    Element(Typed),
    /// A field.
    Field(usize),
    /// Components.
    Components(Vec<usize>),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Step {
    /// A new variable.
    Let(usize, Typed),
    /// `place = e`, `place += e`
    Assign(Place, Option<&'static str>, Typed),
    /// `state' = e` within `integrate`
    Equation(usize, Typed),
    /// `if`
    If(Typed, Vec<Step>, Vec<Step>),
    /// `for`
    For(usize, Typed, Typed, Vec<Step>),
    /// `while c limit n`
    While(Typed, Typed, Vec<Step>),
    /// `match`; no patterns are `_`.
    Match(Typed, Vec<(Vec<Value>, Vec<Step>)>),
    /// `integrate`
    Integrate(String, Typed, Vec<Step>),
    /// `return`
    Return(Typed),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `stop`
    Stop,
    /// A scope.
    Block(Vec<Step>),
}

/// A body with its own variables.
#[derive(Clone, Debug, Default)]
pub struct Body {
    /// Its statements.
    pub steps: Vec<Step>,
    /// Slots of variables.
    pub slots: usize,
}

/// A named value with an expression.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Ty,
    /// Its value or distribution.
    pub value: Option<Typed>,
    /// Slots of variables of that expression.
    pub slots: usize,
    /// Is the value a distribution?
    pub drawn: bool,
}

/// A model that can be run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// `agents`
    pub agents: Option<u32>,
    /// `steps`
    pub steps: Option<u32>,
    /// Structs.
    pub structs: Structs,
    /// Params.
    pub params: Vec<Declared>,
    /// Tables.
    pub data: Vec<Declared>,
    /// Inputs.
    pub inputs: Vec<Declared>,
    /// States.
    pub states: Vec<Declared>,
    /// Outputs.
    pub outputs: Vec<Declared>,
    /// Functions: the body; its parameters have the first slots.
    pub functions: Vec<Body>,
    /// `init` blocks.
    pub init: Vec<Body>,
    /// `step` blocks; the index has slot 0.
    pub step: Vec<Body>,
    /// `finish` blocks.
    pub finish: Vec<Body>,
}
