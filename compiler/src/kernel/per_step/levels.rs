//! What of a phase of the world each of its stages runs.

use super::Fold;
use crate::ir::{Block, Expr, ExprId, Program, Stmt, VarId, any_statement, each_statement};
use std::collections::{HashMap, HashSet};

/// How many folds, one after the other, the variables of a phase depend on at a point of it.
///
/// A fold is of level 0 if its values depend on no other fold, else of a level above those that they depend
/// on; a variable or expression has the level above the folds that went into it. The stage of level `n` knows
/// the results of the folds below it, so it can compute everything up to that level, and needs no more for
/// the values of its own folds.
#[derive(Default)]
pub(super) struct Levels {
    vars: HashMap<VarId, u32>,
    /// The folds in the order of the text, each after those within it, and their levels.
    pub(super) folds: Vec<(ExprId, u32)>,
    /// The folds' variables in the order of their nodes, where blocks of stages are asked for.
    pub(super) elements: Vec<(ExprId, Fold)>,
}

impl Levels {
    /// Walks a block under conditions of level `around`. The block of the stage `of` this level, if it is
    /// asked for.
    pub(super) fn block(
        &mut self,
        program: &Program,
        block: &Block,
        around: u32,
        of: Option<u32>,
    ) -> Block {
        let mut kept = Vec::new();
        for stmt in block {
            let before = self.folds.len();
            let level = self.of_statement(program, stmt, around);
            for &(node, own) in &self.folds[before..] {
                if of == Some(own)
                    && let Some(fold) = fold_of(&self.elements, node)
                    && let Expr::AcrossWorld { value, .. } = program[node]
                {
                    let var = fold.element;
                    kept.push(Stmt::Assign { var, value });
                }
            }
            let runs = of.is_some_and(|of| level <= of);
            match stmt {
                Stmt::If {
                    condition,
                    accept,
                    reject,
                } => {
                    let [accept, reject] = self.arms(program, [accept, reject], level, of);
                    if runs && !(accept.is_empty() && reject.is_empty()) {
                        kept.push(Stmt::If {
                            condition: *condition,
                            accept,
                            reject,
                        });
                    }
                }
                // What it is assigned later may be of a lower level.
                Stmt::Var { var, .. } if !runs => kept.push(Stmt::Var {
                    var: *var,
                    value: None,
                }),
                Stmt::Let { .. }
                | Stmt::Var { .. }
                | Stmt::Assign { .. }
                | Stmt::AssignElement { .. }
                | Stmt::For { .. }
                | Stmt::Break
                | Stmt::Continue
                | Stmt::Stop
                | Stmt::Return(_) => kept.extend(runs.then(|| stmt.clone())),
            }
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } | Stmt::Assign { var, .. } = stmt {
                self.vars.insert(*var, level);
            } else if let Stmt::AssignElement { var, .. } = stmt {
                let own = self.vars.entry(*var).or_insert(0);
                *own = (*own).max(level);
            }
        }
        kept
    }

    /// The blocks of an `if` whose condition has this level. After it, a variable has the higher of its
    /// levels at their ends.
    fn arms(
        &mut self,
        program: &Program,
        [accept, reject]: [&Block; 2],
        level: u32,
        of: Option<u32>,
    ) -> [Block; 2] {
        let entry = self.vars.clone();
        let inner = |levels: &mut Levels, block: &Block| {
            stacker::maybe_grow(32 << 10, 1 << 20, || {
                levels.block(program, block, level, of)
            })
        };
        let accept = inner(self, accept);
        let accepted = std::mem::replace(&mut self.vars, entry);
        let reject = inner(self, reject);
        for (var, level) in accepted {
            let own = self.vars.entry(var).or_insert(level);
            *own = (*own).max(level);
        }
        [accept, reject]
    }

    /// The level of what a statement itself evaluates, and of a whole loop, under conditions of level
    /// `around`.
    fn of_statement(&mut self, program: &Program, stmt: &Stmt, around: u32) -> u32 {
        if let Stmt::For { .. } = stmt {
            return self.of_loop(program, stmt, around);
        }
        let roots = stmt.roots();
        (roots.iter())
            .map(|&root| self.of(program, root, around))
            .fold(around, u32::max)
    }

    /// The level of a loop, in which no values are combined: of all that it reads, for all that it assigns.
    fn of_loop(&mut self, program: &Program, stmt: &Stmt, around: u32) -> u32 {
        let (mut level, mut targets) = (around, Vec::new());
        each_statement(std::slice::from_ref(stmt), &mut |stmt| {
            targets.extend(stmt.target());
            let reads = program
                .nodes_of(stmt)
                .filter_map(|id| program[id].variable());
            for var in reads.chain(stmt.target()) {
                level = level.max(self.vars.get(&var).copied().unwrap_or(0));
            }
        });
        self.vars
            .extend(targets.into_iter().map(|var| (var, level)));
        level
    }

    /// The level of an expression under conditions of level `around`.
    fn of(&mut self, program: &Program, id: ExprId, around: u32) -> u32 {
        let expr = &program[id];
        let own = (expr.variable()).and_then(|var| self.vars.get(&var).copied());
        let operands = expr.operands();
        let below = (operands.iter()).map(|&operand| {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.of(program, operand, around))
        });
        let level = below.fold(own.unwrap_or(0), u32::max);
        let Expr::AcrossWorld { .. } = expr else {
            return level;
        };
        let level = level.max(around);
        self.folds.push((id, level));
        level + 1
    }
}

