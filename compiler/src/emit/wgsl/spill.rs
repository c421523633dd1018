//! Arrays that fit neither the memory of the entry point's function nor private memory, see
//! [`crate::kernel::limits`]. They are in storage: those of an agent in the buffer `spill`, in which each
//! invocation has a column of its own, as it has private memory of its own; those of constants in the buffer
//! `constants`, which all share.

use super::{Writer, literal, operator::Level, storage::dotted};
use crate::{
    ir::{ExprId, Len, Program, Type, VarId, VarKind},
    kernel::{
        choose::ASKED_FOR, limits, limits::Placement, profile::ARRAY_BYTES, schedule::Decision,
    },
    manifest::{ConstantTables, Spill},
};
use std::collections::HashMap;

/// Where arrays in storage lie, and the names of what reaches them.
#[derive(Default)]
pub(super) struct Spilled {
    /// Whether an invocation is an agent, so that states can stay where they are from dispatch to dispatch.
    in_place: bool,
    /// The first word of each array of an agent in an invocation's column, or among the agent's states.
    words: HashMap<VarId, u32>,
    /// And of each array of constants in their buffer.
    tables: HashMap<VarId, u32>,
    /// Words of a column.
    count: u32,
    /// Whether `spill` holds floats.
    floats: bool,
    buffer: String,
    constants: String,
    /// Functions that set an element of an array of an agent.
    setters: HashMap<VarId, String>,
    /// The invocation's number in its dispatch, and the number of all.
    place: String,
    stride: String,
}

impl Spilled {
    pub(super) fn new(program: &Program, placement: &Placement, in_place: bool) -> Spilled {
        let mut spilled = Spilled {
            floats: (placement.spilled.iter()).all(|var| program[*var].ty.is_float()),
            in_place,
            ..Spilled::default()
        };
        for &var in &placement.spilled {
            if in_place && program[var].kind == VarKind::State {
                spilled.words.insert(var, program[var].word);
                continue;
            }
            spilled.words.insert(var, spilled.count);
            spilled.count += limits::words(program, var) as u32;
        }
        let mut word = 0;
        for &var in &placement.tables {
            spilled.tables.insert(var, word);
            word += limits::words(program, var) as u32;
        }
        spilled
    }

    /// Whether an array of an agent is in storage.
    pub(super) fn has(&self, var: VarId) -> bool {
        self.words.contains_key(&var)
    }

    /// Whether an array is one of states that stay where they are.
    pub(super) fn is_in_place(&self, program: &Program, var: VarId) -> bool {
        self.in_place && self.has(var) && program[var].kind == VarKind::State
    }

    /// Whether an array of constants is.
    pub(super) fn has_table(&self, var: VarId) -> bool {
        self.tables.contains_key(&var)
    }
}

