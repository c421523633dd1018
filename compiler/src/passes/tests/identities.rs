//! Every identity of `algebra`, on every pair of values that are hard for identities.

use super::build::Builder;
use crate::{
    builtin::eval,
    ir::{BinaryOp, Expr, ExprId, Program, Type, UnaryOp, Value, VarKind},
    passes::algebra::simplify,
};

const FLOATS: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -0.5,
    0.25,
    3.7,
    -1e-40,
    1e-45,
    f32::MIN_POSITIVE,
    1e30,
    -3e38,
    f32::MAX,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1.7014118e38,
    5.877472e-39,
    8_388_609.0,
];

const INTEGERS: [u32; 14] = [
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    100,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    u32::MAX - 1,
    u32::MAX,
];

fn applies(op: BinaryOp, ty: Type) -> bool {
    let at = BinaryOp::ALL.iter().position(|o| *o == op);
    let at = at.expect("the list has every operator");
    match ty {
        Type::F32 => at < 11,
        Type::I32 | Type::U32 => !(11..=12).contains(&at),
        Type::Bool => [5, 6, 11, 12].contains(&at),
        Type::Vec2 | Type::Vec3 | Type::Vec4 => at < 5,
    }
}

fn values(ty: Type) -> Vec<Value> {
    match ty {
        Type::F32 => FLOATS.map(Value::F32).to_vec(),
        Type::I32 => INTEGERS.map(|x| Value::I32(x as i32)).to_vec(),
        Type::U32 => INTEGERS.map(Value::U32).to_vec(),
        Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
        Type::Vec2 => {
            let mixed = FLOATS.iter().zip(FLOATS.iter().rev());
            let mut all: Vec<Value> = mixed.map(|(&a, &b)| Value::Vec2([a, b])).collect();
            all.extend(FLOATS.map(|x| Value::Vec2([x, x])));
            all
        }
        Type::Vec3 | Type::Vec4 => Vec::new(),
    }
}

/// The value of a tree whose only variable is `x`.
fn value(program: &Program, id: ExprId, x: Value) -> Value {
    let of = |id| value(program, id, x);
    match &program[id] {
        Expr::Literal(value) => *value,
        Expr::Read(_) => x,
        Expr::Unary(op, a) => eval::unary(*op, of(*a)),
        Expr::Binary(op, a, b) => eval::binary(*op, of(*a), of(*b)),
        Expr::Splat { ty, value } => eval::splat(*ty, of(*value)),
        Expr::Select {
            condition,
            accept,
            reject,
        } => eval::select(of(*condition), of(*accept), of(*reject)),
        other => panic!("{other:?} does not occur here"),
    }
}

fn same(a: Value, b: Value) -> bool {
    let nans = |v: Value| v.floats().iter().map(|x| x.is_nan()).collect::<Vec<_>>();
    let bits = |v: Value| -> Vec<u32> {
        let clean = |(x, word): (&f32, u32)| if x.is_nan() { 0 } else { word };
        match v.floats() {
            [] => v.words().collect(),
            floats => floats.iter().zip(v.words()).map(clean).collect(),
        }
    };
    nans(a) == nans(b) && bits(a) == bits(b)
}

/// Simplifies what `make` builds of a variable and compares it with the original for every value of it.
fn hold(ty: Type, make: impl Fn(&mut Builder, ExprId) -> ExprId) {
    let mut build = Builder::default();
    let var = build.one("x", ty, VarKind::Param);
    let x = build.read(var);
    let plain = make(&mut build, x);
    let x = build.read(var);
    let simple = make(&mut build, x);
    simplify(&mut build.program, simple);
    for x in values(ty) {
        let expected = value(&build.program, plain, x);
        let got = value(&build.program, simple, x);
        assert!(
            same(expected, got),
            "{:?} of {x:?} is {got:?}, not {expected:?}; it was {:?}",
            build.program[simple],
            build.program[plain],
        );
    }
}

const TYPES: [Type; 5] = [Type::F32, Type::I32, Type::U32, Type::Bool, Type::Vec2];

#[test]
fn operators_with_a_literal() {
    for ty in TYPES {
        for op in BinaryOp::ALL.into_iter().filter(|op| applies(*op, ty)) {
            let shift = matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight);
            for c in values(if shift { Type::U32 } else { ty }) {
                hold(ty, |build, x| {
                    let c = build.add(Expr::Literal(c));
                    build.op(op, x, c)
                });
                if shift {
                    continue;
                }
                hold(ty, |build, x| {
                    let c = build.add(Expr::Literal(c));
                    build.op(op, c, x)
                });
            }
        }
    }
}

