//! Arithmetic fences: WGSL lets a driver's compiler contract and reassociate sums.
//!
//! * Where a sum subtracts a term again, as compensated sums do, its operands get fences: `(x + y) - x` is
//!   there for its rounding, and every compiler that was tested simplifies it to `y`.
//! * A difference or quotient of a value and itself gets one: compilers fold them to 0 and 1, also where the
//!   value is NaN, infinite or 0 (NVIDIA's the 1).
//!
//! And for compilers that also reassociate other sums: Mesa's turns `x + (a * b + c * d)` into `fma(a, b,
//! fma(c, d, x))`.
//!
//! * What a variable adds to itself, if it is a sum, gets a fence: else the roundings of `x + c * d` would
//!   add up over the steps wherever `c * d` is nearly the same in each.
//! * A product that is invariant in the time loop gets one: contracted into a sum of the loop it would be
//!   another number there, by the same rounding in every step.
//!
//! Invariant: each value is the same to the bit. This is not a pass of the pipeline: CPUs need no fences.

use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, Program, Section, Stmt, UnaryOp},
    kernel::analysis::{accumulators::Accumulators, free_sums::FreeSums},
    passes::shape::identical,
};

/// A program with its fences, for a device whose compiler keeps the order of other sums or may not; none if
/// it needs none.
pub(crate) fn fenced(program: &Program, keeps_order: bool) -> Option<Program> {
    let mut program = program.clone();
    let mut pass = Fences {
        keeps_order,
        accumulators: Accumulators::new(&program, Accumulators::blocks(&program)),
        sums: FreeSums::new(&program, Accumulators::blocks(&program)),
        around: None,
        count: 0,
    };
    program.each_section(|program, section, block| {
        if !matches!(section, Section::InputDefault(_)) {
            pass.block(program, block, section);
        }
    });
    (pass.count > 0).then_some(program)
}

struct Fences {
    keeps_order: bool,
    accumulators: Accumulators,
    sums: FreeSums,
    /// Whether the sum around the current node subtracts a term again, if there is one.
    around: Option<bool>,
    count: u32,
}

impl Fences {
    fn block(&mut self, program: &mut Program, block: &mut Block, section: Section) {
        for stmt in block {
            stmt.map_roots(|root| {
                self.tree(program, root);
                root
            });
            if let Stmt::Let { value, .. } = stmt
                && section == Section::Prologue
                && !self.keeps_order
                && let Expr::Binary(BinaryOp::Multiply, ..) = program[*value]
                && program.type_of(*value).is_float()
            {
                *value = self.fence(program, *value);
            }
            for inner in stmt.blocks_mut() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, inner, section));
            }
        }
    }

    fn tree(&mut self, program: &mut Program, id: ExprId) {
        let around = self.around;
        self.around =
            is_sum(program, id).then(|| around.unwrap_or_else(|| self.sums.takes_off(program, id)));
        for &operand in program[id].operands().iter() {
            self.tree(program, operand);
        }
        let takes_off = std::mem::replace(&mut self.around, around) == Some(true);
        if let Expr::Binary(op @ (BinaryOp::Subtract | BinaryOp::Divide), a, b) = program[id]
            && program.type_of(id).is_float()
            && identical(program, a, b)
        {
            let b = self.fence(program, b);
            program[id] = Expr::Binary(op, a, b);
            return;
        }
        if !takes_off && (self.keeps_order || !self.accumulators.contains(id)) {
            return;
        }
        let mut expr = program[id].clone();
        expr.map_operands(|operand| {
            let named = self.accumulators.named(program, operand);
            let value = named.unwrap_or(operand);
            match is_sum(program, value) && (takes_off || !self.accumulators.continues(value, id)) {
                true => self.fence(program, operand),
                false => operand,
            }
        });
        program[id] = expr;
    }

    fn fence(&mut self, program: &mut Program, id: ExprId) -> ExprId {
        self.count += 1;
        let span = program.span(id);
        program.add(Expr::Unary(UnaryOp::Fence, id), span)
    }
}

/// Is it a sum or difference of floats?
fn is_sum(program: &Program, id: ExprId) -> bool {
    matches!(
        program[id],
        Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, ..)
    ) && program.type_of(id).is_float()
}
