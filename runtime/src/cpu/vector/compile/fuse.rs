//! Selects the expressions that become superinstructions. This changes neither values nor rounding.

use super::{Compiler, Operand};
use crate::cpu::vector::{
    kernel::Lane,
    op::{Code, Finish, Fused, Plain, Term, Test},
    program::Register,
};
use sim_compiler::ir::{BinaryOp, Expr, ExprId, Type};

/// An operand of a float expression that may not be computed yet.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// It is computed.
    Whole(Operand),
    /// An operation, to be fused with its user.
    Pair(Term, Operand, Operand),
}

/// The least number of terms of a sum that is accumulated in place, all products but perhaps the first.
const CHAIN: usize = 3;

/// The operation that updates `to` in place, given the code that computes its new value from operands.
pub(super) fn in_place(
    code: Code,
    to: Register,
    [a, b, c]: [Operand; 3],
) -> Option<(Fused, Vec<Operand>)> {
    let to = Operand::Lanes(to);
    let term = match code {
        Code::Plain(Plain::AddF) => Term::Add,
        Code::Plain(Plain::SubF) => Term::Sub,
        Code::Plain(Plain::MulF) => Term::Mul,
        Code::Plain(Plain::DivF) => Term::Div,
        Code::Fused(Fused::Then(Term::Mul, Term::Add)) if c == to && a != to && b != to => {
            return Some((Fused::Accumulate, vec![a, b]));
        }
        Code::Fused(Fused::From(Term::Sub, Term::Mul)) if c == to && a != to && b != to => {
            return Some((Fused::Deduct, vec![a, b]));
        }
        _ => return None,
    };
    match term {
        _ if a == to && b != to => Some((Fused::Update(term), vec![b])),
        Term::Add | Term::Mul if b == to && a != to => Some((Fused::Update(term), vec![a])),
        _ => None,
    }
}

