//! Samples: before the first step and after each of every so many, the code of a sample runs and stores its row
//! of words behind the outputs. All invocations come to the barriers of a sample: what decides whether there
//! is one is the number of the step.

use super::Writer;
use crate::ir::VarId;

impl Writer<'_> {
    /// Writes the samples before the first step.
    pub(super) fn first_samples(&mut self) {
        if self.program.samples.is_empty() {
            return;
        }
        self.open("if (run.first_step == 0) {");
        for number in 0..self.program.samples.len() {
            self.open("{");
            self.sample(number, "0u");
            self.close("}");
        }
        self.close("}");
    }

    /// Writes the samples after a step.
    pub(super) fn samples(&mut self) {
        let program = self.program;
        let done = format!("(u32({}) + 1u)", self.own.step);
        for (number, sample) in program.samples.iter().enumerate() {
            let every = sample.every;
            let (head, at) = match every {
                1 => ("{".to_owned(), done.clone()),
                _ => (
                    format!("if ({done} % {every}u == 0u) {{"),
                    format!("{done} / {every}u"),
                ),
            };
            self.open(&head);
            self.sample(number, &at);
            self.close("}");
        }
    }

    /// Writes a sample: its code, and the stores. `at` is its number.
    fn sample(&mut self, number: usize, at: &str) {
        let program = self.program;
        let sample = &program.samples[number];
        self.names.enter();
        let before = self.own.world.read.clone();
        self.publish(&sample.body);
        // Whether the sample is taken is known at run time only.
        for var in before {
            if !self.own.world.read.contains(&var) {
                self.own.world.read.push(var);
            }
        }
        for &record in sample.records.iter().chain(&sample.world_records) {
            if !self.private[record] {
                self.declare(record);
                self.zeros(record);
            }
        }
        self.statements(&sample.body);
        let at_name = self.names.declare("sample");
        self.line(&format!("let {at_name} = {at};"));
        for (list, of_world) in [(&sample.records, false), (&sample.world_records, true)] {
            self.store_samples(number, list, of_world, &at_name);
        }
        self.names.leave();
    }

    fn store_samples(&mut self, number: usize, vars: &[VarId], of_world: bool, at: &str) {
        if vars.is_empty() {
            return;
        }
        let row = self.names.declare("sample_row");
        let line = format!("let {row} = {};", self.sample_row(number, of_world, at));
        self.line(&line);
        self.own.sample_row = row;
        if of_world {
            self.store_world(vars);
        } else {
            let is_agent = format!("if ({}) {{", self.own.is_agent);
            self.open(&is_agent);
            for &var in vars {
                self.store_variable(var);
            }
            self.close("}");
        }
    }

    /// The word before a sample's row: outputs and earlier samples lie before it.
    fn sample_row(&self, number: usize, of_world: bool, at: &str) -> String {
        let manifest = self.manifest;
        let words = |number: usize| match of_world {
            true => manifest.samplings[number].world_words,
            false => manifest.samplings[number].words,
        };
        let mut terms = match (
            of_world,
            manifest.world_rows().words(),
            manifest.output_words,
        ) {
            (true, first, _) | (false, _, first) if first > 0 => vec![format!("{first}u")],
            _ => Vec::new(),
        };
        for (before, sampling) in manifest.samplings[..number].iter().enumerate() {
            let every = sampling.every;
            terms.extend(times(
                words(before),
                &format!("(u32(run.steps) / {every}u + 1u)"),
            ));
        }
        terms.extend(times(words(number), at));
        terms.join(" + ")
    }
}

/// A number of words times another number, unless there are none.
fn times(words: u32, number: &str) -> Option<String> {
    match words {
        0 => None,
        1 => Some(number.to_owned()),
        _ => Some(format!("{words}u * {number}")),
    }
}
