//! The order in which a program takes the steps of a model whose agents depend on one another.
//!
//! Agents of a world wait for one another between phases, so that each step back is a step of the program of
//! its own, a *round*. A run is cut into segments of about the root of its steps, with a checkpoint before
//! each. The rounds are:
//!
//! * one for each step forward: it keeps the states before each segment, and before each step of the last
//!   one;
//! * one behind the last step, which turns the end of the run around;
//! * one for each step of the last segment, the last step first: back;
//! * of each other segment, the last one first: one for each of its steps, again forward, which keeps the
//!   states before it; and one for each of its steps back.

use super::{build::int, record::Sweep};
use crate::{
    gradient::{Refused, forward::Atom, refused},
    ir::{BinaryOp, Expr, Launch, Stmt, Type, UnaryOp, VarId},
};

/// How a run is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds {
    /// The steps of the model.
    steps: u32,
    /// The steps of a segment; the last one may have fewer.
    length: u32,
    /// How many segments there are, at least one.
    segments: u32,
}

/// The rounds in which a block of a phase runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// In all of them.
    Always,
    /// In those of a step, forward and back.
    Steps,
    /// In those that take a step forward.
    Forward,
    /// In the one behind the last step.
    End,
    /// In those that take a step back.
    Back,
}

impl When {
    /// May a block that runs then and one of the other kind run in the same round?
    pub(super) fn meets(self, other: When) -> bool {
        match (self, other) {
            (When::Always, _) | (_, When::Always) => true,
            (When::End, other) | (other, When::End) => other == When::End,
            (When::Steps, _) | (_, When::Steps) => true,
            (When::Forward | When::Back, _) => self == other,
        }
    }
}

/// What a phase knows of its round.
pub(super) struct Round {
    /// Is a step taken back?
    pub(super) back: Atom,
    /// Are a segment's states taken from what was kept before it?
    pub(super) begins_again: Atom,
    /// Are the states before this step kept, as one of a segment?
    pub(super) keeps_step: Atom,
    /// Are they kept, as those before a segment?
    pub(super) keeps_segment: Atom,
    /// The place of the segment among those that are kept.
    pub(super) segment: Atom,
    /// The number of the step within it.
    pub(super) slot: Atom,
    forward: Atom,
    end: Atom,
    step: Atom,
}

/// The names that the source has for what a step asks of its launch.
#[derive(Clone, Copy)]
pub(super) struct LaunchNames {
    /// The number of the step, an `i32`.
    pub(super) step: VarId,
    /// The same for draws, a `u32`.
    pub(super) random_step: VarId,
    /// The agent's place in its world.
    pub(super) member: VarId,
    /// The agent's number.
    pub(super) agent: VarId,
}

impl LaunchNames {
    pub(super) fn all(self) -> [VarId; 4] {
        [self.step, self.random_step, self.member, self.agent]
    }
}

impl Rounds {
    pub(super) fn new(steps: u32) -> Result<Rounds, Refused> {
        let root = steps.isqrt();
        let root = root + u32::from(root * root < steps);
        // Few steps are one segment.
        let length = if steps <= 16 { steps.max(1) } else { root };
        let rounds = Rounds {
            steps,
            length,
            segments: steps.div_ceil(length).max(1),
        };
        match rounds.all() <= i32::MAX as u64 {
            true => Ok(rounds),
            false => Err(refused(format!(
                "{steps} steps are too many for reverse mode of agents that depend on one another or \
                 whose step has several phases"
            ))),
        }
    }

    /// The steps of the last segment.
    fn last(self) -> u32 {
        self.steps - self.before_last()
    }

    /// The steps before the last segment.
    fn before_last(self) -> u32 {
        (self.segments - 1) * self.length
    }

    fn all(self) -> u64 {
        let [steps, last, before] = [self.steps, self.last(), self.before_last()].map(u64::from);
        steps + 1 + last + 2 * before
    }

    /// The number of rounds.
    pub(super) fn count(self) -> u32 {
        self.all() as u32
    }

    /// How many states before steps are kept: those of a segment.
    pub(super) fn slots(self) -> u32 {
        self.length
    }

    /// How many states before segments are kept: of all but the last one.
    pub(super) fn kept_segments(self) -> u32 {
        self.segments - 1
    }
}

