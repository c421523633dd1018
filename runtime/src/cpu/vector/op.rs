//! The operations of the vector machine. Each is the scalar function over 32-bit words that defines it for
//! one agent. Kernels, the scalar unit and the reference interpreter all use these functions, which is why
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
    kernel::{Kernel, Op, kernel},
};

/// Types that fit in a word.
pub trait Word: Copy {
    /// From its word.
    fn of(word: u32) -> Self;
    /// Its word.
    fn word(self) -> u32;
}

impl Word for u32 {
    #[inline(always)]
    fn of(word: u32) -> u32 {
        word
    }
    #[inline(always)]
    fn word(self) -> u32 {
        self
    }
}

impl Word for i32 {
    #[inline(always)]
    fn of(word: u32) -> i32 {
        word as i32
    }
    #[inline(always)]
    fn word(self) -> u32 {
        self as u32
    }
}

impl Word for f32 {
    #[inline(always)]
    fn of(word: u32) -> f32 {
        f32::from_bits(word)
    }
    #[inline(always)]
    fn word(self) -> u32 {
        self.to_bits()
    }
}

impl Word for bool {
    /// Tests the sign bit, as blend instructions do.
    #[inline(always)]
    fn of(word: u32) -> bool {
        (word as i32) < 0
    }
    #[inline(always)]
    fn word(self) -> u32 {
        if self { u32::MAX } else { 0 }
    }
}

/// A function of the scalar unit: up to four words to one word.
pub type Scalar = fn([u32; 4]) -> u32;

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
    pub fn kernel(self, scalars: u8, isa: Isa) -> Option<Kernel> {
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
            fn $name<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
                match scalars {
                    $($scalars => Some(kernel::<O, $scalars>(isa)),)+
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
