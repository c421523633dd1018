//! Where there is no compiler at run time for the processor: programs run as they are.

use super::{
    kernel::{Lane, Lanes},
    program::Program,
};
use sim_compiler::kernel::schedule::Decision;

/// There are no functions.
#[derive(Clone, Copy, Debug)]
pub enum Function {}

/// What there is of machine code in a program.
#[derive(Clone, Debug)]
pub enum Jit {
    /// None, on this processor.
    Off,
}

impl Jit {
    /// There is nothing to decide.
    pub fn decision(&self) -> Option<Decision> {
        None
    }
}

/// Leaves a program as it is.
pub fn install(_: &mut Program) {}

/// Calls a function, of which there are none.
///
/// # Safety
/// None is needed.
pub unsafe fn call<L: Lane>(function: Function, _: *mut Lanes<L>, _: &[L], _: usize, _: &Jit) {
    match function {}
}
