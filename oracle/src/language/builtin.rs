//! Builtin functions of scalars and vectors, after docs/builtins.md. Those that docs/mathematics.md
//! defines within bounds only are computed in double precision and rounded.

use super::draw;
use super::value::Value;

type Outcome = Result<Value, String>;

/// A call; where the pages leave the result open, the reason goes to `open`.
pub fn call(name: &str, arguments: Vec<Value>, open: &mut Option<&'static str>) -> Outcome {
    if let Some(result) = of_words(name, &arguments) {
        return Ok(result);
    }
    if let Some(result) = of_whole_vectors(name, &arguments)? {
        return Ok(result);
    }
    match (name, &arguments[..]) {
        ("select", [reject, accept, Value::B(condition)]) => {
            return Ok(if *condition {
                accept.clone()
            } else {
                reject.clone()
            });
        }
        ("ldexp", [Value::F(x), Value::I(n)]) => {
            // Two factors that are exact in double precision; one rounding.
            let n = (*n).clamp(-400, 400);
            return Ok(Value::F((f64::from(*x) * 2_f64.powi(n)) as f32));
        }
        _ => {}
    }
    let count = arguments.iter().find_map(|argument| match argument {
        Value::V(components) => Some(components.len()),
        _ => None,
    });
    let Some(count) = count else {
        return componentwise(name, &arguments, open);
    };
    let mut components = Vec::new();
    for k in 0..count {
        let at = |argument: &Value| match argument {
            Value::V(components) => Value::F(components[k]),
            other => other.clone(),
        };
        let scalars: Vec<Value> = arguments.iter().map(at).collect();
        match componentwise(name, &scalars, open)? {
            Value::F(x) => components.push(x),
            other => return Err(format!("`{name}` gives {other:?}")),
        }
    }
    Ok(Value::V(components))
}

fn componentwise(name: &str, arguments: &[Value], open: &mut Option<&'static str>) -> Outcome {
    match *arguments {
        [Value::F(x)] => of_float(name, x).map(Value::F),
        [Value::F(x), Value::F(y)] => of_floats(name, x, y, open).map(Value::F),
        [Value::F(x), Value::F(y), Value::F(z)] => match name {
            "clamp" => Ok(Value::F(smaller(larger(x, y, open), z, open))),
            "fma" => Ok(Value::F(x.mul_add(y, z))),
            "mix" => Ok(Value::F(
                (f64::from(x) + f64::from(z) * (f64::from(y) - f64::from(x))) as f32,
            )),
            "smoothstep" => {
                let t =
                    ((f64::from(z) - f64::from(x)) / (f64::from(y) - f64::from(x))).clamp(0.0, 1.0);
                Ok(Value::F((t * t * (3.0 - 2.0 * t)) as f32))
            }
            _ => Err(format!("`{name}` is not known")),
        },
        [Value::I(x)] if name == "abs" => Ok(Value::I(x.wrapping_abs())),
        [Value::I(x)] if name == "sign" => Ok(Value::I(x.signum())),
        [Value::U(x)] if name == "abs" => Ok(Value::U(x)),
        [Value::I(x), Value::I(y)] if name == "max" => Ok(Value::I(x.max(y))),
        [Value::I(x), Value::I(y)] if name == "min" => Ok(Value::I(x.min(y))),
        [Value::U(x), Value::U(y)] if name == "max" => Ok(Value::U(x.max(y))),
        [Value::U(x), Value::U(y)] if name == "min" => Ok(Value::U(x.min(y))),
        [Value::I(x), Value::I(y), Value::I(z)] if name == "clamp" => Ok(Value::I(x.max(y).min(z))),
        [Value::U(x), Value::U(y), Value::U(z)] if name == "clamp" => Ok(Value::U(x.max(y).min(z))),
        // Abstract numbers are exact.
        [Value::Whole(x)] if name == "abs" => Ok(Value::Whole(x.abs())),
        [Value::Whole(x), Value::Whole(y)] if name == "max" => Ok(Value::Whole(x.max(y))),
        [Value::Whole(x), Value::Whole(y)] if name == "min" => Ok(Value::Whole(x.min(y))),
        _ => Err(format!("`{name}` of {arguments:?} is not known")),
    }
}

/// The larger of two; the other one if one is NaN. Of two zeros, the pages do not say which.
pub fn larger(x: f32, y: f32, open: &mut Option<&'static str>) -> f32 {
    if x == 0.0 && y == 0.0 && x.to_bits() != y.to_bits() {
        *open = Some("the larger of 0.0 and -0.0");
    }
    if y.is_nan() || x >= y { x } else { y }
}

/// The smaller of two.
pub fn smaller(x: f32, y: f32, open: &mut Option<&'static str>) -> f32 {
    if x == 0.0 && y == 0.0 && x.to_bits() != y.to_bits() {
        *open = Some("the smaller of 0.0 and -0.0");
    }
    if y.is_nan() || x <= y { x } else { y }
}

