//! A set of registers of the processor.

use super::encode::Vector;

/// Registers of the processor, one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub struct Set(pub u32);

impl Set {
    /// One register.
    pub fn of(vector: Vector) -> Set {
        Set(1 << vector)
    }

    /// Is a register in it?
    pub fn has(self, vector: Vector) -> bool {
        self.0 >> vector & 1 == 1
    }
}
