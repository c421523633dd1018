//! Unrolls small loops with known bounds: one copy of the body per iteration, with the index a literal.
//!
//! The same statements run in the same order. A loop that a `break` or `continue` of its own may cut short
//! stays, and so does one whose copies would exceed the budget, since drivers take longer to compile longer
//! texts. A loop gets a larger budget if its index selects elements of small arrays or numbers random words:
//! unrolled, the arrays become scalars, inputs are loaded before the time loop, and words have literal
//! numbers.

use super::propagate;
use super::rewrite::{Cloner, literal_i32};
use crate::ir::{
    Block, Expr, ExprId, Launch, Len, Program, Section, Stmt, Value, VarId, VarKind, VarMap,
    cost::iterations,
};

/// Nodes that the copies of a loop with a larger budget may have.
const LOOP_NODES: u64 = 4_000;
/// Nodes that the copies of any other loop may have.
const PLAIN_LOOP_NODES: u64 = 512;
/// Iterations that any other loop may have.
const PLAIN_LOOP_ITERATIONS: u64 = 32;
/// Nodes that all unrolling together may add to a program in one run of the pass.
const PROGRAM_NODES: u64 = 16_000;
/// Elements that an array may have to be replaced by scalars.
const ARRAY_ELEMENTS: u32 = 256;

/// Loops in loops that may be unrolled from the outside in, because an inner one's bounds are an outer
/// one's index.
const MAX_RUNS: usize = 3;

/// Unrolls what fits the budget, and propagates the indices. Defaults of inputs stay as they are: the
/// host runs them once.
pub(super) fn run(program: &mut Program) {
    for _ in 0..MAX_RUNS {
        if !unroll(program) {
            return;
        }
        propagate::run(program);
    }
}

/// Returns whether it unrolled anything.
fn unroll(program: &mut Program) -> bool {
    let mut loops = false;
    program.each_section(|program, place, block| {
        loops |= !matches!(place, Section::InputDefault(_)) && has_loop(program, block);
    });
    if !loops {
        return false;
    }
    let mut plan = Plan::of(program);
    let mut cloner = Cloner::default();
    program.each_section(|program, place, block| {
        if !matches!(place, Section::InputDefault(_)) {
            plan.block(program, &mut cloner, block);
        }
    });
    plan.done
}

/// Is there a loop with literal bounds?
fn has_loop(program: &Program, block: &[Stmt]) -> bool {
    block.iter().any(|stmt| {
        iterations(program, stmt).is_some() || stmt.blocks().any(|inner| has_loop(program, inner))
    })
}

struct Plan {
    /// Per variable: the indices of unrollable loops that alone determine it; none if others do, too.
    follows: VarMap<Option<Vec<VarId>>>,
    /// Per index: does its loop get the larger budget?
    wanted: VarMap<bool>,
    /// Per array: is it indexed by an expression that no unrolling makes a literal?
    dynamic: VarMap<bool>,
    /// Arrays and the indices that select their elements.
    picks: Vec<(VarId, Vec<VarId>)>,
    /// Nodes added so far.
    spent: u64,
    /// Has any loop been unrolled?
    done: bool,
}

impl Plan {
    fn of(program: &mut Program) -> Plan {
        let vars = program.vars.len();
        let mut plan = Plan {
            follows: VarMap::filled(None, vars),
            wanted: VarMap::filled(false, vars),
            dynamic: VarMap::filled(false, vars),
            picks: Vec::new(),
            spent: 0,
            done: false,
        };
        program.each_section(|program, place, block| {
            if !matches!(place, Section::InputDefault(_)) {
                plan.read(program, block);
            }
        });
        for (array, indices) in std::mem::take(&mut plan.picks) {
            let single = matches!(program[array].kind, VarKind::Input | VarKind::Constant);
            if single || !plan.dynamic[array] {
                for index in indices {
                    plan.wanted[index] = true;
                }
            }
        }
        plan
    }

    fn read(&mut self, program: &Program, block: &[Stmt]) {
        for stmt in block {
            for &root in stmt.roots().iter() {
                self.read_expr(program, root);
            }
            if let Stmt::Let { var, value } = stmt {
                let mut indices = Vec::new();
                if self.follow(program, *value, &mut indices) {
                    self.follows[var] = Some(indices);
                }
            } else if let Stmt::AssignElement { var, index, .. } = stmt {
                self.pick(program, *var, *index);
            } else if let Stmt::For { index, body, .. } = stmt
                && iterations(program, stmt).is_some()
                && !cut_short(body)
            {
                self.follows[index] = Some(vec![*index]);
            }
            for inner in stmt.blocks() {
                self.read(program, inner);
            }
        }
    }

    fn read_expr(&mut self, program: &Program, id: ExprId) {
        if let Expr::Element { array, index } = program[id] {
            self.pick(program, array, index);
        }
        for &operand in program[id].operands().iter() {
            self.read_expr(program, operand);
        }
    }

    fn pick(&mut self, program: &Program, array: VarId, index: ExprId) {
        let var = &program[array];
        let Len::Fixed(elements) = var.len else {
            return;
        };
        // Literals select constants and inputs one by one; other arrays are split as a whole.
        let single = matches!(var.kind, VarKind::Input | VarKind::Constant);
        if !single && !matches!(var.kind, VarKind::Local | VarKind::State) {
            return;
        }
        let mut indices = Vec::new();
        if !self.follow(program, index, &mut indices) || elements > ARRAY_ELEMENTS && !single {
            self.dynamic[array] = true;
        } else if !indices.is_empty() {
            self.picks.push((array, indices));
        }
    }

