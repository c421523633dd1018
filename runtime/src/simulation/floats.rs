//! The floats of params one by one, for what varies them.

use super::Simulation;
use crate::{
    array::Array,
    bind::numbers,
    error::{Error, Role},
    field::unknown_of,
};
use sim_compiler::manifest::{Field, RealType};

/// One float of a param.
#[derive(Clone, Debug, PartialEq)]
pub struct Float {
    /// As it is written: `sigma`, `weights[3]`, `start.x`.
    pub name: String,
    /// The param.
    pub param: String,
    /// Its place among the values of the param, row by row.
    pub at: usize,
    /// Its value in the next run: an `f32`, unless the model is run in `f64`.
    pub value: f64,
    /// The smallest and the largest value that the model allows; infinite where it says nothing.
    pub range: [f64; 2],
    /// The machine type of its values.
    pub real: RealType,
}

impl Float {
    /// Whether a value lies in the range.
    pub fn holds(&self, value: f64) -> bool {
        (self.range[0]..=self.range[1]).contains(&value)
    }

    /// The next value of its type above a value of that type.
    pub(crate) fn above(&self, value: f64) -> f64 {
        match self.real {
            RealType::F32 => (value as f32).next_up().into(),
            RealType::F64 => value.next_up(),
        }
    }

    /// The next one below.
    pub(crate) fn below(&self, value: f64) -> f64 {
        match self.real {
            RealType::F32 => (value as f32).next_down().into(),
            RealType::F64 => value.next_down(),
        }
    }

    /// The value of its type that is nearest to a number and in the range.
    pub(crate) fn nearest(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let most = match self.real {
            RealType::F32 => f32::MAX.into(),
            RealType::F64 => f64::MAX,
        };
        // A range with an end that is of another type loses what lies beyond the value within.
        match self.real.nearest(value.clamp(low, high).clamp(-most, most)) {
            rounded if rounded < low => self.above(rounded),
            rounded if rounded > high => self.below(rounded),
            rounded => rounded,
        }
    }
}

impl Simulation {
    /// The floats of params that these names stand for: of an array or a vector all of its values, unless
    /// one of them is named.
    ///
    /// # Errors
    /// [`Error::UnknownName`], [`Error::DerivativeOfNoFloat`], and [`Error::Missing`] if a param has neither
    /// a value nor a default.
    pub fn floats(&self, names: &[&str]) -> Result<Vec<Float>, Error> {
        let manifest = self.manifest();
        let mut found: Vec<Float> = Vec::new();
        for name in names {
            let before = found.len();
            for param in &manifest.params {
                let field = &param.field;
                let Some(wanted) = wanted(field, name) else {
                    continue;
                };
                if !field.scalar.is_float() {
                    return Err(Error::DerivativeOfNoFloat {
                        role: Role::Param,
                        name: field.name.clone(),
                        scalar: field.scalar,
                    });
                }
                let words = self.param_words(&field.name)?;
                let values = numbers(field.scalar, &words);
                let own = field.spellings().into_iter().zip(values).enumerate();
                found.extend(own.filter(|(_, (spelling, _))| wanted(spelling)).map(
                    |(at, (name, value))| Float {
                        name,
                        param: field.name.clone(),
                        at,
                        value,
                        real: manifest.real,
                        range: param.range.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]),
                    },
                ));
            }
            if found.len() == before {
                let names = manifest
                    .params
                    .iter()
                    .map(|param| param.field.name.as_str());
                return Err(unknown_of(manifest, Role::Param, name, names));
            }
        }
        let mut distinct: Vec<Float> = Vec::new();
        for float in found {
            if distinct.iter().all(|other| other.name != float.name) {
                distinct.push(float);
            }
        }
        Ok(distinct)
    }

    /// All values of the params of some floats, where these have other values.
    ///
    /// # Errors
    /// Those of [`Simulation::param_words`].
    pub fn params_with(
        &self,
        floats: &[Float],
        values: &[f64],
    ) -> Result<Vec<(String, Array)>, Error> {
        let mut params: Vec<(String, Vec<f64>)> = Vec::new();
        for (float, value) in floats.iter().zip(values) {
            let known = params.iter().position(|(param, _)| *param == float.param);
            let place = match known {
                Some(place) => place,
                None => {
                    let words = self.param_words(&float.param)?;
                    let all = numbers(self.manifest().real.scalar(), &words);
                    params.push((float.param.clone(), all));
                    params.len() - 1
                }
            };
            params[place].1[float.at] = *value;
        }
        Ok((params.into_iter())
            .map(|(param, values)| match values.as_slice() {
                [one] => (param, (*one).into()),
                all => (param, all.into()),
            })
            .collect())
    }
}

/// Which values of a param a name stands for; none if it is that of another one.
fn wanted<'a>(field: &'a Field, name: &'a str) -> Option<impl Fn(&str) -> bool + 'a> {
    let rest = name.strip_prefix(field.name.as_str());
    let of_struct = field.name.strip_prefix(name);
    let whole = of_struct.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let part = rest.is_some_and(|rest| rest.starts_with(['[', '.']))
        && field.spellings().iter().any(|known| known == name);
    (whole || part).then_some(move |spelling: &str| whole || spelling == name)
}
