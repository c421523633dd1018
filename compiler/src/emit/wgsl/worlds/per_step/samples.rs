//! The stages of samples: what a part of one computes and stores.

use super::Part;
use crate::{
    emit::wgsl::Writer,
    ir::{Sample, VarKind},
    kernel::{
        per_step::{PerStep, Stage},
        schedule,
    },
};

impl<'a> Writer<'a> {
    /// Writes the stages of samples, those before the first step or those after a step.
    pub(super) fn samples_of(
        &mut self,
        plan: &'a PerStep,
        first: bool,
        entries: &mut Vec<schedule::Stage>,
    ) {
        for (part, (_, stage)) in plan.samples.iter().enumerate() {
            self.entry_point(plan, stage, &[], Part::Sample { part, first }, entries);
        }
    }

    /// Writes what a part of a sample computes.
    pub(super) fn part_of_sample(&mut self, stage: &Stage, sample: &'a Sample) {
        for var in self.program.var_ids() {
            let kind = self.program[var].kind;
            let is_record = matches!(kind, VarKind::Record | VarKind::WorldRecord);
            if is_record && stage.mentions.contains(&var) && !self.private[var] {
                self.declare(var);
                self.zeros(var);
            }
        }
        self.statements(&sample.body);
    }

    /// Stores the records that a part of a sample assigns.
    pub(super) fn store_sample(&mut self, plan: &PerStep, part: usize, first: bool) {
        let sample = &self.program.samples[part];
        let is_world = !sample.world_records.is_empty();
        if !is_world && sample.records.is_empty() {
            return;
        }
        let at = match first {
            true => "0u".to_owned(),
            false => format!("(u32(run.end_step) / {}u)", sample.every),
        };
        let row = self.sample_row(plan.samples[part].0, is_world, &at);
        self.named_row(&row);
        self.store_world(&sample.world_records);
        for &record in &sample.records {
            self.store_variable(record);
        }
    }
}
