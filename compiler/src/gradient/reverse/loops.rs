//! Loops, backwards: the last iteration first.
//!
//! On the way back each iteration is computed again from the values that its variables had when it began.
//! What the way back reads of them is saved in arrays as the loop runs, an element for each iteration, where
//! the number of iterations is known and [`MOST_SAVED`] suffices. Else the iterations before it are run again
//! from the beginning of the loop: their number grows with the square of the loop's, and needs no memory.
//! Most loops need neither: a sum, and what does not follow from the iteration before.

use super::{
    members::Reads,
    prune::{named, pruned},
    record::{Sweep, is_constant},
};
use crate::{
    gradient::forward::Atom,
    ir::{BinaryOp, Block, Expr, ExprId, Len, Stmt, Type, Value, VarId, VarKind, each_statement},
    value::WORD_BYTES,
};
use std::collections::{HashMap, HashSet};

/// Bytes that a loop may save of all of its iterations.
const MOST_SAVED: u64 = 2048;

/// A variable from outside of a loop that the loop assigns.
struct Outer {
    var: VarId,
    /// What stands for it on the way back.
    inner: VarId,
}

/// What a loop assigns and what it reads, of variables that are declared outside of it.
struct Uses {
    assigned: HashSet<VarId>,
    all: Vec<VarId>,
}

/// A loop, in the names that are seen from outside.
struct Loop<'a> {
    index: VarId,
    bounds: [Atom; 2],
    /// Its body without the `break` at its end.
    body: &'a [Stmt],
    /// The whole statement.
    stmt: &'a Stmt,
    /// Does it end with a `break`? Then its iterations are counted.
    leaves: bool,
}

impl<'a> Sweep<'a> {
    /// Writes a loop; returns its way back.
    pub(super) fn repeat(
        &mut self,
        index: VarId,
        (start, end): (ExprId, ExprId),
        body: &'a [Stmt],
        stmt: &'a Stmt,
    ) -> Block {
        let leaves = matches!(body.last(), Some(Stmt::If { accept, .. })
            if matches!(accept.as_slice(), [Stmt::Break]));
        let whole = Loop {
            index,
            bounds: [self.fixed(start), self.fixed(end)],
            body: &body[..body.len() - usize::from(leaves)],
            stmt,
            leaves,
        };
        if !self.feeds(body) {
            return self.only_forward(stmt);
        }
        let uses = self.uses(std::slice::from_ref(stmt));
        if self.is_fold(index, (start, end), body) {
            let kept = self.keep_fold(index, stmt, whole.body, (&uses.assigned, &uses.all));
            let reads = std::mem::replace(&mut self.others.reads, Reads::Dropped);
            let back = self.turned(&whole, &uses);
            self.others.reads = reads;
            return [kept, back].concat();
        }
        self.turned(&whole, &uses)
    }

    /// Writes a loop that gives a variable that carries a derivative its value; returns its way back.
    fn turned(&mut self, whole: &Loop<'a>, uses: &Uses) -> Block {
        let before = self.names.clone();
        let (inner_index, outers) = self.enter(whole.index, uses);
        let count = self.known(&whole.bounds).map(|count| count as u32);
        self.enter_loop(inner_index, whole.bounds[0], count);
        let core = self.frame(whole.body);
        self.leave_loop();
        let inner_names = std::mem::replace(&mut self.names, before);
        let given = outers.iter().map(|outer| outer.inner).collect();
        let core = pruned(&self.program, core, &given);
        if core.is_empty() {
            return self.only_forward(whole.stmt);
        }
        let needed = named(&self.program, &core);
        let carried = outers.iter().filter(|outer| needed.contains(&outer.inner));
        let carried: Vec<&Outer> = carried.collect();
        let most = self.iterations(&whole.bounds);
        let bytes = carried.iter().map(|outer| self.bytes(outer.var));
        let bytes: u64 = bytes.sum();
        let fits = most.is_some_and(|most| most.saturating_mul(bytes) <= MOST_SAVED);
        let count = self.count(whole);
        if fits || carried.is_empty() {
            let most = most.unwrap_or(1).max(1) as u32;
            self.saving(whole, count, &carried, most, (inner_index, core))
        } else {
            self.repeating(whole, count, &outers, inner_names, (inner_index, core))
        }
    }

    /// A loop whose way back does nothing.
    fn only_forward(&mut self, stmt: &Stmt) -> Block {
        let copy = self.plain(std::slice::from_ref(stmt));
        self.block.extend(copy);
        Block::new()
    }

