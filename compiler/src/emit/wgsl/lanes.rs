//! Several lanes of a subgroup for one agent: who is who, and what they tell one another.

use super::{Writer, literal};
use crate::ir::{ExprId, LaneOp, Type};
use std::fmt::Write;

impl Writer<'_> {
    /// The head of `main` and the lane's place. Subgroups are whole, so that counting them and the lanes
    /// within is right whatever the order of a workgroup's invocations.
    pub(super) fn lane_entry(&mut self, entry: &str, place: &str, slot: &str) {
        let (size, lanes) = (self.manifest.workgroup_size, self.program.lanes);
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
        self.line(&format!(
            "let {place} = ({id}.y * {groups}.x + {id}.x) * {size}u + {subgroup} * {width} + {invocation};"
        ));
        self.line(&format!("let {slot} = {place} / {lanes}u;"));
        let lane = self.own.lane.clone();
        self.line(&format!("let {lane} = i32({invocation} % {lanes}u);"));
        let mut across = self.usage.across.iter();
        if across.any(|(op, ty)| asks_first(*op, *ty)) || !self.program.skipped.is_empty() {
            let first = self.names.declare("first_lane");
            self.line(&format!("let {first} = {invocation} - u32({lane});"));
            self.own.first_lane = first;
        }
    }

    /// What all lanes have alike is written by the first.
    pub(super) fn open_first_lane(&mut self) {
        if self.program.lanes > 0 {
            let lane = &self.own.lane;
            self.open(&format!("if ({lane} == 0) {{"));
        }
    }

    /// Ends what [`Writer::open_first_lane`] began.
    pub(super) fn close_first_lane(&mut self) {
        if self.program.lanes > 0 {
            self.close("}");
        }
    }

    /// Writes the call that combines the lanes' values.
    pub(super) fn across_lanes(&mut self, op: LaneOp, value: ExprId) {
        let name = function_name(op, self.program.type_of(value));
        self.push(&name);
        self.push("(");
        let ty = self.program.type_of(value);
        self.argument(value, !asks_first(op, ty));
        if asks_first(op, ty) {
            self.push(", ");
            self.out.push_str(&self.own.first_lane);
        }
        self.push(")");
    }

    /// The call that combines the lanes' values of a variable.
    pub(super) fn lane_call(&self, op: LaneOp, ty: Type, value: &str) -> String {
        let name = function_name(op, ty);
        match asks_first(op, ty) {
            true => format!("{name}({value}, {})", self.own.first_lane),
            false => format!("{name}({value})"),
        }
    }

    /// Writes the functions that combine lanes.
    pub(super) fn lane_functions(&mut self) {
        let mut used: Vec<_> = self.usage.across.iter().copied().collect();
        used.sort_by_key(|(op, ty)| (*op as u8, *ty as u8));
        for (op, ty) in used {
            self.blank();
            let text = function(op, ty, self.program.lanes);
            self.push(&text);
        }
    }
}

/// `lanes_sum_f32`
fn function_name(op: LaneOp, ty: Type) -> String {
    format!("lanes_{}_{}", op.name(), ty.name())
}

/// Does the function need to know the agent's first lane?
fn asks_first(op: LaneOp, ty: Type) -> bool {
    matches!(op, LaneOp::Least | LaneOp::Most) && ty.is_float()
}

/// A butterfly: after each line twice as many lanes have heard of one another. Each combines the same two
/// values, in either order, so that all end up with the same bits. That takes care: a driver that took
/// the first value's product into the sum (fma), or changed the order of the sums, would give each lane
/// bits of its own; what passes through an integer it leaves alone. And `min` of a NaN may be either value:
/// the first lane's counts.
fn function(op: LaneOp, ty: Type, lanes: u32) -> String {
    let name = function_name(op, ty);
    let wgsl = literal::type_name(ty);
    let first = if asks_first(op, ty) {
        ", first_lane: u32"
    } else {
        ""
    };
    let mut text =
        format!("// Of all lanes of this agent.\nfn {name}(x: {wgsl}{first}) -> {wgsl} {{\n");
    if ty == Type::Bool {
        let joint = if op == LaneOp::Any { "|" } else { "&" };
        let _ = writeln!(text, "    var all = u32(x);");
        for distance in halvings(lanes) {
            let _ = writeln!(
                text,
                "    all {joint}= subgroupShuffleXor(all, {distance}u);"
            );
        }
        text += "    return all != 0u;\n}\n";
        return text;
    }
    let words = match ty {
        Type::Vec2 => "vec2u",
        Type::Vec3 => "vec3u",
        Type::Vec4 => "vec4u",
        Type::F32 | Type::I32 | Type::U32 | Type::Bool => "u32",
    };
    // Always 0, which no driver knows.
    let opaque = |what: &str| match ty.is_float() {
        true => format!("bitcast<{wgsl}>(bitcast<{words}>({what}) ^ {words}(run.guard - 2u))"),
        false => what.to_owned(),
    };
    let _ = writeln!(text, "    var all = x;");
    for distance in halvings(lanes) {
        let own = opaque("all");
        let other = format!("subgroupShuffleXor(all, {distance}u)");
        let _ = match op {
            LaneOp::Sum => writeln!(text, "    all = {own} + {other};"),
            LaneOp::Product => writeln!(text, "    all = {own} * {other};"),
            LaneOp::Least => writeln!(text, "    all = min(all, {other});"),
            LaneOp::Most => writeln!(text, "    all = max(all, {other});"),
            LaneOp::Any | LaneOp::All => Ok(()),
        };
    }
    match op {
        LaneOp::Least | LaneOp::Most if ty.is_float() => {
            text += "    return subgroupShuffle(all, first_lane);\n}\n";
        }
        LaneOp::Least
        | LaneOp::Most
        | LaneOp::Sum
        | LaneOp::Product
        | LaneOp::Any
        | LaneOp::All => {
            let _ = writeln!(text, "    return {};\n}}", opaque("all"));
        }
    }
    text
}

/// 1, 2, 4, … below the number of lanes.
fn halvings(lanes: u32) -> impl Iterator<Item = u32> {
    (0..lanes.trailing_zeros()).map(|k| 1 << k)
}
