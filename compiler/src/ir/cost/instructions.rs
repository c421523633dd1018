//! How much work a program is: roughly the instructions that a GPU spends on it, for heuristics.

use super::{Amount, Costs, operations};
use crate::ir::{BinaryOp, Expr, ExprId, Launch, Program, Type, VarKind};

/// A load from a buffer, and of four words at once as well.
pub const LOAD: u32 = 4;
const DIVISION: u32 = 8;
const RANDOM_WORD: u32 = 16;
/// The time of an exchange between lanes, in instructions, per halving of their number.
pub const SHUFFLE: u32 = 20;
/// The same for an exchange through workgroup memory: a word written, a barrier, a few words read.
pub const EXCHANGE: u32 = 60;

/// The work of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Instructions: both branches of every `if`, and loops with unknown bounds as one iteration.
    pub instructions: u32,
    /// Operations of the unit for special functions among them.
    pub special: u32,
    /// Is there a loop in it, or in a function that it calls?
    pub loops: bool,
}

/// The work of a program's functions, from which that of all else follows.
pub type Weights = Costs<Weight>;

impl Weights {
    /// The work of a block.
    pub fn of_block(&self, program: &Program, block: &[crate::ir::Stmt]) -> Weight {
        self.block(program, block).unwrap_or_default()
    }

    /// The work of a node without its operands.
    pub fn of_node(&self, program: &Program, id: ExprId) -> Weight {
        self.node(program, id).unwrap_or_default()
    }
}

impl Amount for Weight {
    type Setting = ();

    fn node((): &(), program: &Program, id: ExprId) -> Weight {
        let width = |id| program.type_of(id).components() as u32;
        let instructions = match &program[id] {
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(
                Launch::Agent
                | Launch::Agents
                | Launch::Steps
                | Launch::Step
                | Launch::Member
                | Launch::Members
                | Launch::World
                | Launch::Lane { .. },
            )
            | Expr::Rows(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Bitcast { .. }
            | Expr::Call(..) => 0,
            Expr::Read(var) if program[*var].kind == VarKind::Data => LOAD,
            Expr::Read(_) => 0,
            Expr::Element { array, index } => {
                let known = matches!(program[*index], Expr::Literal(_) | Expr::Double(_));
                if known && program[*array].kind != VarKind::Data {
                    0
                } else {
                    LOAD
                }
            }
            Expr::Other { .. } => LOAD,
            Expr::Unary(..) | Expr::Select { .. } => width(id),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => DIVISION * width(id),
            Expr::Binary(..) => width(id),
            Expr::Convert { to, value } => match (program.type_of(*value), *to) {
                // Saturates.
                (Type::F32, Type::I32 | Type::U32) => LOAD,
                _ => 1,
            },
            Expr::AcrossWorld { .. } => 10 * width(id),
            Expr::AcrossLanes { .. } => SHUFFLE,
            Expr::Shuffle { .. } => LOAD * width(id),
            Expr::Builtin(builtin, args) => {
                let widest = args.iter().map(|&arg| width(arg)).max().unwrap_or(1);
                builtin.row().pure().cost.instructions * widest
            }
            Expr::RandomWord { .. } => RANDOM_WORD,
        };
        Weight {
            instructions,
            special: operations::special(program, id),
            loops: false,
        }
    }

    fn and(self, other: Weight) -> Weight {
        Weight {
            instructions: self.instructions.saturating_add(other.instructions),
            special: self.special.saturating_add(other.special),
            loops: self.loops || other.loops,
        }
    }

    fn repeated(self, iterations: Option<u64>) -> Option<Weight> {
        let times = u32::try_from(iterations.unwrap_or(1)).unwrap_or(u32::MAX);
        Some(Weight {
            instructions: self.instructions.saturating_mul(times),
            special: self.special.saturating_mul(times),
            loops: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(body: &str) -> Weight {
        let source = format!(
            "state x = 0.5 state n = 1u fn f(a: f32) -> f32 {{ return a * a + 1.0 }} step t {{ {body} }} \
            output x output n"
        );
        let program = crate::compile(&source).expect("a legal model").program;
        Weights::new(&program, ()).of_block(&program, &program.phases[0])
    }

    #[test]
    fn work_grows_with_what_is_done() {
        let order = [
            "x = 0.0",
            "x += 1.0",
            "x = f(x)",
            "x = 1.0 / x + x",
            "x = sin(x) / x",
            "n = n * 3u; x = random() + random()",
        ];
        let weights = order.map(|body| step(body).instructions);
        assert!(weights.is_sorted_by(|a, b| a < b), "{weights:?}");
        assert!(!step("x = f(x)").loops);
    }

    #[test]
    fn loops_are_known_and_multiply() {
        let one = step("for k in 0..1000 { x = x * 0.5 + f32(k) }");
        assert!(
            one.loops && (2_000..8_000).contains(&one.instructions),
            "{one:?}"
        );
    }
}
