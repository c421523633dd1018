//! A search between two generations as bytes: eight bytes of magic, the version of the form, a header in JSON
//! after its length, then all numbers and all genes as `f64`, little-endian, and a checksum of everything
//! before it.

use super::{Generation, Memory, Search, SearchSeconds, archive::Kept, searching::Searching};
use crate::{
    error::Error,
    simulation::Simulation,
    snapshot::{Identity, differs},
};
use serde::{Deserialize, Serialize};
use sim_compiler::manifest::Param;
use std::io::{self, Read, Write};

/// How a saved search begins. The end of the line shows a file that was converted as a text.
const MAGIC: [u8; 8] = *b"SIMFND\r\n";
/// The version of the form.
const VERSION: u32 = 3;
/// Bytes of a checksum.
const CHECKSUM: usize = blake3::OUT_LEN;
/// Numbers of a generation, and of an elite.
const EACH: [usize; 2] = [4, 3];

/// A search between two generations: [`Searching::save`] makes one, and [`Simulation::resume_search`] goes on
/// with it, to the same bits as a search that was not interrupted.
#[derive(Clone, Debug)]
pub struct SavedSearch {
    header: Header,
    numbers: Vec<f64>,
    genes: Vec<f64>,
}

/// Everything but numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Header {
    bound: Bound,
    generations: usize,
    elites: usize,
    /// Genes of a candidate.
    genes: usize,
    /// Seconds for runs and for operators.
    seconds: [f64; 2],
    /// The number of all numbers and of all genes.
    counts: [usize; 2],
}

/// What a search is bound to: it goes on only where all of it is the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Bound {
    launch: Identity,
    /// The settings that decide its results, with what they are.
    settings: Vec<(String, String)>,
    /// A hash of the first genomes.
    genomes: String,
}

impl Bound {
    pub(super) fn new(launch: Identity, search: &Search, genomes: &[f64]) -> Bound {
        // Neither the number of generations nor the target: a search may be taken further.
        let settings = [
            ("the fitness", search.fitness.clone()),
            ("the aim", format!("{:?}", search.aim)),
            ("the list of inputs", search.over.join(", ")),
            ("the method", format!("{:?}", search.method)),
            ("the number of evaluations", search.evaluations.to_string()),
            ("common draws", search.common_draws.to_string()),
            ("fixed draws", search.fixed_draws.to_string()),
            ("where genomes begin", format!("{:?}", search.from)),
            ("what genes are kept in", format!("{:?}", search.within)),
            ("the number of elites", search.elites.to_string()),
            ("the seed of the search", search.seed.to_string()),
        ];
        let mut hasher = blake3::Hasher::new();
        hasher.update(bytemuck::cast_slice(genomes));
        Bound {
            launch,
            settings: settings.map(|(what, is)| (what.to_owned(), is)).into(),
            genomes: hasher.finalize().to_hex().to_string(),
        }
    }

    /// Checks that a search here is the same as the one that was saved.
    ///
    /// # Errors
    /// [`Error::SnapshotModel`], [`Error::SnapshotDiffers`]
    fn check(&self, here: &Bound, params: &[Param]) -> Result<(), Error> {
        for ((what, there), (_, here)) in self.settings.iter().zip(&here.settings) {
            if there != here {
                return Err(differs(what, Some([here, there])));
            }
        }
        if self.launch != here.launch {
            return Err(self.launch.difference(&here.launch, params));
        }
        match self == here {
            true => Ok(()),
            false => Err(differs("the first generation", None)),
        }
    }
}

fn broken(why: &str) -> Error {
    Error::SnapshotBroken {
        why: why.to_owned(),
    }
}