    /// Is this a literal once the loops of some indices are unrolled? Adds these indices.
    fn follow(&self, program: &Program, id: ExprId, indices: &mut Vec<VarId>) -> bool {
        match &program[id] {
            Expr::Literal(_) | Expr::Double(_) => true,
            Expr::Read(var) => match &self.follows[var] {
                Some(more) => {
                    indices.extend_from_slice(more);
                    true
                }
                None => false,
            },
            // The lanes share their text: an index that differs only between them counts as a literal.
            Expr::Launch(Launch::Lane { .. }) => true,
            Expr::Launch(_)
            | Expr::Rows(_)
            | Expr::Element { .. }
            | Expr::Call(_, _)
            | Expr::RandomWord { .. }
            | Expr::AcrossLanes { .. }
            | Expr::Shuffle { .. }
            | Expr::AcrossWorld { .. }
            | Expr::Other { .. } => false,
            other @ (Expr::Swizzle { .. }
            | Expr::Compose(_)
            | Expr::Splat { .. }
            | Expr::Unary(_, _)
            | Expr::Binary(_, _, _)
            | Expr::Select { .. }
            | Expr::Convert { .. }
            | Expr::Bitcast { .. }
            | Expr::Builtin(_, _)) => other
                .operands()
                .iter()
                .all(|&operand| self.follow(program, operand, indices)),
        }
    }

    /// Unrolls inside a block; returns how large it then is, and whether it draws.
    fn block(&mut self, program: &mut Program, cloner: &mut Cloner, block: &mut Block) -> Size {
        let mut size = Size::default();
        let mut new = Vec::with_capacity(block.len());
        for mut stmt in std::mem::take(block) {
            for &root in stmt.roots().iter() {
                self.measure(program, root, &mut size);
            }
            size.nodes += 1;
            if let Stmt::For { body, .. } = &mut stmt {
                let iteration = self.block(program, cloner, body);
                if let Some(copies) = self.copies(program, cloner, &stmt, iteration) {
                    let iterations = iterations(program, &stmt).unwrap_or(0);
                    size.nodes += iteration.nodes * iterations;
                    size.draws |= iteration.draws;
                    new.extend(copies);
                    continue;
                }
                size.add(iteration);
            } else {
                for inner in stmt.blocks_mut() {
                    size.add(self.block(program, cloner, inner));
                }
            }
            new.push(stmt);
        }
        *block = new;
        size
    }

    fn copies(
        &mut self,
        program: &mut Program,
        cloner: &mut Cloner,
        stmt: &Stmt,
        iteration: Size,
    ) -> Option<Block> {
        let Stmt::For {
            index, start, body, ..
        } = stmt
        else {
            return None;
        };
        let iterations = iterations(program, stmt)?;
        let nodes = iterations.checked_mul(iteration.nodes)?;
        let wanted = iteration.draws || self.wanted.get(*index) == Some(&true);
        let fits = if wanted {
            nodes <= LOOP_NODES
        } else {
            nodes <= PLAIN_LOOP_NODES && iterations <= PLAIN_LOOP_ITERATIONS
        };
        if iterations > 1 && (!fits || self.spent + nodes > PROGRAM_NODES) || cut_short(body) {
            return None;
        }
        self.spent += nodes;
        self.done = true;
        let first = literal_i32(program, *start)?;
        let mut copies = Vec::with_capacity(body.len() * iterations as usize);
        for iteration in 0..iterations as i32 {
            cloner.fix(*index, Value::I32(first + iteration));
            copies.extend(cloner.block(program, body));
        }
        Some(copies)
    }

    /// Adds the nodes of a tree that unrolling would not fold; returns whether all of it would fold.
    fn measure(&self, program: &Program, id: ExprId, size: &mut Size) -> bool {
        let expr = &program[id];
        let is_index = |var: &VarId| self.follows.get(*var).is_some_and(Option::is_some);
        if matches!(expr, Expr::Literal(_) | Expr::Double(_))
            || matches!(expr, Expr::Read(var) if is_index(var))
        {
            return true;
        }
        size.draws |= matches!(expr, Expr::RandomWord { .. });
        let operands = expr.operands();
        let mut folds = !operands.is_empty();
        for &operand in operands.iter() {
            folds &= self.measure(program, operand, size);
        }
        if folds && !matches!(expr, Expr::Element { .. } | Expr::RandomWord { .. }) {
            return true;
        }
        size.nodes += 1;
        false
    }
}

#[derive(Clone, Copy, Default)]
struct Size {
    nodes: u64,
    draws: bool,
}

impl Size {
    fn add(&mut self, other: Size) {
        self.nodes += other.nodes;
        self.draws |= other.draws;
    }
}

/// Is there a `break` or `continue` of the loop that has this body?
fn cut_short(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        matches!(stmt, Stmt::Break | Stmt::Continue)
            || matches!(stmt, Stmt::If { accept, reject, .. } if cut_short(accept) || cut_short(reject))
    })
}
