//! What code generation knows of each expression beforehand: its type, and whether it is uniform.
//!
//! What is not uniform is *varying*: it takes a register of lanes, what is uniform a scalar.

use sim_compiler::ir::{
    Block, ExprId, ExprMap, Program, Type, VarId, each_statement,
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
            self.types[node] = program.type_by(node, |operand| self.ty(operand));
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
}
