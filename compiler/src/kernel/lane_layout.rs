//! How the agents of a program are split over lanes, beside the program: data, which no pass needs.

use crate::ir::{Affine, LaneOp, Program, Var, VarId, VarKind};
use std::ops::Range;

/// How an agent of a program is split over lanes.
#[derive(Clone, Debug)]
pub(crate) struct LaneLayout {
    /// Lanes of an agent.
    pub(crate) lanes: u32,
    /// The arrays of states of which each lane has its own part.
    pub(crate) parts: Vec<Part>,
    /// Do lanes read elements of one another's parts?
    pub(crate) shuffles: bool,
    /// If the steps themselves are split over the lanes: the states that the steps accumulate, and how.
    pub(crate) accumulated: Vec<(VarId, LaneOp)>,
    /// And the integers that a lane skips ahead over the steps of the others, with what one step does to
    /// them. Everything that a step does to states is in one of the two lists.
    pub(crate) skipped: Vec<(VarId, Affine)>,
}

/// The parts that lanes have of an array of states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// The words by which a lane's program knows them: as many as it has, from the first word of the array.
    pub(crate) words: Range<u32>,
    /// How many words a lane has one after the other, before those of the next lane.
    pub(crate) run: u32,
}

impl Part {
    /// Where a word of a lane's program is among those of the agent, for the first of `lanes` lanes; it is
    /// [`Part::run`] words further for each next one.
    pub(crate) fn word(&self, word: u32, lanes: u32) -> u32 {
        let place = word - self.words.start;
        self.words.start + place / self.run * self.run * lanes + place % self.run
    }
}

/// An agent that is not split.
pub(crate) static ONE_LANE: LaneLayout = LaneLayout {
    lanes: 1,
    parts: Vec::new(),
    shuffles: false,
    accumulated: Vec::new(),
    skipped: Vec::new(),
};

impl Default for LaneLayout {
    fn default() -> Self {
        ONE_LANE.clone()
    }
}

impl LaneLayout {
    /// Does an agent have several lanes?
    pub(crate) fn is_split(&self) -> bool {
        self.lanes > 1
    }

    /// Are the steps themselves split over the lanes?
    pub(crate) fn splits_time(&self) -> bool {
        !self.accumulated.is_empty()
    }

    /// If each lane has its own part of a state: which.
    pub(crate) fn part(&self, program: &Program, state: VarId) -> Option<&Part> {
        let Var { kind, word, .. } = &program[state];
        let part = (self.parts.iter()).find(|part| part.words.contains(word))?;
        (*kind == VarKind::State).then_some(part)
    }
}
