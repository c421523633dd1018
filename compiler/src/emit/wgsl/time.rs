//! The time loop. A small step stands several times in the text of one round, since what a loop costs per
//! round is then a large part of the whole, and drivers overlap steps only within a round.

use super::Writer;
use crate::{
    ir::{Stmt, weight::Weights},
    schedule::Choice,
};

/// Steps of so many instructions stand eight times in a round, at most.
const SMALL: u32 = 64;
/// Steps of so many instructions stand four times in a round, at most.
const MIDDLING: u32 = 128;
/// A round's copies if a schedule asks for more.
const MOST_COPIES: u32 = 64;

impl<'a> Writer<'a> {
    /// How often the step stands in a round of the time loop.
    fn copies(&mut self) -> u32 {
        let asked = self.schedule.unroll_steps;
        if asked > 0 {
            return asked.min(MOST_COPIES);
        }
        let program = self.program;
        let step = self.rest();
        if step.is_empty() {
            return 1;
        }
        let weight = Weights::new(program).block(program, step);
        let size = weight.instructions;
        let copies = match size {
            _ if weight.loops => 1,
            0..=SMALL => 8,
            _ if size <= MIDDLING => 4,
            _ => 1,
        };
        let why = match weight.loops {
            true => "a step has loops of its own".to_owned(),
            false => format!("a step is about {size} instructions"),
        };
        let what = match copies {
            1 => "one step per round of the time loop".to_owned(),
            _ => format!("{copies} steps per round of the time loop"),
        };
        self.choices.push(Choice { what, why });
        copies
    }

    /// Writes the time loop.
    pub(super) fn time_loop(&mut self) {
        self.blank();
        let copies = self.copies();
        let t = self.own.step.clone();
        let go_on = if self.usage.stops {
            format!(" && !{}", self.own.stopped)
        } else {
            String::new()
        };
        let mut first = format!("var {t} = run.first_step");
        if copies > 1 {
            self.line(&format!("{first};"));
            first.clear();
            self.round(copies, &go_on);
        }
        self.open(&format!(
            "for ({first}; {t} < run.end_step{go_on}; {t}++) {{"
        ));
        self.count(1);
        self.step();
        self.close("}");
    }

    /// Writes the loop that takes `copies` steps a round, as long as there are so many.
    fn round(&mut self, copies: u32, go_on: &str) {
        let t = self.own.step.clone();
        // Not `t + copies <= end_step`, which could be beyond the integers.
        self.open(&format!(
            "for (; run.end_step - {t} >= {copies}{go_on}; {t} += {copies}) {{"
        ));
        let at_once = !self.usage.stops;
        if at_once {
            self.count(copies);
        }
        for copy in 0..copies {
            self.open("{");
            self.names.enter();
            if copy > 0 && self.names_step() {
                self.own.step = self.names.declare("t");
                let line = format!("let {} = {t} + {copy};", self.own.step);
                self.line(&line);
            }
            if !at_once {
                self.count(1);
            }
            let falls = self.step();
            self.own.step.clone_from(&t);
            self.names.leave();
            self.close("}");
            if !falls {
                break;
            }
        }
        self.close("}");
    }

    /// Does a step's text use its number?
    fn names_step(&self) -> bool {
        self.usage.step || self.usage.draws[1] || self.per_step.is_some()
    }

    fn count(&mut self, steps: u32) {
        let count = match steps {
            1 => format!("{}++;", self.own.steps_run),
            _ => format!("{} += {steps}u;", self.own.steps_run),
        };
        self.line(&count);
    }

    /// Writes one step. Does the flow reach its end?
    fn step(&mut self) -> bool {
        self.names.enter();
        self.load_row();
        let number = format!("u32({})", self.own.step);
        let falls = self.part(1, &number, self.rest());
        self.names.leave();
        falls
    }

    /// The step without what `prepare` does in its stead.
    fn rest(&self) -> &'a [Stmt] {
        let front = self.per_step.as_ref().map_or(0, |it| it.front);
        &self.program.step[front..]
    }
}
