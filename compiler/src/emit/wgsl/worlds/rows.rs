//! What is read of other agents where a step is several dispatches: rows in a buffer, see
//! [`crate::kernel::per_step`].

use super::{UNROLLED, per_step::Part};
use crate::{
    emit::wgsl::{Writer, literal, operator::Level, spill::Index},
    ir::{ExprId, Len, Type, VarId},
    kernel::{
        per_step::{PerStep, Stage, stride},
        worlds::elements,
    },
    passes::rewrite::literal_i32,
    value::VEC4_WORDS,
};

impl Writer<'_> {
    /// Names the index of the row of the world's first agent, in the copy that is current.
    pub(super) fn name_others(&mut self, plan: &PerStep, part: Part, flips: u32) {
        if plan.rows.count == 0 || self.own.world.has_rows {
            return;
        }
        self.own.world.others = self.names.declare("others");
        let own = &self.own.world;
        let first = format!("{} * {}u", own.slot, self.members_of_world());
        let line = format!(
            "let {} = {};",
            own.others,
            row(plan, &copy(plan, part, flips), &first)
        );
        self.line(&line);
    }

    /// Does any stage copy the rows of a world to workgroup memory?
    pub(super) fn shares_rows(&self, plan: &PerStep) -> bool {
        let members = self.members_of_world();
        let shares = |stage: &Stage| stage.shares_rows(&plan.rows, members).is_some();
        plan.steps.iter().any(shares)
    }

    /// Invocations of a workgroup of a stage of agents.
    pub(super) fn agents_size(&self, plan: &PerStep, stage: &Stage) -> u32 {
        match stage.shares_rows(&plan.rows, self.members_of_world()) {
            Some(agents) => agents * stage.lanes,
            None => self.manifest.workgroup_size.max(stage.lanes),
        }
    }

    /// Copies the rows of the world of a workgroup's agents to workgroup memory: `size` invocations do, of
    /// which this is the one at a `place` among all, and the workgroup has so many `agents`.
    pub(super) fn load_rows(
        &mut self,
        plan: &PerStep,
        (part, flips): (Part, u32),
        place: &str,
        (size, agents): (u32, u32),
    ) {
        let members = self.members_of_world();
        let words = members * plan.rows.count;
        let [first, k] = ["first_of_world", "k"].map(|name| self.names.declare(name));
        self.line(&format!(
            "let {first} = min({place} / {size}u * {agents}u, run.agents - 1u) / {members}u * {members}u;"
        ));
        let from = row(plan, &copy(plan, part, flips), &first);
        self.open(&format!(
            "for (var {k} = {place} % {size}u; {k} < {words}u; {k} += {size}u) {{"
        ));
        let own = &self.own.world;
        let line = format!("{}[{k}] = {}[{from} + {k}];", own.rows, own.scratch);
        self.line(&line);
        self.close("}");
        self.line("workgroupBarrier();");
        self.own.world.has_rows = true;
    }

    /// Stores those states of an agent that others read, where its row begins.
    pub(super) fn store_rows(
        &mut self,
        plan: &PerStep,
        at: &str,
        is_stored: &dyn Fn(VarId) -> bool,
    ) {
        let program = self.program;
        let vars: Vec<(VarId, u32)> = (plan.rows.words.iter().copied())
            .filter(|(var, _)| is_stored(*var))
            .collect();
        if vars.is_empty() {
            return;
        }
        self.names.enter();
        let own = self.names.declare("own_row");
        self.line(&format!("let {own} = {at};"));
        for (var, word) in vars {
            let ty = program[var].ty;
            let count = elements(program, var);
            if program[var].len == Len::One {
                let value = self.element_text(var, &Index::None);
                self.store_in_row(&own, ty, word, &value);
            } else if count <= UNROLLED || !self.usage.dynamic[var] {
                for k in 0..count {
                    let value = self.element_text(var, &Index::Known(k));
                    self.store_in_row(&own, ty, word + k * stride(ty), &value);
                }
            } else {
                self.names.enter();
                let [k, at] = ["k", "word"].map(|name| self.names.declare(name));
                self.open(&format!("for (var {k} = 0u; {k} < {count}u; {k}++) {{"));
                self.line(&format!("let {at} = {word}u + {}u * {k};", stride(ty)));
                let scratch = &self.own.world.scratch;
                let place = format!("{scratch}[{own} + ({at} >> 2u)]");
                let value = self.element_text(var, &Index::Named(k));
                let lines: Vec<String> = match stride(ty) {
                    VEC4_WORDS => vec![format!("{place} = {};", in_row(ty, &value))],
                    words => (0..words)
                        .map(|word| {
                            let part = word_of(ty, &value, word);
                            format!("{place}[({at} & 3u) + {word}u] = {part};")
                        })
                        .collect(),
                };
                lines.iter().for_each(|line| self.line(line));
                self.close("}");
                self.names.leave();
            }
        }
        self.names.leave();
    }

    fn store_in_row(&mut self, own: &str, ty: Type, word: u32, value: &str) {
        let place = format!("{}[{own} + {}u]", self.own.world.scratch, word / VEC4_WORDS);
        if stride(ty) == VEC4_WORDS {
            return self.line(&format!("{place} = {};", in_row(ty, value)));
        }
        for part in 0..ty.words() {
            let at = (word + part) % VEC4_WORDS;
            let component = &"xyzw"[at as usize..=at as usize];
            let text = word_of(ty, value, part);
            self.line(&format!("{place}.{component} = {text};"));
        }
    }

    /// Writes the read of a state of another agent of the world.
    pub(super) fn other_row(
        &mut self,
        plan: &PerStep,
        var: VarId,
        index: Option<ExprId>,
        member: ExprId,
    ) {
        let program = self.program;
        let ty = program[var].ty;
        let first = plan.rows.word(var).unwrap_or(0);
        let known = match index {
            None => Some(first),
            Some(index) => literal_i32(program, index).map(|k| first + k as u32 * stride(ty)),
        };
        let own = &self.own.world;
        let (rows, start) = match own.has_rows {
            true => (own.rows.clone(), String::new()),
            false => (own.scratch.clone(), format!("{} + ", own.others)),
        };
        let row = format!("{start}u32(");
        let tail = match plan.rows.count {
            1 => ")".to_owned(),
            count => format!(") * {count}u"),
        };
        if let (None, Some(index)) = (known, index) {
            let name = self.own.world.memory(var).to_owned();
            self.push(&format!("{name}({row}"));
            self.shown(member);
            self.push(&format!("{tail}, "));
            self.expr(index, Level::Lowest);
            return self.push(")");
        }
        let word = known.unwrap_or(first);
        let before = std::mem::take(&mut self.out);
        self.push(&format!("{rows}[{row}"));
        self.shown(member);
        self.push(&tail);
        match word / VEC4_WORDS {
            0 => {}
            further => self.push(&format!(" + {further}u")),
        }
        self.push("]");
        let place = std::mem::replace(&mut self.out, before);
        self.push(&value_of(ty, &place, word % VEC4_WORDS));
    }

    /// Writes the functions that read elements of arrays of other agents.
    pub(super) fn row_functions(&mut self, plan: &PerStep) {
        for (var, name) in std::mem::take(&mut self.own.world.published) {
            let ty = self.program[var].ty;
            let (wgsl, first) = (literal::type_name(ty), plan.rows.word(var).unwrap_or(0));
            self.blank();
            self.open(&format!("fn {name}(row: u32, k: i32) -> {wgsl} {{"));
            self.line(&format!("let word = {first}u + {}u * u32(k);", stride(ty)));
            let line = format!("let four = {}[row + (word >> 2u)];", self.own.world.scratch);
            self.line(&line);
            let value = match stride(ty) {
                1 => value_of_word(ty, "four[word & 3u]"),
                2 => "bitcast<vec2f>(select(four.xy, four.zw, (word & 2u) != 0u))".to_owned(),
                _ => value_of(ty, "four", 0),
            };
            self.line(&format!("return {value};"));
            self.close("}");
        }
    }
}

