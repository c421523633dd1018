//! Melts a name of the compiler's that is read once into its reader, unless the line would get long: no
//! needless temporaries. The expression moves forward over statements that assign nothing it reads, and
//! never into a loop, where it would run more often; so it has the same value.

use super::rewrite::{
    Section, assigned, blocks_mut, each_section, is_generated, operands, reads, roots,
};
use crate::ir::{Block, Expr, ExprId, Program, Stmt, VarId};

/// Nodes from the root of a tree to a leaf, after melting.
const MAX_DEPTH: u32 = 8;
/// Nodes of a tree, after melting.
const MAX_NODES: u32 = 24;

/// Melts what fits.
pub(crate) fn run(program: &mut Program) {
    let vars = program.vars.len();
    let mut melt = Melt {
        reads: reads(program),
        held: vec![None; vars],
        melted: vec![false; vars],
        assigned: vec![0; vars],
        clock: 1,
        loops: 0,
        found: Vec::new(),
    };
    each_section(program, |program, place, block| {
        // The time loop runs `step` many times and the prologue, whose names it reads, once.
        melt.loops = u32::from(place == Section::Step);
        melt.block(program, block);
        melt.clock += 1;
    });
}

/// Does a tree hear from other lanes? Then it stays where all of them come by.
pub(crate) fn crosses_lanes(program: &Program, id: ExprId) -> bool {
    matches!(program[id], Expr::AcrossLanes(..))
        || (program.lanes > 0
            && operands(&program[id])
                .iter()
                .any(|&id| crosses_lanes(program, id)))
}

/// A name that may melt.
#[derive(Clone, Copy)]
struct Held {
    value: ExprId,
    size: Size,
    /// When it was given.
    clock: u32,
    /// How many loops were around it.
    loops: u32,
}

#[derive(Clone, Copy)]
struct Size {
    nodes: u32,
    depth: u32,
}

struct Melt {
    reads: Vec<u32>,
    held: Vec<Option<Held>>,
    melted: Vec<bool>,
    /// Per variable: when it was assigned last.
    assigned: Vec<u32>,
    clock: u32,
    loops: u32,
    /// Room for `melt`.
    found: Vec<(ExprId, u32, VarId)>,
}

impl Melt {
    fn block(&mut self, program: &mut Program, block: &mut Block) {
        for stmt in block.iter_mut() {
            let mut size = Size { nodes: 0, depth: 0 };
            for &root in roots(stmt).iter() {
                size = self.melt(program, root);
            }
            match stmt {
                Stmt::Let { var, value } => {
                    if self.reads[var.0 as usize] == 1
                        && is_generated(&program[*var])
                        && !crosses_lanes(program, *value)
                    {
                        self.held[var.0 as usize] = Some(Held {
                            value: *value,
                            size,
                            clock: self.clock,
                            loops: self.loops,
                        });
                    }
                }
                Stmt::Var { var, .. }
                | Stmt::Assign { var, .. }
                | Stmt::AssignElement { var, .. } => self.assign(*var),
                Stmt::For { body, .. } => {
                    let mut changed = Vec::new();
                    assigned(body, &mut changed);
                    for var in changed {
                        self.assign(var);
                    }
                    self.loops += 1;
                    self.block(program, body);
                    self.loops -= 1;
                }
                Stmt::If { .. } => {
                    for inner in blocks_mut(stmt).into_iter().flatten() {
                        self.block(program, inner);
                    }
                }
                Stmt::Break | Stmt::Continue | Stmt::Stop | Stmt::Return(_) => {}
            }
        }
        block.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if self.melted[var.0 as usize]));
    }

    fn assign(&mut self, var: VarId) {
        self.clock += 1;
        self.assigned[var.0 as usize] = self.clock;
    }

    /// Melts names into a tree; returns how large it then is.
    fn melt(&mut self, program: &mut Program, root: ExprId) -> Size {
        let mut size = Size { nodes: 0, depth: 0 };
        let mut reads = std::mem::take(&mut self.found);
        self.survey(program, root, 1, &mut size, &mut reads);
        for (id, depth, var) in reads.drain(..) {
            let Some(held) = self.held[var.0 as usize] else {
                continue;
            };
            let melted = Size {
                nodes: size.nodes + held.size.nodes - 1,
                depth: size.depth.max(depth + held.size.depth - 1),
            };
            let fits =
                held.loops == self.loops && melted.depth <= MAX_DEPTH && melted.nodes <= MAX_NODES;
            if fits && self.is_unchanged(program, held.value, held.clock) {
                size = melted;
                self.melted[var.0 as usize] = true;
                let nothing = Expr::Read(var);
                program.exprs[id.0 as usize] =
                    std::mem::replace(&mut program.exprs[held.value.0 as usize], nothing);
            }
        }
        self.found = reads;
        size
    }

    /// Measures a tree and finds the names in it that may melt: where, how deep, which.
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
            if self.held[var.0 as usize].is_some() {
                reads.push((id, depth, var));
            }
            return;
        }
        for &operand in operands(&program[id]).iter() {
            self.survey(program, operand, depth + 1, size, reads);
        }
    }

    /// Has nothing that a tree reads been assigned since?
    fn is_unchanged(&self, program: &Program, id: ExprId, since: u32) -> bool {
        if let Expr::Read(var) | Expr::Element { array: var, .. } = program[id]
            && self.assigned[var.0 as usize] > since
        {
            return false;
        }
        operands(&program[id])
            .iter()
            .all(|&operand| self.is_unchanged(program, operand, since))
    }
}
