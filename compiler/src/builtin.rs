//! The one table of builtin functions: name, types, meaning, WGSL spelling, precise form, cost, bounds,
//! derivative, tolerance and documentation in a row. The checker, the folder, every backend, the reference
//! manual and the tests read it. Code that must know a builtin names its constant, such as
//! [`BuiltinId::EXP`], never its string.

pub mod constants;
pub mod domain;
pub mod eval;
mod facts;
pub mod manual;
pub mod math;
pub mod precise;
pub mod real;
pub mod sampled;
pub mod table;

pub use facts::{Bounds, Cost, Precise};

use crate::value::{Type, Value};

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// As a `.sim` file calls it.
    pub name: &'static str,
    /// Names of the parameters, for messages and the manual.
    pub params: &'static [&'static str],
    /// What it does.
    pub meaning: Meaning,
    /// One sentence.
    pub doc: &'static str,
    /// A line that holds, such as `max(2.0, 3.0) == 3.0`; a test evaluates it.
    pub example: &'static str,
}

/// Headings of the reference manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Area {
    /// Of numbers, component by component.
    Arithmetic,
    /// `exp`, `log`, `pow`, `sqrt`.
    Exponential,
    /// `sin` and its kin.
    Trigonometry,
    /// Activation functions and the like.
    Activation,
    /// Of vectors as a whole.
    Vector,
    /// Of bits of integers.
    Bits,
    /// Of arrays and comprehensions.
    Fold,
    /// Random draws.
    Random,
}

/// What a builtin does.
#[derive(Clone, Copy, Debug)]
pub enum Meaning {
    /// A pure function of scalars and vectors: a node in the IR.
    Pure(Pure),
    /// A fold over an array or a comprehension; `lower` makes a loop of it.
    Fold(Fold),
    /// A random draw; `lower` makes words and arithmetic of it.
    Draw(Draw),
    /// The length of an array, `i32`; `lower` knows it.
    Length,
}

/// A pure function of scalars and vectors.
#[derive(Clone, Copy, Debug)]
pub struct Pure {
    /// Which types `T` stands for in `params` and `result`.
    pub class: Class,
    /// The types of the parameters.
    pub params: &'static [Slot],
    /// The type of the result.
    pub result: Slot,
    /// The reference meaning, given arguments of fitting types.
    pub eval: fn(&[Value]) -> Value,
    /// The same where floats are `f64`. Only in the tables of areas: see [`real::Real::apply`].
    pub double: Double,
    /// How WGSL says it.
    pub wgsl: Wgsl,
    /// What computes it under `--math precise`.
    pub precise: Precise,
    /// What a call costs.
    pub cost: Cost,
    /// Where its results lie.
    pub bounds: Bounds,
    /// Partial derivatives with respect to each parameter, as Sim expressions of the parameters' names;
    /// empty for functions of integers and for vector-valued functions of whole vectors, which are taken
    /// apart before they are differentiated; `"0.0"` where it is zero almost everywhere. Component by
    /// component for vectors; where the result alone is a number, the gradient.
    pub derivative: &'static [&'static str],
    /// How far a backend's result may be from `eval`'s.
    pub tolerance: Tolerance,
}

/// What a builtin means where floats are `f64`: see [`real`].
#[derive(Clone, Copy, Debug)]
pub enum Double {
    /// Not stated: a test refuses the row.
    Unstated,
    /// It has no floats.
    Same,
    /// Given arguments of fitting types.
    Of(fn(&[Value<f64>]) -> Value<f64>),
}

/// Sets of types that a `T` may stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// `f32` and vectors.
    Float,
    /// `f32`, `i32`, `u32` and vectors.
    Numeric,
    /// `f32`, `i32` and vectors.
    Signed,
    /// `i32` and `u32`.
    Integer,
    /// Vectors.
    Vector,
    /// Every type of one value.
    Any,
}

/// The type of a parameter or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The type that all `T` of a call share.
    T,
    /// The component type of `T`.
    Component,
    /// `f32`
    F32,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `bool`
    Bool,
    /// `vec3`
    Vec3,
}

