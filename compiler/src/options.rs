//! How to compile.

use crate::{random::Generator, value::RealType};

/// How to compile.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Runs the optimising passes. Results are the same to the bit without them; only tests and the
    /// curious go without.
    pub optimise: bool,
    /// The random generator.
    pub generator: Generator,
    /// Which mathematical functions a kernel calls.
    pub math: Math,
    /// Checks indices, divisions of integers, floats, limits of `while` and each `assert`: an agent keeps the
    /// first fault that it comes to, see [`crate::ir::checks`]. Results are the same to the bit.
    pub checks: bool,
    /// The machine type of the model's floats. In `f64` there is no kernel for a GPU.
    pub real: RealType,
}

/// Which mathematical functions a kernel calls. The CPU backends have but one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Math {
    /// The device's, as fast and as exact as its driver has them.
    #[default]
    Fast,
    /// The project's own, a few units in the last place from those of the CPU.
    Precise,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            optimise: true,
            generator: Generator::default(),
            math: Math::default(),
            checks: false,
            real: RealType::default(),
        }
    }
}
