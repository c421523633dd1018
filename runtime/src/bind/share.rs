//! The launch of some consecutive agents of another one.

use super::Launch;
use std::{ops::Range, sync::Arc};

impl Launch {
    /// The launch of the agents at these places, which are whole worlds or units unless they reach the end.
    /// They have the draws and results that they have in this launch, and the kernel is chosen for the same
    /// population.
    pub(crate) fn share(&self, agents: Range<u32>) -> Launch {
        let worlds = agents.start / self.members..agents.end.div_ceil(self.members);
        Launch {
            agents: agents.end - agents.start,
            first_agent: self.first_agent + agents.start,
            inputs: part(&self.inputs, self.agents, agents),
            world_inputs: part(&self.world_inputs, self.worlds(), worlds),
            ..self.clone()
        }
    }
}

/// Some of `all` rows; the same memory if they are all.
fn part(words: &Arc<Vec<u32>>, all: u32, rows: Range<u32>) -> Arc<Vec<u32>> {
    if rows == (0..all) {
        return Arc::clone(words);
    }
    let width = words.len() / all as usize;
    Arc::new(words[rows.start as usize * width..rows.end as usize * width].to_vec())
}
