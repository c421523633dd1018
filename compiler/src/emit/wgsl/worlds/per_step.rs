//! Worlds whose steps are several dispatches: an entry point for each stage, see [`crate::kernel::per_step`].
//! States travel through storage from one to the next.

mod samples;

use super::rows::{copy, in_row, row, value_of};
use crate::{
    emit::wgsl::{Writer, literal},
    ir::{Len, Phase, Stmt, Type, VarId},
    kernel::{
        lane_layout::ONE_LANE,
        lanes::{SHUFFLES, stops},
        per_step::{Fold, GROUP, PerStep, Stage, Task, rows_bytes, types},
        schedule::{self, Grid, Scratch, When},
    },
    manifest::CUT_SHORT,
    random::{FINISH_STEP, INIT_STEP},
};

/// When a stage runs, and what follows from it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Birth,
    /// Does it count the step?
    Step {
        counts: bool,
    },
    /// That of this number among those of samples: before the first step?
    Sample {
        part: usize,
        first: bool,
    },
    End,
    /// The outputs.
    Finish,
}

impl<'a> Writer<'a> {
    /// Names everything of stages at module scope.
    pub(super) fn name_per_step(&mut self, plan: &'a PerStep) {
        let program = self.program;
        let dynamic: Vec<VarId> = (plan.rows.words.iter())
            .map(|(var, _)| *var)
            .filter(|&var| program[var].len != Len::One)
            .collect();
        let names = &mut self.names;
        let own = &mut self.own.world;
        own.scratch = names.declare("scratch");
        own.rows = names.declare("rows_of_world");
        for var in dynamic {
            let name = names.declare(&format!("{}_of", program[var].name));
            own.published.push((var, name));
        }
        for ty in types(&plan.combined) {
            let name = names.declare(&format!("world_parts_{}", ty.name()));
            own.combined.push((ty, name));
        }
        for &(op, ty) in &plan.combined {
            let name = names.declare(&format!("world_{}_{}", op.name(), ty.name()));
            own.functions.push((op, ty, name));
        }
        // A workgroup combines the values of one world.
        own.first.clear();
    }

    /// Declares the scratch buffer and the workgroup memory.
    pub(super) fn per_step_memory(&mut self, plan: &PerStep) {
        if let Some(scratch) = self.scratch() {
            let line = format!(
                "@group(0) @binding({}) var<storage, read_write> {}: array<vec4u>;",
                scratch.binding, self.own.world.scratch
            );
            self.line(&line);
        }
        self.blank();
        let size = self.group_size();
        let own = &self.own.world;
        let mut lines = Vec::new();
        for (ty, name) in &own.combined {
            let ty = literal::type_name(*ty);
            lines.push(format!("var<workgroup> {name}: array<{ty}, {size}>;"));
        }
        if self.shares_rows(plan) {
            let count = self.members_of_world() * plan.rows.count;
            lines.push(format!(
                "var<workgroup> {}: array<vec4u, {count}>;",
                own.rows
            ));
        }
        if !plan.combined.is_empty() {
            for name in [&own.place, &own.left] {
                lines.push(format!("var<private> {name}: u32;"));
            }
        }
        lines.iter().for_each(|line| self.line(line));
    }

    /// What stages keep for one another beside the states.
    pub(in crate::emit::wgsl) fn scratch(&self) -> Option<Scratch> {
        let plan = self.per_step?;
        let tables = self.manifest.data.iter().map(|table| table.binding);
        let worlds = self.manifest.world.iter().map(|world| world.binding);
        let scratch = Scratch {
            binding: tables.chain(worlds).fold(4, u32::max) + 1,
            per_agent: plan.rows.copies * plan.rows.count,
            per_world: plan.folds * self.parts_of_world(),
        };
        (scratch.per_agent + scratch.per_world > 0).then_some(scratch)
    }

    pub(super) fn members_of_world(&self) -> u32 {
        self.world.map_or(1, |layout| layout.members)
    }

    /// Parts of a world's fold.
    fn parts_of_world(&self) -> u32 {
        self.members_of_world().div_ceil(GROUP)
    }

    /// Invocations of the workgroups that combine values.
    pub(in crate::emit::wgsl) fn group_size(&self) -> u32 {
        self.members_of_world().next_multiple_of(32).min(GROUP)
    }

