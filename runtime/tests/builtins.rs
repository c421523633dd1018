//! Every row of the table of builtins, through the whole pipeline: its example holds, its derivative is the
//! slope, and the adapter's results are within its tolerance of the interpreter's.

use sim_compiler::builtin::{Area, Builtin, Class, Meaning, Pure, Slot, Tolerance, table};
use sim_compiler::ir::Type;
use sim_runtime::{Backend, Error, Simulation, Values};
use sim_tests::{compare::layouts, launch::has_gpu};
use std::fmt::Write;

/// Agents of the comparison, each with other arguments.
const SAMPLES: usize = 20_000;

fn compile(source: &str) -> Simulation {
    Simulation::compile(source).unwrap_or_else(|error| match error {
        Error::Compile { diagnostics, .. } => panic!("{diagnostics:#?}\n{source}"),
        other => panic!("{other}\n{source}"),
    })
}

fn pure_rows() -> impl Iterator<Item = (&'static Builtin, &'static Pure)> {
    table::rows().iter().filter_map(|row| match &row.meaning {
        Meaning::Pure(pure) => Some((row, pure)),
        Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => None,
    })
}

#[test]
fn every_example_holds() {
    let mut source = "agents 1\n".to_owned();
    for (k, row) in table::rows().iter().enumerate() {
        writeln!(source, "state example_{k} = {}", row.example).expect("a String takes all");
    }
    let run = compile(&source)
        .backend(Backend::Cpu)
        .run()
        .expect("it runs");
    for (k, row) in table::rows().iter().enumerate() {
        let held = run.state::<bool>(&format!("example_{k}")).expect("a bool");
        assert_eq!(held, [true], "{}", row.example);
    }
}

/// Points at which slopes are compared, one value per parameter; away from corners and poles.
const POINTS: [[f32; 3]; 5] = [
    [0.31, 0.62, 0.44],
    [0.72, 0.15, 0.58],
    [-0.37, 0.53, 0.29],
    [1.31, 2.35, 1.93],
    [-8.44, 3.35, 2.71],
];

#[test]
fn derivatives_are_slopes() {
    const H: f32 = 0.01;
    for (row, pure) in pure_rows() {
        let of_floats = (pure.params.iter())
            .all(|slot| matches!(slot.resolve(Type::F32), Type::F32 | Type::Bool));
        let scalar = pure.class.contains(Type::F32) && row.area() != Area::Vector;
        if !(of_floats && scalar) || pure.params.contains(&Slot::Bool) {
            continue;
        }
        let names = row.params.join(", ");
        let typed: Vec<String> = row.params.iter().map(|p| format!("{p}: f32")).collect();
        let mut source = format!(
            "agents 1\nfn value({}) -> f32 {{ return {}({names}) }}\n",
            typed.join(", "),
            row.name
        );
        for (k, derivative) in pure.derivative.iter().enumerate() {
            writeln!(
                source,
                "fn slope_{k}({}) -> f32 {{ return {derivative} }}",
                typed.join(", ")
            )
            .expect("a String");
            for (p, point) in POINTS.iter().enumerate() {
                let at = |shift: f32| {
                    let args: Vec<String> = (0..row.params.len())
                        .map(|j| format!("{:?}", point[j] + if j == k { shift } else { 0.0 }))
                        .collect();
                    args.join(", ")
                };
                writeln!(source, "output slope_{k}_{p} = slope_{k}({})", at(0.0))
                    .expect("a String");
                writeln!(
                    source,
                    "output rise_{k}_{p} = (value({}) - value({})) / {:?}",
                    at(H),
                    at(-H),
                    2.0 * H
                )
                .expect("a String");
            }
        }
        let run = compile(&source)
            .backend(Backend::Cpu)
            .run()
            .expect("it runs");
        let mut compared = 0;
        for k in 0..pure.derivative.len() {
            for (p, point) in POINTS.iter().enumerate() {
                let one = |name: &str| {
                    run.output::<f32>(&format!("{name}_{k}_{p}"))
                        .expect("a float")[0]
                };
                let (slope, rise) = (one("slope"), one("rise"));
                if rise.is_finite() {
                    compared += 1;
                    assert!(
                        (slope - rise).abs() <= 5e-3 * (1.0 + rise.abs()),
                        "{}: slope {slope}, rise {rise} by {} at {:?}",
                        row.name,
                        row.params[k],
                        point
                    );
                }
            }
        }
        assert!(compared > 0, "{}: no point in its domain", row.name);
    }
}

