//! Worlds: what their agents read of one another, in workgroup memory, and the phases of a step. All
//! invocations of a workgroup come to each barrier: see [`crate::kernel::worlds`].

mod common;
mod entry;
mod per_step;
mod rows;
mod tree;

use super::{Writer, literal, operator::Level, spill::Index, support::Support};
use crate::{
    ir::{Block, ExprId, LaneOp, Launch, Len, Owner, Phase, Type, VarId, VarKind},
    kernel::{
        lanes::stops,
        worlds::{WorldLayout, elements, in_memory, published},
    },
    random::FIRST_WORLD,
    value::VEC4_WORDS,
};

/// Arrays with more elements than this are published by a loop.
const UNROLLED: u32 = 8;

/// Names of what a kernel of worlds declares.
#[derive(Default)]
pub(super) struct WorldNames {
    /// The buffer of the worlds' values.
    pub(super) buffer: String,
    /// The number of worlds of this dispatch, and which of them this is.
    pub(super) count: String,
    pub(super) slot: String,
    /// Which of the worlds of its run this is; that is `slot` where a dispatch has one run.
    in_run: String,
    /// The stream and the key of the world's draws.
    pub(super) stream: String,
    pub(super) key: String,
    /// The agent's place in the world, the world's number and its size: in `main` and, private copies, in
    /// functions.
    member: [String; 2],
    number: [String; 2],
    members: String,
    /// Private: the invocation's place in the workgroup, that of the world's first agent, and how many agents
    /// of the world come from this one on.
    pub(super) place: String,
    first: String,
    pub(super) left: String,
    /// Private, where subgroups shuffle: the number of agents of the world, the invocation's place in its
    /// subgroup, and which half of the memory the next blocks of lanes are combined in.
    agents: String,
    invocation: String,
    half: String,
    /// Workgroup memory for a condition or a bound that all invocations have.
    common: String,
    /// The states that are published, and the types of what is combined, in workgroup memory.
    published: Vec<(VarId, String)>,
    combined: Vec<(Type, String)>,
    /// By value that is combined later: its samples in workgroup memory.
    pub(super) kept: Vec<(VarId, String)>,
    /// By sampling: the function that combines what is kept.
    pub(super) combining_kept: Vec<String>,
    /// The functions that combine.
    functions: Vec<(LaneOp, Type, String)>,
    /// The published states that may have been read since the last barrier.
    pub(super) read: Vec<VarId>,
    /// Of steps in several dispatches: the scratch buffer, in an entry point where the world's rows begin in
    /// it, and which part of a world this is; the workgroup memory for a world's rows, and whether they are
    /// there.
    scratch: String,
    rows: String,
    has_rows: bool,
    others: String,
    part: String,
}

impl<'a> Writer<'a> {
    /// Names everything of worlds at module scope.
    pub(super) fn name_worlds(&mut self) {
        let Some(layout) = self.world else {
            return;
        };
        let program = self.program;
        let names = &mut self.names;
        let mut declare = |name: &str| names.declare(name);
        let mut own = WorldNames {
            buffer: declare("worlds"),
            place: declare("world_place"),
            first: declare("world_first"),
            left: declare("world_left"),
            agents: declare("world_agents"),
            invocation: declare("world_invocation"),
            half: declare("world_half"),
            common: declare("world_common"),
            ..WorldNames::default()
        };
        own.member[1] = declare("member_number");
        own.number[1] = declare("world_number");
        if let Some(plan) = self.per_step {
            self.own.world = own;
            return self.name_per_step(plan);
        }
        let exchange = &layout.exchange;
        own.published = (exchange.published.iter())
            .map(|&var| (var, declare(&format!("others_{}", program[var].name))))
            .collect();
        own.combined = (exchange.types().into_iter())
            .map(|ty| (ty, declare(&format!("world_parts_{}", ty.name()))))
            .collect();
        let kept = program.samples.iter().flat_map(|sample| &sample.combined);
        own.kept = (kept.filter(|_| layout.kept.is_some()))
            .map(|&(var, _)| (var, declare(&format!("kept_{}", program[var].name))))
            .collect();
        own.combining_kept = (program.samples.iter().filter(|_| layout.kept.is_some()))
            .map(|sample| declare(&format!("combine_samples_every_{}", sample.every)))
            .collect();
        own.functions = (exchange.combined.iter())
            .map(|&(op, ty)| {
                (
                    op,
                    ty,
                    declare(&format!("world_{}_{}", op.name(), ty.name())),
                )
            })
            .collect();
        self.own.world = own;
    }

