//! Fits of params and searches over inputs.

use crate::{arrays::array, derive, errors::run_error};
use pyo3::{prelude::*, types::PyDict};
use sim_runtime::{
    Aim, CmaEs, Crossover, Ended, Fit, FitProgress, Fitted, Found, Generation, Genetic, Goal, Loss,
    Method, OpenEs, Optimiser, Range, Search, SearchEnded, SearchMethod,
};

/// A fit as Python asks for it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct FitAsked {
    minimise: Option<String>,
    least_squares: Option<String>,
    over: Vec<String>,
    method: Option<String>,
    mode: String,
    starts: u32,
    iterations: Option<u32>,
    search_seed: u64,
}

impl FitAsked {
    /// What the runtime fits.
    ///
    /// # Errors
    /// `RunError` for a loss that is none, or an unknown method.
    pub(crate) fn fit(self) -> PyResult<Fit> {
        let goal = match (self.minimise, self.least_squares) {
            (Some(loss), _) => Goal::Loss(loss_of(&loss)?),
            (None, residuals) => Goal::Residuals(residuals.unwrap_or_default()),
        };
        let usual = match goal {
            Goal::Loss(_) => "lbfgs",
            Goal::Residuals(_) => "lm",
        };
        Ok(Fit {
            goal,
            over: self.over,
            method: match self.method.as_deref().unwrap_or(usual) {
                "lbfgs" => Method::Lbfgs,
                "adam" => Method::Adam,
                "lm" => Method::LevenbergMarquardt,
                "nelder-mead" => Method::NelderMead,
                "cma-es" => Method::CmaEs,
                other => {
                    let known = "lbfgs, adam, lm, nelder-mead, cma-es";
                    return Err(unknown("method", other, known));
                }
            },
            mode: derive::mode(&self.mode)?,
            starts: self.starts,
            iterations: self.iterations,
            seed: self.search_seed,
        })
    }
}

/// A loss from `mean(payoff)`.
///
/// # Errors
/// `RunError`
pub(crate) fn loss_of(text: &str) -> PyResult<Loss> {
    text.parse::<Loss>().map_err(|error| {
        let (message, help) = (error.to_string(), error.help());
        run_error(error.code(), &message, help.as_deref())
    })
}

/// For Python.
pub(crate) fn fitted<'py>(
    py: Python<'py>,
    found: &Fitted,
    history: &[FitProgress],
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let estimates = found.estimates.iter().map(|estimate| {
        (
            estimate.float.name.clone(),
            estimate.value,
            estimate.standard_error,
            estimate.at_bound,
            estimate.float.value,
        )
    });
    all.set_item("estimates", estimates.collect::<Vec<_>>())?;
    all.set_item("loss", found.loss)?;
    all.set_item("gradient_norm", found.gradient_norm)?;
    all.set_item("residuals", found.residuals)?;
    all.set_item("correlation", &found.correlation)?;
    all.set_item("losses", &found.losses)?;
    all.set_item("iterations", found.iterations)?;
    all.set_item("evaluations", found.evaluations)?;
    all.set_item(
        "ended",
        match found.ended {
            Ended::Gradient => "gradient",
            Ended::Loss => "loss",
            Ended::Step => "step",
            Ended::Iterations => "iterations",
            Ended::Interrupted => "interrupted",
        },
    )?;
    let history = history.iter();
    let history = history.map(|at| (at.start, at.iteration, at.evaluations, at.loss));
    all.set_item("history", history.collect::<Vec<_>>())?;
    Ok(all)
}

/// A search as Python asks for it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct SearchAsked<'py> {
    fitness: String,
    maximise: bool,
    over: Vec<String>,
    method: String,
    settings: Bound<'py, PyDict>,
    generations: u32,
    target: Option<f64>,
    evaluations: u32,
    common_draws: bool,
    fixed_draws: bool,
    start: Vec<(Option<String>, f64, f64)>,
    within: Vec<(Option<String>, f64, f64)>,
    elites: u32,
    search_seed: u64,
}

impl SearchAsked<'_> {
    /// What the runtime searches.
    ///
    /// # Errors
    /// `RunError` for an unknown method, or a setting that it does not have.
    pub(crate) fn search(self) -> PyResult<Search> {
        let range = |(input, low, high)| Range { input, low, high };
        Ok(Search {
            method: method(&self.method, &self.settings)?,
            fitness: self.fitness,
            aim: match self.maximise {
                true => Aim::Maximise,
                false => Aim::Minimise,
            },
            over: self.over,
            generations: self.generations,
            target: self.target,
            evaluations: self.evaluations,
            common_draws: self.common_draws,
            fixed_draws: self.fixed_draws,
            from: self.start.into_iter().map(range).collect(),
            within: self.within.into_iter().map(range).collect(),
            elites: self.elites,
            seed: self.search_seed,
        })
    }
}

