//! The constant factor in `tanh` and `sigmoid` moves into what never changes: `e^2x` is `2^(kx)` with `k = 2 log2 e`,
//! and where `x` is `b + v * w` with `b` and `w` the same in all steps, `kx` is `kb + v * kw`, whose constants are
//! computed once before the time loop.
//!
//! Law: the function's argument is what it was but for roundings. Every term of the sum has a factor that never
//! changes, and nothing else reads that factor: it would need a register more.
//!
//! No pass of the pipeline, as it moves roundings: a kernel's schedule asks for it.

use super::{
    reciprocals::Activation,
    rewrite::{Section, blocks_mut, each_section, operands, reads, roots},
};
use crate::ir::{BinaryOp, Block, Expr, ExprId, Program, Stmt, Type, UnaryOp, Value, VarKind};

/// Moves the factors that can be moved; returns how many.
pub(super) fn run(program: &mut Program) -> u32 {
    let mut scales = Scales {
        reads: reads(program),
        fixed: vec![false; program.vars.len()],
        moved: 0,
    };
    each_section(program, |program, place, block| match place {
        Section::Prologue => {
            for stmt in block.iter() {
                if let Stmt::Let { var, .. } = stmt {
                    scales.fixed[var.0 as usize] = true;
                }
            }
        }
        Section::Step => scales.block(program, block),
        Section::Init | Section::Finish | Section::Function(_) | Section::InputDefault(_) => {}
    });
    scales.moved
}

struct Scales {
    reads: Vec<u32>,
    /// Per variable: is it a name of the prologue?
    fixed: Vec<bool>,
    moved: u32,
}

impl Scales {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block {
            for &root in roots(stmt).iter() {
                self.tree(program, root);
            }
            for inner in blocks_mut(stmt).into_iter().flatten() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner));
            }
        }
    }

    fn tree(&mut self, program: &mut Program, id: ExprId) {
        for &operand in operands(&program[id]).iter() {
            self.tree(program, operand);
        }
        let Some((activation, argument)) = Activation::of(program, id) else {
            return;
        };
        if self.can_scale(program, argument) && !self.is_fixed(program, argument) {
            self.scale(program, argument, activation.factor());
            program.exprs[id.0 as usize] = activation.of_exponent(program, argument, id);
            self.moved += 1;
        }
    }

    fn can_scale(&self, program: &Program, id: ExprId) -> bool {
        match program[id] {
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => {
                self.can_scale(program, a) && self.can_scale(program, b)
            }
            Expr::Binary(BinaryOp::Multiply, a, b) => {
                self.is_fixed(program, a) || self.is_fixed(program, b)
            }
            Expr::Unary(UnaryOp::Negate, inner) => self.can_scale(program, inner),
            _ => self.is_fixed(program, id),
        }
    }

    /// Multiplies a sum that [`Scales::can_scale`] by a factor, in place.
    fn scale(&self, program: &mut Program, id: ExprId, factor: f32) {
        match program[id] {
            Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) => {
                self.scale(program, a, factor);
                self.scale(program, b, factor);
            }
            Expr::Unary(UnaryOp::Negate, inner) => self.scale(program, inner, factor),
            Expr::Binary(BinaryOp::Multiply, a, b) => {
                let fixed = if self.is_fixed(program, b) { b } else { a };
                self.scale(program, fixed, factor);
            }
            _ => {
                let span = program.span(id);
                let before = program[id].clone();
                program.exprs[id.0 as usize] = match before {
                    Expr::Literal(Value::F32(value)) => Expr::Literal(Value::F32(factor * value)),
                    other => {
                        let other = program.add(other, span);
                        let factor = program.add(Expr::Literal(Value::F32(factor)), span);
                        Expr::Binary(BinaryOp::Multiply, factor, other)
                    }
                };
            }
        }
    }

    /// Is it a number that never changes and that nothing else reads?
    fn is_fixed(&self, program: &Program, id: ExprId) -> bool {
        match &program[id] {
            Expr::Literal(Value::F32(_)) => true,
            Expr::Read(var) => {
                let alone = self.reads[var.0 as usize] == 1 && program[*var].ty == Type::F32;
                alone && (self.fixed[var.0 as usize] || program[*var].kind == VarKind::Input)
            }
            _ => false,
        }
    }
}
