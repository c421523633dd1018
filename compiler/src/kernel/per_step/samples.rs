//! The stages of samples.

use super::{Splitter, Stage, Task};
use crate::{
    ir::{Expr, Owner, Phase, Program, Sample, Stmt, VarId},
    span::Span,
};

impl Splitter {
    /// Makes a sample of the program of each stage, and returns the stages with the numbers of the samples
    /// that they are parts of. Before them, `flips` stages of the step have changed the current copy of the
    /// rows.
    ///
    /// What is observed is a phase of the world. What is recorded of agents is a stage of theirs, as it
    /// depends on no fold of the world (E0450).
    pub(super) fn samples(&mut self, flips: u32) -> Vec<(usize, Stage)> {
        let (mut parts, mut stages) = (Vec::new(), Vec::new());
        for (number, sample) in std::mem::take(&mut self.program.samples).iter().enumerate() {
            let part = |body, records: &[VarId], world_records: &[VarId]| Sample {
                every: sample.every,
                records: records.to_vec(),
                world_records: world_records.to_vec(),
                combined: Vec::new(),
                body,
            };
            if !sample.world_records.is_empty() {
                let phase = observing(&mut self.program, sample);
                let values = sample.world_records.iter().copied().collect();
                let mut blocks = Vec::new();
                for mut stage in self.world(&phase, &values, &mut blocks, flips) {
                    let block = std::mem::take(&mut stage.phases).start;
                    let body = std::mem::take(&mut blocks[block].body);
                    parts.push(match stage.task {
                        Task::World => part(body, &[], &sample.world_records),
                        Task::Agents | Task::Parts(_) => part(body, &[], &[]),
                    });
                    stages.push((number, stage));
                }
            }
            if !sample.records.is_empty() {
                let mut body = sample.body.clone();
                let records = sample.records.iter().copied().collect();
                self.drop_unread(&mut body, &[], records);
                parts.push(part(body, &sample.records, &[]));
                stages.push((number, Stage::new(Task::Agents, 0..0, flips)));
            }
        }
        self.program.samples = parts;
        stages
    }
}

/// The phase of the world that combines what a sample observes.
fn observing(program: &mut Program, sample: &Sample) -> Phase {
    let mut body = sample.body.clone();
    for &(var, op) in &sample.combined {
        let value = program.add(Expr::Read(var), Span::default());
        let value = program.add(Expr::AcrossWorld { op, value }, Span::default());
        body.push(Stmt::Assign { var, value });
    }
    Phase {
        owner: Owner::World,
        body,
    }
}
