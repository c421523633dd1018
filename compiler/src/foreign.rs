//! The words of Python, C, Julia, NetLogo, WGSL, Rust, R and MATLAB that a person new to the language writes,
//! and what stands here in their place. Messages about what is unknown ask this table first, the nearest name
//! second.

use crate::builtin::BuiltinId;

/// What to do about a word of another language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// This word stands in its place.
    Write(&'static str),
    /// This builtin does.
    Call(BuiltinId),
    /// There is no such word; how to say what was meant.
    Say(&'static str),
    /// It can be left out, because of this.
    Omit(&'static str),
}

use Meant::{Call, Omit, Say, Write};

const LET: &str = "what is known when the model is compiled is a `const`; what depends on params, inputs or \
    states is a `let` in the block that needs it, or a function: `fn x() -> f32 { return … }`";
const ARRAY: &str = "an array is written `[a, b, c]`, and `[0.0; 10]` has ten equal elements";
const ARRAY_OF: &str =
    "compute an array element by element: `[for i in 0..n: e]` with `n` a constant";
const CHOICE: &str = "choose with `if c { a } else { b }`, which is a value";
const GROWS: &str =
    "an array keeps its length; to follow a value over time write `record x` at the top level";
const NOTHING: &str =
    "there is no null value: say that there is none by an `enum`, a `bool` or a number such as -1";
const OF_AGENT: &str =
    "what an agent has are its states, each declared at the top level: `state energy = 10.0`";
const BUILT_IN: &str = "leave it out: there is nothing to import";
const OTHERS: &str = "other agents are those of a `world`: `sum(for other in world: other.x)`";

/// How a model shows values.
pub(crate) const PRINTING: &str =
    "to see a value at the end write `output x` at the top level, over time `record x`";

/// A function that is called so elsewhere.
pub fn function(name: &str) -> Option<Meant> {
    draw(name)
        .or_else(|| of_numbers(name))
        .or_else(|| of_arrays(name))
        .or_else(|| type_name(name).map(Write))
}

fn draw(name: &str) -> Option<Meant> {
    Some(match name {
        "rand" | "drand48" | "random_float" => Call(BuiltinId::RANDOM),
        "randn" | "gauss" | "gaussian" | "normalvariate" => Call(BuiltinId::NORMAL),
        "expovariate" => Write("exponential"),
        "integers" | "random_int" => Write("randint"),
        "rnorm" => {
            Say("one draw for the agent is `normal(mean, deviation)`, without a number of draws")
        }
        "runif" => Say("one draw for the agent is `uniform(a, b)`, without a number of draws"),
        "rexp" => Say("one draw for the agent is `exponential(rate)`, without a number of draws"),
        "rpois" => Say("one draw for the agent is `poisson(mean)`, without a number of draws"),
        "random-float" => Say("write `uniform(0.0, 1.0)`, or `random()` for a number from 0 to 1"),
        "random-normal" => Say("write `normal(0.0, 1.0)`"),
        "random-exponential" => {
            Say("write `exponential(rate)`, with one over the mean as the rate")
        }
        "random-poisson" => Say("write `poisson(mean)`"),
        "choice" | "sample" | "one-of" => {
            Say("draw an index: `x[randint(0, len(x))]`, or `x[categorical(weights)]`")
        }
        _ => return None,
    })
}

fn of_numbers(name: &str) -> Option<Meant> {
    Some(match name {
        "ln" | "logf" => Call(BuiltinId::LOG),
        "fabs" | "fabsf" | "absolute" => Call(BuiltinId::ABS),
        "sqrtf" => Call(BuiltinId::SQRT),
        "expf" => Call(BuiltinId::EXP),
        "power" | "powf" | "powi" => Call(BuiltinId::POW),
        "maximum" | "fmax" | "fmaxf" => Call(BuiltinId::MAX),
        "minimum" | "fmin" | "fminf" => Call(BuiltinId::MIN),
        "arcsin" => Call(BuiltinId::ASIN),
        "arccos" => Call(BuiltinId::ACOS),
        "arctan" => Call(BuiltinId::ATAN),
        "arctan2" => Call(BuiltinId::ATAN2),
        "ceiling" => Call(BuiltinId::CEIL),
        "rsqrt" => Call(BuiltinId::INVERSE_SQRT),
        "lerp" => Call(BuiltinId::MIX),
        "fmod" | "mod" | "rem" => Say("the remainder is written `a % b`"),
        "ifelse" | "where" | "iif" => Say(CHOICE),
        "print" | "println" | "printf" | "disp" | "display" | "show" | "cat" | "fprintf" => {
            Say(PRINTING)
        }
        _ => return None,
    })
}

fn of_arrays(name: &str) -> Option<Meant> {
    Some(match name {
        "prod" => Write("product"),
        "average" => Write("mean"),
        "size" | "length_of" | "numel" | "nrow" => Call(BuiltinId::LEN),
        "zeros" | "ones" | "full" | "fill" | "rep" | "c" | "array" | "vec" | "list" | "tuple" => {
            Say(ARRAY)
        }
        "linspace" | "seq" | "arange" | "range" | "map" | "apply" | "sapply" | "lapply" => {
            Say(ARRAY_OF)
        }
        "append" | "push" | "push_back" | "extend" | "insert" => Say(GROWS),
        "atomicAdd" | "atomicMax" => Say(OTHERS),
        _ => return None,
    })
}

/// A type that is called so elsewhere.
pub fn type_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "float" | "double" | "real" | "f64" | "f16" | "Float" | "Float32" | "Float64"
        | "number" | "numeric" => "f32",
        "int" | "integer" | "long" | "short" | "i64" | "isize" | "Int" | "Int32" | "Int64" => "i32",
        "uint" | "unsigned" | "u64" | "usize" | "size_t" | "UInt" | "UInt32" => "u32",
        "boolean" | "Bool" | "logical" => "bool",
        "vec2f" | "float2" => "vec2",
        "vec3f" | "float3" => "vec3",
        "vec4f" | "float4" => "vec4",
        _ => return None,
    })
}

