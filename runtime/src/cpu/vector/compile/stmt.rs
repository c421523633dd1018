//! Statements and masks.
//!
//! Where control flow diverges, both paths are executed, each under a *mask* of the lanes that take it. A
//! [`Frame`] is a region of code with a mask of its own: a branch of an `if`, a loop, an iteration, an
//! inlined function, the step. It has a mask if its lanes can be fewer than those of the frame around it. A
//! jump removes the active lanes from all masks up to the frame that it leaves; if these are all lanes of
//! that frame, it is a jump of the machine. Uniform control flow needs no masks.

use super::{Compiler, Operand, Parts, Place, emit::Label, fill::is_filled};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Fused, Plain},
    program::{AgentArray, Instruction, Register},
};
use sim_compiler::ir::{Block, Expr, ExprId, Len, Stmt, UnaryOp, VarId};

/// What a jump leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A part of the program.
    Root,
    /// A branch of an `if`.
    Arm,
    /// A loop.
    Loop,
    /// An iteration of a loop.
    Round,
    /// An inlined function.
    Function,
}

/// A region of code with lanes of its own.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub(super) kind: Kind,
    /// Its mask; `None` if its lanes are those of the frame around it, or all.
    pub(super) mask: Option<Register>,
    /// The label of its end.
    pub(super) end: Label,
    /// The destination of a function's result.
    pub(super) result: Option<(Register, usize)>,
}

impl Frame {
    /// The frame of a part of the program.
    pub(super) fn root(alive: Option<Register>, end: Label) -> Frame {
        Frame {
            kind: Kind::Root,
            mask: alive,
            end,
            result: None,
        }
    }
}

impl<'p, L: Lane> Compiler<'p, L> {
    pub(super) fn block(&mut self, block: &'p Block) {
        for (place, stmt) in block.iter().enumerate() {
            if self.too_large {
                return;
            }
            self.statement(stmt, &block[place + 1..]);
        }
    }

    pub(super) fn nested(&mut self, block: &'p Block) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.block(block));
    }

