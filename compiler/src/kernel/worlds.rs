//! How the agents of worlds lie in a workgroup, and what they share there.
//!
//! A workgroup runs whole worlds, an agent an invocation, over all steps. Its invocations wait for one
//! another at barriers: where states are published for a phase that reads them of other agents, and where the
//! values of the agents of a world are combined.
//!
//! Invariant: all invocations of a workgroup come to each barrier. Phases are top-level blocks; agents that
//! have stopped pass over theirs and come to the next barrier. Where values are combined under a condition or
//! in a loop, the workgroup has one world only, whose invocations all have the same condition and bounds.

use super::schedule::MOST_WORLDS;
use crate::{
    ir::{Block, Expr, LaneOp, Len, Program, Sample, Stmt, Type, VarId, VarKind},
    value::WORD_BYTES,
};
use std::collections::BTreeSet;

/// Invocations of a workgroup that small worlds share.
const SHARED_GROUP: u32 = 128;
/// Words of an agent in workgroup memory for samples that are combined later.
const KEPT_WORDS: u32 = 16;
/// Words of a sample that are kept. With more of them, few samples would be kept at a time.
const MOST_KEPT: u32 = 4;
/// Bytes of workgroup memory that every device has.
pub(super) const SHARED_BYTES: u32 = 16 << 10;
/// The size of a workgroup is a multiple of this: subgroups are whole.
const WHOLE: u32 = 32;

/// How the agents of worlds lie in a workgroup.
#[derive(Clone, Debug)]
pub(crate) struct WorldLayout {
    /// Agents of a world.
    pub(crate) members: u32,
    /// Worlds of a workgroup.
    pub(crate) worlds: u32,
    /// Agents of an invocation: neighbours of one world.
    pub(crate) per_invocation: u32,
    /// Lanes of a subgroup that combine values by shuffles; 1 if all is combined in workgroup memory.
    pub(crate) shuffled: u32,
    /// Where units of agents stand for worlds and few values are observed: the samples that are kept in
    /// workgroup memory until they are combined.
    pub(crate) kept: Option<u32>,
    /// What they share.
    pub(crate) exchange: Exchange,
}

/// What the agents of a world share in workgroup memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// The states that phases read of other agents.
    pub(crate) published: Vec<VarId>,
    /// The inputs that they read, which lie in storage.
    pub(crate) inputs: BTreeSet<VarId>,
    /// How values of agents are combined, and of which type.
    pub(crate) combined: Vec<(LaneOp, Type)>,
    /// How often values are combined in the text of a step, and before and after all steps.
    pub(crate) folds: u32,
    /// Are values combined under a condition or in a loop?
    pub(crate) in_branches: bool,
    /// Bytes of workgroup memory for what is published of an agent.
    published_bytes: u32,
    /// And for what is combined of an invocation.
    combined_bytes: u32,
}

impl WorldLayout {
    /// The layout of a program's worlds, and why a workgroup has that many; `asked` for, if they fit.
    /// Subgroups have at least so many lanes.
    pub(crate) fn new(
        program: &Program,
        members: u32,
        asked: Option<u32>,
        subgroup: u32,
    ) -> (WorldLayout, String) {
        let exchange = Exchange::of(program);
        let fitting = |worlds: u32| {
            let size = size(members, worlds);
            u64::from(size) * exchange.bytes(1) <= SHARED_BYTES.into()
        };
        let most = |agents: u32| (agents / members.max(1)).max(1);
        let fewer = |from: u32| {
            (1..=from)
                .rev()
                .find(|&worlds| fitting(worlds))
                .unwrap_or(1)
        };
        let (worlds, why) = match asked {
            _ if exchange.in_branches => {
                let why = "conditions around a fold of the world may differ from world to world";
                (1, why.to_owned())
            }
            Some(asked) => {
                let worlds = fewer(asked.min(most(MOST_WORLDS)));
                let why = match worlds < asked {
                    true => format!("the caller asked for {asked}, of which that many fit"),
                    false => "the caller asked for it".to_owned(),
                };
                (worlds, why)
            }
            None => {
                let why = format!("small worlds share a workgroup, up to {SHARED_GROUP} agents");
                (fewer(most(SHARED_GROUP)), why)
            }
        };
        let layout = WorldLayout {
            members,
            worlds,
            per_invocation: 1,
            shuffled: shuffled(members, worlds, subgroup),
            kept: None,
            exchange,
        };
        (layout, why)
    }