fn of_floats(name: &str, x: f32, y: f32, open: &mut Option<&'static str>) -> Result<f32, String> {
    let (a, b) = (f64::from(x), f64::from(y));
    Ok(match name {
        "max" => larger(x, y, open),
        "min" => smaller(x, y, open),
        "step" => {
            if y < x {
                0.0
            } else {
                1.0
            }
        }
        "atan2" => a.atan2(b) as f32,
        "pow" => a.powf(b) as f32,
        "distance" => (x - y).abs(),
        _ => return Err(format!("`{name}` is not known")),
    })
}

fn of_float(name: &str, x: f32) -> Result<f32, String> {
    let a = f64::from(x);
    Ok(match name {
        "abs" | "length" => x.abs(),
        "ceil" => x.ceil(),
        "floor" => x.floor(),
        "fract" => x - x.floor(),
        "round" => x.round_ties_even(),
        "trunc" => x.trunc(),
        "saturate" => {
            let mut ignored = None;
            smaller(larger(x, 0.0, &mut ignored), 1.0, &mut ignored)
        }
        "relu" => larger(x, 0.0, &mut None),
        "sign" if x > 0.0 => 1.0,
        "sign" if x < 0.0 => -1.0,
        "sign" => 0.0,
        "sqrt" => x.sqrt(),
        "exp" => a.exp() as f32,
        "exp2" => a.exp2() as f32,
        "inverseSqrt" => (1.0 / a.sqrt()) as f32,
        "log" => a.ln() as f32,
        "log2" => a.log2() as f32,
        "acos" => a.acos() as f32,
        "acosh" => a.acosh() as f32,
        "asin" => a.asin() as f32,
        "asinh" => a.asinh() as f32,
        "atan" => a.atan() as f32,
        "atanh" => a.atanh() as f32,
        "cos" => a.cos() as f32,
        "cosh" => a.cosh() as f32,
        "sin" => a.sin() as f32,
        "sinh" => a.sinh() as f32,
        "tan" => a.tan() as f32,
        "tanh" => a.tanh() as f32,
        "degrees" => a.to_degrees() as f32,
        "radians" => a.to_radians() as f32,
        "sigmoid" => (1.0 / (1.0 + (-a).exp())) as f32,
        "softplus" => (a.max(0.0) + (-a.abs()).exp().ln_1p()) as f32,
        "erf" => error_function(a) as f32,
        "erfc" => complement(a) as f32,
        "normal_cdf" => (0.5 * complement(-a / 2f64.sqrt())) as f32,
        "normal_quantile" => normal_quantile(a) as f32,
        "gamma" if a < 0.0 && a.floor() == a => f32::NAN,
        "gamma" if a == 0.0 => f32::INFINITY.copysign(x),
        "gamma" if a > 36.0 => f32::INFINITY,
        "gamma" => {
            let (log, sign) = log_gamma(a);
            (sign * log.exp()) as f32
        }
        "lgamma" if a <= 0.0 && a.floor() == a => f32::INFINITY,
        "lgamma" => log_gamma(a).0 as f32,
        _ => return Err(format!("`{name}` is not known")),
    })
}

/// The series of the error function near zero, its continued fraction beyond.
fn error_function(x: f64) -> f64 {
    if x.abs() < 3.0 {
        let (mut term, mut sum) = (x, x);
        for n in 1..120 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        return sum * 2.0 / std::f64::consts::PI.sqrt();
    }
    let mut fraction = 0.0;
    for n in (1..120).rev() {
        fraction = f64::from(n) / 2.0 / (x.abs() + fraction);
    }
    let rest = (-x * x).exp() / std::f64::consts::PI.sqrt() / (x.abs() + fraction);
    (1.0 - rest).copysign(x)
}

/// `1 - erf(x)`: by the continued fraction where that is small.
fn complement(x: f64) -> f64 {
    if x < 2.0 || x.is_nan() {
        return 1.0 - error_function(x);
    }
    let fraction = (1..200)
        .rev()
        .fold(0.0, |rest, n| f64::from(n) / 2.0 / (x + rest));
    (-x * x).exp() / std::f64::consts::PI.sqrt() / (x + fraction)
}

/// The logarithm of the size of the gamma function, and the function's sign: by Stirling's series beyond 20,
/// and from there by the factors between.
fn log_gamma(x: f64) -> (f64, f64) {
    if x < -30.0 {
        let sine = (std::f64::consts::PI * (x - x.round())).sin();
        let log = (std::f64::consts::PI / (x * sine).abs()).ln() - log_gamma(-x).0;
        return (log, 1.0);
    }
    let (mut at, mut factors) = (x, 1.0);
    while at < 20.0 {
        factors *= at;
        at += 1.0;
    }
    let series = 1.0 / (12.0 * at) - 1.0 / (360.0 * at.powi(3)) + 1.0 / (1260.0 * at.powi(5));
    let log = (at - 0.5) * at.ln() - at + 0.5 * (2.0 * std::f64::consts::PI).ln() + series;
    (log - f64::ln(f64::abs(factors)), f64::signum(factors))
}

