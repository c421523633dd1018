//! Mutated sources: examples, benchmarks and test specimens with tokens and bytes deleted, doubled,
//! swapped, replaced, spliced, nested and repeated. A mutant is a pure function of its seed and of the
//! corpus.

mod bytes;
mod nest;
pub mod tokens;

use crate::dice::Dice;
use std::path::Path;

/// A mutant stays below this many bytes.
pub const MOST_BYTES: usize = 400_000;

/// The sources that mutants are made of.
pub struct Corpus {
    /// Path below the repository's top, and text.
    pub files: Vec<(String, String)>,
}

/// A mutated source.
pub struct Mutant {
    /// The file that it was made of.
    pub origin: String,
    /// What was done to it, in order.
    pub recipe: Vec<&'static str>,
    /// The result.
    pub text: String,
}

/// Where the corpus is, below the repository's top.
const FOLDERS: [&str; 6] = [
    "lang-examples",
    "benchmarks",
    "tests/language",
    "tests/errors",
    "tests/run",
    "format/tests/specimens",
];

impl Corpus {
    /// Reads all `.sim` files of the corpus.
    ///
    /// # Errors
    /// A folder that cannot be read.
    pub fn read(top: &Path) -> std::io::Result<Corpus> {
        let mut files = Vec::new();
        for folder in FOLDERS {
            for entry in std::fs::read_dir(top.join(folder))? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "sim") {
                    let name = path.file_name().unwrap_or_default().to_string_lossy();
                    files.push((format!("{folder}/{name}"), std::fs::read_to_string(&path)?));
                }
            }
        }
        files.sort();
        Ok(Corpus { files })
    }

    /// The mutant of a seed.
    pub fn mutant(&self, seed: u64) -> Mutant {
        let mut dice = Dice::new(seed);
        // Most mutants of specimens of errors have that error, and so nothing behind the checker sees them.
        let broken = dice.chance(20);
        let (origin, source) = loop {
            let file = dice.pick(&self.files);
            if file.0.starts_with("tests/errors") == broken {
                break file;
            }
        };
        let (_, other) = dice.pick(&self.files);
        let mut mutant = Mutant {
            origin: origin.clone(),
            recipe: Vec::new(),
            text: source.clone(),
        };
        // Many mutants have one small change and still compile; few have many.
        let mut rounds = 1;
        while rounds < 8 && dice.chance(35) {
            rounds += 1;
        }
        // Half of the mutants change only what leaves most texts well-formed, so that all stages see
        // many of them.
        let gentle = dice.chance(50);
        for _ in 0..rounds {
            let (name, change) = kind(&mut dice, if gentle { &GENTLE } else { &KINDS });
            let mut text = change(&mut dice, &mutant.text, other);
            if text.len() > MOST_BYTES {
                let mut end = MOST_BYTES;
                while !text.is_char_boundary(end) {
                    end -= 1;
                }
                text.truncate(end);
            }
            mutant.text = text;
            mutant.recipe.push(name);
        }
        mutant
    }
}

/// A change of a text; the last argument is another file to take pieces of.
type Change = fn(&mut Dice, &str, &str) -> String;

/// The kinds of changes, by weight.
const KINDS: [(usize, &str, Change); 22] = [
    (10, "replace a token by one of its kind", tokens::alike),
    (6, "replace a number", tokens::number),
    (5, "delete tokens", tokens::delete),
    (4, "double tokens", tokens::double),
    (4, "swap two tokens", tokens::swap),
    (4, "replace a token by one of the file", tokens::replace),
    (
        4,
        "replace a token by one of the language",
        tokens::vocabulary,
    ),
    (3, "insert a token of the language", tokens::insert),
    (3, "insert a token of another file", tokens::transplant),
    (3, "replace a value by an expression", nest::expression),
    (2, "delete a line", tokens::delete_line),
    (2, "double a line", tokens::double_line),
    (3, "move a line", tokens::move_line),
    (3, "splice lines of another file", tokens::splice),
    (3, "insert a statement", nest::statement),
    (2, "wrap lines in a block", nest::block),
    (2, "change bytes", bytes::change),
    (1, "cut the end off", bytes::cut),
    (1, "nest deeply", nest::deep),
    (1, "repeat a token", nest::repeat_token),
    (1, "repeat a line", nest::repeat_line),
    (1, "lengthen a name", nest::lengthen),
];

/// The kinds of changes that most texts survive.
const GENTLE: [(usize, &str, Change); 7] = [
    (6, "replace an operator by one of its row", tokens::operator),
    (
        4,
        "replace a number by one of its kind",
        tokens::number_alike,
    ),
    (3, "delete a line", tokens::delete_line),
    (2, "double a line", tokens::double_line),
    (3, "move a line", tokens::move_line),
    (3, "insert a statement", nest::statement),
    (1, "wrap lines in a block", nest::block),
];

fn kind(dice: &mut Dice, kinds: &[(usize, &'static str, Change)]) -> (&'static str, Change) {
    let total = kinds.iter().map(|(weight, ..)| weight).sum();
    let mut roll = dice.below(total);
    for (weight, name, change) in kinds {
        if roll < *weight {
            return (name, *change);
        }
        roll -= weight;
    }
    (kinds[0].1, kinds[0].2)
}
