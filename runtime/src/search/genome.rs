//! Genomes: which values of a candidate are searched, in which order, and the genomes that a search begins
//! with.
//!
//! A population is one array, candidate by candidate, of numbers that the floats of the model hold; the genes
//! of a candidate are the values of its inputs, input by input in the order of the search, row by row within
//! an input.

use super::{
    Range, Search,
    draws::{Draws, Purpose},
    saved::Bound,
};
use crate::{
    array::{Array, doubles_of},
    breeding::InputWord,
    error::{Error, Role},
    field::unknown_of,
    simulation::Simulation,
    values::{Column, Values},
};
use rayon::prelude::*;
use sim_compiler::manifest::{Field, Input, Manifest, Param, Scalar, Source};

/// One input of the genome.
#[derive(Clone, Debug)]
pub(super) struct Part {
    pub(super) field: Field,
    /// The first gene.
    first: usize,
    source: Source,
    /// Where its genes begin, if not as the model draws them.
    from: Option<[f64; 2]>,
    /// What its genes are kept in.
    within: Option<[f64; 2]>,
}

impl Part {
    fn width(&self) -> usize {
        self.field.values() as usize
    }

    /// The genes of an input of this width.
    pub(super) fn genes(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.width()
    }

    /// See [`Layout::confine`].
    fn confine(&self, genes: &mut [f64]) {
        let rounded = |value: f64| match self.field.scalar {
            Scalar::F64 => value,
            _ => f64::from(value as f32),
        };
        let [low, high] = match self.within {
            Some(ends) => ends.map(rounded),
            None => [f64::NEG_INFINITY, f64::INFINITY],
        };
        for gene in genes {
            *gene = rounded(*gene).clamp(low, high);
        }
    }

    /// A value for a launch that is replaced.
    pub(super) fn zeros(&self, agents: u32) -> Array {
        let mut shape = vec![agents];
        shape.extend(self.field.dims());
        let words = vec![0; agents as usize * self.field.words() as usize];
        Array::shaped(self.field.scalar, words, shape)
    }
}

/// The genes of a candidate.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) parts: Vec<Part>,
    /// Genes of a candidate.
    pub(super) genes: usize,
}

impl Layout {
    /// The genes that a search is over.
    ///
    /// # Errors
    /// [`Error::NoGenome`], [`Error::UnknownName`], [`Error::SearchSetting`]
    pub(super) fn of(manifest: &Manifest, search: &Search) -> Result<Layout, Error> {
        let known: Vec<String> = (manifest.inputs.iter())
            .filter(|input| input.field.scalar.is_float())
            .map(|input| input.field.name.clone())
            .collect();
        let none = |message: String| Error::NoGenome {
            message,
            known: known.clone(),
        };
        if known.is_empty() {
            return Err(none(
                "the model has no float input to search over".to_owned(),
            ));
        }
        let mut parts: Vec<Part> = Vec::new();
        for name in &search.over {
            let inputs = named(manifest, name)?;
            if inputs.is_empty() {
                return Err(none(format!(
                    "input `{name}` belongs to worlds, and candidates are agents"
                )));
            }
            for input in inputs {
                let field = &input.field;
                if !field.scalar.is_float() {
                    let scalar = field.scalar.name();
                    return Err(none(format!(
                        "input `{}` holds {scalar}, and a search is over floats",
                        field.name
                    )));
                }
                if parts.iter().any(|part| part.field.name == field.name) {
                    continue;
                }
                parts.push(Part {
                    field: field.clone(),
                    first: parts.last().map_or(0, |part| part.genes().end),
                    source: input.source,
                    from: range_of(&search.from, field),
                    within: range_of(&search.within, field),
                });
            }
        }
        let genes = parts.last().map_or(0, |part| part.genes().end);
        if genes == 0 {
            return Err(none("no input is named to search over".to_owned()));
        }
        check_ranges(&search.from, &parts)?;
        check_ranges(&search.within, &parts)?;
        Ok(Layout { parts, genes })
    }

