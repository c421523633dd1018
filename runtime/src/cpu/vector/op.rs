//! The operations of the vector machine. Each is the scalar function over lanes that defines it for one
//! agent. Kernels, the scalar unit and the reference interpreter all use these functions, which is why
//! their results have the same bits.
//!
//! A `bool` is all ones or all zeros here, as the result of vector comparisons and the mask of vector
//! selections; in storage it is 1 or 0.

mod fused;
mod table;
mod tree;

pub use fused::{Finish, Fused, Term, Test};
pub use table::{Cos, Plain, Sin};
pub use tree::Tree;

use super::{
    isa::Isa,
    kernel::{Kernel, Lane, Op},
};

/// Types that fit in a lane of type `L`.
pub trait Word<L> {
    /// From its lane.
    fn of(lane: L) -> Self;
    /// Its lane.
    fn lane(self) -> L;
}

impl<L: Lane> Word<L> for u32 {
    #[inline(always)]
    fn of(lane: L) -> u32 {
        lane.word()
    }
    #[inline(always)]
    fn lane(self) -> L {
        L::of_word(self)
    }
}

impl<L: Lane> Word<L> for i32 {
    #[inline(always)]
    fn of(lane: L) -> i32 {
        lane.word() as i32
    }
    #[inline(always)]
    fn lane(self) -> L {
        L::of_word(self as u32)
    }
}

impl<L: Lane> Word<L> for bool {
    #[inline(always)]
    fn of(lane: L) -> bool {
        lane.is_true()
    }
    #[inline(always)]
    fn lane(self) -> L {
        if self { L::TRUE } else { L::ZERO }
    }
}

impl Word<u32> for f32 {
    #[inline(always)]
    fn of(lane: u32) -> f32 {
        f32::from_bits(lane)
    }
    #[inline(always)]
    fn lane(self) -> u32 {
        self.to_bits()
    }
}

impl Word<u64> for f64 {
    #[inline(always)]
    fn of(lane: u64) -> f64 {
        f64::from_bits(lane)
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        self.to_bits()
    }
}

/// All bits of a wide lane.
impl Word<u64> for u64 {
    #[inline(always)]
    fn of(lane: u64) -> u64 {
        lane
    }
    #[inline(always)]
    fn lane(self) -> u64 {
        self
    }
}

/// A function of the scalar unit: up to four operands to one value.
pub type Scalar<L> = fn([L; 4]) -> L;

/// An operation by name, so that code can be generated, compared and printed before its kernels are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// An operation of the language.
    Plain(Plain),
    /// Several operations in one instruction.
    Fused(Fused),
}

impl Code {
    /// The number of operands, 1 to 4.
    pub fn arity(self) -> usize {
        match self {
            Code::Plain(plain) => plain.arity(),
            Code::Fused(fused) => fused.arity(),
        }
    }

    /// Whether it reads its destination.
    pub fn reads_destination(self) -> bool {
        match self {
            Code::Plain(plain) => matches!(plain, Plain::Blend | Plain::Philox),
            Code::Fused(fused) => fused.reads_destination(),
        }
    }

    /// The kernel for which the operands of the set bits are scalars. `None` if there is no such kernel;
    /// scalars must then be broadcast to a register. There is always a kernel without scalars.
    pub fn kernel<L: Lane>(self, scalars: u8, isa: Isa) -> Option<Kernel<L>> {
        match self {
            Code::Plain(plain) => plain.kernel(scalars, isa),
            Code::Fused(fused) => fused.kernel(scalars, isa),
        }
    }
}

/// Declares the kernels of operations by which operands may be scalars: each number is a set of them as bits.
macro_rules! kernels {
    ($($(#[doc = $doc:literal])+ $name:ident: $($scalars:literal)+;)+) => {
        $(
            $(#[doc = $doc])+
            fn $name<L: Lane, O: Op>(scalars: u8, isa: Isa) -> Option<Kernel<L>> {
                match scalars {
                    $($scalars => Some(L::kernel::<O, $scalars>(isa)),)+
                    _ => None,
                }
            }
        )+
    };
}

kernels! {
    /// One operand.
    one: 0;
    /// One operand, which may be a scalar.
    first: 0 1;
    /// Two operands, of which one may be a scalar.
    two: 0 1 2;
    /// Two operands, of which the second may be a scalar.
    right: 0 2;
    /// Three operands, of which not the first two, nor all, may be scalars.
    three: 0 1 2 4 5 6;
    /// Two pairs, the second of each of which may be a scalar.
    pairs: 0 2 8 10;
    /// Three operands, of which the third may be a scalar.
    third: 0 4;
    /// Four operands, of which the last two may both be scalars.
    last_two: 0 12;
    /// Philox: the two words of the seed may be scalars, and with them the number.
    philox: 0 6 14;
    /// A selection by a comparison: the second, third and fourth operands may be scalars.
    choice: 0 2 4 6 8 10 12 14;
    /// An agent's key: the two words of the seed may be scalars.
    seeds: 0 6;
}
