//! Superinstructions: two or three operations in one loop, so that intermediate values stay in the
//! processor's registers. They are compositions of the plain operations and round in the same way.

use super::{Op, Word, choice, first, pairs, table as plain, three, two};
use crate::cpu::vector::{isa::Isa, kernel::Kernel};
use std::marker::PhantomData;

/// Arithmetic that may be fused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Term {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`
    Div,
}

/// Comparisons that may be fused with a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Test {
    /// Of floats, `==`.
    EqF,
    /// Of floats, `<`.
    LtF,
    /// Of floats, `<=`.
    LeF,
    /// Of floats, `>`.
    GtF,
    /// Of floats, `>=`.
    GeF,
    /// Of integers, `==`.
    EqI,
    /// Of signed integers, `<`.
    LtI,
    /// Of signed integers, `>`.
    GtI,
}

/// Functions that may be applied to the result of a fused operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// The absolute value.
    Abs,
    /// The negation.
    Neg,
    /// The square root.
    Sqrt,
    /// The hyperbolic tangent.
    Tanh,
    /// The logistic function.
    Sigmoid,
    /// The exponential.
    Exp,
}

/// A superinstruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fused {
    /// `(a · b) · c`; the first operation is not a division.
    Then(Term, Term),
    /// `c · (a · b)`, the second operation first; the other is not a division, and `·` is `-` or `/`
    /// (the others commute).
    From(Term, Term),
    /// `(a · b) · (c · e)`: left, right, and the operation between; left and right are no divisions.
    Both(Term, Term, Term),
    /// `c` or `e` after a comparison of `a` and `b`.
    Choose(Test),
    /// `· (a · b)`; the operation is not a division.
    Finish(Finish, Term),
    /// The destination `· a`.
    Update(Term),
    /// The destination and `a`.
    Keep,
    /// The destination and not `a`.
    Drop,
    /// The destination, plus `a * b`.
    Accumulate,
    /// The destination, plus `a * b`, plus `c * e`.
    AccumulateTwo,
}

impl Fused {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            Fused::Update(_) | Fused::Keep | Fused::Drop => 1,
            Fused::Finish(..) | Fused::Accumulate => 2,
            Fused::Then(..) | Fused::From(..) => 3,
            Fused::Both(..) | Fused::Choose(_) | Fused::AccumulateTwo => 4,
        }
    }

    /// Whether it reads its destination.
    pub fn reads_destination(self) -> bool {
        matches!(
            self,
            Fused::Update(_) | Fused::Keep | Fused::Drop | Fused::Accumulate | Fused::AccumulateTwo
        )
    }

    /// See [`super::Code::kernel`].
    pub(super) fn kernel(self, scalars: u8, isa: Isa) -> Option<Kernel> {
        match self {
            Fused::Then(first, second) => match first {
                Term::Add => then::<plain::AddF>(second, scalars, isa),
                Term::Sub => then::<plain::SubF>(second, scalars, isa),
                Term::Mul => then::<plain::MulF>(second, scalars, isa),
                Term::Div => None,
            },
            Fused::From(outer, inner) => match inner {
                Term::Add => from::<plain::AddF>(outer, scalars, isa),
                Term::Sub => from::<plain::SubF>(outer, scalars, isa),
                Term::Mul => from::<plain::MulF>(outer, scalars, isa),
                Term::Div => None,
            },
            Fused::Both(left, right, between) => match left {
                Term::Add => both_left::<plain::AddF>(right, between, scalars, isa),
                Term::Sub => both_left::<plain::SubF>(right, between, scalars, isa),
                Term::Mul => both_left::<plain::MulF>(right, between, scalars, isa),
                Term::Div => None,
            },
            Fused::Choose(test) => match test {
                Test::EqF => choice::<Choose<plain::EqF>>(scalars, isa),
                Test::LtF => choice::<Choose<plain::LtF>>(scalars, isa),
                Test::LeF => choice::<Choose<plain::LeF>>(scalars, isa),
                Test::GtF => choice::<Choose<plain::GtF>>(scalars, isa),
                Test::GeF => choice::<Choose<plain::GeF>>(scalars, isa),
                Test::EqI => choice::<Choose<plain::EqI>>(scalars, isa),
                Test::LtI => choice::<Choose<plain::LtI>>(scalars, isa),
                Test::GtI => choice::<Choose<plain::GtI>>(scalars, isa),
            },
            Fused::Finish(finish, term) => match finish {
                Finish::Abs => finished::<plain::AbsF>(term, scalars, isa),
                Finish::Neg => finished::<plain::NegF>(term, scalars, isa),
                Finish::Sqrt => finished::<plain::Sqrt>(term, scalars, isa),
                Finish::Tanh => finished::<plain::Tanh>(term, scalars, isa),
                Finish::Sigmoid => finished::<plain::Sigmoid>(term, scalars, isa),
                Finish::Exp => finished::<plain::Exp>(term, scalars, isa),
            },
            Fused::Update(term) => match term {
                Term::Add => first::<Update<plain::AddF>>(scalars, isa),
                Term::Sub => first::<Update<plain::SubF>>(scalars, isa),
                Term::Mul => first::<Update<plain::MulF>>(scalars, isa),
                Term::Div => first::<Update<plain::DivF>>(scalars, isa),
            },
            Fused::Keep => first::<Update<plain::And>>(scalars, isa),
            Fused::Drop => first::<Update<plain::AndNot>>(scalars, isa),
            Fused::Accumulate => two::<Accumulate>(scalars, isa),
            Fused::AccumulateTwo => pairs::<AccumulateTwo>(scalars, isa),
        }
    }
}

