//! How much arithmetic a model is: operations counted in the optimised program, for comparing a measured time
//! with what a device could do at best.
//!
//! The counts are those of a good kernel on a GPU: a multiplication whose only user is an addition is one
//! operation with it, signs are free, loads and loop counters are nothing, and of two branches the dearer one
//! counts. Special functions are one or two operations of the special-function unit and what stands around
//! them, as fast device functions do it.

use super::{BinaryOp, Block, Expr, ExprId, Program, Stmt, Type, UnaryOp, Value, VarKind};
use crate::{builtin::BuiltinId, random::Generator};
use std::ops::{Add, AddAssign, Mul};

/// Operations by the unit that does them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// Additions, multiplications and fused ones of `f32`.
    pub float: u64,
    /// Roots, reciprocals, exponentials, logarithms, sines.
    pub special: u64,
    /// Integers, bits, comparisons, selections, conversions.
    pub integer: u64,
}

/// The operations of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// In its birth, before the first step and after the last one.
    pub once: Operations,
    /// In each step.
    pub step: Operations,
}

/// What an agent costs; none if the bounds of a loop depend on the run.
pub fn cost(program: &Program, generator: Generator) -> Option<Cost> {
    let mut counter = Counter {
        program,
        generator,
        functions: Vec::with_capacity(program.functions.len()),
    };
    // They call only those before them.
    for function in &program.functions {
        let found = counter.block(&function.body);
        counter.functions.push(found);
    }
    let mut once = Operations::default();
    for block in [&program.init, &program.prologue, &program.finish] {
        once += counter.phase(block)?;
    }
    let mut step = Operations::default();
    for block in &program.phases {
        step += counter.phase(block)?;
    }
    Some(Cost { once, step })
}

impl Operations {
    fn float(count: u64) -> Operations {
        Operations {
            float: count,
            ..Operations::default()
        }
    }

    fn integer(count: u64) -> Operations {
        Operations {
            integer: count,
            ..Operations::default()
        }
    }

    fn special(special: u64, float: u64) -> Operations {
        Operations {
            float,
            special,
            integer: 0,
        }
    }

    /// All of them.
    pub fn total(self) -> u64 {
        self.float
            .saturating_add(self.special)
            .saturating_add(self.integer)
    }
}

impl Add for Operations {
    type Output = Operations;
    fn add(self, other: Operations) -> Operations {
        Operations {
            float: self.float.saturating_add(other.float),
            special: self.special.saturating_add(other.special),
            integer: self.integer.saturating_add(other.integer),
        }
    }
}

impl AddAssign for Operations {
    fn add_assign(&mut self, other: Operations) {
        *self = *self + other;
    }
}

impl Mul<u64> for Operations {
    type Output = Operations;
    fn mul(self, times: u64) -> Operations {
        Operations {
            float: self.float.saturating_mul(times),
            special: self.special.saturating_mul(times),
            integer: self.integer.saturating_mul(times),
        }
    }
}

struct Counter<'a> {
    program: &'a Program,
    generator: Generator,
    /// By function: what a call costs.
    functions: Vec<Option<Operations>>,
}

