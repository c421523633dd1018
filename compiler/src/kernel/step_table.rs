//! The step table: splits the first phase of a step into the part that is uniform, which all agents share,
//! and the rest. The shared part depends on the step's number, the params, the data and the launch, but on no
//! state, input, draw or agent.
//!
//! Invariant: the shared part followed by the rest computes the phase as it was, to the bit. The shared part
//! is a list of `let`s that read no name of the prologue, and of each other only earlier ones; the rest reads
//! only [`Split::stored`] of it. So it can be computed once per step, into a row of the table. Expressions
//! are pure and total, so they may be evaluated there even where no agent's branch needs them.
//!
//! This is not a pass of the pipeline: a kernel's schedule asks for it.

use crate::{
    ir::{
        Block, Expr, ExprId, ExprMap, Program, Stmt, VarId, VarMap,
        cost::instructions::{LOAD, Weights},
        uniformity::{Tracking, Uniformity},
        verify::debug_verify,
    },
    kernel::{
        lane_layout::LaneLayout,
        schedule::{Decision, Schedule},
    },
    manifest::{Manifest, StepTable},
    passes::{
        names,
        rewrite::{Cloner, reads},
        shape::identical,
        split_deep,
    },
    value::VEC4_WORDS,
};

/// Words of a row: they are in registers while a step runs.
const MAX_WORDS: u32 = 128;
/// A value of more instructions than this is worth a word that is loaded.
const CHEAP: u32 = 2;
/// A table pays if computing a row takes this many times the instructions of loading it.
const MARGIN: u32 = 2;

/// A program whose step begins with the part that all agents share.
#[derive(Clone, Debug)]
pub(crate) struct Split {
    /// The program.
    pub(crate) program: Program,
    /// Statements of that part, the first ones of the first phase.
    pub(crate) shared: usize,
    /// The names of it that the rest reads.
    pub(crate) stored: Vec<VarId>,
    /// Its cost, in instructions.
    pub(crate) instructions: u32,
}

/// Splits the step; none if that does not pay.
pub(crate) fn split(program: &Program) -> Option<Split> {
    let mut program = program.clone();
    split_deep::run(&mut program);
    let mut shared = Shared::survey(&program);
    let mut phase = std::mem::take(&mut program.phases.first_mut()?.body);
    shared.demand_block(&mut program, &phase);
    shared.drop_names(&mut phase);
    let mut part = shared.part(&mut program);
    let instructions = shared.weights.of_block(&program, &part).instructions;
    if instructions <= MARGIN * LOAD * shared.words.div_ceil(VEC4_WORDS) {
        return None;
    }
    let stored = shared.stored.iter().map(|stored| stored.var).collect();
    let statements = part.len();
    part.append(&mut phase);
    program.phases[0].body = part;
    drop_unread(&mut program, &shared);
    debug_verify(&program, "step_table");
    Some(Split {
        program,
        shared: statements,
        stored,
        instructions,
    })
}

/// Steps that one workgroup of the table's entry point computes.
const WORKGROUP: u32 = 64;
/// The first free binding of a model without tables.
const FREE_BINDING: u32 = 5;

/// The step table: a row of `vec4`s per step, with what is uniform in it.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The statements at the beginning of the step that fill a row; agents do not run them.
    pub(crate) shared: usize,
    /// The names they define, and the word of the row that holds each.
    pub(crate) places: Vec<(VarId, u32)>,
    /// What a host must know.
    pub(crate) layout: StepTable,
    /// Whether all that it holds are floats.
    pub(crate) floats: bool,
    /// Words of a row that are used.
    words: u32,
    instructions: u32,
}

/// What a step table may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Steps of the run: the table has a row for each.
    pub(crate) steps: u32,
    /// Most bytes of the table.
    pub(crate) bytes: u64,
}

impl Budget {
    pub(crate) const UNLIMITED: Budget = Budget {
        steps: 0,
        bytes: u64::MAX,
    };
}

/// The program with a step table, and the table; as an error, why it has none.
pub(crate) fn shared(
    program: &Program,
    manifest: &Manifest,
    layout: &LaneLayout,
    schedule: &Schedule,
    budget: Budget,
) -> Result<(Program, Table), String> {
    let exchanges = layout.lanes > schedule.subgroup;
    // Reductions over lanes through workgroup memory stay in `main`.
    let waits = exchanges && !layout.splits_time();
    let Some(split) = (!waits).then(|| split(program)).flatten() else {
        let why = match exchanges {
            true => {
                "too little of a step is the same for all agents, or its lanes wait for one another"
            }
            false => "too little of a step is the same for all agents",
        };
        return Err(why.to_owned());
    };
    let table = split.table(manifest, layout);
    let bytes = table.layout.table_bytes(budget.steps);
    if bytes > budget.bytes {
        let most = budget.bytes;
        return Err(format!(
            "its table would take {bytes} bytes, and {most} is the most"
        ));
    }
    Ok((split.program, table))
}

