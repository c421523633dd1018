//! The loop of one instruction over a block of agents: a loop over lanes around a scalar operation, compiled
//! once for each instruction set.
//!
//! The loops are plain Rust that LLVM vectorises; no operation is written twice. Rust never contracts or
//! reassociates floating-point arithmetic, so every instruction set gives the same bits.

use super::isa::Isa;
use sim_compiler::builtin::math::arithmetic::{self, Fused};

/// Agents of a full block. Measured against 64, 128, 256 and 1,024: smaller blocks pay for dispatching
/// instructions; larger ones are no faster, and small populations then use fewer cores.
pub const LANES: usize = 512;

/// Divides the number of lanes of every loop, which so has no remainder: two vectors of the widest
/// instruction set. Larger groups unroll the loops, which makes none of them faster and together exceeds the
/// instruction cache.
pub const GROUP: usize = 32;

/// A register: 32 bits of each agent of a block.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lanes([u32; LANES]);

impl Lanes {
    /// All lanes zero.
    pub const ZERO: Lanes = Lanes([0; LANES]);

    /// The lanes one after another.
    #[inline(always)]
    pub fn all(&self) -> &[u32] {
        &self.0
    }

    /// The lanes one after another, mutable.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

/// An operation on words: the function that a kernel applies to each lane. Operands that it does not take are
/// ignored.
pub trait Op {
    /// Whether [`Op::apply`] is wrong for some rare first operands. Only for operations with one operand.
    const HAS_RARE: bool = false;

    /// The new value of the destination, whose old value is `d`. Branch-free, so that LLVM can vectorise it.
    /// `F` says whether it does.
    fn apply<F: Fused>(d: u32, a: u32, b: u32, c: u32, e: u32) -> u32;

    /// Whether only [`Op::apply_rare`] is right for this operand.
    fn is_rare(_a: u32) -> bool {
        false
    }

    /// The value for a rare operand.
    fn apply_rare(a: u32) -> u32 {
        a
    }
}

/// The arguments of a kernel beside its registers.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The values that all agents of the block share.
    pub scalars: &'a [u32],
    /// By operand: the index of its scalar, if the kernel takes a scalar.
    pub slots: &'a [u32; 4],
    /// Lanes to run, a multiple of [`GROUP`], at most [`LANES`].
    pub count: usize,
}

/// Runs one instruction: the destination, which may also be read, and four sources, of which those that
/// are scalars or absent are ignored.
///
/// # Safety
/// The processor must have the instruction set for which the kernel was chosen.
pub type Kernel = unsafe fn(&mut Lanes, &Lanes, &Lanes, &Lanes, &Lanes, &Call<'_>);

/// Runs two operations of one operand, which share most of their work: sine and cosine.
///
/// # Safety
/// The processor must have the instruction set for which the kernel was chosen.
pub type TwinKernel = unsafe fn(&mut Lanes, &mut Lanes, &Lanes, usize);

/// The kernel of two operations.
pub fn twin_kernel<S: Op, C: Op>(isa: Isa) -> TwinKernel {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512_twin::<S, C>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2_twin::<S, C>,
        Isa::Portable => run_twin::<S, C>,
    }
}

/// The kernel of an operation; operand `k` is a scalar if bit `k` of `SCALARS` is set.
pub fn kernel<O: Op, const SCALARS: u8>(isa: Isa) -> Kernel {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<O, SCALARS>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<O, SCALARS>,
        Isa::Portable => run::<O, SCALARS>,
    }
}

/// Declares the loops of one operation and of two for an instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! loops {
    ($run:ident, $twin:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        fn $run<O: Op, const SCALARS: u8>(
            d: &mut Lanes,
            a: &Lanes,
            b: &Lanes,
            c: &Lanes,
            e: &Lanes,
            call: &Call<'_>,
        ) {
            run::<O, SCALARS>(d, a, b, c, e, call);
        }

        #[target_feature(enable = $features)]
        fn $twin<S: Op, C: Op>(first: &mut Lanes, second: &mut Lanes, a: &Lanes, count: usize) {
            run_twin::<S, C>(first, second, a, count);
        }
    };
}

#[cfg(target_arch = "x86_64")]
loops!(
    avx512,
    avx512_twin,
    "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
);
#[cfg(target_arch = "x86_64")]
loops!(avx2, avx2_twin, "avx2,fma,bmi1,bmi2,lzcnt,popcnt");

/// The loop. The references are parameters of the kernel itself, from which LLVM knows that they do not
/// alias.
#[inline(always)]
#[cfg_attr(sim_web, optimize(speed))]
fn run<O: Op, const SCALARS: u8>(
    d: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
    c: &Lanes,
    e: &Lanes,
    call: &Call<'_>,
) {
    let scalar = |k: usize| match SCALARS >> k & 1 {
        1 => call.scalars[call.slots[k] as usize],
        _ => 0,
    };
    let scalars = [scalar(0), scalar(1), scalar(2), scalar(3)];
    let pick = |k: usize, lanes: &Lanes, lane: usize| match SCALARS >> k & 1 {
        1 => scalars[k],
        _ => lanes.0[lane],
    };
    let count = (call.count & !(GROUP - 1)).min(LANES);
    for lane in 0..count {
        d.0[lane] = O::apply::<arithmetic::Lanes>(
            d.0[lane],
            pick(0, a, lane),
            pick(1, b, lane),
            pick(2, c, lane),
            pick(3, e, lane),
        );
    }
    if O::HAS_RARE && any_rare::<O>(&a.0[..count]) {
        recompute_rare::<O>(&mut d.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
#[cfg_attr(sim_web, optimize(speed))]
fn run_twin<S: Op, C: Op>(first: &mut Lanes, second: &mut Lanes, a: &Lanes, count: usize) {
    let count = (count & !(GROUP - 1)).min(LANES);
    for lane in 0..count {
        first.0[lane] = S::apply::<arithmetic::Lanes>(0, a.0[lane], 0, 0, 0);
        second.0[lane] = C::apply::<arithmetic::Lanes>(0, a.0[lane], 0, 0, 0);
    }
    // The operations have the same rare operands.
    if any_rare::<S>(&a.0[..count]) {
        recompute_rare::<S>(&mut first.0[..count], &a.0[..count]);
        recompute_rare::<C>(&mut second.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
fn any_rare<O: Op>(a: &[u32]) -> bool {
    a.iter().fold(0, |any, &a| any | u32::from(O::is_rare(a))) != 0
}

/// Recomputes the lanes with rare operands.
#[inline(always)]
fn recompute_rare<O: Op>(d: &mut [u32], a: &[u32]) {
    for (d, &a) in d.iter_mut().zip(a) {
        if O::is_rare(a) {
            *d = O::apply_rare(a);
        }
    }
}
