//! What nobody needs of a block: the derivative of a sum reads no value of it, so nothing has to save them;
//! and what is overwritten before anybody reads it.

use crate::ir::{Block, Len, Program, Stmt, VarId, VarKind, each_statement};
use std::collections::{HashMap, HashSet};

/// A statement by its number, in the order of the text.
type Number = usize;

/// The block without statements that have no effect on variables declared outside of it, other than those
/// `given`, whose last values nobody reads.
pub(in crate::gradient) fn pruned(
    program: &Program,
    block: Block,
    given: &HashSet<VarId>,
) -> Block {
    let mut facts = Facts::default();
    facts.look(program, &block, None, None);
    let mut useful = vec![false; facts.stmts.len()];
    let mut waiting = Vec::new();
    for (number, stmt) in facts.stmts.iter().enumerate() {
        let outside = |var: &VarId| !facts.declared.contains(var) && !given.contains(var);
        if stmt.target.as_ref().is_some_and(outside) {
            waiting.push(number);
        }
    }
    while let Some(number) = waiting.pop() {
        if std::mem::replace(&mut useful[number], true) {
            continue;
        }
        let stmt = &facts.stmts[number];
        waiting.extend(stmt.within);
        waiting.extend_from_slice(&stmt.breaks);
        let sources = stmt.reads.iter().filter_map(|var| facts.defs.get(var));
        waiting.extend(sources.flatten());
        // The declaration of what is assigned.
        let own = stmt.target.and_then(|var| facts.defs.get(&var));
        let declarations = own.into_iter().flatten();
        waiting.extend(declarations.filter(|def| facts.stmts[**def].declares));
    }
    let mut next = 0;
    kept(block, &useful, &mut next)
}

/// The block without assignments to variables of one value that nobody reads before the next one; `live` are
/// those whose values are read behind the block.
pub(super) fn without_dead_stores(program: &Program, block: Block, live: &HashSet<VarId>) -> Block {
    let mut stores = Stores {
        program,
        live: live.clone(),
        at_jump: HashSet::new(),
    };
    stores.block(block)
}

/// A walk from the end of a block to its beginning.
struct Stores<'a> {
    program: &'a Program,
    /// The variables that are read behind this place.
    live: HashSet<VarId>,
    /// Those that are read where a jump of the loop around leads.
    at_jump: HashSet<VarId>,
}

impl Stores<'_> {
    fn block(&mut self, block: Block) -> Block {
        let mut out = Vec::new();
        for stmt in block.into_iter().rev() {
            out.extend(self.stmt(stmt));
        }
        out.reverse();
        out
    }

    fn read(&mut self, stmt: &Stmt) {
        let program = self.program;
        let nodes = program.nodes_of(stmt);
        self.live
            .extend(nodes.filter_map(|id| program[id].variable()));
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Option<Stmt> {
        match &mut stmt {
            Stmt::Assign { var, .. } => {
                if !self.live.remove(var) {
                    return None;
                }
            }
            Stmt::Break | Stmt::Continue => self.live.clone_from(&self.at_jump),
            Stmt::If { accept, reject, .. } => {
                let behind = self.live.clone();
                *accept = self.inner(std::mem::take(accept));
                let first = std::mem::replace(&mut self.live, behind);
                *reject = self.inner(std::mem::take(reject));
                self.live.extend(first);
            }
            Stmt::For { body, .. } => {
                // Whatever an iteration reads may be read by the next one, but for what it declares.
                let program = self.program;
                let around = self.at_jump.clone();
                let (mut read, mut own) = (HashSet::new(), HashSet::new());
                program.each_node_of(body, &mut |id| read.extend(program[id].variable()));
                each_statement(body, &mut |stmt| {
                    if let Stmt::Let { var, .. } | Stmt::Var { var, .. } = stmt {
                        own.insert(*var);
                    }
                });
                self.live.extend(read.difference(&own));
                self.at_jump.clone_from(&self.live);
                let behind = self.live.clone();
                *body = self.inner(std::mem::take(body));
                self.live.extend(behind);
                self.at_jump = around;
            }
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Stop
            | Stmt::Return(_) => {}
        }
        self.read(&stmt);
        Some(stmt)
    }

    fn inner(&mut self, block: Block) -> Block {
        stacker::maybe_grow(32 << 10, 1 << 20, || self.block(block))
    }
}

/// The block in which variables of one value are names, if they are assigned once and read in that block
/// alone: those that were declared for the whole of it, and whose values the way back does not read.
pub(super) fn with_names(program: &mut Program, block: Block) -> Block {
    let mut places = Places::default();
    places.look(program, &block);
    let is_name = |var: VarId| {
        let place = places.of.get(&var)?;
        let (assigned, end) = place.assigned?;
        let within = |read: &Number| assigned < *read && *read <= end;
        (place.assignments == 1 && place.declared && place.reads.iter().all(within)).then_some(var)
    };
    let names: HashSet<VarId> = places.of.keys().copied().filter_map(is_name).collect();
    for var in &names {
        program[*var].kind = VarKind::Let;
    }
    named_at_once(block, &names)
}

