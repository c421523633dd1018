//! The phases of a model with worlds, in the form in which they are turned around.
//!
//! A phase reads the states of its agent and of others as they were when it began, and the way back needs
//! those values when later phases have overwritten them. So each state has *versions*: the state itself, and
//! copies of what it was before phases that assign it. In its *local form* a phase reads versions, computes
//! in variables of its own, and gives each state that it assigns a *result* in its end. For the adjoints all
//! versions of a state and its results are that state. What an agent reads of itself has another name, its
//! *alias*, than what it reads of others, so that a loop can be run with the values of another agent.

use super::{draw_in, nodes, rounds::LaunchNames, straight};
use crate::{
    gradient::{rules::Copy, whole::assign_copy},
    ir::{Block, Expr, ExprId, Launch, Len, Owner, Program, Stmt, Type, Var, VarId, VarKind},
    span::Span,
};
use std::collections::{HashMap, HashSet};

/// A phase that is straight.
pub(super) struct Part {
    pub(super) owner: Owner,
    /// As the model has it.
    pub(super) forward: Block,
    /// In local form.
    pub(super) local: Block,
    /// The versions that it copies before it begins, and of which states.
    pub(super) copies: Vec<(VarId, VarId)>,
    /// What stands for states in the local form, and for which.
    pub(super) stands_for: Vec<(VarId, VarId)>,
    /// The results: nobody reads them.
    pub(super) results: HashSet<VarId>,
    /// The aliases of versions, and of inputs.
    pub(super) aliases: HashMap<VarId, VarId>,
}

/// Names for what a phase asks of its launch, which each place where it is written gives a value.
pub(super) fn launch_names(source: &mut Program) -> LaunchNames {
    LaunchNames {
        step: source.add_name("step", Type::I32),
        random_step: source.add_name("random_step", Type::U32),
        member: source.add_name("member", Type::I32),
        agent: source.add_name("agent", Type::I32),
    }
}

/// The statements of a phase, with variables of their own, straight, where launch numbers are names.
/// `random_step` is what it draws in.
pub(super) fn straight(
    lowered: &Program,
    source: &mut Program,
    launch_names: LaunchNames,
    block: &Block,
    random_step: &Expr,
) -> Block {
    let block = [lowered.prologue.clone(), block.clone()].concat();
    let mut copy = Copy {
        from: lowered,
        into: source,
        vars: HashMap::new(),
    };
    let copied = copy.block(&block);
    let straight = straight::straightened(lowered, source, &copied, None);
    draw_in(source, &straight, random_step.clone());
    for id in nodes(source, &straight) {
        let names = [
            (Launch::Step, launch_names.step),
            (Launch::Member, launch_names.member),
            (Launch::Agent, launch_names.agent),
        ];
        let of = |(launch, _): &(Launch, VarId)| source[id] == Expr::Launch(*launch);
        if let Some((_, name)) = names.into_iter().find(of) {
            source[id] = Expr::Read(name);
        }
    }
    straight
}

/// The phases of a step or of the end of a run. The way back runs all but the last one again.
pub(super) fn parts(
    source: &mut Program,
    blocks: Vec<(Owner, Block)>,
    active: &mut HashSet<VarId>,
) -> Vec<Part> {
    let assigned: Vec<HashSet<VarId>> = (blocks.iter())
        .map(|(_, block)| assigned_states(source, block))
        .collect();
    let last = blocks.len().saturating_sub(1);
    // The phase before which a copy is made, by state, and the copy.
    let mut copies: HashMap<(VarId, usize), VarId> = HashMap::new();
    let mut parts = Vec::new();
    for (k, (owner, forward)) in blocks.into_iter().enumerate() {
        let mut version = |source: &mut Program, state: VarId| {
            // Nobody assigns an input.
            let overwritten = (k..last).find(|later| assigned[*later].contains(&state));
            let Some(by) = overwritten else {
                return state;
            };
            *copies.entry((state, by)).or_insert_with(|| {
                let copy = source.add_var(source[state].clone());
                source[copy].name = format!("{}_then", source[state].name);
                copy
            })
        };
        let whole = source.clone();
        let mut copy = Copy {
            from: &whole,
            into: source,
            vars: HashMap::new(),
        };
        let block = copy.block(&forward);
        let carry = copy.vars.iter().filter(|(var, _)| active.contains(var));
        let carry: Vec<VarId> = carry.map(|(_, copy)| *copy).collect();
        active.extend(carry);
        let mut local = Local {
            stands_for: Vec::new(),
            results: HashSet::new(),
            aliases: HashMap::new(),
        };
        let block = local.form(source, block, &assigned[k], active, &mut version);
        for (version, state) in &local.stands_for {
            if active.contains(state) {
                active.insert(*version);
            }
        }
        parts.push(Part {
            owner,
            forward,
            local: block,
            copies: Vec::new(),
            stands_for: local.stands_for,
            results: local.results,
            aliases: local.aliases,
        });
    }
    for ((state, by), copy) in copies {
        parts[by].copies.push((copy, state));
    }
    for part in &mut parts {
        part.copies.sort();
    }
    parts
}