impl Writer<'_> {
    /// Names the buffers, and what says where an invocation's column is.
    pub(super) fn name_spill(&mut self) {
        if self.spilled.count > 0 {
            self.spilled.buffer = self.names.declare("spill");
        }
        if !self.spilled.words.is_empty() {
            self.spilled.place = self.names.declare("spill_place");
            self.spilled.stride = match self.spilled.in_place {
                true => "run.agents".to_owned(),
                false => self.names.declare("spill_stride"),
            };
        }
        if !self.spilled.tables.is_empty() {
            self.spilled.constants = self.names.declare("constants");
        }
        for var in self.program.var_ids() {
            let name = &self.program[var].name;
            if self.spilled.has(var) || self.spilled.has_table(var) {
                let load = self.names.declare(&format!("{name}_at"));
                self.accessors.insert(var, load);
            }
            if self.spilled.has(var) {
                let set = self.names.declare(&format!("set_{name}"));
                self.spilled.setters.insert(var, set);
            }
        }
    }

    /// Declares the buffers.
    pub(super) fn spill_bindings(&mut self) {
        if let Some(spill) = self.spill() {
            let element = if self.spilled.floats { "f32" } else { "u32" };
            let own = &self.spilled;
            let line = format!(
                "@group(0) @binding({}) var<storage, read_write> {}: array<{element}>;",
                spill.binding, own.buffer
            );
            self.line("// Arrays that are too large for the memory of an invocation.");
            self.line(&line);
        }
        if !self.spilled.words.is_empty() {
            let line = format!("var<private> {}: u32;", self.spilled.place);
            self.line(&line);
            if !self.spilled.in_place {
                let line = format!("var<private> {}: u32;", self.spilled.stride);
                self.line(&line);
            }
        }
        if let Some(binding) = self.constants_binding() {
            let name = &self.spilled.constants;
            let line =
                format!("@group(0) @binding({binding}) var<storage, read> {name}: array<u32>;");
            self.line(&line);
        }
    }

    /// The last binding of everything else.
    fn last_binding(&self) -> u32 {
        let manifest = self.manifest;
        let tables = manifest.data.iter().map(|table| table.binding);
        let worlds = manifest.world.iter().map(|world| world.binding);
        let table = self.step_table.map(|table| table.layout.binding);
        let scratch = self.scratch().map(|scratch| scratch.binding);
        let others = [
            table,
            scratch,
            self.points(),
            Some(manifest.worlds_binding()),
        ];
        let others = others.into_iter().flatten();
        tables.chain(worlds).chain(others).fold(4, u32::max)
    }

    /// What arrays of an agent take of storage.
    pub(super) fn spill(&self) -> Option<Spill> {
        (self.spilled.count > 0).then(|| Spill {
            binding: self.last_binding() + 1,
            words: self.spilled.count,
        })
    }

    fn constants_binding(&self) -> Option<u32> {
        let spills = u32::from(self.spilled.count > 0);
        (!self.spilled.tables.is_empty()).then(|| self.last_binding() + spills + 1)
    }

    /// The arrays of constants that are in storage.
    pub(super) fn constant_tables(&self) -> Option<ConstantTables> {
        let binding = self.constants_binding()?;
        let all = self.program.constants.iter();
        let own = all.filter(|(var, _)| self.spilled.has_table(*var));
        let words = own.flat_map(|(_, elements)| elements);
        Some(ConstantTables {
            binding,
            words: words.flat_map(|it| it.single().words()).collect(),
        })
    }

    /// Why arrays are in storage, if some are.
    pub(super) fn spill_decision(&self) -> Option<Decision> {
        let of_agent = 4 * u64::from(self.spilled.count);
        let tables = self.spilled.tables.keys();
        let of_constants: u64 = tables
            .map(|var| 4 * limits::words(self.program, *var))
            .sum();
        let what = match (of_agent, of_constants) {
            (0, 0) => return None,
            (0, bytes) => format!("{bytes} bytes of constants in storage"),
            (bytes, 0) => format!("{bytes} bytes of an agent's arrays in storage"),
            (own, all) => {
                format!("{own} bytes of an agent's arrays in storage, and {all} bytes of constants")
            }
        };
        let schedule = &self.schedule;
        let why = match schedule.array_bytes {
            ARRAY_BYTES => {
                "two regions of 8,192 bytes are all the memory that every device gives an invocation"
                    .to_owned()
            }
            bytes if bytes == schedule.class.profile().array_bytes => {
                format!("a driver in software compiles arrays of more than {bytes} bytes too slowly")
            }
            _ => ASKED_FOR.to_owned(),
        };
        Some(Decision::new(what, why))
    }

    /// Says which invocation this is: `id` has the workgroup's place in x and y, which `groups` counts, and
    /// `index` is the invocation's place among the `size` of its workgroup.
    pub(super) fn begin_spill(&mut self, id: &str, groups: &str, index: &str, size: u32) {
        let line = format!("({id}.y * {groups}.x + {id}.x) * {size}u + {index}");
        self.begin_spill_at(&line, groups, size);
    }

    /// The same, where the number of the invocation has the name `place`.
    pub(super) fn begin_spill_at(&mut self, place: &str, groups: &str, size: u32) {
        if self.spilled.words.is_empty() {
            return;
        }
        let own = &self.spilled;
        let mut lines = vec![format!("{} = {place};", own.place)];
        if !own.in_place {
            lines.push(format!(
                "{} = {groups}.x * {groups}.y * {size}u;",
                own.stride
            ));
        }
        lines.iter().for_each(|line| self.line(line));
    }

    /// The text of a variable, or of an element of one.
    pub(super) fn element_text(&self, var: VarId, index: &Index) -> String {
        match self.spilled.has(var) {
            true => format!("{}({})", self.accessors[&var], index.argument()),
            false => format!("{}{}", self.var_names[var], index.subscript()),
        }
    }

    /// Writes the line that sets a variable, or an element of one.
    pub(super) fn set_element(&mut self, var: VarId, index: &Index, value: &str) {
        let line = match self.spilled.setters.get(&var) {
            Some(set) => format!("{set}({}, {value});", index.argument()),
            None => format!("{}{} = {value};", self.var_names[var], index.subscript()),
        };
        self.line(&line);
    }

    /// Writes the assignment of an element that is in storage; false if it is not.
    pub(super) fn assign_spilled(&mut self, array: VarId, index: ExprId, value: ExprId) -> bool {
        let Some(set) = self.spilled.setters.get(&array).cloned() else {
            return false;
        };
        self.begin();
        self.push(&format!("{set}("));
        self.expr(index, Level::Lowest);
        self.push(", ");
        self.expr(value, Level::Lowest);
        self.end(");");
        true
    }

    /// Writes the loop that sets an array in storage to zeros; false if it is not there.
    pub(super) fn clear_spilled(&mut self, array: VarId) -> bool {
        if !self.spilled.has(array) {
            return false;
        }
        let var = &self.program[array];
        let count = match var.len {
            Len::One => 1,
            Len::Fixed(n) | Len::Open { stride: n } => n,
        };
        let zero = format!("{}()", literal::type_name(var.ty));
        self.names.enter();
        let k = self.names.declare("k");
        self.open(&format!("for (var {k} = 0u; {k} < {count}u; {k}++) {{"));
        self.set_element(array, &Index::Named(k), &zero);
        self.close("}");
        self.names.leave();
        true
    }

    /// Where a scalar of an array in storage lies: its buffer, and the index of a word of the array. None of
    /// other arrays.
    pub(super) fn spilled_scalar(&self, array: VarId, word: &str) -> Option<String> {
        let own = &self.spilled;
        if own.has_table(array) {
            return Some(format!("{}[{word}]", own.constants));
        }
        let word = match word.contains(' ') {
            true => format!("({word})"),
            false => word.to_owned(),
        };
        let Spilled {
            buffer,
            stride,
            place,
            ..
        } = own;
        let buffer = match self.spilled.is_in_place(self.program, array) {
            true => "states",
            false => buffer,
        };
        (own.has(array)).then(|| format!("{buffer}[{word} * {stride} + {place}]"))
    }

    /// Whether the buffer of an array in storage holds the bits of its values as `u32`.
    pub(super) fn is_spilled_raw(&self, array: VarId) -> bool {
        self.spilled.has_table(array) || self.spilled.has(array) && !self.are_floats(array)
    }

    /// Whether the buffer of an array of an agent in storage holds floats.
    fn are_floats(&self, array: VarId) -> bool {
        match self.spilled.is_in_place(self.program, array) {
            true => self.floats.states,
            false => self.spilled.floats,
        }
    }

    /// The first word of an array in storage.
    pub(super) fn spilled_word(&self, array: VarId) -> Option<u32> {
        let own = &self.spilled;
        own.words.get(&array).or(own.tables.get(&array)).copied()
    }

    /// Writes the function that sets an element of an array in storage, if it is there.
    pub(super) fn setter(&mut self, array: VarId) {
        let Some(set) = self.spilled.setters.get(&array).cloned() else {
            return;
        };
        let ty = self.program[array].ty;
        let (name, words) = (literal::type_name(ty), ty.words());
        self.blank();
        self.open(&format!("fn {set}(k: i32, value: {name}) {{"));
        let first = self.spilled_word(array).unwrap_or(0);
        let word = element_word(first, words);
        self.line(&format!("let word = {word};"));
        for at in 0..words {
            let part = match ty.is_vector() {
                false => "value".to_owned(),
                true => dotted("value", &"xyzw"[at as usize..=at as usize]),
            };
            let stored = match ty {
                Type::U32 => part,
                Type::Bool => format!("u32({part})"),
                _ if self.are_floats(array) => part,
                _ => format!("bitcast<u32>({part})"),
            };
            let word = match at {
                0 => "word".to_owned(),
                at => format!("word + {at}u"),
            };
            let place = self.spilled_scalar(array, &word).unwrap_or_default();
            self.line(&format!("{place} = {stored};"));
        }
        self.close("}");
    }
}

/// The word of the element `k` of an array that begins at the word `first`.
pub(super) fn element_word(first: u32, words: u32) -> String {
    let scaled = match words {
        1 => "u32(k)".to_owned(),
        _ => format!("{words}u * u32(k)"),
    };
    match first {
        0 => scaled,
        _ => format!("{first}u + {scaled}"),
    }
}

/// The index of an element: none of a single value, a number, or the name of a `u32`.
pub(super) enum Index {
    None,
    Known(u32),
    Named(String),
}

impl Index {
    /// What follows the name of an array.
    fn subscript(&self) -> String {
        match self {
            Index::None => String::new(),
            Index::Known(k) => format!("[{k}]"),
            Index::Named(k) => format!("[{k}]"),
        }
    }

    /// The argument of a function that loads or sets an element.
    fn argument(&self) -> String {
        match self {
            Index::None => "0".to_owned(),
            Index::Known(k) => k.to_string(),
            Index::Named(k) => format!("i32({k})"),
        }
    }
}
