//! Variables: the locations of those that exist from the start, and their words in storage.

use super::{Compiler, MOST_REGISTERS, NotCompiled, Operand, Parts, Place};
use crate::cpu::vector::{
    kernel::{Lane, Part},
    program::{Register, Stored, Table},
};
use sim_compiler::ir::{self, Block, Len, Type, VarId, VarKind};

impl<L: Lane> Compiler<'_, L> {
    /// Assigns a location to every variable that exists from the start.
    pub(super) fn declare(&mut self) -> Result<(), NotCompiled> {
        let program = self.program;
        for (var, elements) in &program.constants {
            let words = (elements.iter())
                .flat_map(|element| element.words_of(L::REAL))
                .collect();
            self.places[var.0 as usize] = self.table(Table::Constant(words));
        }
        for &var in &program.params {
            let first = program[var].word;
            self.places[var.0 as usize] = match program[var].len {
                Len::One => self.param(first, program[var].ty),
                Len::Fixed(count) => {
                    let count = count * program.words(program[var].ty);
                    self.table(Table::Uniform { first, count })
                }
                Len::Open { .. } => panic!("internal error: a param of open length"),
            };
        }
        for (number, &var) in program.data.iter().enumerate() {
            self.places[var.0 as usize] = self.table(Table::Data(number));
        }
        let lists = [
            &program.inputs,
            &program.states,
            &program.outputs,
            &program.world_inputs,
            &program.world_states,
            &program.world_outputs,
        ];
        let samples =
            (program.samples.iter()).flat_map(|sample| [&sample.records, &sample.world_records]);
        let own: Vec<VarId> = (lists.into_iter().chain(samples).flatten().copied()).collect();
        let words: u64 = own.iter().map(|&var| u64::from(self.words(var))).sum();
        if words > u64::from(MOST_REGISTERS) {
            return Err(NotCompiled::TooLarge);
        }
        for var in own {
            self.own(var, 0);
        }
        Ok(())
    }

    pub(super) fn table(&mut self, table: Table) -> Place {
        self.tables.push(table);
        Place::Table(self.tables.len() as u32 - 1)
    }

    /// A param is located in the uniform block itself.
    pub(super) fn param(&mut self, first: u32, ty: Type) -> Place {
        let (count, scalar) = (ty.components(), ty.stored(L::REAL));
        let stride = scalar.words();
        if Part::all(scalar) != [Part::Word] {
            let slots = (0..count as u32).map(|k| first + k * stride);
            self.params.extend(slots.map(|slot| (slot, scalar)));
        }
        Place::Value(Parts::from_slots(first, count, stride))
    }

    /// The registers of a variable.
    pub(super) fn words(&self, var: VarId) -> u32 {
        let var = &self.program[var];
        let count = match var.len {
            Len::One => 1,
            Len::Fixed(count) => count,
            Len::Open { .. } => panic!("internal error: `{}` is no table", var.name),
        };
        count * var.ty.components() as u32
    }

    /// Registers for a variable with one register per word.
    pub(super) fn own(&mut self, var: VarId, frame: usize) {
        let words = self.words(var);
        if self.pinned.len() as u64 + u64::from(words) > u64::from(MOST_REGISTERS) {
            self.too_large = true;
            return;
        }
        let first = self.pinned.len() as Register;
        let is_array = self.program[var].len != Len::One;
        let kind = self.program[var].kind;
        let changes = !matches!(kind, VarKind::Input | VarKind::WorldInput);
        for _ in 0..words {
            // The registers of a local that is not an array are reused after its last use.
            let stays = is_array || kind != VarKind::Local;
            self.pinned.push(stays);
            self.mutable.push(changes);
            self.named.push(true);
        }
        self.places[var.0 as usize] = match is_array {
            true => Place::Array { first, frame },
            false => Place::Registers { first, frame },
        };
    }

    /// A pinned register.
    pub(super) fn pin(&mut self) -> Register {
        self.pinned.push(true);
        self.mutable.push(true);
        self.named.push(true);
        self.pinned.len() as Register - 1
    }

    /// A register for a value.
    pub(super) fn temporary(&mut self) -> Register {
        self.pinned.push(false);
        self.mutable.push(false);
        self.named.push(false);
        self.pinned.len() as Register - 1
    }

    /// Pins the registers of the prologue's names: every step reads them.
    pub(super) fn keep(&mut self, prologue: &Block) {
        for stmt in prologue {
            let ir::Stmt::Let { var, .. } = stmt else {
                continue;
            };
            if let Place::Value(parts) = self.places[var.0 as usize] {
                for word in parts.as_slice() {
                    if let Operand::Lanes(register) = word {
                        self.pinned[*register as usize] = true;
                    }
                }
            }
        }
    }

    /// The registers of variables and their words in storage.
    pub(super) fn stored(&self, vars: &[VarId]) -> Vec<Stored> {
        let mut stored = Vec::new();
        for &var in vars {
            let (Place::Registers { first, .. } | Place::Array { first, .. }) =
                self.places[var.0 as usize]
            else {
                continue;
            };
            let parts = Part::all(self.program[var].ty.stored(L::REAL));
            let registers = first..first + self.words(var);
            let each =
                registers.flat_map(|register| parts.iter().map(move |&part| (register, part)));
            let words = self.program[var].word..;
            stored.extend(each.zip(words).map(|((register, part), word)| Stored {
                word,
                register,
                part,
            }));
        }
        stored
    }
}
