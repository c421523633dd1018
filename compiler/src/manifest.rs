//! The contract between a compiled model and whoever runs it: names, types, shapes, documentation,
//! defaults and where each value lies in which buffer. Serialises to JSON; see the manifest's page in the
//! documentation.
//!
//! # The buffers of a kernel, all in bind group 0
//!
//! | binding | WGSL name | holds |
//! |---|---|---|
//! | 0 | `run` (uniform) | the header below, then open-table lengths, then the params |
//! | 1 | `inputs` (read) | one row per agent, padded to a multiple of 4 words; `array<vec4<f32>>`, or `vec4<u32>` if any input is no float |
//! | 2 | `states` (read, write) | word `w` of agent `i` at `w * run.agents + i`; `array<f32>`, or `array<u32>` if any state is no float |
//! | 3 | `outputs` (read, write) | likewise; after the outputs the samples, see [`Sampling`] |
//! | 4 | `progress` (read, write) | per agent: steps really run, plus [`STOPPED`] once it has stopped, plus [`CUT_SHORT`] if loops were cut |
//! | 5 … | the data tables by name (read) | flat, row-major; a struct's fields are tables of their own |
//! | the next | `worlds` (read, write) | word `w` of world `j` at `w * count + j` for `count` worlds of this dispatch: its inputs, then its states, its outputs and its samples; `array<u32>` |
//! | or, the next | `per_step` (read) | in kernels with a step table, which their entry point `prepare` fills: see [`StepTable`] |
//!
//! A kernel that computes several runs in a dispatch, as a runtime may ask for, has one more binding after
//! these, `points` (read): a block per run, laid out as `run`, for its params, its seed and the number of its
//! agents. `run.agents` then counts the agents of all runs, which lie one after the other.
//!
//! The next two, if the kernel has them: `spill` (read, write), see [`Spill`], and `constants` (read), see
//! [`ConstantTables`].
//!
//! A binding whose kind the model lacks is left out. `i` counts the agents of this dispatch from 0, `j` its
//! worlds; the agent's own number is `run.first_agent + i`.

mod series;

pub use crate::value::{RealType, Scalar};
use crate::{ir::interpret::Progress, value::WORD_BYTES};
use serde::{Deserialize, Serialize};
pub use series::{Number, Sampling, Series, SeriesFold, SeriesOf, UNIT};

/// The version of the manifest's format; increases when a reader of an older one would go wrong.
pub const VERSION: u32 = 1;

/// Flag in `progress`: the agent has stopped. The 30 low bits count its steps.
pub const STOPPED: u32 = 0x8000_0000;

/// Flag in `progress`, kept by later dispatches: the device ended a loop before its bound, as software
/// adapters do after 65,535 iterations; the agent's results are worthless.
pub const CUT_SHORT: u32 = 0x4000_0000;

impl Progress {
    /// Encodes it as a kernel does.
    pub fn word(self) -> u32 {
        self.steps | if self.stopped { STOPPED } else { 0 }
    }

    /// Decodes what a kernel stores.
    pub fn from_word(word: u32) -> Self {
        Progress {
            steps: word & !STOPPED,
            stopped: word & STOPPED != 0,
        }
    }
}

/// Data tables have the bindings from here on.
pub const FIRST_DATA_BINDING: u32 = 5;

/// Most agents of a population: a model counts them in an `i32`.
pub const MOST_AGENTS: u32 = i32::MAX as u32;

/// Most steps of a run, on every backend: `progress` counts them in the bits below its flags.
pub const MOST_STEPS: u32 = CUT_SHORT - 1;

/// Word offsets in the uniform block `run`.
pub mod header {
    /// `agents: u32`, agents in this dispatch's buffers.
    pub const AGENTS: u32 = 0;
    /// `first_agent: u32`, number of the first of them.
    pub const FIRST_AGENT: u32 = 1;
    /// `population: i32`, what the model calls `agents`.
    pub const POPULATION: u32 = 2;
    /// `steps: i32`, of the whole run.
    pub const STEPS: u32 = 3;
    /// `first_step: i32`, where this dispatch begins; 0 means birth.
    pub const FIRST_STEP: u32 = 4;
    /// `end_step: i32`, where it ends; `steps` means that `finish` runs.
    pub const END_STEP: u32 = 5;
    /// `seed: vec2<u32>`, low word first.
    pub const SEED: u32 = 6;
    /// `guard: u32`, always 2: see the loop guard in the generated text.
    pub const GUARD: u32 = 8;
    /// Where open-table lengths (one `i32` each) begin.
    pub const END: u32 = 9;
}