    /// The number of iterations.
    fn count(&mut self, whole: &Loop<'_>) -> Atom {
        match (whole.leaves, self.known(&whole.bounds)) {
            (false, Some(count)) => Atom::Literal(Value::I32(count)),
            (false, None) => {
                let count = self.difference(&whole.bounds);
                Atom::Var(self.name("count", count))
            }
            (true, _) => Atom::Var(self.local("count", Type::I32, Len::One)),
        }
    }

    /// The way back of a loop that saves what `most` iterations begin with.
    fn saving(
        &mut self,
        whole: &Loop<'_>,
        count: Atom,
        carried: &[&Outer],
        most: u32,
        (inner_index, core): (VarId, Block),
    ) -> Block {
        let mut saved = Vec::new();
        for outer in carried {
            let (ty, len) = self.shape(outer.var);
            saved.push(self.local("saved", ty, Len::Fixed(len * most)));
        }
        self.run(whole, count, carried, &saved);
        self.way_back(&whole.bounds, count, inner_index, core, |sweep, k| {
            for (outer, saved) in carried.iter().zip(&saved) {
                sweep.restore(outer, *saved, k);
            }
        })
    }

    /// The way back of a loop whose iterations are run again up to each one.
    fn repeating(
        &mut self,
        whole: &Loop<'_>,
        count: Atom,
        outers: &[Outer],
        inner_names: HashMap<VarId, VarId>,
        (inner_index, core): (VarId, Block),
    ) -> Block {
        let copies = outers.iter().map(|outer| self.before(outer.var));
        let copies: Vec<VarId> = copies.collect();
        self.run(whole, count, &[], &[]);
        let outside = std::mem::replace(&mut self.names, inner_names);
        let mut body = self.plain(whole.body);
        let first_index = self.names[&whole.index];
        self.names = outside;
        let index = self.variable("again", Type::I32, Len::One, VarKind::Index);
        self.rename(&mut body, first_index, index);
        self.way_back(&whole.bounds, count, inner_index, core, |sweep, k| {
            for (outer, copy) in outers.iter().zip(&copies) {
                sweep.begin_with(outer, *copy);
            }
            let start = sweep.write(whole.bounds[0]);
            let end = sweep.write(whole.bounds[0]);
            let end = sweep.sum(BinaryOp::Add, end, k);
            sweep.block.push(Stmt::For {
                index,
                start,
                end,
                body,
            });
        })
    }

    /// Does the loop give a variable that carries a derivative its value?
    fn feeds(&self, body: &[Stmt]) -> bool {
        let mut found = false;
        each_statement(body, &mut |stmt| {
            let target = stmt.target();
            found |= target.is_some_and(|var| self.active.contains(&var));
        });
        found
    }

    fn uses(&self, stmts: &[Stmt]) -> Uses {
        let mut declared = HashSet::new();
        let (mut assigned, mut all) = (HashSet::new(), Vec::new());
        each_statement(stmts, &mut |stmt| {
            if let Stmt::Let { var, .. } | Stmt::Var { var, .. } | Stmt::For { index: var, .. } =
                stmt
            {
                declared.insert(*var);
            } else if let Some(var) = stmt.target() {
                assigned.insert(var);
                all.push(var);
            }
            // What is read of another agent stays as it is in the whole phase.
            let nodes = self.source.nodes_of(stmt);
            let nodes = nodes.filter(|id| !matches!(self.source[*id], Expr::Other { .. }));
            all.extend(nodes.filter_map(|id| self.source[id].variable()));
        });
        assigned.retain(|var| !declared.contains(var));
        let mut seen = declared;
        all.retain(|var| seen.insert(*var));
        Uses { assigned, all }
    }

    /// Gives the variables that a loop uses other names: those that they have on the way back. What the loop
    /// assigns has a variable of its own there; of what it only reads, there is a copy, unless it stays.
    fn enter(&mut self, index: VarId, uses: &Uses) -> (VarId, Vec<Outer>) {
        let inner_index = self.variable("iteration", Type::I32, Len::One, VarKind::Let);
        let mut inner_names = vec![(index, inner_index)];
        let later = self.assigned_later();
        let mut outers = Vec::new();
        for &var in &uses.all {
            let source = &self.source[var];
            let assigned = uses.assigned.contains(&var);
            let stays = source.len != Len::One && !assigned && !later.contains(&var);
            if is_constant(source.kind) || stays {
                continue;
            }
            if !assigned {
                let copy = self.before(var);
                inner_names.push((var, copy));
                continue;
            }
            let (name, ty, len) = (source.name.clone(), source.ty, source.len);
            let inner = self.variable(&name, ty, len, VarKind::Local);
            inner_names.push((var, inner));
            outers.push(Outer { var, inner });
        }
        self.names.extend(inner_names);
        (inner_index, outers)
    }