impl SavedSearch {
    /// Writes it.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, mut to: impl Write) -> io::Result<()> {
        let header = serde_json::to_vec(&self.header)?;
        let mut bytes = Vec::with_capacity(header.len() + 8 * self.numbers.len() + 64);
        bytes.extend(MAGIC);
        bytes.extend(VERSION.to_le_bytes());
        bytes.extend((header.len() as u64).to_le_bytes());
        bytes.extend(header);
        bytes.extend(self.numbers.iter().flat_map(|number| number.to_le_bytes()));
        bytes.extend(self.genes.iter().flat_map(|gene| gene.to_le_bytes()));
        let sum = blake3::hash(&bytes);
        to.write_all(&bytes)?;
        to.write_all(sum.as_bytes())
    }

    /// Reads one.
    ///
    /// # Errors
    /// [`Error::SnapshotBroken`]
    pub fn read(mut from: impl Read) -> Result<SavedSearch, Error> {
        let mut bytes = Vec::new();
        (from.read_to_end(&mut bytes)).map_err(|error| broken(&error.to_string()))?;
        if !bytes.starts_with(&MAGIC) {
            return Err(broken("it does not begin as a saved search does"));
        }
        let end = bytes.len().saturating_sub(CHECKSUM);
        let (content, sum) = bytes.split_at(end);
        if blake3::hash(content).as_bytes() != sum {
            return Err(broken(
                "its checksum is wrong, so some of its bytes are, or are missing",
            ));
        }
        SavedSearch::parse(&content[MAGIC.len()..])
            .ok_or_else(|| broken("it is of another version of the program"))
    }

    fn parse(content: &[u8]) -> Option<SavedSearch> {
        let (version, rest) = content.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<8>()?;
        if u32::from_le_bytes(*version) != VERSION {
            return None;
        }
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (header, rest) = rest.split_at_checked(length)?;
        let header: Header = serde_json::from_slice(header).ok()?;
        let [numbers, genes] = header.counts;
        let (numbers, genes_bytes) = rest.split_at_checked(numbers.checked_mul(8)?)?;
        if genes_bytes.len() != genes.checked_mul(8)? {
            return None;
        }
        let (numbers, _) = numbers.as_chunks::<8>();
        let (genes, _) = genes_bytes.as_chunks::<8>();
        Some(SavedSearch {
            numbers: numbers.iter().map(|it| f64::from_le_bytes(*it)).collect(),
            genes: genes.iter().map(|it| f64::from_le_bytes(*it)).collect(),
            header,
        })
    }

    /// The generations that are done.
    pub fn generations(&self) -> usize {
        self.header.generations
    }
}

impl Searching {
    /// The search as it is.
    ///
    /// # Errors
    /// Those of a device that has the genomes of the last generation.
    pub fn save(&mut self) -> Result<SavedSearch, Error> {
        self.fetch()?;
        let mut numbers = Vec::new();
        let mut genes = Vec::new();
        for seen in &self.history {
            numbers.extend([seen.best, seen.mean, seen.best_so_far, seen.finite.into()]);
        }
        for kept in &self.archive.kept {
            numbers.extend([kept.sum, kept.count.into(), kept.generation.into()]);
            genes.extend(&kept.genome);
        }
        let memory = self.strategy.memory();
        numbers.extend(memory.numbers);
        genes.extend(memory.genes);
        Ok(SavedSearch {
            header: Header {
                bound: self.bound.clone(),
                generations: self.history.len(),
                elites: self.archive.kept.len(),
                genes: self.layout.genes,
                seconds: [self.seconds.evaluate, self.seconds.vary],
                counts: [numbers.len(), genes.len()],
            },
            numbers,
            genes,
        })
    }

    /// Takes what was saved of the same search; nothing if its arrays do not fit.
    fn take(&mut self, saved: SavedSearch) -> Option<()> {
        let Header {
            generations,
            elites,
            genes,
            seconds,
            ..
        } = saved.header;
        if genes != self.layout.genes {
            return None;
        }
        let mut memory = Memory {
            numbers: saved.numbers,
            genes: saved.genes,
            taken: [0; 2],
        };
        for number in 0..generations {
            let numbers = memory.take_numbers(EACH[0])?;
            self.history.push(Generation {
                number: number as u32,
                best: numbers[0],
                mean: numbers[1],
                best_so_far: numbers[2],
                finite: numbers[3] as u32,
            });
        }
        for _ in 0..elites {
            let numbers = memory.take_numbers(EACH[1])?;
            let genome = memory.take_genes(genes)?;
            let [count, generation] = [1, 2].map(|at| numbers[at] as u32);
            (self.archive.kept).push(Kept::new(genome, numbers[0], count, generation));
        }
        self.seconds = SearchSeconds {
            evaluate: seconds[0],
            vary: seconds[1],
        };
        if generations > 0 {
            self.strategy.remember(&mut memory)?;
        }
        (generations == 0 || memory.is_empty()).then_some(())
    }
}

impl Simulation {
    /// Goes on with a search that was saved. It must be the same search of the same model and launch; the
    /// number of generations and the target may be others.
    ///
    /// # Errors
    /// Those of [`Simulation::begin_search`], [`Error::SnapshotModel`], [`Error::SnapshotDiffers`] and
    /// [`Error::SnapshotBroken`].
    pub fn resume_search(&self, search: &Search, saved: SavedSearch) -> Result<Searching, Error> {
        let mut searching = self.begin_search(search)?;
        let there = &saved.header.bound;
        there.check(&searching.bound, searching.params())?;
        let taken = searching.take(saved);
        taken.ok_or_else(|| broken("its arrays have other lengths than its numbers say"))?;
        Ok(searching)
    }
}
