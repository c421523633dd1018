//! What a run gives: the outputs and final states by name and type, the steps that every agent ran, and a
//! report of how it was done.

use crate::{
    adapter::AdapterSummary,
    bind::{dims, unknown},
    cpu::vector::Isa,
    error::{Error, Role},
    telemetry::Telemetry,
};
use sim_compiler::{
    manifest::{CUT_SHORT, Field, Manifest, STOPPED, Scalar},
    schedule::Choice,
};

/// The results of a run.
#[derive(Clone, Debug)]
pub struct Run {
    pub(crate) outputs: Vec<Column>,
    /// None if the run was told to leave the states on the device.
    pub(crate) states: Option<Vec<Column>>,
    pub(crate) state_names: Vec<String>,
    pub(crate) progress: Vec<u32>,
    pub(crate) report: Report,
}

/// What a backend gives back: rows per field, in the manifest's order.
pub(crate) struct Raw {
    pub(crate) outputs: Vec<Vec<u32>>,
    pub(crate) states: Option<Vec<Vec<u32>>>,
    pub(crate) progress: Vec<u32>,
    pub(crate) dispatches: u64,
    pub(crate) chunks: u32,
    pub(crate) telemetry: Telemetry,
    pub(crate) choices: Vec<Choice>,
}

/// One output or state of all agents.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, documentation, type and dimensions.
    pub field: Field,
    /// `(agents, dimensions…)`, and a vector's components as the last.
    pub shape: Vec<usize>,
    /// The values, row by row: those of one agent are contiguous.
    pub values: Values,
}

/// Values of one scalar type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `f32`
    F32(Vec<f32>),
    /// `i32`
    I32(Vec<i32>),
    /// `u32`, also enums: the number of the variant
    U32(Vec<u32>),
    /// `bool`
    Bool(Vec<bool>),
}

/// How a run was done.
#[derive(Clone, Debug)]
pub struct Report {
    /// What ran it.
    pub backend: Device,
    /// Why this backend, in words.
    pub reason: String,
    /// Agents of this run.
    pub agents: u32,
    /// Number of the first of them.
    pub first_agent: u32,
    /// What the model calls `agents`.
    pub population: u32,
    /// Steps of the run.
    pub steps: u32,
    /// The seed of every draw.
    pub seed: u64,
    /// Seconds from source text to artifact; 0 for an artifact that was given.
    pub compile_seconds: f64,
    /// Seconds for binding values, opening the device and building the kernel; nearly 0 when a run is
    /// repeated.
    pub prepare_seconds: f64,
    /// Seconds for the run itself, with the transfers to and from the device.
    pub run_seconds: f64,
    /// How often the kernel was started; 0 on the CPU.
    pub dispatches: u64,
    /// Parts that the population was split into to fit the device.
    pub chunks: u32,
    /// What it cost in detail.
    pub telemetry: Telemetry,
    /// What was chosen for the kernel, and why; empty on the CPU.
    pub choices: Vec<Choice>,
}

/// What ran a model.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// All cores, with this instruction set.
    Cpu(Isa),
    /// The reference interpreter, on all cores.
    Reference,
    /// An adapter, which may be software.
    Gpu(AdapterSummary),
}

/// Scalar types that results can be read as.
pub trait Element: Sized + Copy {
    /// The type in the manifest.
    const SCALAR: Scalar;
    /// The values if they are of this type.
    fn slice(values: &Values) -> Option<&[Self]>;
}

macro_rules! element {
    ($ty:ty, $variant:ident) => {
        impl Element for $ty {
            const SCALAR: Scalar = Scalar::$variant;
            fn slice(values: &Values) -> Option<&[Self]> {
                if let Values::$variant(values) = values {
                    Some(values)
                } else {
                    None
                }
            }
        }
    };
}

element!(f32, F32);
element!(i32, I32);
element!(u32, U32);
element!(bool, Bool);

