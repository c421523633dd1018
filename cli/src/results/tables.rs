//! The tables of a run: which there are, what a row of each is, and where its values lie.

use crate::table::spellings;
use sim_compiler::manifest::{Field, Manifest, SeriesOf};
use sim_runtime::{Column, Run, Series};
use std::collections::BTreeSet;

/// Whose values a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableOf {
    /// Of a sweep, a row per point.
    Points,
    /// Outputs, a row per agent.
    Outputs,
    /// Outputs of worlds, a row per world.
    Worlds,
    /// `observe`, a row per step.
    Observe,
    /// `world observe`, a row per step and world.
    WorldObserve,
    /// `record`, a row per step and agent.
    Record,
}

impl TableOf {
    const ALL: [TableOf; 6] = [
        TableOf::Points,
        TableOf::Outputs,
        TableOf::Worlds,
        TableOf::Observe,
        TableOf::WorldObserve,
        TableOf::Record,
    ];

    /// The table of a series.
    pub(crate) fn of(series: SeriesOf) -> TableOf {
        match series {
            SeriesOf::Population => TableOf::Observe,
            SeriesOf::Worlds => TableOf::WorldObserve,
            SeriesOf::Agents => TableOf::Record,
        }
    }

    /// The word of its file.
    pub(crate) fn word(self) -> &'static str {
        match self {
            TableOf::Points => "points",
            TableOf::Outputs => "outputs",
            TableOf::Worlds => "world",
            TableOf::Observe => "observe",
            TableOf::WorldObserve => "world.observe",
            TableOf::Record => "record",
        }
    }

    /// The table of a word.
    pub(super) fn of_word(word: &str) -> Option<TableOf> {
        TableOf::ALL.into_iter().find(|of| of.word() == word)
    }

    /// What a row is, after the name of a file.
    pub(super) fn rows(self) -> &'static str {
        match self {
            TableOf::Points | TableOf::Outputs => "",
            TableOf::Worlds => ", a row per world",
            TableOf::Observe => ", a row per step",
            TableOf::WorldObserve => ", a row per step and world",
            TableOf::Record => ", a row per step and agent",
        }
    }

    /// What a row of a sweep's table is, after the name of a file.
    pub(super) fn rows_of_sweep(self) -> &'static str {
        match self {
            TableOf::Points | TableOf::Outputs | TableOf::Worlds => "",
            TableOf::Observe | TableOf::WorldObserve | TableOf::Record => {
                ", a row per point and step"
            }
        }
    }

    /// What the dimensions of an array of it are, after the name of a file.
    pub(super) fn dimensions(self) -> &'static str {
        match self {
            TableOf::Points | TableOf::Outputs => "",
            TableOf::Worlds => ", a row per world",
            TableOf::Observe => ", by step",
            TableOf::WorldObserve => ", steps by worlds",
            TableOf::Record => ", steps by agents",
        }
    }

    /// What stands before a name of it where all names of a run are together.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            TableOf::Points | TableOf::Outputs | TableOf::Worlds => "",
            TableOf::Observe => "observe.",
            TableOf::WorldObserve => "world.observe.",
            TableOf::Record => "record.",
        }
    }

    /// The columns before the values: the number of steps, and that of the agent or world in this run.
    pub(super) fn index(self) -> &'static [&'static str] {
        match self {
            TableOf::Points | TableOf::Outputs | TableOf::Worlds => &[],
            TableOf::Observe => &["step"],
            TableOf::WorldObserve => &["step", "world"],
            TableOf::Record => &["step", "agent"],
        }
    }

    /// What a model has of it, in declaration order.
    pub(super) fn fields(self, manifest: &Manifest) -> Vec<&Field> {
        let series = manifest.series.iter();
        match self {
            TableOf::Points => Vec::new(),
            TableOf::Outputs => manifest.outputs.iter().collect(),
            TableOf::Worlds => manifest.world_rows().outputs.iter().collect(),
            TableOf::Observe | TableOf::WorldObserve | TableOf::Record => series
                .filter(|series| TableOf::of(series.of) == self)
                .map(|series| &series.field)
                .collect(),
        }
    }

    /// Those of which a model has anything.
    pub(super) fn in_model(manifest: &Manifest) -> impl Iterator<Item = TableOf> {
        (TableOf::ALL.into_iter()).filter(|of| !of.fields(manifest).is_empty())
    }

    /// Those of which a run has anything.
    pub(super) fn in_run(run: &Run) -> Vec<TableOf> {
        let is_there = |of: &TableOf| columns(run).any(|(table, ..)| table == *of);
        TableOf::ALL.into_iter().filter(is_there).collect()
    }
}

