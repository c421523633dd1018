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
    WorldState(usize),
    /// By its number.
    Param(usize),
    /// By its number.
    Input(usize),
    /// By its number.
    WorldInput(usize),
    /// By its number.
    Data(usize),
    /// `agent`
    Agent,
    /// `member`
    Member,
    /// `world.number`
    WorldNumber,
    /// `len(world)`
    WorldSize,
    /// `world[k]`: an agent, which is its place in the world.
    At(Box<Typed>),
    /// What is read of an agent of the world.
    Of(Box<Typed>, Field),
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
    /// The variant of a number, of so many.
    Variant(Box<Typed>, usize),
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

/// What is read of an agent of the world.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// A state, when the phase began.
    State(usize),
    /// An input.
    Input(usize),
    /// Its place in the world.
    Member,
    /// Its place in the population.
    Agent,
}

/// What a loop or a comprehension runs over.
#[derive(Clone, Debug)]
pub enum Over {
    /// From the first to what is behind the last.
    Range(Box<[Typed; 2]>),
    /// The agents of the world.
    World {
        /// Is a fold of it of the world?
        shared: bool,
    },
}

/// A comprehension.
#[derive(Clone, Debug)]
pub struct Rounds {
    /// Where the index lies.
    pub slot: usize,
    /// What it runs over.
    pub over: Over,
    /// What passes.
    pub filter: Option<Typed>,
    /// The elements.
    pub body: Typed,
}

/// What is assigned, or a part of it.
#[derive(Clone, Copy, Debug)]
pub enum Root {
    /// A variable by its slot.
    Local(usize),
    /// By its number.
    State(usize),
    /// By its number.
    WorldState(usize),
}

/// Where an assignment goes.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where it begins.
    pub root: Root,
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
    For(usize, Over, Vec<Step>),
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
    /// `assert`
    Assert(Typed, String),
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
    /// Its place among all declarations of its kind, of agents and of the world.
    pub number: u32,
}

/// A `step` block.
#[derive(Clone, Debug)]
pub struct Phase {
    /// Its statements; the number of the step has slot 0.
    pub body: Body,
    /// Does it run for each world, in place of each agent?
    pub world: bool,
}

/// Whose values a series has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// Each agent's.
    Agents,
    /// Each world's.
    Worlds,
    /// One for all agents of the run.
    Population,
}

/// How the values of agents become one.
#[derive(Clone, Debug)]
pub enum Sampling {
    /// `sum`, `mean`, `min`, `max`, `count`, `any`, `all`
    Fold(String),
    /// `var`
    Variance,
    /// `sd`
    Deviation,
    /// At these fractions.
    Quantiles(Vec<f32>),
    /// So many bins between two values.
    Histogram(f32, f32, usize),
}

/// What is recorded or observed.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Whose values there are.
    pub whose: Whose,
    /// The type of such a value.
    pub ty: Ty,
    /// What is evaluated: for each agent where it is recorded or folded, otherwise for each world.
    pub value: Typed,
    /// Slots of variables of that expression.
    pub slots: usize,
    /// How values of agents become one.
    pub sampling: Option<Sampling>,
    /// Steps between two samples.
    pub every: u32,
}

/// A model that can be run.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// `agents`
    pub agents: Option<u32>,
    /// `steps`
    pub steps: Option<u32>,
    /// `world`
    pub world: Option<u32>,
    /// Does it need to know how many agents a world has?
    pub has_worlds: bool,
    /// Structs.
    pub structs: Structs,
    /// Params.
    pub params: Vec<Declared>,
    /// Tables.
    pub data: Vec<Declared>,
    /// Inputs of agents.
    pub inputs: Vec<Declared>,
    /// States of agents.
    pub states: Vec<Declared>,
    /// Outputs of agents.
    pub outputs: Vec<Declared>,
    /// Inputs of the world.
    pub world_inputs: Vec<Declared>,
    /// States of the world.
    pub world_states: Vec<Declared>,
    /// Outputs of the world.
    pub world_outputs: Vec<Declared>,
    /// What is recorded and observed.
    pub series: Vec<Series>,
    /// Functions: the body; its parameters have the first slots.
    pub functions: Vec<Body>,
    /// `init` blocks.
    pub init: Vec<Body>,
    /// `step` blocks.
    pub step: Vec<Phase>,
    /// `finish` blocks.
    pub finish: Vec<Body>,
}
