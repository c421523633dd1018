//! The operations of the vector machine. Each is the scalar function over 32-bit words that defines it for
//! one agent. Kernels, the scalar unit and the reference interpreter all use these functions, which is why
//! their results have the same bits.
//!
//! A `bool` is all ones or all zeros here, as the result of vector comparisons and the mask of vector
//! selections; in storage it is 1 or 0.

mod fused;
mod table;

pub use fused::{Finish, Fused, Term, Test};
pub use table::{Cos, Plain, Sin};

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

/// The kernel of an operation with one operand.
fn one<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    (scalars == 0).then(|| kernel::<O, 0>(isa))
}

/// The kernels of an operation with one operand, which may be a scalar.
fn first<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        1 => Some(kernel::<O, 1>(isa)),
        _ => None,
    }
}

/// The kernels of an operation with two operands, of which one may be a scalar.
fn two<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        1 => Some(kernel::<O, 1>(isa)),
        2 => Some(kernel::<O, 2>(isa)),
        _ => None,
    }
}

/// The kernels of an operation with two operands, of which the second may be a scalar.
fn right<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        2 => Some(kernel::<O, 2>(isa)),
        _ => None,
    }
}

/// The kernels of an operation with three operands, of which not the first two, nor all, may be scalars.
fn three<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        1 => Some(kernel::<O, 1>(isa)),
        2 => Some(kernel::<O, 2>(isa)),
        4 => Some(kernel::<O, 4>(isa)),
        5 => Some(kernel::<O, 5>(isa)),
        6 => Some(kernel::<O, 6>(isa)),
        _ => None,
    }
}

/// The kernels of an operation on two pairs, the second of each of which may be a scalar.
fn pairs<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        2 => Some(kernel::<O, 2>(isa)),
        8 => Some(kernel::<O, 8>(isa)),
        10 => Some(kernel::<O, 10>(isa)),
        _ => None,
    }
}

/// The kernels of an operation with three operands, of which the third may be a scalar.
fn third<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        4 => Some(kernel::<O, 4>(isa)),
        _ => None,
    }
}

/// The kernels of an operation with four operands, of which the last two may both be scalars.
fn last_two<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        12 => Some(kernel::<O, 12>(isa)),
        _ => None,
    }
}

/// The kernels of Philox: the two words of the seed may be scalars, and with them the number.
fn philox<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        6 => Some(kernel::<O, 6>(isa)),
        14 => Some(kernel::<O, 14>(isa)),
        _ => None,
    }
}

/// The kernels of a selection by a comparison: the second, third and fourth operands may be scalars.
fn choice<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        2 => Some(kernel::<O, 2>(isa)),
        4 => Some(kernel::<O, 4>(isa)),
        6 => Some(kernel::<O, 6>(isa)),
        8 => Some(kernel::<O, 8>(isa)),
        10 => Some(kernel::<O, 10>(isa)),
        12 => Some(kernel::<O, 12>(isa)),
        14 => Some(kernel::<O, 14>(isa)),
        _ => None,
    }
}

/// The kernels of an agent's key: the two words of the seed may be scalars.
fn seeds<O: Op>(scalars: u8, isa: Isa) -> Option<Kernel> {
    match scalars {
        0 => Some(kernel::<O, 0>(isa)),
        6 => Some(kernel::<O, 6>(isa)),
        _ => None,
    }
}
