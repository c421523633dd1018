//! NaN, infinities, zeros of both signs, denormals, the largest values and halfway cases through every
//! builtin, operator and conversion, on the vector machine with every instruction set that is here: the same
//! bits as the reference interpreter's.

use sim_compiler::builtin::{Class, Meaning, Slot, table};
use sim_compiler::ir::Type;
use sim_runtime::{Backend, Isa, Run, Simulation};
use std::fmt::Write;

/// Where rounding, signs, ranges and reductions have their edges.
const FLOATS: [f32; 36] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    -2.5,
    3.0,
    -3.7,
    8_388_607.5,
    16_777_216.0,
    -16_777_217.0,
    2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_296.0,
    100_000.0,
    100_001.0,
    std::f32::consts::PI,
    -std::f32::consts::FRAC_PI_2,
    0.999_999_94,
    1.000_000_1,
    88.72,
    -87.5,
    -103.5,
    1e-45,
    -1e-45,
    1.175_494_2e-38,
    1.175_494_4e-38,
    -1.175_494_4e-38,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

const INTEGERS: [u32; 12] = [
    0,
    1,
    2,
    5,
    31,
    32,
    33,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

/// Every pair of floats and every pair of integers, with a third and a fourth that go through all too.
const AGENTS: usize = FLOATS.len() * FLOATS.len() * 12;

fn float(agent: usize, which: usize) -> f32 {
    let count = FLOATS.len();
    FLOATS[match which {
        0 => agent % count,
        1 => agent / count % count,
        _ => (agent / count / count * 3 + agent) % count,
    }]
}

fn integer(agent: usize, which: usize) -> u32 {
    let count = INTEGERS.len();
    INTEGERS[match which {
        0 => agent % count,
        1 => agent / count % count,
        2 => agent / count / count % count,
        _ => (agent * 7 + agent / 5) % count,
    }]
}

/// Parameter `k` of type `ty`, of inputs.
fn argument(ty: Type, k: usize) -> String {
    let f = |j: usize| format!("f{}", (j + k) % 3);
    match ty {
        Type::F32 => f(0),
        Type::I32 => format!("i{k}"),
        Type::U32 => format!("u{k}"),
        Type::Bool => "(u3 > 5u)".to_owned(),
        Type::Vec2 => format!("vec2({}, {})", f(0), f(1)),
        Type::Vec3 => format!("vec3({}, {}, {})", f(0), f(1), f(2)),
        Type::Vec4 => format!("vec4({}, {}, {}, {})", f(0), f(2), f(1), f(0)),
    }
}

/// Expressions of inputs: every operator, conversion and builtin at every type.
fn expressions() -> Vec<String> {
    let mut all = Vec::new();
    for op in ["+", "-", "*", "/", "%"] {
        for pair in ["f0 {} f1", "i0 {} i1", "u0 {} u1"] {
            all.push(pair.replace("{}", op));
        }
        // The same with one side known, which other kernels do.
        all.push(format!("f0 {op} 3.0"));
        all.push(format!("3.0 {op} f0"));
        all.push(format!("i0 {op} 7"));
        all.push(format!("7 {op} i0"));
        all.push(format!("(vec2(f0, f1) {op} f2).y"));
    }
    for op in ["==", "!=", "<", "<=", ">", ">="] {
        for pair in ["f0 {} f1", "i0 {} i1", "u0 {} u1", "f0 {} 1.0", "1.0 {} f0"] {
            all.push(pair.replace("{}", op));
        }
        // A comparison in one instruction with the choice that it makes.
        all.push(format!("if f0 {op} f1 {{ f1 }} else {{ f2 }}"));
        all.push(format!("if i0 {op} i1 {{ f1 }} else {{ 0.5 }}"));
    }
    for op in ["&", "|", "^"] {
        all.push(format!("u0 {op} u1"));
        all.push(format!("i0 {op} i1"));
    }
    all.extend(["u0 << u1", "i0 << u1", "u0 >> u1", "i0 >> u1"].map(str::to_owned));
    all.extend(["-f0", "-i0", "~u0", "~i0", "!(f0 < f1)"].map(str::to_owned));
    for to in ["f32", "i32", "u32", "bool"] {
        for from in ["f0", "i0", "u0", "(f0 < f1)"] {
            all.push(format!("{to}({from})"));
        }
    }
    // Superinstructions.
    all.extend(
        [
            "f0 * f1 + f2",
            "f2 - f0 * f1",
            "(f0 + f1) / f2",
            "f2 / (f0 - f1)",
            "(f0 - f1) * (f2 + f1)",
            "f0 * f1 + f1 * f2 + f2 * f0 + f0 * f0",
            "abs(f0 - f1)",
            "sqrt(f0 * f1)",
            "-(f0 + f1)",
            "tanh(f0 + f1)",
            "sigmoid(f0 * 0.5)",
            "exp(f0 - f1)",
            "sin(f0) + cos(f0)",
        ]
        .map(str::to_owned),
    );
    all.extend(builtins());
    all
}

/// Every builtin at every type.
fn builtins() -> Vec<String> {
    let mut all = Vec::new();
    for row in table::rows() {
        let Meaning::Pure(pure) = &row.meaning else {
            continue;
        };
        let generic = pure.params.contains(&Slot::T);
        let types = [
            Type::F32,
            Type::I32,
            Type::U32,
            Type::Bool,
            Type::Vec2,
            Type::Vec3,
            Type::Vec4,
        ];
        for t in types {
            let fits = match generic {
                true => pure.class.contains(t),
                false => t == Type::F32,
            };
            if !fits || (t == Type::Bool && pure.class != Class::Any) {
                continue;
            }
            let args: Vec<String> = (pure.params.iter().enumerate())
                .map(|(k, slot)| argument(slot.resolve(t), k))
                .collect();
            all.push(format!("{}({})", row.name, args.join(", ")));
        }
    }
    all
}

fn run(source: &str, backend: Backend, isa: Option<Isa>) -> Run {
    let mut simulation = Simulation::compile(source)
        .unwrap_or_else(|error| panic!("{error}: {error:?}\n{source}"))
        .agents(AGENTS as u32)
        .steps(0)
        .backend(backend);
    if let Some(isa) = isa {
        simulation = simulation.instruction_set(isa);
    }
    for which in 0..3 {
        let floats: Vec<f32> = (0..AGENTS).map(|agent| float(agent, which)).collect();
        simulation
            .set_input(&format!("f{which}"), floats)
            .expect("an input");
    }
    for which in 0..4 {
        let integers = (0..AGENTS).map(|agent| integer(agent, which));
        let signed: Vec<i32> = integers.clone().map(|word| word as i32).collect();
        simulation
            .set_input(&format!("i{which}"), signed)
            .expect("an input");
        simulation
            .set_input(&format!("u{which}"), integers.collect::<Vec<u32>>())
            .expect("an input");
    }
    simulation.run().expect("it runs")
}

#[test]
fn special_values_give_the_same_bits_everywhere() {
    let expressions = expressions();
    let paths = Isa::available();
    let names: Vec<&str> = paths.iter().map(|isa| isa.name()).collect();
    println!(
        "{} expressions of {AGENTS} sets of values on {}",
        expressions.len(),
        names.join(", ")
    );
    let mut source = "input f0: f32\ninput f1: f32\ninput f2: f32\n".to_owned();
    for k in 0..4 {
        writeln!(source, "input i{k}: i32\ninput u{k}: u32").expect("a String");
    }
    for (k, expression) in expressions.iter().enumerate() {
        writeln!(source, "output y{k} = {expression}").expect("a String");
    }
    let expected = run(&source, Backend::Reference, None);
    let mut wrong = Vec::new();
    for isa in paths {
        let got = run(&source, Backend::Cpu, Some(isa));
        for ((expected, got), expression) in
            (expected.outputs().iter().zip(got.outputs())).zip(&expressions)
        {
            let is_float = expected.field.scalar == sim_compiler::manifest::Scalar::F32;
            // Processors disagree about the bits of the NaNs that they make.
            let plain = |word: u32| match is_float && f32::from_bits(word).is_nan() {
                true => f32::NAN.to_bits(),
                false => word,
            };
            let width = expected.field.words() as usize;
            let words = expected.values.words().into_iter().zip(got.values.words());
            let mut different = words
                .enumerate()
                .filter(|(_, (a, b))| plain(*a) != plain(*b));
            if let Some((at, (a, b))) = different.next() {
                let agent = at / width;
                wrong.push(format!(
                    "{isa}: {expression} is {b:#x}, by the reference {a:#x}, for f = {:?} {:?} {:?}, u = {:x?}",
                    float(agent, 0),
                    float(agent, 1),
                    float(agent, 2),
                    [0, 1, 2, 3].map(|which| integer(agent, which)),
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
