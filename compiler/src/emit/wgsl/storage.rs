//! Reading what a launch provides: params, tables and inputs; `columns` has what an agent changes.

use crate::{
    emit::wgsl::{Writer, literal, operator::Level},
    ir::{BinaryOp, Expr, ExprId, Len, Type, Value, VarId, VarKind},
    kernel::usage::LanePlace,
    value::VEC4_WORDS,
};
use std::collections::BTreeMap;

/// Names of values that are looked behind for the place of an element.
const MOST_NAMES: u32 = 8;

/// Words of a row that are read through names of their own.
pub(super) const NAMED_WORDS: u32 = 64;

/// The rows and components of `vec4`s that hold `count` words from `word` on.
pub(super) fn pieces(word: u32, count: u32) -> Vec<(u32, &'static str)> {
    let (mut at, end) = (word, word + count);
    let mut pieces = Vec::new();
    while at < end {
        let (row, first) = (at / VEC4_WORDS, at % VEC4_WORDS);
        let last = (end - VEC4_WORDS * row).min(VEC4_WORDS);
        pieces.push((row, &"xyzw"[first as usize..last as usize]));
        at = VEC4_WORDS * row + last;
    }
    pieces
}

impl Writer<'_> {
    /// How tightly a read binds: `bool`s in buffers are compared with 0.
    pub(super) fn read_level(&self, id: VarId) -> Level {
        let var = &self.program[id];
        let is_named = || self.input_names.contains_key(&(id, LanePlace::default()));
        let compared = matches!(var.kind, VarKind::Param | VarKind::Data)
            || var.kind == VarKind::Input && (var.len != Len::One || !is_named());
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
                self.out.push_str(&self.own.launch);
                self.push(".");
                self.push_name(id);
                self.unless_bool(var.ty);
            }
            VarKind::Data if var.ty.is_vector() => {
                let parts = var.ty.components();
                self.push(&format!("vec{parts}f("));
                for part in 0..parts {
                    self.push(if part == 0 { "" } else { ", " });
                    self.push_name(id);
                    self.push(&format!("[{part}]"));
                }
                self.push(")");
            }
            VarKind::Data => {
                self.push_name(id);
                self.push("[0]");
                self.unless_bool(var.ty);
            }
            VarKind::Input => self.input_value(id, LanePlace::default()),
            VarKind::Constant
            | VarKind::State
            | VarKind::Output
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord
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
        let place = self.usage.lane_place(program, array, index);
        if var.kind == VarKind::WorldInput {
            self.push_accessor(array);
            self.push("(");
            self.out.push_str(&self.own.world.slot);
            self.push(", ");
            self.expr(index, Level::Lowest);
            self.push(")");
        } else if var.kind == VarKind::Input {
            match place {
                Some(place) => self.input_value(array, place),
                None => {
                    self.push_accessor(array);
                    self.push("(");
                    self.out.push_str(&self.own.row);
                    self.push(", ");
                    self.expr(index, Level::Lowest);
                    self.push(")");
                }
            }
        } else if var.kind == VarKind::Param {
            match place {
                Some(place) => self.param_value(array, place.first),
                None if self.param_in_row(array, index) => {}
                None => self.call_accessor(array, index),
            }
        } else if self.accessors.contains_key(&array) {
            self.call_accessor(array, index);
        } else {
            self.indexed(array, index);
            if var.kind == VarKind::Data {
                self.unless_bool(var.ty);
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

    pub(super) fn unless_bool(&mut self, ty: Type) {
        if ty == Type::Bool {
            self.push(" != 0u");
        }
    }

    /// Writes an element of an array of params whose component of a row is known: at a multiple of 4 and a
    /// constant. A component that is not known costs devices a multiple of the load. False if it is another
    /// element.
    fn param_in_row(&mut self, array: VarId, index: ExprId) -> bool {
        let program = self.program;
        let var = &program[array];
        if var.ty.words() != 1 {
            return false;
        }
        let (mut base, mut offset) = (index, 0);
        if let Expr::Binary(BinaryOp::Add, a, b) = program[index]
            && let Expr::Literal(Value::I32(b)) = program[b]
            && b >= 0
        {
            (base, offset) = (a, b as u32);
        }
        if !self.is_multiple_of_row(base, MOST_NAMES) {
            return false;
        }
        let (row, part) = (offset / VEC4_WORDS, offset % VEC4_WORDS);
        let start = format!("{}.{}[(u32(", self.own.launch, self.var_names[array]);
        self.push(&start);
        self.shown(base);
        self.push(&match row {
            0 => ") >> 2u)]".to_owned(),
            row => format!(") >> 2u) + {row}u]"),
        });
        self.push(&format!(".{}", &"xyzw"[part as usize..=part as usize]));
        self.unless_bool(var.ty);
        true
    }

    /// Is an `i32` evidently a multiple of 4? `names` of values are looked behind.
    fn is_multiple_of_row(&self, id: ExprId, names: u32) -> bool {
        let expr = &self.program[id];
        if let Expr::Binary(op, a, b) = *expr {
            let [a, b] = [a, b].map(|operand| self.is_multiple_of_row(operand, names));
            return match op == BinaryOp::Multiply {
                true => a || b,
                false => matches!(op, BinaryOp::Add | BinaryOp::Subtract) && a && b,
            };
        }
        if let Expr::Read(var) = expr {
            let value = self.lets.get(var).filter(|_| names > 0);
            return value.is_some_and(|&value| self.is_multiple_of_row(value, names - 1));
        }
        matches!(expr, Expr::Literal(Value::I32(value)) if value % VEC4_WORDS as i32 == 0)
    }

    /// An element at a known index of an array of params.
    fn param_value(&mut self, id: VarId, k: u32) {
        let ty = self.program[id].ty;
        let words = ty.words();
        let array = format!("{}.{}", self.own.launch, self.var_names[id]);
        let parts: Vec<_> = pieces(words * k, words)
            .into_iter()
            .map(|(row, part)| dotted(&format!("{array}[{row}]"), part))
            .collect();
        self.composed(ty, &parts);
        self.unless_bool(ty);
    }

    /// An input value at a known place: by its name, or from the buffer.
    fn input_value(&mut self, id: VarId, place: LanePlace) {
        match self.input_names.get(&(id, place)) {
            Some(name) => self.out.push_str(name),
            None => self.input_load(id, place),
        }
    }

    /// Reads an input value from the buffer.
    pub(super) fn input_load(&mut self, id: VarId, place: LanePlace) {
        let var = &self.program[id];
        let ty = var.ty;
        let words = ty.words();
        let parts: Vec<_> = pieces(var.word + words * place.first, words)
            .into_iter()
            .map(|(row, part)| (row_of(row, place, words), part))
            .map(|(row, part)| match self.row_names.get(&row) {
                Some(name) => dotted(name, part),
                None => dotted(&format!("inputs[{}]", self.input_row(row)), part),
            })
            .collect();
        self.typed(ty, &parts, self.floats.inputs);
    }

    /// What replaces a `let` of the compiler's own that names one word of a row, where inputs are many: a
    /// line for each would cost validators more time than all computations with them.
    pub(super) fn part_of_row(&self, id: VarId, value: ExprId) -> Option<String> {
        let program = self.program;
        let Expr::Element { array, index } = program[value] else {
            return None;
        };
        let var = &program[array];
        let place = self.usage.lane_place(program, array, index)?;
        let plain = var.kind == VarKind::Input && var.ty == Type::F32 && self.floats.inputs;
        let own = program[id].span.start == program[id].span.end;
        if !plain || !own || self.manifest.input_words <= NAMED_WORDS {
            return None;
        }
        let word = var.word + place.first;
        let name = self.row_names.get(&row_of(word / VEC4_WORDS, place, 1))?;
        let first = (word % VEC4_WORDS) as usize;
        Some(dotted(name, &"xyzw"[first..=first]))
    }

    /// The index of one of the agent's rows in `inputs`.
    pub(super) fn input_row(&self, row: LanePlace) -> String {
        let mut text = match row.first {
            0 => self.own.row.clone(),
            first => format!("{} + {first}u", self.own.row),
        };
        let further = match row.per_lane {
            0 => return text,
            1 => format!("u32({})", self.own.lane),
            rows => format!("{rows}u * u32({})", self.own.lane),
        };
        match row.last {
            Some(last) => text += &format!(" + min({further}, {}u)", last - row.first),
            None => text += &format!(" + {further}"),
        }
        text
    }

    /// How many words are read of each of the agent's rows, by number.
    pub(super) fn words_by_row(&self) -> BTreeMap<LanePlace, u32> {
        let mut words = BTreeMap::new();
        for &(word, var, place) in self.usage.inputs.keys() {
            let count = self.program[var].ty.words();
            for (row, part) in pieces(word, count) {
                *words.entry(row_of(row, place, count)).or_default() += part.len() as u32;
            }
        }
        words
    }

    pub(super) fn composed(&mut self, ty: Type, parts: &[String]) {
        self.push(&composed_text(ty, parts));
    }
}

/// A value of its scalars.
pub(super) fn composed_text(ty: Type, parts: &[String]) -> String {
    match parts {
        [one] => one.clone(),
        all => format!("{}({})", literal::type_name(ty), all.join(", ")),
    }
}

/// A row, and the number of rows to the next lane's, for elements of this many words.
fn row_of(row: u32, place: LanePlace, words: u32) -> LanePlace {
    let last = place.last.map(|last| (last - place.first) * words);
    LanePlace {
        first: row,
        per_lane: place.per_lane * words / VEC4_WORDS,
        last: last.map(|words| row + words / VEC4_WORDS),
    }
}

/// `v.xy`, or `v` for all of it.
pub(super) fn dotted(vector: &str, part: &str) -> String {
    if part == "xyzw" {
        vector.to_owned()
    } else {
        format!("{vector}.{part}")
    }
}
