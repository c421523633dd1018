//! Random draws, after docs/random.md: the generator `KeyedHash`, and how distributions use its words.

use super::value::Value;

/// Pseudo-steps.
pub const INIT: u32 = 0xffff_ffff;
/// Of `finish`.
pub const FINISH: u32 = 0xffff_fffe;
/// Of the first drawn input; the next have lower numbers.
pub const INPUT: u32 = 0xffff_fffd;

type Key = (u32, u32);

const W: Key = (0xc13f_a9a9, 0x91e1_0da5);

fn word((k0, k1): Key, n: u32) -> u32 {
    let mut x = n.wrapping_mul(0x9e37_79b9).wrapping_add(k0) ^ k1;
    x ^= x >> 17;
    x = x
        .wrapping_mul(x.wrapping_mul(2).wrapping_add(0x21f0_aaad))
        .wrapping_add(k1);
    x ^= x >> 16;
    x = x.wrapping_mul(x.wrapping_mul(2).wrapping_add(0xd35a_2d97));
    x ^ x >> 17
}

/// The seed's low and high word, each with so many times its word of `W` added.
fn seed_key(seed: u64, times: u32) -> Key {
    let low = (seed as u32).wrapping_add(W.0.wrapping_mul(times));
    let high = ((seed >> 32) as u32).wrapping_add(W.1.wrapping_mul(times));
    (low, high)
}

fn agent_key(seed: u64, agent: u32) -> Key {
    let mut k0 = agent;
    let mut k1 = word(seed_key(seed, 0), k0);
    k0 ^= word(seed_key(seed, 1), k1);
    k1 ^= word(seed_key(seed, 2), k0);
    k0 ^= word(seed_key(seed, 3), k1);
    (k0, k1)
}

fn step_key((k0, k1): Key, step: u32) -> Key {
    let x = step.wrapping_mul(W.0).wrapping_add(k0);
    let mixed = (x ^ (x >> 16)).wrapping_mul(0x21f0_aaad).wrapping_add(k1);
    (mixed, step.wrapping_mul(W.1).wrapping_add(k1))
}

/// The words of an agent in a step, in order.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    key: Key,
    next: u32,
}

impl Words {
    /// From word 0.
    pub fn new(seed: u64, agent: u32, step: u32) -> Words {
        Words {
            key: step_key(agent_key(seed, agent), step),
            next: 0,
        }
    }

    fn take(&mut self) -> u32 {
        let taken = word(self.key, self.next);
        self.next = self.next.wrapping_add(1);
        taken
    }
}

/// The number in [0, 1) that a word stands for.
pub fn unit(word: u32) -> f32 {
    (word >> 8) as f32 / 16_777_216.0
}

/// Box and Muller in double precision: near the normal number that two words stand for.
pub fn normal_from(radius: u32, angle: u32) -> f32 {
    let u = (f64::from(radius) + 0.5) / 4_294_967_296.0;
    let angle = std::f64::consts::PI * f64::from(angle as i32) / 2_147_483_648.0;
    ((-2.0 * u.ln()).sqrt() * angle.cos()) as f32
}

/// A draw; its arguments are evaluated.
///
/// # Errors
/// A distribution that the evaluator does not know.
pub fn draw(name: &str, arguments: &[Value], words: &mut Words) -> Result<Value, String> {
    Ok(match (name, arguments) {
        ("random", []) => Value::F(unit(words.take())),
        ("normal", []) => Value::F(normal(words)),
        ("normal", [Value::F(mean), Value::F(deviation)]) => {
            Value::F(mean + deviation * normal(words))
        }
        ("uniform", [Value::F(a), Value::F(b)]) => Value::F(uniform(*a, *b, words)),
        ("exponential", [Value::F(rate)]) => Value::F(exponential(*rate, words)),
        ("bernoulli", [Value::F(p)]) => Value::B(bernoulli(*p, words)),
        ("randint", [Value::I(a), Value::I(b)]) => Value::I(randint(*a, *b, words)),
        ("categorical", [Value::A(weights)]) => Value::I(categorical(weights, words)),
        ("lognormal", [Value::F(mu), Value::F(sigma)]) => {
            Value::F(f64::from(mu + sigma * normal(words)).exp() as f32)
        }
        ("cauchy", [Value::F(location), Value::F(scale)]) => {
            Value::F(location + scale * cauchy(words))
        }
        ("laplace", [Value::F(location), Value::F(scale)]) => {
            let size = scale * exponential(1.0, words);
            let above = words.take() >= 1 << 31;
            Value::F(location + if above { size } else { -size })
        }
        ("student_t", [Value::F(freedom)]) => Value::F(student_t(*freedom, words)),
        ("geometric", [Value::F(p)]) => Value::I(geometric(*p, words)),
        _ => return Err(format!("a draw of `{name}` is not known")),
    })
}

