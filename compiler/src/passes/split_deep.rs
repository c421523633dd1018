//! Names the inner subtrees of deep expressions: shader compilers recurse over expressions and give up at
//! some depth, and the other passes may recurse. A name has the value of its expression.
//!
//! Only this pass sees trees of any depth, so it walks them with a stack of its own.

use super::names;
use crate::ir::{Block, ExprId, ExprMap, Program};

/// Nodes from the root of a tree to a leaf, at most.
const MAX_DEPTH: u32 = 24;

/// Cuts every deep tree.
pub(crate) fn run(program: &mut Program) {
    let mut depths = ExprMap::default();
    program.each_section(|program, _, block| cut_block(program, &mut depths, block));
}

fn cut_block(program: &mut Program, depths: &mut ExprMap<u32>, block: &mut Block) {
    let mut new = Vec::with_capacity(block.len());
    for mut stmt in std::mem::take(block) {
        for &root in stmt.roots().iter() {
            if !is_shallow(program, root, MAX_DEPTH) {
                cut(program, depths, root, &mut new);
            }
        }
        for inner in stmt.blocks_mut() {
            cut_block(program, depths, inner);
        }
        new.push(stmt);
    }
    *block = new;
}

fn is_shallow(program: &Program, id: ExprId, depth: u32) -> bool {
    depth > 0
        && program[id]
            .operands()
            .iter()
            .all(|&operand| is_shallow(program, operand, depth - 1))
}

fn cut(program: &mut Program, depths: &mut ExprMap<u32>, root: ExprId, new: &mut Block) {
    depths.reach(program.exprs.len(), 0);
    // Each node is visited twice: before its operands and after them.
    let mut stack = vec![(root, false)];
    while let Some((id, done)) = stack.pop() {
        let operands = program[id].operands();
        if operands.is_empty() {
            depths[id] = 1;
            continue;
        }
        if !done {
            stack.push((id, true));
            stack.extend(operands.iter().rev().map(|&operand| (operand, false)));
            continue;
        }
        let deepest = operands.iter().map(|operand| depths[operand]).max();
        let mut depth = deepest.unwrap_or(0) + 1;
        if depth == MAX_DEPTH && id != root {
            let (_, stmt) = names::extract(program, id);
            new.push(stmt);
            depth = 1;
        }
        depths[id] = depth;
    }
}
