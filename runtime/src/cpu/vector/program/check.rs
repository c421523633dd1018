//! Verifies what the machine relies on, for every program before it runs.

use super::{
    super::kernel::Lane, AgentArray, Instruction, Phase, Program, Register, Slot, Stored,
    TableWord, Target,
};

impl<L: Lane> Program<L> {
    /// Panics unless the machine can run the program without bounds checks: every register, scalar, table and
    /// jump target exists, no kernel's destination is one of its sources, control flow cannot leave the code,
    /// and the processor has the instruction set.
    pub(in crate::cpu::vector) fn check(&self) {
        assert!(self.isa.is_available(), "{} is not here", self.isa);
        for instruction in &self.code {
            match instruction {
                Instruction::Lanes { .. }
                | Instruction::SineAndCosine { .. }
                | Instruction::Copy { .. }
                | Instruction::Clear { .. }
                | Instruction::Across { .. }
                | Instruction::Gather { .. } => self.check_registers(instruction),
                Instruction::Scalar { .. } | Instruction::LoadScalar { .. } => {
                    self.check_scalars(instruction);
                }
                Instruction::Pick { .. }
                | Instruction::PickLanes { .. }
                | Instruction::Put { .. }
                | Instruction::PutLanes { .. }
                | Instruction::Other { .. } => self.check_arrays(instruction),
                Instruction::Jump(to) => self.target(*to),
                Instruction::JumpIfZero { slot, to } => {
                    self.slot(*slot);
                    self.target(*to);
                }
                Instruction::JumpIfNone { mask, to } => {
                    self.inside(*mask);
                    self.target(*to);
                }
                Instruction::Stop { mask } => self.inside(*mask),
                Instruction::First { to, from } => {
                    self.slot(*to);
                    self.inside(*from);
                }
                Instruction::Native { .. } => {
                    panic!("a program is checked before it has functions")
                }
                Instruction::End => {}
            }
        }
        assert!(self.staying <= self.registers);
        assert!(matches!(self.code.last(), Some(Instruction::End)));
        self.check_entries();
        self.check_lists();
    }

    fn check_entries(&self) {
        let samples = self.samples.iter().map(|sample| &sample.phase);
        let phases = (self.phases.iter().chain(samples))
            .chain(&self.ends)
            .chain([&self.finish]);
        for Phase { entry, reads, .. } in phases {
            self.target(*entry);
            for published in reads {
                self.inside(published.register);
                assert!(published.column < self.columns);
            }
        }
        let defaults = self.defaults.iter().map(|default| default.entry);
        ([self.init, self.prologue].into_iter())
            .chain(defaults)
            .for_each(|to| self.target(to));
    }

    fn check_lists(&self) {
        let defaults = (self.defaults.iter()).map(|default| &default.inputs);
        let lists: [&Vec<Stored>; 6] = [
            &self.inputs,
            &self.states,
            &self.outputs,
            &self.world_inputs,
            &self.world_states,
            &self.world_outputs,
        ];
        let records = self.samples.iter().map(|sample| &sample.records);
        (lists.into_iter().chain(defaults).chain(records).flatten())
            .for_each(|stored| self.written(stored.register));
        (self.samples.iter().flat_map(|sample| &sample.world_records))
            .for_each(|(stored, _)| self.written(stored.register));
        let world = self.world.iter();
        let streams = world.clone().map(|world| world.stream);
        (streams.chain([self.agent]))
            .flat_map(|stream| [stream.number, stream.keys[0], stream.keys[1]])
            .chain(world.flat_map(|world| [world.member, world.origin]))
            .chain(self.alive)
            .for_each(|register| self.written(register));
        assert!(self.world.is_some() || !self.joint);
        assert!(self.joint || !self.alone);
    }

    fn inside(&self, register: Register) {
        assert!(register < self.registers);
    }

    /// Register 0 is never allocated.
    fn written(&self, to: Register) {
        assert!(to != 0);
        self.inside(to);
    }

    fn slot(&self, slot: Slot) {
        assert!((slot as usize) < self.scalars.len());
    }

    fn target(&self, to: Target) {
        assert!((to as usize) < self.code.len());
    }

    fn table(&self, table: u32, word: TableWord) {
        assert!((table as usize) < self.tables.len());
        assert!(word.index + word.scalar.words() <= word.stride);
    }

    fn check_registers(&self, instruction: &Instruction<L>) {
        match instruction {
            Instruction::Lanes {
                registers, slots, ..
            } => {
                let [to, from @ ..] = registers;
                self.written(*to);
                for register in from {
                    self.inside(*register);
                    assert!(register != to, "a kernel writes one of its sources");
                }
                slots.iter().for_each(|&slot| self.slot(slot));
            }
            Instruction::SineAndCosine {
                sine, cosine, from, ..
            } => {
                self.written(*sine);
                self.written(*cosine);
                self.inside(*from);
                assert!(sine != cosine && sine != from && cosine != from);
            }
            Instruction::Copy { to, from } | Instruction::Across { to, from, .. } => {
                self.written(*to);
                self.inside(*from);
                assert!(to != from);
            }
            Instruction::Clear { first, count } => {
                self.written(*first);
                assert!(u64::from(*first) + u64::from(*count) <= u64::from(self.registers));
            }
            Instruction::Gather {
                to,
                table,
                index,
                word,
            } => {
                self.written(*to);
                self.inside(*index);
                self.table(*table, *word);
                assert!(to != index);
            }
            _ => unreachable!("an instruction on registers"),
        }
    }

    fn check_scalars(&self, instruction: &Instruction<L>) {
        match instruction {
            Instruction::Scalar { to, from, .. } => {
                self.slot(*to);
                from.iter().for_each(|&slot| self.slot(slot));
            }
            Instruction::LoadScalar {
                to,
                table,
                index,
                word,
            } => {
                self.slot(*to);
                self.slot(*index);
                self.table(*table, *word);
            }
            _ => unreachable!("an instruction on scalars"),
        }
    }

    fn check_arrays(&self, instruction: &Instruction<L>) {
        match instruction {
            Instruction::Pick { to, array, index } => {
                self.written(*to);
                self.slot(*index);
                self.array(array, &[*to]);
            }
            Instruction::PickLanes { to, array, index } => {
                self.written(*to);
                assert!(to != index);
                self.array(array, &[*to, *index]);
            }
            Instruction::Put {
                array,
                index,
                from,
                mask,
            } => {
                self.slot(*index);
                self.array(array, &[*from, *mask]);
            }
            Instruction::PutLanes {
                array,
                index,
                from,
                mask,
            } => self.array(array, &[*index, *from, *mask]),
            Instruction::Other {
                to,
                from,
                index,
                member,
                slot,
            } => {
                self.written(*to);
                self.inside(*index);
                self.inside(*member);
                self.slot(*slot);
                assert!(to != index && to != member && self.joint);
                assert!(from.length > 0 && from.part < from.stride);
                let words = u64::from(from.length) * u64::from(from.stride);
                assert!(u64::from(from.first) + words <= u64::from(self.columns));
            }
            _ => unreachable!("an instruction on arrays"),
        }
    }

    /// The array is in bounds, and the other registers are in bounds and not part of it.
    fn array(&self, array: &AgentArray, others: &[Register]) {
        assert!(array.length > 0 && array.part < array.stride && array.first > 0);
        let words = u64::from(array.length) * u64::from(array.stride);
        assert!(u64::from(array.first) + words <= u64::from(self.registers));
        for &register in others {
            self.inside(register);
            let behind = array.first + array.length * array.stride;
            assert!(register < array.first || register >= behind);
        }
    }
}
