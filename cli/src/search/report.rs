//! What `simc search` prints.

use crate::{
    columns::{Flush, table},
    number::grouped,
    output::Written,
    prepared::device,
    summary::{duration, significant},
};
use serde_json::{Map, Value, json};
use sim_runtime::{Aim, Elite, Found, Search, SearchEnded, Values};
use std::fmt::Write;

/// A search with what was asked for.
pub(super) struct Report<'a> {
    pub(super) search: &'a Search,
    pub(super) found: &'a Found,
    /// The seed of the launch.
    pub(super) seed: u64,
    /// Generations a second of this process, if it ran any.
    pub(super) rate: Option<f64>,
    pub(super) files: &'a [Written],
}

impl Report<'_> {
    /// For people.
    pub(super) fn text(&self) -> String {
        let found = self.found;
        let mut text = table(&self.rows(), Flush::Right);
        let mut line = |what: &str, is: String| {
            let _ = writeln!(text, "{what:<12}{is}");
        };
        let aim = match self.search.aim {
            Aim::Maximise => "maximised",
            Aim::Minimise => "minimised",
        };
        line(&self.search.fitness, aim.to_owned());
        line(
            "candidates",
            format!(
                "{} a generation, of {} genes: {}",
                grouped(found.candidates.into()),
                grouped(found.genes.into()),
                self.search.over.join(", ")
            ),
        );
        let seconds = found.seconds.evaluate + found.seconds.vary;
        let rate = self.rate.map_or(String::new(), |rate| {
            format!(", {} a second", significant(rate, 3))
        });
        line(
            self.search.method.name(),
            format!(
                "{} generations, {}{rate}: {}",
                grouped(found.history.len() as u64),
                duration(seconds),
                why(found.ended)
            ),
        );
        line(
            "time",
            format!(
                "{:.1} % in runs, {:.1} % in operators{}",
                100.0 * found.seconds.evaluate / seconds,
                100.0 * found.seconds.vary / seconds,
                match found.bred_on_device {
                    0 => String::new(),
                    count => format!("; the device bred {} generations", grouped(count.into())),
                }
            ),
        );
        if let Some(last) = found.history.last() {
            line(
                "last",
                format!(
                    "best {}, mean {}, {} of {} with a fitness",
                    significant(last.best, 7),
                    significant(last.mean, 7),
                    grouped(last.finite.into()),
                    grouped(found.candidates.into())
                ),
            );
        }
        line("draws", self.draws());
        if let Some(backend) = &found.device {
            line("backend", device(backend));
        }
        line(
            "seed",
            format!("{}, of the search {}", self.seed, self.search.seed),
        );
        for file in self.files {
            line("written", file.to_string());
        }
        text
    }

    /// The table of the best.
    fn rows(&self) -> Vec<Vec<String>> {
        let is_noisy = self.found.elites.iter().any(|elite| elite.again.is_some());
        let mut head = vec!["elite", "fitness", "found in", "times"];
        if is_noisy {
            head.extend(["in new draws", "std err"]);
        }
        let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
        rows.extend(self.found.elites.iter().enumerate().map(|(place, elite)| {
            let mut row = vec![
                place.to_string(),
                significant(elite.fitness, 8),
                grouped(elite.generation.into()),
                grouped(elite.count.into()),
            ];
            row.extend(elite.again.into_iter().flat_map(|again| {
                [
                    significant(again.mean, 7),
                    significant(again.standard_error, 3),
                ]
            }));
            row
        }));
        rows
    }

    /// Which draws candidates had.
    fn draws(&self) -> String {
        let evaluations = match self.search.evaluations {
            1 => String::new(),
            more => format!(", {} evaluations", grouped(more.into())),
        };
        let whose = match self.search.common_draws {
            true => "the same for all candidates",
            false => "of each candidate's own agent",
        };
        let when = match self.search.fixed_draws {
            true => "the same in each generation",
            false => "new in each generation",
        };
        format!("{whose}, {when}{evaluations}")
    }

    /// For programs.
    pub(super) fn object(&self) -> Value {
        let found = self.found;
        let elites = found.elites.iter().enumerate();
        let history = found.history.iter().map(|generation| {
            json!({
                "best": generation.best,
                "mean": generation.mean,
                "best_so_far": generation.best_so_far,
                "finite": generation.finite,
            })
        });
        json!({
            "fitness": self.search.fitness,
            "aim": match self.search.aim {
                Aim::Maximise => "maximise",
                Aim::Minimise => "minimise",
            },
            "over": self.search.over,
            "method": self.search.method.name(),
            "elites": elites.map(|(row, elite)| self.elite(row, elite)).collect::<Vec<_>>(),
            "history": history.collect::<Vec<_>>(),
            "generations": found.history.len(),
            "candidates": found.candidates,
            "genes": found.genes,
            "evaluations": found.evaluations,
            "bred_on_device": found.bred_on_device,
            "seconds": { "evaluate": found.seconds.evaluate, "vary": found.seconds.vary },
            "generations_per_second": self.rate,
            "backend": found.device.as_ref().map(device),
            "seed": self.seed,
            "search_seed": self.search.seed,
            "common_draws": self.search.common_draws,
            "fixed_draws": self.search.fixed_draws,
            "runs": self.search.evaluations,
            "ended": word(found.ended),
            "files": self.files,
        })
    }

    fn elite(&self, row: usize, elite: &Elite) -> Value {
        let mut inputs: Map<String, Value> = Map::new();
        // The last column is the fitness.
        let count = self.found.columns.len().saturating_sub(1);
        for column in &self.found.columns[..count] {
            let width = column.field.values() as usize;
            let own = row * width..(row + 1) * width;
            let values: Value = match &column.values {
                Values::F32(values) => values[own].iter().map(|&it| number(it)).collect(),
                Values::F64(values) => values[own].iter().copied().collect(),
                _ => continue,
            };
            inputs.insert(column.field.name.clone(), values);
        }
        json!({
            "fitness": elite.fitness,
            "generation": elite.generation,
            "times": elite.count,
            "in_new_draws": elite.again.map(|again| json!({
                "mean": again.mean,
                "standard_error": again.standard_error,
                "count": again.count,
            })),
            "inputs": inputs,
        })
    }
}

/// The shortest digits that give the same `f32`, as a number of JSON.
fn number(value: f32) -> Value {
    value
        .to_string()
        .parse::<f64>()
        .map_or(Value::Null, Value::from)
}

fn why(ended: SearchEnded) -> &'static str {
    match ended {
        SearchEnded::Generations => "all that were asked for",
        SearchEnded::Target => "the target is reached",
        SearchEnded::Interrupted => "interrupted",
    }
}

fn word(ended: SearchEnded) -> &'static str {
    match ended {
        SearchEnded::Generations => "generations",
        SearchEnded::Target => "target",
        SearchEnded::Interrupted => "interrupted",
    }
}
