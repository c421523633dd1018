//! Worlds: agents that read one another, phases, and folds of the world.
//!
//! A fold of the world in the code of agents is computed before their phase, in a phase of the world that
//! assigns it to a state of the world that no launch sees. In world code it is an [`Expr::AcrossWorld`] where
//! it stands: each agent evaluates an element for itself. Any other fold over the world is a loop.

use super::{Lowerer, fold, place::Place};
use crate::{
    builtin::Fold,
    hir::{self, AgentField, Comprehension, Domain, ExprKind, LocalId, LocalKind, StmtKind},
    ir::{self, BinaryOp, Expr, ExprId, LaneOp, Launch, Owner, Phase, Stmt, Value, VarId, VarKind},
};
use std::collections::HashSet;

/// An agent of the world that code names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Agent {
    /// The agent that evaluates the element of a fold.
    Own,
    /// The one at the place that an `i32` variable holds, which keeps its value.
    At(VarId),
}

/// What the code of a block reads of the world, in the order of the source.
enum Found {
    /// A `let` that is of the world.
    Let(LocalId, hir::ExprId),
    /// A fold of the world, with no other around it.
    Fold(hir::ExprId),
}

/// Finds the folds of the world.
struct Search<'a> {
    model: &'a hir::Model,
    /// The `let`s whose values are of the world.
    shared: HashSet<LocalId>,
    found: Vec<Found>,
    /// Is another agent read otherwise?
    reads_others: bool,
}

impl Search<'_> {
    fn block(&mut self, block: &[hir::Stmt]) {
        for stmt in block {
            stmt.roots().into_iter().for_each(|root| self.expr(root));
            if let StmtKind::For {
                domain: Domain::World,
                ..
            } = stmt.kind
            {
                self.reads_others = true;
            }
            if let StmtKind::Declare { local, value } = stmt.kind
                && self.model[local].kind == LocalKind::Let
                && self.is_of_world(value, &mut Vec::new())
            {
                self.shared.insert(local);
                self.found.push(Found::Let(local, value));
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.block(inner));
            }
        }
    }

    fn expr(&mut self, id: hir::ExprId) {
        match &self.model[id].kind {
            ExprKind::Fold(_, over) if matches!(over.domain, Domain::World) => {
                if self.is_of_world(id, &mut Vec::new()) {
                    return self.found.push(Found::Fold(id));
                }
                self.reads_others = true;
            }
            ExprKind::Of(..) => self.reads_others = true,
            _ => {}
        }
        for operand in self.model.operands(id) {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.expr(operand));
        }
    }

    /// Is a value the same for all agents of the world? `inside` are the indices of comprehensions around it.
    fn is_of_world(&self, id: hir::ExprId, inside: &mut Vec<LocalId>) -> bool {
        let model = self.model;
        let own = match &model[id].kind {
            ExprKind::Local(local) => self.shared.contains(local) || inside.contains(local),
            ExprKind::Input(input) => model[*input].owner == Owner::World,
            ExprKind::State(state) => model[*state].owner == Owner::World,
            ExprKind::Launch(launch) => match launch {
                Launch::Agents | Launch::Steps | Launch::Step | Launch::Members | Launch::World => {
                    true
                }
                Launch::Agent | Launch::Member | Launch::Lane { .. } => false,
            },
            ExprKind::Draw(..) | ExprKind::RandomWord(_) | ExprKind::TakeWords(_) => false,
            ExprKind::Call(function, _) => !model[*function].draws && !model[*function].reads_agent,
            _ => true,
        };
        if !own {
            return false;
        }
        let index = match &model[id].kind {
            ExprKind::Fold(_, over) | ExprKind::Comprehension(over) => Some(over.index),
            _ => None,
        };
        inside.extend(index);
        let operands = model.operands(id);
        let all = stacker::maybe_grow(32 << 10, 1 << 20, || {
            operands
                .iter()
                .all(|&operand| self.is_of_world(operand, inside))
        });
        inside.truncate(inside.len() - usize::from(index.is_some()));
        all
    }

    /// The `let`s that a value reads, those that they read included.
    fn needs(&self, id: hir::ExprId, needed: &mut HashSet<LocalId>) {
        if let ExprKind::Local(local) = self.model[id].kind
            && self.shared.contains(&local)
            && needed.insert(local)
        {
            let value = self.found.iter().find_map(|found| match found {
                Found::Let(name, value) if *name == local => Some(*value),
                Found::Let(..) | Found::Fold(_) => None,
            });
            value.iter().for_each(|&value| self.needs(value, needed));
        }
        for operand in self.model.operands(id) {
            stacker::maybe_grow(32 << 10, 1 << 20, || self.needs(operand, needed));
        }
    }
}

