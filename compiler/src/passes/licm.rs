//! Loop-invariant code motion: hoists invariant values to names before the loop. They also leave `step` for
//! the prologue, so that inputs are loaded once before the time loop.
//!
//! An expression varies with the innermost loop around it that assigns something it reads. It moves to before
//! the next loop inside that one, where all it reads has the same values as at its old place. Expressions are
//! pure and total, so it may be evaluated there even if no iteration runs.

use super::{
    names,
    rewrite::{assigned, literal_i32},
    shape::is_trivial,
};
use crate::ir::{Block, Expr, ExprId, ExprMap, Launch, Program, Stmt, VarId, VarKind, VarMap};
use std::collections::HashMap;

/// Scalars that the prologue may hold for `step`: registers are few, and beyond this many a name is a load
/// from memory anyway.
const MAX_PROLOGUE_SCALARS: usize = 1_024;

/// Hoists out of every loop.
pub(super) fn run(program: &mut Program) {
    let mut hoist = Hoist {
        levels: VarMap::filled(0, program.vars.len()),
        nodes: ExprMap::filled(0, program.exprs.len()),
        before: Vec::new(),
        base: 0,
        scalars: 0,
        loads: HashMap::new(),
    };
    // What any phase of a step assigns varies from step to step.
    let mut changed = Vec::new();
    for phase in &program.phases {
        assigned(phase, &mut changed);
    }
    let mut invariants = Block::new();
    program.each_section(|program, place, block| {
        hoist.base = u16::from(place.is_phase());
        if !place.is_phase() {
            hoist.block(program, block, 0);
            return;
        }
        let old = hoist.raise(changed.clone(), 1);
        hoist.before.push(Block::new());
        hoist.block(program, block, 1);
        invariants.extend(hoist.before.pop().unwrap_or_default());
        hoist.restore(old);
    });
    program.prologue.append(&mut invariants);
}

struct Hoist {
    /// Per variable: how many of the loops around this place it varies with; for names also those around
    /// their own place.
    levels: VarMap<u16>,
    /// Per node: the same.
    nodes: ExprMap<u16>,
    /// Per loop around this place: the names that go before it.
    before: Vec<Block>,
    /// 1 in `step`, which is the body of a loop itself, else 0.
    base: u16,
    /// The words that the prologue holds so far.
    scalars: usize,
    /// The elements that the prologue has loaded.
    loads: HashMap<(VarId, i32), VarId>,
}

impl Hoist {
    /// What a loop's body assigns varies with the loop; returns the levels from before.
    fn raise(&mut self, mut changed: Vec<VarId>, level: u16) -> Vec<(VarId, u16)> {
        changed.sort_unstable();
        changed.dedup();
        let mut old = Vec::with_capacity(changed.len());
        for var in changed {
            old.push((var, self.levels[var]));
            self.levels[var] = level;
        }
        old
    }

    fn restore(&mut self, old: Vec<(VarId, u16)>) {
        for (var, level) in old {
            self.levels[var] = level;
        }
    }

