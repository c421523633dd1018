//! A division whose divisor holds a division: `n / (a - b / d)` becomes `n * d / (a * d - b)`. The outer one then
//! need not wait for the inner: a GPU that holds few agents waits for each reciprocal some twenty cycles. Quotients
//! by the same `d` in the dividend lose their division, too. And divisions that do not wait for one another
//! can share a reciprocal ([`crate::kernel::relax::shared_reciprocals`]).
//!
//! Law: each quotient is what it was but for some roundings. `d` is a name for a number between 1/1,024 and 1,024
//! in size, or NaN, whatever the launch (see [`crate::kernel::analysis::intervals`]), so that no product with it underflows or
//! overflows but at the ends of the range of `f32`; of a NaN both forms make NaN. A sum that takes a term off again is
//! there for its rounding, and stays.
//!
//! No pass of the pipeline, as it moves roundings: a kernel's schedule asks for it.

use crate::{
    ir::{BinaryOp, Block, Expr, ExprId, Program, Stmt, Type},
    kernel::{
        analysis::{
            agent_dependence::Personal,
            intervals::Intervals,
            terms::{Term, sum, terms},
        },
        relax::fma_chains,
    },
    passes::{
        rewrite::{Section, blocks_mut, each_section, operands, roots},
        shape::alike,
    },
};

/// Terms of a divisor beyond which it stays as it is.
const MAX_TERMS: usize = 64;
/// Sizes of divisors that products may take in.
const SIZES: std::ops::RangeInclusive<f64> = 1.0 / 1024.0..=1024.0;

/// Changes what there is; returns how many divisions it changed.
pub(crate) fn run(program: &mut Program) -> u32 {
    let mut pass = Quotients {
        personal: Personal::new(program),
        intervals: Intervals::of_numbers(program),
        changed: 0,
    };
    each_section(program, |program, place, block| match place {
        Section::Function(_) | Section::InputDefault(_) => {}
        Section::Init | Section::Prologue | Section::Step | Section::Finish => {
            pass.block(program, block);
        }
    });
    pass.changed
}

struct Quotients {
    personal: Personal,
    intervals: Intervals,
    changed: u32,
}

impl Quotients {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block {
            for &root in roots(stmt).iter() {
                self.tree(program, root);
            }
            if let Stmt::Let { var, value } = stmt {
                self.intervals.name(program, *var, *value);
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
        let Expr::Binary(BinaryOp::Divide, dividend, divisor) = program[id] else {
            return;
        };
        if program.type_of(id) != Type::F32 || program.type_of(divisor) != Type::F32 {
            return;
        }
        let below = terms(program, divisor);
        let Some(inner) = below.iter().find_map(|(term, _)| inner(program, *term)) else {
            return;
        };
        if below.len() > MAX_TERMS
            || fma_chains::has_roundings(program, divisor)
            || fma_chains::has_roundings(program, dividend)
        {
            return;
        }
        // Another divisor among them would wait as before.
        let others = |&(term, _): &Term| {
            self::inner(program, term).is_some_and(|other| !alike(program, other, inner))
        };
        if below.len() < 2 || below.iter().any(others) || !self.may_multiply(program, inner) {
            return;
        }
        let above = terms(program, dividend);
        if above.len() > MAX_TERMS {
            return;
        }
        let by = program[inner].clone();
        let [dividend, divisor] =
            [above, below].map(|terms| multiplied(program, &terms, inner, &by));
        program.exprs[id.0 as usize] = Expr::Binary(BinaryOp::Divide, dividend, divisor);
        self.changed += 1;
    }

    /// Is this a name for an agent's own number of moderate size?
    fn may_multiply(&mut self, program: &Program, id: ExprId) -> bool {
        let Some(interval) = self.intervals.of(program, id) else {
            return false;
        };
        let sizes = [interval.low.abs(), interval.high.abs()];
        matches!(program[id], Expr::Read(_))
            && (interval.low > 0.0) == (interval.high > 0.0)
            && sizes.iter().all(|size| SIZES.contains(size))
            && self.personal.of(program, id)
    }
}

/// What a product of scalars is divided by; none if by a literal, which devices multiply, or by nothing.
fn inner(program: &Program, id: ExprId) -> Option<ExprId> {
    match program[id] {
        Expr::Binary(BinaryOp::Divide, _, by) => {
            (!matches!(program[by], Expr::Literal(_))).then_some(by)
        }
        Expr::Binary(BinaryOp::Multiply, a, b) => inner(program, a).or_else(|| inner(program, b)),
        _ => None,
    }
}

/// The product without the division that [`inner`] found.
fn undivided(program: &mut Program, id: ExprId) -> ExprId {
    let span = program.span(id);
    match program[id] {
        Expr::Binary(BinaryOp::Divide, a, _) => a,
        Expr::Binary(BinaryOp::Multiply, a, b) => {
            let (a, b) = match inner(program, a) {
                Some(_) => (undivided(program, a), b),
                None => (a, undivided(program, b)),
            };
            program.add(Expr::Binary(BinaryOp::Multiply, a, b), span)
        }
        _ => id,
    }
}

/// A sum times a divisor of some of its terms, which is `by`.
fn multiplied(program: &mut Program, terms: &[Term], divisor: ExprId, by: &Expr) -> ExprId {
    let span = program.span(divisor);
    let (divided, rest): (Vec<Term>, Vec<Term>) = terms.iter().partition(|(term, _)| {
        inner(program, *term).is_some_and(|other| alike(program, other, divisor))
    });
    let mut new = Vec::with_capacity(divided.len() + 1);
    if !rest.is_empty() {
        let rest = sum(program, &rest, span);
        let by = program.add(by.clone(), span);
        new.push((
            program.add(Expr::Binary(BinaryOp::Multiply, rest, by), span),
            false,
        ));
    }
    for (term, negative) in divided {
        new.push((undivided(program, term), negative));
    }
    sum(program, &new, span)
}