    /// Bytes of workgroup memory that an entry point uses at most.
    pub(in crate::emit::wgsl) fn group_bytes(&self) -> u64 {
        let combined = self.per_step.map_or(&[][..], |plan| &plan.combined);
        let bytes = types(combined).into_iter().map(Type::bytes).sum::<u32>();
        let rows = (self.per_step)
            .filter(|plan| self.shares_rows(plan))
            .map_or(0, |plan| rows_bytes(&plan.rows, self.members_of_world()));
        rows.max(u64::from(self.group_size()) * u64::from(bytes))
    }

    /// The largest tree in a workgroup.
    pub(super) fn tree_width(&self) -> u32 {
        self.members_of_world().min(GROUP)
    }

    /// Writes all entry points, and says what a host must know of them.
    pub(in crate::emit::wgsl) fn stages(&mut self, plan: &'a PerStep) -> Vec<schedule::Stage> {
        let program = self.program;
        let is_agents = |stage: &Stage| matches!(stage.task, Task::Agents);
        let first = plan.steps.iter().position(is_agents);
        let mut entries = Vec::new();
        self.entry_point(plan, &plan.birth, &[], Part::Birth, &mut entries);
        self.samples_of(plan, true, &mut entries);
        for (number, stage) in plan.steps.iter().enumerate() {
            let counts = first == Some(number);
            self.entry_point(
                plan,
                stage,
                &program.phases,
                Part::Step { counts },
                &mut entries,
            );
        }
        self.samples_of(plan, false, &mut entries);
        for stage in &plan.ends {
            self.entry_point(plan, stage, &program.ends, Part::End, &mut entries);
        }
        self.entry_point(plan, &plan.finish, &[], Part::Finish, &mut entries);
        entries
    }

    /// Writes the entry point of a stage, whose blocks are of these phases.
    fn entry_point(
        &mut self,
        plan: &'a PerStep,
        stage: &'a Stage,
        phases: &'a [Phase],
        part: Part,
        entries: &mut Vec<schedule::Stage>,
    ) {
        let program = self.program;
        let number = entries.len();
        let name = match (&stage.task, part) {
            (_, Part::Birth) => "birth".to_owned(),
            (_, Part::Finish) => "finish".to_owned(),
            (Task::Agents, _) => format!("agents_{number}"),
            (Task::Parts(_), _) => format!("parts_{number}"),
            (Task::World, _) => format!("world_{number}"),
        };
        let name = self.names.declare(&name);
        self.stage(plan, stage, &name, &phases[stage.phases.clone()], part);
        entries.push(schedule::Stage {
            name,
            when: match part {
                Part::Birth | Part::Sample { first: true, .. } => When::Birth,
                Part::Step { .. } => When::Step,
                Part::Sample { part, first: false } => When::Sample {
                    every: program.samples[part].every,
                },
                Part::End | Part::Finish => When::End,
            },
            grid: match stage.task {
                Task::Agents => Grid::Agents(self.agents_size(plan, stage) / stage.lanes),
                Task::Parts(_) => Grid::Worlds(self.parts_of_world()),
                Task::World => Grid::Worlds(1),
            },
        });
    }

    /// Begins the text of a stage.
    fn open_stage(&mut self, plan: &PerStep, stage: &Stage, name: &str, part: Part) {
        self.names.enter();
        self.input_names.clear();
        self.row_names.clear();
        self.chain_cut = false;
        self.blank();
        self.name_own();
        match stage.task {
            Task::Agents => self.agents_entry(plan, stage, name, part),
            Task::Parts(_) => self.group_entry(name, self.parts_of_world()),
            Task::World => self.group_entry(name, 0),
        }
        self.set_constants();
        self.agent();
        self.world_numbers();
    }

    /// The head of an entry point whose invocations are agents.
    fn agents_entry(&mut self, plan: &PerStep, stage: &Stage, name: &str, part: Part) {
        let size = self.agents_size(plan, stage);
        self.line(&format!("@compute @workgroup_size({size})"));
        let slot = self.own.slot.clone();
        if SHUFFLES && self.layout.is_split() {
            let place = self.names.declare("place");
            self.lane_entry(name, size, &place, &slot);
            if let Some(agents) = stage.shares_rows(&plan.rows, self.members_of_world()) {
                self.load_rows(plan, (part, stage.flips_before), &place, (size, agents));
            }
        } else {
            let [id, groups] = ["id", "groups"].map(|name| self.names.declare(name));
            self.open(&format!(
                "fn {name}(@builtin(global_invocation_id) {id}: vec3u, @builtin(num_workgroups) {groups}: \
                 vec3u) {{"
            ));
            self.line(&format!(
                "let {slot} = {id}.y * ({groups}.x * {size}u) + {id}.x;"
            ));
            self.begin_spill_at(&slot, &groups, size);
        }
        self.open(&format!("if ({slot} >= run.agents) {{"));
        self.line("return;");
        self.close("}");
        let members = self.members_of_world();
        let own = &self.own.world;
        let lines = [
            format!("let {} = {members};", own.members),
            format!("let {} = run.agents / {members}u;", own.count),
            format!("let {} = {slot} / {members}u;", own.slot),
            format!("let {} = i32({slot} % {members}u);", own.member[0]),
        ];
        lines.iter().for_each(|line| self.line(line));
    }

