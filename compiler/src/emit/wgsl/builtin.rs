//! Calls of builtins, and the functions that replace those that WGSL lacks.

use super::{Writer, literal, operator::Level};
use crate::{
    builtin::{BuiltinId, Class, Pure, Slot, Wgsl},
    ir::{ExprId, Type},
};
use std::collections::BTreeSet;

impl Writer<'_> {
    /// Writes a call of a builtin.
    pub(super) fn builtin(&mut self, id: BuiltinId, args: &[ExprId]) {
        let pure = id.row().pure();
        if let Some(name) = self.precise_form(id) {
            return self.helper(id, name, args);
        }
        match pure.wgsl {
            Wgsl::Native(name) => {
                self.push(name);
                self.arguments_shown(args);
            }
            Wgsl::Expression(text) => self.template(text, args),
            Wgsl::Helper { name, .. } => self.helper(id, name, args),
        }
    }

    /// Writes a call of a builtin's function, or of the one that applies it to each component.
    fn helper(&mut self, id: BuiltinId, name: &str, args: &[ExprId]) {
        let pure = id.row().pure();
        let ty = self.shared_type(pure, args);
        self.push(name);
        if ty.is_vector() && is_componentwise(pure) {
            self.push("_");
            self.push(ty.name());
        }
        self.helpers.insert((id, ty.components() as u8));
        self.arguments(args);
    }

    /// The type that `T` stands for.
    fn shared_type(&self, pure: &Pure, args: &[ExprId]) -> Type {
        pure.params
            .iter()
            .zip(args)
            .find(|(slot, _)| **slot == Slot::T)
            .map_or(Type::F32, |(_, arg)| self.program.type_of(*arg))
    }

    /// Writes arguments in parentheses, one of them hidden if all are constants.
    fn arguments_shown(&mut self, args: &[ExprId]) {
        let hide = args.iter().all(|arg| self.is_constant(*arg));
        self.push("(");
        for (k, arg) in args.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            if k == 0 && hide {
                self.hidden(*arg);
            } else {
                self.argument(*arg, k + 1 == args.len());
            }
        }
        self.push(")");
    }

    /// Writes an expression with arguments substituted for `{0}`, `{1}`, ….
    fn template(&mut self, template: &'static str, args: &[ExprId]) {
        let hide = args.iter().all(|arg| self.is_constant(*arg));
        let mut rest = template;
        while let Some((before, after)) = rest.split_once('{') {
            self.push(before);
            let (number, tail) = after.split_once('}').unwrap_or((after, ""));
            let k = number.parse().unwrap_or(0);
            if k == 0 && hide {
                self.hidden(args[k]);
            } else if before.ends_with(['(', ',']) || before.ends_with(", ") {
                self.argument(args[k], tail.starts_with(')'));
            } else {
                self.expr(args[k], Level::Primary);
            }
            rest = tail;
        }
        self.push(rest);
    }

    /// Writes the functions that replace the builtins used, and those that these call.
    pub(super) fn builtin_helpers(&mut self) {
        let helpers = std::mem::take(&mut self.helpers);
        let mut written = BTreeSet::new();
        for (id, _) in &helpers {
            self.helper_text(*id, &mut written);
        }
        for (id, components) in helpers {
            let pure = id.row().pure();
            let name = match (self.precise_form(id), pure.wgsl) {
                (Some(name), _) | (None, Wgsl::Helper { name, .. }) => name,
                (None, Wgsl::Native(_) | Wgsl::Expression(_)) => continue,
            };
            if components > 1 && is_componentwise(pure) {
                self.vector_helper(name, pure, Type::float(usize::from(components)));
            }
        }
    }

    fn helper_text(&mut self, id: BuiltinId, written: &mut BTreeSet<&'static str>) {
        if let Some(name) = self.precise_form(id) {
            self.precise.insert(name);
            return;
        }
        let Wgsl::Helper { name, text, needs } = id.row().pure().wgsl else {
            return;
        };
        if written.insert(name) {
            self.blank();
            self.push(text.trim_end());
            self.push("\n");
            for id in needs.iter().filter_map(|need| BuiltinId::find(need)) {
                self.helper_text(id, written);
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

/// Is a vector's result computed component by component? Not if the text is of vectors itself.
fn is_componentwise(pure: &Pure) -> bool {
    pure.result == Slot::T && pure.class != Class::Vector
}
