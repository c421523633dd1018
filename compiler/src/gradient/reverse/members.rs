//! What agents read of one another, backwards: the adjoint of a gather is a scatter, which is written as a
//! gather again, so that sums have one order and need no atomics.
//!
//! An agent that reads a value of another one adds to the adjoint of that value. No agent writes to another
//! one: the one that was read collects what the others would add. So the way back of a phase has two parts,
//! each a phase of its own:
//!
//! * the agent's *own*: everything but what it has read of others. It keeps in states what others need of it;
//! * what it *collects*: for each agent of the world, and each place where that one may have read this one.
//!
//! There are two kinds of places. A *fold* is a loop over all agents of the world that sums something up:
//! `x_i' = Σ_j f(x_i, x_j)` has the adjoint `x̄_j += Σ_i x̄_i' ∂f/∂x_j`, the same loop with the roles
//! exchanged (each agent runs the iteration in which each other one read it). Of any other read the adjoint
//! is kept, with whom it was of; that takes little time per read, but each agent looks at the reads of all.

use super::{
    adjoint::Node,
    build::int,
    combined::{Combined, IN_LOOP},
    nodes,
    prune::pruned,
    record::Sweep,
};
use crate::{
    gradient::{Refused, forward::Atom, refused},
    ir::{
        BinaryOp, Block, Expr, ExprId, Launch, Len, Program, Stmt, Type, Value, VarId, VarKind,
        each_statement,
    },
    span::Span,
};
use std::collections::{HashMap, HashSet};

/// Most values of a loop that are kept for those of whom they were read.
const MOST_SLOTS: u32 = 1024;

/// What becomes of values that are read of other agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Reads {
    /// Nothing is added to their adjoints here.
    #[default]
    Dropped,
    /// Their adjoints are kept for those of whom they were read.
    Kept,
    /// They are this agent's own: another one reads them.
    Own,
}

/// What a way back keeps of a phase that looks at other agents.
#[derive(Default)]
pub(super) struct Others<'a> {
    pub(super) reads: Reads,
    pub(super) combined: Combined,
    /// Per sum over a world, by the name of its value: states of the world with the value and its adjoint.
    pub(super) sums: HashMap<VarId, (VarId, VarId)>,
    folds: Vec<Fold<'a>>,
    gathers: Vec<Gather>,
    /// The loops around: index, first iteration, and how many there are, if that is known.
    pub(super) around: Vec<(VarId, Atom, Option<u32>)>,
    /// States that were made, of agents and of worlds.
    pub(super) states: Vec<VarId>,
    pub(super) world_states: Vec<VarId>,
}

/// A loop over all agents of the world that sums up.
struct Fold<'a> {
    index: VarId,
    body: &'a [Stmt],
    /// The variables from outside that it reads, and the states with what they were.
    captured: Vec<(VarId, VarId)>,
    /// Its sums, and the states with their adjoints.
    sums: Vec<(VarId, VarId)>,
    /// What it assigns that is declared outside of it.
    assigned: Vec<VarId>,
    /// Everything from outside that it names.
    outside: HashSet<VarId>,
}

/// A place where a value of another agent is read, which gathers the adjoint of it.
struct Gather {
    /// What is read.
    var: VarId,
    /// Of an array: which element, or the state that says it.
    index: Option<Atom>,
    /// The states with the adjoint, and with whom it was of.
    adjoint: VarId,
    member: VarId,
    slots: u32,
}

impl<'a> Sweep<'a> {
    fn state(&mut self, name: &str, ty: Type, len: Len) -> VarId {
        let var = self.variable(name, ty, len, VarKind::State);
        self.others.states.push(var);
        var
    }

    pub(super) fn refuse(&mut self, message: impl Into<String>, span: Span) {
        let refusal = Refused {
            span: Some(span),
            ..refused(message)
        };
        self.refused.get_or_insert(refusal);
    }