    /// Declares the buffer of the worlds' values and the workgroup memory.
    pub(super) fn world_memory(&mut self) {
        let Some(layout) = self.world else {
            return;
        };
        let program = self.program;
        if self.manifest.world_words(0) > 0 {
            let (binding, name) = (self.manifest.worlds_binding(), &self.own.world.buffer);
            let line = format!(
                "@group(0) @binding({binding}) var<storage, read_write> {name}: array<u32>;"
            );
            self.line(&line);
        }
        if let Some(plan) = self.per_step {
            self.per_step_memory(plan);
            return self.world_copies();
        }
        self.blank();
        let own = &self.own.world;
        let mut lines = Vec::new();
        let size = layout.size();
        for (var, name) in &own.published {
            let ty = literal::type_name(in_memory(program[*var].ty));
            let count = layout.slots().saturating_mul(elements(program, *var));
            lines.push(format!("var<workgroup> {name}: array<{ty}, {count}>;"));
        }
        for (ty, name) in &own.combined {
            let ty = literal::type_name(*ty);
            lines.push(format!("var<workgroup> {name}: array<{ty}, {size}>;"));
        }
        if layout.exchange.in_branches {
            lines.push(format!("var<workgroup> {}: u32;", own.common));
        }
        for (var, name) in &own.kept {
            let ty = literal::type_name(in_memory(program[*var].ty));
            let count = layout.kept.unwrap_or(1) * layout.kept_stride();
            lines.push(format!("var<workgroup> {name}: array<{ty}, {count}>;"));
        }
        for name in [&own.place, &own.first, &own.left] {
            lines.push(format!("var<private> {name}: u32;"));
        }
        if self.shuffles() {
            for name in [&own.agents, &own.invocation, &own.half] {
                lines.push(format!("var<private> {name}: u32;"));
            }
        }
        lines.iter().for_each(|line| self.line(line));
        self.world_copies();
    }