    /// The layout where units of `members` agents stand for worlds: one in a workgroup.
    pub(crate) fn of_units(program: &Program, members: u32, subgroup: u32) -> WorldLayout {
        let combined = program.samples.iter().flat_map(|sample| &sample.combined);
        let words: u32 = combined.map(|(var, _)| program[*var].ty.words()).sum();
        let kept = (1..=MOST_KEPT)
            .contains(&words)
            .then(|| KEPT_WORDS / words.next_power_of_two());
        WorldLayout {
            members,
            worlds: 1,
            per_invocation: 1,
            shuffled: shuffled(members, 1, subgroup),
            kept,
            exchange: match kept {
                Some(_) => Exchange::default(),
                None => Exchange::of(program),
            },
        }
    }

    /// The samples that are combined together, if some are taken after each step.
    pub(crate) fn rows(&self, program: &Program) -> Option<u32> {
        let in_each_step = |sample: &Sample| sample.every == 1 && !sample.combined.is_empty();
        (self.kept).filter(|_| program.samples.iter().any(in_each_step))
    }

    /// Words of a row of kept samples: a few more than agents, so that neighbouring rows are in different
    /// banks of the memory; as many as vector loads take, so that drivers can use these.
    pub(crate) fn kept_stride(&self) -> u32 {
        self.leaves() + 4
    }

    /// Agents of a workgroup.
    pub(crate) fn agents(&self) -> u32 {
        self.members.saturating_mul(self.worlds)
    }

    /// Invocations of a workgroup; those after its agents do what the first agents of its last world do.
    pub(crate) fn size(&self) -> u32 {
        size(self.leaves(), self.worlds)
    }

    /// Invocations of a world: the leaves of a tree that combines what each of them has.
    pub(crate) fn leaves(&self) -> u32 {
        self.members / self.per_invocation
    }

    /// Places of a workgroup's memory for the states of its agents.
    pub(crate) fn slots(&self) -> u32 {
        self.size().saturating_mul(self.per_invocation)
    }

    /// Can an invocation run so many agents? The workgroup has one world then, whose agents they divide.
    pub(crate) fn can_be_coarse(&self, agents: u32) -> bool {
        self.worlds == 1 && self.members.is_multiple_of(agents)
    }

    /// The layout with so many agents per invocation, where subgroups have at least so many lanes.
    pub(crate) fn coarse(self, per_invocation: u32, subgroup: u32) -> WorldLayout {
        WorldLayout {
            per_invocation,
            shuffled: shuffled(self.members / per_invocation, self.worlds, subgroup),
            ..self
        }
    }

    /// Bytes of workgroup memory.
    pub(crate) fn bytes(&self) -> u64 {
        let kept = self.kept.map_or(0, |_| {
            u64::from(KEPT_WORDS * self.kept_stride()) * WORD_BYTES
        });
        u64::from(self.size()) * self.exchange.bytes(self.per_invocation) + kept
    }
}

/// Lanes that combine values by shuffles. Worlds must begin with a block of so many lanes, and a block must
/// have room for what each block of a world has.
fn shuffled(members: u32, worlds: u32, subgroup: u32) -> u32 {
    if members <= subgroup && members.is_power_of_two() {
        return members;
    }
    let begins = worlds == 1 || members.is_multiple_of(subgroup);
    match begins && members.div_ceil(subgroup) <= subgroup {
        true => subgroup,
        false => 1,
    }
}

fn size(members: u32, worlds: u32) -> u32 {
    let agents = members.saturating_mul(worlds);
    agents.checked_next_multiple_of(WHOLE).unwrap_or(agents)
}

