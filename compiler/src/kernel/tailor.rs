//! A program under a schedule: everything that a kernel's text is written from.

use super::{
    fences,
    lane_layout::LaneLayout,
    lanes::{self, allows_barriers},
    rewrites::{self, Bound},
    schedule::{Decision, Schedule},
    step_table::{self, Split, Table},
    time_loop::TimeLoop,
};
use crate::{artifact::Artifact, ir::Program, options::Math, passes};
use std::borrow::Cow;

/// A program whose agents are split over lanes.
#[derive(Clone, Debug)]
pub(crate) struct Laid<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) layout: LaneLayout,
}

/// A program tailored to a device.
#[derive(Clone, Debug)]
pub(crate) struct Tailored<'a> {
    /// The program: the model's, except for what its schedule changes.
    pub(crate) program: Cow<'a, Program>,
    /// How its agents are split over lanes.
    pub(crate) layout: LaneLayout,
    /// The schedule, without what the model cannot use.
    pub(crate) schedule: Schedule,
    /// What is uniform in a step.
    pub(crate) table: Option<Table>,
    /// The layout of the time loop.
    pub(crate) time_loop: TimeLoop,
    /// What was decided, and why.
    pub(crate) decisions: Vec<Decision>,
}

/// Tailors the program to a schedule.
pub(crate) fn tailor<'a>(artifact: &'a Artifact, schedule: &Schedule) -> Tailored<'a> {
    let split = split_over_lanes(artifact, schedule.lanes, schedule.subgroup);
    let rewritten = rewrite(artifact, split, *schedule);
    let shared = match schedule.step_table {
        true => rewritten.split(),
        false => None,
    };
    rewritten.finish(artifact, shared)
}

/// The optimised program with this many lanes per agent, as far as it can be split over them: if a subgroup
/// has fewer, they synchronise at barriers.
pub(crate) fn split_over_lanes(artifact: &Artifact, lanes: u32, subgroup: u32) -> Laid<'_> {
    let whole = |layout| Laid {
        program: Cow::Borrowed(&artifact.program),
        layout,
    };
    if let Some(layout) = lanes::split_time(&artifact.program, lanes) {
        return whole(layout);
    }
    if lanes > 1 {
        let mut program = artifact.lowered.clone();
        if let Some(layout) = lanes::split(&mut program, lanes, subgroup) {
            if artifact.options.optimise {
                passes::optimise(&mut program);
            }
            if lanes <= subgroup || allows_barriers(&program, &layout) {
                return Laid {
                    program: Cow::Owned(program),
                    layout,
                };
            }
        }
    }
    whole(LaneLayout::default())
}

/// A program that is rewritten for its device, before the uniform part is split off.
pub(crate) struct Rewritten<'a> {
    pub(crate) program: Cow<'a, Program>,
    pub(crate) layout: LaneLayout,
    schedule: Schedule,
    decisions: Vec<Decision>,
}

/// Applies the rewrites that a schedule asks for, and puts fences where a driver's compiler would reorder.
pub(crate) fn rewrite<'a>(
    artifact: &Artifact,
    laid: Laid<'a>,
    mut schedule: Schedule,
) -> Rewritten<'a> {
    let Laid {
        mut program,
        layout,
    } = laid;
    let options = &artifact.options;
    let may_round = options.optimise && options.math == Math::Fast;
    let changed = match schedule.relax && may_round {
        true => {
            let bound = Bound::of(&program, &schedule, options.generator);
            rewrites::apply(&program, &layout, bound, &schedule)
        }
        false => None,
    };
    schedule.relax = changed.is_some();
    let mut decisions = Vec::new();
    if let Some((changed, changes)) = changed {
        program = Cow::Owned(changed);
        decisions.push(changes.decision());
    }
    if let Some(fenced) = fences::fenced(&program, schedule.keeps_order) {
        program = Cow::Owned(fenced);
    }
    Rewritten {
        program,
        layout,
        schedule,
        decisions,
    }
}

impl<'a> Rewritten<'a> {
    /// The step split for a step table, where that pays. Reductions over lanes through workgroup memory stay
    /// in `main`.
    pub(crate) fn split(&self) -> Option<Split> {
        let waits = self.layout.lanes > self.schedule.subgroup && !self.layout.splits_time();
        match waits {
            true => None,
            false => step_table::split(&self.program),
        }
    }

    /// The whole, with a step table or without.
    pub(crate) fn finish(mut self, artifact: &Artifact, split: Option<Split>) -> Tailored<'a> {
        self.schedule.step_table = split.is_some();
        let table = split.map(|split| {
            let table = split.table(&artifact.manifest, &self.layout);
            self.decisions.push(table.decision());
            self.program = Cow::Owned(split.program);
            table
        });
        let shared = table.as_ref().map_or(0, |table| table.shared);
        let (time_loop, decision) =
            TimeLoop::plan(&self.program, &self.layout, &self.schedule, shared);
        self.decisions.extend(decision);
        Tailored {
            program: self.program,
            layout: self.layout,
            schedule: self.schedule,
            table,
            time_loop,
            decisions: self.decisions,
        }
    }
}
