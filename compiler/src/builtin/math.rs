//! The project's own transcendental functions of `f32`: the same bits on every processor.
//!
//! They use only operations that IEEE 754 rounds exactly (`+ - * /`, square root, conversions, and fused
//! multiply–add where `mul_add` is written), so neither the processor, the compiler nor a C library has a
//! say in the result. Two kinds of rooms:
//!
//! * [`primary`]: `sin cos exp log tanh`, the functions of inner loops. Pure `f32` and branch-free in the
//!   usual range, so that a backend with vector lanes gets the same bits at full width.
//! * All others compute in `f64` by the plain series of [`wide`] and round once, which is simpler than
//!   error-compensated `f32` and all but correctly rounded.
//!
//! Largest errors, in units in the last place of the true result (`tests` measures them against the
//! standard library's `f64` functions and fails if one grows):
//!
//! | function | ulp | over |
//! |---|---|---|
//! | `sin`, `cos` | 1.6 | all |
//! | `exp` | 1.1 | all; below -87.3 the result is denormal and the unit its last bit |
//! | `log` | 0.9 | all, denormals too |
//! | `tanh` | 5.7 | all |
//! | `sigmoid` | 3.0 | all |
//! | `softplus` | 0.6 | all |
//! | `exp2 log2 pow tan asin acos atan atan2 sinh cosh asinh acosh atanh erf` | 0.51 | all |

pub mod arithmetic;
pub mod bits;
pub mod exponential;
pub mod hyperbolic;
pub mod operator;
pub mod primary;
pub mod reduction;
pub mod special;
pub mod trigonometric;
pub mod wide;

pub use exponential::{exp2, log2, pow};
pub use hyperbolic::{acosh, asinh, atanh, cosh, sinh};
pub use primary::{cos, cos_fast, exp, log, needs_wide_reduction, sin, sin_fast, tanh};
pub use special::{erf, normal_from, sigmoid, softplus};
pub use trigonometric::{acos, asin, atan, atan2, tan, tan_fast};

#[cfg(test)]
mod tests;
