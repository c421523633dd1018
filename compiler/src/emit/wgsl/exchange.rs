//! Lanes of one agent in several subgroups, or without subgroups: they exchange values through workgroup
//! memory and wait at barriers.
//!
//! All lanes of a workgroup must reach a barrier. So none of them returns early: those of an agent beyond the
//! last compute what the last agent does, and store nothing; and an agent that has stopped continues to the
//! end, if there are barriers in its steps.

use crate::{
    emit::wgsl::{Writer, literal},
    ir::{LaneOp, Type},
    kernel::{lanes::exchanges, worlds::in_memory},
};
use std::fmt::Write;

impl Writer<'_> {
    /// The number of parts that an agent's lanes combine through workgroup memory: one or more subgroups
    /// each, or lanes. 1 if shuffles do it all.
    pub(super) fn parts(&self) -> u32 {
        self.layout.lanes / self.shuffling()
    }

    /// Lanes that combine their values by shuffles first.
    pub(super) fn shuffling(&self) -> u32 {
        self.layout.lanes.clamp(1, self.schedule.subgroup)
    }

    /// Do lanes exchange values through workgroup memory?
    pub(super) fn has_barriers(&self) -> bool {
        self.parts() > 1
    }

    /// Invocations of a workgroup of `main`.
    pub(super) fn workgroup_size(&self) -> u32 {
        match self.world {
            Some(world) => world.size(),
            None => self.manifest.workgroup_size.max(self.layout.lanes),
        }
    }

    /// Elements for the parts of a workgroup's agents.
    fn places(&self) -> u32 {
        self.workgroup_size() / self.shuffling()
    }

    /// The types of values that are combined through the memory.
    fn exchanged(&self) -> Vec<Type> {
        let across = self.usage.across.iter().filter(|_| self.has_barriers());
        let mut types: Vec<Type> = across.map(|(_, ty)| in_memory(*ty)).collect();
        types.sort_by_key(|ty| *ty as u8);
        types.dedup();
        types
    }

    /// Bytes of the memory.
    pub(super) fn exchange_bytes(&self) -> u32 {
        let types = self.exchanged().into_iter();
        types.map(|ty| 2 * self.places() * ty.bytes()).sum()
    }

    /// Declares the memory, and where a lane finds its part: two halves are used in turn, so that no lane
    /// writes what others still read.
    pub(super) fn exchange_memory(&mut self) {
        if !self.has_barriers() {
            return;
        }
        self.blank();
        self.line(
            "// What lanes tell one another: one half of the places is written while the other may \
            still be read.",
        );
        let places = 2 * self.places();
        for ty in self.exchanged() {
            let (memory, wgsl) = (memory_name(ty), literal::type_name(ty));
            self.line(&format!(
                "var<workgroup> {memory}: array<{wgsl}, {places}>;"
            ));
        }
        self.line("var<private> lanes_place: u32;");
        self.line("var<private> lanes_half: u32;");
    }

    /// The head of `main` and the lane's place: no lane of a workgroup returns here.
    pub(super) fn barrier_entry(&mut self) {
        let [id, groups] = ["id", "groups"].map(|name| self.names.declare(name));
        self.line("fn main(");
        self.indent += 1;
        self.line(&format!("@builtin(workgroup_id) {id}: vec3u,"));
        self.line(&format!("@builtin(num_workgroups) {groups}: vec3u,"));
        let place = match self.shuffling() {
            1 => {
                let index = self.names.declare("index");
                self.line(&format!("@builtin(local_invocation_index) {index}: u32,"));
                index
            }
            _ => {
                let names = ["subgroup", "subgroup_size_", "invocation"];
                let [subgroup, width, invocation] = names.map(|name| self.names.declare(name));
                self.line(&format!("@builtin(subgroup_id) {subgroup}: u32,"));
                self.line(&format!("@builtin(subgroup_size) {width}: u32,"));
                self.line(&format!(
                    "@builtin(subgroup_invocation_id) {invocation}: u32,"
                ));
                format!("{subgroup} * {width} + {invocation}")
            }
        };
        self.close(") {");
        self.indent += 1;
        self.begin_point(&id);
        self.begin_spill(&id, &groups, &place, self.workgroup_size());
        let lanes = self.layout.lanes;
        let agents = self.workgroup_size() / lanes;
        self.line(&format!("lanes_place = {place};"));
        let [number, is_agent] = ["number", "is_agent"].map(|name| self.names.declare(name));
        self.line(&format!(
            "let {number} = {};",
            match agents {
                1 => format!("{id}.y * {groups}.x + {id}.x"),
                _ => format!("({id}.y * {groups}.x + {id}.x) * {agents}u + lanes_place / {lanes}u"),
            }
        ));
        self.line("// All lanes come to the barriers: those beyond the last agent do as it does, and store \
            nothing.");
        let (launch, slot) = (&self.own.launch, &self.own.place);
        let lines = [
            format!("let {is_agent} = {number} < {launch}.agents;"),
            format!("let {slot} = min({number}, {launch}.agents - 1u);"),
        ];
        lines.iter().for_each(|line| self.line(line));
        self.slot_of_place();
        let lane = self.own.lane.clone();
        self.line(&format!("let {lane} = i32(lanes_place % {lanes}u);"));
        self.own.is_agent = is_agent;
    }

    /// What follows the shuffles in a function that combines lanes: `all` is the combined value of a
    /// subgroup's lanes.
    pub(super) fn exchange_text(&self, op: LaneOp, ty: Type) -> String {
        let (memory, places, lanes) = (memory_name(in_memory(ty)), self.places(), self.shuffling());
        let own = match lanes {
            1 => "lanes_place".to_owned(),
            _ => format!("lanes_place / {lanes}u"),
        };
        let mut text = String::new();
        for ((count, distance), first) in exchanges(self.parts()).zip(["first", "first_joint"]) {
            let write = format!("{memory}[lanes_half + {own}] = all;");
            let _ = writeln!(text, "    lanes_half = {places}u - lanes_half;");
            let _ = match lanes {
                1 => writeln!(text, "    {write}"),
                _ => writeln!(
                    text,
                    "    if (lanes_place % {lanes}u == 0u) {{\n        {write}\n    }}"
                ),
            };
            text += "    workgroupBarrier();\n";
            let block = count * distance;
            let before = match block * lanes == self.workgroup_size() {
                true => String::new(),
                false => format!(" + lanes_place / {}u * {block}u", block * lanes),
            };
            let _ = writeln!(text, "    let {first} = lanes_half{before};");
            let parts = (0..count).map(|k| match k * distance {
                0 => format!("{memory}[{first}]"),
                further => format!("{memory}[{first} + {further}u]"),
            });
            let parts: Vec<String> = parts.collect();
            let _ = writeln!(text, "    all = {};", tree(op, &parts));
        }
        text
    }
}

fn memory_name(ty: Type) -> String {
    format!("lanes_parts_{}", ty.name())
}

/// The parts combined as a balanced tree, in the same order by every lane.
fn tree(op: LaneOp, parts: &[String]) -> String {
    let [_, _, ..] = parts else {
        return parts.concat();
    };
    let (front, back) = parts.split_at(parts.len() / 2);
    let whole = |half: &[String]| match half {
        [one] => one.clone(),
        more if matches!(op, LaneOp::Least | LaneOp::Most) => tree(op, more),
        more => format!("({})", tree(op, more)),
    };
    let (a, b) = (whole(front), whole(back));
    match op {
        LaneOp::Sum => format!("{a} + {b}"),
        LaneOp::Product => format!("{a} * {b}"),
        LaneOp::Least => format!("min({a}, {b})"),
        LaneOp::Most => format!("max({a}, {b})"),
        LaneOp::Any => format!("{a} | {b}"),
        LaneOp::All => format!("{a} & {b}"),
    }
}