    /// The variables that statements of the frame behind this one assign.
    fn assigned_later(&self) -> HashSet<VarId> {
        let mut found = HashSet::new();
        for rest in &self.rests {
            each_statement(rest, &mut |stmt| found.extend(stmt.target()));
        }
        found
    }

    /// The bounds where they are known.
    fn known(&self, bounds: &[Atom; 2]) -> Option<i32> {
        let number = |atom: Atom| match atom {
            Atom::Literal(Value::I32(number)) => Some(number),
            Atom::Literal(_) | Atom::Var(_) => None,
        };
        let count = number(bounds[1])?.checked_sub(number(bounds[0])?)?;
        Some(count.max(0))
    }

    fn iterations(&self, bounds: &[Atom; 2]) -> Option<u64> {
        self.known(bounds).map(|count| count as u64)
    }

    fn bytes(&self, var: VarId) -> u64 {
        let (ty, len) = self.shape(var);
        u64::from(ty.words()) * u64::from(len) * WORD_BYTES
    }

    pub(super) fn shape(&self, var: VarId) -> (Type, u32) {
        let var = &self.source[var];
        match var.len {
            Len::Fixed(count) => (var.ty, count),
            Len::One | Len::Open { .. } => (var.ty, 1),
        }
    }

    fn number(&mut self, number: i32) -> ExprId {
        self.add(Expr::Literal(Value::I32(number)))
    }

    fn sum(&mut self, op: BinaryOp, a: ExprId, b: Atom) -> ExprId {
        let b = self.write(b);
        self.add(Expr::Binary(op, a, b))
    }

    /// The number of iterations of a loop that does not end early.
    fn difference(&mut self, bounds: &[Atom; 2]) -> ExprId {
        let (start, end) = (self.write(bounds[0]), self.write(bounds[1]));
        let condition = self.add(Expr::Binary(BinaryOp::Less, start, end));
        let end = self.write(bounds[1]);
        let accept = self.sum(BinaryOp::Subtract, end, bounds[0]);
        let reject = self.number(0);
        self.add(Expr::Select {
            condition,
            accept,
            reject,
        })
    }

    /// Writes the loop itself, which counts its iterations, if it may end early, and saves what they begin
    /// with.
    fn run(&mut self, whole: &Loop<'_>, count: Atom, carried: &[&Outer], saved: &[VarId]) {
        let (leaves, bounds) = (whole.leaves, &whole.bounds);
        if let (true, Atom::Var(count)) = (leaves, count) {
            let zero = self.number(0);
            self.assign(count, None, zero);
        }
        let mut copy = self.plain(std::slice::from_ref(whole.stmt));
        let Some(Stmt::For {
            index,
            start,
            end,
            body,
        }) = copy.first_mut()
        else {
            unreachable!("a loop is copied to a loop");
        };
        (*start, *end) = (self.write(bounds[0]), self.write(bounds[1]));
        let outer = std::mem::take(&mut self.block);
        let conditions = std::mem::take(&mut self.conditions);
        if !carried.is_empty() {
            let place = self.add(Expr::Read(*index));
            let place = self.sum(BinaryOp::Subtract, place, bounds[0]);
            let place = Atom::Var(self.bind("place", place));
            for (outer, saved) in carried.iter().zip(saved) {
                self.save(outer.var, *saved, place);
            }
        }
        if let (true, Atom::Var(count)) = (leaves, count) {
            let more = self.add(Expr::Read(count));
            let one = Atom::Literal(Value::I32(1));
            let more = self.sum(BinaryOp::Add, more, one);
            self.assign(count, None, more);
        }
        self.conditions = conditions;
        let first = std::mem::replace(&mut self.block, outer);
        body.splice(0..0, first);
        self.block.extend(copy);
    }

    /// Saves what a variable of the source has as number `place` of a table.
    pub(super) fn save(&mut self, var: VarId, table: VarId, place: Atom) {
        let name = self.named(var);
        let Len::Fixed(count) = self.source[var].len else {
            let value = self.add(Expr::Read(name));
            return self.assign(table, Some(place), value);
        };
        self.copy(count, |sweep, k| {
            let at = sweep.place(place, count, k);
            let value = sweep.element(name, Some(k));
            sweep.assign(table, Some(Atom::Var(at)), value);
        });
    }

    /// Gives `to` what a variable had as number `place` of a table.
    pub(super) fn fetch(&mut self, to: VarId, var: VarId, table: VarId, place: Atom) {
        let Len::Fixed(count) = self.source[var].len else {
            let value = self.element(table, Some(place));
            return self.assign(to, None, value);
        };
        self.copy(count, |sweep, k| {
            let at = sweep.place(place, count, k);
            let value = sweep.element(table, Some(Atom::Var(at)));
            sweep.assign(to, Some(k), value);
        });
    }

