//! Emits single instructions: operands in the form that kernels take, scalars, labels.

use super::{Compiler, MOST_INSTRUCTIONS, Operand, Parts};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Cos, Fused, Plain, Sin},
    program::{Instruction, Known, Register, Slot, Target},
};

/// A position in the code that may not be known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label(u32);

/// The position of an undefined label.
const NOWHERE: Target = Target::MAX;

impl<L: Lane> Compiler<'_, L> {
    /// Adds an instruction, unless the program is too large.
    pub(super) fn push(&mut self, mut instruction: Instruction<L>) {
        match &mut instruction {
            Instruction::Jump(_)
            | Instruction::JumpIfZero { .. }
            | Instruction::JumpIfNone { .. }
            | Instruction::Put { .. }
            | Instruction::PutLanes { .. }
            | Instruction::Clear { .. } => self.angles.clear(),
            // The destination is the last register.
            other => {
                let mut last = 0;
                other.each_register(|register| last = *register);
                self.angles.remove(&last);
            }
        }
        if self.code.len() >= MOST_INSTRUCTIONS {
            self.too_large = true;
        } else {
            self.code.push(instruction);
        }
    }

    /// A new scalar.
    pub(super) fn slot(&mut self) -> Slot {
        self.scalars.push(L::ZERO);
        self.scalars.len() as Slot - 1
    }

    /// The scalar of a constant.
    pub(super) fn constant(&mut self, value: L) -> Slot {
        if let Some(&slot) = self.constants.get(&value) {
            return slot;
        }
        let slot = self.slot();
        self.scalars[slot as usize] = value;
        self.constants.insert(value, slot);
        slot
    }

    pub(super) fn known(&self, known: Known) -> Slot {
        known.slot(self.uniform_words)
    }

    /// An operation on scalars.
    pub(super) fn scalar(&mut self, plain: Plain, from: &[Slot]) -> Slot {
        let to = self.slot();
        self.scalar_into(to, plain, from);
        to
    }

    pub(super) fn scalar_into(&mut self, to: Slot, plain: Plain, from: &[Slot]) {
        self.push(Instruction::Scalar {
            f: plain.scalar(),
            to,
            from: std::array::from_fn(|k| from.get(k).copied().unwrap_or(0)),
        });
    }

    /// An operation, on scalars if all operands are.
    pub(super) fn apply(&mut self, plain: Plain, from: &[Operand]) -> Operand {
        let slots: Vec<Slot> = (from.iter())
            .filter_map(|operand| match operand {
                Operand::Scalar(slot) => Some(*slot),
                Operand::Lanes(_) => None,
            })
            .collect();
        if slots.len() == from.len() {
            return Operand::Scalar(self.scalar(plain, &slots));
        }
        Operand::Lanes(self.lanes(Code::Plain(plain), from))
    }

    /// An operation on lanes with a new destination.
    pub(super) fn lanes(&mut self, code: Code, from: &[Operand]) -> Register {
        let to = self.temporary();
        self.lanes_into(to, code, from);
        to
    }

    /// An operation on lanes. Scalars that none of its kernels takes are broadcast first.
    pub(super) fn lanes_into(&mut self, to: Register, code: Code, from: &[Operand]) {
        debug_assert_eq!(code.arity(), from.len(), "{code:?}");
        let scalars: u8 = (from.iter().enumerate())
            .map(|(k, operand)| u8::from(matches!(operand, Operand::Scalar(_))) << k)
            .sum();
        // The largest set of scalars that a kernel takes.
        let (kept, kernel) = (0..=scalars)
            .rev()
            .filter(|kept| kept & !scalars == 0)
            .filter_map(|kept| Some((kept, code.kernel(kept, self.isa)?)))
            .max_by_key(|(kept, _)| kept.count_ones())
            .expect("every operation has a kernel without scalars");
        let mut registers = [to, 0, 0, 0, 0];
        let mut slots = [0; 4];
        for (k, operand) in from.iter().enumerate() {
            match *operand {
                Operand::Scalar(slot) if kept >> k & 1 == 1 => slots[k] = slot,
                other => registers[k + 1] = self.register(other),
            }
        }
        self.push(Instruction::Lanes {
            code,
            kernel,
            registers,
            slots,
        });
    }

    /// Broadcasts a scalar to all lanes.
    pub(super) fn spread(&mut self, to: Register, from: Slot) {
        self.lanes_into(to, Code::Plain(Plain::Same), &[Operand::Scalar(from)]);
    }

    /// The sine or cosine of a register. If the current basic block computes the other one, one instruction
    /// computes both.
    pub(super) fn sine(&mut self, plain: Plain, from: Register) -> Register {
        if let Some(&at) = self.angles.get(&from)
            && let Instruction::Lanes {
                code: Code::Plain(other),
                registers,
                ..
            } = self.code[at]
            && other != plain
        {
            let to = self.temporary();
            let (sine, cosine) = match plain {
                Plain::Sin => (to, registers[0]),
                _ => (registers[0], to),
            };
            self.code[at] = Instruction::SineAndCosine {
                kernel: L::twin_kernel::<Sin, Cos>(self.isa),
                sine,
                cosine,
                from,
            };
            self.angles.remove(&from);
            return to;
        }
        let to = self.lanes(Code::Plain(plain), &[Operand::Lanes(from)]);
        self.angles.insert(from, self.code.len() - 1);
        to
    }

    /// The operand in a register.
    pub(super) fn register(&mut self, operand: Operand) -> Register {
        match operand {
            Operand::Lanes(register) => register,
            Operand::Scalar(from) => {
                let to = self.temporary();
                self.spread(to, from);
                to
            }
        }
    }

    /// The operand, which is uniform, as a scalar.
    pub(super) fn first(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Scalar(_) => operand,
            Operand::Lanes(from) => {
                let to = self.slot();
                self.push(Instruction::First { to, from });
                Operand::Scalar(to)
            }
        }
    }

    /// The operand in a register or scalar that nothing else writes.
    pub(super) fn settled(&mut self, operand: Operand) -> Operand {
        match operand {
            Operand::Lanes(from) if self.mutable[from as usize] => {
                let to = self.temporary();
                self.push(Instruction::Copy { to, from });
                Operand::Lanes(to)
            }
            Operand::Scalar(from) if self.changing_scalars.contains(&from) => {
                Operand::Scalar(self.scalar(Plain::Same, &[from]))
            }
            other => other,
        }
    }

    /// A value that a name can refer to: nothing else writes its words.
    pub(super) fn name(&mut self, mut parts: Parts) -> Parts {
        for k in 0..parts.count {
            parts.words[k] = self.settled(parts.words[k]);
            if let Operand::Lanes(register) = parts.words[k] {
                self.named[register as usize] = true;
            }
        }
        parts
    }

    /// Writes an operand to a register, in all lanes. If the last instruction computed the operand, its
    /// destination is changed instead.
    pub(super) fn move_into(&mut self, to: Register, operand: Operand) {
        let from = match operand {
            Operand::Scalar(from) => return self.spread(to, from),
            Operand::Lanes(from) if from == to => return,
            Operand::Lanes(from) => from,
        };
        let fresh =
            !self.named[from as usize] && !self.mutable[from as usize] && !self.label_here();
        if fresh && let Some(last) = self.code.last_mut() {
            match last {
                Instruction::Lanes {
                    code, registers, ..
                } if registers[0] == from
                    && !code.reads_destination()
                    && !registers[1..].contains(&to) =>
                {
                    registers[0] = to;
                    self.angles.remove(&to);
                    return;
                }
                Instruction::Pick {
                    to: made, array, ..
                } if *made == from && !array.holds(to) => {
                    *made = to;
                    self.angles.remove(&to);
                    return;
                }
                Instruction::Gather { to: made, .. } if *made == from => {
                    *made = to;
                    self.angles.remove(&to);
                    return;
                }
                _ => {}
            }
        }
        if fresh && self.update_in_place(to, from) {
            return;
        }
        self.push(Instruction::Copy { to, from });
    }

    /// Updates in place: `x = x · a` and `x = x + a * b`, if the last instruction computed the value for this
    /// only.
    fn update_in_place(&mut self, to: Register, from: Register) -> bool {
        use Instruction::Lanes;
        let Some(&Lanes {
            code,
            registers,
            slots,
            ..
        }) = self.code.last()
        else {
            return false;
        };
        if registers[0] != from {
            return false;
        }
        let operand = |k: usize| match registers[k + 1] {
            0 => Operand::Scalar(slots[k]),
            register => Operand::Lanes(register),
        };
        let Some((code, operands)) = super::fuse::in_place(code, to, [0, 1, 2].map(operand)) else {
            return false;
        };
        self.code.pop();
        self.lanes_into(to, Code::Fused(code), &operands);
        true
    }

    /// Removes lanes from a mask.
    pub(super) fn drop_lanes(&mut self, mask: Register, gone: Register) {
        if mask == gone {
            let none = self.constant(L::ZERO);
            self.spread(mask, none);
        } else {
            self.lanes_into(mask, Code::Fused(Fused::Drop), &[Operand::Lanes(gone)]);
        }
    }

    pub(super) fn label(&mut self) -> Label {
        self.labels.push(NOWHERE);
        Label(self.labels.len() as u32 - 1)
    }

    /// Defines a label at the next instruction.
    pub(super) fn place_label(&mut self, label: Label) {
        self.angles.clear();
        self.labels[label.0 as usize] = self.code.len() as Target;
    }

    /// Whether a label is defined at the next instruction.
    fn label_here(&self) -> bool {
        let here = self.code.len() as Target;
        self.labels.iter().rev().take(8).any(|&place| place == here)
    }

    pub(super) fn jump(&mut self, label: Label) {
        self.push(Instruction::Jump(label.0));
    }

    /// Jumps backward.
    pub(super) fn jump_back(&mut self, to: usize) {
        self.labels.push(to as Target);
        self.push(Instruction::Jump(self.labels.len() as u32 - 1));
    }

    pub(super) fn jump_if_zero(&mut self, slot: Slot, label: Label) {
        self.push(Instruction::JumpIfZero { slot, to: label.0 });
    }

    pub(super) fn jump_if_none(&mut self, mask: Register, label: Label) {
        self.push(Instruction::JumpIfNone { mask, to: label.0 });
    }

    /// Replaces labels by positions.
    pub(super) fn resolve_labels(&mut self) {
        let places = &self.labels;
        for instruction in &mut self.code {
            match instruction {
                Instruction::Jump(to)
                | Instruction::JumpIfZero { to, .. }
                | Instruction::JumpIfNone { to, .. } => *to = places[*to as usize],
                _ => {}
            }
        }
    }
}
