//! What passes and schedules may rely on about a builtin, beside its meaning: what a call costs, where its
//! results lie, and how it is computed under `--math precise`.

/// What a call costs a GPU.
///
/// `instructions` is what kernels have today, for choices of size; the operations by unit are what a good
/// kernel could do it with, for comparing a measured time with what a device could do at best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Instructions for each component of the widest argument.
    pub instructions: u32,
    /// Additions, multiplications and fused ones of `f32`, for each component of the first argument.
    pub float: u8,
    /// Operations of the special-function unit, likewise.
    pub special: u8,
    /// Integers, bits, comparisons and selections, likewise.
    pub integer: u8,
    /// Operations of the special-function unit for a call, however many components it has.
    pub special_once: u8,
    /// Do floats cost none of these operations? Signs are modifiers of operands.
    pub free_of_floats: bool,
}

impl Cost {
    /// Not stated: a test refuses the row.
    pub const UNSTATED: Cost = Cost::of(0);

    /// With these instructions for each component, and no operation of any unit yet.
    pub const fn of(instructions: u32) -> Cost {
        Cost {
            instructions,
            float: 0,
            special: 0,
            integer: 0,
            special_once: 0,
            free_of_floats: false,
        }
    }

    /// With operations of floats for each component.
    pub const fn float(self, float: u8) -> Cost {
        Cost { float, ..self }
    }

    /// With operations of the special-function unit for each component.
    pub const fn special(self, special: u8) -> Cost {
        Cost { special, ..self }
    }

    /// With operations of integers for each component.
    pub const fn integer(self, integer: u8) -> Cost {
        Cost { integer, ..self }
    }

    /// With operations of the special-function unit once a call.
    pub const fn special_once(self, special_once: u8) -> Cost {
        Cost {
            special_once,
            ..self
        }
    }

    /// With no operations where the first argument is of floats.
    pub const fn free_of_floats(self) -> Cost {
        Cost {
            free_of_floats: true,
            ..self
        }
    }
}

/// What computes a builtin under `--math precise`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precise {
    /// Not stated: a test refuses the row.
    Unstated,
    /// What computes it under `--math fast`: it is exact, off by a few roundings, or the only form.
    Same,
    /// This function of `precise/functions.wgsl`.
    Form(&'static str),
}

/// Where the results of a function of floats lie, for one component.
#[derive(Clone, Copy, Debug)]
pub enum Bounds {
    /// Nothing is known, or nobody asks.
    Any,
    /// From -1 to 1, or NaN.
    Unit,
    /// Between those of the argument's ends under this function, which grows with its argument and is nowhere
    /// negative.
    Growing(fn(f64) -> f64),
    /// Where the argument lies, without its sign.
    Magnitude,
    /// The smaller of two arguments.
    Least,
    /// The larger of two arguments.
    Most,
    /// The first argument between the other two.
    Clamped,
}