/// Which copy of the rows is current after so many stages have changed it; none if there is one copy.
pub(super) fn copy(plan: &PerStep, part: Part, flips: u32) -> String {
    let steps = match part {
        _ if plan.rows.copies == 1 => return String::new(),
        Part::Birth | Part::Sample { first: true, .. } => "0u",
        _ if plan.flips.is_multiple_of(2) => "0u",
        Part::Step { .. } | Part::Sample { first: false, .. } => "u32(run.first_step)",
        Part::End | Part::Finish => "u32(run.steps)",
    };
    match (steps, flips % 2) {
        ("0u", odd) => format!("{odd}u"),
        (steps, 0) => format!("({steps} & 1u)"),
        (steps, _) => format!("(({steps} + 1u) & 1u)"),
    }
}

/// The index of an agent's row in a copy.
pub(super) fn row(plan: &PerStep, copy: &str, agent: &str) -> String {
    let number = match copy {
        "" | "0u" => agent.to_owned(),
        copy => format!("{copy} * run.agents + {agent}"),
    };
    match (plan.rows.count, number.contains(' ')) {
        (1, _) => number,
        (count, true) => format!("({number}) * {count}u"),
        (count, false) => format!("{number} * {count}u"),
    }
}

/// A value as a `vec4u`.
pub(super) fn in_row(ty: Type, value: &str) -> String {
    match ty {
        Type::F32 | Type::I32 => format!("vec4u(bitcast<u32>({value}), 0u, 0u, 0u)"),
        Type::U32 | Type::Bool => format!("vec4u(u32({value}), 0u, 0u, 0u)"),
        Type::Vec2 => format!("vec4u(bitcast<vec2u>({value}), 0u, 0u)"),
        Type::Vec3 => format!("vec4u(bitcast<vec3u>({value}), 0u)"),
        Type::Vec4 => format!("bitcast<vec4u>({value})"),
    }
}

/// A word of a value.
fn word_of(ty: Type, value: &str, word: u32) -> String {
    match ty {
        Type::F32 | Type::I32 => format!("bitcast<u32>({value})"),
        Type::U32 | Type::Bool => format!("u32({value})"),
        Type::Vec2 | Type::Vec3 | Type::Vec4 => {
            let component = &"xyzw"[word as usize..=word as usize];
            format!("bitcast<u32>({value}.{component})")
        }
    }
}

/// The value that begins at a component of a `vec4u`.
pub(super) fn value_of(ty: Type, place: &str, component: u32) -> String {
    let from = component as usize;
    match ty {
        Type::Vec4 => format!("bitcast<vec4f>({place})"),
        Type::Vec3 => format!("bitcast<vec3f>({place}.xyz)"),
        Type::Vec2 => format!("bitcast<vec2f>({place}.{})", &"xyzw"[from..from + 2]),
        Type::F32 | Type::I32 | Type::U32 | Type::Bool => {
            value_of_word(ty, &format!("{place}.{}", &"xyzw"[from..=from]))
        }
    }
}

/// A scalar from its word.
fn value_of_word(ty: Type, word: &str) -> String {
    match ty {
        Type::U32 => word.to_owned(),
        Type::Bool => format!("({word} != 0u)"),
        Type::F32 | Type::I32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
            format!("bitcast<{}>({word})", literal::type_name(ty))
        }
    }
}