    /// The values of each input, a row per genome.
    pub(super) fn columns(&self, genomes: &[f64]) -> Vec<Column> {
        let count = genomes.len() / self.genes;
        let column = |part: &Part| {
            let values = match part.field.scalar {
                Scalar::F64 => Values::F64(self.gather(part, genomes, |gene| gene)),
                _ => Values::F32(self.gather(part, genomes, |gene| gene as f32)),
            };
            Column::with_values(&part.field, count as u32, values)
        };
        self.parts.iter().map(column).collect()
    }

    /// The genes of an input, genome by genome.
    fn gather<T: Copy + Default + Send>(
        &self,
        part: &Part,
        genomes: &[f64],
        value: impl Fn(f64) -> T + Sync,
    ) -> Vec<T> {
        let width = part.width();
        let mut values = vec![T::default(); genomes.len() / self.genes * width];
        (values.par_chunks_exact_mut(width))
            .zip(genomes.par_chunks_exact(self.genes))
            .for_each(|(values, genome)| {
                for (to, gene) in values.iter_mut().zip(&genome[part.genes()]) {
                    *to = value(*gene);
                }
            });
        values
    }

    /// What each word of a row of inputs is, of which the caller gave some.
    pub(super) fn words(&self, manifest: &Manifest, given: &[bool]) -> Vec<InputWord> {
        let mut words = vec![InputWord::Fixed; given.len()];
        for input in &manifest.inputs {
            let own = input.field.word as usize..(input.field.word + input.field.words()) as usize;
            for word in own.filter(|&word| !given[word]) {
                words[word] = InputWord::Drawn;
            }
        }
        for part in &self.parts {
            let ends = part.within.map(|ends| ends.map(|end| end as f32));
            let within = ends.unwrap_or([f32::NEG_INFINITY, f32::INFINITY]);
            for (number, word) in part.genes().zip(&mut words[part.field.word as usize..]) {
                let number = number as u32;
                *word = InputWord::Gene { number, within };
            }
        }
        words
    }

    /// Writes genomes of `f32` over rows of inputs.
    pub(super) fn put(&self, genomes: &[f64], rows: &mut [u32]) {
        let count = genomes.len() / self.genes;
        let stride = rows.len() / count;
        (rows
            .par_chunks_exact_mut(stride)
            .zip(genomes.par_chunks_exact(self.genes)))
        .for_each(|(row, genome)| {
            for part in &self.parts {
                let words = &mut row[part.field.word as usize..];
                for (word, gene) in words.iter_mut().zip(&genome[part.genes()]) {
                    *word = (*gene as f32).to_bits();
                }
            }
        });
    }

    /// The genomes of `f32` in rows of inputs.
    pub(super) fn take(&self, rows: &[u32], genomes: &mut [f64]) {
        let stride = rows.len() / (genomes.len() / self.genes);
        (genomes
            .par_chunks_exact_mut(self.genes)
            .zip(rows.par_chunks_exact(stride)))
        .for_each(|(genome, row)| {
            for part in &self.parts {
                let words = &row[part.field.word as usize..];
                for (gene, &word) in genome[part.genes()].iter_mut().zip(words) {
                    *gene = f32::from_bits(word).into();
                }
            }
        });
    }

    /// Rounds genes to what their inputs hold, and moves them into the ranges that they are kept in.
    pub(super) fn confine(&self, genomes: &mut [f64]) {
        let is_free = |part: &Part| part.within.is_none() && part.field.scalar == Scalar::F64;
        if self.parts.iter().all(is_free) {
            return;
        }
        genomes.par_chunks_exact_mut(self.genes).for_each(|genome| {
            for part in &self.parts {
                part.confine(&mut genome[part.genes()]);
            }
        });
    }
}

/// The inputs of agents that a name stands for: one, or those of a struct.
fn named<'a>(manifest: &'a Manifest, name: &str) -> Result<Vec<&'a Input>, Error> {
    let is_meant = |field: &Field| {
        let rest = field.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found: Vec<&Input> = (manifest.inputs.iter())
        .filter(|input| is_meant(&input.field))
        .collect();
    let mut of_worlds = manifest.world_rows().inputs.iter();
    if found.is_empty() && !of_worlds.any(|input| is_meant(&input.field)) {
        let names = manifest.inputs.iter().map(|it| it.field.name.as_str());
        return Err(unknown_of(manifest, Role::Input, name, names));
    }
    Ok(found)
}