/// How WGSL says a builtin.
#[derive(Clone, Copy, Debug)]
pub enum Wgsl {
    /// A WGSL builtin of that name with the same parameters.
    Native(&'static str),
    /// A helper function of that name, whose text for scalar `f32` (or the one type it has) stands here;
    /// for vectors the emitter calls it component by component. `needs` are the helpers that it calls.
    Helper {
        /// The function's name in WGSL.
        name: &'static str,
        /// Its whole text, `fn name(x: f32) -> f32 { … }`.
        text: &'static str,
        /// Names of other builtins whose helpers the text calls.
        needs: &'static [&'static str],
    },
    /// An expression for every type, in which `{0}`, `{1}`, … stand once each for the arguments.
    Expression(&'static str),
}

impl Wgsl {
    const fn helper(
        name: &'static str,
        text: &'static str,
        needs: &'static [&'static str],
    ) -> Wgsl {
        Wgsl::Helper { name, text, needs }
    }
}

/// How far a backend's result may be from the reference. A backend may also flush denormal arguments and
/// results to zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tolerance {
    /// To the bit (NaN equals NaN; zeros of either sign are equal).
    Exact,
    /// In units in the last place of the reference.
    Ulp {
        /// So many.
        ulp: f32,
        /// For float arguments of at most this size.
        up_to: f32,
    },
    /// Absolute error, or relative where that is larger.
    Mixed {
        /// In the result's own unit.
        absolute: f32,
        /// As a fraction of the reference.
        relative: f32,
        /// For float arguments of at most this size.
        up_to: f32,
    },
}

impl Tolerance {
    /// The size of arguments that a tolerance is good for where nothing smaller is said: 1e30.
    pub const WIDE: f32 = 1e30;

    /// So many units in the last place.
    const fn ulp(ulp: f32) -> Tolerance {
        Tolerance::Ulp {
            ulp,
            up_to: Tolerance::WIDE,
        }
    }

    /// This absolute error, or this relative one where that is larger.
    const fn within(absolute: f32, relative: f32) -> Tolerance {
        Tolerance::Mixed {
            absolute,
            relative,
            up_to: Tolerance::WIDE,
        }
    }

    /// The same for float arguments of at most this size only.
    const fn up_to(mut self, size: f32) -> Tolerance {
        match &mut self {
            Tolerance::Exact => {}
            Tolerance::Ulp { up_to, .. } | Tolerance::Mixed { up_to, .. } => *up_to = size,
        }
        self
    }

    /// The largest float arguments for which it holds.
    pub fn largest_argument(&self) -> f32 {
        match self {
            Tolerance::Exact => Tolerance::WIDE,
            Tolerance::Ulp { up_to, .. } | Tolerance::Mixed { up_to, .. } => *up_to,
        }
    }
}

/// Folds over arrays and comprehensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Of numbers and vectors; 0 for nothing.
    Sum,
    /// Of numbers; 1 for nothing.
    Product,
    /// Of numbers; the type's largest value for nothing.
    Min,
    /// Of numbers; the type's smallest value for nothing.
    Max,
    /// Of floats; NaN for nothing.
    Mean,
    /// Of `bool`s; false for nothing.
    Any,
    /// Of `bool`s; true for nothing.
    All,
    /// How many are true, or how many pass the filter; `i32`.
    Count,
    /// Index of the first smallest, `i32`; 0 for nothing.
    ArgMin,
    /// Index of the first largest, `i32`; 0 for nothing.
    ArgMax,
}

/// Random draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Draw {
    /// `f32` in [0, 1), multiples of 2^-24. One word.
    Random,
    /// `f32` in [a, b). One word.
    Uniform,
    /// `f32`, standard or with mean and standard deviation. Two words.
    Normal,
    /// `f32`, mean 1/rate. One word.
    Exponential,
    /// `bool`, true with probability p. Two words.
    Bernoulli,
    /// `i32` in [a, b). Two words.
    RandInt,
    /// `i32`. 96 words.
    Poisson,
    /// `i32`, an index into weights. Two words.
    Categorical,
    /// `f32` between two ends, the form of `normal` with four arguments. One word.
    NormalBetween,
    /// `f32`, whose logarithm is normal. Two words.
    LogNormal,
    /// `f32`, with shape and scale. 64 words.
    Gamma,
    /// `f32` in [0, 1], with two shapes. 128 words.
    Beta,
    /// `f32`, with degrees of freedom. 64 words.
    ChiSquared,
    /// `f32`, with degrees of freedom. Two words.
    StudentT,
    /// `f32`, with location and scale. One word.
    Cauchy,
    /// `f32`, with location and scale. Two words.
    Laplace,
    /// `i32`, successes in n trials. 128 words.
    Binomial,
    /// `i32`, trials up to the first success. 32 words.
    Geometric,
}

