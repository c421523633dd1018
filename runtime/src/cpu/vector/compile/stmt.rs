//! Statements, and the lanes that they are for.
//!
//! Where agents go different ways, both ways are run, each under a *mask*: the lanes that take it. A
//! [`Frame`] is a stretch of code with lanes of its own: the arm of an `if`, a loop, one of its rounds, an
//! inlined function, the step. It has a mask if its lanes can be fewer than those of the frame around it.
//! A jump takes the current lanes out of all masks from here to the frame that it leaves; if these are all
//! lanes of that frame, it is a jump of the machine. Where all agents go the same way there are no masks.

use super::{Compiler, Operand, Parts, Place, Span, emit::Label};
use crate::cpu::vector::{
    op::{Code, Fused, Plain},
    program::{Instruction, Known, Own, Register},
};
use sim_compiler::{
    ir::{Block, Expr, ExprId, FunctionId, Len, Stmt, UnaryOp, VarId},
    random::Generator,
};

/// What a jump leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A part of the program.
    Root,
    /// The arm of an `if`.
    Arm,
    /// A loop.
    Loop,
    /// A round of a loop.
    Round,
    /// An inlined function.
    Function,
}

/// A stretch of code with lanes of its own.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    kind: Kind,
    /// Its lanes; none if they are those of the frame around it, or all.
    mask: Option<Register>,
    /// Where it ends.
    pub(super) end: Label,
    /// Where the result of a function goes.
    result: Option<(Register, usize)>,
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

impl<'p> Compiler<'p> {
    pub(super) fn block(&mut self, block: &'p Block) {
        for stmt in block {
            if self.too_large {
                return;
            }
            self.statement(stmt);
        }
    }

