//! Loops, and jumps out of them.

use super::{
    Compiler, Operand, Place, Span,
    emit::Label,
    stmt::{Frame, Kind},
};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Fused, Plain},
    program::{Instruction, Register},
};
use sim_compiler::ir::{Block, ExprId, VarId};

impl<'p, L: Lane> Compiler<'p, L> {
    /// Skips to the end of a frame if no lane is left, after code that may have removed lanes.
    pub(super) fn go_on_if_any(&mut self) {
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

    pub(super) fn pop_frames(&mut self, count: usize) {
        self.frames.truncate(self.frames.len() - count);
        if self.dropped_from >= self.frames.len() {
            self.dropped_from = usize::MAX;
        }
    }

    /// Leaves the innermost frame of a kind.
    pub(super) fn leave(&mut self, kind: Kind) {
        let target = (self.frames.iter())
            .rposition(|frame| frame.kind == kind)
            .expect("a jump within what it leaves");
        let here = self.frames.iter().rposition(|frame| frame.mask.is_some());
        let end = self.frames[target].end;
        let Some(here) = here.filter(|&here| here >= target) else {
            // All lanes of that frame are active here.
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

    /// A `for`.
    pub(super) fn repeat(&mut self, index: VarId, start: ExprId, end: ExprId, body: &'p Block) {
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
        let one = self.constant(L::of_word(1));
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

    /// The mask of the active lanes.
    pub(super) fn own_mask(&mut self) -> Register {
        let to = self.temporary();
        self.mutable[to as usize] = true;
        match self.mask() {
            Some(from) => self.push(Instruction::Copy { to, from }),
            None => {
                let from = self.constant(L::TRUE);
                self.spread(to, from);
            }
        }
        to
    }
}