impl Counter<'_> {
    /// A block that draws under a key of its own.
    fn phase(&self, block: &Block) -> Option<Operations> {
        let found = self.block(block)?;
        let draws = self.draws(block);
        let key = match (self.generator, draws) {
            (_, false) => 0,
            (Generator::KeyedHash, true) => 5,
            (Generator::Philox4x32, true) => 1,
        };
        Some(found + Operations::integer(key))
    }

    fn draws(&self, block: &Block) -> bool {
        block.iter().any(|stmt| match stmt {
            Stmt::If {
                condition,
                accept,
                reject,
            } => self.draws_in(*condition) || self.draws(accept) || self.draws(reject),
            Stmt::For { body, .. } => self.draws(body),
            Stmt::Let { value, .. }
            | Stmt::Assign { value, .. }
            | Stmt::AssignElement { value, .. }
            | Stmt::Return(value) => self.draws_in(*value),
            Stmt::Var { value, .. } => value.is_some_and(|value| self.draws_in(value)),
            Stmt::Break | Stmt::Continue | Stmt::Stop => false,
        })
    }

    fn draws_in(&self, expr: ExprId) -> bool {
        matches!(self.program[expr], Expr::RandomWord { .. })
            || (self.program[expr].operands().iter().copied()).any(|operand| self.draws_in(operand))
    }

    fn block(&self, block: &Block) -> Option<Operations> {
        let mut sum = Operations::default();
        for stmt in block {
            sum += self.stmt(stmt)?;
        }
        Some(sum)
    }

    fn stmt(&self, stmt: &Stmt) -> Option<Operations> {
        Some(match stmt {
            Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
                self.expr(*value)?
            }
            Stmt::Var { value, .. } => match value {
                Some(value) => self.expr(*value)?,
                None => Operations::default(),
            },
            Stmt::AssignElement { index, value, .. } => self.index(*index)? + self.expr(*value)?,
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let (accept, reject) = (self.block(accept)?, self.block(reject)?);
                let dearer = if accept.total() >= reject.total() {
                    accept
                } else {
                    reject
                };
                self.expr(*condition)? + dearer
            }
            Stmt::For {
                start, end, body, ..
            } => {
                let bound = |expr: &ExprId| match self.program[*expr] {
                    Expr::Literal(Value::I32(value)) => Some(i64::from(value)),
                    _ => None,
                };
                let rounds = u64::try_from(bound(end)? - bound(start)?).unwrap_or(0);
                self.block(body)? * rounds
            }
            Stmt::Break | Stmt::Continue | Stmt::Stop => Operations::default(),
        })
    }

    fn expr(&self, id: ExprId) -> Option<Operations> {
        if let Expr::Element { index, .. } = self.program[id] {
            return self.index(index);
        }
        let mut sum = self.own(id)?;
        let operands = self.program[id].operands();
        let fused = self.fused(id);
        for operand in operands {
            if fused == Some(operand) {
                // The multiplication is part of the addition; its own operands are not.
                for inner in self.program[operand].operands() {
                    sum += self.expr(inner)?;
                }
            } else {
                sum += self.expr(operand)?;
            }
        }
        Some(sum)
    }

    /// An index that only counts a loop is part of the address.
    fn index(&self, id: ExprId) -> Option<Operations> {
        match self.program[id] {
            Expr::Read(var) if self.program[var].kind == VarKind::Index => {
                Some(Operations::default())
            }
            _ => self.expr(id),
        }
    }

    /// The multiplication that an addition of floats takes in.
    fn fused(&self, id: ExprId) -> Option<ExprId> {
        let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) = self.program[id] else {
            return None;
        };
        let is_product = |&operand: &ExprId| {
            matches!(
                self.program[operand],
                Expr::Binary(BinaryOp::Multiply, _, _)
            )
        };
        let is_float = self.program.type_of(id).is_float();
        [b, a].into_iter().filter(|_| is_float).find(is_product)
    }

    /// Of the node without its operands.
    fn own(&self, id: ExprId) -> Option<Operations> {
        let ty = self.program.type_of(id);
        let width = ty.components() as u64;
        let none = Operations::default();
        Some(match &self.program[id] {
            Expr::Binary(op, a, b) => {
                let operand = self.program.type_of(*a);
                let by_literal = matches!(self.program[*b], Expr::Literal(_));
                binary(*op, operand.is_float(), by_literal) * width
            }
            Expr::Unary(UnaryOp::Negate, _) if ty.is_float() => none,
            Expr::Unary(UnaryOp::Not, _) => none,
            // Left out of every count: the devices whose rates are known need none.
            Expr::Unary(UnaryOp::Fence | UnaryOp::Keep, _) => none,
            Expr::Unary(..) | Expr::Convert { .. } => Operations::integer(1),
            Expr::Select { .. } | Expr::AcrossLanes { .. } => Operations::integer(width),
            Expr::Builtin(builtin, args) => {
                let operand = args.first().map_or(ty, |&arg| self.program.type_of(arg));
                call(*builtin, operand.is_float(), operand.components() as u64)
            }
            Expr::Call(function, _) => self.functions[function.0 as usize]?,
            Expr::RandomWord { .. } => Operations::integer(match self.generator {
                Generator::KeyedHash => 12,
                // Ten rounds of two wide products and four exclusive ors, and the keys, for four words.
                Generator::Philox4x32 => 20,
            }),
            Expr::Literal(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Bitcast { .. } => none,
        })
    }
}

