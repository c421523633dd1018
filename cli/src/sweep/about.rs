//! What is said about a sweep beside its tables: what was swept, and the hashes of all columns.

use super::{
    Sweep,
    measure::{Measures, Plan},
    points::{Axis, Points},
    table::{Cells, json},
    tables::Tables,
};
use crate::{
    failure::Failure,
    results::metadata::{AxisMark, ColumnMark, FileMark, Metadata, Origin, SweepMark},
};
use sim_compiler::manifest::Manifest;

/// What is known before the sweep.
pub(crate) struct Before {
    origin: Origin,
    file: Option<FileMark>,
}

impl Before {
    /// Of a sweep to come. The params of the origin lose those that are swept: they have other values at
    /// each point.
    ///
    /// # Errors
    /// If the file of points cannot be read.
    pub(crate) fn of(
        mut origin: Origin,
        args: &Sweep,
        points: &Points<'_>,
    ) -> Result<Before, Failure> {
        let is_one = |axis: &&Axis<'_>| axis.param.field.values() == 1;
        for axis in points.axes.iter().filter(is_one) {
            origin.params.remove(&axis.param.field.name);
        }
        let file = args.sweep_file.as_deref().map(FileMark::of).transpose()?;
        Ok(Before { origin, file })
    }

    /// How the sweep was done; nothing if no run of it completed, since nothing is to be repeated then.
    pub(crate) fn metadata(
        self,
        args: &Sweep,
        (points, plan): (&Points<'_>, &Plan<'_>),
        (measures, tables): (&Measures, &Tables),
        (manifest, compile, seed): (&Manifest, f64, u64),
    ) -> Option<Metadata> {
        let report = measures.report.as_ref()?;
        let has_worlds = manifest.world.is_some();
        let results = marks(tables);
        let mut metadata = Metadata::of(self.origin, report, results, has_worlds, compile);
        metadata.seed = seed;
        metadata.times.run_seconds = measures.seconds;
        let pair = plan.covariance.as_ref();
        metadata.sweep = Some(SweepMark {
            kind: args.kind().to_owned(),
            file: self.file,
            params: (points.axes.iter().enumerate())
                .map(|(at, axis)| mark(args, points, at, axis))
                .collect(),
            points: measures.points.len(),
            failed: measures.failed(),
            interrupted: measures.interrupted,
            repeats: plan.repeats,
            common_draws: plan.common_draws,
            quantiles: plan.quantiles.to_vec(),
            covariance: pair.map_or_else(Vec::new, |pair| pair.names.to_vec()),
        });
        Some(metadata)
    }
}

fn mark(args: &Sweep, points: &Points<'_>, at: usize, axis: &Axis<'_>) -> AxisMark {
    let field = &axis.param.field;
    let is_drawn = args.sweep_random.or(args.sweep_sobol).is_some();
    let mut words: Vec<u64> = Vec::new();
    if !args.sweep.is_empty() {
        let mut seen = std::collections::HashSet::new();
        let all = points.rows.iter().map(|row| row[at]);
        words.extend(all.filter(|word| seen.insert(*word)));
    }
    let value = |word: &u64| json(field.scalar, &field.variants, *word);
    AxisMark {
        name: axis.name.clone(),
        type_name: field.scalar.name().to_owned(),
        values: words.iter().map(value).collect(),
        range: axis.param.range.filter(|_| is_drawn),
    }
}

/// Of all columns of all tables.
fn marks(tables: &Tables) -> Vec<ColumnMark> {
    let mut marks = Vec::new();
    for (of, table) in &tables.all {
        marks.extend(table.columns.iter().map(|column| {
            let mut hasher = blake3::Hasher::new();
            column.cells.each_bytes(|bytes| {
                hasher.update(bytes);
            });
            let variants = match &column.cells {
                Cells::Words { variants, .. } => variants.clone(),
                Cells::Double(_) | Cells::Whole(_) | Cells::Text(_) => Vec::new(),
            };
            ColumnMark {
                table: of.word().to_owned(),
                name: column.name.clone(),
                type_name: column.cells.type_name().to_owned(),
                variants,
                shape: vec![table.rows],
                every: None,
                blake3: hasher.finalize().to_hex().to_string(),
                file: None,
            }
        }));
    }
    marks
}
