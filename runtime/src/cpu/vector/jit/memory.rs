//! Memory with code: written first, then made executable, so that no page is both at once.

use memmap2::{Mmap, MmapMut};
use std::io;

/// Code that can be run.
#[derive(Debug)]
pub struct Executable {
    memory: Mmap,
}

impl Executable {
    /// Places code, which is not empty, in memory.
    ///
    /// # Errors
    /// If there is no memory, or the system forbids code that is made at run time.
    pub fn new(code: &[u8]) -> io::Result<Executable> {
        let mut memory = MmapMut::map_anon(code.len())?;
        memory.copy_from_slice(code);
        Ok(Executable {
            memory: memory.make_exec()?,
        })
    }

    /// Bytes of the code.
    pub fn len(&self) -> usize {
        self.memory.len()
    }

    /// The address of a byte of the code.
    pub fn at(&self, offset: usize) -> *const u8 {
        self.memory[offset..].as_ptr()
    }
}