impl Split {
    /// The table's layout.
    fn table(&self, manifest: &Manifest, layout: &LaneLayout) -> Table {
        let program = &self.program;
        let mut words = 0;
        let mut places = Vec::with_capacity(self.stored.len());
        for &var in &self.stored {
            places.push((var, words));
            words += program[var].ty.words();
        }
        let after = manifest.data.iter().map(|table| table.binding + 1);
        Table {
            shared: self.shared,
            places,
            floats: (self.stored.iter()).all(|&var| program[var].ty.is_float()),
            layout: StepTable {
                // If the steps are split over lanes, these read different rows.
                rows_per_step: match layout.splits_time() {
                    true => 1,
                    false => layout.lanes,
                },
                binding: after.max().unwrap_or(FREE_BINDING),
                words: words.next_multiple_of(VEC4_WORDS),
                workgroup_size: WORKGROUP,
            },
            words,
            instructions: self.instructions,
        }
    }
}

impl Table {
    pub(crate) fn decision(&self) -> Decision {
        Decision::new(
            format!("a step table of {} words for each step", self.words),
            format!(
                "about {} instructions of a step are the same for all agents",
                self.instructions
            ),
        )
    }

    /// `vec4`s of a row.
    pub(crate) fn vectors(&self) -> u32 {
        self.layout.words / VEC4_WORDS
    }
}

/// The cost to recompute a uniform value, given the names that are worth storing.
#[derive(Clone, Copy, Default)]
struct Cost {
    instructions: u32,
    /// Reads of names that are worth storing.
    stored: u32,
    /// Does it read a table, or an array element at another index than a literal?
    loads: bool,
}

impl Cost {
    /// Is it cheaper to load one word?
    fn pays(self) -> bool {
        self.loads || self.instructions > CHEAP || self.stored > 1
    }

    fn and(self, other: Cost) -> Cost {
        Cost {
            instructions: self.instructions.saturating_add(other.instructions),
            stored: self.stored.saturating_add(other.stored),
            loads: self.loads || other.loads,
        }
    }
}

/// A name for a uniform value.
#[derive(Clone, Copy)]
struct Name {
    value: ExprId,
    cost: Cost,
    in_prologue: bool,
    /// Does the rest read it from the table?
    stored: bool,
    /// Does the rest recompute it?
    kept: bool,
}

struct Shared {
    weights: Weights,
    uniformity: Uniformity,
    /// Per node: its cost, if its value is uniform.
    costs: ExprMap<Option<Cost>>,
    names: VarMap<Option<Name>>,
    /// The existing names, in the program's order.
    order: Vec<VarId>,
    /// What the rest reads, in the order of its first reads.
    stored: Vec<Stored>,
    words: u32,
}

/// A value that the rest reads from the table.
#[derive(Clone, Copy)]
struct Stored {
    var: VarId,
    /// The tree of the rest that it replaces, if it had no name.
    tree: Option<ExprId>,
}

impl Shared {
    /// Finds the uniform values.
    fn survey(program: &Program) -> Shared {
        let mut shared = Shared {
            weights: Weights::new(program, ()),
            uniformity: Uniformity::new(program, Tracking::Names),
            costs: ExprMap::filled(None, program.exprs.len()),
            names: VarMap::filled(None, program.vars.len()),
            order: Vec::new(),
            stored: Vec::new(),
            words: 0,
        };
        shared.survey_block(program, &program.prologue, true);
        if let Some(phase) = program.phases.first() {
            shared.survey_block(program, phase, false);
        }
        shared
    }

