//! Every distribution against its definition: moments, tails, extremes, and chi-squared or
//! Kolmogorov–Smirnov.
//!
//! `cargo test --release -p sim-tests --test integration draw_statistics -- --nocapture` with
//! `SIM_DRAWS=100_000_000` set
//! draws that many numbers of each and prints the table of docs/random.md; `SIM_DRAWS_ON=gpu` has the GPU
//! draw them.

use sim_runtime::{Backend, Simulation};
use sim_tests::distribution::{
    Beta, Cauchy, Distribution, Exponential, Gamma, Laplace, LogNormal, Normal, NormalBetween,
    StudentT, Uniform, Verdict, binomial, chi_squared, count_chance, geometric, kolmogorov_above,
    poisson,
};

/// Numbers of each distribution, if `SIM_DRAWS` does not say how many.
const DRAWS: u64 = 200_000;
/// Numbers of one run.
const CHUNK: u64 = 1 << 20;
/// Equally likely cells for numbers of continuous distributions.
const CELLS: usize = 1 << 16;

/// What a draw should give.
enum Truth {
    Continuous(Box<dyn Distribution>),
    /// The chances of whole numbers from the first on.
    Whole(i64, Vec<f64>),
    /// Equally likely classes of whole numbers.
    Classes(usize, fn(i64) -> usize),
}

fn setting<T: std::str::FromStr>(name: &str) -> Option<T> {
    let text = std::env::var(name).ok()?.replace('_', "");
    let value = text.parse().ok();
    assert!(value.is_some(), "{name} is no number");
    value
}

/// Hands numbers to `take`, a run of agents at a time.
fn draw(call: &str, take: &mut dyn FnMut(f64)) {
    let ty = match call.split('(').next().unwrap_or_default() {
        "bernoulli" => "bool",
        "randint" | "poisson" | "categorical" | "binomial" | "geometric" => "i32",
        _ => "f32",
    };
    let value = if ty == "bool" {
        format!("i32({call})")
    } else {
        call.to_owned()
    };
    let source = format!("state x = {value}\noutput x\n");
    let backend = match std::env::var("SIM_DRAWS_ON").as_deref() {
        Ok("gpu") => Backend::Gpu,
        _ => Backend::Cpu,
    };
    let simulation = Simulation::compile(&source).unwrap_or_else(|error| panic!("{call}: {error}"));
    // Each case has words of its own.
    let seed = call
        .bytes()
        .fold(17, |seed, byte| 31 * seed % 1_000_003 + u64::from(byte));
    let mut simulation = simulation.backend(backend).seed(seed);
    let count = setting("SIM_DRAWS").unwrap_or(DRAWS);
    for first in (0..count).step_by(CHUNK as usize) {
        let agents = CHUNK.min(count - first) as u32;
        simulation = simulation.first_agent(first as u32).agents(agents);
        let run = simulation.run();
        let run = run.unwrap_or_else(|error| panic!("{call}: {error}"));
        if ty == "f32" {
            let found = run.output::<f32>("x").expect("an output");
            found.iter().for_each(|&x| take(x.into()));
        } else {
            let found = run.output::<i32>("x").expect("an output");
            found.iter().for_each(|&x| take(x.into()));
        }
    }
}

/// Sums over a sample.
#[derive(Default)]
struct Sums {
    count: f64,
    first: f64,
    second: f64,
    far: f64,
    ends: Option<[f64; 2]>,
}

impl Sums {
    fn take(&mut self, x: f64, mean: f64, deviation: f64) {
        let away = x - mean;
        self.count += 1.0;
        self.first += away;
        self.second += away * away;
        self.far += f64::from(u8::from(away.abs() > 5.0 * deviation));
        let [least, most] = self.ends.unwrap_or([x, x]);
        self.ends = Some([least.min(x), most.max(x)]);
    }

    /// With the moments, the chance to be far, and those to be below the least number and above the largest.
    fn verdict(&self, moments: [f64; 3], far: f64, outside: [f64; 2], fit: f64) -> Verdict {
        let [_, variance, kurtosis] = moments;
        let n = self.count;
        let known = variance.is_finite();
        let error = (variance / n).sqrt();
        let spread = self.second / n - variance;
        let spread_error = variance * ((kurtosis - 1.0) / n).sqrt();
        Verdict {
            mean: if known { self.first / n / error } else { 0.0 },
            // Where the fourth moment is the least possible, the mean decides the variance.
            variance: if known && kurtosis > 1.001 {
                spread / spread_error
            } else {
                0.0
            },
            far: [self.far, far * n],
            far_chance: count_chance(self.far, far * n),
            ends: self.ends.unwrap_or_default(),
            ends_chance: outside.map(|chance| (-chance * n).exp()),
            fit,
        }
    }
}

