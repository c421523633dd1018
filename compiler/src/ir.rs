//! The intermediate representation that every backend reads: one program of structured statements with
//! effects over trees of pure expressions.
//!
//! Invariants, held by `verify`:
//! * An expression is pure and total: evaluating it early, late or not at all changes nothing but time.
//!   Indices are in range and divisors are guarded by definition of the operators (see [`BinaryOp`]).
//! * An expression node has exactly one user. A value that is used twice has a name: a `let`.
//! * Only scalars, vectors of `f32` and flat arrays of these are left: `lower` has taken structs apart
//!   (one variable per field), flattened nested arrays (row-major), turned enums into `u32`, `match` into
//!   `if`, `while` into a `for` over its limit, `integrate` into its stages, and has inlined every
//!   function that draws, reads inputs or handles arrays or structs.
//! * The program has no unbounded loop and no recursion.
//! * A draw of random bits is the pure expression [`Expr::RandomWord`] of its number within the step; the
//!   counter is an ordinary `u32` variable, so that folding turns it into literals.

pub mod affine;
pub mod checks;
pub mod cost;
pub mod interpret;
mod lane_op;
mod literal;
mod map;
pub mod print;
mod section;
mod typing;
pub mod uniformity;
pub mod verify;
mod walk;

pub use crate::value::{BinaryOp, RealType, Type, UnaryOp, Value};
use crate::{
    builtin::{BuiltinId, Draw},
    span::Span,
};
pub use affine::Affine;
pub use checks::Checks;
pub use lane_op::LaneOp;
pub use map::{ExprMap, FunctionMap, Map, VarMap};
pub use section::Section;
use std::{
    collections::HashMap,
    ops::{Deref, DerefMut},
};
pub use walk::{Nodes, Operands, any_statement, each_statement, names};

/// Names a variable of [`Program::vars`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Names an expression of [`Program::exprs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// Names a function of [`Program::functions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FunctionId(pub u32);

/// A model, lowered: what one agent does from its birth to its outputs.
///
/// Per agent: `init` at birth; then `prologue`, then for every step of `first_step..end_step` each phase in
/// order, unless the agent has stopped; then `ends` and `finish`, once all steps are done. In a run split
/// over several dispatches the states travel through storage, and `prologue` runs again in each. Each of
/// `samples` runs before the first step and after each of every so many.
///
/// # Worlds
///
/// The agents of a world run each phase together: all complete one before the next begins. A phase of owner
/// [`Owner::World`] computes values of the world: every agent of the world runs it, also those that have
/// stopped, and all compute the same, each in copies of its own of the world's states. What differs from
/// agent to agent reaches no state of the world and no control flow but by way of [`Expr::AcrossWorld`];
/// except that an agent may keep a fault of its own in [`Checks::words`].
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// Every variable.
    pub vars: Vec<Var>,
    /// Every expression node.
    pub exprs: Vec<Expr>,
    /// Where in the source each expression comes from, by [`ExprId`].
    pub spans: Vec<Span>,
    /// The elements of every `Constant` array.
    pub constants: Vec<(VarId, Vec<Value<f64>>)>,
    /// Pure functions of scalars and vectors; they call only functions with a smaller id.
    pub functions: Vec<Function>,
    /// The launch parameters, in layout order.
    pub params: Vec<VarId>,
    /// The data tables, in binding order.
    pub data: Vec<VarId>,
    /// The inputs, in layout order.
    pub inputs: Vec<VarId>,
    /// The states, in layout order. A pass may split an array into one variable per element.
    pub states: Vec<VarId>,
    /// The outputs, in layout order.
    pub outputs: Vec<VarId>,
    /// The inputs of a world, in layout order.
    pub world_inputs: Vec<VarId>,
    /// The states of a world, in layout order; each agent has the same values.
    pub world_states: Vec<VarId>,
    /// The outputs of a world, in layout order.
    pub world_outputs: Vec<VarId>,
    /// Assigns every state; runs once at the agent's birth, with the random step `INIT_STEP`.
    pub init: Block,
    /// `let`s that depend on neither step nor states that change: loop-invariant code ends here. And arrays
    /// that are declared once for all steps: no step reads of them what it has not written itself.
    pub prologue: Block,
    /// The phases of one step, in order: the body of the time loop.
    pub phases: Vec<Phase>,
    /// The phases after the last step, with the random step `FINISH_STEP`; they assign the world outputs.
    pub ends: Vec<Phase>,
    /// What is sampled as the run goes on.
    pub samples: Vec<Sample>,
    /// Runs once after `ends`, with the random step `FINISH_STEP`, and assigns every output.
    pub finish: Block,
    /// Per input with a default or a distribution: how the host computes it when the launch gives none.
    pub input_defaults: Vec<InputDefault>,
    /// What is checked.
    pub checks: Checks,
    /// The draws that are not a smooth function of their arguments for given random bits. Only in a program
    /// that no pass has changed.
    pub draws: Vec<DrawSite>,
    /// What the model says of a literal whose `f32` is another number, such as 0.1. Only for a run in `f64`,
    /// of a program that no pass has changed.
    pub texts: HashMap<ExprId, f64>,
    /// Spans that begin here or later are not of the model, but of the prelude.
    pub prelude: u32,
    /// The machine type of its floats.
    pub real: RealType,
}

