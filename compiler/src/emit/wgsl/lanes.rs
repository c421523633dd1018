//! Several lanes of a subgroup for one agent: their numbers, and what they exchange. `exchange` has what is
//! different where an agent has more lanes than a subgroup.

use super::{Writer, literal, operator::Level};
use crate::ir::{BinaryOp, Expr, ExprId, LaneOp, Type, Value, VarId, VarKind};
use std::fmt::Write;

impl Writer<'_> {
    /// The head of an entry point and the lane's place. Subgroups are whole, so that counting them and the
    /// lanes within is right whatever the order of a workgroup's invocations.
    pub(super) fn lane_entry(&mut self, entry: &str, size: u32, place: &str, slot: &str) {
        let lanes = self.layout.lanes;
        let names = ["id", "groups", "subgroup", "subgroup_size_", "invocation"];
        let [id, groups, subgroup, width, invocation] = names.map(|name| self.names.declare(name));
        self.line(&format!("fn {entry}("));
        self.indent += 1;
        self.line(&format!("@builtin(workgroup_id) {id}: vec3u,"));
        self.line(&format!("@builtin(num_workgroups) {groups}: vec3u,"));
        self.line(&format!("@builtin(subgroup_id) {subgroup}: u32,"));
        self.line(&format!("@builtin(subgroup_size) {width}: u32,"));
        self.line(&format!(
            "@builtin(subgroup_invocation_id) {invocation}: u32,"
        ));
        self.close(") {");
        self.indent += 1;
        self.begin_point(&id);
        if entry == "main" {
            let index = format!("{subgroup} * {width} + {invocation}");
            self.begin_spill(&id, &groups, &index, size);
        }
        self.line(&format!(
            "let {place} = ({id}.y * {groups}.x + {id}.x) * {size}u + {subgroup} * {width} + {invocation};"
        ));
        self.line(&format!("let {slot} = {place} / {lanes}u;"));
        let lane = self.own.lane.clone();
        self.line(&format!("let {lane} = i32({invocation} % {lanes}u);"));
        let mut across = self.usage.across.iter();
        if across.any(|(op, ty)| self.asks_first(*op, *ty))
            || !self.layout.skipped.is_empty()
            || self.usage.shuffles
            || (self.time_loop.outlives_stop && self.usage.across_finish)
        {
            let first = self.names.declare("first_lane");
            self.line(&format!("let {first} = {invocation} - u32({lane});"));
            self.own.first_lane = first;
        }
    }

    /// What is equal in all lanes is written by the first.
    pub(super) fn open_first_lane(&mut self) {
        let lane = &self.own.lane;
        if self.has_barriers() {
            let is_agent = &self.own.is_agent;
            self.open(&format!("if ({lane} == 0 && {is_agent}) {{"));
        } else if self.layout.is_split() {
            self.open(&format!("if ({lane} == 0) {{"));
        }
    }

    /// Ends what [`Writer::open_first_lane`] began.
    pub(super) fn close_first_lane(&mut self) {
        if self.layout.is_split() {
            self.close("}");
        }
    }

    /// Writes the call that combines the lanes' values.
    pub(super) fn across_lanes(&mut self, op: LaneOp, value: ExprId) {
        let name = function_name(op, self.program.type_of(value));
        self.push(&name);
        self.push("(");
        let ty = self.program.type_of(value);
        let (before, after) = match op == LaneOp::Sum && ty.is_float() && self.needs_hiding(value) {
            true => opaque(ty),
            false => Default::default(),
        };
        self.push(&before);
        self.argument(value, !self.asks_first(op, ty) || !before.is_empty());
        self.push(&after);
        if self.asks_first(op, ty) {
            self.push(", ");
            self.out.push_str(&self.own.first_lane);
        }
        self.push(")");
    }

    /// Writes what another lane of the agent has for a value.
    pub(super) fn shuffle(&mut self, value: ExprId, lane: ExprId) {
        let is_bool = self.program.type_of(value) == Type::Bool;
        self.push(if is_bool {
            "(subgroupShuffle(u32("
        } else {
            "subgroupShuffle("
        });
        self.argument(value, is_bool);
        self.push(if is_bool { "), " } else { ", " });
        self.out.push_str(&self.own.first_lane);
        if let Expr::Literal(Value::I32(lane)) = self.program[lane] {
            self.push(&format!(" + {lane}u"));
        } else {
            self.push(" + u32(");
            self.expr(lane, Level::Lowest);
            self.push(")");
        }
        self.push(if is_bool { ") != 0u)" } else { ")" });
    }

    /// Could a driver that keeps the order of sums fuse a part of this term into the sum over the lanes? Only
    /// a product, which a sum may turn out to be where a part of it is known to be 0.
    fn needs_hiding(&self, term: ExprId) -> bool {
        let program = self.program;
        if !self.schedule.keeps_order || self.has_barriers() {
            return false;
        }
        if let Expr::Read(var) = &program[term] {
            let value = self.usage.lets.get(var);
            return value.is_none_or(|&value| self.needs_hiding(value));
        }
        let Expr::Binary(BinaryOp::Add | BinaryOp::Subtract, a, b) = program[term] else {
            return true;
        };
        program.type_of(term).is_vector() || self.may_be_known(a) || self.may_be_known(b)
    }

    /// Might a driver know a value, perhaps after it has unrolled a loop?
    fn may_be_known(&self, id: ExprId) -> bool {
        let program = self.program;
        if let Expr::Read(var) = program[id] {
            let value = self.usage.lets.get(&var);
            return program[var].kind == VarKind::Index
                || value.is_some_and(|&value| self.may_be_known(value));
        }
        if let Expr::Unary(_, one) | Expr::Convert { value: one, .. } = program[id] {
            return self.may_be_known(one);
        }
        let is_constant = |array: VarId| program[array].kind == VarKind::Constant;
        matches!(program[id], Expr::Literal(_) | Expr::Double(_))
            || matches!(program[id], Expr::Element { array, .. } if is_constant(array))
    }

    /// The call that combines the lanes' values of a variable.
    pub(super) fn lane_call(&self, op: LaneOp, ty: Type, value: &str) -> String {
        let name = function_name(op, ty);
        match self.asks_first(op, ty) {
            true => format!("{name}({value}, {})", self.own.first_lane),
            false => format!("{name}({value})"),
        }
    }

    /// Does a function need the agent's first lane?
    fn asks_first(&self, op: LaneOp, ty: Type) -> bool {
        matches!(op, LaneOp::Least | LaneOp::Most) && ty.is_float() && !self.has_barriers()
    }

    /// Stops an agent that continues: its states are saved to where they will be after the run.
    pub(super) fn put_away(&mut self) {
        let stopped = self.own.stopped.clone();
        self.open(&format!("if (!{stopped}) {{"));
        self.line(&format!("{stopped} = true;"));
        self.store_states();
        self.close_first_lane();
        self.close("}");
    }

    /// Restores the states of stopped agents to those that they stopped with.
    pub(super) fn take_back(&mut self) {
        if !self.time_loop.outlives_stop {
            return;
        }
        let (shared, own) = self.states_by_lane();
        // The other lanes need the saved states of the first, if they go on to combine something.
        let all_load = self.has_barriers() && self.usage.across_finish;
        if all_load {
            self.line("storageBarrier();");
        }
        let stopped = self.own.stopped.clone();
        self.open(&format!("if ({stopped}) {{"));
        for state in shared {
            self.load_state(state);
        }
        if !all_load {
            self.open_first_lane();
        }
        for &state in &own {
            self.load_state(state);
        }
        if !all_load {
            self.close_first_lane();
        }
        self.close("}");
        if !self.usage.across_finish || all_load {
            return;
        }
        for state in own {
            let name = self.var_names[state].clone();
            let first = self.own.first_lane.clone();
            self.line(&match self.program[state].ty {
                Type::Bool => format!("{name} = subgroupShuffle(u32({name}), {first}) != 0u;"),
                _ => format!("{name} = subgroupShuffle({name}, {first});"),
            });
        }
    }

    /// The states of which each lane has a part, and those that are equal in all lanes.
    pub(super) fn states_by_lane(&self) -> (Vec<VarId>, Vec<VarId>) {
        let program = self.program;
        let is_split = |state: &&VarId| self.layout.part(program, **state).is_some();
        program.states.iter().partition(is_split)
    }

    /// Writes the functions that combine lanes.
    pub(super) fn lane_functions(&mut self) {
        let mut used: Vec<_> = self.usage.across.iter().copied().collect();
        used.sort_by_key(|(op, ty)| (*op as u8, *ty as u8));
        for (op, ty) in used {
            self.blank();
            let hides = ty.is_float()
                && !self.has_barriers()
                && match op {
                    LaneOp::Sum => !self.schedule.keeps_order,
                    LaneOp::Product => true,
                    LaneOp::Least | LaneOp::Most | LaneOp::Any | LaneOp::All => false,
                };
            let text = self.lane_function(op, ty, hides);
            self.push(&text);
        }
    }

    /// A butterfly: after each line a value combines twice as many lanes. The lanes of a pair combine the
    /// same two values, in either order, so that all end up with the same bits. That takes care: a driver
    /// that fused the first value's product into the sum (fma), or reordered the sums, would give each lane
    /// bits of its own; what passes through an integer it leaves as it is. (One that keeps the order of sums
    /// can only fuse a product, see [`Writer::needs_hiding`].) And `min` of a NaN may be either value: the
    /// first lane's counts. None of it matters where parts are in memory, since all lanes read the same ones.
    fn lane_function(&self, op: LaneOp, ty: Type, hides: bool) -> String {
        let name = function_name(op, ty);
        let wgsl = literal::type_name(ty);
        let (first, last) = match self.asks_first(op, ty) {
            true => (", first_lane: u32", "subgroupShuffle(all, first_lane)"),
            false => ("", "all"),
        };
        let mut text =
            format!("// Of all lanes of this agent.\nfn {name}(x: {wgsl}{first}) -> {wgsl} {{\n");
        let (before, after) = match hides {
            true => opaque(ty),
            false => Default::default(),
        };
        let own = format!("{before}all{after}");
        let _ = match ty {
            Type::Bool => writeln!(text, "    var all = u32(x);"),
            _ => writeln!(text, "    var all = x;"),
        };
        for distance in halvings(self.shuffling()) {
            let other = format!("subgroupShuffleXor(all, {distance}u)");
            let _ = match op {
                LaneOp::Sum => writeln!(text, "    all = {own} + {other};"),
                LaneOp::Product => writeln!(text, "    all = {own} * {other};"),
                LaneOp::Least => writeln!(text, "    all = min(all, {other});"),
                LaneOp::Most => writeln!(text, "    all = max(all, {other});"),
                LaneOp::Any => writeln!(text, "    all |= {other};"),
                LaneOp::All => writeln!(text, "    all &= {other};"),
            };
        }
        text += &self.exchange_text(op, ty);
        let _ = match (ty, hides) {
            (Type::Bool, _) => writeln!(text, "    return all != 0u;\n}}"),
            (_, true) => writeln!(text, "    return {own};\n}}"),
            (_, false) => writeln!(text, "    return {last};\n}}"),
        };
        text
    }
}

/// `lanes_sum_f32`
fn function_name(op: LaneOp, ty: Type) -> String {
    format!("lanes_{}_{}", op.name(), ty.name())
}

/// Hides a value from a driver's compiler, before and after it: an exclusive or with a number that is always
/// 0, which no driver knows.
pub(super) fn opaque(ty: Type) -> (String, String) {
    let words = match ty {
        Type::Vec2 => "vec2u",
        Type::Vec3 => "vec3u",
        Type::Vec4 => "vec4u",
        Type::F32 | Type::I32 | Type::U32 | Type::Bool => "u32",
    };
    let before = format!("bitcast<{}>(bitcast<{words}>(", literal::type_name(ty));
    (before, format!(") ^ {words}(run.guard - 2u))"))
}

/// 1, 2, 4, … below the number of lanes.
fn halvings(lanes: u32) -> impl Iterator<Item = u32> {
    (0..lanes.trailing_zeros()).map(|k| 1 << k)
}
