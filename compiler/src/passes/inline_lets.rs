//! Inlines a name of the compiler's that is read once into its reader, unless the line would get long, so
//! that there are no needless temporaries. The expression moves forward over statements that assign nothing
//! it reads, and never into a loop, where it would run more often; so it has the same value.

use super::rewrite::{Clock, is_generated, reads};
use crate::ir::{Block, Expr, ExprId, Program, Stmt, VarId, VarMap};

/// Nodes from the root of a tree to a leaf, after inlining.
const MAX_DEPTH: u32 = 8;
/// Nodes of a tree, after inlining.
const MAX_NODES: u32 = 24;

/// Inlines what fits.
pub(crate) fn run(program: &mut Program) {
    let vars = program.vars.len();
    let mut inline = Inline {
        reads: reads(program),
        held: VarMap::filled(None, vars),
        inlined: VarMap::filled(false, vars),
        clock: Clock::new(program),
        loops: 0,
        found: Vec::new(),
    };
    program.each_section(|program, place, block| {
        // The time loop runs phases many times and the prologue, whose names it reads, once.
        inline.loops = u32::from(place.is_phase());
        inline.block(program, block);
        inline.clock.tick();
    });
}

/// Does a tree combine lanes or agents? Then it stays where all of them converge.
pub(crate) fn crosses_lanes(program: &Program, id: ExprId) -> bool {
    let mut nodes = program.nodes(id);
    nodes.any(|id| program[id].crosses_lanes())
}

/// A name that may be inlined.
#[derive(Clone, Copy)]
struct Held {
    value: ExprId,
    size: Size,
    /// When it was defined.
    clock: u32,
    /// How many loops were around it.
    loops: u32,
}

#[derive(Clone, Copy)]
struct Size {
    nodes: u32,
    depth: u32,
}

struct Inline {
    reads: VarMap<u32>,
    held: VarMap<Option<Held>>,
    inlined: VarMap<bool>,
    clock: Clock,
    loops: u32,
    /// Scratch memory for `inline`.
    found: Vec<(ExprId, u32, VarId)>,
}

impl Inline {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block.iter_mut() {
            let mut size = Size { nodes: 0, depth: 0 };
            for &root in stmt.roots().iter() {
                size = self.inline(program, root);
            }
            if let Stmt::Let { var, value } = stmt
                && self.reads[*var] == 1
                && is_generated(&program[*var])
                && !crosses_lanes(program, *value)
            {
                self.held[*var] = Some(Held {
                    value: *value,
                    size,
                    clock: self.clock.now(),
                    loops: self.loops,
                });
            }
            self.clock.pass(stmt);
            let repeats = u32::from(matches!(stmt, Stmt::For { .. }));
            self.loops += repeats;
            for inner in stmt.blocks_mut() {
                self.block(program, inner);
            }
            self.loops -= repeats;
        }
        block.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if self.inlined[var]));
    }

    /// Inlines names into a tree; returns how large it then is.
    fn inline(&mut self, program: &mut Program, root: ExprId) -> Size {
        let mut size = Size { nodes: 0, depth: 0 };
        let mut reads = std::mem::take(&mut self.found);
        self.survey(program, root, 1, &mut size, &mut reads);
        for (id, depth, var) in reads.drain(..) {
            let Some(held) = self.held[var] else {
                continue;
            };
            let inlined = Size {
                nodes: size.nodes + held.size.nodes - 1,
                depth: size.depth.max(depth + held.size.depth - 1),
            };
            let fits = held.loops == self.loops
                && inlined.depth <= MAX_DEPTH
                && inlined.nodes <= MAX_NODES;
            if fits && self.clock.is_unchanged(program, held.value, held.clock) {
                size = inlined;
                self.inlined[var] = true;
                let nothing = Expr::Read(var);
                program[id] = std::mem::replace(&mut program.exprs[held.value.0 as usize], nothing);
            }
        }
        self.found = reads;
        size
    }

    /// Measures a tree and finds the names in it that may be inlined: where, how deep, which.
    fn survey(
        &self,
        program: &Program,
        id: ExprId,
        depth: u32,
        size: &mut Size,
        reads: &mut Vec<(ExprId, u32, VarId)>,
    ) {
        size.nodes += 1;
        size.depth = size.depth.max(depth);
        if let Expr::Read(var) = program[id] {
            if self.held[var].is_some() {
                reads.push((id, depth, var));
            }
            return;
        }
        for &operand in program[id].operands().iter() {
            self.survey(program, operand, depth + 1, size, reads);
        }
    }
}
