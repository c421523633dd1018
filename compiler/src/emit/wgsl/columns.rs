//! Reading and writing what an agent or a world changes: states and outputs, in columns.

use super::{
    Writer,
    operator::Level,
    spill::Index,
    storage::{composed_text, dotted},
};
use crate::ir::{Expr, ExprId, Len, Type, Value, VarId, VarKind};

/// Arrays of states with more elements than this that are indexed dynamically are loaded by a loop.
const UNROLLED: u32 = 8;

/// A buffer of columns: word `w` of agent `i` at `w * run.agents + i`.
#[derive(Clone, Copy)]
enum Columns {
    /// `states`
    States,
    /// `outputs`
    Outputs,
    /// `worlds`, where `i` is a world, and worlds are counted.
    Worlds,
}

/// Where a value lies in an agent's row: `word + lane_stride * lane`, or `words * index` further.
pub(super) struct Place {
    columns: Columns,
    word: u32,
    lane_stride: u32,
    index: Option<(u32, String)>,
}

impl Writer<'_> {
    /// Writes the lines that load a state.
    pub(super) fn load_state(&mut self, id: VarId) {
        if self.spilled.is_in_place(self.program, id) {
            return;
        }
        self.for_elements(id, |writer, place, index| {
            let ty = writer.program[id].ty;
            let parts: Vec<_> = (0..ty.words())
                .map(|word| writer.column_read(ty, &place, word))
                .collect();
            let mut value = composed_text(ty, &parts);
            if ty == Type::Bool {
                value += " != 0u";
            }
            writer.set_element(id, index, &value);
        });
    }

    fn column_read(&self, ty: Type, place: &Place, word: u32) -> String {
        let (buffer, float) = self.buffer(place.columns);
        let at = format!("{buffer}[{}]", self.column(place, word));
        match ty {
            Type::U32 | Type::Bool => at,
            Type::I32 => format!("bitcast<i32>({at})"),
            Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => {
                if float {
                    at
                } else {
                    format!("bitcast<f32>({at})")
                }
            }
        }
    }

    /// Writes the lines that store a state, or an output that was kept in a variable.
    pub(super) fn store_variable(&mut self, id: VarId) {
        if self.spilled.is_in_place(self.program, id) {
            return;
        }
        self.for_elements(id, |writer, place, index| {
            let ty = writer.program[id].ty;
            let value = writer.element_text(id, index);
            if ty.is_vector() && writer.spilled.has(id) {
                let name = writer.names.declare("element");
                writer.line(&format!("let {name} = {value};"));
                return writer.store_text(ty, &place, &name);
            }
            writer.store_text(ty, &place, &value);
        });
    }

    /// Calls `write` with the place of each element and the text of its index, in a loop if necessary.
    fn for_elements(&mut self, id: VarId, mut write: impl FnMut(&mut Self, Place, &Index)) {
        let var = &self.program[id];
        let words = var.ty.words();
        let (columns, first) = self.columns_of(id);
        let (word, dynamic) = (first + var.word, self.usage.dynamic[id]);
        let part = self.layout.part(self.program, id);
        let lane_stride = part.map_or(0, |part| part.run);
        let lanes = self.layout.lanes;
        let in_row = |word| part.map_or(word, |part| first + part.word(word - first, lanes));
        let row = match var.kind {
            VarKind::Record | VarKind::WorldRecord => Some(self.own.sample_row.clone()),
            VarKind::Constant
            | VarKind::Param
            | VarKind::Data
            | VarKind::Input
            | VarKind::State
            | VarKind::Output
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument => None,
        };
        let at = |word, index: Option<(u32, String)>| Place {
            columns,
            word,
            lane_stride,
            index: match (&row, index) {
                (None, index) => index,
                (Some(row), None) => Some((1, row.clone())),
                (Some(row), Some((1, index))) => Some((1, format!("{row} + {index}"))),
                (Some(row), Some((words, index))) => {
                    Some((1, format!("{row} + {words}u * {index}")))
                }
            },
        };
        let count = match var.len {
            Len::One => return write(self, at(in_row(word), None), &Index::None),
            Len::Fixed(n) | Len::Open { stride: n } => n,
        };
        if count <= UNROLLED || !dynamic {
            for k in 0..count {
                let word = in_row(word + words * k);
                write(self, at(word, None), &Index::Known(k));
            }
            return;
        }
        self.names.enter();
        let k = self.names.declare("k");
        self.open(&format!("for (var {k} = 0u; {k} < {count}u; {k}++) {{"));
        let element = match part.map(|part| part.run / words) {
            // Each lane has some elements of a row in turn.
            Some(run) if run < count => format!("({k} / {run}u * {}u + {k} % {run}u)", run * lanes),
            Some(_) | None => k.clone(),
        };
        let index = Some((words, element));
        write(self, at(word, index), &Index::Named(k));
        self.close("}");
        self.names.leave();
    }

    /// The index of a word of a value in its buffer.
    fn column(&self, place: &Place, word: u32) -> String {
        let (count, slot) = match place.columns {
            Columns::States | Columns::Outputs => ("run.agents", &self.own.slot),
            Columns::Worlds => (self.own.world.count.as_str(), &self.own.world.slot),
        };
        let word = place.word + word;
        let column = match &place.index {
            _ if place.lane_stride > 0 => {
                let (stride, lane) = (place.lane_stride, &self.own.lane);
                let mut column = format!("{word}u + {stride}u * u32({lane})");
                if let Some((words, index)) = &place.index {
                    column += &format!(" + {words}u * {index}");
                }
                format!("({column})")
            }
            None => match word {
                0 => return slot.clone(),
                1 => return format!("{count} + {slot}"),
                _ => format!("{word}u"),
            },
            Some((words, index)) => {
                let scaled = match words {
                    1 => index.clone(),
                    _ => format!("{words}u * {index}"),
                };
                match (word, words) {
                    (0, 1) if !index.contains(' ') => scaled,
                    (0, 1) => format!("({scaled})"),
                    (0, _) => format!("({scaled})"),
                    _ => format!("({word}u + {scaled})"),
                }
            }
        };
        format!("{column} * {count} + {slot}")
    }

    /// Writes the lines that store a value, given by its text: a name or an element.
    fn store_text(&mut self, ty: Type, place: &Place, value: &str) {
        let (buffer, float) = self.buffer(place.columns);
        let buffer = buffer.to_owned();
        for at in 0..ty.words() {
            let part = match ty.is_vector() {
                false => value.to_owned(),
                true => dotted(value, &"xyzw"[at as usize..=at as usize]),
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
            let at = self.column(place, at);
            self.line(&format!("{buffer}[{at}] = {word};"));
        }
    }

    /// The name of a buffer, and whether it holds floats.
    fn buffer(&self, columns: Columns) -> (&str, bool) {
        match columns {
            Columns::States => ("states", self.floats.states),
            Columns::Outputs => ("outputs", self.floats.outputs),
            Columns::Worlds => (&self.own.world.buffer, false),
        }
    }

    /// The buffer of a variable, and the word at which those of its kind begin.
    fn columns_of(&self, id: VarId) -> (Columns, u32) {
        let rows = self.manifest.world_rows();
        match self.program[id].kind {
            VarKind::State => (Columns::States, 0),
            VarKind::WorldInput => (Columns::Worlds, 0),
            VarKind::WorldState => (Columns::Worlds, rows.input_words),
            VarKind::WorldOutput => (Columns::Worlds, rows.input_words + rows.state_words),
            VarKind::WorldRecord => (Columns::Worlds, 0),
            VarKind::Output
            | VarKind::Record
            | VarKind::Constant
            | VarKind::Param
            | VarKind::Data
            | VarKind::Input
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument => (Columns::Outputs, 0),
        }
    }

    /// Writes the lines that store an expression as (an element of) an output.
    pub(super) fn store_output(&mut self, id: VarId, index: Option<ExprId>, value: ExprId) {
        let program = self.program;
        let var = &program[id];
        let place = self.output_place(id, index);
        if var.ty.is_vector() || self.layout.is_split() {
            let name = self.names.declare(&var.name);
            self.begin();
            self.push("let ");
            self.push(&name);
            self.push(" = ");
            self.expr(value, Level::Lowest);
            self.end(";");
            self.open_first_lane();
            self.store_text(var.ty, &place, &name);
            self.close_first_lane();
            return;
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
        let words = var.ty.words();
        let Some(index) = index else {
            return Place {
                columns: Columns::Outputs,
                word: var.word,
                lane_stride: 0,
                index: None,
            };
        };
        if let Expr::Literal(Value::I32(k)) = program[index] {
            return Place {
                columns: Columns::Outputs,
                word: var.word + words * k as u32,
                lane_stride: 0,
                index: None,
            };
        }
        let before = std::mem::take(&mut self.out);
        self.push("u32(");
        self.shown(index);
        self.push(")");
        let text = std::mem::replace(&mut self.out, before);
        Place {
            columns: Columns::Outputs,
            word: var.word,
            lane_stride: 0,
            index: Some((words, text)),
        }
    }
}
