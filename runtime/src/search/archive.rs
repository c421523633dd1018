//! The best candidates of a search, of all generations.

use crate::breeding::fingerprint_of;

/// A candidate with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    /// Its genes; empty while they are on a device.
    pub(super) genome: Vec<f64>,
    /// What stands for them there.
    fingerprint: [u32; 2],
    /// Where they are: the generation, counted from the first of those that were bred last, and the
    /// candidate.
    place: Option<[usize; 2]>,
    /// The sum of its scores: a candidate that is kept in several generations has one of each.
    pub(super) sum: f64,
    pub(super) count: u32,
    /// The generation in which it was found.
    pub(super) generation: u32,
}

impl Kept {
    /// With a genome that is here.
    pub(super) fn new(genome: Vec<f64>, sum: f64, count: u32, generation: u32) -> Kept {
        Kept {
            fingerprint: fingerprint_of(genome.iter().map(|&gene| (gene as f32).to_bits())),
            genome,
            place: None,
            sum,
            count,
            generation,
        }
    }

    /// Larger is better.
    pub(super) fn score(&self) -> f64 {
        self.sum / f64::from(self.count)
    }
}

/// The candidates of a generation.
pub(super) trait Candidates {
    /// What two equal candidates have in common, and few others.
    fn mark(&self, candidate: usize) -> u64;

    /// The mark of one that is kept.
    fn mark_of(&self, kept: &Kept) -> u64;

    /// Whether one is the same as one that is kept.
    fn is(&self, candidate: usize, kept: &Kept) -> bool;

    /// One that is to be kept, with its score.
    fn kept(&self, candidate: usize, score: f64, generation: u32) -> Kept;
}

/// Candidates whose genomes are here.
pub(super) struct Here<'a> {
    pub(super) genomes: &'a [f64],
    /// Genes of a candidate.
    pub(super) genes: usize,
}

impl Here<'_> {
    fn genome(&self, candidate: usize) -> &[f64] {
        &self.genomes[candidate * self.genes..(candidate + 1) * self.genes]
    }
}

impl Candidates for Here<'_> {
    fn mark(&self, candidate: usize) -> u64 {
        // Most candidates differ from all that are kept in their first gene.
        self.genomes[candidate * self.genes].to_bits()
    }

    fn mark_of(&self, kept: &Kept) -> u64 {
        kept.genome[0].to_bits()
    }

    fn is(&self, candidate: usize, kept: &Kept) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        kept.genome.iter().zip(self.genome(candidate)).all(same)
    }

    fn kept(&self, candidate: usize, score: f64, generation: u32) -> Kept {
        Kept::new(self.genome(candidate).to_vec(), score, 1, generation)
    }
}

/// Candidates whose genomes are on a device.
pub(super) struct There<'a> {
    pub(super) fingerprints: &'a [[u32; 2]],
    /// Their generation, counted from the first of those that were bred last.
    pub(super) bred: usize,
}

impl Candidates for There<'_> {
    fn mark(&self, candidate: usize) -> u64 {
        mark(self.fingerprints[candidate])
    }

    fn mark_of(&self, kept: &Kept) -> u64 {
        mark(kept.fingerprint)
    }

    fn is(&self, candidate: usize, kept: &Kept) -> bool {
        self.fingerprints[candidate] == kept.fingerprint
    }

    fn kept(&self, candidate: usize, score: f64, generation: u32) -> Kept {
        Kept {
            genome: Vec::new(),
            fingerprint: self.fingerprints[candidate],
            place: Some([self.bred, candidate]),
            sum: score,
            count: 1,
            generation,
        }
    }
}

fn mark([low, high]: [u32; 2]) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// A set of marks that may seem to have others: a filter of one hash function (B. H. Bloom, Communications of
/// the ACM 13, 1970).
struct Marks([u64; Marks::WORDS]);

impl Marks {
    const WORDS: usize = 64;

    fn of(marks: impl Iterator<Item = u64>) -> Marks {
        let mut words = [0; Marks::WORDS];
        for mark in marks {
            let (word, bit) = Marks::place(mark);
            words[word] |= bit;
        }
        Marks(words)
    }

    fn may_have(&self, mark: u64) -> bool {
        let (word, bit) = Marks::place(mark);
        self.0[word] & bit != 0
    }

    fn place(mark: u64) -> (usize, u64) {
        // The highest bits of the product depend on all of the mark.
        let hash = mark.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 52;
        ((hash >> 6) as usize, 1 << (hash & 63))
    }
}

/// The best candidates, of which no two are the same; the best first, of equals the one that was tried more
/// often, and then the older one.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    pub(super) kept: Vec<Kept>,
    most: usize,
}

