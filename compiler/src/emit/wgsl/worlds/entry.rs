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
                Some(_) => format!("{} = {members}u;", own.agents),
                None => format!(
                    "{} = min({members}u, {}.agents - {} * {members}u);",
                    own.agents, self.own.launch, own.in_run
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
        ];
        let in_run = &own.in_run;
        let mut places = vec![format!(
            "let {} = {in_run} * {members}u + u32({member});",
            self.own.place
        )];
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
            format!("let {is_agent} = {index} < {agents}u && {number} < {of_run};"),
            format!("let {in_run} = min({number}, {of_run} - 1u);"),
            format!("let {member} = i32({index} % {members}u);"),
        ]);
        lines.extend(places);
        lines.extend([
            format!("{} = {index};", own.place),
            format!("{} = {first};", own.first),
            format!(
                "{} = select(0u, {members}u - u32({member}), {index} < {agents}u);",
                own.left
            ),
        ]);
        lines
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
        let (launch, point) = (&self.own.launch, &self.own.point);
        let (own, place) = (&self.own.world, &self.own.place);
        let (is_agent, unit, count) = (&self.own.is_agent, &own.in_run, &own.count);
        let mut lines = vec![
            format!("let {of_run} = ({launch}.agents + {}u) / {members}u;", members - 1),
            format!("let {unit} = {group};"),
            "// All invocations come to the barriers: those beyond the last agent do as it does, and store \
             nothing."
                .to_owned(),
            format!("let {number} = {unit} * {members}u + {index};"),
            format!("let {is_agent} = {number} < {launch}.agents;"),
            format!("let {} = i32({index});", own.own_member()),
            format!("let {place} = min({number}, {launch}.agents - 1u);"),
            format!("{} = {index};", own.place),
            format!("{} = 0u;", own.first),
            format!("{} = max({launch}.agents, {number}) - {number};", own.left),
        ];
        if self.schedule.points {
            lines.push(format!("let {count} = {groups}.z * {of_run};"));
            lines.push(format!("let {} = {point} * {of_run} + {unit};", own.slot));
            lines.push(self.let_slot());
        }
        lines
    }
}
