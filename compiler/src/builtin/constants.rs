//! The constants of the language. A declaration of the same name hides one, as it hides any name outside it.
//! They are no rows of the table of words: editors take names in capitals for constants anyway.

/// A named number.
#[derive(Clone, Copy, Debug)]
pub struct NamedConstant {
    /// As a `.sim` file writes it.
    pub name: &'static str,
    /// What it is.
    pub value: NamedValue,
    /// One sentence.
    pub doc: &'static str,
}

/// The value of a named constant.
#[derive(Clone, Copy, Debug)]
pub enum NamedValue {
    /// As a literal of these digits: constants are computed of it in `f64`, and elsewhere it is an `f32`.
    Literal(f64),
    /// What no literal can say.
    Float(f32),
}

impl NamedConstant {
    /// The constant of this name.
    pub fn of(name: &str) -> Option<&'static NamedConstant> {
        CONSTANTS.iter().find(|row| row.name == name)
    }
}

/// All of them, in the order of the manual.
pub const CONSTANTS: [NamedConstant; 6] = [
    NamedConstant {
        name: "PI",
        value: NamedValue::Literal(std::f64::consts::PI),
        doc: "Half the circumference of the unit circle, 3.14159….",
    },
    NamedConstant {
        name: "TAU",
        value: NamedValue::Literal(std::f64::consts::TAU),
        doc: "The circumference of the unit circle, 2 π.",
    },
    NamedConstant {
        name: "E",
        value: NamedValue::Literal(std::f64::consts::E),
        doc: "The base of the natural logarithm, 2.71828….",
    },
    NamedConstant {
        name: "INFINITY",
        value: NamedValue::Float(f32::INFINITY),
        doc: "The `f32` above all numbers; `-INFINITY` is below all.",
    },
    NamedConstant {
        name: "NAN",
        value: NamedValue::Float(f32::NAN),
        doc: "The `f32` that is no number: unequal to everything, itself included.",
    },
    NamedConstant {
        name: "EPSILON",
        value: NamedValue::Literal(f32::EPSILON as f64),
        doc: "The distance from 1 to the next `f32`, 2^-23.",
    },
];
