//! The rows, by area, and the constants that name them.

/// Declares the constants of an area's rows: each is the name of its row in capitals. A constant without a
/// row does not compile.
macro_rules! ids {
    ($($id:ident),+ $(,)?) => {
        impl crate::builtin::BuiltinId {
            $(
                #[doc = concat!("The builtin whose name is `", stringify!($id), "` in capitals.")]
                pub const $id: crate::builtin::BuiltinId = super::named(stringify!($id));
            )+
        }
    };
}

mod activation;
mod arithmetic;
mod bits;
mod exponential;
mod fold;
mod random;
mod trigonometry;
mod trigonometry_text;
mod vector;

use super::eval::ill_typed;
use super::{
    Area, Bounds, Builtin, BuiltinId, Class, Cost, Double, Meaning, Precise, Pure, Slot, Tolerance,
    Wgsl,
};
use crate::value::Value;

const AREAS: [(Area, &[Builtin]); 8] = [
    (Area::Arithmetic, arithmetic::ROWS),
    (Area::Exponential, exponential::ROWS),
    (Area::Trigonometry, trigonometry::ROWS),
    (Area::Activation, activation::ROWS),
    (Area::Vector, vector::ROWS),
    (Area::Bits, bits::ROWS),
    (Area::Fold, fold::ROWS),
    (Area::Random, random::ROWS),
];

/// How many builtins there are.
pub const COUNT: usize = {
    let (mut count, mut area) = (0, 0);
    while area < AREAS.len() {
        count += AREAS[area].1.len();
        area += 1;
    }
    count
};

static ROWS: [Builtin; COUNT] = {
    let mut rows = [AREAS[0].1[0]; COUNT];
    let (mut next, mut area) = (0, 0);
    while area < AREAS.len() {
        let mut k = 0;
        while k < AREAS[area].1.len() {
            rows[next] = kept(AREAS[area].1[k]);
            next += 1;
            k += 1;
        }
        area += 1;
    }
    rows
};

/// A row without what stands in a table of its own, so that a program without runs in `f64` lacks the
/// functions; and without derivatives, which no page takes.
const fn kept(mut row: Builtin) -> Builtin {
    if let Meaning::Pure(pure) = &mut row.meaning {
        pure.double = Double::Unstated;
        if cfg!(sim_web) {
            pure.derivative = &[];
        }
    }
    row
}

/// The meaning of each row in `f64`.
static DOUBLES: [Double; COUNT] = {
    let mut doubles = [Double::Unstated; COUNT];
    let (mut next, mut area) = (0, 0);
    while area < AREAS.len() {
        let mut k = 0;
        while k < AREAS[area].1.len() {
            if let Meaning::Pure(pure) = &AREAS[area].1[k].meaning {
                doubles[next] = pure.double;
            }
            next += 1;
            k += 1;
        }
        area += 1;
    }
    doubles
};

/// What a builtin means where floats are `f64`.
pub(super) fn double(id: BuiltinId) -> Double {
    DOUBLES[id.index()]
}

/// The area of each row.
static AREA_OF: [Area; COUNT] = {
    let mut areas = [Area::Arithmetic; COUNT];
    let (mut next, mut area) = (0, 0);
    while area < AREAS.len() {
        let mut k = 0;
        while k < AREAS[area].1.len() {
            areas[next] = AREAS[area].0;
            next += 1;
            k += 1;
        }
        area += 1;
    }
    areas
};

/// The builtin that a constant names.
///
/// # Panics
/// If there is none, which stops the compilation.
const fn named(constant: &str) -> BuiltinId {
    let mut k = 0;
    while k < COUNT {
        if is_in_capitals(constant, ROWS[k].name) {
            return BuiltinId(k as u16);
        }
        k += 1;
    }
    panic!("a constant names no row of the table of builtins")
}

/// Are these the same letters and digits, but for capitals and underlines?
const fn is_in_capitals(constant: &str, name: &str) -> bool {
    let (a, b) = (constant.as_bytes(), name.as_bytes());
    let (mut i, mut k) = (0, 0);
    while i < a.len() || k < b.len() {
        if i < a.len() && a[i] == b'_' {
            i += 1;
        } else if k < b.len() && b[k] == b'_' {
            k += 1;
        } else if i < a.len() && k < b.len() && a[i] == b[k].to_ascii_uppercase() {
            i += 1;
            k += 1;
        } else {
            return false;
        }
    }
    true
}

/// The area that has a row; of a name that several have, the number of parameters tells which.
pub(super) fn area(of: &Builtin) -> Area {
    let is_row = |row: &Builtin| row.name == of.name && row.params.len() == of.params.len();
    let place = ROWS.iter().position(is_row);
    AREA_OF[place.expect("every row is in the table")]
}

/// All builtins, by area.
pub fn rows() -> &'static [Builtin] {
    &ROWS
}

/// What rows of one shape share; each says its own meaning over it, and must say its cost and precise form.
const BLANK: Pure = Pure {
    class: Class::Float,
    params: &[Slot::T],
    result: Slot::T,
    eval: |args| args[0],
    double: Double::Unstated,
    wgsl: Wgsl::Native(""),
    precise: Precise::Unstated,
    cost: Cost::UNSTATED,
    bounds: Bounds::Any,
    derivative: &[],
    tolerance: Tolerance::Exact,
};

/// Of one float or vector.
const FLOAT_1: Pure = BLANK;

/// Of two floats or vectors.
const FLOAT_2: Pure = Pure {
    params: &[Slot::T, Slot::T],
    ..BLANK
};

/// Of three floats or vectors.
const FLOAT_3: Pure = Pure {
    params: &[Slot::T, Slot::T, Slot::T],
    ..BLANK
};

/// Of one integer.
const INTEGER_1: Pure = Pure {
    class: Class::Integer,
    ..BLANK
};

/// A function of three floats, component by component.
fn zip3<R: Copy>(a: Value<R>, b: Value<R>, c: Value<R>, f: impl Fn(R, R, R) -> R) -> Value<R> {
    match (a, b, c) {
        (Value::F32(a), Value::F32(b), Value::F32(c)) => Value::F32(f(a, b, c)),
        (Value::Vec2(a), Value::Vec2(b), Value::Vec2(c)) => Value::Vec2(triples(a, b, c, f)),
        (Value::Vec3(a), Value::Vec3(b), Value::Vec3(c)) => Value::Vec3(triples(a, b, c, f)),
        (Value::Vec4(a), Value::Vec4(b), Value::Vec4(c)) => Value::Vec4(triples(a, b, c, f)),
        _ => ill_typed("triple of floats"),
    }
}

fn triples<R: Copy, const N: usize>(
    a: [R; N],
    b: [R; N],
    c: [R; N],
    f: impl Fn(R, R, R) -> R,
) -> [R; N] {
    std::array::from_fn(|k| f(a[k], b[k], c[k]))
}
