//! What the loops of a program access, and which of them must be split together.

use crate::{
    ir::{
        BinaryOp, Block, Expr, ExprId, LaneOp, Launch, Program, Stmt, VarId, VarKind, VarMap,
        any_statement, cost::instructions::Weights,
    },
    kernel::lanes::{
        LONG, SHUFFLES, Sharing, SplitLoop, TURN,
        accesses::{Access, Form, Names},
        accumulation, elements,
    },
    passes::rewrite::literal_i32,
    value::VEC4_WORDS,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Assumed iterations of a loop whose bounds depend on the run.
const UNKNOWN_ITERATIONS: f64 = 16.0;
/// How often `init` and `finish` run, relative to a `step`, if there is one.
const SELDOM: f64 = 0.01;

/// A loop.
pub(crate) struct Loop {
    pub(crate) index: VarId,
    /// If it runs from 0 to a literal, or over all agents of a world of known size.
    pub(crate) iterations: u32,
    /// Does it run over these?
    pub(crate) over_world: bool,
    /// Instructions of one iteration.
    pub(crate) nodes: f64,
    /// Operations of the unit for special functions among them.
    pub(crate) special: f64,
    /// How often it is started per step.
    pub(crate) runs: f64,
    /// What it accumulates.
    pub(crate) accumulators: BTreeMap<VarId, LaneOp>,
    /// How often it reads inputs or tables per step, by how much further the word is for its next iteration,
    /// modulo [`VEC4_WORDS`].
    loads: [f64; VEC4_WORDS as usize],
    /// Does it read inputs there?
    pub(crate) loads_inputs: bool,
    /// The loops around it.
    pub(crate) around: Vec<usize>,
    /// Does it stand in a branch?
    in_branch: bool,
    /// Are its iterations independent, as far as scalars are concerned?
    pub(crate) fits: bool,
    /// Are elements of arrays accessed at indices that depend on its own, but are not its own?
    reaches: bool,
}

/// Loops and arrays that can be split only together.
#[derive(Clone, Default)]
pub(crate) struct Group {
    pub(crate) loops: Vec<usize>,
    pub(crate) arrays: Vec<(VarId, Form)>,
    /// The accesses that read elements of other lanes, in their order, with the instructions of a lane that
    /// they take a step.
    pub(crate) shuffles: Vec<(usize, f64)>,
}

/// The groups that are split.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) groups: Vec<Group>,
    loops: BTreeSet<usize>,
    /// The loops around these.
    around: BTreeSet<usize>,
    arrays: BTreeSet<VarId>,
    /// The loops on whose indices it depends which elements are shuffled, and whether.
    shuffled: BTreeSet<usize>,
}

impl Taken {
    /// Takes a group, unless it has a loop or an array in common with another, or a loop inside one of its,
    /// or lanes would diverge where one of them shuffles.
    pub(crate) fn take(&mut self, survey: &Survey, group: Group) {
        let reads = group.shuffles.iter().map(|&(at, _)| &survey.accesses[at]);
        let depends =
            reads.flat_map(|read| read.varies.iter().chain(read.control.iter().flatten()));
        let shuffled: BTreeSet<usize> = depends.copied().collect();
        let clashes = |at: &usize| {
            let mut around = survey.loops[*at].around.iter();
            self.loops.contains(at)
                || self.around.contains(at)
                || self.shuffled.contains(at)
                || around.any(|other| self.loops.contains(other))
        };
        if group.loops.iter().any(clashes)
            || group
                .arrays
                .iter()
                .any(|(array, _)| self.arrays.contains(array))
            || !self.loops.is_disjoint(&shuffled)
        {
            return;
        }
        self.loops.extend(&group.loops);
        for at in &group.loops {
            self.around.extend(&survey.loops[*at].around);
        }
        self.arrays
            .extend(group.arrays.iter().map(|(array, _)| array));
        self.shuffled.extend(shuffled);
        self.groups.push(group);
    }
}