    fn nested(&mut self, block: &'p Block) {
        stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.block(block));
    }

    fn statement(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::Let { var, value } => {
                let parts = self.value(*value);
                let parts = self.name(parts);
                self.places[var.0 as usize] = Place::Value(parts);
            }
            Stmt::Var { var, value } => self.declare_local(*var, *value),
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

    /// The lanes that run here; none for all.
    fn mask(&self) -> Option<Register> {
        self.frames.iter().rev().find_map(|frame| frame.mask)
    }

    /// The lanes that an assignment to a variable is for, declared with so many frames around it; none if
    /// the others never read it.
    fn mask_since(&self, frame: usize) -> Option<Register> {
        let frames = &self.frames[frame.min(self.frames.len())..];
        frames.iter().rev().find_map(|frame| frame.mask)
    }

    fn declare_local(&mut self, var: VarId, value: Option<ExprId>) {
        let frame = self.frames.len();
        if self.program[var].len != Len::One {
            if matches!(self.places[var.0 as usize], Place::Nowhere) {
                self.own(var, frame);
            }
            let Place::Array { first, .. } = self.places[var.0 as usize] else {
                return;
            };
            self.places[var.0 as usize] = Place::Array { first, frame };
            let count = self.words(var);
            return self.push(Instruction::Clear { first, count });
        }
        let count = self.program[var].ty.components();
        let parts = match value {
            Some(value) => self.value(value),
            None => {
                let zero = self.constant(0);
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

    /// Writes a variable that is one value, in the lanes that run.
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
                // A vector may be its own components in another order.
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

    /// Words that do not change while the registers from `first` on are written one by one.
    fn apart(&mut self, first: Register, parts: &Parts) -> Parts {
        let mut parts = *parts;
        if parts.count == 1 {
            return parts;
        }
        for k in 0..parts.count {
            if let Operand::Lanes(from) = parts.words[k]
                && parts.as_slice()[..k].contains(&parts.words[k])
            {
                // Two words from one register: it has to stay when the first one is written.
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

    fn write_register(&mut self, to: Register, word: Operand, mask: Option<Register>) {
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
                let word = self.settled(word);
                self.register(word)
            })
            .collect();
        for (part, from) in words.into_iter().enumerate() {
            let array = Own {
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
        let (inner, negated) = match self.program[condition] {
            Expr::Unary(UnaryOp::Not, inner) => (inner, true),
            _ => (condition, false),
        };
        let varies = self.analysis.varies(condition);
        let word = self.word(inner);
        let (accept, reject) = match negated {
            false => (accept, reject),
            true => (reject, accept),
        };
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
            word => {
                let condition = self.settled(word);
                let condition = self.register(condition);
                self.arm(condition, false, accept);
                self.arm(condition, true, reject);
                self.go_on_if_any();
            }
        }
    }

    /// One arm of an `if` whose condition varies.
    fn arm(&mut self, condition: Register, negated: bool, block: &'p Block) {
        if block.is_empty() {
            return;
        }
        let around = self.mask();
        let condition = Operand::Lanes(condition);
        // A mask of its own, since jumps take lanes out of it.
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

    /// After code that may have taken lanes away: if none is left, there is nothing to do in this frame.
    fn go_on_if_any(&mut self) {
        let Some(here) = self.frames.iter().rposition(|frame| frame.mask.is_some()) else {
            return;
        };
        let Frame {
            kind, mask, end, ..
        } = self.frames[here];
        if let Some(mask) = mask
            && here >= self.dropped_from
            && kind != Kind::Arm
        {
            self.jump_if_none(mask, end);
            if here == self.dropped_from {
                self.dropped_from = usize::MAX;
            }
        }
    }

    fn pop_frames(&mut self, count: usize) {
        self.frames.truncate(self.frames.len() - count);
        if self.dropped_from >= self.frames.len() {
            self.dropped_from = usize::MAX;
        }
    }

    /// Leaves the innermost frame of a kind.
    fn leave(&mut self, kind: Kind) {
        let target = (self.frames.iter())
            .rposition(|frame| frame.kind == kind)
            .expect("a jump within what it leaves");
        let here = self.frames.iter().rposition(|frame| frame.mask.is_some());
        let end = self.frames[target].end;
        let Some(here) = here.filter(|&here| here >= target) else {
            // All lanes of that frame are here.
            return self.jump(end);
        };
        let gone = self.frames[here].mask.expect("it has a mask");
        let masks: Vec<Register> = (self.frames[target..here].iter())
            .filter_map(|frame| frame.mask)
            .collect();
        for mask in masks {
            self.drop_lanes(mask, gone);
        }
        self.drop_lanes(gone, gone);
        self.dropped_from = self.dropped_from.min(target);
        if here == target {
            self.jump(end);
        }
    }

    fn repeat(&mut self, index: VarId, start: ExprId, end: ExprId, body: &'p Block) {
        let parting = self.analysis.parting(body);
        let (start, end) = (self.word(start), self.word(end));
        let end = self.settled(end);
        let (exit, next) = (self.label(), self.label());
        let varies = self.analysis.var_varies(index)
            || matches!(start, Operand::Lanes(_))
            || matches!(end, Operand::Lanes(_));
        let mask = (varies || parting.breaks).then(|| self.own_mask());
        let top = if varies {
            let counter = self.temporary();
            self.mutable[counter as usize] = true;
            match start {
                Operand::Scalar(from) => self.spread(counter, from),
                Operand::Lanes(from) => self.push(Instruction::Copy { to: counter, from }),
            }
            self.places[index.0 as usize] = Place::Registers {
                first: counter,
                frame: self.frames.len(),
            };
            let top = self.code.len();
            let before = self.ordered(Plain::LtI, Operand::Lanes(counter), end);
            let mask = mask.expect("lanes that count differently");
            self.lanes_into(mask, Code::Fused(Fused::Keep), &[before]);
            self.jump_if_none(mask, exit);
            top
        } else {
            let counter = self.slot();
            self.changing_scalars.insert(counter);
            if let Operand::Scalar(start) = start {
                self.scalar_into(counter, Plain::Same, &[start]);
            }
            self.places[index.0 as usize] = Place::Scalars(counter);
            let top = self.code.len();
            if let Operand::Scalar(end) = end {
                let before = self.scalar(Plain::LtI, &[counter, end]);
                self.jump_if_zero(before, exit);
            }
            top
        };
        self.frames.push(self.frame(Kind::Loop, mask, exit));
        let round = parting.rounds.then(|| self.own_mask());
        self.frames.push(self.frame(Kind::Round, round, next));
        self.nested(body);
        self.pop_frames(2);
        self.place_label(next);
        let one = self.constant(1);
        match self.places[index.0 as usize] {
            Place::Scalars(counter) => self.scalar_into(counter, Plain::AddI, &[counter, one]),
            Place::Registers { first: counter, .. } => {
                let one = Operand::Scalar(one);
                let more = self.lanes(Code::Plain(Plain::AddI), &[Operand::Lanes(counter), one]);
                self.push(Instruction::Copy {
                    to: counter,
                    from: more,
                });
            }
            _ => {}
        }
        self.jump_back(top);
        self.loops.push(Span {
            start: top,
            end: self.code.len(),
        });
        self.place_label(exit);
        self.go_on_if_any();
    }

    fn frame(&self, kind: Kind, mask: Option<Register>, end: Label) -> Frame {
        Frame {
            kind,
            mask,
            end,
            result: None,
        }
    }

    /// A mask of the lanes that run here.
    fn own_mask(&mut self) -> Register {
        let to = self.temporary();
        self.mutable[to as usize] = true;
        match self.mask() {
            Some(from) => self.push(Instruction::Copy { to, from }),
            None => {
                let from = self.constant(u32::MAX);
                self.spread(to, from);
            }
        }
        to
    }

    /// A call, inlined.
    pub(super) fn call(&mut self, id: FunctionId, args: &[ExprId]) -> Parts {
        let function = &self.program[id];
        for (&param, &arg) in function.params.iter().zip(args) {
            let parts = self.value(arg);
            let parts = self.name(parts);
            self.bound.push((param, parts));
        }
        // Only now, since an argument may call the same function.
        for _ in args {
            if let Some((param, parts)) = self.bound.pop() {
                self.places[param.0 as usize] = Place::Value(parts);
            }
        }
        if let Some((Stmt::Return(value), lets)) = function.body.split_last()
            && lets.iter().all(|stmt| matches!(stmt, Stmt::Let { .. }))
        {
            lets.iter().for_each(|stmt| self.statement(stmt));
            return self.value(*value);
        }
        let count = function.result.components();
        let first = self.temporary();
        for _ in 1..count {
            self.temporary();
        }
        let zero = self.constant(0);
        for k in 0..count as Register {
            self.mutable[(first + k) as usize] = true;
            self.spread(first + k, zero);
        }
        let end = self.label();
        let mask = returns_early(&function.body).then(|| self.own_mask());
        self.frames.push(Frame {
            kind: Kind::Function,
            mask,
            end,
            result: Some((first, count)),
        });
        self.nested(&function.body);
        self.pop_frames(1);
        self.place_label(end);
        let parts = Parts::from_registers(first, count);
        self.name(parts)
    }

    fn give_back(&mut self, value: ExprId) {
        let parts = self.value(value);
        let target = (self.frames.iter())
            .rposition(|frame| frame.kind == Kind::Function)
            .expect("a return within a function");
        let Some((first, _)) = self.frames[target].result else {
            return;
        };
        let mask = self.mask_since(target);
        for (k, &word) in parts.as_slice().iter().enumerate() {
            self.write_register(first + k as Register, word, mask);
        }
        self.leave(Kind::Function);
    }

    /// The key of the step, if a block draws.
    pub(super) fn draw_key(&mut self, block: &Block) -> Option<[Register; 2]> {
        if !self.block_draws(block) {
            return None;
        }
        self.draws = true;
        if self.generator != Generator::KeyedHash {
            return Some(self.keys);
        }
        let step = Operand::Scalar(self.known(Known::RandomStep));
        let [a, b] = self.keys.map(Operand::Lanes);
        Some([Plain::StepKey0, Plain::StepKey1].map(|plain| {
            let register = self.lanes(Code::Plain(plain), &[a, b, step]);
            self.named[register as usize] = true;
            register
        }))
    }

    fn block_draws(&self, block: &Block) -> bool {
        block.iter().any(|stmt| match stmt {
            Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
                self.draws_words(*value)
            }
            Stmt::Var { value, .. } => value.is_some_and(|value| self.draws_words(value)),
            Stmt::AssignElement { index, value, .. } => {
                self.draws_words(*index) || self.draws_words(*value)
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                self.draws_words(*condition) || self.block_draws(accept) || self.block_draws(reject)
            }
            Stmt::For {
                start, end, body, ..
            } => self.draws_words(*start) || self.draws_words(*end) || self.block_draws(body),
            Stmt::Break | Stmt::Continue | Stmt::Stop => false,
        })
    }

    fn draws_words(&self, root: ExprId) -> bool {
        let mut waiting = vec![root];
        while let Some(node) = waiting.pop() {
            if matches!(self.program[node], Expr::RandomWord { .. }) {
                return true;
            }
            waiting.extend(self.program.operands(node));
        }
        false
    }
}

/// May a function end before its last statement?
fn returns_early(body: &Block) -> bool {
    body.iter().enumerate().any(|(k, stmt)| match stmt {
        Stmt::Return(_) => k + 1 < body.len(),
        Stmt::If { accept, reject, .. } => contains_return(accept) || contains_return(reject),
        Stmt::For { body, .. } => contains_return(body),
        _ => false,
    })
}

fn contains_return(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Return(_) => true,
        Stmt::If { accept, reject, .. } => contains_return(accept) || contains_return(reject),
        Stmt::For { body, .. } => contains_return(body),
        _ => false,
    })
}