impl Draw {
    /// As a `.sim` file calls it.
    pub fn name(self) -> &'static str {
        match self {
            Draw::Random => "random",
            Draw::Uniform => "uniform",
            Draw::Normal | Draw::NormalBetween => "normal",
            Draw::Exponential => "exponential",
            Draw::Bernoulli => "bernoulli",
            Draw::RandInt => "randint",
            Draw::Poisson => "poisson",
            Draw::Categorical => "categorical",
            Draw::LogNormal => "lognormal",
            Draw::Gamma => "gamma",
            Draw::Beta => "beta",
            Draw::ChiSquared => "chi_squared",
            Draw::StudentT => "student_t",
            Draw::Cauchy => "cauchy",
            Draw::Laplace => "laplace",
            Draw::Binomial => "binomial",
            Draw::Geometric => "geometric",
        }
    }
}

impl Fold {
    /// The fold that a call of this name with one array or comprehension is: that of the table's row, or
    /// `min` and `max`, whose rows are the functions of two numbers.
    pub fn of(name: &str) -> Option<Fold> {
        match BuiltinId::find(name)? {
            BuiltinId::MIN => Some(Fold::Min),
            BuiltinId::MAX => Some(Fold::Max),
            other => match other.row().meaning {
                Meaning::Fold(fold) => Some(fold),
                Meaning::Pure(_) | Meaning::Draw(_) | Meaning::Length => None,
            },
        }
    }
}

/// Names a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BuiltinId(u16);

impl BuiltinId {
    /// The builtin that a `.sim` file calls by this name; the first, if there are several.
    pub fn find(name: &str) -> Option<BuiltinId> {
        BuiltinId::of_name(name).next()
    }

    /// All builtins of a name, in the order of the table: `gamma` is a function of one number and a draw with
    /// two.
    pub fn of_name(name: &str) -> impl Iterator<Item = BuiltinId> {
        BuiltinId::all().filter(move |id| id.row().name == name)
    }

    /// The builtin that a call of this name with so many arguments means: of several the one that takes so
    /// many, else the last.
    pub fn called(name: &str, arguments: usize) -> Option<BuiltinId> {
        BuiltinId::of_name(name)
            .find(|id| id.row().params.len() == arguments)
            .or(BuiltinId::of_name(name).last())
    }

    /// Those that give one of their arguments.
    pub const BOUNDS: [BuiltinId; 3] = [BuiltinId::MIN, BuiltinId::MAX, BuiltinId::CLAMP];

    /// All of them, in the order of the table.
    pub fn all() -> impl Iterator<Item = BuiltinId> {
        (0..table::COUNT as u16).map(BuiltinId)
    }

    /// Its row.
    pub fn row(self) -> &'static Builtin {
        &table::rows()[self.index()]
    }

    /// The place of its row in the table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Builtin {
    /// The heading in the reference manual.
    pub fn area(&self) -> Area {
        table::area(self)
    }

    /// Its pure meaning.
    ///
    /// # Panics
    /// For folds, draws and `len`, which never reach the IR.
    pub fn pure(&self) -> &Pure {
        match &self.meaning {
            Meaning::Pure(pure) => pure,
            Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => {
                panic!("`{}` is not a pure function", self.name)
            }
        }
    }

    /// The type that a call with arguments of these types has.
    pub fn result(&self, args: &[Type]) -> Type {
        let pure = self.pure();
        let t = pure
            .params
            .iter()
            .zip(args)
            .find(|(slot, _)| **slot == Slot::T)
            .map_or(Type::F32, |(_, ty)| *ty);
        pure.result.resolve(t)
    }
}

impl Slot {
    /// The type, given what `T` stands for.
    pub fn resolve(self, t: Type) -> Type {
        match self {
            Slot::T => t,
            Slot::Component => t.scalar(),
            Slot::F32 => Type::F32,
            Slot::I32 => Type::I32,
            Slot::U32 => Type::U32,
            Slot::Bool => Type::Bool,
            Slot::Vec3 => Type::Vec3,
        }
    }
}

impl Class {
    /// May `T` be this type?
    pub fn contains(self, ty: Type) -> bool {
        match self {
            Class::Float => ty.is_float(),
            Class::Numeric => ty != Type::Bool,
            Class::Signed => ty.is_float() || ty == Type::I32,
            Class::Integer => matches!(ty, Type::I32 | Type::U32),
            Class::Vector => ty.is_vector(),
            Class::Any => true,
        }
    }
}
