//! Executes the instructions of a program on the machine's block.

use super::Machine;
use crate::cpu::{
    Cancelled, Progress,
    vector::{
        kernel::{Call, GROUP, Kernel, Lane},
        program::{AgentArray, Instruction, Known, Register, Slot, TableWord, Target},
    },
};

/// Backward jumps between two checks for cancellation.
const JUMPS: u32 = 64;

impl<L: Lane> Machine<'_, L> {
    /// Runs the program from an instruction to the end of its part, or to the next [`Instruction::Across`],
    /// which it returns. `others` is what the agents of the group have published.
    pub(super) fn execute(
        &mut self,
        from: Target,
        others: &[L],
    ) -> Result<Option<Target>, Cancelled> {
        let code = &self.program.code[..];
        let mut next = from as usize;
        loop {
            let instruction = &code[next];
            next += 1;
            match instruction {
                Instruction::Lanes {
                    kernel,
                    registers,
                    slots,
                    ..
                } => self.lanes(*kernel, registers, slots),
                Instruction::SineAndCosine {
                    kernel,
                    sine,
                    cosine,
                    from,
                } => {
                    let registers = [*sine, *cosine, *from];
                    self.registers.twin_kernel(*kernel, registers, self.count);
                }
                Instruction::Native {
                    function,
                    next: after,
                } => {
                    next = *after as usize;
                    let functions = &self.program.jit;
                    self.registers
                        .function(*function, &self.scalars, self.count, functions);
                }
                Instruction::Scalar { f, to, from } => {
                    self.scalars[*to as usize] = f(self.scalars(*from));
                }
                Instruction::Jump(to) => {
                    if (*to as usize) < next {
                        self.backward_jumps = self.backward_jumps.wrapping_add(1);
                        if self.backward_jumps.is_multiple_of(JUMPS) {
                            self.check_cancelled()?;
                        }
                    }
                    next = *to as usize;
                }
                Instruction::JumpIfZero { slot, to } => {
                    if self.scalars[*slot as usize] == L::ZERO {
                        next = *to as usize;
                    }
                }
                Instruction::JumpIfNone { mask, to } => {
                    if !self.any(*mask) {
                        next = *to as usize;
                    }
                }
                Instruction::End => return Ok(None),
                Instruction::Across { .. } => return Ok(Some(next as Target - 1)),
                Instruction::Other {
                    to,
                    from,
                    index,
                    member,
                    slot,
                } => self.of_other(others, *to, *from, *index, (*member, *slot)),
                rare => self.rare(rare),
            }
        }
    }

    /// The values of scalars, one by one: `array::map` is not inlined here, and took a fifth of a run's time.
    #[inline(always)]
    fn scalars(&self, [a, b, c, e]: [Slot; 4]) -> [L; 4] {
        let scalar = |slot: Slot| self.scalars[slot as usize];
        [scalar(a), scalar(b), scalar(c), scalar(e)]
    }

    #[inline(always)]
    pub(super) fn lanes(
        &mut self,
        kernel: Kernel<L>,
        registers: &[Register; 5],
        slots: &[Slot; 4],
    ) {
        let call = Call {
            scalars: &self.scalars,
            slots,
            count: self.count,
        };
        self.registers.kernel(kernel, registers, &call);
    }

    /// Executes the instructions that are too rare for the inner loop.
    fn rare(&mut self, instruction: &Instruction<L>) {
        match *instruction {
            Instruction::Copy { to, from } => {
                let [to, from] = self.registers.two(to, from);
                to.all_mut()[..self.count].copy_from_slice(&from.all()[..self.count]);
            }
            Instruction::Clear { first, count } => {
                let range = first as usize..(first + count) as usize;
                for register in &mut self.registers.0[range] {
                    register.all_mut().fill(L::ZERO);
                }
            }
            Instruction::LoadScalar {
                to,
                table,
                index,
                word,
            } => {
                let table = self.tables[table as usize];
                let index = self.scalars[index as usize].word() as i32;
                self.scalars[to as usize] = element(table, index, word);
            }
            Instruction::Gather {
                to,
                table,
                index,
                word,
            } => {
                let table = self.tables[table as usize];
                let [to, index] = self.registers.two(to, index);
                for (to, &index) in to.all_mut().iter_mut().zip(&index.all()[..self.count]) {
                    *to = element(table, index.word() as i32, word);
                }
            }
            Instruction::First { to, from } => {
                self.scalars[to as usize] = self.registers.0[from as usize].all()[0];
            }
            Instruction::Stop { mask } => self.stop(mask),
            Instruction::Pick { .. }
            | Instruction::PickLanes { .. }
            | Instruction::Put { .. }
            | Instruction::PutLanes { .. } => self.of_array(instruction),
            Instruction::Lanes { .. }
            | Instruction::SineAndCosine { .. }
            | Instruction::Scalar { .. }
            | Instruction::Jump(_)
            | Instruction::JumpIfZero { .. }
            | Instruction::JumpIfNone { .. }
            | Instruction::Across { .. }
            | Instruction::Other { .. }
            | Instruction::Native { .. }
            | Instruction::End => unreachable!("the inner loop runs these"),
        }
    }

    /// Executes the instructions on arrays of the agents.
    fn of_array(&mut self, instruction: &Instruction<L>) {
        match *instruction {
            Instruction::Pick { to, array, index } => {
                let from = array.register(self.scalars[index as usize].word());
                let [to, from] = self.registers.two(to, from);
                to.all_mut()[..self.count].copy_from_slice(&from.all()[..self.count]);
            }
            Instruction::PickLanes { to, array, index } => {
                for lane in 0..self.count {
                    let from = array.register(self.registers.0[index as usize].all()[lane].word());
                    let value = self.registers.0[from as usize].all()[lane];
                    self.registers.0[to as usize].all_mut()[lane] = value;
                }
            }
            Instruction::Put {
                array,
                index,
                from,
                mask,
            } => {
                let to = array.register(self.scalars[index as usize].word());
                if mask == 0 && to != from {
                    let [to, from] = self.registers.two(to, from);
                    to.all_mut()[..self.count].copy_from_slice(&from.all()[..self.count]);
                } else {
                    for lane in 0..self.count {
                        if mask == 0 || self.registers.0[mask as usize].all()[lane] != L::ZERO {
                            let value = self.registers.0[from as usize].all()[lane];
                            self.registers.0[to as usize].all_mut()[lane] = value;
                        }
                    }
                }
            }
            Instruction::PutLanes {
                array,
                index,
                from,
                mask,
            } => {
                for lane in 0..self.count {
                    if mask == 0 || self.registers.0[mask as usize].all()[lane] != L::ZERO {
                        let to =
                            array.register(self.registers.0[index as usize].all()[lane].word());
                        let value = self.registers.0[from as usize].all()[lane];
                        self.registers.0[to as usize].all_mut()[lane] = value;
                    }
                }
            }
            _ => unreachable!("an instruction on arrays"),
        }
    }

    /// Loads what other agents have published. The indices of an inactive lane can be out of bounds and are
    /// clamped.
    fn of_other(
        &mut self,
        others: &[L],
        to: Register,
        from: AgentArray,
        index: Register,
        (member, slot): (Register, Slot),
    ) {
        let world = self.program.world.expect("a program with worlds");
        let lanes = others.len() / self.program.columns as usize;
        let last = self.members as i32 - 1;
        let clamped = |place: u32| (place as i32).clamp(0, last) as usize;
        let column = from.register(0) as usize * lanes;
        if member == 0 && index == 0 {
            let place = column + clamped(self.scalars[slot as usize].word());
            let to = &mut self.registers.0[to as usize].all_mut()[..self.count];
            let members = self.members as usize;
            let worlds = self.agents.div_ceil(members);
            for (world, lanes) in to.chunks_mut(members).enumerate() {
                lanes.fill(others[place + world.min(worlds - 1) * members]);
            }
            return;
        }
        for lane in 0..self.count {
            let word = |register: Register| self.registers.0[register as usize].all()[lane].word();
            let place = match member {
                0 => self.scalars[slot as usize].word(),
                member => word(member),
            };
            let column = match index {
                0 => column,
                index => from.register(word(index)) as usize * lanes,
            };
            let value = others[column + word(world.origin) as usize + clamped(place)];
            self.registers.0[to as usize].all_mut()[lane] = value;
        }
    }

    fn stop(&mut self, mask: Register) {
        let slot = Known::Step.slot(self.program.uniform_words);
        let step = self.scalars[slot as usize].word();
        for lane in 0..self.count {
            let mask = mask == 0 || self.registers.0[mask as usize].all()[lane] != L::ZERO;
            let progress = &mut self.progress[usize::from(self.order[lane])];
            if mask && !progress.stopped {
                *progress = Progress {
                    steps: step + 1,
                    stopped: true,
                };
            }
        }
    }

    /// Whether any lane of a register is true.
    pub(super) fn any(&self, mask: Register) -> bool {
        let mask = &self.registers.0[mask as usize].all()[..self.count];
        mask.chunks(GROUP)
            .any(|lanes| lanes.iter().fold(L::ZERO, |any, &lane| any | lane) != L::ZERO)
    }
}

impl AgentArray {
    /// The register of an element. The index of an inactive lane can be out of bounds and is clamped.
    fn register(&self, index: u32) -> Register {
        let index = (index as i32).clamp(0, self.length as i32 - 1) as u32;
        self.first + index * self.stride + self.part
    }
}

/// A scalar of an element. The index of an inactive lane can be out of bounds and is clamped.
fn element<L: Lane>(table: &[u32], index: i32, word: TableWord) -> L {
    let stride = word.stride as usize;
    let last = table.len() / stride - 1;
    let index = (index.max(0) as usize).min(last);
    L::load(word.scalar, &table[index * stride + word.index as usize..])
}