/// What is known about a program.
pub(crate) struct Survey {
    pub(crate) loops: Vec<Loop>,
    /// Instructions of all that runs per step.
    pub(crate) total: f64,
    /// Operations of the unit for special functions among them.
    pub(crate) special: f64,
    pub(crate) accesses: Vec<Access>,
    /// Arrays and the loops at whose index they are accessed.
    links: BTreeSet<(VarId, usize)>,
    /// Arrays that are accessed otherwise.
    whole: BTreeSet<VarId>,
    state_arrays: BTreeSet<VarId>,
    pub(crate) names: Names,
}

struct Walk<'a> {
    program: &'a Program,
    members: Option<u32>,
    weights: Weights,
    survey: Survey,
    /// The loops around this place.
    around: Vec<usize>,
    /// The branches around it.
    branches: u32,
    /// How many loops are around a variable's declaration.
    depth: HashMap<VarId, usize>,
    /// Variables, and the loops within which they are read other than to accumulate.
    reads: BTreeSet<(VarId, usize)>,
    /// The loops on whose index a name depends.
    depends: HashMap<VarId, BTreeSet<usize>>,
    /// The loops on whose indices conditions and bounds around this place depend, from the outside in.
    control: Vec<BTreeSet<usize>>,
    /// Operands around this place that others decide about.
    asked: u32,
    runs: f64,
}

impl Survey {
    /// Of a program in which a world has so many `members`, if loops over its agents are to be known.
    pub(crate) fn of(program: &Program, members: Option<u32>) -> Survey {
        let mut walk = Walk {
            program,
            members,
            weights: Weights::new(program, ()),
            survey: Survey {
                loops: Vec::new(),
                total: 0.0,
                special: 0.0,
                accesses: Vec::new(),
                links: BTreeSet::new(),
                whole: BTreeSet::new(),
                state_arrays: BTreeSet::new(),
                names: Names::default(),
            },
            around: Vec::new(),
            branches: 0,
            depth: HashMap::new(),
            reads: BTreeSet::new(),
            depends: HashMap::new(),
            control: Vec::new(),
            asked: 0,
            runs: 1.0,
        };
        let seldom = if program.phases.is_empty() {
            1.0
        } else {
            SELDOM
        };
        let before = [&program.init, &program.prologue].map(|block| (block, seldom));
        let phases = program.phases.iter().map(|phase| (&phase.body, 1.0));
        for (block, runs) in before
            .into_iter()
            .chain(phases)
            .chain([(&program.finish, seldom)])
        {
            walk.runs = runs;
            walk.block(block);
        }
        // What an iteration has accumulated so far differs between lanes.
        for (at, known) in walk.survey.loops.iter_mut().enumerate() {
            let accumulators = &mut known.accumulators.keys();
            known.fits &= !accumulators.any(|var| walk.reads.contains(&(*var, at)));
        }
        walk.survey
    }

