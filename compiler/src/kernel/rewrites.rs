//! The table of rewrites for a device: those of [`super::relax`], which change roundings, and those of
//! [`super::order`], which keep every bit. A schedule asks for them ([`Schedule::relax`]). They are not
//! passes of the pipeline, whose programs run on CPUs as well.
//!
//! Invariant: a float changes only by the order of its sums and by some roundings; all else is the same to
//! the bit. A rewrite that changes nothing leaves the program as it was. In debug builds the verifier runs
//! after each.

use super::{
    lane_layout::LaneLayout,
    order::interleave_chains,
    profile::Profile,
    relax::{
        constant_factors, constants_in_weights, fma_chains, late_terms_last, shared_reciprocals,
    },
    schedule::{Decision, Occupancy, Schedule},
};
use crate::{
    ir::{self, Program, verify::debug_verify},
    passes::{self, split_deep},
    random::Generator,
};

/// What the time of a step is bound by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Latency: few agents run, and each step waits for its own values.
    Latency,
    /// The unit for special functions.
    Special,
    /// All other instructions.
    Issue,
}

impl Bound {
    /// The bound of a program under a schedule.
    pub(crate) fn of(program: &Program, schedule: &Schedule, generator: Generator) -> Bound {
        let ratio = schedule.class.profile().special_ratio;
        let special = || {
            let cost = ir::cost::operations::cost(program, generator);
            cost.is_some_and(|cost| ratio * cost.step.special > cost.step.total())
        };
        match schedule.occupancy {
            Occupancy::Low => Bound::Latency,
            Occupancy::Full if special() => Bound::Special,
            Occupancy::Full => Bound::Issue,
        }
    }

    fn is_latency(self) -> bool {
        self == Bound::Latency
    }
}

/// What a rewrite is given beside the program.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    bound: Bound,
    /// The device's compiler respects infinities, see [`Schedule::has_infinities`].
    has_infinities: bool,
    layout: &'a LaneLayout,
    profile: &'static Profile,
    /// What the earlier rewrites have changed.
    done: Changes,
    /// Whether the program has to be cleaned up after them.
    dirty: bool,
}

/// A row of the table.
pub(crate) struct Rewrite {
    /// The name of its file.
    pub(crate) name: &'static str,
    /// Whether it keeps every bit.
    pub(crate) exact: bool,
    /// Where it pays.
    when: fn(&Setting) -> bool,
    /// When the program is cleaned up.
    cleaning: Cleaning,
    /// Changes a program; returns in how many places.
    run: fn(&mut Program, &Setting) -> u32,
    /// How one change is described, and more than one, `#` of them.
    said: [&'static str; 2],
}

/// When loop-invariant values are hoisted and dead names removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cleaning {
    /// Before the rewrite, which leaves nothing to clean up.
    Before,
    /// Within the rewrite.
    Within,
    /// After the rewrite, before the next one that needs it.
    After,
}

/// The rewrites in the order in which they run.
pub(crate) static REWRITES: [Rewrite; 6] = [
    Rewrite {
        name: "constant_factors",
        exact: false,
        when: |_| true,
        cleaning: Cleaning::After,
        run: |program, _| constant_factors::run(program),
        said: [
            "constant factors have moved in 1 place",
            "constant factors have moved in # places",
        ],
    },
    Rewrite {
        name: "fma_chains",
        exact: false,
        when: |_| true,
        cleaning: Cleaning::After,
        run: |program, _| fma_chains::run(program),
        said: [
            "1 sum is a chain of fused multiply-adds",
            "# sums are chains of fused multiply-adds",
        ],
    },
    Rewrite {
        name: "shared_reciprocals",
        exact: false,
        // A pair relieves the unit for special functions and costs instructions.
        when: |setting| setting.bound == Bound::Special,
        cleaning: Cleaning::After,
        run: |program, _| {
            split_deep::run(program);
            shared_reciprocals::run(program)
        },
        said: [
            "1 pair of divisions shares a reciprocal",
            "# pairs of divisions share a reciprocal",
        ],
    },
    Rewrite {
        name: "constants_in_weights",
        exact: false,
        when: |setting| !setting.layout.splits_time(),
        cleaning: Cleaning::Within,
        run: constants_in_weights,
        said: [
            "1 constant went into weights",
            "# constants went into weights",
        ],
    },
    Rewrite {
        name: "late_terms_last",
        exact: false,
        when: |setting| !setting.layout.splits_time() && setting.bound.is_latency(),
        cleaning: Cleaning::Before,
        run: |program, _| late_terms_last::run(program),
        said: [
            "1 sum adds the terms that are known last at its end",
            "# sums add the terms that are known last at their end",
        ],
    },
    Rewrite {
        name: "interleave_chains",
        exact: true,
        // A program that nothing has changed keeps its order.
        when: |setting| !setting.bound.is_latency() && setting.done != Changes::default(),
        cleaning: Cleaning::Before,
        run: |program, setting| {
            let together = match setting.done.of("shared_reciprocals") {
                0 => setting.profile.interleaved,
                _ => setting.profile.interleaved_pairs,
            };
            interleave_chains::run(program, together)
        },
        said: [
            "1 chain of sums is interleaved with what is independent of it",
            "# independent chains of sums are interleaved",
        ],
    },
];

