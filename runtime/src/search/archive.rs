//! The best candidates of a search, of all generations.

/// A candidate with what is known of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept {
    pub(super) genome: Vec<f64>,
    /// The sum of its scores: a candidate that is kept in several generations has one of each.
    pub(super) sum: f64,
    pub(super) count: u32,
    /// The generation in which it was found.
    pub(super) generation: u32,
}

impl Kept {
    /// Larger is better.
    pub(super) fn score(&self) -> f64 {
        self.sum / f64::from(self.count)
    }

    fn is(&self, genome: &[f64]) -> bool {
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        self.genome.iter().zip(genome).all(same)
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
    pub(super) fn take(&mut self, generation: u32, genomes: &[f64], scores: &[f64]) {
        let genes = genomes.len() / scores.len().max(1);
        let genome = |k: usize| &genomes[k * genes..(k + 1) * genes];
        // Most candidates differ from all that are kept in their first gene.
        let mut firsts: Vec<u64> = self
            .kept
            .iter()
            .map(|kept| kept.genome[0].to_bits())
            .collect();
        firsts.sort_unstable();
        let mut fresh: Vec<usize> = Vec::new();
        for (k, score) in scores.iter().enumerate() {
            if !score.is_finite() {
                continue;
            }
            let first = genomes[k * genes].to_bits();
            let known = match firsts.binary_search(&first) {
                Ok(_) => self.kept.iter_mut().find(|kept| kept.is(genome(k))),
                Err(_) => None,
            };
            match known {
                Some(kept) => {
                    kept.sum += score;
                    kept.count += 1;
                }
                None => fresh.push(k),
            }
        }
        // The others would be last.
        if self.kept.len() == self.most {
            let least = self.kept.iter().map(Kept::score).min_by(f64::total_cmp);
            fresh.retain(|&k| least.is_none_or(|least| scores[k].total_cmp(&least).is_gt()));
        }
        fresh.sort_unstable_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        // Children that are the same count once.
        let mut taken = 0;
        for k in fresh {
            if taken == self.most {
                break;
            }
            let known = self.kept.iter().any(|kept| kept.is(genome(k)));
            if !known {
                self.kept.push(Kept {
                    genome: genome(k).to_vec(),
                    sum: scores[k],
                    count: 1,
                    generation,
                });
                taken += 1;
            }
        }
        // The sort is stable: an older one stays before a younger one that is no better.
        let better = |a: &Kept, b: &Kept| b.score().total_cmp(&a.score());
        (self.kept).sort_by(|a, b| better(a, b).then(b.count.cmp(&a.count)));
        self.kept.truncate(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_is_averaged_away_and_nobody_is_kept_twice() {
        let mut archive = Archive::new(2);
        archive.take(
            0,
            &[1.0, 2.0, 3.0, 3.0],
            &[1.0, 9.0, f64::NEG_INFINITY, 5.0],
        );
        let kept: Vec<f64> = archive.kept.iter().map(|kept| kept.genome[0]).collect();
        assert_eq!(kept, [2.0, 3.0]);
        archive.take(1, &[2.0, 4.0, 4.0], &[0.0, 4.75, 4.75]);
        let kept: Vec<(f64, f64, u32)> = (archive.kept.iter())
            .map(|kept| (kept.genome[0], kept.score(), kept.generation))
            .collect();
        assert_eq!(kept, [(3.0, 5.0, 0), (4.0, 4.75, 1)]);
    }
}
