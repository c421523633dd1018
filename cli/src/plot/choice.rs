//! `--show`: which outputs and series are drawn, and which against or beside each other.

use crate::{
    problem::{self, Problem},
    table::spellings,
};
use sim_compiler::manifest::{Field, Manifest, SeriesFold, SeriesOf};

/// Something that a run gives.
#[derive(Clone, Debug)]
pub(super) struct Quantity {
    pub(super) source: Source,
    pub(super) field: Field,
    /// One of its elements, where not all are meant.
    pub(super) element: Option<usize>,
}

/// Where it is in the results.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Source {
    Output,
    WorldOutput,
    /// A series by its number.
    Series {
        number: usize,
        of: SeriesOf,
        fold: Option<SeriesFold>,
    },
}

/// What a panel, or several, are about.
#[derive(Clone, Debug)]
pub(super) enum Subject {
    /// A quantity.
    Alone(Quantity),
    /// Two against each other.
    Pair(Box<[Quantity; 2]>),
    /// Several in one plot.
    Together(Vec<Quantity>),
}

impl Quantity {
    /// Its name, with the index of an element.
    pub(super) fn name(&self) -> String {
        match self.element {
            Some(element) => spellings(&self.field, 0).swap_remove(element),
            None => self.field.name.clone(),
        }
    }

    /// Values that it has of each agent or world, or per sample.
    pub(super) fn width(&self) -> usize {
        match self.element {
            Some(_) => 1,
            None => self.field.values() as usize,
        }
    }

    /// Each of its elements.
    pub(super) fn elements(&self) -> Vec<Quantity> {
        let element = |element| Quantity {
            element: Some(element),
            ..self.clone()
        };
        match (self.element, self.field.values()) {
            (Some(_), _) | (None, 1) => vec![self.clone()],
            (None, width) => (0..width as usize).map(element).collect(),
        }
    }

    /// Is it one number of each agent, of each world or per sample, as those of one kind are?
    fn kind(&self) -> Option<&'static str> {
        let kind = match &self.source {
            Source::Output => "an output",
            Source::WorldOutput => "a world output",
            Source::Series { of, .. } => match of {
                SeriesOf::Agents => "a record",
                SeriesOf::Worlds => "observed of worlds",
                SeriesOf::Population => "observed of all agents",
            },
        };
        (self.width() == 1).then_some(kind)
    }
}

/// All that a model gives, in declaration order: outputs, those of worlds, then series.
pub(super) fn all(manifest: &Manifest) -> Vec<Quantity> {
    let of = |source: Source| {
        move |field: &Field| Quantity {
            source: source.clone(),
            field: field.clone(),
            element: None,
        }
    };
    let outputs = manifest.outputs.iter().map(of(Source::Output));
    let worlds = manifest.world_rows().outputs.iter();
    let series = manifest
        .series
        .iter()
        .enumerate()
        .map(|(number, series)| Quantity {
            source: Source::Series {
                number,
                of: series.of,
                fold: series.fold.clone(),
            },
            field: series.field.clone(),
            element: None,
        });
    outputs
        .chain(worlds.map(of(Source::WorldOutput)))
        .chain(series)
        .collect()
}

/// What is drawn: all, or what was asked for.
///
/// # Errors
/// If there is nothing, nothing of a name, or what cannot be drawn together.
pub(super) fn subjects(manifest: &Manifest, show: &[String]) -> Result<Vec<Subject>, Problem> {
    let known = all(manifest);
    if known.is_empty() {
        return Err(problem::nothing_to_draw());
    }
    if show.is_empty() {
        return Ok(known.into_iter().map(Subject::Alone).collect());
    }
    let mut found = Vec::new();
    for wanted in show {
        let wanted = wanted.trim();
        if let Some((x, y)) = wanted.split_once(':') {
            let pair = alike(wanted, &[x, y], &known)?;
            let pair = <[Quantity; 2]>::try_from(pair).expect("there is one for each name");
            found.push(Subject::Pair(Box::new(pair)));
        } else if wanted.contains('+') {
            let names: Vec<&str> = wanted.split('+').collect();
            let together = alike(wanted, &names, &known)?;
            let is_curve = |it: &Quantity| {
                matches!(
                    it.source,
                    Source::Series {
                        of: SeriesOf::Population,
                        ..
                    }
                )
            };
            if let Some(other) = together.iter().find(|it| !is_curve(it)) {
                let kind = other.kind().unwrap_or_default();
                return Err(problem::not_alike(
                    wanted,
                    &format!("`{}` is {kind}", other.name()),
                ));
            }
            found.push(Subject::Together(together));
        } else {
            found.extend(named(wanted, &known)?.into_iter().map(Subject::Alone));
        }
    }
    Ok(found)
}

/// All quantities of a name: of a field, of an element, or of a struct of fields.
fn named(name: &str, known: &[Quantity]) -> Result<Vec<Quantity>, Problem> {
    let name = name.trim();
    let mut found = Vec::new();
    for quantity in known {
        let own = &quantity.field.name;
        let rest = name.strip_prefix(own.as_str());
        let outer = own.strip_prefix(name);
        if own == name || outer.is_some_and(|rest| rest.starts_with('.')) {
            found.push(quantity.clone());
        } else if rest.is_some_and(|rest| rest.starts_with(['[', '.'])) {
            let place = spellings(&quantity.field, 0)
                .iter()
                .position(|it| it == name);
            found.extend(place.map(|element| Quantity {
                element: Some(element),
                ..quantity.clone()
            }));
        }
    }
    match found.is_empty() {
        true => Err(problem::nothing_of_that_name(name, &names(known))),
        false => Ok(found),
    }
}

/// One quantity for each name, all of them single numbers of one kind. The second string is for the message.
fn alike(wanted: &str, names: &[&str], known: &[Quantity]) -> Result<Vec<Quantity>, Problem> {
    let all = names.iter().map(|name| named(name, known));
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let kinds = all[0].iter().filter_map(Quantity::kind);
    let of_kind = |kind: &str| -> Option<Vec<Quantity>> {
        let mut each = all.iter();
        each.try_fold(Vec::new(), |mut found, named| {
            found.push(named.iter().find(|it| it.kind() == Some(kind))?.clone());
            Some(found)
        })
    };
    let found = kinds.into_iter().find_map(of_kind);
    found.ok_or_else(|| {
        let said = names.iter().zip(&all).map(|(name, named)| {
            let kind = named[0].kind().unwrap_or("several numbers");
            format!("`{}` is {kind}", name.trim())
        });
        problem::not_alike(wanted, &said.collect::<Vec<_>>().join(", "))
    })
}

fn names(known: &[Quantity]) -> Vec<&str> {
    let mut names: Vec<&str> = known.iter().map(|it| it.field.name.as_str()).collect();
    names.dedup();
    names
}