/// Operations of the special-function unit in a node apart from its operands, without those of a function
/// that it calls.
pub(super) fn special(program: &Program, id: ExprId) -> u32 {
    let own = match &program[id] {
        Expr::Binary(op, a, b) => {
            let by_literal = matches!(program[*b], Expr::Literal(_));
            let width = program.type_of(id).components() as u64;
            binary(*op, program.type_of(*a).is_float(), by_literal) * width
        }
        Expr::Builtin(builtin, args) => {
            let operand = args.first().map_or(Type::F32, |&arg| program.type_of(arg));
            let width = operand.components() as u64;
            call(*builtin, operand.is_float(), width)
        }
        _ => Operations::default(),
    };
    own.special as u32
}

fn binary(op: BinaryOp, is_float: bool, by_literal: bool) -> Operations {
    match op {
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply if is_float => Operations::float(1),
        // By a constant, a multiplication by its reciprocal.
        BinaryOp::Divide if is_float && by_literal => Operations::float(1),
        BinaryOp::Divide if is_float => Operations::special(1, 1),
        BinaryOp::Remainder if is_float => Operations::special(1, 3),
        BinaryOp::Divide | BinaryOp::Remainder => {
            Operations::integer(if by_literal { 3 } else { 12 })
        }
        // Of truth values, which comparisons combine for nothing.
        BinaryOp::And | BinaryOp::Or => Operations::default(),
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => Operations::integer(1),
    }
}

/// A builtin whose first operand has so many components.
fn call(builtin: BuiltinId, is_float: bool, width: u64) -> Operations {
    let cost = builtin.row().pure().cost;
    if is_float && cost.free_of_floats {
        return Operations::default();
    }
    let each = Operations {
        float: cost.float.into(),
        special: cost.special.into(),
        integer: cost.integer.into(),
    };
    each * width + Operations::special(cost.special_once.into(), 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile;

    fn step(body: &str) -> Operations {
        let source = format!(
            "state x = 1.0\nstate n = 1\nstate v = vec3(1.0, 2.0, 3.0)\nparam a = 2.0\nparam k = 3\nstep {{\n{body}\n}}\noutput x\noutput n\noutput v\n"
        );
        let artifact = compile(&source).expect("the model compiles");
        let found = cost(&artifact.program, artifact.options.generator);
        found.expect("its loops are bounded").step
    }

    fn counts(float: u64, special: u64, integer: u64) -> Operations {
        Operations {
            float,
            special,
            integer,
        }
    }

    #[test]
    fn operations_are_counted_as_by_hand() {
        assert_eq!(step("x = a * x + a"), counts(1, 0, 0), "one fused");
        assert_eq!(step("x = x * x * a"), counts(2, 0, 0));
        assert_eq!(step("x = (x - a) / (x + a)"), counts(3, 1, 0));
        assert_eq!(step("x = exp(-x)"), counts(1, 1, 0));
        assert_eq!(step("n = (n ^ k) << 3u"), counts(0, 0, 2));
        assert_eq!(step("v = v * a + v"), counts(3, 0, 0));
        assert_eq!(step("x = max(x, a)"), counts(0, 0, 1));
    }

    #[test]
    fn a_draw_is_a_word_and_its_key() {
        let found = step("x = random()");
        // The word, the step's key, and its way to a float.
        assert_eq!(found, counts(1, 0, 12 + 5 + 2));
        let found = step("x = normal()");
        assert_eq!(found, counts(6, 3, 2 * 12 + 5 + 4));
    }

    #[test]
    fn rounds_multiply_and_the_dearer_branch_counts() {
        let one = step("x = sin(x)");
        let loops = step("for i in 0..1000 { x = sin(x) }");
        assert_eq!(loops, one * 1000);
        let branches = step("if x > a { for i in 0..50 { x = sin(x) } } else { x = x + a }");
        assert_eq!(branches, one * 50 + counts(0, 0, 1));
        let source = "param k = 3\nstate x = 1.0\nstep { for i in 0..k { x = sin(x) } }\noutput x";
        let artifact = compile(source).expect("the model compiles");
        assert_eq!(cost(&artifact.program, artifact.options.generator), None);
    }
}
