//! The time loop, as described by [`TimeLoop`](crate::kernel::time_loop::TimeLoop).

use crate::{
    emit::wgsl::{Writer, literal},
    ir::{Affine, Block, LaneOp, Stmt, Type},
    kernel::{lanes::neutral, time_loop::TimeLoop},
};

impl<'a> Writer<'a> {
    /// Writes the time loop.
    pub(super) fn time_loop(&mut self) {
        let is_unit = self.manifest.world.is_none() && !self.usage.stops;
        if self.world.is_some() && !is_unit {
            return self.world_time_loop();
        }
        self.blank();
        self.first_samples();
        if self.fills_rows() {
            return self.loop_of_rows();
        }
        let lanes = self.time_lanes();
        let TimeLoop {
            copies,
            asks_every,
            period,
            outlives_stop: _,
        } = self.time_loop;
        let t = self.own.step.clone();
        let go_on = self.go_on();
        let before = self.begin_parts();
        self.begin_turns();
        let mut first = match lanes {
            1 => format!("var {t} = run.first_step"),
            _ => format!("var {t} = run.first_step + {}", self.own.lane),
        };
        let segment = self.segment_end(&t);
        if copies > 1 || asks_every.is_some() || period.is_some() || segment.is_some() {
            self.line(&format!("{first};"));
            first.clear();
        }
        let bound = self.open_segment(&t, segment.as_deref());
        let mut end = bound.clone();
        if let Some(steps) = period {
            self.open(&format!("while ({t} < {bound}{go_on}) {{"));
            end = self.begin_period(steps, &t, &bound);
        }
        if copies > 1 {
            self.round(copies, &end, &go_on, |_| {});
        }
        let advance = match lanes {
            1 => format!("{t}++"),
            _ => format!("{t} += {lanes}"),
        };
        if let Some(steps) = asks_every {
            let end = self.names.declare("round_end");
            self.open(&format!("while ({t} < {bound}{go_on}) {{"));
            self.line(&format!("let {end} = {t} + min({bound} - {t}, {steps});"));
            self.open(&format!("for (; {t} < {end}; {advance}) {{"));
        } else {
            self.open(&format!("for ({first}; {t} < {end}{go_on}; {advance}) {{"));
        }
        self.count(1);
        self.step();
        self.close("}");
        if asks_every.is_some() || period.is_some() {
            self.close("}");
        }
        if segment.is_some() {
            self.segment_samples(&t);
            self.close("}");
        }
        self.take_back();
        self.end_turns();
        self.combine_parts(&before);
        self.last_samples();
    }

    /// Writes a loop over steps each of whose iterations fills the rows of the only sampling and combines
    /// them. The steps that are left over come before it: with the sample before the first step, which then
    /// needs no barriers of its own, they fit the rows.
    fn loop_of_rows(&mut self) {
        let (t, rows) = (self.own.step.clone(), self.time_loop.copies);
        self.line(&format!("var {t} = run.first_step;"));
        let [first, left_end] = ["first_kept", "left_end"].map(|name| self.names.declare(name));
        self.line(&format!(
            "let {first} = select(run.first_step, -1, run.first_step == 0);"
        ));
        self.line(&format!(
            "let {left_end} = {t} + (run.end_step - run.first_step) % {rows};"
        ));
        self.own.first_kept.clone_from(&first);
        let left = self.schedule.class.profile().copies.left;
        if rows > left {
            self.round(left, &left_end, "", |_| {});
        }
        self.open(&format!("for (; {t} < {left_end}; {t}++) {{"));
        self.count(1);
        self.step();
        self.close("}");
        self.open(&format!("if ({t} > {first}) {{"));
        self.combine_kept(0, &format!("u32({first} + 1)"), &format!("u32({t})"));
        self.close("}");
        self.own.first_kept.clear();
        let [first, last] = [format!("u32({t}) + 1u"), format!("u32({t}) + {rows}u")];
        self.round(rows, "run.end_step", "", |writer| {
            writer.combine_kept(0, &first, &last);
        });
    }

    /// The condition of an agent's loop over steps besides their number.
    fn go_on(&self) -> String {
        match (self.usage.stops, self.time_loop.outlives_stop) {
            (false, _) => String::new(),
            (true, false) => format!(" && !{}", self.own.stopped),
            (true, true) if self.has_barriers() => String::new(),
            (true, true) => format!(" && subgroupAny(!{})", self.own.stopped),
        }
    }

