//! The registers of a block, and the calls of kernels on them: all unsafe code of the vector machine.
//!
//! * [`Registers::kernel`] passes a kernel a mutable reference to its destination and shared references to
//!   its sources. `Program::check` has verified that all are in bounds and that no source is the destination;
//!   a machine always has a checked program and as many registers as it needs.
//! * A function of [`jit`](crate::cpu::vector::jit) reads and writes the registers and scalars of checked
//!   instructions.
//! * A call of a kernel requires the instruction set that the kernel was compiled for; `Program::check` has
//!   verified that the processor has it.

use crate::cpu::vector::{
    jit::{self, Jit},
    kernel::{Call, Kernel, Lane, Lanes, TwinKernel},
    program::Register,
};

/// The registers of a block.
pub(super) struct Registers<L>(pub(super) Vec<Lanes<L>>);

impl<L: Lane> Registers<L> {
    /// Runs a kernel.
    #[inline(always)]
    pub(super) fn kernel(
        &mut self,
        kernel: Kernel<L>,
        &[to, a, b, c, e]: &[Register; 5],
        call: &Call<'_, L>,
    ) {
        debug_assert!(
            [to, a, b, c, e]
                .iter()
                .all(|&k| (k as usize) < self.0.len())
        );
        debug_assert!(![a, b, c, e].contains(&to));
        let base = self.0.as_mut_ptr();
        // SAFETY: see the head of this file.
        unsafe {
            kernel(
                &mut *base.add(to as usize),
                &*base.add(a as usize),
                &*base.add(b as usize),
                &*base.add(c as usize),
                &*base.add(e as usize),
                call,
            );
        }
    }

    /// Runs a kernel with two destinations.
    pub(super) fn twin_kernel(
        &mut self,
        kernel: TwinKernel<L>,
        registers: [Register; 3],
        count: usize,
    ) {
        let [first, second, from] = self.three(registers);
        // SAFETY: see the head of this file.
        unsafe { kernel(first, second, from, count) }
    }

    /// Runs a function of the program's.
    #[inline(always)]
    pub(super) fn function(
        &mut self,
        function: jit::Function,
        scalars: &[L],
        count: usize,
        functions: &Jit,
    ) {
        // SAFETY: see the head of this file.
        unsafe { jit::call(function, self.0.as_mut_ptr(), scalars, count, functions) }
    }

    /// Three different registers.
    fn three(&mut self, registers: [Register; 3]) -> [&mut Lanes<L>; 3] {
        self.0
            .get_disjoint_mut(registers.map(|register| register as usize))
            .expect("three different registers")
    }

    /// Two different registers.
    pub(super) fn two(&mut self, to: Register, from: Register) -> [&mut Lanes<L>; 2] {
        self.0
            .get_disjoint_mut([to as usize, from as usize])
            .expect("two different registers")
    }
}