impl Sweep<'_> {
    /// Writes what a phase knows of its round.
    pub(super) fn round_of(&mut self, rounds: Rounds) -> Round {
        let Rounds { steps, length, .. } = rounds;
        let round = self.add(Expr::Launch(Launch::Step));
        let round = Atom::Var(self.bind("round", round));
        let first = self.op("first", BinaryOp::Less, round, int(steps));
        let end = self.op("end", BinaryOp::Equal, round, int(steps));
        let behind = self.op("behind", BinaryOp::Subtract, round, int(steps + 1));
        let in_last = self.op("in_last", BinaryOp::Less, behind, int(rounds.last()));
        // Of the segments before the last one.
        let more = self.op("more", BinaryOp::Subtract, behind, int(rounds.last()));
        let of_segment = self.op("number", BinaryOp::Divide, more, int(2 * length));
        let before = self.op("before", BinaryOp::Multiply, of_segment, int(2 * length));
        let place = self.op("place", BinaryOp::Subtract, more, before);
        let again = self.op("again", BinaryOp::Less, place, int(length));
        let from_end = self.op("from_end", BinaryOp::Subtract, int(2 * length - 1), place);
        let slot = self.choice("slot", again, place, from_end);
        let earlier = self.negation(in_last);
        let again = self.op("again", BinaryOp::And, again, earlier);
        let last_slot = rounds.last().saturating_sub(1);
        let of_last = self.op("slot", BinaryOp::Subtract, int(last_slot), behind);
        let slot = self.choice("slot", in_last, of_last, slot);
        let last_but_one = int(rounds.kept_segments().saturating_sub(1));
        let segment = self.op("segment", BinaryOp::Subtract, last_but_one, of_segment);
        let last_segment = int(rounds.kept_segments());
        let segment = self.choice("segment", in_last, last_segment, segment);
        // On the way forward.
        let own_segment = self.op("segment", BinaryOp::Divide, round, int(length));
        let segment = self.choice("segment", first, own_segment, segment);
        let before = self.op("before", BinaryOp::Multiply, segment, int(length));
        let own_slot = self.op("slot", BinaryOp::Subtract, round, before);
        let slot = self.choice("slot", first, own_slot, slot);
        // Places are in range where nothing is kept or taken, too.
        let slot = self.choice("slot", end, int(0), slot);
        let step = self.op("step", BinaryOp::Add, before, slot);
        let later = self.op("later", BinaryOp::Less, int(steps), round);
        let again = self.op("again", BinaryOp::And, later, again);
        let forward = self.op("forward", BinaryOp::Or, first, again);
        let not_again = self.negation(again);
        let back = self.op("back", BinaryOp::And, later, not_again);
        let is_first = self.op("is_first", BinaryOp::Equal, slot, int(0));
        let begins_again = self.op("begins_again", BinaryOp::And, again, is_first);
        let is_last = self.op("is_last", BinaryOp::Equal, segment, last_segment);
        let not_last = self.negation(is_last);
        let begins = self.op("begins", BinaryOp::And, first, is_first);
        let of_last = self.op("of_last", BinaryOp::And, first, is_last);
        Round {
            back,
            begins_again,
            keeps_step: self.op("keeps_step", BinaryOp::Or, of_last, again),
            keeps_segment: self.op("keeps_segment", BinaryOp::And, begins, not_last),
            segment: self.choice("segment", is_last, int(0), segment),
            slot,
            forward,
            end,
            step,
        }
    }

    fn negation(&mut self, of: Atom) -> Atom {
        let of = self.write(of);
        let value = self.add(Expr::Unary(UnaryOp::Not, of));
        Atom::Var(self.bind("not", value))
    }

    /// Is it a round of this kind? None if it always is.
    pub(super) fn is_now(&mut self, round: &Round, when: When) -> Option<Atom> {
        match when {
            When::Always => None,
            When::Steps => Some(self.negation(round.end)),
            When::Forward => Some(round.forward),
            When::End => Some(round.end),
            When::Back => Some(round.back),
        }
    }

    /// Names what a step of the model asks for, for an agent that runs it itself.
    pub(super) fn name_launch(&mut self, launch_names: LaunchNames, round: &Round) {
        let step = self.write(round.step);
        let step = self.bind("step", step);
        let value = self.add(Expr::Read(step));
        let to = Type::U32;
        let value = self.add(Expr::Bitcast { to, value });
        let random_step = self.bind("random_step", value);
        self.names.insert(launch_names.step, step);
        self.names.insert(launch_names.random_step, random_step);
        for (name, of) in [
            (launch_names.member, Launch::Member),
            (launch_names.agent, Launch::Agent),
        ] {
            let value = self.add(Expr::Launch(of));
            let own = self.bind("own", value);
            self.names.insert(name, own);
        }
    }

    /// The statements that `write` writes, where the round is of a kind, behind what they know of it.
    pub(super) fn timed(
        &mut self,
        rounds: Rounds,
        launch_names: LaunchNames,
        when: When,
        write: impl FnOnce(&mut Self, &Round),
    ) -> Vec<Stmt> {
        let mut is_empty = false;
        let out = self.written(|sweep| {
            let round = sweep.round_of(rounds);
            sweep.name_launch(launch_names, &round);
            let condition = sweep.is_now(&round, when);
            let block = sweep.written(|sweep| write(sweep, &round));
            is_empty = block.is_empty();
            match condition {
                Some(condition) => sweep.when(condition, block, Vec::new()),
                None => sweep.block.extend(block),
            }
        });
        if is_empty { Vec::new() } else { out }
    }
}