impl Values {
    /// Gives words their type; no copy but for `bool`.
    pub(crate) fn from_words(scalar: Scalar, words: Vec<u32>) -> Values {
        match scalar {
            Scalar::F32 => Values::F32(bytemuck::cast_vec(words)),
            Scalar::I32 => Values::I32(bytemuck::cast_vec(words)),
            Scalar::U32 => Values::U32(words),
            Scalar::Bool => Values::Bool(words.into_iter().map(|word| word != 0).collect()),
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits as storage holds them; a `bool` is 0 or 1.
    pub fn words(&self) -> Vec<u32> {
        match self {
            Values::F32(values) => bytemuck::cast_slice(values).to_vec(),
            Values::I32(values) => bytemuck::cast_slice(values).to_vec(),
            Values::U32(values) => values.clone(),
            Values::Bool(values) => values.iter().map(|&value| value.into()).collect(),
        }
    }
}

impl Column {
    pub(crate) fn new(field: &Field, agents: u32, words: Vec<u32>) -> Column {
        let mut shape = vec![agents as usize];
        shape.extend(dims(field).iter().map(|&n| n as usize));
        Column {
            field: field.clone(),
            shape,
            values: Values::from_words(field.scalar, words),
        }
    }

    fn typed<T: Element>(&self, role: Role) -> Result<&[T], Error> {
        T::slice(&self.values).ok_or_else(|| Error::WrongType {
            role,
            name: self.field.name.clone(),
            expected: self.field.scalar,
            found: T::SCALAR,
        })
    }
}

impl Run {
    /// Of what a backend gives back.
    pub(crate) fn new(manifest: &Manifest, raw: Raw, report: Report) -> Run {
        let columns = |fields: &[Field], rows: Vec<Vec<u32>>| -> Vec<Column> {
            fields
                .iter()
                .zip(rows)
                .map(|(field, words)| Column::new(field, report.agents, words))
                .collect()
        };
        Run {
            outputs: columns(&manifest.outputs, raw.outputs),
            states: raw.states.map(|rows| columns(&manifest.states, rows)),
            state_names: manifest
                .states
                .iter()
                .map(|field| field.name.clone())
                .collect(),
            progress: raw.progress,
            report,
        }
    }

    /// An output of all agents, row by row: `f32`, `i32`, `u32` (also enums) or `bool` as the model has it.
    ///
    /// # Errors
    /// [`Error::UnknownName`] and [`Error::WrongType`].
    pub fn output<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        find(Role::Output, &self.outputs, name)?.typed(Role::Output)
    }

    /// A state of all agents after the last step, row by row.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::WrongType`], and [`Error::StatesNotKept`] if the run was told not to
    /// read the states back.
    pub fn state<T: Element>(&self, name: &str) -> Result<&[T], Error> {
        match &self.states {
            Some(states) => find(Role::State, states, name)?.typed(Role::State),
            None if self.state_names.iter().any(|known| known == name) => {
                Err(Error::StatesNotKept {
                    name: name.to_owned(),
                })
            }
            None => Err(unknown(
                Role::State,
                name,
                self.state_names.iter().map(String::as_str),
            )),
        }
    }

    /// The shape `(agents, dimensions…)` of an output, or else of a state; vectors add a dimension.
    ///
    /// # Errors
    /// [`Error::UnknownName`].
    pub fn shape(&self, name: &str) -> Result<&[usize], Error> {
        let state = || {
            self.states()
                .iter()
                .find(|column| column.field.name == name)
        };
        match find(Role::Output, &self.outputs, name) {
            Ok(column) => Ok(&column.shape),
            Err(error) => state().map(|column| &column.shape[..]).ok_or(error),
        }
    }

    /// All outputs, in the model's order.
    pub fn outputs(&self) -> &[Column] {
        &self.outputs
    }

    /// All final states, in the model's order; none if they were not read back.
    pub fn states(&self) -> &[Column] {
        self.states.as_deref().unwrap_or_default()
    }

    /// Steps that each agent really ran: all, or fewer where the model says `stop`.
    pub fn steps(&self) -> impl ExactSizeIterator<Item = u32> {
        self.progress.iter().map(|word| word & (CUT_SHORT - 1))
    }

    /// Whether each agent has stopped by itself.
    pub fn stopped(&self) -> impl ExactSizeIterator<Item = bool> {
        self.progress.iter().map(|word| word & STOPPED != 0)
    }

    /// How the run was done.
    pub fn report(&self) -> &Report {
        &self.report
    }
}

fn find<'a>(role: Role, columns: &'a [Column], name: &str) -> Result<&'a Column, Error> {
    columns
        .iter()
        .find(|column| column.field.name == name)
        .ok_or_else(|| {
            unknown(
                role,
                name,
                columns.iter().map(|column| column.field.name.as_str()),
            )
        })
}