/// By halving: the number below which a normal one lies with chance p.
fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p == 0.0 || p == 1.0 {
        return (p - 0.5) * f64::INFINITY;
    }
    // On the side of the small chance.
    let rest = p.min(1.0 - p);
    let (mut low, mut high) = (0.0, 40.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match 0.5 * complement(middle / 2f64.sqrt()) > rest {
            true => low = middle,
            false => high = middle,
        }
    }
    if p < 0.5 { -low } else { low }
}

fn of_whole_vectors(name: &str, arguments: &[Value]) -> Result<Option<Value>, String> {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    let scaled = |a: &[f32], by: f64| -> Vec<f32> {
        a.iter().map(|a| (f64::from(*a) * by) as f32).collect()
    };
    let minus =
        |a: &[f32], b: &[f32]| -> Vec<f32> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    Ok(Some(match (name, arguments) {
        ("dot", [Value::V(a), Value::V(b)]) => Value::F(dot(a, b) as f32),
        ("length", [Value::V(a)]) => Value::F(dot(a, a).sqrt() as f32),
        ("distance", [Value::V(a), Value::V(b)]) => {
            let between = minus(a, b);
            Value::F(dot(&between, &between).sqrt() as f32)
        }
        ("normalize", [Value::V(a)]) => Value::V(scaled(a, 1.0 / dot(a, a).sqrt())),
        ("cross", [Value::V(a), Value::V(b)]) => {
            let part = |i: usize, j: usize| {
                (f64::from(a[i]) * f64::from(b[j]) - f64::from(a[j]) * f64::from(b[i])) as f32
            };
            Value::V(vec![part(1, 2), part(2, 0), part(0, 1)])
        }
        ("faceForward", [Value::V(v), Value::V(incident), Value::V(reference)]) => {
            let apart = dot(incident, reference) < 0.0;
            Value::V(scaled(v, if apart { 1.0 } else { -1.0 }))
        }
        ("reflect", [Value::V(v), Value::V(normal)]) => {
            let twice = scaled(normal, 2.0 * dot(v, normal));
            Value::V(minus(v, &twice))
        }
        ("refract", [Value::V(v), Value::V(normal), Value::F(ratio)]) => {
            let (cosine, ratio) = (dot(normal, v), f64::from(*ratio));
            let k = 1.0 - ratio * ratio * (1.0 - cosine * cosine);
            let along = ratio * cosine + k.max(0.0).sqrt();
            let pairs = v.iter().zip(normal);
            let bent = pairs.map(|(v, n)| (ratio * f64::from(*v) - along * f64::from(*n)) as f32);
            Value::V(if k < 0.0 {
                vec![0.0; v.len()]
            } else {
                bent.collect()
            })
        }
        _ => return Ok(None),
    }))
}

fn of_words(name: &str, arguments: &[Value]) -> Option<Value> {
    if let [Value::U(x), rest @ ..] = arguments {
        let x = *x;
        return Some(match (name, rest) {
            ("unit", []) => Value::F(draw::unit(x)),
            ("normal_from", [Value::U(angle)]) => Value::F(draw::normal_from(x, *angle)),
            ("mul_high", [Value::U(y)]) => Value::U(((u64::from(x) * u64::from(*y)) >> 32) as u32),
            ("extractBits", [Value::U(offset), Value::U(count)]) => {
                Value::U(extract(x, *offset, *count))
            }
            ("insertBits", [Value::U(new), Value::U(offset), Value::U(count)]) => {
                let mask = field(*offset, *count);
                let moved = new.checked_shl(*offset).unwrap_or(0);
                Value::U((x & !mask) | (moved & mask))
            }
            ("firstLeadingBit", []) => Value::U(31_u32.wrapping_sub(x.leading_zeros())),
            ("firstTrailingBit", []) if x == 0 => Value::U(u32::MAX),
            ("firstTrailingBit", []) => Value::U(x.trailing_zeros()),
            (_, []) => Value::U(count_bits(name, x)?),
            _ => return None,
        });
    }
    let [Value::I(x)] = *arguments else {
        return None;
    };
    Some(Value::I(match name {
        "firstLeadingBit" if x < 0 => 31_i32 - (!x).leading_zeros() as i32,
        "firstLeadingBit" => 31 - x.leading_zeros() as i32,
        "firstTrailingBit" if x == 0 => -1,
        "firstTrailingBit" => x.trailing_zeros() as i32,
        _ => count_bits(name, x as u32)? as i32,
    }))
}

fn count_bits(name: &str, x: u32) -> Option<u32> {
    Some(match name {
        "countLeadingZeros" => x.leading_zeros(),
        "countOneBits" => x.count_ones(),
        "countTrailingZeros" => x.trailing_zeros(),
        "reverseBits" => x.reverse_bits(),
        _ => return None,
    })
}

/// `count` ones from bit `offset` on; bits past the 32nd do not count.
fn field(offset: u32, count: u32) -> u32 {
    let ones = if count >= 32 {
        u32::MAX
    } else {
        (1 << count) - 1
    };
    ones.checked_shl(offset).unwrap_or(0)
}

fn extract(x: u32, offset: u32, count: u32) -> u32 {
    let ones = if count >= 32 {
        u32::MAX
    } else {
        (1 << count) - 1
    };
    x.checked_shr(offset).unwrap_or(0) & ones
}
