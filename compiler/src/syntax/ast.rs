//! The tree of a source file, as the user wrote it: names are still text, nothing is typed.
#![allow(
    missing_docs,
    reason = "the doc comment of a variant shows its fields as source text"
)]

use crate::span::Span;

/// A name where it stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A whole source file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// The `//!` lines, without their marks, joined by newlines.
    pub doc: String,
    /// The declarations in source order.
    pub items: Vec<Item>,
}

/// A declaration or a block at the top level.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The `///` lines before it, without their marks, joined by newlines; empty if there are none.
    pub doc: String,
    /// From its first keyword to its last token.
    pub span: Span,
    /// Does `world` stand before it? Only before `input`, `state`, `output`, `observe` and `step`.
    pub of_world: bool,
    /// What it is.
    pub kind: ItemKind,
}

/// What stands at the top level.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `agents 10_000`
    Agents(Expr),
    /// `steps 1_500`
    Steps(Expr),
    /// `world 1_000`
    World(Expr),
    /// `const DT = 1.0 / 252.0`
    Const {
        name: Name,
        ty: Option<Type>,
        value: Expr,
    },
    /// `param beta: f32 = 0.3 in 0.0..1.0`; without a value, the launch must give one.
    Param {
        name: Name,
        ty: Option<Type>,
        value: Option<Expr>,
        range: Option<Range>,
    },
    /// `data signals: [[f32; 36]]`
    Data { name: Name, ty: Type },
    /// `input w1: [[f32; 16]; 8] ~ normal(0.0, 1.5)` or `= 100.0` or nothing
    Input {
        name: Name,
        ty: Option<Type>,
        source: InputSource,
    },
    /// `state age: u32 = 0`
    State {
        name: Name,
        ty: Option<Type>,
        value: Expr,
    },
    /// `output fitness = total / peak`; without a value, the state of that name.
    Output {
        name: Name,
        ty: Option<Type>,
        value: Option<Expr>,
    },
    /// `record price every 5`: a value of each agent as the run goes on; without a value, the state of that
    /// name.
    Record {
        name: Name,
        ty: Option<Type>,
        value: Option<Expr>,
        every: Option<Expr>,
    },
    /// `observe infected = mean(health == Infected) every 10`: the same of the population or a world.
    Observe {
        name: Name,
        ty: Option<Type>,
        value: Option<Expr>,
        every: Option<Expr>,
    },
    /// `fn name(x: f32) -> f32 { … }`
    Fn(Function),
    /// `struct Order { price: f32, size: f32 }`
    Struct { name: Name, fields: Vec<Field> },
    /// `enum Health { Susceptible, Infected, Recovered }`
    Enum { name: Name, variants: Vec<Name> },
    /// `init { … }`
    Init(Block),
    /// `step { … }` or `step t { … }`
    Step { index: Option<Name>, body: Block },
    /// `finish { … }`
    Finish(Block),
    /// `test "name" { … }`
    Test(Test),
    /// What could not be read; a diagnostic says so.
    Error,
}

/// A test of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// Its name as it reads, without marks and escapes; the place is that of the text.
    pub name: Name,
    /// What it launches and expects, in order.
    pub parts: Vec<TestPart>,
    /// From one brace to the other.
    pub body: Span,
}

/// What stands in a test.
#[derive(Clone, Debug, PartialEq)]
pub struct TestPart {
    /// What it is.
    pub kind: TestPartKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of what stands in a test.
#[derive(Clone, Debug, PartialEq)]
pub enum TestPartKind {
    /// `agents 10_000`
    Agents(Expr),
    /// `steps 252`
    Steps(Expr),
    /// `world 100`
    World(Expr),
    /// `seed 7`
    Seed(Expr),
    /// `param sigma = 0.3`
    Param { name: Name, value: Expr },
    /// `data prices = [1.0, 2.0]` or `data prices from "prices.csv"`
    Data { name: Name, source: TestSource },
    /// `input start = 100.0` or `input start from "start.csv"`
    Input { name: Name, source: TestSource },
    /// `expect mean(payoff) ~ 8.02 within 0.05`; a comparison is a part of the value.
    Expect {
        value: Expr,
        relation: Option<TestRelation>,
    },
    /// What could not be read.
    Error,
}

/// Where a test takes a table or an input from.
#[derive(Clone, Debug, PartialEq)]
pub enum TestSource {
    /// `= e`
    Value(Expr),
    /// `from "path"`: the path as it reads; the place is that of the text.
    File(Name),
}

/// What a value must be, if that is no comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum TestRelation {
    /// `~ e within t`
    Near {
        value: Expr,
        tolerance: Expr,
        unit: ToleranceUnit,
    },
    /// `in a..b`
    In(Range),
}

/// What a tolerance is measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToleranceUnit {
    /// The value itself.
    Absolute,
    /// `%` of the value that is expected.
    Percent,
    /// `se`, standard errors of a mean.
    StandardErrors,
}

/// Where an input's value comes from when the launch gives none.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSource {
    /// The launch must give it.
    Required,
    /// `= 100.0`: the same for every agent.
    Default(Expr),
    /// `~ normal(0.0, 1.5)`: one draw per agent and element.
    Drawn(Expr),
}

/// `a..b`, half open.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The first value.
    pub start: Expr,
    /// One past the last value.
    pub end: Expr,
}

/// What a loop or a comprehension runs over.
#[derive(Clone, Debug, PartialEq)]
pub enum Domain {
    /// `a..b`
    Range(Range),
    /// `world`: the agents of the world.
    World(Span),
}

/// A function of the user's.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// Its parameters; every one has a type.
    pub params: Vec<Field>,
    /// The type after `->`.
    pub result: Option<Type>,
    /// Its body.
    pub body: Block,
}

