//! Operators and conversions, after docs/language.md, "Expressions" and "Nothing else converts by itself".

use super::value::{Ty, Value};

type Outcome = Result<Value, String>;

/// `-x !x ~x`
pub fn unary(operator: &str, x: Value) -> Outcome {
    Ok(match (operator, x) {
        ("-", Value::F(x)) => Value::F(-x),
        ("-", Value::I(x)) => Value::I(x.wrapping_neg()),
        ("-", Value::V(x)) => Value::V(x.into_iter().map(|x| -x).collect()),
        ("-", Value::Whole(x)) => Value::Whole(x.checked_neg().ok_or("overflow")?),
        ("-", Value::Real(x)) => Value::Real(-x),
        ("!", Value::B(x)) => Value::B(!x),
        ("~", Value::I(x)) => Value::I(!x),
        ("~", Value::U(x)) => Value::U(!x),
        ("~", Value::Whole(x)) => Value::Whole(!x),
        (operator, x) => return Err(format!("{operator}{x:?}")),
    })
}

/// Any operator but `&& || **`.
pub fn binary(operator: &str, left: Value, right: Value) -> Outcome {
    Ok(match (left, right) {
        (Value::F(a), Value::F(b)) => match compare(operator, a.partial_cmp(&b)) {
            Some(truth) => Value::B(truth),
            None => Value::F(float(operator, a, b)?),
        },
        (Value::V(a), Value::V(b)) => {
            let pairs = a.iter().zip(&b).map(|(a, b)| float(operator, *a, *b));
            Value::V(pairs.collect::<Result<_, _>>()?)
        }
        (Value::V(a), Value::F(b)) => {
            let all = a.iter().map(|a| float(operator, *a, b));
            Value::V(all.collect::<Result<_, _>>()?)
        }
        (Value::F(a), Value::V(b)) => {
            let all = b.iter().map(|b| float(operator, a, *b));
            Value::V(all.collect::<Result<_, _>>()?)
        }
        (a, Value::U(b)) if operator == "<<" || operator == ">>" => shift(operator, a, b)?,
        (a, Value::I(b)) if operator == "<<" || operator == ">>" => shift(operator, a, b as u32)?,
        (Value::I(a), Value::I(b)) => match compare(operator, Some(a.cmp(&b))) {
            Some(truth) => Value::B(truth),
            None => Value::I(signed(operator, a, b)?),
        },
        (Value::U(a), Value::U(b)) => match compare(operator, Some(a.cmp(&b))) {
            Some(truth) => Value::B(truth),
            None => Value::U(unsigned(operator, a, b)?),
        },
        (Value::B(a), Value::B(b)) => Value::B(equal(operator, a == b)?),
        (Value::E(a), Value::E(b)) => Value::B(equal(operator, a == b)?),
        (Value::Whole(a), Value::Whole(b)) => match compare(operator, Some(a.cmp(&b))) {
            Some(truth) => Value::B(truth),
            None => whole(operator, a, b)?,
        },
        (Value::Whole(a), Value::Real(b)) => real(operator, a as f64, b)?,
        (Value::Real(a), Value::Whole(b)) => real(operator, a, b as f64)?,
        (Value::Real(a), Value::Real(b)) => real(operator, a, b)?,
        (a, b) => return Err(format!("{a:?} {operator} {b:?}")),
    })
}

/// None if the operator compares nothing; no ordering is that of NaN.
fn compare(operator: &str, order: Option<std::cmp::Ordering>) -> Option<bool> {
    Some(match operator {
        "==" => order.is_some_and(|order| order.is_eq()),
        "!=" => order.is_none_or(|order| order.is_ne()),
        "<" => order.is_some_and(|order| order.is_lt()),
        "<=" => order.is_some_and(|order| order.is_le()),
        ">" => order.is_some_and(|order| order.is_gt()),
        ">=" => order.is_some_and(|order| order.is_ge()),
        _ => return None,
    })
}

fn equal(operator: &str, same: bool) -> Result<bool, String> {
    match operator {
        "==" => Ok(same),
        "!=" => Ok(!same),
        _ => Err(format!("`{operator}` of truths")),
    }
}

/// `f32`, each operation rounded.
pub fn float(operator: &str, a: f32, b: f32) -> Result<f32, String> {
    Ok(match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a - b * (a / b).trunc(),
        _ => return Err(format!("`{operator}` of floats")),
    })
}

fn signed(operator: &str, a: i32, b: i32) -> Result<i32, String> {
    Ok(match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" if b == 0 => a,
        "/" => a.wrapping_div(b),
        "%" if b == 0 => 0,
        "%" => a.wrapping_rem(b),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        _ => return Err(format!("`{operator}` of i32")),
    })
}

fn unsigned(operator: &str, a: u32, b: u32) -> Result<u32, String> {
    Ok(match operator {
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b).unwrap_or(a),
        "%" => a.checked_rem(b).unwrap_or(0),
        "&" => a & b,
        "|" => a | b,
        "^" => a ^ b,
        _ => return Err(format!("`{operator}` of u32")),
    })
}