    /// Does an expression read a value of another agent that carries a derivative?
    fn reads_others(&self, id: ExprId) -> bool {
        matches!(&self.source[id], Expr::Other { var, .. } if self.carrying.contains(var))
    }

    /// Is it a loop over all agents of the world whose way back others run?
    pub(super) fn is_fold(
        &self,
        index: VarId,
        (start, end): (ExprId, ExprId),
        body: &[Stmt],
    ) -> bool {
        let whole = self.source[start] == Expr::Literal(Value::I32(0))
            && self.source[end] == Expr::Launch(Launch::Members);
        if !whole || self.others.reads != Reads::Kept {
            return false;
        }
        let mut found = Vec::new();
        self.source.each_node_of(body, &mut |id| {
            if let Expr::Other { member, .. } = self.source[id]
                && self.reads_others(id)
            {
                found.push(self.source[member] == Expr::Read(index));
            }
        });
        !found.is_empty() && found.into_iter().all(|of_index| of_index)
    }

    /// Keeps what others need to run iterations of a fold; returns what keeps the adjoints of its sums.
    pub(super) fn keep_fold(
        &mut self,
        index: VarId,
        stmt: &Stmt,
        body: &'a [Stmt],
        (assigned, all): (&HashSet<VarId>, &[VarId]),
    ) -> Block {
        let span = first_span(self.source, stmt);
        if !self.others.around.is_empty() {
            self.refuse(IN_LOOP, span);
        }
        let draws = |id: ExprId| matches!(self.source[id], Expr::RandomWord { .. });
        let mut any_draw = false;
        (self.source).each_node_of(body, &mut |id| any_draw |= draws(id));
        if any_draw {
            self.refuse(
                "reverse mode does not pass through a draw within a fold over the world",
                span,
            );
        }
        if !self.sums_up(body, assigned) {
            self.refuse(NO_SUM, span);
        }
        let read = all.iter().copied().filter(|var| !assigned.contains(var));
        let read: Vec<VarId> = read.filter(|var| *var != index).collect();
        let captured = read
            .into_iter()
            .filter_map(|var| self.capture(var))
            .collect();
        let mut out = Block::new();
        let mut sums = Vec::new();
        let mut assigned: Vec<VarId> = assigned.iter().copied().collect();
        assigned.sort();
        for var in &assigned {
            let Some(&bar) = self.bars.get(var).filter(|_| self.active.contains(var)) else {
                continue;
            };
            let name = format!("{}_bar", self.source[*var].name);
            let state = self.state(&name, self.source[*var].ty, Len::One);
            let value = self.add(Expr::Read(bar));
            out.push(Stmt::Assign { var: state, value });
            sums.push((*var, state));
        }
        self.others.folds.push(Fold {
            index,
            body,
            captured,
            sums,
            assigned,
            outside: all.iter().copied().collect(),
        });
        out
    }

    /// Does a loop add to what it assigns of the variables declared outside, and reads it for nothing else?
    /// Then no iteration depends on another one, and the adjoints of these variables are the same for all.
    fn sums_up(&self, body: &[Stmt], assigned: &HashSet<VarId>) -> bool {
        let source = self.source;
        let mut fine = true;
        each_statement(body, &mut |stmt| {
            let target = stmt.target().filter(|var| assigned.contains(var));
            let mut reads = 0;
            for id in source.nodes_of(stmt) {
                let read = source[id].variable();
                let Some(read) = read.filter(|var| assigned.contains(var)) else {
                    continue;
                };
                fine &= target == Some(read);
                reads += 1;
            }
            if let Some(var) = target
                && self.active.contains(&var)
            {
                fine &= matches!(stmt, Stmt::Assign { value, .. }
                    if reads == 1 && is_sum(source, var, *value));
            }
            fine &= !matches!(stmt, Stmt::Break);
        });
        fine
    }

