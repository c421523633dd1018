//! How one instruction runs over a block of agents: a loop over lanes around an operation's meaning for one
//! agent, compiled once for each instruction set.
//!
//! The loops are plain Rust that LLVM vectorises; no operation is written twice. Rust never contracts or
//! reassociates floating-point arithmetic, so every instruction set gives the same bits.

use super::{
    isa::Isa,
    op::{Cos, Op, Sin},
};

/// Agents of a full block. Measured against 64, 128, 256 and 1,024: below, the cost of starting an instruction
/// shows; above, nothing more is won, and small populations keep fewer cores busy.
pub const LANES: usize = 512;

/// The number of lanes that are run is a multiple of this: two vectors of the widest instruction set, so
/// that no loop has a remainder. The loops stay small: unrolled ones are no faster by themselves, and all
/// together they no longer fit into the processor's cache for instructions.
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

    /// The same, to be changed.
    #[inline(always)]
    pub fn all_mut(&mut self) -> &mut [u32] {
        &mut self.0
    }
}

/// What an instruction knows beside its registers.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The values that all agents of the block share.
    pub scalars: &'a [u32],
    /// By operand: which scalar it is, where the kernel takes a scalar.
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

/// Runs the instruction with two destinations: the sine and the cosine of an angle, which share most of their
/// work.
///
/// # Safety
/// As of a [`Kernel`].
pub type TwinKernel = unsafe fn(&mut Lanes, &mut Lanes, &Lanes, usize);

/// The kernel of sine and cosine.
pub fn sine_and_cosine(isa: Isa) -> TwinKernel {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512_twin,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2_twin,
        Isa::Portable => run_twin,
    }
}

/// The kernel of an operation whose operand `k` is a scalar where bit `k` of `SCALARS` is set.
pub fn kernel<O: Op, const SCALARS: u8>(isa: Isa) -> Kernel {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::<O, SCALARS>,
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<O, SCALARS>,
        Isa::Portable => portable::<O, SCALARS>,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
)]
fn avx512<O: Op, const SCALARS: u8>(
    d: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
    c: &Lanes,
    e: &Lanes,
    call: &Call<'_>,
) {
    run::<O, SCALARS>(d, a, b, c, e, call);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<O: Op, const SCALARS: u8>(
    d: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
    c: &Lanes,
    e: &Lanes,
    call: &Call<'_>,
) {
    run::<O, SCALARS>(d, a, b, c, e, call);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt"
)]
fn avx512_twin(sine: &mut Lanes, cosine: &mut Lanes, a: &Lanes, count: usize) {
    run_twin(sine, cosine, a, count);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2_twin(sine: &mut Lanes, cosine: &mut Lanes, a: &Lanes, count: usize) {
    run_twin(sine, cosine, a, count);
}

fn portable<O: Op, const SCALARS: u8>(
    d: &mut Lanes,
    a: &Lanes,
    b: &Lanes,
    c: &Lanes,
    e: &Lanes,
    call: &Call<'_>,
) {
    run::<O, SCALARS>(d, a, b, c, e, call);
}

/// The loop. The references are the kernel's own parameters, so that LLVM knows that they do not overlap.
#[inline(always)]
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
        d.0[lane] = O::apply(
            d.0[lane],
            pick(0, a, lane),
            pick(1, b, lane),
            pick(2, c, lane),
            pick(3, e, lane),
        );
    }
    if O::HAS_RARE && any_rare::<O>(&a.0[..count]) {
        mend_rare::<O>(&mut d.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
fn run_twin(sine: &mut Lanes, cosine: &mut Lanes, a: &Lanes, count: usize) {
    let count = (count & !(GROUP - 1)).min(LANES);
    for lane in 0..count {
        sine.0[lane] = Sin::apply(0, a.0[lane], 0, 0, 0);
        cosine.0[lane] = Cos::apply(0, a.0[lane], 0, 0, 0);
    }
    if any_rare::<Sin>(&a.0[..count]) {
        mend_rare::<Sin>(&mut sine.0[..count], &a.0[..count]);
        mend_rare::<Cos>(&mut cosine.0[..count], &a.0[..count]);
    }
}

#[inline(always)]
fn any_rare<O: Op>(a: &[u32]) -> bool {
    a.iter().fold(0, |any, &a| any | u32::from(O::is_rare(a))) != 0
}

/// Does rare operands again.
#[inline(always)]
fn mend_rare<O: Op>(d: &mut [u32], a: &[u32]) {
    for (d, &a) in d.iter_mut().zip(a) {
        if O::is_rare(a) {
            *d = O::apply_rare(a);
        }
    }
}
