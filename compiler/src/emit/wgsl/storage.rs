//! Reading and writing what lies in buffers: params, tables, inputs, states and outputs.

use super::{Writer, literal, operator::Level};
use crate::ir::{Expr, ExprId, Len, Type, Value, VarId, VarKind};
use std::collections::BTreeMap;

/// Arrays of states with more elements than this that are indexed dynamically are loaded by a loop.
const UNROLLED: u32 = 8;

/// A buffer of columns: word `w` of agent `i` at `w * run.agents + i`.
#[derive(Clone, Copy)]
pub(super) enum Columns {
    /// `states`
    States,
    /// `outputs`
    Outputs,
}

/// Where a value lies in an agent's row: `word`, or `word + components * index`.
pub(super) struct Place {
    word: u32,
    index: Option<(u32, String)>,
}

/// `vec3u` for 3.
pub(super) fn unsigned(components: u32) -> &'static str {
    match components {
        1 => "u32",
        2 => "vec2u",
        3 => "vec3u",
        _ => "vec4u",
    }
}

/// The rows and components of `vec4`s that hold `count` words from `word` on.
fn pieces(word: u32, count: u32) -> Vec<(u32, &'static str)> {
    let (mut at, end) = (word, word + count);
    let mut pieces = Vec::new();
    while at < end {
        let (row, first) = (at / 4, at % 4);
        let last = (end - 4 * row).min(4);
        pieces.push((row, &"xyzw"[first as usize..last as usize]));
        at = 4 * row + last;
    }
    pieces
}

