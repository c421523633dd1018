//! Superinstructions: two or three operations in one loop, so that intermediate values stay in the
//! processor's registers. They are compositions of the plain operations and round in the same way.

use super::{Op, choice, first, pairs, table as plain, three, two};
use crate::cpu::vector::{
    isa::Isa,
    kernel::{Kernel, Lane},
};
use sim_compiler::builtin::math::arithmetic::Fused as FusedOperations;
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

/// A value in which a name stands for the operation of a term.
macro_rules! any_term {
    ($term:expr, $name:ident => $value:expr) => {
        match $term {
            Term::Div => {
                type $name = plain::DivF;
                $value
            }
            term => no_division!(term, $name => $value),
        }
    };
}

/// The same for terms but divisions, which give `None`.
macro_rules! no_division {
    ($term:expr, $name:ident => $value:expr) => {
        match $term {
            Term::Add => {
                type $name = plain::AddF;
                $value
            }
            Term::Sub => {
                type $name = plain::SubF;
                $value
            }
            Term::Mul => {
                type $name = plain::MulF;
                $value
            }
            Term::Div => None,
        }
    };
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
    /// The destination, minus `a * b`.
    Deduct,
    /// The destination, plus `a * b`, plus `c * e`.
    AccumulateTwo,
}

impl Fused {
    /// The number of operands.
    pub fn arity(self) -> usize {
        match self {
            Fused::Update(_) | Fused::Keep | Fused::Drop => 1,
            Fused::Finish(..) | Fused::Accumulate | Fused::Deduct => 2,
            Fused::Then(..) | Fused::From(..) => 3,
            Fused::Both(..) | Fused::Choose(_) | Fused::AccumulateTwo => 4,
        }
    }

    /// Whether it reads its destination.
    pub fn reads_destination(self) -> bool {
        matches!(
            self,
            Fused::Update(_)
                | Fused::Keep
                | Fused::Drop
                | Fused::Accumulate
                | Fused::Deduct
                | Fused::AccumulateTwo
        )
    }

    /// See [`super::Code::kernel`].
    pub(super) fn kernel<L: Lane>(self, scalars: u8, isa: Isa) -> Option<Kernel<L>> {
        match self {
            Fused::Then(first, second) => no_division!(first, P => {
                any_term!(second, Q => three::<L, Then<P, Q>>(scalars, isa))
            }),
            Fused::From(outer, inner) => no_division!(inner, P => match outer {
                Term::Sub => three::<L, From<plain::SubF, P>>(scalars, isa),
                Term::Div => three::<L, From<plain::DivF, P>>(scalars, isa),
                Term::Add | Term::Mul => None,
            }),
            Fused::Both(left, right, between) => no_division!(left, P => {
                no_division!(right, Q => {
                    any_term!(between, R => pairs::<L, Both<P, Q, R>>(scalars, isa))
                })
            }),
            Fused::Choose(test) => match test {
                Test::EqF => choice::<L, Choose<plain::EqF>>(scalars, isa),
                Test::LtF => choice::<L, Choose<plain::LtF>>(scalars, isa),
                Test::LeF => choice::<L, Choose<plain::LeF>>(scalars, isa),
                Test::GtF => choice::<L, Choose<plain::GtF>>(scalars, isa),
                Test::GeF => choice::<L, Choose<plain::GeF>>(scalars, isa),
                Test::EqI => choice::<L, Choose<plain::EqI>>(scalars, isa),
                Test::LtI => choice::<L, Choose<plain::LtI>>(scalars, isa),
                Test::GtI => choice::<L, Choose<plain::GtI>>(scalars, isa),
            },
            Fused::Finish(finish, term) => match finish {
                Finish::Abs => finished::<L, plain::AbsF>(term, scalars, isa),
                Finish::Neg => finished::<L, plain::NegF>(term, scalars, isa),
                Finish::Sqrt => finished::<L, plain::Sqrt>(term, scalars, isa),
                Finish::Tanh => finished::<L, plain::Tanh>(term, scalars, isa),
                Finish::Sigmoid => finished::<L, plain::Sigmoid>(term, scalars, isa),
                Finish::Exp => finished::<L, plain::Exp>(term, scalars, isa),
            },
            Fused::Update(term) => any_term!(term, P => first::<L, Update<P>>(scalars, isa)),
            Fused::Keep => first::<L, Update<plain::And>>(scalars, isa),
            Fused::Drop => first::<L, Update<plain::AndNot>>(scalars, isa),
            Fused::Accumulate => two::<L, WithProduct<plain::AddF>>(scalars, isa),
            Fused::Deduct => two::<L, WithProduct<plain::SubF>>(scalars, isa),
            Fused::AccumulateTwo => pairs::<L, AccumulateTwo>(scalars, isa),
        }
    }
}

