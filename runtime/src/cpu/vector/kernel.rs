//! The loop of one instruction over a block of agents: a loop over lanes around a scalar operation, compiled
//! once for each instruction set.
//!
//! The loops are plain Rust that LLVM vectorises; no operation is written twice. Rust never contracts or
//! reassociates floating-point arithmetic, so every instruction set gives the same bits.

use super::{isa::Isa, program::Program};
use sim_compiler::{
    RealType,
    builtin::math::arithmetic::{self, Fused},
    value::Scalar,
};
use std::{
    fmt::Debug,
    hash::Hash,
    ops::{BitAnd, BitOr, BitXor},
};

/// Agents of a full block. Measured against 64, 128, 256 and 1,024: smaller blocks pay for dispatching
/// instructions; larger ones are no faster, and small populations then use fewer cores.
pub const LANES: usize = 512;

/// Divides the number of lanes of every loop, which so has no remainder: two vectors of the widest
/// instruction set. Larger groups unroll the loops, which makes none of them faster and together exceeds the
/// instruction cache.
pub const GROUP: usize = 32;

/// What a register has of each agent: 32 bits where floats are `f32`, and 64 where they are `f64`. Integers
/// are in the low half of 64 bits; the other half has no meaning then.
pub trait Lane:
    Copy
    + Debug
    + Eq
    + Hash
    + Send
    + Sync
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + 'static
{
    /// The floats that fit.
    const REAL: RealType;
    /// All bits zero: 0, and false.
    const ZERO: Self;
    /// All bits one: true.
    const TRUE: Self;

    /// The lane of an integer.
    fn of_word(word: u32) -> Self;
    /// The integer of a lane.
    fn word(self) -> u32;
    /// Whether a `bool` is true: its sign bit, as blend instructions test it.
    fn is_true(self) -> bool;
    /// The lane with a word of storage put in.
    fn with(self, part: Part, word: u32) -> Self;
    /// A word that storage has of the lane.
    fn part(self, part: Part) -> u32;
    /// The lane of the scalar whose words in storage these begin with.
    fn load(scalar: Scalar, words: &[u32]) -> Self;
    /// Applies the meaning for lanes of this width.
    fn apply<M: Meaning, F: Fused>(operands: [Self; 4]) -> Self;
    /// The kernel of an operation; operand `k` is a scalar if bit `k` of `SCALARS` is set.
    fn kernel<O: Op, const SCALARS: u8>(isa: Isa) -> Kernel<Self>;
    /// The kernel of two operations.
    fn twin_kernel<S: Op, C: Op>(isa: Isa) -> TwinKernel<Self>;
    /// Puts functions in place of instructions, where there is a compiler for lanes of this width.
    fn install(_: &mut Program<Self>) {}
}

/// What a word in storage is of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it, or the low half of 64 bits.
    Word,
    /// The high half of 64 bits, after the low one.
    High,
    /// A `bool`, which is 1 or 0 in storage.
    Bool,
}

impl Part {
    /// The words in storage of a scalar.
    pub fn all(scalar: Scalar) -> &'static [Part] {
        match scalar {
            Scalar::F32 | Scalar::I32 | Scalar::U32 => &[Part::Word],
            Scalar::F64 => &[Part::Word, Part::High],
            Scalar::Bool => &[Part::Bool],
        }
    }
}

/// A register: a lane for each agent of a block.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lanes<L>([L; LANES], Apart);

/// A line of the cache between two registers. Without it, the same lane of many registers would be in two
/// sets of the first-level cache, since their distance would be a power of two.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Apart([u8; 64]);

impl<L: Lane> Lanes<L> {
    /// All lanes zero.
    pub const ZERO: Lanes<L> = Lanes([L::ZERO; LANES], Apart([0; 64]));

    /// The lanes one after another.
    #[inline(always)]
    pub fn all(&self) -> &[L] {
        &self.0
    }

    /// The lanes one after another, mutable.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [L] {
        &mut self.0
    }
}

/// A scalar function for either width of lanes, of up to four operands.
pub trait Meaning {
    /// Where floats are `f32`.
    fn single<F: Fused>(operands: [u32; 4]) -> u32;
    /// Where floats are `f64`.
    fn double<F: Fused>(operands: [u64; 4]) -> u64;
}

/// An operation on lanes: the function that a kernel applies to each. Operands that it does not take are
/// ignored.
pub trait Op {
    /// Whether [`Op::apply`] is wrong for some rare first operands. Only for operations with one operand.
    const HAS_RARE: bool = false;