fn continuous(call: &str, truth: &dyn Distribution) -> Verdict {
    let moments = truth.moments();
    let deviation = moments[1].sqrt();
    let mut sums = Sums::default();
    let mut cells = vec![0_u64; CELLS];
    draw(call, &mut |x| {
        sums.take(x, moments[0], deviation);
        let cell = truth.below(x) * CELLS as f64;
        cells[(cell as usize).min(CELLS - 1)] += 1;
    });
    let mut distance = 0_f64;
    let mut passed = 0.0;
    for (k, count) in cells.iter().enumerate() {
        passed += *count as f64 / sums.count;
        distance = distance.max((passed - (k + 1) as f64 / CELLS as f64).abs());
    }
    let fit = kolmogorov_above(distance * sums.count.sqrt());
    let far = truth.below(moments[0] - 5.0 * deviation) + truth.above(moments[0] + 5.0 * deviation);
    // A float stands for all that is rounded to it.
    let [least, most] = sums.ends.unwrap_or_default().map(|end| end as f32);
    let outside = [
        truth.below(least.next_down().into()),
        truth.above(most.next_up().into()),
    ];
    sums.verdict(moments, far, outside, fit)
}

fn whole(call: &str, first: i64, chances: &[f64]) -> Verdict {
    let over = |f: &dyn Fn(f64) -> f64| -> f64 {
        (chances.iter().enumerate())
            .map(|(k, chance)| chance * f((first + k as i64) as f64))
            .sum()
    };
    let mean = over(&|x| x);
    let variance = over(&|x| (x - mean).powi(2));
    let kurtosis = over(&|x| (x - mean).powi(4)) / (variance * variance);
    let deviation = variance.sqrt();
    let far = over(&|x| f64::from(u8::from((x - mean).abs() > 5.0 * deviation)));
    let mut sums = Sums::default();
    let mut counts = vec![0_u64; chances.len()];
    draw(call, &mut |x| {
        sums.take(x, mean, deviation);
        let cell = x as i64 - first;
        assert!((0..counts.len() as i64).contains(&cell), "{call} gives {x}");
        counts[cell as usize] += 1;
    });
    let [least, most] = sums.ends.unwrap_or_default();
    let outside = [
        over(&|x| f64::from(u8::from(x < least))),
        over(&|x| f64::from(u8::from(x > most))),
    ];
    let fit = chi_squared(&counts, chances, sums.count);
    sums.verdict([mean, variance, kurtosis], far, outside, fit)
}

fn classes(call: &str, count: usize, class: fn(i64) -> usize) -> Verdict {
    let mut counts = vec![0_u64; count];
    let mut sums = Sums::default();
    draw(call, &mut |x| {
        sums.take(x, 0.0, f64::INFINITY);
        counts[class(x as i64)] += 1;
    });
    let fit = chi_squared(&counts, &vec![1.0 / count as f64; count], sums.count);
    Verdict {
        mean: 0.0,
        variance: 0.0,
        far: [0.0; 2],
        far_chance: 1.0,
        ends: sums.ends.unwrap_or_default(),
        ends_chance: [1.0; 2],
        fit,
    }
}

/// Compares each case and prints its row.
fn judge(cases: Vec<(String, Truth)>) {
    let mut unfair = Vec::new();
    for (call, truth) in cases {
        let verdict = match truth {
            Truth::Continuous(truth) => continuous(&call, truth.as_ref()),
            Truth::Whole(first, chances) => whole(&call, first, &chances),
            Truth::Classes(count, class) => classes(&call, count, class),
        };
        let [far, expected] = verdict.far;
        let [least, most] = verdict.ends;
        eprintln!(
            "| `{call}` | {:.2} | {:.2} | {far} / {expected:.2} | {least:.9} | {most:.9} | {:.3} |",
            verdict.mean, verdict.variance, verdict.fit
        );
        if !verdict.is_fair() {
            unfair.push(format!("{call}: {verdict:?}"));
        }
    }
    assert!(unfair.is_empty(), "{}", unfair.join("\n"));
}

fn same(call: &str, truth: impl Distribution + 'static) -> (String, Truth) {
    (call.to_owned(), Truth::Continuous(Box::new(truth)))
}

#[test]
fn floats_have_their_distributions() {
    judge(vec![
        same("random()", Uniform(0.0, 1.0)),
        same("uniform(2.0, 3.0)", Uniform(2.0, 3.0)),
        same("uniform(-0.25, 0.5)", Uniform(-0.25, 0.5)),
        same("normal()", Normal(0.0, 1.0)),
        same("normal(-3.0, 0.5)", Normal(-3.0, 0.5)),
        same("exponential(1.0)", Exponential(1.0)),
        same("exponential(0.25)", Exponential(0.25)),
    ]);
}

