//! Special values, and the expressions that they are tested with.

use sim_compiler::builtin::{Class, Meaning, Slot, table};
use sim_compiler::ir::Type;

/// The edge cases of rounding, signs, ranges and reductions.
pub const FLOATS: [f32; 36] = [
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

pub const INTEGERS: [u32; 12] = [
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
pub const AGENTS: usize = FLOATS.len() * FLOATS.len() * 12;

pub fn float(agent: usize, which: usize) -> f32 {
    let count = FLOATS.len();
    FLOATS[match which {
        0 => agent % count,
        1 => agent / count % count,
        _ => (agent / count / count * 3 + agent) % count,
    }]
}

pub fn integer(agent: usize, which: usize) -> u32 {
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
pub fn expressions() -> Vec<String> {
    let mut all = Vec::new();
    for op in ["+", "-", "*", "/", "%"] {
        for pair in ["f0 {} f1", "i0 {} i1", "u0 {} u1"] {
            all.push(pair.replace("{}", op));
        }
        // The same with one constant operand, which uses other kernels.
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
        // A comparison fused with a selection.
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
pub fn builtins() -> Vec<String> {
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