    /// The head of an entry point whose workgroups combine: each one of so many parts of a world, or with
    /// none the world.
    fn group_entry(&mut self, name: &str, parts: u32) {
        let size = self.group_size();
        let names = ["id", "groups", "index", "number", "part", "place"];
        let [id, groups, index, number, part, place] = names.map(|name| self.names.declare(name));
        self.line(&format!("@compute @workgroup_size({size})"));
        self.line(&format!("fn {name}("));
        self.indent += 1;
        self.line(&format!("@builtin(workgroup_id) {id}: vec3u,"));
        self.line(&format!("@builtin(num_workgroups) {groups}: vec3u,"));
        self.line(&format!("@builtin(local_invocation_index) {index}: u32,"));
        self.close(") {");
        self.indent += 1;
        self.begin_spill(&id, &groups, &index, size);
        let members = self.members_of_world();
        let (is_agent, slot) = (&self.own.is_agent, &self.own.slot);
        let own = &self.own.world;
        let (count, world, member) = (&own.count, &own.slot, &own.member[0]);
        let group = format!("{id}.y * {groups}.x + {id}.x");
        let mut lines = vec![
            format!("let {} = {members};", own.members),
            format!("let {count} = run.agents / {members}u;"),
        ];
        match parts {
            0 => lines.extend([
                format!("let {number} = {group};"),
                format!("let {is_agent} = {number} < {count} && {index} == 0u;"),
                format!("let {member} = 0;"),
            ]),
            1 => lines.extend([
                format!("let {number} = {group};"),
                format!("let {place} = {index};"),
            ]),
            _ => lines.extend([
                format!("let {number} = ({group}) / {parts}u;"),
                format!("let {part} = ({group}) % {parts}u;"),
                format!("let {place} = {part} * {GROUP}u + {index};"),
            ]),
        }
        if parts > 0 {
            lines.extend([
                "// All invocations come to the barriers.".to_owned(),
                format!("let {is_agent} = {number} < {count} && {place} < {members}u;"),
                format!("let {member} = i32(min({place}, {}u));", members - 1),
            ]);
        }
        lines.push(format!("let {world} = min({number}, {count} - 1u);"));
        lines.push(format!(
            "let {slot} = {world} * {members}u + u32({member});"
        ));
        let combines = self.per_step.is_some_and(|plan| !plan.combined.is_empty());
        if combines {
            lines.push(format!("{} = {index};", own.place));
        }
        lines.iter().for_each(|line| self.line(line));
        self.own.world.part = part;
    }

    fn stage(
        &mut self,
        plan: &'a PerStep,
        stage: &'a Stage,
        name: &str,
        phases: &'a [Phase],
        part: Part,
    ) {
        let [draws, world_draws] = stage.draws;
        let draws = std::mem::replace(&mut self.usage.draws, [draws; 3]);
        let world_draws = std::mem::replace(&mut self.usage.world_draws, [world_draws; 3]);
        let inputs = self.usage.inputs.clone();
        let layout = self.layout;
        if stage.lanes == 1 {
            self.layout = &ONE_LANE;
        }
        (self.usage.inputs).retain(|(_, var, _), _| stage.mentions.contains(var));
        self.open_stage(plan, stage, name, part);
        self.load_inputs();
        self.load_world_inputs_of(|var| stage.mentions.contains(&var));
        if part == Part::Birth {
            self.birth_of(plan);
        } else {
            self.run_stage(plan, stage, phases, part);
        }
        self.close("}");
        self.names.leave();
        self.usage.draws = draws;
        self.usage.world_draws = world_draws;
        self.own.world.has_rows = false;
        self.usage.inputs = inputs;
        self.layout = layout;
    }

