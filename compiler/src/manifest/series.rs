//! What is sampled as a run goes on: when, of what, and where the samples lie.

use super::{Field, Manifest, Rows};
use crate::{builtin::Fold, value::RealType};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Agents of a unit. In a model without worlds, what is observed of the population is combined over units of
/// consecutive agents first, where worlds stand in other models. A power of two, so that a tree over units of
/// this size is the tree over agents.
pub const UNIT: u32 = 128;

/// When values are sampled, and how many words a sample has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Steps between two samples. The first is taken before the first step.
    pub every: u32,
    /// Words of an agent in a sample.
    pub words: u32,
    /// Words of a world, or of a unit, in a sample.
    pub world_words: u32,
}

impl Sampling {
    /// The number of samples of a run.
    pub fn samples(&self, steps: u32) -> u32 {
        steps / self.every + 1
    }
}

/// A series: what `record`, `observe` or `world observe` says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// The name, type and shape of a sample: of one agent, of one world or of the population. `word` is where
    /// it lies in a sample's row of words; see [`Series::stored_words`].
    #[serde(flatten)]
    pub field: Field,
    /// What has one value per sample.
    pub of: SeriesOf,
    /// Number of its [`Sampling`].
    pub sampling: u32,
    /// How the values of agents are combined, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<SeriesFold>,
}

/// What has one value per sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesOf {
    /// Each agent: `record`.
    Agents,
    /// Each world: `world observe`.
    Worlds,
    /// All agents together: `observe`.
    Population,
}

/// How values of agents are combined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SeriesFold {
    /// The sum, pairwise in the order of agents; of `bool`s how many hold.
    Sum,
    /// The sum divided by the number of agents.
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// How many hold, or differ from 0.
    Count,
    /// Does any hold?
    Any,
    /// Do all hold?
    All,
    /// The variance, with n - 1 below the bar.
    Var,
    /// The square root of the variance.
    Sd,
    /// The values at these fractions of the sorted values, between two of them by linear interpolation.
    Quantiles(Vec<Number>),
    /// How many values each of equal bins has. Values outside count in none.
    Histogram {
        /// The lower end of the first bin.
        low: Number,
        /// The upper end of the last bin, which belongs to it.
        high: Number,
        /// The number of bins.
        bins: u32,
    },
}

/// A number of the model in the type of its floats: in JSON with the shortest digits that bring it back.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Number(pub f64);

impl Number {
    /// The number in a run with floats of type `real`.
    pub fn of(self, real: RealType) -> f64 {
        real.nearest(self.0)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let single = self.0 as f32;
        match f64::from(single) == self.0 {
            true => serializer.serialize_f32(single),
            false => serializer.serialize_f64(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        f64::deserialize(deserializer).map(Number)
    }
}

impl SeriesFold {
    /// The fold of the language by which the kernel combines the values, if it does.
    pub(crate) fn of_kernel(&self) -> Option<Fold> {
        Some(match self {
            SeriesFold::Sum => Fold::Sum,
            SeriesFold::Mean => Fold::Mean,
            SeriesFold::Min => Fold::Min,
            SeriesFold::Max => Fold::Max,
            SeriesFold::Count => Fold::Count,
            SeriesFold::Any => Fold::Any,
            SeriesFold::All => Fold::All,
            SeriesFold::Var
            | SeriesFold::Sd
            | SeriesFold::Quantiles(_)
            | SeriesFold::Histogram { .. } => return None,
        })
    }

    /// Does the host combine the values, of which the kernel stores each?
    pub fn is_of_host(&self) -> bool {
        self.of_kernel().is_none()
    }
}

impl SeriesOf {
    /// Does the kernel store a value per agent? Otherwise one per world, or unit.
    pub(crate) fn is_stored_by_agent(self, fold: Option<&SeriesFold>) -> bool {
        fold.map_or(self == SeriesOf::Agents, SeriesFold::is_of_host)
    }
}

impl Series {
    /// Does the kernel store a value per agent? Otherwise one per world, or unit.
    pub fn is_of_agents(&self) -> bool {
        self.of.is_stored_by_agent(self.fold.as_ref())
    }

    /// Words that a run with floats of type `real` stores per sample and agent, world or unit: those of the
    /// field, or a float that the host combines.
    pub fn stored_words(&self, real: RealType) -> u32 {
        match self.fold.as_ref().is_some_and(SeriesFold::is_of_host) {
            true => real.scalar().words(),
            false => self.field.words(),
        }
    }
}

impl Manifest {
    /// The words that a kernel stores of an agent besides its outputs, in a run of so many steps: the samples
    /// of each sampling, one after another.
    pub fn record_words(&self, steps: u32) -> u64 {
        self.first_sample(self.samplings.len(), steps)[0]
    }

    /// The same of a world, or a unit.
    pub fn world_record_words(&self, steps: u32) -> u64 {
        self.first_sample(self.samplings.len(), steps)[1]
    }

    /// The words of an agent, and those of a world or unit, before the samples of a sampling.
    pub fn first_sample(&self, sampling: usize, steps: u32) -> [u64; 2] {
        let before = self.samplings[..sampling].iter();
        before.fold([0; 2], |[agent, world], sampling| {
            let samples = u64::from(sampling.samples(steps));
            let words = [sampling.words, sampling.world_words].map(u64::from);
            [agent + samples * words[0], world + samples * words[1]]
        })
    }

    /// The words of an agent's row of results, its outputs and then its samples.
    pub fn result_words(&self, steps: u32) -> u64 {
        u64::from(self.output_words) + self.record_words(steps)
    }

    /// The words of a world's row, or a unit's: inputs, states, outputs and then samples.
    pub fn world_words(&self, steps: u32) -> u64 {
        u64::from(Rows::words(self.world_rows())) + self.world_record_words(steps)
    }

    /// The agents that are combined before a sample is stored: a world, or a unit in a model without worlds.
    /// 1 if there is neither.
    pub fn members(&self, members: Option<u32>) -> u32 {
        match (&self.world, self.samplings.is_empty()) {
            (Some(world), _) => members.or(world.members).unwrap_or(1),
            (None, true) => 1,
            (None, false) => UNIT,
        }
    }
}
