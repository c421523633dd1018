//! How the agents of a program are split over lanes, beside the program: data, which no pass needs.

use crate::ir::{Affine, LaneOp, Program, Var, VarId, VarKind};
use std::ops::Range;

/// How an agent of a program is split over lanes.
#[derive(Clone, Debug)]
pub(crate) struct LaneLayout {
    /// Lanes of an agent.
    pub(crate) lanes: u32,
    /// Words of states of which each lane has its own: those of the first lane, which the next lane's follow.
    pub(crate) parts: Vec<Range<u32>>,
    /// If the lanes share out the steps themselves: the states that the steps accumulate, and how.
    pub(crate) accumulated: Vec<(VarId, LaneOp)>,
    /// And the integers that a lane skips ahead over the steps of the others, with what one step does to
    /// them: all that a step does to states is in one of the two lists.
    pub(crate) skipped: Vec<(VarId, Affine)>,
}

impl Default for LaneLayout {
    fn default() -> Self {
        LaneLayout {
            lanes: 1,
            parts: Vec::new(),
            accumulated: Vec::new(),
            skipped: Vec::new(),
        }
    }
}

impl LaneLayout {
    /// Does an agent have several lanes?
    pub(crate) fn is_split(&self) -> bool {
        self.lanes > 1
    }

    /// Do the lanes share out the steps themselves?
    pub(crate) fn splits_time(&self) -> bool {
        !self.accumulated.is_empty()
    }

    /// If each lane has its own part of a state: words from one lane's part to the next one's.
    pub(crate) fn part(&self, program: &Program, state: VarId) -> Option<u32> {
        let Var { kind, word, .. } = &program[state];
        let part = (self.parts.iter()).find(|part| part.contains(word))?;
        (*kind == VarKind::State).then_some(part.end - part.start)
    }
}
