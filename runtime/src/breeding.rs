//! The operators of the genetic algorithm (crossover and mutation), as the host and a device compute them to
//! the same bits, and what a device is asked for that breeds whole generations.
//!
//! Everything random is an integer: chances are compared as words, and normal numbers come from a table of
//! integers ([`Normals`]). What is left for floats are sums and products, which every device rounds alike if
//! it does not contract them; `gpu/breeding/breed.wgsl` sees to that. A model in `f32` has operators in
//! `f32`, one in `f64`, which no device breeds, in `f64`.

mod normals;

use crate::bind::Launch;
pub(crate) use normals::Normals;
use sim_compiler::random::{Generator, unit};
use std::{
    ops::{Add, Mul, Range, Sub},
    sync::Arc,
};

/// The numbers of the draws of a child.
pub(crate) mod number {
    /// Whether it has two parents, and which crossover it has.
    pub(crate) const CROSSES: u32 = 0;
    pub(crate) const BLENDS: u32 = 1;
    /// The tournaments of both parents.
    pub(crate) const TOURNAMENTS: [u32; 2] = [0x100, 0x200];
    /// Of each gene three: which parent, whether it mutates, and how.
    pub(crate) const GENES: u32 = 0x300;
    pub(crate) const OF_GENE: usize = 3;

    /// That of a candidate of a tournament. A large one takes numbers beyond those of genes.
    pub(crate) fn candidate(tournament: u32, place: u32) -> u32 {
        tournament + (place & 0xff) + ((place >> 8) << 24)
    }
}

/// A chance, as the words below which it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chance(u32);

impl Chance {
    pub(crate) fn new(chance: f64) -> Chance {
        // A cast saturates.
        Chance((chance * 4_294_967_296.0) as u32)
    }

    /// Whether it happens with this word. The largest chance always does.
    #[inline(always)]
    pub(crate) fn happens(self, word: u32) -> bool {
        word < self.0 || self.0 == u32::MAX
    }

    pub(crate) fn words(self) -> u32 {
        self.0
    }
}

/// The floats of a model.
pub(crate) trait Real:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self>
{
    /// What is nearer to 0 becomes 0, as on devices that know no subnormal numbers.
    const LEAST: Self;
    const ZERO: Self;
    fn of(value: f64) -> Self;
    fn wide(self) -> f64;
    fn size(self) -> Self;
}

impl Real for f32 {
    const LEAST: f32 = f32::MIN_POSITIVE;
    const ZERO: f32 = 0.0;

    #[inline(always)]
    fn of(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn size(self) -> f32 {
        self.abs()
    }
}

impl Real for f64 {
    const LEAST: f64 = f64::MIN_POSITIVE;
    const ZERO: f64 = 0.0;

    #[inline(always)]
    fn of(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    #[inline(always)]
    fn size(self) -> f64 {
        self.abs()
    }
}

/// How the genes of two parents become those of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mating {
    /// The child has those of the first one.
    Copy,
    /// Each is that of one of them.
    Uniform,
    /// Each is between them, or somewhat beyond.
    Blend,
}

/// The settings of the operators, which all generations share.
#[derive(Debug)]
pub(crate) struct Operators {
    /// The seed of their draws.
    pub(crate) seed: u64,
    /// Candidates of a tournament, at least 1.
    pub(crate) tournament: u32,
    /// That a child has two parents, and that these blend.
    pub(crate) crosses: Chance,
    pub(crate) blends: Chance,
    /// That a gene mutates.
    pub(crate) mutates: Chance,
    /// How far blends reach beyond the parents, in parts of their distance.
    pub(crate) blend: f64,
    /// The best of an island that live on.
    pub(crate) keep: u32,
    pub(crate) islands: u32,
    /// The best of an island that take places of the next one in a migration.
    pub(crate) migrants: u32,
    /// The size of each gene.
    pub(crate) scales: Vec<f64>,
    pub(crate) normals: Normals,
}

impl Operators {
    /// The candidates of an island, where there are so many in all.
    pub(crate) fn candidates(&self, island: usize, agents: u32) -> Range<usize> {
        let first = |k: usize| (k as u64 * u64::from(agents) / u64::from(self.islands)) as usize;
        first(island)..first(island + 1)
    }

    /// How the parents of a child mate, by the words of [`number::CROSSES`] and [`number::BLENDS`].
    pub(crate) fn mating(&self, crosses: u32, blends: u32) -> Mating {
        match (self.crosses.happens(crosses), self.blends.happens(blends)) {
            (false, _) => Mating::Copy,
            (true, false) => Mating::Uniform,
            (true, true) => Mating::Blend,
        }
    }

