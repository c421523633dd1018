//! The time loop of a program that runs forward and back.
//!
//! A run is cut into segments, whose number and length are about the root of its steps. The program has a
//! step for each of them and then, but for the last one, a step for each on the way back:
//!
//! * forward, it keeps the states before the segment, and runs it;
//! * back, it takes the states that it kept, runs the segment again with the states before each step in a
//!   table, and takes the steps from the last one to the first: each is computed once more from its states in
//!   the table, and turned around.
//!
//! So a run of `n` steps has about `2 √n` states in an agent's memory, and takes three runs forward and one
//! backwards. A run that has so few steps is one segment, and takes two runs forward. Where that does not
//! fit, segments are cut again ([`Cut`]): `k` levels have some `k n^(1/k)` states, and take `k + 1` runs
//! forward. Of states, those are kept that the way back depends on, and in the table are those that it reads.
//! Steps are those of [`super::unroll`], of which each is several of the model's.
//!
//! The way back is taken without guards ([`super::adjoint`]), and once more with them where that gave NaN.
//!
//! Each step draws the numbers of its own number. Derivatives by params are summed up per segment, and then
//! over segments, so that each is a sum of few.

use super::{
    Model,
    build::int,
    prune::{named, pruned, with_names},
    record::{Guards, Sweep},
};
use crate::{
    gradient::forward::Atom,
    ir::{BinaryOp, Block, Expr, Launch, Len, Stmt, Type, Value, VarId, VarKind, each_statement},
};
use std::collections::HashSet;

/// How the steps of a run are cut into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Those of the run.
    steps: u32,
    /// How often segments are cut, steps included: at least 2.
    levels: u32,
    /// Parts of a segment: of the smallest ones steps, of others smaller segments.
    parts: u32,
}

impl Cut {
    /// A run of so many steps, each of which may be several of the model's steps: one segment if it has no
    /// more than two roots of these, else segments of about the root.
    pub(super) fn new(steps: u32, of_model: u32) -> Cut {
        match u64::from(steps).pow(2) <= 4 * u64::from(of_model) {
            true => Cut {
                steps,
                levels: 2,
                parts: steps.max(1),
            },
            false => Cut::of_levels(steps, 2),
        }
    }

    fn of_levels(steps: u32, levels: u32) -> Cut {
        let enough = |parts: &u32| parts.checked_pow(levels).is_none_or(|most| most >= steps);
        let parts = (1..=steps.max(1)).find(enough).unwrap_or(1);
        Cut {
            steps,
            levels,
            parts,
        }
    }

    /// A cut that needs less memory and takes another run forward, if there may be one.
    pub(super) fn finer(self) -> Option<Cut> {
        let levels = self.levels + u32::from(self.segments() > 1);
        (self.parts > 2).then(|| Cut::of_levels(self.steps, levels))
    }

    /// The steps of a segment of a level: 0 for the smallest ones.
    fn length(self, level: u32) -> u32 {
        self.parts.saturating_pow(level + 1).min(i32::MAX as u32)
    }

    /// The level of the largest segments.
    fn top(self) -> u32 {
        self.levels - 2
    }

    /// The number of the largest segments.
    fn segments(self) -> u32 {
        self.steps.div_ceil(self.length(self.top())).max(1)
    }

    /// The steps of the program: each of the largest segments forward and back, the last one in one.
    pub(super) fn rounds(self) -> u32 {
        2 * self.segments() - 1
    }

    /// The most iterations over steps in one of these: a run per level and one back, twice with guards.
    pub(super) fn iterations(self) -> u64 {
        2 * u64::from(self.levels + 1) * u64::from(self.length(self.top()))
    }
}

/// A step of the model.
pub(super) struct Steps {
    /// Straight.
    pub(super) block: Block,
    /// The flag that says that the agent stops, if it may.
    pub(super) stopped: Option<VarId>,
    /// The name of its number, an `i32`.
    pub(super) number: VarId,
    /// The same for draws, a `u32`.
    pub(super) random: VarId,
}

/// What a sweep adds to a program.
pub(super) struct TimeLoop {
    /// States beside those of the model.
    pub(super) states: Vec<VarId>,
    /// Behind `init`.
    pub(super) init: Block,
    /// Declarations of tables.
    pub(super) prologue: Block,
    pub(super) step: Block,
}

