//! Expressions: the words of their values, as registers or scalars.

use super::{Compiler, Operand, Parts, Place};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Finish, Plain},
    program::{AgentArray, Instruction, Known, Register, Rows, TableWord},
};
use sim_compiler::{
    RealType,
    builtin::real::Real,
    ir::{BinaryOp, Expr, ExprId, Launch, Len, Owner, Type, UnaryOp, Value, VarId},
    random::Generator,
};

impl<L: Lane> Compiler<'_, L> {
    /// The value of an expression that is one word.
    pub(super) fn word(&mut self, id: ExprId) -> Operand {
        self.value(id).words[0]
    }

    /// The value of an expression. Its registers may be those of variables: see [`Compiler::name`].
    pub(super) fn value(&mut self, id: ExprId) -> Parts {
        let parts = stacker::maybe_grow(64 * 1024, 1024 * 1024, || self.node(id));
        match self.alone && !self.analysis.varies(id) {
            true => self.map(parts, |compiler, word| compiler.first(word)),
            false => parts,
        }
    }

    fn node(&mut self, id: ExprId) -> Parts {
        let program = self.program;
        match &program[id] {
            Expr::Literal(value) => {
                let text = |single| f64::literal(single, || program.literal_text(id));
                self.literal(match L::REAL {
                    RealType::F32 => value.double(),
                    RealType::F64 => value.map_floats(text),
                })
            }
            Expr::Double(bits) => self.literal(Value::F32(f64::from_bits(*bits))),
            Expr::Launch(number) => Parts::one(match number {
                Launch::Agent => Operand::Lanes(self.agent.number),
                Launch::Agents => Operand::Scalar(self.known(Known::Agents)),
                Launch::Steps => Operand::Scalar(self.known(Known::Steps)),
                Launch::Step => Operand::Scalar(self.known(Known::Step)),
                Launch::Lane { .. } => lanes(),
                Launch::Members => Operand::Scalar(self.known(Known::Members)),
                Launch::Member => Operand::Lanes(self.world().member),
                Launch::World => self.world_number(),
            }),
            Expr::Rows(var) => Parts::one(self.rows(*var)),
            Expr::Read(var) => self.read(*var),
            Expr::Element { array, index } => self.element(*array, *index),
            Expr::Swizzle { vector, components } => {
                let vector = self.value(*vector);
                let words: Vec<Operand> = (components.iter())
                    .map(|&component| vector.words[component as usize])
                    .collect();
                Parts::of(&words)
            }
            Expr::Compose(parts) => {
                let words: Vec<Operand> = parts.iter().map(|&part| self.word(part)).collect();
                Parts::of(&words)
            }
            Expr::Splat { ty, value } => Parts {
                count: ty.components(),
                ..Parts::one(self.word(*value))
            },
            Expr::Unary(op, operand) => self.unary(*op, *operand),
            Expr::Binary(op, left, right) => self.binary(id, *op, *left, *right),
            Expr::Select {
                condition,
                accept,
                reject,
            } => self.select(*condition, *accept, *reject),
            Expr::Convert { to, value } => Parts::one(self.convert(*to, *value)),
            Expr::Bitcast { to, value } => Parts::one(self.bitcast(*to, *value)),
            Expr::Builtin(builtin, args) => self.builtin(*builtin, args),
            Expr::Call(function, args) => self.call(*function, args),
            Expr::RandomWord {
                owner,
                number,
                step,
            } => {
                let number = self.word(*number);
                Parts::one(self.draw(*owner, number, *step))
            }
            Expr::AcrossLanes { .. } | Expr::Shuffle { .. } => lanes(),
            Expr::Other { var, index, member } => self.other(*var, *index, *member),
            Expr::AcrossWorld { op, value } => self.across(*op, *value),
        }
    }

    pub(super) fn literal(&mut self, value: Value<f64>) -> Parts {
        let scalar = value.ty().stored(L::REAL);
        let words: Vec<u32> = value.words_of(L::REAL).collect();
        let words: Vec<Operand> = (words.chunks(scalar.words() as usize))
            .map(|words| Operand::Scalar(self.constant(L::load(scalar, words))))
            .collect();
        Parts::of(&words)
    }

    fn rows(&mut self, var: VarId) -> Operand {
        let table = &self.program[var];
        let Len::Open { stride } = table.len else {
            panic!(
                "internal error: rows of `{}`, which is no open table",
                table.name
            );
        };
        let row_words = stride * table.ty.words_of(L::REAL);
        let data = (self.program.data.iter())
            .position(|&data| data == var)
            .expect("a data table");
        if let Some(rows) = self.rows.iter().find(|rows| rows.data == data) {
            return Operand::Scalar(rows.slot);
        }
        let slot = self.slot();
        self.rows.push(Rows {
            data,
            row_words,
            slot,
        });
        Operand::Scalar(slot)
    }

    fn read(&mut self, var: VarId) -> Parts {
        let ty = self.program[var].ty;
        let count = ty.components();
        match self.places[var.0 as usize] {
            Place::Value(parts) => parts,
            Place::Registers { first, .. } => Parts::from_registers(first, count),
            Place::Scalars(first) => Parts::from_slots(first, count, 1),
            // A table of one value.
            Place::Table(table) => {
                let first = Operand::Scalar(self.constant(L::ZERO));
                self.table_element(table, first, ty)
            }
            Place::Nowhere | Place::Array { .. } => {
                panic!("internal error: `{}` has no value", self.program[var].name)
            }
        }
    }

    fn element(&mut self, array: VarId, index: ExprId) -> Parts {
        let var = &self.program[array];
        let (ty, stride) = (var.ty, var.ty.components() as u32);
        let length = match var.len {
            Len::Fixed(length) => length,
            Len::One | Len::Open { .. } => 0,
        };
        match self.places[array.0 as usize] {
            Place::Array { first, .. } => {
                if let Some(k) = self.literal_index(index, length) {
                    return Parts::from_registers(first + k * stride, ty.components());
                }
                let index = self.word(index);
                let words: Vec<Operand> = (0..stride)
                    .map(|part| {
                        let own = AgentArray {
                            first,
                            length,
                            stride,
                            part,
                        };
                        Operand::Lanes(self.pick(own, index))
                    })
                    .collect();
                Parts::of(&words)
            }
            Place::Table(table) => {
                let index = self.word(index);
                self.table_element(table, index, ty)
            }
            Place::Nowhere | Place::Value(_) | Place::Registers { .. } | Place::Scalars(_) => {
                panic!("internal error: `{}` is no array", var.name)
            }
        }
    }

    fn table_element(&mut self, table: u32, index: Operand, ty: Type) -> Parts {
        let (stride, scalar) = (ty.words_of(L::REAL), ty.stored(L::REAL));
        let words: Vec<Operand> = (0..stride)
            .step_by(scalar.words() as usize)
            .map(|part| {
                let word = TableWord {
                    stride,
                    index: part,
                    scalar,
                };
                self.load(table, index, word)
            })
            .collect();
        Parts::of(&words)
    }

    /// The element of a constant index.
    pub(super) fn literal_index(&self, index: ExprId, length: u32) -> Option<u32> {
        let Expr::Literal(Value::I32(k)) = self.program[index] else {
            return None;
        };
        u32::try_from(k).ok().filter(|&k| k < length)
    }

    fn pick(&mut self, array: AgentArray, index: Operand) -> Register {
        let to = self.temporary();
        self.push(match index {
            Operand::Scalar(index) => Instruction::Pick { to, array, index },
            Operand::Lanes(index) => Instruction::PickLanes { to, array, index },
        });
        to
    }

    fn load(&mut self, table: u32, index: Operand, word: TableWord) -> Operand {
        match index {
            Operand::Scalar(index) => {
                let to = self.slot();
                self.push(Instruction::LoadScalar {
                    to,
                    table,
                    index,
                    word,
                });
                Operand::Scalar(to)
            }
            Operand::Lanes(index) => {
                let to = self.temporary();
                self.push(Instruction::Gather {
                    to,
                    table,
                    index,
                    word,
                });
                Operand::Lanes(to)
            }
        }
    }

    fn unary(&mut self, op: UnaryOp, operand: ExprId) -> Parts {
        let plain = match (op, self.analysis.ty(operand)) {
            (UnaryOp::Fence | UnaryOp::Keep, _) => return self.value(operand),
            (UnaryOp::Negate, Type::I32) => Plain::NegI,
            (UnaryOp::Negate, Type::F32) if self.analysis.varies(operand) => {
                return Parts::one(self.finished(Finish::Neg, operand));
            }
            (UnaryOp::Negate, _) => Plain::NegF,
            (UnaryOp::Not | UnaryOp::Complement, _) => Plain::Not,
        };
        let operand = self.value(operand);
        self.map(operand, |compiler, word| compiler.apply(plain, &[word]))
    }

    /// A function of each word.
    pub(super) fn map(
        &mut self,
        parts: Parts,
        mut f: impl FnMut(&mut Self, Operand) -> Operand,
    ) -> Parts {
        let words: Vec<Operand> = (parts.as_slice().iter())
            .map(|&word| f(self, word))
            .collect();
        Parts::of(&words)
    }

    /// A function of the words of two values, one of which may be a single word that is combined with all.
    pub(super) fn zip(
        &mut self,
        a: Parts,
        b: Parts,
        mut f: impl FnMut(&mut Self, Operand, Operand) -> Operand,
    ) -> Parts {
        let words: Vec<Operand> = (0..a.count.max(b.count))
            .map(|k| f(self, a.word(k), b.word(k)))
            .collect();
        Parts::of(&words)
    }

    fn binary(&mut self, id: ExprId, op: BinaryOp, left: ExprId, right: ExprId) -> Parts {
        let (ty, varies) = (self.analysis.ty(left), self.analysis.varies(id));
        let arithmetic = matches!(
            op,
            BinaryOp::Add
                | BinaryOp::Subtract
                | BinaryOp::Multiply
                | BinaryOp::Divide
                | BinaryOp::Remainder
        );
        if arithmetic && varies && ty == Type::F32 && self.analysis.ty(right) == Type::F32 {
            if op == BinaryOp::Add
                && let Some(sum) = self.chain(id)
            {
                return Parts::one(sum);
            }
            return Parts::one(self.float_binary(op, left, right));
        }
        let plain = plain(op, ty);
        let (a, b) = (self.value(left), self.value(right));
        self.zip(a, b, |compiler, a, b| compiler.ordered(plain, a, b))
    }

    /// An operation on two words. A scalar on the left that no kernel takes there is moved to the right, if
    /// the operation has a mirrored form.
    pub(super) fn ordered(&mut self, plain: Plain, a: Operand, b: Operand) -> Operand {
        let mirror = match plain {
            Plain::EqF | Plain::NeF | Plain::EqI | Plain::NeI => Some(plain),
            Plain::And | Plain::Or | Plain::Xor => Some(plain),
            Plain::LtF => Some(Plain::GtF),
            Plain::LeF => Some(Plain::GeF),
            Plain::GtF => Some(Plain::LtF),
            Plain::GeF => Some(Plain::LeF),
            Plain::LtI => Some(Plain::GtI),
            Plain::LeI => Some(Plain::GeI),
            Plain::GtI => Some(Plain::LtI),
            Plain::GeI => Some(Plain::LeI),
            Plain::LtU => Some(Plain::GtU),
            Plain::LeU => Some(Plain::GeU),
            Plain::GtU => Some(Plain::LtU),
            Plain::GeU => Some(Plain::LeU),
            _ => None,
        };
        match (a, b, mirror) {
            (Operand::Scalar(_), Operand::Lanes(_), Some(mirror)) => self.apply(mirror, &[b, a]),
            _ => self.apply(plain, &[a, b]),
        }
    }

    fn select(&mut self, condition: ExprId, accept: ExprId, reject: ExprId) -> Parts {
        let (accept, reject) = (self.value(accept), self.value(reject));
        if accept.count == 1
            && let Some(word) = self.choice(condition, [accept.words[0], reject.words[0]])
        {
            return Parts::one(word);
        }
        let condition = self.word(condition);
        self.zip(accept, reject, |compiler, a, b| {
            compiler.apply(Plain::Select, &[condition, a, b])
        })
    }

    fn convert(&mut self, to: Type, value: ExprId) -> Operand {
        let operand = self.word(value);
        let plain = match (self.analysis.ty(value), to) {
            (Type::F32, Type::I32) => Plain::IOfFloat,
            (Type::F32, Type::U32) => Plain::UOfFloat,
            (Type::F32, Type::Bool) => Plain::BoolOfFloat,
            (Type::I32, Type::F32) => Plain::FloatOfI,
            (Type::U32, Type::F32) => Plain::FloatOfU,
            (Type::Bool, Type::F32) => Plain::FloatOfBool,
            (Type::Bool, Type::I32 | Type::U32) => Plain::IntOfBool,
            (Type::I32 | Type::U32, Type::Bool) => Plain::BoolOfInt,
            _ => return operand,
        };
        self.apply(plain, &[operand])
    }

    fn bitcast(&mut self, to: Type, value: ExprId) -> Operand {
        let mut operand = self.word(value);
        if self.analysis.ty(value) == Type::F32 {
            operand = self.apply(Plain::BitsOfFloat, &[operand]);
        }
        match (L::REAL, to) {
            (RealType::F64, Type::F32) => self.apply(Plain::FloatOfBits, &[operand]),
            _ => operand,
        }
    }

    /// A random word of the step that the expression names, or of this one.
    pub(super) fn draw(&mut self, owner: Owner, number: Operand, step: Option<ExprId>) -> Operand {
        match self.generator {
            Generator::KeyedHash => {
                let [a, b] = self.key(owner, step);
                Operand::Lanes(self.lanes(Code::Plain(Plain::Draw), &[a, b, number]))
            }
            Generator::Philox4x32 => {
                let [low, high] = [Known::SeedLow, Known::SeedHigh].map(|known| self.known(known));
                let step = match step {
                    Some(step) => self.word(step),
                    None => Operand::Scalar(self.known(Known::RandomStep)),
                };
                let to = self.temporary();
                // The kernel reads the step from its destination.
                match step {
                    Operand::Scalar(step) => self.spread(to, step),
                    Operand::Lanes(from) => self.push(Instruction::Copy { to, from }),
                }
                let from = [
                    Operand::Lanes(self.stream_of(owner).number),
                    Operand::Scalar(low),
                    Operand::Scalar(high),
                    number,
                ];
                self.lanes_into(to, Code::Plain(Plain::Philox), &from);
                Operand::Lanes(to)
            }
        }
    }

    /// The key of the step that an expression names, or of this one.
    pub(super) fn key(&mut self, owner: Owner, step: Option<ExprId>) -> [Operand; 2] {
        let Some(step) = step else {
            let keys = self.step_keys[owner as usize].expect("a part that draws has a key");
            return keys.map(Operand::Lanes);
        };
        if let Expr::Read(var) = self.program[step]
            && let Some(keys) = self.keys_of_names.get(&(owner, var))
        {
            return keys.map(Operand::Lanes);
        }
        let step = self.word(step);
        self.key_of(owner, step).map(Operand::Lanes)
    }
}

