//! Operators and builtins of literals, such as folding leaves none of: WGSL evaluates constants early and
//! refuses what overflows, so the text must hide them.

use crate::{
    build::Builder,
    kernel,
    validate::{naga, tint},
};
use sim_compiler::{
    builtin::{BuiltinId, Class, Meaning, Pure, Slot},
    ir::{BinaryOp, Expr, ExprId, Stmt, Type, UnaryOp, Value, VarId, VarKind},
    random::Generator,
};

const TYPES: [Type; 7] = [
    Type::F32,
    Type::I32,
    Type::U32,
    Type::Bool,
    Type::Vec2,
    Type::Vec3,
    Type::Vec4,
];

/// Values at which constant evaluation fails somewhere.
fn nasty(ty: Type) -> Vec<Value> {
    const FLOATS: [f32; 12] = [
        0.0,
        -0.0,
        -1.0,
        2.0,
        1e-45,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::MIN,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        200.5,
    ];
    match ty {
        Type::F32 => FLOATS.map(Value::F32).to_vec(),
        Type::I32 => [0, 1, -1, 7, 200, i32::MAX, i32::MIN]
            .map(Value::I32)
            .to_vec(),
        Type::U32 => [0, 1, 31, 32, 33, u32::MAX].map(Value::U32).to_vec(),
        Type::Bool => [false, true].map(Value::Bool).to_vec(),
        Type::Vec2 | Type::Vec3 | Type::Vec4 => {
            let splat = |x| Value::from_floats(&vec![x; ty.components()]);
            let mut values = FLOATS.map(splat).to_vec();
            values.push(Value::from_floats(&FLOATS[4..4 + ty.components()]));
            values
        }
    }
}

/// A program of one step that assigns expressions to states, one per type, and reads inputs likewise.
struct Sheet {
    build: Builder,
    states: Vec<VarId>,
    inputs: Vec<VarId>,
}

impl Sheet {
    fn new() -> Self {
        let mut build = Builder::default();
        let mut vars = |kind, name: &str| {
            let one = |ty: &Type| build.one(&format!("{name}_{}", ty.name()), *ty, kind);
            TYPES.iter().map(one).collect::<Vec<_>>()
        };
        let states = vars(VarKind::State, "state");
        let inputs = vars(VarKind::Input, "given");
        Sheet {
            build,
            states,
            inputs,
        }
    }

    fn literal(&mut self, value: Value) -> ExprId {
        self.build.add(Expr::Literal(value))
    }

    fn given(&mut self, ty: Type) -> ExprId {
        let at = TYPES.iter().position(|known| *known == ty);
        self.build.read(self.inputs[at.expect("a type")])
    }

    /// A new expression to keep in the text.
    fn keep(&mut self, value: ExprId) {
        let ty = self.build.program.type_of(value);
        let at = TYPES.iter().position(|known| *known == ty);
        let var = self.states[at.expect("a type")];
        self.build.step().push(Stmt::Assign { var, value });
    }

    fn check(mut self) {
        for (k, ty) in TYPES.into_iter().enumerate() {
            let value = self.literal(Value::zero(ty));
            let var = self.states[k];
            self.build.program.init.push(Stmt::Assign { var, value });
        }
        let text = kernel(self.build.program, Generator::default());
        naga(&text);
        tint(&text);
    }
}

fn takes(op: BinaryOp, a: Type, b: Type) -> bool {
    let integer = matches!(a, Type::I32 | Type::U32);
    match op {
        BinaryOp::Add
        | BinaryOp::Subtract
        | BinaryOp::Multiply
        | BinaryOp::Divide
        | BinaryOp::Remainder => {
            let mixed = a.is_float() && b.is_float() && (a == Type::F32 || b == Type::F32);
            (a == b && a != Type::Bool) || mixed
        }
        BinaryOp::Equal | BinaryOp::NotEqual => a == b && !a.is_vector(),
        BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
            a == b && !a.is_vector() && a != Type::Bool
        }
        BinaryOp::And | BinaryOp::Or => a == Type::Bool && b == Type::Bool,
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => a == b && integer,
        BinaryOp::ShiftLeft | BinaryOp::ShiftRight => integer && b == Type::U32,
    }
}

#[test]
fn operators_take_any_constants() {
    for a in TYPES {
        let mut sheet = Sheet::new();
        for b in TYPES {
            for op in BinaryOp::ALL.into_iter().filter(|op| takes(*op, a, b)) {
                for left in nasty(a) {
                    for right in nasty(b) {
                        let (x, y) = (sheet.literal(left), sheet.literal(right));
                        let both = sheet.build.op(op, x, y);
                        sheet.keep(both);
                    }
                    let (x, y) = (sheet.literal(left), sheet.given(b));
                    let first = sheet.build.op(op, x, y);
                    sheet.keep(first);
                }
                for right in nasty(b) {
                    let (x, y) = (sheet.given(a), sheet.literal(right));
                    let second = sheet.build.op(op, x, y);
                    sheet.keep(second);
                }
            }
        }
        sheet.check();
    }
}