fn shift(operator: &str, a: Value, by: u32) -> Outcome {
    let by = by % 32;
    Ok(match (operator, a) {
        ("<<", Value::I(a)) => Value::I(a << by),
        ("<<", Value::U(a)) => Value::U(a << by),
        (_, Value::I(a)) => Value::I(a >> by),
        (_, Value::U(a)) => Value::U(a >> by),
        (_, a) => return Err(format!("{a:?} {operator} {by}")),
    })
}

fn whole(operator: &str, a: i64, b: i64) -> Outcome {
    let exact = match operator {
        "+" => a.checked_add(b),
        "-" => a.checked_sub(b),
        "*" => a.checked_mul(b),
        "/" => a.checked_div(b),
        "%" => a.checked_rem(b),
        "&" => Some(a & b),
        "|" => Some(a | b),
        "^" => Some(a ^ b),
        "**" if b < 0 => {
            return Ok(Value::Real(
                (a as f64).powi(i32::try_from(b).map_err(|_| "overflow")?),
            ));
        }
        "**" => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
        "<<" => u32::try_from(b)
            .ok()
            .and_then(|b| a.checked_mul(1_i64.checked_shl(b)?)),
        ">>" => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
        _ => return Err(format!("`{operator}` of integers")),
    };
    exact
        .map(Value::Whole)
        .ok_or(format!("{a} {operator} {b} overflows"))
}

fn real(operator: &str, a: f64, b: f64) -> Outcome {
    if let Some(truth) = compare(operator, a.partial_cmp(&b)) {
        return Ok(Value::B(truth));
    }
    let result = match operator {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "/" => a / b,
        "%" => a - b * (a / b).trunc(),
        "**" => a.powf(b),
        _ => return Err(format!("`{operator}` of floats")),
    };
    match result.is_finite() {
        true => Ok(Value::Real(result)),
        false => Err(format!("{a} {operator} {b} is not finite")),
    }
}

/// `x ** n` by multiplication.
pub fn power(x: Value, n: u32) -> Outcome {
    Ok(match x {
        Value::I(x) => Value::I(x.wrapping_pow(n)),
        Value::U(x) => Value::U(x.wrapping_pow(n)),
        Value::F(x) => Value::F(float_power(x, n)),
        Value::V(x) => Value::V(x.into_iter().map(|x| float_power(x, n)).collect()),
        x => return Err(format!("{x:?} ** {n}")),
    })
}

/// The fourth power is the square of the square.
fn float_power(x: f32, n: u32) -> f32 {
    match n {
        1 => x,
        2 => x * x,
        3 => x * x * x,
        _ => (x * x) * (x * x),
    }
}

/// A conversion between scalars.
pub fn convert(x: Value, ty: &Ty) -> Outcome {
    Ok(match (x, ty) {
        (Value::F(x), Ty::F32) => Value::F(x),
        (Value::I(x), Ty::F32) => Value::F(x as f32),
        (Value::U(x) | Value::E(x), Ty::F32) => Value::F(x as f32),
        (Value::B(x), Ty::F32) => Value::F(if x { 1.0 } else { 0.0 }),
        (Value::F(x), Ty::I32) => Value::I((x as i32).min(2_147_483_520)),
        (Value::I(x), Ty::I32) => Value::I(x),
        (Value::U(x) | Value::E(x), Ty::I32) => Value::I(x as i32),
        (Value::B(x), Ty::I32) => Value::I(i32::from(x)),
        (Value::F(x), Ty::U32) => Value::U((x as u32).min(4_294_967_040)),
        (Value::I(x), Ty::U32) => Value::U(x as u32),
        (Value::U(x) | Value::E(x), Ty::U32) => Value::U(x),
        (Value::B(x), Ty::U32) => Value::U(u32::from(x)),
        (Value::F(x), Ty::Bool) => Value::B(x != 0.0),
        (Value::I(x), Ty::Bool) => Value::B(x != 0),
        (Value::U(x), Ty::Bool) => Value::B(x != 0),
        (Value::B(x), Ty::Bool) => Value::B(x),
        (x, ty) => return Err(format!("{ty:?} of {x:?}")),
    })
}

/// The same 32 bits in another type.
pub fn bitcast(x: Value, ty: &Ty) -> Outcome {
    let bits = match x {
        Value::F(x) => x.to_bits(),
        Value::I(x) => x as u32,
        Value::U(x) => x,
        x => return Err(format!("the bits of {x:?}")),
    };
    Ok(match ty {
        Ty::F32 => Value::F(f32::from_bits(bits)),
        Ty::I32 => Value::I(bits as i32),
        Ty::U32 => Value::U(bits),
        ty => return Err(format!("bits as {ty:?}")),
    })
}
