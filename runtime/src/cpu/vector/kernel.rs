//! How one instruction runs over a block of agents: a loop over lanes around an operation's meaning for one
//! agent, compiled once for each instruction set.
//!
//! The loops are plain Rust that LLVM vectorises; no operation is written twice. Rust never contracts or
//! reassociates floating-point arithmetic, so every instruction set gives the same bits.

use super::{isa::Isa, op::Op};

/// Agents of a full block. Measured against 64, 128 and 512: below, the cost of starting an instruction
/// shows; above, a block's registers leave the first-level cache.
pub const LANES: usize = 256;

/// The number of lanes that are run is a multiple of this: two vectors of the widest instruction set.
pub const GROUP: usize = 32;

/// A register: 32 bits of each agent of a block.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Lanes(pub [u32; LANES]);

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
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
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
    if O::HAS_RARE {
        let mut rare = 0;
        for lane in 0..count {
            rare |= u32::from(O::is_rare(a.0[lane]));
        }
        if rare != 0 {
            for lane in 0..count {
                if O::is_rare(a.0[lane]) {
                    d.0[lane] = O::apply_rare(a.0[lane]);
                }
            }
        }
    }
}
