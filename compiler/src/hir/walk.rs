//! What an expression of the checked model consists of.

use super::{Block, Comprehension, Domain, ExprId, ExprKind, Model, Stmt, StmtKind};

impl Model {
    /// The expressions directly below one, in evaluation order.
    pub fn operands(&self, id: ExprId) -> Vec<ExprId> {
        match &self[id].kind {
            ExprKind::Constant(_)
            | ExprKind::Local(_)
            | ExprKind::Param(_)
            | ExprKind::Data(_)
            | ExprKind::Input(_)
            | ExprKind::State(_)
            | ExprKind::Launch(_)
            | ExprKind::Rows(_)
            | ExprKind::TakeWords(_)
            | ExprKind::Error(_) => Vec::new(),
            ExprKind::WorldAt(one)
            | ExprKind::Of(one, _)
            | ExprKind::Unary(_, one)
            | ExprKind::Convert(one)
            | ExprKind::Bitcast(one)
            | ExprKind::RandomWord(one)
            | ExprKind::FoldArray(_, one)
            | ExprKind::Splat(one)
            | ExprKind::Field(one, _)
            | ExprKind::Swizzle(one, _)
            | ExprKind::Repeat(one) => vec![*one],
            ExprKind::Binary(_, a, b) | ExprKind::Index(a, b) => vec![*a, *b],
            ExprKind::Builtin(_, args)
            | ExprKind::Draw(_, args)
            | ExprKind::Call(_, args)
            | ExprKind::Compose(args)
            | ExprKind::Array(args) => args.clone(),
            ExprKind::Fold(_, over) | ExprKind::Comprehension(over) => over.operands(),
            ExprKind::If {
                branches,
                otherwise,
            } => {
                let branches = branches
                    .iter()
                    .flat_map(|(condition, value)| [*condition, *value]);
                branches.chain([*otherwise]).collect()
            }
        }
    }
}

impl Model {
    /// Takes every `assert` out: a program without checks computes nothing for them.
    pub fn drop_assertions(&mut self) {
        let steps = self.step.iter_mut().map(|block| &mut block.body);
        let bodies = self.functions.iter_mut().map(|function| {
            function.asserts = false;
            &mut function.body
        });
        let others = self.init.iter_mut().chain(&mut self.finish);
        steps
            .chain(others)
            .chain(bodies)
            .for_each(without_assertions);
    }
}

fn without_assertions(block: &mut Block) {
    block.retain(|stmt| !matches!(stmt.kind, StmtKind::Assert { .. }));
    for inner in block.iter_mut().flat_map(Stmt::blocks_mut) {
        stacker::maybe_grow(32 << 10, 1 << 20, || without_assertions(inner));
    }
}

impl Comprehension {
    /// Its ends, filter and value.
    pub fn operands(&self) -> Vec<ExprId> {
        let ends = match self.domain {
            Domain::Range(start, end) => vec![start, end],
            Domain::World => Vec::new(),
        };
        let ends = ends.into_iter();
        ends.chain(self.filter).chain([self.value]).collect()
    }
}

impl Stmt {
    /// The expressions that the statement itself evaluates; those of its blocks are not among them.
    pub fn roots(&self) -> Vec<ExprId> {
        match &self.kind {
            StmtKind::Declare { value, .. }
            | StmtKind::Equation { value, .. }
            | StmtKind::Match { value, .. }
            | StmtKind::Return(value) => vec![*value],
            StmtKind::Assign { place, value, .. } => vec![*place, *value],
            StmtKind::If { branches, .. } => {
                branches.iter().map(|(condition, _)| *condition).collect()
            }
            StmtKind::For { domain, .. } => match *domain {
                Domain::Range(start, end) => vec![start, end],
                Domain::World => Vec::new(),
            },
            StmtKind::While {
                condition, limit, ..
            } => vec![*condition, *limit],
            StmtKind::Integrate { dt, .. } => vec![*dt],
            StmtKind::Assert { condition, .. } => vec![*condition],
            StmtKind::Break | StmtKind::Continue | StmtKind::Stop | StmtKind::Block(_) => {
                Vec::new()
            }
        }
    }

    /// The blocks inside the statement.
    pub fn blocks(&self) -> Vec<&Block> {
        match &self.kind {
            StmtKind::If {
                branches,
                otherwise,
            } => branches
                .iter()
                .map(|(_, body)| body)
                .chain(otherwise)
                .collect(),
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Integrate { body, .. }
            | StmtKind::Block(body) => vec![body],
            StmtKind::Match { arms, .. } => arms.iter().map(|arm| &arm.body).collect(),
            StmtKind::Declare { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Return(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop
            | StmtKind::Equation { .. }
            | StmtKind::Assert { .. } => Vec::new(),
        }
    }

    /// The same, to be changed.
    fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match &mut self.kind {
            StmtKind::If {
                branches,
                otherwise,
            } => branches
                .iter_mut()
                .map(|(_, body)| body)
                .chain(otherwise)
                .collect(),
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Integrate { body, .. }
            | StmtKind::Block(body) => vec![body],
            StmtKind::Match { arms, .. } => arms.iter_mut().map(|arm| &mut arm.body).collect(),
            StmtKind::Declare { .. }
            | StmtKind::Assign { .. }
            | StmtKind::Return(_)
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Stop
            | StmtKind::Equation { .. }
            | StmtKind::Assert { .. } => Vec::new(),
        }
    }
}