    /// The groups all of whose loops access arrays at their own index alone.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let links = self.links.iter().map(|&(array, at)| {
            let form = Form::plain(self.loops[at].iterations);
            (array, form, at)
        });
        let groups = self.joined(0..self.loops.len(), links);
        let fits = |group: &Group| {
            let mut loops = group.loops.iter().map(|&at| &self.loops[at]);
            let mut arrays = group.arrays.iter();
            loops.all(|known| known.fits && !known.reaches)
                && arrays.all(|(array, _)| !self.whole.contains(array))
                && !self.is_nested(group)
        };
        groups.into_iter().filter(fits).collect()
    }

    /// The groups that loops form with arrays, by the loops at whose index the arrays are accessed.
    pub(crate) fn joined(
        &self,
        loops: impl Iterator<Item = usize> + Clone,
        links: impl Iterator<Item = (VarId, Form, usize)> + Clone,
    ) -> Vec<Group> {
        let mut of_loop: Vec<usize> = (0..self.loops.len()).collect();
        let find = |of: &Vec<usize>, mut at: usize| {
            while of[at] != at {
                at = of[at];
            }
            at
        };
        let mut first: VarMap<Option<usize>> = VarMap::default();
        let mut arrays = Vec::new();
        for (array, form, at) in links {
            let known = first.grow(array, None);
            if known.is_none() {
                arrays.push((array, form, at));
            }
            let other = *known.get_or_insert(at);
            let (a, b) = (find(&of_loop, at), find(&of_loop, other));
            of_loop[a] = b;
        }
        let mut groups = vec![Group::default(); self.loops.len()];
        for at in loops {
            groups[find(&of_loop, at)].loops.push(at);
        }
        for (array, form, at) in arrays {
            groups[find(&of_loop, at)].arrays.push((array, form));
        }
        groups.retain(|group| !group.loops.is_empty());
        groups
    }

    /// Is a loop of a group inside another one of it?
    fn is_nested(&self, group: &Group) -> bool {
        let loops: BTreeSet<usize> = group.loops.iter().copied().collect();
        let mut around = group.loops.iter().flat_map(|&at| &self.loops[at].around);
        around.any(|at| loops.contains(at))
    }

    /// Can they be split evenly over this many lanes?
    pub(crate) fn can_share(&self, group: &Group, lanes: u32) -> bool {
        group.loops.iter().all(|&at| {
            let iterations = self.loops[at].iterations;
            if group.arrays.is_empty() {
                iterations >= lanes
            } else {
                iterations.is_multiple_of(lanes)
            }
        })
    }

    /// Would lanes have to exchange values where only some agents get to?
    pub(crate) fn exchanges_in_branches(&self, group: &Group) -> bool {
        let mut loops = group.loops.iter().map(|&at| &self.loops[at]);
        loops.any(|known| known.in_branch && !known.accumulators.is_empty())
    }

    /// Do lanes' parts of buffers begin within a `vec4`, for most of what loops load?
    pub(crate) fn splits_rows(&self, group: &Group, lanes: u32) -> bool {
        let (mut split, mut all) = (0.0, 0.0);
        for &at in &group.loops {
            let known = &self.loops[at];
            let part = known.iterations.div_ceil(lanes);
            let in_turns = self.split_loop(group, at).sharing != Sharing::Parts;
            for (factor, loads) in (0..).zip(&known.loads) {
                let is_split = !(factor * part).is_multiple_of(VEC4_WORDS);
                all += loads;
                split += if is_split && !in_turns { *loads } else { 0.0 };
            }
        }
        split > all / 2.0
    }

    /// What the rewriting needs to know about a group's loop.
    pub(crate) fn split_loop(&self, group: &Group, at: usize) -> SplitLoop {
        let known = &self.loops[at];
        let is_long = group.arrays.is_empty() && known.iterations >= LONG;
        SplitLoop {
            index: known.index,
            iterations: known.iterations,
            accumulators: known.accumulators.iter().map(|(v, op)| (*v, *op)).collect(),
            sharing: match known.iterations.is_multiple_of(TURN) {
                _ if known.over_world => Sharing::Strided,
                true if is_long => Sharing::Turns(TURN),
                false if is_long => Sharing::Turns(1),
                true | false => Sharing::Parts,
            },
        }
    }

    /// Is it an array of a state?
    pub(crate) fn is_state(&self, array: VarId) -> bool {
        self.state_arrays.contains(&array)
    }
}