    /// Declares the numbers that functions read.
    fn world_copies(&mut self) {
        let (usage, own) = (&self.usage, &self.own.world);
        let mut lines = Vec::new();
        for (used, name) in [(usage.member, &own.member), (usage.world, &own.number)] {
            if used {
                lines.push(format!("var<private> {}: i32;", name[1]));
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }

    /// Writes the number of the world, what functions read of the agent's place, and the stream of the
    /// world's draws.
    fn world_numbers(&mut self) {
        let members = self.world.map_or(1, |layout| layout.members);
        let own = &self.own.world;
        let usage = &self.usage;
        let mut lines = vec![format!(
            "let {} = i32(run.first_agent / {members}u + {});",
            own.number[0], own.in_run
        )];
        for (used, name) in [(usage.member, &own.member), (usage.world, &own.number)] {
            if used {
                lines.push(format!("{} = {};", name[1], name[0]));
            }
        }
        if usage.world_draws.contains(&true) {
            lines.push(format!(
                "let {} = agent_key({}.seed, 0x{FIRST_WORLD:08x}u | u32({}));",
                own.stream, self.own.launch, own.number[0]
            ));
        }
        lines.iter().for_each(|line| self.line(line));
    }

    /// Names what `main` declares for worlds.
    pub(super) fn name_own_world(&mut self) {
        if self.world.is_none() {
            return;
        }
        let program = self.program;
        let values = program.world_inputs.iter().chain(&program.world_states);
        for &var in values {
            if !self.private[var] && !self.is_accessed(var) {
                self.declare(var);
            }
        }
        let mut declare = |name: &str| self.names.declare(name);
        self.own.is_agent = declare("is_agent");
        let own = &mut self.own.world;
        own.count = declare("world_count");
        own.slot = declare("world_slot");
        own.in_run = match self.schedule.points {
            true => declare("world_in_run"),
            false => own.slot.clone(),
        };
        own.member[0] = declare("member");
        own.members = declare("members");
        own.number[0] = declare("world");
        own.stream = declare("world_stream");
    }

    /// Is a variable an array of inputs of the world, whose elements functions load?
    fn is_accessed(&self, var: VarId) -> bool {
        self.accessors.contains_key(&var)
    }

    /// Loads the inputs of the world that are single values and read.
    pub(super) fn load_world_inputs(&mut self) {
        self.load_world_inputs_of(|_| true);
    }

    /// The same of those that a stage needs.
    fn load_world_inputs_of(&mut self, needs: impl Fn(VarId) -> bool) {
        let program = self.program;
        for &var in &program.world_inputs {
            if needs(var) && self.usage.read[var] > 0 && !self.is_accessed(var) {
                self.zeros(var);
                self.load_state(var);
            }
        }
    }

    /// Writes the time loop: in each step the phases in order.
    pub(super) fn world_time_loop(&mut self) {
        self.blank();
        self.first_samples();
        let program = self.program;
        let t = self.own.step.clone();
        let looped = format!("for (var {t} = run.first_step; {t} < run.end_step; {t}++) {{");
        self.open(&looped);
        self.names.enter();
        self.count_step_of_world();
        self.keys(1, &format!("u32({t})"));
        // What the last phase of a step reads, the first one of the next step may publish.
        let reads = program.phases.iter().map(|phase| published(program, phase));
        let last = reads.rev().find(|vars| !vars.is_empty());
        let sampled = program.samples.iter();
        let sampled = sampled.flat_map(|sample| published(program, &sample.body));
        self.own.world.read = last.into_iter().flatten().chain(sampled).collect();
        for phase in &program.phases {
            self.phase(phase, true);
        }
        self.samples();
        self.names.leave();
        self.close("}");
        self.last_samples();
    }

    fn count_step_of_world(&mut self) {
        self.each_agent(|writer| {
            let steps_run = &writer.own.steps_run;
            let count = match writer.usage.stops {
                true => format!("{steps_run} += select(1u, 0u, {});", writer.own.stopped),
                false => format!("{steps_run}++;"),
            };
            writer.line(&count);
        });
    }

    /// Writes the phases after the last step.
    pub(super) fn world_ends(&mut self) {
        let program = self.program;
        for phase in &program.ends {
            self.phase(phase, false);
        }
        self.publish(&program.finish);
    }

    /// Names the keys of the draws of a random step.
    pub(super) fn keys(&mut self, which: usize, step: &str) {
        if self.usage.draws[which] {
            self.each_agent(|writer| {
                writer.own.key = writer.names.declare("key");
                let own = &writer.own;
                let line = format!("let {} = step_key({}, {step});", own.key, own.stream);
                writer.line(&line);
            });
        }
        if self.usage.world_draws[which] {
            self.own.world.key = self.names.declare("world_key");
            let own = &self.own.world;
            let line = format!("let {} = step_key({}, {step});", own.key, own.stream);
            self.line(&line);
        }
    }

    /// Writes a phase. In a step, agents that have stopped pass over theirs.
    fn phase(&mut self, phase: &'a Phase, in_step: bool) {
        self.publish(phase);
        self.run_phase(phase, in_step);
    }

    fn run_phase(&mut self, phase: &'a Phase, in_step: bool) {
        if phase.is_empty() {
            return;
        }
        let masked = in_step && phase.owner == Owner::Agent && self.usage.stops;
        let stops = masked && stops(phase);
        let stopped = &self.own.stopped;
        let head = match (masked, stops) {
            (false, _) => "{".to_owned(),
            (true, false) => format!("if (!{stopped}) {{"),
            // `stop` leaves it.
            (true, true) => format!("while (!{stopped}) {{"),
        };
        self.open(&head);
        let falls = self.block(phase);
        if stops && falls {
            self.line("break;");
        }
        self.close("}");
    }

    /// Lets the agents of the world read the states that a block reads of others.
    pub(super) fn publish(&mut self, block: &Block) {
        let program = self.program;
        let vars = published(program, block);
        if vars.is_empty() {
            return;
        }
        let own = &mut self.own.world;
        if vars.iter().any(|var| own.read.contains(var)) {
            own.read.clear();
            self.line("workgroupBarrier();");
        }
        for &var in &vars {
            self.each_agent(|writer| writer.publish_state(var));
        }
        self.line("workgroupBarrier();");
        self.own.world.read = vars;
    }

    fn publish_state(&mut self, var: VarId) {
        let program = self.program;
        let own = &self.own.world;
        let value = |writer: &Self, index: &Index| {
            let text = writer.element_text(var, index);
            match program[var].ty {
                Type::Bool => format!("u32({text})"),
                _ => text,
            }
        };
        let (memory, mut place) = (own.memory(var).to_owned(), own.place.clone());
        if self.is_coarse() {
            let number = self.number_in_invocation();
            place = format!("{place} * {}u + {number}u", self.per_invocation());
        }
        let size = self.world.map_or(0, WorldLayout::slots);
        let is_array = program[var].len != Len::One;
        let count = elements(program, var);
        if !is_array {
            let value = value(self, &Index::None);
            self.line(&format!("{memory}[{place}] = {value};"));
        } else if count <= UNROLLED || !self.usage.dynamic[var] {
            for k in 0..count {
                let at = format!("{}u + {place}", size.saturating_mul(k));
                let value = value(self, &Index::Known(k));
                self.line(&format!("{memory}[{at}] = {value};"));
            }
        } else {
            self.names.enter();
            let k = self.names.declare("k");
            self.open(&format!("for (var {k} = 0u; {k} < {count}u; {k}++) {{"));
            let value = value(self, &Index::Named(k.clone()));
            let line = format!("{memory}[{k} * {size}u + {place}] = {value};");
            self.line(&line);
            self.close("}");
            self.names.leave();
        }
    }

    /// Writes the read of a state or an input of another agent of the world.
    pub(super) fn other(&mut self, var: VarId, index: Option<ExprId>, member: ExprId) {
        let kind = self.program[var].kind;
        if kind == VarKind::Input {
            let rows = self.manifest.input_words / VEC4_WORDS;
            let name = self.accessors[&var].clone();
            let own = &self.own.world;
            let members = self.world.map_or(1, |layout| layout.members);
            let start = format!("{} * {members}u + u32(", own.slot);
            let before = std::mem::replace(&mut self.out, start);
            self.shown(member);
            self.push(")");
            let slot = std::mem::replace(&mut self.out, before);
            // Written out for one row, too.
            let row = match (self.schedule.points, rows) {
                (false, 1) => format!("({slot}) * 1u"),
                _ => self.first_input_row(&format!("({slot})"), rows),
            };
            self.push(&format!("{name}({row}, "));
            match index {
                Some(index) => self.expr(index, Level::Lowest),
                None => self.push("0"),
            }
            return self.push(")");
        }
        if let Some(plan) = self.per_step {
            return self.other_row(plan, var, index, member);
        }
        let size = self.world.map_or(0, WorldLayout::slots);
        let start = format!("{}[", self.own.world.memory(var));
        self.push(&start);
        if let Some(index) = index {
            self.push("u32(");
            self.shown(index);
            self.push(&format!(") * {size}u + "));
        }
        let first = format!("{} + u32(", self.own.world.first);
        self.push(&first);
        self.shown(member);
        self.push(")]");
        self.unless_bool(self.program[var].ty);
    }

    /// The name of the function that combines values of a type.
    pub(super) fn combining(&self, op: LaneOp, ty: Type) -> String {
        let functions = &self.own.world.functions;
        let found = functions
            .iter()
            .find(|(known, of, _)| (*known, *of) == (op, ty));
        found.map_or_else(String::new, |(.., name)| name.clone())
    }

    /// Writes the call that combines the values of the agents of the world.
    pub(super) fn across_world(&mut self, op: LaneOp, value: ExprId) {
        let start = format!("{}(", self.combining(op, self.program.type_of(value)));
        self.push(&start);
        match self.folded(op, value) {
            Some(all) => self.push(&all),
            None => self.expr(value, Level::Lowest),
        }
        self.push(")");
    }

    /// Writes a number of the launch that is about worlds.
    pub(super) fn world_launch(&mut self, number: Launch) {
        let own = &self.own.world;
        let place = usize::from(self.in_function);
        let text = match number {
            Launch::Member => own.member[place].clone(),
            Launch::World => own.number[place].clone(),
            Launch::Members if !self.in_function => own.members.clone(),
            Launch::Members
            | Launch::Agent
            | Launch::Agents
            | Launch::Steps
            | Launch::Step
            | Launch::Lane { .. } => {
                self.call(Support::RuntimeI32);
                format!("({})", self.world.map_or(1, |layout| layout.members))
            }
        };
        self.push(&text);
    }

    /// Stores the values of the world of these variables, by its first agent.
    pub(super) fn store_world(&mut self, vars: &[VarId]) {
        if vars.is_empty() {
            return;
        }
        let head = format!(
            "if ({} && {} == 0) {{",
            self.own.is_agent, self.own.world.member[0]
        );
        self.open(&head);
        for &var in vars {
            self.store_variable(var);
        }
        self.close("}");
    }
}

impl WorldNames {
    /// The agent's place in the world, and the size of the world, in `main`.
    fn own_member(&self) -> &str {
        &self.member[0]
    }

    pub(super) fn own_member_mut(&mut self) -> &mut String {
        &mut self.member[0]
    }

    fn own_members(&self) -> &str {
        &self.members
    }

    /// The memory of a published state.
    fn memory(&self, var: VarId) -> &str {
        let found = self.published.iter().find(|(known, _)| *known == var);
        found.map_or("", |(_, name)| name)
    }
}
