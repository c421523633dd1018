//! How much work a program is: roughly the instructions that a GPU spends on it, for choices of size.

use super::{BinaryOp, Expr, ExprId, Launch, Program, Stmt, Type, Value, VarKind, cost};

/// A load from a buffer, and of four words at once as well.
pub const LOAD: u32 = 4;
const DIVISION: u32 = 8;
const RANDOM_WORD: u32 = 16;
/// What lanes tell one another takes as long as so many instructions, per halving of their number.
pub const SHUFFLE: u32 = 20;
/// The same for what they tell one another through workgroup memory: a word written, a barrier, a few words
/// read.
pub const EXCHANGE: u32 = 60;

/// The work of a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// Instructions, both branches of every `if` counted, loops with unknown bounds as one round.
    pub instructions: u32,
    /// Operations of the unit for special functions among them.
    pub special: u32,
    /// Is there a loop in it, or in a function that it calls?
    pub loops: bool,
}

impl Weight {
    /// That of both.
    pub fn and(mut self, other: Weight) -> Weight {
        self.add(other);
        self
    }

    fn add(&mut self, other: Weight) {
        self.instructions = self.instructions.saturating_add(other.instructions);
        self.special = self.special.saturating_add(other.special);
        self.loops |= other.loops;
    }
}

/// The work of each function of a program, from which that of all else follows.
pub struct Weights {
    functions: Vec<Weight>,
}

impl Weights {
    /// Weighs the functions, which call only those before them.
    pub fn new(program: &Program) -> Weights {
        let mut weights = Weights {
            functions: Vec::with_capacity(program.functions.len()),
        };
        for function in &program.functions {
            let weight = weights.block(program, &function.body);
            weights.functions.push(weight);
        }
        weights
    }

    /// The work of a block.
    pub fn block(&self, program: &Program, block: &[Stmt]) -> Weight {
        let mut weight = Weight::default();
        for stmt in block {
            weight.add(self.stmt(program, stmt));
        }
        weight
    }

    fn stmt(&self, program: &Program, stmt: &Stmt) -> Weight {
        let inner =
            |block: &[Stmt]| stacker::maybe_grow(32 << 10, 1 << 20, || self.block(program, block));
        match stmt {
            Stmt::Let { value, .. } | Stmt::Assign { value, .. } | Stmt::Return(value) => {
                self.tree(program, *value)
            }
            Stmt::Var { value, .. } => {
                value.map_or(Weight::default(), |value| self.tree(program, value))
            }
            Stmt::AssignElement { index, value, .. } => {
                let mut weight = self.tree(program, *index);
                weight.add(self.tree(program, *value));
                weight
            }
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                let mut weight = self.tree(program, *condition);
                weight.add(inner(accept));
                weight.add(inner(reject));
                weight
            }
            Stmt::For {
                start, end, body, ..
            } => {
                let mut weight = inner(body);
                let rounds = match (&program[*start], &program[*end]) {
                    (Expr::Literal(Value::I32(start)), Expr::Literal(Value::I32(end))) => {
                        u32::try_from(i64::from(*end) - i64::from(*start)).unwrap_or(0)
                    }
                    _ => 1,
                };
                weight.instructions = weight.instructions.saturating_mul(rounds);
                weight.special = weight.special.saturating_mul(rounds);
                weight.add(self.tree(program, *start));
                weight.add(self.tree(program, *end));
                weight.loops = true;
                weight
            }
            Stmt::Break | Stmt::Continue | Stmt::Stop => Weight::default(),
        }
    }

    /// The work of an expression.
    pub fn tree(&self, program: &Program, root: ExprId) -> Weight {
        let mut weight = Weight::default();
        let mut pending = vec![root];
        while let Some(id) = pending.pop() {
            weight.add(self.node(program, id));
            pending.extend_from_slice(&program[id].operands());
        }
        weight
    }

    /// The work of a node apart from its operands.
    pub fn node(&self, program: &Program, id: ExprId) -> Weight {
        let width = |id| program.type_of(id).components() as u32;
        let instructions = match &program[id] {
            Expr::Literal(_)
            | Expr::Launch(
                Launch::Agent | Launch::Agents | Launch::Steps | Launch::Step | Launch::Lane { .. },
            )
            | Expr::Rows(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Bitcast { .. } => 0,
            Expr::Read(var) if program[*var].kind == VarKind::Data => LOAD,
            Expr::Read(_) => 0,
            Expr::Element { array, index } => {
                let known = matches!(program[*index], Expr::Literal(_));
                if known && program[*array].kind != VarKind::Data {
                    0
                } else {
                    LOAD
                }
            }
            Expr::Unary(..) | Expr::Select { .. } => width(id),
            Expr::Binary(BinaryOp::Divide | BinaryOp::Remainder, ..) => DIVISION * width(id),
            Expr::Binary(..) => width(id),
            Expr::Convert { to, value } => match (program.type_of(*value), *to) {
                // Saturates.
                (Type::F32, Type::I32 | Type::U32) => LOAD,
                _ => 1,
            },
            Expr::AcrossLanes { .. } => SHUFFLE,
            Expr::Builtin(builtin, args) => {
                let widest = args.iter().map(|&arg| width(arg)).max().unwrap_or(1);
                builtin.row().pure().cost.instructions * widest
            }
            Expr::Call(function, _) => return self.functions[function.0 as usize],
            Expr::RandomWord { .. } => RANDOM_WORD,
        };
        Weight {
            instructions,
            special: cost::special(program, id),
            loops: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(body: &str) -> Weight {
        let source = format!(
            "state x = 0.5 state n = 1u fn f(a: f32) -> f32 {{ return a * a + 1.0 }} step t {{ {body} }} output x output n"
        );
        let program = crate::compile(&source).expect("a legal model").program;
        Weights::new(&program).block(&program, &program.phases[0])
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