    fn block(&mut self, program: &mut Program, block: &mut Block, depth: u16) {
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            for &root in stmt.roots().iter() {
                self.measure(program, root);
                if !matches!(stmt, Stmt::Let { .. }) {
                    self.hoist(program, root, depth);
                }
            }
            if let Stmt::Let { var, value } = stmt {
                if let Some(level) = self.hoist_name(program, var, value, depth) {
                    self.before[usize::from(level)].push(stmt);
                    continue;
                }
            } else if let Stmt::For { index, body, .. } = &mut stmt {
                let inner = depth + 1;
                self.put(*index, inner);
                let mut changed = Vec::new();
                assigned(body, &mut changed);
                let old = self.raise(changed, inner);
                self.before.push(Block::new());
                self.block(program, body, inner);
                new.extend(self.before.pop().unwrap_or_default());
                self.restore(old);
            } else {
                for inner in stmt.blocks_mut() {
                    self.block(program, inner, depth);
                }
            }
            new.push(stmt);
        }
        *block = new;
    }

    fn put(&mut self, var: VarId, level: u16) {
        *self.levels.grow(var, 0) = level;
    }

    /// Finds the levels of a tree's nodes.
    fn measure(&mut self, program: &Program, id: ExprId) -> u16 {
        let expr = &program[id];
        let mut level = match expr {
            Expr::Read(var) | Expr::Element { array: var, .. } => self.levels[var],
            Expr::Launch(Launch::Step)
            | Expr::RandomWord { .. }
            | Expr::Other { .. }
            | Expr::AcrossWorld { .. } => self.base,
            Expr::Literal(_)
            | Expr::Double(_)
            | Expr::Launch(
                Launch::Agent
                | Launch::Agents
                | Launch::Steps
                | Launch::Member
                | Launch::Members
                | Launch::World
                | Launch::Lane { .. },
            )
            | Expr::Rows(_)
            | Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(..)
            | Expr::Call(..)
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. } => 0,
        };
        for &operand in expr.operands().iter() {
            level = level.max(self.measure(program, operand));
        }
        self.nodes[id] = level;
        level
    }

    /// Decides where a name goes as a whole: the level of the loop that it goes before, less one.
    fn hoist_name(
        &mut self,
        program: &mut Program,
        var: VarId,
        value: ExprId,
        depth: u16,
    ) -> Option<u16> {
        let level = self.nodes[value];
        // A name for the bits of a float stays a name, and what depends on it can only go where it went.
        let is_name = matches!(program[value], Expr::Bitcast { .. }) || !is_trivial(program, value);
        let goes = level < depth && is_name && self.pays(program, value, level);
        let place = if goes { level } else { depth };
        for &operand in program[value].operands().iter() {
            self.hoist(program, operand, place);
        }
        self.put(var, place);
        goes.then_some(level)
    }

    /// Hoists the subtrees that vary less than the place, `depth` loops deep, where they stand.
    fn hoist(&mut self, program: &mut Program, id: ExprId, depth: u16) {
        let level = self.nodes[id];
        let load = if level == 0 && depth > 0 && self.base > 0 {
            is_load(program, id)
        } else {
            None
        };
        if let Some(var) = load.and_then(|load| self.loads.get(&load)) {
            program[id] = Expr::Read(*var);
            return;
        }
        let goes = level < depth && is_worth(program, id) && self.pays(program, id, level);
        let place = if goes { level } else { depth };
        for &operand in program[id].operands().iter() {
            self.hoist(program, operand, place);
        }
        if goes {
            let (var, stmt) = names::extract(program, id);
            self.put(var, level);
            self.before[usize::from(level)].push(stmt);
            if let Some(load) = load {
                self.loads.insert(load, var);
            }
        }
    }

    /// Is there space for a value where it would go? Takes it.
    fn pays(&mut self, program: &Program, id: ExprId, level: u16) -> bool {
        if self.base == 0 || level > 0 {
            return true;
        }
        self.scalars += program.type_of(id).components();
        self.scalars <= MAX_PROLOGUE_SCALARS
    }
}

/// The element of an input or table that a node loads, if its index is a literal.
fn is_load(program: &Program, id: ExprId) -> Option<(VarId, i32)> {
    let Expr::Element { array, index } = program[id] else {
        return None;
    };
    let loaded = matches!(program[array].kind, VarKind::Input | VarKind::Data);
    loaded.then_some((array, literal_i32(program, index)?))
}

/// Is reading a name cheaper than evaluating this in every iteration?
fn is_worth(program: &Program, id: ExprId) -> bool {
    if let Expr::Element { array, index } = program[id] {
        // Constants, uniforms and locals are as cheap to read as names.
        let near = matches!(
            program[array].kind,
            VarKind::Constant | VarKind::Param | VarKind::Local | VarKind::State
        );
        return !near || !is_trivial(program, index);
    }
    !is_trivial(program, id)
}
