//! What a sweep gave, as plots take it.

use super::{
    Sweep,
    measure::{Measured, Measures, Plan},
    points::Points,
};
use crate::{
    number::grouped,
    plot::{Curve, Means, Swept, SweptAxis},
};
use sim_compiler::manifest::Manifest;
use sim_runtime::Report;

/// The means and curves of a sweep, of which one run has this report.
pub(super) fn swept<'a>(
    (args, points): (&Sweep, &'a Points<'a>),
    (plan, measures): (&Plan<'_>, &Measures),
    (report, seed): (&Report, u64),
    manifest: &'a Manifest,
) -> Swept<'a> {
    let measured = || measures.points.iter().map(|point| point.as_ref().ok());
    let worlds = &manifest.world_rows().outputs;
    let fields = manifest.outputs.iter().chain(worlds).collect();
    let rows = measured().flatten().map(|point| point.outputs.len());
    let outputs = (0..rows.max().unwrap_or(0)).map(|row| {
        let each = || measured().map(|point| point.and_then(|it| it.outputs.get(row)));
        let number = |value: Option<f64>| value.unwrap_or(f64::NAN);
        let mean = each().map(|it| number(it.and_then(|it| it.of.mean)));
        let error = each().map(|it| number(it.and_then(|it| it.of.standard_error())));
        Means {
            mean: mean.collect(),
            error: error.collect(),
        }
    });
    let series = manifest.series.iter().enumerate().map(|(number, series)| {
        let widths = measured().flatten().filter_map(|it| it.series.get(number));
        let width = widths
            .map(super::sampled::Sampled::width)
            .max()
            .unwrap_or(0);
        let curve = |point: Option<&Measured>, row: usize| {
            let sampled = point.and_then(|point| point.series.get(number))?;
            let samples = 0..sampled.steps.len();
            Some(Curve {
                steps: sampled.steps.clone(),
                values: samples
                    .map(|sample| sampled.mean(&series.field, sample, row))
                    .collect(),
            })
        };
        let row = |row: usize| {
            let curves = measured().map(|point| curve(point, row).unwrap_or_default());
            curves.collect()
        };
        // Only as many have panels.
        (0..width.min(16)).map(row).collect()
    });
    let axes = points.axes.iter().enumerate().map(|(at, axis)| SweptAxis {
        name: axis.name.clone(),
        field: &axis.param.field,
        values: points.rows.iter().map(|row| axis.value(row[at])).collect(),
    });
    let repeats = plan.repeats as u64;
    let owner = |count: u32, one: &str| {
        let count = u64::from(count) * repeats;
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {one}{plural}", grouped_with_commas(count))
    };
    Swept {
        axes: axes.collect(),
        is_grid: !args.sweep.is_empty(),
        fields,
        outputs: outputs.collect(),
        series: series.collect(),
        subtitle: subtitle((plan, seed), measures, report, manifest),
        owners: [owner(report.agents, "agent"), owner(report.worlds, "world")],
    }
}

/// How large the sweep is.
fn subtitle(
    (plan, seed): (&Plan<'_>, u64),
    measures: &Measures,
    report: &Report,
    manifest: &Manifest,
) -> String {
    let counted = |count: u64, what: &str| {
        let plural = if count == 1 { "" } else { "s" };
        format!("{} {what}{plural}", grouped_with_commas(count))
    };
    let mut parts = vec![counted(measures.points.len() as u64, "point")];
    if measures.failed() > 0 {
        parts[0] += &format!(" ({} without results)", measures.failed());
    }
    if plan.repeats > 1 {
        parts.push(format!("{} each", counted(plan.repeats as u64, "run")));
    }
    parts.push(counted(report.agents.into(), "agent"));
    if manifest.has_step {
        parts.push(counted(report.steps.into(), "step"));
    }
    parts.push(format!("seed {seed}"));
    parts.join(" · ")
}

/// As pictures write numbers.
fn grouped_with_commas(count: u64) -> String {
    grouped(count).replace('_', ",")
}