#[test]
fn chances_are_exact() {
    let case = |p: f32| {
        let chances = vec![1.0 - f64::from(p), p.into()];
        (format!("bernoulli({p:?})"), Truth::Whole(0, chances))
    };
    let mut cases: Vec<_> = [0.5, 0.3, 0.999, 1e-3, 1e-6, 1e-7].map(case).into();
    cases.push((
        "categorical([1.0, 2.0, 5.0])".into(),
        weights(&[1.0, 2.0, 5.0]),
    ));
    let many = [0.0, 1e-6, 3.5, 0.25, 0.0, 1e-3, 0.1, 0.7, 2.0, 1e-7, 0.0];
    cases.push((format!("categorical({many:?})"), weights(&many)));
    judge(cases);
}

fn weights(weights: &[f64]) -> Truth {
    let sum: f64 = weights.iter().sum();
    Truth::Whole(0, weights.iter().map(|weight| weight / sum).collect())
}

#[test]
fn integers_are_equally_likely() {
    let equal = |a: i64, b: i64| {
        let chance = 1.0 / (b - a) as f64;
        let call = format!("randint({a}, {b})");
        (call, Truth::Whole(a, vec![chance; (b - a) as usize]))
    };
    let classes = |call: &str, count, class| (call.to_owned(), Truth::Classes(count, class));
    judge(vec![
        equal(0, 6),
        equal(-3, 1000),
        classes("randint(0, 1610612736)", 3, |x| x as usize % 3),
        classes("randint(0, 1610612736)", 1536, |x| (x >> 20) as usize),
        classes("randint(-2147483648, 2147483647)", 1 << 12, |x| {
            (x + (1 << 31)) as usize >> 20
        }),
        classes("randint(-2147483648, 2147483647)", 7, |x| {
            x.rem_euclid(7) as usize
        }),
    ]);
}

#[test]
fn poisson_numbers_have_their_chances() {
    let case = |mean: f32| {
        let (first, chances) = poisson(mean.into());
        (format!("poisson({mean:?})"), Truth::Whole(first, chances))
    };
    let small = [1e-3, 0.5, 1.0, 3.7, 9.99];
    let large = [
        10.0,
        12.5,
        35.6,
        100.0,
        699.9,
        700.0,
        5000.25,
        1e6,
        1073741824.0,
    ];
    judge(small.into_iter().chain(large).map(case).collect());
}

/// More laws of floats; docs/random.md has SciPy's verdict on them.
#[test]
fn floats_of_other_laws_have_their_distributions() {
    let tenth = f64::from(0.1_f32);
    judge(vec![
        same("lognormal(0.5, 0.25)", LogNormal(0.5, 0.25)),
        same("gamma(0.1, 1.0)", Gamma(tenth, 1.0)),
        same("gamma(1.0, 1.0)", Gamma(1.0, 1.0)),
        same("gamma(2.5, 3.0)", Gamma(2.5, 3.0)),
        same("gamma(30.0, 0.5)", Gamma(30.0, 0.5)),
        same("beta(0.5, 0.5)", Beta(0.5, 0.5)),
        same("beta(0.1, 3.0)", Beta(tenth, 3.0)),
        same("beta(20.0, 8.0)", Beta(20.0, 8.0)),
        same("chi_squared(3.0)", Gamma(1.5, 2.0)),
        same("student_t(2.5)", StudentT(2.5)),
        same("student_t(9.0)", StudentT(9.0)),
        same("cauchy(-2.0, 0.5)", Cauchy(-2.0, 0.5)),
        same("laplace(1.0, 2.0)", Laplace(1.0, 2.0)),
        same(
            "normal(1.0, 2.0, 0.0, 4.0)",
            NormalBetween(1.0, 2.0, 0.0, 4.0),
        ),
        same(
            "normal(0.0, 1.0, 6.0, INFINITY)",
            NormalBetween(0.0, 1.0, 6.0, f64::INFINITY),
        ),
        same(
            "normal(0.0, 1.0, -13.0, -12.0)",
            NormalBetween(0.0, 1.0, -13.0, -12.0),
        ),
    ]);
}

#[test]
fn counts_have_their_chances() {
    let successes = |n: i64, p: f32| {
        let (first, chances) = binomial(n, p.into());
        (
            format!("binomial({n}, {p:?})"),
            Truth::Whole(first, chances),
        )
    };
    let trials = |p: f32| {
        let chances = geometric(p.into());
        (format!("geometric({p:?})"), Truth::Whole(1, chances))
    };
    judge(vec![
        successes(1, 0.001),
        successes(10, 0.3),
        successes(17, 0.5),
        successes(20, 0.5),
        successes(50, 0.9),
        successes(1_000, 1e-5),
        successes(1_000, 0.35),
        successes(2_000_000_000, 0.75),
        trials(0.9),
        trials(0.5),
        trials(0.01),
        trials(1e-5),
    ]);
}