/// The steps of the model in both directions.
struct Ways<'a> {
    model: &'a Model<'a>,
    cut: Cut,
    /// A step backwards, from the states before it: without guards, if there are any, and with them.
    back: Vec<Back>,
    /// States that the way back of a step reads: in a table.
    read: Vec<VarId>,
    /// States that are kept before segments.
    kept: Vec<VarId>,
    /// The number of steps that the agent runs, if it may stop.
    ran: Option<VarId>,
    /// The derivatives by params and inputs, summed over segments.
    sums: &'a [VarId],
    /// States beside those of the model.
    states: Vec<VarId>,
    /// The declarations of tables that a step of the program uses for itself.
    tables: Block,
}

/// The way back of a step.
struct Back {
    block: Block,
    /// The names of the step's number that it reads.
    names: [VarId; 2],
    /// States that are one value, and the locals that have what they were before the step.
    states: Vec<(VarId, VarId)>,
    /// The adjoints of these, and locals that stand for them: the optimiser makes names of locals that are
    /// assigned in one block.
    bars: Vec<(VarId, VarId)>,
}

/// The steps from the first number to the second one.
type Bounds = [Atom; 2];

impl<'a> Sweep<'a> {
    /// The time loop forward and back; `sums` are those of the derivatives by `model.by`.
    pub(super) fn time_loop(
        &mut self,
        cut: Cut,
        model: &'a Model<'a>,
        sums: &'a [VarId],
    ) -> TimeLoop {
        let mut ways = self.ways(cut, model, sums);
        let init = self.written(|sweep| {
            if let Some(ran) = ways.ran {
                let value = sweep.write(int(cut.steps));
                sweep.assign(ran, None, value);
            }
        });
        let step = self.written(|sweep| match cut.segments() {
            1 => sweep.segment(&mut ways, cut.top(), [int(0), int(cut.steps)]),
            segments => sweep.round(&mut ways, segments - 1),
        });
        TimeLoop {
            states: ways.states,
            init,
            prologue: ways.tables,
            step,
        }
    }

