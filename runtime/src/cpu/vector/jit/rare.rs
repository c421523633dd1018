//! Slow paths: functions of arguments that are rare, which the code of a segment calls.

use sim_compiler::builtin::math::{self, primary};
use std::slice;

/// A function with an argument for which its usual code does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rare {
    /// The sine of a large angle.
    Sin,
    /// The cosine of a large angle.
    Cos,
}

/// Replaces those of so many values whose argument is rare.
///
/// # Safety
/// Both pointers must be those of so many floats.
pub type Replace = unsafe extern "sysv64" fn(values: *mut f32, arguments: *const f32, count: usize);

impl Rare {
    /// The function that computes it.
    pub fn replace(self) -> Replace {
        match self {
            Rare::Sin => sin,
            Rare::Cos => cos,
        }
    }
}

unsafe extern "sysv64" fn sin(values: *mut f32, arguments: *const f32, count: usize) {
    // SAFETY: by the caller.
    unsafe { of_large_angles(values, arguments, count, math::sin) }
}

unsafe extern "sysv64" fn cos(values: *mut f32, arguments: *const f32, count: usize) {
    // SAFETY: by the caller.
    unsafe { of_large_angles(values, arguments, count, math::cos) }
}

/// # Safety
/// See [`Replace`].
unsafe fn of_large_angles(
    values: *mut f32,
    angles: *const f32,
    count: usize,
    f: impl Fn(f32) -> f32,
) {
    // SAFETY: by the caller.
    let (values, angles) = unsafe {
        (
            slice::from_raw_parts_mut(values, count),
            slice::from_raw_parts(angles, count),
        )
    };
    for (value, &angle) in values.iter_mut().zip(angles) {
        if primary::needs_wide_reduction(angle) {
            *value = f(angle);
        }
    }
}