impl Writer<'_> {
    /// How tightly a read binds: `bool`s in buffers are compared with 0.
    pub(super) fn read_level(&self, id: VarId) -> Level {
        let var = &self.program[id];
        let compared = match var.kind {
            VarKind::Param | VarKind::Data => true,
            VarKind::Input => var.len != Len::One || !self.input_names.contains_key(&(id, 0)),
            VarKind::Constant
            | VarKind::State
            | VarKind::Output
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument => false,
        };
        if compared && var.ty == Type::Bool {
            Level::Comparison
        } else {
            Level::Primary
        }
    }

    /// Writes a read of a variable that is one value.
    pub(super) fn read(&mut self, id: VarId) {
        let program = self.program;
        let var = &program[id];
        match var.kind {
            VarKind::Param => {
                self.push("run.");
                self.push_name(id);
                self.unless_bool(var.ty);
            }
            VarKind::Data => {
                self.push_name(id);
                self.push("[0]");
                self.unless_bool(var.ty);
            }
            VarKind::Input => self.input_value(id, 0),
            VarKind::Constant
            | VarKind::State
            | VarKind::Output
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument => self.push_name(id),
        }
    }

    /// Writes a read of an element.
    pub(super) fn element(&mut self, array: VarId, index: ExprId) {
        let program = self.program;
        let var = &program[array];
        let literal = match program[index] {
            Expr::Literal(Value::I32(k)) => Some(k as u32),
            _ => None,
        };
        match (var.kind, literal) {
            (VarKind::Input, Some(k)) => self.input_value(array, k),
            (VarKind::Param, Some(k)) => self.param_value(array, k),
            (VarKind::Input, None) => {
                self.push_accessor(array);
                self.push("(");
                self.out.push_str(&self.own.row);
                self.push(", ");
                self.expr(index, Level::Lowest);
                self.push(")");
            }
            (VarKind::Param, None) => self.call_accessor(array, index),
            (VarKind::Data, _) if var.ty.is_vector() => self.call_accessor(array, index),
            (
                VarKind::Constant
                | VarKind::Data
                | VarKind::State
                | VarKind::Output
                | VarKind::Let
                | VarKind::Local
                | VarKind::Index
                | VarKind::Argument,
                _,
            ) => {
                self.indexed(array, index);
                if var.kind == VarKind::Data {
                    self.unless_bool(var.ty);
                }
            }
        }
    }

    /// Writes `array[index]`.
    pub(super) fn indexed(&mut self, array: VarId, index: ExprId) {
        self.push_name(array);
        self.push("[");
        self.expr(index, Level::Lowest);
        self.push("]");
    }

    fn push_accessor(&mut self, array: VarId) {
        self.out.push_str(&self.accessors[&array]);
    }

    fn call_accessor(&mut self, array: VarId, index: ExprId) {
        self.push_accessor(array);
        self.push("(");
        self.expr(index, Level::Lowest);
        self.push(")");
    }

    fn unless_bool(&mut self, ty: Type) {
        if ty == Type::Bool {
            self.push(" != 0u");
        }
    }

    /// An element of an array of params with a known place.
    fn param_value(&mut self, id: VarId, k: u32) {
        let ty = self.program[id].ty;
        let components = ty.components() as u32;
        let array = format!("run.{}", self.var_names[id.0 as usize]);
        let parts: Vec<_> = pieces(components * k, components)
            .into_iter()
            .map(|(row, part)| dotted(&format!("{array}[{row}]"), part))
            .collect();
        self.composed(ty, &parts);
        self.unless_bool(ty);
    }

    /// An input value with a known place: by its name, or from the buffer.
    fn input_value(&mut self, id: VarId, k: u32) {
        match self.input_names.get(&(id, k)) {
            Some(name) => self.out.push_str(name),
            None => self.input_load(id, k),
        }
    }

    /// Reads an input value from the buffer.
    pub(super) fn input_load(&mut self, id: VarId, k: u32) {
        let var = &self.program[id];
        let ty = var.ty;
        let components = ty.components() as u32;
        let parts: Vec<_> = pieces(var.word + components * k, components)
            .into_iter()
            .map(|(row, part)| match self.row_names.get(&row) {
                Some(name) => dotted(name, part),
                None => dotted(&format!("inputs[{}]", self.input_row(row)), part),
            })
            .collect();
        if self.floats.inputs || matches!(ty, Type::U32 | Type::Bool) {
            self.composed(ty, &parts);
            self.unless_bool(ty);
            return;
        }
        self.push("bitcast<");
        self.push(literal::type_name(ty));
        self.push(">(");
        if let [one] = parts.as_slice() {
            self.push(one);
        } else {
            self.push(&format!("{}({})", unsigned(components), parts.join(", ")));
        }
        self.push(")");
    }

    /// The index of one of the agent's rows in `inputs`.
    pub(super) fn input_row(&self, row: u32) -> String {
        match row {
            0 => self.own.row.clone(),
            _ => format!("{} + {row}u", self.own.row),
        }
    }

    /// How many words are read of each of the agent's rows, by number.
    pub(super) fn words_by_row(&self) -> BTreeMap<u32, u32> {
        let mut words = BTreeMap::new();
        for &(word, var, _) in self.usage.inputs.keys() {
            for (row, part) in pieces(word, self.program[var].ty.components() as u32) {
                *words.entry(row).or_default() += part.len() as u32;
            }
        }
        words
    }

    fn composed(&mut self, ty: Type, parts: &[String]) {
        if let [one] = parts {
            self.push(one);
        } else {
            self.push(&format!("{}({})", literal::type_name(ty), parts.join(", ")));
        }
    }

    /// Writes the lines that load a state.
    pub(super) fn load_state(&mut self, id: VarId) {
        self.for_elements(id, |writer, place, index| {
            let var = &writer.program[id];
            let ty = var.ty;
            writer.begin();
            writer.push_name(id);
            writer.push(index);
            writer.push(" = ");
            let parts: Vec<_> = (0..ty.components() as u32)
                .map(|c| writer.column_read(ty, &place, c))
                .collect();
            writer.composed(ty, &parts);
            writer.unless_bool(ty);
            writer.end(";");
        });
    }

    fn column_read(&self, ty: Type, place: &Place, component: u32) -> String {
        let at = format!("states[{}]", self.column(place, component));
        match ty {
            Type::U32 | Type::Bool => at,
            Type::I32 => format!("bitcast<i32>({at})"),
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                if self.floats.states {
                    at
                } else {
                    format!("bitcast<f32>({at})")
                }
            }
        }
    }

    /// Writes the lines that store a state, or an output that was kept in a variable.
    pub(super) fn store_variable(&mut self, columns: Columns, id: VarId) {
        self.for_elements(id, |writer, place, index| {
            let ty = writer.program[id].ty;
            let value = format!("{}{index}", writer.var_names[id.0 as usize]);
            writer.store_text(columns, ty, &place, &value);
        });
    }

    /// Calls `write` with the place of each element and the text of its index, in a loop if need be.
    fn for_elements(&mut self, id: VarId, mut write: impl FnMut(&mut Self, Place, &str)) {
        let var = &self.program[id];
        let components = var.ty.components() as u32;
        let (word, dynamic) = (var.word, self.usage.dynamic[id.0 as usize]);
        let count = match var.len {
            Len::One => return write(self, Place { word, index: None }, ""),
            Len::Fixed(n) | Len::Open { stride: n } => n,
        };
        if count <= UNROLLED || !dynamic {
            for k in 0..count {
                let word = word + components * k;
                write(self, Place { word, index: None }, &format!("[{k}]"));
            }
            return;
        }
        self.names.enter();
        let k = self.names.declare("k");
        self.open(&format!("for (var {k} = 0u; {k} < {count}u; {k}++) {{"));
        let index = Some((components, k.clone()));
        write(self, Place { word, index }, &format!("[{k}]"));
        self.close("}");
        self.names.leave();
    }

    /// The index of a component in its buffer.
    fn column(&self, place: &Place, component: u32) -> String {
        let slot = &self.own.slot;
        let word = place.word + component;
        let column = match &place.index {
            None => match word {
                0 => return slot.clone(),
                1 => return format!("run.agents + {slot}"),
                _ => format!("{word}u"),
            },
            Some((components, index)) => {
                let scaled = match components {
                    1 => index.clone(),
                    _ => format!("{components}u * {index}"),
                };
                match (word, components) {
                    (0, 1) => scaled,
                    (0, _) => format!("({scaled})"),
                    _ => format!("({word}u + {scaled})"),
                }
            }
        };
        format!("{column} * run.agents + {slot}")
    }

    /// Writes the lines that store the value of that text, a name or an element.
    fn store_text(&mut self, columns: Columns, ty: Type, place: &Place, value: &str) {
        let (buffer, float) = self.columns(columns);
        let components = ty.components() as u32;
        for c in 0..components {
            let part = match components {
                1 => value.to_owned(),
                _ => dotted(value, &"xyzw"[c as usize..=c as usize]),
            };
            let word = match ty {
                Type::U32 => part,
                Type::Bool => format!("u32({part})"),
                Type::I32 => format!("bitcast<u32>({part})"),
                Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                    if float {
                        part
                    } else {
                        format!("bitcast<u32>({part})")
                    }
                }
            };
            let at = self.column(place, c);
            self.line(&format!("{buffer}[{at}] = {word};"));
        }
    }

    fn columns(&self, columns: Columns) -> (&'static str, bool) {
        match columns {
            Columns::States => ("states", self.floats.states),
            Columns::Outputs => ("outputs", self.floats.outputs),
        }
    }

    /// Writes the lines that store an expression as (an element of) an output.
    pub(super) fn store_output(&mut self, id: VarId, index: Option<ExprId>, value: ExprId) {
        let program = self.program;
        let var = &program[id];
        let place = self.output_place(id, index);
        if var.ty.is_vector() {
            let name = self.names.declare(&var.name);
            self.begin();
            self.push("let ");
            self.push(&name);
            self.push(" = ");
            self.expr(value, Level::Lowest);
            self.end(";");
            return self.store_text(Columns::Outputs, var.ty, &place, &name);
        }
        let at = self.column(&place, 0);
        self.begin();
        self.push(&format!("outputs[{at}] = "));
        if self.floats.outputs || var.ty == Type::U32 {
            self.expr(value, Level::Lowest);
        } else if let Expr::Literal(literal) = &program[value] {
            let word = literal.words().next().unwrap_or(0);
            self.push(&format!("{word}u"));
        } else {
            self.push(match var.ty {
                Type::Bool => "u32(",
                _ => "bitcast<u32>(",
            });
            self.shown(value);
            self.push(")");
        }
        self.end(";");
    }

    fn output_place(&mut self, id: VarId, index: Option<ExprId>) -> Place {
        let program = self.program;
        let var = &program[id];
        let components = var.ty.components() as u32;
        let Some(index) = index else {
            return Place {
                word: var.word,
                index: None,
            };
        };
        if let Expr::Literal(Value::I32(k)) = program[index] {
            return Place {
                word: var.word + components * k as u32,
                index: None,
            };
        }
        let before = std::mem::take(&mut self.out);
        self.push("u32(");
        self.shown(index);
        self.push(")");
        let text = std::mem::replace(&mut self.out, before);
        Place {
            word: var.word,
            index: Some((components, text)),
        }
    }
}

/// `v.xy`, or `v` for all of it.
fn dotted(vector: &str, part: &str) -> String {
    if part == "xyzw" {
        vector.to_owned()
    } else {
        format!("{vector}.{part}")
    }
}