    /// A gene of a child, whose parents have `a` and `b`; mutations have this size, and the gene has three
    /// words.
    #[inline(always)]
    pub(crate) fn gene<R: Real>(
        &self,
        mating: Mating,
        [a, b]: [R; 2],
        (size, scale): (R, R),
        [pick, mutates, normal]: [u32; number::OF_GENE],
    ) -> R {
        let mut value = match mating {
            Mating::Copy => a,
            Mating::Uniform => {
                if pick < 1 << 31 {
                    a
                } else {
                    b
                }
            }
            Mating::Blend => {
                let blend = R::of(self.blend);
                let place = R::of(1.0 + 2.0 * self.blend) * R::of(unit(pick).into()) - blend;
                a + (b - a) * place
            }
        };
        if self.mutates.happens(mutates) {
            value = value + size * scale * R::of(self.normals.value(normal).into());
        }
        if value.size() < R::LEAST {
            R::ZERO
        } else {
            value
        }
    }
}

/// What is known of a genome without having it: two genomes with the same fingerprint are taken as the
/// same. The genes are 32-bit words.
pub(crate) fn fingerprint_of(genes: impl Iterator<Item = u32>) -> [u32; 2] {
    genes.zip(0..).fold([0, 0], |[x, y], (gene, number)| {
        let key = [gene, number, 0, 0];
        let word = |n| Generator::KeyedHash.word(key, n);
        [x.wrapping_add(word(0)), y.wrapping_add(word(1))]
    })
}

/// What a word of a row of inputs is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum InputWord {
    /// A gene, with its number and what it is kept in.
    Gene { number: u32, within: [f32; 2] },
    /// Not searched: an agent has the same in all runs.
    Fixed,
    /// Not searched: each run draws it.
    Drawn,
}

/// A generation to be bred.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) number: u32,
    pub(crate) migrates: bool,
    /// The seed of each of its runs.
    pub(crate) seeds: Vec<u64>,
    /// What each of its runs draws, if any does: agent by agent its [`InputWord::Drawn`].
    pub(crate) drawn: Vec<Vec<u32>>,
    /// The size of mutations on each island.
    pub(crate) sizes: Vec<f32>,
}

/// A population that was evaluated.
pub(crate) struct Population {
    /// A row of inputs for each agent.
    pub(crate) rows: Vec<u32>,
    /// The sum of the fitness of each.
    pub(crate) sums: Vec<f32>,
}

/// Generations that a device is to breed and evaluate, one after the other.
pub(crate) struct Plan<'a> {
    pub(crate) operators: &'a Operators,
    /// The words of a row of inputs.
    pub(crate) words: &'a [InputWord],
    /// The word of the outputs that is the fitness, and whether a small one is good.
    pub(crate) fitness: u32,
    pub(crate) minimises: bool,
    pub(crate) launch: &'a Launch,
    pub(crate) generations: &'a [Planned],
    /// Who the population belongs to that the device holds.
    pub(crate) holder: &'a Arc<()>,
    /// How many generations before these were submitted since rows were last wanted.
    pub(crate) behind: usize,
    /// The parents of the first generation, for a device that does not hold them; none if they are of those.
    pub(crate) parents: Option<&'a dyn Fn() -> Population>,
}

/// Words of the scores of an agent: the sum of its fitness, and what [`fingerprint_of`] gives.
pub(crate) const SCORE_WORDS: usize = 3;

/// The generations of a submission, at least one.
pub(crate) struct Bred {
    /// [`SCORE_WORDS`] for each agent, generation by generation: those of one are the sums of the fitness in
    /// all runs, agent by agent, and behind them what [`fingerprint_of`] gives.
    pub(crate) scores: Vec<u32>,
}

impl Bred {
    /// The sums and fingerprints of each generation, where there are so many agents.
    pub(crate) fn generations(&self, agents: usize) -> impl Iterator<Item = (&[f32], &[[u32; 2]])> {
        self.scores
            .chunks_exact(SCORE_WORDS * agents)
            .map(move |words| {
                let (sums, fingerprints) = words.split_at(agents);
                (bytemuck::cast_slice(sums), fingerprints.as_chunks().0)
            })
    }
}

/// Whose rows of inputs are wanted. Generations are counted from the first of those that were bred since rows
/// were last wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Wanted<'a> {
    /// Those of the parents of the next generation.
    Parents,
    /// Those of some candidates, each with its generation. From now on the parents of the next generation are
    /// those of the generation `parents`.
    Of {
        parents: usize,
        candidates: &'a [[usize; 2]],
    },
}