impl Exchange {
    fn of(program: &Program) -> Exchange {
        let mut exchange = Exchange::default();
        let (mut published, mut combined) = (BTreeSet::new(), Vec::new());
        for block in program.agent_blocks() {
            others(program, block, &mut published, &mut exchange.inputs);
            each_combined(program, block, &mut |op, ty| {
                exchange.folds += 1;
                if !combined.contains(&(op, ty)) {
                    combined.push((op, ty));
                }
            });
            let branches = |stmt: &Stmt| (stmt.blocks()).any(|inner| combines(program, inner));
            exchange.in_branches |= block.iter().any(branches);
        }
        for sample in &program.samples {
            for &(var, op) in &sample.combined {
                let kind = (op, program[var].ty);
                if !combined.contains(&kind) {
                    combined.push(kind);
                }
            }
        }
        exchange.published = published.into_iter().collect();
        exchange.combined = combined;
        let published = exchange.published.iter().map(|&var| {
            let elements = elements(program, var);
            elements.saturating_mul(in_memory(program[var].ty).bytes())
        });
        exchange.published_bytes = published.fold(0, u32::saturating_add);
        exchange.combined_bytes = exchange.types().into_iter().map(Type::bytes).sum();
        exchange
    }

    /// Bytes of workgroup memory that an invocation with so many agents needs.
    fn bytes(&self, agents: u32) -> u64 {
        u64::from(self.published_bytes) * u64::from(agents) + u64::from(self.combined_bytes)
    }

    /// The types of combined values in workgroup memory.
    pub(crate) fn types(&self) -> Vec<Type> {
        let mut types: Vec<Type> = (self.combined.iter())
            .map(|(_, ty)| in_memory(*ty))
            .collect();
        types.sort_by_key(|ty| *ty as u8);
        types.dedup();
        types
    }
}

/// Elements of a state: 1 for one that is no array.
pub(crate) fn elements(program: &Program, var: VarId) -> u32 {
    match program[var].len {
        Len::One => 1,
        Len::Fixed(count) | Len::Open { stride: count } => count,
    }
}

/// The type of a value in workgroup memory, which holds no `bool`.
pub(crate) fn in_memory(ty: Type) -> Type {
    match ty {
        Type::Bool => Type::U32,
        Type::F32 | Type::I32 | Type::U32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => ty,
    }
}

/// Adds the states and the inputs that a block reads of other agents.
fn others(
    program: &Program,
    block: &Block,
    states: &mut BTreeSet<VarId>,
    inputs: &mut BTreeSet<VarId>,
) {
    program.each_node_of(block, &mut |id| {
        if let Expr::Other { var, .. } = program[id] {
            match program[var].kind == VarKind::Input {
                true => inputs.insert(var),
                false => states.insert(var),
            };
        }
    });
}

/// The states that a block reads of other agents.
pub(crate) fn published(program: &Program, block: &Block) -> Vec<VarId> {
    let mut states = BTreeSet::new();
    others(program, block, &mut states, &mut BTreeSet::new());
    states.into_iter().collect()
}

fn each_combined(program: &Program, block: &Block, visit: &mut impl FnMut(LaneOp, Type)) {
    program.each_node_of(block, &mut |id| {
        if let Expr::AcrossWorld { op, value } = program[id] {
            visit(op, program.type_of(value));
        }
    });
}

/// Does a block combine values of the agents of a world?
pub(crate) fn combines(program: &Program, block: &Block) -> bool {
    let mut any = false;
    each_combined(program, block, &mut |_, _| any = true);
    any
}

/// Do `Break`s or `Continue`s of a block leave a loop around it?
pub(crate) fn jumps_out(block: &Block) -> bool {
    block.iter().any(|stmt| match stmt {
        Stmt::Break | Stmt::Continue => true,
        Stmt::If { accept, reject, .. } => jumps_out(accept) || jumps_out(reject),
        Stmt::For { .. }
        | Stmt::Let { .. }
        | Stmt::Var { .. }
        | Stmt::Assign { .. }
        | Stmt::AssignElement { .. }
        | Stmt::Stop
        | Stmt::Return(_) => false,
    })
}
