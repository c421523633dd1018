//! What a checked program looks for while it runs, and how it says what it found.
//!
//! A check is ordinary code: an `if` that assigns variables of the agent, of which the first fault keeps the
//! others out. So every backend executes it without knowing of it, and passes keep it as they keep any
//! assignment. [`Checks::words`] are those variables. Behind the last step they are copied to outputs, which
//! the host reads and no caller sees.

use super::{Owner, Type, Value, VarId};
use crate::span::Span;

/// The checks of a program; none, unless it was compiled with them.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// What is checked. What stands in a function is listed for each place where that is written out.
    pub sites: Vec<Check>,
    /// `u32` states of each agent: [`NUMBER`], [`TIME`], and the words of the values from [`VALUES`] on. Code
    /// of worlds and samples assigns them, too.
    pub words: Vec<VarId>,
    /// `u32` states that count samples, which the code of samples assigns.
    pub samples: Vec<VarId>,
}

/// The word that has the number of the check that failed first, plus one; 0 if none has.
pub const NUMBER: usize = 0;
/// The word that says when: of [`When::Step`] the step, of [`When::Sample`] the number of the sample.
pub const TIME: usize = 1;
/// The first word of the values.
pub const VALUES: usize = 2;

/// Something that is checked.
#[derive(Clone, Debug)]
pub struct Check {
    /// What for.
    pub kind: CheckKind,
    /// The place.
    pub span: Span,
    /// Whose code it is in.
    pub owner: Owner,
    /// When that runs.
    pub when: When,
    /// What is kept of it, in the order of its words.
    pub values: Vec<Seen>,
}

/// What a check looks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckKind {
    /// An `assert` that does not hold.
    Assertion {
        /// Its message.
        message: String,
    },
    /// An index outside its array. Its values are the index and the length.
    Index,
    /// An integer division or remainder without a result. Its values are dividend and divisor.
    Division,
    /// A float that became NaN or infinite. The first of its values is the result.
    NotFinite,
    /// A `while` that its limit ended.
    Limit,
}

/// A value that a check keeps.
#[derive(Clone, Debug)]
pub struct Seen {
    /// Where it stands in the source.
    pub span: Span,
    /// Its name, where that is not what stands there.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// When code runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// Before the run: an input is computed.
    Launch,
    /// At the beginning: initial values and `init`.
    #[default]
    Beginning,
    /// In each step.
    Step,
    /// When a sample is taken, after each of so many steps.
    Sample {
        /// That many.
        every: u32,
    },
    /// After the last step: `finish` and the outputs.
    End,
}

/// When something happened in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before it: an input was computed.
    Launch,
    /// At the beginning: initial values and `init`.
    Beginning,
    /// When a sample was taken, after this many steps.
    Sample(u32),
    /// In this step.
    Step(u32),
    /// After the last step: `finish` and the outputs.
    End,
}

impl Moment {
    /// Where it stands in the order of a run.
    pub fn order(self) -> u64 {
        match self {
            Moment::Launch => 0,
            Moment::Beginning => 1,
            Moment::Sample(steps) => 2 + 2 * u64::from(steps),
            Moment::Step(step) => 3 + 2 * u64::from(step),
            Moment::End => u64::MAX,
        }
    }
}

impl Checks {
    /// Is a variable there for the checks?
    pub fn are_for(&self, var: VarId) -> bool {
        self.words.contains(&var) || self.samples.contains(&var)
    }

    /// The check that an agent's words say failed first, if one did.
    pub fn failed(&self, number: u32) -> Option<&Check> {
        self.sites.get((number as usize).checked_sub(1)?)
    }
}

impl Check {
    /// When it failed, by the word [`TIME`].
    pub fn moment(&self, time: u32) -> Moment {
        match self.when {
            When::Launch => Moment::Launch,
            When::Beginning => Moment::Beginning,
            When::Step => Moment::Step(time),
            When::Sample { every } => Moment::Sample(time.saturating_mul(every)),
            When::End => Moment::End,
        }
    }

    /// The values that it kept, by the words from [`VALUES`] on.
    pub fn values(&self, words: &[u32]) -> Vec<Value> {
        let mut rest = words;
        let mut take = |seen: &Seen| {
            let (own, after) = rest.split_at(seen.ty.words() as usize);
            rest = after;
            Value::from_words(seen.ty, own)
        };
        self.values.iter().map(&mut take).collect()
    }
}