fn method(name: &str, settings: &Bound<'_, PyDict>) -> PyResult<SearchMethod> {
    let mut method = match name {
        "ga" => SearchMethod::Genetic(Genetic::default()),
        "open-es" => SearchMethod::OpenEs(OpenEs::default()),
        "cma-es" => SearchMethod::CmaEs(CmaEs::default()),
        "sep-cma-es" => SearchMethod::CmaEs(CmaEs {
            separable: true,
            ..CmaEs::default()
        }),
        "random" => SearchMethod::Random,
        other => {
            let known = "ga, open-es, cma-es, sep-cma-es, random";
            return Err(unknown("method", other, known));
        }
    };
    for (setting, value) in settings {
        let setting: String = setting.extract()?;
        let is_known = match &mut method {
            SearchMethod::Genetic(how) => set_genetic(how, &setting, &value)?,
            SearchMethod::OpenEs(how) => set_open_es(how, &setting, &value)?,
            SearchMethod::CmaEs(how) => match setting.as_str() {
                "sigma" => set(&mut how.sigma, &value)?,
                "patience" => set(&mut how.patience, &value)?,
                _ => false,
            },
            SearchMethod::Random => false,
        };
        if !is_known {
            let message = format!("method `{name}` has no setting `{setting}`");
            return Err(run_error("option", &message, Some("see `docs/search.md`")));
        }
    }
    Ok(method)
}

fn set<'py, T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(
    place: &mut T,
    value: &Bound<'py, PyAny>,
) -> PyResult<bool> {
    *place = value.extract()?;
    Ok(true)
}

fn set_genetic(how: &mut Genetic, setting: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match setting {
        "tournament" => set(&mut how.tournament, value),
        "crossover" => {
            how.crossover = match value.extract::<String>()?.as_str() {
                "uniform" => Crossover::Uniform,
                "blend" => Crossover::Blend,
                "both" => Crossover::Both,
                other => return Err(unknown("crossover", other, "uniform, blend, both")),
            };
            Ok(true)
        }
        "crossover_rate" => set(&mut how.crossover_rate, value),
        "blend" => set(&mut how.blend, value),
        "mutation_rate" => set(&mut how.mutation_rate, value),
        "mutation" => set(&mut how.mutation, value),
        "decay" => set(&mut how.decay, value),
        "keep" => set(&mut how.keep, value),
        "islands" => set(&mut how.islands, value),
        "migration" => set(&mut how.migration, value),
        "migrants" => set(&mut how.migrants, value),
        "patience" => set(&mut how.patience, value),
        _ => Ok(false),
    }
}

fn set_open_es(how: &mut OpenEs, setting: &str, value: &Bound<'_, PyAny>) -> PyResult<bool> {
    match setting {
        "sigma" => set(&mut how.sigma, value),
        "rate" => set(&mut how.rate, value),
        "decay" => set(&mut how.decay, value),
        "optimiser" => {
            how.optimiser = match value.extract::<String>()?.as_str() {
                "adam" => Optimiser::Adam,
                "momentum" => Optimiser::Momentum,
                other => return Err(unknown("optimiser", other, "adam, momentum")),
            };
            Ok(true)
        }
        "weight_decay" => set(&mut how.weight_decay, value),
        _ => Ok(false),
    }
}

/// For Python.
pub(crate) fn found<'py>(py: Python<'py>, found: Found) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let elites = found.elites.iter().map(|elite| {
        let again = elite.again;
        let again = again.map(|again| (again.mean, again.standard_error, again.count));
        (elite.fitness, elite.count, elite.generation, again)
    });
    all.set_item("elites", elites.collect::<Vec<_>>())?;
    let columns = PyDict::new(py);
    for column in found.columns {
        let name = column.field.name.clone();
        columns.set_item(name, array(py, column)?)?;
    }
    all.set_item("columns", columns)?;
    let history = found
        .history
        .iter()
        .map(|at: &Generation| (at.number, at.best, at.mean, at.best_so_far, at.finite));
    all.set_item("history", history.collect::<Vec<_>>())?;
    all.set_item("genes", found.genes)?;
    all.set_item("candidates", found.candidates)?;
    all.set_item("evaluations", found.evaluations)?;
    all.set_item("seconds", found.seconds.evaluate + found.seconds.vary)?;
    all.set_item(
        "ended",
        match found.ended {
            SearchEnded::Generations => "generations",
            SearchEnded::Target => "target",
            SearchEnded::Interrupted => "interrupted",
        },
    )?;
    Ok(all)
}

fn unknown(what: &str, given: &str, known: &str) -> PyErr {
    run_error(
        "option",
        &format!("there is no {what} `{given}`"),
        Some(&format!("there are {known}")),
    )
}