/// A cheap pseudorandom sequence of words.
struct Words(u32);

impl Words {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9);
        let mut x = self.0;
        x = (x ^ (x >> 16)).wrapping_mul(0x21F0_AAAD);
        x = (x ^ (x >> 15)).wrapping_mul(0xD35A_2D97);
        x ^ (x >> 15)
    }

    fn unit(&mut self) -> f32 {
        (self.next() >> 8) as f32 / 16_777_216.0
    }

    /// In [-size, size).
    fn within(&mut self, size: f32) -> f32 {
        (2.0 * self.unit() - 1.0) * size
    }

    /// A third each in [-1, 1), in [-10, 10), and of any size from 1e-6 to `size` and either sign; none above
    /// that.
    fn up_to(&mut self, size: f32) -> f32 {
        match self.next() % 3 {
            0 => self.within(size.min(1.0)),
            1 => self.within(size.min(10.0)),
            _ => {
                let (low, high) = (-6.0, size.log10());
                let exponent = low + (high - low) * self.unit();
                10.0_f32.powf(exponent).min(size).copysign(self.within(1.0))
            }
        }
    }
}

/// The magnitudes up to which tolerances hold, in the order of the table.
fn sizes() -> Vec<f32> {
    let mut sizes: Vec<f32> = Vec::new();
    for (_, pure) in pure_rows() {
        let size = pure.tolerance.largest_argument();
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    sizes
}

/// The input that parameter `k` of a row reads: floats as large as its tolerance is for.
fn input(row: &Builtin, pure: &Pure, slot: Slot, t: Type, k: usize) -> String {
    let ty = slot.resolve(t);
    let size = sizes()
        .iter()
        .position(|&size| size == pure.tolerance.largest_argument());
    let size = size.expect("its size is among them");
    match ty {
        Type::I32 if row.name == "ldexp" => "exponent".to_owned(),
        Type::I32 | Type::U32 | Type::Bool => format!("{}_{k}", ty.name()),
        Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => format!("{}_{size}_{k}", ty.name()),
    }
}

const TYPES: [Type; 7] = [
    Type::F32,
    Type::I32,
    Type::U32,
    Type::Bool,
    Type::Vec2,
    Type::Vec3,
    Type::Vec4,
];

/// Every row at every type, as the name of an output.
fn calls() -> Vec<(String, &'static Builtin, &'static Pure, String)> {
    let mut calls = Vec::new();
    for (row, pure) in pure_rows() {
        let generic = pure.params.contains(&Slot::T);
        for t in TYPES {
            let fits = if generic {
                pure.class.contains(t)
            } else {
                t == Type::F32
            };
            // Functions with helpers only are called once per component.
            if fits && !(t == Type::Bool && pure.class != Class::Any) {
                let args: Vec<String> = (pure.params.iter().enumerate())
                    .map(|(k, &slot)| input(row, pure, slot, t, k))
                    .collect();
                let name = format!("{}_{}", row.name.to_lowercase(), t.name());
                calls.push((
                    name,
                    row,
                    pure,
                    format!("{}({})", row.name, args.join(", ")),
                ));
            }
        }
    }
    calls
}

fn model() -> Simulation {
    let sizes = sizes();
    let mut source = String::new();
    for k in 0..4 {
        for ty in ["i32", "u32", "bool"] {
            writeln!(source, "input {ty}_{k}: {ty}").expect("a String takes all");
        }
        for size in 0..sizes.len() {
            for ty in ["f32", "vec2", "vec3", "vec4"] {
                writeln!(source, "input {ty}_{size}_{k}: {ty}").expect("a String takes all");
            }
        }
    }
    source += "input exponent: i32\n";
    for (name, _, _, call) in calls() {
        writeln!(source, "output {name} = {call}").expect("a String takes all");
    }
    let mut words = Words(1);
    let mut model = compile(&source).agents(SAMPLES as u32);
    let few = |words: &mut Words| words.next() >> (words.next() % 32);
    for k in 0..4 {
        for (number, &size) in sizes.iter().enumerate() {
            for (n, ty) in ["f32", "vec2", "vec3", "vec4"].into_iter().enumerate() {
                let count = (n + 1) * SAMPLES;
                let values: Vec<f32> = (0..count).map(|_| words.up_to(size)).collect();
                let name = format!("{ty}_{number}_{k}");
                model = model.input(&name, values).expect("fits");
            }
        }
        let unsigned: Vec<u32> = (0..SAMPLES).map(|_| few(&mut words)).collect();
        let signed: Vec<i32> = (0..SAMPLES).map(|_| few(&mut words) as i32).collect();
        let bools: Vec<bool> = (0..SAMPLES).map(|_| words.next() & 1 == 1).collect();
        model = model.input(&format!("u32_{k}"), unsigned).expect("fits");
        model = model.input(&format!("i32_{k}"), signed).expect("fits");
        model = model.input(&format!("bool_{k}"), bools).expect("fits");
    }
    let exponents: Vec<i32> = (0..SAMPLES)
        .map(|_| (words.next() % 300) as i32 - 150)
        .collect();
    model.input("exponent", exponents).expect("fits")
}

/// The error of `got` relative to the tolerance; 0 without a tolerance.
fn excess(tolerance: Tolerance, truth: f32, got: f32) -> f32 {
    let promised = truth == 0.0 || truth.is_normal();
    let flushed = truth.abs() < 2.0 * f32::MIN_POSITIVE && got == 0.0;
    if !promised || flushed || truth == got {
        return 0.0;
    }
    let error = (got - truth).abs();
    let error = if error.is_nan() { f32::INFINITY } else { error };
    let unit = f32::from_bits(truth.abs().to_bits().max(0x0080_0000) & 0x7f80_0000) * f32::EPSILON;
    match tolerance {
        Tolerance::Exact => f32::INFINITY,
        Tolerance::Ulp { ulp, .. } => error / (ulp * unit),
        Tolerance::Mixed {
            absolute, relative, ..
        } => error / absolute.max(relative * truth.abs()),
    }
}

#[test]
fn adapters_keep_the_tolerances() {
    if !has_gpu() {
        return;
    }
    let cpu = model().backend(Backend::Cpu).run().expect("it runs");
    let gpu = model().backend(Backend::Gpu).run().expect("it runs");
    assert_eq!(layouts(&gpu, &cpu), Ok(()));
    assert_eq!(cpu.outputs().len(), calls().len());
    let mut broken = String::new();
    let columns = cpu.outputs().iter().zip(gpu.outputs());
    for ((_, _, pure, call), (truth, got)) in calls().into_iter().zip(columns) {
        let floats = matches!(truth.values, Values::F32(_));
        let (truth, got) = (truth.values.words(), got.values.words());
        let mut worst = (0.0, 0, 0.0, 0.0);
        for (k, (&truth, &got)) in truth.iter().zip(&got).enumerate() {
            if floats {
                let (truth, got) = (f32::from_bits(truth), f32::from_bits(got));
                let excess = excess(pure.tolerance, truth, got);
                if excess > worst.0 {
                    worst = (excess, k, truth, got);
                }
            } else {
                assert_eq!(truth, got, "{call} of sample {k}");
            }
        }
        if worst.0 > 0.0 {
            let line = format!(
                "{call}: {:.3} of {:?}; {:e} is {:e} there, sample {}",
                worst.0, pure.tolerance, worst.2, worst.3, worst.1
            );
            println!("{line}");
            if worst.0 > 1.0 {
                broken += &line;
                broken.push('\n');
            }
        }
    }
    assert!(broken.is_empty(), "out of tolerance:\n{broken}");
}
