//! Measures the errors of the mathematical functions and prints the table of `docs/mathematics.md`.
//!
//! `accuracy [--exhaustive] [NAME...]`: without names all functions, without `--exhaustive` every 257th
//! float and the neighbourhoods of special ones. Built with `RUSTFLAGS="-C target-cpu=native"` it is
//! several times faster, because the fused multiply–adds are instructions then.

use std::num::NonZero;
use std::ops::Range;
use std::process::ExitCode;
use std::thread;

use sim_compiler::builtin::math::accuracy::{
    OneArgument, TwoArguments, of_one_argument, of_two_arguments, ulps,
};

/// Steps between the floats of a sample; odd, so that all low bits of the mantissa occur.
const STRIDE: u64 = 257;
/// How many floats next to a special one belong to the sample, on either side.
const NEIGHBOURS: i64 = 2_000;
/// Floats where something begins or ends: bounds of formulas, zeros, overflow, denormals.
const SPECIAL: [f32; 22] = [
    0.0,
    f32::MIN_POSITIVE,
    0.125,
    0.346_573_6,
    0.353_553_4,
    0.5,
    std::f32::consts::FRAC_1_SQRT_2,
    std::f32::consts::FRAC_PI_4,
    1.0,
    std::f32::consts::SQRT_2,
    std::f32::consts::FRAC_PI_2,
    2.0,
    std::f32::consts::PI,
    4.0,
    9.02,
    16.0,
    87.336_54,
    88.722_84,
    103.972_08,
    126.0,
    150.0,
    100_000.0,
];
/// Points of either axis of the grid for functions of two arguments.
const GRID: u32 = 4_096;

/// What was found of one function.
#[derive(Clone, Copy, Default)]
struct Found {
    worst: f64,
    at: [f32; 2],
    sum: f64,
    nearest: u64,
    count: u64,
}

impl Found {
    /// Takes in one result. Only finite true results other than 0 count for the mean.
    fn add(&mut self, at: [f32; 2], got: f32, truth: f64) {
        let error = ulps(got, truth);
        if error > self.worst {
            (self.worst, self.at) = (error, at);
        }
        if truth != 0.0 && truth.abs() <= f64::from(f32::MAX) {
            self.sum += error;
            self.nearest += u64::from(got == truth as f32);
            self.count += 1;
        }
    }

    fn merge(self, other: Found) -> Found {
        let larger = if other.worst > self.worst {
            other
        } else {
            self
        };
        Found {
            worst: larger.worst,
            at: larger.at,
            sum: self.sum + other.sum,
            nearest: self.nearest + other.nearest,
            count: self.count + other.count,
        }
    }

    fn print(&self, name: &str, bound: f64, arguments: usize) {
        let at: Vec<String> = (self.at[..arguments].iter())
            .map(|x| format!("{x:e}"))
            .collect();
        let count = self.count as f64;
        println!(
            "| `{name}` | {:.3} | `{}` | {:.3} | {:.2} % | {bound} | {} |",
            self.worst,
            at.join(", "),
            self.sum / count,
            100.0 * self.nearest as f64 / count,
            self.count
        );
    }
}

/// Splits a range over all cores and merges what each finds.
fn on_all_cores(range: Range<u64>, find: impl Fn(Range<u64>) -> Found + Sync) -> Found {
    let cores = thread::available_parallelism().map_or(1, NonZero::get) as u64;
    let share = (range.end - range.start).div_ceil(cores);
    let part = |k: u64| {
        let start = range.start + k * share;
        start.min(range.end)..(start + share).min(range.end)
    };
    thread::scope(|scope| {
        let find = &find;
        let workers: Vec<_> = (0..cores)
            .map(|k| scope.spawn(move || find(part(k))))
            .collect();
        (workers.into_iter())
            .map(|worker| worker.join().expect("a worker ends well"))
            .fold(Found::default(), Found::merge)
    })
}

fn one_argument(case: &OneArgument, stride: u64) -> Found {
    let try_one = |found: &mut Found, bits: u32| {
        let x = f32::from_bits(bits);
        let truth = (case.truth)(f64::from(x));
        found.add([x, 0.0], (case.function)(x), truth);
    };
    let mut found = on_all_cores(0..(1_u64 << 32).div_ceil(stride), |part| {
        let mut found = Found::default();
        for k in part {
            try_one(&mut found, (k * stride) as u32);
        }
        found
    });
    if stride > 1 {
        for x in SPECIAL.into_iter().flat_map(|x| [x, -x]) {
            for k in -NEIGHBOURS..=NEIGHBOURS {
                try_one(&mut found, (i64::from(x.to_bits()) + k) as u32);
            }
        }
    }
    found
}

/// The pairs of a grid. For `pow` the second argument is what makes the result 2^t for t spread over
/// [-150, 130], since almost all pairs of floats overflow; for others both go over all floats.
fn two_arguments(case: &TwoArguments) -> Found {
    let step = u32::MAX / GRID;
    on_all_cores(0..u64::from(GRID), |part| {
        let mut found = Found::default();
        for k in part {
            let a = f32::from_bits(k as u32 * step + 77);
            for j in 0..GRID {
                let b = if case.name == "pow" {
                    let t = f64::from(j) * (280.0 / f64::from(GRID)) - 150.0;
                    let base = f64::from(a).abs();
                    (t / base.log2()) as f32
                } else {
                    f32::from_bits(j * step + 1_234)
                };
                // Whole exponents for negative bases.
                let b = if case.name == "pow" && a < 0.0 {
                    b.round()
                } else {
                    b
                };
                let truth = (case.truth)(f64::from(a), f64::from(b));
                found.add([a, b], (case.function)(a, b), truth);
            }
        }
        found
    })
}

fn main() -> ExitCode {
    let mut names: Vec<String> = std::env::args().skip(1).collect();
    let all = names.len();
    names.retain(|name| name != "--exhaustive");
    let stride = if names.len() < all { 1 } else { STRIDE };
    let known = |name: &String| {
        of_one_argument().any(|case| case.name == name)
            || of_two_arguments().any(|case| case.name == name)
    };
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        eprintln!("accuracy: no function `{unknown}`; usage: accuracy [--exhaustive] [NAME...]");
        return ExitCode::FAILURE;
    }
    let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);
    println!("| function | largest ulp | at | mean ulp | nearest float | bound tested | results |");
    println!("|---|---|---|---|---|---|---|");
    let mut of_one: Vec<_> = of_one_argument().collect();
    of_one.sort_by_key(|case| case.name);
    for case in of_one.iter().filter(|case| wanted(case.name)) {
        one_argument(case, stride).print(case.name, case.bound, 1);
    }
    for case in of_two_arguments().filter(|case| wanted(case.name)) {
        two_arguments(case).print(case.name, case.bound, 2);
    }
    ExitCode::SUCCESS
}
