//! The widths of lanes, and the instruction sets that the kernels of each are compiled for.

#[cfg(target_arch = "x86_64")]
use super::kernel::{avx2, avx2_twin, avx512, avx512_twin};
use super::{
    isa::Isa,
    jit,
    kernel::{Kernel, Lane, Meaning, Op, Part, TwinKernel, run, run_twin},
    program::Program,
};
use sim_compiler::{RealType, builtin::math::arithmetic::Fused, value::Scalar};

impl Lane for u32 {
    const REAL: RealType = RealType::F32;
    const ZERO: u32 = 0;
    const TRUE: u32 = u32::MAX;

    #[inline(always)]
    fn of_word(word: u32) -> u32 {
        word
    }

    #[inline(always)]
    fn word(self) -> u32 {
        self
    }

    #[inline(always)]
    fn is_true(self) -> bool {
        (self as i32) < 0
    }

    #[inline(always)]
    fn with(self, part: Part, word: u32) -> u32 {
        match part {
            Part::Bool if word != 0 => u32::TRUE,
            Part::Bool | Part::Word | Part::High => word,
        }
    }

    #[inline(always)]
    fn part(self, part: Part) -> u32 {
        match part {
            Part::Bool => self & 1,
            Part::Word | Part::High => self,
        }
    }

    #[inline(always)]
    fn load(scalar: Scalar, words: &[u32]) -> u32 {
        match scalar {
            Scalar::Bool => 0.with(Part::Bool, words[0]),
            _ => words[0],
        }
    }

    #[inline(always)]
    fn apply<M: Meaning, F: Fused>(operands: [u32; 4]) -> u32 {
        M::single::<F>(operands)
    }

    fn kernel<O: Op, const SCALARS: u8>(isa: Isa) -> Kernel<u32> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::<u32, O, SCALARS>,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2::<u32, O, SCALARS>,
            Isa::Portable => run::<u32, O, SCALARS>,
        }
    }

    fn twin_kernel<S: Op, C: Op>(isa: Isa) -> TwinKernel<u32> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512_twin::<u32, S, C>,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => avx2_twin::<u32, S, C>,
            Isa::Portable => run_twin::<u32, S, C>,
        }
    }

    fn install(program: &mut Program) {
        jit::install(program);
    }
}

/// The lanes of floats of `f64`. Pages run no model in `f64`: nothing there uses the kernels of `u64`, so
/// that none is in their module.
#[cfg(not(sim_web))]
pub type Wide = u64;
/// The lanes of floats of `f32` in their place.
#[cfg(sim_web)]
pub type Wide = u32;

/// See [`Isa::of_doubles`] for its instruction sets.
impl Lane for u64 {
    const REAL: RealType = RealType::F64;
    const ZERO: u64 = 0;
    const TRUE: u64 = u64::MAX;

    #[inline(always)]
    fn of_word(word: u32) -> u64 {
        word.into()
    }

    #[inline(always)]
    fn word(self) -> u32 {
        self as u32
    }

    #[inline(always)]
    fn is_true(self) -> bool {
        (self as i64) < 0
    }

    #[inline(always)]
    fn with(self, part: Part, word: u32) -> u64 {
        match part {
            Part::Word => word.into(),
            Part::High => u64::from(self.word()) | u64::from(word) << 32,
            Part::Bool if word != 0 => u64::TRUE,
            Part::Bool => 0,
        }
    }

    #[inline(always)]
    fn part(self, part: Part) -> u32 {
        match part {
            Part::Word => self as u32,
            Part::High => (self >> 32) as u32,
            Part::Bool => self as u32 & 1,
        }
    }

    #[inline(always)]
    fn load(scalar: Scalar, words: &[u32]) -> u64 {
        match scalar {
            Scalar::F64 => u64::from(words[0]) | u64::from(words[1]) << 32,
            Scalar::Bool => 0.with(Part::Bool, words[0]),
            _ => words[0].into(),
        }
    }

    #[inline(always)]
    fn apply<M: Meaning, F: Fused>(operands: [u64; 4]) -> u64 {
        M::double::<F>(operands)
    }

    fn kernel<O: Op, const SCALARS: u8>(isa: Isa) -> Kernel<u64> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 => avx2::<u64, O, SCALARS>,
            Isa::Portable => run::<u64, O, SCALARS>,
        }
    }

    fn twin_kernel<S: Op, C: Op>(isa: Isa) -> TwinKernel<u64> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 | Isa::Avx2 => avx2_twin::<u64, S, C>,
            Isa::Portable => run_twin::<u64, S, C>,
        }
    }
}
