//! What is sampled: variables for it, and the code that computes a sample.
//!
//! A sample is a phase of the world in which each agent evaluates what is recorded of it, as it does an
//! element of a fold. What is observed is combined by a tree over a world, or over a unit of agents; the host
//! combines these and divides what is a mean. Where it needs each value, the values are recorded.

use super::{Lowerer, layout::Declared, place::Place, world::combining};
use crate::{
    hir::{self, Type},
    ir::{self, Owner, Sample, VarKind, checks::When},
    manifest::{self, SeriesFold, SeriesOf},
};

impl Lowerer<'_> {
    /// Variables for what is sampled.
    pub(super) fn declare_series(&mut self) {
        for series in &self.model.series {
            if self.is_full() {
                return;
            }
            let every = |sample: &Sample| sample.every == series.every;
            let at = match self.program.samples.iter().position(every) {
                Some(at) => at,
                None => {
                    self.program.samples.push(Sample {
                        every: series.every,
                        ..Sample::default()
                    });
                    self.program.samples.len() - 1
                }
            };
            let stored = stored_type(series);
            let declared = Declared {
                name: &series.name,
                doc: &series.doc,
                ty: &stored,
                span: series.span,
            };
            let sample = &self.program.samples[at];
            let (kind, list) = match series.of.is_stored_by_agent(series.fold.as_ref()) {
                true => (VarKind::Record, &sample.records),
                false => (VarKind::WorldRecord, &sample.world_records),
            };
            let mut word = self.program.row_words(list);
            self.sampling = at;
            let real = self.model.real;
            let place = self.root(&declared, kind, &mut |leaf| {
                super::layout::take(&mut word, leaf, real)
            });
            if let Some(fold) = series.fold.as_ref().and_then(SeriesFold::of_kernel) {
                let op = combining(fold);
                let vars = place.leaves.iter().map(|leaf| (leaf.var, op));
                self.program.samples[at].combined.extend(vars);
            }
            self.series.push((at, place));
        }
    }

    /// The code of all samples.
    pub(super) fn samples(&mut self) {
        for at in 0..self.program.samples.len() {
            let every = self.program.samples[at].every;
            self.checking.when = When::Sample { every };
            let body = self.entry_of(Owner::World, |lowerer| {
                for (series, (of, place)) in lowerer.model.series.iter().zip(lowerer.series.clone())
                {
                    if of == at {
                        lowerer.span = series.span;
                        lowerer.sample(series, &place);
                    }
                }
                lowerer.count_sample();
            });
            self.program.samples[at].body = body;
        }
    }

    fn sample(&mut self, series: &hir::Series, place: &Place) {
        // What an agent has is evaluated as an element of a fold is.
        self.in_elements = series.of != SeriesOf::Worlds || series.fold.is_some();
        match &series.fold {
            None => self.store_into(place, series.value),
            Some(fold) => {
                let value = self.contribution(fold, series.value);
                self.store(place, value);
            }
        }
        self.in_elements = false;
    }

    /// What an agent contributes to a fold.
    fn contribution(&mut self, fold: &SeriesFold, value: hir::ExprId) -> ir::ExprId {
        if let Some(fold) = fold.of_kernel() {
            return self.part(fold, value);
        }
        let value = self.scalar(value);
        match self.program.type_of(value) {
            ir::Type::F32 => value,
            _ => self.convert(ir::Type::F32, value),
        }
    }

    /// The series of the manifest: one for each leaf of what is kept.
    pub(super) fn series_of_manifest(&self) -> Vec<manifest::Series> {
        let mut found = Vec::new();
        for (series, (at, place)) in self.model.series.iter().zip(&self.series) {
            let first = place.leaves.first().map(|leaf| &self.program[leaf.var]);
            let leaves = super::place::leaves(self.model, &series.ty);
            for (number, leaf) in leaves.iter().enumerate() {
                let own = place.leaves.get(number).map(|leaf| &self.program[leaf.var]);
                let Some(var) = own.or(first) else { continue };
                found.push(manifest::Series {
                    field: self.field(&series.name, leaf, var),
                    of: series.of,
                    sampling: *at as u32,
                    fold: series.fold.clone(),
                });
            }
        }
        found
    }

    /// When samples are taken, and their sizes.
    pub(super) fn samplings(&self) -> Vec<manifest::Sampling> {
        let words = |vars| self.program.row_words(vars);
        (self.program.samples.iter())
            .map(|sample| manifest::Sampling {
                every: sample.every,
                words: words(&sample.records),
                world_words: words(&sample.world_records),
            })
            .collect()
    }
}

/// The type of what the kernel stores.
fn stored_type(series: &hir::Series) -> Type {
    match &series.fold {
        Some(fold) if fold.is_of_host() => Type::F32,
        Some(_) | None => series.ty.clone(),
    }
}
