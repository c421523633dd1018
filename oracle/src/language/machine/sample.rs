//! What is recorded and observed: docs/language.md, "Values over time".

use super::super::arithmetic;
use super::super::typed::{Program, Sampling, Series, Whose};
use super::super::value::{Ty, Value, dimensions, leaves, words};
use super::super::{Column, Series as Found};
use super::fold::{counted, pairwise};
use super::{Machine, One, Outcome};

/// Per series and sample the values so far: of agents, or of worlds where these are sampled.
#[derive(Debug)]
pub(super) struct Samples(Vec<Vec<Vec<Value>>>);

impl Samples {
    pub(super) fn of(program: &Program) -> Samples {
        Samples(vec![Vec::new(); program.series.len()])
    }
}

impl Machine<'_> {
    /// So many steps are complete.
    pub(super) fn sample(
        &mut self,
        program: &Program,
        steps: u32,
        agents: &mut [One],
        samples: &mut Samples,
    ) -> Outcome<()> {
        for (series, samples) in program.series.iter().zip(&mut samples.0) {
            if !steps.is_multiple_of(series.every) {
                continue;
            }
            let number = (steps / series.every) as usize;
            samples.resize(samples.len().max(number + 1), Vec::new());
            self.look(agents);
            let of_world = series.whose == Whose::Worlds;
            let found = match (of_world, &series.sampling) {
                (true, None) => vec![self.alone(&series.value, series.slots)?],
                (true, Some(sampling)) => {
                    let values = self.of_each(series, agents)?;
                    vec![self.combine(sampling, &values, &series.ty)?]
                }
                (false, _) => self.of_each(series, agents)?,
            };
            samples[number].extend(found);
        }
        Ok(())
    }

    /// The value of each agent of the world, also of one that has stopped. They read no other agents.
    fn of_each(&mut self, series: &Series, agents: &mut [One]) -> Outcome<Vec<Value>> {
        self.states_of.clear();
        let mut values = Vec::new();
        for (member, agent) in (0..).zip(agents) {
            (self.me, self.member) = (std::mem::take(agent), Some(member));
            values.push(self.alone(&series.value, series.slots)?);
            *agent = std::mem::take(&mut self.me);
        }
        self.member = None;
        Ok(values)
    }

    /// Combines the values of whole worlds.
    fn combine(&mut self, sampling: &Sampling, values: &[Value], ty: &Ty) -> Outcome<Value> {
        match sampling {
            Sampling::Fold(name) if name == "sum" => self.sum(values, ty),
            Sampling::Fold(name) if name == "mean" => {
                let sum = self.sum(values, ty)?;
                arithmetic::binary("/", sum, Value::F(values.len() as f32))
            }
            Sampling::Fold(name) => {
                let elements: Vec<(i32, Value)> = (0..).zip(values.iter().cloned()).collect();
                self.fold(name, &elements, ty)
            }
            Sampling::Variance => Ok(Value::F(variance(&numbers(values)?) as f32)),
            Sampling::Deviation => Ok(Value::F(variance(&numbers(values)?).sqrt() as f32)),
            Sampling::Quantiles(fractions) => {
                let mut sorted = numbers(values)?;
                sorted.sort_by(f64::total_cmp);
                let at = |&fraction: &f32| Value::F(quantile(&sorted, f64::from(fraction)) as f32);
                Ok(Value::A(fractions.iter().map(at).collect()))
            }
            Sampling::Histogram(low, high, bins) => {
                let mut counts = vec![0; *bins];
                let (low, high) = (f64::from(*low), f64::from(*high));
                for x in numbers(values)? {
                    if (low..=high).contains(&x) {
                        let bin = ((x - low) * *bins as f64 / (high - low)) as usize;
                        counts[bin.min(bins - 1)] += 1;
                    }
                }
                Ok(Value::A(counts.into_iter().map(Value::I).collect()))
            }
        }
    }

    /// First by place in the world, then by the number of the world.
    fn sum(&self, values: &[Value], ty: &Ty) -> Outcome<Value> {
        let worlds = values.chunks(self.size as usize).map(|world| {
            let level = world.iter().map(|value| counted(value, ty)).collect();
            pairwise("+", level)
        });
        pairwise("+", worlds.collect::<Outcome<_>>()?)
    }

    /// The series of a run whose worlds have all ended.
    pub(super) fn series(
        &mut self,
        program: &Program,
        samples: Samples,
        steps: u32,
        open: &[Option<&'static str>],
    ) -> Outcome<Vec<Found>> {
        let mut found = Vec::new();
        for (series, samples) in program.series.iter().zip(samples.0) {
            self.open = open.iter().copied().find_map(|reason| reason);
            let mut rows = Vec::new();
            for values in samples {
                rows.push(match (series.whose, &series.sampling) {
                    (Whose::Population, Some(sampling)) => {
                        vec![self.combine(sampling, &values, &series.ty)?]
                    }
                    _ => values,
                });
            }
            let population = series.whose == Whose::Population;
            let of_each = (!population).then(|| rows[0].len());
            for leaf in leaves(&series.ty, self.structs) {
                let mut column = Column {
                    name: format!("{}{}", series.name, leaf.suffix),
                    float: leaf.scalar == Ty::F32,
                    words: Vec::new(),
                };
                for value in rows.iter().flatten() {
                    words(value, &leaf.path, &mut column.words);
                }
                let mut shape = vec![rows.len()];
                shape.extend(of_each);
                shape.extend(dimensions(&series.ty, &leaf.path, self.structs));
                let sampling = series.sampling.as_ref();
                found.push(Found {
                    whose: series.whose,
                    steps: (0..=steps).step_by(series.every as usize).collect(),
                    shape,
                    column,
                    near: sampling
                        .is_some_and(|it| matches!(it, Sampling::Variance | Sampling::Deviation)),
                    open: self.open.filter(|_| population),
                });
            }
        }
        Ok(found)
    }
}

/// The values as they count where all are needed at once.
fn numbers(values: &[Value]) -> Outcome<Vec<f64>> {
    let mut numbers = Vec::new();
    for value in values {
        match arithmetic::convert(value.clone(), &Ty::F32)? {
            Value::F(x) if x.is_nan() => {}
            Value::F(x) => numbers.push(f64::from(x)),
            other => return Err(format!("{other:?} is no number")),
        }
    }
    Ok(numbers)
}

/// With the mean taken off first: values of 24 bits lose next to nothing in double precision.
fn variance(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares = values.iter().map(|x| (x - mean) * (x - mean));
    squares.sum::<f64>() / (values.len() - 1) as f64
}

fn quantile(sorted: &[f64], fraction: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return f64::NAN;
    };
    let place = fraction * last as f64;
    let (low, high) = (
        sorted[place.floor() as usize],
        sorted[place.ceil() as usize],
    );
    let between = place - place.floor();
    match low == high {
        true => low,
        false => low + between * (high - low),
    }
}
