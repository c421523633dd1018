//! The functions that combine values of the agents of a world.

use crate::{
    emit::wgsl::{Writer, lanes::opaque, literal},
    ir::{LaneOp, Type},
    kernel::worlds::{WorldLayout, in_memory},
};
use std::fmt::Write;

impl Writer<'_> {
    /// Writes the functions that combine the values of the agents of a world: as a tree, neighbours first.
    /// Each level goes through the memory, so that no driver changes the order of sums.
    pub(in crate::emit::wgsl) fn world_functions(&mut self) {
        let Some(layout) = self.world else {
            return;
        };
        let width = match self.per_step {
            Some(plan) => {
                self.row_functions(plan);
                self.tree_width()
            }
            None => layout.leaves(),
        };
        for (op, ty, name) in std::mem::take(&mut self.own.world.functions) {
            self.blank();
            let text = match layout.shuffled {
                2.. if self.per_step.is_none() => self.shuffling_function(layout, op, ty, &name),
                _ => self.world_function(width, op, ty, &name),
            };
            self.push(&text);
        }
        self.sample_functions();
    }

    /// Are values combined by shuffles?
    pub(super) fn shuffles(&self) -> bool {
        let layout = self.world;
        layout.is_some_and(|it| it.shuffled > 1 && !it.exchange.combined.is_empty())
    }

    /// The same by shuffles: each block of lanes first, whose first lane has the result; then, through
    /// memory, the blocks of a world, by each block for itself. What a lane beyond the last agent has is left
    /// out. A driver could fuse a product into the first sum, or reorder products: it does not see the
    /// product.
    fn shuffling_function(&self, layout: &WorldLayout, op: LaneOp, ty: Type, name: &str) -> String {
        let (members, block) = (layout.leaves(), layout.shuffled);
        let own = &self.own.world;
        let wgsl = literal::type_name(ty);
        let (before, after) = match op {
            LaneOp::Sum | LaneOp::Product if ty.is_float() => opaque(ty),
            LaneOp::Any | LaneOp::All => ("u32(".to_owned(), ")".to_owned()),
            LaneOp::Sum | LaneOp::Product | LaneOp::Least | LaneOp::Most => Default::default(),
        };
        let mut text = format!(
            "// Of all agents of the world, neighbours first.\nfn {name}(x: {wgsl}) -> {wgsl} {{\n    \
             var all = {before}x{after};\n"
        );
        // The last unit may have fewer agents.
        let ragged = self.manifest.world.is_none();
        let mut distance = 1;
        while distance < block {
            let whole = !ragged && members.is_multiple_of(block);
            let guard = (!whole).then(|| format!("{} > {distance}u", own.left));
            text += &level(op, distance, guard);
            distance *= 2;
        }
        let lane = format!("({} % {block}u)", own.invocation);
        let first = format!("{} - {lane}", own.invocation);
        let blocks = members.div_ceil(block);
        if blocks > 1 {
            let in_parts = in_memory(ty);
            let memory = own.combined.iter().find(|(of, _)| *of == in_parts);
            let memory = memory.map_or("", |(_, name)| name.as_str());
            let half = layout.size() / 2;
            let (place, turn) = (&own.place, &own.half);
            // Two halves in turn: nobody writes what others still read.
            let _ = write!(
                text,
                "    {turn} = {half}u - {turn};\n    if ({lane} == 0u) {{\n        \
                 {memory}[{turn} + {place} / {block}u] = all;\n    }}\n    workgroupBarrier();\n    \
                 all = {memory}[{turn} + {} / {block}u + min({lane}, {}u)];\n",
                own.first,
                blocks - 1
            );
            let mut distance = 1;
            while distance < blocks {
                let whole = !ragged && blocks.is_power_of_two();
                let agents = &own.agents;
                let guard =
                    (!whole).then(|| format!("({lane} + {distance}u) * {block}u < {agents}"));
                text += &level(op, distance, guard);
                distance *= 2;
            }
        }
        let compared = if ty == Type::Bool { " != 0u" } else { "" };
        let _ = writeln!(
            text,
            "    return subgroupShuffle(all, {first}){compared};\n}}"
        );
        text
    }

    fn world_function(&self, members: u32, op: LaneOp, ty: Type, name: &str) -> String {
        let own = &self.own.world;
        let (place, left) = (&own.place, &own.left);
        // Where a workgroup has one world, its first agent is the first.
        let (member, first) = match own.first.as_str() {
            "" => (place.clone(), "0u"),
            first => (format!("({place} - {first})"), first),
        };
        let in_parts = in_memory(ty);
        let memory = own.combined.iter().find(|(of, _)| *of == in_parts);
        let memory = memory.map_or("", |(_, name)| name.as_str());
        let wgsl = literal::type_name(ty);
        let value = if ty == Type::Bool { "u32(x)" } else { "x" };
        let mut text = format!(
            "// Of all agents of the world, neighbours first.\nfn {name}(x: {wgsl}) -> {wgsl} {{\n    \
             workgroupBarrier();\n    {memory}[{place}] = {value};\n    workgroupBarrier();\n"
        );
        let (a, mut distance) = (format!("{memory}[{place}]"), 1);
        while distance < members {
            let b = format!("{memory}[{place} + {distance}u]");
            let both = match op {
                LaneOp::Sum => format!("+= {b}"),
                LaneOp::Product => format!("*= {b}"),
                LaneOp::Least => format!("= min({a}, {b})"),
                LaneOp::Most => format!("= max({a}, {b})"),
                LaneOp::Any => format!("|= {b}"),
                LaneOp::All => format!("&= {b}"),
            };
            let mask = 2 * distance - 1;
            let _ = write!(
                text,
                "    if (({member} & {mask}u) == 0u && {left} > {distance}u) {{\n        \
                 {a} {both};\n    }}\n    workgroupBarrier();\n"
            );
            distance *= 2;
        }
        let compared = if ty == Type::Bool { " != 0u" } else { "" };
        let _ = writeln!(text, "    return {memory}[{first}]{compared};\n}}");
        text
    }
}

/// A level of a tree by shuffles: lanes combine what they have with what another one has.
fn level(op: LaneOp, distance: u32, guard: Option<String>) -> String {
    let combined = match op {
        LaneOp::Sum => "all += other;",
        LaneOp::Product => "all *= other;",
        LaneOp::Least => "all = min(all, other);",
        LaneOp::Most => "all = max(all, other);",
        LaneOp::Any => "all |= other;",
        LaneOp::All => "all &= other;",
    };
    let line = format!("let other = subgroupShuffleDown(all, {distance}u);");
    let guarded = match guard {
        None => format!("        {combined}\n"),
        Some(guard) => format!("        if ({guard}) {{\n            {combined}\n        }}\n"),
    };
    format!("    {{\n        {line}\n{guarded}    }}\n")
}