/// A value, or a statement without anything behind it, that is called so elsewhere.
pub fn value(name: &str) -> Option<Meant> {
    Some(match name {
        "True" | "TRUE" => Write("true"),
        "False" | "FALSE" => Write("false"),
        "None" | "NULL" | "null" | "nil" | "nothing" | "nobody" | "nullptr" | "NA"
        | "undefined" => Say(NOTHING),
        "RAND_MAX" => Say("`random()` is from 0 to 1 already"),
        "end" => Say("the last element of an array is `x[len(x) - 1]`; a block ends with `}`"),
        "begin" | "then" => Say("a block stands between `{` and `}`"),
        "pass" | "noop" => Omit("a block may be empty: `{}`"),
        "tick" | "ticks" => {
            Omit("leave it out: steps are counted; `step t { … }` names the number of each")
        }
        "turtles" | "patches" | "neighbors" => Say(OTHERS),
        "t" | "time" | "step_number" => {
            Say("name the number of the step, an `i32` from 0: `step t { … }`; `f32(t)` is a float")
        }
        _ => return None,
    })
}

/// A word that begins a statement elsewhere.
pub fn statement(name: &str) -> Option<Meant> {
    Some(match name {
        "loop" | "do" | "until" => {
            Say("loops are `for i in 0..n { … }` and `while c limit 100 { … }`")
        }
        "repeat" => Say("write `for i in 0..10 { … }`"),
        "foreach" => Say("write `for i in 0..n { … }`"),
        "switch" | "case" | "default" => Say("write `match x { 0 => { … }, _ => { … } }`"),
        "ifelse" | "unless" => Say("write `if c { … } else { … }`"),
        "ask" => Say(
            "a `step` block runs for each agent: write what each does there; an agent changes no other",
        ),
        "report" => Write("return"),
        "goto" | "try" | "except" | "catch" | "throw" | "raise" | "with" | "yield" | "await" => {
            Say(
                "control flow has `if`, `match`, `for`, `while`, `break`, `continue`, `return` and `stop`",
            )
        }
        "del" | "delete" | "free" => Omit("nothing needs to be freed"),
        "global" | "nonlocal" => Omit("a block sees all declarations of the model"),
        _ => return None,
    })
}

/// A word that begins a declaration elsewhere.
pub fn declaration(name: &str) -> Option<Meant> {
    Some(match name {
        "def" | "func" | "function" | "fun" | "proc" | "to-report" => Write("fn"),
        "let" => Say(LET),
        "final" | "static" | "define" | "constexpr" => Write("const"),
        "var" | "mut" => Write("state"),
        "type" | "record_type" | "typedef" => Write("struct"),
        "parameter" | "uniform" | "override" => Write("param"),
        "main" | "update" | "loop" | "tick" => Write("step"),
        "setup" | "start" => Write("init"),
        "result" | "return" => Write("output"),
        "to" | "void" => Say(
            "write what an agent does in `step { … }`, what it does before the first step in `init { … }`, \
             and after the last in `finish { … }`",
        ),
        "class" | "breed" | "turtles-own" | "patches-own" => Say(OF_AGENT),
        "globals" => Say("what all agents share is a `param`, a `const` or a `world state`"),
        "create-turtles" | "create-agents" | "crt" => {
            Say("the population is declared: `agents 100`")
        }
        "clear-all" | "reset-ticks" | "ca" => Say("a run begins anew by itself: leave this out"),
        _ if is_import(name) => Omit(BUILT_IN),
        "seed" | "set_seed" => Say("a seed is given to the run: `simc run model.sim --seed 42`"),
        "pub" | "public" | "private" | "export" | "inline" | "extern" => {
            Omit("everything in a file is visible in all of it")
        }
        "print" | "println" | "printf" => Say(PRINTING),
        _ => return None,
    })
}

/// Does it begin a line that imports something?
pub fn is_import(name: &str) -> bool {
    let words = [
        "import",
        "using",
        "include",
        "require",
        "library",
        "from",
        "use",
        "extensions",
    ];
    words.contains(&name)
}

/// Is it the name of a module or a namespace, which are unknown here?
pub fn is_module(name: &str) -> bool {
    let modules = [
        "math",
        "Math",
        "np",
        "numpy",
        "jnp",
        "jax",
        "random",
        "rng",
        "std",
        "torch",
        "tf",
        "scipy",
        "stats",
        "statistics",
        "cmath",
        "Base",
        "Random",
        "Distributions",
        "LinearAlgebra",
    ];
    modules.contains(&name)
}