/// Calls are inlined first, where no pairs were looked for, so that the constants of functions can go into
/// weights, too.
fn constants_in_weights(program: &mut Program, setting: &Setting) -> u32 {
    split_deep::run(program);
    let written_out = setting.bound != Bound::Special
        && shared_reciprocals::write_out(program, setting.has_infinities);
    if written_out || setting.dirty {
        clean(program, setting.layout);
    }
    constants_in_weights::run(program, setting.layout, setting.bound.is_latency())
}

/// How often each rewrite of the table changed something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes([u32; REWRITES.len()]);

impl Changes {
    /// How often the rewrite with this name did.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn of(&self, name: &str) -> u32 {
        let row = REWRITES.iter().position(|rewrite| rewrite.name == name);
        self.0[row.unwrap_or_else(|| panic!("no rewrite is called `{name}`"))]
    }

    /// What was changed, in words.
    pub(crate) fn decision(&self) -> Decision {
        let rows = || REWRITES.iter().zip(self.0);
        let rounds = rows().any(|(rewrite, count)| count > 0 && !rewrite.exact);
        let why = match rounds {
            true => {
                "fast mathematics lets floats be rounded in another order, which saves instructions or \
                waiting"
            }
            false => "it saves waiting",
        };
        let what = rows().filter_map(|(rewrite, count)| match count {
            0 => None,
            1 => Some(rewrite.said[0].to_owned()),
            _ => Some(rewrite.said[1].replace('#', &count.to_string())),
        });
        Decision {
            what: what.collect::<Vec<String>>().join("; "),
            why: why.to_owned(),
        }
    }
}

/// Rewrites an optimised program; none if there is nothing to change.
pub(crate) fn apply(
    program: &Program,
    layout: &LaneLayout,
    bound: Bound,
    schedule: &Schedule,
) -> Option<(Program, Changes)> {
    let mut program = program.clone();
    let mut setting = Setting {
        bound,
        has_infinities: schedule.has_infinities,
        layout,
        profile: schedule.class.profile(),
        done: Changes::default(),
        dirty: false,
    };
    for (row, rewrite) in REWRITES.iter().enumerate() {
        if !(rewrite.when)(&setting) {
            continue;
        }
        if rewrite.cleaning == Cleaning::Before && std::mem::take(&mut setting.dirty) {
            clean(&mut program, setting.layout);
        }
        let mut changed = program.clone();
        let count = (rewrite.run)(&mut changed, &setting);
        if count == 0 {
            continue;
        }
        program = changed;
        setting.done.0[row] = count;
        setting.dirty = rewrite.cleaning == Cleaning::After;
        debug_verify(&program, rewrite.name);
    }
    if setting.dirty {
        clean(&mut program, setting.layout);
    }
    (setting.done != Changes::default()).then_some((program, setting.done))
}

/// One rewrite alone, whether it pays or not: how often it changed something, and the result.
#[cfg(test)]
pub(crate) fn alone(program: &Program, rewrite: &Rewrite, bound: Bound) -> (u32, Program) {
    let mut changed = program.clone();
    let setting = Setting {
        bound,
        has_infinities: true,
        layout: &LaneLayout::default(),
        profile: Schedule::default().class.profile(),
        done: Changes::default(),
        dirty: false,
    };
    let count = (rewrite.run)(&mut changed, &setting);
    debug_verify(&changed, rewrite.name);
    (count, changed)
}

/// The passes of the pipeline that clean up: values that no longer change during the time loop leave it.
const CLEANING: [&str; 8] = [
    "propagate",
    "licm",
    "cse",
    "propagate",
    "dce",
    "inline_lets",
    "split_deep",
    "compact",
];

fn clean(program: &mut Program, layout: &LaneLayout) {
    if layout.splits_time() {
        split_deep::run(program);
        return;
    }
    for name in CLEANING {
        let pass = passes::PIPELINE.iter().find(|pass| pass.name == name);
        (pass.expect("the pipeline has that pass").run)(program);
    }
}