    /// A state with the value of a variable before a loop, if others cannot have it otherwise.
    fn capture(&mut self, var: VarId) -> Option<(VarId, VarId)> {
        let (ty, len) = (self.source[var].ty, self.source[var].len);
        let own = self.named(var);
        let by_launch = (self.launch_names).is_some_and(|names| names.all().contains(&var));
        match self.program[own].kind {
            VarKind::State | VarKind::Input if own != var => return Some((var, own)),
            VarKind::Let | VarKind::Local | VarKind::Index | VarKind::Argument if !by_launch => {}
            VarKind::State
            | VarKind::Input
            | VarKind::Let
            | VarKind::Local
            | VarKind::Index
            | VarKind::Argument
            | VarKind::Constant
            | VarKind::Param
            | VarKind::Data
            | VarKind::WorldInput
            | VarKind::WorldState
            | VarKind::Output
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord => return None,
        }
        let name = self.source[var].name.clone();
        let state = self.state(&name, ty, len);
        self.each_value(state, |sweep, k| {
            let value = sweep.element(own, k);
            sweep.assign(state, k, value);
        });
        Some((var, state))
    }

    /// A value that is read of another agent.
    pub(super) fn record_other(
        &mut self,
        id: ExprId,
        var: VarId,
        index: Option<ExprId>,
        member: ExprId,
    ) -> Node {
        let index = index.map(|index| self.fixed(index));
        if self.others.reads == Reads::Own {
            // It is this agent that the other one read.
            let value = self.element(var, index);
            let atom = Atom::Var(self.name("own", value));
            return Node::Leaf { var, index, atom };
        }
        let member = self.fixed(member);
        let value = self.of_other(var, index, member);
        let atom = Atom::Var(self.name("of_other", value));
        let place = self.keep_read(var, index, self.source.span(id));
        Node::Other {
            place,
            of: (member, index),
            atom,
        }
    }

    /// Makes a place for the adjoint of a value that is read of another agent here.
    pub(super) fn keep_read(&mut self, var: VarId, index: Option<Atom>, span: Span) -> usize {
        let mut counts = self.others.around.iter().map(|(_, _, count)| *count);
        let slots = counts.try_fold(1_u32, |all, count| all.checked_mul(count?));
        let slots = slots.filter(|slots| *slots <= MOST_SLOTS);
        if slots.is_none() {
            self.refuse(
                "reverse mode does not pass through values that are read of other agents in a long loop",
                span,
            );
        }
        let slots = slots.unwrap_or(1).max(1);
        let len = if slots == 1 {
            Len::One
        } else {
            Len::Fixed(slots)
        };
        let adjoint = self.state("read_bar", self.source[var].ty, len);
        let member = self.state("read_of", Type::I32, len);
        let index = index.map(|index| match index {
            Atom::Literal(_) => index,
            Atom::Var(_) => Atom::Var(self.state("read_at", Type::I32, len)),
        });
        self.others.gathers.push(Gather {
            var,
            index,
            adjoint,
            member,
            slots,
        });
        self.others.gathers.len() - 1
    }

    /// Keeps the adjoint of a value that was read of another agent.
    pub(super) fn keep_adjoint(
        &mut self,
        place: usize,
        (member, index): (Atom, Option<Atom>),
        (adjoint, op): (Atom, BinaryOp),
    ) {
        let gather = &self.others.gathers[place];
        let (of, at, into) = (gather.member, gather.index, gather.adjoint);
        let mut slot = None;
        for (inner, start, count) in self.others.around.clone() {
            let own = self.op("place", BinaryOp::Subtract, Atom::Var(inner), start);
            slot = Some(match slot {
                None => own,
                Some(outer) => {
                    let outer =
                        self.op("place", BinaryOp::Multiply, outer, int(count.unwrap_or(1)));
                    self.op("place", BinaryOp::Add, outer, own)
                }
            });
        }
        let slot = slot.filter(|_| self.program[into].len != Len::One);
        let before = self.element(into, slot);
        let more = self.write(adjoint);
        let value = self.add(Expr::Binary(op, before, more));
        self.assign(into, slot, value);
        let value = self.write(member);
        self.assign(of, slot, value);
        if let (Some(Atom::Var(state)), Some(index)) = (at, index) {
            let value = self.write(index);
            self.assign(state, slot, value);
        }
    }