fn normal(words: &mut Words) -> f32 {
    let (radius, angle) = (words.take(), words.take());
    normal_from(radius, angle)
}

/// `(w0, w1)`
fn pair(words: &mut Words) -> u64 {
    let high = u64::from(words.take());
    high << 32 | u64::from(words.take())
}

fn uniform(a: f32, b: f32, words: &mut Words) -> f32 {
    let x = a + (b - a) * unit(words.take());
    match (b > a, x >= b) {
        (false, _) if a.is_nan() || b.is_nan() => f32::NAN,
        (false, _) => a,
        (true, true) => b.next_down(),
        (true, false) => x,
    }
}

fn exponential(rate: f32, words: &mut Words) -> f32 {
    let u = (f64::from(words.take()) + 0.5) / 4_294_967_296.0;
    match rate > 0.0 || rate.is_nan() {
        true => (-u.ln() / f64::from(rate)) as f32,
        false => f32::INFINITY,
    }
}

fn cauchy(words: &mut Words) -> f32 {
    let part = (f64::from(words.take()) + 0.5) / 4_294_967_296.0 - 0.5;
    (std::f64::consts::PI * part).tan() as f32
}

fn student_t(freedom: f32, words: &mut Words) -> f32 {
    let u = (f64::from(words.take()) + 0.5) / 4_294_967_296.0;
    let angle = std::f64::consts::PI * f64::from(words.take() as i32) / 2_147_483_648.0;
    let n = f64::from(freedom).min(1e9);
    match freedom > 0.0 {
        true => ((n * (-2.0 / n * u.ln()).exp_m1()).sqrt() * angle.cos()) as f32,
        false => f32::NAN,
    }
}

/// By the digits of the number of failures, as the page describes them.
fn geometric(p: f32, words: &mut Words) -> i32 {
    let digits: Vec<f64> = (0..32).map(|_| f64::from(words.take())).collect();
    if p >= 1.0 {
        return 1;
    }
    if p < f32::MIN_POSITIVE || p.is_nan() {
        return i32::MAX;
    }
    let mut failures = 0_i64;
    for (j, word) in digits.iter().enumerate() {
        let q = ((-f64::from(p)).ln_1p() * 2f64.powi(j as i32)).exp();
        let chance = if j == 31 { q } else { q / (1.0 + q) };
        failures += i64::from(word / 4_294_967_296.0 < chance) << j;
    }
    failures.min(i64::from(i32::MAX) - 1) as i32 + 1
}

fn bernoulli(p: f32, words: &mut Words) -> bool {
    let bound = f64::from(p) * 18_446_744_073_709_551_616.0;
    u128::from(pair(words)) < bound as u128
}

fn randint(a: i32, b: i32, words: &mut Words) -> i32 {
    let width = (i64::from(b) - i64::from(a)).max(0) as u128;
    let whole = (width * u128::from(pair(words))) >> 64;
    a.wrapping_add(whole as u32 as i32)
}

/// Near the bits of the page: its weights are integers, these are doubles.
fn categorical(weights: &[Value], words: &mut Words) -> i32 {
    let weight = |value: &Value| match value {
        Value::F(x) if *x >= f32::MIN_POSITIVE => f64::from(*x),
        _ => 0.0,
    };
    let total: f64 = weights.iter().map(weight).sum();
    let bound = pair(words) as f64 / 18_446_744_073_709_551_616.0 * total;
    let mut cumulated = 0.0;
    let mut passed = 0;
    for value in &weights[..weights.len().saturating_sub(1)] {
        cumulated += weight(value);
        passed += i32::from(bound >= cumulated);
    }
    passed
}
