//! `--method` and its settings.

use crate::{failure::Failure, number, usage};
use sim_runtime::{CmaEs, Crossover, Genetic, OpenEs, Optimiser, Range, SearchMethod};

/// `--method`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Name {
    /// A genetic algorithm: for rough fitness, with draws or without.
    Ga,
    /// OpenAI's evolution strategy: for policies, and many candidates.
    OpenEs,
    /// CMA-ES: the most exact one for up to some hundred genes.
    CmaEs,
    /// CMA-ES that learns variances alone: for thousands of genes.
    SepCmaEs,
    /// Random search: what the others are compared with.
    Random,
}

/// `--crossover`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CrossoverName {
    /// Each gene is that of either parent.
    Uniform,
    /// Each gene is uniform between those of both, and somewhat beyond.
    Blend,
    /// A child has either with even chances.
    Both,
}

/// `--optimiser`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OptimiserName {
    /// Adam.
    Adam,
    /// Momentum.
    Momentum,
}

/// Settings of methods.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Settings of methods")]
pub(super) struct Settings {
    /// ga: candidates that are drawn for a parent, of which the best is taken [default: 3].
    #[arg(long, value_name = "N", value_parser = number::count)]
    tournament: Option<u32>,
    /// ga: how two parents give a child [default: both].
    #[arg(long, value_enum)]
    crossover: Option<CrossoverName>,
    /// ga: the chance that a child has two parents [default: 0.9].
    #[arg(long, value_name = "P", value_parser = real)]
    crossover_rate: Option<f64>,
    /// ga: how far blend crossover reaches beyond the parents, in parts of their distance [default: 0.5].
    #[arg(long, value_name = "A", value_parser = real)]
    blend: Option<f64>,
    /// ga: the chance of a gene to change [default: 0.1, and at least one gene of a child in the mean].
    #[arg(long, value_name = "P", value_parser = real)]
    mutation_rate: Option<f64>,
    /// ga: the standard deviation of a change, in those of the gene in the first generation [default: 0.3].
    #[arg(long, value_name = "S", value_parser = real)]
    mutation: Option<f64>,
    /// ga: the best of an island that live on unchanged [default: 2].
    #[arg(long, value_name = "N", value_parser = number::count)]
    keep: Option<u32>,
    /// ga: parts of the population that breed on their own [default: 1].
    #[arg(long, value_name = "N", value_parser = number::count)]
    islands: Option<u32>,
    /// ga: generations between migrations to the next island, 0 for none [default: 10].
    #[arg(long, value_name = "N", value_parser = number::count)]
    migration: Option<u32>,
    /// ga: how many migrate [default: 2].
    #[arg(long, value_name = "N", value_parser = number::count)]
    migrants: Option<u32>,
    /// ga, cma-es, sep-cma-es: generations without a better candidate after which an island, or the search,
    /// begins anew [default: never; by the number of genes].
    #[arg(long, value_name = "N", value_parser = number::count)]
    patience: Option<u32>,
    /// ga, open-es: what steps are multiplied by in each generation [default: 0.99].
    #[arg(long, value_name = "D", value_parser = real)]
    decay: Option<f64>,
    /// open-es, cma-es, sep-cma-es: the first step size, in standard deviations of the gene in the first
    /// generation [default: 0.2; 0.5].
    #[arg(long, value_name = "S", value_parser = real)]
    sigma: Option<f64>,
    /// open-es: how far the point moves in a generation, in the same unit [default: 0.1].
    #[arg(long, value_name = "R", value_parser = real)]
    rate: Option<f64>,
    /// open-es: what follows the slope [default: adam].
    #[arg(long, value_enum)]
    optimiser: Option<OptimiserName>,
    /// open-es: how fast genes are drawn to 0, as a part of the rate [default: 0].
    #[arg(long, value_name = "D", value_parser = real)]
    weight_decay: Option<f64>,
}

const GA: &[Name] = &[Name::Ga];
const ES: &[Name] = &[Name::OpenEs];

impl Settings {
    /// The method with its settings.
    ///
    /// # Errors
    /// A setting of another method.
    pub(super) fn method(&self, name: Name) -> Result<SearchMethod, Failure> {
        self.check(name)?;
        Ok(match name {
            Name::Ga => SearchMethod::Genetic(self.genetic()),
            Name::OpenEs => SearchMethod::OpenEs(self.open_es()),
            Name::CmaEs => SearchMethod::CmaEs(self.cma_es(false)),
            Name::SepCmaEs => SearchMethod::CmaEs(self.cma_es(true)),
            Name::Random => SearchMethod::Random,
        })
    }