    /// Writes the initial values.
    fn birth_of(&mut self, plan: &'a PerStep) {
        let program = self.program;
        self.blank();
        for &state in program.states.iter().chain(&program.world_states) {
            if !self.private[state] {
                self.zeros(state);
            }
        }
        self.part(0, &format!("0x{INIT_STEP:08x}u"), &[&program.init]);
        self.blank();
        for &state in &program.states {
            self.store_variable(state);
        }
        if !program.world_states.is_empty() {
            let head = format!("if ({} == 0) {{", self.own.world.member[0]);
            self.open(&head);
            for &state in &program.world_states {
                self.store_variable(state);
            }
            self.close("}");
        }
        let row = row(plan, "", &self.own.slot);
        self.store_rows(plan, &row, &|_| true);
        let line = format!("progress[{}] = 0u;", self.own.slot);
        self.line(&line);
    }

    /// Writes what a stage does with what earlier ones left.
    fn run_stage(&mut self, plan: &'a PerStep, stage: &'a Stage, phases: &'a [Phase], part: Part) {
        let program = self.program;
        self.load_states(stage);
        let is_agents = matches!(stage.task, Task::Agents);
        let counts = part == Part::Step { counts: true };
        let stopping = phases.iter().any(|phase| stops(phase));
        let reports = is_agents && (counts || stopping || stage.loops);
        let in_step = matches!(part, Part::Step { .. });
        if is_agents && (reports || in_step && self.usage.stops) {
            let line = format!("var {} = 0u;", self.own.steps_run);
            self.line(&line);
            if self.usage.stops {
                let line = format!("var {} = false;", self.own.stopped);
                self.line(&line);
            }
            self.load_progress();
        }
        let needed = |stmt: &&Stmt| (stmt.target()).is_none_or(|var| stage.mentions.contains(&var));
        for stmt in program.prologue.iter().filter(needed) {
            self.statements(std::slice::from_ref(stmt));
        }
        self.blank();
        if in_step {
            let t = self.own.step.clone();
            self.line(&format!("let {t} = run.first_step;"));
            self.keys(1, &format!("u32({t})"));
        } else {
            self.keys(2, &format!("0x{FINISH_STEP:08x}u"));
        }
        if counts {
            self.count_step_of_world();
        }
        let flips = match part {
            Part::Sample { first: true, .. } => 0,
            _ => stage.flips_before,
        };
        self.name_others(plan, part, flips);
        for fold in &stage.known {
            self.result(plan, fold);
        }
        if let Part::Sample { part, .. } = part {
            self.part_of_sample(stage, &program.samples[part]);
        }
        for phase in phases {
            match stage.task {
                Task::Agents | Task::World => self.run_phase(phase, in_step),
                Task::Parts(_) => {
                    self.statements(phase);
                }
            }
        }
        if part == Part::Finish {
            self.outputs();
        }
        self.blank();
        self.open_first_lane();
        self.store_assigned(plan, stage, part);
        if reports {
            self.store_progress();
        } else if stage.loops {
            self.report_cut_loops();
        }
        self.close_first_lane();
    }

    /// Marks agents of which a loop ended early.
    fn report_cut_loops(&mut self) {
        let line = format!("if ({}) {{", self.own.is_agent);
        self.open(&line);
        self.names.enter();
        let rounds = self.rounds();
        self.open(&format!("if ({rounds} < 2u) {{"));
        let line = format!("progress[{}] |= 0x{CUT_SHORT:08x}u;", self.own.slot);
        self.line(&line);
        self.close("}");
        self.names.leave();
        self.close("}");
    }

    /// Declares what a stage mentions of states and values of the world, as earlier dispatches left them.
    fn load_states(&mut self, stage: &Stage) {
        let program = self.program;
        let values = (program.states.iter()).chain(&program.world_states);
        let values = values.chain(&program.world_outputs);
        self.blank();
        for &var in values {
            if !stage.mentions.contains(&var) {
                continue;
            }
            if !self.private[var] {
                if self.program.world_outputs.contains(&var) {
                    self.declare(var);
                }
                self.zeros(var);
            }
            self.load_state(var);
        }
    }