/// All columns of a run with their tables: outputs, outputs of worlds, series, in declaration order.
pub(super) fn columns(run: &Run) -> impl Iterator<Item = (TableOf, &Column, Option<&Series>)> {
    let outputs = run.outputs().iter();
    let outputs = outputs.map(|column| (TableOf::Outputs, column, None));
    let worlds = run.world_outputs().iter();
    let worlds = worlds.map(|column| (TableOf::Worlds, column, None));
    let series = run.series().iter();
    let series = series.map(|series| (TableOf::of(series.of), &series.column, Some(series)));
    outputs.chain(worlds).chain(series)
}

/// A table of a run: for each of some numbers of steps as many rows.
#[derive(Debug)]
pub(super) struct Table<'a> {
    pub(super) of: TableOf,
    /// The numbers of steps, ascending; for outputs, which have no such column, one.
    pub(super) steps: Vec<u32>,
    /// Rows of each number of steps.
    pub(super) height: usize,
    pub(super) columns: Vec<TableColumn<'a>>,
}

/// A column of a table, with all values of a row.
#[derive(Debug)]
pub(super) struct TableColumn<'a> {
    pub(super) column: &'a Column,
    /// The number of its sample by that of the table's number of steps; none where it has none.
    samples: Vec<Option<usize>>,
    height: usize,
}

impl<'a> Table<'a> {
    /// A table of a run, with all its columns.
    pub(super) fn new(run: &'a Run, of: TableOf) -> Table<'a> {
        let all: Vec<_> = columns(run).filter(|&(table, ..)| table == of).collect();
        let steps: BTreeSet<u32> = (all.iter())
            .filter_map(|(.., series)| *series)
            .flat_map(|series| series.steps.iter().copied())
            .collect();
        let steps: Vec<u32> = match of.index() {
            [] => vec![run.report().steps],
            [..] => steps.into_iter().collect(),
        };
        let height = all.first().map_or(0, |(_, column, series)| match series {
            Some(series) => series.width() / column.field.values() as usize,
            None => column.shape[0],
        });
        let columns = all.into_iter().map(|(_, column, series)| TableColumn {
            column,
            samples: match series {
                Some(series) => (steps.iter())
                    .map(|step| series.steps.binary_search(step).ok())
                    .collect(),
                None => vec![Some(0)],
            },
            height,
        });
        Table {
            of,
            columns: columns.collect(),
            height,
            steps,
        }
    }

    /// A table of columns that are no run's, which have a row each for the same things.
    pub(super) fn of_columns(columns: &'a [Column]) -> Table<'a> {
        let height = columns.first().map_or(0, |column| column.shape[0]);
        let column = |column| TableColumn {
            column,
            samples: vec![Some(0)],
            height,
        };
        Table {
            of: TableOf::Outputs,
            steps: vec![0],
            height,
            columns: columns.iter().map(column).collect(),
        }
    }

    /// The number of all rows.
    pub(super) fn rows(&self) -> usize {
        self.steps.len() * self.height
    }

    /// The names of the columns of values, one per value of a row.
    pub(super) fn names(&self) -> Vec<String> {
        let fields = self.columns.iter().map(|column| &column.column.field);
        fields.flat_map(|field| spellings(field, 0)).collect()
    }
}

impl TableColumn<'_> {
    /// The number of values in a row.
    pub(super) fn width(&self) -> usize {
        self.column.field.values() as usize
    }

    /// Does it lack values in any row?
    pub(super) fn has_gaps(&self) -> bool {
        self.samples.iter().any(Option::is_none)
    }

    /// Where the values of a row begin in the column; none where it has no sample.
    pub(super) fn place(&self, row: usize) -> Option<usize> {
        let sample = self.samples[row / self.height]?;
        Some((sample * self.height + row % self.height) * self.width())
    }
}
