//! The floats of params one by one, for what varies them.

use super::Simulation;
use crate::{
    array::Array,
    error::{Error, Role},
    field::unknown_of,
};
use sim_compiler::manifest::{Field, Scalar};

/// One float of a param.
#[derive(Clone, Debug, PartialEq)]
pub struct Float {
    /// As it is written: `sigma`, `weights[3]`, `start.x`.
    pub name: String,
    /// The param.
    pub param: String,
    /// Its place among the values of the param, row by row.
    pub at: usize,
    /// Its value in the next run.
    pub value: f32,
    /// The smallest and the largest value that the model allows; infinite where it says nothing.
    pub range: [f64; 2],
}

impl Float {
    /// Whether a value lies in the range.
    pub fn holds(&self, value: f32) -> bool {
        (self.range[0]..=self.range[1]).contains(&value.into())
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
                if field.scalar != Scalar::F32 {
                    return Err(Error::DerivativeOfNoFloat {
                        role: Role::Param,
                        name: field.name.clone(),
                        scalar: field.scalar,
                    });
                }
                let words = self.param_words(&field.name)?;
                let own = field.spellings().into_iter().zip(words).enumerate();
                found.extend(own.filter(|(_, (spelling, _))| wanted(spelling)).map(
                    |(at, (name, word))| Float {
                        name,
                        param: field.name.clone(),
                        at,
                        value: f32::from_bits(word),
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
        values: &[f32],
    ) -> Result<Vec<(String, Array)>, Error> {
        let mut params: Vec<(String, Vec<f32>)> = Vec::new();
        for (float, value) in floats.iter().zip(values) {
            let known = params.iter().position(|(param, _)| *param == float.param);
            let place = match known {
                Some(place) => place,
                None => {
                    let words = self.param_words(&float.param)?;
                    let all = words.into_iter().map(f32::from_bits).collect();
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