/// Everything that a host must know to run a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// [`VERSION`].
    pub version: u32,
    /// The model's `//!` lines.
    pub doc: String,
    /// The random generator's name.
    pub generator: String,
    /// Default population, if the model gives one.
    pub agents: Option<u32>,
    /// Default number of steps, if the model gives one.
    pub steps: Option<u32>,
    /// Has the model a `step` block? Without one, a launch needs no number of steps.
    pub has_step: bool,
    /// Launch parameters.
    pub params: Vec<Param>,
    /// Tables.
    pub data: Vec<Data>,
    /// Per-agent inputs.
    pub inputs: Vec<Input>,
    /// Per-agent states.
    pub states: Vec<Field>,
    /// Per-agent results.
    pub outputs: Vec<Field>,
    /// What a world is and has, if the model says anything of worlds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<World>,
    /// When values are sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samplings: Vec<Sampling>,
    /// What is sampled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
    /// Indices that the launch must check.
    pub requirements: Vec<Requirement>,
    /// Words of the uniform block, a multiple of 4.
    pub uniform_words: u32,
    /// Words of an agent's padded input row, a multiple of 4.
    pub input_words: u32,
    /// Words of an agent's state row.
    pub state_words: u32,
    /// Words of an agent's output row.
    pub output_words: u32,
    /// Agents per workgroup.
    pub workgroup_size: u32,
    /// Iterations of inner loops in one step at most, also in `init` and `finish`; none if it depends on
    /// values of the run. The time loop is not counted.
    pub inner_iterations: Option<u64>,
    /// The step table, if the kernel has one.
    #[serde(default)]
    pub step_table: Option<StepTable>,
    /// What arrays of an agent take of storage, if they do not fit the memory of an invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spill: Option<Spill>,
    /// Arrays of constants that do not fit it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constants: Option<ConstantTables>,
    /// The machine type of floats; left out if it is `f32`.
    #[serde(default, skip_serializing_if = "RealType::is_single")]
    pub real: RealType,
}

/// Storage for arrays of an agent that do not fit the memory of an invocation. Nothing of it is needed from
/// one dispatch to the next, and it needs no first values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spill {
    /// Its binding.
    pub binding: u32,
    /// Words of each invocation: the buffer has this many times the invocations of a dispatch.
    pub words: u32,
}

/// Arrays of constants that do not fit the memory of an invocation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConstantTables {
    /// The binding of the buffer.
    pub binding: u32,
    /// What is in it.
    pub words: Vec<u32>,
}

/// What a model says of its worlds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct World {
    /// Default number of agents in a world, if the model gives one.
    pub members: Option<u32>,
    /// The binding of the buffer of these values; left out by a kernel of a model without any.
    pub binding: u32,
    /// The values that a world has.
    #[serde(flatten)]
    pub rows: Rows,
}

/// The values that one world has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Inputs.
    pub inputs: Vec<Input>,
    /// States.
    pub states: Vec<Field>,
    /// Results.
    pub outputs: Vec<Field>,
    /// Words of a padded row of inputs, a multiple of 4.
    pub input_words: u32,
    /// Words of a row of states.
    pub state_words: u32,
    /// Words of a row of outputs.
    pub output_words: u32,
}

/// A value or an array of values under one name. A struct's fields are fields of their own, named
/// `order.price`; an array of structs gives each of its fields the array's dimensions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Field {
    /// The model's name for it.
    pub name: String,
    /// The model's `///` lines.
    pub doc: String,
    /// The type of one scalar in storage.
    pub scalar: Scalar,
    /// Lengths of the array's dimensions, outermost first; empty for one value. For open `data` the first
    /// is 0.
    pub shape: Vec<u32>,
    /// 1, or the components of a vector.
    pub components: u32,
    /// For an enum its variants' names, by value.
    pub variants: Vec<String>,
    /// First word: of the agent's row for inputs, states and outputs, of the uniform block for
    /// params, 0 for data.
    pub word: u32,
}

/// A launch parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    /// Its name, type and place. An array begins at a multiple of 4 words and is tightly packed;
    /// what follows it begins at the next multiple.
    #[serde(flatten)]
    pub field: Field,
    /// Its default's words; none if the launch must give it.
    pub default: Option<Vec<u32>>,
    /// The legal values `[first, last]`, for every element.
    pub range: Option<[f64; 2]>,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Its name, type and shape.
    #[serde(flatten)]
    pub field: Field,
    /// Its binding, from 5.
    pub binding: u32,
    /// Word in the uniform block for the number of rows; none if the shape is fixed.
    pub rows_word: Option<u32>,
}