/// `name: type`, in a struct or a parameter list.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// The name.
    pub name: Name,
    /// The type.
    pub ty: Type,
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a written type.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeKind {
    /// `f32`, `vec3`, `Order`
    Name(String),
    /// `[f32; 16]`, or `[f32]` with its length open
    Array(Box<Type>, Option<Box<Expr>>),
    /// What could not be read.
    Error,
}

/// Statements between braces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// The statements in order.
    pub stmts: Vec<Stmt>,
    /// With the braces.
    pub span: Span,
}

/// A statement.
#[derive(Clone, Debug, PartialEq)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a statement.
#[derive(Clone, Debug, PartialEq)]
pub enum StmtKind {
    /// `let x: f32 = e`
    Let {
        name: Name,
        ty: Option<Type>,
        value: Expr,
    },
    /// `var x: f32 = e`
    Var {
        name: Name,
        ty: Option<Type>,
        value: Expr,
    },
    /// `place = e` (`op` is none) or `place += e`
    Assign {
        place: Expr,
        op: Option<BinaryOp>,
        value: Expr,
    },
    /// `if a { } else if b { } else { }`: the branches in order, flat, then the last `else`.
    If {
        branches: Vec<(Expr, Block)>,
        otherwise: Option<Block>,
    },
    /// `for i in a..b { }`, `for other in world { }`
    For {
        index: Name,
        domain: Domain,
        body: Block,
    },
    /// `while c limit N { }`; a missing limit is the checker's complaint.
    While {
        condition: Expr,
        limit: Option<Expr>,
        body: Block,
    },
    /// `match e { A => stmt, B => { … } }`
    Match { value: Expr, arms: Vec<Arm> },
    /// `return e`
    Return(Option<Expr>),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `stop`
    Stop,
    /// `integrate rk4(DT) { … }`
    Integrate { method: Name, dt: Expr, body: Block },
    /// `x' = e`, only inside `integrate`
    Equation { state: Name, value: Expr },
    /// `assert c, "message"`: the message as it reads, without marks and escapes.
    Assert { condition: Expr, message: String },
    /// `{ … }`
    Block(Block),
    /// An expression alone; the checker complains about it.
    Expr(Expr),
    /// What could not be read.
    Error,
}

/// One arm of a `match`.
#[derive(Clone, Debug, PartialEq)]
pub struct Arm {
    /// `A | B`, `3`, `_`; at least one.
    pub patterns: Vec<Pattern>,
    /// The statement after `=>` as a block.
    pub body: Block,
    /// The whole arm.
    pub span: Span,
}

/// What an arm matches.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The forms of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// `_`
    Rest,
    /// `Infected`, `Health.Infected`, `3`, `-1`, `LIMIT`: a constant expression
    Value(Expr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
    /// Nodes on the longest path down to a leaf, 1 for a leaf; the parser keeps it under `MAX_DEPTH`, so
    /// that recursion over the tree is bounded whatever the user wrote.
    pub depth: u32,
}

/// The deepest expression, block or type that the parser accepts.
pub const MAX_DEPTH: u32 = 256;

/// The forms of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// `1`, `1_000`, `0xff`: an abstract integer (at most `u64::MAX` here; the checker bounds it)
    Int(u64),
    /// `7u`: a `u32`
    Uint(u64),
    /// `1.5`, `1e-3`: an abstract float
    Float(f64),
    /// `true`, `false`
    Bool(bool),
    /// `price`, also `agent`, `agents`, `steps`, `member`, `world`
    Name(String),
    /// `(e)`, kept for the formatter
    Paren(Box<Expr>),
    /// `-x`, `!x`, `~x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `f(a, b)`, also conversions and constructors; `callee` is the name
    Call { callee: Name, args: Vec<Expr> },
    /// `bitcast<u32>(x)`
    Bitcast { to: Type, value: Box<Expr> },
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `order.price`, `pos.xy`, `Health.Infected`
    Field(Box<Expr>, Name),
    /// `[a, b]`
    Array(Vec<Expr>),
    /// `[v; N]`
    Repeat(Box<Expr>, Box<Expr>),
    /// `[for i in 0..16: e]`
    Comprehension(Box<Comprehension>),
    /// `sum(for j in 0..8 if c: e)`
    Fold {
        callee: Name,
        over: Box<Comprehension>,
    },
    /// `if c { a } else { b }`: the branches in order, flat, then the last `else`.
    If {
        branches: Vec<(Expr, Expr)>,
        otherwise: Box<Expr>,
    },
    /// What could not be read.
    Error,
}

/// `for i in a..b if c: e`, `for other in world if c: e`
#[derive(Clone, Debug, PartialEq)]
pub struct Comprehension {
    /// The index.
    pub index: Name,
    /// What it runs over.
    pub domain: Domain,
    /// The filter.
    pub filter: Option<Expr>,
    /// The value per index.
    pub value: Expr,
}

/// Operators before their operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-`
    Negate,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// Operators between their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `**`
    Power,
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
    /// `&&`
    And,
    /// `||`
    Or,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

impl UnaryOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            UnaryOp::Negate => "-",
            UnaryOp::Not => "!",
            UnaryOp::Complement => "~",
        }
    }
}

impl BinaryOp {
    /// As written.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Remainder => "%",
            BinaryOp::Power => "**",
            BinaryOp::Equal => "==",
            BinaryOp::NotEqual => "!=",
            BinaryOp::Less => "<",
            BinaryOp::LessEqual => "<=",
            BinaryOp::Greater => ">",
            BinaryOp::GreaterEqual => ">=",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
        }
    }
}
