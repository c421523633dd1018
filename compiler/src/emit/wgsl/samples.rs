//! Samples: before the first step and after each of every so many, the code of a sample runs and stores its
//! row of words behind the outputs. All invocations come to the barriers of a sample: what decides whether
//! there is one is the number of the step.
//!
//! In worlds, what is observed is combined at once. Where units of agents stand for worlds, each agent keeps
//! its value in workgroup memory, a row per sample. Once several rows are full, each invocation combines a
//! part of one of them: that takes one load and one operation per agent and sample, where a tree over the
//! agents of each sample would take several exchanges and barriers. Where an iteration of the loop over steps
//! has as many steps as there are rows, it fills all of them, and combines them at its end; steps that are
//! left over come before it, with the sample before the first step. Elsewhere what is sampled after every
//! step has its first row where the loop was last left, so that the rows of an iteration's steps are
//! constants apart.

use super::{Writer, coarsening::combined, lanes::opaque, literal};
use crate::{
    ir::{LaneOp, Type, VarId},
    kernel::{coarsening::ENABLED, lanes::neutral},
};

impl Writer<'_> {
    /// Writes the samples before the first step.
    pub(super) fn first_samples(&mut self) {
        if self.program.samples.is_empty() {
            return;
        }
        self.open("if (run.first_step == 0) {");
        for number in 0..self.program.samples.len() {
            let row = self.counts_rows(number).then_some("0u");
            self.open("{");
            self.sample(number, "0u", row);
            self.close("}");
            if row.is_some() && !self.fills_rows() {
                self.combine_kept(number, "0u", "0u");
            }
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
            self.sample(number, &at, None);
            self.close("}");
        }
    }

    /// Where the loop over steps is to be left next, since a sample is to be taken or kept ones are to be
    /// combined; none if that is never. Names the step from which rows are counted. In a loop over steps
    /// without branches, drivers overlap steps.
    pub(super) fn segment_end(&mut self, t: &str) -> Option<String> {
        let mut end: Option<String> = None;
        for number in 0..self.program.samples.len() {
            let own = match self.program.samples[number].every {
                1 if self.counts_rows(number) => {
                    self.own.first_kept = self.names.declare("first_kept");
                    format!("{} + {}", self.own.first_kept, self.rows(number))
                }
                1 => continue,
                every => format!("({t} / {every} + 1) * {every}"),
            };
            let before = end.as_deref().unwrap_or("run.end_step");
            end = Some(format!("min({before}, {own})"));
        }
        end
    }

    /// Are the rows of samples counted from where the last ones were combined? Otherwise a sample's number
    /// says which row it has.
    fn counts_rows(&self, number: usize) -> bool {
        let is_in_each_step = self.program.samples[number].every == 1;
        is_in_each_step && !self.usage.stops && self.kept(number).is_some()
    }

    /// Does an iteration of the loop over steps fill the rows of the only sampling? The compiler for pages
    /// leaves the loop in this case, too: it shall stay small.
    pub(super) fn fills_rows(&self) -> bool {
        let is_plain = self.time_loop.period.is_none() && self.program.samples.len() == 1;
        let copies = self.time_loop.copies;
        ENABLED && is_plain && copies > 1 && self.counts_rows(0) && self.kept(0) == Some(copies)
    }

    /// The rows that are filled before they are combined: those of whole iterations of the loop over steps.
    fn rows(&self, number: usize) -> u32 {
        let kept = self.kept(number).unwrap_or(1);
        kept - kept % self.time_loop.copies.min(kept)
    }

    /// Writes what is sampled after each step, in the loop over steps.
    pub(super) fn step_samples(&mut self) {
        let step = self.own.step.clone();
        let done = format!("(u32({step}) + 1u)");
        for number in 0..self.program.samples.len() {
            if self.program.samples[number].every == 1 {
                let row = match self.own.first_kept.as_str() {
                    "" => format!("{}u", self.own.copy),
                    first => format!("u32({step} - {first})"),
                };
                let row = self.counts_rows(number).then_some(row);
                self.open("{");
                self.sample(number, &done, row.as_deref());
                self.close("}");
            }
        }
    }

    /// Writes what is sampled, or combined, where the loop over steps was left: `t` is the next step.
    pub(super) fn segment_samples(&mut self, t: &str) {
        for number in 0..self.program.samples.len() {
            match self.program.samples[number].every {
                1 if self.counts_rows(number) => {
                    let (first, rows) = (self.own.first_kept.clone(), self.rows(number));
                    self.open(&format!(
                        "if ({t} - {first} == {rows} || {t} == run.end_step) {{"
                    ));
                    self.combine_kept(number, &format!("u32({first} + 1)"), &format!("u32({t})"));
                    self.line(&format!("{first} = {t};"));
                    self.close("}");
                }
                1 => {}
                every => {
                    self.open(&format!("if (u32({t}) % {every}u == 0u) {{"));
                    self.sample(number, &format!("u32({t}) / {every}u"), None);
                    self.close("}");
                }
            }
        }
    }

    /// Combines the samples of this dispatch that are still kept.
    pub(super) fn last_samples(&mut self) {
        let program = self.program;
        for (number, sample) in program.samples.iter().enumerate() {
            let kept = self.kept(number).filter(|_| !self.counts_rows(number));
            if let Some(kept) = kept {
                let every = sample.every;
                let last = format!("(u32(run.end_step) / {every}u)");
                self.open(&format!("if ({last} % {kept}u != {}u) {{", kept - 1));
                self.combine_kept(number, &format!("{last} / {kept}u * {kept}u"), &last);
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

    /// Writes a sample: its code, and the stores. `at` is its number. If it is kept, it has a row that the
    /// caller names and combines, or that of its number, which is combined here with those before it.
    fn sample(&mut self, number: usize, at: &str, row: Option<&str>) {
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
        self.each_agent(|writer| {
            for &record in sample.records.iter().chain(&sample.world_records) {
                if !writer.private[record] {
                    writer.declare(record);
                    writer.zeros(record);
                }
            }
        });
        self.statements(&sample.body);
        let at_name = self.names.declare("sample");
        if row.is_none() || !sample.records.is_empty() {
            self.line(&format!("let {at_name} = {at};"));
        }
        if !sample.records.is_empty() {
            let row = self.sample_row(number, false, &at_name);
            self.named_row(&row);
            self.each_agent(|writer| {
                let is_agent = format!("if ({}) {{", writer.own.is_agent);
                writer.open(&is_agent);
                for &var in &sample.records {
                    writer.store_variable(var);
                }
                writer.close("}");
            });
        }
        match self.kept(number) {
            Some(kept) => {
                let by_number = format!("{at_name} % {kept}u");
                for &(var, op) in &sample.combined {
                    self.keep(var, op, row.unwrap_or(&by_number));
                }
                if row.is_none() {
                    let last = kept - 1;
                    self.open(&format!("if ({by_number} == {last}u) {{"));
                    self.combine_kept(number, &format!("{at_name} - {last}u"), &at_name);
                    self.close("}");
                }
            }
            None if !sample.world_records.is_empty() => {
                for &(var, op) in &sample.combined {
                    let name = self.var_names[var].clone();
                    let function = self.combining(op, program[var].ty);
                    let own = self.own_or_combined(var, op);
                    self.line(&format!("{name} = {function}({own});"));
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
    pub(super) fn named_row(&mut self, row: &str) {
        let name = self.names.declare("sample_row");
        self.line(&format!("let {name} = {row};"));
        self.own.sample_row = name;
    }

    /// Keeps an agent's value in a row.
    fn keep(&mut self, var: VarId, op: LaneOp, row: &str) {
        let Some(layout) = self.world else { return };
        let mut value = self.own_or_combined(var, op);
        if self.program[var].ty == Type::Bool {
            value = format!("u32({value})");
        }
        let place = &self.own.world.place;
        let (memory, stride) = (self.memory_of(var), layout.kept_stride());
        let line = format!("{memory}[({row}) * {stride}u + {place}] = {value};");
        self.line(&line);
    }

    /// What an agent, or all agents of an invocation, have of a variable that is combined.
    fn own_or_combined(&mut self, var: VarId, op: LaneOp) -> String {
        match self.is_coarse() {
            true => self.combined_in_invocation(var, op),
            false => self.var_names[var].clone(),
        }
    }

    fn memory_of(&self, var: VarId) -> String {
        let found = self.own.world.kept.iter().find(|(known, _)| *known == var);
        found.map_or_else(String::new, |(_, name)| name.clone())
    }

    /// Writes the call that combines the samples that are kept: those of the numbers from `first`, which has
    /// the first row, to `last`.
    pub(super) fn combine_kept(&mut self, number: usize, first: &str, last: &str) {
        let own = &self.own.world;
        let (function, unit, units) = (&own.combining_kept[number], &own.slot, &own.count);
        let line = format!("{function}({first}, {last}, {unit}, {units});");
        self.line(&line);
    }

    /// Writes the functions that combine the samples that are kept: first each invocation as many neighbours
    /// as there are rows, then one invocation a row what these have. (Parts in memory of their own, which
    /// would save the last barrier, took 2 % longer on an H100.)
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
        let (members, stride) = (layout.leaves(), layout.kept_stride());
        let place = self.own.world.place.clone();
        let function = self.own.world.combining_kept[number].clone();
        self.names.enter();
        let names = [
            "first_sample",
            "last",
            "own_unit",
            "units",
            "row",
            "first",
            "sample",
        ];
        let [first_sample, last, unit, units, row, first, own] =
            names.map(|name| self.names.declare(name));
        self.line("// Of all agents of the unit, neighbours first, from the first row to the sample `last`.");
        self.open(&format!(
            "fn {function}({first_sample}: u32, {last}: u32, {unit}: u32, {units}: u32) {{"
        ));
        self.clear_others(number, kept);
        self.line("workgroupBarrier();");
        self.line(&format!("let {row} = ({place} % {kept}u) * {stride}u;"));
        self.line(&format!(
            "let {first} = {row} + {place} / {kept}u * {kept}u;"
        ));
        for &(var, op) in &sample.combined {
            let memory = self.memory_of(var);
            let all = self.combined_text(op, program[var].ty, &memory, &first, 0..kept, 1);
            self.line(&format!("{memory}[{first}] = {all};"));
        }
        self.line("workgroupBarrier();");
        self.line(&format!("let {own} = {first_sample} + {place};"));
        let is_new = self.is_new(number, &own);
        self.open(&format!(
            "if ({place} < {kept}u && {own} <= {last}{is_new}) {{"
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
        let mut own = (unit, units);
        self.swap_unit(&mut own);
        for &(var, _) in &sample.combined {
            self.store_variable(var);
        }
        self.swap_unit(&mut own);
        self.close("}");
        self.line("workgroupBarrier();");
        self.close("}");
        self.names.leave();
    }

    /// A condition that a sample that is combined is not stored already.
    fn is_new(&mut self, number: usize, own: &str) -> String {
        if self.counts_rows(number) {
            return String::new();
        }
        let every = self.program.samples[number].every;
        self.line("// Samples before those of this dispatch are stored already.");
        self.line(&format!(
            "let begin = select(u32(run.first_step) / {every}u + 1u, 0u, run.first_step == 0);"
        ));
        format!(" && {own} >= begin")
    }

    /// Exchanges the names of a unit's number and of the number of units with others.
    fn swap_unit(&mut self, (unit, units): &mut (String, String)) {
        std::mem::swap(&mut self.own.world.slot, unit);
        std::mem::swap(&mut self.own.world.count, units);
    }

    /// Has invocations beyond the last agent keep what changes nothing. (`min`, `max`, `any` and `all` may
    /// have the value of the last agent twice.)
    fn clear_others(&mut self, number: usize, kept: u32) {
        let program = self.program;
        let combined = program.samples[number].combined.iter();
        let added: Vec<_> = combined
            .filter(|(_, op)| matches!(op, LaneOp::Sum | LaneOp::Product))
            .collect();
        let (Some(layout), false) = (self.world, added.is_empty()) else {
            return;
        };
        let own = &self.own.world;
        let (place, stride, left) = (own.place.clone(), layout.kept_stride(), own.left.clone());
        let row = self.names.declare("row");
        self.open(&format!("if ({left} == 0u) {{"));
        self.open(&format!(
            "for (var {row} = 0u; {row} < {kept}u; {row}++) {{"
        ));
        for &&(var, op) in &added {
            let start = format!("{}[{row} * {stride}u + {place}] = ", self.memory_of(var));
            self.begin();
            self.push(&start);
            self.literal(&neutral(op, program[var].ty), false);
            self.end(";");
        }
        self.close("}");
        self.close("}");
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
        before + &combined(op, &a, &b) + &after
    }

    /// The word before a sample's row: outputs and earlier samples lie before it.
    pub(super) fn sample_row(&self, number: usize, of_world: bool, at: &str) -> String {
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