/// A draw without a derivative by its arguments: of integers, or by rejection.
#[derive(Clone, Debug)]
pub struct DrawSite {
    /// Which distribution.
    pub draw: Draw,
    /// Its arguments.
    pub args: Vec<VarId>,
    /// Where it is made.
    pub span: Span,
}

/// Whose a value is, or who runs a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Owner {
    /// Each agent.
    #[default]
    Agent,
    /// Each world.
    World,
}

/// What the agents of a world run together.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Who runs it.
    pub owner: Owner,
    /// What it does.
    pub body: Block,
}

impl From<Block> for Phase {
    /// A phase of agents.
    fn from(body: Block) -> Phase {
        Phase {
            owner: Owner::Agent,
            body,
        }
    }
}

impl Deref for Phase {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.body
    }
}

impl DerefMut for Phase {
    fn deref_mut(&mut self) -> &mut Block {
        &mut self.body
    }
}

/// Values that are taken before the first step, and then after every so many steps.
///
/// Its body is a phase of owner [`Owner::World`], also for agents that have stopped. In a program without
/// worlds, units of consecutive agents stand for them ([`crate::manifest::UNIT`]). It draws nothing and
/// changes no state but those of [`Checks`].
#[derive(Clone, Debug, Default)]
pub struct Sample {
    /// Steps between two samples, at least 1: those after which `(step + 1) % every == 0`.
    pub every: u32,
    /// Values of each agent, in layout order; the body assigns them.
    pub records: Vec<VarId>,
    /// Values of each world or unit, likewise.
    pub world_records: Vec<VarId>,
    /// Those of them that combine values of agents: the body assigns each agent's own, and once it is
    /// complete they are combined as by [`Expr::AcrossWorld`]. To the others all agents assign the same.
    pub combined: Vec<(VarId, LaneOp)>,
    /// Assigns them.
    pub body: Block,
}

/// How the host computes an input that the launch did not give; no kernel runs this.
#[derive(Clone, Debug)]
pub struct InputDefault {
    /// The input's name in the manifest; its variables are those whose name is it or starts with it and a
    /// dot.
    pub input: String,
    /// The random step of its draws: `INPUT_STEP` less the input's number.
    pub random_step: u32,
    /// Whose input it is.
    pub owner: Owner,
    /// Assigns the input's variables; reads only params and launch numbers other than `Step`.
    pub body: Block,
}

