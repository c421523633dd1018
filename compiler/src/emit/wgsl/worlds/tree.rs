//! The functions that combine values of the agents of a world.

use crate::{
    emit::wgsl::{Writer, literal},
    ir::{LaneOp, Type},
    kernel::worlds::in_memory,
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
            None => layout.members,
        };
        for (op, ty, name) in std::mem::take(&mut self.own.world.functions) {
            self.blank();
            let text = self.world_function(width, op, ty, &name);
            self.push(&text);
        }
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