    /// Writes a statement; `behind` are those that follow it in its block.
    pub(super) fn statement(&mut self, stmt: &'p Stmt, behind: &[Stmt]) {
        match stmt {
            Stmt::Let { var, value } => {
                let parts = self.value(*value);
                let parts = self.name(parts);
                self.places[var.0 as usize] = Place::Value(parts);
                self.keys_of_name(*var);
            }
            Stmt::Var { var, value } => self.declare_local(*var, *value, behind),
            Stmt::Assign { var, value } => self.assign(*var, *value),
            Stmt::AssignElement { var, index, value } => {
                self.assign_element(*var, *index, *value);
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => self.branch(*condition, accept, reject),
            Stmt::For {
                index,
                start,
                end,
                body,
            } => self.repeat(*index, *start, *end, body),
            Stmt::Break => self.leave(Kind::Loop),
            Stmt::Continue => self.leave(Kind::Round),
            Stmt::Stop => {
                let mask = self.mask().unwrap_or(0);
                self.push(Instruction::Stop { mask });
                self.leave(Kind::Root);
            }
            Stmt::Return(value) => self.give_back(*value),
        }
    }

    /// The mask of the active lanes; `None` for all.
    pub(super) fn mask(&self) -> Option<Register> {
        self.frames.iter().rev().find_map(|frame| frame.mask)
    }

    /// The mask of an assignment to a variable that was declared at a depth of frames; `None` if the other
    /// lanes never read it.
    pub(super) fn mask_since(&self, frame: usize) -> Option<Register> {
        let frames = &self.frames[frame.min(self.frames.len())..];
        frames.iter().rev().find_map(|frame| frame.mask)
    }

    fn declare_local(&mut self, var: VarId, value: Option<ExprId>, behind: &[Stmt]) {
        let frame = self.frames.len();
        if self.program[var].len != Len::One {
            if matches!(self.places[var.0 as usize], Place::Nowhere) {
                self.own(var, frame);
            }
            let Place::Array { first, .. } = self.places[var.0 as usize] else {
                return;
            };
            self.places[var.0 as usize] = Place::Array { first, frame };
            if !is_filled(self.program, var, behind) {
                let count = self.words(var);
                self.push(Instruction::Clear { first, count });
            }
            return;
        }
        let count = self.program[var].ty.components();
        let parts = match value {
            Some(value) => self.value(value),
            None => {
                let zero = self.constant(L::ZERO);
                Parts {
                    count,
                    ..Parts::one(Operand::Scalar(zero))
                }
            }
        };
        let varies = self.analysis.var_varies(var)
            || parts
                .as_slice()
                .iter()
                .any(|word| matches!(word, Operand::Lanes(_)));
        if varies {
            self.own(var, frame);
            self.write(var, &parts);
            return;
        }
        let first = self.slot();
        for _ in 1..count {
            self.slot();
        }
        self.places[var.0 as usize] = Place::Scalars(first);
        self.changing_scalars.extend(first..first + count as u32);
        self.write(var, &parts);
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        let parts = self.value(value);
        self.write(var, &parts);
    }

    /// Writes a variable that is not an array, in the active lanes.
    fn write(&mut self, var: VarId, parts: &Parts) {
        match self.places[var.0 as usize] {
            Place::Registers { first, frame } => {
                let words = self.apart(first, parts);
                let mask = self.mask_since(frame);
                for (k, &word) in words.as_slice().iter().enumerate() {
                    self.write_register(first + k as Register, word, mask);
                }
            }
            Place::Scalars(first) => {
                let slots: Vec<u32> = (parts.as_slice().iter())
                    .map(|word| match word {
                        Operand::Scalar(slot) => *slot,
                        Operand::Lanes(_) => panic!("internal error: a shared variable varies"),
                    })
                    .collect();
                // A vector may be a permutation of its own components.
                let slots: Vec<u32> = match slots.len() {
                    1 => slots,
                    _ => slots
                        .iter()
                        .map(|&slot| self.scalar(Plain::Same, &[slot]))
                        .collect(),
                };
                for (k, slot) in slots.into_iter().enumerate() {
                    self.scalar_into(first + k as u32, Plain::Same, &[slot]);
                }
            }
            Place::Nowhere | Place::Value(_) | Place::Array { .. } | Place::Table(_) => {
                if !self.too_large {
                    panic!("internal error: `{}` is assigned", self.program[var].name)
                }
            }
        }
    }

    /// Copies of words that would change while the registers from `first` on are written one by one.
    fn apart(&mut self, first: Register, parts: &Parts) -> Parts {
        let mut parts = *parts;
        if parts.count == 1 {
            return parts;
        }
        for k in 0..parts.count {
            if let Operand::Lanes(from) = parts.words[k]
                && parts.as_slice()[..k].contains(&parts.words[k])
            {
                // Two words use one register: it must survive the first write.
                self.named[from as usize] = true;
            }
        }
        for k in 0..parts.count {
            if let Operand::Lanes(from) = parts.words[k]
                && (first..first + parts.count as Register).contains(&from)
                && from != first + k as Register
            {
                let to = self.temporary();
                self.push(Instruction::Copy { to, from });
                parts.words[k] = Operand::Lanes(to);
            }
        }
        parts
    }

    pub(super) fn write_register(&mut self, to: Register, word: Operand, mask: Option<Register>) {
        match mask {
            None => self.move_into(to, word),
            Some(_) if word == Operand::Lanes(to) => {}
            Some(mask) => {
                let from = [Operand::Lanes(mask), word];
                self.lanes_into(to, Code::Plain(Plain::Blend), &from);
            }
        }
    }

    fn assign_element(&mut self, var: VarId, index: ExprId, value: ExprId) {
        let Place::Array { first, frame } = self.places[var.0 as usize] else {
            if self.too_large {
                return;
            }
            panic!("internal error: `{}` is no array", self.program[var].name);
        };
        let Len::Fixed(length) = self.program[var].len else {
            panic!("internal error: an array without a length");
        };
        let stride = self.program[var].ty.components() as u32;
        let mask = self.mask_since(frame);
        if let Some(k) = self.literal_index(index, length) {
            let parts = self.value(value);
            let place = first + k * stride;
            let parts = self.apart(place, &parts);
            for (part, &word) in parts.as_slice().iter().enumerate() {
                self.write_register(place + part as Register, word, mask);
            }
            return;
        }
        let index = self.word(index);
        let index = self.settled(index);
        let parts = self.value(value);
        let words: Vec<Register> = (parts.as_slice().iter())
            .map(|&word| {
                // It may be an element of this array.
                let own = first..first + length * stride;
                match word {
                    Operand::Lanes(register) if !own.contains(&register) => register,
                    word => {
                        let word = self.settled(word);
                        self.register(word)
                    }
                }
            })
            .collect();
        for (part, from) in words.into_iter().enumerate() {
            let array = AgentArray {
                first,
                length,
                stride,
                part: part as u32,
            };
            let mask = mask.unwrap_or(0);
            self.push(match index {
                Operand::Scalar(index) => Instruction::Put {
                    array,
                    index,
                    from,
                    mask,
                },
                Operand::Lanes(index) => Instruction::PutLanes {
                    array,
                    index,
                    from,
                    mask,
                },
            });
        }
    }

    fn branch(&mut self, condition: ExprId, accept: &'p Block, reject: &'p Block) {
        let varies = self.analysis.varies(condition);
        let (condition, accept, reject) =
            if let Expr::Unary(UnaryOp::Not, inner) = self.program[condition] {
                (inner, reject, accept)
            } else {
                (condition, accept, reject)
            };
        let word = self.word(condition);
        match word {
            Operand::Scalar(slot) if !varies => {
                let (middle, end) = (self.label(), self.label());
                self.jump_if_zero(slot, middle);
                self.nested(accept);
                if !reject.is_empty() {
                    self.jump(end);
                }
                self.place_label(middle);
                self.nested(reject);
                self.place_label(end);
            }
            word if self.narrow(word, accept, reject) => {}
            word => {
                let condition = self.settled(word);
                let condition = self.register(condition);
                self.arm(condition, false, accept);
                self.arm(condition, true, reject);
                self.go_on_if_any();
            }
        }
    }

    /// `if c { break }` and similar statements, if their lanes are those of the frame that is left: only its
    /// mask changes. `false` for any other `if`.
    fn narrow(&mut self, condition: Operand, accept: &Block, reject: &Block) -> bool {
        let (jump, staying) = match (&accept[..], &reject[..]) {
            ([jump], []) => (jump, Fused::Drop),
            ([], [jump]) => (jump, Fused::Keep),
            _ => return false,
        };
        let kind = match jump {
            Stmt::Break => Kind::Loop,
            Stmt::Continue => Kind::Round,
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::If { .. }
            | Stmt::For { .. }
            | Stmt::Stop
            | Stmt::Return(_) => return false,
        };
        let target = self.frames.iter().rposition(|frame| frame.kind == kind);
        let here = self.frames.iter().rposition(|frame| frame.mask.is_some());
        let (Some(target), Some(here)) = (target, here) else {
            return false;
        };
        let Frame { mask, .. } = self.frames[here];
        let (Some(mask), true) = (mask, here == target) else {
            return false;
        };
        let condition = Operand::Lanes(self.register(condition));
        self.lanes_into(mask, Code::Fused(staying), &[condition]);
        self.dropped_from = self.dropped_from.min(target);
        self.go_on_if_any();
        true
    }

    /// One branch of an `if` whose condition is varying.
    fn arm(&mut self, condition: Register, negated: bool, block: &'p Block) {
        if block.is_empty() {
            return;
        }
        let around = self.mask();
        let condition = Operand::Lanes(condition);
        // A copy, since jumps remove lanes from it.
        let mask = match (around, negated) {
            (None, false) => {
                let to = self.temporary();
                let Operand::Lanes(from) = condition else {
                    return;
                };
                self.push(Instruction::Copy { to, from });
                to
            }
            (None, true) => self.lanes(Code::Plain(Plain::Not), &[condition]),
            (Some(around), false) => self.lanes(
                Code::Plain(Plain::And),
                &[Operand::Lanes(around), condition],
            ),
            (Some(around), true) => self.lanes(
                Code::Plain(Plain::AndNot),
                &[Operand::Lanes(around), condition],
            ),
        };
        self.mutable[mask as usize] = true;
        let end = self.label();
        self.jump_if_none(mask, end);
        self.frames.push(Frame {
            kind: Kind::Arm,
            mask: Some(mask),
            end,
            result: None,
        });
        self.nested(block);
        self.pop_frames(1);
        self.place_label(end);
    }
}