impl InputDefault {
    /// Is a variable, or a field of the manifest, of this name a part of the input?
    pub fn is_of(&self, name: &str) -> bool {
        let rest = name.strip_prefix(self.input.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Var {
    /// The model's name for it, or one that says what it is; need not be unique, backends make it so.
    pub name: String,
    /// The `///` lines of the model, or empty.
    pub doc: String,
    /// The type of a value or of an array's element.
    pub ty: Type,
    /// One value, or a flat array.
    pub len: Len,
    /// Where it lives and who may assign it.
    pub kind: VarKind,
    /// For `Input State Output` and those of the world: its first 32-bit word in the agent's row of its kind,
    /// components and elements following one another. For `Record WorldRecord`: the same in the row of its
    /// sample. For `Param`: the same in the uniform block, see
    /// `manifest`. For `Data`: the number of its binding. For others 0.
    pub word: u32,
    /// Its declaration; empty for what the compiler made, whose name passes may drop.
    pub span: Span,
}

/// How many values a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Len {
    /// One value.
    One,
    /// A flat array of this many values, at least one.
    Fixed(u32),
    /// A `data` table whose outermost length is known at launch: rows of `stride` elements.
    Open {
        /// Elements per row, at least 1.
        stride: u32,
    },
}

/// Where a variable lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VarKind {
    /// An array known at compile time; its elements stand in [`Program::constants`].
    Constant,
    /// The same for all agents, set at launch.
    Param,
    /// Read-only table shared by all agents.
    Data,
    /// Per agent, set at launch.
    Input,
    /// Per agent, changed by steps.
    State,
    /// Per agent, written by `finish`.
    Output,
    /// Per world, set at launch.
    WorldInput,
    /// Per world, changed by phases of the world.
    WorldState,
    /// Per world, written by `ends`.
    WorldOutput,
    /// Per agent, written by each sample.
    Record,
    /// Per world or unit, written by each sample.
    WorldRecord,
    /// A name for a value: assigned by exactly one `Let`, before and in scope of every use.
    Let,
    /// A local variable: declared by one `Var` statement.
    Local,
    /// The index of a `For`, `i32`; only the loop assigns it.
    Index,
    /// A parameter of a function.
    Argument,
}

/// A pure function of scalars and vectors.
#[derive(Clone, Debug)]
pub struct Function {
    /// The model's name for it.
    pub name: String,
    /// The `///` lines of the model, or empty.
    pub doc: String,
    /// Its parameters, `VarKind::Argument`.
    pub params: Vec<VarId>,
    /// What it returns.
    pub result: Type,
    /// Every path ends in a `Return`; no states, inputs, outputs, draws or `Stop` inside.
    pub body: Block,
}

/// Statements in order.
pub type Block = Vec<Stmt>;

/// A statement: the only thing with effects.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// Names a value (a `Let` variable, never an array) from here to the end of the block.
    Let {
        /// The name.
        var: VarId,
        /// Its value.
        value: ExprId,
    },
    /// Declares a `Local` from here to the end of the block: its value, or zeros. Arrays start as zeros.
    Var {
        /// The variable.
        var: VarId,
        /// Its first value; none for arrays.
        value: Option<ExprId>,
    },
    /// Assigns a `Local`, `State` or `Output` that is one value. (In `input_defaults` also an `Input`.)
    Assign {
        /// What is assigned.
        var: VarId,
        /// Its new value, of the same type.
        value: ExprId,
    },
    /// Assigns an element of an array.
    AssignElement {
        /// The array.
        var: VarId,
        /// Which element, `i32`, in range.
        index: ExprId,
        /// Its new value.
        value: ExprId,
    },
    /// Runs one of two blocks.
    If {
        /// A `bool`.
        condition: ExprId,
        /// When it is true.
        accept: Block,
        /// When it is false.
        reject: Block,
    },
    /// Runs `body` for `index` = `start`, `start + 1`, … while less than `end`; both are evaluated once.
    For {
        /// A variable of kind `Index`.
        index: VarId,
        /// An `i32`.
        start: ExprId,
        /// An `i32`.
        end: ExprId,
        /// The body.
        body: Block,
    },
    /// Leaves the innermost `For`.
    Break,
    /// Ends this iteration of the innermost `For`.
    Continue,
    /// Only in a phase of agents: this agent is done, with its states as they are.
    Stop,
    /// Only in a function: its result.
    Return(ExprId),
}

