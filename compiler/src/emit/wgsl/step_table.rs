//! The step table: the entry point `prepare`, which fills it with what all agents share in a step, a row of
//! `vec4`s per step, and how `main` reads a row.

use crate::{
    emit::wgsl::{
        Writer, literal,
        storage::{NAMED_WORDS, dotted, pieces},
    },
    ir::Type,
    kernel::step_table::Table,
    value::VEC4_WORDS,
};

impl Writer<'_> {
    /// Writes the table's two declarations; no entry point uses both.
    pub(super) fn step_table_bindings(&mut self) {
        let Some(table) = self.step_table else {
            return;
        };
        let binding = table.layout.binding;
        let row = if table.floats { "vec4f" } else { "vec4u" };
        self.line("// What all agents share in a step, a row of the table per step.");
        for (access, name) in [("read_write", "prepared"), ("read", "per_step")] {
            self.line(&format!(
                "@group(0) @binding({binding}) var<storage, {access}> {name}: array<{row}>;"
            ));
        }
    }

    /// Writes `prepare`.
    pub(super) fn fill_step_table(&mut self) {
        let Some(table) = self.step_table else {
            return;
        };
        self.names.enter();
        self.blank();
        let size = table.layout.workgroup_size;
        self.line(&format!("@compute @workgroup_size({size})"));
        let lanes = table.layout.rows_per_step;
        let [row, t] = if lanes > 1 {
            let [row, t, lane] = ["row", "step", "lane"].map(|name| self.names.declare(name));
            self.own.lane = lane;
            self.lane_entry("prepare", size, &row, &t);
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
        self.statements(&program.phases[0][..table.shared]);
        self.store_row(table, &row);
        self.close("}");
        self.names.leave();
    }

    fn store_row(&mut self, table: &Table, row: &str) {
        let mut words: Vec<String> = Vec::new();
        for &(var, _) in &table.places {
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
                    _ if table.floats => value,
                    _ => format!("bitcast<u32>({value})"),
                });
            }
        }
        let (row_type, nothing) = match table.floats {
            true => ("vec4f", "0.0"),
            false => ("vec4u", "0u"),
        };
        words.resize((VEC4_WORDS * table.vectors()) as usize, nothing.to_owned());
        let line = self.line_of(table.vectors(), row);
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
        let Some(table) = self.step_table else {
            return;
        };
        let number = match table.layout.rows_per_step {
            1 => format!("u32({})", self.own.step),
            lanes => format!("u32({} * {lanes} + {})", self.own.step, self.own.lane),
        };
        let line = self.line_of(table.vectors(), &number);
        let mut rows = Vec::new();
        for k in 0..table.vectors() {
            let name = self.names.declare(&format!("{line}_{k}"));
            let at = place(&line, k);
            self.line(&format!("let {name} = per_step[{at}];"));
            rows.push(name);
        }
        for &(var, word) in &table.places {
            let ty = self.program[var].ty;
            let parts: Vec<_> = pieces(word, ty.words())
                .into_iter()
                .map(|(row, part)| dotted(&rows[row as usize], part))
                .collect();
            if let ([part], Type::F32, true) = (parts.as_slice(), ty, table.floats)
                && VEC4_WORDS * table.vectors() > NAMED_WORDS
            {
                self.var_names[var].clone_from(part);
                self.share_name(var);
                continue;
            }
            self.declare(var);
            self.share_name(var);
            self.begin();
            self.push("let ");
            self.push_name(var);
            self.push(" = ");
            self.typed(ty, &parts, table.floats);
            self.end(";");
        }
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
