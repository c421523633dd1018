//! The meaning of the builtins on scalars, the same bits on every processor.
//!
//! The project's own transcendental functions use only operations that IEEE 754 rounds exactly (`+ - * /`,
//! square root, conversions, and [`arithmetic::fma`]), so neither the processor, the compiler nor a C library
//! has a say in the result. Two kinds of modules:
//!
//! * [`primary`]: `sin cos exp log tanh`, the functions of inner loops, in `f32`.
//! * All others compute in `f64` by the polynomials of [`wide`] and round once, which is simpler than
//!   error-compensated `f32` and all but correctly rounded.
//!
//! [`double`] has the same functions of `f64`.
//!
//! [`arithmetic`], [`bits`] and [`operator`] hold the rest: what the other builtins, the operators and the
//! conversions mean.
//!
//! Every function is straight-line code: values are computed and then selected, with no branch, call or
//! table. So a loop over lanes that inlines it becomes vector instructions, and its results are those of the
//! scalar function by construction. The one exception are large angles ([`needs_wide_reduction`]): a loop
//! calls [`sin_fast`], [`cos_fast`] and [`tan_fast`] and recomputes such lanes by [`sin`], [`cos`] and
//! [`tan`].
//!
//! Functions with fused operations have a second form, such as [`exp_by`], which is told where it stands
//! ([`arithmetic::Fused`]): on WebAssembly a loop over lanes fuses by another instruction than code for one
//! value.
//!
//! The `ERRORS` of each file are the largest errors allowed; `docs/mathematics.md` has those measured.

pub mod accuracy;
pub mod arithmetic;
pub mod bits;
pub mod double;
mod errors;
pub mod exponential;
pub mod gamma;
pub mod hyperbolic;
pub mod normal;
pub mod operator;
pub mod primary;
pub mod reduction;
pub mod special;
pub mod trigonometric;
pub mod wide;

pub use exponential::*;
pub use gamma::*;
pub use hyperbolic::*;
pub use normal::*;
pub use primary::{
    cos, cos_fast, cos_fast_by, exp, exp_by, log, log_by, needs_wide_reduction, sin, sin_fast,
    sin_fast_by, tanh, tanh_by,
};
pub use special::*;
pub use trigonometric::*;

#[cfg(test)]
mod tests;
