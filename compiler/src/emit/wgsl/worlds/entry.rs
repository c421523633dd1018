//! The head of `main` in kernels whose workgroups run whole worlds, or units of agents.

use crate::{emit::wgsl::Writer, kernel::worlds::WorldLayout};

/// Names of an entry point that nothing else needs.
struct Heads {
    index: String,
    number: String,
    /// The number of the workgroup.
    group: String,
    /// The invocation's place in its subgroup, where subgroups shuffle.
    invocation: String,
}

impl Writer<'_> {
    /// The head of `main`, and which agent of which world this is: no invocation returns here.
    pub(in crate::emit::wgsl) fn world_entry(&mut self, layout: &WorldLayout, slot: &str) {
        let heads = self.world_head();
        let mut lines = match self.manifest.world {
            Some(_) => self.of_world(layout, &heads, slot),
            None => self.of_unit(layout, &heads, slot),
        };
        if self.shuffles() {
            let (own, members) = (&self.own.world, layout.members);
            lines.push(format!("{} = {};", own.invocation, heads.invocation));
            lines.push(match self.manifest.world {
                Some(_) => format!("{} = {members}u;", own.agents),
                None => format!(
                    "{} = min({members}u, run.agents - {} * {members}u);",
                    own.agents, own.slot
                ),
            });
        }
        lines.iter().for_each(|line| self.line(line));
        self.world_numbers();
    }

    fn world_head(&mut self) -> Heads {
        let names = ["id", "groups", "index", "number"];
        let [id, groups, index, number] = names.map(|name| self.names.declare(name));
        let names = ["subgroup", "subgroup_size_", "invocation"];
        let [subgroup, width, invocation] = names.map(|name| self.names.declare(name));
        self.line("fn main(");
        self.indent += 1;
        self.line(&format!("@builtin(workgroup_id) {id}: vec3u,"));
        self.line(&format!("@builtin(num_workgroups) {groups}: vec3u,"));
        if self.shuffles() {
            self.line(&format!("@builtin(subgroup_id) {subgroup}: u32,"));
            self.line(&format!("@builtin(subgroup_size) {width}: u32,"));
            self.line(&format!(
                "@builtin(subgroup_invocation_id) {invocation}: u32,"
            ));
        } else {
            self.line(&format!("@builtin(local_invocation_index) {index}: u32,"));
        }
        self.close(") {");
        self.indent += 1;
        if self.shuffles() {
            // Counting subgroups and the lanes within is right whatever the order of invocations.
            let counted = format!("let {index} = {subgroup} * {width} + {invocation};");
            self.line(&counted);
        }
        Heads {
            index,
            number,
            group: format!("{id}.y * {groups}.x + {id}.x"),
            invocation,
        }
    }

    fn of_world(&mut self, layout: &WorldLayout, heads: &Heads, slot: &str) -> Vec<String> {
        let WorldLayout {
            members, worlds, ..
        } = *layout;
        let Heads {
            index,
            number,
            group,
            ..
        } = heads;
        let local = self.names.declare("local");
        let agents = layout.agents();
        let own = &self.own.world;
        let (is_agent, world, count) = (&self.own.is_agent, &own.slot, &own.count);
        let member = own.own_member();
        let (which, first) = match worlds {
            1 => (group.clone(), "0u".to_owned()),
            _ => (
                format!("({group}) * {worlds}u + {local}"),
                format!("{local} * {members}u"),
            ),
        };
        let several = format!("let {local} = min({index} / {members}u, {}u);", worlds - 1);
        let mut lines = vec![
            format!("let {} = {members};", own.own_members()),
            format!("let {count} = run.agents / {members}u;"),
            format!("let {number} = {which};"),
            "// All invocations come to the barriers: those beyond the last world do as it does, and store \
             nothing."
                .to_owned(),
            format!("let {is_agent} = {index} < {agents}u && {number} < {count};"),
            format!("let {world} = min({number}, {count} - 1u);"),
            format!("let {member} = i32({index} % {members}u);"),
            format!("let {slot} = {world} * {members}u + u32({member});"),
            format!("{} = {index};", own.place),
            format!("{} = {first};", own.first),
            format!(
                "{} = select(0u, {members}u - u32({member}), {index} < {agents}u);",
                own.left
            ),
        ];
        if worlds > 1 {
            lines.insert(2, several);
        }
        lines
    }

    /// A unit, of which the last one may have fewer agents. There is one per workgroup.
    fn of_unit(&self, layout: &WorldLayout, heads: &Heads, slot: &str) -> Vec<String> {
        let members = layout.members;
        let Heads {
            index,
            number,
            group,
            ..
        } = heads;
        let own = &self.own.world;
        let (is_agent, unit, count) = (&self.own.is_agent, &own.slot, &own.count);
        vec![
            format!("let {count} = (run.agents + {}u) / {members}u;", members - 1),
            format!("let {unit} = {group};"),
            "// All invocations come to the barriers: those beyond the last agent do as it does, and store \
             nothing."
                .to_owned(),
            format!("let {number} = {unit} * {members}u + {index};"),
            format!("let {is_agent} = {number} < run.agents;"),
            format!("let {} = i32({index});", own.own_member()),
            format!("let {slot} = min({number}, run.agents - 1u);"),
            format!("{} = {index};", own.place),
            format!("{} = 0u;", own.first),
            format!("{} = max(run.agents, {number}) - {number};", own.left),
        ]
    }
}
