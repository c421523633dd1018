//! What code generation knows of each expression beforehand: its type, and whether it is uniform.
//!
//! What is not uniform is *varying*: it takes a register of lanes, what is uniform a scalar.

use sim_compiler::ir::{
    Block, ExprId, ExprMap, Program, Type, VarId, each_statement,
    uniformity::{Scope, Sharing, Tracking, Uniformity},
};

/// The result.
pub struct Analysis {
    types: ExprMap<Type>,
    uniformity: Uniformity,
    /// The widest scope of what is uniform in a block.
    uniform: Scope,
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
            uniform: Scope::Step,
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

    /// From here on, a block has agents of one world only.
    pub fn one_world(&mut self) {
        self.uniform = Scope::World;
    }

    /// Whether values differ that some share.
    fn differs(&self, sharing: Sharing) -> bool {
        sharing.scope > self.uniform
    }

    /// Whether an expression is varying. Uniform expressions become scalars.
    pub fn varies(&self, id: ExprId) -> bool {
        self.differs(self.uniformity.of(id))
    }

    /// Whether a variable is varying.
    pub fn var_varies(&self, id: VarId) -> bool {
        self.differs(self.uniformity.of_var(id))
    }

    /// How control flow diverges in the body of a loop.
    pub fn parting(&self, body: &Block) -> Parting {
        let jumps = self.uniformity.jumps(body);
        Parting {
            rounds: self.differs(jumps.iterations),
            breaks: self.differs(jumps.breaks),
        }
    }
}