impl<L: Lane> Compiler<'_, L> {
    /// `left op right` of floats, varying.
    pub(super) fn float_binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> Operand {
        let Some(term) = term(op) else {
            let operands = [self.word(left), self.word(right)];
            return self.apply(Plain::RemF, &operands);
        };
        let left = self.piece(left);
        let right = self.piece(right);
        self.join(term, left, right)
    }

    /// Accumulates a sum that ends in at least two products in place; `None` for other sums.
    pub(super) fn chain(&mut self, root: ExprId) -> Option<Operand> {
        let mut terms = Vec::new();
        let mut node = root;
        while let Expr::Binary(BinaryOp::Add, left, right) = self.program[node]
            && self.is_product(right)
        {
            terms.push(right);
            node = left;
        }
        if terms.len() < CHAIN - 1 {
            return None;
        }
        terms.push(node);
        terms.reverse();
        let first = self.piece(terms[0]);
        let second = self.piece(terms[1]);
        let mut sum = self.join(Term::Add, first, second);
        let mut k = 2;
        while k < terms.len() {
            let one = self.piece(terms[k]);
            k += 1;
            let Operand::Lanes(register) = sum else {
                // All terms so far are scalars, which occurs only in the body of an inlined function.
                sum = self.join(Term::Add, Piece::Whole(sum), one);
                continue;
            };
            sum = match one {
                Piece::Pair(Term::Mul, a, b) if !self.named[register as usize] => {
                    let two = terms.get(k).map(|&term| self.piece(term));
                    match two {
                        Some(Piece::Pair(Term::Mul, c, e)) => {
                            self.lanes_into(
                                register,
                                Code::Fused(Fused::AccumulateTwo),
                                &[a, b, c, e],
                            );
                            k += 1;
                            sum
                        }
                        other => {
                            self.lanes_into(register, Code::Fused(Fused::Accumulate), &[a, b]);
                            if let Some(other) = other {
                                k += 1;
                                self.join(Term::Add, Piece::Whole(sum), other)
                            } else {
                                sum
                            }
                        }
                    }
                }
                other => self.join(Term::Add, Piece::Whole(sum), other),
            };
        }
        Some(sum)
    }

    fn is_product(&self, node: ExprId) -> bool {
        matches!(self.program[node], Expr::Binary(BinaryOp::Multiply, ..))
            && self.analysis.varies(node)
    }

    /// An expression as a piece: of sums, differences and products only the operands are computed.
    fn piece(&mut self, node: ExprId) -> Piece {
        let float = self.analysis.ty(node) == Type::F32 && self.analysis.varies(node);
        if let Expr::Binary(op, left, right) = self.program[node]
            && let Some(inner @ (Term::Add | Term::Sub | Term::Mul)) = term(op)
            && float
        {
            if inner == Term::Add
                && let Some(sum) = self.chain(node)
            {
                return Piece::Whole(sum);
            }
            let (a, b) = (self.word(left), self.word(right));
            return match (inner, a, b) {
                (_, Operand::Scalar(_), Operand::Scalar(_)) => {
                    Piece::Whole(self.apply(plain(inner), &[a, b]))
                }
                // The operations commute, and kernels for two pairs take scalars on the right.
                (Term::Add | Term::Mul, Operand::Scalar(_), _) => Piece::Pair(inner, b, a),
                _ => Piece::Pair(inner, a, b),
            };
        }
        Piece::Whole(self.word(node))
    }

    /// `left term right`.
    fn join(&mut self, term: Term, left: Piece, right: Piece) -> Operand {
        let (code, operands) = match (left, right) {
            (Piece::Whole(a), Piece::Whole(b)) => return self.apply(plain(term), &[a, b]),
            (Piece::Pair(inner, a, b), Piece::Whole(c)) => {
                (Fused::Then(inner, term), vec![a, b, c])
            }
            (Piece::Whole(c), Piece::Pair(inner, a, b)) => match term {
                Term::Add | Term::Mul => (Fused::Then(inner, term), vec![a, b, c]),
                Term::Sub | Term::Div => (Fused::From(term, inner), vec![a, b, c]),
            },
            (Piece::Pair(p, a, b), Piece::Pair(q, c, e)) => {
                (Fused::Both(p, q, term), vec![a, b, c, e])
            }
        };
        Operand::Lanes(self.lanes(Code::Fused(code), &operands))
    }

    /// A function of one float, fused with the operation of its argument if there is one.
    pub(super) fn finished(&mut self, finish: Finish, inner: ExprId) -> Operand {
        match self.piece(inner) {
            Piece::Whole(a) => {
                let plain = match finish {
                    Finish::Abs => Plain::AbsF,
                    Finish::Neg => Plain::NegF,
                    Finish::Sqrt => Plain::Sqrt,
                    Finish::Tanh => Plain::Tanh,
                    Finish::Sigmoid => Plain::Sigmoid,
                    Finish::Exp => Plain::Exp,
                };
                self.apply(plain, &[a])
            }
            Piece::Pair(term, a, b) => {
                let code = Code::Fused(Fused::Finish(finish, term));
                Operand::Lanes(self.lanes(code, &[a, b]))
            }
        }
    }

    /// A selection between two words by a comparison, in one instruction; `None` if there is none for it.
    pub(super) fn choice(
        &mut self,
        condition: ExprId,
        [accept, reject]: [Operand; 2],
    ) -> Option<Operand> {
        let Expr::Binary(op, left, right) = self.program[condition] else {
            return None;
        };
        if !self.analysis.varies(condition) {
            return None;
        }
        let ty = self.analysis.ty(left);
        // The test, and whether it is inverted.
        let (test, opposite) = match (ty, op) {
            (Type::F32, BinaryOp::Equal) => (Test::EqF, false),
            (Type::F32, BinaryOp::NotEqual) => (Test::EqF, true),
            (Type::F32, BinaryOp::Less) => (Test::LtF, false),
            (Type::F32, BinaryOp::LessEqual) => (Test::LeF, false),
            (Type::F32, BinaryOp::Greater) => (Test::GtF, false),
            (Type::F32, BinaryOp::GreaterEqual) => (Test::GeF, false),
            (Type::I32 | Type::U32, BinaryOp::Equal) => (Test::EqI, false),
            (Type::I32 | Type::U32, BinaryOp::NotEqual) => (Test::EqI, true),
            (Type::I32, BinaryOp::Less) => (Test::LtI, false),
            (Type::I32, BinaryOp::GreaterEqual) => (Test::LtI, true),
            (Type::I32, BinaryOp::Greater) => (Test::GtI, false),
            (Type::I32, BinaryOp::LessEqual) => (Test::GtI, true),
            _ => return None,
        };
        let (mut a, mut b) = (self.word(left), self.word(right));
        let test = match (a, b) {
            (Operand::Scalar(_), Operand::Scalar(_)) => return None,
            (Operand::Scalar(_), Operand::Lanes(_)) => {
                (a, b) = (b, a);
                mirrored(test)
            }
            _ => test,
        };
        let (c, e) = match opposite {
            false => (accept, reject),
            true => (reject, accept),
        };
        let code = Code::Fused(Fused::Choose(test));
        Some(Operand::Lanes(self.lanes(code, &[a, b, c, e])))
    }
}

/// The test with its operands exchanged.
fn mirrored(test: Test) -> Test {
    match test {
        Test::EqF => Test::EqF,
        Test::LtF => Test::GtF,
        Test::LeF => Test::GeF,
        Test::GtF => Test::LtF,
        Test::GeF => Test::LeF,
        Test::EqI => Test::EqI,
        Test::LtI => Test::GtI,
        Test::GtI => Test::LtI,
    }
}

fn term(op: BinaryOp) -> Option<Term> {
    match op {
        BinaryOp::Add => Some(Term::Add),
        BinaryOp::Subtract => Some(Term::Sub),
        BinaryOp::Multiply => Some(Term::Mul),
        BinaryOp::Divide => Some(Term::Div),
        BinaryOp::Remainder
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => None,
    }
}

fn plain(term: Term) -> Plain {
    match term {
        Term::Add => Plain::AddF,
        Term::Sub => Plain::SubF,
        Term::Mul => Plain::MulF,
        Term::Div => Plain::DivF,
    }
}