/// An expression: pure and total.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant scalar or vector.
    Literal(Value),
    /// A constant float of a program whose floats are `f64`, which no `f32` is: its bits.
    Double(u64),
    /// A number of the launch, `i32`.
    Launch(Launch),
    /// How many rows an open `data` table has, `i32`, at least 1.
    Rows(VarId),
    /// The value of a variable that is no array, as it is now.
    Read(VarId),
    /// An element of an array.
    Element {
        /// Any variable that is an array.
        array: VarId,
        /// An `i32`, in range by construction.
        index: ExprId,
    },
    /// Components of a vector, 1 to 4 of them: `v.x`, `v.zyx`.
    Swizzle {
        /// A vector.
        vector: ExprId,
        /// Which components, each 0 to 3.
        components: Vec<u8>,
    },
    /// A vector from as many scalars as it has components.
    Compose(Vec<ExprId>),
    /// A vector with all components equal.
    Splat {
        /// The vector type.
        ty: Type,
        /// An `f32`.
        value: ExprId,
    },
    /// An operator on one operand.
    Unary(UnaryOp, ExprId),
    /// An operator on two operands.
    Binary(BinaryOp, ExprId, ExprId),
    /// `accept` if `condition` else `reject`; both are evaluated.
    Select {
        /// A `bool`.
        condition: ExprId,
        /// The value when true.
        accept: ExprId,
        /// The value when false, of the same type.
        reject: ExprId,
    },
    /// A conversion between scalar types as WGSL's `f32(x)`, `i32(x)`, `u32(x)`, `bool(x)`: float to
    /// integer truncates and saturates, NaN gives 0.
    Convert {
        /// The new type.
        to: Type,
        /// A scalar.
        value: ExprId,
    },
    /// The same 32 bits as another scalar type (not `bool`).
    Bitcast {
        /// The new type.
        to: Type,
        /// A scalar.
        value: ExprId,
    },
    /// A builtin function with a pure meaning.
    Builtin(BuiltinId, Vec<ExprId>),
    /// A function of the model.
    Call(FunctionId, Vec<ExprId>),
    /// 32 random bits, `u32`: word `number` (a `u32`) of this agent or its world in a step.
    RandomWord {
        /// Whose stream.
        owner: Owner,
        /// The number of the word within the step.
        number: ExprId,
        /// Which step, a `u32` as the generator counts them ([`crate::random`]); none for the one that runs,
        /// so that the value depends on it.
        step: Option<ExprId>,
    },
    /// A state or input of an agent of the same world, as it was when the phase began; not in `init`.
    Other {
        /// The variable, of kind `State` or `Input`.
        var: VarId,
        /// Of an array: which element, `i32`, in range.
        index: Option<ExprId>,
        /// The agent's place in the world, `i32`, in range.
        member: ExprId,
    },
    /// The values that the lanes of this agent have for a value, combined; the same bits in all of them.
    ///
    /// On a GPU several invocations may run one agent: its lanes. They run the same statements, and differ
    /// only in [`Launch::Lane`] and what follows from it; neither conditions around this expression nor
    /// bounds of loops around it may.
    AcrossLanes {
        /// How.
        op: LaneOp,
        /// How many lanes there are, the same number in the whole program; at least 2.
        lanes: u32,
        /// What each lane has.
        value: ExprId,
    },
    /// The value that another one of this agent's lanes has for an expression. All lanes run it together, as
    /// an [`Expr::AcrossLanes`].
    Shuffle {
        /// How many lanes there are, the same number in the whole program; at least 2.
        lanes: u32,
        /// What each lane has.
        value: ExprId,
        /// Whose value it is, `i32`, in range.
        lane: ExprId,
    },
    /// Only in a phase of a world or a sample: the values that the agents of the world have for a value,
    /// combined as a tree: neighbours by their place in the world first (0 and 1, 2 and 3, …; a last one
    /// without a neighbour stays), then the results likewise. All agents get the same bits; neither
    /// conditions around this expression nor bounds of loops around it may differ from agent to agent of a
    /// world.
    AcrossWorld {
        /// How.
        op: LaneOp,
        /// What each agent has.
        value: ExprId,
    },
}

/// Numbers that the launch knows, all `i32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Launch {
    /// This agent's index in the whole population.
    Agent,
    /// The size of the population.
    Agents,
    /// How many steps the run has.
    Steps,
    /// The index of the current step; only in a phase.
    Step,
    /// This agent's place in its world.
    Member,
    /// The size of the world.
    Members,
    /// The index of the world: `Agent / Members`.
    World,
    /// Which of the agent's lanes this is, from 0; see [`Expr::AcrossLanes`].
    Lane {
        /// How many there are.
        lanes: u32,
    },
}

impl Program {
    /// Adds a variable.
    pub fn add_var(&mut self, var: Var) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    /// Adds a name for a value of the compiler's own, which a `let` binds.
    pub fn add_name(&mut self, name: &str, ty: Type) -> VarId {
        self.add_var(Var {
            name: name.to_owned(),
            doc: String::new(),
            ty,
            len: Len::One,
            kind: VarKind::Let,
            word: 0,
            span: Span::default(),
        })
    }

    /// Whether a step can stop its agent.
    pub fn can_stop(&self) -> bool {
        let stops = |stmt: &Stmt| matches!(stmt, Stmt::Stop);
        self.phases.iter().any(|phase| any_statement(phase, &stops))
    }

    /// Adds an expression node.
    pub fn add(&mut self, expr: Expr, span: Span) -> ExprId {
        self.exprs.push(expr);
        self.spans.push(span);
        ExprId(self.exprs.len() as u32 - 1)
    }

    /// The words of the row that these variables share.
    pub fn row_words(&self, vars: &[VarId]) -> u32 {
        let end = |&var: &VarId| {
            let var = &self[var];
            let elements = match var.len {
                Len::One | Len::Open { .. } => 1,
                Len::Fixed(count) => count,
            };
            var.word + elements * self.words(var.ty)
        };
        vars.iter().map(end).max().unwrap_or(0)
    }

    /// Where an expression comes from.
    pub fn span(&self, id: ExprId) -> Span {
        self.spans[id.0 as usize]
    }
}