    fn store_assigned(&mut self, plan: &PerStep, stage: &Stage, part: Part) {
        let program = self.program;
        let of = |all: &[VarId]| -> Vec<VarId> {
            let assigned = all.iter().filter(|var| stage.assigns.contains(var));
            assigned.copied().collect()
        };
        match &stage.task {
            Task::Agents => {
                for state in of(&program.states) {
                    self.store_variable(state);
                }
                let flips = stage.flips_before + u32::from(stage.flips);
                let row = row(plan, &copy(plan, part, flips), &self.own.slot);
                let stored = |var| stage.flips || stage.assigns.contains(&var);
                self.store_rows(plan, &row, &stored);
            }
            Task::World => {
                let mut values = of(&program.world_states);
                values.extend(of(&program.world_outputs));
                self.store_world(&values);
            }
            Task::Parts(folds) => self.store_parts(plan, folds),
        }
        if let Part::Sample { part, first } = part {
            self.store_sample(plan, part, first);
        }
    }

    /// The place of a part of a fold's values.
    fn place_of(&self, plan: &PerStep, fold: &Fold, part: &str) -> String {
        let rows = plan.rows.copies * plan.rows.count;
        let first = match rows {
            0 => String::new(),
            _ => format!("{rows}u * run.agents + "),
        };
        let world = &self.own.world.slot;
        let number = match plan.folds {
            1 => world.clone(),
            folds => format!("({world} * {folds}u + {}u)", fold.number),
        };
        let scratch = &self.own.world.scratch;
        match self.parts_of_world() {
            1 => format!("{scratch}[{first}{number}]"),
            parts => format!("{scratch}[{first}{number} * {parts}u + {part}]"),
        }
    }

    fn tree(&self, fold: &Fold) -> String {
        let mut functions = self.own.world.functions.iter();
        let found = functions.find(|(op, ty, _)| (*op, *ty) == (fold.op, fold.ty));
        found.map_or_else(String::new, |(.., name)| name.clone())
    }

    /// Combines the values of the agents of a workgroup, and stores the results.
    fn store_parts(&mut self, plan: &PerStep, folds: &[Fold]) {
        let (left, place) = (self.own.world.left.clone(), self.own.world.place.clone());
        let (part, members) = (self.own.world.part.clone(), self.members_of_world());
        self.blank();
        let is_agent = self.own.is_agent.clone();
        self.line(&format!(
            "{left} = select(0u, {members}u - u32({}), {is_agent});",
            self.own.world.member[0]
        ));
        for fold in folds {
            let name = self.names.declare("whole");
            let element = self.var_names[fold.element].clone();
            let line = format!("let {name} = {}({element});", self.tree(fold));
            self.line(&line);
            self.open(&format!("if ({is_agent} && {place} == 0u) {{"));
            let line = format!(
                "{} = {};",
                self.place_of(plan, fold, &part),
                in_row(fold.ty, &name)
            );
            self.line(&line);
            self.close("}");
        }
    }

    /// Names the result of a fold: all parts combined.
    fn result(&mut self, plan: &PerStep, fold: &Fold) {
        let (ty, parts) = (fold.ty, self.parts_of_world());
        self.declare(fold.result);
        let result = self.var_names[fold.result].clone();
        if parts == 1 {
            let part = value_of(ty, &self.place_of(plan, fold, ""), 0);
            return self.line(&format!("let {result} = {part};"));
        }
        let (left, place) = (self.own.world.left.clone(), self.own.world.place.clone());
        let tree = self.tree(fold);
        let last = parts - 1;
        if parts <= GROUP {
            self.line(&format!("{left} = max({parts}u, {place}) - {place};"));
            let part = value_of(
                ty,
                &self.place_of(plan, fold, &format!("min({place}, {last}u)")),
                0,
            );
            return self.line(&format!("let {result} = {tree}({part});"));
        }
        let [own, k, whole] = ["own_part", "k", "whole"].map(|name| self.names.declare(name));
        let groups = parts.div_ceil(GROUP);
        self.line(&format!("var {own}: {};", literal::type_name(ty)));
        self.open(&format!("for (var {k} = 0u; {k} < {groups}u; {k}++) {{"));
        self.line(&format!(
            "{left} = max({parts}u - {k} * {GROUP}u, {place}) - {place};"
        ));
        let at = format!("min({k} * {GROUP}u + {place}, {last}u)");
        let part = value_of(ty, &self.place_of(plan, fold, &at), 0);
        self.line(&format!("let {whole} = {tree}({part});"));
        self.open(&format!("if ({place} == {k}) {{"));
        self.line(&format!("{own} = {whole};"));
        self.close("}");
        self.close("}");
        self.line(&format!("{left} = max({groups}u, {place}) - {place};"));
        self.line(&format!("let {result} = {tree}({own});"));
    }
}
