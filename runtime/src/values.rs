//! Typed results: the values of a field for all agents, and progress words.

use crate::{
    array::{doubles_of, words_of},
    error::{Error, Role},
};
use sim_compiler::manifest::{CUT_SHORT, Field, STOPPED, Scalar};
use std::ops::Range;

/// The values of one output or state for all agents.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name, documentation, type and dimensions.
    pub field: Field,
    /// `(agents, dimensions…)`; vectors have their components as the last dimension.
    pub shape: Vec<usize>,
    /// The values, row by row: those of one agent are contiguous.
    pub values: Values,
}

/// Values of one scalar type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// `f32`
    F32(Vec<f32>),
    /// `f64`, of a model that is run in that
    F64(Vec<f64>),
    /// `i32`
    I32(Vec<i32>),
    /// `u32`; also enums, as the number of the variant
    U32(Vec<u32>),
    /// `bool`
    Bool(Vec<bool>),
}

/// Scalar types that results can be read as.
pub trait Element: Sized + Copy {
    /// The type in the manifest.
    const SCALAR: Scalar;
    /// The values if they are of this type.
    fn slice(values: &Values) -> Option<&[Self]>;
    /// The values themselves, if they are of this type.
    fn vec(values: Values) -> Option<Vec<Self>>;
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
            fn vec(values: Values) -> Option<Vec<Self>> {
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
element!(f64, F64);
element!(i32, I32);
element!(u32, U32);
element!(bool, Bool);

impl Values {
    /// Adds the values of another run of one model behind these.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn append(&mut self, more: &Values) {
        match (&mut *self, more) {
            (Values::F32(all), Values::F32(more)) => all.extend(more),
            (Values::F64(all), Values::F64(more)) => all.extend(more),
            (Values::I32(all), Values::I32(more)) => all.extend(more),
            (Values::U32(all), Values::U32(more)) => all.extend(more),
            (Values::Bool(all), Values::Bool(more)) => all.extend(more),
            _ => panic!("{} beside {}", more.scalar().name(), self.scalar().name()),
        }
    }

    /// Some of them.
    ///
    /// # Panics
    /// If the range ends behind the last one.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Values {
        match self {
            Values::F32(all) => Values::F32(all[range].to_vec()),
            Values::F64(all) => Values::F64(all[range].to_vec()),
            Values::I32(all) => Values::I32(all[range].to_vec()),
            Values::U32(all) => Values::U32(all[range].to_vec()),
            Values::Bool(all) => Values::Bool(all[range].to_vec()),
        }
    }

    /// Interprets words as values. Copies only for `bool`.
    pub(crate) fn from_words(scalar: Scalar, words: Vec<u32>) -> Values {
        match scalar {
            Scalar::F32 => Values::F32(bytemuck::cast_vec(words)),
            Scalar::F64 => Values::F64(doubles_of(&words).collect()),
            Scalar::I32 => Values::I32(bytemuck::cast_vec(words)),
            Scalar::U32 => Values::U32(words),
            Scalar::Bool => Values::Bool(words.into_iter().map(|word| word != 0).collect()),
        }
    }

    /// The memory of values of 32 bits.
    pub(crate) fn into_words(self) -> Option<Vec<u32>> {
        match self {
            Values::F32(values) => Some(bytemuck::cast_vec(values)),
            Values::I32(values) => Some(bytemuck::cast_vec(values)),
            Values::U32(values) => Some(values),
            Values::F64(_) | Values::Bool(_) => None,
        }
    }

    /// Floats of this type, which is `f32` if it is not `f64`.
    pub(crate) fn of_floats(scalar: Scalar, values: impl Iterator<Item = f64>) -> Values {
        match scalar {
            Scalar::F64 => Values::F64(values.collect()),
            _ => Values::F32(values.map(|it| it as f32).collect()),
        }
    }

