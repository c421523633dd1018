//! A snapshot as bytes: eight bytes of magic, the version of the form, a header in JSON with its length and
//! checksum, then the words of all arrays, little-endian, and a checksum of everything before it.

use super::{Identity, Snapshot, Spent};
use crate::{
    cut::{Saved, Scratch},
    error::Error,
    memory::zeroed,
};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

/// How a snapshot begins. The end of the line shows a file that was converted as a text.
const MAGIC: [u8; 8] = *b"SIMCUT\r\n";
/// The version of the form.
const VERSION: u32 = 1;
/// Most bytes of a header: params may be large arrays.
const MOST_HEADER_BYTES: u64 = 256 << 20;
/// Words that are converted at a time.
const WORDS: usize = 1 << 14;
/// Bytes of a checksum.
const CHECKSUM: usize = blake3::OUT_LEN;

/// Everything but words.
#[derive(Serialize, Deserialize)]
struct Header {
    identity: Identity,
    step: u32,
    device: Option<String>,
    kernel: String,
    spent: Spent,
    /// The number of words of each array, by what it is.
    states: Vec<u64>,
    progress: u64,
    world_states: Vec<u64>,
    series: Vec<u64>,
    scratch: Vec<([u32; 2], u64)>,
}

/// Writes through a checksum.
struct Summed<W> {
    inner: W,
    hasher: blake3::Hasher,
}

impl<W: Write> Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }

    fn checksum(&mut self) -> io::Result<()> {
        let sum = self.hasher.finalize();
        self.write(sum.as_bytes())
    }
}

impl<R: Read> Summed<R> {
    fn read(&mut self, bytes: &mut [u8]) -> Result<(), Error> {
        self.inner
            .read_exact(bytes)
            .map_err(|error| match error.kind() {
                io::ErrorKind::UnexpectedEof => broken("it ends too early"),
                _ => broken(&error.to_string()),
            })?;
        self.hasher.update(bytes);
        Ok(())
    }

    /// Reads a checksum of everything before it.
    fn check(&mut self) -> Result<(), Error> {
        let expected = self.hasher.finalize();
        let mut found = [0; CHECKSUM];
        self.read(&mut found)?;
        match expected == found {
            true => Ok(()),
            false => Err(broken("its checksum is wrong, so some of its bytes are")),
        }
    }

    fn words(&mut self, count: u64) -> Result<Vec<u32>, Error> {
        let count =
            usize::try_from(count).map_err(|_| broken("it is too large for this machine"))?;
        let mut words = zeroed(count)?;
        let mut bytes = vec![0; 4 * WORDS.min(count)];
        for words in words.chunks_mut(WORDS) {
            let bytes = &mut bytes[..4 * words.len()];
            self.read(bytes)?;
            for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
                *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
        }
        Ok(words)
    }
}

impl Snapshot {
    /// Writes it. The bytes are the same wherever they are written.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(&self, to: impl Write) -> io::Result<()> {
        let saved = &self.saved;
        let count = |words: &Vec<u32>| words.len() as u64;
        let counts = |columns: &[Vec<u32>]| columns.iter().map(count).collect();
        let header = Header {
            identity: Identity::clone(&self.identity),
            step: saved.step,
            device: self.device.clone(),
            kernel: saved.kernel.clone(),
            spent: self.spent,
            states: counts(&saved.states),
            progress: count(&saved.progress),
            world_states: counts(&saved.world_states),
            series: counts(&saved.series),
            scratch: (saved.scratch.iter())
                .map(|scratch| (scratch.agents, count(&scratch.words)))
                .collect(),
        };
        let header = serde_json::to_vec(&header)?;
        let hasher = blake3::Hasher::new();
        let mut to = Summed { inner: to, hasher };
        to.write(&MAGIC)?;
        to.write(&VERSION.to_le_bytes())?;
        to.write(&(header.len() as u64).to_le_bytes())?;
        to.write(&header)?;
        to.checksum()?;
        let arrays = (saved.states.iter())
            .chain([&saved.progress])
            .chain(&saved.world_states)
            .chain(&saved.series)
            .chain(saved.scratch.iter().map(|scratch| &scratch.words));
        for words in arrays {
            let mut written = Ok(());
            bytes_of(words, |bytes| {
                if written.is_ok() {
                    written = to.write(bytes);
                }
            });
            written?;
        }
        to.checksum()?;
        to.inner.flush()
    }

    /// Reads one that [`Snapshot::write`] wrote.
    ///
    /// # Errors
    /// [`Error::SnapshotBroken`] if it is another file, incomplete or damaged, and [`Error::HostMemory`].
    pub fn read(from: impl Read) -> Result<Snapshot, Error> {
        let hasher = blake3::Hasher::new();
        let mut from = Summed {
            inner: from,
            hasher,
        };
        let mut magic = [0; MAGIC.len()];
        if from.read(&mut magic).is_err() || magic != MAGIC {
            return Err(broken("it does not begin as one does"));
        }
        let mut version = [0; 4];
        from.read(&mut version)?;
        let version = u32::from_le_bytes(version);
        if version != VERSION {
            return Err(broken(&format!(
                "its form is version {version}, and this program reads version {VERSION}"
            )));
        }
        let mut bytes = [0; 8];
        from.read(&mut bytes)?;
        let bytes = u64::from_le_bytes(bytes);
        if bytes > MOST_HEADER_BYTES {
            return Err(broken("its header has an impossible length"));
        }
        let mut header = vec![0; bytes as usize];
        from.read(&mut header)?;
        from.check()?;
        let header: Header =
            serde_json::from_slice(&header).map_err(|error| broken(&error.to_string()))?;
        let mut all = |counts: Vec<u64>| -> Result<Vec<Vec<u32>>, Error> {
            counts.into_iter().map(|count| from.words(count)).collect()
        };
        let states = all(header.states)?;
        let progress = all(vec![header.progress])?.swap_remove(0);
        let world_states = all(header.world_states)?;
        let series = all(header.series)?;
        let (agents, counts): (Vec<_>, Vec<_>) = header.scratch.into_iter().unzip();
        let scratch = agents.into_iter().zip(all(counts)?);
        let scratch = scratch.map(|(agents, words)| Scratch { agents, words });
        let saved = Saved {
            on_device: None,
            step: header.step,
            states,
            progress,
            world_states,
            series,
            kernel: header.kernel,
            scratch: scratch.collect(),
        };
        from.check()?;
        if from.inner.read(&mut [0]).map_or(true, |more| more > 0) {
            return Err(broken("it goes on after its end"));
        }
        Ok(Snapshot {
            identity: header.identity.into(),
            saved,
            device: header.device,
            spent: header.spent,
        })
    }

    /// [`Snapshot::write`] to memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write(&mut bytes).expect("memory can be written");
        bytes
    }

    /// [`Snapshot::read`] from memory.
    ///
    /// # Errors
    /// The same.
    pub fn from_bytes(bytes: &[u8]) -> Result<Snapshot, Error> {
        Snapshot::read(bytes)
    }
}

/// Calls `each` with the bytes of words, little-endian, in pieces.
pub(super) fn bytes_of(words: &[u32], mut each: impl FnMut(&[u8])) {
    let mut bytes = Vec::with_capacity(4 * WORDS.min(words.len()));
    for words in words.chunks(WORDS) {
        bytes.clear();
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        each(&bytes);
    }
}

fn broken(why: &str) -> Error {
    Error::SnapshotBroken {
        why: why.to_owned(),
    }
}