fn finished<L: Lane, F: Op>(term: Term, scalars: u8, isa: Isa) -> Option<Kernel<L>> {
    no_division!(term, P => two::<L, Finished<F, P>>(scalars, isa))
}

/// `a O b`
#[inline(always)]
fn joined<O: Op, L: Lane, F: FusedOperations>(a: L, b: L) -> L {
    O::apply::<L, F>(L::ZERO, a, b, L::ZERO, L::ZERO)
}

/// `(a P b) Q c`
struct Then<P, Q>(PhantomData<(P, Q)>);

impl<P: Op, Q: Op> Op for Then<P, Q> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(_: L, a: L, b: L, c: L, _: L) -> L {
        joined::<Q, L, F>(joined::<P, L, F>(a, b), c)
    }
}

/// `c Q (a P b)`
struct From<Q, P>(PhantomData<(Q, P)>);

impl<Q: Op, P: Op> Op for From<Q, P> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(_: L, a: L, b: L, c: L, _: L) -> L {
        joined::<Q, L, F>(c, joined::<P, L, F>(a, b))
    }
}

/// `(a P b) R (c Q e)`
struct Both<P, Q, R>(PhantomData<(P, Q, R)>);

impl<P: Op, Q: Op, R: Op> Op for Both<P, Q, R> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(_: L, a: L, b: L, c: L, e: L) -> L {
        joined::<R, L, F>(joined::<P, L, F>(a, b), joined::<Q, L, F>(c, e))
    }
}

/// `c` where `a T b`, else `e`
struct Choose<T>(PhantomData<T>);

impl<T: Op> Op for Choose<T> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(_: L, a: L, b: L, c: L, e: L) -> L {
        if joined::<T, L, F>(a, b).is_true() {
            c
        } else {
            e
        }
    }
}

/// `Q (a P b)`
struct Finished<Q, P>(PhantomData<(Q, P)>);

impl<Q: Op, P: Op> Op for Finished<Q, P> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(_: L, a: L, b: L, _: L, _: L) -> L {
        joined::<Q, L, F>(joined::<P, L, F>(a, b), L::ZERO)
    }
}

/// `d P a`
struct Update<P>(PhantomData<P>);

impl<P: Op> Op for Update<P> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(d: L, a: L, _: L, _: L, _: L) -> L {
        joined::<P, L, F>(d, a)
    }
}

/// `d P (a * b)`
struct WithProduct<P>(PhantomData<P>);

impl<P: Op> Op for WithProduct<P> {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(d: L, a: L, b: L, _: L, _: L) -> L {
        joined::<P, L, F>(d, joined::<plain::MulF, L, F>(a, b))
    }
}

struct AccumulateTwo;

impl Op for AccumulateTwo {
    #[inline(always)]
    fn apply<L: Lane, F: FusedOperations>(d: L, a: L, b: L, c: L, e: L) -> L {
        let one = joined::<plain::AddF, L, F>(d, joined::<plain::MulF, L, F>(a, b));
        joined::<plain::AddF, L, F>(one, joined::<plain::MulF, L, F>(c, e))
    }
}