/// The range that holds for an input: that of its own name, or the last one without a name.
fn range_of(ranges: &[Range], field: &Field) -> Option<[f64; 2]> {
    let named = |range: &&Range| match &range.input {
        Some(name) => (field.name.strip_prefix(name.as_str()))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('.')),
        None => false,
    };
    let own = ranges.iter().rev().find(named);
    let common = || ranges.iter().rev().find(|range| range.input.is_none());
    own.or_else(common).map(|range| [range.low, range.high])
}

fn check_ranges(ranges: &[Range], parts: &[Part]) -> Result<(), Error> {
    for range in ranges {
        let Range { input, low, high } = range;
        // The ends of a range are numbers of `f32` in a model whose floats are that.
        let holds = |part: &Part, end: f64| match part.field.scalar {
            Scalar::F64 => end.is_finite(),
            _ => (end as f32).is_finite(),
        };
        let is_float = |end: &f64| parts.iter().all(|part| holds(part, *end));
        if !(is_float(low) && is_float(high) && low < high) {
            return Err(Error::SearchSetting {
                message: format!("{low}:{high} is no range of floats"),
                help: "write the lower end first: `-1:1`".to_owned(),
            });
        }
        let Some(name) = input else { continue };
        let is_searched = |part: &Part| {
            let rest = part.field.name.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if !parts.iter().any(is_searched) {
            return Err(Error::SearchSetting {
                message: format!("a range is given for `{name}`, which is not searched over"),
                help: "name it among the inputs of the search, or leave the range out".to_owned(),
            });
        }
    }
    Ok(())
}

/// What gives genomes to begin with.
pub(super) struct Founders {
    simulation: Simulation,
    layout: Layout,
    draws: Draws,
    agents: u32,
}

impl Founders {
    pub(super) fn new(
        simulation: &Simulation,
        layout: &Layout,
        draws: Draws,
        agents: u32,
    ) -> Result<Founders, Error> {
        let mut simulation = simulation.with_outputs();
        for part in &layout.parts {
            // A launch wants a value for each input; a range replaces it.
            if part.from.is_some() && part.source == Source::Required {
                simulation.set_input(&part.field.name, part.zeros(agents))?;
            }
        }
        Ok(Founders {
            simulation,
            layout: layout.clone(),
            draws,
            agents,
        })
    }

    /// What a search that begins with these genomes is bound to.
    ///
    /// # Errors
    /// Those of a launch.
    pub(super) fn bound(&self, search: &Search, genomes: &[f64]) -> Result<Bound, Error> {
        Ok(Bound::new(self.simulation.identity()?, search, genomes))
    }

    /// The params of the model.
    pub(super) fn params(&self) -> &[Param] {
        &self.simulation.artifact().manifest.params
    }

    /// The genomes of a whole population, another one for each number. Number 0 has what the launch gives or
    /// draws. Those after it are drawn anew by the model; an input that the launch gives, or that has a
    /// default, has for each gene the value that a random candidate of number 0 has there. Inputs with a
    /// range are uniform in it.
    ///
    /// # Errors
    /// Those of a launch.
    pub(super) fn population(&self, number: u32) -> Result<Vec<f64>, Error> {
        let mut genomes = self.launched(0)?;
        let is_redrawn = |part: &Part| {
            part.source == Source::Drawn && !self.simulation.gives_input(&part.field.name)
        };
        if number > 0 {
            let redrawn = match self.layout.parts.iter().any(is_redrawn) {
                true => self.launched(number)?,
                false => Vec::new(),
            };
            for part in self.layout.parts.iter().filter(|part| part.from.is_none()) {
                match is_redrawn(part) {
                    true => self.copy(part, &redrawn, &mut genomes),
                    false => self.resample(part, number, &mut genomes),
                }
            }
        }
        for part in &self.layout.parts {
            if let Some(range) = part.from {
                self.draw(part, range, number, &mut genomes);
            }
        }
        self.layout.confine(&mut genomes);
        Ok(genomes)
    }

    /// The genomes as a launch gives or draws them.
    fn launched(&self, number: u32) -> Result<Vec<f64>, Error> {
        let launch = match number {
            0 => self.simulation.complete_launch()?,
            _ => {
                let mut simulation = self.simulation.with_outputs();
                // Not among the seeds of runs, whose numbers are small.
                simulation.set_seed(self.draws.run_seed(number, u32::MAX));
                simulation.complete_launch()?
            }
        };
        let stride = self.simulation.artifact().manifest.input_words as usize;
        let mut genomes = vec![0.0; self.agents as usize * self.layout.genes];
        (genomes.par_chunks_exact_mut(self.layout.genes))
            .zip(launch.inputs.par_chunks_exact(stride))
            .for_each(|(genome, row)| {
                for part in &self.layout.parts {
                    let words = &row[part.field.word as usize..][..part.field.words() as usize];
                    let genes = &mut genome[part.genes()];
                    match part.field.scalar {
                        Scalar::F64 => genes
                            .iter_mut()
                            .zip(doubles_of(words))
                            .for_each(|(gene, value)| *gene = value),
                        _ => genes
                            .iter_mut()
                            .zip(words)
                            .for_each(|(gene, &word)| *gene = f32::from_bits(word).into()),
                    }
                }
            });
        Ok(genomes)
    }

    fn copy(&self, part: &Part, from: &[f64], to: &mut [f64]) {
        let genes = self.layout.genes;
        for (to, from) in to.chunks_exact_mut(genes).zip(from.chunks_exact(genes)) {
            to[part.genes()].copy_from_slice(&from[part.genes()]);
        }
    }

    fn resample(&self, part: &Part, number: u32, genomes: &mut [f64]) {
        let genes = self.layout.genes;
        let before = genomes.to_vec();
        (genomes.par_chunks_exact_mut(genes).enumerate()).for_each(|(candidate, genome)| {
            let drawn = self.draws.of(Purpose::Found, number, candidate as u32);
            for gene in part.genes() {
                let source = drawn.below(gene as u32, self.agents as usize);
                genome[gene] = before[source * genes + gene];
            }
        });
    }

    fn draw(&self, part: &Part, [low, high]: [f64; 2], number: u32, genomes: &mut [f64]) {
        let genes = self.layout.genes;
        (genomes.par_chunks_exact_mut(genes).enumerate()).for_each(|(candidate, genome)| {
            let drawn = self.draws.of(Purpose::Found, number, candidate as u32);
            for gene in part.genes() {
                genome[gene] = low + (high - low) * drawn.unit(gene as u32);
            }
        });
    }

    /// The size of each gene: its standard deviation among the genomes that the search begins with. Where
    /// they are all the same, their absolute value, or 1 if that is 0.
    pub(super) fn scales(&self, genomes: &[f64]) -> Vec<f64> {
        let genes = self.layout.genes;
        let count = (genomes.len() / genes) as f64;
        let mut sums = vec![0.0; genes];
        for genome in genomes.chunks_exact(genes) {
            for (sum, gene) in sums.iter_mut().zip(genome) {
                *sum += gene;
            }
        }
        let means: Vec<f64> = sums.iter().map(|sum| sum / count).collect();
        let mut squares = vec![0.0; genes];
        for genome in genomes.chunks_exact(genes) {
            for ((square, gene), mean) in squares.iter_mut().zip(genome).zip(&means) {
                *square += (gene - mean).powi(2);
            }
        }
        (squares.iter().zip(&means))
            .map(|(square, mean)| {
                let deviation = (square / count).sqrt();
                // Below it there is nothing but the rounding of the mean.
                match deviation > 1e-7 * mean.abs() {
                    true => deviation,
                    false if *mean != 0.0 => mean.abs(),
                    false => 1.0,
                }
            })
            .collect()
    }
}