impl Walk<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in block {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.statement(stmt));
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        if let Stmt::Assign { var, value } = stmt {
            return self.assign(*var, *value);
        }
        for &root in stmt.roots().iter() {
            self.expr(root);
        }
        match stmt {
            Stmt::Let { var, value } => {
                let depends = self.dependence(*value);
                self.depends.insert(*var, depends);
                self.depth.insert(*var, self.around.len());
                self.survey.names.define(self.program, *var, *value);
            }
            Stmt::Var { var, .. } => {
                // Its later values are not followed: it may depend on every loop around it.
                let depends = self.around.iter().copied().collect();
                self.depends.insert(*var, depends);
                self.depth.insert(*var, self.around.len());
            }
            Stmt::AssignElement { var, index, .. } => self.write(*var, *index),
            Stmt::If {
                condition,
                accept,
                reject,
            } => {
                self.branches += 1;
                self.control.push(self.dependence(*condition));
                self.block(accept);
                self.block(reject);
                self.control.pop();
                self.branches -= 1;
            }
            Stmt::For {
                index,
                start,
                end,
                body,
            } => self.for_loop(*index, *start, *end, body),
            Stmt::Break | Stmt::Continue => {
                if let Some(&at) = self.around.last() {
                    self.survey.loops[at].fits = false;
                }
                // Lanes may leave an inner loop at different times; that loop is not split.
            }
            Stmt::Stop | Stmt::Return(_) => self.spoil_from(0),
            Stmt::Assign { .. } => {}
        }
    }

    fn for_loop(&mut self, index: VarId, start: ExprId, end: ExprId, body: &Block) {
        let mut control = self.dependence(start);
        control.extend(self.dependence(end));
        let members = self.members.and_then(|members| i32::try_from(members).ok());
        let is_world = || SHUFFLES && self.program[end] == Expr::Launch(Launch::Members);
        let members = members.filter(|_| is_world());
        let (start, end) = (
            literal_i32(self.program, start),
            members.or_else(|| literal_i32(self.program, end)),
        );
        let iterations = match (start, end) {
            (Some(0), Some(end)) if end > 0 => end as u32,
            _ => 0,
        };
        let at = self.survey.loops.len();
        self.survey.loops.push(Loop {
            index,
            iterations,
            over_world: members.is_some(),
            nodes: 0.0,
            special: 0.0,
            runs: self.runs,
            accumulators: BTreeMap::new(),
            loads: [0.0; VEC4_WORDS as usize],
            loads_inputs: false,
            around: self.around.clone(),
            in_branch: self.branches > 0,
            fits: iterations > 0,
            reaches: false,
        });
        if let (Some(start), Some(end)) = (start, end) {
            let (first, last) = (i64::from(start), i64::from(end) - 1);
            self.survey.names.bound(index, first, last);
        }
        self.depth.insert(index, self.around.len() + 1);
        self.depends.insert(index, BTreeSet::from([at]));
        let known = match (start, end) {
            (Some(start), Some(end)) => (f64::from(end) - f64::from(start)).max(0.0),
            _ => UNKNOWN_ITERATIONS,
        };
        // Iterations of different lanes may end it at different times.
        if any_statement(body, &|stmt| matches!(stmt, Stmt::Break | Stmt::Continue)) {
            control.extend(&self.around);
        }
        let runs = self.runs;
        self.runs *= known;
        self.around.push(at);
        self.control.push(control);
        self.block(body);
        self.control.pop();
        self.around.pop();
        self.runs = runs;
        // The instructions of an inner loop run once per iteration of its own.
        if let Some(&outer) = self.around.last() {
            self.survey.loops[outer].nodes += known * self.survey.loops[at].nodes;
            self.survey.loops[outer].special += known * self.survey.loops[at].special;
        }
    }

    /// Those loops around this place that are not around a variable's declaration cannot be split.
    fn spoil_from(&mut self, depth: usize) {
        for &at in &self.around[depth..] {
            self.survey.loops[at].fits = false;
        }
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        let depth = self.depth.get(&var).copied().unwrap_or(0);
        if depth >= self.around.len() {
            return self.expr(value);
        }
        let Some((op, read)) = accumulation(self.program, var, value) else {
            self.spoil_from(depth);
            return self.expr(value);
        };
        for id in read {
            self.expr(id);
        }
        for &at in &self.around[depth..] {
            let known = &mut self.survey.loops[at];
            let before = known.accumulators.insert(var, op);
            known.fits &= before.is_none_or(|before| before == op);
        }
        self.weigh(1.0, 0.0);
    }

    fn weigh(&mut self, instructions: f64, special: f64) {
        self.survey.total += instructions * self.runs;
        self.survey.special += special * self.runs;
        if let Some(&at) = self.around.last() {
            self.survey.loops[at].nodes += instructions;
            self.survey.loops[at].special += special;
        }
    }

    fn expr(&mut self, id: ExprId) {
        let weight = self.weights.of_node(self.program, id);
        self.weigh(weight.instructions.into(), weight.special.into());
        let expr = &self.program[id];
        if let Expr::Element { array, index } = expr {
            self.touch(*array, *index, false);
        } else if let Expr::RandomWord { .. } = expr {
            self.spoil_from(0);
        } else if let Expr::Read(var) = expr {
            self.read(*var);
        }
        let asks = matches!(expr, Expr::Binary(BinaryOp::And | BinaryOp::Or, ..));
        for (at, &operand) in self.program[id].operands().iter().enumerate() {
            let asked = u32::from(asks && at == 1);
            self.asked += asked;
            self.expr(operand);
            self.asked -= asked;
        }
    }

    /// A variable is read other than to accumulate.
    fn read(&mut self, var: VarId) {
        if !matches!(
            self.program[var].kind,
            VarKind::Local | VarKind::State | VarKind::Output
        ) {
            return;
        }
        let depth = self.depth.get(&var).copied().unwrap_or(0);
        for &at in self.around.get(depth..).unwrap_or_default() {
            self.reads.insert((var, at));
        }
    }

    /// An element is written: a loop whose iterations all write the same one cannot be split.
    fn write(&mut self, array: VarId, index: ExprId) {
        let depth = self.depth.get(&array).copied().unwrap_or(0);
        let varies = self.dependence(index);
        for &at in self.around.get(depth..).unwrap_or_default() {
            self.survey.loops[at].fits &= varies.contains(&at);
        }
        self.touch(array, index, true);
    }

    /// An element is read or written.
    fn touch(&mut self, array: VarId, index: ExprId, writes: bool) {
        let var = &self.program[array];
        match var.kind {
            VarKind::Local
            | VarKind::State
            | VarKind::Output
            | VarKind::WorldState
            | VarKind::WorldOutput
            | VarKind::Record
            | VarKind::WorldRecord => {}
            VarKind::WorldInput => return,
            VarKind::Data | VarKind::Input => return self.load(array, index),
            VarKind::Constant
            | VarKind::Param
            | VarKind::Let
            | VarKind::Index
            | VarKind::Argument => return,
        }
        if var.kind == VarKind::State {
            self.survey.state_arrays.insert(array);
        }
        let outside = self.depth.get(&array).copied().unwrap_or(0);
        let outside = outside.min(self.around.len());
        let varies = self.dependence(index);
        let control = (self.asked == 0).then(|| self.control.iter().flatten().copied().collect());
        let splittable = matches!(var.kind, VarKind::Local | VarKind::State);
        let elements_of = elements(var.len).filter(|_| splittable);
        let names = &self.survey.names;
        let sum = names.linear(self.program, index);
        let near = elements_of.filter(|_| SHUFFLES);
        let shift = near.and_then(|count| names.shift(self.program, index, count));
        self.survey.accesses.push(Access {
            array,
            elements: elements_of,
            index,
            writes,
            around: self.around.clone(),
            outside,
            varies: varies.clone(),
            control,
            sum,
            shift,
            runs: self.runs,
        });
        let inner = &self.around[outside..];
        let varies: Vec<usize> = (varies.into_iter())
            .filter(|at| inner.contains(at))
            .collect();
        if let (Expr::Read(read), [at]) = (&self.program[index], varies.as_slice())
            && self.survey.loops[*at].index == *read
            && elements(var.len) == Some(self.survey.loops[*at].iterations)
            && var.kind != VarKind::Output
        {
            self.survey.links.insert((array, *at));
            return;
        }
        self.survey.whole.insert(array);
        for at in varies {
            self.survey.loops[at].reaches = true;
        }
    }

    /// An element of an input or a table is read.
    fn load(&mut self, array: VarId, index: ExprId) {
        let is_input = self.program[array].kind == VarKind::Input;
        let sum = self.survey.names.linear(self.program, index);
        for at in self.dependence(index) {
            let known = &mut self.survey.loops[at];
            let factor = sum.as_ref().map_or(1, |sum| sum.factor(known.index));
            known.loads[factor.rem_euclid(VEC4_WORDS.into()) as usize] += self.runs;
            known.loads_inputs |= is_input;
        }
    }

    /// The loops on whose indices an expression depends.
    fn dependence(&self, id: ExprId) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for id in self.program.nodes(id) {
            if let Expr::Read(var) | Expr::Element { array: var, .. } = &self.program[id] {
                found.extend(self.depends.get(var).into_iter().flatten());
            }
        }
        found
    }
}
