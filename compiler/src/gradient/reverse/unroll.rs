//! Several steps of the model as one step of the sweep.
//!
//! The states before each step of the sweep go through memory, which bounds models that compute little, and
//! each fetch is waited for where few agents run. With several steps of the model in each of them it is that
//! much less: what lies between is computed once more, and stays in registers.

use super::{draw_in, nodes, segments::Steps, straight};
use crate::{
    gradient::rules::Copy,
    ir::{
        BinaryOp, Block, Expr, ExprId, Launch, Program, Stmt, Type, UnaryOp, Value, VarId,
        cost::instructions::Weights,
    },
    kernel::time_loop::period,
    span::Span,
};
use std::collections::HashMap;

/// The most steps of the model that are one of the sweep, …
const MOST: u32 = 8;
/// … and the most instructions that they have together, as drivers take long to compile large kernels.
const INSTRUCTIONS: u32 = 4096;

/// The steps of a run as those of a sweep.
pub(super) struct Unrolled {
    /// A step of the sweep.
    pub(super) steps: Steps,
    /// How many of these the run has.
    pub(super) count: u32,
    /// The steps that are left behind the last of them.
    pub(super) rest: Block,
}

/// Unrolls the steps of a run. `source` is the program with the variables of the straight one.
pub(super) fn unrolled(lowered: &Program, source: &mut Program, steps: u32) -> Unrolled {
    let body = lowered.phases.first().map(|phase| phase.body.as_slice());
    let body = body.unwrap_or_default();
    // Each place where the statements of a step are written has names of its own in their place.
    let number = source.add_name("step", Type::I32);
    let random = source.add_name("random_step", Type::U32);
    let stopped = straight::flag_of_stops(source, body);
    let mut together = steps_at_once(lowered, body).min(steps.max(1));
    // An agent that stopped takes none of the rest: there is none.
    while stopped.is_some() && !steps.is_multiple_of(together) {
        together -= 1;
    }
    let mut written = Written {
        lowered,
        source,
        body,
        stopped,
    };
    let mut block = Block::new();
    // The last one first: each one stands under the condition that those before it did not stop.
    for k in (0..together).rev() {
        let [of, random] = [number, random].map(|name| written.place(name, together, k));
        let mut one = written.step(of, random, [together, k]);
        match stopped {
            Some(flag) if !block.is_empty() => {
                let flag = written.add(Expr::Read(flag));
                one.push(Stmt::If {
                    condition: written.add(Expr::Unary(UnaryOp::Not, flag)),
                    accept: block,
                    reject: Block::new(),
                });
            }
            Some(_) | None => one.extend(block),
        }
        block = one;
    }
    if let Some(var) = stopped {
        let value = Some(written.add(Expr::Literal(Value::Bool(false))));
        block.insert(0, Stmt::Var { var, value });
    }
    let count = steps / together;
    let mut rest = Block::new();
    for k in count * together..steps {
        let of = written.add(Expr::Literal(Value::I32(k as i32)));
        let random = written.add(Expr::Literal(Value::U32(k)));
        rest.extend(written.step(of, random, [0, k]));
    }
    Unrolled {
        steps: Steps {
            block: [lowered.prologue.clone(), block].concat(),
            stopped,
            number,
            random,
        },
        count,
        rest,
    }
}

fn steps_at_once(program: &Program, body: &[Stmt]) -> u32 {
    let one = Weights::new(program, ()).of_block(program, body);
    (INSTRUCTIONS / one.instructions.max(1)).clamp(1, MOST)
}

/// The greatest common divisor of a number and a power of two.
fn gcd_with_power(number: u32, power: u32) -> u32 {
    1 << number.trailing_zeros().min(power.trailing_zeros())
}

/// Writes steps of the model into the program that is differentiated.
struct Written<'a> {
    lowered: &'a Program,
    source: &'a mut Program,
    body: &'a [Stmt],
    /// The flag that `stop` sets.
    stopped: Option<VarId>,
}

impl Written<'_> {
    fn add(&mut self, expr: Expr) -> ExprId {
        self.source.add(expr, Span::default())
    }

    /// The step with this number, straight, with variables of its own. The number is a multiple of `of`, and
    /// `k` more: statements for steps that it cannot be are left out.
    fn step(&mut self, number: ExprId, random: ExprId, [of, k]: [u32; 2]) -> Block {
        let mut copy = Copy {
            from: self.lowered,
            into: self.source,
            vars: HashMap::new(),
        };
        let mut copied = copy.block(self.body);
        copied.retain(|stmt| {
            let period = period(self.source, stmt).unwrap_or(1);
            k.is_multiple_of(gcd_with_power(of, period))
        });
        let one = straight::straightened(self.lowered, self.source, &copied, self.stopped);
        let source = &mut *self.source;
        draw_in(source, &one, source[random].clone());
        for id in nodes(source, &one) {
            if source[id] == Expr::Launch(Launch::Step) {
                source[id] = source[number].clone();
            }
        }
        one
    }

    /// The number of the step of the model that is number `k` of those in the step `number` of the sweep.
    fn place(&mut self, number: VarId, together: u32, k: u32) -> ExprId {
        let is_for_draws = self.source[number].ty == Type::U32;
        let [each, k] = [together, k].map(|value| match is_for_draws {
            true => Value::U32(value),
            false => Value::I32(value as i32),
        });
        let number = self.add(Expr::Read(number));
        let each = self.add(Expr::Literal(each));
        let first = self.add(Expr::Binary(BinaryOp::Multiply, number, each));
        let k = self.add(Expr::Literal(k));
        self.add(Expr::Binary(BinaryOp::Add, first, k))
    }
}