    fn survey_block(&mut self, program: &Program, block: &[Stmt], in_prologue: bool) {
        for stmt in block {
            for &root in stmt.roots().iter() {
                self.measure(program, root);
            }
            if let Stmt::Let { var, value } = *stmt
                && let Some(cost) = self.costs[value]
            {
                self.order.push(var);
                self.names[var] = Some(Name {
                    value,
                    cost,
                    in_prologue,
                    stored: false,
                    kept: false,
                });
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || {
                    self.survey_block(program, inner, in_prologue);
                });
            }
        }
    }

    /// The cost of a tree, if its value is uniform.
    fn measure(&mut self, program: &Program, id: ExprId) -> Option<Cost> {
        let expr = &program[id];
        let is_uniform = self.uniformity.of(id).is_uniform();
        let mut cost = is_uniform.then(|| self.own_cost(program, id));
        for &operand in expr.operands().iter() {
            let operand = self.measure(program, operand);
            cost = cost.zip(operand).map(|(a, b)| a.and(b));
        }
        self.costs[id] = cost;
        cost
    }

    /// The cost of a node without its operands, if its value is uniform.
    fn own_cost(&self, program: &Program, id: ExprId) -> Cost {
        let instructions = self.weights.of_node(program, id).instructions;
        let plain = Cost {
            instructions,
            ..Cost::default()
        };
        let (Expr::Read(var) | Expr::Element { array: var, .. }) = program[id] else {
            return plain;
        };
        match self.names[var] {
            Some(name) if name.in_prologue => Cost::default(),
            Some(name) if name.cost.pays() => Cost {
                stored: 1,
                ..Cost::default()
            },
            Some(name) => name.cost,
            None => Cost {
                loads: instructions > 0,
                ..plain
            },
        }
    }

    /// Finds what the rest needs: all that a block evaluates except uniform names.
    fn demand_block(&mut self, program: &mut Program, block: &[Stmt]) {
        for stmt in block {
            let shared = matches!(stmt, Stmt::Let { var, .. } if self.names[var].is_some());
            if !shared {
                for &root in stmt.roots().iter() {
                    self.demand(program, root);
                }
            }
            for inner in stmt.blocks() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.demand_block(program, inner));
            }
        }
    }

    /// Replaces subtrees that are worth it by reads of stored names; keeps the names of the others.
    fn demand(&mut self, program: &mut Program, id: ExprId) {
        let cost = self.costs[id];
        if let Expr::Read(var) = program[id]
            && self.names[var].is_some()
        {
            return self.demand_name(program, var);
        }
        if cost.is_some_and(Cost::pays) {
            let known = self.stored.iter().find(|stored| {
                let tree = stored.tree;
                tree.is_some_and(|tree| identical(program, tree, id))
            });
            if let Some(known) = known {
                program[id] = Expr::Read(known.var);
                return;
            }
            if self.takes(program.type_of(id).words()) {
                let (var, stmt) = names::extract(program, id);
                if let Stmt::Let { value, .. } = stmt {
                    let tree = Some(value);
                    self.stored.push(Stored { var, tree });
                }
                return;
            }
        }
        for &operand in program[id].operands().iter() {
            self.demand(program, operand);
        }
    }

    fn demand_name(&mut self, program: &mut Program, var: VarId) {
        let Some(name) = self.names[var] else { return };
        if name.in_prologue || name.stored || name.kept {
            return;
        }
        let stored = name.cost.pays() && self.takes(program[var].ty.words());
        self.names[var] = Some(Name {
            stored,
            kept: !stored,
            ..name
        });
        if stored {
            self.stored.push(Stored { var, tree: None });
        } else {
            self.demand(program, name.value);
        }
    }

    /// Are this many words left? Takes them.
    fn takes(&mut self, words: u32) -> bool {
        let fits = self.words + words <= MAX_WORDS;
        self.words += if fits { words } else { 0 };
        fits
    }

    /// Removes from the rest the names that it does not compute itself.
    fn drop_names(&self, block: &mut Block) {
        block.retain(|stmt| {
            let Stmt::Let { var, .. } = stmt else {
                return true;
            };
            self.names[var].is_none_or(|name| name.kept)
        });
        for stmt in block {
            for inner in stmt.blocks_mut() {
                stacker::maybe_grow(32 << 10, 1 << 20, || self.drop_names(inner));
            }
        }
    }

    /// The stored names and everything they are computed from, copied where the rest may have it as well.
    fn part(&self, program: &mut Program) -> Block {
        let needed = self.needed(program);
        let mut cloner = Cloner::default();
        let mut part = Block::new();
        for &var in &self.order {
            let Some(name) = self.names[var].filter(|_| needed[var]) else {
                continue;
            };
            if name.stored {
                let value = cloner.expr(program, name.value);
                part.push(Stmt::Let { var, value });
            } else {
                let value = name.value;
                part.extend(cloner.block(program, &[Stmt::Let { var, value }]));
            }
        }
        for stored in &self.stored {
            if let Stored {
                var,
                tree: Some(tree),
            } = *stored
            {
                let value = cloner.expr(program, tree);
                part.push(Stmt::Let { var, value });
            }
        }
        part
    }

    /// Per variable that was there before: does something stored depend on it?
    fn needed(&self, program: &Program) -> VarMap<bool> {
        let mut needed = VarMap::filled(false, program.vars.len());
        let mut pending = Vec::new();
        for stored in &self.stored {
            needed[stored.var] = true;
            let named = || self.names[stored.var].map(|name| name.value);
            pending.extend(stored.tree.or_else(named));
        }
        while let Some(id) = pending.pop() {
            if let Expr::Read(var) = program[id]
                && let Some(Some(name)) = self.names.get(var)
                && !std::mem::replace(&mut needed[var], true)
            {
                pending.push(name.value);
            }
            pending.extend_from_slice(&program[id].operands());
        }
        needed
    }
}

/// Removes from the prologue the names that only the shared part read, which has copies of its own.
fn drop_unread(program: &mut Program, shared: &Shared) {
    let mut reads = reads(program);
    let mut prologue = std::mem::take(&mut program.prologue);
    let mut kept = Block::with_capacity(prologue.len());
    while let Some(stmt) = prologue.pop() {
        if let Stmt::Let { var, value } = stmt
            && reads[var] == 0
            && matches!(shared.names.get(var), Some(Some(_)))
        {
            for id in program.nodes(value) {
                if let Expr::Read(var) = program[id] {
                    reads[var] -= 1;
                }
            }
        } else {
            kept.push(stmt);
        }
    }
    kept.reverse();
    program.prologue = kept;
}