impl Parts {
    pub(super) fn of(words: &[Operand]) -> Parts {
        Parts {
            words: std::array::from_fn(|k| words[k.min(words.len() - 1)]),
            count: words.len(),
        }
    }

    /// Word `k`, or the only word.
    pub(super) fn word(&self, k: usize) -> Operand {
        if self.count == 1 {
            self.words[0]
        } else {
            self.words[k]
        }
    }
}

/// The operation on words of values of that type. Vectors are floats.
fn plain(op: BinaryOp, ty: Type) -> Plain {
    let pick = |float: Plain, signed: Plain, unsigned: Plain| match ty {
        Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => float,
        Type::I32 => signed,
        Type::U32 | Type::Bool => unsigned,
    };
    match op {
        BinaryOp::Add => pick(Plain::AddF, Plain::AddI, Plain::AddI),
        BinaryOp::Subtract => pick(Plain::SubF, Plain::SubI, Plain::SubI),
        BinaryOp::Multiply => pick(Plain::MulF, Plain::MulI, Plain::MulI),
        BinaryOp::Divide => pick(Plain::DivF, Plain::DivI, Plain::DivU),
        BinaryOp::Remainder => pick(Plain::RemF, Plain::RemI, Plain::RemU),
        BinaryOp::Equal => pick(Plain::EqF, Plain::EqI, Plain::EqI),
        BinaryOp::NotEqual => pick(Plain::NeF, Plain::NeI, Plain::NeI),
        BinaryOp::Less => pick(Plain::LtF, Plain::LtI, Plain::LtU),
        BinaryOp::LessEqual => pick(Plain::LeF, Plain::LeI, Plain::LeU),
        BinaryOp::Greater => pick(Plain::GtF, Plain::GtI, Plain::GtU),
        BinaryOp::GreaterEqual => pick(Plain::GeF, Plain::GeI, Plain::GeU),
        BinaryOp::And | BinaryOp::BitAnd => Plain::And,
        BinaryOp::Or | BinaryOp::BitOr => Plain::Or,
        BinaryOp::BitXor => Plain::Xor,
        BinaryOp::ShiftLeft => Plain::ShiftLeft,
        BinaryOp::ShiftRight => pick(Plain::ShiftRightI, Plain::ShiftRightI, Plain::ShiftRightU),
    }
}

/// Only GPU kernels split an agent over several invocations.
fn lanes() -> ! {
    panic!("internal error: the processor got a program that is shared among lanes")
}