    /// Within a loop whose iterations have this index on the way back.
    pub(super) fn enter_loop(&mut self, index: VarId, start: Atom, count: Option<u32>) {
        self.others.around.push((index, start, count));
    }

    pub(super) fn leave_loop(&mut self) {
        self.others.around.pop();
    }

    /// Sets what is kept of this phase to zeros; no adjoint is kept where nothing is read.
    pub(super) fn begin_kept(&mut self) -> Block {
        let adjoints = self.others.gathers.iter().map(|gather| gather.adjoint);
        let folds = self.others.folds.iter();
        let sums = folds.flat_map(|fold| fold.sums.iter().map(|(_, state)| *state));
        let all: Vec<VarId> = adjoints.chain(sums).collect();
        self.written(|sweep| all.into_iter().for_each(|var| sweep.clear(var)))
    }

    /// What this agent collects of what others have read of it.
    pub(super) fn collected(&mut self) -> Block {
        let (folds, gathers) = (
            std::mem::take(&mut self.others.folds),
            std::mem::take(&mut self.others.gathers),
        );
        self.others.reads = Reads::Own;
        let out = self.written(|sweep| {
            let members = sweep.add(Expr::Launch(Launch::Members));
            let members = Atom::Var(sweep.bind("members", members));
            let member = sweep.add(Expr::Launch(Launch::Member));
            let own = sweep.bind("own", member);
            for fold in &folds {
                sweep.times("other", members, |sweep, other| {
                    sweep.collect(fold, own, other)
                });
            }
            if !gathers.is_empty() {
                sweep.times("other", members, |sweep, other| {
                    for gather in &gathers {
                        match gather.slots {
                            1 => sweep.collect_read(gather, own, other, None),
                            slots => sweep.times("slot", int(slots), |sweep, slot| {
                                sweep.collect_read(gather, own, other, Some(slot));
                            }),
                        }
                    }
                });
            }
        });
        self.others.reads = Reads::Dropped;
        match folds.is_empty() && gathers.is_empty() {
            true => Block::new(),
            false => out,
        }
    }

    /// What another agent keeps.
    fn of_other(&mut self, var: VarId, index: Option<Atom>, member: Atom) -> ExprId {
        let index = index.map(|index| self.write(index));
        let member = self.write(member);
        self.add(Expr::Other { var, index, member })
    }

    /// The iteration of a fold in which another agent read this one.
    fn collect(&mut self, fold: &Fold<'a>, own: VarId, other: Atom) {
        let names = self.names.clone();
        let bars = self.bars.clone();
        let active = self.active.clone();
        self.ask_again();
        let mut arrays = HashMap::new();
        let first = self.written(|sweep| sweep.as_other(fold, own, other, &mut arrays));
        self.active = &self.active - &fold.outside;
        self.active.extend(fold.sums.iter().map(|(var, _)| *var));
        let block = self.frame(fold.body);
        let block = [first, block].concat();
        let block = pruned(&self.program, block, &HashSet::new());
        self.read_elsewhere(&block, &arrays, other);
        self.block.extend(block);
        (self.names, self.bars, self.active) = (names, bars, active);
        self.ask_again();
    }