impl Archive {
    pub(super) fn new(most: u32) -> Archive {
        Archive {
            kept: Vec::new(),
            most: most.max(1) as usize,
        }
    }

    /// Takes the candidates of a generation. One that is kept already gets the mean of its scores, so that
    /// one that had luck loses its place when it is tried again.
    pub(super) fn take(&mut self, generation: u32, all: &impl Candidates, scores: &[f64]) {
        let marks = Marks::of(self.kept.iter().map(|kept| all.mark_of(kept)));
        let has_fitness = |k: usize| scores[k].is_finite();
        let may_be_kept = |k: usize| marks.may_have(all.mark(k));
        for k in (0..scores.len()).filter(|&k| has_fitness(k) && may_be_kept(k)) {
            if let Some(kept) = self.kept.iter_mut().find(|kept| all.is(k, kept)) {
                kept.sum += scores[k];
                kept.count += 1;
            }
        }
        // The others would be last.
        let least = match self.kept.len() == self.most {
            true => self.kept.iter().map(Kept::score).min_by(f64::total_cmp),
            false => None,
        };
        let is_better = |k: usize| least.is_none_or(|least| scores[k].total_cmp(&least).is_gt());
        let is_kept = |k: usize| may_be_kept(k) && self.kept.iter().any(|kept| all.is(k, kept));
        let mut fresh: Vec<usize> = (0..scores.len())
            .filter(|&k| has_fitness(k) && is_better(k) && !is_kept(k))
            .collect();
        let order = |&a: &usize, &b: &usize| scores[b].total_cmp(&scores[a]).then(a.cmp(&b));
        // Children that are the same count once, so that more than a few of the best may be looked at.
        let (mut rest, mut some) = (&mut fresh[..], self.most);
        let mut taken = 0;
        while taken < self.most && !rest.is_empty() {
            some = some.saturating_mul(4);
            let count = rest.len().min(some);
            rest.select_nth_unstable_by(count - 1, order);
            let (best, others) = rest.split_at_mut(count);
            best.sort_unstable_by(order);
            for &mut k in best {
                let known = self.kept.iter().any(|kept| all.is(k, kept));
                if !known && taken < self.most {
                    self.kept.push(all.kept(k, scores[k], generation));
                    taken += 1;
                }
            }
            rest = others;
        }
        // The sort is stable: an older one stays before a younger one that is no better.
        let better = |a: &Kept, b: &Kept| b.score().total_cmp(&a.score());
        (self.kept).sort_by(|a, b| better(a, b).then(b.count.cmp(&a.count)));
        self.kept.truncate(self.most);
    }

    /// Where the genomes are that are on a device.
    pub(super) fn places(&self) -> Vec<[usize; 2]> {
        self.kept.iter().filter_map(|kept| kept.place).collect()
    }

    /// Takes these genomes, in the same order.
    pub(super) fn fetch(&mut self, genomes: impl Iterator<Item = Vec<f64>>) {
        let there = self.kept.iter_mut().filter(|kept| kept.place.is_some());
        for (kept, genome) in there.zip(genomes) {
            kept.genome = genome;
            kept.place = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_is_averaged_away_and_nobody_is_kept_twice() {
        let mut archive = Archive::new(2);
        let here = |genomes| Here { genomes, genes: 1 };
        archive.take(
            0,
            &here(&[1.0, 2.0, 3.0, 3.0]),
            &[1.0, 9.0, f64::NEG_INFINITY, 5.0],
        );
        let kept: Vec<f64> = archive.kept.iter().map(|kept| kept.genome[0]).collect();
        assert_eq!(kept, [2.0, 3.0]);
        archive.take(1, &here(&[2.0, 4.0, 4.0]), &[0.0, 4.75, 4.75]);
        let kept: Vec<(f64, f64, u32)> = (archive.kept.iter())
            .map(|kept| (kept.genome[0], kept.score(), kept.generation))
            .collect();
        assert_eq!(kept, [(3.0, 5.0, 0), (4.0, 4.75, 1)]);
    }

    #[test]
    fn the_best_are_found_behind_many_that_are_the_same() {
        let genomes: Vec<f64> = (0..100).map(|k| f64::from(k).max(60.0)).collect();
        let scores: Vec<f64> = (0..100).map(|k| f64::from(99 - k)).collect();
        let mut archive = Archive::new(3);
        let genes = 1;
        let genomes = &genomes;
        archive.take(0, &Here { genomes, genes }, &scores);
        let kept: Vec<(f64, f64)> = (archive.kept.iter())
            .map(|kept| (kept.genome[0], kept.score()))
            .collect();
        assert_eq!(kept, [(60.0, 99.0), (61.0, 38.0), (62.0, 37.0)]);
    }
}
