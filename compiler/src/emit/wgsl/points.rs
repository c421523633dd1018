//! Points: runs that a dispatch computes side by side. The third dimension of its workgroups counts them, so
//! all of a workgroup is of one run. Params, seed, the first agent and the number of agents come from the
//! run's own block; what the runs have in common stays in `run`. Agents, worlds and units of all runs lie
//! one after the other in buffers; rows of inputs, too, unless there are only those of one run, which all
//! share.

use super::Writer;

impl Writer<'_> {
    /// The binding of the blocks of the runs, if a dispatch has several.
    pub(super) fn points(&self) -> Option<u32> {
        let worlds = self.manifest.worlds_binding();
        let has_worlds = self.manifest.world_words(0) > 0;
        (self.schedule.points).then_some(worlds + u32::from(has_worlds))
    }

    /// Names what holds the params.
    pub(super) fn name_points(&mut self) {
        if !self.schedule.points {
            "run".clone_into(&mut self.own.launch);
            return;
        }
        let [points, point] = ["points", "point"].map(|name| self.names.declare(name));
        self.own.launch = format!("{points}[{point}]");
        self.own.point = point;
    }

    /// Declares the blocks, and which of them an invocation has.
    pub(super) fn point_bindings(&mut self) {
        let Some(binding) = self.points() else {
            return;
        };
        let (launch, point) = (&self.own.launch, &self.own.point);
        let name = launch.split('[').next().unwrap_or_default();
        let lines = [
            format!("@group(0) @binding({binding}) var<storage, read> {name}: array<Run>;"),
            format!("var<private> {point}: u32;"),
        ];
        lines.iter().for_each(|line| self.line(line));
    }

    /// Takes the run of an invocation from the number of its workgroup.
    pub(super) fn begin_point(&mut self, id: &str) {
        if self.schedule.points {
            let line = format!("{} = {id}.z;", self.own.point);
            self.line(&line);
        }
    }

    /// Names the agent's place in buffers, which follows from its place in its run.
    pub(super) fn slot_of_place(&mut self) {
        if self.schedule.points {
            let line = self.let_slot();
            self.line(&line);
        }
    }

    /// The line that names the agent's place in buffers.
    pub(super) fn let_slot(&self) -> String {
        let own = &self.own;
        let (slot, point, launch, place) = (&own.slot, &own.point, &own.launch, &own.place);
        format!("let {slot} = {point} * {launch}.agents + {place};")
    }

    /// The index in `inputs` of the first of an agent's `rows` rows.
    pub(super) fn first_input_row(&self, slot: &str, rows: u32) -> String {
        match (self.schedule.points, rows) {
            (false, 1) => slot.to_owned(),
            (false, _) => format!("{slot} * {rows}u"),
            (true, 1) => format!("{slot} % arrayLength(&inputs)"),
            (true, _) => format!("({slot} % (arrayLength(&inputs) / {rows}u)) * {rows}u"),
        }
    }
}