fn is_state(source: &Program, var: VarId) -> bool {
    matches!(source[var].kind, VarKind::State | VarKind::WorldState)
}

fn assigned_states(source: &Program, block: &Block) -> HashSet<VarId> {
    let mut found = HashSet::new();
    crate::ir::each_statement(block, &mut |stmt| {
        found.extend(stmt.target().filter(|var| is_state(source, *var)));
    });
    found
}

/// A block on its way to local form.
struct Local {
    stands_for: Vec<(VarId, VarId)>,
    results: HashSet<VarId>,
    aliases: HashMap<VarId, VarId>,
}

impl Local {
    fn form(
        &mut self,
        source: &mut Program,
        mut block: Block,
        assigned: &HashSet<VarId>,
        active: &mut HashSet<VarId>,
        version: &mut impl FnMut(&mut Program, VarId) -> VarId,
    ) -> Block {
        let mut owned: Vec<VarId> = assigned.iter().copied().collect();
        owned.sort();
        let own: HashMap<VarId, VarId> = (owned.iter())
            .map(|state| (*state, local(source, *state, source[*state].len)))
            .collect();
        for id in nodes(source, &block) {
            let read =
                |var: &VarId| is_state(source, *var) || matches!(source[*var].kind, VarKind::Input);
            let Some(var) = source[id].variable().filter(read) else {
                continue;
            };
            let is_own = !matches!(source[id], Expr::Other { .. });
            let now = match own.get(&var).filter(|_| is_own) {
                Some(own) => *own,
                None => {
                    let found = self.version(source, var, version);
                    match is_own {
                        true => self.alias(source, found, var),
                        false => found,
                    }
                }
            };
            if let Some(var) = source[id].variable_mut() {
                *var = now;
            }
        }
        retarget(&mut block, &own);
        let (mut first, mut behind) = (Block::new(), Block::new());
        for state in owned {
            let own = own[&state];
            let before = self.version(source, state, version);
            let before = self.alias(source, before, state);
            first.extend(declared(source, own, before));
            if active.contains(&state) {
                active.insert(own);
                let result = local(source, state, source[state].len);
                self.stands_for.push((result, state));
                self.results.insert(result);
                behind.push(assign_copy(source, result, own));
            }
        }
        [first, block, behind].concat()
    }

    fn version(
        &mut self,
        source: &mut Program,
        state: VarId,
        version: &mut impl FnMut(&mut Program, VarId) -> VarId,
    ) -> VarId {
        let found = version(source, state);
        if found != state && self.stands_for.iter().all(|(known, _)| *known != found) {
            self.stands_for.push((found, state));
        }
        found
    }

    fn alias(&mut self, source: &mut Program, version: VarId, state: VarId) -> VarId {
        let mut known = self.aliases.iter();
        if let Some((alias, _)) = known.find(|(_, of)| **of == version) {
            return *alias;
        }
        let alias = source.add_var(source[version].clone());
        self.aliases.insert(alias, version);
        self.stands_for.push((alias, state));
        alias
    }
}

fn local(source: &mut Program, like: VarId, len: Len) -> VarId {
    source.add_var(Var {
        name: source[like].name.clone(),
        doc: String::new(),
        ty: source[like].ty,
        len,
        kind: VarKind::Local,
        word: 0,
        span: Span::default(),
    })
}

fn add(source: &mut Program, expr: Expr) -> ExprId {
    source.add(expr, Span::default())
}

/// Declares a variable with the value of another one.
fn declared(source: &mut Program, own: VarId, before: VarId) -> Block {
    match source[own].len {
        Len::One => {
            let value = Some(add(source, Expr::Read(before)));
            vec![Stmt::Var { var: own, value }]
        }
        Len::Fixed(_) | Len::Open { .. } => {
            let declaration = Stmt::Var {
                var: own,
                value: None,
            };
            vec![declaration, assign_copy(source, own, before)]
        }
    }
}

fn retarget(block: &mut Block, own: &HashMap<VarId, VarId>) {
    for stmt in block {
        if let Some(target) = stmt.target_mut()
            && let Some(own) = own.get(target)
        {
            *target = *own;
        }
        for inner in stmt.blocks_mut() {
            stacker::maybe_grow(32 << 10, 1 << 20, || retarget(inner, own));
        }
    }
}
