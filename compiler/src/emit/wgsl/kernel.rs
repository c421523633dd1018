//! The entry point `main`: initialisation or continuation and the end of the run; `time` has the loop between
//! them.

use super::Writer;
use crate::{
    ir::{Len, Stmt, VarId},
    manifest::{CUT_SHORT, STOPPED},
    random::{FINISH_STEP, INIT_STEP},
    value::VEC4_WORDS,
};

impl Writer<'_> {
    /// Writes `main`.
    pub(super) fn main(&mut self) {
        self.names.enter();
        self.blank();
        self.entry();
        self.load_inputs();
        self.load_world_inputs();
        self.birth();
        if !self.program.prologue.is_empty() {
            self.blank();
            let program = self.program;
            self.statements(&program.prologue);
        }
        self.time_loop();
        self.finish();
        self.store();
        self.close("}");
        self.names.leave();
    }

    /// The head of `main`, and which agent this is.
    fn entry(&mut self) {
        self.name_own();
        let size = self.workgroup_size();
        self.line(&format!("@compute @workgroup_size({size})"));
        if let Some(world) = self.world {
            self.world_entry(world);
            self.set_constants();
            return self.agent();
        }
        if self.has_barriers() {
            self.barrier_entry();
            self.set_constants();
            return self.agent();
        }
        if self.layout.is_split() {
            let place = self.names.declare("place");
            let agent = self.own.place.clone();
            self.lane_entry("main", size, &place, &agent);
        } else {
            let [id, groups] = ["id", "groups"].map(|name| self.names.declare(name));
            self.begin();
            self.push(&format!(
                "fn main(@builtin(global_invocation_id) {id}: vec3u, "
            ));
            self.push(&format!("@builtin(num_workgroups) {groups}: vec3u) {{"));
            self.push("\n");
            self.indent += 1;
            self.begin_point(&id);
            let number = format!("{id}.y * ({groups}.x * {size}u) + {id}.x");
            if self.is_coarse() {
                self.coarse_places(&number);
                self.set_constants();
                return self.agent();
            }
            let place = self.own.place.clone();
            self.line(&format!("let {place} = {number};"));
            self.begin_spill_at(&place, &groups, size);
        }
        let head = format!("if ({} >= {}.agents) {{", self.own.place, self.own.launch);
        self.open(&head);
        self.line("return;");
        self.close("}");
        self.slot_of_place();
        self.set_constants();
        self.agent();
    }

    /// The agent's own number and stream of random words, where they are used.
    pub(super) fn agent(&mut self) {
        self.each_agent(|writer| writer.own_agent());
    }

    fn own_agent(&mut self) {
        let number = format!("{}.first_agent + {}", self.own.launch, self.own.place);
        let mut key_of = number.clone();
        if self.usage.agent[0] {
            let agent = self.own.agent.clone();
            self.line(&format!("let {agent} = i32({number});"));
            key_of = format!("u32({agent})");
            if self.usage.agent[1] {
                let copy = format!("{} = {agent};", self.own.function_agent);
                self.line(&copy);
            }
        }
        if self.usage.draws.contains(&true) {
            let stream = self.own.stream.clone();
            let launch = &self.own.launch;
            self.line(&format!(
                "let {stream} = agent_key({launch}.seed, {key_of});"
            ));
        }
    }

    /// Names the variables of `main`, the model's before the kernel's own.
    pub(super) fn name_own(&mut self) {
        let program = self.program;
        for &state in &program.states {
            if !self.private[state] {
                self.declare(state);
            }
        }
        self.name_own_world();
        self.name_inputs();
        if self.layout.is_split() {
            self.own.lane = self.names.declare("lane");
        }
        let [slot, row, agent, stream, step, steps_run, stopped] = [
            "slot",
            "row",
            "agent",
            "stream",
            "t",
            "steps_run",
            "stopped",
        ]
        .map(|name| self.names.declare(name));
        self.own.place = match self.schedule.points {
            true => self.names.declare("agent_place"),
            false => slot.clone(),
        };
        self.own.slot = slot;
        self.own.row = row;
        self.own.agent = agent;
        self.own.stream = stream;
        self.own.step = step;
        self.own.steps_run = steps_run;
        self.own.stopped = stopped;
        if self.is_coarse() && self.world.is_none() {
            self.own.is_agent = self.names.declare("is_agent");
        }
        self.name_further_agents();
    }

    pub(super) fn name_inputs(&mut self) {
        let program = self.program;
        let named: Vec<_> = self
            .usage
            .inputs
            .iter()
            .filter(|(_, using)| using.named())
            .map(|((_, var, place), _)| (*var, *place))
            .collect();
        for (var, place) in named {
            let base = &program[var].name;
            let name = match program[var].len {
                Len::One => self.names.declare(base),
                Len::Fixed(_) | Len::Open { .. } => {
                    let first = place.first;
                    self.names.declare(&format!("{base}_{first}"))
                }
            };
            self.input_names.insert((var, place), name);
        }
    }

    /// Loads the agent's inputs, once.
    pub(super) fn load_inputs(&mut self) {
        let program = self.program;
        let dynamic = |var: &VarId| self.usage.dynamic[var];
        if self.usage.inputs.is_empty() && !program.inputs.iter().any(dynamic) {
            return;
        }
        self.each_agent(|writer| writer.load_inputs_of_agent());
    }

    fn load_inputs_of_agent(&mut self) {
        let program = self.program;
        self.blank();
        let rows = self.manifest.input_words / VEC4_WORDS;
        let row = self.first_input_row(&self.own.slot, rows);
        let name = self.own.row.clone();
        self.line(&format!("let {name} = {row};"));
        // One load of four words is worth several of one.
        for (row, words) in self.words_by_row() {
            if words > 1 {
                let name = self.names.declare(&format!("row_{}", row.first));
                let load = format!("let {name} = inputs[{}];", self.input_row(row));
                self.line(&load);
                self.row_names.insert(row, name);
            }
        }
        let values: Vec<_> = self.usage.inputs.keys().copied().collect();
        for (_, var, place) in values {
            if let Some(name) = self.input_names.get(&(var, place)).cloned() {
                if place.first == 0 {
                    self.doc(&program[var].doc);
                }
                self.begin();
                self.push(&format!("let {name} = "));
                self.input_load(var, place);
                self.end(";");
            }
        }
    }

    /// Declares the states and sets them to their initial values, or to those that an earlier dispatch left.
    fn birth(&mut self) {
        let program = self.program;
        self.blank();
        self.each_agent(|writer| {
            for &state in program.states.iter().chain(&program.world_states) {
                if !writer.private[state] {
                    writer.zeros(state);
                }
            }
            let line = format!("var {} = 0u;", writer.own.steps_run);
            writer.line(&line);
        });
        let stopped = self.own.stopped.clone();
        self.touch_reserved();
        if self.usage.stops {
            self.line(&format!("var {stopped} = false;"));
        }
        if program.init.is_empty() {
            self.open("if (run.first_step > 0) {");
        } else {
            self.open("if (run.first_step == 0) {");
            self.part(0, &format!("0x{INIT_STEP:08x}u"), &[&program.init]);
            self.close("} else {");
            self.indent += 1;
        }
        self.each_agent(|writer| {
            for &state in program.states.iter().chain(&program.world_states) {
                writer.load_state(state);
            }
            writer.load_progress();
        });
        if self.has_barriers() || self.world.is_some() {
            self.line("// Some lanes could be at the end before others have begun.");
            self.line("storageBarrier();");
        }
        self.close("}");
    }

    /// Loads the steps that the agent has run, and whether it has stopped.
    pub(super) fn load_progress(&mut self) {
        let steps_run = self.own.steps_run.clone();
        let stopped = self.own.stopped.clone();
        let slot = &self.own.slot;
        if self.usage.stops {
            let count = STOPPED - 1;
            let load = format!("{steps_run} = progress[{slot}] & 0x{count:08x}u;");
            let flag = format!("{stopped} = progress[{slot}] >= 0x{STOPPED:08x}u;");
            self.line(&load);
            self.line(&flag);
        } else {
            let load = format!("{steps_run} = progress[{slot}];");
            self.line(&load);
        }
    }

    /// Blocks that may draw, after the key of their random step. Is the end of the last reachable?
    pub(super) fn part(&mut self, which: usize, step: &str, blocks: &[&[Stmt]]) -> bool {
        self.names.enter();
        self.keys(which, step);
        let falls = blocks
            .iter()
            .enumerate()
            .all(|(number, block)| match number {
                0 => self.statements(block),
                _ => {
                    self.open("{");
                    let falls = self.block(block);
                    self.close("}");
                    falls
                }
            });
        self.names.leave();
        falls
    }

    fn finish(&mut self) {
        let program = self.program;
        if program.finish.is_empty() && program.ends.is_empty() {
            return;
        }
        self.blank();
        self.open("if (run.end_step == run.steps) {");
        self.names.enter();
        self.each_agent(|writer| {
            for &output in &program.world_outputs {
                if !writer.private[output] {
                    writer.declare(output);
                    writer.zeros(output);
                }
            }
        });
        if self.world.is_some() {
            self.keys(2, &format!("0x{FINISH_STEP:08x}u"));
        }
        self.world_ends();
        let guards = self.world.is_some() || self.is_coarse();
        self.each_agent(|writer| {
            if guards {
                let is_agent = format!("if ({}) {{", writer.own.is_agent);
                writer.open(&is_agent);
            }
            writer.outputs();
            if guards {
                writer.close("}");
            }
        });
        self.store_world(&program.world_outputs);
        self.names.leave();
        self.close("}");
    }

    /// Computes and stores the outputs of an agent.
    pub(super) fn outputs(&mut self) {
        let program = self.program;
        let kept: Vec<_> = program
            .outputs
            .iter()
            .copied()
            .filter(|output| !self.is_direct(*output))
            .collect();
        for &output in &kept {
            if !self.private[output] {
                self.declare(output);
                self.zeros(output);
            }
        }
        match self.world {
            Some(_) => self.block(&program.finish),
            None => self.part(2, &format!("0x{FINISH_STEP:08x}u"), &[&program.finish]),
        };
        if !kept.is_empty() {
            self.open_first_lane();
            for output in kept {
                self.store_variable(output);
            }
            self.close_first_lane();
        }
    }

    /// Stores the states; what follows is for the first lane only, until [`Writer::close_first_lane`].
    pub(super) fn store_states(&mut self) {
        let (shared, own) = self.states_by_lane();
        if self.has_barriers() && !shared.is_empty() {
            let is_agent = format!("if ({}) {{", self.own.is_agent);
            self.open(&is_agent);
        }
        for &state in &shared {
            self.store_variable(state);
        }
        if self.has_barriers() && !shared.is_empty() {
            self.close("}");
        }
        self.open_first_lane();
        for state in own {
            self.store_variable(state);
        }
    }

    /// Stores the states and the progress for the host and the next dispatch.
    fn store(&mut self) {
        self.blank();
        self.store_world(&self.program.world_states);
        let guards = self.world.is_some() || self.is_coarse();
        self.each_agent(|writer| {
            if guards {
                let is_agent = format!("if ({}) {{", writer.own.is_agent);
                writer.open(&is_agent);
            }
            writer.store_states();
            writer.store_progress();
            writer.close_first_lane();
            if guards {
                writer.close("}");
            }
        });
    }

    /// Stores the steps that the agent has run, and whether it has stopped.
    pub(super) fn store_progress(&mut self) {
        self.names.enter();
        let rounds = self.rounds();
        let slot = self.own.slot.clone();
        let steps_run = self.own.steps_run.clone();
        self.open(&format!("if ({rounds} < 2u) {{"));
        self.line(&format!("{steps_run} |= 0x{CUT_SHORT:08x}u;"));
        self.close("}");
        let flag = match self.usage.stops {
            true => format!(" | select(0u, 0x{STOPPED:08x}u, {})", self.own.stopped),
            false => String::new(),
        };
        self.line(&format!("progress[{slot}] = {steps_run}{flag};"));
        self.names.leave();
    }

    /// Counts the iterations of a loop that has two.
    pub(super) fn rounds(&mut self) -> String {
        let [rounds, k] = ["rounds", "k"].map(|name| self.names.declare(name));
        self.line("// Software adapters end loops early without a word: if they did, this one falls short \
            too.");
        self.line(&format!("var {rounds} = 0u;"));
        self.open(&format!("for (var {k} = 0u; {k} < run.guard; {k}++) {{"));
        self.line(&format!("{rounds}++;"));
        self.close("}");
        rounds
    }
}
