//! Which variables the outputs that are differentiated depend on, in any way: through values, and through
//! the conditions under which they get them.

use super::Forward;
use crate::ir::{Block, Program, Stmt, VarId};
use std::collections::HashSet;

impl Forward<'_> {
    /// All variables that lead to the wanted outputs.
    pub(super) fn leading(&self, blocks: &[Block]) -> HashSet<VarId> {
        let mut path = Path {
            program: &self.program,
            leading: self.wanted.iter().copied().collect(),
        };
        loop {
            let before = path.leading.len();
            for block in blocks {
                path.walk(block, &mut Vec::new());
            }
            if path.leading.len() == before {
                return path.leading;
            }
        }
    }
}

struct Path<'a> {
    program: &'a Program,
    leading: HashSet<VarId>,
}

impl Path<'_> {
    /// What a statement reads itself.
    fn reads(&self, stmt: &Stmt) -> Vec<VarId> {
        let nodes = self.program.nodes_of(stmt);
        nodes
            .filter_map(|node| self.program[node].variable())
            .collect()
    }

    /// Takes what the statements of a block read, if it leads to an output. `conditions` are variables that
    /// decide whether the block runs.
    fn walk(&mut self, block: &[Stmt], conditions: &mut Vec<VarId>) {
        for stmt in block {
            match stmt {
                Stmt::Let { var, .. }
                | Stmt::Var { var, .. }
                | Stmt::Assign { var, .. }
                | Stmt::AssignElement { var, .. } => {
                    if self.leading.contains(var) {
                        let reads = self.reads(stmt);
                        self.leading.extend(reads);
                        self.leading.extend(conditions.iter().copied());
                    }
                }
                Stmt::If { .. } => self.inner(stmt, Vec::new(), conditions),
                Stmt::For { body, .. } => {
                    let mut leaves = Vec::new();
                    self.leaves(body, &mut Vec::new(), &mut leaves);
                    self.inner(stmt, leaves, conditions);
                }
                // Nothing after these runs.
                Stmt::Stop | Stmt::Return(_) => {
                    let reads = self.reads(stmt);
                    self.leading.extend(reads);
                    self.leading.extend(conditions.iter().copied());
                }
                Stmt::Break | Stmt::Continue => {}
            }
        }
    }

    /// The blocks of a statement, which run by what it reads and by `more`.
    fn inner(&mut self, stmt: &Stmt, more: Vec<VarId>, conditions: &mut Vec<VarId>) {
        let outer = conditions.len();
        conditions.extend(self.reads(stmt));
        conditions.extend(more);
        for block in stmt.blocks() {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.walk(block, conditions));
        }
        conditions.truncate(outer);
    }

    /// What decides whether a `break` or a `continue` of a loop runs, given its body.
    fn leaves(&self, body: &[Stmt], conditions: &mut Vec<VarId>, found: &mut Vec<VarId>) {
        for stmt in body {
            if let Stmt::Break | Stmt::Continue = stmt {
                found.extend(conditions.iter().copied());
            }
            if let Stmt::If { .. } = stmt {
                let outer = conditions.len();
                conditions.extend(self.reads(stmt));
                for block in stmt.blocks() {
                    stacker::maybe_grow(32 << 10, 1 << 20, || {
                        self.leaves(block, conditions, found)
                    });
                }
                conditions.truncate(outer);
            }
        }
    }
}
