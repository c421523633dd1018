//! What is stated of a function's error: the truth in `f64`, and the bound in units in the last place.

/// A function of one float.
#[derive(Clone, Copy, Debug)]
pub struct OneArgument {
    /// Its name in the language.
    pub name: &'static str,
    /// The function.
    pub function: fn(f32) -> f32,
    /// The same in `f64`, good to a few units in the last place of an `f64`.
    pub truth: fn(f64) -> f64,
    /// The largest error allowed, in units in the last place.
    pub bound: f64,
}

/// A function of two floats.
#[derive(Clone, Copy, Debug)]
pub struct TwoArguments {
    /// Its name in the language.
    pub name: &'static str,
    /// The function.
    pub function: fn(f32, f32) -> f32,
    /// The same in `f64`, good to a few units in the last place of an `f64`.
    pub truth: fn(f64, f64) -> f64,
    /// The largest error allowed, in units in the last place.
    pub bound: f64,
}

/// A row of an area's list.
pub(super) const fn one(
    name: &'static str,
    function: fn(f32) -> f32,
    truth: fn(f64) -> f64,
    bound: f64,
) -> OneArgument {
    OneArgument {
        name,
        function,
        truth,
        bound,
    }
}

/// A row of an area's list.
pub(super) const fn two(
    name: &'static str,
    function: fn(f32, f32) -> f32,
    truth: fn(f64, f64) -> f64,
    bound: f64,
) -> TwoArguments {
    TwoArguments {
        name,
        function,
        truth,
        bound,
    }
}
