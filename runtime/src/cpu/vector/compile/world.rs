//! What agents of a world share: their numbers and draws, what they read of one another, and values that are
//! combined.

use super::{Compiler, Operand, Parts};
use crate::cpu::vector::{
    kernel::{Lane, Part},
    op::{Plain, Tree},
    program::{AgentArray, Instruction, Published, Register, Stream, World},
};
use sim_compiler::{
    ir::{ExprId, LaneOp, Len, Owner, Type, VarId},
    random::FIRST_WORLD,
};

impl Stream {
    /// No registers yet.
    pub(super) const NONE: Stream = Stream {
        number: 0,
        keys: [0; 2],
        draws: false,
    };

    pub(super) fn placed(self, of: &[Register]) -> Stream {
        Stream {
            number: of[self.number as usize],
            keys: self.keys.map(|key| of[key as usize]),
            draws: self.draws,
        }
    }
}

impl World {
    pub(super) fn placed(self, of: &[Register]) -> World {
        World {
            member: of[self.member as usize],
            origin: of[self.origin as usize],
            stream: self.stream.placed(of),
        }
    }
}

impl<L: Lane> Compiler<'_, L> {
    /// Registers for what draws.
    pub(super) fn stream(&mut self) -> Stream {
        Stream {
            number: self.pin(),
            keys: [self.pin(), self.pin()],
            draws: false,
        }
    }

    pub(super) fn stream_of(&mut self, owner: Owner) -> &mut Stream {
        match (owner, &mut self.world) {
            (Owner::World, Some(world)) => &mut world.stream,
            (Owner::Agent, _) => &mut self.agent,
            (Owner::World, None) => panic!("internal error: a model without worlds draws for one"),
        }
    }

    pub(super) fn world(&self) -> World {
        self.world
            .expect("the manifest of a model that names worlds has them")
    }

    /// The number of the agent's world.
    pub(super) fn world_number(&mut self) -> Operand {
        let number = Operand::Lanes(self.world().stream.number);
        let bits = Operand::Scalar(self.constant(L::of_word(!FIRST_WORLD)));
        self.apply(Plain::And, &[number, bits])
    }

    /// A state or input of another agent of the world.
    pub(super) fn other(&mut self, var: VarId, index: Option<ExprId>, member: ExprId) -> Parts {
        let ty = self.program[var].ty;
        let stride = ty.components() as u32;
        let (mut first, mut length) = (self.publish(var), 1);
        let mut element = None;
        if let (Some(index), Len::Fixed(count)) = (index, self.program[var].len) {
            match self.literal_index(index, count) {
                Some(k) => first += k * stride,
                None => {
                    length = count;
                    element = Some(self.word(index));
                }
            }
        }
        let (member, slot) = match self.word(member) {
            Operand::Lanes(member) => (member, 0),
            Operand::Scalar(slot) => (0, slot),
        };
        let index = element.map_or(0, |element| self.register(element));
        let words: Vec<Operand> = (0..stride)
            .map(|part| {
                let to = self.temporary();
                let from = AgentArray {
                    first,
                    length,
                    stride,
                    part,
                };
                self.push(Instruction::Other {
                    to,
                    from,
                    index,
                    member,
                    slot,
                });
                Operand::Lanes(to)
            })
            .collect();
        Parts::of(&words)
    }

    /// Lets the part at hand read a variable of other agents; returns the first column of its words.
    fn publish(&mut self, var: VarId) -> u32 {
        let mut stored = self.stored(&[var]);
        stored.retain(|word| word.part != Part::High);
        let column = *self.columns.entry(var).or_insert(self.column_count);
        self.column_count = self.column_count.max(column + stored.len() as u32);
        let reads = stored.iter().zip(column..).map(|(word, column)| Published {
            register: word.register,
            column,
        });
        if !self.reads.iter().any(|read| read.column == column) {
            self.reads.extend(reads);
        }
        column
    }

    /// What the agents of a world have, combined.
    pub(super) fn across(&mut self, op: LaneOp, value: ExprId) -> Parts {
        let tree = tree(op, self.analysis.ty(value));
        let value = self.value(value);
        self.map(value, |compiler, word| {
            let from = compiler.register(word);
            let to = compiler.temporary();
            compiler.push(Instruction::Across { tree, to, from });
            Operand::Lanes(to)
        })
    }
}

/// The tree that combines values of a type.
pub(super) fn tree<L: Lane>(op: LaneOp, ty: Type) -> Tree<L> {
    let pick = |float: Plain, signed: Plain, unsigned: Plain, ty| match ty {
        Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => float,
        Type::I32 => signed,
        Type::U32 | Type::Bool => unsigned,
    };
    let plain = match op {
        LaneOp::Sum => pick(Plain::AddF, Plain::AddI, Plain::AddI, ty),
        LaneOp::Product => pick(Plain::MulF, Plain::MulI, Plain::MulI, ty),
        LaneOp::Least => pick(Plain::MinF, Plain::MinI, Plain::MinU, ty),
        LaneOp::Most => pick(Plain::MaxF, Plain::MaxI, Plain::MaxU, ty),
        LaneOp::Any => Plain::Or,
        LaneOp::All => Plain::And,
    };
    plain.tree().expect("an operation that combines values")
}