    /// Names what a fold reads, as another agent has it.
    fn as_other(
        &mut self,
        fold: &Fold<'a>,
        own: VarId,
        other: Atom,
        arrays: &mut HashMap<VarId, VarId>,
    ) {
        self.names.insert(fold.index, own);
        let value = self.write(other);
        let member = self.bind("member", value);
        let world = self.add(Expr::Launch(Launch::World));
        let world = Atom::Var(self.bind("world", world));
        let members = self.add(Expr::Launch(Launch::Members));
        let members = Atom::Var(self.bind("members", members));
        let first = self.op("first", BinaryOp::Multiply, world, members);
        let agent = self.op("agent", BinaryOp::Add, first, other);
        if let (Some(launch_names), Atom::Var(agent)) = (self.launch_names, agent) {
            self.names.insert(launch_names.member, member);
            self.names.insert(launch_names.agent, agent);
        }
        for (var, state) in &fold.captured {
            match self.source[*var].len {
                Len::One => {
                    let value = self.of_other(*state, None, other);
                    let value = self.bind("of_other", value);
                    self.names.insert(*var, value);
                }
                len @ (Len::Fixed(_) | Len::Open { .. }) => {
                    let ty = self.source[*var].ty;
                    let array = self.variable("of_other", ty, len, VarKind::Local);
                    arrays.insert(array, *state);
                    self.names.insert(*var, array);
                }
            }
        }
        for var in &fold.assigned {
            let (ty, len) = (self.source[*var].ty, self.source[*var].len);
            let local = self.variable("unused", ty, len, VarKind::Local);
            let declaration = self.zeros(local);
            self.block.push(declaration);
            self.names.insert(*var, local);
        }
        for (var, state) in &fold.sums {
            let value = self.of_other(*state, None, other);
            let bar = self.bind("bar", value);
            self.bars.insert(*var, bar);
        }
    }

    /// Reads elements of arrays of another agent where they are.
    fn read_elsewhere(&mut self, block: &Block, arrays: &HashMap<VarId, VarId>, other: Atom) {
        for id in nodes(&self.program, block) {
            if let Expr::Element { array, index } = self.program[id]
                && let Some(state) = arrays.get(&array)
            {
                let member = self.write(other);
                self.program[id] = Expr::Other {
                    var: *state,
                    index: Some(index),
                    member,
                };
            }
        }
    }

    /// Adds the adjoint of a value that another agent has read, if it was this one's.
    fn collect_read(&mut self, gather: &Gather, own: VarId, other: Atom, slot: Option<Atom>) {
        let Some(&bar) = self.bars.get(&gather.var) else {
            return;
        };
        let of = self.of_other(gather.member, slot, other);
        let of = Atom::Var(self.bind("of", of));
        let is_own = self.op("is_own", BinaryOp::Equal, of, Atom::Var(own));
        let adds = self.written(|sweep| {
            let index = gather.index.map(|index| match index {
                Atom::Literal(_) => index,
                Atom::Var(state) => {
                    let at = sweep.of_other(state, slot, other);
                    Atom::Var(sweep.bind("at", at))
                }
            });
            let more = sweep.of_other(gather.adjoint, slot, other);
            let before = sweep.element(bar, index);
            let value = sweep.add(Expr::Binary(BinaryOp::Add, before, more));
            sweep.assign(bar, index, value);
        });
        self.when(is_own, adds, Block::new());
    }
}

const NO_SUM: &str =
    "reverse mode passes only through folds over the world that sum up, as `sum` and `mean`";

/// Does an assignment add something to the variable?
fn is_sum(source: &Program, var: VarId, value: ExprId) -> bool {
    let is_it = |id: ExprId| source[id] == Expr::Read(var);
    let Expr::Binary(op, a, b) = source[value] else {
        return false;
    };
    let (adds, subtracts) = (op == BinaryOp::Add, op == BinaryOp::Subtract);
    (adds || subtracts) && is_it(a) || adds && is_it(b)
}

fn first_span(source: &Program, stmt: &Stmt) -> Span {
    let mut found = None;
    each_statement(std::slice::from_ref(stmt), &mut |stmt| {
        for id in source.nodes_of(stmt) {
            let span = source.span(id);
            if found.is_none() && span != Span::default() {
                found = Some(span);
            }
        }
    });
    found.unwrap_or_default()
}
