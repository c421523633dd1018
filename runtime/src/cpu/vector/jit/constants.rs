//! The constants of all functions: each is there once, in all lanes of the widest vectors.

use rustc_hash::FxHashMap;

/// The constants of all functions.
#[derive(Debug, Default)]
pub struct Constants {
    /// Their bits.
    pub bits: Vec<u32>,
    known: FxHashMap<u32, u32>,
}

impl Constants {
    /// The number of a constant.
    pub fn number(&mut self, bits: u32) -> u32 {
        let all = &mut self.bits;
        *self.known.entry(bits).or_insert_with(|| {
            all.push(bits);
            all.len() as u32 - 1
        })
    }
}