    fn check(&self, name: Name) -> Result<(), Failure> {
        const CMA: [Name; 2] = [Name::CmaEs, Name::SepCmaEs];
        let given: [(&str, bool, &[Name]); 16] = [
            ("--tournament", self.tournament.is_some(), GA),
            ("--crossover", self.crossover.is_some(), GA),
            ("--crossover-rate", self.crossover_rate.is_some(), GA),
            ("--blend", self.blend.is_some(), GA),
            ("--mutation-rate", self.mutation_rate.is_some(), GA),
            ("--mutation", self.mutation.is_some(), GA),
            ("--keep", self.keep.is_some(), GA),
            ("--islands", self.islands.is_some(), GA),
            ("--migration", self.migration.is_some(), GA),
            ("--migrants", self.migrants.is_some(), GA),
            (
                "--patience",
                self.patience.is_some(),
                &[Name::Ga, CMA[0], CMA[1]],
            ),
            ("--decay", self.decay.is_some(), &[Name::Ga, Name::OpenEs]),
            (
                "--sigma",
                self.sigma.is_some(),
                &[Name::OpenEs, CMA[0], CMA[1]],
            ),
            ("--rate", self.rate.is_some(), ES),
            ("--optimiser", self.optimiser.is_some(), ES),
            ("--weight-decay", self.weight_decay.is_some(), ES),
        ];
        let is_lost = |(_, is_given, of): &&(&str, bool, &[Name])| *is_given && !of.contains(&name);
        match given.iter().find(is_lost) {
            None => Ok(()),
            Some((option, _, of)) => {
                let of: Vec<&str> = of.iter().map(|name| name.word()).collect();
                Err(usage::refused(
                    format!("`--method {}` takes no `{option}`", name.word()),
                    format!("it is a setting of {}", of.join(", ")),
                ))
            }
        }
    }

    fn genetic(&self) -> Genetic {
        let usual = Genetic::default();
        Genetic {
            tournament: self.tournament.unwrap_or(usual.tournament),
            crossover: match self.crossover {
                Some(CrossoverName::Uniform) => Crossover::Uniform,
                Some(CrossoverName::Blend) => Crossover::Blend,
                Some(CrossoverName::Both) | None => Crossover::Both,
            },
            crossover_rate: self.crossover_rate.unwrap_or(usual.crossover_rate),
            blend: self.blend.unwrap_or(usual.blend),
            mutation_rate: self.mutation_rate,
            mutation: self.mutation.unwrap_or(usual.mutation),
            decay: self.decay.unwrap_or(usual.decay),
            keep: self.keep.unwrap_or(usual.keep),
            islands: self.islands.unwrap_or(usual.islands),
            migration: self.migration.unwrap_or(usual.migration),
            migrants: self.migrants.unwrap_or(usual.migrants),
            patience: self.patience,
        }
    }

    fn open_es(&self) -> OpenEs {
        let usual = OpenEs::default();
        OpenEs {
            sigma: self.sigma.unwrap_or(usual.sigma),
            rate: self.rate.unwrap_or(usual.rate),
            decay: self.decay.unwrap_or(usual.decay),
            optimiser: match self.optimiser {
                Some(OptimiserName::Momentum) => Optimiser::Momentum,
                Some(OptimiserName::Adam) | None => Optimiser::Adam,
            },
            weight_decay: self.weight_decay.unwrap_or(usual.weight_decay),
        }
    }

    fn cma_es(&self, separable: bool) -> CmaEs {
        let usual = CmaEs::default();
        CmaEs {
            separable,
            sigma: self.sigma.unwrap_or(usual.sigma),
            patience: self.patience,
        }
    }
}

impl Name {
    /// As it is written.
    fn word(self) -> &'static str {
        match self {
            Name::Ga => "ga",
            Name::OpenEs => "open-es",
            Name::CmaEs => "cma-es",
            Name::SepCmaEs => "sep-cma-es",
            Name::Random => "random",
        }
    }
}

/// A number, for clap.
pub(super) fn real(text: &str) -> Result<f64, String> {
    match number::double(text) {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) | Err(_) => Err(format!("`{text}` is no finite number")),
    }
}

/// `LOW:HIGH` or `NAME=LOW:HIGH`, for clap.
pub(super) fn range(text: &str) -> Result<Range, String> {
    let (input, ends) = match text.split_once('=') {
        Some((name, ends)) => (Some(name.trim().to_owned()), ends),
        None => (None, text),
    };
    let (low, high) = ends
        .split_once(':')
        .ok_or_else(|| "write LOW:HIGH, or NAME=LOW:HIGH for one input".to_owned())?;
    Ok(Range {
        input,
        low: real(low.trim())?,
        high: real(high.trim())?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_of_one_input_or_of_all() {
        let all = range("-1:2.5").expect("it is one");
        assert_eq!((all.input, all.low, all.high), (None, -1.0, 2.5));
        let one = range("w1=-1e-3:0").expect("it is one");
        assert_eq!((one.input.as_deref(), one.low), (Some("w1"), -1e-3));
        for text in ["", "1", "a=1", "1:", ":1", "1:x", "1:inf", "w=1,2"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