impl Lowerer<'_> {
    fn search(&self, blocks: &[&[hir::Stmt]], values: &[hir::ExprId]) -> Search<'_> {
        let mut search = Search {
            model: self.model,
            shared: HashSet::new(),
            found: Vec::new(),
            reads_others: false,
        };
        blocks.iter().for_each(|block| search.block(block));
        values.iter().for_each(|&value| search.expr(value));
        search
    }

    /// Does a block read other agents as they were when its phase began?
    pub(super) fn reads_world(&self, block: &[hir::Stmt]) -> bool {
        let search = self.search(&[block], &[]);
        search.reads_others
            || search
                .found
                .iter()
                .any(|found| matches!(found, Found::Fold(_)))
    }

    /// The same of a value.
    pub(super) fn value_reads_world(&self, value: hir::ExprId) -> bool {
        let search = self.search(&[], &[value]);
        search.reads_others || !search.found.is_empty()
    }

    /// The phase of the world that computes what these blocks and values of agents fold over the world, if
    /// they do.
    pub(super) fn gather(
        &mut self,
        blocks: &[&[hir::Stmt]],
        values: &[hir::ExprId],
    ) -> Option<Phase> {
        let search = self.search(blocks, values);
        let mut needed = HashSet::new();
        let mut folds = 0;
        for found in &search.found {
            if let Found::Fold(id) = found {
                search.needs(*id, &mut needed);
                folds += 1;
            }
        }
        if folds == 0 {
            return None;
        }
        let Search { found, shared, .. } = search;
        self.shared = shared;
        let body = self.entry_of(Owner::World, |lowerer| {
            for found in found {
                match found {
                    Found::Let(local, value) if needed.contains(&local) => {
                        lowerer.declare(local, value);
                    }
                    Found::Let(..) => {}
                    Found::Fold(id) => lowerer.keep_fold(id),
                }
            }
        });
        Some(Phase {
            owner: Owner::World,
            body,
        })
    }

    /// Computes a fold of the world into a state of the world.
    fn keep_fold(&mut self, id: hir::ExprId) {
        let ExprKind::Fold(fold, over) = &self.model[id].kind else {
            return;
        };
        let value = self.combine(*fold, over);
        let ty = self.program.type_of(value);
        let kept = self.hidden_state(fold::name(*fold), ty, Owner::World);
        self.emit(Stmt::Assign { var: kept, value });
        self.gathered.insert(id, kept);
    }

    /// A state that no launch sees; it starts as zero.
    pub(super) fn hidden_state(&mut self, name: &str, ty: ir::Type, owner: Owner) -> VarId {
        let (kind, list) = match owner {
            Owner::Agent => (VarKind::State, &self.program.states),
            Owner::World => (VarKind::WorldState, &self.program.world_states),
        };
        let word = self.program.row_words(list);
        let var = self.made(name, ty, kind);
        self.program[var].word = word;
        match owner {
            Owner::Agent => self.program.states.push(var),
            Owner::World => self.program.world_states.push(var),
        }
        let value = self.literal(Value::zero(ty));
        self.program.init.push(Stmt::Assign { var, value });
        var
    }

    /// Lets the phases of a step, or of the end, number their draws together: each goes on where those before
    /// it ended. Where that number depends on the run, a state keeps it that no launch sees.
    pub(super) fn number_draws(&mut self, phases: &mut [Phase]) {
        for owner in [Owner::Agent, Owner::World] {
            let drawing: Vec<(usize, VarId)> = (phases.iter().enumerate())
                .filter(|(_, phase)| phase.owner == owner)
                .filter_map(|(at, phase)| {
                    let Some(Stmt::Var { var, .. }) = phase.first() else {
                        return None;
                    };
                    self.counters.contains(var).then_some((at, *var))
                })
                .collect();
            let Some(((last, _), before)) = drawing.split_last() else {
                continue;
            };
            let taken: Option<Vec<u32>> = (before.iter())
                .map(|&(at, counter)| words_taken(&self.program, &phases[at], counter))
                .collect();
            let kept = match taken {
                Some(_) => None,
                None => Some(self.hidden_state("draws", ir::Type::U32, owner)),
            };
            let mut sum = 0;
            for (k, &(at, counter)) in drawing.iter().enumerate() {
                let first = match kept {
                    Some(kept) if k > 0 => self.read(kept),
                    _ => self.literal(Value::U32(sum)),
                };
                phases[at][0] = Stmt::Var {
                    var: counter,
                    value: Some(first),
                };
                // Counters wrap when the model runs, too.
                let words = taken.as_ref().and_then(|taken| taken.get(k)).unwrap_or(&0);
                sum = u32::wrapping_add(sum, *words);
                if let Some(kept) = kept.filter(|_| at != *last) {
                    let value = self.read(counter);
                    phases[at].push(Stmt::Assign { var: kept, value });
                }
            }
        }
    }

    /// A fold over a range or the world.
    pub(super) fn fold(&mut self, id: hir::ExprId, fold: Fold, over: &Comprehension) -> ExprId {
        if let Some(&kept) = self.gathered.get(&id) {
            return self.read(kept);
        }
        match over.domain {
            Domain::World if self.owner == Owner::World && !self.in_elements => {
                self.combine(fold, over)
            }
            Domain::World | Domain::Range(..) => self.fold_in_order(fold, over, &self.model[id].ty),
        }
    }

    /// A fold of the world, in world code. Each agent evaluates the element that it is.
    fn combine(&mut self, fold: Fold, over: &Comprehension) -> ExprId {
        self.combine_inner_folds(over);
        let before = std::mem::replace(&mut self.in_elements, true);
        self.agents.insert(over.index, Agent::Own);
        let passes = over.filter.map(|filter| {
            let passes = self.scalar(filter);
            self.bind("passes", passes)
        });
        self.guards.extend(passes);
        let value = self.part(fold, over.value);
        self.guards
            .truncate(self.guards.len() - usize::from(passes.is_some()));
        let part = self.program.type_of(value);
        let neutral = match fold {
            Fold::Sum | Fold::Mean => fold::zero(part, true),
            Fold::Count => Value::I32(0),
            Fold::Product => fold::one(part),
            Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax => fold::worst(fold, part),
            Fold::Any => Value::Bool(false),
            Fold::All => Value::Bool(true),
        };
        let value = match passes {
            Some(passes) => {
                let (condition, reject) = (self.read(passes), self.literal(neutral));
                self.select(condition, value, reject)
            }
            None => value,
        };
        let value = self.bind("element", value);
        self.in_elements = before;
        let all = self.across(fold::name(fold), combining(fold), value);
        self.check_fold(fold, all, value);
        match fold {
            Fold::ArgMin | Fold::ArgMax => self.first_with(value, all, passes),
            Fold::Mean => {
                let sum = self.sum_of(all, part, passes.is_some());
                let number = match passes {
                    Some(passes) => {
                        let passes = self.read(passes);
                        let one = self.convert(ir::Type::I32, passes);
                        let one = self.bind("one", one);
                        let number = self.across("number", LaneOp::Sum, one);
                        self.read(number)
                    }
                    None => self.add(Expr::Launch(Launch::Members)),
                };
                let number = self.convert(ir::Type::F32, number);
                self.mean(sum, number)
            }
            Fold::Sum => self.sum_of(all, part, passes.is_some()),
            Fold::Product | Fold::Min | Fold::Max | Fold::Any | Fold::All | Fold::Count => {
                self.read(all)
            }
        }
    }

    /// What one agent's element contributes to a fold.
    pub(super) fn part(&mut self, fold: Fold, element: hir::ExprId) -> ExprId {
        let ty = self.value_type(element);
        let value = self.scalar(element);
        match fold {
            Fold::Count if ty == ir::Type::Bool => self.convert(ir::Type::I32, value),
            Fold::Count => self.int(1),
            Fold::Sum => self.as_number(value, ir::Type::I32),
            Fold::Mean => self.as_number(value, ir::Type::F32),
            // NaN is no element.
            Fold::Min | Fold::Max | Fold::ArgMin | Fold::ArgMax if ty == ir::Type::F32 => {
                let worst = self.literal(fold::worst(fold, ty));
                self.better(fold, worst, value)
            }
            Fold::Product
            | Fold::Min
            | Fold::Max
            | Fold::ArgMin
            | Fold::ArgMax
            | Fold::Any
            | Fold::All => value,
        }
    }

    /// Computes folds within the elements that are of the world themselves.
    fn combine_inner_folds(&mut self, over: &Comprehension) {
        let values: Vec<hir::ExprId> = over.filter.into_iter().chain([over.value]).collect();
        let mut search = self.search(&[], &[]);
        search.shared.clone_from(&self.shared);
        values.iter().for_each(|&value| search.expr(value));
        for found in search.found {
            if let Found::Fold(id) = found
                && let ExprKind::Fold(fold, inner) = &self.model[id].kind
            {
                let value = self.combine(*fold, inner);
                let name = self.bind(fold::name(*fold), value);
                self.gathered.insert(id, name);
            }
        }
    }

    /// What the agents of the world have for a variable, combined.
    pub(super) fn across(&mut self, name: &str, op: LaneOp, part: VarId) -> VarId {
        let value = self.read(part);
        let value = self.add(Expr::AcrossWorld { op, value });
        self.bind(name, value)
    }

    /// A sum of which elements may have been left out: their -0.0 must not be the sum of nothing.
    fn sum_of(&mut self, all: VarId, ty: ir::Type, filtered: bool) -> ExprId {
        let sum = self.read(all);
        if !filtered || !ty.is_float() {
            return sum;
        }
        let zero = self.literal(Value::zero(ty));
        self.binary(BinaryOp::Add, zero, sum)
    }

    /// The first place of an agent whose element is the best one; 0 if there is none.
    fn first_with(&mut self, element: VarId, best: VarId, passes: Option<VarId>) -> ExprId {
        let (own, best) = (self.read(element), self.read(best));
        let mut is_best = self.binary(BinaryOp::Equal, own, best);
        if let Some(passes) = passes {
            let passes = self.read(passes);
            is_best = self.binary(BinaryOp::And, passes, is_best);
        }
        let (member, none) = (
            self.add(Expr::Launch(Launch::Member)),
            self.add(Expr::Launch(Launch::Members)),
        );
        let place = self.select(is_best, member, none);
        let place = self.bind("place", place);
        let first = self.across("first", LaneOp::Least, place);
        let (at, members) = (self.read(first), self.add(Expr::Launch(Launch::Members)));
        let exists = self.binary(BinaryOp::Less, at, members);
        let (at, zero) = (self.read(first), self.int(0));
        self.select(exists, at, zero)
    }

    /// `for other in world { … }`, or the elements of a fold, one after another.
    pub(super) fn each_agent(&mut self, index: LocalId, run: impl FnOnce(&mut Self, VarId)) {
        let (start, end) = (self.int(0), self.add(Expr::Launch(Launch::Members)));
        let name = self.model[index].name.clone();
        self.each(&name, start, end, |lowerer, member| {
            lowerer.bind_agent(index, member);
            run(lowerer, member);
        });
    }

    /// The user's name for the agent at a place of the world.
    pub(super) fn bind_agent(&mut self, index: LocalId, member: VarId) {
        self.agents.insert(index, Agent::At(member));
    }

    /// The agent that an expression names.
    pub(super) fn agent(&mut self, id: hir::ExprId) -> Agent {
        if let ExprKind::Local(local) = self.model[id].kind {
            return self.agents[&local];
        }
        let member = self.member(id);
        Agent::At(self.index_variable(member))
    }

    /// Names an agent.
    pub(super) fn declare_agent(&mut self, local: LocalId, value: hir::ExprId) {
        let agent = self.agent(value);
        self.agents.insert(local, agent);
    }

    /// The place in the world of the agent that an expression names.
    pub(super) fn member(&mut self, id: hir::ExprId) -> ExprId {
        match &self.model[id].kind {
            ExprKind::WorldAt(index) => {
                let span = self.model[*index].span;
                let value = self.scalar(*index);
                let value = self.checked_member(value, span);
                let value = self.signed(value);
                let members = self.add(Expr::Launch(Launch::Members));
                let one = self.int(1);
                let last = self.binary(BinaryOp::Subtract, members, one);
                self.clamp(value, last, span)
            }
            ExprKind::Local(local) => match self.agents[local] {
                Agent::Own => self.add(Expr::Launch(Launch::Member)),
                Agent::At(member) => self.read(member),
            },
            _ => self.scalar(id),
        }
    }

    /// The number of an agent.
    pub(super) fn number_of(&mut self, agent: hir::ExprId, field: AgentField) -> ExprId {
        let own = matches!(self.model[agent].kind, ExprKind::Local(local)
            if matches!(self.agents[&local], Agent::Own));
        if own && field == AgentField::Agent {
            return self.add(Expr::Launch(Launch::Agent));
        }
        let member = self.member(agent);
        if field == AgentField::Member {
            return member;
        }
        let world = self.add(Expr::Launch(Launch::World));
        let members = self.add(Expr::Launch(Launch::Members));
        let first = self.binary(BinaryOp::Multiply, world, members);
        self.binary(BinaryOp::Add, first, member)
    }

    /// A state or an input of an agent of the world.
    pub(super) fn place_of(&mut self, agent: hir::ExprId, field: AgentField) -> Place {
        let agent = self.agent(agent);
        let mut place = match field {
            AgentField::State(state) => self.states[state.0 as usize].clone(),
            AgentField::Input(input) => self.inputs[input.0 as usize].clone(),
            AgentField::Member | AgentField::Agent => unreachable!("a number has no place"),
        };
        if let Agent::At(member) = agent {
            place
                .leaves
                .iter_mut()
                .for_each(|leaf| leaf.other = Some(member));
        }
        place
    }

    /// The `let`s of a block of world code that are of the world.
    pub(super) fn shared_lets(&self, block: &[hir::Stmt]) -> HashSet<LocalId> {
        self.search(&[block], &[]).shared
    }

    /// Scalar or vector numbers that follow from a `bool`.
    pub(super) fn as_number(&mut self, value: ExprId, ty: ir::Type) -> ExprId {
        if self.program.type_of(value) == ir::Type::Bool && ty != ir::Type::Bool {
            return self.convert(ty, value);
        }
        value
    }
}

