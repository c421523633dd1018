//! Builtins: the operation of each, and functions of whole vectors in terms of their components, in the order
//! of the table's definitions.

use super::{Compiler, Operand, Parts};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Finish, Plain},
};
use sim_compiler::{
    RealType,
    builtin::BuiltinId,
    ir::{Expr, ExprId, Type, Value},
    random::Generator,
};

impl<L: Lane> Compiler<'_, L> {
    /// Compiles a builtin of the table with a pure meaning.
    pub(super) fn builtin(&mut self, id: BuiltinId, args: &[ExprId]) -> Parts {
        let ty = self.analysis.ty(args[0]);
        let varies = self.analysis.varies(args[0]);
        if ty == Type::F32
            && varies
            && let Some(finish) = finish(id)
        {
            return Parts::one(self.finished(finish, args[0]));
        }
        match id {
            BuiltinId::UNIT | BuiltinId::NORMAL_FROM => {
                if let Some(word) = self.draw_number(id, args) {
                    return Parts::one(word);
                }
            }
            BuiltinId::SELECT => {
                let (reject, accept) = (self.value(args[0]), self.value(args[1]));
                let condition = self.word(args[2]);
                return self.zip(accept, reject, |compiler, a, b| {
                    compiler.apply(Plain::Select, &[condition, a, b])
                });
            }
            _ => {}
        }
        let args: Vec<Parts> = args.iter().map(|&arg| self.value(arg)).collect();
        if let Some(parts) = self.of_vectors(id, ty, &args) {
            return parts;
        }
        let plain = Plain::of_builtin(id, ty)
            .unwrap_or_else(|| panic!("internal error: no operation for `{}`", id.row().name));
        let count = args.iter().map(|arg| arg.count).max().unwrap_or(1);
        let words: Vec<Operand> = (0..count)
            .map(|k| {
                let operands: Vec<Operand> = args.iter().map(|arg| arg.word(k)).collect();
                match (plain, operands[0]) {
                    (Plain::Same, operand) => operand,
                    (Plain::Sin | Plain::Cos, Operand::Lanes(from)) => {
                        Operand::Lanes(self.sine(plain, from))
                    }
                    _ => self.apply(plain, &operands),
                }
            })
            .collect();
        Parts::of(&words)
    }

    /// A random number from new words of the default generator, in one instruction.
    fn draw_number(&mut self, id: BuiltinId, args: &[ExprId]) -> Option<Operand> {
        // In wide lanes the loop of all of a normal number takes longer than those of its parts.
        let is_longer = id == BuiltinId::NORMAL_FROM && L::REAL == RealType::F64;
        if self.generator != Generator::KeyedHash || is_longer {
            return None;
        }
        let mut numbers = Vec::new();
        let mut stream = None;
        for &arg in args {
            let Expr::RandomWord {
                owner,
                number,
                step,
            } = self.program[arg]
            else {
                return None;
            };
            numbers.push(number);
            let (first, of_first) = *stream.get_or_insert((owner, step));
            if owner != first || !self.is_same_step(step, of_first) {
                return None;
            }
        }
        let (owner, step) = stream?;
        let numbers: Vec<Operand> = numbers
            .into_iter()
            .map(|number| self.word(number))
            .collect();
        let [a, b] = self.key(owner, step);
        Some(Operand::Lanes(match (id, &numbers[..]) {
            (BuiltinId::UNIT, &[n]) => self.lanes(Code::Plain(Plain::DrawUnit), &[a, b, n]),
            (BuiltinId::NORMAL_FROM, &[n, m]) => {
                self.lanes(Code::Plain(Plain::DrawNormal), &[a, b, n, m])
            }
            _ => return None,
        }))
    }

    /// Are these surely the same step?
    fn is_same_step(&self, a: Option<ExprId>, b: Option<ExprId>) -> bool {
        match (a, b) {
            (None, None) => true,
            (Some(a), Some(b)) => {
                let (a, b) = (&self.program[a], &self.program[b]);
                a == b && matches!(a, Expr::Read(_) | Expr::Literal(_) | Expr::Double(_))
            }
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    fn of_vectors(&mut self, id: BuiltinId, ty: Type, args: &[Parts]) -> Option<Parts> {
        let (sub, mul, div) = (Plain::SubF, Plain::MulF, Plain::DivF);
        Some(match id {
            BuiltinId::DOT => Parts::one(self.dot(args[0], args[1])),
            BuiltinId::LENGTH => Parts::one(self.length(args[0])),
            BuiltinId::DISTANCE => {
                let between = self.each(sub, args[0], args[1]);
                Parts::one(self.length(between))
            }
            BuiltinId::NORMALIZE => {
                let length = self.length(args[0]);
                self.each(div, args[0], Parts::one(length))
            }
            BuiltinId::CROSS => {
                let (a, b) = (args[0].words, args[1].words);
                let words = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
                    let left = self.apply(mul, &[a[i], b[j]]);
                    let right = self.apply(mul, &[a[j], b[i]]);
                    self.apply(sub, &[left, right])
                });
                Parts::of(&words)
            }
            BuiltinId::FACE_FORWARD => {
                let zero = Operand::Scalar(self.constant(L::ZERO));
                let dot = self.dot(args[1], args[2]);
                let facing = self.ordered(Plain::LtF, dot, zero);
                self.map(args[0], |compiler, word| {
                    let back = compiler.apply(Plain::NegF, &[word]);
                    compiler.apply(Plain::Select, &[facing, word, back])
                })
            }
            BuiltinId::REFLECT => {
                let two = self.float(2.0);
                let dot = self.dot(args[1], args[0]);
                let twice = self.apply(mul, &[two, dot]);
                let along = self.each(mul, Parts::one(twice), args[1]);
                self.each(sub, args[0], along)
            }
            BuiltinId::REFRACT => self.refract(args[0], args[1], args[2].words[0]),
            BuiltinId::MIX if ty.is_vector() => {
                let one = self.float(1.0);
                let rest = self.apply(sub, &[one, args[2].words[0]]);
                let a = self.each(mul, args[0], Parts::one(rest));
                let b = self.each(mul, args[1], args[2]);
                self.each(Plain::AddF, a, b)
            }
            _ => return None,
        })
    }

    fn float(&mut self, x: f32) -> Operand {
        self.literal(Value::F32(x.into())).words[0]
    }

    fn each(&mut self, plain: Plain, a: Parts, b: Parts) -> Parts {
        self.zip(a, b, |compiler, a, b| compiler.apply(plain, &[a, b]))
    }

    fn dot(&mut self, a: Parts, b: Parts) -> Operand {
        let products = self.each(Plain::MulF, a, b);
        let mut sum = products.words[0];
        for &product in &products.as_slice()[1..] {
            sum = self.apply(Plain::AddF, &[sum, product]);
        }
        sum
    }

    fn length(&mut self, v: Parts) -> Operand {
        if v.count == 1 {
            return self.apply(Plain::AbsF, &[v.words[0]]);
        }
        let square = self.dot(v, v);
        self.apply(Plain::Sqrt, &[square])
    }

    fn refract(&mut self, v: Parts, normal: Parts, ratio: Operand) -> Parts {
        let (add, sub, mul) = (Plain::AddF, Plain::SubF, Plain::MulF);
        let (zero, one) = (self.float(0.0), self.float(1.0));
        let cosine = self.dot(normal, v);
        let ratio_square = self.apply(mul, &[ratio, ratio]);
        let cosine_square = self.apply(mul, &[cosine, cosine]);
        let sine_square = self.apply(sub, &[one, cosine_square]);
        let product = self.apply(mul, &[ratio_square, sine_square]);
        let k = self.apply(sub, &[one, product]);
        let none = self.ordered(Plain::LtF, k, zero);
        let root = self.apply(Plain::Sqrt, &[k]);
        let scaled = self.apply(mul, &[ratio, cosine]);
        let along = self.apply(add, &[scaled, root]);
        let bent = self.each(mul, Parts::one(ratio), v);
        let back = self.each(mul, Parts::one(along), normal);
        let whole = self.each(sub, bent, back);
        self.map(whole, |compiler, word| {
            compiler.apply(Plain::Select, &[none, zero, word])
        })
    }
}

/// What may end a superinstruction and is this builtin of floats.
fn finish(id: BuiltinId) -> Option<Finish> {
    Some(match id {
        BuiltinId::ABS => Finish::Abs,
        BuiltinId::SQRT => Finish::Sqrt,
        BuiltinId::TANH => Finish::Tanh,
        BuiltinId::SIGMOID => Finish::Sigmoid,
        BuiltinId::EXP => Finish::Exp,
        _ => return None,
    })
}