/// A per-agent input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its name, type and place.
    #[serde(flatten)]
    pub field: Field,
    /// What happens when the launch gives none.
    pub source: Source,
}

/// Where an input comes from when the launch gives none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The launch must give it.
    Required,
    /// The model's default.
    Default,
    /// The model's distribution.
    Drawn,
}

/// An index into a table that every agent reaches and that is in range only for some launches: the
/// launch must hold `count - 1 + offset < rows`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// The table's name.
    pub data: String,
    /// What the index counts.
    pub counts: Counter,
    /// What the model adds to it.
    pub offset: i64,
    /// Byte range of the index in the source.
    pub span: [u32; 2],
}

/// What an index counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Counter {
    /// Nothing: the index is `offset` itself, and must be less than the number of rows.
    Constant,
    /// The step, 0 to `steps - 1`.
    Step,
    /// The agent, 0 to `agents - 1`.
    Agent,
}

/// The step table: values that all agents share in a step, one row of `vec4`s per step of the whole run. The
/// entry point `prepare` fills it before `main` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepTable {
    /// Rows per step: one for each lane of an agent, if lanes read different ones.
    pub rows_per_step: u32,
    /// Its binding.
    pub binding: u32,
    /// Words of a row, a multiple of 4.
    pub words: u32,
    /// Steps that one workgroup computes.
    pub workgroup_size: u32,
}

impl StepTable {
    /// Bytes of the table for a run of this many steps.
    pub fn table_bytes(&self, steps: u32) -> u64 {
        let rows = u64::from(steps.max(1)) * u64::from(self.rows_per_step);
        rows * u64::from(self.words) * WORD_BYTES
    }
}

impl Field {
    /// The dimensions; a vector has its components as the last. An open one is 0.
    pub fn dims(&self) -> Vec<u32> {
        let mut dims = self.shape.clone();
        if self.components > 1 {
            dims.push(self.components);
        }
        dims
    }

    /// The names of its values, in the order of storage: `name`, `name[0]`, `name[0][1]`, `name.x`,
    /// `name[0].x`. Of open data those of no row.
    pub fn spellings(&self) -> Vec<String> {
        let mut names = vec![self.name.clone()];
        for &length in &self.shape {
            let each = |name: &String| -> Vec<String> {
                (0..length).map(|k| format!("{name}[{k}]")).collect()
            };
            names = names.iter().flat_map(each).collect();
        }
        if self.components > 1 {
            let parts = ["x", "y", "z", "w"];
            let components = (0..self.components as usize).map(|part| parts[part]);
            let each = |name: &String| -> Vec<String> {
                components
                    .clone()
                    .map(|part| format!("{name}.{part}"))
                    .collect()
            };
            names = names.iter().flat_map(each).collect();
        }
        names
    }

    /// Scalars per agent (or per run): elements times components; for open data those of one row.
    pub fn values(&self) -> u32 {
        let open = usize::from(self.shape.first() == Some(&0));
        self.shape[open..].iter().product::<u32>() * self.components
    }

    /// The words of [`Field::values`] in storage.
    pub fn words(&self) -> u32 {
        self.values() * self.scalar.words()
    }
}

/// Dimensions in words, an open one first: `[rows, 36] of f32`, `[10, 3] of f32`, `one i32`.
pub fn describe(scalar: Scalar, dims: &[u32]) -> String {
    let name = scalar.name();
    match dims {
        [] => format!("one {name}"),
        [0, rest @ ..] => {
            let rest: String = rest.iter().map(|n| format!(", {n}")).collect();
            format!("[rows{rest}] of {name}")
        }
        all => format!("{all:?} of {name}"),
    }
}

impl Rows {
    /// Words of all values of a world.
    pub fn words(&self) -> u32 {
        self.input_words + self.state_words + self.output_words
    }
}

impl Manifest {
    /// The binding of the buffer `worlds`.
    pub fn worlds_binding(&self) -> u32 {
        FIRST_DATA_BINDING + self.data.len() as u32
    }

    /// The values that one world has; none where the model says nothing of worlds.
    pub fn world_rows(&self) -> &Rows {
        static NONE: Rows = Rows {
            inputs: Vec::new(),
            states: Vec::new(),
            outputs: Vec::new(),
            input_words: 0,
            state_words: 0,
            output_words: 0,
        };
        self.world.as_ref().map_or(&NONE, |world| &world.rows)
    }

    /// As JSON, indented.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self)
            .expect("a manifest has no map with keys that are no strings")
    }
}