/// Where variables are assigned and read.
#[derive(Default)]
struct Places {
    of: HashMap<VarId, Place>,
    next: Number,
}

#[derive(Default)]
struct Place {
    /// Has it a declaration, in the block itself?
    declared: bool,
    assignments: u32,
    /// Its assignment, and the end of the block in which that stands.
    assigned: Option<(Number, Number)>,
    /// The first and the last statement that reads it.
    reads: Vec<Number>,
}

impl Places {
    fn look(&mut self, program: &Program, block: &Block) {
        let mut own = Vec::new();
        for stmt in block {
            let number = self.next;
            self.next += 1;
            for var in program
                .nodes_of(stmt)
                .filter_map(|id| program[id].variable())
            {
                let reads = &mut self.of.entry(var).or_default().reads;
                reads.truncate(1);
                reads.push(number);
            }
            if let Stmt::Var { var, .. } = stmt {
                let single = program[*var].len == Len::One;
                self.of.entry(*var).or_default().declared = single;
            }
            if let Stmt::Assign { var, .. } = stmt {
                self.of.entry(*var).or_default().assignments += 1;
                own.push((*var, number));
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.look(program, inner));
            }
        }
        for (var, number) in own {
            if let Some(place) = self.of.get_mut(&var) {
                place.assigned = Some((number, self.next - 1));
            }
        }
    }
}

fn named_at_once(block: Block, names: &HashSet<VarId>) -> Block {
    let mut out = Vec::new();
    for mut stmt in block {
        for inner in stmt.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = stacker::maybe_grow(32 << 10, 1 << 20, || named_at_once(block, names));
        }
        let is_name = stmt.target().is_some_and(|var| names.contains(&var));
        if is_name && matches!(stmt, Stmt::Var { .. }) {
            continue;
        }
        if let (true, Stmt::Assign { var, value }) = (is_name, &stmt) {
            stmt = Stmt::Let {
                var: *var,
                value: *value,
            };
        }
        out.push(stmt);
    }
    out
}

/// The variables that a block reads or assigns.
pub(super) fn named(program: &Program, block: &Block) -> HashSet<VarId> {
    let mut facts = Facts::default();
    facts.look(program, block, None, None);
    let stmts = facts.stmts.iter();
    stmts
        .flat_map(|stmt| stmt.reads.iter().copied().chain(stmt.target))
        .collect()
}

#[derive(Default)]
struct Facts {
    stmts: Vec<Fact>,
    declared: HashSet<VarId>,
    /// The statements that give a variable a value.
    defs: HashMap<VarId, Vec<Number>>,
}

struct Fact {
    target: Option<VarId>,
    declares: bool,
    reads: Vec<VarId>,
    /// The statement around it.
    within: Option<Number>,
    /// Of a loop: what leaves it.
    breaks: Vec<Number>,
}

impl Facts {
    fn look(
        &mut self,
        program: &Program,
        block: &Block,
        within: Option<Number>,
        inner_loop: Option<Number>,
    ) {
        for stmt in block {
            let number = self.stmts.len();
            let nodes = program.nodes_of(stmt);
            let declares = matches!(stmt, Stmt::Let { .. } | Stmt::Var { .. } | Stmt::For { .. });
            self.stmts.push(Fact {
                target: stmt.target(),
                declares,
                reads: nodes.filter_map(|id| program[id].variable()).collect(),
                within,
                breaks: Vec::new(),
            });
            if let Some(var) = stmt.target() {
                self.defs.entry(var).or_default().push(number);
                if declares {
                    self.declared.insert(var);
                }
            }
            if matches!(stmt, Stmt::Break | Stmt::Continue)
                && let Some(inner) = inner_loop
            {
                self.stmts[inner].breaks.push(number);
            }
            let inner_loop = match matches!(stmt, Stmt::For { .. }) {
                true => Some(number),
                false => inner_loop,
            };
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || {
                    self.look(program, inner, Some(number), inner_loop);
                });
            }
        }
    }
}

fn kept(block: Block, useful: &[bool], next: &mut Number) -> Block {
    let mut out = Vec::new();
    for mut stmt in block {
        let keep = useful[*next];
        *next += 1;
        for inner in stmt.blocks_mut() {
            let block = std::mem::take(inner);
            *inner = stacker::maybe_grow(32 << 10, 1 << 20, || kept(block, useful, next));
        }
        if keep {
            out.push(stmt);
        }
    }
    out
}