    /// Begins a part of the loop over steps that ends where something is sampled; returns the step where that
    /// part ends, or that of the whole dispatch.
    fn open_segment(&mut self, t: &str, end: Option<&str>) -> String {
        let Some(end) = end else {
            return "run.end_step".to_owned();
        };
        if !self.own.first_kept.is_empty() {
            let line = format!("var {} = run.first_step;", self.own.first_kept);
            self.line(&line);
        }
        self.open(&format!("while ({t} < run.end_step) {{"));
        let name = self.names.declare("segment_end");
        self.line(&format!("let {name} = {end};"));
        name
    }

    /// Writes what begins a period of so many steps; returns the step where it ends.
    fn begin_period(&mut self, steps: u32, t: &str, bound: &str) -> String {
        let mask = steps - 1;
        self.open(&format!("if (({t} & {mask}) == 0) {{"));
        self.block(self.periodic());
        self.close("}");
        let end = self.names.declare("period_end");
        self.line(&format!(
            "let {end} = {t} + min({bound} - {t}, {steps} - ({t} & {mask}));"
        ));
        end
    }

    /// What runs only in the first step of a period.
    fn periodic(&self) -> &'a Block {
        let shared = self.step_table.map_or(0, |table| table.shared);
        let Stmt::If { accept, .. } = &self.program.phases[0][shared] else {
            unreachable!("a period begins with an `if`");
        };
        accept
    }

    /// The number of lanes that the steps are split over.
    fn time_lanes(&self) -> u32 {
        match self.layout.splits_time() {
            true => self.layout.lanes,
            false => 1,
        }
    }

    /// Saves what was accumulated so far, where the steps are split over lanes: each adds up its own.
    fn begin_parts(&mut self) -> Vec<String> {
        let program = self.program;
        if self.layout.accumulated.is_empty() {
            return Vec::new();
        }
        let mut before = Vec::new();
        for (var, op) in &self.layout.accumulated {
            let name = self
                .names
                .declare(&format!("{}_before", program[*var].name));
            self.begin();
            self.push(&format!("let {name} = "));
            self.push_name(*var);
            self.end(";");
            self.begin();
            self.push_name(*var);
            self.push(" = ");
            self.literal(&neutral(*op, program[*var].ty), false);
            self.end(";");
            before.push(name);
        }
        let name = self.names.declare("steps_before");
        let steps_run = self.own.steps_run.clone();
        self.line(&format!("let {name} = {steps_run};"));
        self.line(&format!("{steps_run} = 0u;"));
        before.push(name);
        before
    }

    /// Combines the lanes' parts, and the steps that each has run.
    fn combine_parts(&mut self, before: &[String]) {
        let program = self.program;
        let Some((steps_before, before)) = before.split_last() else {
            return;
        };
        for ((var, op), before) in self.layout.accumulated.iter().zip(before) {
            let part = self.var_names[var].clone();
            let parts = self.lane_call(*op, program[*var].ty, &part);
            self.line(&match op {
                LaneOp::Sum => format!("{part} = {before} + {parts};"),
                LaneOp::Product => format!("{part} = {before} * {parts};"),
                LaneOp::Least => format!("{part} = min({before}, {parts});"),
                LaneOp::Most => format!("{part} = max({before}, {parts});"),
                // The lanes first: where they wait for one another, none may skip that.
                LaneOp::Any => format!("{part} = {parts} || {before};"),
                LaneOp::All => format!("{part} = {parts} && {before};"),
            });
        }
        let steps_run = self.own.steps_run.clone();
        let parts = self.lane_call(LaneOp::Sum, Type::U32, &steps_run);
        self.line(&format!("{steps_run} = {steps_before} + {parts};"));
    }

    /// Skips each lane's integers ahead to its first step, bit by bit of the lane's number.
    fn begin_turns(&mut self) {
        let program = self.program;
        if self.layout.skipped.is_empty() {
            return;
        }
        self.line("// The lanes take turns: each begins as many steps ahead as its number.");
        for (var, map) in &self.layout.skipped {
            let name = self.var_names[var].clone();
            for bit in 0..self.layout.lanes.trailing_zeros() {
                let steps = 1 << bit;
                let ahead = affine_text(&name, program[*var].ty, map.power(steps));
                if ahead != name {
                    let far = format!("({} & {steps}) != 0", self.own.lane);
                    self.line(&format!("{name} = select({name}, {ahead}, {far});"));
                }
            }
        }
    }

    /// Names the integers of a lane's next step: they depend only on those of this one, so that steps need
    /// not wait for one another.
    fn begin_turn(&mut self) -> Vec<String> {
        let program = self.program;
        let mut next = Vec::with_capacity(self.layout.skipped.len());
        for (var, map) in &self.layout.skipped {
            let name = self.var_names[var].clone();
            let value = affine_text(&name, program[*var].ty, map.power(self.layout.lanes));
            next.push(self.names.declare(&format!("{}_next", program[*var].name)));
            let line = format!("let {} = {value};", next[next.len() - 1]);
            self.line(&line);
        }
        next
    }

    fn end_turn(&mut self, next: &[String]) {
        for ((var, _), next) in self.layout.skipped.iter().zip(next) {
            let line = format!("{} = {next};", self.var_names[var]);
            self.line(&line);
        }
    }

    /// The lane whose turn comes next has the final integers.
    fn end_turns(&mut self) {
        let program = self.program;
        if self.layout.skipped.is_empty() {
            return;
        }
        self.line("// The lane whose turn comes next is where all steps together have come.");
        let at_end = self.names.declare("at_end");
        if self.has_barriers() {
            self.line(&format!(
                "let {at_end} = {} == (run.end_step - run.first_step) % {};",
                self.own.lane, self.layout.lanes
            ));
            for (var, _) in &self.layout.skipped {
                let (name, ty) = (&self.var_names[var], program[*var].ty);
                let nothing = literal::type_name(ty);
                let own = format!("select({nothing}(), {name}, {at_end})");
                let line = format!("{name} = {};", self.lane_call(LaneOp::Sum, ty, &own));
                self.line(&line);
            }
            return;
        }
        self.line(&format!(
            "let {at_end} = {} + u32(run.end_step - run.first_step) % {}u;",
            self.own.first_lane, self.layout.lanes
        ));
        for (var, _) in &self.layout.skipped {
            let name = &self.var_names[var];
            let line = format!("{name} = subgroupShuffle({name}, {at_end});");
            self.line(&line);
        }
    }

    /// Writes the loop that takes `copies` steps an iteration, as long as that many are left before `end`,
    /// and what is to stand at the end of an iteration.
    fn round(&mut self, copies: u32, end: &str, go_on: &str, after: impl FnOnce(&mut Self)) {
        let t = self.own.step.clone();
        let lanes = self.time_lanes();
        // Not `t + copies <= end_step`, which could overflow.
        let enough = match lanes {
            1 => format!(">= {copies}"),
            _ => format!("> {}", (copies - 1) * lanes),
        };
        let stride = copies * lanes;
        self.open(&format!(
            "for (; {end} - {t} {enough}{go_on}; {t} += {stride}) {{"
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
                let line = format!("let {} = {t} + {};", self.own.step, copy * lanes);
                self.line(&line);
            }
            if !at_once {
                self.count(1);
            }
            self.own.copy = copy;
            let falls = self.step();
            self.own.step.clone_from(&t);
            self.names.leave();
            self.close("}");
            if !falls {
                break;
            }
        }
        after(self);
        self.close("}");
    }

    /// Does a step's text use its number?
    fn names_step(&self) -> bool {
        self.usage.step
            || self.usage.draws[1]
            || self.step_table.is_some()
            || !self.program.samples.is_empty()
    }

    fn count(&mut self, steps: u32) {
        self.each_agent(|writer| writer.count_of_agent(steps));
    }

    fn count_of_agent(&mut self, steps: u32) {
        let count = match steps {
            1 if self.time_loop.outlives_stop => format!(
                "{} += select(1u, 0u, {});",
                self.own.steps_run, self.own.stopped
            ),
            1 => format!("{}++;", self.own.steps_run),
            _ => format!("{} += {steps}u;", self.own.steps_run),
        };
        self.line(&count);
    }

    /// Writes one step. Is its end reachable?
    fn step(&mut self) -> bool {
        self.names.enter();
        let next = self.begin_turn();
        self.load_row();
        let number = format!("u32({})", self.own.step);
        let falls = self.part(1, &number, &self.rest());
        self.step_samples();
        self.end_turn(&next);
        self.names.leave();
        falls
    }

    /// The step without the parts that `prepare` or the time loop run instead.
    fn rest(&self) -> Vec<&'a [Stmt]> {
        let shared = self.step_table.map_or(0, |table| table.shared);
        let done = shared + usize::from(self.time_loop.period.is_some());
        let phases = self.program.phases.iter().enumerate();
        phases
            .map(|(number, phase)| &phase[if number == 0 { done } else { 0 }..])
            .collect()
    }
}

/// The result of a map for an integer, as text.
fn affine_text(name: &str, ty: Type, map: Affine) -> String {
    let number = |word: u32| match ty == Type::I32 {
        true => word.cast_signed().to_string(),
        false => format!("{word}u"),
    };
    let product = match map.factor {
        0 => return number(map.offset),
        1 => name.to_owned(),
        factor => format!("{name} * {}", number(factor)),
    };
    match map.offset {
        0 => product,
        offset => format!("{product} + {}", number(offset)),
    }
}