/// The fold of a node, of those in the order of their nodes.
fn fold_of(folds: &[(ExprId, Fold)], node: ExprId) -> Option<&Fold> {
    let at = folds.binary_search_by_key(&node.0, |(node, _)| node.0);
    at.ok().map(|at| &folds[at].1)
}

/// Adds what the statements that assign needed variables read. Was there any?
pub(super) fn need(
    program: &Program,
    block: &Block,
    folds: &[(ExprId, Fold)],
    needed: &mut HashSet<VarId>,
) -> bool {
    let mut more = false;
    for stmt in block {
        let nested = (stmt.blocks())
            .map(|inner| {
                stacker::maybe_grow(32 << 10, 1 << 20, || need(program, inner, folds, needed))
            })
            .fold(false, |any, it| any | it);
        more |= nested;
        if !is_needed(stmt, needed) {
            continue;
        }
        let mut pending = stmt.roots().to_vec();
        while let Some(id) = pending.pop() {
            if fold_of(folds, id).is_some() {
                continue;
            }
            more |= (program[id].variable()).is_some_and(|var| needed.insert(var));
            pending.extend_from_slice(&program[id].operands());
        }
    }
    more
}

/// Does a statement assign any of these variables, or leave a loop that does?
fn is_needed(stmt: &Stmt, needed: &HashSet<VarId>) -> bool {
    match stmt {
        Stmt::Let { var, .. }
        | Stmt::Var { var, .. }
        | Stmt::Assign { var, .. }
        | Stmt::AssignElement { var, .. } => needed.contains(var),
        Stmt::If { accept, reject, .. } => {
            let any = |block: &Block| block.iter().any(|stmt| is_needed(stmt, needed));
            stacker::maybe_grow(32 << 10, 1 << 20, || any(accept) || any(reject))
        }
        Stmt::For { body, .. } => {
            let assigns = |stmt: &Stmt| (stmt.target()).is_some_and(|var| needed.contains(&var));
            any_statement(body, &assigns)
        }
        Stmt::Break | Stmt::Continue => true,
        Stmt::Stop | Stmt::Return(_) => false,
    }
}

pub(super) fn retain(block: &mut Block, needed: &HashSet<VarId>) {
    block.retain(|stmt| is_needed(stmt, needed));
    for stmt in block {
        for inner in stmt.blocks_mut() {
            stacker::maybe_grow(32 << 10, 1 << 20, || retain(inner, needed));
        }
    }
}