    /// Their type.
    pub fn scalar(&self) -> Scalar {
        match self {
            Values::F32(_) => Scalar::F32,
            Values::F64(_) => Scalar::F64,
            Values::I32(_) => Scalar::I32,
            Values::U32(_) => Scalar::U32,
            Values::Bool(_) => Scalar::Bool,
        }
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        match self {
            Values::F32(values) => values.len(),
            Values::F64(values) => values.len(),
            Values::I32(values) => values.len(),
            Values::U32(values) => values.len(),
            Values::Bool(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bits of one value.
    pub fn bits(&self, at: usize) -> u64 {
        match self {
            Values::F32(values) => values[at].to_bits().into(),
            Values::F64(values) => values[at].to_bits(),
            Values::I32(values) => (values[at] as u32).into(),
            Values::U32(values) => values[at].into(),
            Values::Bool(values) => values[at].into(),
        }
    }

    /// One value as a number; a `bool` is 0 or 1.
    pub fn number(&self, at: usize) -> f64 {
        match self {
            Values::F32(values) => values[at].into(),
            Values::F64(values) => values[at],
            Values::I32(values) => values[at].into(),
            Values::U32(values) => values[at].into(),
            Values::Bool(values) => u8::from(values[at]).into(),
        }
    }

    /// The bits of all values as stored; a `bool` is 0 or 1, and an `f64` has two words, the low one first.
    pub fn words(&self) -> Vec<u32> {
        match self {
            Values::F32(values) => bytemuck::cast_slice(values).to_vec(),
            Values::F64(values) => words_of(values.iter().copied()).to_vec(),
            Values::I32(values) => bytemuck::cast_slice(values).to_vec(),
            Values::U32(values) => values.clone(),
            Values::Bool(values) => values.iter().map(|&value| value.into()).collect(),
        }
    }
}

impl Column {
    pub(crate) fn new(field: &Field, agents: u32, words: Vec<u32>) -> Column {
        Column::with_values(field, agents, Values::from_words(field.scalar, words))
    }

    /// The values of so many agents, which are of the field's type.
    pub(crate) fn with_values(field: &Field, agents: u32, values: Values) -> Column {
        let mut shape = vec![agents as usize];
        shape.extend(field.dims().iter().map(|&n| n as usize));
        Column {
            field: field.clone(),
            shape,
            values,
        }
    }

    /// The values of the first agents, of all if there are fewer.
    pub(crate) fn first_agents(&self, agents: usize) -> Column {
        let mut shape = self.shape.clone();
        shape[0] = agents.min(shape[0]);
        let count = shape.iter().product();
        Column {
            field: self.field.clone(),
            shape,
            values: match &self.values {
                Values::F32(values) => Values::F32(values[..count].to_vec()),
                Values::F64(values) => Values::F64(values[..count].to_vec()),
                Values::I32(values) => Values::I32(values[..count].to_vec()),
                Values::U32(values) => Values::U32(values[..count].to_vec()),
                Values::Bool(values) => Values::Bool(values[..count].to_vec()),
            },
        }
    }

    /// The values as `f64`.
    ///
    /// # Errors
    /// [`Error::WrongType`] if they are no floats.
    pub(crate) fn floats(&self) -> Result<Vec<f64>, Error> {
        match &self.values {
            Values::F32(values) => Ok(values.iter().map(|&it| it.into()).collect()),
            _ => self.typed::<f64>(Role::Output).map(<[f64]>::to_vec),
        }
    }

    /// The values as `T`; `role` is for the error.
    pub(crate) fn typed<T: Element>(&self, role: Role) -> Result<&[T], Error> {
        T::slice(&self.values).ok_or_else(|| self.wrong_type::<T>(role))
    }

    /// The values themselves as `T`; `role` is for the error.
    pub(crate) fn into_typed<T: Element>(mut self, role: Role) -> Result<Vec<T>, Error> {
        let values = std::mem::replace(&mut self.values, Values::U32(Vec::new()));
        T::vec(values).ok_or_else(|| self.wrong_type::<T>(role))
    }

    pub(crate) fn wrong_type<T: Element>(&self, role: Role) -> Error {
        Error::WrongType {
            role,
            name: self.field.name.clone(),
            expected: self.field.scalar,
            found: T::SCALAR,
        }
    }
}

pub(crate) fn steps(word: u32) -> u32 {
    word & (CUT_SHORT - 1)
}

pub(crate) fn has_stopped(word: u32) -> bool {
    word & STOPPED != 0
}

/// How many steps each agent has run.
#[derive(Clone, Debug)]
pub(crate) enum StepCounts {
    /// The progress words of all agents.
    Each(Vec<u32>),
    /// All agents have the same word.
    Same { agents: u32, word: u32 },
}

impl StepCounts {
    /// The words of all agents, or if there are none, so many agents that have run so many steps.
    pub(crate) fn new(words: Vec<u32>, agents: u32, steps: u32) -> StepCounts {
        match words.is_empty() {
            true => StepCounts::Same {
                agents,
                word: steps,
            },
            false => StepCounts::Each(words),
        }
    }

    /// The word of each agent.
    pub(crate) fn words(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        let count = match self {
            StepCounts::Each(words) => words.len(),
            StepCounts::Same { agents, .. } => *agents as usize,
        };
        (0..count).map(move |agent| match self {
            StepCounts::Each(words) => words[agent],
            StepCounts::Same { word, .. } => *word,
        })
    }

    /// The same, as a column.
    pub(crate) fn into_words(self) -> Vec<u32> {
        match self {
            StepCounts::Each(words) => words,
            StepCounts::Same { agents, word } => vec![word; agents as usize],
        }
    }

    /// The sum of the steps.
    pub(crate) fn agent_steps(&self) -> u64 {
        match self {
            StepCounts::Each(words) => agent_steps(words.iter().copied()),
            StepCounts::Same { agents, word } => u64::from(*agents) * u64::from(steps(*word)),
        }
    }

    /// The number of agents that stopped.
    pub(crate) fn stopped(&self) -> u64 {
        match self {
            StepCounts::Each(words) => stopped_agents(words.iter().copied()),
            StepCounts::Same { .. } => 0,
        }
    }
}

/// The sum of the steps in progress words.
pub(crate) fn agent_steps(progress: impl Iterator<Item = u32>) -> u64 {
    progress.map(|word| u64::from(steps(word))).sum()
}

/// The number of progress words of agents that stopped.
pub(crate) fn stopped_agents(progress: impl Iterator<Item = u32>) -> u64 {
    progress.filter(|&word| has_stopped(word)).count() as u64
}
