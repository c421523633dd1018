//! The entry point `prepare`, which computes once per step what all agents share in it, and how `main` reads
//! that: a row of `vec4`s per step.

use crate::{
    emit::wgsl::{
        Writer, literal,
        storage::{NAMED_WORDS, dotted, pieces},
    },
    ir::{Type, VarId},
    kernel::step_table::Table,
    manifest::Prepared,
    value::VEC4_WORDS,
};

/// The table between the two entry points.
pub(super) struct PerStep {
    /// Statements at the beginning of the step that `prepare` runs in its stead.
    pub(super) front: usize,
    /// What they compute, and the word of the row where it lies.
    places: Vec<(VarId, u32)>,
    rows: u32,
    floats: bool,
    layout: Prepared,
}

impl Writer<'_> {
    /// Knows the table of a program.
    pub(super) fn set_per_step(&mut self, table: &Table) {
        let program = self.program;
        let mut places = table.places.iter();
        self.per_step = Some(PerStep {
            front: table.front,
            floats: places.all(|&(var, _)| program[var].ty.is_float()),
            rows: table.layout.words / VEC4_WORDS,
            places: table.places.clone(),
            layout: table.layout,
        });
    }

    /// Writes the table's two declarations; no entry point uses both.
    pub(super) fn per_step_bindings(&mut self) {
        let Some(per_step) = &self.per_step else {
            return;
        };
        let binding = per_step.layout.binding;
        let row = if per_step.floats { "vec4f" } else { "vec4u" };
        self.line("// What all agents share in a step, a row of the table per step.");
        for (access, name) in [("read_write", "prepared"), ("read", "per_step")] {
            self.line(&format!(
                "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{row}>;"
            ));
        }
    }

    /// Writes `prepare`.
    pub(super) fn prepare(&mut self) {
        let Some(per_step) = self.per_step.take() else {
            return;
        };
        self.names.enter();
        self.blank();
        let size = per_step.layout.workgroup_size;
        self.line(&format!("@compute @workgroup_size({size})"));
        let lanes = per_step.layout.rows_per_step;
        let [row, t] = if lanes > 1 {
            let [row, t, lane] = ["row", "step", "lane"].map(|name| self.names.declare(name));
            self.own.lane = lane;
            self.lane_entry("prepare", &row, &t);
            [row, t]
        } else {
            let [row, t, id, groups] =
                ["row", "t", "id", "groups"].map(|name| self.names.declare(name));
            self.open(&format!(
                "fn prepare(@builtin(global_invocation_id) {id}: vec3u, \
                 @builtin(num_workgroups) {groups}: vec3u) {{"
            ));
            self.line(&format!(
                "let {row} = {id}.y * ({groups}.x * {size}u) + {id}.x;"
            ));
            [row, t]
        };
        let number = if lanes > 1 { &t } else { &row };
        self.open(&format!("if ({number} >= u32(run.steps)) {{"));
        self.line("return;");
        self.close("}");
        self.set_constants();
        let number = number.clone();
        let t = match lanes {
            1 => t,
            _ => self.names.declare("t"),
        };
        if self.usage.step {
            self.line(&format!("let {t} = i32({number});"));
        }
        self.own.step = t;
        let program = self.program;
        self.statements(&program.phases[0][..per_step.front]);
        self.store_rows(&per_step, &row);
        self.close("}");
        self.names.leave();
        self.per_step = Some(per_step);
    }

    fn store_rows(&mut self, per_step: &PerStep, row: &str) {
        let mut words: Vec<String> = Vec::new();
        for &(var, _) in &per_step.places {
            let name = &self.var_names[var];
            let ty = self.program[var].ty;
            for component in "xyzw".chars().take(ty.components()) {
                let value = match ty.is_vector() {
                    true => format!("{name}.{component}"),
                    false => name.clone(),
                };
                words.push(match ty {
                    Type::U32 => value,
                    Type::Bool => format!("u32({value})"),
                    _ if per_step.floats => value,
                    _ => format!("bitcast<u32>({value})"),
                });
            }
        }
        let (row_type, nothing) = match per_step.floats {
            true => ("vec4f", "0.0"),
            false => ("vec4u", "0u"),
        };
        words.resize((VEC4_WORDS * per_step.rows) as usize, nothing.to_owned());
        let line = self.line_of(per_step.rows, row);
        for (k, words) in words.chunks(VEC4_WORDS as usize).enumerate() {
            let at = place(&line, k as u32);
            let words = words.join(", ");
            self.line(&format!("prepared[{at}] = {row_type}({words});"));
        }
    }

    /// Names the index of a step's first `vec4`.
    fn line_of(&mut self, rows: u32, number: &str) -> String {
        let line = self.names.declare("line");
        match rows {
            1 => self.line(&format!("let {line} = {number};")),
            _ => self.line(&format!("let {line} = {rows}u * {number};")),
        }
        line
    }

    /// Writes the lines that load a step's row.
    pub(super) fn load_row(&mut self) {
        let Some(per_step) = self.per_step.take() else {
            return;
        };
        let number = match per_step.layout.rows_per_step {
            1 => format!("u32({})", self.own.step),
            lanes => format!("u32({} * {lanes} + {})", self.own.step, self.own.lane),
        };
        let line = self.line_of(per_step.rows, &number);
        let mut rows = Vec::new();
        for k in 0..per_step.rows {
            let name = self.names.declare(&format!("{line}_{k}"));
            let at = place(&line, k);
            self.line(&format!("let {name} = per_step[{at}];"));
            rows.push(name);
        }
        for &(var, word) in &per_step.places {
            let ty = self.program[var].ty;
            let parts: Vec<_> = pieces(word, ty.words())
                .into_iter()
                .map(|(row, part)| dotted(&rows[row as usize], part))
                .collect();
            if let ([part], Type::F32, true) = (parts.as_slice(), ty, per_step.floats)
                && VEC4_WORDS * per_step.rows > NAMED_WORDS
            {
                self.var_names[var].clone_from(part);
                continue;
            }
            self.declare(var);
            self.begin();
            self.push("let ");
            self.push_name(var);
            self.push(" = ");
            self.typed(ty, &parts, per_step.floats);
            self.end(";");
        }
        self.per_step = Some(per_step);
    }

    /// Writes words of a buffer, which holds floats or else unsigned numbers, as a value of a type.
    pub(super) fn typed(&mut self, ty: Type, parts: &[String], floats: bool) {
        if floats || matches!(ty, Type::U32 | Type::Bool) {
            self.composed(ty, parts);
            self.unless_bool(ty);
            return;
        }
        self.push("bitcast<");
        self.push(literal::type_name(ty));
        self.push(">(");
        if let [one] = parts {
            self.push(one);
        } else {
            let whole = literal::unsigned(ty.components() as u32);
            self.push(&format!("{whole}({})", parts.join(", ")));
        }
        self.push(")");
    }
}

/// The index of one of a step's `vec4`s.
fn place(line: &str, k: u32) -> String {
    match k {
        0 => line.to_owned(),
        _ => format!("{line} + {k}u"),
    }
}