    /// Declares what an iteration began with.
    fn restore(&mut self, outer: &Outer, saved: VarId, place: Atom) {
        let inner = outer.inner;
        if self.source[outer.var].len == Len::One {
            let value = Some(self.element(saved, Some(place)));
            return self.block.push(Stmt::Var { var: inner, value });
        }
        let declaration = self.zeros(inner);
        self.block.push(declaration);
        self.fetch(inner, outer.var, saved, place);
    }

    /// Element `k` of the array that was saved as number `place`.
    fn place(&mut self, place: Atom, count: u32, k: Atom) -> VarId {
        let first = self.write(place);
        let count = Atom::Literal(Value::I32(count as i32));
        let first = self.sum(BinaryOp::Multiply, first, count);
        let at = self.sum(BinaryOp::Add, first, k);
        self.bind("place", at)
    }

    /// A loop over the elements of an array.
    pub(super) fn copy(&mut self, count: u32, each: impl FnOnce(&mut Self, Atom)) {
        let index = self.variable("k", Type::I32, Len::One, VarKind::Index);
        let outer = std::mem::take(&mut self.block);
        each(self, Atom::Var(index));
        let body = std::mem::replace(&mut self.block, outer);
        let (start, end) = (self.number(0), self.number(count as i32));
        self.block.push(Stmt::For {
            index,
            start,
            end,
            body,
        });
    }

    /// A copy of what a variable has here, for the way back.
    fn before(&mut self, var: VarId) -> VarId {
        let name = self.named(var);
        let (ty, len) = (self.source[var].ty, self.source[var].len);
        let Len::Fixed(count) = len else {
            let value = self.add(Expr::Read(name));
            return self.name("before", value);
        };
        let copy = self.local("before", ty, len);
        self.copy(count, |sweep, k| {
            let value = sweep.element(name, Some(k));
            sweep.assign(copy, Some(k), value);
        });
        copy
    }

    /// Declares the variable of an iteration on the way back, with the value of a copy.
    fn begin_with(&mut self, outer: &Outer, copy: VarId) {
        let inner = outer.inner;
        match self.source[outer.var].len {
            Len::Fixed(count) => {
                let declaration = self.zeros(inner);
                self.block.push(declaration);
                self.copy(count, |sweep, k| {
                    let value = sweep.element(copy, Some(k));
                    sweep.assign(inner, Some(k), value);
                });
            }
            Len::One | Len::Open { .. } => {
                let value = Some(self.add(Expr::Read(copy)));
                self.block.push(Stmt::Var { var: inner, value });
            }
        }
    }

    /// The loop over the iterations, the last one first.
    fn way_back(
        &mut self,
        bounds: &[Atom; 2],
        count: Atom,
        inner_index: VarId,
        core: Block,
        begin: impl FnOnce(&mut Self, Atom),
    ) -> Block {
        let outer = std::mem::take(&mut self.block);
        let back = self.variable("back", Type::I32, Len::One, VarKind::Index);
        let last = self.write(count);
        let one = Atom::Literal(Value::I32(1));
        let last = self.sum(BinaryOp::Subtract, last, one);
        let number = self.sum(BinaryOp::Subtract, last, Atom::Var(back));
        let number = Atom::Var(self.bind("number", number));
        let value = self.write(number);
        let value = self.sum(BinaryOp::Add, value, bounds[0]);
        self.block.push(Stmt::Let {
            var: inner_index,
            value,
        });
        begin(self, number);
        self.block.extend(core);
        let body = std::mem::take(&mut self.block);
        let body = pruned(&self.program, body, &HashSet::new());
        let (start, end) = (self.number(0), self.write(count));
        self.block.push(Stmt::For {
            index: back,
            start,
            end,
            body,
        });
        std::mem::replace(&mut self.block, outer)
    }

    /// Reads and assigns one variable in place of another.
    pub(super) fn rename(&mut self, block: &mut Block, from: VarId, to: VarId) {
        let mut nodes = Vec::new();
        self.program.each_node_of(block, &mut |id| nodes.push(id));
        for id in nodes {
            if let Some(var) = self.program[id].variable_mut().filter(|var| **var == from) {
                *var = to;
            }
        }
        retarget(block, from, to);
    }
}

fn retarget(block: &mut Block, from: VarId, to: VarId) {
    for stmt in block {
        if let Some(var) = stmt.target_mut().filter(|var| **var == from) {
            *var = to;
        }
        for inner in stmt.blocks_mut() {
            stacker::maybe_grow(32 << 10, 1 << 20, || retarget(inner, from, to));
        }
    }
}
