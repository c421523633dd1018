//! Every builtin has a meaning in `f64`: that in `f32`, with more digits.

use super::*;
use crate::{
    builtin::{BuiltinId, Class, Meaning, Pure, Slot, eval},
    value::{BinaryOp, Type},
};

/// Arguments of a builtin that most functions take.
fn arguments(pure: &Pure, t: Type, seed: u32) -> Vec<Value> {
    let float = |k: u32| {
        let word = (seed * 31 + k).wrapping_mul(2_654_435_769);
        0.05 + 0.9 * (word >> 8) as f32 / 16_777_216.0
    };
    let slots = pure.params.iter().zip(0_u32..);
    let value = |(slot, at): (&Slot, u32)| match slot.resolve(t) {
        Type::Bool => Value::Bool(seed & 1 == 1),
        Type::I32 => Value::I32((seed % 7) as i32 - 3),
        Type::U32 => Value::U32(seed.wrapping_mul(1 << 27 | 977) + at),
        ty => {
            let parts: Vec<f32> = (0..4).map(|k| float(at * 4 + k)).collect();
            Value::from_floats(&parts[..ty.components()])
        }
    };
    slots.map(value).collect()
}

#[test]
fn every_builtin_means_the_same_in_f64() {
    let types = [
        Type::F32,
        Type::I32,
        Type::U32,
        Type::Vec2,
        Type::Vec3,
        Type::Vec4,
    ];
    let mut compared = 0;
    for id in BuiltinId::all() {
        let Meaning::Pure(pure) = &id.row().meaning else {
            continue;
        };
        let fits = |ty: &Type| pure.class.contains(*ty) || pure.class == Class::Any;
        for ty in types.into_iter().filter(fits) {
            for seed in 0..20 {
                let args = arguments(pure, ty, seed);
                let wide: Vec<Value<f64>> =
                    args.iter().map(|arg| arg.map_floats(f64::from)).collect();
                let (single, double) = ((pure.eval)(&args), f64::apply(id, &wide));
                assert_eq!(single.ty(), double.ty(), "{}", id.row().name);
                for (a, b) in single.floats().iter().zip(double.floats()) {
                    let (a, name) = (f64::from(*a), id.row().name);
                    let near =
                        (a - b).abs() <= 2e-6 * b.abs().max(0.1) || (a.is_nan() && b.is_nan());
                    assert!(near, "{name}{args:?} is {a} in f32 and {b} in f64");
                    compared += 1;
                }
                if single.floats().is_empty() {
                    assert_eq!(single, double.map_floats(|x| x as f32), "{}", id.row().name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 3000, "only {compared} values were compared");
}

#[test]
fn conversions_and_bits_are_those_of_the_language() {
    let big = Value::F32(1e30_f64);
    assert!(matches!(
        eval::convert(Type::I32, big),
        Value::I32(2_147_483_520)
    ));
    assert!(matches!(
        eval::convert(Type::U32, Value::F32(-1.5_f64)),
        Value::U32(0)
    ));
    assert!(matches!(
        eval::convert(Type::I32, Value::F32(f64::NAN)),
        Value::I32(0)
    ));
    // A conversion from an integer keeps all of it.
    let back = eval::convert(Type::F32, Value::<f64>::I32(16_777_217));
    assert!(matches!(back, Value::F32(x) if x == 16_777_217.0));
    // Bits are those of the nearest `f32`.
    let bits = eval::bitcast(Type::U32, Value::F32(0.1_f64));
    assert!(matches!(bits, Value::U32(word) if word == 0.1_f32.to_bits()));
    let third = eval::binary(BinaryOp::Divide, Value::F32(1.0_f64), Value::F32(3.0));
    assert!(matches!(third, Value::F32(x) if x == 1.0 / 3.0));
}