#[test]
fn unary_operators_conversions_and_choices_take_any_constants() {
    let mut sheet = Sheet::new();
    for from in TYPES {
        for value in nasty(from) {
            let signs: &[UnaryOp] = match from {
                Type::F32 | Type::Vec2 | Type::Vec3 | Type::Vec4 => &[UnaryOp::Negate],
                Type::I32 => &[UnaryOp::Negate, UnaryOp::Complement],
                Type::U32 => &[UnaryOp::Complement],
                Type::Bool => &[UnaryOp::Not],
            };
            for &sign in signs {
                let operand = sheet.literal(value);
                let once = sheet.build.unary(sign, operand);
                let twice = sheet.build.unary(sign, once);
                sheet.keep(twice);
                let given = sheet.given(from);
                let once = sheet.build.unary(sign, given);
                let twice = sheet.build.unary(sign, once);
                sheet.keep(twice);
            }
            for to in TYPES
                .into_iter()
                .filter(|to| !to.is_vector() && !from.is_vector())
            {
                let operand = sheet.literal(value);
                let converted = sheet.build.add(Expr::Convert { to, value: operand });
                sheet.keep(converted);
                if to != Type::Bool && from != Type::Bool {
                    let operand = sheet.literal(value);
                    let cast = sheet.build.add(Expr::Bitcast { to, value: operand });
                    sheet.keep(cast);
                }
            }
            let (accept, reject) = (sheet.literal(value), sheet.literal(value));
            let condition = sheet.literal(Value::Bool(true));
            let choice = sheet.build.add(Expr::Select {
                condition,
                accept,
                reject,
            });
            sheet.keep(choice);
        }
    }
    sheet.check();
}

fn pure(id: BuiltinId) -> Option<&'static Pure> {
    match &id.row().meaning {
        Meaning::Pure(pure) => Some(pure),
        Meaning::Fold(_) | Meaning::Draw(_) | Meaning::Length => None,
    }
}

fn builtins() -> impl Iterator<Item = (BuiltinId, &'static Pure)> {
    BuiltinId::all().filter_map(|id| Some((id, pure(id)?)))
}

/// The types that a row's `T` may stand for, or one if it has none.
fn shared(pure: &Pure) -> Vec<Type> {
    let generic = |slot: &Slot| matches!(slot, Slot::T | Slot::Component);
    if !pure.params.iter().any(generic) {
        return vec![Type::F32];
    }
    TYPES
        .into_iter()
        .filter(|ty| class(pure).contains(*ty))
        .collect()
}

fn class(pure: &Pure) -> Class {
    pure.class
}

#[test]
fn builtins_take_any_constants() {
    let mut sheet = Sheet::new();
    for (id, pure) in builtins() {
        for t in shared(pure) {
            let types: Vec<_> = pure.params.iter().map(|slot| slot.resolve(t)).collect();
            for round in 0..14 {
                let pick = |k: usize, ty: Type| {
                    let values = nasty(ty);
                    values[(round * (2 * k + 1) + k) % values.len()]
                };
                // All constant, each alone constant, each alone given.
                for mask in masks(types.len()) {
                    let mut args = Vec::new();
                    for (k, &ty) in types.iter().enumerate() {
                        args.push(if mask >> k & 1 == 1 {
                            sheet.literal(pick(k, ty))
                        } else {
                            sheet.given(ty)
                        });
                    }
                    let call = sheet.build.add(Expr::Builtin(id, args));
                    sheet.keep(call);
                }
            }
        }
    }
    sheet.check();
}

fn masks(count: usize) -> Vec<usize> {
    let all = (1 << count) - 1;
    (0..=all).collect()
}

#[test]
fn vectors_of_constants_stay_hidden() {
    let mut sheet = Sheet::new();
    for x in nasty(Type::F32) {
        let parts = (0..3).map(|_| sheet.literal(x)).collect();
        let composed = sheet.build.add(Expr::Compose(parts));
        let swizzled = sheet.build.add(Expr::Swizzle {
            vector: composed,
            components: vec![2, 0],
        });
        let scalar = sheet.literal(x);
        let splat = sheet.build.add(Expr::Splat {
            ty: Type::Vec2,
            value: scalar,
        });
        let quotient = sheet.build.op(BinaryOp::Divide, swizzled, splat);
        sheet.keep(quotient);
    }
    sheet.check();
}