#[test]
fn vectors_and_floats() {
    for op in BinaryOp::ALL
        .into_iter()
        .filter(|op| applies(*op, Type::Vec2))
    {
        for (ty, literals) in [(Type::F32, Type::Vec2), (Type::Vec2, Type::F32)] {
            for c in values(literals) {
                for left in [false, true] {
                    hold(ty, |build, x| {
                        let c = build.add(Expr::Literal(c));
                        let (a, b) = if left { (c, x) } else { (x, c) };
                        build.op(op, a, b)
                    });
                }
            }
        }
    }
}

#[test]
fn two_literals_in_a_row() {
    let literals = [0, 1, 5, 0x8000_0000, u32::MAX];
    let inner = [BinaryOp::Add, BinaryOp::Subtract, BinaryOp::Multiply];
    for ty in [Type::I32, Type::U32] {
        for (first, second) in inner.into_iter().flat_map(|a| inner.map(|b| (a, b))) {
            for (c, d) in literals.into_iter().flat_map(|c| literals.map(|d| (c, d))) {
                hold(ty, |build, x| {
                    let c = build.add(Expr::Literal(Value::from_words(ty, &[c])));
                    let d = build.add(Expr::Literal(Value::from_words(ty, &[d])));
                    let a = build.op(first, x, c);
                    build.op(second, a, d)
                });
            }
        }
    }
}

#[test]
fn signs_and_negations() {
    for ty in [Type::F32, Type::I32, Type::Vec2] {
        hold(ty, |build, x| {
            let a = build.unary(UnaryOp::Negate, x);
            build.unary(UnaryOp::Negate, a)
        });
        for op in BinaryOp::ALL.into_iter().filter(|op| applies(*op, ty)) {
            if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
                continue;
            }
            for c in values(ty) {
                for left in [false, true] {
                    hold(ty, |build, x| {
                        let x = build.unary(UnaryOp::Negate, x);
                        let c = build.add(Expr::Literal(c));
                        let (a, b) = if left { (c, x) } else { (x, c) };
                        build.op(op, a, b)
                    });
                }
            }
            hold(ty, |build, x| {
                let Expr::Read(var) = build.program[x] else {
                    panic!("x is a variable")
                };
                let again = build.read(var);
                let again = build.unary(UnaryOp::Negate, again);
                let x = build.unary(UnaryOp::Negate, x);
                build.op(op, x, again)
            });
        }
    }
    for ty in [Type::F32, Type::I32, Type::U32] {
        for op in &BinaryOp::ALL[5..11] {
            for c in values(ty) {
                hold(ty, |build, x| {
                    let c = build.add(Expr::Literal(c));
                    let a = build.op(*op, x, c);
                    build.unary(UnaryOp::Not, a)
                });
            }
        }
    }
}

#[test]
fn a_value_and_itself() {
    for ty in TYPES {
        for op in BinaryOp::ALL.into_iter().filter(|op| applies(*op, ty)) {
            if matches!(op, BinaryOp::ShiftLeft | BinaryOp::ShiftRight) {
                continue;
            }
            hold(ty, |build, x| {
                let Expr::Read(var) = build.program[x] else {
                    panic!("x is a variable")
                };
                let again = build.read(var);
                build.op(op, x, again)
            });
        }
    }
}

#[test]
fn choices() {
    let truths = [None, Some(false), Some(true)];
    for (accept, reject) in truths.into_iter().flat_map(|a| truths.map(|b| (a, b))) {
        for negate in [false, true] {
            hold(Type::Bool, |build, x| {
                let Expr::Read(var) = build.program[x] else {
                    panic!("x is a variable")
                };
                let mut arm = |known: Option<bool>| match known {
                    Some(known) => build.add(Expr::Literal(Value::Bool(known))),
                    None => build.read(var),
                };
                let (accept, reject) = (arm(accept), arm(reject));
                let condition = if negate {
                    build.unary(UnaryOp::Not, x)
                } else {
                    x
                };
                build.add(Expr::Select {
                    condition,
                    accept,
                    reject,
                })
            });
        }
    }
}
