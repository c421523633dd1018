//! Agents of a session that begin anew while others go on.

use super::Session;
use crate::{
    bind::Launch,
    control::Control,
    cut::Part,
    error::Error,
    values::{Column, Values},
};
use sim_compiler::ir::interpret::Progress;
use std::sync::Arc;

impl Session {
    /// Lets those agents begin anew for which `mask` is true. The step number goes on, and with it the draws
    /// of steps. Their initial values, and the inputs that the model computes, have draws that depend on the
    /// seed, the agent and the step number alone, so that each beginning differs and can be repeated. Before
    /// the first step they are the same as at the beginning.
    ///
    /// # Errors
    /// [`Error::SessionMask`] for a mask of another length, for one that splits a world, and on kernels whose
    /// agents can only begin together; [`Error::SessionOver`] after the last step; and those of the device.
    pub fn reset_agents(&mut self, mask: &[bool]) -> Result<(), Error> {
        self.read()?;
        self.check_mask(mask)?;
        let (step, steps) = (self.at(), self.steps());
        if step == steps {
            return Err(Error::SessionOver {
                count: 1,
                step,
                steps,
            });
        }
        if step == 0 || !mask.contains(&true) {
            return Ok(());
        }
        let seed = self.settings.seed;
        self.settings.seed = mixed(seed, step);
        let anew = self.bound();
        self.settings.seed = seed;
        let anew = Arc::new(anew?);
        let part = Part {
            previews: self.outcome.is_some() && !self.draws_outputs,
            ..Part::whole(0)
        };
        let mut raw = self.part_of(&anew, part, &Control::default())?;
        let fresh = raw.saved.take().expect("the part is cut");
        let begun = match raw.has_outputs() {
            true => Some(self.outcome_of(raw, false)?),
            false => None,
        };
        let members = self.launch.members as usize;
        let world_mask: Vec<bool> = mask.chunks(members).map(|world| world[0]).collect();
        self.take_inputs(&anew, mask, &world_mask);
        let saved = &mut self.saved;
        saved.on_device = None;
        for (columns, fresh, mask) in [
            (&mut saved.states, &fresh.states, mask),
            (&mut saved.world_states, &fresh.world_states, &world_mask),
        ] {
            for (column, fresh) in columns.iter_mut().zip(fresh) {
                chosen(mask).for_each(|row| column[row] = fresh[row]);
            }
        }
        for agent in chosen(mask) {
            let began = Progress::from_word(fresh.progress[agent]);
            let word = Progress {
                steps: step,
                ..began
            };
            self.saved.progress[agent] = word.word();
        }
        self.outcome = self.outcome.take().zip(begun).map(|(mut outcome, begun)| {
            take_rows(&mut outcome.outputs, &begun.outputs, mask);
            take_rows(
                &mut outcome.world_outputs,
                &begun.world_outputs,
                &world_mask,
            );
            outcome
        });
        Ok(())
    }

    /// Takes the inputs of the agents and worlds that masks name.
    fn take_inputs(&mut self, anew: &Launch, mask: &[bool], world_mask: &[bool]) {
        let (manifest, launch) = (&self.artifact.manifest, Arc::make_mut(&mut self.launch));
        let of_worlds = manifest.world_rows().input_words;
        for (rows, fresh, words, mask) in [
            (&mut launch.inputs, &anew.inputs, manifest.input_words, mask),
            (
                &mut launch.world_inputs,
                &anew.world_inputs,
                of_worlds,
                world_mask,
            ),
        ] {
            let rows = Arc::make_mut(rows);
            for row in chosen(mask) {
                let words = row * words as usize..(row + 1) * words as usize;
                rows[words.clone()].copy_from_slice(&fresh[words]);
            }
        }
    }

    /// Checks a mask of agents that begin anew.
    fn check_mask(&self, mask: &[bool]) -> Result<(), Error> {
        let agents = self.agents() as usize;
        let wrong = |why: String| Err(Error::SessionMask { why });
        if mask.len() != agents {
            let given = mask.len();
            return wrong(format!(
                "the mask has {given} values, and there are {agents} agents"
            ));
        }
        if self.artifact.manifest.world.is_none() {
            return Ok(());
        }
        let mut worlds = mask.chunks(self.launch.members as usize);
        let split = worlds.position(|world| world.iter().any(|&it| it != world[0]));
        if let Some(world) = split {
            return wrong(format!("the mask has some agents of world {world} only"));
        }
        let some = mask.contains(&true) && mask.contains(&false);
        if some && !self.saved.scratch.is_empty() {
            return wrong("the kernel keeps values of all worlds between steps".to_owned());
        }
        Ok(())
    }
}

/// The agents that a mask names.
fn chosen(mask: &[bool]) -> impl Iterator<Item = usize> {
    (mask.iter().enumerate())
        .filter(|(_, is_chosen)| **is_chosen)
        .map(|(agent, _)| agent)
}

/// Copies the rows that a mask names.
fn take_rows(columns: &mut [Column], from: &[Column], mask: &[bool]) {
    fn copy<T: Copy>(to: &mut [T], from: &[T], mask: &[bool]) {
        let width = from.len() / mask.len();
        for row in chosen(mask) {
            let row = row * width..(row + 1) * width;
            to[row.clone()].copy_from_slice(&from[row]);
        }
    }
    for (column, from) in columns.iter_mut().zip(from) {
        match (&mut column.values, &from.values) {
            (Values::F32(to), Values::F32(from)) => copy(to, from, mask),
            (Values::I32(to), Values::I32(from)) => copy(to, from, mask),
            (Values::U32(to), Values::U32(from)) => copy(to, from, mask),
            (Values::Bool(to), Values::Bool(from)) => copy(to, from, mask),
            _ => unreachable!("both are of one field"),
        }
    }
}

/// The seed of the initial values of agents that begin anew after so many steps: the finaliser of SplitMix64
/// (G. Steele, D. Lea and C. Flood, OOPSLA 2014) over both.
fn mixed(seed: u64, step: u32) -> u64 {
    let mut z = seed.wrapping_add(u64::from(step).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