/// How many words a block takes, by its counter, if that does not depend on the run.
fn words_taken(program: &ir::Program, block: &[Stmt], counter: VarId) -> Option<u32> {
    let inner = |block: &ir::Block| {
        stacker::maybe_grow(32 << 10, 1 << 20, || words_taken(program, block, counter))
    };
    let jumps = |stmt: &Stmt| matches!(stmt, Stmt::Break | Stmt::Continue);
    block.iter().try_fold(0u32, |sum, stmt| {
        let taken = match stmt {
            Stmt::Assign { var, value } if *var == counter => {
                let Expr::Binary(BinaryOp::Add, _, count) = program[*value] else {
                    return None;
                };
                let Expr::Literal(Value::U32(count)) = program[count] else {
                    return None;
                };
                count
            }
            Stmt::If { accept, reject, .. } => {
                let (accepted, rejected) = (inner(accept)?, inner(reject)?);
                if accepted != rejected {
                    return None;
                }
                accepted
            }
            Stmt::For { body, .. } => match inner(body)? {
                0 => 0,
                _ if ir::any_statement(body, &jumps) => return None,
                each => {
                    let iterations = ir::cost::iterations(program, stmt)?;
                    each.checked_mul(u32::try_from(iterations).ok()?)?
                }
            },
            Stmt::Break | Stmt::Continue if sum > 0 => return None,
            Stmt::Let { .. }
            | Stmt::Var { .. }
            | Stmt::Assign { .. }
            | Stmt::AssignElement { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Stop
            | Stmt::Return(_) => 0,
        };
        sum.checked_add(taken)
    })
}

/// How what agents contribute to a fold is combined.
pub(super) fn combining(fold: Fold) -> LaneOp {
    match fold {
        Fold::Sum | Fold::Mean | Fold::Count => LaneOp::Sum,
        Fold::Product => LaneOp::Product,
        Fold::Min | Fold::ArgMin => LaneOp::Least,
        Fold::Max | Fold::ArgMax => LaneOp::Most,
        Fold::Any => LaneOp::Any,
        Fold::All => LaneOp::All,
    }
}
