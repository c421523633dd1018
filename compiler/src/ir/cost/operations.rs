//! How much arithmetic a model is: operations counted in the optimised program.
//!
//! The counts are those of a good kernel on a GPU: a multiplication whose only user is an addition is fused
//! with it, signs are free, loads and loop counters are not counted, and of two branches the more expensive
//! one counts. Special functions are one or two operations of the special-function unit and the arithmetic
//! around them, as in fast device functions.

use super::{Amount, Costs};
use crate::{
    builtin::BuiltinId,
    ir::{BinaryOp, Block, Expr, ExprId, Program, Type, UnaryOp},
    random::Generator,
};
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
    let costs = Costs::<Operations>::new(program, generator);
    // A block that draws has the key of its step.
    let block = |block: &Block| {
        let mut draws = false;
        program.each_node_of(block, &mut |id| {
            draws |= matches!(program[id], Expr::RandomWord { .. });
        });
        let key = match (generator, draws) {
            (_, false) => 0,
            (Generator::KeyedHash, true) => 5,
            (Generator::Philox4x32, true) => 1,
        };
        Some(costs.block(program, block)? + Operations::integer(key))
    };
    let sum = |sum: Option<Operations>, found: &Block| Some(sum? + block(found)?);
    let ends = program.ends.iter().map(|phase| &phase.body);
    let once = [&program.init, &program.prologue, &program.finish];
    let sampled = program.samples.iter().map(|sample| &sample.body);
    let step = (program.phases.iter().map(|phase| &phase.body)).chain(sampled);
    Some(Cost {
        once: (once.into_iter().chain(ends)).fold(Some(Operations::default()), sum)?,
        step: step.fold(Some(Operations::default()), sum)?,
    })
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

impl Amount for Operations {
    type Setting = Generator;

    fn node(generator: &Generator, program: &Program, id: ExprId) -> Operations {
        let ty = program.type_of(id);
        let width = ty.components() as u64;
        match &program[id] {
            Expr::Binary(..) => arithmetic(program, id),
            Expr::Unary(UnaryOp::Negate, _) if ty.is_float() => Operations::default(),
            // Fences are in no count: the devices whose rates are known do not need them.
            Expr::Unary(UnaryOp::Not | UnaryOp::Fence | UnaryOp::Keep, _) => Operations::default(),
            Expr::Unary(UnaryOp::Negate | UnaryOp::Complement, _) | Expr::Convert { .. } => {
                Operations::integer(1)
            }
            Expr::Select { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. } => Operations::integer(width),
            Expr::Builtin(builtin, args) => {
                let operand = args.first().map_or(ty, |&arg| program.type_of(arg));
                call(*builtin, operand.is_float(), operand.components() as u64)
            }
            Expr::RandomWord { .. } => Operations::integer(match generator {
                Generator::KeyedHash => 12,
                // Ten rounds of two wide products and four exclusive ors, and the keys, for four words.
                Generator::Philox4x32 => 20,
            }),
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Read(_)
            | Expr::Element { .. }
            | Expr::Other { .. }
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Bitcast { .. }
            | Expr::Call(..) => Operations::default(),
        }
    }

    fn and(self, other: Operations) -> Operations {
        self + other
    }

    fn either(self, other: Operations) -> Operations {
        match self.total() >= other.total() {
            true => self,
            false => other,
        }
    }

    fn repeated(self, iterations: Option<u64>) -> Option<Operations> {
        Some(self * iterations?)
    }
}

/// An operator on two operands, less the multiplication that an addition of floats is fused with.
fn arithmetic(program: &Program, id: ExprId) -> Operations {
    let Expr::Binary(op, a, b) = program[id] else {
        return Operations::default();
    };
    let width = |id| program.type_of(id).components() as u64;
    let is_float = program.type_of(a).is_float();
    let by_literal = matches!(program[b], Expr::Literal(_) | Expr::Double(_));
    let own = binary(op, is_float, by_literal) * width(id);
    let is_sum = matches!(op, BinaryOp::Add | BinaryOp::Subtract) && is_float;
    let is_product = |id: &ExprId| matches!(program[*id], Expr::Binary(BinaryOp::Multiply, _, _));
    let fused = [b, a].into_iter().filter(|_| is_sum).find(is_product);
    Operations {
        float: own.float.saturating_sub(fused.map_or(0, width)),
        ..own
    }
}

/// Operations of the special-function unit in a node without its operands, and without those of a function
/// that it calls.
pub(super) fn special(program: &Program, id: ExprId) -> u32 {
    let own = if let Expr::Binary(..) = program[id] {
        arithmetic(program, id)
    } else if let Expr::Builtin(builtin, args) = &program[id] {
        let operand = args.first().map_or(Type::F32, |&arg| program.type_of(arg));
        call(*builtin, operand.is_float(), operand.components() as u64)
    } else {
        Operations::default()
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
        // Of `bool`s, which comparisons combine for free.
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

/// A builtin whose first operand has this many components.
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
            "state x = 1.0\nstate n = 1\nstate v = vec3(1.0, 2.0, 3.0)\nparam a = 2.0\nparam k = 3\n\
            step {{\n{body}\n}}\noutput x\noutput n\noutput v\n"
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
        // The word, the step's key, and the conversion to a float.
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
