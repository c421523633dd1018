//! Calls of builtins, and the functions that stand for those that WGSL lacks.

use super::{Writer, literal};
use crate::{
    builtin::{BuiltinId, Class, Pure, Slot, Wgsl},
    ir::{Expr, ExprId, Type, Value},
};
use std::collections::BTreeSet;

/// What WGSL demands of constant arguments even when other arguments are not constant.
enum Rule {
    /// The first must be less than the second, or equal to it.
    Ordered(usize, usize),
    /// The first must differ from the second.
    Apart(usize, usize),
    /// The sum is at most 32.
    Bits(usize, usize),
    /// At most 128.
    Exponent(usize),
}

/// The rules of section 17 of the specification that look at some arguments only.
const RULES: [(&str, Rule); 5] = [
    ("clamp", Rule::Ordered(1, 2)),
    ("smoothstep", Rule::Apart(0, 1)),
    ("extractBits", Rule::Bits(1, 2)),
    ("insertBits", Rule::Bits(2, 3)),
    ("ldexp", Rule::Exponent(1)),
];

impl Writer<'_> {
    /// Writes a call of a builtin.
    pub(super) fn builtin(&mut self, id: BuiltinId, args: &[ExprId]) {
        let pure = id.row().pure();
        match pure.wgsl {
            Wgsl::Native(name) => {
                self.push(name);
                match self.to_hide(name, args) {
                    None => self.arguments(args),
                    Some(hide) => self.arguments_hiding(args, hide),
                }
            }
            Wgsl::Helper { name, .. } => {
                let ty = self.shared_type(pure, args);
                self.push(name);
                if ty.is_vector() && is_componentwise(pure) {
                    self.push("_");
                    self.push(ty.name());
                }
                self.helpers.insert((id, ty.components() as u8));
                self.arguments(args);
            }
        }
    }

    /// The type that `T` stands for.
    fn shared_type(&self, pure: &Pure, args: &[ExprId]) -> Type {
        pure.params
            .iter()
            .zip(args)
            .find(|(slot, _)| **slot == Slot::T)
            .map_or(Type::F32, |(_, arg)| self.program.type_of(*arg))
    }

    /// The argument that must not look constant, if WGSL could refuse the call as it stands.
    fn to_hide(&self, name: &str, args: &[ExprId]) -> Option<usize> {
        if args.iter().all(|arg| self.is_constant(*arg)) {
            return Some(0);
        }
        let (_, rule) = RULES.iter().find(|(ruled, _)| *ruled == name)?;
        let (first, second) = match rule {
            Rule::Ordered(a, b) | Rule::Apart(a, b) | Rule::Bits(a, b) => (*a, *b),
            Rule::Exponent(a) => (*a, *a),
        };
        let constant = |k: usize| args.get(k).is_some_and(|arg| self.is_constant(*arg));
        let value = |k: usize| match &self.program[args[k]] {
            Expr::Literal(Value::F32(x)) => f64::from(*x),
            Expr::Literal(Value::I32(x)) => f64::from(*x),
            Expr::Literal(Value::U32(x)) => f64::from(*x),
            _ => f64::NAN,
        };
        if !(constant(first) && constant(second)) {
            return None;
        }
        let (a, b) = (value(first), value(second));
        let legal = match rule {
            Rule::Ordered(..) => a <= b,
            Rule::Apart(..) => a < b || a > b,
            Rule::Bits(..) => a + b <= 32.0,
            Rule::Exponent(_) => a <= 128.0,
        };
        (!legal).then_some(first)
    }

    fn arguments_hiding(&mut self, args: &[ExprId], hide: usize) {
        self.push("(");
        for (k, arg) in args.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            if k == hide {
                self.hidden(*arg);
            } else {
                self.argument(*arg, k + 1 == args.len());
            }
        }
        self.push(")");
    }

    /// Writes the functions that stand for the builtins used, those that they need included.
    pub(super) fn builtin_helpers(&mut self) {
        let helpers = std::mem::take(&mut self.helpers);
        let mut written = BTreeSet::new();
        for (id, _) in &helpers {
            self.helper_text(*id, &mut written);
        }
        for (id, components) in helpers {
            let pure = id.row().pure();
            if let Wgsl::Helper { name, .. } = pure.wgsl
                && components > 1
                && is_componentwise(pure)
            {
                self.vector_helper(name, pure, Type::float(usize::from(components)));
            }
        }
    }

    fn helper_text(&mut self, id: BuiltinId, written: &mut BTreeSet<&'static str>) {
        let Wgsl::Helper { name, text, needs } = id.row().pure().wgsl else {
            return;
        };
        if written.insert(name) {
            self.blank();
            self.push(text.trim_end());
            self.push("\n");
            for need in needs {
                self.helper_text(BuiltinId::named(need), written);
            }
        }
    }

    /// `fn name_vec3(x: vec3f) -> vec3f`: the scalar function, component by component.
    fn vector_helper(&mut self, name: &str, pure: &Pure, ty: Type) {
        self.blank();
        let letter = |k: usize| char::from(b'a' + k as u8);
        let params =
            pure.params.iter().enumerate().map(|(k, slot)| {
                format!("{}: {}", letter(k), literal::type_name(slot.resolve(ty)))
            });
        let params = params.collect::<Vec<_>>().join(", ");
        let vector = literal::type_name(ty);
        self.open(&format!("fn {name}_{}({params}) -> {vector} {{", ty.name()));
        let part = |component: char| {
            let args = pure.params.iter().enumerate().map(|(k, slot)| match slot {
                Slot::T => format!("{}.{component}", letter(k)),
                Slot::Component | Slot::F32 | Slot::I32 | Slot::U32 | Slot::Bool | Slot::Vec3 => {
                    letter(k).to_string()
                }
            });
            format!("{name}({})", args.collect::<Vec<_>>().join(", "))
        };
        let parts = "xyzw".chars().take(ty.components()).map(part);
        let parts = parts.collect::<Vec<_>>().join(", ");
        self.line(&format!("return {vector}({parts});"));
        self.close("}");
    }
}

/// Does a vector's result come component by component? Not if the text is of vectors itself.
fn is_componentwise(pure: &Pure) -> bool {
    pure.result == Slot::T && pure.class != Class::Vector
}
