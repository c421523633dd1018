//! Samples: before the first step and after each of every so many, the code of a sample runs and stores its
//! row of words behind the outputs. All invocations come to the barriers of a sample: what decides whether
//! there is one is the number of the step.
//!
//! In worlds, what is observed is combined at once. Where units of agents stand for worlds, each agent keeps
//! its value in workgroup memory. Once several samples are there, each invocation combines a part of one of
//! them: that takes one load and one operation per agent and sample, where a tree over the agents of each
//! sample would take several exchanges and barriers.

use super::{Writer, lanes::opaque, literal};
use crate::{
    ir::{LaneOp, Type, VarId},
    kernel::lanes::neutral,
};
use std::fmt::Write;

impl Writer<'_> {
    /// Writes the samples before the first step.
    pub(super) fn first_samples(&mut self) {
        if self.program.samples.is_empty() {
            return;
        }
        self.open("if (run.first_step == 0) {");
        for number in 0..self.program.samples.len() {
            self.open("{");
            self.sample(number, "0u", true);
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
            self.sample(number, &at, true);
            self.close("}");
        }
    }

    /// Where the loop over steps is to be left next, since a sample is to be taken or kept ones are to be
    /// combined; none if that is never. In a loop over steps without branches, drivers overlap steps.
    pub(super) fn segment_end(&self, t: &str) -> Option<String> {
        let ends = (0..self.program.samples.len()).filter_map(|number| {
            match (self.program.samples[number].every, self.kept(number)) {
                (1, None | Some(1)) => None,
                (1, Some(kept)) => Some(format!("({t} + 1) / {kept} * {kept} + {}", kept - 1)),
                (every, _) => Some(format!("({t} / {every} + 1) * {every}")),
            }
        });
        ends.fold(None, |end, own| {
            let end = end.unwrap_or_else(|| "run.end_step".to_owned());
            Some(format!("min({end}, {own})"))
        })
    }

    /// Writes what is sampled after each step, in the loop over steps.
    pub(super) fn step_samples(&mut self) {
        let done = format!("(u32({}) + 1u)", self.own.step);
        for number in 0..self.program.samples.len() {
            if self.program.samples[number].every == 1 {
                let combines = self.kept(number) == Some(1);
                self.open("{");
                self.sample(number, &done, combines);
                self.close("}");
            }
        }
    }

    /// Writes what is sampled, or combined, where the loop over steps was left: `t` is the next step.
    pub(super) fn segment_samples(&mut self, t: &str) {
        for number in 0..self.program.samples.len() {
            match (self.program.samples[number].every, self.kept(number)) {
                (1, None | Some(1)) => {}
                (1, Some(kept)) => {
                    let last = kept - 1;
                    self.open(&format!("if (u32({t}) % {kept}u == {last}u) {{"));
                    self.combine_kept(number, &format!("u32({t})"));
                    self.close("}");
                }
                (every, _) => {
                    self.open(&format!("if (u32({t}) % {every}u == 0u) {{"));
                    self.sample(number, &format!("u32({t}) / {every}u"), true);
                    self.close("}");
                }
            }
        }
    }

    /// Combines the samples of this dispatch that are still kept.
    pub(super) fn last_samples(&mut self) {
        let program = self.program;
        for (number, sample) in program.samples.iter().enumerate() {
            if let Some(kept) = self.kept(number) {
                let every = sample.every;
                let last = format!("(u32(run.end_step) / {every}u)");
                self.open(&format!("if ({last} % {kept}u != {}u) {{", kept - 1));
                self.combine_kept(number, &last);
                self.close("}");
            }
        }
    }

    /// How many samples are kept before they are combined, if any are.
    fn kept(&self, number: usize) -> Option<u32> {
        let combines = !self.program.samples[number].combined.is_empty();
        self.world
            .and_then(|layout| layout.kept)
            .filter(|_| combines)
    }

    /// Writes a sample: its code, and the stores. `at` is its number. Samples that are kept are combined here
    /// if the caller asks for it.
    fn sample(&mut self, number: usize, at: &str, combines: bool) {
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
        if !sample.records.is_empty() {
            let row = self.sample_row(number, false, &at_name);
            self.named_row(&row);
            let is_agent = format!("if ({}) {{", self.own.is_agent);
            self.open(&is_agent);
            for &var in &sample.records {
                self.store_variable(var);
            }
            self.close("}");
        }
        match self.kept(number) {
            Some(kept) => {
                for &(var, op) in &sample.combined {
                    self.keep(var, op, kept, &at_name);
                }
                if !combines {
                    // The caller does.
                } else if kept > 1 {
                    let last = kept - 1;
                    self.open(&format!("if ({at_name} % {kept}u == {last}u) {{"));
                    self.combine_kept(number, &at_name);
                    self.close("}");
                } else {
                    self.combine_kept(number, &at_name);
                }
            }
            None if !sample.world_records.is_empty() => {
                for &(var, op) in &sample.combined {
                    let name = self.var_names[var].clone();
                    let function = self.combining(op, program[var].ty);
                    self.line(&format!("{name} = {function}({name});"));
                }
                let row = self.sample_row(number, true, &at_name);
                self.named_row(&row);
                self.store_world(&sample.world_records);
            }
            None => {}
        }
        self.names.leave();
    }

    /// Names the word before a row, which stores add to a variable's own.
    fn named_row(&mut self, row: &str) {
        let name = self.names.declare("sample_row");
        self.line(&format!("let {name} = {row};"));
        self.own.sample_row = name;
    }

    /// Keeps an agent's value; one that is no agent has what changes nothing. (`min`, `max`, `any` and `all`
    /// may have the value of the last agent twice.)
    fn keep(&mut self, var: VarId, op: LaneOp, kept: u32, at: &str) {
        let Some(layout) = self.world else { return };
        let ty = self.program[var].ty;
        let (name, place) = (self.var_names[var].clone(), self.own.world.place.clone());
        self.begin();
        let start = format!(
            "{}[({at} % {kept}u) * {}u + {place}] = ",
            self.memory_of(var),
            layout.kept_stride()
        );
        self.push(&start);
        match op {
            LaneOp::Any | LaneOp::All => self.push(&format!("u32({name})")),
            LaneOp::Least | LaneOp::Most => self.push(&name),
            LaneOp::Sum | LaneOp::Product => {
                self.push("select(");
                self.literal(&neutral(op, ty), false);
                let end = format!(", {name}, {})", self.own.is_agent);
                self.push(&end);
            }
        }
        self.end(";");
    }

    fn memory_of(&self, var: VarId) -> String {
        let found = self.own.world.kept.iter().find(|(known, _)| *known == var);
        found.map_or_else(String::new, |(_, name)| name.clone())
    }

    /// Writes the call that combines the samples that are kept, up to the one of the number `last`.
    fn combine_kept(&mut self, number: usize, last: &str) {
        let own = &self.own.world;
        let (function, unit, units) = (&own.combining_kept[number], &own.slot, &own.count);
        let line = format!("{function}({last}, {unit}, {units});");
        self.line(&line);
    }

    /// Writes the functions that combine the samples that are kept: first each invocation as many neighbours
    /// as there are samples, then one invocation a sample what these have.
    pub(super) fn sample_functions(&mut self) {
        for number in 0..self.program.samples.len() {
            if self.kept(number).is_some() {
                self.blank();
                self.sample_function(number);
            }
        }
    }

    fn sample_function(&mut self, number: usize) {
        let (program, Some(layout)) = (self.program, self.world) else {
            return;
        };
        let sample = &program.samples[number];
        let kept = layout.kept.unwrap_or(1);
        let (members, stride) = (layout.members, layout.kept_stride());
        let place = self.own.world.place.clone();
        let function = self.own.world.combining_kept[number].clone();
        self.names.enter();
        let names = ["last", "own_unit", "units", "row", "first", "sample"];
        let [last, unit, units, row, first, own] = names.map(|name| self.names.declare(name));
        self.line("// Of all agents of the unit, neighbours first, up to the sample `last`.");
        self.open(&format!(
            "fn {function}({last}: u32, {unit}: u32, {units}: u32) {{"
        ));
        self.line("workgroupBarrier();");
        self.line(&format!("let {row} = ({place} % {kept}u) * {stride}u;"));
        if kept > 1 {
            self.line(&format!(
                "let {first} = {row} + {place} / {kept}u * {kept}u;"
            ));
            for &(var, op) in &sample.combined {
                let memory = self.memory_of(var);
                let all = self.combined_text(op, program[var].ty, &memory, &first, 0..kept, 1);
                self.line(&format!("{memory}[{first}] = {all};"));
            }
            self.line("workgroupBarrier();");
        }
        let every = sample.every;
        self.line(&format!(
            "let {own} = {last} / {kept}u * {kept}u + {place};"
        ));
        self.line("// Samples before those of this dispatch are stored already.");
        self.line(&format!(
            "let begin = select(u32(run.first_step) / {every}u + 1u, 0u, run.first_step == 0);"
        ));
        self.open(&format!(
            "if ({place} < {kept}u && {own} <= {last} && {own} >= begin) {{"
        ));
        for &(var, op) in &sample.combined {
            let (memory, ty) = (self.memory_of(var), program[var].ty);
            let all = self.combined_text(op, ty, &memory, &row, 0..members / kept, kept);
            if !self.private[var] {
                self.declare(var);
            }
            let name = self.var_names[var].clone();
            let compared = if ty == Type::Bool { " != 0u" } else { "" };
            let ty = literal::type_name(ty);
            self.line(&format!("let {name}: {ty} = {all}{compared};"));
        }
        let text = self.sample_row(number, true, &own);
        self.named_row(&text);
        let main = (
            std::mem::replace(&mut self.own.world.slot, unit),
            std::mem::replace(&mut self.own.world.count, units),
        );
        for &(var, _) in &sample.combined {
            self.store_variable(var);
        }
        (self.own.world.slot, self.own.world.count) = main;
        self.close("}");
        self.line("workgroupBarrier();");
        self.close("}");
        self.names.leave();
    }

    /// Values in memory combined as a tree, neighbours first. The range is a power of two.
    fn combined_text(
        &self,
        op: LaneOp,
        ty: Type,
        memory: &str,
        first: &str,
        range: std::ops::Range<u32>,
        stride: u32,
    ) -> String {
        if range.len() == 1 {
            return match range.start * stride {
                0 => format!("{memory}[{first}]"),
                offset => format!("{memory}[{first} + {offset}u]"),
            };
        }
        let middle = range.start + range.len() as u32 / 2;
        let part = |range| self.combined_text(op, ty, memory, first, range, stride);
        let (a, b) = (part(range.start..middle), part(middle..range.end));
        // A driver that reorders sums does not see them.
        let (before, after) = match op {
            LaneOp::Sum if ty.is_float() && !self.schedule.keeps_order => opaque(ty),
            LaneOp::Product if ty.is_float() => opaque(ty),
            LaneOp::Sum
            | LaneOp::Product
            | LaneOp::Least
            | LaneOp::Most
            | LaneOp::Any
            | LaneOp::All => Default::default(),
        };
        let mut text = before;
        let _ = match op {
            LaneOp::Sum => write!(text, "({a} + {b})"),
            LaneOp::Product => write!(text, "({a} * {b})"),
            LaneOp::Least => write!(text, "min({a}, {b})"),
            LaneOp::Most => write!(text, "max({a}, {b})"),
            LaneOp::Any => write!(text, "({a} | {b})"),
            LaneOp::All => write!(text, "({a} & {b})"),
        };
        text + &after
    }

    /// The word before a sample's row: outputs and earlier samples lie before it.
    fn sample_row(&self, number: usize, of_world: bool, at: &str) -> String {
        let manifest = self.manifest;
        let words = |number: usize| match of_world {
            true => manifest.samplings[number].world_words,
            false => manifest.samplings[number].words,
        };
        let before = match of_world {
            true => manifest.world_rows().words(),
            false => manifest.output_words,
        };
        let mut terms: Vec<String> = Vec::new();
        terms.extend((before > 0).then(|| format!("{before}u")));
        for (before, sampling) in manifest.samplings[..number].iter().enumerate() {
            let every = sampling.every;
            let samples = format!("(u32(run.steps) / {every}u + 1u)");
            terms.extend(times(words(before), &samples));
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
