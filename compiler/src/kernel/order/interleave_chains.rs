//! Interleaves long independent chains of fused multiply-adds. Each link waits some cycles for the one before
//! it, and a device that runs few agents at a time, since each has many live values, has nothing else to do
//! meanwhile. Drivers keep the order of the text.
//!
//! Invariant: the same statements in another order, and names for the partial sums of chains. Only `let`s
//! move, and only past one another, so that each still stands before its readers.
//!
//! It applies to chains in the arguments of exponentials, as in layers of networks, and of functions that
//! take one; only some at a time, since each needs a register. This is not a pass of the pipeline: later
//! passes must not inline names.

use crate::{
    builtin::BuiltinId,
    ir::{
        BinaryOp, Block, Expr, ExprId, Function, FunctionMap, Program, Stmt, Type, VarId, VarKind,
    },
    passes::names::fresh,
    span::Span,
};
use std::collections::{HashMap, HashSet};

/// Products of a chain that is interleaved, at least.
const LONG: usize = 4;
/// Interleaves the chains of the step, at most `together`; returns how many there are.
pub(crate) fn run(program: &mut Program, together: usize) -> u32 {
    let mut chains = 0;
    let functions = exponential_functions(program);
    let named = named_exponents(program, &functions);
    program.each_phase(|program, block| {
        chains += interleave(program, block, &functions, &named, together);
    });
    chains
}

fn interleave(
    program: &mut Program,
    block: &mut Block,
    functions: &FunctionMap<bool>,
    named: &HashSet<VarId>,
    together: usize,
) -> u32 {
    let mut chains = 0;
    let mut new = Vec::with_capacity(block.len());
    let mut window = Window::default();
    for stmt in std::mem::take(block) {
        let chain = if let Stmt::Let { var, value } = stmt {
            in_exponent(program, functions, value, named.contains(&var))
        } else {
            None
        };
        let goes_on = match chain {
            Some(_) => window.chains < together,
            None => matches!(stmt, Stmt::Let { .. }) && window.level(program, &stmt) > 0,
        };
        if !goes_on {
            chains += window.close(&mut new);
        }
        match chain {
            None if !goes_on => new.push(stmt),
            None => window.push(program, stmt),
            Some(chain) => {
                window.chains += 1;
                for link in links(program, chain) {
                    window.push(program, link);
                }
                window.push(program, stmt);
            }
        }
    }
    chains += window.close(&mut new);
    *block = new;
    chains
}

/// Names of chains and of what depends on them, which may be reordered.
#[derive(Default)]
struct Window {
    chains: usize,
    /// By the number of names that must come before.
    placed: Vec<(usize, Stmt)>,
    levels: HashMap<VarId, usize>,
}

impl Window {
    fn push(&mut self, program: &Program, stmt: Stmt) {
        let level = self.level(program, &stmt);
        if let Stmt::Let { var, .. } = stmt {
            self.levels.insert(var, level);
        }
        self.placed.push((level, stmt));
    }

    /// One more than that of the names of this window that a statement reads; 0 if it reads none.
    fn level(&self, program: &Program, stmt: &Stmt) -> usize {
        let mut level = 0;
        for id in program.nodes_of(stmt) {
            if let Expr::Read(var) = &program[id] {
                level = level.max(self.levels.get(var).map_or(0, |before| before + 1));
            }
        }
        level
    }

    /// Emits the names in the order in which they can be known. Returns how many chains there were.
    fn close(&mut self, new: &mut Block) -> u32 {
        let Window {
            chains, mut placed, ..
        } = std::mem::take(self);
        placed.sort_by_key(|(level, _)| *level);
        new.extend(placed.into_iter().map(|(_, stmt)| stmt));
        chains as u32
    }
}

/// By function: does it compute an exponential?
fn exponential_functions(program: &Program) -> FunctionMap<bool> {
    let takes_one = |function: &Function| {
        let mut found = false;
        program.each_node_of(&function.body, &mut |id| {
            found |= is_exponential(&program[id])
        });
        found
    };
    program.functions.iter().map(takes_one).collect()
}

fn is_exponential(node: &Expr) -> bool {
    let powers = [BuiltinId::EXP, BuiltinId::EXP2];
    matches!(node, Expr::Builtin(which, _) if powers.contains(which))
}

/// Names that the step reads in the arguments of exponentials, or of functions that compute one.
fn named_exponents(program: &Program, functions: &FunctionMap<bool>) -> HashSet<VarId> {
    let mut named = HashSet::new();
    let mut pending: Vec<(ExprId, bool)> = Vec::new();
    for stmt in program.phases.iter().flat_map(|phase| &phase.body) {
        pending.extend(stmt.roots().iter().map(|&root| (root, false)));
    }
    while let Some((id, inside)) = pending.pop() {
        let node = &program[id];
        if let Expr::Read(var) = node
            && inside
        {
            named.insert(*var);
        }
        let inside = inside || takes_exponential(functions, node);
        pending.extend(node.operands().iter().map(|&operand| (operand, inside)));
    }
    named
}

/// Is it an exponential, or a call of a function that computes one?
fn takes_exponential(functions: &FunctionMap<bool>, node: &Expr) -> bool {
    is_exponential(node) || matches!(node, Expr::Call(which, _) if functions[*which])
}

/// The long chain in the argument of an exponential, or of a function that computes one, if a tree has one.
fn in_exponent(
    program: &Program,
    functions: &FunctionMap<bool>,
    id: ExprId,
    inside: bool,
) -> Option<ExprId> {
    if inside && is_long(program, id) {
        return Some(id);
    }
    let node = &program[id];
    let inside = inside || takes_exponential(functions, node);
    (node.operands().iter()).find_map(|&operand| in_exponent(program, functions, operand, inside))
}

fn link(program: &Program, id: ExprId) -> Option<(ExprId, ExprId)> {
    let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, before, term) = program[id] else {
        return None;
    };
    let is_product = matches!(program[term], Expr::Binary(BinaryOp::Multiply, ..));
    (is_product && program.type_of(id) == Type::F32).then_some((before, term))
}

fn is_long(program: &Program, mut id: ExprId) -> bool {
    let mut length = 0;
    while let Some((before, _)) = link(program, id) {
        length += 1;
        id = before;
    }
    length >= LONG
}

/// Names for every partial sum of a chain but the last.
fn links(program: &mut Program, chain: ExprId) -> Block {
    let mut sums = Vec::new();
    let mut id = chain;
    while let Some((before, _)) = link(program, id) {
        if link(program, before).is_some() {
            sums.push(before);
        }
        id = before;
    }
    let mut block = Vec::with_capacity(sums.len());
    for sum in sums.into_iter().rev() {
        let var = fresh(program, "sum".to_owned(), Type::F32, VarKind::Let);
        let value = program[sum].clone();
        let value = program.add(value, Span::default());
        program[sum] = Expr::Read(var);
        block.push(Stmt::Let { var, value });
    }
    block
}
