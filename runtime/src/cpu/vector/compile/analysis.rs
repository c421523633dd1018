//! What code generation knows of each expression beforehand: its type, and whether it is uniform.
//!
//! What is not uniform is *varying*: it takes a register of lanes, what is uniform a scalar.

use sim_compiler::ir::{
    BinaryOp, Block, Expr, ExprId, ExprMap, Program, Type, VarId, each_statement,
    uniformity::{Tracking, Uniformity},
};

/// The result.
pub struct Analysis {
    types: ExprMap<Type>,
    uniformity: Uniformity,
}

/// How control flow diverges in a loop.
#[derive(Clone, Copy, Debug, Default)]
pub struct Parting {
    /// Some agents may end an iteration while others continue with it.
    pub rounds: bool,
    /// Some agents may leave the loop while others stay.
    pub breaks: bool,
}

impl Analysis {
    /// Analyses a program that `ir::verify` accepts.
    pub fn new(program: &Program) -> Analysis {
        let mut analysis = Analysis {
            types: ExprMap::filled(Type::F32, program.exprs.len()),
            uniformity: Uniformity::new(program, Tracking::Variables),
        };
        for section in program.sections() {
            each_statement(program.section(section), &mut |stmt| {
                for &root in stmt.roots().iter() {
                    analysis.find_types(program, root);
                }
            });
        }
        analysis
    }

    /// The types of a tree, operands before users. Without recursion: a tree may be deep.
    fn find_types(&mut self, program: &Program, root: ExprId) {
        let nodes: Vec<ExprId> = program.nodes(root).collect();
        for &node in nodes.iter().rev() {
            self.types[node] = self.type_of(program, node);
        }
    }

    /// The type of an expression.
    pub fn ty(&self, id: ExprId) -> Type {
        self.types[id]
    }

    /// Whether an expression is varying. Uniform expressions become scalars.
    pub fn varies(&self, id: ExprId) -> bool {
        !self.uniformity.of(id).is_uniform()
    }

    /// Whether a variable is varying.
    pub fn var_varies(&self, id: VarId) -> bool {
        !self.uniformity.of_var(id).is_uniform()
    }

    /// How control flow diverges in the body of a loop.
    pub fn parting(&self, body: &Block) -> Parting {
        let jumps = self.uniformity.jumps(body);
        Parting {
            rounds: !jumps.iterations.is_uniform(),
            breaks: !jumps.breaks.is_uniform(),
        }
    }

    /// Like `Program::type_of`, with the types of operands known.
    fn type_of(&self, program: &Program, node: ExprId) -> Type {
        match &program[node] {
            Expr::Unary(_, a) | Expr::Select { accept: a, .. } => self.ty(*a),
            Expr::Binary(op, a, b) if !is_comparison(*op) => match self.ty(*a) {
                Type::F32 => self.ty(*b),
                other => other,
            },
            Expr::Builtin(id, args) => {
                let types: Vec<Type> = args.iter().map(|&arg| self.ty(arg)).collect();
                id.row().result(&types)
            }
            // The operand types of other expressions are not needed.
            _ => program.type_of(node),
        }
    }
}

/// Whether the result is a `bool`.
fn is_comparison(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterEqual
        | BinaryOp::And
        | BinaryOp::Or => true,
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::ShiftLeft
        | BinaryOp::ShiftRight => false,
    }
}