fn then<P: Op>(second: Term, scalars: u8, isa: Isa) -> Option<Kernel> {
    match second {
        Term::Add => three::<Then<P, plain::AddF>>(scalars, isa),
        Term::Sub => three::<Then<P, plain::SubF>>(scalars, isa),
        Term::Mul => three::<Then<P, plain::MulF>>(scalars, isa),
        Term::Div => three::<Then<P, plain::DivF>>(scalars, isa),
    }
}

fn from<P: Op>(outer: Term, scalars: u8, isa: Isa) -> Option<Kernel> {
    match outer {
        Term::Sub => three::<From<plain::SubF, P>>(scalars, isa),
        Term::Div => three::<From<plain::DivF, P>>(scalars, isa),
        Term::Add | Term::Mul => None,
    }
}

fn both_left<P: Op>(right: Term, between: Term, scalars: u8, isa: Isa) -> Option<Kernel> {
    match right {
        Term::Add => both::<P, plain::AddF>(between, scalars, isa),
        Term::Sub => both::<P, plain::SubF>(between, scalars, isa),
        Term::Mul => both::<P, plain::MulF>(between, scalars, isa),
        Term::Div => None,
    }
}

fn both<P: Op, Q: Op>(between: Term, scalars: u8, isa: Isa) -> Option<Kernel> {
    match between {
        Term::Add => pairs::<Both<P, Q, plain::AddF>>(scalars, isa),
        Term::Sub => pairs::<Both<P, Q, plain::SubF>>(scalars, isa),
        Term::Mul => pairs::<Both<P, Q, plain::MulF>>(scalars, isa),
        Term::Div => pairs::<Both<P, Q, plain::DivF>>(scalars, isa),
    }
}

fn finished<F: Op>(term: Term, scalars: u8, isa: Isa) -> Option<Kernel> {
    match term {
        Term::Add => two::<Finished<F, plain::AddF>>(scalars, isa),
        Term::Sub => two::<Finished<F, plain::SubF>>(scalars, isa),
        Term::Mul => two::<Finished<F, plain::MulF>>(scalars, isa),
        Term::Div => None,
    }
}

/// `(a P b) Q c`
struct Then<P, Q>(PhantomData<(P, Q)>);

impl<P: Op, Q: Op> Op for Then<P, Q> {
    #[inline(always)]
    fn apply(_: u32, a: u32, b: u32, c: u32, _: u32) -> u32 {
        Q::apply(0, P::apply(0, a, b, 0, 0), c, 0, 0)
    }
}

/// `c Q (a P b)`
struct From<Q, P>(PhantomData<(Q, P)>);

impl<Q: Op, P: Op> Op for From<Q, P> {
    #[inline(always)]
    fn apply(_: u32, a: u32, b: u32, c: u32, _: u32) -> u32 {
        Q::apply(0, c, P::apply(0, a, b, 0, 0), 0, 0)
    }
}

/// `(a P b) R (c Q e)`
struct Both<P, Q, R>(PhantomData<(P, Q, R)>);

impl<P: Op, Q: Op, R: Op> Op for Both<P, Q, R> {
    #[inline(always)]
    fn apply(_: u32, a: u32, b: u32, c: u32, e: u32) -> u32 {
        R::apply(0, P::apply(0, a, b, 0, 0), Q::apply(0, c, e, 0, 0), 0, 0)
    }
}

/// `c` where `a T b`, else `e`
struct Choose<T>(PhantomData<T>);

impl<T: Op> Op for Choose<T> {
    #[inline(always)]
    fn apply(_: u32, a: u32, b: u32, c: u32, e: u32) -> u32 {
        if bool::of(T::apply(0, a, b, 0, 0)) {
            c
        } else {
            e
        }
    }
}

/// `F (a P b)`
struct Finished<F, P>(PhantomData<(F, P)>);

impl<F: Op, P: Op> Op for Finished<F, P> {
    #[inline(always)]
    fn apply(_: u32, a: u32, b: u32, _: u32, _: u32) -> u32 {
        F::apply(0, P::apply(0, a, b, 0, 0), 0, 0, 0)
    }
}

/// `d P a`
struct Update<P>(PhantomData<P>);

impl<P: Op> Op for Update<P> {
    #[inline(always)]
    fn apply(d: u32, a: u32, _: u32, _: u32, _: u32) -> u32 {
        P::apply(0, d, a, 0, 0)
    }
}

struct Accumulate;

impl Op for Accumulate {
    #[inline(always)]
    fn apply(d: u32, a: u32, b: u32, _: u32, _: u32) -> u32 {
        (f32::of(d) + f32::of(a) * f32::of(b)).word()
    }
}

struct AccumulateTwo;

impl Op for AccumulateTwo {
    #[inline(always)]
    fn apply(d: u32, a: u32, b: u32, c: u32, e: u32) -> u32 {
        (f32::of(d) + f32::of(a) * f32::of(b) + f32::of(c) * f32::of(e)).word()
    }
}