    /// Both directions of a step, and what they need of states.
    fn ways(&mut self, cut: Cut, model: &'a Model<'a>, sums: &'a [VarId]) -> Ways<'a> {
        let step = &model.steps;
        let all: HashSet<VarId> = self.source.states.iter().copied().collect();
        // Declared in each segment.
        for (_, var) in &model.by {
            self.bar(*var, VarKind::Local);
        }
        self.guards = Guards::On(0);
        let guarded = self.step_backwards(step, &all);
        let mut back = Vec::new();
        if self.guards != Guards::On(0) {
            self.guards = Guards::Off;
            back.push(self.step_backwards(step, &all));
        }
        self.guards = Guards::On(0);
        let mut read = &named(&self.program, &guarded.block) & &all;
        read.extend(guarded.states.iter().map(|(var, _)| *var));
        back.push(guarded);
        let mut kept = read.clone();
        loop {
            let given = &all - &kept;
            let block = pruned(self.source, step.block.clone(), &given);
            let more = &named(self.source, &block) & &all;
            if more.is_subset(&kept) {
                break;
            }
            kept.extend(more);
        }
        let in_order = |set: &HashSet<VarId>| -> Vec<VarId> {
            let states = self.source.states.iter().copied();
            states.filter(|var| set.contains(var)).collect()
        };
        let (read, kept) = (in_order(&read), in_order(&kept));
        let ran = step
            .stopped
            .map(|_| self.variable("ran", Type::I32, Len::One, VarKind::State));
        Ways {
            model,
            cut,
            back,
            read,
            kept,
            ran,
            sums,
            states: ran.into_iter().collect(),
            tables: Block::new(),
        }
    }

    fn step_backwards(&mut self, step: &'a Steps, states: &HashSet<VarId>) -> Back {
        let names = self.step_names(step);
        let single = |var: &VarId| self.source[*var].len == Len::One;
        let single: Vec<VarId> = self.source.states.iter().copied().filter(single).collect();
        let mut given = states.clone();
        let (mut own_states, mut bars) = (Vec::new(), Vec::new());
        for var in single {
            let (name, ty) = (self.source[var].name.clone(), self.source[var].ty);
            let own = self.variable(&name, ty, Len::One, VarKind::Local);
            self.names.insert(var, own);
            own_states.push((var, own));
            given.insert(own);
            if let Some(&outer) = self.bars.get(&var) {
                bars.push((outer, self.bar(var, VarKind::Local)));
                self.bars.insert(var, bars[bars.len() - 1].1);
            }
        }
        let block = self.frame(&step.block);
        for (var, _) in &own_states {
            self.names.remove(var);
        }
        for (outer, own) in &bars {
            let var = self.bars.iter().find(|(_, bar)| *bar == own);
            let var = var.map(|(var, _)| *var);
            self.bars.extend(var.map(|var| (var, *outer)));
        }
        let block = pruned(&self.program, block, &given);
        let mut block = with_names(&mut self.program, block);
        let mut nested = HashSet::new();
        for inner in block.iter().flat_map(Stmt::blocks) {
            each_statement(inner, &mut |stmt| nested.extend(stmt.target()));
        }
        let named = named(&self.program, &block);
        own_states.retain(|(_, own)| named.contains(own));
        bars.retain(|(outer, own)| {
            if nested.contains(own) {
                self.rename(&mut block, *own, *outer);
            }
            named.contains(own) && !nested.contains(own)
        });
        Back {
            block,
            names,
            states: own_states,
            bars,
        }
    }

    /// A step of the program, where `last` is the number of the last of several segments.
    fn round(&mut self, ways: &mut Ways<'a>, last: u32) {
        let (level, length) = (ways.cut.top(), ways.cut.length(ways.cut.top()));
        let tables = self.tables(&ways.kept, last, VarKind::State);
        ways.states.extend(&tables);
        let round = self.add(Expr::Launch(Launch::Step));
        let round = Atom::Var(self.bind("round", round));
        let forward = self.op("forward", BinaryOp::Less, round, int(last));
        let opposite = self.op("opposite", BinaryOp::Subtract, int(2 * last), round);
        let segment = self.choice("segment", forward, round, opposite);
        let first = self.op("first", BinaryOp::Multiply, segment, int(length));
        let there = self.written(|sweep| {
            sweep.save_all(&ways.kept, &tables, segment);
            sweep.forward(ways, first, length);
        });
        let back = self.written(|sweep| {
            let later = sweep.op("later", BinaryOp::Less, int(last), round);
            // The last segment goes on with what it has. Places are in range where nothing is read, too.
            let place = sweep.choice("place", later, segment, int(0));
            let fetched = sweep.written(|sweep| sweep.fetch_all(&ways.kept, &tables, place));
            sweep.when(later, fetched, Block::new());
            let end = sweep.end(first, length, int(ways.cut.steps));
            sweep.segment(ways, level, [first, end]);
        });
        self.when(forward, there, back);
    }

    /// A segment from its first states on, forward and back.
    fn segment(&mut self, ways: &mut Ways<'a>, level: u32, bounds: Bounds) {
        if level == 0 {
            return self.smallest(ways, bounds);
        }
        let [begin, end] = bounds;
        let length = ways.cut.length(level - 1);
        let tables = self.tables(&ways.kept, ways.cut.parts, VarKind::Local);
        self.declare_tables(ways, &tables);
        // The last segment may be shorter than others.
        let steps = self.op("steps", BinaryOp::Subtract, end, begin);
        let more = self.op("steps", BinaryOp::Add, steps, int(length - 1));
        let count = self.op("parts", BinaryOp::Divide, more, int(length));
        let last = self.op("last", BinaryOp::Subtract, count, int(1));
        self.times("part", last, |sweep, part| {
            sweep.save_all(&ways.kept, &tables, part);
            let before = sweep.op("before", BinaryOp::Multiply, part, int(length));
            let first = sweep.op("first", BinaryOp::Add, begin, before);
            sweep.forward(ways, first, length);
        });
        self.times("back", count, |sweep, back| {
            let part = sweep.op("part", BinaryOp::Subtract, last, back);
            let again = sweep.op("again", BinaryOp::Less, int(0), back);
            let fetched = sweep.written(|sweep| sweep.fetch_all(&ways.kept, &tables, part));
            sweep.when(again, fetched, Block::new());
            let before = sweep.op("before", BinaryOp::Multiply, part, int(length));
            let first = sweep.op("first", BinaryOp::Add, begin, before);
            let until = sweep.end(first, length, end);
            sweep.segment(ways, level - 1, [first, until]);
        });
    }

    /// A segment of steps: forward with a table of their states, and back.
    fn smallest(&mut self, ways: &mut Ways<'a>, [first, end]: Bounds) {
        self.begin_sums(ways.model);
        let tables = self.tables(&ways.read, ways.cut.parts, VarKind::Local);
        self.declare_tables(ways, &tables);
        let count = self.op("count", BinaryOp::Subtract, end, first);
        let last = self.op("last", BinaryOp::Subtract, count, int(1));
        let is_end = self.op("is_end", BinaryOp::Equal, end, int(ways.cut.steps));
        // The states behind a segment are known, except those behind the run.
        let forward = self.choice("forward", is_end, count, last);
        self.times("k", forward, |sweep, k| {
            sweep.save_all(&ways.read, &tables, k);
            sweep.step(ways, first, k);
        });
        let finish = self.written(|sweep| {
            sweep.end_of_run(ways.model);
            sweep.add_sums(ways);
            for (_, var) in &ways.model.by {
                sweep.clear(sweep.bars[var]);
            }
        });
        let save = self.written(|sweep| sweep.save_all(&ways.read, &tables, last));
        self.when(is_end, finish, save);
        let both = std::mem::take(&mut ways.back).into_iter().map(|back| {
            self.written(|sweep| {
                sweep.times("back", count, |sweep, number| {
                    let k = sweep.op("k", BinaryOp::Subtract, last, number);
                    sweep.step_back(ways, &tables, back, first, k);
                });
            })
        });
        let both: Vec<Block> = both.collect();
        match <[Block; 2]>::try_from(both) {
            Ok([fast, guarded]) => self.attempt(ways.model, fast, guarded),
            Err(one) => self.block.extend(one.concat()),
        }
        self.add_sums(ways);
    }

    /// Takes the way back without guards; where the result is NaN, once more with them.
    fn attempt(&mut self, model: &'a Model<'a>, fast: Block, guarded: Block) {
        let states = self.source.states.iter();
        let bars: Vec<VarId> = states
            .filter_map(|var| self.bars.get(var).copied())
            .collect();
        let before: Vec<VarId> = bars.iter().map(|bar| self.copy_of(*bar)).collect();
        self.block.extend(fast);
        // NaN, if any of them is.
        let sum = self.variable("sum", Type::F32, Len::One, VarKind::Local);
        let declaration = self.zeros(sum);
        self.block.push(declaration);
        let sums = model.by.iter().map(|(_, var)| self.bars[var]);
        let all: Vec<VarId> = bars.iter().copied().chain(sums).collect();
        for var in all {
            self.each_value(var, |sweep, k| {
                let value = sweep.element(var, k);
                let value = sweep.parts_added(value);
                let before = sweep.add(Expr::Read(sum));
                let value = sweep.add(Expr::Binary(BinaryOp::Add, before, value));
                sweep.assign(sum, None, value);
            });
        }
        let value = self.add(Expr::Read(sum));
        let to = Type::U32;
        let bits = self.add(Expr::Bitcast { to, value });
        let bits = Atom::Var(self.bind("bits", bits));
        let all_but_sign = Atom::Literal(Value::U32(0x7fff_ffff));
        let size = self.op("size", BinaryOp::BitAnd, bits, all_but_sign);
        let infinity = Atom::Literal(Value::U32(f32::INFINITY.to_bits()));
        let is_nan = self.op("is_nan", BinaryOp::Less, infinity, size);
        let again = self.written(|sweep| {
            for (bar, before) in bars.iter().zip(&before) {
                sweep.each_value(*bar, |sweep, k| {
                    let value = sweep.element(*before, k);
                    sweep.assign(*bar, k, value);
                });
            }
            for (_, var) in &model.by {
                sweep.clear(sweep.bars[var]);
            }
            sweep.block.extend(guarded);
        });
        self.when(is_nan, again, Block::new());
    }

    /// Adds the derivatives of a segment to those of the segments behind it.
    fn add_sums(&mut self, ways: &Ways<'a>) {
        for ((_, var), sum) in ways.model.by.iter().zip(ways.sums) {
            self.add_sum(*sum, *sum, *var);
        }
    }

    /// What follows the last step, and the adjoints of the last states.
    fn end_of_run(&mut self, model: &'a Model<'a>) {
        let (wanted, place) = model.wanted;
        self.begin_with_one(wanted, place);
        let both = self.frame(&model.finish);
        self.block.extend(both);
    }

    /// So many steps forward.
    fn forward(&mut self, ways: &Ways<'a>, first: Atom, count: u32) {
        self.times("k", int(count), |sweep, k| sweep.step(ways, first, k));
    }

    /// Step `first + k`.
    fn step(&mut self, ways: &Ways<'a>, first: Atom, k: Atom) {
        let step = &ways.model.steps;
        let names = self.step_names(step);
        self.number_step(names, first, k);
        let mut body = self.plain(&step.block);
        let (Some(ran), Some(stopped)) = (ways.ran, step.stopped) else {
            return self.block.extend(body);
        };
        let stopped = Atom::Var(self.named(stopped));
        body.extend(self.written(|sweep| {
            let last = sweep.written(|sweep| {
                let value = sweep.op("ran", BinaryOp::Add, Atom::Var(names[0]), int(1));
                let value = sweep.write(value);
                sweep.assign(ran, None, value);
            });
            sweep.when(stopped, last, Block::new());
        }));
        self.unless_stopped(ran, names[0], body);
    }

    /// Step `first + k` backwards, from the states before it, which are in tables.
    fn step_back(&mut self, ways: &Ways<'a>, tables: &[VarId], back: Back, first: Atom, k: Atom) {
        self.number_step(back.names, first, k);
        let body = self.written(|sweep| {
            for (var, table) in ways.read.iter().zip(tables) {
                match back.states.iter().find(|(state, _)| state == var) {
                    Some((_, own)) => {
                        let value = Some(sweep.element(*table, Some(k)));
                        sweep.block.push(Stmt::Var { var: *own, value });
                    }
                    None if sweep.source[*var].len == Len::One => {}
                    None => sweep.fetch(*var, *var, *table, k),
                }
            }
            for (outer, own) in &back.bars {
                let value = Some(sweep.add(Expr::Read(*outer)));
                sweep.block.push(Stmt::Var { var: *own, value });
            }
            sweep.block.extend(back.block);
            for (outer, own) in &back.bars {
                let value = sweep.add(Expr::Read(*own));
                sweep.assign(*outer, None, value);
            }
        });
        match ways.ran {
            Some(ran) => self.unless_stopped(ran, back.names[0], body),
            None => self.block.extend(body),
        }
    }

    fn unless_stopped(&mut self, ran: VarId, step: VarId, body: Block) {
        let runs = self.op("runs", BinaryOp::Less, Atom::Var(step), Atom::Var(ran));
        self.when(runs, body, Block::new());
    }

    /// New names for the number of a step.
    fn step_names(&mut self, step: &Steps) -> [VarId; 2] {
        [step.number, step.random].map(|var| {
            let (name, ty) = (self.source[var].name.clone(), self.source[var].ty);
            let own = self.variable(&name, ty, Len::One, VarKind::Let);
            self.names.insert(var, own);
            own
        })
    }

    fn number_step(&mut self, [number, random]: [VarId; 2], first: Atom, k: Atom) {
        let (first, k) = (self.write(first), self.write(k));
        let value = self.add(Expr::Binary(BinaryOp::Add, first, k));
        self.block.push(Stmt::Let { var: number, value });
        let value = self.add(Expr::Read(number));
        let to = Type::U32;
        let value = self.add(Expr::Bitcast { to, value });
        self.block.push(Stmt::Let { var: random, value });
    }

    /// The end of a segment, which is not behind that of what it is part of.
    fn end(&mut self, first: Atom, length: u32, limit: Atom) -> Atom {
        let end = self.op("end", BinaryOp::Add, first, int(length));
        let fits = self.op("fits", BinaryOp::Less, end, limit);
        self.choice("end", fits, end, limit)
    }

    /// Tables of so many values of each variable.
    pub(super) fn tables(&mut self, vars: &[VarId], count: u32, kind: VarKind) -> Vec<VarId> {
        let table = |sweep: &mut Self, var: &VarId| {
            let (ty, len) = sweep.shape(*var);
            let name = format!("{}_before", sweep.source[*var].name);
            sweep.variable(&name, ty, Len::Fixed(len * count), kind)
        };
        vars.iter().map(|var| table(self, var)).collect()
    }

    /// Declares tables once for all segments. Those of a single one stay in its block, where the optimiser
    /// may make names of their elements.
    fn declare_tables(&mut self, ways: &mut Ways<'a>, tables: &[VarId]) {
        for table in tables {
            let declaration = self.zeros(*table);
            match ways.cut.segments() {
                1 => self.block.push(declaration),
                _ => ways.tables.push(declaration),
            }
        }
    }

    pub(super) fn save_all(&mut self, vars: &[VarId], tables: &[VarId], place: Atom) {
        for (var, table) in vars.iter().zip(tables) {
            self.save(*var, *table, place);
        }
    }

    pub(super) fn fetch_all(&mut self, vars: &[VarId], tables: &[VarId], place: Atom) {
        for (var, table) in vars.iter().zip(tables) {
            self.fetch(*var, *var, *table, place);
        }
    }

    /// Declares what sums up the derivatives of a segment.
    pub(super) fn begin_sums(&mut self, model: &Model<'_>) {
        for (_, var) in &model.by {
            let declaration = self.no_adjoint(self.bars[var]);
            self.block.push(declaration);
        }
    }

    /// The sum of `before` and the derivatives of a segment by a variable.
    pub(super) fn add_sum(&mut self, to: VarId, before: VarId, by: VarId) {
        let bar = self.bars[&by];
        self.each_value(bar, |sweep, k| {
            let (before, more) = (sweep.element(before, k), sweep.element(bar, k));
            let value = sweep.add(Expr::Binary(BinaryOp::Add, before, more));
            sweep.assign(to, k, value);
        });
    }
}
