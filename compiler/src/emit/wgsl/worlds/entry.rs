//! The head of `main` in kernels whose workgroups run whole worlds, or units of agents.

use crate::{emit::wgsl::Writer, kernel::worlds::WorldLayout};

/// Names of an entry point that nothing else needs.
struct Heads {
    groups: String,
    index: String,
    number: String,
    /// The number of the workgroup.
    group: String,
    /// The invocation's place in its subgroup, where subgroups shuffle.
    invocation: String,
}

impl Writer<'_> {
    /// The head of `main`, and which agent of which world this is: no invocation returns here.
    pub(in crate::emit::wgsl) fn world_entry(&mut self, layout: &WorldLayout) {
        let heads = self.world_head();
        let mut lines = match self.manifest.world {
            Some(_) => self.of_world(layout, &heads),
            None => self.of_unit(layout, &heads),
        };
        if self.shuffles() {
            let (own, members) = (&self.own.world, layout.members);
            lines.push(format!("{} = {};", own.invocation, heads.invocation));
            lines.push(match self.manifest.world {
                Some(_) => format!("{} = {}u;", own.agents, layout.leaves()),
                None => {
                    let left = format!("{}.agents - {} * {members}u", self.own.launch, own.in_run);
                    let leaves = layout.leaves();
                    format!(
                        "{} = min({leaves}u, {});",
                        own.agents,
                        self.in_leaves(&left)
                    )
                }
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
        self.begin_point(&id);
        self.begin_spill(&id, &groups, &index, self.workgroup().0);
        Heads {
            index,
            number,
            groups: groups.clone(),
            group: format!("{id}.y * {groups}.x + {id}.x"),
            invocation,
        }
    }

    fn of_world(&mut self, layout: &WorldLayout, heads: &Heads) -> Vec<String> {
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
        let of_run = match self.schedule.points {
            true => self.names.declare("worlds_of_run"),
            false => self.own.world.count.clone(),
        };
        let (invocations, leaves) = (layout.worlds * layout.leaves(), layout.leaves());
        let own = &self.own.world;
        let (is_agent, world, count) = (&self.own.is_agent, &own.slot, &own.count);
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
        ];
        let in_run = &own.in_run;
        let mut places = Vec::new();
        if self.schedule.points {
            let (launch, point) = (&self.own.launch, &self.own.point);
            lines.push(format!("let {of_run} = {launch}.agents / {members}u;"));
            places.push(format!("let {world} = {point} * {of_run} + {in_run};"));
            places.push(self.let_slot());
        }
        if worlds > 1 {
            lines.push(several);
        }
        lines.extend([
            format!("let {number} = {which};"),
            "// All invocations come to the barriers: those beyond the last world do as it does, and store \
             nothing."
                .to_owned(),
            format!("let {is_agent} = {index} < {invocations}u && {number} < {of_run};"),
            format!("let {in_run} = min({number}, {of_run} - 1u);"),
        ]);
        lines.extend(self.places_in_world(layout, index));
        lines.extend(places);
        let own = &self.own.world;
        let invocation = match self.is_coarse() {
            true => format!("{index} % {leaves}u"),
            false => format!("u32({})", own.own_member()),
        };
        lines.extend([
            format!("{} = {index};", own.place),
            format!("{} = {first};", own.first),
            format!(
                "{} = select(0u, {leaves}u - {invocation}, {index} < {invocations}u);",
                own.left
            ),
        ]);
        lines
    }

    /// The lines that name the places of an invocation's agents in their world and in the run.
    fn places_in_world(&mut self, layout: &WorldLayout, index: &str) -> Vec<String> {
        let (members, leaves) = (layout.members, layout.leaves());
        let mut lines = Vec::new();
        self.each_agent(|writer| {
            let (place, own) = (&writer.own.place, &writer.own.world);
            let (member, in_run) = (own.own_member(), &own.in_run);
            let at = writer.in_workgroup(&format!("{index} % {leaves}u"));
            lines.push(format!("let {member} = i32({at});"));
            lines.push(format!(
                "let {place} = {in_run} * {members}u + u32({member});"
            ));
        });
        lines
    }

    /// The place in its world of the agent at hand, by the place of its invocation.
    fn in_workgroup(&self, invocation: &str) -> String {
        let agents = self.per_invocation();
        match (agents, self.number_in_invocation()) {
            (1, _) => invocation.to_owned(),
            (_, 0) => format!("{invocation} * {agents}u"),
            (_, number) => format!("{invocation} * {agents}u + {number}u"),
        }
    }

    /// Invocations for so many agents.
    fn in_leaves(&self, agents: &str) -> String {
        match self.per_invocation() {
            1 => agents.to_owned(),
            per => format!("({agents} + {}u) / {per}u", per - 1),
        }
    }

    /// A unit, of which the last one may have fewer agents. There is one per workgroup.
    fn of_unit(&mut self, layout: &WorldLayout, heads: &Heads) -> Vec<String> {
        let members = layout.members;
        let Heads {
            groups,
            index,
            number,
            group,
            ..
        } = heads;
        let of_run = match self.schedule.points {
            true => self.names.declare("units_of_run"),
            false => self.own.world.count.clone(),
        };
        let (launch, unit) = (&self.own.launch, &self.own.world.in_run);
        let first = match self.per_invocation() {
            1 => index.clone(),
            agents => format!("{index} * {agents}u"),
        };
        let left = self.in_leaves(&format!("max({launch}.agents, {number}) - {number}"));
        let mut lines = vec![
            format!("let {of_run} = ({launch}.agents + {}u) / {members}u;", members - 1),
            format!("let {unit} = {group};"),
            "// All invocations come to the barriers: those beyond the last agent do as it does, and store \
             nothing."
                .to_owned(),
            format!("let {number} = {unit} * {members}u + {first};"),
        ];
        self.each_agent(|writer| {
            let (own, launch) = (&writer.own, &writer.own.launch);
            let at = match writer.number_in_invocation() {
                0 => number.clone(),
                further => format!("{number} + {further}u"),
            };
            let member = writer.in_workgroup(index);
            lines.push(format!("let {} = {at} < {launch}.agents;", own.is_agent));
            lines.push(format!("let {} = i32({member});", own.world.own_member()));
            lines.push(format!(
                "let {} = min({at}, {launch}.agents - 1u);",
                own.place
            ));
            lines.extend(writer.weight());
        });
        let own = &self.own.world;
        lines.extend([
            format!("{} = {index};", own.place),
            format!("{} = 0u;", own.first),
            format!("{} = {left};", own.left),
        ]);
        if self.schedule.points {
            let (point, unit, count) = (&self.own.point, &own.in_run, &own.count);
            lines.push(format!("let {count} = {groups}.z * {of_run};"));
            lines.push(format!("let {} = {point} * {of_run} + {unit};", own.slot));
            lines.push(self.let_slot());
        }
        lines
    }
}
