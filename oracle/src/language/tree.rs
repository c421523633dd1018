//! The syntax tree, after docs/language.md, "Grammar".

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// An integer without suffix.
    Whole(i64),
    /// An integer with `u`.
    Unsigned(u32),
    /// A number with a point or an exponent.
    Real(f64),
    /// `true`, `false`.
    Truth(bool),
    /// A name.
    Name(String),
    /// `world`, before an index, a field or within `len`.
    World,
    /// `-x !x ~x`
    Unary(&'static str, Box<Expr>),
    /// `a + b`
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `a[i]`
    Index(Box<Expr>, Box<Expr>),
    /// `a.b`
    Field(Box<Expr>, String),
    /// `f(x)`
    Call(String, Vec<Expr>),
    /// `f(for i in a..b if c: e)`
    Fold(String, Box<Comprehension>),
    /// `bitcast<T>(x)`
    Bitcast(Type, Box<Expr>),
    /// `[a, b]`
    List(Vec<Expr>),
    /// `[v; N]`
    Repeat(Box<Expr>, Box<Expr>),
    /// `[for i in a..b: e]`
    Comprehension(Box<Comprehension>),
    /// `if c { a } else { b }`
    If(Box<[Expr; 3]>),
}

/// What a loop or a comprehension runs over.
#[derive(Clone, Debug)]
pub enum Over {
    /// `a..b`
    Range(Expr, Expr),
    /// The agents of the world.
    World,
}

/// `for i in a..b if c: e`
#[derive(Clone, Debug)]
pub struct Comprehension {
    /// The index.
    pub name: String,
    /// What it runs over.
    pub over: Over,
    /// What passes.
    pub filter: Option<Expr>,
    /// The elements.
    pub body: Expr,
}

/// A type as it is written.
#[derive(Clone, Debug)]
pub enum Type {
    /// A name.
    Name(String),
    /// `[T; N]`, `[T]`
    Array(Box<Type>, Option<Box<Expr>>),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `let`
    Let(String, Option<Type>, Expr),
    /// `var`
    Var(String, Option<Type>, Expr),
    /// `place = e`, `place += e` with the operator.
    Assign(Expr, Option<&'static str>, Expr),
    /// `x' = e`
    Equation(String, Expr),
    /// `if`
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `for`
    For(String, Over, Vec<Stmt>),
    /// `while c limit n`
    While(Expr, Expr, Vec<Stmt>),
    /// `match`; no patterns are `_`.
    Match(Expr, Vec<(Vec<Expr>, Vec<Stmt>)>),
    /// `integrate`
    Integrate(String, Expr, Vec<Stmt>),
    /// `return`
    Return(Expr),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `stop`
    Stop,
    /// `assert c, "message"`
    Assert(Expr, String),
    /// A scope.
    Block(Vec<Stmt>),
}

/// A declaration of a value: name, type, value.
#[derive(Clone, Debug)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// Its type, where it is written.
    pub ty: Option<Type>,
    /// Its value.
    pub value: Option<Expr>,
    /// Is the value a distribution?
    pub drawn: bool,
    /// Is there one of the world, in place of one per agent?
    pub world: bool,
}

/// A value that is sampled as a run goes on.
#[derive(Clone, Debug)]
pub struct Sampled {
    /// Its name, type and value; `world` before it.
    pub value: Value,
    /// Is it recorded, in place of observed?
    pub record: bool,
    /// Steps between two samples, where they are written.
    pub every: Option<Expr>,
}

/// A `step` block.
#[derive(Clone, Debug)]
pub struct Phase {
    /// The name of the step's number.
    pub index: Option<String>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Does it run for each world, in place of each agent?
    pub world: bool,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Names and types of its parameters.
    pub params: Vec<(String, Type)>,
    /// Its result.
    pub result: Type,
    /// Its body.
    pub body: Vec<Stmt>,
}

/// A model.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// `agents`
    pub agents: Option<Expr>,
    /// `steps`
    pub steps: Option<Expr>,
    /// `world`
    pub world: Option<Expr>,
    /// Constants.
    pub consts: Vec<Value>,
    /// Params.
    pub params: Vec<Value>,
    /// Tables.
    pub data: Vec<Value>,
    /// Inputs.
    pub inputs: Vec<Value>,
    /// States.
    pub states: Vec<Value>,
    /// Outputs.
    pub outputs: Vec<Value>,
    /// What is recorded and observed.
    pub series: Vec<Sampled>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Structs: names and fields.
    pub structs: Vec<(String, Vec<(String, Type)>)>,
    /// Enums: names and variants.
    pub enums: Vec<(String, Vec<String>)>,
    /// `init` blocks.
    pub init: Vec<Vec<Stmt>>,
    /// `step` blocks.
    pub step: Vec<Phase>,
    /// `finish` blocks.
    pub finish: Vec<Vec<Stmt>>,
}