    /// The new value of the destination, whose old value is `d`. Branch-free, so that LLVM can vectorise it.
    /// `F` says whether it does.
    fn apply<L: Lane, F: Fused>(d: L, a: L, b: L, c: L, e: L) -> L;

    /// Whether only [`Op::apply_rare`] is right for this operand.
    fn is_rare<L: Lane>(_a: L) -> bool {
        false
    }

    /// The value for a rare operand.
    fn apply_rare<L: Lane>(a: L) -> L {
        a
    }
}

/// The arguments of a kernel beside its registers.
#[derive(Clone, Copy)]
pub struct Call<'a, L> {
    /// The values that all agents of the block share.
    pub scalars: &'a [L],
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
pub type Kernel<L> =
    unsafe fn(&mut Lanes<L>, &Lanes<L>, &Lanes<L>, &Lanes<L>, &Lanes<L>, &Call<'_, L>);

/// Runs two operations of one operand, which share most of their work: sine and cosine.
///
/// # Safety
/// The processor must have the instruction set for which the kernel was chosen.
pub type TwinKernel<L> = unsafe fn(&mut Lanes<L>, &mut Lanes<L>, &Lanes<L>, usize);

/// Declares the loops of one operation and of two for an instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! loops {
    ($run:ident, $twin:ident, $features:literal) => {
        #[target_feature(enable = $features)]
        pub(super) fn $run<L: Lane, O: Op, const SCALARS: u8>(
            d: &mut Lanes<L>,
            a: &Lanes<L>,
            b: &Lanes<L>,
            c: &Lanes<L>,
            e: &Lanes<L>,
            call: &Call<'_, L>,
        ) {
            run::<L, O, SCALARS>(d, a, b, c, e, call);
        }

        #[target_feature(enable = $features)]
        pub(super) fn $twin<L: Lane, S: Op, C: Op>(
            first: &mut Lanes<L>,
            second: &mut Lanes<L>,
            a: &Lanes<L>,
            count: usize,
        ) {
            run_twin::<L, S, C>(first, second, a, count);
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
pub(super) fn run<L: Lane, O: Op, const SCALARS: u8>(
    d: &mut Lanes<L>,
    a: &Lanes<L>,
    b: &Lanes<L>,
    c: &Lanes<L>,
    e: &Lanes<L>,
    call: &Call<'_, L>,
) {
    let scalar = |k: usize| match SCALARS >> k & 1 {
        1 => call.scalars[call.slots[k] as usize],
        _ => L::ZERO,
    };
    let scalars = [scalar(0), scalar(1), scalar(2), scalar(3)];
    let pick = |k: usize, lanes: &Lanes<L>, lane: usize| match SCALARS >> k & 1 {
        1 => scalars[k],
        _ => lanes.0[lane],
    };
    let count = (call.count & !(GROUP - 1)).min(LANES);
    for lane in 0..count {
        d.0[lane] = O::apply::<L, arithmetic::Lanes>(
            d.0[lane],
            pick(0, a, lane),
            pick(1, b, lane),
            pick(2, c, lane),
            pick(3, e, lane),
        );
    }
    if O::HAS_RARE && any_rare::<L, O>(&a.0[..count]) {
        recompute_rare::<L, O>(&mut d.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
#[cfg_attr(sim_web, optimize(speed))]
pub(super) fn run_twin<L: Lane, S: Op, C: Op>(
    first: &mut Lanes<L>,
    second: &mut Lanes<L>,
    a: &Lanes<L>,
    count: usize,
) {
    let none = L::ZERO;
    let count = (count & !(GROUP - 1)).min(LANES);
    for lane in 0..count {
        first.0[lane] = S::apply::<L, arithmetic::Lanes>(none, a.0[lane], none, none, none);
        second.0[lane] = C::apply::<L, arithmetic::Lanes>(none, a.0[lane], none, none, none);
    }
    // The operations have the same rare operands.
    if any_rare::<L, S>(&a.0[..count]) {
        recompute_rare::<L, S>(&mut first.0[..count], &a.0[..count]);
        recompute_rare::<L, C>(&mut second.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
fn any_rare<L: Lane, O: Op>(a: &[L]) -> bool {
    a.iter().fold(0, |any, &a| any | u32::from(O::is_rare(a))) != 0
}

/// Recomputes the lanes with rare operands.
#[inline(always)]
fn recompute_rare<L: Lane, O: Op>(d: &mut [L], a: &[L]) {
    for (d, &a) in d.iter_mut().zip(a) {
        if O::is_rare(a) {
            *d = O::apply_rare(a);
        }
    }
}
